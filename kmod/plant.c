// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planted faults: deliberate damage, one for each invariant, so that a check
 * that cannot fail is noticed.  Only with the module parameter plant=1.  Each is
 * made on the module's own files and folios and is undone when its function
 * returns.  What would endanger the kernel while it runs (a batch too long, a
 * free page in it) is done and undone inside stop_machine(), around the look.
 */
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/page_ref.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "drainstress.h"

bool ds_plant_allowed;
module_param_named(plant, ds_plant_allowed, bool, 0444);
MODULE_PARM_DESC(plant, "allow planted faults; for tests of the tester only");

const struct ds_plant *ds_plant_armed;
bool ds_plant_brief;
static bool ds_plant_was_done;
static bool ds_plant_was_ended;

/* The point that was armed has done its damage. */
void ds_plant_done(void)
{
	WRITE_ONCE(ds_plant_was_done, true);
}

/**
 * ds_plant_second_look() - ends a brief fault
 *
 * A check is about to wait before it looks again.
 */
void ds_plant_second_look(void)
{
	if (!READ_ONCE(ds_plant_brief) || !READ_ONCE(ds_plant_armed))
		return;
	ds_plant_was_ended = ds_plant_was_done;
	WRITE_ONCE(ds_plant_armed, NULL);
}

/* ---- damage around a look at rest ---- */

static struct folio *ds_bad_folio;	/* an own one that is not registered */
static struct page *ds_bad_page;	/* of order 0, on no list */
static struct page *ds_bad_large;	/* of order 1 */
static void *ds_bad_object;		/* in a slab page */

/* Entries that were added to batches of the first online CPU. */
static struct ds_added {
	struct folio_batch *fbatch;
	unsigned int nr;
} ds_added;

static void ds_add_entries(unsigned int kind, void *entry, unsigned int nr)
{
	struct folio_batch *fbatch = ds_batch(kind,
					      cpumask_first(cpu_online_mask));

	ds_added = (struct ds_added){ .fbatch = fbatch };
	if (fbatch->nr + nr > DS_BATCH_SIZE)
		return;
	for (; ds_added.nr < nr; ds_added.nr++)
		fbatch->folios[fbatch->nr++] = entry;
	ds_plant_done();
}

static void ds_remove_entries(void)
{
	if (ds_added.fbatch)
		ds_added.fbatch->nr -= ds_added.nr;
	ds_added = (struct ds_added){ };
}

/* As many entries as the batch has room for, each with its reference. */
static void ds_stop_too_long(bool on)
{
	struct folio_batch *fbatch = ds_batch(DS_BATCH_ROTATE,
					      cpumask_first(cpu_online_mask));

	if (on) {
		folio_ref_add(ds_bad_folio, DS_BATCH_SIZE - fbatch->nr);
		ds_add_entries(DS_BATCH_ROTATE, ds_bad_folio,
			       DS_BATCH_SIZE - fbatch->nr);
	} else {
		folio_ref_sub(ds_bad_folio, ds_added.nr);
		ds_remove_entries();
	}
}

/* An entry of lru_add that is no folio for it, and has no reference of the batch. */
static void ds_stop_unfit(bool on, void *entry)
{
	if (on)
		ds_add_entries(DS_BATCH_LRU_ADD, entry, 1);
	else
		ds_remove_entries();
}

static void ds_stop_large(bool on)
{
	ds_stop_unfit(on, ds_bad_large);
}

static void ds_stop_tail(bool on)
{
	ds_stop_unfit(on, ds_bad_large + 1);
}

static void ds_stop_null(bool on)
{
	ds_stop_unfit(on, NULL);
}

static void ds_stop_slab(bool on)
{
	ds_stop_unfit(on, virt_to_page(ds_bad_object));
}

/* Only the mlock batch has tags. */
static void ds_stop_tagged(bool on)
{
	ds_stop_unfit(on, (void *)((unsigned long)ds_bad_page | 1));
}

static void ds_stop_stray(bool on)
{
	ds_stop_unfit(on, ds_bad_object);
}

/* A folio that is on its list already. */
static void ds_stop_on_lru(bool on)
{
	if (on) {
		folio_ref_inc(ds_bad_folio);
		ds_add_entries(DS_BATCH_LRU_ADD, ds_bad_folio, 1);
	} else {
		ds_remove_entries();
		folio_ref_dec(ds_bad_folio);
	}
}

