// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of what the kernel counts when batches are moved: the events of each
 * move function (I26 to I28), mlock_count and PG_unevictable of own folios
 * (I20, I21), NR_MLOCK against its events (I18), and the batches of CPUs that
 * are offline (I30).  Lists and their sizes are not looked at here.
 *
 * Foreign programs keep running, so what they do must not matter: events are
 * read from the counters of one CPU around a move of own folios with interrupts
 * off, and what another CPU may spoil (isolation, a switch of the MGLRU) is tried
 * again with a fresh sequence.  Only what is wrong every time is reported.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/stop_machine.h>

#include "drainstress.h"

/* Sleeps between two tries: as long as compaction may keep a folio isolated. */
static const unsigned int ds_again_ms[] = { 2, 20, 100, 400 };
#define DS_TRIES	(1 + (unsigned int)ARRAY_SIZE(ds_again_ms))

/**
 * ds_cpu_of_round() - the online CPU whose turn it is
 * @round: of a check, or any other number
 */
int ds_cpu_of_round(unsigned int round)
{
	unsigned int cpu = cpumask_nth(round % num_online_cpus(),
				       cpu_online_mask);

	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

struct ds_make {
	struct ds_stock *stock;
	unsigned int nr;
};

static int ds_make_here(void *arg)
{
	struct ds_make *make = arg;
	int err = ds_stock_make(make->stock, make->nr, -1);

	if (!err)
		ds_call(lru_add_drain)();
	return err;
}

/*
 * @nr own folios that are on the LRU: made and drained on one CPU, because a
 * drain-all takes its time under load.  Return: 0 or a negative errno.
 */
static int ds_make_on_lru(struct ds_stock *stock, unsigned int nr, int cpu)
{
	struct ds_make make = { stock, nr };

	return ds_on_cpu(cpu, ds_make_here, &make);
}

bool ds_skip_events(char *why, size_t len)
{
	if (!IS_ENABLED(CONFIG_VM_EVENT_COUNTERS)) {
		snprintf(why, len, "the kernel counts no events: CONFIG_VM_EVENT_COUNTERS is off");
		return true;
	}
	return ds_skip_layout(why, len);
}

#ifdef CONFIG_VM_EVENT_COUNTERS

/* ---- I26, I27, I28: the events of the move functions ---- */

static const struct {
	enum vm_event_item item;
	const char *name;
	unsigned int invariant;
} ds_events[] = {
	{ PGROTATED, "PGROTATED", 26 },
	{ PGLAZYFREE, "PGLAZYFREE", 27 },
	{ PGACTIVATE, "PGACTIVATE", 28 },
	{ PGDEACTIVATE, "PGDEACTIVATE", 28 },
};

#define DS_NR_EVENTS	ARRAY_SIZE(ds_events)

/*
 * Whether moving a folio of batch @kind counts @item: lru_move_tail(),
 * lru_deactivate_file(), lru_deactivate(), lru_lazyfree(), lru_activate() in
 * mm/swap.c (6.1: with _fn).  @folio was fit to be queued and is not mapped.
 * PG_active is what counts, also with the MGLRU, which clears it while the
 * folio is on a list (lru_gen_add_folio(), include/linux/mm_inline.h).
 */
static bool ds_counts(unsigned int kind, enum vm_event_item item,
		      struct folio *folio)
{
	switch (item) {
	case PGROTATED:
		return kind == DS_BATCH_ROTATE ||
		       (kind == DS_BATCH_DEACTIVATE_FILE &&
			!folio_test_dirty(folio) && !folio_test_writeback(folio));
	case PGLAZYFREE:
		return kind == DS_BATCH_LAZYFREE;
	case PGACTIVATE:
		return kind == DS_BATCH_ACTIVATE;
	case PGDEACTIVATE:
		return kind == DS_BATCH_DEACTIVATE ||
		       (kind == DS_BATCH_DEACTIVATE_FILE &&
			folio_test_active(folio));
	default:
		return false;
	}
}

/* One batch of own folios, queued and moved. */
struct ds_move {
	unsigned int invariant;
	unsigned int kind;
	struct ds_stock *stock;
	unsigned int wanted;
	unsigned int moved;		/* 0: nothing was tried */
	unsigned int expected[DS_NR_EVENTS];
	unsigned int found[DS_NR_EVENTS];
};

/* Brings as many folios as are wanted into the state that the kind takes. */
static void ds_move_prepare(struct ds_move *m)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[m->kind];
	const struct ds_batch_kind *activate = &ds_batch_kinds[DS_BATCH_ACTIVATE];
	unsigned int i;

	ds_call(lru_add_drain)();
	for (i = 0; i < m->stock->nr && i < m->wanted; i++) {
		struct folio *folio = m->stock->own[i].folio;

		if (row->prepare && !row->ready(folio))
			row->prepare(folio);
		/* Some of them active, for deactivate_file counts those twice. */
		if (m->kind == DS_BATCH_DEACTIVATE_FILE && (i & 1) &&
		    ds_has(DS_SYM_folio_activate) && activate->ready(folio))
			activate->queue(folio);
	}
}

