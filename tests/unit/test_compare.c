// SPDX-License-Identifier: GPL-2.0-only
/*
 * drainctl compare: the published table and those of tests/compare/cases to the
 * letter, the statistics against numbers that others have computed, every bad input,
 * and the formats through parsers that are not ours.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

#include "commands.h"
#include "compare_output.h"
#include "rand.h"

#define DIR_CASES "tests/compare/cases"
#define BASELINE "tests/compare/baseline.txt"
#define WITH_PATCH "tests/compare/with-patch.txt"
#define PUBLISHED "baseline/=" BASELINE, "with-patch/=" WITH_PATCH
#define TABLE_LINES 22

static char dir[64];
static char out[1 << 20], err[1 << 16];

/* ---- running the command ---- */

static const char *in_dir(const char *name)
{
	static char paths[8][128];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void put(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *name, const char *text)
{
	put(in_dir(name), text, strlen(text));
}

static size_t get(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		fail_msg("%s is missing", path);
	n = fread(buf, 1, size - 1, f);
	assert_true(n < size - 1);
	buf[n] = '\0';
	fclose(f);
	return n;
}

static int to_file(int fd, const char *path)
{
	FILE *f = fopen(path, "we");
	int saved = dup(fd);

	assert_true(saved >= 0);
	assert_non_null(f);
	assert_true(dup2(fileno(f), fd) == fd);
	fclose(f);
	return saved;
}

static void back(int fd, int saved)
{
	assert_true(dup2(saved, fd) == fd);
	close(saved);
}

/* Runs "drainctl compare WORD..."; @out and @err are what it printed. */
static int run_words(const char *const *words)
{
	char *argv[40];
	int argc = 0, code, saved_out, saved_err;

	argv[argc++] = strdup("drainctl compare");
	while (*words)
		argv[argc++] = strdup(*words++);
	argv[argc] = NULL;
	fflush(stdout);
	saved_out = to_file(STDOUT_FILENO, in_dir("stdout"));
	saved_err = to_file(STDERR_FILENO, in_dir("stderr"));
	code = ds_cmd_compare(argc, argv);
	fflush(stdout);
	back(STDOUT_FILENO, saved_out);
	back(STDERR_FILENO, saved_err);
	/* argp has sorted the words, and lost none */
	while (argc)
		free(argv[--argc]);
	get(in_dir("stdout"), out, sizeof(out));
	get(in_dir("stderr"), err, sizeof(err));
	return code;
}

#define run(...) run_words((const char *const[]){ __VA_ARGS__, NULL })

/* ---- tables ---- */

/* Return: the first of 22 lines in which they differ, from 1; 0 when none does. */
static unsigned int first_difference(const char *a, const char *b)
{
	unsigned int line;

	for (line = 1; line <= TABLE_LINES; line++) {
		size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");

		if (na != nb || memcmp(a, b, na) || !a[na] || !b[nb])
			return line;
		a += na + 1;
		b += nb + 1;
	}
	return 0;
}

static const char *line_of(const char *s, unsigned int line)
{
	while (--line)
		s = strchr(s, '\n') + 1;
	return s;
}

static void same_table(const char *path)
{
	char want[8192];
	unsigned int line;

	get(path, want, sizeof(want));
	line = first_difference(out, want);
	if (line)
		fail_msg("%s:%u: '%.*s' in place of '%.*s'", path, line,
			 (int)strcspn(line_of(out, line), "\n"), line_of(out, line),
			 (int)strcspn(line_of(want, line), "\n"), line_of(want, line));
}

static void test_published(void **state)
{
	char want[8192], *star;

	(void)state;
	assert_int_equal(run(PUBLISHED), 0);
	get("tests/compare/published-table.txt", want, sizeof(want));
	/* two brackets are all that is not as published */
	star = strstr(want, "*  -0.28%*");
	assert_non_null(star);
	assert_int_equal(first_difference(out, want), 14);
	star[0] = '(';
	star[strlen("*  -0.28%")] = ')';
	assert_int_equal(first_difference(out, want), 0);
	assert_string_equal(err, "");
	assert_non_null(strstr(out, "p = 0.67 (Welch)"));
	assert_non_null(strstr(line_of(out, TABLE_LINES + 1), "n 256, 1 boot, 1 iteration"));
	assert_null(strstr(out, "unequal"));
}

static const struct {
	const char *name;
	const char *runs[4];
} cases[] = {
	{ "n1", { "baseline/", "with-patch/" } },
	{ "n2", { "baseline/", "with-patch/" } },
	{ "n3", { "baseline/", "with-patch/" } },
	{ "n4", { "baseline/", "with-patch/" } },
	{ "n20", { "baseline/", "with-patch/" } },
	{ "n99", { "baseline/", "with-patch/" } },
	{ "n100", { "baseline/", "with-patch/" } },
	{ "n101", { "baseline/", "with-patch/" } },
	{ "n256", { "baseline/", "with-patch/" } },
	{ "equal", { "base", "same" } },
	{ "zero", { "base", "faster", "slower" } },
	{ "allzero", { "zero", "zero-again", "not" } },
	{ "flat", { "flat", "flat-too", "flat-higher", "not" } },
	{ "beyond", { "base", "slow-er", "slow-est" } },
	{ "unequal", { "one", "five", "seven-teen" } },
	{ "unequal2", { "five", "one" } },
	{ "four", { "6.1-rc1-fix", "-lead", "trail-", "x" } },
	{ "long", { "a-name-of-more-characters-than-its-column",
		    "\303\274ber-\303\244nderung", "one-column-of-many-letters",
		    "\303\251t\303\251" } },
};

static int run_case(unsigned int c, const char *more)
{
	/* names may begin with a '-' */
	const char *words[7] = { more ? more : "--format=text", "--" };
	char args[4][128];
	unsigned int i;

	for (i = 0; i < 4 && cases[c].runs[i]; i++) {
		snprintf(args[i], sizeof(args[i]), "%s=" DIR_CASES "/%s-%u.txt", cases[c].runs[i],
			 cases[c].name, i);
		words[i + 2] = args[i];
	}
	return run_words(words);
}

static void test_golden(void **state)
{
	char path[128], line[256];
	unsigned int i, n;
	const char *p;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(path, sizeof(path), DIR_CASES "/%s.table", cases[i].name);
		assert_int_equal(run_case(i, NULL), 0);
		same_table(path);
		for (n = 1, p = out; n <= TABLE_LINES; n++, p = strchr(p, '\n') + 1) {
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
			if (*line && line[strlen(line) - 1] == ' ')
				fail_msg("%s:%u ends in a blank", path, n);
		}
	}
}

