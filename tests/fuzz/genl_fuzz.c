// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer of the netlink family of drainstress.ko: several senders, each with
 * sockets of its own, send valid and broken messages, and each has to be
 * answered as the protocol says.  Runs beside a loaded module.  It judges
 * answers only; what the kernel has to say about it stands in its log, which
 * somebody else has to read.  How messages are made is in message.c.
 */
#include <argp.h>
#include <errno.h>
#include <linux/drainstress.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

#define MAX_SENDERS	256
#define MAX_PARTS	64
#define MAX_ERRNO	134
#define ANSWER_ROOM	(256 * 1024)
#define SETTLE_LIMIT	10	/* seconds until all that was begun has ended */

enum { EXIT_FOUND = 1, EXIT_USAGE = 2, EXIT_NO_MODULE = 5 };

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

static struct {
	u64 seed;
	unsigned long messages;
	unsigned int senders;
	unsigned int timeout;
	unsigned int sender;
	unsigned int index;
	bool print;
	u16 family;
	u32 events;	/* number of the group */
} opt = { .seed = 1, .messages = 20000, .senders = 4, .timeout = 30 };

/* Of commands; the last is for whatever is not one. */
struct counts {
	unsigned long accepted[DS_CMD_MAX + 2];
	unsigned long refused[DS_CMD_MAX + 2][MAX_ERRNO];
	unsigned long sent, dropped, unread, overruns, ignored, waited;
};

struct sender {
	pthread_t thread;
	unsigned int number;
	u32 index;
	u32 todo;
	int fd;
	u32 request;		/* the newest that was accepted */
	bool unsure;		/* answers to other families' messages may come */
	struct fuzz_message message;
	struct fuzz_part parts[MAX_PARTS];
	unsigned int nr_parts;
	unsigned char answer[ANSWER_ROOM];
	struct counts counts;
};

static atomic_bool failed;
static atomic_uint running;		/* senders */

/* Says what went wrong, the first time, and how to see the message again. */
__printf(2, 3)
static int fail(const struct sender *s, const char *fmt, ...)
{
	va_list args;

	if (atomic_exchange(&failed, true))
		return -1;
	va_start(args, fmt);
	fputs("genl_fuzz: ", stderr);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (s) {
		fprintf(stderr, "\ngenl_fuzz: seed %llu, sender %u, index %u: %s\n",
			opt.seed, s->number, s->index,
			s->message.what);
		fprintf(stderr,
			"genl_fuzz: to see it: genl_fuzz --seed %llu --sender %u --index %u --print",
			opt.seed, s->number, s->index);
	}
	fputc('\n', stderr);
	return -1;
}

/* ---- sockets ---- */

static void set_option(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

/* Return: a socket, or -1 with errno set. */
static int open_socket(bool events)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct timeval limit = { .tv_sec = opt.timeout };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20);
	set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
	set_option(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	if (events)
		set_option(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, opt.events);
	return fd;
}

/* Calls @fn for each attribute in @len bytes until it says false. */
static void each_attr(const unsigned char *p, size_t len,
		      bool (*fn)(u16 type, const unsigned char *data,
				 size_t len, void *arg), void *arg)
{
	struct nlattr head;

	while (len >= sizeof(head)) {
		memcpy(&head, p, sizeof(head));
		if (head.nla_len < NLA_HDRLEN || head.nla_len > len ||
		    !fn(head.nla_type & NLA_TYPE_MASK, p + NLA_HDRLEN,
			head.nla_len - NLA_HDRLEN, arg) ||
		    (size_t)NLA_ALIGN(head.nla_len) >= len)
			return;
		p += NLA_ALIGN(head.nla_len);
		len -= NLA_ALIGN(head.nla_len);
	}
}

/* ---- answers ---- */

static bool see_text(u16 type, const unsigned char *data, size_t len,
		     void *arg)
{
	bool *text = arg;

	*text = type == NLMSGERR_ATTR_MSG && len > 1 && data[0];
	return !*text;
}

