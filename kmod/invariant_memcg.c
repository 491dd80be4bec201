// SPDX-License-Identifier: GPL-2.0-only
/*
 * I29: a memory cgroup of which every page is known.  The controller makes it,
 * nobody is in it, and only tmpfs files of this file's own are charged to it, so
 * its lruvecs must count and list exactly their pages, and nothing once they are
 * gone.  Other memory cgroups are walked in invariant_lru.c, not here.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/sched/mm.h>
#include <linux/stop_machine.h>

#include "drainstress.h"

static const char ds_none_given[] =
	"the run was given no memory cgroup of its own";

/* Why there is none, or NULL. */
static const char *ds_memcg_missing = ds_none_given;

/**
 * ds_skip_memcg() - I29 wants a memory cgroup of its own
 * @why: gets the reason
 * @len: room in @why, bytes
 */
bool ds_skip_memcg(char *why, size_t len)
{
	const char *missing = READ_ONCE(ds_memcg_missing);

	if (ds_skip_layout(why, len))
		return true;
	if (missing)
		snprintf(why, len, "%s", missing);
	return missing;
}

#ifdef CONFIG_MEMCG

#define DS_MEMCG_FOLIOS	(3 * DS_BATCH_SIZE)	/* on each of two CPUs */

/*
 * When a lruvec that is not as it should be is looked at again, after a
 * drain-all, in ms after the look before.  Compaction isolates a folio and holds
 * it across sleeps (isolate_migratepages_block(), mm/compaction.c).
 */
static const unsigned int ds_relook_ms[] = { 2, 20, 100, 400, 400, 400, 400 };
#define DS_MEMCG_LOOKS	(1 + (unsigned int)ARRAY_SIZE(ds_relook_ms))

static struct mem_cgroup *ds_memcg;	/* the run's; a reference is held */

/* The memory controller's state of group @id, with a reference, or NULL. */
static struct cgroup_subsys_state *ds_memcg_css(u64 id)
{
	struct cgroup *cgroup = cgroup_get_from_id(id);
	struct cgroup_subsys_state *css;

	if (IS_ERR(cgroup))
		return NULL;
	rcu_read_lock();
	/* Of the group itself: one that it has inherited is not its own. */
	css = rcu_dereference(cgroup->subsys[memory_cgrp_id]);
	if (css && !css_tryget_online(css))
		css = NULL;
	rcu_read_unlock();
	cgroup_put(cgroup);
	return css;
}

/**
 * ds_memcg_find() - is there such a group, with a memory controller of its own?
 * @id: a cgroup's id, as seen from the cgroup namespace of the sender
 *
 * Return: NULL, or why not.  Context: process, may sleep.
 */
const char *ds_memcg_find(u64 id)
{
	struct cgroup_subsys_state *css;

	if (mem_cgroup_disabled())
		return "CGROUP: memory cgroups are disabled";
	css = ds_memcg_css(id);
	if (!css)
		return "CGROUP: no such cgroup v2, or without the memory controller";
	css_put(css);
	return NULL;
}

/**
 * ds_memcg_start() - the memory cgroup of the run that begins, and of its owner
 * @id: its cgroup's id, 0: there is none
 *
 * Context: the ordered work queue.
 */
void ds_memcg_start(u64 id)
{
	struct cgroup_subsys_state *css = NULL;

	ds_memcg_stop();
	if (id)
		css = ds_memcg_css(id);
	if (css)
		ds_memcg = mem_cgroup_from_css(css);
	WRITE_ONCE(ds_memcg_missing, ds_memcg ? NULL :
		   mem_cgroup_disabled() ? "memory cgroups are disabled" :
		   id ? "the run's memory cgroup has gone" : ds_none_given);
}

/*
 * The owner has gone: until then there may be a check after the end of the run.
 * The cgroup can be removed at any time.  Context: likewise.
 */
void ds_memcg_stop(void)
{
	if (ds_memcg)
		css_put(&ds_memcg->css);
	ds_memcg = NULL;
	WRITE_ONCE(ds_memcg_missing, ds_none_given);
}

/* What all lruvecs of the memory cgroup hold at one moment. */
struct ds_holds {
	long pages;		/* as counted */
	long listed;		/* folios on lists, as far as they were walked */
	bool any;		/* some count or list is not empty: the first */
	char what[64];
	long found;
	u64 pause_ns;
};

