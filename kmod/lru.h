/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks of LRU lists: what the checks at rest (invariant_lru.c) and those while
 * the load runs (online.c) share.  What is wrong with a folio is decided in
 * invariant_lru.c alone.
 */
#ifndef DS_LRU_H
#define DS_LRU_H

#include <linux/memcontrol.h>
#include <linux/mmzone.h>

#include "drainstress.h"

#define DS_LRU_SUSPECTS	32	/* that one check follows up */
#define DS_WALK_PIECE	4096	/* folios after which a pause takes no more lruvecs */

#ifdef CONFIG_LRU_GEN
#define DS_GENS		MAX_NR_GENS
#else
#define DS_GENS		0
#endif

/* Which list: an enum lru_list, or beyond those one of the MGLRU's. */
#define DS_GEN_LIST(gen, type, zone) \
	(NR_LRU_LISTS + ((gen) * 2 + (type)) * MAX_NR_ZONES + (zone))

/* One lruvec, and whose it is. */
struct ds_lruvec {
	struct lruvec *lruvec;
	int nid;
	struct mem_cgroup *memcg;	/* NULL: memory cgroups are disabled */
};

enum ds_wrong {
	DS_WRONG_LINK,		/* does not lead to a page, or not back */
	DS_WRONG_NO_LRU,	/* on a list without PG_lru */
	DS_WRONG_NO_REFS,
	DS_WRONG_LIST,		/* its flags name another list */
	DS_WRONG_OWNER,		/* node or memory cgroup */
	DS_WRONG_SIZE,		/* the count is not the sum */
};

struct ds_suspect {
	unsigned int invariant;
	enum ds_wrong wrong;
	unsigned int target;
	unsigned int list;
	unsigned int zone;
	bool seen;		/* in the look at hand */
	long expected, found;
	struct ds_slot folio;
};

struct ds_walk {
	u64 mask;		/* DS_INV_BIT of what is judged */
	u64 cgroup;		/* of this one's lruvecs only; 0: of all */
	struct ds_lruvec *targets;
	unsigned int nr_targets, max_targets;
	unsigned int next, end;	/* targets of the pause at hand */
	bool again;		/* follows up suspects: finds no new ones */
	struct ds_suspect suspects[DS_LRU_SUSPECTS];
	unsigned int nr_suspects;
	unsigned long folios;	/* looked at in this pause */
	u64 checked[16];	/* by invariant */
	u64 all_folios;		/* in all pauses */
	u64 pause_ns;		/* the longest */
	u64 walk_ns;		/* all pauses */
	unsigned int looks;	/* that followed up suspects */
	/* sums of the lruvec at hand */
	long classic[NR_LRU_LISTS][MAX_NR_ZONES];
	long gens[2][MAX_NR_ZONES];
	bool whole;		/* no list of it was broken off */
};

int ds_each_lruvec(int nid, int (*fn)(struct ds_lruvec *l, void *arg), void *arg);
bool ds_get_lruvec(const struct ds_lruvec *l);
void ds_put_lruvec(const struct ds_lruvec *l);
void ds_judge(struct ds_walk *w, unsigned int list, struct page *page);
bool ds_walk_step(struct ds_walk *w, unsigned int list, struct list_head *entry,
		  struct list_head *before, bool back);
void ds_bad_link(struct ds_walk *w, unsigned int list, struct list_head *head,
		 struct list_head *before);
void ds_follow_up(struct ds_walk *w);
void ds_report_suspects(struct ds_walk *w);
u64 ds_lists_mask(u64 asked);

#endif /* DS_LRU_H */
