// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations that move folios between nodes, charge them to control groups that
 * come and go, pin them for long, and swap.  Which one is done when is decided in mix.c,
 * move_pages(2) is in op_map.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "op_file.h"
#include "own_swap.h"
#include "text.h"

#define GROUP_PAGES 8U		/* of each kind that a child touches */
#define GROUP_PATH 512
#define BIND_REST_MS 100
#define SWAP_REST_MS 1000
#define ROUNDS_MAX 1000		/* of a child, until its parent has moved it */

static u64 bytes(u32 pages)
{
	return (u64)pages * DS_VPAGE;
}

/* ---- mbind ---- */

/*
 * MPOL_DEFAULT names no node, so that every page is on a wrong one and is moved,
 * be there one node or more; MPOL_PREFERRED moves those that are elsewhere.  Never
 * MPOL_BIND: a node that is full would mean the OOM killer.
 */
DS_OP(mbind)
{
	u64 mask = 1ULL << ds_op_node(ds_op_nodes(), s->choice / 2);
	struct ds_mix_turn turn;
	static u64 due;
	u32 page, pages;
	long ret;

	/* do_mbind() disables the cache of folios for as long as it takes */
	if (!ds_op_range(m, s, ds_op_touchable(t), &page, &pages) ||
	    !ds_mix_disable_begin(&turn, &due, BIND_REST_MS))
		return 1;
	if (s->choice % 2)
		ret = syscall(SYS_mbind, t->map + bytes(page), bytes(pages), MPOL_PREFERRED, &mask,
			      8 * sizeof(mask) + 1, MPOL_MF_MOVE);
	else
		ret = syscall(SYS_mbind, t->map + bytes(page), bytes(pages), MPOL_DEFAULT, NULL, 0,
			      MPOL_MF_MOVE);
	ret = ret ? -errno : 0;
	ds_mix_disable_end(&turn);
	return ret;
}

/* ---- control groups ---- */

enum group_step {
	STARTED,
	CHARGED,	/* the child has touched all, and goes on */
	MOVED,		/* or need not be: the child may end */
	FAILED,		/* @error says why */
};

/* Shared by a mix thread and its short-lived child. */
struct group_shared {
	u32 step;	/* enum group_step, a futex */
	u32 error;
};

/**
 * struct group_work - what the child does
 * @procs:	cgroup.procs of the group that it enters
 * @fd:		a new file
 * @data:	the pages it writes everywhere
 * @anon:	memory that the parent never touches
 * @out:	shared memory, for what the child reads back from @anon
 */
struct group_work {
	pid_t parent;
	int procs;
	int fd;
	u32 pages;
	const u8 *data;
	u8 *anon;
	u8 *out;
	struct group_shared *sh;
};

static void set_step(struct group_shared *sh, u32 step)
{
	__atomic_store_n(&sh->step, step, __ATOMIC_RELEASE);
	syscall(SYS_futex, &sh->step, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void __noreturn child_failed(struct group_shared *sh)
{
	sh->error = errno;
	set_step(sh, FAILED);
	_exit(1);
}

/*
 * The child was forked from one of many threads, so it may call only what is safe in
 * a signal handler.  It reads and writes its memory for as long as it is moved.
 */
static void __noreturn child_main(const struct group_work *w)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	u64 len = bytes(w->pages);
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != w->parent)
		_exit(1);
	if (write(w->procs, "0", 1) != 1)
		child_failed(w->sh);
	memcpy(w->anon, w->data, len);
	if (pwrite(w->fd, w->data, len, 0) != (ssize_t)len)
		child_failed(w->sh);
	memcpy(w->out, w->anon, len);
	set_step(w->sh, CHARGED);
	for (i = 0; i < ROUNDS_MAX; i++) {
		memcpy(w->out, w->anon, len);
		memcpy(w->anon, w->out, len);
		if (__atomic_load_n(&w->sh->step, __ATOMIC_ACQUIRE) == MOVED)
			_exit(0);
		nanosleep(&pause, NULL);
	}
	/* the parent is slow: it moves a child that sleeps */
	while (__atomic_load_n(&w->sh->step, __ATOMIC_ACQUIRE) != MOVED)
		syscall(SYS_futex, &w->sh->step, FUTEX_WAIT, CHARGED, NULL, NULL, 0);
	_exit(0);
}

