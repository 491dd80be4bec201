// SPDX-License-Identifier: GPL-2.0-only
/*
 * A version 2 control group for the load, with a memory limit where the memory
 * controller can be had, and one in which nobody is, for the module's own files.
 * A host without it only loses the limit and a check.  The groups are called
 * drainstress-PID and drainstress-PID-own, so that two runs do not meet.  The load
 * is in drainstress-PID/load: only a group without processes hands the memory
 * controller to groups below it, and operations make some.  A guard process removes
 * a group, and those below, when the controller is killed, and undoes what the load
 * changed of the machine; should that be killed too, the next run does it
 * (stale.c).  It moves nobody: the child enters by itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "text.h"

#define PREFIX "drainstress-"
#define OWN "-own"
#define LOAD "load"
#define GUARD_MS 10000
#define STALE_MS 2000

static int find_mount(char *dir, size_t len)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char buf[4096];
	int ret = -ENOENT;

	if (!f)
		return -errno;
	while (ret && getmntent_r(f, &m, buf, sizeof(buf))) {
		if (strcmp(m.mnt_type, "cgroup2") || strlen(m.mnt_dir) >= len)
			continue;
		snprintf(dir, len, "%s", m.mnt_dir);
		ret = 0;
	}
	endmntent(f);
	return ret;
}

/**
 * ds_cgroup_rmdir() - remove a group and those right below it, where nobody is
 * @dir: a group of ours: whatever is below it is ours too, and no deeper
 *
 * Safe in a signal handler.
 *
 * Return: 0 or -errno; -EBUSY while there is a process in one of them.
 */
int ds_cgroup_rmdir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char buf[1024] __aligned(8);
	ssize_t n, at;

	if (fd < 0)
		return -errno;
	while ((n = getdents64(fd, buf, sizeof(buf))) > 0) {
		struct dirent64 *e;

		for (at = 0; at < n; at += e->d_reclen) {
			e = (struct dirent64 *)(buf + at);
			if (e->d_type == DT_DIR && strcmp(e->d_name, ".") &&
			    strcmp(e->d_name, ".."))
				unlinkat(fd, e->d_name, AT_REMOVEDIR);
		}
	}
	close(fd);
	return rmdir(dir) ? -errno : 0;
}

static int remove_dir(const char *dir, unsigned int timeout_ms)
{
	struct timespec ts = { .tv_nsec = 10 * 1000000L };
	unsigned int waited;
	int ret;

	for (waited = 0; (ret = ds_cgroup_rmdir(dir)); waited += 10) {
		if (ret == -ENOENT)
			break;
		if (ret != -EBUSY || waited >= timeout_ms)
			return ret;
		nanosleep(&ts, NULL);
	}
	return 0;
}

/*
 * The load dies with its controller, but somebody has to remove the group
 * afterwards.  The guard holds nothing but its end of a pipe: an inherited
 * netlink socket would keep the run's ownership.  @load_of is the controller whose
 * load it undoes for, or 0.
 */
static void __noreturn guard_main(const struct ds_cgroup *cg, pid_t load_of, int fd)
{
	char c;

	prctl(PR_SET_NAME, "drainctl-guard");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (dup2(fd, 0) < 0 || close_range(1, ~0U, 0))
		_exit(1);
	/* nobody writes: this ends when the controller closes or dies */
	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	if (load_of)
		ds_undo_all(load_of, GUARD_MS, NULL, NULL);
	_exit(cg->dir[0] && remove_dir(cg->dir, GUARD_MS) ? 1 : 0);
}

/* Best effort: without a guard the next run cleans up. */
static void start_guard(struct ds_cgroup *cg, pid_t load_of)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		close(fds[1]);
		guard_main(cg, load_of, fds[0]);
	}
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return;
	}
	cg->guard_fd = fds[1];
	cg->guard_pid = pid;
}

/* Makes a group, and finds its place in @cg.  Return: 0 or -errno and @note. */
static int make_group(struct ds_cgroup *cg, const char *suffix, const char *loss, char *note,
		      size_t len)
{
	char root[200], path[300];
	int ret;

	memset(cg, 0, sizeof(*cg));
	cg->guard_fd = -1;
	note[0] = '\0';
	ret = find_mount(root, sizeof(root));
	if (ret) {
		snprintf(note, len, "no cgroup v2 is mounted: %s", loss);
		return ret;
	}
	/* fails where it is on already or is bound to a v1 hierarchy */
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", root);
	ds_write_text(path, "+memory");
	snprintf(cg->dir, sizeof(cg->dir), "%s/" PREFIX "%d%s", root, getpid(), suffix);
	if (mkdir(cg->dir, 0755)) {
		ret = -errno;
		snprintf(note, len, "%s: %s: %s", cg->dir, strerror(-ret), loss);
		cg->dir[0] = '\0';
		return ret;
	}
	return 0;
}

