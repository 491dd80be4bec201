// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values on the command line: what is taken, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands.h"
#include "opts.h"
#include "run_opts.h"

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		u64 ms;
	} good[] = {
		{ "1", 1000 }, { "90", 90000 }, { "90s", 90000 }, { "10m", 600000 },
		{ "2h", 7200000 }, { "8760h", 31536000000ULL },
	};
	static const char * const bad[] = {
		"", "0", "0s", "x", "-1", "+1", " 1", "1 ", "1d", "1ms", "s", "1.5", "1s1",
		"99999999999999999999", "8761h", "18446744073709551615h",
	};
	unsigned int i;
	u64 ms;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(ds_opt_duration(good[i].text, &ms), 0);
		assert_int_equal(ms, good[i].ms);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_not_equal(ds_opt_duration(bad[i], &ms), 0);
}

static void test_size(void **state)
{
	static const struct {
		const char *text;
		u64 bytes;
	} good[] = {
		{ "1", 1 }, { "4096", 4096 }, { "1K", 1024 }, { "512M", 512ULL << 20 },
		{ "2g", 2ULL << 30 }, { "1T", 1ULL << 40 },
	};
	static const char * const bad[] = {
		"", "0", "0M", "M", "-1", "1X", "1MB", "1 M", "8388608T", "99999999999999999999",
	};
	unsigned int i;
	u64 bytes;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(ds_opt_size(good[i].text, &bytes), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_not_equal(ds_opt_size(bad[i], &bytes), 0);
}

static void test_number(void **state)
{
	u64 n = 77;

	(void)state;
	assert_int_equal(ds_opt_number("4096", 1, 4096, &n), 0);
	assert_int_equal(n, 4096);
	assert_int_not_equal(ds_opt_number("0", 1, 4096, &n), 0);
	assert_int_not_equal(ds_opt_number("4097", 1, 4096, &n), 0);
	assert_int_not_equal(ds_opt_number("12x", 1, 4096, &n), 0);
	assert_int_not_equal(ds_opt_number("-1", 0, ~0ULL, &n), 0);
	assert_int_equal(n, 4096);
}

static void test_cpus(void **state)
{
	static const char * const good[] = { "0", "0-3", "0-3,5", "1,2,3", "7-7" };
	static const char * const bad[] = {
		"", ",", "1,", ",1", "3-1", "a", "1-", "-1", "1--2", "0 1", "9999", "1;2",
	};
	char longer[DS_STRING_MAX + 8];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(ds_opt_cpus(good[i]), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_not_equal(ds_opt_cpus(bad[i]), 0);
	memset(longer, '1', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_not_equal(ds_opt_cpus(longer), 0);
}

static void test_lists(void **state)
{
	static const char * const bad[] = { "", "lru", "lru_add,", ",mlock", "mlock,nothing" };
	unsigned int i;
	char buf[16];
	u64 mask;

	(void)state;
	assert_int_equal(ds_opt_kinds("lru_add", &mask), 0);
	assert_int_equal(mask, 1);
	assert_int_equal(ds_opt_kinds("mlock,lru_add", &mask), 0);
	assert_int_equal(mask, 1 | 1 << (DS_BATCH_MLOCK - 1));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_not_equal(ds_opt_kinds(bad[i], &mask), 0);
	assert_int_equal(ds_opt_drains("all,local", &mask), 0);
	assert_int_equal(mask, 1 << (DS_DRAIN_ALL - 1) | 1);
	assert_int_not_equal(ds_opt_drains("every", &mask), 0);
	assert_int_equal(ds_opt_invariants("I1,I8", &mask), 0);
	assert_int_equal(mask, 1 | 1 << 7);
	assert_int_not_equal(ds_opt_invariants("8", &mask), 0);
	assert_int_not_equal(ds_opt_invariants("I0", &mask), 0);
	assert_int_not_equal(ds_opt_invariants("I64", &mask), 0);
	assert_int_not_equal(ds_opt_invariants("I1,", &mask), 0);
	/* names are cut, never written past the end */
	ds_opt_kind_names(buf, sizeof(buf));
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
	ds_opt_invariant_names(buf, sizeof(buf));
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
	assert_string_equal(ds_kind_name(1), "lru_add");
	assert_string_equal(ds_kind_name(0), "?");
	assert_string_equal(ds_kind_name(99), "?");
	assert_string_equal(ds_drain_name(DS_DRAIN_RELEASE), "release");
	assert_non_null(ds_invariant_title(8));
	assert_null(ds_invariant_title(999));
}

/* Each row of the table is whole, and its code is "FILE: a(), b() (6.12: c()); FILE: ...". */
static void test_invariants(void **state)
{
	const char *p, *code;
	unsigned int n = 0;
	u32 id;

	(void)state;
	for (id = 1; id <= 64; id++) {
		if (!ds_invariant_title(id))
			continue;
		n++;
		assert_true(strlen(ds_invariant_title(id)) > 10);
		assert_true(strlen(ds_invariant_why(id)) > 10);
		assert_true(strlen(ds_invariant_exceptions(id)) > 3);
		assert_non_null(ds_invariant_retry(id));
		code = ds_invariant_code(id);
		for (p = code; p; p = strstr(p, "; ") ? strstr(p, "; ") + 2 : NULL) {
			size_t file = strcspn(p, ":; ");

			if (p[file] != ':' || p[file + 1] != ' ' || p[file - 2] != '.' ||
			    !memchr(p, '/', file))
				fail_msg("I%u: no file in '%s'", id, p);
			file = strcspn(p, ";");
			if (p[file - 1] != ')' || !memmem(p, file, "()", 2))
				fail_msg("I%u: no function in '%s'", id, p);
		}
	}
	assert_true(n >= 28);
	assert_null(ds_invariant_code(999));
}

/* The command that repeats a run, given back to the parser, is that run. */
static void test_repeat(void **state)
{
	char name[] = "drainctl", threads[] = "--threads=64", duration[] = "--duration=10m";
	char seed[] = "--seed=12345", dir[] = "--dir=/tmp/a b'c", kinds[] = "--kinds=lru_add,mlock";
	char method[] = "--method=punch", fix[] = "--require-fix", memory[] = "--memory=64M";
	char stutter[] = "--stutter=0";
	char *argv[11] = { name, threads, duration, seed, dir, kinds, method, fix, memory, stutter,
		NULL };
	struct ds_run_opts o;
	char buf[1024];

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, ARRAY_SIZE(argv) - 1, argv), 0);
	ds_run_repeat(&o, buf, sizeof(buf));
	assert_string_equal(buf,
			    "drainctl run --threads 64 --duration 600s --seed 12345 --method punch --memory 65536K --dir '/tmp/a b'\\''c' --kinds lru_add,mlock --stutter 0 --require-fix");
	ds_run_repeat(&o, buf, 20);
	assert_int_equal(strlen(buf), 19);
}

static void test_fs(void **state)
{
	char name[] = "drainctl", seed[] = "--seed=1", ext4[] = "--fs=ext4", tmpfs[] = "--fs=tmpfs";
	char bad[] = "--fs=ext3", no_disk[] = "--no-disk", xfs[] = "--fs=xfs";
	char huge[] = "--fs=tmpfs-huge", btrfs[] = "--fs=btrfs";
	char *argv[6] = { name, seed, ext4, tmpfs, ext4, NULL };
	struct ds_run_opts o;
	char buf[1024];

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), 0);
	assert_int_equal(o.fs_mask, DS_OWN_FS_BIT(DS_OWN_EXT4) | DS_OWN_FS_BIT(DS_OWN_TMPFS));
	ds_run_repeat(&o, buf, sizeof(buf));
	assert_non_null(strstr(buf, " --fs tmpfs --fs ext4"));
	assert_null(strstr(buf, "xfs"));
	argv[4] = bad;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), DS_EXIT_USAGE);
	argv[4] = no_disk;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), DS_EXIT_USAGE);
	argv[2] = tmpfs;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), 0);
	argv[3] = xfs;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), DS_EXIT_USAGE);
	argv[3] = btrfs;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), DS_EXIT_USAGE);
	argv[3] = huge;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), 0);
	assert_int_equal(o.fs_mask, DS_OWN_FS_TMPFS);
	argv[4] = btrfs;
	assert_int_equal(ds_run_opts_parse(&o, 5, argv), 0);
	ds_run_repeat(&o, buf, sizeof(buf));
	assert_non_null(strstr(buf, " --fs tmpfs --fs tmpfs-huge --fs btrfs"));
}

