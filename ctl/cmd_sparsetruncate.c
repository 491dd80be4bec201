// SPDX-License-Identifier: GPL-2.0-only
/*
 * "drainctl sparsetruncate": finds a place for the files and what the module can
 * say, has the workload (stress/sparse.c) done so many times, and puts everything
 * back.  Options, counts and output have files of their own, see sparse_cmd.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "commands.h"
#include "files.h"
#include "run.h"
#include "signals.h"
#include "sparse_cmd.h"
#include "stale.h"
#include "text.h"

#define SPARE (96ULL << 20)	/* the rest of the machine shall have some memory too */
#define LINE_MS 10000
#define TTY_MS 500

/**
 * struct sparse_run - one run of the command
 * @top:	directory that the files are made in, -1: none yet
 * @undo:	how to put back what is changed of the machine, or NULL
 * @nl:		the module, or NULL
 * @next_ms:	when the progress line is due
 */
struct sparse_run {
	struct ds_sparse_opts o;
	struct ds_sparse_result r;
	struct ds_sparse s;
	struct ds_place own[DS_NR_OWN_FS];
	unsigned int nr_own;
	int top;
	struct ds_undo *undo;
	struct ds_nl *nl;
	FILE *out;
	bool opened, tty, shown;
	u64 next_ms;
};

/* ---- progress ---- */

static void show_clear(struct sparse_run *run)
{
	if (run->shown && run->tty)
		fputs("\r\033[K", stderr);
	run->shown = false;
}

static bool go_on(void *arg, const char *what, u32 done, u32 total)
{
	struct sparse_run *run = arg;
	u64 now = ds_now_ms();

	if (ds_signals_seen())
		return false;
	if (run->o.quiet || now < run->next_ms)
		return true;
	run->next_ms = now + (run->tty ? TTY_MS : LINE_MS);
	fprintf(stderr, "%siteration %u of %u: %s, %u of %u files%s", run->tty ? "\r\033[K" : "",
		run->r.done + 1, run->o.iterations, what, done, total, run->tty ? "" : "\n");
	fflush(stderr);
	run->shown = true;
	return true;
}

/* ---- set-up ---- */

/* An error that says so is better than the OOM killer, or than pages reclaimed. */
static int enough_memory(const struct sparse_run *run, struct ds_err *err)
{
	u64 files = (u64)run->o.dirs * run->o.files * run->o.size;
	u64 fs = run->o.dir ? 0 : ds_own_fs_kinds[run->o.fs].bytes;
	u64 have = ds_read_key("/proc/meminfo", "MemAvailable:") << 10;

	if (!have || files + fs + SPARE <= have)
		return 0;
	return ds_error(err, DS_EXIT_ERROR, ENOMEM,
			"the files take %llu MiB of page cache, their file system %llu and %llu are to spare, but %llu MiB are available: lower --dirs, --files or --size",
			files >> 20, fs >> 20, SPARE >> 20, have >> 20);
}

static int ask_module(struct sparse_run *run, struct ds_err *err)
{
	struct ds_msg caps;
	int ret;

	run->nl = ds_nl_open(err);
	if (!run->nl || ds_nl_do(run->nl, DS_CMD_GET_CAPS, NULL, 0, &caps, err))
		return -1;
	ret = ds_fault_settle(&run->o.faults, &caps, err);
	if (caps.owner)
		ret = ds_error(err, DS_EXIT_ERROR, EBUSY,
			       "the module is in use by pid %u, which disturbs what is measured",
			       caps.owner);
	ds_msg_free(&caps);
	return ret;
}

/* Without the module times are measured all the same, unless it has to do something. */
static int open_module(struct sparse_run *run, struct ds_err *err)
{
	if (!ask_module(run, err))
		return 0;
	if (run->o.faults.wanted || err->no == EBUSY)
		return -1;
	snprintf(run->r.counts.why, sizeof(run->r.counts.why), "%.255s", err->text);
	ds_nl_close(run->nl);
	run->nl = NULL;
	return 0;
}

static int open_journal(struct sparse_run *run, struct ds_err *err)
{
	char why[300];

	if (run->undo)
		return 0;
	run->undo = ds_undo_open(getpid(), why, sizeof(why));
	return run->undo ? 0 : ds_error(err, DS_EXIT_ERROR, 0, "%s", why);
}

