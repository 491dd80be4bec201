/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread of the load.  See flood.c.
 */
#ifndef DS_FLOOD_H
#define DS_FLOOD_H

#include <limits.h>
#include <linux/drainstress_decide.h>

#include "hist.h"
#include "methods.h"
#include "rand.h"
#include "types.h"

#define DS_PAGE 4096U
#define DS_FLOOD_PRIVATE 4	/* files that only one ring uses */
#define DS_FLOOD_SHARED 2	/* files of a ring that others use too */
#define DS_FLOOD_FILES (DS_FLOOD_PRIVATE + DS_FLOOD_SHARED)
#define DS_FLOOD_PAGES_MAX 512

/* What a thread is doing, for the report of one that stopped. */
enum ds_flood_op {
	DS_FLOOD_OP_NONE,
	DS_FLOOD_OP_WRITE,
	DS_FLOOD_OP_ADVISE,
	DS_FLOOD_OP_SUBMIT,
	DS_FLOOD_OP_REAP,
	DS_FLOOD_OP_SYSCALL,
	DS_FLOOD_OP_DONE,
	DS_FLOOD_OP_MIX,	/* and the row of ds_ops[] */
};

enum ds_flood_state {
	DS_FLOOD_STARTING,
	DS_FLOOD_READY,
	DS_FLOOD_FAILED,	/* could not be set up: see last_errno */
	DS_FLOOD_BROKEN,	/* its ring stopped working: see last_errno */
	DS_FLOOD_FINISHED,
};

/**
 * struct ds_slot - the counters of one thread, written by it alone
 *
 * Lives in memory that the controller shares; a slot has cache lines of its
 * own (two, because of the adjacent-line prefetcher).
 */
struct ds_slot {
	u64 steps;
	u64 hash;			/* of the first decisions, DS_DECISIONS at most, */
	u64 hashed;			/* of so many */
	u64 logged;			/* entries of its log, the newest of which are kept */
	u64 truncates[DS_METHODS_MAX];	/* that succeeded, by row */
	u64 mix_truncates;		/* by mix threads */
	u64 trunc_errors;
	u64 pages;			/* written or allocated */
	u64 advised;
	u64 submitted;
	u64 reaped;
	u64 dropped;			/* completions the kernel lost */
	u64 no_space;
	u64 no_memory;
	u64 retries;			/* EINTR, EAGAIN, EBUSY */
	u64 other_errors;
	u32 last_errno;
	u32 state;			/* enum ds_flood_state */
	u32 op;				/* enum ds_flood_op */
	u32 tid;
} __aligned(128);

#define DS_LOG_UNDER_WAY INT_MIN	/* no errno, and no count either */

/**
 * struct ds_log_entry - one operation of a thread
 * @what:	index << 16 | operation << 8 | target; operation: as of the slot
 * @time_us:	when it began, CLOCK_MONOTONIC, low 32 bits
 * @result:	0 or more, -errno, or DS_LOG_UNDER_WAY
 */
struct ds_log_entry {
	u64 what;
	u32 time_us;
	s32 result;
};

/**
 * struct ds_log - the last operations of a thread, in memory that the controller shares
 * @v:		@size of them, a ring; NULL: none is kept
 * @frozen:	set: it stays as it is
 */
struct ds_log {
	struct ds_log_entry *v;
	u32 size;
	const u32 *frozen;
};

/* What a thread does over and over in place of all steps; nr 0: all. */
struct ds_script {
	u32 nr;
	const u64 *index;
};

struct ds_log_entry *ds_log_begin(const struct ds_log *log, struct ds_slot *slot, u64 index,
				  u32 op, u32 target);

static inline void ds_log_end(struct ds_log_entry *e, s32 result)
{
	if (e)
		ds_set(&e->result, result);
}

/* The index of step @i of a run. */
static inline u64 ds_script_index(const struct ds_script *s, u64 i)
{
	return s->nr ? s->index[i % s->nr] : i;
}

/* What the decisions of a thread depend on besides (seed, thread, index). */
struct ds_flood_shape {
	u32 nr_files;
	u32 max_pages;
	u32 nr_ring;
	u32 syscall_share;	/* of 8 */
	u32 disk_mask;		/* files that are not on tmpfs */
};

/* The random numbers of one step. */
struct ds_flood_draw {
	u32 size;
	u32 file;
	u32 pages;
	u32 syscall;
	u32 ring;
	u32 keep;
	u32 cut;
	u32 advise;
	u32 allocate;
};

/* One step: fill @pages pages of @file, perhaps advise, then truncate. */
struct ds_step {
	u32 file;
	u32 pages;
	u32 ring;		/* which of the ring methods, when not @syscall */
	bool syscall;
	bool advise;
	bool allocate;		/* fallocate(2) in place of write(2) */
	u64 keep;		/* bytes to keep */
};

/**
 * struct ds_flood - everything one thread needs
 * @fds:	DS_FLOOD_FILES open files
 * @data:	max_pages pages to write from, shared by all threads
 * @stop:	set to end the thread
 * @hist:	how long truncates took; may be NULL
 */
struct ds_flood {
	u64 seed;
	u32 thread;
	struct ds_flood_shape shape;
	struct ds_method_choice choice;
	int fds[DS_FLOOD_FILES];
	const void *data;
	const u32 *stop;
	struct ds_slot *slot;
	struct ds_thread_hist *hist;
	struct ds_log log;
	struct ds_script script;

	/* the thread's own */
	struct io_uring ring;
	bool ring_up;
	unsigned int in_flight;
	struct ds_flood_file {
		struct ds_trunc t;
		unsigned int row;
		struct ds_log_entry *logged;
		u64 began_ns;		/* its truncate */
		bool busy;
	} files[DS_FLOOD_FILES];
};

void ds_flood_draw(u64 seed, u32 thread, u64 index, struct ds_flood_draw *d);
u64 ds_flood_hash(u64 hash, u64 seed, u32 thread, u64 index);
void ds_flood_map(const struct ds_flood_shape *shape, const struct ds_flood_draw *d,
		  struct ds_step *step);
void ds_flood_plan(const struct ds_flood_shape *shape, u64 seed, u32 thread, u64 index,
		   struct ds_step *step);
int ds_flood_setup(struct ds_flood *f);
void ds_flood_run(struct ds_flood *f);
void ds_flood_teardown(struct ds_flood *f);

#endif /* DS_FLOOD_H */
