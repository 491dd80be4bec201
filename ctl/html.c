// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pieces of a self-contained HTML page: the frame with its style, text made safe,
 * tables that scroll in a box of their own, and charts as inline SVG.  Nothing here
 * knows what a result is, and nothing in a page is fetched from anywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "version.h"

/* What must not reach a page: control characters, and marks that turn text around. */
static bool is_shown(u32 c)
{
	if (c < 0x20)
		return c == '\n' || c == '\t';
	if (c >= 0x7f && c < 0xa0)
		return false;
	if (c == 0x061c || c == 0x200e || c == 0x200f)
		return false;
	return !(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/**
 * utf8() - one character
 * @c: is set to it, 0 when it is none
 *
 * Return: how many bytes it takes, at least 1.
 */
static size_t utf8(const unsigned char *s, u32 *c)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;

	*c = s[0];
	if (s[0] < 0x80)
		return 1;
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	*c = s[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*c = 0;
			return 1;
		}
		*c = *c << 6 | (s[i] & 0x3f);
	}
	if (s[0] < 0xc2 || s[0] > 0xf4 || *c < least[n] || *c > 0x10ffff ||
	    (*c >= 0xd800 && *c < 0xe000)) {
		*c = 0;
		return 1;
	}
	return n;
}

/**
 * ds_html_text() - text, for an element or an attribute in double quotes
 *
 * Whatever @s holds, what comes out is UTF-8 without markup.
 */
void ds_html_text(FILE *f, const char *s)
{
	size_t n;
	u32 c;

	for (; *s; s += n) {
		n = utf8((const unsigned char *)s, &c);
		/* what came over a serial line has them */
		if (c == '\r')
			continue;
		if (!is_shown(c))
			fputs("\xef\xbf\xbd", f);
		else if (c == '&')
			fputs("&amp;", f);
		else if (c == '<')
			fputs("&lt;", f);
		else if (c == '>')
			fputs("&gt;", f);
		else if (c == '"')
			fputs("&quot;", f);
		else if (c == '\'')
			fputs("&#39;", f);
		else
			fwrite(s, 1, n, f);
	}
}

/**
 * ds_html() - an element with text in it
 * @tag: its name, and perhaps attributes, which are not escaped: never foreign text
 */
void ds_html(FILE *f, const char *tag, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	fprintf(f, "<%s>", tag);
	ds_html_text(f, text ? text : "?");
	fprintf(f, "</%.*s>\n", (int)strcspn(tag, " "), tag);
	free(text);
}

/*
 * Colours are chosen for a contrast of at least 4.5 to 1, and none says anything that
 * words do not.
 */
static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1b;--dim:#555;--line:#ccc;\n"
	"--box:#f4f4f4;--bar:#2a6db0;--good:#17642b;--bad:#a11212;--odd:#7a4b00}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e6e6e6;--dim:#a8a8a8;\n"
	"--line:#444;--box:#20242a;--bar:#6ea8e0;--good:#6fd08c;--bad:#ff8a80;--odd:#f0b95b}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:0 1rem 2rem;max-width:70rem;background:var(--bg);\n"
	"color:var(--fg);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}\n"
	"h1{font-size:1.5rem}h2{font-size:1.25rem;border-top:2px solid var(--line);\n"
	"padding-top:.8rem;margin-top:2rem}h3{font-size:1.05rem}h4{font-size:1rem}\n"
	"a{color:var(--bar)}p,li{max-width:45rem}.dim{color:var(--dim)}\n"
	".badge{display:inline-block;padding:0 .5em;border:2px solid;border-radius:.3em;\n"
	"font-weight:700;font-size:.95rem;white-space:nowrap}\n"
	".good{color:var(--good)}.bad{color:var(--bad)}.odd{color:var(--odd)}\n"
	".scroll{overflow-x:auto;max-width:100%;margin:.5rem 0}\n"
	"table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}\n"
	"caption{text-align:left;font-weight:700;padding:.2rem 0}\n"
	"th,td{border-bottom:1px solid var(--line);padding:.2rem .6rem .2rem 0;text-align:left;\n"
	"vertical-align:top}\n"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	".w{min-width:16rem}\n"
	"pre{background:var(--box);padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere;\n"
	"font-size:.85rem}\n"
	"dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.1rem .8rem;\n"
	"margin:.5rem 0}dt{color:var(--dim)}dd{margin:0;min-width:0}\n"
	".charts{display:flex;flex-wrap:wrap;gap:1rem}\n"
	"figure{margin:.5rem 0;flex:0 1 30rem;min-width:0;width:100%}\n"
	"svg{display:block;width:100%;height:auto}svg text{fill:var(--fg);font:12px sans-serif}\n"
	"svg .bar{fill:var(--bar)}svg .curve{fill:none;stroke:var(--bar);stroke-width:2}\n"
	"svg .axis{stroke:var(--line)}figcaption{font-weight:700;font-size:.9rem}\n"
	".violation{border-left:4px solid var(--bad);padding-left:.8rem;margin:1rem 0}\n"
	"summary{cursor:pointer;padding:.2rem 0}\n"
	"@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--dim:#333;--line:#999;\n"
	"--box:#fff;--bar:#2a6db0;--good:#17642b;--bad:#a11212;--odd:#7a4b00}\n"
	"body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}\n"
	"table{font-size:8pt;overflow-wrap:anywhere}.w{min-width:0}pre{border:1px solid var(--line)}\n"
	"tr,figure,.violation dl{break-inside:avoid}h2,h3,h4{break-after:avoid}\n"
	"details::details-content{content-visibility:visible;display:block}\n"
	"svg{max-width:12cm}}\n";

