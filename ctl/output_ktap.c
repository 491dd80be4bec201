// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as kernel TAP: one test line for each invariant and for each other
 * part of the verdict, with the reason behind "# SKIP" where one could not run
 * and behind "# XFAIL" where a violation is a known kernel issue.
 */
#include "report.h"

struct ktap {
	FILE *f;
	unsigned int nr;
};

static void directive(struct ktap *t, bool ok, const char *name, const char *what, const char *why)
{
	fprintf(t->f, "%s %u %s", ok ? "ok" : "not ok", ++t->nr, name);
	if (why)
		fprintf(t->f, " # %s %s", what, why);
	fputc('\n', t->f);
}

static void result(struct ktap *t, bool ok, const char *name, const char *skip)
{
	directive(t, ok, name, "SKIP", skip);
}

static void comment(struct ktap *t, const char *text)
{
	fputs("# ", t->f);
	for (; *text; text++) {
		fputc(*text, t->f);
		if (*text == '\n')
			fputs("# ", t->f);
	}
	fputc('\n', t->f);
}

static void invariant(struct ktap *t, const struct ds_report *r, const struct ds_inv_fact *inv)
{
	struct ds_viol_context c;
	char name[256];

	snprintf(name, sizeof(name), "%s %s", inv->name, inv->title);
	if (inv->reported)
		result(t, true, name, "reported as the fix, see the last test");
	else if (!inv->available && !inv->checked && !inv->violations)
		result(t, true, name, inv->reason[0] ? inv->reason : "not available");
	else if (inv->violations && inv->known)
		directive(t, true, name, "XFAIL known:", inv->known);
	else if (inv->violations)
		result(t, false, name, NULL);
	else if (!inv->checked)
		result(t, true, name, "never checked");
	else
		result(t, true, name, NULL);
	if (inv->first.has && !inv->reported) {
		ds_report_context(r, &inv->first, &c);
		ds_output_violation(t->f, "# ", &inv->first, &c);
	}
}

static void parts(struct ktap *t, const struct ds_report *r)
{
	const struct ds_facts *f = &r->facts;
	const char *skip;
	u64 taint = f->taint_after & ~f->taint_before & ~DS_TAINT_IGNORED;

	result(t, !f->load || (f->truncates && f->pages), "load truncated files",
	       f->load ? NULL : "--no-load");
	result(t, !f->race || f->fills, "race filled batches", f->race ? NULL : "--no-race");
	skip = f->race ? NULL : "--no-race";
	if (f->race && !f->accounting)
		skip = "--no-accounting";
	result(t, skip || f->effective, "race drained batches", skip);
	result(t, !f->accounting || f->usages, "batch usages were seen",
	       f->accounting ? NULL : "--no-accounting");
	result(t, f->submitted == f->reaped && !f->dropped, "io_uring lost nothing",
	       f->load ? NULL : "--no-load");
	skip = f->kmsg ? NULL : "--no-kmsg";
	if (f->kmsg_lost)
		skip = "lines were lost";
	result(t, !f->kmsg_bad, "kernel log is clean", f->kmsg_bad ? NULL : skip);
	result(t, !taint, "taint is unchanged", NULL);
	result(t, !f->nr_hangs, "everything made progress", NULL);
	result(t, !f->nr_errors, "nothing failed around the test", NULL);
	skip = NULL;
	if (f->fix != DS_FIX_PRESENT && !f->require_fix)
		skip = f->fix == DS_FIX_ABSENT ? "absent, and not required" : "unknown";
	result(t, skip || f->fix == DS_FIX_PRESENT, "fix of percpu_pvec_drained is present", skip);
}

/**
 * ds_output_ktap() - write the report
 *
 * Return: 0 or -1 when it could not be written.
 */
int ds_output_ktap(FILE *f, const struct ds_report *r)
{
	struct ktap t = { .f = f };
	struct ds_key keys[DS_NR_KEYS];
	unsigned int i;

	fputs("KTAP version 1\n", f);
	if (r->facts.setup_exit == DS_EXIT_SKIP) {
		fprintf(f, "1..0 # SKIP %s\n", r->facts.setup_text);
	} else if (r->facts.setup_exit != DS_EXIT_PASS) {
		fprintf(f, "Bail out! %s\n", r->facts.setup_text);
	} else {
		fprintf(f, "1..%u\n", r->facts.nr_inv + 11);
		for (i = 0; i < r->facts.nr_inv; i++)
			invariant(&t, r, &r->facts.inv[i]);
		parts(&t, r);
		result(&t, r->verdict.code == DS_EXIT_PASS, "verdict", NULL);
	}
	if (r->facts.setup_exit == DS_EXIT_PASS)
		ds_output_latency(f, "# ", r);
	for (i = 0; i < r->verdict.nr_reasons; i++)
		comment(&t, r->verdict.reasons[i].text);
	for (i = 0; i < r->nr_notes; i++)
		comment(&t, r->notes[i]);
	ds_report_keys(r, keys);
	for (i = 0; i < DS_NR_KEYS; i++)
		fprintf(f, "# %s: %s\n", keys[i].name, keys[i].value);
	return fflush(f) || ferror(f) ? -1 : 0;
}
