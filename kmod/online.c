// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks while the load runs: a kthread takes samples, each of one batch of one
 * CPU (I1 to I6, interrupts off there) and of at most 32 folios at an end of one
 * LRU list (I11 to I13, under its lru_lock).  What looks wrong on a list is looked
 * at again, at rest, before it is reported.  It drains nothing and makes no
 * situation of its own; what is wrong is decided in invariant*.c.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/memory_hotplug.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

#include "drainstress.h"
#include "lru.h"

#define DS_HOLD_FOLIOS	32	/* a lock hold */
#define DS_HOLD_BUCKETS	512	/* of a microsecond each, the last for all longer */
#define DS_AGAIN_MS	5	/* until a suspect is looked at once more */
/*
 * What still looks wrong then is looked at with the machine stopped: at most so
 * often, or the follow-up of folios that are legitimately isolated (by
 * compaction, say) would be a load of its own.
 */
#define DS_STOP_MS	2000
#define DS_OWED_MAX	8	/* samples of lists that are made up for at once */
#define DS_TRIES	8	/* to hit a list that is not empty */

enum { DS_SALT_CPU = 16, DS_SALT_KIND, DS_SALT_NODE, DS_SALT_LRUVEC, DS_SALT_LIST };

static struct task_struct *ds_sampler;
static atomic_t ds_online_paused = ATOMIC_INIT(0);
static bool ds_sampler_rests;
static u32 ds_online_rate;
static u64 ds_online_seed;
static struct ds_online_stats ds_online;
static u32 ds_holds[DS_HOLD_BUCKETS];	/* how many took so long */
static unsigned long ds_next_stop;	/* jiffies */

static void ds_held(u64 ns)
{
	unsigned int us = min_t(u64, ns / 1000, DS_HOLD_BUCKETS - 1);

	ds_holds[us]++;
	ds_online.hold_max_ns = max(ds_online.hold_max_ns, ns);
}

static u32 ds_pick(u64 index, u32 salt, u32 below)
{
	return ds_rand(ds_online_seed, 0, index, salt) % below;
}

/* ---- batches ---- */

struct ds_batch_sample {
	struct ds_snapshot *snap;
	unsigned int kind;
	u64 hold_ns;
};

static int ds_sample_here(void *arg)
{
	struct ds_batch_sample *b = arg;
	u64 start = ktime_get_ns();

	ds_snapshot_take_here(b->snap, b->kind);
	b->hold_ns = ktime_get_ns() - start;
	return 0;
}

static void ds_sample_batch(struct ds_check *c, u64 index)
{
	struct ds_batch_sample b = {
		.snap = c->snap,
		.kind = 1 + ds_pick(index, DS_SALT_KIND, DS_NR_BATCH_KINDS),
	};
	int cpu = ds_pick(index, DS_SALT_CPU, nr_cpu_ids);

	if (!cpu_possible(cpu) || !ds_layout_proven(b.kind) ||
	    ds_on_cpu(cpu, ds_sample_here, &b))
		return;
	ds_held(b.hold_ns);
	ds_online.samples++;
	ds_online.folios += c->snap->nr_slots;
	ds_examine_batches(c);
}

/* ---- lists ---- */

struct ds_choice {
	unsigned int left;	/* lruvecs to pass by */
	struct ds_lruvec *l;
};

static int ds_count_lruvec(struct ds_lruvec *l, void *arg)
{
	(*(unsigned int *)arg)++;
	return 0;
}

static int ds_choose_lruvec(struct ds_lruvec *l, void *arg)
{
	struct ds_choice *choice = arg;

	if (choice->left--)
		return 0;
	if (ds_get_lruvec(l))
		*choice->l = *l;
	return 1;
}

/* One of the lists that the folios are on, by number; NULL: there is none. */
static struct list_head *ds_list_head(struct lruvec *lruvec, u32 pick,
				      unsigned int *list)
{
#ifdef CONFIG_LRU_GEN
	if (READ_ONCE(lruvec->lrugen.enabled)) {
		unsigned int gen = pick % MAX_NR_GENS;
		unsigned int type = pick / MAX_NR_GENS % 2;
		unsigned int zone = pick / MAX_NR_GENS / 2 % MAX_NR_ZONES;

		*list = DS_GEN_LIST(gen, type, zone);
		return &lruvec->lrugen.folios[gen][type][zone];
	}
#endif
	*list = pick % LRU_UNEVICTABLE;
	return &lruvec->lists[*list];
}

/* Looks at the first folios, or at the last ones; under the lru_lock. */
static void ds_look_at_end(struct ds_walk *w, unsigned int list,
			   struct list_head *head, bool last)
{
	struct list_head *entry, *before = head;
	unsigned int n;

