// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mix threads on their own, without the module: presets and mixes are taken as
 * written, decisions repeat, all operations that this host has work on tmpfs and
 * on the file system of /tmp with not one mismatch, and a planted fault is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "report.h"

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L };

	nanosleep(&ts, NULL);
}

static void choose(const char *preset, const char *mix, struct ds_mix_choice *c)
{
	char why[200] = "";

	if (ds_mix_choose(preset, mix, c, why, sizeof(why)))
		fail_msg("%s %s: %s", preset, mix ? mix : "", why);
}

static void test_presets(void **state)
{
	struct ds_mix_choice c;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < ds_nr_presets; i++) {
		choose(ds_presets[i].name, NULL, &c);
		assert_int_equal(c.share, ds_presets[i].share);
		assert_int_equal(!c.share, !c.total);
		/* without data there is nothing to do the others to */
		assert_int_equal(!c.share, !c.weights[ds_op_find("write")]);
	}
	choose("soak", NULL, &c);
	assert_int_equal(c.weights[ds_op_find("drop-caches")], 0);
	assert_int_equal(c.weights[ds_op_find("compact")], 0);
	assert_int_equal(ds_mix_threads(&c, 16), 4);
	assert_int_equal(ds_mix_threads(&c, 3), 1);
	assert_int_equal(ds_mix_threads(&c, 1), 1);
	assert_false(ds_mix_wants(&c, DS_G_SWAP));
	choose("reclaim", NULL, &c);
	assert_true(ds_mix_wants(&c, DS_G_SWAP));
	choose("reclaim", "swap-out=0,swap-in=0,swap-cycle=0", &c);
	assert_false(ds_mix_wants(&c, DS_G_SWAP));
	choose("everything", NULL, &c);
	for (k = 0; k < ds_nr_ops; k++)
		assert_true(c.weights[k]);
	choose("truncate", NULL, &c);
	assert_int_equal(ds_mix_threads(&c, 64), 0);
}

static void test_mix_option(void **state)
{
	static const char * const refused[] = {
		"", "write", "write=", "write=x", "write=-1", "write=1001", "nothing=1", "write=1,",
		",write=1", "write=1x", "all=0", "write=1 ",
	};
	struct ds_mix_choice c;
	unsigned int i;
	char why[200];

	(void)state;
	choose("soak", "all=0,read=3,mlock=7", &c);
	assert_int_equal(c.total, 10);
	assert_int_equal(c.weights[ds_op_find("read")], 3);
	assert_int_equal(c.weights[ds_op_find("mlock")], 7);
	choose("soak", "drop-caches=2", &c);
	assert_int_equal(c.weights[ds_op_find("drop-caches")], 2);
	assert_int_equal(c.weights[ds_op_find("write")], ds_ops[ds_op_find("write")].weight);
	/* a mix wants threads */
	choose("truncate", "write=1", &c);
	assert_int_equal(ds_mix_threads(&c, 8), 2);
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		why[0] = '\0';
		if (ds_mix_choose("soak", refused[i], &c, why, sizeof(why)) != -EINVAL)
			fail_msg("'%s' was taken", refused[i]);
		assert_true(why[0]);
	}
	assert_int_equal(ds_mix_choose("nothing", NULL, &c, why, sizeof(why)), -EINVAL);
}

/* Each row of the table is complete, and no name comes twice. */
static void test_table(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ds_nr_ops; i++) {
		assert_int_equal(ds_op_find(ds_ops[i].name), i);
		assert_true(ds_ops[i].run && ds_ops[i].weight && ds_ops[i].help[0]);
		assert_true(ds_ops[i].groups && !(ds_ops[i].groups & ~DS_G_ALL));
		assert_true(!ds_ops[i].truncates || ds_ops[i].changes);
		assert_string_equal(ds_flood_op_name(DS_FLOOD_OP_MIX + i), ds_ops[i].name);
	}
}

