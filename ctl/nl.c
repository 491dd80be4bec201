// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink client: finds the family, sends requests, collects answers and
 * dumps, receives events on a socket of their own.  Every wait has a limit and
 * every refusal comes back in the kernel's words.  It takes no decision about
 * a run; what answers mean is parsed in parse.c.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "nl.h"

#define BUF_SIZE (256 * 1024)	/* GET_CAPS is one message */
#define RCVBUF (4 * 1024 * 1024)
#define TIMEOUT_S 30		/* handlers queue and return, but hosts can be busy */
#define DUMP_TRIES 10
#define REREAD_MS 1000

/**
 * struct ds_nl - the connection
 * @cmd:    requests and their answers; the module's owner once one acted
 * @ev:     events, NULL before ds_nl_subscribe()
 * @seq:    next DS_A_SEQ expected, once @seq_known
 * @fn:     gets every event, may be NULL
 * @woken:  a request was carried out, or events were lost
 */
struct ds_nl {
	struct nl_sock *cmd;
	struct nl_sock *ev;
	int family;
	int group;
	u32 seq;
	bool seq_known;
	bool woken;
	ds_event_fn fn;
	void *arg;
	u8 *buf;
};

static int set_limits(struct nl_sock *sk)
{
	struct timeval tv = { .tv_sec = TIMEOUT_S };
	int fd = nl_socket_get_fd(sk), size = RCVBUF, one = 1;

	/* the 32 KiB of libnl lose events; FORCE wants the same right as we */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	/* a replay's request is long */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)))
		return -errno;
	return 0;
}

static struct nl_sock *new_socket(struct ds_err *err)
{
	struct nl_sock *sk = nl_socket_alloc();
	int ret;

	if (!sk) {
		ds_error(err, DS_EXIT_ERROR, ENOMEM, "netlink socket: out of memory");
		return NULL;
	}
	ret = genl_connect(sk);
	if (ret < 0) {
		ds_error(err, DS_EXIT_ERROR, 0, "netlink socket: %s", nl_geterror(ret));
		goto free;
	}
	ret = set_limits(sk);
	if (ret) {
		ds_error(err, DS_EXIT_ERROR, -ret, "netlink socket: no time limit: %s",
			 strerror(-ret));
		goto free;
	}
	return sk;

free:
	nl_socket_free(sk);
	return NULL;
}

static int not_found(int nle, struct ds_err *err)
{
	if (nle != -NLE_OBJ_NOTFOUND)
		return ds_error(err, DS_EXIT_ERROR, 0,
				"netlink family " DRAINSTRESS_GENL_NAME ": %s", nl_geterror(nle));
	if (!access("/sys/module/drainstress", F_OK))
		return ds_error(err, DS_EXIT_ERROR, ENOENT,
				"the module is loaded, but its netlink family is not visible here: run drainctl in the initial network namespace, or wait for insmod to end");
	return ds_error(err, DS_EXIT_ERROR, ENOENT,
			"the kernel module is not loaded: insmod drainstress.ko");
}

/**
 * ds_nl_open() - find the module
 *
 * Never waits for a module that is not there: "not loaded" is an error at once,
 * with the hint how to load it.
 *
 * Return: the connection, or NULL and @err.
 */
struct ds_nl *ds_nl_open(struct ds_err *err)
{
	struct ds_nl *nl = calloc(1, sizeof(*nl));

	if (!nl) {
		ds_error(err, DS_EXIT_ERROR, ENOMEM, "netlink: out of memory");
		return NULL;
	}
	nl->buf = malloc(BUF_SIZE);
	if (!nl->buf) {
		ds_error(err, DS_EXIT_ERROR, ENOMEM, "netlink: out of memory");
		goto close;
	}
	nl->cmd = new_socket(err);
	if (!nl->cmd)
		goto close;
	nl->family = genl_ctrl_resolve(nl->cmd, DRAINSTRESS_GENL_NAME);
	if (nl->family < 0) {
		not_found(nl->family, err);
		goto close;
	}
	nl->group = genl_ctrl_resolve_grp(nl->cmd, DRAINSTRESS_GENL_NAME, DRAINSTRESS_MCGRP_EVENTS);
	if (nl->group < 0) {
		not_found(nl->group, err);
		goto close;
	}
	return nl;

close:
	ds_nl_close(nl);
	return NULL;
}