/* What a handler, or the policy before it, refuses must say why. */
static int check_text(struct sender *s, const struct fuzz_part *p,
		      const struct nlmsghdr *nlh, int err)
{
	size_t skip = sizeof(struct nlmsgerr);
	bool text = false;

	if (!fuzz_command_does(p->cmd) || (p->flags & NLM_F_DUMP) == NLM_F_DUMP ||
	    err == ENOMEM || err == EMSGSIZE || err == EAGAIN)
		return 0;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		each_attr((unsigned char *)NLMSG_DATA(nlh) + skip,
			  nlh->nlmsg_len - NLMSG_HDRLEN - skip, see_text, &text);
	if (text)
		return 0;
	return fail(s, "%s was refused with %s, without a text that says why",
		    fuzz_command_name(p->cmd), strerrorname_np(err));
}

static bool see_request(u16 type, const unsigned char *data, size_t len, void *arg)
{
	if (type == DS_A_REQUEST && len == sizeof(u32))
		memcpy(arg, data, len);
	return true;
}

/* The last answer to @p: @err is 0 or an errno. */
static void finish(struct sender *s, struct fuzz_part *p, int err)
{
	int cmd = p->cmd >= 0 && p->cmd <= DS_CMD_MAX ? p->cmd : DS_CMD_MAX + 1;

	p->done = true;
	if (!err && p->ignored)
		s->counts.ignored++;
	else if (!err)
		s->counts.accepted[cmd]++;
	else
		s->counts.refused[cmd][err < MAX_ERRNO ? err : 0]++;
}

static bool is_event(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = NLMSG_DATA(nlh);

	return nlh->nlmsg_type == opt.family && !nlh->nlmsg_seq &&
	       nlh->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN &&
	       genl->cmd == DS_CMD_EVENT;
}

/* One message that came in.  Return: 0, or -1 when it should not have. */
static int take(struct sender *s, const struct nlmsghdr *nlh)
{
	struct fuzz_part *p;
	int err = 0;

	if (is_event(nlh))
		return 0;
	for (p = s->parts; p < s->parts + s->nr_parts; p++) {
		if (p->seq == nlh->nlmsg_seq && !p->done && (p->must || p->may))
			break;
	}
	if (p == s->parts + s->nr_parts) {
		if (s->unsure)
			return 0;
		return fail(s, "an answer too many: sequence number %u, type %u",
			    nlh->nlmsg_seq, nlh->nlmsg_type);
	}
	switch (nlh->nlmsg_type) {
	case NLMSG_ERROR:
	case NLMSG_DONE:
		if (nlh->nlmsg_len < NLMSG_HDRLEN + sizeof(err))
			return fail(s, "an answer cut short");
		memcpy(&err, NLMSG_DATA(nlh), sizeof(err));
		if (err > 0)
			return fail(s, "an answer with the error %d", err);
		finish(s, p, -err);
		if (err && nlh->nlmsg_type == NLMSG_ERROR)
			return check_text(s, p, nlh, -err);
		break;
	default:
		if (p->cmd >= 0 && !(nlh->nlmsg_flags & NLM_F_MULTI))
			each_attr((unsigned char *)nlh + NLMSG_HDRLEN + GENL_HDRLEN,
				  nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN,
				  see_request, &s->request);
		/* An acknowledgment follows, or the end of the dump. */
		if (!(p->flags & NLM_F_ACK) && !(nlh->nlmsg_flags & NLM_F_MULTI))
			finish(s, p, 0);
	}
	return 0;
}

static bool all_answered(const struct sender *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_parts; i++) {
		if (s->parts[i].must && !s->parts[i].done)
			return false;
	}
	return true;
}

/* Reads until each message has its answer.  Return: 0, or -1 on a failure. */
static int read_answers(struct sender *s)
{
	while (!all_answered(s)) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)s->answer;
		ssize_t n = recv(s->fd, s->answer, sizeof(s->answer), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			/* A small buffer, or many events: some are lost. */
			s->counts.overruns++;
			s->unsure = true;
			return 0;
		}
		if (n < 0)
			return fail(s, errno == EAGAIN ? "no answer within %u s" :
				    "cannot receive (limit %u s): %m", opt.timeout);
		for (; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			if (take(s, nlh))
				return -1;
		}
	}
	return 0;
}

/* ---- questions that must be answered well ---- */

struct reply {
	u16 family;
	u32 group, owner, request, wanted;
	int status;		/* -1: request @wanted is not finished */
	char state[16];
};

