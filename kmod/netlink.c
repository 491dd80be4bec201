// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic-netlink family: policies, handlers, dumps and events.  It checks
 * what a message says, hands it on, and reports; it decides nothing itself.
 * Handlers queue and return: one that blocked would stop the registration of
 * every other family.  The attribute trees stand in the uapi header.
 */
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/utsname.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "drainstress.h"

#define DS_CAPS_SIZE	(32 * 1024)
/* The longest violation; a dump's message has room for one page at least. */
#define DS_VIOLATION_SIZE						\
	(2 * nla_total_size(DS_TEXT_LEN) + nla_total_size(160) +	\
	 nla_total_size(DS_LIST_LEN) + nla_total_size(TASK_COMM_LEN) +	\
	 8 * nla_total_size_64bit(sizeof(u64)) +			\
	 14 * nla_total_size(sizeof(u32)) + DS_VIOLATION_DID *		\
	 nla_total_size(nla_total_size_64bit(sizeof(u64)) +		\
			nla_total_size(sizeof(u32)) +			\
			nla_total_size(DS_DID_LEN)))
/* Checked by hand: the range of a policy is 16 bits, signed. */
#define DS_STUTTER_MAX_MS	60000

static struct genl_family ds_family;
static DEFINE_MUTEX(ds_event_lock);
static bool ds_events_on;
static u32 ds_event_seq;

/* ---- building blocks of answers ---- */

static int ds_put_counter(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, DS_A_COUNTER);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_string(skb, DS_COUNTER_NAME, name) ||
	    nla_put_u64_64bit(skb, DS_COUNTER_VALUE, value, DS_COUNTER_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int ds_put_item_of(struct sk_buff *skb, u32 class, u32 id,
			  const char *name, const char *title,
			  const char *reason, u64 invariants, bool brief)
{
	struct nlattr *nest = nla_nest_start(skb, DS_A_ITEM);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, DS_ITEM_CLASS, class) ||
	    nla_put_u32(skb, DS_ITEM_ID, id) ||
	    nla_put_string(skb, DS_ITEM_NAME, name) ||
	    nla_put_u8(skb, DS_ITEM_AVAILABLE, !reason) ||
	    (title && nla_put_string(skb, DS_ITEM_TITLE, title)) ||
	    (reason && nla_put_string(skb, DS_ITEM_REASON, reason)) ||
	    (brief && nla_put_u8(skb, DS_ITEM_BRIEF, 1)) ||
	    (invariants && nla_put_u64_64bit(skb, DS_ITEM_INVARIANTS, invariants,
					     DS_ITEM_PAD))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int ds_put_item(struct sk_buff *skb, u32 class, u32 id, const char *name,
		       const char *title, const char *reason)
{
	return ds_put_item_of(skb, class, id, name, title, reason, 0, false);
}

static int ds_put_action(struct sk_buff *skb, const struct ds_did *did)
{
	struct nlattr *nest = nla_nest_start(skb, DS_VIOL_ACTION);
	char text[DS_DID_LEN];

	if (!nest)
		return -EMSGSIZE;
	ds_did_text(did, text, sizeof(text));
	if (nla_put_u64_64bit(skb, DS_ACTION_TIME_NS, did->time_ns,
			      DS_ACTION_PAD) ||
	    nla_put_u32(skb, DS_ACTION_CPU, did->cpu) ||
	    nla_put_string(skb, DS_ACTION_TEXT, text)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* "expected this, found that" in its two parts. */
static int ds_put_expected(struct sk_buff *skb, const char *text)
{
	static const char first[] = "expected ", second[] = ", found ";
	char part[DS_TEXT_LEN];
	const char *expected = strstr(text, first);
	const char *found = expected ? strstr(expected, second) : NULL;

	if (!found)
		return 0;
	expected += sizeof(first) - 1;
	strscpy(part, expected,
		min_t(size_t, sizeof(part), found - expected + 1));
	return nla_put_string(skb, DS_VIOL_EXPECTED, part) ?:
	       nla_put_string(skb, DS_VIOL_FOUND, found + sizeof(second) - 1);
}

/* Where on the LRU: what was walked, or else what the folio itself says. */
static int ds_put_lru(struct sk_buff *skb, const struct ds_violation *v)
{
	const struct ds_slot *s = &v->folio;
	int memcg = s->walked ? s->lruvec_memcg : v->memcg.id;
	int nid = s->walked ? s->lruvec_nid : s->nid;
	char list[DS_LIST_LEN] = "none, PG_lru is clear";

	if (!s->walked && !s->pfn)
		return 0;
	if (s->list)
		ds_list_text(list, sizeof(list), s->list - 1);
	else if (s->flags & BIT(PG_lru))
		ds_list_text(list, sizeof(list),
			     ds_list_by_flags(s->flags, s->zone));
	if ((s->list || s->pfn) && nla_put_string(skb, DS_VIOL_LIST, list))
		return -EMSGSIZE;
	if (nid >= 0 && nla_put_u32(skb, DS_VIOL_LRUVEC_NODE, nid))
		return -EMSGSIZE;
	return memcg ? nla_put_u32(skb, DS_VIOL_LRUVEC_MEMCG, memcg) : 0;
}

static int ds_put_folio(struct sk_buff *skb, const struct ds_violation *v)
{
	const struct ds_slot *s = &v->folio;
	char flags_text[160];

	snprintf(flags_text, sizeof(flags_text), "%pGp", &s->flags);
	if (nla_put_u64_64bit(skb, DS_VIOL_PFN, s->pfn, DS_VIOL_PAD) ||
	    nla_put_u64_64bit(skb, DS_VIOL_FLAGS, s->flags, DS_VIOL_PAD) ||
	    nla_put_string(skb, DS_VIOL_FLAGS_TEXT, flags_text) ||
	    nla_put_u32(skb, DS_VIOL_REFCOUNT, s->refcount) ||
	    nla_put_u32(skb, DS_VIOL_MAPCOUNT, s->mapcount) ||
	    nla_put_u64_64bit(skb, DS_VIOL_MAPPING, s->mapping, DS_VIOL_PAD) ||
	    nla_put_u64_64bit(skb, DS_VIOL_INDEX, s->index, DS_VIOL_PAD) ||
	    nla_put_u32(skb, DS_VIOL_ORDER, s->order) ||
	    (s->nid >= 0 && nla_put_u32(skb, DS_VIOL_NODE, s->nid)) ||
	    nla_put_u32(skb, DS_VIOL_ZONE, s->zone) ||
	    nla_put_u64_64bit(skb, DS_VIOL_MEMCG_DATA, s->memcg_data,
			      DS_VIOL_PAD))
		return -EMSGSIZE;
	if (!v->memcg.id)
		return 0;
	return nla_put_u32(skb, DS_VIOL_MEMCG, v->memcg.id) ?:
	       nla_put_u64_64bit(skb, DS_VIOL_MEMCG_INODE, v->memcg.inode,
				 DS_VIOL_PAD);
}

static int ds_put_violation(struct sk_buff *skb, const struct ds_violation *v)
{
	struct nlattr *nest = nla_nest_start(skb, DS_A_VIOLATION);
	unsigned int i;

	BUILD_BUG_ON(DS_VIOLATION_SIZE + 512 > NLMSG_GOODSIZE);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, DS_VIOL_INVARIANT, v->invariant) ||
	    nla_put_u64_64bit(skb, DS_VIOL_TIME_NS, v->time_ns, DS_VIOL_PAD) ||
	    nla_put_string(skb, DS_VIOL_TEXT, v->text) ||
	    ds_put_expected(skb, v->text) ||
	    nla_put_u32(skb, DS_VIOL_CPU, v->cpu) ||
	    nla_put_u32(skb, DS_VIOL_PID, v->pid) ||
	    nla_put_string(skb, DS_VIOL_COMM, v->comm) ||
	    (v->kind && nla_put_u32(skb, DS_VIOL_KIND, v->kind)) ||
	    (v->slot >= 0 && nla_put_u32(skb, DS_VIOL_SLOT, v->slot)) ||
	    (v->folio.pfn && ds_put_folio(skb, v)) || ds_put_lru(skb, v))
		goto cancel;
	for (i = 0; i < v->nr_did; i++) {
		if (ds_put_action(skb, &v->did[i]))
			goto cancel;
	}
	nla_nest_end(skb, nest);
	return 0;
cancel:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

static int ds_put_request(struct sk_buff *skb,
			  const struct ds_request_result *result)
{
	unsigned int i;

	if (nla_put_u32(skb, DS_A_REQUEST, result->id) ||
	    nla_put_u32(skb, DS_A_STATUS, result->status) ||
	    nla_put_u32(skb, DS_A_COMMAND, result->command))
		return -EMSGSIZE;
	for (i = 0; i < result->nr; i++) {
		if (ds_put_counter(skb, result->counter[i].name,
				   result->counter[i].value))
			return -EMSGSIZE;
	}
	return 0;
}

/* ---- GET_CAPS ---- */

static int ds_put_symbols(struct sk_buff *skb)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < DS_NR_SYMS && !err; i++) {
		err = ds_put_item(skb, DS_CLASS_SYMBOL, i + 1,
				  ds_symbols[i].found ?: ds_symbols[i].name,
				  NULL, ds_symbols[i].addr ? NULL :
				  "not in this kernel under any name known");
	}
	return err;
}