	/* From the end backwards a step is proven by the link forwards. */
	for (n = 0; n < DS_HOLD_FOLIOS; n++, before = entry) {
		entry = last ? before->prev : before->next;
		if (entry == head)
			return;
		if (!ds_walk_step(w, list, entry, before, last)) {
			ds_bad_link(w, list, head, before);
			return;
		}
	}
}

/* One look at some list of w->targets[0]. */
static void ds_sample_lists(struct ds_walk *w, u64 index)
{
	struct lruvec *lruvec = w->targets[0].lruvec;
	struct list_head *head;
	unsigned int try, list;
	u64 start;
	u32 pick;

	for (try = 0; try < DS_TRIES; try++) {
		pick = ds_pick(index * DS_TRIES + try, DS_SALT_LIST, U32_MAX);
		head = ds_list_head(lruvec, pick, &list);
		if (!list_empty(head))
			break;
	}
	if (try == DS_TRIES)
		return;
	spin_lock_irq(&lruvec->lru_lock);
	start = ktime_get_ns();
	ds_look_at_end(w, list, head, pick & BIT(30));
	start = ktime_get_ns() - start;
	spin_unlock_irq(&lruvec->lru_lock);
	ds_held(start);
	ds_online.samples++;
}

/*
 * Does a suspect still look as it did?  Without a lock, as a reason to look
 * closer only: a folio may be isolated, freed or another one by now.
 */
static bool ds_still_suspect(const struct ds_suspect *s)
{
	struct page *page = (struct page *)s->folio.folio;

	if (!page || s->wrong == DS_WRONG_LINK)
		return true;
	if (pfn_to_online_page(s->folio.pfn) != page || !page_ref_count(page))
		return s->wrong == DS_WRONG_NO_REFS;
	return (READ_ONCE(page->flags) & BIT(PG_lru)) ==
	       (s->folio.flags & BIT(PG_lru));
}

static void ds_resolve(struct ds_walk *w)
{
	unsigned int i, kept = 0;

	ds_online.suspects += w->nr_suspects;
	msleep(DS_AGAIN_MS);
	for (i = 0; i < w->nr_suspects; i++) {
		if (ds_still_suspect(&w->suspects[i]))
			w->suspects[kept++] = w->suspects[i];
	}
	w->nr_suspects = kept;
	if (!kept)
		return;
	if (time_before(jiffies, ds_next_stop)) {
		ds_online.unresolved += kept;
		return;
	}
	ds_follow_up(w);
	ds_report_suspects(w);
	ds_online.pause_max_ns = max(ds_online.pause_max_ns, w->pause_ns);
	ds_next_stop = jiffies + msecs_to_jiffies(DS_STOP_MS);
}

static void ds_sample_lru(struct ds_walk *w, u64 index)
{
	struct ds_choice choice = { .l = &w->targets[0] };
	unsigned int i, nr = 0;
	int nid = ds_pick(index, DS_SALT_NODE, num_online_nodes());

	for_each_online_node(i) {
		if (!nid--)
			break;
	}
	/* One has gone offline meanwhile. */
	if (i >= MAX_NUMNODES)
		return;
	ds_each_lruvec(i, ds_count_lruvec, &nr);
	if (!nr)
		return;
	choice.left = ds_pick(index, DS_SALT_LRUVEC, nr);
	w->targets[0].lruvec = NULL;
	ds_each_lruvec(i, ds_choose_lruvec, &choice);
	if (!w->targets[0].lruvec)
		return;
	w->mask = ds_lists_mask(DS_INV_BIT(11) | DS_INV_BIT(12) | DS_INV_BIT(13));
	w->again = false;
	w->nr_suspects = 0;
	w->folios = 0;
	memset(w->checked, 0, sizeof(w->checked));
	w->next = 0;
	ds_sample_lists(w, index);
	for (i = 11; i <= 13; i++) {
		if (w->mask & DS_INV_BIT(i))
			ds_checked(i, w->checked[i]);
	}
	ds_online.folios += w->folios;
	if (w->nr_suspects)
		ds_resolve(w);
	ds_put_lruvec(&w->targets[0]);
}

/* ---- the kthread ---- */

static void ds_rest(void)
{
	do {
		/* Pairs with ds_online_pause(): the sample before is complete. */
		smp_store_release(&ds_sampler_rests, true);
		while (atomic_read(&ds_online_paused) && !kthread_should_stop())
			usleep_range(200, 500);
		WRITE_ONCE(ds_sampler_rests, false);
		/* Who pauses anew sees that, or is seen; pairs likewise. */
		smp_mb();
	} while (atomic_read(&ds_online_paused) && !kthread_should_stop());
}

