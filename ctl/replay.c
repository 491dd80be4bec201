// SPDX-License-Identifier: GPL-2.0-only
/*
 * The replay file: read, checked, copied and written.  It is text: "key: value"
 * lines, which are options of drainctl run and facts about the failure, then a
 * section an actor with a decision a line: its index, and words for the reader.
 * Runs nothing and knows no run.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static const char *const kind_names[DS_NR_ACTOR_KINDS] = {
	[DS_ACTOR_RACE] = "race",
	[DS_ACTOR_FAR] = "race far",
	[DS_ACTOR_FLOOD] = "flood",
	[DS_ACTOR_MIX] = "mix",
};

/* Options that a file may have: those that say what is run, not how it is told. */
static const char *const options[] = {
	"seed", "threads", "memory", "preset", "mix", "method", "dir", "fs", "no-disk", "kinds",
	"drains", "cpus", "stutter", "no-race", "no-load", "no-accounting", "online-rate", "fault",
	"plant", "known", "require-fix",
};

static bool option_ok(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!strcmp(options[i], name))
			return true;
	}
	return false;
}

/**
 * ds_actor_name() - "race 2", "race far", "flood 5", "mix 12"
 */
const char *ds_actor_name(const struct ds_actor *a, char *buf, size_t len)
{
	if (a->kind == DS_ACTOR_FAR)
		snprintf(buf, len, "%s", kind_names[a->kind]);
	else
		snprintf(buf, len, "%s %u", kind_names[a->kind], a->number);
	return buf;
}

#define ACTOR_TAKES "takes [race N], [race far], [flood N] or [mix N]"

/* ---- read ---- */

struct reader {
	struct ds_replay *r;
	const char *file;
	unsigned int line;
	bool format;
	struct ds_err *err;
};

static int bad(struct reader *rd, const char *what, const char *word)
{
	return ds_error(rd->err, DS_EXIT_USAGE, EINVAL, "%s:%u: %s%s%.60s%s", rd->file, rd->line,
			what, word ? ": '" : "", word ? word : "", word ? "'" : "");
}

static int number(const char **s, u64 *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return -1;
	errno = 0;
	*out = strtoull(*s, &end, 10);
	*s = end;
	return errno ? -1 : 0;
}

static int take_key(struct reader *rd, char *line)
{
	struct ds_replay *r = rd->r;
	const struct {
		const char *key;
		const char **value;
	} facts[] = {
		{ "kernel", &r->kernel },
		{ "violation", &r->violation },
		{ "load_decisions", &r->load_decisions },
		{ "race_decisions", &r->race_decisions },
	};
	char *value = strstr(line, ": ");
	unsigned int i;

	if (!value)
		return bad(rd, "neither 'key: value' nor '[actor]'", line);
	*value = '\0';
	value += 2;
	if (!strcmp(line, "format")) {
		rd->format = true;
		return strcmp(value, "1") ? bad(rd, "a format that this drainctl does not know",
						value) : 0;
	}
	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		if (!strcmp(line, facts[i].key)) {
			*facts[i].value = value;
			return 0;
		}
	}
	if (!option_ok(line))
		return bad(rd, "no such key", line);
	if (r->nr_options == DS_JOB_OPTIONS)
		return bad(rd, "too many options", NULL);
	r->options[r->nr_options++] = (struct ds_job_option){ line, value, rd->line };
	return 0;
}

/* "race 2" and the like.  Return: 0, or -1 and the error. */
static int take_name(struct reader *rd, const char *name, struct ds_actor *a)
{
	const char *p;
	unsigned int i;
	u64 val;
	size_t n;

	a->kind = DS_ACTOR_FAR;
	if (!strcmp(name, kind_names[DS_ACTOR_FAR]))
		return 0;
	for (i = 0; i < DS_NR_ACTOR_KINDS; i++) {
		n = strlen(kind_names[i]);
		if (i != DS_ACTOR_FAR && !strncmp(name, kind_names[i], n) && name[n] == ' ')
			break;
	}
	if (i == DS_NR_ACTOR_KINDS)
		return bad(rd, ACTOR_TAKES, name);
	p = name + n + 1;
	if (number(&p, &val) || *p || val > 1U << 16)
		return bad(rd, "not the number of a CPU or a thread", name);
	a->kind = i;
	a->number = val;
	return 0;
}

