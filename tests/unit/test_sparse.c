// SPDX-License-Identifier: GPL-2.0-only
/*
 * sparsetruncate as far as it needs neither the module nor a machine of its own:
 * options and presets, the order of removal, folios from their flags, the counts
 * between two readings, percentiles, the file of samples to the letter, and the
 * workload itself on a few small files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "opts.h"
#include "own_fs.h"
#include "sparse_cmd.h"

#define WORDS_MAX 24
#define TINY 0.0000001

/* Parses "drainctl sparsetruncate WORD..."; the words are separated by blanks. */
static int parse(struct ds_sparse_opts *o, const char *line)
{
	static char text[512], name[] = "drainctl sparsetruncate";
	char *argv[WORDS_MAX] = { name }, *at = text, *word;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	while ((word = strsep(&at, " "))) {
		if (*word)
			argv[argc++] = word;
		assert_true(argc < WORDS_MAX);
	}
	return ds_sparse_opts_parse(o, argc, argv);
}

/* ---- options ---- */

static void test_defaults(void **state)
{
	struct ds_sparse_opts o;

	(void)state;
	assert_int_equal(parse(&o, ""), 0);
	assert_string_equal(o.preset->name, "tiny");
	assert_int_equal(o.dirs, 16);
	assert_int_equal(o.files, 16);
	assert_int_equal(o.size, 4 << 20);
	assert_int_equal((u64)o.dirs * o.files * o.size, 1 << 30);
	assert_int_equal(o.order, 0);
	assert_string_equal(o.method->name, "unlink");
	assert_int_equal(o.iterations, 1);
	assert_null(o.dir);
	assert_string_equal(ds_own_fs_kinds[o.fs].name, "ext4");
	assert_int_equal(o.seed, 0);
	assert_int_equal(o.faults.wanted, 0);
	assert_false(o.json || o.quiet);
}

static void test_options(void **state)
{
	struct ds_sparse_opts o;

	(void)state;
	/* what is named goes before the preset, wherever it stands */
	assert_int_equal(parse(&o, "--dirs 2 --preset large --files 3"), 0);
	assert_int_equal(o.dirs, 2);
	assert_int_equal(o.files, 3);
	assert_int_equal(o.size, 64 << 20);
	assert_int_equal(parse(&o, "--size 64K --method io_uring --order readahead --fs xfs"), 0);
	assert_int_equal(o.size, 65536);
	assert_string_equal(o.method->name, "io_uring");
	assert_true(o.method->ring);
	assert_int_equal(o.order, DS_SPARSE_READAHEAD);
	assert_string_equal(ds_own_fs_kinds[o.fs].name, "xfs");
	assert_int_equal(parse(&o, "--iterations 7 --out f --seed 9 --format json --quiet"), 0);
	assert_int_equal(o.iterations, 7);
	assert_string_equal(o.out, "f");
	assert_int_equal(o.seed, 9);
	assert_true(o.json && o.quiet);
	assert_int_equal(parse(&o, "--dir /x --fault truncate=prob:1/3,us:20"), 0);
	assert_string_equal(o.dir, "/x");
	assert_int_equal(o.faults.wanted, DS_FAULT_BIT(DS_FAULT_TRUNCATE));
	assert_int_equal(o.faults.args[DS_FAULT_TRUNCATE].one_in, 3);
	assert_int_equal(o.faults.args[DS_FAULT_TRUNCATE].max_us, 20);
}