static void ds_read_events(unsigned long *events)
{
	unsigned int i;

	for (i = 0; i < DS_NR_EVENTS; i++)
		events[i] = __this_cpu_read(vm_event_states.event[ds_events[i].item]);
}

/* The planted fault: each event of the invariant was counted once too often. */
static void ds_plant_events(const struct ds_move *m, int delta)
{
	unsigned int i;

	for (i = 0; i < DS_NR_EVENTS; i++) {
		if (ds_events[i].invariant == m->invariant)
			__this_cpu_add(vm_event_states.event[ds_events[i].item],
				       delta);
	}
	ds_plant_done();
}

/*
 * Queues and drains.  Interrupts are off, so nothing else counts on this CPU:
 * not even the end of writeback, which rotates.  None of the functions called
 * switches them on: the mlock batch, whose move does, is empty.
 */
static void ds_move_quietly(struct ds_move *m)
{
	unsigned long before[DS_NR_EVENTS], after[DS_NR_EVENTS];
	bool planted = ds_plant_here(m->invariant);
	bool counts[DS_NR_EVENTS];
	unsigned int i, event;

	ds_read_events(before);
	for (i = 0; i < m->stock->nr && m->moved < m->wanted; i++) {
		struct folio *folio = m->stock->own[i].folio;

		for (event = 0; event < DS_NR_EVENTS; event++)
			counts[event] = ds_counts(m->kind, ds_events[event].item,
						  folio);
		if (ds_queue(m->kind, folio) == DS_REFUSED)
			continue;
		m->moved++;
		for (event = 0; event < DS_NR_EVENTS; event++)
			m->expected[event] += counts[event];
	}
	ds_call(lru_add_drain)();
	if (planted)
		ds_plant_events(m, 1);
	ds_read_events(after);
	if (planted)
		ds_plant_events(m, -1);
	for (event = 0; event < DS_NR_EVENTS; event++)
		m->found[event] = after[event] - before[event];
}

static void ds_move_here(struct ds_move *m)
{
	unsigned long flags;
	unsigned int tries;

	memset(m->expected, 0, sizeof(m->expected));
	memset(m->found, 0, sizeof(m->found));
	m->moved = 0;
	ds_move_prepare(m);
	/* An interrupt may refill rotate between the drain and the look. */
	for (tries = 0; tries < 5 && !m->moved; tries++) {
		preempt_disable();
		ds_call(lru_add_drain)();
		local_irq_save(flags);
		if (!ds_pending(smp_processor_id()))
			ds_move_quietly(m);
		local_irq_restore(flags);
		preempt_enable();
	}
}

/* The first event of the invariant that came out wrong, or DS_NR_EVENTS. */
static unsigned int ds_move_wrong(const struct ds_move *m)
{
	unsigned int i;

	for (i = 0; i < DS_NR_EVENTS; i++) {
		if (ds_events[i].invariant == m->invariant &&
		    m->expected[i] != m->found[i])
			break;
	}
	return i;
}

/* Every kind that counts. */
static const u8 ds_move_kinds[] = {
	DS_BATCH_ROTATE, DS_BATCH_DEACTIVATE_FILE, DS_BATCH_DEACTIVATE,
	DS_BATCH_LAZYFREE, DS_BATCH_ACTIVATE,
};

#define DS_MOVE_KINDS	ARRAY_SIZE(ds_move_kinds)

