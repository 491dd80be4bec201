/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The generic-netlink ABI between drainstress.ko and drainctl: commands, their
 * attribute trees, and the names that both sides print.  It holds numbers and
 * names only; what a command does lives in kmod/, how it is asked in ctl/.
 *
 * Conventions
 *  - Every enumeration starts at 1, so that a forgotten zero is noticed.
 *  - "in" is what a request carries, "out" what its answer carries, "event"
 *    what the events group carries.  [ ] marks an optional attribute, * one
 *    that may stand several times.
 *  - All commands and the events group want CAP_NET_ADMIN in the initial user
 *    namespace: answers and events show page frame numbers.
 *  - A refusal carries an extack message that names the attribute and why.
 *  - Numbers are host-endian.  u64 attributes are padded with DS_A_PAD.
 *  - FILL, DRAIN, CHECK, PLANT, RACE_START and RACE_STOP are queued and done in
 *    order: the answer is a request id, the result comes as a DONE event and
 *    stays readable through GET_RESULTS.
 *
 * Ownership
 *  The first socket that sends FILL, DRAIN, RACE_START, CHECK or PLANT owns the
 *  module until it closes, however it closes; then all activity stops and
 *  every batch, count and fault is put back.  Another sender gets -EBUSY and
 *  the owner's pid in the extack message.  GET_* and the events group never
 *  claim and never need ownership.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_H
#define _UAPI_LINUX_DRAINSTRESS_H

#define DRAINSTRESS_GENL_NAME		"drainstress"
#define DRAINSTRESS_GENL_VERSION	1
#define DRAINSTRESS_MCGRP_EVENTS	"events"

/* Longest string attribute, terminating zero included. */
#define DS_STRING_MAX			1024

