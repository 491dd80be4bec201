/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results that were written before, for the commands that compare them and make a
 * page of them.  See results.c.
 */
#ifndef DS_RESULTS_H
#define DS_RESULTS_H

#include <jansson.h>
#include <limits.h>

#include "common.h"

enum ds_result_kind {
	DS_RESULT_SOAK,
	DS_RESULT_MATRIX,
	DS_RESULT_MUTANTS,
	DS_RESULT_COMPARISON,
	DS_RESULT_NR_KINDS
};

/**
 * struct ds_result - what a run, or many, have left
 * @kind:	what @json is
 * @name:	of the file, or of the folder when that was named
 * @path:	of the file that was read, or of the folder when it holds no report
 * @dir:	where it is
 * @json:	NULL when a guest died before it could write a report
 * @runner:	the line that tests/vm/run left: "PASS 0 KERNEL RELEASE TIME REASON", or ""
 * @command:	that of tests/vm/run which made it, or ""
 * @replay:	name of the replay file beside it, or ""
 */
struct ds_result {
	enum ds_result_kind kind;
	char name[NAME_MAX + 1];
	char path[PATH_MAX];
	char dir[PATH_MAX];
	json_t *json;
	char runner[512];
	char command[4096];
	char replay[NAME_MAX + 1];
};

const char *ds_result_kind_name(enum ds_result_kind kind);
int ds_result_read(const char *path, struct ds_result *r, struct ds_err *err);
void ds_result_free(struct ds_result *r);
const char *ds_result_verdict(const struct ds_result *r, char *buf, size_t len);

/* What is missing, or is of another type, is no error: older results have less. */
const char *ds_get_text(const json_t *o, const char *key);
bool ds_get_number(const json_t *o, const char *key, double *value);
bool ds_get_true(const json_t *o, const char *key);
void ds_value_text(const json_t *value, char *buf, size_t len);

/* The command's own work, without its options. */
int ds_diff_write(FILE *f, const struct ds_result *a, const struct ds_result *b, bool json);

#endif /* DS_RESULTS_H */
