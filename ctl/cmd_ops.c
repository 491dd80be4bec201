// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl ops": the operations of the load's mix threads, their weights in a
 * preset, and why one cannot be done here.  Needs no module and does none of them.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "commands.h"
#include "load.h"
#include "opts.h"

#define TMPFS_BYTES (16U << 20)
#define DIRS_MAX 6
#define PRESET "soak"	/* whose weights are shown unless another is named */

struct ops_opts {
	const char *preset;
	const char *mix;
	const char *dirs[DIRS_MAX];
	unsigned int nr_dirs;
	bool json;
	struct ds_mix_choice choice;
};

static const struct argp_option options[] = {
	{ "preset", 'p', "NAME", 0, "Weights of this preset (default " PRESET ")", 0 },
	{ "mix", 'm', "OP=WEIGHT,...", 0, "Change them, as for drainctl run", 0 },
	{ "dir", 'd', "DIR", 0, "Try files there too; may be repeated", 0 },
	{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
	DS_ARGS_COMMON
};

static error_t bad(struct argp_state *state, const char *option, const char *arg, const char *takes)
{
	ds_args_bad(state, "%s '%s': %s", option, arg, takes);
	return DS_ARGS_BAD;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct ops_opts *o = state->input;
	char text[256];

	switch (key) {
	case 'p':
		if (ds_preset_find(arg) >= 0) {
			o->preset = arg;
			return 0;
		}
		ds_preset_names(text, sizeof(text));
		ds_args_bad(state, "--preset '%s': takes %s", arg, text);
		return DS_ARGS_BAD;
	case 'm':
		o->mix = arg;
		return 0;
	case 'd':
		if (o->nr_dirs == DIRS_MAX)
			return bad(state, "--dir", arg, "takes at most 6 directories");
		o->dirs[o->nr_dirs++] = arg;
		return 0;
	case 'f':
		if (!ds_cmd_json_flag(arg, &o->json))
			return 0;
		return bad(state, "--format", arg, "takes " DS_CMD_FORMAT_TAKES);
	case ARGP_KEY_END:
		if (!ds_mix_choose(o->preset, o->mix, &o->choice, text, sizeof(text)))
			return 0;
		return bad(state, "--mix", o->mix ? o->mix : "", text);
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp argp = {
	options, parse, NULL,
	"Lists the operations of the load's mix threads: how often a preset does each,\n"
	"and why one cannot be done here: for want of a kernel, a file system, rights\n"
	"or a configuration.  Exits with 4 when none of the preset's can be done.",
	NULL, NULL, NULL
};

static void print_text(const struct ops_opts *o, const struct ds_op_probe *probes)
{
	unsigned int i;

	printf("preset: %s: %s\n", o->preset, ds_presets[ds_preset_find(o->preset)].help);
	printf("%-18s %6s  %-9s %s\n", "operation", "weight", "available",
	       "what it does, or why not");
	for (i = 0; i < ds_nr_ops; i++)
		printf("%-18s %6u  %-9s %s\n", ds_ops[i].name, o->choice.weights[i],
		       probes[i].available ? "yes" : "no",
		       probes[i].available ? ds_ops[i].help : probes[i].why);
}

static void print_json(const struct ops_opts *o, const struct ds_op_probe *probes)
{
	json_t *all = json_object(), *ops = json_array(), *op;
	unsigned int i;

	json_object_set_new(all, "preset", json_string(o->preset));
	for (i = 0; i < ds_nr_ops; i++) {
		op = json_object();
		json_object_set_new(op, "name", json_string(ds_ops[i].name));
		json_object_set_new(op, "help", json_string(ds_ops[i].help));
		json_object_set_new(op, "weight", json_integer(o->choice.weights[i]));
		json_object_set_new(op, "changes_data", json_boolean(ds_ops[i].changes));
		json_object_set_new(op, "available", json_boolean(probes[i].available));
		if (!probes[i].available)
			json_object_set_new(op, "reason", json_string(probes[i].why));
		json_array_append_new(ops, op);
	}
	json_object_set_new(all, "ops", ops);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

/* The places that a run would have without --fs. */
static int open_places(const struct ops_opts *o, struct ds_places *p)
{
	char text[256];
	unsigned int i;

	ds_places_add_tmpfs(p, TMPFS_BYTES, 16, text, sizeof(text));
	ds_places_add_ext4(p, text, sizeof(text));
	for (i = 0; i < o->nr_dirs; i++) {
		if (ds_places_add_dir(p, o->dirs[i], text, sizeof(text))) {
			fprintf(stderr, "drainctl ops: --dir %s\n", text);
			return -1;
		}
	}
	return 0;
}

/**
 * ds_cmd_ops() - the command
 */
int ds_cmd_ops(int argc, char **argv)
{
	struct ops_opts o = { .preset = PRESET };
	struct ds_op_probe probes[DS_OPS_MAX];
	char note[256];
	struct ds_places places = { .nr = 0 };
	struct ds_op_env env = { .places = &places };
	struct ds_mix_choice left;
	struct ds_cgroup cg;
	bool grouped;
	int ret;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	memset(&cg, 0, sizeof(cg));
	grouped = !ds_cgroup_make(&cg, 64 << 20, note, sizeof(note));
	if (grouped)
		env.cgroup = cg.dir;
	if (open_places(&o, &places)) {
		ret = DS_EXIT_ERROR;
		goto close;
	}
	ds_ops_probe(&env, probes);
	left = o.choice;
	ds_mix_restrict(&left, probes);
	if (o.json)
		print_json(&o, probes);
	else
		print_text(&o, probes);
	ret = ds_cmd_end_output(o.choice.share && !left.total ? DS_EXIT_SKIP : DS_EXIT_PASS);
close:
	ds_places_close(&places);
	if (grouped)
		ds_cgroup_remove(&cg, 2000);
	return ret;
}