/**
 * enum drainstress_cmd - the commands of the family
 *
 * @DS_CMD_GET_CAPS: do.  What this kernel and this load of the module can do.
 *	in:	-
 *	out:	DS_A_RELEASE string, kernel release
 *		DS_A_VERSION string, of the module's sources
 *		DS_A_BATCH_SIZE u32, entries of a folio_batch
 *		DS_A_MGLRU u8, 1 when the multi-generational LRU is in use
 *		DS_A_OWNER u32, pid of the controller, 0 when there is none
 *		DS_A_STATE string, "idle", "running" or "stopping"
 *		DS_A_FIX u32, enum drainstress_fix
 *		[DS_A_REASON] string, why batches are not touched at all
 *		DS_A_ITEM* nest, one for each symbol, batch kind, drain kind,
 *			probe, usage entry point, invariant, planted fault,
 *			fault to inject (drainstress_faults.h) and pair to align
 *			(drainstress_align.h):
 *			DS_ITEM_CLASS u32, enum drainstress_class
 *			DS_ITEM_ID u32, number within its class, from 1
 *			DS_ITEM_NAME string
 *			DS_ITEM_AVAILABLE u8
 *			[DS_ITEM_TITLE] string
 *			[DS_ITEM_REASON] string, why it is not available
 *			[DS_ITEM_INVARIANTS] u64, of a planted fault: mask of
 *				the invariants that must notice it, bit (id - 1),
 *				each of them and no other
 *			[DS_ITEM_BRIEF] u8, of a planted fault: 1 when it can be
 *				brief, see PLANT
 *
 * @DS_CMD_FILL: do, owner.  Puts folios of the module's own into batches.
 *	in:	DS_A_KIND u32, id of a batch kind
 *		DS_A_COUNT u32, folios a CPU, 1 .. batch size - 1; the batches
 *			of the CPU are drained first so that exactly this many
 *			are queued
 *		[DS_A_CPUS] string, CPU list such as "0-3,5"; default: online
 *	out:	DS_A_REQUEST u32
 *	done:	DS_A_COUNTER "queued", "short" (CPUs that got fewer than asked)
 *
 * @DS_CMD_DRAIN: do, owner.  Drains in one of the kernel's ways.
 *	in:	DS_A_DRAIN u32, id of a drain kind
 *		[DS_A_CPUS] string, as above; ignored by kinds for all CPUs
 *	out:	DS_A_REQUEST u32
 *	done:	DS_A_COUNTER "calls", "moved" (folios, all CPUs, while it
 *		ran), "ns"
 *
 * @DS_CMD_RACE_START: do, owner.  Starts a run: probes are armed, counters and
 *	results are zeroed, kthreads race fills against drains.
 *	in:	DS_A_SEED u64
 *		[DS_A_KINDS] u64, mask of batch kinds, bit (id - 1);
 *			default: all available
 *		[DS_A_DRAINS] u64, mask of drain kinds, likewise
 *		[DS_A_CPUS] string; default: online
 *		[DS_A_STUTTER_MS] u32, mean length of a running period, 60000 at most; between
 *			two all threads rest for an eighth of it; 0 never rests;
 *			default 1000
 *		[DS_A_ONLINE_RATE] u32, samples a second that checks take while
 *			the load runs, 10000 at most; 0: none; default 50.  One
 *			sample is up to 32 folios of one LRU list; each time
 *			that some are taken a batch is looked at too
 *		[DS_A_RACE] u8, enum drainstress_race; default: DS_RACE_FULL
 *		[DS_A_ACCOUNTING] u8, 0: probes stay off (for benchmarks)
 *		[DS_A_CGROUP] u64, id of a version 2 cgroup (the inode number of
 *			its directory) with the memory controller, to which
 *			nothing else is or was charged; without it I29 is skipped
 *		DS_A_SCRIPT* nest, of a full race only: decisions to be taken in
 *			place of all; one for each kthread, the others do nothing:
 *			DS_SC_CPU u32, one of DS_A_CPUS, or DS_SCRIPT_FAR for the
 *				kthread that drains other CPUs,
 *			DS_SC_STEPS binary, u64 each: the index of a decision,
 *				times DS_SCRIPT_RUN, plus how many follow it one by
 *				one; DS_DECISIONS (drainstress_decide.h) in all at
 *				most.  They are taken in this order over and over
 *		[DS_A_FAULTS] nest, the faults to inject; default: none.
 *			DS_A_FAULT* nest, one for each, each fault once:
 *			DS_FA_ID u32, enum drainstress_fault, which has to be
 *				available
 *			[DS_FA_ONE_IN] u32, 1 to DS_FAULT_ONE_IN_MAX,
 *			[DS_FA_MIN_US] and [DS_FA_MAX_US] u32, 1 to
 *				DS_FAULT_US_MAX, the first not above the second,
 *			[DS_FA_EVERY_MS] u32, 1 to DS_FAULT_EVERY_MAX_MS: only
 *				those that the fault takes; default: its own
 *		[DS_A_ALIGN] u8, enum drainstress_align; default: DS_ALIGN_OFF
 *		[DS_A_PAIRS] u64, mask of enum drainstress_pair, bit (id - 1), of
 *			which those that are available are raced; default: all,
 *			with DS_ALIGN_ON all that are not rare
 *	out:	DS_A_REQUEST u32
 *	event:	STATE "running"
 *	done:	status 0, or why the run could not start
 *
 * @DS_CMD_RACE_STOP: do, owner.  Ends the run; counters and results stay.
 *	in:	-
 *	out:	DS_A_REQUEST u32
 *	event:	STATE "idle", when all kthreads rest
 *	done:	status 0
 *
 * @DS_CMD_GET_STATS: dump.  One message a scope.
 *	in:	-
 *	out:	DS_A_SCOPE string, "cpu", "total", "probe", "fault", "align",
 *			"race" or "latency"
 *		[DS_A_CPU] u32, of scopes "cpu" and "race", there without the
 *			kthread that drains other CPUs
 *		[DS_A_NAME] string, of scopes "probe", "fault", "align" and
 *			"latency"
 *		DS_A_COUNTER* nest: DS_COUNTER_NAME string,
 *			DS_COUNTER_VALUE u64.
 *		[DS_A_BUCKETS] binary, of scope "latency": pairs of u64, the
 *			lower bound of a bucket in ns (drainstress_hist.h) and
 *			how often it was hit; buckets that were not are left out
 *	Counters of "cpu", all since RACE_START or load (K a batch kind, D a
 *	drain kind): "fill.K" folios queued by the module as fills; "own.K" all
 *	that it queued, its checks and preparations too, at most; "moved.K"
 *	folios moved out of per-CPU batches, so that moved.K - own.K are at least
 *	those of others; "flush.full.K" batches moved because they
 *	were full, "flush.early.K" moved by an add before they were full,
 *	"flush.drain.K" moved by a drain; "drain.calls" and "drain.empty" calls
 *	of lru_add_drain_cpu, whoever made them; "call.D" drains the module
 *	made, "effective.D" batches with folios in them that those drains
 *	moved ("effective.disable" too those that held folios when an add found
 *	the cache just being disabled).  Of "total": "levels.K" of the
 *	numbers of folios, from 1 to batch_size, that a batch held when it was
 *	moved, so many were seen, the rarest "level.least.K" times; "remote"
 *	fills of another CPU's folios,
 *	"race.loops", "checks", "decisions.high" and "decisions.low", after the
 *	end of a race the halves of a hash over the first DS_DECISIONS decisions
 *	of each kthread (drainstress_decide.h); of all checks at rest "check.folios" on LRU
 *	lists, walked in "check.walk_ns", "check.looks" that were necessary
 *	after a first one, "check.pause_max_ns"; of those while the load runs
 *	"online.samples", "online.folios", "online.suspects" that looked wrong
 *	at first, "online.unresolved" of those that were too many to look at
 *	again, "online.hold_p50_ns" and "online.hold_max_ns", for how long a
 *	sample held an lru_lock or kept interrupts off, "online.pause_max_ns" the
 *	longest stop_machine that looking again took.  Of "probe": "missed".
 *	Of "fault": "hits", how often its point was reached or its action begun;
 *	"done", hits that were delayed, or what the actions achieved (batches
 *	flushed early, windows, batches one short of full, drains that began when
 *	all CPUs were there, folios isolated); "ns", the time of these.
 *	Of "align", a pair each: "rounds" in which both sides met and acted,
 *	"overlaps" of them in which both were under way at one time, "ns" of such
 *	rounds and what is between them, "missed" rounds in which they did not meet
 *	in time, "failed" those in which one could not act; "bin.0" .. "bin.15",
 *	where in the range of offsets, from B ending as A starts to B starting as A
 *	ends, rounds were, "outside" of it; "len_ns.a" and "len_ns.b", how long an
 *	action takes on average, "busy_ns.a" and "busy_ns.b" with its preparation;
 *	and of slices of DS_ALIGN_COMPARE in which each side went its own way
 *	"free.actions.a", "free.actions.b", "free.overlaps", "free.ns".
 *	Of "race": "decisions" taken by that kthread, and "mark.N", how many they
 *	were when invariant N was first violated.
 *	Of "latency", since RACE_START, how long the kernel took for what the
 *	module asked of it: "drain", of drain kinds for one CPU, "drain-all", of
 *	those for all, and "check-pause", for which checks stopped the machine.
 *	Each comes in one or more messages, in the order of the buckets; the first
 *	has the counters "count", of all values, and "max_ns", and need have no
 *	buckets.
 *
 * @DS_CMD_GET_USAGE: dump.  One message for each usage entry point.
 *	in:	-
 *	out:	DS_A_NAME string, the kernel function
 *		DS_A_COUNTER*: "usages" (calls that released a batch at least
 *		once), "releases", "drains", "max" (most drains in one usage),
 *		"drains.0" .. "drains.3", "drains.4+" (usages with so many)
 *
 * @DS_CMD_CHECK: do, owner.  A check at rest; asynchronous.
 *	in:	[DS_A_INVARIANTS] u64, mask, bit (id - 1); default: all
 *		[DS_A_CGROUP] u64, only the LRU lists of this memory cgroup
 *			(not of those below it): the inode number of its
 *			directory in cgroup v2; then only I11 to I15 can be
 *			checked, which is the default.  -ENOENT when there is none
 *	out:	DS_A_REQUEST u32
 *	done:	DS_A_COUNTER "checked", "violations", "pause_ns" (longest
 *		stop_machine), "folios" on LRU lists, walked in "walk_ns",
 *		"looks" that were necessary after a first one.  Status ENOENT
 *		when the cgroup went meanwhile.  A second CHECK of the owner
 *		waits for the first; one of somebody else gets -EBUSY.
 *
 * @DS_CMD_GET_RESULTS: dump.  One message for each invariant, then one for
 *	each finished request (the newest 64).
 *	out:	DS_A_INVARIANT u32, DS_A_NAME string ("I8"),
 *		DS_A_CHECKED u64, DS_A_VIOLATIONS u64,
 *		[DS_A_REASON] string, why it was skipped,
 *		[DS_A_VIOLATION] nest, the first one, see below
 *	   or:	DS_A_REQUEST u32, DS_A_STATUS u32 (0 or a positive errno),
 *		DS_A_COMMAND u32, DS_A_COUNTER*
 *
 * @DS_CMD_SET_FAULT: reserved.
 *
 * @DS_CMD_PLANT: do, owner; only with the module parameter plant=1.  Makes one
 *	deliberate fault so that the check for it is seen to notice.
 *	in:	DS_A_NAME string, as listed by GET_CAPS
 *		[DS_A_BRIEF] u8, 1: the fault stands only until a check begins
 *			to wait for a second look, as what a healthy kernel is in
 *			the middle of; then no check may report it.  For those
 *			with DS_ITEM_BRIEF
 *	out:	DS_A_REQUEST u32
 *	done:	DS_A_COUNTER "planted"
 *
 * @DS_CMD_EVENT: what the events group carries.
 *	event:	DS_A_EVENT u32, enum drainstress_event
 *		DS_A_SEQ u32, counts events; a gap means that some were lost
 *			and that GET_RESULTS has to be read
 *	   VIOLATION: DS_A_VIOLATION nest
 *	   STATE:     DS_A_STATE string
 *	   PROGRESS:  DS_A_COUNTER*, once a second of a run: "fills",
 *		      "drains_effective", "moved", "usages", "usage_max",
 *		      "violations", "checks", "stalled_ms" (age of the oldest
 *		      drain call that has not returned)
 *	   DONE:      DS_A_REQUEST, DS_A_STATUS, DS_A_COMMAND, DS_A_COUNTER*
 *
 * DS_A_VIOLATION nest, of results and events:
 *	DS_VIOL_INVARIANT u32, DS_VIOL_TIME_NS u64 (CLOCK_MONOTONIC),
 *	DS_VIOL_TEXT string (expected against found), DS_VIOL_CPU u32,
 *	[DS_VIOL_KIND] u32 batch kind, [DS_VIOL_SLOT] u32, [DS_VIOL_PFN] u64,
 *	[DS_VIOL_FLAGS] u64 page flags word, [DS_VIOL_FLAGS_TEXT] string,
 *	[DS_VIOL_REFCOUNT] u32 (signed), [DS_VIOL_MAPCOUNT] u32 (signed),
 *	[DS_VIOL_MAPPING] u64, [DS_VIOL_INDEX] u64,
 *	DS_VIOL_PID u32, DS_VIOL_COMM string, who noticed it,
 *	[DS_VIOL_EXPECTED] string, [DS_VIOL_FOUND] string: parts of DS_VIOL_TEXT,
 *	[DS_VIOL_ORDER] u32, [DS_VIOL_NODE] u32, [DS_VIOL_ZONE] u32 of the folio,
 *	[DS_VIOL_MEMCG_DATA] u64 the folio's word, pointer and flags,
 *	[DS_VIOL_MEMCG] u32 css id and [DS_VIOL_MEMCG_INODE] u64 inode number of
 *		the cgroup's directory, when there is such a memory cgroup; the
 *		root's for a folio without one,
 *	[DS_VIOL_LIST] string, the list it was found on, or the one that its
 *		flags name,
 *	[DS_VIOL_LRUVEC_NODE] u32, [DS_VIOL_LRUVEC_MEMCG] u32 css id: of the list
 *		it was found on, or that the folio names; without the second it
 *		is not known, or memory cgroups are disabled,
 *	DS_VIOL_ACTION* nest, at most 16, the oldest first: what the module did
 *		last on DS_VIOL_CPU, for it and on all CPUs; where the violation
 *		is on no CPU in particular, what it did last anywhere:
 *		DS_ACTION_TIME_NS u64 (CLOCK_MONOTONIC), DS_ACTION_CPU u32 that
 *		did it, DS_ACTION_TEXT string
 */
