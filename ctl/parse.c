// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the kernel's answers apart: netlink headers, extended acks
 * and the attribute trees of include/uapi/linux/drainstress.h, described by
 * tables.  Pure: a buffer goes in, structures come out; no sockets, no output.
 * Nothing in the buffer is trusted, and it needs no alignment.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

enum rule_type {
	RULE_U8,
	RULE_U32,
	RULE_U64,
	RULE_STRING,
	RULE_ITEM,
	RULE_COUNTER,
	RULE_VIOLATION,
	RULE_ACTION,
	RULE_BUCKETS,
};

/* Where an attribute of one level goes. */
struct rule {
	u16 attr;
	u8 type;
	u16 offset;
	u16 size;
};

#define FIELD(st, a, t, f) { a, t, offsetof(struct st, f), sizeof(((struct st *)0)->f) }

static const struct rule msg_rules[] = {
	FIELD(ds_msg, DS_A_RELEASE, RULE_STRING, release),
	FIELD(ds_msg, DS_A_VERSION, RULE_STRING, version),
	FIELD(ds_msg, DS_A_BATCH_SIZE, RULE_U32, batch_size),
	FIELD(ds_msg, DS_A_MGLRU, RULE_U8, mglru),
	FIELD(ds_msg, DS_A_OWNER, RULE_U32, owner),
	FIELD(ds_msg, DS_A_STATE, RULE_STRING, state),
	FIELD(ds_msg, DS_A_FIX, RULE_U32, fix),
	FIELD(ds_msg, DS_A_REASON, RULE_STRING, reason),
	FIELD(ds_msg, DS_A_REQUEST, RULE_U32, request),
	FIELD(ds_msg, DS_A_SCOPE, RULE_STRING, scope),
	FIELD(ds_msg, DS_A_CPU, RULE_U32, cpu),
	FIELD(ds_msg, DS_A_NAME, RULE_STRING, name),
	FIELD(ds_msg, DS_A_INVARIANT, RULE_U32, invariant),
	FIELD(ds_msg, DS_A_CHECKED, RULE_U64, checked),
	FIELD(ds_msg, DS_A_VIOLATIONS, RULE_U64, violations),
	FIELD(ds_msg, DS_A_STATUS, RULE_U32, status),
	FIELD(ds_msg, DS_A_COMMAND, RULE_U32, command),
	FIELD(ds_msg, DS_A_EVENT, RULE_U32, event),
	FIELD(ds_msg, DS_A_SEQ, RULE_U32, seq),
	FIELD(ds_msg, DS_A_VIOLATION, RULE_VIOLATION, violation),
	FIELD(ds_msg, DS_A_ITEM, RULE_ITEM, items),
	FIELD(ds_msg, DS_A_COUNTER, RULE_COUNTER, counters),
	FIELD(ds_msg, DS_A_BUCKETS, RULE_BUCKETS, buckets),
};

static const struct rule item_rules[] = {
	FIELD(ds_item, DS_ITEM_CLASS, RULE_U32, class),
	FIELD(ds_item, DS_ITEM_ID, RULE_U32, id),
	FIELD(ds_item, DS_ITEM_NAME, RULE_STRING, name),
	FIELD(ds_item, DS_ITEM_AVAILABLE, RULE_U8, available),
	FIELD(ds_item, DS_ITEM_TITLE, RULE_STRING, title),
	FIELD(ds_item, DS_ITEM_REASON, RULE_STRING, reason),
	FIELD(ds_item, DS_ITEM_INVARIANTS, RULE_U64, invariants),
	FIELD(ds_item, DS_ITEM_BRIEF, RULE_U8, brief),
};

static const struct rule counter_rules[] = {
	FIELD(ds_counter, DS_COUNTER_NAME, RULE_STRING, name),
	FIELD(ds_counter, DS_COUNTER_VALUE, RULE_U64, value),
};

