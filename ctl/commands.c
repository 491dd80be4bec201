// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the small commands share: how they fail, wait and end, and the frame of
 * those that ask the module something and print the answer.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "opts.h"
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

/**
 * ds_cmd_print_json() - on standard output, @o is consumed
 */
void ds_cmd_print_json(json_t *o)
{
	json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
}

/**
 * ds_cmd_ask() - a command that speaks with the module, once its options are known
 * @arg: for @ask
 *
 * Return: the exit code.
 */
int ds_cmd_ask(ds_cmd_ask_fn ask, void *arg)
{
	struct ds_err err;
	struct ds_nl *nl = ds_nl_open(&err);
	int ret;

	if (!nl)
		return ds_cmd_fail(&err);
	ret = ask(nl, arg, &err) ? ds_cmd_fail(&err) : ds_cmd_end_output(DS_EXIT_PASS);
	ds_nl_close(nl);
	return ret;
}

static error_t show_parse(int key, char *arg, struct argp_state *state)
{
	if (key != 'f')
		return ds_args_common(key, state);
	if (!ds_cmd_json_flag(arg, state->input))
		return 0;
	ds_args_bad(state, "--format '%s': takes " DS_CMD_FORMAT_TAKES, arg);
	return DS_ARGS_BAD;
}

/**
 * ds_cmd_show() - a command that takes a format and nothing else
 * @doc: for --help
 * @ask: its argument is a bool: print JSON, not text
 *
 * Return: the exit code.
 */
int ds_cmd_show(int argc, char **argv, const char *doc, ds_cmd_ask_fn ask)
{
	static const struct argp_option options[] = {
		{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
		DS_ARGS_COMMON
	};
	const struct argp argp = { options, show_parse, NULL, doc, NULL, NULL, NULL };
	bool json = false;
	int ret = ds_args_parse(&argp, argc, argv, &json);

	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	return ds_cmd_ask(ask, &json);
}