/* A registered own folio that is in rotate alone and has lost PG_lru. */
static void ds_stop_lost_lru(bool on)
{
	struct ds_stock *stock = ds_cpu_stock(cpumask_first(cpu_online_mask),
					      false);
	struct folio *folio = stock->nr ? stock->own[0].folio : NULL;

	if (on && folio && folio_test_lru(folio)) {
		folio_ref_inc(folio);
		clear_bit(PG_lru, folio_flags(folio, 0));
		ds_add_entries(DS_BATCH_ROTATE, folio, 1);
	} else if (!on && ds_added.fbatch) {
		ds_remove_entries();
		set_bit(PG_lru, folio_flags(folio, 0));
		folio_ref_dec(folio);
	}
}

static void ds_stop_twice(bool on)
{
	if (on) {
		folio_ref_add(ds_bad_folio, 2);
		clear_bit(PG_lru, folio_flags(ds_bad_folio, 0));
		ds_add_entries(DS_BATCH_LRU_ADD, ds_bad_folio, 2);
	} else {
		ds_remove_entries();
		set_bit(PG_lru, folio_flags(ds_bad_folio, 0));
		folio_ref_sub(ds_bad_folio, 2);
	}
}

/* More entries than references: without the spare ones two are left. */
static void ds_stop_few_references(bool on)
{
	if (on) {
		folio_ref_sub(ds_bad_folio, DS_SPARE_REFS);
		ds_add_entries(DS_BATCH_ROTATE, ds_bad_folio, 3);
	} else {
		ds_remove_entries();
		folio_ref_add(ds_bad_folio, DS_SPARE_REFS);
	}
}

/* A page without a reference; I5 must notice too. */
static void ds_stop_free_page(bool on)
{
	if (on) {
		set_page_count(ds_bad_page, 0);
		ds_add_entries(DS_BATCH_LRU_ADD, ds_bad_page, 1);
	} else {
		ds_remove_entries();
		set_page_count(ds_bad_page, 1);
	}
}

/* The armed damage, when the look is for one of @first to @last. */
static void ds_plant_damage(unsigned int first, unsigned int last, bool on)
{
	const struct ds_plant *armed = READ_ONCE(ds_plant_armed);

	if (armed && armed->damage && armed->invariant >= first &&
	    armed->invariant <= last)
		armed->damage(on);
}

/**
 * ds_plant_stopped() - does the armed damage to the batches, or undoes it
 * @on: whether the look is about to begin
 *
 * Context: inside stop_machine().
 */
void ds_plant_stopped(bool on)
{
	ds_plant_damage(1, 6, on);
}

/* ---- damage around a look at the LRU lists ---- */

static __maybe_unused struct lruvec *ds_bad_lruvec(void)
{
	int nid = folio_nid(ds_bad_folio);
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = folio_memcg(ds_bad_folio);

	if (memcg)
		return &memcg->nodeinfo[nid]->lruvec;
#endif
	return &NODE_DATA(nid)->__lruvec;
}

/* On the inactive list, or on one of the MGLRU, with PG_active. */
static void ds_list_active(bool on)
{
	change_bit(PG_active, folio_flags(ds_bad_folio, 0));
	if (on && folio_test_active(ds_bad_folio))
		ds_plant_done();
}

/* A folio of files among anonymous ones. */
static void ds_list_type(bool on)
{
	change_bit(PG_swapbacked, folio_flags(ds_bad_folio, 0));
	if (on && !folio_test_swapbacked(ds_bad_folio))
		ds_plant_done();
}

/* On a list without PG_lru. */
static void ds_list_no_lru(bool on)
{
	static bool done;

	if (on) {
		done = folio_test_lru(ds_bad_folio);
		if (done)
			ds_plant_done();
	}
	if (done)
		change_bit(PG_lru, folio_flags(ds_bad_folio, 0));
}

static void ds_list_no_refs(bool on)
{
	static int refs;

	if (on) {
		refs = folio_ref_count(ds_bad_folio);
		ds_plant_done();
	}
	set_page_count(&ds_bad_folio->page, on ? 0 : refs);
}