static void test_bad_options(void **state)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "--preset huge", "--preset 'huge': takes tiny, small, large" },
		{ "--method rm", "--method 'rm': takes unlink, ftruncate, io_uring" },
		{ "--order 1", "--order '1': takes single, readahead, 0, or" },
		{ "--order 10", "--order '10': takes" },
		{ "--order random", "--order 'random': takes" },
		{ "--dirs 0", "--dirs '0': takes a number from 1 to 512" },
		{ "--dirs 513", "--dirs '513': takes" },
		{ "--files x", "--files 'x': takes a number from 1 to 10000" },
		{ "--dirs 512 --files 10000", "take 1048576 files in all" },
		{ "--size 100", "--size '100': takes a size of whole pages" },
		{ "--size 0", "--size '0': takes" },
		{ "--size 2T", "--size '2T': takes" },
		{ "--iterations 0", "--iterations '0': takes a number from 1 to 1000" },
		{ "--fs tmpfs", "--fs 'tmpfs': takes no tmpfs: it caches no pages of holes" },
		{ "--fs tmpfs-huge", "takes no tmpfs" },
		{ "--fs fat", "--fs 'fat': takes ext4, xfs or btrfs" },
		{ "--fs xfs --dir /x", "--dir and --fs exclude each other" },
		{ "--seed -1", "--seed '-1': takes a number" },
		{ "--format xml", "--format 'xml': takes text, json" },
		{ "--fault bogus", "--fault 'bogus': takes none, all, or" },
		{ "--fault alloc-fail", "--fault alloc-fail is for the load" },
		{ "files", "unexpected 'files'" },
	};
	char said[512];
	struct ds_sparse_opts o;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		FILE *f = tmpfile();
		int err = dup(STDERR_FILENO), ret;
		size_t n;

		assert_non_null(f);
		fflush(stderr);
		dup2(fileno(f), STDERR_FILENO);
		ret = parse(&o, bad[i].line);
		fflush(stderr);
		dup2(err, STDERR_FILENO);
		close(err);
		rewind(f);
		n = fread(said, 1, sizeof(said) - 1, f);
		said[n] = '\0';
		fclose(f);
		if (ret != DS_EXIT_USAGE || !strstr(said, bad[i].says))
			fail_msg("%s: %d, %s", bad[i].line, ret, said);
	}
}

/* ---- the order in which files go ---- */

static void test_shuffle(void **state)
{
	u32 a[300], b[300];
	bool seen[300] = { false };
	unsigned int i, moved = 0;

	(void)state;
	ds_sparse_shuffle(a, ARRAY_SIZE(a), 0);
	for (i = 0; i < ARRAY_SIZE(a); i++)
		assert_int_equal(a[i], i);
	ds_sparse_shuffle(a, ARRAY_SIZE(a), 7);
	ds_sparse_shuffle(b, ARRAY_SIZE(b), 7);
	assert_memory_equal(a, b, sizeof(a));
	for (i = 0; i < ARRAY_SIZE(a); i++) {
		assert_true(a[i] < ARRAY_SIZE(a) && !seen[a[i]]);
		seen[a[i]] = true;
		moved += a[i] != i;
	}
	assert_true(moved > 250);
	ds_sparse_shuffle(b, ARRAY_SIZE(b), 8);
	assert_memory_not_equal(a, b, sizeof(a));
}

/* ---- folios ---- */

#define HEAD 0x8000ULL
#define TAIL 0x10000ULL

static void test_orders(void **state)
{
	char text[16];
	int order = 5;

	(void)state;
	assert_int_equal(ds_sparse_order_parse("single", &order), 0);
	assert_int_equal(order, 0);
	assert_int_equal(ds_sparse_order_parse("9", &order), 0);
	assert_int_equal(order, 9);
	ds_sparse_order_text(order, text, sizeof(text));
	assert_string_equal(text, "9");
	ds_sparse_order_text(0, text, sizeof(text));
	assert_string_equal(text, "single");
	ds_sparse_order_text(DS_SPARSE_READAHEAD, text, sizeof(text));
	assert_string_equal(text, "readahead");
	assert_int_equal(ds_sparse_order_parse("", &order), -EINVAL);
	assert_int_equal(ds_sparse_order_parse("2x", &order), -EINVAL);
}

static void test_folios(void **state)
{
	/* a flag that means something else is none of a folio */
	static const u64 flags[] = { 0, HEAD, TAIL, TAIL, TAIL, 4, HEAD | 8, TAIL, HEAD, TAIL };
	static const u64 tail_first[] = { TAIL, TAIL }, three[] = { HEAD, TAIL, TAIL };
	struct ds_sparse_folios f = { .pages = 0 };
	char text[128];

	(void)state;
	ds_sparse_folios_text(&f, text, sizeof(text));
	assert_string_equal(text, "unknown");
	assert_int_equal(ds_sparse_count_folios(flags, ARRAY_SIZE(flags), &f), 0);
	assert_int_equal(f.pages, 10);
	assert_int_equal(f.nr[0], 2);
	assert_int_equal(f.nr[1], 2);
	assert_int_equal(f.nr[2], 1);
	ds_sparse_folios_text(&f, text, sizeof(text));
	assert_string_equal(text, "2 of order 0, 2 of order 1, 1 of order 2");
	assert_int_equal(ds_sparse_count_folios(tail_first, 2, &f), -EINVAL);
	assert_int_equal(ds_sparse_count_folios(three, 3, &f), -EINVAL);
}

