// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cleans up after runs of which controller, load and guard were killed, and says
 * each thing in one line: what the undo journals hold (stress/undo.c), and empty
 * control groups (cgroup.c).  It finds nothing by itself.
 */
#include <stdio.h>
#include <string.h>

#include "cgroup.h"
#include "stale.h"
#include "undo.h"

struct listener {
	ds_stale_say_fn say;
	void *arg;
};

static void tell(void *arg, pid_t pid, int err, const char *what)
{
	const struct listener *l = arg;
	char line[DS_UNDO_TEXT + 100];

	if (err)
		snprintf(line, sizeof(line),
			 "cannot clean up after drainctl %d, which was killed: %s: %s", pid, what,
			 strerror(err));
	else
		snprintf(line, sizeof(line), "cleaned up after drainctl %d, which was killed: %s",
			 pid, what);
	l->say(l->arg, line);
}

/**
 * ds_stale_print() - a line on standard error, for commands without a report
 */
void ds_stale_print(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "drainctl: %s\n", line);
}

/**
 * ds_stale_clean() - clean up after all who were killed
 * @say: told a line for each thing
 */
void ds_stale_clean(ds_stale_say_fn say, void *arg)
{
	struct listener l = { say, arg };

	/* a group may be in use until the rest is undone */
	ds_undo_stale(tell, &l);
	ds_cgroup_remove_stale(tell, &l);
}
