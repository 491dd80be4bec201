// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults to inject: their table, what "--fault NAME[=ARGUMENTS]" says, which of
 * those that are wanted this kernel has, and the module's request for them.  It
 * injects nothing: the module does (kmod/fault.c), and fault_alloc.c.
 */
#include <errno.h>
#include <string.h>

#include "fault.h"
#include "opts.h"

const struct ds_fault_row ds_fault_rows[DS_FAULTS_END] = {
#define ROW(sym, name, title, ...) [DS_FAULT_##sym] = { name, title, { __VA_ARGS__ } },
	DS_FAULTS(ROW)
#undef ROW
	[DS_FAULT_ALLOC] = {
		"alloc-fail", "allocations of the load fail, by the kernel's own fault injection",
		{ .one_in = 1000 }
	},
};

/**
 * ds_fault_default() - a run without "--fault": all of the module's, where there are
 */
void ds_fault_default(struct ds_fault_opts *o)
{
	u32 id;

	memset(o, 0, sizeof(*o));
	o->wanted = DS_FAULT_MODULE;
	for (id = 1; id < DS_FAULTS_END; id++)
		o->args[id] = ds_fault_rows[id].defaults;
}

/**
 * ds_fault_names() - "move, release, .." for messages
 */
void ds_fault_names(char *buf, size_t len)
{
	size_t n = 0;
	u32 id;

	buf[0] = '\0';
	for (id = 1; id < DS_FAULTS_END && n < len; id++)
		n += snprintf(buf + n, len - n, "%s%s", n ? ", " : "", ds_fault_rows[id].name);
}

/**
 * ds_fault_args_text() - the arguments as "--fault" takes them
 */
void ds_fault_args_text(const struct ds_fault_args *a, char *buf, size_t len)
{
	size_t n = 0;

	buf[0] = '\0';
	if (a->one_in)
		n += snprintf(buf + n, len - n, "prob:1/%u", a->one_in);
	if (a->max_us && n < len)
		n += snprintf(buf + n, len - n, "%sus:%u-%u", n ? "," : "", a->min_us, a->max_us);
	if (a->every_ms && n < len)
		snprintf(buf + n, len - n, "%severy:%u", n ? "," : "", a->every_ms);
}

static u32 find(const char *name, size_t len)
{
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		if (strlen(ds_fault_rows[id].name) == len &&
		    !strncmp(ds_fault_rows[id].name, name, len))
			return id;
	}
	return 0;
}

static int take_number(const char *s, u32 max, u32 *out)
{
	u64 val;

	if (ds_opt_number(s, 1, max, &val))
		return -EINVAL;
	*out = val;
	return 0;
}

/* "5-50", or "20" for 20-20. */
static int take_range(char *s, struct ds_fault_args *a)
{
	char *dash = strchr(s, '-');

	if (dash)
		*dash++ = '\0';
	if (take_number(s, DS_FAULT_US_MAX, &a->min_us) ||
	    take_number(dash ? dash : s, DS_FAULT_US_MAX, &a->max_us))
		return -EINVAL;
	return a->min_us > a->max_us ? -EINVAL : 0;
}

/* One of "prob:1/64", "us:5-50", "every:20", when the fault takes such a thing. */
static int take_arg(char *s, struct ds_fault_args *a)
{
	if (a->one_in && !strncmp(s, "prob:1/", 7))
		return take_number(s + 7, DS_FAULT_ONE_IN_MAX, &a->one_in);
	if (a->max_us && !strncmp(s, "us:", 3))
		return take_range(s + 3, a);
	if (a->every_ms && !strncmp(s, "every:", 6))
		return take_number(s + 6, DS_FAULT_EVERY_MAX_MS, &a->every_ms);
	return -EINVAL;
}

static void say_takes(const struct ds_fault_args *a, const char *bad, char *why, size_t len)
{
	size_t n = snprintf(why, len, "'%s' is not what it takes:", bad);

	if (a->one_in && n < len)
		n += snprintf(why + n, len - n, " prob:1/N with N from 1 to %d",
			      DS_FAULT_ONE_IN_MAX);
	if (a->max_us && n < len)
		n += snprintf(why + n, len - n, "%s us:MIN-MAX from 1 to %d",
			      a->one_in ? "," : "", DS_FAULT_US_MAX);
	if (a->every_ms && n < len)
		snprintf(why + n, len - n, "%s every:MS from 1 to %d", a->max_us ? "," : "",
			 DS_FAULT_EVERY_MAX_MS);
}

/**
 * ds_fault_take() - one "--fault"
 * @arg: none, all, or NAME[=ARGUMENT,...]; the first one puts the default off
 * @why: gets what is wrong
 *
 * Return: 0 or -EINVAL.
 */
