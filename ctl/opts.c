// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values on the command line: numbers, times, sizes, lists of CPUs and of
 * names, and argp made to name what it takes when it refuses.  Knows no command.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/drainstress.h>
#include <linux/drainstress_invariants.h>

#include "opts.h"
#include "version.h"

#define YEAR_S (365ULL * 24 * 3600)
#define CPU_MAX 8191

struct row {
	u32 id;
	const char *name;
	const char *title;
};

static const struct row kind_rows[] = {
#define ROW(sym, name, title) { DS_BATCH_##sym, name, title },
	DS_BATCH_KINDS(ROW)
#undef ROW
};

static const struct row drain_rows[] = {
#define ROW(sym, name, title) { DS_DRAIN_##sym, name, title },
	DS_DRAIN_KINDS(ROW)
#undef ROW
};

static const struct invariant_row {
	u32 id;
	const char *retry;
	const char *title;
	const char *why;
	const char *exceptions;
	const char *code;
} invariant_rows[] = {
#define ROW(id, retry, title, why, exceptions, code) { id, #retry, title, why, exceptions, code },
	DS_INVARIANTS(ROW)
#undef ROW
};

/* Digits only: strtoull() would take "-1" and " 1". */
static int digits(const char **s, u64 *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	errno = 0;
	*out = strtoull(*s, &end, 10);
	*s = end;
	return errno ? -ERANGE : 0;
}

/**
 * ds_opt_number() - a whole number from @min to @max
 *
 * Return: 0, -EINVAL or -ERANGE.  So do all that follow.
 */
int ds_opt_number(const char *s, u64 min, u64 max, u64 *out)
{
	u64 val;
	int ret = digits(&s, &val);

	if (ret)
		return ret;
	if (*s)
		return -EINVAL;
	if (val < min || val > max)
		return -ERANGE;
	*out = val;
	return 0;
}

/**
 * ds_opt_duration() - seconds, or a number with s, m or h, as milliseconds
 */
int ds_opt_duration(const char *s, u64 *ms)
{
	u64 val, unit = 1;
	int ret = digits(&s, &val);

	if (ret)
		return ret;
	if (*s == 'm')
		unit = 60;
	else if (*s == 'h')
		unit = 3600;
	if (*s == 's' || *s == 'm' || *s == 'h')
		s++;
	if (*s)
		return -EINVAL;
	if (!val || val > YEAR_S / unit)
		return -ERANGE;
	*ms = val * unit * 1000;
	return 0;
}

/**
 * ds_opt_size() - bytes, or a number with K, M, G or T
 */
int ds_opt_size(const char *s, u64 *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned int shift = 0;
	u64 val;
	int ret = digits(&s, &val);

	if (ret)
		return ret;
	if (*s) {
		unit = strchr(units, toupper((unsigned char)*s));
		if (!unit)
			return -EINVAL;
		shift = 10 * (unit - units + 1);
		s++;
	}
	if (*s)
		return -EINVAL;
	if (!val || val > (~0ULL >> 1) >> shift)
		return -ERANGE;
	*bytes = val << shift;
	return 0;
}

/**
 * ds_opt_cpus() - is it a list of CPUs such as "0-3,5"?
 */
int ds_opt_cpus(const char *s)
{
	u64 first, last;

	if (strlen(s) >= DS_STRING_MAX)
		return -ERANGE;
	for (;;) {
		if (digits(&s, &first))
			return -EINVAL;
		last = first;
		if (*s == '-') {
			s++;
			if (digits(&s, &last))
				return -EINVAL;
		}
		if (last < first || last > CPU_MAX)
			return -ERANGE;
		if (!*s)
			return 0;
		if (*s++ != ',')
			return -EINVAL;
	}
}

static int names_mask(const char *s, const struct row *rows, unsigned int nr, u64 *mask)
{
	u64 found = 0;
	unsigned int i;
	size_t len;

	for (;;) {
		len = strcspn(s, ",");
		for (i = 0; i < nr; i++) {
			if (strlen(rows[i].name) == len && !strncmp(rows[i].name, s, len))
				break;
		}
		if (i == nr)
			return -EINVAL;
		found |= 1ULL << (rows[i].id - 1);
		s += len;
		if (!*s)
			break;
		s++;
	}
	*mask = found;
	return 0;
}

/**
 * ds_opt_kinds() - "lru_add,mlock" as a mask, bit (id - 1)
 */
int ds_opt_kinds(const char *s, u64 *mask)
{
	return names_mask(s, kind_rows, ARRAY_SIZE(kind_rows), mask);
}

/**
 * ds_opt_drains() - "local,all", likewise
 */
int ds_opt_drains(const char *s, u64 *mask)
{
	return names_mask(s, drain_rows, ARRAY_SIZE(drain_rows), mask);
}

static const struct invariant_row *find_invariant(u32 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(invariant_rows); i++) {
		if (invariant_rows[i].id == id)
			return &invariant_rows[i];
	}
	return NULL;
}

