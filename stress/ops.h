/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operations that mix threads do, as a table, and the presets that weight
 * them.  See ops.c.
 */
#ifndef DS_OPS_H
#define DS_OPS_H

#include "files.h"
#include "types.h"

#define DS_OPS_MAX 64

/* What an operation is done to. */
#define DS_TO_FILE	0x01U	/* a file, by its descriptor */
#define DS_TO_FILE_MAP	0x02U	/* the lasting mapping of one */
#define DS_TO_ANON	0x04U	/* anonymous memory */
#define DS_TO_HUGE	0x08U	/* anonymous memory of huge pages' size */
#define DS_TO_SHM	0x10U	/* a System V segment */
#define DS_TO_MAPPED	(DS_TO_FILE_MAP | DS_TO_ANON | DS_TO_HUGE | DS_TO_SHM)

/* Groups: presets pick operations by them. */
#define DS_G_DATA	0x01U	/* every preset: without data there is nothing to move */
#define DS_G_FILE	0x02U	/* the size of files and their holes */
#define DS_G_MLOCK	0x04U
#define DS_G_RECLAIM	0x08U
#define DS_G_MIGRATE	0x10U
#define DS_G_COMPACT	0x20U	/* touches the whole machine */
#define DS_G_DROP	0x40U	/* touches the whole machine */
#define DS_G_HOTPLUG	0x80U	/* changes the state of the whole machine */
#define DS_G_SWAP	0x100U	/* there is swap, which the whole machine may use */
#define DS_G_MACHINE	(DS_G_COMPACT | DS_G_DROP | DS_G_HOTPLUG | DS_G_SWAP)
#define DS_G_ALL	0x1ffU

struct ds_mix;
struct ds_mix_step;
struct ds_target;
struct ds_undo;
struct ds_own_swap;

/**
 * struct ds_op_env - what a probe may use
 * @places:	where files are made
 * @cgroup:	directory of the load's own control group, or NULL
 * @opcodes:	io_uring opcodes that may be used, as bits
 * @undo:	journal of what has to be put back; NULL for a probe that changes nothing
 * @no_undo:	why there is no journal, NULL: there is one, or need be none
 * @swap:	the load's own, or NULL
 * @no_swap:	why there is none, NULL: there is, or none is wanted yet
 */
struct ds_op_env {
	const struct ds_places *places;
	const char *cgroup;
	u64 opcodes;
	struct ds_undo *undo;
	const char *no_undo;
	struct ds_own_swap *swap;
	const char *no_swap;
};

/**
 * struct ds_op - one operation
 * @name:	what --mix takes and the summary prints
 * @help:	one line for "drainctl ops"
 * @weight:	how often by default, against the others
 * @groups:	DS_G_*, of which a preset has to have one
 * @to:		DS_TO_*, 0: nothing in particular
 * @changes:	changes data that the model has to know
 * @truncates:	counts as a truncate
 * @tolerates:	errors, besides those that any operation may meet, which are no
 *		fault of the kernel's; ends with 0
 * @probe:	why it cannot be done here, NULL: always available.  Return: true
 *		when it can; else @why is set
 * @run:	do it.  Return: 0; 1 when there was nothing to do; -errno; -EILSEQ
 *		when data was wrong and has been reported
 */
struct ds_op {
	const char *name;
	const char *help;
	u32 weight;
	u32 groups;
	u32 to;
	bool changes;
	bool truncates;
	int tolerates[6];
	bool (*probe)(const struct ds_op_env *env, char *why, size_t len);
	int (*run)(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t);
};

extern const struct ds_op ds_ops[];
extern const unsigned int ds_nr_ops;

/**
 * struct ds_preset - a set of weights, and how many threads it is for
 * @share:	of four threads so many are mix threads, at least one
 * @groups:	DS_G_* of the operations that it has
 * @favours:	DS_G_* of those that it does four times as often
 */
struct ds_preset {
	const char *name;
	const char *help;
	u32 share;
	u32 groups;
	u32 favours;
};

extern const struct ds_preset ds_presets[];
extern const unsigned int ds_nr_presets;

#define DS_PRESET_DEFAULT "soak"

/**
 * struct ds_mix_choice - what mix threads do
 * @share:	as of the preset; 0: there are none
 * @weights:	of each row of ds_ops
 * @total:	their sum
 */
struct ds_mix_choice {
	u32 share;
	u32 weights[DS_OPS_MAX];
	u32 total;
};

/* Each operation: can it be done here, and why not? */
struct ds_op_probe {
	bool available;
	char why[160];
};

int ds_op_find(const char *name);
int ds_preset_find(const char *name);
void ds_preset_names(char *buf, size_t len);
int ds_mix_choose(const char *preset, const char *mix, struct ds_mix_choice *c, char *why,
		  size_t len);
void ds_ops_probe(const struct ds_op_env *env, struct ds_op_probe probes[DS_OPS_MAX]);
bool ds_mix_wants(const struct ds_mix_choice *c, u32 groups);
void ds_mix_restrict(struct ds_mix_choice *c, const struct ds_op_probe *probes);
u32 ds_mix_threads(const struct ds_mix_choice *c, u32 threads);

#endif /* DS_OPS_H */
