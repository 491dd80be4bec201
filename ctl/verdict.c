// SPDX-License-Identifier: GPL-2.0-only
/*
 * From facts to a verdict: a pure function made of rules, each of which may
 * add reasons.  The verdict is the weightiest reason's code; without a reason
 * it is PASS.  Collects nothing and prints nothing.
 */
#include <string.h>

#include "kmsg.h"
#include "verdict.h"

/* Which codes outweigh which: FAIL over HANG over ERROR over INCONCLUSIVE. */
static const u8 weight[] = {
	[DS_EXIT_PASS] = 0,
	[DS_EXIT_INCONCLUSIVE] = 1,
	[DS_EXIT_SKIP] = 2,
	[DS_EXIT_USAGE] = 3,
	[DS_EXIT_ERROR] = 4,
	[DS_EXIT_HANG] = 5,
	[DS_EXIT_FAIL] = 6,
};

static const char * const names[] = {
	[DS_EXIT_PASS] = "PASS",
	[DS_EXIT_FAIL] = "FAIL",
	[DS_EXIT_USAGE] = "USAGE",
	[DS_EXIT_INCONCLUSIVE] = "INCONCLUSIVE",
	[DS_EXIT_SKIP] = "SKIP",
	[DS_EXIT_ERROR] = "ERROR",
	[DS_EXIT_HANG] = "HANG",
};

/* The invariant that says "every drain returns": a violation is a hang. */
#define INV_RETURNS 32
/* Drains per usage, which only the accounting can check. */
#define INV_USAGE 22

/**
 * ds_exit_name() - "PASS" for 0 and so on
 */
const char *ds_exit_name(enum ds_exit code)
{
	return code < ARRAY_SIZE(names) ? names[code] : "?";
}

/**
 * ds_fix_name() - "present", "absent" or "unknown" for enum drainstress_fix
 */
const char *ds_fix_name(u32 fix)
{
	if (fix == DS_FIX_PRESENT)
		return "present";
	return fix == DS_FIX_ABSENT ? "absent" : "unknown";
}

