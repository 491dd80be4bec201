// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of drainctl report that shows one soak: verdict, invariants, violations in
 * full, drains per usage, rates over time, latencies, counters, and how to repeat it.
 * What a result does not hold is said, not left out silently.
 */
#include <stdlib.h>
#include <string.h>

#include "page.h"

#define TAIL (16 << 10)

/* ---- what it was ---- */

static void facts(FILE *f, const struct ds_result *r)
{
	static const char * const keys[] = {
		"kernel", "fix", "seconds", "ended", "seed", "parameters", "checks",
		"checks_at_rest", "violations", "known_violations", "first_violation",
		"missed_probes", "events_lost",
	};
	json_t *value;
	char text[1024];
	unsigned int i;

	fputs("<dl>\n", f);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		value = json_object_get(r->json, keys[i]);
		if (!value || json_is_null(value))
			continue;
		ds_value_text(value, text, sizeof(text));
		ds_page_term(f, keys[i], text);
	}
	ds_page_term(f, "runner", r->runner);
	fputs("</dl>\n", f);
}

static void texts(FILE *f, const json_t *array, const char *title, unsigned int level)
{
	json_t *v;
	size_t i;

	if (!json_array_size(array))
		return;
	ds_page_heading(f, level, "%s", title);
	fputs("<ul>\n", f);
	json_array_foreach(array, i, v) {
		const char *code = ds_get_text(v, "code"), *text = ds_get_text(v, "text");

		if (json_is_string(v))
			ds_html(f, "li", "%s", json_string_value(v));
		else
			ds_html(f, "li", "%s: %s", code ? code : "?", text ? text : "?");
	}
	fputs("</ul>\n", f);
}

/* ---- invariants and their violations ---- */

static const char *inv_state(const json_t *inv, char *buf, size_t len)
{
	const char *known = ds_get_text(inv, "known"), *reason = ds_get_text(inv, "reason");
	double violations, checked;

	ds_get_number(inv, "violations", &violations);
	ds_get_number(inv, "checked", &checked);
	if (violations > 0 && known)
		snprintf(buf, len, "known: %s", known);
	else if (violations > 0 && json_is_false(json_object_get(inv, "counts")))
		snprintf(buf, len, "reported, does not count");
	else if (violations > 0)
		snprintf(buf, len, "VIOLATED");
	else if (checked > 0)
		snprintf(buf, len, "holds%s%s", reason ? ": " : "", reason ? reason : "");
	else
		snprintf(buf, len, "not checked: %s", reason ? reason : "nothing says why");
	return buf;
}

