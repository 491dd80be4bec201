// SPDX-License-Identifier: GPL-2.0-only
/*
 * pairs[]: two actions that are brought together in time, so that any point of one
 * meets any point of the other.  Two kthreads on two CPUs, A and B, prepare, wait
 * for each other, and start with an offset that comes from the seed and from how
 * long the actions took before.  What they then did is judged by when they really
 * were under way.  For comparison the same actions can be made without meeting.
 * The arithmetic, and which pairs there are, is in <linux/drainstress_align.h>; the
 * race of race.c goes on beside it.
 *
 * A leads: it says what is done next, calls B, and waits until B is done.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/timekeeping.h>

#include "drainstress.h"

/* Pages that A makes; those that B makes fit its lru_add batch. */
#define DS_PAGES_A	(DS_BATCH_SIZE + 3)
#define DS_PAGES_B	(DS_BATCH_SIZE - 1)

#define DS_SLICE_MS	500	/* of one pair, one way */
#define DS_PREPARED_MS	200	/* for the other one to be prepared */
#define DS_GATE_NS	(40 * NSEC_PER_MSEC)	/* for it to come, spinning */
#define DS_PONG_NS	(20 * NSEC_PER_USEC)	/* both are running */
#define DS_SPIN_NS	(200 * NSEC_PER_USEC)	/* of a delay, the rest sleeps */
#define DS_LEAD_NS	2000	/* from the meeting to the first start */

/*
 * After an action a side rests for eight times as long as it and the preparation
 * take, so that the pairs have about a ninth of two CPUs, but not for longer than the
 * pair's row says: on a busy host, or behind a lock, a short action may take long.
 */
#define DS_REST_TIMES	8
#define DS_REST_MIN_US	1000
#define DS_REST_MAX_US	10000
#define DS_NAP_US	20000	/* how long a pause waits for a rest to end */

/* Intervals of one slice that are kept; more cannot be, by DS_REST_MIN_US. */
#define DS_KEPT		1024

enum { DS_A, DS_B, DS_SIDES };

/* What a decision of a round is for; see ds_random_at(). */
enum { DS_FOR_CPUS = 1, DS_FOR_OFFSET, DS_FOR_ACTION, DS_FOR_REST = 8 };

typedef int (*ds_pair_fn)(u64 random);
typedef void (*ds_pair_end)(void);

/**
 * struct ds_pair - one row a pair
 * @needs:	bit mask of enum ds_sym
 * @missing:	writes why it cannot be had here although the symbols are there
 * @rest_max_us: longest rest on average; 0: DS_REST_MAX_US
 * @prepare:	outside of the time that counts; returns 0 or a negative errno
 * @act:	the action; returns 0 or a negative errno
 * @after:	gives back what @prepare took, whether there was an action or not
 *
 * Each by side; all in process context, on the side's CPU.
 */
struct ds_pair {
	u64 needs;
	unsigned int rest_max_us;
	bool (*missing)(char *why, size_t len);
	ds_pair_fn prepare[DS_SIDES];
	ds_pair_fn act[DS_SIDES];
	ds_pair_end after[DS_SIDES];
};

/* What A says is done next; B reads it after ds_called. */
static struct {
	unsigned int pair;
	int cpu[DS_SIDES];
	bool free;		/* each goes its own way, until */
	bool end;		/* this is said */
	u64 index;		/* of the round of this pair; where a free slice begins */
	s64 offset;
} ds_turn;

static unsigned int ds_called, ds_answered;	/* counted turns */
static DECLARE_WAIT_QUEUE_HEAD(ds_align_wait);

/* The gate of a round. */
enum { DS_GATE_OPEN, DS_GATE_ONE, DS_GATE_MET, DS_GATE_LEFT };
static atomic_t ds_gate;
static atomic_t ds_prepared;

/* At the gate: the number of the last call, or what came of them. */
enum { DS_PING_LEFT = -2, DS_PING_GO, DS_PING_NONE, DS_PING_FIRST };
static atomic_t ds_ping_nr, ds_pong_nr;
static u64 ds_gate_ns;		/* when they met */

