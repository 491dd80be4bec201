// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads files of samples: one time in microseconds a line, "# key: value" lines
 * anywhere, such as "# boot: ID" and "# iteration: N", and other comments.  A
 * file without any, such as mmtests' own log, is one boot and one iteration.
 * Whole numbers of an iteration are what it has counted, and are added up.
 * Sorts, and knows the median of each boot and iteration; compares nothing.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <jansson.h>

#include "samples.h"

#define TIME_MAX_US 1e15		/* thirty years */

/*
 * One file being read.  Keys wait in @pending until a sample comes: only then is
 * it known of which boot they are.
 */
struct reader {
	struct ds_samples *s;
	const char *path;
	FILE *f;
	unsigned int line;
	bool begun;			/* a sample was read since the last "# iteration" */
	bool counting;			/* none was, and there was one */
	unsigned int boot;
	size_t samples;
	struct ds_sample_key *pending;
	unsigned int nr_pending;
	struct ds_err *err;
};

static int __printf(2, 3) bad(struct reader *r, const char *fmt, ...)
{
	char what[160], *p;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	/* what a file holds may be anything, and goes to a terminal */
	for (p = what; *p; p++) {
		if (*p < ' ' || *p > '~')
			*p = '?';
	}
	return ds_error(r->err, DS_EXIT_USAGE, EINVAL, "%.320s:%u: %s", r->path, r->line, what);
}

static int no_memory(struct ds_err *err)
{
	return ds_error(err, DS_EXIT_ERROR, ENOMEM, "out of memory for the samples");
}

/* Room for one more in an array that grows by doubling.  Return: the array, or NULL. */
static void *grow(void *array, unsigned int nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return realloc(array, (nr ? 2 * (size_t)nr : 1) * size);
}

/* ---- keys ---- */

