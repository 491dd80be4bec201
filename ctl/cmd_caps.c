// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl caps": what this kernel and this module can do, and why not the
 * rest.  Works beside a run.
 */
#include <jansson.h>

#include "commands.h"
#include "report.h"

static const char doc[] =
	"Lists what this kernel and this load of the module can do: symbols, batch\n"
	"kinds, drain kinds, probes, entry points, invariants, planted faults, faults and\n"
	"pairs to align, and why something is not available.  Works beside a run.";

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
	ds_cmd_print_json(ds_json_caps(caps));
}

static int ask(struct ds_nl *nl, void *json, struct ds_err *err)
{
	struct ds_msg caps;

	if (ds_nl_do(nl, DS_CMD_GET_CAPS, NULL, 0, &caps, err))
		return -1;
	if (*(bool *)json)
		print_json(&caps);
	else
		print_text(&caps);
	ds_msg_free(&caps);
	return 0;
}

/**
 * ds_cmd_caps() - the command
 */
int ds_cmd_caps(int argc, char **argv)
{
	return ds_cmd_show(argc, argv, doc, ask);
}
