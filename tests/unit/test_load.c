// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load on its own, without the module: small and short.  It works by every
 * method this host has, reaps what it submits, leaves nothing, and dies with
 * its controller.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "load.h"
#include "report.h"

#define MEMORY (64ULL << 20)

#define set_text(array, text) snprintf(array, sizeof(array), "%s", text)

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L };

	nanosleep(&ts, NULL);
}

static struct ds_load_params params_for(const char *method)
{
	struct ds_load_params p = {
		.threads = 4, .seed = 42, .memory = MEMORY, .no_disk = true,
	};
	struct ds_method_probe probe;
	char why[256];

	ds_methods_probe(&probe);
	if (ds_methods_choose(method, &probe, &p.choice, why, sizeof(why))) {
		print_message("%s: %s\n", method, why);
		p.threads = 0;
	}
	return p;
}

static u64 missing(struct ds_report *r, const struct ds_load *l)
{
	struct ds_latency_sum s;

	r->nr_notes = 0;
	ds_report_take_truncates(r, l);
	ds_latency_sum(&r->latency[DS_LATENCY_TRUNCATE], &s);
	assert_int_equal(s.count + s.missing, r->load.all_truncates);
	assert_int_equal(r->nr_notes, !!s.missing);
	if (s.missing)
		assert_non_null(strstr(r->notes[0], "latency of truncate: "));
	return s.missing;
}

/* Each truncate is in the histogram of its thread, and one that is lost is noticed. */
static void check_timed(const struct ds_load *l, const struct ds_load_totals *t)
{
	struct ds_report *r = calloc(1, sizeof(*r));
	struct drainstress_hist *h = NULL;
	unsigned int i, m, b;

	assert_non_null(r);
	r->load = *t;
	assert_true(t->all_truncates > 0);
	assert_int_equal(missing(r, l), 0);
	for (i = 0; i < l->slots; i++) {
		u64 mine = l->sh->slots[i].mix_truncates;

		for (m = 0; m < ds_nr_methods; m++)
			mine += l->sh->slots[i].truncates[m];
		assert_int_equal(ds_load_hist(l, i)->count, mine);
		if (mine)
			h = &l->hist[i].h;
	}
	assert_non_null(h);
	assert_true(h->max > 0);
	/* planted: a thread that loses a value, and one that never counted it */
	for (b = 0; !h->bucket[b]; b++)
		;
	h->bucket[b]--;
	assert_int_equal(missing(r, l), 1);
	h->count--;
	assert_int_equal(missing(r, l), 1);
	free(r);
}

/* Run it until it has worked a little; the totals in @t. */
static void run_load(const struct ds_load_params *p, struct ds_load_totals *t)
{
	unsigned int waited;
	struct ds_load l;
	int status = -1;

	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), 0);
	ds_load_sum(&l, t);
	assert_int_equal(t->steps, 0);
	ds_load_go(&l);
	for (waited = 0; waited < 20000 && t->all_truncates < 50; waited += 10) {
		sleep_ms(10);
		ds_load_sum(&l, t);
	}
	ds_load_stop(&l);
	assert_int_equal(ds_load_wait(&l, 20000, &status), 0);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	ds_load_sum(&l, t);
	assert_int_equal(t->finished, l.sh->threads);
	check_timed(&l, t);
	ds_load_free(&l);
}

static void test_methods(void **state)
{
	struct ds_load_totals t;
	struct ds_load_params p;
	unsigned int i, m;

	(void)state;
	for (i = 0; i <= ds_nr_methods; i++) {
		p = params_for(i < ds_nr_methods ? ds_methods[i].name : DS_METHOD_AUTO);
		if (!p.threads)
			continue;
		run_load(&p, &t);
		assert_true(t.all_truncates > 0);
		assert_true(t.pages > 0);
		assert_int_equal(t.submitted, t.reaped);
		assert_int_equal(t.dropped, 0);
		assert_int_equal(t.broken, 0);
		assert_int_equal(t.other_errors, 0);
		assert_int_equal(t.all_truncates, t.steps);
		/* what was not asked for was not used */
		for (m = 0; i < ds_nr_methods && m < ds_nr_methods; m++)
			assert_true(m == i || !t.truncates[m]);
	}
}

