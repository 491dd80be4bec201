// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is printed beside a HANG: tasks in uninterruptible sleep and no others,
 * disks that owe an answer and no others, from trees that stand for /proc and
 * /sys.
 */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hang.h"

static char top[64];

static void put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", top, path);
	for (slash = strchr(full + strlen(top) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/drainstress-hang-XXXXXX");
	return !mkdtemp(top);
}

static int gone(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(top, gone, 8, FTW_DEPTH | FTW_PHYS);
}

static char *describe(unsigned int *nr)
{
	char proc[80], sys[80], *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	snprintf(proc, sizeof(proc), "%s/proc", top);
	snprintf(sys, sizeof(sys), "%s/sys", top);
	*nr = ds_hang_describe(f, proc, sys);
	fclose(f);
	return text;
}

static void test_nothing(void **state)
{
	unsigned int nr;
	char *text;

	(void)state;
	text = describe(&nr);
	assert_int_equal(nr, 0);
	assert_string_equal(text, "no task is in uninterruptible sleep\n"
				  "no disk has requests under way\n");
	free(text);
}

static void test_blocked(void **state)
{
	unsigned int nr;
	char *text;

	(void)state;
	put("proc/12/task/12/stat", "12 (well) S 1 1");
	put("proc/12/task/13/stat", "13 (a) D (b) D 1 1");
	put("proc/12/task/13/stack", "[<0>] one+0x1/0x2\n[<0>] two+0x3/0x4\n");
	put("proc/12/task/14/stat", "14 (a) D (b) R 1 1");
	put("proc/self/task/15/stat", "15 (not a number) D 1 1");
	put("sys/block/vda/inflight", "       0        3\n");
	put("sys/block/vdb/inflight", "       0        0\n");
	text = describe(&nr);
	assert_int_equal(nr, 1);
	assert_string_equal(text, "blocked: 13 (a) D (b)\n"
				  "    [<0>] one+0x1/0x2\n"
				  "    [<0>] two+0x3/0x4\n"
				  "disk vda: 0 reads and 3 writes under way\n");
	free(text);
}

static void test_many(void **state)
{
	char path[64], *text;
	unsigned int i, nr;

	(void)state;
	for (i = 1; i <= 30; i++) {
		snprintf(path, sizeof(path), "proc/%u/task/%u/stat", i, i);
		put(path, "1 (x) D 1");
	}
	text = describe(&nr);
	assert_int_equal(nr, 30);
	assert_non_null(strstr(text, "(x): its stack cannot be read\n"));
	assert_non_null(strstr(text, "\nand 6 blocked tasks more\n"));
	free(text);
}

/* The thread in question is shown whatever it does. */
static void test_thread(void **state)
{
	char proc[80], *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	put("proc/7/task/6/stat", "6 (mix) R 1");
	put("proc/7/task/6/stack", "[<0>] makes_the_kernel_warn+0x1/0x2\n");
	put("proc/7/task/8/stat", "8 (mix) S 1");
	put("proc/7/task/8/stack", "[<0>] shrink_slab+0x1/0x2\n");
	snprintf(proc, sizeof(proc), "%s/proc", top);
	ds_hang_thread(f, proc, 7, 6);
	ds_hang_thread(f, proc, 7, 8);
	ds_hang_thread(f, proc, 7, 9);
	fclose(f);
	assert_string_equal(text, "stands still, state R: 6 (mix): it runs: no stack\n"
			    "stands still, state S: 8 (mix)\n"
			    "    [<0>] shrink_slab+0x1/0x2\n"
			    "stands still, state ?: 9 (): its stack cannot be read\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_blocked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
