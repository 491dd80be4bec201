// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job files: what they may hold, how they and the command line go together, and
 * that a bad line is refused by file and line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run_opts.h"

#define EXAMPLE "docs/examples/soak.job"

static char path[64];

/* A file of these bytes. */
static void put(const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

/* Parses "drainctl WORD... --job path"; @o is to be freed. */
static int parse(struct ds_run_opts *o, const char *const *words)
{
	char name[] = "drainctl", job[] = "--job", *argv[16] = { name };
	int argc = 1, ret;

	while (words && *words)
		argv[argc++] = strdup(*words++);
	argv[argc++] = job;
	argv[argc++] = path;
	ret = ds_run_opts_parse(o, argc, argv);
	while (argc-- > 3)
		free(argv[argc - 2]);
	return ret;
}

static void test_read(void **state)
{
	struct ds_job job;
	struct ds_err err;

	(void)state;
	put_text("# c\n ; c = d\r\n\n[ run ]\nthreads = 4 \r\n\tno-race\nmix=a=1,b=2\nquiet=");
	assert_int_equal(ds_job_read(&job, path, &err), 0);
	assert_int_equal(job.nr, 4);
	assert_string_equal(job.v[0].key, "threads");
	assert_string_equal(job.v[0].value, "4");
	assert_int_equal(job.v[0].line, 5);
	assert_string_equal(job.v[1].key, "no-race");
	assert_null(job.v[1].value);
	assert_string_equal(job.v[2].value, "a=1,b=2");
	assert_string_equal(job.v[3].value, "");
	assert_int_equal(job.v[3].line, 8);
	ds_job_free(&job);
	put_text("");
	assert_int_equal(ds_job_read(&job, path, &err), 0);
	assert_int_equal(job.nr, 0);
	ds_job_free(&job);
}

static void refuse(const char *text, size_t len, unsigned int line, const char *what)
{
	struct ds_job job;
	struct ds_err err;
	char where[96];

	put(text, len);
	assert_int_equal(ds_job_read(&job, path, &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	snprintf(where, sizeof(where), "%s:%u: ", path, line);
	if (strncmp(err.text, where, strlen(where)) || !strstr(err.text, what))
		fail_msg("'%s' in place of '%s...%s'", err.text, where, what);
	ds_job_free(&job);
}

static void test_bad_form(void **state)
{
	static const char nul[] = "[run]\nthr\0eads=1\n";
	char many[8 + 8 * (DS_JOB_OPTIONS + 1)];
	unsigned int i;

	(void)state;
	refuse("threads=1\n", 10, 1, "stands before [run]");
	refuse("[run]\n\n[job]\n", 13, 3, "[job]");
	refuse("[run\n", 5, 1, "']'");
	refuse("[run] x\n", 8, 1, "behind a section");
	refuse("[run]\n=1\n", 9, 2, "name of an option");
	refuse(nul, sizeof(nul) - 1, 2, "NUL");
	snprintf(many, sizeof(many), "[run]\n");
	for (i = 0; i <= DS_JOB_OPTIONS; i++)
		strcat(many, "dir=/t\n");
	refuse(many, strlen(many), DS_JOB_OPTIONS + 2, "at most");
}

static void test_unreadable(void **state)
{
	char *big = calloc(1, 70000);
	struct ds_job job;
	struct ds_err err;

	(void)state;
	assert_non_null(big);
	assert_int_equal(ds_job_read(&job, "/nonexistent", &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	assert_non_null(strstr(err.text, "--job /nonexistent: No such file"));
	ds_job_free(&job);
	assert_int_equal(ds_job_read(&job, "/tmp", &err), -1);
	assert_int_equal(err.exit, DS_EXIT_USAGE);
	ds_job_free(&job);
	memset(big, '\n', 70000);
	put(big, 70000);
	assert_int_equal(ds_job_read(&job, path, &err), -1);
	assert_non_null(strstr(err.text, "longer"));
	ds_job_free(&job);
	free(big);
}

/* Each of these lines is refused, with the number of the line. */
static void test_bad_values(void **state)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "threads=0", "--threads '0': takes" },
		{ "threads", "threads: takes a value" },
		{ "threads=", "threads: takes a value" },
		{ "thread=4", "'thread': takes the options" },
		{ "--threads=4", "'--threads': takes the options" },
		{ "t=4", "'t': takes the options" },
		{ "job=/tmp/x", "'job': takes the options" },
		{ "help", "'help': takes the options" },
		{ "no-race=yes", "no-race=yes: takes 1, or 0" },
		{ "no-race=", "no-race=: takes 1, or 0" },
		{ "fs=ext3", "--fs 'ext3': takes" },
		{ "preset=none", "--preset 'none': takes" },
		{ "memory=1", "--memory '1': takes" },
		{ "known=/nonexistent", "--known" },
		{ "duration=5 # s", "--duration '5 # s': takes" },
		{ "seed=2", "seed stands in line 2 already" },
		{ "quiet=1", "quiet stands in line 3 already" },
	};
	static const char * const more[] = { "--threads=7", NULL };
	char text[256], want[300], got[1024];
	struct ds_run_opts o;
	unsigned int i;
	ssize_t n;
	int fds[2], old, ret;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "[run]\nseed=1\nquiet\n%s\n", bad[i].line);
		put_text(text);
		assert_int_equal(pipe(fds), 0);
		fflush(stderr);
		old = dup(2);
		dup2(fds[1], 2);
		/* what replaces a value does not make it good */
		ret = parse(&o, more);
		fflush(stderr);
		dup2(old, 2);
		close(old);
		close(fds[1]);
		n = read(fds[0], got, sizeof(got) - 1);
		close(fds[0]);
		got[n > 0 ? n : 0] = '\0';
		ds_run_opts_free(&o);
		assert_int_equal(ret, DS_EXIT_USAGE);
		snprintf(want, sizeof(want), "%s:4: %s", path, bad[i].says);
		if (strncmp(got, want, strlen(want)))
			fail_msg("'%s': '%s' in place of '%s'", bad[i].line, got, want);
	}
}

