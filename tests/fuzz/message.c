// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the fuzzer's messages: a valid one after the table of commands, which
 * is then broken in up to three ways of the table of ways.  A message is a pure
 * function of (seed, sender, index).  It also knows how the kernel takes a
 * datagram apart, and so what must be answered.  It sends nothing.
 */
#include <linux/drainstress.h>
#include <linux/drainstress_align.h>
#include <linux/drainstress_faults.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

#define BODY		(NLMSG_HDRLEN + GENL_HDRLEN)
#define MAX_ATTRS	16

/* ---- decisions ---- */

struct rng {
	u64 state;
};

/* splitmix64's finaliser (Steele, Lea, Flood 2014). */
static u64 mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static u64 next(struct rng *r)
{
	r->state += 0x9e3779b97f4a7c15ULL;
	return mix(r->state);
}

static size_t below(struct rng *r, size_t n)
{
	return next(r) % n;
}

static bool one_in(struct rng *r, size_t n)
{
	return !below(r, n);
}

#define PICK(r, array)	((array)[below(r, ARRAY_SIZE(array))])

/* ---- a message in the making ---- */

struct draft {
	unsigned char *data;
	size_t len;
	size_t room;
	size_t at[MAX_ATTRS];	/* where attributes begin */
	unsigned int nr;
};

static void set(struct draft *d, size_t at, const void *value, size_t size)
{
	if (at + size <= d->len)
		memcpy(d->data + at, value, size);
}

static void set16(struct draft *d, size_t at, u16 value)
{
	set(d, at, &value, sizeof(value));
}

static void set32(struct draft *d, size_t at, u32 value)
{
	set(d, at, &value, sizeof(value));
}

static u16 get16(const struct draft *d, size_t at)
{
	u16 value = 0;

	if (at + sizeof(value) <= d->len)
		memcpy(&value, d->data + at, sizeof(value));
	return value;
}

static void scatter(struct draft *d, struct rng *r, size_t at, size_t size)
{
	while (size-- && at < d->len)
		d->data[at++] = next(r);
}

/* Appends @size bytes, zero or a copy of @from; false when there is no room. */
static bool append(struct draft *d, const void *from, size_t size)
{
	if (size > d->room - d->len)
		return false;
	if (from)
		memcpy(d->data + d->len, from, size);
	else
		memset(d->data + d->len, 0, size);
	d->len += size;
	return true;
}

static void put(struct draft *d, u16 type, const void *value, size_t size)
{
	struct nlattr head = { .nla_len = NLA_HDRLEN + size, .nla_type = type };
	size_t at = d->len;

	if (NLA_HDRLEN + NLA_ALIGN(size) > d->room - d->len)
		return;
	append(d, &head, sizeof(head));
	append(d, value, size);
	append(d, NULL, NLA_ALIGN(size) - size);
	if (d->nr < MAX_ATTRS)
		d->at[d->nr++] = at;
}

static void put_random(struct draft *d, struct rng *r, u16 type, size_t size)
{
	size_t at = d->len + NLA_HDRLEN;

	put(d, type, NULL, size);
	scatter(d, r, at, size);
}

/* Takes attribute @i out; those behind it move up. */
static void take_out(struct draft *d, unsigned int i)
{
	size_t from = i + 1 < d->nr ? d->at[i + 1] : d->len;
	size_t gap = from - d->at[i];

	memmove(d->data + d->at[i], d->data + from, d->len - from);
	d->len -= gap;
	d->nr--;
	for (; i < d->nr; i++)
		d->at[i] = d->at[i + 1] - gap;
}

/* ---- the commands and what they take ---- */

enum kind { U8, U32, U64, CPUS, NAME, FAULTS, SCRIPTS };

struct arg {
	u16 type;
	enum kind kind;
	bool required;
	u64 min, max;	/* what every kernel takes */
};

/*
 * @weight is how often a command is sent at all, @valid how many of 1000 of
 * those are left as they are; a race or a check is work for all CPUs.
 */
