/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of samples: the times of drainctl sparsetruncate, or of mmtests' log.
 * See samples.c.
 */
#ifndef DS_SAMPLES_H
#define DS_SAMPLES_H

#include "common.h"

#define DS_SAMPLES_MAX 4000000		/* of one run */
#define DS_SAMPLES_GROUPS 4096		/* boots, iterations, keys of a boot, files */
#define DS_SAMPLES_LINE 4096		/* a longer line is no line */
#define DS_SAMPLES_NAME 128

/**
 * struct ds_sample_key - one "# key: value" line
 * @counted: a whole number that stood between "# iteration: N" and its samples; @count
 *	is the sum over the iterations, the largest where the key ends in "_max"
 */
struct ds_sample_key {
	char *key;
	char *value;
	bool counted;
	u64 count;
};

/**
 * struct ds_boot - what one boot of the kernel measured
 * @id:		the value of its key "boot", or the file where there is none
 * @file:	the first file with samples of it
 * @keys:	of its files, each pair once, and a counted one once
 * @v:		its samples, sorted
 * @iterations:	how many of the run's
 */
struct ds_boot {
	char *id;
	char *file;
	struct ds_sample_key *keys;
	unsigned int nr_keys;
	double *v;
	size_t nr;
	double median;
	unsigned int iterations;
};

/* Samples that follow each other in one file, between two "# iteration" lines. */
struct ds_iteration {
	unsigned int boot;
	size_t first, nr;
	double median;
};

/**
 * struct ds_samples - all samples of one kernel
 * @v:		microseconds, in the order they were read
 * @sorted:	the same, ascending
 */
struct ds_samples {
	char *name;
	double *v;
	double *sorted;
	size_t nr, room;
	struct ds_boot *boots;
	unsigned int nr_boots;
	struct ds_iteration *iterations;
	unsigned int nr_iterations;
	struct ds_sample_file {
		u64 dev, ino;
	} *files;
	unsigned int nr_files;
};

int ds_samples_read(struct ds_samples *s, const char *arg, struct ds_err *err);
void ds_samples_free(struct ds_samples *s);
const char *ds_boot_key(const struct ds_boot *b, const char *key);
bool ds_samples_count(const struct ds_samples *s, const char *key, u64 *count);
bool ds_samples_drains(const struct ds_samples *s, double *per_usage);

#endif /* DS_SAMPLES_H */
