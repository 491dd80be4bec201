// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariants of the LRU lists at rest: the lists of every lruvec, of classic LRU
 * and MGLRU, are walked under stop_machine(), one large lruvec or several small
 * ones a pause, and what is on them is compared with its flags and with the
 * counters of the lruvec (I11 to I15).  The counters of nodes and zones (I16)
 * and the scans of all pages (I17, I19) have a pause a node.  What stands in the
 * per-CPU batches is not looked at here.
 */
#include <linux/cgroup.h>
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mmzone.h>
#include <linux/nmi.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <linux/vmstat.h>

#include "drainstress.h"
#include "lru.h"

/*
 * When suspects are looked at again, in ms after the look before.  A task that
 * isolates a folio is preemptible between the test of PG_lru and the lru_lock
 * (folio_isolate_lru(), mm/vmscan.c), as is one that frees a folio between its
 * last reference and the lock (__page_cache_release(), mm/swap.c): on a busy CPU
 * it may have to wait for its next turn, hence the long waits at the end.
 */
static const unsigned int ds_relook_ms[] = { 2, 20, 100, 400, 1500 };
#define DS_LRU_LOOKS	(1 + (unsigned int)ARRAY_SIZE(ds_relook_ms))

/* ---- the lruvecs ---- */

#ifdef CONFIG_MEMCG
/* Context: RCU read side. */
static struct cgroup_subsys_state *ds_root_css(void)
{
	return rcu_dereference(memory_cgrp_subsys.root->cgrp.subsys[memory_cgrp_id]);
}

static unsigned long *ds_zone_sizes(const struct ds_lruvec *l, int zone)
{
	return l->memcg ? l->memcg->nodeinfo[l->nid]->lru_zone_size[zone] : NULL;
}

static bool ds_memcg_fits(const struct ds_lruvec *l, const struct folio *folio)
{
	unsigned long data = READ_ONCE(folio->memcg_data);

	/* A folio without one is on the root's lruvec (folio_lruvec()). */
	if (!data)
		return !l->memcg || !l->memcg->css.parent;
	return data == (unsigned long)l->memcg;
}

static int ds_memcg_id(const struct ds_lruvec *l)
{
	return l->memcg ? l->memcg->css.id : 0;
}
#else
static unsigned long *ds_zone_sizes(const struct ds_lruvec *l, int zone)
{
	return NULL;
}

static bool ds_memcg_fits(const struct ds_lruvec *l, const struct folio *folio)
{
	return true;
}

static int ds_memcg_id(const struct ds_lruvec *l)
{
	return 0;
}
#endif

/**
 * ds_each_lruvec() - calls a function for each lruvec of a node
 * @nid: the node
 * @fn: gets the lruvec and @arg; non-zero ends the walk
 * @arg: for @fn
 *
 * Every memory cgroup that still has references is met, offline ones too.
 * Return: what @fn returned last.  Context: any in which RCU may be read.
 */
int ds_each_lruvec(int nid, int (*fn)(struct ds_lruvec *l, void *arg), void *arg)
{
	struct ds_lruvec l = { .nid = nid };
#ifdef CONFIG_MEMCG
	struct cgroup_subsys_state *css = NULL, *root;
	int ret = 0;

	if (!mem_cgroup_disabled()) {
		rcu_read_lock();
		root = ds_root_css();
		while (root && !ret) {
			css = css_next_descendant_pre(css, root);
			if (!css)
				break;
			l.memcg = mem_cgroup_from_css(css);
			l.lruvec = &l.memcg->nodeinfo[nid]->lruvec;
			ret = fn(&l, arg);
		}
		rcu_read_unlock();
		return ret;
	}
#endif
	l.lruvec = &NODE_DATA(nid)->__lruvec;
	return fn(&l, arg);
}

/**
 * ds_get_lruvec() - keeps the memory cgroup of an lruvec from going
 * @l: the lruvec, from within ds_each_lruvec()
 *
 * Return: false when the last reference has gone: then it is empty.
 */
bool ds_get_lruvec(const struct ds_lruvec *l)
{
#ifdef CONFIG_MEMCG
	return !l->memcg || css_tryget(&l->memcg->css);
#else
	return true;
#endif
}

/**
 * ds_put_lruvec() - the counterpart of ds_get_lruvec()
 * @l: the lruvec
 */
void ds_put_lruvec(const struct ds_lruvec *l)
{
#ifdef CONFIG_MEMCG
	if (l->memcg)
		css_put(&l->memcg->css);
#endif
}

static int ds_is_cgroup(struct ds_lruvec *l, void *arg)
{
#ifdef CONFIG_MEMCG
	return l->memcg && cgroup_id(l->memcg->css.cgroup) == *(u64 *)arg;
#else
	return 0;
#endif
}

/**
 * ds_cgroup_exists() - is there a memory cgroup with this number?
 * @id: cgroup_id(), the inode number of its directory
 *
 * Context: process.
 */