static int take_actor(struct reader *rd, char *line)
{
	struct ds_actor a = { .number = 0 }, *v;
	struct ds_replay *r = rd->r;
	size_t len = strlen(line);
	unsigned int i;

	if (line[len - 1] != ']')
		return bad(rd, ACTOR_TAKES, line);
	line[len - 1] = '\0';
	line++;
	if (take_name(rd, line, &a))
		return -1;
	for (i = 0; i < r->nr_actors; i++) {
		if (r->actors[i].kind == a.kind && r->actors[i].number == a.number)
			return bad(rd, "an actor twice", line);
	}
	v = realloc(r->actors, (r->nr_actors + 1) * sizeof(*v));
	if (!v)
		return ds_error(rd->err, DS_EXIT_ERROR, ENOMEM, "%s: out of memory", rd->file);
	r->actors = v;
	v[r->nr_actors++] = a;
	return 0;
}

static int take_decision(struct reader *rd, const char *line)
{
	struct ds_actor *a = rd->r->nr_actors ? &rd->r->actors[rd->r->nr_actors - 1] : NULL;
	const char *p = line;
	u64 index;

	if (!a)
		return bad(rd, "a decision before the first [actor]", line);
	if (number(&p, &index) || (*p && *p != ' ') || index >> 48)
		return bad(rd, "takes the index of a decision, and words", line);
	if (a->nr == DS_DECISIONS)
		return bad(rd, "more than 4096 decisions of one actor", NULL);
	if (!a->index) {
		a->index = calloc(DS_DECISIONS, sizeof(*a->index));
		a->words = calloc(DS_DECISIONS, sizeof(*a->words));
	}
	if (!a->index || !a->words)
		return ds_error(rd->err, DS_EXIT_ERROR, ENOMEM, "%s: out of memory", rd->file);
	a->index[a->nr] = index;
	a->words[a->nr++] = *p ? p + 1 : "";
	return 0;
}

static int take_line(struct reader *rd, char *line)
{
	size_t len = strlen(line);

	while (len && isspace((unsigned char)line[len - 1]))
		line[--len] = '\0';
	if (!len || *line == '#')
		return 0;
	if (*line == '[')
		return take_actor(rd, line);
	if (rd->r->nr_actors || isdigit((unsigned char)*line))
		return take_decision(rd, line);
	return take_key(rd, line);
}

static int read_all(struct reader *rd)
{
	FILE *f = fopen(rd->file, "re");
	size_t room = 1 << 16, len = 0, n;
	char *text = NULL, *more;

	if (!f)
		return ds_error(rd->err, DS_EXIT_USAGE, errno, "%s: %s", rd->file,
				strerror(errno));
	do {
		room *= 2;
		more = realloc(text, room + 1);
		if (!more)
			break;
		text = more;
		n = fread(text + len, 1, room - len, f);
		len += n;
	} while (n && len == room);
	rd->r->text = text;
	if (!more || ferror(f)) {
		ds_error(rd->err, DS_EXIT_ERROR, errno, "%s: %s", rd->file, strerror(errno));
		fclose(f);
		return -1;
	}
	fclose(f);
	text[len] = '\0';
	if (strlen(text) != len)
		return ds_error(rd->err, DS_EXIT_USAGE, EINVAL, "%s:1: not a text file", rd->file);
	return 0;
}

/**
 * ds_replay_read() - a file into @r, to be freed also after an error
 *
 * Return: 0, or -1 and @err, which names FILE:LINE for a bad one.
 */
int ds_replay_read(struct ds_replay *r, const char *file, struct ds_err *err)
{
	struct reader rd = { .r = r, .file = file, .err = err };
	char *line, *next;
	unsigned int i;

	memset(r, 0, sizeof(*r));
	if (read_all(&rd))
		return -1;
	for (line = r->text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		rd.line++;
		if (take_line(&rd, line))
			return -1;
	}
	if (!rd.format)
		return bad(&rd, "no 'format: 1': not a replay file", NULL);
	for (i = 0; i < r->nr_options && strcmp(r->options[i].key, "seed"); i++)
		;
	if (i == r->nr_options)
		return bad(&rd, "no 'seed: N'", NULL);
	if (!ds_replay_lines(r))
		return bad(&rd, "no decision in it", NULL);
	return 0;
}

/* ---- write, copy, free ---- */

static void put(FILE *f, const char *key, const char *value)
{
	if (value)
		fprintf(f, "%s: %s\n", key, value);
}

/**
 * ds_replay_write() - as a file
 *
 * Return: 0 or -errno.
 */
