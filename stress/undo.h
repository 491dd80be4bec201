/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A journal of what of the machine is changed for a moment, so that somebody puts
 * it back whoever dies.  See undo.c.
 *
 *	slot = ds_undo_push(u, DS_UNDO_WRITE, path, "1");
 *	if (slot < 0)
 *		return slot;
 *	... change it, use it ...
 *	ret = ds_undo_do(u, slot);
 *
 * The entry is there before the change and goes after it was put back.
 */
#ifndef DS_UNDO_H
#define DS_UNDO_H

#include <sys/types.h>

#include "types.h"

#define DS_UNDO_SLOTS 62
#define DS_UNDO_TEXT 512	/* for messages */

/* How something is put back. */
enum ds_undo_kind {
	DS_UNDO_WRITE,		/* the text into the file: of sysfs, procfs, a cgroup */
	DS_UNDO_SWAPOFF,
	DS_UNDO_UNLINK,
	DS_UNDO_RMDIR,
	DS_UNDO_TREE,		/* a directory of files, and of directories of files */
	DS_UNDO_ZRAM,		/* a device of this disksize file, while it is not set up */
	DS_NR_UNDO,
};

struct ds_undo;

/**
 * typedef ds_undo_say_fn - told of each thing that had to be put back
 * @pid:  the controller whose load had changed it
 * @err:  0, or the errno for which it could not be
 * @what: "CPU 3 is online again", or on an error what could not be done
 */
typedef void (*ds_undo_say_fn)(void *arg, pid_t pid, int err, const char *what);

struct ds_undo *ds_undo_open(pid_t controller, char *why, size_t len);
int ds_undo_push(struct ds_undo *u, enum ds_undo_kind kind, const char *path, const char *text);
int ds_undo_do(struct ds_undo *u, int slot);
int ds_undo_pop(struct ds_undo *u, int slot);
void ds_undo_close(struct ds_undo *u, ds_undo_say_fn say, void *arg);

int ds_undo_all(pid_t controller, unsigned int timeout_ms, ds_undo_say_fn say, void *arg);
void ds_undo_stale(ds_undo_say_fn say, void *arg);

void ds_undo_use_dir(const char *dir);

#endif /* DS_UNDO_H */
