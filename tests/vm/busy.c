// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps folios busy in all the ways that checks must not mistake for damage:
 * pinned for long by io_uring, isolated and reclaimed, migrated, dirtied and under
 * writeback, truncated in the middle of it, freed and used again.  For
 * innocent.test, which sees in /proc/vmstat that it all happened.  It checks
 * nothing and runs until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEN	1048576
#define PAGE	4096

#ifndef MADV_COLD
#define MADV_COLD	20
#define MADV_PAGEOUT	21
#endif

static char *map(int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	char *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED) {
		perror("busy: mmap");
		exit(1);
	}
	return p;
}

static void touch(char *p, char value)
{
	unsigned int i;

	for (i = 0; i < LEN; i += PAGE)
		p[i] = value;
}

/* Registered buffers are pinned (FOLL_LONGTERM) until they are given back. */
static void pin(struct io_uring *ring, char *p)
{
	struct iovec iov = { p, LEN };

	if (!io_uring_register_buffers(ring, &iov, 1)) {
		usleep(20000);
		io_uring_unregister_buffers(ring);
	}
}

/* To node 0, where they may be already: isolated and put back, or moved. */
static void move(char *p)
{
	void *pages[LEN / PAGE];
	int nodes[LEN / PAGE], status[LEN / PAGE];
	unsigned int i;

	for (i = 0; i < LEN / PAGE; i++) {
		pages[i] = p + i * PAGE;
		nodes[i] = 0;
	}
	syscall(SYS_move_pages, 0, LEN / PAGE, pages, nodes, status, 2 /* MPOL_MF_MOVE */);
}

/* Pages of the file as parts of a pipe: references that nobody else sees. */
static void hold(int fd)
{
	off_t at = 0;
	int ends[2];

	if (pipe(ends))
		return;
	splice(fd, &at, ends[1], NULL, 16 * PAGE, SPLICE_F_NONBLOCK);
	usleep(5000);
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	char *anon = map(-1), *mapped;
	struct io_uring ring;
	unsigned int turn;
	int fd, ret;

	if (argc != 2) {
		fputs("busy: takes a file name\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, LEN)) {
		perror(argv[1]);
		return 1;
	}
	mapped = map(fd);
	ret = io_uring_queue_init(4, &ring, 0);
	if (ret) {
		fprintf(stderr, "busy: io_uring: %s\n", strerror(-ret));
		return 1;
	}
	for (turn = 0;; turn++) {
		if (ftruncate(fd, LEN)) {
			perror("busy: ftruncate");
			return 1;
		}
		touch(anon, turn);
		touch(mapped, turn);
		if (turn % 4 == 0)
			pin(&ring, anon);
		hold(fd);
		madvise(anon, LEN / 2, MADV_COLD);
		move(anon);
		sync_file_range(fd, 0, LEN, SYNC_FILE_RANGE_WRITE);
		madvise(mapped, LEN, MADV_PAGEOUT);
		madvise(anon, LEN, turn % 3 ? MADV_FREE : MADV_DONTNEED);
		/* perhaps while it is written back, or in the journal */
		if (ftruncate(fd, turn % 2 ? 0 : 3 * PAGE)) {
			perror("busy: ftruncate");
			return 1;
		}
	}
}