static int ds_put_kinds(struct sk_buff *skb)
{
	char why[DS_REASON_LEN];
	unsigned int i;
	int err = 0;

	for (i = 1; i < __DS_BATCH_MAX && !err; i++) {
		err = ds_put_item(skb, DS_CLASS_BATCH, i, ds_batch_name[i],
				  ds_batch_title[i],
				  ds_batch_available(i, why, sizeof(why)) ?
				  NULL : why);
	}
	for (i = 1; i < __DS_DRAIN_MAX && !err; i++) {
		err = ds_put_item(skb, DS_CLASS_DRAIN, i, ds_drain_name[i],
				  ds_drain_title[i],
				  ds_drain_available(i, why, sizeof(why)) ?
				  NULL : why);
	}
	return err;
}

static int ds_put_probes(struct sk_buff *skb)
{
	struct ds_probe_info info;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ds_nr_probes() && !err; i++) {
		ds_probe_read(i, &info);
		err = ds_put_item(skb, DS_CLASS_PROBE, i + 1, info.name,
				  info.title, info.reason);
	}
	for (i = 0; i < DS_NR_ENTRIES && !err; i++) {
		err = ds_put_item(skb, DS_CLASS_ENTRY, i + 1,
				  ds_usage_entry_name(i), NULL,
				  ds_usage_entry_reason(i));
	}
	return err;
}

static int ds_put_invariants(struct sk_buff *skb)
{
	char why[DS_REASON_LEN], name[8];
	unsigned int i;
	int err = 0;

	for (i = 0; i < ds_nr_invariants && !err; i++) {
		const struct ds_invariant *inv = &ds_invariants[i];

		snprintf(name, sizeof(name), "I%u", inv->id);
		err = ds_put_item(skb, DS_CLASS_INVARIANT, inv->id, name,
				  ds_invariant_title(inv->id),
				  ds_invariant_available(inv, why, sizeof(why)) ?
				  NULL : why);
	}
	for (i = 0; i < ds_nr_plants && !err; i++) {
		const struct ds_plant *plant = &ds_plants[i];

		err = ds_put_item_of(skb, DS_CLASS_PLANT, i + 1, plant->name,
				     plant->title,
				     ds_plant_available(plant, why, sizeof(why)) ?
				     NULL : why,
				     DS_INV_BIT(plant->invariant) | plant->also,
				     plant->brief);
	}
	return err;
}

static int ds_put_faults(struct sk_buff *skb)
{
	char why[DS_REASON_LEN];
	unsigned int i;
	int err = 0;

	for (i = 1; i < __DS_FAULT_MAX && !err; i++) {
		err = ds_put_item(skb, DS_CLASS_FAULT, i, ds_fault_name[i],
				  ds_fault_title[i],
				  ds_fault_available(i, why, sizeof(why)) ?
				  NULL : why);
	}
	return err;
}

static int ds_put_pairs(struct sk_buff *skb)
{
	char title[DS_REASON_LEN], why[DS_REASON_LEN];
	unsigned int i;
	int err = 0;

	for (i = 1; i < __DS_PAIR_MAX && !err; i++) {
		ds_pair_title(i, title, sizeof(title));
		err = ds_put_item(skb, DS_CLASS_PAIR, i, ds_pair_name[i], title,
				  ds_pair_available(i, why, sizeof(why)) ?
				  NULL : why);
	}
	return err;
}

