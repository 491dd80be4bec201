// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of "drainctl run", on the command line or in a job file: what they
 * take, their defaults, and the command line that gives the same run again.
 * Starts nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "run_opts.h"

#define THREADS_MAX 4096
#define THREADS_A_CPU 16
#define ONLINE_RATE 50

enum {
	OPT_THREADS = 't',
	OPT_DURATION = 'd',
	OPT_SEED = 's',
	OPT_METHOD = 'm',
	OPT_FORMAT = 'f',
	OPT_OUTPUT = 'o',
	OPT_QUIET = 'q',
	OPT_INTERVAL = 256,
	OPT_EVENTS,
	OPT_REQUIRE_FIX,
	OPT_KEEP_GOING,
	OPT_NO_RACE,
	OPT_BARE_RACE,
	OPT_NO_LOAD,
	OPT_NO_ACCOUNTING,
	OPT_NO_KMSG,
	OPT_NO_DISK,
	OPT_PLANT,
	OPT_DIR,
	OPT_FS,
	OPT_MEMORY,
	OPT_KINDS,
	OPT_DRAINS,
	OPT_CPUS,
	OPT_STUTTER,
	OPT_ONLINE,
	OPT_KNOWN,
	OPT_PRESET,
	OPT_MIX,
	OPT_JOB,
	OPT_FAULT,
	OPT_ALIGN,
	OPT_REPLAY_FILE,
};

static const struct argp_option options[] = {
	{ "job", OPT_JOB, "FILE", 0,
	  "Take options from an INI file: in its section [run] a line NAME=VALUE each; those of the command line go before them",
	  0 },
	{ NULL, 0, NULL, 0, "How much:", 1 },
	{ "threads", OPT_THREADS, "N", 0, "Threads of the load (default 16 a CPU)", 1 },
	{ "duration", OPT_DURATION, "TIME", 0, "How long: 90, 90s, 10m, 2h (default 60s)", 1 },
	{ "check-interval", OPT_INTERVAL, "TIME", 0,
	  "Time between checks at rest (default 5s, the first after 1s); 0: only at the end", 1 },
	{ "online-rate", OPT_ONLINE, "N", 0,
	  "Samples a second that are checked while the load runs, 0: none (default 50)", 1 },
	{ "memory", OPT_MEMORY, "SIZE", 0,
	  "Memory limit of the load: 512M, 2G (default a quarter of RAM)", 1 },
	{ "seed", OPT_SEED, "N", 0, "Seed of all decisions (default random, always printed)", 1 },
	{ NULL, 0, NULL, 0, "What:", 2 },
	{ "preset", OPT_PRESET, "NAME", 0,
	  "What the threads of the load do (default " DS_PRESET_DEFAULT ")", 2 },
	{ "mix", OPT_MIX, "OP=WEIGHT,...", 0,
	  "Change the preset's weights, in this order; the name all is every operation; drainctl ops lists them",
	  2 },
	{ "method", OPT_METHOD, "NAME", 0,
	  "How the load truncates (default auto)", 2 },
	{ "dir", OPT_DIR, "DIR", 0, "Also make files there; may be repeated", 2 },
	{ "fs", OPT_FS, "NAME", 0,
	  "Make files on a file system of the tool's own, made in memory and gone afterwards, not in the usual places; may be repeated",
	  2 },
	{ "no-disk", OPT_NO_DISK, NULL, 0, "Do not look for an ext4 in /var/tmp and /tmp", 2 },
	{ "kinds", OPT_KINDS, "LIST", 0, "Batch kinds the race fills (default all)", 2 },
	{ "drains", OPT_DRAINS, "LIST", 0, "Drain kinds the race uses (default all)", 2 },
	{ "cpus", OPT_CPUS, "LIST", 0, "CPUs of the race (default all that are online)", 2 },
	{ "stutter", OPT_STUTTER, "MS", 0,
	  "Mean time between two rests of the race, 0: none (default 1000)", 2 },
	{ "no-race", OPT_NO_RACE, NULL, 0, "Only the load and the checks", 2 },
	{ "bare-race", OPT_BARE_RACE, NULL, 0,
	  "For benchmarks: the race without its own checks and counts; never a PASS", 2 },
	{ "no-load", OPT_NO_LOAD, NULL, 0, "Only the race and the checks", 2 },
	{ "no-accounting", OPT_NO_ACCOUNTING, NULL, 0, "Do not count drains per usage", 2 },
	{ "fault", OPT_FAULT, "NAME[=ARGS]", 0,
	  "Inject it, such as move=prob:1/64,us:5-50 or herd=every:20; all, none; may be repeated; drainctl faults lists them (default all of the module's, in a run with the race)",
	  2 },
	{ "align", OPT_ALIGN, "WHAT", 0,
	  "Bring two actions together in time, in a run with the race; compare: every other half second without, for comparison (default off)",
	  2 },
	{ "plant", OPT_PLANT, "NAME", 0,
	  "Make a deliberate fault during the run (insmod drainstress.ko plant=1)", 2 },
	{ NULL, 0, NULL, 0, "Verdict and output:", 3 },
	{ "require-fix", OPT_REQUIRE_FIX, NULL, 0,
	  "FAIL unless folio_batch_move_lru() keeps percpu_pvec_drained", 3 },
	{ "known", OPT_KNOWN, "FILE", 0,
	  "Known kernel issues: report them, do not fail; may be repeated", 3 },
	{ "keep-going", OPT_KEEP_GOING, NULL, 0, "Do not end at the first violation", 3 },
	{ "no-kmsg", OPT_NO_KMSG, NULL, 0, "Do not read the kernel log; never a PASS", 3 },
	{ "format", OPT_FORMAT, "NAME", 0, "Report on standard output (default text)", 3 },
	{ "output", OPT_OUTPUT, "FILE", 0, "Write the JSON report there too", 3 },
	{ "events", OPT_EVENTS, "FILE", 0, "Write the module's events there, a JSON line each", 3 },
	{ "replay-file", OPT_REPLAY_FILE, "FILE", 0,
	  "Where a FAIL or a HANG leaves what led to it, for drainctl replay (default drainstress-SEED.replay)",
	  3 },
	{ "quiet", OPT_QUIET, NULL, 0, "No progress", 3 },
	DS_ARGS_COMMON
};

