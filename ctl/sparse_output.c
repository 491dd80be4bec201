// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "drainctl sparsetruncate" has found out: the file of samples, which
 * "drainctl compare" reads, the summary, and JSON.  It compares nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "opts.h"
#include "sparse_cmd.h"

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static double place(const u64 *sorted, u64 n, unsigned int percent)
{
	u64 k = n * percent / 100;

	return sorted[k ? k - 1 : 0] / 1000.0;
}

/**
 * ds_sparse_summarise() - median and tail
 *
 * All of it is 0 when there are no samples, or no memory to sort them.
 */
void ds_sparse_summarise(const u64 *ns, u64 n, struct ds_sparse_summary *s)
{
	u64 *sorted = n ? malloc(n * sizeof(*sorted)) : NULL, i;
	double sum = 0;

	memset(s, 0, sizeof(*s));
	if (!sorted)
		return;
	memcpy(sorted, ns, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (i = 0; i < n; i++)
		sum += sorted[i] / 1000.0;
	s->n = n;
	s->min = sorted[0] / 1000.0;
	s->p50 = place(sorted, n, 50);
	s->p90 = place(sorted, n, 90);
	s->p99 = place(sorted, n, 99);
	s->max = sorted[n - 1] / 1000.0;
	s->mean = sum / n;
	free(sorted);
}

/* "truncate=prob:1/64,us:5-50", or "none". */
static void faults_text(const struct ds_fault_opts *f, char *buf, size_t len)
{
	char args[64];
	size_t n;
	u32 id;

	n = snprintf(buf, len, "%s", f->wanted ? "" : "none");
	for (id = 1; id < DS_FAULTS_END && n < len; id++) {
		if (!(f->wanted & DS_FAULT_BIT(id)))
			continue;
		ds_fault_args_text(&f->args[id], args, sizeof(args));
		n += snprintf(buf + n, len - n, "%s%s=%s", n ? " " : "", ds_fault_rows[id].name,
			      args);
	}
}

/**
 * ds_sparse_put_header() - the lines that a file of samples begins with
 *
 * Return: 0, or -1 when they cannot be written.
 */
int ds_sparse_put_header(FILE *f, const struct ds_sparse_result *r)
{
	char order[16], faults[512];

	ds_sparse_order_text(r->o->order, order, sizeof(order));
	faults_text(&r->o->faults, faults, sizeof(faults));
	fprintf(f, "# Microseconds of each removal, by drainctl sparsetruncate.\n");
	fprintf(f, "# kernel: %s\n# fs: %s\n# order: %s\n# method: %s\n", r->kernel, r->fs, order,
		r->o->method->name);
	fprintf(f, "# cpus: %u\n# seed: %llu\n# dirs: %u\n# files: %u\n# size: %llu\n", r->cpus,
		r->o->seed, r->o->dirs, r->nr, r->o->size);
	fprintf(f, "# iterations: %u\n# boot: %s\n# date: %s\n# faults: %s\n", r->o->iterations,
		r->boot, r->date, faults);
	return fflush(f) || ferror(f) ? -1 : 0;
}

/* What the module counted, as comments. */
static void put_counts(FILE *f, const struct ds_sparse_counts *c)
{
	struct ds_sparse_usage sum = ds_sparse_usage_sum(c);
	unsigned int i;
	u32 id;

	if (!c->known) {
		fprintf(f, "# counts: none: %s\n", c->why);
		return;
	}
	fprintf(f, "# usages: %llu\n# releases: %llu\n# drains: %llu\n", sum.usages, sum.releases,
		sum.drains);
	fprintf(f, "# drains_per_usage_max: %llu\n", sum.max);
	for (i = 0; i < DS_NR_FLUSHES; i++)
		fprintf(f, "# flushes_%s: %llu\n", ds_sparse_flush_names[i],
			ds_sparse_flushes(c, i));
	fprintf(f, "# missed_probes: %llu\n", c->missed);
	for (id = 1; id < DS_FAULTS_END; id++) {
		if (c->fault_hits[id])
			fprintf(f, "# fault_%s: %llu hits, %llu done, %llu ns\n",
				ds_fault_rows[id].name, c->fault_hits[id], c->fault_done[id],
				c->fault_ns[id]);
	}
}

/**
 * ds_sparse_put_iteration() - the samples of one iteration, and what was counted
 * @number: from 1
 *
 * Return: 0, or -1 when they cannot be written.
 */
int ds_sparse_put_iteration(FILE *f, const struct ds_sparse_result *r, u32 number,
			    const struct ds_sparse_counts *c)
{
	const u64 *ns = r->ns + (u64)(number - 1) * r->nr;
	char folios[256];
	u32 i;

	ds_sparse_folios_text(&r->folios, folios, sizeof(folios));
	fprintf(f, "# iteration: %u\n# folios: %s\n", number, folios);
	put_counts(f, c);
	for (i = 0; i < r->nr; i++)
		fprintf(f, "%llu.%03llu\n", ns[i] / 1000, ns[i] % 1000);
	return fflush(f) || ferror(f) ? -1 : 0;
}

static double per_usage(const struct ds_sparse_usage *u)
{
	return u->usages ? (double)u->drains / u->usages : 0;
}

static void print_usage(const struct ds_sparse_counts *c)
{
	unsigned int i, k;

	printf("%-34s %8s %9s %10s %8s %8s %8s %8s %5s\n", "drains per batch usage:", "usages",
	       "releases", "0", "1", "2", "3", "4+", "max");
	for (i = 0; i < c->nr; i++) {
		const struct ds_sparse_usage *u = &c->usage[i];

		if (!u->usages)
			continue;
		printf("  %-32s %8llu %9llu %10llu", u->name, u->usages, u->releases, u->hist[0]);
		for (k = 1; k < DS_SPARSE_BUCKETS; k++)
			printf(" %8llu", u->hist[k]);
		printf(" %5llu\n", u->max);
	}
}

static void print_flushes(const struct ds_sparse_counts *c)
{
	u32 kind;

	printf("%-34s %8s %9s %10s\n", "batches moved, of all the machine:", "full", "early",
	       "by drains");
	for (kind = 1; kind <= DS_NR_BATCH_KINDS; kind++) {
		if (c->flush[DS_FLUSH_FULL][kind] || c->flush[DS_FLUSH_EARLY][kind] ||
		    c->flush[DS_FLUSH_DRAIN][kind])
			printf("  %-32s %8llu %9llu %10llu\n", ds_kind_name(kind),
			       c->flush[DS_FLUSH_FULL][kind], c->flush[DS_FLUSH_EARLY][kind],
			       c->flush[DS_FLUSH_DRAIN][kind]);
	}
	if (c->missed)
		printf("  probes missed %llu hits: these counts are lower bounds\n", c->missed);
}

static void print_faults(const struct ds_sparse_result *r)
{
	const struct ds_sparse_counts *c = &r->counts;
	u64 files = (u64)r->done * r->nr;
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		if (r->o->faults.wanted & DS_FAULT_BIT(id))
			printf("fault %s: %llu hits, %llu done, %.3f us a file\n",
			       ds_fault_rows[id].name, c->fault_hits[id], c->fault_done[id],
			       files ? c->fault_ns[id] / 1000.0 / files : 0);
	}
}

