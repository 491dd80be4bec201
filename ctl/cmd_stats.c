// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl stats": all counters of the module.  Works beside a run.
 */
#include <jansson.h>
#include <string.h>

#include "commands.h"
#include "opts.h"
#include "report.h"

struct stats_opts {
	bool json;
};

static const struct argp_option options[] = {
	{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
	DS_ARGS_COMMON
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stats_opts *o = state->input;

	if (key != 'f')
		return ds_args_common(key, state);
	if (!ds_cmd_json_flag(arg, &o->json))
		return 0;
	ds_args_bad(state, "--format '%s': takes " DS_CMD_FORMAT_TAKES, arg);
	return DS_ARGS_BAD;
}

static const struct argp argp = {
	options, parse, NULL,
	"Prints the module's counters since the start of the last run: one line a\n"
	"counter, \"scope.counter: value\".  Works beside a run.",
	NULL, NULL, NULL
};

static void print_one(const struct ds_msg *m, const char *scope)
{
	unsigned int i;

	for (i = 0; i < m->nr_counters; i++)
		printf("%s.%s: %llu\n", scope, m->counters[i].name, m->counters[i].value);
}

static void print_text(const struct ds_msgs *stats, const struct ds_msgs *usage)
{
	char scope[128];
	unsigned int i;

	for (i = 0; i < stats->nr; i++) {
		const struct ds_msg *m = &stats->v[i];

		if (!strcmp(m->scope, "cpu"))
			snprintf(scope, sizeof(scope), "cpu%u", m->cpu);
		else if (!strcmp(m->scope, "race") && DS_HAS(m, DS_A_CPU))
			snprintf(scope, sizeof(scope), "race%u", m->cpu);
		else if (m->name[0])	/* a probe, a fault, a pair */
			snprintf(scope, sizeof(scope), "%s.%s", m->scope, m->name);
		else
			snprintf(scope, sizeof(scope), "%s", m->scope);
		print_one(m, scope);
	}
	for (i = 0; i < usage->nr; i++) {
		snprintf(scope, sizeof(scope), "usage.%s", usage->v[i].name);
		print_one(&usage->v[i], scope);
	}
}

static void print_json(const struct ds_msgs *stats, const struct ds_msgs *usage)
{
	json_t *o = json_object();

	json_object_set_new(o, "stats", ds_json_stats(stats));
	json_object_set_new(o, "usage", ds_json_usage(usage));
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

/**
 * ds_cmd_stats() - the command
 */
int ds_cmd_stats(int argc, char **argv)
{
	struct ds_msgs stats = { .nr = 0 }, usage = { .nr = 0 };
	struct stats_opts o = { .json = false };
	struct ds_err err;
	struct ds_nl *nl;
	int ret;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	nl = ds_nl_open(&err);
	if (!nl)
		return ds_cmd_fail(&err);
	if (ds_nl_dump(nl, DS_CMD_GET_STATS, &stats, &err) ||
	    ds_nl_dump(nl, DS_CMD_GET_USAGE, &usage, &err)) {
		ret = ds_cmd_fail(&err);
		goto free;
	}
	if (o.json)
		print_json(&stats, &usage);
	else
		print_text(&stats, &usage);
	ret = ds_cmd_end_output(DS_EXIT_PASS);
free:
	ds_msgs_free(&stats);
	ds_msgs_free(&usage);
	ds_nl_close(nl);
	return ret;
}
