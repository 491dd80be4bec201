/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Job files.  See job.c.
 */
#ifndef DS_JOB_H
#define DS_JOB_H

#include "common.h"

#define DS_JOB_OPTIONS 128

/**
 * struct ds_job_option - a line KEY=VALUE, or KEY alone
 * @key:	without dashes
 * @value:	NULL: there was no "="
 * @line:	where it stands, from 1
 */
struct ds_job_option {
	const char *key;
	const char *value;
	unsigned int line;
};

/**
 * struct ds_job - a job file that was read
 * @text:	of the file; keys and values point into it
 * @v:		its options, in the order of the file
 */
struct ds_job {
	char *text;
	struct ds_job_option v[DS_JOB_OPTIONS];
	unsigned int nr;
};

int ds_job_read(struct ds_job *job, const char *file, struct ds_err *err);
void ds_job_free(struct ds_job *job);

#endif /* DS_JOB_H */
