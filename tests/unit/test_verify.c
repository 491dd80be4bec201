// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of a file's data against a file that is only memory: what is done to
 * both leaves both alike, and whatever is altered behind the model's back is
 * noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "rand.h"
#include "verify.h"

#define PAGES 16
#define BYTES (PAGES * DS_VPAGE)

/* The fake: bytes and a size; beyond it all is zero. */
struct fake {
	struct ds_model m;
	u8 *data;
	u64 size;
};

static void fake_init(struct fake *f)
{
	assert_int_equal(ds_model_init(&f->m, 3, PAGES), 0);
	f->data = calloc(PAGES, DS_VPAGE);
	assert_non_null(f->data);
	f->size = 0;
}

static void fake_free(struct fake *f)
{
	ds_model_free(&f->m);
	free(f->data);
}

static void fake_write(struct fake *f, u32 page, u64 op)
{
	u64 end = ((u64)page + 1) * DS_VPAGE;
	struct ds_vpage p;

	ds_model_fill(&f->m, page, op, &p, f->data + (size_t)page * DS_VPAGE);
	ds_model_put(&f->m, page, &p);
	if (f->size < end)
		f->size = end;
}

static void fake_resize(struct fake *f, u64 size)
{
	if (size < f->size)
		memset(f->data + size, 0, BYTES - size);
	f->size = size;
	ds_model_resize(&f->m, size);
}

/* Pages that do not match; all are compared in full. */
static unsigned int mismatches(struct fake *f, struct ds_mismatch *bad)
{
	unsigned int n = 0;
	u32 page;

	if (ds_model_check_size(&f->m, f->size, bad) < 0)
		n++;
	for (page = 0; page < PAGES; page++)
		n += ds_model_check(&f->m, page, f->data + (size_t)page * DS_VPAGE, DS_VPAGE,
				    bad) < 0;
	return n;
}

/* Ten thousand random operations: the two never differ. */
static void test_agree(void **state)
{
	struct ds_mismatch bad;
	struct fake f;
	u32 page, n, pages;
	u64 op, from, to;

	(void)state;
	fake_init(&f);
	for (op = 0; op < 10000; op++) {
		struct ds_rand r = ds_rand_at(1, 2, op);

		page = ds_rand_below(&r, PAGES);
		pages = (f.size + DS_VPAGE - 1) / DS_VPAGE;
		switch (ds_rand_below(&r, 5)) {
		case 0:
			fake_write(&f, page, op);
			break;
		case 1:
			fake_resize(&f, ds_rand_below(&r, BYTES + 1));
			break;
		case 2:
			/* as a punch: from anywhere to the end of a page */
			from = (u64)page * DS_VPAGE + ds_rand_below(&r, DS_VPAGE);
			to = (from / DS_VPAGE + 1 + ds_rand_below(&r, PAGES - page)) * DS_VPAGE;
			memset(f.data + from, 0, to - from);
			ds_model_zero(&f.m, from, to);
			break;
		case 3:
			if (f.size <= DS_VPAGE)
				break;
			page %= (f.size - 1) / DS_VPAGE;
			n = 1 + ds_rand_below(&r, (f.size - 1) / DS_VPAGE - page);
			memmove(f.data + (size_t)page * DS_VPAGE,
				f.data + (size_t)(page + n) * DS_VPAGE,
				(size_t)(PAGES - page - n) * DS_VPAGE);
			memset(f.data + (size_t)(PAGES - n) * DS_VPAGE, 0, (size_t)n * DS_VPAGE);
			f.size -= (u64)n * DS_VPAGE;
			ds_model_collapse(&f.m, page, n);
			break;
		default:
			if (!pages || pages == PAGES)
				break;
			page %= pages;
			n = 1 + ds_rand_below(&r, PAGES - pages);
			memmove(f.data + (size_t)(page + n) * DS_VPAGE,
				f.data + (size_t)page * DS_VPAGE,
				(size_t)(PAGES - page - n) * DS_VPAGE);
			memset(f.data + (size_t)page * DS_VPAGE, 0, (size_t)n * DS_VPAGE);
			f.size += (u64)n * DS_VPAGE;
			ds_model_insert(&f.m, page, n);
		}
		if (mismatches(&f, &bad))
			fail_msg("operation %llu: %s: expected %s, found %s", op, bad.text,
				 bad.expected, bad.found);
	}
	fake_free(&f);
}

/* A known file: data, a hole, a page cut in its middle, and the rest is beyond. */
static void known_file(struct fake *f)
{
	u32 page;

	fake_init(f);
	for (page = 0; page < 8; page++)
		fake_write(f, page, 100 + page);
	fake_write(f, 2, 200);
	memset(f->data + 5 * DS_VPAGE, 0, DS_VPAGE);
	ds_model_zero(&f->m, 5 * DS_VPAGE, 6 * DS_VPAGE);
	fake_resize(f, 7 * DS_VPAGE + 1000);
}

struct page_copy {
	u8 v[DS_VPAGE] __aligned(8);
};

static void stale(struct fake *f)
{
	struct ds_vpage old = f->m.pages[2];

	old.gen--;
	ds_page_make(3, &old, f->data + 2 * DS_VPAGE);
}

static void other_file(struct fake *f)
{
	ds_page_make(4, &f->m.pages[2], f->data + 2 * DS_VPAGE);
}

static void swapped(struct fake *f)
{
	struct page_copy *a = (void *)(f->data + DS_VPAGE), *b = a + 2, tmp = *a;

	*a = *b;
	*b = tmp;
}