static int ds_get_caps(struct sk_buff *in, struct genl_info *info)
{
	struct sk_buff *skb = genlmsg_new(DS_CAPS_SIZE, GFP_KERNEL);
	const char *reason = ds_layout_reason();
	void *head;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &ds_family, 0, DS_CMD_GET_CAPS);
	if (!head ||
	    nla_put_string(skb, DS_A_RELEASE, init_utsname()->release) ||
	    nla_put_string(skb, DS_A_VERSION, DS_VERSION) ||
	    nla_put_u32(skb, DS_A_BATCH_SIZE, DS_BATCH_SIZE) ||
	    nla_put_u8(skb, DS_A_MGLRU, !!ds_mglru()) ||
	    nla_put_u32(skb, DS_A_OWNER, ds_owner_pid()) ||
	    nla_put_string(skb, DS_A_STATE, ds_state_name(ds_state())) ||
	    nla_put_u32(skb, DS_A_FIX, ds_fix()) ||
	    (reason && nla_put_string(skb, DS_A_REASON, reason)) ||
	    ds_put_symbols(skb) || ds_put_kinds(skb) || ds_put_probes(skb) ||
	    ds_put_invariants(skb) || ds_put_faults(skb) ||
	    ds_put_pairs(skb)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

/* ---- commands of the owner ---- */

static int ds_refuse(struct genl_info *info, int attr, const char *why, int err)
{
	if (attr)
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	if (info->extack)
		info->extack->_msg = why;
	return err;
}

static bool ds_missing(struct genl_info *info, int attr)
{
	return !info->attrs[attr];
}

static int ds_parse_cpus(struct genl_info *info, struct cpumask *cpus)
{
	if (!info->attrs[DS_A_CPUS]) {
		cpumask_copy(cpus, cpu_online_mask);
		return 0;
	}
	if (cpulist_parse(nla_data(info->attrs[DS_A_CPUS]), cpus))
		return ds_refuse(info, DS_A_CPUS,
				 "CPUS: not a list of CPU numbers such as 0-3,5",
				 -EINVAL);
	if (cpumask_empty(cpus) || !cpumask_subset(cpus, cpu_online_mask))
		return ds_refuse(info, DS_A_CPUS,
				 "CPUS: empty, or names a CPU that is not online",
				 -EINVAL);
	return 0;
}

/*
 * Older kernels cannot format into the extack: the text is kept here, and read
 * again right after the handler.
 */
static void ds_say_busy(struct genl_info *info, pid_t pid)
{
#ifdef NL_SET_ERR_MSG_FMT
	NL_SET_ERR_MSG_FMT(info->extack, "already in use by pid %d", pid);
#else
	static char texts[64][40];
	static atomic_t next;
	char *text = texts[(unsigned int)atomic_inc_return(&next) % 64];

	snprintf(text, sizeof(texts[0]), "already in use by pid %d", pid);
	if (info->extack)
		info->extack->_msg = text;
#endif
}

/* Claims the module for the sender; the text of a refusal names the owner. */
static int ds_own(struct genl_info *info)
{
	pid_t pid;
	int err = ds_claim(info->snd_portid, &pid);

	if (err)
		ds_say_busy(info, pid);
	return err;
}

static struct ds_request *ds_request(struct genl_info *info, u32 command)
{
	struct ds_request *req = ds_request_alloc(command);

	if (PTR_ERR_OR_ZERO(req) == -EAGAIN)
		ds_refuse(info, 0, "too many requests are waiting to be done",
			  -EAGAIN);
	return req;
}

/*
 * Answers with the id of @req, then queues it: its DONE event comes after the
 * answer, and what could not be answered is not done.
 */
static int ds_answer_queued(struct ds_request *req, struct genl_info *info)
{
	struct sk_buff *skb;
	void *head;
	int err;

	err = ds_own(info);
	if (err)
		goto free;
	err = -ENOMEM;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		goto free;
	head = genlmsg_put_reply(skb, info, &ds_family, 0, req->command);
	if (!head || nla_put_u32(skb, DS_A_REQUEST, req->id)) {
		nlmsg_free(skb);
		goto free;
	}
	genlmsg_end(skb, head);
	err = genlmsg_reply(skb, info);
	if (err)
		goto free;
	ds_request_queue(req);
	return 0;
free:
	ds_request_free(req);
	return err;
}

static int ds_fill_cmd(struct sk_buff *in, struct genl_info *info)
{
	char why[DS_REASON_LEN];
	struct ds_request *req;
	u32 kind, count;
	int err;

	if (ds_missing(info, DS_A_KIND))
		return ds_refuse(info, 0, "KIND: which batch kind is missing",
				 -EINVAL);
	if (ds_missing(info, DS_A_COUNT))
		return ds_refuse(info, 0, "COUNT: how many folios is missing",
				 -EINVAL);
	kind = nla_get_u32(info->attrs[DS_A_KIND]);
	count = nla_get_u32(info->attrs[DS_A_COUNT]);
	if (!kind || kind >= __DS_BATCH_MAX)
		return ds_refuse(info, DS_A_KIND, "KIND: no such batch kind",
				 -EINVAL);
	if (!count || count > DS_BATCH_SIZE - 1)
		return ds_refuse(info, DS_A_COUNT,
				 "COUNT: takes 1 to batch size - 1; a full batch is moved at once",
				 -ERANGE);
	if (!ds_batch_available(kind, why, sizeof(why)))
		return ds_refuse(info, DS_A_KIND, ds_layout_reason() ?:
				 "KIND: not available on this kernel, see caps",
				 -EOPNOTSUPP);
	req = ds_request(info, DS_CMD_FILL);
	if (IS_ERR(req))
		return PTR_ERR(req);
	req->kind = kind;
	req->count = count;
	err = ds_parse_cpus(info, &req->config.cpus);
	if (err) {
		ds_request_free(req);
		return err;
	}
	return ds_answer_queued(req, info);
}

static int ds_drain_cmd(struct sk_buff *in, struct genl_info *info)
{
	char why[DS_REASON_LEN];
	struct ds_request *req;
	u32 drain;
	int err;

	if (ds_missing(info, DS_A_DRAIN))
		return ds_refuse(info, 0, "DRAIN: which drain kind is missing",
				 -EINVAL);
	drain = nla_get_u32(info->attrs[DS_A_DRAIN]);
	if (!drain || drain >= __DS_DRAIN_MAX)
		return ds_refuse(info, DS_A_DRAIN, "DRAIN: no such drain kind",
				 -EINVAL);
	if (!ds_drain_available(drain, why, sizeof(why)))
		return ds_refuse(info, DS_A_DRAIN, ds_layout_reason() ?:
				 "DRAIN: not available on this kernel, see caps",
				 -EOPNOTSUPP);
	req = ds_request(info, DS_CMD_DRAIN);
	if (IS_ERR(req))
		return PTR_ERR(req);
	req->drain = drain;
	err = ds_parse_cpus(info, &req->config.cpus);
	if (err) {
		ds_request_free(req);
		return err;
	}
	return ds_answer_queued(req, info);
}

/* An optional mask attribute with bits for ids 1 .. @n. */
static int ds_parse_mask(struct genl_info *info, int attr, unsigned int n,
			 u32 *mask)
{
	u64 value = GENMASK_ULL(n - 1, 0);

	if (info->attrs[attr])
		value = nla_get_u64(info->attrs[attr]);
	if (value & ~GENMASK_ULL(n - 1, 0))
		return ds_refuse(info, attr, attr == DS_A_KINDS ?
				 "KINDS: has a bit for no batch kind" :
				 attr == DS_A_PAIRS ?
				 "PAIRS: has a bit for no pair" :
				 "DRAINS: has a bit for no drain kind", -EINVAL);
	*mask = value;
	return 0;
}

static const struct nla_policy ds_fault_policy[DS_FA_MAX + 1] = {
	[DS_FA_ID] = { .type = NLA_U32 },
	[DS_FA_ONE_IN] = { .type = NLA_U32 },
	[DS_FA_MIN_US] = { .type = NLA_U32 },
	[DS_FA_MAX_US] = { .type = NLA_U32 },
	[DS_FA_EVERY_MS] = { .type = NLA_U32 },
};

/* Takes over an argument that the fault has; false: bad. */
static bool ds_fault_arg(struct nlattr *attr, u32 max, u32 *arg)
{
	if (!attr)
		return true;
	if (!*arg || !nla_get_u32(attr) || nla_get_u32(attr) > max)
		return false;
	*arg = nla_get_u32(attr);
	return true;
}

static int ds_parse_fault(struct genl_info *info, const struct nlattr *nest,
			  struct ds_fault_config *faults)
{
	struct nlattr *tb[DS_FA_MAX + 1];
	char why[DS_REASON_LEN];
	struct ds_fault_args *a;
	u32 id;
	int err;

	err = nla_parse_nested(tb, DS_FA_MAX, nest, ds_fault_policy,
			       info->extack);
	if (err)
		return err;
	id = tb[DS_FA_ID] ? nla_get_u32(tb[DS_FA_ID]) : 0;
	if (!id || id >= __DS_FAULT_MAX)
		return ds_refuse(info, DS_A_FAULTS, "FAULTS: no such fault",
				 -EINVAL);
	if (faults->mask & DS_KIND_BIT(id))
		return ds_refuse(info, DS_A_FAULTS, "FAULTS: a fault twice",
				 -EINVAL);
	a = &faults->args[id];
	*a = ds_fault_defaults[id];
	if (!ds_fault_arg(tb[DS_FA_ONE_IN], DS_FAULT_ONE_IN_MAX, &a->one_in) ||
	    !ds_fault_arg(tb[DS_FA_MIN_US], DS_FAULT_US_MAX, &a->min_us) ||
	    !ds_fault_arg(tb[DS_FA_MAX_US], DS_FAULT_US_MAX, &a->max_us) ||
	    !ds_fault_arg(tb[DS_FA_EVERY_MS], DS_FAULT_EVERY_MAX_MS,
			  &a->every_ms) || a->min_us > a->max_us)
		return ds_refuse(info, DS_A_FAULTS,
				 "FAULTS: an argument that the fault does not take, or out of range",
				 -EINVAL);
	if (!ds_fault_available(id, why, sizeof(why)))
		return ds_refuse(info, DS_A_FAULTS,
				 "FAULTS: one is not available on this kernel, see caps",
				 -EOPNOTSUPP);
	faults->mask |= DS_KIND_BIT(id);
	return 0;
}

static int ds_parse_faults(struct genl_info *info,
			   struct ds_race_config *config)
{
	struct nlattr *nest;
	int rem, err;

	config->faults.seed = config->seed;
	cpumask_copy(&config->faults.cpus, &config->cpus);
	if (!info->attrs[DS_A_FAULTS])
		return 0;
	nla_for_each_nested(nest, info->attrs[DS_A_FAULTS], rem) {
		err = nla_type(nest) == DS_A_FAULT ? 0 :
		      ds_refuse(info, DS_A_FAULTS, "FAULTS: holds FAULT only",
				-EINVAL);
		err = err ?: ds_parse_fault(info, nest, &config->faults);
		if (err)
			return err;
	}
	return rem ? ds_refuse(info, DS_A_FAULTS, "FAULTS: bytes are left over",
			       -EINVAL) : 0;
}

static int ds_parse_align(struct genl_info *info, struct ds_race_config *config)
{
	int err = ds_parse_mask(info, DS_A_PAIRS, DS_NR_PAIRS, &config->pairs);

	config->align = DS_ALIGN_OFF;
	if (info->attrs[DS_A_ALIGN])
		config->align = nla_get_u8(info->attrs[DS_A_ALIGN]);
	if (!info->attrs[DS_A_PAIRS] && config->align == DS_ALIGN_ON)
		config->pairs &= ~ds_pairs_rare;
	return err;
}

static const struct nla_policy ds_script_policy[DS_SC_MAX + 1] = {
	[DS_SC_CPU] = { .type = NLA_U32 },
	[DS_SC_STEPS] = { .type = NLA_BINARY },
};

/* Appends the decisions that one u64 of DS_SC_STEPS stands for. */
static bool ds_script_add(struct ds_script *s, u64 step)
{
	u64 index = step / DS_SCRIPT_RUN, more = step % DS_SCRIPT_RUN;

	if (more >= DS_DECISIONS - s->nr)
		return false;
	do {
		s->index[s->nr++] = index++;
	} while (more--);
	return true;
}

static int ds_parse_script(struct genl_info *info, const struct nlattr *nest,
			   struct ds_race_config *config)
{
	struct nlattr *tb[DS_SC_MAX + 1];
	struct ds_script *s;
	unsigned int i, nr;
	u32 cpu;
	u64 step;
	int err;

	err = nla_parse_nested(tb, DS_SC_MAX, nest, ds_script_policy,
			       info->extack);
	if (err)
		return err;
	if (!tb[DS_SC_CPU] || !tb[DS_SC_STEPS])
		return ds_refuse(info, DS_A_SCRIPT,
				 "SCRIPT: CPU or STEPS is missing", -EINVAL);
	cpu = nla_get_u32(tb[DS_SC_CPU]);
	if (cpu == DS_SCRIPT_FAR)
		cpu = nr_cpu_ids;
	else if (cpu >= nr_cpu_ids || !cpumask_test_cpu(cpu, &config->cpus))
		return ds_refuse(info, DS_A_SCRIPT,
				 "SCRIPT: a CPU that does not race", -EINVAL);
	nr = nla_len(tb[DS_SC_STEPS]) / sizeof(step);
	if (!nr || nr > DS_DECISIONS || nla_len(tb[DS_SC_STEPS]) % sizeof(step))
		return ds_refuse(info, DS_A_SCRIPT,
				 "SCRIPT: STEPS takes 1 to 4096 numbers of 64 bits",
				 -EINVAL);
	if (!config->scripts)
		config->scripts = ds_scripts_alloc();
	s = config->scripts ? &config->scripts[cpu] : NULL;
	if (s && s->nr)
		return ds_refuse(info, DS_A_SCRIPT, "SCRIPT: a CPU twice",
				 -EINVAL);
	if (s)
		s->index = kvmalloc_array(DS_DECISIONS, sizeof(u64), GFP_KERNEL);
	if (!s || !s->index)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		memcpy(&step, nla_data(tb[DS_SC_STEPS]) + i * sizeof(step),
		       sizeof(step));
		if (!ds_script_add(s, step))
			return ds_refuse(info, DS_A_SCRIPT,
					 "SCRIPT: more than 4096 decisions",
					 -EINVAL);
	}
	return 0;
}