/* What must not pass unnoticed: any one figure of a table, or one sample, that is wrong. */
static void test_wrong_digit(void **state)
{
	char want[8192], text[4096], *p, was;
	unsigned int tried = 0;

	(void)state;
	assert_int_equal(run(PUBLISHED), 0);
	get(DIR_CASES "/published.table", want, sizeof(want));
	assert_int_equal(first_difference(out, want), 0);
	for (p = want; *p; p++) {
		if (!strchr("0123456789()%", *p))
			continue;
		was = *p;
		*p = was == '9' ? '8' : was + 1;
		assert_true(first_difference(out, want) > 0);
		*p = was;
		tried++;
	}
	assert_true(tried > 400);
	get(WITH_PATCH, text, sizeof(text));
	p = strstr(text, "476\n");
	assert_non_null(p);
	p[2] = '7';
	put_text("wrong", text);
	assert_int_equal(run("baseline/=" BASELINE, "with-patch/", NULL), DS_EXIT_USAGE);
	snprintf(text, sizeof(text), "with-patch/=%s", in_dir("wrong"));
	assert_int_equal(run("baseline/=" BASELINE, text), 0);
	/* Max; the mean does not show it */
	assert_int_equal(first_difference(out, want), 13);
}

static void test_stars(void **state)
{
	static const char *const names[] = { "classic", "none" };
	unsigned int flat, i, stars;
	const char *p;

	(void)state;
	for (flat = 0; strcmp(cases[flat].name, "flat"); flat++)
		;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		char option[32];

		snprintf(option, sizeof(option), "--stars=%s", names[i]);
		assert_int_equal(run_case(flat, option), 0);
		stars = 0;
		for (p = out; p < line_of(out, TABLE_LINES + 1); p++)
			stars += *p == '*';
		assert_int_equal(stars, i ? 0 : 4);
	}
	assert_int_equal(run("--stars=gold", PUBLISHED), DS_EXIT_USAGE);
	assert_non_null(strstr(err, "--stars 'gold': takes classic, none"));
}

/* ---- statistics ---- */

/* The values of tests/compare/stats.txt; near() is for p-values down to 1e-144. */
static bool near(double a, double b)
{
	return a == b || fabs(a - b) * 1e7 <= fmax(fabs(a), fabs(b));
}

static const json_t *at(const json_t *o, const char *a, const char *b)
{
	o = json_object_get(o, a);
	return b ? json_object_get(o, b) : o;
}

static json_t *run_json(unsigned int c)
{
	json_t *o;

	if (c < ARRAY_SIZE(cases))
		assert_int_equal(run_case(c, "--format=json"), 0);
	else
		assert_int_equal(run(PUBLISHED, "--format=json"), 0);
	o = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	return o;
}

static void check_number(const char *line, const json_t *o, const char *part, const char *key,
			 double want)
{
	double got = json_number_value(at(o, part, key));

	if (!near(got, want))
		fail_msg("%s: %s.%s is %.17g", line, part, key, got);
}

static bool between(double x, const char *low, const char *high)
{
	return (x > atof(low) || near(x, atof(low))) && (x < atof(high) || near(x, atof(high)));
}