static void zeroed(struct fake *f)
{
	memset(f->data + 2 * DS_VPAGE, 0, DS_VPAGE);
}

static void first_bit(struct fake *f)
{
	f->data[2 * DS_VPAGE] ^= 1;
}

static void last_bit(struct fake *f)
{
	f->data[3 * DS_VPAGE - 1] ^= 0x80;
}

static void half_zero(struct fake *f)
{
	memset(f->data + 2 * DS_VPAGE + 2048, 0, 2048);
}

static void hole_filled(struct fake *f)
{
	struct ds_vpage old = { .gen = 6, .op = 105, .home = 5, .to = DS_VPAGE,
		.state = DS_VPAGE_DATA };

	ds_page_make(3, &old, f->data + 5 * DS_VPAGE);
}

static void hole_bit(struct fake *f)
{
	f->data[6 * DS_VPAGE - 1] = 1;
}

static void beyond_end(struct fake *f)
{
	f->data[7 * DS_VPAGE + 1000] = 1;
}

static void beyond_pages(struct fake *f)
{
	f->data[12 * DS_VPAGE + 7] = 1;
}

static void before_end(struct fake *f)
{
	f->data[7 * DS_VPAGE + 999] ^= 1;
}

static void longer(struct fake *f)
{
	f->size++;
}

static void shorter(struct fake *f)
{
	f->size--;
}

static void test_noticed(void **state)
{
	static const struct {
		void (*spoil)(struct fake *f);
		unsigned int mismatches;
		const char *expected, *found;
	} rows[] = {
		{ stale, 1, "generation 9 of operation 200", "generation 8 of operation 200" },
		{ other_file, 1, "file 3", "file 4 page 2" },
		{ swapped, 2, "file 3 page 3", "file 3 page 1" },
		{ zeroed, 1, "file 3 page 2", "zeros" },
		{ first_bit, 1, "file 3 page 2", "no header that is right" },
		{ last_bit, 1, "file 3 page 2", "bytes 0 to 4095, then something else" },
		{ half_zero, 1, "file 3 page 2", "bytes 0 to 2048, then zeros" },
		{ hole_filled, 1, "zeros", "file 3 page 5 generation 6" },
		{ hole_bit, 1, "zeros", "from byte 4095 on" },
		{ beyond_end, 1, "bytes 0 to 1000, else zeros", "then something else" },
		{ beyond_pages, 1, "zeros", "from byte 7 on" },
		{ before_end, 1, "bytes 0 to 1000", "bytes 0 to 999" },
		{ longer, 1, "29672 bytes", "29673 bytes" },
		{ shorter, 1, "29672 bytes", "29671 bytes" },
	};
	struct ds_mismatch bad;
	struct fake f;
	unsigned int i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		known_file(&f);
		assert_int_equal(mismatches(&f, &bad), 0);
		rows[i].spoil(&f);
		n = mismatches(&f, &bad);
		if (n != rows[i].mismatches)
			fail_msg("row %u: %u mismatches", i, n);
		if (!strstr(bad.expected, rows[i].expected) || !strstr(bad.found, rows[i].found))
			fail_msg("row %u: %s: expected '%s', found '%s'", i, bad.text,
				 bad.expected, bad.found);
		fake_free(&f);
	}
}

/* What may be either, and what nothing is known of. */
static void test_unsure(void **state)
{
	struct ds_mismatch bad;
	struct fake f;

	(void)state;
	known_file(&f);
	ds_model_set(&f.m, 1, 2, DS_VPAGE_FREED);
	assert_int_equal(mismatches(&f, &bad), 0);
	zeroed(&f);
	assert_int_equal(mismatches(&f, &bad), 0);
	f.data[2 * DS_VPAGE + 9] = 1;
	assert_int_equal(mismatches(&f, &bad), 1);
	assert_non_null(strstr(bad.expected, "or zeros"));
	/* a hole is not freed: it stays zero */
	ds_model_set(&f.m, 5, 1, DS_VPAGE_FREED);
	hole_filled(&f);
	assert_int_equal(mismatches(&f, &bad), 2);

	ds_model_set(&f.m, 0, PAGES, DS_VPAGE_UNKNOWN);
	assert_int_equal(mismatches(&f, &bad), 0);
	assert_int_equal(ds_model_check(&f.m, 2, f.data, DS_VPAGE, &bad), 0);
	/* it is known again once it is written or gone */
	fake_write(&f, 2, 300);
	assert_int_equal(ds_model_check(&f.m, 2, f.data + 2 * DS_VPAGE, DS_VPAGE, &bad), 1);
	fake_resize(&f, 0);
	assert_int_equal(ds_model_check(&f.m, 3, f.data + 3 * DS_VPAGE, DS_VPAGE, &bad), 1);
	fake_free(&f);
}

/* The ring of operations keeps the last ones. */
static void test_history(void **state)
{
	struct ds_model m;
	u32 i;

	(void)state;
	assert_int_equal(ds_model_init(&m, 1, 1), 0);
	for (i = 0; i < DS_HISTORY + 3; i++)
		ds_model_note(&m, "operation %u", i);
	assert_int_equal(m.nr_history, DS_HISTORY + 3);
	assert_string_equal(m.history[2].text, "operation 18");
	assert_string_equal(m.history[3].text, "operation 3");
	assert_true(m.history[2].time_ns >= m.history[3].time_ns);
	ds_model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_noticed),
		cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
