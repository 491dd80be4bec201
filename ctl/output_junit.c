// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as JUnit XML, for CI systems: one test suite with a test case for each
 * invariant and one for the verdict.  The stable keys are its properties.  What is
 * neither, such as counters, is in the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* What a test case ends in. */
enum outcome {
	OUTCOME_OK,
	OUTCOME_SKIPPED,
	OUTCOME_FAILURE,
	OUTCOME_ERROR,
	NR_OUTCOMES,
};

static const char * const elements[NR_OUTCOMES] = {
	[OUTCOME_SKIPPED] = "skipped",
	[OUTCOME_FAILURE] = "failure",
	[OUTCOME_ERROR] = "error",
};

/*
 * The length of the UTF-8 sequence at @p, if it is one that XML may hold; else 0.
 * After RFC 3629; XML 1.0 section 2.2 leaves out most control characters, which no
 * reference (&#1;) makes legal either, surrogates, U+FFFE and U+FFFF.
 */
static unsigned int sequence(const unsigned char *p)
{
	unsigned int len = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 :
			   *p < 0xf5 ? 4 : 0;
	u32 c = len == 1 ? *p : len ? *p & (0x7f >> len) : 0;
	unsigned int i;

	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < ' ' && c != '\t' && c != '\n' && c != '\r')
		return 0;
	if ((len == 3 && c < 0x800) || (len == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return (c >= 0xd800 && c < 0xe000) || c == 0xfffe || c == 0xffff ? 0 : len;
}

/*
 * Text as XML holds it, in an attribute as well: there a line break that stands as
 * itself would be read as a space.  What XML cannot hold becomes a question mark.
 */
static void escaped(FILE *f, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned int len;

	for (; *p; p += len ? len : 1) {
		len = sequence(p);
		if (!len)
			fputc('?', f);
		else if (strchr("&<>\"'\t\n\r", *p))
			fprintf(f, "&#%u;", *p);
		else
			fwrite(p, 1, len, f);
	}
}

/* The same between tags, where lines stay lines. */
static void escaped_lines(FILE *f, const char *text)
{
	char *copy = strdup(text), *line = copy, *end;

	for (; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		escaped(f, line);
		if (end)
			fputc('\n', f);
	}
	free(copy);
}

static void attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	escaped(f, value);
	fputc('"', f);
}

/* A test case; @what, @type and @text tell more of one that is not ok; or NULL. */
static void test_case(FILE *f, const char *class, const char *name, enum outcome outcome,
		      const char *type, const char *what, const char *text)
{
	fputs("    <testcase", f);
	attribute(f, "classname", class);
	attribute(f, "name", name);
	if (outcome == OUTCOME_OK) {
		fputs("/>\n", f);
		return;
	}
	fprintf(f, ">\n      <%s", elements[outcome]);
	if (type && outcome != OUTCOME_SKIPPED)
		attribute(f, "type", type);
	attribute(f, "message", what);
	if (text) {
		fputc('>', f);
		escaped_lines(f, text);
		fprintf(f, "</%s>\n", elements[outcome]);
	} else {
		fputs("/>\n", f);
	}
	fputs("    </testcase>\n", f);
}

/* What an invariant ends in, and why, where it is not ok. */
static enum outcome invariant_outcome(const struct ds_inv_fact *inv, char *why, size_t len)
{
	why[0] = '\0';
	if (inv->reported)
		snprintf(why, len, "reported as the fix: see the property");
	else if (!inv->available && !inv->checked && !inv->violations)
		snprintf(why, len, "%s", inv->reason[0] ? inv->reason : "not available");
	else if (inv->violations && inv->known)
		snprintf(why, len, "known: %s", inv->known);
	else if (!inv->checked && !inv->violations)
		snprintf(why, len, "never checked");
	if (why[0])
		return OUTCOME_SKIPPED;
	if (!inv->violations)
		return OUTCOME_OK;
	snprintf(why, len, "%llu violations, the first: %s", inv->violations,
		 inv->first.text[0] ? inv->first.text : inv->title);
	return OUTCOME_FAILURE;
}

/* A violation as it is mailed, to be freed; NULL when there is none, or no memory. */
static char *violation_text(const struct ds_report *r, const struct ds_inv_fact *inv)
{
	struct ds_viol_context c;
	char *text = NULL;
	size_t len = 0;
	FILE *mem;

	if (!inv->first.has || inv->reported)
		return NULL;
	mem = open_memstream(&text, &len);
	if (!mem)
		return NULL;
	ds_report_context(r, &inv->first, &c);
	ds_output_violation(mem, "", &inv->first, &c);
	fclose(mem);
	return text;
}

