// SPDX-License-Identifier: GPL-2.0-only
/*
 * A part of I20: folios that become unevictable while they are on a list, as by
 * SHM_LOCK, are moved to the unevictable ones by reclaim, which meets them.
 * Nobody has mlocked them, so their mlock_count is 0.  Where it is not, no munlock
 * ever counts it down.  What mlock does to the count is in invariant_count.c.
 *
 * Reclaim without swap only looks at lists of files, and tmpfs is on those of
 * anonymous memory.  So the folios lose PG_swapbacked while they are isolated and get it
 * back the same way; all the time somebody holds them, so that they stay.
 */
#include <linux/delay.h>
#include <linux/pagemap.h>

#include "drainstress.h"

#define DS_CULLED_FOLIOS	8
#define DS_CULLED_TRIES		3
#define DS_TURN_MS		20
#define DS_TURNS		500

struct ds_culled {
	struct ds_stock stock;
	unsigned int judged;
	unsigned int wrong;
	unsigned int found;	/* mlock_count of the first that is wrong */
	struct ds_slot first;
};

/* One folio to a list of files or back.  Return: whether it is there. */
static bool ds_turn(struct folio *folio, bool to_file)
{
	preempt_disable();
	if (folio_test_swapbacked(folio) == to_file && ds_isolate(folio)) {
		if (to_file)
			folio_clear_swapbacked(folio);
		else
			folio_set_swapbacked(folio);
		ds_putback(folio);
	}
	preempt_enable();
	return folio_test_swapbacked(folio) != to_file;
}

/* All to lists of files, and only then unevictable. */
static int ds_make_culled(void *arg)
{
	struct ds_culled *k = arg;
	unsigned int i;
	int err = ds_memcg_stock(&k->stock, DS_CULLED_FOLIOS);

	if (err)
		return err;
	ds_call(lru_add_drain)();
	for (i = 0; i < k->stock.nr; i++)
		ds_turn(k->stock.own[i].folio, true);
	ds_call(lru_add_drain)();
	mapping_set_unevictable(k->stock.file->f_mapping);
	return 0;
}

/* One that is neither mlocked nor evictable; @k->wrong counts those with a count. */
static void ds_judge_culled(struct ds_culled *k)
{
	unsigned int i, count;

	k->judged = 0;
	k->wrong = 0;
	for (i = 0; i < k->stock.nr; i++) {
		struct folio *folio = k->stock.own[i].folio;

		if (!folio_test_lru(folio) || !folio_test_unevictable(folio))
			continue;
		/* On a list it is a pointer: looked at between two looks at the flags. */
		smp_rmb();	/* the flags before */
		count = READ_ONCE(folio->mlock_count);
		smp_rmb();	/* the flags after */
		if (!folio_test_lru(folio) || !folio_test_unevictable(folio) ||
		    folio_test_mlocked(folio))
			continue;
		k->judged++;
		if (!count || k->wrong++)
			continue;
		k->found = count;
		ds_picture(&k->first, &folio->page);
	}
}

/*
 * Before they are freed they must be as they were, since tmpfs counts pages by
 * PG_swapbacked.  Whoever has isolated one gives it back, sooner or later; a file
 * whose folio never comes back is kept.
 */
static void ds_drop_culled(struct ds_culled *k)
{
	unsigned int i, turn, left = k->stock.nr;

	mapping_clear_unevictable(k->stock.file->f_mapping);
	for (turn = 0; left && turn < DS_TURNS; turn++) {
		if (turn)
			msleep(DS_TURN_MS);
		left = 0;
		for (i = 0; i < k->stock.nr; i++)
			left += !ds_turn(k->stock.own[i].folio, false);
		ds_call(lru_add_drain_all)();
	}
	if (left) {
		pr_warn("%u folios of a file were isolated for too long, it is kept\n",
			left);
		return;
	}
	ds_stock_drop(&k->stock);
}

/**
 * ds_probe_culled() - the part of I20 that is about reclaim
 * @c: the check
 *
 * Nothing is said where there is no memory cgroup of the run's own, for only that
 * one can be reclaimed without anybody's folios.  Context: process, may sleep.
 */
void ds_probe_culled(struct ds_check *c)
{
	int cpu = ds_cpu_of_round(c->round);
	unsigned int try, judged = 0;
	struct ds_culled k;

	if (!ds_has(DS_SYM_try_to_free_mem_cgroup_pages) ||
	    !ds_has(DS_SYM_folio_isolate_lru) || !ds_has(DS_SYM_folio_putback_lru))
		return;
	for (try = 0; try < DS_CULLED_TRIES && !ds_abandoned(); try++) {
		k = (struct ds_culled){ };
		if (ds_on_cpu(cpu, ds_make_culled, &k))
			return;
		ds_memcg_reclaim(k.stock.nr);
		ds_call(lru_add_drain_all)();
		ds_judge_culled(&k);
		ds_drop_culled(&k);
		judged += k.judged;
		if (!k.wrong)
			break;
	}
	ds_checked(20, judged);
	if (try == DS_CULLED_TRIES) {
		ds_violate(20, &k.first, cpu,
			   "unevictable when reclaim met it, and not mlocked: expected mlock_count 0, found %u%s, and %u of %u wrong in the last of %u tries",
			   k.found,
			   k.found == DS_MLOCK_NEVER ? " (never initialised)" : "",
			   k.wrong, k.judged, DS_CULLED_TRIES);
	}
}
