// SPDX-License-Identifier: GPL-2.0-only
/*
 * A failed run as a replay file: the options that say what was run, the last
 * decisions of each racing kthread before the first violation, and the last
 * operations of each thread of the load.  Reads no file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "replay.h"
#include "run.h"

/**
 * ds_replay_cpus() - the list of CPUs that are online
 */
int ds_replay_cpus(char *list, size_t len)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	char *ok;

	if (!f)
		return -errno;
	ok = fgets(list, len, f);
	fclose(f);
	if (!ok)
		return -EIO;
	list[strcspn(list, "\n")] = '\0';
	return 0;
}

/* Calls @fn for each CPU of a list that ds_opt_cpus() took. */
static void each_cpu(const char *list, void (*fn)(void *arg, u32 cpu), void *arg)
{
	unsigned long first, last;
	char *end;

	while (*list) {
		first = strtoul(list, &end, 10);
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		for (; first <= last; first++)
			fn(arg, first);
		list = *end ? end + 1 : end;
	}
}

static void mark_cpu(void *arg, u32 cpu)
{
	u8 *seen = arg;

	if (cpu < 8192)
		seen[cpu] = 1;
}

/* The place of a CPU in the list, and the list's length. */
struct cpu_list {
	u8 seen[8192];
	u32 weight;
};

static void read_list(struct cpu_list *l, const char *list)
{
	u32 cpu;

	memset(l, 0, sizeof(*l));
	each_cpu(list, mark_cpu, l->seen);
	for (cpu = 0; cpu < ARRAY_SIZE(l->seen); cpu++)
		l->weight += l->seen[cpu];
}

/* ---- the header ---- */

static void put(FILE *f, const char *key, const char *value)
{
	if (!value)
		return;
	fprintf(f, "%s: ", key);
	for (; *value; value++)
		fputc(*value == '\n' ? ' ' : *value, f);
	fputc('\n', f);
}

static void put_violation(FILE *f, const struct ds_facts *facts)
{
	const struct ds_inv_fact *first = ds_facts_first(facts);

	if (first)
		fprintf(f, "violation: %s %s\n", first->name, first->title);
	else if (facts->nr_hangs)
		put(f, "violation", "hang");
	else if (facts->kmsg_bad)
		put(f, "violation", "kernel");
	else
		put(f, "violation", "other");
}

static void put_options(FILE *f, const struct ds_run *run)
{
	const struct ds_run_opts *o = &run->o;
	unsigned int i;

	fprintf(f, "seed: %llu\nthreads: %u\nmemory: %lluK\n", o->seed, o->threads,
		o->memory >> 10);
	put(f, "preset", o->preset);
	put(f, "mix", o->mix);
	put(f, "method", o->method);
	for (i = 0; i < o->nr_dirs; i++)
		put(f, "dir", o->dirs[i]);
	for (i = 0; i < DS_NR_OWN_FS; i++)
		put(f, "fs", o->fs_mask & DS_OWN_FS_BIT(i) ? ds_own_fs_kinds[i].name : NULL);
	put(f, "kinds", o->kinds);
	put(f, "drains", o->drains);
	put(f, "cpus", o->cpus ? o->cpus : run->online);
	if (o->stutter_given)
		fprintf(f, "stutter: %llu\n", o->stutter_ms);
	fprintf(f, "online-rate: %llu\n", o->online_rate);
	for (i = 0; i < o->faults.nr_words; i++)
		put(f, "fault", o->faults.words[i]);
	put(f, "plant", o->plant);
	for (i = 0; i < o->nr_known_files; i++)
		put(f, "known", o->known_files[i]);
	fprintf(f, "%s%s%s%s%s", o->no_disk ? "no-disk: 1\n" : "",
		o->no_race ? "no-race: 1\n" : "", o->no_load ? "no-load: 1\n" : "",
		o->no_accounting ? "no-accounting: 1\n" : "",
		o->require_fix ? "require-fix: 1\n" : "");
}

/* ---- the race ---- */

/* How many decisions a kthread had taken when the run failed. */
static u64 decisions(const struct ds_run *run, const struct ds_msg *m)
{
	const struct ds_inv_fact *first = ds_facts_first(&run->r.facts);
	char mark[24];
	unsigned int i;

	for (i = 0; first && i < m->nr_counters; i++) {
		snprintf(mark, sizeof(mark), "mark.%u", first->id);
		if (!strcmp(m->counters[i].name, mark))
			return m->counters[i].value;
	}
	return ds_msg_counter(m, "decisions");
}

static void put_far(FILE *f, u64 seed, u64 index, u32 drains, const struct cpu_list *cpus)
{
	struct ds_decision d = ds_decide_far(seed, index, drains, cpus->weight);
	u32 cpu, n = d.cpu;

	for (cpu = 0; cpu < ARRAY_SIZE(cpus->seen); cpu++) {
		if (cpus->seen[cpu] && !n--)
			break;
	}
	if (d.drain == DS_DRAIN_CPU)
		fprintf(f, "%llu drain cpu %u\n", index, cpu);
	else
		fprintf(f, "%llu drain %s\n", index, ds_drain_name(d.drain));
}

