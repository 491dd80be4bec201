// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison on standard output: as text, whose first 22 lines are the table, as
 * JSON and as CSV; and the notes on what should be equal and is not.  Computes no
 * figure.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "commands.h"
#include "compare_output.h"
#include "version.h"

/* ---- notes ---- */

static void __printf(2, 3) note(struct ds_compare_report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->nr_notes == DS_COMPARE_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(r->notes[r->nr_notes++], sizeof(r->notes[0]), fmt, ap);
	va_end(ap);
}

/* The next boot of @nr runs, or NULL; @run and @boot tell where. */
static const struct ds_boot *next_boot(const struct ds_samples *runs, unsigned int nr,
				       unsigned int *run, unsigned int *boot)
{
	while (*run < nr && *boot == runs[*run].nr_boots) {
		(*run)++;
		*boot = 0;
	}
	return *run < nr ? &runs[*run].boots[(*boot)++] : NULL;
}

/* The first two boots of @nr runs that have other values of a key. */
static void note_key(struct ds_compare_report *r, const struct ds_samples *runs, unsigned int nr,
		     const char *key, const char *why)
{
	const char *first = NULL, *of = NULL, *value;
	unsigned int run = 0, boot = 0;
	const struct ds_boot *b;

	while ((b = next_boot(runs, nr, &run, &boot))) {
		value = ds_boot_key(b, key);
		if (value && first && strcmp(value, first)) {
			note(r, "%s differs: %.60s in %.60s, %.60s in %.60s: %s", key, first, of,
			     value, runs[run].name, why);
			return;
		}
		if (value && !first) {
			first = value;
			of = runs[run].name;
		}
	}
}

/**
 * ds_compare_notes() - what should be equal and is not
 */
void ds_compare_notes(struct ds_compare_report *r)
{
	static const char *const equal[] = { "fs", "order", "method", "cpus", "dirs", "files",
		"size", "faults" };
	unsigned int i;

	for (i = 1; i < r->nr; i++) {
		if (r->runs[i].nr != r->runs[0].nr)
			note(r, "unequal n: %zu in %.100s, %zu in %.100s", r->runs[0].nr,
			     r->runs[0].name, r->runs[i].nr, r->runs[i].name);
	}
	for (i = 0; i < ARRAY_SIZE(equal); i++)
		note_key(r, r->runs, r->nr, equal[i], "these are not runs of one load");
	for (i = 0; i < r->nr; i++)
		note_key(r, &r->runs[i], 1, "kernel", "these are not boots of one kernel");
}

/* ---- text ---- */

static const char *plural(size_t nr)
{
	return nr == 1 ? "" : "s";
}

static bool has_pair(const struct ds_boot *b, const struct ds_sample_key *k)
{
	unsigned int i;

	for (i = 0; i < b->nr_keys; i++) {
		if (!strcmp(b->keys[i].key, k->key) && !strcmp(b->keys[i].value, k->value))
			return true;
	}
	return false;
}

static bool all_have(const struct ds_samples *s, const struct ds_sample_key *k)
{
	unsigned int i;

	for (i = 0; i < s->nr_boots; i++) {
		if (!has_pair(&s->boots[i], k))
			return false;
	}
	return true;
}

/* What the headers of a run's files say, of one of its boots: the same in all, or not. */
static void text_keys(const struct ds_samples *s, const struct ds_boot *b, bool common)
{
	const char *sep = common ? "    " : "      ";
	const struct ds_sample_key *k;

	for (k = b->keys; k < b->keys + b->nr_keys; k++) {
		if (!strcmp(k->key, "boot") || k->counted || all_have(s, k) != common)
			continue;
		printf("%s%s: %s", sep, k->key, k->value);
		sep = ", ";
	}
	if (*sep == ',')
		putchar('\n');
}

/* Counts of all its boots together. */
static void text_counts(const struct ds_samples *s)
{
	const struct ds_sample_key *k;
	const char *sep = "    ";
	double per_usage;
	u64 count;

	for (k = s->boots->keys; k < s->boots->keys + s->boots->nr_keys; k++) {
		if (!k->counted || !ds_samples_count(s, k->key, &count))
			continue;
		printf("%s%s: %llu", sep, k->key, count);
		sep = ", ";
	}
	if (ds_samples_drains(s, &per_usage))
		printf(", drains per usage: %.4f", per_usage);
	if (*sep == ',')
		putchar('\n');
}

