/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A comparison, and the formats it is written in.  See compare_output.c.
 */
#ifndef DS_COMPARE_OUTPUT_H
#define DS_COMPARE_OUTPUT_H

#include "compare_stats.h"
#include "compare_table.h"

#define DS_COMPARE_NOTES 32

/**
 * struct ds_compare_report - everything that "drainctl compare" has found out
 * @runs:	@nr of them; the first one is the baseline
 * @comparisons: of the baseline with run i + 1
 */
struct ds_compare_report {
	struct ds_samples runs[DS_RUNS_MAX];
	unsigned int nr;
	const struct ds_stars *stars;
	struct ds_table table;
	struct ds_comparison comparisons[DS_RUNS_MAX - 1];
	char notes[DS_COMPARE_NOTES][320];
	unsigned int nr_notes;
};

struct ds_compare_format {
	const char *name;
	void (*print)(const struct ds_compare_report *r);
};

const struct ds_compare_format *ds_compare_format_find(const char *name);
void ds_compare_format_names(char *buf, size_t len);
void ds_compare_notes(struct ds_compare_report *r);

#endif /* DS_COMPARE_OUTPUT_H */
