/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzzer's two files share: a message as it is made, and the same
 * message as the kernel will read it.  It opens no socket.
 */
#ifndef FUZZ_MESSAGE_H
#define FUZZ_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

/* Room for one attribute of the greatest length there is, and some more. */
#define FUZZ_ROOM	(96 * 1024)
/* Sequence numbers a datagram has for its own; answers are told apart by them. */
#define FUZZ_SEQS	8
#define FUZZ_MAX_INDEX	(UINT32_MAX / FUZZ_SEQS - 2)

/* How the answers to a datagram are read. */
enum fuzz_reading {
	FUZZ_READ_ALL,		/* each is waited for */
	FUZZ_READ_CLOSE,	/* the same, then the socket is closed */
	FUZZ_READ_TINY,		/* the same, through the smallest buffer */
	FUZZ_READ_SOME,		/* the beginning of one, then it is closed */
	FUZZ_READ_NONE,		/* it is closed at once */
};

struct fuzz_message {
	unsigned char data[FUZZ_ROOM];
	size_t len;
	enum fuzz_reading reading;
	unsigned int pause_ms;	/* between sending and reading */
	bool finish;		/* what it began is waited for */
	bool events;		/* a new socket joins the events group */
	char what[512];		/* commands, and how they were broken */
};

/* A netlink message as the kernel finds it in a datagram. */
struct fuzz_part {
	u32 seq;
	u32 len;
	u16 type;
	u16 flags;
	int cmd;		/* -1: not the family's, or no room for one */
	bool must;		/* it has to be answered */
	bool may;		/* it may be answered: not our family's matter */
	bool ignored;		/* acknowledged at most: no request */
	bool done;		/* its last answer was read */
};

void fuzz_make(struct fuzz_message *m, u64 seed, u32 sender,
	       u32 index, u16 family);
unsigned int fuzz_walk(const struct fuzz_message *m, u16 family,
		       struct fuzz_part *parts, unsigned int max, size_t *left);
const char *fuzz_reading_name(enum fuzz_reading reading);
const char *fuzz_command_name(int cmd);
bool fuzz_command_does(int cmd);

#endif /* FUZZ_MESSAGE_H */
