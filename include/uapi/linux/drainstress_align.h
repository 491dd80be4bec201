/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The pairs of actions that the module brings together in time: what they are
 * called, what each side does, and the arithmetic of it, which stands here because
 * it is pure and the unit tests try it too.  How an action is done, and how two
 * kthreads meet, is in kmod/align.c.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_ALIGN_H
#define _UAPI_LINUX_DRAINSTRESS_ALIGN_H

#include <linux/drainstress_random.h>
#include <linux/types.h>

/*
 * X(symbol, name, what A does, what B does, rare); the id is the place in the
 * list, from 1.  A rare pair disturbs the whole machine: it is only raced when it
 * is asked for, and then in one turn of four.
 */
#define DS_PAIRS(X)							\
	X(TRUNCATE_DRAIN, "truncate-drain", "truncates a file",		\
	  "drains a CPU whose lru_add batch holds pages of it", 0)	\
	X(FILL_DRAIN, "fill-drain", "queues the folios of a CPU",	\
	  "drains that CPU, whose batches hold them", 0)		\
	X(DISABLE_FILL, "disable-fill",					\
	  "lru_cache_disable() and lru_cache_enable()", "fills a batch", 0) \
	X(MLOCK_TRUNCATE, "mlock-truncate",				\
	  "mlocks and munlocks pages of a file", "truncates it", 0)	\
	X(OFFLINE_FILL, "offline-fill",					\
	  "takes a CPU offline and brings it back",			\
	  "fills a batch, on that CPU as long as it is there", 1)

#define DS_PAIR_ENUM(sym, ...) DS_PAIR_##sym,
enum drainstress_pair {
	DS_PAIR_UNSPEC,
	DS_PAIRS(DS_PAIR_ENUM)
	__DS_PAIR_MAX,
};

#define DS_NR_PAIRS (__DS_PAIR_MAX - 1)

/* How the two sides of a pair are set in motion. */
enum drainstress_align {
	DS_ALIGN_OFF,		/* no pair is raced */
	DS_ALIGN_ON,		/* they meet in each round */
	DS_ALIGN_COMPARE,	/* every second slice of time each goes its own way */
};

/* Parts of the range of offsets, each counted. */
#define DS_ALIGN_BINS	16

/* Lengths are cut to this, so that the arithmetic below cannot overflow. */
#define DS_ALIGN_LEN_MAX	(1ULL << 31)

/**
 * ds_align_learn() - a running average of how long an action takes
 * @len: of those before, ns; 0: there was none
 * @sample: how long it took now, ns
 *
 * A new one counts for an eighth.  One that was interrupted for long counts as four
 * times the average at most.  Return: the new average, at least 1.
 */
static inline __u64 ds_align_learn(__u64 len, __u64 sample)
{
	if (sample > DS_ALIGN_LEN_MAX)
		sample = DS_ALIGN_LEN_MAX;
	if (!sample)
		sample = 1;
	if (!len)
		return sample;
	if (sample > 4 * len)
		sample = 4 * len;
	len = (7 * len + sample + 7) / 8;
	return len > DS_ALIGN_LEN_MAX ? DS_ALIGN_LEN_MAX : len;
}

/**
 * ds_align_offset() - when B shall start, counted from the start of A
 * @random: of ds_random_at(), for (seed, pair, round, what for)
 * @len_a: how long A takes, ns
 * @len_b: how long B takes, ns
 *
 * Return: ns, each of -@len_b .. @len_a as likely as another: at the first B ends
 * where A starts, at the last it starts where A ends.
 */
static inline __s64 ds_align_offset(__u64 random, __u64 len_a, __u64 len_b)
{
	/* 32 random bits times less than 2^32: fits 64 */
	__u64 at = ((random >> 32) * (len_a + len_b + 1)) >> 32;

	return (__s64)at - (__s64)len_b;
}

/**
 * ds_align_overlap() - whether two actions were under way at one time
 *
 * Ends that only touch do not count.
 */
static inline int ds_align_overlap(__u64 start_a, __u64 end_a, __u64 start_b,
				   __u64 end_b)
{
	return start_a < end_b && start_b < end_a;
}

/**
 * ds_align_bin() - in which part of the range an offset lies
 * @offset: start of B less start of A, as reached, ns
 * @len_a: how long A takes, ns
 * @len_b: how long B takes, ns
 *
 * Return: 0 .. DS_ALIGN_BINS - 1, or -1 outside of -@len_b .. @len_a.
 */
static inline int ds_align_bin(__s64 offset, __u64 len_a, __u64 len_b)
{
	__s64 at = offset + (__s64)len_b;

	if (at < 0 || (__u64)at > len_a + len_b)
		return -1;
	return (__u64)at * DS_ALIGN_BINS / (len_a + len_b + 1);
}

/**
 * struct ds_align_interval - when an action was under way, ns
 */
struct ds_align_interval {
	__u64 start;
	__u64 end;
};

/**
 * ds_align_overlaps() - how many pairs of two lists overlap
 * @a: one after the other in time
 * @nr_a: how many
 * @b: likewise
 * @nr_b: how many
 */
static inline __u64 ds_align_overlaps(const struct ds_align_interval *a,
				      unsigned int nr_a,
				      const struct ds_align_interval *b,
				      unsigned int nr_b)
{
	unsigned int i = 0, j = 0;
	__u64 n = 0;

	while (i < nr_a && j < nr_b) {
		n += ds_align_overlap(a[i].start, a[i].end, b[j].start, b[j].end);
		if (a[i].end < b[j].end)
			i++;
		else
			j++;
	}
	return n;
}

/**
 * ds_align_turn() - which pair is raced next
 * @seed: of the run
 * @pairs: those that are raced, bit (id - 1); not 0
 * @rare: those of them that shall be rare
 * @turn: counts, from 0
 *
 * All come up once before one comes again, the first of them by the seed.  Return:
 * enum drainstress_pair.
 */
static inline unsigned int ds_align_turn(__u64 seed, __u32 pairs, __u32 rare,
					 __u64 turn)
{
	unsigned int often[DS_NR_PAIRS], few[DS_NR_PAIRS], id, n = 0, r = 0;
	__u64 cycle, first;

	rare &= pairs;
	for (id = 1; id < __DS_PAIR_MAX; id++) {
		if (rare & 1U << (id - 1))
			few[r++] = id;
		else if (pairs & 1U << (id - 1))
			often[n++] = id;
	}
	if (!n)
		return few[turn % r];
	/* Of four cycles of those that are not rare the first is followed by these. */
	cycle = turn / (4 * n + r);
	turn %= 4 * n + r;
	if (turn >= n && turn < n + r)
		return few[turn - n];
	if (turn >= n)
		turn -= r;
	first = ds_random_at(seed, 0, 4 * cycle + turn / n, 0);
	return often[(first + turn) % n];
}

#endif /* _UAPI_LINUX_DRAINSTRESS_ALIGN_H */