/**
 * ds_nl_close() - close both sockets; the module stops what this one owned
 * @nl: may be NULL
 */
void ds_nl_close(struct ds_nl *nl)
{
	if (!nl)
		return;
	if (nl->ev)
		nl_socket_free(nl->ev);
	if (nl->cmd)
		nl_socket_free(nl->cmd);
	free(nl->buf);
	free(nl);
}

static const char *cmd_name(u8 cmd)
{
	static const char * const names[] = {
		[DS_CMD_GET_CAPS] = "GET_CAPS",
		[DS_CMD_FILL] = "FILL",
		[DS_CMD_DRAIN] = "DRAIN",
		[DS_CMD_RACE_START] = "RACE_START",
		[DS_CMD_RACE_STOP] = "RACE_STOP",
		[DS_CMD_GET_STATS] = "GET_STATS",
		[DS_CMD_GET_USAGE] = "GET_USAGE",
		[DS_CMD_CHECK] = "CHECK",
		[DS_CMD_GET_RESULTS] = "GET_RESULTS",
		[DS_CMD_PLANT] = "PLANT",
	};

	return cmd < ARRAY_SIZE(names) && names[cmd] ? names[cmd] : "?";
}

/* The kernel said no: which exit code that is, and its words or ours. */
static int refused(u8 cmd, const struct ds_frame *f, struct ds_err *err)
{
	const char *name = cmd_name(cmd);
	int no = -f->error;

	if (no == EPERM && !f->extack[0])
		return ds_error(err, DS_EXIT_SKIP, no,
				"%s: not permitted: drainctl needs CAP_NET_ADMIN in the initial user namespace (root, and not in a container)",
				name);
	if ((no == ENOENT || no == ENODEV) && !f->extack[0])
		return ds_error(err, DS_EXIT_ERROR, no,
				"%s: the module is gone (rmmod?): insmod drainstress.ko", name);
	if (no == EBUSY)
		return ds_error(err, DS_EXIT_ERROR, no, "%s: %s", name,
				f->extack[0] ? f->extack : "already in use");
	if (no == EOPNOTSUPP)
		return ds_error(err, DS_EXIT_SKIP, no, "%s: %s", name,
				f->extack[0] ? f->extack : "not supported on this kernel");
	if (no == EINVAL || no == ERANGE)
		return ds_error(err, DS_EXIT_USAGE, no, "%s: %s", name,
				f->extack[0] ? f->extack : strerror(no));
	if (f->extack[0])
		return ds_error(err, DS_EXIT_ERROR, no, "%s: %s (%s)", name, f->extack,
				strerror(no));
	return ds_error(err, DS_EXIT_ERROR, no, "%s: %s", name, strerror(no));
}

static size_t request_size(const struct ds_arg *args, unsigned int nr)
{
	size_t size = 8192;
	unsigned int i;

	for (i = 0; i < nr; i++)
		size += args[i].type == DS_ARG_BYTES ? nla_total_size(args[i].num) : 16;
	return size;
}

static struct nl_msg *build(struct ds_nl *nl, u8 cmd, int flags, const struct ds_arg *args,
			    unsigned int nr)
{
	struct nl_msg *msg = nlmsg_alloc_size(request_size(args, nr));
	struct nlattr *nests[4];
	unsigned int i, depth = 0;
	int ret = 0;

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0, flags, cmd,
			 DRAINSTRESS_GENL_VERSION))
		goto free;
	for (i = 0; i < nr && !ret; i++) {
		switch (args[i].type) {
		case DS_ARG_U8:
			ret = nla_put_u8(msg, args[i].attr, args[i].num);
			break;
		case DS_ARG_U32:
			ret = nla_put_u32(msg, args[i].attr, args[i].num);
			break;
		case DS_ARG_U64:
			ret = nla_put_u64(msg, args[i].attr, args[i].num);
			break;
		case DS_ARG_STRING:
			ret = nla_put_string(msg, args[i].attr, args[i].str);
			break;
		case DS_ARG_BYTES:
			ret = nla_put(msg, args[i].attr, args[i].num, args[i].str);
			break;
		case DS_ARG_NEST:
			nests[depth] = nla_nest_start(msg, args[i].attr | NLA_F_NESTED);
			if (!nests[depth] || ++depth == ARRAY_SIZE(nests))
				ret = -NLE_NOMEM;
			break;
		case DS_ARG_NEST_END:
			nla_nest_end(msg, nests[--depth]);
			break;
		}
	}
	if (!ret)
		return msg;