/* The link back leads to the folio itself. */
static void ds_list_broken(bool on)
{
	static struct list_head *before;

	if (on && !folio_test_lru(ds_bad_folio)) {
		before = NULL;
	} else if (on) {
		before = ds_bad_folio->lru.prev;
		ds_bad_folio->lru.prev = &ds_bad_folio->lru;
		ds_plant_done();
	} else if (before) {
		ds_bad_folio->lru.prev = before;
	}
}

/* On a list of the MGLRU without a generation. */
static void ds_list_no_gen(bool on)
{
#ifdef CONFIG_LRU_GEN
	static unsigned long gen;
	unsigned long *flags = folio_flags(ds_bad_folio, 0);

	if (on) {
		gen = *flags & LRU_GEN_MASK;
		if (gen)
			ds_plant_done();
	}
	*flags ^= gen;
#endif
}

/* Another node that there is; nothing follows the flags meanwhile. */
static void ds_list_node(bool on)
{
#if NODES_WIDTH
	static unsigned long change;
	int nid = folio_nid(ds_bad_folio), other = next_online_node(nid);

	if (on) {
		if (other >= MAX_NUMNODES)
			other = first_online_node;
		change = (unsigned long)(nid ^ other) << NODES_PGSHIFT;
		if (change)
			ds_plant_done();
	}
	*folio_flags(ds_bad_folio, 0) ^= change;
#endif
}

/* Of no memory cgroup that there is; nothing follows the pointer meanwhile. */
static void ds_list_stranger(bool on)
{
#ifdef CONFIG_MEMCG
	ds_bad_folio->memcg_data ^= PAGE_SIZE;
	if (on)
		ds_plant_done();
#endif
}

static void ds_list_add_size(enum lru_list list, bool on)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = folio_memcg(ds_bad_folio);
	unsigned long *sizes;

	if (!memcg)
		return;
	sizes = memcg->nodeinfo[folio_nid(ds_bad_folio)]->lru_zone_size
		[folio_zonenum(ds_bad_folio)];
	sizes[list] += on ? 1 : -1;
	if (on)
		ds_plant_done();
#endif
}

static void ds_list_size(bool on)
{
	ds_list_add_size(LRU_INACTIVE_ANON, on);
}

static void ds_list_unevictable_size(bool on)
{
	ds_list_add_size(LRU_UNEVICTABLE, on);
}

static void ds_list_gen_size(bool on)
{
#ifdef CONFIG_LRU_GEN
	ds_bad_lruvec()->lrugen.nr_pages[0][0][folio_zonenum(ds_bad_folio)] +=
		on ? 1 : -1;
	if (on)
		ds_plant_done();
#endif
}

/* A counter of the folio's node, or one of its zone. */
static void ds_list_add_stat(atomic_long_t *stat, bool on)
{
	atomic_long_add(on ? 1 : -1, stat);
	if (on)
		ds_plant_done();
}

static void ds_list_node_stat(bool on)
{
	ds_list_add_stat(&NODE_DATA(folio_nid(ds_bad_folio))->vm_stat
			 [NR_INACTIVE_ANON], on);
}

static void ds_list_unevictable_stat(bool on)
{
	ds_list_add_stat(&NODE_DATA(folio_nid(ds_bad_folio))->vm_stat
			 [NR_UNEVICTABLE], on);
}

static void ds_list_zone_stat(bool on)
{
	ds_list_add_stat(&folio_zone(ds_bad_folio)->vm_stat
			 [NR_ZONE_INACTIVE_ANON], on);
}

static void ds_list_mlock_stat(bool on)
{
	ds_list_add_stat(&folio_zone(ds_bad_folio)->vm_stat[NR_MLOCK], on);
}

static void ds_list_unevictable(bool on)
{
	change_bit(PG_unevictable, folio_flags(ds_bad_folio, 0));
	if (on && folio_test_unevictable(ds_bad_folio) &&
	    folio_test_lru(ds_bad_folio))
		ds_plant_done();
}

static void ds_list_mlocked(bool on)
{
	change_bit(PG_mlocked, folio_flags(ds_bad_folio, 0));
	if (on && folio_test_mlocked(ds_bad_folio))
		ds_plant_done();
}

