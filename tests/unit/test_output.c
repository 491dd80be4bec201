// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stable keys: their names and order are written down here a second time,
 * so that nobody changes them by accident, and every format carries them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <unistd.h>

#include "opts.h"
#include "report.h"
#include "version.h"

#define set_text(array, text) snprintf(array, sizeof(array), "%s", text)

static const char * const golden[] = {
	"verdict", "exit", "kernel", "fix", "usages", "drains_per_usage_max", "truncates",
	"fills", "drains_effective", "checks", "violations", "first_violation",
	"missed_probes", "seed", "repeat", "load_decisions", "race_decisions",
};

static struct ds_report *r;

static int set_up(void **state)
{
	struct ds_inv_fact *inv;

	(void)state;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -1;
	r->facts.load = true;
	r->facts.race = true;
	r->facts.accounting = true;
	r->facts.kmsg = true;
	r->facts.truncates = 11;
	r->facts.pages = 12;
	r->facts.fills = 13;
	r->facts.effective = 14;
	r->facts.usages = 15;
	r->facts.fix = DS_FIX_ABSENT;
	inv = &r->facts.inv[r->facts.nr_inv++];
	inv->id = 5;
	set_text(inv->name, "I5");
	set_text(inv->title, "title of five");
	inv->available = true;
	inv->checked = 100;
	inv->violations = 2;
	inv->first.has = 1 << DS_VIOL_INVARIANT | 1 << DS_VIOL_PFN;
	inv->first.invariant = 5;
	inv->first.pfn = 0xabc;
	set_text(inv->first.text, "two\nlines");
	inv = &r->facts.inv[r->facts.nr_inv++];
	inv->id = 9;
	set_text(inv->name, "I9");
	set_text(inv->title, "title of nine");
	set_text(inv->reason, "no such symbol");
	set_text(r->kernel, "6.12.0-test");
	set_text(r->repeat, "drainctl run --dir \377 --seed 5");
	r->seed = 5;
	r->missed = 3;
	ds_verdict(&r->facts, &r->verdict);
	return 0;
}

/* The violation that tells all there is to tell. */
static void set_up_full(struct ds_violation *v)
{
	static const u32 has[] = { DS_VIOL_KIND, DS_VIOL_SLOT, DS_VIOL_PFN, DS_VIOL_FLAGS,
		DS_VIOL_FLAGS_TEXT, DS_VIOL_REFCOUNT, DS_VIOL_MAPCOUNT, DS_VIOL_MAPPING,
		DS_VIOL_INDEX, DS_VIOL_EXPECTED, DS_VIOL_FOUND, DS_VIOL_ORDER, DS_VIOL_NODE,
		DS_VIOL_ZONE, DS_VIOL_MEMCG_DATA, DS_VIOL_MEMCG, DS_VIOL_MEMCG_INODE,
		DS_VIOL_LIST, DS_VIOL_LRUVEC_NODE, DS_VIOL_LRUVEC_MEMCG, DS_VIOL_ACTION };
	unsigned int i;

	*v = (struct ds_violation){
		.has = 1 << DS_VIOL_INVARIANT, .invariant = 5, .time_ns = 12345678000,
		.text = "batch mlock: expected 2 references, found 1",
		.expected = "2 references", .found = "1", .cpu = 3, .kind = DS_BATCH_MLOCK,
		.slot = 4, .pfn = 0xabc, .order = 0, .flags = 0x21, .flags_text = "locked|lru",
		.refcount = 1, .mapcount = -1, .mapping = 0xffff888000002001, .index = 7,
		.node = 0, .zone = 2, .memcg_data = 0xffff888000001000, .memcg = 33,
		.memcg_inode = 4711, .list = "inactive anon", .lruvec_node = 0,
		.lruvec_memcg = 33, .pid = 77, .comm = "kworker/3:1", .nr_actions = 2,
		.actions = { { .time_ns = 12345677000, .cpu = 3, .text = "drain local" },
			     { .time_ns = 12345679500, .cpu = 0, .text = "drain all" } },
	};
	for (i = 0; i < ARRAY_SIZE(has); i++)
		v->has |= 1ULL << has[i];
	set_text(r->facts.module, "abcdef");
	r->start_ns = 10000000000;
}