static error_t bad_name(struct argp_state *state, const char *option, const char *arg,
			void (*names)(char *buf, size_t len))
{
	char list[256];

	names(list, sizeof(list));
	ds_args_bad(state, "%s '%s': takes %s", option, arg, list);
	return DS_ARGS_BAD;
}

static error_t bad_value(struct argp_state *state, const char *option, const char *arg,
			 const char *takes)
{
	ds_args_bad(state, "%s '%s': takes %s", option, arg, takes);
	return DS_ARGS_BAD;
}

static error_t parse_how_much(int key, char *arg, struct argp_state *state)
{
	struct ds_run_opts *o = state->input;
	u64 val;

	switch (key) {
	case OPT_THREADS:
		if (ds_opt_number(arg, 1, THREADS_MAX, &val))
			return bad_value(state, "--threads", arg, "a number from 1 to 4096");
		o->threads = val;
		return 0;
	case OPT_DURATION:
		if (ds_opt_duration(arg, &o->duration_ms))
			return bad_value(state, "--duration", arg, DS_DURATION_TAKES);
		return 0;
	case OPT_INTERVAL:
		o->interval_ms = 0;
		if (strcmp(arg, "0") && ds_opt_duration(arg, &o->interval_ms))
			return bad_value(state, "--check-interval", arg,
					 "0 or " DS_DURATION_TAKES);
		return 0;
	case OPT_ONLINE:
		if (ds_opt_number(arg, 0, 10000, &o->online_rate))
			return bad_value(state, "--online-rate", arg, "a number from 0 to 10000");
		return 0;
	case OPT_MEMORY:
		if (ds_opt_size(arg, &o->memory) || o->memory < 16 << 20)
			return bad_value(state, "--memory", arg,
					 DS_SIZE_TAKES ", at least 16M");
		return 0;
	case OPT_SEED:
		if (ds_opt_number(arg, 0, ~0ULL >> 1, &o->seed))
			return bad_value(state, "--seed", arg,
					 "a number from 0 to 9223372036854775807");
		o->seeded = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t take_fault(struct argp_state *state, struct ds_run_opts *o, const char *arg)
{
	char why[512];

	if (!ds_fault_take(&o->faults, arg, why, sizeof(why)))
		return 0;
	ds_args_bad(state, "--fault '%s': %s", arg, why);
	return DS_ARGS_BAD;
}

static error_t parse_what(int key, char *arg, struct argp_state *state)
{
	struct ds_run_opts *o = state->input;

	int fs;

	switch (key) {
	case OPT_FS:
		fs = ds_own_fs_find(arg);
		if (fs < 0)
			return bad_name(state, "--fs", arg, ds_own_fs_names);
		o->fs_mask |= DS_OWN_FS_BIT(fs);
		return 0;
	case OPT_PRESET:
		if (ds_preset_find(arg) < 0)
			return bad_name(state, "--preset", arg, ds_preset_names);
		o->preset = arg;
		return 0;
	case OPT_MIX:
		o->mix = arg;
		return 0;
	case OPT_METHOD:
		if (strcmp(arg, DS_METHOD_AUTO) && ds_method_find(arg) < 0)
			return bad_name(state, "--method", arg, ds_methods_names);
		o->method = arg;
		return 0;
	case OPT_DIR:
		if (o->nr_dirs == DS_DIRS_MAX)
			return bad_value(state, "--dir", arg, "at most 6 directories");
		o->dirs[o->nr_dirs++] = arg;
		return 0;
	case OPT_KINDS:
		if (ds_opt_kinds(arg, &o->kinds_mask))
			return bad_name(state, "--kinds", arg, ds_opt_kind_names);
		o->kinds = arg;
		return 0;
	case OPT_DRAINS:
		if (ds_opt_drains(arg, &o->drains_mask))
			return bad_name(state, "--drains", arg, ds_opt_drain_names);
		o->drains = arg;
		return 0;
	case OPT_CPUS:
		if (ds_opt_cpus(arg))
			return bad_value(state, "--cpus", arg, DS_CPUS_TAKES);
		o->cpus = arg;
		return 0;
	case OPT_STUTTER:
		if (ds_opt_number(arg, 0, 60000, &o->stutter_ms))
			return bad_value(state, "--stutter", arg,
					 "milliseconds from 0 to 60000");
		o->stutter_given = true;
		return 0;
	case OPT_FORMAT:
		o->format = ds_format_find(arg);
		if (!o->format)
			return bad_name(state, "--format", arg, ds_format_names);
		return 0;
	case OPT_PLANT:
		o->plant = arg;
		return 0;
	case OPT_FAULT:
		return take_fault(state, o, arg);
	case OPT_ALIGN:
		if (ds_align_take(&o->align, arg))
			return bad_name(state, "--align", arg, ds_align_names);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What --preset and --mix say together. */
static error_t check_mix(struct argp_state *state, struct ds_run_opts *o)
{
	char why[160];

	if (ds_mix_choose(o->preset, o->mix, &o->choice, why, sizeof(why))) {
		ds_args_bad(state, "--mix '%s': %s", o->mix ? o->mix : "", why);
		return DS_ARGS_BAD;
	}
	if (ds_run_plants_data(o) && (o->no_load || !o->choice.share)) {
		ds_args_bad(state, "--plant " DS_PLANT_DATA " wants mix threads: %s",
			    o->no_load ? "not --no-load" : "name another --preset, such as soak");
		return DS_ARGS_BAD;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct ds_run_opts *o = state->input;
	error_t ret;

	switch (key) {
	case OPT_JOB:		/* read already: apply_job() */
		return 0;
	case OPT_OUTPUT:
		o->output = arg;
		return 0;
	case OPT_EVENTS:
		o->events = arg;
		return 0;
	case OPT_REPLAY_FILE:
		o->replay_file = arg;
		return 0;
	case OPT_KNOWN:
		if (o->nr_known_files == DS_KNOWN_FILES_MAX)
			return bad_value(state, "--known", arg, "at most 8 files");
		o->known_files[o->nr_known_files++] = arg;
		return ds_args_known(state, arg, &o->known);
	case OPT_REQUIRE_FIX:
		o->require_fix = true;
		return 0;
	case OPT_KEEP_GOING:
		o->keep_going = true;
		return 0;
	case OPT_NO_RACE:
		o->no_race = true;
		return 0;
	case OPT_BARE_RACE:
		o->bare_race = true;
		return 0;
	case OPT_NO_LOAD:
		o->no_load = true;
		return 0;
	case OPT_NO_ACCOUNTING:
		o->no_accounting = true;
		return 0;
	case OPT_NO_KMSG:
		o->no_kmsg = true;
		return 0;
	case OPT_NO_DISK:
		o->no_disk = true;
		return 0;
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case ARGP_KEY_END:
		ret = check_mix(state, o);
		if (ret)
			return ret;
		if (o->no_disk && o->fs_mask & ~DS_OWN_FS_TMPFS) {
			ds_args_bad(state, "--no-disk and --fs of a disk exclude each other");
			return DS_ARGS_BAD;
		}
		if (!o->no_race || !o->no_load)
			return 0;
		ds_args_bad(state, "--no-race and --no-load leave nothing to do: give one of them");
		return DS_ARGS_BAD;
	default:
		ret = parse_how_much(key, arg, state);
		if (ret == ARGP_ERR_UNKNOWN)
			ret = parse_what(key, arg, state);
		return ret == ARGP_ERR_UNKNOWN ? ds_args_common(key, state) : ret;
	}
}

/* ---- job files ---- */

static bool may_repeat(int key)
{
	return key == OPT_DIR || key == OPT_FS || key == OPT_KNOWN || key == OPT_FAULT;
}

/* What is on the command line, before any of it is taken. */
struct first_look {
	const char *job;
	bool dir, fs, known, fault;
	bool help;		/* no file is needed for the answer */
};

static error_t first_look(int key, char *arg, struct argp_state *state)
{
	struct first_look *l = state->input;

	switch (key) {
	case OPT_JOB:
		if (!l->job) {
			l->job = arg;
			return 0;
		}
		ds_args_bad(state, "--job '%s': takes one file", arg);
		return DS_ARGS_BAD;
	case OPT_DIR:
		l->dir = true;
		return 0;
	case OPT_FS:
		l->fs = true;
		return 0;
	case OPT_KNOWN:
		l->known = true;
		return 0;
	case OPT_FAULT:
		l->fault = true;
		return 0;
	case '?':
	case DS_ARGS_USAGE:
	case 'V':
		l->help = true;
		return 0;
	default:		/* the second look's to take or to refuse */
		return 0;
	}
}

/* An option that a job file may have, or NULL. */
static const struct argp_option *find_option(const char *name)
{
	const struct argp_option *o;

	for (o = options; o->name || o->doc; o++) {
		if (o->name && o->group >= 0 && o->key != OPT_JOB && !strcmp(o->name, name))
			return o;
	}
	return NULL;
}

/* One line, by the parser of the command line; state->name is FILE:LINE. */
static error_t apply_line(struct argp_state *state, const struct ds_job_option *line)
{
	const struct argp_option *opt = find_option(line->key);

	if (!opt) {
		ds_args_bad(state, "'%s': takes the options of drainctl run --help", line->key);
		return DS_ARGS_BAD;
	}
	if (opt->arg && (!line->value || !*line->value)) {
		ds_args_bad(state, "%s: takes a value: %s=%s", opt->name, opt->name, opt->arg);
		return DS_ARGS_BAD;
	}
	if (!opt->arg && line->value) {
		if (!strcmp(line->value, "0"))
			return 0;
		if (strcmp(line->value, "1")) {
			ds_args_bad(state, "%s=%s: takes 1, or 0 for not given", opt->name,
				    line->value);
			return DS_ARGS_BAD;
		}
	}
	return parse(opt->key, (char *)line->value, state);
}

/* Return: 0 or DS_EXIT_USAGE after a message. */
static int apply_job(struct ds_run_opts *o, const char *file)
{
	struct ds_job *job = &o->job;
	struct argp_state state = { .input = o };
	struct ds_err err;
	unsigned int i, k;
	char where[256];

	if (ds_job_read(job, file, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return err.exit;
	}
	for (i = 0; i < job->nr; i++) {
		const struct ds_job_option *line = &job->v[i];
		const struct argp_option *opt = find_option(line->key);

		snprintf(where, sizeof(where), "%s:%u", file, line->line);
		state.name = where;
		for (k = 0; k < i && strcmp(job->v[k].key, line->key); k++)
			;
		if (k < i && opt && !may_repeat(opt->key)) {
			ds_args_bad(&state, "%s stands in line %u already", line->key,
				    job->v[k].line);
			return DS_EXIT_USAGE;
		}
		if (apply_line(&state, line))
			return DS_EXIT_USAGE;
	}
	o->job_file = file;
	return 0;
}

/* The names stand in tables; help shows what is there. */
static char *help_filter(int key, const char *text, void *input)
{
	static const struct {
		int key;
		void (*names)(char *buf, size_t len);
	} rows[] = {
		{ OPT_PRESET, ds_preset_names },
		{ OPT_METHOD, ds_methods_names },
		{ OPT_FS, ds_own_fs_names },
		{ OPT_KINDS, ds_opt_kind_names },
		{ OPT_DRAINS, ds_opt_drain_names },
		{ OPT_ALIGN, ds_align_names },
		{ OPT_FORMAT, ds_format_names },
	};
	char names[256], *out;
	unsigned int i;

	(void)input;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].key != key || !text)
			continue;
		rows[i].names(names, sizeof(names));
		if (asprintf(&out, "%s: %s", text, names) > 0)
			return out;
	}
	return (char *)text;
}

static const struct argp argp = {
	options, parse, NULL,
	"The soak: tortures the per-CPU LRU batches for a while with a load of user\n"
	"space, a race of fills against drains in the kernel and checks in between,\n"
	"and judges.\v\n"
	"Exit codes: 0 PASS, 1 FAIL, 2 USAGE, 3 INCONCLUSIVE, 4 SKIP, 5 ERROR, 6 HANG.\n"
	"Other commands: drainctl help.",
	NULL, help_filter, NULL
};

static const struct argp first_argp = { options, first_look, NULL, NULL, NULL, NULL, NULL };

/*
 * What the job file says, if there is one.  What may be repeated is left out where
 * the command line has it: that replaces the file's.
 */
static int take_job(struct ds_run_opts *o, int argc, char **argv)
{
	struct first_look look = { .job = NULL };
	int ret = ds_args_parse(&first_argp, argc, argv, &look);

	if (ret || !look.job || look.help)
		return ret;
	ret = apply_job(o, look.job);
	if (look.dir)
		o->nr_dirs = 0;
	if (look.fs)
		o->fs_mask = 0;
	if (look.fault)
		ds_fault_default(&o->faults);
	if (look.known) {
		o->nr_known_files = 0;
		memset(&o->known, 0, sizeof(o->known));
	}
	return ret;
}

static u64 random_seed(void)
{
	struct timespec ts;
	u64 seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
		clock_gettime(CLOCK_REALTIME, &ts);
		seed = ds_random_mix(ts.tv_sec ^ ((u64)ts.tv_nsec << 32) ^ getpid());
	}
	/* short enough to be typed, and exact in every reader of JSON */
	return seed >> 24;
}

/**
 * ds_run_plants_data() - is the fault to be planted the load's?
 */
bool ds_run_plants_data(const struct ds_run_opts *o)
{
	return o->plant && !strcmp(o->plant, DS_PLANT_DATA);
}

/**
 * ds_run_opts_default() - a plain "drainctl run"
 */
void ds_run_opts_default(struct ds_run_opts *o)
{
	memset(o, 0, sizeof(*o));
	o->duration_ms = 60000;
	o->interval_ms = 5000;
	o->method = DS_METHOD_AUTO;
	o->preset = DS_PRESET_DEFAULT;
	o->format = &ds_formats[0];
	o->stutter_ms = 1000;
	o->online_rate = ONLINE_RATE;
	ds_fault_default(&o->faults);
	o->align.mode = DS_ALIGN_OFF;
}

/**
 * ds_run_opts_free() - free what ds_run_opts_parse() took, also when it failed
 */
void ds_run_opts_free(struct ds_run_opts *o)
{
	ds_job_free(&o->job);
}

/* What was not said. */
static void fill_in(struct ds_run_opts *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long pages = sysconf(_SC_PHYS_PAGES);

	if (!o->threads)
		o->threads = THREADS_A_CPU * (cpus > 0 ? cpus : 1);
	if (o->threads > THREADS_MAX)
		o->threads = THREADS_MAX;
	if (!o->memory)
		o->memory = pages > 0 ? (u64)pages * sysconf(_SC_PAGESIZE) / 4 : 64 << 20;
	if (!o->seeded)
		o->seed = random_seed();
	/* the default goes with the race */
	if (!o->faults.nr_words && (o->no_race || o->bare_race))
		o->faults.wanted = 0;
	if (o->no_race || o->bare_race)
		o->align.mode = DS_ALIGN_OFF;
}

/**
 * ds_run_opts_parse() - job file and command line, defaults filled in
 *
 * Return: as ds_args_parse().
 */
int ds_run_opts_parse(struct ds_run_opts *o, int argc, char **argv)
{
	int ret;

	ds_run_opts_default(o);
	ret = take_job(o, argc, argv);
	if (!ret)
		ret = ds_args_parse(&argp, argc, argv, o);
	if (!ret)
		fill_in(o);
	return ret;
}

/**
 * ds_run_opts_from() - options that lines of a file stand for, all of them
 * @file: for messages
 *
 * Return: 0 or DS_EXIT_USAGE after a message that names FILE:LINE.
 */
int ds_run_opts_from(struct ds_run_opts *o, const char *file, const struct ds_job_option *lines,
		     unsigned int nr)
{
	struct argp_state state = { .input = o };
	char where[256];
	unsigned int i;

	ds_run_opts_default(o);
	state.name = where;
	for (i = 0; i < nr; i++) {
		snprintf(where, sizeof(where), "%s:%u", file, lines[i].line);
		if (apply_line(&state, &lines[i]))
			return DS_EXIT_USAGE;
	}
	snprintf(where, sizeof(where), "%s", file);
	if (parse(ARGP_KEY_END, NULL, &state))
		return DS_EXIT_USAGE;
	fill_in(o);
	return 0;
}

struct text {
	char *buf;
	size_t len, n;
};

static void __printf(2, 3) add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->n >= t->len)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->n, t->len - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n += n;
}