static void test_plan(void **state)
{
	struct ds_mix_step a, b;
	struct ds_mix_choice c;
	unsigned int seen[DS_OPS_MAX] = { 0 }, i, ring = 0, differ = 0;

	(void)state;
	choose("everything", NULL, &c);
	for (i = 0; i < 20000; i++) {
		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		ds_mix_plan(&c, 5, 2, i, &a);
		ds_mix_plan(&c, 5, 2, i, &b);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_true(a.op < ds_nr_ops && a.pages && a.pages <= DS_MIX_PAGES);
		assert_true(a.cut < DS_VPAGE);
		seen[a.op]++;
		ring += a.ring;
		ds_mix_plan(&c, 6, 2, i, &b);
		differ += memcmp(&a, &b, sizeof(a)) != 0;
	}
	assert_true(differ > 19000);
	assert_in_range(ring, 9000, 11000);
	/* about as often as the weight says */
	for (i = 0; i < ds_nr_ops; i++)
		assert_in_range(seen[i], 20000 * c.weights[i] / c.total / 2,
				20000 * c.weights[i] / c.total * 2 + 20);
}

static struct ds_load_params params_for(const char *preset, const char *mix, unsigned int threads)
{
	struct ds_load_params p = {
		.threads = threads, .seed = 42, .memory = 128 << 20, .no_disk = true,
	};
	struct ds_method_probe probe;
	char why[256];

	ds_methods_probe(&probe);
	if (ds_methods_choose(DS_METHOD_AUTO, &probe, &p.choice, why, sizeof(why)))
		assert_int_equal(ds_methods_choose("syscall", &probe, &p.choice, why,
						   sizeof(why)), 0);
	choose(preset, mix, &p.mix);
	return p;
}

/* Each truncate, of mix threads too, is in the histogram of its thread. */
static void check_timed(const struct ds_load *l, const struct ds_load_totals *t)
{
	u64 all = 0, mine;
	unsigned int i, m;

	for (i = 0; i < l->slots; i++) {
		mine = l->sh->slots[i].mix_truncates;
		for (m = 0; m < ds_nr_methods; m++)
			mine += l->sh->slots[i].truncates[m];
		assert_int_equal(ds_load_hist(l, i)->count, mine);
		assert_true(!mine || ds_load_hist(l, i)->max > 0);
		all += mine;
	}
	assert_int_equal(all, t->all_truncates);
}

/* Until its mix threads have made so many steps, or for ten seconds. */
static void run_mix(const struct ds_load_params *p, u64 steps, struct ds_load *l,
		    struct ds_load_totals *t)
{
	unsigned int waited;
	int status = -1;

	memset(l, 0, sizeof(*l));
	assert_int_equal(ds_load_start(l, p), 0);
	if (ds_load_wait_ready(l, 20000))
		fail_msg("%s", l->sh->text);
	ds_load_go(l);
	ds_load_sum(l, t);
	for (waited = 0; waited < 10000 && !t->mix.violations && !t->mix.failed; waited += 20) {
		if (ds_get(&l->sh->slots[l->sh->threads - 1].steps) >= steps &&
		    ds_get(&l->sh->slots[0].steps))
			break;
		sleep_ms(20);
		ds_load_sum(l, t);
	}
	ds_load_stop(l);
	assert_int_equal(ds_load_wait(l, 20000, &status), 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("the load ended with status 0x%x", status);
	ds_load_sum(l, t);
	check_timed(l, t);
}

/*
 * One hash for one seed, however long the load ran and whatever can be done here, the
 * same as when nothing is executed; another for another seed.
 */
static void test_hash(void **state)
{
	struct ds_load_params p = params_for("smoke", "dontcache=5", 4);
	u64 planned = 0, mine, i;
	struct ds_load_totals t;
	struct ds_load l;
	u32 thread;

	(void)state;
	for (thread = 0; thread < 4; thread++) {
		for (i = 0, mine = 0; i < DS_DECISIONS; i++)
			mine = thread < 2 ? ds_flood_hash(mine, 42, thread, i) :
			       ds_mix_hash(mine, &p.mix, 42, thread, i);
		planned = ds_decide_fold(planned, mine);
	}
	run_mix(&p, 1, &l, &t);
	assert_int_equal(l.sh->flood_threads, 2);
	assert_true(ds_load_hash(&l, 42, &p.mix) == planned);
	/* what a thread has taken is not planned again */
	l.sh->slots[1].hash ^= 1;
	assert_true(ds_load_hash(&l, 42, &p.mix) != planned);
	ds_load_free(&l);
	run_mix(&p, DS_DECISIONS + 1, &l, &t);
	assert_true(ds_load_hash(&l, 42, &p.mix) == planned);
	ds_load_free(&l);
	p.seed = 43;
	run_mix(&p, 10, &l, &t);
	assert_true(ds_load_hash(&l, 43, &p.mix) != planned);
	ds_load_free(&l);
}

/* Each step that was done is in the log, in order, until it is frozen. */
static void test_log(void **state)
{
	struct ds_load_params p = params_for("smoke", NULL, 2);
	struct ds_load_totals t;
	struct ds_log_entry e;
	struct ds_load l;
	u64 n, last[2] = { 0 };
	unsigned int k;

	(void)state;
	p.memory = 16 << 20;
	run_mix(&p, 20, &l, &t);
	assert_int_equal(l.log_size, DS_DECISIONS);
	for (k = 0; k < 2; k++) {
		for (n = 0; ds_load_log(&l, k, n, &e); n++) {
			assert_true(!n || e.what >> 16 > last[k]);
			assert_int_not_equal(e.result, DS_LOG_UNDER_WAY);
			last[k] = e.what >> 16;
		}
		assert_in_range(n, 1, l.sh->slots[k].steps);
		assert_true(last[k] < l.sh->slots[k].steps);
	}
	assert_int_equal(ds_load_log(&l, 0, DS_DECISIONS, &e), 0);
	ds_load_free(&l);
	/* with many threads each has less of it */
	p.threads = 128;
	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, &p), 0);
	assert_int_equal(l.log_size, 256);
	ds_load_kill(&l);
	assert_int_equal(ds_load_wait(&l, 20000, &(int){ 0 }), 0);
	ds_load_free(&l);
}

