// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts drains: the probes on the kernel's drain functions, the counters a
 * CPU, and how often one batch usage drains (I22).
 *
 * A usage is one call of a function that truncates or invalidates and that
 * released its batch at least once.  Its batch lives on its stack, so it is
 * told from every other batch by task and by distance from the stack pointer at
 * entry; that distance is learnt at load from a truncate of the module's own
 * (a function that it calls, such as reclaim or writeback, may release a batch
 * too, deeper in the stack).  The release function's caller is marked from its
 * entry to its return, and a drain by a marked task counts for the usage.  The
 * return address of a drain is of no use: lru_add_drain() may be inlined.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include "drainstress.h"

static unsigned int ds_maxactive;
module_param_named(maxactive, ds_maxactive, uint, 0444);
MODULE_PARM_DESC(maxactive,
		 "tasks that may be inside one probed function at a time; default 1024 + 64 a CPU");

DEFINE_PER_CPU(struct ds_cpu_stats, ds_stats);
static DEFINE_PER_CPU(struct ds_usage_stats, ds_usage_stats[DS_NR_ENTRIES]);

/* What this CPU is draining for (preemption off), 0: nothing of ours. */
static DEFINE_PER_CPU(u8, ds_local_mark);
/* Batches that the drain under way on this CPU has still to move. */
static DEFINE_PER_CPU(u8, ds_draining);
static atomic_t ds_all_marks[__DS_DRAIN_MAX];

/* One call of an entry point; lives in the kretprobe instance. */
struct ds_frame {
	struct hlist_node node;
	struct task_struct *task;
	enum ds_entry entry;
	unsigned long sp;
	unsigned int releases;
	unsigned int drains;
};

/* One call of the release function, of a batch that belongs to a frame. */
struct ds_releasing {
	struct hlist_node node;
	struct task_struct *task;
	struct ds_frame *frame;
};

#define DS_HASH_BITS	8
struct ds_bucket {
	raw_spinlock_t lock;
	struct hlist_head frames;
	struct hlist_head releasing;
};

static struct ds_bucket ds_buckets[1 << DS_HASH_BITS];
static struct task_struct *ds_calibrating;
static struct task_struct *ds_planted;
static long ds_batch_distance[DS_NR_ENTRIES];	/* 0: not learnt */
static bool ds_armed;
static bool ds_leaving;		/* the module goes: the lists are dead */

static struct ds_bucket *ds_bucket(struct task_struct *task)
{
	return &ds_buckets[hash_ptr(task, DS_HASH_BITS)];
}

static int ds_enter(enum ds_entry entry, struct kretprobe_instance *ri,
		    struct pt_regs *regs)
{
	struct ds_bucket *bucket = ds_bucket(current);
	struct ds_frame *frame = (void *)ri->data;
	unsigned long flags;

	frame->task = current;
	frame->entry = entry;
	frame->sp = kernel_stack_pointer(regs);
	frame->releases = 0;
	frame->drains = 0;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_add_head(&frame->node, &bucket->frames);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return 0;
}

static int ds_leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ds_bucket *bucket = ds_bucket(current);
	struct ds_frame *frame = (void *)ri->data;
	struct ds_usage_stats *stats;
	unsigned long flags;

	if (READ_ONCE(ds_leaving))
		return 0;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_del(&frame->node);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	if (!frame->releases)
		return 0;

	stats = this_cpu_ptr(&ds_usage_stats[frame->entry]);
	stats->usages++;
	stats->releases += frame->releases;
	stats->drains += frame->drains;
	stats->max = max_t(u64, stats->max, frame->drains);
	stats->hist[min_t(unsigned int, frame->drains, DS_USAGE_BUCKETS - 1)]++;
	ds_checked(22, 1);
	if (frame->drains > 1) {
		ds_violate(22, NULL, raw_smp_processor_id(),
			   "%s: expected at most 1 drain for one batch usage, found %u in %u releases",
			   ds_usage_entry_name(frame->entry), frame->drains,
			   frame->releases);
	}
	return 0;
}

