/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A soak under way: what run.c, which sets it up and ends it, and run_watch.c,
 * which watches it, share.
 */
#ifndef DS_RUN_H
#define DS_RUN_H

#include "cgroup.h"
#include "progress.h"
#include "report.h"
#include "run_opts.h"

#define DS_CHECK_MS 120000	/* limit of one check at rest */

/**
 * struct ds_run - a soak under way
 * @own, @nr_own: file systems made for the load, until it has opened its files
 * @start_ms, @end_ms: of the load, CLOCK_MONOTONIC
 * @check:	request id of the check under way, 0 for none
 * @lost:	events were lost: results have to be read again
 * @heard_ms:	when the module was last heard of
 * @violated:	a violation that counts has been seen
 * @planted:	--plant has been done
 * @mix_violated, @mix_failed: so much has been told of the mix threads
 * @undone:	what the load left has been put back, as far as it could
 * @put_back:	so has all else
 * @gone:	netlink does not work any more: nothing is asked
 * @shown:	violations printed so far
 * @notes_said:	so many of the report's notes were said when they came up
 * @fresh:	the module's part of @now is new
 * @known_shown: known issues that were printed, bit (invariant - 1)
 * @stalled_ms:	age of the oldest drain that has not returned
 * @dogs:	one for each thread of the load
 * @fill_dog:	the race's fills
 * @stall_dog:	knows the longest stall of a drain that was none
 */
struct ds_run {
	struct ds_run_opts o;
	struct ds_report r;
	struct ds_method_choice choice;
	struct ds_nl *nl;
	struct ds_load load;
	struct ds_place own[DS_PLACES_MAX];
	unsigned int nr_own;
	struct ds_cgroup cg;
	struct ds_cgroup own_cg;	/* for the module's own files */
	struct ds_alloc_fail alloc_fail;
	struct ds_kmsg kmsg;
	struct ds_progress progress;
	struct ds_snapshot now;
	FILE *events, *output;
	char online[DS_STRING_MAX];	/* CPUs, when it began */
	u64 start_ms, end_ms, last_ms;
	u32 check;
	u64 check_sent_ms, check_next_ms;
	u64 heard_ms;
	bool lost, violated, planted, gone;
	bool mix_violated, mix_failed;
	bool undone, put_back;
	bool fresh;
	unsigned int shown;
	unsigned int notes_said;
	u64 known_shown;
	u64 stalled_ms;
	u64 stalled_before_ms;
	struct ds_watchdog *dogs;
	struct ds_watchdog fill_dog, stall_dog;
};

/**
 * struct ds_run_outcome - what has become of a run, in short
 * @first:	"I7", "hang", "kernel", "other", or "" when it did not fail
 * @why:	the weightiest reason of the verdict
 */
struct ds_run_outcome {
	char first[16];
	char why[600];
	char load_decisions[24], race_decisions[24];
	double seconds;
};

int ds_run_once(const struct ds_run_opts *o, struct ds_run_outcome *out);
void __printf(2, 3) ds_run_say(struct ds_run *run, const char *fmt, ...);
void ds_run_on_event(void *arg, const struct ds_msg *m);
void ds_run_netlink_failed(struct ds_run *run, const struct ds_err *err);
void ds_run_check_ended(struct ds_run *run, const struct ds_msg *m);
void ds_run_read_results(struct ds_run *run);
void ds_run_take_kmsg(struct ds_run *run);
void ds_run_take_mix(struct ds_run *run, const struct ds_mix_totals *t);
int ds_fs_make(u32 mask, u64 memory, struct ds_place *own, unsigned int *nr, struct ds_err *err);
void ds_fs_close(struct ds_place *own, unsigned int *nr);
void ds_run_soak(struct ds_run *run);

#endif /* DS_RUN_H */