static void print_keys(const struct ds_sparse_result *r)
{
	struct ds_sparse_usage sum = ds_sparse_usage_sum(&r->counts);
	struct ds_sparse_summary s;
	unsigned int i;

	ds_sparse_summarise(r->ns, (u64)r->done * r->nr, &s);
	printf("kernel: %s\nfs: %s\nmethod: %s\n", r->kernel, r->fs, r->o->method->name);
	printf("samples: %llu\nmin_us: %.3f\np50_us: %.3f\np90_us: %.3f\n", s.n, s.min, s.p50,
	       s.p90);
	printf("p99_us: %.3f\nmax_us: %.3f\nmean_us: %.3f\n", s.p99, s.max, s.mean);
	if (!r->counts.known) {
		printf("counts: none: %s\n", r->counts.why);
		return;
	}
	printf("batch_usages: %llu\nreleases: %llu\ndrains: %llu\n", sum.usages, sum.releases,
	       sum.drains);
	printf("drains_per_usage: %.4f\ndrains_per_usage_max: %llu\n", per_usage(&sum), sum.max);
	for (i = 0; i < DS_NR_FLUSHES; i++)
		printf("flushes_%s: %llu\n", ds_sparse_flush_names[i],
		       ds_sparse_flushes(&r->counts, i));
}

