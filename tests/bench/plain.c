// SPDX-License-Identifier: GPL-2.0-only
/*
 * What somebody would write who has no drainstress: N processes, each of which
 * writes some pages to one of its files and truncates it to nothing, over and
 * over.  For tests/bench/compare.  So that the numbers compare, the sizes are
 * those that a thread of the flood takes (ds_flood_plan()), and of its files as
 * many are in each of the directories as the flood has there: two in the first
 * for one in the second.  It counts nothing; that is the kernel's part.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flood.h"

#define FILES 3

static int make_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		err(5, "%s", dir);
	return fd;
}

/* Without end.  A write that finds no space has written what there was. */
static void work(unsigned int worker, unsigned int max_pages, char **dirs)
{
	const struct ds_flood_shape shape = {
		.nr_files = DS_FLOOD_FILES, .max_pages = max_pages, .nr_ring = 1,
	};
	char *data = malloc((size_t)max_pages * DS_PAGE);
	struct ds_step step;
	int fds[FILES];
	u64 i;

	if (!data)
		errx(5, "out of memory");
	memset(data, 0x5a, (size_t)max_pages * DS_PAGE);
	for (i = 0; i < FILES; i++)
		fds[i] = make_file(dirs[i == FILES - 1]);
	for (i = 0;; i++) {
		int fd = fds[i % FILES];

		ds_flood_plan(&shape, 1, worker, i, &step);
		if (pwrite(fd, data, (size_t)step.pages * DS_PAGE, 0) < 0 && i < FILES)
			err(5, "write");
		if (ftruncate(fd, 0))
			err(5, "ftruncate");
	}
}

int main(int argc, char **argv)
{
	unsigned int workers, max_pages, i;
	pid_t parent = getpid(), pid;

	if (argc != 5)
		errx(2, "takes WORKERS MAX-PAGES DIRECTORY DIRECTORY");
	workers = strtoul(argv[1], NULL, 10);
	max_pages = strtoul(argv[2], NULL, 10);
	if (!workers || !max_pages)
		errx(2, "takes a number of workers and one of pages, both above 0");
	for (i = 0; i < workers; i++) {
		pid = fork();
		if (pid < 0)
			err(5, "fork");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			work(i, max_pages, argv + 3);
		_exit(0);
	}
	/* none ends by itself but for an error */
	wait(NULL);
	return 5;
}
