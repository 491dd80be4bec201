// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that make a situation with own folios and then look: folios that were just
 * queued (I2, I3), one queued before a drain-all (I8), a disabled cache (I9), a
 * file truncated on the CPU that filled it or on another (I24, I25), the canary
 * for percpu_pvec_drained (I23), and the trial runs that teach usage.c where the
 * batches of the usage entry points are.  Checks that only look at a snapshot are
 * in invariant.c.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/preempt.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "drainstress.h"

static enum drainstress_fix ds_fix_found = DS_FIX_UNKNOWN;

/* The n-th online CPU, counted round. */
static int ds_nth_cpu(unsigned int n)
{
	int cpu;

	n %= num_online_cpus();
	for_each_online_cpu(cpu) {
		if (!n--)
			return cpu;
	}
	return cpumask_first(cpu_online_mask);
}

static void ds_look(struct ds_check *c)
{
	if (ds_snapshot_take(c->again))
		c->again->nr_slots = 0;
	c->pause_ns = max(c->pause_ns, c->again->pause_ns);
}

/* ---- I2: a large folio does not wait ---- */

#define DS_LARGE_ORDER	2

struct ds_large {
	struct folio *folio;
	unsigned int waited;	/* kinds that it was found in, as bits */
	struct ds_slot first;
};

static void ds_large_kind(struct ds_large *l, unsigned int kind)
{
	struct folio_batch *fbatch = ds_batch(kind, smp_processor_id());
	unsigned int i;

	for (i = 0; i < fbatch->nr; i++) {
		if (fbatch->folios[i] != l->folio)
			continue;
		if (!l->waited) {
			ds_picture(&l->first, &l->folio->page);
			l->first.cpu = smp_processor_id();
			l->first.kind = kind;
			l->first.slot = i;
		}
		l->waited |= DS_KIND_BIT(kind);
	}
}

/*
 * A large folio without a file goes to the LRU by lru_add, as any does, and is
 * queued for what else it is fit for.  Preemption is off, so that nothing but
 * the queueing itself can move it.
 */
static int ds_large_here(void *arg)
{
	struct ds_large *l = arg;
	char why[DS_REASON_LEN];
	unsigned int kind;

	l->folio = folio_alloc(GFP_KERNEL | __GFP_NOWARN, DS_LARGE_ORDER);
	if (!l->folio)
		return -ENOMEM;
	preempt_disable();
	ds_call(lru_add_drain)();
	ds_queues_own(DS_BATCH_LRU_ADD);
	folio_add_lru(l->folio);
	ds_large_kind(l, DS_BATCH_LRU_ADD);
	ds_call(lru_add_drain)();
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		const struct ds_batch_kind *row = &ds_batch_kinds[kind];

		/* what takes an evictable page of a file from a list */
		if (kind == DS_BATCH_LRU_ADD || kind == DS_BATCH_MLOCK ||
		    row->anon || !ds_batch_available(kind, why, sizeof(why)) ||
		    !row->ready(l->folio))
			continue;
		row->queue(l->folio);
		ds_large_kind(l, kind);
		ds_call(lru_add_drain)();
	}
	preempt_enable();
	folio_put(l->folio);
	return 0;
}