static void text_run(const struct ds_samples *s)
{
	const struct ds_boot *b;

	printf("  %s: n %zu, %u boot%s, %u iteration%s, median %.2f us\n", s->name, s->nr,
	       s->nr_boots, plural(s->nr_boots), s->nr_iterations, plural(s->nr_iterations),
	       ds_samples_median(s));
	text_keys(s, s->boots, true);
	text_counts(s);
	for (b = s->boots; b < s->boots + s->nr_boots; b++) {
		printf("    boot %s: n %zu, %u iteration%s, median %.2f us, from %.2f to %.2f us",
		       b->id, b->nr, b->iterations, plural(b->iterations), b->median, b->v[0],
		       b->v[b->nr - 1]);
		if (strcmp(b->id, b->file))
			printf(", %s", b->file);
		putchar('\n');
		text_keys(s, b, false);
	}
}

static void text_spread(const struct ds_spread *s, const char *what)
{
	printf("  %s:%*s ", what, (int)(13 - strlen(what)), "");
	if (!s->df) {
		printf("%u and %u: whether %s differ more than the runs is not known\n", s->nr_a,
		       s->nr_b, what);
		return;
	}
	printf("medians of %u and %u deviate by %.2f us, the runs' differ by %.2f us: ", s->nr_a,
	       s->nr_b, s->sd, fabs(s->diff));
	printf("%s differ %s than the runs do\n", what,
	       s->sd > fabs(s->diff) ? "more" : "no more");
}

/* How often a kernel compared with itself is found to be another. */
static void text_false_alarms(enum ds_decided decided)
{
	if (decided == DS_DECIDED_NOTHING) {
		puts("  false alarms:  none, for nothing is concluded");
		return;
	}
	printf("  false alarms:  expected in %.0f %% of comparisons of a kernel with itself%s\n",
	       100 * DS_COMPARE_ALPHA,
	       decided == DS_DECIDED_SAMPLES ? ", in more where its boots differ" : "");
}

static void text_comparison(const struct ds_comparison *c)
{
	const struct ds_median_diff *m = &c->median;
	double base = ds_samples_median(c->a);
	char p[16];

	printf("\n%s against %s:\n", c->b->name, c->a->name);
	if (c->welch.flat)
		printf("  means:         no t: no run has a deviation (Welch), p = %s\n",
		       ds_format_p(c->welch.p, p, sizeof(p)));
	else
		printf("  means:         t = %.2f, df = %.0f, p = %s (Welch)\n", c->welch.t,
		       c->welch.df, ds_format_p(c->welch.p, p, sizeof(p)));
	printf("  ranks:         U = %.1f, p = %s (Mann-Whitney), %s slower in %.1f %% of pairs\n",
	       c->mw.u, ds_format_p(c->mw.p, p, sizeof(p)), c->b->name, 100 * c->mw.share);
	printf("  medians:       differ by %.2f us (%.2f %%)", m->diff,
	       base > 0 ? 100 * m->diff / base : 0);
	printf(", 95 %% interval %.2f to %.2f us (bootstrap, %u resamples, seed %llu)\n", m->low,
	       m->high, m->resamples, m->seed);
	text_spread(&c->boots, "boots");
	text_spread(&c->iterations, "iterations");
	printf("  conclusion:    %s\n", c->conclusion);
	text_false_alarms(c->decided);
}

static void print_text(const struct ds_compare_report *r)
{
	unsigned int i;

	ds_table_print(&r->table, stdout);
	printf("\nruns (times in microseconds):\n");
	for (i = 0; i < r->nr; i++)
		text_run(&r->runs[i]);
	for (i = 0; i < r->nr - 1; i++)
		text_comparison(&r->comparisons[i]);
	if (r->nr_notes)
		putchar('\n');
	for (i = 0; i < r->nr_notes; i++)
		printf("note: %s\n", r->notes[i]);
}

/* ---- JSON ---- */

/* Paths and headers need not be UTF-8, JSON has to. */
static json_t *json_words(const char *s)
{
	json_t *o = json_string(s);
	char *plain, *p;

	if (o)
		return o;
	plain = strdup(s);
	for (p = plain; p && *p; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	o = json_string(plain ? plain : "?");
	free(plain);
	return o;
}

static void set(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, isfinite(value) ? json_real(value) : json_null());
}

