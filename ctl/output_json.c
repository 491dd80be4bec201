// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one JSON object: the stable keys first and in their order, then
 * everything else.  Also single events and counters as JSON.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "report.h"
#include "version.h"

/* Names of directories and tasks need not be UTF-8, JSON has to. */
static json_t *text(const char *value)
{
	json_t *s = json_string(value);
	char *plain, *p;

	if (s)
		return s;
	plain = strdup(value);
	for (p = plain; p && *p; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	s = json_string(plain ? plain : "?");
	free(plain);
	return s;
}

static json_t *strings(const char *first, size_t stride, unsigned int nr)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < nr; i++)
		json_array_append_new(a, text(first + i * stride));
	return a;
}

static void set_u64(json_t *o, const char *key, u64 value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_text(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, text(value));
}

/* Numbers above 2^63 do not fit JSON integers of jansson: as text. */
static void set_hex(json_t *o, const char *key, u64 value)
{
	json_object_set_new(o, key, json_sprintf("0x%llx", value));
}

/**
 * ds_json_counters() - the counters of a message as an object
 */
json_t *ds_json_counters(const struct ds_msg *m)
{
	json_t *o = json_object();
	unsigned int i;

	for (i = 0; i < m->nr_counters; i++)
		set_u64(o, m->counters[i].name, m->counters[i].value);
	return o;
}

static json_t *json_memcg(const struct ds_violation *v)
{
	json_t *o = json_object();

	set_hex(o, "data", v->memcg_data);
	if (DS_HAS(v, DS_VIOL_MEMCG))
		set_u64(o, "id", v->memcg);
	if (DS_HAS(v, DS_VIOL_MEMCG_INODE))
		set_u64(o, "inode", v->memcg_inode);
	return o;
}

static json_t *json_lruvec(const struct ds_violation *v)
{
	json_t *o = json_object();

	set_u64(o, "node", v->lruvec_node);
	if (DS_HAS(v, DS_VIOL_LRUVEC_MEMCG))
		set_u64(o, "memcg", v->lruvec_memcg);
	return o;
}

static json_t *json_actions(const struct ds_violation *v)
{
	json_t *a = json_array(), *o;
	unsigned int i;

	for (i = 0; i < v->nr_actions; i++) {
		const struct ds_action *action = &v->actions[i];

		o = json_object();
		/* before the violation negative, as in the text */
		json_object_set_new(o, "relative_ns",
				    json_integer((json_int_t)(action->time_ns - v->time_ns)));
		set_u64(o, "time_ns", action->time_ns);
		set_u64(o, "cpu", action->cpu);
		set_text(o, "text", action->text);
		json_array_append_new(a, o);
	}
	return a;
}

static void json_folio(json_t *o, const struct ds_violation *v)
{
	if (DS_HAS(v, DS_VIOL_PFN))
		set_hex(o, "pfn", v->pfn);
	if (DS_HAS(v, DS_VIOL_ORDER))
		set_u64(o, "order", v->order);
	if (DS_HAS(v, DS_VIOL_FLAGS))
		set_hex(o, "flags", v->flags);
	if (DS_HAS(v, DS_VIOL_FLAGS_TEXT))
		set_text(o, "flags_text", v->flags_text);
	if (DS_HAS(v, DS_VIOL_REFCOUNT))
		json_object_set_new(o, "refcount", json_integer(v->refcount));
	if (DS_HAS(v, DS_VIOL_MAPCOUNT))
		json_object_set_new(o, "mapcount", json_integer(v->mapcount));
	if (DS_HAS(v, DS_VIOL_MAPPING))
		set_hex(o, "mapping", v->mapping);
	if (DS_HAS(v, DS_VIOL_INDEX))
		set_u64(o, "index", v->index);
	if (DS_HAS(v, DS_VIOL_NODE))
		set_u64(o, "node", v->node);
	if (DS_HAS(v, DS_VIOL_ZONE))
		set_u64(o, "zone", v->zone);
	if (DS_HAS(v, DS_VIOL_MEMCG_DATA))
		json_object_set_new(o, "memcg", json_memcg(v));
	if (DS_HAS(v, DS_VIOL_LRUVEC_NODE))
		json_object_set_new(o, "lruvec", json_lruvec(v));
	if (DS_HAS(v, DS_VIOL_LIST))
		set_text(o, "list", v->list);
}

