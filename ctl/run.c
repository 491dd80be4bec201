// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl run", the soak: starts the load and the module's race, has them
 * watched (run_watch.c), ends both, and collects what the verdict and the
 * report need.  It judges nothing (verdict.c), formats nothing (output_*.c) and
 * truncates nothing (stress/).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "hang.h"
#include "replay.h"
#include "run.h"
#include "signals.h"
#include "stale.h"
#include "text.h"
#include "undo.h"

#define READY_MS 60000
#define START_MS 30000
#define STOP_MS 60000
#define STOP_HUNG_MS 5000
#define RACE_ARGS (9 + DS_FAULT_REQUEST + DS_ALIGN_REQUEST)

/**
 * ds_run_say() - a line on standard error, beside the progress line
 */
void ds_run_say(struct ds_run *run, const char *fmt, ...)
{
	va_list ap;

	if (run->o.silent)
		return;
	ds_progress_clear(&run->progress);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(stderr);
}

/* At once, as what comes next may take long or fail, and in the report. */
static void say_and_note(void *arg, const char *line)
{
	struct ds_run *run = arg;

	ds_run_say(run, "drainctl: %s", line);
	ds_report_note(&run->r, "%s", line);
}

/* A set-up error becomes the verdict of a run that never began. */
static int set_up_failed(struct ds_run *run, const struct ds_err *err)
{
	run->r.facts.setup_exit = err->exit;
	snprintf(run->r.facts.setup_text, sizeof(run->r.facts.setup_text), "%s", err->text);
	return -1;
}

/* ---- what the module can do ---- */

static const struct ds_item *find_item(const struct ds_msg *caps, u32 class, const char *name)
{
	unsigned int i;

	for (i = 0; i < caps->nr_items; i++) {
		if (caps->items[i].class == class && !strcmp(caps->items[i].name, name))
			return &caps->items[i];
	}
	return NULL;
}

/* Every kind that was named has to be available. */
static int check_named(const struct ds_run *run, u32 class, const char *option, u64 mask,
		       struct ds_err *err)
{
	unsigned int i;

	for (i = 0; mask && i < run->r.caps.nr_items; i++) {
		const struct ds_item *item = &run->r.caps.items[i];

		if (item->class != class || !item->id || item->id > 64 || item->available)
			continue;
		if (mask & (1ULL << (item->id - 1)))
			return ds_error(err, DS_EXIT_SKIP, 0, "%s %s: not on this kernel: %s",
					option, item->name, item->reason);
	}
	return 0;
}

static int check_plant(const struct ds_run *run, struct ds_err *err)
{
	const struct ds_msg *caps = &run->r.caps;
	const struct ds_item *item;
	char list[256];
	unsigned int i;
	size_t n = 0;

	if (!run->o.plant || ds_run_plants_data(&run->o))
		return 0;
	item = find_item(caps, DS_CLASS_PLANT, run->o.plant);
	if (item && item->available)
		return 0;
	if (item)
		return ds_error(err, DS_EXIT_ERROR, 0, "--plant %s: %s", item->name,
				item->reason[0] ? item->reason : "not available");
	list[0] = '\0';
	for (i = 0; i < caps->nr_items && n < sizeof(list); i++) {
		if (caps->items[i].class == DS_CLASS_PLANT)
			n += snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
				      caps->items[i].name);
	}
	return ds_error(err, DS_EXIT_USAGE, 0, "--plant '%s': takes %s", run->o.plant,
			n ? list : "nothing with this module");
}

