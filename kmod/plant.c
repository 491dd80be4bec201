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

#include "drainstress.h"

bool ds_plant_allowed;
module_param_named(plant, ds_plant_allowed, bool, 0444);
MODULE_PARM_DESC(plant, "allow planted faults; for tests of the tester only");

unsigned int ds_plant_armed;	/* the invariant whose fault is wanted, or 0 */
static bool ds_plant_was_done;

/* The point that was armed has done its damage. */
void ds_plant_done(void)
{
	WRITE_ONCE(ds_plant_was_done, true);
}

/* ---- damage around a look at rest ---- */

static struct folio *ds_bad_folio;	/* an own one that is not registered */
static struct page *ds_bad_page;	/* of order 0, on no list */
static struct page *ds_bad_large;	/* of order 1 */

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

static void ds_stop_large(bool on)
{
	if (on)
		ds_add_entries(DS_BATCH_LRU_ADD, ds_bad_large, 1);
	else
		ds_remove_entries();
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

/* More entries than references: the page cache's and ours are two. */
static void ds_stop_few_references(bool on)
{
	if (on)
		ds_add_entries(DS_BATCH_ROTATE, ds_bad_folio, 3);
	else
		ds_remove_entries();
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

static void (*const ds_stops[])(bool on) = {
	[1] = ds_stop_too_long,
	[2] = ds_stop_large,
	[3] = ds_stop_on_lru,
	[4] = ds_stop_twice,
	[5] = ds_stop_few_references,
	[6] = ds_stop_free_page,
};

/**
 * ds_plant_stopped() - does the armed damage, or undoes it
 * @on: whether the look is about to begin
 *
 * Context: inside stop_machine().
 */
void ds_plant_stopped(bool on)
{
	unsigned int armed = READ_ONCE(ds_plant_armed);

	if (armed < ARRAY_SIZE(ds_stops) && ds_stops[armed])
		ds_stops[armed](on);
}

/* ---- damage around a look at the LRU lists ---- */

static struct lruvec *ds_bad_lruvec(void)
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

/* Of no memory cgroup that there is; nothing follows the pointer meanwhile. */
static void ds_list_stranger(bool on)
{
#ifdef CONFIG_MEMCG
	ds_bad_folio->memcg_data ^= PAGE_SIZE;
	if (on)
		ds_plant_done();
#endif
}

static void ds_list_size(bool on)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = folio_memcg(ds_bad_folio);
	unsigned long *sizes;

	if (!memcg)
		return;
	sizes = memcg->nodeinfo[folio_nid(ds_bad_folio)]->lru_zone_size
		[folio_zonenum(ds_bad_folio)];
	sizes[LRU_INACTIVE_ANON] += on ? 1 : -1;
	if (on)
		ds_plant_done();
#endif
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

/* The global counter of the node; I17 has one of its own. */
static void ds_list_node_stat(bool on)
{
	atomic_long_add(on ? 1 : -1, &NODE_DATA(folio_nid(ds_bad_folio))->vm_stat
			[NR_INACTIVE_ANON]);
	if (on)
		ds_plant_done();
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

static void (*const ds_list_stops[])(bool on) = {
	[11] = ds_list_active,
	[12] = ds_list_active,
	[13] = ds_list_stranger,
	[14] = ds_list_size,
	[15] = ds_list_gen_size,
	[16] = ds_list_node_stat,
	[17] = ds_list_unevictable,
	[19] = ds_list_mlocked,
};

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
	unsigned int armed = READ_ONCE(ds_plant_armed);

	if (armed >= first && armed <= last &&
	    armed < ARRAY_SIZE(ds_list_stops) && ds_list_stops[armed])
		ds_list_stops[armed](on);
}

/* A check with the fault armed; says whether the fault was there. */
static int ds_check_armed(unsigned int invariant)
{
	struct ds_check c = { .mask = ~0ULL };
	int err;

	ds_plant_was_done = false;
	WRITE_ONCE(ds_plant_armed, invariant);
	err = ds_check_run(&c);
	WRITE_ONCE(ds_plant_armed, 0);
	if (err)
		return err;
	return ds_plant_was_done ? 0 : -ENODATA;
}

/**
 * ds_plant_available() - whether the fault can be made, and noticed
 * @plant: which
 * @why: gets the reason when not
 * @len: room in @why, bytes
 */
bool ds_plant_available(const struct ds_plant *plant, char *why, size_t len)
{
	unsigned int i;

	if (!ds_plant_allowed) {
		snprintf(why, len, "load the module with plant=1");
		return false;
	}
	if (plant->occasion)
		return !ds_skip_layout(why, len);
	for (i = 0; i < ds_nr_invariants; i++) {
		if (ds_invariants[i].id == plant->invariant)
			return ds_invariant_available(&ds_invariants[i], why, len);
	}
	return true;
}

static int ds_plant_check(const struct ds_plant *plant)
{
	char why[DS_REASON_LEN];
	struct ds_stock stock;
	int err;

	if (!ds_plant_available(plant, why, sizeof(why)))
		return -EOPNOTSUPP;
	err = ds_stock_make(&stock, 1, -1);
	if (err)
		return err;
	err = -ENOMEM;
	ds_bad_folio = stock.own[0].folio;
	ds_bad_page = alloc_page(GFP_KERNEL);
	ds_bad_large = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	if (ds_bad_page && ds_bad_large) {
		/* On its list, where the damage expects it. */
		ds_call(lru_add_drain_all)();
		err = ds_check_armed(plant->invariant);
	}
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
	WRITE_ONCE(ds_plant_armed, plant->invariant);
	ds_plant_slow_drain();
	WRITE_ONCE(ds_plant_armed, 0);
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
	err = ds_check_armed(plant->invariant);
	if (all_online)
		back = add_cpu(cpu);
	return err ?: back;
}

const struct ds_plant ds_plants[] = {
	{ "batch-too-long", "a batch as long as its size", 1, ds_plant_check },
	{ "large-folio", "a large folio in a batch", 2, ds_plant_check },
	{ "lru-in-lru-add", "a folio in lru_add that has PG_lru", 3,
	  ds_plant_check },
	{ "queued-twice", "a folio twice in lru_add", 4, ds_plant_check },
	{ "few-references", "more batch entries than references", 5,
	  ds_plant_check },
	{ "many-references", "an own folio with a reference too many", 5,
	  ds_plant_many_references },
	{ "free-page", "a page in a batch without references, so too few of them",
	  6, ds_plant_check, DS_INV_BIT(5) },
	{ "left-after-drain", "a folio queued right after a local drain", 7,
	  ds_plant_check },
	{ "left-after-drain-all", "a folio queued right after a drain-all", 8,
	  ds_plant_check },
	{ "enabled-early", "folios queued while the cache should be disabled", 9,
	  ds_plant_check },
	{ "left-disabled", "a cache that somebody leaves disabled", 10,
	  ds_plant_check },
	{ "wrong-list", "an active folio on an inactive list", 11,
	  ds_plant_check },
	{ "active-in-generation", "an active folio on a list of the MGLRU", 12,
	  ds_plant_check },
	{ "strange-memcg", "a folio on a list with another memory cgroup", 13,
	  ds_plant_check },
	{ "wrong-list-size", "an lru_zone_size that is one too many", 14,
	  ds_plant_check },
	{ "wrong-generation-size", "an MGLRU nr_pages that is one too many", 15,
	  ds_plant_check },
	{ "wrong-node-counter", "an LRU counter of a node that is one too many",
	  16, ds_plant_check },
	{ "flag-unevictable", "an evictable folio with PG_unevictable", 17,
	  ds_plant_check },
	{ "mlock-event", "an mlock that was counted twice", 18, ds_plant_check },
	{ "flag-mlocked", "a folio with PG_mlocked that nobody counted", 19,
	  ds_plant_check },
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
	{ "left-offline", "a folio in a batch of a CPU that is offline", 30,
	  ds_plant_offline, .occasion = true },
	{ "stalled-drain", "a drain that does not return", 32,
	  ds_plant_stalled },
};

const unsigned int ds_nr_plants = ARRAY_SIZE(ds_plants);
