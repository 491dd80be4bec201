// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of results: text made safe, whatever stands in a result; elements that are
 * closed and none that was not meant; what is missing is said; bad input is named and
 * leaves an older page alone.  How a page looks is tested in tests/report/browser.
 */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands.h"
#include "page.h"

static const char soak[] =
	"{\"verdict\": \"FAIL\", \"exit\": 1, \"kernel\": \"6.12\", \"seed\": 5, \"seconds\": 3.5,\n"
	"\"repeat\": \"drainctl run --seed 5\", \"parameters\": \"threads=4 seed=5\",\n"
	"\"reasons\": [{\"code\": \"FAIL\", \"text\": \"I22 violated 2 times\"}], \"notes\": [\"a note\"],\n"
	"\"series\": {\"ms\": [1000, 2000, 3000], \"truncates\": [10, 30, 60], \"fills\": [1, 2, 2]},\n"
	"\"usage\": {\"shmem_undo_range\": {\"usages\": 400, \"releases\": 400, \"drains\": 500,\n"
	"\"max\": 3, \"drains.0\": 0, \"drains.1\": 350, \"drains.2\": 50}},\n"
	"\"latency\": {\"drain\": {\"unit\": \"ns\", \"count\": 7, \"p50\": 1500, \"p90\": 2000000,\n"
	"\"max\": 3000000000, \"buckets\": [[1500, 4], [1600, 2], [5000, 1]]}},\n"
	"\"batches\": {\"lru_add\": {\"fill\": 3}}, \"drains\": {\"all\": {\"calls\": 4}},\n"
	"\"load\": {\"threads\": 4, \"mix\": {\"ops\": {\"read\": {\"weight\": 2}}}},\n"
	"\"faults\": {\"move\": {\"arguments\": \"prob:1/8\", \"hits\": 400, \"done\": 50}},\n"
	"\"kernel_log\": {\"bad\": 1, \"excerpt\": [\"BUG: it\"]}, \"invariants\": [\n"
	"{\"id\": \"I1\", \"title\": \"a batch\", \"available\": true, \"checked\": 5, \"violations\": 0},\n"
	"{\"id\": \"I11\", \"title\": \"lists\", \"available\": false, \"checked\": 0,\n"
	"\"violations\": 0, \"reason\": \"MGLRU is on\"},\n"
	"{\"id\": \"I33\", \"title\": \"a pin\", \"checked\": 5, \"violations\": 1, \"known\": \"so it is\"},\n"
	"{\"id\": \"I22\", \"title\": \"drains once\", \"checked\": 9, \"violations\": 2, \"counts\": true,\n"
	"\"first_violation\": {\"invariant\": \"I22\", \"text\": \"expected 1, found 3\", \"cpu\": 3,\n"
	"\"flags_text\": \"lru\", \"memcg\": {\"id\": 77}, \"actions\": [{\"relative_ns\": -3000000,\n"
	"\"cpu\": 3, \"text\": \"drain release\"}]}}]}";

static const char matrix[] =
	"{\"scenarios\": [{\"name\": \"6.1-a\", \"values\": {\"cpus\": \"4\"}, \"verdict\": \"HANG\",\n"
	"\"passed\": false, \"why\": [\"no report\", \"and more\"], \"seconds\": 164},\n"
	"{\"name\": \"../6.1-b\", \"verdict\": \"PASS\", \"passed\": true, \"why\": []}],\n"
	"\"passed\": 1, \"failed\": 1}";

static const char mutants[] =
	"{\"mutants\": [{\"id\": \"M02\", \"base\": \"6.1\", \"origin\": \"a slip\", \"noticed_by\": [\"I22\"],\n"
	"\"runs\": 1, \"right\": 1, \"median_s\": 0.36, \"worst_s\": 0.4, \"passed\": true, \"results\":\n"
	"[{\"id\": \"M02\", \"seed\": 1, \"noticed_by\": \"I22\", \"seconds\": 0.36, \"verdict\": \"noticed\",\n"
	"\"may_be_noticed_by\": [\"I22\", \"I8\"]}]}, {\"id\": \"control-6.1\", \"median_s\": 9}],\n"
	"\"passed\": 2, \"failed\": 0}";