/* Each kind is whole: what needs a device says how one is made. */
static void test_fs_kinds(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < DS_NR_OWN_FS; i++) {
		const struct ds_own_fs *fs = &ds_own_fs_kinds[i];

		assert_int_equal(ds_own_fs_find(fs->name), i);
		assert_non_null(fs->type);
		assert_int_equal(!fs->bytes, !!(DS_OWN_FS_TMPFS & DS_OWN_FS_BIT(i)));
		assert_int_equal(!fs->bytes, !fs->mkfs);
		assert_int_equal(!fs->bytes, !fs->package);
	}
}

/* --preset and --mix: taken together, repeated, and refused where they are wrong. */
static void test_mix(void **state)
{
	char name[] = "drainctl", seed[] = "--seed=1", preset[] = "--preset=mlock";
	char mix[] = "--mix=write=1,read=0", no_preset[] = "--preset=none", truncate[] =
		"--preset=truncate", no_op[] = "--mix=fly=1", plant[] = "--plant=stale-data";
	char no_load[] = "--no-load";
	char *argv[5] = { name, seed, preset, mix, NULL };
	struct ds_run_opts o;
	char buf[1024];

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), 0);
	assert_int_equal(o.choice.share, 2);
	assert_int_equal(o.choice.weights[ds_op_find("write")], 1);
	assert_int_equal(o.choice.weights[ds_op_find("read")], 0);
	ds_run_repeat(&o, buf, sizeof(buf));
	assert_non_null(strstr(buf, " --preset mlock --mix write=1,read=0 "));
	argv[3] = no_op;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), DS_EXIT_USAGE);
	argv[2] = no_preset;
	assert_int_equal(ds_run_opts_parse(&o, 3, argv), DS_EXIT_USAGE);
	/* the load's planted fault wants threads that verify */
	argv[2] = plant;
	argv[3] = preset;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), 0);
	assert_true(ds_run_plants_data(&o));
	argv[3] = truncate;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), DS_EXIT_USAGE);
	argv[3] = no_load;
	assert_int_equal(ds_run_opts_parse(&o, 4, argv), DS_EXIT_USAGE);
}

