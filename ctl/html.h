/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pieces of a self-contained HTML page.  See html.c.
 */
#ifndef DS_HTML_H
#define DS_HTML_H

#include "common.h"

/**
 * struct ds_bar - one bar of a chart
 * @label:	left of it
 * @text:	right of it
 */
struct ds_bar {
	char label[40];
	double value;
	char text[40];
};

/**
 * struct ds_point - of a line
 */
struct ds_point {
	double x;
	double y;
};

void ds_html_text(FILE *f, const char *s);
void __printf(3, 4) ds_html(FILE *f, const char *tag, const char *fmt, ...);
void ds_html_begin(FILE *f, const char *title);
void ds_html_end(FILE *f);
void ds_html_badge(FILE *f, const char *verdict);
void ds_html_table(FILE *f, const char *caption, const char *columns);
void ds_html_table_end(FILE *f);
void ds_html_bars(FILE *f, const char *title, const struct ds_bar *bars, unsigned int nr);
void ds_html_line(FILE *f, const char *title, const char *x_unit, const struct ds_point *points,
		  unsigned int nr);

#endif /* DS_HTML_H */
