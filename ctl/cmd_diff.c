// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl diff": two results of "drainctl run" side by side.  All that differs or
 * can be measured is put into one JSON object, which is printed as it is or as text.
 * It says by how much they differ, not whether that means anything: two runs are not
 * enough for that.  Needs no module.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "opts.h"
#include "results.h"

#define SIDES 2
#define NAME_WIDTH 50
#define VALUE_WIDTH 22

static const char side_keys[SIDES][2] = { "a", "b" };

/* What is compared: @r the whole reports, @v[] the part that a section is about. */
struct diff {
	const struct ds_result *results[SIDES];
	const json_t *r[SIDES];
	const json_t *v[SIDES];
	double seconds[SIDES];
	json_t *sections;
	json_t *rows;		/* of the section that is being made */
};

/* ---- rows ---- */

static void section(struct diff *d, const char *name)
{
	json_t *o = json_object();

	d->rows = json_array();
	json_object_set_new(o, "name", json_string(name));
	json_object_set_new(o, "rows", d->rows);
	json_array_append_new(d->sections, o);
}

static void note(struct diff *d, const char *text)
{
	json_t *s = json_array_get(d->sections, json_array_size(d->sections) - 1);

	json_object_set_new(s, "note", json_string(text));
}

/* By how much b is above a, in percent of a; nothing to say when a is none. */
static json_t *percent(const json_t *a, const json_t *b)
{
	double va = json_number_value(a), vb = json_number_value(b);

	if (!json_is_number(a) || !json_is_number(b) || va < 0 || (va <= 0 && vb != 0))
		return json_null();
	return json_real(va > 0 ? (vb - va) * 100 / va : 0);
}

/* Takes over both values; NULL is what is not there. */
static void add_row(struct diff *d, const char *name, json_t *a, json_t *b, json_t *change)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(name));
	json_object_set_new(o, "a", a ? a : json_null());
	json_object_set_new(o, "b", b ? b : json_null());
	json_object_set_new(o, "percent", change);
	json_array_append_new(d->rows, o);
}

static void row(struct diff *d, const char *name, json_t *a, json_t *b)
{
	add_row(d, name, a, b, percent(a, b));
}

static void set_part(struct diff *d, const char *key)
{
	unsigned int i;

	for (i = 0; i < SIDES; i++)
		d->v[i] = json_object_get(d->r[i], key);
}

static json_t *take(const json_t *o, const char *key)
{
	return json_incref(json_object_get(o, key));
}

static void value_row(struct diff *d, const char *name, const char *key)
{
	row(d, name, take(d->v[0], key), take(d->v[1], key));
}

/* Of a number that is a code, or of words: no percentage says anything. */
static void plain_row(struct diff *d, const char *name, const char *key)
{
	add_row(d, name, take(d->v[0], key), take(d->v[1], key), json_null());
}

static json_t *ratio(const json_t *o, const char *key, double by)
{
	double value;

	if (!ds_get_number(o, key, &value) || by <= 0)
		return NULL;
	return json_real(value / by);
}

static void rate_row(struct diff *d, const char *name, const char *key)
{
	row(d, name, ratio(d->v[0], key, d->seconds[0]), ratio(d->v[1], key, d->seconds[1]));
}

/*
 * The keys of both objects, in the order in which they stand there.
 * Return: an array.
 */
static json_t *both_keys(json_t *a, json_t *b)
{
	json_t *keys = json_array(), *value;
	const char *key;

	json_object_foreach(a, key, value)
		json_array_append_new(keys, json_string(key));
	json_object_foreach(b, key, value) {
		if (!json_object_get(a, key))
			json_array_append_new(keys, json_string(key));
	}
	return keys;
}

typedef void (*each_fn)(struct diff *d, const char *key);

/* @fn for each key of the part @part of both; @fn finds its values in d->v[]. */
static void each(struct diff *d, const char *part, each_fn fn)
{
	json_t *o[SIDES], *keys, *key;
	unsigned int i;
	size_t n;

	for (i = 0; i < SIDES; i++)
		o[i] = json_object_get(d->r[i], part);
	keys = both_keys(o[0], o[1]);
	json_array_foreach(keys, n, key) {
		for (i = 0; i < SIDES; i++)
			d->v[i] = json_object_get(o[i], json_string_value(key));
		fn(d, json_string_value(key));
	}
	json_decref(keys);
}