void ds_probe_i2(struct ds_check *c)
{
	int cpu = ds_nth_cpu(c->round);
	struct ds_large l = { };

	if (!ds_has(DS_SYM_lru_add_drain) || !IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return;
	if (ds_on_cpu(cpu, ds_large_here, &l))
		return;
	ds_checked(2, 1);
	if (l.waited) {
		ds_violate(2, &l.first, cpu,
			   "a folio of %d pages was queued: expected that it is moved at once, found it in batch %s",
			   1 << DS_LARGE_ORDER, ds_batch_name[l.first.kind]);
	}
}

/* ---- I3: a folio of a list keeps PG_lru while it waits ---- */

#define DS_WAITING_FOLIOS	4
#define DS_WAITING_TRIES	5
#define DS_WAITING_MS		50

struct ds_waiting {
	unsigned int kind;
	struct ds_stock *stock;
	unsigned int checked;
	unsigned int lost;
	struct ds_slot first;
};

/* Preemption is off, so nothing is drained between the queueing and the look. */
static void ds_wait_one(struct ds_waiting *w, struct folio *folio)
{
	struct folio_batch *fbatch = ds_batch(w->kind, smp_processor_id());

	if (!ds_batch_kinds[w->kind].ready(folio) ||
	    ds_queue(w->kind, folio) == DS_REFUSED ||
	    !fbatch->nr || fbatch->folios[fbatch->nr - 1] != folio)
		return;
	w->checked++;
	if (folio_test_lru(folio) || w->lost++)
		return;
	ds_picture(&w->first, &folio->page);
	w->first.cpu = smp_processor_id();
	w->first.kind = w->kind;
}

static int ds_wait_here(void *arg)
{
	struct ds_waiting *w = arg;
	const struct ds_batch_kind *row = &ds_batch_kinds[w->kind];
	unsigned int i;

	w->checked = 0;
	w->lost = 0;
	preempt_disable();
	for (i = 0; i < w->stock->nr && i < DS_WAITING_FOLIOS; i++) {
		if (row->prepare && !row->ready(w->stock->own[i].folio))
			row->prepare(w->stock->own[i].folio);
	}
	ds_call(lru_add_drain)();
	for (i = 0; i < w->stock->nr && i < DS_WAITING_FOLIOS; i++)
		ds_wait_one(w, w->stock->own[i].folio);
	ds_call(lru_add_drain)();
	preempt_enable();
	return 0;
}

/*
 * Who queues a folio of a list leaves it there, to be isolated or munlocked, until
 * the batch is moved.  Another CPU may isolate one in that very moment, but not
 * each time.
 */
static void ds_wait_kind(unsigned int kind, int cpu)
{
	struct ds_waiting w = { .kind = kind };
	unsigned int i;

	w.stock = ds_cpu_stock(cpu, ds_batch_kinds[kind].anon);
	for (i = 0; i < DS_WAITING_TRIES; i++) {
		if (i && !ds_patience(DS_WAITING_MS))
			return;
		if (ds_on_cpu(cpu, ds_wait_here, &w))
			return;
		if (!w.lost)
			break;
	}
	ds_checked(3, w.checked);
	if (w.lost) {
		ds_violate(3, &w.first, cpu,
			   "just queued for batch %s: expected PG_lru to stay set, found it clear for %u of %u in the last of %u tries",
			   ds_batch_name[kind], w.lost, w.checked, DS_WAITING_TRIES);
	}
}

/* Of lru_add and mlock entries PG_lru says something else or nothing. */
void ds_probe_i3(struct ds_check *c)
{
	char why[DS_REASON_LEN];
	unsigned int kind;

	if (!ds_has(DS_SYM_lru_add_drain))
		return;
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (kind != DS_BATCH_LRU_ADD && kind != DS_BATCH_MLOCK &&
		    ds_batch_available(kind, why, sizeof(why)))
			ds_wait_kind(kind, ds_nth_cpu(c->round + kind));
	}
}

static int ds_drain_here(void *unused)
{
	return ds_drain(DS_DRAIN_LOCAL, raw_smp_processor_id(), NULL);
}

/* I7 is checked at each local drain; here once on every CPU. */
void ds_probe_i7(struct ds_check *c)
{
	int cpu;

	for_each_online_cpu(cpu)
		ds_on_cpu(cpu, ds_drain_here, NULL);
}

struct ds_queue_one {
	int cpu;
	unsigned int kind;
	struct ds_stock *stock;
	struct folio *folio;
};

/* Leaves one folio as the only one in this CPU's batches. */
static int ds_queue_one(void *arg)
{
	struct ds_queue_one *q = arg;
	struct folio_batch *fbatch;

	q->folio = NULL;
	if (!ds_fill_exact(q->kind, q->stock, 1))
		return -ENODATA;
	preempt_disable();
	fbatch = ds_batch(q->kind, smp_processor_id());
	if (fbatch->nr == 1)
		q->folio = (void *)((unsigned long)fbatch->folios[0] & ~3UL);
	preempt_enable();
	return 0;
}

