// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict: a run that did everything passes, and each single thing that is
 * missing or wrong changes the verdict to what docs/drainctl.md says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kmsg.h"
#include "verdict.h"

#define set_text(array, text) snprintf(array, sizeof(array), "%s", text)

static struct ds_facts facts;
static struct ds_verdict verdict;

static struct ds_inv_fact *add_inv(u32 id)
{
	struct ds_inv_fact *inv = &facts.inv[facts.nr_inv++];

	inv->id = id;
	snprintf(inv->name, sizeof(inv->name), "I%u", id);
	inv->available = true;
	inv->checked = 10;
	inv->reported = id == 23;
	return inv;
}

/* Everything as it should be. */
static int good(void **state)
{
	(void)state;
	memset(&facts, 0, sizeof(facts));
	facts.load = true;
	facts.race = true;
	facts.accounting = true;
	facts.kmsg = true;
	facts.truncates = 100;
	facts.pages = 100;
	facts.submitted = 50;
	facts.reaped = 50;
	facts.fills = 10;
	facts.effective = 5;
	facts.usages = 7;
	facts.fix = DS_FIX_ABSENT;
	add_inv(1);
	add_inv(22);
	add_inv(23);
	add_inv(32);
	return 0;
}

static enum ds_exit judge(void)
{
	ds_verdict(&facts, &verdict);
	return verdict.code;
}

static void test_pass(void **state)
{
	(void)state;
	assert_int_equal(judge(), DS_EXIT_PASS);
	assert_int_equal(verdict.nr_reasons, 0);
	assert_int_equal(verdict.checks, 40);
	assert_int_equal(verdict.violations, 0);
}