/* As it is mailed; %s: why it must hold, and the version. */
static const char full_text[] =
	"I5 violated: a folio has at least as many references as batch entries; own folios exactly the known ones\n"
	"  what:       batch mlock: expected 2 references, found 1\n"
	"  why:        %s\n"
	"  expected:   2 references\n"
	"  found:      1\n"
	"  folio:      pfn 0xabc, order 0, refcount 1, mapcount -1, node 0, zone 2\n"
	"  flags:      0x21(locked|lru)\n"
	"  mapping:    0xffff888000002001 (anon), index 7\n"
	"  memcg:      id 33, cgroup inode 4711, memcg_data 0xffff888000001000\n"
	"  lruvec:     node 0, memcg id 33\n"
	"  list:       inactive anon\n"
	"  place:      CPU 3, batch mlock, slot 4\n"
	"  time:       12.345678 s after the boot, 2.345678 s after the start\n"
	"  noticed by: kworker/3:1 (pid 77)\n"
	"  count:      the first of 2\n"
	"  kernel:     6.12.0-test\n"
	"  tool:       drainctl %s, module abcdef\n"
	"  seed:       5\n"
	"  repeat:     drainctl run --dir \377 --seed 5\n"
	"  last actions of the module, seconds before:\n"
	"    -0.000001 s  CPU 3  drain local\n"
	"    0.000001 s  CPU 0  drain all\n";

static int tear_down(void **state)
{
	(void)state;
	free(r);
	return 0;
}

static char *output(const char *format)
{
	const struct ds_format *f = ds_format_find(format);
	char *text = NULL;
	size_t len = 0;
	FILE *mem;

	assert_non_null(f);
	mem = open_memstream(&text, &len);
	assert_non_null(mem);
	assert_int_equal(f->write(mem, r), 0);
	fclose(mem);
	assert_non_null(text);
	return text;
}

/* The last lines of @text, each after @prefix, are the keys in their order. */
static void check_tail(const char *text, const char *prefix)
{
	const char *p = text;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		char line[128];

		snprintf(line, sizeof(line), "%s%s%s: ", i ? "" : "\n", prefix, golden[i]);
		if (i) {
			assert_memory_equal(p, line, strlen(line));
		} else {
			p = strstr(text, line);
			assert_non_null(p);
			p++;
		}
		p = strchr(p, '\n');
		assert_non_null(p);
		p++;
	}
	assert_string_equal(p, "");
}

static void test_text(void **state)
{
	char *text = output("text");

	(void)state;
	check_tail(text, "");
	assert_non_null(strstr(text, "\nverdict: FAIL\nexit: 1\nkernel: 6.12.0-test\n"));
	assert_non_null(strstr(text, "\nfix: absent\n"));
	assert_non_null(strstr(text, "\nfirst_violation: I5 two lines\n"));
	assert_non_null(strstr(text, "I9   not available: no such symbol"));
	assert_non_null(strstr(text, "pfn 0xabc"));
	assert_non_null(strstr(text, "lower bounds"));
	free(text);
}

static void test_text_full(void **state)
{
	char *expected = NULL, *text;

	(void)state;
	set_up_full(&r->facts.inv[0].first);
	assert_true(asprintf(&expected, full_text, ds_invariant_why(5), DS_VERSION) > 0);
	text = output("text");
	assert_non_null(strstr(text, expected));
	check_tail(text, "");
	free(text);
	/* newer kernels decode them with the number */
	set_text(r->facts.inv[0].first.flags_text, "0x21(locked|lru)");
	text = output("text");
	assert_non_null(strstr(text, expected));
	free(expected);
	free(text);
}

