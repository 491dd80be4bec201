// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl caps": what this kernel and this module can do, and why not the
 * rest.  Works beside a run.
 */
#include <jansson.h>
#include <string.h>

#include "commands.h"
#include "opts.h"
#include "report.h"

struct caps_opts {
	bool json;
};

static const struct argp_option options[] = {
	{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
	DS_ARGS_COMMON
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct caps_opts *o = state->input;

	if (key != 'f')
		return ds_args_common(key, state);
	if (!ds_cmd_json_flag(arg, &o->json))
		return 0;
	ds_args_bad(state, "--format '%s': takes " DS_CMD_FORMAT_TAKES, arg);
	return DS_ARGS_BAD;
}

static const struct argp argp = {
	options, parse, NULL,
	"Lists what this kernel and this load of the module can do: symbols, batch\n"
	"kinds, drain kinds, probes, entry points, invariants, planted faults, faults and\n"
	"pairs to align, and why something is not available.  Works beside a run.",
	NULL, NULL, NULL
};

static void print_text(const struct ds_msg *caps)
{
	unsigned int i;

	printf("kernel: %s\nbatch size: %u\nMGLRU: %s\nfix: %s\nstate: %s\n", caps->release,
	       caps->batch_size, caps->mglru ? "on" : "off", ds_fix_name(caps->fix), caps->state);
	if (caps->owner)
		printf("owner: pid %u\n", caps->owner);
	if (caps->reason[0])
		printf("batches are not touched: %s\n", caps->reason);
	for (i = 0; i < caps->nr_items; i++) {
		const struct ds_item *it = &caps->items[i];

		printf("%-9s %-32s %-3s %s\n", ds_class_name(it->class), it->name,
		       it->available ? "yes" : "no", it->available ? it->title : it->reason);
	}
}

static void print_json(const struct ds_msg *caps)
{
	json_t *o = ds_json_caps(caps);

	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

/**
 * ds_cmd_caps() - the command
 */
int ds_cmd_caps(int argc, char **argv)
{
	struct caps_opts o = { .json = false };
	struct ds_msg caps;
	struct ds_err err;
	struct ds_nl *nl;
	int ret;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	nl = ds_nl_open(&err);
	if (!nl)
		return ds_cmd_fail(&err);
	if (ds_nl_do(nl, DS_CMD_GET_CAPS, NULL, 0, &caps, &err)) {
		ret = ds_cmd_fail(&err);
		goto close;
	}
	if (o.json)
		print_json(&caps);
	else
		print_text(&caps);
	ds_msg_free(&caps);
	ret = ds_cmd_end_output(DS_EXIT_PASS);
close:
	ds_nl_close(nl);
	return ret;
}
