// SPDX-License-Identifier: GPL-2.0-only
/*
 * The race engine: one kthread a CPU sets fills of random kinds and counts
 * against drains of random kinds.  Every decision is a pure function of (seed,
 * CPU, index).  It also keeps the stocks of own folios that are raced.  What a
 * fill or a drain does lives in batch.c and drain.c.
 *
 * The kthreads are stopped and started from CPU hotplug callbacks, so nothing
 * that they run may take the CPU hotplug lock.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "drainstress.h"

/* Folios of each sort a CPU: two batches and a few. */
#define DS_STOCK_SIZE	(2 * DS_BATCH_SIZE + 2)

/*
 * A racing kthread outranks the load (DS_NICE).  So that the load gets its share
 * too it works for a while, then sleeps when others want its CPU.
 */
#define DS_WORK_MS	8
#define DS_SLEEP_US	3000

struct ds_racer {
	struct task_struct *task;
	u64 index;
	u64 hash;		/* of its first DS_DECISIONS decisions */
	u64 mark[DS_MAX_INVARIANT + 1];	/* index + 1 when it was first violated */
	const struct ds_script *script;	/* to be taken instead, or NULL */
	unsigned int at;	/* where in that */
	u8 last_kind;		/* batch kind of the last fill, 0: it was a drain */
	struct ds_stock file;
	struct ds_stock anon;
	bool resting;
};

static DEFINE_PER_CPU(struct ds_racer, ds_racers);
static struct ds_race_config ds_config;
static bool ds_racing;
static atomic_t ds_paused;
static struct ds_racer ds_drainer;	/* has no stock */
static u32 ds_kinds_here, ds_drains_here, ds_drains_far;	/* available ones */
static u64 ds_hash;		/* of the last run's decisions, 0: it raced not */
static enum cpuhp_state ds_hp_state;

struct ds_stock *ds_cpu_stock(int cpu, bool anon)
{
	struct ds_racer *r = &per_cpu(ds_racers, cpu);

	return anon ? &r->anon : &r->file;
}

/* A decision as this kernel and this run can carry it out. */
struct ds_action {
	u8 kind;		/* batch kind of a fill, 0: no fill */
	u8 drain;		/* 0: no drain */
	u8 n;			/* folios of a fill, 1 .. batch size */
	u16 start;		/* where in the stock */
	int cpu;		/* whose stock, or which CPU is drained */
	unsigned int wait_us;
};

/* Both are 0 for what is not available: it is passed over. */
static void ds_act(struct ds_action *a, int cpu, const struct ds_decision *d)
{
	u32 drains = ds_drains_here | ds_drains_far;

	memset(a, 0, sizeof(*a));
	a->cpu = cpu;
	if (d->drain && (drains & DS_KIND_BIT(d->drain)))
		a->drain = d->drain;
	if (!d->kind || !(ds_kinds_here & DS_KIND_BIT(d->kind)))
		return;
	a->kind = d->kind;
	a->n = 1 + d->n % DS_BATCH_SIZE;
	a->start = d->start;
	if (d->remote && ds_batch_kinds[d->kind].foreign) {
		a->cpu = cpumask_next(cpu, &ds_config.cpus);
		if (a->cpu >= nr_cpu_ids)
			a->cpu = cpumask_first(&ds_config.cpus);
	}
}

/* Of the kthread of @cpu, or -1: of the one for other CPUs. */
static struct ds_decision ds_decision_at(int cpu, u64 index)
{
	if (cpu < 0)
		return ds_decide_far(ds_config.seed, index, ds_config.drains,
				     cpumask_weight(&ds_config.cpus));
	return ds_decide(ds_config.seed, cpu, index, ds_config.kinds,
			 ds_config.drains);
}

/* The next decision of @r, the kthread of @cpu. */
static struct ds_decision ds_take(struct ds_racer *r, int cpu)
{
	const struct ds_script *s = r->script;
	struct ds_decision d;

	if (s) {
		d = ds_decision_at(cpu, s->index[r->at]);
		r->at = (r->at + 1) % s->nr;
		return d;
	}
	d = ds_decision_at(cpu, r->index);
	if (r->index < DS_DECISIONS)
		r->hash = ds_decide_hash(r->hash, &d);
	r->index++;
	return d;
}

/* The next thing that the kthread of @cpu does. */
static void ds_next(struct ds_action *a, struct ds_racer *r, int cpu)
{
	struct ds_decision d = ds_take(r, cpu);

	ds_act(a, cpu, &d);
}