/* What is not known is not told, nor made up. */
static void test_text_little(void **state)
{
	struct ds_violation v = { .invariant = 5, .text = "something" };
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);

	(void)state;
	assert_non_null(mem);
	ds_output_violation(mem, "> ", &v, NULL);
	fclose(mem);
	assert_int_equal(strncmp(text, "> I5 violated: ", 15), 0);
	assert_null(strstr(text, "\n "));
	assert_null(strstr(text, "folio:"));
	assert_null(strstr(text, "list:"));
	assert_null(strstr(text, "lruvec:"));
	assert_null(strstr(text, "kernel:"));
	assert_null(strstr(text, "seed:"));
	assert_null(strstr(text, "last actions"));
	free(text);
}

/* Each line of the block is a diagnostic line. */
static void test_ktap_full(void **state)
{
	char *text, *p;
	unsigned int lines = 0;

	(void)state;
	set_up_full(&r->facts.inv[0].first);
	text = output("ktap");
	assert_non_null(strstr(text, "\n# I5 violated: "));
	assert_non_null(strstr(text, "\n#   list:       inactive anon\n"));
	assert_non_null(strstr(text, "\n#     -0.000001 s  CPU 3  drain local\n"));
	for (p = strchr(text, '\n') + 1; *p; p = strchr(p, '\n') + 1) {
		lines++;
		assert_true(!strncmp(p, "# ", 2) || !strncmp(p, "ok ", 3) ||
			    !strncmp(p, "not ok ", 7) || !strncmp(p, "1..", 3));
	}
	assert_true(lines > 20);
	free(text);
}

static void is_text(json_t *o, const char *key, const char *value)
{
	assert_string_equal(json_string_value(json_object_get(o, key)), value);
}

static void is_number(json_t *o, const char *key, long long value)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	assert_int_equal(json_integer_value(json_object_get(o, key)), value);
}

static void test_json_full(void **state)
{
	char *text;
	json_t *o, *v;

	(void)state;
	set_up_full(&r->facts.inv[0].first);
	text = output("json");
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	v = json_object_get(json_array_get(json_object_get(o, "invariants"), 0),
			    "first_violation");
	is_text(v, "invariant", "I5");
	is_text(v, "why", ds_invariant_why(5));
	is_text(v, "expected", "2 references");
	is_text(v, "found", "1");
	is_text(v, "kind", "mlock");
	is_number(v, "slot", 4);
	is_number(v, "order", 0);
	is_text(v, "flags_text", "locked|lru");
	is_number(v, "mapcount", -1);
	is_text(v, "list", "inactive anon");
	is_number(json_object_get(v, "lruvec"), "memcg", 33);
	is_number(json_object_get(v, "memcg"), "inode", 4711);
	is_text(json_object_get(v, "memcg"), "data", "0xffff888000001000");
	is_number(v, "since_start_ns", 2345678000);
	is_text(v, "kernel", "6.12.0-test");
	is_text(v, "drainctl", DS_VERSION);
	is_text(v, "module", "abcdef");
	is_number(v, "seed", 5);
	v = json_object_get(v, "actions");
	assert_int_equal(json_array_size(v), 2);
	is_number(json_array_get(v, 0), "relative_ns", -1000);
	is_number(json_array_get(v, 1), "cpu", 0);
	is_text(json_array_get(v, 1), "text", "drain all");
	json_decref(o);
	free(text);
}

static void test_json(void **state)
{
	char *text = output("json");
	json_error_t error;
	json_t *o = json_loads(text, 0, &error), *value;
	const char *key;
	unsigned int i = 0;

	(void)state;
	assert_non_null(o);
	json_object_foreach(o, key, value) {
		if (i < ARRAY_SIZE(golden))
			assert_string_equal(key, golden[i]);
		i++;
	}
	assert_true(i > ARRAY_SIZE(golden));
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), "FAIL");
	assert_int_equal(json_integer_value(json_object_get(o, "exit")), 1);
	assert_int_equal(json_integer_value(json_object_get(o, "seed")), 5);
	/* what is not UTF-8 is replaced, the key is there all the same */
	assert_string_equal(json_string_value(json_object_get(o, "repeat")),
			    "drainctl run --dir ? --seed 5");
	value = json_object_get(o, "invariants");
	assert_int_equal(json_array_size(value), 2);
	value = json_object_get(json_array_get(value, 0), "first_violation");
	assert_string_equal(json_string_value(json_object_get(value, "pfn")), "0xabc");
	json_decref(o);
	free(text);
}

