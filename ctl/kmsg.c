// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel log during a run: reads /dev/kmsg from where it stood at the start,
 * counts lines that match kmsg-bad.txt and not kmsg-ok.txt, keeps an excerpt,
 * and notices when lines were lost.  Also the taint flags.  It does not judge.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmsg.h"
#include "kmsg_patterns.h"

#define RECORD_MAX 8192		/* the kernel's own limit for a record */

static int compile(const char *const *list, regex_t **out, unsigned int *nr, struct ds_err *err)
{
	unsigned int n = 0;
	char why[128];
	int ret;

	while (list[n])
		n++;
	*out = calloc(n ? n : 1, sizeof(**out));
	if (!*out)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "kernel log patterns: out of memory");
	for (*nr = 0; *nr < n; (*nr)++) {
		ret = regcomp(&(*out)[*nr], list[*nr], REG_EXTENDED | REG_NOSUB);
		if (!ret)
			continue;
		regerror(ret, &(*out)[*nr], why, sizeof(why));
		return ds_error(err, DS_EXIT_ERROR, 0, "kernel log pattern '%s': %s", list[*nr],
				why);
	}
	return 0;
}

/**
 * ds_kmsg_init() - compile the patterns; reads nothing yet
 *
 * Return: 0, or -1 and @err; ds_kmsg_close() is due either way.
 */
int ds_kmsg_init(struct ds_kmsg *k, struct ds_err *err)
{
	memset(k, 0, sizeof(*k));
	k->fd = -1;
	k->excerpt = calloc(DS_KMSG_EXCERPT, sizeof(*k->excerpt));
	if (!k->excerpt)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "kernel log: out of memory");
	if (compile(ds_kmsg_bad, &k->patterns, &k->nr_patterns, err))
		return -1;
	return compile(ds_kmsg_ok, &k->exceptions, &k->nr_exceptions, err);
}

/**
 * ds_kmsg_open() - start to read, from here on
 */
int ds_kmsg_open(struct ds_kmsg *k, struct ds_err *err)
{
	k->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (k->fd < 0 || lseek(k->fd, 0, SEEK_END) < 0)
		return ds_error(err, DS_EXIT_ERROR, errno,
				"/dev/kmsg cannot be read: %s; --no-kmsg runs without it, which is never a PASS",
				strerror(errno));
	return 0;
}

static bool any(const regex_t *list, unsigned int nr, const char *line)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!regexec(&list[i], line, 0, NULL, 0))
			return true;
	}
	return false;
}

/**
 * ds_kmsg_record() - look at one record of /dev/kmsg
 * @record: "level,sequence,time,flags;text", then lines that begin with a space
 *
 * Return: true when it is a bad one.
 */
bool ds_kmsg_record(struct ds_kmsg *k, const char *record, size_t len)
{
	const char *text = memchr(record, ';', len), *end;
	char line[RECORD_MAX];
	bool bad;

	if (!text)
		return false;
	text++;
	len -= text - record;
	end = memchr(text, '\n', len);
	if (end)
		len = end - text;
	if (len >= sizeof(line))
		len = sizeof(line) - 1;
	memcpy(line, text, len);
	line[len] = '\0';
	k->lines++;
	bad = any(k->patterns, k->nr_patterns, line) &&
	      !any(k->exceptions, k->nr_exceptions, line);
	k->bad += bad;
	if (k->bad && k->nr_excerpt < DS_KMSG_EXCERPT)
		snprintf(k->excerpt[k->nr_excerpt++], DS_KMSG_LINE, "%.*s", DS_KMSG_LINE - 1, line);
	return bad;
}

/**
 * ds_kmsg_read() - all records that have come, without waiting
 *
 * Return: how many bad ones.
 */
int ds_kmsg_read(struct ds_kmsg *k)
{
	char buf[RECORD_MAX];
	int bad = 0;
	ssize_t n;

	if (k->fd < 0)
		return 0;
	for (;;) {
		n = read(k->fd, buf, sizeof(buf));
		if (n > 0) {
			bad += ds_kmsg_record(k, buf, n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE) {
			k->lost++;
			continue;
		}
		return bad;
	}
}

/**
 * ds_kmsg_close() - also after a failed ds_kmsg_init()
 */
void ds_kmsg_close(struct ds_kmsg *k)
{
	unsigned int i;

	for (i = 0; i < k->nr_patterns; i++)
		regfree(&k->patterns[i]);
	for (i = 0; i < k->nr_exceptions; i++)
		regfree(&k->exceptions[i]);
	free(k->patterns);
	free(k->exceptions);
	free(k->excerpt);
	if (k->fd >= 0)
		close(k->fd);
	memset(k, 0, sizeof(*k));
	k->fd = -1;
}

/**
 * ds_taint_read() - the kernel's taint mask, 0 when it cannot be read
 */
u64 ds_taint_read(void)
{
	FILE *f = fopen("/proc/sys/kernel/tainted", "re");
	u64 taint = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &taint) != 1)
		taint = 0;
	fclose(f);
	return taint;
}

/**
 * ds_taint_letters() - "W,L" for a mask, as Documentation/admin-guide/tainted-kernels.rst
 */
void ds_taint_letters(u64 taint, char *buf, size_t len)
{
	static const char letters[] = "PFSRMBUDAWCIOELKXTNJ";
	unsigned int bit;
	size_t n = 0;

	buf[0] = '\0';
	for (bit = 0; bit < 64 && n + 3 < len; bit++) {
		if (!(taint & (1ULL << bit)))
			continue;
		if (n)
			buf[n++] = ',';
		buf[n++] = bit < sizeof(letters) - 1 ? letters[bit] : '?';
		buf[n] = '\0';
	}
}