static void test_judge(void **state)
{
	struct ds_sparse_folios single = { .pages = 8, .nr = { 8 } };
	struct ds_sparse_folios large = { .pages = 9, .nr = { 1, 0, 2 } };
	char why[256];

	(void)state;
	assert_int_equal(ds_sparse_judge(0, &single, why, sizeof(why)), 0);
	assert_int_equal(ds_sparse_judge(0, &large, why, sizeof(why)), -EOPNOTSUPP);
	assert_non_null(strstr(why, "folios of order 2"));
	assert_int_equal(ds_sparse_judge(2, &large, why, sizeof(why)), 0);
	assert_int_equal(ds_sparse_judge(4, &large, why, sizeof(why)), -EOPNOTSUPP);
	assert_non_null(strstr(why, "at most order 2 on"));
	assert_int_equal(ds_sparse_judge(4, &single, why, sizeof(why)), -EOPNOTSUPP);
	assert_int_equal(ds_sparse_judge(DS_SPARSE_READAHEAD, &single, why, sizeof(why)), 0);
	assert_int_equal(ds_sparse_judge(DS_SPARSE_READAHEAD, &large, why, sizeof(why)), 0);
}

/* ---- what was measured ---- */

static void test_summary(void **state)
{
	u64 ns[256];
	struct ds_sparse_summary s;
	unsigned int i;

	(void)state;
	/* 256, 255, .. 1 microseconds */
	for (i = 0; i < 256; i++)
		ns[i] = (256 - i) * 1000;
	ds_sparse_summarise(ns, 256, &s);
	assert_int_equal(s.n, 256);
	assert_float_equal(s.min, 1, TINY);
	assert_float_equal(s.p50, 128, TINY);
	assert_float_equal(s.p90, 230, TINY);
	assert_float_equal(s.p99, 253, TINY);
	assert_float_equal(s.max, 256, TINY);
	assert_float_equal(s.mean, 128.5, TINY);
	assert_int_equal(ns[0], 256000);	/* the samples stay as they are */
	ds_sparse_summarise(ns, 1, &s);
	assert_float_equal(s.min, 256, TINY);
	assert_float_equal(s.p50, 256, TINY);
	assert_float_equal(s.p99, 256, TINY);
	ds_sparse_summarise(ns, 3, &s);	/* 254, 255, 256 */
	assert_float_equal(s.p50, 254, TINY);
	assert_float_equal(s.p90, 255, TINY);
	ds_sparse_summarise(ns, 0, &s);
	assert_int_equal(s.n, 0);
	assert_float_equal(s.max, 0, TINY);
}

static void test_counts(void **state)
{
	struct ds_counter usage_a[] = {
		{ 0, "usages", 10 }, { 0, "releases", 100 }, { 0, "drains", 11 }, { 0, "max", 9 },
		{ 0, "drains.1", 9 }, { 0, "drains.2", 1 }, { 0, "drains.4+", 1 },
	};
	struct ds_counter usage_b[] = {
		{ 0, "usages", 14 }, { 0, "releases", 170 }, { 0, "drains", 16 }, { 0, "max", 9 },
		{ 0, "drains.1", 12 }, { 0, "drains.2", 2 }, { 0, "drains.4+", 1 },
	};
	struct ds_counter cpu[] = { { 0, "flush.full.lru_add", 3 }, { 0, "flush.drain.mlock", 2 } };
	struct ds_counter fault[] = { { 0, "hits", 50 }, { 0, "done", 5 }, { 0, "ns", 700 } };
	struct ds_counter probe[] = { { 0, "missed", 2 } };
	struct ds_msg usage[] = { { .name = "truncate_inode_pages_range", .counters = usage_a,
				    .nr_counters = ARRAY_SIZE(usage_a) } };
	struct ds_msg stats[] = {
		{ .scope = "cpu", .counters = cpu, .nr_counters = 2 },
		{ .scope = "cpu", .cpu = 1, .counters = cpu, .nr_counters = 2 },
		{ .scope = "fault", .name = "truncate", .counters = fault, .nr_counters = 3 },
		{ .scope = "probe", .name = "x", .counters = probe, .nr_counters = 1 },
	};
	const struct ds_msgs none = { .nr = 0 }, some = { stats, ARRAY_SIZE(stats) };
	const struct ds_msgs first = { usage, 1 };
	struct ds_sparse_counts before, now, sum = { .known = false };

	(void)state;
	ds_sparse_counts_take(&before, &none, &first);
	usage[0].counters = usage_b;
	ds_sparse_counts_take(&now, &some, &first);
	assert_true(now.known);
	ds_sparse_counts_since(&now, &before);
	assert_int_equal(now.usage[0].usages, 4);
	assert_int_equal(now.usage[0].releases, 70);
	assert_int_equal(now.usage[0].drains, 5);
	/* the nine of before do not count */
	assert_int_equal(now.usage[0].max, 2);
	assert_int_equal(now.usage[0].hist[4], 0);
	assert_int_equal(ds_sparse_flushes(&now, DS_FLUSH_FULL), 6);
	assert_int_equal(ds_sparse_flushes(&now, DS_FLUSH_DRAIN), 4);
	assert_int_equal(ds_sparse_flushes(&now, DS_FLUSH_EARLY), 0);
	assert_int_equal(now.fault_done[DS_FAULT_TRUNCATE], 5);
	assert_int_equal(now.missed, 2);
	ds_sparse_counts_add(&sum, &now);
	ds_sparse_counts_add(&sum, &now);
	assert_int_equal(ds_sparse_usage_sum(&sum).drains, 10);
	assert_int_equal(ds_sparse_usage_sum(&sum).max, 2);
	assert_int_equal(sum.fault_ns[DS_FAULT_TRUNCATE], 1400);
	assert_int_equal(ds_sparse_flushes(&sum, DS_FLUSH_FULL), 12);
}

