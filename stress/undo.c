// SPDX-License-Identifier: GPL-2.0-only
/*
 * The undo journal.  Before the load or the controller changes something of the
 * whole machine it writes into a file of its own how to put it back, and empties the
 * entry when that was done.  Whoever outlives it does what is left there: the
 * controller, its guard, or the next run when all three were killed.  It changes
 * nothing by itself, and knows neither what an operation does nor what a report
 * looks like.
 *
 * The file is /run/drainstress/undo-CONTROLLER-WRITER, which are pids.  A line of it
 * is LINE bytes long and is written with one call within one page, so that a kill
 * leaves it whole.  The first tells whose it is, each other one is an entry or
 * blank.  Fields end with a tab:
 *
 *	drainstress-undo  CONTROLLER  SINCE  WRITER  SINCE  BOOT-ID
 *	NUMBER  KIND  PATH  TEXT
 *
 * SINCE is the start of a process as of /proc/PID/stat: pids come again.  Entries
 * are undone from the highest number down.  As root does what stands there, the
 * file has to be its own and private, in a directory that is, and a path has to
 * be one that the load may change.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "clock.h"
#include "undo.h"

#define PREFIX "undo-"
#define MAGIC "drainstress-undo"
#define LINE 512
#define PATH_LEN 384
#define TEXT_LEN 64
#define PATIENCE_MS 3000	/* with what is busy for a moment */

struct entry {
	u64 number;
	int slot;
	enum ds_undo_kind kind;
	char path[PATH_LEN];
	char text[TEXT_LEN];
};

/**
 * struct ds_undo - a journal that is written
 * @lock:	of @used and @number
 * @used:	slots that hold an entry
 */
struct ds_undo {
	int dirfd;
	int fd;
	pid_t controller;
	char name[32];
	pthread_mutex_t lock;
	u64 number;
	bool used[DS_UNDO_SLOTS];
};

/* Whose a journal is. */
struct header {
	pid_t controller, writer;
	u64 controller_since, writer_since;
	char boot[40];
};

static const char *own_dir;

/* ---- the directory ---- */

/**
 * ds_undo_use_dir() - for tests: the journals' directory, NULL for the usual ones
 */
void ds_undo_use_dir(const char *dir)
{
	own_dir = dir;
}

/* The @n-th directory that journals may be in.  Return: false beyond the last. */
static bool nth_dir(unsigned int n, char *dir, size_t len)
{
	if (own_dir) {
		snprintf(dir, len, "%s", own_dir);
		return !n;
	}
	if (!n)
		snprintf(dir, len, "/run/drainstress");
	else
		snprintf(dir, len, "/tmp/drainstress-%u", geteuid());
	return n < 2;
}

/* Return: a descriptor; -EPERM when others could put files there; -errno. */
static int open_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	close(fd);
	return -EPERM;
}

static int make_dir(char *dir, size_t len)
{
	unsigned int n;
	int fd = -ENOENT;

	for (n = 0; fd < 0 && nth_dir(n, dir, len); n++) {
		if (mkdir(dir, 0700) && errno != EEXIST)
			fd = -errno;
		else
			fd = open_dir(dir);
	}
	return fd;
}

/* ---- processes ---- */

/* The start of a process in ticks since boot; 0 when there is none. */
static u64 since(pid_t pid, char *state)
{
	char path[64], buf[1024], *at;
	unsigned int field;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	/* the name may hold blanks and brackets */
	at = strrchr(buf, ')');
	if (!at || at[1] != ' ')
		return 0;
	*state = at[2];
	/* it is before field 3, the start is field 22 */
	for (field = 3, at++; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static unsigned int nr_tasks(pid_t pid)
{
	unsigned int nr = 0;
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		nr += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return nr;
}

/* A zombie is dead, unless it has threads that are not. */
static bool is_dead(pid_t pid, u64 start)
{
	char state = '\0';
	u64 now = since(pid, &state);

	if (!now)
		return kill(pid, 0) && errno == ESRCH;
	if (start && now != start)
		return true;
	return (state == 'Z' || state == 'X') && nr_tasks(pid) <= 1;
}

static void read_boot_id(char *id, size_t len)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, id, len - 1);
		close(fd);
	}
	id[n > 0 ? n : 0] = '\0';
	id[strcspn(id, "\n")] = '\0';
}

