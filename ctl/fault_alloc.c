// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures of the load's allocations (truncate, page faults, io_uring), made by
 * the kernel's own framework: Documentation/fault-injection/fault-injection.rst.
 * Only tasks that are marked fail, and only the load is.  The settings are put back
 * at the end, by a guard process when the controller has died.  It decides nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "opts.h"
#include "text.h"

#define CONFIGS "CONFIG_FAULT_INJECTION=y, CONFIG_FAULT_INJECTION_DEBUG_FS=y, and CONFIG_FAILSLAB=y or CONFIG_FAIL_PAGE_ALLOC=y"
#define TIMES 1000000000ULL	/* counted down by each failure */

static const char * const dirs[DS_ALLOC_DIRS] = { "failslab", "fail_page_alloc" };

/*
 * In the order in which they are set; put back the other way round.  Neither
 * directory has all of them.  @value NULL: one in so many.
 */
static const struct {
	const char *name;
	const char *value;
} files[DS_ALLOC_FILES] = {
	{ "probability", "0" },		/* until the load has been set up */
	{ "interval", NULL },
	{ "times", "1000000000" },
	{ "verbose", "0" },
	{ "task-filter", "Y" },
	{ "ignore-gfp-wait", "N" },
	{ "ignore-gfp-highmem", "N" },
	{ "min-order", "0" },
};

static void file_name(const char *root, unsigned int dir, const char *name, char *buf, size_t len)
{
	snprintf(buf, len, "%s/sys/kernel/debug/%s%s%s", root, dirs[dir], name[0] ? "/" : "", name);
}

static bool has_dir(const char *root, unsigned int dir)
{
	char path[256];
	struct stat st;

	file_name(root, dir, "", path, sizeof(path));
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/**
 * ds_alloc_fail_available() - can allocations be made to fail here?
 * @root: "", or where a test has its /proc and /sys
 * @why: gets the reason when not, with the configuration that would bring it
 */
bool ds_alloc_fail_available(const char *root, char *why, size_t len)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/proc/self/make-it-fail", root);
	if (access(path, W_OK)) {
		snprintf(why, len, "this kernel cannot fail allocations: " CONFIGS
			 " would bring it");
		return false;
	}
	if (has_dir(root, 0) || has_dir(root, 1))
		return true;
	snprintf(why, len, "debugfs has no failslab: mount it on %s; %s would bring it",
		 "/sys/kernel/debug", CONFIGS);
	return false;
}

static int put_back(const struct ds_alloc_fail *a)
{
	unsigned int d, i, last;
	int one, ret = 0;
	char path[256];

	for (d = 0; d < DS_ALLOC_DIRS; d++) {
		file_name(a->root, d, files[0].name, path, sizeof(path));
		if (a->found[d])
			ds_write_text(path, "0");
		for (i = 0; a->found[d] && i < DS_ALLOC_FILES; i++) {
			last = DS_ALLOC_FILES - 1 - i;
			if (!a->saved[d][last][0])
				continue;
			file_name(a->root, d, files[last].name, path, sizeof(path));
			one = ds_write_text(path, a->saved[d][last]);
			ret = ret ? ret : one;
		}
	}
	return ret;
}

/* Ends when the controller closes its end of the pipe, or dies. */
static void __noreturn guard_main(const struct ds_alloc_fail *a, int fd)
{
	char c;

	prctl(PR_SET_NAME, "drainctl-guard");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* an inherited netlink socket would keep the run's ownership */
	if (dup2(fd, 0) < 0 || close_range(1, ~0U, 0))
		_exit(1);
	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	_exit(put_back(a) ? 1 : 0);
}

static int start_guard(struct ds_alloc_fail *a)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	a->guard_pid = fork();
	if (!a->guard_pid) {
		close(fds[1]);
		guard_main(a, fds[0]);
	}
	close(fds[0]);
	a->guard_fd = fds[1];
	if (a->guard_pid > 0)
		return 0;
	close(fds[1]);
	return -EAGAIN;
}

/* What it holds is kept; a file that is not there is none of ours. */
static int set_dir(struct ds_alloc_fail *a, unsigned int d, const char *one_in)
{
	char path[256];
	unsigned int i;
	int ret;

	for (i = 0; i < DS_ALLOC_FILES; i++) {
		if (!a->saved[d][i][0])
			continue;
		file_name(a->root, d, files[i].name, path, sizeof(path));
		ret = ds_write_text(path, files[i].value ? files[i].value : one_in);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ds_alloc_fail_prepare() - set everything but the probability
 * @a: overwritten; to be given to ds_alloc_fail_end() also after an error
 * @root: as for ds_alloc_fail_available()
 * @one_in: one allocation of the load in so many
 *
 * Return: 0 or -errno.
 */
int ds_alloc_fail_prepare(struct ds_alloc_fail *a, const char *root, u32 one_in)
{
	char path[256], text[16];
	unsigned int d, i;
	int ret;

	memset(a, 0, sizeof(*a));
	a->root = root;
	snprintf(text, sizeof(text), "%u", one_in);
	for (d = 0; d < DS_ALLOC_DIRS; d++) {
		a->found[d] = has_dir(root, d);
		for (i = 0; a->found[d] && i < DS_ALLOC_FILES; i++) {
			file_name(root, d, files[i].name, path, sizeof(path));
			if (ds_read_text(path, a->saved[d][i], sizeof(a->saved[d][i])))
				a->saved[d][i][0] = '\0';
		}
	}
	ret = start_guard(a);
	if (ret)
		return ret;
	a->on = true;
	for (d = 0; d < DS_ALLOC_DIRS && !ret; d++)
		ret = a->found[d] ? set_dir(a, d, text) : 0;
	return ret;
}

/**
 * ds_alloc_fail_mark() - what this process forks from now on fails, or no more
 *
 * Return: 0 or -errno.
 */
int ds_alloc_fail_mark(const struct ds_alloc_fail *a, bool on)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/proc/self/make-it-fail", a->root);
	return ds_write_text(path, on ? "1" : "0");
}

/**
 * ds_alloc_fail_go() - the load is ready: let it fail
 *
 * Return: 0 or -errno.
 */
int ds_alloc_fail_go(const struct ds_alloc_fail *a)
{
	char path[256];
	unsigned int d;
	int ret = 0;

	for (d = 0; d < DS_ALLOC_DIRS && !ret; d++) {
		file_name(a->root, d, files[0].name, path, sizeof(path));
		ret = a->found[d] ? ds_write_text(path, "100") : 0;
	}
	return ret;
}

/**
 * ds_alloc_fail_count() - how many allocations have failed
 */
u64 ds_alloc_fail_count(const struct ds_alloc_fail *a)
{
	char path[256], text[32];
	u64 left, sum = 0;
	unsigned int d;

	for (d = 0; d < DS_ALLOC_DIRS; d++) {
		file_name(a->root, d, "times", path, sizeof(path));
		if (a->found[d] && !ds_read_text(path, text, sizeof(text)) &&
		    !ds_opt_number(text, 0, TIMES, &left))
			sum += TIMES - left;
	}
	return sum;
}

/**
 * ds_alloc_fail_end() - put everything back; may be called twice
 *
 * Return: 0, or -errno of the first setting that could not be put back.
 */
int ds_alloc_fail_end(struct ds_alloc_fail *a)
{
	int ret;

	if (!a->on)
		return 0;
	a->on = false;
	ret = put_back(a);
	/* the load may still hold its copy of the pipe: do not wait for its end */
	kill(a->guard_pid, SIGKILL);
	waitpid(a->guard_pid, NULL, 0);
	close(a->guard_fd);
	return ret;
}