/* The innermost call of an entry point by this task; the bucket is locked. */
static struct ds_frame *ds_current_frame(struct ds_bucket *bucket)
{
	struct ds_frame *frame;

	hlist_for_each_entry(frame, &bucket->frames, node) {
		if (frame->task == current)
			return frame;
	}
	return NULL;
}

static int ds_release_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct folio_batch *fbatch = (void *)regs_get_kernel_argument(regs, 0);
	struct ds_bucket *bucket = ds_bucket(current);
	struct ds_releasing *rel = (void *)ri->data;
	struct ds_frame *frame;
	unsigned long flags;
	long distance;
	int ret = 1;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	frame = ds_current_frame(bucket);
	if (!frame)
		goto out;
	distance = frame->sp - (unsigned long)fbatch;
	if (current == READ_ONCE(ds_calibrating) &&
	    !ds_batch_distance[frame->entry])
		ds_batch_distance[frame->entry] = distance;
	if (distance != ds_batch_distance[frame->entry])
		goto out;
	frame->releases++;
	if (current == READ_ONCE(ds_planted) && frame->releases > 1)
		fbatch->percpu_pvec_drained = false;
	rel->task = current;
	rel->frame = frame;
	hlist_add_head(&rel->node, &bucket->releasing);
	ret = 0;
out:
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return ret;
}

static int ds_release_leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ds_bucket *bucket = ds_bucket(current);
	struct ds_releasing *rel = (void *)ri->data;
	unsigned long flags;

	if (READ_ONCE(ds_leaving))
		return 0;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_del(&rel->node);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return 0;
}

