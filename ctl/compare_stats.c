// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the difference of two runs is worth: Welch's t of the means, Mann-Whitney's
 * U, a bootstrap interval of the difference of medians, how far boots and
 * iterations of one kernel differ, and a conclusion in words.  Distributions,
 * deviations and quantiles are GSL's.  Prints nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include "compare_stats.h"
#include "rand.h"

#define ROUNDING (1.0 / (1ULL << 40))
#define RESAMPLES 10000
#define RESAMPLES_MIN 1000
#define DRAWS_MAX 200000000ULL		/* a few seconds */

/**
 * ds_equal() - but for what doubles round
 *
 * Two means of the same samples may differ in the last bits, which is no difference
 * of 0.01 %, let alone of 100 %.
 */
bool ds_equal(double a, double b)
{
	return fabs(a - b) <= ROUNDING * fmax(fabs(a), fabs(b));
}

/**
 * ds_samples_median() - the usual one: the mean of the middle two when n is even
 *
 * The table's 2nd-qrtle is the lower of them.
 */
double ds_samples_median(const struct ds_samples *s)
{
	return gsl_stats_median_from_sorted_data(s->sorted, 1, s->nr);
}

static double variance(const double *v, size_t n)
{
	return n > 1 ? gsl_stats_variance(v, 1, n) : 0;
}

/* Two-sided p of @t; where nothing deviates only equal is equal. */
static double student(double diff, double se, double df, double *t, bool *flat)
{
	*flat = !(se > 0) || !(df > 0);
	*t = *flat ? 0 : fabs(diff) / se;
	if (*flat)
		return diff == 0 ? 1 : 0;
	return 2 * gsl_cdf_tdist_Q(*t, df);
}

/**
 * ds_compare_welch() - do the means differ?
 *
 * t = |m1 - m2| / sqrt(s1^2 / n1 + s2^2 / n2), with n1 + n2 - 2 degrees of freedom, as
 * the published table's tool has it; Welch's own are fewer when deviations differ.
 */
void ds_compare_welch(const double *a, size_t na, const double *b, size_t nb, struct ds_welch *w)
{
	double ma = gsl_stats_mean(a, 1, na), mb = gsl_stats_mean(b, 1, nb);
	double se = sqrt(variance(a, na) / na + variance(b, nb) / nb);

	w->df = (double)na + nb - 2;
	w->p = student(ds_equal(ma, mb) ? 0 : ma - mb, se, w->df, &w->t, &w->flat);
}

/**
 * ds_compare_mann_whitney() - is one of them larger, more often than not?
 * @a: ascending, as @b
 *
 * The normal approximation with corrections for ties and for continuity (Hollander,
 * Wolfe, Chicken: Nonparametric Statistical Methods, 4.1).
 */
void ds_compare_mann_whitney(const double *a, size_t na, const double *b, size_t nb,
			     struct ds_mann_whitney *m)
{
	double pairs = (double)na * nb, n = (double)na + nb, u = 0, ties = 0, var, z;
	size_t i = 0, j = 0;

	while (i < na || j < nb) {
		double v = j == nb || (i < na && a[i] < b[j]) ? a[i] : b[j];
		size_t below = i, ta, tb;
		double t;

		while (i < na && a[i] == v)
			i++;
		ta = i - below;
		for (tb = 0; j < nb && b[j] == v; tb++)
			j++;
		u += tb * (below + ta / 2.0);
		t = (double)ta + tb;
		ties += t * t * t - t;
	}
	m->u = u;
	m->share = u / pairs;
	var = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
	m->p = 1;
	if (var > 0) {
		z = (fabs(u - pairs / 2) - 0.5) / sqrt(var);
		m->p = fmin(1, 2 * gsl_cdf_ugaussian_Q(z));
	}
}

/* ---- bootstrap ---- */

/* The median of a resample: @counts[i] is how often the i-th smallest was drawn. */
static double resampled_median(const double *sorted, const u32 *counts, size_t n)
{
	size_t seen = 0, i = 0, j;

	while (seen + counts[i] < (n + 1) / 2)
		seen += counts[i++];
	if (n % 2 || seen + counts[i] > n / 2)
		return sorted[i];
	for (j = i + 1; !counts[j]; j++)
		;
	return (sorted[i] + sorted[j]) / 2;
}

static double resample(const double *sorted, size_t n, u32 *counts, struct ds_rand r)
{
	size_t i;

	memset(counts, 0, n * sizeof(*counts));
	for (i = 0; i < n; i++)
		counts[ds_rand_below(&r, n)]++;
	return resampled_median(sorted, counts, n);
}

/**
 * ds_compare_medians() - the difference of the medians, with an interval
 * @a: ascending, as @b
 * @seed: resample k of each run is a function of (seed, run, k)
 *
 * The percentile interval (Efron, Tibshirani: An Introduction to the Bootstrap, 13.3):
 * each run is drawn from itself, with replacement, and the interval holds the middle
 * 95 % of the differences.  It takes all samples to be independent.
 *
 * Return: 0, or -1 without memory.
 */
