// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load's process: forked, so that it can have a memory cgroup and an OOM
 * score of its own, with the threads of flood.c and mix.c in it and counters in
 * memory that the controller shares.  It knows nothing of netlink, verdicts or the
 * terminal, and dies with its controller.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "load.h"
#include "own_swap.h"
#include "text.h"
#include "undo.h"

#define STACK_SIZE (128 * 1024)
#define FDS_SPARE 24		/* standard ones, directories, libraries */
#define FDS_A_THREAD (1 + DS_FLOOD_PRIVATE)
/* Kernel memory of a thread: stacks of it and its io-wq workers, its ring. */
#define THREAD_COST (48 * 1024 + DS_FLOOD_PRIVATE * 24 * 1024)

/* Logs of operations take at most so much, and this part of the memory limit. */
#define LOG_BYTES (16 << 20)
#define LOG_PART 32
#define LOG_MIN 64

/* Of the memory limit so much is for mix threads: 1 / MIX_PART. */
#define MIX_PART 8

struct child {
	const struct ds_load_params *p;
	struct ds_load_shared *sh;
	struct ds_mix_slot *mix_slots;
	const struct ds_load *l;
	struct ds_places places;
	struct ds_op_env env;
	char no_undo[DS_LOAD_TEXT];
	struct ds_own_swap swap;
	char no_swap[DS_LOAD_TEXT];
	pid_t controller;
	unsigned int threads;	/* the first of them flood, the last mix */
	unsigned int nr_mix;
	unsigned int nr_shared;
	int *shared_fds;
	void *data;
	struct ds_flood *floods;
	struct ds_mix *mixes;	/* indexed as the threads are */
	pthread_t *ids;
};

static void futex_wait(u32 *addr, u32 val, const struct timespec *limit)
{
	syscall(SYS_futex, addr, FUTEX_WAIT, val, limit, NULL, 0);
}