#define WORDS "--dirs 1 --files 2 --size 8K --iterations 2 --seed 3 --fault move"

/* To the letter: others read it. */
static void test_samples_file(void **state)
{
	u64 ns[] = { 1234, 999, 5000000, 1 };
	struct ds_sparse_opts o;
	struct ds_sparse_result r = { .o = &o, .kernel = "6.1.0", .fs = "xfs", .boot = "b-1",
		.date = "2023-04-04T00:00:00Z", .cpus = 4, .nr = 2, .ns = ns,
		.folios = { .pages = 2, .nr = { 2 } } };
	struct ds_sparse_counts c = { .known = false, .why = "not loaded" };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	assert_int_equal(parse(&o, WORDS), 0);
	assert_int_equal(ds_sparse_put_header(f, &r), 0);
	assert_int_equal(ds_sparse_put_iteration(f, &r, 1, &c), 0);
	c.known = true;
	c.nr = 1;
	c.usage[0] = (struct ds_sparse_usage){ "t", 2, 6, 2, 1, { 0, 2 } };
	c.flush[DS_FLUSH_EARLY][1] = 8;
	c.fault_hits[DS_FAULT_MOVE] = 4;
	c.fault_done[DS_FAULT_MOVE] = 1;
	c.fault_ns[DS_FAULT_MOVE] = 20001;
	assert_int_equal(ds_sparse_put_iteration(f, &r, 2, &c), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text,
			    "# Microseconds of each removal, by drainctl sparsetruncate.\n"
			    "# kernel: 6.1.0\n# fs: xfs\n# order: single\n# method: unlink\n"
			    "# cpus: 4\n# seed: 3\n# dirs: 1\n# files: 2\n# size: 8192\n"
			    "# iterations: 2\n# boot: b-1\n# date: 2023-04-04T00:00:00Z\n"
			    "# faults: move=prob:1/64,us:5-50\n"
			    "# iteration: 1\n# folios: 2 of order 0\n"
			    "# counts: none: not loaded\n1.234\n0.999\n"
			    "# iteration: 2\n# folios: 2 of order 0\n# usages: 2\n# releases: 6\n"
			    "# drains: 2\n# drains_per_usage_max: 1\n# flushes_full: 0\n"
			    "# flushes_early: 8\n# flushes_drain: 0\n# missed_probes: 0\n"
			    "# fault_move: 4 hits, 1 done, 20001 ns\n5000.000\n0.001\n");
	free(text);
	f = fopen("/dev/full", "we");
	assert_non_null(f);
	assert_int_equal(ds_sparse_put_header(f, &r), -1);
	fclose(f);
}

/* ---- the workload ---- */

static char top[64];
static int topfd;
static bool caches_holes;
static u32 stop_after;

static bool go_on(void *arg, const char *what, u32 done, u32 total)
{
	(void)what;
	assert_ptr_equal(arg, top);
	assert_true(done < total);
	return !stop_after || done < stop_after;
}

static unsigned int names_in(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY);
	DIR *d = fdopendir(fd);
	struct dirent *e;
	unsigned int nr = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		nr += e->d_name[0] != '.';
	closedir(d);
	return nr;
}