static const char comparison[] =
	"{\"kind\": \"comparison\", \"unit\": \"us\", \"rows\": [{\"name\": \"Amean\", \"values\": [10, 20],\n"
	"\"percent\": [0, -100], \"significant\": [false, true]}], \"comparisons\": [{\"baseline\": \"old\",\n"
	"\"run\": \"new,er\", \"p\": 0.67, \"welch\": {\"t\": 0.42}, \"conclusion\": \"They do not differ.\"}],\n"
	"\"notes\": [\"n differs\"], \"runs\": [{\"name\": \"old\", \"n\": 2, \"boots\": [{\"boot\": \"1\",\n"
	"\"n\": 2, \"median\": 10, \"file\": \"old.txt\", \"keys\": {\"seed\": \"5\"}, \"samples\": [5, 15]}]},\n"
	"{\"name\": \"new,er\", \"n\": 1, \"boots\": [{\"samples\": [20]}]}]}";

#define HOSTILE "\"'></td></pre><script src=http://x>alert(1)</script><img src=x onerror=y>" \
	"&amp;\x1b[31m\xe2\x80\xae%s%n"

/* ---- what a page is made of ---- */

static const char * const elements[] = {
	"html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section",
	"h1", "h2", "h3", "h4", "h5", "p", "span", "a", "div", "table", "caption", "thead",
	"tbody", "tr", "th", "td", "dl", "dt", "dd", "ul", "li", "pre", "br", "details", "summary",
	"figure", "figcaption", "svg", "desc", "text", "rect", "path", "polyline",
};

static const char * const attributes[] = {
	"lang", "charset", "http-equiv", "content", "name", "id", "class", "role", "tabindex",
	"aria-label", "scope", "href", "viewBox", "x", "y", "width", "height", "text-anchor", "d",
	"points",
};

static bool listed(const char *word, size_t n, const char * const *list, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (strlen(list[i]) == n && !strncmp(list[i], word, n))
			return true;
	}
	return false;
}

static bool is_void(const char *tag, size_t n)
{
	static const char * const names[] = { "meta", "br", "rect", "path", "polyline" };

	return listed(tag, n, names, ARRAY_SIZE(names));
}

/* Each has a value in double quotes.  Return: what follows them. */
static const char *check_attributes(const char *p)
{
	const char *value;
	size_t n;

	while (*p == ' ') {
		p++;
		n = strcspn(p, "=> ");
		assert_true(listed(p, n, attributes, ARRAY_SIZE(attributes)));
		value = p + n + 2;
		assert_int_equal(strncmp(p + n, "=\"", 2), 0);
		if (!strncmp(p, "href", 4))
			assert_int_equal(*value, '#');
		p = value + strcspn(value, "\"<>");
		assert_int_equal(*p, '"');
		p++;
	}
	return *p == '/' ? p + 1 : p;
}

/* Elements are known ones, and closed in their order; text is escaped. */
static void check_page(const char *page)
{
	const char *open[64], *p = page, *tag;
	size_t len[64], n;
	int depth = 0;

	assert_int_equal(strncmp(p, "<!DOCTYPE html>\n", 16), 0);
	for (p += 16; *p; p++) {
		assert_true(*p != '>' && (*p == '\n' || *p == '\t' || !iscntrl((unsigned char)*p)));
		if (*p == '&')
			assert_true(!strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) ||
				    !strncmp(p, "&gt;", 4) || !strncmp(p, "&quot;", 6) ||
				    !strncmp(p, "&#39;", 5));
		if (*p != '<')
			continue;
		tag = p + 1 + (p[1] == '/');
		for (n = 0; isalnum((unsigned char)tag[n]); n++)
			;
		assert_true(listed(tag, n, elements, ARRAY_SIZE(elements)));
		if (p[1] == '/') {
			assert_true(depth > 0);
			depth--;
			assert_int_equal(n, len[depth]);
			assert_int_equal(strncmp(tag, open[depth], n), 0);
			p = tag + n;
		} else {
			p = check_attributes(tag + n);
			if (!is_void(tag, n)) {
				assert_true(depth < 64);
				open[depth] = tag;
				len[depth++] = n;
			}
		}
		assert_int_equal(*p, '>');
	}
	assert_int_equal(depth, 0);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* The page of one result that stands in a file. */
