// SPDX-License-Identifier: GPL-2.0-only
/*
 * A picture of all per-CPU batches of all CPUs, and of the folios in them, taken
 * under stop_machine(): at that moment no CPU is inside a local lock or an
 * lru_lock.  The picture is judged elsewhere, after the machine runs again.
 */
#include <linux/ktime.h>
#include <linux/memory_hotplug.h>
#include <linux/memremap.h>
#include <linux/page-flags.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stop_machine.h>

#include "drainstress.h"

struct ds_snapshot *ds_snapshot_alloc(void)
{
	struct ds_snapshot *snap = kzalloc(sizeof(*snap), GFP_KERNEL);

	if (!snap)
		return NULL;
	snap->max_slots = num_possible_cpus() * DS_NR_BATCH_KINDS * DS_BATCH_SIZE;
	snap->batches = kvcalloc(nr_cpu_ids, sizeof(*snap->batches), GFP_KERNEL);
	snap->slots = kvcalloc(snap->max_slots, sizeof(*snap->slots), GFP_KERNEL);
	/* A few more, should stocks grow between this and the look. */
	snap->max_own = ds_own_count() + 64;
	snap->own = kvcalloc(snap->max_own, sizeof(*snap->own), GFP_KERNEL);
	if (!snap->batches || !snap->slots || !snap->own) {
		ds_snapshot_free(snap);
		return NULL;
	}
	return snap;
}

void ds_snapshot_free(struct ds_snapshot *snap)
{
	if (!snap)
		return;
	kvfree(snap->own);
	kvfree(snap->slots);
	kvfree(snap->batches);
	kfree(snap);
}

/**
 * ds_picture() - what a page says of itself
 * @s: overwritten
 * @page: of memory that is online, or NULL; nothing else need be right about it
 *
 * Nothing that the page points to is looked at.  Any context.
 */
void ds_picture(struct ds_slot *s, struct page *page)
{
	memset(s, 0, sizeof(*s));
	s->folio = (struct folio *)page;
	if (!page)
		return;
	s->pfn = page_to_pfn(page);
	s->flags = READ_ONCE(page->flags);
	s->refcount = page_ref_count(page);
	s->mapcount = atomic_read(&page->_mapcount) + 1;
	s->mapping = (unsigned long)READ_ONCE(page->mapping);
	s->index = READ_ONCE(page->index);
	s->zone = (s->flags >> ZONES_PGSHIFT) & ZONES_MASK;
	s->nid = PagePoisoned(page) ? -1 : page_to_nid(page);
#ifdef CONFIG_MEMCG
	s->memcg_data = READ_ONCE(s->folio->memcg_data);
#endif
	/* The order stands in the second page. */
	if (PageHead(page) && pfn_valid(s->pfn + 1))
		s->order = compound_order(page);
}

/*
 * What the entry says of itself.  A pointer that is not a page of memory that
 * is online is not followed.
 */
static void ds_look_at(struct ds_slot *s, unsigned long entry)
{
	struct page *page = (struct page *)(entry & ~3UL);
	unsigned long pfn = page_to_pfn(page);
	struct ds_own *own;

	if (!page || !pfn_valid(pfn) || pfn_to_page(pfn) != page ||
	    !pfn_to_online_page(pfn)) {
		ds_picture(s, NULL);
		s->tag = entry & 3;
		s->folio = (struct folio *)page;
		s->unfit = page ? "not a page of memory that is online" : "NULL";
		return;
	}
	ds_picture(s, page);
	s->tag = entry & 3;
	/* Tail pages have no references of their own. */
	s->free = !PageTail(page) && (!s->refcount || PageBuddy(page));
	if (PageTail(page))
		s->unfit = "a tail page";
	else if (PageHead(page))
		s->unfit = "a large folio";
	else if (PageSlab(page))
		s->unfit = "a slab page";
	else if (PageHuge(page))
		s->unfit = "a hugetlb page";
	else if (is_zone_device_page(page))
		s->unfit = "a device page";
	own = ds_own_find(s->pfn);
	if (own)
		s->own_refs = own->refs;
}