static void ds_found(struct ds_holds *h, long found, const char *what, int nid,
		     unsigned int list, unsigned int zone)
{
	if (!found || h->any)
		return;
	h->any = true;
	h->found = found;
	snprintf(h->what, sizeof(h->what), "%s %u zone %u of node %d", what,
		 list, zone, nid);
}

/* One more than there can be is enough to know. */
static long ds_length(struct list_head *head)
{
	struct list_head *entry;
	long n = 0;

	list_for_each(entry, head) {
		if (++n > 2 * DS_MEMCG_FOLIOS)
			break;
	}
	return n;
}

/* Generations may drift one by one (I15), so they count together. */
static void ds_look_gens(struct ds_holds *h, struct lruvec *lruvec, int nid,
			 unsigned int zone)
{
#ifdef CONFIG_LRU_GEN
	unsigned int gen, type;
	long pages, listed;

	for (type = 0; type < ANON_AND_FILE; type++) {
		pages = 0;
		listed = 0;
		for (gen = 0; gen < MAX_NR_GENS; gen++) {
			pages += lruvec->lrugen.nr_pages[gen][type][zone];
			listed += ds_length(&lruvec->lrugen.folios[gen][type][zone]);
		}
		h->pages += pages;
		h->listed += listed;
		ds_found(h, pages, "nr_pages of type", nid, type, zone);
		ds_found(h, listed, "folios on MGLRU lists of type", nid, type,
			 zone);
	}
#endif
}

static void ds_look_node(struct ds_holds *h, int nid)
{
	struct mem_cgroup_per_node *node = ds_memcg->nodeinfo[nid];
	unsigned int zone, list;
	long listed;

	for (zone = 0; zone < MAX_NR_ZONES; zone++) {
		for (list = 0; list < NR_LRU_LISTS; list++) {
			h->pages += node->lru_zone_size[zone][list];
			ds_found(h, node->lru_zone_size[zone][list],
				 "lru_zone_size of list", nid, list, zone);
		}
		ds_look_gens(h, &node->lruvec, nid, zone);
	}
	/* LRU_UNEVICTABLE has no list. */
	for (list = 0; list < LRU_UNEVICTABLE; list++) {
		listed = ds_length(&node->lruvec.lists[list]);
		h->listed += listed;
		ds_found(h, listed, "folios on list", nid, list, 0);
	}
}

/* The planted fault: a count that is one too many. */
static void ds_plant_size(int delta)
{
	int nid = first_online_node;

	ds_memcg->nodeinfo[nid]->lru_zone_size[ZONE_NORMAL][LRU_INACTIVE_ANON] +=
		delta;
	ds_plant_done();
}

static int ds_look_stopped(void *arg)
{
	struct ds_holds *h = arg;
	bool plant = ds_plant_variant_here(29, DS_PLANT_COUNT);
	u64 start = ktime_get_ns();
	int nid;

	*h = (struct ds_holds){ };
	if (plant)
		ds_plant_size(1);
	for_each_online_node(nid)
		ds_look_node(h, nid);
	if (plant)
		ds_plant_size(-1);
	h->pause_ns = ds_latency_pause(start);
	return 0;
}

struct ds_charged {
	struct ds_stock stock;
	int err;
};

static int ds_charge_here(void *arg)
{
	struct ds_charged *charged = arg;
	struct mem_cgroup *before = set_active_memcg(ds_memcg);

	charged->err = ds_stock_make(&charged->stock, DS_MEMCG_FOLIOS, -1);
	set_active_memcg(before);
	return charged->err;
}

/**
 * ds_memcg_reclaim() - what reclaim of the run's memory cgroup does
 * @pages: to be reclaimed
 *
 * Only for those who have charged folios to it, see ds_memcg_stock().  Context:
 * process, may sleep.
 */
void ds_memcg_reclaim(unsigned long pages)
{
	ds_call(try_to_free_mem_cgroup_pages)(ds_memcg, pages, GFP_KERNEL, 0, NULL);
}

