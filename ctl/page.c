// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of drainctl report as a whole: all verdicts at the top, then each result
 * in a part of its own (page_soak.c, page_many.c), and the pieces these share.  What
 * HTML and charts are made of is in html.c.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page.h"

/**
 * ds_page_heading() - a heading of the level @level
 */
void ds_page_heading(FILE *f, unsigned int level, const char *fmt, ...)
{
	char tag[] = { 'h', (char)('0' + (level > 6 ? 6 : level)), '\0' };
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	ds_html(f, tag, "%s", text ? text : "?");
	free(text);
}

/**
 * ds_page_cell() - a value in a table, numbers at the right
 */
void ds_page_cell(FILE *f, const json_t *value)
{
	char text[1024];

	ds_value_text(value, text, sizeof(text));
	ds_html(f, json_is_number(value) ? "td class=\"n\"" : "td", "%s", text);
}

/**
 * ds_page_cells() - some values of an object, a cell each
 * @keys: with a comma in between
 */
void ds_page_cells(FILE *f, const json_t *o, const char *keys)
{
	char key[64];
	size_t n;

	for (; *keys; keys += n + (keys[n] == ',')) {
		n = strcspn(keys, ",");
		snprintf(key, sizeof(key), "%.*s", (int)n, keys);
		ds_page_cell(f, json_object_get(o, key));
	}
}

/**
 * ds_page_term() - an entry of a description list; none without @text
 */
void ds_page_term(FILE *f, const char *term, const char *text)
{
	if (!text || !*text)
		return;
	ds_html(f, "dt", "%s", term);
	ds_html(f, "dd", "%s", text);
}

/* "PASS 0 KERNEL RELEASE TIME REASON": the reason */
static const char *runner_reason(const char *s)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	return s;
}

/**
 * ds_page_reason() - why a result's verdict is what it is, in short
 */
void ds_page_reason(const struct ds_result *r, char *buf, size_t len)
{
	const json_t *reasons = json_object_get(r->json, "reasons");
	const char *text = ds_get_text(json_array_get(reasons, 0), "text");
	char verdict[64];
	double passed, failed;

	buf[0] = '\0';
	if (r->kind == DS_RESULT_COMPARISON) {
		text = ds_get_text(json_array_get(json_object_get(r->json, "comparisons"), 0),
				   "conclusion");
		snprintf(buf, len, "%s", text ? text : "");
	} else if (r->kind != DS_RESULT_SOAK) {
		ds_get_number(r->json, "passed", &passed);
		ds_get_number(r->json, "failed", &failed);
		snprintf(buf, len, "%.0f passed, %.0f failed", passed, failed);
	} else if (text) {
		snprintf(buf, len, "%s", text);
	} else if (strcmp(ds_result_verdict(r, verdict, sizeof(verdict)), "PASS")) {
		snprintf(buf, len, "%s", runner_reason(r->runner));
	}
}

static void kernel(const struct ds_result *r, char *buf, size_t len)
{
	const char *text = ds_get_text(r->json, "kernel");

	if (text)
		snprintf(buf, len, "%s", text);
	else if (sscanf(r->runner, "%*s %*s %*s %63s", buf) != 1)
		snprintf(buf, len, "-");
}

static void verdicts(FILE *f, const struct ds_result *results, unsigned int nr)
{
	char buf[64], release[64], reason[1024];
	const char *verdict;
	unsigned int i;

	ds_html_table(f, "Verdicts", "Result,Verdict,What,Kernel,~Why");
	for (i = 0; i < nr; i++) {
		verdict = ds_result_verdict(&results[i], buf, sizeof(buf));
		ds_page_reason(&results[i], reason, sizeof(reason));
		fprintf(f, "<tr><td><a href=\"#r%u\">", i + 1);
		ds_html_text(f, results[i].name);
		fputs("</a></td><td>", f);
		ds_html_badge(f, verdict);
		fputs("</td>\n", f);
		ds_html(f, "td", "%s", ds_result_kind_name(results[i].kind));
		kernel(&results[i], release, sizeof(release));
		ds_html(f, "td", "%s", release);
		ds_html(f, "td", "%s", reason);
		fputs("</tr>\n", f);
	}
	ds_html_table_end(f);
}

/* Of two verdicts the one that decides, see docs/drainctl.md; an unknown one most of all. */
static unsigned int weight(const char *verdict)
{
	static const char * const names[] = {
		"COMPARED", "PASS", "SKIP", "USAGE", "INCONCLUSIVE", "ERROR", "HANG", "FAIL",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], verdict))
			break;
	}
	return i;
}

static void summary(FILE *f, const struct ds_result *results, unsigned int nr)
{
	unsigned int i, passed = 0, judged = 0;
	char buf[64], worst[64] = "COMPARED", day[64];
	const char *verdict;
	time_t now = time(NULL);
	struct tm tm;

	for (i = 0; i < nr; i++) {
		verdict = ds_result_verdict(&results[i], buf, sizeof(buf));
		judged += results[i].kind != DS_RESULT_COMPARISON;
		passed += !strcmp(verdict, "PASS");
		if (weight(verdict) > weight(worst))
			snprintf(worst, sizeof(worst), "%s", verdict);
	}
	fputs("<p>", f);
	if (judged) {
		ds_html_badge(f, worst);
		fprintf(f, " %u of %u result%s passed. ", passed, judged, judged > 1 ? "s" : "");
	}
	if (judged < nr)
		fprintf(f, "%u comparison%s, which cannot fail.", nr - judged,
			nr - judged > 1 ? "s" : "");
	fputs("</p>\n", f);
	if (gmtime_r(&now, &tm) && strftime(day, sizeof(day), "%Y-%m-%d %H:%M UTC", &tm))
		ds_html(f, "p class=\"dim\"", "Written on %s.", day);
}

static void part(FILE *f, const struct ds_result *r, unsigned int number)
{
	char buf[64];

	fprintf(f, "<section id=\"r%u\">\n<h2>", number);
	ds_html_text(f, r->name);
	fputs(" ", f);
	ds_html_badge(f, ds_result_verdict(r, buf, sizeof(buf)));
	fputs("</h2>\n", f);
	ds_html(f, "p class=\"dim\"", "%s, read from %s", ds_result_kind_name(r->kind), r->path);
	switch (r->kind) {
	case DS_RESULT_MATRIX:
		ds_page_matrix(f, r);
		break;
	case DS_RESULT_MUTANTS:
		ds_page_mutants(f, r);
		break;
	case DS_RESULT_COMPARISON:
		ds_page_comparison(f, r);
		break;
	default:
		ds_page_soak(f, r, DS_PAGE_TOP);
		break;
	}
	fputs("</section>\n", f);
}

/**
 * ds_page_write() - one self-contained page of results
 *
 * Return: 0, or -1 when it could not be written.
 */
int ds_page_write(FILE *f, const struct ds_result *results, unsigned int nr)
{
	char title[NAME_MAX + 64];
	unsigned int i;

	if (nr == 1)
		snprintf(title, sizeof(title), "drainstress: %s", results[0].name);
	else
		snprintf(title, sizeof(title), "drainstress: %u results", nr);
	ds_html_begin(f, title);
	fputs("<header>\n", f);
	ds_html(f, "h1", "%s", title);
	summary(f, results, nr);
	verdicts(f, results, nr);
	fputs("</header>\n<main>\n", f);
	for (i = 0; i < nr; i++)
		part(f, &results[i], i + 1);
	fputs("</main>\n", f);
	ds_html_end(f);
	return fflush(f) || ferror(f) ? -1 : 0;
}
