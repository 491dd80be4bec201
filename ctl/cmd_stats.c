// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl stats": all counters of the module.  Works beside a run.
 */
#include <jansson.h>
#include <string.h>

#include "commands.h"
#include "report.h"

static const char doc[] =
	"Prints the module's counters since the start of the last run: one line a\n"
	"counter, \"scope.counter: value\".  Works beside a run.";

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
	ds_cmd_print_json(o);
}

static int ask(struct ds_nl *nl, void *json, struct ds_err *err)
{
	struct ds_msgs stats = { .nr = 0 }, usage = { .nr = 0 };
	int ret = -1;

	if (ds_nl_dump(nl, DS_CMD_GET_STATS, &stats, err) ||
	    ds_nl_dump(nl, DS_CMD_GET_USAGE, &usage, err))
		goto free;
	if (*(bool *)json)
		print_json(&stats, &usage);
	else
		print_text(&stats, &usage);
	ret = 0;
free:
	ds_msgs_free(&stats);
	ds_msgs_free(&usage);
	return ret;
}

/**
 * ds_cmd_stats() - the command
 */
int ds_cmd_stats(int argc, char **argv)
{
	return ds_cmd_show(argc, argv, doc, ask);
}
