// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl run" while it runs: takes the module's events, asks for checks at
 * rest, reads the kernel log, and watches that the load, the race and the
 * module get on, until there is a reason to end.  It starts and stops nothing.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hang.h"
#include "run.h"
#include "signals.h"

#define TICK_MS 250
#define FIRST_CHECK_MS 1000
#define PLANT_MS 500		/* before the first check */
#define CLOSER_MS 2000		/* a thread of the load that stands still for so long */
#define SILENCE_MS 4000		/* PROGRESS comes once a second */
#define SHOWN_VIOLATIONS 10

static void take_violation(struct ds_run *run, const struct ds_violation *v)
{
	const char *known = ds_known_reason(run->r.facts.known, v->invariant,
					    run->r.facts.kernel);
	bool counts = v->invariant != DS_INV_CANARY && !known;
	u64 bit = v->invariant && v->invariant <= 64 ? 1ULL << (v->invariant - 1) : 0;
	struct ds_viol_context c;

	if (counts && !run->violated) {
		run->violated = true;
		ds_load_freeze(&run->load);
	}
	if (run->o.silent)
		return;
	/* a known issue may come often: once is enough, and no other is hidden by it */
	if (known ? run->known_shown & bit : run->shown++ >= SHOWN_VIOLATIONS)
		return;
	ds_progress_clear(&run->progress);
	if (known) {
		run->known_shown |= bit;
		fprintf(stderr, "I%u is known: %s\n", v->invariant, known);
	}
	ds_report_context(&run->r, v, &c);
	c.count = 0;		/* more may follow */
	ds_output_violation(stderr, known ? "(known) " : counts ? "" : "(reported only) ", v, &c);
	fflush(stderr);
}

static void take_progress(struct ds_run *run, const struct ds_msg *m)
{
	run->now.fills = ds_msg_counter(m, "fills");
	run->now.effective = ds_msg_counter(m, "drains_effective");
	run->now.usages = ds_msg_counter(m, "usages");
	run->now.usage_max = ds_msg_counter(m, "usage_max");
	run->now.violations = ds_msg_counter(m, "violations");
	run->now.checks = ds_msg_counter(m, "checks");
	run->fresh = true;
	run->stalled_ms = ds_msg_counter(m, "stalled_ms");
}

/**
 * ds_run_check_ended() - the result of a check at rest has come
 */
void ds_run_check_ended(struct ds_run *run, const struct ds_msg *m)
{
	u64 pause = ds_msg_counter(m, "pause_ns");
	u64 now = ds_now_ms(), rest = 3 * (now - run->check_sent_ms);

	run->check = 0;
	/* The race rests during a check: where that is long, it races for three times as long. */
	run->check_next_ms = now + (rest > run->o.interval_ms ? rest : run->o.interval_ms);
	if (m->status) {
		ds_facts_error(&run->r.facts, "CHECK failed: %s", strerror(m->status));
		return;
	}
	run->r.checks_at_rest++;
	if (pause > run->r.longest_pause_ns)
		run->r.longest_pause_ns = pause;
}

/* A file of events with some of them missing would mislead: an error. */
static void write_event(struct ds_run *run, const struct ds_msg *m)
{
	struct ds_viol_context c;
	json_t *o;

	ds_report_context(&run->r, &m->violation, &c);
	o = ds_json_event(m, &c);
	json_dumpf(o, run->events, JSON_COMPACT);
	json_decref(o);
	fputc('\n', run->events);
	if (!fflush(run->events) && !ferror(run->events))
		return;
	ds_facts_error(&run->r.facts, "--events %s: %s", run->o.events, strerror(errno));
	fclose(run->events);
	run->events = NULL;
}

/**
 * ds_run_on_event() - what ds_nl_subscribe() calls; @arg is the run
 */
void ds_run_on_event(void *arg, const struct ds_msg *m)
{
	struct ds_run *run = arg;

	run->heard_ms = ds_now_ms();
	if (!m) {
		run->r.events_lost++;
		run->lost = true;
		return;
	}
	if (run->events)
		write_event(run, m);
	switch (m->event) {
	case DS_EVENT_VIOLATION:
		take_violation(run, &m->violation);
		break;
	case DS_EVENT_PROGRESS:
		take_progress(run, m);
		break;
	case DS_EVENT_DONE:
		if (run->check && m->request == run->check)
			ds_run_check_ended(run, m);
		break;
	default:
		break;
	}
}

