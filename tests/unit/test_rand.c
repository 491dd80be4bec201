// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decisions are a pure function of (seed, thread, index), differ between
 * neighbours, cover what they may take, and stay the same from version to
 * version, or old seeds would repeat nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "flood.h"
#include "rand.h"

static const struct ds_flood_shape shape = {
	.nr_files = DS_FLOOD_FILES,
	.max_pages = 100,
	.nr_ring = 2,
	.syscall_share = 1,
	.disk_mask = 1 << 3,
};

static void test_mixer(void **state)
{
	struct ds_rand r = { .state = 0 };

	(void)state;
	/* the published values of splitmix64 for seed 0 */
	assert_int_equal(ds_rand_next(&r), 0xe220a8397b1dcdafULL);
	assert_int_equal(ds_rand_next(&r), 0x6e789e6aa1b965f4ULL);
	assert_int_equal(ds_rand_next(&r), 0x06c45d188009454fULL);
}

static void test_golden(void **state)
{
	struct ds_rand r = ds_rand_at(1, 2, 3);
	struct ds_rand again = ds_rand_at(1, 2, 3);

	(void)state;
	assert_int_equal(ds_rand_next(&r), ds_rand_next(&again));
	r = ds_rand_at(1, 2, 3);
	assert_int_not_equal(ds_rand_next(&r), ds_rand_at(2, 1, 3).state);
}

static void test_neighbours(void **state)
{
	u64 a = ds_rand_at(7, 0, 0).state;

	(void)state;
	assert_int_not_equal(a, ds_rand_at(8, 0, 0).state);
	assert_int_not_equal(a, ds_rand_at(7, 1, 0).state);
	assert_int_not_equal(a, ds_rand_at(7, 0, 1).state);
	assert_int_not_equal(ds_rand_at(7, 1, 0).state, ds_rand_at(7, 0, 1).state);
}

static void test_below(void **state)
{
	struct ds_rand r = ds_rand_at(3, 3, 3);
	unsigned int seen[7] = { 0 }, i;

	(void)state;
	for (i = 0; i < 7000; i++)
		seen[ds_rand_below(&r, 7)]++;
	for (i = 0; i < 7; i++)
		assert_in_range(seen[i], 850, 1150);
	assert_int_equal(ds_rand_below(&r, 1), 0);
	assert_int_equal(ds_rand_below(&r, 0), 0);
}