/* One batch of each kind on this CPU; those that came out right are done. */
static int ds_move_kinds_here(void *arg)
{
	struct ds_move *moves = arg;
	unsigned int i;

	for (i = 0; i < DS_MOVE_KINDS; i++) {
		struct ds_move *m = &moves[i];

		if (m->stock && (!m->moved || ds_move_wrong(m) < DS_NR_EVENTS))
			ds_move_here(m);
	}
	return 0;
}

/* What came out wrong in every try is a violation. */
static void ds_move_report(const struct ds_move *m, int cpu)
{
	unsigned int i, wrong = ds_move_wrong(m);

	for (i = 0; i < DS_NR_EVENTS; i++) {
		if (ds_events[i].invariant == m->invariant)
			ds_checked(m->invariant, m->expected[i]);
	}
	if (wrong == DS_NR_EVENTS)
		return;
	ds_violate(m->invariant, NULL, cpu,
		   "%u folios of batch %s moved: expected %s to rise by %u, found that it rose by %u, and was wrong in %u tries",
		   m->moved, ds_batch_name[m->kind], ds_events[wrong].name,
		   m->expected[wrong], m->found[wrong], DS_TRIES);
}

/* Anonymous own folios exist since the module was loaded, for some CPU. */
static struct ds_stock *ds_any_anon(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (ds_cpu_stock(cpu, true)->nr)
			return ds_cpu_stock(cpu, true);
	}
	return NULL;
}

static void ds_move_on(struct ds_move *moves, int cpu)
{
	unsigned int i, try;
	bool wrong = true;

	for (try = 0; try < DS_TRIES && wrong; try++) {
		if (try && !ds_patience(ds_again_ms[try - 1]))
			return;
		if (ds_on_cpu(cpu, ds_move_kinds_here, moves))
			return;
		wrong = false;
		for (i = 0; i < DS_MOVE_KINDS; i++)
			wrong |= ds_move_wrong(&moves[i]) < DS_NR_EVENTS;
	}
	for (i = 0; i < DS_MOVE_KINDS; i++)
		ds_move_report(&moves[i], cpu);
}

/* The lengths vary, full batches included. */
static void ds_probe_events(struct ds_check *c, unsigned int invariant)
{
	struct ds_move moves[DS_MOVE_KINDS];
	struct ds_stock file, *anon = ds_any_anon();
	char why[DS_REASON_LEN];
	unsigned int i, kind;
	int cpu;

	if (ds_make_on_lru(&file, DS_BATCH_SIZE, ds_cpu_of_round(c->round)))
		return;
	for_each_online_cpu(cpu) {
		memset(moves, 0, sizeof(moves));
		for (i = 0; i < DS_MOVE_KINDS; i++) {
			kind = ds_move_kinds[i];
			moves[i].invariant = invariant;
			moves[i].kind = kind;
			moves[i].wanted = (c->round + cpu) & 1 ? DS_BATCH_SIZE :
				1 + (c->round / 2 + i) % DS_BATCH_SIZE;
			if (ds_batch_available(kind, why, sizeof(why)))
				moves[i].stock = ds_batch_kinds[kind].anon ?
						 anon : &file;
		}
		ds_move_on(moves, cpu);
	}
	ds_stock_drop(&file);
}

void ds_probe_i26(struct ds_check *c)
{
	ds_probe_events(c, 26);
}

void ds_probe_i27(struct ds_check *c)
{
	ds_probe_events(c, 27);
}

void ds_probe_i28(struct ds_check *c)
{
	ds_probe_events(c, 28);
}

/* ---- I18: NR_MLOCK and its events ---- */

struct ds_mlock_sums {
	long locked;	/* NR_MLOCK of all zones, per-CPU diffs added */
	long events;	/* mlocked - munlocked - stranded - cleared */
};

static long ds_zone_mlock(struct zone *zone)
{
	long sum = atomic_long_read(&zone->vm_stat[NR_MLOCK]);
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(zone->per_cpu_zonestats, cpu)->vm_stat_diff[NR_MLOCK];
	return sum;
}