static void check_interval(const char *line, const json_t *o, char ends[4][32])
{
	double low = json_number_value(at(o, "median", "low"));
	double high = json_number_value(at(o, "median", "high"));

	if (!strcmp(ends[0], "-"))
		return;
	if (!between(low, ends[0], ends[1]) || !between(high, ends[2], ends[3]))
		fail_msg("%s: the interval is %.17g to %.17g", line, low, high);
}

static void check_line(char *line)
{
	char name[32], ends[4][32];
	double t, p, u, up;
	unsigned int run, df, c;
	int n;
	const json_t *o;
	json_t *all;

	line[strcspn(line, "\n")] = '\0';
	n = sscanf(line, "%31s %u %lf %u %lf %lf %lf %31s %31s %31s %31s", name, &run, &t, &df, &p,
		   &u, &up, ends[0], ends[1], ends[2], ends[3]);
	assert_int_equal(n, 11);
	for (c = 0; c < ARRAY_SIZE(cases) && strcmp(cases[c].name, name); c++)
		;
	assert_true(c < ARRAY_SIZE(cases) || !strcmp(name, "published"));
	all = run_json(c);
	o = json_array_get(json_object_get(all, "comparisons"), run - 1);
	assert_non_null(o);
	/* without a deviation there is no t */
	if (json_is_null(at(o, "welch", "t")))
		assert_true(t == 0 && (p == 0 || p == 1));
	else
		check_number(line, o, "welch", "t", t);
	check_number(line, o, "welch", "df", df);
	check_number(line, o, "welch", "p", p);
	check_number(line, o, "mann_whitney", "u", u);
	check_number(line, o, "mann_whitney", "p", up);
	check_interval(line, o, ends);
	json_decref(all);
}

static void test_against_others(void **state)
{
	FILE *f = fopen("tests/compare/stats.txt", "re");
	unsigned int lines = 0;
	char line[512];

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		check_line(line);
		lines++;
	}
	fclose(f);
	assert_int_equal(lines, 29);
}

static void test_bootstrap(void **state)
{
	double a[] = { 1, 2, 3, 4, 5, 6, 7, 80 }, b[] = { 5, 6, 7, 8, 9, 10, 11 };
	struct ds_median_diff m, again, other;
	unsigned int seed;

	(void)state;
	assert_int_equal(ds_compare_medians(a, 8, b, 7, 1, &m), 0);
	assert_int_equal(ds_compare_medians(a, 8, b, 7, 1, &again), 0);
	assert_true(m.diff == 8 - 4.5);
	assert_true(m.low < m.diff && m.diff < m.high);
	assert_true(m.low == again.low && m.high == again.high);
	/* of some other seeds one gives another interval, and none a far one */
	for (seed = 2; seed < 12; seed++) {
		assert_int_equal(ds_compare_medians(a, 8, b, 7, seed, &other), 0);
		assert_true(fabs(other.low - m.low) <= 0.5 && fabs(other.high - m.high) <= 0.5);
	}
	assert_int_equal(ds_compare_medians(a, 1, b, 1, 1, &m), 0);
	assert_true(m.diff == 4 && m.low == 4 && m.high == 4);
}

/* Samples of one boot with that median, which is all that is asked for here. */
static void fill_run(struct ds_samples *s, struct ds_boot *boots, unsigned int nr,
		     double *v)
{
	memset(s, 0, sizeof(*s));
	s->boots = boots;
	s->nr_boots = nr;
	s->v = v;
	s->sorted = v;
	s->nr = 100;
}

static double uniform(struct ds_rand *r)
{
	return ds_rand_below(r, 1 << 30) / (double)(1 << 30);
}

/* About normal: boots differ by a deviation of 1. */
static double noise(struct ds_rand *r)
{
	double sum = -6;
	unsigned int i;

	for (i = 0; i < 12; i++)
		sum += uniform(r);
	return sum;
}

/* How many of 4000 comparisons find a difference where B's boots are higher by @shift. */
static unsigned int found(double shift, unsigned int nr)
{
	struct ds_boot boots[2][8];
	struct ds_samples a, b;
	struct ds_spread s;
	unsigned int i, k, n = 0;

	for (k = 0; k < 4000; k++) {
		struct ds_rand r = ds_rand_at(7, nr, k);

		for (i = 0; i < nr; i++) {
			boots[0][i].median = 100 + noise(&r);
			boots[1][i].median = 100 + noise(&r) + shift;
		}
		fill_run(&a, boots[0], nr, NULL);
		fill_run(&b, boots[1], nr, NULL);
		ds_compare_boots(&a, &b, &s);
		assert_int_equal(s.df, 2 * nr - 2);
		n += s.p < DS_COMPARE_ALPHA;
	}
	return n;
}

/* 5 % is what is printed: of 4000 that is 200, with a deviation of 14. */
static void test_false_alarms(void **state)
{
	unsigned int nr, n;

	(void)state;
	for (nr = 2; nr <= 5; nr++) {
		n = found(0, nr);
		if (n < 150 || n > 250)
			fail_msg("%u boots each: %u false alarms of 4000", nr, n);
	}
	/* and a difference of ten deviations is found */
	assert_true(found(10, 3) > 3950);
	assert_true(found(-10, 3) > 3950);
}