/*
 * The entry of @folio that a drain-all should have moved.  Elsewhere it may have
 * been queued since, by compaction or by drop_caches.
 */
static struct ds_slot *ds_left_behind(struct ds_snapshot *snap,
				      struct folio *folio, int cpu,
				      unsigned int kind)
{
	unsigned int i;

	for (i = 0; i < snap->nr_slots; i++) {
		struct ds_slot *s = &snap->slots[i];

		if (s->folio == folio && s->cpu == cpu && s->kind == kind)
			return s;
	}
	return NULL;
}

/*
 * Kinds that the kernel may queue an own folio for by itself, so perhaps on that
 * very CPU after the drain-all: compaction puts back through lru_add
 * (putback_movable_pages(), mm/migrate.c), drop_caches fails to invalidate
 * (mapping_try_invalidate(), mm/truncate.c), swapped out shmem rotates at the end
 * of writeback (folio_end_writeback(), mm/filemap.c).
 */
#define DS_QUEUED_BY_KERNEL	(DS_KIND_BIT(DS_BATCH_LRU_ADD) | \
				 DS_KIND_BIT(DS_BATCH_DEACTIVATE_FILE) | \
				 DS_KIND_BIT(DS_BATCH_ROTATE))

/*
 * One drain-all with one folio of one kind on each of @nr CPUs, the only one
 * there.  Afterwards left[i].folio is set where q[i]'s stayed behind.
 *
 * Under load another folio is soon queued on those CPUs, for which they are
 * drained whatever else they hold: what is left out of cpu_needs_drain() is mostly
 * noticed by the check at the end, when the load is gone.
 */
static void ds_round_i8(struct ds_check *c, struct ds_queue_one *q,
			struct ds_slot *left, unsigned int nr)
{
	struct ds_slot *s;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		q[i].stock = ds_cpu_stock(q[i].cpu,
					  ds_batch_kinds[q[i].kind].anon);
		q[i].folio = NULL;
		if (q[i].stock->nr)
			ds_on_cpu(q[i].cpu, ds_queue_one, &q[i]);
	}
	ds_drain(DS_DRAIN_ALL, -1, NULL);
	if (ds_plant_here(8) &&
	    !ds_on_cpu(q[0].cpu, ds_queue_one, &q[0]) && q[0].folio)
		ds_plant_done();
	ds_look(c);
	for (i = 0; i < nr; i++) {
		left[i].folio = NULL;
		if (!q[i].folio)
			continue;
		ds_checked(8, 1);
		s = ds_left_behind(c->again, q[i].folio, q[i].cpu, q[i].kind);
		if (s)
			left[i] = *s;
	}
}

/* Kinds take turns on the CPUs, so that each pair comes up after a while. */
void ds_probe_i8(struct ds_check *c)
{
	unsigned int kinds[DS_NR_BATCH_KINDS], nr_kinds = 0, next, i, nr;
	struct ds_queue_one *q;
	struct ds_slot *left;
	char why[DS_REASON_LEN];
	int cpu;

	/* Other drain-alls may spoil it: two CPUs each time. */
	for (i = 0; i < 2; i++)
		ds_probe_alone(ds_nth_cpu(c->round + 2 * i), ds_nth_cpu(c->round + 2 * i + 1));
	q = kvcalloc(nr_cpu_ids, sizeof(*q), GFP_KERNEL);
	left = kvcalloc(nr_cpu_ids, sizeof(*left), GFP_KERNEL);
	if (!q || !left)
		goto out;
	for (i = 1; i < __DS_BATCH_MAX; i++) {
		if (ds_batch_available(i, why, sizeof(why)))
			kinds[nr_kinds++] = i;
	}
	for (next = 0; next < nr_kinds; next += nr) {
		nr = 0;
		for_each_online_cpu(cpu) {
			if (nr == nr_cpu_ids)
				break;
			q[nr].cpu = cpu;
			q[nr].kind = kinds[(c->round + next + nr) % nr_kinds];
			nr++;
		}
		ds_round_i8(c, q, left, nr);
		for (i = 0; i < nr; i++) {
			unsigned int kind = q[i].kind;

			if (!left[i].folio)
				continue;
			/* What the kernel queues does not come thrice in a row. */
			if (DS_QUEUED_BY_KERNEL & DS_KIND_BIT(kind)) {
				ds_round_i8(c, &q[i], &left[i], 1);
				if (left[i].folio)
					ds_round_i8(c, &q[i], &left[i], 1);
				if (!left[i].folio)
					continue;
			}
			ds_violate(8, &left[i], left[i].cpu,
				   "expected the folio, the only one queued on CPU %d, to be in no batch after lru_add_drain_all(), found it in batch %s",
				   q[i].cpu, ds_batch_name[kind]);
		}
	}
out:
	kvfree(left);
	kvfree(q);
}