int ds_compare_medians(const double *a, size_t na, const double *b, size_t nb, u64 seed,
		       struct ds_median_diff *m)
{
	u32 *counts = malloc((na > nb ? na : nb) * sizeof(*counts));
	double *diffs = malloc(RESAMPLES * sizeof(*diffs));
	unsigned int i;
	int ret = -1;

	m->seed = seed;
	m->diff = gsl_stats_median_from_sorted_data(b, 1, nb) -
		  gsl_stats_median_from_sorted_data(a, 1, na);
	m->resamples = fmax(RESAMPLES_MIN, fmin(RESAMPLES, DRAWS_MAX / ((double)na + nb)));
	if (!counts || !diffs)
		goto out;
	for (i = 0; i < m->resamples; i++)
		diffs[i] = resample(b, nb, counts, ds_rand_at(seed, 1, i)) -
			   resample(a, na, counts, ds_rand_at(seed, 0, i));
	gsl_sort(diffs, 1, m->resamples);
	m->low = gsl_stats_quantile_from_sorted_data(diffs, 1, m->resamples, 0.025);
	m->high = gsl_stats_quantile_from_sorted_data(diffs, 1, m->resamples, 0.975);
	ret = 0;
out:
	free(counts);
	free(diffs);
	return ret;
}

/* ---- boots and iterations ---- */

/* Medians of one run's groups, and their squares around the mean of each parent. */
struct pool {
	double sum;
	double squares;
	unsigned int nr, df;
};

/* The groups of one parent: the boots of a run, the iterations of a boot. */
static void pool_add(struct pool *p, const double *medians, unsigned int nr)
{
	if (!nr)
		return;
	p->squares += gsl_stats_tss(medians, 1, nr);
	p->sum += nr * gsl_stats_mean(medians, 1, nr);
	p->nr += nr;
	p->df += nr - 1;
}

static void pool_boots(struct pool *p, const struct ds_samples *s)
{
	double medians[DS_SAMPLES_GROUPS];
	unsigned int i;

	for (i = 0; i < s->nr_boots; i++)
		medians[i] = s->boots[i].median;
	pool_add(p, medians, i);
}

static void pool_iterations(struct pool *p, const struct ds_samples *s)
{
	double medians[DS_SAMPLES_GROUPS];
	unsigned int boot, i, nr;

	for (boot = 0; boot < s->nr_boots; boot++) {
		nr = 0;
		for (i = 0; i < s->nr_iterations; i++) {
			if (s->iterations[i].boot == boot)
				medians[nr++] = s->iterations[i].median;
		}
		pool_add(p, medians, nr);
	}
}

static void spread(const struct pool *a, const struct pool *b, struct ds_spread *s)
{
	double ma = a->sum / a->nr, mb = b->sum / b->nr, t;
	bool flat;

	s->nr_a = a->nr;
	s->nr_b = b->nr;
	s->df = a->df + b->df;
	s->diff = ds_equal(ma, mb) ? 0 : mb - ma;
	s->sd = s->df ? sqrt((a->squares + b->squares) / s->df) : 0;
	s->p = 1;
	if (s->df)
		s->p = student(s->diff, s->sd * sqrt(1.0 / a->nr + 1.0 / b->nr), s->df, &t, &flat);
}

/**
 * ds_compare_boots() - do boots of one kernel differ more than the kernels do?
 *
 * Samples of one boot are not independent: where its memory lies is the same for all.
 * So the medians of the boots are compared as if they were the samples, by Student's t
 * with a pooled variance (Kalibera, Jones: Rigorous Benchmarking in Reasonable Time,
 * 2013, on repeating the level that varies; Georges, Buytaert, Eeckhout: Statistically
 * Rigorous Java Performance Evaluation, 2007, 3.3, on the means of invocations).
 */
void ds_compare_boots(const struct ds_samples *a, const struct ds_samples *b,
		      struct ds_spread *s)
{
	struct pool pa = { .nr = 0 }, pb = { .nr = 0 };

	pool_boots(&pa, a);
	pool_boots(&pb, b);
	spread(&pa, &pb, s);
}

/**
 * ds_compare_iterations() - likewise, iterations around the mean of their boot
 */
void ds_compare_iterations(const struct ds_samples *a, const struct ds_samples *b,
			   struct ds_spread *s)
{
	struct pool pa = { .nr = 0 }, pb = { .nr = 0 };

	pool_iterations(&pa, a);
	pool_iterations(&pb, b);
	spread(&pa, &pb, s);
}

/* ---- the conclusion ---- */

/**
 * ds_format_p() - "0.67", "0.0031", "1.2e-09"
 *
 * Return: @buf.
 */
const char *ds_format_p(double p, char *buf, size_t len)
{
	snprintf(buf, len, p >= 0.01 ? "%.2f" : p >= 0.0001 ? "%.4f" : p > 0 ? "%.1e" : "%.0f", p);
	return buf;
}