static void print_iterations(const struct ds_sparse_result *r)
{
	struct ds_sparse_summary s;
	u32 i;

	printf("%-10s %8s %10s %10s %10s %10s %10s\n", "iteration", "samples", "min", "p50", "p90",
	       "p99", "max us");
	for (i = 0; i < r->done; i++) {
		ds_sparse_summarise(r->ns + (u64)i * r->nr, r->nr, &s);
		printf("%-10u %8llu %10.3f %10.3f %10.3f %10.3f %10.3f\n", i + 1, s.n, s.min,
		       s.p50, s.p90, s.p99, s.max);
	}
}

/**
 * ds_sparse_print() - the summary, on standard output
 */
void ds_sparse_print(const struct ds_sparse_result *r)
{
	char order[16], folios[256];

	ds_sparse_order_text(r->o->order, order, sizeof(order));
	ds_sparse_folios_text(&r->folios, folios, sizeof(folios));
	printf("sparsetruncate: %u files of %llu KiB in %u directories on %s, %s, order %s\n",
	       r->nr, r->o->size >> 10, r->o->dirs, r->where, r->o->method->name, order);
	printf("page cache: %llu pages, all there before the removal; Cached grew by %lld KiB\n",
	       r->pages, r->cached_kib);
	if (r->folios_why[0])
		printf("folios: unknown: %s\n", r->folios_why);
	else
		printf("folios: %s, in a file like these\n", folios);
	if (r->reclaimed)
		printf("note: the machine reclaimed %llu pages meanwhile, perhaps some of them\n",
		       r->reclaimed);
	print_iterations(r);
	if (r->counts.known) {
		print_usage(&r->counts);
		print_flushes(&r->counts);
		print_faults(r);
	}
	print_keys(r);
}

/* ---- JSON ---- */

static void set_u64(json_t *o, const char *key, u64 value)
{
	json_object_set_new(o, key, json_integer(value));
}

static void set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text));
}

static json_t *json_summary(const u64 *ns, u64 n)
{
	struct ds_sparse_summary s;
	json_t *o = json_object();

	ds_sparse_summarise(ns, n, &s);
	set_u64(o, "n", s.n);
	json_object_set_new(o, "min_us", json_real(s.min));
	json_object_set_new(o, "p50_us", json_real(s.p50));
	json_object_set_new(o, "p90_us", json_real(s.p90));
	json_object_set_new(o, "p99_us", json_real(s.p99));
	json_object_set_new(o, "max_us", json_real(s.max));
	json_object_set_new(o, "mean_us", json_real(s.mean));
	return o;
}

static json_t *json_usage(const struct ds_sparse_usage *u)
{
	json_t *o = json_object(), *hist = json_array();
	unsigned int i;

	set_u64(o, "usages", u->usages);
	set_u64(o, "releases", u->releases);
	set_u64(o, "drains", u->drains);
	set_u64(o, "max", u->max);
	json_object_set_new(o, "drains_per_usage", json_real(per_usage(u)));
	for (i = 0; i < DS_SPARSE_BUCKETS; i++)
		json_array_append_new(hist, json_integer(u->hist[i]));
	json_object_set_new(o, "histogram", hist);
	return o;
}

static json_t *json_flushes(const struct ds_sparse_counts *c)
{
	json_t *all = json_object(), *o;
	unsigned int i;
	u32 kind;

	for (i = 0; i < DS_NR_FLUSHES; i++) {
		o = json_object();
		for (kind = 1; kind <= DS_NR_BATCH_KINDS; kind++)
			set_u64(o, ds_kind_name(kind), c->flush[i][kind]);
		set_u64(o, "all", ds_sparse_flushes(c, i));
		json_object_set_new(all, ds_sparse_flush_names[i], o);
	}
	return all;
}

