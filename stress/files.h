/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the load's files live.  See files.c.
 */
#ifndef DS_FILES_H
#define DS_FILES_H

#include "types.h"

#define DS_PLACES_MAX 12

/**
 * struct ds_place - a directory the load makes files in
 * @fd:		directory, or -1: memfd_create() instead
 * @disk:	its pages are written back to a disk some time
 * @own:	mounted for the load alone: files there may have names
 * @room:	bytes that files may take there in all, 0: not limited
 * @name:	what the summary calls it
 */
struct ds_place {
	int fd;
	bool disk;
	bool own;
	u64 room;
	char name[128];
};

/* All of them. */
struct ds_places {
	struct ds_place v[DS_PLACES_MAX];
	unsigned int nr;
};

int ds_places_add_tmpfs(struct ds_places *p, u64 bytes, u32 files, char *note, size_t len);
int ds_places_add_huge(struct ds_places *p, u64 bytes, u32 files, char *why, size_t len);
int ds_places_add_dir(struct ds_places *p, const char *dir, char *why, size_t len);
int ds_places_add_own(struct ds_places *p, const struct ds_place *own);
void ds_places_add_ext4(struct ds_places *p, char *note, size_t len);
void ds_places_close(struct ds_places *p);
int ds_place_file(const struct ds_place *place);

#endif /* DS_FILES_H */
