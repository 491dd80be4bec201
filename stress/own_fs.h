/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File systems of the tool's own.  See own_fs.c.
 */
#ifndef DS_OWN_FS_H
#define DS_OWN_FS_H

#include <stddef.h>

#include "types.h"

#define DS_OWN_FS_ARGS 12

/* Those that need no device come first. */
enum ds_own_fs_kind {
	DS_OWN_TMPFS,
	DS_OWN_TMPFS_HUGE,
	DS_OWN_EXT4,
	DS_OWN_XFS,
	DS_OWN_BTRFS,
	DS_NR_OWN_FS,
};

#define DS_OWN_FS_BIT(kind) (1U << (kind))
#define DS_OWN_FS_TMPFS (DS_OWN_FS_BIT(DS_OWN_TMPFS) | DS_OWN_FS_BIT(DS_OWN_TMPFS_HUGE))

/**
 * struct ds_own_fs - a kind of file system
 * @name:	that of --fs
 * @type:	the kernel's name
 * @flag:	an option of the mount, or NULL
 * @bytes:	how large one is made, 0: one that needs no device
 * @mkfs:	the program that makes one
 * @package:	where the program is found, for messages
 * @args:	of the program; the device comes behind them
 */
struct ds_own_fs {
	const char *name;
	const char *type;
	const char *flag;
	u64 bytes;
	const char *mkfs;
	const char *package;
	const char *const args[DS_OWN_FS_ARGS];
};

extern const struct ds_own_fs ds_own_fs_kinds[DS_NR_OWN_FS];

int ds_own_fs_find(const char *name);
void ds_own_fs_names(char *buf, size_t len);
int ds_own_fs_make(const struct ds_own_fs *fs, bool *skip, char *why, size_t len);

#endif /* DS_OWN_FS_H */