/* Until the child has touched all.  Return: 0 or -errno; it may be gone then. */
static int wait_charged(struct group_shared *sh, pid_t pid, bool *gone)
{
	const struct timespec limit = { .tv_nsec = 20000000 };
	u32 step;

	while ((step = __atomic_load_n(&sh->step, __ATOMIC_ACQUIRE)) == STARTED && !*gone) {
		syscall(SYS_futex, &sh->step, FUTEX_WAIT, STARTED, &limit, NULL, 0);
		*gone = waitpid(pid, NULL, WNOHANG) == pid;
	}
	step = __atomic_load_n(&sh->step, __ATOMIC_ACQUIRE);
	if (step == FAILED)
		return sh->error ? -(int)sh->error : -EINTR;
	/* killed: by the OOM killer, as the load's group has a limit */
	return step == STARTED ? -ENOMEM : 0;
}

/* A group of this thread's below the load's. */
static void group_path(const struct ds_mix *m, const char *name, const char *file, char *path)
{
	snprintf(path, GROUP_PATH, "%s/%s-%u%s%s", m->env->cgroup, name, m->thread,
		 file ? "/" : "", file ? file : "");
}

static int group_make(const struct ds_mix *m, const char *name)
{
	char path[GROUP_PATH];

	group_path(m, name, NULL, path);
	/* one that could not be removed the last time will do */
	return mkdir(path, 0755) && errno != EEXIST ? -errno : 0;
}

static int group_remove(const struct ds_mix *m, const char *name)
{
	char path[GROUP_PATH];

	group_path(m, name, NULL, path);
	return rmdir(path) ? -errno : 0;
}

/* Is there anything charged to the group?  Return: 0, -ENODATA or -errno. */
static int group_charged(const struct ds_mix *m, const char *name)
{
	char path[GROUP_PATH];
	u64 used = 0;
	int ret;

	group_path(m, name, "memory.current", path);
	ret = ds_read_u64(path, &used);
	if (ret)
		return ret;
	return used ? 0 : -ENODATA;
}

static int group_enter(const struct ds_mix *m, const char *name, pid_t pid)
{
	char path[GROUP_PATH], num[16];

	int ret;

	group_path(m, name, "cgroup.procs", path);
	snprintf(num, sizeof(num), "%d", pid);
	ret = ds_write_text(path, num);
	/* the OOM killer was faster */
	return ret == -ESRCH ? -EAGAIN : ret;
}

/* What the child wrote into the file and what it read from its memory. */
static int group_verify(struct ds_mix *m, struct ds_target *t, const struct group_work *w)
{
	int ret = ds_mix_check_pages(m, t, &t->model, 0, w->out, bytes(w->pages));

	return ret ? ret : ds_op_sweep(m, t);
}

