// SPDX-License-Identifier: GPL-2.0-only
/*
 * batch_kinds[]: how a folio gets into each per-CPU batch, one row a kind.  A
 * new kind is one line in DS_BATCH_KINDS, one row here and its functions.
 * Which folio is queued when is decided by the callers.
 */
#include <linux/preempt.h>

#include "drainstress.h"

static bool ds_isolate_is_bool;

/* ---- calls that queue an own folio, counted, so that the load's can be told ---- */

/**
 * ds_queues_own() - this module is about to queue a folio of its own
 * @kind: for which batch, from 1
 *
 * Counted though the kernel may refuse it: what is left of the folios moved are
 * others' for certain.  Any context.
 */
void ds_queues_own(unsigned int kind)
{
	raw_cpu_inc(ds_stats.own[kind]);
}

/* folio_putback_lru() of an own folio */
void ds_putback(struct folio *folio)
{
	ds_queues_own(DS_BATCH_LRU_ADD);
	ds_call(folio_putback_lru)(folio);
}

/* mlock_folio() of an own folio */
void ds_mlock(struct folio *folio)
{
	ds_queues_own(DS_BATCH_MLOCK);
	ds_call(mlock_folio)(folio);
}

/* mlock_new_folio() of an own folio */
void ds_mlock_new(struct folio *folio)
{
	ds_queues_own(DS_BATCH_MLOCK);
	ds_call(mlock_new_folio)(folio);
}

/* munlock_folio() of an own folio */
void ds_munlock(struct folio *folio)
{
	ds_queues_own(DS_BATCH_MLOCK);
	ds_call(munlock_folio)(folio);
}

/* ---- isolation ---- */

/**
 * ds_isolate() - takes a folio off its LRU list, as reclaim and migration do
 * @folio: one with a reference of the caller
 *
 * Return: true when it is isolated; it then has one more reference, which
 * putting it back drops.
 */
bool ds_isolate(struct folio *folio)
{
	/* A bool is returned in the low byte only. */
	u8 ret = ds_call(folio_isolate_lru)(folio);

	return ds_isolate_is_bool ? ret : !ret;
}

/**
 * ds_learn_isolate() - finds what folio_isolate_lru() returns on this kernel
 * @folio: one of the module's own, on no list yet or on one
 *
 * Return: false when it cannot be told; then lru_add batches cannot be filled.
 * Context: process.
 */
bool ds_learn_isolate(struct folio *folio)
{
	unsigned int tries;
	bool on_lru, off_lru;
	u8 ret;

	if (!ds_has(DS_SYM_folio_isolate_lru) ||
	    !ds_has(DS_SYM_folio_putback_lru))
		return false;
	for (tries = 0; tries < 5; tries++) {
		ds_call(lru_add_drain_all)();
		preempt_disable();
		on_lru = folio_test_lru(folio);
		if (!on_lru) {
			preempt_enable();
			continue;
		}
		ret = ds_call(folio_isolate_lru)(folio);
		off_lru = !folio_test_lru(folio);
		if (off_lru)
			ds_putback(folio);
		preempt_enable();
		if (off_lru) {
			ds_isolate_is_bool = ret;
			return true;
		}
	}
	return false;
}

static bool ds_on_lru(struct folio *folio)
{
	return folio_test_lru(folio);
}

static bool ds_evictable_on_lru(struct folio *folio)
{
	return folio_test_lru(folio) && !folio_test_unevictable(folio);
}

/* Back to the LRU by the lru_add batch, as folio_putback_lru() does it. */
static void ds_queue_lru_add(struct folio *folio)
{
	if (ds_isolate(folio))
		ds_putback(folio);
}

static bool ds_ready_activate(struct folio *folio)
{
	return ds_evictable_on_lru(folio) && !folio_test_active(folio);
}

static void ds_queue_activate(struct folio *folio)
{
	ds_queues_own(DS_BATCH_ACTIVATE);
	ds_call(folio_activate)(folio);
}

static bool ds_ready_deactivate(struct folio *folio)
{
	return ds_evictable_on_lru(folio) &&
	       (folio_test_active(folio) || ds_mglru());
}

static void ds_queue_deactivate(struct folio *folio)
{
	ds_queues_own(DS_BATCH_DEACTIVATE);
	ds_call(folio_deactivate)(folio);
}

static void ds_queue_deactivate_file(struct folio *folio)
{
	ds_queues_own(DS_BATCH_DEACTIVATE_FILE);
	ds_call(deactivate_file_folio)(folio);
}

static bool ds_ready_lazyfree(struct folio *folio)
{
	return ds_evictable_on_lru(folio) && folio_test_anon(folio) &&
	       folio_test_swapbacked(folio) && !folio_test_swapcache(folio);
}

static void ds_queue_lazyfree(struct folio *folio)
{
	ds_queues_own(DS_BATCH_LAZYFREE);
	ds_call(folio_mark_lazyfree)(folio);
}