/* The same for the kthread that drains other CPUs. */
static void ds_next_far(struct ds_action *a)
{
	struct ds_decision d = ds_take(&ds_drainer, -1);
	unsigned int n = d.cpu;

	ds_act(a, 0, &d);
	a->wait_us = d.wait_us;
	/* Unless told to: a drain of all CPUs is the same, and goes on less long. */
	if (a->drain == DS_DRAIN_DISABLE && !ds_drainer.script &&
	    (ds_drains_far & DS_KIND_BIT(DS_DRAIN_ALL)) && !ds_disable_rested())
		a->drain = DS_DRAIN_ALL;
	for_each_cpu(a->cpu, &ds_config.cpus) {
		if (!n--)
			break;
	}
}

static void ds_decisions_reset(struct ds_racer *r, unsigned int script)
{
	const struct ds_script *scripts = ds_config.scripts;

	r->index = 0;
	r->hash = 0;
	r->at = 0;
	r->last_kind = 0;
	r->script = scripts && scripts[script].nr ? &scripts[script] : NULL;
	memset(r->mark, 0, sizeof(r->mark));
}

static void ds_decisions_begin(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		ds_decisions_reset(&per_cpu(ds_racers, cpu), cpu);
	ds_decisions_reset(&ds_drainer, nr_cpu_ids);
}

/* With scripts, a kthread without one has nothing to do. */
static bool ds_idle(const struct ds_racer *r)
{
	return ds_config.scripts && !r->script;
}

static void ds_scripts_end(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(ds_racers, cpu).script = NULL;
	ds_drainer.script = NULL;
	ds_scripts_free(ds_config.scripts);
	ds_config.scripts = NULL;
}

/* Room for the scripts of all kthreads, or NULL. */
struct ds_script *ds_scripts_alloc(void)
{
	return kvcalloc(nr_cpu_ids + 1, sizeof(struct ds_script), GFP_KERNEL);
}

void ds_scripts_free(struct ds_script *scripts)
{
	unsigned int i;

	for (i = 0; scripts && i <= nr_cpu_ids; i++)
		kvfree(scripts[i].index);
	kvfree(scripts);
}

/* What an invariant was violated after.  Any context. */
static void ds_mark(struct ds_racer *r, unsigned int invariant)
{
	WRITE_ONCE(r->mark[invariant], READ_ONCE(r->index) + 1);
}

/**
 * ds_race_mark() - notes what has been decided when an invariant is first violated
 * @invariant: its number
 *
 * Any context.
 */
void ds_race_mark(unsigned int invariant)
{
	int cpu;

	if (!READ_ONCE(ds_racing))
		return;
	for_each_possible_cpu(cpu)
		ds_mark(&per_cpu(ds_racers, cpu), invariant);
	ds_mark(&ds_drainer, invariant);
}

/**
 * ds_race_read() - how many decisions a kthread took
 * @cpu: whose; -1: the one for other CPUs
 * @invariant: until this was first violated; 0: until now
 * @decisions: gets it
 *
 * Return: false when it was not violated.
 */
bool ds_race_read(int cpu, unsigned int invariant, u64 *decisions)
{
	struct ds_racer *r = cpu < 0 ? &ds_drainer : &per_cpu(ds_racers, cpu);
	u64 mark = READ_ONCE(r->mark[invariant]);

	*decisions = invariant ? mark - 1 : READ_ONCE(r->index);
	return !invariant || mark;
}

bool ds_racing_now(void)
{
	return READ_ONCE(ds_racing);
}

/* What @cpu filled last, 0: its last action was no fill. */
unsigned int ds_race_last_kind(int cpu)
{
	return READ_ONCE(per_cpu(ds_racers, cpu).last_kind);
}

/* What the kthreads did not reach is decided, and not done. */
static void ds_decisions_end(void)
{
	u64 hash = 0;
	int cpu;

	for_each_cpu(cpu, &ds_config.cpus) {
		struct ds_racer *r = &per_cpu(ds_racers, cpu);

		while (r->index < DS_DECISIONS)
			ds_take(r, cpu);
		hash = ds_decide_fold(hash, r->hash);
		cond_resched();
	}
	while (ds_drainer.index < DS_DECISIONS)
		ds_take(&ds_drainer, -1);
	ds_hash = ds_decide_fold(hash, ds_drainer.hash);
}

/**
 * ds_race_hash() - over the first DS_DECISIONS decisions of each kthread
 *
 * Return: 0 before the end of a race.
 */