enum drainstress_cmd {
	DS_CMD_UNSPEC,
	DS_CMD_GET_CAPS,
	DS_CMD_FILL,
	DS_CMD_DRAIN,
	DS_CMD_RACE_START,
	DS_CMD_RACE_STOP,
	DS_CMD_GET_STATS,
	DS_CMD_GET_USAGE,
	DS_CMD_CHECK,
	DS_CMD_GET_RESULTS,
	DS_CMD_SET_FAULT,
	DS_CMD_PLANT,
	DS_CMD_EVENT,
	__DS_CMD_MAX,
};

#define DS_CMD_MAX (__DS_CMD_MAX - 1)

/* Attributes of the top level; types and use stand with the commands. */
enum drainstress_attr {
	DS_A_UNSPEC,
	DS_A_PAD,
	DS_A_RELEASE,
	DS_A_BATCH_SIZE,
	DS_A_MGLRU,
	DS_A_OWNER,
	DS_A_STATE,
	DS_A_FIX,
	DS_A_REASON,
	DS_A_ITEM,
	DS_A_KIND,
	DS_A_DRAIN,
	DS_A_COUNT,
	DS_A_CPUS,
	DS_A_REQUEST,
	DS_A_SEED,
	DS_A_KINDS,
	DS_A_DRAINS,
	DS_A_STUTTER_MS,
	DS_A_RACE,
	DS_A_ACCOUNTING,
	DS_A_SCOPE,
	DS_A_CPU,
	DS_A_NAME,
	DS_A_COUNTER,
	DS_A_INVARIANTS,
	DS_A_INVARIANT,
	DS_A_CHECKED,
	DS_A_VIOLATIONS,
	DS_A_VIOLATION,
	DS_A_STATUS,
	DS_A_COMMAND,
	DS_A_EVENT,
	DS_A_SEQ,
	DS_A_CGROUP,
	DS_A_ONLINE_RATE,
	DS_A_VERSION,
	DS_A_BRIEF,
	DS_A_FAULTS,
	DS_A_FAULT,
	DS_A_ALIGN,
	DS_A_PAIRS,
	DS_A_SCRIPT,
	DS_A_BUCKETS,
	__DS_A_MAX,
};

