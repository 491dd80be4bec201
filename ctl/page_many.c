// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of drainctl report that show many runs at once: the matrix of healthy
 * kernels, the mutants, and a comparison of kernels.  What one run looks like is in
 * page_soak.c.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

/* ---- the matrix ---- */

/* It becomes a part of a path: as tests/vm/matrix has it in its table. */
static bool is_plain(const char *name)
{
	const char *p;

	for (p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	}
	return isalnum((unsigned char)*name);
}

static void words(FILE *f, const json_t *array)
{
	json_t *w;
	size_t i;

	fputs("<td>", f);
	json_array_foreach(array, i, w) {
		if (i)
			fputs("<br>", f);
		ds_html_text(f, json_is_string(w) ? json_string_value(w) : "?");
	}
	fputs("</td>\n", f);
}

static void scenario_values(FILE *f, json_t *values)
{
	const char *axis;
	char text[128];
	bool any = false;
	json_t *v;

	fputs("<td>", f);
	json_object_foreach(values, axis, v) {
		ds_value_text(v, text, sizeof(text));
		fputs(any ? ", " : "", f);
		ds_html_text(f, axis);
		fputc(' ', f);
		ds_html_text(f, text);
		any = true;
	}
	fputs("</td>\n", f);
}

static void scenario_run(FILE *f, const struct ds_result *matrix, const char *name)
{
	char path[PATH_MAX];
	struct ds_result r = { .json = NULL };
	struct ds_err err;

	fputs("<details><summary>", f);
	ds_html_text(f, name);
	fputs("</summary>\n", f);
	if (!is_plain(name) ||
	    snprintf(path, sizeof(path), "%s/%s", matrix->dir, name) >= (int)sizeof(path))
		ds_html(f, "p", "Its name is not that of a folder.");
	else if (ds_result_read(path, &r, &err) || r.kind != DS_RESULT_SOAK)
		ds_html(f, "p", "Its files are not there any more, or are not those of a run.");
	else
		ds_page_soak(f, &r, DS_PAGE_TOP + 1);
	ds_result_free(&r);
	fputs("</details>\n", f);
}

/**
 * ds_page_matrix() - what tests/vm/matrix has left
 */
