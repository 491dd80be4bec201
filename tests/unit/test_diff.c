// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading results, and two of them side by side: what is printed to the letter, what
 * is missing in older ones, and that bad input is named and never compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands.h"
#include "results.h"

static const char old[] =
	"{\"verdict\": \"PASS\", \"exit\": 0, \"kernel\": \"6.1.0\", \"truncates\": 1000, \"fills\": 0,\n"
	"\"violations\": 0, \"first_violation\": \"none\", \"seed\": 1, \"seconds\": 10.0,\n"
	"\"repeat\": \"drainctl run --seed 1\",\n"
	"\"parameters\": \"threads=64 seed=1 plant=none\", \"load\": {\"threads\": 64},\n"
	"\"usage\": {\"shmem_undo_range\": {\"usages\": 100, \"releases\": 200, \"drains\": 100,\n"
	"\"max\": 1, \"drains.0\": 0, \"drains.1\": 100, \"drains.2\": 0},\n"
	"\"truncate\": {\"usages\": 0, \"releases\": 0}},\n"
	"\"invariants\": [{\"id\": \"I1\", \"available\": true, \"checked\": 10, \"violations\": 0},\n"
	"{\"id\": \"I2\", \"available\": true, \"checked\": 7, \"violations\": 1}],\n"
	"\"faults\": {\"move\": {\"arguments\": \"prob:1/64\", \"hits\": 100, \"done\": 2}}}";

static const char new[] =
	"{\"verdict\": \"FAIL\", \"exit\": 1, \"kernel\": \"6.12\", \"truncates\": 3000, \"fills\": 5,\n"
	"\"violations\": 2, \"first_violation\": \"I22 expected at most 1 drain, \\u001b[31m found 3\",\n"
	"\"seed\": 2, \"seconds\": 20.0, \"ended\": \"violation\",\n"
	"\"parameters\": \"threads=64 seed=2 plant=double-drain\", \"load\": {\"threads\": 60},\n"
	"\"usage\": {\"shmem_undo_range\": {\"usages\": 400, \"releases\": 400, \"drains\": 500,\n"
	"\"max\": 3, \"drains.0\": 0, \"drains.1\": 350, \"drains.2\": 50}},\n"
	"\"latency\": {\"drain\": {\"unit\": \"ns\", \"count\": 4, \"p50\": 1500, \"max\": 9000}},\n"
	"\"invariants\": [{\"id\": \"I2\", \"available\": false, \"checked\": 0, \"violations\": 0},\n"
	"{\"id\": \"I22\", \"available\": true, \"checked\": 400, \"violations\": 2}],\n"
	"\"faults\": {\"move\": {\"arguments\": \"prob:1/8\", \"hits\": 400, \"done\": 50}},\n"
	"\"kernel_log\": {\"bad\": 0}}";

static const char golden[] =
	"A: ./ds-diff-a.json\n"
	"B: ./ds-diff-b.json\n"
	"                                                                          A                      B     change\n"
	"outcome:\n"
	"  verdict                                                              PASS                   FAIL\n"
	"  exit                                                                    0                      1\n"
	"  kernel                                                              6.1.0                   6.12\n"
	"  fix                                                                     -                      -\n"
	"  ended                                                                   -              violation\n"
	"  first_violation:\n"
	"    A none\n"
	"    B I22 expected at most 1 drain, ?[31m found 3\n"
	"  violations                                                              0                      2\n"
	"  known_violations                                                        -                      -\n"
	"  missed_probes                                                           -                      -\n"
	"  seconds                                                                10                     20    +100.0%\n"
	"seed and options that differ:\n"
	"  seed                                                                    1                      2\n"
	"  plant                                                                none           double-drain\n"
	"  threads that ran                                                       64                     60\n"
	"a second:\n"
	"  truncates                                                             100                    150     +50.0%\n"
	"  fills                                                                   0                   0.25\n"
	"  effective drains                                                        -                      -\n"
	"  usages                                                                  -                      -\n"
	"  things checked                                                          -                      -\n"
	"  pages written                                                           -                      -\n"
	"drains per usage:\n"
	"  shmem_undo_range: usages                                              100                    400    +300.0%\n"
	"  shmem_undo_range: most drains                                           1                      3    +200.0%\n"
	"  shmem_undo_range: releases a usage                                      2                      1     -50.0%\n"
	"  shmem_undo_range: drains a usage                                        1                   1.25     +25.0%\n"
	"  shmem_undo_range: drains.1 a usage                                      1                  0.875     -12.5%\n"
	"  shmem_undo_range: drains.2 a usage                                      0                  0.125\n"
	"latencies: A holds none\n"
	"  drain count                                                             -                      4\n"
	"  drain p50 (ns)                                                          -                   1500\n"
	"  drain p90 (ns)                                                          -                      -\n"
	"  drain p99 (ns)                                                          -                      -\n"
	"  drain p99.9 (ns)                                                        -                      -\n"
	"  drain max (ns)                                                          -                   9000\n"
	"invariants:\n"
	"  I1 checked                                                             10                      -\n"
	"  I1 available                                                          yes                      -\n"
	"  I2 checked                                                              7                      0    -100.0%\n"
	"  I2 violations                                                           1                      0    -100.0%\n"
	"  I2 available                                                          yes                     no\n"
	"  I22 checked                                                             -                    400\n"
	"  I22 violations                                                          -                      2\n"
	"  I22 available                                                           -                    yes\n"
	"faults:\n"
	"  move: hits a second                                                    10                     20    +100.0%\n"
	"  move: done a second                                                   0.2                    2.5   +1150.0%\n"
	"  move: arguments                                                 prob:1/64               prob:1/8\n"
	"kernel log:\n"
	"  lines                                                                   -                      -\n"
	"  bad                                                                     -                      0\n"
	"  lost                                                                    -                      -\n"
	"  taint_after                                                             -                      -\n"
	"violated in A only: I2\n"
	"violated in B only: I22\n";

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	static char dir[32];

	snprintf(dir, sizeof(dir), "/tmp/ds-diff-XXXXXX");
	*state = dir;
	return !mkdtemp(dir) || chdir(dir);
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	return chdir("/") || system(command);
}