static void futex_wake(u32 *addr)
{
	syscall(SYS_futex, addr, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void set_and_wake(u32 *addr, u32 val)
{
	__atomic_store_n(addr, val, __ATOMIC_RELEASE);
	futex_wake(addr);
}

static void wait_while(u32 *addr, u32 val)
{
	while (__atomic_load_n(addr, __ATOMIC_ACQUIRE) == val)
		futex_wait(addr, val, NULL);
}

static void __printf(2, 3) note(struct ds_load_shared *sh, const char *fmt, ...)
{
	va_list ap;

	if (sh->nr_notes == DS_LOAD_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(sh->notes[sh->nr_notes], DS_LOAD_TEXT, fmt, ap);
	va_end(ap);
	ds_set(&sh->nr_notes, sh->nr_notes + 1);
}

static int __printf(3, 4) fail(struct ds_load_shared *sh, bool skip, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sh->text, sizeof(sh->text), fmt, ap);
	va_end(ap);
	sh->skip = skip;
	set_and_wake(&sh->state, DS_LOAD_FAILED);
	return -1;
}

static int enter_cgroup(struct child *c)
{
	int fd, ret = 0;

	if (!c->p->procs)
		return 0;
	fd = open(c->p->procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		ret = fail(c->sh, false, "the load cannot enter its cgroup: %s: %s", c->p->procs,
			   strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

/* What needs no device; together they take at most half of the memory. */
static int open_tmpfs(struct child *c)
{
	unsigned int files = c->p->threads * (DS_FLOOD_PRIVATE + 4);
	bool both = !c->p->no_tmpfs && c->p->huge_tmpfs;
	u64 bytes = c->p->memory / (both ? 4 : 2);
	char text[DS_LOAD_TEXT];
	int err;

	if (!c->p->no_tmpfs) {
		if (ds_places_add_tmpfs(&c->places, bytes, files, text, sizeof(text)))
			return fail(c->sh, false, "no place for files");
		if (text[0])
			note(c->sh, "%s", text);
	}
	if (!c->p->huge_tmpfs)
		return 0;
	err = ds_places_add_huge(&c->places, bytes, files, text, sizeof(text));
	return err ? fail(c->sh, err == -EINVAL, "%s", text) : 0;
}

static int open_places(struct child *c)
{
	char text[DS_LOAD_TEXT];
	unsigned int i;
	size_t n = 0;

	if (open_tmpfs(c))
		return -1;
	for (i = 0; i < c->p->nr_own; i++) {
		int err = ds_places_add_own(&c->places, &c->p->own[i]);

		if (err)
			return fail(c->sh, false, "%s: %s", c->p->own[i].name, strerror(-err));
	}
	if (!c->p->no_disk) {
		ds_places_add_ext4(&c->places, text, sizeof(text));
		if (text[0] && !c->p->nr_dirs)
			note(c->sh, "%s", text);
	}
	for (i = 0; i < c->p->nr_dirs; i++) {
		if (ds_places_add_dir(&c->places, c->p->dirs[i], text, sizeof(text)))
			return fail(c->sh, false, "--dir %s", text);
	}
	if (!c->places.nr)
		return fail(c->sh, false, "no directory to put files into");
	for (i = 0; i < c->places.nr && n < sizeof(c->sh->places); i++)
		n += snprintf(c->sh->places + n, sizeof(c->sh->places) - n, "%s%s", i ? ", " : "",
			      c->places.v[i].name);
	return 0;
}

/* How many threads descriptors and memory allow. */
static int limit_threads(struct child *c)
{
	unsigned int opens = 0, want = c->p->threads, i, most;
	unsigned int per_thread;
	struct rlimit rl;

	for (i = 0; i < c->p->choice.nr_ring; i++)
		opens |= ds_methods[c->p->choice.ring[i]].opens;
	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (getrlimit(RLIMIT_NOFILE, &rl))
		rl.rlim_cur = 1024;
	per_thread = FDS_A_THREAD + 1 + (opens ? DS_FLOOD_FILES : 0);
	if (c->p->mix.share && per_thread < DS_MIX_FDS)
		per_thread = DS_MIX_FDS;
	c->threads = want;
	if (rl.rlim_cur != RLIM_INFINITY) {
		most = rl.rlim_cur <= FDS_SPARE ? 0 : (rl.rlim_cur - FDS_SPARE) / per_thread;
		if (!most)
			return fail(c->sh, false,
				    "RLIMIT_NOFILE %llu is too low for one thread, which takes %u: raise it with ulimit -n",
				    (u64)rl.rlim_cur, FDS_SPARE + per_thread);
		if (most < c->threads) {
			note(c->sh, "RLIMIT_NOFILE %llu: %u of %u threads, ulimit -n %u for all",
			     (u64)rl.rlim_cur, most, want, FDS_SPARE + per_thread * want);
			c->threads = most;
		}
	}
	most = c->p->memory / 4 / THREAD_COST;
	if (!most)
		return fail(c->sh, false, "--memory %llu is too low for one thread, which takes %u",
			    c->p->memory, 4 * THREAD_COST);
	if (most < c->threads) {
		note(c->sh, "memory limit %llu MiB: %u of %u threads run", c->p->memory >> 20, most,
		     want);
		c->threads = most;
	}
	return 0;
}

/* Nothing that was asked for can be done: the first reason stands for all. */
static int nothing_left(struct ds_load_shared *sh, const struct ds_mix_choice *asked)
{
	unsigned int i, first = 0, nr = 0;

	for (i = ds_nr_ops; i-- > 0; ) {
		if (asked->weights[i]) {
			first = i;
			nr++;
		}
	}
	return fail(sh, true,
		    "none of the %u operations that are asked for can be done here: %s: %s; drainctl ops lists them all",
		    nr, ds_ops[first].name, sh->probes[first].why);
}

/* Only root changes what has to be put back. */
static void open_journal(struct child *c)
{
	if (geteuid())
		snprintf(c->no_undo, sizeof(c->no_undo), "only root may do what has to be undone");
	else
		c->env.undo = ds_undo_open(c->controller, c->no_undo, sizeof(c->no_undo));
	if (!c->env.undo)
		c->env.no_undo = c->no_undo;
}

/* Swap, when an operation wants it; the journal removes it. */
static void make_swap(struct child *c)
{
	if (!c->env.undo)
		c->env.no_swap = c->env.no_undo;
	else if (ds_own_swap_make(&c->swap, &c->places, c->controller, c->env.undo, c->no_swap,
				  sizeof(c->no_swap)))
		c->env.no_swap = c->no_swap;
	else
		c->env.swap = &c->swap;
}

/* How many mix threads there are, and what they do. */
static int choose_mix(struct child *c)
{
	struct ds_load_shared *sh = c->sh;
	struct rlimit rl;
	u32 want;
	u64 most;

	sh->mix = c->p->mix;
	if (!sh->mix.share)
		return 0;
	c->env.places = &c->places;
	c->env.cgroup = c->p->cgroup;
	c->env.opcodes = c->p->choice.nr_ring ? ds_mix_opcodes() : 0;
	open_journal(c);
	if (ds_mix_wants(&sh->mix, DS_G_SWAP))
		make_swap(c);
	ds_ops_probe(&c->env, sh->probes);
	ds_mix_restrict(&sh->mix, sh->probes);
	if (!sh->mix.total)
		return nothing_left(sh, &c->p->mix);
	want = ds_mix_threads(&sh->mix, c->threads);
	most = c->p->memory / MIX_PART / ds_mix_memory(DS_MIX_PAGES_MIN, false);
	c->nr_mix = want < most ? want : most;
	if (c->nr_mix < want)
		note(sh, "memory limit %llu MiB: %u of %u mix threads run",
		     c->p->memory >> 20, c->nr_mix, want);
	if (geteuid() && !getrlimit(RLIMIT_MEMLOCK, &rl) && rl.rlim_cur != RLIM_INFINITY)
		note(sh, "RLIMIT_MEMLOCK %llu KiB: mlock is refused beyond it",
		     (u64)rl.rlim_cur >> 10);
	ds_mix_catch_faults();
	return 0;
}

static struct ds_log log_of(const struct child *c, unsigned int t)
{
	return (struct ds_log){ .v = c->l->log + (size_t)t * c->l->log_size,
				.size = c->l->log_size, .frozen = &c->sh->frozen };
}

static bool is_mix(const struct child *c, unsigned int t)
{
	return t >= c->threads - c->nr_mix;
}

/* In a replay, a thread without a script has nothing to do and is not made. */
static bool idle(const struct child *c, unsigned int t)
{
	return c->p->scripts && !c->p->scripts[t].steps.nr;
}

/* A script's steps mean something else to a thread of the other sort. */
static int check_scripts(struct child *c)
{
	unsigned int t;

	for (t = 0; c->p->scripts && t < c->p->threads; t++) {
		if (idle(c, t))
			continue;
		if (t >= c->threads)
			return fail(c->sh, false, "there is no thread %u of the load here", t);
		if (c->p->scripts[t].mix != is_mix(c, t))
			return fail(c->sh, false, "thread %u of the load is %s thread here", t,
				    is_mix(c, t) ? "a mix" : "no mix");
	}
	return 0;
}

/* Files and mappings of the mix threads, within their part of the memory. */
static int set_up_mix(struct child *c)
{
	u64 part = c->nr_mix ? c->p->memory / MIX_PART / c->nr_mix : 0;
	u32 pages = DS_MIX_PAGES;
	unsigned int t;
	int ret;

	while (pages > DS_MIX_PAGES_MIN && ds_mix_memory(pages, false) > part)
		pages /= 2;
	c->sh->mix_pages = pages;
	if (c->nr_mix && ds_mix_memory(pages, true) > part)
		note(c->sh, "memory limit %llu MiB: mix threads have no memory for huge pages",
		     c->p->memory >> 20);
	for (t = c->threads - c->nr_mix; t < c->threads; t++) {
		struct ds_mix *m = &c->mixes[t];

		m->seed = c->p->seed;
		m->thread = t;
		m->choice = &c->p->mix;
		m->probes = c->sh->probes;
		m->env = &c->env;
		m->pages = pages;
		m->huge = ds_mix_memory(pages, true) <= part;
		m->use_ring = c->p->choice.nr_ring;
		m->plant = c->p->plant;
		m->stop = &c->sh->stop;
		m->slot = &c->sh->slots[t];
		m->hist = &c->l->hist[t];
		m->log = log_of(c, t);
		if (c->p->scripts)
			m->script = c->p->scripts[t].steps;
		m->mslot = &c->mix_slots[t];
		ret = ds_mix_open_files(m, &c->places);
		if (ret)
			return fail(c->sh, false, "no files for mix thread %u: %s", t,
				    strerror(-ret));
	}
	return 0;
}

static int open_shared_files(struct child *c)
{
	unsigned int i;

	c->nr_shared = (c->threads - c->nr_mix) / 4 + 1;
	c->shared_fds = calloc(c->nr_shared, sizeof(*c->shared_fds));
	if (!c->shared_fds)
		return fail(c->sh, false, "out of memory for %u files", c->nr_shared);
	for (i = 0; i < c->nr_shared; i++) {
		c->shared_fds[i] = ds_place_file(&c->places.v[i % c->places.nr]);
		if (c->shared_fds[i] < 0)
			return fail(c->sh, false, "%s: cannot make file %u: %s",
				    c->places.v[i % c->places.nr].name, i,
				    strerror(-c->shared_fds[i]));
	}
	return 0;
}

/* Three quarters of a thread's own files in the first place, the rest spread. */
static unsigned int place_of(const struct child *c, unsigned int thread, unsigned int k)
{
	if (c->places.nr == 1 || k < DS_FLOOD_PRIVATE - 1)
		return 0;
	return 1 + thread % (c->places.nr - 1);
}

static int open_thread_files(struct child *c, unsigned int t)
{
	struct ds_flood *f = &c->floods[t];
	unsigned int k, place;

	for (k = 0; k < DS_FLOOD_FILES; k++) {
		if (k < DS_FLOOD_PRIVATE) {
			place = place_of(c, t, k);
			f->fds[k] = ds_place_file(&c->places.v[place]);
			if (f->fds[k] < 0)
				return fail(c->sh, false, "%s: no file %u of thread %u: %s",
					    c->places.v[place].name, k, t, strerror(-f->fds[k]));
		} else {
			/* neighbours share one file, and all meet over the others */
			place = (k == DS_FLOOD_PRIVATE ? t / 4 : t * 7 + 1) % c->nr_shared;
			f->fds[k] = c->shared_fds[place];
			place %= c->places.nr;
		}
		if (c->places.v[place].disk)
			f->shape.disk_mask |= 1U << k;
	}
	return 0;
}

/* Every second thread stays on one CPU, so that it truncates where it filled. */
static void place_thread(unsigned int t)
{
	cpu_set_t all, one;
	int cpu, nr, want;

	if (t % 2 || sched_getaffinity(0, sizeof(all), &all))
		return;
	nr = CPU_COUNT(&all);
	want = (t / 2) % nr;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || want--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void settle(struct ds_load_shared *sh)
{
	__atomic_fetch_add(&sh->settled, 1, __ATOMIC_RELEASE);
	futex_wake(&sh->settled);
}

struct thread_arg {
	struct child *c;
	unsigned int t;
};

static void *thread_main(void *arg)
{
	struct thread_arg a = *(struct thread_arg *)arg;
	struct ds_flood *f = &a.c->floods[a.t];
	struct ds_load_shared *sh = a.c->sh;
	char name[16];
	int ret;

	free(arg);
	snprintf(name, sizeof(name), "flood/%u", a.t);
	pthread_setname_np(pthread_self(), name);
	place_thread(a.t);
	ret = ds_flood_setup(f);
	ds_set(&f->slot->last_errno, (u32)-ret);
	ds_set(&f->slot->state, ret ? DS_FLOOD_FAILED : DS_FLOOD_READY);
	settle(sh);
	if (ret)
		return NULL;
	wait_while(&sh->go, 0);
	ds_flood_run(f);
	ds_flood_teardown(f);
	return NULL;
}

static void *mix_main(void *arg)
{
	struct thread_arg a = *(struct thread_arg *)arg;
	struct ds_mix *m = &a.c->mixes[a.t];
	struct ds_load_shared *sh = a.c->sh;
	char name[16];
	int ret;

	free(arg);
	snprintf(name, sizeof(name), "mix/%u", a.t);
	pthread_setname_np(pthread_self(), name);
	place_thread(a.t);
	ret = ds_mix_setup(m);
	ds_set(&m->slot->last_errno, (u32)-ret);
	ds_set(&m->slot->state, ret ? DS_FLOOD_FAILED : DS_FLOOD_READY);
	settle(sh);
	if (!ret) {
		wait_while(&sh->go, 0);
		ds_mix_run(m);
	}
	ds_mix_teardown(m);
	return NULL;
}

static int start_threads(struct child *c)
{
	struct ds_load_shared *sh = c->sh;
	unsigned int t, started = 0, waiting = 0, ready = 0, mixing = 0;
	struct thread_arg *arg;
	pthread_attr_t attr;
	u32 settled;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (t = 0; t < c->threads; t++) {
		if (idle(c, t)) {
			ds_set(&sh->slots[t].state, DS_FLOOD_FINISHED);
			started++;
			continue;
		}
		arg = malloc(sizeof(*arg));
		if (!arg) {
			err = ENOMEM;
			break;
		}
		arg->c = c;
		arg->t = t;
		err = pthread_create(&c->ids[t], &attr, is_mix(c, t) ? mix_main : thread_main,
				     arg);
		if (err) {
			free(arg);
			break;
		}
		started++;
		waiting++;
	}
	pthread_attr_destroy(&attr);
	while ((settled = __atomic_load_n(&sh->settled, __ATOMIC_ACQUIRE)) < waiting)
		futex_wait(&sh->settled, settled, NULL);
	for (t = 0; t < started; t++) {
		if (ds_get(&sh->slots[t].state) == DS_FLOOD_READY) {
			ready++;
			mixing += is_mix(c, t);
		} else if (!idle(c, t)) {
			err = ds_get(&sh->slots[t].last_errno);
		}
	}
	c->threads = started;
	ds_set(&sh->made, started);
	if (!ready)
		return fail(sh, !ds_ring_short(err),
			    "no thread of the load could start: %s", strerror(err));
	if (err)
		note(sh, "%s: %u of %u threads run", strerror(err), ready, c->p->threads);
	ds_set(&sh->threads, ready);
	ds_set(&sh->mix_threads, mixing);
	return 0;
}

static int set_up(struct child *c)
{
	u64 files, pages, memory;
	unsigned int t, i, flood;

	if (enter_cgroup(c) || open_places(c) || limit_threads(c) || choose_mix(c) ||
	    check_scripts(c) || open_shared_files(c))
		return -1;
	flood = c->threads - c->nr_mix;
	c->sh->flood_threads = flood;
	files = (u64)flood * DS_FLOOD_PRIVATE + c->nr_shared;
	memory = c->p->memory / 2 - (c->nr_mix ? c->p->memory / MIX_PART : 0);
	pages = memory / DS_PAGE / files;
	/* nearly all files may be in one place */
	for (i = 0; i < c->places.nr; i++) {
		u64 room = c->places.v[i].room;

		/* the files of mix threads have their share */
		if (c->nr_mix)
			room = room / 4 * 3;
		if (room && room / DS_PAGE / files < pages)
			pages = room / DS_PAGE / files;
	}
	if (pages > DS_FLOOD_PAGES_MAX)
		pages = DS_FLOOD_PAGES_MAX;
	if (!pages)
		pages = 1;
	c->sh->max_pages = pages;
	c->data = malloc(pages * DS_PAGE);
	c->floods = calloc(c->threads, sizeof(*c->floods));
	c->mixes = calloc(c->threads, sizeof(*c->mixes));
	c->ids = calloc(c->threads, sizeof(*c->ids));
	if (!c->data || !c->floods || !c->mixes || !c->ids)
		return fail(c->sh, false, "out of memory for %u threads", c->threads);
	memset(c->data, 0x5a, pages * DS_PAGE);
	for (t = 0; t < flood; t++) {
		struct ds_flood *f = &c->floods[t];

		f->seed = c->p->seed;
		f->thread = t;
		f->choice = c->p->choice;
		f->shape.nr_files = DS_FLOOD_FILES;
		f->shape.max_pages = pages;
		f->shape.nr_ring = c->p->choice.nr_ring;
		f->shape.syscall_share = c->p->choice.syscall_share;
		f->data = c->data;
		f->stop = &c->sh->stop;
		f->slot = &c->sh->slots[t];
		f->hist = &c->l->hist[t];
		f->log = log_of(c, t);
		if (c->p->scripts)
			f->script = c->p->scripts[t].steps;
		if (open_thread_files(c, t))
			return -1;
	}
	if (set_up_mix(c))
		return -1;
	/* mix threads make files for a moment */
	if (!c->nr_mix)
		ds_places_close(&c->places);
	return start_threads(c);
}

/*
 * An inherited netlink socket would keep the run's ownership alive after the
 * controller died, so nothing but the standard descriptors and the file systems
 * that were made for the load stays.
 */
static int close_inherited(const struct ds_load_params *p)
{
	unsigned int from = 3, i;
	int next;

	for (;;) {
		next = -1;
		for (i = 0; i < p->nr_own; i++) {
			int fd = p->own[i].fd;

			if (fd >= (int)from && (next < 0 || fd < next))
				next = fd;
		}
		if (next < 0)
			return close_range(from, ~0U, 0);
		if (next > (int)from && close_range(from, next - 1, 0))
			return -1;
		from = next + 1;
	}
}

static void __noreturn child_main(const struct ds_load_params *p, const struct ds_load *l,
				  pid_t parent)
{
	struct ds_load_shared *sh = l->sh;
	struct child c = { .p = p, .sh = sh,
		.mix_slots = l->mix, .l = l, .controller = parent };
	unsigned int t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (close_inherited(p))
		_exit(1);
	/* ^C on a terminal reaches both: the controller decides */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "drainctl-load");
	/* best effort: without it the run is only less protected */
	ds_write_text("/proc/self/oom_score_adj", "1000");
	if (set_up(&c)) {
		ds_undo_close(c.env.undo, NULL, NULL);
		_exit(1);
	}
	if (l->log_size < DS_DECISIONS)
		note(sh, "each of the %u threads keeps its last %u operations, not %u",
		     c.threads, l->log_size, DS_DECISIONS);
	set_and_wake(&sh->state, DS_LOAD_READY);
	for (t = 0; t < c.threads; t++)
		if (!idle(&c, t))
			pthread_join(c.ids[t], NULL);
	ds_undo_close(c.env.undo, NULL, NULL);
	set_and_wake(&sh->state, DS_LOAD_DONE);
	_exit(0);
}

/* Entries of a thread's log. */
static u32 log_size(const struct ds_load_params *p)
{
	u64 most = p->memory / LOG_PART < LOG_BYTES ? p->memory / LOG_PART : LOG_BYTES;
	u32 size = DS_DECISIONS;

	while (size > LOG_MIN && (u64)size * p->threads * sizeof(struct ds_log_entry) > most)
		size /= 2;
	return size;
}

/**
 * ds_load_start() - fork the child; it sets itself up and waits at the gate
 * @l: zeroed by the caller
 * @p: copied by the fork, may be freed afterwards
 *
 * Call it while the process has one thread only.
 *
 * Return: 0 or -errno.
 */
int ds_load_start(struct ds_load *l, const struct ds_load_params *p)
{
	pid_t parent = getpid();
	int err;

	l->slots = p->threads;
	l->log_size = log_size(p);
	/* what is not touched of it, as most of a histogram, is no memory yet */
	l->size = sizeof(*l->sh) + l->slots * (sizeof(l->sh->slots[0]) + sizeof(*l->mix) +
					       sizeof(*l->hist) + l->log_size * sizeof(*l->log));
	l->sh = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->sh == MAP_FAILED) {
		l->sh = NULL;
		return -errno;
	}
	l->mix = (struct ds_mix_slot *)&l->sh->slots[l->slots];
	l->hist = (struct ds_thread_hist *)&l->mix[l->slots];
	l->log = (struct ds_log_entry *)&l->hist[l->slots];
	fflush(NULL);
	l->pid = fork();
	if (l->pid < 0) {
		err = -errno;
		l->pid = 0;
		ds_load_free(l);
		return err;
	}
	if (!l->pid)
		child_main(p, l, parent);
	return 0;
}

/**
 * ds_load_wait_ready() - wait until the threads stand at the gate
 *
 * Return: 0; -ECANCELED when the set-up failed, l->sh->text says why and
 * l->sh->skip whether the host cannot do it at all; -ECHILD when the child
 * died; -ETIMEDOUT.
 */
int ds_load_wait_ready(struct ds_load *l, unsigned int timeout_ms)
{
	unsigned int waited;
	int status;

	for (waited = 0; waited < timeout_ms; waited += 10) {
		switch (__atomic_load_n(&l->sh->state, __ATOMIC_ACQUIRE)) {
		case DS_LOAD_READY:
			return 0;
		case DS_LOAD_FAILED:
			return -ECANCELED;
		default:
			break;
		}
		if (ds_load_wait(l, 0, &status) != -ETIMEDOUT)
			return l->sh->state == DS_LOAD_FAILED ? -ECANCELED : -ECHILD;
		ds_sleep_ms(10);
	}
	return -ETIMEDOUT;
}

/**
 * ds_load_go() - open the gate
 */
void ds_load_go(struct ds_load *l)
{
	set_and_wake(&l->sh->go, 1);
}

/**
 * ds_load_stop() - ask all threads to end; returns at once
 */
void ds_load_stop(struct ds_load *l)
{
	if (!l->sh)
		return;
	set_and_wake(&l->sh->stop, 1);
	set_and_wake(&l->sh->go, 1);
}

/**
 * ds_load_wait() - reap the child
 * @timeout_ms: 0 looks once
 * @status: as of waitpid(2)
 *
 * Return: 0 when it is gone (pid is 0 then), -ETIMEDOUT, -ECHILD when there is
 * none.
 */
int ds_load_wait(struct ds_load *l, unsigned int timeout_ms, int *status)
{
	unsigned int waited = 0;
	pid_t pid;

	if (!l->pid)
		return -ECHILD;
	for (;;) {
		pid = waitpid(l->pid, status, WNOHANG);
		if (pid == l->pid || (pid < 0 && errno == ECHILD)) {
			l->pid = 0;
			return 0;
		}
		if (waited >= timeout_ms)
			return -ETIMEDOUT;
		ds_sleep_ms(5);
		waited += 5;
	}
}

/**
 * ds_load_kill() - SIGKILL; the caller still has to wait
 */
void ds_load_kill(struct ds_load *l)
{
	if (l->pid > 0)
		kill(l->pid, SIGKILL);
}

static void add_mix(struct ds_mix_totals *t, const struct ds_mix_slot *s)
{
	unsigned int i, path;
	u64 violations = __atomic_load_n(&s->violations, __ATOMIC_ACQUIRE);

	for (i = 0; i < ds_nr_ops; i++) {
		for (path = 0; path < DS_NR_PATHS; path++)
			t->ran[i][path] += ds_get(&s->ran[i][path]);
		t->refused[i] += ds_get(&s->refused[i]);
	}
	t->verified += ds_get(&s->verified);
	t->planted += ds_get(&s->planted);
	if (violations && (!t->violations || s->first.time_ns < t->first.time_ns))
		t->first = s->first;
	t->violations += violations;
	if (!__atomic_load_n(&s->failed, __ATOMIC_ACQUIRE) || t->failed)
		return;
	t->failed = true;
	t->failed_op = s->failed_op;
	t->failed_errno = s->failed_errno;
	memcpy(t->failed_place, s->failed_place, sizeof(t->failed_place));
}

/**
 * ds_load_sum() - add up what the threads counted so far
 */
void ds_load_sum(const struct ds_load *l, struct ds_load_totals *t)
{
	unsigned int i, m;

	memset(t, 0, sizeof(*t));
	for (i = 0; l->sh && i < l->slots; i++) {
		const struct ds_slot *s = &l->sh->slots[i];
		u32 state = ds_get(&s->state);

		for (m = 0; m < ds_nr_methods; m++) {
			t->truncates[m] += ds_get(&s->truncates[m]);
			t->all_truncates += ds_get(&s->truncates[m]);
		}
		t->mix_truncates += ds_get(&s->mix_truncates);
		t->all_truncates += ds_get(&s->mix_truncates);
		add_mix(&t->mix, &l->mix[i]);
		t->trunc_errors += ds_get(&s->trunc_errors);
		t->steps += ds_get(&s->steps);
		t->pages += ds_get(&s->pages);
		t->advised += ds_get(&s->advised);
		t->submitted += ds_get(&s->submitted);
		t->reaped += ds_get(&s->reaped);
		t->dropped += ds_get(&s->dropped);
		t->no_space += ds_get(&s->no_space);
		t->no_memory += ds_get(&s->no_memory);
		t->retries += ds_get(&s->retries);
		t->other_errors += ds_get(&s->other_errors);
		if (ds_get(&s->last_errno))
			t->last_errno = ds_get(&s->last_errno);
		t->broken += state == DS_FLOOD_BROKEN;
		t->finished += state == DS_FLOOD_FINISHED;
	}
}

/**
 * ds_load_freeze() - the logs stay as they are: what follows does not matter
 */
void ds_load_freeze(struct ds_load *l)
{
	if (l->sh)
		ds_set(&l->sh->frozen, 1);
}

/**
 * ds_load_log() - entry @n, from 0, of the log of thread @t, the oldest first
 *
 * The load has to be gone, or the log frozen.
 *
 * Return: 1, 0 when there is none.
 */
unsigned int ds_load_log(const struct ds_load *l, unsigned int t, u64 n, struct ds_log_entry *e)
{
	u64 logged = __atomic_load_n(&l->sh->slots[t].logged, __ATOMIC_ACQUIRE);
	u64 first = logged > l->log_size ? logged - l->log_size : 0;

	if (first + n >= logged)
		return 0;
	*e = l->log[(size_t)t * l->log_size + (first + n) % l->log_size];
	return 1;
}

/**
 * ds_load_hist() - how long the truncates of a thread took
 * @t: 0 to l->slots - 1
 *
 * Has as many values as the thread made truncates, once the load is gone.
 */
const struct drainstress_hist *ds_load_hist(const struct ds_load *l, unsigned int t)
{
	return &l->hist[t].h;
}

/**
 * ds_load_hash() - a hash over the first DS_DECISIONS decisions of each thread
 * @seed: as the load was started with
 * @mix: likewise
 *
 * Of those that were taken, and of those that no thread reached.  The load has
 * to be gone.
 *
 * Return: 0 when there was no thread.
 */
u64 ds_load_hash(const struct ds_load *l, u64 seed, const struct ds_mix_choice *mix)
{
	u64 hash = 0, mine, index;
	u32 t, flood;

	if (!l->sh || !l->sh->made)
		return 0;
	flood = l->sh->flood_threads;
	for (t = 0; t < l->sh->made; t++) {
		mine = l->sh->slots[t].hash;
		for (index = l->sh->slots[t].hashed; index < DS_DECISIONS; index++)
			mine = t < flood ? ds_flood_hash(mine, seed, t, index) :
			       ds_mix_hash(mine, mix, seed, t, index);
		hash = ds_decide_fold(hash, mine);
	}
	return hash;
}

/**
 * ds_load_free() - give the shared memory back; the child must be gone or hung
 */
void ds_load_free(struct ds_load *l)
{
	if (l->sh)
		munmap(l->sh, l->size);
	l->sh = NULL;
}

/**
 * ds_flood_op_name() - for the report of a thread that stopped
 */
const char *ds_flood_op_name(u32 op)
{
	static const char * const names[] = {
		[DS_FLOOD_OP_NONE] = "not started",
		[DS_FLOOD_OP_WRITE] = "write",
		[DS_FLOOD_OP_ADVISE] = "fadvise(DONTNEED)",
		[DS_FLOOD_OP_SUBMIT] = "io_uring submit",
		[DS_FLOOD_OP_REAP] = "waiting for an io_uring truncate",
		[DS_FLOOD_OP_SYSCALL] = "ftruncate(2)",
		[DS_FLOOD_OP_DONE] = "done",
	};

	if (op >= DS_FLOOD_OP_MIX && op - DS_FLOOD_OP_MIX < ds_nr_ops)
		return ds_ops[op - DS_FLOOD_OP_MIX].name;
	return op < ARRAY_SIZE(names) ? names[op] : "?";
}
