// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl faults": what a run can inject, the arguments with their defaults, and
 * why one cannot be had here.  Injects none.
 */
#include <jansson.h>

#include "commands.h"
#include "fault.h"

static const char doc[] =
	"Lists the faults that \"drainctl run --fault NAME[=ARGUMENT,...]\" injects,\n"
	"their arguments with the defaults, and why one cannot be had here.\n"
	"Arguments: prob:1/N delays one hit in N, us:MIN-MAX is for how many\n"
	"microseconds, every:MS is the mean time between two.  Works beside a run.";

static void print_text(const struct ds_msg *caps)
{
	char args[64], why[256];
	bool available;
	u32 id;

	printf("%-16s %-9s %-22s %s\n", "fault", "available", "defaults",
	       "what it does, or why not");
	for (id = 1; id < DS_FAULTS_END; id++) {
		available = ds_fault_available(caps, id, why, sizeof(why));
		ds_fault_args_text(&ds_fault_rows[id].defaults, args, sizeof(args));
		printf("%-16s %-9s %-22s %s\n", ds_fault_rows[id].name, available ? "yes" : "no",
		       args, available ? ds_fault_rows[id].title : why);
	}
}

static void print_json(const struct ds_msg *caps)
{
	json_t *all = json_array(), *o;
	char args[64], why[256];
	bool available;
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		available = ds_fault_available(caps, id, why, sizeof(why));
		ds_fault_args_text(&ds_fault_rows[id].defaults, args, sizeof(args));
		o = json_object();
		json_object_set_new(o, "name", json_string(ds_fault_rows[id].name));
		json_object_set_new(o, "help", json_string(ds_fault_rows[id].title));
		json_object_set_new(o, "defaults", json_string(args));
		json_object_set_new(o, "default", json_boolean(id != DS_FAULT_ALLOC));
		json_object_set_new(o, "available", json_boolean(available));
		if (!available)
			json_object_set_new(o, "reason", json_string(why));
		json_array_append_new(all, o);
	}
	ds_cmd_print_json(all);
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
 * ds_cmd_faults() - the command
 */
int ds_cmd_faults(int argc, char **argv)
{
	return ds_cmd_show(argc, argv, doc, ask);
}