static int ds_hit_drain_cpu(struct kprobe *kp, struct pt_regs *regs)
{
	struct ds_bucket *bucket = ds_bucket(current);
	int cpu = regs_get_kernel_argument(regs, 0);
	struct ds_cpu_stats *stats = this_cpu_ptr(&ds_stats);
	struct ds_releasing *rel;
	unsigned long flags;
	unsigned int pending;

	stats->drain_calls++;
	if (cpu == smp_processor_id()) {
		/* mlock has its own drain function. */
		pending = ds_pending(cpu) & ~DS_KIND_BIT(DS_BATCH_MLOCK);
		if (!pending)
			stats->drain_empty++;
		__this_cpu_write(ds_draining, pending);
	}
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_for_each_entry(rel, &bucket->releasing, node) {
		if (rel->task == current) {
			rel->frame->drains++;
			break;
		}
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return 0;
}

static int ds_hit_mlock_drain(struct kprobe *kp, struct pt_regs *regs)
{
	int cpu = raw_smp_processor_id();

	if (ds_pending(cpu) & DS_KIND_BIT(DS_BATCH_MLOCK))
		__this_cpu_or(ds_draining, DS_KIND_BIT(DS_BATCH_MLOCK));
	return 0;
}

/* Which of the module's drains this batch is moved by, 0: none. */
static unsigned int ds_drained_for(void)
{
	unsigned int drain = __this_cpu_read(ds_local_mark);

	if (drain || !(current->flags & PF_WQ_WORKER))
		return drain;
	/* A drain-all works in kworkers: one of ours is under way, or none. */
	if (atomic_read(&ds_all_marks[DS_DRAIN_DISABLE]))
		return DS_DRAIN_DISABLE;
	if (atomic_read(&ds_all_marks[DS_DRAIN_ALL]))
		return DS_DRAIN_ALL;
	return 0;
}

static int ds_hit_move(struct kprobe *kp, struct pt_regs *regs)
{
	struct folio_batch *fbatch = (void *)regs_get_kernel_argument(regs, 0);
	struct ds_cpu_stats *stats = this_cpu_ptr(&ds_stats);
	int kind = ds_batch_kind_of(fbatch, raw_smp_processor_id());
	unsigned int bit, drain;

	if (!kind)
		return 0;
	bit = DS_KIND_BIT(kind);
	stats->moved[kind] += fbatch->nr;
	if (fbatch->nr <= DS_BATCH_SIZE)
		stats->level[kind][fbatch->nr]++;
	if (fbatch->nr == DS_BATCH_SIZE) {
		stats->flush_full[kind]++;
	} else if (__this_cpu_read(ds_draining) & bit) {
		__this_cpu_and(ds_draining, ~bit);
		stats->flush_drain[kind]++;
		drain = ds_drained_for();
		if (drain && fbatch->nr)
			stats->effective[drain]++;
	} else {
		stats->flush_early[kind]++;
		ds_ring_put(DS_DID_EARLY, kind, fbatch->nr, 0, DS_ON_NONE);
		/*
		 * Once the cache is disabled the next add empties a batch, mostly
		 * before the drain of lru_cache_disable() comes to it.
		 */
		if (fbatch->nr > 1 && atomic_read(&ds_all_marks[DS_DRAIN_DISABLE]))
			stats->effective[DS_DRAIN_DISABLE]++;
	}
	return 0;
}

/* ---- the table of probes ---- */

struct ds_probe {
	const char *const *alternatives;
	const char *title;
	const char *found;
	bool registered;
	struct kretprobe rp;	/* rp.kp alone where nothing is done at return */
};

#define DS_ENTRY_ALTERNATIVES(sym, ...)					\
	static const char *const ds_entry_alt_##sym[] = { __VA_ARGS__, NULL };
#define DS_ENTRY_HANDLER(sym, ...)					\
	static int ds_enter_##sym(struct kretprobe_instance *ri,	\
				  struct pt_regs *regs)			\
	{								\
		return ds_enter(DS_ENTRY_##sym, ri, regs);		\
	}
#define DS_ENTRY_PROBE(sym, ...)					\
	[DS_ENTRY_##sym] = {						\
		.alternatives = ds_entry_alt_##sym,			\
		.title = "a batch usage",				\
		.rp = {							\
			.entry_handler = ds_enter_##sym,		\
			.handler = ds_leave,				\
			.data_size = sizeof(struct ds_frame),		\
		},							\
	},

DS_ENTRIES(DS_ENTRY_ALTERNATIVES)
DS_ENTRIES(DS_ENTRY_HANDLER)

enum {
	DS_PROBE_RELEASE = DS_NR_ENTRIES,
	DS_PROBE_DRAIN_CPU,
	DS_PROBE_MLOCK_DRAIN,
	DS_PROBE_MOVE,
	DS_PROBE_MLOCK_MOVE,
	DS_NR_PROBES
};

#define DS_NAMES(...) ((const char *const []){ __VA_ARGS__, NULL })

static struct ds_probe ds_probes[DS_NR_PROBES] = {
	DS_ENTRIES(DS_ENTRY_PROBE)
	[DS_PROBE_RELEASE] = {
		.alternatives = DS_NAMES("__folio_batch_release",
					 "__pagevec_release"),
		.title = "release of a batch",
		.rp = {
			.entry_handler = ds_release_enter,
			.handler = ds_release_leave,
			.data_size = sizeof(struct ds_releasing),
		},
	},
	[DS_PROBE_DRAIN_CPU] = {
		.alternatives = DS_NAMES("lru_add_drain_cpu"),
		.title = "drain of a CPU's batches",
		.rp.kp.pre_handler = ds_hit_drain_cpu,
	},
	[DS_PROBE_MLOCK_DRAIN] = {
		.alternatives = DS_NAMES("mlock_drain_local",
					 "mlock_page_drain_local"),
		.title = "drain of a CPU's mlock batch",
		.rp.kp.pre_handler = ds_hit_mlock_drain,
	},
	[DS_PROBE_MOVE] = {
		.alternatives = DS_NAMES("folio_batch_move_lru"),
		.title = "folios moved out of a batch",
		.rp.kp.pre_handler = ds_hit_move,
	},
	[DS_PROBE_MLOCK_MOVE] = {
		.alternatives = DS_NAMES("mlock_folio_batch", "mlock_pagevec"),
		.title = "folios moved out of an mlock batch",
		.rp.kp.pre_handler = ds_hit_move,
	},
};

/* What compilers append to a static function's name. */
static const char *const ds_suffixes[] = {
	"", ".isra.0", ".constprop.0", ".part.0", ".isra.0.constprop.0",
};

static bool ds_is_return_probe(const struct ds_probe *p)
{
	return p->rp.handler;
}

/**
 * ds_find_function() - the first of several functions that this kernel has
 * @alternatives: names, closed by NULL
 * @name: gets its name as it is in the kernel, with what a compiler appended;
 *	empty when there is none
 * @len: room in @name, bytes
 *
 * Return: one of @alternatives, or NULL.  Context: process.
 */
const char *ds_find_function(const char *const *alternatives, char *name,
			     size_t len)
{
	const char *const *alt;
	unsigned int i;

	for (alt = alternatives; *alt; alt++) {
		for (i = 0; i < ARRAY_SIZE(ds_suffixes); i++) {
			snprintf(name, len, "%s%s", *alt, ds_suffixes[i]);
			if (ds_lookup(name))
				return *alt;
		}
	}
	name[0] = '\0';
	return NULL;
}

static int ds_probe_register(struct ds_probe *p)
{
	static char names[DS_NR_PROBES][64];
	char *name = names[p - ds_probes];
	int err;

	p->found = ds_find_function(p->alternatives, name, sizeof(names[0]));
	if (!p->found)
		return 0;
	p->rp.kp.symbol_name = name;
	p->rp.kp.flags = KPROBE_FLAG_DISABLED;
	p->rp.maxactive = ds_maxactive;
	err = ds_is_return_probe(p) ? register_kretprobe(&p->rp) :
				      register_kprobe(&p->rp.kp);
	if (err)
		pr_warn("cannot probe %s: error %d\n", name, err);
	else
		p->registered = true;
	return 0;
}

int ds_usage_init(void)
{
	unsigned int i;

	if (!ds_maxactive)
		ds_maxactive = 1024 + 64 * num_possible_cpus();
	for (i = 0; i < ARRAY_SIZE(ds_buckets); i++)
		raw_spin_lock_init(&ds_buckets[i].lock);
	for (i = 0; i < DS_NR_PROBES; i++)
		ds_probe_register(&ds_probes[i]);
	return 0;
}

/**
 * ds_usage_arm() - switches the probes on
 *
 * Return: 0, or the first error; then those that could be are on.  Context:
 * process, may sleep.
 */
int ds_usage_arm(void)
{
	unsigned int i;
	int err, ret = 0;

	if (ds_armed)
		return 0;
	/*
	 * A probed function that was entered while the probes were on still
	 * takes its frame off the list when it returns, so the lists are kept.
	 */
	for (i = 0; i < DS_NR_PROBES; i++) {
		struct ds_probe *p = &ds_probes[i];

		if (!p->registered)
			continue;
		err = ds_is_return_probe(p) ? enable_kretprobe(&p->rp) :
					      enable_kprobe(&p->rp.kp);
		if (err && !ret)
			ret = err;
	}
	ds_armed = true;
	return ret;
}

void ds_usage_disarm(void)
{
	unsigned int i;

	if (!ds_armed)
		return;
	ds_armed = false;
	for (i = 0; i < DS_NR_PROBES; i++) {
		struct ds_probe *p = &ds_probes[i];

		if (!p->registered)
			continue;
		if (ds_is_return_probe(p))
			disable_kretprobe(&p->rp);
		else
			disable_kprobe(&p->rp.kp);
	}
}

void ds_usage_exit(void)
{
	unsigned int i;

	/*
	 * A function that has not returned when its probe is unregistered never
	 * takes its frame off the list, and the frame is freed.  So nobody may
	 * look at the lists from before the first of them goes.
	 */
	ds_usage_disarm();
	WRITE_ONCE(ds_leaving, true);
	synchronize_rcu();	/* handlers run with preemption off */
	for (i = 0; i < DS_NR_PROBES; i++) {
		struct ds_probe *p = &ds_probes[i];

		if (!p->registered)
			continue;
		if (ds_is_return_probe(p))
			unregister_kretprobe(&p->rp);
		else
			unregister_kprobe(&p->rp.kp);
		p->registered = false;
	}
}

bool ds_usage_armed(void)
{
	return ds_armed;
}

/* Without both probes every usage would seem to drain not at all. */
bool ds_usage_counts_drains(void)
{
	return ds_probes[DS_PROBE_RELEASE].registered &&
	       ds_probes[DS_PROBE_DRAIN_CPU].registered;
}

/* Zeroes every counter.  Missed counts start anew too. */
void ds_usage_reset(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(&ds_stats, cpu), 0, sizeof(ds_stats));
		memset(per_cpu_ptr(&ds_usage_stats[0], cpu), 0,
		       sizeof(ds_usage_stats));
	}
	for (i = 0; i < DS_NR_PROBES; i++) {
		ds_probes[i].rp.nmissed = 0;
		ds_probes[i].rp.kp.nmissed = 0;
	}
}