static const struct command {
	u8 cmd;
	const char *name;
	bool dump;
	bool reserved;
	unsigned int weight;
	unsigned int valid;
	struct arg args[12];
} commands[] = {
	{ DS_CMD_GET_CAPS, "GET_CAPS", .weight = 6, .valid = 200 },
	{ DS_CMD_FILL, "FILL", .weight = 20, .valid = 60, .args = {
		{ DS_A_KIND, U32, true, 1, DS_NR_BATCH_KINDS },
		{ DS_A_COUNT, U32, true, 1, 14 },
		{ DS_A_CPUS, CPUS, .required = false } } },
	{ DS_CMD_DRAIN, "DRAIN", .weight = 14, .valid = 40, .args = {
		{ DS_A_DRAIN, U32, true, 1, DS_NR_DRAIN_KINDS },
		{ DS_A_CPUS, CPUS, .required = false } } },
	{ DS_CMD_RACE_START, "RACE_START", .weight = 20, .valid = 15, .args = {
		{ DS_A_SEED, U64, true, 0, UINT64_MAX },
		{ DS_A_KINDS, U64, false, 0, (1 << DS_NR_BATCH_KINDS) - 1 },
		{ DS_A_DRAINS, U64, false, 0, (1 << DS_NR_DRAIN_KINDS) - 1 },
		{ DS_A_CPUS, CPUS, .required = false },
		{ DS_A_STUTTER_MS, U32, false, 0, 60000 },
		{ DS_A_RACE, U8, false, 0, 1 },
		{ DS_A_ACCOUNTING, U8, false, 0, 1 },
		{ DS_A_ONLINE_RATE, U32, false, 0, 200 },
		{ DS_A_FAULTS, FAULTS, .required = false },
		/* not those that take CPUs offline: the lists name CPUs */
		{ DS_A_ALIGN, U8, false, 0, DS_ALIGN_ON },
		{ DS_A_PAIRS, U64, false, 0, (1 << (DS_PAIR_OFFLINE_FILL - 1)) - 1 },
		{ DS_A_SCRIPT, SCRIPTS, .required = false } } },
	{ DS_CMD_RACE_STOP, "RACE_STOP", .weight = 4, .valid = 100 },
	{ DS_CMD_GET_STATS, "GET_STATS", .dump = true, .weight = 6, .valid = 200 },
	{ DS_CMD_GET_USAGE, "GET_USAGE", .dump = true, .weight = 6, .valid = 200 },
	{ DS_CMD_CHECK, "CHECK", .weight = 10, .valid = 15, .args = {
		{ DS_A_INVARIANTS, U64, false, 1, 0x7f },
		{ DS_A_CGROUP, U64, false, 0, 40 } } },
	{ DS_CMD_GET_RESULTS, "GET_RESULTS", .dump = true, .weight = 8, .valid = 200 },
	{ DS_CMD_SET_FAULT, "SET_FAULT", .reserved = true, .weight = 1 },
	{ DS_CMD_PLANT, "PLANT", .weight = 6, .valid = 200, .args = {
		{ DS_A_NAME, NAME, .required = true },
		{ DS_A_BRIEF, U8, false, 0, 1 } } },
	{ DS_CMD_EVENT, "EVENT", .reserved = true, .weight = 1 },
};

static const struct command *command_of(int cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].cmd == cmd)
			return &commands[i];
	}
	return NULL;
}

static const struct command *pick_command(struct rng *r)
{
	size_t i, sum = 0, left;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		sum += commands[i].weight;
	left = below(r, sum);
	for (i = 0; left >= commands[i].weight; i++)
		left -= commands[i].weight;
	return &commands[i];
}

const char *fuzz_command_name(int cmd)
{
	const struct command *row = command_of(cmd);

	return row ? row->name : "other";
}

/* Whether @cmd is handled, and not by a dump. */
bool fuzz_command_does(int cmd)
{
	const struct command *row = command_of(cmd);

	return row && !row->dump && !row->reserved;
}

static const char *const sane_cpus[] = {
	"0", "1", "0-1", "0,1", "1-1", "0-1\n",
};

static const char *const sane_names[] = {
	"double-drain", "queued-twice", "none",
};

/*
 * Up to four faults, each with arguments that it may not take, and at times one of
 * them twice or a nest that does not fit.
 */