static void test_plan_is_pure(void **state)
{
	struct ds_step a, b;
	u64 i;

	(void)state;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	for (i = 0; i < 1000; i++) {
		ds_flood_plan(&shape, 99, 5, i, &a);
		/* what other threads and steps do is no matter */
		ds_flood_plan(&shape, 99, 6, i + 1, &b);
		ds_flood_plan(&shape, 99, 5, i, &b);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

static void test_plan_in_range(void **state)
{
	u32 files = 0, rings = 0, syscalls = 0, kept = 0, advised = 0, small = 0, i;
	u32 allocated = 0, others = 0;
	struct ds_step s;

	(void)state;
	for (i = 0; i < 16000; i++) {
		ds_flood_plan(&shape, 1, 2, i, &s);
		assert_in_range(s.pages, 1, shape.max_pages);
		assert_in_range(s.file, 0, shape.nr_files - 1);
		assert_in_range(s.ring, 0, shape.nr_ring - 1);
		assert_true(s.keep < (u64)s.pages * DS_PAGE);
		assert_true(!s.advise || s.file == 3);
		files |= 1 << s.file;
		rings |= 1 << s.ring;
		syscalls += s.syscall;
		kept += !!s.keep;
		advised += s.advise;
		assert_true(!s.allocate || s.file != 3);
		allocated += s.allocate;
		others += s.file != 3;
		small += s.pages <= 16;
	}
	assert_int_equal(files, (1 << DS_FLOOD_FILES) - 1);
	assert_int_equal(rings, 3);
	assert_in_range(syscalls, 1700, 2300);
	assert_in_range(kept, 3500, 4500);
	assert_in_range(small, 8000, 9500);
	assert_true(advised > 50);
	/* seven of eight, on what is not the disk */
	assert_in_range(allocated, others * 6 / 7, others * 8 / 9);
}

static void test_tiny_shape(void **state)
{
	static const struct ds_flood_shape tiny = { .nr_files = 1, .max_pages = 1 };
	struct ds_step s;
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		ds_flood_plan(&tiny, 1, 1, i, &s);
		assert_int_equal(s.pages, 1);
		assert_int_equal(s.file, 0);
		assert_false(s.syscall);
	}
}

/* Each decision counts, and its place; nothing else does. */
static void test_flood_hash(void **state)
{
	u64 a = 0, b = 0, c = 0, i;

	(void)state;
	for (i = 0; i < 100; i++) {
		a = ds_flood_hash(a, 7, 3, i);
		b = ds_flood_hash(b, 7, 3, i);
		/* one other decision in the middle */
		c = ds_flood_hash(c, 7, 3, i == 50 ? 51 : i);
	}
	assert_true(a == b && a != c);
	assert_true(ds_flood_hash(0, 7, 3, 0) != ds_flood_hash(0, 8, 3, 0));
	assert_true(ds_flood_hash(0, 7, 3, 0) != ds_flood_hash(0, 7, 4, 0));
	a = ds_flood_hash(ds_flood_hash(0, 7, 3, 0), 7, 3, 1);
	b = ds_flood_hash(ds_flood_hash(0, 7, 3, 1), 7, 3, 0);
	assert_true(a != b);
}

/* Each number of a race decision changes the hash. */
static void test_race_hash(void **state)
{
	static const struct ds_decision same = { 1, 0, 1, 2, 3, 4, 5 };
	static const struct ds_decision others[] = {
		{ 2, 0, 1, 2, 3, 4, 5 }, { 1, 1, 1, 2, 3, 4, 5 }, { 1, 0, 0, 2, 3, 4, 5 },
		{ 1, 0, 1, 3, 3, 4, 5 }, { 1, 0, 1, 2, 4, 4, 5 }, { 1, 0, 1, 2, 3, 5, 5 },
		{ 1, 0, 1, 2, 3, 4, 6 },
	};
	u64 hash = ds_decide_hash(1, &same);
	unsigned int i;

	(void)state;
	assert_true(hash == ds_decide_hash(1, &same) && hash != ds_decide_hash(2, &same));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		assert_true(hash != ds_decide_hash(1, &others[i]));
}

/* Written down once: another formula would make old seeds repeat nothing. */
static void test_race_pinned(void **state)
{
	u64 here = 0, far = 0, i;
	struct ds_decision d;

	(void)state;
	for (i = 0; i < 100; i++) {
		d = ds_decide(7, 3, i, 0x55, 0x1f);
		here = ds_decide_hash(here, &d);
		d = ds_decide_far(7, i, 0x1f, 3);
		far = ds_decide_hash(far, &d);
	}
	assert_true(here == 0x5cc85aff441b4f47ULL);
	assert_true(far == 0x5f054b35896f11aeULL);
}

/* Only what was asked for is decided, all of it, and drains where they belong. */
static void test_race_decisions(void **state)
{
	const u32 here = DS_DRAINS_HERE, kinds = 0x55, drains = 0x1f;
	unsigned int kind[33] = { 0 }, drain[33] = { 0 }, far[33] = { 0 }, i;
	struct ds_decision d;
	u32 cpus = 0;

	(void)state;
	for (i = 0; i < 16000; i++) {
		d = ds_decide(1, 2, i, kinds, drains);
		assert_true(!d.kind != !d.drain);
		kind[d.kind]++;
		drain[d.drain]++;
		d = ds_decide_far(1, i, drains, 3);
		assert_true(!d.kind && d.cpu < 3 && d.wait_us < DS_WAIT_MAX_US);
		far[d.drain]++;
		cpus |= 1 << d.cpu;
	}
	for (i = 1; i < 33; i++) {
		assert_int_equal(!!kind[i], i < 8 && kinds >> (i - 1) & 1);
		assert_int_equal(!!drain[i], i < 6 && here >> (i - 1) & 1);
		assert_int_equal(!!far[i], i < 6 && ~here >> (i - 1) & 1);
	}
	assert_int_equal(cpus, 7);
	assert_in_range(drain[0], 9500, 10500);
	d = ds_decide(1, 2, 3, 0, ~here);
	assert_true(!d.kind && !d.drain);
	assert_int_equal(ds_decide_far(1, 2, here, 3).drain, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixer),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_plan_is_pure),
		cmocka_unit_test(test_plan_in_range),
		cmocka_unit_test(test_tiny_shape),
		cmocka_unit_test(test_flood_hash),
		cmocka_unit_test(test_race_hash),
		cmocka_unit_test(test_race_pinned),
		cmocka_unit_test(test_race_decisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
