/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency histograms, merged over threads or CPUs.  See latency.c.
 */
#ifndef DS_LATENCY_H
#define DS_LATENCY_H

#include <linux/drainstress_hist.h>

#include "nl.h"

enum ds_latency_id {
	DS_LATENCY_TRUNCATE,
	DS_LATENCY_DRAIN,
	DS_LATENCY_DRAIN_ALL,
	DS_LATENCY_PAUSE,
	DS_NR_LATENCIES,
};

/**
 * struct ds_latency - a merged histogram
 * @taken:	values that should be in the buckets
 * @max:	the longest, exactly; ns
 * @bucket:	of drainstress_hist.h
 */
struct ds_latency {
	u64 taken;
	u64 max;
	u64 bucket[DS_HIST_BUCKETS];
};

/* What is printed of one: the percentiles of ds_latency_ranks[], in ns. */
#define DS_NR_RANKS 4

struct ds_latency_rank {
	const char *name;
	u32 of_10000;
};

/**
 * struct ds_latency_sum - a histogram in a few numbers; ns
 * @count:	values in the buckets
 * @missing:	values that are not there and should be
 * @overflow:	of @count, DS_HIST_MAX or longer
 * @at:		the percentiles; 0 when @count is
 * @max:	likewise
 */
struct ds_latency_sum {
	u64 count;
	u64 missing;
	u64 overflow;
	u64 at[DS_NR_RANKS];
	u64 max;
};

extern const struct ds_latency_rank ds_latency_ranks[DS_NR_RANKS];

const char *ds_latency_name(enum ds_latency_id id);
void ds_latency_add(struct ds_latency *l, const struct drainstress_hist *h);
void ds_latency_merge(struct ds_latency *l, const struct ds_latency *other);
void ds_latency_take(struct ds_latency *l, const struct ds_msgs *stats, const char *name);
u64 ds_latency_at(const struct ds_latency *l, u64 count, u32 of_10000);
void ds_latency_sum(const struct ds_latency *l, struct ds_latency_sum *s);

#endif /* DS_LATENCY_H */