/* What a side did last, or in a free slice. */
static struct ds_side {
	struct task_struct *task;
	bool met;
	bool acted;
	struct ds_align_interval last;
	unsigned int nr;
	struct ds_align_interval kept[DS_KEPT];
} ds_sides[DS_SIDES];

static struct {
	enum drainstress_align mode;
	u32 pairs;		/* available and wanted */
	u64 seed;
	struct cpumask cpus;
	unsigned int kinds[DS_NR_BATCH_KINDS];	/* to fill */
	unsigned int nr_kinds;
} ds_align;

static bool ds_align_rests;
static struct file *ds_align_file;
static u64 ds_align_index[__DS_PAIR_MAX];
static struct ds_align_stats ds_align_stats[__DS_PAIR_MAX];

/* ---- the actions ---- */

/* Makes pages of the file, through this CPU's lru_add batch; keeps them in @kept. */
static int ds_touch(pgoff_t first, unsigned int nr, struct page **kept)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		page = shmem_read_mapping_page_gfp(ds_align_file->f_mapping,
						   first + i,
						   GFP_KERNEL | __GFP_NOWARN);
		if (IS_ERR(page))
			return PTR_ERR(page);
		ds_queues_own(DS_BATCH_LRU_ADD);
		if (kept)
			kept[i] = page;
		else
			put_page(page);
	}
	return 0;
}

static int ds_make_pages_a(u64 random)
{
	return ds_touch(0, DS_PAGES_A, NULL);
}

static int ds_make_pages_b(u64 random)
{
	return ds_touch(DS_PAGES_A, DS_PAGES_B, NULL);
}

/* Both loops through the batches: the shmem one and the page cache's. */
static int ds_truncate(u64 random)
{
	ds_ring_put(DS_DID_TRUNCATE, 0, 0, 0, DS_ON_NONE);
	if (random & 1)
		shmem_truncate_range(file_inode(ds_align_file), 0, (loff_t)-1);
	else
		truncate_inode_pages(ds_align_file->f_mapping, 0);
	return 0;
}

static int ds_drain_local(u64 random)
{
	return ds_drain(DS_DRAIN_LOCAL, raw_smp_processor_id(), NULL);
}

/* B's own folios, which A may queue too: the kinds are such. */
static void ds_fill_some(u64 random, unsigned int n)
{
	unsigned int kind = ds_align.kinds[(u32)random % ds_align.nr_kinds];

	ds_fill(kind, ds_cpu_stock(ds_turn.cpu[DS_B], false), n, random >> 32);
}

static int ds_fill_one_short(u64 random)
{
	ds_fill_some(random, DS_BATCH_SIZE - 1);
	return 0;
}

static int ds_fill_batch(u64 random)
{
	ds_fill_some(random, DS_BATCH_SIZE);
	return 0;
}

static int ds_disable_enable(u64 random)
{
	return ds_drain(DS_DRAIN_DISABLE, -1, NULL);
}

static struct page *ds_mlocked[DS_BATCH_SIZE];

static int ds_keep_pages(u64 random)
{
	return ds_touch(0, ARRAY_SIZE(ds_mlocked), ds_mlocked);
}

static void ds_put_pages(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ds_mlocked); i++) {
		if (ds_mlocked[i])
			put_page(ds_mlocked[i]);
		ds_mlocked[i] = NULL;
	}
}

/* Each mlock is taken back: a page that is truncated in between is freed as any. */
static int ds_mlock_munlock(u64 random)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ds_mlocked); i++)
		ds_mlock(page_folio(ds_mlocked[i]));
	for (i = 0; i < ARRAY_SIZE(ds_mlocked); i++)
		ds_munlock(page_folio(ds_mlocked[i]));
	return 0;
}