/**
 * ds_html_begin() - what stands before the content
 *
 * The policy forbids a page to fetch or to run anything, should it hold more than
 * this program wrote.
 */
void ds_html_begin(FILE *f, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"drainctl " DS_VERSION "\">\n", f);
	ds_html(f, "title", "%s", title);
	fprintf(f, "<style>\n%s</style>\n</head>\n<body>\n", style);
}

/**
 * ds_html_end() - what stands behind it
 */
void ds_html_end(FILE *f)
{
	fputs("<footer>\n", f);
	ds_html(f, "p class=\"dim\"", "Made by drainctl report, version %s.", DS_VERSION);
	fputs("</footer>\n</body>\n</html>\n", f);
}

/**
 * ds_html_badge() - a verdict, coloured
 */
void ds_html_badge(FILE *f, const char *verdict)
{
	static const struct {
		const char *verdict, *tag;
	} tags[] = {
		{ "PASS", "span class=\"badge good\"" },
		{ "FAIL", "span class=\"badge bad\"" },
		{ "HANG", "span class=\"badge bad\"" },
		{ "COMPARED", "span class=\"badge\"" },
	};
	const char *tag = "span class=\"badge odd\"";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tags); i++) {
		if (!strcmp(tags[i].verdict, verdict))
			tag = tags[i].tag;
	}
	ds_html(f, tag, "%s", verdict);
}

/**
 * ds_html_table() - the begin of a table
 * @columns: their names, with a comma in between; one of numbers begins with "#", one
 *	of many words with "~"
 *
 * It is in a box that scrolls by itself, and that a keyboard can reach.
 */
void ds_html_table(FILE *f, const char *caption, const char *columns)
{
	size_t n;

	fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", f);
	ds_html_text(f, caption);
	fputs("\">\n<table>\n", f);
	ds_html(f, "caption", "%s", caption);
	fputs("<thead><tr>\n", f);
	for (; *columns; columns += n + (columns[n] == ',')) {
		const char *tag = "th scope=\"col\"";

		if (*columns == '#')
			tag = "th scope=\"col\" class=\"n\"";
		else if (*columns == '~')
			tag = "th scope=\"col\" class=\"w\"";
		columns += *columns == '#' || *columns == '~';
		n = strcspn(columns, ",");
		ds_html(f, tag, "%.*s", (int)n, columns);
	}
	fputs("</tr></thead>\n<tbody>\n", f);
}

/**
 * ds_html_table_end() - the end of it
 */
void ds_html_table_end(FILE *f)
{
	fputs("</tbody>\n</table>\n</div>\n", f);
}

/* ---- charts: 360 units wide, so that 12 of them are readable on a phone ---- */

