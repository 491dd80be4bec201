// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knows where each per-CPU batch is, and proves it at load: with preemption off
 * a folio of the module's own is queued for each kind, and must then be found
 * in the slot that the computed layout names.  Until every kind is proven no
 * batch is read, filled or drained.  What a batch holds is not judged here.
 */
#include <linux/module.h>
#include <linux/preempt.h>

#include "drainstress.h"
#include "layout.h"

static int ds_layout_shift;
module_param_named(layout_shift, ds_layout_shift, int, 0444);
MODULE_PARM_DESC(layout_shift,
		 "test: bytes by which the layout is taken wrong, so that the proof must fail");

struct ds_place {
	unsigned long base;	/* per-CPU variable, 0: unknown */
	size_t offset;
};

static struct ds_place ds_places[__DS_BATCH_MAX];
static unsigned int ds_proven_mask;
static char ds_layout_why[DS_REASON_LEN] = "not proven yet";

/**
 * ds_batch() - the batch of @kind on @cpu
 * @kind: batch kind, from 1
 * @cpu: a possible CPU
 *
 * Return: NULL when its place is unknown; says nothing of whether the place was
 * proven.  Any context; the content is stable only with preemption off on
 * @cpu or under stop_machine().
 */
struct folio_batch *ds_batch(unsigned int kind, int cpu)
{
	const struct ds_place *place = &ds_places[kind];

	if (!place->base)
		return NULL;
	return (void *)per_cpu_ptr((char __percpu *)place->base, cpu) +
	       place->offset;
}

static void ds_place(unsigned int kind, enum ds_sym sym, size_t offset)
{
	ds_places[kind].base = ds_symbols[sym].addr;
	ds_places[kind].offset = offset + ds_layout_shift;
}

#define DS_PLACE(kind, sym, type, member)				\
	ds_place(DS_BATCH_##kind, DS_SYM_##sym, offsetof(struct type, member))

static void ds_layout_compute(void)
{
	DS_PLACE(MLOCK, mlock_fbatch, ds_mlock_fbatch, fbatch);
	if (ds_has(DS_SYM_lru_rotate)) {
		DS_PLACE(LRU_ADD, cpu_fbatches, ds_cpu_fbatches_old, lru_add);
		DS_PLACE(DEACTIVATE_FILE, cpu_fbatches, ds_cpu_fbatches_old,
			 lru_deactivate_file);
		DS_PLACE(DEACTIVATE, cpu_fbatches, ds_cpu_fbatches_old,
			 lru_deactivate);
		DS_PLACE(LAZYFREE, cpu_fbatches, ds_cpu_fbatches_old,
			 lru_lazyfree);
		DS_PLACE(ACTIVATE, cpu_fbatches, ds_cpu_fbatches_old, activate);
		DS_PLACE(ROTATE, lru_rotate, ds_lru_rotate, fbatch);
	} else {
		DS_PLACE(LRU_ADD, cpu_fbatches, ds_cpu_fbatches_new, lru_add);
		DS_PLACE(DEACTIVATE_FILE, cpu_fbatches, ds_cpu_fbatches_new,
			 lru_deactivate_file);
		DS_PLACE(DEACTIVATE, cpu_fbatches, ds_cpu_fbatches_new,
			 lru_deactivate);
		DS_PLACE(LAZYFREE, cpu_fbatches, ds_cpu_fbatches_new,
			 lru_lazyfree);
		DS_PLACE(ACTIVATE, cpu_fbatches, ds_cpu_fbatches_new, activate);
		DS_PLACE(ROTATE, cpu_fbatches, ds_cpu_fbatches_new,
			 lru_move_tail);
	}
}

bool ds_layout_proven(unsigned int kind)
{
	return ds_proven_mask & DS_KIND_BIT(kind);
}

/* Why no batch is touched, or NULL. */
const char *ds_layout_reason(void)
{
	return ds_layout_why[0] ? ds_layout_why : NULL;
}

/**
 * ds_pending() - which batches of @cpu hold folios, as a mask of DS_KIND_BIT
 * @cpu: a possible CPU
 *
 * Any context; exact on the own CPU with preemption off, a hint elsewhere.
 */
unsigned int ds_pending(int cpu)
{
	unsigned int kind, mask = 0;

	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (ds_layout_proven(kind) &&
		    READ_ONCE(ds_batch(kind, cpu)->nr))
			mask |= DS_KIND_BIT(kind);
	}
	return mask;
}

