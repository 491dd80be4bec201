// SPDX-License-Identifier: GPL-2.0-only
/*
 * I10: lru_disable_count is 0 while nobody disables the cache.  Who does is known
 * from probes: the functions that disable it enable it again before they return, so
 * while no task is inside one of them the count is 0, however often they are called.
 * What holds while it is disabled (I9) is in probe.c.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmstat.h>

#include "drainstress.h"

#define DS_DISABLED_LOOKS	100
#define DS_DISABLED_MS		50
#define DS_LOST_LOOKS		10	/* with nobody inside */
#define DS_MAX_DISABLERS	64

static struct task_struct *ds_disablers[DS_MAX_DISABLERS];
static atomic_t ds_entered = ATOMIC_INIT(0);	/* changes before a task is inside */
static atomic_t ds_disables = ATOMIC_INIT(0);	/* calls, by anybody */
static atomic_t ds_strangers = ATOMIC_INIT(0);	/* calls by who is not inside */

static bool ds_slot_change(struct task_struct *from, struct task_struct *to)
{
	unsigned int i;

	for (i = 0; i < DS_MAX_DISABLERS; i++) {
		if (READ_ONCE(ds_disablers[i]) == from &&
		    cmpxchg(&ds_disablers[i], from, to) == from)
			return true;
	}
	return false;
}

static bool ds_is_inside(const struct task_struct *task)
{
	unsigned int i;

	for (i = 0; i < DS_MAX_DISABLERS; i++) {
		if (READ_ONCE(ds_disablers[i]) == task)
			return true;
	}
	return false;
}

/**
 * ds_disabler_begin() - this task is going to disable the cache
 *
 * Where there is no room the call counts as a stranger's.  Any context but NMI.
 */
void ds_disabler_begin(void)
{
	atomic_inc(&ds_entered);
	ds_slot_change(NULL, current);
}

/* It has enabled it again. */
void ds_disabler_end(void)
{
	ds_slot_change(current, NULL);
}

static int ds_disabler_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ds_disabler_begin();
	return 0;
}

static int ds_disabler_leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ds_disabler_end();
	return 0;
}

/*
 * Everybody who calls lru_cache_disable() in mm/: mempolicy.c, migrate.c,
 * memory_hotplug.c, page_alloc.c.  A static one may be a part of its caller.
 */
static const char *const ds_disabler_names[][3] = {
	{ "do_mbind", "kernel_mbind", "__x64_sys_mbind" },
	{ "do_migrate_pages" },
	{ "do_pages_move", "kernel_move_pages", "__x64_sys_move_pages" },
	{ "offline_pages" },
	{ "__alloc_contig_migrate_range", "alloc_contig_range_noprof",
	  "alloc_contig_range" },
};

#define DS_NR_DISABLERS	ARRAY_SIZE(ds_disabler_names)

static struct kretprobe ds_disabler_probes[DS_NR_DISABLERS];

static int ds_count_disable(struct kprobe *probe, struct pt_regs *regs)
{
	atomic_inc(&ds_disables);
	if (!ds_is_inside(current))
		atomic_inc(&ds_strangers);
	return 0;
}

static struct kprobe ds_disable_probe = {
	.symbol_name = "lru_cache_disable",
	.pre_handler = ds_count_disable,
};

static bool ds_disable_probed;

/* One of the names; nothing where the kernel has none of them. */
static void ds_disabler_probe(unsigned int i)
{
	struct kretprobe *rp = &ds_disabler_probes[i];
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(ds_disabler_names[i]); k++) {
		if (!ds_disabler_names[i][k])
			break;
		*rp = (struct kretprobe){
			.kp.symbol_name = ds_disabler_names[i][k],
			.entry_handler = ds_disabler_enter,
			.handler = ds_disabler_leave,
			.maxactive = DS_MAX_DISABLERS,
		};
		if (!register_kretprobe(rp))
			return;
	}
	rp->handler = NULL;
}

/**
 * ds_disable_init() - has calls of lru_cache_disable() counted
 *
 * Context: module load.  Nothing fails: without the count I10 may take a machine
 * on which several tasks migrate all the time for one with a lost enable, and
 * whoever is not known is a stranger, who makes it wait.
 */