u64 ds_race_hash(void)
{
	return READ_ONCE(ds_hash);
}

static void ds_act_fill(int cpu, const struct ds_action *a)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[a->kind];
	struct ds_stock *stock = ds_cpu_stock(a->cpu, row->anon);
	unsigned int i;

	if (a->cpu != cpu)
		raw_cpu_inc(ds_stats.remote);
	if (row->prepare && row->anon && stock->nr) {
		/* Lazyfree works once a folio: make as many fit again. */
		for (i = 0; i < a->n; i++)
			row->prepare(stock->own[(a->start + i) % stock->nr].folio);
		ds_ring_put(DS_DID_PREPARE, a->kind, a->n, a->n, DS_ON_NONE);
	}
	ds_fill(a->kind, stock, a->n, a->start);
}

/*
 * The yardstick of the engine: the first DS_BARE actions over and over, with no
 * more than the kernel calls and the tests that find folios for them.
 */
#define DS_BARE		16384

static void ds_bare_fill(const struct ds_action *a)
{
	const struct ds_batch_kind *row = &ds_batch_kinds[a->kind];
	struct ds_stock *stock = ds_cpu_stock(a->cpu, row->anon);
	unsigned int i, pos, done = 0;

	if (!stock->nr)
		return;
	pos = a->start % stock->nr;
	for (i = 0; row->anon && row->prepare && i < a->n; i++)
		row->prepare(stock->own[(a->start + i) % stock->nr].folio);
	preempt_disable();
	for (i = 0; i < stock->nr && done < a->n; i++) {
		if (row->ready(stock->own[pos].folio)) {
			row->queue(stock->own[pos].folio);
			done++;
		}
		if (++pos == stock->nr)
			pos = 0;
	}
	preempt_enable();
}

/* Rests while a check wants the race still, or while it is time to stutter. */
static void ds_maybe_rest(struct ds_racer *r, u64 *period, unsigned long *until)
{
	u32 mean = ds_config.stutter_ms;
	unsigned long rest_until;

	if (atomic_read(&ds_paused)) {
		/* Pairs with ds_wait_rest(): the action before is complete. */
		smp_store_release(&r->resting, true);
		while (atomic_read(&ds_paused) && !kthread_should_stop())
			usleep_range(50, 200);
		/* The next action begins after the pause has ended. */
		smp_store_release(&r->resting, false);
	}
	if (!mean || time_before(jiffies, *until))
		return;
	/* All CPUs take the same periods: they rest and start together. */
	rest_until = jiffies + max(msecs_to_jiffies(mean / 8), 1UL);
	while (time_before(jiffies, rest_until) && !kthread_should_stop() &&
	       !atomic_read(&ds_paused))
		msleep_interruptible(20);
	(*period)++;
	*until = jiffies + msecs_to_jiffies(1 + mean / 2 +
			ds_rand(ds_config.seed, 0, *period, DS_SALT_STUTTER) % mean);
}

/* Leaves the CPU to others for a while, when there are any. */
static void ds_maybe_yield(unsigned long *work_until)
{
	if (time_before(jiffies, *work_until))
		return;
	if (!single_task_running())
		usleep_range(DS_SLEEP_US, DS_SLEEP_US + 1000);
	*work_until = jiffies + max(msecs_to_jiffies(DS_WORK_MS), 1UL);
}

static void ds_bare_main(int cpu, struct ds_racer *r)
{
	struct ds_action *actions;
	unsigned long until = jiffies;
	unsigned int i;
	u64 period = 0;

	actions = kvmalloc_array(DS_BARE, sizeof(*actions), GFP_KERNEL);
	if (!actions)
		return;
	for (i = 0; i < DS_BARE; i++)
		ds_next(&actions[i], r, cpu);
	for (i = 0; !kthread_should_stop(); i = (i + 1) % DS_BARE) {
		const struct ds_action *a = &actions[i];

		if (a->kind)
			ds_bare_fill(a);
		else if (a->drain)
			ds_drain_kinds[a->drain].run(a->cpu, &r->file, true);
		ds_maybe_rest(r, &period, &until);
		cond_resched();
	}
	kvfree(actions);
}

