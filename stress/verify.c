// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a file of the load has to hold, page by page: each page that is written
 * says where it belongs, and a model remembers what was done.  Pages are compared
 * with the model here; who reads them, and how, is not this file's matter.
 *
 * A page is a function of its header, so that the model need not keep data, and a
 * page that is found in the wrong place or time says where it comes from.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "rand.h"
#include "verify.h"

#define MAGIC 0x44535631U	/* "DSV1" */
#define WORDS (DS_VPAGE / sizeof(u64))
#define HEAD_WORDS (sizeof(struct ds_vheader) / sizeof(u64))

static u64 sum_of(const struct ds_vheader *h)
{
	u64 z = ds_random_mix(((u64)h->magic << 32) | h->file);

	z = ds_random_mix(z + h->page);
	z = ds_random_mix(z + h->gen);
	return ds_random_mix(z + h->op);
}

static void make_words(const struct ds_vheader *h, u64 *words)
{
	u64 word = h->sum;
	unsigned int i;

	memcpy(words, h, sizeof(*h));
	for (i = HEAD_WORDS; i < WORDS; i++) {
		word += DS_RANDOM_GOLDEN;
		words[i] = word;
	}
}

/**
 * ds_page_make() - the whole page as it was written
 * @buf: DS_VPAGE bytes, aligned for u64
 */
void ds_page_make(u32 file, const struct ds_vpage *p, void *buf)
{
	struct ds_vheader h = {
		.magic = MAGIC, .file = file, .page = p->home, .gen = p->gen, .op = p->op,
	};

	h.sum = sum_of(&h);
	make_words(&h, buf);
}

/**
 * ds_model_init() - an empty file of at most @max pages
 *
 * Return: 0 or -ENOMEM.
 */
int ds_model_init(struct ds_model *m, u32 file, u32 max)
{
	memset(m, 0, sizeof(*m));
	m->file = file;
	m->max = max;
	m->pages = calloc(max, sizeof(*m->pages));
	return m->pages ? 0 : -ENOMEM;
}

/**
 * ds_model_free() - free what ds_model_init() took
 */
void ds_model_free(struct ds_model *m)
{
	free(m->pages);
	m->pages = NULL;
}

/**
 * ds_model_fill() - a page to be written
 * @op:  index of the operation
 * @p:   what it will be; ds_model_put() it when it has been written
 * @buf: DS_VPAGE bytes
 */
void ds_model_fill(struct ds_model *m, u32 page, u64 op, struct ds_vpage *p, void *buf)
{
	*p = (struct ds_vpage){
		.gen = ++m->gen, .op = op, .home = page, .to = DS_VPAGE, .state = DS_VPAGE_DATA,
	};
	ds_page_make(m->file, p, buf);
}

/**
 * ds_model_put() - @page was written in full; the file may have grown
 */
void ds_model_put(struct ds_model *m, u32 page, const struct ds_vpage *p)
{
	u64 end = ((u64)page + 1) * DS_VPAGE;

	m->pages[page] = *p;
	if (m->size < end)
		m->size = end;
}

/* Bytes @from to @to of a page became zero; never a part in its middle. */
static void zero_part(struct ds_vpage *p, u32 from, u32 to)
{
	if (p->state == DS_VPAGE_ZERO)
		return;
	if (p->state == DS_VPAGE_DATA || p->state == DS_VPAGE_FREED) {
		if (from <= p->from)
			p->from = to > p->from ? to : p->from;
		else if (to >= p->to)
			p->to = from < p->to ? from : p->to;
		else
			p->state = DS_VPAGE_UNKNOWN;
		if (p->from < p->to)
			return;
	}
	if (p->state != DS_VPAGE_UNKNOWN || (!from && to == DS_VPAGE))
		*p = (struct ds_vpage){ .state = DS_VPAGE_ZERO };
}

/**
 * ds_model_zero() - bytes @from up to @to became zero, the size stays
 */
void ds_model_zero(struct ds_model *m, u64 from, u64 to)
{
	u64 page, start, end;

	if (to > (u64)m->max * DS_VPAGE)
		to = (u64)m->max * DS_VPAGE;
	while (from < to) {
		page = from / DS_VPAGE;
		start = page * DS_VPAGE;
		end = to - start < DS_VPAGE ? to - start : DS_VPAGE;
		zero_part(&m->pages[page], from - start, end);
		from = start + DS_VPAGE;
	}
}

/**
 * ds_model_resize() - truncated, down or up
 */
void ds_model_resize(struct ds_model *m, u64 size)
{
	if (size < m->size)
		ds_model_zero(m, size, (u64)m->max * DS_VPAGE);
	m->size = size;
}

/**
 * ds_model_set() - pages of which only @state is known
 *
 * DS_VPAGE_FREED keeps what they would hold, and leaves others than data alone.
 */
void ds_model_set(struct ds_model *m, u32 page, u32 pages, enum ds_vpage_state state)
{
	for (; pages && page < m->max; pages--, page++) {
		struct ds_vpage *p = &m->pages[page];

		if (state != DS_VPAGE_FREED)
			*p = (struct ds_vpage){ .state = state };
		else if (p->state == DS_VPAGE_DATA)
			p->state = state;
	}
}

/**
 * ds_model_collapse() - @pages pages from @page on were taken out
 */
