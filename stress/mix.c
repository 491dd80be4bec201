// SPDX-License-Identifier: GPL-2.0-only
/*
 * One mix thread: files and mappings of its own, one operation of ds_ops[] after
 * the other, each picked by (seed, thread, index), and data that is compared with
 * the model all the time and once more at the end.  What an operation does is in
 * op_file.c, op_map.c and op_move.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock.h"
#include "op_file.h"

#define SHM_PAGES 16
#define SWEEP_EVERY 64		/* operations */
#define PLANT_EVERY 32
#define RING_ENTRIES 8
#define RING_TRIES 1000
#define XFS_MAGIC 0x58465342

/**
 * ds_mix_plan() - the decisions of step @index, a pure function
 *
 * Half of the operations are about as many pages as fit one batch, the others
 * about up to all of a file.
 */
void ds_mix_plan(const struct ds_mix_choice *c, u64 seed, u32 thread, u64 index,
		 struct ds_mix_step *s)
{
	struct ds_rand r = ds_rand_at(seed, DS_MIX_STREAM + thread, index);
	u32 at = ds_rand_below(&r, c->total);

	for (s->op = 0; at >= c->weights[s->op]; s->op++)
		at -= c->weights[s->op];
	s->target = ds_rand_below(&r, 1 << 16);
	s->page = ds_rand_below(&r, 1 << 16);
	s->pages = 1 + ds_rand_below(&r, ds_rand_below(&r, 2) ? 16 : DS_MIX_PAGES);
	s->cut = ds_rand_below(&r, DS_VPAGE);
	s->choice = ds_rand_below(&r, 1 << 16);
	s->ring = ds_rand_below(&r, 2);
}

static u64 hash_step(u64 hash, const struct ds_mix_step *s)
{
	hash = ds_decide_fold(hash, (u64)s->op << 32 | s->target);
	hash = ds_decide_fold(hash, (u64)s->page << 32 | s->pages);
	hash = ds_decide_fold(hash, (u64)s->cut << 32 | s->choice);
	return ds_decide_fold(hash, s->ring);
}

/**
 * ds_mix_hash() - adds step @index to a hash over decisions
 */
u64 ds_mix_hash(u64 hash, const struct ds_mix_choice *c, u64 seed, u32 thread, u64 index)
{
	struct ds_mix_step s;

	ds_mix_plan(c, seed, thread, index, &s);
	return hash_step(hash, &s);
}

/**
 * ds_mix_memory() - bytes that a mix thread takes
 * @pages: of each file
 * @huge:  with memory of huge pages' size
 */
u64 ds_mix_memory(u32 pages, bool huge)
{
	/* files, anonymous memory and one of a moment; System V, buffer; pinned */
	u64 all = (DS_MIX_FILES + 2) * pages + SHM_PAGES + DS_MIX_PAGES + 2 * DS_PIN_PAGES;

	return all * DS_VPAGE + (huge ? 2ULL * DS_HUGE_SIZE : 0);
}

/* ---- faults on mapped files ---- */

/* The thread that touches a mapping just now. */
static __thread struct ds_mix *touching;

static void on_fault(int sig)
{
	if (touching)
		siglongjmp(touching->fault, 1);
	/* not ours: it happens again, and ends the process */
	signal(sig, SIG_DFL);
}

/**
 * ds_mix_catch_faults() - once a process: SIGBUS, for want of space behind a mapping
 */
void ds_mix_catch_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &sa, NULL);
}

/**
 * ds_mix_copy() - memcpy() from or to a mapping
 *
 * Return: 0, or -ENOSPC when the page could not be had.
 */
int ds_mix_copy(struct ds_mix *m, void *to, const void *from, size_t n)
{
	if (sigsetjmp(m->fault, 0)) {
		touching = NULL;
		return -ENOSPC;
	}
	touching = m;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(to, from, n);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	touching = NULL;
	return 0;
}

/* ---- io_uring ---- */

/**
 * ds_mix_opcodes() - io_uring opcodes that this kernel has, as bits
 */
u64 ds_mix_opcodes(void)
{
	struct io_uring_probe *probe = io_uring_get_probe();
	u64 mask = 0;
	int op;

	for (op = 0; probe && op < 64; op++) {
		if (io_uring_opcode_supported(probe, op))
			mask |= 1ULL << op;
	}
	if (probe)
		io_uring_free_probe(probe);
	return mask;
}