void ds_disable_init(void)
{
	unsigned int i;

	for (i = 0; i < DS_NR_DISABLERS; i++)
		ds_disabler_probe(i);
	ds_disable_probed = !register_kprobe(&ds_disable_probe);
	/* Who has disabled it already was not seen to. */
	if (ds_lru_disabled())
		atomic_inc(&ds_strangers);
}

/* The reverse; may be called without the former. */
void ds_disable_exit(void)
{
	unsigned int i;

	if (ds_disable_probed)
		unregister_kprobe(&ds_disable_probe);
	ds_disable_probed = false;
	for (i = 0; i < DS_NR_DISABLERS; i++) {
		if (ds_disabler_probes[i].handler)
			unregister_kretprobe(&ds_disabler_probes[i]);
		ds_disabler_probes[i].handler = NULL;
	}
}

/* Grows while anybody disables the cache, or migrates pages meanwhile. */
static unsigned long ds_disable_work(void)
{
	unsigned long sum = atomic_read(&ds_disables);
#if defined(CONFIG_MIGRATION) && defined(CONFIG_VM_EVENT_COUNTERS)
	unsigned long *events = kcalloc(NR_VM_EVENT_ITEMS, sizeof(*events),
					GFP_KERNEL);

	if (events) {
		all_vm_events(events);
		sum += events[PGMIGRATE_SUCCESS] + events[PGMIGRATE_FAIL];
	}
	kfree(events);
#endif
	return sum;
}

static bool ds_nobody_inside(void)
{
	unsigned int i;

	for (i = 0; i < DS_MAX_DISABLERS; i++) {
		if (READ_ONCE(ds_disablers[i]))
			return false;
	}
	return true;
}

/*
 * Is it disabled although nobody is inside?  Who came in meanwhile has changed
 * ds_entered first; who left has enabled it before the slot was free.
 */
static bool ds_enable_lost(const atomic_t *count)
{
	int entered = atomic_read(&ds_entered);

	if (!ds_disable_probed || atomic_read(&ds_strangers))
		return false;
	smp_rmb();	/* ds_entered before the slots */
	if (!ds_nobody_inside())
		return false;
	smp_rmb();	/* the slots before the count */
	if (!atomic_read(count))
		return false;
	smp_rmb();	/* the count before ds_entered */
	return atomic_read(&ds_entered) == entered;
}

/**
 * ds_examine_i10() - is the cache disabled although nothing of ours does it?
 * @c: the check
 *
 * Others disable it while they migrate (do_mbind(), do_pages_move(),
 * mm/mempolicy.c and mm/migrate.c), offline memory or allocate contiguous
 * memory.  Each takes it back, so one look at zero is enough, and several at
 * something else while nobody is inside are a violation.  One may take long, as
 * offline_pages() does that waits for work on a busy CPU, and who is not known may
 * overlap for ever: while somebody is inside or at work there is nothing to be said,
 * and nothing counts as checked.
 */
void ds_examine_i10(struct ds_check *c)
{
	atomic_t *count = (atomic_t *)ds_symbols[DS_SYM_lru_disable_count].addr;
	unsigned long work = ds_disable_work();
	unsigned int look, lost = 0;
	int found = 0;

	if (ds_plant_here(10))
		atomic_inc(count);
	for (look = 0; look < DS_DISABLED_LOOKS && lost < DS_LOST_LOOKS; look++) {
		if (look && !ds_patience(DS_DISABLED_MS))
			goto out;
		lost += ds_enable_lost(count);
		found = atomic_read(count);
		if (!found)
			break;
	}
	if (found && lost < DS_LOST_LOOKS &&
	    (!ds_nobody_inside() || ds_disable_work() != work))
		goto out;
	ds_checked(10, 1);
	if (found) {
		ds_violate(10, NULL, -1,
			   "expected lru_disable_count 0, found %d in the last of %u looks, never 0, and in %u of them nobody was in a function that disables",
			   found, look, lost);
	}
out:
	if (ds_plant_here(10)) {
		atomic_dec(count);
		ds_plant_done();
	}
}
