/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The load as the controller sees it: a child process.  See load.c.
 */
#ifndef DS_LOAD_H
#define DS_LOAD_H

#include <sys/types.h>

#include "files.h"
#include "flood.h"
#include "mix.h"

#define DS_LOAD_NOTES 8
#define DS_LOAD_TEXT 256

enum ds_load_state {
	DS_LOAD_STARTING,
	DS_LOAD_READY,		/* all threads wait at the gate */
	DS_LOAD_FAILED,		/* text says why, skip: the host cannot */
	DS_LOAD_DONE,
};

/* Shared by controller and child; the child writes, the controller reads. */
struct ds_load_shared {
	u32 state;		/* enum ds_load_state */
	u32 go;			/* futex; the controller writes it */
	u32 stop;		/* futex; the controller writes it */
	u32 settled;		/* futex: threads that are ready or failed */
	u32 skip;
	u32 nr_notes;
	u32 threads;		/* that run */
	u32 made;		/* that were started: the first of slots */
	u32 frozen;		/* the controller writes it: logs stay as they are */
	u32 flood_threads;	/* the first of them, the others mix */
	u32 max_pages;		/* of a file */
	u32 mix_threads;	/* of @threads */
	u32 mix_pages;		/* of a file of theirs */
	struct ds_mix_choice mix;	/* without what is not available */
	struct ds_op_probe probes[DS_OPS_MAX];
	char text[DS_LOAD_TEXT];
	char notes[DS_LOAD_NOTES][DS_LOAD_TEXT];
	char places[DS_LOAD_TEXT];
	struct ds_slot slots[];
};

/* The steps of one thread, and whether they are a mix thread's. */
struct ds_load_script {
	struct ds_script steps;
	bool mix;
};

/**
 * struct ds_load_params - what the load shall do
 * @threads:	wanted; fewer run when descriptors or memory are short
 * @seed:	of all decisions
 * @memory:	bytes the child may use in all, files take at most half of it
 * @choice:	truncate methods
 * @mix:	what mix threads do, and how many there are
 * @plant:	mix threads alter data behind the model's back
 * @cgroup:	directory of the cgroup to enter, NULL for none
 * @dirs:	directories besides the own tmpfs and ext4
 * @nr_dirs:	how many
 * @own:	file systems that the caller made
 * @nr_own:	how many
 * @no_tmpfs:	no tmpfs of its own
 * @huge_tmpfs:	one with huge pages
 * @no_disk:	no ext4 of /var/tmp or /tmp
 * @procs:	path of the cgroup.procs to enter, NULL for none
 * @scripts:	by thread, what it does in place of all; nr 0: nothing; or NULL
 */
struct ds_load_params {
	unsigned int threads;
	u64 seed;
	u64 memory;
	struct ds_method_choice choice;
	struct ds_mix_choice mix;
	bool plant;
	const char *cgroup;
	const char *const *dirs;
	unsigned int nr_dirs;
	const struct ds_place *own;
	unsigned int nr_own;
	bool no_tmpfs;
	bool huge_tmpfs;
	bool no_disk;
	const char *procs;
	const struct ds_load_script *scripts;
};

struct ds_load {
	pid_t pid;		/* 0 when there is no child */
	unsigned int slots;
	size_t size;
	struct ds_load_shared *sh;
	struct ds_mix_slot *mix;	/* as many as slots */
	struct ds_log_entry *log;	/* log_size for each slot */
	struct ds_thread_hist *hist;	/* as many as slots */
	u32 log_size;
};

/**
 * struct ds_mix_totals - sums over the mix threads; see struct ds_mix_slot
 * @first:	the first mismatch, when @violations is not 0
 * @failed:	an operation failed; @failed_op, @failed_errno and @failed_place say
 *		which
 */
struct ds_mix_totals {
	u64 ran[DS_OPS_MAX][DS_NR_PATHS];
	u64 refused[DS_OPS_MAX];
	u64 verified;
	u64 planted;
	u64 violations;
	struct ds_mix_report first;
	bool failed;
	u32 failed_op;
	u32 failed_errno;
	char failed_place[128];
};

/* Sums over all threads; see struct ds_slot. */
struct ds_load_totals {
	u64 truncates[DS_METHODS_MAX];
	u64 all_truncates;
	u64 mix_truncates;
	u64 trunc_errors;
	u64 steps, pages, advised;
	u64 submitted, reaped, dropped;
	u64 no_space, no_memory, retries, other_errors;
	u32 last_errno;
	u32 broken;		/* threads whose ring stopped working */
	u32 finished;
	struct ds_mix_totals mix;
};

int ds_load_start(struct ds_load *l, const struct ds_load_params *p);
int ds_load_wait_ready(struct ds_load *l, unsigned int timeout_ms);
void ds_load_go(struct ds_load *l);
void ds_load_stop(struct ds_load *l);
int ds_load_wait(struct ds_load *l, unsigned int timeout_ms, int *status);
void ds_load_kill(struct ds_load *l);
void ds_load_sum(const struct ds_load *l, struct ds_load_totals *t);
void ds_load_freeze(struct ds_load *l);
unsigned int ds_load_log(const struct ds_load *l, unsigned int t, u64 n, struct ds_log_entry *e);
const struct drainstress_hist *ds_load_hist(const struct ds_load *l, unsigned int t);
u64 ds_load_hash(const struct ds_load *l, u64 seed, const struct ds_mix_choice *mix);
void ds_load_free(struct ds_load *l);
const char *ds_flood_op_name(u32 op);

#endif /* DS_LOAD_H */
