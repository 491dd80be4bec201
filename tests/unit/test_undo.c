// SPDX-License-Identifier: GPL-2.0-only
/*
 * The undo journal, on files of a directory of the test's own: entries are undone
 * from the newest back, by the writer and by those who outlive it, after a kill at
 * any moment; nobody undoes for the living; files and paths that are not to be
 * trusted are left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "undo.h"

#define SAID_MAX 8

struct said {
	unsigned int nr;
	pid_t pid[SAID_MAX];
	int err[SAID_MAX];
	char what[SAID_MAX][DS_UNDO_TEXT];
};

static char top[64], journals[80];

static void say(void *arg, pid_t pid, int err, const char *what)
{
	struct said *s = arg;

	assert_true(s->nr < SAID_MAX);
	s->pid[s->nr] = pid;
	s->err[s->nr] = err;
	snprintf(s->what[s->nr++], DS_UNDO_TEXT, "%s", what);
}

static const char *in_top(const char *name)
{
	static char paths[4][128];
	static unsigned int n;
	char *path = paths[n++ % 4];

	snprintf(path, 128, "%s/%s", top, name);
	return path;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_holds(const char *path, const char *text)
{
	char buf[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, buf, sizeof(buf) - 1) >= 0);
	close(fd);
	assert_string_equal(buf, text);
}

/* Path of the journal of controller @pid. */
static const char *journal(pid_t pid)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/undo-%d-%d", journals, pid, pid);
	return path;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static struct ds_undo *begin(pid_t pid)
{
	char why[200] = "";
	struct ds_undo *u = ds_undo_open(pid, why, sizeof(why));

	if (!u)
		fail_msg("%s", why);
	return u;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/drainstress-undo-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(journals, sizeof(journals), "%s/journals", top);
	ds_undo_use_dir(journals);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	ds_undo_use_dir(NULL);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void test_own_undo(void **state)
{
	struct said s = { 0 };
	struct ds_undo *u = begin(getpid());
	int slot, other;

	(void)state;
	put(in_top("a"), "1");
	slot = ds_undo_push(u, DS_UNDO_WRITE, in_top("a"), "1");
	assert_true(slot >= 0);
	other = ds_undo_push(u, DS_UNDO_UNLINK, in_top("b"), NULL);
	assert_true(other >= 0 && other != slot);
	put(in_top("a"), "0");
	assert_int_equal(ds_undo_do(u, slot), 0);
	assert_holds(in_top("a"), "1");
	/* forgotten: it is not done again */
	put(in_top("a"), "2");
	assert_int_equal(ds_undo_do(u, slot), -EINVAL);
	assert_int_equal(ds_undo_pop(u, other), 0);
	put(in_top("b"), "");
	ds_undo_close(u, say, &s);
	assert_int_equal(s.nr, 0);
	assert_holds(in_top("a"), "2");
	assert_true(exists(in_top("b")));
	assert_false(exists(journal(getpid())));
}

/* The newest first, and with the words for each. */
static void test_reverse(void **state)
{
	struct said s = { 0 };
	struct ds_undo *u = begin(getpid());

	(void)state;
	put(in_top("a"), "9");
	assert_true(ds_undo_push(u, DS_UNDO_WRITE, in_top("a"), "1") >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_RMDIR, in_top("dir"), NULL) >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_UNLINK, in_top("dir/file"), NULL) >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_WRITE, in_top("a"), "2") >= 0);
	/* there already, or not there: nothing is said */
	assert_true(ds_undo_push(u, DS_UNDO_WRITE, in_top("a"), "9") >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_UNLINK, in_top("none"), NULL) >= 0);
	assert_int_equal(mkdir(in_top("dir"), 0700), 0);
	put(in_top("dir/file"), "x");
	ds_undo_close(u, say, &s);
	assert_int_equal(s.nr, 4);
	assert_non_null(strstr(s.what[0], "/a is 2 again"));
	assert_non_null(strstr(s.what[1], "/dir/file is removed"));
	assert_non_null(strstr(s.what[2], "/dir is removed"));
	assert_non_null(strstr(s.what[3], "/a is 1 again"));
	assert_int_equal(s.pid[0], getpid());
	assert_holds(in_top("a"), "1");
	assert_false(exists(in_top("dir")));
}