static char *page_of(const char *path)
{
	struct ds_result r;
	struct ds_err err;
	char *page = NULL;
	size_t len;
	FILE *f = open_memstream(&page, &len);

	assert_non_null(f);
	if (ds_result_read(path, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(ds_page_write(f, &r, 1), 0);
	fclose(f);
	ds_result_free(&r);
	check_page(page);
	return page;
}

static char *page(const char *text)
{
	put("result.json", text);
	return page_of("result.json");
}

static void has(const char *page, const char *text)
{
	if (!strstr(page, text))
		fail_msg("the page lacks '%s'", text);
}

static int setup(void **state)
{
	static char dir[32];

	snprintf(dir, sizeof(dir), "/tmp/ds-report-XXXXXX");
	*state = dir;
	return !mkdtemp(dir) || chdir(dir);
}

static int teardown(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	return chdir("/") || system(command);
}

/* ---- text ---- */

static void test_escape(void **state)
{
	static const struct {
		const char *text, *html;
	} rows[] = {
		{ "plain, with 100 %", "plain, with 100 %" },
		{ "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;" },
		{ "&lt;", "&amp;lt;" },
		{ "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
		  "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80" },
		/* no UTF-8: cut off, too long, a surrogate, too large, a lone byte */
		{ "\xc3", "\xef\xbf\xbd" },
		{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\300\274a", "\357\277\275\357\277\275a" },
		{ "\340\200\274a", "\357\277\275\357\277\275\357\277\275a" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xff<", "\xef\xbf\xbd&lt;" },
		{ "\xc3<", "\xef\xbf\xbd&lt;" },
		/* a terminal's escape, a line end, what turns text around */
		{ "\x1b[1m\r\n\t\x7f", "\xef\xbf\xbd[1m\n\t\xef\xbf\xbd" },
		{ "\xc2\x9b", "\xef\xbf\xbd" },
		{ "a\342\200\256b\342\201\246", "a\357\277\275b\357\277\275" },
	};
	unsigned int i;
	char *text;
	size_t len;
	FILE *f;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		text = NULL;
		f = open_memstream(&text, &len);
		ds_html_text(f, rows[i].text);
		fclose(f);
		assert_string_equal(text, rows[i].html);
		free(text);
	}
}

/* Charts with values that no chart can show. */
static void test_charts(void **state)
{
	const struct ds_bar bars[] = {
		{ "none", 0, "0" }, { "less", -5, "-5" }, { "odd", NAN, "?" },
		{ "<big>", 10, "10" },
		{ "tiny", 0.0001, "small" },
	};
	const struct ds_point flat[] = { { 1, 0 }, { 1, 0 } };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	ds_html_bars(f, "Of <some>", bars, ARRAY_SIZE(bars));
	ds_html_line(f, "Flat", "s", flat, 2);
	fclose(f);
	has(text, "role=\"img\"");
	has(text, "<title>Of &lt;some&gt;</title>");
	has(text, "<desc>none: 0; less: -5; odd: ?; &lt;big&gt;: 10; tiny: small</desc>");
	has(text, "width=\"180.0\"");
	has(text, "width=\"1.0\"");
	has(text, "points=\"0.0,138.0 0.0,138.0\"");
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "\"-"));
	free(text);
}

/* ---- the kinds ---- */

static void test_soak(void **state)
{
	char *p = page(soak);

	(void)state;
	has(p, "<span class=\"badge bad\">FAIL</span>");
	has(p, "0 of 1 result passed.");
	has(p, "FAIL: I22 violated 2 times");
	has(p, "a note");
	has(p, "I22: drains once");
	has(p, "The first of 2:");
	has(p, "<dt>memcg id</dt>\n<dd>77</dd>");
	has(p, "<dt>flags text</dt>\n<dd>lru</dd>");
	has(p, "-0.003000");
	has(p, "not checked: MGLRU is on");
	has(p, "known: so it is");
	has(p, "<td class=\"bad\">VIOLATED</td>");
	has(p, "<title>Usages of shmem_undo_range by their drains</title>");
	has(p, "1 drain: 350");
	has(p, "From 1 to 3 s: least 10, mean 20, most 30");
	has(p, "<td class=\"n\">2 ms</td>");
	has(p, "<td class=\"n\">3 s</td>");
	has(p, "from 1.02 us: 6; from 2.05 us: 0; from 4.1 us: 1");
	has(p, "BUG: it");
	has(p, "<pre>drainctl run --seed 5</pre>");
	has(p, "The seed is 5. There is no replay file");
	free(p);
}

/* What an older result does not hold is said. */
static void test_missing(void **state)
{
	char *p = page("{\"verdict\": \"PASS\"}");

	(void)state;
	has(p, "<span class=\"badge good\">PASS</span>");
	has(p, "1 of 1 result passed.");
	has(p, "This result holds no invariants.");
	has(p, "This result holds no usages.");
	has(p, "This result holds no samples over time: an older drainctl made it.");
	has(p, "This result holds no latencies: an older drainctl made it.");
	has(p, "This result does not say how it was made.");
	free(p);
	p = page("{\"verdict\": \"PASS\", \"series\": {\"ms\": [1000]}}");
	has(p, "The run was too short for a rate over time.");
	free(p);
	/* other types than expected, lists of unequal length, time that goes back */
	p = page("{\"verdict\": \"PASS\", \"reasons\": [7, null], \"notes\": {}, \"invariants\":\n"
		 "[1, \"x\", {\"first_violation\": {\"actions\": [4]}}], \"usage\": {\"a\": 5},\n"
		 "\"latency\": {\"b\": [], \"c\": {\"buckets\": [[1], 3, [1e300, 2], [-4, -1]]}},\n"
		 "\"series\": {\"ms\": [5, 3, \"x\", 9], \"fills\": [1, 2], \"checks\": 4},\n"
		 "\"drains\": {\"all\": 1}, \"load\": {\"mix\": 3}, \"kernel_log\": {\"excerpt\": [1]}}");
	has(p, "?: ?");
	free(p);
}

static void test_matrix(void **state)
{
	char *p;

	(void)state;
	assert_int_equal(mkdir("matrix", 0700), 0);
	assert_int_equal(mkdir("matrix/6.1-a", 0700), 0);
	assert_int_equal(mkdir("6.1-b", 0700), 0);
	put("matrix/matrix.json", matrix);
	put("matrix/6.1-a/verdict", "HANG 6 debian-6.1 6.1.0 20s the guest said nothing\n");
	put("matrix/6.1-a/stderr.log", "I8 violated: at last\r\n");
	put("6.1-b/result.json", soak);
	p = page_of("matrix/");
	has(p, "1 passed, 1 failed");
	has(p, "<td>no report<br>and more</td>");
	has(p, "<td>cpus 4</td>");
	has(p, "The end of what drainctl said:</p>\n<pre>I8 violated: at last\n</pre>");
	has(p, "<span class=\"badge bad\">HANG</span>");
	/* a name is no way out of the folder */
	has(p, "Its name is not that of a folder.");
	assert_null(strstr(p, "drainctl run --seed 5"));
	free(p);
}

static void test_mutants(void **state)
{
	char *p = page(mutants);

	(void)state;
	has(p, "2 passed, 0 failed");
	has(p, "<span class=\"badge good\">PASS</span>");
	has(p, "a slip");
	has(p, "<desc>M02: 0.36 s</desc>");
	has(p, "<td>I22<br>I8</td>");
	has(p, "tests/vm/mutants --again ID");
	free(p);
}

static void test_comparison(void **state)
{
	char *p = page(comparison);

	(void)state;
	has(p, "1 comparison, which cannot fail.");
	has(p, "<p>They do not differ.</p>");
	has(p, "<dt>welch t</dt>\n<dd>0.42</dd>");
	has(p, "<td class=\"n\">-100.00 % *</td>");
	has(p, ">new;er</th>");
	has(p, "Times of old, microseconds");
	has(p, "from 5: 1;");
	has(p, "seed: 5");
	free(p);
	p = page("{\"kind\": \"comparison\"}");
	has(p, "Boots");
	free(p);
	p = page("{\"kind\": \"comparison\", \"rows\": 3, \"comparisons\": [1, {}], \"runs\":\n"
		 "[2, {\"boots\": [{\"samples\": [\"x\", {}], \"keys\": [\"a\", 1]}]}], \"notes\": [1]}");
	has(p, "It holds no conclusion.");
	free(p);
}

/* All strings become hostile, and all keys of @depth or deeper. */
static json_t *hostile(json_t *o, int depth)
{
	json_t *copy, *value;
	char key_text[256];
	const char *key;
	size_t i;

	if (json_is_string(o))
		return json_string(HOSTILE);
	if (json_is_array(o)) {
		copy = json_array();
		json_array_foreach(o, i, value)
			json_array_append_new(copy, hostile(value, depth - 1));
		return copy;
	}
	if (!json_is_object(o))
		return json_incref(o);
	copy = json_object();
	json_object_foreach(o, key, value) {
		snprintf(key_text, sizeof(key_text), "%s%s", key, depth > 0 ? "" : HOSTILE);
		json_object_set_new(copy, key_text, hostile(value, depth - 1));
	}
	return copy;
}

static void test_hostile(void **state)
{
	static const char * const texts[] = { soak, matrix, mutants, comparison };
	json_t *o, *bad;
	unsigned int i;
	int depth;
	char *text, *p;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		o = json_loads(texts[i], 0, NULL);
		assert_non_null(o);
		for (depth = 1; depth < 8; depth++) {
			bad = hostile(o, depth);
			if (json_object_get(o, "kind"))
				json_object_set(bad, "kind", json_object_get(o, "kind"));
			text = json_dumps(bad, 0);
			assert_non_null(text);
			p = page(text);
			assert_null(strstr(p, "<script"));
			assert_null(strstr(p, "<img"));
			/* with its keys hostile a result may show nothing of them */
			if (depth == 7)
				has(p, "&quot;&#39;&gt;&lt;/td&gt;");
			assert_null(strstr(p, "\xe2\x80\xae"));
			free(p);
			free(text);
			json_decref(bad);
		}
		json_decref(o);
	}
	/* a folder's name, its files, and a path that is no UTF-8 */
	assert_int_equal(mkdir("<b>\xff\"'", 0700), 0);
	put("<b>\xff\"'/verdict", "<i>HANG 6 a b c <script>\n");
	put("<b>\xff\"'/cmdline", "<script>&\n");
	put("<b>\xff\"'/<u>.replay", "");
	p = page_of("<b>\xff\"'");
	has(p, "drainctl replay &lt;u&gt;.replay");
	assert_null(strstr(p, "<script"));
	free(p);
}

