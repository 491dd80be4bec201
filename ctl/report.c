// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything a run has found out: takes the module's answers over into facts,
 * and makes the stable keys that every output format ends in or carries.  It
 * neither judges nor prints.
 */
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "report.h"

/**
 * ds_report_note() - something is smaller or other than asked for
 */
void ds_report_note(struct ds_report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->nr_notes == DS_REPORT_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(r->notes[r->nr_notes++], DS_LOAD_TEXT, fmt, ap);
	va_end(ap);
}

/**
 * ds_msgs_cpu_sum() - a counter of GET_STATS, over all CPUs
 */
u64 ds_msgs_cpu_sum(const struct ds_msgs *stats, const char *counter)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < stats->nr; i++) {
		if (!strcmp(stats->v[i].scope, "cpu"))
			sum += ds_msg_counter(&stats->v[i], counter);
	}
	return sum;
}

/**
 * ds_report_cpu_sum() - likewise, of a report
 */
u64 ds_report_cpu_sum(const struct ds_report *r, const char *counter)
{
	return ds_msgs_cpu_sum(&r->stats, counter);
}

/**
 * ds_report_others() - folios of batch kind @id moved that the module had not queued
 *
 * At least: a folio that the module queued and nobody has moved yet counts against.
 */
u64 ds_report_others(const struct ds_report *r, u32 id)
{
	char name[40];
	u64 own, moved;

	snprintf(name, sizeof(name), "own.%s", ds_kind_name(id));
	own = ds_report_cpu_sum(r, name);
	snprintf(name, sizeof(name), "moved.%s", ds_kind_name(id));
	moved = ds_report_cpu_sum(r, name);
	return moved > own ? moved - own : 0;
}

/**
 * ds_msgs_cpu_sum_prefix() - all counters whose name begins with @prefix
 */
u64 ds_msgs_cpu_sum_prefix(const struct ds_msgs *stats, const char *prefix)
{
	unsigned int i, c;
	u64 sum = 0;

	for (i = 0; i < stats->nr; i++) {
		const struct ds_msg *m = &stats->v[i];

		if (strcmp(m->scope, "cpu"))
			continue;
		for (c = 0; c < m->nr_counters; c++) {
			if (!strncmp(m->counters[c].name, prefix, strlen(prefix)))
				sum += m->counters[c].value;
		}
	}
	return sum;
}

/**
 * ds_total() - a counter of the scope "total"
 */
u64 ds_total(const struct ds_report *r, const char *counter)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < r->stats.nr; i++) {
		if (!strcmp(r->stats.v[i].scope, "total"))
			sum += ds_msg_counter(&r->stats.v[i], counter);
	}
	return sum;
}

/**
 * ds_report_take_stats() - GET_STATS into facts
 */
void ds_report_take_stats(struct ds_report *r)
{
	unsigned int i;

	r->facts.fills = ds_msgs_cpu_sum_prefix(&r->stats, "fill.");
	r->facts.effective = ds_msgs_cpu_sum_prefix(&r->stats, "effective.");
	r->facts.samples = ds_total(r, "online.samples");
	r->facts.steps = r->load.steps + ds_total(r, "race.loops");
	for (i = 0; i < r->stats.nr; i++) {
		/* of the kthread that drains other CPUs there is no loop */
		if (!strcmp(r->stats.v[i].scope, "cpu"))
			r->facts.steps += ds_msg_counter(&r->stats.v[i], "call.all");
	}
	r->race_hash = ds_total(r, "decisions.high") << 32 | ds_total(r, "decisions.low");
	/* the module's own count has the check that was under way at the end too */
	if (ds_total(r, "checks") > r->checks_at_rest)
		r->checks_at_rest = ds_total(r, "checks");
	if (ds_total(r, "check.pause_max_ns") > r->longest_pause_ns)
		r->longest_pause_ns = ds_total(r, "check.pause_max_ns");
	r->missed = 0;
	for (i = 0; i < r->stats.nr; i++) {
		if (!strcmp(r->stats.v[i].scope, "probe"))
			r->missed += ds_msg_counter(&r->stats.v[i], "missed");
	}
}

/**
 * ds_report_take_usage() - GET_USAGE into facts
 */
void ds_report_take_usage(struct ds_report *r)
{
	unsigned int i;
	u64 max;

	r->facts.usages = 0;
	r->usage_max = 0;
	for (i = 0; i < r->usage.nr; i++) {
		r->facts.usages += ds_msg_counter(&r->usage.v[i], "usages");
		max = ds_msg_counter(&r->usage.v[i], "max");
		if (max > r->usage_max)
			r->usage_max = max;
	}
}

/**
 * ds_report_fault() - a counter of a fault: hits, done or ns
 */