#define DS_A_MAX (__DS_A_MAX - 1)

/* Inside DS_A_ITEM. */
enum drainstress_item_attr {
	DS_ITEM_UNSPEC,
	DS_ITEM_CLASS,
	DS_ITEM_ID,
	DS_ITEM_NAME,
	DS_ITEM_AVAILABLE,
	DS_ITEM_TITLE,
	DS_ITEM_REASON,
	DS_ITEM_PAD,
	DS_ITEM_INVARIANTS,
	DS_ITEM_BRIEF,
	__DS_ITEM_MAX,
};

#define DS_ITEM_MAX (__DS_ITEM_MAX - 1)

/* Inside DS_A_COUNTER. */
enum drainstress_counter_attr {
	DS_COUNTER_UNSPEC,
	DS_COUNTER_PAD,
	DS_COUNTER_NAME,
	DS_COUNTER_VALUE,
	__DS_COUNTER_MAX,
};

#define DS_COUNTER_MAX (__DS_COUNTER_MAX - 1)

/* Inside DS_A_VIOLATION. */
enum drainstress_viol_attr {
	DS_VIOL_UNSPEC,
	DS_VIOL_PAD,
	DS_VIOL_INVARIANT,
	DS_VIOL_TIME_NS,
	DS_VIOL_TEXT,
	DS_VIOL_CPU,
	DS_VIOL_KIND,
	DS_VIOL_SLOT,
	DS_VIOL_PFN,
	DS_VIOL_FLAGS,
	DS_VIOL_FLAGS_TEXT,
	DS_VIOL_REFCOUNT,
	DS_VIOL_MAPCOUNT,
	DS_VIOL_MAPPING,
	DS_VIOL_INDEX,
	DS_VIOL_PID,
	DS_VIOL_COMM,
	DS_VIOL_EXPECTED,
	DS_VIOL_FOUND,
	DS_VIOL_ORDER,
	DS_VIOL_NODE,
	DS_VIOL_ZONE,
	DS_VIOL_MEMCG_DATA,
	DS_VIOL_MEMCG,
	DS_VIOL_MEMCG_INODE,
	DS_VIOL_LIST,
	DS_VIOL_LRUVEC_NODE,
	DS_VIOL_LRUVEC_MEMCG,
	DS_VIOL_ACTION,
	__DS_VIOL_MAX,
};

