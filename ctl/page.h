/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of drainctl report: a part for each kind of result.  See page.c.
 */
#ifndef DS_PAGE_H
#define DS_PAGE_H

#include "html.h"
#include "results.h"

/* Parts of a result are headed by h3, those of one inside another result by h4. */
#define DS_PAGE_TOP 3

int ds_page_write(FILE *f, const struct ds_result *results, unsigned int nr);
void ds_page_soak(FILE *f, const struct ds_result *r, unsigned int level);
void ds_page_matrix(FILE *f, const struct ds_result *r);
void ds_page_mutants(FILE *f, const struct ds_result *r);
void ds_page_comparison(FILE *f, const struct ds_result *r);

/* Pieces that the parts share. */
void __printf(3, 4) ds_page_heading(FILE *f, unsigned int level, const char *fmt, ...);
void ds_page_reason(const struct ds_result *r, char *buf, size_t len);
void ds_page_cell(FILE *f, const json_t *value);
void ds_page_cells(FILE *f, const json_t *o, const char *keys);
void ds_page_term(FILE *f, const char *term, const char *text);

#endif /* DS_PAGE_H */
