// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl report": results that were written before as one HTML page.  All are read
 * before the page is begun, so bad input leaves an older page as it was.  What a page
 * looks like is in page.c.  Needs no module.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "opts.h"
#include "page.h"

struct report_opts {
	char **paths;
	unsigned int nr;
	const char *html;
};

static const struct argp_option options[] = {
	{ "html", 'o', "FILE", 0, "Write the page there", 0 },
	DS_ARGS_COMMON
};

/* Takes over @path.  Return: 0 or -ENOMEM. */
static int add(struct report_opts *o, char *path)
{
	char **paths = path ? reallocarray(o->paths, o->nr + 1, sizeof(*paths)) : NULL;

	if (!paths) {
		free(path);
		return -ENOMEM;
	}
	o->paths = paths;
	o->paths[o->nr++] = path;
	return 0;
}

static int is_comparison(const struct dirent *e)
{
	return !fnmatch("compare-*.json", e->d_name, 0);
}

/* A folder of tests/vm/compare stands for the comparison of each file system in it. */
static int add_result(struct report_opts *o, const char *path)
{
	struct dirent **list = NULL;
	int i, nr = scandir(path, &list, is_comparison, alphasort), ret = 0;
	char *file;

	if (nr <= 0)
		ret = add(o, strdup(path));
	for (i = 0; i < nr; i++) {
		if (!ret)
			ret = add(o, asprintf(&file, "%s/%s", path, list[i]->d_name) < 0 ?
				  NULL : file);
		free(list[i]);
	}
	free(list);
	return ret;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_opts *o = state->input;

	switch (key) {
	case 'o':
		o->html = arg;
		return 0;
	case ARGP_KEY_ARG:
		return add_result(o, arg) ? ENOMEM : 0;
	case ARGP_KEY_END:
		if (!o->nr) {
			ds_args_bad(state, "takes results: RESULT...");
			return DS_ARGS_BAD;
		}
		if (o->html && *o->html)
			return 0;
		ds_args_bad(state, "--html is missing: takes the file that the page is written to");
		return DS_ARGS_BAD;
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp argp = {
	options, parse, "RESULT... --html FILE",
	"Makes one page of results that can be mailed or printed and needs no network.  A\n"
	"result is a folder that tests/vm/run, tests/vm/matrix, tests/vm/mutants or\n"
	"tests/vm/compare left, or the JSON of drainctl run, of mutants or of drainctl\n"
	"compare.",
	NULL, NULL, NULL
};

static int write_page(const char *path, const struct ds_result *r, unsigned int nr,
		      struct ds_err *err)
{
	FILE *f = fopen(path, "we");
	int ret;

	if (!f)
		return ds_error(err, DS_EXIT_ERROR, errno, "--html %.300s: %s", path,
				strerror(errno));
	ret = ds_page_write(f, r, nr);
	if (!fclose(f) && !ret)
		return 0;
	ds_error(err, DS_EXIT_ERROR, errno, "--html %.300s: %s", path, strerror(errno));
	return -1;
}

/**
 * ds_cmd_report() - the command
 */
int ds_cmd_report(int argc, char **argv)
{
	struct report_opts o = { .nr = 0 };
	struct ds_result *r = NULL;
	unsigned int nr = 0;
	struct ds_err err;
	int ret = ds_args_parse(&argp, argc, argv, &o);

	if (ret) {
		ret = ret == DS_ARGS_ANSWERED ? 0 : ret;
		goto out;
	}
	ret = DS_EXIT_ERROR;
	r = calloc(o.nr, sizeof(*r));
	if (!r)
		goto out;
	while (nr < o.nr && !ds_result_read(o.paths[nr], &r[nr], &err))
		nr++;
	ret = DS_EXIT_PASS;
	if (nr < o.nr || write_page(o.html, r, nr, &err))
		ret = ds_cmd_fail(&err);
out:
	while (nr)
		ds_result_free(&r[--nr]);
	while (o.nr)
		free(o.paths[--o.nr]);
	free(r);
	free(o.paths);
	return ret;
}