/* ---- sections ---- */

/* What saw the console too may know better than the guest. */
static void runner(struct diff *d)
{
	json_t *v[SIDES];
	char word[64];
	unsigned int i;

	if (!d->results[0]->runner[0] && !d->results[1]->runner[0])
		return;
	for (i = 0; i < SIDES; i++) {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(d->results[i]->runner, " "),
			 d->results[i]->runner);
		v[i] = *word ? json_string(word) : NULL;
	}
	add_row(d, "verdict of tests/vm/run", v[0], v[1], json_null());
}

static void outcome(struct diff *d)
{
	static const char * const plain[] = {
		"verdict", "exit", "kernel", "fix", "ended", "first_violation",
	};
	static const char * const counts[] = {
		"violations", "known_violations", "missed_probes", "seconds",
	};
	unsigned int i;

	section(d, "outcome");
	memcpy(d->v, d->r, sizeof(d->v));
	for (i = 0; i < ARRAY_SIZE(plain); i++)
		plain_row(d, plain[i], plain[i]);
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		value_row(d, counts[i], counts[i]);
	runner(d);
}

/* "threads=64 seed=1": as an object */
static json_t *parameters(const json_t *r)
{
	const char *s = ds_get_text(r, "parameters");
	json_t *o = json_object();
	size_t n, k;

	for (; s && *s; s += n + (s[n] == ' ')) {
		n = strcspn(s, " ");
		k = strcspn(s, "= ");
		if (k < n) {
			char *name = strndup(s, k);

			json_object_set_new(o, name ? name : "?",
					    json_stringn(s + k + 1, n - k - 1));
			free(name);
		}
	}
	return o;
}

static void differing(struct diff *d, const char *key)
{
	const json_t *a = d->v[0], *b = d->v[1];

	/* nothing is not equal to nothing */
	if (a != b && !json_equal(a, b))
		add_row(d, key, json_incref((json_t *)a), json_incref((json_t *)b), json_null());
}

static void differing_options(struct diff *d)
{
	static const struct {
		const char *key, *name;
	} keys[] = {
		{ "threads", "threads that ran" }, { "places", "places of files" },
		{ "file_pages_max", "pages of a file at most" },
	};
	const json_t *r[SIDES];
	json_t *o[SIDES];
	unsigned int i, k;

	section(d, "seed and options that differ");
	memcpy(r, d->r, sizeof(r));
	for (i = 0; i < SIDES; i++) {
		o[i] = json_object();
		json_object_set_new(o[i], "parameters", parameters(r[i]));
		json_object_set(json_object_get(o[i], "parameters"), "seed",
				json_object_get(r[i], "seed"));
		d->r[i] = o[i];
	}
	each(d, "parameters", differing);
	memcpy(d->r, r, sizeof(d->r));
	for (k = 0; k < ARRAY_SIZE(keys); k++) {
		set_part(d, "load");
		for (i = 0; i < SIDES; i++)
			d->v[i] = json_object_get(d->v[i], keys[k].key);
		differing(d, keys[k].name);
	}
	for (i = 0; i < SIDES; i++)
		json_decref(o[i]);
	if (!json_array_size(d->rows))
		note(d, "none");
}

static void drain_rate(struct diff *d, const char *kind)
{
	char name[128];

	snprintf(name, sizeof(name), "effective drains, %.100s", kind);
	rate_row(d, name, "effective");
}

static void rates(struct diff *d)
{
	section(d, "a second");
	memcpy(d->v, d->r, sizeof(d->v));
	rate_row(d, "truncates", "truncates");
	rate_row(d, "fills", "fills");
	rate_row(d, "effective drains", "drains_effective");
	rate_row(d, "usages", "usages");
	rate_row(d, "things checked", "checks");
	set_part(d, "load");
	rate_row(d, "pages written", "pages_written");
	each(d, "drains", drain_rate);
}