static void json_context(json_t *o, const struct ds_violation *v, const struct ds_viol_context *c)
{
	if (c->start_ns)
		json_object_set_new(o, "since_start_ns",
				    json_integer((json_int_t)(v->time_ns - c->start_ns)));
	if (c->kernel)
		set_text(o, "kernel", c->kernel);
	set_text(o, "drainctl", DS_VERSION);
	if (c->module && c->module[0])
		set_text(o, "module", c->module);
	if (c->has_seed)
		set_u64(o, "seed", c->seed);
	if (c->repeat)
		set_text(o, "repeat", c->repeat);
}

/**
 * ds_json_violation() - a violation with what is known of it
 * @c: what the run knows of it, or NULL
 */
json_t *ds_json_violation(const struct ds_violation *v, const struct ds_viol_context *c)
{
	const char *title = ds_invariant_title(v->invariant);
	const char *why = ds_invariant_why(v->invariant);
	json_t *o = json_object();

	json_object_set_new(o, "invariant", json_sprintf("I%u", v->invariant));
	if (title)
		set_text(o, "title", title);
	if (why)
		set_text(o, "why", why);
	set_text(o, "text", v->text);
	if (DS_HAS(v, DS_VIOL_EXPECTED))
		set_text(o, "expected", v->expected);
	if (DS_HAS(v, DS_VIOL_FOUND))
		set_text(o, "found", v->found);
	set_u64(o, "time_ns", v->time_ns);
	set_u64(o, "cpu", v->cpu);
	set_u64(o, "pid", v->pid);
	set_text(o, "comm", v->comm);
	if (DS_HAS(v, DS_VIOL_KIND))
		set_text(o, "kind", ds_kind_name(v->kind));
	if (DS_HAS(v, DS_VIOL_SLOT))
		set_u64(o, "slot", v->slot);
	json_folio(o, v);
	json_object_set_new(o, "actions", json_actions(v));
	if (c)
		json_context(o, v, c);
	return o;
}

/**
 * ds_json_event() - an event, as one line of the events file
 * @c: of a violation, or NULL
 */
json_t *ds_json_event(const struct ds_msg *m, const struct ds_viol_context *c)
{
	static const char * const names[] = {
		[DS_EVENT_UNSPEC] = "?",
		[DS_EVENT_VIOLATION] = "violation",
		[DS_EVENT_STATE] = "state",
		[DS_EVENT_PROGRESS] = "progress",
		[DS_EVENT_DONE] = "done",
	};
	json_t *o = json_object();

	set_text(o, "event", m->event < ARRAY_SIZE(names) ? names[m->event] : "?");
	set_u64(o, "seq", m->seq);
	if (DS_HAS(m, DS_A_STATE))
		set_text(o, "state", m->state);
	if (DS_HAS(m, DS_A_REQUEST)) {
		set_u64(o, "request", m->request);
		set_u64(o, "status", m->status);
		set_u64(o, "command", m->command);
	}
	if (DS_HAS(m, DS_A_VIOLATION))
		json_object_set_new(o, "violation", ds_json_violation(&m->violation, c));
	if (m->nr_counters)
		json_object_set_new(o, "counters", ds_json_counters(m));
	return o;
}

static json_t *json_mix(const struct ds_report *r)
{
	const struct ds_mix_totals *t = &r->load.mix;
	json_t *o = json_object(), *ops = json_object(), *op;
	unsigned int i;

	set_u64(o, "threads", r->mix_threads);
	set_u64(o, "file_pages_max", r->mix_pages);
	set_u64(o, "pages_verified", t->verified);
	set_u64(o, "truncates", r->load.mix_truncates);
	for (i = 0; r->mix_threads && i < ds_nr_ops; i++) {
		op = json_object();
		set_u64(op, "weight", r->mix.weights[i]);
		json_object_set_new(op, "available", json_boolean(r->probes[i].available));
		if (!r->probes[i].available)
			set_text(op, "reason", r->probes[i].why);
		set_u64(op, "syscall", t->ran[i][DS_PATH_SYSCALL]);
		set_u64(op, "io_uring", t->ran[i][DS_PATH_RING]);
		set_u64(op, "refused", t->refused[i]);
		json_object_set_new(ops, ds_ops[i].name, op);
	}
	json_object_set_new(o, "ops", ops);
	return o;
}