int ds_replay_write(const struct ds_replay *r, const char *file)
{
	FILE *f = fopen(file, "we");
	char name[32];
	unsigned int i, k;
	int failed;

	if (!f)
		return -errno;
	fprintf(f, "format: %d\n", DS_REPLAY_FORMAT);
	put(f, "kernel", r->kernel);
	put(f, "violation", r->violation);
	put(f, "load_decisions", r->load_decisions);
	put(f, "race_decisions", r->race_decisions);
	for (i = 0; i < r->nr_options; i++)
		put(f, r->options[i].key, r->options[i].value);
	for (i = 0; i < r->nr_actors; i++) {
		const struct ds_actor *a = &r->actors[i];

		if (!a->nr)
			continue;
		fprintf(f, "[%s]\n", ds_actor_name(a, name, sizeof(name)));
		for (k = 0; k < a->nr; k++)
			fprintf(f, "%llu%s%s\n", a->index[k], a->words[k][0] ? " " : "",
				a->words[k]);
	}
	failed = ferror(f);
	if (fclose(f) || failed)
		return errno ? -errno : -EIO;
	return 0;
}

/**
 * ds_replay_copy() - a copy that can be made shorter; strings stay @from's
 *
 * Return: 0 or -ENOMEM; @to is to be freed either way.
 */
int ds_replay_copy(struct ds_replay *to, const struct ds_replay *from)
{
	unsigned int i;

	*to = *from;
	to->text = NULL;
	to->actors = calloc(from->nr_actors + 1, sizeof(*to->actors));
	to->nr_actors = 0;
	if (!to->actors)
		return -ENOMEM;
	for (i = 0; i < from->nr_actors; i++) {
		struct ds_actor *a = &to->actors[to->nr_actors++];

		*a = from->actors[i];
		a->index = malloc((a->nr + 1) * sizeof(*a->index));
		a->words = malloc((a->nr + 1) * sizeof(*a->words));
		if (!a->index || !a->words)
			return -ENOMEM;
		if (!a->nr)
			continue;
		memcpy(a->index, from->actors[i].index, a->nr * sizeof(*a->index));
		memcpy(a->words, from->actors[i].words, a->nr * sizeof(*a->words));
	}
	return 0;
}

/**
 * ds_replay_free() - free what the others took
 */
void ds_replay_free(struct ds_replay *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_actors; i++) {
		free(r->actors[i].index);
		free(r->actors[i].words);
	}
	free(r->actors);
	free(r->text);
	memset(r, 0, sizeof(*r));
}

/* ---- questions ---- */

/**
 * ds_replay_lines() - decisions in it
 */
u64 ds_replay_lines(const struct ds_replay *r)
{
	unsigned int i;
	u64 n = 0;

	for (i = 0; i < r->nr_actors; i++)
		n += r->actors[i].nr;
	return n;
}

/**
 * ds_replay_has() - is there something to do for the load, or for the race?
 */
bool ds_replay_has(const struct ds_replay *r, bool load)
{
	unsigned int i;

	for (i = 0; i < r->nr_actors; i++) {
		if (r->actors[i].nr && ds_actor_loads(&r->actors[i]) == load)
			return true;
	}
	return false;
}

/**
 * ds_replay_pack() - decisions of @a as DS_SC_STEPS
 * @steps: room for a->nr
 *
 * Return: how many.
 */
unsigned int ds_replay_pack(const struct ds_actor *a, u64 *steps)
{
	unsigned int i, n = 0, more;

	for (i = 0; i < a->nr; i += more + 1) {
		for (more = 0; i + more + 1 < a->nr &&
		     a->index[i + more + 1] == a->index[i] + more + 1; more++)
			;
		steps[n++] = a->index[i] * DS_SCRIPT_RUN + more;
	}
	return n;
}

/**
 * ds_replay_load_scripts() - by thread, for ds_load_start()
 *
 * Return: to be freed, pointing into @r; NULL without memory.
 */
struct ds_load_script *ds_replay_load_scripts(const struct ds_replay *r, unsigned int threads)
{
	struct ds_load_script *v = calloc(threads + 1, sizeof(*v));
	unsigned int i;

	for (i = 0; v && i < r->nr_actors; i++) {
		const struct ds_actor *a = &r->actors[i];

		if (a->kind < DS_ACTOR_FLOOD || a->number >= threads)
			continue;
		v[a->number].steps.nr = a->nr;
		v[a->number].steps.index = a->index;
		v[a->number].mix = a->kind == DS_ACTOR_MIX;
	}
	return v;
}