/* One number after the other set to what must not be. */
static void test_each_condition(void **state)
{
	static const struct {
		size_t offset;
		u64 value;
		enum ds_exit code;
		const char *says;
	} rows[] = {
		{ offsetof(struct ds_facts, truncates), 0, DS_EXIT_INCONCLUSIVE, "truncate" },
		{ offsetof(struct ds_facts, pages), 0, DS_EXIT_INCONCLUSIVE, "write a page" },
		{ offsetof(struct ds_facts, fills), 0, DS_EXIT_INCONCLUSIVE, "filled" },
		{ offsetof(struct ds_facts, effective), 0, DS_EXIT_INCONCLUSIVE, "drain" },
		{ offsetof(struct ds_facts, usages), 0, DS_EXIT_INCONCLUSIVE, "usage" },
		{ offsetof(struct ds_facts, submitted), 51, DS_EXIT_ERROR, "51 requests" },
		{ offsetof(struct ds_facts, dropped), 1, DS_EXIT_ERROR, "1 dropped" },
		{ offsetof(struct ds_facts, kmsg_bad), 2, DS_EXIT_FAIL, "2 lines" },
		{ offsetof(struct ds_facts, kmsg_lost), 1, DS_EXIT_INCONCLUSIVE, "lost" },
		{ offsetof(struct ds_facts, taint_after), 1 << 9, DS_EXIT_FAIL, "W" },
		{ offsetof(struct ds_facts, taint_after), DS_TAINT_IGNORED, DS_EXIT_PASS, NULL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		good(state);
		*(u64 *)((char *)&facts + rows[i].offset) = rows[i].value;
		assert_int_equal(judge(), rows[i].code);
		if (rows[i].says)
			assert_non_null(strstr(verdict.reasons[0].text, rows[i].says));
	}
}

static void test_flags(void **state)
{
	facts.bare = true;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	good(state);
	facts.planted = true;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	good(state);
	facts.kmsg = false;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	good(state);
	facts.interrupted = true;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	good(state);
	facts.require_fix = true;
	assert_int_equal(judge(), DS_EXIT_FAIL);
	facts.fix = DS_FIX_UNKNOWN;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	facts.fix = DS_FIX_PRESENT;
	assert_int_equal(judge(), DS_EXIT_PASS);
	facts.taint_before = 1 << 9;
	facts.taint_after = 1 << 9;
	assert_int_equal(judge(), DS_EXIT_PASS);
}

/* Half a run is not asked for the other half's work. */
static void test_halves(void **state)
{
	facts.race = false;
	facts.fills = 0;
	facts.effective = 0;
	assert_int_equal(judge(), DS_EXIT_PASS);
	good(state);
	facts.load = false;
	facts.truncates = 0;
	facts.pages = 0;
	assert_int_equal(judge(), DS_EXIT_PASS);
	good(state);
	facts.accounting = false;
	facts.usages = 0;
	facts.effective = 0;
	facts.inv[1].checked = 0;
	assert_int_equal(judge(), DS_EXIT_PASS);
	facts.load = false;
	facts.race = false;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
}

static void test_unchecked(void **state)
{
	unsigned int i;

	facts.sampled = true;
	facts.samples = 1;
	assert_int_equal(judge(), DS_EXIT_PASS);
	facts.samples = 0;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	assert_non_null(strstr(verdict.reasons[0].text, "while the load ran"));
	good(state);

	facts.inv[0].checked = 0;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	assert_non_null(strstr(verdict.reasons[0].text, "I1 "));
	facts.inv[0].available = false;
	assert_int_equal(judge(), DS_EXIT_PASS);
	for (i = 0; i < facts.nr_inv; i++)
		facts.inv[i].available = false;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	good(state);
	facts.nr_inv = 0;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
}

static void test_violations(void **state)
{
	facts.inv[0].violations = 3;
	set_text(facts.inv[0].first.text, "expected 1, found 2");
	assert_int_equal(judge(), DS_EXIT_FAIL);
	assert_int_equal(verdict.violations, 3);
	assert_non_null(strstr(verdict.reasons[0].text, "expected 1, found 2"));

	/* the canary is reported, it does not count */
	good(state);
	facts.inv[2].violations = 5;
	assert_int_equal(judge(), DS_EXIT_PASS);
	assert_int_equal(verdict.violations, 0);
	assert_null(ds_facts_first(&facts));

	/* a drain that does not return is a hang */
	good(state);
	facts.inv[3].violations = 1;
	assert_int_equal(judge(), DS_EXIT_HANG);
	facts.inv[0].violations = 1;
	assert_int_equal(judge(), DS_EXIT_FAIL);
	assert_int_equal(verdict.reasons[0].code, DS_EXIT_FAIL);
	assert_int_equal(verdict.reasons[1].code, DS_EXIT_HANG);

	facts.inv[0].first.time_ns = 200;
	facts.inv[3].first.time_ns = 100;
	assert_string_equal(ds_facts_first(&facts)->name, "I32");
}

/* A known kernel issue is counted apart, and hides nothing else. */
static void test_known(void **state)
{
	facts.inv[0].violations = 3;
	facts.inv[0].first.time_ns = 100;
	facts.inv[0].known = "a reason";
	assert_int_equal(judge(), DS_EXIT_PASS);
	assert_int_equal(verdict.nr_reasons, 0);
	assert_int_equal(verdict.violations, 0);
	assert_int_equal(verdict.known, 3);
	assert_null(ds_facts_first(&facts));
	/* a planted fault that is known has been noticed */
	facts.planted = true;
	assert_int_equal(judge(), DS_EXIT_PASS);
	facts.inv[0].violations = 0;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);
	assert_int_equal(verdict.known, 0);

	/* an invariant that was never checked is no better for being known */
	good(state);
	facts.inv[0].known = "a reason";
	facts.inv[0].checked = 0;
	assert_int_equal(judge(), DS_EXIT_INCONCLUSIVE);

	good(state);
	facts.inv[0].violations = 3;
	facts.inv[0].known = "a reason";
	facts.inv[0].first.time_ns = 100;
	facts.inv[1].violations = 2;
	facts.inv[1].first.time_ns = 200;
	assert_int_equal(judge(), DS_EXIT_FAIL);
	assert_int_equal(verdict.nr_reasons, 1);
	assert_non_null(strstr(verdict.reasons[0].text, "I22 "));
	assert_int_equal(verdict.violations, 2);
	assert_int_equal(verdict.known, 3);
	assert_string_equal(ds_facts_first(&facts)->name, "I22");

	/* also a hang may be known */
	good(state);
	facts.inv[3].violations = 1;
	facts.inv[3].known = "a reason";
	assert_int_equal(judge(), DS_EXIT_PASS);
}

