// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of the kernel's (sysfs, procfs, cgroups) that hold a line of text: to write
 * one and to read a number.  It makes no files and knows no paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/**
 * ds_write_text() - write @text into a file that is there
 *
 * One write(2), as such files want it.  No memory is allocated.
 *
 * Return: 0 or -errno.
 */
int ds_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/**
 * ds_read_u64() - the number that a file begins with
 *
 * Return: 0; -errno; -EINVAL when it begins with none.
 */
int ds_read_u64(const char *path, u64 *value)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	char text[64], *end;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		ret = -errno;
	close(fd);
	if (ret)
		return ret;
	text[n] = '\0';
	*value = strtoull(text, &end, 10);
	return end == text || *text == '-' ? -EINVAL : 0;
}
