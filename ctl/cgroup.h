/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The load's control group and the module's.  See cgroup.c.
 */
#ifndef DS_CGROUP_H
#define DS_CGROUP_H

#include "common.h"
#include "undo.h"

/**
 * struct ds_cgroup - a group of the run's own
 * @dir:	empty when there is none
 * @procs:	cgroup.procs of the group below it that the load enters
 * @limited:	it has a memory limit
 * @guard_fd:	end of a pipe whose closing wakes the guard
 * @guard_pid:	process that removes the group, and undoes what the load changed, when
 *		this one cannot; 0 for none
 */
struct ds_cgroup {
	char dir[256];
	char procs[320];
	bool limited;
	int guard_fd;
	int guard_pid;
};

int ds_cgroup_make(struct ds_cgroup *cg, u64 limit, char *note, size_t len);
u64 ds_cgroup_make_own(struct ds_cgroup *cg);
u64 ds_cgroup_oom_kills(const struct ds_cgroup *cg);
void ds_cgroup_remove_stale(ds_undo_say_fn say, void *arg);
int ds_cgroup_rmdir(const char *dir);
int ds_cgroup_remove(struct ds_cgroup *cg, unsigned int timeout_ms);

#endif /* DS_CGROUP_H */