static int ds_fill_here(void *arg)
{
	struct ds_stock *stock = ds_cpu_stock(raw_smp_processor_id(), false);
	unsigned int kind;

	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (!ds_batch_kinds[kind].anon && kind != DS_BATCH_MLOCK)
			ds_fill(kind, stock, 3, kind * 3);
	}
	return 0;
}

void ds_probe_i9(struct ds_check *c)
{
	atomic_t *count = (atomic_t *)ds_symbols[DS_SYM_lru_disable_count].addr;
	unsigned int i;
	int cpu;

	ds_disabler_begin();
	ds_call(lru_cache_disable)();
	if (ds_plant_here(9))
		atomic_dec(count);
	for_each_online_cpu(cpu)
		ds_on_cpu(cpu, ds_fill_here, NULL);
	ds_look(c);
	if (ds_plant_here(9))
		ds_plant_done();
	else
		atomic_dec(count);
	ds_disabler_end();
	ds_checked(9, num_online_cpus());
	for (i = 0; i < c->again->nr_slots; i++) {
		struct ds_slot *s = &c->again->slots[i];

		ds_violate(9, s, s->cpu,
			   "expected batch %s to be empty while the cache is disabled, found %u entries",
			   ds_batch_name[s->kind],
			   c->again->batches[s->cpu][s->kind].nr);
	}
}

/* ---- files of the check's own, truncated ---- */

typedef void (*ds_truncate_fn)(struct file *file);

static void ds_truncate_shmem(struct file *file)
{
	shmem_truncate_range(file_inode(file), 0, (loff_t)-1);
}

static void ds_truncate_generic(struct file *file)
{
	truncate_inode_pages(file->f_mapping, 0);
}

/* Both loops through the batches: the shmem one and the page cache's. */
static const struct {
	const char *name;
	ds_truncate_fn fn;
} ds_truncates[] = {
	{ "shmem_truncate_range", ds_truncate_shmem },
	{ "truncate_inode_pages", ds_truncate_generic },
};

#define DS_TRUNCATE_FOLIOS (2 * DS_BATCH_SIZE + 3)

struct ds_truncated {
	struct ds_stock stock;
	unsigned int how;
	unsigned int left;	/* folios with a reference that is not ours */
	struct ds_slot first;	/* one of them; in a batch if there is such */
	bool moved;		/* the task did not stay on its CPU */
	struct folio *planted;	/* has one more reference, of a planted fault */
};

static int ds_fill_file(void *arg)
{
	struct ds_truncated *t = arg;

	return ds_stock_make(&t->stock, DS_TRUNCATE_FOLIOS, -1);
}

/* The planted fault of @invariant: one folio has a reference too many. */
static void ds_plant_reference(struct ds_truncated *t, unsigned int invariant)
{
	if (!ds_plant_here(invariant) || !t->stock.nr)
		return;
	t->planted = t->stock.own[0].folio;
	folio_get(t->planted);
	ds_plant_done();
}

static void ds_truncated_drop(struct ds_truncated *t)
{
	if (t->planted)
		folio_put(t->planted);
	ds_stock_drop(&t->stock);
}