#ifdef CONFIG_HOTPLUG_CPU
static bool ds_can_go(int cpu)
{
	struct device *dev = get_cpu_device(cpu);

	return cpu && dev && !dev->offline_disabled;
}

#define DS_BACK_TRIES	200
#define DS_BACK_MS	50

/* Somebody may have forbidden hotplug for a moment, or bring it back himself. */
static void ds_bring_back(int cpu)
{
	unsigned int tries;
	int err = 0;

	for (tries = 0; tries < DS_BACK_TRIES; tries++) {
		err = add_cpu(cpu);
		if (err >= 0 || cpu_online(cpu))
			return;
		msleep(DS_BACK_MS);
	}
	pr_err("CPU %d cannot be brought back online: error %d\n", cpu, err);
}

static int ds_offline_online(u64 random)
{
	int cpu = ds_turn.cpu[DS_B];
	int err = remove_cpu(cpu);

	if (err)	/* 1: somebody else took it, and shall bring it back */
		return -EBUSY;
	ds_ring_put(DS_DID_OFFLINE, 0, 1, 0, cpu);
	ds_bring_back(cpu);
	ds_ring_put(DS_DID_OFFLINE, 0, 0, 0, cpu);
	return 0;
}
#else
static bool ds_can_go(int cpu)
{
	return false;
}

static int ds_offline_online(u64 random)
{
	return -EOPNOTSUPP;
}
#endif

static bool ds_none_can_go(char *why, size_t len)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (ds_can_go(cpu))
			return false;
	}
	snprintf(why, len, IS_ENABLED(CONFIG_HOTPLUG_CPU) ?
		 "no CPU can be taken offline" :
		 "this kernel has no CPU hotplug: CONFIG_HOTPLUG_CPU");
	return true;
}

#define DS_NEEDS1(a)		BIT_ULL(DS_SYM_##a)
#define DS_NEEDS2(a, b)		(DS_NEEDS1(a) | DS_NEEDS1(b))

static const struct ds_pair ds_pairs[__DS_PAIR_MAX] = {
	[DS_PAIR_TRUNCATE_DRAIN] = {
		.needs = DS_NEEDS1(lru_add_drain),
		.prepare = { ds_make_pages_a, ds_make_pages_b },
		.act = { ds_truncate, ds_drain_local },
	},
	[DS_PAIR_FILL_DRAIN] = {
		.needs = DS_NEEDS1(lru_add_drain),
		.prepare = { NULL, ds_fill_one_short },
		.act = { ds_fill_batch, ds_drain_local },
	},
	[DS_PAIR_DISABLE_FILL] = {
		.needs = DS_NEEDS2(lru_cache_disable, lru_disable_count),
		.rest_max_us = 100000,
		.act = { ds_disable_enable, ds_fill_batch },
	},
	[DS_PAIR_MLOCK_TRUNCATE] = {
		.needs = DS_NEEDS2(mlock_folio, munlock_folio),
		.prepare = { ds_keep_pages },
		.act = { ds_mlock_munlock, ds_truncate },
		.after = { ds_put_pages },
	},
	[DS_PAIR_OFFLINE_FILL] = {
		.missing = ds_none_can_go,
		.rest_max_us = 1000000,
		.act = { ds_offline_online, ds_fill_batch },
	},
};

/* ---- the meeting ---- */

/*
 * One calls, the other answers, until an answer comes so soon that both must be
 * running at this very moment: a virtual CPU may stand still for long.  Then the
 * caller says when it begins.  No cpu_relax() from here on: an emulator takes it for
 * an occasion to run something else.
 */
static bool ds_ping(u64 limit)
{
	int n;

	for (n = DS_PING_FIRST;; n++) {
		u64 now, sent = ktime_get_ns();

		if (atomic_cmpxchg(&ds_ping_nr, n - 1, n) != n - 1)
			return false;	/* the other one has left */
		do {
			now = ktime_get_ns();
		} while (atomic_read(&ds_pong_nr) != n && now < limit);
		if (now >= limit) {
			atomic_cmpxchg(&ds_ping_nr, n, DS_PING_LEFT);
			return false;
		}
		if (now - sent > DS_PONG_NS)
			continue;
		WRITE_ONCE(ds_gate_ns, now);
		/* Orders the time before the word. */
		return atomic_cmpxchg(&ds_ping_nr, n, DS_PING_GO) == n;
	}
}