/* Which of @cpu's batches @fbatch is; 0: none of them. */
int ds_batch_kind_of(const struct folio_batch *fbatch, int cpu)
{
	unsigned int kind;

	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (ds_layout_proven(kind) && ds_batch(kind, cpu) == fbatch)
			return kind;
	}
	return 0;
}

/*
 * One kind: the batch is empty after a drain, queueing one folio makes it one
 * long, and the entry is that folio.  The batch is only read.
 */
static bool ds_prove(unsigned int kind, struct folio *folio)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[kind];
	struct folio_batch *fbatch;
	unsigned int before, after;
	unsigned long entry;

	ds_call(lru_add_drain)();
	if (!row->ready(folio) && row->prepare) {
		row->prepare(folio);
		ds_call(lru_add_drain)();
	}
	preempt_disable();
	ds_call(lru_add_drain)();
	fbatch = ds_batch(kind, smp_processor_id());
	before = fbatch->nr;
	if (!row->ready(folio)) {
		preempt_enable();
		snprintf(ds_layout_why, sizeof(ds_layout_why),
			 "%s: the folio for the proof cannot be queued",
			 ds_batch_name[kind]);
		return false;
	}
	row->queue(folio);
	after = fbatch->nr;
	entry = (unsigned long)fbatch->folios[0];
	ds_call(lru_add_drain)();
	preempt_enable();

	if (kind == DS_BATCH_MLOCK)
		entry &= ~3UL;
	if (before || after != 1 || entry != (unsigned long)folio) {
		snprintf(ds_layout_why, sizeof(ds_layout_why),
			 "%s: queued one folio, found nr %u then %u and %s in the slot",
			 ds_batch_name[kind], before, after,
			 entry == (unsigned long)folio ? "it" : "something else");
		return false;
	}
	return true;
}

/*
 * Context: a process with an mm (insmod), for the anonymous folio.
 * Return: 0 also when the proof fails; then nothing is touched and
 * ds_layout_reason() says why.
 */
int ds_layout_init(void)
{
	struct ds_stock file = { }, anon = { };
	unsigned int kind, tries, mask = 0;
	char why[DS_REASON_LEN];
	struct folio *folio;
	int err;

	ds_layout_compute();
	if (!ds_has(DS_SYM_lru_add_drain)) {
		strscpy(ds_layout_why, "this kernel has no lru_add_drain",
			sizeof(ds_layout_why));
		return 0;
	}
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		strscpy(ds_layout_why,
			"PREEMPT_RT: batches are guarded by sleeping locks, not by preemption",
			sizeof(ds_layout_why));
		return 0;
	}
	/* One a kind: what a broken kernel makes of one says nothing of the rest. */
	err = ds_stock_make(&file, __DS_BATCH_MAX, -1);
	if (err)
		return err;
	if (!ds_learn_isolate(file.own[0].folio)) {
		strscpy(ds_layout_why, "cannot isolate a folio of the module's own",
			sizeof(ds_layout_why));
		goto out;
	}
	/* Without one the kinds that want it are left out. */
	if (ds_stock_make_anon(&anon, 1, -1))
		pr_warn("no anonymous page of order 0 could be had\n");
	ds_layout_why[0] = '\0';
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		const struct ds_batch_kind *row = &ds_batch_kinds[kind];

		if (!ds_batch(kind, 0)) {
			snprintf(ds_layout_why, sizeof(ds_layout_why),
				 "%s: the per-CPU variable is not in this kernel",
				 ds_batch_name[kind]);
			break;
		}
		if (!ds_batch_callable(kind, why, sizeof(why)))
			continue;	/* cannot be filled, so cannot be proven */
		if (row->anon && !anon.nr)
			continue;
		folio = row->anon ? anon.own[0].folio : file.own[kind].folio;
		/* An interrupt may end writeback in between: rotate is retried. */
		for (tries = 0; tries < 5 && !ds_prove(kind, folio); tries++)
			;
		if (tries == 5)
			break;
		ds_layout_why[0] = '\0';
		mask |= DS_KIND_BIT(kind);
		if (kind == DS_BATCH_MLOCK)
			ds_stock_unlock(&file);
	}
	if (!ds_layout_why[0])
		ds_proven_mask = mask;
	else
		pr_warn("batches are not touched: %s\n", ds_layout_why);
out:
	ds_stock_drop(&anon);
	ds_stock_drop(&file);
	return err;
}
