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
#include "run.h"
#include "stale.h"

#define TMPFS_BYTES (16U << 20)
#define FILES 16

struct ops_opts {
	const char *preset;
	const char *mix;
	const char *dirs[DS_DIRS_MAX];
	unsigned int nr_dirs;
	u32 fs_mask;
	bool json;
	struct ds_mix_choice choice;
};

static const struct argp_option options[] = {
	{ "preset", 'p', "NAME", 0, "Weights of this preset (default " DS_PRESET_DEFAULT ")", 0 },
	{ "mix", 'm', "OP=WEIGHT,...", 0, "Change them, as for drainctl run", 0 },
	{ "dir", 'd', "DIR", 0, "Try files there too; may be repeated", 0 },
	{ "fs", 'F', "NAME", 0,
	  "Try a file system of the tool's own in place of the usual ones, as drainctl run; may be repeated",
	  0 },
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
	int fs;

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
		if (o->nr_dirs == DS_DIRS_MAX)
			return bad(state, "--dir", arg, "takes at most 6 directories");
		o->dirs[o->nr_dirs++] = arg;
		return 0;
	case 'F':
		fs = ds_own_fs_find(arg);
		if (fs >= 0) {
			o->fs_mask |= DS_OWN_FS_BIT(fs);
			return 0;
		}
		ds_own_fs_names(text, sizeof(text));
		ds_args_bad(state, "--fs '%s': takes %s", arg, text);
		return DS_ARGS_BAD;
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
	ds_cmd_print_json(all);
}

/* The file systems of --fs.  Return: 0 or -1 and @err. */
static int open_own(const struct ops_opts *o, struct ds_places *p, struct ds_err *err)
{
	struct ds_place own[DS_NR_OWN_FS];
	unsigned int i, nr;
	char text[256];
	int ret, no;

	if (o->fs_mask & DS_OWN_FS_BIT(DS_OWN_TMPFS_HUGE)) {
		no = ds_places_add_huge(p, TMPFS_BYTES, FILES, text, sizeof(text));
		if (no)
			return ds_error(err, no == -EINVAL ? DS_EXIT_SKIP : DS_EXIT_ERROR, -no,
					"--fs tmpfs-huge: %s", text);
	}
	ret = ds_fs_make(o->fs_mask, 0, own, &nr, err);
	for (i = 0; !ret && i < nr; i++) {
		no = ds_places_add_own(p, &own[i]);
		if (!no)
			own[i].fd = -1;
		else
			ret = ds_error(err, DS_EXIT_ERROR, -no, "%s: %s", own[i].name,
				       strerror(-no));
	}
	ds_fs_close(own, &nr);
	return ret;
}

/* The places that a run would have. */
static int open_places(const struct ops_opts *o, struct ds_places *p, struct ds_err *err)
{
	char text[256];
	unsigned int i;

	if (!o->fs_mask || o->fs_mask & DS_OWN_FS_BIT(DS_OWN_TMPFS))
		ds_places_add_tmpfs(p, TMPFS_BYTES, FILES, text, sizeof(text));
	if (!o->fs_mask)
		ds_places_add_ext4(p, text, sizeof(text));
	else if (open_own(o, p, err))
		return -1;
	for (i = 0; i < o->nr_dirs; i++) {
		if (ds_places_add_dir(p, o->dirs[i], text, sizeof(text)))
			return ds_error(err, DS_EXIT_ERROR, 0, "--dir %s", text);
	}
	return 0;
}

/**
 * ds_cmd_ops() - the command
 */
int ds_cmd_ops(int argc, char **argv)
{
	struct ops_opts o = { .preset = DS_PRESET_DEFAULT };
	struct ds_op_probe probes[DS_OPS_MAX];
	char note[256];
	struct ds_places places = { .nr = 0 };
	struct ds_op_env env = { .places = &places };
	struct ds_mix_choice left;
	struct ds_cgroup cg;
	struct ds_err err;
	int ret, no;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	ds_stale_clean(ds_stale_print, NULL);
	memset(&cg, 0, sizeof(cg));
	if (!ds_cgroup_make(&cg, 64 << 20, note, sizeof(note)))
		env.cgroup = cg.dir;
	if (open_places(&o, &places, &err)) {
		ret = ds_cmd_fail(&err);
		goto close;
	}
	env.opcodes = ds_mix_opcodes();
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
	no = ds_cgroup_remove(&cg, 2000);
	if (no) {
		fprintf(stderr, "drainctl: cgroup %s cannot be removed: %s\n", cg.dir,
			strerror(-no));
		ret = DS_EXIT_ERROR;
	}
	return ret;
}