static void test_values(void **state)
{
	struct ds_run_opts o;
	char buf[1024];

	(void)state;
	put_text("[run]\nthreads=5\nseed=9\nmemory=64M\nduration=2m\nno-race=1\nkeep-going\n"
		 "no-kmsg=0\npreset=mlock\nmix=write=20,read=5\nfs=tmpfs\nfs=btrfs\ndir=/a b\n"
		 "dir=/c\ncpus=0-3,5\n[run]\nstutter=0\n");
	assert_int_equal(parse(&o, NULL), 0);
	assert_true(o.no_race && o.keep_going);
	assert_false(o.no_kmsg);
	assert_int_equal(o.nr_dirs, 2);
	/* what is repeated is the run, not the file */
	ds_run_repeat(&o, buf, sizeof(buf));
	assert_string_equal(buf,
			    "drainctl run --threads 5 --duration 120s --seed 9 --preset mlock --mix write=20,read=5 --memory 65536K --fs tmpfs --fs btrfs --dir '/a b' --dir /c --cpus 0-3,5 --stutter 0 --no-race --keep-going");
	ds_run_opts_free(&o);
}

/* The command line goes before the file, wherever it stands. */
static void test_override(void **state)
{
	static const char *const words[] = { "-t", "7", "--fs", "xfs", "--dir=/d", "--dir=/e",
		NULL };
	char name[] = "drainctl", job[] = "--job", threads[] = "--threads=7", again[] = "-t3";
	char help[] = "--version", fault[] = "--fault=mlock";
	char *argv[6] = { name, job, path, threads, again };
	struct ds_run_opts o;

	(void)state;
	put_text("[run]\nthreads=5\nseed=9\nfs=tmpfs\nfs=ext4\ndir=/a\ndir=/b\ndir=/c\n");
	assert_int_equal(parse(&o, words), 0);
	assert_int_equal(o.threads, 7);
	assert_int_equal(o.seed, 9);
	assert_int_equal(o.fs_mask, DS_OWN_FS_BIT(DS_OWN_XFS));
	assert_int_equal(o.nr_dirs, 2);
	ds_run_opts_free(&o);
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), 0);
	assert_int_equal(o.threads, 3);
	assert_int_equal(o.nr_dirs, 3);
	ds_run_opts_free(&o);
	/* faults are repeated too, and replaced together */
	put_text("[run]\nfault=move=us:7\nfault=herd\n");
	assert_int_equal(ds_run_opts_parse(&o, 3, argv), 0);
	assert_int_equal(o.faults.nr_words, 2);
	assert_int_equal(o.faults.wanted,
			 DS_FAULT_BIT(DS_FAULT_MOVE) | DS_FAULT_BIT(DS_FAULT_HERD));
	ds_run_opts_free(&o);
	argv[3] = fault;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), 0);
	assert_int_equal(o.faults.nr_words, 1);
	assert_int_equal(o.faults.wanted, DS_FAULT_BIT(DS_FAULT_MLOCK));
	assert_int_equal(o.faults.args[DS_FAULT_MOVE].max_us,
			 ds_fault_rows[DS_FAULT_MOVE].defaults.max_us);
	ds_run_opts_free(&o);
	/* together they are judged as one */
	put_text("[run]\nno-load\n");
	argv[3] = threads;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), 0);
	ds_run_opts_free(&o);
	put_text("[run]\nno-load\nno-race\n");
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), DS_EXIT_USAGE);
	ds_run_opts_free(&o);
	/* one file, and none where only the version is asked for */
	argv[3] = job;
	argv[4] = path;
	put_text("[run]\nnonsense\n");
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), DS_EXIT_USAGE);
	ds_run_opts_free(&o);
	argv[3] = help;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), DS_ARGS_ANSWERED);
	ds_run_opts_free(&o);
}

static void test_example(void **state)
{
	char name[] = "drainctl", job[] = "--job=" EXAMPLE;
	char *argv[3] = { name, job };
	struct ds_run_opts o;

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, 2, argv), 0);
	assert_int_equal(o.threads, 64);
	assert_int_equal(o.duration_ms, 600000);
	assert_int_equal(o.interval_ms, 10000);
	assert_string_equal(o.preset, "soak");
	assert_int_equal(o.choice.weights[ds_op_find("write")], 20);
	assert_int_equal(o.fs_mask, DS_OWN_FS_BIT(DS_OWN_TMPFS) | DS_OWN_FS_BIT(DS_OWN_EXT4));
	assert_false(o.keep_going);
	ds_run_opts_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_bad_form),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_override),
		cmocka_unit_test(test_example),
	};
	int fd, ret;

	snprintf(path, sizeof(path), "/tmp/drainstress-job-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
