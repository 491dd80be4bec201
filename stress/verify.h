/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a file of the load has to hold.  See verify.c.
 */
#ifndef DS_VERIFY_H
#define DS_VERIFY_H

#include "types.h"

#define DS_VPAGE 4096U
#define DS_HISTORY 16
#define DS_HISTORY_TEXT 64

enum ds_vpage_state {
	DS_VPAGE_ZERO,		/* a hole, or beyond a truncation */
	DS_VPAGE_DATA,
	DS_VPAGE_FREED,		/* data or zeros: MADV_FREE */
	DS_VPAGE_UNKNOWN,	/* a write failed half way: not checked */
};

/**
 * struct ds_vpage - what one page has to hold
 * @gen:	generation of its data, unique in the file
 * @op:		index of the operation that wrote it
 * @home:	page that it was written to; collapsing and inserting move it
 * @from, @to:	bytes of it that are still there; the others are zero
 */
struct ds_vpage {
	u64 gen;
	u64 op;
	u32 home;
	u16 from, to;
	u8 state;		/* enum ds_vpage_state */
};

/* What each page begins with; the rest follows from it. */
struct ds_vheader {
	u32 magic;
	u32 file;
	u64 page;
	u64 gen;
	u64 op;
	u64 sum;
};

/* One operation on a file. */
struct ds_history {
	u64 time_ns;
	u32 cpu;
	char text[DS_HISTORY_TEXT];
};

/**
 * struct ds_model - what a file, or a mapping without one, has to hold
 * @file:	its number, in each header
 * @max:	pages it has at most
 * @size:	in bytes
 * @gen:	the last generation that was used
 * @pages:	@max of them; those beyond @size are zero
 * @history:	a ring of the last operations; @nr_history counts all
 */
struct ds_model {
	u32 file;
	u32 max;
	u64 size;
	u64 gen;
	struct ds_vpage *pages;
	struct ds_history history[DS_HISTORY];
	u64 nr_history;
};

/* What was wrong with a page or a file. */
struct ds_mismatch {
	char text[256];
	char expected[200];
	char found[200];
};

int ds_model_init(struct ds_model *m, u32 file, u32 max);
void ds_model_free(struct ds_model *m);
void ds_model_fill(struct ds_model *m, u32 page, u64 op, struct ds_vpage *p, void *buf);
void ds_model_put(struct ds_model *m, u32 page, const struct ds_vpage *p);
void ds_model_resize(struct ds_model *m, u64 size);
void ds_model_zero(struct ds_model *m, u64 from, u64 to);
void ds_model_collapse(struct ds_model *m, u32 page, u32 pages);
void ds_model_insert(struct ds_model *m, u32 page, u32 pages);
void ds_model_set(struct ds_model *m, u32 page, u32 pages, enum ds_vpage_state state);
u32 ds_model_data(const struct ds_model *m);
int ds_model_check(const struct ds_model *m, u32 page, const void *buf, u32 len,
		   struct ds_mismatch *bad);
int ds_model_check_size(const struct ds_model *m, u64 size, struct ds_mismatch *bad);
void __printf(2, 3) ds_model_note(struct ds_model *m, const char *fmt, ...);
void ds_page_make(u32 file, const struct ds_vpage *p, void *buf);

#endif /* DS_VERIFY_H */
