// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults[]: what is done to a run on purpose so that a rare race gets frequent.
 * Delays hang on probes at named points of the kernel, the rest is done by a
 * kthread, the director.  Which there are, what they take and when one happens
 * stands in <linux/drainstress_faults.h>; who asks for them is the caller's
 * matter.  Nothing here is wrong behaviour: a healthy kernel stands all of it.
 *
 * A delay runs in a probe's handler: preemption is off, interrupts are as the
 * probed function has them, so it is udelay() and short.  Every point is at a
 * function's entry, before that function takes a lock of its own.  An interrupt
 * that hits a probe during a delay is missed by that probe, as in any handler.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/pagemap.h>
#include <linux/ptrace.h>
#include <linux/shmem_fs.h>
#include <linux/smpboot.h>
#include <linux/timekeeping.h>

#include "drainstress.h"

struct ds_fault_here {
	u64 hits;
	u64 done;
	u64 ns;
};

static DEFINE_PER_CPU(struct ds_fault_here, ds_fault_stats[__DS_FAULT_MAX]);
static struct ds_fault_config ds_faults;	/* of the run */
static bool ds_faulty;				/* it is under way */

static bool ds_fault_on(unsigned int fault)
{
	return ds_faults.mask & DS_KIND_BIT(fault);
}

/* ---- delays ---- */

/* One probed function of a point; a point may have several. */
struct ds_delay {
	unsigned int fault;
	const char *const *alternatives;
	int (*handler)(struct kprobe *kp, struct pt_regs *regs);
	char name[64];
	bool registered;
	bool enabled;
	struct kprobe kp;
};

/* Interrupts that come meanwhile hit no probe, so the counters are ours. */
static void ds_delay_here(unsigned int fault)
{
	struct ds_fault_here *here = this_cpu_ptr(&ds_fault_stats[fault]);
	u64 start, random;
	u32 us;

	if (!READ_ONCE(ds_faulty))
		return;
	random = ds_random_at(ds_faults.seed, fault, smp_processor_id(),
			      here->hits++);
	us = ds_fault_us(&ds_faults.args[fault], random);
	if (!us)
		return;
	if (irqs_disabled() || in_interrupt())
		us = min_t(u32, us, DS_FAULT_IRQ_US);
	start = ktime_get_mono_fast_ns();
	udelay(us);
	here->ns += ktime_get_mono_fast_ns() - start;
	here->done++;
}

static int ds_hit_delay(struct kprobe *kp, struct pt_regs *regs)
{
	ds_delay_here(container_of(kp, struct ds_delay, kp)->fault);
	return 0;
}

/*
 * The release function drains and then puts.  Its batch is noted at its entry,
 * by task; a put by that task of what lies in that batch is the one in question,
 * as a drain puts batches of its own.  Two tasks that share a place overwrite each
 * other's note, which costs a hit and no more.
 */
#define DS_RELEASE_BITS		8

struct ds_release_note {
	struct task_struct *task;
	unsigned long fbatch;
};

static struct ds_release_note ds_release_notes[1 << DS_RELEASE_BITS];

static struct ds_release_note *ds_release_note(void)
{
	return &ds_release_notes[hash_ptr(current, DS_RELEASE_BITS)];
}

static int ds_hit_release(struct kprobe *kp, struct pt_regs *regs)
{
	struct ds_release_note *note = ds_release_note();

	WRITE_ONCE(note->fbatch, regs_get_kernel_argument(regs, 0));
	WRITE_ONCE(note->task, current);
	return 0;
}

/* Takes the batch, or since release_pages() the array in it. */
static int ds_hit_put(struct kprobe *kp, struct pt_regs *regs)
{
	struct ds_release_note *note = ds_release_note();
	unsigned long arg = regs_get_kernel_argument(regs, 0);

	if (READ_ONCE(note->task) != current || in_interrupt() ||
	    arg - READ_ONCE(note->fbatch) >= sizeof(struct folio_batch))
		return 0;
	WRITE_ONCE(note->task, NULL);
	ds_delay_here(DS_FAULT_RELEASE);
	return 0;
}

