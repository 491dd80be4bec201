// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of the kernel's (sysfs, procfs, cgroups) that hold lines of text: to write
 * and to read one, and to read numbers.  It makes no files and knows no paths.
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
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/**
 * ds_read_text() - the first line of a file, without its end
 * @len: room in @text; what is longer is cut
 *
 * Return: 0, or -errno, and @text is empty then.
 */
int ds_read_text(const char *path, char *text, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, text, len - 1);
	if (n < 0)
		ret = -errno;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return ret;
}

/**
 * ds_read_key() - the number in the line of a file that begins with the word @key
 * @key: with the colon, where the file has one
 *
 * Return: the number; 0 when there is none.
 */
u64 ds_read_key(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	u64 value, found = 0;
	char word[64];

	if (!f)
		return 0;
	while (!found && fscanf(f, "%63s %llu%*[^\n]", word, &value) == 2) {
		if (!strcmp(word, key))
			found = value;
	}
	fclose(f);
	return found;
}

/**
 * ds_read_u64() - the number that a file begins with
 *
 * Return: 0; -errno; -EINVAL when it begins with none.
 */
int ds_read_u64(const char *path, u64 *value)
{
	char text[64], *end;
	int ret = ds_read_text(path, text, sizeof(text));

	if (ret)
		return ret;
	*value = strtoull(text, &end, 10);
	return end == text || *text == '-' ? -EINVAL : 0;
}
