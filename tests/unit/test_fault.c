// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: that their decisions are a pure function, how often and for how long one
 * happens, what --fault takes and refuses, the request to the module, and that the
 * settings of the kernel's own fault injection are put back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault.h"
#include "run_opts.h"

#define HITS 100000U

/* Written down once: another formula would make old seeds repeat nothing. */
static void test_pure(void **state)
{
	static const struct {
		u64 seed;
		u32 fault, cpu;
		u64 index;
		u64 random;
	} rows[] = {
		{ 0, 1, 0, 0, 0xb18a02f46d8d86c3ULL },
		{ 4711, DS_FAULT_MOVE, 3, 17, 0x299293e2be2330e0ULL },
		{ ~0ULL, DS_FAULT_HERD, 0, 1ULL << 40, 0xbb167bfbc149ee1eULL },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(ds_random_at(rows[i].seed, rows[i].fault, rows[i].cpu,
					 rows[i].index) == rows[i].random);
}

/* Each argument decides: no two streams are the same one, or one shifted. */
static void test_streams_differ(void **state)
{
	u64 base = ds_random_at(1, 2, 3, 4);

	(void)state;
	assert_true(base == ds_random_at(1, 2, 3, 4));
	assert_true(base != ds_random_at(2, 2, 3, 4));
	assert_true(base != ds_random_at(1, 3, 3, 4));
	assert_true(base != ds_random_at(1, 2, 4, 4));
	assert_true(base != ds_random_at(1, 2, 3, 5));
	assert_true(ds_random_at(1, 2, 3, 4) != ds_random_at(1, 2, 4, 3));
}

static void test_rate(void **state)
{
	struct ds_fault_args a = { .one_in = 64, .min_us = 5, .max_us = 50 };
	u32 us, done = 0, least = ~0U, most = 0;
	u64 i;

	(void)state;
	for (i = 0; i < HITS; i++) {
		us = ds_fault_us(&a, ds_random_at(7, DS_FAULT_MOVE, 0, i));
		if (!us)
			continue;
		done++;
		least = us < least ? us : least;
		most = us > most ? us : most;
	}
	assert_in_range(done, HITS / 64 * 8 / 10, HITS / 64 * 12 / 10);
	assert_int_equal(least, 5);
	assert_int_equal(most, 50);
	a.one_in = 1;
	for (i = 0; i < 1000; i++)
		assert_in_range(ds_fault_us(&a, ds_random_at(7, 1, 0, i)), 5, 50);
	a.min_us = DS_FAULT_US_MAX;
	a.max_us = DS_FAULT_US_MAX;
	assert_int_equal(ds_fault_us(&a, 12345), DS_FAULT_US_MAX);
}

static void test_wait(void **state)
{
	struct ds_fault_args a = { .every_ms = 20 };
	u64 sum = 0, i;
	u32 us;

	(void)state;
	for (i = 0; i < HITS; i++) {
		us = ds_fault_wait_us(&a, ds_random_at(7, DS_FAULT_HERD, 0, i));
		assert_in_range(us, 1, 40000);
		sum += us;
	}
	assert_in_range(sum / HITS, 19000, 21000);
	/* the longest that can be asked for does not overflow */
	a.every_ms = DS_FAULT_EVERY_MAX_MS;
	assert_in_range(ds_fault_wait_us(&a, ~0ULL), 1, 2000 * DS_FAULT_EVERY_MAX_MS);
}

/* What the table says can be asked for as it stands. */
static void test_table(void **state)
{
	struct ds_fault_opts o;
	char word[128], why[512];
	u32 id;

	(void)state;
	for (id = 1; id < DS_FAULTS_END; id++) {
		const struct ds_fault_args *a = &ds_fault_rows[id].defaults;
		int n = snprintf(word, sizeof(word), "%s=", ds_fault_rows[id].name);

		assert_true(!a->one_in != !a->every_ms);
		assert_true(a->min_us <= a->max_us);
		assert_int_equal(!a->min_us, !a->max_us);
		ds_fault_args_text(a, word + n, sizeof(word) - n);
		ds_fault_default(&o);
		assert_int_equal(ds_fault_take(&o, word, why, sizeof(why)), 0);
		assert_int_equal(o.wanted, DS_FAULT_BIT(id));
		assert_int_equal(o.named, DS_FAULT_BIT(id));
		assert_memory_equal(&o.args[id], a, sizeof(*a));
	}
}

static void test_take(void **state)
{
	static const char * const bad[] = {
		"", "bogus", "mov", "movee", "move=", "move=,", "move=prob:1/0", "move=prob:2/4",
		"move=prob:1/1000001", "move=prob:1/-1", "move=us:0-5", "move=us:6-5",
		"move=us:5-2001", "move=us:5-", "move=us:-5", "move=every:5", "move=us:1-2,x",
		"herd=us:5-50", "herd=prob:1/2", "herd=every:0", "herd=every:60001", "none=1",
		"all=prob:1/2", "early-flush=every:", "alloc-fail=us:1-2",
	};
	struct ds_fault_opts o;
	char why[512], wordy[400];
	unsigned int i;
	size_t n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ds_fault_default(&o);
		why[0] = '\0';
		assert_int_equal(ds_fault_take(&o, bad[i], why, sizeof(why)), -EINVAL);
		assert_non_null(strstr(why, "take"));
	}
	/* not cut where it is too long, as what is left might be right */
	n = snprintf(wordy, sizeof(wordy), "move=");
	while (n + 6 < sizeof(wordy))
		n += snprintf(wordy + n, sizeof(wordy) - n, "us:50,");
	snprintf(wordy + n - 1, 2, "x");
	ds_fault_default(&o);
	assert_int_equal(ds_fault_take(&o, wordy, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "longer than"));
	ds_fault_default(&o);
	assert_int_equal(o.wanted, DS_FAULT_MODULE);
	assert_int_equal(ds_fault_take(&o, "move=prob:1/8,us:7", why, sizeof(why)), 0);
	assert_int_equal(o.args[DS_FAULT_MOVE].one_in, 8);
	assert_int_equal(o.args[DS_FAULT_MOVE].min_us, 7);
	assert_int_equal(o.args[DS_FAULT_MOVE].max_us, 7);
	assert_int_equal(ds_fault_take(&o, "herd=every:3", why, sizeof(why)), 0);
	assert_int_equal(o.wanted, DS_FAULT_BIT(DS_FAULT_MOVE) | DS_FAULT_BIT(DS_FAULT_HERD));
	/* what was named stays so, and keeps its arguments */
	assert_int_equal(ds_fault_take(&o, "all", why, sizeof(why)), 0);
	assert_int_equal(o.wanted, DS_FAULT_BIT(DS_FAULTS_END) - 1);
	assert_int_equal(o.named, DS_FAULT_BIT(DS_FAULT_MOVE) | DS_FAULT_BIT(DS_FAULT_HERD));
	assert_int_equal(o.args[DS_FAULT_MOVE].one_in, 8);
	assert_int_equal(ds_fault_take(&o, "none", why, sizeof(why)), 0);
	assert_int_equal(o.wanted, 0);
	assert_int_equal(o.named, 0);
}