/**
 * ds_mix_sqe() - a request to be prepared, if this step goes through the ring
 *
 * Return: NULL for the system call.
 */
struct io_uring_sqe *ds_mix_sqe(struct ds_mix *m, unsigned int opcode)
{
	if (!m->step_ring || !(m->env->opcodes & (1ULL << opcode)))
		return NULL;
	m->used_ring = true;
	return io_uring_get_sqe(&m->ring);
}

/* A ring that lost a request would give it to the next: never used again. */
static int ring_broke(struct ds_mix *m, int ret)
{
	m->ring_broken = true;
	m->step_ring = false;
	ds_set(&m->slot->last_errno, (u32)-ret);
	return ret;
}

static int submit(struct ds_mix *m, unsigned int nr)
{
	unsigned int tries, done = 0;
	int ret = -EBUSY;

	for (tries = 0; done < nr && tries < RING_TRIES; tries++) {
		ret = io_uring_submit(&m->ring);
		if (ret > 0) {
			done += ret;
			continue;
		}
		if (ret != -EINTR && ret != -EAGAIN && ret != -EBUSY && ret != -ENOMEM)
			break;
		usleep(1000);
	}
	if (done < nr)
		return ring_broke(m, ret < 0 ? ret : -EBUSY);
	ds_add(&m->slot->submitted, nr);
	return 0;
}

static int take(struct ds_mix *m, u64 *data, int *res)
{
	struct io_uring_cqe *cqe;
	int ret;

	do {
		ret = io_uring_wait_cqe(&m->ring, &cqe);
	} while (ret == -EINTR || ret == -EAGAIN);
	if (ret)
		return ring_broke(m, ret);
	*data = io_uring_cqe_get_data64(cqe);
	*res = cqe->res;
	io_uring_cqe_seen(&m->ring, cqe);
	ds_add(&m->slot->reaped, 1);
	return 0;
}

/**
 * ds_mix_wait() - submit the one request that was prepared, and wait for it
 *
 * Return: its result.
 */
int ds_mix_wait(struct ds_mix *m)
{
	int ret, res;
	u64 data;

	ret = submit(m, 1);
	if (!ret)
		ret = take(m, &data, &res);
	return ret ? ret : res;
}

/**
 * ds_mix_chain_ready() - may this step submit a chain of requests?
 */
bool ds_mix_chain_ready(struct ds_mix *m)
{
	u64 need = 1ULL << IORING_OP_WRITE | 1ULL << IORING_OP_FSYNC |
		   1ULL << IORING_OP_FADVISE | 1ULL << IORING_OP_READ;

	return m->step_ring && (m->env->opcodes & need) == need &&
	       io_uring_sq_space_left(&m->ring) >= 4;
}

/**
 * ds_mix_wait_chain() - submit @nr requests, each linked to the next, and wait
 * @res: a result each
 *
 * Return: 0 or -errno when the ring is broken.
 */
int ds_mix_wait_chain(struct ds_mix *m, struct io_uring_sqe *const *sqe, unsigned int nr, int *res)
{
	unsigned int i;
	int ret, one;
	u64 data;

	for (i = 0; i < nr; i++) {
		io_uring_sqe_set_data64(sqe[i], i);
		if (i + 1 < nr)
			io_uring_sqe_set_flags(sqe[i], IOSQE_IO_LINK);
	}
	ret = submit(m, nr);
	for (i = 0; !ret && i < nr; i++) {
		ret = take(m, &data, &one);
		if (!ret && data < nr)
			res[data] = one;
	}
	return ret;
}

/**
 * ds_mix_rested() - is it time for one more of something that must stay rare?
 * @due:     from when on, of the whole load; starts as 0
 * @rest_ms: least time from the begin of one to the begin of the next
 *
 * For what keeps the machine's batches empty, or its page cache, while it is done.
 *
 * Return: true when so; then the next rest has begun.
 */