#define DS_VIOL_MAX (__DS_VIOL_MAX - 1)

/* Inside DS_VIOL_ACTION. */
enum drainstress_action_attr {
	DS_ACTION_UNSPEC,
	DS_ACTION_PAD,
	DS_ACTION_TIME_NS,
	DS_ACTION_CPU,
	DS_ACTION_TEXT,
	__DS_ACTION_MAX,
};

#define DS_ACTION_MAX (__DS_ACTION_MAX - 1)

/* Inside DS_A_FAULT. */
enum drainstress_fault_attr {
	DS_FA_UNSPEC,
	DS_FA_ID,
	DS_FA_ONE_IN,
	DS_FA_MIN_US,
	DS_FA_MAX_US,
	DS_FA_EVERY_MS,
	__DS_FA_MAX,
};

#define DS_FA_MAX (__DS_FA_MAX - 1)

/* Inside DS_A_SCRIPT. */
enum drainstress_script_attr {
	DS_SC_UNSPEC,
	DS_SC_CPU,
	DS_SC_STEPS,
	__DS_SC_MAX,
};

#define DS_SC_MAX (__DS_SC_MAX - 1)

#define DS_SCRIPT_FAR	0xffffffffU
#define DS_SCRIPT_RUN	4096ULL

enum drainstress_event {
	DS_EVENT_UNSPEC,
	DS_EVENT_VIOLATION,
	DS_EVENT_STATE,
	DS_EVENT_PROGRESS,
	DS_EVENT_DONE,
};