/* With scripts, threads do what is in them, over and over, and no others are made. */
static void test_script(void **state)
{
	static const u64 one[] = { 7, 3 }, two[] = { 11, 12, 13 };
	struct ds_load_script scripts[4] = {
		[1] = { .steps = { 2, one } }, [3] = { .steps = { 3, two }, .mix = true },
	};
	struct ds_load_params p = params_for("smoke", NULL, 4);
	struct ds_load_totals t;
	struct ds_log_entry e;
	struct ds_load l;
	u64 n, hash;

	(void)state;
	run_mix(&p, 1, &l, &t);
	hash = ds_load_hash(&l, 42, &p.mix);
	ds_load_free(&l);
	p.scripts = scripts;
	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, &p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), 0);
	assert_int_equal(l.sh->threads, 2);
	assert_int_equal(l.sh->mix_threads, 1);
	ds_load_go(&l);
	for (n = 0; n < 500 && (ds_get(&l.sh->slots[3].steps) < 9 ||
				ds_get(&l.sh->slots[1].steps) < 9); n++)
		sleep_ms(20);
	ds_load_stop(&l);
	assert_int_equal(ds_load_wait(&l, 20000, &(int){ 0 }), 0);
	for (n = 0; ds_load_log(&l, 1, n, &e); n++)
		assert_true(e.what >> 16 == 7 || e.what >> 16 == 3);
	assert_true(n > 2);
	for (n = 0; ds_load_log(&l, 3, n, &e); n++)
		assert_in_range(e.what >> 16, 11, 13);
	assert_true(l.sh->slots[3].steps >= 9);
	assert_true(!l.sh->slots[0].steps && !l.sh->slots[2].steps);
	/* the seed's hash all the same */
	assert_true(ds_load_hash(&l, 42, &p.mix) == hash);
	ds_load_free(&l);
	/* what belongs to another sort of thread is refused */
	scripts[3].mix = false;
	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, &p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), -ECANCELED);
	assert_non_null(strstr(l.sh->text, "thread 3"));
	ds_load_kill(&l);
	ds_load_wait(&l, 20000, &(int){ 0 });
	ds_load_free(&l);
}

