/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The monotonic clock, and sleeping.  Times of the load and of the journal; what
 * ctl counts in milliseconds is in ctl/common.h.
 */
#ifndef DS_CLOCK_H
#define DS_CLOCK_H

#include <time.h>

#include "types.h"

/* CLOCK_MONOTONIC in nanoseconds. */
static inline u64 ds_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Ends earlier when a signal comes. */
static inline void ds_sleep_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L };

	nanosleep(&ts, NULL);
}

#endif /* DS_CLOCK_H */