static void usage_of(struct diff *d, const char *entry)
{
	static const char * const keys[] = {
		"releases", "drains", "drains.0", "drains.1", "drains.2", "drains.3", "drains.4+",
	};
	double usages[SIDES], a, b;
	char name[192];
	unsigned int i;

	for (i = 0; i < SIDES; i++)
		ds_get_number(d->v[i], "usages", &usages[i]);
	if (usages[0] <= 0 && usages[1] <= 0)
		return;
	snprintf(name, sizeof(name), "%.100s: usages", entry);
	value_row(d, name, "usages");
	snprintf(name, sizeof(name), "%.100s: most drains", entry);
	value_row(d, name, "max");
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		ds_get_number(d->v[0], keys[i], &a);
		ds_get_number(d->v[1], keys[i], &b);
		if (a <= 0 && b <= 0)
			continue;
		snprintf(name, sizeof(name), "%.100s: %s a usage", entry, keys[i]);
		row(d, name, ratio(d->v[0], keys[i], usages[0]),
		    ratio(d->v[1], keys[i], usages[1]));
	}
}

static void latency_of(struct diff *d, const char *what)
{
	static const char * const keys[] = { "count", "p50", "p90", "p99", "p99.9", "max" };
	char name[192];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(name, sizeof(name), "%.100s %s%s", what, keys[i], i ? " (ns)" : "");
		value_row(d, name, keys[i]);
	}
}

static void latencies(struct diff *d)
{
	const bool a = json_is_object(json_object_get(d->r[0], "latency"));
	const bool b = json_is_object(json_object_get(d->r[1], "latency"));

	section(d, "latencies");
	each(d, "latency", latency_of);
	if (!a || !b)
		note(d, a ? "B holds none" : b ? "A holds none" : "neither holds any");
}

/* Invariants by their id, as objects have an order too. */
static json_t *by_id(const json_t *r)
{
	json_t *o = json_object(), *inv;
	const char *id;
	size_t i;

	json_array_foreach(json_object_get(r, "invariants"), i, inv) {
		id = ds_get_text(inv, "id");
		if (id)
			json_object_set(o, id, inv);
	}
	return o;
}

static void invariant(struct diff *d, const char *id)
{
	double a, b;
	char name[64];

	snprintf(name, sizeof(name), "%.40s checked", id);
	value_row(d, name, "checked");
	ds_get_number(d->v[0], "violations", &a);
	ds_get_number(d->v[1], "violations", &b);
	if (a > 0 || b > 0) {
		snprintf(name, sizeof(name), "%.40s violations", id);
		value_row(d, name, "violations");
	}
	if (ds_get_true(d->v[0], "available") != ds_get_true(d->v[1], "available")) {
		snprintf(name, sizeof(name), "%.40s available", id);
		plain_row(d, name, "available");
	}
}

static void invariants(struct diff *d)
{
	const json_t *r[SIDES];
	json_t *o[SIDES];
	unsigned int i;

	section(d, "invariants");
	memcpy(r, d->r, sizeof(r));
	for (i = 0; i < SIDES; i++) {
		o[i] = json_object();
		json_object_set_new(o[i], "invariants", by_id(r[i]));
		d->r[i] = o[i];
	}
	each(d, "invariants", invariant);
	memcpy(d->r, r, sizeof(d->r));
	for (i = 0; i < SIDES; i++)
		json_decref(o[i]);
}

static void fault(struct diff *d, const char *fault_name)
{
	const json_t *args[SIDES];
	char name[128];
	unsigned int i;

	for (i = 0; i < SIDES; i++)
		args[i] = json_object_get(d->v[i], "arguments");
	snprintf(name, sizeof(name), "%.100s: hits a second", fault_name);
	rate_row(d, name, "hits");
	snprintf(name, sizeof(name), "%.100s: done a second", fault_name);
	rate_row(d, name, "done");
	if (args[0] != args[1] && !json_equal(args[0], args[1])) {
		snprintf(name, sizeof(name), "%.100s: arguments", fault_name);
		plain_row(d, name, "arguments");
	}
}

