/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel log and the taint flags during a run.  See kmsg.c.
 */
#ifndef DS_KMSG_H
#define DS_KMSG_H

#include <regex.h>

#include "common.h"

#define DS_KMSG_EXCERPT 80	/* lines kept, from the first bad one on */
#define DS_KMSG_LINE 256

/**
 * struct ds_kmsg - the reader
 * @fd:		/dev/kmsg, -1 when it is not read
 * @bad:	lines that match a pattern and no exception
 * @lines:	all lines
 * @lost:	times the ring buffer overtook us
 * @excerpt:	the first bad line and what followed it
 */
struct ds_kmsg {
	int fd;
	regex_t *patterns;
	regex_t *exceptions;
	unsigned int nr_patterns, nr_exceptions;
	u64 bad;
	u64 lines;
	u64 lost;
	unsigned int nr_excerpt;
	char (*excerpt)[DS_KMSG_LINE];
};

int ds_kmsg_init(struct ds_kmsg *k, struct ds_err *err);
int ds_kmsg_open(struct ds_kmsg *k, struct ds_err *err);
int ds_kmsg_read(struct ds_kmsg *k);
bool ds_kmsg_record(struct ds_kmsg *k, const char *record, size_t len);
void ds_kmsg_close(struct ds_kmsg *k);

/* Taint flags that a test module legitimately sets: O, E and N. */
#define DS_TAINT_IGNORED ((1ULL << 12) | (1ULL << 13) | (1ULL << 18))

u64 ds_taint_read(void);
void ds_taint_letters(u64 taint, char *buf, size_t len);

#endif /* DS_KMSG_H */
