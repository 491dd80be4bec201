// SPDX-License-Identifier: GPL-2.0-only
/*
 * A replay file made shorter: fewer faults, fewer actors, then fewer decisions of
 * each, the last part of all and then ever smaller parts (delta debugging, Zeller and Hildebrandt
 * 2002).  Whether a candidate still fails is the caller's to find out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static bool over(const struct ds_shrink *s)
{
	return s->over && s->over(s->arg);
}

/* Takes the candidate over when it fails; frees the one that is not kept. */
static bool try(struct ds_shrink *s, struct ds_replay *r, struct ds_replay *c)
{
	char *text = r->text;

	if (ds_replay_lines(c) && !over(s)) {
		s->candidates++;
		if (s->fails(s->arg, c)) {
			r->text = NULL;
			ds_replay_free(r);
			*r = *c;
			r->text = text;
			if (s->said)
				s->said(s->arg, r);
			return true;
		}
	}
	ds_replay_free(c);
	return false;
}

static void cut(struct ds_actor *a, u32 from, u32 nr)
{
	memmove(a->index + from, a->index + from + nr, (a->nr - from - nr) * sizeof(*a->index));
	memmove(a->words + from, a->words + from + nr, (a->nr - from - nr) * sizeof(*a->words));
	a->nr -= nr;
}

static int copy(struct ds_replay *to, const struct ds_replay *from)
{
	int ret = ds_replay_copy(to, from);

	if (ret)
		ds_replay_free(to);
	return ret;
}

/* Without all faults, or else without one after the other. */
static int fewer_faults(struct ds_shrink *s, struct ds_replay *r)
{
	struct ds_replay c;
	unsigned int i, k, n;

	for (i = 0; i < r->nr_options; i++) {
		if (!strcmp(r->options[i].key, "fault") && !strcmp(r->options[i].value, "none"))
			return 0;
	}
	if (copy(&c, r))
		return -ENOMEM;
	for (i = 0, n = 0; i < c.nr_options; i++) {
		if (strcmp(c.options[i].key, "fault"))
			c.options[n++] = c.options[i];
	}
	c.nr_options = n;
	if (n < DS_JOB_OPTIONS)
		c.options[c.nr_options++] = (struct ds_job_option){ "fault", "none", 0 };
	if (try(s, r, &c))
		return 0;
	for (i = 0; i < r->nr_options && !over(s); ) {
		if (strcmp(r->options[i].key, "fault")) {
			i++;
			continue;
		}
		if (copy(&c, r))
			return -ENOMEM;
		for (k = i; k + 1 < c.nr_options; k++)
			c.options[k] = c.options[k + 1];
		c.nr_options--;
		if (!try(s, r, &c))
			i++;
	}
	return 0;
}

/* Without the load, or without the race. */
static int one_part(struct ds_shrink *s, struct ds_replay *r)
{
	struct ds_replay c;
	unsigned int i, load;

	for (load = 2; load-- > 0; ) {
		if (!ds_replay_has(r, load) || !ds_replay_has(r, !load))
			continue;
		if (copy(&c, r))
			return -ENOMEM;
		for (i = 0; i < c.nr_actors; i++) {
			if (ds_actor_loads(&c.actors[i]) == load)
				c.actors[i].nr = 0;
		}
		try(s, r, &c);
	}
	return 0;
}

/* Without one actor after the other. */
static int fewer_actors(struct ds_shrink *s, struct ds_replay *r)
{
	struct ds_replay c;
	unsigned int i;

	for (i = 0; i < r->nr_actors && !over(s); i++) {
		if (!r->actors[i].nr)
			continue;
		if (copy(&c, r))
			return -ENOMEM;
		c.actors[i].nr = 0;
		try(s, r, &c);
	}
	return 0;
}

/* Leaves one part of @parts of each actor's decisions.  Return: false: none was longer. */
static bool keep(struct ds_replay *c, u32 parts, bool first)
{
	bool changed = false;
	unsigned int i;

	for (i = 0; i < c->nr_actors; i++) {
		struct ds_actor *a = &c->actors[i];
		u32 left = (a->nr + parts - 1) / parts;

		if (left == a->nr)
			continue;
		cut(a, first ? left : 0, a->nr - left);
		changed = true;
	}
	return changed;
}

/*
 * What comes last of each actor's decisions is the likeliest: a sixteenth of them,
 * a quarter, a half, each again and again; or the first half.
 */
static int parts(struct ds_shrink *s, struct ds_replay *r)
{
	static const struct {
		u32 parts;
		bool first;
	} ways[] = { { 16, false }, { 4, false }, { 2, false }, { 2, true } };
	struct ds_replay c;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways) && !over(s); ) {
		if (copy(&c, r))
			return -ENOMEM;
		if (!keep(&c, ways[i].parts, ways[i].first)) {
			ds_replay_free(&c);
			return 0;
		}
		if (!try(s, r, &c))
			i++;
	}
	return 0;
}

/* One actor: without ever smaller parts of what it does. */
static int fewer_decisions(struct ds_shrink *s, struct ds_replay *r, unsigned int i)
{
	struct ds_replay c;
	u32 part, at;

	for (part = r->actors[i].nr / 2; part && !over(s); part /= 2) {
		for (at = 0; at < r->actors[i].nr && !over(s); ) {
			u32 left = r->actors[i].nr - at;

			if (copy(&c, r))
				return -ENOMEM;
			cut(&c.actors[i], at, part < left ? part : left);
			if (!try(s, r, &c))
				at += part;
		}
	}
	return 0;
}

/**
 * ds_replay_shrink() - the shortest that still fails
 * @r: one that fails; replaced by shorter ones
 *
 * Return: 0 or -ENOMEM, when @r is the shortest by then.
 */
int ds_replay_shrink(struct ds_shrink *s, struct ds_replay *r)
{
	unsigned int i;
	u64 lines;

	if (fewer_faults(s, r) || one_part(s, r) || parts(s, r) || fewer_actors(s, r))
		return -ENOMEM;
	do {
		lines = ds_replay_lines(r);
		for (i = 0; i < r->nr_actors; i++) {
			if (fewer_decisions(s, r, i))
				return -ENOMEM;
		}
	} while (ds_replay_lines(r) < lines && !over(s));
	return 0;
}
