/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The decisions of the racing kthreads, each a pure function of (seed, CPU, index)
 * and of the kinds and CPUs that were asked for, and the hash over decisions.
 * They stand here because drainctl writes them into a file and the unit tests try
 * them.  How a decision is carried out is in kmod/race.c.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_DECIDE_H
#define _UAPI_LINUX_DRAINSTRESS_DECIDE_H

#include <linux/drainstress.h>
#include <linux/drainstress_random.h>
#include <linux/types.h>

/* So many of each actor are hashed, and kept for a replay. */
#define DS_DECISIONS	4096

/* Lower ones are for the rounds of a pair, in kmod/align.c. */
enum { DS_SALT_ACT = 32, DS_SALT_FILL, DS_SALT_DRAIN, DS_SALT_STUTTER, DS_SALT_FAR };

/* Those that drain the CPU which they run on are taken by each CPU's kthread. */
#define DS_DRAINS_HERE	(1U << (DS_DRAIN_LOCAL - 1) | 1U << (DS_DRAIN_RELEASE - 1))

#define DS_FILL_OF_8		5	/* fills in 8 actions */
#define DS_REMOTE_OF_16		3	/* fills of another CPU's folios in 16 */
#define DS_WAIT_MAX_US		8000	/* between two drains of other CPUs */

/**
 * struct ds_decision - what a racing kthread does next
 * @kind:	batch kind of a fill, 0: a drain
 * @drain:	drain kind, else 0
 * @remote:	of a fill: another CPU's folios, where the kind takes them
 * @n:		of a fill: 1 + @n % batch size folios
 * @start:	of a fill: where in the stock
 * @cpu:	of a drain of other CPUs: the @cpu-th of the run's
 * @wait_us:	before such a drain
 *
 * Nothing in it depends on the batch size or on what a kernel has.
 */
struct ds_decision {
	__u8 kind;
	__u8 drain;
	__u8 remote;
	__u16 n;
	__u16 start;
	__u32 cpu;
	__u32 wait_us;
};

/* One of the bits of @mask, which is not 0; from 1. */
static inline __u32 ds_decide_bit(__u32 mask, __u32 random)
{
	__u32 bit, n = 0;

	for (bit = 0; bit < 32; bit++)
		n += mask >> bit & 1;
	n = random % n;
	for (bit = 0; bit < 31; bit++) {
		if (mask >> bit & 1 && !n--)
			break;
	}
	return bit + 1;
}

/*
 * How often each drain kind is taken.  The kthreads of the CPUs take those that
 * drain the CPU they run on; what waits for other CPUs, a thousand times as long
 * under load, is taken by one more kthread, or it would leave them no time.
 */
static inline __u32 ds_decide_weight(__u32 drain)
{
	return drain == DS_DRAIN_LOCAL ? 2 :
	       drain == DS_DRAIN_CPU || drain == DS_DRAIN_ALL ? 4 : 1;
}

/* A drain kind of @mask, which is not 0. */
static inline __u32 ds_decide_drain(__u32 mask, __u32 random)
{
	__u32 drain, sum = 0;

	for (drain = 1; drain < __DS_DRAIN_MAX; drain++) {
		if (mask >> (drain - 1) & 1)
			sum += ds_decide_weight(drain);
	}
	sum = random % sum;
	for (drain = 1; drain < __DS_DRAIN_MAX - 1; drain++) {
		if (!(mask >> (drain - 1) & 1))
			continue;
		if (sum < ds_decide_weight(drain))
			break;
		sum -= ds_decide_weight(drain);
	}
	return drain;
}

/**
 * ds_decide() - decision @index of the kthread of @cpu
 * @kinds: batch kinds that were asked for, bit (id - 1)
 * @drains: drain kinds, likewise
 *
 * All zero when nothing of it is for the kthreads of the CPUs.
 */
static inline struct ds_decision ds_decide(__u64 seed, __u32 cpu, __u64 index,
					   __u32 kinds, __u32 drains)
{
	__u64 act = ds_random_at(seed, cpu, index, DS_SALT_ACT), random;
	struct ds_decision d = { .kind = 0 };

	drains &= DS_DRAINS_HERE;
	if (kinds && ((act & 7) < DS_FILL_OF_8 || !drains)) {
		random = ds_random_at(seed, cpu, index, DS_SALT_FILL);
		d.kind = ds_decide_bit(kinds, random & 0xffff);
		d.n = random >> 16;
		d.start = random >> 40;
		d.remote = (random >> 32 & 15) < DS_REMOTE_OF_16;
	} else if (drains) {
		random = ds_random_at(seed, cpu, index, DS_SALT_DRAIN);
		d.drain = ds_decide_drain(drains, random);
	}
	return d;
}

/**
 * ds_decide_far() - decision @index of the kthread that drains other CPUs
 * @drains: drain kinds that were asked for
 * @nr_cpus: CPUs of the run
 */
static inline struct ds_decision ds_decide_far(__u64 seed, __u64 index,
					       __u32 drains, __u32 nr_cpus)
{
	__u64 random = ds_random_at(seed, 0, index, DS_SALT_FAR);
	struct ds_decision d = { .kind = 0 };

	drains &= ~DS_DRAINS_HERE;
	if (!drains)
		return d;
	d.drain = ds_decide_drain(drains, random & 0xffff);
	d.wait_us = (random >> 16 & 0xffff) % DS_WAIT_MAX_US;
	d.cpu = (random >> 32) % nr_cpus;
	return d;
}

/* Adds @value to a hash; the order of what is added counts. */
static inline __u64 ds_decide_fold(__u64 hash, __u64 value)
{
	return ds_random_add(hash ^ value, 0);
}

static inline __u64 ds_decide_hash(__u64 hash, const struct ds_decision *d)
{
	hash = ds_decide_fold(hash, (__u64)d->kind << 56 | (__u64)d->drain << 48 |
			      (__u64)d->remote << 40 | d->n);
	return ds_decide_fold(hash, (__u64)d->start << 40 |
			      (__u64)(d->cpu & 0xffff) << 24 | d->wait_us);
}

#endif /* _UAPI_LINUX_DRAINSTRESS_DECIDE_H */
