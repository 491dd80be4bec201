/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One mix thread of the load.  See mix.c.
 */
#ifndef DS_MIX_H
#define DS_MIX_H

#include <liburing.h>
#include <setjmp.h>

#include "flood.h"
#include "ops.h"
#include "rand.h"
#include "verify.h"

#define DS_MIX_PAGES 64		/* of a file, at most, and of one operation */
#define DS_MIX_PAGES_MIN 8
#define DS_MIX_FILES 4
#define DS_MIX_TARGETS (DS_MIX_FILES + 3)
#define DS_HUGE_SIZE (2U << 20)
#define DS_PIN_PAGES 16		/* of memory that is there to be pinned */
/* Descriptors: files, the ring, pinned memory, and what an operation opens for a moment. */
#define DS_MIX_FDS (DS_MIX_FILES + 1 + 1 + 4)

/* Decisions of mix threads are apart from those of the flood's. */
#define DS_MIX_STREAM 0x100000U

enum ds_path {
	DS_PATH_SYSCALL,
	DS_PATH_RING,
	DS_NR_PATHS,
};

/* The first mismatch of a thread, and the last operations on that file. */
struct ds_mix_report {
	u64 time_ns;
	u32 cpu;
	u32 tid;
	u32 thread;
	char place[128];
	struct ds_mismatch bad;
	struct ds_history history[DS_HISTORY];	/* the oldest first */
	u32 nr_history;
};

/**
 * struct ds_mix_slot - the counters of one mix thread, written by it alone
 * @ran:	operations that succeeded, by row and path
 * @refused:	that met an error which may be
 * @verified:	pages that were compared
 * @violations:	mismatches; @first is set before it leaves 0
 * @failed:	set last: an operation failed in a way that it may not
 */
struct ds_mix_slot {
	u64 ran[DS_OPS_MAX][DS_NR_PATHS];
	u64 refused[DS_OPS_MAX];
	u64 verified;
	u64 planted;
	u64 violations;
	struct ds_mix_report first;
	u32 failed;
	u32 failed_op;
	u32 failed_errno;
	char failed_place[128];
} __aligned(128);

/**
 * struct ds_target - what an operation is done to
 * @kind:	one of DS_TO_*, or a file that has both of its bits
 * @fd:		of a file, else -1
 * @map:	its lasting mapping, or NULL
 * @shmid:	of a System V segment
 * @refuses:	operations that it does not support
 * @exact:	st_blocks is exact: tmpfs, and 0 after a truncate to 0
 */
struct ds_target {
	u32 kind;
	int fd;
	u8 *map;
	int shmid;
	u64 refuses;
	bool tmpfs;
	bool exact;
	char place[128];
	struct ds_model model;
};

/* The decisions of one step. */
struct ds_mix_step {
	u32 op;
	u32 target;
	u32 page;
	u32 pages;
	u32 cut;		/* bytes, below DS_VPAGE */
	u32 choice;		/* whatever else there is to choose */
	bool ring;
};

/**
 * struct ds_mix - everything a mix thread needs
 * @choice:	as asked for: decisions do not depend on what there is
 * @probes:	what can be done of it
 * @places:	for files of a moment
 * @pages:	that each of its files has at most
 * @huge:	may have memory of huge pages' size
 * @use_ring:	io_uring may be used
 * @plant:	alter data behind the model's back
 * @hist:	how long truncates took; may be NULL
 */
struct ds_mix {
	u64 seed;
	u32 thread;
	const struct ds_mix_choice *choice;
	const struct ds_op_probe *probes;
	const struct ds_op_env *env;
	u32 pages;
	bool huge;
	bool use_ring;
	bool plant;
	const u32 *stop;
	struct ds_slot *slot;
	struct ds_mix_slot *mslot;
	struct ds_thread_hist *hist;
	struct ds_log log;
	struct ds_script script;

	/* the thread's own */
	struct ds_target targets[DS_MIX_TARGETS];
	unsigned int nr_targets;
	u8 *buf;		/* DS_MIX_PAGES pages */
	struct ds_vpage filled[DS_MIX_PAGES];
	struct io_uring ring;
	bool ring_up;
	bool ring_broken;
	bool step_ring;		/* this step may use the ring */
	bool used_ring;
	u32 temp;		/* files of a moment made so far */
	u64 index;
	u32 did_page;		/* what the step was done to, for the history */
	u32 did_pages;
	u64 truncate_ns;	/* that the last truncate took */
	bool pinned;		/* a buffer is registered with the ring */
	struct ds_target pin;	/* when it is of its own; else kind is 0 */
	sigjmp_buf fault;
};

void ds_mix_plan(const struct ds_mix_choice *c, u64 seed, u32 thread, u64 index,
		 struct ds_mix_step *s);
u64 ds_mix_hash(u64 hash, const struct ds_mix_choice *c, u64 seed, u32 thread, u64 index);
int ds_mix_open_files(struct ds_mix *m, const struct ds_places *places);
int ds_mix_setup(struct ds_mix *m);
void ds_mix_run(struct ds_mix *m);
void ds_mix_teardown(struct ds_mix *m);
void ds_mix_catch_faults(void);
u64 ds_mix_opcodes(void);
u64 ds_mix_memory(u32 pages, bool huge);

/* For the operations. */
int ds_mix_wrong(struct ds_mix *m, struct ds_target *t, const struct ds_mismatch *bad);
int ds_mix_copy(struct ds_mix *m, void *to, const void *from, size_t n);
struct io_uring_sqe *ds_mix_sqe(struct ds_mix *m, unsigned int opcode);
int ds_mix_wait(struct ds_mix *m);
bool ds_mix_chain_ready(struct ds_mix *m);
int ds_mix_wait_chain(struct ds_mix *m, struct io_uring_sqe *const *sqe, unsigned int nr,
		      int *res);
int ds_mix_check_pages(struct ds_mix *m, struct ds_target *t, const struct ds_model *model,
		       u32 page, const u8 *buf, u64 len);
bool ds_mix_rested(u64 *due, u32 rest_ms);

/* Of ds_mix_disable_begin(). */
struct ds_mix_turn {
	u64 *due;
	u64 began;	/* of ds_now_ns() */
	int nice;	/* of the thread, before */
};

bool ds_mix_disable_begin(struct ds_mix_turn *turn, u64 *due, u32 rest_ms);
void ds_mix_disable_end(struct ds_mix_turn *turn);
void ds_mix_unsure(struct ds_target *t);
int ds_mix_sweep_mapping(struct ds_mix *m, struct ds_target *t);

#endif /* DS_MIX_H */