/* ---- boots and iterations ---- */

static void put_boot(const char *name, const char *header, double us, unsigned int nr)
{
	char text[8192];
	size_t n = snprintf(text, sizeof(text), "%s", header);

	while (nr--)
		n += snprintf(text + n, sizeof(text) - n, "%.3f\n", us);
	put_text(name, text);
}

static const json_t *first_comparison(const json_t *all)
{
	return json_array_get(json_object_get(all, "comparisons"), 0);
}

static void test_boots(void **state)
{
	static const double medians[6] = { 100, 102, 104, 110, 111, 115 };
	char name[16], a[300], b[300];
	const json_t *o;
	unsigned int i;
	json_t *all;

	(void)state;
	assert_int_equal(mkdir(in_dir("B"), 0777), 0);
	for (i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), i < 3 ? "a%u" : "B/b%u", i);
		put_boot(name, "# fs: ext4\n", medians[i], 20);
	}
	snprintf(a, sizeof(a), "A=%s,%s,%s", in_dir("a0"), in_dir("a1"), in_dir("a2"));
	snprintf(b, sizeof(b), "B=%s", in_dir("B"));
	assert_int_equal(run(a, b, "--format", "json"), 0);
	all = json_loads(out, 0, NULL);
	o = first_comparison(all);
	assert_int_equal(json_integer_value(at(o, "boots", "df")), 4);
	/* scipy.stats.ttest_ind([110, 111, 115], [100, 102, 104]) */
	assert_true(near(json_number_value(at(o, "boots", "p")), 0.00641723635402619));
	assert_true(near(json_number_value(at(o, "boots", "deviation")), sqrt(22 / 4.0)));
	assert_true(near(json_number_value(at(o, "boots", "difference")), 10));
	assert_true(json_is_false(at(o, "boots", "differ_more_than_runs")));
	assert_string_equal(json_string_value(at(o, "decided_by", NULL)), "boots");
	assert_true(json_is_true(at(o, "significant", NULL)));
	assert_true(near(json_number_value(at(o, "p", NULL)), 0.00641723635402619));
	json_decref(all);
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "B is slower than A"));
	assert_non_null(strstr(out, "3 and 3 boots"));
	assert_int_equal(run(b, a), 0);
	assert_non_null(strstr(out, "A is faster than B"));

	/* samples would call this a difference; boots know that it is none */
	put_boot("c0", "", 99, 20);
	put_boot("c1", "", 105, 20);
	put_boot("c2", "", 104, 20);
	snprintf(b, sizeof(b), "C=%s,%s,%s", in_dir("c0"), in_dir("c1"), in_dir("c2"));
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "boots differ more than the runs do"));
	assert_non_null(strstr(out, "No difference between A and C is shown"));
	assert_non_null(strstr(out, "expected in 5 % of comparisons"));

	/* one boot each: nobody knows */
	snprintf(a, sizeof(a), "A=%s", in_dir("a0"));
	snprintf(b, sizeof(b), "C=%s", in_dir("c1"));
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "whether boots differ more than the runs is not known"));
	assert_non_null(strstr(out, "In one boot of each, C is slower than A"));
}

