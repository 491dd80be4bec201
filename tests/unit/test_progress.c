// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog: patient with a slow host, but not for ever; and the progress
 * line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "progress.h"

static void test_still(void **state)
{
	struct ds_watchdog w = { .value = 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 120; i++)
		assert_false(ds_watchdog(&w, 0, 250));
	assert_true(ds_watchdog(&w, 0, 250));
	assert_int_equal(w.still_ms, 30250);
	/* it moved: all is forgiven, and the host is known to be slow */
	assert_false(ds_watchdog(&w, 1, 250));
	assert_int_equal(w.still_ms, 0);
	assert_int_equal(ds_watchdog_limit(&w), 305000);
}

static void test_limit(void **state)
{
	struct ds_watchdog w = { .slowest_ms = 10 };

	(void)state;
	assert_int_equal(ds_watchdog_limit(&w), DS_WATCHDOG_MS);
	w.slowest_ms = 5000;
	assert_int_equal(ds_watchdog_limit(&w), 50000);
	w.slowest_ms = 500000;
	assert_int_equal(ds_watchdog_limit(&w), DS_WATCHDOG_TOP_MS);
}

static void test_line(void **state)
{
	struct ds_snapshot now = { .ms = 9999 };
	struct ds_progress p;
	char *text = NULL;
	size_t len = 0;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	ds_progress_init(&p, f, false, 60000);
	assert_false(p.tty);
	fclose(f);
	p.f = open_memstream(&text, &len);
	ds_progress_show(&p, &now);
	assert_int_equal(len, 0);
	now.ms = 10000;
	now.truncates = 5000;
	now.fills = 20000;
	now.usages = 44;
	now.usage_max = 1;
	ds_progress_show(&p, &now);
	assert_string_equal(text,
			    "10/60 s: 500 truncates/s, 2000 fills/s, 0 effective drains/s, 44 usages (at most 1 drains), 0 violations\n");
	fclose(p.f);
	free(text);
	/* quiet shows nothing */
	p.f = NULL;
	now.ms = 30000;
	ds_progress_show(&p, &now);
	ds_progress_clear(&p);
}

/* Waiting for a CPU counts nothing, running a quarter, sleeping all. */
static void test_share(void **state)
{
	struct ds_watchdog w = { .value = 0 };
	const u64 ms = 1000000;

	(void)state;
	/* nothing is known yet */
	assert_int_equal(ds_watchdog_share(&w, 250, 5 * ms, 9 * ms), 250);
	assert_int_equal(ds_watchdog_share(&w, 250, 5 * ms, 9 * ms), 250);
	assert_int_equal(ds_watchdog_share(&w, 250, 5 * ms, 259 * ms), 0);
	assert_int_equal(ds_watchdog_share(&w, 200, 205 * ms, 259 * ms), 50);
	assert_int_equal(ds_watchdog_share(&w, 300, 305 * ms, 359 * ms), 125);
	/* the clocks differ a little */
	assert_int_equal(ds_watchdog_share(&w, 100, 500 * ms, 660 * ms), 0);
	/* one that runs for ever hangs too, after two minutes */
	while (!ds_watchdog(&w, 0, ds_watchdog_share(&w, 1000, w.ran_ns + 1000 * ms, w.queued_ns)))
		assert_true(w.ran_ns < 130000 * ms);
	assert_true(w.ran_ns > 110000 * ms);
}

/* A sample a second, of a long run one in a while, and the latest always. */
static void test_series(void **state)
{
	struct ds_series *s = calloc(1, sizeof(*s));
	struct ds_snapshot now = { .ms = 0 };
	unsigned int i;

	(void)state;
	assert_non_null(s);
	for (now.ms = 0; now.ms <= 10000; now.ms += 250) {
		now.truncates = now.ms * 3;
		ds_series_add(s, &now, true);
	}
	assert_int_equal(s->nr, 10);
	assert_int_equal(s->v[0].ms, 1000);
	assert_int_equal(s->v[9].ms, 10000);
	assert_int_equal(s->v[9].truncates, 30000);
	for (; now.ms <= 4ULL * 3600 * 1000; now.ms += 250)
		ds_series_add(s, &now, true);
	assert_int_equal(s->interval_ms, 32000);
	assert_in_range(s->nr, DS_SERIES_MAX / 4, DS_SERIES_MAX);
	now.ms = s->v[s->nr - 1].ms + s->interval_ms - 1;
	for (i = 1; i < s->nr; i++)
		assert_true(s->v[i].ms >= s->v[i - 1].ms + s->interval_ms / 2);
	/* the end is there in any case, and no sliver before it */
	i = s->nr;
	ds_series_end(s, &now);
	assert_int_equal(s->nr, i + 1);
	assert_int_equal(s->v[i].ms, now.ms);
	now.ms += s->interval_ms / 4;
	ds_series_end(s, &now);
	assert_int_equal(s->nr, i + 1);
	assert_int_equal(s->v[i].ms, now.ms);
	free(s);
}

/* Counts that are old are taken only when no new ones come. */
static void test_series_fresh(void **state)
{
	struct ds_series *s = calloc(1, sizeof(*s));
	struct ds_snapshot now = { .ms = 0 };

	(void)state;
	assert_non_null(s);
	for (now.ms = 250; now.ms < 2000; now.ms += 250)
		ds_series_add(s, &now, false);
	assert_int_equal(s->nr, 0);
	ds_series_add(s, &now, false);
	assert_int_equal(s->nr, 1);
	/* a little early is early enough */
	now.ms = 2900;
	ds_series_add(s, &now, false);
	assert_int_equal(s->nr, 1);
	ds_series_add(s, &now, true);
	assert_int_equal(s->nr, 2);
	/* a run of no time has an end too */
	memset(s, 0, sizeof(*s));
	ds_series_end(s, &now);
	assert_int_equal(s->nr, 1);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_still),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_series_fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