static int read_caps(struct ds_run *run, struct ds_err *err)
{
	struct ds_report *r = &run->r;

	run->nl = ds_nl_open(err);
	if (!run->nl)
		return -1;
	if (ds_nl_do(run->nl, DS_CMD_GET_CAPS, NULL, 0, &r->caps, err))
		return -1;
	if (r->caps.release[0])
		snprintf(r->kernel, sizeof(r->kernel), "%s", r->caps.release);
	ds_facts_take_caps(&r->facts, &r->caps);
	if (r->caps.owner)
		return ds_error(err, DS_EXIT_ERROR, EBUSY, "already in use by pid %u",
				r->caps.owner);
	if (r->caps.reason[0] && !run->o.no_race)
		return ds_error(err, DS_EXIT_SKIP, EOPNOTSUPP,
				"the module does not touch the batches of this kernel: %.200s; --no-race runs the load and counts its drains",
				r->caps.reason);
	if (r->caps.reason[0])
		ds_report_note(r, "no checks at rest: the module touches no batches: %.200s",
			       r->caps.reason);
	if (check_named(run, DS_CLASS_BATCH, "--kinds", run->o.kinds_mask, err) ||
	    check_named(run, DS_CLASS_DRAIN, "--drains", run->o.drains_mask, err) ||
	    check_plant(run, err) || ds_fault_settle(&run->o.faults, &r->caps, err) ||
	    ds_align_settle(&run->o.align, &r->caps, err))
		return -1;
	r->faults = run->o.faults;
	r->align = run->o.align;
	r->pairs = ds_align_wanted(&r->align, &r->caps);
	return ds_nl_subscribe(run->nl, ds_run_on_event, run, err);
}

/* ---- the load ---- */

static void raise_limits(void)
{
	struct rlimit rl;

	if (!getrlimit(RLIMIT_NOFILE, &rl)) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	/* the load goes first when memory is short; best effort */
	ds_write_text("/proc/self/oom_score_adj", "-1000");
}

static int choose_method(struct ds_run *run, struct ds_err *err)
{
	struct ds_method_probe probe;
	char why[256];
	int ret;

	ds_methods_probe(&probe);
	ret = ds_methods_choose(run->o.method, &probe, &run->choice, why, sizeof(why));
	if (!ret)
		return 0;
	if (probe.ring_short)
		return ds_error(err, DS_EXIT_ERROR, probe.ring_error,
				"%s; --method syscall runs without", why);
	return ds_error(err, ret == -EINVAL ? DS_EXIT_USAGE : DS_EXIT_SKIP, -ret,
			"--method %s: %s%s", run->o.method, why,
			probe.ring_error ? "; --method syscall runs without" : "");
}

/* What is forked in between fails now and then, with --fault alloc-fail. */
static int mark_load(struct ds_run *run, bool on, struct ds_err *err)
{
	const struct ds_fault_opts *f = &run->o.faults;
	char why[400];
	int ret;

	if (!(f->wanted & DS_FAULT_BIT(DS_FAULT_ALLOC)))
		return 0;
	if (on && ds_alloc_fail_prepare(&run->alloc_fail, "", f->args[DS_FAULT_ALLOC].one_in, why,
					sizeof(why)))
		return ds_error(err, DS_EXIT_ERROR, 0, "--fault alloc-fail: cannot be set up: %s",
				why);
	ret = ds_alloc_fail_mark(&run->alloc_fail, on);
	if (!ret)
		return 0;
	return ds_error(err, DS_EXIT_ERROR, -ret, "--fault alloc-fail: cannot be set up: %s",
			strerror(-ret));
}