static void test_ktap(void **state)
{
	char *text = output("ktap");
	unsigned int plan = 0, lines = 0;
	const char *p;

	(void)state;
	assert_int_equal(strncmp(text, "KTAP version 1\n1..", 18), 0);
	plan = strtoul(text + 18, NULL, 10);
	for (p = text; *p; p = strchr(p, '\n') + 1)
		lines += !strncmp(p, "ok ", 3) || !strncmp(p, "not ok ", 7);
	assert_int_equal(plan, lines);
	assert_non_null(strstr(text, "\nnot ok 1 I5 title of five\n"));
	assert_non_null(strstr(text, "\nok 2 I9 title of nine # SKIP no such symbol\n"));
	assert_non_null(strstr(text, "is present # SKIP absent, and not required\n"));
	check_tail(text, "# ");
	free(text);
}

/* Not available at the end, but it was before: the MGLRU was switched, say. */
static void test_no_more_available(void **state)
{
	char *text;

	(void)state;
	r->facts.inv[0].available = false;
	text = output("text");
	assert_non_null(strstr(text, "I5            100 checked, 2 violations: title of five\n"));
	free(text);
	text = output("ktap");
	assert_non_null(strstr(text, "\nnot ok 1 I5 title of five\n"));
	free(text);
	r->facts.inv[0].violations = 0;
	text = output("ktap");
	assert_non_null(strstr(text, "\nok 1 I5 title of five\n"));
	free(text);
}

/* What is known is named as such in every format, and only when it happened. */
static void test_known(void **state)
{
	json_error_t error;
	json_t *o, *inv;
	char *text;

	(void)state;
	r->facts.inv[0].known = "a reason";
	ds_verdict(&r->facts, &r->verdict);
	text = output("text");
	check_tail(text, "");
	assert_non_null(strstr(text, "2 violations (known): title of five\n"));
	assert_non_null(strstr(text, "\n  I5 known: a reason\n"));
	assert_non_null(strstr(text, "\nviolations: 0\nfirst_violation: none\n"));
	assert_null(strstr(text, "FAIL"));
	free(text);
	text = output("ktap");
	assert_non_null(strstr(text, "\nok 1 I5 title of five # XFAIL known: a reason\n"));
	free(text);
	text = output("json");
	o = json_loads(text, 0, &error);
	assert_non_null(o);
	assert_int_equal(json_integer_value(json_object_get(o, "violations")), 0);
	assert_int_equal(json_integer_value(json_object_get(o, "known_violations")), 2);
	inv = json_array_get(json_object_get(o, "invariants"), 0);
	assert_string_equal(json_string_value(json_object_get(inv, "known")), "a reason");
	assert_true(json_is_false(json_object_get(inv, "counts")));
	json_decref(o);
	free(text);

	r->facts.inv[0].violations = 0;
	r->facts.inv[0].first.has = 0;
	ds_verdict(&r->facts, &r->verdict);
	text = output("text");
	assert_null(strstr(text, "known"));
	free(text);
	text = output("ktap");
	assert_null(strstr(text, "known:"));
	free(text);
	text = output("json");
	assert_null(strstr(text, "\"known\""));
	free(text);
}

