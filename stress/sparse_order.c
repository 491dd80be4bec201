// SPDX-License-Identifier: GPL-2.0-only
/*
 * The folios of sparsetruncate's files: what order is wished, how it is brought
 * about as far as user space can, and a look at what came of it.  A file of its own
 * is looked at, not one that is measured: to look at a page it has to be mapped.
 *
 * Single pages are what POSIX_FADV_RANDOM gives.  A larger order is the limit of the
 * read-ahead: page_cache_ra_order() (mm/readahead.c) makes no folio larger than its
 * window, where the window is aligned, and gets to that in steps of two.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sparse.h"
#include "text.h"

#define PROBE "folios"

/* /proc/PID/pagemap and /proc/kpageflags: Documentation/admin-guide/mm/pagemap.rst */
#define MAP_PRESENT 0x8000000000000000ULL
#define MAP_PFN 0x7fffffffffffffULL
#define FLAG_HEAD 0x8000ULL	/* bit 15 */
#define FLAG_TAIL 0x10000ULL	/* bit 16 */

/**
 * ds_sparse_order_parse() - "single", "readahead", or a number
 *
 * Return: 0 or -EINVAL; there is no order 1 of page cache before Linux 6.9.
 */
int ds_sparse_order_parse(const char *text, int *order)
{
	if (!strcmp(text, "readahead")) {
		*order = DS_SPARSE_READAHEAD;
		return 0;
	}
	if (!strcmp(text, "single")) {
		*order = 0;
		return 0;
	}
	if (text[0] < '0' || text[0] > '0' + DS_SPARSE_ORDER_MAX || text[1] || text[0] == '1')
		return -EINVAL;
	*order = text[0] - '0';
	return 0;
}

/**
 * ds_sparse_order_text() - the order as it is recorded
 */
void ds_sparse_order_text(int order, char *buf, size_t len)
{
	if (order > 0)
		snprintf(buf, len, "%d", order);
	else
		snprintf(buf, len, "%s", order ? "readahead" : "single");
}

/* Where the window of the device that @top is on stands; a partition has its disk's. */
static int window_file(int top, char *path)
{
	char name[96];
	struct stat st;

	if (fstat(top, &st))
		return -errno;
	snprintf(name, sizeof(name), "/sys/class/bdi/%u:%u/read_ahead_kb", major(st.st_dev),
		 minor(st.st_dev));
	if (realpath(name, path))
		return 0;
	snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/../queue/read_ahead_kb",
		 major(st.st_dev), minor(st.st_dev));
	return realpath(name, path) ? 0 : -errno;
}

/**
 * ds_sparse_readahead() - files opened from now on have a window of 2^@order pages
 * @top:	a directory of the file system
 * @order:	above 0
 * @undo:	gets how to put the window back
 *
 * Return: 0; -EOPNOTSUPP when the file system has no window that can be set; -errno.
 */
int ds_sparse_readahead(int top, int order, struct ds_undo *undo, char *why, size_t len)
{
	char path[PATH_MAX], was[32], text[32];
	int ret = window_file(top, path);

	if (ret) {
		snprintf(why, len, "--order %d: the file system's read_ahead_kb is not in /sys: %s",
			 order, strerror(-ret));
		return -EOPNOTSUPP;
	}
	ret = ds_read_text(path, was, sizeof(was));
	if (!ret)
		ret = ds_undo_push(undo, DS_UNDO_WRITE, path, was);
	if (ret >= 0) {
		snprintf(text, sizeof(text), "%ld", (sysconf(_SC_PAGESIZE) >> 10) << order);
		ret = ds_write_text(path, text);
	}
	if (ret)
		snprintf(why, len, "--order %d: %.200s: %s", order, path, strerror(-ret));
	return ret;
}

/* pread() of whole words. */
static int read_words(int fd, u64 *words, u64 nr, u64 at)
{
	ssize_t n = pread(fd, words, nr * sizeof(*words), at * sizeof(*words));

	if (n < 0)
		return -errno;
	return (u64)n == nr * sizeof(*words) ? 0 : -EIO;
}

