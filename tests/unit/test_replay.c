// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay files: what they may hold, that a bad line is refused by file and line,
 * that a file read and written is the same, what becomes of it in a request, and
 * that one is made as short as can be without losing the failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands.h"
#include "replay.h"

static char path[64];

static void put_text(const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

#define HEAD "format: 1\nkernel: 6.1\nviolation: I7 title\nseed: 5\nthreads: 3\ncpus: 0-1\n"

static const char good[] = HEAD "fault: none\n"
	"[race 1]\n12 fill activate 3\n13 drain local\n"
	"[race far]\n7 drain cpu 1\n[flood 2]\n5\n6 write of file 1, at 0.000001 s\n";

static void test_read(void **state)
{
	struct ds_run_opts o;
	struct ds_replay r;
	struct ds_err err;
	char name[32];

	(void)state;
	put_text(good);
	assert_int_equal(ds_replay_read(&r, path, &err), 0);
	assert_string_equal(r.violation, "I7 title");
	assert_int_equal(r.nr_actors, 3);
	assert_int_equal(ds_replay_lines(&r), 5);
	assert_int_equal(r.actors[0].index[1], 13);
	assert_string_equal(r.actors[0].words[1], "drain local");
	assert_string_equal(ds_actor_name(&r.actors[0], name, sizeof(name)), "race 1");
	assert_string_equal(ds_actor_name(&r.actors[1], name, sizeof(name)), "race far");
	assert_string_equal(ds_actor_name(&r.actors[2], name, sizeof(name)), "flood 2");
	assert_true(ds_replay_has(&r, true) && ds_replay_has(&r, false));
	assert_int_equal(ds_run_opts_from(&o, path, r.options, r.nr_options), 0);
	assert_int_equal(o.seed, 5);
	assert_int_equal(o.threads, 3);
	assert_string_equal(o.cpus, "0-1");
	assert_int_equal(o.faults.wanted, 0);
	ds_run_opts_free(&o);
	ds_replay_free(&r);
}

static void test_write(void **state)
{
	struct ds_replay r, copy;
	struct ds_err err;
	char text[sizeof(good)] = "";
	FILE *f;

	(void)state;
	put_text(good);
	assert_int_equal(ds_replay_read(&r, path, &err), 0);
	assert_int_equal(ds_replay_copy(&copy, &r), 0);
	assert_int_equal(ds_replay_write(&copy, path), 0);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text), f), sizeof(good) - 1);
	fclose(f);
	assert_memory_equal(text, good, sizeof(good) - 1);
	assert_true(ds_replay_write(&copy, "/nowhere/x") < 0);
	assert_true(ds_replay_write(&copy, "/dev/full") < 0);
	ds_replay_free(&copy);
	ds_replay_free(&r);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		const char *where;
	} rows[] = {
		{ "format: 2\n", ":1: " }, { "seed: 5\n[race 1]\n1\n", ": no 'format" },
		{ "format: 1\n[race 1]\n1\n", ": no 'seed" }, { "format: 1\nfly: 1\n", ":2: " },
		{ "format: 1\noutput: x\n", ":2: " }, { "format: 1\nseed\n", ":2: " },
		{ HEAD "[race]\n", ":7: " }, { HEAD "[race x]\n", ":7: " },
		{ HEAD "[race -1]\n", ":7: " }, { HEAD "[fly 1]\n", ":7: " },
		{ HEAD "[race 1\n", ":7: " }, { HEAD "[mix 1]\n1\n[mix 1]\n", ":9: " },
		{ HEAD "[\n", ":7: " }, { HEAD "12 fill\n", ":7: " },
		{ HEAD "[race 1]\nx\n", ":8: " }, { HEAD "[race 1]\n1x\n", ":8: " },
		{ HEAD "[race 1]\n-1\n", ":8: " },
		{ HEAD "[race 1]\n99999999999999999999\n", ":8: " },
		{ HEAD "[race 1]\nseed: 6\n", ":8: " }, { HEAD "[race 1]\n", "no decision" },
		{ "", "no 'format" },
	};
	char name[] = "replay", *argv[] = { name, path, NULL };
	struct ds_replay r;
	struct ds_err err;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		put_text(rows[i].text);
		assert_int_equal(ds_replay_read(&r, path, &err), -1);
		ds_replay_free(&r);
		assert_int_equal(err.exit, DS_EXIT_USAGE);
		assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
		if (!strstr(err.text, rows[i].where))
			fail_msg("row %u: %s", i, err.text);
		assert_int_equal(ds_cmd_replay(2, argv), DS_EXIT_USAGE);
	}
	assert_int_equal(ds_replay_read(&r, "/nowhere/x", &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	ds_replay_free(&r);
	/* an option that is known, with a value that is none */
	put_text("format: 1\nseed: many\n[race 1]\n1\n");
	assert_int_equal(ds_cmd_replay(2, argv), DS_EXIT_USAGE);
	put_text(HEAD "[flood 3]\n1\n");
	assert_int_equal(ds_cmd_replay(2, argv), DS_EXIT_USAGE);
	/* more than one actor may have */
	put_text(HEAD "[race 1]\n");
	{
		FILE *f = fopen(path, "ae");

		for (i = 0; i <= DS_DECISIONS; i++)
			fprintf(f, "%u\n", i);
		fclose(f);
	}
	assert_int_equal(ds_replay_read(&r, path, &err), -1);
	assert_non_null(strstr(err.text, ":4104: "));
	ds_replay_free(&r);
}

static void test_command_line(void **state)
{
	static const char *const bad[][4] = {
		{ NULL }, { "a", "b" }, { "a", "--tries=0" }, { "a", "--duration=x" },
		{ "a", "--limit=5s" }, { "a", "--format=xml" }, { "a", "--tries=2", "--events=e" },
		{ "a", "--shrink", "--events=e" }, { "a", "--tries=2", "--output=o" },
	};
	char name[] = "replay";
	unsigned int i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		char *argv[5] = { name }, words[4][32];

		for (k = 0; k < 4 && bad[i][k]; k++) {
			snprintf(words[k], sizeof(words[k]), "%s", bad[i][k]);
			argv[k + 1] = words[k];
		}
		assert_int_equal(ds_cmd_replay(k + 1, argv), DS_EXIT_USAGE);
	}
}

