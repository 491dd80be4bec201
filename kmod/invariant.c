// SPDX-License-Identifier: GPL-2.0-only
/*
 * invariants[]: one row an invariant, and the checks that look at a snapshot.
 * Ids, titles and reasons stand in the shared header; checks that first make a
 * situation of their own are in probe.c.  A new invariant is one line in the
 * header, one row here and its function.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "drainstress.h"

/*
 * When a LOOK invariant looks again, in ms after the look before.  Compaction
 * may hold an isolated folio, with a reference more and PG_lru clear, from
 * isolate_migratepages_block() to putback_movable_pages() (mm/compaction.c,
 * mm/migrate.c).  In between migrate_pages() waits for the lock and the writeback
 * of each of up to 32 others, when it was asked for by compact_memory: seconds
 * where writeback is slow.  Hence the long waits at the end.
 */
static const unsigned int ds_look_ms[] = { 2, 20, 100, 400, 1600, 6400 };
#define DS_LOOKS	(1 + (unsigned int)ARRAY_SIZE(ds_look_ms))
/* Nothing takes a reference of somebody else's for a while. */
#define DS_FEW_LOOKS	4
/* Suspects that one check follows up. */
#define DS_MAX_SUSPECTS	4

static u64 ds_rounds;

/* Entries of these kinds are folios that are on no list yet. */
static bool ds_is_adding(const struct ds_slot *s)
{
	return s->kind == DS_BATCH_LRU_ADD ||
	       (s->kind == DS_BATCH_MLOCK && s->tag == 2);
}

static bool ds_has_lru(const struct ds_slot *s)
{
	return s->flags & BIT(PG_lru);
}

/* The first entry of @pfn in the sorted slots; @snap->nr_slots: none. */
static unsigned int ds_first(const struct ds_snapshot *snap, unsigned long pfn)
{
	unsigned int lo = 0, hi = snap->nr_slots;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (snap->slots[mid].pfn < pfn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < snap->nr_slots && snap->slots[lo].pfn == pfn ?
		lo : snap->nr_slots;
}

/**
 * ds_patience() - waits between two looks at what looks wrong
 * @ms: for so long; for a twentieth while a planted fault stands, which is there
 *	however long one waits
 *
 * Return: false when there is no time any more, because this thread has to end or
 * the owner of the run has gone: then nothing may be reported.
 * Context: process.
 */
bool ds_patience(unsigned int ms)
{
	unsigned int part;

	ds_plant_second_look();
	if (READ_ONCE(ds_plant_armed))
		ms = DIV_ROUND_UP(ms, 20);
	for (; ms && !kthread_should_stop() && !ds_abandoned(); ms -= part) {
		part = min(ms, 100U);
		msleep(part);
	}
	return !kthread_should_stop() && !ds_abandoned();
}

#define for_each_slot_of(snap, i, number)				\
	for (i = ds_first(snap, number);				\
	     i < (snap)->nr_slots && (snap)->slots[i].pfn == (number); i++)

/*
 * Follows up a suspect: true when the folio looks wrong in every further look
 * too.  Nothing is drained in between.
 */
static bool ds_confirm(struct ds_check *c, unsigned int looks, unsigned long pfn,
		       bool (*wrong)(const struct ds_snapshot *snap,
				     unsigned long pfn))
{
	unsigned int i;

	for (i = 0; i < looks - 1; i++) {
		if (!ds_patience(ds_look_ms[i]))
			return false;
		c->looks++;
		if (ds_snapshot_take(c->again))
			return false;
		c->pause_ns = max(c->pause_ns, c->again->pause_ns);
		if (!wrong(c->again, pfn))
			return false;
	}
	return true;
}

static void ds_examine_i1(struct ds_check *c)
{
	unsigned int kind;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
			unsigned int nr = c->snap->batches[cpu][kind].nr;

			if (!ds_layout_proven(kind) ||
			    !ds_snapshot_has(c->snap, cpu, kind))
				continue;
			ds_checked(1, 1);
			if (nr > DS_BATCH_SIZE - 1) {
				ds_violate(1, NULL, cpu,
					   "batch %s: expected nr <= %d, found %u",
					   ds_batch_name[kind],
					   DS_BATCH_SIZE - 1, nr);
			}
		}
	}
}