static int ds_racer_main(void *arg)
{
	int cpu = (long)arg;
	struct ds_racer *r = &per_cpu(ds_racers, cpu);
	unsigned long until = jiffies + msecs_to_jiffies(ds_config.stutter_ms);
	unsigned long work_until = jiffies + 1;
	struct ds_action action;
	u64 period = 0;

	set_user_nice(current, DS_NICE);
	if (ds_config.race == DS_RACE_BARE)
		ds_bare_main(cpu, r);
	while (ds_config.race != DS_RACE_BARE && !kthread_should_stop()) {
		ds_maybe_rest(r, &period, &until);
		ds_maybe_yield(&work_until);
		ds_next(&action, r, cpu);
		if (action.kind)
			ds_act_fill(cpu, &action);
		else if (action.drain)
			ds_drain(action.drain, action.cpu, &r->file);
		WRITE_ONCE(r->last_kind, action.kind);
		raw_cpu_inc(ds_stats.loops);
		cond_resched();
	}
	/* Pairs with ds_wait_rest(): nothing follows. */
	smp_store_release(&r->resting, true);
	while (!kthread_should_stop())
		msleep_interruptible(20);
	return 0;
}

static int ds_drainer_main(void *unused)
{
	unsigned long until = jiffies + msecs_to_jiffies(ds_config.stutter_ms);
	bool bare = ds_config.race == DS_RACE_BARE;
	struct ds_action action;
	u64 period = 0;

	set_user_nice(current, DS_NICE);
	while (!kthread_should_stop()) {
		ds_maybe_rest(&ds_drainer, &period, &until);
		ds_next_far(&action);
		usleep_range(action.wait_us, action.wait_us + 50);
		if (!action.drain)
			continue;
		if (bare)
			ds_drain_kinds[action.drain].run(action.cpu, NULL, true);
		else
			ds_drain(action.drain, action.cpu,
				 ds_cpu_stock(action.cpu, false));
	}
	/* Pairs with ds_wait_rest(): nothing follows. */
	smp_store_release(&ds_drainer.resting, true);
	return 0;
}

static int ds_racer_online(unsigned int cpu)
{
	struct ds_racer *r = &per_cpu(ds_racers, cpu);
	struct task_struct *task;

	if (!ds_racing || !cpumask_test_cpu(cpu, &ds_config.cpus) || r->task ||
	    ds_idle(r) || (!ds_kinds_here && !ds_drains_here))
		return 0;
	r->resting = false;
	task = kthread_create_on_cpu(ds_racer_main, (void *)(long)cpu, cpu,
				     "drainstress/%u");
	if (IS_ERR(task)) {
		pr_warn("CPU %u does not race: error %ld\n", cpu, PTR_ERR(task));
		return 0;	/* a CPU must not fail to come online for that */
	}
	r->task = task;
	wake_up_process(task);
	return 0;
}

static int ds_racer_offline(unsigned int cpu)
{
	struct ds_racer *r = &per_cpu(ds_racers, cpu);

	if (r->task)
		kthread_stop(r->task);
	r->task = NULL;
	return 0;
}

/**
 * ds_stocks_get_anon() - anonymous folios for every CPU that is online
 *
 * They are kept until the module goes, because only a process with an mm can
 * make them.  A CPU that gets none fills no lazyfree batch.  Context: such a
 * process (insmod).
 */
void ds_stocks_get_anon(void)
{
	int cpu;

	if (!ds_layout_proven(DS_BATCH_LAZYFREE))
		return;
	for_each_online_cpu(cpu) {
		if (ds_stock_make_anon(ds_cpu_stock(cpu, true), DS_STOCK_SIZE, cpu))
			pr_warn("CPU %d has no anonymous folios\n", cpu);
	}
}

/* Page-cache folios for every CPU, once.  Context: process, may sleep. */
int ds_stocks_get(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		struct ds_stock *stock = ds_cpu_stock(cpu, false);

		if (stock->nr)
			continue;
		err = ds_stock_make(stock, DS_STOCK_SIZE, cpu);
		if (err)
			return err;
	}
	return 0;
}

/* Gives the page-cache folios back.  Context: process, may sleep. */
void ds_stocks_put(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (ds_cpu_stock(cpu, false)->nr)
			ds_stock_drop(ds_cpu_stock(cpu, false));
	}
}

