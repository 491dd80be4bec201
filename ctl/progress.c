// SPDX-License-Identifier: GPL-2.0-only
/*
 * The progress line, samples of it for the report, and the watchdog over counters
 * that have to grow.  All are given what they need; they read nothing themselves.
 */
#include <string.h>
#include <unistd.h>

#include "progress.h"

#define LINE_MS 10000
#define TTY_MS 500

/**
 * ds_progress_init() - show progress on @f, unless @quiet
 */
void ds_progress_init(struct ds_progress *p, FILE *f, bool quiet, u64 total_ms)
{
	memset(p, 0, sizeof(*p));
	p->f = quiet ? NULL : f;
	p->tty = isatty(fileno(f));
	p->total_ms = total_ms;
	p->next_ms = p->tty ? TTY_MS : LINE_MS;
}

static double rate(u64 now, u64 then, u64 ms)
{
	return now > then && ms ? (now - then) * 1000.0 / ms : 0;
}

/**
 * ds_progress_show() - show @now when it is time to
 */
void ds_progress_show(struct ds_progress *p, const struct ds_snapshot *now)
{
	u64 ms = now->ms - p->last.ms;

	if (!p->f || now->ms < p->next_ms)
		return;
	p->next_ms = now->ms + (p->tty ? TTY_MS : LINE_MS);
	fprintf(p->f,
		"%s%llu/%llu s: %.0f truncates/s, %.0f fills/s, %.0f effective drains/s, %llu usages (at most %llu drains), %llu violations%s",
		p->tty ? "\r\033[K" : "", now->ms / 1000, p->total_ms / 1000,
		rate(now->truncates, p->last.truncates, ms), rate(now->fills, p->last.fills, ms),
		rate(now->effective, p->last.effective, ms), now->usages, now->usage_max,
		now->violations, p->tty ? "" : "\n");
	fflush(p->f);
	p->shown = true;
	p->last = *now;
}

/**
 * ds_progress_clear() - make room for another message on a terminal
 */
void ds_progress_clear(struct ds_progress *p)
{
	if (!p->f || !p->tty || !p->shown)
		return;
	fputs("\r\033[K", p->f);
	fflush(p->f);
	p->shown = false;
}

/* Room for a longer run: every second sample goes, the last of all stays. */
static void thin_out(struct ds_series *s)
{
	unsigned int i, nr = 0;

	for (i = 1; i < s->nr; i += 2)
		s->v[nr++] = s->v[i];
	s->nr = nr;
	s->interval_ms *= 2;
}

static void append(struct ds_series *s, const struct ds_snapshot *now)
{
	if (s->nr == DS_SERIES_MAX)
		thin_out(s);
	s->v[s->nr++] = *now;
}

static u64 since_last(const struct ds_series *s, const struct ds_snapshot *now)
{
	return now->ms - (s->nr ? s->v[s->nr - 1].ms : 0);
}

/**
 * ds_series_add() - take a sample when it is time to
 * @now: of a time not before that of the last one
 * @fresh: the module's counts are new; when it says nothing, old ones are taken after
 *	twice the time.  It says them once a second too, so that samples taken without
 *	regard to that would have none in one second and two in the next.
 */
void ds_series_add(struct ds_series *s, const struct ds_snapshot *now, bool fresh)
{
	if (!s->interval_ms)
		s->interval_ms = DS_SERIES_MS;
	if (since_last(s, now) >= (fresh ? s->interval_ms - DS_SERIES_MS / 8 : s->interval_ms * 2))
		append(s, now);
}

/**
 * ds_series_end() - take the last one, which stands for all that was done
 */
void ds_series_end(struct ds_series *s, const struct ds_snapshot *now)
{
	if (!s->interval_ms)
		s->interval_ms = DS_SERIES_MS;
	if (s->nr && since_last(s, now) < s->interval_ms / 2)
		s->v[s->nr - 1] = *now;
	else
		append(s, now);
}

/**
 * ds_watchdog_limit() - for how long a counter may stand still
 *
 * 30 s, or ten times the slowest step seen so far on a slow or busy host, but
 * never more than ten minutes.
 */
u64 ds_watchdog_limit(const struct ds_watchdog *w)
{
	u64 limit = w->slowest_ms * DS_WATCHDOG_SCALE;

	if (limit < DS_WATCHDOG_MS)
		limit = DS_WATCHDOG_MS;
	return limit > DS_WATCHDOG_TOP_MS ? DS_WATCHDOG_TOP_MS : limit;
}

/**
 * ds_watchdog_share() - how much of the time that passed counts against a thread
 * @elapsed_ms:	since the last look
 * @ran_ns, @queued_ns: for how long it ever ran, and waited for a CPU; the first two
 *		numbers of /proc/PID/schedstat (Documentation/scheduler/sched-stats.rst)
 *
 * Time in which it was ready, but had no CPU, says nothing of it; time in which it
 * ran counts a quarter, for a step may be long work where CPUs are shared by many;
 * time in which it slept counts.
 */
u64 ds_watchdog_share(struct ds_watchdog *w, u64 elapsed_ms, u64 ran_ns, u64 queued_ns)
{
	u64 ran = (ran_ns - w->ran_ns) / 1000000, queued = (queued_ns - w->queued_ns) / 1000000;
	bool first = !w->ran_ns;

	w->ran_ns = ran_ns;
	w->queued_ns = queued_ns;
	if (first)
		return elapsed_ms;
	if (queued > elapsed_ms)
		queued = elapsed_ms;
	if (ran > elapsed_ms - queued)
		ran = elapsed_ms - queued;
	return elapsed_ms - queued - ran * 3 / 4;
}

/**
 * ds_watchdog() - look at a counter
 * @value:	now
 * @elapsed_ms:	since the last look, as far as this process itself ran: time
 *		in which the whole host stood still must not be counted
 *
 * Return: true when it has stood still for too long.
 */
bool ds_watchdog(struct ds_watchdog *w, u64 value, u64 elapsed_ms)
{
	w->still_ms += elapsed_ms;
	if (value != w->value) {
		if (w->still_ms > w->slowest_ms)
			w->slowest_ms = w->still_ms;
		w->value = value;
		w->still_ms = 0;
		return false;
	}
	return w->still_ms > ds_watchdog_limit(w);
}
