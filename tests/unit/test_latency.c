// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latency histograms: buckets are narrow, in order and without gaps, merging loses
 * nothing, percentiles are those of the sorted values, and what does not fit is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hist.h"
#include "latency.h"
#include "rand.h"

#define VALUES 20000

static struct ds_thread_hist *new_hist(void)
{
	struct ds_thread_hist *h = aligned_alloc(128, sizeof(*h));

	assert_non_null(h);
	memset(h, 0, sizeof(*h));
	return h;
}

static struct ds_latency *new_latency(void)
{
	struct ds_latency *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	return l;
}

/* Values of all sizes: an exponent, then the bits below it. */
static u64 some_value(struct ds_rand *r, u32 bits)
{
	u32 e = ds_rand_below(r, bits);

	return (1ULL << e) | (ds_rand_next(r) & ((1ULL << e) - 1));
}

/* Below DS_HIST_MAX: it is in the bucket, and the bucket is narrow. */
static void check_value(u64 value)
{
	u32 i = ds_hist_index(value);
	u64 lower = ds_hist_lower(i), next = ds_hist_lower(i + 1);

	assert_true(i < DS_HIST_OVERFLOW);
	assert_true(lower <= value && value < next);
	/* 1 % of the value, or exact */
	assert_true((value - lower) * 100 < value || value == lower);
	assert_true((next - 1 - lower) * 100 < lower || next - 1 == lower);
}

static void test_error(void **state)
{
	struct ds_rand r = ds_rand_at(1, 2, 3);
	unsigned int n;
	u32 e;

	(void)state;
	check_value(0);
	for (e = 0; e < DS_HIST_MAX_BITS; e++) {
		check_value(1ULL << e);
		check_value((1ULL << e) - 1);
		check_value((1ULL << e) + 1);
		check_value((2ULL << e) - 1);
	}
	for (n = 0; n < 1000000; n++)
		check_value(some_value(&r, DS_HIST_MAX_BITS));
}

/* Every bucket's lower bound is its own, and they go up by what the formula says. */
static void test_buckets(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(DS_HIST_BUCKETS, 4353);
	for (i = 0; i < DS_HIST_BUCKETS; i++) {
		assert_int_equal(ds_hist_index(ds_hist_lower(i)), i);
		if (!i)
			continue;
		assert_true(ds_hist_lower(i) > ds_hist_lower(i - 1));
		assert_int_equal(ds_hist_index(ds_hist_lower(i) - 1), i - 1);
	}
	assert_int_equal(ds_hist_lower(DS_HIST_OVERFLOW), DS_HIST_MAX);
	assert_int_equal(ds_hist_index(DS_HIST_MAX - 1), DS_HIST_OVERFLOW - 1);
}

static void test_monotonic(void **state)
{
	struct ds_rand r = ds_rand_at(4, 5, 6);
	unsigned int n;

	(void)state;
	for (n = 0; n < 1000000; n++) {
		u64 a = some_value(&r, 64), b = some_value(&r, 64);

		if (a < b)
			assert_true(ds_hist_index(a) <= ds_hist_index(b));
		else
			assert_true(ds_hist_index(a) >= ds_hist_index(b));
	}
}

/* What several threads counted is, merged in any order, what one would have. */
static void test_merge(void **state)
{
	struct ds_thread_hist *part[4], *whole = new_hist();
	struct ds_latency *a = new_latency(), *b = new_latency(), *c = new_latency();
	struct ds_latency *all = new_latency();
	struct ds_rand r = ds_rand_at(7, 8, 9);
	unsigned int i, n;

	(void)state;
	for (i = 0; i < 4; i++)
		part[i] = new_hist();
	for (n = 0; n < VALUES; n++) {
		u64 value = some_value(&r, 42);

		ds_hist_add(part[ds_rand_below(&r, 4)], value);
		ds_hist_add(whole, value);
	}
	ds_latency_add(all, &whole->h);
	for (i = 0; i < 4; i++)
		ds_latency_add(a, &part[i]->h);
	assert_memory_equal(a, all, sizeof(*a));
	ds_latency_add(b, &part[3]->h);
	ds_latency_add(b, &part[1]->h);
	ds_latency_add(c, &part[0]->h);
	ds_latency_add(c, &part[2]->h);
	ds_latency_merge(c, b);
	assert_memory_equal(c, all, sizeof(*c));
	assert_int_equal(all->taken, VALUES);
	for (i = 0; i < 4; i++)
		free(part[i]);
	free(whole);
	free(a);
	free(b);
	free(c);
	free(all);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The nearest rank in @sorted, which has @n values. */
static u64 rank_of(const u64 *sorted, u64 n, u32 of_10000)
{
	u64 k = 0;

	/* so many values have at least that part of all below or at them */
	while ((k + 1) * 10000 < n * of_10000)
		k++;
	return sorted[k];
}

static void check_percentiles(u64 *values, u64 n)
{
	struct ds_thread_hist *h = new_hist();
	struct ds_latency *l = new_latency();
	struct ds_latency_sum s;
	unsigned int i;
	u64 exact;

	for (i = 0; i < n; i++)
		ds_hist_add(h, values[i]);
	ds_latency_add(l, &h->h);
	ds_latency_sum(l, &s);
	qsort(values, n, sizeof(*values), compare);
	assert_int_equal(s.count, n);
	assert_int_equal(s.missing, 0);
	assert_int_equal(s.max, values[n - 1]);
	for (i = 0; i < DS_NR_RANKS; i++) {
		exact = rank_of(values, n, ds_latency_ranks[i].of_10000);
		assert_true(s.at[i] <= exact);
		assert_true((exact - s.at[i]) * 100 < exact || exact == s.at[i]);
		assert_int_equal(s.at[i], ds_hist_lower(ds_hist_index(exact)));
		assert_true(!i || s.at[i] >= s.at[i - 1]);
	}
	assert_true(s.at[DS_NR_RANKS - 1] <= s.max);
	free(h);
	free(l);
}

static void test_percentiles(void **state)
{
	static const u64 sizes[] = { 1, 2, 3, 9, 10, 11, 99, 100, 101, 999, 1000, 1001, 9999,
		10000, 10001, VALUES };
	u64 *values = calloc(VALUES, sizeof(*values));
	struct ds_rand r = ds_rand_at(10, 11, 12);
	unsigned int i, n;

	(void)state;
	assert_non_null(values);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (n = 0; n < sizes[i]; n++)
			values[n] = some_value(&r, DS_HIST_MAX_BITS);
		check_percentiles(values, sizes[i]);
		/* as latencies are: close together, and a few far away */
		for (n = 0; n < sizes[i]; n++)
			values[n] = 1000 + ds_rand_below(&r, 500) +
				    (ds_rand_below(&r, 200) ? 0 : 1000000);
		check_percentiles(values, sizes[i]);
	}
	free(values);
}