int ds_fault_take(struct ds_fault_opts *o, const char *arg, char *why, size_t len)
{
	size_t name = strcspn(arg, "=");
	struct ds_fault_args a;
	char text[256], names[256], *s, *word;
	u32 id;

	if (o->nr_words == DS_FAULT_WORDS) {
		snprintf(why, len, "stands more than %d times", DS_FAULT_WORDS);
		return -EINVAL;
	}
	if (!o->nr_words)
		o->wanted = 0;
	o->words[o->nr_words++] = arg;
	if (!strcmp(arg, "none")) {
		o->wanted = 0;
		o->named = 0;
		return 0;
	}
	if (!strcmp(arg, "all")) {
		o->wanted = DS_FAULT_BIT(DS_FAULTS_END) - 1;
		return 0;
	}
	id = find(arg, name);
	if (!id) {
		ds_fault_names(names, sizeof(names));
		snprintf(why, len, "takes none, all, or NAME[=ARGUMENT,...] of %s", names);
		return -EINVAL;
	}
	if (strlen(arg) >= sizeof(text)) {
		snprintf(why, len, "is longer than %zu characters", sizeof(text) - 1);
		return -EINVAL;
	}
	a = ds_fault_rows[id].defaults;
	snprintf(text, sizeof(text), "%s", arg[name] ? arg + name + 1 : "");
	for (s = text; arg[name] && s;) {
		char bad[64];

		word = strsep(&s, ",");
		snprintf(bad, sizeof(bad), "%s", word);
		if (take_arg(word, &a)) {
			say_takes(&a, bad, why, len);
			return -EINVAL;
		}
	}
	o->args[id] = a;
	o->wanted |= DS_FAULT_BIT(id);
	o->named |= DS_FAULT_BIT(id);
	return 0;
}

/**
 * ds_fault_available() - has this kernel the fault?
 * @caps: the module's answer
 * @why: gets the reason when not
 */
bool ds_fault_available(const struct ds_msg *caps, u32 id, char *why, size_t len)
{
	unsigned int i;

	if (id == DS_FAULT_ALLOC)
		return ds_alloc_fail_available("", why, len);
	for (i = 0; i < caps->nr_items; i++) {
		const struct ds_item *item = &caps->items[i];

		if (item->class != DS_CLASS_FAULT || item->id != id)
			continue;
		snprintf(why, len, "%s", item->reason);
		return item->available;
	}
	snprintf(why, len, "the module does not know it: is it older than drainctl?");
	return false;
}

/**
 * ds_fault_settle() - leave out what there is not
 *
 * Return: 0, or -1 and @err when one that was named is not available.
 */
int ds_fault_settle(struct ds_fault_opts *o, const struct ds_msg *caps, struct ds_err *err)
{
	char why[256];
	u32 id;

	for (id = 1; id < DS_FAULTS_END; id++) {
		if (!(o->wanted & DS_FAULT_BIT(id)) ||
		    ds_fault_available(caps, id, why, sizeof(why)))
			continue;
		if (o->named & DS_FAULT_BIT(id))
			return ds_error(err, DS_EXIT_SKIP, 0, "--fault %s: not on this kernel: %s",
					ds_fault_rows[id].name, why);
		o->wanted &= ~DS_FAULT_BIT(id);
	}
	return 0;
}

static struct ds_arg number(u16 attr, u32 value)
{
	return (struct ds_arg){ attr, DS_ARG_U32, value, NULL };
}

/**
 * ds_fault_request() - the module's faults as attributes of RACE_START
 * @args: room for DS_FAULT_REQUEST
 *
 * Return: how many.
 */
unsigned int ds_fault_request(const struct ds_fault_opts *o, struct ds_arg *args)
{
	unsigned int n = 0;
	u32 id;

	if (!(o->wanted & DS_FAULT_MODULE))
		return 0;
	args[n++] = (struct ds_arg){ DS_A_FAULTS, DS_ARG_NEST, 0, NULL };
	for (id = 1; id < DS_FAULT_ALLOC; id++) {
		const struct ds_fault_args *a = &o->args[id];

		if (!(o->wanted & DS_FAULT_BIT(id)))
			continue;
		args[n++] = (struct ds_arg){ DS_A_FAULT, DS_ARG_NEST, 0, NULL };
		args[n++] = number(DS_FA_ID, id);
		if (a->one_in)
			args[n++] = number(DS_FA_ONE_IN, a->one_in);
		if (a->max_us) {
			args[n++] = number(DS_FA_MIN_US, a->min_us);
			args[n++] = number(DS_FA_MAX_US, a->max_us);
		}
		if (a->every_ms)
			args[n++] = number(DS_FA_EVERY_MS, a->every_ms);
		args[n++] = (struct ds_arg){ 0, DS_ARG_NEST_END, 0, NULL };
	}
	args[n++] = (struct ds_arg){ 0, DS_ARG_NEST_END, 0, NULL };
	return n;
}
