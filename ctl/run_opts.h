/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of "drainctl run".  See run_opts.c.
 */
#ifndef DS_RUN_OPTS_H
#define DS_RUN_OPTS_H

#include "align.h"
#include "fault.h"
#include "job.h"
#include "known.h"
#include "opts.h"
#include "own_fs.h"
#include "report.h"

#define DS_DIRS_MAX 6
#define DS_KNOWN_FILES_MAX 8

struct ds_replay;

struct ds_run_opts {
	const char *job_file;		/* NULL: none */
	struct ds_job job;		/* what its options point into */
	unsigned int threads;		/* 0: 16 a CPU */
	u64 duration_ms;
	u64 interval_ms;		/* 0: no checks during the run */
	u64 seed;
	bool seeded;
	const char *replay_file;	/* NULL: drainstress-SEED.replay */
	const struct ds_replay *replay;	/* what is done in place of all decisions, or NULL */
	bool silent;			/* nothing is told, and no report written */
	const char *method;
	const char *preset;
	const char *mix;		/* as given, or NULL */
	struct ds_mix_choice choice;	/* what the two stand for */
	const struct ds_format *format;
	const char *output;
	const char *events;
	bool bare_race;
	bool require_fix, keep_going, no_race, no_load, no_accounting, no_kmsg, no_disk, quiet;
	const char *plant;
	const char *dirs[DS_DIRS_MAX];
	unsigned int nr_dirs;
	u32 fs_mask;			/* bit: index of ds_own_fs_kinds[]; 0: the usual places */
	const char *known_files[DS_KNOWN_FILES_MAX];
	unsigned int nr_known_files;
	struct ds_known_list known;
	u64 memory;			/* 0: a quarter of RAM */
	const char *kinds, *drains, *cpus;
	u64 kinds_mask, drains_mask;
	u64 stutter_ms;
	bool stutter_given;
	u64 online_rate;		/* samples a second */
	struct ds_fault_opts faults;
	struct ds_align_opts align;
};

/* The planted fault that the load makes, not the module. */
#define DS_PLANT_DATA "stale-data"

bool ds_run_plants_data(const struct ds_run_opts *o);
void ds_run_opts_default(struct ds_run_opts *o);
int ds_run_opts_parse(struct ds_run_opts *o, int argc, char **argv);
int ds_run_opts_from(struct ds_run_opts *o, const char *file, const struct ds_job_option *lines,
		     unsigned int nr);
void ds_run_opts_free(struct ds_run_opts *o);
void ds_run_repeat(const struct ds_run_opts *o, char *buf, size_t len);

#endif /* DS_RUN_OPTS_H */
