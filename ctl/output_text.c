// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary for people, ending in the stable "key: value" lines for scripts:
 * documented in docs/drainctl.md, never reordered.
 */
#include <string.h>

#include "opts.h"
#include "report.h"

static void text_load(FILE *f, const struct ds_report *r)
{
	const struct ds_load_totals *t = &r->load;
	unsigned int m, shown = 0;

	if (!r->facts.load)
		return;
	fprintf(f, "load: %u threads on %s, %llu truncates", r->threads, r->places,
		t->all_truncates);
	if (r->seconds > 0)
		fprintf(f, " (%.0f/s)", t->all_truncates / r->seconds);
	fprintf(f, ", %llu pages written\n", t->pages);
	fputs("  truncated by:", f);
	for (m = 0; m < ds_nr_methods; m++) {
		if (t->truncates[m])
			fprintf(f, "%s %s %llu", shown++ ? "," : "", ds_methods[m].name,
				t->truncates[m]);
	}
	if (t->mix_truncates)
		fprintf(f, "%s mix %llu", shown++ ? "," : "", t->mix_truncates);
	fputs(shown ? "\n" : " nothing\n", f);
	if (t->submitted)
		fprintf(f, "  io_uring: %llu submitted, %llu reaped\n", t->submitted, t->reaped);
	if (t->no_space || t->no_memory || t->other_errors || t->retries)
		fprintf(f, "  errors: %llu no space, %llu no memory, %llu retried, %llu other\n",
			t->no_space, t->no_memory, t->retries, t->other_errors);
}

/* What mix threads did, an operation a line, and what they could not do. */
static void text_mix(FILE *f, const struct ds_report *r)
{
	const struct ds_mix_totals *t = &r->load.mix;
	unsigned int i;

	if (!r->facts.load || !r->mix_threads)
		return;
	fprintf(f, "mix: %u of the threads, files of up to %u pages, %llu pages verified\n",
		r->mix_threads, r->mix_pages, t->verified);
	fprintf(f, "  %-18s %12s %12s %10s\n", "operation", "system call", "io_uring", "refused");
	for (i = 0; i < ds_nr_ops; i++) {
		if (r->mix.weights[i])
			fprintf(f, "  %-18s %12llu %12llu %10llu\n", ds_ops[i].name,
				t->ran[i][DS_PATH_SYSCALL], t->ran[i][DS_PATH_RING],
				t->refused[i]);
	}
	for (i = 0; i < ds_nr_ops; i++) {
		if (!r->probes[i].available)
			fprintf(f, "  not available: %s: %s\n", ds_ops[i].name, r->probes[i].why);
	}
}

static void text_usage(FILE *f, const struct ds_report *r)
{
	static const char * const bins[] = {
		"drains.0", "drains.1", "drains.2", "drains.3", "drains.4+",
	};
	unsigned int i, b;
	bool head = false;

	for (i = 0; i < r->usage.nr; i++) {
		const struct ds_msg *m = &r->usage.v[i];

		if (!ds_msg_counter(m, "usages"))
			continue;
		if (!head)
			fprintf(f, "%-34s %10s %10s %10s %8s %8s %8s %5s\n",
				"drains per batch usage:", "usages", "0", "1", "2", "3", "4+",
				"max");
		head = true;
		fprintf(f, "  %-32s %10llu", m->name, ds_msg_counter(m, "usages"));
		for (b = 0; b < ARRAY_SIZE(bins); b++)
			fprintf(f, " %*llu", b < 2 ? 10 : 8, ds_msg_counter(m, bins[b]));
		fprintf(f, " %5llu\n", ds_msg_counter(m, "max"));
	}
	if (r->missed)
		fprintf(f, "  probes missed %llu hits: these counts are lower bounds\n", r->missed);
}

