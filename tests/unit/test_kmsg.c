// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel log: lines that real kernels print, bad and harmless, as records
 * of /dev/kmsg.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kmsg.h"

static const char * const bad[] = {
	"BUG: Bad page state in process drainctl  pfn:12345",
	"BUG: kernel NULL pointer dereference, address: 0000000000000008",
	"kernel BUG at mm/swap.c:123!",
	"WARNING: CPU: 0 PID: 174 at lib/nlattr.c:122 nla_get_range_unsigned+0x65/0x110",
	"watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [kworker/1:1:33]",
	"rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
	"rcu: INFO: rcu_preempt self-detected stall on CPU",
	"INFO: task flood/3:321 blocked for more than 120 seconds.",
	"list_add corruption. prev->next should be next (ffff8880), but was dead000000000100.",
	"list_del corruption, ffff888003f1a008->next is LIST_POISON1 (dead000000000100)",
	"BUG: KASAN: use-after-free in folio_batch_move_lru+0x1f3/0x3a0",
	"Oops: general protection fault, probably for non-canonical address: 0000 [#1] SMP",
	"Kernel panic - not syncing: Fatal exception",
	"WARNING: possible circular locking dependency detected",
	"page dumped because: VM_BUG_ON_FOLIO(folio_test_lru(folio))",
	"NMI watchdog: Watchdog detected hard LOCKUP on cpu 1",
};

static const char * const good[] = {
	"drainstress: loading out-of-tree module taints kernel.",
	"drainstress: module verification failed: signature and/or required key missing",
	"drainstress: loaded: batch size 31, MGLRU on, fix present",
	"EXT4-fs (vda): mounted filesystem 7a061a88-022c-4f52-ab41-2c2945dc612a r/w with ordered data mode",
	"hrtimer: interrupt took 64047581 ns",
	"random: crng init done",
	"EXT4-fs error (device vda) in ext4_punch_hole:4123: Out of memory",
	"page dumped because: unmovable page",
	"page dumped because: isolation failed",
	"perf: interrupt took too long (2507 > 2500), lowering kernel.perf_event_max_sample_rate",
	"DEBUG: nothing to see",
	"clocksource: timekeeping watchdog on CPU1: hpet wd-wd read-back delay of 62500ns",
	"",
};

static struct ds_kmsg kmsg;

static int set_up(void **state)
{
	struct ds_err err;

	(void)state;
	return ds_kmsg_init(&kmsg, &err);
}

static int tear_down(void **state)
{
	(void)state;
	ds_kmsg_close(&kmsg);
	return 0;
}

static bool record(const char *text)
{
	char buf[512];
	int n = snprintf(buf, sizeof(buf), "4,1234,5678901,-;%s\n SUBSYSTEM=mm\n", text);

	return ds_kmsg_record(&kmsg, buf, n);
}

static void test_bad_lines(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!record(bad[i]))
			fail_msg("not noticed: %s", bad[i]);
	}
	assert_int_equal(kmsg.bad, ARRAY_SIZE(bad));
	assert_string_equal(kmsg.excerpt[0], bad[0]);
}

static void test_good_lines(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		if (record(good[i]))
			fail_msg("false alarm: %s", good[i]);
	}
	assert_int_equal(kmsg.lines, ARRAY_SIZE(good));
	assert_int_equal(kmsg.nr_excerpt, 0);
}

/* What follows a bad line belongs to it; a dictionary line does not count. */
static void test_excerpt(void **state)
{
	unsigned int i;

	(void)state;
	record("before");
	record(bad[0]);
	record("Call Trace:");
	assert_int_equal(kmsg.nr_excerpt, 2);
	assert_string_equal(kmsg.excerpt[1], "Call Trace:");
	for (i = 0; i < 2 * DS_KMSG_EXCERPT; i++)
		record("more");
	assert_int_equal(kmsg.nr_excerpt, DS_KMSG_EXCERPT);
	assert_int_equal(kmsg.bad, 1);
}

static void test_odd_records(void **state)
{
	char longer[9000];

	(void)state;
	assert_false(ds_kmsg_record(&kmsg, "", 0));
	assert_false(ds_kmsg_record(&kmsg, "no separator BUG: x", 19));
	assert_false(ds_kmsg_record(&kmsg, "4,1,2,-;", 8));
	assert_true(ds_kmsg_record(&kmsg, "4,1,2,-;BUG: x", 14));
	memset(longer, 'a', sizeof(longer));
	memcpy(longer, "4,1,2,-;", 8);
	assert_false(ds_kmsg_record(&kmsg, longer, sizeof(longer)));
}

static void test_taint(void **state)
{
	char buf[64];

	(void)state;
	ds_taint_letters(0, buf, sizeof(buf));
	assert_string_equal(buf, "");
	ds_taint_letters(1 << 9 | 1 << 12, buf, sizeof(buf));
	assert_string_equal(buf, "W,O");
	ds_taint_letters(~0ULL, buf, 8);
	assert_true(strlen(buf) < 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bad_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_good_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_excerpt, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_odd_records, set_up, tear_down),
		cmocka_unit_test(test_taint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