/* The list and the kernel reach the facts with the module's answers. */
static void test_known_facts(void **state)
{
	struct ds_item items[] = {
		{ .class = DS_CLASS_INVARIANT, .id = 1, .available = 1 },
		{ .class = DS_CLASS_INVARIANT, .id = 8, .available = 1 },
	};
	struct ds_msg caps = { .release = "6.1.0-57-amd64", .items = items, .nr_items = 2 };
	struct ds_msg result = {
		.has = 1ULL << DS_A_INVARIANT, .invariant = 8, .checked = 9, .violations = 4,
	};
	struct ds_msgs results = { .v = &result, .nr = 1 };
	struct ds_known_list list = { .nr = 0 };
	static struct ds_facts f;
	char why[256];

	(void)state;
	assert_int_equal(ds_known_line("I8 6.1 gup", &list.v[list.nr++], why, sizeof(why)), 0);
	memset(&f, 0, sizeof(f));
	f.known = &list;
	ds_facts_take_caps(&f, &caps);
	ds_facts_take_results(&f, &results);
	assert_int_equal(f.nr_inv, 2);
	assert_null(f.inv[0].known);
	assert_string_equal(f.inv[1].known, "gup");
	assert_false(ds_inv_fails(&f.inv[1]));

	memset(&f, 0, sizeof(f));
	f.known = &list;
	set_text(caps.release, "6.12.117+deb12-amd64");
	ds_facts_take_caps(&f, &caps);
	ds_facts_take_results(&f, &results);
	assert_null(f.inv[1].known);
	assert_true(ds_inv_fails(&f.inv[1]));
}

static void test_ktap_set_up(void **state)
{
	char *text;

	(void)state;
	r->facts.setup_exit = DS_EXIT_SKIP;
	set_text(r->facts.setup_text, "no rings");
	ds_verdict(&r->facts, &r->verdict);
	text = output("ktap");
	assert_non_null(strstr(text, "\n1..0 # SKIP no rings\n"));
	free(text);
	text = output("text");
	assert_non_null(strstr(text, "\nverdict: SKIP\nexit: 4\n"));
	free(text);
}

static void test_full_disk(void **state)
{
	unsigned int i;
	FILE *f;

	(void)state;
	for (i = 0; i < ds_nr_formats; i++) {
		f = fopen("/dev/full", "we");
		assert_non_null(f);
		assert_int_equal(ds_formats[i].write(f, r), -1);
		fclose(f);
	}
}

/* Runs a parser, a command, on @text.  Return: what it wrote, to be freed. */
static char *parsed(const char *text, const char *command)
{
	char name[] = "/tmp/drainstress-output-XXXXXX", line[4096], *answer = NULL;
	size_t len = 0, n;
	int fd = mkstemp(name);
	FILE *f, *mem;

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	snprintf(line, sizeof(line), "<%s %s 2>&1", name, command);
	mem = open_memstream(&answer, &len);
	f = popen(line, "re");
	assert_non_null(mem);
	assert_non_null(f);
	while ((n = fread(line, 1, sizeof(line), f)) > 0)
		fwrite(line, 1, n, mem);
	fclose(mem);
	if (pclose(f))
		fail_msg("%s: refused: %s\n%s", command, answer, text);
	unlink(name);
	return answer;
}

/* Values that all reports below have: 1 to 1000 us, in steps of one. */
static void set_up_latency(enum ds_latency_id id)
{
	struct ds_latency *l = &r->latency[id];
	u64 us;

	for (us = 1; us <= 1000; us++)
		l->bucket[ds_hist_index(us * 1000)]++;
	l->taken = 1000;
	l->max = 1000000;
}

/* As they stand below each other in the text. */
static const char latency_text[] =
	"latency: in us                   count          p50          p90          p99        p99.9          max\n"
	"         truncate         none was timed\n"
	"         drain                    1000       499.71       897.02       987.14       995.33      1000.00\n"
	"         drain-all        none was timed\n";