/* The kernel's name of the file system that @fd is on, as mounted. */
static void fs_name(int fd, char *name, size_t len)
{
	struct statx st;
	char *line = NULL, *dash;
	size_t room = 0;
	FILE *f;

	snprintf(name, len, "unknown");
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) || !(st.stx_mask & STATX_MNT_ID))
		return;
	f = fopen("/proc/self/mountinfo", "re");
	while (f && getline(&line, &room, f) > 0) {
		if (strtoull(line, NULL, 10) != st.stx_mnt_id)
			continue;
		dash = strstr(line, " - ");
		if (dash)
			snprintf(name, len, "%.*s", (int)strcspn(dash + 3, " "), dash + 3);
		break;
	}
	if (f)
		fclose(f);
	free(line);
}

static int dir_failed(const struct sparse_run *run, int no, struct ds_err *err)
{
	return ds_error(err, DS_EXIT_ERROR, no, "--dir %s: %s", run->o.dir, strerror(no));
}

/* A directory of our own in --dir, which the journal knows of before it is there. */
static int open_dir(struct sparse_run *run, struct ds_err *err)
{
	char real[PATH_MAX], path[PATH_MAX + 64];
	struct statfs st;
	int ret;

	if (!realpath(run->o.dir, real) || statfs(real, &st))
		return dir_failed(run, errno, err);
	if (st.f_type == TMPFS_MAGIC)
		return ds_error(err, DS_EXIT_USAGE, 0,
				"--dir %s: is on tmpfs, which caches no pages of holes, so nothing would be truncated: takes a directory of another file system",
				run->o.dir);
	snprintf(path, sizeof(path), "%s/drainstress-%d.sparse", strcmp(real, "/") ? real : "",
		 getpid());
	if (open_journal(run, err))
		return -1;
	ret = ds_undo_push(run->undo, DS_UNDO_TREE, path, NULL);
	if (ret < 0)
		return ds_error(err, DS_EXIT_ERROR, -ret, "--dir %s: cannot be noted down: %s",
				run->o.dir, ret == -EINVAL ? "the path is too long or odd" :
				strerror(-ret));
	if (mkdir(path, 0700))
		return dir_failed(run, errno, err);
	run->top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (run->top < 0)
		return dir_failed(run, errno, err);
	snprintf(run->r.where, sizeof(run->r.where), "%s", run->o.dir);
	fs_name(run->top, run->r.fs, sizeof(run->r.fs));
	return 0;
}

static int open_place(struct sparse_run *run, struct ds_err *err)
{
	if (run->o.dir)
		return open_dir(run, err);
	if (ds_fs_make(DS_OWN_FS_BIT(run->o.fs), 0, run->own, &run->nr_own, err))
		return -1;
	run->top = openat(run->own[0].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->top < 0)
		return ds_error(err, DS_EXIT_ERROR, errno, "%s: %s", run->own[0].name,
				strerror(errno));
	snprintf(run->r.where, sizeof(run->r.where), "%s", run->own[0].name);
	snprintf(run->r.fs, sizeof(run->r.fs), "%s", ds_own_fs_kinds[run->o.fs].name);
	return 0;
}

/* What the workload says, as drainctl says it. */
static int work_failed(const struct sparse_run *run, int ret, const char *why, struct ds_err *err)
{
	if (ret == -EOPNOTSUPP)
		return ds_error(err, DS_EXIT_SKIP, 0, "%s: %s", run->r.where, why);
	if (ret == -ECANCELED)
		return ds_error(err, DS_EXIT_INCONCLUSIVE, 0,
				"interrupted after %u of %u iterations", run->r.done,
				run->o.iterations);
	return ds_error(err, DS_EXIT_ERROR, -ret, "%s: %s", run->r.where, why);
}

static int open_workload(struct sparse_run *run, struct ds_err *err)
{
	const struct ds_sparse_params p = {
		.dirs = run->o.dirs,
		.files = run->o.files,
		.size = run->o.size,
		.order = run->o.order,
		.method = run->o.method,
		.seed = run->o.seed,
		.go_on = go_on,
		.arg = run,
	};
	char why[300];
	int ret = 0;

	if (run->o.order > 0) {
		if (open_journal(run, err))
			return -1;
		ret = ds_sparse_readahead(run->top, run->o.order, run->undo, why, sizeof(why));
	}
	if (!ret) {
		run->opened = true;
		ret = ds_sparse_open(&run->s, &p, run->top, why, sizeof(why));
	}
	return ret ? work_failed(run, ret, why, err) : 0;
}

static int out_failed(const struct sparse_run *run, struct ds_err *err)
{
	return ds_error(err, DS_EXIT_ERROR, errno, "--out %s: %s", run->o.out, strerror(errno));
}

