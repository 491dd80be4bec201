// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arithmetic of aligned pairs: offsets are a pure function and cover their range
 * evenly, the bins cover it too, overlaps are counted as a plain comparison of all
 * intervals counts them, every pair gets its turn; and what "--align" takes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "align.h"
#include "rand.h"
#include "run_opts.h"

#define ROUNDS 32000

static void test_pure(void **state)
{
	u64 a = ds_random_at(7, 1, 2, 3);

	(void)state;
	assert_int_equal(a, ds_random_at(7, 1, 2, 3));
	assert_int_not_equal(a, ds_random_at(8, 1, 2, 3));
	assert_int_not_equal(a, ds_random_at(7, 2, 2, 3));
	assert_int_not_equal(a, ds_random_at(7, 1, 3, 3));
	assert_int_not_equal(a, ds_random_at(7, 1, 2, 4));
	assert_int_not_equal(a, ds_random_at(7, 2, 1, 3));
}

/* Each of the bins gets its share, whichever side is longer. */
static void test_offsets(void **state)
{
	static const u64 lens[][2] = {
		{ 1000, 1000 }, { 100000, 30 }, { 30, 100000 }, { 50, 50 },
		{ DS_ALIGN_LEN_MAX, DS_ALIGN_LEN_MAX }, { 7, DS_ALIGN_LEN_MAX },
	};
	unsigned int seen[DS_ALIGN_BINS], i, l;

	(void)state;
	for (l = 0; l < ARRAY_SIZE(lens); l++) {
		u64 a = lens[l][0], b = lens[l][1];
		s64 least = INT64_MAX, most = INT64_MIN;

		memset(seen, 0, sizeof(seen));
		for (i = 0; i < ROUNDS; i++) {
			s64 offset = ds_align_offset(ds_random_at(5, 1, i, 2), a, b);
			int bin = ds_align_bin(offset, a, b);

			assert_true(offset >= -(s64)b && offset <= (s64)a);
			assert_in_range(bin, 0, DS_ALIGN_BINS - 1);
			seen[bin]++;
			if (offset < least)
				least = offset;
			if (offset > most)
				most = offset;
		}
		for (i = 0; i < DS_ALIGN_BINS; i++)
			assert_in_range(seen[i], ROUNDS / DS_ALIGN_BINS * 7 / 10,
					ROUNDS / DS_ALIGN_BINS * 13 / 10);
		assert_true(least <= -(s64)b + (s64)((a + b) / 50));
		assert_true(most >= (s64)a - (s64)((a + b) / 50));
	}
	/* nothing is known yet */
	assert_int_equal(ds_align_offset(~0ULL, 0, 0), 0);
	assert_int_equal(ds_align_offset(~0ULL, 10, 5), 10);
	assert_int_equal(ds_align_offset(0, 10, 5), -5);
}

static void test_bins(void **state)
{
	(void)state;
	assert_int_equal(ds_align_bin(-50, 110, 50), 0);
	assert_int_equal(ds_align_bin(-51, 110, 50), -1);
	assert_int_equal(ds_align_bin(110, 110, 50), DS_ALIGN_BINS - 1);
	assert_int_equal(ds_align_bin(111, 110, 50), -1);
	assert_int_equal(ds_align_bin(INT64_MIN / 2, 110, 50), -1);
	assert_int_equal(ds_align_bin(INT64_MAX / 2, 110, 50), -1);
	assert_int_equal(ds_align_bin(30, 110, 50), DS_ALIGN_BINS / 2 - 1);
	assert_int_equal(ds_align_bin(31, 110, 50), DS_ALIGN_BINS / 2);
	assert_int_equal(ds_align_bin(0, 0, 0), 0);
}

/* What was measured is what was asked for: such offsets do overlap, others do not. */
static void test_overlap(void **state)
{
	s64 offset;

	(void)state;
	assert_false(ds_align_overlap(0, 10, 10, 20));
	assert_false(ds_align_overlap(10, 20, 0, 10));
	assert_true(ds_align_overlap(0, 11, 10, 20));
	assert_true(ds_align_overlap(10, 20, 0, 11));
	assert_true(ds_align_overlap(0, 100, 40, 50));
	assert_true(ds_align_overlap(40, 50, 0, 100));
	for (offset = -40; offset <= 120; offset++) {
		u64 a = 1000, b = 1000 + offset;

		assert_int_equal(ds_align_overlap(a, a + 100, b, b + 30),
				 offset > -30 && offset < 100);
	}
}

#define LIST 60

static unsigned int make_list(struct ds_rand *r, struct ds_align_interval *list)
{
	unsigned int n = ds_rand_below(r, LIST + 1), i;
	u64 now = 0;

	for (i = 0; i < n; i++) {
		now += ds_rand_below(r, 30);
		list[i].start = now;
		now += 1 + ds_rand_below(r, 1 + ds_rand_below(r, 100));
		list[i].end = now;
	}
	return n;
}

