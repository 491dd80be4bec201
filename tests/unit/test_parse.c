// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser of the kernel's answers: well-formed messages, built with libnl,
 * come out as they went in; malformed ones, made from those by a seeded
 * generator, are refused or accepted but never overrun a buffer (the sanitizers
 * watch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "parse.h"
#include "rand.h"

#define FAMILY 0x21
#define FUZZ_MESSAGES 100000

static void put_item(struct nl_msg *msg, u32 class, u32 id, const char *name, const char *reason)
{
	struct nlattr *nest = nla_nest_start(msg, DS_A_ITEM);

	assert_non_null(nest);
	nla_put_u32(msg, DS_ITEM_CLASS, class);
	nla_put_u32(msg, DS_ITEM_ID, id);
	nla_put_string(msg, DS_ITEM_NAME, name);
	nla_put_u8(msg, DS_ITEM_AVAILABLE, !reason);
	if (reason)
		nla_put_string(msg, DS_ITEM_REASON, reason);
	nla_nest_end(msg, nest);
}

static void put_counter(struct nl_msg *msg, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(msg, DS_A_COUNTER);

	nla_put_string(msg, DS_COUNTER_NAME, name);
	nla_put_u64(msg, DS_COUNTER_VALUE, value);
	nla_nest_end(msg, nest);
}

static void put_action(struct nl_msg *msg, u64 time_ns, u32 cpu, const char *text)
{
	struct nlattr *nest = nla_nest_start(msg, DS_VIOL_ACTION);

	assert_non_null(nest);
	nla_put_u64(msg, DS_ACTION_TIME_NS, time_ns);
	nla_put_u32(msg, DS_ACTION_CPU, cpu);
	nla_put_string(msg, DS_ACTION_TEXT, text);
	nla_nest_end(msg, nest);
}

static void put_violation(struct nl_msg *msg, unsigned int actions)
{
	struct nlattr *nest = nla_nest_start(msg, DS_A_VIOLATION);
	unsigned int i;

	nla_put_u32(msg, DS_VIOL_INVARIANT, 5);
	nla_put_u64(msg, DS_VIOL_TIME_NS, 123456789);
	nla_put_string(msg, DS_VIOL_TEXT, "2 references expected, 1 found");
	nla_put_u32(msg, DS_VIOL_CPU, 3);
	nla_put_u32(msg, DS_VIOL_KIND, DS_BATCH_MLOCK);
	nla_put_u64(msg, DS_VIOL_PFN, 0x12345);
	nla_put_u32(msg, DS_VIOL_REFCOUNT, (u32)-1);
	nla_put_u32(msg, DS_VIOL_PID, 77);
	nla_put_string(msg, DS_VIOL_COMM, "flood/3");
	nla_put_string(msg, DS_VIOL_EXPECTED, "2 references");
	nla_put_string(msg, DS_VIOL_FOUND, "1");
	nla_put_u32(msg, DS_VIOL_ORDER, 9);
	nla_put_u32(msg, DS_VIOL_NODE, 1);
	nla_put_u32(msg, DS_VIOL_ZONE, 2);
	nla_put_u64(msg, DS_VIOL_MEMCG_DATA, 0xffff888000001000);
	nla_put_u32(msg, DS_VIOL_MEMCG, 33);
	nla_put_u64(msg, DS_VIOL_MEMCG_INODE, 1ULL << 33);
	nla_put_string(msg, DS_VIOL_LIST, "inactive file");
	nla_put_u32(msg, DS_VIOL_LRUVEC_NODE, 1);
	nla_put_u32(msg, DS_VIOL_LRUVEC_MEMCG, 34);
	for (i = 0; i < actions; i++)
		put_action(msg, 1000 + i, i % 4, "drain all");
	nla_nest_end(msg, nest);
}

static struct nl_msg *new_msg(u8 cmd)
{
	struct nl_msg *msg = nlmsg_alloc_size(16384);

	assert_non_null(msg);
	assert_non_null(genlmsg_put(msg, 1, 9, FAMILY, 0, 0, cmd, 1));
	return msg;
}

/* A caps answer with everything in it that an answer can have. */
static struct nl_msg *full_msg(void)
{
	static const u64 buckets[] = { 128, 3, 1ULL << 40, 1ULL << 33 };
	struct nl_msg *msg = new_msg(DS_CMD_GET_CAPS);

	nla_put_string(msg, DS_A_RELEASE, "6.12.0");
	nla_put_string(msg, DS_A_VERSION, "c645049");
	nla_put_u32(msg, DS_A_BATCH_SIZE, 31);
	nla_put_u8(msg, DS_A_MGLRU, 1);
	nla_put_u32(msg, DS_A_OWNER, 42);
	nla_put_string(msg, DS_A_STATE, "running");
	nla_put_u32(msg, DS_A_FIX, DS_FIX_PRESENT);
	put_item(msg, DS_CLASS_INVARIANT, 8, "I8", NULL);
	put_item(msg, DS_CLASS_BATCH, 6, "rotate", "not in this kernel");
	put_counter(msg, "fills", 1ULL << 40);
	put_counter(msg, "usages", 3);
	put_violation(msg, 3);
	nla_put(msg, DS_A_BUCKETS, sizeof(buckets), buckets);
	nla_put_u32(msg, DS_A_SEQ, 9);
	/* what a newer module might add */
	nla_put_u64(msg, 200, 1);
	return msg;
}

static void test_full(void **state)
{
	struct nl_msg *msg = full_msg();
	const void *p = nlmsg_hdr(msg);
	size_t len = nlmsg_hdr(msg)->nlmsg_len;
	struct ds_frame f;
	struct ds_msg m;

	(void)state;
	assert_int_equal(ds_frame_next(&p, &len, &f), 1);
	assert_int_equal(f.type, DS_FRAME_DATA);
	assert_int_equal(f.nl_type, FAMILY);
	assert_int_equal(f.seq, 9);
	assert_int_equal(f.cmd, DS_CMD_GET_CAPS);
	assert_int_equal(ds_msg_parse(f.attrs, f.attrs_len, &m), 0);
	assert_string_equal(m.release, "6.12.0");
	assert_string_equal(m.version, "c645049");
	assert_int_equal(m.batch_size, 31);
	assert_int_equal(m.mglru, 1);
	assert_int_equal(m.owner, 42);
	assert_string_equal(m.state, "running");
	assert_int_equal(m.nr_items, 2);
	assert_string_equal(m.items[0].name, "I8");
	assert_int_equal(m.items[0].available, 1);
	assert_false(DS_HAS(&m.items[0], DS_ITEM_REASON));
	assert_string_equal(m.items[1].reason, "not in this kernel");
	assert_int_equal(m.items[1].available, 0);
	assert_int_equal(m.nr_counters, 2);
	assert_int_equal(ds_msg_counter(&m, "fills"), 1ULL << 40);
	assert_int_equal(ds_msg_counter(&m, "nothing"), 0);
	assert_int_equal(m.nr_buckets, 2);
	assert_int_equal(m.buckets[0].lower_ns, 128);
	assert_int_equal(m.buckets[0].count, 3);
	assert_int_equal(m.buckets[1].lower_ns, 1ULL << 40);
	assert_int_equal(m.buckets[1].count, 1ULL << 33);
	assert_true(DS_HAS(&m, DS_A_VIOLATION));
	assert_int_equal(m.violation.invariant, 5);
	assert_int_equal(m.violation.refcount, -1);
	assert_int_equal(m.violation.pfn, 0x12345);
	assert_true(DS_HAS(&m.violation, DS_VIOL_PFN));
	assert_false(DS_HAS(&m.violation, DS_VIOL_FLAGS));
	assert_string_equal(m.violation.comm, "flood/3");
	assert_string_equal(m.violation.expected, "2 references");
	assert_string_equal(m.violation.found, "1");
	assert_int_equal(m.violation.order, 9);
	assert_int_equal(m.violation.node, 1);
	assert_int_equal(m.violation.zone, 2);
	assert_int_equal(m.violation.memcg_data, 0xffff888000001000);
	assert_int_equal(m.violation.memcg, 33);
	assert_int_equal(m.violation.memcg_inode, 1ULL << 33);
	assert_string_equal(m.violation.list, "inactive file");
	assert_int_equal(m.violation.lruvec_node, 1);
	assert_int_equal(m.violation.lruvec_memcg, 34);
	assert_int_equal(m.violation.nr_actions, 3);
	assert_int_equal(m.violation.actions[2].time_ns, 1002);
	assert_int_equal(m.violation.actions[2].cpu, 2);
	assert_string_equal(m.violation.actions[2].text, "drain all");
	assert_false(DS_HAS(&m, DS_A_CHECKED));
	ds_msg_free(&m);
	assert_int_equal(ds_frame_next(&p, &len, &f), 0);
	nlmsg_free(msg);
}

static int parse_one(struct nl_msg *msg, struct ds_msg *m)
{
	const void *p = nlmsg_hdr(msg);
	size_t len = nlmsg_hdr(msg)->nlmsg_len;
	struct ds_frame f;

	assert_int_equal(ds_frame_next(&p, &len, &f), 1);
	return ds_msg_parse(f.attrs, f.attrs_len, m);
}

static void test_many_items(void **state)
{
	struct nl_msg *msg = nlmsg_alloc_size(65536);
	char name[16];
	struct ds_msg m;
	unsigned int i;

	(void)state;
	genlmsg_put(msg, 1, 1, FAMILY, 0, 0, DS_CMD_GET_CAPS, 1);
	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "item%u", i);
		put_item(msg, DS_CLASS_SYMBOL, i + 1, name, i % 3 ? NULL : "why");
	}
	assert_int_equal(parse_one(msg, &m), 0);
	assert_int_equal(m.nr_items, 500);
	assert_string_equal(m.items[499].name, "item499");
	ds_msg_free(&m);
	nlmsg_free(msg);
}