/**
 * ds_memcg_stock() - as ds_stock_make(), charged to the run's memory cgroup
 * @stock: filled in
 * @nr: folios
 *
 * Return: 0, -ENOENT when there is no such group, or another errno.  Context: the
 * ordered work queue, which starts and stops the group too.
 */
int ds_memcg_stock(struct ds_stock *stock, unsigned int nr)
{
	struct mem_cgroup *before;
	int err;

	*stock = (struct ds_stock){ };
	if (!ds_memcg || !css_tryget_online(&ds_memcg->css))
		return -ENOENT;
	before = set_active_memcg(ds_memcg);
	err = ds_stock_make(stock, nr, -1);
	set_active_memcg(before);
	css_put(&ds_memcg->css);
	return err;
}

/*
 * Drains and looks until the lruvecs hold @pages, as counts and on lists, or all
 * looks are done.  Return: whether they do.
 */
static bool ds_holds_now(struct ds_check *c, struct ds_holds *h, long pages)
{
	unsigned int look;

	for (look = 0; look < DS_MEMCG_LOOKS && !ds_abandoned(); look++) {
		if (look && !ds_patience(ds_relook_ms[look - 1]))
			return false;
		ds_drain(DS_DRAIN_ALL, -1, NULL);
		if (stop_machine(ds_look_stopped, h, NULL))
			return false;
		c->pause_ns = max(c->pause_ns, h->pause_ns);
		if (h->pages == pages && h->listed == pages &&
		    h->any == !!pages)
			return true;
	}
	return false;
}

/* The planted fault: a folio that somebody holds is still on its list. */
static struct folio *ds_plant_held(const struct ds_stock *stock)
{
	struct folio *folio;

	if (!ds_plant_variant_here(29, DS_PLANT_HELD) || !stock->nr)
		return NULL;
	folio = stock->own[0].folio;
	folio_get(folio);
	ds_plant_done();
	return folio;
}

/**
 * ds_probe_i29() - are the lruvecs of the run's memory cgroup empty, once they are?
 * @c: the check
 *
 * Full ones are looked at first, or a zero would prove nothing.  Context:
 * process, may sleep; takes the CPU hotplug lock.
 */
void ds_probe_i29(struct ds_check *c)
{
	struct ds_charged charged[2] = { };
	struct folio *held = NULL;
	struct ds_holds full = { }, empty = { };
	bool counted, gone;
	long pages = 0;
	unsigned int i;

	if (!ds_memcg || !css_tryget_online(&ds_memcg->css))
		return;
	for (i = 0; i < ARRAY_SIZE(charged); i++) {
		int cpu = cpumask_nth((c->round + i) % num_online_cpus(),
				      cpu_online_mask);

		if (cpu < nr_cpu_ids && !ds_on_cpu(cpu, ds_charge_here, &charged[i]))
			pages += charged[i].stock.nr;
	}
	counted = pages && ds_holds_now(c, &full, pages);
	held = ds_plant_held(&charged[0].stock);
	for (i = 0; i < ARRAY_SIZE(charged); i++)
		ds_stock_drop(&charged[i].stock);
	gone = ds_holds_now(c, &empty, 0);
	/* A look that cannot see the folios that are there cannot see their end. */
	if (counted || (pages && !gone))
		ds_checked(29, pages);
	if (pages && !gone && empty.any && !ds_abandoned()) {
		ds_violate(29, NULL, -1,
			   "memcg %d, its %ld pages truncated and drained: expected all counts and lists 0, found %s: %ld (%u looks)",
			   ds_memcg->css.id, pages, empty.what, empty.found,
			   DS_MEMCG_LOOKS);
	}
	if (held)
		folio_put(held);
	css_put(&ds_memcg->css);
}

#else

const char *ds_memcg_find(u64 id)
{
	return "CGROUP: this kernel has no memory cgroups";
}

void ds_memcg_start(u64 id)
{
	WRITE_ONCE(ds_memcg_missing, "this kernel has no memory cgroups");
}

void ds_memcg_stop(void) { }
void ds_memcg_reclaim(unsigned long pages) { }
int ds_memcg_stock(struct ds_stock *stock, unsigned int nr) { return -ENOENT; }
void ds_probe_i29(struct ds_check *c) { }

#endif /* CONFIG_MEMCG */