void ds_model_collapse(struct ds_model *m, u32 page, u32 pages)
{
	memmove(&m->pages[page], &m->pages[page + pages],
		(m->max - page - pages) * sizeof(*m->pages));
	ds_model_set(m, m->max - pages, pages, DS_VPAGE_ZERO);
	m->size -= (u64)pages * DS_VPAGE;
}

/**
 * ds_model_insert() - @pages pages of zeros were put in before @page
 */
void ds_model_insert(struct ds_model *m, u32 page, u32 pages)
{
	memmove(&m->pages[page + pages], &m->pages[page],
		(m->max - page - pages) * sizeof(*m->pages));
	ds_model_set(m, page, pages, DS_VPAGE_ZERO);
	m->size += (u64)pages * DS_VPAGE;
}

/**
 * ds_model_data() - how many pages hold data for certain
 */
u32 ds_model_data(const struct ds_model *m)
{
	u32 i, n = 0;

	for (i = 0; i < m->max; i++)
		n += m->pages[i].state == DS_VPAGE_DATA;
	return n;
}

static bool all_zero(const u8 *buf, u32 len)
{
	return !len || (!buf[0] && !memcmp(buf, buf + 1, len - 1));
}

/* What a page that was read says of itself. */
static void describe_found(const u8 *buf, u32 len, u32 differs, char *text, size_t n)
{
	u64 words[WORDS];
	struct ds_vheader h;
	u32 same;

	if (all_zero(buf, len)) {
		snprintf(text, n, "zeros");
		return;
	}
	memset(&h, 0, sizeof(h));
	if (len >= sizeof(h))
		memcpy(&h, buf, sizeof(h));
	if (h.magic != MAGIC || h.sum != sum_of(&h)) {
		memset(words, 0, sizeof(u64));
		memcpy(words, buf + differs,
		       len - differs < sizeof(u64) ? len - differs : sizeof(u64));
		snprintf(text, n, "no header that is right, 0x%016llx from byte %u on", words[0],
			 differs);
		return;
	}
	make_words(&h, words);
	for (same = 0; same < len && buf[same] == ((u8 *)words)[same]; same++)
		;
	snprintf(text, n, "file %u page %llu generation %llu of operation %llu, bytes 0 to %u",
		 h.file, h.page, h.gen, h.op, same);
	if (same < len) {
		size_t used = strlen(text);

		snprintf(text + used, n - used, ", then %s",
			 all_zero(buf + same, len - same) ? "zeros" : "something else");
	}
}

static void describe_expected(const struct ds_model *m, const struct ds_vpage *p, char *text,
			      size_t n)
{
	if (p->state == DS_VPAGE_ZERO)
		snprintf(text, n, "zeros");
	else
		snprintf(text, n,
			 "file %u page %u generation %llu of operation %llu, bytes %u to %u%s",
			 m->file, p->home, p->gen, p->op, p->from, p->to,
			 p->state == DS_VPAGE_FREED ? ", or zeros" :
			 p->from || p->to < DS_VPAGE ? ", else zeros" : "");
}

/**
 * ds_model_check() - does a page hold what it has to?
 * @buf: what was read, from its beginning on
 * @len: how much, up to DS_VPAGE
 * @bad: filled in when it does not
 *
 * Return: 1 when it does, 0 when nothing can be said of it, -EILSEQ when it does
 * not.
 */
int ds_model_check(const struct ds_model *m, u32 page, const void *buf, u32 len,
		   struct ds_mismatch *bad)
{
	const struct ds_vpage *p = &m->pages[page];
	u64 words[WORDS];
	u8 *want = (u8 *)words;
	u32 at;

	if (p->state == DS_VPAGE_UNKNOWN)
		return 0;
	if (p->state == DS_VPAGE_ZERO) {
		memset(want, 0, DS_VPAGE);
	} else {
		ds_page_make(m->file, p, want);
		memset(want, 0, p->from);
		memset(want + p->to, 0, DS_VPAGE - p->to);
	}
	if (!memcmp(buf, want, len))
		return 1;
	if (p->state == DS_VPAGE_FREED && all_zero(buf, len))
		return 1;
	for (at = 0; ((const u8 *)buf)[at] == want[at]; at++)
		;
	snprintf(bad->text, sizeof(bad->text),
		 "file %u: page %u of %llu bytes differs from byte %u on", m->file, page, m->size,
		 at);
	describe_expected(m, p, bad->expected, sizeof(bad->expected));
	describe_found(buf, len, at, bad->found, sizeof(bad->found));
	return -EILSEQ;
}

/**
 * ds_model_check_size() - is the file as long as it has to be?
 *
 * Return: 1 or -EILSEQ.
 */
int ds_model_check_size(const struct ds_model *m, u64 size, struct ds_mismatch *bad)
{
	if (size == m->size)
		return 1;
	snprintf(bad->text, sizeof(bad->text), "file %u: wrong size", m->file);
	snprintf(bad->expected, sizeof(bad->expected), "%llu bytes", m->size);
	snprintf(bad->found, sizeof(bad->found), "%llu bytes", size);
	return -EILSEQ;
}

/**
 * ds_model_note() - remember an operation
 */
void ds_model_note(struct ds_model *m, const char *fmt, ...)
{
	struct ds_history *h = &m->history[m->nr_history++ % DS_HISTORY];
	int cpu = sched_getcpu();
	va_list ap;

	h->time_ns = ds_now_ns();
	h->cpu = cpu < 0 ? 0 : cpu;
	va_start(ap, fmt);
	vsnprintf(h->text, sizeof(h->text), fmt, ap);
	va_end(ap);
}
