// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl explain": what an invariant says and why it must hold, from the
 * table that the module checks by.  Needs no module.
 */
#include <string.h>

#include "commands.h"
#include "opts.h"

struct explain_opts {
	u64 mask;
};

static const struct argp_option options[] = {
	DS_ARGS_COMMON
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain_opts *o = state->input;
	char list[512];
	u64 mask;

	if (key != ARGP_KEY_ARG)
		return ds_args_common(key, state);
	if (!ds_opt_invariants(arg, &mask)) {
		o->mask |= mask;
		return 0;
	}
	ds_opt_invariant_names(list, sizeof(list));
	ds_args_bad(state, "'%s': takes some of %s", arg, list);
	return DS_ARGS_BAD;
}

static const struct argp argp = {
	options, parse, "[INVARIANT...]",
	"Explains invariants, such as I8, or lists them all.", NULL, NULL, NULL
};

static const char *retry_text(const char *retry)
{
	if (!strcmp(retry, "LOOK"))
		return "when it looks wrong in later snapshots too, nothing drained in between";
	if (!strcmp(retry, "QUIESCE"))
		return "only after the module's threads rest and all CPUs were drained";
	return "at first sight";
}

static void explain(u32 id)
{
	printf("I%u: %s\n", id, ds_invariant_title(id));
	printf("  why it must hold: %s\n", ds_invariant_why(id));
	printf("  legitimate exceptions: %s\n", ds_invariant_exceptions(id));
	printf("  reported: %s\n", retry_text(ds_invariant_retry(id)));
}

/**
 * ds_cmd_explain() - the command
 */
int ds_cmd_explain(int argc, char **argv)
{
	struct explain_opts o = { .mask = 0 };
	int ret = ds_args_parse(&argp, argc, argv, &o);
	u32 id;

	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	for (id = 1; id <= 64; id++) {
		if (!ds_invariant_title(id))
			continue;
		if (!o.mask)
			printf("I%-3u %s\n", id, ds_invariant_title(id));
		else if (o.mask & (1ULL << (id - 1)))
			explain(id);
	}
	return ds_cmd_end_output(DS_EXIT_PASS);
}