#define WIDTH 360
#define LABEL_WIDTH 104
#define VALUE_WIDTH 76
#define ROW 20
#define PLOT_TOP 18
#define PLOT_HEIGHT 120

static void svg_text(FILE *f, double x, double y, const char *anchor, const char *fmt, ...)
	__printf(5, 6);

static void svg_text(FILE *f, double x, double y, const char *anchor, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	ds_html_text(f, text);
	fputs("</text>\n", f);
}

/* The title is for those who cannot see the chart; the caption for those who can. */
static void svg_begin(FILE *f, const char *title, unsigned int height)
{
	fputs("<figure>\n", f);
	ds_html(f, "figcaption", "%s", title);
	fprintf(f, "<svg viewBox=\"0 0 %d %u\" role=\"img\">\n", WIDTH, height);
	ds_html(f, "title", "%s", title);
}

static void svg_end(FILE *f)
{
	fputs("</svg>\n</figure>\n", f);
}

/**
 * ds_html_bars() - a chart of bars, one below the other
 *
 * The longest fills the width.  A value that is negative or no number has none.
 */
void ds_html_bars(FILE *f, const char *title, const struct ds_bar *bars, unsigned int nr)
{
	const double room = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
	double max = 0, width;
	unsigned int i;

	for (i = 0; i < nr; i++)
		max = bars[i].value > max ? bars[i].value : max;
	svg_begin(f, title, nr * ROW + 4);
	fputs("<desc>", f);
	for (i = 0; i < nr; i++) {
		fputs(i ? "; " : "", f);
		ds_html_text(f, bars[i].label);
		fputs(": ", f);
		ds_html_text(f, bars[i].text);
	}
	fputs("</desc>\n", f);
	for (i = 0; i < nr; i++) {
		width = bars[i].value > 0 && max > 0 ? room * (bars[i].value / max) : 0;
		/* one that is not zero shall be seen */
		if (width > 0 && width < 1)
			width = 1;
		svg_text(f, LABEL_WIDTH - 6, i * ROW + 15, "end", "%s", bars[i].label);
		fprintf(f, "<rect class=\"bar\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>\n",
			LABEL_WIDTH, i * ROW + 3, width, ROW - 5);
		svg_text(f, LABEL_WIDTH + width + 4, i * ROW + 15, "start", "%s", bars[i].text);
	}
	svg_end(f);
}

/**
 * ds_html_line() - a chart of one line, from 0 upwards
 * @x_unit: of the horizontal axis
 * @points: @nr of them, at least two, x growing
 */
void ds_html_line(FILE *f, const char *title, const char *x_unit, const struct ds_point *points,
		  unsigned int nr)
{
	const double left = points[0].x, right = points[nr - 1].x;
	const int bottom = PLOT_TOP + PLOT_HEIGHT;
	double max = 0, min = points[0].y, sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		max = points[i].y > max ? points[i].y : max;
		min = points[i].y < min ? points[i].y : min;
		sum += points[i].y;
	}
	svg_begin(f, title, bottom + 20);
	ds_html(f, "desc", "From %.6g to %.6g %s: least %.6g, mean %.6g, most %.6g", left, right,
		x_unit, min, sum / nr, max);
	svg_text(f, 2, 12, "start", max < 1000 ? "0 to %.4g" : "0 to %.0f", max);
	fprintf(f, "<path class=\"axis\" d=\"M0 %dH%dM0 %dH%d\"/>\n", PLOT_TOP, WIDTH, bottom,
		WIDTH);
	fputs("<polyline class=\"curve\" points=\"", f);
	for (i = 0; i < nr; i++)
		fprintf(f, "%s%.1f,%.1f", i ? " " : "",
			right > left ? (points[i].x - left) / (right - left) * WIDTH : 0,
			bottom - (max > 0 && points[i].y > 0 ? points[i].y / max : 0) *
			PLOT_HEIGHT);
	fputs("\"/>\n", f);
	svg_text(f, 2, bottom + 15, "start", "%.6g %s", left, x_unit);
	svg_text(f, WIDTH - 2, bottom + 15, "end", "%.6g %s", right, x_unit);
	svg_end(f);
}
