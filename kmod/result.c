// SPDX-License-Identifier: GPL-2.0-only
/*
 * What checks found: how much was looked at, how many violations, the first of
 * each in full, and the results of finished requests.  Violations may be
 * reported from any context, a probe's included; the event follows from a work.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "drainstress.h"

#define DS_PENDING	16
#define DS_REQUESTS	64

static DEFINE_RAW_SPINLOCK(ds_result_lock);
static struct ds_result ds_results[DS_MAX_INVARIANT + 1];
static DEFINE_PER_CPU(u64 [DS_MAX_INVARIANT + 1], ds_checked_here);

/* Violations whose event has not been sent; more are counted only. */
static struct ds_violation ds_pending_events[DS_PENDING];
static unsigned int ds_nr_pending;

static struct ds_request_result ds_done[DS_REQUESTS];
static unsigned int ds_nr_done;

static void ds_send_pending(struct work_struct *work)
{
	static struct ds_violation v;	/* the work does not run twice at a time */
	unsigned long flags;

	for (;;) {
		raw_spin_lock_irqsave(&ds_result_lock, flags);
		if (!ds_nr_pending) {
			raw_spin_unlock_irqrestore(&ds_result_lock, flags);
			return;
		}
		v = ds_pending_events[0];
		ds_nr_pending--;
		memmove(&ds_pending_events[0], &ds_pending_events[1],
			ds_nr_pending * sizeof(v));
		raw_spin_unlock_irqrestore(&ds_result_lock, flags);
		ds_event_violation(&v);
	}
}

static DECLARE_WORK(ds_send_work, ds_send_pending);

static void ds_kick(struct irq_work *work)
{
	schedule_work(&ds_send_work);
}

static struct irq_work ds_kick_work;

/* Counts @n things looked at for @invariant.  Any context. */
void ds_checked(unsigned int invariant, u64 n)
{
	this_cpu_add(ds_checked_here[invariant], n);
}

/* Who reports it, and what was done last where it is. */
static void ds_fill_in(struct ds_violation *v, const struct ds_slot *slot,
		       int cpu)
{
	v->time_ns = ktime_get_mono_fast_ns();
	v->nr_did = ds_ring_last(cpu, v->did, DS_VIOLATION_DID);
	v->cpu = cpu < 0 ? raw_smp_processor_id() : cpu;
	v->slot = -1;
	v->pid = current->pid;
	memcpy(v->comm, current->comm, sizeof(v->comm));
	v->comm[sizeof(v->comm) - 1] = '\0';
	if (!slot)
		return;
	v->folio = *slot;
	v->kind = slot->kind;
	v->slot = slot->kind ? slot->slot : -1;
}

/**
 * ds_violate() - reports a violation
 * @invariant: its number
 * @slot: the entry or folio it is about, or NULL
 * @cpu: where; -1: on none in particular, then the last actions of all CPUs
 *	are told, and the CPU that runs this
 * @fmt: "expected this, found that", perhaps with more before it
 *
 * Any context; with a @slot one in which RCU may be read.  The first of each
 * invariant is kept and sent in full, the rest are counted.
 */
void ds_violate(unsigned int invariant, const struct ds_slot *slot, int cpu,
		const char *fmt, ...)
{
	struct ds_result *result = &ds_results[invariant];
	struct ds_violation *v = &result->first;
	struct ds_memcg_facts memcg = { };
	unsigned long flags;
	va_list args;

	/* There may be thousands: not with the lock held, nor in vain. */
	if (slot && slot->pfn && !READ_ONCE(result->has_first))
		ds_memcg_of(slot->memcg_data, &memcg);
	raw_spin_lock_irqsave(&ds_result_lock, flags);
	result->violations++;
	if (result->has_first) {
		raw_spin_unlock_irqrestore(&ds_result_lock, flags);
		return;
	}
	WRITE_ONCE(result->has_first, true);
	ds_race_mark(invariant);
	memset(v, 0, sizeof(*v));
	v->invariant = invariant;
	v->memcg = memcg;
	ds_fill_in(v, slot, cpu);
	va_start(args, fmt);
	vsnprintf(v->text, sizeof(v->text), fmt, args);
	va_end(args);
	if (ds_nr_pending < DS_PENDING)
		ds_pending_events[ds_nr_pending++] = *v;
	raw_spin_unlock_irqrestore(&ds_result_lock, flags);
	irq_work_queue(&ds_kick_work);
}

void ds_results_reset(void)
{
	unsigned long flags;
	int cpu;

	raw_spin_lock_irqsave(&ds_result_lock, flags);
	memset(ds_results, 0, sizeof(ds_results));
	ds_nr_pending = 0;
	raw_spin_unlock_irqrestore(&ds_result_lock, flags);
	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(&ds_checked_here[0], cpu), 0,
		       sizeof(ds_checked_here));
	}
}

static u64 ds_checked_sum(unsigned int invariant)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(ds_checked_here[invariant], cpu);
	return sum;
}

/* A copy of what is known of @invariant.  Context: process. */
void ds_result_read(unsigned int invariant, struct ds_result *result)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ds_result_lock, flags);
	*result = ds_results[invariant];
	raw_spin_unlock_irqrestore(&ds_result_lock, flags);
	result->checked = ds_checked_sum(invariant);
}

u64 ds_violations_total(void)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 1; i <= DS_MAX_INVARIANT; i++)
		sum += READ_ONCE(ds_results[i].violations);
	return sum;
}

/* Things looked at for all invariants together. */
u64 ds_checked_total(void)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 1; i <= DS_MAX_INVARIANT; i++)
		sum += ds_checked_sum(i);
	return sum;
}

/* Keeps and announces the result of a request.  Context: process. */
void ds_request_done(const struct ds_request_result *result)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ds_result_lock, flags);
	ds_done[ds_nr_done++ % DS_REQUESTS] = *result;
	raw_spin_unlock_irqrestore(&ds_result_lock, flags);
	ds_event_done(result);
}

/**
 * ds_request_read() - one of the results that are kept
 * @n: 0: the oldest
 * @result: gets a copy
 *
 * Return: false when there are not so many.
 */
bool ds_request_read(unsigned int n, struct ds_request_result *result)
{
	unsigned long flags;
	bool found;

	raw_spin_lock_irqsave(&ds_result_lock, flags);
	if (ds_nr_done > DS_REQUESTS)
		n += ds_nr_done - DS_REQUESTS;
	found = n < ds_nr_done;
	if (found)
		*result = ds_done[n % DS_REQUESTS];
	raw_spin_unlock_irqrestore(&ds_result_lock, flags);
	return found;
}

int ds_result_init(void)
{
	init_irq_work(&ds_kick_work, ds_kick);
	return 0;
}

void ds_result_exit(void)
{
	irq_work_sync(&ds_kick_work);
	cancel_work_sync(&ds_send_work);
}