/* The group below it that the load enters.  Return: 0 or -errno and @note. */
static int make_load(struct ds_cgroup *cg, const char *loss, char *note, size_t len)
{
	char path[300];
	int ret;

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", cg->dir);
	ds_write_text(path, "+memory");
	snprintf(path, sizeof(path), "%s/" LOAD, cg->dir);
	if (mkdir(path, 0755)) {
		ret = -errno;
		snprintf(note, len, "%s: %s: %s", path, strerror(-ret), loss);
		ds_cgroup_rmdir(cg->dir);
		cg->dir[0] = '\0';
		return ret;
	}
	snprintf(cg->procs, sizeof(cg->procs), "%s/cgroup.procs", path);
	return 0;
}

/**
 * ds_cgroup_make() - make the group
 * @limit: bytes of memory
 * @note:  what could not be had and why, empty when all could
 *
 * Return: 0 when there is a group; -errno otherwise, and the run goes on
 * without one.  ds_cgroup_remove() is to be called either way: there is a guard.
 */
int ds_cgroup_make(struct ds_cgroup *cg, u64 limit, char *note, size_t len)
{
	static const char loss[] = "the load runs without a memory limit";
	char path[300], num[32];
	int ret = make_group(cg, "", loss, note, len);

	if (!ret)
		ret = make_load(cg, loss, note, len);
	/* the machine has to be put back with or without a group */
	if (ret) {
		start_guard(cg, getpid());
		return ret;
	}
	snprintf(path, sizeof(path), "%s/memory.max", cg->dir);
	snprintf(num, sizeof(num), "%llu", limit);
	ret = ds_write_text(path, num);
	if (ret)
		snprintf(note, len, "cgroup v2 has no memory controller here (%s): %s",
			 strerror(-ret), loss);
	cg->limited = !ret;
	start_guard(cg, getpid());
	return 0;
}

/**
 * ds_cgroup_make_own() - make the group that only the module charges
 *
 * Return: its id, or 0 when there is none or it has no memory controller; then
 * I29 is skipped.  ds_cgroup_remove() is to be called either way.
 */
u64 ds_cgroup_make_own(struct ds_cgroup *cg)
{
	char path[300], note[400];
	struct stat st;

	if (make_group(cg, OWN, "", note, sizeof(note)))
		return 0;
	start_guard(cg, 0);
	snprintf(path, sizeof(path), "%s/memory.max", cg->dir);
	if (access(path, F_OK) || stat(cg->dir, &st))
		return 0;
	return st.st_ino;
}

/**
 * ds_cgroup_oom_kills() - processes the OOM killer ended in the group
 */
u64 ds_cgroup_oom_kills(const struct ds_cgroup *cg)
{
	char path[300];

	if (!cg->dir[0])
		return 0;
	snprintf(path, sizeof(path), "%s/memory.events", cg->dir);
	return ds_read_key(path, "oom_kill");
}

/**
 * ds_cgroup_remove_stale() - remove the groups of controllers that are no more
 * @say: told of each
 */
void ds_cgroup_remove_stale(ds_undo_say_fn say, void *arg)
{
	char root[200], path[500], *end;
	struct dirent *e;
	DIR *d = NULL;
	long pid;

	if (!find_mount(root, sizeof(root)))
		d = opendir(root);
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)))
			continue;
		pid = strtol(e->d_name + strlen(PREFIX), &end, 10);
		if ((*end && strcmp(end, OWN)) || pid <= 0 || !kill(pid, 0) || errno != ESRCH)
			continue;
		snprintf(path, sizeof(path), "%s/%s", root, e->d_name);
		/* its processes may be about to die; a guard may be faster */
		if (access(path, F_OK) || remove_dir(path, STALE_MS))
			continue;
		snprintf(path, sizeof(path), "control group %s is removed", e->d_name);
		say(arg, pid, 0, path);
	}
	closedir(d);
}

/**
 * ds_cgroup_remove() - remove the group, waiting until its processes are gone
 *
 * Return: 0, also when there is none, or -errno.
 */
int ds_cgroup_remove(struct ds_cgroup *cg, unsigned int timeout_ms)
{
	int ret = cg->dir[0] ? remove_dir(cg->dir, timeout_ms) : 0;

	if (cg->guard_pid) {
		close(cg->guard_fd);
		/* it tries on where we gave up */
		if (!ret)
			waitpid(cg->guard_pid, NULL, 0);
		cg->guard_pid = 0;
	}
	if (!ret)
		cg->dir[0] = '\0';
	return ret;
}
