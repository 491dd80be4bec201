// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of text in files of the kernel's: written at once, numbers read back, and
 * every error told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "text.h"

static void test_text(void **state)
{
	static const struct {
		const char *text;
		int ret;
		u64 value;
	} rows[] = {
		{ "0\n", 0, 0 }, { "4096", 0, 4096 }, { "18446744073709551615\n", 0, ~0ULL },
		{ "12 34", 0, 12 }, { "max\n", -EINVAL, 0 }, { "-1", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};
	char path[] = "/tmp/drainstress-text-XXXXXX";
	int fd = mkstemp(path);
	unsigned int i;
	u64 value;

	(void)state;
	assert_true(fd >= 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		value = 0;
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ds_write_text(path, rows[i].text), 0);
		assert_int_equal(ds_read_u64(path, &value), rows[i].ret);
		if (!rows[i].ret)
			assert_true(value == rows[i].value);
	}
	close(fd);
	unlink(path);
	assert_int_equal(ds_write_text(path, "1"), -ENOENT);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(ds_read_u64(path, &value), -ENOENT);
	assert_int_equal(ds_read_u64("/", &value), -EISDIR);
}

static void test_lines(void **state)
{
	char path[] = "/tmp/drainstress-text-XXXXXX", line[8];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ds_read_text(path, line, sizeof(line)), 0);
	assert_string_equal(line, "");
	assert_int_equal(ds_write_text(path, "MemA:  12 kB\nhigh 0\nMem: 7\n"
				       "last 18446744073709551615"), 0);
	assert_int_equal(ds_read_text(path, line, sizeof(line)), 0);
	assert_string_equal(line, "MemA:  ");
	assert_true(ds_read_key(path, "MemA:") == 12);
	assert_true(ds_read_key(path, "Mem:") == 7);
	assert_true(ds_read_key(path, "high") == 0);
	assert_true(ds_read_key(path, "last") == ~0ULL);
	assert_true(ds_read_key(path, "Mem") == 0);
	/* what is shorter leaves nothing of what was there */
	assert_int_equal(ds_write_text(path, "5\n6"), 0);
	assert_int_equal(ds_read_text(path, line, sizeof(line)), 0);
	assert_string_equal(line, "5");
	assert_true(ds_read_key(path, "Mem:") == 0);
	close(fd);
	unlink(path);
	assert_true(ds_read_key(path, "high") == 0);
	assert_int_equal(ds_read_text(path, line, sizeof(line)), -ENOENT);
	assert_string_equal(line, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