static void test_header(void **state)
{
	char a[200], b[200];
	const json_t *o;
	json_t *all;

	(void)state;
	put_text("h0",
		 "# kernel: 6.1-x\n# fs: ext4\n# boot: one\n# iteration: 1\n1.5\n2\r\n"
		 "# drains per usage: 1.02\n# words without a meaning\n#\n# iteration: 2\n 30\t\n40\n"
		 "# a: comment: after\n");
	/* one file of two boots, of which the first is also in h0 */
	put_text("h1",
		 "# kernel: 6.1-x\n# fs: xfs\n# boot: one\n7\n# kernel: 6.1-y\n# boot: two\n"
		 "# iteration: 1\n100\n# iteration: 2\n200\n");
	snprintf(a, sizeof(a), "A=%s,%s", in_dir("h0"), in_dir("h1"));
	snprintf(b, sizeof(b), "B=%s", in_dir("h0"));
	assert_int_equal(run(a, b, "--format", "json"), 0);
	all = json_loads(out, 0, NULL);
	o = json_array_get(json_object_get(all, "runs"), 0);
	assert_int_equal(json_integer_value(at(o, "n", NULL)), 7);
	assert_int_equal(json_integer_value(at(o, "iterations", NULL)), 5);
	assert_int_equal(json_array_size(at(o, "boots", NULL)), 2);
	o = json_array_get(at(o, "boots", NULL), 0);
	assert_string_equal(json_string_value(at(o, "boot", NULL)), "one");
	assert_int_equal(json_integer_value(at(o, "n", NULL)), 5);
	assert_true(json_number_value(at(o, "median", NULL)) == 7);
	assert_int_equal(json_array_size(at(o, "iteration_medians", NULL)), 3);
	assert_true(json_number_value(json_array_get(at(o, "iteration_medians", NULL), 1)) == 35);
	assert_string_equal(json_string_value(at(o, "keys", "drains per usage")), "1.02");
	assert_string_equal(json_string_value(at(o, "keys", "a")), "comment: after");
	assert_string_equal(json_string_value(at(o, "keys", "fs")), "ext4, xfs");
	o = json_array_get(at(json_array_get(json_object_get(all, "runs"), 0), "boots", NULL), 1);
	assert_string_equal(json_string_value(at(o, "keys", "kernel")), "6.1-y");
	assert_int_equal(json_array_size(at(o, "iteration_medians", NULL)), 2);
	assert_int_equal(json_array_size(json_object_get(all, "notes")), 2);
	json_decref(all);
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "note: unequal n: 7 in A, 4 in B"));
	assert_non_null(strstr(out, "note: kernel differs: 6.1-x in A, 6.1-y in A: these are not"));
	assert_non_null(strstr(out, "drains per usage: 1.02"));
	assert_non_null(strstr(out, "Nothing can be said of A and B"));
	put_text("h2", "# fs: xfs\n# order: single\n5\n");
	snprintf(a, sizeof(a), "A=%s", in_dir("h2"));
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "note: fs differs: xfs in A, ext4 in B: these are not runs"));
	assert_null(strstr(out, "order differs"));
	/* a folder's files, in the order in which people count */
	assert_int_equal(mkdir(in_dir("V"), 0777), 0);
	put_text("V/boot-10", "5\n");
	put_text("V/boot-9", "5\n");
	put_text("V/.hidden", "no sample\n");
	snprintf(a, sizeof(a), "A=%s", in_dir("V"));
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "/V/boot-9: n 1"));
	assert_true(strstr(out, "/V/boot-9: n 1") < strstr(out, "/V/boot-10: n 1"));
	/* files put together, without iterations */
	put_text("h3", "# boot: one\n1\n2\n3\n# boot: two\n7\n# boot: one\n4\n");
	snprintf(a, sizeof(a), "A=%s", in_dir("h3"));
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "A: n 5, 2 boots, 3 iterations"));
	assert_non_null(strstr(out, "boot one: n 4, 2 iterations, median 2.50 us, from 1.00"));
	assert_non_null(strstr(out, "boot two: n 1, 1 iteration, median 7.00 us"));
}

/* What iterations have counted is added up, and told apart from the header. */
static void test_counts(void **state)
{
	static const char *const texts[] = {
		"# cpus: 2\n# boot: one\n# iteration: 1\n"
		"# usages: 10\n# drains: 10\n# most_max: 3\n"
		"# fault: 1 of 2\n5\n# iteration: 2\n"
		"# usages: 10\n# drains: 11\n# most_max: 2\n6\n",
		"# cpus: 2\n# boot: two\n# iteration: 1\n"
		"# usages: 20\n# drains: 30\n# most_max: 1\n"
		"7\n# seconds: 9\n",
	};
	char a[200], b[200];
	const json_t *o;
	json_t *all;

	(void)state;
	put_text("k0", texts[0]);
	put_text("k1", texts[1]);
	snprintf(a, sizeof(a), "A=%s,%s", in_dir("k0"), in_dir("k1"));
	snprintf(b, sizeof(b), "B=%s", BASELINE);
	assert_int_equal(run(a, b), 0);
	assert_non_null(strstr(out, "    usages: 40, drains: 51, most_max: 3, drains per usage: "));
	assert_non_null(strstr(out, "drains per usage: 1.2750\n"));
	assert_non_null(strstr(out, "    cpus: 2\n"));
	assert_non_null(strstr(out, "fault: 1 of 2"));
	assert_non_null(strstr(out, "      seconds: 9\n"));
	assert_int_equal(run(a, b, "--format=json"), 0);
	all = json_loads(out, 0, NULL);
	o = json_array_get(json_object_get(all, "runs"), 0);
	assert_true(near(json_number_value(at(o, "drains_per_usage", NULL)), 1.275));
	o = json_array_get(at(o, "boots", NULL), 0);
	assert_int_equal(json_integer_value(at(o, "counts", "usages")), 20);
	assert_int_equal(json_integer_value(at(o, "counts", "drains")), 21);
	assert_int_equal(json_integer_value(at(o, "counts", "most_max")), 3);
	assert_null(at(o, "counts", "cpus"));
	assert_null(at(o, "keys", "usages"));
	o = json_array_get(json_object_get(all, "runs"), 1);
	assert_true(json_is_null(at(o, "drains_per_usage", NULL)));
	json_decref(all);
	assert_int_equal(run(a, b, "--format=csv"), 0);
	assert_non_null(strstr(out, "A,drains-per-usage,1.27"));
	assert_null(strstr(out, "B,drains-per-usage"));
}

