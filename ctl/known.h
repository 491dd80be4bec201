/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Known kernel issues, as listed in the files of --known.  See known.c.
 */
#ifndef DS_KNOWN_H
#define DS_KNOWN_H

#include <argp.h>

#include "common.h"

#define DS_KNOWN_MAX 64
#define DS_KNOWN_REASON 256

/* The numbers of a kernel release: 6, 1, 0, 57 of "6.1.0-57-amd64". */
struct ds_release {
	u32 part[4];
	unsigned int nr;
};

/**
 * struct ds_known - one line of a file
 * @from:	the first kernel, no parts: from the first there is
 * @to:		the last one, no parts: no end
 */
struct ds_known {
	u32 invariant;
	struct ds_release from, to;
	char reason[DS_KNOWN_REASON];
};

struct ds_known_list {
	struct ds_known v[DS_KNOWN_MAX];
	unsigned int nr;
};

void ds_release_parse(const char *release, struct ds_release *r);
int ds_known_line(const char *line, struct ds_known *k, char *why, size_t len);
int ds_known_read(struct ds_known_list *l, const char *file, struct ds_err *err);
error_t ds_args_known(struct argp_state *state, const char *file, struct ds_known_list *l);
const char *ds_known_reason(const struct ds_known_list *l, u32 invariant, const char *release);

#endif /* DS_KNOWN_H */