bool ds_mix_rested(u64 *due, u32 rest_ms)
{
	u64 then = ds_get(due), now = ds_now_ns();

	return now >= then &&
	       __atomic_compare_exchange_n(due, &then, now + rest_ms * 1000000ULL, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static u32 disabling;	/* a thread of the load is between begin and end */

/**
 * ds_mix_disable_begin() - may this thread do what disables the cache of folios?
 * @turn:    for ds_mix_disable_end()
 * @due:     of ds_mix_rested()
 * @rest_ms: likewise
 *
 * While it is disabled each folio is moved alone, and no batch fills.  So it is one
 * thread at a time, which hurries when it has the right to: with many threads a call that
 * moves a few pages would take seconds.
 *
 * Return: true when so; then ds_mix_disable_end() has to follow.
 */
bool ds_mix_disable_begin(struct ds_mix_turn *turn, u64 *due, u32 rest_ms)
{
	if (__atomic_exchange_n(&disabling, 1, __ATOMIC_ACQUIRE))
		return false;
	if (!ds_mix_rested(due, rest_ms)) {
		__atomic_store_n(&disabling, 0, __ATOMIC_RELEASE);
		return false;
	}
	turn->due = due;
	turn->began = ds_now_ns();
	/* 0 is the calling thread; -1 would be a priority, too */
	turn->nice = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, -20);
	return true;
}

/**
 * ds_mix_disable_end() - it is done
 * @turn: of ds_mix_disable_begin()
 *
 * Where it takes long the rest is longer: nine times as long as it took.
 */
void ds_mix_disable_end(struct ds_mix_turn *turn)
{
	u64 now = ds_now_ns(), until = now + 9 * (now - turn->began);

	setpriority(PRIO_PROCESS, 0, turn->nice);
	if (until > ds_get(turn->due))
		ds_set(turn->due, until);
	__atomic_store_n(&disabling, 0, __ATOMIC_RELEASE);
}

/* ---- verification ---- */

static void take_history(struct ds_mix_report *r, const struct ds_model *model)
{
	u64 i, from = model->nr_history > DS_HISTORY ? model->nr_history - DS_HISTORY : 0;

	for (i = from; i < model->nr_history; i++)
		r->history[r->nr_history++] = model->history[i % DS_HISTORY];
}

/**
 * ds_mix_wrong() - data is not what it has to be
 *
 * The first one of a thread is kept in full.  The file is not compared any more
 * until it is written anew.
 *
 * Return: -EILSEQ.
 */
int ds_mix_wrong(struct ds_mix *m, struct ds_target *t, const struct ds_mismatch *bad)
{
	struct ds_mix_slot *ms = m->mslot;
	struct ds_mix_report *r = &ms->first;
	int cpu = sched_getcpu();

	if (!ds_get(&ms->violations)) {
		r->time_ns = ds_now_ns();
		r->cpu = cpu < 0 ? 0 : cpu;
		r->tid = ds_get(&m->slot->tid);
		r->thread = m->thread;
		snprintf(r->place, sizeof(r->place), "%s", t->place);
		r->bad = *bad;
		take_history(r, &t->model);
	}
	__atomic_store_n(&ms->violations, ms->violations + 1, __ATOMIC_RELEASE);
	ds_mix_unsure(t);
	return -EILSEQ;
}

/**
 * ds_mix_unsure() - what the target holds is not known any more, but its size
 */
void ds_mix_unsure(struct ds_target *t)
{
	off_t size = t->fd >= 0 ? lseek(t->fd, 0, SEEK_END) : -1;

	ds_model_set(&t->model, 0, t->model.max, DS_VPAGE_UNKNOWN);
	if (size >= 0)
		t->model.size = size;
}

/**
 * ds_mix_check_pages() - compare what was read from @page on
 * @len: bytes, the last page perhaps in part
 *
 * Return: 0 or -EILSEQ.
 */
int ds_mix_check_pages(struct ds_mix *m, struct ds_target *t, const struct ds_model *model,
		       u32 page, const u8 *buf, u64 len)
{
	struct ds_mismatch bad;
	int ret;
	u32 n;

	for (; len; page++, buf += n, len -= n) {
		n = len < DS_VPAGE ? len : DS_VPAGE;
		ret = ds_model_check(model, page, buf, n, &bad);
		if (ret < 0)
			return ds_mix_wrong(m, t, &bad);
		ds_add(&m->mslot->verified, ret);
	}
	return 0;
}

/**
 * ds_mix_sweep_mapping() - read and compare all of a mapping
 *
 * Return: 0 or -errno.
 */
int ds_mix_sweep_mapping(struct ds_mix *m, struct ds_target *t)
{
	u32 page, pages = (t->model.size + DS_VPAGE - 1) / DS_VPAGE;
	int ret = 0;

	for (page = 0; !ret && page < pages; page++) {
		ret = ds_mix_copy(m, m->buf, t->map + (u64)page * DS_VPAGE, DS_VPAGE);
		if (!ret)
			ret = ds_mix_check_pages(m, t, &t->model, page, m->buf, DS_VPAGE);
	}
	return ret;
}

static int sweep(struct ds_mix *m, struct ds_target *t)
{
	int ret = 0;

	if (t->kind & DS_TO_FILE)
		ret = ds_op_sweep(m, t);
	if (!ret && t->map)
		ret = ds_mix_sweep_mapping(m, t);
	return ret == -EILSEQ ? 0 : ret;
}

/* One page is written that the model knows nothing of: of an older generation. */
static void plant(struct ds_mix *m)
{
	const struct ds_mix_step s = { .pages = 4 };
	struct ds_target *t = &m->targets[0];
	struct ds_vpage old;
	u32 page;

	/* there may be no data yet */
	if (!ds_model_data(&t->model)) {
		if (ds_op_write(m, &s, t))
			return;
		ds_model_note(&t->model, "%llu write %u+%u pages, size %llu: 0", m->index,
			      m->did_page, m->did_pages, t->model.size);
	}
	for (page = 0; page < t->model.size / DS_VPAGE; page++) {
		old = t->model.pages[page];
		if (old.state != DS_VPAGE_DATA)
			continue;
		old.gen--;
		ds_page_make(t->model.file, &old, m->buf);
		if (pwrite(t->fd, m->buf, DS_VPAGE, (off_t)page * DS_VPAGE) == DS_VPAGE)
			ds_add(&m->mslot->planted, 1);
		return;
	}
}

/* ---- set up ---- */

static struct ds_target *new_target(struct ds_mix *m, u32 kind, u32 pages)
{
	struct ds_target *t = &m->targets[m->nr_targets];

	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->fd = -1;
	if (ds_model_init(&t->model, (m->thread << 16) | m->nr_targets, pages))
		return NULL;
	m->nr_targets++;
	return t;
}

/* Half of the files in the first place, the others spread over the rest. */
static const struct ds_place *place_of(const struct ds_mix *m, const struct ds_places *places,
				       u32 k)
{
	if (places->nr == 1 || k % 2 == 0)
		return &places->v[0];
	return &places->v[1 + (m->thread + k / 2) % (places->nr - 1)];
}

/**
 * ds_mix_open_files() - the files of a thread
 *
 * Return: 0 or -errno; ds_mix_teardown() closes them.
 */
int ds_mix_open_files(struct ds_mix *m, const struct ds_places *places)
{
	const struct ds_place *place;
	struct ds_target *t;
	struct statfs st;
	u32 k;

	for (k = 0; k < DS_MIX_FILES; k++) {
		place = place_of(m, places, k);
		t = new_target(m, DS_TO_FILE, m->pages);
		if (!t)
			return -ENOMEM;
		snprintf(t->place, sizeof(t->place), "%s", place->name);
		t->fd = ds_place_file(place);
		if (t->fd < 0)
			return t->fd;
		if (fstatfs(t->fd, &st))
			return -errno;
		t->tmpfs = st.f_type == TMPFS_MAGIC;
		t->exact = t->tmpfs || st.f_type == EXT4_SUPER_MAGIC || st.f_type == XFS_MAGIC;
	}
	return 0;
}

static u8 *map_anon(u64 size, u64 align)
{
	u8 *map, *at;

	map = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	at = (u8 *)(((unsigned long)map + align - 1) & ~(align - 1));
	/* only what is used, so that it can be unmapped by its address */
	if (at > map)
		munmap(map, at - map);
	if (map + align > at)
		munmap(at + size, map + align - at);
	return at;
}

static int add_anon(struct ds_mix *m, u32 kind, u64 size, u64 align)
{
	struct ds_target *t = new_target(m, kind, size / DS_VPAGE);

	if (!t)
		return -ENOMEM;
	t->map = map_anon(size, align);
	if (!t->map)
		return -errno;
	t->model.size = size;
	snprintf(t->place, sizeof(t->place), "%s",
		 kind == DS_TO_HUGE ? "memory of huge pages' size" : "anonymous memory");
	return 0;
}

/* It is marked for removal at once, so that it goes with the process. */
static int add_shm(struct ds_mix *m)
{
	struct ds_target *t;
	int id = shmget(IPC_PRIVATE, SHM_PAGES * DS_VPAGE, IPC_CREAT | 0600);
	void *map;

	/* not in this kernel, or the limit of the machine is used up: without */
	if (id < 0)
		return 0;
	map = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	if (map == (void *)-1)
		return 0;
	t = new_target(m, DS_TO_SHM, SHM_PAGES);
	if (!t) {
		shmdt(map);
		return -ENOMEM;
	}
	t->map = map;
	t->shmid = id;
	t->model.size = SHM_PAGES * DS_VPAGE;
	snprintf(t->place, sizeof(t->place), "System V memory");
	return 0;
}

/**
 * ds_mix_setup() - ring, buffer and mappings; the files are open already
 *
 * Without a ring it runs by system calls alone.
 *
 * Return: 0 or -errno.
 */
int ds_mix_setup(struct ds_mix *m)
{
	struct ds_target *last = &m->targets[DS_MIX_FILES - 1];
	void *map;
	int ret;

	ds_set(&m->slot->tid, (u32)syscall(SYS_gettid));
	m->buf = map_anon(DS_MIX_PAGES * DS_VPAGE, DS_VPAGE);
	if (!m->buf)
		return -ENOMEM;
	map = mmap(NULL, (u64)m->pages * DS_VPAGE, PROT_READ | PROT_WRITE, MAP_SHARED, last->fd,
		   0);
	if (map == MAP_FAILED)
		return -errno;
	last->map = map;
	last->kind |= DS_TO_FILE_MAP;
	ret = add_anon(m, DS_TO_ANON, (u64)m->pages * DS_VPAGE, DS_VPAGE);
	if (!ret && m->huge)
		ret = add_anon(m, DS_TO_HUGE, 2ULL * DS_HUGE_SIZE, DS_HUGE_SIZE);
	if (!ret)
		ret = add_shm(m);
	if (!ret && m->use_ring)
		m->ring_up = !io_uring_queue_init(RING_ENTRIES, &m->ring, 0);
	return ret;
}

/**
 * ds_mix_teardown() - undo what ds_mix_open_files() and ds_mix_setup() managed
 */
void ds_mix_teardown(struct ds_mix *m)
{
	unsigned int i;

	if (m->ring_up)
		io_uring_queue_exit(&m->ring);
	m->ring_up = false;
	ds_op_pin_drop(m);
	for (i = 0; i < m->nr_targets; i++) {
		struct ds_target *t = &m->targets[i];

		if (t->map && t->kind == DS_TO_SHM)
			shmdt(t->map);
		else if (t->map)
			munmap(t->map, (u64)t->model.max * DS_VPAGE);
		if (t->fd >= 0)
			close(t->fd);
		ds_model_free(&t->model);
	}
	m->nr_targets = 0;
	if (m->buf)
		munmap(m->buf, DS_MIX_PAGES * DS_VPAGE);
	m->buf = NULL;
}

/* ---- run ---- */

/* Does this operation take that target? */
static bool suits(const struct ds_op *op, unsigned int row, const struct ds_target *t)
{
	return (op->to & t->kind) && !(t->refuses & (1ULL << row));
}

/* One of those it takes.  Return: NULL when there is none. */
static struct ds_target *pick(struct ds_mix *m, const struct ds_mix_step *s)
{
	const struct ds_op *op = &ds_ops[s->op];
	unsigned int i, nr = 0, n;

	for (i = 0; i < m->nr_targets; i++)
		nr += suits(op, s->op, &m->targets[i]);
	if (!nr)
		return NULL;
	n = s->target % nr;
	for (i = 0; ; i++) {
		if (suits(op, s->op, &m->targets[i]) && !n--)
			return &m->targets[i];
	}
}

static bool tolerated(const struct ds_op *op, int err)
{
	static const int always[] = { ENOSPC, EDQUOT, ENOMEM, EINTR, EAGAIN, EBUSY, EMFILE,
		ENFILE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(always); i++) {
		if (always[i] == err)
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(op->tolerates) && op->tolerates[i]; i++) {
		if (op->tolerates[i] == err)
			return true;
	}
	return false;
}

static void count_error(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t,
			int err)
{
	struct ds_mix_slot *ms = m->mslot;

	if (err == EOPNOTSUPP && t) {
		/* not of this file system: it is not asked again */
		t->refuses |= 1ULL << s->op;
		ds_add(&ms->refused[s->op], 1);
	} else if (tolerated(&ds_ops[s->op], err)) {
		ds_add(&ms->refused[s->op], 1);
	} else if (!ds_get(&ms->failed)) {
		ms->failed_op = s->op;
		ms->failed_errno = err;
		snprintf(ms->failed_place, sizeof(ms->failed_place), "%s",
			 t ? t->place : "no file in particular");
		__atomic_store_n(&ms->failed, 1, __ATOMIC_RELEASE);
	}
}

/* Return: false when the operation cannot be done here: it is passed over. */
static bool one_step(struct ds_mix *m, u64 index)
{
	struct ds_target *t = NULL;
	struct ds_log_entry *logged;
	const struct ds_op *op;
	struct ds_mix_step s;
	int ret;

	ds_mix_plan(m->choice, m->seed, m->thread, index, &s);
	if (!m->script.nr && index < DS_DECISIONS) {
		m->slot->hash = hash_step(m->slot->hash, &s);
		m->slot->hashed = index + 1;
	}
	if (!m->probes[s.op].available)
		return false;
	op = &ds_ops[s.op];
	if (op->to) {
		t = pick(m, &s);
		if (!t)
			return false;
	}
	ds_set(&m->slot->op, DS_FLOOD_OP_MIX + s.op);
	m->index = index;
	m->step_ring = s.ring && m->ring_up && !m->ring_broken;
	m->used_ring = false;
	m->did_page = 0;
	m->did_pages = 0;
	logged = ds_log_begin(&m->log, m->slot, index, DS_FLOOD_OP_MIX + s.op,
			      t ? t - m->targets : 0xff);
	ret = op->run(m, &s, t);
	ds_log_end(logged, ret);
	if (t && ret <= 0)
		ds_model_note(&t->model, "%llu %s %u+%u pages, size %llu: %d", index, op->name,
			      m->did_page, m->did_pages, t->model.size, ret);
	if (!ret) {
		ds_add(&m->mslot->ran[s.op][m->used_ring ? DS_PATH_RING : DS_PATH_SYSCALL], 1);
		if (op->truncates) {
			ds_hist_add(m->hist, m->truncate_ns);
			ds_add(&m->slot->mix_truncates, 1);
		}
	} else if (ret < 0 && ret != -EILSEQ) {
		count_error(m, &s, t, -ret);
	}
	return true;
}

static void sweep_or_fail(struct ds_mix *m, struct ds_target *t)
{
	const struct ds_mix_step s = { .op = ds_op_find("read") };
	int ret = sweep(m, t);

	if (ret)
		count_error(m, &s, t, -ret);
}

/**
 * ds_mix_run() - run until *stop is set, then sweep
 *
 * Ends with slot->state FINISHED, or BROKEN when the ring failed.
 */
void ds_mix_run(struct ds_mix *m)
{
	u64 i = 0, done = 0;
	unsigned int k;
	bool did;

	while (!ds_get(m->stop) && !m->ring_broken) {
		if (m->plant && i % PLANT_EVERY == PLANT_EVERY / 2)
			plant(m);
		did = one_step(m, ds_script_index(&m->script, i++));
		m->step_ring = false;
		if (did && ++done % SWEEP_EVERY == 0)
			sweep_or_fail(m, &m->targets[done / SWEEP_EVERY % m->nr_targets]);
		ds_set(&m->slot->steps, i);
	}
	/* what was planted before may be overwritten by now */
	if (m->plant && !ds_get(&m->mslot->violations))
		plant(m);
	/* what a broken ring may still be writing cannot be compared */
	for (k = 0; !m->ring_broken && k < m->nr_targets; k++)
		sweep_or_fail(m, &m->targets[k]);
	if (m->ring_up)
		ds_set(&m->slot->dropped, (u64)*m->ring.cq.koverflow);
	ds_set(&m->slot->op, DS_FLOOD_OP_DONE);
	ds_set(&m->slot->state, m->ring_broken ? DS_FLOOD_BROKEN : DS_FLOOD_FINISHED);
}
