// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures of the load's allocations (truncate, page faults, io_uring), made by
 * the kernel's own framework: Documentation/fault-injection/fault-injection.rst.
 * Only tasks that are marked fail, and only the load is.  How the settings are put
 * back stands in a journal of the controller's (stress/undo.c), for those who
 * outlive it.  It decides nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
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
} files[] = {
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

/*
 * The journal gets what the files hold; one that is not there is none of ours.  What
 * comes last is undone first: nothing fails while the filter for tasks goes.
 * Return: 0 or -errno.
 */
static int save_dir(struct ds_undo *undo, const char *root, unsigned int d)
{
	char path[256], text[32];
	int slot = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(files) && slot >= 0; i++) {
		file_name(root, d, files[i].name, path, sizeof(path));
		if (ds_read_text(path, text, sizeof(text)))
			continue;
		slot = ds_undo_push(undo, DS_UNDO_WRITE, path, text);
	}
	file_name(root, d, files[0].name, path, sizeof(path));
	if (slot >= 0)
		slot = ds_undo_push(undo, DS_UNDO_WRITE, path, files[0].value);
	return slot < 0 ? slot : 0;
}

static int set_dir(const char *root, unsigned int d, const char *one_in)
{
	unsigned int i;
	char path[256];
	int ret;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		file_name(root, d, files[i].name, path, sizeof(path));
		if (access(path, F_OK))
			continue;
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
 * @why: on an error what failed
 *
 * Return: 0 or -1.
 */
int ds_alloc_fail_prepare(struct ds_alloc_fail *a, const char *root, u32 one_in, char *why,
			  size_t len)
{
	unsigned int d;
	char text[16];
	int ret = 0;

	memset(a, 0, sizeof(*a));
	a->root = root;
	snprintf(text, sizeof(text), "%u", one_in);
	a->undo = ds_undo_open(getpid(), why, len);
	if (!a->undo)
		return -1;
	for (d = 0; d < DS_ALLOC_DIRS && !ret; d++) {
		a->found[d] = has_dir(root, d);
		if (a->found[d])
			ret = save_dir(a->undo, root, d);
		if (a->found[d] && !ret)
			ret = set_dir(root, d, text);
		if (ret)
			snprintf(why, len, "%s: %s", dirs[d], strerror(-ret));
	}
	return ret ? -1 : 0;
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

static void note_first(void *arg, pid_t pid, int err, const char *what)
{
	int *first = arg;

	(void)pid;
	(void)what;
	*first = *first ? *first : -err;
}

/**
 * ds_alloc_fail_end() - put everything back; may be called twice
 *
 * Return: 0, or -errno of the first setting that could not be put back: it stays in
 * the journal, and the next run tries again.
 */
int ds_alloc_fail_end(struct ds_alloc_fail *a)
{
	int ret = 0;

	ds_undo_close(a->undo, note_first, &ret);
	a->undo = NULL;
	return ret;
}
