// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charts of runs of samples as one SVG: the distribution, its tail on a log scale,
 * and each boot.  Writes a script with its data for gnuplot, which draws; nothing is
 * drawn here.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot.h"

#define GNUPLOT "gnuplot"
#define POINTS 2000		/* of one curve; the tail keeps all its own */
#define TAIL 1000
#define WIDE 20			/* largest : smallest from which times are on a log scale */

/**
 * ds_plot_ready() - is there a gnuplot?
 *
 * Return: 0, or -1 and @err.
 */
int ds_plot_ready(struct ds_err *err)
{
	const char *path = getenv("PATH");
	char *list = strdup(path ? path : "/usr/bin:/bin"), *rest = list, *dir, file[4096];
	int ret = -1;

	while (ret && rest && (dir = strsep(&rest, ":"))) {
		snprintf(file, sizeof(file), "%s/" GNUPLOT, *dir ? dir : ".");
		ret = access(file, X_OK);
	}
	free(list);
	if (!ret)
		return 0;
	return ds_error(err, DS_EXIT_SKIP, ENOENT,
			"--plot: there is no gnuplot in PATH: install the package gnuplot-nox");
}

/* ---- the script ---- */

/* In gnuplot's single quotes only the quote itself means anything. */
static void put_quoted(const char *s, FILE *f)
{
	putc('\'', f);
	for (; *s; s++) {
		if (*s == '\'')
			putc('\'', f);
		putc((unsigned char)*s < ' ' ? '?' : *s, f);
	}
	putc('\'', f);
}

/*
 * Each time with the share of samples up to it, and of samples from it on.  Of many
 * samples not all are needed but in the tail.
 */
static void put_curve(const struct ds_samples *s, unsigned int run, FILE *f)
{
	size_t step = s->nr / POINTS + 1, i;

	fprintf(f, "$curve%u << EOD\n", run);
	for (i = 0; i < s->nr; i += i + TAIL + step < s->nr ? step : 1)
		fprintf(f, "%.17g %.17g %.17g\n", s->sorted[i], 100 * (i + 1.0) / s->nr,
			100 * (double)(s->nr - i) / s->nr);
	fputs("EOD\n", f);
}

/* Least, quartiles and the 99th of 100: k(p) as in the table. */
static double of_boot(const struct ds_boot *b, unsigned int percent)
{
	size_t k = b->nr * percent / 100;

	return b->v[k ? k - 1 : 0];
}

static unsigned int put_boots(const struct ds_samples *runs, unsigned int nr, FILE *f)
{
	unsigned int i, b, x = 0;

	for (i = 0; i < nr; i++) {
		fprintf(f, "$boots%u << EOD\n", i);
		for (b = 0; b < runs[i].nr_boots; b++, x++) {
			const struct ds_boot *boot = &runs[i].boots[b];

			fprintf(f, "%u %.17g %.17g %.17g %.17g %.17g\n", x, of_boot(boot, 25),
				boot->v[0], of_boot(boot, 99), of_boot(boot, 75), boot->median);
		}
		fputs("EOD\n", f);
	}
	return x;
}

/* Each run's boots count from 1. */
static void put_boot_numbers(const struct ds_samples *runs, unsigned int nr, FILE *f)
{
	unsigned int i, b, x = 0;

	fputs("set xtics (", f);
	for (i = 0; i < nr; i++) {
		for (b = 0; b < runs[i].nr_boots; b++, x++)
			fprintf(f, "%s'%u' %u", x ? ", " : "", b + 1, x);
	}
	fputs(")\n", f);
}

/* One curve a run, which carries its name; @also is drawn over it, without one. */
static void put_plot(const struct ds_samples *runs, unsigned int nr, const char *data,
		     const char *style, const char *also, FILE *f)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		fprintf(f, "%s $%s%u %s lt %u title ", i ? "," : "plot", data, i, style, i + 1);
		put_quoted(runs[i].name, f);
		if (also)
			fprintf(f, ", $%s%u %s notitle", data, i, also);
	}
	putc('\n', f);
}

static void put_scale(const struct ds_samples *runs, unsigned int nr, const char *axis, FILE *f)
{
	double low = INFINITY, high = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		low = fmin(low, runs[i].sorted[0]);
		high = fmax(high, runs[i].sorted[runs[i].nr - 1]);
	}
	/* zero has no place on a log scale */
	fprintf(f, "%s logscale %s\n", low > 0 && high > WIDE * low ? "set" : "unset", axis);
	/* a range of a single time is no range */
	if (low == high)
		fprintf(f, "set %srange [%.17g:%.17g]\n", axis, low > 0 ? low / 2 : -1,
			low > 0 ? 2 * low : 1);
	else
		fprintf(f, "set %srange [*:*]\n", axis);
}