static void text_counters(FILE *f, const struct ds_report *r)
{
	char fill[40], full[40], early[40], drain[40];
	u32 id;

	if (!r->stats.nr)
		return;
	fprintf(f, "batches: %-16s %12s %12s %12s %12s %12s %7s\n", "kind", "filled",
		"flushed full", "early", "by a drain", "load's", "levels");
	for (id = 1; id <= DS_NR_BATCH_KINDS; id++) {
		snprintf(fill, sizeof(fill), "fill.%s", ds_kind_name(id));
		snprintf(full, sizeof(full), "flush.full.%s", ds_kind_name(id));
		snprintf(early, sizeof(early), "flush.early.%s", ds_kind_name(id));
		snprintf(drain, sizeof(drain), "flush.drain.%s", ds_kind_name(id));
		fprintf(f, "         %-16s %12llu %12llu %12llu %12llu", ds_kind_name(id),
			ds_report_cpu_sum(r, fill), ds_report_cpu_sum(r, full),
			ds_report_cpu_sum(r, early), ds_report_cpu_sum(r, drain));
		snprintf(fill, sizeof(fill), "levels.%s", ds_kind_name(id));
		fprintf(f, " %12llu %4llu/%u\n", ds_report_others(r, id), ds_total(r, fill),
			r->caps.batch_size);
	}
	fputs("         (load's: folios moved that the module had not queued, at least;\n"
	      "         levels: so many of the sizes that a batch can have when it is moved)\n", f);
	fprintf(f, "drains:  %-16s %12s %12s\n", "kind", "calls", "effective");
	for (id = 1; id <= DS_NR_DRAIN_KINDS; id++) {
		snprintf(fill, sizeof(fill), "call.%s", ds_drain_name(id));
		snprintf(full, sizeof(full), "effective.%s", ds_drain_name(id));
		fprintf(f, "         %-16s %12llu %12llu\n", ds_drain_name(id),
			ds_report_cpu_sum(r, fill), ds_report_cpu_sum(r, full));
	}
}

static void text_faults(FILE *f, const struct ds_report *r)
{
	char args[64];
	u32 id;

	if (!r->faults.wanted)
		return;
	fprintf(f, "faults:  %-16s %12s %12s %12s  %s\n", "name", "hits", "done", "ms in all",
		"arguments");
	for (id = 1; id < DS_FAULTS_END; id++) {
		if (!(r->faults.wanted & DS_FAULT_BIT(id)))
			continue;
		ds_fault_args_text(&r->faults.args[id], args, sizeof(args));
		fprintf(f, "         %-16s %12llu %12llu %12llu  %s\n", ds_fault_rows[id].name,
			ds_report_fault(r, id, "hits"), ds_report_fault(r, id, "done"),
			ds_report_fault(r, id, "ns") / 1000000, args);
	}
}

/* How often the sides of each pair met, and at which offsets. */
static void text_align(FILE *f, const struct ds_report *r)
{
	struct ds_align_result res;
	unsigned int i;
	u32 id;

	if (!r->pairs)
		return;
	fprintf(f, "align:   %-16s %8s %8s %8s %10s %12s", "pair", "rounds", "missed",
		"failed", "overlaps", "overlaps/s");
	if (r->align.mode == DS_ALIGN_COMPARE)
		fprintf(f, " %8s %8s %8s %12s %6s", "free A", "free B", "overlaps", "overlaps/s",
			"ratio");
	fprintf(f, " %9s %9s\n", "A us", "B us");
	for (id = 1; id <= DS_NR_PAIRS; id++) {
		if (!(r->pairs & 1U << (id - 1)))
			continue;
		ds_align_result(&r->stats, id, &res);
		fprintf(f, "         %-16s %8llu %8llu %8llu %10llu %12.2f", ds_pair_name(id),
			res.rounds, res.missed, res.failed, res.overlaps, res.overlaps_s);
		if (r->align.mode == DS_ALIGN_COMPARE)
			fprintf(f, " %8llu %8llu %8llu %12.2f %6.1f", res.free_actions[0],
				res.free_actions[1], res.free_overlaps, res.free_s, res.ratio);
		fprintf(f, " %9.1f %9.1f\n", res.len_ns[0] / 1e3, res.len_ns[1] / 1e3);
		fputs("           offsets:", f);
		for (i = 0; i < DS_ALIGN_BINS; i++)
			fprintf(f, " %llu", res.bins[i]);
		fprintf(f, ", outside %llu\n", res.outside);
	}
	fputs("         (offsets: rounds by where B started, from ending as A starts to\n"
	      "         starting as A ends", f);
	if (r->align.mode == DS_ALIGN_COMPARE)
		fputs("; free: the same actions at the same mean rate,\n"
		      "         without waiting for each other; ratio: of the overlaps a second,\n"
		      "         0 where there is none", f);
	fputs(")\n", f);
}

static void text_invariants(FILE *f, const struct ds_report *r)
{
	const struct ds_facts *facts = &r->facts;
	struct ds_viol_context c;
	unsigned int i;

	if (!facts->nr_inv)
		return;
	fprintf(f, "invariants (%llu checks at rest, longest pause %llu us):\n", r->checks_at_rest,
		r->longest_pause_ns / 1000);
	for (i = 0; i < facts->nr_inv; i++) {
		const struct ds_inv_fact *inv = &facts->inv[i];

		/* what was switched off at the end may have been there before */
		if (!inv->available && !inv->checked && !inv->violations)
			fprintf(f, "  %-4s not available: %s\n", inv->name, inv->reason);
		else
			fprintf(f, "  %-4s %12llu checked, %llu violations%s: %s\n", inv->name,
				inv->checked, inv->violations,
				inv->reported && inv->violations ? " (reported only)" :
				inv->known && inv->violations ? " (known)" : "", inv->title);
	}
	for (i = 0; i < facts->nr_inv; i++) {
		if (facts->inv[i].known && facts->inv[i].violations)
			fprintf(f, "  %s known: %s\n", facts->inv[i].name, facts->inv[i].known);
	}
	for (i = 0; i < facts->nr_inv; i++) {
		if (!facts->inv[i].first.has)
			continue;
		ds_report_context(r, &facts->inv[i].first, &c);
		ds_output_violation(f, "", &facts->inv[i].first, &c);
	}
}

