/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The buckets of latency histograms, the same in drainstress.ko, which times
 * drains and pauses, and in the load, which times truncates: which bucket a
 * value belongs to and where a bucket begins.  Who counts what into them, and
 * percentiles, stand elsewhere.
 *
 * Buckets are log-linear, as in HdrHistogram: each power of two is divided into
 * 2^DS_HIST_BITS of the same width.  So a bucket is at most 1/128 of its lower
 * bound wide, and a value is known to less than 1 %, whatever its size; with
 * buckets of powers of two alone p50 and p99 would often be the same.  Below
 * 2^(DS_HIST_BITS + 1) ns a bucket is one nanosecond, and exact.  Two histograms
 * are merged by adding their buckets, and nothing is lost by that.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_HIST_H
#define _UAPI_LINUX_DRAINSTRESS_HIST_H

#include <linux/types.h>

#define DS_HIST_BITS		7
#define DS_HIST_PART		(1U << DS_HIST_BITS)	/* buckets a power of two */
#define DS_HIST_MAX_BITS	40			/* 18 minutes in ns */
#define DS_HIST_MAX		(1ULL << DS_HIST_MAX_BITS)

/* The last bucket, which begins with DS_HIST_MAX, is for all that is longer. */
#define DS_HIST_OVERFLOW	((DS_HIST_MAX_BITS - DS_HIST_BITS + 1) * DS_HIST_PART)
#define DS_HIST_BUCKETS		(DS_HIST_OVERFLOW + 1)

/**
 * ds_hist_index() - the bucket of a value
 * @value: ns
 *
 * With e the exponent of the highest bit of @value, which is at least DS_HIST_BITS,
 * and s = e - DS_HIST_BITS, the highest DS_HIST_BITS + 1 bits are @value >> s, from
 * 128 to 255, and the index is s * 128 + (@value >> s).  Smaller values are their own
 * index.  The index never falls where the value grows.
 *
 * Return: 0 .. DS_HIST_BUCKETS - 1.
 */
static inline __u32 ds_hist_index(__u64 value)
{
	__u32 shift;

	if (value < DS_HIST_PART)
		return value;
	if (value >= DS_HIST_MAX)
		return DS_HIST_OVERFLOW;
	shift = 63 - __builtin_clzll(value) - DS_HIST_BITS;
	return shift * DS_HIST_PART + (__u32)(value >> shift);
}

/**
 * ds_hist_lower() - the least value of a bucket
 * @index: 0 .. DS_HIST_BUCKETS - 1
 *
 * The inverse: shift = @index / 128 - 1, and (128 + @index % 128) << shift.
 *
 * Return: ns.
 */
static inline __u64 ds_hist_lower(__u32 index)
{
	if (index < DS_HIST_PART)
		return index;
	return (__u64)(DS_HIST_PART + index % DS_HIST_PART) << (index / DS_HIST_PART - 1);
}

/**
 * struct drainstress_hist - what one thread or one CPU has counted
 * @count:	values, also such as a full bucket did not take
 * @max:	the longest, exactly; ns
 * @bucket:	how many of @count; stays at its greatest number
 *
 * For one writer; a reader that comes meanwhile may see @count or a bucket first.
 */
struct drainstress_hist {
	__u64 count;
	__u64 max;
	__u32 bucket[DS_HIST_BUCKETS];
};

#endif /* _UAPI_LINUX_DRAINSTRESS_HIST_H */
