// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads results that were written before: a JSON file, or a folder that holds one.
 * Says what it is; shows nothing.  A file that cannot be read is a usage error that
 * names it.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results.h"
#include "verdict.h"

/* What a folder may hold, the one that says most first. */
static const char * const file_names[] = {
	"matrix.json", "mutants.json", "comparison.json", "compare.json", "result.json",
};

#define FILE_NAMES "matrix.json, mutants.json, comparison.json, compare.json, result.json"

/**
 * ds_result_kind_name() - in words
 */
const char *ds_result_kind_name(enum ds_result_kind kind)
{
	static const char * const names[] = {
		[DS_RESULT_SOAK] = "soak",
		[DS_RESULT_MATRIX] = "matrix",
		[DS_RESULT_MUTANTS] = "mutants",
		[DS_RESULT_COMPARISON] = "comparison",
	};

	return kind < DS_RESULT_NR_KINDS ? names[kind] : "?";
}

/**
 * ds_get_text() - a string of an object
 *
 * Return: NULL when there is none.
 */
const char *ds_get_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/**
 * ds_get_number() - a number of an object
 *
 * Return: false when there is none; @value is 0 then.
 */
bool ds_get_number(const json_t *o, const char *key, double *value)
{
	const json_t *v = json_object_get(o, key);

	*value = json_number_value(v);
	return json_is_number(v);
}

/**
 * ds_get_true() - is it there, and true?
 */