static const struct rule violation_rules[] = {
	FIELD(ds_violation, DS_VIOL_INVARIANT, RULE_U32, invariant),
	FIELD(ds_violation, DS_VIOL_TIME_NS, RULE_U64, time_ns),
	FIELD(ds_violation, DS_VIOL_TEXT, RULE_STRING, text),
	FIELD(ds_violation, DS_VIOL_CPU, RULE_U32, cpu),
	FIELD(ds_violation, DS_VIOL_KIND, RULE_U32, kind),
	FIELD(ds_violation, DS_VIOL_SLOT, RULE_U32, slot),
	FIELD(ds_violation, DS_VIOL_PFN, RULE_U64, pfn),
	FIELD(ds_violation, DS_VIOL_FLAGS, RULE_U64, flags),
	FIELD(ds_violation, DS_VIOL_FLAGS_TEXT, RULE_STRING, flags_text),
	FIELD(ds_violation, DS_VIOL_REFCOUNT, RULE_U32, refcount),
	FIELD(ds_violation, DS_VIOL_MAPCOUNT, RULE_U32, mapcount),
	FIELD(ds_violation, DS_VIOL_MAPPING, RULE_U64, mapping),
	FIELD(ds_violation, DS_VIOL_INDEX, RULE_U64, index),
	FIELD(ds_violation, DS_VIOL_PID, RULE_U32, pid),
	FIELD(ds_violation, DS_VIOL_COMM, RULE_STRING, comm),
	FIELD(ds_violation, DS_VIOL_EXPECTED, RULE_STRING, expected),
	FIELD(ds_violation, DS_VIOL_FOUND, RULE_STRING, found),
	FIELD(ds_violation, DS_VIOL_ORDER, RULE_U32, order),
	FIELD(ds_violation, DS_VIOL_NODE, RULE_U32, node),
	FIELD(ds_violation, DS_VIOL_ZONE, RULE_U32, zone),
	FIELD(ds_violation, DS_VIOL_MEMCG_DATA, RULE_U64, memcg_data),
	FIELD(ds_violation, DS_VIOL_MEMCG, RULE_U32, memcg),
	FIELD(ds_violation, DS_VIOL_MEMCG_INODE, RULE_U64, memcg_inode),
	FIELD(ds_violation, DS_VIOL_LIST, RULE_STRING, list),
	FIELD(ds_violation, DS_VIOL_LRUVEC_NODE, RULE_U32, lruvec_node),
	FIELD(ds_violation, DS_VIOL_LRUVEC_MEMCG, RULE_U32, lruvec_memcg),
	FIELD(ds_violation, DS_VIOL_ACTION, RULE_ACTION, actions),
};

static const struct rule action_rules[] = {
	FIELD(ds_action, DS_ACTION_TIME_NS, RULE_U64, time_ns),
	FIELD(ds_action, DS_ACTION_CPU, RULE_U32, cpu),
	FIELD(ds_action, DS_ACTION_TEXT, RULE_STRING, text),
};

/*
 * Takes the next attribute off the front.  Return: 1, 0 at the end, -EBADMSG
 * when it does not fit.
 */
static int attr_next(const u8 **buf, size_t *len, u16 *type, const u8 **data, size_t *size)
{
	struct nlattr a;
	size_t whole;

	if (!*len)
		return 0;
	if (*len < sizeof(a))
		return -EBADMSG;
	memcpy(&a, *buf, sizeof(a));
	if (a.nla_len < sizeof(a) || a.nla_len > *len)
		return -EBADMSG;
	*type = a.nla_type & NLA_TYPE_MASK;
	*data = *buf + sizeof(a);
	*size = a.nla_len - sizeof(a);
	whole = NLA_ALIGN(a.nla_len);
	/* the padding of the last attribute may be missing */
	if (whole > *len)
		whole = *len;
	*buf += whole;
	*len -= whole;
	return 1;
}

/* What goes to a terminal later must not steer it. */
static void copy_text(char *dst, size_t room, const u8 *src, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < room - 1 && src[i]; i++) {
		if ((src[i] < ' ' && src[i] != '\n' && src[i] != '\t') || src[i] > '~')
			dst[i] = '?';
		else
			dst[i] = src[i];
	}
	dst[i] = '\0';
}

static int parse_level(const struct rule *rules, unsigned int nr, const u8 *buf, size_t len,
		       void *out, u64 *has);

/* Makes room for one more element of a growing array, a power of two at a time. */
static void *grow(void *array, unsigned int nr, size_t size)
{
	void *bigger;

	if (nr && (nr & (nr - 1)))
		return array;
	bigger = realloc(array, (nr ? nr * 2 : 1) * size);
	return bigger;
}