u64 ds_report_fault(const struct ds_report *r, u32 id, const char *counter)
{
	unsigned int i;

	if (id == DS_FAULT_ALLOC)
		return strcmp(counter, "ns") ? r->alloc_failures : 0;
	for (i = 0; i < r->stats.nr; i++) {
		if (!strcmp(r->stats.v[i].scope, "fault") &&
		    !strcmp(r->stats.v[i].name, ds_fault_rows[id].name))
			return ds_msg_counter(&r->stats.v[i], counter);
	}
	return 0;
}

/**
 * ds_report_take_faults() - a note of the faults that were asked for in vain
 */
void ds_report_take_faults(struct ds_report *r)
{
	char text[DS_LOAD_TEXT];
	size_t n = 0;
	u32 id;

	for (id = 1; id < DS_FAULTS_END && n < sizeof(text); id++) {
		if (r->faults.wanted & DS_FAULT_BIT(id) && !ds_report_fault(r, id, "done"))
			n += snprintf(text + n, sizeof(text) - n, "%s%s (%llu hits)",
				      n ? ", " : "", ds_fault_rows[id].name,
				      ds_report_fault(r, id, "hits"));
	}
	if (n)
		ds_report_note(r, "faults that never happened: %.200s", text);
}

/**
 * ds_report_take_align() - a note of the pairs that were asked for in vain
 *
 * A short run need not come to all pairs that it has by itself.
 */
void ds_report_take_align(struct ds_report *r)
{
	struct ds_align_result res;
	char text[DS_LOAD_TEXT];
	size_t n = 0;
	u32 id;

	if (!r->align.word || !strcmp(r->align.word, "on"))
		return;
	for (id = 1; id <= DS_NR_PAIRS && n < sizeof(text); id++) {
		if (!(r->pairs & 1U << (id - 1)))
			continue;
		ds_align_result(&r->stats, id, &res);
		if (!res.overlaps)
			n += snprintf(text + n, sizeof(text) - n,
				      "%s%s (%llu rounds, %llu missed, %llu failed)",
				      n ? ", " : "", ds_pair_name(id), res.rounds, res.missed,
				      res.failed);
	}
	if (n)
		ds_report_note(r, "pairs that never overlapped: %.200s", text);
}

/* How often the module did what it has timed for a histogram. */
static u64 drains_of(const struct ds_report *r, enum ds_latency_id id)
{
	switch (id) {
	case DS_LATENCY_DRAIN:
		return ds_report_cpu_sum(r, "call.local") + ds_report_cpu_sum(r, "call.cpu") +
		       ds_report_cpu_sum(r, "call.release");
	case DS_LATENCY_DRAIN_ALL:
		return ds_report_cpu_sum(r, "call.all") + ds_report_cpu_sum(r, "call.disable");
	default:
		return 0;
	}
}

/* What was done and not counted is told: percentiles without it may mislead. */
static void note_missing(struct ds_report *r, enum ds_latency_id id)
{
	struct ds_latency_sum s;

	ds_latency_sum(&r->latency[id], &s);
	if (s.missing)
		ds_report_note(r, "latency of %s: %llu of %llu values are missing",
			       ds_latency_name(id), s.missing, s.count + s.missing);
}

/**
 * ds_report_take_truncates() - how long the load's truncates took
 * @l: the load, which has ended
 */
void ds_report_take_truncates(struct ds_report *r, const struct ds_load *l)
{
	struct ds_latency *all = &r->latency[DS_LATENCY_TRUNCATE];
	unsigned int t;

	memset(all, 0, sizeof(*all));
	for (t = 0; l->sh && t < l->slots; t++)
		ds_latency_add(all, ds_load_hist(l, t));
	/* the load's own counters say it too */
	if (r->load.all_truncates > all->taken)
		all->taken = r->load.all_truncates;
	note_missing(r, DS_LATENCY_TRUNCATE);
}

/**
 * ds_report_take_latency() - the module's histograms out of GET_STATS
 */
void ds_report_take_latency(struct ds_report *r)
{
	enum ds_latency_id id;

	for (id = DS_LATENCY_DRAIN; id < DS_NR_LATENCIES; id++) {
		struct ds_latency *l = &r->latency[id];

		memset(l, 0, sizeof(*l));
		ds_latency_take(l, &r->stats, ds_latency_name(id));
		if (drains_of(r, id) > l->taken)
			l->taken = drains_of(r, id);
		note_missing(r, id);
	}
}

static struct ds_inv_fact *inv_of(struct ds_facts *f, u32 id)
{
	struct ds_inv_fact *inv;
	const char *title;
	unsigned int i;

