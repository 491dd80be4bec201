/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The random number behind each decision that comes from a seed: of the racing
 * kthreads, the faults, the pairs and the load.  What is decided with it stands
 * where the decision is.  Not for secrets.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_RANDOM_H
#define _UAPI_LINUX_DRAINSTRESS_RANDOM_H

#include <linux/types.h>

#define DS_RANDOM_GOLDEN	0x9e3779b97f4a7c15ULL

/**
 * ds_random_mix() - splitmix64's finaliser (Steele, Lea, Flood 2014)
 */
static inline __u64 ds_random_mix(__u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Adds @value to the random number @z; the order of what is added counts. */
static inline __u64 ds_random_add(__u64 z, __u64 value)
{
	return ds_random_mix(z + value + DS_RANDOM_GOLDEN);
}

/**
 * ds_random_at() - the random number that a decision comes from
 * @seed: of the run
 * @a: with @b and @c: who decides, the number of the decision, and what it is for
 *
 * Each argument passes through the finaliser before the next is added: a decision
 * depends on nothing else, and no two streams are the same one, or one shifted.
 */
static inline __u64 ds_random_at(__u64 seed, __u64 a, __u64 b, __u64 c)
{
	return ds_random_add(ds_random_add(ds_random_add(seed, a), b), c);
}

#endif /* _UAPI_LINUX_DRAINSTRESS_RANDOM_H */
