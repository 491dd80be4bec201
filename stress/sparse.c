// SPDX-License-Identifier: GPL-2.0-only
/*
 * sparsetruncate: files that were never written and of which every page is in the
 * page cache are removed one after the other, and the time of each removal is
 * taken; the truncation happens inside it.  It makes the files, looks whether
 * their pages are cached, removes and times them.  Where that is, what a result
 * says and what is told of it is its caller's business.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "methods.h"
#include "rand.h"
#include "sparse.h"

#define READ_BYTES 16			/* of each page */
#define WINDOW (64ULL << 20)		/* of a file, looked at in one go */
#define NAME_LEN 16

const struct ds_sparse_preset ds_sparse_presets[] = {
	{ "tiny", "256 files of 4 MiB, 1 GiB of page cache: the published table's", 16, 16,
	  4ULL << 20 },
	{ "small", "256 files of 16 MiB, 4 GiB of page cache", 16, 16, 16ULL << 20 },
	{ "large", "256 files of 64 MiB, 16 GiB of page cache", 16, 16, 64ULL << 20 },
};

const unsigned int ds_nr_sparse_presets = ARRAY_SIZE(ds_sparse_presets);

static int remove_unlink(struct ds_sparse *s, int dir, const char *name, int fd)
{
	(void)s;
	(void)fd;
	return unlinkat(dir, name, 0) ? -errno : 0;
}

static int remove_ftruncate(struct ds_sparse *s, int dir, const char *name, int fd)
{
	(void)s;
	(void)dir;
	(void)name;
	return ftruncate(fd, 0) ? -errno : 0;
}

/* Its worker drops the last reference of the inode, so the pages go before it ends. */
static int remove_ring(struct ds_sparse *s, int dir, const char *name, int fd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);
	struct io_uring_cqe *cqe;
	int ret;

	(void)fd;
	if (!sqe)
		return -EBUSY;
	io_uring_prep_unlinkat(sqe, dir, name, 0);
	ret = io_uring_submit_and_wait(&s->ring, 1);
	if (ret < 0)
		return ret;
	/* it was submitted, whatever interrupts the waiting */
	do {
		ret = io_uring_wait_cqe(&s->ring, &cqe);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(&s->ring, cqe);
	return ret;
}

const struct ds_sparse_method ds_sparse_methods[] = {
	{ .name = "unlink", .help = "unlink(2)", .remove = remove_unlink },
	{ .name = "ftruncate", .help = "ftruncate(2) to nothing of the open file", .opens = true,
	  .remove = remove_ftruncate },
	{ .name = "io_uring", .help = "IORING_OP_UNLINKAT", .ring = true, .remove = remove_ring },
};

const unsigned int ds_nr_sparse_methods = ARRAY_SIZE(ds_sparse_methods);

/**
 * ds_sparse_preset_find() - the row called @name, or NULL; likewise the next
 */
const struct ds_sparse_preset *ds_sparse_preset_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_sparse_presets; i++) {
		if (!strcmp(ds_sparse_presets[i].name, name))
			return &ds_sparse_presets[i];
	}
	return NULL;
}

const struct ds_sparse_method *ds_sparse_method_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_sparse_methods; i++) {
		if (!strcmp(ds_sparse_methods[i].name, name))
			return &ds_sparse_methods[i];
	}
	return NULL;
}

/**
 * ds_sparse_preset_names() - "tiny, small, ..", for messages; likewise the next
 */
void ds_sparse_preset_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < ds_nr_sparse_presets && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", ds_sparse_presets[i].name);
}

void ds_sparse_method_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < ds_nr_sparse_methods && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", ds_sparse_methods[i].name);
}

static int __printf(4, 5) failed(char *why, size_t len, int err, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(why, len, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < len)
		snprintf(why + n, len - n, ": %s", strerror(-err));
	return err;
}

static int stopped(char *why, size_t len)
{
	snprintf(why, len, "interrupted");
	return -ECANCELED;
}

static void dir_name(u32 dir, char *name)
{
	snprintf(name, NAME_LEN, "d%03u", dir);
}

static void file_name(u32 file, char *name)
{
	snprintf(name, NAME_LEN, "f%04u", file);
}

/**
 * ds_sparse_shuffle() - the order in which @nr files are removed
 * @seed: 0: as they were made
 */
void ds_sparse_shuffle(u32 *turn, u32 nr, u64 seed)
{
	struct ds_rand r = ds_rand_at(seed, 0, 0);
	u32 i, k, swap;

	for (i = 0; i < nr; i++)
		turn[i] = i;
	for (i = nr; seed && i > 1; i--) {
		k = ds_rand_below(&r, i);
		swap = turn[i - 1];
		turn[i - 1] = turn[k];
		turn[k] = swap;
	}
}