/**
 * ds_decided_name() - what a conclusion rests on
 */
const char *ds_decided_name(enum ds_decided decided)
{
	static const char *const names[] = {
		[DS_DECIDED_NOTHING] = "nothing",
		[DS_DECIDED_SAMPLES] = "samples",
		[DS_DECIDED_BOOTS] = "boots",
	};

	return names[decided];
}

static double percent_of(double diff, double base)
{
	return base > 0 ? 100 * fabs(diff) / base : 0;
}

static void conclude_boots(struct ds_comparison *c)
{
	const struct ds_spread *s = &c->boots;
	double base = ds_samples_median(c->a);
	char p[16];

	ds_format_p(c->p, p, sizeof(p));
	if (c->significant)
		snprintf(c->conclusion, sizeof(c->conclusion),
			 "%s is %s than %s: the medians of its boots are %.2f us (%.2f %%) %s, which is more than boots of one kernel differ (p = %s, %u and %u boots).",
			 c->b->name, s->diff > 0 ? "slower" : "faster", c->a->name, fabs(s->diff),
			 percent_of(s->diff, base), s->diff > 0 ? "higher" : "lower", p, s->nr_a,
			 s->nr_b);
	else
		snprintf(c->conclusion, sizeof(c->conclusion),
			 "No difference between %s and %s is shown: the medians of their boots differ by %.2f us (%.2f %%), and boots of one kernel deviate by %.2f us (p = %s, %u and %u boots).",
			 c->a->name, c->b->name, fabs(s->diff), percent_of(s->diff, base), s->sd, p,
			 s->nr_a, s->nr_b);
}

static void conclude_samples(struct ds_comparison *c)
{
	const struct ds_median_diff *m = &c->median;
	double share = c->mw.share;
	const char *means = "";
	char p[16], t[16], also[64];

	ds_format_p(c->p, p, sizeof(p));
	ds_format_p(c->welch.p, t, sizeof(t));
	if (!c->significant) {
		snprintf(c->conclusion, sizeof(c->conclusion),
			 "No difference between %s and %s is shown (Mann-Whitney's p = %s), in one boot of each.",
			 c->a->name, c->b->name, p);
		return;
	}
	if (c->welch.p >= DS_COMPARE_ALPHA) {
		snprintf(also, sizeof(also), ", while the means do not differ (p = %s)", t);
		means = also;
	}
	snprintf(c->conclusion, sizeof(c->conclusion),
		 "In one boot of each, %s is %s than %s: in %.1f %% of all pairs of samples, and by %.2f us in the median, 95 %% interval %.2f to %.2f us (Mann-Whitney's p = %s)%s; whether other boots would show it is not known.",
		 c->b->name, share > 0.5 ? "slower" : "faster", c->a->name,
		 100 * (share > 0.5 ? share : 1 - share), share > 0.5 ? m->diff : -m->diff,
		 share > 0.5 ? m->low : -m->high, share > 0.5 ? m->high : -m->low, p, means);
}

static void conclude(struct ds_comparison *c)
{
	if (c->a->nr < DS_COMPARE_FEW || c->b->nr < DS_COMPARE_FEW) {
		c->decided = DS_DECIDED_NOTHING;
		c->p = 1;
		snprintf(c->conclusion, sizeof(c->conclusion),
			 "Nothing can be said of %s and %s: they have %zu and %zu samples, and it takes %u of each.",
			 c->a->name, c->b->name, c->a->nr, c->b->nr, DS_COMPARE_FEW);
		return;
	}
	c->decided = c->boots.df ? DS_DECIDED_BOOTS : DS_DECIDED_SAMPLES;
	c->p = c->boots.df ? c->boots.p : c->mw.p;
	c->significant = c->p < DS_COMPARE_ALPHA;
	if (c->boots.df)
		conclude_boots(c);
	else
		conclude_samples(c);
}

/**
 * ds_compare() - all that can be said of a baseline and another run
 *
 * Where there is a second boot, boots decide; else samples do, by rank, for their
 * distribution has a long tail.
 *
 * Return: 0, or -1 and @err.
 */
int ds_compare(const struct ds_samples *a, const struct ds_samples *b, u64 seed,
	       struct ds_comparison *c, struct ds_err *err)
{
	memset(c, 0, sizeof(*c));
	c->a = a;
	c->b = b;
	ds_compare_welch(a->sorted, a->nr, b->sorted, b->nr, &c->welch);
	ds_compare_mann_whitney(a->sorted, a->nr, b->sorted, b->nr, &c->mw);
	ds_compare_boots(a, b, &c->boots);
	ds_compare_iterations(a, b, &c->iterations);
	if (ds_compare_medians(a->sorted, a->nr, b->sorted, b->nr, seed, &c->median))
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "out of memory for the bootstrap");
	conclude(c);
	return 0;
}