static int ds_truncate_file(void *arg)
{
	struct ds_truncated *t = arg;

	ds_ring_put(DS_DID_TRUNCATE, 0, 0, 0, DS_ON_NONE);
	ds_truncates[t->how].fn(t->stock.file);
	return 0;
}

/* Where in this CPU's batches @folio stands; kind 0: nowhere.  Preemption off. */
static void ds_find_here(struct folio *folio, struct ds_slot *where)
{
	unsigned int kind, i;

	where->kind = 0;
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		struct folio_batch *fbatch = ds_batch(kind, smp_processor_id());

		if (!ds_layout_proven(kind))
			continue;
		for (i = 0; i < fbatch->nr; i++) {
			unsigned long entry = (unsigned long)fbatch->folios[i];

			if ((entry & ~3UL) == (unsigned long)folio) {
				where->kind = kind;
				where->slot = i;
				where->cpu = smp_processor_id();
				return;
			}
		}
	}
}

/* Counts the folios that somebody besides the module still holds. */
static void ds_count_left(struct ds_truncated *t)
{
	unsigned int i;

	t->left = 0;
	preempt_disable();
	for (i = 0; i < t->stock.nr; i++) {
		struct folio *folio = t->stock.own[i].folio;
		struct ds_slot s;

		ds_picture(&s, &folio->page);
		/* The page cache's is gone. */
		if (s.refcount < t->stock.own[i].refs)
			continue;
		ds_find_here(folio, &s);
		if (!t->left++ || (s.kind && !t->first.kind))
			t->first = s;
	}
	preempt_enable();
}

/* Fills and truncates without leaving the CPU in between. */
static int ds_fill_and_truncate(void *arg)
{
	struct ds_truncated *t = arg;
	int cpu = raw_smp_processor_id();
	unsigned int look;
	int err = ds_fill_file(t);

	if (err)
		return err;
	ds_plant_reference(t, 24);
	ds_truncate_file(t);
	/*
	 * A folio in a batch of this CPU is a violation at first sight.  One
	 * that is in none may be isolated or about to be migrated for a while.
	 */
	for (look = 0; look < 50; look++) {
		ds_count_left(t);
		if (!t->left || t->first.kind)
			break;
		msleep(20);
	}
	/*
	 * Another CPU may have queued it too: drop_caches queues what it cannot
	 * invalidate.  Then a drain-all frees it.
	 */
	if (t->left && !t->first.kind) {
		ds_drain(DS_DRAIN_ALL, -1, NULL);
		ds_count_left(t);
	}
	/* A CPU that goes offline hands its works to others. */
	t->moved = raw_smp_processor_id() != cpu;
	return 0;
}

static int ds_i24_same_cpu(struct ds_check *c, unsigned int how, int cpu)
{
	struct ds_truncated t = { .how = how };
	unsigned int tries = 0;
	int err;

again:
	err = ds_on_cpu(cpu, ds_fill_and_truncate, &t);
	if (err)
		return err;
	/* What the kernel queues by itself does not come thrice in a row. */
	if (t.left && t.first.kind && tries++ < 2 &&
	    (DS_QUEUED_BY_KERNEL & DS_KIND_BIT(t.first.kind))) {
		ds_truncated_drop(&t);
		t = (struct ds_truncated){ .how = how };
		goto again;
	}
	if (!t.moved)
		ds_checked(24, 1);
	if (t.left && !t.moved) {
		ds_violate(24, &t.first, cpu,
			   "%s on the CPU that filled the file: expected no folio held by others, found %u of %u, %s",
			   ds_truncates[how].name, t.left, t.stock.nr,
			   t.first.kind ? "in its batches" : "in no batch of it");
	}
	ds_truncated_drop(&t);
	return 0;
}

/* How many of the folios that are left stand in other batches than (@cpu, lru_add). */
static unsigned int ds_queued_elsewhere(struct ds_check *c,
					struct ds_truncated *t, int cpu)
{
	unsigned int i, j, n = 0;

	ds_look(c);
	for (i = 0; i < t->stock.nr; i++) {
		struct folio *folio = t->stock.own[i].folio;

		for (j = 0; j < c->again->nr_slots; j++) {
			struct ds_slot *s = &c->again->slots[j];

			if (s->folio == folio && !(s->cpu == cpu &&
						   s->kind == DS_BATCH_LRU_ADD)) {
				n++;
				break;
			}
		}
	}
	return n;
}