static json_t *json_faults(const struct ds_sparse_result *r)
{
	json_t *all = json_object(), *o;
	char args[64];
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		if (!(r->o->faults.wanted & DS_FAULT_BIT(id)))
			continue;
		ds_fault_args_text(&r->o->faults.args[id], args, sizeof(args));
		o = json_object();
		set_text(o, "arguments", args);
		set_u64(o, "hits", r->counts.fault_hits[id]);
		set_u64(o, "done", r->counts.fault_done[id]);
		set_u64(o, "ns", r->counts.fault_ns[id]);
		json_object_set_new(all, ds_fault_rows[id].name, o);
	}
	return all;
}

/* null, with the reason beside it, when the module did not count. */
static json_t *json_counts(const struct ds_sparse_result *r)
{
	const struct ds_sparse_counts *c = &r->counts;
	struct ds_sparse_usage sum = ds_sparse_usage_sum(c);
	json_t *o, *entries;
	unsigned int i;

	if (!c->known)
		return json_null();
	o = json_usage(&sum);
	entries = json_object();
	for (i = 0; i < c->nr; i++)
		json_object_set_new(entries, c->usage[i].name, json_usage(&c->usage[i]));
	json_object_set_new(o, "entry_points", entries);
	json_object_set_new(o, "flushes", json_flushes(c));
	json_object_set_new(o, "faults", json_faults(r));
	set_u64(o, "missed_probes", c->missed);
	return o;
}

static json_t *json_folios(const struct ds_sparse_result *r)
{
	json_t *o = json_object();
	char order[8];
	unsigned int i;

	if (r->folios_why[0]) {
		set_text(o, "reason", r->folios_why);
		return o;
	}
	for (i = 0; i <= DS_SPARSE_ORDER_MAX; i++) {
		snprintf(order, sizeof(order), "%u", i);
		if (r->folios.nr[i])
			set_u64(o, order, r->folios.nr[i]);
	}
	return o;
}

static json_t *json_iterations(const struct ds_sparse_result *r)
{
	json_t *all = json_array(), *o, *samples;
	u32 i, k;

	for (i = 0; i < r->done; i++) {
		o = json_summary(r->ns + (u64)i * r->nr, r->nr);
		samples = json_array();
		for (k = 0; k < r->nr; k++)
			json_array_append_new(samples,
					      json_real(r->ns[(u64)i * r->nr + k] / 1000.0));
		json_object_set_new(o, "samples_us", samples);
		json_array_append_new(all, o);
	}
	return all;
}

/**
 * ds_sparse_print_json() - all of it as one object, on standard output
 */
void ds_sparse_print_json(const struct ds_sparse_result *r)
{
	json_t *o = json_object();
	char order[16];

	ds_sparse_order_text(r->o->order, order, sizeof(order));
	set_text(o, "kernel", r->kernel);
	set_text(o, "fs", r->fs);
	set_text(o, "where", r->where);
	set_text(o, "order", order);
	set_text(o, "method", r->o->method->name);
	set_u64(o, "cpus", r->cpus);
	set_u64(o, "seed", r->o->seed);
	set_u64(o, "dirs", r->o->dirs);
	set_u64(o, "files", r->nr);
	set_u64(o, "size", r->o->size);
	set_u64(o, "iterations", r->o->iterations);
	set_u64(o, "iterations_done", r->done);
	set_text(o, "boot", r->boot);
	set_text(o, "date", r->date);
	set_u64(o, "pages", r->pages);
	json_object_set_new(o, "cached_kib", json_integer(r->cached_kib));
	set_u64(o, "reclaimed_pages", r->reclaimed);
	json_object_set_new(o, "folios", json_folios(r));
	json_object_set_new(o, "summary", json_summary(r->ns, (u64)r->done * r->nr));
	json_object_set_new(o, "counts", json_counts(r));
	if (!r->counts.known)
		set_text(o, "counts_reason", r->counts.why);
	json_object_set_new(o, "results", json_iterations(r));
	ds_cmd_print_json(o);
}