#define DS_NAMES(...) ((const char *const []){ __VA_ARGS__, NULL })
#define DS_DELAY(sym, fn, ...) {					\
	.fault = DS_FAULT_##sym,					\
	.alternatives = DS_NAMES(__VA_ARGS__),				\
	.handler = fn,							\
}

static struct ds_delay ds_delays[] = {
	DS_DELAY(MOVE, ds_hit_delay, "folio_batch_move_lru"),
	DS_DELAY(RELEASE, ds_hit_release, "__folio_batch_release",
		 "__pagevec_release"),
	DS_DELAY(RELEASE, ds_hit_put, "folios_put_refs", "release_pages"),
	DS_DELAY(DRAIN_CPU, ds_hit_delay, "lru_add_drain_cpu"),
	DS_DELAY(DRAIN_WORK, ds_hit_delay, "lru_add_drain_per_cpu"),
	DS_DELAY(TRUNCATE, ds_hit_delay, "delete_from_page_cache_batch"),
	DS_DELAY(TRUNCATE, ds_hit_delay, "truncate_inode_folio"),
	DS_DELAY(MLOCK, ds_hit_delay, "mlock_folio"),
	DS_DELAY(MLOCK, ds_hit_delay, "munlock_folio", "munlock_page"),
	DS_DELAY(MLOCK, ds_hit_delay, "mlock_folio_batch", "mlock_pagevec"),
	DS_DELAY(WRITEBACK, ds_hit_delay, "folio_end_writeback"),
};

static void ds_delay_register(struct ds_delay *d)
{
	int err;

	if (!ds_find_function(d->alternatives, d->name, sizeof(d->name)))
		return;
	d->kp.symbol_name = d->name;
	d->kp.flags = KPROBE_FLAG_DISABLED;
	d->kp.pre_handler = d->handler;
	err = register_kprobe(&d->kp);
	if (err)
		pr_warn("cannot delay %s: error %d\n", d->name, err);
	else
		d->registered = true;
}

/* Both halves are needed of a release, one function of any other point. */
static bool ds_delay_available(unsigned int fault, char *why, size_t len)
{
	const struct ds_delay *missing = NULL;
	unsigned int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(ds_delays); i++) {
		if (ds_delays[i].fault != fault)
			continue;
		if (ds_delays[i].registered)
			found++;
		else
			missing = &ds_delays[i];
	}
	if (!missing || (found && fault != DS_FAULT_RELEASE))
		return true;
	snprintf(why, len, "%s %s", missing->alternatives[0], missing->name[0] ?
		 "cannot be probed" : "is no function of this kernel");
	return false;
}

static int ds_delay_switch(struct ds_delay *d, bool on)
{
	int err = 0;

	if (!d->registered || d->enabled == on)
		return 0;
	if (on)
		err = enable_kprobe(&d->kp);
	else
		disable_kprobe(&d->kp);
	if (!err)
		d->enabled = on;
	return err;
}

/**
 * ds_fault_arm() - arms the probes that a run wants, and no others
 * @config: the run's faults; copied
 *
 * Nothing is delayed before ds_fault_start().  The kernel patches functions that
 * every process runs through, so this belongs before the run, while the load waits
 * and nothing races.  Return: 0 or a negative errno.  Context: the ordered work
 * queue.
 */
int ds_fault_arm(const struct ds_fault_config *config)
{
	unsigned int i;
	int err = 0;

	ds_faults = *config;
	for (i = 0; i < ARRAY_SIZE(ds_delays) && !err; i++)
		err = ds_delay_switch(&ds_delays[i],
				      ds_fault_on(ds_delays[i].fault));
	return err;
}

/* The reverse, after the run and when the load has ended. */
void ds_fault_disarm(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ds_delays); i++)
		ds_delay_switch(&ds_delays[i], false);
}

/* ---- what the director does: one function each ---- */

/* What one action is given; it returns how much it achieved. */
struct ds_act {
	u64 random;
	u32 us;
};

static int ds_random_cpu(u64 random)
{
	unsigned int n = (u32)(random >> 32) % cpumask_weight(&ds_faults.cpus);
	int cpu;

	for_each_cpu(cpu, &ds_faults.cpus) {
		if (!n--)
			break;
	}
	return cpu;
}