static char *diff(const char *a, const char *b, bool json)
{
	struct ds_result r[2];
	struct ds_err err;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(ds_result_read(a, &r[0], &err), 0);
	assert_int_equal(ds_result_read(b, &r[1], &err), 0);
	assert_int_equal(ds_diff_write(f, &r[0], &r[1], json), 0);
	fclose(f);
	ds_result_free(&r[0]);
	ds_result_free(&r[1]);
	return text;
}

static void test_golden(void **state)
{
	char *text;

	(void)state;
	put("ds-diff-a.json", old);
	put("ds-diff-b.json", new);
	text = diff("./ds-diff-a.json", "./ds-diff-b.json", false);
	assert_string_equal(text, golden);
	free(text);
}

static json_t *find(json_t *o, const char *section, const char *name)
{
	json_t *s, *r;
	size_t i, k;

	json_array_foreach(json_object_get(o, "sections"), i, s) {
		if (strcmp(ds_get_text(s, "name"), section))
			continue;
		json_array_foreach(json_object_get(s, "rows"), k, r) {
			if (!strcmp(ds_get_text(r, "name"), name))
				return r;
		}
	}
	return NULL;
}

static void test_json(void **state)
{
	json_t *o, *r;
	char *text;

	(void)state;
	put("a", old);
	put("b", new);
	text = diff("a", "b", true);
	o = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(o);
	assert_string_equal(ds_get_text(o, "kind"), "diff");
	assert_string_equal(ds_get_text(json_object_get(o, "a"), "path"), "a");
	assert_string_equal(ds_get_text(json_object_get(o, "a"), "repeat"),
			    "drainctl run --seed 1");
	r = find(o, "a second", "truncates");
	assert_true(json_real_value(json_object_get(r, "percent")) == 50);
	assert_true(json_real_value(json_object_get(r, "b")) == 150);
	/* not a percentage of nothing, nor of a code */
	r = find(o, "a second", "fills");
	assert_true(json_is_null(json_object_get(r, "percent")));
	r = find(o, "outcome", "exit");
	assert_int_equal(json_integer_value(json_object_get(r, "b")), 1);
	assert_true(json_is_null(json_object_get(r, "percent")));
	assert_int_equal(json_array_size(json_object_get(o, "violated_only_in_b")), 1);
	json_decref(o);
}

/* A result with itself: nothing differs, and all percentages are 0. */
static void test_same(void **state)
{
	json_t *o, *s, *r;
	unsigned int rows = 0;
	size_t i, k;
	char *text;
	double p;

	(void)state;
	put("a", new);
	text = diff("a", "a", false);
	assert_non_null(strstr(text, "seed and options that differ: none\n"));
	assert_null(strstr(text, "violated in"));
	free(text);
	text = diff("a", "a", true);
	o = json_loads(text, 0, NULL);
	free(text);
	json_array_foreach(json_object_get(o, "sections"), i, s) {
		json_array_foreach(json_object_get(s, "rows"), k, r) {
			assert_true(!ds_get_number(r, "percent", &p) || p == 0);
			assert_true(json_equal(json_object_get(r, "a"), json_object_get(r, "b")));
			rows++;
		}
	}
	assert_in_range(rows, 20, 60);
	json_decref(o);
}

/* Keys that are missing or of another type are gaps, not crashes. */
static void test_odd(void **state)
{
	static const char odd[] =
		"{\"verdict\": \"PASS\", \"seconds\": \"many\", \"usage\": [1, 2], \"latency\": 3,\n"
		"\"invariants\": {\"I1\": 2}, \"faults\": {\"move\": 7}, \"drains\": {\"all\": null},\n"
		"\"parameters\": 5, \"load\": \"none\", \"truncates\": {}, \"kernel_log\": []}";
	char *text;

	(void)state;
	put("a", "{\"verdict\": \"PASS\"}");
	put("b", odd);
	text = diff("a", "b", false);
	assert_non_null(strstr(text, "latencies: neither holds any\n"));
	free(text);
	text = diff("b", "a", true);
	assert_non_null(strstr(text, "\"kind\": \"diff\""));
	free(text);
}

