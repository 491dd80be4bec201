// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long drains take, and for how long checks stop the machine: histograms, of
 * which each CPU has its own, added up when they are read.  What is timed is in
 * drain.c and in the functions that stop_machine() runs; the buckets are those of
 * drainstress_hist.h, shared with the load.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/vmalloc.h>

#include "drainstress.h"

/*
 * Made when a run begins, for all CPUs that there can be: one may come online
 * later.  They stay until the module goes, as counters do.  Whole pages of their
 * own, so that no CPU writes where another reads.
 */
struct ds_cpu_hists {
	struct drainstress_hist drain;
	struct drainstress_hist drain_all;
};

static DEFINE_PER_CPU(struct ds_cpu_hists *, ds_hists);

/* Only written inside stop_machine(), where nobody else runs. */
static struct drainstress_hist ds_pauses;

#define DS_LATENCY_NAME(sym, name)	[DS_LATENCY_##sym] = name,
const char *const ds_latency_name[DS_NR_LATENCIES] = {
	DS_LATENCIES(DS_LATENCY_NAME)
};

/* One more value; nobody else writes to @h meanwhile. */
static void ds_hist_add(struct drainstress_hist *h, u64 ns)
{
	u32 *bucket = &h->bucket[ds_hist_index(ns)];

	if (*bucket != U32_MAX)
		WRITE_ONCE(*bucket, *bucket + 1);
	if (ns > h->max)
		WRITE_ONCE(h->max, ns);
	WRITE_ONCE(h->count, h->count + 1);
}

/**
 * ds_latency_drain() - a drain of the kernel's has ended
 * @all: it was one of all CPUs
 * @start: ktime_get_ns() when it began
 *
 * Context: process.  Does nothing before the first run.
 */
void ds_latency_drain(bool all, u64 start)
{
	u64 ns = ktime_get_ns() - start;
	struct ds_cpu_hists *h;

	preempt_disable();
	h = __this_cpu_read(ds_hists);
	if (h)
		ds_hist_add(all ? &h->drain_all : &h->drain, ns);
	preempt_enable();
}

/**
 * ds_latency_pause() - a look at rest is about to end
 * @start: ktime_get_ns() when it began
 *
 * Return: for how long it has stopped the machine, ns.  Context: inside
 * stop_machine().
 */
u64 ds_latency_pause(u64 start)
{
	u64 ns = ktime_get_ns() - start;

	ds_hist_add(&ds_pauses, ns);
	return ns;
}

/**
 * ds_latency_begin() - a run begins: all histograms are empty
 *
 * Return: 0 or -ENOMEM.  Context: the ordered work queue; nothing drains.
 */
int ds_latency_begin(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ds_cpu_hists *h = per_cpu(ds_hists, cpu);

		if (h) {
			memset(h, 0, sizeof(*h));
			continue;
		}
		h = vzalloc(sizeof(*h));
		if (!h)
			return -ENOMEM;
		WRITE_ONCE(per_cpu(ds_hists, cpu), h);
	}
	memset(&ds_pauses, 0, sizeof(ds_pauses));
	return 0;
}

/* Nothing drains any more. */
void ds_latency_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		vfree(per_cpu(ds_hists, cpu));
		per_cpu(ds_hists, cpu) = NULL;
	}
}

/* The part of a histogram that @cpu has, or NULL. */
static const struct drainstress_hist *ds_part(unsigned int which, int cpu)
{
	const struct ds_cpu_hists *h = READ_ONCE(per_cpu(ds_hists, cpu));

	if (which == DS_LATENCY_PAUSE)
		return cpu == cpumask_first(cpu_possible_mask) ? &ds_pauses : NULL;
	if (!h)
		return NULL;
	return which == DS_LATENCY_DRAIN ? &h->drain : &h->drain_all;
}

/**
 * ds_latency_read() - how many values a histogram has, and the longest
 * @which: enum ds_latency
 * @count: gets the number
 * @max: gets the longest, ns
 */
void ds_latency_read(unsigned int which, u64 *count, u64 *max)
{
	const struct drainstress_hist *h;
	int cpu;

	*count = 0;
	*max = 0;
	for_each_possible_cpu(cpu) {
		h = ds_part(which, cpu);
		if (!h)
			continue;
		*count += READ_ONCE(h->count);
		*max = max(*max, READ_ONCE(h->max));
	}
}

/**
 * ds_latency_bucket() - one bucket of a histogram
 * @which: enum ds_latency
 * @index: of ds_hist_index()
 *
 * Return: how many values are in it.
 */
u64 ds_latency_bucket(unsigned int which, u32 index)
{
	const struct drainstress_hist *h;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		h = ds_part(which, cpu);
		if (h)
			sum += READ_ONCE(h->bucket[index]);
	}
	return sum;
}
