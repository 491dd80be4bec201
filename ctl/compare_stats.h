/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the difference of two runs is worth.  See compare_stats.c.
 */
#ifndef DS_COMPARE_STATS_H
#define DS_COMPARE_STATS_H

#include "samples.h"

#define DS_COMPARE_ALPHA 0.05		/* of the conclusion */
#define DS_COMPARE_FEW 8U		/* fewer samples conclude nothing */

/**
 * struct ds_welch - two means
 * @t:	positive; 0 where neither run has a deviation (@flat)
 * @df:	n1 + n2 - 2
 * @p:	two-sided; where there is no deviation 0 or 1: do the means differ?
 */
struct ds_welch {
	double t;
	double df;
	double p;
	bool flat;
};

/**
 * struct ds_mann_whitney - two sets of samples, by rank
 * @u:		pairs (one of each run) in which the second run's is the larger one, a tie
 *		counts half
 * @share:	@u of all pairs
 * @p:		two-sided, normal approximation
 */
struct ds_mann_whitney {
	double u;
	double share;
	double p;
};

/**
 * struct ds_median_diff - the second run's median less the first one's, and its
 * 95 % interval
 */
struct ds_median_diff {
	double diff;
	double low, high;
	unsigned int resamples;
	u64 seed;
};

/**
 * struct ds_spread - how far groups of samples of one kernel differ
 * @sd:		deviation of their medians, pooled over the runs (or boots) they are in
 * @df:		0: there is nothing to pool
 * @nr_a, @nr_b: groups of each run
 * @diff:	mean of the second run's medians less that of the first run's
 * @p:		of @diff, two-sided, Student's t with the groups as the samples
 */
struct ds_spread {
	double sd;
	unsigned int df;
	unsigned int nr_a, nr_b;
	double diff;
	double p;
};

enum ds_decided {
	DS_DECIDED_NOTHING,		/* too few samples */
	DS_DECIDED_SAMPLES,
	DS_DECIDED_BOOTS,
};

/**
 * struct ds_comparison - all that is said of two runs
 * @p:		what @decided and @significant rest on
 */
struct ds_comparison {
	const struct ds_samples *a, *b;
	struct ds_welch welch;
	struct ds_mann_whitney mw;
	struct ds_median_diff median;
	struct ds_spread boots, iterations;
	enum ds_decided decided;
	double p;
	bool significant;
	char conclusion[1024];
};

bool ds_equal(double a, double b);
double ds_samples_median(const struct ds_samples *s);
void ds_compare_welch(const double *a, size_t na, const double *b, size_t nb, struct ds_welch *w);
void ds_compare_mann_whitney(const double *a, size_t na, const double *b, size_t nb,
			     struct ds_mann_whitney *m);
int ds_compare_medians(const double *a, size_t na, const double *b, size_t nb, u64 seed,
		       struct ds_median_diff *m);
void ds_compare_boots(const struct ds_samples *a, const struct ds_samples *b,
		      struct ds_spread *s);
void ds_compare_iterations(const struct ds_samples *a, const struct ds_samples *b,
			   struct ds_spread *s);
int ds_compare(const struct ds_samples *a, const struct ds_samples *b, u64 seed,
	       struct ds_comparison *c, struct ds_err *err);
const char *ds_decided_name(enum ds_decided decided);
const char *ds_format_p(double p, char *buf, size_t len);

#endif /* DS_COMPARE_STATS_H */