static void test_precedence(void **state)
{
	facts.interrupted = true;
	ds_facts_error(&facts, "netlink %s", "lost");
	assert_int_equal(judge(), DS_EXIT_ERROR);
	/* what is lighter than an error is no news beside it */
	assert_int_equal(verdict.nr_reasons, 1);
	ds_facts_hang(&facts, "a drain");
	assert_int_equal(judge(), DS_EXIT_HANG);
	assert_int_equal(verdict.nr_reasons, 2);
	facts.kmsg_bad = 1;
	assert_int_equal(judge(), DS_EXIT_FAIL);
	assert_int_equal(verdict.nr_reasons, 3);
	/* a killed load reaped nothing: no second error */
	good(state);
	ds_facts_error(&facts, "the load was killed");
	facts.reaped = 0;
	assert_int_equal(judge(), DS_EXIT_ERROR);
	assert_int_equal(verdict.nr_reasons, 1);
}

static void test_set_up(void **state)
{
	static const enum ds_exit codes[] = { DS_EXIT_SKIP, DS_EXIT_ERROR, DS_EXIT_USAGE };
	unsigned int i;

	(void)state;
	memset(&facts, 0, sizeof(facts));
	set_text(facts.setup_text, "no module");
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		facts.setup_exit = codes[i];
		assert_int_equal(judge(), codes[i]);
		assert_int_equal(verdict.nr_reasons, 1);
		assert_string_equal(verdict.reasons[0].text, "no module");
	}
	/* and what it had changed cannot be put back */
	facts.setup_exit = DS_EXIT_SKIP;
	ds_facts_error(&facts, "CPU 3 stays offline");
	assert_int_equal(judge(), DS_EXIT_ERROR);
	assert_int_equal(verdict.nr_reasons, 2);
	assert_string_equal(verdict.reasons[0].text, "CPU 3 stays offline");
}

static void test_texts_are_bounded(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 3 * DS_FACTS_TEXTS; i++) {
		ds_facts_error(&facts, "%0600d", i);
		ds_facts_hang(&facts, "%0600d", i);
	}
	while (facts.nr_inv < DS_FACTS_INVARIANTS)
		add_inv(facts.nr_inv + 100)->violations = 1;
	assert_int_equal(judge(), DS_EXIT_FAIL);
	assert_true(verdict.nr_reasons <= DS_REASONS_MAX);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(ds_exit_name(DS_EXIT_PASS), "PASS");
	assert_string_equal(ds_exit_name(DS_EXIT_HANG), "HANG");
	assert_string_equal(ds_exit_name(7), "?");
	assert_string_equal(ds_fix_name(DS_FIX_PRESENT), "present");
	assert_string_equal(ds_fix_name(DS_FIX_ABSENT), "absent");
	assert_string_equal(ds_fix_name(0), "unknown");
}

/* A replay has to do something, not all that a run does; what it finds counts. */
static void test_replay(void **state)
{
	struct ds_facts f = { .replay = true, .kmsg = true, .race = true, .accounting = true };
	struct ds_verdict v;

	(void)state;
	ds_verdict(&f, &v);
	assert_int_equal(v.code, DS_EXIT_INCONCLUSIVE);
	f.steps = 1;
	ds_verdict(&f, &v);
	assert_int_equal(v.code, DS_EXIT_PASS);
	f.kmsg_bad = 1;
	ds_verdict(&f, &v);
	assert_int_equal(v.code, DS_EXIT_FAIL);
	f.kmsg_bad = 0;
	f.interrupted = true;
	ds_verdict(&f, &v);
	assert_int_equal(v.code, DS_EXIT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_pass, good),
		cmocka_unit_test_setup(test_each_condition, good),
		cmocka_unit_test_setup(test_flags, good),
		cmocka_unit_test_setup(test_halves, good),
		cmocka_unit_test_setup(test_unchecked, good),
		cmocka_unit_test_setup(test_violations, good),
		cmocka_unit_test_setup(test_known, good),
		cmocka_unit_test_setup(test_precedence, good),
		cmocka_unit_test(test_set_up),
		cmocka_unit_test_setup(test_texts_are_bounded, good),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
