// SPDX-License-Identifier: GPL-2.0-only
/*
 * drainstress.ko: torture of the kernel's per-CPU LRU batches.  This file loads
 * and unloads it, keeps the owner of the run and the queue of requests, and does
 * them one after the other.  What they mean is in the files that they call.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "drainstress.h"

static DEFINE_MUTEX(ds_owner_lock);
static u32 ds_owner_port;
static unsigned int ds_owner_gen;	/* counts owners */
static unsigned int ds_request_gen;	/* whose request is being done */
static pid_t ds_owner;
static enum ds_state ds_current_state;
static u64 ds_nr_checks;
static struct ds_check_sums ds_sums;	/* of the ordered work queue */
static atomic_t ds_next_request = ATOMIC_INIT(0);
static atomic_t ds_waiting = ATOMIC_INIT(0);	/* requests not yet done */

/* Requests in order; a drain that hangs blocks it, so it watches nothing. */
static struct workqueue_struct *ds_requests;
/* The watch over drains and the PROGRESS events. */
static struct workqueue_struct *ds_watch;
/* What has to run on a certain CPU; before the load, or a check takes seconds. */
static struct workqueue_struct *ds_on_cpus;

enum ds_state ds_state(void)
{
	return READ_ONCE(ds_current_state);
}

const char *ds_state_name(enum ds_state state)
{
	static const char *const names[] = { "idle", "running", "stopping" };

	return names[state];
}

static void ds_set_state(enum ds_state state)
{
	if (ds_current_state == state)
		return;
	WRITE_ONCE(ds_current_state, state);
	ds_event_state(ds_state_name(state));
}

pid_t ds_owner_pid(void)
{
	return READ_ONCE(ds_owner);
}

u64 ds_checks_done(void)
{
	return READ_ONCE(ds_nr_checks);
}

/* What the checks of this run have looked at; may miss the newest. */
void ds_check_sums_read(struct ds_check_sums *sums)
{
	*sums = ds_sums;
}

/**
 * ds_claim() - makes the sender of a request the owner
 * @portid: its netlink port
 * @owner_pid: gets the pid of the owner when that is somebody else
 *
 * Return: 0 or -EBUSY.  Context: a netlink handler.
 */
int ds_claim(u32 portid, pid_t *owner_pid)
{
	int err = 0;

	mutex_lock(&ds_owner_lock);
	if (!ds_owner_port) {
		ds_owner_port = portid;
		ds_owner_gen++;
		ds_owner = task_tgid_nr(current);
	} else if (ds_owner_port != portid) {
		*owner_pid = ds_owner;
		err = -EBUSY;
	}
	mutex_unlock(&ds_owner_lock);
	return err;
}

static void ds_progress(struct work_struct *work);
static DECLARE_DELAYED_WORK(ds_progress_work, ds_progress);

static void ds_progress(struct work_struct *work)
{
	if (ds_state() == DS_IDLE)
		return;
	ds_event_progress();
	queue_delayed_work(ds_watch, &ds_progress_work, HZ);
}

/* Everything that a run or a request has started ends, and is put back. */
static void ds_put_back(void)
{
	ds_online_stop();
	ds_fault_stop();
	ds_race_stop();
	if (ds_has(DS_SYM_lru_add_drain_all))
		ds_call(lru_add_drain_all)();
	ds_stocks_put();
	/* What was just given back may have been in a batch again. */
	if (ds_has(DS_SYM_lru_add_drain_all))
		ds_call(lru_add_drain_all)();
	ds_set_state(DS_IDLE);
}

static void ds_disarm(struct work_struct *work)
{
	if (ds_state() == DS_IDLE)
		ds_fault_disarm();
}

static DECLARE_DELAYED_WORK(ds_disarm_work, ds_disarm);

/*
 * The load of an owner that was killed dies meanwhile: the functions that it runs
 * through are not patched before it is gone.  A run that begins earlier arms what
 * it wants.
 */
#define DS_DISARM_MS	3000

static void ds_cleanup(struct work_struct *work)
{
	ds_put_back();
	ds_memcg_stop();
	queue_delayed_work(ds_requests, &ds_disarm_work,
			   msecs_to_jiffies(DS_DISARM_MS));
}