void ds_usage_read(enum ds_entry entry, struct ds_usage_stats *sum)
{
	unsigned int i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		struct ds_usage_stats *s =
			per_cpu_ptr(&ds_usage_stats[entry], cpu);

		sum->usages += s->usages;
		sum->releases += s->releases;
		sum->drains += s->drains;
		sum->max = max(sum->max, s->max);
		for (i = 0; i < DS_USAGE_BUCKETS; i++)
			sum->hist[i] += s->hist[i];
	}
}

const char *ds_usage_entry_name(enum ds_entry entry)
{
	struct ds_probe *p = &ds_probes[entry];

	return p->found ? p->found : p->alternatives[0];
}

/* Why drains a usage of this entry point cannot be counted, or NULL. */
const char *ds_usage_entry_reason(enum ds_entry entry)
{
	if (!ds_probes[entry].found)
		return "this kernel has no such function";
	if (!ds_probes[entry].registered)
		return "the function cannot be probed";
	if (!ds_batch_distance[entry])
		return "its batch was not seen in the module's trial: it has none, or is inlined";
	return NULL;
}

bool ds_usage_calibrated(enum ds_entry entry)
{
	return ds_batch_distance[entry];
}

/**
 * ds_usage_calibrate() - while on, releases by this task teach the distances
 * @on: whether the running task teaches from now on
 *
 * Context: process; the probes must be armed and the caller truncates and
 * invalidates files of the module's own.
 */
