// SPDX-License-Identifier: GPL-2.0-only
/*
 * drain_kinds[]: each way the kernel drains per-CPU batches, one row a way, and
 * what can be checked at the very moment of a drain (I7, I9, I32).  When a drain
 * happens is decided by the callers.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/pagevec.h>
#include <linux/preempt.h>

#include "drainstress.h"

static unsigned int ds_drain_limit = 30;
module_param_named(drain_limit, ds_drain_limit, uint, 0644);
MODULE_PARM_DESC(drain_limit,
		 "seconds after which a drain that has not returned violates I32; raised to 20 times the slowest drain seen");

/*
 * Drains under way: when each began, in jiffies, 0 when the slot is free.  Each
 * CPU begins its search at a slot of its own, which nearly always is free.
 */
#define DS_MAX_CALLS	1024
static atomic_long_t ds_call_start[DS_MAX_CALLS];
static bool ds_call_told[DS_MAX_CALLS];
static unsigned long ds_slowest;	/* jiffies; a lost update does no harm */

static int ds_call_begin(void)
{
	unsigned int i, first = raw_smp_processor_id();
	long now = jiffies ?: 1;

	for (i = 0; i < DS_MAX_CALLS; i++) {
		unsigned int slot = (first + i) % DS_MAX_CALLS;

		if (!atomic_long_read(&ds_call_start[slot]) &&
		    !atomic_long_cmpxchg(&ds_call_start[slot], 0, now)) {
			ds_call_told[slot] = false;
			return slot;
		}
	}
	return -1;
}

static void ds_call_end(int i)
{
	unsigned long took;

	if (i < 0)
		return;
	took = jiffies - atomic_long_read(&ds_call_start[i]);
	if (took > READ_ONCE(ds_slowest))
		WRITE_ONCE(ds_slowest, took);
	atomic_long_set(&ds_call_start[i], 0);
	ds_checked(32, 1);
}

/*
 * While the cache is disabled a batch holds one folio at most.  lru_cache_disable()
 * waits for work on each CPU, under load longer than from one to the next, and then
 * hardly anything would ever be queued: after one come nineteen times as long without.
 */
#define DS_DISABLED_REST	19
static unsigned long ds_disable_due;	/* jiffies; a lost update does no harm */

/**
 * ds_disable_rested() - whether the cache has been enabled for long enough
 *
 * For who disables it for no reason but to have done it.
 */
bool ds_disable_rested(void)
{
	atomic_t *count = (atomic_t *)ds_symbols[DS_SYM_lru_disable_count].addr;

	/* Somebody else has it disabled: then it is all there is for now. */
	if (count && atomic_read(count))
		return false;
	return time_after_eq(jiffies, READ_ONCE(ds_disable_due));
}

/**
 * ds_disable_over() - the cache is enabled again
 * @began: jiffies before it was disabled
 */
void ds_disable_over(unsigned long began)
{
	WRITE_ONCE(ds_disable_due,
		   jiffies + DS_DISABLED_REST * (jiffies - began));
}

/* A run begins: how slow drains were before says nothing of it. */
void ds_drain_reset(void)
{
	WRITE_ONCE(ds_slowest, 0);
	WRITE_ONCE(ds_disable_due, jiffies);
}

/**
 * ds_drain_watch() - looks for drains that do not return (I32)
 * @stalled_ms: gets the age of the oldest one
 *
 * Called once a second of a run.
 */
void ds_drain_watch(u64 *stalled_ms)
{
	unsigned long now = jiffies, age, oldest = 0;
	unsigned long limit = max((unsigned long)ds_drain_limit * HZ,
				  20 * READ_ONCE(ds_slowest));
	int i;

	if (ds_plant_here(32))
		limit = 0;
	for (i = 0; i < DS_MAX_CALLS; i++) {
		unsigned long start = atomic_long_read(&ds_call_start[i]);

		if (!start || time_after(start, now))
			continue;
		age = now - start;
		oldest = max(oldest, age);
		if (age > limit && !ds_call_told[i]) {
			ds_call_told[i] = true;
			ds_violate(32, NULL, -1,
				   "expected every drain to return within %u ms, found one that has not for %u ms",
				   jiffies_to_msecs(limit), jiffies_to_msecs(age));
		}
	}
	*stalled_ms = jiffies_to_msecs(oldest);
}

