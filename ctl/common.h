/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all of drainctl shares: exit codes and the error that travels up to
 * main().  Exit codes are part of the interface, see docs/drainctl.md.
 */
#ifndef DS_COMMON_H
#define DS_COMMON_H

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "types.h"

enum ds_exit {
	DS_EXIT_PASS = 0,
	DS_EXIT_FAIL = 1,
	DS_EXIT_USAGE = 2,
	DS_EXIT_INCONCLUSIVE = 3,
	DS_EXIT_SKIP = 4,
	DS_EXIT_ERROR = 5,
	DS_EXIT_HANG = 6,
};

/**
 * struct ds_err - why something did not work
 * @exit: what drainctl exits with when nobody handles it
 * @no:   positive errno, 0 when there is none
 * @text: what failed, on what, why, and what to do
 */
struct ds_err {
	enum ds_exit exit;
	int no;
	char text[512];
};

static inline int __printf(4, 5) ds_error(struct ds_err *e, enum ds_exit code, int no,
					  const char *fmt, ...)
{
	va_list ap;

	e->exit = code;
	e->no = no;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -1;
}

/* CLOCK_MONOTONIC in milliseconds. */
static inline u64 ds_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

#endif /* DS_COMMON_H */