static int open_ring(struct ds_sparse *s, char *why, size_t len)
{
	struct ds_method_probe probe;
	struct io_uring_probe *ops;
	bool can;
	int ret = io_uring_queue_init(2, &s->ring, 0);

	if (ret < 0) {
		ds_methods_probe(&probe);
		snprintf(why, len, "--method io_uring: %s", probe.ring_error ? probe.ring_text :
			 strerror(-ret));
		return ds_ring_short(-ret) ? ret : -EOPNOTSUPP;
	}
	s->has_ring = true;
	ops = io_uring_get_probe_ring(&s->ring);
	can = ops && io_uring_opcode_supported(ops, IORING_OP_UNLINKAT);
	if (ops)
		io_uring_free_probe(ops);
	if (can)
		return 0;
	snprintf(why, len,
		 "--method io_uring: this kernel lacks IORING_OP_UNLINKAT, which came with Linux 5.11");
	return -EOPNOTSUPP;
}

/**
 * ds_sparse_open() - get ready; makes no file yet
 * @top:	where directories are made; has to stay open
 * @why:	on an error what failed and why
 *
 * ds_sparse_close() is to be called either way.
 *
 * Return: 0; -EOPNOTSUPP when this kernel has not what the method needs; -errno.
 */
int ds_sparse_open(struct ds_sparse *s, const struct ds_sparse_params *p, int top, char *why,
		   size_t len)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	s->p = *p;
	s->nr = p->dirs * p->files;
	s->page = sysconf(_SC_PAGESIZE);
	s->top = top;
	s->dir = calloc(p->dirs, sizeof(*s->dir));
	s->turn = calloc(s->nr, sizeof(*s->turn));
	if (!s->dir || !s->turn)
		return failed(why, len, -ENOMEM, "room for the names of %u files", s->nr);
	for (i = 0; i < p->dirs; i++)
		s->dir[i] = -1;
	ds_sparse_shuffle(s->turn, s->nr, p->seed);
	return p->method->ring ? open_ring(s, why, len) : 0;
}

/**
 * ds_sparse_close() - free what ds_sparse_open() took; files stay
 */
void ds_sparse_close(struct ds_sparse *s)
{
	u32 i;

	for (i = 0; s->dir && i < s->p.dirs; i++) {
		if (s->dir[i] >= 0)
			close(s->dir[i]);
	}
	if (s->has_ring)
		io_uring_queue_exit(&s->ring);
	s->has_ring = false;
	free(s->dir);
	free(s->turn);
	s->dir = NULL;
	s->turn = NULL;
}

/*
 * With a window of 2^order pages: one of that length, so that the next ones begin where
 * such folios can.  From 16 bytes the kernel gets to windows that lie across.
 */
static int read_window(const struct ds_sparse *s, int fd, char *why, size_t len)
{
	u64 want = (u64)s->page << s->p.order;
	void *buf;
	ssize_t n;
	int err;

	if (want > s->p.size)
		want = s->p.size;
	buf = malloc(want);
	n = buf ? pread(fd, buf, want, 0) : -1;
	err = buf ? errno : ENOMEM;
	free(buf);
	return n < 0 ? failed(why, len, -err, "reading a window") : 0;
}

/* Every page once, so that all of them are in the page cache. */
static int read_pages(const struct ds_sparse *s, int fd, char *why, size_t len)
{
	char buf[READ_BYTES];
	ssize_t n;
	u64 at;

	if (s->p.order > 0 && read_window(s, fd, why, len))
		return -EIO;
	for (at = 0; at < s->p.size; at += s->page) {
		n = pread(fd, buf, sizeof(buf), at);
		if (n == sizeof(buf))
			continue;
		if (n < 0 && errno == EINTR) {
			at -= s->page;
			continue;
		}
		return failed(why, len, n < 0 ? -errno : -EIO, "reading at %llu", at);
	}
	return 0;
}

/**
 * ds_sparse_make_file() - one file, with all of its pages in the page cache
 * @dir:	the directory it is made in
 *
 * Return: an open descriptor of it, or -errno and @why.
 */
int ds_sparse_make_file(const struct ds_sparse *s, int dir, const char *name, char *why,
			size_t len)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), ret;

	if (fd < 0)
		return failed(why, len, -errno, "making a file");
	if (ftruncate(fd, s->p.size)) {
		ret = failed(why, len, -errno, "making a file of %llu bytes", s->p.size);
		goto fail;
	}
	/* no read-ahead: each page is brought in alone (Linux: FMODE_RANDOM) */
	ret = s->p.order ? 0 : -posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (ret) {
		failed(why, len, ret, "POSIX_FADV_RANDOM");
		goto fail;
	}
	ret = read_pages(s, fd, why, len);
	if (!ret)
		return fd;
fail:
	close(fd);
	return ret;
}

static int make_dir(struct ds_sparse *s, u32 dir, char *why, size_t len)
{
	char name[NAME_LEN];

	dir_name(dir, name);
	if (mkdirat(s->top, name, 0700))
		return failed(why, len, -errno, "making a directory");
	s->dir[dir] = openat(s->top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir[dir] < 0)
		return failed(why, len, -errno, "opening a directory");
	return 0;
}