/* ---- the command ---- */

static char *content(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* The command with the words that follow, up to NULL. */
static int command(const char *first, ...)
{
	char *argv[8] = { strdup("drainctl report") };
	int argc = 1, ret;
	va_list ap;

	va_start(ap, first);
	for (; first; first = va_arg(ap, const char *))
		argv[argc++] = strdup(first);
	va_end(ap);
	ret = ds_cmd_report(argc, argv);
	while (argc)
		free(argv[--argc]);
	return ret;
}

static void test_command(void **state)
{
	char *p;

	(void)state;
	put("s.json", soak);
	put("m.json", mutants);
	put("c.json", comparison);
	put("cut.json", "{\"verdict\": \"PASS\", \"kernel");
	assert_int_equal(mkdir("nothing", 0700), 0);
	assert_int_equal(command("--html", "page.html", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("s.json", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("s.json", "m.json", "c.json", "--html", "page.html", NULL),
			 DS_EXIT_PASS);
	p = content("page.html");
	check_page(p);
	has(p, "1 of 2 results passed. 1 comparison, which cannot fail.");
	has(p, "href=\"#r3\"");
	has(p, "<section id=\"r3\">");
	free(p);
	/* a folder of tests/vm/compare */
	assert_int_equal(mkdir("compared", 0700), 0);
	put("compared/compare-xfs.json", comparison);
	put("compared/compare-ext4.json", comparison);
	put("compared/compare-ext4.txt", "a table");
	assert_int_equal(command("compared", "--html", "page.html", NULL), DS_EXIT_PASS);
	p = content("page.html");
	has(p, "<title>drainstress: 2 results</title>");
	has(p, "href=\"#r2\">compare-xfs.json</a>");
	free(p);
	/* bad input leaves the page as it was */
	put("page.html", "as it was");
	assert_int_equal(command("s.json", "cut.json", "--html", "page.html", NULL), DS_EXIT_USAGE);
	assert_int_equal(command("nothing", "--html", "page.html", NULL), DS_EXIT_USAGE);
	p = content("page.html");
	assert_string_equal(p, "as it was");
	free(p);
	assert_int_equal(command("s.json", "--html", "missing/page.html", NULL), DS_EXIT_ERROR);
	assert_int_equal(command("s.json", "--html", "/dev/full", NULL), DS_EXIT_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_charts),
		cmocka_unit_test(test_soak),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_mutants),
		cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
