// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl compare": samples of several kernels, as mmtests' table and with what it
 * leaves out.  Needs no module, no root and no netlink.  How files are read is in
 * samples.c, the table in compare_table.c, what it is worth in compare_stats.c.
 */
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "commands.h"
#include "compare_output.h"
#include "opts.h"
#include "plot.h"

struct options {
	const char *runs[DS_RUNS_MAX];
	unsigned int nr;
	const struct ds_compare_format *format;
	const struct ds_stars *stars;
	const char *plot;
	u64 seed;
};

enum {
	OPT_STARS = 256,
	OPT_PLOT,
};

static const struct argp_option argp_options[] = {
	{ "format", 'f', "NAME", 0, "text, json or csv (default text)", 0 },
	{ "stars", OPT_STARS, "NAME", 0,
	  "What the table marks as significant: classic, the mean when p < 0.10; none (default classic)",
	  0 },
	{ "plot", OPT_PLOT, "FILE.svg", 0,
	  "Draw distribution, tail and boots there, with gnuplot", 0 },
	{ "seed", 's', "N", 0, "Of the bootstrap (default 1)", 0 },
	DS_ARGS_COMMON
};

static error_t bad(struct argp_state *state, const char *option, const char *arg, const char *takes)
{
	ds_args_bad(state, "%s '%s': takes %s", option, arg, takes);
	return DS_ARGS_BAD;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char names[128];

	switch (key) {
	case 'f':
		o->format = ds_compare_format_find(arg);
		ds_compare_format_names(names, sizeof(names));
		return o->format ? 0 : bad(state, "--format", arg, names);
	case OPT_STARS:
		o->stars = ds_stars_find(arg);
		ds_stars_names(names, sizeof(names));
		return o->stars ? 0 : bad(state, "--stars", arg, names);
	case OPT_PLOT:
		o->plot = arg;
		return *arg ? 0 : bad(state, "--plot", arg, "a file");
	case 's':
		if (!ds_opt_number(arg, 0, ~0ULL, &o->seed))
			return 0;
		return bad(state, "--seed", arg, "a number");
	case ARGP_KEY_ARG:
		if (o->nr == DS_RUNS_MAX)
			return bad(state, "OTHER", arg, "at most 15 of them");
		o->runs[o->nr++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->nr > 1)
			return 0;
		ds_args_bad(state, "takes BASELINE and at least one OTHER: %s",
			    "FILE, NAME=FILE,FILE,... or NAME=FOLDER");
		return DS_ARGS_BAD;
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp argp = {
	argp_options, parse, "BASELINE OTHER...",
	"Compares the times of drainctl sparsetruncate, or of mmtests' log, on two\n"
	"or more kernels: mmtests' table, and whether the difference means anything.\n"
	"Each of them is FILE, NAME=FILE,FILE,... or NAME=FOLDER, whose files are\n"
	"boots of one kernel.\v\n"
	"Exit codes: 0 compared, whatever came out; 2 a bad command line, or a bad\n"
	"file, which is named with the line; 4 no gnuplot for --plot; 5 a chart or\n"
	"standard output could not be written.",
	NULL, NULL, NULL
};

/* Return: 0, or -1 and @err. */
static int compare(struct ds_compare_report *r, const struct options *o, struct ds_err *err)
{
	unsigned int i;

	if (o->plot && ds_plot_ready(err))
		return -1;
	for (i = 0; i < o->nr; i++) {
		r->nr++;
		if (ds_samples_read(&r->runs[i], o->runs[i], err))
			return -1;
	}
	for (i = 1; i < r->nr; i++) {
		if (ds_compare(&r->runs[0], &r->runs[i], o->seed, &r->comparisons[i - 1], err))
			return -1;
	}
	r->stars = o->stars;
	ds_table_make(&r->table, r->runs, r->nr, o->stars);
	ds_compare_notes(r);
	return o->plot ? ds_plot(o->plot, r->runs, r->nr, err) : 0;
}

/**
 * ds_cmd_compare() - the command
 */
int ds_cmd_compare(int argc, char **argv)
{
	struct options o = {
		.format = ds_compare_format_find("text"),
		.stars = ds_stars_find("classic"),
		.seed = 1,
	};
	struct ds_compare_report *r;
	struct ds_err err;
	int ret;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	r = calloc(1, sizeof(*r));
	if (!r) {
		ds_error(&err, DS_EXIT_ERROR, 0, "out of memory");
		return ds_cmd_fail(&err);
	}
	/* its default is to abort; what may go wrong is looked at before */
	gsl_set_error_handler_off();
	if (compare(r, &o, &err)) {
		ret = ds_cmd_fail(&err);
	} else {
		o.format->print(r);
		ret = ds_cmd_end_output(DS_EXIT_PASS);
	}
	while (r->nr)
		ds_samples_free(&r->runs[--r->nr]);
	free(r);
	return ret;
}
