// SPDX-License-Identifier: GPL-2.0-only
/*
 * Swap of the load's own: a zram device, else a file in a directory on a disk.  It
 * is put back by the journal (undo.c) whoever dies, so that there is no function
 * that removes it.  What is swapped when is up to the operations.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/swap.h>
#include <unistd.h>

#include "own_swap.h"
#include "text.h"

#define SWAP_BYTES (64ULL << 20)
#define CONTROL "/sys/class/zram-control"
#define CHUNK 65536U
/* union swap_header, include/linux/swap.h: where its fields are */
#define AT_VERSION 1024
#define AT_LAST_PAGE 1028
#define MAGIC "SWAPSPACE2"
/* Before whatever else the machine swaps to. */
#define PRIORITY (SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK)

/**
 * ds_own_swap_header() - what the first page of swap begins and ends with
 * @bytes: of the swap, with this page
 */
void ds_own_swap_header(void *page, size_t page_size, u64 bytes)
{
	u32 version = 1, last = bytes / page_size - 1;

	memset(page, 0, page_size);
	memcpy((char *)page + AT_VERSION, &version, sizeof(version));
	memcpy((char *)page + AT_LAST_PAGE, &last, sizeof(last));
	memcpy((char *)page + page_size - strlen(MAGIC), MAGIC, strlen(MAGIC));
}

/*
 * A directory that a swap file can be in.  Not one of the load's own file systems:
 * those are in memory, and swapping to memory would wait for itself.
 */
static const struct ds_place *disk_place(const struct ds_places *places)
{
	struct statfs st;
	unsigned int i;

	for (i = 0; i < places->nr; i++) {
		const struct ds_place *p = &places->v[i];

		if (p->disk && !p->own && p->fd >= 0 && !fstatfs(p->fd, &st) &&
		    (u64)st.f_bavail * st.f_bsize >= 2 * SWAP_BYTES)
			return p;
	}
	return NULL;
}

/**
 * ds_own_swap_can() - would there be swap?  Makes none
 */
bool ds_own_swap_can(const struct ds_places *places, char *why, size_t len)
{
	if (access("/proc/swaps", F_OK)) {
		snprintf(why, len, "this kernel cannot swap: it needs CONFIG_SWAP");
		return false;
	}
	if (geteuid()) {
		snprintf(why, len, "only root may swap");
		return false;
	}
	if (!access(CONTROL "/hot_add", R_OK) || disk_place(places))
		return true;
	snprintf(why, len,
		 "nothing to swap to: no zram (modprobe zram brings it), and no directory on a disk with %llu MiB free (--dir)",
		 2 * SWAP_BYTES >> 20);
	return false;
}

static int write_header(int fd)
{
	long size = sysconf(_SC_PAGESIZE);
	void *page = malloc(size);
	int ret = 0;

	if (!page)
		return -ENOMEM;
	ds_own_swap_header(page, size, SWAP_BYTES);
	if (pwrite(fd, page, size, 0) != size || fsync(fd))
		ret = errno ? -errno : -EIO;
	free(page);
	return ret;
}

/*
 * A device, which has an entry from its making on: until its number is known the one
 * for the lowest that is free, which zram_add() of drivers/block/zram/zram_drv.c takes.
 */
static int add_zram(u64 *nr, struct ds_undo *undo)
{
	unsigned int next = 0;
	char path[64], text[32];
	int intent, ret;

	do
		snprintf(path, sizeof(path), "/sys/block/zram%u/disksize", next);
	while (!access(path, F_OK) && ++next);
	intent = ds_undo_push(undo, DS_UNDO_ZRAM, CONTROL "/hot_remove", path);
	if (intent < 0)
		return intent;
	ret = ds_read_u64(CONTROL "/hot_add", nr);
	if (!ret) {
		snprintf(text, sizeof(text), "%llu", *nr);
		ret = ds_undo_push(undo, DS_UNDO_WRITE, CONTROL "/hot_remove", text);
		if (ret < 0)
			ds_write_text(CONTROL "/hot_remove", text);
	}
	ds_undo_pop(undo, intent);
	return ret < 0 ? ret : 0;
}

