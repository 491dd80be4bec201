// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine waits for when a run hangs: the tasks in uninterruptible
 * sleep with their stacks, and the disks with requests under way.  A disk whose
 * requests never end (an interrupt that was lost, say) and a lock that nobody
 * gives back look alike from a thread of the load; here they differ.  It only
 * reads /proc and /sys, so the kernel log stays as the kernel wrote it.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hang.h"

#define TASKS_SHOWN 24	/* many more wait for the same thing */

static ssize_t read_text(const char *path, char *buf, size_t len)
{
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buf[0] = '\0';
	if (fd < 0)
		return -1;
	n = read(fd, buf, len - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

/* "pid (comm) state ...": comm may hold anything, parentheses too. */
static char task_state(const char *stat, char *comm, size_t len)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');

	if (!open || !close || close < open || close[1] != ' ')
		return '?';
	snprintf(comm, len, "%.*s", (int)(close - open - 1), open + 1);
	return close[2];
}

static void show_task(FILE *f, const char *what, const char *dir, const char *tid,
		      const char *comm)
{
	char path[512], stack[2048], *line, *rest = NULL;

	snprintf(path, sizeof(path), "%s/%.32s/stack", dir, tid);
	read_text(path, stack, sizeof(stack));
	fprintf(f, "%s: %s (%s)%s\n", what, tid, comm,
		stack[0] ? "" : ": its stack cannot be read");
	for (line = strtok_r(stack, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(f, "    %s\n", line);
}

/**
 * ds_hang_thread() - print the state and the stack of a thread that does not get on
 * @proc:    "/proc" or what stands for it
 * @pid, @tid: of it
 *
 * Whatever it does: one that runs, or waits for a CPU, is shown as well, but without
 * its stack.  Where a function on it has a return probe, looking at the stack of a task
 * that runs makes the kernel warn (rethook_find_ret_addr(), kernel/trace/rethook.c).
 */
void ds_hang_thread(FILE *f, const char *proc, int pid, u32 tid)
{
	char dir[256], path[300], name[16], stat[512], comm[64] = "", what[32], state;

	snprintf(dir, sizeof(dir), "%s/%d/task", proc, pid);
	snprintf(name, sizeof(name), "%u", tid);
	snprintf(path, sizeof(path), "%s/%s/stat", dir, name);
	read_text(path, stat, sizeof(stat));
	state = task_state(stat, comm, sizeof(comm));
	snprintf(what, sizeof(what), "stands still, state %c", state);
	if (state == 'R')
		fprintf(f, "%s: %s (%s): it runs: no stack\n", what, name, comm);
	else
		show_task(f, what, dir, name, comm);
}

/* The threads of one process. */
static unsigned int blocked_threads(FILE *f, const char *dir, unsigned int shown)
{
	char path[512], stat[512], comm[64];
	unsigned int nr = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.32s/stat", dir, e->d_name);
		if (read_text(path, stat, sizeof(stat)) <= 0 ||
		    task_state(stat, comm, sizeof(comm)) != 'D')
			continue;
		if (shown + nr++ < TASKS_SHOWN)
			show_task(f, "blocked", dir, e->d_name, comm);
	}
	closedir(d);
	return nr;
}

static unsigned int blocked_tasks(FILE *f, const char *proc)
{
	unsigned int nr = 0;
	struct dirent *e;
	char path[300];
	DIR *d = opendir(proc);

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.32s/task", proc, e->d_name);
		nr += blocked_threads(f, path, nr);
	}
	closedir(d);
	return nr;
}

/* /sys/block/DISK/inflight: "reads writes" that the device has not answered */
static void busy_disks(FILE *f, const char *sysfs)
{
	char path[512], text[64];
	unsigned long rd, wr;
	unsigned int nr = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/block", sysfs);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/block/%s/inflight", sysfs, e->d_name);
		if (e->d_name[0] == '.' || read_text(path, text, sizeof(text)) <= 0 ||
		    sscanf(text, "%lu %lu", &rd, &wr) != 2 || !(rd + wr))
			continue;
		fprintf(f, "disk %s: %lu reads and %lu writes under way\n", e->d_name, rd, wr);
		nr++;
	}
	if (d)
		closedir(d);
	if (!nr)
		fputs("no disk has requests under way\n", f);
}

/**
 * ds_hang_describe() - print what waits, to be read beside a HANG
 * @f:	 where to
 * @proc, @sysfs: "/proc" and "/sys", or what stands for them
 *
 * At most 24 tasks are printed with their stacks (which only root may read), the
 * rest is counted.
 *
 * Return: tasks in uninterruptible sleep.
 */
unsigned int ds_hang_describe(FILE *f, const char *proc, const char *sysfs)
{
	unsigned int nr = blocked_tasks(f, proc);

	if (nr > TASKS_SHOWN)
		fprintf(f, "and %u blocked tasks more\n", nr - TASKS_SHOWN);
	else if (!nr)
		fputs("no task is in uninterruptible sleep\n", f);
	busy_disks(f, sysfs);
	fflush(f);
	return nr;
}
