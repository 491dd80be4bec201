/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values on the command line.  See opts.c.
 */
#ifndef DS_OPTS_H
#define DS_OPTS_H

#include <argp.h>
#include <errno.h>

#include "common.h"

#define DS_DURATION_TAKES "a time from 1 s to 365 days, such as 90, 90s, 10m or 2h"
#define DS_SIZE_TAKES "a size such as 512M or 2G"
#define DS_CPUS_TAKES "a list of CPUs such as 0-3,5"

int ds_opt_number(const char *s, u64 min, u64 max, u64 *out);
int ds_opt_duration(const char *s, u64 *ms);
int ds_opt_size(const char *s, u64 *bytes);
int ds_opt_cpus(const char *s);
int ds_opt_kinds(const char *s, u64 *mask);
int ds_opt_drains(const char *s, u64 *mask);
int ds_opt_invariants(const char *s, u64 *mask);
void ds_opt_kind_names(char *buf, size_t len);
void ds_opt_drain_names(char *buf, size_t len);
void ds_opt_invariant_names(char *buf, size_t len);
const char *ds_kind_name(u32 id);
const char *ds_drain_name(u32 id);
const char *ds_invariant_title(u32 id);
const char *ds_invariant_why(u32 id);
const char *ds_invariant_exceptions(u32 id);
const char *ds_invariant_code(u32 id);
const char *ds_invariant_retry(u32 id);

#define DS_ARGS_USAGE 1000

/* Rows that every command's option table ends with. */
#define DS_ARGS_COMMON							\
	{ "help", '?', NULL, 0, "Give this help list", -1 },		\
	{ "usage", DS_ARGS_USAGE, NULL, 0, "Give a short usage message", -1 }, \
	{ "version", 'V', NULL, 0, "Print the version", -1 },		\
	{ 0 }

error_t ds_args_common(int key, struct argp_state *state);
void __printf(2, 3) ds_args_bad(struct argp_state *state, const char *fmt, ...);
int ds_args_parse(const struct argp *argp, int argc, char **argv, void *input);

/* What an argp parser returns for a value it refused; argp's errors are positive. */
#define DS_ARGS_BAD EINVAL

/* ds_args_parse(): --help or --version was answered, leave with 0. */
#define DS_ARGS_ANSWERED (-1)

#endif /* DS_OPTS_H */
