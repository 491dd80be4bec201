// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl check": one check at rest.  "drainctl plant" and "drainctl
 * selftest": deliberate faults, to see that the checks notice them.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "cgroup.h"
#include "commands.h"
#include "load.h"
#include "opts.h"
#include "report.h"
#include "run_opts.h"
#include "signals.h"

/* Those that can be checked for one memory cgroup: I11 to I15. */
#define OF_LISTS (0x1fULL << 10)
#define CGROUP_MS 2000	/* to remove a group that nobody is in */
#define LOAD_MS 20000	/* for the load's one thread to start, and to notice */
#define LOAD_BYTES (32ULL << 20)
#define LOAD_STEPS 500	/* of it when nothing is planted */

struct check_opts {
	u64 invariants;
	const char *memcg;
	const char *plant;
	bool brief;
	struct ds_known_list known;
};

static const struct argp_option check_options[] = {
	{ "invariants", 'i', "LIST", 0, "Only these, such as I1,I8 (default all)", 0 },
	{ "memcg", 'g', "DIR", 0,
	  "Only the LRU lists (I11 to I15) of the memory cgroup with this directory", 0 },
	{ "known", 'k', "FILE", 0,
	  "Known kernel issues: report them, do not fail; may be repeated", 0 },
	DS_ARGS_COMMON
};

static const struct argp_option plant_options[] = {
	{ "brief", 'b', NULL, 0,
	  "Only until a check looks again: then no check may notice", 0 },
	DS_ARGS_COMMON
};

static const struct argp_option no_options[] = {
	DS_ARGS_COMMON
};

static error_t check_parse(int key, char *arg, struct argp_state *state)
{
	struct check_opts *o = state->input;
	char list[512];

	if (key == 'g') {
		o->memcg = arg;
		return 0;
	}
	if (key == 'k')
		return ds_args_known(state, arg, &o->known);
	if (key != 'i')
		return ds_args_common(key, state);
	if (!ds_opt_invariants(arg, &o->invariants)) {
		if (!(o->invariants & (1ULL << (DS_INV_DATA - 1))))
			return 0;
		ds_args_bad(state, "--invariants '%s': drainctl run alone checks I%d", arg,
			    DS_INV_DATA);
		return DS_ARGS_BAD;
	}
	ds_opt_invariant_names(list, sizeof(list));
	ds_args_bad(state, "--invariants '%s': takes some of %s", arg, list);
	return DS_ARGS_BAD;
}

static error_t plant_parse(int key, char *arg, struct argp_state *state)
{
	struct check_opts *o = state->input;

	switch (key) {
	case 'b':
		o->brief = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ds_args_common(key, state);
		if (!strcmp(arg, DS_PLANT_DATA)) {
			ds_args_bad(state, DS_PLANT_DATA
				    ": the load plants it, not the module: drainctl run --plant "
				    DS_PLANT_DATA " --preset soak");
			return DS_ARGS_BAD;
		}
		o->plant = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->plant)
			return 0;
		ds_args_bad(state, "takes the NAME of a planted fault, as listed by drainctl caps");
		return DS_ARGS_BAD;
	default:
		return ds_args_common(key, state);
	}
}

static error_t selftest_parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	return ds_args_common(key, state);
}

static const struct argp check_argp = {
	check_options, check_parse, NULL,
	"Checks the invariants once, with all CPUs stopped.  Exits with 0 when all that\n"
	"could be checked hold, 1 when one does not, 3 when nothing could be checked,\n"
	"or not everything that --invariants names.",
	NULL, NULL, NULL
};

static const struct argp plant_argp = {
	plant_options, plant_parse, "NAME",
	"Makes one deliberate fault and checks.  Exits with 1 when it was noticed, as\n"
	"a real fault would, and with 3 when it was not (0 with --brief).  Wants insmod\n"
	"drainstress.ko plant=1.",
	NULL, NULL, NULL
};

static const struct argp selftest_argp = {
	no_options, selftest_parse, NULL,
	"Makes each of the planted faults and sees whether a check notices it, and that\n"
	"none does when it is over before the check looks again.  Exits with 0 when all\n"
	"went so.  Wants insmod drainstress.ko plant=1.",
	NULL, NULL, NULL
};

