/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The progress line, what it showed over time, and the watchdog over what has to
 * progress.  See progress.c.
 */
#ifndef DS_PROGRESS_H
#define DS_PROGRESS_H

#include "common.h"

/* What a run has done so far. */
struct ds_snapshot {
	u64 ms;			/* since the start */
	u64 truncates;
	u64 fills;
	u64 effective;
	u64 usages;
	u64 usage_max;
	u64 checks;
	u64 violations;
};

/**
 * struct ds_progress - where and how often the line is shown
 * @tty:	one line that updates, else a line every 10 s
 */
struct ds_progress {
	FILE *f;
	bool tty;
	bool shown;
	u64 total_ms;
	u64 next_ms;
	struct ds_snapshot last;
};

void ds_progress_init(struct ds_progress *p, FILE *f, bool quiet, u64 total_ms);
void ds_progress_show(struct ds_progress *p, const struct ds_snapshot *now);
void ds_progress_clear(struct ds_progress *p);

/* So many samples at most, whatever the length of a run. */
#define DS_SERIES_MAX 600
#define DS_SERIES_MS 1000

/**
 * struct ds_series - what a run had done, over time
 * @interval_ms: between two samples at least; grows with the length of the run
 * @v:	counts since the start, as they were at @v[].ms
 */
struct ds_series {
	u64 interval_ms;
	unsigned int nr;
	struct ds_snapshot v[DS_SERIES_MAX];
};

void ds_series_add(struct ds_series *s, const struct ds_snapshot *now, bool fresh);
void ds_series_end(struct ds_series *s, const struct ds_snapshot *now);

/**
 * struct ds_watchdog - one counter that has to grow
 * @value:	as last seen
 * @still_ms:	for how long it has not grown
 * @slowest_ms:	the longest it ever took to grow
 * @ran_ns, @queued_ns: of the thread that makes it grow, as last seen; for
 *		ds_watchdog_share()
 */
struct ds_watchdog {
	u64 value;
	u64 still_ms;
	u64 slowest_ms;
	u64 ran_ns;
	u64 queued_ns;
};

#define DS_WATCHDOG_MS 30000
#define DS_WATCHDOG_SCALE 10
#define DS_WATCHDOG_TOP_MS 600000

bool ds_watchdog(struct ds_watchdog *w, u64 value, u64 elapsed_ms);
u64 ds_watchdog_limit(const struct ds_watchdog *w);
u64 ds_watchdog_share(struct ds_watchdog *w, u64 elapsed_ms, u64 ran_ns, u64 queued_ns);

#endif /* DS_PROGRESS_H */
