// SPDX-License-Identifier: GPL-2.0-only
/*
 * File systems of the tool's own, for --fs: made in memory, bound to a loop
 * device, mounted nowhere.  Nothing has a name, and each part is held only by
 * the next: the files hold the mount, the mount the device, the device the
 * memory.  So all goes with the last file, whoever dies.  It puts no files there.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_fs.h"

#define MKFS_DIRS "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin"
#define IMAGE_FD 3		/* of mkfs */
#define LOOP_TRIES 20		/* somebody else may take the free device first */

/*
 * Nothing is discarded: that would give the memory back, and what takes its place
 * would be charged to whoever writes.  btrfs would do so by itself since Linux 6.2.
 * mkfs.xfs refuses less than 300 MiB.
 */
const struct ds_own_fs ds_own_fs_kinds[DS_NR_OWN_FS] = {
	[DS_OWN_TMPFS] = { .name = "tmpfs", .type = "tmpfs" },
	[DS_OWN_TMPFS_HUGE] = { .name = "tmpfs-huge", .type = "tmpfs" },
	[DS_OWN_EXT4] = {
		.name = "ext4", .type = "ext4", .bytes = 256ULL << 20,
		.mkfs = "mkfs.ext4", .package = "e2fsprogs",
		.args = { "-q", "-F", "-m", "0", "-E",
			  "nodiscard,lazy_itable_init=0,lazy_journal_init=0" } },
	[DS_OWN_XFS] = {
		.name = "xfs", .type = "xfs", .bytes = 320ULL << 20,
		.mkfs = "mkfs.xfs", .package = "xfsprogs",
		.args = { "-q", "-f", "-K" } },
	[DS_OWN_BTRFS] = {
		.name = "btrfs", .type = "btrfs", .flag = "nodiscard", .bytes = 320ULL << 20,
		.mkfs = "mkfs.btrfs", .package = "btrfs-progs",
		.args = { "-q", "-f", "-K", "-m", "single", "-d", "single" } },
};

/**
 * ds_own_fs_find() - index of the kind called @name, or -1
 */
int ds_own_fs_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < DS_NR_OWN_FS; i++) {
		if (!strcmp(ds_own_fs_kinds[i].name, name))
			return i;
	}
	return -1;
}

/**
 * ds_own_fs_names() - their names, for messages
 */
void ds_own_fs_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < DS_NR_OWN_FS && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", ds_own_fs_kinds[i].name);
}

static int __printf(4, 5) failed(char *why, size_t len, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return err;
}