/* What GET_RESULTS says now.  Return: 0 or -1 and @err. */
static int read_facts(struct ds_nl *nl, const struct ds_known_list *known, struct ds_facts *f,
		      struct ds_err *err)
{
	struct ds_msgs results;
	struct ds_msg caps;
	int ret;

	memset(f, 0, sizeof(*f));
	f->known = known;
	if (ds_nl_do(nl, DS_CMD_GET_CAPS, NULL, 0, &caps, err))
		return -1;
	ds_facts_take_caps(f, &caps);
	ds_msg_free(&caps);
	ret = ds_nl_dump(nl, DS_CMD_GET_RESULTS, &results, err);
	if (!ret)
		ds_facts_take_results(f, &results);
	ds_msgs_free(&results);
	return ret;
}

/* Results are sums since the start of the last run: keep what is new. */
static void subtract(struct ds_facts *now, const struct ds_facts *before)
{
	unsigned int i, k;

	for (i = 0; i < now->nr_inv; i++) {
		for (k = 0; k < before->nr_inv; k++) {
			if (now->inv[i].id != before->inv[k].id)
				continue;
			/* unless a run has set them to zero meanwhile */
			if (now->inv[i].checked < before->inv[k].checked)
				continue;
			now->inv[i].checked -= before->inv[k].checked;
			now->inv[i].violations -= before->inv[k].violations;
		}
	}
}

/* The number by which the module knows a cgroup.  Return: 0 or -1 and @err. */
static int find_cgroup(const char *dir, u64 *id, struct ds_err *err)
{
	struct statfs fs;
	struct stat st;

	if (stat(dir, &st) || statfs(dir, &fs))
		return ds_error(err, DS_EXIT_USAGE, errno, "--memcg %s: %s", dir,
				strerror(errno));
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode))
		return ds_error(err, DS_EXIT_USAGE, 0,
				"--memcg %s: is no directory of cgroup v2 (usually below /sys/fs/cgroup)",
				dir);
	*id = st.st_ino;
	return 0;
}

/* What this check, as opposed to all before it, has looked at. */
static void print_looks(const struct ds_msg *done)
{
	u64 folios = ds_msg_counter(done, "folios"), ns = ds_msg_counter(done, "walk_ns");

	printf("folios: %llu\n", folios);
	printf("folios_per_second: %.0f\n", ns ? folios * 1e9 / ns : 0.0);
	printf("looks_again: %llu\n", ds_msg_counter(done, "looks"));
	printf("pause_us: %llu\n", ds_msg_counter(done, "pause_ns") / 1000);
}

/* The command that checks the same again. */
static void check_command(const struct check_opts *o, char *buf, size_t len)
{
	size_t n = snprintf(buf, len, "drainctl check%s%s", o->memcg ? " --memcg " : "",
			    o->memcg ? o->memcg : "");
	u64 mask = o->invariants;
	unsigned int i;

	for (i = 0; i < 64 && n < len; i++) {
		if (!(mask & (1ULL << i)))
			continue;
		n += snprintf(buf + n, len - n, "%sI%u",
			      mask & ((1ULL << i) - 1) ? "," : " --invariants ", i + 1);
	}
}

/*
 * Prints what was checked of the invariants in @show, 0: of all; @command is what
 * repeats it, begun at @start_ns.  Return: the exit code; one in @mask, which was
 * asked for by name, has to have been checked.
 */
static int print_facts(const struct ds_facts *f, u64 show, u64 mask, const char *command,
		       u64 start_ns)
{
	struct ds_viol_context c = { .kernel = f->kernel, .module = f->module,
		.repeat = command, .start_ns = start_ns };
	int code = DS_EXIT_PASS;
	u64 checked = 0;
	unsigned int i;

	for (i = 0; i < f->nr_inv; i++) {
		const struct ds_inv_fact *inv = &f->inv[i];

		if (show && !(show & (1ULL << (inv->id - 1))))
			continue;
		checked += inv->checked;
		if (ds_inv_fails(inv))
			code = DS_EXIT_FAIL;
		else if ((mask & (1ULL << (inv->id - 1))) && !inv->checked && code == DS_EXIT_PASS)
			code = DS_EXIT_INCONCLUSIVE;
		if (!inv->available)
			printf("%-4s not available: %s\n", inv->name, inv->reason);
		else
			printf("%-4s %10llu checked %6llu violations%s  %s\n", inv->name,
			       inv->checked, inv->violations,
			       inv->reported ? " (reported)" :
			       inv->known && inv->violations ? " (known)" : "", inv->title);
		if (inv->known && inv->violations)
			printf("     known: %s\n", inv->known);
		c.count = inv->violations;
		if (inv->violations && inv->first.has && inv->first.time_ns < start_ns)
			printf("     the module keeps the first one only, which was before this\n");
		else if (inv->violations && inv->first.has)
			ds_output_violation(stdout, "  ", &inv->first, &c);
	}
	if (!checked && code == DS_EXIT_PASS)
		code = DS_EXIT_INCONCLUSIVE;
	printf("verdict: %s\n", ds_exit_name(code));
	return ds_cmd_end_output(code);
}