/* What cannot be undone stays, is said, and is done by the next. */
static void test_stays(void **state)
{
	struct said s = { 0 };
	struct ds_undo *u = begin(getpid());
	int status;
	pid_t pid;

	(void)state;
	assert_true(ds_undo_push(u, DS_UNDO_RMDIR, in_top("dir"), NULL) >= 0);
	assert_int_equal(mkdir(in_top("dir"), 0700), 0);
	put(in_top("dir/file"), "x");
	ds_undo_close(u, say, &s);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.err[0], ENOTEMPTY);
	assert_true(exists(journal(getpid())));
	unlink(in_top("dir/file"));
	/* the writer lives: not for others */
	pid = fork();
	if (!pid)
		_exit(ds_undo_all(getppid(), 20, NULL, NULL) == -EBUSY ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* nor done by itself in this way */
	assert_int_equal(ds_undo_all(getpid(), 20, say, &s), 0);
	ds_undo_stale(say, &s);
	assert_true(exists(in_top("dir")));
	assert_int_equal(s.nr, 1);
	rmdir(in_top("dir"));
	unlink(journal(getpid()));
}

static void test_refused_paths(void **state)
{
	static const struct {
		enum ds_undo_kind kind;
		const char *path, *text;
	} bad[] = {
		{ DS_UNDO_WRITE, "/etc/passwd", "x" },
		{ DS_UNDO_WRITE, "/proc/self/mem", "x" },
		{ DS_UNDO_WRITE, "sys/kernel/mm/lru_gen/enabled", "x" },
		{ DS_UNDO_WRITE, "/sys/../etc/passwd", "x" },
		{ DS_UNDO_WRITE, "/sys//kernel/x", "x" },
		{ DS_UNDO_WRITE, "/sys/kernel/x", "a\tb" },
		{ DS_UNDO_WRITE, "/sys/kernel/x\ny", "x" },
		{ DS_UNDO_WRITE, "", "x" },
		{ DS_UNDO_SWAPOFF, "/dev/sda1", NULL },
		{ DS_UNDO_SWAPOFF, "/sys/x", NULL },
		{ DS_UNDO_UNLINK, "/sys/x", NULL },
		{ DS_UNDO_UNLINK, "/tmp/x", NULL },
		{ DS_UNDO_RMDIR, "/sys/fs/cgroup/x", NULL },
		{ DS_UNDO_TREE, "/home/x", NULL },
		{ DS_UNDO_TREE, "/sys/x", NULL },
		{ DS_UNDO_ZRAM, "/sys/x", "/sys/block/zram1/disksize" },
		{ DS_NR_UNDO, "/sys/x", NULL },
	};
	struct ds_undo *u = begin(getpid());
	char path[600];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (ds_undo_push(u, bad[i].kind, bad[i].path, bad[i].text) != -EINVAL)
			fail_msg("%s was taken", bad[i].path);
	}
	snprintf(path, sizeof(path), "/sys/%0*d", 500, 0);
	assert_int_equal(ds_undo_push(u, DS_UNDO_WRITE, path, "x"), -EINVAL);
	assert_int_equal(ds_undo_push(u, DS_UNDO_WRITE, "/sys/x", path), -EINVAL);
	ds_undo_close(u, NULL, NULL);
	assert_false(exists(journal(getpid())));
}

/* Directories of files go with all that is in them, but only one of the project's name. */
static void test_tree(void **state)
{
	struct said s = { 0 };
	struct ds_undo *u = begin(getpid());

	(void)state;
	assert_int_equal(mkdir(in_top("drainstress-1.sparse"), 0700), 0);
	assert_int_equal(mkdir(in_top("drainstress-1.sparse/d000"), 0700), 0);
	put(in_top("drainstress-1.sparse/d000/f0000"), "x");
	put(in_top("drainstress-1.sparse/d000/f0001"), "x");
	put(in_top("drainstress-1.sparse/f"), "x");
	put(in_top("a"), "1");
	assert_int_equal(symlink("..", in_top("drainstress-1.sparse/up")), 0);
	assert_int_equal(mkdir(in_top("other"), 0700), 0);
	put(in_top("other/file"), "x");
	assert_true(ds_undo_push(u, DS_UNDO_TREE, in_top("other"), NULL) >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_TREE, in_top("drainstress-2.none"), NULL) >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_TREE, in_top("drainstress-1.sparse"), NULL) >= 0);
	ds_undo_close(u, say, &s);
	assert_int_equal(s.nr, 2);
	assert_non_null(strstr(s.what[0], "drainstress-1.sparse is removed"));
	assert_int_equal(s.err[0], 0);
	assert_int_equal(s.err[1], EINVAL);
	assert_false(exists(in_top("drainstress-1.sparse")));
	assert_holds(in_top("a"), "1");
	assert_true(exists(in_top("other/file")));
}