	/* in the order of their numbers, whoever names them first */
	for (i = 0; i < f->nr_inv && f->inv[i].id <= id; i++) {
		if (f->inv[i].id == id)
			return &f->inv[i];
	}
	if (f->nr_inv == DS_FACTS_INVARIANTS)
		return NULL;
	inv = &f->inv[i];
	memmove(inv + 1, inv, (f->nr_inv++ - i) * sizeof(*inv));
	memset(inv, 0, sizeof(*inv));
	inv->id = id;
	inv->reported = id == DS_INV_CANARY;
	inv->known = ds_known_reason(f->known, id, f->kernel);
	title = ds_invariant_title(id);
	snprintf(inv->name, sizeof(inv->name), "I%u", id);
	snprintf(inv->title, sizeof(inv->title), "%s", title ? title : "unknown to this drainctl");
	return inv;
}

/**
 * ds_facts_take_caps() - the kernel, which invariants there are, and the fix
 */
void ds_facts_take_caps(struct ds_facts *f, const struct ds_msg *caps)
{
	struct ds_inv_fact *inv;
	unsigned int i;

	f->fix = caps->fix;
	if (caps->release[0])
		snprintf(f->kernel, sizeof(f->kernel), "%s", caps->release);
	snprintf(f->module, sizeof(f->module), "%s", caps->version);
	for (i = 0; i < caps->nr_items; i++) {
		const struct ds_item *item = &caps->items[i];

		if (item->class != DS_CLASS_INVARIANT || !item->id)
			continue;
		inv = inv_of(f, item->id);
		if (!inv)
			continue;
		inv->available = item->available;
		snprintf(inv->reason, sizeof(inv->reason), "%s", item->reason);
	}
}

/**
 * ds_facts_take_results() - GET_RESULTS into facts
 */
void ds_facts_take_results(struct ds_facts *f, const struct ds_msgs *results)
{
	struct ds_inv_fact *inv;
	unsigned int i;

	for (i = 0; i < results->nr; i++) {
		const struct ds_msg *m = &results->v[i];

		if (!DS_HAS(m, DS_A_INVARIANT) || !m->invariant)
			continue;
		inv = inv_of(f, m->invariant);
		if (!inv)
			continue;
		inv->checked = m->checked;
		inv->violations = m->violations;
		if (DS_HAS(m, DS_A_REASON))
			snprintf(inv->reason, sizeof(inv->reason), "%.255s", m->reason);
		if (DS_HAS(m, DS_A_VIOLATION))
			inv->first = m->violation;
	}
}

/**
 * ds_mix_violation() - a mismatch of data as a violation of I31
 */
void ds_mix_violation(const struct ds_mix_report *r, struct ds_violation *v)
{
	unsigned int i;

	memset(v, 0, sizeof(*v));
	v->has = 1ULL << DS_VIOL_INVARIANT | 1ULL << DS_VIOL_TEXT | 1ULL << DS_VIOL_EXPECTED |
		 1ULL << DS_VIOL_FOUND;
	v->invariant = DS_INV_DATA;
	v->time_ns = r->time_ns;
	v->cpu = r->cpu;
	v->pid = r->tid;
	snprintf(v->comm, sizeof(v->comm), "mix/%u", r->thread);
	snprintf(v->text, sizeof(v->text), "%s: %s: expected %s, found %s", r->place, r->bad.text,
		 r->bad.expected, r->bad.found);
	snprintf(v->expected, sizeof(v->expected), "%s", r->bad.expected);
	snprintf(v->found, sizeof(v->found), "%s", r->bad.found);
	for (i = 0; i < r->nr_history && i < DS_ACTIONS_MAX; i++) {
		v->actions[i].time_ns = r->history[i].time_ns;
		v->actions[i].cpu = r->history[i].cpu;
		snprintf(v->actions[i].text, sizeof(v->actions[i].text), "%s",
			 r->history[i].text);
	}
	v->nr_actions = i;
}

/**
 * ds_facts_take_mix() - what the mix threads verified into facts
 * @threads: how many there are; 0: nobody verifies
 */
void ds_facts_take_mix(struct ds_facts *f, const struct ds_mix_totals *t, u32 threads)
{
	struct ds_inv_fact *inv = inv_of(f, DS_INV_DATA);

	if (!inv)
		return;
	inv->available = threads;
	if (!threads)
		snprintf(inv->reason, sizeof(inv->reason), "no mix threads run: nobody verifies");
	inv->checked = t->verified;
	inv->violations = t->violations;
	if (t->violations)
		ds_mix_violation(&t->first, &inv->first);
}

static void key_u64(struct ds_key **k, const char *name, u64 value)
{
	(*k)->name = name;
	(*k)->number = true;
	snprintf((*k)->value, sizeof((*k)->value), "%llu", value);
	(*k)++;
}