/**
 * ds_run_netlink_failed() - netlink failed while the run was on
 *
 * ERROR, whatever it would have been before the start; nothing more is asked.
 */
void ds_run_netlink_failed(struct ds_run *run, const struct ds_err *err)
{
	ds_facts_error(&run->r.facts, "%s", err->text);
	run->gone = true;
}

/**
 * ds_run_read_results() - read GET_RESULTS into the facts
 */
void ds_run_read_results(struct ds_run *run)
{
	struct ds_facts *f = &run->r.facts;
	struct ds_msgs msgs;
	struct ds_err err;
	unsigned int i;

	if (ds_nl_dump(run->nl, DS_CMD_GET_RESULTS, &msgs, &err)) {
		ds_msgs_free(&msgs);
		ds_run_netlink_failed(run, &err);
		return;
	}
	run->lost = false;
	ds_facts_take_results(f, &msgs);
	for (i = 0; i < f->nr_inv; i++) {
		if (ds_inv_fails(&f->inv[i]))
			run->violated = true;
	}
	for (i = 0; i < msgs.nr; i++) {
		if (run->check && DS_HAS(&msgs.v[i], DS_A_REQUEST) &&
		    msgs.v[i].request == run->check)
			ds_run_check_ended(run, &msgs.v[i]);
	}
	ds_msgs_free(&run->r.results);
	run->r.results = msgs;
}

static void ask_check(struct ds_run *run, u64 ms)
{
	struct ds_msg answer;
	struct ds_err err;

	if (ds_nl_do(run->nl, DS_CMD_CHECK, NULL, 0, &answer, &err)) {
		ds_run_netlink_failed(run, &err);
		return;
	}
	run->check = answer.request;
	run->check_sent_ms = ms;
	ds_msg_free(&answer);
}

static void watch_check(struct ds_run *run, u64 ms)
{
	if (run->check) {
		if (ms - run->check_sent_ms < DS_CHECK_MS)
			return;
		ds_run_read_results(run);
		if (run->check)
			ds_facts_hang(&run->r.facts, "a check at rest has not ended within %d s",
				      DS_CHECK_MS / 1000);
		run->check = 0;
		run->check_next_ms = ~0ULL;
		return;
	}
	if (run->o.interval_ms && !run->r.caps.reason[0] && ms >= run->check_next_ms)
		ask_check(run, ms);
}

static void plant(struct ds_run *run, u64 ms)
{
	struct ds_arg arg = { DS_A_NAME, DS_ARG_STRING, 0, run->o.plant };
	struct ds_err err;

	/* the load's own fault is the load's to plant */
	if (!run->o.plant || ds_run_plants_data(&run->o) || run->planted ||
	    (!run->o.replay && ms - run->start_ms < PLANT_MS))
		return;
	run->planted = true;
	if (ds_nl_do(run->nl, DS_CMD_PLANT, &arg, 1, NULL, &err))
		ds_run_netlink_failed(run, &err);
	else
		ds_run_say(run, "planted fault: %s", run->o.plant);
	run->r.facts.planted = true;
}

/* Nothing heard for a while: is the module still there, and still ours? */
static void watch_module(struct ds_run *run, u64 ms)
{
	struct ds_msg caps;
	struct ds_err err;

	if (ms - run->heard_ms < SILENCE_MS)
		return;
	run->heard_ms = ms;
	if (ds_nl_do(run->nl, DS_CMD_GET_CAPS, NULL, 0, &caps, &err)) {
		ds_run_netlink_failed(run, &err);
		return;
	}
	if (strcmp(caps.state, "running")) {
		ds_facts_error(&run->r.facts,
			       "the module is '%.20s' in the middle of the run: was it loaded anew?",
			       caps.state);
		run->gone = true;
	}
	ds_msg_free(&caps);
	run->lost = true;
}

/* Of @elapsed what counts against a thread of the load, where the kernel can tell. */
static u64 counts_against(struct ds_run *run, u32 tid, struct ds_watchdog *w, u64 elapsed)
{
	unsigned long long ran, queued;
	char path[64];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", run->load.pid, tid);
	f = fopen(path, "re");
	if (!f)
		return elapsed;
	n = fscanf(f, "%llu %llu", &ran, &queued);
	fclose(f);
	return n == 2 ? ds_watchdog_share(w, elapsed, ran, queued) : elapsed;
}