static bool ds_pong(u64 limit)
{
	for (;;) {
		int n = atomic_read_acquire(&ds_ping_nr);

		if (n == DS_PING_GO || n == DS_PING_LEFT)
			return n == DS_PING_GO;
		atomic_set(&ds_pong_nr, n);
		if (ktime_get_ns() >= limit &&
		    atomic_cmpxchg(&ds_ping_nr, n, DS_PING_LEFT) == n)
			return false;
	}
}

/*
 * Waits, not for ever, until the other one is at the gate too.  The one that comes
 * first sleeps until the other is prepared, for that may take long; then the last
 * steps are made spinning, because a wake-up takes longer than an action.
 */
static bool ds_meet(void)
{
	u64 limit;

	if (atomic_inc_return(&ds_prepared) < DS_SIDES)
		wait_event_idle_timeout(ds_align_wait,
					atomic_read(&ds_prepared) == DS_SIDES,
					msecs_to_jiffies(DS_PREPARED_MS));
	else
		wake_up_all(&ds_align_wait);
	limit = ktime_get_ns() + DS_GATE_NS;
	if (atomic_cmpxchg(&ds_gate, DS_GATE_OPEN, DS_GATE_ONE) != DS_GATE_OPEN)
		return atomic_cmpxchg(&ds_gate, DS_GATE_ONE, DS_GATE_MET) ==
		       DS_GATE_ONE && ds_ping(limit);
	while (ktime_get_ns() < limit) {
		if (atomic_read(&ds_gate) == DS_GATE_MET)
			return ds_pong(limit);
		cpu_relax();
	}
	/* It may come at the last moment. */
	return atomic_cmpxchg(&ds_gate, DS_GATE_ONE, DS_GATE_LEFT) ==
	       DS_GATE_MET && ds_pong(limit);
}

/* The other one need not wait. */
static void ds_stay_away(void)
{
	atomic_set(&ds_gate, DS_GATE_LEFT);
	atomic_inc(&ds_prepared);
	wake_up_all(&ds_align_wait);
}

/* Sleeps for most of a long delay, and spins for less than DS_SPIN_NS of it. */
static void ds_wait_until(u64 ns)
{
	u64 now = ktime_get_ns();
	unsigned long us;

	if (ns > now + DS_SPIN_NS) {
		us = (ns - now - DS_SPIN_NS / 2) / NSEC_PER_USEC;
		usleep_range(us, us + 10);
	}
	while (ktime_get_ns() < ns)
		;
}

/* ---- what one side does ---- */

static u64 ds_random(unsigned int pair, u64 index, u32 what)
{
	return ds_random_at(ds_align.seed, pair, index, what);
}

