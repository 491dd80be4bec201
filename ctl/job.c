// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job files: "KEY=VALUE" and "KEY" in a section [run], with comments.  What a key
 * means is not this file's matter but that of the parser of the command line.
 *
 * No library: inih, as Debian builds it, splits lines of more than 200 bytes, tells
 * neither the number of a line nor an empty section, and has no keys without a
 * value; others keep one value a key.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define SECTION "run"
#define FILE_MAX 65536

/* One that is read is a usage error: the file is part of the command line. */
#define bad(err, file, line, fmt, ...)						\
	ds_error(err, DS_EXIT_USAGE, 0, "%s:%u: " fmt, file, line, ##__VA_ARGS__)

/* The whole file, with a NUL behind it.  Return: its length, or -1 and @err. */
static ssize_t read_file(const char *file, char *text, struct ds_err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 0;
	size_t got = 0;

	while (fd >= 0 && got <= FILE_MAX) {
		n = read(fd, text + got, FILE_MAX + 1 - got);
		if (n <= 0)
			break;
		got += n;
	}
	if (n < 0)
		ds_error(err, DS_EXIT_USAGE, errno, "drainctl: --job %s: %s", file,
			 strerror(errno));
	else if (got > FILE_MAX)
		n = ds_error(err, DS_EXIT_USAGE, EFBIG,
			     "drainctl: --job %s: is longer than %d bytes", file, FILE_MAX);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	text[got] = '\0';
	return got;
}

/* Without the white space at both ends. */
static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* [NAME].  Return: 0 or -1 and @err. */
static int take_section(char *s, const char *file, unsigned int line, struct ds_err *err)
{
	char *end = strchr(s, ']');

	if (!end)
		return bad(err, file, line, "'%.80s': a section wants a ']'", s);
	if (end[1])
		return bad(err, file, line, "'%.80s': behind a section nothing may stand", end + 1);
	*end = '\0';
	s = trim(s + 1);
	if (strcmp(s, SECTION))
		return bad(err, file, line, "[%.80s]: takes no section but [" SECTION "]", s);
	return 0;
}

static int take_option(struct ds_job *job, char *s, const char *file, unsigned int line,
		       struct ds_err *err)
{
	struct ds_job_option *o = &job->v[job->nr];
	char *value = strchr(s, '=');

	if (job->nr == DS_JOB_OPTIONS)
		return bad(err, file, line, "takes at most %d options", DS_JOB_OPTIONS);
	if (value)
		*value++ = '\0';
	o->key = trim(s);
	o->value = value ? trim(value) : NULL;
	o->line = line;
	if (!*o->key)
		return bad(err, file, line, "a line begins with the name of an option");
	job->nr++;
	return 0;
}

static int parse(struct ds_job *job, char *text, size_t len, const char *file, struct ds_err *err)
{
	char *end = text + len, *next;
	bool inside = false;
	unsigned int line;

	for (line = 1; text < end; line++, text = next) {
		next = text + strcspn(text, "\n");
		if (!*next && next < end)
			return bad(err, file, line, "holds a NUL: is it a text file?");
		*next++ = '\0';
		text = trim(text);
		if (!*text || *text == '#' || *text == ';')
			continue;
		if (*text == '[') {
			if (take_section(text, file, line, err))
				return -1;
			inside = true;
			continue;
		}
		if (!inside)
			return bad(err, file, line, "'%.80s' stands before [" SECTION "]", text);
		if (take_option(job, text, file, line, err))
			return -1;
	}
	return 0;
}

/**
 * ds_job_read() - read a job file
 *
 * Return: 0, or -1 and @err, which names file and line.  ds_job_free() is to be
 * called either way.
 */
int ds_job_read(struct ds_job *job, const char *file, struct ds_err *err)
{
	ssize_t len;

	memset(job, 0, sizeof(*job));
	job->text = malloc(FILE_MAX + 2);
	if (!job->text)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "drainctl: --job %s: out of memory",
				file);
	len = read_file(file, job->text, err);
	return len < 0 ? -1 : parse(job, job->text, len, file, err);
}

/**
 * ds_job_free() - free what ds_job_read() took, and all that points into it
 */
void ds_job_free(struct ds_job *job)
{
	free(job->text);
	job->text = NULL;
	job->nr = 0;
}