/* Runs of indices are one number each. */
static void test_pack(void **state)
{
	u64 index[] = { 5, 6, 7, 9, 8, 8, 9 }, steps[7];
	struct ds_actor a = { .nr = ARRAY_SIZE(index), .index = index };

	(void)state;
	assert_int_equal(ds_replay_pack(&a, steps), 4);
	assert_true(steps[0] == 5 * DS_SCRIPT_RUN + 2 && steps[1] == 9 * DS_SCRIPT_RUN);
	assert_true(steps[2] == 8 * DS_SCRIPT_RUN && steps[3] == 8 * DS_SCRIPT_RUN + 1);
}

static void test_load_scripts(void **state)
{
	struct ds_load_script *v;
	struct ds_replay r;
	struct ds_err err;

	(void)state;
	put_text(HEAD "[race 1]\n4\n[flood 0]\n5\n6\n[mix 2]\n8\n[mix 9]\n1\n");
	assert_int_equal(ds_replay_read(&r, path, &err), 0);
	v = ds_replay_load_scripts(&r, 3);
	assert_non_null(v);
	assert_int_equal(v[0].steps.nr, 2);
	assert_int_equal(v[0].steps.index[1], 6);
	assert_false(v[0].mix);
	assert_int_equal(v[1].steps.nr, 0);
	assert_true(v[2].mix && v[2].steps.nr == 1);
	assert_true(ds_script_index(&v[0].steps, 3) == 6 && ds_script_index(&v[1].steps, 3) == 3);
	free(v);
	ds_replay_free(&r);
}

