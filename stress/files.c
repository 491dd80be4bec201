// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the load's files live: a tmpfs of its own that is mounted nowhere, file
 * systems that the controller made for it (own_fs.c), an ext4 where there is
 * one, and directories the user named.  All files are
 * nameless, so nothing stays behind whoever dies.  It does not write to them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "files.h"

#define ROOM 1048576		/* bytes that have to be free in a directory */

static struct ds_place *place_new(struct ds_places *p)
{
	if (p->nr == DS_PLACES_MAX)
		return NULL;
	return &p->v[p->nr];
}

/*
 * A tmpfs that is attached to no directory: it lives as long as its descriptor and
 * the files opened in it.  @huge: of its option huge=, NULL: as the kernel has it.
 * Return: the mount's descriptor, or -errno.
 */
static int mount_tmpfs(u64 bytes, u32 files, const char *huge)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), mnt;
	char size[32], inodes[32];

	if (fs < 0)
		return -errno;
	snprintf(size, sizeof(size), "%llu", bytes);
	snprintf(inodes, sizeof(inodes), "%u", files + 16);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) ||
	    (huge && fsconfig(fs, FSCONFIG_SET_STRING, "huge", huge, 0)) ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) {
		mnt = -errno;
	} else {
		mnt = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
		if (mnt < 0)
			mnt = -errno;
	}
	close(fs);
	return mnt;
}

static void add_mount(struct ds_places *p, struct ds_place *place, int mnt, const char *name)
{
	place->fd = mnt;
	place->disk = false;
	place->own = true;
	snprintf(place->name, sizeof(place->name), "%s", name);
	p->nr++;
}

/**
 * ds_places_add_tmpfs() - a detached tmpfs, or memfds where that is refused
 * @bytes:	size limit of the file system
 * @files:	inodes it has to hold
 * @note:	what was done instead, empty when all went well
 *
 * Return: 0, or -ENOSPC when there are too many places.
 */
int ds_places_add_tmpfs(struct ds_places *p, u64 bytes, u32 files, char *note, size_t len)
{
	struct ds_place *place = place_new(p);
	int mnt;

	note[0] = '\0';
	if (!place)
		return -ENOSPC;
	mnt = mount_tmpfs(bytes, files, NULL);
	if (mnt >= 0) {
		add_mount(p, place, mnt, "tmpfs");
		return 0;
	}
	place->fd = -1;
	place->disk = false;
	snprintf(place->name, sizeof(place->name), "memfd");
	snprintf(note, len, "no tmpfs of its own (%s): memfd_create(2) files instead",
		 strerror(-mnt));
	p->nr++;
	return 0;
}

/**
 * ds_places_add_huge() - a tmpfs that takes huge pages wherever it can
 * @why: on an error what failed and why
 *
 * Return: 0 or -errno; -EINVAL when the kernel knows no huge pages.
 */
int ds_places_add_huge(struct ds_places *p, u64 bytes, u32 files, char *why, size_t len)
{
	struct ds_place *place = place_new(p);
	int mnt = place ? mount_tmpfs(bytes, files, "always") : -ENOSPC;

	if (mnt < 0) {
		snprintf(why, len, "tmpfs with huge=always: %s%s", strerror(-mnt),
			 mnt == -EINVAL ? ": this kernel or machine has no huge pages" : "");
		return mnt;
	}
	add_mount(p, place, mnt, "tmpfs with huge pages");
	return 0;
}

/*
 * Too full to write anything there?  Some file systems know no size; what ext4
 * keeps back for itself counts as free, but not as available.
 */
static bool no_room(const struct statfs *st)
{
	return st->f_blocks && (u64)st->f_bavail * st->f_bsize < ROOM;
}

/**
 * ds_places_add_dir() - a directory the user named
 * @why: on an error what failed and why
 *
 * Return: 0 or -errno; a directory in which no file can be made, or nothing be
 * written, is an error.
 */
int ds_places_add_dir(struct ds_places *p, const char *dir, char *why, size_t len)
{
	struct ds_place *place = place_new(p);
	struct statfs st;
	int fd, err;

	if (!place) {
		snprintf(why, len, "%s: at most %d directories", dir, DS_PLACES_MAX - 6);
		return -ENOSPC;
	}
	place->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place->fd < 0) {
		err = -errno;
		snprintf(why, len, "%s: %s", dir, strerror(-err));
		return err;
	}
	memset(&st, 0, sizeof(st));
	place->disk = fstatfs(place->fd, &st) || st.f_type != TMPFS_MAGIC;
	if (no_room(&st)) {
		snprintf(why, len, "%s: less than %d KiB are free there", dir, ROOM >> 10);
		close(place->fd);
		return -ENOSPC;
	}
	snprintf(place->name, sizeof(place->name), "%s", dir);
	fd = ds_place_file(place);
	if (fd < 0) {
		snprintf(why, len, "%s: no file can be made there: %s", dir, strerror(-fd));
		close(place->fd);
		return fd;
	}
	close(fd);
	p->nr++;
	return 0;
}

/**
 * ds_places_add_own() - a file system that the controller made
 *
 * It is small, so files take at most half of what is free.
 *
 * Return: 0 or -errno.
 */
int ds_places_add_own(struct ds_places *p, const struct ds_place *own)
{
	struct ds_place *place = place_new(p);
	struct statfs st;

	if (!place)
		return -ENOSPC;
	if (fstatfs(own->fd, &st))
		return -errno;
	*place = *own;
	place->own = true;
	place->room = (u64)st.f_bavail * st.f_bsize / 2;
	p->nr++;
	return 0;
}

/**
 * ds_places_add_ext4() - the first writable ext4 of the usual places, if any
 * @note: says which, or that there is none
 */
void ds_places_add_ext4(struct ds_places *p, char *note, size_t len)
{
	static const char * const dirs[] = { "/var/tmp", "/tmp" };
	struct statfs st;
	unsigned int i;
	char why[160];

	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (statfs(dirs[i], &st) || st.f_type != EXT4_SUPER_MAGIC)
			continue;
		if (ds_places_add_dir(p, dirs[i], why, sizeof(why)))
			continue;
		note[0] = '\0';
		return;
	}
	snprintf(note, len, "no ext4 with room in /var/tmp or /tmp: only tmpfs is truncated");
}

/**
 * ds_place_file() - a new nameless file, open for reading and writing
 *
 * Return: a file descriptor or -errno.
 */
int ds_place_file(const struct ds_place *place)
{
	static unsigned int serial;
	char name[48];
	int fd;

	if (place->fd < 0) {
		fd = memfd_create("drainstress", MFD_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	fd = openat(place->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	/* a file system without O_TMPFILE: the name lives for a moment only */
	snprintf(name, sizeof(name), ".drainstress-%d-%u", getpid(), serial++);
	fd = openat(place->fd, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(place->fd, name, 0);
	return fd;
}

/**
 * ds_places_close() - close the directories; open files stay usable
 */
void ds_places_close(struct ds_places *p)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++) {
		if (p->v[i].fd >= 0)
			close(p->v[i].fd);
	}
	p->nr = 0;
}