/* There may be several: info->attrs has only the last. */
static int ds_parse_scripts(struct genl_info *info,
			    struct ds_race_config *config)
{
	struct nlattr *attr;
	int rem, err = 0;

	if (!info->attrs[DS_A_SCRIPT])
		return 0;
	if (config->race != DS_RACE_FULL)
		return ds_refuse(info, DS_A_SCRIPT,
				 "SCRIPT: only a full race has one", -EINVAL);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == DS_A_SCRIPT)
			err = ds_parse_script(info, attr, config);
		if (err)
			return err;
	}
	return 0;
}

static int ds_race_start_cmd(struct sk_buff *in, struct genl_info *info)
{
	struct ds_race_config *config;
	struct ds_request *req;
	const char *missing;
	int err;

	if (ds_missing(info, DS_A_SEED))
		return ds_refuse(info, 0, "SEED: missing", -EINVAL);
	req = ds_request(info, DS_CMD_RACE_START);
	if (IS_ERR(req))
		return PTR_ERR(req);
	config = &req->config;
	config->seed = nla_get_u64(info->attrs[DS_A_SEED]);
	config->stutter_ms = 1000;
	config->race = DS_RACE_FULL;
	config->accounting = true;
	if (info->attrs[DS_A_STUTTER_MS])
		config->stutter_ms = nla_get_u32(info->attrs[DS_A_STUTTER_MS]);
	if (info->attrs[DS_A_RACE])
		config->race = nla_get_u8(info->attrs[DS_A_RACE]);
	if (info->attrs[DS_A_ACCOUNTING])
		config->accounting = nla_get_u8(info->attrs[DS_A_ACCOUNTING]);
	err = 0;
	config->online_rate = DS_ONLINE_RATE;
	if (info->attrs[DS_A_ONLINE_RATE])
		config->online_rate = nla_get_u32(info->attrs[DS_A_ONLINE_RATE]);
	if (config->online_rate > DS_ONLINE_RATE_MAX)
		err = ds_refuse(info, DS_A_ONLINE_RATE,
				"ONLINE_RATE: takes 0 to 10000", -ERANGE);
	if (info->attrs[DS_A_CGROUP]) {
		config->memcg = nla_get_u64(info->attrs[DS_A_CGROUP]);
		missing = ds_memcg_find(config->memcg);
		if (missing)
			err = ds_refuse(info, DS_A_CGROUP, missing, -ENOENT);
	}
	if (config->stutter_ms > DS_STUTTER_MAX_MS)
		err = ds_refuse(info, DS_A_STUTTER_MS,
				"STUTTER_MS: takes 0 to 60000", -ERANGE);
	err = err ?:
	      ds_parse_mask(info, DS_A_KINDS, DS_NR_BATCH_KINDS, &config->kinds) ?:
	      ds_parse_mask(info, DS_A_DRAINS, DS_NR_DRAIN_KINDS,
			    &config->drains) ?:
	      ds_parse_cpus(info, &config->cpus) ?:
	      ds_parse_align(info, config) ?: ds_parse_faults(info, config) ?:
	      ds_parse_scripts(info, config);
	if (!err && config->race && ds_layout_reason())
		err = ds_refuse(info, 0, ds_layout_reason(), -EOPNOTSUPP);
	if (err) {
		ds_request_free(req);
		return err;
	}
	return ds_answer_queued(req, info);
}