static int make_zram(struct ds_own_swap *sw, struct ds_undo *undo)
{
	char path[64], text[32];
	int fd, ret;
	u64 nr;

	ret = add_zram(&nr, undo);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/sys/block/zram%llu/disksize", nr);
	snprintf(text, sizeof(text), "%llu", SWAP_BYTES);
	ret = ds_write_text(path, text);
	if (ret)
		return ret;
	snprintf(sw->path, sizeof(sw->path), "/dev/zram%llu", nr);
	fd = open(sw->path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_header(fd);
	close(fd);
	return ret;
}

/* Without holes, which swap may not have. */
static int fill_file(int fd)
{
	char *zeros = calloc(1, CHUNK);
	u64 at;
	int ret = 0;

	if (!zeros)
		return -ENOMEM;
	for (at = 0; !ret && at < SWAP_BYTES; at += CHUNK) {
		if (pwrite(fd, zeros, CHUNK, at) != (ssize_t)CHUNK)
			ret = errno ? -errno : -EIO;
	}
	free(zeros);
	return ret ? ret : write_header(fd);
}

static int make_file(struct ds_own_swap *sw, const struct ds_place *place, pid_t controller,
		     struct ds_undo *undo)
{
	char link[32], dir[200];
	ssize_t n;
	int fd, ret;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place->fd);
	n = readlink(link, dir, sizeof(dir) - 1);
	if (n < 0)
		return -errno;
	dir[n] = '\0';
	snprintf(sw->path, sizeof(sw->path), "%s/drainstress-%d.swap", dir, controller);
	ret = ds_undo_push(undo, DS_UNDO_UNLINK, sw->path, NULL);
	if (ret < 0)
		return ret;
	fd = open(sw->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	errno = 0;
	ret = fill_file(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return ret;
}

/**
 * ds_own_swap_make() - make swap, and swap to it
 * @controller: names a file
 * @undo: journal, by which it goes again, also after an error
 * @why: on an error what failed and why
 *
 * Return: 0 or -errno.
 */
int ds_own_swap_make(struct ds_own_swap *sw, const struct ds_places *places, pid_t controller,
		     struct ds_undo *undo, char *why, size_t len)
{
	const struct ds_place *place = disk_place(places);
	int ret = -ENOENT;

	sw->path[0] = '\0';
	if (!ds_own_swap_can(places, why, len))
		return -ENOENT;
	if (!access(CONTROL "/hot_add", R_OK))
		ret = make_zram(sw, undo);
	if (ret && place)
		ret = make_file(sw, place, controller, undo);
	if (!ret) {
		ret = ds_undo_push(undo, DS_UNDO_SWAPOFF, sw->path, NULL);
		ret = ret < 0 ? ret : ds_own_swap_on(sw);
	}
	if (ret)
		snprintf(why, len, "%s cannot be swapped to: %s",
			 sw->path[0] ? sw->path : "a zram device", strerror(-ret));
	return ret;
}

/**
 * ds_own_swap_on() - swap to it
 *
 * Return: 0, also when it is swapped to, or -errno.
 */
int ds_own_swap_on(struct ds_own_swap *sw)
{
	if (swapon(sw->path, PRIORITY) && errno != EBUSY)
		return -errno;
	ds_set(&sw->on, 1);
	return 0;
}

/**
 * ds_own_swap_off() - bring all back that is there, and do not swap to it
 *
 * Return: 0 or -errno; on an error it is swapped to as before.
 */
int ds_own_swap_off(struct ds_own_swap *sw)
{
	if (swapoff(sw->path))
		return -errno;
	ds_set(&sw->on, 0);
	return 0;
}