static int parse_item(struct ds_msg *m, const u8 *data, size_t size)
{
	struct ds_item *items;

	if (m->nr_items == DS_ITEMS_MAX)
		return -EBADMSG;
	items = grow(m->items, m->nr_items, sizeof(*items));
	if (!items)
		return -ENOMEM;
	m->items = items;
	items += m->nr_items;
	memset(items, 0, sizeof(*items));
	m->nr_items++;
	return parse_level(item_rules, ARRAY_SIZE(item_rules), data, size, items, &items->has);
}

static int parse_counter(struct ds_msg *m, const u8 *data, size_t size)
{
	struct ds_counter *c;

	if (m->nr_counters == DS_ITEMS_MAX)
		return -EBADMSG;
	c = grow(m->counters, m->nr_counters, sizeof(*c));
	if (!c)
		return -ENOMEM;
	m->counters = c;
	c += m->nr_counters;
	memset(c, 0, sizeof(*c));
	m->nr_counters++;
	return parse_level(counter_rules, ARRAY_SIZE(counter_rules), data, size, c, &c->has);
}

/* All at once, and once a message. */
static int parse_buckets(struct ds_msg *m, const u8 *data, size_t size)
{
	if (m->buckets || size % sizeof(*m->buckets))
		return -EBADMSG;
	if (!size)
		return 0;
	m->buckets = malloc(size);
	if (!m->buckets)
		return -ENOMEM;
	memcpy(m->buckets, data, size);
	m->nr_buckets = size / sizeof(*m->buckets);
	return 0;
}

static int parse_violation(struct ds_violation *v, const u8 *data, size_t size)
{
	memset(v, 0, sizeof(*v));
	return parse_level(violation_rules, ARRAY_SIZE(violation_rules), data, size, v, &v->has);
}

static int parse_action(struct ds_violation *v, const u8 *data, size_t size)
{
	struct ds_action *a = &v->actions[v->nr_actions];

	if (v->nr_actions == DS_ACTIONS_MAX)
		return 0;
	v->nr_actions++;
	return parse_level(action_rules, ARRAY_SIZE(action_rules), data, size, a, &a->has);
}

static int take_value(const struct rule *r, const u8 *data, size_t size, void *out)
{
	char *dst = (char *)out + r->offset;

	switch (r->type) {
	case RULE_U8:
	case RULE_U32:
	case RULE_U64:
		if (size != r->size)
			return -EBADMSG;
		memcpy(dst, data, size);
		return 0;
	case RULE_STRING:
		copy_text(dst, r->size, data, size);
		return 0;
	/* these four stand only in msg_rules, so @out is a struct ds_msg */
	case RULE_ITEM:
		return parse_item(out, data, size);
	case RULE_COUNTER:
		return parse_counter(out, data, size);
	case RULE_BUCKETS:
		return parse_buckets(out, data, size);
	case RULE_VIOLATION:
		return parse_violation(&((struct ds_msg *)out)->violation, data, size);
	/* and this one in violation_rules */
	case RULE_ACTION:
		return parse_action(out, data, size);
	}
	return -EBADMSG;
}

static int parse_level(const struct rule *rules, unsigned int nr, const u8 *buf, size_t len,
		       void *out, u64 *has)
{
	const u8 *data;
	unsigned int i;
	size_t size;
	u16 type;
	int ret;

	while ((ret = attr_next(&buf, &len, &type, &data, &size)) > 0) {
		for (i = 0; i < nr && rules[i].attr != type; i++)
			;
		/* a newer module may say more than we know */
		if (i == nr)
			continue;
		ret = take_value(&rules[i], data, size, out);
		if (ret)
			return ret;
		*has |= 1ULL << type;
	}
	return ret;
}

/**
 * ds_msg_parse() - the attributes of one answer or event
 * @attrs: as of struct ds_frame
 * @m:     overwritten; to be freed with ds_msg_free() also after an error
 *
 * Return: 0, -EBADMSG when a length is impossible or a type has the wrong
 * size, -ENOMEM.
 */
int ds_msg_parse(const void *attrs, size_t len, struct ds_msg *m)
{
	memset(m, 0, sizeof(*m));
	return parse_level(msg_rules, ARRAY_SIZE(msg_rules), attrs, len, m, &m->has);
}