/* There is room for as many actions as there are; more are left out. */
static void test_many_actions(void **state)
{
	struct nl_msg *msg = new_msg(DS_CMD_EVENT);
	struct ds_msg m;

	(void)state;
	put_violation(msg, DS_ACTIONS_MAX + 5);
	assert_int_equal(parse_one(msg, &m), 0);
	assert_int_equal(m.violation.nr_actions, DS_ACTIONS_MAX);
	assert_int_equal(m.violation.actions[DS_ACTIONS_MAX - 1].time_ns,
			 1000 + DS_ACTIONS_MAX - 1);
	assert_string_equal(m.violation.comm, "flood/3");
	ds_msg_free(&m);
	nlmsg_free(msg);
}

/* A type with the wrong size is refused, a string is bounded and made plain. */
static void test_wrong_types(void **state)
{
	char text[3000];
	struct nl_msg *msg;
	struct ds_msg m;

	(void)state;
	msg = new_msg(DS_CMD_GET_CAPS);
	nla_put_u64(msg, DS_A_BATCH_SIZE, 31);
	assert_int_equal(parse_one(msg, &m), -EBADMSG);
	ds_msg_free(&m);
	nlmsg_free(msg);

	msg = new_msg(DS_CMD_GET_CAPS);
	nla_put_string(msg, DS_A_ITEM, "no nest");
	assert_int_equal(parse_one(msg, &m), -EBADMSG);
	ds_msg_free(&m);
	nlmsg_free(msg);

	msg = new_msg(DS_CMD_GET_CAPS);
	memset(text, 'x', sizeof(text));
	nla_put(msg, DS_A_REASON, sizeof(text), text);
	nla_put(msg, DS_A_STATE, 0, NULL);
	nla_put(msg, DS_A_RELEASE, 6, "a\033[2Jb");
	assert_int_equal(parse_one(msg, &m), 0);
	assert_int_equal(strlen(m.reason), sizeof(m.reason) - 1);
	assert_string_equal(m.state, "");
	assert_string_equal(m.release, "a?[2Jb");
	ds_msg_free(&m);
	nlmsg_free(msg);
}

