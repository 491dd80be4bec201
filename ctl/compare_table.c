// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison table as mmtests prints it, so that a new one stands beside those
 * that were published: order statistics without interpolation, means and deviation
 * of each run, and what they are better by than the first.  A row is a row of
 * table_rows[].  What the table does not say is in compare_stats.c.
 */
#include <string.h>

#include <gsl/gsl_statistics.h>

#include "compare_stats.h"
#include "compare_table.h"

#define MARK_WIDTH 14		/* row, blank, operation */
#define RUN_WIDTH 23

/* ---- figures ---- */

/* k(p): how many of n samples are p percent of them; at least one. */
static size_t part(size_t n, unsigned int percent)
{
	size_t k = n * percent / 100;

	return k ? k : 1;
}

static double smallest(const struct ds_samples *s, unsigned int arg)
{
	(void)arg;
	return s->sorted[0];
}

static double largest(const struct ds_samples *s, unsigned int arg)
{
	(void)arg;
	return s->sorted[s->nr - 1];
}

static double order(const struct ds_samples *s, unsigned int percent)
{
	return s->sorted[part(s->nr, percent) - 1];
}

static double best_mean(const struct ds_samples *s, unsigned int percent)
{
	return gsl_stats_mean(s->sorted, 1, part(s->nr, percent));
}

static double deviation(const struct ds_samples *s, unsigned int arg)
{
	(void)arg;
	return s->nr > 1 ? gsl_stats_sd(s->sorted, 1, s->nr) : 0;
}

static double variation(const struct ds_samples *s, unsigned int arg)
{
	double mean = best_mean(s, 100);

	return mean > 0 ? 100 * deviation(s, arg) / mean : 0;
}

#define AMEAN "Amean"

static const struct {
	const char *name;
	double (*value)(const struct ds_samples *s, unsigned int arg);
	unsigned int arg;
} table_rows[DS_TABLE_ROWS] = {
	{ "Min", smallest, 0 },
	{ "1st-qrtle", order, 25 },
	{ "2nd-qrtle", order, 50 },
	{ "3rd-qrtle", order, 75 },
	{ "Max-1", order, 1 },
	{ "Max-5", order, 5 },
	{ "Max-10", order, 10 },
	{ "Max-90", order, 90 },
	{ "Max-95", order, 95 },
	{ "Max-99", order, 99 },
	{ "Max", largest, 0 },
	{ AMEAN, best_mean, 100 },
	{ "Stddev", deviation, 0 },
	{ "CoeffVar", variation, 0 },
	{ "BAmean-99", best_mean, 99 },
	{ "BAmean-95", best_mean, 95 },
	{ "BAmean-90", best_mean, 90 },
	{ "BAmean-75", best_mean, 75 },
	{ "BAmean-50", best_mean, 50 },
	{ "BAmean-25", best_mean, 25 },
};

/**
 * ds_table_row() - the name of a row
 */
const char *ds_table_row(unsigned int row)
{
	return table_rows[row].name;
}

/**
 * ds_table_percent() - what @run is better by than @base, where lower is better
 */
double ds_table_percent(double base, double run)
{
	if (ds_equal(base, run))
		return 0;
	if (run == 0)
		return 100;
	if (base == 0)
		return -99;
	return 100 - 100 * run / base;
}

/* ---- stars ---- */

#define CLASSIC_ALPHA 0.10

static bool star_classic(const char *row, const struct ds_samples *base,
			 const struct ds_samples *run)
{
	struct ds_welch w;

	if (strcmp(row, AMEAN))
		return false;
	ds_compare_welch(base->sorted, base->nr, run->sorted, run->nr, &w);
	return w.p < CLASSIC_ALPHA;
}

static bool star_none(const char *row, const struct ds_samples *base, const struct ds_samples *run)
{
	(void)row;
	(void)base;
	(void)run;
	return false;
}