/*
 * Once moved, a lazyfree folio has lost PG_swapbacked.  It gets it back while it
 * is isolated, as reclaim does when such a folio turns out to be dirty.
 */
static void ds_prepare_lazyfree(struct folio *folio)
{
	preempt_disable();
	if (!folio_test_swapbacked(folio) && ds_isolate(folio)) {
		folio_set_swapbacked(folio);
		ds_putback(folio);
	}
	preempt_enable();
}

static bool ds_ready_rotate(struct folio *folio)
{
	return ds_evictable_on_lru(folio) && !folio_test_locked(folio) &&
	       !folio_test_dirty(folio);
}

static void ds_queue_rotate(struct folio *folio)
{
	ds_queues_own(DS_BATCH_ROTATE);
	ds_call(folio_rotate_reclaimable)(folio);
}

static bool ds_always(struct folio *folio)
{
	return true;
}

/*
 * Each mlock is taken back by the next call for the same folio.  A folio that
 * can be isolated is, with an odd place in its file, queued as a new one, the
 * way a fault in a locked mapping does.
 */
static void ds_queue_mlock(struct folio *folio)
{
	if (folio_test_mlocked(folio)) {
		ds_munlock(folio);
	} else if ((folio->index & 1) && ds_has(DS_SYM_mlock_new_folio) &&
		   ds_isolate(folio)) {
		/* A new folio is not active; mlock_new_folio() relies on that. */
		folio_clear_active(folio);
		ds_mlock_new(folio);
		folio_put(folio);
	} else {
		ds_mlock(folio);
	}
}

#define DS_BATCH_NAME(sym, name, title)	[DS_BATCH_##sym] = name,
#define DS_BATCH_TITLE(sym, name, title) [DS_BATCH_##sym] = title,

const char *const ds_batch_name[__DS_BATCH_MAX] = {
	DS_BATCH_KINDS(DS_BATCH_NAME)
};

const char *const ds_batch_title[__DS_BATCH_MAX] = {
	DS_BATCH_KINDS(DS_BATCH_TITLE)
};

#define DS_NEEDS1(a)		BIT_ULL(DS_SYM_##a)
#define DS_NEEDS2(a, b)		(DS_NEEDS1(a) | DS_NEEDS1(b))

const struct ds_batch_kind ds_batch_kinds[__DS_BATCH_MAX] = {
	[DS_BATCH_LRU_ADD] = {
		.needs = DS_NEEDS2(folio_isolate_lru, folio_putback_lru),
		.foreign = true,
		.ready = ds_on_lru,
		.queue = ds_queue_lru_add,
	},
	[DS_BATCH_ACTIVATE] = {
		.needs = DS_NEEDS1(folio_activate),
		.foreign = true,
		.ready = ds_ready_activate,
		.queue = ds_queue_activate,
		.prepare = ds_queue_deactivate,
	},
	[DS_BATCH_DEACTIVATE] = {
		.needs = DS_NEEDS1(folio_deactivate),
		.foreign = true,
		.ready = ds_ready_deactivate,
		.queue = ds_queue_deactivate,
		.prepare = ds_queue_activate,
	},
	[DS_BATCH_DEACTIVATE_FILE] = {
		.needs = DS_NEEDS1(deactivate_file_folio),
		.foreign = true,
		.ready = ds_evictable_on_lru,
		.queue = ds_queue_deactivate_file,
	},
	[DS_BATCH_LAZYFREE] = {
		.needs = DS_NEEDS2(folio_mark_lazyfree, folio_isolate_lru),
		.anon = true,
		.ready = ds_ready_lazyfree,
		.queue = ds_queue_lazyfree,
		.prepare = ds_prepare_lazyfree,
	},
	[DS_BATCH_ROTATE] = {
		.needs = DS_NEEDS1(folio_rotate_reclaimable),
		.foreign = true,
		.ready = ds_ready_rotate,
		.queue = ds_queue_rotate,
	},
	[DS_BATCH_MLOCK] = {
		.needs = DS_NEEDS2(mlock_folio, munlock_folio),
		.ready = ds_always,
		.queue = ds_queue_mlock,
	},
};

/* Whether the functions that fill @kind are there. */
bool ds_batch_callable(unsigned int kind, char *why, size_t len)
{
	return ds_needs_met(ds_batch_kinds[kind].needs, why, len);
}

/**
 * ds_batch_available() - whether @kind may be filled
 * @kind: batch kind, from 1
 * @len: room in @why, bytes
 * @why: gets the reason when not
 */
bool ds_batch_available(unsigned int kind, char *why, size_t len)
{
	if (!ds_batch_callable(kind, why, len))
		return false;
	if (ds_skip_layout(why, len))
		return false;
	if (!ds_layout_proven(kind))
		snprintf(why, len, "no folio for it could be had when the module was loaded");
	return ds_layout_proven(kind);
}