static int start_load(struct ds_run *run, struct ds_err *err)
{
	struct ds_load_params p = {
		.threads = run->o.threads,
		.seed = run->o.seed,
		.memory = run->o.memory,
		.choice = run->choice,
		.mix = run->o.choice,
		.plant = ds_run_plants_data(&run->o),
		.dirs = run->o.dirs,
		.nr_dirs = run->o.nr_dirs,
		.own = run->own,
		.no_disk = run->o.no_disk || run->o.fs_mask,
		.no_tmpfs = run->o.fs_mask && !(run->o.fs_mask & DS_OWN_FS_BIT(DS_OWN_TMPFS)),
		.huge_tmpfs = run->o.fs_mask & DS_OWN_FS_BIT(DS_OWN_TMPFS_HUGE),
	};
	struct ds_load_script *scripts = NULL;
	char note[DS_LOAD_TEXT];
	unsigned int i;
	int ret;

	if (ds_fs_make(run->o.fs_mask, run->o.memory, run->own, &run->nr_own, err))
		return -1;
	p.nr_own = run->nr_own;
	if (!ds_cgroup_make(&run->cg, run->o.memory, note, sizeof(note)))
		p.procs = run->cg.procs;
	if (p.procs)
		p.cgroup = run->cg.dir;
	if (note[0])
		ds_report_note(&run->r, "%s", note);
	if (run->o.replay) {
		scripts = ds_replay_load_scripts(run->o.replay, p.threads);
		if (!scripts)
			return ds_error(err, DS_EXIT_ERROR, ENOMEM, "out of memory");
		p.scripts = scripts;
	}
	if (mark_load(run, true, err))
		return -1;
	ret = ds_load_start(&run->load, &p);
	free(scripts);
	if (mark_load(run, false, err))
		return -1;
	ds_signals_victims(run->load.pid, run->cg.dir);
	if (ret)
		return ds_error(err, DS_EXIT_ERROR, -ret, "the load cannot be started: %s",
				strerror(-ret));
	ret = ds_load_wait_ready(&run->load, READY_MS);
	if (ret == -ECANCELED)
		return ds_error(err, run->load.sh->skip ? DS_EXIT_SKIP : DS_EXIT_ERROR, 0, "%s",
				run->load.sh->text);
	if (ret == -ECHILD)
		return ds_error(err, DS_EXIT_ERROR, ECHILD,
				"the load died while it was set up%s",
				ds_cgroup_oom_kills(&run->cg) ?
				", of the OOM killer: raise --memory or lower --threads" : "");
	if (ret)
		return ds_error(err, DS_EXIT_ERROR, -ret, "the load was not ready within %d s",
				READY_MS / 1000);
	ds_fs_close(run->own, &run->nr_own);
	for (i = 0; i < run->load.sh->nr_notes; i++)
		ds_report_note(&run->r, "%s", run->load.sh->notes[i]);
	run->r.threads = run->load.sh->threads;
	run->r.max_pages = run->load.sh->max_pages;
	run->r.mix_threads = run->load.sh->mix_threads;
	run->r.mix_pages = run->load.sh->mix_pages;
	run->r.mix = run->load.sh->mix;
	memcpy(run->r.probes, run->load.sh->probes, sizeof(run->r.probes));
	snprintf(run->r.places, sizeof(run->r.places), "%s", run->load.sh->places);
	run->dogs = calloc(run->load.slots, sizeof(*run->dogs));
	if (!run->dogs)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "out of memory");
	return 0;
}

/* Appends what the racing kthreads shall do; @steps is room for it.  Return: attributes. */
static unsigned int put_scripts(const struct ds_replay *r, struct ds_arg *args, u64 *steps)
{
	unsigned int i, nr, n = 0;

	for (i = 0; r && i < r->nr_actors; i++) {
		const struct ds_actor *a = &r->actors[i];

		if (!a->nr || a->kind >= DS_ACTOR_FLOOD)
			continue;
		nr = ds_replay_pack(a, steps);
		args[n++] = (struct ds_arg){ DS_A_SCRIPT, DS_ARG_NEST, 0, NULL };
		args[n++] = (struct ds_arg){ DS_SC_CPU, DS_ARG_U32,
			a->kind == DS_ACTOR_FAR ? DS_SCRIPT_FAR : a->number, NULL };
		args[n++] = (struct ds_arg){ DS_SC_STEPS, DS_ARG_BYTES, nr * sizeof(*steps),
			(const char *)steps };
		args[n++] = (struct ds_arg){ DS_A_SCRIPT, DS_ARG_NEST_END, 0, NULL };
		steps += nr;
	}
	return n;
}