/* Fork the child, have it touch, perhaps move it, and wait for its end. */
static int group_child(struct ds_mix *m, const struct group_work *w, bool move)
{
	bool gone = false;
	pid_t pid;
	int ret;

	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		child_main(w);
	ret = wait_charged(w->sh, pid, &gone);
	if (!ret)
		ret = group_charged(m, "from");
	if (!ret && move)
		ret = group_enter(m, "to", pid);
	set_step(w->sh, MOVED);
	while (!gone && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

static int group_work(struct ds_mix *m, struct ds_target *t, struct group_work *w, bool move)
{
	u32 i;
	int ret, verified;

	for (i = 0; i < w->pages; i++)
		ds_model_fill(&t->model, i, m->index, &m->filled[i], m->buf + bytes(i));
	ret = group_child(m, w, move);
	if (ret)
		return ret;
	for (i = 0; i < w->pages; i++)
		ds_model_put(&t->model, i, &m->filled[i]);
	ds_add(&m->slot->pages, 3 * w->pages);
	/* its folios stay, on lists and in batches of a group that is no more */
	if (!move)
		ret = group_remove(m, "from");
	/* a group that could not be removed excuses no wrong data */
	verified = group_verify(m, t, w);
	return verified ? verified : ret;
}

/* The same with all that it needs: groups, memory, a file. */
static int with_groups(struct ds_mix *m, const struct ds_mix_step *s, bool move)
{
	const struct ds_place *place = &m->env->places->v[s->choice % m->env->places->nr];
	struct group_work w = { .parent = getpid(), .procs = -1, .data = m->buf,
				.pages = 1 + s->pages % GROUP_PAGES };
	u64 len = bytes(w.pages);
	char path[GROUP_PATH];
	u8 *shared = MAP_FAILED, *anon = MAP_FAILED;
	struct ds_target temp;
	int ret;

	w.fd = ds_place_file(place);
	if (w.fd < 0)
		return w.fd;
	ret = ds_op_temp_init(m, &temp, w.fd, place->name, w.pages);
	if (ret)
		goto unmap;
	shared = mmap(NULL, len + DS_VPAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	anon = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || anon == MAP_FAILED) {
		ret = -errno;
		goto unmap;
	}
	w.sh = (struct group_shared *)shared;
	w.out = shared + DS_VPAGE;
	w.anon = anon;
	ret = group_make(m, "from");
	if (!ret && move)
		ret = group_make(m, "to");
	if (ret)
		goto remove;
	group_path(m, "from", "cgroup.procs", path);
	w.procs = open(path, O_WRONLY | O_CLOEXEC);
	if (w.procs < 0)
		ret = -errno;
	else
		ret = group_work(m, &temp, &w, move);
	if (w.procs >= 0)
		close(w.procs);
remove:
	group_remove(m, "from");
	if (move)
		group_remove(m, "to");
unmap:
	if (shared != MAP_FAILED)
		munmap(shared, len + DS_VPAGE);
	if (anon != MAP_FAILED)
		munmap(anon, len);
	ds_op_temp_end(&temp);
	return ret;
}

/* One at a time: the kernel makes, moves and removes them under one lock. */
static int one_at_a_time(struct ds_mix *m, const struct ds_mix_step *s, bool move)
{
	static u32 busy;
	int ret;

	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return 1;
	ret = with_groups(m, s, move);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	return ret;
}

DS_OP(cgroup_move)
{
	(void)t;
	return one_at_a_time(m, s, true);
}

DS_OP(cgroup_remove)
{
	(void)t;
	return one_at_a_time(m, s, false);
}

/**
 * ds_probe_cgroup() - groups with a memory controller below the load's
 */
bool ds_probe_cgroup(const struct ds_op_env *env, char *why, size_t len)
{
	char dir[GROUP_PATH], path[GROUP_PATH + 32];
	bool there;

	if (!env->cgroup) {
		snprintf(why, len,
			 "the load has no control group of its own: it wants root and cgroup v2");
		return false;
	}
	snprintf(dir, sizeof(dir), "%s/probe", env->cgroup);
	if (mkdir(dir, 0755) && errno != EEXIST) {
		snprintf(why, len, "no group can be made below the load's: %s", strerror(errno));
		return false;
	}
	snprintf(path, sizeof(path), "%s/memory.current", dir);
	there = !access(path, R_OK);
	rmdir(dir);
	if (!there)
		snprintf(why, len,
			 "groups below the load's have no memory controller: cgroup v2 has none here");
	return there;
}

/**
 * ds_probe_mbind() - can mbind(2) move pages?
 */
bool ds_probe_mbind(const struct ds_op_env *env, char *why, size_t len)
{
	void *map;
	int err;

	(void)env;
	map = mmap(NULL, DS_VPAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		snprintf(why, len, "there is no memory to try mbind: %s", strerror(errno));
		return false;
	}
	err = syscall(SYS_mbind, map, (unsigned long)DS_VPAGE, MPOL_DEFAULT, NULL, 0UL,
		      MPOL_MF_MOVE) ? errno : 0;
	munmap(map, DS_VPAGE);
	if (err)
		snprintf(why, len, "mbind: %s: the kernel needs CONFIG_NUMA", strerror(err));
	return !err;
}

/* ---- long-term pins ---- */

/*
 * What the kernel does not pin for long: pages of files that are written back.
 * Linux 6.1 says EOPNOTSUPP there (io_uring/rsrc.c), 6.12 EFAULT (mm/gup.c).
 */
static int pin_error(const struct ds_target *t, int ret)
{
	if (ret != -EFAULT || t->fd < 0)
		return ret;
	/* a hole for which there is no room */
	return t->tmpfs ? -ENOSPC : -EOPNOTSUPP;
}

/* Pages as the device would read them: through the pin into a file, and compared. */
static int pin_check(struct ds_mix *m, struct ds_target *t, u8 *at, u32 page, u32 pages)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_WRITE_FIXED);
	int fd, ret;

	if (!sqe)
		return 0;
	fd = memfd_create("drainstress-pin", MFD_CLOEXEC);
	/* the request that was taken has to be made all the same: it fails */
	io_uring_prep_write_fixed(sqe, fd, at, bytes(pages), 0, 0);
	ret = ds_mix_wait(m);
	if (fd < 0)
		return -EMFILE;
	if (ret == (int)bytes(pages)) {
		ret = pread(fd, m->buf, bytes(pages), 0);
		ret = ret < 0 ? -errno : ds_mix_check_pages(m, t, &t->model, page, m->buf, ret);
	} else if (ret >= 0) {
		ret = -ENOSPC;
	}
	close(fd);
	return ret;
}