/* The CPU hotplug lock is held, so what a CPU left when it went is folded. */
static int ds_mlock_stopped(void *arg)
{
	struct ds_mlock_sums *sums = arg;
	u64 start = ktime_get_ns();
	int cpu, nid, i;

	memset(sums, 0, sizeof(*sums));
	if (ds_plant_here(18)) {
		__this_cpu_inc(vm_event_states.event[UNEVICTABLE_PGMLOCKED]);
		ds_plant_done();
	}
	for_each_possible_cpu(cpu) {
		const unsigned long *event = per_cpu(vm_event_states, cpu).event;

		sums->events += event[UNEVICTABLE_PGMLOCKED] -
				event[UNEVICTABLE_PGMUNLOCKED] -
				event[UNEVICTABLE_PGSTRANDED] -
				event[UNEVICTABLE_PGCLEARED];
	}
	for_each_online_node(nid) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			struct zone *zone = &NODE_DATA(nid)->node_zones[i];

			if (populated_zone(zone))
				sums->locked += ds_zone_mlock(zone);
		}
	}
	if (ds_plant_here(18))
		__this_cpu_dec(vm_event_states.event[UNEVICTABLE_PGMLOCKED]);
	ds_latency_pause(start);
	return 0;
}

/*
 * mlock_folio(), mlock_new_folio() and __munlock_folio() change the counter and
 * count the event with preemption off, so they are never seen half done.  Two
 * places are preemptible in between: free_pages_prepare() (mm/page_alloc.c), and
 * refresh_cpu_vm_stats() (mm/vmstat.c), which takes a CPU's diff before it adds
 * it to the zone.  Hence several looks, of which one must agree.
 */
void ds_examine_i18(struct ds_check *c)
{
	struct ds_mlock_sums sums;
	unsigned int i;

	for (i = 0; i < 2 * DS_TRIES; i++) {
		if (i && !ds_patience(ds_again_ms[(i - 1) % ARRAY_SIZE(ds_again_ms)]))
			return;
		if (stop_machine(ds_mlock_stopped, &sums, NULL))
			return;
		if (sums.locked == sums.events)
			break;
	}
	ds_checked(18, 1);
	if (sums.locked != sums.events) {
		ds_violate(18, NULL, -1,
			   "expected NR_MLOCK to be what the events say, %ld, found %ld in the last of %u looks",
			   sums.events, sums.locked, i);
	}
}

#else

void ds_probe_i26(struct ds_check *c) { }
void ds_probe_i27(struct ds_check *c) { }
void ds_probe_i28(struct ds_check *c) { }
void ds_examine_i18(struct ds_check *c) { }

#endif /* CONFIG_VM_EVENT_COUNTERS */

/* ---- I20: mlock_count ---- */

#define DS_MLOCK_FOLIOS	8

struct ds_mlocks {
	struct ds_stock *stock;
	bool fit[DS_MLOCK_FOLIOS];
	unsigned int judged;
	unsigned int wrong;
	unsigned int expected;		/* of the first that is wrong */
	unsigned int found;
	struct ds_slot first;
};

/* How often folio @i is mlocked: once to three times. */
static unsigned int ds_mlock_depth(unsigned int i)
{
	return 1 + i % 3;
}

/* Every other folio as a new one, the way a fault in a locked mapping does. */
static void ds_mlock_first(struct folio *folio, bool as_new)
{
	if (as_new && ds_has(DS_SYM_mlock_new_folio) && ds_isolate(folio)) {
		folio_clear_active(folio);
		ds_mlock_new(folio);
		folio_put(folio);
	} else {
		ds_mlock(folio);
	}
}

/* The plant: the count as if nobody had set it, until @on is false. */
static void ds_plant_mlock_count(struct folio *folio, unsigned int count)
{
	if (!folio_test_lru(folio) || !folio_test_unevictable(folio))
		return;
	folio->mlock_count = count;
	ds_plant_done();
}

/*
 * mlock_count shares its place with the list pointers, so it means something
 * only for a folio with PG_lru and PG_unevictable.  Preemption is off.
 */
static void ds_mlock_judge_one(struct ds_mlocks *m, struct folio *folio,
			       unsigned int expected)
{
	unsigned int found = READ_ONCE(folio->mlock_count);

	if (!folio_test_lru(folio) || !folio_test_unevictable(folio))
		return;
	m->judged++;
	if (found == expected || m->wrong++)
		return;
	m->expected = expected;
	m->found = found;
	ds_picture(&m->first, &folio->page);
}

