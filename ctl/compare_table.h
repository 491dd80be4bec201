/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison table of mmtests.  See compare_table.c.
 */
#ifndef DS_COMPARE_TABLE_H
#define DS_COMPARE_TABLE_H

#include "samples.h"

#define DS_RUNS_MAX 16
#define DS_TABLE_ROWS 20
#define DS_TABLE_OPERATION "Time"

struct ds_table_cell {
	double value;
	double percent;		/* of improvement over the first run */
	bool star;
};

/**
 * struct ds_table - a row a figure, a column a run; the first one is the baseline
 */
struct ds_table {
	const struct ds_samples *runs;
	unsigned int nr;
	struct ds_table_cell cells[DS_TABLE_ROWS][DS_RUNS_MAX];
};

/**
 * struct ds_stars - which cells of the table are marked as significant
 * @cell: does the run in that row differ from the baseline?
 */
struct ds_stars {
	const char *name;
	const char *help;
	bool (*cell)(const char *row, const struct ds_samples *base, const struct ds_samples *run);
};

extern const struct ds_stars ds_stars[];
extern const unsigned int ds_nr_stars;

const struct ds_stars *ds_stars_find(const char *name);
void ds_stars_names(char *buf, size_t len);

double ds_table_percent(double base, double run);
const char *ds_table_row(unsigned int row);
void ds_table_make(struct ds_table *t, const struct ds_samples *runs, unsigned int nr,
		   const struct ds_stars *stars);
void ds_table_print(const struct ds_table *t, FILE *f);

#endif /* DS_COMPARE_TABLE_H */