static void expect_clean(const struct ds_load_totals *t)
{
	if (t->mix.failed)
		fail_msg("%s failed on %s: %s", ds_ops[t->mix.failed_op].name,
			 t->mix.failed_place, strerror(t->mix.failed_errno));
	if (t->mix.violations)
		fail_msg("%s: %s: expected %s, found %s", t->mix.first.place,
			 t->mix.first.bad.text, t->mix.first.bad.expected,
			 t->mix.first.bad.found);
	assert_true(t->mix.verified > 0);
	assert_int_equal(t->submitted, t->reaped);
	assert_int_equal(t->dropped, 0);
	assert_int_equal(t->broken, 0);
}

/* For --mix: nothing is done to the whole machine of whoever tests. */
static void not_the_machine(char *mix, size_t len)
{
	unsigned int i;
	size_t n = 0;

	for (i = 0; i < ds_nr_ops; i++) {
		if (ds_ops[i].groups & DS_G_MACHINE)
			n += snprintf(mix + n, len - n, "%s%s=0", n ? "," : "", ds_ops[i].name);
		assert_true(n < len);
	}
}

/* Every operation that is available succeeds at least once, on either path. */
static void test_all_ops(void **state)
{
	char dir[] = "/tmp/drainstress-mix-XXXXXX";
	char own[1024];
	struct ds_load_params p;
	const char *dirs[1] = { dir };
	struct ds_load_totals t;
	struct ds_load l;
	unsigned int i;
	u64 rings = 0;

	(void)state;
	not_the_machine(own, sizeof(own));
	p = params_for("everything", own, 4);
	assert_non_null(mkdtemp(dir));
	p.dirs = dirs;
	p.nr_dirs = 1;
	run_mix(&p, 4000, &l, &t);
	expect_clean(&t);
	assert_int_equal(l.sh->mix_threads, 2);
	assert_int_equal(t.finished, 4);
	for (i = 0; i < ds_nr_ops; i++) {
		rings += t.mix.ran[i][DS_PATH_RING];
		if (!l.sh->probes[i].available) {
			print_message("%s: %s\n", ds_ops[i].name, l.sh->probes[i].why);
			assert_true(l.sh->probes[i].why[0]);
			assert_int_equal(t.mix.ran[i][DS_PATH_SYSCALL], 0);
		} else if (l.sh->mix.weights[i] && !t.mix.ran[i][DS_PATH_SYSCALL] &&
			   !t.mix.ran[i][DS_PATH_RING]) {
			fail_msg("%s never succeeded, was refused %llu times", ds_ops[i].name,
				 t.mix.refused[i]);
		}
	}
	assert_int_equal(!rings, !p.choice.nr_ring);
	ds_load_free(&l);
	assert_int_equal(rmdir(dir), 0);
}

/* As little memory as may be given, and no rings. */
static void test_small(void **state)
{
	struct ds_load_params p = params_for("smoke", NULL, 3);
	struct ds_load_totals t;
	struct ds_load l;

	(void)state;
	p.memory = 16 << 20;
	memset(&p.choice, 0, sizeof(p.choice));
	p.choice.syscall = ds_method_find("syscall");
	p.choice.syscall_share = 8;
	run_mix(&p, 300, &l, &t);
	expect_clean(&t);
	assert_int_equal(t.submitted, 0);
	assert_true(l.sh->mix_pages >= DS_MIX_PAGES_MIN);
	ds_load_free(&l);
}

/* A page that is altered is found, and what is told of it is right. */
static void test_planted(void **state)
{
	struct ds_load_params p = params_for("smoke", NULL, 1);
	struct ds_load_totals t;
	struct ds_violation v;
	struct ds_load l;
	char *text = NULL;
	size_t len;
	FILE *out;

	(void)state;
	p.plant = true;
	run_mix(&p, ~0ULL, &l, &t);
	assert_true(t.mix.planted > 0);
	assert_true(t.mix.violations > 0);
	assert_false(t.mix.failed);
	ds_mix_violation(&t.mix.first, &v);
	assert_int_equal(v.invariant, DS_INV_DATA);
	assert_non_null(strstr(v.expected, "generation"));
	assert_non_null(strstr(v.found, "generation"));
	assert_non_null(strstr(v.text, v.found));
	assert_in_range(v.nr_actions, 1, DS_HISTORY);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	ds_output_violation(out, "", &v, NULL);
	fclose(out);
	assert_non_null(strstr(text, "I31 violated"));
	assert_non_null(strstr(text, "last operations on the file"));
	free(text);
	ds_load_free(&l);
}