static void set_count(json_t *o, const char *key, u64 value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

/* A key that stands twice has both values. */
static json_t *json_keys(const struct ds_boot *b)
{
	json_t *o = json_object(), *old, *key;
	unsigned int i;

	for (i = 0; i < b->nr_keys; i++) {
		if (b->keys[i].counted)
			continue;
		key = json_words(b->keys[i].key);
		old = json_object_get(o, json_string_value(key));
		if (old)
			json_object_set_new(o, json_string_value(key),
					    json_sprintf("%s, %s", json_string_value(old),
							 b->keys[i].value));
		else
			json_object_set_new(o, json_string_value(key),
					    json_words(b->keys[i].value));
		json_decref(key);
	}
	return o;
}

static json_t *json_counts(const struct ds_boot *b)
{
	json_t *o = json_object(), *key;
	unsigned int i;

	for (i = 0; i < b->nr_keys; i++) {
		if (!b->keys[i].counted)
			continue;
		key = json_words(b->keys[i].key);
		set_count(o, json_string_value(key), b->keys[i].count);
		json_decref(key);
	}
	return o;
}

static json_t *json_boot(const struct ds_samples *s, unsigned int nr)
{
	const struct ds_boot *b = &s->boots[nr];
	json_t *o = json_object(), *medians = json_array(), *samples = json_array();
	unsigned int i;
	size_t n;

	json_object_set_new(o, "boot", json_words(b->id));
	json_object_set_new(o, "file", json_words(b->file));
	set_count(o, "n", b->nr);
	set(o, "median", b->median);
	json_object_set_new(o, "keys", json_keys(b));
	json_object_set_new(o, "counts", json_counts(b));
	for (i = 0; i < s->nr_iterations; i++) {
		if (s->iterations[i].boot == nr)
			json_array_append_new(medians, json_real(s->iterations[i].median));
	}
	json_object_set_new(o, "iteration_medians", medians);
	for (n = 0; n < b->nr; n++)
		json_array_append_new(samples, json_real(b->v[n]));
	json_object_set_new(o, "samples", samples);
	return o;
}

static json_t *json_run(const struct ds_samples *s)
{
	json_t *o = json_object(), *boots = json_array();
	double per_usage;
	unsigned int i;

	json_object_set_new(o, "name", json_string(s->name));
	set_count(o, "n", s->nr);
	set(o, "median", ds_samples_median(s));
	set_count(o, "iterations", s->nr_iterations);
	set(o, "drains_per_usage", ds_samples_drains(s, &per_usage) ? per_usage : NAN);
	for (i = 0; i < s->nr_boots; i++)
		json_array_append_new(boots, json_boot(s, i));
	json_object_set_new(o, "boots", boots);
	return o;
}

static json_t *json_row(const struct ds_table *t, unsigned int row)
{
	json_t *o = json_object(), *values = json_array(), *percent = json_array();
	json_t *stars = json_array();
	unsigned int i;

	json_object_set_new(o, "name", json_string(ds_table_row(row)));
	for (i = 0; i < t->nr; i++) {
		json_array_append_new(values, json_real(t->cells[row][i].value));
		json_array_append_new(percent, json_real(t->cells[row][i].percent));
		json_array_append_new(stars, json_boolean(t->cells[row][i].star));
	}
	json_object_set_new(o, "values", values);
	json_object_set_new(o, "percent", percent);
	json_object_set_new(o, "significant", stars);
	return o;
}

static json_t *json_spread(const struct ds_spread *s)
{
	json_t *o = json_object(), *more;

	set_count(o, "baseline", s->nr_a);
	set_count(o, "run", s->nr_b);
	set_count(o, "df", s->df);
	set(o, "deviation", s->df ? s->sd : NAN);
	set(o, "difference", s->diff);
	set(o, "p", s->df ? s->p : NAN);
	more = s->df ? json_boolean(s->sd > fabs(s->diff)) : json_null();
	json_object_set_new(o, "differ_more_than_runs", more);
	return o;
}

static json_t *json_comparison(const struct ds_comparison *c)
{
	json_t *o = json_object(), *part = json_object();

	json_object_set_new(o, "baseline", json_string(c->a->name));
	json_object_set_new(o, "run", json_string(c->b->name));
	set(part, "t", c->welch.flat ? NAN : c->welch.t);
	set(part, "df", c->welch.df);
	set(part, "p", c->welch.p);
	json_object_set_new(o, "welch", part);
	part = json_object();
	set(part, "u", c->mw.u);
	set(part, "share", c->mw.share);
	set(part, "p", c->mw.p);
	json_object_set_new(o, "mann_whitney", part);
	part = json_object();
	set(part, "difference", c->median.diff);
	set(part, "low", c->median.low);
	set(part, "high", c->median.high);
	set_count(part, "resamples", c->median.resamples);
	json_object_set_new(part, "seed", json_sprintf("%llu", c->median.seed));
	json_object_set_new(o, "median", part);
	json_object_set_new(o, "boots", json_spread(&c->boots));
	json_object_set_new(o, "iterations", json_spread(&c->iterations));
	json_object_set_new(o, "decided_by", json_string(ds_decided_name(c->decided)));
	set(o, "p", c->p);
	json_object_set_new(o, "significant", json_boolean(c->significant));
	set(o, "expected_false_alarms", c->decided ? DS_COMPARE_ALPHA : 0);
	json_object_set_new(o, "conclusion", json_string(c->conclusion));
	return o;
}

static void print_json(const struct ds_compare_report *r)
{
	json_t *o = json_object(), *runs = json_array(), *rows = json_array();
	json_t *comparisons = json_array(), *notes = json_array();
	unsigned int i;

	json_object_set_new(o, "kind", json_string("comparison"));
	json_object_set_new(o, "drainctl", json_string(DS_VERSION));
	json_object_set_new(o, "unit", json_string("us"));
	json_object_set_new(o, "operation", json_string(DS_TABLE_OPERATION));
	json_object_set_new(o, "stars", json_string(r->stars->name));
	for (i = 0; i < DS_TABLE_ROWS; i++)
		json_array_append_new(rows, json_row(&r->table, i));
	json_object_set_new(o, "rows", rows);
	for (i = 0; i < r->nr - 1; i++)
		json_array_append_new(comparisons, json_comparison(&r->comparisons[i]));
	json_object_set_new(o, "comparisons", comparisons);
	for (i = 0; i < r->nr_notes; i++)
		json_array_append_new(notes, json_words(r->notes[i]));
	json_object_set_new(o, "notes", notes);
	for (i = 0; i < r->nr; i++)
		json_array_append_new(runs, json_run(&r->runs[i]));
	json_object_set_new(o, "runs", runs);
	ds_cmd_print_json(o);
}

/* ---- CSV, RFC 4180 but for its line ends ---- */

static void csv_field(const char *s)
{
	if (!strpbrk(s, ",\" ")) {
		fputs(s, stdout);
		return;
	}
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

static void csv_item(const struct ds_samples *run, const char *item, double value)
{
	csv_field(run->name);
	printf(",%s,%.17g,,\n", item, value);
}

static void csv_run(const struct ds_compare_report *r, unsigned int run)
{
	const struct ds_samples *s = &r->runs[run];
	const struct ds_comparison *c;
	double per_usage;
	unsigned int row;

	for (row = 0; row < DS_TABLE_ROWS; row++) {
		const struct ds_table_cell *cell = &r->table.cells[row][run];

		csv_field(s->name);
		printf(",%s,%.17g,%.17g,%s\n", ds_table_row(row), cell->value, cell->percent,
		       cell->star ? "yes" : "no");
	}
	csv_item(s, "n", s->nr);
	csv_item(s, "boots", s->nr_boots);
	csv_item(s, "iterations", s->nr_iterations);
	csv_item(s, "median", ds_samples_median(s));
	if (ds_samples_drains(s, &per_usage))
		csv_item(s, "drains-per-usage", per_usage);
	if (!run)
		return;
	c = &r->comparisons[run - 1];
	csv_item(s, "t", c->welch.t);
	csv_item(s, "t-df", c->welch.df);
	csv_item(s, "t-p", c->welch.p);
	csv_item(s, "U", c->mw.u);
	csv_item(s, "U-p", c->mw.p);
	csv_item(s, "median-difference", c->median.diff);
	csv_item(s, "median-difference-low", c->median.low);
	csv_item(s, "median-difference-high", c->median.high);
	csv_item(s, "significant", c->significant);
}

static void print_csv(const struct ds_compare_report *r)
{
	unsigned int run;

	puts("run,item,value,percent,significant");
	for (run = 0; run < r->nr; run++)
		csv_run(r, run);
}

/* ---- the table of formats ---- */

static const struct ds_compare_format formats[] = {
	{ "text", print_text },
	{ "json", print_json },
	{ "csv", print_csv },
};

/**
 * ds_compare_format_find() - NULL when there is none of that name
 */
const struct ds_compare_format *ds_compare_format_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

/**
 * ds_compare_format_names() - all of them, for messages
 */
void ds_compare_format_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(formats) && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", formats[i].name);
}