static void __printf(3, 4) reason(struct ds_verdict *v, enum ds_exit code, const char *fmt, ...)
{
	struct ds_reason *r;
	va_list ap;

	if (weight[code] > weight[v->code])
		v->code = code;
	if (v->nr_reasons == DS_REASONS_MAX)
		return;
	r = &v->reasons[v->nr_reasons++];
	r->code = code;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

static void rule_violations(const struct ds_facts *f, struct ds_verdict *v)
{
	unsigned int i;

	for (i = 0; i < f->nr_inv; i++) {
		const struct ds_inv_fact *inv = &f->inv[i];

		v->checks += inv->checked;
		if (inv->known)
			v->known += inv->violations;
		if (!ds_inv_fails(inv))
			continue;
		v->violations += inv->violations;
		reason(v, inv->id == INV_RETURNS ? DS_EXIT_HANG : DS_EXIT_FAIL,
		       "%s violated %llu times: %s", inv->name, inv->violations,
		       inv->first.text[0] ? inv->first.text : inv->title);
	}
}

static void rule_kernel_log(const struct ds_facts *f, struct ds_verdict *v)
{
	if (f->kmsg_bad)
		reason(v, DS_EXIT_FAIL, "the kernel complained (%llu lines): %s", f->kmsg_bad,
		       f->kmsg_first);
	if (f->kmsg_lost)
		reason(v, DS_EXIT_INCONCLUSIVE,
		       "lines of the kernel log were lost (%llu times): boot with a larger log_buf_len",
		       f->kmsg_lost);
	if (!f->kmsg)
		reason(v, DS_EXIT_INCONCLUSIVE, "the kernel log was not read");
}

static void rule_taint(const struct ds_facts *f, struct ds_verdict *v)
{
	u64 new = f->taint_after & ~f->taint_before & ~DS_TAINT_IGNORED;
	char letters[64];

	if (!new)
		return;
	ds_taint_letters(new, letters, sizeof(letters));
	reason(v, DS_EXIT_FAIL, "the kernel became tainted: %s", letters);
}

static void rule_fix(const struct ds_facts *f, struct ds_verdict *v)
{
	if (f->require_fix && f->fix != DS_FIX_PRESENT)
		reason(v, f->fix == DS_FIX_ABSENT ? DS_EXIT_FAIL : DS_EXIT_INCONCLUSIVE,
		       "--require-fix: the fix is %s: percpu_pvec_drained %s folio_batch_move_lru()",
		       ds_fix_name(f->fix), f->fix == DS_FIX_ABSENT ? "does not survive" :
		       "could not be tested over");
}

static void rule_hangs(const struct ds_facts *f, struct ds_verdict *v)
{
	unsigned int i;

	for (i = 0; i < f->nr_hangs; i++)
		reason(v, DS_EXIT_HANG, "%s", f->hangs[i]);
}

static void rule_errors(const struct ds_facts *f, struct ds_verdict *v)
{
	unsigned int i;

	for (i = 0; i < f->nr_errors; i++)
		reason(v, DS_EXIT_ERROR, "%s", f->errors[i]);
}

static void rule_ring(const struct ds_facts *f, struct ds_verdict *v)
{
	/* threads that hang or were killed have not reaped: that is said already */
	if (f->nr_hangs || f->nr_errors)
		return;
	if (f->submitted != f->reaped || f->dropped)
		reason(v, DS_EXIT_ERROR,
		       "io_uring: %llu requests submitted, %llu completions seen, %llu dropped",
		       f->submitted, f->reaped, f->dropped);
}

static void rule_work(const struct ds_facts *f, struct ds_verdict *v)
{
	if (f->replay) {
		if (!f->steps)
			reason(v, DS_EXIT_INCONCLUSIVE, "no decision was carried out");
		return;
	}
	if (f->load && !f->truncates)
		reason(v, DS_EXIT_INCONCLUSIVE, "no truncate succeeded");
	if (f->load && f->truncates && !f->pages)
		reason(v, DS_EXIT_INCONCLUSIVE, "the load could not write a page");
	if (f->race && !f->fills)
		reason(v, DS_EXIT_INCONCLUSIVE, "no batch was filled");
	/* without the probes nobody counts what a drain moved */
	if (f->race && f->accounting && !f->effective)
		reason(v, DS_EXIT_INCONCLUSIVE, "no drain moved a folio");
	if (f->accounting && !f->usages)
		reason(v, DS_EXIT_INCONCLUSIVE, "no batch usage was seen");
	if (f->sampled && !f->samples)
		reason(v, DS_EXIT_INCONCLUSIVE, "nothing was checked while the load ran");
	if (f->planted && !v->violations && !v->known)
		reason(v, DS_EXIT_INCONCLUSIVE, "no check noticed the planted fault");
	if (f->bare)
		reason(v, DS_EXIT_INCONCLUSIVE, "--bare-race neither counts nor checks");
	if (!f->load && !f->race && !f->bare)
		reason(v, DS_EXIT_INCONCLUSIVE, "nothing was asked for: no load and no race");
}

static void rule_checked(const struct ds_facts *f, struct ds_verdict *v)
{
	unsigned int i, available = 0;

	if (f->replay)
		return;
	for (i = 0; i < f->nr_inv; i++) {
		const struct ds_inv_fact *inv = &f->inv[i];

		if (!inv->available || (inv->id == INV_USAGE && !f->accounting))
			continue;
		available++;
		if (!inv->checked)
			reason(v, DS_EXIT_INCONCLUSIVE, "%s was never checked: %s", inv->name,
			       inv->reason[0] ? inv->reason : inv->title);
	}
	if (!available)
		reason(v, DS_EXIT_INCONCLUSIVE, "no invariant can be checked on this kernel");
}

static void rule_interrupted(const struct ds_facts *f, struct ds_verdict *v)
{
	if (f->interrupted)
		reason(v, DS_EXIT_INCONCLUSIVE, "interrupted by a signal");
}

typedef void (*rule_fn)(const struct ds_facts *f, struct ds_verdict *v);

static const rule_fn rules[] = {
	rule_violations,
	rule_kernel_log,
	rule_taint,
	rule_fix,
	rule_hangs,
	rule_errors,
	rule_ring,
	rule_interrupted,
	rule_work,
	rule_checked,
};

/* Weightiest first, else in the order of the rules. */
static void sort_reasons(struct ds_verdict *v)
{
	struct ds_reason tmp;
	unsigned int i, k;

	for (i = 1; i < v->nr_reasons; i++) {
		tmp = v->reasons[i];
		for (k = i; k && weight[v->reasons[k - 1].code] < weight[tmp.code]; k--)
			v->reasons[k] = v->reasons[k - 1];
		v->reasons[k] = tmp;
	}
}

/**
 * ds_verdict() - judge a run
 * @f: the facts
 * @v: overwritten
 *
 * A run that never began has the code of its set-up, unless what that had changed
 * could not be put back, which is an error.  Where something worse was found, "too
 * little work" is no news and is left out.
 */
void ds_verdict(const struct ds_facts *f, struct ds_verdict *v)
{
	unsigned int i;

	memset(v, 0, sizeof(*v));
	v->code = DS_EXIT_PASS;
	if (f->setup_exit != DS_EXIT_PASS) {
		reason(v, f->setup_exit, "%s", f->setup_text);
		rule_errors(f, v);
		sort_reasons(v);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i](f, v);
	sort_reasons(v);
	if (v->code == DS_EXIT_INCONCLUSIVE)
		return;
	while (v->nr_reasons && v->reasons[v->nr_reasons - 1].code == DS_EXIT_INCONCLUSIVE)
		v->nr_reasons--;
}

/**
 * ds_facts_hang() - note something that stopped making progress
 */
void ds_facts_hang(struct ds_facts *f, const char *fmt, ...)
{
	va_list ap;

	if (f->nr_hangs == DS_FACTS_TEXTS)
		return;
	va_start(ap, fmt);
	vsnprintf(f->hangs[f->nr_hangs++], sizeof(f->hangs[0]), fmt, ap);
	va_end(ap);
}

/**
 * ds_facts_error() - note a failure of the infrastructure
 */
void ds_facts_error(struct ds_facts *f, const char *fmt, ...)
{
	va_list ap;

	if (f->nr_errors == DS_FACTS_TEXTS)
		return;
	va_start(ap, fmt);
	vsnprintf(f->errors[f->nr_errors++], sizeof(f->errors[0]), fmt, ap);
	va_end(ap);
}

/**
 * ds_facts_first() - the invariant whose first violation that counts came first
 *
 * Return: NULL when none was violated.
 */
const struct ds_inv_fact *ds_facts_first(const struct ds_facts *f)
{
	const struct ds_inv_fact *first = NULL;
	unsigned int i;

	for (i = 0; i < f->nr_inv; i++) {
		const struct ds_inv_fact *inv = &f->inv[i];

		if (!ds_inv_fails(inv))
			continue;
		if (!first || inv->first.time_ns < first->first.time_ns)
			first = inv;
	}
	return first;
}