static void kernel_log(struct diff *d)
{
	static const char * const keys[] = { "lines", "bad", "lost" };
	unsigned int i;

	section(d, "kernel log");
	set_part(d, "kernel_log");
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		value_row(d, keys[i], keys[i]);
	plain_row(d, "taint_after", "taint_after");
}

static bool is_violated(const json_t *inv)
{
	double violations;

	return ds_get_number(inv, "violations", &violations) && violations > 0;
}

/* What the one violates and the other does not, known issues and reports included. */
static json_t *only_in(const json_t *r, const json_t *other)
{
	json_t *mine = by_id(r), *others = by_id(other), *a = json_array(), *inv;
	const char *id;

	json_object_foreach(mine, id, inv) {
		if (is_violated(inv) && !is_violated(json_object_get(others, id)))
			json_array_append_new(a, json_string(id));
	}
	json_decref(mine);
	json_decref(others);
	return a;
}

static json_t *side(const struct ds_result *r)
{
	json_t *o = json_object(), *path = json_string(r->path);

	/* a path need not be UTF-8 */
	json_object_set_new(o, "path", path ? path : json_string("?"));
	json_object_set_new(o, "seed", take(r->json, "seed"));
	json_object_set_new(o, "repeat", take(r->json, "repeat"));
	return o;
}

static json_t *make(const struct ds_result *a, const struct ds_result *b)
{
	struct diff d = { .results = { a, b }, .r = { a->json, b->json } };
	json_t *o = json_object();
	unsigned int i;

	for (i = 0; i < SIDES; i++)
		ds_get_number(d.r[i], "seconds", &d.seconds[i]);
	json_object_set_new(o, "kind", json_string("diff"));
	json_object_set_new(o, "a", side(a));
	json_object_set_new(o, "b", side(b));
	d.sections = json_array();
	json_object_set_new(o, "sections", d.sections);
	outcome(&d);
	differing_options(&d);
	rates(&d);
	section(&d, "drains per usage");
	each(&d, "usage", usage_of);
	latencies(&d);
	invariants(&d);
	section(&d, "faults");
	each(&d, "faults", fault);
	kernel_log(&d);
	json_object_set_new(o, "violated_only_in_a", only_in(d.r[0], d.r[1]));
	json_object_set_new(o, "violated_only_in_b", only_in(d.r[1], d.r[0]));
	return o;
}

/* ---- text ---- */

/* Results come from anywhere, and go to a terminal. */
static void printable(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
	}
}

static void print_row(FILE *f, const json_t *r)
{
	char name[256], a[1024], b[1024];
	double p;

	ds_value_text(json_object_get(r, "name"), name, sizeof(name));
	ds_value_text(json_object_get(r, "a"), a, sizeof(a));
	ds_value_text(json_object_get(r, "b"), b, sizeof(b));
	printable(name);
	printable(a);
	printable(b);
	if (strlen(name) > NAME_WIDTH || strlen(a) > VALUE_WIDTH || strlen(b) > VALUE_WIDTH) {
		fprintf(f, "  %s:\n    A %s\n    B %s\n", name, a, b);
		return;
	}
	fprintf(f, "  %-*s %*s %*s", NAME_WIDTH, name, VALUE_WIDTH, a, VALUE_WIDTH, b);
	if (ds_get_number(r, "percent", &p))
		fprintf(f, " %+9.1f%%", fabs(p) < 0.05 ? 0 : p);
	fputc('\n', f);
}

static void print_section(FILE *f, const json_t *s)
{
	const char *text = ds_get_text(s, "note");
	json_t *r;
	size_t i;

	if (!text && !json_array_size(json_object_get(s, "rows")))
		return;
	fprintf(f, "%s:", ds_get_text(s, "name"));
	fprintf(f, text ? " %s\n" : "\n", text);
	json_array_foreach(json_object_get(s, "rows"), i, r)
		print_row(f, r);
}