static bool find_program(const char *name, char *path, size_t len)
{
	static const char dirs[] = MKFS_DIRS;
	const char *p = dirs;
	size_t n;

	while (*p) {
		n = strcspn(p, ":");
		snprintf(path, len, "%.*s/%s", (int)n, p, name);
		if (!access(path, X_OK))
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

/* In the child: only what it writes and the memory file stay. */
static void __noreturn exec_mkfs(const struct ds_own_fs *fs, const char *program, int mem, int out)
{
	const char *argv[DS_OWN_FS_ARGS + 3];
	unsigned int i, n = 0;
	char file[32];

	argv[n++] = fs->mkfs;
	for (i = 0; i < DS_OWN_FS_ARGS && fs->args[i]; i++)
		argv[n++] = fs->args[i];
	snprintf(file, sizeof(file), "/proc/self/fd/%d", IMAGE_FD);
	argv[n++] = file;
	argv[n] = NULL;
	/* dup2() onto itself would leave FD_CLOEXEC */
	if (dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
	    (mem == IMAGE_FD ? fcntl(mem, F_SETFD, 0) : dup2(mem, IMAGE_FD)) < 0 ||
	    close_range(IMAGE_FD + 1, ~0U, 0))
		_exit(126);
	execv(program, (char *const *)argv);
	fprintf(stderr, "%s: %s\n", program, strerror(errno));
	fflush(stderr);
	_exit(127);
}

/* The last line that a program wrote, without its end. */
static void last_line(int fd, char *line, size_t len)
{
	char text[4096], *p;
	ssize_t n;
	off_t end = lseek(fd, 0, SEEK_END);

	line[0] = '\0';
	if (end > (off_t)sizeof(text) - 1)
		lseek(fd, end - sizeof(text) + 1, SEEK_SET);
	else
		lseek(fd, 0, SEEK_SET);
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	while (n && strchr("\r\n \t", text[n - 1]))
		n--;
	text[n] = '\0';
	p = strrchr(text, '\n');
	snprintf(line, len, "%.*s", (int)len - 1, p ? p + 1 : text);
}

static int run_mkfs(const struct ds_own_fs *fs, int mem, bool *skip, char *why, size_t len)
{
	char program[128], line[160];
	int out, status = 0;
	pid_t pid;

	if (!find_program(fs->mkfs, program, sizeof(program))) {
		*skip = true;
		return failed(why, len, -ENOENT, "no %s in " MKFS_DIRS ": install %s", fs->mkfs,
			      fs->package);
	}
	out = memfd_create("drainstress-mkfs", MFD_CLOEXEC);
	if (out < 0)
		return failed(why, len, -errno, "memfd_create: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid)
		exec_mkfs(fs, program, mem, out);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		close(out);
		return failed(why, len, -EAGAIN, "%s cannot be started", program);
	}
	last_line(out, line, sizeof(line));
	close(out);
	if (!status)
		return 0;
	*skip = WIFEXITED(status) && WEXITSTATUS(status) == 127;
	return failed(why, len, -EIO, "%s failed (status 0x%x): %s", program, status,
		      line[0] ? line : "it said nothing");
}

/* Memory with a file system in it, all of it there and charged to the caller. */
static int make_image(const struct ds_own_fs *fs, bool *skip, char *why, size_t len)
{
	int fd, ret;

	fd = memfd_create("drainstress-fs", MFD_CLOEXEC);
	if (fd < 0)
		return failed(why, len, -errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(fd, fs->bytes)) {
		ret = failed(why, len, -errno, "a file of %llu MiB in memory: %s", fs->bytes >> 20,
			     strerror(errno));
		goto fail;
	}
	ret = run_mkfs(fs, fd, skip, why, len);
	if (ret)
		goto fail;
	/*
	 * Only now: mkfs makes holes where it wants zeroes.  shmem_fallocate()
	 * (mm/shmem.c) gives up, and all back, when anything has interrupted it.
	 */
	do {
		ret = fallocate(fd, 0, 0, fs->bytes);
	} while (ret && errno == EINTR);
	if (ret) {
		ret = failed(why, len, -errno, "%llu MiB of memory: %s", fs->bytes >> 20,
			     strerror(errno));
		goto fail;
	}
	return fd;
fail:
	close(fd);
	return ret;
}

/*
 * Bind a free loop device to @mem; it lets go of it when it is closed for the
 * last time.  Return: the open device, its path in @path, or -errno.
 */
static int bind_loop(int mem, char *path, size_t path_len, bool *skip, char *why, size_t len)
{
	struct loop_config config = { .fd = mem, .info = { .lo_flags = LO_FLAGS_AUTOCLEAR } };
	int control, nr, fd, ret, i;

	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control < 0) {
		*skip = errno == ENOENT || errno == ENODEV || errno == ENXIO;
		return failed(why, len, -errno, "/dev/loop-control: %s%s", strerror(errno),
			      *skip ? ": is the module loop there? try modprobe loop" : "");
	}
	for (i = 0; i < LOOP_TRIES; i++) {
		nr = ioctl(control, LOOP_CTL_GET_FREE);
		if (nr < 0) {
			ret = failed(why, len, -errno, "no free loop device: %s", strerror(errno));
			goto out;
		}
		snprintf(path, path_len, "/dev/loop%d", nr);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			ret = failed(why, len, -errno, "%s: %s", path, strerror(errno));
			goto out;
		}
		if (!ioctl(fd, LOOP_CONFIGURE, &config)) {
			ret = fd;
			goto out;
		}
		ret = failed(why, len, -errno, "%s: LOOP_CONFIGURE: %s", path, strerror(errno));
		close(fd);
		if (ret != -EBUSY)
			goto out;
	}
out:
	close(control);
	return ret;
}

/* What the file system says in its context, else what errno says. */
static const char *complaint(int ctx, char *text, size_t len)
{
	int err = errno;
	ssize_t n;

	n = read(ctx, text, len - 1);
	if (n <= 2)
		return strerror(err);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	/* "e " for an error, "w " a warning, "i " information */
	return text + 2;
}

static int open_context(const struct ds_own_fs *fs, bool *skip, char *why, size_t len)
{
	int ctx = fsopen(fs->type, FSOPEN_CLOEXEC);

	if (ctx >= 0)
		return ctx;
	*skip = errno == ENODEV;
	return failed(why, len, -errno, "%s: %s%s%s", fs->type, strerror(errno),
		      errno == ENODEV ? ": this kernel has none: try modprobe " : "",
		      errno == ENODEV ? fs->type : "");
}

/**
 * ds_own_fs_make() - make one that has a size, and mount it nowhere
 * @skip: set when the host lacks a program or the kernel a module
 * @why:  on an error what failed and why
 *
 * To be called by whom the memory may be charged to.  The mount lives as long as
 * the descriptor and the files that are opened in it.
 *
 * Return: a descriptor of its root directory, or -errno.
 */
int ds_own_fs_make(const struct ds_own_fs *fs, bool *skip, char *why, size_t len)
{
	char path[32], text[160];
	int ctx, mem, loop, ret;

	*skip = false;
	/* first, so that nothing is made for a file system that is not there */
	ctx = open_context(fs, skip, why, len);
	if (ctx < 0)
		return ctx;
	mem = make_image(fs, skip, why, len);
	if (mem < 0) {
		close(ctx);
		return mem;
	}
	loop = bind_loop(mem, path, sizeof(path), skip, why, len);
	close(mem);
	if (loop < 0) {
		close(ctx);
		return loop;
	}
	if (fsconfig(ctx, FSCONFIG_SET_STRING, "source", path, 0) ||
	    (fs->flag && fsconfig(ctx, FSCONFIG_SET_FLAG, fs->flag, NULL, 0)) ||
	    fsconfig(ctx, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) {
		ret = -errno;
		failed(why, len, ret, "%s on %s: %s", fs->name, path,
		       complaint(ctx, text, sizeof(text)));
	} else {
		ret = fsmount(ctx, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
		if (ret < 0)
			ret = failed(why, len, -errno, "%s on %s: fsmount: %s", fs->name, path,
				     strerror(errno));
	}
	close(ctx);
	close(loop);
	return ret;
}