static DECLARE_WORK(ds_cleanup_work, ds_cleanup);

/**
 * ds_release() - the socket @portid was closed, or 0: the module goes
 * @portid: the netlink port of the socket; 0: the module goes
 *
 * When it was the owner's, all activity stops; what it had queued is done or
 * undone first.  Any process context, returns at once.
 */
void ds_release(u32 portid)
{
	mutex_lock(&ds_owner_lock);
	if (ds_owner_port && (!portid || ds_owner_port == portid)) {
		ds_owner_port = 0;
		WRITE_ONCE(ds_owner, 0);
		queue_work(ds_requests, &ds_cleanup_work);
	}
	mutex_unlock(&ds_owner_lock);
}

struct ds_on_cpu {
	struct work_struct work;
	int (*fn)(void *arg);
	void *arg;
	int ret;
};

static void ds_do_on_cpu(struct work_struct *work)
{
	struct ds_on_cpu *call = container_of(work, struct ds_on_cpu, work);

	call->ret = call->fn(call->arg);
}

/**
 * ds_on_cpu() - runs a function on a CPU and waits for it
 * @cpu: a possible CPU
 * @fn: may sleep
 * @arg: for @fn
 *
 * As smp_call_on_cpu(), but ahead of what else wants the CPU.  A CPU that goes
 * offline meanwhile hands @fn to another one.  Return: what @fn returned, or
 * -ENXIO when the CPU is offline.  Context: process, may sleep; the CPU hotplug
 * lock is not taken.
 */
int ds_on_cpu(int cpu, int (*fn)(void *arg), void *arg)
{
	struct ds_on_cpu call = { .fn = fn, .arg = arg };

	if (!cpu_online(cpu))
		return -ENXIO;
	INIT_WORK_ONSTACK(&call.work, ds_do_on_cpu);
	queue_work_on(cpu, ds_on_cpus, &call.work);
	flush_work(&call.work);
	destroy_work_on_stack(&call.work);
	return call.ret;
}

/* ---- requests ---- */

static void ds_count(struct ds_request_result *result, const char *name,
		     u64 value)
{
	if (WARN_ON_ONCE(result->nr == DS_REQUEST_COUNTERS))
		return;
	result->counter[result->nr].name = name;
	result->counter[result->nr].value = value;
	result->nr++;
}

struct ds_fill_here {
	unsigned int kind;
	unsigned int count;
	unsigned int queued;
};

static int ds_fill_on_cpu(void *arg)
{
	struct ds_fill_here *f = arg;
	struct ds_stock *stock = ds_cpu_stock(raw_smp_processor_id(),
					      ds_batch_kinds[f->kind].anon);

	f->queued = ds_fill_exact(f->kind, stock, f->count);
	return 0;
}

static int ds_do_fill(struct ds_request *req, struct ds_request_result *result)
{
	u64 queued = 0, fewer = 0;
	int cpu, err;

	err = ds_stocks_get();
	if (err)
		return err;
	for_each_cpu(cpu, &req->config.cpus) {
		struct ds_fill_here f = { req->kind, req->count };

		err = ds_on_cpu(cpu, ds_fill_on_cpu, &f);
		if (err || f.queued < req->count)
			fewer++;
		queued += f.queued;
	}
	ds_count(result, "queued", queued);
	ds_count(result, "short", fewer);
	return 0;
}

struct ds_drain_here {
	unsigned int drain;
	int cpu;
};

static int ds_drain_on_cpu(void *arg)
{
	struct ds_drain_here *d = arg;

	return ds_drain(d->drain, d->cpu, ds_cpu_stock(d->cpu, false));
}

static int ds_do_drain(struct ds_request *req, struct ds_request_result *result)
{
	u64 calls = 0, before, start;
	int cpu, err;

	err = ds_stocks_get();
	if (!err)
		err = ds_usage_arm();
	if (err)
		return err;
	before = ds_moved_total();
	start = ktime_get_ns();
	if (ds_drain_kinds[req->drain].all_cpus) {
		ds_drain(req->drain, -1, NULL);
		calls = 1;
	} else {
		for_each_cpu(cpu, &req->config.cpus) {
			struct ds_drain_here d = { req->drain, cpu };

			if (!ds_on_cpu(cpu, ds_drain_on_cpu, &d))
				calls++;
		}
	}
	ds_count(result, "calls", calls);
	ds_count(result, "moved", ds_moved_total() - before);
	ds_count(result, "ns", ktime_get_ns() - start);
	return calls ? 0 : -ENXIO;
}