static void test_choose(void **state)
{
	struct ds_method_probe p = { .available = 0xf };
	struct ds_method_choice c;
	char why[256];

	(void)state;
	assert_int_equal(ds_methods_choose("auto", &p, &c, why, sizeof(why)), 0);
	assert_int_equal(c.nr_ring, 1);
	assert_string_equal(ds_methods[c.ring[0]].name, "io_uring");
	assert_int_equal(c.syscall_share, 1);
	/* 6.1: no IORING_OP_FTRUNCATE, so the others in turn */
	p.available &= ~(1U << ds_method_find("io_uring"));
	assert_int_equal(ds_methods_choose("auto", &p, &c, why, sizeof(why)), 0);
	assert_int_equal(c.nr_ring, 2);
	assert_int_equal(ds_methods_choose("io_uring", &p, &c, why, sizeof(why)), -EOPNOTSUPP);
	assert_non_null(strstr(why, "6.9"));
	assert_int_equal(ds_methods_choose("nothing", &p, &c, why, sizeof(why)), -EINVAL);
	p.ring_error = EPERM;
	set_text(p.ring_text, "forbidden");
	assert_int_equal(ds_methods_choose("auto", &p, &c, why, sizeof(why)), -EOPNOTSUPP);
	assert_string_equal(why, "forbidden");
	assert_int_equal(ds_methods_choose("syscall", &p, &c, why, sizeof(why)), 0);
	assert_int_equal(c.nr_ring, 0);
	assert_int_equal(c.syscall_share, 8);
}

/* A directory given with --dir: it works there, and nothing stays. */
static void test_dir(void **state)
{
	char dir[] = "/tmp/drainstress-test-XXXXXX";
	struct ds_load_params p = params_for("syscall");
	const char *dirs[1] = { dir };
	struct ds_load_totals t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	p.dirs = dirs;
	p.nr_dirs = 1;
	p.no_tmpfs = true;
	run_load(&p, &t);
	assert_true(t.all_truncates > 0);
	/* fails when anything is left */
	assert_int_equal(rmdir(dir), 0);
}

static void expect_failure(const struct ds_load_params *p, const char *says)
{
	struct ds_load l;
	int status;

	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), -ECANCELED);
	if (!strstr(l.sh->text, says))
		fail_msg("'%s' does not say '%s'", l.sh->text, says);
	ds_load_kill(&l);
	ds_load_wait(&l, 5000, &status);
	ds_load_free(&l);
}

/*
 * A file system that the controller made: the load has its descriptor, and no
 * other but the standard ones and what it opens itself.
 */
static void test_own(void **state)
{
	struct ds_load_params p = params_for("syscall");
	struct ds_place own[2] = { { .fd = -1 } };
	int other[4], extra[2], status, i;
	struct ds_load_totals t;
	struct ds_load l;
	char c;

	(void)state;
	/* gaps on all sides, and the second before the first */
	for (i = 0; i < 4; i++)
		other[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(other[1]);
	close(other[3]);
	for (i = 1; i >= 0; i--) {
		own[i].fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
		own[i].disk = true;
		snprintf(own[i].name, sizeof(own[i].name), "own %d", i);
	}
	p.own = own;
	p.nr_own = 2;
	p.no_tmpfs = true;
	run_load(&p, &t);
	assert_true(t.all_truncates > 0);
	assert_int_equal(t.other_errors, 0);

	/* a pipe's end that it kept would keep the reader waiting */
	assert_int_equal(pipe(extra), 0);
	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, &p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), 0);
	if (strcmp(l.sh->places, "own 0, own 1"))
		fail_msg("places are '%s'", l.sh->places);
	close(extra[1]);
	assert_int_equal(read(extra[0], &c, 1), 0);
	ds_load_kill(&l);
	assert_int_equal(ds_load_wait(&l, 5000, &status), 0);
	ds_load_free(&l);
	close(extra[0]);
	close(own[0].fd);
	close(own[1].fd);
	close(other[0]);
	close(other[2]);
}

static void test_bad_places(void **state)
{
	struct ds_load_params p = params_for("syscall");
	const char *dirs[1] = { "/nonexistent/dir" };

	(void)state;
	p.dirs = dirs;
	p.nr_dirs = 1;
	expect_failure(&p, "/nonexistent/dir: No such file");
	dirs[0] = "/proc";
	expect_failure(&p, "/proc: no file can be made there");
	p.nr_dirs = 0;
	p.memory = 64 << 10;
	expect_failure(&p, "--memory");
}

/* Few descriptors or little memory: fewer threads, and it says so. */
static void test_limits(void **state)
{
	struct ds_load_params p = params_for("auto");
	struct rlimit old, low = { .rlim_cur = 64, .rlim_max = 64 };
	struct ds_load l;
	int status;

	(void)state;
	if (!p.threads)
		skip();
	memset(&l, 0, sizeof(l));
	p.threads = 512;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low.rlim_max = old.rlim_max;
	/* the load raises the soft limit, so the hard one has to be low: in a child */
	l.pid = fork();
	if (!l.pid) {
		low.rlim_max = 64;
		if (setrlimit(RLIMIT_NOFILE, &low) || ds_load_start(&l, &p) ||
		    ds_load_wait_ready(&l, 20000))
			_exit(1);
		if (!l.sh->threads || l.sh->threads >= 512 || !strstr(l.sh->notes[0], "RLIMIT"))
			_exit(2);
		ds_load_go(&l);
		sleep_ms(100);
		ds_load_stop(&l);
		_exit(ds_load_wait(&l, 20000, &status) || status ? 3 : 0);
	}
	assert_int_equal(waitpid(l.pid, &status, 0), l.pid);
	assert_int_equal(status, 0);
}