static void ds_mlock_judge(struct ds_mlocks *m, unsigned int taken)
{
	unsigned int i;

	for (i = 0; i < m->stock->nr; i++) {
		if (m->fit[i] && ds_mlock_depth(i) > taken)
			ds_mlock_judge_one(m, m->stock->own[i].folio,
					   ds_mlock_depth(i) - taken);
	}
}

static void ds_munlock_all(struct ds_mlocks *m, unsigned int taken)
{
	unsigned int i;

	for (i = 0; i < m->stock->nr; i++) {
		if (m->fit[i] && ds_mlock_depth(i) > taken)
			ds_munlock(m->stock->own[i].folio);
	}
	ds_call(lru_add_drain)();
}

/* Nobody has mlocked it, and it is on a list. */
static bool ds_mlock_fit(struct folio *folio)
{
	return folio_test_lru(folio) && !folio_test_unevictable(folio) &&
	       !folio_test_mlocked(folio);
}

/* Preemption is off from the first mlock to the last munlock. */
static int ds_mlock_here(void *arg)
{
	struct ds_mlocks *m = arg;
	unsigned int i, depth;

	m->judged = 0;
	m->wrong = 0;
	preempt_disable();
	ds_call(lru_add_drain)();
	for (i = 0; i < m->stock->nr; i++) {
		struct folio *folio = m->stock->own[i].folio;

		m->fit[i] = ds_mlock_fit(folio);
		if (!m->fit[i])
			continue;
		ds_mlock_first(folio, i & 1);
		for (depth = 1; depth < ds_mlock_depth(i); depth++)
			ds_mlock(folio);
	}
	ds_call(lru_add_drain)();
	if (ds_plant_here(20))
		ds_plant_mlock_count(m->stock->own[0].folio, DS_MLOCK_NEVER);
	ds_mlock_judge(m, 0);
	if (ds_plant_here(20))
		ds_plant_mlock_count(m->stock->own[0].folio, ds_mlock_depth(0));
	ds_munlock_all(m, 0);
	ds_mlock_judge(m, 1);
	ds_munlock_all(m, 1);
	ds_munlock_all(m, 2);
	preempt_enable();
	return 0;
}

/*
 * A folio that comes back to the LRU mlocked begins with a count of 0: lru_add()
 * cannot know whether the mlock was counted.  Every other one is mlocked before it is
 * isolated, the rest meanwhile, so that what stands in the place of the count is
 * an old count or the remains of a list pointer.
 */
static int ds_mlock_back_here(void *arg)
{
	struct ds_mlocks *m = arg;
	unsigned int i;

	m->judged = 0;
	m->wrong = 0;
	preempt_disable();
	ds_call(lru_add_drain)();
	for (i = 0; i < m->stock->nr; i++) {
		struct folio *folio = m->stock->own[i].folio;

		m->fit[i] = ds_mlock_fit(folio);
		if (m->fit[i] && (i & 1))
			ds_mlock(folio);
	}
	ds_call(lru_add_drain)();
	for (i = 0; i < m->stock->nr; i++) {
		struct folio *folio = m->stock->own[i].folio;
		bool isolated = m->fit[i] && ds_isolate(folio);

		if (m->fit[i] && !(i & 1))
			ds_mlock(folio);
		ds_call(lru_add_drain)();
		if (isolated)
			ds_putback(folio);
		ds_call(lru_add_drain)();
		if (isolated)
			ds_mlock_judge_one(m, folio, 0);
		if (m->fit[i])
			ds_munlock(folio);
	}
	ds_call(lru_add_drain)();
	preempt_enable();
	return 0;
}

/*
 * The kernel may count too little: lru_add() sets 0 when a folio comes back from
 * isolation (mm/swap.c).  Own folios that nobody isolates are counted exactly.
 */
