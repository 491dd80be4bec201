/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways the load truncates a file, as a table.  See methods.c.
 */
#ifndef DS_METHODS_H
#define DS_METHODS_H

#include <liburing.h>
#include <sys/types.h>

#include "types.h"

#define DS_METHODS_MAX 8

/* One truncate: what to do to which file. */
struct ds_trunc {
	int fd;
	u64 keep;	/* bytes that stay */
	u64 end;	/* bytes written; the file may be longer */
	char path[32];	/* /proc/self/fd/N of @fd */
};

/**
 * struct ds_method - one way to truncate
 * @name:	what --method takes and the summary prints
 * @help:	one line for --help
 * @needs:	what is missing when it is not available
 * @opcode:	io_uring opcode, -1 for a plain system call
 * @opens:	completes with a new file descriptor that has to be closed
 * @keeps:	honours @keep; the others empty the file
 * @prepare:	fills a cleared SQE; ring methods only
 * @call:	does it at once, returns 0 or -errno; others only
 */
struct ds_method {
	const char *name;
	const char *help;
	const char *needs;
	int opcode;
	bool opens;
	bool keeps;
	void (*prepare)(struct io_uring_sqe *sqe, const struct ds_trunc *t);
	int (*call)(const struct ds_trunc *t);
};

extern const struct ds_method ds_methods[];
extern const unsigned int ds_nr_methods;

/**
 * struct ds_method_probe - what this kernel can do
 * @available:	mask of rows of ds_methods
 * @ring_error:	0, or why no ring can be made (positive errno)
 * @ring_short:	it failed for want of memory or descriptors only
 * @ring_text:	the reason in words, naming sysctl or seccomp where it is known
 */
struct ds_method_probe {
	u32 available;
	int ring_error;
	bool ring_short;
	char ring_text[200];
};

/**
 * struct ds_method_choice - what a run uses
 * @ring:	rows used through the ring, taken in turn
 * @syscall:	row of the plain call, -1 for none
 * @syscall_share: out of 8 truncates so many are plain calls
 */
struct ds_method_choice {
	int ring[DS_METHODS_MAX];
	unsigned int nr_ring;
	int syscall;
	unsigned int syscall_share;
};

#define DS_METHOD_AUTO "auto"

int ds_method_find(const char *name);
void ds_methods_probe(struct ds_method_probe *p);
int ds_methods_choose(const char *name, const struct ds_method_probe *p,
		      struct ds_method_choice *c, char *why, size_t len);
bool ds_ring_short(int err);
void ds_methods_names(char *buf, size_t len);

#endif /* DS_METHODS_H */