static json_t *json_load(const struct ds_report *r)
{
	const struct ds_load_totals *t = &r->load;
	json_t *o = json_object(), *methods = json_object();
	unsigned int m;

	for (m = 0; m < ds_nr_methods; m++)
		set_u64(methods, ds_methods[m].name, t->truncates[m]);
	set_u64(o, "threads_wanted", r->threads_wanted);
	set_u64(o, "threads", r->threads);
	set_text(o, "places", r->places);
	set_u64(o, "file_pages_max", r->max_pages);
	set_u64(o, "memory_limit", r->memory);
	set_u64(o, "truncates", t->all_truncates);
	json_object_set_new(o, "methods", methods);
	set_u64(o, "truncate_errors", t->trunc_errors);
	set_u64(o, "pages_written", t->pages);
	set_u64(o, "advised", t->advised);
	set_u64(o, "submitted", t->submitted);
	set_u64(o, "reaped", t->reaped);
	set_u64(o, "dropped", t->dropped);
	set_u64(o, "no_space", t->no_space);
	set_u64(o, "no_memory", t->no_memory);
	set_u64(o, "retries", t->retries);
	set_u64(o, "other_errors", t->other_errors);
	set_u64(o, "last_errno", t->last_errno);
	if (r->preset)
		set_text(o, "preset", r->preset);
	json_object_set_new(o, "mix", json_mix(r));
	return o;
}

static json_t *json_invariants(const struct ds_report *r)
{
	const struct ds_facts *f = &r->facts;
	struct ds_viol_context c;
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < f->nr_inv; i++) {
		const struct ds_inv_fact *inv = &f->inv[i];
		json_t *o = json_object();

		set_text(o, "id", inv->name);
		set_text(o, "title", inv->title);
		json_object_set_new(o, "available", json_boolean(inv->available));
		set_u64(o, "checked", inv->checked);
		set_u64(o, "violations", inv->violations);
		json_object_set_new(o, "counts", json_boolean(!inv->reported && !inv->known));
		if (inv->known && inv->violations)
			set_text(o, "known", inv->known);
		if (inv->reason[0])
			set_text(o, "reason", inv->reason);
		if (inv->first.has) {
			ds_report_context(r, &inv->first, &c);
			json_object_set_new(o, "first_violation",
					    ds_json_violation(&inv->first, &c));
		}
		json_array_append_new(a, o);
	}
	return a;
}

/**
 * ds_json_usage() - GET_USAGE: an object for each entry point
 */
json_t *ds_json_usage(const struct ds_msgs *usage)
{
	json_t *o = json_object();
	unsigned int i;

	for (i = 0; i < usage->nr; i++)
		json_object_set_new(o, usage->v[i].name, ds_json_counters(&usage->v[i]));
	return o;
}

static json_t *json_kinds(const struct ds_report *r)
{
	static const char * const what[] = { "fill", "flush.full", "flush.early", "flush.drain",
		"own", "moved" };
	json_t *all = json_object(), *o;
	char name[64];
	unsigned int i;
	u32 id;

	for (id = 1; id <= DS_NR_BATCH_KINDS; id++) {
		o = json_object();
		for (i = 0; i < ARRAY_SIZE(what); i++) {
			snprintf(name, sizeof(name), "%s.%s", what[i], ds_kind_name(id));
			set_u64(o, what[i], ds_report_cpu_sum(r, name));
		}
		set_u64(o, "load", ds_report_others(r, id));
		snprintf(name, sizeof(name), "levels.%s", ds_kind_name(id));
		set_u64(o, "levels", ds_total(r, name));
		snprintf(name, sizeof(name), "level.least.%s", ds_kind_name(id));
		set_u64(o, "level_least", ds_total(r, name));
		json_object_set_new(all, ds_kind_name(id), o);
	}
	return all;
}