void ds_page_matrix(FILE *f, const struct ds_result *r)
{
	const json_t *all = json_object_get(r->json, "scenarios");
	const char *name, *verdict;
	json_t *s;
	size_t i;

	ds_html_table(f, "Scenarios",
		      "Scenario,Verdict,#Violations,#Known,#Checked,#Skipped,#Seconds,~Why no pass,~Set-up");
	json_array_foreach(all, i, s) {
		name = ds_get_text(s, "name");
		verdict = ds_get_text(s, "verdict");
		fputs("<tr>", f);
		ds_html(f, "td", "%s", name ? name : "?");
		fputs("<td>", f);
		ds_html_badge(f, verdict ? verdict : "?");
		fputs("</td>\n", f);
		ds_page_cells(f, s, "violations,known_violations,checked,skipped,seconds");
		words(f, json_object_get(s, "why"));
		scenario_values(f, json_object_get(s, "values"));
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
	ds_page_heading(f, DS_PAGE_TOP, "How to repeat it");
	ds_html(f, "pre", "tests/vm/matrix --again SCENARIO");
	ds_page_heading(f, DS_PAGE_TOP, "The runs");
	json_array_foreach(all, i, s) {
		name = ds_get_text(s, "name");
		scenario_run(f, r, name ? name : "?");
	}
}

/* ---- mutants ---- */

static void mutant_runs(FILE *f, const json_t *all)
{
	json_t *m, *run;
	size_t i, k;

	ds_page_heading(f, DS_PAGE_TOP, "The runs");
	ds_html_table(f, "Runs",
		      "Id,#Seed,Noticed by,#Seconds,~Verdict,May be noticed by,Preset,Boot arguments,#Limit");
	json_array_foreach(all, i, m) {
		json_array_foreach(json_object_get(m, "results"), k, run) {
			fputs("<tr>", f);
			ds_page_cells(f, run, "id,seed,noticed_by,seconds,verdict");
			words(f, json_object_get(run, "may_be_noticed_by"));
			ds_page_cells(f, run, "preset,boot_arguments,limit");
			fputs("</tr>\n", f);
		}
	}
	ds_html_table_end(f);
}

static void mutant_times(FILE *f, const json_t *all)
{
	struct ds_bar *bars = calloc(json_array_size(all) + 1, sizeof(*bars)), *bar = bars;
	const char *id;
	double median;
	json_t *m;
	size_t i;

	json_array_foreach(all, i, m) {
		id = ds_get_text(m, "id");
		/* a control has nothing to notice */
		if (!bars || !id || !strncmp(id, "control", 7) ||
		    !ds_get_number(m, "median_s", &median))
			continue;
		bar->value = median;
		snprintf(bar->label, sizeof(bar->label), "%.16s", id);
		snprintf(bar->text, sizeof(bar->text), "%.2f s", median);
		bar++;
	}
	if (bar > bars)
		ds_html_bars(f, "Median time until a mutant is noticed", bars, bar - bars);
	free(bars);
}

/**
 * ds_page_mutants() - what tests/vm/mutants has left
 */
void ds_page_mutants(FILE *f, const struct ds_result *r)
{
	const json_t *all = json_object_get(r->json, "mutants");
	json_t *m;
	size_t i;

	ds_html_table(f, "Mutants",
		      "Id,Verdict,Noticed by,#Right,#Runs,#Median s,#Worst s,Kernel,~Origin");
	json_array_foreach(all, i, m) {
		fputs("<tr>", f);
		ds_page_cells(f, m, "id");
		fputs("<td>", f);
		ds_html_badge(f, ds_get_true(m, "passed") ? "PASS" : "FAIL");
		fputs("</td>\n", f);
		words(f, json_object_get(m, "noticed_by"));
		ds_page_cells(f, m, "right,runs,median_s,worst_s,base,origin");
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
	mutant_times(f, all);
	mutant_runs(f, all);
	ds_page_heading(f, DS_PAGE_TOP, "How to repeat it");
	ds_html(f, "pre", "tests/vm/mutants --again ID");
	ds_html(f, "p", "The seeds are 1, 2, ... up to that of --seeds.");
}

/* ---- a comparison ---- */

/* From what is there; a value may be an object of numbers itself. */
static void comparison_facts(FILE *f, const char *before, json_t *o)
{
	char name[128], text[256];
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v) {
		snprintf(name, sizeof(name), "%.50s%s%.60s", before, *before ? " " : "", key);
		if (!strcmp(key, "conclusion"))
			continue;
		if (json_is_object(v) && !*before) {
			comparison_facts(f, key, v);
		} else if (!json_is_array(v) && !json_is_object(v) && !json_is_null(v)) {
			ds_value_text(v, text, sizeof(text));
			ds_page_term(f, name, text);
		}
	}
}

static void conclusions(FILE *f, const json_t *r)
{
	const char *a, *b, *text;
	json_t *c;
	size_t i;

	json_array_foreach(json_object_get(r, "comparisons"), i, c) {
		a = ds_get_text(c, "baseline");
		b = ds_get_text(c, "run");
		text = ds_get_text(c, "conclusion");
		ds_page_heading(f, DS_PAGE_TOP, "%s against %s", b ? b : "?", a ? a : "?");
		ds_html(f, "p", "%s", text ? text : "It holds no conclusion.");
		fputs("<dl>\n", f);
		comparison_facts(f, "", c);
		fputs("</dl>\n", f);
	}
}

static void comparison_rows(FILE *f, const json_t *r)
{
	const json_t *runs = json_object_get(r, "runs");
	const char *unit = ds_get_text(r, "unit");
	char columns[2048], text[64];
	json_t *row, *v, *run;
	size_t i, k, n;

	n = snprintf(columns, sizeof(columns), "Row");
	json_array_foreach(runs, i, run) {
		const char *name = ds_get_text(run, "name");

		snprintf(text, sizeof(text), "%.40s", name ? name : "?");
		/* names are foreign, and commas part columns */
		for (k = 0; text[k]; k++)
			text[k] = text[k] == ',' ? ';' : text[k];
		if (n < sizeof(columns))
			n += snprintf(columns + n, sizeof(columns) - n, ",#%s,#%%", text);
	}
	ds_html_table(f, unit && !strcmp(unit, "us") ? "Times in microseconds" : "Times", columns);
	json_array_foreach(json_object_get(r, "rows"), i, row) {
		fputs("<tr>", f);
		ds_page_cells(f, row, "name");
		json_array_foreach(json_object_get(row, "values"), k, v) {
			const json_t *p = json_array_get(json_object_get(row, "percent"), k);
			const json_t *s = json_array_get(json_object_get(row, "significant"), k);

			ds_html(f, "td class=\"n\"", "%.2f", json_number_value(v));
			ds_html(f, "td class=\"n\"", "%.2f %%%s", json_number_value(p),
				json_is_true(s) ? " *" : "");
		}
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
	ds_html(f, "p class=\"dim\"",
		"A percentage above 0 is better than the first run; a star is a significant one.");
}

/* "key: value", or what an object holds */
static void boot_keys(FILE *f, json_t *keys)
{
	const char *key;
	char text[256];
	bool any = false;
	json_t *v;

	if (json_is_array(keys)) {
		words(f, keys);
		return;
	}
	fputs("<td>", f);
	json_object_foreach(keys, key, v) {
		ds_value_text(v, text, sizeof(text));
		fputs(any ? ", " : "", f);
		ds_html_text(f, key);
		fputs(": ", f);
		ds_html_text(f, text);
		any = true;
	}
	fputs("</td>\n", f);
}

static void boot_table(FILE *f, const json_t *r)
{
	json_t *run, *boot;
	size_t i, k;

	ds_page_heading(f, DS_PAGE_TOP, "How to repeat it: boots and files");
	ds_html_table(f, "Boots", "Run,Boot,#n,#Median,File,~How it was made");
	json_array_foreach(json_object_get(r, "runs"), i, run) {
		json_array_foreach(json_object_get(run, "boots"), k, boot) {
			fputs("<tr>", f);
			ds_page_cells(f, run, "name");
			ds_page_cells(f, boot, "boot,n,median,file");
			boot_keys(f, json_object_get(boot, "keys"));
			fputs("</tr>\n", f);
		}
	}
	ds_html_table_end(f);
}

#define BINS 16

/* Least and most of all samples of all runs.  Return: false when there are none. */
static bool sample_range(const json_t *runs, double *least, double *most)
{
	json_t *run, *boot, *v;
	size_t i, k, n;
	bool any = false;

	json_array_foreach(runs, i, run) {
		json_array_foreach(json_object_get(run, "boots"), k, boot) {
			json_array_foreach(json_object_get(boot, "samples"), n, v) {
				double x = json_number_value(v);

				*least = !any || x < *least ? x : *least;
				*most = !any || x > *most ? x : *most;
				any = true;
			}
		}
	}
	return any;
}

static void distribution(FILE *f, const json_t *run, double least, double most)
{
	const double width = most > least ? (most - least) / BINS : 1;
	struct ds_bar bars[BINS] = { 0 };
	const char *name = ds_get_text(run, "name");
	char title[160];
	json_t *boot, *v;
	unsigned int i;
	size_t k, n;

	json_array_foreach(json_object_get(run, "boots"), k, boot) {
		json_array_foreach(json_object_get(boot, "samples"), n, v) {
			double bin = (json_number_value(v) - least) / width;

			bars[bin < BINS ? (unsigned int)bin : BINS - 1].value++;
		}
	}
	for (i = 0; i < BINS; i++) {
		snprintf(bars[i].label, sizeof(bars[i].label), "from %.6g", least + i * width);
		snprintf(bars[i].text, sizeof(bars[i].text), "%.0f", bars[i].value);
	}
	snprintf(title, sizeof(title), "Times of %.100s, microseconds", name ? name : "?");
	ds_html_bars(f, title, bars, BINS);
}

/**
 * ds_page_comparison() - what drainctl compare --format json has printed
 */
void ds_page_comparison(FILE *f, const struct ds_result *r)
{
	const json_t *runs = json_object_get(r->json, "runs"), *notes;
	double least = 0, most = 0;
	json_t *v;
	size_t i;

	conclusions(f, r->json);
	notes = json_object_get(r->json, "notes");
	json_array_foreach(notes, i, v) {
		if (json_is_string(v))
			ds_html(f, "p", "Note: %s", json_string_value(v));
	}
	comparison_rows(f, r->json);
	if (sample_range(runs, &least, &most)) {
		fputs("<div class=\"charts\">\n", f);
		json_array_foreach(runs, i, v)
			distribution(f, v, least, most);
		fputs("</div>\n", f);
	}
	boot_table(f, r->json);
}
