// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl replay": runs what a replay file says until the failure shows again,
 * and looks for a shorter file that still fails.  How one try is run is in run.c,
 * how a shorter one is found in replay_shrink.c.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "replay.h"
#include "run.h"
#include "signals.h"

#define TRIES_MAX 1000

struct options {
	const char *file;
	u64 tries;
	u64 duration_ms;
	u64 limit_ms;
	bool shrink;
	const char *output;
	const char *events;
	const struct ds_format *format;
	bool quiet;
};

enum {
	OPT_SHRINK = 256,
	OPT_EVENTS,
	OPT_LIMIT,
};

static const struct argp_option argp_options[] = {
	{ "tries", 'n', "N", 0,
	  "How often it is tried (default 1); with --shrink in how many in a row a candidate has to fail (default 2)",
	  0 },
	{ "duration", 'd', "TIME", 0,
	  "How long one try takes at most (default 10s; with --shrink 3s)", 0 },
	{ "shrink", OPT_SHRINK, NULL, 0, "Look for a shorter file that still fails", 0 },
	{ "limit", OPT_LIMIT, "TIME", 0, "For how long --shrink looks (default 10m)", 0 },
	{ "output", 'o', "FILE", 0,
	  "Where --shrink writes it (default FILE.short); else the JSON report of one try", 0 },
	{ "events", OPT_EVENTS, "FILE", 0, "As of drainctl run, of one try", 0 },
	{ "format", 'f', "NAME", 0, "Report of one try (default text)", 0 },
	{ "quiet", 'q', NULL, 0, "No progress", 0 },
	DS_ARGS_COMMON
};

static error_t bad_value(struct argp_state *state, const char *option, const char *arg,
			 const char *takes)
{
	ds_args_bad(state, "%s '%s': takes %s", option, arg, takes);
	return DS_ARGS_BAD;
}

