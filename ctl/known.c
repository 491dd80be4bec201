// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known kernel issues: reads the files that --known names and tells whether a
 * violation of an invariant on a kernel is one of them.  What follows from that
 * is verdict.c's business.
 *
 * A line is INVARIANT KERNELS REASON.  KERNELS is FROM..TO, where either may be
 * missing, or one release, which stands for all that begin with it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "opts.h"

#define BLANKS " \t\r\n"
#define LINE_MAX_LEN 1024

/*
 * Up to three numbers joined by '.', and after three '-' and the distribution's.
 * Not more: "6.1-6.6" must not be taken for one release.  @s is left at what is
 * no more part of them.
 */
static int take_release(const char **s, struct ds_release *r)
{
	const char *p = *s;
	unsigned long val;
	char *end;

	memset(r, 0, sizeof(*r));
	while (isdigit((unsigned char)*p)) {
		errno = 0;
		val = strtoul(p, &end, 10);
		if (errno || val > ~0U)
			return -ERANGE;
		p = end;
		*s = p;
		r->part[r->nr++] = val;
		if (r->nr == ARRAY_SIZE(r->part) || *p != (r->nr == 3 ? '-' : '.'))
			break;
		p++;
	}
	return 0;
}

/**
 * ds_release_parse() - the numbers that a kernel's release begins with
 * @release: as of uname(2)
 */
void ds_release_parse(const char *release, struct ds_release *r)
{
	/* of a number that is too large the ones before it do */
	take_release(&release, r);
}

/* Below 0, 0 or above as @r is before, one of or after those that begin with @bound. */
static int compare(const struct ds_release *r, const struct ds_release *bound)
{
	unsigned int i;
	u32 part;

	for (i = 0; i < bound->nr; i++) {
		part = i < r->nr ? r->part[i] : 0;
		if (part != bound->part[i])
			return part < bound->part[i] ? -1 : 1;
	}
	return 0;
}

/* A range that ends before it begins holds no kernel. */
static bool upside_down(const struct ds_known *k)
{
	unsigned int i;

	for (i = 0; i < k->from.nr && i < k->to.nr; i++) {
		if (k->from.part[i] != k->to.part[i])
			return k->from.part[i] > k->to.part[i];
	}
	return false;
}

static int parse_kernels(const char *s, struct ds_known *k)
{
	if (take_release(&s, &k->from))
		return -ERANGE;
	if (!*s && k->from.nr) {
		k->to = k->from;
		return 0;
	}
	if (strncmp(s, "..", 2))
		return -EINVAL;
	s += 2;
	if (take_release(&s, &k->to) || *s)
		return -EINVAL;
	return upside_down(k) ? -ERANGE : 0;
}

/**
 * ds_known_line() - one line that is neither empty nor a comment
 * @why: on an error what is wrong and what would be right
 *
 * Return: 0 or -EINVAL.
 */
int ds_known_line(const char *line, struct ds_known *k, char *why, size_t len)
{
	char word[64], names[512];
	size_t n;
	u64 mask;

	memset(k, 0, sizeof(*k));
	line += strspn(line, BLANKS);
	n = strcspn(line, BLANKS);
	snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word) - 1,
		 line);
	if (ds_opt_invariants(word, &mask) || mask & (mask - 1)) {
		ds_opt_invariant_names(names, sizeof(names));
		snprintf(why, len, "'%s' is no invariant: takes one of %s", word, names);
		return -EINVAL;
	}
	while (mask >> k->invariant)
		k->invariant++;
	line += n;
	line += strspn(line, BLANKS);
	n = strcspn(line, BLANKS);
	snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word) - 1,
		 line);
	if (n >= sizeof(word) || parse_kernels(word, k)) {
		snprintf(why, len,
			 "kernels '%s': takes a release such as 6.1 or a range such as 6.1..6.6.30, 6.1.. or ..6.6",
			 word);
		return -EINVAL;
	}
	line += n;
	line += strspn(line, BLANKS);
	for (n = strlen(line); n && strchr(BLANKS, line[n - 1]); n--)
		;
	if (!n) {
		snprintf(why, len, "no reason: takes INVARIANT KERNELS REASON");
		return -EINVAL;
	}
	if (n >= sizeof(k->reason)) {
		snprintf(why, len, "the reason has %zu characters: takes at most %zu", n,
			 sizeof(k->reason) - 1);
		return -EINVAL;
	}
	memcpy(k->reason, line, n);
	return 0;
}