/* The options of a run: the default goes with the race, words are repeated. */
static void test_run(void **state)
{
	char run[] = "run", no_race[] = "--no-race", bare[] = "--bare-race", fault[] = "--fault";
	char move[] = "move", herd[] = "herd=every:9", bogus[] = "bogus";
	char *argv[7] = { run, no_race, fault, move, fault, herd, NULL };
	char *plain[4] = { run, bare, NULL };
	struct ds_run_opts o;
	char text[1024];

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, 1, argv), 0);
	assert_int_equal(o.faults.wanted, DS_FAULT_MODULE);
	ds_run_repeat(&o, text, sizeof(text));
	assert_null(strstr(text, "--fault"));
	assert_int_equal(ds_run_opts_parse(&o, 2, argv), 0);
	assert_int_equal(o.faults.wanted, 0);
	assert_int_equal(ds_run_opts_parse(&o, 2, plain), 0);
	assert_int_equal(o.faults.wanted, 0);
	assert_int_equal(ds_run_opts_parse(&o, 6, argv), 0);
	assert_int_equal(o.faults.wanted,
			 DS_FAULT_BIT(DS_FAULT_MOVE) | DS_FAULT_BIT(DS_FAULT_HERD));
	ds_run_repeat(&o, text, sizeof(text));
	assert_non_null(strstr(text, " --fault move --fault herd=every:9"));
	plain[1] = fault;
	plain[2] = bogus;
	assert_int_equal(ds_run_opts_parse(&o, 3, plain), DS_EXIT_USAGE);
}

