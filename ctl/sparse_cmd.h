/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of "drainctl sparsetruncate": its options (sparse_opts.c), what the
 * module counts meanwhile (sparse_counts.c), and the result, as a summary, as JSON
 * and as a file of samples (sparse_output.c).  The command is cmd_sparsetruncate.c,
 * the workload stress/sparse.c.
 */
#ifndef DS_CTL_SPARSE_H
#define DS_CTL_SPARSE_H

#include "fault.h"
#include "nl.h"
#include "sparse.h"

/* ---- sparse_opts.c ---- */

#define DS_SPARSE_ITERATIONS_MAX 1000

/**
 * struct ds_sparse_opts - what the command line says, defaults filled in
 * @dir:	where the files are, NULL: on a file system @fs of the tool's own
 * @fs:		index of ds_own_fs_kinds[]
 * @out:	the file of samples, or NULL
 * @faults:	to inject; none when nothing was said
 */
struct ds_sparse_opts {
	const struct ds_sparse_preset *preset;
	u32 dirs, files;
	u64 size;
	int order;
	const struct ds_sparse_method *method;
	u32 iterations;
	const char *dir;
	int fs;
	const char *out;
	u64 seed;
	bool json, quiet;
	struct ds_fault_opts faults;
};

int ds_sparse_opts_parse(struct ds_sparse_opts *o, int argc, char **argv);

/* ---- sparse_counts.c ---- */

#define DS_SPARSE_USAGES 8
#define DS_SPARSE_BUCKETS 5

/* Why a batch was moved. */
enum ds_sparse_flush { DS_FLUSH_FULL, DS_FLUSH_EARLY, DS_FLUSH_DRAIN, DS_NR_FLUSHES };

extern const char *const ds_sparse_flush_names[DS_NR_FLUSHES];

/* One entry point; @hist: usages that drained 0, 1, 2, 3, and more times. */
struct ds_sparse_usage {
	char name[DS_NAME_LEN];
	u64 usages, releases, drains, max;
	u64 hist[DS_SPARSE_BUCKETS];
};

/**
 * struct ds_sparse_counts - what the module counted
 * @known:	it is loaded and answers; else @why says why not
 * @flush:	batches of each kind that were moved, by all of the machine
 * @missed:	hits that probes missed: the counts are lower bounds
 */
struct ds_sparse_counts {
	bool known;
	char why[256];
	struct ds_sparse_usage usage[DS_SPARSE_USAGES];
	unsigned int nr;
	u64 flush[DS_NR_FLUSHES][DS_NR_BATCH_KINDS + 1];
	u64 fault_hits[DS_FAULTS_END], fault_done[DS_FAULTS_END], fault_ns[DS_FAULTS_END];
	u64 missed;
};

int ds_sparse_counts_read(struct ds_nl *nl, struct ds_sparse_counts *c, struct ds_err *err);
void ds_sparse_counts_take(struct ds_sparse_counts *c, const struct ds_msgs *stats,
			   const struct ds_msgs *usage);
void ds_sparse_counts_since(struct ds_sparse_counts *now, const struct ds_sparse_counts *before);
void ds_sparse_counts_add(struct ds_sparse_counts *sum, const struct ds_sparse_counts *c);
struct ds_sparse_usage ds_sparse_usage_sum(const struct ds_sparse_counts *c);
u64 ds_sparse_flushes(const struct ds_sparse_counts *c, enum ds_sparse_flush why);

/* ---- sparse_output.c ---- */

/**
 * struct ds_sparse_result - what was measured, and on what
 * @nr:		files of an iteration
 * @ns:		@done times @nr samples, in the order in which they were taken
 * @folios:	of a file like those, the last one that was looked at
 * @folios_why:	why they are not known, "" when they are
 * @cached_kib:	by how much Cached of /proc/meminfo had grown, the last time
 * @reclaimed:	pages that the machine took back while files were removed
 * @counts:	of all iterations
 */
struct ds_sparse_result {
	const struct ds_sparse_opts *o;
	char kernel[DS_NAME_LEN + 1];
	char fs[64];
	char where[128];
	char boot[64];
	char date[32];
	u32 cpus;
	u32 nr;
	u32 done;
	u64 *ns;
	u64 pages;
	s64 cached_kib;
	u64 reclaimed;
	struct ds_sparse_folios folios;
	char folios_why[256];
	struct ds_sparse_counts counts;
};

/* Microseconds; k(p) of n sorted samples is the max(1, n * p / 100)-th, as in the table. */
struct ds_sparse_summary {
	u64 n;
	double min, p50, p90, p99, max, mean;
};

void ds_sparse_summarise(const u64 *ns, u64 n, struct ds_sparse_summary *s);
int ds_sparse_put_header(FILE *f, const struct ds_sparse_result *r);
int ds_sparse_put_iteration(FILE *f, const struct ds_sparse_result *r, u32 number,
			    const struct ds_sparse_counts *c);
void ds_sparse_print(const struct ds_sparse_result *r);
void ds_sparse_print_json(const struct ds_sparse_result *r);

#endif /* DS_CTL_SPARSE_H */