static void test_text_latency(void **state)
{
	struct ds_latency *pause = &r->latency[DS_LATENCY_PAUSE];
	char *text;

	(void)state;
	set_up_latency(DS_LATENCY_DRAIN);
	pause->taken = 7;
	pause->bucket[DS_HIST_OVERFLOW] = 2;
	pause->max = 2 * DS_HIST_MAX;
	text = output("text");
	assert_non_null(strstr(text, latency_text));
	assert_non_null(strstr(text, "2199023255.55; 2 took 1099 s or longer; 5 are missing\n"));
	check_tail(text, "");
	free(text);
	text = output("ktap");
	assert_non_null(strstr(text, "\n# latency: in us  "));
	assert_non_null(strstr(text, "\n#          truncate         none was timed\n"));
	assert_non_null(strstr(text, "; 2 took 1099 s or longer; 5 are missing\n"));
	check_tail(text, "# ");
	free(text);
}

/* What the module says, compared with its own counters of drains. */
static void test_latency_taken(void **state)
{
	struct ds_counter cpu[] = { { .name = "call.local", .value = 3 },
		{ .name = "call.cpu", .value = 2 }, { .name = "call.release", .value = 1 },
		{ .name = "call.all", .value = 5 }, { .name = "call.disable", .value = 4 } };
	struct ds_counter drain[] = { { .name = "count", .value = 12 },
		{ .name = "max_ns", .value = 100 } };
	struct ds_counter all[] = { { .name = "count", .value = 17 },
		{ .name = "max_ns", .value = 100 } };
	struct ds_bucket of_drain[] = { { 50, 12 } }, of_all[] = { { 90, 17 } };
	struct ds_msg v[] = {
		{ .scope = "cpu", .counters = cpu, .nr_counters = 5 },
		{ .scope = "cpu", .counters = cpu, .nr_counters = 5 },
		{ .scope = "latency", .name = "drain", .counters = drain, .nr_counters = 2,
		  .buckets = of_drain, .nr_buckets = 1 },
		{ .scope = "latency", .name = "drain-all", .counters = all, .nr_counters = 2,
		  .buckets = of_all, .nr_buckets = 1 },
	};

	(void)state;
	r->stats.v = v;
	r->stats.nr = ARRAY_SIZE(v);
	/* of 18 drains of all CPUs one was not timed, and nobody noticed */
	ds_report_take_latency(r);
	assert_int_equal(r->nr_notes, 1);
	assert_string_equal(r->notes[0],
			    "latency of drain-all: 1 of 18 values are missing");
	/* and a bucket that did not come */
	r->nr_notes = 0;
	v[2].nr_buckets = 0;
	of_all[0].count = 18;
	ds_report_take_latency(r);
	assert_int_equal(r->nr_notes, 1);
	assert_string_equal(r->notes[0], "latency of drain: 12 of 12 values are missing");
	v[2].nr_buckets = 1;
	r->nr_notes = 0;
	ds_report_take_latency(r);
	assert_int_equal(r->nr_notes, 0);
}

/* What jq computes from the buckets is what is printed beside them. */
static void test_json_latency(void **state)
{
	char *text, *answer;

	(void)state;
	set_up_latency(DS_LATENCY_TRUNCATE);
	r->latency[DS_LATENCY_DRAIN].taken = 4;
	text = output("json");
	answer = parsed(text, "jq -r -f tests/unit/latency.jq");
	assert_string_equal(answer,
			    "truncate ns count=1000 missing=0 overflow=0 p50=499712 p90=897024 p99=987136 p99.9=995328 max=1000000 right\n"
			    "drain ns count=0 missing=4 overflow=0 none was timed, unit count missing overflow reason buckets\n"
			    "drain-all ns count=0 missing=0 overflow=0 none was timed, unit count missing overflow reason buckets\n"
			    "check-pause ns count=0 missing=0 overflow=0 none was timed, unit count missing overflow reason buckets\n");
	free(answer);
	free(text);
}

/* A public parser reads as many tests as there are, and which failed. */
static void test_ktap_parsed(void **state)
{
	char *text, *answer;

	(void)state;
	set_up_latency(DS_LATENCY_DRAIN);
	text = output("ktap");
	answer = parsed(text, "tests/unit/ktap.pl");
	assert_string_equal(answer,
			    "13 planned, 13 run, failed: 1 13, skipped: 2 12, errors: none\n");
	free(answer);
	free(text);
}