static u32 get32(const unsigned char *data, size_t len)
{
	u32 value = 0;

	memcpy(&value, data, len < sizeof(value) ? len : sizeof(value));
	return value;
}

static bool see_group(u16 type, const unsigned char *data, size_t len,
		      void *arg)
{
	struct reply *r = arg;

	if (type == CTRL_ATTR_MCAST_GRP_ID)
		r->group = get32(data, len);
	return true;
}

static bool see_groups(u16 type, const unsigned char *data, size_t len,
		       void *arg)
{
	(void)type;
	each_attr(data, len, see_group, arg);
	return true;
}

static bool see_family(u16 type, const unsigned char *data, size_t len,
		       void *arg)
{
	struct reply *r = arg;

	if (type == CTRL_ATTR_FAMILY_ID)
		r->family = get32(data, len);
	else if (type == CTRL_ATTR_MCAST_GROUPS)
		each_attr(data, len, see_groups, r);
	return true;
}

static bool see_reply(u16 type, const unsigned char *data, size_t len,
		      void *arg)
{
	struct reply *r = arg;

	if (type == DS_A_OWNER)
		r->owner = get32(data, len);
	else if (type == DS_A_STATE)
		snprintf(r->state, sizeof(r->state), "%.*s", (int)len, data);
	else if (type == DS_A_REQUEST)
		r->request = get32(data, len);
	else if (type == DS_A_STATUS && r->request == r->wanted)
		r->status = get32(data, len);
	return true;
}

/*
 * Asks over @fd, with one attribute unless @size is 0, and hands the attributes
 * of the answers to @fn.  @answer has ANSWER_ROOM.  Return: 0 or an errno.
 */
static int ask(int fd, unsigned char *answer, u16 type, u8 cmd, u16 flags, u16 attr,
	       const void *value, u16 size,
	       bool (*fn)(u16, const unsigned char *, size_t, void *),
	       struct reply *r)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		struct nlattr attr;
		unsigned char value[32];
	} q = {
		.head.nlmsg_type = type,
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags,
		.genl = { .cmd = cmd, .version = 1 },
		.attr = { .nla_len = NLA_HDRLEN + size, .nla_type = attr },
	};
	const size_t body = NLMSG_HDRLEN + GENL_HDRLEN;
	int err;

	q.head.nlmsg_len = body + (size ? NLA_HDRLEN + NLA_ALIGN(size) : 0);
	memcpy(q.value, value, size);
	if (send(fd, &q, q.head.nlmsg_len, 0) < 0)
		return errno;
	for (;;) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)answer;
		ssize_t n = recv(fd, answer, ANSWER_ROOM, 0);

		if (n < 0)
			return errno;
		for (; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type == NLMSG_ERROR ||
			    nlh->nlmsg_type == NLMSG_DONE) {
				memcpy(&err, NLMSG_DATA(nlh), sizeof(err));
				return -err;
			}
			r->request = 0;		/* each message is a scope */
			each_attr((unsigned char *)nlh + body,
				  nlh->nlmsg_len - body, fn, r);
		}
	}
}

/* For the questions of the main thread. */
static unsigned char spare[ANSWER_ROOM];