static bool watch_thread(struct ds_run *run, unsigned int i, u64 elapsed)
{
	const struct ds_slot *s = &run->load.sh->slots[i];
	struct ds_watchdog *w = &run->dogs[i];
	u64 value = ds_get(&s->steps) + ds_get(&s->reaped);

	if (ds_get(&s->state) != DS_FLOOD_READY)
		return false;
	/* those that get on need no closer look */
	if (value == w->value && w->still_ms >= CLOSER_MS)
		elapsed = counts_against(run, ds_get(&s->tid), w, elapsed);
	else
		w->ran_ns = 0;
	if (!ds_watchdog(w, value, elapsed))
		return false;
	ds_hang_thread(stderr, "/proc", run->load.pid, ds_get(&s->tid));
	ds_facts_hang(&run->r.facts, "thread %u of the load (tid %u) has been in %s for %llu s", i,
		      ds_get(&s->tid), ds_flood_op_name(ds_get(&s->op)), w->still_ms / 1000);
	return true;
}

/**
 * ds_run_take_mix() - what mix threads found wrong, once
 */
void ds_run_take_mix(struct ds_run *run, const struct ds_mix_totals *t)
{
	struct ds_msg m;

	if (t->violations && !run->mix_violated) {
		run->mix_violated = true;
		/* an event as the module's are, but of no number: nobody sent it */
		memset(&m, 0, sizeof(m));
		m.event = DS_EVENT_VIOLATION;
		m.has = 1ULL << DS_A_VIOLATION;
		ds_mix_violation(&t->first, &m.violation);
		if (run->events)
			write_event(run, &m);
		take_violation(run, &m.violation);
	}
	if (t->failed && !run->mix_failed) {
		run->mix_failed = true;
		ds_facts_error(&run->r.facts, "the load's %s failed on %s: %s (errno %u)",
			       ds_ops[t->failed_op].name, t->failed_place,
			       strerror(t->failed_errno), t->failed_errno);
	}
}