static int ask_race(struct ds_run *run, struct ds_arg *args, u64 *steps, struct ds_err *err)
{
	const struct ds_run_opts *o = &run->o;
	struct ds_msg done;
	unsigned int n = 0;
	u64 own = ds_cgroup_make_own(&run->own_cg);
	int ret;

	run->r.start_ns = ds_now_ms() * 1000000;
	args[n++] = (struct ds_arg){ DS_A_SEED, DS_ARG_U64, o->seed, NULL };
	args[n++] = (struct ds_arg){ DS_A_RACE, DS_ARG_U8,
				   o->no_race ? DS_RACE_NONE :
				   o->bare_race ? DS_RACE_BARE : DS_RACE_FULL, NULL };
	args[n++] = (struct ds_arg){ DS_A_ACCOUNTING, DS_ARG_U8, !o->no_accounting, NULL };
	args[n++] = (struct ds_arg){ DS_A_ONLINE_RATE, DS_ARG_U32, o->online_rate, NULL };
	if (o->stutter_given)
		args[n++] = (struct ds_arg){ DS_A_STUTTER_MS, DS_ARG_U32, o->stutter_ms, NULL };
	if (o->kinds)
		args[n++] = (struct ds_arg){ DS_A_KINDS, DS_ARG_U64, o->kinds_mask, NULL };
	if (o->drains)
		args[n++] = (struct ds_arg){ DS_A_DRAINS, DS_ARG_U64, o->drains_mask, NULL };
	if (o->cpus)
		args[n++] = (struct ds_arg){ DS_A_CPUS, DS_ARG_STRING, 0, o->cpus };
	if (own)
		args[n++] = (struct ds_arg){ DS_A_CGROUP, DS_ARG_U64, own, NULL };
	n += ds_fault_request(&o->faults, args + n);
	n += ds_align_request(&o->align, args + n);
	n += put_scripts(o->replay, args + n, steps);
	if (ds_nl_run(run->nl, DS_CMD_RACE_START, args, n, START_MS, &done, err)) {
		/* no work has been done, so it is no hang of the kernel under test */
		if (err->exit == DS_EXIT_HANG)
			err->exit = DS_EXIT_ERROR;
		return -1;
	}
	ds_msg_free(&done);
	ret = run->alloc_fail.undo ? ds_alloc_fail_go(&run->alloc_fail) : 0;
	if (ret)
		return ds_error(err, DS_EXIT_ERROR, -ret,
				"--fault alloc-fail: cannot be begun: %s", strerror(-ret));
	return 0;
}

static int start_race(struct ds_run *run, struct ds_err *err)
{
	const struct ds_replay *r = run->o.replay;
	unsigned int actors = r ? r->nr_actors : 0;
	struct ds_arg *args = calloc(RACE_ARGS + 4 * actors, sizeof(*args));
	u64 *steps = calloc(r ? ds_replay_lines(r) : 1, sizeof(*steps));
	int ret = -1;

	if (args && steps)
		ret = ask_race(run, args, steps, err);
	else
		ds_error(err, DS_EXIT_ERROR, ENOMEM, "out of memory");
	free(args);
	free(steps);
	return ret;
}

/* ---- the end ---- */