/**
 * ds_cmd_check() - the command
 */
int ds_cmd_check(int argc, char **argv)
{
	struct ds_facts *facts = calloc(2, sizeof(*facts));
	struct check_opts o = { .invariants = 0 };
	struct ds_arg args[2];
	struct ds_msg done;
	struct ds_err err;
	struct ds_nl *nl = NULL;
	char command[512];
	unsigned int n = 0;
	u64 cgroup = 0;
	u64 start_ns;
	int ret;

	if (!facts)
		return DS_EXIT_ERROR;
	ret = ds_args_parse(&check_argp, argc, argv, &o);
	if (ret) {
		ret = ret == DS_ARGS_ANSWERED ? 0 : ret;
		goto free;
	}
	ds_signals_init();
	start_ns = ds_now_ms() * 1000000;
	check_command(&o, command, sizeof(command));
	/* what is wrong with an option is told before what is wrong with the host */
	if (o.memcg && find_cgroup(o.memcg, &cgroup, &err))
		goto fail;
	nl = ds_nl_open(&err);
	if (!nl)
		goto fail;
	if (o.invariants)
		args[n++] = (struct ds_arg){ DS_A_INVARIANTS, DS_ARG_U64, o.invariants, NULL };
	if (cgroup)
		args[n++] = (struct ds_arg){ DS_A_CGROUP, DS_ARG_U64, cgroup, NULL };
	if (read_facts(nl, &o.known, &facts[0], &err) ||
	    ds_nl_run(nl, DS_CMD_CHECK, args, n, DS_REQUEST_MS, &done, &err))
		goto fail;
	print_looks(&done);
	ds_msg_free(&done);
	if (read_facts(nl, &o.known, &facts[1], &err))
		goto fail;
	subtract(&facts[1], &facts[0]);
	ret = print_facts(&facts[1], o.invariants ? o.invariants : cgroup ? OF_LISTS : 0,
			  o.invariants, command, start_ns);
	goto free;
fail:
	ret = ds_cmd_fail(&err);
free:
	ds_nl_close(nl);
	free(facts);
	return ret;
}

/*
 * A run, so that the probes are armed and the results are zero before: a fault if
 * @name is not NULL, most of which check, and a check of its own if @check.
 */
static int run_checks(struct ds_nl *nl, const char *name, bool brief, bool check, u64 memcg,
		      struct ds_facts *f, struct ds_err *err)
{
	const struct ds_arg start[] = {
		{ DS_A_SEED, DS_ARG_U64, 0, NULL },
		{ DS_A_RACE, DS_ARG_U8, 0, NULL },
		{ DS_A_CGROUP, DS_ARG_U64, memcg, NULL },
	};
	const struct ds_arg which[] = {
		{ DS_A_NAME, DS_ARG_STRING, 0, name },
		{ DS_A_BRIEF, DS_ARG_U8, brief, NULL },
	};
	static const u8 cmds[] = { DS_CMD_RACE_START, DS_CMD_PLANT, DS_CMD_CHECK,
		DS_CMD_RACE_STOP };
	const struct ds_arg *args[] = { start, which, NULL, NULL };
	const unsigned int nr[] = { ARRAY_SIZE(start) - !memcg, ARRAY_SIZE(which), 0, 0 };
	struct ds_err ignored;
	struct ds_msg done;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		if ((cmds[i] == DS_CMD_PLANT && !name) || (cmds[i] == DS_CMD_CHECK && !check))
			continue;
		if (ds_nl_run(nl, cmds[i], args[i], nr[i], DS_REQUEST_MS, &done, err)) {
			/* the run that has begun ends, or the next fault cannot be made */
			if (i && !ds_nl_run(nl, DS_CMD_RACE_STOP, NULL, 0, DS_REQUEST_MS,
					    &done, &ignored))
				ds_msg_free(&done);
			return -1;
		}
		ds_msg_free(&done);
	}
	return read_facts(nl, NULL, f, err);
}