/* The planted fault for I32: a drain under way while the limit is nothing. */
void ds_plant_slow_drain(void)
{
	u64 stalled_ms;
	int i = ds_call_begin();

	if (i < 0)
		return;
	msleep(20);
	ds_drain_watch(&stalled_ms);
	ds_plant_done();
	atomic_long_set(&ds_call_start[i], 0);	/* not a time to learn from */
}

/* I7: nothing may stay in this CPU's batches.  Preemption is off. */
static void ds_check_emptied(int cpu, unsigned int invariant, const char *after)
{
	unsigned int kind, pending = ds_pending(cpu), tries = 0;

	/* An interrupt may end writeback and refill rotate: drain that again. */
	while (invariant == 7 && pending == DS_KIND_BIT(DS_BATCH_ROTATE) &&
	       tries++ < 3) {
		ds_call(lru_add_drain)();
		pending = ds_pending(cpu);
	}
	ds_checked(invariant, 1);
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (pending & DS_KIND_BIT(kind)) {
			ds_violate(invariant, NULL, cpu,
				   "batch %s: expected nr 0 %s, found %u",
				   ds_batch_name[kind], after,
				   ds_batch(kind, cpu)->nr);
		}
	}
}

static int ds_run_local(int cpu, struct ds_stock *stock, bool bare)
{
	u64 start;

	if (bare) {
		ds_call(lru_add_drain)();
		return 0;
	}
	preempt_disable();
	ds_mark_local(DS_DRAIN_LOCAL);
	start = ktime_get_ns();
	ds_call(lru_add_drain)();
	ds_latency_drain(false, start);
	ds_mark_local(0);
	if (ds_plant_here(7)) {
		ds_fill(DS_BATCH_DEACTIVATE_FILE,
			ds_cpu_stock(smp_processor_id(), false), 1, 0);
		ds_plant_done();
	}
	ds_plant_leave_behind();
	ds_check_emptied(smp_processor_id(), 7, "after lru_add_drain()");
	preempt_enable();
	return 0;
}

/* lru_add_drain_cpu() wants preemption off and does not drain mlock. */
static int ds_drain_this_cpu(void *bare)
{
	u64 start;

	preempt_disable();
	ds_mark_local(DS_DRAIN_CPU);
	start = ktime_get_ns();
	ds_call(lru_add_drain_cpu)(smp_processor_id());
	if (!bare)
		ds_latency_drain(false, start);
	ds_mark_local(0);
	preempt_enable();
	return 0;
}

static int ds_run_cpu(int cpu, struct ds_stock *stock, bool bare)
{
	return ds_on_cpu(cpu, ds_drain_this_cpu, bare ? &bare : NULL);
}

static int ds_run_all(int cpu, struct ds_stock *stock, bool bare)
{
	u64 start = ktime_get_ns();

	ds_mark_all(DS_DRAIN_ALL, 1);
	ds_call(lru_add_drain_all)();
	if (!bare)
		ds_latency_drain(true, start);
	ds_mark_all(DS_DRAIN_ALL, -1);
	return 0;
}

static int ds_run_disable(int cpu, struct ds_stock *stock, bool bare)
{
	atomic_t *count = (atomic_t *)ds_symbols[DS_SYM_lru_disable_count].addr;
	unsigned long began = jiffies;
	u64 start = ktime_get_ns();

	ds_mark_all(DS_DRAIN_DISABLE, 1);
	ds_disabler_begin();
	ds_call(lru_cache_disable)();
	if (!bare)
		ds_latency_drain(true, start);
	ds_mark_all(DS_DRAIN_DISABLE, -1);
	if (!bare) {
		if (stock)
			ds_fill(DS_BATCH_DEACTIVATE_FILE, stock, 3, 0);
		preempt_disable();
		ds_check_emptied(smp_processor_id(), 9,
				 "between lru_cache_disable() and lru_cache_enable()");
		preempt_enable();
	}
	/* What the inline lru_cache_enable() does. */
	atomic_dec(count);
	ds_disabler_end();
	ds_disable_over(began);
	return 0;
}

/*
 * A batch of own folios that has not drained yet.  Preemption stays off from
 * the first reference to the last, so that no look at rest sees one that it
 * does not know of.
 */