/* Pairs, and one attribute of them. */
static void test_buckets(void **state)
{
	u64 pairs[6] = { 1, 2, 3, 4, 5, 6 };
	struct nl_msg *msg;
	struct ds_msg m;

	(void)state;
	msg = new_msg(DS_CMD_GET_STATS);
	nla_put(msg, DS_A_BUCKETS, 24, pairs);
	assert_int_equal(parse_one(msg, &m), -EBADMSG);
	ds_msg_free(&m);
	nlmsg_free(msg);

	msg = new_msg(DS_CMD_GET_STATS);
	nla_put(msg, DS_A_BUCKETS, 0, NULL);
	assert_int_equal(parse_one(msg, &m), 0);
	assert_int_equal(m.nr_buckets, 0);
	ds_msg_free(&m);
	nla_put(msg, DS_A_BUCKETS, sizeof(pairs), pairs);
	assert_int_equal(parse_one(msg, &m), 0);
	assert_int_equal(m.nr_buckets, 3);
	assert_int_equal(m.buckets[2].lower_ns, 5);
	ds_msg_free(&m);
	assert_null(m.buckets);
	nla_put(msg, DS_A_BUCKETS, sizeof(pairs), pairs);
	assert_int_equal(parse_one(msg, &m), -EBADMSG);
	ds_msg_free(&m);
	nlmsg_free(msg);
}