/* New data as the device would write it: through the pin, and into the model. */
static int pin_fill(struct ds_mix *m, struct ds_target *t, u32 pages)
{
	int fd = memfd_create("drainstress-pin", MFD_CLOEXEC), ret;
	struct io_uring_sqe *sqe;
	u32 i;

	if (fd < 0)
		return -errno;
	for (i = 0; i < pages; i++)
		ds_model_fill(&t->model, i, m->index, &m->filled[i], m->buf + bytes(i));
	ret = pwrite(fd, m->buf, bytes(pages), 0);
	sqe = ret == (int)bytes(pages) ? ds_mix_sqe(m, IORING_OP_READ_FIXED) : NULL;
	if (sqe) {
		io_uring_prep_read_fixed(sqe, fd, t->map, bytes(pages), 0, 0);
		ret = ds_mix_wait(m);
	}
	close(fd);
	if (!sqe || ret != (int)bytes(pages)) {
		ds_model_set(&t->model, 0, pages, DS_VPAGE_UNKNOWN);
		return ret < 0 ? ret : -ENOSPC;
	}
	for (i = 0; i < pages; i++)
		ds_model_put(&t->model, i, &m->filled[i]);
	return ds_mix_check_pages(m, t, &t->model, 0, t->map, bytes(pages));
}