static void test_overlaps(void **state)
{
	struct ds_align_interval a[LIST], b[LIST];
	unsigned int round, i, j, some = 0;

	(void)state;
	for (round = 0; round < 2000; round++) {
		struct ds_rand r = ds_rand_at(1, 2, round);
		unsigned int nr_a = make_list(&r, a), nr_b = make_list(&r, b);
		u64 want = 0;

		for (i = 0; i < nr_a; i++)
			for (j = 0; j < nr_b; j++)
				want += ds_align_overlap(a[i].start, a[i].end, b[j].start,
							 b[j].end);
		assert_int_equal(ds_align_overlaps(a, nr_a, b, nr_b), want);
		some += want > 10;
	}
	assert_true(some > 1000);
	assert_int_equal(ds_align_overlaps(a, 0, b, LIST), 0);
}

static void test_learn(void **state)
{
	u64 len = 0;
	int i;

	(void)state;
	assert_int_equal(ds_align_learn(0, 1000), 1000);
	assert_int_equal(ds_align_learn(0, 0), 1);
	/* one that was interrupted moves it by less than a half */
	assert_in_range(ds_align_learn(1000, ~0ULL), 1001, 1499);
	for (i = 0; i < 200; i++)
		len = ds_align_learn(len, i % 2 ? 900 : 1100);
	assert_in_range(len, 950, 1050);
	for (i = 0; i < 200; i++)
		len = ds_align_learn(len, 10);
	assert_in_range(len, 10, 18);
	for (i = 0; i < 200; i++)
		len = ds_align_learn(len, ~0ULL);
	/* it stays there: nothing overflows */
	assert_in_range(len, DS_ALIGN_LEN_MAX - 8, DS_ALIGN_LEN_MAX);
}

/* In a row of turns all that are not rare come up once before one comes again. */
static void test_turns(void **state)
{
	unsigned int seen[__DS_PAIR_MAX], firsts = 0, id, n;
	u32 all = (1U << DS_NR_PAIRS) - 1, rare = 1U << (DS_PAIR_OFFLINE_FILL - 1);
	u64 turn, seed;

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (turn = 0; turn < 17 * 100; turn++)
		seen[ds_align_turn(3, all, rare, turn)]++;
	for (id = 1; id < __DS_PAIR_MAX; id++)
		assert_int_equal(seen[id], id == DS_PAIR_OFFLINE_FILL ? 100 : 400);
	assert_int_equal(seen[0], 0);
	for (seed = 0; seed < 100; seed++)
		firsts |= 1U << (ds_align_turn(seed, all, rare, 0) - 1);
	assert_int_equal(firsts, all & ~rare);
	/* all have come up before any comes twice */
	memset(seen, 0, sizeof(seen));
	for (turn = 0; turn < DS_NR_PAIRS; turn++)
		seen[ds_align_turn(9, all, rare, turn)]++;
	for (id = 1; id < __DS_PAIR_MAX; id++)
		assert_int_equal(seen[id], 1);
	/* only those that are wanted */
	for (n = 1; n <= all; n++) {
		for (turn = 0; turn < 40; turn++)
			assert_true(n & 1U << (ds_align_turn(4, n, rare, turn) - 1));
	}
}

static void test_take(void **state)
{
	static const char * const bad[] = {
		"", "bogus", "on,off", "on,truncate-drain", "truncate-drain,", ",", "off,compare",
		"truncate", "truncate-drain,,fill-drain", "ON",
	};
	struct ds_align_opts o;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(ds_align_take(&o, bad[i]), -EINVAL);
	assert_int_equal(ds_align_take(&o, "on"), 0);
	assert_int_equal(o.mode, DS_ALIGN_ON);
	assert_int_equal(o.named, 0);
	assert_int_equal(ds_align_take(&o, "off"), 0);
	assert_int_equal(o.mode, DS_ALIGN_OFF);
	assert_int_equal(ds_align_take(&o, "compare"), 0);
	assert_int_equal(o.mode, DS_ALIGN_COMPARE);
	assert_int_equal(o.named, 0);
	assert_int_equal(ds_align_take(&o, "truncate-drain,offline-fill"), 0);
	assert_int_equal(o.mode, DS_ALIGN_ON);
	assert_int_equal(o.named, 1U << (DS_PAIR_TRUNCATE_DRAIN - 1) |
			 1U << (DS_PAIR_OFFLINE_FILL - 1));
	assert_int_equal(ds_align_take(&o, "fill-drain,compare"), 0);
	assert_int_equal(o.mode, DS_ALIGN_COMPARE);
	assert_int_equal(o.named, 1U << (DS_PAIR_FILL_DRAIN - 1));
}