/* A CPU that came back, or another turn: here is where the side belongs. */
static int ds_bind(int cpu)
{
	if (current->nr_cpus_allowed == 1 && raw_smp_processor_id() == cpu)
		return 0;
	return set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static bool ds_prepare(int side, u64 random)
{
	const struct ds_pair *row = &ds_pairs[ds_turn.pair];

	return !ds_bind(ds_turn.cpu[side]) &&
	       (!row->prepare[side] || !row->prepare[side](random));
}

/* Prepares, acts when @meet says so, and notes when it was. */
static void ds_side_once(int side, u64 random, bool meet)
{
	const struct ds_pair *row = &ds_pairs[ds_turn.pair];
	struct ds_align_stats *stats = &ds_align_stats[ds_turn.pair];
	struct ds_side *s = &ds_sides[side];
	s64 late = side == DS_A ? -ds_turn.offset : ds_turn.offset;
	u64 busy = ktime_get_ns();
	bool ready = ds_prepare(side, random);

	busy = ktime_get_ns() - busy;
	s->met = true;
	if (meet && ready) {
		ready = ds_meet();
		s->met = ready;
		if (ready)
			ds_wait_until(READ_ONCE(ds_gate_ns) + DS_LEAD_NS +
				      (late > 0 ? late : 0));
	} else if (meet) {
		ds_stay_away();
	}
	s->acted = false;
	if (ready) {
		s->last.start = ktime_get_ns();
		s->acted = !row->act[side](random);
		s->last.end = ktime_get_ns();
		busy += s->last.end - s->last.start;
	}
	if (row->after[side])
		row->after[side]();
	if (!s->acted)
		return;
	stats->len[side] = ds_align_learn(stats->len[side],
					  s->last.end - s->last.start);
	stats->busy[side] = ds_align_learn(stats->busy[side], busy);
}

static bool ds_nap_over(int side)
{
	if (side == DS_B)
		return READ_ONCE(ds_turn.end);
	return ds_race_paused() || kthread_should_stop();
}

static u64 ds_rest_us(void)
{
	struct ds_align_stats *stats = &ds_align_stats[ds_turn.pair];
	u64 us = DS_REST_TIMES * max(stats->busy[DS_A], stats->busy[DS_B]) /
		 NSEC_PER_USEC;

	return clamp_t(u64, us, DS_REST_MIN_US,
		       ds_pairs[ds_turn.pair].rest_max_us ?: DS_REST_MAX_US);
}

/*
 * From half to one and a half times @us, so that two that go their own way do not
 * run in step.
 */
static void ds_side_rest(int side, u64 us, u64 random)
{
	us = us / 2 + (us * (u32)(random >> 32) >> 32);
	while (us && !ds_nap_over(side)) {
		unsigned int nap = min_t(u64, us, DS_NAP_US);

		usleep_range(nap, nap + 20);
		us -= nap;
	}
}

/* ---- slices ---- */

static bool ds_slice_over(unsigned long until)
{
	return time_after_eq(jiffies, until) || ds_race_paused() ||
	       kthread_should_stop();
}

static void ds_call_b(void)
{
	/* Pairs with ds_b_main(): the turn stands before it is called. */
	smp_store_release(&ds_called, ds_called + 1);
	wake_up_all(&ds_align_wait);
}

static bool ds_b_done(void)
{
	/* Pairs with ds_b_main(): what B noted can be read. */
	return smp_load_acquire(&ds_answered) == ds_called;
}

/* Every wait of B is bounded, so this is. */
static void ds_await_b(void)
{
	wait_event_idle(ds_align_wait, ds_b_done());
}

static void ds_judge(struct ds_align_stats *stats, u64 len_a, u64 len_b)
{
	const struct ds_align_interval *a = &ds_sides[DS_A].last;
	const struct ds_align_interval *b = &ds_sides[DS_B].last;
	int bin;

	if (!ds_sides[DS_A].acted || !ds_sides[DS_B].acted) {
		if (ds_sides[DS_A].met && ds_sides[DS_B].met)
			stats->failed++;
		else
			stats->missed++;
		return;
	}
	stats->rounds++;
	stats->overlaps += ds_align_overlap(a->start, a->end, b->start, b->end);
	if (!len_a || !len_b)	/* the first: there was no range yet */
		return;
	bin = ds_align_bin(b->start - a->start, len_a, len_b);
	if (bin < 0)
		stats->outside++;
	else
		stats->bins[bin]++;
}

static void ds_round(void)
{
	struct ds_align_stats *stats = &ds_align_stats[ds_turn.pair];
	u64 len_a = stats->len[DS_A], len_b = stats->len[DS_B];
	u64 index = ds_align_index[ds_turn.pair]++;

	ds_turn.index = index;
	ds_turn.offset = ds_align_offset(ds_random(ds_turn.pair, index,
						   DS_FOR_OFFSET), len_a, len_b);
	atomic_set(&ds_gate, DS_GATE_OPEN);
	atomic_set(&ds_prepared, 0);
	atomic_set(&ds_ping_nr, DS_PING_NONE);
	atomic_set(&ds_pong_nr, DS_PING_NONE);
	ds_call_b();
	ds_side_once(DS_A, ds_random(ds_turn.pair, index, DS_FOR_ACTION + DS_A),
		     true);
	ds_await_b();
	ds_judge(stats, len_a, len_b);
}

static void ds_meet_slice(unsigned long until)
{
	struct ds_align_stats *stats = &ds_align_stats[ds_turn.pair];

	ds_turn.free = false;
	while (!ds_slice_over(until)) {
		u64 start = ktime_get_ns();

		ds_round();
		ds_side_rest(DS_A, ds_rest_us(),
			     ds_random(ds_turn.pair, ds_turn.index, DS_FOR_REST));
		stats->period = ds_align_learn(stats->period,
					       ktime_get_ns() - start);
	}
}

/*
 * One side of a free slice: the same preparation and action, as often as rounds in
 * which the sides meet come.
 */
static void ds_free_side(int side, unsigned long until)
{
	struct ds_side *s = &ds_sides[side];
	u64 index = ds_turn.index, start, period, us;

	s->nr = 0;
	while (s->nr < DS_KEPT && (side == DS_A ? !ds_slice_over(until) :
				   !READ_ONCE(ds_turn.end))) {
		start = ktime_get_ns();
		ds_side_once(side, ds_random(ds_turn.pair, index,
					     DS_FOR_ACTION + side), false);
		if (s->acted)
			s->kept[s->nr++] = s->last;
		period = READ_ONCE(ds_align_stats[ds_turn.pair].period);
		start = ktime_get_ns() - start;
		us = period > start ? (period - start) / NSEC_PER_USEC : 0;
		ds_side_rest(side, max_t(u64, us, DS_REST_MIN_US),
			     ds_random(ds_turn.pair, index++, DS_FOR_REST + side));
	}
	if (side == DS_A)
		ds_align_index[ds_turn.pair] = index;
}

static void ds_free_slice(unsigned long until)
{
	struct ds_align_stats *stats = &ds_align_stats[ds_turn.pair];

	ds_turn.free = true;
	ds_turn.index = ds_align_index[ds_turn.pair];
	WRITE_ONCE(ds_turn.end, false);
	ds_call_b();
	ds_free_side(DS_A, until);
	WRITE_ONCE(ds_turn.end, true);
	ds_await_b();
	stats->free_actions[DS_A] += ds_sides[DS_A].nr;
	stats->free_actions[DS_B] += ds_sides[DS_B].nr;
	stats->free_overlaps += ds_align_overlaps(ds_sides[DS_A].kept,
						  ds_sides[DS_A].nr,
						  ds_sides[DS_B].kept,
						  ds_sides[DS_B].nr);
}

/* The @n-th of the CPUs of the race that are online, or of those that can go. */
static int ds_nth(unsigned int n, int but, bool can_go)
{
	unsigned int round;
	int cpu;

	for (round = 0; round < 2; round++) {
		unsigned int found = 0;

		for_each_cpu_and(cpu, &ds_align.cpus, cpu_online_mask) {
			if (cpu == but || (can_go && !ds_can_go(cpu)))
				continue;
			if (found++ == n)
				return cpu;
		}
		if (!found)
			break;
		n %= found;
	}
	return -1;
}

/* Two different CPUs; false: there are none now. */
static bool ds_choose_cpus(unsigned int pair)
{
	u64 random = ds_random(pair, ds_align_index[pair], DS_FOR_CPUS);

	ds_turn.cpu[DS_B] = ds_nth(random & 0xffff, -1,
				   pair == DS_PAIR_OFFLINE_FILL);
	if (ds_turn.cpu[DS_B] < 0)
		return false;
	ds_turn.cpu[DS_A] = ds_nth((random >> 16) & 0xffff, ds_turn.cpu[DS_B],
				   false);
	return ds_turn.cpu[DS_A] >= 0;
}

static void ds_slice(bool free)
{
	struct ds_align_stats *stats = &ds_align_stats[ds_turn.pair];
	unsigned long until = jiffies + msecs_to_jiffies(DS_SLICE_MS);
	u64 start = ktime_get_ns();

	if (free)
		ds_free_slice(until);
	else
		ds_meet_slice(until);
	*(free ? &stats->free_ns : &stats->ns) += ktime_get_ns() - start;
}

/* Between two slices: nothing of a pair is under way. */
static void ds_rest_if_paused(void)
{
	if (!ds_race_paused())
		return;
	/* Pairs with ds_align_wait_rest(): the slice before is complete. */
	smp_store_release(&ds_align_rests, true);
	while (ds_race_paused() && !kthread_should_stop())
		usleep_range(50, 200);
	/* The next slice begins after the pause has ended. */
	smp_store_release(&ds_align_rests, false);
}

static int ds_a_main(void *unused)
{
	bool free = false;
	u64 turn = 0;

	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		ds_rest_if_paused();
		ds_turn.pair = ds_align_turn(ds_align.seed, ds_align.pairs,
					     ds_pairs_rare, turn);
		/* With a comparison both ways of a turn have the same CPUs. */
		if (!free && !ds_choose_cpus(ds_turn.pair)) {
			msleep(20);
			turn++;
			continue;
		}
		ds_slice(free);
		free = ds_align.mode == DS_ALIGN_COMPARE && !free;
		if (!free)
			turn++;
	}
	/* Pairs with ds_align_wait_rest(): nothing follows. */
	smp_store_release(&ds_align_rests, true);
	return 0;
}

