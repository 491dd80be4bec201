// SPDX-License-Identifier: GPL-2.0-only
/*
 * drainctl: the controller of drainstress.  Only the table of commands and how
 * one is picked; each command lives in a file of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "version.h"

static int cmd_help(int argc, char **argv);

const struct ds_command ds_commands[] = {
	{ "run", "the soak: load, race, checks, a verdict (the default)", ds_cmd_run },
	{ "caps", "what this kernel and module can do, and why not the rest", ds_cmd_caps },
	{ "ops", "the operations of the load, and why one cannot be done", ds_cmd_ops },
	{ "faults", "what a run can inject, and why not", ds_cmd_faults },
	{ "fill", "fill a batch kind and hold it", ds_cmd_fill },
	{ "drain", "drain in one of the kernel's ways", ds_cmd_drain },
	{ "check", "one check of the invariants at rest", ds_cmd_check },
	{ "stats", "the module's counters", ds_cmd_stats },
	{ "watch", "the module's events as they come", ds_cmd_watch },
	{ "plant", "make one deliberate fault, and check", ds_cmd_plant },
	{ "replay", "run again what a failed run has left in its file", ds_cmd_replay },
	{ "compare", "the times of two or more kernels side by side", ds_cmd_compare },
	{ "selftest", "make all planted faults, and see that each is noticed", ds_cmd_selftest },
	{ "diff", "two results of a run side by side", ds_cmd_diff },
	{ "report", "results as an HTML page", ds_cmd_report },
	{ "sparsetruncate", "time the removal of sparse files, and count its drains",
	  ds_cmd_sparsetruncate },
	{ "explain", "what an invariant says and why it must hold", ds_cmd_explain },
	{ "help", "this text", cmd_help },
};

const unsigned int ds_nr_commands = ARRAY_SIZE(ds_commands);

static void print_commands(FILE *f)
{
	unsigned int i;

	for (i = 0; i < ds_nr_commands; i++)
		fprintf(f, "  %-14s %s\n", ds_commands[i].name, ds_commands[i].help);
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("Usage: drainctl [COMMAND] [OPTION...]\n\n"
	     "Controls drainstress.ko, a torture tester for the kernel's per-CPU LRU batches.\n\n"
	     "Commands:");
	print_commands(stdout);
	puts("\nEach has its own --help.  Exit codes: 0 PASS, 1 FAIL, 2 USAGE, 3 INCONCLUSIVE,\n"
	     "4 SKIP, 5 ERROR, 6 HANG.");
	return fflush(stdout) ? DS_EXIT_ERROR : DS_EXIT_PASS;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	char name[64];
	unsigned int i;

	if (!strcmp(word, "--help") || !strcmp(word, "-?"))
		return cmd_help(argc, argv);
	if (!*word || *word == '-') {
		argv[0] = "drainctl";
		return ds_cmd_run(argc, argv);
	}
	for (i = 0; i < ds_nr_commands; i++) {
		if (strcmp(ds_commands[i].name, word))
			continue;
		snprintf(name, sizeof(name), "drainctl %s", word);
		argv[1] = name;
		return ds_commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "drainctl: unknown command '%s': takes one of\n", word);
	print_commands(stderr);
	return DS_EXIT_USAGE;
}
