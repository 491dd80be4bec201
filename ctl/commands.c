// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the small commands share: how they fail, wait and end.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "signals.h"

/**
 * ds_cmd_fail() - print why a command ends
 *
 * Return: the exit code for it.
 */
int ds_cmd_fail(const struct ds_err *err)
{
	fflush(stdout);
	fprintf(stderr, "drainctl: %s\n", err->text);
	return err->exit;
}

/**
 * ds_cmd_sleep() - wait, or until a signal asks to stop
 *
 * Return: true when it was a signal.
 */
bool ds_cmd_sleep(u64 ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000 };

	while (!ds_signals_seen()) {
		if (!nanosleep(&ts, &ts))
			return false;
	}
	return true;
}

/**
 * ds_cmd_end_output() - nothing printed may be lost silently
 *
 * Return: @code, or ERROR in place of PASS when standard output failed.
 */
int ds_cmd_end_output(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "drainctl: standard output: %s\n", strerror(errno));
	return code == DS_EXIT_PASS ? DS_EXIT_ERROR : code;
}

/**
 * ds_cmd_json_flag() - --format text or json
 *
 * Return: 0 or -EINVAL.
 */
int ds_cmd_json_flag(const char *arg, bool *json)
{
	*json = !strcmp(arg, "json");
	return *json || !strcmp(arg, "text") ? 0 : -EINVAL;
}