/* Page frame numbers become flags.  Frames that follow one another are read at once. */
static int read_flags(u64 *words, u64 nr)
{
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC), ret = 0;
	u64 i, n, pfn;

	if (fd < 0)
		return -errno;
	for (i = 0; i < nr && !ret; i += n) {
		pfn = words[i] & MAP_PFN;
		for (n = 0; i + n < nr; n++) {
			if (!(words[i + n] & MAP_PRESENT) || !pfn) {
				close(fd);
				return -EPERM;
			}
			if ((words[i + n] & MAP_PFN) != pfn + n)
				break;
		}
		ret = read_words(fd, words + i, n, pfn);
	}
	close(fd);
	return ret;
}

/**
 * ds_sparse_count_folios() - add up the folios of a file
 * @flags:	of each page, in the order of the file, as in /proc/kpageflags
 *
 * Return: 0, or -EINVAL when they make no folios.
 */
int ds_sparse_count_folios(const u64 *flags, u64 nr, struct ds_sparse_folios *f)
{
	u64 i, n;

	for (i = 0; i < nr; i += n) {
		unsigned int order = 0;

		n = 1;
		if (flags[i] & FLAG_TAIL)
			return -EINVAL;
		if (flags[i] & FLAG_HEAD) {
			while (i + n < nr && flags[i + n] & FLAG_TAIL)
				n++;
		}
		while ((1ULL << (order + 1)) <= n)
			order++;
		if ((1ULL << order) != n || order > DS_SPARSE_ORDER_MAX)
			return -EINVAL;
		f->nr[order]++;
		f->pages += n;
	}
	return 0;
}

/* The flags of all pages of an open file. */
static int flags_of(int fd, u64 size, u64 *flags, u64 nr)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), ret;
	void *map;

	if (pagemap < 0)
		return -errno;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED) {
		ret = -errno;
	} else {
		ret = read_words(pagemap, flags, nr, (unsigned long)map / sysconf(_SC_PAGESIZE));
		if (!ret)
			ret = read_flags(flags, nr);
		munmap(map, size);
	}
	close(pagemap);
	return ret;
}

/**
 * ds_sparse_look() - make one file more, look at its folios, remove it
 * @f:	they are added to it
 * @why: also when it could not be looked at
 *
 * Return: 0; -EPERM when the kernel does not show the folios; -errno.
 */
int ds_sparse_look(const struct ds_sparse *s, struct ds_sparse_folios *f, char *why, size_t len)
{
	u64 nr = s->p.size / s->page;
	u64 *flags = calloc(nr, sizeof(*flags));
	int fd, ret = -ENOMEM;

	if (!flags) {
		snprintf(why, len, "the folios of a file: %s", strerror(ENOMEM));
		return ret;
	}
	fd = ds_sparse_make_file(s, s->top, PROBE, why, len);
	if (fd >= 0) {
		unlinkat(s->top, PROBE, 0);
		ret = flags_of(fd, s->p.size, flags, nr);
		if (!ret)
			ret = ds_sparse_count_folios(flags, nr, f);
		close(fd);
		if (ret)
			snprintf(why, len, "the folios cannot be seen (/proc/kpageflags): %s",
				 strerror(-ret));
		ret = ret == -EACCES || ret == -ENOENT ? -EPERM : ret;
	} else {
		ret = fd;
	}
	free(flags);
	return ret;
}

/**
 * ds_sparse_judge() - did the files get the folios that were wished?
 * @why: when not
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int ds_sparse_judge(int order, const struct ds_sparse_folios *f, char *why, size_t len)
{
	int largest = DS_SPARSE_ORDER_MAX;

	while (largest && !f->nr[largest])
		largest--;
	if (order == DS_SPARSE_READAHEAD || largest == order)
		return 0;
	if (!order)
		snprintf(why, len,
			 "--order single: this file system has folios of order %d all the same",
			 largest);
	else
		snprintf(why, len,
			 "--order %d: folios are of at most order %d on this kernel and file system, in files of this size",
			 order, largest);
	return -EOPNOTSUPP;
}

/**
 * ds_sparse_folios_text() - "1024 of order 0", or all that there are
 */
void ds_sparse_folios_text(const struct ds_sparse_folios *f, char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	snprintf(buf, len, "unknown");
	for (i = 0; i <= DS_SPARSE_ORDER_MAX && n < len; i++) {
		if (f->nr[i])
			n += snprintf(buf + n, len - n, "%s%llu of order %u", n ? ", " : "",
				      f->nr[i], i);
	}
}