static void free_keys(struct ds_sample_key *keys, unsigned int nr)
{
	while (nr--) {
		free(keys[nr].key);
		free(keys[nr].value);
	}
	free(keys);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static u64 add_counts(const char *key, u64 a, u64 b)
{
	if (ends_in(key, "_max"))
		return a > b ? a : b;
	return a + b;
}

/* It is there already, with this value or as a count.  Return: then true. */
static bool merge_key(struct ds_sample_key *keys, unsigned int nr, const struct ds_sample_key *new)
{
	struct ds_sample_key *k;

	for (k = keys; k < keys + nr; k++) {
		if (strcmp(k->key, new->key) || k->counted != new->counted)
			continue;
		if (k->counted)
			k->count = add_counts(k->key, k->count, new->count);
		if (k->counted || !strcmp(k->value, new->value))
			return true;
	}
	return false;
}

/* A copy of @new. */
static int add_key(struct ds_sample_key **keys, unsigned int *nr,
		   const struct ds_sample_key *new)
{
	struct ds_sample_key *k;

	k = grow(*keys, *nr, sizeof(*k));
	if (!k)
		return -1;
	*keys = k;
	k += *nr;
	*k = *new;
	k->key = strdup(new->key);
	k->value = strdup(new->value);
	if (!k->key || !k->value) {
		free(k->key);
		free(k->value);
		return -1;
	}
	(*nr)++;
	return 0;
}

/**
 * ds_boot_key() - the first value of a key of a boot, NULL when it has none
 */
const char *ds_boot_key(const struct ds_boot *b, const char *key)
{
	unsigned int i;

	for (i = 0; i < b->nr_keys; i++) {
		if (!strcmp(b->keys[i].key, key))
			return b->keys[i].value;
	}
	return NULL;
}

static const struct ds_sample_key *counted_key(const struct ds_boot *b, const char *key)
{
	unsigned int i;

	for (i = 0; i < b->nr_keys; i++) {
		if (b->keys[i].counted && !strcmp(b->keys[i].key, key))
			return &b->keys[i];
	}
	return NULL;
}

/**
 * ds_samples_count() - what all iterations of all boots have counted
 *
 * Return: false when a boot has no such key.
 */
bool ds_samples_count(const struct ds_samples *s, const char *key, u64 *count)
{
	const struct ds_sample_key *k;
	unsigned int i;

	*count = 0;
	for (i = 0; i < s->nr_boots; i++) {
		k = counted_key(&s->boots[i], key);
		if (!k)
			return false;
		*count = add_counts(key, *count, k->count);
	}
	return true;
}

/**
 * ds_samples_drains() - how often one batch usage drained, on average
 *
 * Return: false when that was not counted.
 */
bool ds_samples_drains(const struct ds_samples *s, double *per_usage)
{
	u64 drains, usages;

	if (!ds_samples_count(s, "drains", &drains) || !ds_samples_count(s, "usages", &usages) ||
	    !usages)
		return false;
	*per_usage = (double)drains / usages;
	return true;
}

/* ---- boots and iterations ---- */

/* The boot with that id becomes the current one. */
static int switch_boot(struct reader *r, const char *id)
{
	struct ds_samples *s = r->s;
	struct ds_boot *b;

	for (r->boot = 0; r->boot < s->nr_boots; r->boot++) {
		if (!strcmp(s->boots[r->boot].id, id))
			return 0;
	}
	if (s->nr_boots == DS_SAMPLES_GROUPS)
		return bad(r, "more than %u boots", DS_SAMPLES_GROUPS);
	b = grow(s->boots, s->nr_boots, sizeof(*b));
	if (!b)
		return no_memory(r->err);
	s->boots = b;
	b += s->nr_boots;
	memset(b, 0, sizeof(*b));
	b->id = strdup(id);
	b->file = strdup(r->path);
	s->nr_boots++;
	return b->id && b->file ? 0 : no_memory(r->err);
}

/* Keys that waited go to the boot that they name; at the end to the current one. */
static int settle_keys(struct reader *r, bool end)
{
	struct ds_boot *b;
	const char *id = NULL;
	unsigned int i;

	for (i = 0; !end && i < r->nr_pending; i++) {
		if (!strcmp(r->pending[i].key, "boot"))
			id = r->pending[i].value;
	}
	if (id || !r->samples) {
		if (switch_boot(r, id ? id : r->path))
			return -1;
		r->begun = r->begun && !id;
	}
	b = &r->s->boots[r->boot];
	for (i = 0; i < r->nr_pending; i++) {
		if (merge_key(b->keys, b->nr_keys, &r->pending[i]))
			continue;
		if (b->nr_keys == DS_SAMPLES_GROUPS)
			return bad(r, "more than %u keys", DS_SAMPLES_GROUPS);
		if (add_key(&b->keys, &b->nr_keys, &r->pending[i]))
			return no_memory(r->err);
	}
	free_keys(r->pending, r->nr_pending);
	r->pending = NULL;
	r->nr_pending = 0;
	return 0;
}

static int begin_iteration(struct reader *r)
{
	struct ds_samples *s = r->s;
	struct ds_iteration *it;

	if (s->nr_iterations == DS_SAMPLES_GROUPS)
		return bad(r, "more than %u iterations", DS_SAMPLES_GROUPS);
	it = grow(s->iterations, s->nr_iterations, sizeof(*it));
	if (!it)
		return no_memory(r->err);
	s->iterations = it;
	it[s->nr_iterations++] = (struct ds_iteration){ .boot = r->boot, .first = s->nr };
	s->boots[r->boot].iterations++;
	r->begun = true;
	return 0;
}

/* ---- lines ---- */

static int add_sample(struct reader *r, double us)
{
	struct ds_samples *s = r->s;
	double *more;

	if ((r->nr_pending || !r->samples) && settle_keys(r, false))
		return -1;
	if (!r->begun && begin_iteration(r))
		return -1;
	if (s->nr == DS_SAMPLES_MAX)
		return bad(r, "more than %u samples", DS_SAMPLES_MAX);
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		more = realloc(s->v, s->room * sizeof(*s->v));
		if (!more)
			return no_memory(r->err);
		s->v = more;
	}
	r->counting = false;
	s->v[s->nr++] = us;
	s->iterations[s->nr_iterations - 1].nr++;
	s->boots[r->boot].nr++;
	r->samples++;
	return 0;
}