/* Never a PASS: the machine is not as it was. */
static void __printf(2, 3) not_put_back(struct ds_run *run, const char *fmt, ...)
{
	char text[DS_UNDO_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ds_run_say(run, "drainctl: cannot be put back: %s", text);
	ds_facts_error(&run->r.facts, "cannot be put back: %.300s", text);
}

static void say_undone(void *arg, pid_t pid, int err, const char *what)
{
	char line[DS_UNDO_TEXT + 100];

	(void)pid;
	if (err) {
		not_put_back(arg, "what the load changed: %s: %s", what, strerror(err));
		return;
	}
	snprintf(line, sizeof(line), "put back for the load: %s", what);
	say_and_note(arg, line);
}

/* What a load that has died did not put back, once. */
static void undo_load(struct ds_run *run)
{
	unsigned int nr = run->r.facts.nr_errors;
	int ret;

	if (run->load.pid || run->undone)
		return;
	run->undone = true;
	ret = ds_undo_all(getpid(), 0, say_undone, run);
	if (ret && run->r.facts.nr_errors == nr)
		not_put_back(run, "what the load changed: %s", strerror(-ret));
}

static void end_alloc_fail(struct ds_run *run)
{
	int ret = ds_alloc_fail_end(&run->alloc_fail);

	if (ret)
		not_put_back(run, "the settings of fault injection: %s", strerror(-ret));
}

static void stop_load(struct ds_run *run)
{
	struct ds_facts *f = &run->r.facts;
	bool running = run->load.pid;
	int status = 0;

	if (run->alloc_fail.undo)
		run->r.alloc_failures = ds_alloc_fail_count(&run->alloc_fail);
	end_alloc_fail(run);
	ds_load_stop(&run->load);
	if (running && ds_load_wait(&run->load, f->nr_hangs ? STOP_HUNG_MS : STOP_MS, &status)) {
		if (!f->nr_hangs) {
			ds_facts_hang(f, "the load did not stop within %d s", STOP_MS / 1000);
			ds_hang_describe(stderr, "/proc", "/sys");
		}
		ds_load_kill(&run->load);
		if (ds_load_wait(&run->load, STOP_HUNG_MS, &status))
			ds_facts_hang(f, "the load (pid %d) cannot be killed", run->load.pid);
	} else if (running && (!WIFEXITED(status) || WEXITSTATUS(status))) {
		ds_facts_error(f, "the load did not end cleanly: status 0x%x%s", status,
			       ds_cgroup_oom_kills(&run->cg) ? ", OOM killer" : "");
	}
	undo_load(run);
	if (!run->load.pid)
		ds_signals_victims(0, run->cg.dir);
	ds_load_sum(&run->load, &run->r.load);
	ds_run_take_mix(run, &run->r.load.mix);
	if (!run->o.no_load)
		ds_report_take_truncates(&run->r, &run->load);
	run->r.load_hash = ds_load_hash(&run->load, run->o.seed, &run->o.choice);
	f->truncates = run->r.load.all_truncates;
	f->pages = run->r.load.pages;
	f->submitted = run->r.load.submitted;
	f->reaped = run->r.load.reaped;
	f->dropped = run->r.load.dropped;
}

/* Queued commands of the end; a limit that passes is a hang. */
static int last_command(struct ds_run *run, u8 cmd, unsigned int timeout_ms, struct ds_msg *done)
{
	struct ds_facts *f = &run->r.facts;
	struct ds_err err;

	if (run->gone)
		return -1;
	if (!ds_nl_run(run->nl, cmd, NULL, 0, timeout_ms, done, &err))
		return 0;
	if (err.exit == DS_EXIT_HANG)
		ds_facts_hang(f, "%s: %.200s", cmd == DS_CMD_CHECK ? "the check at the end" :
			      "the end of the race", err.text);
	else
		ds_run_netlink_failed(run, &err);
	return -1;
}

static void stop_race(struct ds_run *run)
{
	struct ds_facts *f = &run->r.facts;
	unsigned int limit = f->nr_hangs ? STOP_HUNG_MS : STOP_MS;
	struct ds_msg done;

	/* requests are done in order: a check may be before it */
	if (run->check || run->planted)
		limit += f->nr_hangs ? 0 : DS_CHECK_MS;
	/* one check at a time */
	run->check = 0;
	if (last_command(run, DS_CMD_RACE_STOP, limit, &done))
		return;
	ds_msg_free(&done);
	/* refused where batches are not touched, see read_caps() */
	if (run->r.caps.reason[0])
		return;
	/* a replay that has found it looks for no more */
	if (run->o.replay && run->violated)
		return;
	if (f->nr_hangs || last_command(run, DS_CMD_CHECK, DS_CHECK_MS, &done))
		return;
	ds_run_check_ended(run, &done);
	ds_msg_free(&done);
}

static void collect(struct ds_run *run)
{
	struct ds_report *r = &run->r;
	struct ds_err err;

	if (!run->gone)
		ds_run_read_results(run);
	if (!run->gone) {
		if (ds_nl_dump(run->nl, DS_CMD_GET_STATS, &r->stats, &err))
			ds_run_netlink_failed(run, &err);
		else
			ds_report_take_stats(r);
	}
	if (!run->gone) {
		if (ds_nl_dump(run->nl, DS_CMD_GET_USAGE, &r->usage, &err))
			ds_run_netlink_failed(run, &err);
		else
			ds_report_take_usage(r);
	}
	if (!run->gone) {
		ds_msg_free(&r->caps);
		if (ds_nl_do(run->nl, DS_CMD_GET_CAPS, NULL, 0, &r->caps, &err))
			ds_run_netlink_failed(run, &err);
		else
			ds_facts_take_caps(&r->facts, &r->caps);
	}
	/* a short run may end before the first sample */
	r->facts.sampled = run->o.online_rate && r->seconds >= 10 && !r->caps.reason[0] &&
			   !run->gone;
	/* results carry the reasons why something was skipped in this run */
	ds_facts_take_results(&r->facts, &r->results);
	ds_facts_take_mix(&r->facts, &r->load.mix, r->mix_threads);
	if (!run->gone)
		ds_report_take_faults(r);
	if (!run->gone)
		ds_report_take_align(r);
	/* a bare race is not timed */
	if (!run->gone && !run->o.bare_race)
		ds_report_take_latency(r);
	ds_run_take_kmsg(run);
	r->facts.taint_after = ds_taint_read();
	if (run->gone && !r->facts.fills)
		r->facts.fills = run->now.fills;
}

/* Before the run: it would be a pity to run for hours and have no report. */
static int open_file(const char *name, const char *option, FILE **f, struct ds_err *err)
{
	if (!name)
		return 0;
	*f = fopen(name, "we");
	if (*f)
		return 0;
	return ds_error(err, DS_EXIT_ERROR, errno, "%s %s: %s", option, name, strerror(errno));
}

static int set_up(struct ds_run *run)
{
	struct ds_err err;

	if (open_file(run->o.output, "--output", &run->output, &err) ||
	    open_file(run->o.events, "--events", &run->events, &err))
		return set_up_failed(run, &err);
	ds_stale_clean(say_and_note, run);
	run->notes_said = run->r.nr_notes;
	if (read_caps(run, &err))
		return set_up_failed(run, &err);
	if (!run->o.no_load && choose_method(run, &err))
		return set_up_failed(run, &err);
	if (ds_kmsg_init(&run->kmsg, &err) ||
	    (!run->o.no_kmsg && ds_kmsg_open(&run->kmsg, &err)))
		return set_up_failed(run, &err);
	run->r.kmsg = &run->kmsg;
	run->r.facts.taint_before = ds_taint_read();
	raise_limits();
	ds_signals_init();
	if (!run->o.no_load && start_load(run, &err))
		return set_up_failed(run, &err);
	if (start_race(run, &err))
		return set_up_failed(run, &err);
	return 0;
}

static void remove_cgroup(struct ds_run *run, struct ds_cgroup *cg)
{
	int ret = ds_cgroup_remove(cg, STOP_HUNG_MS);

	if (ret)
		not_put_back(run, "cgroup %s: %s", cg->dir, strerror(-ret));
}

/* The machine is as before, or there is an error for the verdict; done once. */
static void put_back(struct ds_run *run)
{
	int status;

	if (run->put_back)
		return;
	run->put_back = true;
	if (run->load.pid) {
		ds_load_kill(&run->load);
		ds_load_wait(&run->load, STOP_HUNG_MS, &status);
	}
	undo_load(run);
	end_alloc_fail(run);
	ds_fs_close(run->own, &run->nr_own);
	ds_signals_victims(0, run->cg.dir);
	remove_cgroup(run, &run->cg);
	remove_cgroup(run, &run->own_cg);
	ds_signals_victims(0, "");
}

static void clean_up(struct ds_run *run)
{
	put_back(run);
	ds_nl_close(run->nl);
	ds_kmsg_close(&run->kmsg);
	ds_load_free(&run->load);
	ds_report_free(&run->r);
	free(run->dogs);
	if (run->events)
		fclose(run->events);
	if (run->output)
		fclose(run->output);
}

static void describe(struct ds_run *run)
{
	const struct ds_run_opts *o = &run->o;
	struct ds_report *r = &run->r;
	struct utsname u;

	uname(&u);
	ds_replay_cpus(run->online, sizeof(run->online));
	snprintf(r->kernel, sizeof(r->kernel), "%s", u.release);
	r->seed = o->seed;
	r->threads_wanted = o->threads;
	r->memory = o->memory;
	r->method = o->method;
	r->preset = o->preset;
	r->facts.load = !o->no_load;
	r->facts.race = !o->no_race && !o->bare_race;
	r->facts.bare = o->bare_race;
	r->facts.accounting = !o->no_accounting;
	r->facts.kmsg = !o->no_kmsg;
	r->facts.require_fix = o->require_fix;
	r->facts.replay = o->replay;
	r->facts.planted = ds_run_plants_data(o);
	r->facts.known = &o->known;
	snprintf(r->facts.kernel, sizeof(r->facts.kernel), "%.*s", DS_NAME_LEN, u.release);
	ds_run_repeat(o, r->repeat, sizeof(r->repeat));
	snprintf(r->params, sizeof(r->params),
		 "threads=%u duration=%llus check-interval=%llus online-rate=%llu method=%s preset=%s mix=%s memory=%lluM seed=%llu kinds=%s drains=%s cpus=%s stutter=%llums race=%d load=%d accounting=%d keep-going=%d require-fix=%d known=%u plant=%s",
		 o->threads, o->duration_ms / 1000, o->interval_ms / 1000, o->online_rate,
		 o->method, o->preset, o->mix ? o->mix : "preset",
		 o->memory >> 20, o->seed, o->kinds ? o->kinds : "all",
		 o->drains ? o->drains : "all", o->cpus ? o->cpus : "online", o->stutter_ms,
		 !o->no_race, !o->no_load, !o->no_accounting, o->keep_going, o->require_fix,
		 o->known.nr, o->plant ? o->plant : "none");
}

static int write_output(struct ds_run *run)
{
	const struct ds_report *r = &run->r;
	int ret = 0;

	if (run->o.silent)
		return 0;
	if (run->output) {
		ret = ds_output_json(run->output, r);
		if (fclose(run->output))
			ret = -1;
		run->output = NULL;
		if (ret)
			ds_run_say(run, "--output %s: %s", run->o.output, strerror(errno));
	}
	if (run->o.format->write(stdout, r)) {
		ds_run_say(run, "standard output: %s", strerror(errno));
		ret = -1;
	}
	return ret;
}

static void tell(const struct ds_run *run, struct ds_run_outcome *out)
{
	const struct ds_report *r = &run->r;
	const struct ds_inv_fact *first = ds_facts_first(&r->facts);
	enum ds_exit code = r->verdict.code;

	memset(out, 0, sizeof(*out));
	if (code == DS_EXIT_FAIL || code == DS_EXIT_HANG)
		snprintf(out->first, sizeof(out->first), "%s", first ? first->name :
			 r->facts.nr_hangs ? "hang" : r->facts.kmsg_bad ? "kernel" : "other");
	snprintf(out->why, sizeof(out->why), "%s",
		 r->verdict.nr_reasons ? r->verdict.reasons[0].text : "");
	if (r->load_hash)
		snprintf(out->load_decisions, sizeof(out->load_decisions), "%016llx",
			 r->load_hash);
	if (r->race_hash)
		snprintf(out->race_decisions, sizeof(out->race_decisions), "%016llx",
			 r->race_hash);
	out->seconds = r->seconds;
}

static void run_and_collect(struct ds_run *run)
{
	unsigned int i;

	ds_run_say(run, "drainctl start: %s: %s", run->r.kernel, run->r.params);
	for (i = run->notes_said; i < run->r.nr_notes; i++)
		ds_run_say(run, "note: %s", run->r.notes[i]);
	ds_run_soak(run);
	stop_load(run);
	stop_race(run);
	collect(run);
}

/**
 * ds_run_once() - one soak, from the set-up to the report
 * @o: stays the caller's
 * @out: what has become of it; may be NULL
 *
 * Return: the exit code.
 */
int ds_run_once(const struct ds_run_opts *o, struct ds_run_outcome *out)
{
	struct ds_run *run = calloc(1, sizeof(*run));
	int ret;

	if (!run)
		return DS_EXIT_ERROR;
	run->o = *o;
	run->kmsg.fd = -1;
	describe(run);
	if (!set_up(run))
		run_and_collect(run);
	/* when something hangs the report is first, as this may hang too */
	if (!run->r.facts.nr_hangs)
		put_back(run);
	ds_verdict(&run->r.facts, &run->r.verdict);
	ret = run->r.verdict.code;
	if (run->r.facts.setup_exit != DS_EXIT_PASS)
		ds_run_say(run, "drainctl: %s", run->r.facts.setup_text);
	else
		ds_run_say(run, "drainctl end: %s after %.1f s: %s", ds_exit_name(ret),
			   run->r.seconds, run->r.params);
	if (run->r.facts.setup_exit == DS_EXIT_PASS)
		ds_replay_save(run);
	if (out)
		tell(run, out);
	/* a usage error has no result: the message is all there is */
	if (ret != DS_EXIT_USAGE && write_output(run) && ret == DS_EXIT_PASS)
		ret = DS_EXIT_ERROR;
	clean_up(run);
	free(run);
	return ret;
}

/**
 * ds_cmd_run() - the soak
 */
int ds_cmd_run(int argc, char **argv)
{
	struct ds_run_opts o;
	int ret = ds_run_opts_parse(&o, argc, argv);

	if (!ret)
		ret = ds_run_once(&o, NULL);
	else if (ret == DS_ARGS_ANSWERED)
		ret = 0;
	ds_run_opts_free(&o);
	return ret;
}
