// SPDX-License-Identifier: GPL-2.0-only
/*
 * Known kernel issues: which lines are taken, which kernels a range holds, and
 * that the list which comes with drainctl is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "known.h"
#include "run_opts.h"

static void test_release(void **state)
{
	struct ds_release r;

	(void)state;
	ds_release_parse("6.1.0-57-amd64", &r);
	assert_int_equal(r.nr, 4);
	assert_int_equal(r.part[0], 6);
	assert_int_equal(r.part[1], 1);
	assert_int_equal(r.part[2], 0);
	assert_int_equal(r.part[3], 57);
	ds_release_parse("6.12.117+deb12-amd64", &r);
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.part[2], 117);
	ds_release_parse("6.13.0-rc2", &r);
	assert_int_equal(r.nr, 3);
	ds_release_parse("5.14.0-427.13.1.el9_4.x86_64", &r);
	assert_int_equal(r.nr, 4);
	assert_int_equal(r.part[3], 427);
	ds_release_parse("6.1.99999999999", &r);
	assert_int_equal(r.nr, 2);
	ds_release_parse("", &r);
	assert_int_equal(r.nr, 0);
}

static void test_good_lines(void **state)
{
	struct ds_known k;
	char why[512];

	(void)state;
	assert_int_equal(ds_known_line("I8 6.1 one reason", &k, why, sizeof(why)), 0);
	assert_int_equal(k.invariant, 8);
	assert_string_equal(k.reason, "one reason");
	assert_int_equal(k.from.nr, 2);
	assert_int_equal(k.to.nr, 2);
	assert_int_equal(ds_known_line("  i32\t 6.1.5..6.1.0-57 \t a # b \r\n", &k, why,
				       sizeof(why)), -EINVAL);
	assert_int_equal(ds_known_line("  i32\t 6.1.0-57..6.1.5 \t a # b \r\n", &k, why,
				       sizeof(why)), 0);
	assert_int_equal(k.invariant, 32);
	assert_string_equal(k.reason, "a # b");
	assert_int_equal(k.from.nr, 4);
	assert_int_equal(k.from.part[3], 57);
	assert_int_equal(ds_known_line("I1 .. x", &k, why, sizeof(why)), 0);
	assert_int_equal(k.from.nr + k.to.nr, 0);
}

static void test_bad_lines(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "8 6.1 x", "'8' is no invariant: takes one of I1, " },
		{ "I0 6.1 x", "no invariant" },
		{ "I64 6.1 x", "no invariant" },
		{ "I1,I8 6.1 x", "no invariant" },
		{ "I8x 6.1 x", "no invariant" },
		{ "I8", "kernels ''" },
		{ "I8 x", "kernels 'x': takes a release such as 6.1" },
		{ "I8 6.1.x y", "kernels '6.1.x'" },
		{ "I8 6.1. y", "kernels '6.1.'" },
		{ "I8 6.1.. ", "no reason" },
		{ "I8 6.1", "no reason" },
		{ "I8 6.1...6.2 x", "kernels" },
		{ "I8 6.1..6.2x x", "kernels" },
		{ "I8 6.2..6.1 x", "kernels '6.2..6.1'" },
		{ "I8 6.1.2..6.1.1 x", "kernels" },
		{ "I8 -6.1 x", "kernels" },
		{ "I8 6.1-6.2..7 x", "kernels" },
		{ "I8 6.1-6.6 x", "kernels" },
		{ "I8 6.1.0-6.6.0 x", "kernels" },
		{ "I8 6.1.2.3 x", "kernels" },
		{ "I8 99999999999 x", "kernels" },
		{ "I8 6.1.1111111111111111111111111111111111111111111111111111111111 x",
		  "kernels" },
	};
	char why[512], longer[400];
	struct ds_known k;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		why[0] = '\0';
		if (!ds_known_line(rows[i].line, &k, why, sizeof(why)))
			fail_msg("'%s' was taken", rows[i].line);
		if (!strstr(why, rows[i].says))
			fail_msg("'%s': '%s' does not say '%s'", rows[i].line, why, rows[i].says);
	}
	snprintf(longer, sizeof(longer), "I8 6.1 %0255d", 1);
	assert_int_equal(ds_known_line(longer, &k, why, sizeof(why)), 0);
	snprintf(longer, sizeof(longer), "I8 6.1 %0256d", 1);
	assert_int_equal(ds_known_line(longer, &k, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "256 characters"));
}

/* Which kernels a range holds: compared by numbers, not by letters. */
static void test_ranges(void **state)
{
	static const struct {
		const char *range, *release;
		bool in;
	} rows[] = {
		{ "6.1", "6.1.0-57-amd64", true },
		{ "6.1", "6.1.192", true },
		{ "6.1", "6.1", true },
		{ "6.1", "6.10.3", false },
		{ "6.1", "6.12.117+deb12-amd64", false },
		{ "6.1", "6.0.9", false },
		{ "6", "6.19.1", true },
		{ "6", "7.0.0", false },
		{ "6.1.5..6.1.20", "6.1.4", false },
		{ "6.1.5..6.1.20", "6.1.5", true },
		{ "6.1.5..6.1.20", "6.1.9", true },
		{ "6.1.5..6.1.20", "6.1.20", true },
		{ "6.1.5..6.1.20", "6.1.20-3-amd64", true },
		{ "6.1.5..6.1.20", "6.1.21", false },
		{ "6.1.5..6.1.20", "6.1.100", false },
		{ "6.1.5..6.6", "6.1", false },
		{ "6.1.0..6.6", "6.1", true },
		{ "6.1.5..6.6", "6.6.99", true },
		{ "6.1.5..6.6", "6.7.0-rc1", false },
		{ "6.1..", "6.0.19", false },
		{ "6.1..", "6.1.0", true },
		{ "6.1..", "19.0", true },
		{ "..6.6", "5.10.0", true },
		{ "..6.6", "6.6.30", true },
		{ "..6.6", "6.7", false },
		{ "..", "6.1.0", true },
		{ "6.1.0-20..6.1.0-57", "6.1.0-9-amd64", false },
		{ "6.1.0-20..6.1.0-57", "6.1.0-20-amd64", true },
		{ "6.1.0-20..6.1.0-57", "6.1.0-57-amd64", true },
		{ "6.1.0-20..6.1.0-57", "6.1.0-58-amd64", false },
	};
	struct ds_known_list l = { .nr = 1 };
	char line[128], why[512];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(line, sizeof(line), "I8 %s why", rows[i].range);
		assert_int_equal(ds_known_line(line, &l.v[0], why, sizeof(why)), 0);
		if (!ds_known_reason(&l, 8, rows[i].release) == rows[i].in)
			fail_msg("%s in %s: not %d", rows[i].release, rows[i].range, rows[i].in);
		assert_null(ds_known_reason(&l, 9, rows[i].release));
	}
	assert_null(ds_known_reason(NULL, 8, "6.1.0"));
}