static void test_settle(void **state)
{
	struct ds_item items[DS_NR_FAULTS];
	struct ds_msg caps = { .items = items, .nr_items = DS_NR_FAULTS };
	struct ds_fault_opts o;
	struct ds_err err;
	char why[512];
	u32 id;

	(void)state;
	memset(items, 0, sizeof(items));
	for (id = 1; id <= DS_NR_FAULTS; id++) {
		items[id - 1].class = DS_CLASS_FAULT;
		items[id - 1].id = id;
		items[id - 1].available = id != DS_FAULT_MLOCK;
	}
	snprintf(items[DS_FAULT_MLOCK - 1].reason, sizeof(items[0].reason), "no mlock here");
	ds_fault_default(&o);
	assert_int_equal(ds_fault_settle(&o, &caps, &err), 0);
	assert_int_equal(o.wanted, DS_FAULT_MODULE & ~DS_FAULT_BIT(DS_FAULT_MLOCK));
	ds_fault_take(&o, "mlock", why, sizeof(why));
	assert_int_equal(ds_fault_settle(&o, &caps, &err), -1);
	assert_int_equal(err.exit, DS_EXIT_SKIP);
	assert_non_null(strstr(err.text, "--fault mlock"));
	assert_non_null(strstr(err.text, "no mlock here"));
	/* an older module knows fewer */
	caps.nr_items = 1;
	ds_fault_default(&o);
	assert_int_equal(ds_fault_settle(&o, &caps, &err), 0);
	assert_int_equal(o.wanted, DS_FAULT_BIT(1));
}

static void test_request(void **state)
{
	struct ds_arg args[DS_FAULT_REQUEST];
	struct ds_fault_opts o;
	char why[512];
	unsigned int i, n;
	int depth = 0;

	(void)state;
	ds_fault_default(&o);
	n = ds_fault_request(&o, args);
	assert_in_range(n, 2 + 3 * DS_NR_FAULTS, DS_FAULT_REQUEST);
	for (i = 0; i < n; i++) {
		depth += args[i].type == DS_ARG_NEST;
		depth -= args[i].type == DS_ARG_NEST_END;
		assert_in_range(depth, i + 1 < n, 2);
	}
	assert_int_equal(depth, 0);
	ds_fault_take(&o, "disable-window=us:9-10,every:3", why, sizeof(why));
	n = ds_fault_request(&o, args);
	assert_int_equal(n, 8);
	assert_int_equal(args[0].attr, DS_A_FAULTS);
	assert_int_equal(args[1].attr, DS_A_FAULT);
	assert_int_equal(args[2].attr, DS_FA_ID);
	assert_int_equal(args[2].num, DS_FAULT_DISABLE_WINDOW);
	assert_int_equal(args[3].attr, DS_FA_MIN_US);
	assert_int_equal(args[3].num, 9);
	assert_int_equal(args[4].attr, DS_FA_MAX_US);
	assert_int_equal(args[4].num, 10);
	assert_int_equal(args[5].attr, DS_FA_EVERY_MS);
	assert_int_equal(args[5].num, 3);
	ds_fault_take(&o, "none", why, sizeof(why));
	ds_fault_take(&o, "alloc-fail", why, sizeof(why));
	assert_int_equal(ds_fault_request(&o, args), 0);
}

/* ---- the kernel's own fault injection, in a folder ---- */

static char root[32], journals[48];

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void make_dir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void drop(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(unlink(path), 0);
}

static void holds(const char *name, const char *text)
{
	char path[256], buf[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(buf, sizeof(buf), f));
	fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	assert_string_equal(buf, text);
}

#define DEBUG "sys/kernel/debug/"

static unsigned int nr_journals(void)
{
	DIR *d = opendir(journals);
	unsigned int nr = 0;
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		nr += e->d_name[0] != '.';
	closedir(d);
	return nr;
}

static void count(void *arg, pid_t pid, int err, const char *what)
{
	(void)pid;
	assert_int_equal(err, 0);
	assert_non_null(strstr(what, "failslab/"));
	++*(unsigned int *)arg;
}

/* A controller that lets allocations fail and is killed.  Return: its pid. */
static pid_t kill_beside(const char *where)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		struct ds_alloc_fail a;
		char why[512];

		if (ds_alloc_fail_prepare(&a, where, 9, why, sizeof(why)) || ds_alloc_fail_go(&a))
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return pid;
}