/* What the kthread works with; it outlives the kthread. */
static struct ds_sampler_data {
	struct ds_check check;
	struct ds_walk *walk;
	struct ds_lruvec target;
} ds_sampler_data;

static void ds_sampler_free(void)
{
	struct ds_sampler_data *data = &ds_sampler_data;

	ds_snapshot_free(data->check.again);
	ds_snapshot_free(data->check.snap);
	kvfree(data->walk);
	*data = (struct ds_sampler_data){ };
}

static int ds_sampler_alloc(void)
{
	struct ds_sampler_data *data = &ds_sampler_data;

	data->check.snap = ds_snapshot_alloc();
	data->check.again = ds_snapshot_alloc();
	data->walk = kvzalloc(sizeof(*data->walk), GFP_KERNEL);
	if (!data->check.snap || !data->check.again || !data->walk) {
		ds_sampler_free();
		return -ENOMEM;
	}
	data->walk->targets = &data->target;
	data->walk->nr_targets = 1;
	return 0;
}

/* How many samples of lists are due, of which @done were taken since @start. */
static unsigned int ds_owed(u64 start, u64 done)
{
	u64 due = div_u64((ktime_get_ns() - start) / 1000, 1000000 / ds_online_rate);

	return clamp_t(s64, due - done, 1, DS_OWED_MAX);
}

static int ds_sampler_main(void *arg)
{
	u64 period_us = 1000000 / ds_online_rate, start = ktime_get_ns(), index = 0;
	struct ds_sampler_data *data = arg;
	unsigned int owed;

	set_user_nice(current, DS_NICE);
	while (!kthread_should_stop()) {
		if (atomic_read(&ds_online_paused))
			ds_rest();
		ds_sample_batch(&data->check, index / DS_OWED_MAX);
		/* On a busy machine it wakes up late: then several at a time. */
		for (owed = ds_owed(start, index); owed; owed--)
			ds_sample_lru(data->walk, index++);
		usleep_range(period_us, period_us + period_us / 4 + 1);
	}
	/* Pairs with ds_online_pause(): nothing follows. */
	smp_store_release(&ds_sampler_rests, true);
	return 0;
}

/**
 * ds_online_start() - begins to take samples
 * @rate: a second; 0: none
 * @seed: decides which
 *
 * Counters start at zero.  Return: 0 or a negative errno.  Context: the ordered
 * work queue.
 */
int ds_online_start(u32 rate, u64 seed)
{
	struct task_struct *task;
	int err;

	ds_online = (struct ds_online_stats){ };
	memset(ds_holds, 0, sizeof(ds_holds));
	if (!rate || ds_layout_reason())
		return 0;
	err = ds_sampler_alloc();
	if (err)
		return err;
	ds_online_rate = rate;
	ds_online_seed = seed;
	ds_next_stop = jiffies;
	ds_sampler_rests = false;
	task = kthread_run(ds_sampler_main, &ds_sampler_data, "drainstress/look");
	if (IS_ERR(task)) {
		ds_sampler_free();
		return PTR_ERR(task);
	}
	ds_sampler = task;
	return 0;
}

/* Counters stay.  Context: the ordered work queue. */
void ds_online_stop(void)
{
	if (ds_sampler)
		kthread_stop(ds_sampler);
	ds_sampler = NULL;
	ds_sampler_free();
}

/**
 * ds_online_pause() - waits until no sample is being taken
 *
 * None is taken until ds_online_resume().  Context: the ordered work queue.
 */
void ds_online_pause(void)
{
	atomic_inc(&ds_online_paused);
	smp_mb__after_atomic();	/* pairs with ds_rest() */
	/* Pairs with the releases in the kthread. */
	while (ds_sampler && !smp_load_acquire(&ds_sampler_rests))
		usleep_range(200, 500);
}

void ds_online_resume(void)
{
	atomic_dec(&ds_online_paused);
}

/**
 * ds_online_read() - what the samples of this run, or of the last one, found
 * @stats: gets a copy; may miss the newest sample
 */
void ds_online_read(struct ds_online_stats *stats)
{
	u64 all = 0, sum = 0;
	unsigned int i;

	*stats = ds_online;
	for (i = 0; i < DS_HOLD_BUCKETS; i++)
		all += READ_ONCE(ds_holds[i]);
	for (i = 0; all && i < DS_HOLD_BUCKETS; i++) {
		sum += READ_ONCE(ds_holds[i]);
		if (2 * sum >= all)
			break;
	}
	/* The upper end of the bucket that holds the median. */
	stats->hold_p50_ns = all ? (i + 1) * 1000ULL : 0;
}