/* Names that are not given. */
static void test_names(void **state)
{
	char comma[128], want[256];

	(void)state;
	assert_int_equal(run(BASELINE, WITH_PATCH), 0);
	snprintf(want, sizeof(want), "%37s%23s\n%37s%23s\nMin ", "baselin", "with", "baseline",
		 "patch");
	assert_int_equal(strncmp(out, want, strlen(want)), 0);
	snprintf(comma, sizeof(comma), "%s", in_dir("a,b"));
	put_text("a,b", "1\n");
	put_text(".txt", "1\n");
	assert_int_equal(run(comma, in_dir(".txt")), 0);
	assert_non_null(strstr(out, "  a,b: n 1"));
	assert_non_null(strstr(out, "  .txt: n 1"));
}

/* ---- what is refused ---- */

static void refuse(const char *bytes, size_t len, unsigned int line, const char *what)
{
	char where[256];

	put(in_dir("bad"), bytes, len);
	assert_int_equal(run(BASELINE, in_dir("bad")), DS_EXIT_USAGE);
	snprintf(where, sizeof(where), "drainctl: %s:%u: ", in_dir("bad"), line);
	if (strncmp(err, where, strlen(where)) || !strstr(err, what))
		fail_msg("'%s' in place of '%s...%s'", err, where, what);
	assert_string_equal(out, "");
	/* the baseline is read no less carefully */
	assert_int_equal(run(in_dir("bad"), BASELINE), DS_EXIT_USAGE);
	assert_int_equal(strncmp(err, where, strlen(where)), 0);
}

static void test_bad_lines(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *what;
	} bad[] = {
		{ "", 1, "an empty file" },
		{ "# fs: ext4\n# cpus: 2\n", 2, "without a single sample" },
		{ "\n", 1, "'' is no number" },
		{ "1\n2\n\n3\n", 3, "'' is no number" },
		{ "1\nabc\n", 2, "'abc' is no number" },
		{ "336 us\n", 1, "'336 us' is no number" },
		{ "336 337\n", 1, "is no number" },
		{ "1\n2\n3x", 3, "'3x' is no number" },
		{ "1,5\n", 1, "is no number" },
		{ "0x10\n", 1, "is no number" },
		{ "1e\n", 1, "is no number" },
		{ "--1\n", 1, "is no number" },
		{ "1\n-1\n", 2, "'-1' is negative" },
		{ "-0.001\n", 1, "negative" },
		{ "nan\n", 1, "'nan' is not finite" },
		{ "-nan\n", 1, "not finite" },
		{ "nan(1)\n", 1, "is no number" },
		{ "1\n2\ninf\n", 3, "not finite" },
		{ "-infinity\n", 1, "not finite" },
		{ "1e999\n", 1, "not finite" },
		{ "1e16\n", 1, "more than 1e+15 us" },
		{ "1\n# iteration: two\n2\n", 2, "iteration 'two'" },
		{ "# iteration:\n2\n", 1, "iteration ''" },
		{ "# boot:\n2\n", 1, "boot: which one is missing" },
		{ "1\n\177ELF\n", 2, "binary data (byte 0x7f)" },
		{ "\211PNG\r\n\032\n", 1, "'?PNG' is no number" },
		{ "\037\213\010", 1, "binary data (byte 0x1f)" },
		{ "1\n# \033[31m: red\n2\n", 2, "binary data (byte 0x1b)" },
	};
	char *big = malloc(100000);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		refuse(bad[i].text, strlen(bad[i].text), bad[i].line, bad[i].what);
	refuse("1\n\0002\n", 5, 2, "binary data (byte 0x00)");
	assert_non_null(big);
	memset(big, '1', 100000);
	big[1] = '\n';
	refuse(big, 100000, 2, "a line of more than 4096 characters");
	big[2] = '#';
	refuse(big, 100000, 2, "a line of more than 4096 characters");
	free(big);
}