static int open_output(struct sparse_run *run, struct ds_err *err)
{
	u64 nr = (u64)run->o.iterations * run->r.nr;

	run->r.ns = calloc(nr, sizeof(*run->r.ns));
	if (!run->r.ns)
		return ds_error(err, DS_EXIT_ERROR, ENOMEM, "no memory for %llu samples", nr);
	if (!run->o.out)
		return 0;
	run->out = fopen(run->o.out, "we");
	if (!run->out || ds_sparse_put_header(run->out, &run->r))
		return out_failed(run, err);
	return 0;
}

/* Probes and faults only: nothing races, and nothing is checked. */
static int start_faults(struct sparse_run *run, struct ds_err *err)
{
	struct ds_arg args[3 + DS_FAULT_REQUEST];
	struct ds_msg done;
	unsigned int n = 0;

	if (!run->o.faults.wanted)
		return 0;
	args[n++] = (struct ds_arg){ DS_A_SEED, DS_ARG_U64, run->o.seed, NULL };
	args[n++] = (struct ds_arg){ DS_A_RACE, DS_ARG_U8, DS_RACE_NONE, NULL };
	args[n++] = (struct ds_arg){ DS_A_ONLINE_RATE, DS_ARG_U32, 0, NULL };
	n += ds_fault_request(&run->o.faults, args + n);
	if (ds_nl_run(run->nl, DS_CMD_RACE_START, args, n, DS_REQUEST_MS, &done, err))
		return -1;
	ds_msg_free(&done);
	return 0;
}