/* ---- lines ---- */

/* One call, so that there is no half a line. */
static int put_line(int fd, unsigned int row, const char *text)
{
	char line[LINE];
	ssize_t n;

	memset(line, ' ', sizeof(line));
	memcpy(line, text, strlen(text));
	line[LINE - 1] = '\n';
	n = pwrite(fd, line, sizeof(line), (off_t)row * LINE);
	if (n < 0)
		return -errno;
	return n == LINE ? 0 : -ENOSPC;
}

/* Return: false at the end of the file, and for what is no line. */
static bool get_line(int fd, unsigned int row, char line[LINE])
{
	if (pread(fd, line, LINE, (off_t)row * LINE) != LINE || line[LINE - 1] != '\n')
		return false;
	line[LINE - 1] = '\0';
	return true;
}

/* The next field, which ends with a tab.  Return: NULL when there is none. */
static const char *next_field(char **at)
{
	char *field = *at, *end = strchr(field, '\t');

	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return field;
}

static bool number_field(char **at, u64 *value)
{
	const char *field = next_field(at);
	char *end;

	if (!field || !isdigit((unsigned char)field[0]))
		return false;
	*value = strtoull(field, &end, 10);
	return !*end;
}

static int put_header(const struct ds_undo *u)
{
	char text[LINE], state, boot[40];

	read_boot_id(boot, sizeof(boot));
	snprintf(text, sizeof(text), MAGIC "\t%d\t%llu\t%d\t%llu\t%s\t", u->controller,
		 since(u->controller, &state), getpid(), since(getpid(), &state), boot);
	return put_line(u->fd, 0, text);
}

static bool get_header(int fd, struct header *h)
{
	char line[LINE], *at = line;
	const char *field;
	u64 controller, writer;

	if (!get_line(fd, 0, line))
		return false;
	field = next_field(&at);
	if (!field || strcmp(field, MAGIC) || !number_field(&at, &controller) ||
	    !number_field(&at, &h->controller_since) || !number_field(&at, &writer) ||
	    !number_field(&at, &h->writer_since))
		return false;
	field = next_field(&at);
	if (!field || !controller || !writer)
		return false;
	h->controller = controller;
	h->writer = writer;
	snprintf(h->boot, sizeof(h->boot), "%s", field);
	return true;
}

/* ---- what may be put back, and how ---- */

static int do_write(const struct entry *e);
static int do_swapoff(const struct entry *e);
static int do_unlink(const struct entry *e);
static int do_rmdir(const struct entry *e);
static int do_tree(const struct entry *e);
static int do_zram(const struct entry *e);

/*
 * @prefixes are of paths besides those that have the project's name in them, which
 * all kinds may have.  @undo returns 1 when it changed something, 0 when nothing
 * was left to do, or -errno.
 */
static const struct {
	const char *name;
	const char *prefixes[3];
	int (*undo)(const struct entry *e);
} kinds[DS_NR_UNDO] = {
	[DS_UNDO_WRITE] = { "write", { "/sys/", "/proc/sys/" }, do_write },
	[DS_UNDO_SWAPOFF] = { "swapoff", { "/dev/zram" }, do_swapoff },
	[DS_UNDO_UNLINK] = { "unlink", { NULL }, do_unlink },
	[DS_UNDO_RMDIR] = { "rmdir", { NULL }, do_rmdir },
	[DS_UNDO_TREE] = { "tree", { NULL }, do_tree },
	[DS_UNDO_ZRAM] = { "zram", { "/sys/class/zram-control/" }, do_zram },
};

/* Fields are told apart by tabs, and a line ends with a newline. */
static bool is_plain(const char *text, size_t max)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		if (i + 1 >= max || (unsigned char)text[i] < ' ')
			return false;
	}
	return true;
}

