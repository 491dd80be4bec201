// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks the module for things that drainctl would not ask for, and prints how it
 * refuses: CHECKs with any mask of invariants and any cgroup number.  For the VM
 * tests; broken messages are tests/fuzz/'s.
 */
#include <stdlib.h>
#include <string.h>

#include "nl.h"

#define LIMIT_MS 60000

static int bad_words(void)
{
	fputs("takes MASK|- [CGROUP|-] [wait|twice]\n", stderr);
	return DS_EXIT_USAGE;
}

/* Prints one line: accepted, or the error's number and text. */
static bool ask(struct ds_nl *nl, const struct ds_arg *args, unsigned int nr, struct ds_msg *out)
{
	struct ds_err err;

	if (!ds_nl_do(nl, DS_CMD_CHECK, args, nr, out, &err)) {
		puts("accepted");
		return true;
	}
	printf("refused: %d (%s): %s\n", err.no, strerror(err.no), err.text);
	return false;
}

static void wait_for(struct ds_nl *nl, const struct ds_msg *answer)
{
	struct ds_msg done;
	struct ds_err err;

	if (ds_nl_wait_done(nl, answer->request, LIMIT_MS, &done, &err)) {
		printf("done: no: %s\n", err.text);
		return;
	}
	printf("done: %u (%s), %llu checked\n", done.status, strerror(done.status),
	       ds_msg_counter(&done, "checked"));
	ds_msg_free(&done);
}

int main(int argc, char **argv)
{
	const char *then = argc > 3 ? argv[3] : "";
	struct ds_msg first, second;
	struct ds_arg args[2];
	unsigned int nr = 0;
	struct ds_err err;
	struct ds_nl *nl;
	char line[16];

	if (argc < 2 || argc > 4)
		return bad_words();
	nl = ds_nl_open(&err);
	if (!nl) {
		fprintf(stderr, "ask: %s\n", err.text);
		return err.exit;
	}
	if (strcmp(argv[1], "-"))
		args[nr++] = (struct ds_arg){ DS_A_INVARIANTS, DS_ARG_U64,
					      strtoull(argv[1], NULL, 0), NULL };
	if (argc > 2 && strcmp(argv[2], "-"))
		args[nr++] = (struct ds_arg){ DS_A_CGROUP, DS_ARG_U64,
					      strtoull(argv[2], NULL, 0), NULL };
	if (ask(nl, args, nr, &first)) {
		fflush(stdout);
		/* "wait": until a line comes, so that others see the owner */
		if (!strcmp(then, "wait") && !fgets(line, sizeof(line), stdin))
			puts("end of input");
		if (!strcmp(then, "twice") && ask(nl, args, nr, &second)) {
			wait_for(nl, &first);
			wait_for(nl, &second);
		} else {
			wait_for(nl, &first);
		}
	}
	ds_nl_close(nl);
	return 0;
}