static void ds_examine_i2(struct ds_check *c)
{
	unsigned int i;

	for (i = 0; i < c->snap->nr_slots; i++) {
		struct ds_slot *s = &c->snap->slots[i];

		ds_checked(2, 1);
		if (s->unfit) {
			ds_violate(2, s, s->cpu,
				   "expected an order-0 page for the LRU, found %s (entry %px)",
				   s->unfit, s->folio);
		}
	}
}

/* PG_lru is clear although the folio stands in no batch that would set it. */
static bool ds_lost_lru(const struct ds_snapshot *snap, unsigned long pfn)
{
	bool queued = false;
	unsigned int i;

	for_each_slot_of(snap, i, pfn) {
		const struct ds_slot *s = &snap->slots[i];

		if (ds_has_lru(s) || ds_is_adding(s))
			return false;
		queued |= s->own_refs != 0;
	}
	return queued;
}

static bool ds_needs_lru(const struct ds_slot *s)
{
	if (s->kind == DS_BATCH_MLOCK)
		return false;
	/* deactivate_file_folio() began to test PG_lru in 6.12. */
	if (s->kind == DS_BATCH_DEACTIVATE_FILE)
		return LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0);
	return true;
}

/*
 * Entries whose folio has lost PG_lru.  They take long looks too, and a list that has
 * such a folio tells more (I11), so that comes first; what drains comes later.
 */
static void ds_examine_lost(struct ds_check *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_lost && !ds_abandoned(); i++) {
		const struct ds_slot *s = &c->lost[i];

		if (ds_confirm(c, DS_LOOKS, s->pfn, ds_lost_lru)) {
			ds_violate(3, s, s->cpu,
				   "expected PG_lru set in batch %s, found it clear in %u looks, in no batch that sets it",
				   ds_batch_name[s->kind], DS_LOOKS);
		}
	}
}

static void ds_examine_i3(struct ds_check *c)
{
	unsigned int i;

	for (i = 0; i < c->snap->nr_slots; i++) {
		struct ds_slot *s = &c->snap->slots[i];

		if (s->unfit)
			continue;
		if (ds_is_adding(s)) {
			ds_checked(3, 1);
			if (ds_has_lru(s)) {
				ds_violate(3, s, s->cpu,
					   "expected PG_lru clear in batch %s, found it set",
					   ds_batch_name[s->kind]);
			}
		} else if (s->own_refs && ds_needs_lru(s) && !c->snap->part) {
			/* The batch that would set it is part of the picture. */
			ds_checked(3, 1);
			if (c->nr_lost < DS_LATE_SUSPECTS &&
			    ds_lost_lru(c->snap, s->pfn))
				c->lost[c->nr_lost++] = *s;
		}
	}
}

static void ds_examine_i4(struct ds_check *c)
{
	struct ds_slot *before = NULL;
	unsigned int i;

	for (i = 0; i < c->snap->nr_slots; i++) {
		struct ds_slot *s = &c->snap->slots[i];

		if (s->unfit || !ds_is_adding(s))
			continue;
		ds_checked(4, 1);
		if (before && before->pfn == s->pfn) {
			ds_violate(4, s, s->cpu,
				   "expected one entry, found a second in batch %s of CPU %u, slot %u",
				   ds_batch_name[before->kind], before->cpu,
				   before->slot);
		}
		before = s;
	}
}

/*
 * The references that an own folio must have.  shrink_folio_list() (mm/vmscan.c)
 * puts an anonymous one into the swap cache, which holds one too, before it finds
 * that it cannot free it.
 */
static int ds_own_refs(const struct ds_own_state *o)
{
	unsigned long swapcache = BIT(PG_swapcache) | BIT(PG_swapbacked);
	int refs = o->slot.own_refs + o->entries;

	if ((o->slot.mapping & PAGE_MAPPING_ANON) &&
	    (o->slot.flags & swapcache) == swapcache)
		refs++;
	return refs;
}