static void test_settle(void **state)
{
	struct ds_item items[DS_NR_PAIRS];
	struct ds_msg caps = { .items = items, .nr_items = DS_NR_PAIRS };
	u32 all = (1U << DS_NR_PAIRS) - 1, rare = 1U << (DS_PAIR_OFFLINE_FILL - 1);
	struct ds_align_opts o;
	struct ds_err err;
	u32 id;

	(void)state;
	memset(items, 0, sizeof(items));
	for (id = 1; id <= DS_NR_PAIRS; id++) {
		items[id - 1].class = DS_CLASS_PAIR;
		items[id - 1].id = id;
		items[id - 1].available = true;
	}
	ds_align_take(&o, "on");
	assert_int_equal(ds_align_wanted(&o, &caps), all & ~rare);
	ds_align_take(&o, "off");
	assert_int_equal(ds_align_wanted(&o, &caps), 0);
	ds_align_take(&o, "compare");
	assert_int_equal(ds_align_wanted(&o, &caps), all);
	items[DS_PAIR_MLOCK_TRUNCATE - 1].available = false;
	snprintf(items[DS_PAIR_MLOCK_TRUNCATE - 1].reason, sizeof(items[0].reason), "no mlock");
	assert_int_equal(ds_align_wanted(&o, &caps),
			 all & ~(1U << (DS_PAIR_MLOCK_TRUNCATE - 1)));
	assert_int_equal(ds_align_settle(&o, &caps, &err), 0);
	ds_align_take(&o, "mlock-truncate,fill-drain");
	assert_int_equal(ds_align_settle(&o, &caps, &err), -1);
	assert_int_equal(err.exit, DS_EXIT_SKIP);
	assert_non_null(strstr(err.text, "--align mlock-truncate"));
	assert_non_null(strstr(err.text, "no mlock"));
}

static void test_request(void **state)
{
	struct ds_arg args[DS_ALIGN_REQUEST];
	struct ds_align_opts o;

	(void)state;
	ds_align_take(&o, "off");
	assert_int_equal(ds_align_request(&o, args), 0);
	ds_align_take(&o, "on");
	assert_int_equal(ds_align_request(&o, args), 1);
	assert_int_equal(args[0].attr, DS_A_ALIGN);
	assert_int_equal(args[0].num, DS_ALIGN_ON);
	ds_align_take(&o, "compare,disable-fill");
	assert_int_equal(ds_align_request(&o, args), 2);
	assert_int_equal(args[0].num, DS_ALIGN_COMPARE);
	assert_int_equal(args[1].attr, DS_A_PAIRS);
	assert_int_equal(args[1].num, 1U << (DS_PAIR_DISABLE_FILL - 1));
}

static void test_run(void **state)
{
	char run[] = "run", no_race[] = "--no-race", align[] = "--align";
	char word[] = "compare,fill-drain", bad[] = "bogus";
	char *argv[5] = { run, align, word, NULL };
	char *other[5] = { run, no_race, NULL };
	struct ds_run_opts o;
	char text[1024];

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, 1, argv), 0);
	assert_int_equal(o.align.mode, DS_ALIGN_OFF);
	ds_run_repeat(&o, text, sizeof(text));
	assert_null(strstr(text, "--align"));
	assert_int_equal(ds_run_opts_parse(&o, 3, argv), 0);
	assert_int_equal(o.align.mode, DS_ALIGN_COMPARE);
	ds_run_repeat(&o, text, sizeof(text));
	assert_non_null(strstr(text, " --align compare,fill-drain"));
	assert_int_equal(ds_run_opts_parse(&o, 2, other), 0);
	assert_int_equal(o.align.mode, DS_ALIGN_OFF);
	argv[2] = bad;
	assert_int_equal(ds_run_opts_parse(&o, 3, argv), DS_EXIT_USAGE);
}

/* Rates and the ratio, of what GET_STATS says; nothing of what it does not. */
static void test_result(void **state)
{
	static const struct { const char *name; u64 value; } said[] = {
		{ "rounds", 100 }, { "overlaps", 60 }, { "ns", 2000000000 }, { "bin.0", 3 },
		{ "bin.15", 4 }, { "free.overlaps", 2 }, { "free.ns", 1000000000 },
	};
	struct ds_counter counters[ARRAY_SIZE(said)];
	struct ds_msg m = { .counters = counters, .nr_counters = ARRAY_SIZE(said) };
	struct ds_msgs stats = { .v = &m, .nr = 1 };
	struct ds_align_result res;
	unsigned int i;

	(void)state;
	memset(counters, 0, sizeof(counters));
	for (i = 0; i < ARRAY_SIZE(said); i++) {
		snprintf(counters[i].name, sizeof(counters[i].name), "%s", said[i].name);
		counters[i].value = said[i].value;
	}
	snprintf(m.scope, sizeof(m.scope), "align");
	snprintf(m.name, sizeof(m.name), "fill-drain");
	ds_align_result(&stats, DS_PAIR_FILL_DRAIN, &res);
	assert_int_equal(res.rounds, 100);
	assert_int_equal(res.bins[0], 3);
	assert_int_equal(res.bins[15], 4);
	assert_true(res.overlaps_s > 29.9 && res.overlaps_s < 30.1);
	assert_true(res.free_s > 1.9 && res.free_s < 2.1);
	assert_true(res.ratio > 14.9 && res.ratio < 15.1);
	counters[5].value = 0;
	ds_align_result(&stats, DS_PAIR_FILL_DRAIN, &res);
	assert_true(res.ratio == 0);
	ds_align_result(&stats, DS_PAIR_TRUNCATE_DRAIN, &res);
	assert_int_equal(res.rounds, 0);
	assert_true(res.overlaps_s == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pure),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_learn),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