static void put_racer(FILE *f, const struct ds_run *run, u32 cpu, u64 index, u32 kinds, u32 drains)
{
	struct ds_decision d = ds_decide(run->o.seed, cpu, index, kinds, drains);

	if (d.kind)
		fprintf(f, "%llu fill %s %u%s\n", index, ds_kind_name(d.kind),
			1 + d.n % (run->r.caps.batch_size ? run->r.caps.batch_size : 15),
			d.remote ? " of another cpu" : "");
	else
		fprintf(f, "%llu drain %s\n", index, ds_drain_name(d.drain));
}

static void put_race(FILE *f, const struct ds_run *run, const struct cpu_list *cpus)
{
	u32 kinds = run->o.kinds ? run->o.kinds_mask : (1U << DS_NR_BATCH_KINDS) - 1;
	u32 drains = run->o.drains ? run->o.drains_mask : (1U << DS_NR_DRAIN_KINDS) - 1;
	const struct ds_msgs *stats = &run->r.stats;
	unsigned int i;
	u64 index, end;

	for (i = 0; i < stats->nr; i++) {
		const struct ds_msg *m = &stats->v[i];
		bool far = !DS_HAS(m, DS_A_CPU);

		if (strcmp(m->scope, "race"))
			continue;
		end = decisions(run, m);
		if (!end || (far ? !(drains & ~DS_DRAINS_HERE) :
			     m->cpu >= ARRAY_SIZE(cpus->seen) || !cpus->seen[m->cpu]))
			continue;
		if (far)
			fputs("[race far]\n", f);
		else
			fprintf(f, "[race %u]\n", m->cpu);
		for (index = end > DS_DECISIONS ? end - DS_DECISIONS : 0; index < end; index++) {
			if (far)
				put_far(f, run->o.seed, index, drains, cpus);
			else
				put_racer(f, run, m->cpu, index, kinds, drains);
		}
	}
}

/* ---- the load ---- */

static void put_thread(FILE *f, const struct ds_load *l, unsigned int t)
{
	struct ds_log_entry e;
	u32 start = 0, op;
	u64 n;

	for (n = 0; ds_load_log(l, t, n, &e); n++) {
		op = e.what >> 8 & 0xff;
		if (!n)
			start = e.time_us;
		fprintf(f, "%llu %s", e.what >> 16, ds_flood_op_name(op));
		if ((e.what & 0xff) != 0xff)
			fprintf(f, " of file %llu", e.what & 0xff);
		if (e.result == DS_LOG_UNDER_WAY)
			fputs(", under way", f);
		else if (e.result < 0)
			fprintf(f, ", %s", strerrorname_np(-e.result) ?
				strerrorname_np(-e.result) : "error");
		fprintf(f, ", at %.6f s\n", (u32)(e.time_us - start) / 1e6);
	}
}

static void put_load(FILE *f, const struct ds_load *l)
{
	struct ds_log_entry e;
	unsigned int t;

	for (t = 0; l->sh && t < l->sh->made; t++) {
		if (!ds_load_log(l, t, 0, &e))
			continue;
		fprintf(f, "[%s %u]\n", t < l->sh->flood_threads ? "flood" : "mix", t);
		put_thread(f, l, t);
	}
}

static int save(const struct ds_run *run, const char *file)
{
	struct cpu_list *cpus = malloc(sizeof(*cpus));
	FILE *f = cpus ? fopen(file, "we") : NULL;
	int failed;

	if (!f) {
		free(cpus);
		return cpus ? -errno : -ENOMEM;
	}
	fprintf(f, "# what a run of drainctl decided before it failed; drainctl replay FILE\n");
	fprintf(f, "format: %d\nkernel: %s\n", DS_REPLAY_FORMAT, run->r.kernel);
	put_violation(f, &run->r.facts);
	if (run->r.load_hash)
		fprintf(f, "load_decisions: %016llx\n", run->r.load_hash);
	if (run->r.race_hash)
		fprintf(f, "race_decisions: %016llx\n", run->r.race_hash);
	put_options(f, run);
	read_list(cpus, run->o.cpus ? run->o.cpus : run->online);
	if (!run->o.no_race && !run->o.bare_race)
		put_race(f, run, cpus);
	put_load(f, &run->load);
	free(cpus);
	failed = ferror(f);
	if (fclose(f) || failed)
		return errno ? -errno : -EIO;
	return 0;
}

/**
 * ds_replay_save() - what a failed run leaves; a replay leaves nothing
 *
 * That it cannot be written is told, and is no failure of the run.
 */
void ds_replay_save(struct ds_run *run)
{
	enum ds_exit code = run->r.verdict.code;
	char own[64];
	const char *file = run->o.replay_file;
	int ret;

	if ((code != DS_EXIT_FAIL && code != DS_EXIT_HANG) || run->o.replay)
		return;
	if (!file) {
		snprintf(own, sizeof(own), "drainstress-%llu.replay", run->o.seed);
		file = own;
	}
	ret = save(run, file);
	if (ret)
		ds_run_say(run, "drainctl: no replay file: %s: %s", file, strerror(-ret));
	else
		ds_run_say(run, "drainctl: what led to it: drainctl replay %s", file);
}