static json_t *json_drains(const struct ds_report *r)
{
	json_t *all = json_object(), *o;
	char name[64];
	u32 id;

	for (id = 1; id <= DS_NR_DRAIN_KINDS; id++) {
		o = json_object();
		snprintf(name, sizeof(name), "call.%s", ds_drain_name(id));
		set_u64(o, "calls", ds_report_cpu_sum(r, name));
		snprintf(name, sizeof(name), "effective.%s", ds_drain_name(id));
		set_u64(o, "effective", ds_report_cpu_sum(r, name));
		json_object_set_new(all, ds_drain_name(id), o);
	}
	return all;
}

static json_t *json_faults(const struct ds_report *r)
{
	json_t *all = json_object(), *o;
	char args[64];
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		if (!(r->faults.wanted & DS_FAULT_BIT(id)))
			continue;
		o = json_object();
		ds_fault_args_text(&r->faults.args[id], args, sizeof(args));
		set_text(o, "arguments", args);
		set_u64(o, "hits", ds_report_fault(r, id, "hits"));
		set_u64(o, "done", ds_report_fault(r, id, "done"));
		set_u64(o, "ns", ds_report_fault(r, id, "ns"));
		json_object_set_new(all, ds_fault_rows[id].name, o);
	}
	return all;
}

static json_t *json_align_pair(const struct ds_report *r, u32 id)
{
	json_t *o = json_object(), *bins = json_array(), *len = json_array(), *unaligned;
	struct ds_align_result res;
	unsigned int i;

	ds_align_result(&r->stats, id, &res);
	set_u64(o, "rounds", res.rounds);
	set_u64(o, "missed", res.missed);
	set_u64(o, "failed", res.failed);
	set_u64(o, "overlaps", res.overlaps);
	json_object_set_new(o, "seconds", json_real(res.seconds));
	json_object_set_new(o, "overlaps_per_second", json_real(res.overlaps_s));
	for (i = 0; i < DS_ALIGN_BINS; i++)
		json_array_append_new(bins, json_integer((json_int_t)res.bins[i]));
	json_object_set_new(o, "offsets", bins);
	set_u64(o, "outside", res.outside);
	for (i = 0; i < 2; i++)
		json_array_append_new(len, json_integer((json_int_t)res.len_ns[i]));
	json_object_set_new(o, "length_ns", len);
	if (r->align.mode != DS_ALIGN_COMPARE)
		return o;
	unaligned = json_object();
	set_u64(unaligned, "actions_a", res.free_actions[0]);
	set_u64(unaligned, "actions_b", res.free_actions[1]);
	set_u64(unaligned, "overlaps", res.free_overlaps);
	json_object_set_new(unaligned, "seconds", json_real(res.free_seconds));
	json_object_set_new(unaligned, "overlaps_per_second", json_real(res.free_s));
	json_object_set_new(o, "free", unaligned);
	json_object_set_new(o, "ratio", res.ratio > 0 ? json_real(res.ratio) : json_null());
	return o;
}

static json_t *json_align(const struct ds_report *r)
{
	json_t *all = json_object();
	u32 id;

	for (id = 1; id <= DS_NR_PAIRS; id++) {
		if (r->pairs & 1U << (id - 1))
			json_object_set_new(all, ds_pair_name(id), json_align_pair(r, id));
	}
	return all;
}

static json_t *json_buckets(const struct ds_latency *l)
{
	json_t *a = json_array();
	u32 i;

	for (i = 0; i < DS_HIST_BUCKETS; i++) {
		if (l->bucket[i])
			json_array_append_new(a, json_pack("[I, I]",
							   (json_int_t)ds_hist_lower(i),
							   (json_int_t)l->bucket[i]));
	}
	return a;
}

