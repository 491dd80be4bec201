/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File systems of the tool's own.  See own_fs.c.
 */
#ifndef DS_OWN_FS_H
#define DS_OWN_FS_H

#include <stddef.h>

#include "types.h"

#define DS_OWN_FS_ARGS 12

/**
 * struct ds_own_fs - a kind of file system
 * @name:	the kernel's, and that of --fs
 * @bytes:	how large one is made, 0: one that needs no device
 * @mkfs:	the program that makes one
 * @package:	where the program is found, for messages
 * @args:	of the program; the device comes behind them
 */
struct ds_own_fs {
	const char *name;
	u64 bytes;
	const char *mkfs;
	const char *package;
	const char *const args[DS_OWN_FS_ARGS];
};

extern const struct ds_own_fs ds_own_fs_kinds[];
extern const unsigned int ds_nr_own_fs;

int ds_own_fs_find(const char *name);
void ds_own_fs_names(char *buf, size_t len);
int ds_own_fs_make(const struct ds_own_fs *fs, bool *skip, char *why, size_t len);

#endif /* DS_OWN_FS_H */