static bool ds_own_refs_wrong(const struct ds_snapshot *snap, unsigned long pfn)
{
	unsigned int i;

	for (i = 0; i < snap->nr_own; i++) {
		const struct ds_own_state *o = &snap->own[i];

		if (o->slot.pfn == pfn)
			return o->slot.refcount != ds_own_refs(o);
	}
	return false;
}

static void ds_follow_own(struct ds_check *c, const struct ds_own_state *o)
{
	unsigned int looks = o->slot.refcount < ds_own_refs(o) ?
			     DS_FEW_LOOKS : DS_LOOKS;

	if (!ds_confirm(c, looks, o->slot.pfn, ds_own_refs_wrong))
		return;
	ds_violate(5, &o->slot, -1,
		   "own folio: expected %d references (%u known, %u batch entries), found %d in the first of %u looks",
		   ds_own_refs(o), o->slot.own_refs, o->entries,
		   o->slot.refcount, looks);
}

static void ds_examine_i5(struct ds_check *c)
{
	unsigned int i, j, suspects = 0;

	for (i = 0; i < c->snap->nr_slots; i = j) {
		struct ds_slot *s = &c->snap->slots[i];

		for (j = i; j < c->snap->nr_slots; j++) {
			if (c->snap->slots[j].pfn != s->pfn)
				break;
		}
		if (s->unfit)
			continue;
		ds_checked(5, 1);
		if (s->refcount < (int)(j - i)) {
			ds_violate(5, s, s->cpu,
				   "expected at least %u references for as many entries, found %d",
				   j - i, s->refcount);
		}
	}
	for (i = 0; i < c->snap->nr_own; i++) {
		struct ds_own_state *o = &c->snap->own[i];
		int expected = ds_own_refs(o);

		ds_checked(5, 1);
		if (o->slot.refcount > expected) {
			if (c->nr_late < DS_LATE_SUSPECTS)
				c->late[c->nr_late++] = *o;
		} else if (o->slot.refcount < expected &&
			   suspects++ < DS_MAX_SUSPECTS) {
			ds_follow_own(c, o);
		}
	}
}

/*
 * Own folios with a reference too many.  Isolation is one, so this is the suspect
 * that takes the longest looks, and no drain can clear it: entries and their
 * references go together.  So it waits until all else has been checked.
 */
static void ds_examine_late(struct ds_check *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_late && !ds_abandoned(); i++)
		ds_follow_own(c, &c->late[i]);
}

static void ds_examine_i6(struct ds_check *c)
{
	unsigned int i;

	for (i = 0; i < c->snap->nr_slots; i++) {
		struct ds_slot *s = &c->snap->slots[i];

		ds_checked(6, 1);
		if (s->free) {
			ds_violate(6, s, s->cpu,
				   "expected a page in use in batch %s, found a free one",
				   ds_batch_name[s->kind]);
		}
	}
}

/**
 * ds_examine_batches() - all that can be said of a picture of a few batches
 * @c: a check with such a picture
 *
 * Context: process, may sleep.
 */
void ds_examine_batches(struct ds_check *c)
{
	ds_examine_i1(c);
	ds_examine_i2(c);
	ds_examine_i3(c);
	ds_examine_i4(c);
	ds_examine_i5(c);
	ds_examine_i6(c);
}

/* Batches cannot be read, or not at rest. */
bool ds_skip_layout(char *why, size_t len)
{
	const char *reason = ds_layout_reason();

	if (reason)
		snprintf(why, len, "batches are not touched: %s", reason);
	return reason;
}

bool ds_skip_probes(char *why, size_t len)
{
	unsigned int entry;

	if (!ds_usage_armed() && ds_state() == DS_RUNNING) {
		snprintf(why, len, "the accounting probes are off in this run");
		return true;
	}
	if (!ds_usage_counts_drains()) {
		snprintf(why, len, "the drain or the release function cannot be probed");
		return true;
	}
	for (entry = 0; entry < DS_NR_ENTRIES; entry++) {
		if (ds_usage_calibrated(entry))
			return false;
	}
	snprintf(why, len, "no usage entry point can be probed");
	return true;
}