/**
 * ds_queue() - queues one own folio for @kind on this CPU
 * @kind: batch kind, from 1
 * @folio: an own one of the sort that the kind takes
 *
 * What became of it is read from the batch, not assumed: the kernel may refuse
 * the folio, and a full batch or a disabled cache is moved at once.
 * Context: preemption off.
 */
enum ds_queued ds_queue(unsigned int kind, struct folio *folio)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[kind];
	struct folio_batch *fbatch = ds_batch(kind, smp_processor_id());
	unsigned int before, after;

	if (!row->ready(folio))
		return DS_REFUSED;
	before = READ_ONCE(fbatch->nr);
	row->queue(folio);
	after = READ_ONCE(fbatch->nr);
	if (after > before)
		return DS_QUEUED;
	if (before == DS_BATCH_SIZE - 1 || ds_lru_disabled())
		return DS_FLUSHED;
	return DS_REFUSED;
}

/*
 * An entry holds a reference beyond those of the owner, and whatever others do to the
 * folio only adds some.  With interrupts off nothing takes the entry away meanwhile.
 */
static void ds_check_queued(unsigned int kind, const struct ds_own *own)
{
	struct ds_slot s = { };
	struct folio_batch *fbatch;
	unsigned long flags, last;

	if (own->cpu < 0)
		return;
	local_irq_save(flags);
	fbatch = ds_batch(kind, smp_processor_id());
	last = fbatch->nr ? (unsigned long)fbatch->folios[fbatch->nr - 1] : 0;
	if ((last & ~3UL) == (unsigned long)own->folio &&
	    folio_ref_count(own->folio) <= own->refs) {
		ds_picture(&s, folio_page(own->folio, 0));
		s.kind = kind;
		s.cpu = smp_processor_id();
		s.slot = fbatch->nr - 1;
	}
	local_irq_restore(flags);
	if (s.kind) {
		ds_violate(5, &s, s.cpu,
			   "own folio queued in batch %s: expected more than the %u references of its owner, found %d",
			   ds_batch_name[kind], own->refs, s.refcount);
	}
}

/**
 * ds_fill() - queues up to @n folios of @stock for @kind on this CPU
 * @kind: batch kind, from 1
 * @stock: own folios of the sort that the kind takes
 * @n: folios wanted
 * @start: where in the stock to begin looking for folios that are ready
 *
 * Return: folios queued.  Context: any, preemption is off only meanwhile.
 */
unsigned int ds_fill(unsigned int kind, struct ds_stock *stock, unsigned int n,
		     unsigned int start)
{
	unsigned int i, pos, done = 0;

	if (!stock->nr)
		return 0;
	pos = start % stock->nr;
	preempt_disable();
	for (i = 0; i < stock->nr && done < n; i++) {
		enum ds_queued queued = ds_queue(kind, stock->own[pos].folio);

		if (queued != DS_REFUSED)
			done++;
		if (queued == DS_QUEUED)
			ds_check_queued(kind, &stock->own[pos]);
		if (++pos == stock->nr)
			pos = 0;
	}
	__this_cpu_add(ds_stats.fill[kind], done);
	ds_ring_put(DS_DID_FILL, kind, done, n, stock->own[0].cpu);
	preempt_enable();
	return done;
}

/**
 * ds_fill_exact() - leaves exactly @n folios of @stock in the batch of @kind
 * @kind: batch kind, from 1
 * @stock: own folios of the sort that the kind takes
 * @n: 1 .. batch size - 1
 *
 * Drains this CPU, brings folios into the state that @kind takes, drains again
 * and fills.  Return: folios in the batch afterwards that are ours, fewer when
 * the stock does not have enough that are fit.  Context: process, bound to a
 * CPU; another task on it may drain them again as soon as this returns.
 */
unsigned int ds_fill_exact(unsigned int kind, struct ds_stock *stock,
			   unsigned int n)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[kind];
	unsigned int i, ready = 0, done = 0;

	ds_call(lru_add_drain)();
	for (i = 0; i < stock->nr && ready < n; i++) {
		struct folio *folio = stock->own[i].folio;

		if (kind != DS_BATCH_MLOCK && folio_test_mlocked(folio))
			ds_munlock(folio);
		if (row->prepare && !row->ready(folio))
			row->prepare(folio);
		ready++;
	}
	preempt_disable();
	ds_call(lru_add_drain)();
	for (i = 0; i < stock->nr && done < n; i++) {
		if (ds_queue(kind, stock->own[i].folio) == DS_QUEUED)
			done++;
	}
	__this_cpu_add(ds_stats.fill[kind], done);
	ds_ring_put(DS_DID_FILL, kind, done, n, DS_ON_NONE);
	preempt_enable();
	return done;
}
