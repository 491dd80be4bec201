// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file systems of --fs that need a device: made by the controller, so that
 * their memory is not charged to the load's control group, and handed to the
 * load.  How one is made is in stress/own_fs.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

/* The rest of the machine shall have some memory too. */
#define SPARE (96ULL << 20)

static u64 mem_available(void)
{
	char key[64];
	u64 kib, found = 0;
	FILE *f = fopen("/proc/meminfo", "re");

	if (!f)
		return 0;
	while (!found && fscanf(f, "%63s %llu%*[^\n]", key, &kib) == 2) {
		if (!strcmp(key, "MemAvailable:"))
			found = kib << 10;
	}
	fclose(f);
	return found;
}

/* An error that says so is better than the OOM killer. */
static int enough_memory(const struct ds_run_opts *o, struct ds_err *err)
{
	u64 need = 0, have = mem_available();
	unsigned int i;

	for (i = 0; i < ds_nr_own_fs; i++) {
		if (o->fs_mask & (1U << i))
			need += ds_own_fs_kinds[i].bytes;
	}
	if (!need || !have || need + o->memory + SPARE <= have)
		return 0;
	return ds_error(err, DS_EXIT_ERROR, ENOMEM,
			"--fs: the file systems take %llu MiB, the load %llu and %llu are to spare, but %llu MiB are available: lower --memory or name fewer",
			need >> 20, o->memory >> 20, SPARE >> 20, have >> 20);
}

/**
 * ds_run_fs_make() - make what --fs names
 *
 * Return: 0, or -1 and @err; what was made is closed by ds_run_fs_close() all
 * the same.
 */
int ds_run_fs_make(struct ds_run *run, struct ds_err *err)
{
	char why[400];
	unsigned int i;
	bool skip;

	if (enough_memory(&run->o, err))
		return -1;
	for (i = 0; i < ds_nr_own_fs; i++) {
		const struct ds_own_fs *fs = &ds_own_fs_kinds[i];
		struct ds_place *place = &run->own[run->nr_own];

		if (!(run->o.fs_mask & (1U << i)) || !fs->bytes)
			continue;
		place->fd = ds_own_fs_make(fs, &skip, why, sizeof(why));
		if (place->fd < 0)
			return ds_error(err, skip ? DS_EXIT_SKIP : DS_EXIT_ERROR, -place->fd,
					"--fs %s: %s", fs->name, why);
		place->disk = true;
		snprintf(place->name, sizeof(place->name), "%s of its own", fs->name);
		run->nr_own++;
	}
	return 0;
}

/**
 * ds_run_fs_close() - leave them to whoever has files there
 */
void ds_run_fs_close(struct ds_run *run)
{
	while (run->nr_own)
		close(run->own[--run->nr_own].fd);
}