/* How much of the LRU lists was looked at, and at what price. */
static void text_looks(FILE *f, const struct ds_report *r)
{
	u64 folios = ds_total(r, "check.folios"), walk_ns = ds_total(r, "check.walk_ns");

	if (walk_ns) {
		fprintf(f, "at rest: %llu folios on LRU lists, %.0f a second; ", folios,
			folios * 1e9 / walk_ns);
		fprintf(f, "%llu looks again; longest pause %llu us\n", ds_total(r, "check.looks"),
			ds_total(r, "check.pause_max_ns") / 1000);
	}
	if (!ds_total(r, "online.samples"))
		return;
	fprintf(f, "while the load ran: %llu samples of %llu folios; ",
		ds_total(r, "online.samples"), ds_total(r, "online.folios"));
	fprintf(f, "%llu suspects, %llu of them not followed up; ", ds_total(r, "online.suspects"),
		ds_total(r, "online.unresolved"));
	fprintf(f, "held for %llu us (median), %llu us (longest); ",
		ds_total(r, "online.hold_p50_ns") / 1000, ds_total(r, "online.hold_max_ns") / 1000);
	fprintf(f, "longest pause %llu us\n", ds_total(r, "online.pause_max_ns") / 1000);
}

/**
 * ds_output_latency() - a line for each histogram
 * @indent: before each line
 */
void ds_output_latency(FILE *f, const char *indent, const struct ds_report *r)
{
	struct ds_latency_sum s;
	enum ds_latency_id id;
	unsigned int i;

	fprintf(f, "%slatency: %-16s %12s", indent, "in us", "count");
	for (i = 0; i < DS_NR_RANKS; i++)
		fprintf(f, " %12s", ds_latency_ranks[i].name);
	fprintf(f, " %12s\n", "max");
	for (id = 0; id < DS_NR_LATENCIES; id++) {
		ds_latency_sum(&r->latency[id], &s);
		fprintf(f, "%s         %-16s ", indent, ds_latency_name(id));
		if (s.count) {
			fprintf(f, "%12llu", s.count);
			for (i = 0; i < DS_NR_RANKS; i++)
				fprintf(f, " %12.2f", s.at[i] / 1e3);
			fprintf(f, " %12.2f", s.max / 1e3);
		} else {
			fputs("none was timed", f);
		}
		if (s.overflow)
			fprintf(f, "; %llu took %llu s or longer", s.overflow,
				DS_HIST_MAX / 1000000000);
		if (s.missing)
			fprintf(f, "; %llu are missing", s.missing);
		fputc('\n', f);
	}
}

static void text_kmsg(FILE *f, const struct ds_report *r)
{
	unsigned int i;

	if (!r->kmsg || !r->kmsg->nr_excerpt)
		return;
	fprintf(f, "kernel log from the first complaint on:\n");
	for (i = 0; i < r->kmsg->nr_excerpt; i++)
		fprintf(f, "  | %s\n", r->kmsg->excerpt[i]);
}

/**
 * ds_output_text() - write the summary
 *
 * Return: 0 or -1 when it could not be written.
 */
int ds_output_text(FILE *f, const struct ds_report *r)
{
	struct ds_key keys[DS_NR_KEYS];
	unsigned int i;

	for (i = 0; i < r->nr_notes; i++)
		fprintf(f, "note: %s\n", r->notes[i]);
	if (r->facts.setup_exit == DS_EXIT_PASS) {
		text_load(f, r);
		text_mix(f, r);
		text_usage(f, r);
		text_counters(f, r);
		text_faults(f, r);
		text_align(f, r);
		text_invariants(f, r);
		text_looks(f, r);
		ds_output_latency(f, "", r);
		text_kmsg(f, r);
	}
	for (i = 0; i < r->verdict.nr_reasons; i++)
		fprintf(f, "%s: %s\n", ds_exit_name(r->verdict.reasons[i].code),
			r->verdict.reasons[i].text);
	ds_report_keys(r, keys);
	for (i = 0; i < DS_NR_KEYS; i++)
		fprintf(f, "%s: %s\n", keys[i].name, keys[i].value);
	return fflush(f) || ferror(f) ? -1 : 0;
}