/* The same with a memory cgroup of its own, where there can be one. */
static int plant_one(struct ds_nl *nl, const char *name, bool brief, bool check,
		     struct ds_facts *f, struct ds_err *err)
{
	struct ds_cgroup own;
	u64 memcg = ds_cgroup_make_own(&own);
	int ret = run_checks(nl, name, brief, check, memcg, f, err);

	ds_cgroup_remove(&own, CGROUP_MS);
	return ret;
}

/**
 * ds_cmd_plant() - the command
 */
int ds_cmd_plant(int argc, char **argv)
{
	struct ds_facts *f = calloc(1, sizeof(*f));
	struct check_opts o = { .plant = NULL };
	struct ds_nl *nl = NULL;
	struct ds_err err;
	char command[128];
	unsigned int i;
	u64 start_ns;
	int ret;

	if (!f)
		return DS_EXIT_ERROR;
	ret = ds_args_parse(&plant_argp, argc, argv, &o);
	if (ret) {
		ret = ret == DS_ARGS_ANSWERED ? 0 : ret;
		goto free;
	}
	ds_signals_init();
	start_ns = ds_now_ms() * 1000000;
	snprintf(command, sizeof(command), "drainctl plant %s%s", o.brief ? "--brief " : "",
		 o.plant);
	nl = ds_nl_open(&err);
	if (!nl || plant_one(nl, o.plant, o.brief, !o.brief, f, &err)) {
		ret = ds_cmd_fail(&err);
		goto free;
	}
	/* the fault is made once: that other things were not checked is no matter */
	for (i = 0; i < f->nr_inv && !(f->inv[i].violations && !f->inv[i].reported); i++)
		;
	ret = print_facts(f, 0, 0, command, start_ns);
	if (i == f->nr_inv && !o.brief) {
		fprintf(stderr, "drainctl: plant %s: no check noticed the fault\n", o.plant);
		ret = DS_EXIT_INCONCLUSIVE;
	}
free:
	ds_nl_close(nl);
	free(f);
	return ret;
}

/* Bits of the invariants that are violated and count. */
static u64 violated(const struct ds_facts *f)
{
	u64 seen = 0;
	unsigned int k;

	for (k = 0; k < f->nr_inv; k++) {
		if (f->inv[k].violations && !f->inv[k].reported)
			seen |= 1ULL << (f->inv[k].id - 1);
	}
	return seen;
}

/*
 * Prints which invariants noticed, but for those that @always are violated, and
 * what is wrong with that.  Return: right?
 */
static bool noticed_rightly(const struct ds_item *it, const struct ds_facts *f, u64 always)
{
	u64 seen = violated(f) & ~always;
	bool right = it->invariants;
	unsigned int k;

	printf("%s (%s): noticed by", it->name, it->title);
	for (k = 0; k < 64; k++) {
		if (seen & (1ULL << k))
			printf(" I%u", k + 1);
	}
	if (!seen)
		printf(" nothing");
	for (k = 0; k < 64; k++) {
		u64 bit = 1ULL << k;

		if ((it->invariants & bit) == (seen & bit))
			continue;
		printf(", %s I%u", seen & bit ? "wrongly by" : "but not by", k + 1);
		right = false;
	}
	putchar('\n');
	fflush(stdout);
	return right;
}

/* The same fault, over before the check looks again.  Return: nobody noticed? */
static bool let_pass(struct ds_nl *nl, const struct ds_item *it, struct ds_facts *f, u64 always)
{
	struct ds_err err;
	unsigned int k;
	u64 seen;

	if (plant_one(nl, it->name, true, false, f, &err)) {
		printf("%s, brief: not seen to pass: %s\n", it->name, err.text);
		return false;
	}
	seen = violated(f) & ~always;
	printf("%s, brief: %s", it->name,
	       seen ? "wrongly noticed by" : "looked at again, let pass");
	for (k = 0; k < 64; k++) {
		if (seen & (1ULL << k))
			printf(" I%u", k + 1);
	}
	putchar('\n');
	fflush(stdout);
	return !seen;
}