static void ds_choose_kinds(void)
{
	char why[DS_REASON_LEN];
	unsigned int i;
	u32 drains;

	ds_kinds_here = 0;
	for (i = 1; i < __DS_BATCH_MAX; i++) {
		if ((ds_config.kinds & DS_KIND_BIT(i)) &&
		    ds_batch_available(i, why, sizeof(why)))
			ds_kinds_here |= DS_KIND_BIT(i);
	}
	drains = 0;
	for (i = 1; i < __DS_DRAIN_MAX; i++) {
		if ((ds_config.drains & DS_KIND_BIT(i)) &&
		    ds_drain_available(i, why, sizeof(why)))
			drains |= DS_KIND_BIT(i);
	}
	ds_drains_here = drains & DS_DRAINS_HERE;
	ds_drains_far = drains & ~DS_DRAINS_HERE;
}

/* Without it the race goes on, so only its absence is told. */
static void ds_drainer_start(void)
{
	struct task_struct *task;

	ds_drainer.resting = false;
	if (!ds_drains_far || ds_idle(&ds_drainer))
		return;
	task = kthread_run(ds_drainer_main, NULL, "drainstress/far");
	if (IS_ERR(task))
		pr_warn("no kthread drains other CPUs: error %ld\n", PTR_ERR(task));
	else
		ds_drainer.task = task;
}

/**
 * ds_race_start() - arms the probes and starts the kthreads
 * @config: what to race; copied
 *
 * Counters start at zero.  Return: 0, when the scripts have been taken over, or a
 * negative errno, when nothing runs.  Context: the ordered work queue.
 */
int ds_race_start(struct ds_race_config *config)
{
	int err = 0;

	if (ds_racing)
		return -EALREADY;
	ds_config = *config;
	ds_hash = 0;
	err = ds_latency_begin();
	if (err)
		return err;
	ds_usage_reset();
	ds_results_reset();
	ds_drain_reset();
	ds_align_reset();
	ds_ring_begin(config->race != DS_RACE_BARE);
	ds_ring_put(DS_DID_RACE, 0, 1, 0, DS_ON_ALL);
	if (config->accounting)
		err = ds_usage_arm();
	else
		ds_usage_disarm();
	if (err)
		return err;
	if (config->race == DS_RACE_NONE)
		return 0;
	ds_choose_kinds();
	if (!ds_kinds_here && !ds_drains_here && !ds_drains_far)
		return -EOPNOTSUPP;
	err = ds_stocks_get();
	if (err)
		return err;
	ds_decisions_begin();
	ds_racing = true;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "drainstress:online",
				ds_racer_online, ds_racer_offline);
	if (err < 0) {
		ds_racing = false;
		return err;
	}
	ds_hp_state = err;
	config->scripts = NULL;
	ds_drainer_start();
	if (config->race == DS_RACE_FULL)
		err = ds_align_start(config);
	if (err < 0)
		ds_race_stop();
	return min(err, 0);
}

void ds_race_stop(void)
{
	if (!ds_racing)
		return;
	ds_align_stop();	/* it brings a CPU back that it took offline */
	if (ds_drainer.task)
		kthread_stop(ds_drainer.task);
	ds_drainer.task = NULL;
	cpuhp_remove_state(ds_hp_state);	/* stops each CPU's kthread */
	ds_racing = false;
	ds_plant_meet_end();
	ds_scripts_end();
	ds_decisions_end();
	ds_ring_end();
	ds_ring_put(DS_DID_RACE, 0, 0, 0, DS_ON_ALL);
}

/* Whether somebody wants everything that is raced to rest. */
bool ds_race_paused(void)
{
	return atomic_read(&ds_paused);
}

static void ds_wait_rest(struct ds_racer *r)
{
	/*
	 * The task is read anew: its CPU may go offline meanwhile.  Pairs with
	 * the releases in the kthreads.
	 */
	while (READ_ONCE(r->task) && !smp_load_acquire(&r->resting))
		usleep_range(50, 200);
}

/**
 * ds_race_pause() - waits until every racing kthread rests between two actions
 *
 * Nothing is drained: batches stay as they are.  Pauses nest.  Context:
 * process, may sleep.
 */
void ds_race_pause(void)
{
	int cpu;

	atomic_inc(&ds_paused);
	ds_fault_wait_rest();
	if (!ds_racing)
		return;
	for_each_online_cpu(cpu)
		ds_wait_rest(&per_cpu(ds_racers, cpu));
	ds_wait_rest(&ds_drainer);
	ds_align_wait_rest();
}

void ds_race_resume(void)
{
	atomic_dec(&ds_paused);
}

void ds_race_exit(void)
{
	int cpu;

	ds_race_stop();
	ds_stocks_put();
	for_each_possible_cpu(cpu)
		ds_stock_drop(ds_cpu_stock(cpu, true));
}