static void invariants(FILE *f, const json_t *r, unsigned int level)
{
	json_t *inv;
	char state[512];
	size_t i;

	ds_page_heading(f, level, "Invariants");
	if (!json_array_size(json_object_get(r, "invariants"))) {
		ds_html(f, "p", "This result holds no invariants.");
		return;
	}
	ds_html_table(f, "Invariants with counts",
		      "Id,#Checked,#Violations,~State,~What must hold");
	json_array_foreach(json_object_get(r, "invariants"), i, inv) {
		inv_state(inv, state, sizeof(state));
		fputs("<tr>", f);
		ds_page_cells(f, inv, "id,checked,violations");
		ds_html(f, !strcmp(state, "VIOLATED") ? "td class=\"bad\"" : "td", "%s", state);
		ds_page_cells(f, inv, "title");
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
}

/* All that is known of it, whatever that is; what is an object with its name before. */
static void entries(FILE *f, const char *before, json_t *o)
{
	char name[128], text[4096], *p;
	const char *key;
	json_t *value;

	json_object_foreach(o, key, value) {
		snprintf(name, sizeof(name), "%.40s%s%.80s", before, *before ? " " : "", key);
		for (p = name; (p = strchr(p, '_')); p++)
			*p = ' ';
		if (json_is_object(value)) {
			if (!*before)
				entries(f, name, value);
		} else if (!json_is_array(value)) {
			ds_value_text(value, text, sizeof(text));
			ds_page_term(f, name, text);
		}
	}
}

static void last_actions(FILE *f, const json_t *list)
{
	json_t *a;
	double ns;
	size_t i;

	if (!json_array_size(list))
		return;
	ds_html_table(f, "Last actions of the module", "#Seconds before,#CPU,~What");
	json_array_foreach(list, i, a) {
		ds_get_number(a, "relative_ns", &ns);
		fputs("<tr>", f);
		ds_html(f, "td class=\"n\"", "%.6f", ns / 1e9);
		ds_page_cells(f, a, "cpu,text");
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
}

static void violations(FILE *f, const json_t *r, unsigned int level)
{
	unsigned int nr = 0;
	json_t *inv, *v;
	const char *id, *title;
	double count;
	size_t i;

	ds_page_heading(f, level, "Violations");
	json_array_foreach(json_object_get(r, "invariants"), i, inv) {
		v = json_object_get(inv, "first_violation");
		if (!json_is_object(v))
			continue;
		id = ds_get_text(inv, "id");
		title = ds_get_text(inv, "title");
		ds_get_number(inv, "violations", &count);
		fputs("<div class=\"violation\">\n", f);
		ds_page_heading(f, level + 1, "%s: %s", id ? id : "?", title ? title : "?");
		ds_html(f, "p", "The first of %.0f:", count);
		fputs("<dl>\n", f);
		entries(f, "", v);
		fputs("</dl>\n", f);
		last_actions(f, json_object_get(v, "actions"));
		fputs("</div>\n", f);
		nr++;
	}
	if (!nr)
		ds_html(f, "p", "None.");
}

static void kernel_log(FILE *f, const json_t *r, unsigned int level)
{
	const json_t *log = json_object_get(r, "kernel_log");
	const json_t *excerpt = json_object_get(log, "excerpt");
	json_t *line;
	size_t i;

	if (!json_is_object(log))
		return;
	ds_page_heading(f, level, "Kernel log");
	ds_html_table(f, "Kernel log", "#Lines,#Bad,#Lost,#Taint before,#Taint after");
	fputs("<tr>", f);
	ds_page_cells(f, log, "lines,bad,lost,taint_before,taint_after");
	fputs("</tr>\n", f);
	ds_html_table_end(f);
	if (!json_array_size(excerpt))
		return;
	fputs("<pre>", f);
	json_array_foreach(excerpt, i, line) {
		ds_html_text(f, json_is_string(line) ? json_string_value(line) : "?");
		fputc('\n', f);
	}
	fputs("</pre>\n", f);
}

/* ---- drains per usage ---- */

static void usage_bars(FILE *f, const char *entry, const json_t *o)
{
	static const char * const keys[] = {
		"drains.0", "drains.1", "drains.2", "drains.3", "drains.4+",
	};
	struct ds_bar bars[ARRAY_SIZE(keys)];
	char title[160];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		ds_get_number(o, keys[i], &bars[i].value);
		snprintf(bars[i].label, sizeof(bars[i].label), "%s drain%s", keys[i] + 7,
			 i == 1 ? "" : "s");
		snprintf(bars[i].text, sizeof(bars[i].text), "%.0f", bars[i].value);
	}
	snprintf(title, sizeof(title), "Usages of %.100s by their drains", entry);
	ds_html_bars(f, title, bars, ARRAY_SIZE(bars));
}

static void drains_per_usage(FILE *f, const json_t *r, unsigned int level)
{
	json_t *all = json_object_get(r, "usage"), *o;
	const char *entry;
	double usages;

	ds_page_heading(f, level, "Drains per usage");
	if (!json_object_size(all)) {
		ds_html(f, "p", "This result holds no usages.");
		return;
	}
	ds_html_table(f, "Drains per usage of a batch",
		      "Entry point,#Usages,#Releases,#Drains,#Most");
	json_object_foreach(all, entry, o) {
		fputs("<tr>", f);
		ds_html(f, "td", "%s", entry);
		ds_page_cells(f, o, "usages,releases,drains,max");
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
	fputs("<div class=\"charts\">\n", f);
	json_object_foreach(all, entry, o) {
		if (ds_get_number(o, "usages", &usages) && usages > 0)
			usage_bars(f, entry, o);
	}
	fputs("</div>\n", f);
}

/* ---- rates over time ---- */

/* Return: how many points there are; @p has room for as many as there are samples. */
static unsigned int rate_points(const json_t *ms, const json_t *counts, struct ds_point *p)
{
	double then = 0, before = 0, now, count;
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < json_array_size(ms) && i < json_array_size(counts); i++) {
		now = json_number_value(json_array_get(ms, i));
		count = json_number_value(json_array_get(counts, i));
		if (now <= then)
			continue;
		p[nr].x = now / 1000;
		p[nr++].y = count > before ? (count - before) * 1000 / (now - then) : 0;
		then = now;
		before = count;
	}
	return nr;
}

static void rates(FILE *f, const json_t *r, unsigned int level)
{
	static const struct {
		const char *key, *title;
	} rows[] = {
		{ "truncates", "Truncates a second" },
		{ "fills", "Fills a second" },
		{ "drains_effective", "Effective drains a second" },
		{ "usages", "Usages a second" },
	};
	const json_t *series = json_object_get(r, "series"), *ms = json_object_get(series, "ms");
	struct ds_point *points;
	unsigned int i, nr;

	ds_page_heading(f, level, "Rates over time");
	if (json_array_size(ms) < 2) {
		ds_html(f, "p", "%s", json_is_object(series) ?
			"The run was too short for a rate over time." :
			"This result holds no samples over time: an older drainctl made it.");
		return;
	}
	points = calloc(json_array_size(ms), sizeof(*points));
	fputs("<div class=\"charts\">\n", f);
	for (i = 0; points && i < ARRAY_SIZE(rows); i++) {
		nr = rate_points(ms, json_object_get(series, rows[i].key), points);
		if (nr > 1)
			ds_html_line(f, rows[i].title, "s", points, nr);
	}
	fputs("</div>\n", f);
	free(points);
}

/* ---- latencies ---- */

static void ns_text(double ns, char *buf, size_t len)
{
	if (ns < 1e3)
		snprintf(buf, len, "%.0f ns", ns);
	else if (ns < 1e6)
		snprintf(buf, len, "%.3g us", ns / 1e3);
	else if (ns < 1e9)
		snprintf(buf, len, "%.3g ms", ns / 1e6);
	else
		snprintf(buf, len, "%.4g s", ns / 1e9);
}

static void latency_row(FILE *f, const char *name, const json_t *o)
{
	static const char * const keys[] = { "p50", "p90", "p99", "p99.9", "max" };
	char text[64];
	unsigned int i;
	double ns;

	fputs("<tr>", f);
	ds_html(f, "td", "%s", name);
	ds_page_cells(f, o, "count");
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(text, sizeof(text), "-");
		if (ds_get_number(o, keys[i], &ns))
			ns_text(ns, text, sizeof(text));
		ds_html(f, "td class=\"n\"", "%s", text);
	}
	fputs("</tr>\n", f);
}

