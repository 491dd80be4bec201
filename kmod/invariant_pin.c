// SPDX-License-Identifier: GPL-2.0-only
/*
 * I33: a long-term pin drains all CPUs only when a folio of its range may sit in
 * a batch.  Pages are mapped in an address space of the check's own, drained,
 * pinned, and whether the pin called for a drain-all is told by a probe that
 * knows the task: what the batches of other CPUs hold afterwards says nothing,
 * because other tasks drain them all the time.  What a pin migrates is not
 * looked at.
 */
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/preempt.h>
#include <linux/resource.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "drainstress.h"

#define DS_PIN_PAGES	16

/* Sleeps between two tries: as long as compaction may keep a folio isolated. */
static const unsigned int ds_pin_ms[] = { 2, 20, 100, 400 };
#define DS_PIN_TRIES	(1 + (unsigned int)ARRAY_SIZE(ds_pin_ms))
/*
 * Where memory is short many a try says nothing: ZONE_MOVABLE is below its low
 * watermark and the pages come from another zone, or reclaim has isolated some.
 */
#define DS_PIN_VAIN	20
#define DS_PIN_VAIN_MS	20

static struct task_struct *ds_pin_task;	/* whose drain-alls are counted */
static unsigned int ds_pin_drains;	/* counted by that task alone */

static int ds_pin_drain(struct kprobe *probe, struct pt_regs *regs)
{
	if (READ_ONCE(ds_pin_task) == current)
		ds_pin_drains++;
	return 0;
}

static struct kprobe ds_pin_probe = {
	.symbol_name = "lru_add_drain_all",
	.pre_handler = ds_pin_drain,
};

static bool ds_pin_probed;

static bool ds_has_movable(void)
{
	int nid;

	for_each_online_node(nid) {
		if (populated_zone(&NODE_DATA(nid)->node_zones[ZONE_MOVABLE]))
			return true;
	}
	return false;
}

/**
 * ds_pin_init() - has drain-alls told by their task, where there is a need
 *
 * Context: module load.  Nothing fails: I33 is skipped where it cannot be.
 */
void ds_pin_init(void)
{
	if (ds_has_movable() && !register_kprobe(&ds_pin_probe))
		ds_pin_probed = true;
}

/* The reverse; may be called without the former. */
void ds_pin_exit(void)
{
	if (ds_pin_probed)
		unregister_kprobe(&ds_pin_probe);
	ds_pin_probed = false;
}

/**
 * ds_skip_pin() - I33 wants memory in which nothing may be pinned for long
 * @why: gets the reason
 * @len: room in @why, bytes
 */
bool ds_skip_pin(char *why, size_t len)
{
	if (ds_skip_layout(why, len))
		return true;
	if (!ds_has_movable())
		snprintf(why, len, "no ZONE_MOVABLE: boot with movablecore=512M");
	else if (!ds_pin_probed)
		snprintf(why, len, "lru_add_drain_all cannot be probed, or ZONE_MOVABLE is new");
	return !ds_has_movable() || !ds_pin_probed;
}

/* One pin of pages that are on the LRU and in no batch. */
struct ds_pin {
	unsigned long addr;
	unsigned int movable;	/* pages that must not be pinned where they are */
	unsigned int drains;	/* drain-alls by the pin */
	long pinned;
	bool judged;		/* all was as it should be before the pin */
	struct ds_slot first;	/* the first movable page before */
	struct page *pages[DS_PIN_PAGES];
};

/* Looks at the range.  Return: is none of it in a batch, or isolated? */
static bool ds_pin_quiet(struct ds_pin *pin)
{
	int i, got = get_user_pages_fast(pin->addr, DS_PIN_PAGES, FOLL_WRITE,
					 pin->pages);
	bool quiet = got == DS_PIN_PAGES;

	pin->movable = 0;
	for (i = 0; i < got; i++) {
		struct page *page = pin->pages[i];
		int refs = page_ref_count(page);

		if (PageCompound(page)) {
			quiet = false;
		} else if (page_zonenum(page) == ZONE_MOVABLE) {
			/* One of the page table and ours. */
			if (refs != 2 || !PageLRU(page))
				quiet = false;
			if (!pin->movable++) {
				ds_picture(&pin->first, page);
				pin->first.refcount = refs - 1;
			}
		}
		put_page(page);
	}
	return quiet && pin->movable;
}