static int ds_b_main(void *unused)
{
	unsigned int seen = 0;

	sched_set_fifo_low(current);
	for (;;) {
		wait_event_idle(ds_align_wait, READ_ONCE(ds_called) != seen ||
				kthread_should_stop());
		/* Pairs with ds_call_b(): the turn can be read. */
		if (smp_load_acquire(&ds_called) == seen)
			return 0;
		seen++;
		if (ds_turn.free)
			ds_free_side(DS_B, 0);
		else
			ds_side_once(DS_B, ds_random(ds_turn.pair, ds_turn.index,
						     DS_FOR_ACTION + DS_B), true);
		/* Pairs with ds_await_b(): what was noted stands before it. */
		smp_store_release(&ds_answered, seen);
		wake_up_all(&ds_align_wait);
	}
}

/* ---- for the others ---- */

#define DS_PAIR_NAME(sym, name, a, b, rare) [DS_PAIR_##sym] = name,
#define DS_PAIR_TITLE(sym, name, a, b, rare)				\
	[DS_PAIR_##sym] = "A " a "; B " b,
#define DS_PAIR_RARE(sym, name, a, b, rare)				\
	((rare) ? DS_KIND_BIT(DS_PAIR_##sym) : 0) |

const char *const ds_pair_name[__DS_PAIR_MAX] = { DS_PAIRS(DS_PAIR_NAME) };
static const char *const ds_pair_titles[__DS_PAIR_MAX] = {
	DS_PAIRS(DS_PAIR_TITLE)
};

const u32 ds_pairs_rare = (DS_PAIRS(DS_PAIR_RARE) 0);

/* What both sides of @pair do, in words. */
void ds_pair_title(unsigned int pair, char *title, size_t len)
{
	strscpy(title, ds_pair_titles[pair], len);
}

/**
 * ds_pair_available() - whether this kernel and host can race @pair
 * @pair: enum drainstress_pair, from 1
 * @why: gets the reason when not
 * @len: room in @why, bytes
 */
bool ds_pair_available(unsigned int pair, char *why, size_t len)
{
	const struct ds_pair *row = &ds_pairs[pair];

	if (num_online_cpus() < DS_SIDES) {
		snprintf(why, len, "there is only one CPU");
		return false;
	}
	return ds_needs_met(row->needs, why, len) && !ds_skip_layout(why, len) &&
	       ds_batch_available(DS_BATCH_LRU_ADD, why, len) &&
	       !(row->missing && row->missing(why, len));
}

/* What became of @pair so far; the numbers may be of two moments. */
void ds_align_read(unsigned int pair, struct ds_align_stats *stats)
{
	*stats = ds_align_stats[pair];
}

void ds_align_reset(void)
{
	memset(ds_align_stats, 0, sizeof(ds_align_stats));
	memset(ds_align_index, 0, sizeof(ds_align_index));
}

/* The kinds of the run whose folios another CPU may queue; lru_add at least. */
static void ds_choose_fills(u32 kinds)
{
	char why[DS_REASON_LEN];
	unsigned int kind;

	ds_align.nr_kinds = 0;
	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		if ((kinds & DS_KIND_BIT(kind)) && ds_batch_kinds[kind].foreign &&
		    ds_batch_available(kind, why, sizeof(why)))
			ds_align.kinds[ds_align.nr_kinds++] = kind;
	}
	if (!ds_align.nr_kinds)
		ds_align.kinds[ds_align.nr_kinds++] = DS_BATCH_LRU_ADD;
}

static int ds_align_run(int side, int (*fn)(void *), const char *name)
{
	struct task_struct *task = kthread_run(fn, NULL, name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(ds_sides[side].task, task);
	return 0;
}

/**
 * ds_align_start() - begins to race pairs, when the run wants it
 * @config: of the run
 *
 * Return: 0 or a negative errno, then nothing runs.  Context: the ordered work
 * queue; the stocks are there.
 */
int ds_align_start(const struct ds_race_config *config)
{
	char why[DS_REASON_LEN];
	struct file *file;
	unsigned int pair;
	int err;

	ds_align.mode = config->align;
	ds_align.pairs = 0;
	ds_align.seed = config->seed;
	cpumask_copy(&ds_align.cpus, &config->cpus);
	for (pair = 1; pair < __DS_PAIR_MAX; pair++) {
		if ((config->pairs & DS_KIND_BIT(pair)) &&
		    ds_pair_available(pair, why, sizeof(why)))
			ds_align.pairs |= DS_KIND_BIT(pair);
	}
	if (ds_align.mode == DS_ALIGN_OFF || !ds_align.pairs)
		return 0;
	ds_choose_fills(config->kinds);
	file = shmem_file_setup("drainstress-align", (loff_t)(DS_PAGES_A +
				DS_PAGES_B) << PAGE_SHIFT, VM_NORESERVE);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ds_align_file = file;
	ds_called = 0;
	ds_answered = 0;
	ds_align_rests = false;
	err = ds_align_run(DS_B, ds_b_main, "drainstress/b") ?:
	      ds_align_run(DS_A, ds_a_main, "drainstress/a");
	if (err)
		ds_align_stop();
	return err;
}

/**
 * ds_align_stop() - ends the pairs; what they took is given back
 *
 * Counters stay.  Context: process, may sleep, as long as an action takes.
 */
void ds_align_stop(void)
{
	int side;

	for (side = 0; side < DS_SIDES; side++) {
		if (ds_sides[side].task)
			kthread_stop(ds_sides[side].task);
		WRITE_ONCE(ds_sides[side].task, NULL);
	}
	if (!ds_align_file)
		return;
	shmem_truncate_range(file_inode(ds_align_file), 0, (loff_t)-1);
	fput(ds_align_file);
	ds_align_file = NULL;
}

/* Waits until no pair is under way; the race is paused.  Context: may sleep. */
void ds_align_wait_rest(void)
{
	while (READ_ONCE(ds_sides[DS_A].task)) {
		/* Pairs with the releases in A, which rests after B does. */
		if (smp_load_acquire(&ds_align_rests))
			break;
		usleep_range(50, 200);
	}
}