static void put_faults(struct draft *d, struct rng *r)
{
	static const u32 values[] = { 0, 1, 1, 2, 50, 2000, 2001, 60000, UINT32_MAX };
	unsigned char buf[512];
	struct draft nest = { .data = buf, .room = sizeof(buf) };
	unsigned int n = below(r, 5), i;

	while (n--) {
		size_t at = nest.len;
		u32 id = 1 + below(r, DS_NR_FAULTS + one_in(r, 16));

		put(&nest, one_in(r, 16) ? next(r) : DS_A_FAULT | NLA_F_NESTED, NULL, 0);
		put(&nest, DS_FA_ID, &id, sizeof(id));
		for (i = one_in(r, 2) ? 0 : 1 + below(r, 3); i; i--)
			put(&nest, one_in(r, 8) ? below(r, DS_FA_MAX + 2) :
			    DS_FA_ONE_IN + below(r, DS_FA_MAX - 1), &PICK(r, values),
			    one_in(r, 16) ? below(r, 5) : sizeof(u32));
		set16(&nest, at, one_in(r, 16) ? next(r) : nest.len - at);
	}
	put(d, DS_A_FAULTS | NLA_F_NESTED, nest.data, nest.len);
}

/*
 * Scripts for a few CPUs, at times for one twice or that is not there, with runs that
 * are too long, numbers that are no whole ones, or none.
 */
static void put_scripts(struct draft *d, struct rng *r)
{
	unsigned int n = below(r, 4), i;
	unsigned char buf[256];

	while (n--) {
		struct draft nest = { .data = buf, .room = sizeof(buf) };
		u32 cpu = one_in(r, 4) ? DS_SCRIPT_FAR : one_in(r, 16) ? next(r) : below(r, 3);
		u64 steps[8];

		for (i = 0; i < ARRAY_SIZE(steps); i++)
			steps[i] = one_in(r, 8) ? next(r) :
				   below(r, 10000) * DS_SCRIPT_RUN + below(r, 600);
		if (!one_in(r, 16))
			put(&nest, DS_SC_CPU, &cpu, sizeof(cpu));
		if (!one_in(r, 16))
			put(&nest, one_in(r, 16) ? below(r, DS_SC_MAX + 2) : DS_SC_STEPS, steps,
			    one_in(r, 8) ? below(r, sizeof(steps)) :
			    sizeof(u64) * (1 + below(r, ARRAY_SIZE(steps))));
		put(d, DS_A_SCRIPT | NLA_F_NESTED, nest.data, nest.len);
	}
}

static void put_arg(struct draft *d, struct rng *r, const struct arg *arg)
{
	u64 span = arg->max - arg->min + 1;
	u64 value = arg->min + (span ? next(r) % span : next(r));
	u32 value32 = value;
	u8 value8 = value;
	const char *text;

	switch (arg->kind) {
	case U8:
		put(d, arg->type, &value8, sizeof(value8));
		break;
	case U32:
		put(d, arg->type, &value32, sizeof(value32));
		break;
	case U64:
		put(d, arg->type, &value, sizeof(value));
		break;
	case CPUS:
		text = PICK(r, sane_cpus);
		put(d, arg->type, text, strlen(text) + 1);
		break;
	case NAME:
		text = PICK(r, sane_names);
		put(d, arg->type, text, strlen(text) + 1);
		break;
	case FAULTS:
		put_faults(d, r);
		break;
	case SCRIPTS:
		put_scripts(d, r);
		break;
	}
}

/* ---- ways to break attributes; the header is made after them ---- */

static void attr_length(struct draft *d, struct rng *r)
{
	static const int off[] = { -5, -4, -3, -1, 1, 3, 4, 8, 4096 };
	static const u16 fixed[] = { 0, 1, 3, 4, 5, 0x7fff, 0xffff };
	size_t at;

	if (!d->nr)
		return;
	at = d->at[below(r, d->nr)];
	set16(d, at, one_in(r, 2) ? PICK(r, fixed) : get16(d, at) + PICK(r, off));
}