static void key_text(struct ds_key **k, const char *name, const char *value)
{
	char *p;

	(*k)->name = name;
	(*k)->number = false;
	snprintf((*k)->value, sizeof((*k)->value), "%s", value);
	/* one key, one line */
	for (p = (*k)->value; *p; p++) {
		if (*p == '\n')
			*p = ' ';
	}
	(*k)++;
}

static void key_hash(struct ds_key **k, const char *name, u64 hash)
{
	char text[24] = "none";

	if (hash)
		snprintf(text, sizeof(text), "%016llx", hash);
	key_text(k, name, text);
}

/**
 * ds_report_keys() - the stable keys; their order never changes
 */
void ds_report_keys(const struct ds_report *r, struct ds_key keys[DS_NR_KEYS])
{
	const struct ds_facts *f = &r->facts;
	const struct ds_inv_fact *first = ds_facts_first(f);
	char text[DS_STRING_MAX + 32] = "none";
	struct ds_key *k = keys;

	if (first)
		snprintf(text, sizeof(text), "%s %s", first->name,
			 first->first.text[0] ? first->first.text : first->title);
	key_text(&k, "verdict", ds_exit_name(r->verdict.code));
	key_u64(&k, "exit", r->verdict.code);
	key_text(&k, "kernel", r->kernel);
	key_text(&k, "fix", ds_fix_name(f->fix));
	key_u64(&k, "usages", f->usages);
	key_u64(&k, "drains_per_usage_max", r->usage_max);
	key_u64(&k, "truncates", f->truncates);
	key_u64(&k, "fills", f->fills);
	key_u64(&k, "drains_effective", f->effective);
	key_u64(&k, "checks", r->verdict.checks);
	key_u64(&k, "violations", r->verdict.violations);
	key_text(&k, "first_violation", text);
	key_u64(&k, "missed_probes", r->missed);
	key_u64(&k, "seed", r->seed);
	key_text(&k, "repeat", r->repeat);
	key_hash(&k, "load_decisions", r->load_hash);
	key_hash(&k, "race_decisions", r->race_hash);
}

/**
 * ds_report_context() - what the run adds to a violation
 * @v: the violation
 * @c: overwritten; points into the report
 */
void ds_report_context(const struct ds_report *r, const struct ds_violation *v,
		       struct ds_viol_context *c)
{
	unsigned int i;

	*c = (struct ds_viol_context){
		.kernel = r->kernel,
		.module = r->facts.module,
		.has_seed = true,
		.seed = r->seed,
		.repeat = r->repeat,
		.start_ns = r->start_ns,
	};
	for (i = 0; i < r->facts.nr_inv; i++) {
		if (r->facts.inv[i].id == v->invariant)
			c->count = r->facts.inv[i].violations;
	}
}

/**
 * ds_report_free() - free the module's answers
 */
void ds_report_free(struct ds_report *r)
{
	ds_msg_free(&r->caps);
	ds_msgs_free(&r->stats);
	ds_msgs_free(&r->usage);
	ds_msgs_free(&r->results);
}

const struct ds_format ds_formats[] = {
	{ "text", "a summary, then stable \"key: value\" lines", ds_output_text },
	{ "json", "one JSON object with the same keys and everything else", ds_output_json },
	{ "ktap", "kernel TAP: one test line an invariant and a part of the verdict",
	  ds_output_ktap },
	{ "junit", "XML: one test case an invariant and one for the verdict",
	  ds_output_junit },
};

const unsigned int ds_nr_formats = ARRAY_SIZE(ds_formats);

/**
 * ds_format_find() - NULL when there is none called @name
 */
const struct ds_format *ds_format_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_formats; i++) {
		if (!strcmp(ds_formats[i].name, name))
			return &ds_formats[i];
	}
	return NULL;
}

/**
 * ds_format_names() - "text, json, ktap, junit" for messages
 */
void ds_format_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < ds_nr_formats && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", ds_formats[i].name);
}

/**
 * ds_class_name() - of enum drainstress_class, for people
 */
const char *ds_class_name(u32 class)
{
	static const char * const names[] = {
		[DS_CLASS_UNSPEC] = "?",
		[DS_CLASS_SYMBOL] = "symbol",
		[DS_CLASS_BATCH] = "batch",
		[DS_CLASS_DRAIN] = "drain",
		[DS_CLASS_PROBE] = "probe",
		[DS_CLASS_ENTRY] = "entry",
		[DS_CLASS_INVARIANT] = "invariant",
		[DS_CLASS_PLANT] = "plant",
		[DS_CLASS_FAULT] = "fault",
		[DS_CLASS_PAIR] = "pair",
	};

	return class < ARRAY_SIZE(names) ? names[class] : "?";
}