static void test_full(void **state)
{
	struct ds_undo *u = begin(getpid());
	int i, slots[DS_UNDO_SLOTS];

	(void)state;
	for (i = 0; i < DS_UNDO_SLOTS; i++) {
		slots[i] = ds_undo_push(u, DS_UNDO_UNLINK, in_top("none"), NULL);
		assert_true(slots[i] >= 0);
	}
	assert_int_equal(ds_undo_push(u, DS_UNDO_UNLINK, in_top("none"), NULL), -EAGAIN);
	assert_int_equal(ds_undo_pop(u, slots[7]), 0);
	assert_int_equal(ds_undo_push(u, DS_UNDO_UNLINK, in_top("none"), NULL), slots[7]);
	ds_undo_close(u, NULL, NULL);
}

/* Waits until the file holds @text. */
static void wait_for(const char *path, const char *text)
{
	struct timespec ts = { .tv_nsec = 1000000L };
	char buf[64] = "";
	unsigned int i;
	int fd;

	for (i = 0; i < 10000 && strcmp(buf, text); i++) {
		nanosleep(&ts, NULL);
		memset(buf, 0, sizeof(buf));
		fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		if (read(fd, buf, sizeof(buf) - 1) < 0)
			buf[0] = '\0';
		close(fd);
	}
	assert_string_equal(buf, text);
}

/* A writer that is killed while "a" is changed.  Its controller is itself. */
static pid_t killed_writer(bool reap)
{
	pid_t pid;

	put(in_top("a"), "1");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct ds_undo *u = begin(getpid());

		if (ds_undo_push(u, DS_UNDO_WRITE, in_top("a"), "1") < 0)
			_exit(1);
		put(in_top("a"), "0");
		for (;;)
			pause();
	}
	wait_for(in_top("a"), "0");
	kill(pid, SIGKILL);
	if (reap)
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void test_killed(void **state)
{
	struct said s = { 0 };
	pid_t pid = killed_writer(true);

	(void)state;
	assert_int_equal(ds_undo_all(pid, 0, say, &s), 0);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.pid[0], pid);
	assert_holds(in_top("a"), "1");
	assert_false(exists(journal(pid)));
	assert_int_equal(ds_undo_all(pid, 0, say, &s), 0);
	assert_int_equal(s.nr, 1);
}

/* One that nobody has reaped is as dead. */
static void test_stale(void **state)
{
	struct said s = { 0 };
	pid_t pid = killed_writer(false), other;
	unsigned int i;

	(void)state;
	for (i = 0; i < 100 && !s.nr; i++) {
		usleep(10000);
		ds_undo_stale(say, &s);
	}
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.pid[0], pid);
	assert_holds(in_top("a"), "1");
	assert_false(exists(journal(pid)));
	waitpid(pid, NULL, 0);

	/* of an earlier boot, or of a pid that came again: as the first line says */
	other = killed_writer(true);
	put(in_top("a"), "0");
	{
		int fd = open(journal(other), O_RDWR);
		char line[512], *boot;

		assert_int_equal(pread(fd, line, sizeof(line), 0), sizeof(line));
		line[511] = '\0';
		boot = strrchr(line, '-');
		assert_non_null(boot);
		boot[1] = boot[1] == '0' ? '1' : '0';
		line[511] = '\n';
		assert_int_equal(pwrite(fd, line, sizeof(line), 0), sizeof(line));
		close(fd);
	}
	ds_undo_stale(say, &s);
	assert_int_equal(s.nr, 1);
	assert_holds(in_top("a"), "0");
	assert_false(exists(journal(other)));
}

/* Killed at random moments between two changes: all is as before afterwards. */
static void test_killed_any_time(void **state)
{
	unsigned int round;
	pid_t pid;

	(void)state;
	put(in_top("a"), "1");
	put(in_top("b"), "1");
	for (round = 0; round < 40; round++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			struct ds_undo *u = begin(getpid());
			int a, b, i;

			for (i = 0; ; i++) {
				a = ds_undo_push(u, DS_UNDO_WRITE, in_top("a"), "1");
				put(in_top("a"), "0");
				b = ds_undo_push(u, DS_UNDO_UNLINK, in_top("new"), NULL);
				put(in_top("new"), "0");
				if (a < 0 || b < 0 || ds_undo_do(u, b) || ds_undo_do(u, a))
					_exit(1);
			}
		}
		usleep(1000 + round * 517);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		ds_undo_stale(NULL, NULL);
		assert_holds(in_top("a"), "1");
		assert_false(exists(in_top("new")));
		assert_false(exists(journal(pid)));
	}
}

/* Root does what stands there: only if nobody else can have written it. */
static void test_untrusted(void **state)
{
	struct said s = { 0 };
	pid_t pid = killed_writer(true);

	(void)state;
	assert_int_equal(chmod(journal(pid), 0644), 0);
	ds_undo_stale(say, &s);
	assert_int_equal(ds_undo_all(pid, 0, say, &s), 0);
	assert_holds(in_top("a"), "0");
	assert_int_equal(chmod(journal(pid), 0600), 0);
	assert_int_equal(chmod(journals, 0755), 0);
	ds_undo_stale(say, &s);
	assert_holds(in_top("a"), "0");
	assert_int_equal(chmod(journals, 0700), 0);
	assert_int_equal(s.nr, 0);
	ds_undo_stale(say, &s);
	assert_int_equal(s.nr, 1);
	assert_holds(in_top("a"), "1");
}