static int ds_do_start(struct ds_request *req, struct ds_request_result *result)
{
	int err;

	if (ds_state() == DS_RUNNING)
		return -EALREADY;
	err = ds_fault_arm(&req->config.faults) ?: ds_race_start(&req->config);
	if (err) {
		ds_put_back();
		ds_fault_disarm();
		return err;
	}
	ds_nr_checks = 0;
	ds_sums = (struct ds_check_sums){ };
	ds_memcg_start(req->config.memcg);
	ds_canary();
	err = ds_fault_start() ?:
	      ds_online_start(req->config.online_rate, req->config.seed);
	if (err) {
		ds_put_back();
		ds_fault_disarm();
		return err;
	}
	ds_set_state(DS_RUNNING);
	queue_delayed_work(ds_watch, &ds_progress_work, HZ);
	return 0;
}

static int ds_do_stop(struct ds_request *req, struct ds_request_result *result)
{
	if (ds_state() != DS_RUNNING)
		return -EALREADY;
	ds_set_state(DS_STOPPING);
	ds_put_back();
	ds_fault_disarm();
	return 0;
}

static int ds_do_check(struct ds_request *req, struct ds_request_result *result)
{
	struct ds_check c = { .mask = req->mask, .cgroup = req->cgroup };
	u64 before = ds_violations_total(), checked = ds_checked_total();
	bool had_stocks = ds_cpu_stock(cpumask_first(cpu_possible_mask), false)->nr;
	int err = ds_check_run(&c);

	/*
	 * Stocks of the check's own go before it is done, so that the kernel's
	 * complaints about them come before the sender reads the log.
	 */
	if (!had_stocks)
		ds_stocks_put();
	if (err)
		return err;
	WRITE_ONCE(ds_nr_checks, ds_nr_checks + 1);
	ds_sums.folios += c.folios;
	ds_sums.walk_ns += c.walk_ns;
	ds_sums.looks += c.looks;
	ds_sums.pause_max_ns = max(ds_sums.pause_max_ns, c.pause_ns);
	ds_count(result, "checked", ds_checked_total() - checked);
	ds_count(result, "violations", ds_violations_total() - before);
	ds_count(result, "pause_ns", c.pause_ns);
	ds_count(result, "folios", c.folios);
	ds_count(result, "walk_ns", c.walk_ns);
	ds_count(result, "looks", c.looks);
	return 0;
}

static int ds_do_plant(struct ds_request *req, struct ds_request_result *result)
{
	int err;

	ds_ring_put(DS_DID_PLANT, req->plant - ds_plants, 0, 0, DS_ON_ALL);
	ds_plant_brief = req->brief;
	err = req->plant->run(req->plant);
	ds_plant_brief = false;
	if (!err)
		ds_count(result, "planted", 1);
	return err;
}

static int (*const ds_handlers[])(struct ds_request *,
				  struct ds_request_result *) = {
	[DS_CMD_FILL] = ds_do_fill,
	[DS_CMD_DRAIN] = ds_do_drain,
	[DS_CMD_RACE_START] = ds_do_start,
	[DS_CMD_RACE_STOP] = ds_do_stop,
	[DS_CMD_CHECK] = ds_do_check,
	[DS_CMD_PLANT] = ds_do_plant,
};

/* Gives up a request that is not queued. */
void ds_request_free(struct ds_request *req)
{
	atomic_dec(&ds_waiting);
	ds_scripts_free(req->config.scripts);
	kfree(req);
}

/**
 * ds_abandoned() - has the owner gone whose request is being done?
 *
 * What takes long looks now and then: the put-back waits for it.  Context: the
 * ordered work queue.
 */
bool ds_abandoned(void)
{
	return !READ_ONCE(ds_owner_port) ||
	       READ_ONCE(ds_owner_gen) != ds_request_gen;
}