/**
 * ds_plant_lists() - does the armed damage to the LRU lists, or undoes it
 * @first: the first and
 * @last: the last invariant that this look is for
 * @on: whether the look is about to begin
 *
 * Context: inside stop_machine().
 */
void ds_plant_lists(unsigned int first, unsigned int last, bool on)
{
	ds_plant_damage(first, last, on);
}

/* ---- what runs them ---- */

static bool ds_miss_nodes(char *why, size_t len)
{
	if (NODES_WIDTH && num_online_nodes() > 1)
		return false;
	snprintf(why, len, "there is only one node");
	return true;
}

/* A check with the fault armed; says whether the fault was there. */
static int ds_check_armed(const struct ds_plant *plant)
{
	struct ds_check c = { .mask = ~0ULL };
	int err;

	ds_plant_was_done = false;
	ds_plant_was_ended = false;
	WRITE_ONCE(ds_plant_armed, plant);
	err = ds_check_run(&c);
	WRITE_ONCE(ds_plant_armed, NULL);
	if (err)
		return err;
	if (ds_plant_brief)	/* it was suspicious, and then it was over */
		return ds_plant_was_ended ? 0 : -ENODATA;
	return ds_plant_was_done ? 0 : -ENODATA;
}

static bool ds_plant_noticeable(const struct ds_plant *plant, char *why,
				size_t len)
{
	unsigned int i;

	for (i = 0; i < ds_nr_invariants; i++) {
		if (ds_invariants[i].id == plant->invariant)
			return ds_invariant_available(&ds_invariants[i], why, len);
	}
	return true;
}

/**
 * ds_plant_available() - whether the fault can be made, and noticed
 * @plant: which
 * @why: gets the reason when not
 * @len: room in @why, bytes
 */
bool ds_plant_available(const struct ds_plant *plant, char *why, size_t len)
{
	if (!ds_plant_allowed) {
		snprintf(why, len, "load the module with plant=1");
		return false;
	}
	if (plant->occasion)
		return !ds_skip_layout(why, len);
	return ds_plant_noticeable(plant, why, len) &&
	       !(plant->missing && plant->missing(why, len));
}

static int ds_plant_check(const struct ds_plant *plant)
{
	char why[DS_REASON_LEN];
	struct ds_stock stock;
	int err;

	if (!ds_plant_available(plant, why, sizeof(why)) ||
	    !ds_plant_noticeable(plant, why, sizeof(why)))
		return -EOPNOTSUPP;
	err = ds_stocks_get() ?: ds_stock_make(&stock, 1, -1);
	if (err)
		return err;
	err = -ENOMEM;
	ds_bad_folio = stock.own[0].folio;
	ds_bad_page = alloc_page(GFP_KERNEL);
	ds_bad_large = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	/* A small one, so that its slab is a single page. */
	ds_bad_object = kzalloc(8, GFP_KERNEL);
	if (ds_bad_page && ds_bad_large && ds_bad_object) {
		/* On its list, where the damage expects it. */
		ds_call(lru_add_drain_all)();
		err = ds_check_armed(plant);
	}
	kfree(ds_bad_object);
	if (ds_bad_large)
		__free_pages(ds_bad_large, 1);
	if (ds_bad_page)
		__free_page(ds_bad_page);
	ds_stock_drop(&stock);
	return err;
}

/* ---- damage that may last ---- */

/* One of the registered folios has a reference that nobody knows of. */
static int ds_plant_many_references(const struct ds_plant *plant)
{
	struct ds_stock *stock;
	struct folio *folio;
	struct ds_check c = { .mask = ~0ULL };
	int err;

	err = ds_stocks_get();
	if (err)
		return err;
	stock = ds_cpu_stock(cpumask_first(cpu_online_mask), false);
	folio = stock->own[0].folio;
	folio_get(folio);
	err = ds_check_run(&c);
	folio_put(folio);
	return err;
}

/*
 * While an own file is truncated, the release probe clears the batch's
 * percpu_pvec_drained before each release but the first, as if the batch had
 * been initialised anew: the kernel then drains at every release.
 */
static int ds_plant_double_drain(const struct ds_plant *plant)
{
	struct ds_stock stock;
	int err;

	if (!ds_usage_armed())
		return -EOPNOTSUPP;
	err = ds_stock_make(&stock, 3 * DS_BATCH_SIZE, -1);
	if (err)
		return err;
	ds_usage_plant(current);
	shmem_truncate_range(file_inode(stock.file), 0, (loff_t)-1);
	ds_usage_plant(NULL);
	ds_stock_drop(&stock);
	return 0;
}

