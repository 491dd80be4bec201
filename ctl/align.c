// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs of actions that are brought together in time: what "--align" says, which of
 * the pairs this kernel has, the module's request for them, and its counters as rates.
 * It aligns nothing: the module does (kmod/align.c).
 */
#include <errno.h>
#include <string.h>

#include "align.h"
#include "opts.h"

#define NAME(sym, name, a, b, rare) [DS_PAIR_##sym] = name,
#define RARE(sym, name, a, b, rare) ((rare) ? BIT_OF(DS_PAIR_##sym) : 0) |
#define BIT_OF(id) (1U << ((id) - 1))

static const char * const names[__DS_PAIR_MAX] = { DS_PAIRS(NAME) };
static const u32 rare = DS_PAIRS(RARE) 0;

/**
 * ds_pair_name() - of enum drainstress_pair
 */
const char *ds_pair_name(u32 id)
{
	return id && id < __DS_PAIR_MAX ? names[id] : "?";
}

/**
 * ds_align_names() - what "--align" takes, for messages
 */
void ds_align_names(char *buf, size_t len)
{
	size_t n = snprintf(buf, len, DS_ALIGN_TAKES);
	u32 id;

	for (id = 1; id < __DS_PAIR_MAX && n < len; id++)
		n += snprintf(buf + n, len - n, "%s%s", id > 1 ? ", " : "", names[id]);
}

/* One word of the list.  Return: false when there is no such. */
static bool take_word(struct ds_align_opts *o, const char *word, size_t len)
{
	u32 id;

	if (len == 7 && !strncmp(word, "compare", len)) {
		o->mode = DS_ALIGN_COMPARE;
		return true;
	}
	for (id = 1; id < __DS_PAIR_MAX; id++) {
		if (strlen(names[id]) == len && !strncmp(names[id], word, len)) {
			o->named |= BIT_OF(id);
			return true;
		}
	}
	return false;
}

/**
 * ds_align_take() - the value of "--align"
 * @o: overwritten
 * @arg: on, off, or a list of compare and names of pairs
 *
 * Return: 0 or -EINVAL.
 */
int ds_align_take(struct ds_align_opts *o, const char *arg)
{
	const char *word = arg;
	size_t len;

	memset(o, 0, sizeof(*o));
	o->word = arg;
	o->mode = DS_ALIGN_ON;
	if (!strcmp(arg, "on"))
		return 0;
	if (!strcmp(arg, "off")) {
		o->mode = DS_ALIGN_OFF;
		return 0;
	}
	for (;; word += len + 1) {
		len = strcspn(word, ",");
		if (!take_word(o, word, len))
			return -EINVAL;
		if (!word[len])
			return 0;
	}
}

static const struct ds_item *find(const struct ds_msg *caps, u32 id)
{
	unsigned int i;

	for (i = 0; i < caps->nr_items; i++) {
		if (caps->items[i].class == DS_CLASS_PAIR && caps->items[i].id == id)
			return &caps->items[i];
	}
	return NULL;
}

/**
 * ds_align_wanted() - the pairs that a run races: asked for and available
 *
 * Return: mask of bit (id - 1).
 */
u32 ds_align_wanted(const struct ds_align_opts *o, const struct ds_msg *caps)
{
	u32 mask = o->named, id;

	if (o->mode == DS_ALIGN_OFF)
		return 0;
	if (!mask)
		mask = BIT_OF(__DS_PAIR_MAX) - 1;
	if (!o->named && o->mode == DS_ALIGN_ON)
		mask &= ~rare;
	for (id = 1; id < __DS_PAIR_MAX; id++) {
		const struct ds_item *item = find(caps, id);

		if (!item || !item->available)
			mask &= ~BIT_OF(id);
	}
	return mask;
}

/**
 * ds_align_settle() - are those that were named there?
 *
 * Return: 0, or -1 and @err.
 */
int ds_align_settle(const struct ds_align_opts *o, const struct ds_msg *caps, struct ds_err *err)
{
	u32 missing = o->named & ~ds_align_wanted(o, caps), id;
	const struct ds_item *item;

	for (id = 1; id < __DS_PAIR_MAX; id++) {
		if (!(missing & BIT_OF(id)))
			continue;
		item = find(caps, id);
		return ds_error(err, DS_EXIT_SKIP, 0, "--align %s: not here: %s", names[id],
				item ? item->reason :
				"the module does not know it: is it older than drainctl?");
	}
	return 0;
}

/**
 * ds_align_request() - as attributes of RACE_START
 * @args: room for DS_ALIGN_REQUEST
 *
 * Return: how many.
 */
unsigned int ds_align_request(const struct ds_align_opts *o, struct ds_arg *args)
{
	unsigned int n = 0;

	if (o->mode == DS_ALIGN_OFF)
		return 0;
	args[n++] = (struct ds_arg){ DS_A_ALIGN, DS_ARG_U8, o->mode, NULL };
	if (o->named)
		args[n++] = (struct ds_arg){ DS_A_PAIRS, DS_ARG_U64, o->named, NULL };
	return n;
}

/**
 * ds_align_result() - what GET_STATS says of a pair
 * @res: overwritten; all 0 when it says nothing
 */
void ds_align_result(const struct ds_msgs *stats, u32 id, struct ds_align_result *res)
{
	const struct ds_msg *m = NULL;
	char name[16];
	unsigned int i;

	memset(res, 0, sizeof(*res));
	for (i = 0; i < stats->nr && !m; i++) {
		if (!strcmp(stats->v[i].scope, "align") &&
		    !strcmp(stats->v[i].name, ds_pair_name(id)))
			m = &stats->v[i];
	}
	if (!m)
		return;
	res->rounds = ds_msg_counter(m, "rounds");
	res->missed = ds_msg_counter(m, "missed");
	res->failed = ds_msg_counter(m, "failed");
	res->overlaps = ds_msg_counter(m, "overlaps");
	res->outside = ds_msg_counter(m, "outside");
	for (i = 0; i < DS_ALIGN_BINS; i++) {
		snprintf(name, sizeof(name), "bin.%u", i);
		res->bins[i] = ds_msg_counter(m, name);
	}
	res->len_ns[0] = ds_msg_counter(m, "len_ns.a");
	res->len_ns[1] = ds_msg_counter(m, "len_ns.b");
	res->free_actions[0] = ds_msg_counter(m, "free.actions.a");
	res->free_actions[1] = ds_msg_counter(m, "free.actions.b");
	res->free_overlaps = ds_msg_counter(m, "free.overlaps");
	res->seconds = ds_msg_counter(m, "ns") / 1e9;
	res->free_seconds = ds_msg_counter(m, "free.ns") / 1e9;
	if (res->seconds > 0)
		res->overlaps_s = res->overlaps / res->seconds;
	if (res->free_seconds > 0)
		res->free_s = res->free_overlaps / res->free_seconds;
	if (res->free_s > 0)
		res->ratio = res->overlaps_s / res->free_s;
}