/* A line of a path that is not the load's is not done. */
static void test_forged_line(void **state)
{
	struct said s = { 0 };
	pid_t pid = killed_writer(true);
	char line[512], text[128];
	int fd;

	(void)state;
	fd = open("/tmp/undo-victim", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	close(fd);
	memset(line, ' ', sizeof(line));
	snprintf(text, sizeof(text), "99\tunlink\t/tmp/undo-victim\t\t");
	memcpy(line, text, strlen(text));
	line[511] = '\n';
	fd = open(journal(pid), O_RDWR);
	assert_int_equal(pwrite(fd, line, sizeof(line), 2 * sizeof(line)), sizeof(line));
	close(fd);
	ds_undo_stale(say, &s);
	assert_int_equal(s.nr, 1);
	assert_holds(in_top("a"), "1");
	assert_true(exists("/tmp/undo-victim"));
	unlink("/tmp/undo-victim");
}

/* Broken files of all kinds are no reason to die. */
static void test_broken_files(void **state)
{
	struct said s = { 0 };
	pid_t pid = killed_writer(true);
	char path[128];
	int i, fd;

	(void)state;
	for (i = 0; i < 2000; i += 37) {
		char junk[2048];

		memset(junk, i % 2 ? '\t' : '7', sizeof(junk));
		snprintf(path, sizeof(path), "%s", journal(pid));
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(write(fd, junk, i), i);
		close(fd);
		ds_undo_stale(say, &s);
		assert_int_equal(s.nr, 0);
		assert_false(exists(path));
	}
}

/* A device that was about to be made goes, unless it is set up or was never made. */
static void test_zram(void **state)
{
	struct said s = { 0 };
	struct ds_undo *u = begin(getpid());

	(void)state;
	put(in_top("hot_remove"), "");
	assert_int_equal(mkdir(in_top("zram7"), 0700), 0);
	assert_int_equal(mkdir(in_top("zram8"), 0700), 0);
	put(in_top("zram7/disksize"), "67108864\n");
	put(in_top("zram8/disksize"), "0\n");
	assert_true(ds_undo_push(u, DS_UNDO_ZRAM, in_top("hot_remove"),
				 in_top("zram8/disksize")) >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_ZRAM, in_top("hot_remove"),
				 in_top("zram7/disksize")) >= 0);
	assert_true(ds_undo_push(u, DS_UNDO_ZRAM, in_top("hot_remove"),
				 in_top("zram9/disksize")) >= 0);
	ds_undo_close(u, say, &s);
	assert_holds(in_top("hot_remove"), "8");
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.err[0], 0);
	assert_string_equal(s.what[0], "/dev/zram8 is removed");
	assert_false(exists(journal(getpid())));
}

/* Two who change something for one controller, in a journal each. */
static void test_two_writers(void **state)
{
	struct said s = { 0 };
	struct ds_undo *u = begin(getpid());
	pid_t pid = fork();

	(void)state;
	put(in_top("a"), "1");
	put(in_top("b"), "1");
	if (!pid) {
		struct ds_undo *mine = begin(getppid());

		if (ds_undo_push(mine, DS_UNDO_WRITE, in_top("a"), "0") < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(ds_undo_push(u, DS_UNDO_WRITE, in_top("b"), "0") >= 0);
	assert_int_equal(ds_undo_all(getpid(), 0, say, &s), 0);
	assert_int_equal(s.nr, 1);
	assert_holds(in_top("a"), "0");
	assert_holds(in_top("b"), "1");
	ds_undo_close(u, say, &s);
	assert_int_equal(s.nr, 2);
	assert_holds(in_top("b"), "0");
}

static void *many_pushes(void *arg)
{
	struct ds_undo *u = arg;
	int i, slot;

	for (i = 0; i < 500; i++) {
		slot = ds_undo_push(u, DS_UNDO_UNLINK, in_top("none"), NULL);
		if (slot < 0 || ds_undo_do(u, slot))
			return u;
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct ds_undo *u = begin(getpid());
	pthread_t ids[4];
	void *bad;
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, many_pushes, u), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(ids[i], &bad), 0);
		assert_null(bad);
	}
	ds_undo_close(u, NULL, NULL);
	assert_false(exists(journal(getpid())));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_undo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reverse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stale, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_any_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_untrusted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_forged_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_broken_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_zram, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_two_writers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