/* Batches that held folios, and were not full, when they were drained. */
static int ds_flush_here(void *arg)
{
	unsigned int *flushed = arg;

	preempt_disable();
	*flushed = hweight32(ds_pending(smp_processor_id()));
	ds_call(lru_add_drain)();
	preempt_enable();
	return 0;
}

static unsigned int ds_act_early_flush(const struct ds_act *act)
{
	unsigned int flushed = 0;

	ds_on_cpu(ds_random_cpu(act->random), ds_flush_here, &flushed);
	return flushed;
}

static unsigned int ds_act_disable_window(const struct ds_act *act)
{
	atomic_t *count = (atomic_t *)ds_symbols[DS_SYM_lru_disable_count].addr;
	unsigned long began = jiffies;

	ds_mark_all(DS_DRAIN_DISABLE, 1);
	ds_disabler_begin();
	ds_call(lru_cache_disable)();
	ds_mark_all(DS_DRAIN_DISABLE, -1);
	usleep_range(act->us, act->us + 1);
	/* What the inline lru_cache_enable() does. */
	atomic_dec(count);
	ds_disabler_end();
	ds_disable_over(began);
	return 1;
}

static const u8 ds_short_kinds[] = {
	DS_BATCH_LRU_ADD, DS_BATCH_DEACTIVATE_FILE, DS_BATCH_ROTATE,
};

/* One of them that may be filled on this kernel, by @random; 0: none may. */
static unsigned int ds_short_kind(u32 random)
{
	char why[DS_REASON_LEN];
	unsigned int i, kind;

	for (i = 0; i < ARRAY_SIZE(ds_short_kinds); i++) {
		kind = ds_short_kinds[(random % ARRAY_SIZE(ds_short_kinds) + i) %
				      ARRAY_SIZE(ds_short_kinds)];
		if (ds_batch_available(kind, why, sizeof(why)))
			return kind;
	}
	return 0;
}

/* Batches of this kind that are one short of full: this one, or none. */
static int ds_one_short_here(void *arg)
{
	unsigned int *kind = arg, n = DS_BATCH_SIZE - 1;
	struct ds_stock *stock;

	preempt_disable();
	stock = ds_cpu_stock(smp_processor_id(), false);
	ds_call(lru_add_drain)();
	ds_fill(*kind, stock, n, 0);
	n = READ_ONCE(ds_batch(*kind, smp_processor_id())->nr) == n;
	preempt_enable();
	return n;
}

static unsigned int ds_act_one_short(const struct ds_act *act)
{
	unsigned int kind = ds_short_kind(act->random >> 32);
	unsigned int done = 0;
	struct ds_stock stock;
	int cpu;

	if (ds_stock_make(&stock, DS_BATCH_SIZE, -1))
		return 0;
	for_each_cpu(cpu, &ds_faults.cpus)
		done += ds_on_cpu(cpu, ds_one_short_here, &kind) == 1;
	ds_ring_put(DS_DID_TRUNCATE, 0, 0, 0, DS_ON_NONE);
	if (act->random & 1)
		shmem_truncate_range(file_inode(stock.file), 0, (loff_t)-1);
	else
		truncate_inode_pages(stock.file->f_mapping, 0);
	ds_stock_drop(&stock);
	return done;
}

/*
 * With preemption off as long as a folio is isolated, so that no look at rest
 * sees a reference that it does not know of.
 */
static unsigned int ds_act_isolate(const struct ds_act *act)
{
	struct ds_stock *stock = ds_cpu_stock(ds_random_cpu(act->random), false);
	struct folio *isolated[DS_BATCH_SIZE];
	unsigned int i, n = 0;

	if (!stock->nr)
		return 0;
	preempt_disable();
	for (i = 0; i < ARRAY_SIZE(isolated); i++) {
		unsigned int pos = (u32)(act->random + i) % stock->nr;

		if (ds_isolate(stock->own[pos].folio))
			isolated[n++] = stock->own[pos].folio;
	}
	udelay(act->us);
	for (i = 0; i < n; i++)
		ds_putback(isolated[i]);
	preempt_enable();
	return n;
}

