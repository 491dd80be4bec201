// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl fill" and "drainctl drain": one fill that stays until it is let go,
 * and one drain.
 */
#include <string.h>

#include "commands.h"
#include "opts.h"
#include "signals.h"

#define COUNT_MAX 254		/* nr of a batch is an unsigned char */

struct fill_opts {
	u64 kind;
	u64 count;
	u64 drain;
	const char *cpus;
	u64 hold_ms;
	bool hold;
};

static const struct argp_option fill_options[] = {
	{ "cpus", 'c', "LIST", 0, "CPUs such as 0-3,5 (default all that are online)", 0 },
	{ "hold", 'H', "TIME", 0, "How long to hold, or 0 (default until it is interrupted)", 0 },
	DS_ARGS_COMMON
};

static const struct argp_option drain_options[] = {
	{ "cpus", 'c', "LIST", 0, "CPUs such as 0-3,5 (default all that are online)", 0 },
	DS_ARGS_COMMON
};

static error_t parse_cpus(char *arg, struct argp_state *state)
{
	struct fill_opts *o = state->input;

	if (ds_opt_cpus(arg)) {
		ds_args_bad(state, "--cpus '%s': takes " DS_CPUS_TAKES, arg);
		return DS_ARGS_BAD;
	}
	o->cpus = arg;
	return 0;
}

static error_t parse_kind(char *arg, struct argp_state *state, const char *what, u64 *id,
			  int (*mask_of)(const char *s, u64 *mask),
			  void (*names)(char *buf, size_t len))
{
	char list[256];
	u64 mask;

	if (!mask_of(arg, &mask) && !(mask & (mask - 1))) {
		*id = __builtin_ctzll(mask) + 1;
		return 0;
	}
	names(list, sizeof(list));
	ds_args_bad(state, "%s '%s': takes one of %s", what, arg, list);
	return DS_ARGS_BAD;
}

static error_t fill_parse(int key, char *arg, struct argp_state *state)
{
	struct fill_opts *o = state->input;

	switch (key) {
	case 'c':
		return parse_cpus(arg, state);
	case 'H':
		o->hold = true;
		o->hold_ms = 0;
		if (!strcmp(arg, "0") || !ds_opt_duration(arg, &o->hold_ms))
			return 0;
		ds_args_bad(state, "--hold '%s': takes 0 or " DS_DURATION_TAKES, arg);
		return DS_ARGS_BAD;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			return parse_kind(arg, state, "KIND", &o->kind, ds_opt_kinds,
					  ds_opt_kind_names);
		if (state->arg_num > 1)
			return ds_args_common(key, state);
		if (!ds_opt_number(arg, 1, COUNT_MAX, &o->count))
			return 0;
		ds_args_bad(state, "COUNT '%s': takes a number from 1 to the batch size - 1", arg);
		return DS_ARGS_BAD;
	case ARGP_KEY_END:
		if (o->count)
			return 0;
		ds_args_bad(state, "takes a batch KIND and a COUNT of folios for each CPU");
		return DS_ARGS_BAD;
	default:
		return ds_args_common(key, state);
	}
}

static error_t drain_parse(int key, char *arg, struct argp_state *state)
{
	struct fill_opts *o = state->input;
	char list[256];

	switch (key) {
	case 'c':
		return parse_cpus(arg, state);
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ds_args_common(key, state);
		return parse_kind(arg, state, "KIND", &o->drain, ds_opt_drains,
				  ds_opt_drain_names);
	case ARGP_KEY_END:
		if (o->drain)
			return 0;
		ds_opt_drain_names(list, sizeof(list));
		ds_args_bad(state, "takes a drain KIND: %s", list);
		return DS_ARGS_BAD;
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp fill_argp = {
	fill_options, fill_parse, "KIND COUNT",
	"Puts COUNT folios of the module's own into the batch KIND of each CPU, and\n"
	"holds them until it is interrupted; then everything is put back.", NULL, NULL, NULL
};

static const struct argp drain_argp = {
	drain_options, drain_parse, "KIND",
	"Drains the per-CPU batches in one of the kernel's ways.", NULL, NULL, NULL
};

static void print_counters(const struct ds_msg *m)
{
	unsigned int i;

	for (i = 0; i < m->nr_counters; i++)
		printf("%s: %llu\n", m->counters[i].name, m->counters[i].value);
}

static int run_one(const struct fill_opts *o, u8 cmd, const struct ds_arg *args, unsigned int nr)
{
	struct ds_msg done;
	struct ds_err err;
	struct ds_nl *nl;
	int ret;

	ds_signals_init();
	nl = ds_nl_open(&err);
	if (!nl)
		return ds_cmd_fail(&err);
	if (ds_nl_run(nl, cmd, args, nr, DS_REQUEST_MS, &done, &err)) {
		ret = ds_cmd_fail(&err);
		goto close;
	}
	print_counters(&done);
	ds_msg_free(&done);
	ret = ds_cmd_end_output(DS_EXIT_PASS);
	if (cmd == DS_CMD_FILL)
		ds_cmd_sleep(o->hold ? o->hold_ms : ~0U * 1000ULL);
close:
	ds_nl_close(nl);
	return ret;
}

/**
 * ds_cmd_fill() - the command
 */
int ds_cmd_fill(int argc, char **argv)
{
	struct fill_opts o = { .kind = 0 };
	struct ds_arg args[3];
	unsigned int n = 0;
	int ret = ds_args_parse(&fill_argp, argc, argv, &o);

	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	args[n++] = (struct ds_arg){ DS_A_KIND, DS_ARG_U32, o.kind, NULL };
	args[n++] = (struct ds_arg){ DS_A_COUNT, DS_ARG_U32, o.count, NULL };
	if (o.cpus)
		args[n++] = (struct ds_arg){ DS_A_CPUS, DS_ARG_STRING, 0, o.cpus };
	return run_one(&o, DS_CMD_FILL, args, n);
}

/**
 * ds_cmd_drain() - the command
 */
int ds_cmd_drain(int argc, char **argv)
{
	struct fill_opts o = { .kind = 0 };
	struct ds_arg args[2];
	unsigned int n = 0;
	int ret = ds_args_parse(&drain_argp, argc, argv, &o);

	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	args[n++] = (struct ds_arg){ DS_A_DRAIN, DS_ARG_U32, o.drain, NULL };
	if (o.cpus)
		args[n++] = (struct ds_arg){ DS_A_CPUS, DS_ARG_STRING, 0, o.cpus };
	return run_one(&o, DS_CMD_DRAIN, args, n);
}
