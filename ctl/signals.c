// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGINT and SIGTERM: the first asks for a clean stop, the second leaves at
 * once and still takes the load and its cgroup along.  (Against SIGKILL the
 * kernel helps: the load dies with its parent, the module's socket closes.)
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "signals.h"

static int seen;
static pid_t victim;
static char victim_cgroup[256];

static void leave_now(void)
{
	struct timespec ts = { .tv_nsec = 10 * 1000000L };
	int i;

	pid_t child = ds_get(&victim);

	if (child > 0) {
		kill(child, SIGKILL);
		for (i = 0; i < 100 && !waitpid(child, NULL, WNOHANG); i++)
			nanosleep(&ts, NULL);
	}
	for (i = 0; victim_cgroup[0] && i < 50 && ds_cgroup_rmdir(victim_cgroup); i++)
		nanosleep(&ts, NULL);
	_exit(DS_EXIT_INCONCLUSIVE);
}

static void on_signal(int sig)
{
	static const char text[] = "\nstopping; once more leaves at once\n";

	(void)sig;
	ds_add(&seen, 1);
	if (ds_get(&seen) > 1)
		leave_now();
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

/**
 * ds_signals_init() - take the signals over
 *
 * No SA_RESTART: what waits returns, so that the stop is noticed at once.
 */
void ds_signals_init(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/**
 * ds_signals_seen() - has a clean stop been asked for?
 */
bool ds_signals_seen(void)
{
	return ds_get(&seen);
}

/**
 * ds_signals_victims() - what a second signal has to clear away
 * @child: 0 for none
 * @cgroup: directory, empty for none
 */
void ds_signals_victims(pid_t child, const char *cgroup)
{
	ds_set(&victim, child);
	snprintf(victim_cgroup, sizeof(victim_cgroup), "%s", cgroup);
}