/* ---- the herd: a kthread a CPU, parked until the director calls ---- */

#define DS_GATHER_NS		(2 * NSEC_PER_MSEC)
#define DS_HERD_MS		200	/* for a kthread to get its CPU */

static DEFINE_PER_CPU(struct task_struct *, ds_herd_task);
static DEFINE_PER_CPU(bool, ds_herd_called);
static atomic_t ds_herd_there;		/* at the gate */
static atomic_t ds_herd_left;		/* called and not done */
static struct cpumask ds_herd_cpus;
static unsigned int ds_herd_size;
static atomic_t ds_herd_together;	/* drained when all were there */
static DECLARE_WAIT_QUEUE_HEAD(ds_herd_wait);
static bool ds_herd_registered;

static int ds_herd_should_run(unsigned int cpu)
{
	return READ_ONCE(per_cpu(ds_herd_called, cpu));
}

static void ds_herd_setup(unsigned int cpu)
{
	set_user_nice(current, DS_NICE);
}

static void ds_herd_run(unsigned int cpu)
{
	u64 limit = ktime_get_mono_fast_ns() + DS_GATHER_NS;

	if (!xchg(&per_cpu(ds_herd_called, cpu), false))
		return;
	atomic_inc(&ds_herd_there);
	while (atomic_read(&ds_herd_there) < READ_ONCE(ds_herd_size) &&
	       ktime_get_mono_fast_ns() < limit)
		cpu_relax();
	if (atomic_read(&ds_herd_there) == READ_ONCE(ds_herd_size))
		atomic_inc(&ds_herd_together);
	ds_call(lru_add_drain)();
	if (atomic_dec_and_test(&ds_herd_left))
		wake_up(&ds_herd_wait);
}

static struct smp_hotplug_thread ds_herd_threads = {
	.store = &ds_herd_task,
	.thread_should_run = ds_herd_should_run,
	.thread_fn = ds_herd_run,
	.setup = ds_herd_setup,
	.thread_comm = "drainstress/h%u",
};

/* Drains that began when every CPU was at the gate. */
static unsigned int ds_act_herd(const struct ds_act *act)
{
	int cpu;

	if (!cpumask_and(&ds_herd_cpus, &ds_faults.cpus, cpu_online_mask))
		return 0;
	atomic_set(&ds_herd_there, 0);
	atomic_set(&ds_herd_together, 0);
	WRITE_ONCE(ds_herd_size, cpumask_weight(&ds_herd_cpus));
	atomic_set(&ds_herd_left, ds_herd_size);
	for_each_cpu(cpu, &ds_herd_cpus) {
		WRITE_ONCE(per_cpu(ds_herd_called, cpu), true);
		wake_up_process(per_cpu(ds_herd_task, cpu));
	}
	if (wait_event_timeout(ds_herd_wait, !atomic_read(&ds_herd_left),
			       msecs_to_jiffies(DS_HERD_MS)))
		return atomic_read(&ds_herd_together);
	/* Those that have not begun shall not; the others end soon. */
	for_each_cpu(cpu, &ds_herd_cpus) {
		if (xchg(&per_cpu(ds_herd_called, cpu), false))
			atomic_dec(&ds_herd_left);
	}
	wait_event(ds_herd_wait, !atomic_read(&ds_herd_left));
	return atomic_read(&ds_herd_together);
}

/* ---- the director ---- */

#define DS_NEEDS1(a)		BIT_ULL(DS_SYM_##a)
#define DS_NEEDS2(a, b)		(DS_NEEDS1(a) | DS_NEEDS1(b))