static void attr_type(struct draft *d, struct rng *r)
{
	static const u16 odd[] = {
		DS_A_UNSPEC, DS_A_PAD, DS_A_MAX, DS_A_MAX + 1, (u16)NLA_TYPE_MASK,
	};

	if (d->nr)
		set16(d, d->at[below(r, d->nr)] + 2,
		      one_in(r, 2) ? PICK(r, odd) : below(r, DS_A_MAX + 1));
}

static void attr_flags(struct draft *d, struct rng *r)
{
	static const u16 flags[] = {
		NLA_F_NESTED, NLA_F_NET_BYTEORDER, NLA_F_NESTED | NLA_F_NET_BYTEORDER,
	};
	size_t at;

	if (!d->nr)
		return;
	at = d->at[below(r, d->nr)] + 2;
	set16(d, at, get16(d, at) | PICK(r, flags));
}

static void attr_size(struct draft *d, struct rng *r)
{
	unsigned int i;
	u16 type;

	if (!d->nr)
		return;
	i = below(r, d->nr);
	type = get16(d, d->at[i] + 2);
	take_out(d, i);
	put_random(d, r, type, below(r, 17));
}

static void attr_value(struct draft *d, struct rng *r)
{
	static const u64 edge[] = {
		0, 1, 2, 5, 6, 7, 8, 14, 15, 16, 30, 31, 32, 63, 64, 127, 128,
		255, 256, 60000, 60001, INT32_MAX, 1ULL << 31, UINT32_MAX,
		1ULL << 32, INT64_MAX, 1ULL << 63, UINT64_MAX,
	};
	size_t at, size;
	u64 value;

	if (!d->nr)
		return;
	at = d->at[below(r, d->nr)];
	size = get16(d, at) - NLA_HDRLEN;
	value = one_in(r, 4) ? next(r) : PICK(r, edge);
	if (size <= sizeof(value))
		set(d, at + NLA_HDRLEN, &value, size);
}

static void attr_missing(struct draft *d, struct rng *r)
{
	if (d->nr)
		take_out(d, below(r, d->nr));
}

static void attr_twice(struct draft *d, struct rng *r)
{
	unsigned int i;
	size_t size;

	if (!d->nr)
		return;
	i = below(r, d->nr);
	size = NLA_ALIGN(get16(d, d->at[i]));
	if (size >= NLA_HDRLEN && size <= d->len - d->at[i])
		append(d, d->data + d->at[i], size);
}

static void attr_unknown(struct draft *d, struct rng *r)
{
	u16 type = one_in(r, 2) ? below(r, DS_A_MAX + 1) : next(r);

	put_random(d, r, type, below(r, 65));
}

static void attr_many(struct draft *d, struct rng *r)
{
	unsigned int n = 2 + below(r, 600);

	while (n--)
		put_random(d, r, below(r, DS_A_MAX + 2), below(r, 9));
}

static void attr_padding(struct draft *d, struct rng *r)
{
	unsigned int i;

	for (i = 0; i < d->nr; i++) {
		size_t len = get16(d, d->at[i]);

		scatter(d, r, d->at[i] + len, NLA_ALIGN(len) - len);
	}
}

static void attr_cpus(struct draft *d, struct rng *r)
{
	static const char *const lists[] = {
		"", " ", "\n", ",", ",,", "-", "-1", "0-", "1-0", "0,,1", "0,",
		"0 1", "0;1", "0x1", "00", "+1", "1.5", "a", "all", "none", "N",
		"0-N", "0-3:1/2", "0-3:0/0", "0-3:1/0", "0-3:2/1", "0-3:",
		"0-3:4294967295/4294967295", "1-2-3", "64", "255", "256", "8191",
		"8192", "0-8191", "0-8192", "0-4294967295", "4294967296",
		"18446744073709551616", "0-3,8191", "%s%n", "\xff\xfe",
	};
	const char *list = PICK(r, lists);

	put(d, DS_A_CPUS, list, strlen(list) + !one_in(r, 8));
}