/* Memory that only the pin uses: anonymous or of a memfd. */
static int pin_own(struct ds_mix *m, const struct ds_mix_step *s)
{
	u32 i, pages = 1 + s->pages % DS_PIN_PAGES;
	struct ds_target *t = &m->pin;
	int fd = -1, ret;

	if (s->choice / 2 % 2) {
		fd = memfd_create("drainstress-pin", MFD_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	ret = ds_op_temp_init(m, t, fd, fd < 0 ? "pinned memory" : "pinned memfd", pages);
	if (ret)
		return ret;
	t->tmpfs = true;
	if (fd >= 0 && ftruncate(fd, bytes(pages)))
		return -errno;
	t->map = mmap(NULL, bytes(pages), PROT_READ | PROT_WRITE,
		      fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (t->map == MAP_FAILED) {
		t->map = NULL;
		return -errno;
	}
	t->model.size = bytes(pages);
	for (i = 0; i < pages; i++) {
		ds_model_fill(&t->model, i, m->index, &m->filled[0], m->buf);
		ret = ds_mix_copy(m, t->map + bytes(i), m->buf, DS_VPAGE);
		if (ret)
			return ret;
		ds_model_put(&t->model, i, &m->filled[0]);
	}
	ds_model_note(&t->model, "%llu written, to be pinned: %u pages", m->index, pages);
	return 0;
}

/**
 * ds_op_pin_drop() - give up what is pinned; the ring may be gone already
 */
void ds_op_pin_drop(struct ds_mix *m)
{
	struct ds_target *t = &m->pin;

	if (m->pinned && m->ring_up)
		io_uring_unregister_buffers(&m->ring);
	m->pinned = false;
	if (!t->kind)
		return;
	if (t->map)
		munmap(t->map, bytes(t->model.max));
	ds_op_temp_end(t);
	t->kind = 0;
}

static int pin_register(struct ds_mix *m, const struct ds_target *t, u8 *at, u32 pages)
{
	const struct iovec iov = { .iov_base = at, .iov_len = bytes(pages) };
	int ret = io_uring_register_buffers(&m->ring, &iov, 1);

	m->used_ring = true;
	m->pinned = !ret;
	return ret ? pin_error(t, ret) : 0;
}

static int pin_begin(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t)
{
	u32 page = 0, pages;
	int ret = 0;

	if (s->choice % 2) {
		/* what the other operations go on with */
		if (!ds_op_range(m, s, ds_op_touchable(t), &page, &pages))
			return 1;
	} else {
		ret = pin_own(m, s);
		t = &m->pin;
		pages = t->model.max;
	}
	if (!ret)
		ret = pin_register(m, t, t->map + bytes(page), pages);
	if (!ret)
		ret = pin_check(m, t, t->map + bytes(page), page, pages);
	if (ret && (t == &m->pin || !m->pinned))
		ds_op_pin_drop(m);
	return ret;
}

/* The pages must still be those that are mapped, and must hold what they held. */
static int pin_end(struct ds_mix *m)
{
	struct ds_target *t = &m->pin;
	int ret = 0;

	if (t->kind) {
		ret = pin_check(m, t, t->map, 0, t->model.max);
		if (!ret)
			ret = pin_fill(m, t, t->model.max);
	}
	ds_op_pin_drop(m);
	return ret;
}

/*
 * Buffers that are registered with the ring are pinned (FOLL_LONGTERM), until the
 * next of these operations of the thread.
 */
DS_OP(pin)
{
	if (!m->ring_up || m->ring_broken)
		return 1;
	m->step_ring = true;
	return m->pinned ? pin_end(m) : pin_begin(m, s, t);
}

/**
 * ds_probe_pin() - can buffers be registered with a ring?
 */
bool ds_probe_pin(const struct ds_op_env *env, char *why, size_t len)
{
	u64 need = 1ULL << IORING_OP_READ_FIXED | 1ULL << IORING_OP_WRITE_FIXED;
	static u8 page[DS_VPAGE] __aligned(DS_VPAGE);
	const struct iovec iov = { .iov_base = page, .iov_len = sizeof(page) };
	struct rlimit rl = { .rlim_cur = 0 };
	struct io_uring ring;
	int ret;

	if ((env->opcodes & need) != need) {
		snprintf(why, len,
			 "io_uring is not used: the kernel, sysctl kernel.io_uring_disabled or --method forbid it");
		return false;
	}
	ret = io_uring_queue_init(1, &ring, 0);
	if (ret) {
		snprintf(why, len, "there is no ring to register buffers with: %s", strerror(-ret));
		return false;
	}
	ret = io_uring_register_buffers(&ring, &iov, 1);
	io_uring_queue_exit(&ring);
	getrlimit(RLIMIT_MEMLOCK, &rl);
	if (ret)
		snprintf(why, len,
			 "a registered buffer: %s: RLIMIT_MEMLOCK is %llu, and root is free of it",
			 strerror(-ret), (u64)rl.rlim_cur);
	return !ret;
}

/* ---- swap ---- */

#define SWAPPED_BIT 62		/* Documentation/admin-guide/mm/pagemap.rst */

/* Pages of a mapping that are swapped out just now, or -errno. */
static int swapped_pages(const u8 *map, u32 pages)
{
	u64 entries[DS_MIX_PAGES];
	u32 at, i, n;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), nr = 0;

	if (fd < 0)
		return -errno;
	for (at = 0; at < pages; at += n) {
		n = pages - at < DS_MIX_PAGES ? pages - at : DS_MIX_PAGES;
		if (pread(fd, entries, n * sizeof(*entries),
			  ((unsigned long)map / DS_VPAGE + at) * sizeof(*entries)) !=
		    (ssize_t)(n * sizeof(*entries))) {
			nr = errno ? -errno : -EIO;
			break;
		}
		for (i = 0; i < n; i++)
			nr += (entries[i] >> SWAPPED_BIT) & 1;
	}
	close(fd);
	return nr;
}

/* Done when a page of the range has gone; else there was nothing to do. */
DS_OP(swap_out)
{
	u32 page, pages;
	int ret;

	if (!ds_get(&m->env->swap->on) ||
	    !ds_op_range(m, s, ds_op_touchable(t), &page, &pages))
		return 1;
	if (madvise(t->map + bytes(page), bytes(pages), MADV_PAGEOUT))
		return -errno;
	ret = swapped_pages(t->map + bytes(page), pages);
	return ret < 0 ? ret : !ret;
}

/* All that the mapping holds, and is it what was swapped out? */
DS_OP(swap_in)
{
	int ret = swapped_pages(t->map, ds_op_touchable(t));

	(void)s;
	if (ret <= 0)
		return ret ? ret : 1;
	return ds_mix_sweep_mapping(m, t);
}

/* One at a time, as the others could only wait for it. */
DS_OP(swap_cycle)
{
	static u32 busy;
	static u64 due;
	int ret = 0;

	(void)s;
	(void)t;
	if (!ds_mix_rested(&due, SWAP_REST_MS) ||
	    __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return 1;
	/* where it could not be switched on the last time, that is all */
	if (ds_get(&m->env->swap->on))
		ret = ds_own_swap_off(m->env->swap);
	if (!ret)
		ret = ds_own_swap_on(m->env->swap);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	return ret;
}

/**
 * ds_probe_swap() - is there swap of the load's own, or would there be?
 */
bool ds_probe_swap(const struct ds_op_env *env, char *why, size_t len)
{
	if (env->swap)
		return true;
	if (env->no_swap)
		snprintf(why, len, "%s", env->no_swap);
	else
		return ds_own_swap_can(env->places, why, len);
	return false;
}
