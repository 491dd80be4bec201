// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the module counts while sparsetruncate removes files: drains per usage,
 * releases, flushes, and injected faults.  Its counters run on, so two readings are
 * taken and subtracted.  It asks for nothing to be done.
 */
#include <string.h>

#include "opts.h"
#include "sparse_cmd.h"

const char *const ds_sparse_flush_names[DS_NR_FLUSHES] = { "full", "early", "drain" };

static void take_usage(struct ds_sparse_usage *u, const struct ds_msg *m)
{
	char name[32];
	unsigned int i;

	snprintf(u->name, sizeof(u->name), "%s", m->name);
	u->usages = ds_msg_counter(m, "usages");
	u->releases = ds_msg_counter(m, "releases");
	u->drains = ds_msg_counter(m, "drains");
	u->max = ds_msg_counter(m, "max");
	for (i = 0; i < DS_SPARSE_BUCKETS; i++) {
		snprintf(name, sizeof(name), "drains.%u%s", i,
			 i == DS_SPARSE_BUCKETS - 1 ? "+" : "");
		u->hist[i] = ds_msg_counter(m, name);
	}
}

static void take_flushes(struct ds_sparse_counts *c, const struct ds_msg *m)
{
	char name[64];
	unsigned int why;
	u32 kind;

	for (why = 0; why < DS_NR_FLUSHES; why++) {
		for (kind = 1; kind <= DS_NR_BATCH_KINDS; kind++) {
			snprintf(name, sizeof(name), "flush.%s.%s", ds_sparse_flush_names[why],
				 ds_kind_name(kind));
			c->flush[why][kind] += ds_msg_counter(m, name);
		}
	}
}

static void take_fault(struct ds_sparse_counts *c, const struct ds_msg *m)
{
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		if (strcmp(m->name, ds_fault_rows[id].name))
			continue;
		c->fault_hits[id] = ds_msg_counter(m, "hits");
		c->fault_done[id] = ds_msg_counter(m, "done");
		c->fault_ns[id] = ds_msg_counter(m, "ns");
	}
}

/**
 * ds_sparse_counts_take() - one reading, from the module's answers
 */
void ds_sparse_counts_take(struct ds_sparse_counts *c, const struct ds_msgs *stats,
			   const struct ds_msgs *usage)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	c->known = true;
	for (i = 0; i < stats->nr; i++) {
		const struct ds_msg *m = &stats->v[i];

		if (!strcmp(m->scope, "cpu"))
			take_flushes(c, m);
		else if (!strcmp(m->scope, "probe"))
			c->missed += ds_msg_counter(m, "missed");
		else if (!strcmp(m->scope, "fault"))
			take_fault(c, m);
	}
	for (i = 0; i < usage->nr && c->nr < DS_SPARSE_USAGES; i++)
		take_usage(&c->usage[c->nr++], &usage->v[i]);
}

/**
 * ds_sparse_counts_read() - ask the module
 *
 * Return: 0, or -1 and @err.
 */
int ds_sparse_counts_read(struct ds_nl *nl, struct ds_sparse_counts *c, struct ds_err *err)
{
	struct ds_msgs stats = { .nr = 0 }, usage = { .nr = 0 };
	int ret = -1;

	if (!ds_nl_dump(nl, DS_CMD_GET_STATS, &stats, err) &&
	    !ds_nl_dump(nl, DS_CMD_GET_USAGE, &usage, err)) {
		ds_sparse_counts_take(c, &stats, &usage);
		ret = 0;
	}
	ds_msgs_free(&stats);
	ds_msgs_free(&usage);
	return ret;
}

/* The most drains is no sum: it follows from the histogram, up to its last place. */
static void usage_since(struct ds_sparse_usage *now, const struct ds_sparse_usage *before)
{
	unsigned int i;
	u64 most = 0;

	now->usages -= before->usages;
	now->releases -= before->releases;
	now->drains -= before->drains;
	for (i = 0; i < DS_SPARSE_BUCKETS; i++) {
		now->hist[i] -= before->hist[i];
		if (now->hist[i])
			most = i;
	}
	if (most < DS_SPARSE_BUCKETS - 1)
		now->max = most;
}

/**
 * ds_sparse_counts_since() - @now becomes what was counted since @before
 */
void ds_sparse_counts_since(struct ds_sparse_counts *now, const struct ds_sparse_counts *before)
{
	unsigned int i;
	u32 kind;

	for (i = 0; i < now->nr && i < before->nr; i++)
		usage_since(&now->usage[i], &before->usage[i]);
	for (i = 0; i < DS_NR_FLUSHES; i++) {
		for (kind = 1; kind <= DS_NR_BATCH_KINDS; kind++)
			now->flush[i][kind] -= before->flush[i][kind];
	}
	for (i = 1; i < DS_FAULTS_END; i++) {
		now->fault_hits[i] -= before->fault_hits[i];
		now->fault_done[i] -= before->fault_done[i];
		now->fault_ns[i] -= before->fault_ns[i];
	}
	now->missed -= before->missed;
}

static void usage_add(struct ds_sparse_usage *sum, const struct ds_sparse_usage *u)
{
	unsigned int i;

	snprintf(sum->name, sizeof(sum->name), "%s", u->name);
	sum->usages += u->usages;
	sum->releases += u->releases;
	sum->drains += u->drains;
	if (u->max > sum->max)
		sum->max = u->max;
	for (i = 0; i < DS_SPARSE_BUCKETS; i++)
		sum->hist[i] += u->hist[i];
}

/**
 * ds_sparse_counts_add() - what was counted in one iteration, to the sum
 */
void ds_sparse_counts_add(struct ds_sparse_counts *sum, const struct ds_sparse_counts *c)
{
	unsigned int i;
	u32 kind;

	sum->known = true;
	for (i = 0; i < c->nr; i++)
		usage_add(&sum->usage[i], &c->usage[i]);
	sum->nr = c->nr;
	for (i = 0; i < DS_NR_FLUSHES; i++) {
		for (kind = 1; kind <= DS_NR_BATCH_KINDS; kind++)
			sum->flush[i][kind] += c->flush[i][kind];
	}
	for (i = 1; i < DS_FAULTS_END; i++) {
		sum->fault_hits[i] += c->fault_hits[i];
		sum->fault_done[i] += c->fault_done[i];
		sum->fault_ns[i] += c->fault_ns[i];
	}
	sum->missed += c->missed;
}

/**
 * ds_sparse_usage_sum() - of all entry points
 */
struct ds_sparse_usage ds_sparse_usage_sum(const struct ds_sparse_counts *c)
{
	struct ds_sparse_usage sum = { .usages = 0 };
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		usage_add(&sum, &c->usage[i]);
	return sum;
}

/**
 * ds_sparse_flushes() - of all kinds of batches
 */
u64 ds_sparse_flushes(const struct ds_sparse_counts *c, enum ds_sparse_flush why)
{
	u64 sum = 0;
	u32 kind;

	for (kind = 1; kind <= DS_NR_BATCH_KINDS; kind++)
		sum += c->flush[why][kind];
	return sum;
}
