// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file systems of --fs that need a device: made by the controller, so that
 * their memory is not charged to the load's control group, and handed to the
 * load.  How one is made is in stress/own_fs.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "text.h"

/* The rest of the machine shall have some memory too. */
#define SPARE (96ULL << 20)

/* An error that says so is better than the OOM killer. */
static int enough_memory(u32 mask, u64 memory, struct ds_err *err)
{
	u64 need = 0, have = ds_read_key("/proc/meminfo", "MemAvailable:") << 10;
	unsigned int i;

	for (i = 0; i < DS_NR_OWN_FS; i++) {
		if (mask & DS_OWN_FS_BIT(i))
			need += ds_own_fs_kinds[i].bytes;
	}
	if (!need || !have || need + memory + SPARE <= have)
		return 0;
	return ds_error(err, DS_EXIT_ERROR, ENOMEM,
			"--fs: the file systems take %llu MiB, the load %llu and %llu are to spare, but %llu MiB are available: lower --memory or name fewer",
			need >> 20, memory >> 20, SPARE >> 20, have >> 20);
}

/**
 * ds_fs_make() - make what --fs names and a device is needed for
 * @mask:	DS_OWN_FS_BIT() of each kind
 * @memory:	bytes that others will take
 * @own, @nr:	where they are put; @own has room for all kinds
 *
 * Return: 0, or -1 and @err; what was made is closed by ds_fs_close() all the
 * same.
 */
int ds_fs_make(u32 mask, u64 memory, struct ds_place *own, unsigned int *nr, struct ds_err *err)
{
	char why[400];
	unsigned int i;
	bool skip;

	*nr = 0;
	if (enough_memory(mask, memory, err))
		return -1;
	for (i = 0; i < DS_NR_OWN_FS; i++) {
		const struct ds_own_fs *fs = &ds_own_fs_kinds[i];
		struct ds_place *place = &own[*nr];

		if (!(mask & DS_OWN_FS_BIT(i)) || !fs->bytes)
			continue;
		place->fd = ds_own_fs_make(fs, &skip, why, sizeof(why));
		if (place->fd < 0)
			return ds_error(err, skip ? DS_EXIT_SKIP : DS_EXIT_ERROR, -place->fd,
					"--fs %s: %s", fs->name, why);
		place->disk = true;
		snprintf(place->name, sizeof(place->name), "%s of its own", fs->name);
		(*nr)++;
	}
	return 0;
}

/**
 * ds_fs_close() - leave them to whoever has files there
 */
void ds_fs_close(struct ds_place *own, unsigned int *nr)
{
	while (*nr)
		close(own[--*nr].fd);
}