static void ds_do_request(struct work_struct *work)
{
	struct ds_request *req = container_of(work, struct ds_request, work);
	struct ds_request_result result = {
		.id = req->id,
		.command = req->command,
	};

	/* A request whose owner has gone meanwhile is not begun. */
	ds_request_gen = req->gen;
	if (!ds_abandoned())
		result.status = -ds_handlers[req->command](req, &result);
	else
		result.status = ECANCELED;
	ds_request_done(&result);
	ds_request_free(req);
}

/* A request with its id, or an error: no memory, or too many are waiting. */
struct ds_request *ds_request_alloc(u32 command)
{
	struct ds_request *req = kzalloc(sizeof(*req), GFP_KERNEL);

	if (!req)
		return ERR_PTR(-ENOMEM);
	if (atomic_inc_return(&ds_waiting) > DS_REQUESTS_MAX) {
		ds_request_free(req);
		return ERR_PTR(-EAGAIN);
	}
	req->id = atomic_inc_return(&ds_next_request);
	INIT_WORK(&req->work, ds_do_request);
	req->command = command;
	return req;
}

/* Queues @req and gives it up. */
void ds_request_queue(struct ds_request *req)
{
	req->gen = READ_ONCE(ds_owner_gen);
	queue_work(ds_requests, &req->work);
}

/* ---- load and unload ---- */

static void ds_unload(void)
{
	ds_release(0);
	if (ds_requests) {
		/* First what queues the other. */
		flush_work(&ds_cleanup_work);
		cancel_delayed_work_sync(&ds_disarm_work);
		destroy_workqueue(ds_requests);
	}
	if (ds_watch) {
		WRITE_ONCE(ds_current_state, DS_IDLE);
		cancel_delayed_work_sync(&ds_progress_work);
		destroy_workqueue(ds_watch);
	}
	ds_count_exit();
	ds_pin_exit();
	ds_disable_exit();
	ds_fault_exit();
	ds_race_exit();
	if (ds_on_cpus)
		destroy_workqueue(ds_on_cpus);
	ds_usage_exit();
	ds_latency_exit();
	ds_stock_exit();
	ds_result_exit();
}

static int __init ds_init(void)
{
	int err;

	err = ds_symbols_init();
	if (err)
		return err;
	ds_result_init();
	ds_requests = alloc_ordered_workqueue("drainstress", WQ_HIGHPRI);
	ds_on_cpus = alloc_workqueue("drainstress_cpu", WQ_HIGHPRI, 0);
	ds_watch = alloc_workqueue("drainstress_watch", WQ_UNBOUND, 1);
	err = -ENOMEM;
	if (!ds_requests || !ds_watch || !ds_on_cpus)
		goto unwind;
	err = ds_stock_init();
	if (err)
		goto unwind;
	err = ds_layout_init();
	if (err)
		goto unwind;
	err = ds_usage_init();
	if (err)
		goto unwind;
	if (!ds_layout_reason()) {
		ds_stocks_get_anon();
		ds_canary();
	}
	/*
	 * The probes stay on: each time they are switched the kernel patches
	 * functions that every process runs through.
	 */
	err = ds_usage_arm();
	if (!err)
		err = ds_calibrate_usage();
	if (err)
		goto unwind;
	ds_pin_init();
	ds_disable_init();
	ds_fault_init();
	err = ds_count_init();
	if (err)
		goto unwind;
	ds_usage_reset();
	ds_results_reset();
	err = ds_netlink_init();
	if (err)
		goto unwind;
	pr_info("loaded: batch size %d, MGLRU %s, fix %s%s%s\n", DS_BATCH_SIZE,
		ds_mglru() ? "on" : "off",
		ds_fix() == DS_FIX_PRESENT ? "present" :
		ds_fix() == DS_FIX_ABSENT ? "absent" : "unknown",
		ds_layout_reason() ? ", batches are not touched: " : "",
		ds_layout_reason() ?: "");
	return 0;
unwind:
	ds_unload();
	return err;
}

static void __exit ds_exit(void)
{
	ds_netlink_exit();
	ds_unload();
	pr_info("unloaded\n");
}

module_init(ds_init);
module_exit(ds_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Torture test for the per-CPU LRU batches and their drains");