/* What is refused, and how. */
static void test_bad(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "bad:1: no JSON: " },
		{ "{\"verdict\": \"PASS\",\n\"kernel\": \"6.", "bad:2: no JSON: " },
		{ "[1, 2]", "bad: no result of a run, of the matrix" },
		{ "{}", "bad: no result of a run, of the matrix" },
		{ "{\"kind\": \"picture\", \"verdict\": \"PASS\"}", "bad: no result of a run" },
		{ "{\"verdict\": 1}", "bad: no result of a run" },
		{ "{\"verdict\": \"\xff\"}", "bad:1: no JSON: " },
	};
	struct ds_result r;
	struct ds_err err;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		put("bad", rows[i].text);
		assert_int_equal(ds_result_read("bad", &r, &err), -1);
		assert_int_equal(err.exit, DS_EXIT_USAGE);
		assert_ptr_equal(strstr(err.text, rows[i].says), err.text);
		ds_result_free(&r);
	}
	assert_int_equal(ds_result_read("missing.json", &r, &err), -1);
	assert_string_equal(err.text, "missing.json: No such file or directory");
	assert_int_equal(mkdir("empty", 0700), 0);
	assert_int_equal(ds_result_read("empty", &r, &err), -1);
	assert_ptr_equal(strstr(err.text, "empty: no result in it: takes a folder with"), err.text);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	assert_int_equal(ds_result_read("", &r, &err), -1);
}

/* The folder of a virtual machine's run: what is beside the report, and without one. */
static void test_folder(void **state)
{
	struct ds_result r;
	struct ds_err err;
	char buf[64];

	(void)state;
	assert_int_equal(mkdir("folder", 0700), 0);
	put("folder/verdict", "HANG 6 debian-6.1 6.1.0 20s the guest said nothing\n");
	put("folder/cmdline", "tests/vm/run --kernel debian-6.1\n\nkernel x\n");
	assert_int_equal(ds_result_read("folder/", &r, &err), 0);
	assert_null(r.json);
	assert_string_equal(ds_result_verdict(&r, buf, sizeof(buf)), "HANG");
	assert_string_equal(r.name, "folder");
	assert_string_equal(r.command, "tests/vm/run --kernel debian-6.1");
	/* --format json leaves it on standard output */
	put("folder/stdout.log", old);
	put("folder/drainstress-2.replay", "");
	put("folder/drainstress-1.replay", "");
	assert_int_equal(ds_result_read("folder", &r, &err), 0);
	assert_string_equal(r.path, "folder/stdout.log");
	assert_string_equal(r.replay, "drainstress-1.replay");
	/* the runner has seen more than the guest */
	assert_string_equal(ds_result_verdict(&r, buf, sizeof(buf)), "HANG");
	ds_result_free(&r);
	put("folder/result.json", new);
	put("folder/verdict", "PASS 0 debian-6.1 6.1.0 20s exit code of the guest script\n");
	assert_int_equal(ds_result_read("folder", &r, &err), 0);
	assert_string_equal(r.path, "folder/result.json");
	assert_string_equal(ds_result_verdict(&r, buf, sizeof(buf)), "FAIL");
	ds_result_free(&r);
}

/* The runner saw the console of a guest that thought all was well. */
static void test_runner(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(mkdir("bad-console", 0700), 0);
	put("bad-console/result.json", old);
	put("bad-console/verdict", "FAIL 1 debian-6.1 6.1.0 20s BUG: it\n");
	put("a", old);
	text = diff("a", "bad-console", false);
	assert_non_null(strstr(text, "\n  verdict of tests/vm/run     "));
	assert_non_null(strstr(text, "-                   FAIL\n"));
	free(text);
}

/* The command with the words that follow, up to NULL. */
static int command(const char *first, ...)
{
	char *argv[8] = { strdup("drainctl diff") };
	int argc = 1, ret;
	va_list ap;

	va_start(ap, first);
	for (; first; first = va_arg(ap, const char *))
		argv[argc++] = strdup(first);
	va_end(ap);
	ret = ds_cmd_diff(argc, argv);
	while (argc)
		free(argv[--argc]);
	return ret;
}

/* The command itself: too few words, another kind, a run without a report. */
static void test_command(void **state)
{
	(void)state;
	put("a", old);
	put("m", "{\"mutants\": [], \"passed\": 1, \"failed\": 0}");
	assert_int_equal(mkdir("hung", 0700), 0);
	put("hung/verdict", "HANG 6\n");
	assert_int_equal(command("a", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("a", "a", "a", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("--format", "xml", "a", "a", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("a", "m", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("a", "hung", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("a", "gone", NULL), DS_EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_runner),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