static int ds_plant_stalled(const struct ds_plant *plant)
{
	ds_plant_was_done = false;
	WRITE_ONCE(ds_plant_armed, plant);
	ds_plant_slow_drain();
	WRITE_ONCE(ds_plant_armed, NULL);
	return ds_plant_was_done ? 0 : -EBUSY;
}

/*
 * A check that looks at a CPU which is offline, and at what was put into its
 * batch meanwhile.  A CPU that is offline already serves as well.
 */
static int ds_plant_offline(const struct ds_plant *plant)
{
	bool all_online = cpumask_equal(cpu_online_mask, cpu_possible_mask);
	int cpu = cpumask_last(cpu_online_mask);
	int err, back = 0;

	if (all_online) {
		if (num_online_cpus() == 1)
			return -EOPNOTSUPP;	/* and I30 is not available */
		if (remove_cpu(cpu))
			return -EOPNOTSUPP;	/* one that has to stay */
	}
	err = ds_check_armed(plant);
	if (all_online)
		back = add_cpu(cpu);
	return err ?: back;
}

/* ---- damage that wants an interleaving ---- */

/*
 * A drain from elsewhere (of that CPU or of all) that begins while the CPU's
 * deactivate_file holds so many own folios or more, and while the last thing
 * its kthread did was to fill rotate: the CPU's next lru_add_drain() then leaves
 * a folio behind.  Each of the three alone is frequent.
 */
#define DS_MEET_FOLIOS	(DS_BATCH_SIZE / 4)

bool ds_plant_meeting;
static DEFINE_PER_CPU(bool, ds_met);

/* Folios of @cpu's stock in its batch; only pointers are compared. */
static unsigned int ds_own_in_batch(unsigned int kind, int cpu)
{
	struct folio_batch *fbatch = ds_batch(kind, cpu);
	struct ds_stock *stock = ds_cpu_stock(cpu, false);
	unsigned int i, k, n = 0, nr = READ_ONCE(fbatch->nr);

	for (i = 0; i < nr && i < DS_BATCH_SIZE; i++) {
		struct folio *folio = READ_ONCE(fbatch->folios[i]);

		for (k = 0; k < stock->nr; k++)
			n += stock->own[k].folio == folio;
	}
	return n;
}

static void ds_meet_one(int cpu, unsigned int last_kind)
{
	if (last_kind == DS_BATCH_ROTATE &&
	    ds_own_in_batch(DS_BATCH_DEACTIVATE_FILE, cpu) >= DS_MEET_FOLIOS)
		WRITE_ONCE(per_cpu(ds_met, cpu), true);
}

/* A drain of @cpu, or DS_ON_ALL, begins. */
void ds_plant_meet(int cpu)
{
	int on;

	for_each_online_cpu(on) {
		if (cpu == DS_ON_ALL || cpu == on)
			ds_meet_one(on, ds_race_last_kind(on));
	}
}

/* This CPU has just been drained; preemption is off. */
void ds_plant_leave_behind(void)
{
	if (likely(!READ_ONCE(ds_plant_meeting)) || !this_cpu_read(ds_met))
		return;
	/* A folio that meets a disabled cache does not stay: the next drain, then. */
	if (ds_lru_disabled())
		return;
	this_cpu_write(ds_met, false);
	ds_fill(DS_BATCH_DEACTIVATE_FILE,
		ds_cpu_stock(smp_processor_id(), false), 1, 0);
}

/* The race ends, and the fault with it. */
void ds_plant_meet_end(void)
{
	int cpu;

	WRITE_ONCE(ds_plant_meeting, false);
	for_each_possible_cpu(cpu)
		per_cpu(ds_met, cpu) = false;
}

/* All three by hand.  Return: 0 when they met. */
static int ds_meet_here(void *unused)
{
	int cpu = raw_smp_processor_id(), tries;
	struct ds_stock *stock = ds_cpu_stock(cpu, false);

	for (tries = 0; tries < 10; tries++) {
		ds_fill_exact(DS_BATCH_DEACTIVATE_FILE, stock, DS_MEET_FOLIOS);
		ds_meet_one(cpu, DS_BATCH_ROTATE);
		if (per_cpu(ds_met, cpu))
			return ds_drain(DS_DRAIN_LOCAL, cpu, stock);
	}
	return -EBUSY;
}

