// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of "drainctl sparsetruncate".  It asks the kernel nothing: what
 * cannot be had here is found out by who does it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "opts.h"
#include "own_fs.h"
#include "sparse_cmd.h"

#define ORDER_TAKES "single, readahead, 0, or a number from 2 to 9"
#define NO_TMPFS "takes no tmpfs: it caches no pages of holes, so nothing would be truncated"

enum {
	OPT_DIRS = 256,
	OPT_FILES,
	OPT_SIZE,
	OPT_FS,
	OPT_FAULT,
	OPT_SEED,
};

static const struct argp_option options[] = {
	{ "preset", 'p', "NAME", 0, "How many files, and how large", 0 },
	{ "dirs", OPT_DIRS, "N", 0, "Directories", 0 },
	{ "files", OPT_FILES, "N", 0, "Files in each of them", 0 },
	{ "size", OPT_SIZE, "SIZE", 0, "Of each file, whole pages", 0 },
	{ "order", 'r', "ORDER", 0,
	  "Folios of the page cache: single pages (default), readahead as it comes, or the order that read-ahead may get to",
	  0 },
	{ "method", 'm', "NAME", 0, "What is timed", 0 },
	{ "iterations", 'n', "N", 0, "How often; each makes the files afresh (default 1)", 0 },
	{ "dir", 'd', "DIR", 0, "Make the files there", 0 },
	{ "fs", OPT_FS, "NAME", 0,
	  "Make them on a file system of the tool's own: ext4 (default), xfs, btrfs", 0 },
	{ "out", 'o', "FILE", 0, "Write the samples there, one a line in microseconds", 0 },
	{ "seed", OPT_SEED, "N", 0,
	  "Shuffles the order in which files are removed, and of --fault (default 0: as they were made)",
	  0 },
	{ "fault", OPT_FAULT, "NAME[=ARG,...]", 0,
	  "Have the module inject this fault, as drainctl run; may be repeated (default none)",
	  0 },
	{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
	{ "quiet", 'q', NULL, 0, "No progress", 0 },
	DS_ARGS_COMMON
};

/* As given; what was not is filled in from the preset. */
struct parsing {
	struct ds_sparse_opts *o;
	bool fs;
};

static error_t bad(struct argp_state *state, const char *option, const char *arg,
		   const char *takes)
{
	ds_args_bad(state, "%s '%s': %s", option, arg, takes);
	return DS_ARGS_BAD;
}

static error_t bad_name(struct argp_state *state, const char *option, const char *arg,
			void (*names)(char *buf, size_t len))
{
	char list[128];

	names(list, sizeof(list));
	ds_args_bad(state, "%s '%s': takes %s", option, arg, list);
	return DS_ARGS_BAD;
}

static error_t take_number(struct argp_state *state, const char *option, const char *arg, u64 max,
			   u32 *out)
{
	u64 value;

	if (!ds_opt_number(arg, 1, max, &value)) {
		*out = value;
		return 0;
	}
	ds_args_bad(state, "%s '%s': takes a number from 1 to %llu", option, arg, max);
	return DS_ARGS_BAD;
}

static error_t take_size(struct argp_state *state, const char *arg, u64 *size)
{
	if (!ds_opt_size(arg, size) && *size <= DS_SPARSE_SIZE_MAX &&
	    !(*size % sysconf(_SC_PAGESIZE)))
		return 0;
	return bad(state, "--size", arg, "takes a size of whole pages up to 1T, such as 64K or 4M");
}

static error_t take_fs(struct argp_state *state, const char *arg, int *fs)
{
	*fs = ds_own_fs_find(arg);
	if (*fs >= 0 && ds_own_fs_kinds[*fs].bytes)
		return 0;
	return bad(state, "--fs", arg, *fs >= 0 ? NO_TMPFS : "takes ext4, xfs or btrfs");
}

static error_t take_fault(struct argp_state *state, struct ds_fault_opts *f, const char *arg)
{
	char why[512];

	if (!ds_fault_take(f, arg, why, sizeof(why)))
		return 0;
	ds_args_bad(state, "--fault '%s': %s", arg, why);
	return DS_ARGS_BAD;
}

/* What options say together, and what was not said. */
static error_t finish(struct argp_state *state, const struct parsing *p)
{
	struct ds_sparse_opts *o = p->o;

	if (p->fs && o->dir) {
		ds_args_bad(state, "--dir and --fs exclude each other");
		return DS_ARGS_BAD;
	}
	if (o->faults.wanted & ~DS_FAULT_MODULE) {
		ds_args_bad(state, "--fault alloc-fail is for the load of drainctl run only");
		return DS_ARGS_BAD;
	}
	o->dirs = o->dirs ? o->dirs : o->preset->dirs;
	o->files = o->files ? o->files : o->preset->files;
	o->size = o->size ? o->size : o->preset->size;
	if ((u64)o->dirs * o->files <= DS_SPARSE_ALL_MAX)
		return 0;
	ds_args_bad(state, "--dirs %u and --files %u: take %u files in all", o->dirs, o->files,
		    DS_SPARSE_ALL_MAX);
	return DS_ARGS_BAD;
}

static error_t parse_rest(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	struct ds_sparse_opts *o = p->o;

	switch (key) {
	case 'd':
		o->dir = arg;
		return 0;
	case 'o':
		o->out = arg;
		return 0;
	case OPT_SEED:
		if (!ds_opt_number(arg, 0, ~0ULL >> 1, &o->seed))
			return 0;
		return bad(state, "--seed", arg, "takes a number");
	case 'f':
		if (!ds_cmd_json_flag(arg, &o->json))
			return 0;
		return bad(state, "--format", arg, "takes " DS_CMD_FORMAT_TAKES);
	case 'q':
		o->quiet = true;
		return 0;
	case ARGP_KEY_END:
		return finish(state, p);
	default:
		return ds_args_common(key, state);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	struct ds_sparse_opts *o = p->o;

	switch (key) {
	case 'p':
		o->preset = ds_sparse_preset_find(arg);
		return o->preset ? 0 : bad_name(state, "--preset", arg, ds_sparse_preset_names);
	case OPT_DIRS:
		return take_number(state, "--dirs", arg, DS_SPARSE_DIRS_MAX, &o->dirs);
	case OPT_FILES:
		return take_number(state, "--files", arg, DS_SPARSE_FILES_MAX, &o->files);
	case OPT_SIZE:
		return take_size(state, arg, &o->size);
	case 'r':
		if (!ds_sparse_order_parse(arg, &o->order))
			return 0;
		return bad(state, "--order", arg, "takes " ORDER_TAKES);
	case 'm':
		o->method = ds_sparse_method_find(arg);
		return o->method ? 0 : bad_name(state, "--method", arg, ds_sparse_method_names);
	case 'n':
		return take_number(state, "--iterations", arg, DS_SPARSE_ITERATIONS_MAX,
				   &o->iterations);
	case OPT_FS:
		p->fs = true;
		return take_fs(state, arg, &o->fs);
	case OPT_FAULT:
		return take_fault(state, &o->faults, arg);
	default:
		return parse_rest(key, arg, state);
	}
}

/* Names and what they stand for come from the tables. */
static char *help_filter(int key, const char *text, void *input)
{
	char *out = (char *)text, *more;
	unsigned int i;

	(void)input;
	if (key != 'p' && key != 'm')
		return out;
	for (i = 0; i < (key == 'p' ? ds_nr_sparse_presets : ds_nr_sparse_methods); i++) {
		if (asprintf(&more, "%s; %s: %s%s", out,
			     key == 'p' ? ds_sparse_presets[i].name : ds_sparse_methods[i].name,
			     key == 'p' ? ds_sparse_presets[i].help : ds_sparse_methods[i].help,
			     i ? "" : " (default)") < 0)
			return out;
		if (out != text)
			free(out);
		out = more;
	}
	return out;
}

static const struct argp argp = {
	options, parse, NULL,
	"Removes sparse files of which every page is in the page cache, one after the\n"
	"other, and takes the time of each removal.  With the module loaded it also\n"
	"says how often the removals drained the per-CPU batches.\v\n"
	"Exit codes: 0 measured, 2 USAGE, 3 INCONCLUSIVE: interrupted, or pages were\n"
	"reclaimed before they could be removed, 4 SKIP: this kernel, host or file\n"
	"system cannot do it, 5 ERROR: no memory, no space, no permission.  Nothing\n"
	"stays behind; what a kill leaves in --dir the next drainctl removes.",
	NULL, help_filter, NULL
};

/**
 * ds_sparse_opts_parse() - the command line, defaults filled in
 *
 * Return: as ds_args_parse().
 */
int ds_sparse_opts_parse(struct ds_sparse_opts *o, int argc, char **argv)
{
	struct parsing p = { .o = o };

	memset(o, 0, sizeof(*o));
	o->preset = &ds_sparse_presets[0];
	o->method = &ds_sparse_methods[0];
	o->iterations = 1;
	o->fs = DS_OWN_EXT4;
	ds_fault_default(&o->faults);
	o->faults.wanted = 0;
	return ds_args_parse(&argp, argc, argv, &p);
}