/* Strings around the greatest length and far beyond, closed with a zero or not. */
static void attr_string(struct draft *d, struct rng *r)
{
	static const u16 sizes[] = {
		1, DS_STRING_MAX - 1, DS_STRING_MAX, DS_STRING_MAX + 1, 4096,
		4097, UINT16_MAX - NLA_HDRLEN,
	};
	size_t size = PICK(r, sizes), at = d->len + NLA_HDRLEN, i;

	put(d, one_in(r, 3) ? DS_A_NAME : DS_A_CPUS, NULL, size);
	for (i = 0; i < size && at + i < d->len; i++)
		d->data[at + i] = i % 2 ? ',' : '0';
	if (one_in(r, 2))
		set(d, at + size - 1, "", 1);
}

/* Nests in nests, the innermost with something in it. */
static void attr_nest(struct draft *d, struct rng *r)
{
	static const u16 types[] = {
		DS_A_ITEM, DS_A_COUNTER, DS_A_VIOLATION, DS_A_CPUS, DS_A_KIND,
		DS_A_VERSION, DS_A_FAULTS, DS_A_FAULT,
	};
	unsigned int depth = 1 + below(r, one_in(r, 8) ? 2000 : 12);
	u16 size = 8 + below(r, 9);
	u16 flag = one_in(r, 4) ? 0 : NLA_F_NESTED;

	while (depth) {
		struct nlattr head = {
			.nla_len = size + NLA_HDRLEN * depth--,
			.nla_type = PICK(r, types) | flag,
		};

		if (!append(d, &head, sizeof(head)))
			return;
	}
	put_random(d, r, 1 + below(r, 8), NLA_ALIGN(size) - NLA_HDRLEN);
}

static void body_bytes(struct draft *d, struct rng *r)
{
	unsigned int n = 1 + below(r, 16);

	while (n-- && d->len > NLMSG_HDRLEN)
		scatter(d, r, NLMSG_HDRLEN + below(r, d->len - NLMSG_HDRLEN), 1);
}

static void body_random(struct draft *d, struct rng *r)
{
	size_t size = below(r, 300);

	d->len = BODY;
	d->nr = 0;
	append(d, NULL, size);
	scatter(d, r, BODY, size);
}

/* ---- ways to break headers; the length is right before them ---- */

static void head_length(struct draft *d, struct rng *r)
{
	static const u32 fixed[] = {
		0, 1, 15, 16, 17, 19, 20, 21, 24, INT32_MAX, 1U << 31, UINT32_MAX - 3,
		UINT32_MAX,
	};
	static const int off[] = { -8, -4, -3, -1, 1, 3, 4, 64, 65536 };

	set32(d, 0, one_in(r, 2) ? PICK(r, fixed) : d->len + PICK(r, off));
}

static void head_cut(struct draft *d, struct rng *r)
{
	d->len = 1 + below(r, d->len);
	/* Half of them are only short, and say so. */
	if (one_in(r, 2))
		set32(d, 0, d->len);
}

static void head_tail(struct draft *d, struct rng *r)
{
	size_t at = d->len, size = 1 + below(r, 40);

	append(d, NULL, size);
	scatter(d, r, at, size);
}

/* Control messages and families that are not there: others must not suffer. */
static void head_type(struct draft *d, struct rng *r)
{
	set16(d, 4, one_in(r, 2) ? below(r, NLMSG_MIN_TYPE) :
				   0x7000 + below(r, 0x9000));
}

static void head_flags(struct draft *d, struct rng *r)
{
	static const u16 flags[] = {
		0, NLM_F_ACK, NLM_F_REQUEST, NLM_F_REQUEST | NLM_F_DUMP,
		NLM_F_REQUEST | NLM_F_ACK | NLM_F_ROOT,
		NLM_F_REQUEST | NLM_F_ACK | NLM_F_MATCH,
		NLM_F_REQUEST | NLM_F_ECHO, NLM_F_MULTI,
	};

	switch (below(r, 3)) {
	case 0:
		set16(d, 6, get16(d, 6) ^ NLM_F_DUMP);
		break;
	case 1:
		set16(d, 6, PICK(r, flags));
		break;
	default:
		set16(d, 6, next(r));
	}
}