/* SIGKILL of the controller takes the load along. */
static void test_dies_with_controller(void **state)
{
	struct ds_load_params p = params_for("syscall");
	int pipes[2], status, i;
	struct ds_load l;
	pid_t pid, load = 0;

	(void)state;
	memset(&l, 0, sizeof(l));
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		if (ds_load_start(&l, &p) || ds_load_wait_ready(&l, 20000))
			_exit(1);
		ds_load_go(&l);
		if (write(pipes[1], &l.pid, sizeof(l.pid)) != sizeof(l.pid))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &load, sizeof(load)), sizeof(load));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* it becomes somebody else's zombie or is reaped: it must not run */
	for (i = 0; i < 500; i++) {
		char path[64], line[256] = "", *state_at;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/stat", load);
		f = fopen(path, "re");
		if (!f)
			break;
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		fclose(f);
		state_at = strrchr(line, ')');
		if (!state_at || state_at[2] == 'Z' || state_at[2] == 'X')
			break;
		sleep_ms(10);
	}
	assert_true(i < 500);
	close(pipes[0]);
	close(pipes[1]);
}

/* A killed load is noticed, not waited for. */
static void test_killed(void **state)
{
	struct ds_load_params p = params_for("syscall");
	struct ds_load l;
	int status = 0;

	(void)state;
	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, &p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), 0);
	assert_int_equal(ds_load_wait(&l, 0, &status), -ETIMEDOUT);
	ds_load_kill(&l);
	assert_int_equal(ds_load_wait(&l, 5000, &status), 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(ds_load_wait(&l, 0, &status), -ECHILD);
	ds_load_free(&l);
}

/* The control group: made where there is version 2, and gone afterwards. */
static void test_cgroup(void **state)
{
	struct ds_load_params p = params_for("syscall");
	struct ds_load_totals t;
	struct ds_cgroup cg;
	char note[256], dir[256], path[400];

	(void)state;
	if (ds_cgroup_make(&cg, MEMORY, note, sizeof(note))) {
		print_message("%s\n", note);
		assert_string_not_equal(note, "");
		skip();
	}
	snprintf(dir, sizeof(dir), "%s", cg.dir);
	assert_int_equal(access(dir, F_OK), 0);
	p.procs = cg.procs;
	snprintf(path, sizeof(path), "%s/load/cgroup.procs", dir);
	assert_string_equal(cg.procs, path);
	/* an operation's that was left behind */
	snprintf(path, sizeof(path), "%s/op", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	run_load(&p, &t);
	assert_true(t.all_truncates > 0);
	assert_int_equal(ds_cgroup_oom_kills(&cg), 0);
	assert_int_equal(ds_cgroup_remove(&cg, 2000), 0);
	assert_int_not_equal(access(dir, F_OK), 0);
	assert_int_equal(ds_cgroup_remove(&cg, 0), 0);
}

/* Removing is about directories alone, and no deeper than our own groups are. */
static void test_cgroup_rmdir(void **state)
{
	char dir[] = "/tmp/drainstress-rmdir-XXXXXX", path[64];
	int i, fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "%s/group-%d", dir, i);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/group-7/deeper", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(ds_cgroup_rmdir(dir), -ENOTEMPTY);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(ds_cgroup_rmdir(dir), -ENOTEMPTY);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ds_cgroup_rmdir(dir), 0);
	assert_int_equal(ds_cgroup_rmdir(dir), -ENOENT);
}

/* SIGKILL of whoever made the group: the guard removes it. */
static void test_cgroup_guard(void **state)
{
	char note[256], dir[256] = "";
	int pipes[2], status, i;
	struct ds_cgroup cg;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		if (ds_cgroup_make(&cg, MEMORY, note, sizeof(note)))
			_exit(1);
		if (write(pipes[1], cg.dir, sizeof(dir)) != sizeof(dir))
			_exit(1);
		pause();
	}
	close(pipes[1]);
	if (read(pipes[0], dir, sizeof(dir)) != sizeof(dir)) {
		waitpid(pid, &status, 0);
		skip();
	}
	assert_int_equal(access(dir, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (i = 0; i < 500 && !access(dir, F_OK); i++)
		sleep_ms(10);
	assert_int_not_equal(access(dir, F_OK), 0);
	close(pipes[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_dir),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_bad_places),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_dies_with_controller),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_cgroup_rmdir),
		cmocka_unit_test(test_cgroup_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