#define BINS 64

/* The buckets are too fine to look at: those of a power of two are one bar. */
static void latency_bars(FILE *f, const char *name, const json_t *buckets)
{
	struct ds_bar bars[BINS] = { 0 };
	unsigned int i, first = BINS, last = 0;
	char from[32], title[160];
	json_t *b;
	size_t n;

	json_array_foreach(buckets, n, b) {
		double lower = json_number_value(json_array_get(b, 0));
		double count = json_number_value(json_array_get(b, 1));

		for (i = 0; i < BINS - 1 && lower >= 2; i++)
			lower /= 2;
		bars[i].value += count;
		if (count > 0) {
			first = i < first ? i : first;
			last = i > last ? i : last;
		}
	}
	if (first > last)
		return;
	for (i = first; i <= last; i++) {
		ns_text(i ? (double)(1ULL << i) : 0, from, sizeof(from));
		snprintf(bars[i].label, sizeof(bars[i].label), "from %s", from);
		snprintf(bars[i].text, sizeof(bars[i].text), "%.0f", bars[i].value);
	}
	snprintf(title, sizeof(title), "Latencies of %.100s", name);
	ds_html_bars(f, title, bars + first, last - first + 1);
}

static void latencies(FILE *f, const json_t *r, unsigned int level)
{
	json_t *all = json_object_get(r, "latency"), *o;
	const char *name;

	ds_page_heading(f, level, "Latencies");
	if (!json_object_size(all)) {
		ds_html(f, "p", "This result holds no latencies: an older drainctl made it.");
		return;
	}
	ds_html_table(f, "Latencies: percentiles", "What,#Count,#p50,#p90,#p99,#p99.9,#max");
	json_object_foreach(all, name, o)
		latency_row(f, name, o);
	ds_html_table_end(f);
	fputs("<div class=\"charts\">\n", f);
	json_object_foreach(all, name, o)
		latency_bars(f, name, json_object_get(o, "buckets"));
	fputs("</div>\n", f);
}

/* ---- counters ---- */