/* Well-formed by one parser; of the other's answer the lines of test cases. */
static char *read_junit(char **text)
{
	*text = output("junit");
	free(parsed(*text, "xmllint --noout -"));
	return parsed(*text, "tests/unit/junit.py");
}

static const char junit_text[] =
	"drainstress 3 2 0 1 12.5\n"
	"drainstress.invariants | I5 title of five | ('Failure', 'violation', '2 violations, the first: two\\nlines')\n"
	"drainstress.invariants | I9 title of nine | ('Skipped', None, 'no such symbol')\n"
	"drainstress | verdict | ('Failure', 'FAIL', 'I5 violated 2 times: two\\nlines')\n";

static void test_junit(void **state)
{
	char *text, *answer;

	(void)state;
	r->seconds = 12.5;
	set_text(r->notes[0], "a note");
	r->nr_notes = 1;
	answer = read_junit(&text);
	assert_string_equal(answer, junit_text);
	free(answer);
	/* the violation in full, and the keys */
	answer = parsed(text, "xmllint --xpath 'string(//testcase[1]/failure)' -");
	assert_non_null(strstr(answer, "\n  folio:      pfn 0xabc\n"));
	free(answer);
	answer = parsed(text, "xmllint --xpath 'count(//property)' -");
	assert_int_equal(atoi(answer), ARRAY_SIZE(golden));
	free(answer);
	answer = parsed(text, "xmllint --xpath 'string(//property[@name=\"repeat\"]/@value)' -");
	assert_string_equal(answer, "drainctl run --dir ? --seed 5\n");
	free(answer);
	answer = parsed(text, "xmllint --xpath 'string(//system-out)' -");
	assert_int_equal(strncmp(answer, "note: a note\nlatency: in us ", 28), 0);
	free(answer);
	free(text);
}

#define UTF8 "\303\244\342\202\254\360\237\220\247"

/* What XML cannot hold, and what it can: each comes out of a parser as it went in. */
static void test_junit_escapes(void **state)
{
	/* then a-umlaut, the euro sign and a penguin; sequences that are none, or not legal */
	static const char bad[] = "a\001\002\b\v\f\016\037\177<&>\"']]>\t|\r|\n|" UTF8
		"\377\300\200\355\240\200\357\277\276\357\277\277\364\220\200\200\302";
	static const char good[] = "a???????\177<&>\"']]>\t|\r|\n|" UTF8
		"?????????????????";
	char *text, *answer;

	(void)state;
	set_text(r->facts.inv[1].reason, bad);
	set_text(r->repeat, bad);
	answer = read_junit(&text);
	free(answer);
	answer = parsed(text, "xmllint --xpath 'string(//skipped/@message)' -");
	assert_int_equal(strncmp(answer, good, strlen(good)), 0);
	assert_string_equal(answer + strlen(good), "\n");
	free(answer);
	/* lines of a text stay lines */
	set_text(r->notes[0], "1 < 2\001\nnext & last]]>");
	r->nr_notes = 1;
	free(text);
	free(read_junit(&text));
	answer = parsed(text, "xmllint --xpath 'string(//system-out)' -");
	assert_int_equal(strncmp(answer, "note: 1 < 2?\nnext & last]]>\n", 28), 0);
	free(answer);
	free(text);
}

