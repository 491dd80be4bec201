// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latency histograms: merges those of the load's threads and what the module sends,
 * and finds percentiles.  The buckets stand in drainstress_hist.h; who times what is
 * in stress/ and kmod/latency.c, who prints it in output_*.c.
 */
#include <string.h>

#include "latency.h"

const struct ds_latency_rank ds_latency_ranks[DS_NR_RANKS] = {
	{ "p50", 5000 },
	{ "p90", 9000 },
	{ "p99", 9900 },
	{ "p99.9", 9990 },
};

/**
 * ds_latency_name() - as the module and the reports call it
 */
const char *ds_latency_name(enum ds_latency_id id)
{
	static const char * const names[] = {
		[DS_LATENCY_TRUNCATE] = "truncate",
		[DS_LATENCY_DRAIN] = "drain",
		[DS_LATENCY_DRAIN_ALL] = "drain-all",
		[DS_LATENCY_PAUSE] = "check-pause",
	};

	return names[id];
}

static void longest(struct ds_latency *l, u64 max)
{
	if (max > l->max)
		l->max = max;
}

/**
 * ds_latency_add() - add what one thread has counted
 */
void ds_latency_add(struct ds_latency *l, const struct drainstress_hist *h)
{
	u32 i;

	l->taken += ds_get(&h->count);
	longest(l, ds_get(&h->max));
	for (i = 0; i < DS_HIST_BUCKETS; i++)
		l->bucket[i] += ds_get(&h->bucket[i]);
}

/**
 * ds_latency_merge() - add another histogram
 */
void ds_latency_merge(struct ds_latency *l, const struct ds_latency *other)
{
	u32 i;

	l->taken += other->taken;
	longest(l, other->max);
	for (i = 0; i < DS_HIST_BUCKETS; i++)
		l->bucket[i] += other->bucket[i];
}

/**
 * ds_latency_take() - add the histogram @name of GET_STATS
 *
 * It comes in several messages, the first of which says how many values there are.
 */
void ds_latency_take(struct ds_latency *l, const struct ds_msgs *stats, const char *name)
{
	unsigned int i, k;

	for (i = 0; i < stats->nr; i++) {
		const struct ds_msg *m = &stats->v[i];

		if (strcmp(m->scope, "latency") || strcmp(m->name, name))
			continue;
		l->taken += ds_msg_counter(m, "count");
		longest(l, ds_msg_counter(m, "max_ns"));
		for (k = 0; k < m->nr_buckets; k++)
			l->bucket[ds_hist_index(m->buckets[k].lower_ns)] += m->buckets[k].count;
	}
}

/**
 * ds_latency_at() - a percentile
 * @count:    values in the buckets
 * @of_10000: 9990 for p99.9
 *
 * That of the nearest rank: the least value that so many are not above.
 *
 * Return: the lower bound of its bucket, ns: the value or less than 1 % below it; 0
 * when there are no values.
 */
u64 ds_latency_at(const struct ds_latency *l, u64 count, u32 of_10000)
{
	/* no product of 64 bits overflows: the whole part and the rest apart */
	u64 rank = count / 10000 * of_10000 + (count % 10000 * of_10000 + 9999) / 10000;
	u64 seen = 0;
	u32 i;

	if (!rank)
		rank = 1;
	for (i = 0; i < DS_HIST_BUCKETS; i++) {
		seen += l->bucket[i];
		if (seen >= rank)
			return ds_hist_lower(i);
	}
	return 0;
}

/**
 * ds_latency_sum() - the numbers that are printed
 */
void ds_latency_sum(const struct ds_latency *l, struct ds_latency_sum *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < DS_HIST_BUCKETS; i++)
		s->count += l->bucket[i];
	if (l->taken > s->count)
		s->missing = l->taken - s->count;
	s->overflow = l->bucket[DS_HIST_OVERFLOW];
	if (!s->count)
		return;
	for (i = 0; i < DS_NR_RANKS; i++)
		s->at[i] = ds_latency_at(l, s->count, ds_latency_ranks[i].of_10000);
	s->max = l->max;
}