static void put_script(const struct ds_samples *runs, unsigned int nr, FILE *f)
{
	unsigned int i, boots;

	fputs("set encoding utf8\n"
	      "set terminal svg size 900,1350 dynamic noenhanced background '#ffffff' name 'drainstress'\n",
	      f);
	for (i = 0; i < nr; i++)
		put_curve(&runs[i], i, f);
	boots = put_boots(runs, nr, f);
	fputs("set multiplot layout 3,1 title 'Times of one removal each, in microseconds'\n"
	      "set grid lc '#c0c0c0'\nset key outside above horizontal\n"
	      "set title 'Distribution: samples up to a time'\n"
	      "set xlabel 'microseconds'\nset ylabel 'samples, %'\nset yrange [0:100]\n", f);
	put_scale(runs, nr, "x", f);
	put_plot(runs, nr, "curve", "using 1:2 with steps lw 2", NULL, f);
	fputs("set title 'Tail: samples of a time or longer, log scale'\n"
	      "set logscale y\nset yrange [*:100]\n", f);
	put_plot(runs, nr, "curve", "using 1:3 with steps lw 2", NULL, f);
	fputs("set title 'Boots: from the least to the 99th of 100, quartiles and median'\n"
	      "unset logscale\nset xlabel 'boot'\nset ylabel 'microseconds'\n"
	      "set boxwidth 0.5\n", f);
	put_boot_numbers(runs, nr, f);
	put_scale(runs, nr, "y", f);
	fprintf(f, "set xrange [-0.5:%u.5]\n", boots - 1);
	put_plot(runs, nr, "boots", "using 1:2:3:4:5 with candlesticks whiskerbars lw 2",
		 "using 1:6:6:6:6 with candlesticks lt -1 lw 2", f);
	fputs("unset multiplot\n", f);
}

/* ---- gnuplot ---- */

/* Script in, SVG out.  Return: its exit code, or -1. */
static int run_gnuplot(int script, int svg)
{
	/* posix_spawn() writes to none of them */
	char *argv[4] = { (char *)GNUPLOT, (char *)"-d", (char *)"-", NULL };
	posix_spawn_file_actions_t actions;
	int status, ret;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return -1;
	posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, svg, STDOUT_FILENO);
	ret = posix_spawnp(&pid, GNUPLOT, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* gnuplot ends with 0 after some errors too: a whole picture has an end. */
static bool whole(int fd)
{
	static const char end[] = "</svg>";
	char tail[64] = "";
	off_t len = lseek(fd, 0, SEEK_END);
	off_t from = len > (off_t)sizeof(tail) - 1 ? len - (off_t)sizeof(tail) + 1 : 0;

	return len > 0 && pread(fd, tail, sizeof(tail) - 1, from) > 0 && strstr(tail, end);
}

static int draw(const struct ds_samples *runs, unsigned int nr, int svg, const char *path,
		struct ds_err *err)
{
	FILE *script = tmpfile();
	int ret = -1;

	if (!script)
		return ds_error(err, DS_EXIT_ERROR, errno, "--plot: a temporary file: %s",
				strerror(errno));
	put_script(runs, nr, script);
	if (fflush(script) || ferror(script) || lseek(fileno(script), 0, SEEK_SET))
		ds_error(err, DS_EXIT_ERROR, errno, "--plot: a temporary file: %s",
			 strerror(errno));
	else if (run_gnuplot(fileno(script), svg) || !whole(svg))
		ds_error(err, DS_EXIT_ERROR, 0, "--plot %.300s: gnuplot has failed", path);
	else
		ret = 0;
	fclose(script);
	return ret;
}

/**
 * ds_plot() - draw all runs into one SVG
 * @path: only replaced by a whole picture
 *
 * Return: 0, or -1 and @err.
 */
int ds_plot(const char *path, const struct ds_samples *runs, unsigned int nr, struct ds_err *err)
{
	mode_t mask = umask(0);
	char *temp;
	int fd, ret;

	umask(mask);
	if (asprintf(&temp, "%s.XXXXXX", path) < 0)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "--plot: out of memory");
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		ret = ds_error(err, DS_EXIT_ERROR, errno, "--plot %.300s: %s", path,
			       strerror(errno));
		goto out;
	}
	ret = draw(runs, nr, fd, path, err);
	if (!ret && (fchmod(fd, 0666 & ~mask) || rename(temp, path)))
		ret = ds_error(err, DS_EXIT_ERROR, errno, "--plot %.300s: %s", path,
			       strerror(errno));
	if (ret)
		unlink(temp);
	close(fd);
out:
	free(temp);
	return ret;
}