/* Writes @text into a file of its own; the caller removes it. */
static void make_file(char name[32], const char *text)
{
	int fd;

	snprintf(name, 32, "%s", "/tmp/drainstress-known-XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void test_files(void **state)
{
	char good[32], bad[32], full[32], says[64], *many;
	struct ds_known_list l = { .nr = 0 };
	struct ds_err err;
	unsigned int i;

	(void)state;
	make_file(good, "# a comment\n\n  \t\n"
		  "I8 6.1 first\nI8 .. second\n  # another\nI9 7.. third");
	assert_int_equal(ds_known_read(&l, good, &err), 0);
	assert_int_equal(l.nr, 3);
	assert_string_equal(ds_known_reason(&l, 8, "6.1.3"), "first");
	assert_string_equal(ds_known_reason(&l, 8, "6.2.3"), "second");
	assert_string_equal(ds_known_reason(&l, 9, "7.0.0"), "third");
	assert_null(ds_known_reason(&l, 9, "6.2.3"));
	/* a second file adds to it */
	assert_int_equal(ds_known_read(&l, good, &err), 0);
	assert_int_equal(l.nr, 6);

	make_file(bad, "# a comment\nI8 6.1 first\nI8 6.1\n");
	assert_int_equal(ds_known_read(&l, bad, &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	snprintf(says, sizeof(says), "%s:3: no reason", bad);
	assert_non_null(strstr(err.text, says));
	assert_int_equal(unlink(bad), 0);
	assert_int_equal(ds_known_read(&l, bad, &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(ds_known_read(&l, "/tmp", &err), -1);
	assert_non_null(strstr(err.text, "/tmp: Is a directory"));
	/* has no end */
	assert_int_equal(ds_known_read(&l, "/dev/zero", &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	assert_non_null(strstr(err.text, "/dev/zero:1: is no line of text"));
	make_file(bad, "I8 6.1 first\nI8 6.1 \033[31mred\n");
	assert_int_equal(ds_known_read(&l, bad, &err), -1);
	snprintf(says, sizeof(says), "%s:2: is no line of text", bad);
	assert_non_null(strstr(err.text, says));
	unlink(bad);
	/* the last line needs no end */
	make_file(bad, "\nI8 6.3 last");
	l.nr = 0;
	assert_int_equal(ds_known_read(&l, bad, &err), 0);
	assert_int_equal(l.nr, 1);
	unlink(bad);

	many = calloc(DS_KNOWN_MAX + 1, 16);
	assert_non_null(many);
	for (i = 0; i <= DS_KNOWN_MAX; i++)
		strcat(many, "I8 6.1 x\n");
	make_file(full, many);
	l.nr = 0;
	assert_int_equal(ds_known_read(&l, full, &err), -1);
	assert_int_equal(l.nr, DS_KNOWN_MAX);
	snprintf(says, sizeof(says), "%s:%d: takes at most", full, DS_KNOWN_MAX + 1);
	assert_non_null(strstr(err.text, says));
	free(many);
	unlink(full);
	unlink(good);
}

/* The list that comes with drainctl; "make unit" runs this at the top of the tree. */
static void test_shipped(void **state)
{
	struct ds_known_list l = { .nr = 0 };
	struct ds_err err;

	(void)state;
	/* a table without I33 refuses the line that names it */
	if (!ds_invariant_title(33)) {
		assert_int_equal(ds_known_read(&l, "ctl/known-issues.txt", &err), -1);
		assert_non_null(strstr(err.text, "'I33' is no invariant"));
		return;
	}
	if (ds_known_read(&l, "ctl/known-issues.txt", &err))
		fail_msg("%s", err.text);
	assert_non_null(ds_known_reason(&l, 33, "6.1.0-57-amd64"));
	assert_null(ds_known_reason(&l, 33, "6.12.117+deb12-amd64"));
	assert_null(ds_known_reason(&l, 8, "6.1.0-57-amd64"));
}

/* The option: repeated, and carried into the command that repeats the run. */
static void test_option(void **state)
{
	char name[] = "drainctl", seed[] = "--seed=1", known[] = "--known", file[32], bad[32];
	char *argv[8] = { name, seed, known, file, known, file, NULL };
	char buf[1024], says[128];
	struct ds_run_opts o;

	(void)state;
	make_file(file, "I8 6.1 x\n");
	assert_int_equal(ds_run_opts_parse(&o, 6, argv), 0);
	assert_int_equal(o.known.nr, 2);
	ds_run_repeat(&o, buf, sizeof(buf));
	snprintf(says, sizeof(says), " --known %s --known %s", file, file);
	assert_non_null(strstr(buf, says));
	make_file(bad, "I8 nonsense x\n");
	argv[3] = bad;
	assert_int_equal(ds_run_opts_parse(&o, 6, argv), DS_EXIT_USAGE);
	unlink(bad);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_good_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