/* What mix threads verified, among the facts: in its place, and checked. */
static void test_facts(void **state)
{
	static struct ds_facts f;
	static struct ds_mix_totals t;
	struct ds_msg caps;
	struct ds_item items[2] = {
		{ .class = DS_CLASS_INVARIANT, .id = 30, .available = 1 },
		{ .class = DS_CLASS_INVARIANT, .id = 32, .available = 1 },
	};

	(void)state;
	memset(&caps, 0, sizeof(caps));
	caps.items = items;
	caps.nr_items = 2;
	ds_facts_take_caps(&f, &caps);
	ds_facts_take_mix(&f, &t, 0);
	assert_int_equal(f.nr_inv, 3);
	assert_string_equal(f.inv[1].name, "I31");
	assert_false(f.inv[1].available);
	assert_true(f.inv[1].reason[0]);
	assert_string_equal(f.inv[2].name, "I32");
	t.verified = 17;
	t.violations = 2;
	snprintf(t.first.bad.expected, sizeof(t.first.bad.expected), "this");
	snprintf(t.first.bad.found, sizeof(t.first.bad.found), "that");
	ds_facts_take_mix(&f, &t, 1);
	assert_int_equal(f.nr_inv, 3);
	assert_true(f.inv[1].available);
	assert_int_equal(f.inv[1].checked, 17);
	assert_true(ds_inv_fails(&f.inv[1]));
	assert_string_equal(f.inv[1].first.found, "that");
	assert_non_null(strstr(f.inv[1].first.text, "expected this, found that"));
}

/* Touching what is not behind a mapping is an error, not the end. */
static void test_fault(void **state)
{
	static struct ds_mix m;
	u8 page[DS_VPAGE];
	u8 *map;
	int fd;

	(void)state;
	ds_mix_catch_faults();
	fd = memfd_create("drainstress-test", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, DS_VPAGE), 0);
	map = mmap(NULL, 2 * DS_VPAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	memset(page, 7, sizeof(page));
	assert_int_equal(ds_mix_copy(&m, map + DS_VPAGE, page, DS_VPAGE), -ENOSPC);
	assert_int_equal(ds_mix_copy(&m, map, page, DS_VPAGE), 0);
	assert_int_equal(ds_mix_copy(&m, page, map + DS_VPAGE, DS_VPAGE), -ENOSPC);
	assert_int_equal(map[DS_VPAGE - 1], 7);
	munmap(map, 2 * DS_VPAGE);
	close(fd);
}

/* Few descriptors: fewer threads, one of them mixing, and a note. */
static void test_descriptors(void **state)
{
	struct ds_load_params p = params_for("soak", NULL, 64);
	struct rlimit old, low = { .rlim_cur = 64, .rlim_max = 64 };
	struct ds_load_totals t;
	struct ds_load l;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	run_mix(&p, 100, &l, &t);
	expect_clean(&t);
	assert_in_range(l.sh->threads, 1, 8);
	assert_int_equal(l.sh->mix_threads, 1);
	assert_true(l.sh->nr_notes);
	assert_non_null(strstr(l.sh->notes[0], "RLIMIT_NOFILE"));
	ds_load_free(&l);
	/* where that is allowed */
	setrlimit(RLIMIT_NOFILE, &old);
}

/* Nothing that is asked for can be done: a SKIP, not a run without it. */
static void test_none_available(void **state)
{
	struct ds_load_params p = params_for("soak", "all=0,memcg-reclaim=1", 2);
	struct ds_load l;
	int status;

	(void)state;
	memset(&l, 0, sizeof(l));
	assert_int_equal(ds_load_start(&l, &p), 0);
	assert_int_equal(ds_load_wait_ready(&l, 20000), -ECANCELED);
	assert_true(l.sh->skip);
	assert_non_null(strstr(l.sh->text, "drainctl ops"));
	ds_load_kill(&l);
	ds_load_wait(&l, 5000, &status);
	ds_load_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_mix_option),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_all_ops),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_none_available),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