static void test_alloc_fail(void **state)
{
	struct ds_alloc_fail a;
	char why[512], command[160];
	unsigned int said;
	pid_t pid;

	(void)state;
	snprintf(root, sizeof(root), "/tmp/drainstress-fault-XXXXXX");
	assert_non_null(mkdtemp(root));
	/* which a journal only trusts to a folder of the project's */
	snprintf(journals, sizeof(journals), "%s/journals", root);
	ds_undo_use_dir(journals);
	assert_false(ds_alloc_fail_available(root, why, sizeof(why)));
	assert_non_null(strstr(why, "CONFIG_FAULT_INJECTION=y"));
	assert_non_null(strstr(why, "CONFIG_FAULT_INJECTION_DEBUG_FS=y"));
	assert_non_null(strstr(why, "CONFIG_FAILSLAB=y"));
	assert_non_null(strstr(why, "CONFIG_FAIL_PAGE_ALLOC=y"));
	make_dir("proc");
	make_dir("proc/self");
	put("proc/self/make-it-fail", "0\n");
	make_dir("sys");
	make_dir("sys/kernel");
	make_dir("sys/kernel/debug");
	assert_false(ds_alloc_fail_available(root, why, sizeof(why)));
	assert_non_null(strstr(why, "mount it on /sys/kernel/debug"));
	make_dir(DEBUG "failslab");
	assert_true(ds_alloc_fail_available(root, why, sizeof(why)));
	put(DEBUG "failslab/probability", "3\n");
	put(DEBUG "failslab/interval", "5\n");
	put(DEBUG "failslab/times", "-1\n");
	put(DEBUG "failslab/task-filter", "N\n");
	put(DEBUG "failslab/verbose", "2\n");

	assert_int_equal(ds_alloc_fail_prepare(&a, root, 77, why, sizeof(why)), 0);
	holds(DEBUG "failslab/probability", "0");
	holds(DEBUG "failslab/interval", "77");
	holds(DEBUG "failslab/task-filter", "Y");
	holds(DEBUG "failslab/verbose", "0");
	assert_int_equal(ds_alloc_fail_mark(&a, true), 0);
	holds("proc/self/make-it-fail", "1");
	assert_int_equal(ds_alloc_fail_mark(&a, false), 0);
	holds("proc/self/make-it-fail", "0");
	assert_int_equal(ds_alloc_fail_go(&a), 0);
	holds(DEBUG "failslab/probability", "100");
	assert_int_equal(ds_alloc_fail_count(&a), 0);
	put(DEBUG "failslab/times", "999999990\n");
	assert_int_equal(ds_alloc_fail_count(&a), 10);
	assert_int_equal(ds_alloc_fail_end(&a), 0);
	assert_int_equal(ds_alloc_fail_end(&a), 0);
	holds(DEBUG "failslab/probability", "3");
	holds(DEBUG "failslab/interval", "5");
	holds(DEBUG "failslab/times", "-1");
	holds(DEBUG "failslab/task-filter", "N");
	holds(DEBUG "failslab/verbose", "2");

	/* what cannot be put back is told, all else is put back, and the rest stays */
	assert_int_equal(ds_alloc_fail_prepare(&a, root, 9, why, sizeof(why)), 0);
	drop(DEBUG "failslab/interval");
	make_dir(DEBUG "failslab/interval");
	assert_int_equal(ds_alloc_fail_end(&a), -EISDIR);
	holds(DEBUG "failslab/probability", "3");
	holds(DEBUG "failslab/verbose", "2");
	assert_int_equal(nr_journals(), 1);
	snprintf(command, sizeof(command), "rm -r %s/" DEBUG "failslab/interval %s/*", root,
		 journals);
	assert_int_equal(system(command), 0);
	put(DEBUG "failslab/interval", "5\n");

	/* all are killed: who cleans up puts it back and says so, as a guard would */
	kill_beside(root);
	holds(DEBUG "failslab/probability", "100");
	holds(DEBUG "failslab/task-filter", "Y");
	said = 0;
	ds_undo_stale(count, &said);
	assert_int_equal(said, 6);
	holds(DEBUG "failslab/probability", "3");
	holds(DEBUG "failslab/interval", "5");
	holds(DEBUG "failslab/task-filter", "N");
	holds(DEBUG "failslab/verbose", "2");
	assert_int_equal(nr_journals(), 0);
	ds_undo_stale(count, &said);
	assert_int_equal(said, 6);
	pid = kill_beside(root);
	assert_int_equal(ds_undo_all(pid, 0, NULL, NULL), 0);
	holds(DEBUG "failslab/probability", "3");
	holds(DEBUG "failslab/interval", "5");
	ds_undo_use_dir(NULL);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pure),
		cmocka_unit_test(test_streams_differ),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_alloc_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