static unsigned int ds_pin_counted(struct ds_pin *pin, bool is_pin)
{
	ds_pin_drains = 0;
	WRITE_ONCE(ds_pin_task, current);
	if (is_pin)
		pin->pinned = pin_user_pages_fast(pin->addr, DS_PIN_PAGES,
						  FOLL_WRITE | FOLL_LONGTERM,
						  pin->pages);
	if (!is_pin || ds_plant_here(33))
		ds_call(lru_add_drain_all)();
	WRITE_ONCE(ds_pin_task, NULL);
	return ds_pin_drains;
}

/* In the address space of its own. */
static void ds_pin_mapped(struct ds_pin *pin)
{
	pin->addr = vm_mmap(NULL, 0, DS_PIN_PAGES * PAGE_SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, 0);
	if (IS_ERR_VALUE(pin->addr))
		return;
	ds_pin_quiet(pin);	/* now there are pages, in the lru_add batch */
	/* The probe must see the drain-all that is there. */
	if (ds_pin_counted(pin, false) != 1 || !ds_pin_quiet(pin))
		return;
	pin->drains = ds_pin_counted(pin, true);
	if (pin->pinned > 0)
		unpin_user_pages(pin->pages, pin->pinned);
	pin->judged = pin->pinned == DS_PIN_PAGES;
	if (pin->judged && ds_plant_here(33))
		ds_plant_done();
}

/*
 * A new address space, as for a program that is about to be run: no process sees
 * what happens in it, and all of it goes when it is put.  This stays on one CPU:
 * the pin itself may queue a page for activation, and drains its own CPU then.
 */
static int ds_pin_here(void *arg)
{
	struct ds_pin *pin = arg;
	struct mm_struct *mm = ds_call(mm_alloc)();

	*pin = (struct ds_pin){ };
	if (!mm)
		return -ENOMEM;
	mm->task_size = TASK_SIZE;
	ds_call(arch_pick_mmap_layout)(mm, &current->signal->rlim[RLIMIT_STACK]);
	kthread_use_mm(mm);
	ds_pin_mapped(pin);
	kthread_unuse_mm(mm);
	mmput(mm);
	return 0;
}

/**
 * ds_probe_i33() - does a long-term pin of drained pages drain all CPUs?
 * @c: the check
 *
 * Isolation and reclaim take references that look like a batch's, so one try
 * without a drain-all is enough.  Context: process, may sleep.
 */
void ds_probe_i33(struct ds_check *c)
{
	unsigned int try, vain = 0, drained = 0;
	struct ds_pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL);
	struct ds_slot first = { };
	int cpu = -1;

	if (!pin)
		return;
	for (try = 0; drained < DS_PIN_TRIES && vain < DS_PIN_VAIN &&
	     !ds_abandoned(); try++) {
		cpu = cpumask_nth((c->round + try) % num_online_cpus(),
				  cpu_online_mask);
		if (cpu >= nr_cpu_ids || ds_on_cpu(cpu, ds_pin_here, pin) ||
		    !pin->judged) {
			vain++;
			if (!ds_patience(DS_PIN_VAIN_MS))
				goto out;
			continue;
		}
		ds_checked(33, 1);
		if (!pin->drains)
			goto out;
		if (!drained++)
			first = pin->first;
		if (drained < DS_PIN_TRIES &&
		    !ds_patience(ds_pin_ms[drained - 1]))
			goto out;
	}
	/* A single try may have met with somebody's reference. */
	if (drained > 1) {
		ds_violate(33, &first, cpu,
			   "%d pages on the LRU and in no batch: expected a long-term pin not to call lru_add_drain_all(), found that it did in each of %u tries",
			   DS_PIN_PAGES, drained);
	}
out:
	kfree(pin);
}