/* Known numbers, worked out by hand. */
static void test_golden(void **state)
{
	struct ds_latency *l = new_latency();
	u32 i;

	(void)state;
	for (i = 1; i <= 100; i++)
		l->bucket[ds_hist_index(i)]++;
	assert_int_equal(ds_latency_at(l, 100, 5000), 50);
	assert_int_equal(ds_latency_at(l, 100, 9000), 90);
	assert_int_equal(ds_latency_at(l, 100, 9900), 99);
	assert_int_equal(ds_latency_at(l, 100, 9990), 100);
	assert_int_equal(ds_hist_index(1000), 2 * 128 + 250);
	free(l);
}

static void test_empty(void **state)
{
	struct ds_latency *l = new_latency();
	struct ds_latency_sum s;

	(void)state;
	l->max = 5;
	ds_latency_sum(l, &s);
	assert_int_equal(s.count, 0);
	assert_int_equal(s.max, 0);
	assert_int_equal(ds_latency_at(l, 0, 5000), 0);
	free(l);
}

/* Too long: in the last bucket, told, and the longest is known all the same. */
static void test_overflow(void **state)
{
	static const u64 values[] = { 5, DS_HIST_MAX - 1, DS_HIST_MAX, DS_HIST_MAX + 12345,
		~0ULL };
	struct ds_thread_hist *h = new_hist();
	struct ds_latency *l = new_latency();
	struct ds_latency_sum s;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		ds_hist_add(h, values[i]);
	ds_latency_add(l, &h->h);
	ds_latency_sum(l, &s);
	assert_int_equal(s.count, 5);
	assert_int_equal(s.overflow, 3);
	assert_int_equal(s.missing, 0);
	assert_int_equal(s.at[0], DS_HIST_MAX);
	assert_true(s.max == ~0ULL);
	free(h);
	free(l);
}

/* A bucket that is full takes no more, and does not begin anew; that is told. */
static void test_full(void **state)
{
	struct ds_thread_hist *h = new_hist();
	struct ds_latency *l = new_latency();
	struct ds_latency_sum s;

	(void)state;
	h->h.bucket[ds_hist_index(7)] = ~0U - 1;
	h->h.count = ~0U - 1;
	ds_hist_add(h, 7);
	ds_hist_add(h, 7);
	ds_hist_add(h, 7);
	ds_latency_add(l, &h->h);
	ds_latency_sum(l, &s);
	assert_int_equal(s.count, ~0U);
	assert_int_equal(s.missing, 2);
	ds_hist_add(NULL, 7);
	free(h);
	free(l);
}

/* As the module sends it: in pieces, between messages about other things. */
static void test_take(void **state)
{
	struct ds_counter counts[] = {
		{ .name = "count", .value = 10 }, { .name = "max_ns", .value = 5001 },
	};
	struct ds_bucket first[] = { { 3, 4 }, { 100, 1 } }, second[] = { { 4992, 5 } };
	struct ds_bucket others[] = { { 3, 1000 } };
	struct ds_msg v[] = {
		{ .scope = "cpu", .buckets = others, .nr_buckets = 1 },
		{ .scope = "latency", .name = "drain-all", .buckets = others, .nr_buckets = 1 },
		{ .scope = "latency", .name = "drain", .counters = counts, .nr_counters = 2,
		  .buckets = first, .nr_buckets = 2 },
		{ .scope = "latency", .name = "drain", .buckets = second, .nr_buckets = 1 },
	};
	struct ds_msgs stats = { .v = v, .nr = ARRAY_SIZE(v) };
	struct ds_latency *l = new_latency();
	struct ds_latency_sum s;

	(void)state;
	ds_latency_take(l, &stats, "drain");
	ds_latency_sum(l, &s);
	assert_int_equal(s.count, 10);
	assert_int_equal(s.missing, 0);
	assert_int_equal(s.max, 5001);
	assert_int_equal(s.at[0], 100);
	assert_int_equal(s.at[1], 4992);
	/* a piece that is lost is missed */
	stats.nr--;
	memset(l, 0, sizeof(*l));
	ds_latency_take(l, &stats, "drain");
	ds_latency_sum(l, &s);
	assert_int_equal(s.count, 5);
	assert_int_equal(s.missing, 5);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_monotonic),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