const struct ds_stars ds_stars[] = {
	{ "classic", "the mean, when its t-test has p < 0.10", star_classic },
	{ "none", "nothing", star_none },
};

const unsigned int ds_nr_stars = ARRAY_SIZE(ds_stars);

/**
 * ds_stars_find() - NULL when there is none of that name
 */
const struct ds_stars *ds_stars_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_stars; i++) {
		if (!strcmp(ds_stars[i].name, name))
			return &ds_stars[i];
	}
	return NULL;
}

/**
 * ds_stars_names() - all of them, for messages
 */
void ds_stars_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < ds_nr_stars && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", ds_stars[i].name);
}

/* ---- the table ---- */

static void make_cell(struct ds_table *t, unsigned int row, unsigned int run,
		      const struct ds_stars *stars)
{
	const struct ds_samples *base = &t->runs[0], *s = &t->runs[run];
	struct ds_table_cell *cell = &t->cells[row][run];

	cell->value = table_rows[row].value(s, table_rows[row].arg);
	cell->percent = ds_table_percent(t->cells[row][0].value, cell->value);
	/* one sample has no deviation that could be better or worse */
	if (table_rows[row].value == deviation && (base->nr < 2 || s->nr < 2))
		cell->percent = 0;
	cell->star = run && stars->cell(table_rows[row].name, base, s);
}

/**
 * ds_table_make() - all figures
 * @runs: @nr of them, at most DS_RUNS_MAX; used until the table is printed
 */
void ds_table_make(struct ds_table *t, const struct ds_samples *runs, unsigned int nr,
		   const struct ds_stars *stars)
{
	unsigned int row, run;

	t->runs = runs;
	t->nr = nr;
	for (row = 0; row < DS_TABLE_ROWS; row++) {
		for (run = 0; run < nr; run++)
			make_cell(t, row, run, stars);
	}
}

/* Characters, not bytes, of UTF-8. */
static int width(const char *s, size_t len)
{
	int n = 0;

	while (len--)
		n += (*s++ & 0xc0) != 0x80;
	return n;
}

static size_t without_last(const char *s)
{
	size_t len = strlen(s);

	while (len && (s[--len] & 0xc0) == 0x80)
		;
	return len;
}

/* Which part of a name stands above, and which below. */
static const char *name_part(const char *name, bool below, size_t *len)
{
	const char *minus = strchr(name, '-');

	if (below)
		name = minus ? minus + 1 : name;
	*len = below ? strlen(name) : minus ? (size_t)(minus - name) : without_last(name);
	return name;
}

static void print_header(const struct ds_table *t, bool below, FILE *f)
{
	const char *s;
	unsigned int i;
	int blanks = MARK_WIDTH;
	size_t len;

	for (i = 0; i < t->nr; i++) {
		s = name_part(t->runs[i].name, below, &len);
		while (len && s[len - 1] == ' ' && i == t->nr - 1)
			len--;
		blanks += RUN_WIDTH > width(s, len) ? RUN_WIDTH - width(s, len) : 0;
		if (!len)
			continue;
		fprintf(f, "%*s%.*s", blanks, "", (int)len, s);
		blanks = 0;
	}
	putc('\n', f);
}

/**
 * ds_table_print() - 22 lines without trailing blanks
 */
void ds_table_print(const struct ds_table *t, FILE *f)
{
	const struct ds_table_cell *cell;
	unsigned int row;

	print_header(t, false, f);
	print_header(t, true, f);
	for (row = 0; row < DS_TABLE_ROWS; row++) {
		fprintf(f, "%-9s %-4s", table_rows[row].name, DS_TABLE_OPERATION);
		for (cell = t->cells[row]; cell < t->cells[row] + t->nr; cell++)
			fprintf(f, "%12.2f %c%7.2f%%%c", cell->value, cell->star ? '*' : '(',
				cell->percent, cell->star ? '*' : ')');
		putc('\n', f);
	}
}
