/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything a run has found out, for the output formats.  See report.c.
 */
#ifndef DS_REPORT_H
#define DS_REPORT_H

#include "align.h"
#include "fault.h"
#include "kmsg.h"
#include "latency.h"
#include "load.h"
#include "nl.h"
#include "progress.h"
#include "verdict.h"

#define DS_REPORT_NOTES 16

/**
 * struct ds_viol_context - what a violation does not say of itself
 * @kernel:	release
 * @module:	version of the module, "" when it is not known
 * @seed:	of the run, with @has_seed
 * @repeat:	the command that repeats what led to it, NULL when there is none
 * @start_ns:	when that began, CLOCK_MONOTONIC; 0: not known
 * @count:	violations of this invariant by now, 0: not known
 */
struct ds_viol_context {
	const char *kernel;
	const char *module;
	bool has_seed;
	u64 seed;
	const char *repeat;
	u64 start_ns;
	u64 count;
};

/**
 * struct ds_report - a run
 * @seconds:	between the start and the end of the load
 * @start_ns:	when the load and the race began, CLOCK_MONOTONIC
 * @ended:	why it ended before its time, NULL when it did not
 * @series:	what it had done, over time
 * @repeat:	the command that repeats it
 * @params:	its parameters in words, for the start line
 * @notes:	what is smaller than asked for
 * @mix, @probes: what mix threads do, and what they cannot
 * @faults:	those that were injected
 * @align, @pairs: how pairs were aligned, and which: bit (id - 1)
 * @alloc_failures: of the load, made by DS_FAULT_ALLOC
 * @caps, @stats, @usage, @results: the module's answers, perhaps empty
 * @latency:	of the load's truncates, and of what the module timed
 */
struct ds_report {
	struct ds_facts facts;
	struct ds_verdict verdict;
	char kernel[DS_NAME_LEN + 1];
	u64 start_ns;
	double seconds;
	struct ds_series series;
	const char *ended;
	u64 seed;
	char repeat[2048];
	char params[1024];
	char notes[DS_REPORT_NOTES][DS_LOAD_TEXT];
	unsigned int nr_notes;
	struct ds_load_totals load;
	struct ds_latency latency[DS_NR_LATENCIES];
	u64 load_hash, race_hash;	/* of decisions, 0: there were none */
	u32 threads_wanted;
	u32 threads;
	u32 max_pages;
	u64 memory;
	char places[DS_LOAD_TEXT];
	const char *method;
	const char *preset;
	u32 mix_threads;
	u32 mix_pages;
	struct ds_mix_choice mix;
	struct ds_op_probe probes[DS_OPS_MAX];
	struct ds_fault_opts faults;
	struct ds_align_opts align;
	u32 pairs;
	u64 alloc_failures;
	struct ds_msg caps;
	struct ds_msgs stats, usage, results;
	u32 usage_max;
	u64 missed;
	u64 checks_at_rest;
	u64 longest_pause_ns;
	u64 events_lost;
	const struct ds_kmsg *kmsg;
};

/* The stable keys, in the order in which they are printed. */
struct ds_key {
	const char *name;
	char value[2048];
	bool number;
};

#define DS_NR_KEYS 17

void ds_report_keys(const struct ds_report *r, struct ds_key keys[DS_NR_KEYS]);
u64 ds_report_cpu_sum(const struct ds_report *r, const char *counter);
u64 ds_report_others(const struct ds_report *r, u32 id);
u64 ds_msgs_cpu_sum(const struct ds_msgs *stats, const char *counter);
u64 ds_msgs_cpu_sum_prefix(const struct ds_msgs *stats, const char *prefix);
void __printf(2, 3) ds_report_note(struct ds_report *r, const char *fmt, ...);
void ds_report_take_usage(struct ds_report *r);
u64 ds_report_fault(const struct ds_report *r, u32 id, const char *counter);
void ds_report_take_faults(struct ds_report *r);
void ds_report_take_align(struct ds_report *r);
void ds_report_take_stats(struct ds_report *r);
void ds_report_take_truncates(struct ds_report *r, const struct ds_load *l);
void ds_report_take_latency(struct ds_report *r);
u64 ds_total(const struct ds_report *r, const char *counter);
void ds_facts_take_caps(struct ds_facts *f, const struct ds_msg *caps);
void ds_facts_take_mix(struct ds_facts *f, const struct ds_mix_totals *t, u32 threads);
void ds_mix_violation(const struct ds_mix_report *r, struct ds_violation *v);
void ds_facts_take_results(struct ds_facts *f, const struct ds_msgs *results);
void ds_report_free(struct ds_report *r);

/**
 * struct ds_format - one way to write a report
 */
struct ds_format {
	const char *name;
	const char *help;
	int (*write)(FILE *f, const struct ds_report *r);
};

extern const struct ds_format ds_formats[];
extern const unsigned int ds_nr_formats;
const struct ds_format *ds_format_find(const char *name);
void ds_format_names(char *buf, size_t len);

int ds_output_text(FILE *f, const struct ds_report *r);
int ds_output_json(FILE *f, const struct ds_report *r);
int ds_output_ktap(FILE *f, const struct ds_report *r);
int ds_output_junit(FILE *f, const struct ds_report *r);
void ds_output_latency(FILE *f, const char *indent, const struct ds_report *r);
void ds_output_violation(FILE *f, const char *indent, const struct ds_violation *v,
			 const struct ds_viol_context *c);
void ds_report_context(const struct ds_report *r, const struct ds_violation *v,
		       struct ds_viol_context *c);

/* The JSON of parts, for drainctl's other commands and the events file. */
struct json_t;
struct json_t *ds_json_counters(const struct ds_msg *m);
struct json_t *ds_json_violation(const struct ds_violation *v, const struct ds_viol_context *c);
struct json_t *ds_json_event(const struct ds_msg *m, const struct ds_viol_context *c);
struct json_t *ds_json_caps(const struct ds_msg *caps);
struct json_t *ds_json_stats(const struct ds_msgs *stats);
struct json_t *ds_json_usage(const struct ds_msgs *usage);
const char *ds_class_name(u32 class);

#endif /* DS_REPORT_H */