/* An error with an extack, capped or with the whole request in it. */
static void build_error(u8 *buf, size_t *len, int error, bool capped, const char *text)
{
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	struct nlmsgerr *e = (struct nlmsgerr *)NLMSG_DATA(h);
	struct nlattr *a;
	size_t n;

	memset(buf, 0, 512);
	e->error = error;
	e->msg.nlmsg_len = sizeof(e->msg) + 20;
	n = sizeof(*h) + sizeof(*e) + (capped ? 0 : 20);
	h->nlmsg_type = NLMSG_ERROR;
	h->nlmsg_flags = capped ? NLM_F_CAPPED : 0;
	h->nlmsg_seq = 5;
	if (text) {
		h->nlmsg_flags |= NLM_F_ACK_TLVS;
		a = (struct nlattr *)(buf + n);
		a->nla_type = NLMSGERR_ATTR_MSG;
		a->nla_len = sizeof(*a) + strlen(text) + 1;
		memcpy(a + 1, text, strlen(text) + 1);
		n += NLA_ALIGN(a->nla_len);
	}
	h->nlmsg_len = n;
	*len = n;
}

static void test_errors(void **state)
{
	u8 buf[512] __aligned(4);
	struct ds_frame f;
	const void *p;
	size_t len;
	int capped;

	(void)state;
	for (capped = 0; capped < 2; capped++) {
		build_error(buf, &len, -EBUSY, capped, "already in use by pid 7");
		p = buf;
		assert_int_equal(ds_frame_next(&p, &len, &f), 1);
		assert_int_equal(f.type, DS_FRAME_ERROR);
		assert_int_equal(f.error, -EBUSY);
		assert_string_equal(f.extack, "already in use by pid 7");
		assert_int_equal(len, 0);
	}
	build_error(buf, &len, 0, true, NULL);
	p = buf;
	assert_int_equal(ds_frame_next(&p, &len, &f), 1);
	assert_int_equal(f.error, 0);
	assert_string_equal(f.extack, "");
	/* no errno is positive or so low */
	build_error(buf, &len, 5, true, NULL);
	p = buf;
	assert_int_equal(ds_frame_next(&p, &len, &f), -EBADMSG);
	build_error(buf, &len, -5000, true, NULL);
	p = buf;
	assert_int_equal(ds_frame_next(&p, &len, &f), -EBADMSG);
	/* the request it quotes is longer than the message */
	build_error(buf, &len, -EINVAL, false, NULL);
	((struct nlmsgerr *)NLMSG_DATA(buf))->msg.nlmsg_len = 4000;
	p = buf;
	assert_int_equal(ds_frame_next(&p, &len, &f), -EBADMSG);
}

/* The extack of a dump comes in its DONE message. */
static void test_done(void **state)
{
	u8 buf[64] __aligned(4);
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	struct nlattr *a;
	struct ds_frame f;
	const void *p = buf;
	size_t len;
	int error = -EPERM;

	(void)state;
	memset(buf, 0, sizeof(buf));
	h->nlmsg_type = NLMSG_DONE;
	h->nlmsg_flags = NLM_F_MULTI | NLM_F_ACK_TLVS;
	memcpy(NLMSG_DATA(h), &error, sizeof(error));
	a = (struct nlattr *)(buf + sizeof(*h) + sizeof(error));
	a->nla_type = NLMSGERR_ATTR_MSG;
	a->nla_len = sizeof(*a) + 3;
	memcpy(a + 1, "no", 3);
	len = sizeof(*h) + sizeof(error) + sizeof(*a) + 3;
	h->nlmsg_len = len;
	assert_int_equal(ds_frame_next(&p, &len, &f), 1);
	assert_int_equal(f.type, DS_FRAME_DONE);
	assert_int_equal(f.error, -EPERM);
	assert_string_equal(f.extack, "no");
	/* kernels that send nothing but the header */
	h->nlmsg_len = sizeof(*h);
	h->nlmsg_flags = NLM_F_MULTI;
	len = sizeof(*h);
	p = buf;
	assert_int_equal(ds_frame_next(&p, &len, &f), 1);
	assert_int_equal(f.error, 0);
}