/* Each of these ends with 2 and those words. */
static void test_bad_words(void **state)
{
	char twice[300], missing[200], hole[300], folder[200], nested[200], empty[200];
	const struct {
		const char *words[3];
		const char *says;
	} bad[] = {
		{ { NULL }, "takes BASELINE and at least one OTHER" },
		{ { BASELINE }, "takes BASELINE and at least one OTHER" },
		{ { BASELINE, "/nonexistent/f" }, "/nonexistent/f: No such file" },
		{ { BASELINE, missing }, "none: No such file" },
		{ { BASELINE, "tests/compare" }, "tests/compare: a folder: takes" },
		{ { BASELINE, folder }, "empty: an empty folder" },
		{ { BASELINE, nested }, "nested/inner: a folder: takes" },
		{ { BASELINE, twice }, "the run 'A' has this file already" },
		{ { BASELINE, hole }, "A=: a file is missing" },
		{ { BASELINE, "A=" }, "A=: a file is missing" },
		{ { BASELINE, "=" BASELINE }, "takes a name before" },
		{ { BASELINE, "" }, "takes FILE or NAME=FILE" },
		{ { BASELINE, "a\tb=" BASELINE }, "no control characters" },
		{ { BASELINE, "a\377=" BASELINE }, "takes UTF-8" },
		{ { BASELINE, empty }, "at most 128 bytes" },
		{ { BASELINE, BASELINE, "--format=xml" }, "--format 'xml': takes text, json, csv" },
		{ { BASELINE, BASELINE, "--seed=-1" }, "--seed '-1': takes a number" },
		{ { BASELINE, BASELINE, "--plot=" }, "--plot '': takes a file" },
	};
	const char *many[DS_RUNS_MAX + 2] = { NULL };
	unsigned int i;

	(void)state;
	put_text("one", "1\n");
	assert_int_equal(mkdir(in_dir("empty"), 0777), 0);
	assert_int_equal(mkdir(in_dir("nested"), 0777), 0);
	assert_int_equal(mkdir(in_dir("nested/inner"), 0777), 0);
	snprintf(twice, sizeof(twice), "A=%s,%s", in_dir("one"), in_dir("./one"));
	snprintf(hole, sizeof(hole), "A=%s,,%s", in_dir("one"), in_dir("a0"));
	snprintf(missing, sizeof(missing), "A=%s,%s", in_dir("one"), in_dir("none"));
	snprintf(folder, sizeof(folder), "A=%s", in_dir("empty"));
	snprintf(nested, sizeof(nested), "A=%s", in_dir("nested"));
	memset(empty, 'n', 150);
	snprintf(empty + 150, sizeof(empty) - 150, "=%s", BASELINE);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *words[4] = { bad[i].words[0], bad[i].words[1], bad[i].words[2], NULL };

		if (run_words(words) != DS_EXIT_USAGE || !strstr(err, bad[i].says))
			fail_msg("'%s' in place of '%s'", err, bad[i].says);
		assert_string_equal(out, "");
	}
	for (i = 0; i <= DS_RUNS_MAX; i++)
		many[i] = BASELINE;
	assert_int_equal(run_words(many), DS_EXIT_USAGE);
	assert_non_null(strstr(err, "at most 15"));
	many[DS_RUNS_MAX] = NULL;
	assert_int_equal(run_words(many), 0);
}

/* ---- formats ---- */

/* A program that reads what was printed.  Return: its exit code. */
static int reads(const char *program)
{
	char command[4096];

	put_text("program.py", program);
	snprintf(command, sizeof(command), "cd %s && python3 program.py >says 2>&1", dir);
	return system(command);
}

static void test_json(void **state)
{
	(void)state;
	assert_int_equal(run(PUBLISHED, "--format=json", "--seed=18446744073709551615"), 0);
	put_text("json", out);
	if (reads("import json\n"
		  "o = json.load(open('json'))\n"
		  "assert next(iter(o)) == 'kind' and o['kind'] == 'comparison'\n"
		  "assert o['unit'] == 'us' and o['stars'] == 'classic'\n"
		  "assert [len(o[k]) for k in ('rows', 'runs', 'comparisons')] == [20, 2, 1]\n"
		  "row = {r['name']: r for r in o['rows']}\n"
		  "assert row['Max']['values'] == [547, 476], row['Max']\n"
		  "assert abs(row['Max']['percent'][1] - (100 - 47600 / 547)) < 1e-9\n"
		  "assert row['Amean']['significant'] == [False, False]\n"
		  "run = o['runs'][1]\n"
		  "assert run['name'] == 'with-patch/' and run['n'] == 256\n"
		  "samples = run['boots'][0]['samples']\n"
		  "assert len(samples) == 256 and samples == sorted(samples)\n"
		  "c = o['comparisons'][0]\n"
		  "assert c['baseline'] == 'baseline/' and c['run'] == 'with-patch/'\n"
		  "assert round(c['welch']['p'], 2) == 0.67 and c['decided_by'] == 'samples'\n"
		  "assert c['median']['seed'] == str(2**64 - 1) and c['boots']['p'] is None\n"
		  "assert c['expected_false_alarms'] == 0.05\n"
		  "assert 'with-patch/' in c['conclusion'] and c['conclusion'].count('.\\n') == 0\n"
		  "assert o['notes'] == []\n")) {
		get(in_dir("says"), out, sizeof(out));
		fail_msg("%s", out);
	}
}

static void test_csv(void **state)
{
	(void)state;
	assert_int_equal(run("a, \"b\" and ;c=" BASELINE, "d=" WITH_PATCH, "-f", "csv"), 0);
	put_text("csv", out);
	if (reads("import csv\n"
		  "rows = list(csv.reader(open('csv', newline=''), strict=True))\n"
		  "assert rows[0] == ['run', 'item', 'value', 'percent', 'significant']\n"
		  "assert all(len(r) == 5 for r in rows), rows\n"
		  "assert {r[0] for r in rows[1:]} == {'a, \"b\" and ;c', 'd'}\n"
		  "of = {(r[0], r[1]): r[2:] for r in rows[1:]}\n"
		  "assert len(of) == len(rows) - 1\n"
		  "assert float(of['d', 'Max'][0]) == 476 and of['d', 'Amean'][2] == 'no'\n"
		  "assert round(float(of['d', 'Amean'][1]), 2) == -0.28\n"
		  "assert float(of['a, \"b\" and ;c', 'n'][0]) == 256\n"
		  "assert round(float(of['d', 't-p'][0]), 2) == 0.67\n"
		  "assert float(of['d', 'U'][0]) == 40433\n"
		  "assert ('a, \"b\" and ;c', 'U') not in of\n")) {
		get(in_dir("says"), out, sizeof(out));
		fail_msg("%s", out);
	}
}

