/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a thread of the load counts how long something took.  The buckets are those
 * of drainstress_hist.h; what is done with them is in ctl/latency.c.
 */
#ifndef DS_HIST_H
#define DS_HIST_H

#include <linux/drainstress_hist.h>

#include "types.h"

/* A histogram on cache lines of its own. */
struct ds_thread_hist {
	struct drainstress_hist h;
} __aligned(128);

/**
 * ds_hist_add() - one more value
 * @h:  written by the calling thread alone; NULL: nobody counts
 * @ns: the value
 */
static inline void ds_hist_add(struct ds_thread_hist *h, u64 ns)
{
	u32 *bucket;

	if (!h)
		return;
	bucket = &h->h.bucket[ds_hist_index(ns)];
	if (ds_get(bucket) != ~0U)
		ds_add(bucket, 1);
	if (ns > ds_get(&h->h.max))
		ds_set(&h->h.max, ns);
	ds_add(&h->h.count, 1);
}

#endif /* DS_HIST_H */