static int ds_race_stop_cmd(struct sk_buff *in, struct genl_info *info)
{
	struct ds_request *req = ds_request(info, DS_CMD_RACE_STOP);

	return IS_ERR(req) ? PTR_ERR(req) : ds_answer_queued(req, info);
}

static int ds_check_cmd(struct sk_buff *in, struct genl_info *info)
{
	u64 mask = 0, all = 0, cgroup = 0;
	struct ds_request *req;
	unsigned int i;

	for (i = 0; i < ds_nr_invariants; i++)
		all |= DS_INV_BIT(ds_invariants[i].id);
	mask = all;
	if (info->attrs[DS_A_INVARIANTS])
		mask = nla_get_u64(info->attrs[DS_A_INVARIANTS]);
	if (!mask || (mask & ~all))
		return ds_refuse(info, DS_A_INVARIANTS,
				 "INVARIANTS: empty, or has a bit for no invariant",
				 -EINVAL);
	if (info->attrs[DS_A_CGROUP]) {
		cgroup = nla_get_u64(info->attrs[DS_A_CGROUP]);
		if (!cgroup || !ds_cgroup_exists(cgroup))
			return ds_refuse(info, DS_A_CGROUP,
					 "CGROUP: no memory cgroup has this number",
					 -ENOENT);
		if (!info->attrs[DS_A_INVARIANTS])
			mask = DS_INV_OF_LISTS;
		if (mask & ~DS_INV_OF_LISTS)
			return ds_refuse(info, DS_A_INVARIANTS,
					 "INVARIANTS: only I11 to I15 are about one CGROUP",
					 -EINVAL);
	}
	if (ds_layout_reason())
		return ds_refuse(info, 0, ds_layout_reason(), -EOPNOTSUPP);
	req = ds_request(info, DS_CMD_CHECK);
	if (IS_ERR(req))
		return PTR_ERR(req);
	req->mask = mask;
	req->cgroup = cgroup;
	return ds_answer_queued(req, info);
}

static int ds_plant_cmd(struct sk_buff *in, struct genl_info *info)
{
	struct ds_request *req;
	unsigned int i;

	if (ds_missing(info, DS_A_NAME))
		return ds_refuse(info, 0, "NAME: which planted fault is missing",
				 -EINVAL);
	if (!ds_plant_allowed)
		return ds_refuse(info, 0,
				 "planted faults want the module parameter plant=1",
				 -EPERM);
	for (i = 0; i < ds_nr_plants; i++) {
		if (!nla_strcmp(info->attrs[DS_A_NAME], ds_plants[i].name))
			break;
	}
	if (i == ds_nr_plants)
		return ds_refuse(info, DS_A_NAME, "NAME: no such planted fault",
				 -ENOENT);
	if (info->attrs[DS_A_BRIEF] && nla_get_u8(info->attrs[DS_A_BRIEF]) &&
	    !ds_plants[i].brief)
		return ds_refuse(info, DS_A_BRIEF,
				 "BRIEF: this planted fault cannot be brief",
				 -EINVAL);
	req = ds_request(info, DS_CMD_PLANT);
	if (IS_ERR(req))
		return PTR_ERR(req);
	req->plant = &ds_plants[i];
	req->brief = info->attrs[DS_A_BRIEF] && nla_get_u8(info->attrs[DS_A_BRIEF]);
	return ds_answer_queued(req, info);
}

/* ---- dumps: cb->args[0] is the number of the next message ---- */

/*
 * Calls @put for message 0, 1, .. until it says -ENOENT (no more) or a message
 * no longer fits.  -ENODATA: this one has nothing to tell and is left out.
 */
static int ds_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		   int (*put)(struct sk_buff *skb, unsigned long n))
{
	unsigned long n;

	for (n = cb->args[0];; n++) {
		void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
					 cb->nlh->nlmsg_seq, &ds_family,
					 NLM_F_MULTI, cmd);
		int err = head ? put(skb, n) : -EMSGSIZE;

		if (err) {
			if (head)
				genlmsg_cancel(skb, head);
			if (err == -ENODATA) {
				cond_resched();
				continue;
			}
			cb->args[0] = n;
			if (err == -EMSGSIZE && !skb->len)
				return err;
			return err == -ENOENT || err == -EMSGSIZE ?
				skb->len : err;
		}
		genlmsg_end(skb, head);
	}
}