#define DS_NEEDS(a) BIT_ULL(DS_SYM_##a)
#define DS_NEEDS_MLOCK							\
	(DS_NEEDS(mlock_folio) | DS_NEEDS(munlock_folio) |		\
	 DS_NEEDS(lru_add_drain_all))
#define DS_TITLE(number, retry, title, why, exceptions, code) [number] = title,

static const char *const ds_titles[] = {
	DS_INVARIANTS(DS_TITLE)
};

const struct ds_invariant ds_invariants[] = {
	{ .id = 1, .skip = ds_skip_layout, .examine = ds_examine_i1 },
	{ .id = 2, .skip = ds_skip_layout, .examine = ds_examine_i2,
	  .probe = ds_probe_i2 },
	{ .id = 3, .skip = ds_skip_layout, .examine = ds_examine_i3,
	  .probe = ds_probe_i3 },
	{ .id = 4, .skip = ds_skip_layout, .examine = ds_examine_i4 },
	{ .id = 5, .skip = ds_skip_layout, .examine = ds_examine_i5 },
	{ .id = 6, .skip = ds_skip_layout, .examine = ds_examine_i6 },
	{ .id = 7, .skip = ds_skip_layout, .probe = ds_probe_i7,
	  .needs = DS_NEEDS(lru_add_drain) },
	{ .id = 8, .skip = ds_skip_layout, .probe = ds_probe_i8,
	  .needs = DS_NEEDS(lru_add_drain_all) },
	{ .id = 9, .skip = ds_skip_layout, .probe = ds_probe_i9,
	  .needs = DS_NEEDS(lru_cache_disable) | DS_NEEDS(lru_disable_count) },
	{ .id = 10, .skip = ds_skip_layout, .examine = ds_examine_i10,
	  .needs = DS_NEEDS(lru_disable_count) },
	{ .id = 11, .skip = ds_skip_classic, .examine = ds_examine_lists },
	{ .id = 12, .skip = ds_skip_gens, .examine = ds_examine_lists },
	{ .id = 13, .skip = ds_skip_owner, .examine = ds_examine_lists },
	{ .id = 14, .skip = ds_skip_no_memcg, .examine = ds_examine_lists },
	{ .id = 15, .skip = ds_skip_gens, .examine = ds_examine_lists },
	{ .id = 16, .skip = ds_skip_layout, .probe = ds_probe_i16,
	  .needs = DS_NEEDS(lru_add_drain_all) },
	{ .id = 17, .skip = ds_skip_layout, .probe = ds_probe_scan,
	  .needs = DS_NEEDS(lru_add_drain_all) },
	{ .id = 18, .skip = ds_skip_events, .examine = ds_examine_i18 },
	{ .id = 19, .skip = ds_skip_layout, .probe = ds_probe_scan,
	  .needs = DS_NEEDS(lru_add_drain_all) },
	{ .id = 20, .skip = ds_skip_layout, .probe = ds_probe_i20,
	  .needs = DS_NEEDS_MLOCK },
	{ .id = 21, .skip = ds_skip_layout, .probe = ds_probe_i21,
	  .needs = DS_NEEDS_MLOCK },
	{ .id = 22, .skip = ds_skip_probes },
	{ .id = 23, .skip = ds_skip_layout, .probe = ds_probe_i23 },
	/* A reference that is lost for good is I25's, so that goes first. */
	{ .id = 25, .skip = ds_skip_layout, .probe = ds_probe_i25,
	  .needs = DS_NEEDS(lru_add_drain_all) },
	{ .id = 24, .skip = ds_skip_layout, .probe = ds_probe_i24 },
	{ .id = 26, .skip = ds_skip_events, .probe = ds_probe_i26,
	  .needs = DS_NEEDS(folio_rotate_reclaimable) },
	{ .id = 27, .skip = ds_skip_events, .probe = ds_probe_i27,
	  .needs = DS_NEEDS(folio_mark_lazyfree) },
	{ .id = 28, .skip = ds_skip_events, .probe = ds_probe_i28,
	  .needs = DS_NEEDS(folio_activate) | DS_NEEDS(folio_deactivate) },
	{ .id = 29, .skip = ds_skip_memcg, .probe = ds_probe_i29,
	  .needs = DS_NEEDS(lru_add_drain_all) },
	{ .id = 30, .skip = ds_skip_offline, .examine = ds_examine_i30 },
	{ .id = 32, .skip = ds_skip_layout },
	{ .id = 33, .skip = ds_skip_pin, .probe = ds_probe_i33,
	  .needs = DS_NEEDS(lru_add_drain_all) | DS_NEEDS(mm_alloc) |
		   DS_NEEDS(arch_pick_mmap_layout) },
};

