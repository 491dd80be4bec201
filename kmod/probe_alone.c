// SPDX-License-Identifier: GPL-2.0-only
/*
 * A part of I8, for a machine under load: one own folio in one batch of a CPU that has
 * nothing else to drain, until lru_add_drain_all() has returned.  Whatever else the CPU
 * had would have cpu_needs_drain() say yes, and whatever else it did then could move
 * the folio.  The rounds on all CPUs at once are in probe.c.
 */
#include <linux/buffer_head.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>

#include "drainstress.h"

/*
 * So long the CPU is kept from everything but interrupts, unless the drain-all is seen
 * to have queued its work there.  One that passes the CPU over is back when the
 * other CPUs have been drained.
 */
#define DS_ALONE_NS	(200 * NSEC_PER_MSEC)
#define DS_BLIND_NS	(25 * NSEC_PER_MSEC)	/* when that cannot be seen */

struct ds_alone {
	struct work_struct drain;	/* on another CPU */
	unsigned int kind;
	int other;
	bool queued;
	bool done;			/* the drain-all has returned */
	struct ds_slot left;		/* the entry that is there still; folio: NULL */
};

/* A CPU with buffer heads in its LRU needs a drain, too. */
static void ds_forget_buffers(void)
{
#if IS_ENABLED(CONFIG_BLOCK)
	invalidate_bh_lrus();
#endif
}

static void ds_alone_drain(struct work_struct *work)
{
	struct ds_alone *a = container_of(work, struct ds_alone, drain);

	ds_forget_buffers();
	ds_drain(DS_DRAIN_ALL, -1, NULL);
	/* Pairs with the acquire in ds_alone_wait(). */
	smp_store_release(&a->done, true);
}

/* The work that drains this CPU waits until it may run here, or NULL. */
static struct work_struct *ds_drain_work(void)
{
	void __percpu *works = (void __percpu *)ds_symbols[DS_SYM_lru_add_drain_work].addr;

	return works ? (struct work_struct *)per_cpu_ptr(works, smp_processor_id()) : NULL;
}

/* Preemption is off, so the batch is as it was queued, unless it was drained. */
static void ds_alone_wait(struct ds_alone *a, struct folio_batch *fbatch)
{
	unsigned long entry = (unsigned long)fbatch->folios[0];
	struct work_struct *work = ds_drain_work();
	u64 end = ktime_get_ns() + (work ? DS_ALONE_NS : DS_BLIND_NS);

	/* Pairs with the release: it was there before the drain-all began. */
	while (!smp_load_acquire(&a->done)) {
		if (ktime_get_ns() > end || (work && work_pending(work)))
			return;
		cpu_relax();
	}
	if (!fbatch->nr || (unsigned long)fbatch->folios[0] != entry)
		return;
	ds_picture(&a->left, (struct page *)(entry & ~3UL));
	a->left.cpu = smp_processor_id();
	a->left.kind = a->kind;
}

static int ds_alone_here(void *arg)
{
	struct ds_alone *a = arg;
	struct ds_stock *stock = ds_cpu_stock(raw_smp_processor_id(),
					      ds_batch_kinds[a->kind].anon);
	struct folio_batch *fbatch;

	if (!stock->nr)
		return 0;
	preempt_disable();
	fbatch = ds_batch(a->kind, smp_processor_id());
	if (ds_fill_exact(a->kind, stock, 1) && fbatch->nr == 1 &&
	    ds_pending(smp_processor_id()) == DS_KIND_BIT(a->kind)) {
		a->queued = queue_work_on(a->other, system_highpri_wq, &a->drain);
		ds_alone_wait(a, fbatch);
	}
	preempt_enable();
	return 0;
}

static void ds_alone_kind(unsigned int kind, int cpu, int other)
{
	struct ds_alone a = { .kind = kind, .other = other };

	INIT_WORK_ONSTACK(&a.drain, ds_alone_drain);
	if (!ds_on_cpu(cpu, ds_alone_here, &a) && a.queued)
		ds_checked(8, 1);
	flush_work(&a.drain);
	destroy_work_on_stack(&a.drain);
	if (a.left.folio) {
		ds_violate(8, &a.left, cpu,
			   "expected the folio, all that CPU %d had to drain, to be in no batch after lru_add_drain_all(), found it in batch %s",
			   cpu, ds_batch_name[kind]);
	}
}

/**
 * ds_probe_alone() - does a drain-all see a CPU with one entry in one batch?
 * @cpu: that CPU
 * @other: another one, which drains; the same: nothing is done
 *
 * Context: process, may sleep.
 */
void ds_probe_alone(int cpu, int other)
{
	char why[DS_REASON_LEN];
	unsigned int kind;

	for (kind = 1; kind < __DS_BATCH_MAX && cpu != other; kind++) {
		if (ds_abandoned())
			return;
		if (ds_batch_available(kind, why, sizeof(why)))
			ds_alone_kind(kind, cpu, other);
	}
}