static bool may_change(enum ds_undo_kind kind, const char *path)
{
	const char *const *prefix = kinds[kind].prefixes;

	if (path[0] != '/' || !is_plain(path, PATH_LEN) || strstr(path, "/../") ||
	    strstr(path, "/./") || strstr(path, "//"))
		return false;
	if (strstr(path, "/drainstress"))
		return true;
	for (; *prefix; prefix++) {
		if (!strncmp(path, *prefix, strlen(*prefix)))
			return true;
	}
	return false;
}

static bool get_entry(int fd, int slot, struct entry *e)
{
	const char *kind, *path, *text;
	char line[LINE], *at = line;
	unsigned int k;

	if (!get_line(fd, slot + 1, line) || line[0] == ' ' || !number_field(&at, &e->number))
		return false;
	kind = next_field(&at);
	path = kind ? next_field(&at) : NULL;
	text = path ? next_field(&at) : NULL;
	for (k = 0; text && k < DS_NR_UNDO; k++) {
		if (strcmp(kind, kinds[k].name) || !may_change(k, path) ||
		    !is_plain(text, TEXT_LEN))
			continue;
		e->slot = slot;
		e->kind = k;
		snprintf(e->path, sizeof(e->path), "%s", path);
		snprintf(e->text, sizeof(e->text), "%s", text);
		return true;
	}
	return false;
}

/* A block of memory is "online" whatever it was told to become. */
static bool holds(const char *path, const char *text)
{
	char now[TEXT_LEN];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, now, sizeof(now) - 1);
	close(fd);
	if (n <= 0)
		return false;
	now[n] = '\0';
	now[strcspn(now, "\n")] = '\0';
	return !strcmp(now, text) ||
	       (!strcmp(now, "online") && !strncmp(text, "online_", strlen("online_")));
}

static int do_write(const struct entry *e)
{
	int fd, ret = 1;

	if (holds(e->path, e->text))
		return 0;
	fd = open(e->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
	/* what is gone needs nothing */
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, e->text, strlen(e->text)) < 0)
		ret = errno == ENODEV ? 0 : -errno;
	close(fd);
	return ret;
}

/* EINVAL: it was not swapped to. */
static int do_swapoff(const struct entry *e)
{
	if (!swapoff(e->path))
		return 1;
	return errno == EINVAL || errno == ENOENT ? 0 : -errno;
}