static void table_of(FILE *f, const json_t *r, const char *part, const char *caption,
		     const char *columns, const char *keys)
{
	json_t *all = json_object_get(r, part), *o;
	const char *name;

	if (!json_object_size(all))
		return;
	ds_html_table(f, caption, columns);
	json_object_foreach(all, name, o) {
		fputs("<tr>", f);
		ds_html(f, "td", "%s", name);
		ds_page_cells(f, o, keys);
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
}

static void counters(FILE *f, const json_t *r, unsigned int level)
{
	const json_t *load = json_object_get(r, "load"), *mix = json_object_get(load, "mix");

	ds_page_heading(f, level, "What was done");
	table_of(f, r, "drains", "Drains", "Kind,#Calls,#Effective", "calls,effective");
	table_of(f, r, "batches", "Batches", "Kind,#Filled,#Full,#Early,#By drains,#Moved",
		 "fill,flush.full,flush.early,flush.drain,moved");
	table_of(f, r, "faults", "Faults", "Name,Arguments,#Hits,#Done", "arguments,hits,done");
	if (json_is_object(load)) {
		ds_html_table(f, "The load", "#Threads,#Truncates,#Pages written,#Errors,Places");
		fputs("<tr>", f);
		ds_page_cells(f, load, "threads,truncates,pages_written,truncate_errors,places");
		fputs("</tr>\n", f);
		ds_html_table_end(f);
	}
	table_of(f, mix, "ops", "Operations of mix threads",
		 "Name,#Weight,#System calls,#io_uring,#Refused,~Not available",
		 "weight,syscall,io_uring,refused,reason");
}

/* ---- the rest ---- */

static void shell(FILE *f, const char *what, const char *command)
{
	ds_html(f, "p", "%s:", what);
	ds_html(f, "pre", "%s", command);
}

static void how_to_repeat(FILE *f, const struct ds_result *r, unsigned int level)
{
	const char *command = ds_get_text(r->json, "repeat");
	char replay[NAME_MAX + 32], seed[64];

	ds_page_heading(f, level, "How to repeat it");
	if (r->command[0])
		shell(f, "In a virtual machine, as it was", r->command);
	if (command)
		shell(f, "drainctl alone, as root, with the same seed", command);
	if (r->replay[0]) {
		snprintf(replay, sizeof(replay), "drainctl replay %s", r->replay);
		shell(f, "What led to the failure, from the replay file in the result's folder",
		      replay);
	}
	if (json_object_get(r->json, "seed")) {
		ds_value_text(json_object_get(r->json, "seed"), seed, sizeof(seed));
		ds_html(f, "p", "The seed is %s. %s", seed, r->replay[0] ? "" :
			"There is no replay file beside this result; a run that fails leaves one where --replay-file says.");
	}
	if (!r->command[0] && !command)
		ds_html(f, "p", "This result does not say how it was made.");
}

/* The end of a text file beside the result, if there is any. */
static void tail(FILE *f, const struct ds_result *r, const char *name, const char *what)
{
	char path[PATH_MAX], *text = malloc(TAIL + 1);
	FILE *log = NULL;
	size_t n;

	if (snprintf(path, sizeof(path), "%s/%s", r->dir, name) < (int)sizeof(path))
		log = fopen(path, "re");
	if (log && text) {
		/* of a short file all */
		if (fseek(log, -TAIL, SEEK_END))
			rewind(log);
		n = fread(text, 1, TAIL, log);
		text[n] = '\0';
		if (n)
			shell(f, what, text);
	}
	free(text);
	if (log)
		fclose(log);
}

/* Of a guest that died, or made no JSON: what its drainctl said, violations in full. */
static void last_words(FILE *f, const struct ds_result *r, unsigned int level)
{
	ds_page_heading(f, level, "No report");
	ds_html(f, "p",
		"The run has left no JSON report, so there are no counts to show. In a virtual machine it leaves one with --output /tmp/result.json, unless the guest dies.");
	tail(f, r, "stdout.log", "The end of what drainctl printed");
	tail(f, r, "stderr.log", "The end of what drainctl said");
}

/**
 * ds_page_soak() - one run
 * @level: of its headings
 */
void ds_page_soak(FILE *f, const struct ds_result *r, unsigned int level)
{
	facts(f, r);
	if (!r->json) {
		last_words(f, r, level);
		how_to_repeat(f, r, level);
		return;
	}
	texts(f, json_object_get(r->json, "reasons"), "Reasons of the verdict", level);
	texts(f, json_object_get(r->json, "notes"), "Notes", level);
	violations(f, r->json, level);
	invariants(f, r->json, level);
	drains_per_usage(f, r->json, level);
	rates(f, r->json, level);
	latencies(f, r->json, level);
	counters(f, r->json, level);
	kernel_log(f, r->json, level);
	how_to_repeat(f, r, level);
}