/* From another CPU no more may stay than that CPU's lru_add batch can hold. */
static void ds_i24_other_cpu(struct ds_check *c, unsigned int how, int cpu,
			     int other)
{
	struct ds_truncated t = { .how = how };
	unsigned int look;

	if (cpu == other || ds_on_cpu(cpu, ds_fill_file, &t))
		return;
	if (!ds_on_cpu(other, ds_truncate_file, &t)) {
		/* What is isolated comes back within a while. */
		for (look = 0; look < 25; look++) {
			ds_count_left(&t);
			if (t.left <= DS_BATCH_SIZE - 1 +
				      ds_queued_elsewhere(c, &t, cpu))
				break;
			msleep(20);
		}
		ds_checked(24, 1);
		if (look == 25) {
			ds_violate(24, &t.first, cpu,
				   "%s on CPU %d: expected at most %d folios held by CPU %d's batches, found %u of %u",
				   ds_truncates[how].name, other,
				   DS_BATCH_SIZE - 1, cpu, t.left, t.stock.nr);
		}
	}
	ds_truncated_drop(&t);
}

void ds_probe_i24(struct ds_check *c)
{
	unsigned int how;
	int cpu = ds_nth_cpu(c->round), other = ds_nth_cpu(c->round + 1);

	for (how = 0; how < ARRAY_SIZE(ds_truncates); how++) {
		ds_i24_same_cpu(c, how, cpu);
		ds_i24_other_cpu(c, how, cpu, other);
	}
}

/*
 * Queues a folio, isolates it, as reclaim or migration may at any time, has the batch
 * moved meanwhile, and puts the folio back: the entry is passed over by
 * folio_batch_move_lru(), and what it held must be gone all the same.
 */
static void ds_isolate_beside_drain(unsigned int kind, struct folio *folio)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[kind];

	preempt_disable();
	if (row->prepare && !row->ready(folio)) {
		row->prepare(folio);
		ds_call(lru_add_drain)();
	}
	if (ds_queue(kind, folio) == DS_QUEUED && ds_isolate(folio)) {
		ds_call(lru_add_drain)();
		ds_putback(folio);
	}
	preempt_enable();
}

/* Fills a file; a few of its folios meet each move function off the LRU. */
static int ds_fill_and_isolate(void *arg)
{
	struct ds_truncated *t = arg;
	char why[DS_REASON_LEN];
	unsigned int kind;
	int err = ds_fill_file(t);

	if (err || !ds_has(DS_SYM_lru_add_drain) ||
	    !ds_has(DS_SYM_folio_isolate_lru) || !ds_has(DS_SYM_folio_putback_lru))
		return err;
	ds_call(lru_add_drain)();
	for (kind = 1; kind < __DS_BATCH_MAX && kind < t->stock.nr; kind++) {
		/* What is isolated would stay mlocked. */
		if (kind != DS_BATCH_LRU_ADD && kind != DS_BATCH_MLOCK &&
		    !ds_batch_kinds[kind].anon &&
		    ds_batch_available(kind, why, sizeof(why)))
			ds_isolate_beside_drain(kind, t->stock.own[kind].folio);
	}
	return 0;
}

/* After a truncate and a drain-all only the module's references are left. */
void ds_probe_i25(struct ds_check *c)
{
	unsigned int how, tries;
	int cpu = ds_nth_cpu(c->round), other = ds_nth_cpu(c->round + 1);

	for (how = 0; how < ARRAY_SIZE(ds_truncates); how++) {
		struct ds_truncated t = { .how = how };

		if (ds_on_cpu(cpu, ds_fill_and_isolate, &t))
			continue;
		if (ds_on_cpu(other, ds_truncate_file, &t)) {
			ds_truncated_drop(&t);
			continue;
		}
		ds_plant_reference(&t, 25);
		for (tries = 0; tries < 50; tries++) {
			if (tries)
				msleep(20);
			ds_drain(DS_DRAIN_ALL, -1, NULL);
			ds_count_left(&t);
			if (!t.left)
				break;
		}
		ds_checked(25, t.stock.nr);
		if (t.left) {
			ds_violate(25, &t.first, -1,
				   "%s and %u drain-alls: expected no folio held by others, found %u of %u",
				   ds_truncates[how].name, tries, t.left,
				   t.stock.nr);
		}
		ds_truncated_drop(&t);
	}
}