/* One row what the director does; a delay has none. */
static const struct {
	u64 needs;
	unsigned int (*act)(const struct ds_act *act);
} ds_actors[__DS_FAULT_MAX] = {
	[DS_FAULT_EARLY_FLUSH] = { DS_NEEDS1(lru_add_drain), ds_act_early_flush },
	[DS_FAULT_DISABLE_WINDOW] = {
		DS_NEEDS2(lru_cache_disable, lru_disable_count),
		ds_act_disable_window
	},
	[DS_FAULT_ONE_SHORT] = { DS_NEEDS1(lru_add_drain), ds_act_one_short },
	[DS_FAULT_HERD] = { DS_NEEDS1(lru_add_drain), ds_act_herd },
	[DS_FAULT_ISOLATE] = {
		DS_NEEDS2(folio_isolate_lru, folio_putback_lru), ds_act_isolate
	},
};

static struct task_struct *ds_director;
static bool ds_director_rests;
static u64 ds_due[__DS_FAULT_MAX];	/* CLOCK_MONOTONIC, ns */
static u64 ds_index[__DS_FAULT_MAX];

static bool ds_acts(unsigned int fault)
{
	return ds_fault_on(fault) && ds_actors[fault].act;
}

/* When @fault is due after @now: a pure function of seed, fault and index. */
static void ds_plan(unsigned int fault, u64 now)
{
	u64 random = ds_random_at(ds_faults.seed, fault, 0,
				  2 * ds_index[fault]);

	ds_due[fault] = now + NSEC_PER_USEC *
			ds_fault_wait_us(&ds_faults.args[fault], random);
}

static void ds_act(unsigned int fault)
{
	struct ds_act act = {
		.random = ds_random_at(ds_faults.seed, fault, 0,
				       2 * ds_index[fault] + 1),
	};
	u64 start = ktime_get_ns(), ns;
	unsigned int done;

	if (ds_faults.args[fault].max_us)
		act.us = ds_fault_us(&ds_faults.args[fault], act.random);
	ds_ring_put(DS_DID_FAULT, fault, 0, 0, DS_ON_ALL);
	done = ds_actors[fault].act(&act);
	ns = ktime_get_ns() - start;
	raw_cpu_inc(ds_fault_stats[fault].hits);
	raw_cpu_add(ds_fault_stats[fault].done, done);
	raw_cpu_add(ds_fault_stats[fault].ns, ns);
	ds_index[fault]++;
	ds_plan(fault, ktime_get_ns());
}

/* The one that is due first. */
static unsigned int ds_next_fault(void)
{
	unsigned int fault, first = 0;

	for (fault = 1; fault < __DS_FAULT_MAX; fault++) {
		if (ds_acts(fault) && (!first || ds_due[fault] < ds_due[first]))
			first = fault;
	}
	return first;
}

static int ds_director_main(void *unused)
{
	unsigned int fault;
	u64 now, us;

	set_user_nice(current, DS_NICE);
	while (!kthread_should_stop()) {
		if (ds_race_paused()) {
			/* Pairs with ds_fault_wait_rest(). */
			smp_store_release(&ds_director_rests, true);
			while (ds_race_paused() && !kthread_should_stop())
				usleep_range(50, 200);
			/* The next action begins after the pause has ended. */
			smp_store_release(&ds_director_rests, false);
			continue;
		}
		fault = ds_next_fault();
		now = ktime_get_ns();
		if (ds_due[fault] <= now) {
			ds_act(fault);
			continue;
		}
		us = min_t(u64, 10000, 1 + (ds_due[fault] - now) / NSEC_PER_USEC);
		usleep_range(us, us + 50);
	}
	/* Pairs with ds_fault_wait_rest(): nothing follows. */
	smp_store_release(&ds_director_rests, true);
	return 0;
}

/* Waits until the director rests between two actions; the race is paused. */
void ds_fault_wait_rest(void)
{
	/* Pairs with the releases in the director. */
	while (READ_ONCE(ds_director) && !smp_load_acquire(&ds_director_rests))
		usleep_range(50, 200);
}

static int ds_director_start(void)
{
	struct task_struct *task;
	unsigned int fault;
	int err;

	if (!ds_next_fault())
		return 0;
	err = ds_stocks_get();
	if (err)
		return err;
	if (ds_fault_on(DS_FAULT_HERD)) {
		err = smpboot_register_percpu_thread(&ds_herd_threads);
		if (err)
			return err;
		ds_herd_registered = true;
	}
	for (fault = 1; fault < __DS_FAULT_MAX; fault++) {
		ds_index[fault] = 0;
		if (ds_acts(fault))
			ds_plan(fault, ktime_get_ns());
	}
	ds_director_rests = false;
	task = kthread_run(ds_director_main, NULL, "drainstress/flt");
	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(ds_director, task);
	return 0;
}