static void invariant(FILE *f, const struct ds_report *r, const struct ds_inv_fact *inv)
{
	char name[256], why[DS_STRING_MAX + 64];
	enum outcome outcome = invariant_outcome(inv, why, sizeof(why));
	char *text = violation_text(r, inv);

	snprintf(name, sizeof(name), "%s %s", inv->name, inv->title);
	test_case(f, "drainstress.invariants", name, outcome,
		  outcome == OUTCOME_FAILURE ? "violation" : NULL, why, text);
	free(text);
}

/* Anything but PASS and SKIP has to be red. */
static enum outcome verdict_outcome(enum ds_exit code)
{
	switch (code) {
	case DS_EXIT_PASS:
		return OUTCOME_OK;
	case DS_EXIT_SKIP:
		return OUTCOME_SKIPPED;
	case DS_EXIT_FAIL:
	case DS_EXIT_HANG:
		return OUTCOME_FAILURE;
	default:
		return OUTCOME_ERROR;
	}
}

/* All that led to the verdict, a line each; to be freed. */
static char *reasons_text(const struct ds_report *r)
{
	char *text = NULL;
	size_t len = 0;
	unsigned int i;
	FILE *mem = open_memstream(&text, &len);

	if (!mem)
		return NULL;
	for (i = 0; i < r->verdict.nr_reasons; i++)
		fprintf(mem, "%s: %s\n", ds_exit_name(r->verdict.reasons[i].code),
			r->verdict.reasons[i].text);
	fclose(mem);
	return text;
}

static void verdict(FILE *f, const struct ds_report *r)
{
	const struct ds_verdict *v = &r->verdict;
	char *text = reasons_text(r);

	test_case(f, "drainstress", "verdict", verdict_outcome(v->code), ds_exit_name(v->code),
		  v->nr_reasons ? v->reasons[0].text : ds_exit_name(v->code), text);
	free(text);
}

static void put_keys(FILE *f, const struct ds_report *r)
{
	struct ds_key keys[DS_NR_KEYS];
	unsigned int i;

	ds_report_keys(r, keys);
	fputs("    <properties>\n", f);
	for (i = 0; i < DS_NR_KEYS; i++) {
		fputs("      <property", f);
		attribute(f, "name", keys[i].name);
		attribute(f, "value", keys[i].value);
		fputs("/>\n", f);
	}
	fputs("    </properties>\n", f);
}

static void system_out(FILE *f, const struct ds_report *r)
{
	char *text = NULL;
	size_t len = 0;
	unsigned int i;
	FILE *mem = open_memstream(&text, &len);

	if (!mem)
		return;
	for (i = 0; i < r->nr_notes; i++)
		fprintf(mem, "note: %s\n", r->notes[i]);
	if (r->facts.setup_exit == DS_EXIT_PASS)
		ds_output_latency(mem, "", r);
	fclose(mem);
	fputs("    <system-out>", f);
	if (text)
		escaped_lines(f, text);
	fputs("</system-out>\n", f);
	free(text);
}

/**
 * ds_output_junit() - write the report
 *
 * A run that never began has the verdict's test case only.
 *
 * Return: 0 or -1 when it could not be written.
 */
int ds_output_junit(FILE *f, const struct ds_report *r)
{
	unsigned int nr_inv = r->facts.setup_exit == DS_EXIT_PASS ? r->facts.nr_inv : 0, i;
	unsigned int nr[NR_OUTCOMES] = { 0 };
	char why[DS_STRING_MAX + 64];

	for (i = 0; i < nr_inv; i++)
		nr[invariant_outcome(&r->facts.inv[i], why, sizeof(why))]++;
	nr[verdict_outcome(r->verdict.code)]++;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", f);
	fprintf(f, "  <testsuite name=\"drainstress\" tests=\"%u\" failures=\"%u\"", nr_inv + 1,
		nr[OUTCOME_FAILURE]);
	fprintf(f, " errors=\"%u\" skipped=\"%u\" time=\"%.3f\">\n", nr[OUTCOME_ERROR],
		nr[OUTCOME_SKIPPED], r->seconds);
	put_keys(f, r);
	for (i = 0; i < nr_inv; i++)
		invariant(f, r, &r->facts.inv[i]);
	verdict(f, r);
	system_out(f, r);
	fputs("  </testsuite>\n</testsuites>\n", f);
	return fflush(f) || ferror(f) ? -1 : 0;
}