/* ---- shrink ---- */

struct bug {
	u64 left;		/* candidates until time is up */
	bool needs_fault;
};

static bool has(const struct ds_replay *r, enum ds_actor_kind kind, u32 number, u64 index)
{
	unsigned int i, k;

	for (i = 0; i < r->nr_actors; i++) {
		const struct ds_actor *a = &r->actors[i];

		for (k = 0; k < a->nr && a->kind == kind && a->number == number; k++) {
			if (a->index[k] == index)
				return true;
		}
	}
	return false;
}

/* Wants two decisions of one kthread and one of another. */
static bool fails(void *arg, const struct ds_replay *r)
{
	struct bug *bug = arg;
	bool fault = false;
	unsigned int i;

	bug->left--;
	for (i = 0; i < r->nr_options; i++)
		fault |= !strcmp(r->options[i].value, "move");
	return has(r, DS_ACTOR_RACE, 1, 150) && has(r, DS_ACTOR_RACE, 1, 300) &&
	       has(r, DS_ACTOR_FAR, 0, 4) && (fault || !bug->needs_fault);
}

static bool over(void *arg)
{
	return !((struct bug *)arg)->left;
}

static void put_long(void)
{
	static const char *const actors[] = { "race 0", "race 1", "race far", "flood 0", "mix 1" };
	FILE *f;
	unsigned int i, k;

	put_text(HEAD "fault: move\nfault: herd\n");
	f = fopen(path, "ae");
	assert_non_null(f);
	for (i = 0; i < ARRAY_SIZE(actors); i++) {
		fprintf(f, "[%s]\n", actors[i]);
		for (k = 0; k < 400; k++)
			fprintf(f, "%u words\n", k);
	}
	assert_int_equal(fclose(f), 0);
}

static void test_shrink(void **state)
{
	struct bug bug = { .left = 1000, .needs_fault = true };
	struct ds_shrink s = { .fails = fails, .over = over, .arg = &bug };
	struct ds_replay r;
	struct ds_err err;
	unsigned int i, faults = 0;

	(void)state;
	put_long();
	assert_int_equal(ds_replay_read(&r, path, &err), 0);
	assert_int_equal(ds_replay_lines(&r), 2000);
	assert_int_equal(ds_replay_shrink(&s, &r), 0);
	assert_int_equal(ds_replay_lines(&r), 3);
	assert_true(fails(&bug, &r));
	for (i = 0; i < r.nr_options; i++)
		faults += !strcmp(r.options[i].key, "fault");
	assert_int_equal(faults, 1);
	assert_in_range(s.candidates, 10, 400);
	/* what was read is still all there */
	assert_int_equal(ds_replay_write(&r, path), 0);
	ds_replay_free(&r);
	assert_int_equal(ds_replay_read(&r, path, &err), 0);
	assert_int_equal(ds_replay_lines(&r), 3);
	assert_true(fails(&bug, &r));
	ds_replay_free(&r);
}

/* When time is up, the shortest by then. */
static void test_shrink_limit(void **state)
{
	struct bug bug = { .left = 4 };
	struct ds_shrink s = { .fails = fails, .over = over, .arg = &bug };
	struct ds_replay r;
	struct ds_err err;

	(void)state;
	put_long();
	assert_int_equal(ds_replay_read(&r, path, &err), 0);
	assert_int_equal(ds_replay_shrink(&s, &r), 0);
	assert_int_equal(s.candidates, 4);
	assert_in_range(ds_replay_lines(&r), 4, 1999);
	assert_true(has(&r, DS_ACTOR_RACE, 1, 150));
	ds_replay_free(&r);
}

static int make_path(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/drainstress-replay-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_load_scripts),
		cmocka_unit_test(test_shrink),
		cmocka_unit_test(test_shrink_limit),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