free:
	nlmsg_free(msg);
	return NULL;
}

static int send_request(struct ds_nl *nl, u8 cmd, int flags, const struct ds_arg *args,
			unsigned int nr, u32 *seq, struct ds_err *err)
{
	struct nl_msg *msg = build(nl, cmd, flags, args, nr);
	int ret;

	if (!msg)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "%s: out of memory", cmd_name(cmd));
	ret = nl_send_auto(nl->cmd, msg);
	*seq = nlmsg_hdr(msg)->nlmsg_seq;
	nlmsg_free(msg);
	if (ret < 0)
		return ds_error(err, DS_EXIT_ERROR, 0, "%s: cannot be sent: %s", cmd_name(cmd),
				nl_geterror(ret));
	return 0;
}

/* One datagram.  Return: its size or -errno. */
static ssize_t receive(struct ds_nl *nl, struct nl_sock *sk, int flags)
{
	ssize_t n;

	do {
		n = recv(nl_socket_get_fd(sk), nl->buf, BUF_SIZE, flags | MSG_TRUNC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n > BUF_SIZE ? -EMSGSIZE : n;
}

static int receive_error(u8 cmd, int no, struct ds_err *err)
{
	if (no == EAGAIN)
		return ds_error(err, DS_EXIT_ERROR, ETIMEDOUT,
				"%s: the module did not answer within %d s", cmd_name(cmd),
				TIMEOUT_S);
	return ds_error(err, DS_EXIT_ERROR, no, "%s: no answer: %s", cmd_name(cmd), strerror(no));
}

/**
 * ds_nl_do() - one request, one answer
 * @out: the answer, to be freed; NULL when nobody wants it
 *
 * Return: 0, or -1 and @err (EBUSY: somebody else's run; ENOENT: module gone).
 */
int ds_nl_do(struct ds_nl *nl, u8 cmd, const struct ds_arg *args, unsigned int nr,
	     struct ds_msg *out, struct ds_err *err)
{
	struct ds_frame f;
	const void *p;
	size_t len;
	ssize_t n;
	int ret;
	u32 seq;

	if (out)
		memset(out, 0, sizeof(*out));
	if (send_request(nl, cmd, NLM_F_ACK, args, nr, &seq, err))
		return -1;
	for (;;) {
		n = receive(nl, nl->cmd, 0);
		if (n < 0) {
			receive_error(cmd, -n, err);
			goto free;
		}
		p = nl->buf;
		len = n;
		while ((ret = ds_frame_next(&p, &len, &f)) > 0) {
			/* the late answer to a request that was given up */
			if (f.seq != seq)
				continue;
			if (f.type == DS_FRAME_ERROR && !f.error)
				return 0;
			if (f.type == DS_FRAME_ERROR) {
				refused(cmd, &f, err);
				goto free;
			}
			if (f.type == DS_FRAME_DATA && out) {
				ds_msg_free(out);
				ret = ds_msg_parse(f.attrs, f.attrs_len, out);
				if (ret)
					break;
			}
		}
		if (ret < 0) {
			ds_error(err, DS_EXIT_ERROR, -ret, "%s: malformed answer: %s",
				 cmd_name(cmd), strerror(-ret));
			goto free;
		}
	}
free:
	if (out)
		ds_msg_free(out);
	return -1;
}

/**
 * ds_msgs_free() - free a dump
 */
void ds_msgs_free(struct ds_msgs *msgs)
{
	unsigned int i;

	for (i = 0; i < msgs->nr; i++)
		ds_msg_free(&msgs->v[i]);
	free(msgs->v);
	msgs->v = NULL;
	msgs->nr = 0;
}

static int dump_add(struct ds_msgs *out, const struct ds_frame *f)
{
	struct ds_msg *v = realloc(out->v, (out->nr + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	out->v = v;
	return ds_msg_parse(f->attrs, f->attrs_len, &v[out->nr++]);
}

/* Return: 0, 1 when it has to be repeated, -1 and @err. */
static int dump_once(struct ds_nl *nl, u8 cmd, struct ds_msgs *out, struct ds_err *err)
{
	bool interrupted = false;
	struct ds_frame f;
	const void *p;
	size_t len;
	ssize_t n;
	int ret;
	u32 seq;

	if (send_request(nl, cmd, NLM_F_DUMP, NULL, 0, &seq, err))
		return -1;
	for (;;) {
		n = receive(nl, nl->cmd, 0);
		if (n == -ENOBUFS) {
			interrupted = true;
			continue;
		}
		if (n < 0)
			return receive_error(cmd, -n, err);
		p = nl->buf;
		len = n;
		while ((ret = ds_frame_next(&p, &len, &f)) > 0) {
			if (f.seq != seq)
				continue;
			if (f.flags & NLM_F_DUMP_INTR)
				interrupted = true;
			if ((f.type == DS_FRAME_ERROR || f.type == DS_FRAME_DONE) && f.error)
				return refused(cmd, &f, err);
			if (f.type == DS_FRAME_DONE)
				return interrupted;
			if (f.type != DS_FRAME_DATA)
				continue;
			ret = dump_add(out, &f);
			if (ret)
				break;
		}
		if (ret < 0)
			return ds_error(err, DS_EXIT_ERROR, -ret, "%s: malformed answer: %s",
					cmd_name(cmd), strerror(-ret));
	}
}

/**
 * ds_nl_dump() - a dump, repeated while it gets interrupted
 * @out: all messages, to be freed with ds_msgs_free() also after an error
 *
 * Return: 0, or -1 and @err.
 */
int ds_nl_dump(struct ds_nl *nl, u8 cmd, struct ds_msgs *out, struct ds_err *err)
{
	unsigned int tries;
	int ret;

	memset(out, 0, sizeof(*out));
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		ret = dump_once(nl, cmd, out, err);
		if (ret <= 0)
			return ret;
		ds_msgs_free(out);
	}
	return ds_error(err, DS_EXIT_ERROR, EAGAIN, "%s: interrupted %d times in a row",
			cmd_name(cmd), DUMP_TRIES);
}

/**
 * ds_nl_subscribe() - open the events socket
 * @fn: called for each event, also while one of the functions here waits, and
 *	with NULL where some were lost: the caller then has to read GET_RESULTS
 *	and GET_STATS; may be NULL
 *
 * Return: 0, or -1 and @err.
 */
int ds_nl_subscribe(struct ds_nl *nl, ds_event_fn fn, void *arg, struct ds_err *err)
{
	int ret;

	nl->fn = fn;
	nl->arg = arg;
	nl->ev = new_socket(err);
	if (!nl->ev)
		return -1;
	ret = nl_socket_add_membership(nl->ev, nl->group);
	if (!ret)
		return 0;
	if (ret == -NLE_PERM)
		return ds_error(err, DS_EXIT_SKIP, EPERM,
				"events: not permitted: drainctl needs CAP_NET_ADMIN in the initial user namespace (root, and not in a container)");
	return ds_error(err, DS_EXIT_ERROR, 0, "events: %s", nl_geterror(ret));
}

/**
 * ds_nl_event_fd() - to poll for events
 */
int ds_nl_event_fd(const struct ds_nl *nl)
{
	return nl_socket_get_fd(nl->ev);
}

static void deliver(struct ds_nl *nl, const struct ds_msg *m)
{
	if (!m || m->event == DS_EVENT_DONE)
		nl->woken = true;
	if (nl->fn)
		nl->fn(nl->arg, m);
}

static void one_event(struct ds_nl *nl, const struct ds_frame *f)
{
	struct ds_msg m;

	if (ds_msg_parse(f->attrs, f->attrs_len, &m)) {
		/* an event that cannot be read is a lost one */
		deliver(nl, NULL);
		goto free;
	}
	if (DS_HAS(&m, DS_A_SEQ)) {
		if (nl->seq_known && m.seq != nl->seq)
			deliver(nl, NULL);
		nl->seq_known = true;
		nl->seq = m.seq + 1;
	}
	deliver(nl, &m);
free:
	ds_msg_free(&m);
}

/**
 * ds_nl_events() - deliver all events that have come, without waiting
 *
 * Return: 0, or -1 and @err.
 */
int ds_nl_events(struct ds_nl *nl, struct ds_err *err)
{
	struct ds_frame f;
	const void *p;
	size_t len;
	ssize_t n;

	for (;;) {
		n = receive(nl, nl->ev, MSG_DONTWAIT);
		if (n == -EAGAIN)
			return 0;
		if (n == -ENOBUFS || n == -EMSGSIZE) {
			deliver(nl, NULL);
			continue;
		}
		if (n < 0)
			return ds_error(err, DS_EXIT_ERROR, -n, "events: %s", strerror(-n));
		p = nl->buf;
		len = n;
		while (ds_frame_next(&p, &len, &f) > 0) {
			if (f.type == DS_FRAME_DATA && f.nl_type == nl->family)
				one_event(nl, &f);
		}
	}
}

static int find_request(struct ds_nl *nl, u32 request, struct ds_msg *out, struct ds_err *err)
{
	struct ds_msgs msgs;
	unsigned int i;
	int ret = ds_nl_dump(nl, DS_CMD_GET_RESULTS, &msgs, err);

	for (i = 0; !ret && i < msgs.nr; i++) {
		if (!DS_HAS(&msgs.v[i], DS_A_REQUEST) || msgs.v[i].request != request)
			continue;
		*out = msgs.v[i];
		memset(&msgs.v[i], 0, sizeof(msgs.v[i]));
		ret = 1;
	}
	ds_msgs_free(&msgs);
	return ret;
}

/**
 * ds_nl_wait_done() - wait until a queued request has been carried out
 * @request:	id from its answer
 * @timeout_ms:	limit
 * @out:	its entry of GET_RESULTS, to be freed
 *
 * An event only wakes it: the result is read from GET_RESULTS, once a second
 * also without an event, so a lost one costs a second.
 *
 * Return: 0, or -1 and @err (exit HANG when it did not end in time).
 */
int ds_nl_wait_done(struct ds_nl *nl, u32 request, unsigned int timeout_ms,
		    struct ds_msg *out, struct ds_err *err)
{
	u64 start = ds_now_ms(), reread;
	int ret;

	if (!nl->ev && ds_nl_subscribe(nl, NULL, NULL, err))
		return -1;
	for (;;) {
		struct pollfd pfd = { .fd = ds_nl_event_fd(nl), .events = POLLIN };

		nl->woken = false;
		ret = find_request(nl, request, out, err);
		if (ret)
			return ret < 0 ? -1 : 0;
		if (ds_now_ms() - start >= timeout_ms)
			return ds_error(err, DS_EXIT_HANG, ETIMEDOUT,
					"request %u has not been carried out within %u s", request,
					timeout_ms / 1000);
		reread = ds_now_ms() + REREAD_MS;
		while (!nl->woken && ds_now_ms() < reread && poll(&pfd, 1, REREAD_MS) > 0) {
			if (ds_nl_events(nl, err))
				return -1;
		}
	}
}

/**
 * ds_nl_run() - send a request that is queued, and wait for its result
 * @out: its entry of GET_RESULTS, to be freed
 *
 * Return: 0, or -1 and @err, also when the request was carried out and failed.
 */
int ds_nl_run(struct ds_nl *nl, u8 cmd, const struct ds_arg *args, unsigned int nr,
	      unsigned int timeout_ms, struct ds_msg *out, struct ds_err *err)
{
	struct ds_msg answer;

	if (!nl->ev && ds_nl_subscribe(nl, NULL, NULL, err))
		return -1;
	if (ds_nl_do(nl, cmd, args, nr, &answer, err))
		return -1;
	ds_msg_free(&answer);
	if (!DS_HAS(&answer, DS_A_REQUEST))
		return ds_error(err, DS_EXIT_ERROR, EBADMSG, "%s: answer without a request id",
				cmd_name(cmd));
	if (ds_nl_wait_done(nl, answer.request, timeout_ms, out, err))
		return -1;
	if (!out->status)
		return 0;
	ds_error(err, out->status == EOPNOTSUPP ? DS_EXIT_SKIP : DS_EXIT_ERROR, out->status,
		 "%s: failed: %s%s%s", cmd_name(cmd), strerror(out->status),
		 out->reason[0] ? ": " : "", out->reason);
	ds_msg_free(out);
	return -1;
}
