/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decisions from a seed.  Every choice of the load is a pure function of
 * (seed, thread, index), so that a run can be repeated from its seed alone and
 * a thread's n-th step does not depend on what the others did.
 */
#ifndef DS_RAND_H
#define DS_RAND_H

#include <linux/drainstress_random.h>

#include "types.h"

/* The stream of choices that belong to one step. */
struct ds_rand {
	u64 state;
};

/**
 * ds_rand_at() - the stream of step @index of @thread
 *
 * Each argument passes through the mixer before the next is added, so that
 * neighbouring threads and steps have unrelated streams.
 */
static inline struct ds_rand ds_rand_at(u64 seed, u64 thread, u64 index)
{
	return (struct ds_rand){ .state = ds_random_at(0, seed, thread, index) };
}

/* The next 64 bits of @r. */
static inline u64 ds_rand_next(struct ds_rand *r)
{
	r->state += DS_RANDOM_GOLDEN;
	return ds_random_mix(r->state);
}

/* 32 random bits as a number from 0 to @n - 1; 0 when @n is 0.  The bias is below n / 2^32. */
static inline u32 ds_rand_scale(u32 bits, u32 n)
{
	return (u32)(((u64)bits * n) >> 32);
}

/* The next such number of @r. */
static inline u32 ds_rand_below(struct ds_rand *r, u32 n)
{
	return ds_rand_scale(ds_rand_next(r) >> 32, n);
}

#endif /* DS_RAND_H */