/* Without values there are no percentiles: a zero would be one. */
static json_t *json_latency_of(const struct ds_latency *l)
{
	json_t *o = json_object();
	struct ds_latency_sum s;
	unsigned int i;

	ds_latency_sum(l, &s);
	set_text(o, "unit", "ns");
	set_u64(o, "count", s.count);
	set_u64(o, "missing", s.missing);
	set_u64(o, "overflow", s.overflow);
	if (!s.count)
		set_text(o, "reason", "none was timed");
	for (i = 0; s.count && i < DS_NR_RANKS; i++)
		set_u64(o, ds_latency_ranks[i].name, s.at[i]);
	if (s.count)
		set_u64(o, "max", s.max);
	json_object_set_new(o, "buckets", json_buckets(l));
	return o;
}

static json_t *json_latency(const struct ds_report *r)
{
	json_t *all = json_object();
	enum ds_latency_id id;

	for (id = 0; id < DS_NR_LATENCIES; id++)
		json_object_set_new(all, ds_latency_name(id), json_latency_of(&r->latency[id]));
	return all;
}

/**
 * ds_json_stats() - GET_STATS: totals, CPUs, probes, faults and pairs
 */
json_t *ds_json_stats(const struct ds_msgs *stats)
{
	json_t *o = json_object(), *cpus = json_object(), *probes = json_object();
	json_t *faults = json_object(), *align = json_object(), *race = json_object();
	json_t *latency = json_object();
	char cpu[16];
	unsigned int i;

	for (i = 0; i < stats->nr; i++) {
		const struct ds_msg *m = &stats->v[i];

		if (!strcmp(m->scope, "cpu")) {
			snprintf(cpu, sizeof(cpu), "%u", m->cpu);
			json_object_set_new(cpus, cpu, ds_json_counters(m));
		} else if (!strcmp(m->scope, "probe")) {
			json_object_set_new(probes, m->name, ds_json_counters(m));
		} else if (!strcmp(m->scope, "fault")) {
			json_object_set_new(faults, m->name, ds_json_counters(m));
		} else if (!strcmp(m->scope, "align")) {
			json_object_set_new(align, m->name, ds_json_counters(m));
		} else if (!strcmp(m->scope, "latency")) {
			/* the first of several messages has the counters */
			if (m->nr_counters)
				json_object_set_new(latency, m->name, ds_json_counters(m));
		} else if (!strcmp(m->scope, "race")) {
			snprintf(cpu, sizeof(cpu), DS_HAS(m, DS_A_CPU) ? "%u" : "far", m->cpu);
			json_object_set_new(race, cpu, ds_json_counters(m));
		} else {
			json_object_set_new(o, m->scope, ds_json_counters(m));
		}
	}
	json_object_set_new(o, "cpus", cpus);
	json_object_set_new(o, "race", race);
	json_object_set_new(o, "probes", probes);
	json_object_set_new(o, "faults", faults);
	json_object_set_new(o, "align", align);
	json_object_set_new(o, "latency", latency);
	return o;
}

/**
 * ds_json_caps() - GET_CAPS
 */
json_t *ds_json_caps(const struct ds_msg *caps)
{
	json_t *o = json_object(), *items = json_array(), *item;
	unsigned int i;

	set_text(o, "release", caps->release);
	if (caps->version[0])
		set_text(o, "version", caps->version);
	set_text(o, "state", caps->state);
	set_u64(o, "owner", caps->owner);
	set_text(o, "fix", ds_fix_name(caps->fix));
	set_u64(o, "batch_size", caps->batch_size);
	json_object_set_new(o, "mglru", json_boolean(caps->mglru));
	if (caps->reason[0])
		set_text(o, "reason", caps->reason);
	for (i = 0; i < caps->nr_items; i++) {
		const struct ds_item *it = &caps->items[i];

		item = json_object();
		set_text(item, "class", ds_class_name(it->class));
		set_u64(item, "id", it->id);
		set_text(item, "name", it->name);
		set_text(item, "title", it->title);
		json_object_set_new(item, "available", json_boolean(it->available));
		if (it->reason[0])
			set_text(item, "reason", it->reason);
		json_array_append_new(items, item);
	}
	json_object_set_new(o, "items", items);
	return o;
}

static json_t *json_column(const struct ds_series *s, size_t offset)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		const u64 *value = (const u64 *)((const char *)&s->v[i] + offset);

		json_array_append_new(a, json_integer((json_int_t)*value));
	}
	return a;
}