static void print_ids(FILE *f, const json_t *o, char which, const char *key)
{
	const json_t *ids = json_object_get(o, key);
	json_t *id;
	size_t i;

	if (!json_array_size(ids))
		return;
	fprintf(f, "violated in %c only:", which);
	json_array_foreach(ids, i, id)
		fprintf(f, " %s", json_string_value(id));
	fputc('\n', f);
}

static void print_text(FILE *f, const json_t *o)
{
	json_t *s;
	size_t i;

	for (i = 0; i < SIDES; i++)
		fprintf(f, "%c: %s\n", "AB"[i],
			ds_get_text(json_object_get(o, side_keys[i]), "path"));
	fprintf(f, "  %*s %*s %*s %10s\n", NAME_WIDTH, "", VALUE_WIDTH, "A", VALUE_WIDTH, "B",
		"change");
	json_array_foreach(json_object_get(o, "sections"), i, s)
		print_section(f, s);
	print_ids(f, o, 'A', "violated_only_in_a");
	print_ids(f, o, 'B', "violated_only_in_b");
}

/**
 * ds_diff_write() - two soak results side by side
 * @json: as JSON, else as text
 *
 * Return: 0, or -1 when it could not be written.
 */
int ds_diff_write(FILE *f, const struct ds_result *a, const struct ds_result *b, bool json)
{
	json_t *o = make(a, b);

	if (json) {
		json_dumpf(o, f, JSON_INDENT(2));
		fputc('\n', f);
	} else {
		print_text(f, o);
	}
	json_decref(o);
	return fflush(f) || ferror(f) ? -1 : 0;
}

/* ---- the command ---- */

struct diff_opts {
	const char *paths[SIDES];
	unsigned int nr;
	bool json;
};

static const struct argp_option arg_options[] = {
	{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
	DS_ARGS_COMMON
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_opts *o = state->input;

	switch (key) {
	case 'f':
		if (!ds_cmd_json_flag(arg, &o->json))
			return 0;
		ds_args_bad(state, "--format '%s': takes " DS_CMD_FORMAT_TAKES, arg);
		return DS_ARGS_BAD;
	case ARGP_KEY_ARG:
		if (o->nr == SIDES) {
			ds_args_bad(state, "'%s': takes two results", arg);
			return DS_ARGS_BAD;
		}
		o->paths[o->nr++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->nr == SIDES)
			return 0;
		ds_args_bad(state, "takes two results: RESULT_A RESULT_B");
		return DS_ARGS_BAD;
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp argp = {
	arg_options, parse, "RESULT_A RESULT_B",
	"Two results of drainctl run side by side: rates, drains per usage, latencies,\n"
	"invariants and options, and by how many percent B is above A.  A result is the file\n"
	"of --format json or --output, or a folder that tests/vm/run left.",
	NULL, NULL, NULL
};

static int read_soak(const char *path, struct ds_result *r, struct ds_err *err)
{
	if (ds_result_read(path, r, err))
		return -1;
	if (r->kind != DS_RESULT_SOAK)
		return ds_error(err, DS_EXIT_USAGE, 0,
				"%.300s: takes a result of drainctl run, not %s", r->path,
				ds_result_kind_name(r->kind));
	if (!r->json)
		return ds_error(err, DS_EXIT_USAGE, 0, "%.300s: the run has left no JSON report",
				r->path);
	return 0;
}

/**
 * ds_cmd_diff() - the command
 */
int ds_cmd_diff(int argc, char **argv)
{
	struct diff_opts o = { .nr = 0 };
	struct ds_result r[SIDES] = { 0 };
	struct ds_err err;
	int ret = ds_args_parse(&argp, argc, argv, &o);

	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	if (read_soak(o.paths[0], &r[0], &err) || read_soak(o.paths[1], &r[1], &err)) {
		ret = ds_cmd_fail(&err);
	} else {
		ds_diff_write(stdout, &r[0], &r[1], o.json);
		ret = ds_cmd_end_output(DS_EXIT_PASS);
	}
	ds_result_free(&r[0]);
	ds_result_free(&r[1]);
	return ret;
}