static int ds_run_release(int cpu, struct ds_stock *stock, bool bare)
{
	struct folio_batch fbatch;
	unsigned int i;
	u64 start;

	if (!stock || !stock->nr)
		return -ENODATA;
	folio_batch_init(&fbatch);
	preempt_disable();
	for (i = 0; i < DS_BATCH_SIZE && i < stock->nr; i++) {
		struct folio *folio = stock->own[i].folio;

		folio_get(folio);
		folio_batch_add(&fbatch, folio);
	}
	ds_mark_local(DS_DRAIN_RELEASE);
	start = ktime_get_ns();
	folio_batch_release(&fbatch);
	if (!bare)
		ds_latency_drain(false, start);
	ds_mark_local(0);
	preempt_enable();
	return 0;
}

#define DS_DRAIN_NAME(sym, name, title)	[DS_DRAIN_##sym] = name,
#define DS_DRAIN_TITLE(sym, name, title) [DS_DRAIN_##sym] = title,

const char *const ds_drain_name[__DS_DRAIN_MAX] = {
	DS_DRAIN_KINDS(DS_DRAIN_NAME)
};

const char *const ds_drain_title[__DS_DRAIN_MAX] = {
	DS_DRAIN_KINDS(DS_DRAIN_TITLE)
};

#define DS_NEEDS(a) BIT_ULL(DS_SYM_##a)

const struct ds_drain_kind ds_drain_kinds[__DS_DRAIN_MAX] = {
	[DS_DRAIN_LOCAL] = {
		.needs = DS_NEEDS(lru_add_drain),
		.run = ds_run_local,
	},
	[DS_DRAIN_CPU] = {
		.needs = DS_NEEDS(lru_add_drain_cpu),
		.run = ds_run_cpu,
	},
	[DS_DRAIN_ALL] = {
		.needs = DS_NEEDS(lru_add_drain_all),
		.all_cpus = true,
		.run = ds_run_all,
	},
	[DS_DRAIN_DISABLE] = {
		.needs = DS_NEEDS(lru_cache_disable) | DS_NEEDS(lru_disable_count),
		.all_cpus = true,
		.run = ds_run_disable,
	},
	[DS_DRAIN_RELEASE] = {
		.run = ds_run_release,
	},
};

/**
 * ds_drain_available() - whether this kernel lets us drain that way
 * @drain: drain kind, from 1
 * @len: room in @why, bytes
 * @why: gets the reason when not
 */
bool ds_drain_available(unsigned int drain, char *why, size_t len)
{
	return ds_needs_met(ds_drain_kinds[drain].needs, why, len) &&
	       !ds_skip_layout(why, len);
}

/**
 * ds_drain() - drains once, counts the call and watches its time
 * @drain: drain kind, from 1
 * @cpu: where; local and release drain the CPU that runs this
 * @stock: own folios for kinds that release some
 *
 * Return: 0 or a negative errno (a CPU that went offline).  Context: process,
 * may sleep; the CPU hotplug lock is not taken.
 */
int ds_drain(unsigned int drain, int cpu, struct ds_stock *stock)
{
	int target = ds_drain_kinds[drain].all_cpus ? DS_ON_ALL : cpu;
	int slot = ds_call_begin(), err;

	if (unlikely(READ_ONCE(ds_plant_meeting)) && drain != DS_DRAIN_LOCAL &&
	    drain != DS_DRAIN_RELEASE)
		ds_plant_meet(target);
	ds_ring_put(DS_DID_DRAIN, drain, 0, 0, target);
	err = ds_drain_kinds[drain].run(cpu, stock, false);
	/* What waits for other CPUs takes long: then the end tells something. */
	if (drain != DS_DRAIN_LOCAL && drain != DS_DRAIN_RELEASE)
		ds_ring_put(DS_DID_DRAINED, drain, 0, 0, target);
	ds_call_end(slot);
	if (!err)
		raw_cpu_inc(ds_stats.call[drain]);
	return err;
}

/* Folios moved out of per-CPU batches so far, all CPUs; needs armed probes. */
u64 ds_moved_total(void)
{
	unsigned int kind;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (kind = 1; kind < __DS_BATCH_MAX; kind++)
			sum += per_cpu(ds_stats, cpu).moved[kind];
	}
	return sum;
}