static int set_up(void **state)
{
	struct statfs st;

	(void)state;
	stop_after = 0;
	snprintf(top, sizeof(top), "/var/tmp/drainstress-sparse-XXXXXX");
	if (!mkdtemp(top) || statfs(top, &st))
		return -1;
	caches_holes = st.f_type != TMPFS_MAGIC;
	topfd = open(top, O_RDONLY | O_DIRECTORY);
	return topfd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(topfd);
	return rmdir(top);	/* fails when something was left */
}

/* A host that reclaims in between is read again; where holes are not cached there is nothing. */
static void all_cached(struct ds_sparse *s)
{
	char why[300] = "";
	u64 pages = 0;
	int tries;

	for (tries = 0; tries < 5; tries++) {
		assert_int_equal(ds_sparse_resident(s, &pages, why, sizeof(why)), 0);
		if (pages == (caches_holes ? 24 : 0))
			return;
		assert_int_equal(ds_sparse_clear(s), 0);
		if (ds_sparse_populate(s, why, sizeof(why)))
			fail_msg("%s", why);
	}
	fail_msg("%llu pages of 24 stay", pages);
}

static void workload(const char *method, u64 seed)
{
	struct ds_sparse_params p = { .dirs = 2, .files = 3, .size = 4 * sysconf(_SC_PAGESIZE),
		.method = ds_sparse_method_find(method), .seed = seed, .go_on = go_on,
		.arg = top };
	struct ds_sparse s;
	char why[300] = "";
	u64 ns[6];
	unsigned int i, times;
	int ret = ds_sparse_open(&s, &p, topfd, why, sizeof(why));

	if (ret == -EOPNOTSUPP) {
		/* no io_uring on this host: the reason is what is tested */
		assert_non_null(strstr(why, "io_uring"));
		ds_sparse_close(&s);
		return;
	}
	assert_int_equal(ret, 0);
	for (times = 0; times < 2; times++) {
		memset(ns, 0, sizeof(ns));
		if (ds_sparse_populate(&s, why, sizeof(why)))
			fail_msg("%s", why);
		assert_int_equal(names_in(topfd), 2);
		assert_int_equal(names_in(s.dir[1]), 3);
		all_cached(&s);
		if (ds_sparse_remove(&s, ns, why, sizeof(why)))
			fail_msg("%s", why);
		assert_int_equal(names_in(s.dir[0]) + names_in(s.dir[1]), p.method->opens ? 6 : 0);
		for (i = 0; i < 6; i++)
			assert_true(ns[i] > 0);
		assert_int_equal(ds_sparse_clear(&s), 0);
		assert_int_equal(names_in(topfd), 0);
	}
	ds_sparse_close(&s);
}

static void test_unlink(void **state)
{
	(void)state;
	workload("unlink", 0);
}

static void test_ftruncate(void **state)
{
	(void)state;
	workload("ftruncate", 3);
}

static void test_ring(void **state)
{
	(void)state;
	workload("io_uring", 4);
}

/* Stopped in the middle of either half, and a name that is taken already. */
static void test_stopped(void **state)
{
	struct ds_sparse_params p = { .dirs = 2, .files = 3, .size = sysconf(_SC_PAGESIZE),
		.method = ds_sparse_method_find("unlink"), .go_on = go_on, .arg = top };
	struct ds_sparse s;
	char why[300] = "";
	u64 ns[6];

	(void)state;
	assert_int_equal(ds_sparse_open(&s, &p, topfd, why, sizeof(why)), 0);
	stop_after = 4;
	assert_int_equal(ds_sparse_populate(&s, why, sizeof(why)), -ECANCELED);
	assert_int_equal(names_in(s.dir[1]), 1);
	assert_int_equal(ds_sparse_clear(&s), 0);
	stop_after = 0;
	assert_int_equal(ds_sparse_populate(&s, why, sizeof(why)), 0);
	stop_after = 5;
	assert_int_equal(ds_sparse_remove(&s, ns, why, sizeof(why)), -ECANCELED);
	assert_int_equal(names_in(s.dir[1]), 1);
	assert_int_equal(ds_sparse_clear(&s), 0);
	assert_int_equal(names_in(topfd), 0);
	stop_after = 0;
	assert_int_equal(mkdirat(topfd, "d001", 0700), 0);
	assert_int_equal(ds_sparse_populate(&s, why, sizeof(why)), -EEXIST);
	assert_non_null(strstr(why, "File exists"));
	assert_int_equal(ds_sparse_clear(&s), 0);
	ds_sparse_close(&s);
}

#define WORKS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_folios),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_samples_file),
		WORKS(test_unlink),
		WORKS(test_ftruncate),
		WORKS(test_ring),
		WORKS(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
