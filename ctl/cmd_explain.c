// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl explain": what an invariant says, why it must hold and what it rests
 * on, from the table that the module checks by; docs/invariants.md is the same
 * as Markdown.  Needs no module.
 */
#include <ctype.h>
#include <string.h>

#include "commands.h"
#include "opts.h"

struct explain_opts {
	u64 mask;
	bool markdown;
};

static const struct argp_option options[] = {
	{ "format", 'f', "NAME", 0, "text or markdown (default text)", 0 },
	DS_ARGS_COMMON
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain_opts *o = state->input;
	char list[512];
	u64 mask;

	if (key == 'f') {
		o->markdown = !strcmp(arg, "markdown");
		if (o->markdown || !strcmp(arg, "text"))
			return 0;
		ds_args_bad(state, "--format '%s': takes text or markdown", arg);
		return DS_ARGS_BAD;
	}
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
	"Explains invariants, such as I8, or lists them all; as Markdown it explains\n"
	"all of them.", NULL, NULL, NULL
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
	printf("  rests on: %s\n", ds_invariant_code(id));
}

static bool is_file(const char *s, size_t n)
{
	return n > 2 && (!strncmp(s + n - 2, ".c", 2) || !strncmp(s + n - 2, ".h", 2));
}

/* Names from the kernel's sources as code: of files, and with an underscore or (). */
static void put_markdown(const char *s)
{
	size_t n;
	bool name;

	while (*s) {
		for (n = 0; isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '/' ||
		     (s[n] == '.' && isalnum((unsigned char)s[n + 1])); n++)
			;
		name = n && (memchr(s, '_', n) || is_file(s, n));
		if (n && !strncmp(s + n, "()", 2)) {
			name = true;
			n += 2;
		}
		if (!n)
			n = 1;
		printf(name ? "`%.*s`" : "%.*s", (int)n, s);
		s += n;
	}
}

static void put_item(const char *what, const char *text)
{
	printf("- %s: ", what);
	put_markdown(text);
	putchar('\n');
}

static void explain_markdown(u32 id)
{
	printf("\n## I%u: ", id);
	put_markdown(ds_invariant_title(id));
	printf("\n\n");
	put_item("Why it must hold", ds_invariant_why(id));
	put_item("Legitimate exceptions", ds_invariant_exceptions(id));
	put_item("Reported", retry_text(ds_invariant_retry(id)));
	put_item("Rests on", ds_invariant_code(id));
}

static const char markdown_head[] =
	"# The invariants\n"
	"\n"
	"What drainstress checks, made from include/uapi/linux/drainstress_invariants.h by\n"
	"`make docs`. `drainctl explain I8` prints one of them, `drainctl caps` which of them\n"
	"a kernel can have, and why not the others.\n"
	"\n"
	"Files and functions are those of Linux 6.1, with \"6.12:\" those that took their\n"
	"place by then.\n";

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
	if (o.markdown)
		printf("<!-- %s: GPL-2.0-only -->\n%s", "SPDX-License-Identifier", markdown_head);
	for (id = 1; id <= 64; id++) {
		if (!ds_invariant_title(id))
			continue;
		if (o.markdown && (!o.mask || o.mask & (1ULL << (id - 1))))
			explain_markdown(id);
		else if (o.markdown)
			continue;
		else if (!o.mask)
			printf("I%-3u %s\n", id, ds_invariant_title(id));
		else if (o.mask & (1ULL << (id - 1)))
			explain(id);
	}
	return ds_cmd_end_output(DS_EXIT_PASS);
}