/*
 * Invariants that a stock kernel is known to break.  There no fault need be
 * planted: its own is the proof that the check can notice.
 */
static const struct {
	u32 id;
	const char *release;	/* how the kernel's name begins */
} broken_by_kernel[] = {
	{ 33, "6.1." },
};

static u64 broken_here(const char *release)
{
	u64 mask = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(broken_by_kernel); i++) {
		if (!strncmp(release, broken_by_kernel[i].release,
			     strlen(broken_by_kernel[i].release)))
			mask |= 1ULL << (broken_by_kernel[i].id - 1);
	}
	return mask;
}

/*
 * Prints what is violated with no fault planted, and sets @wrong when it is more
 * than the kernel is known to break.  Return: bits of all of it.
 */
static u64 print_unplanted(const struct ds_facts *f, const char *release, bool *wrong)
{
	u64 seen = violated(f), known = broken_here(release);
	unsigned int k;

	for (k = 0; k < f->nr_inv; k++) {
		u64 bit = 1ULL << (f->inv[k].id - 1);

		if (!(seen & bit))
			continue;
		printf("no fault: noticed by %s, %s\n", f->inv[k].name,
		       known & bit ? "which this kernel is known to break: proof enough" :
		       "wrongly, or the kernel is broken");
		if (!(known & bit))
			ds_output_violation(stdout, "  ", &f->inv[k].first, NULL);
	}
	*wrong |= seen & ~known;
	return seen;
}

/*
 * One mix thread of the load for a moment, with data altered behind its back or
 * not.  Return: 0 or -1 and @err; what it found in @t.
 */
static int load_once(bool plant, struct ds_load_totals *t, struct ds_err *err)
{
	struct ds_load_params p = { .threads = 1, .memory = LOAD_BYTES, .no_disk = true,
		.plant = plant, .choice.syscall = ds_method_find("syscall") };
	struct ds_load l = { .pid = 0 };
	u64 end = ds_now_ms() + LOAD_MS;
	char why[160];
	int status, ret;

	ds_mix_choose("smoke", NULL, &p.mix, why, sizeof(why));
	ret = ds_load_start(&l, &p);
	if (!ret)
		ret = ds_load_wait_ready(&l, LOAD_MS);
	if (ret) {
		ds_error(err, DS_EXIT_ERROR, -ret, "the load's thread cannot be started: %s",
			 l.sh && l.sh->text[0] ? l.sh->text : strerror(-ret));
		ds_load_kill(&l);
		ds_load_wait(&l, LOAD_MS, &status);
		ds_load_free(&l);
		return -1;
	}
	ds_load_go(&l);
	do {
		ds_cmd_sleep(20);
		ds_load_sum(&l, t);
	} while (!t->mix.violations && (plant || t->steps < LOAD_STEPS) && ds_now_ms() < end &&
		 !ds_signals_seen());
	ds_load_stop(&l);
	if (ds_load_wait(&l, LOAD_MS, &status)) {
		ds_load_kill(&l);
		ds_load_wait(&l, LOAD_MS, &status);
	}
	ds_load_sum(&l, t);
	ds_load_free(&l);
	return 0;
}

/* The fault that the load plants.  Return: noticed, and nothing without it? */
static bool selftest_data(void)
{
	struct ds_load_totals *t = calloc(2, sizeof(*t));
	struct ds_violation v;
	struct ds_err err;
	bool right = false;

	if (!t || load_once(false, &t[0], &err) || load_once(true, &t[1], &err)) {
		printf(DS_PLANT_DATA ": not made: %s\n", t ? err.text : "out of memory");
		free(t);
		return false;
	}
	right = !t[0].mix.violations && t[0].mix.verified && t[1].mix.violations;
	printf(DS_PLANT_DATA " (a page of a file is altered unseen): noticed by %s\n",
	       t[1].mix.violations ? "I31" : "nothing, but not by I31");
	if (t[0].mix.violations) {
		printf("no fault: noticed by I31, wrongly, or the kernel is broken\n");
		ds_mix_violation(&t[0].mix.first, &v);
		ds_output_violation(stdout, "  ", &v, NULL);
	} else if (!t[0].mix.verified) {
		printf("no fault: nothing was verified\n");
	}
	fflush(stdout);
	free(t);
	return right;
}