/* ---- for the others ---- */

#define DS_FAULT_NAME(sym, name, ...) [DS_FAULT_##sym] = name,
#define DS_FAULT_TITLE(sym, name, title, ...) [DS_FAULT_##sym] = title,
#define DS_FAULT_ARGS(sym, name, title, ...) [DS_FAULT_##sym] = { __VA_ARGS__ },

const char *const ds_fault_name[__DS_FAULT_MAX] = { DS_FAULTS(DS_FAULT_NAME) };
const char *const ds_fault_title[__DS_FAULT_MAX] = { DS_FAULTS(DS_FAULT_TITLE) };
const struct ds_fault_args ds_fault_defaults[__DS_FAULT_MAX] = {
	DS_FAULTS(DS_FAULT_ARGS)
};

/**
 * ds_fault_available() - whether this kernel lets us inject @fault
 * @fault: enum drainstress_fault, from 1
 * @why: gets the reason when not
 * @len: room in @why, bytes
 */
bool ds_fault_available(unsigned int fault, char *why, size_t len)
{
	if (!ds_actors[fault].act)
		return ds_delay_available(fault, why, len);
	if (!ds_needs_met(ds_actors[fault].needs, why, len) ||
	    ds_skip_layout(why, len))
		return false;
	if (fault == DS_FAULT_ONE_SHORT && !ds_short_kind(0)) {
		snprintf(why, len, "no batch may be filled");
		return false;
	}
	if (fault != DS_FAULT_HERD || num_online_cpus() > 1)
		return true;
	snprintf(why, len, "there is only one CPU");
	return false;
}

/**
 * ds_fault_read() - sums of a fault's counters
 * @fault: enum drainstress_fault, from 1
 * @sum: gets them
 */
void ds_fault_read(unsigned int fault, struct ds_fault_sums *sum)
{
	int cpu;

	*sum = (struct ds_fault_sums){ };
	for_each_possible_cpu(cpu) {
		const struct ds_fault_here *here =
			per_cpu_ptr(&ds_fault_stats[fault], cpu);

		sum->hits += here->hits;
		sum->done += here->done;
		sum->ns += here->ns;
	}
}

/**
 * ds_fault_start() - begins the faults that ds_fault_arm() was given
 *
 * Counters start at zero.  Return: 0 or a negative errno; ds_fault_stop() puts
 * back what was begun.  Context: the ordered work queue.
 */
int ds_fault_start(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(&ds_fault_stats[0], cpu), 0,
		       sizeof(ds_fault_stats));
	}
	if (!ds_faults.mask)
		return 0;
	WRITE_ONCE(ds_faulty, true);
	return ds_director_start();
}

/*
 * Ends and undoes all faults.  Probes stay armed, and delay nothing, until
 * ds_fault_disarm().  Context: process, may sleep.
 */
void ds_fault_stop(void)
{
	WRITE_ONCE(ds_faulty, false);
	if (ds_director)
		kthread_stop(ds_director);
	WRITE_ONCE(ds_director, NULL);
	if (ds_herd_registered)
		smpboot_unregister_percpu_thread(&ds_herd_threads);
	ds_herd_registered = false;
	/* Handlers run with preemption off: none reads the arguments any more. */
	synchronize_rcu();
}

/* Module load: finds out which delays there can be; switches none on. */
void ds_fault_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ds_delays); i++)
		ds_delay_register(&ds_delays[i]);
}

/* The reverse; may be called without the former. */
void ds_fault_exit(void)
{
	unsigned int i;

	ds_fault_stop();
	for (i = 0; i < ARRAY_SIZE(ds_delays); i++) {
		if (ds_delays[i].registered)
			unregister_kprobe(&ds_delays[i].kp);
		ds_delays[i].registered = false;
		ds_delays[i].enabled = false;
	}
}