static int ds_put_cpu_kinds(struct sk_buff *skb, const char *prefix,
			    const u64 *values)
{
	char name[40];
	unsigned int i;

	for (i = 1; i < __DS_BATCH_MAX; i++) {
		snprintf(name, sizeof(name), "%s.%s", prefix, ds_batch_name[i]);
		if (ds_put_counter(skb, name, values[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static int ds_put_cpu_drains(struct sk_buff *skb, const char *prefix,
			     const u64 *values)
{
	char name[40];
	unsigned int i;

	for (i = 1; i < __DS_DRAIN_MAX; i++) {
		snprintf(name, sizeof(name), "%s.%s", prefix, ds_drain_name[i]);
		if (ds_put_counter(skb, name, values[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static int ds_put_cpu(struct sk_buff *skb, int cpu)
{
	const struct ds_cpu_stats *s = per_cpu_ptr(&ds_stats, cpu);

	return nla_put_string(skb, DS_A_SCOPE, "cpu") ?:
	       nla_put_u32(skb, DS_A_CPU, cpu) ?:
	       ds_put_cpu_kinds(skb, "fill", s->fill) ?:
	       ds_put_cpu_kinds(skb, "own", s->own) ?:
	       ds_put_cpu_kinds(skb, "moved", s->moved) ?:
	       ds_put_cpu_kinds(skb, "flush.full", s->flush_full) ?:
	       ds_put_cpu_kinds(skb, "flush.early", s->flush_early) ?:
	       ds_put_cpu_kinds(skb, "flush.drain", s->flush_drain) ?:
	       ds_put_counter(skb, "drain.calls", s->drain_calls) ?:
	       ds_put_counter(skb, "drain.empty", s->drain_empty) ?:
	       ds_put_cpu_drains(skb, "call", s->call) ?:
	       ds_put_cpu_drains(skb, "effective", s->effective);
}

/* Of how many folios the batches of each kind were when they were moved. */
static int ds_put_levels(struct sk_buff *skb)
{
	u64 reached[__DS_BATCH_MAX] = { }, least[__DS_BATCH_MAX], sum;
	unsigned int kind, nr;
	int cpu;

	for (kind = 1; kind < __DS_BATCH_MAX; kind++) {
		least[kind] = U64_MAX;
		for (nr = 1; nr <= DS_BATCH_SIZE; nr++) {
			sum = 0;
			for_each_possible_cpu(cpu)
				sum += per_cpu(ds_stats, cpu).level[kind][nr];
			reached[kind] += sum > 0;
			least[kind] = min(least[kind], sum);
		}
	}
	return ds_put_cpu_kinds(skb, "levels", reached) ?:
	       ds_put_cpu_kinds(skb, "level.least", least);
}

static int ds_put_total(struct sk_buff *skb)
{
	struct ds_online_stats online;
	u64 remote = 0, loops = 0;
	struct ds_check_sums sums;
	int cpu;

	for_each_possible_cpu(cpu) {
		remote += per_cpu(ds_stats, cpu).remote;
		loops += per_cpu(ds_stats, cpu).loops;
	}
	ds_check_sums_read(&sums);
	ds_online_read(&online);
	return nla_put_string(skb, DS_A_SCOPE, "total") ?:
	       ds_put_levels(skb) ?:
	       ds_put_counter(skb, "remote", remote) ?:
	       ds_put_counter(skb, "race.loops", loops) ?:
	       ds_put_counter(skb, "decisions.high", ds_race_hash() >> 32) ?:
	       ds_put_counter(skb, "decisions.low", (u32)ds_race_hash()) ?:
	       ds_put_counter(skb, "checks", ds_checks_done()) ?:
	       ds_put_counter(skb, "check.folios", sums.folios) ?:
	       ds_put_counter(skb, "check.walk_ns", sums.walk_ns) ?:
	       ds_put_counter(skb, "check.looks", sums.looks) ?:
	       ds_put_counter(skb, "check.pause_max_ns", sums.pause_max_ns) ?:
	       ds_put_counter(skb, "online.samples", online.samples) ?:
	       ds_put_counter(skb, "online.folios", online.folios) ?:
	       ds_put_counter(skb, "online.suspects", online.suspects) ?:
	       ds_put_counter(skb, "online.unresolved", online.unresolved) ?:
	       ds_put_counter(skb, "online.hold_p50_ns", online.hold_p50_ns) ?:
	       ds_put_counter(skb, "online.hold_max_ns", online.hold_max_ns) ?:
	       ds_put_counter(skb, "online.pause_max_ns", online.pause_max_ns);
}

static int ds_put_probe(struct sk_buff *skb, unsigned int i)
{
	struct ds_probe_info info;

	ds_probe_read(i, &info);
	return nla_put_string(skb, DS_A_SCOPE, "probe") ?:
	       nla_put_string(skb, DS_A_NAME, info.name) ?:
	       ds_put_counter(skb, "missed", info.missed);
}

static int ds_put_fault(struct sk_buff *skb, unsigned int fault)
{
	struct ds_fault_sums sum;

	ds_fault_read(fault, &sum);
	return nla_put_string(skb, DS_A_SCOPE, "fault") ?:
	       nla_put_string(skb, DS_A_NAME, ds_fault_name[fault]) ?:
	       ds_put_counter(skb, "hits", sum.hits) ?:
	       ds_put_counter(skb, "done", sum.done) ?:
	       ds_put_counter(skb, "ns", sum.ns);
}

static int ds_put_align_bins(struct sk_buff *skb,
			     const struct ds_align_stats *stats)
{
	char name[16];
	unsigned int i;

	for (i = 0; i < DS_ALIGN_BINS; i++) {
		snprintf(name, sizeof(name), "bin.%u", i);
		if (ds_put_counter(skb, name, stats->bins[i]))
			return -EMSGSIZE;
	}
	return ds_put_counter(skb, "outside", stats->outside);
}

static int ds_put_align(struct sk_buff *skb, unsigned int pair)
{
	struct ds_align_stats stats;

	ds_align_read(pair, &stats);
	return nla_put_string(skb, DS_A_SCOPE, "align") ?:
	       nla_put_string(skb, DS_A_NAME, ds_pair_name[pair]) ?:
	       ds_put_counter(skb, "rounds", stats.rounds) ?:
	       ds_put_counter(skb, "overlaps", stats.overlaps) ?:
	       ds_put_counter(skb, "ns", stats.ns) ?:
	       ds_put_counter(skb, "missed", stats.missed) ?:
	       ds_put_counter(skb, "failed", stats.failed) ?:
	       ds_put_align_bins(skb, &stats) ?:
	       ds_put_counter(skb, "len_ns.a", stats.len[0]) ?:
	       ds_put_counter(skb, "len_ns.b", stats.len[1]) ?:
	       ds_put_counter(skb, "busy_ns.a", stats.busy[0]) ?:
	       ds_put_counter(skb, "busy_ns.b", stats.busy[1]) ?:
	       ds_put_counter(skb, "free.actions.a", stats.free_actions[0]) ?:
	       ds_put_counter(skb, "free.actions.b", stats.free_actions[1]) ?:
	       ds_put_counter(skb, "free.overlaps", stats.free_overlaps) ?:
	       ds_put_counter(skb, "free.ns", stats.free_ns);
}

static int ds_put_race(struct sk_buff *skb, int cpu)
{
	unsigned int i;
	char name[16];
	u64 decisions;
	int err;

	ds_race_read(cpu, 0, &decisions);
	err = nla_put_string(skb, DS_A_SCOPE, "race") ?:
	      (cpu >= 0 ? nla_put_u32(skb, DS_A_CPU, cpu) : 0) ?:
	      ds_put_counter(skb, "decisions", decisions);
	for (i = 1; i <= DS_MAX_INVARIANT && !err; i++) {
		if (!ds_race_read(cpu, i, &decisions))
			continue;
		snprintf(name, sizeof(name), "mark.%u", i);
		err = ds_put_counter(skb, name, decisions);
	}
	return err;
}

/* A histogram may be longer than a message: so many buckets each. */
#define DS_PIECE	32U
#define DS_PIECES	DIV_ROUND_UP(DS_HIST_BUCKETS, DS_PIECE)

static int ds_put_latency(struct sk_buff *skb, unsigned int which,
			  unsigned int piece)
{
	u32 i, end = min((piece + 1) * DS_PIECE, DS_HIST_BUCKETS);
	u64 pairs[2 * DS_PIECE], hits, count, max;
	unsigned int nr = 0;
	int err;

	for (i = piece * DS_PIECE; i < end; i++) {
		hits = ds_latency_bucket(which, i);
		if (!hits)
			continue;
		pairs[nr++] = ds_hist_lower(i);
		pairs[nr++] = hits;
	}
	if (piece && !nr)
		return -ENODATA;
	err = nla_put_string(skb, DS_A_SCOPE, "latency") ?:
	      nla_put_string(skb, DS_A_NAME, ds_latency_name[which]);
	if (!err && nr)
		err = nla_put(skb, DS_A_BUCKETS, nr * sizeof(*pairs), pairs);
	if (err || piece)
		return err;
	ds_latency_read(which, &count, &max);
	return ds_put_counter(skb, "count", count) ?:
	       ds_put_counter(skb, "max_ns", max);
}

static int ds_put_stats(struct sk_buff *skb, unsigned long n)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!n--)
			return ds_put_cpu(skb, cpu);
	}
	if (!n--)
		return ds_put_total(skb);
	if (n < ds_nr_probes())
		return ds_put_probe(skb, n);
	n -= ds_nr_probes();
	if (n < DS_NR_FAULTS)
		return ds_put_fault(skb, n + 1);
	n -= DS_NR_FAULTS;
	if (n < DS_NR_PAIRS)
		return ds_put_align(skb, n + 1);
	n -= DS_NR_PAIRS;
	if (!n--)
		return ds_put_race(skb, -1);
	for_each_possible_cpu(cpu) {
		if (!n--)
			return ds_put_race(skb, cpu);
	}
	if (n < DS_NR_LATENCIES * DS_PIECES)
		return ds_put_latency(skb, n / DS_PIECES, n % DS_PIECES);
	return -ENOENT;
}

static int ds_get_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ds_dump(skb, cb, DS_CMD_GET_STATS, ds_put_stats);
}

static int ds_put_usage(struct sk_buff *skb, unsigned long n)
{
	static const char *const buckets[DS_USAGE_BUCKETS] = {
		"drains.0", "drains.1", "drains.2", "drains.3", "drains.4+",
	};
	struct ds_usage_stats s;
	unsigned int i;
	int err;

	if (n >= DS_NR_ENTRIES)
		return -ENOENT;
	ds_usage_read(n, &s);
	err = nla_put_string(skb, DS_A_NAME, ds_usage_entry_name(n)) ?:
	      ds_put_counter(skb, "usages", s.usages) ?:
	      ds_put_counter(skb, "releases", s.releases) ?:
	      ds_put_counter(skb, "drains", s.drains) ?:
	      ds_put_counter(skb, "max", s.max);
	for (i = 0; i < DS_USAGE_BUCKETS && !err; i++)
		err = ds_put_counter(skb, buckets[i], s.hist[i]);
	return err;
}

static int ds_get_usage(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ds_dump(skb, cb, DS_CMD_GET_USAGE, ds_put_usage);
}

static int ds_put_result(struct sk_buff *skb, unsigned long n)
{
	struct ds_request_result request;
	const struct ds_invariant *inv;
	char why[DS_REASON_LEN], name[8];
	struct ds_result *r;
	int err;

	if (n >= ds_nr_invariants) {
		if (!ds_request_read(n - ds_nr_invariants, &request))
			return -ENOENT;
		return ds_put_request(skb, &request);
	}
	inv = &ds_invariants[n];
	r = kmalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	ds_result_read(inv->id, r);
	snprintf(name, sizeof(name), "I%u", inv->id);
	err = nla_put_u32(skb, DS_A_INVARIANT, inv->id) ?:
	      nla_put_string(skb, DS_A_NAME, name) ?:
	      nla_put_u64_64bit(skb, DS_A_CHECKED, r->checked, DS_A_PAD) ?:
	      nla_put_u64_64bit(skb, DS_A_VIOLATIONS, r->violations, DS_A_PAD);
	if (!err && !ds_invariant_available(inv, why, sizeof(why)))
		err = nla_put_string(skb, DS_A_REASON, why);
	if (!err && r->has_first)
		err = ds_put_violation(skb, &r->first);
	kfree(r);
	return err;
}

static int ds_get_results(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ds_dump(skb, cb, DS_CMD_GET_RESULTS, ds_put_result);
}

/* ---- events ---- */

static struct sk_buff *ds_event_begin(u32 type, void **head)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	/* The sequence number moves on even so: a lost event leaves a gap. */
	ds_event_seq++;
	if (!skb)
		return NULL;
	*head = genlmsg_put(skb, 0, 0, &ds_family, 0, DS_CMD_EVENT);
	if (!*head || nla_put_u32(skb, DS_A_EVENT, type) ||
	    nla_put_u32(skb, DS_A_SEQ, ds_event_seq)) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static void ds_event_send(struct sk_buff *skb, void *head, int err)
{
	if (err) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	/* -ESRCH only says that nobody listens. */
	genlmsg_multicast(&ds_family, skb, 0, 0, GFP_KERNEL);
}

/* All events: process context, may sleep; nothing once the family is gone. */
void ds_event_violation(const struct ds_violation *v)
{
	struct sk_buff *skb;
	void *head;

	mutex_lock(&ds_event_lock);
	if (ds_events_on) {
		skb = ds_event_begin(DS_EVENT_VIOLATION, &head);
		if (skb)
			ds_event_send(skb, head, ds_put_violation(skb, v));
	}
	mutex_unlock(&ds_event_lock);
}

void ds_event_state(const char *state)
{
	struct sk_buff *skb;
	void *head;

	mutex_lock(&ds_event_lock);
	if (ds_events_on) {
		skb = ds_event_begin(DS_EVENT_STATE, &head);
		if (skb)
			ds_event_send(skb, head,
				      nla_put_string(skb, DS_A_STATE, state));
	}
	mutex_unlock(&ds_event_lock);
}

void ds_event_done(const struct ds_request_result *result)
{
	struct sk_buff *skb;
	void *head;

	mutex_lock(&ds_event_lock);
	if (ds_events_on) {
		skb = ds_event_begin(DS_EVENT_DONE, &head);
		if (skb)
			ds_event_send(skb, head, ds_put_request(skb, result));
	}
	mutex_unlock(&ds_event_lock);
}

static int ds_put_progress(struct sk_buff *skb, u64 stalled_ms)
{
	u64 fills = 0, moved = 0, effective = 0, usages = 0, most = 0;
	struct ds_usage_stats usage;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ds_cpu_stats *s = per_cpu_ptr(&ds_stats, cpu);

		for (i = 1; i < __DS_BATCH_MAX; i++) {
			fills += s->fill[i];
			moved += s->moved[i];
			effective += s->flush_drain[i];
		}
	}
	for (i = 0; i < DS_NR_ENTRIES; i++) {
		ds_usage_read(i, &usage);
		usages += usage.usages;
		most = max(most, usage.max);
	}
	return ds_put_counter(skb, "fills", fills) ?:
	       ds_put_counter(skb, "drains_effective", effective) ?:
	       ds_put_counter(skb, "moved", moved) ?:
	       ds_put_counter(skb, "usages", usages) ?:
	       ds_put_counter(skb, "usage_max", most) ?:
	       ds_put_counter(skb, "violations", ds_violations_total()) ?:
	       ds_put_counter(skb, "decisions.high", ds_race_hash() >> 32) ?:
	       ds_put_counter(skb, "decisions.low", (u32)ds_race_hash()) ?:
	       ds_put_counter(skb, "checks", ds_checks_done()) ?:
	       ds_put_counter(skb, "stalled_ms", stalled_ms);
}

void ds_event_progress(void)
{
	struct sk_buff *skb;
	u64 stalled_ms;
	void *head;

	ds_drain_watch(&stalled_ms);
	mutex_lock(&ds_event_lock);
	if (ds_events_on) {
		skb = ds_event_begin(DS_EVENT_PROGRESS, &head);
		if (skb)
			ds_event_send(skb, head,
				      ds_put_progress(skb, stalled_ms));
	}
	mutex_unlock(&ds_event_lock);
}

/* ---- the family ---- */

static const struct nla_policy ds_policy[DS_A_MAX + 1] = {
	[DS_A_KIND] = { .type = NLA_U32 },
	[DS_A_DRAIN] = { .type = NLA_U32 },
	[DS_A_COUNT] = { .type = NLA_U32 },
	[DS_A_CPUS] = { .type = NLA_NUL_STRING, .len = DS_STRING_MAX - 1 },
	[DS_A_SEED] = { .type = NLA_U64 },
	[DS_A_KINDS] = { .type = NLA_U64 },
	[DS_A_DRAINS] = { .type = NLA_U64 },
	[DS_A_STUTTER_MS] = { .type = NLA_U32 },
	[DS_A_ONLINE_RATE] = { .type = NLA_U32 },
	[DS_A_CGROUP] = { .type = NLA_U64 },
	[DS_A_BRIEF] = { .type = NLA_U8 },
	[DS_A_FAULTS] = { .type = NLA_NESTED },
	[DS_A_ALIGN] = NLA_POLICY_MAX(NLA_U8, DS_ALIGN_COMPARE),
	[DS_A_PAIRS] = { .type = NLA_U64 },
	[DS_A_SCRIPT] = { .type = NLA_NESTED },
	[DS_A_RACE] = NLA_POLICY_MAX(NLA_U8, DS_RACE_BARE),
	[DS_A_ACCOUNTING] = NLA_POLICY_MAX(NLA_U8, 1),
	[DS_A_INVARIANTS] = { .type = NLA_U64 },
	[DS_A_NAME] = { .type = NLA_NUL_STRING, .len = DS_STRING_MAX - 1 },
};

static const struct genl_ops ds_ops[] = {
	{ .cmd = DS_CMD_GET_CAPS, .flags = GENL_ADMIN_PERM, .doit = ds_get_caps },
	{ .cmd = DS_CMD_FILL, .flags = GENL_ADMIN_PERM, .doit = ds_fill_cmd },
	{ .cmd = DS_CMD_DRAIN, .flags = GENL_ADMIN_PERM, .doit = ds_drain_cmd },
	{ .cmd = DS_CMD_RACE_START, .flags = GENL_ADMIN_PERM,
	  .doit = ds_race_start_cmd },
	{ .cmd = DS_CMD_RACE_STOP, .flags = GENL_ADMIN_PERM,
	  .doit = ds_race_stop_cmd },
	{ .cmd = DS_CMD_GET_STATS, .flags = GENL_ADMIN_PERM,
	  .dumpit = ds_get_stats },
	{ .cmd = DS_CMD_GET_USAGE, .flags = GENL_ADMIN_PERM,
	  .dumpit = ds_get_usage },
	{ .cmd = DS_CMD_CHECK, .flags = GENL_ADMIN_PERM, .doit = ds_check_cmd },
	{ .cmd = DS_CMD_GET_RESULTS, .flags = GENL_ADMIN_PERM,
	  .dumpit = ds_get_results },
	{ .cmd = DS_CMD_PLANT, .flags = GENL_ADMIN_PERM, .doit = ds_plant_cmd },
};

static const struct genl_multicast_group ds_groups[] = {
	{
		.name = DRAINSTRESS_MCGRP_EVENTS,
#ifdef GENL_MCAST_CAP_NET_ADMIN
		.flags = GENL_MCAST_CAP_NET_ADMIN,
#endif
	},
};

static struct genl_family ds_family = {
	.name = DRAINSTRESS_GENL_NAME,
	.version = DRAINSTRESS_GENL_VERSION,
	.maxattr = DS_A_MAX,
	.policy = ds_policy,
	.netnsok = false,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = ds_ops,
	.n_ops = ARRAY_SIZE(ds_ops),
	.resv_start_op = __DS_CMD_MAX,
	.mcgrps = ds_groups,
	.n_mcgrps = ARRAY_SIZE(ds_groups),
};

/* A socket was closed, by its program or by the death of it. */
static int ds_socket_closed(struct notifier_block *nb, unsigned long what,
			    void *data)
{
	struct netlink_notify *n = data;

	if (what == NETLINK_URELEASE && n->protocol == NETLINK_GENERIC &&
	    net_eq(n->net, &init_net))
		ds_release(n->portid);
	return NOTIFY_DONE;
}

static struct notifier_block ds_notifier = {
	.notifier_call = ds_socket_closed,
};

int ds_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&ds_notifier);
	if (err)
		return err;
	err = genl_register_family(&ds_family);
	if (err) {
		netlink_unregister_notifier(&ds_notifier);
		return err;
	}
	mutex_lock(&ds_event_lock);
	ds_events_on = true;
	mutex_unlock(&ds_event_lock);
	return 0;
}

void ds_netlink_exit(void)
{
	mutex_lock(&ds_event_lock);
	ds_events_on = false;
	mutex_unlock(&ds_event_lock);
	genl_unregister_family(&ds_family);
	netlink_unregister_notifier(&ds_notifier);
}
