/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of drainctl: one row of the table in main.c and one function
 * each, which takes the words after the command and returns the exit code.
 * Also what they share, see commands.c.
 */
#ifndef DS_COMMANDS_H
#define DS_COMMANDS_H

#include <jansson.h>

#include "nl.h"

struct ds_command {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
};

extern const struct ds_command ds_commands[];
extern const unsigned int ds_nr_commands;

int ds_cmd_run(int argc, char **argv);
int ds_cmd_caps(int argc, char **argv);
int ds_cmd_fill(int argc, char **argv);
int ds_cmd_drain(int argc, char **argv);
int ds_cmd_check(int argc, char **argv);
int ds_cmd_stats(int argc, char **argv);
int ds_cmd_watch(int argc, char **argv);
int ds_cmd_plant(int argc, char **argv);
int ds_cmd_selftest(int argc, char **argv);
int ds_cmd_explain(int argc, char **argv);
int ds_cmd_ops(int argc, char **argv);
int ds_cmd_compare(int argc, char **argv);
int ds_cmd_replay(int argc, char **argv);
int ds_cmd_faults(int argc, char **argv);
int ds_cmd_diff(int argc, char **argv);
int ds_cmd_report(int argc, char **argv);
int ds_cmd_sparsetruncate(int argc, char **argv);

/* Limit for a request that drains or stops all CPUs. */
#define DS_REQUEST_MS 120000

int ds_cmd_fail(const struct ds_err *err);
bool ds_cmd_sleep(u64 ms);
int ds_cmd_end_output(int code);

/* The two formats of the commands that only print something. */
int ds_cmd_json_flag(const char *arg, bool *json);
#define DS_CMD_FORMAT_TAKES "text, json"

/* Asks the module and prints the answer.  Return: 0, or -1 and @err. */
typedef int (*ds_cmd_ask_fn)(struct ds_nl *nl, void *arg, struct ds_err *err);

int ds_cmd_ask(ds_cmd_ask_fn ask, void *arg);
int ds_cmd_show(int argc, char **argv, const char *doc, ds_cmd_ask_fn ask);
void ds_cmd_print_json(json_t *o);

#endif /* DS_COMMANDS_H */