static int take_number(struct reader *r, const char *text)
{
	char *end;
	double us = strtod(text, &end);

	/* strtod() takes "0x10" and "nan(1)" too */
	if (!*text || *end || strpbrk(text, "xX("))
		return bad(r, "'%.40s' is no number: takes one time in microseconds a line", text);
	if (!isfinite(us))
		return bad(r, "'%.40s' is not finite", text);
	if (signbit(us))
		return bad(r, "'%.40s' is negative: a time is not", text);
	if (us > TIME_MAX_US)
		return bad(r, "'%.40s' is more than %g us", text, TIME_MAX_US);
	return add_sample(r, us);
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

static int take_iteration(struct reader *r, const char *value)
{
	if (!*value || value[strspn(value, "0123456789")])
		return bad(r, "iteration '%.40s': takes a number", value);
	r->begun = false;
	r->counting = true;
	return 0;
}

/* A count has no more digits than fit. */
static bool is_count(const char *value)
{
	return *value && strlen(value) < 20 && !value[strspn(value, "0123456789")];
}

/* What follows the "#": a key, or words. */
static int take_comment(struct reader *r, char *text)
{
	struct ds_sample_key k = { .counted = false };
	char *colon = strchr(text, ':');

	if (!colon)
		return 0;
	*colon = '\0';
	k.key = trim(text);
	k.value = trim(colon + 1);
	if (!*k.key)
		return 0;
	if (!strcmp(k.key, "iteration"))
		return take_iteration(r, k.value);
	if (!strcmp(k.key, "boot") && !*k.value)
		return bad(r, "boot: which one is missing");
	if (r->nr_pending == DS_SAMPLES_GROUPS)
		return bad(r, "more than %u keys", DS_SAMPLES_GROUPS);
	k.counted = r->counting && is_count(k.value);
	k.count = k.counted ? strtoull(k.value, NULL, 10) : 0;
	return add_key(&r->pending, &r->nr_pending, &k) ? no_memory(r->err) : 0;
}

/* Return: 1 with a line, 0 at the end, -1 and the error. */
static int next_line(struct reader *r, char line[DS_SAMPLES_LINE + 1])
{
	unsigned int n = 0;
	int c;

	r->line++;
	while ((c = getc_unlocked(r->f)) != EOF && c != '\n') {
		if (c == 0x7f || (c < ' ' && !isspace(c)))
			return bad(r, "binary data (byte 0x%02x): takes one time a line", c);
		if (n == DS_SAMPLES_LINE)
			return bad(r, "a line of more than %u characters", DS_SAMPLES_LINE);
		line[n++] = c;
	}
	line[n] = '\0';
	if (ferror(r->f))
		return ds_error(r->err, DS_EXIT_ERROR, errno, "%.320s:%u: %s", r->path, r->line,
				strerror(errno));
	return n || c != EOF;
}

static int read_lines(struct reader *r)
{
	char line[DS_SAMPLES_LINE + 1], *text;
	int ret;

	while ((ret = next_line(r, line)) > 0) {
		text = trim(line);
		ret = *text == '#' ? take_comment(r, text + 1) : take_number(r, text);
		if (ret)
			return -1;
	}
	if (ret)
		return -1;
	if (r->line > 1)
		r->line--;
	if (!r->samples)
		return bad(r, "%s", r->line == 1 && !r->nr_pending ?
			   "an empty file: takes one time in microseconds a line" :
			   "ends without a single sample");
	return settle_keys(r, true);
}

/* ---- files ---- */

/* A boot that counts twice would make every p-value too small. */
static int note_file(struct ds_samples *s, const char *path, const struct stat *st,
		     struct ds_err *err)
{
	struct ds_sample_file *f;
	unsigned int i;

	for (i = 0; i < s->nr_files; i++) {
		if (s->files[i].dev == st->st_dev && s->files[i].ino == st->st_ino)
			return ds_error(err, DS_EXIT_USAGE, EEXIST,
					"%.320s: the run '%s' has this file already", path,
					s->name);
	}
	if (s->nr_files == DS_SAMPLES_GROUPS)
		return ds_error(err, DS_EXIT_USAGE, E2BIG, "%.320s: more than %u files", path,
				DS_SAMPLES_GROUPS);
	f = grow(s->files, s->nr_files, sizeof(*f));
	if (!f)
		return no_memory(err);
	s->files = f;
	f[s->nr_files++] = (struct ds_sample_file){ st->st_dev, st->st_ino };
	return 0;
}

static int cannot_read(const char *path, int no, struct ds_err *err)
{
	return ds_error(err, DS_EXIT_USAGE, no, "%.320s: %s", path, strerror(no));
}

static int read_file(struct ds_samples *s, const char *path, struct ds_err *err)
{
	struct reader r = { .s = s, .path = path, .err = err };
	struct stat st;
	int ret;

	r.f = fopen(path, "re");
	if (!r.f)
		return cannot_read(path, errno, err);
	if (fstat(fileno(r.f), &st))
		ret = cannot_read(path, errno, err);
	else if (S_ISDIR(st.st_mode))
		ret = ds_error(err, DS_EXIT_USAGE, EISDIR,
			       "%.320s: a folder: takes a file, or NAME=FOLDER with files only",
			       path);
	else
		ret = note_file(s, path, &st, err);
	if (!ret)
		ret = read_lines(&r);
	fclose(r.f);
	free_keys(r.pending, r.nr_pending);
	return ret;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* All files of a folder, in the order of their names: boot-9 before boot-10. */
static int read_folder(struct ds_samples *s, const char *path, struct ds_err *err)
{
	struct dirent **list;
	int i, n, ret = 0;
	char *file;

	n = scandir(path, &list, not_hidden, versionsort);
	if (n < 0)
		return cannot_read(path, errno, err);
	if (!n)
		ret = ds_error(err, DS_EXIT_USAGE, ENOENT, "%.320s: an empty folder", path);
	for (i = 0; i < n; i++) {
		if (!ret && asprintf(&file, "%s/%s", path, list[i]->d_name) < 0) {
			ret = no_memory(err);
		} else if (!ret) {
			ret = read_file(s, file, err);
			free(file);
		}
		free(list[i]);
	}
	free(list);
	return ret;
}

/* "FILE,FOLDER,..." */
static int read_list(struct ds_samples *s, char *list, struct ds_err *err)
{
	struct stat st;
	char *path;

	while ((path = strsep(&list, ","))) {
		int ret;

		if (!*path)
			return ds_error(err, DS_EXIT_USAGE, EINVAL,
					"%s=: a file is missing: takes NAME=FILE,FILE,... or NAME=FOLDER",
					s->name);
		if (!stat(path, &st) && S_ISDIR(st.st_mode))
			ret = read_folder(s, path, err);
		else
			ret = read_file(s, path, err);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- runs ---- */

/* JSON wants UTF-8, and the table lines of their own. */
static int check_name(const char *name, struct ds_err *err)
{
	json_t *utf8 = json_string(name);
	const char *p;
	const char *why = NULL;

	if (!utf8)
		why = "takes UTF-8";
	json_decref(utf8);
	for (p = name; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			why = "takes no control characters";
	}
	if (!*name)
		why = "takes a name before the '='";
	if (strlen(name) > DS_SAMPLES_NAME)
		why = "takes at most 128 bytes";
	if (!why)
		return 0;
	return ds_error(err, DS_EXIT_USAGE, EINVAL,
			"the name of a run, '%.160s': %s; NAME=FILE sets it", name, why);
}

/* The file's name without its folder and its ending. */
static char *default_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	return dot && dot != base ? strndup(base, dot - base) : strdup(base);
}

static double *sorted_copy(const double *v, size_t nr)
{
	double *copy = malloc(nr * sizeof(*v));

	if (copy) {
		memcpy(copy, v, nr * sizeof(*v));
		gsl_sort(copy, 1, nr);
	}
	return copy;
}

static int sort_boot(struct ds_samples *s, unsigned int nr)
{
	struct ds_boot *b = &s->boots[nr];
	struct ds_iteration *it;
	size_t n = 0;

	b->v = malloc(b->nr * sizeof(*b->v));
	if (!b->v)
		return -1;
	for (it = s->iterations; it < s->iterations + s->nr_iterations; it++) {
		if (it->boot != nr)
			continue;
		memcpy(b->v + n, s->v + it->first, it->nr * sizeof(*b->v));
		n += it->nr;
	}
	gsl_sort(b->v, 1, b->nr);
	b->median = gsl_stats_median_from_sorted_data(b->v, 1, b->nr);
	return 0;
}

/* All that is derived from the samples. */
static int sort_all(struct ds_samples *s)
{
	unsigned int i;

	s->sorted = sorted_copy(s->v, s->nr);
	if (!s->sorted)
		return -1;
	for (i = 0; i < s->nr_boots; i++) {
		if (sort_boot(s, i))
			return -1;
	}
	for (i = 0; i < s->nr_iterations; i++) {
		struct ds_iteration *it = &s->iterations[i];
		double *v = sorted_copy(s->v + it->first, it->nr);

		if (!v)
			return -1;
		it->median = gsl_stats_median_from_sorted_data(v, 1, it->nr);
		free(v);
	}
	return 0;
}

/**
 * ds_samples_read() - all samples of one run
 * @s: to be freed in any case
 * @arg: FILE, or NAME=FILE,FOLDER,...; the first '=' counts
 *
 * Return: 0, or -1 and @err, which names file and line where there is one.
 */
int ds_samples_read(struct ds_samples *s, const char *arg, struct ds_err *err)
{
	const char *equals = strchr(arg, '=');
	char *list;
	int ret;

	memset(s, 0, sizeof(*s));
	s->name = equals ? strndup(arg, equals - arg) : default_name(arg);
	if (!s->name)
		return no_memory(err);
	if (!equals && !*arg)
		return ds_error(err, DS_EXIT_USAGE, EINVAL, "'': takes FILE or NAME=FILE");
	if (check_name(s->name, err))
		return -1;
	if (!equals) {
		ret = read_file(s, arg, err);
	} else {
		list = strdup(equals + 1);
		ret = list ? read_list(s, list, err) : no_memory(err);
		free(list);
	}
	if (!ret && sort_all(s))
		ret = no_memory(err);
	return ret;
}

/**
 * ds_samples_free() - also of what could be read only in part
 */
void ds_samples_free(struct ds_samples *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_boots; i++) {
		free(s->boots[i].id);
		free(s->boots[i].file);
		free(s->boots[i].v);
		free_keys(s->boots[i].keys, s->boots[i].nr_keys);
	}
	free(s->name);
	free(s->v);
	free(s->sorted);
	free(s->boots);
	free(s->iterations);
	free(s->files);
	memset(s, 0, sizeof(*s));
}