/**
 * ds_msg_free() - give back what ds_msg_parse() allocated
 */
void ds_msg_free(struct ds_msg *m)
{
	free(m->items);
	free(m->counters);
	free(m->buckets);
	m->items = NULL;
	m->counters = NULL;
	m->buckets = NULL;
	m->nr_buckets = 0;
	m->nr_items = 0;
	m->nr_counters = 0;
}

/**
 * ds_msg_counter() - the counter called @name, 0 when it did not come
 */
u64 ds_msg_counter(const struct ds_msg *m, const char *name)
{
	unsigned int i;

	for (i = 0; i < m->nr_counters; i++) {
		if (!strcmp(m->counters[i].name, name))
			return m->counters[i].value;
	}
	return 0;
}

/* libnl 3.7 has no helper for extended acks. */
static void parse_extack(const u8 *buf, size_t len, struct ds_frame *f)
{
	const u8 *data;
	size_t size;
	u16 type;

	while (attr_next(&buf, &len, &type, &data, &size) > 0) {
		if (type == NLMSGERR_ATTR_MSG)
			copy_text(f->extack, sizeof(f->extack), data, size);
	}
}

static int parse_error(const u8 *data, size_t size, struct ds_frame *f)
{
	struct nlmsghdr orig;
	size_t skip = sizeof(f->error);

	if (size < skip)
		return -EBADMSG;
	memcpy(&f->error, data, sizeof(f->error));
	if (f->error > 0 || f->error < -4095)
		return -EBADMSG;
	if (f->type == DS_FRAME_ERROR) {
		if (size < skip + sizeof(orig))
			return -EBADMSG;
		memcpy(&orig, data + skip, sizeof(orig));
		skip += sizeof(orig);
		/* the rest of the request comes back too, unless it was capped */
		if (!(f->flags & NLM_F_CAPPED)) {
			if (orig.nlmsg_len < sizeof(orig) || orig.nlmsg_len > size)
				return -EBADMSG;
			skip += NLMSG_ALIGN(orig.nlmsg_len) - sizeof(orig);
		}
	}
	if ((f->flags & NLM_F_ACK_TLVS) && skip < size)
		parse_extack(data + skip, size - skip, f);
	return 0;
}

/**
 * ds_frame_next() - take one netlink message off the front of a datagram
 * @buf: moved behind it
 * @len: what is left
 * @f:   overwritten; attrs point into the buffer
 *
 * Return: 1, 0 at the end, -EBADMSG.
 */
int ds_frame_next(const void **buf, size_t *len, struct ds_frame *f)
{
	const u8 *p = *buf;
	struct genlmsghdr g;
	struct nlmsghdr h;
	size_t size, whole;
	int ret = 0;

	memset(f, 0, sizeof(*f));
	if (!*len)
		return 0;
	if (*len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > *len)
		return -EBADMSG;
	size = h.nlmsg_len - sizeof(h);
	p += sizeof(h);
	f->nl_type = h.nlmsg_type;
	f->flags = h.nlmsg_flags;
	f->seq = h.nlmsg_seq;
	if (h.nlmsg_type == NLMSG_ERROR) {
		f->type = DS_FRAME_ERROR;
		ret = parse_error(p, size, f);
	} else if (h.nlmsg_type == NLMSG_DONE) {
		f->type = DS_FRAME_DONE;
		if (size)
			ret = parse_error(p, size, f);
	} else if (h.nlmsg_type < NLMSG_MIN_TYPE) {
		f->type = DS_FRAME_OTHER;
	} else {
		f->type = DS_FRAME_DATA;
		if (size < sizeof(g))
			return -EBADMSG;
		memcpy(&g, p, sizeof(g));
		f->cmd = g.cmd;
		f->attrs = p + NLMSG_ALIGN(sizeof(g));
		f->attrs_len = size - NLMSG_ALIGN(sizeof(g));
	}
	if (ret)
		return ret;
	whole = NLMSG_ALIGN((size_t)h.nlmsg_len);
	if (whole > *len)
		whole = *len;
	*buf = (const u8 *)*buf + whole;
	*len -= whole;
	return 1;
}
