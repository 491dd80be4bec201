/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink client.  See nl.c.
 */
#ifndef DS_NL_H
#define DS_NL_H

#include "common.h"
#include "parse.h"

struct ds_nl;

enum ds_arg_type {
	DS_ARG_U8 = 1,
	DS_ARG_U32,
	DS_ARG_U64,
	DS_ARG_STRING,
	DS_ARG_BYTES,		/* @num of them at @str */
	DS_ARG_NEST,		/* those that follow are in it, */
	DS_ARG_NEST_END,	/* up to here */
};

/* One attribute of a request. */
struct ds_arg {
	u16 attr;
	enum ds_arg_type type;
	u64 num;
	const char *str;
};

/* The messages of a dump. */
struct ds_msgs {
	struct ds_msg *v;
	unsigned int nr;
};

/* What happened on the events socket; @m is NULL when events were lost. */
typedef void (*ds_event_fn)(void *arg, const struct ds_msg *m);

struct ds_nl *ds_nl_open(struct ds_err *err);
void ds_nl_close(struct ds_nl *nl);
int ds_nl_do(struct ds_nl *nl, u8 cmd, const struct ds_arg *args, unsigned int nr,
	     struct ds_msg *out, struct ds_err *err);
int ds_nl_dump(struct ds_nl *nl, u8 cmd, struct ds_msgs *out, struct ds_err *err);
void ds_msgs_free(struct ds_msgs *msgs);
int ds_nl_subscribe(struct ds_nl *nl, ds_event_fn fn, void *arg, struct ds_err *err);
int ds_nl_event_fd(const struct ds_nl *nl);
int ds_nl_events(struct ds_nl *nl, struct ds_err *err);
int ds_nl_wait_done(struct ds_nl *nl, u32 request, unsigned int timeout_ms,
		    struct ds_msg *out, struct ds_err *err);
int ds_nl_run(struct ds_nl *nl, u8 cmd, const struct ds_arg *args, unsigned int nr,
	      unsigned int timeout_ms, struct ds_msg *out, struct ds_err *err);

#endif /* DS_NL_H */
