/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replay files: what the actors of a run decided last before it failed.  See
 * replay.c (the file), replay_save.c (from a run), replay_shrink.c (shorter ones)
 * and cmd_replay.c.
 */
#ifndef DS_REPLAY_H
#define DS_REPLAY_H

#include <linux/drainstress_decide.h>

#include "job.h"
#include "load.h"
#include "run_opts.h"

#define DS_REPLAY_FORMAT 1

enum ds_actor_kind {
	DS_ACTOR_RACE,		/* kthread of a CPU */
	DS_ACTOR_FAR,		/* kthread that drains other CPUs */
	DS_ACTOR_FLOOD,		/* thread of the load */
	DS_ACTOR_MIX,
	DS_NR_ACTOR_KINDS,
};

/**
 * struct ds_actor - what one actor does
 * @number:	CPU or thread
 * @index:	@nr decisions, in their order
 * @words:	the reader's, as many
 */
struct ds_actor {
	enum ds_actor_kind kind;
	u32 number;
	u32 nr;
	u64 *index;
	const char **words;
};

/**
 * struct ds_replay - a replay file
 * @text:	of the file; strings point into it
 * @kernel, @violation, @load_decisions, @race_decisions: of the run, or NULL
 * @options:	of drainctl run
 */
struct ds_replay {
	char *text;
	const char *kernel;
	const char *violation;
	const char *load_decisions;
	const char *race_decisions;
	struct ds_job_option options[DS_JOB_OPTIONS];
	unsigned int nr_options;
	struct ds_actor *actors;
	unsigned int nr_actors;
};

/* Is it a thread of the load? */
static inline bool ds_actor_loads(const struct ds_actor *a)
{
	return a->kind >= DS_ACTOR_FLOOD;
}

int ds_replay_read(struct ds_replay *r, const char *file, struct ds_err *err);
int ds_replay_write(const struct ds_replay *r, const char *file);
void ds_replay_free(struct ds_replay *r);
int ds_replay_copy(struct ds_replay *to, const struct ds_replay *from);
u64 ds_replay_lines(const struct ds_replay *r);
bool ds_replay_has(const struct ds_replay *r, bool load);
unsigned int ds_replay_pack(const struct ds_actor *a, u64 *steps);
struct ds_load_script *ds_replay_load_scripts(const struct ds_replay *r, unsigned int threads);
const char *ds_actor_name(const struct ds_actor *a, char *buf, size_t len);

/* ---- replay_save.c ---- */

struct ds_run;

void ds_replay_save(struct ds_run *run);
int ds_replay_cpus(char *list, size_t len);

/* ---- replay_shrink.c ---- */

/**
 * struct ds_shrink - a search for a shorter file that still fails
 * @fails:	does it?  @arg is the caller's
 * @said:	told after each step forward; may be NULL
 * @over:	time is up; may be NULL
 * @candidates:	so many were tried
 */
struct ds_shrink {
	bool (*fails)(void *arg, const struct ds_replay *r);
	void (*said)(void *arg, const struct ds_replay *r);
	bool (*over)(void *arg);
	void *arg;
	unsigned int candidates;
};

int ds_replay_shrink(struct ds_shrink *s, struct ds_replay *r);

#endif /* DS_REPLAY_H */
