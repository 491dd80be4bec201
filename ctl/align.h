/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs of actions that the module brings together in time: what "--align" says, and
 * what became of them.  See align.c.
 */
#ifndef DS_ALIGN_H
#define DS_ALIGN_H

#include <linux/drainstress_align.h>

#include "nl.h"

#define DS_ALIGN_TAKES "on, off, compare, or pairs of "

/* Most that ds_align_request() appends. */
#define DS_ALIGN_REQUEST 2

/**
 * struct ds_align_opts - what "--align" says
 * @mode:	enum drainstress_align
 * @named:	bit (id - 1) of the pairs that were named; 0: those that the mode has
 * @word:	as given, for the command that repeats the run; NULL: not given
 */
struct ds_align_opts {
	u8 mode;
	u32 named;
	const char *word;
};

/**
 * struct ds_align_result - what became of a pair
 * @overlaps_s:	overlaps a second of rounds in which the sides met
 * @free_s:	overlaps a second when each side went its own way
 * @ratio:	of the two; 0: there is none
 */
struct ds_align_result {
	u64 rounds, missed, failed, overlaps, outside;
	u64 bins[DS_ALIGN_BINS];
	u64 len_ns[2];
	u64 free_actions[2], free_overlaps;
	double seconds, free_seconds;
	double overlaps_s, free_s, ratio;
};

const char *ds_pair_name(u32 id);
void ds_align_names(char *buf, size_t len);
int ds_align_take(struct ds_align_opts *o, const char *arg);
u32 ds_align_wanted(const struct ds_align_opts *o, const struct ds_msg *caps);
int ds_align_settle(const struct ds_align_opts *o, const struct ds_msg *caps, struct ds_err *err);
unsigned int ds_align_request(const struct ds_align_opts *o, struct ds_arg *args);
void ds_align_result(const struct ds_msgs *stats, u32 id, struct ds_align_result *res);

#endif /* DS_ALIGN_H */
