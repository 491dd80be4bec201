// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl watch": the module's events as they come.  Works beside a run and
 * ends when it is interrupted, or with an error when the module goes.
 */
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "commands.h"
#include "opts.h"
#include "report.h"
#include "signals.h"

#define PING_MS 2000

struct watch_opts {
	bool json;
	u64 duration_ms;
	u64 events;
	struct ds_known_list known;
	char release[DS_NAME_LEN + 1];
};

static const struct argp_option options[] = {
	{ "format", 'f', "NAME", 0, "text or json (default text)", 0 },
	{ "duration", 'd', "TIME", 0, "End after so long (default: when interrupted)", 0 },
	{ "known", 'k', "FILE", 0, "Known kernel issues: name them as such", 0 },
	DS_ARGS_COMMON
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct watch_opts *o = state->input;

	switch (key) {
	case 'f':
		if (!ds_cmd_json_flag(arg, &o->json))
			return 0;
		ds_args_bad(state, "--format '%s': takes " DS_CMD_FORMAT_TAKES, arg);
		return DS_ARGS_BAD;
	case 'd':
		if (!ds_opt_duration(arg, &o->duration_ms))
			return 0;
		ds_args_bad(state, "--duration '%s': takes " DS_DURATION_TAKES, arg);
		return DS_ARGS_BAD;
	case 'k':
		return ds_args_known(state, arg, &o->known);
	default:
		return ds_args_common(key, state);
	}
}

static const struct argp argp = {
	options, parse, NULL,
	"Prints the module's events as they come: progress, states, results of\n"
	"requests, violations.  Works beside a run.",
	NULL, NULL, NULL
};

static void print_text(const struct ds_msg *m, const char *known)
{
	unsigned int i;

	switch (m->event) {
	case DS_EVENT_VIOLATION:
		if (known)
			printf("I%u is known: %s\n", m->violation.invariant, known);
		ds_output_violation(stdout, "", &m->violation, NULL);
		return;
	case DS_EVENT_STATE:
		printf("state: %s\n", m->state);
		return;
	case DS_EVENT_DONE:
		printf("request %u done: %s", m->request,
		       m->status ? strerror(m->status) : "ok");
		break;
	default:
		printf("progress");
	}
	for (i = 0; i < m->nr_counters; i++)
		printf(" %s=%llu", m->counters[i].name, m->counters[i].value);
	putchar('\n');
}

static void on_event(void *arg, const struct ds_msg *m)
{
	struct watch_opts *o = arg;
	const char *known = NULL;
	json_t *line;

	o->events++;
	if (m && m->event == DS_EVENT_VIOLATION)
		known = ds_known_reason(&o->known, m->violation.invariant, o->release);
	if (!o->json) {
		if (m)
			print_text(m, known);
		else
			puts("events were lost");
	} else {
		line = m ? ds_json_event(m, NULL) : json_pack("{s:s}", "event", "lost");
		if (known)
			json_object_set_new(line, "known", json_string(known));
		json_dumpf(line, stdout, JSON_COMPACT);
		json_decref(line);
		putchar('\n');
	}
	fflush(stdout);
}

static int watch(struct ds_nl *nl, void *arg, struct ds_err *err)
{
	struct watch_opts *o = arg;
	u64 end = o->duration_ms ? ds_now_ms() + o->duration_ms : ~0ULL, seen, wait;
	struct pollfd pfd = { .events = POLLIN };
	struct ds_msg caps;

	/* only now there is a socket of events */
	if (ds_nl_subscribe(nl, on_event, o, err))
		return -1;
	pfd.fd = ds_nl_event_fd(nl);
	while (!ds_signals_seen() && ds_now_ms() < end && !ferror(stdout)) {
		seen = o->events;
		wait = end - ds_now_ms();
		poll(&pfd, 1, wait < PING_MS ? (int)wait : PING_MS);
		if (ds_nl_events(nl, err))
			return -1;
		if (seen != o->events || ds_signals_seen())
			continue;
		/* silence: the group of a module that went just stays silent */
		if (ds_nl_do(nl, DS_CMD_GET_CAPS, NULL, 0, &caps, err))
			return -1;
		ds_msg_free(&caps);
	}
	return 0;
}

/**
 * ds_cmd_watch() - the command
 */
int ds_cmd_watch(int argc, char **argv)
{
	struct watch_opts o = { .json = false };
	struct utsname u;
	int ret;

	ret = ds_args_parse(&argp, argc, argv, &o);
	if (ret)
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	uname(&u);
	snprintf(o.release, sizeof(o.release), "%.*s", DS_NAME_LEN, u.release);
	ds_signals_init();
	return ds_cmd_ask(watch, &o);
}