bool ds_cgroup_exists(u64 id)
{
#ifdef CONFIG_MEMCG
	/* With cgroup v1 numbers are another hierarchy's. */
	if (!mem_cgroup_disabled() && !cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return false;
#endif
	return ds_each_lruvec(first_online_node, ds_is_cgroup, &id);
}

/**
 * ds_memcg_of() - which memory cgroup it is that a folio is charged to
 * @memcg_data: as the folio has it; perhaps broken, so it is not followed but
 *	looked for among the memory cgroups that there are
 * @facts: gets what is known of it
 *
 * No memory cgroup is the root, whose lruvec such a folio is on.  Return: false
 * when there is none of these.  Context: any in which RCU may be read.
 */
bool ds_memcg_of(unsigned long memcg_data, struct ds_memcg_facts *facts)
{
	bool found = false;
#ifdef CONFIG_MEMCG
	struct cgroup_subsys_state *css = NULL, *root;

	if (mem_cgroup_disabled())
		return false;
	rcu_read_lock();
	root = ds_root_css();
	while (root && !found) {
		css = css_next_descendant_pre(css, root);
		if (!css)
			break;
		found = memcg_data ? memcg_data == (unsigned long)mem_cgroup_from_css(css) :
			css == root;
		if (found) {
			facts->id = css->id;
			facts->inode = cgroup_ino(css->cgroup);
		}
	}
	rcu_read_unlock();
#endif
	return found;
}

/* ---- one walk of lists ---- */

static struct ds_suspect *ds_suspect(struct ds_walk *w, unsigned int invariant,
				     enum ds_wrong wrong, unsigned int list,
				     unsigned int zone, struct page *page)
{
	unsigned long pfn = page ? page_to_pfn(page) : 0;
	struct ds_suspect *s;
	unsigned int i;

	if (!(w->mask & DS_INV_BIT(invariant)))
		return NULL;
	/* What stands before a broken link may change, the list is broken still. */
	for (i = 0; i < w->nr_suspects; i++) {
		s = &w->suspects[i];
		if (s->invariant == invariant && s->wrong == wrong &&
		    s->target == w->next && s->list == list &&
		    s->zone == zone &&
		    (wrong == DS_WRONG_LINK || s->folio.pfn == pfn))
			goto seen;
	}
	if (w->again || w->nr_suspects == DS_LRU_SUSPECTS)
		return NULL;
	s = &w->suspects[w->nr_suspects++];
	*s = (struct ds_suspect){
		.invariant = invariant,
		.wrong = wrong,
		.target = w->next,
		.list = list,
		.zone = zone,
	};
	ds_picture(&s->folio, page);
seen:
	s->seen = true;
	return s;
}

static void ds_suspect_size(struct ds_walk *w, unsigned int invariant,
			    unsigned int list, unsigned int zone, long expected,
			    long found)
{
	struct ds_suspect *s;

	w->checked[invariant]++;
	if (expected == found)
		return;
	s = ds_suspect(w, invariant, DS_WRONG_SIZE, list, zone, NULL);
	if (s) {
		s->expected = expected;
		s->found = found;
	}
}

/* The generation + 1, as lru_gen_add_folio() writes it; 0: on no MGLRU list. */
static unsigned int ds_gen_of(unsigned long flags)
{
#ifdef CONFIG_LRU_GEN
	return (flags & LRU_GEN_MASK) >> LRU_GEN_PGOFF;
#else
	return 0;
#endif
}

/* What folio_lru_list() says, which would BUG() on debug kernels. */
static unsigned int ds_list_of(unsigned long flags)
{
	if (flags & BIT(PG_unevictable))
		return LRU_UNEVICTABLE;
	return (flags & BIT(PG_swapbacked) ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE) +
	       (flags & BIT(PG_active) ? LRU_ACTIVE : 0);
}

/**
 * ds_list_by_flags() - the list that a folio's flags name
 * @flags: of the folio, with PG_lru
 * @zone: its zone
 *
 * Return: a number for ds_list_text().
 */
unsigned int ds_list_by_flags(unsigned long flags, unsigned int zone)
{
	unsigned int gen = ds_gen_of(flags);

	if (!gen || flags & BIT(PG_unevictable))
		return ds_list_of(flags);
	return DS_GEN_LIST(gen - 1, !(flags & BIT(PG_swapbacked)), zone);
}

static bool ds_fits_list(unsigned int list, unsigned long flags, int zone)
{
	unsigned int place;

	if (list < NR_LRU_LISTS)
		return ds_list_of(flags) == list && !ds_gen_of(flags);
	/* The generation may differ: folio_update_gen() changes the flags only. */
	if (!ds_gen_of(flags) ||
	    flags & (BIT(PG_active) | BIT(PG_unevictable)))
		return false;
	place = list - NR_LRU_LISTS;
	return place % MAX_NR_ZONES == zone &&
	       place / MAX_NR_ZONES % 2 == !(flags & BIT(PG_swapbacked));
}

/* Judges one folio.  Its page is known to be a head page of online memory. */
void ds_judge(struct ds_walk *w, unsigned int list, struct page *page)
{
	const struct ds_lruvec *l = &w->targets[w->next];
	unsigned int of_list = list < NR_LRU_LISTS ? 11 : 12;
	unsigned long flags = READ_ONCE(page->flags);

	w->folios++;
	w->checked[of_list]++;
	if (!(flags & BIT(PG_lru))) {
		/* About to be isolated: what it is may change now. */
		ds_suspect(w, of_list, DS_WRONG_NO_LRU, list, 0, page);
		return;
	}
	if (!page_ref_count(page))
		ds_suspect(w, of_list, DS_WRONG_NO_REFS, list, 0, page);
	if (!ds_fits_list(list, flags, page_zonenum(page)))
		ds_suspect(w, of_list, DS_WRONG_LIST, list, 0, page);
	w->checked[13]++;
	if (page_to_nid(page) != l->nid ||
	    !ds_memcg_fits(l, (struct folio *)page))
		ds_suspect(w, 13, DS_WRONG_OWNER, list, 0, page);
}

/**
 * ds_walk_step() - proves one step along a list, then judges the folio there
 * @w: the walk
 * @list: which list of its lruvec
 * @entry: where the step leads
 * @before: where it comes from
 * @back: it goes backwards
 *
 * Return: false when the entry is not in a page of online memory that can be on
 * a list, or does not lead back: it is not to be followed.  Context: at rest, or
 * under the lruvec's lru_lock.
 */
bool ds_walk_step(struct ds_walk *w, unsigned int list, struct list_head *entry,
		  struct list_head *before, bool back)
{
	struct page *page = container_of(entry, struct page, lru);

	if (pfn_to_online_page(page_to_pfn(page)) != page || PageTail(page) ||
	    (back ? entry->next : entry->prev) != before)
		return false;
	ds_judge(w, list, page);
	return true;
}

/**
 * ds_bad_link() - the list does not go on after @before
 * @w: the walk
 * @list: which list of its lruvec
 * @head: its head
 * @before: the last entry that is part of it
 */
void ds_bad_link(struct ds_walk *w, unsigned int list, struct list_head *head,
		 struct list_head *before)
{
	ds_suspect(w, list < NR_LRU_LISTS ? 11 : 12, DS_WRONG_LINK, list, 0,
		   before == head ? NULL : container_of(before, struct page, lru));
}

/*
 * Adds the pages of one list to @sums, by zone.  Each step is proven by the link
 * back before the next is taken, so the walk ends: a list that came round to a
 * place in its middle would have two links back there.
 */
static void ds_walk_list(struct ds_walk *w, unsigned int list,
			 struct list_head *head, long *sums)
{
	struct list_head *entry, *before = head;
	unsigned long walked = 0;
	struct page *page;

	for (entry = head->next; entry != head; entry = entry->next) {
		if (!ds_walk_step(w, list, entry, before, false))
			break;
		page = container_of(entry, struct page, lru);
		sums[page_zonenum(page)] += folio_nr_pages((struct folio *)page);
		before = entry;
		if (!(++walked & 1023))
			touch_nmi_watchdog();
	}
	if (entry == head && head->prev == before)
		return;
	ds_bad_link(w, list, head, before);
	w->whole = false;
}

static void ds_walk_gens(struct ds_walk *w, struct lruvec *lruvec)
{
#ifdef CONFIG_LRU_GEN
	unsigned int gen, type, zone;

	for (gen = 0; gen < MAX_NR_GENS; gen++) {
		for (type = 0; type < ANON_AND_FILE; type++) {
			for (zone = 0; zone < MAX_NR_ZONES; zone++) {
				ds_walk_list(w, DS_GEN_LIST(gen, type, zone),
					     &lruvec->lrugen.folios[gen][type][zone],
					     w->gens[type]);
			}
		}
	}
#endif
}

/* Pages of all generations, as the lruvec counts them. */
static long ds_gen_pages(struct lruvec *lruvec, unsigned int type,
			 unsigned int zone)
{
	long sum = 0;
#ifdef CONFIG_LRU_GEN
	unsigned int gen;

	for (gen = 0; gen < MAX_NR_GENS; gen++)
		sum += READ_ONCE(lruvec->lrugen.nr_pages[gen][type][zone]);
#endif
	return sum;
}

static void ds_walk_classic(struct ds_walk *w, struct lruvec *lruvec)
{
	unsigned int list;

	/* LRU_UNEVICTABLE has no list (lruvec_init(), mm/mmzone.c). */
	for (list = 0; list < LRU_UNEVICTABLE; list++)
		ds_walk_list(w, list, &lruvec->lists[list], w->classic[list]);
}

static void ds_walk_target(struct ds_walk *w)
{
	const struct ds_lruvec *l = &w->targets[w->next];
	unsigned int zone, list;
	unsigned long *sizes;

	memset(w->classic, 0, sizeof(w->classic));
	memset(w->gens, 0, sizeof(w->gens));
	w->whole = true;
	ds_walk_classic(w, l->lruvec);
	ds_walk_gens(w, l->lruvec);
	if (!w->whole)
		return;
	for (zone = 0; zone < MAX_NR_ZONES; zone++) {
		sizes = ds_zone_sizes(l, zone);
		for (list = 0; sizes && list < LRU_UNEVICTABLE; list++)
			ds_suspect_size(w, 14, list, zone, w->classic[list][zone],
					sizes[list]);
		for (list = 0; DS_GENS && list < 2; list++)
			ds_suspect_size(w, 15, list, zone, w->gens[list][zone],
					ds_gen_pages(l->lruvec, list, zone));
	}
}

static int ds_walk_stopped(void *arg)
{
	u64 start = ktime_get_ns();
	struct ds_walk *w = arg;

	ds_plant_lists(11, 15, true);
	for (w->folios = 0; w->next < w->end; w->next++) {
		if (w->folios >= DS_WALK_PIECE)
			break;
		ds_walk_target(w);
	}
	ds_plant_lists(11, 15, false);
	start = ds_latency_pause(start);
	w->pause_ns = max(w->pause_ns, start);
	w->walk_ns += start;
	w->all_folios += w->folios;
	return 0;
}

/* Walks the targets from @first up to @end. */
static int ds_walk(struct ds_walk *w, unsigned int first, unsigned int end)
{
	int err = 0;

	w->next = first;
	w->end = end;
	while (w->next < w->end && !err)
		err = stop_machine(ds_walk_stopped, w, NULL);
	return err;
}

static int ds_count_target(struct ds_lruvec *l, void *arg)
{
	(*(unsigned int *)arg)++;
	return 0;
}

/* Is the check about this lruvec? */
static bool ds_wanted(const struct ds_walk *w, const struct ds_lruvec *l)
{
#ifdef CONFIG_MEMCG
	if (w->cgroup)
		return l->memcg && cgroup_id(l->memcg->css.cgroup) == w->cgroup;
#endif
	return true;
}

/* Takes a reference, unless the memory cgroup has none left: then it is empty. */
static int ds_add_target(struct ds_lruvec *l, void *arg)
{
	struct ds_walk *w = arg;

	if (w->nr_targets == w->max_targets)
		return -ENOSPC;
	if (!ds_wanted(w, l) || !ds_get_lruvec(l))
		return 0;
	w->targets[w->nr_targets++] = *l;
	return 0;
}

static void ds_walk_free(struct ds_walk *w)
{
	unsigned int i;

	for (i = 0; i < w->nr_targets; i++)
		ds_put_lruvec(&w->targets[i]);
	kvfree(w->targets);
	kvfree(w);
}

static struct ds_walk *ds_walk_alloc(u64 mask, u64 cgroup)
{
	struct ds_walk *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	int nid;

	if (!w)
		return NULL;
	w->mask = mask;
	w->cgroup = cgroup;
	for_each_online_node(nid)
		ds_each_lruvec(nid, ds_count_target, &w->max_targets);
	/* Some may be made meanwhile; more than that wait for the next check. */
	w->max_targets += w->max_targets / 8 + 16;
	w->targets = kvcalloc(w->max_targets, sizeof(*w->targets), GFP_KERNEL);
	if (!w->targets) {
		kvfree(w);
		return NULL;
	}
	for_each_online_node(nid)
		ds_each_lruvec(nid, ds_add_target, w);
	return w;
}

/* Looks at the suspects again until none is left or all looks are done. */
void ds_follow_up(struct ds_walk *w)
{
	unsigned int look, i, kept;

	w->again = true;
	for (look = 0; look < ARRAY_SIZE(ds_relook_ms); look++) {
		if (!w->nr_suspects)
			return;
		w->looks++;
		if (!ds_patience(ds_relook_ms[look]))
			w->nr_suspects = 0;
		for (i = 0; i < w->nr_suspects; i++)
			w->suspects[i].seen = false;
		/* They are in the order of the targets. */
		for (i = 0; i < w->nr_suspects; i++) {
			unsigned int target = w->suspects[i].target;

			if (i && target == w->suspects[i - 1].target)
				continue;
			if (ds_walk(w, target, target + 1))
				w->nr_suspects = 0;
		}
		for (i = kept = 0; i < w->nr_suspects; i++) {
			if (w->suspects[i].seen)
				w->suspects[kept++] = w->suspects[i];
		}
		w->nr_suspects = kept;
	}
}

static const char *const ds_list_names[NR_LRU_LISTS] = {
	[LRU_INACTIVE_ANON] = "inactive anon",
	[LRU_ACTIVE_ANON] = "active anon",
	[LRU_INACTIVE_FILE] = "inactive file",
	[LRU_ACTIVE_FILE] = "active file",
	[LRU_UNEVICTABLE] = "unevictable",
};

/**
 * ds_list_text() - the name of a list
 * @text: gets it
 * @len: room in @text, DS_LIST_LEN is enough
 * @list: an enum lru_list, or beyond those one of the MGLRU's
 */
void ds_list_text(char *text, size_t len, unsigned int list)
{
	unsigned int place = list - NR_LRU_LISTS;

	if (list < NR_LRU_LISTS)
		snprintf(text, len, "%s", ds_list_names[list]);
	else
		snprintf(text, len, "MGLRU generation %u %s zone %u",
			 place / MAX_NR_ZONES / 2,
			 place / MAX_NR_ZONES % 2 ? "file" : "anon",
			 place % MAX_NR_ZONES);
}

static const char *const ds_wrong_texts[] = {
	[DS_WRONG_LINK] = "expected links that lead round, found one that does not after it",
	[DS_WRONG_NO_LRU] = "expected PG_lru set on the list, found it clear",
	[DS_WRONG_NO_REFS] = "expected references, found none",
	[DS_WRONG_LIST] = "expected flags that name this list, found others",
	[DS_WRONG_OWNER] = "expected node and memory cgroup of the lruvec, found others",
};

static void ds_report(struct ds_walk *w, struct ds_suspect *s)
{
	const struct ds_lruvec *l = &w->targets[s->target];
	char list[DS_LIST_LEN];

	ds_list_text(list, sizeof(list), s->list);
	if (s->invariant != 15)
		s->folio.list = s->list + 1;
	s->folio.walked = true;
	s->folio.lruvec_nid = l->nid;
	s->folio.lruvec_memcg = ds_memcg_id(l);
	if (s->wrong != DS_WRONG_SIZE) {
		ds_violate(s->invariant, &s->folio, -1,
			   "node %d memcg %d %s: %s (%u looks)", l->nid,
			   ds_memcg_id(l), list, ds_wrong_texts[s->wrong],
			   DS_LRU_LOOKS);
	} else if (s->invariant == 14) {
		ds_violate(14, &s->folio, -1,
			   "node %d memcg %d %s zone %u: expected lru_zone_size %ld as on the list, found %ld (%u looks)",
			   l->nid, ds_memcg_id(l), list, s->zone, s->expected,
			   s->found, DS_LRU_LOOKS);
	} else {
		ds_violate(s->invariant, &s->folio, -1,
			   "node %d memcg %d MGLRU %s zone %u: expected nr_pages %ld as on the lists, found %ld (%u looks)",
			   l->nid, ds_memcg_id(l), s->list ? "file" : "anon",
			   s->zone, s->expected, s->found, DS_LRU_LOOKS);
	}
}

/* What is left after ds_follow_up(). */
void ds_report_suspects(struct ds_walk *w)
{
	unsigned int i;

	for (i = 0; i < w->nr_suspects; i++)
		ds_report(w, &w->suspects[i]);
}

/* Those of I11 to I15 that are asked for and that this kernel has now. */
u64 ds_lists_mask(u64 asked)
{
	char why[DS_REASON_LEN];
	unsigned int i;
	u64 mask = 0;

	for (i = 0; i < ds_nr_invariants; i++) {
		const struct ds_invariant *inv = &ds_invariants[i];

		if (inv->examine == ds_examine_lists &&
		    ds_invariant_available(inv, why, sizeof(why)))
			mask |= DS_INV_BIT(inv->id);
	}
	return mask & asked;
}

/**
 * ds_examine_lists() - I11 to I15, all in one walk
 * @c: the check; the first call of a check does the work for all five
 *
 * Context: process, may sleep; takes the CPU hotplug lock.
 */
void ds_examine_lists(struct ds_check *c)
{
	struct ds_walk *w;
	unsigned int i;

	if (c->lists_done)
		return;
	c->lists_done = true;
	w = ds_walk_alloc(ds_lists_mask(c->mask), c->cgroup);
	if (!w)
		return;
	c->gone = c->cgroup && !w->nr_targets;
	if (!ds_walk(w, 0, w->nr_targets)) {
		for (i = 11; i <= 15; i++) {
			if (w->mask & DS_INV_BIT(i))
				ds_checked(i, w->checked[i]);
		}
		c->folios += w->all_folios;
		c->walk_ns += w->walk_ns;
		ds_follow_up(w);
		ds_report_suspects(w);
		c->looks += w->looks;
	}
	c->pause_ns = max(c->pause_ns, w->pause_ns);
	ds_walk_free(w);
}

/* ---- counters of nodes and zones: I16, I17, I19 ---- */

/*
 * When counters that do not match are looked at again, after a drain-all.
 * refresh_cpu_vm_stats() (mm/vmstat.c) takes a per-CPU diff and adds it to the
 * zone or node a moment later, and whoever frees a mlocked page clears the flag
 * before the counter (__page_cache_release(), mm/swap.c; free_pages_prepare(),
 * mm/page_alloc.c), preemptibly both.  One look that matches is enough.
 */
static const unsigned int ds_count_ms[] = {
	1, 2, 5, 10, 20, 50, 100, 200, 400, 800
};

#define DS_COUNT_LOOKS	(1 + (unsigned int)ARRAY_SIZE(ds_count_ms))

/* One node, at one moment.  Pages. */
struct ds_node_counts {
	int nid;
	struct ds_walk *walk;	/* counts lists where nothing else does, or NULL */
	long lists[NR_LRU_LISTS][MAX_NR_ZONES];	/* of all lruvecs */
	long gens[2][MAX_NR_ZONES];
	bool mglru;		/* some lruvec's folios are on MGLRU lists */
	long node_stat[NR_LRU_LISTS];
	long zone_stat[NR_LRU_LISTS][MAX_NR_ZONES];
	long mlock_stat;
	long mlocked;		/* by the flags of all pages */
	long unevictable;
	unsigned long pages;	/* looked at by the scan */
	unsigned int looks;	/* after the first */
	bool failed;		/* the last look did not take place */
	u64 pause_ns;		/* the longest */
};

/* Context: at rest; so the diffs of all CPUs can be added. */
static long ds_node_stat(struct pglist_data *pgdat, enum node_stat_item item)
{
	long sum = atomic_long_read(&pgdat->vm_stat[item]);
#ifdef CONFIG_SMP
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(pgdat->per_cpu_nodestats, cpu)->vm_node_stat_diff[item];
#endif
	return sum;
}

static long ds_zone_stat(struct zone *zone, enum zone_stat_item item)
{
	long sum = atomic_long_read(&zone->vm_stat[item]);
#ifdef CONFIG_SMP
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(zone->per_cpu_zonestats, cpu)->vm_stat_diff[item];
#endif
	return sum;
}

static int ds_add_counts(struct ds_lruvec *l, void *arg)
{
	struct ds_node_counts *n = arg;
	unsigned int zone, list;
	unsigned long *sizes;
	long pages;

	for (zone = 0; zone < MAX_NR_ZONES; zone++) {
		sizes = ds_zone_sizes(l, zone);
		for (list = 0; sizes && list < NR_LRU_LISTS; list++)
			n->lists[list][zone] += sizes[list];
		for (list = 0; list < 2; list++) {
			pages = ds_gen_pages(l->lruvec, list, zone);
			n->gens[list][zone] += pages;
			n->mglru |= pages;
		}
	}
	return 0;
}

/* Without memory cgroups nothing but the lists tells how long they are. */
static void ds_count_lists(struct ds_node_counts *n)
{
	struct ds_walk *w = n->walk;

	for (w->next = 0; w->next < w->nr_targets; w->next++) {
		if (w->targets[w->next].nid != n->nid)
			continue;
		ds_walk_target(w);
		memcpy(n->lists, w->classic, sizeof(n->lists));
	}
}

static int ds_counts_stopped(void *arg)
{
	u64 start = ktime_get_ns();
	struct ds_node_counts *n = arg;
	struct pglist_data *pgdat = NODE_DATA(n->nid);
	unsigned int zone, list;

	memset(n->lists, 0, sizeof(n->lists));
	memset(n->gens, 0, sizeof(n->gens));
	n->mglru = false;
	ds_plant_lists(16, 16, true);
	ds_each_lruvec(n->nid, ds_add_counts, n);
	if (n->walk)
		ds_count_lists(n);
	for (list = 0; list < NR_LRU_LISTS; list++) {
		n->node_stat[list] = ds_node_stat(pgdat, NR_LRU_BASE + list);
		for (zone = 0; zone < MAX_NR_ZONES; zone++) {
			struct zone *z = &pgdat->node_zones[zone];

			n->zone_stat[list][zone] = populated_zone(z) ?
				ds_zone_stat(z, NR_ZONE_LRU_BASE + list) : 0;
		}
	}
	ds_plant_lists(16, 16, false);
	n->pause_ns = max(n->pause_ns, ds_latency_pause(start));
	return 0;
}

/*
 * A counter of I16: of the node (@zone is MAX_NR_ZONES) or of a zone.  MGLRU
 * counts its two youngest generations as active, but not which folio is there:
 * then both lists of a type are one counter.  Return: is there one?
 */
static bool ds_counter(const struct ds_node_counts *n, unsigned int zone,
		       unsigned int list, long *expected, long *found)
{
	bool whole = zone == MAX_NR_ZONES, both = n->mglru && list < LRU_UNEVICTABLE;
	unsigned int i, last = both ? list + LRU_ACTIVE : list;
	unsigned int z, end = whole ? MAX_NR_ZONES : zone + 1;

	*expected = 0;
	*found = 0;
	if ((both && list % 2) || (n->walk && list == LRU_UNEVICTABLE))
		return false;
	for (i = list; i <= last; i++) {
		*found += whole ? n->node_stat[i] : n->zone_stat[i][zone];
		for (z = whole ? 0 : zone; z < end; z++)
			*expected += n->lists[i][z];
	}
	for (z = whole ? 0 : zone; both && z < end; z++)
		*expected += n->gens[list / 2][z];
	return true;
}

/* Bits of the counters that do not match, of those in @among. */
static u64 ds_counts_differ(const struct ds_node_counts *n, u64 among)
{
	unsigned int zone, list;
	long expected, found;
	u64 differ = 0;

	for (zone = 0; zone <= MAX_NR_ZONES; zone++) {
		for (list = 0; list < NR_LRU_LISTS; list++) {
			if (ds_counter(n, zone, list, &expected, &found) &&
			    expected != found)
				differ |= BIT_ULL(zone * NR_LRU_LISTS + list);
		}
	}
	return differ & among;
}

static void ds_report_counts(const struct ds_node_counts *n, u64 differ)
{
	unsigned int bit = __ffs64(differ), zone = bit / NR_LRU_LISTS;
	unsigned int list = bit % NR_LRU_LISTS;
	char where[16] = "";
	long expected, found;

	if (!ds_counter(n, zone, list, &expected, &found))
		return;
	if (zone < MAX_NR_ZONES)
		snprintf(where, sizeof(where), " zone %u", zone);
	ds_violate(16, NULL, -1,
		   "node %d%s counter of %s%s: expected %ld pages as in all lruvecs, found %ld (%u looks)",
		   n->nid, where, ds_list_names[list],
		   n->mglru && list < LRU_UNEVICTABLE ? " and active" : "",
		   expected, found, DS_COUNT_LOOKS);
}

/* ---- the scan of all pages ---- */

#define DS_SCAN_FLAGS	(BIT(PG_mlocked) | BIT(PG_unevictable))

/* Looks at one page.  Return: how many page frames it covers. */
static unsigned long ds_scan_page(struct ds_node_counts *n, struct page *page)
{
	unsigned long flags = READ_ONCE(page->flags), nr = 1;

	if (PageBuddy(page))
		return 1UL << page_private(page);
	/* Tail pages and slabs have neither flag; a poisoned page has them all. */
	if (!(flags & DS_SCAN_FLAGS) || PagePoisoned(page) || PageTail(page) ||
	    page_to_nid(page) != n->nid)
		return 1;
	if (PageHead(page))
		nr = folio_nr_pages((struct folio *)page);
	if (flags & BIT(PG_mlocked))
		n->mlocked += nr;
	if ((flags & BIT(PG_unevictable)) && (flags & BIT(PG_lru)))
		n->unevictable += nr;
	return nr;
}

static void ds_scan_node(struct ds_node_counts *n)
{
	unsigned long pfn = NODE_DATA(n->nid)->node_start_pfn;
	unsigned long end = pfn + NODE_DATA(n->nid)->node_spanned_pages;
	unsigned long part;

	while (pfn < end) {
		/* Memory is online or not by the subsection. */
		part = min(end, ALIGN(pfn + 1, PAGES_PER_SUBSECTION));
		if (!pfn_to_online_page(pfn)) {
			pfn = part;
			continue;
		}
		n->pages += part - pfn;
		touch_nmi_watchdog();	/* interrupts are off for the whole node */
		while (pfn < part)
			pfn += ds_scan_page(n, pfn_to_page(pfn));
	}
}

static int ds_scan_stopped(void *arg)
{
	u64 start = ktime_get_ns();
	struct ds_node_counts *n = arg;
	struct pglist_data *pgdat = NODE_DATA(n->nid);
	unsigned int zone;

	memset(n->lists, 0, sizeof(n->lists));
	n->mlocked = 0;
	n->unevictable = 0;
	n->mlock_stat = 0;
	n->pages = 0;
	ds_plant_lists(17, 19, true);
	ds_scan_node(n);
	ds_each_lruvec(n->nid, ds_add_counts, n);
	n->node_stat[LRU_UNEVICTABLE] = ds_node_stat(pgdat, NR_UNEVICTABLE);
	for (zone = 0; zone < MAX_NR_ZONES; zone++) {
		if (populated_zone(&pgdat->node_zones[zone]))
			n->mlock_stat += ds_zone_stat(&pgdat->node_zones[zone],
						      NR_MLOCK);
	}
	ds_plant_lists(17, 19, false);
	n->pause_ns = max(n->pause_ns, ds_latency_pause(start));
	return 0;
}

enum { DS_SCAN_STAT, DS_SCAN_LRUVECS, DS_SCAN_MLOCK };

static long ds_lruvecs_unevictable(const struct ds_node_counts *n)
{
	unsigned int zone;
	long sum = 0;

	for (zone = 0; zone < MAX_NR_ZONES; zone++)
		sum += n->lists[LRU_UNEVICTABLE][zone];
	return sum;
}

static u64 ds_scan_differs(const struct ds_node_counts *n, u64 among)
{
	u64 differ = 0;

	if (n->unevictable != n->node_stat[LRU_UNEVICTABLE])
		differ |= BIT(DS_SCAN_STAT);
	if (!mem_cgroup_disabled() &&
	    n->unevictable != ds_lruvecs_unevictable(n))
		differ |= BIT(DS_SCAN_LRUVECS);
	if (n->mlocked != n->mlock_stat)
		differ |= BIT(DS_SCAN_MLOCK);
	return differ & among;
}

static void ds_report_scan(const struct ds_node_counts *n, u64 differ)
{
	if (differ & BIT(DS_SCAN_STAT))
		ds_violate(17, NULL, -1,
			   "node %d: expected nr_unevictable %ld as by the pages' flags, found %ld (%u looks)",
			   n->nid, n->unevictable, n->node_stat[LRU_UNEVICTABLE],
			   DS_COUNT_LOOKS);
	if (differ & BIT(DS_SCAN_LRUVECS))
		ds_violate(17, NULL, -1,
			   "node %d: expected unevictable lru_zone_size of all lruvecs %ld as by the pages' flags, found %ld (%u looks)",
			   n->nid, n->unevictable, ds_lruvecs_unevictable(n),
			   DS_COUNT_LOOKS);
	if (differ & BIT(DS_SCAN_MLOCK))
		ds_violate(19, NULL, -1,
			   "node %d: expected nr_mlock %ld as by the pages' flags, found %ld (%u looks)",
			   n->nid, n->mlocked, n->mlock_stat, DS_COUNT_LOOKS);
}

/*
 * Looks at a node until each counter has matched once, or all looks are done.
 * Return: bits of those that never did.
 */
static u64 ds_best_of(struct ds_node_counts *n, cpu_stop_fn_t stopped,
		      u64 (*differs)(const struct ds_node_counts *n, u64 among),
		      u64 among)
{
	unsigned int look;

	for (look = 0; look < DS_COUNT_LOOKS; look++) {
		if (look == 1)
			ds_drain(DS_DRAIN_ALL, -1, NULL);
		n->failed = true;
		if (look && !ds_patience(ds_count_ms[look - 1]))
			return 0;
		n->looks += !!look;
		if (stop_machine(stopped, n, NULL))
			return 0;
		n->failed = false;
		among = differs(n, among);
		if (!among)
			break;
	}
	return among;
}

/**
 * ds_probe_i16() - do the counters of nodes and zones match the lruvecs'?
 * @c: the check
 *
 * Context: process, may sleep; takes the CPU hotplug lock.
 */
void ds_probe_i16(struct ds_check *c)
{
	struct ds_node_counts *n = kzalloc(sizeof(*n), GFP_KERNEL);
	u64 differ;

	if (!n)
		return;
	if (mem_cgroup_disabled()) {
		n->walk = ds_walk_alloc(0, 0);
		if (!n->walk)
			goto out;
	}
	for_each_online_node(n->nid) {
		differ = ds_best_of(n, ds_counts_stopped, ds_counts_differ, ~0ULL);
		if (!n->failed)
			ds_checked(16, (MAX_NR_ZONES + 1) * NR_LRU_LISTS);
		if (differ)
			ds_report_counts(n, differ);
	}
	c->pause_ns = max(c->pause_ns, n->pause_ns);
	c->looks += n->looks;
	if (n->walk)
		ds_walk_free(n->walk);
out:
	kfree(n);
}

#define DS_FREED_MLOCKED	8

/*
 * A truncation that meets an munlock between the clearing of VM_LOCKED and the
 * walk of the pages frees what is still mlocked (free_pages_prepare(),
 * mm/page_alloc.c).  That is rare, so own folios go the same way: whoever frees
 * them has to take them out of nr_mlock, or the scan finds too few flags.
 */
static int ds_free_mlocked(void *unused)
{
	struct ds_stock stock;
	unsigned int i;
	int err = ds_stock_make(&stock, DS_FREED_MLOCKED, -1);

	if (err)
		return err;
	ds_call(lru_add_drain)();
	for (i = 0; i < stock.nr; i++)
		ds_mlock(stock.own[i].folio);
	ds_call(lru_add_drain)();
	ds_stock_drop_locked(&stock);
	return 0;
}

/**
 * ds_probe_scan() - I17 and I19, in one scan of all pages
 * @c: the check; the first call of a check does the work for both
 *
 * Context: process, may sleep; takes the CPU hotplug lock.
 */
void ds_probe_scan(struct ds_check *c)
{
	u64 differ, among = 0;
	struct ds_node_counts *n;

	if (c->scan_done)
		return;
	c->scan_done = true;
	n = kzalloc(sizeof(*n), GFP_KERNEL);
	if (!n)
		return;
	if (c->mask & DS_INV_BIT(17))
		among |= BIT(DS_SCAN_STAT) | BIT(DS_SCAN_LRUVECS);
	if (c->mask & DS_INV_BIT(19)) {
		among |= BIT(DS_SCAN_MLOCK);
		if (ds_has(DS_SYM_mlock_folio) && ds_has(DS_SYM_lru_add_drain))
			ds_on_cpu(ds_cpu_of_round(c->round), ds_free_mlocked, NULL);
	}
	for_each_online_node(n->nid) {
		differ = ds_best_of(n, ds_scan_stopped, ds_scan_differs, among);
		if (!n->failed && (c->mask & DS_INV_BIT(17)))
			ds_checked(17, n->pages);
		if (!n->failed && (c->mask & DS_INV_BIT(19)))
			ds_checked(19, n->pages);
		ds_report_scan(n, differ);
	}
	c->pause_ns = max(c->pause_ns, n->pause_ns);
	c->looks += n->looks;
	kfree(n);
}

/* ---- why a kernel or a configuration cannot have one of them ---- */

/**
 * ds_skip_classic() - I11 has nothing to look at while the MGLRU is on
 * @why: gets the reason
 * @len: room in @why, bytes
 */
bool ds_skip_classic(char *why, size_t len)
{
	if (ds_skip_layout(why, len))
		return true;
	if (!ds_mglru())
		return false;
	snprintf(why, len, "MGLRU is on: folios are on its lists (I12)");
	return true;
}

/**
 * ds_skip_gens() - I12 and I15 have nothing to look at while the MGLRU is off
 * @why: gets the reason
 * @len: room in @why, bytes
 */
bool ds_skip_gens(char *why, size_t len)
{
	if (ds_skip_layout(why, len))
		return true;
	if (ds_mglru())
		return false;
	snprintf(why, len, "MGLRU is off: folios are on the classic lists (I11)");
	return true;
}

/**
 * ds_skip_no_memcg() - I14 compares counters that memory cgroups bring
 * @why: gets the reason
 * @len: room in @why, bytes
 */
bool ds_skip_no_memcg(char *why, size_t len)
{
	if (ds_skip_layout(why, len))
		return true;
	if (!mem_cgroup_disabled())
		return false;
	snprintf(why, len, "memory cgroups are disabled: there is no lru_zone_size");
	return true;
}

/**
 * ds_skip_owner() - I13 wants a kernel with memory cgroups, used or not
 * @why: gets the reason
 * @len: room in @why, bytes
 */
bool ds_skip_owner(char *why, size_t len)
{
	if (ds_skip_layout(why, len))
		return true;
	if (IS_ENABLED(CONFIG_MEMCG))
		return false;
	snprintf(why, len, "this kernel has no memory cgroups");
	return true;
}