static void head_command(struct draft *d, struct rng *r)
{
	static const u8 odd[] = {
		DS_CMD_UNSPEC, DS_CMD_SET_FAULT, DS_CMD_EVENT, DS_CMD_MAX + 1, 255,
	};
	u8 cmd = one_in(r, 2) ? PICK(r, odd) : below(r, DS_CMD_MAX + 2);

	set(d, NLMSG_HDRLEN, &cmd, sizeof(cmd));
}

static void head_version(struct draft *d, struct rng *r)
{
	scatter(d, r, NLMSG_HDRLEN + 1, 1);
}

static void head_reserved(struct draft *d, struct rng *r)
{
	scatter(d, r, NLMSG_HDRLEN + 2, 2);
}

static void head_port(struct draft *d, struct rng *r)
{
	set32(d, 12, next(r));
}

static const struct way {
	const char *name;
	void (*apply)(struct draft *d, struct rng *r);
	bool late;
	unsigned int weight;
} ways[] = {
	{ "attr-length", attr_length, false, 8 },
	{ "attr-type", attr_type, false, 8 },
	{ "attr-flags", attr_flags, false, 6 },
	{ "attr-size", attr_size, false, 8 },
	{ "attr-value", attr_value, false, 20 },
	{ "attr-missing", attr_missing, false, 8 },
	{ "attr-twice", attr_twice, false, 6 },
	{ "attr-unknown", attr_unknown, false, 6 },
	{ "attr-many", attr_many, false, 2 },
	{ "attr-padding", attr_padding, false, 2 },
	{ "attr-cpus", attr_cpus, false, 16 },
	{ "attr-string", attr_string, false, 8 },
	{ "attr-nest", attr_nest, false, 6 },
	{ "body-bytes", body_bytes, false, 8 },
	{ "body-random", body_random, false, 6 },
	{ "head-length", head_length, true, 8 },
	{ "head-cut", head_cut, true, 6 },
	{ "head-tail", head_tail, true, 4 },
	{ "head-type", head_type, true, 3 },
	{ "head-flags", head_flags, true, 10 },
	{ "head-command", head_command, true, 6 },
	{ "head-version", head_version, true, 3 },
	{ "head-reserved", head_reserved, true, 2 },
	{ "head-port", head_port, true, 1 },
};

static const struct way *pick_way(struct rng *r)
{
	size_t i, sum = 0, left;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		sum += ways[i].weight;
	left = below(r, sum);
	for (i = 0; left >= ways[i].weight; i++)
		left -= ways[i].weight;
	return &ways[i];
}

/* ---- whole messages ---- */

static void note(struct fuzz_message *m, const char *sep, const char *word)
{
	size_t used = strlen(m->what);

	snprintf(m->what + used, sizeof(m->what) - used, "%s%s", sep, word);
}

/* Appends one message to the datagram. */
static void make_part(struct fuzz_message *m, struct rng *r, u32 seq,
		      u16 family)
{
	const struct command *row = pick_command(r);
	struct nlmsghdr head = { .nlmsg_type = family, .nlmsg_seq = seq };
	struct genlmsghdr genl = { .cmd = row->cmd };
	struct draft d = { .data = m->data + m->len, .room = sizeof(m->data) - m->len };
	const struct way *broken[3];
	unsigned int i, n = 0, late;

	genl.version = DRAINSTRESS_GENL_VERSION;
	head.nlmsg_flags = NLM_F_REQUEST;
	if (!one_in(r, 8))
		head.nlmsg_flags |= NLM_F_ACK;
	if (row->dump)
		head.nlmsg_flags |= NLM_F_DUMP;
	if (!append(&d, &head, sizeof(head)) || !append(&d, &genl, sizeof(genl)))
		return;
	for (i = 0; i < ARRAY_SIZE(row->args) && row->args[i].type; i++) {
		if (row->args[i].required || one_in(r, 2))
			put_arg(&d, r, &row->args[i]);
	}
	note(m, m->len ? "; " : "", row->name);
	if (below(r, 1000) >= row->valid)
		n = 1 + (one_in(r, 3) ? below(r, ARRAY_SIZE(broken)) : 0);
	for (i = 0; i < n; i++) {
		broken[i] = pick_way(r);
		note(m, " ", broken[i]->name);
	}
	for (late = 0; late < 2; late++) {
		for (i = 0; i < n; i++) {
			if (broken[i]->late == late)
				broken[i]->apply(&d, r);
		}
		if (!late)
			set32(&d, 0, d.len);
	}
	m->len += d.len;
}