/* Only PASS and SKIP are not red, and a known issue is no failure. */
static void test_junit_verdicts(void **state)
{
	static const struct {
		enum ds_exit code;
		const char *line;
	} rows[] = {
		{ DS_EXIT_PASS, "drainstress | verdict |\n" },
		{ DS_EXIT_FAIL, "drainstress | verdict | ('Failure', 'FAIL', 'why')\n" },
		{ DS_EXIT_HANG, "drainstress | verdict | ('Failure', 'HANG', 'why')\n" },
		{ DS_EXIT_ERROR, "drainstress | verdict | ('Error', 'ERROR', 'why')\n" },
		{ DS_EXIT_INCONCLUSIVE,
		  "drainstress | verdict | ('Error', 'INCONCLUSIVE', 'why')\n" },
		{ DS_EXIT_SKIP, "drainstress | verdict | ('Skipped', None, 'why')\n" },
	};
	char *text, *answer;
	unsigned int i;

	(void)state;
	r->facts.inv[0].known = "a reason";
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(&r->verdict, 0, sizeof(r->verdict));
		r->verdict.code = rows[i].code;
		r->verdict.reasons[0].code = rows[i].code;
		set_text(r->verdict.reasons[0].text, "why");
		r->verdict.nr_reasons = rows[i].code != DS_EXIT_PASS;
		answer = read_junit(&text);
		assert_non_null(strstr(answer, rows[i].line));
		assert_non_null(strstr(answer, "five | ('Skipped', None, 'known: a reason')\n"));
		free(answer);
		free(text);
	}
	/* a run that never began has no invariants */
	r->facts.setup_exit = DS_EXIT_SKIP;
	set_text(r->facts.setup_text, "no rings");
	ds_verdict(&r->facts, &r->verdict);
	answer = read_junit(&text);
	assert_string_equal(answer,
			    "drainstress 1 0 0 1 0.0\n"
			    "drainstress | verdict | ('Skipped', None, 'no rings')\n");
	free(answer);
	free(text);
}

/* Never looked at, and only reported: neither is a pass. */
static void test_junit_skipped(void **state)
{
	char *text, *answer;

	(void)state;
	r->facts.inv[0].reported = true;
	r->facts.inv[1].available = true;
	answer = read_junit(&text);
	assert_non_null(strstr(answer, "five | ('Skipped', None, 'reported as the fix: "));
	assert_non_null(strstr(answer, "nine | ('Skipped', None, 'never checked')\n"));
	free(answer);
	free(text);
	r->facts.inv[1].checked = 1;
	answer = read_junit(&text);
	assert_non_null(strstr(answer, "I9 title of nine |\n"));
	free(answer);
	free(text);
}

static void test_formats(void **state)
{
	char names[64];

	(void)state;
	ds_format_names(names, sizeof(names));
	assert_string_equal(names, "text, json, ktap, junit");
	assert_null(ds_format_find("xml"));
}

/* Sums over CPUs, and only over CPUs. */
static void test_sums(void **state)
{
	struct ds_counter cpu0[] = { { .name = "fill.lru_add", .value = 1 },
		{ .name = "fill.mlock", .value = 2 }, { .name = "effective.all", .value = 4 } };
	struct ds_counter total[] = { { .name = "fill.lru_add", .value = 1000 } };
	struct ds_counter probe[] = { { .name = "missed", .value = 7 } };
	struct ds_msg v[] = {
		{ .scope = "cpu", .counters = cpu0, .nr_counters = 3 },
		{ .scope = "cpu", .counters = cpu0, .nr_counters = 3 },
		{ .scope = "total", .counters = total, .nr_counters = 1 },
		{ .scope = "probe", .counters = probe, .nr_counters = 1 },
	};

	(void)state;
	r->stats.v = v;
	r->stats.nr = ARRAY_SIZE(v);
	ds_report_take_stats(r);
	assert_int_equal(r->facts.fills, 6);
	assert_int_equal(r->facts.effective, 8);
	assert_int_equal(r->missed, 7);
	assert_int_equal(ds_report_cpu_sum(r, "fill.lru_add"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_text_full, set_up, tear_down),
		cmocka_unit_test(test_text_little),
		cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_json_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ktap_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ktap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_more_available, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_known, set_up, tear_down),
		cmocka_unit_test(test_known_facts),
		cmocka_unit_test_setup_teardown(test_ktap_set_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
		cmocka_unit_test(test_formats),
		cmocka_unit_test_setup_teardown(test_text_latency, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_latency_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_json_latency, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ktap_parsed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_junit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_junit_escapes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_junit_verdicts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_junit_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