static void test_online_rate(void **state)
{
	char name[] = "drainctl", none[] = "--online-rate=0", most[] = "--online-rate=10000";
	char more[] = "--online-rate=10001", word[] = "--online-rate=often";
	char *argv[3] = { name, none, NULL };
	struct ds_run_opts o;
	char buf[1024];

	(void)state;
	assert_int_equal(ds_run_opts_parse(&o, 2, argv), 0);
	assert_int_equal(o.online_rate, 0);
	ds_run_repeat(&o, buf, sizeof(buf));
	assert_non_null(strstr(buf, " --online-rate 0 "));
	argv[1] = most;
	assert_int_equal(ds_run_opts_parse(&o, 2, argv), 0);
	argv[1] = more;
	assert_int_equal(ds_run_opts_parse(&o, 2, argv), DS_EXIT_USAGE);
	argv[1] = word;
	assert_int_equal(ds_run_opts_parse(&o, 2, argv), DS_EXIT_USAGE);
}

static void test_defaults(void **state)
{
	char name[] = "drainctl";
	char *argv[2] = { name, NULL };
	struct ds_run_opts a, b;

	(void)state;
	assert_int_equal(ds_run_opts_parse(&a, 1, argv), 0);
	assert_true(a.threads >= 16);
	assert_int_equal(a.duration_ms, 60000);
	assert_int_equal(a.interval_ms, 5000);
	assert_string_equal(a.method, "auto");
	assert_string_equal(a.preset, "soak");
	assert_int_equal(a.choice.share, 1);
	assert_false(ds_run_plants_data(&a));
	assert_string_equal(a.format->name, "text");
	assert_true(a.memory > 0);
	assert_int_equal(ds_run_opts_parse(&b, 1, argv), 0);
	assert_int_not_equal(a.seed, b.seed);
}

/* The commands that only ask share their options, and refuse the same words. */
static void test_show(void **state)
{
	int (*const commands[])(int argc, char **argv) = {
		ds_cmd_caps, ds_cmd_faults, ds_cmd_stats, ds_cmd_watch,
	};
	char name[] = "drainctl show", format[] = "--format", bogus[] = "bogus";
	char *bad[4] = { name, format, bogus, NULL }, *word[3] = { name, bogus, NULL };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		assert_int_equal(commands[i](3, bad), DS_EXIT_USAGE);
		assert_int_equal(commands[i](2, word), DS_EXIT_USAGE);
		assert_int_equal(commands[i](2, bad), DS_EXIT_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_invariants),
		cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_fs),
		cmocka_unit_test(test_fs_kinds),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_online_rate),
		cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