static int do_unlink(const struct entry *e)
{
	if (!unlink(e->path))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

static int do_rmdir(const struct entry *e)
{
	if (!rmdir(e->path))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

/* Empties the directory @fd, which is closed, and @depth levels of those in it. */
static void empty_dir(int fd, unsigned int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int sub;

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    !unlinkat(dirfd(d), e->d_name, 0) || !depth)
			continue;
		sub = openat(dirfd(d), e->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			continue;
		empty_dir(sub, depth - 1);
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

/* A directory that shrinks while it is read may hide some, so look again. */
static int do_tree(const struct entry *e)
{
	unsigned int try;
	int fd;

	/* all that is in it goes, so its own name has to say whose it is */
	if (strncmp(strrchr(e->path, '/'), "/drainstress-", strlen("/drainstress-")))
		return -EINVAL;
	for (try = 0; try < 3; try++) {
		fd = open(e->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return errno == ENOENT ? 0 : -errno;
		empty_dir(fd, 1);
		if (!rmdir(e->path))
			return 1;
		if (errno != ENOTEMPTY && errno != EEXIST)
			break;
	}
	return -errno;
}

/* The number in ".../zram3/disksize", or -1. */
static int zram_number(const char *disksize)
{
	const char *at = strstr(disksize, "/zram");
	unsigned int n;
	int end = 0;

	if (!at || sscanf(at, "/zram%u/disksize%n", &n, &end) != 1 || !end || at[end])
		return -1;
	return n;
}

/*
 * The device was about to be made.  One that has a size is somebody's, or has an entry
 * that says so.
 */
static int do_zram(const struct entry *e)
{
	struct entry remove = *e;

	if (zram_number(e->text) < 0)
		return -EINVAL;
	if (!holds(e->text, "0"))
		return 0;
	snprintf(remove.text, sizeof(remove.text), "%d", zram_number(e->text));
	return do_write(&remove);
}

static int put_back(const struct entry *e)
{
	unsigned int waited;
	int ret;

	for (waited = 0; ; waited += 10) {
		ret = kinds[e->kind].undo(e);
		if ((ret != -EBUSY && ret != -EAGAIN && ret != -EINTR) || waited >= PATIENCE_MS)
			return ret;
		ds_sleep_ms(10);
	}
}

#define CPU_ONLINE "/sys/devices/system/cpu/cpu%u/online%n"
#define ZRAM_REMOVE "/sys/class/zram-control/hot_remove"
#define MEMORY_STATE "/sys/devices/system/memory/memory%u/state%n"

/* "CPU 3 is online again", for those who know no paths. */
static void describe(const struct entry *e, char *text, size_t len)
{
	unsigned int n;
	int end = 0;

	if (e->kind == DS_UNDO_SWAPOFF)
		snprintf(text, len, "nothing is swapped to %s any more", e->path);
	else if (e->kind == DS_UNDO_UNLINK || e->kind == DS_UNDO_RMDIR ||
		 e->kind == DS_UNDO_TREE)
		snprintf(text, len, "%s is removed", e->path);
	else if (e->kind == DS_UNDO_ZRAM)
		snprintf(text, len, "/dev/zram%d is removed", zram_number(e->text));
	else if (sscanf(e->path, CPU_ONLINE, &n, &end) == 1 && end)
		snprintf(text, len, "CPU %u is online again", n);
	else if (sscanf(e->path, MEMORY_STATE, &n, &end) == 1 && end)
		snprintf(text, len, "memory block %u is online again", n);
	else if (!strcmp(e->path, ZRAM_REMOVE))
		snprintf(text, len, "/dev/zram%s is removed", e->text);
	else
		snprintf(text, len, "%s is %s again", e->path, e->text);
}

/* Return: 0 or -errno; the entry is only emptied when nothing is left to do. */
static int undo_entry(int fd, const struct entry *e, pid_t pid, ds_undo_say_fn say, void *arg)
{
	char text[DS_UNDO_TEXT];
	int ret = put_back(e);

	if (ret && say) {
		if (ret > 0)
			describe(e, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%s %.300s %s", kinds[e->kind].name, e->path,
				 e->text);
		say(arg, pid, ret < 0 ? -ret : 0, text);
	}
	if (ret >= 0)
		return put_line(fd, e->slot + 1, "");
	return ret;
}

static int newest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->number < y->number) - (x->number > y->number);
}

static int undo_entries(int fd, pid_t pid, ds_undo_say_fn say, void *arg)
{
	struct entry *all = calloc(DS_UNDO_SLOTS, sizeof(*all));
	unsigned int i, nr = 0;
	int slot, one, ret = 0;

	if (!all)
		return -ENOMEM;
	for (slot = 0; slot < DS_UNDO_SLOTS; slot++)
		nr += get_entry(fd, slot, &all[nr]);
	qsort(all, nr, sizeof(*all), newest_first);
	for (i = 0; i < nr; i++) {
		one = undo_entry(fd, &all[i], pid, say, arg);
		if (one)
			ret = one;
	}
	free(all);
	return ret;
}

/* ---- the writer ---- */

/**
 * ds_undo_open() - begin a journal
 * @controller: names it; the caller, who writes it, is another process or the same
 * @why: on an error the reason in words
 *
 * Return: the journal, or NULL.
 */
struct ds_undo *ds_undo_open(pid_t controller, char *why, size_t len)
{
	struct ds_undo *u = calloc(1, sizeof(*u));
	char dir[256] = "";
	int ret = -ENOMEM;

	if (!u)
		goto failed;
	ret = make_dir(dir, sizeof(dir));
	if (ret < 0)
		goto failed;
	u->dirfd = ret;
	u->controller = controller;
	pthread_mutex_init(&u->lock, NULL);
	snprintf(u->name, sizeof(u->name), PREFIX "%d-%d", controller, getpid());
	u->fd = openat(u->dirfd, u->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ret = u->fd < 0 ? -errno : put_header(u);
	if (!ret)
		return u;
	if (u->fd >= 0) {
		close(u->fd);
		unlinkat(u->dirfd, u->name, 0);
	}
	close(u->dirfd);
failed:
	snprintf(why, len, "no journal in %s: %s", dir, strerror(-ret));
	free(u);
	return NULL;
}

/**
 * ds_undo_push() - say how to put back what is going to be changed
 * @text: for DS_UNDO_WRITE and DS_UNDO_ZRAM; else NULL
 *
 * May be called by several threads of one process.
 *
 * Return: a slot; -EINVAL for a path that may not be changed; -EAGAIN when the
 * journal is full; -errno.  Nothing may be changed on an error.
 */
int ds_undo_push(struct ds_undo *u, enum ds_undo_kind kind, const char *path, const char *text)
{
	char line[LINE];
	int slot, ret;

	if (!text)
		text = "";
	if (kind >= DS_NR_UNDO || !may_change(kind, path) || !is_plain(text, TEXT_LEN))
		return -EINVAL;
	pthread_mutex_lock(&u->lock);
	for (slot = 0; slot < DS_UNDO_SLOTS && u->used[slot]; slot++)
		;
	if (slot == DS_UNDO_SLOTS) {
		pthread_mutex_unlock(&u->lock);
		return -EAGAIN;
	}
	snprintf(line, sizeof(line), "%llu\t%s\t%s\t%s\t", ++u->number, kinds[kind].name, path,
		 text);
	ret = put_line(u->fd, slot + 1, line);
	u->used[slot] = !ret;
	pthread_mutex_unlock(&u->lock);
	return ret ? ret : slot;
}

/**
 * ds_undo_pop() - forget an entry: it has been put back, or was not changed
 *
 * Return: 0 or -errno.
 */
int ds_undo_pop(struct ds_undo *u, int slot)
{
	int ret;

	pthread_mutex_lock(&u->lock);
	ret = put_line(u->fd, slot + 1, "");
	u->used[slot] = ret;
	pthread_mutex_unlock(&u->lock);
	return ret;
}

/**
 * ds_undo_do() - put back what the entry says, and forget it
 *
 * What is busy is tried again for a while.  An entry that cannot be undone stays
 * for ds_undo_close().
 *
 * Return: 0, also when there was nothing left to do, or -errno.
 */
int ds_undo_do(struct ds_undo *u, int slot)
{
	struct entry e;
	int ret;

	if (!get_entry(u->fd, slot, &e))
		return -EINVAL;
	ret = put_back(&e);
	return ret < 0 ? ret : ds_undo_pop(u, slot);
}

/**
 * ds_undo_close() - undo what is left, and end the journal
 *
 * The file stays when something could not be undone.  @u may be NULL.
 */
void ds_undo_close(struct ds_undo *u, ds_undo_say_fn say, void *arg)
{
	if (!u)
		return;
	if (!undo_entries(u->fd, u->controller, say, arg))
		unlinkat(u->dirfd, u->name, 0);
	close(u->fd);
	close(u->dirfd);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* ---- those who outlive it ---- */

/* Return: a descriptor of a journal that may be believed, or -errno. */
static int open_journal(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 077))
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * Undo a journal whose writer is dead.  Two may be at it: the second finds nothing.
 * What an earlier boot left is no more.
 */
static int undo_journal(int dirfd, const char *name, int fd, const struct header *h,
			ds_undo_say_fn say, void *arg)
{
	char boot[40];
	int ret = 0;

	if (flock(fd, LOCK_EX))
		return -errno;
	read_boot_id(boot, sizeof(boot));
	if (h && !strcmp(boot, h->boot))
		ret = undo_entries(fd, h->controller, say, arg);
	if (!ret)
		unlinkat(dirfd, name, 0);
	return ret;
}

/* Once its writer is dead.  Return: as ds_undo_all(). */
static int undo_when_dead(int dirfd, const char *name, unsigned int timeout_ms,
			  ds_undo_say_fn say, void *arg)
{
	int fd = open_journal(dirfd, name), ret = 0;
	unsigned int waited;
	struct header h;

	if (fd < 0)
		return 0;
	/* a caller closes its own */
	if (get_header(fd, &h) && h.writer != getpid()) {
		for (waited = 0; !is_dead(h.writer, h.writer_since) && waited < timeout_ms;
		     waited += 10)
			ds_sleep_ms(10);
		ret = is_dead(h.writer, h.writer_since) ?
		      undo_journal(dirfd, name, fd, &h, say, arg) : -EBUSY;
	}
	close(fd);
	return ret;
}

/* The pids in the name of a journal.  Return: false for another file. */
static bool parse_name(const char *name, pid_t *controller, pid_t *writer)
{
	int end = 0;

	return sscanf(name, PREFIX "%d-%d%n", controller, writer, &end) == 2 && !name[end] &&
	       *controller > 0 && *writer > 0;
}

/* The directory @dir for readdir(), or NULL. */
static DIR *open_listing(const char *dir)
{
	int fd = open_dir(dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/**
 * ds_undo_all() - undo what others left who changed something for @controller
 * @timeout_ms: they may still be dying
 *
 * Return: 0, also when there is nothing; -EBUSY when one of them still lives;
 * -errno when something could not be undone, of which @say was told.
 */
int ds_undo_all(pid_t controller, unsigned int timeout_ms, ds_undo_say_fn say, void *arg)
{
	pid_t pid, writer;
	struct dirent *e;
	unsigned int n;
	char dir[256];
	int one, ret = 0;
	DIR *d;

	for (n = 0; nth_dir(n, dir, sizeof(dir)); n++) {
		d = open_listing(dir);
		while (d && (e = readdir(d))) {
			if (!parse_name(e->d_name, &pid, &writer) || pid != controller)
				continue;
			one = undo_when_dead(dirfd(d), e->d_name, timeout_ms, say, arg);
			ret = one ? one : ret;
		}
		if (d)
			closedir(d);
	}
	return ret;
}

/* A load that lost its controller dies too, but may be at it for a while. */
static bool dies(const struct header *h)
{
	unsigned int waited;

	if (!is_dead(h->controller, h->controller_since))
		return false;
	for (waited = 0; !is_dead(h->writer, h->writer_since); waited += 10) {
		if (waited >= PATIENCE_MS)
			return false;
		ds_sleep_ms(10);
	}
	return true;
}

/* A journal without a first line has no entries: its writer died at once. */
static void undo_if_stale(int dirfd, const char *name, pid_t pid, ds_undo_say_fn say, void *arg)
{
	int fd = open_journal(dirfd, name);
	struct header h;

	if (fd < 0)
		return;
	if (!get_header(fd, &h)) {
		if (is_dead(pid, 0))
			undo_journal(dirfd, name, fd, NULL, say, arg);
	} else if (dies(&h)) {
		undo_journal(dirfd, name, fd, &h, say, arg);
	}
	close(fd);
}

/**
 * ds_undo_stale() - undo the journals of those who were killed, all of them
 */
void ds_undo_stale(ds_undo_say_fn say, void *arg)
{
	pid_t pid, writer;
	struct dirent *e;
	unsigned int n;
	char dir[256];
	DIR *d;

	for (n = 0; nth_dir(n, dir, sizeof(dir)); n++) {
		d = open_listing(dir);
		while (d && (e = readdir(d))) {
			if (parse_name(e->d_name, &pid, &writer))
				undo_if_stale(dirfd(d), e->d_name, writer, say, arg);
		}
		if (d)
			closedir(d);
	}
}