static void ds_mlock_check(struct ds_mlocks *m, int cpu, int (*here)(void *arg))
{
	unsigned int i;

	for (i = 0; i < DS_TRIES; i++) {
		if (i && !ds_patience(ds_again_ms[i - 1]))
			return;
		if (ds_on_cpu(cpu, here, m))
			return;
		if (!m->wrong)
			break;
		ds_drain(DS_DRAIN_ALL, -1, NULL);
	}
	ds_checked(20, m->judged);
	if (m->wrong) {
		ds_violate(20, &m->first, cpu,
			   "expected mlock_count %u, found %u%s, and something wrong in %u tries",
			   m->expected, m->found,
			   m->found == DS_MLOCK_NEVER ? " (never initialised)" : "",
			   DS_TRIES);
	}
}

void ds_probe_i20(struct ds_check *c)
{
	struct ds_stock stock;
	struct ds_mlocks m = { .stock = &stock };
	int cpu;

	if (ds_make_on_lru(&stock, DS_MLOCK_FOLIOS, ds_cpu_of_round(c->round)))
		return;
	for_each_online_cpu(cpu)
		ds_mlock_check(&m, cpu, ds_mlock_here);
	cpu = ds_cpu_of_round(c->round);
	if (ds_has(DS_SYM_folio_isolate_lru) && ds_has(DS_SYM_folio_putback_lru))
		ds_mlock_check(&m, cpu, ds_mlock_back_here);
	ds_stock_drop(&stock);
	ds_probe_culled(c);
}

/* ---- I21: nothing stays unevictable ---- */

static int ds_lock_here(void *arg)
{
	struct ds_stock *stock = arg;
	unsigned int i, depth;

	preempt_disable();
	for (i = 0; i < stock->nr; i++) {
		ds_mlock_first(stock->own[i].folio, i & 1);
		for (depth = 1; depth < ds_mlock_depth(i); depth++)
			ds_mlock(stock->own[i].folio);
	}
	preempt_enable();
	return 0;
}

static int ds_unlock_here(void *arg)
{
	struct ds_stock *stock = arg;
	unsigned int i, depth;

	preempt_disable();
	for (i = 0; i < stock->nr; i++) {
		for (depth = 0; depth < ds_mlock_depth(i); depth++)
			ds_munlock(stock->own[i].folio);
	}
	preempt_enable();
	return 0;
}

/*
 * The planted fault: a folio that is stranded, as when its munlock meets it off
 * the LRU and whoever took it off does not look again.  An unevictable folio is
 * on no list, so there is none that a missing PG_lru could break, and every
 * counter is as the kernel has it for such a folio.
 */
static void ds_plant_stranded(struct folio *folio)
{
	preempt_disable();
	ds_call(lru_add_drain)();
	ds_mlock(folio);
	ds_call(lru_add_drain)();
	if (folio_test_unevictable(folio) && folio_test_clear_lru(folio)) {
		ds_munlock(folio);
		ds_call(lru_add_drain)();
		folio_set_lru(folio);
		ds_plant_done();
	}
	preempt_enable();
}

/* How many folios on the LRU are neither mlocked nor evictable. */
static unsigned int ds_stranded(struct ds_stock *stock, struct ds_slot *first)
{
	unsigned int i, n = 0;

	for (i = 0; i < stock->nr; i++) {
		struct folio *folio = stock->own[i].folio;

		if (!folio_test_lru(folio) || folio_test_mlocked(folio) ||
		    !folio_test_unevictable(folio))
			continue;
		if (!n++)
			ds_picture(first, &folio->page);
	}
	return n;
}

/*
 * One CPU locks, another unlocks.  In every other check the two batches are
 * drained at the same time, in any order; in the rest and when something is
 * wrong the locks are drained first, so that only a foreign isolation could
 * strand a folio (UNEVICTABLE_PGSTRANDED, __munlock_folio() in mm/mlock.c).
 */