/**
 * ds_sparse_populate() - make all files and read every page of them once
 *
 * They are on the disk as far as they ever are when it returns.  After an error some
 * are there, for ds_sparse_clear().
 *
 * Return: 0; -ECANCELED when @go_on said so; -errno.
 */
int ds_sparse_populate(struct ds_sparse *s, char *why, size_t len)
{
	char name[NAME_LEN];
	int ret;
	u32 i;

	for (i = 0; i < s->nr; i++) {
		u32 dir = i / s->p.files;

		if (!s->p.go_on(s->p.arg, "reading", i, s->nr))
			return stopped(why, len);
		if (s->dir[dir] < 0) {
			ret = make_dir(s, dir, why, len);
			if (ret)
				return ret;
		}
		file_name(i % s->p.files, name);
		ret = ds_sparse_make_file(s, s->dir[dir], name, why, len);
		if (ret < 0)
			return ret;
		close(ret);
	}
	if (syncfs(s->dir[0]))
		return failed(why, len, -errno, "syncfs");
	return 0;
}

/* Cached pages of an open file. */
static int cached_of(const struct ds_sparse *s, int fd, u8 *vec, u64 *pages)
{
	u64 at, bytes, i;
	void *map;
	int ret;

	for (at = 0; at < s->p.size; at += bytes) {
		bytes = s->p.size - at < WINDOW ? s->p.size - at : WINDOW;
		/* no page is touched, so the mapping changes nothing */
		map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, at);
		if (map == MAP_FAILED)
			return -errno;
		ret = mincore(map, bytes, vec) ? -errno : 0;
		munmap(map, bytes);
		if (ret)
			return ret;
		for (i = 0; i < bytes / s->page; i++)
			*pages += vec[i] & 1;
	}
	return 0;
}

/**
 * ds_sparse_resident() - how many pages of all files are in the page cache
 *
 * Return: 0 or -errno.
 */
int ds_sparse_resident(struct ds_sparse *s, u64 *pages, char *why, size_t len)
{
	u8 *vec = malloc(WINDOW / s->page);
	char name[NAME_LEN];
	int fd, ret = 0;
	u32 i;

	*pages = 0;
	if (!vec)
		return failed(why, len, -ENOMEM, "mincore");
	for (i = 0; i < s->nr && !ret; i++) {
		file_name(i % s->p.files, name);
		fd = openat(s->dir[i / s->p.files], name, O_RDONLY | O_CLOEXEC);
		ret = fd < 0 ? -errno : cached_of(s, fd, vec, pages);
		if (fd >= 0)
			close(fd);
	}
	free(vec);
	return ret ? failed(why, len, ret, "looking for cached pages") : 0;
}

/* Unlike CLOCK_MONOTONIC it is never slewed. */
static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int remove_one(struct ds_sparse *s, u32 file, u64 *ns)
{
	int dir = s->dir[file / s->p.files], fd = -1, ret;
	char name[NAME_LEN];
	u64 start;

	file_name(file % s->p.files, name);
	if (s->p.method->opens) {
		fd = openat(dir, name, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	start = now_ns();
	ret = s->p.method->remove(s, dir, name, fd);
	*ns = now_ns() - start;
	if (fd >= 0)
		close(fd);
	return ret;
}

/**
 * ds_sparse_remove() - remove the files one by one, and take the time of each
 * @ns: of each, in the order in which they went
 *
 * Nothing but the removal is timed.
 *
 * Return: 0; -ECANCELED when @go_on said so; -errno.
 */
int ds_sparse_remove(struct ds_sparse *s, u64 *ns, char *why, size_t len)
{
	int ret;
	u32 i;

	for (i = 0; i < s->nr; i++) {
		if (!s->p.go_on(s->p.arg, "removing", i, s->nr))
			return stopped(why, len);
		ret = remove_one(s, s->turn[i], &ns[i]);
		if (ret)
			return failed(why, len, ret, "%s of a file", s->p.method->name);
	}
	return 0;
}

/**
 * ds_sparse_clear() - remove all files and directories that are left
 *
 * Return: 0 or the first -errno; what could be removed is gone.
 */
int ds_sparse_clear(struct ds_sparse *s)
{
	char name[NAME_LEN];
	int ret = 0;
	u32 i, k;

	for (i = 0; i < s->p.dirs; i++) {
		for (k = 0; s->dir[i] >= 0 && k < s->p.files; k++) {
			file_name(k, name);
			if (unlinkat(s->dir[i], name, 0) && errno != ENOENT && !ret)
				ret = -errno;
		}
		if (s->dir[i] >= 0)
			close(s->dir[i]);
		s->dir[i] = -1;
		dir_name(i, name);
		if (unlinkat(s->top, name, AT_REMOVEDIR) && errno != ENOENT && !ret)
			ret = -errno;
	}
	return ret;
}