/**
 * ds_opt_invariants() - "I1,I8" as a mask, bit (number - 1)
 */
int ds_opt_invariants(const char *s, u64 *mask)
{
	u64 found = 0, id;

	for (;;) {
		if (*s != 'I' && *s != 'i')
			return -EINVAL;
		s++;
		if (digits(&s, &id) || !id || id > 64 || !find_invariant(id))
			return -EINVAL;
		found |= 1ULL << (id - 1);
		if (!*s)
			break;
		if (*s++ != ',')
			return -EINVAL;
	}
	*mask = found;
	return 0;
}

static void row_names(const struct row *rows, unsigned int nr, char *buf, size_t len)
{
	size_t n = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < nr && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", rows[i].name);
}

/**
 * ds_opt_kind_names() - all batch kinds, for messages; likewise the next two
 */
void ds_opt_kind_names(char *buf, size_t len)
{
	row_names(kind_rows, ARRAY_SIZE(kind_rows), buf, len);
}

void ds_opt_drain_names(char *buf, size_t len)
{
	row_names(drain_rows, ARRAY_SIZE(drain_rows), buf, len);
}

void ds_opt_invariant_names(char *buf, size_t len)
{
	size_t n = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(invariant_rows) && n < len; i++)
		n += snprintf(buf + n, len - n, "%sI%u", i ? ", " : "", invariant_rows[i].id);
}

/**
 * ds_kind_name() - of a batch kind's id, "?" when there is none
 */
const char *ds_kind_name(u32 id)
{
	return id && id <= ARRAY_SIZE(kind_rows) ? kind_rows[id - 1].name : "?";
}

/**
 * ds_drain_name() - of a drain kind's id
 */
const char *ds_drain_name(u32 id)
{
	return id && id <= ARRAY_SIZE(drain_rows) ? drain_rows[id - 1].name : "?";
}

/**
 * ds_invariant_title() - from the shared table, NULL for an unknown number;
 * likewise the next four
 */
const char *ds_invariant_title(u32 id)
{
	const struct invariant_row *row = find_invariant(id);

	return row ? row->title : NULL;
}

const char *ds_invariant_why(u32 id)
{
	const struct invariant_row *row = find_invariant(id);

	return row ? row->why : NULL;
}

const char *ds_invariant_exceptions(u32 id)
{
	const struct invariant_row *row = find_invariant(id);

	return row ? row->exceptions : NULL;
}

const char *ds_invariant_code(u32 id)
{
	const struct invariant_row *row = find_invariant(id);

	return row ? row->code : NULL;
}

const char *ds_invariant_retry(u32 id)
{
	const struct invariant_row *row = find_invariant(id);

	return row ? row->retry : NULL;
}

/* What one ds_args_parse() is up to; argp hands its own state around only. */
static struct {
	bool answered;
	bool explained;
} parsing;

/**
 * ds_args_common() - the options every command has; a parser's default case
 */
error_t ds_args_common(int key, struct argp_state *state)
{
	switch (key) {
	case '?':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		parsing.answered = true;
		return DS_ARGS_BAD;
	case DS_ARGS_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE);
		parsing.answered = true;
		return DS_ARGS_BAD;
	case 'V':
		puts("drainctl " DS_VERSION);
		parsing.answered = true;
		return DS_ARGS_BAD;
	case ARGP_KEY_ARG:
		ds_args_bad(state, "unexpected '%s': takes options only, and the command first",
			    state->argv[state->next - 1]);
		return DS_ARGS_BAD;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/**
 * ds_args_bad() - a value is refused: names the option and what it takes
 */
void ds_args_bad(struct argp_state *state, const char *fmt, ...)
{
	va_list ap;

	parsing.explained = true;
	fprintf(stderr, "%s: ", state->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void list_options(const struct argp *argp, const char *name)
{
	const struct argp_option *o;

	fprintf(stderr, "%s takes:\n", name);
	for (o = argp->options; o && (o->name || o->doc); o++) {
		if (!o->name || (o->flags & OPTION_HIDDEN))
			continue;
		fprintf(stderr, "  --%s%s%s\n", o->name, o->arg ? "=" : "", o->arg ? o->arg : "");
	}
}

/**
 * ds_args_parse() - parse the words of one command
 * @argp: its options and parser
 * @argv: argv[0] is what messages call it, such as "drainctl check"
 *
 * Return: 0, DS_ARGS_ANSWERED, or DS_EXIT_USAGE after a message that says what
 * would have been accepted.
 */
int ds_args_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	error_t ret;

	memset(&parsing, 0, sizeof(parsing));
	argp_err_exit_status = DS_EXIT_USAGE;
	ret = argp_parse(argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, input);
	if (parsing.answered)
		return DS_ARGS_ANSWERED;
	if (!ret)
		return 0;
	if (!parsing.explained)
		list_options(argp, argv[0]);
	return DS_EXIT_USAGE;
}