static error_t check(struct argp_state *state, struct options *o)
{
	if (!o->file) {
		ds_args_bad(state, "FILE: which replay file is missing");
		return DS_ARGS_BAD;
	}
	if (o->limit_ms && !o->shrink) {
		ds_args_bad(state, "--limit wants --shrink");
		return DS_ARGS_BAD;
	}
	if ((o->tries > 1 || o->shrink) && (o->events || (o->output && !o->shrink))) {
		ds_args_bad(state, "--events and a report in --output are of one try");
		return DS_ARGS_BAD;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char names[128];

	switch (key) {
	case 'n':
		if (ds_opt_number(arg, 1, TRIES_MAX, &o->tries))
			return bad_value(state, "--tries", arg, "a number from 1 to 1000");
		return 0;
	case 'd':
		if (ds_opt_duration(arg, &o->duration_ms))
			return bad_value(state, "--duration", arg, DS_DURATION_TAKES);
		return 0;
	case OPT_LIMIT:
		if (ds_opt_duration(arg, &o->limit_ms))
			return bad_value(state, "--limit", arg, DS_DURATION_TAKES);
		return 0;
	case OPT_SHRINK:
		o->shrink = true;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case OPT_EVENTS:
		o->events = arg;
		return 0;
	case 'f':
		o->format = ds_format_find(arg);
		ds_format_names(names, sizeof(names));
		return o->format ? 0 : bad_value(state, "--format", arg, names);
	case 'q':
		o->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			return bad_value(state, "FILE", arg, "one replay file");
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		return check(state, o);
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp argp = {
	argp_options, parse, "FILE",
	"Runs again what a run that failed has left in a replay file: each thread and\n"
	"each racing kthread does the decisions listed, over and over, until the failure\n"
	"shows again or the time is over.\v\n"
	"Exit codes: 1 reproduced, 0 not reproduced, others as of drainctl run.",
	NULL, NULL, NULL
};

/* ---- one try ---- */

struct replaying {
	const struct options *o;
	const char *file;
	u64 end_ms;		/* of --shrink */
	int stopped;		/* an exit code that ends everything, or 0 */
	u64 lines;
	unsigned int runs;
};

/* "I7", "hang", "kernel" or "other": what has to show again. */
static bool same(const struct ds_replay *r, const char *found)
{
	size_t len = strlen(found);

	return r->violation && !strncmp(r->violation, found, len) &&
	       (!r->violation[len] || r->violation[len] == ' ');
}

/* Return: as of a run. */
static int one_try(const struct replaying *p, const struct ds_replay *r, bool silent,
		   struct ds_run_outcome *out)
{
	struct ds_run_opts o;
	int ret = ds_run_opts_from(&o, p->file, r->options, r->nr_options);

	memset(out, 0, sizeof(*out));
	if (ret)
		return ret;
	o.replay = r;
	o.replay_file = p->file;
	o.duration_ms = p->o->duration_ms;
	o.no_load = !ds_replay_has(r, true);
	o.no_race = !ds_replay_has(r, false);
	o.quiet = p->o->quiet || silent;
	o.silent = silent;
	if (!silent) {
		o.format = p->o->format;
		o.output = p->o->output;
		o.events = p->o->events;
	}
	ret = ds_run_once(&o, out);
	ds_run_opts_free(&o);
	return ret;
}

static void say_versions(const struct ds_replay *r, const struct ds_run_outcome *out)
{
	if ((out->race_decisions[0] && r->race_decisions &&
	     strcmp(out->race_decisions, r->race_decisions)) ||
	    (out->load_decisions[0] && r->load_decisions &&
	     strcmp(out->load_decisions, r->load_decisions)))
		fputs("drainctl: the decisions of this seed are not those of the file\n",
		      stderr);
}

/* Each thread of the load that the file names has to be one.  Return: 0 or an exit code. */
static int check_threads(const char *file, const struct ds_replay *r)
{
	struct ds_run_opts o;
	char name[32];
	unsigned int i;
	int ret = ds_run_opts_from(&o, file, r->options, r->nr_options);

	for (i = 0; !ret && i < r->nr_actors; i++) {
		if (!ds_actor_loads(&r->actors[i]) || r->actors[i].number < o.threads)
			continue;
		fprintf(stderr, "drainctl: %s: [%s]: there are threads 0 to %u\n", file,
			ds_actor_name(&r->actors[i], name, sizeof(name)), o.threads - 1);
		ret = DS_EXIT_USAGE;
	}
	ds_run_opts_free(&o);
	return ret;
}

static int replay(const struct replaying *p, const struct ds_replay *r)
{
	unsigned int i, found = 0;
	struct ds_run_outcome out;
	bool silent = p->o->tries > 1;
	int ret = 0;

	for (i = 0; i < p->o->tries; i++) {
		ret = one_try(p, r, silent, &out);
		if (!i)
			say_versions(r, &out);
		if (ret != DS_EXIT_FAIL && ret != DS_EXIT_HANG && ret != DS_EXIT_PASS)
			break;
		found += same(r, out.first);
		if (silent)
			printf("try %u: %s after %.1f s%s\n", i + 1,
			       ret ? out.first : "nothing", out.seconds,
			       ret && !same(r, out.first) ? ", not what the file says" : "");
		fflush(stdout);
	}
	if (i < p->o->tries) {
		if (silent)
			fprintf(stderr, "drainctl: try %u: %s: %s\n", i + 1, ds_exit_name(ret),
				out.why);
		return ret;
	}
	/* standard output of one try is the report alone */
	if (silent)
		printf("reproduced: %u of %u\n", found, i);
	else
		fprintf(stderr, "drainctl: %s\n", found ? "reproduced" :
			ret ? "something else has failed" : "not reproduced");
	return ds_cmd_end_output(found || ret ? ret ? ret : DS_EXIT_FAIL : DS_EXIT_PASS);
}

/* ---- shrink ---- */

/* One try.  Return: it failed as the file says. */
static bool fails_once(struct replaying *p, const struct ds_replay *r)
{
	struct ds_run_outcome out;
	int ret;

	p->runs++;
	ret = one_try(p, r, true, &out);
	if (ds_signals_seen()) {
		p->stopped = DS_EXIT_INCONCLUSIVE;
		return false;
	}
	/* a machine that hangs is no place to try further */
	if (ret == DS_EXIT_HANG)
		p->stopped = ret;
	/* a set-up that one candidate lacks is only no reproduction */
	return (ret == DS_EXIT_FAIL || ret == DS_EXIT_HANG) && same(r, out.first);
}

/*
 * Each of the tries in a row: a candidate that fails now and then would be kept
 * by chance, of many.
 */
static bool fails(void *arg, const struct ds_replay *r)
{
	struct replaying *p = arg;
	unsigned int i;

	for (i = 0; i < p->o->tries && !p->stopped; i++) {
		if (!fails_once(p, r))
			return false;
	}
	return i > 0;
}

/* One of the tries, and one more: what is to be made shorter has not been chosen. */
static bool fails_at_all(struct replaying *p, const struct ds_replay *r)
{
	unsigned int i;

	for (i = 0; i <= p->o->tries && !p->stopped; i++) {
		if (fails_once(p, r))
			return true;
	}
	return false;
}

static void said(void *arg, const struct ds_replay *r)
{
	struct replaying *p = arg;
	u64 lines = ds_replay_lines(r);

	if (!p->o->quiet && lines != p->lines)
		fprintf(stderr, "drainctl: %llu lines still fail (%u tries)\n", lines, p->runs);
	p->lines = lines;
}

static bool over(void *arg)
{
	const struct replaying *p = arg;

	return p->stopped || ds_now_ms() >= p->end_ms;
}

static int shrink(struct replaying *p, struct ds_replay *r)
{
	struct ds_shrink s = { .fails = fails, .said = said, .over = over, .arg = p };
	u64 before = ds_replay_lines(r);
	char own[4096];
	const char *file = p->o->output;
	int ret;

	if (!file) {
		snprintf(own, sizeof(own), "%s.short", p->file);
		file = own;
	}
	p->end_ms = ds_now_ms() + p->o->limit_ms;
	if (!fails_at_all(p, r)) {
		if (p->stopped)
			return p->stopped;
		printf("not reproduced in %u tries: it stays as it is\n", p->runs);
		return ds_cmd_end_output(DS_EXIT_PASS);
	}
	if (ds_replay_shrink(&s, r))
		fputs("drainctl: out of memory: this is the shortest by now\n", stderr);
	ret = ds_replay_write(r, file);
	if (ret) {
		fprintf(stderr, "drainctl: %s: %s\n", file, strerror(-ret));
		return DS_EXIT_ERROR;
	}
	printf("lines before: %llu\nlines after: %llu\ncandidates: %u\ntries: %u\nfile: %s\n",
	       before, ds_replay_lines(r), s.candidates, p->runs, file);
	return ds_cmd_end_output(p->stopped ? p->stopped : DS_EXIT_FAIL);
}

/**
 * ds_cmd_replay() - the command
 */
int ds_cmd_replay(int argc, char **argv)
{
	struct options o = { .format = &ds_formats[0] };
	struct replaying p = { .o = &o };
	struct ds_replay r;
	struct ds_err err;
	int ret;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	if (!o.tries)
		o.tries = o.shrink ? 2 : 1;
	if (!o.duration_ms)
		o.duration_ms = o.shrink ? 3000 : 10000;
	if (!o.limit_ms)
		o.limit_ms = 600000;
	p.file = o.file;
	ret = ds_replay_read(&r, o.file, &err) ? ds_cmd_fail(&err) : check_threads(o.file, &r);
	if (!ret)
		ret = o.shrink ? shrink(&p, &r) : replay(&p, &r);
	ds_replay_free(&r);
	return ret;
}