/* In a race it waits for what the kthreads do. */
static int ds_plant_interleaving(const struct ds_plant *plant)
{
	int err;

	if (ds_racing_now()) {
		WRITE_ONCE(ds_plant_meeting, true);
		return 0;
	}
	err = ds_stocks_get();
	if (err)
		return err;
	WRITE_ONCE(ds_plant_meeting, true);
	err = ds_on_cpu(cpumask_first(cpu_online_mask), ds_meet_here, NULL);
	ds_plant_meet_end();
	return err;
}

static bool ds_miss_meeting(char *why, size_t len)
{
	return !ds_batch_available(DS_BATCH_DEACTIVATE_FILE, why, len) ||
	       !ds_batch_available(DS_BATCH_ROTATE, why, len);
}

/* A fault that is made around a look at rest. */
#define DS_DAMAGE(name, title, invariant, ...)				\
	{ name, title, invariant, ds_plant_check, __VA_ARGS__ }
/* The same, one that may be there for a moment: the check looks again. */
#define DS_BRIEF(name, title, invariant, ...)				\
	{ name, title, invariant, ds_plant_check, __VA_ARGS__, .brief = true }

const struct ds_plant ds_plants[] = {
	DS_DAMAGE("batch-too-long", "a batch as long as its size", 1,
		  ds_stop_too_long),
	DS_DAMAGE("large-folio", "a large folio in a batch", 2, ds_stop_large),
	DS_DAMAGE("tail-page", "a tail page in a batch", 2, ds_stop_tail),
	DS_DAMAGE("null-entry", "a batch entry that is NULL", 2, ds_stop_null),
	DS_DAMAGE("slab-page", "a slab page in a batch", 2, ds_stop_slab),
	DS_DAMAGE("tagged-entry", "a tagged pointer in another batch than mlock",
		  2, ds_stop_tagged),
	DS_DAMAGE("stray-pointer", "a batch entry that is no page", 2,
		  ds_stop_stray),
	DS_DAMAGE("lru-in-lru-add", "a folio in lru_add that has PG_lru", 3,
		  ds_stop_on_lru),
	DS_BRIEF("lost-lru", "an own folio in rotate that has lost PG_lru", 3,
		 ds_stop_lost_lru),
	DS_DAMAGE("queued-twice", "a folio twice in lru_add", 4, ds_stop_twice),
	DS_DAMAGE("few-references", "more batch entries than references", 5,
		  ds_stop_few_references),
	{ "many-references", "an own folio with a reference too many", 5,
	  ds_plant_many_references },
	DS_DAMAGE("free-page",
		  "a page in a batch without references, so too few of them", 6,
		  ds_stop_free_page, .also = DS_INV_BIT(5)),
	{ "left-after-drain", "a folio queued right after a local drain", 7,
	  ds_plant_check },
	{ "interleaving",
	  "a folio left behind when a drain from elsewhere met certain fills", 7,
	  ds_plant_interleaving, .missing = ds_miss_meeting },
	{ "left-after-drain-all", "a folio queued right after a drain-all", 8,
	  ds_plant_check },
	{ "enabled-early", "folios queued while the cache should be disabled", 9,
	  ds_plant_check },
	{ "left-disabled", "a cache that somebody leaves disabled", 10,
	  ds_plant_check },
	DS_BRIEF("wrong-list", "an active folio on an inactive list", 11,
		 ds_list_active),
	DS_BRIEF("wrong-type", "a folio of files on a list of anonymous ones",
		 11, ds_list_type),
	DS_BRIEF("broken-link", "a link on a list that leads back to itself", 11,
		 ds_list_broken),
	DS_BRIEF("unlisted", "a folio on a list without PG_lru", 11,
		 ds_list_no_lru),
	DS_BRIEF("unreferenced", "a folio on a list without references", 11,
		 ds_list_no_refs),
	DS_BRIEF("active-in-generation", "an active folio on a list of the MGLRU",
		 12, ds_list_active),
	DS_BRIEF("unevictable-in-generation",
		 "an unevictable folio on a list of the MGLRU", 12,
		 ds_list_unevictable),
	DS_BRIEF("wrong-type-in-generation",
		 "a folio of files on a list of the MGLRU for anonymous ones",
		 12, ds_list_type),
	DS_BRIEF("no-generation",
		 "a folio on a list of the MGLRU without a generation", 12,
		 ds_list_no_gen),
	DS_BRIEF("broken-link-in-generation",
		 "a link on a list of the MGLRU that leads back to itself", 12,
		 ds_list_broken),
	DS_BRIEF("unlisted-in-generation",
		 "a folio on a list of the MGLRU without PG_lru", 12,
		 ds_list_no_lru),
	DS_BRIEF("unreferenced-in-generation",
		 "a folio on a list of the MGLRU without references", 12,
		 ds_list_no_refs),
	DS_BRIEF("strange-memcg", "a folio on a list with another memory cgroup",
		 13, ds_list_stranger),
	DS_BRIEF("strange-node", "a folio on a list of another node", 13,
		 ds_list_node, .missing = ds_miss_nodes),
	DS_BRIEF("wrong-list-size", "an lru_zone_size that is one too many", 14,
		 ds_list_size),
	DS_BRIEF("wrong-generation-size", "an MGLRU nr_pages that is one too many",
		 15, ds_list_gen_size),
	DS_BRIEF("wrong-node-counter",
		 "an LRU counter of a node that is one too many", 16,
		 ds_list_node_stat),
	DS_BRIEF("wrong-zone-counter",
		 "an LRU counter of a zone that is one too many", 16,
		 ds_list_zone_stat),
	DS_BRIEF("flag-unevictable", "an evictable folio with PG_unevictable", 17,
		 ds_list_unevictable),
	DS_BRIEF("wrong-unevictable-counter",
		 "nr_unevictable of a node that is one too many", 17,
		 ds_list_unevictable_stat),
	DS_BRIEF("wrong-unevictable-size",
		 "an lru_zone_size of unevictable pages that is one too many", 17,
		 ds_list_unevictable_size, .missing = ds_skip_no_memcg),
	{ "mlock-event", "an mlock that was counted twice", 18, ds_plant_check },
	DS_BRIEF("flag-mlocked", "a folio with PG_mlocked that nobody counted",
		 19, ds_list_mlocked),
	DS_BRIEF("wrong-mlock-counter", "nr_mlock of a zone that is one too many",
		 19, ds_list_mlock_stat),
	{ "mlock-count", "an mlock_count that nobody has set", 20,
	  ds_plant_check },
	{ "stranded", "a folio that stays unevictable after its munlock", 21,
	  ds_plant_check },
	{ "double-drain", "a usage that drains at every release", 22,
	  ds_plant_double_drain },
	{ "held-after-truncate", "a truncated folio that somebody still holds",
	  24, ds_plant_check },
	{ "held-after-drain-all",
	  "a truncated folio that somebody holds after a drain-all", 25,
	  ds_plant_check },
	{ "rotated-twice", "a batch whose rotations are one more in PGROTATED", 26,
	  ds_plant_check },
	{ "lazyfree-twice", "a batch that counts one more in PGLAZYFREE", 27,
	  ds_plant_check },
	{ "activate-twice",
	  "a batch that counts one more in PGACTIVATE and PGDEACTIVATE", 28,
	  ds_plant_check },
	{ "held-in-memcg",
	  "a folio that is held and stays on a list of a memory cgroup without files",
	  29, ds_plant_check, .variant = DS_PLANT_HELD, .occasion = true },
	{ "wrong-memcg-size",
	  "an lru_zone_size of a memory cgroup without files that is one too many",
	  29, ds_plant_check, .variant = DS_PLANT_COUNT, .occasion = true },
	{ "left-offline", "a folio in a batch of a CPU that is offline", 30,
	  ds_plant_offline, .occasion = true },
	{ "stalled-drain", "a drain that does not return", 32,
	  ds_plant_stalled },
	{ "pin-drains", "a long-term pin with a drain-all that nobody needs", 33,
	  ds_plant_check },
};

const unsigned int ds_nr_plants = ARRAY_SIZE(ds_plants);