/* What GET_CAPS lists. */
enum drainstress_class {
	DS_CLASS_UNSPEC,
	DS_CLASS_SYMBOL,
	DS_CLASS_BATCH,
	DS_CLASS_DRAIN,
	DS_CLASS_PROBE,
	DS_CLASS_ENTRY,
	DS_CLASS_INVARIANT,
	DS_CLASS_PLANT,
	DS_CLASS_FAULT,
	DS_CLASS_PAIR,
};

/* What the racing kthreads do. */
enum drainstress_race {
	DS_RACE_NONE,		/* there are none: probes and checks only */
	DS_RACE_FULL,
	DS_RACE_BARE,		/* for benchmarks: the same actions from an array
				 * made beforehand, nothing counted or checked
				 */
};

/* Does percpu_pvec_drained survive folio_batch_move_lru()? */
enum drainstress_fix {
	DS_FIX_UNSPEC,
	DS_FIX_UNKNOWN,		/* the canary could not run */
	DS_FIX_PRESENT,		/* the flag survived in every batch tried */
	DS_FIX_ABSENT,		/* it was cleared in at least one */
};

/*
 * The per-CPU batches.  X(symbol, name, title); the id is the place in the
 * list, from 1.
 */
#define DS_BATCH_KINDS(X)						\
	X(LRU_ADD, "lru_add", "folios on their way to an LRU list")	\
	X(ACTIVATE, "activate", "inactive folios to be made active")	\
	X(DEACTIVATE, "deactivate", "active folios to be made inactive") \
	X(DEACTIVATE_FILE, "deactivate_file",				\
	  "file folios whose invalidation failed")			\
	X(LAZYFREE, "lazyfree", "anonymous folios that may be dropped")	\
	X(ROTATE, "rotate", "folios for the tail after writeback")	\
	X(MLOCK, "mlock", "folios to be mlocked or munlocked")

/* The ways the kernel drains. */
#define DS_DRAIN_KINDS(X)						\
	X(LOCAL, "local", "lru_add_drain() on a CPU")			\
	X(CPU, "cpu", "lru_add_drain_cpu() run on a named CPU")		\
	X(ALL, "all", "lru_add_drain_all()")				\
	X(DISABLE, "disable", "lru_cache_disable() to lru_cache_enable()") \
	X(RELEASE, "release", "release of a batch that was not drained yet")

#define DS_BATCH_ENUM(sym, name, title) DS_BATCH_##sym,
#define DS_DRAIN_ENUM(sym, name, title) DS_DRAIN_##sym,
enum drainstress_batch_kind {
	DS_BATCH_UNSPEC,
	DS_BATCH_KINDS(DS_BATCH_ENUM)
	__DS_BATCH_MAX,
};

enum drainstress_drain_kind {
	DS_DRAIN_UNSPEC,
	DS_DRAIN_KINDS(DS_DRAIN_ENUM)
	__DS_DRAIN_MAX,
};

#define DS_NR_BATCH_KINDS (__DS_BATCH_MAX - 1)
#define DS_NR_DRAIN_KINDS (__DS_DRAIN_MAX - 1)

#endif /* _UAPI_LINUX_DRAINSTRESS_H */