/* For a shell: in single quotes where it is more than plain characters. */
static void add_word(struct text *t, const char *option, const char *word)
{
	const char *p;

	if (!word)
		return;
	add(t, " %s ", option);
	for (p = word; isalnum((unsigned char)*p) || (*p && strchr("/._,-+:=@%", *p)); p++)
		;
	if (!*p && *word) {
		add(t, "%s", word);
		return;
	}
	add(t, "'");
	for (p = word; *p; p++)
		add(t, *p == '\'' ? "'\\''" : "%c", *p);
	add(t, "'");
}

/**
 * ds_run_repeat() - the command that repeats a run, for a shell
 *
 * Where the output went is left out.
 */
void ds_run_repeat(const struct ds_run_opts *o, char *buf, size_t len)
{
	struct text t = { .buf = buf, .len = len };
	unsigned int i;

	if (o->replay) {
		add(&t, "drainctl");
		add_word(&t, "replay", o->replay_file);
		add(&t, " --duration %llus", o->duration_ms / 1000);
		return;
	}
	add(&t, "drainctl run --threads %u --duration %llus --seed %llu", o->threads,
	    o->duration_ms / 1000, o->seed);
	if (!o->interval_ms)
		add(&t, " --check-interval 0");
	else if (o->interval_ms != 5000)
		add(&t, " --check-interval %llus", o->interval_ms / 1000);
	if (o->online_rate != ONLINE_RATE)
		add(&t, " --online-rate %llu", o->online_rate);
	if (strcmp(o->method, DS_METHOD_AUTO))
		add(&t, " --method %s", o->method);
	if (strcmp(o->preset, DS_PRESET_DEFAULT))
		add_word(&t, "--preset", o->preset);
	add_word(&t, "--mix", o->mix);
	add(&t, " --memory %lluK", o->memory >> 10);
	for (i = 0; i < DS_NR_OWN_FS; i++)
		add_word(&t, "--fs",
			 o->fs_mask & DS_OWN_FS_BIT(i) ? ds_own_fs_kinds[i].name : NULL);
	for (i = 0; i < o->nr_dirs; i++)
		add_word(&t, "--dir", o->dirs[i]);
	add_word(&t, "--kinds", o->kinds);
	add_word(&t, "--drains", o->drains);
	add_word(&t, "--cpus", o->cpus);
	if (o->stutter_given)
		add(&t, " --stutter %llu", o->stutter_ms);
	for (i = 0; i < o->faults.nr_words; i++)
		add_word(&t, "--fault", o->faults.words[i]);
	add_word(&t, "--align", o->align.word);
	add_word(&t, "--plant", o->plant);
	for (i = 0; i < o->nr_known_files; i++)
		add_word(&t, "--known", o->known_files[i]);
	add(&t, "%s%s%s%s%s%s%s", o->no_disk ? " --no-disk" : "", o->no_race ? " --no-race" :
	    o->bare_race ? " --bare-race" : "",
	    o->no_load ? " --no-load" : "", o->no_accounting ? " --no-accounting" : "",
	    o->no_kmsg ? " --no-kmsg" : "", o->keep_going ? " --keep-going" : "",
	    o->require_fix ? " --require-fix" : "");
}