bool ds_get_true(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/**
 * ds_value_text() - a value that is no object and no array, in words
 */
void ds_value_text(const json_t *value, char *buf, size_t len)
{
	if (json_is_string(value))
		snprintf(buf, len, "%s", json_string_value(value));
	else if (json_is_integer(value))
		snprintf(buf, len, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(buf, len, fabs(json_real_value(value)) < 1000 ? "%.4g" : "%.0f",
			 json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(buf, len, "%s", json_is_true(value) ? "yes" : "no");
	else
		snprintf(buf, len, "-");
}

static int is_kind(const json_t *o, enum ds_result_kind *kind)
{
	const char *name = ds_get_text(o, "kind");

	if (name && !strcmp(name, "comparison"))
		*kind = DS_RESULT_COMPARISON;
	else if (json_is_array(json_object_get(o, "scenarios")))
		*kind = DS_RESULT_MATRIX;
	else if (json_is_array(json_object_get(o, "mutants")))
		*kind = DS_RESULT_MUTANTS;
	else if (!name && ds_get_text(o, "verdict"))
		*kind = DS_RESULT_SOAK;
	else
		return -1;
	return 0;
}

static int read_json(const char *path, struct ds_result *r, struct ds_err *err)
{
	json_error_t why;

	/* jansson does not say which line of what file in one text, nor what errno */
	FILE *f = fopen(path, "re");

	if (!f)
		return ds_error(err, DS_EXIT_USAGE, errno, "%.300s: %s", path, strerror(errno));
	r->json = json_loadf(f, 0, &why);
	fclose(f);
	if (!r->json)
		return ds_error(err, DS_EXIT_USAGE, 0, "%.300s:%d: no JSON: %.120s", path,
				why.line > 0 ? why.line : 1, why.text);
	if (!is_kind(r->json, &r->kind)) {
		snprintf(r->path, sizeof(r->path), "%s", path);
		return 0;
	}
	json_decref(r->json);
	r->json = NULL;
	return ds_error(err, DS_EXIT_USAGE, 0,
			"%.300s: no result of a run, of the matrix, of mutants or of a comparison",
			path);
}

/* Without a trailing slash.  Return: false when it does not fit. */
static bool split(const char *path, char *dir, size_t dir_len, char *name, size_t name_len)
{
	size_t n = strlen(path);
	const char *slash;

	while (n > 1 && path[n - 1] == '/')
		n--;
	slash = memrchr(path, '/', n > 1 ? n : 0);
	if (snprintf(dir, dir_len, "%.*s", slash ? (int)(slash - path) : 1,
		     slash ? path : ".") >= (int)dir_len)
		return false;
	slash = slash ? slash + 1 : path;
	return snprintf(name, name_len, "%.*s", (int)(n - (slash - path)), slash) < (int)name_len;
}

static bool join(char *buf, const char *dir, const char *name)
{
	return snprintf(buf, PATH_MAX, "%s/%s", dir, name) < PATH_MAX;
}

/* The first line of a file that may be missing. */
static void first_line(const char *dir, const char *name, char *buf, size_t len)
{
	char path[PATH_MAX];
	FILE *f;

	buf[0] = '\0';
	f = join(path, dir, name) ? fopen(path, "re") : NULL;
	if (!f)
		return;
	if (fgets(buf, (int)len, f))
		buf[strcspn(buf, "\r\n")] = '\0';
	else
		buf[0] = '\0';
	fclose(f);
}

static void find_replay(struct ds_result *r)
{
	DIR *d = opendir(r->dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		/* the same one whatever the order in the directory */
		if (n > 7 && !strcmp(e->d_name + n - 7, ".replay") &&
		    (!r->replay[0] || strcmp(e->d_name, r->replay) < 0))
			snprintf(r->replay, sizeof(r->replay), "%s", e->d_name);
	}
	if (d)
		closedir(d);
}

/* The report of --format json is on the guest's standard output. */
static bool holds_json(const char *path)
{
	FILE *f = fopen(path, "re");
	int c = 0;

	if (!f)
		return false;
	while ((c = fgetc(f)) == ' ' || c == '\n' || c == '\r' || c == '\t')
		;
	fclose(f);
	return c == '{';
}

static int read_folder(struct ds_result *r, struct ds_err *err)
{
	char path[PATH_MAX];
	unsigned int i;

	first_line(r->dir, "verdict", r->runner, sizeof(r->runner));
	first_line(r->dir, "cmdline", r->command, sizeof(r->command));
	find_replay(r);
	for (i = 0; i < ARRAY_SIZE(file_names); i++) {
		if (join(path, r->dir, file_names[i]) && holds_json(path))
			return read_json(path, r, err);
	}
	if (join(path, r->dir, "stdout.log") && holds_json(path))
		return read_json(path, r, err);
	snprintf(r->path, sizeof(r->path), "%s", r->dir);
	if (r->runner[0])
		return 0;
	return ds_error(err, DS_EXIT_USAGE, 0,
			"%.300s: no result in it: takes a folder with one of " FILE_NAMES, r->dir);
}

/**
 * ds_result_read() - read a result
 * @path: a JSON file or a folder that holds one
 *
 * Return: 0, or -1 and @err.
 */
int ds_result_read(const char *path, struct ds_result *r, struct ds_err *err)
{
	struct stat st;
	char *full;
	int ret;

	memset(r, 0, sizeof(*r));
	if (!*path || stat(path, &st))
		return ds_error(err, DS_EXIT_USAGE, errno, "%.300s: %s", *path ? path : "''",
				*path ? strerror(errno) : "takes a file or a folder");
	/* "." has a name too */
	full = S_ISDIR(st.st_mode) ? realpath(path, NULL) : NULL;
	if (!split(full ? full : path, r->dir, sizeof(r->dir), r->name, sizeof(r->name))) {
		free(full);
		return ds_error(err, DS_EXIT_USAGE, ENAMETOOLONG, "%.300s: %s", path,
				strerror(ENAMETOOLONG));
	}
	free(full);
	if (S_ISDIR(st.st_mode)) {
		snprintf(r->dir, sizeof(r->dir), "%s", path);
		ret = read_folder(r, err);
	} else {
		ret = read_json(path, r, err);
	}
	return ret;
}

/**
 * ds_result_free() - of a result that could be read, or could not
 */
void ds_result_free(struct ds_result *r)
{
	json_decref(r->json);
	r->json = NULL;
}

static const char *counted(const json_t *o, char *buf, size_t len)
{
	double passed, failed;
	bool known = ds_get_number(o, "passed", &passed);

	if (!ds_get_number(o, "failed", &failed) && !known)
		return "?";
	snprintf(buf, len, "%s", failed > 0 ? "FAIL" : passed > 0 ? "PASS" : "INCONCLUSIVE");
	return buf;
}

/**
 * ds_result_verdict() - in a word
 * @buf: room for it
 *
 * That of the virtual machine's runner goes before the guest's, for it has seen the
 * console too.
 *
 * Return: a verdict's name; "COMPARED" for a comparison, which has none; "?".
 */
const char *ds_result_verdict(const struct ds_result *r, char *buf, size_t len)
{
	const char *own = ds_get_text(r->json, "verdict");

	switch (r->kind) {
	case DS_RESULT_MATRIX:
	case DS_RESULT_MUTANTS:
		return counted(r->json, buf, len);
	case DS_RESULT_COMPARISON:
		return "COMPARED";
	default:
		break;
	}
	snprintf(buf, len, "%.*s", (int)strcspn(r->runner, " "), r->runner);
	/* a guest's script may well end with 0 after a run that failed */
	if (own && (!buf[0] || !strcmp(buf, "PASS")))
		return own;
	return buf[0] ? buf : "?";
}