static void describe(struct sparse_run *run)
{
	struct ds_sparse_result *r = &run->r;
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	r->o = &run->o;
	r->nr = run->o.dirs * run->o.files;
	r->cpus = cpus > 0 ? cpus : 1;
	uname(&u);
	snprintf(r->kernel, sizeof(r->kernel), "%.64s", u.release);
	ds_read_text("/proc/sys/kernel/random/boot_id", r->boot, sizeof(r->boot));
	strftime(r->date, sizeof(r->date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

static int set_up(struct sparse_run *run, struct ds_err *err)
{
	struct rlimit rl;

	describe(run);
	/* a descriptor for each directory */
	if (!getrlimit(RLIMIT_NOFILE, &rl)) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (enough_memory(run, err) || open_module(run, err) || open_place(run, err) ||
	    open_workload(run, err) || open_output(run, err))
		return -1;
	return start_faults(run, err);
}

/* ---- one iteration ---- */

static u64 cached_kib(void)
{
	return ds_read_key("/proc/meminfo", "Cached:");
}

static u64 reclaimed(void)
{
	return ds_read_key("/proc/vmstat", "pgsteal_kswapd") +
	       ds_read_key("/proc/vmstat", "pgsteal_direct");
}

/* What cannot be seen is no error, but told. */
static int look_at_folios(struct sparse_run *run, struct ds_err *err)
{
	char why[300];
	int ret;

	memset(&run->r.folios, 0, sizeof(run->r.folios));
	ret = ds_sparse_look(&run->s, &run->r.folios, why, sizeof(why));
	if (!ret)
		ret = ds_sparse_judge(run->o.order, &run->r.folios, why, sizeof(why));
	else if (ret == -EPERM)
		snprintf(run->r.folios_why, sizeof(run->r.folios_why), "%.255s", why);
	return ret && ret != -EPERM ? work_failed(run, ret, why, err) : 0;
}

/* All pages have to be there, or what is timed is not what is asked for. */
static int check_resident(struct sparse_run *run, struct ds_err *err)
{
	u64 wanted = run->r.nr * (run->o.size / run->s.page);
	char why[300];
	int ret = ds_sparse_resident(&run->s, &run->r.pages, why, sizeof(why));

	if (ret)
		return work_failed(run, ret, why, err);
	if (run->r.pages == wanted)
		return 0;
	if (!run->r.pages)
		return ds_error(err, DS_EXIT_SKIP, 0,
				"%s: none of %llu pages stays in the page cache: this file system caches no holes",
				run->r.where, wanted);
	return ds_error(err, DS_EXIT_INCONCLUSIVE, 0,
			"cannot measure: %llu of %llu pages were reclaimed before their files could be removed (%llu MiB are available): give the machine, or the control group of drainctl, more memory, or lower --dirs, --files or --size",
			wanted - run->r.pages, wanted,
			ds_read_key("/proc/meminfo", "MemAvailable:") >> 10);
}

static int populate(struct sparse_run *run, struct ds_err *err)
{
	u64 before = cached_kib();
	char why[300];
	int ret;

	if (look_at_folios(run, err))
		return -1;
	ret = ds_sparse_populate(&run->s, why, sizeof(why));
	if (ret)
		return work_failed(run, ret, why, err);
	run->r.cached_kib = (s64)(cached_kib() - before);
	return check_resident(run, err);
}

/* The timed part, between two readings of the module's counters. */
static int remove_files(struct sparse_run *run, struct ds_sparse_counts *c, struct ds_err *err)
{
	struct ds_sparse_counts before = { .known = false };
	u64 *ns = run->r.ns + (u64)run->r.done * run->r.nr;
	u64 stolen = reclaimed();
	char why[300];
	int ret;

	if (run->nl && ds_sparse_counts_read(run->nl, &before, err))
		return -1;
	ret = ds_sparse_remove(&run->s, ns, why, sizeof(why));
	if (ret)
		return work_failed(run, ret, why, err);
	run->r.reclaimed += reclaimed() - stolen;
	if (!run->nl) {
		snprintf(c->why, sizeof(c->why), "%s", run->r.counts.why);
		return 0;
	}
	if (ds_sparse_counts_read(run->nl, c, err))
		return -1;
	ds_sparse_counts_since(c, &before);
	ds_sparse_counts_add(&run->r.counts, c);
	return 0;
}

static int iterate(struct sparse_run *run, struct ds_err *err)
{
	struct ds_sparse_counts c = { .known = false };
	int ret;

	if (populate(run, err) || remove_files(run, &c, err))
		return -1;
	ret = ds_sparse_clear(&run->s);
	if (ret)
		return ds_error(err, DS_EXIT_ERROR, -ret, "%s: removing directories: %s",
				run->r.where, strerror(-ret));
	run->r.done++;
	if (run->out && ds_sparse_put_iteration(run->out, &run->r, run->r.done, &c))
		return out_failed(run, err);
	return 0;
}

/* ---- the end ---- */

/* Told when something cannot be put back; @arg is the exit code. */
static void not_put_back(void *arg, pid_t pid, int no, const char *what)
{
	(void)pid;
	if (!no)
		return;
	fprintf(stderr, "drainctl: cannot be put back: %s: %s\n", what, strerror(no));
	*(int *)arg = DS_EXIT_ERROR;
}

/* Return: @code, or what is worse. */
static int put_back(struct sparse_run *run, int code)
{
	struct ds_err err;
	struct ds_msg done;
	int ret = 0;

	if (run->nl && run->o.faults.wanted &&
	    !ds_nl_run(run->nl, DS_CMD_RACE_STOP, NULL, 0, DS_REQUEST_MS, &done, &err))
		ds_msg_free(&done);
	ds_nl_close(run->nl);
	if (run->opened) {
		if (run->s.dir)
			ret = ds_sparse_clear(&run->s);
		ds_sparse_close(&run->s);
	}
	if (ret && code == DS_EXIT_PASS) {
		fprintf(stderr, "drainctl: %s: files stay: %s\n", run->r.where, strerror(-ret));
		code = DS_EXIT_ERROR;
	}
	if (run->top >= 0)
		close(run->top);
	ds_fs_close(run->own, &run->nr_own);
	ds_undo_close(run->undo, not_put_back, &code);
	if (run->out && fclose(run->out) && code == DS_EXIT_PASS) {
		out_failed(run, &err);
		code = ds_cmd_fail(&err);
	}
	return code;
}

static int work(struct sparse_run *run)
{
	struct ds_err err;
	int ret = DS_EXIT_PASS;

	if (set_up(run, &err))
		ret = ds_cmd_fail(&err);
	while (ret == DS_EXIT_PASS && run->r.done < run->o.iterations) {
		if (!iterate(run, &err))
			continue;
		show_clear(run);
		ret = ds_cmd_fail(&err);
	}
	show_clear(run);
	return put_back(run, ret);
}

/**
 * ds_cmd_sparsetruncate() - the command
 */
int ds_cmd_sparsetruncate(int argc, char **argv)
{
	struct sparse_run *run = calloc(1, sizeof(*run));
	int ret;

	if (!run)
		return DS_EXIT_ERROR;
	run->top = -1;
	ret = ds_sparse_opts_parse(&run->o, argc, argv);
	if (ret) {
		free(run);
		return ret == DS_ARGS_ANSWERED ? 0 : ret;
	}
	ds_signals_init();
	ds_stale_clean(ds_stale_print, NULL);
	run->tty = isatty(STDERR_FILENO);
	run->next_ms = ds_now_ms() + (run->tty ? TTY_MS : LINE_MS);
	ret = work(run);
	/* what was measured before something went wrong is told too */
	if (run->r.done && run->o.json)
		ds_sparse_print_json(&run->r);
	else if (run->r.done)
		ds_sparse_print(&run->r);
	ret = ds_cmd_end_output(ret);
	free(run->r.ns);
	free(run);
	return ret;
}