static void ds_snap_batch(struct ds_snapshot *snap, int cpu, unsigned int kind)
{
	struct folio_batch *fbatch = ds_batch(kind, cpu);
	unsigned int i, nr = min_t(unsigned int, fbatch->nr, DS_BATCH_SIZE);

	snap->batches[cpu][kind].nr = fbatch->nr;
	snap->batches[cpu][kind].drained = fbatch->percpu_pvec_drained;
	for (i = 0; i < nr && snap->nr_slots < snap->max_slots; i++) {
		struct ds_slot *s = &snap->slots[snap->nr_slots++];

		ds_look_at(s, (unsigned long)fbatch->folios[i]);
		s->cpu = cpu;
		s->kind = kind;
		s->slot = i;
		if (kind != DS_BATCH_MLOCK && s->tag && !s->unfit)
			s->unfit = "a tagged pointer";
	}
}

static int ds_snap_own(struct ds_own *own, void *arg)
{
	struct ds_snapshot *snap = arg;
	struct ds_own_state *state = &snap->own[snap->nr_own];

	if (snap->nr_own == snap->max_own)
		return -ENOSPC;
	ds_look_at(&state->slot, (unsigned long)own->folio);
	state->entries = 0;
	snap->nr_own++;
	return 0;
}

static int ds_snap_stopped(void *arg)
{
	struct ds_snapshot *snap = arg;
	u64 start = ktime_get_ns();
	unsigned int kind;
	int cpu;

	if (snap->plant)
		ds_plant_stopped(true);
	for_each_possible_cpu(cpu) {
		for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
			if (ds_layout_proven(kind))
				ds_snap_batch(snap, cpu, kind);
		}
	}
	ds_own_each(ds_snap_own, snap);
	if (snap->plant)
		ds_plant_stopped(false);
	snap->pause_ns = ds_latency_pause(start);
	return 0;
}

/**
 * ds_snapshot_has() - whether a batch is part of the picture
 * @snap: the picture
 * @cpu: whose batch
 * @kind: which
 */
bool ds_snapshot_has(const struct ds_snapshot *snap, int cpu, unsigned int kind)
{
	return !snap->part || (cpu == snap->part_cpu && kind == snap->part);
}

static int ds_by_pfn(const void *a, const void *b)
{
	const struct ds_slot *x = a, *y = b;

	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/* Both lists are sorted by page frame number. */
static void ds_count_entries(struct ds_snapshot *snap)
{
	unsigned int i, o = 0;

	for (i = 0; i < snap->nr_slots; i++) {
		unsigned long pfn = snap->slots[i].pfn;

		while (o < snap->nr_own && snap->own[o].slot.pfn < pfn)
			o++;
		if (o < snap->nr_own && snap->own[o].slot.pfn == pfn)
			snap->own[o].entries++;
	}
}

/**
 * ds_snapshot_take() - looks at every batch at one moment
 * @snap: of ds_snapshot_alloc(); what it held is forgotten
 *
 * Drains nothing.  Context: process, may sleep; takes the CPU hotplug lock.
 * Return: 0 or a negative errno.
 */
int ds_snapshot_take(struct ds_snapshot *snap)
{
	int err;

	snap->nr_slots = 0;
	snap->nr_own = 0;
	snap->part = 0;
	memset(snap->batches, 0, nr_cpu_ids * sizeof(*snap->batches));
	err = stop_machine(ds_snap_stopped, snap, NULL);
	if (err)
		return err;
	sort(snap->slots, snap->nr_slots, sizeof(*snap->slots), ds_by_pfn, NULL);
	ds_count_entries(snap);
	return 0;
}

/**
 * ds_snapshot_take_here() - looks at one batch of the CPU that runs this
 * @snap: of ds_snapshot_alloc(); what it held is forgotten
 * @kind: of a batch whose layout is proven
 *
 * Only the CPU itself changes its batches, with preemption or interrupts off, so
 * with both off here nobody is in the middle of it.  Return: 0.  Context:
 * process, bound to the CPU.
 */
int ds_snapshot_take_here(struct ds_snapshot *snap, unsigned int kind)
{
	unsigned long flags;

	snap->nr_slots = 0;
	snap->nr_own = 0;
	snap->part = kind;
	local_irq_save(flags);
	snap->part_cpu = smp_processor_id();
	ds_snap_batch(snap, snap->part_cpu, kind);
	local_irq_restore(flags);
	sort(snap->slots, snap->nr_slots, sizeof(*snap->slots), ds_by_pfn, NULL);
	return 0;
}