static void watch_load(struct ds_run *run, u64 elapsed)
{
	struct ds_facts *f = &run->r.facts;
	struct ds_load_totals t;
	unsigned int i;
	int status = 0;

	if (!run->load.pid)
		return;
	if (!ds_load_wait(&run->load, 0, &status)) {
		ds_signals_victims(0, run->cg.dir);
		if (ds_cgroup_oom_kills(&run->cg))
			ds_facts_error(f,
				       "the load was killed by the OOM killer of its cgroup (limit %llu MiB): raise --memory or lower --threads",
				       run->o.memory >> 20);
		else if (WIFSIGNALED(status))
			ds_facts_error(f, "the load was killed by signal %d (%s)",
				       WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			ds_facts_error(f, "the load ended by itself with code %d",
				       WEXITSTATUS(status));
		return;
	}
	ds_load_sum(&run->load, &t);
	run->now.truncates = t.all_truncates;
	ds_run_take_mix(run, &t.mix);
	if (t.broken) {
		ds_facts_error(f, "the rings of %u threads stopped working: %s", t.broken,
			       strerror(t.last_errno));
		return;
	}
	for (i = 0; i < run->load.slots && f->nr_hangs < 4; i++)
		watch_thread(run, i, elapsed);
}

/* PROGRESS may have been lost or late: ask before calling it a hang. */
static bool really_still(struct ds_run *run)
{
	struct ds_msgs stats;
	struct ds_err err;
	u64 fills = 0;

	if (ds_nl_dump(run->nl, DS_CMD_GET_STATS, &stats, &err))
		ds_run_netlink_failed(run, &err);
	else
		fills = ds_msgs_cpu_sum_prefix(&stats, "fill.");
	ds_msgs_free(&stats);
	if (fills > run->now.fills)
		run->now.fills = fills;
	return !run->gone && ds_watchdog(&run->fill_dog, run->now.fills, 0);
}

static void watch_race(struct ds_run *run, u64 elapsed)
{
	struct ds_facts *f = &run->r.facts;

	/* the module says for how long its oldest drain has not returned */
	if (run->stalled_ms > ds_watchdog_limit(&run->stall_dog))
		ds_facts_hang(f, "a drain has not returned for %llu s", run->stalled_ms / 1000);
	/* a stall says how slow drains are only once it is over */
	else if (run->stalled_ms < run->stalled_before_ms &&
		 run->stalled_before_ms > run->stall_dog.slowest_ms)
		run->stall_dog.slowest_ms = run->stalled_before_ms;
	run->stalled_before_ms = run->stalled_ms;
	/* a bare race counts nothing */
	if (!run->o.no_race && !run->o.bare_race && !run->gone &&
	    ds_watchdog(&run->fill_dog, run->now.fills, elapsed) && really_still(run))
		ds_facts_hang(f, "the race has not filled a batch for %llu s",
			      run->fill_dog.still_ms / 1000);
}

static const char *why_end(struct ds_run *run, u64 ms)
{
	const struct ds_facts *f = &run->r.facts;

	if (f->nr_errors || run->gone)
		return "error";
	if (f->nr_hangs)
		return "hang";
	if (ds_signals_seen())
		return "signal";
	if (run->violated && !run->o.keep_going)
		return "violation";
	if (f->kmsg_bad && !run->o.keep_going)
		return "kernel log";
	return ms - run->start_ms >= run->o.duration_ms ? "" : NULL;
}

/**
 * ds_run_take_kmsg() - read what has come on /dev/kmsg into the facts
 */
void ds_run_take_kmsg(struct ds_run *run)
{
	struct ds_facts *f = &run->r.facts;
	bool first = !run->kmsg.bad;

	if (ds_kmsg_read(&run->kmsg) && first)
		ds_run_say(run, "the kernel complained: %s", run->kmsg.excerpt[0]);
	f->kmsg_bad = run->kmsg.bad;
	f->kmsg_lost = run->kmsg.lost;
	if (f->kmsg_bad)
		snprintf(f->kmsg_first, sizeof(f->kmsg_first), "%s", run->kmsg.excerpt[0]);
}

/**
 * ds_run_soak() - open the gate, and watch until there is a reason to end
 */
void ds_run_soak(struct ds_run *run)
{
	struct pollfd pfd = { .events = POLLIN };
	const char *why = NULL;
	struct ds_err err;
	u64 ms = ds_now_ms(), elapsed;

	pfd.fd = ds_nl_event_fd(run->nl);
	run->start_ms = ms;
	run->last_ms = run->start_ms;
	run->heard_ms = run->start_ms;
	run->check_next_ms = run->start_ms + FIRST_CHECK_MS;
	ds_progress_init(&run->progress, stderr, run->o.quiet, run->o.duration_ms);
	if (!run->o.no_load)
		ds_load_go(&run->load);
	while (!why) {
		poll(&pfd, 1, TICK_MS);
		if (ds_nl_events(run->nl, &err))
			ds_run_netlink_failed(run, &err);
		ds_run_take_kmsg(run);
		ms = ds_now_ms();
		if (ms - run->last_ms >= TICK_MS) {
			elapsed = ms - run->last_ms;
			/* when we did not run ourselves, others may not have either */
			if (elapsed > 4 * TICK_MS)
				elapsed = 4 * TICK_MS;
			run->last_ms = ms;
			watch_load(run, elapsed);
			watch_race(run, elapsed);
			watch_module(run, ms);
		}
		if (!run->gone)
			plant(run, ms);
		if (!run->gone)
			watch_check(run, ms);
		if (!run->gone && run->lost)
			ds_run_read_results(run);
		run->now.ms = ms - run->start_ms;
		ds_progress_show(&run->progress, &run->now);
		ds_series_add(&run->r.series, &run->now, run->fresh);
		run->fresh = false;
		why = why_end(run, ms);
	}
	ds_progress_clear(&run->progress);
	if (run->r.facts.nr_hangs)
		ds_hang_describe(stderr, "/proc", "/sys");
	ds_series_end(&run->r.series, &run->now);
	run->end_ms = ms;
	run->r.seconds = (run->end_ms - run->start_ms) / 1000.0;
	run->r.ended = *why ? why : NULL;
	run->r.facts.interrupted = !strcmp(why, "signal");
}