/**
 * fuzz_make() - makes a datagram of one or several messages
 * @m: gets it
 * @seed: with @sender and @index all that it depends on
 * @sender: number of the sender, from 0
 * @index: number of the datagram within the sender, up to FUZZ_MAX_INDEX
 * @family: id of the family, which the kernel gives out when the module loads
 */
void fuzz_make(struct fuzz_message *m, u64 seed, u32 sender,
	       u32 index, u16 family)
{
	struct rng r = { mix(seed + 0x9e3779b97f4a7c15ULL * (sender + 1)) };
	unsigned int i, parts;
	static const enum fuzz_reading odd[] = {
		FUZZ_READ_CLOSE, FUZZ_READ_CLOSE, FUZZ_READ_TINY, FUZZ_READ_SOME,
		FUZZ_READ_NONE, FUZZ_READ_NONE,
	};

	r.state = mix(r.state ^ mix(index + 1ULL));
	m->len = 0;
	m->what[0] = '\0';
	m->events = one_in(&r, 3);
	/* Some senders keep a socket, and with it the module, longer. */
	m->reading = one_in(&r, 6U << sender % 4) ? PICK(&r, odd) : FUZZ_READ_ALL;
	/* Time for the kernel to begin what was asked, before the next message. */
	m->pause_ms = one_in(&r, 400) ? below(&r, 400) :
		      one_in(&r, 24) ? below(&r, 20) : 0;
	m->finish = one_in(&r, 16);
	parts = one_in(&r, 24) ? 2 + below(&r, FUZZ_SEQS - 1) : 1;
	for (i = 0; i < parts; i++)
		make_part(m, &r, (index + 1) * FUZZ_SEQS + i, family);
}

const char *fuzz_reading_name(enum fuzz_reading reading)
{
	static const char *const names[] = {
		"all", "all, then close", "all, tiny buffer", "some, then close",
		"none: close at once",
	};

	return names[reading];
}

/**
 * fuzz_walk() - takes a datagram apart as netlink_rcv_skb() does
 * @m: the datagram
 * @family: id of the family
 * @parts: get what is found
 * @max: how many there is room for
 * @left: gets the number of bytes that the kernel drops unread
 *
 * A message whose length is less than a header's or more than what is left ends
 * the walk.  One that is no request, or a control message, is answered only when
 * it asks for an acknowledgment.  All others are; what other families do is
 * their matter.  Return: how many were found.
 */
unsigned int fuzz_walk(const struct fuzz_message *m, u16 family,
		       struct fuzz_part *parts, unsigned int max, size_t *left)
{
	struct nlmsghdr head;
	unsigned int n = 0;
	size_t at = 0;

	while (m->len - at >= NLMSG_HDRLEN && n < max) {
		struct fuzz_part *p = &parts[n];
		bool handled;

		memcpy(&head, m->data + at, sizeof(head));
		if (head.nlmsg_len < NLMSG_HDRLEN || head.nlmsg_len > m->len - at)
			break;
		handled = head.nlmsg_flags & NLM_F_REQUEST &&
			  head.nlmsg_type >= NLMSG_MIN_TYPE;
		*p = (struct fuzz_part){
			.seq = head.nlmsg_seq,
			.len = head.nlmsg_len,
			.type = head.nlmsg_type,
			.flags = head.nlmsg_flags,
			.cmd = -1,
		};
		if (head.nlmsg_type == family && head.nlmsg_len >= BODY)
			p->cmd = m->data[at + NLMSG_HDRLEN];
		p->must = head.nlmsg_flags & NLM_F_ACK ||
			  (handled && head.nlmsg_type == family);
		p->ignored = !handled;
		p->may = handled && head.nlmsg_type != family;
		n++;
		at += NLMSG_ALIGN(head.nlmsg_len) < m->len - at ?
		      NLMSG_ALIGN(head.nlmsg_len) : m->len - at;
	}
	*left = m->len - at;
	return n;
}