void ds_probe_i21(struct ds_check *c)
{
	int cpu = ds_cpu_of_round(c->round), other = ds_cpu_of_round(c->round + 1);
	struct ds_stock stock;
	struct ds_slot first = { };
	unsigned int i, left = 0;

	if (ds_make_on_lru(&stock, DS_MLOCK_FOLIOS, cpu))
		return;
	for (i = 0; i < DS_TRIES; i++) {
		if (i) {
			ds_stock_unlock(&stock);
			if (!ds_patience(ds_again_ms[i - 1]))
				goto out;
		}
		if (ds_on_cpu(cpu, ds_lock_here, &stock))
			goto out;
		if (i || (c->round & 1))
			ds_drain(DS_DRAIN_ALL, -1, NULL);
		if (ds_on_cpu(other, ds_unlock_here, &stock))
			goto out;
		ds_drain(DS_DRAIN_ALL, -1, NULL);
		if (ds_plant_here(21))
			ds_plant_stranded(stock.own[0].folio);
		left = ds_stranded(&stock, &first);
		if (!left)
			break;
	}
	ds_checked(21, stock.nr);
	if (left) {
		ds_violate(21, &first, cpu,
			   "mlocked on CPU %d, munlocked on CPU %d, drained: expected no folio to be unevictable, found %u of %u in the last of %u tries",
			   cpu, other, left, stock.nr, DS_TRIES);
	}
out:
	ds_stock_drop(&stock);
}

/* ---- I30: CPUs that are offline ---- */

static enum cpuhp_state ds_dead_state;

/* The planted fault: an own folio in the batch of a CPU that is offline. */
static struct folio *ds_plant_offline(struct folio_batch *fbatch)
{
	struct ds_stock *stock = ds_cpu_stock(cpumask_first(cpu_online_mask), false);
	struct folio *folio;

	if (!ds_plant_here(30) || !stock->nr || fbatch->nr >= DS_BATCH_SIZE - 1)
		return NULL;
	folio = stock->own[0].folio;
	folio_get(folio);
	fbatch->folios[fbatch->nr++] = folio;
	ds_plant_done();
	return folio;
}

static void ds_look_offline(int cpu, bool plant)
{
	struct folio *planted = NULL;
	struct folio_batch *fbatch;
	unsigned int kind;

	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if (!ds_layout_proven(kind))
			continue;
		fbatch = ds_batch(kind, cpu);
		if (plant && kind == DS_BATCH_ROTATE)
			planted = ds_plant_offline(fbatch);
		ds_checked(30, 1);
		if (fbatch->nr) {
			ds_violate(30, NULL, cpu,
				   "CPU %d is offline: expected nothing in batch %s, found %u entries",
				   cpu, ds_batch_name[kind], fbatch->nr);
		}
		if (planted) {
			fbatch->nr--;
			folio_put(planted);
			planted = NULL;
		}
	}
}

/*
 * With the CPU hotplug lock held no CPU is on its way, and nothing touches the
 * batches of those that are offline: page_alloc_cpu_dead() (mm/page_alloc.c) has
 * drained them.
 */
static void ds_look_all_offline(bool plant)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		if (!cpu_online(cpu))
			ds_look_offline(cpu, plant);
	}
	cpus_read_unlock();
}

void ds_examine_i30(struct ds_check *c)
{
	ds_look_all_offline(true);
}

static void ds_dead_look(struct work_struct *work)
{
	if (!ds_layout_reason())
		ds_look_all_offline(false);
}

static DECLARE_WORK(ds_dead_work, ds_dead_look);

/*
 * A CPU has just died.  That comes before page_alloc_cpu_dead(), whose state is
 * an earlier one, so the look waits until the CPU hotplug is over.
 */
static int ds_cpu_dead(unsigned int cpu)
{
	queue_work(system_unbound_wq, &ds_dead_work);
	return 0;
}

/* No occasion is no failure: the run is told so. */
bool ds_skip_offline(char *why, size_t len)
{
	struct ds_result result;

	if (ds_skip_layout(why, len))
		return true;
	if (!cpumask_equal(cpu_online_mask, cpu_possible_mask))
		return false;
	ds_result_read(30, &result);
	if (result.checked)
		return false;
	snprintf(why, len, "no CPU went offline");
	return true;
}

/**
 * ds_count_init() - has CPUs that go offline looked at
 *
 * Return: 0 or a negative errno.  Context: module load.
 */
int ds_count_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					    "drainstress:dead", NULL,
					    ds_cpu_dead);

	if (ret < 0)
		return ret;
	ds_dead_state = ret;
	return 0;
}

/* The reverse; may be called without the former. */
void ds_count_exit(void)
{
	if (ds_dead_state)
		cpuhp_remove_state_nocalls(ds_dead_state);
	ds_dead_state = 0;
	cancel_work_sync(&ds_dead_work);
}