/* Takes a whole datagram apart; nobody looks at what comes out. */
static void consume(const void *buf, size_t len)
{
	struct ds_frame f;
	struct ds_msg m;
	size_t before;
	int n = 0;

	for (;;) {
		before = len;
		if (ds_frame_next(&buf, &len, &f) <= 0)
			return;
		/* every round gets on */
		assert_true(len < before);
		assert_true(++n < 100000);
		if (f.type != DS_FRAME_DATA)
			continue;
		ds_msg_parse(f.attrs, f.attrs_len, &m);
		ds_msg_free(&m);
	}
}

/* A buffer of exactly the right size, so that the sanitizer sees its end. */
static void consume_copy(const u8 *data, size_t len, unsigned int misalign)
{
	u8 *copy = malloc(len + misalign + !len);

	assert_non_null(copy);
	memcpy(copy + misalign, data, len);
	consume(copy + misalign, len);
	free(copy);
}

static void test_cut_short(void **state)
{
	struct nl_msg *msg = full_msg();
	struct nlmsghdr *h = nlmsg_hdr(msg);
	size_t whole = h->nlmsg_len, n;

	(void)state;
	/* the datagram ends early, and the header knows or does not */
	for (n = 0; n <= whole; n++) {
		h->nlmsg_len = whole;
		consume_copy((u8 *)h, n, 0);
		h->nlmsg_len = n;
		consume_copy((u8 *)h, n, n % 4);
	}
	h->nlmsg_len = whole;
	nlmsg_free(msg);
}

static void test_malformed(void **state)
{
	struct nl_msg *msg = full_msg();
	const u8 *good = (u8 *)nlmsg_hdr(msg);
	size_t whole = nlmsg_hdr(msg)->nlmsg_len, len, at;
	u8 buf[4096], error[512];
	struct ds_rand r;
	unsigned int i, k, changes;

	(void)state;
	assert_true(whole < sizeof(buf));
	for (i = 0; i < FUZZ_MESSAGES; i++) {
		r = ds_rand_at(20230413, 0, i);
		len = whole;
		memcpy(buf, good, whole);
		if (!ds_rand_below(&r, 4)) {
			build_error(error, &len, -(int)ds_rand_below(&r, 200),
				    ds_rand_below(&r, 2), "some text");
			memcpy(buf, error, len);
		}
		changes = 1 + ds_rand_below(&r, 8);
		for (k = 0; k < changes; k++) {
			at = ds_rand_below(&r, len);
			switch (ds_rand_below(&r, 4)) {
			case 0:
				buf[at] = ds_rand_next(&r);
				break;
			case 1:
				buf[at] ^= 1 << ds_rand_below(&r, 8);
				break;
			case 2:
				/* lengths and types stand at multiples of 4 */
				at &= ~3UL;
				buf[at] = ds_rand_below(&r, 256);
				buf[at + 1] = ds_rand_below(&r, 2);
				break;
			default:
				memset(buf + at, ds_rand_below(&r, 2) ? 0xff : 0,
				       ds_rand_below(&r, len - at) % 16);
			}
		}
		if (!ds_rand_below(&r, 4))
			len = ds_rand_below(&r, len + 1);
		consume_copy(buf, len, ds_rand_below(&r, 4));
	}
	nlmsg_free(msg);
}

static void test_random_bytes(void **state)
{
	struct ds_rand r;
	unsigned int i, k;
	size_t len;
	u8 buf[256];

	(void)state;
	for (i = 0; i < FUZZ_MESSAGES; i++) {
		r = ds_rand_at(1, 1, i);
		len = ds_rand_below(&r, sizeof(buf) + 1);
		for (k = 0; k < len; k++)
			buf[k] = ds_rand_below(&r, 4) ? ds_rand_below(&r, 40) : ds_rand_next(&r);
		consume_copy(buf, len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_many_items),
		cmocka_unit_test(test_many_actions),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_done),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