void ds_usage_calibrate(bool on)
{
	WRITE_ONCE(ds_calibrating, on ? current : NULL);
}

/* The planted fault: from now on usages by @task drain at every release. */
void ds_usage_plant(struct task_struct *task)
{
	WRITE_ONCE(ds_planted, task);
}

unsigned int ds_nr_probes(void)
{
	return DS_NR_PROBES;
}

void ds_probe_read(unsigned int i, struct ds_probe_info *info)
{
	struct ds_probe *p = &ds_probes[i];

	info->name = p->found ? p->found : p->alternatives[0];
	info->title = p->title;
	info->reason = !p->found ? "this kernel has no such function" :
		       !p->registered ? "the function cannot be probed" : NULL;
	info->missed = p->rp.nmissed + p->rp.kp.nmissed;
}

/**
 * ds_mark_local() - what this CPU drains for from now on, 0: nothing of ours
 * @drain: drain kind, or 0
 *
 * Context: preemption off until it is taken back.
 */
void ds_mark_local(unsigned int drain)
{
	__this_cpu_write(ds_local_mark, drain);
}

/* Drain-alls of ours that are under way: @delta 1 before, -1 after. */
void ds_mark_all(unsigned int drain, int delta)
{
	atomic_add(delta, &ds_all_marks[drain]);
}