static json_t *json_series(const struct ds_series *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
		{ "ms", offsetof(struct ds_snapshot, ms) },
		{ "truncates", offsetof(struct ds_snapshot, truncates) },
		{ "fills", offsetof(struct ds_snapshot, fills) },
		{ "drains_effective", offsetof(struct ds_snapshot, effective) },
		{ "usages", offsetof(struct ds_snapshot, usages) },
		{ "checks_at_rest", offsetof(struct ds_snapshot, checks) },
		{ "violations", offsetof(struct ds_snapshot, violations) },
	};
	json_t *o = json_object();
	unsigned int i;

	set_u64(o, "interval_ms", s->interval_ms);
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		json_object_set_new(o, columns[i].name, json_column(s, columns[i].offset));
	return o;
}

static json_t *json_kernel_log(const struct ds_report *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "read", json_boolean(r->facts.kmsg));
	set_u64(o, "lines", r->kmsg ? r->kmsg->lines : 0);
	set_u64(o, "bad", r->facts.kmsg_bad);
	set_u64(o, "lost", r->facts.kmsg_lost);
	if (r->kmsg && r->kmsg->nr_excerpt)
		json_object_set_new(o, "excerpt", strings(r->kmsg->excerpt[0], DS_KMSG_LINE,
							  r->kmsg->nr_excerpt));
	set_u64(o, "taint_before", r->facts.taint_before);
	set_u64(o, "taint_after", r->facts.taint_after);
	return o;
}

static json_t *json_reasons(const struct ds_verdict *v)
{
	json_t *a = json_array(), *o;
	unsigned int i;

	for (i = 0; i < v->nr_reasons; i++) {
		o = json_object();
		set_text(o, "code", ds_exit_name(v->reasons[i].code));
		set_text(o, "text", v->reasons[i].text);
		json_array_append_new(a, o);
	}
	return a;
}

/**
 * ds_output_json() - write the report
 *
 * Return: 0 or -1 when it could not be written.
 */
int ds_output_json(FILE *f, const struct ds_report *r)
{
	struct ds_key keys[DS_NR_KEYS];
	json_t *o = json_object();
	unsigned int i;
	int ret;

	ds_report_keys(r, keys);
	for (i = 0; i < DS_NR_KEYS; i++) {
		if (keys[i].number)
			set_u64(o, keys[i].name, strtoull(keys[i].value, NULL, 10));
		else
			set_text(o, keys[i].name, keys[i].value);
	}
	json_object_set_new(o, "reasons", json_reasons(&r->verdict));
	json_object_set_new(o, "notes", strings(r->notes[0], DS_LOAD_TEXT, r->nr_notes));
	json_object_set_new(o, "ended", r->ended ? json_string(r->ended) : json_null());
	json_object_set_new(o, "seconds", json_real(r->seconds));
	json_object_set_new(o, "series", json_series(&r->series));
	set_text(o, "parameters", r->params);
	json_object_set_new(o, "load", json_load(r));
	json_object_set_new(o, "usage", ds_json_usage(&r->usage));
	json_object_set_new(o, "batches", json_kinds(r));
	json_object_set_new(o, "drains", json_drains(r));
	json_object_set_new(o, "faults", json_faults(r));
	json_object_set_new(o, "align", json_align(r));
	json_object_set_new(o, "latency", json_latency(r));
	json_object_set_new(o, "invariants", json_invariants(r));
	set_u64(o, "known_violations", r->verdict.known);
	set_u64(o, "checks_at_rest", r->checks_at_rest);
	set_u64(o, "longest_pause_ns", r->longest_pause_ns);
	set_u64(o, "events_lost", r->events_lost);
	json_object_set_new(o, "kernel_log", json_kernel_log(r));
	json_object_set_new(o, "stats", ds_json_stats(&r->stats));
	json_object_set_new(o, "caps", ds_json_caps(&r->caps));
	ret = json_dumpf(o, f, JSON_INDENT(2));
	json_decref(o);
	fputc('\n', f);
	return ret || fflush(f) || ferror(f) ? -1 : 0;
}
