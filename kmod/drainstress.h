/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of drainstress.ko share: the tables' row types, the state of a
 * run, and the functions that one file offers to the others.  The netlink ABI
 * is not here but in include/uapi/linux/drainstress.h.
 */
#ifndef DRAINSTRESS_H
#define DRAINSTRESS_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pagevec.h>
#include <linux/percpu.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/drainstress.h>
#include <linux/drainstress_align.h>
#include <linux/drainstress_decide.h>
#include <linux/drainstress_faults.h>
#include <linux/drainstress_hist.h>
#include <linux/drainstress_invariants.h>

#ifndef PAGEVEC_SIZE
#define PAGEVEC_SIZE FOLIO_BATCH_SIZE
#endif
#define DS_BATCH_SIZE		PAGEVEC_SIZE
#define DS_REASON_LEN		120
#define DS_TEXT_LEN		192

#define DS_KIND_BIT(id)		BIT((id) - 1)
#define DS_INV_BIT(id)		BIT_ULL((id) - 1)
/* Those that are about the lruvecs of one memory cgroup. */
#define DS_INV_OF_LISTS		GENMASK_ULL(14, 10)

/* ---- symbols.c: functions and data that the kernel does not export ---- */

/*
 * X(name, return type, arguments, alternatives): the prototypes are the
 * module's own, because some kernels keep theirs in mm/internal.h.  Where a
 * function once took a page and now takes a folio the pointer is the same.
 * folio_isolate_lru() returned 0 or -EBUSY up to 6.3 and a bool since: declared
 * int, and what it means is found at load (see ds_isolate()).
 * try_to_free_mem_cgroup_pages() has its last argument since 6.8 and does not look
 * at it before.
 */
#define DS_FUNCTIONS(X)							\
	X(lru_add_drain, void, (void), "lru_add_drain")			\
	X(lru_add_drain_cpu, void, (int cpu), "lru_add_drain_cpu")	\
	X(lru_add_drain_all, void, (void), "lru_add_drain_all")		\
	X(lru_cache_disable, void, (void), "lru_cache_disable")		\
	X(folio_isolate_lru, int, (struct folio *folio), "folio_isolate_lru") \
	X(folio_putback_lru, void, (struct folio *folio), "folio_putback_lru") \
	X(folio_activate, void, (struct folio *folio), "folio_activate") \
	X(folio_deactivate, void, (struct folio *folio),		\
	  "folio_deactivate", "deactivate_page")			\
	X(deactivate_file_folio, void, (struct folio *folio),		\
	  "deactivate_file_folio", "deactivate_file_page")		\
	X(folio_mark_lazyfree, void, (struct folio *folio),		\
	  "folio_mark_lazyfree", "mark_page_lazyfree")			\
	X(folio_rotate_reclaimable, void, (struct folio *folio),	\
	  "folio_rotate_reclaimable")					\
	X(mlock_folio, void, (struct folio *folio), "mlock_folio")	\
	X(mlock_new_folio, void, (struct folio *folio),			\
	  "mlock_new_folio", "mlock_new_page")				\
	X(munlock_folio, void, (struct folio *folio),			\
	  "munlock_folio", "munlock_page")				\
	X(try_to_free_mem_cgroup_pages, unsigned long,			\
	  (struct mem_cgroup *memcg, unsigned long nr_pages, gfp_t gfp_mask, \
	   unsigned int options, int *swappiness),			\
	  "try_to_free_mem_cgroup_pages")				\
	X(mm_alloc, struct mm_struct *, (void), "mm_alloc")		\
	X(arch_pick_mmap_layout, void,					\
	  (struct mm_struct *mm, struct rlimit *rlim_stack),		\
	  "arch_pick_mmap_layout")

#define DS_DATA(X)							\
	X(cpu_fbatches, "cpu_fbatches")					\
	X(lru_add_drain_work, "lru_add_drain_work")			\
	X(lru_rotate, "lru_rotate")					\
	X(mlock_fbatch, "mlock_fbatch", "mlock_pvec")			\
	X(lru_disable_count, "lru_disable_count")

#define DS_SYM_ENUM(name, ...) DS_SYM_##name,
enum ds_sym {
	DS_FUNCTIONS(DS_SYM_ENUM)
	DS_DATA(DS_SYM_ENUM)
	DS_NR_SYMS
};