/*
 * One line without its end.  Return: 1, 0 at the end of the file or when it cannot
 * be read, or -EINVAL for what is no line of text: a device has no end, and what
 * follows a NUL must not be passed over.
 */
static int read_line(FILE *f, char *line, size_t len)
{
	size_t n = 0;
	int c;

	while ((c = getc(f)) != EOF && c != '\n') {
		if ((iscntrl(c) && !strchr(BLANKS, c)) || !c || n == len - 1)
			return -EINVAL;
		line[n++] = c;
	}
	line[n] = '\0';
	return (n || c != EOF) && !ferror(f);
}

/**
 * ds_known_read() - add a file's lines to the list
 *
 * Return: 0, or -1 and @err, a usage error that names file and line.
 */
int ds_known_read(struct ds_known_list *l, const char *file, struct ds_err *err)
{
	char line[LINE_MAX_LEN], why[512];
	unsigned int number = 0;
	struct ds_known k;
	int ret = 0, got;
	FILE *f;

	f = fopen(file, "re");
	if (!f)
		return ds_error(err, DS_EXIT_USAGE, errno, "%s: %s", file, strerror(errno));
	errno = 0;
	while (!ret && (got = read_line(f, line, sizeof(line)))) {
		number++;
		if (got < 0) {
			ret = ds_error(err, DS_EXIT_USAGE, EINVAL,
				       "%.200s:%u: is no line of text of at most %zu characters",
				       file, number, sizeof(line) - 1);
			break;
		}
		if (line[strspn(line, BLANKS)] == '\0' || line[strspn(line, BLANKS)] == '#')
			continue;
		if (ds_known_line(line, &k, why, sizeof(why)))
			ret = ds_error(err, DS_EXIT_USAGE, EINVAL, "%.200s:%u: %.280s", file,
				       number, why);
		else if (l->nr == DS_KNOWN_MAX)
			ret = ds_error(err, DS_EXIT_USAGE, E2BIG,
				       "%s:%u: takes at most %d known issues in all", file, number,
				       DS_KNOWN_MAX);
		else
			l->v[l->nr++] = k;
	}
	if (!ret && ferror(f))
		ret = ds_error(err, DS_EXIT_USAGE, errno, "%s: %s", file, strerror(errno));
	fclose(f);
	return ret;
}

/**
 * ds_args_known() - the option --known FILE
 *
 * Return: 0, or DS_ARGS_BAD after a message.
 */
error_t ds_args_known(struct argp_state *state, const char *file, struct ds_known_list *l)
{
	struct ds_err err;

	if (!ds_known_read(l, file, &err))
		return 0;
	ds_args_bad(state, "--known %s", err.text);
	return DS_ARGS_BAD;
}

/**
 * ds_known_reason() - is a violation of @invariant on this kernel a known issue?
 * @l:	may be NULL: nothing is known
 *
 * Return: the reason of the first line that says so, or NULL.
 */
const char *ds_known_reason(const struct ds_known_list *l, u32 invariant, const char *release)
{
	struct ds_release r;
	unsigned int i;

	ds_release_parse(release, &r);
	for (i = 0; l && i < l->nr; i++) {
		if (l->v[i].invariant == invariant && compare(&r, &l->v[i].from) >= 0 &&
		    compare(&r, &l->v[i].to) <= 0)
			return l->v[i].reason;
	}
	return NULL;
}
