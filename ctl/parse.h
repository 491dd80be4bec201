/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's answers as structures.  See parse.c.
 */
#ifndef DS_PARSE_H
#define DS_PARSE_H

#include <linux/drainstress.h>

#include "types.h"

#define DS_NAME_LEN 64
#define DS_ITEMS_MAX 4096	/* more in one message is nonsense */

/* One DS_A_COUNTER. */
struct ds_counter {
	u64 has;
	char name[DS_NAME_LEN];
	u64 value;
};

/* One DS_A_ITEM. */
struct ds_item {
	u64 has;
	u32 class;
	u32 id;
	u8 available;
	u8 brief;
	u64 invariants;
	char name[DS_NAME_LEN];
	char title[256];
	char reason[256];
};

/* One DS_VIOL_ACTION. */
struct ds_action {
	u64 has;
	u64 time_ns;
	u32 cpu;
	char text[DS_NAME_LEN];
};

/* One pair of DS_A_BUCKETS. */
struct ds_bucket {
	u64 lower_ns;
	u64 count;
};

#define DS_ACTIONS_MAX 16	/* more are left out */

/* DS_A_VIOLATION; @has tells which of the optional ones came. */
struct ds_violation {
	u64 has;		/* bit DS_VIOL_x; 0 when there is no violation */
	u32 invariant;
	u64 time_ns;
	char text[DS_STRING_MAX];
	u32 cpu;
	u32 kind;
	u32 slot;
	u64 pfn;
	u64 flags;
	char flags_text[256];
	s32 refcount;
	s32 mapcount;
	u64 mapping;
	u64 index;
	u32 pid;
	char comm[32];
	char expected[256];
	char found[256];
	u32 order;
	u32 node;
	u32 zone;
	u64 memcg_data;
	u32 memcg;
	u64 memcg_inode;
	char list[DS_NAME_LEN];
	u32 lruvec_node;
	u32 lruvec_memcg;
	struct ds_action actions[DS_ACTIONS_MAX];	/* the oldest first */
	unsigned int nr_actions;
};

/**
 * struct ds_msg - one answer or event, whichever it is
 * @has: bit DS_A_x for every attribute that came and was well-formed
 *
 * Strings are terminated and printable whatever the kernel sent.
 */
struct ds_msg {
	u64 has;
	char release[DS_NAME_LEN + 1];
	char version[DS_NAME_LEN];
	u32 batch_size;
	u8 mglru;
	u32 owner;
	char state[32];
	u32 fix;
	char reason[DS_STRING_MAX];
	u32 request;
	char scope[32];
	u32 cpu;
	char name[DS_NAME_LEN];
	u32 invariant;
	u64 checked;
	u64 violations;
	u32 status;
	u32 command;
	u32 event;
	u32 seq;
	struct ds_violation violation;
	struct ds_item *items;
	unsigned int nr_items;
	struct ds_counter *counters;
	unsigned int nr_counters;
	struct ds_bucket *buckets;
	unsigned int nr_buckets;
};

#define DS_HAS(p, attr) (((p)->has >> (attr)) & 1)

int ds_msg_parse(const void *attrs, size_t len, struct ds_msg *m);
void ds_msg_free(struct ds_msg *m);
u64 ds_msg_counter(const struct ds_msg *m, const char *name);

enum ds_frame_type {
	DS_FRAME_DATA,
	DS_FRAME_ERROR,		/* error 0 says that all went well */
	DS_FRAME_DONE,		/* end of a dump; error as of the dump */
	DS_FRAME_OTHER,
};

/**
 * struct ds_frame - one netlink message
 * @error:	0 or -errno
 * @extack:	the kernel's words, empty when there are none
 * @cmd:	of data: the generic netlink command
 * @attrs:	of data: points into the buffer
 */
struct ds_frame {
	enum ds_frame_type type;
	u16 nl_type;
	u16 flags;
	u32 seq;
	int error;
	char extack[256];
	u8 cmd;
	const void *attrs;
	size_t attrs_len;
};

int ds_frame_next(const void **buf, size_t *len, struct ds_frame *f);

#endif /* DS_PARSE_H */