#define DS_DECLARE_CALL(name, ret, args, ...)				\
	typedef ret ds_fn_##name args;					\
	extern ds_fn_##name ds_proto_##name;				\
	DECLARE_STATIC_CALL(ds_##name, ds_proto_##name);
DS_FUNCTIONS(DS_DECLARE_CALL)

/* Calls an unexported function; only where ds_has() said it is there. */
#define ds_call(name) static_call(ds_##name)

struct ds_symbol {
	const char *name;		/* as the newest kernel names it */
	const char *const *alternatives;	/* NULL-terminated */
	const char *found;		/* the alternative that this kernel has */
	unsigned long addr;		/* 0: missing */
};

extern struct ds_symbol ds_symbols[DS_NR_SYMS];

unsigned long ds_proto_kallsyms(const char *name);	/* a type only */
int ds_symbols_init(void);
unsigned long ds_lookup(const char *name);
bool ds_needs_met(u64 needs, char *why, size_t len);
static inline bool ds_has(enum ds_sym sym)
{
	return ds_symbols[sym].addr;
}

/* ---- layout.c: where the per-CPU batches are, and the proof of it ---- */

struct folio_batch *ds_batch(unsigned int kind, int cpu);
int ds_layout_init(void);
bool ds_layout_proven(unsigned int kind);
const char *ds_layout_reason(void);
unsigned int ds_pending(int cpu);
int ds_batch_kind_of(const struct folio_batch *fbatch, int cpu);

static inline bool ds_lru_disabled(void)
{
	return ds_has(DS_SYM_lru_disable_count) &&
	       atomic_read((atomic_t *)ds_symbols[DS_SYM_lru_disable_count].addr);
}

/* ---- stock.c: the folios that the module owns ---- */

/*
 * References to a file-backed own folio beyond those that it needs: a kernel that
 * loses one must not free it under the check that is to notice.  With all entries in
 * batches fewer than GUP_PIN_COUNTING_BIAS, where it would count as pinned.
 */
#define DS_SPARE_REFS	512

struct ds_own {
	struct folio *folio;
	int cpu;		/* whose stock it belongs to, -1: of a check */
	unsigned short refs;	/* references that are known, batches not counted */
	bool anon;
};

struct ds_stock {
	struct file *file;	/* tmpfs file of the module's own, not anonymous */
	unsigned int nr;
	struct ds_own *own;
};

int ds_stock_make(struct ds_stock *stock, unsigned int nr, int cpu);
int ds_stock_make_anon(struct ds_stock *stock, unsigned int nr, int cpu);
void ds_stock_drop(struct ds_stock *stock);
void ds_stock_drop_locked(struct ds_stock *stock);
void ds_stock_unlock(struct ds_stock *stock);
struct ds_own *ds_own_find(unsigned long pfn);
int ds_stock_init(void);
void ds_stock_exit(void);
int ds_mglru(void);

/* ---- batch.c ---- */

enum ds_queued { DS_REFUSED, DS_QUEUED, DS_FLUSHED };

/**
 * struct ds_batch_kind - one row a per-CPU batch
 * @needs:	bit mask of enum ds_sym
 * @anon:	takes anonymous folios only
 * @foreign:	may be queued by another CPU than the folio's own
 * @ready:	whether queue() would be accepted now; reads flags only
 * @queue:	queues the folio on this CPU; preemption is off
 * @prepare:	brings a folio on the LRU into a state in which ready() holds
 *		after a drain; process context
 */
struct ds_batch_kind {
	u64 needs;
	bool anon;
	bool foreign;
	bool (*ready)(struct folio *folio);
	void (*queue)(struct folio *folio);
	void (*prepare)(struct folio *folio);
};

extern const struct ds_batch_kind ds_batch_kinds[__DS_BATCH_MAX];
extern const char *const ds_batch_name[__DS_BATCH_MAX];
extern const char *const ds_batch_title[__DS_BATCH_MAX];

bool ds_batch_callable(unsigned int kind, char *why, size_t len);
bool ds_batch_available(unsigned int kind, char *why, size_t len);
enum ds_queued ds_queue(unsigned int kind, struct folio *folio);
void ds_queues_own(unsigned int kind);
void ds_putback(struct folio *folio);
void ds_mlock(struct folio *folio);
void ds_mlock_new(struct folio *folio);
void ds_munlock(struct folio *folio);
unsigned int ds_fill(unsigned int kind, struct ds_stock *stock, unsigned int n,
		     unsigned int start);
unsigned int ds_fill_exact(unsigned int kind, struct ds_stock *stock,
			   unsigned int n);
bool ds_isolate(struct folio *folio);
bool ds_learn_isolate(struct folio *folio);

/* ---- drain.c ---- */

/**
 * struct ds_drain_kind - one row a way of draining
 * @needs:	bit mask of enum ds_sym
 * @all_cpus:	drains every CPU: the CPU argument is ignored
 * @run:	drains, and checks what can be checked at that moment unless
 *		@bare; process context, may sleep, must not take the CPU hotplug
 *		lock (the race threads are stopped under it)
 */
struct ds_drain_kind {
	u64 needs;
	bool all_cpus;
	int (*run)(int cpu, struct ds_stock *stock, bool bare);
};

extern const struct ds_drain_kind ds_drain_kinds[__DS_DRAIN_MAX];
extern const char *const ds_drain_name[__DS_DRAIN_MAX];
extern const char *const ds_drain_title[__DS_DRAIN_MAX];

bool ds_drain_available(unsigned int drain, char *why, size_t len);
int ds_drain(unsigned int drain, int cpu, struct ds_stock *stock);
void ds_drain_watch(u64 *stalled_ms);
bool ds_disable_rested(void);
void ds_disable_over(unsigned long began);
void ds_drain_reset(void);
void ds_plant_slow_drain(void);
u64 ds_moved_total(void);

/* ---- latency.c: how long drains and the pauses of checks take ---- */

/* X(symbol, name) */
#define DS_LATENCIES(X)							\
	X(DRAIN, "drain")						\
	X(DRAIN_ALL, "drain-all")					\
	X(PAUSE, "check-pause")

#define DS_LATENCY_ENUM(sym, name) DS_LATENCY_##sym,
enum ds_latency {
	DS_LATENCIES(DS_LATENCY_ENUM)
	DS_NR_LATENCIES
};

extern const char *const ds_latency_name[DS_NR_LATENCIES];

void ds_latency_drain(bool all, u64 start);
u64 ds_latency_pause(u64 start);
int ds_latency_begin(void);
void ds_latency_exit(void);
void ds_latency_read(unsigned int which, u64 *count, u64 *max);
u64 ds_latency_bucket(unsigned int which, u32 index);

/* ---- usage.c: probes, counters, drains per batch usage ---- */

struct ds_cpu_stats {
	u64 fill[__DS_BATCH_MAX];
	u64 own[__DS_BATCH_MAX];
	u64 moved[__DS_BATCH_MAX];
	u64 level[__DS_BATCH_MAX][DS_BATCH_SIZE + 1];
	u64 flush_full[__DS_BATCH_MAX];
	u64 flush_early[__DS_BATCH_MAX];
	u64 flush_drain[__DS_BATCH_MAX];
	u64 call[__DS_DRAIN_MAX];
	u64 effective[__DS_DRAIN_MAX];
	u64 drain_calls;
	u64 drain_empty;
	u64 remote;
	u64 loops;
};

DECLARE_PER_CPU(struct ds_cpu_stats, ds_stats);

#define DS_ENTRIES(X)							\
	X(TRUNCATE, "truncate_inode_pages_range")			\
	X(SHMEM_UNDO, "shmem_undo_range")				\
	X(INVALIDATE, "invalidate_mapping_pages")			\
	X(TRY_INVALIDATE, "mapping_try_invalidate", "invalidate_mapping_pagevec") \
	X(INVALIDATE2, "invalidate_inode_pages2_range")

#define DS_ENTRY_ENUM(sym, ...) DS_ENTRY_##sym,
enum ds_entry {
	DS_ENTRIES(DS_ENTRY_ENUM)
	DS_NR_ENTRIES
};

#define DS_USAGE_BUCKETS	5
struct ds_usage_stats {
	u64 usages;
	u64 releases;
	u64 drains;
	u64 max;
	u64 hist[DS_USAGE_BUCKETS];
};

struct ds_probe_info {
	const char *name;	/* the function that is probed */
	const char *title;
	const char *reason;	/* why it is not available, or NULL */
	u64 missed;
};

const char *ds_find_function(const char *const *alternatives, char *name,
			     size_t len);
int ds_usage_init(void);
void ds_usage_exit(void);
int ds_usage_arm(void);
void ds_usage_disarm(void);
bool ds_usage_armed(void);
bool ds_usage_counts_drains(void);
void ds_usage_reset(void);
void ds_usage_read(enum ds_entry entry, struct ds_usage_stats *sum);
const char *ds_usage_entry_name(enum ds_entry entry);
const char *ds_usage_entry_reason(enum ds_entry entry);
unsigned int ds_nr_probes(void);
void ds_probe_read(unsigned int i, struct ds_probe_info *info);
void ds_usage_calibrate(bool on);
bool ds_usage_calibrated(enum ds_entry entry);
void ds_usage_plant(struct task_struct *task);

/* Marks what this CPU (preemption off) or the drain-all works are draining for. */
void ds_mark_local(unsigned int drain);
void ds_mark_all(unsigned int drain, int delta);

/* ---- fault.c: what is done to a run on purpose ---- */

/**
 * struct ds_fault_config - the faults of a run
 * @mask:	DS_KIND_BIT of enum drainstress_fault
 * @seed:	what their decisions come from
 * @cpus:	where the director lets something be done
 * @args:	of those in @mask
 */
struct ds_fault_config {
	u32 mask;
	u64 seed;
	struct cpumask cpus;
	struct ds_fault_args args[__DS_FAULT_MAX];
};

/**
 * struct ds_fault_sums - how often a fault happened in this run
 * @hits:	how often its point was reached, or its action begun
 * @done:	hits that were delayed, or what the actions achieved: batches
 *		flushed early, windows, batches one short of full, drains that
 *		began together, folios isolated
 * @ns:		time of the delays or actions
 */
struct ds_fault_sums {
	u64 hits;
	u64 done;
	u64 ns;
};

extern const char *const ds_fault_name[__DS_FAULT_MAX];
extern const char *const ds_fault_title[__DS_FAULT_MAX];
extern const struct ds_fault_args ds_fault_defaults[__DS_FAULT_MAX];

bool ds_fault_available(unsigned int fault, char *why, size_t len);
void ds_fault_read(unsigned int fault, struct ds_fault_sums *sum);
int ds_fault_arm(const struct ds_fault_config *config);
void ds_fault_disarm(void);
int ds_fault_start(void);
void ds_fault_stop(void);
void ds_fault_wait_rest(void);
void ds_fault_init(void);
void ds_fault_exit(void);

/* ---- race.c ---- */

/*
 * Of the module's kthreads: 16 threads of the load a CPU would leave them a few
 * per cent otherwise.
 */
#define DS_NICE		(-15)

/* The decisions that one kthread takes over and over; nr 0: it does nothing. */
struct ds_script {
	unsigned int nr;
	u64 *index;
};

struct ds_race_config {
	u64 seed;
	struct ds_script *scripts;	/* by CPU, nr_cpu_ids: for other CPUs; or NULL */
	u32 kinds;		/* DS_KIND_BIT */
	u32 drains;
	u32 stutter_ms;
	u32 online_rate;
	enum drainstress_race race;
	bool accounting;
	u64 memcg;		/* cgroup id of the run's own, 0: none */
	struct cpumask cpus;
	struct ds_fault_config faults;
	enum drainstress_align align;
	u32 pairs;		/* DS_KIND_BIT of enum drainstress_pair */
};

int ds_race_start(struct ds_race_config *config);
struct ds_script *ds_scripts_alloc(void);
void ds_scripts_free(struct ds_script *scripts);
bool ds_racing_now(void);
unsigned int ds_race_last_kind(int cpu);
void ds_race_mark(unsigned int invariant);
bool ds_race_read(int cpu, unsigned int invariant, u64 *decisions);
void ds_race_stop(void);
bool ds_race_paused(void);
void ds_race_pause(void);
void ds_race_resume(void);
u64 ds_race_hash(void);
struct ds_stock *ds_cpu_stock(int cpu, bool anon);
void ds_stocks_get_anon(void);
int ds_own_each(int (*fn)(struct ds_own *own, void *arg), void *arg);
unsigned int ds_own_count(void);
int ds_stocks_get(void);
void ds_stocks_put(void);
void ds_race_exit(void);

/* The random number @index of stream (@seed, @cpu). */
static inline u64 ds_rand(u64 seed, u32 cpu, u64 index, u32 salt)
{
	return ds_random_at(seed, cpu, index, salt);
}

/* ---- align.c: two actions brought together in time ---- */

/**
 * struct ds_align_stats - what became of one pair in this run
 * @rounds:	both sides met and acted
 * @overlaps:	of those, both were under way at one time
 * @missed:	they did not meet in time
 * @failed:	one of them could not act
 * @outside:	of @rounds, outside of the range of offsets
 * @bins:	of @rounds, where in that range
 * @ns:		of rounds and what is between them
 * @len:	how long the actions of A and B take on average, ns
 * @busy:	the same with their preparation
 * @period:	from one round to the next on average, ns
 * @free_actions: of A and B when each went its own way
 * @free_overlaps: of these
 * @free_ns:	for how long they did
 */
struct ds_align_stats {
	u64 rounds;
	u64 overlaps;
	u64 missed;
	u64 failed;
	u64 outside;
	u64 bins[DS_ALIGN_BINS];
	u64 ns;
	u64 len[2];
	u64 busy[2];
	u64 period;
	u64 free_actions[2];
	u64 free_overlaps;
	u64 free_ns;
};

extern const char *const ds_pair_name[__DS_PAIR_MAX];
extern const u32 ds_pairs_rare;

bool ds_pair_available(unsigned int pair, char *why, size_t len);
void ds_pair_title(unsigned int pair, char *title, size_t len);
void ds_align_read(unsigned int pair, struct ds_align_stats *stats);
void ds_align_reset(void);
int ds_align_start(const struct ds_race_config *config);
void ds_align_stop(void);
void ds_align_wait_rest(void);

/* ---- online.c: sampled checks while the load runs ---- */

#define DS_ONLINE_RATE		50	/* samples a second */
#define DS_ONLINE_RATE_MAX	10000

struct ds_online_stats {
	u64 samples;
	u64 folios;
	u64 suspects;		/* looked wrong at first */
	u64 unresolved;		/* of those, too many to follow up */
	u64 hold_p50_ns;	/* lru_lock held, or interrupts off */
	u64 hold_max_ns;
	u64 pause_max_ns;	/* of the looks at rest that suspects need */
};

int ds_online_start(u32 rate, u64 seed);
void ds_online_stop(void);
void ds_online_pause(void);
void ds_online_resume(void);
void ds_online_read(struct ds_online_stats *stats);

/* ---- snapshot.c: all batches of all CPUs as they stand at rest ---- */

struct ds_slot {
	struct folio *folio;
	unsigned long pfn;
	unsigned long flags;
	unsigned long mapping;
	unsigned long index;
	int refcount;
	int mapcount;
	const char *unfit;	/* why it cannot be in a batch, or NULL */
	unsigned long memcg_data;	/* as it stands there, never followed */
	int lruvec_memcg;	/* css id, with @walked; 0: not known */
	s16 lruvec_nid;		/* with @walked */
	s16 nid;		/* -1: a poisoned page */
	u16 list;		/* number + 1 of the list walked, 0: none was */
	u8 zone;
	u8 order;
	bool walked;		/* it was found in an lruvec */
	u16 cpu;
	u8 kind;
	u8 slot;
	u8 tag;			/* bits 0-1 of an mlock entry */
	bool free;
	u16 own_refs;		/* known references of an own folio, 0: foreign */
};

struct ds_batch_state {
	u8 nr;
	bool drained;
};

/* An own folio, whether in a batch or not. */
struct ds_own_state {
	struct ds_slot slot;	/* cpu, kind and slot are not set */
	unsigned int entries;	/* how often it stands in a batch */
};

struct ds_snapshot {
	bool plant;		/* planted faults stand while it is taken */
	unsigned int part;	/* one batch only: of this kind, else 0 */
	int part_cpu;		/* and this CPU */
	unsigned int nr_slots;
	unsigned int max_slots;
	u64 pause_ns;
	struct ds_batch_state (*batches)[__DS_BATCH_MAX];	/* per CPU id */
	struct ds_slot *slots;			/* sorted by pfn */
	unsigned int nr_own, max_own;
	struct ds_own_state *own;
};

void ds_picture(struct ds_slot *s, struct page *page);
struct ds_snapshot *ds_snapshot_alloc(void);
void ds_snapshot_free(struct ds_snapshot *snap);
int ds_snapshot_take(struct ds_snapshot *snap);
int ds_snapshot_take_here(struct ds_snapshot *snap, unsigned int kind);
bool ds_snapshot_has(const struct ds_snapshot *snap, int cpu, unsigned int kind);

/* ---- invariant.c and probe.c ---- */

#define DS_LATE_SUSPECTS 4

struct ds_check {
	u64 mask;		/* DS_INV_BIT */
	u64 cgroup;		/* lists of this memory cgroup only; 0: of all */
	struct ds_snapshot *snap;
	struct ds_snapshot *again;
	u64 pause_ns;		/* the longest */
	u64 folios;		/* on LRU lists, looked at */
	u64 walk_ns;		/* that took so long, at rest */
	u64 looks;		/* that were necessary after the first */
	bool gone;		/* @cgroup was not there */
	unsigned int round;	/* counts checks: rotates CPUs and variants */
	bool lists_done;	/* the LRU lists have been walked in this check */
	bool scan_done;		/* all pages have been scanned in this check */
	struct ds_slot lost[DS_LATE_SUSPECTS];	/* no PG_lru: again after all looks */
	unsigned int nr_lost;
	struct ds_own_state late[DS_LATE_SUSPECTS];	/* again in the end */
	unsigned int nr_late;
};

/**
 * struct ds_invariant - one row an invariant
 * @needs:	symbols, bit mask of enum ds_sym
 * @skip:	writes why this kernel cannot have it; true: skipped
 * @examine:	passive: looks at c->snap, reports; process context
 * @probe:	active: makes the situation with own folios, then looks
 */
struct ds_invariant {
	unsigned int id;
	u64 needs;
	bool (*skip)(char *why, size_t len);
	void (*examine)(struct ds_check *c);
	void (*probe)(struct ds_check *c);
};

extern const struct ds_invariant ds_invariants[];
extern const unsigned int ds_nr_invariants;

const char *ds_invariant_title(unsigned int id);
bool ds_invariant_available(const struct ds_invariant *inv, char *why,
			    size_t len);
bool ds_patience(unsigned int ms);
int ds_check_run(struct ds_check *c);
void ds_examine_batches(struct ds_check *c);
bool ds_skip_layout(char *why, size_t len);
bool ds_skip_probes(char *why, size_t len);
void ds_probe_i2(struct ds_check *c);
void ds_probe_i3(struct ds_check *c);
void ds_probe_i7(struct ds_check *c);
void ds_probe_i8(struct ds_check *c);
void ds_probe_alone(int cpu, int other);
void ds_probe_i9(struct ds_check *c);
void ds_probe_i24(struct ds_check *c);
void ds_probe_i25(struct ds_check *c);
void ds_probe_i23(struct ds_check *c);
enum drainstress_fix ds_canary(void);
enum drainstress_fix ds_fix(void);
int ds_calibrate_usage(void);

/* ---- invariant_lru.c ---- */

#define DS_LIST_LEN	48	/* room for the name of a list */

struct ds_memcg_facts {
	int id;			/* of its css, above 0 */
	u64 inode;		/* of its directory */
};

bool ds_memcg_of(unsigned long memcg_data, struct ds_memcg_facts *facts);
unsigned int ds_list_by_flags(unsigned long flags, unsigned int zone);
void ds_list_text(char *text, size_t len, unsigned int list);
void ds_disabler_begin(void);
void ds_disabler_end(void);
void ds_disable_init(void);
void ds_disable_exit(void);
void ds_examine_i10(struct ds_check *c);
void ds_examine_lists(struct ds_check *c);
bool ds_cgroup_exists(u64 id);
void ds_probe_i16(struct ds_check *c);
void ds_probe_scan(struct ds_check *c);
bool ds_skip_classic(char *why, size_t len);
bool ds_skip_gens(char *why, size_t len);
bool ds_skip_no_memcg(char *why, size_t len);
bool ds_skip_owner(char *why, size_t len);

/* ---- invariant_count.c ---- */

int ds_count_init(void);
void ds_count_exit(void);
bool ds_skip_events(char *why, size_t len);
bool ds_skip_offline(char *why, size_t len);
void ds_examine_i18(struct ds_check *c);
#define DS_MLOCK_NEVER	0x122	/* what LIST_POISON2 leaves in mlock_count */

int ds_cpu_of_round(unsigned int round);
void ds_probe_culled(struct ds_check *c);
void ds_probe_i20(struct ds_check *c);
void ds_probe_i21(struct ds_check *c);
void ds_probe_i26(struct ds_check *c);
void ds_probe_i27(struct ds_check *c);
void ds_probe_i28(struct ds_check *c);
void ds_examine_i30(struct ds_check *c);

/* ---- invariant_memcg.c ---- */

const char *ds_memcg_find(u64 id);
void ds_memcg_start(u64 id);
void ds_memcg_reclaim(unsigned long pages);
int ds_memcg_stock(struct ds_stock *stock, unsigned int nr);
void ds_memcg_stop(void);
bool ds_skip_memcg(char *why, size_t len);
void ds_probe_i29(struct ds_check *c);

/* ---- invariant_pin.c ---- */

void ds_pin_init(void);
void ds_pin_exit(void);
bool ds_skip_pin(char *why, size_t len);
void ds_probe_i33(struct ds_check *c);

/* ---- plant.c ---- */

/* Which of several faults for one invariant, where it is made in the check. */
enum ds_plant_variant { DS_PLANT_ONLY, DS_PLANT_HELD, DS_PLANT_COUNT };

/**
 * struct ds_plant - one row a planted fault
 * @invariant:	the one that must notice
 * @run:	does the damage, lets a check look, undoes the damage; returns 0
 *		when the fault really was there to be seen
 * @damage:	does the damage around a look at rest, or undoes it; called inside
 *		stop_machine() if the look is one for @invariant
 * @variant:	which one, for code of the check that asks ds_plant_variant_here()
 * @missing:	writes why the fault cannot be made here, although the invariant is
 *		available; true: so it is
 * @also:	DS_INV_BIT of those that must notice too, for the reason that the
 *		title gives; no other may
 * @occasion:	@run also makes the occasion for which the invariant is waiting,
 *		so that it need not be available before
 * @brief:	a healthy kernel may look like this for a moment, so the check looks
 *		again before it reports
 */
struct ds_plant {
	const char *name;
	const char *title;
	unsigned int invariant;
	int (*run)(const struct ds_plant *plant);
	void (*damage)(bool on);
	enum ds_plant_variant variant;
	bool (*missing)(char *why, size_t len);
	u64 also;
	bool occasion;
	bool brief;
};

extern const struct ds_plant ds_plants[];
extern const unsigned int ds_nr_plants;
extern bool ds_plant_allowed;
extern bool ds_plant_brief;	/* ends before the second look */
extern const struct ds_plant *ds_plant_armed;	/* the fault that is wanted, or NULL */

static inline bool ds_plant_variant_here(unsigned int invariant,
					 enum ds_plant_variant variant)
{
	const struct ds_plant *armed = READ_ONCE(ds_plant_armed);

	return unlikely(armed) && armed->invariant == invariant &&
	       armed->variant == variant && !armed->damage;
}

/* Whether the fault for @invariant is to be done at this point now. */
static inline bool ds_plant_here(unsigned int invariant)
{
	return ds_plant_variant_here(invariant, DS_PLANT_ONLY);
}

void ds_plant_second_look(void);
bool ds_plant_available(const struct ds_plant *plant, char *why, size_t len);
void ds_plant_stopped(bool on);
void ds_plant_lists(unsigned int first, unsigned int last, bool on);
void ds_plant_done(void);

/* Of a fault that wants an interleaving; see plant.c. */
extern bool ds_plant_meeting;
void ds_plant_meet(int cpu);
void ds_plant_leave_behind(void);
void ds_plant_meet_end(void);

/* ---- ring.c: the last actions of the module, by CPU ---- */

/* What an entry's other members mean stands with each. */
enum ds_what {
	DS_DID_NOTHING,
	DS_DID_FILL,		/* which: batch kind; n, of; target: whose folios */
	DS_DID_PREPARE,		/* which: batch kind; n */
	DS_DID_DRAIN,		/* which: drain kind; target */
	DS_DID_DRAINED,		/* the same; noted of those that take long */
	DS_DID_EARLY,		/* which: batch kind; n folios */
	DS_DID_TRUNCATE,
	DS_DID_RACE,		/* n: 1 begins, 0 ends */
	DS_DID_CHECK,		/* n: 1 begins, 0 ends */
	DS_DID_PROBE,		/* which: invariant */
	DS_DID_PLANT,		/* which: index of ds_plants */
	DS_DID_FAULT,		/* which: enum drainstress_fault, no delay */
	DS_DID_OFFLINE,		/* target; n: 1 went, 0 is back */
};

#define DS_ON_ALL	(-1)	/* concerns all CPUs */
#define DS_ON_NONE	(-2)	/* concerns none but the one it ran on */
#define DS_DID_LEN	64	/* room for an action in words */

/* One action, as it is read. */
struct ds_did {
	u64 time_ns;		/* CLOCK_MONOTONIC */
	u16 cpu;		/* where it was done */
	s16 target;
	u8 what;
	u8 which;
	u8 n;
	u8 of;
};

void ds_ring_begin(bool on);
void ds_ring_end(void);
void ds_ring_put(enum ds_what what, unsigned int which, unsigned int n,
		 unsigned int of, int target);
unsigned int ds_ring_last(int cpu, struct ds_did *out, unsigned int max);
void ds_did_text(const struct ds_did *did, char *text, size_t len);

/* ---- result.c: counts, first violations, finished requests, events ---- */

#define DS_MAX_INVARIANT 64
#define DS_VIOLATION_DID 16	/* last actions that a violation tells */

struct ds_violation {
	unsigned int invariant;
	u64 time_ns;
	int cpu;
	int kind;		/* 0: none */
	int slot;		/* -1: none */
	struct ds_slot folio;	/* pfn 0: there is none */
	struct ds_memcg_facts memcg;	/* of the folio; id 0: not known */
	pid_t pid;
	char comm[TASK_COMM_LEN];
	char text[DS_TEXT_LEN];
	unsigned int nr_did;
	struct ds_did did[DS_VIOLATION_DID];	/* the oldest first */
};

struct ds_result {
	u64 checked;
	u64 violations;
	bool has_first;
	struct ds_violation first;
};

#define DS_REQUEST_COUNTERS 6
struct ds_request_result {
	u32 id;
	u32 command;
	u32 status;
	unsigned int nr;
	struct {
		const char *name;
		u64 value;
	} counter[DS_REQUEST_COUNTERS];
};

void ds_checked(unsigned int invariant, u64 n);
__printf(4, 5)
void ds_violate(unsigned int invariant, const struct ds_slot *slot, int cpu,
		const char *fmt, ...);
void ds_results_reset(void);
void ds_result_read(unsigned int invariant, struct ds_result *result);
u64 ds_violations_total(void);
u64 ds_checked_total(void);
void ds_request_done(const struct ds_request_result *result);
bool ds_request_read(unsigned int n, struct ds_request_result *result);
int ds_result_init(void);
void ds_result_exit(void);

/* ---- main.c: the owner, the run, the queue of requests ---- */

enum ds_state { DS_IDLE, DS_RUNNING, DS_STOPPING };

struct ds_request {
	struct work_struct work;
	u32 id;
	unsigned int gen;	/* which owner sent it */
	u32 command;
	u32 kind;
	u32 drain;
	u32 count;
	u64 mask;
	u64 cgroup;
	const struct ds_plant *plant;
	bool brief;		/* see ds_plant_brief */
	struct ds_race_config config;	/* its cpus serve FILL and DRAIN too */
};

int ds_on_cpu(int cpu, int (*fn)(void *arg), void *arg);

#define DS_REQUESTS_MAX 64	/* that wait to be done */

struct ds_request *ds_request_alloc(u32 command);
void ds_request_queue(struct ds_request *req);
bool ds_abandoned(void);
void ds_request_free(struct ds_request *req);
int ds_claim(u32 portid, pid_t *owner_pid);
void ds_release(u32 portid);
pid_t ds_owner_pid(void);
enum ds_state ds_state(void);
const char *ds_state_name(enum ds_state state);
u64 ds_checks_done(void);

/* Sums over all checks at rest of a run. */
struct ds_check_sums {
	u64 folios;
	u64 walk_ns;
	u64 looks;
	u64 pause_max_ns;
};

void ds_check_sums_read(struct ds_check_sums *sums);

/* ---- netlink.c ---- */

int ds_netlink_init(void);
void ds_netlink_exit(void);
void ds_event_violation(const struct ds_violation *v);
void ds_event_state(const char *state);
void ds_event_done(const struct ds_request_result *result);
void ds_event_progress(void);

#endif /* DRAINSTRESS_H */