/* ---- the chart ---- */

/* No file is left beside those that were there. */
static unsigned int files_in(const char *path)
{
	DIR *d = opendir(path);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void test_plot(void **state)
{
	static const char names[] = "it's <x> & \"y\" \\";
	char arg[128], svg[128];

	(void)state;
	assert_int_equal(mkdir(in_dir("plot"), 0777), 0);
	snprintf(svg, sizeof(svg), "%s", in_dir("plot/a b'.svg"));
	snprintf(arg, sizeof(arg), "%s=" WITH_PATCH, names);
	assert_int_equal(run("base=" BASELINE, arg, "--plot", svg), 0);
	assert_string_equal(err, "");
	same_table(in_dir("stdout"));
	assert_int_equal(files_in(in_dir("plot")), 1);
	if (reads("from xml.dom import minidom\n"
		  "d = minidom.parse('plot/a b\\'.svg')\n"
		  "assert d.documentElement.tagName == 'svg'\n"
		  "def words(n):\n"
		  "    if n.nodeType == n.TEXT_NODE:\n"
		  "        return n.data\n"
		  "    return ''.join(words(c) for c in n.childNodes)\n"
		  "texts = [words(t).strip() for t in d.getElementsByTagName('text')]\n"
		  "for t in ('Distribution: samples up to a time', 'microseconds', 'boot',\n"
		  "          'Tail: samples of a time or longer, log scale',\n"
		  "          'Boots: from the least to the 99th of 100, quartiles and median',\n"
		  "          'Times of one removal each, in microseconds'):\n"
		  "    assert t in texts, (t, texts)\n"
		  "for name in ('base', 'it\\'s <x> & \"y\" \\\\'):\n"
		  "    assert texts.count(name) == 3, (name, texts)\n"
		  "paths = [p for p in d.getElementsByTagName('path')\n"
		  "         if len(p.getAttribute('d')) > 500]\n"
		  "assert len(paths) >= 4, len(paths)\n")) {
		get(in_dir("says"), out, sizeof(out));
		fail_msg("%s", out);
	}
	/* samples that are all the same, and zero, have a chart too */
	assert_int_equal(run(DIR_CASES "/allzero-0.txt", DIR_CASES "/allzero-1.txt", "--plot",
			     svg), 0);
	assert_int_equal(run(DIR_CASES "/n1-0.txt", DIR_CASES "/beyond-2.txt", "--plot", svg), 0);
	assert_string_equal(err, "");
}

static void test_plot_fails(void **state)
{
	char path[4096], svg[128], text[16];

	(void)state;
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	snprintf(svg, sizeof(svg), "%s", in_dir("plot/kept.svg"));
	put(svg, "kept", 4);
	assert_int_equal(mkdir(in_dir("bin"), 0777), 0);
	assert_int_equal(setenv("PATH", in_dir("bin"), 1), 0);
	assert_int_equal(run(PUBLISHED, "--plot", svg), DS_EXIT_SKIP);
	assert_non_null(strstr(err, "no gnuplot in PATH: install the package gnuplot-nox"));
	assert_string_equal(out, "");
	/* it fails, or it does not and leaves half a picture */
	put(in_dir("bin/gnuplot"), "#!/bin/sh\nexit 1\n", 17);
	assert_int_equal(chmod(in_dir("bin/gnuplot"), 0755), 0);
	assert_int_equal(run(PUBLISHED, "--plot", svg), DS_EXIT_ERROR);
	assert_non_null(strstr(err, "gnuplot has failed"));
	put(in_dir("bin/gnuplot"), "#!/bin/sh\necho '<svg>'\n", 23);
	assert_int_equal(run(PUBLISHED, "--plot", svg), DS_EXIT_ERROR);
	assert_int_equal(setenv("PATH", path, 1), 0);
	get(svg, text, sizeof(text));
	assert_string_equal(text, "kept");
	assert_int_equal(run(PUBLISHED, "--plot", in_dir("none/a.svg")), DS_EXIT_ERROR);
	assert_non_null(strstr(err, "No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_wrong_digit),
		cmocka_unit_test(test_stars),
		cmocka_unit_test(test_against_others),
		cmocka_unit_test(test_bootstrap),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_boots),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_bad_words),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_plot),
		cmocka_unit_test(test_plot_fails),
	};
	char command[128];
	int ret;

	snprintf(dir, sizeof(dir), "/tmp/drainstress-compare-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command) || ret;
}