const unsigned int ds_nr_invariants = ARRAY_SIZE(ds_invariants);

const char *ds_invariant_title(unsigned int id)
{
	return id < ARRAY_SIZE(ds_titles) ? ds_titles[id] : NULL;
}

/**
 * ds_invariant_available() - whether this kernel can have @inv checked
 * @inv: a row of the table
 * @len: room in @why, bytes
 * @why: gets the reason when not
 */
bool ds_invariant_available(const struct ds_invariant *inv, char *why,
			    size_t len)
{
	return ds_needs_met(inv->needs, why, len) &&
	       (!inv->skip || !inv->skip(why, len));
}

/**
 * ds_check_run() - one check at rest
 * @c: zeroed but for @mask, the invariants to check, and @cgroup; the rest is
 *	filled in
 *
 * The race rests meanwhile; the load goes on.  First everything that only looks,
 * then what makes a situation and drains.  Return: 0 or a negative errno;
 * -ENOENT when the memory cgroup is not there any more.  Context: the ordered
 * work queue.
 */
int ds_check_run(struct ds_check *c)
{
	char why[DS_REASON_LEN];
	unsigned int i;
	int err = -ENOMEM;

	if (ds_layout_reason())
		return -EOPNOTSUPP;
	c->round = ds_rounds++;
	err = ds_stocks_get();
	if (err)
		return err;
	err = -ENOMEM;
	c->snap = ds_snapshot_alloc();
	c->again = ds_snapshot_alloc();
	if (!c->snap || !c->again)
		goto out;
	ds_race_pause();
	ds_online_pause();
	ds_ring_put(DS_DID_CHECK, 0, 1, 0, DS_ON_ALL);
	c->snap->plant = true;
	c->again->plant = true;
	err = ds_snapshot_take(c->snap);
	if (err)
		goto resume;
	c->pause_ns = c->snap->pause_ns;
	for (i = 0; i < ds_nr_invariants && !ds_abandoned(); i++) {
		const struct ds_invariant *inv = &ds_invariants[i];

		if ((c->mask & DS_INV_BIT(inv->id)) && inv->examine &&
		    ds_invariant_available(inv, why, sizeof(why)))
			inv->examine(c);
	}
	ds_examine_lost(c);
	c->again->plant = false;
	for (i = 0; i < ds_nr_invariants && !ds_abandoned(); i++) {
		const struct ds_invariant *inv = &ds_invariants[i];

		if (!(c->mask & DS_INV_BIT(inv->id)) || !inv->probe ||
		    !ds_invariant_available(inv, why, sizeof(why)))
			continue;
		ds_ring_put(DS_DID_PROBE, inv->id, 0, 0, DS_ON_ALL);
		inv->probe(c);
	}
	c->again->plant = true;
	ds_examine_late(c);
	if (c->gone)
		err = -ENOENT;
	if (ds_abandoned())
		err = -ECANCELED;
resume:
	ds_ring_put(DS_DID_CHECK, 0, 0, 0, DS_ON_ALL);
	ds_online_resume();
	ds_race_resume();
out:
	ds_snapshot_free(c->again);
	ds_snapshot_free(c->snap);
	c->again = NULL;
	c->snap = NULL;
	return err;
}