/* Return: 0, or an errno: ENOENT when the module is not loaded. */
static int find_family(void)
{
	struct reply r = { 0 };
	int fd = open_socket(false), err;

	if (fd < 0)
		return errno;
	err = ask(fd, spare, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, CTRL_ATTR_FAMILY_NAME,
		  DRAINSTRESS_GENL_NAME, sizeof(DRAINSTRESS_GENL_NAME),
		  see_family, &r);
	close(fd);
	opt.family = r.family;
	opt.events = r.group;
	return err;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static bool tick(double limit)
{
	usleep(20000);
	return now() < limit;
}

/* Waits until request @request is finished, whatever came of it. */
static int wait_done(const struct sender *s, unsigned char *answer, u32 request,
		     struct reply *r)
{
	double limit = now() + opt.timeout;
	int fd = open_socket(false), err = fd < 0 ? errno : 0;

	r->wanted = request;
	r->status = -1;
	while (!err && r->status < 0 && tick(limit))
		err = ask(fd, answer, opt.family, DS_CMD_GET_RESULTS, NLM_F_DUMP,
			  0, "", 0, see_reply, r);
	if (fd >= 0)
		close(fd);
	if (err)
		return fail(s, "GET_RESULTS: %s", strerror(err));
	if (r->status < 0)
		return fail(s, "request %u is not finished after %u s", request,
			    opt.timeout);
	return 0;
}

/* ---- senders ---- */

static void hang_up(struct sender *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Sends message s->index and reads what is to be read. */
static int send_one(struct sender *s)
{
	struct fuzz_message *m = &s->message;
	struct reply r = { 0 };
	unsigned int i;
	size_t left;
	int err = 0;

	fuzz_make(m, opt.seed, s->number, s->index, opt.family);
	s->nr_parts = fuzz_walk(m, opt.family, s->parts, MAX_PARTS, &left);
	s->request = 0;
	s->unsure = s->nr_parts == MAX_PARTS;
	for (i = 0; i < s->nr_parts; i++)
		s->unsure |= s->parts[i].may;
	if (s->fd < 0)
		s->fd = open_socket(m->events);
	if (s->fd < 0)
		return fail(s, "cannot open a socket: %m");
	if (m->reading == FUZZ_READ_TINY)
		set_option(s->fd, SOL_SOCKET, SO_RCVBUF, 1);
	if (send(s->fd, m->data, m->len, 0) != (ssize_t)m->len)
		return fail(s, "cannot send %zu bytes: %m", m->len);
	s->counts.sent += s->nr_parts + !!left;
	s->counts.dropped += !!left;
	if (m->pause_ms)
		usleep(m->pause_ms * 1000);
	switch (m->reading) {
	case FUZZ_READ_ALL:
	case FUZZ_READ_CLOSE:
	case FUZZ_READ_TINY:
		err = read_answers(s);
		if (!err && m->finish && s->request)
			err = wait_done(s, s->answer, s->request, &r);
		s->counts.waited += m->finish && s->request;
		break;
	case FUZZ_READ_SOME:
		/* Nothing may be on its way: then there is nothing to read. */
		recv(s->fd, s->answer, 64, MSG_DONTWAIT);
		break;
	case FUZZ_READ_NONE:
		break;
	}
	for (i = 0; i < s->nr_parts; i++) {
		struct fuzz_part *p = &s->parts[i];

		s->counts.unread += (p->must || p->may) && !p->done;
		s->counts.dropped += !p->must && !p->may;
	}
	if (m->reading != FUZZ_READ_ALL || s->unsure)
		hang_up(s);
	return err;
}

static void *run_sender(void *arg)
{
	struct sender *s = arg;

	for (; s->todo && !atomic_load(&failed); s->todo--) {
		if (send_one(s))
			break;
		s->index++;
	}
	hang_up(s);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

/* Waits until nobody owns the module and nothing runs. */
static int wait_idle(struct reply *r)
{
	double limit = now() + SETTLE_LIMIT;
	int fd = open_socket(false), err;

	do {
		err = ask(fd, spare, opt.family, DS_CMD_GET_CAPS, 0, 0, "", 0, see_reply, r);
	} while (!err && (r->owner || strcmp(r->state, "idle")) && tick(limit));
	close(fd);
	if (err)
		return fail(NULL, "GET_CAPS at the end: %s", strerror(err));
	if (r->owner || strcmp(r->state, "idle"))
		return fail(NULL, "after %u s the state is %s and the owner %u",
			    SETTLE_LIMIT, r->state, r->owner);
	return 0;
}

/* A request of a new owner is done: the queue behind the family is alive. */
static int try_queue(struct reply *r)
{
	u32 drain = DS_DRAIN_ALL;
	int fd = open_socket(false), err;

	err = ask(fd, spare, opt.family, DS_CMD_DRAIN, 0, DS_A_DRAIN, &drain,
		  sizeof(drain), see_reply, r);
	if (err)
		fail(NULL, "a drain at the end: %s", strerror(err));
	else if (!wait_done(NULL, spare, r->request, r) && r->status)
		fail(NULL, "a drain at the end: %s", strerror(r->status));
	close(fd);
	return atomic_load(&failed) ? -1 : 0;
}

/* ---- what the events say while the senders work ---- */

struct events {
	u32 seq;
	u32 type, status;
	u32 invariant;
	unsigned long count, lost, violations;
	unsigned long finished[MAX_ERRNO];	/* requests, by their errno */
	char text[256];
};

static bool see_violation(u16 type, const unsigned char *data, size_t len,
			  void *arg)
{
	struct events *e = arg;

	if (type == DS_VIOL_INVARIANT)
		e->invariant = get32(data, len);
	else if (type == DS_VIOL_TEXT)
		snprintf(e->text, sizeof(e->text), "%.*s", (int)len, data);
	return true;
}

static bool see_event(u16 type, const unsigned char *data, size_t len, void *arg)
{
	struct events *e = arg;
	u32 seq;

	switch (type) {
	case DS_A_EVENT:
		e->type = get32(data, len);
		break;
	case DS_A_SEQ:
		seq = get32(data, len);
		e->lost += e->count ? seq - e->seq - 1 : 0;
		e->seq = seq;
		e->count++;
		break;
	case DS_A_STATUS:
		e->status = get32(data, len);
		break;
	case DS_A_VIOLATION:
		each_attr(data, len, see_violation, e);
		break;
	}
	return true;
}

/* Reads events until the senders have ended; violations are said at once. */
static void listen_to_events(int fd, struct events *e)
{
	static unsigned char buf[ANSWER_ROOM];
	const size_t body = NLMSG_HDRLEN + GENL_HDRLEN;

	while (atomic_load(&running)) {
		struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (n < 0)
			usleep(10000);
		for (; n > 0 && NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			e->type = 0;
			each_attr((unsigned char *)nlh + body,
				  nlh->nlmsg_len - body, see_event, e);
			if (e->type == DS_EVENT_DONE && e->status < MAX_ERRNO) {
				e->finished[e->status]++;
			} else if (e->type == DS_EVENT_VIOLATION) {
				e->violations++;
				fprintf(stderr, "genl_fuzz: violation of I%u: %s\n",
					e->invariant, e->text);
			}
		}
	}
}

/* ---- the program ---- */

/* Prints one message: what it is, then its bytes, 16 a line. */
static int print_message(void)
{
	static struct fuzz_message m;
	size_t i;

	if (find_family())
		puts("family: not loaded, the type of the messages is 0");
	fuzz_make(&m, opt.seed, opt.sender, opt.index, opt.family);
	printf("message: %s\nreading: %s\nbytes: %zu\n", m.what,
	       fuzz_reading_name(m.reading), m.len);
	for (i = 0; i < m.len; i++)
		printf("%02x%c", m.data[i], i % 16 == 15 || i + 1 == m.len ? '\n' : ' ');
	return 0;
}

static void print_counts(const struct counts *c)
{
	unsigned int cmd, err;

	for (cmd = 0; cmd < DS_CMD_MAX + 2; cmd++) {
		const char *name = fuzz_command_name(cmd);

		if (c->accepted[cmd])
			printf("accepted.%s: %lu\n", name, c->accepted[cmd]);
		for (err = 0; err < MAX_ERRNO; err++) {
			if (c->refused[cmd][err])
				printf("refused.%s.%s: %lu\n", name,
				       err ? strerrorname_np(err) : "unknown",
				       c->refused[cmd][err]);
		}
	}
}

/* Adds up the senders' counts; all members are unsigned long. */
static void sum_up(struct counts *sum, const struct counts *one)
{
	unsigned long *to = (unsigned long *)sum;
	const unsigned long *from = (const unsigned long *)one;
	size_t i;

	for (i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

static int fuzz(void)
{
	static struct counts sum;
	struct sender *senders = calloc(opt.senders, sizeof(*senders));
	unsigned long accepted = 0, refused = 0, i, j;
	struct reply r = { 0 };
	struct events e = { 0 };
	double start = now();
	int fd = open_socket(true);

	if (!senders || fd < 0)
		return fail(NULL, "cannot begin with %u senders: %m", opt.senders);
	for (i = 0; i < opt.senders; i++) {
		struct sender *s = &senders[i];

		s->number = i;
		s->fd = -1;
		s->todo = opt.messages / opt.senders +
			  (i < opt.messages % opt.senders);
		atomic_fetch_add(&running, 1);
		if (pthread_create(&s->thread, NULL, run_sender, s)) {
			atomic_fetch_sub(&running, 1);
			fail(NULL, "cannot start sender %lu", i);
			break;
		}
	}
	listen_to_events(fd, &e);
	close(fd);
	while (i--) {
		pthread_join(senders[i].thread, NULL);
		sum_up(&sum, &senders[i].counts);
	}
	free(senders);
	for (i = 0; i < DS_CMD_MAX + 2; i++) {
		accepted += sum.accepted[i];
		for (j = 0; j < MAX_ERRNO; j++)
			refused += sum.refused[i][j];
	}
	printf("seed: %llu\nsenders: %u\ndatagrams: %lu\n",
	       opt.seed, opt.senders, opt.messages);
	printf("sent: %lu\naccepted: %lu\nrefused: %lu\ndropped: %lu\n", sum.sent,
	       accepted, refused, sum.dropped);
	printf("ignored: %lu\nunread: %lu\noverruns: %lu\nwaited: %lu\n",
	       sum.ignored, sum.unread, sum.overruns, sum.waited);
	printf("events: %lu\nlost: %lu\nviolations: %lu\ndone: %lu\n", e.count, e.lost,
	       e.violations, e.finished[0]);
	for (i = 1; i < MAX_ERRNO; i++) {
		if (e.finished[i])
			printf("done.%s: %lu\n", strerrorname_np(i), e.finished[i]);
	}
	print_counts(&sum);
	printf("seconds: %.1f\n", now() - start);
	if (!wait_idle(&r) && !try_queue(&r))
		wait_idle(&r);
	printf("settled: %.1f\nowner: %u\nstate: %s\n", now() - start, r.owner, r.state);
	if (e.violations)
		fail(NULL, "%lu invariants were violated", e.violations);
	if (!accepted || !refused)
		fail(NULL, "%s: the messages reached nothing", accepted ?
		     "none was refused" : "none was accepted");
	return atomic_load(&failed) ? EXIT_FOUND : 0;
}

static u64 parse_number(const char *arg, struct argp_state *state,
			const char *name, u64 min, u64 max)
{
	char *end;
	u64 value;

	errno = 0;
	value = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || value < min || value > max)
		argp_error(state, "--%s '%s': takes %llu to %llu", name, arg, min,
			   max);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 's':
		opt.seed = parse_number(arg, state, "seed", 0, UINT64_MAX);
		break;
	case 'm':
		opt.messages = parse_number(arg, state, "messages", 1, FUZZ_MAX_INDEX);
		break;
	case 'n':
		opt.senders = parse_number(arg, state, "senders", 1, MAX_SENDERS);
		break;
	case 't':
		opt.timeout = parse_number(arg, state, "timeout", 1, 3600);
		break;
	case 'S':
		opt.sender = parse_number(arg, state, "sender", 0, MAX_SENDERS - 1);
		break;
	case 'i':
		opt.index = parse_number(arg, state, "index", 0, FUZZ_MAX_INDEX);
		break;
	case 'p':
		opt.print = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': takes options only", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "seed", 's', "N", 0, "what all messages are made from (1)", 0 },
	{ "messages", 'm', "N", 0, "datagrams to send, of all senders (20000)", 0 },
	{ "senders", 'n', "N", 0, "threads that send at a time (4)", 0 },
	{ "timeout", 't', "SECONDS", 0, "how long an answer may take (30)", 0 },
	{ "sender", 'S', "N", 0, "with --print: whose message", 0 },
	{ "index", 'i', "N", 0, "with --print: which message of the sender", 0 },
	{ "print", 'p', NULL, 0, "print one message and send nothing", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 }
};

static const char doc[] =
	"Sends valid and broken netlink messages to drainstress.ko.\v\n"
	"Exit code: 0 all answered as they should be, 1 not, 2 usage, 5 not loaded.";

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = doc,
	};
	int err;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return EXIT_USAGE;
	if (opt.print)
		return print_message();
	err = find_family();
	if (err) {
		fail(NULL, "drainstress is not loaded (%s): insmod drainstress.ko",
		     strerror(err));
		return EXIT_NO_MODULE;
	}
	return fuzz() ? EXIT_FOUND : 0;
}