/* Invariants that are available and that no planted fault has proven. */
static unsigned int print_unproven(const struct ds_msg *caps, u64 proven)
{
	unsigned int i, nr = 0;

	for (i = 0; i < caps->nr_items; i++) {
		const struct ds_item *it = &caps->items[i];

		/* I23 is the question which kernel this is, not a fault of one */
		if (it->class != DS_CLASS_INVARIANT || !it->available || !it->id ||
		    it->id > 64 || it->id == 23 || proven & (1ULL << (it->id - 1)))
			continue;
		printf("%s is unproven: no planted fault was noticed by it\n", it->name);
		nr++;
	}
	return nr;
}

static int selftest_all(struct ds_nl *nl, const struct ds_msg *caps, struct ds_facts *f)
{
	const char *reason = "this module has none";
	unsigned int i, tried = 0, noticed = 0, brief = 0, passed = 0;
	u64 proven, always;
	struct ds_err err;
	bool wrong = false;

	/* first without: what is violated then is no planted fault's doing */
	if (plant_one(nl, NULL, false, true, f, &err))
		return ds_cmd_fail(&err);
	always = print_unplanted(f, caps->release, &wrong);
	proven = always & broken_here(caps->release);

	for (i = 0; i < caps->nr_items; i++) {
		const struct ds_item *it = &caps->items[i];

		if (it->class != DS_CLASS_PLANT)
			continue;
		if (!it->available) {
			reason = it->reason;
			printf("%s: skipped: %s\n", it->name, it->reason);
			continue;
		}
		if (it->invariants & proven & broken_here(caps->release)) {
			printf("%s: skipped: the kernel breaks it by itself\n", it->name);
			continue;
		}
		if (ds_signals_seen())
			break;
		if (plant_one(nl, it->name, false, false, f, &err)) {
			if (err.exit != DS_EXIT_SKIP)
				return ds_cmd_fail(&err);
			printf("%s: skipped: %s\n", it->name, err.text);
			continue;
		}
		tried++;
		if (noticed_rightly(it, f, always)) {
			noticed++;
			proven |= it->invariants;
		}
		if (it->brief) {
			brief++;
			passed += let_pass(nl, it, f, always);
		}
	}
	if (!tried) {
		ds_error(&err, DS_EXIT_ERROR, 0, "selftest: no planted fault can be made: %s",
			 reason);
		return ds_cmd_fail(&err);
	}
	if (ds_signals_seen()) {
		printf("%u/%u noticed\n", noticed, tried);
		return ds_cmd_end_output(DS_EXIT_INCONCLUSIVE);
	}
	/* the load's own: the module takes no part in it */
	tried++;
	noticed += selftest_data();
	/* and once more: all damage was undone */
	if (plant_one(nl, NULL, false, true, f, &err))
		return ds_cmd_fail(&err);
	print_unplanted(f, caps->release, &wrong);
	printf("%u/%u brief ones let pass\n", passed, brief);
	if (print_unproven(caps, proven) || wrong || passed < brief)
		tried++;	/* what is unproven is a failure too */
	printf("%u/%u noticed\n", noticed, tried);
	return ds_cmd_end_output(noticed == tried ? DS_EXIT_PASS : DS_EXIT_FAIL);
}

/**
 * ds_cmd_selftest() - the command
 */
int ds_cmd_selftest(int argc, char **argv)
{
	struct ds_facts *f = calloc(1, sizeof(*f));
	struct check_opts o = { .plant = NULL };
	struct ds_nl *nl = NULL;
	struct ds_msg caps;
	struct ds_err err;
	int ret;

	if (!f)
		return DS_EXIT_ERROR;
	ret = ds_args_parse(&selftest_argp, argc, argv, &o);
	if (ret) {
		ret = ret == DS_ARGS_ANSWERED ? 0 : ret;
		goto free;
	}
	ds_signals_init();
	nl = ds_nl_open(&err);
	if (!nl || ds_nl_do(nl, DS_CMD_GET_CAPS, NULL, 0, &caps, &err)) {
		ret = ds_cmd_fail(&err);
		goto free;
	}
	ret = selftest_all(nl, &caps, f);
	ds_msg_free(&caps);
free:
	ds_nl_close(nl);
	free(f);
	return ret;
}