/* ---- the canary ---- */

/*
 * Sets the flag in one of this CPU's batches, moves the batch and reads the flag
 * back.  Nothing reads it there, so a healthy kernel does not care.
 */
static enum drainstress_fix ds_canary_kind(unsigned int kind,
					   struct ds_stock *stock)
{
	enum drainstress_fix found = DS_FIX_UNKNOWN;
	struct folio_batch *fbatch;
	bool before;
	unsigned int i;

	preempt_disable();
	ds_call(lru_add_drain)();
	fbatch = ds_batch(kind, smp_processor_id());
	before = fbatch->percpu_pvec_drained;
	fbatch->percpu_pvec_drained = true;
	for (i = 0; i < stock->nr; i++) {
		if (ds_queue(kind, stock->own[i].folio) != DS_QUEUED)
			continue;
		ds_call(lru_add_drain)();
		if (!fbatch->nr)
			found = fbatch->percpu_pvec_drained ? DS_FIX_PRESENT :
							      DS_FIX_ABSENT;
		break;
	}
	fbatch->percpu_pvec_drained = before;
	preempt_enable();
	return found;
}

/**
 * ds_canary() - does percpu_pvec_drained survive folio_batch_move_lru()?
 *
 * Context: process, may sleep; the race rests.  The mlock batch is moved by a
 * function of its own and is no part of the question.
 */
enum drainstress_fix ds_canary(void)
{
	enum drainstress_fix found = DS_FIX_UNKNOWN, one;
	struct ds_stock stock;
	char why[DS_REASON_LEN];
	unsigned int kind;

	if (ds_skip_layout(why, sizeof(why)) || ds_stock_make(&stock, 4, -1))
		return DS_FIX_UNKNOWN;
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (kind == DS_BATCH_MLOCK || ds_batch_kinds[kind].anon ||
		    !ds_batch_available(kind, why, sizeof(why)))
			continue;
		one = ds_canary_kind(kind, &stock);
		if (one == DS_FIX_UNKNOWN)
			continue;
		ds_checked(23, 1);
		if (found != DS_FIX_ABSENT)
			found = one;
	}
	ds_stock_drop(&stock);
	/* Someone may just have disabled the cache: what was known stays so. */
	if (found != DS_FIX_UNKNOWN)
		ds_fix_found = found;
	return found;
}

/* What the canary said last. */
enum drainstress_fix ds_fix(void)
{
	return ds_fix_found;
}

/* Absent is reported, not a violation: nothing reads the flag in these batches. */
void ds_probe_i23(struct ds_check *c)
{
	ds_canary();
}

/* ---- where the batches of the usage entry points are ---- */

static void ds_invalidate(struct file *file)
{
	invalidate_mapping_pages(file->f_mapping, 0, (pgoff_t)-1);
}

static void ds_invalidate2(struct file *file)
{
	invalidate_inode_pages2_range(file->f_mapping, 0, (pgoff_t)-1);
}

static const ds_truncate_fn ds_trials[] = {
	ds_truncate_shmem, ds_truncate_generic, ds_invalidate, ds_invalidate2,
};

/**
 * ds_calibrate_usage() - one usage of each entry point, watched
 *
 * Context: process, may sleep; the probes must be armed.
 */
int ds_calibrate_usage(void)
{
	struct ds_stock stock;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ds_trials); i++) {
		err = ds_stock_make(&stock, 3, -1);
		if (err)
			return err;
		ds_usage_calibrate(true);
		ds_trials[i](stock.file);
		ds_usage_calibrate(false);
		ds_stock_drop(&stock);
	}
	return 0;
}
