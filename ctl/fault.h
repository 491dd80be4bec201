/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults to inject: what "--fault" says, which of them there are, and those that
 * user space makes itself.  See fault.c and fault_alloc.c.
 */
#ifndef DS_FAULT_H
#define DS_FAULT_H

#include <linux/drainstress_faults.h>

#include "nl.h"
#include "undo.h"

/* Behind the module's: the kernel's own framework fails allocations of the load. */
#define DS_FAULT_ALLOC __DS_FAULT_MAX
#define DS_FAULTS_END (DS_FAULT_ALLOC + 1)
#define DS_FAULT_WORDS 32
#define DS_FAULT_BIT(id) (1U << ((id) - 1))
#define DS_FAULT_MODULE (DS_FAULT_BIT(DS_FAULT_ALLOC) - 1)

/* Most that ds_fault_request() appends. */
#define DS_FAULT_REQUEST (2 + 7 * DS_NR_FAULTS)

struct ds_fault_row {
	const char *name;
	const char *title;
	struct ds_fault_args defaults;
};

/* The place is the id; nothing is at 0. */
extern const struct ds_fault_row ds_fault_rows[DS_FAULTS_END];

/**
 * struct ds_fault_opts - what "--fault" says
 * @wanted:	DS_FAULT_BIT of those that shall be, where there are
 * @named:	of those that have to be
 * @args:	of each; the defaults where nothing else was said
 * @words:	as given, for the command that repeats the run
 */
struct ds_fault_opts {
	u32 wanted;
	u32 named;
	struct ds_fault_args args[DS_FAULTS_END];
	const char *words[DS_FAULT_WORDS];
	unsigned int nr_words;
};

void ds_fault_default(struct ds_fault_opts *o);
int ds_fault_take(struct ds_fault_opts *o, const char *arg, char *why, size_t len);
void ds_fault_names(char *buf, size_t len);
void ds_fault_args_text(const struct ds_fault_args *a, char *buf, size_t len);
bool ds_fault_available(const struct ds_msg *caps, u32 id, char *why, size_t len);
int ds_fault_settle(struct ds_fault_opts *o, const struct ds_msg *caps, struct ds_err *err);
unsigned int ds_fault_request(const struct ds_fault_opts *o, struct ds_arg *args);

/* ---- fault_alloc.c ---- */

#define DS_ALLOC_DIRS 2

/**
 * struct ds_alloc_fail - failures of allocations, while they can happen
 * @root:	"", or where a test has its /proc and /sys
 * @found:	which of failslab and fail_page_alloc there are
 * @undo:	what puts the settings back; NULL: nothing was changed
 */
struct ds_alloc_fail {
	const char *root;
	bool found[DS_ALLOC_DIRS];
	struct ds_undo *undo;
};

bool ds_alloc_fail_available(const char *root, char *why, size_t len);
int ds_alloc_fail_prepare(struct ds_alloc_fail *a, const char *root, u32 one_in, char *why,
			  size_t len);
int ds_alloc_fail_mark(const struct ds_alloc_fail *a, bool on);
int ds_alloc_fail_go(const struct ds_alloc_fail *a);
u64 ds_alloc_fail_count(const struct ds_alloc_fail *a);
int ds_alloc_fail_end(struct ds_alloc_fail *a);

#endif /* DS_FAULT_H */
