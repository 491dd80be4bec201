// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread of the load: fills pages of one of its files, truncates it, takes
 * the next, with as many truncates in flight as it has files.  The fills fill
 * the batches of the CPU the thread runs on, the truncates drain where io-wq
 * runs them.  It makes no files and does not check their data.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "flood.h"

/* a ring that answers nothing for so long after the stop has lost something */
#define REAP_LIMIT_S 10
#define SUBMIT_TRIES 10000

/**
 * ds_flood_draw() - the decisions of step @index, a pure function
 *
 * Numbers of 32 bits, before they are mapped to what there is.
 */
void ds_flood_draw(u64 seed, u32 thread, u64 index, struct ds_flood_draw *d)
{
	struct ds_rand r = ds_rand_at(seed, thread, index);

	d->size = ds_rand_next(&r) >> 32;
	d->file = ds_rand_next(&r) >> 32;
	d->pages = ds_rand_next(&r) >> 32;
	d->syscall = ds_rand_next(&r) >> 32;
	d->ring = ds_rand_next(&r) >> 32;
	d->keep = ds_rand_next(&r) >> 32;
	d->cut = ds_rand_scale(d->keep, 4) ? 0 : ds_rand_next(&r) >> 32;
	d->advise = ds_rand_next(&r) >> 32;
	d->allocate = ds_rand_next(&r) >> 32;
}

/* Adds the decisions of one step to a hash. */
static u64 hash_step(u64 hash, const struct ds_flood_draw *d)
{
	hash = ds_decide_fold(hash, (u64)d->size << 32 | d->file);
	hash = ds_decide_fold(hash, (u64)d->pages << 32 | d->syscall);
	hash = ds_decide_fold(hash, (u64)d->ring << 32 | d->keep);
	hash = ds_decide_fold(hash, (u64)d->cut << 32 | d->advise);
	return ds_decide_fold(hash, d->allocate);
}

/**
 * ds_flood_hash() - adds step @index to a hash over decisions
 */
u64 ds_flood_hash(u64 hash, u64 seed, u32 thread, u64 index)
{
	struct ds_flood_draw d;

	ds_flood_draw(seed, thread, index, &d);
	return hash_step(hash, &d);
}

/**
 * ds_flood_map() - the decisions of a step, mapped to what there is
 *
 * Half of the writes fit one batch (up to 16 pages), three in eight need a few
 * batches, one in eight goes up to the file's limit; a quarter of the truncates
 * keeps an unaligned part.  On tmpfs seven of eight fills are by fallocate(2), which puts
 * pages into the page cache as a write does, without the time for their data.
 */
void ds_flood_map(const struct ds_flood_shape *shape, const struct ds_flood_draw *d,
		  struct ds_step *step)
{
	u32 size = ds_rand_scale(d->size, 8);

	step->file = ds_rand_scale(d->file, shape->nr_files);
	if (size < 4)
		step->pages = 1 + ds_rand_scale(d->pages, 16);
	else if (size < 7)
		step->pages = 17 + ds_rand_scale(d->pages, 48);
	else
		step->pages = 65 + ds_rand_scale(d->pages, DS_FLOOD_PAGES_MAX - 64);
	if (step->pages > shape->max_pages)
		step->pages = 1 + step->pages % shape->max_pages;
	step->syscall = ds_rand_scale(d->syscall, 8) < shape->syscall_share;
	step->ring = ds_rand_scale(d->ring, shape->nr_ring);
	step->keep = ds_rand_scale(d->cut, step->pages * DS_PAGE);
	step->advise = !ds_rand_scale(d->advise, 16) && (shape->disk_mask & (1U << step->file));
	step->allocate = ds_rand_scale(d->allocate, 8) &&
			 !(shape->disk_mask & (1U << step->file));
}

/**
 * ds_flood_plan() - both of these for step @index
 */
void ds_flood_plan(const struct ds_flood_shape *shape, u64 seed, u32 thread, u64 index,
		   struct ds_step *step)
{
	struct ds_flood_draw d;

	ds_flood_draw(seed, thread, index, &d);
	ds_flood_map(shape, &d, step);
}

/**
 * ds_flood_setup() - make the ring
 *
 * Fewer entries are tried when memory or descriptors are short.
 *
 * Return: 0 or -errno of io_uring_setup(2).
 */
int ds_flood_setup(struct ds_flood *f)
{
	unsigned int entries, i;
	unsigned int workers[2] = { DS_FLOOD_FILES, 0 };
	int ret = 0;

	ds_set(&f->slot->tid, (u32)syscall(SYS_gettid));
	f->in_flight = 0;
	f->ring_up = false;
	for (i = 0; i < DS_FLOOD_FILES; i++) {
		f->files[i].busy = false;
		f->files[i].t.fd = f->fds[i];
		snprintf(f->files[i].t.path, sizeof(f->files[i].t.path), "/proc/self/fd/%d",
			 f->fds[i]);
	}
	if (!f->choice.nr_ring)
		return 0;
	for (entries = 8; entries >= 2; entries /= 2) {
		ret = io_uring_queue_init(entries, &f->ring, 0);
		if (!ret || (ret != -ENOMEM && ret != -EMFILE))
			break;
	}
	if (ret)
		return ret;
	f->ring_up = true;
	/* io-wq would make 4 workers a CPU; more than files cannot be busy */
	io_uring_register_iowq_max_workers(&f->ring, workers);
	return 0;
}

/**
 * ds_log_begin() - an operation begins
 *
 * Return: its entry, for ds_log_end(), or NULL.
 */
struct ds_log_entry *ds_log_begin(const struct ds_log *log, struct ds_slot *slot, u64 index,
				  u32 op, u32 target)
{
	struct ds_log_entry *e;
	struct timespec ts;

	if (!log->v || ds_get(log->frozen))
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	e = &log->v[slot->logged % log->size];
	e->what = index << 16 | (op & 0xff) << 8 | (target & 0xff);
	e->time_us = ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
	e->result = DS_LOG_UNDER_WAY;
	__atomic_store_n(&slot->logged, slot->logged + 1, __ATOMIC_RELEASE);
	return e;
}

static void count_error(struct ds_slot *s, int err)
{
	switch (err) {
	case ENOSPC:
	case EDQUOT:
		ds_add(&s->no_space, 1);
		break;
	case ENOMEM:
		ds_add(&s->no_memory, 1);
		break;
	case EINTR:
	case EAGAIN:
	case EBUSY:
		ds_add(&s->retries, 1);
		break;
	default:
		ds_add(&s->other_errors, 1);
		ds_set(&s->last_errno, (u32)err);
	}
}

static void finished(struct ds_flood *f, struct ds_flood_file *file, int res)
{
	struct ds_slot *s = f->slot;
	unsigned int row = file->row;

	ds_log_end(file->logged, res);
	if (res < 0) {
		ds_add(&s->trunc_errors, 1);
		count_error(s, -res);
		return;
	}
	if (ds_methods[row].opens)
		close(res);
	ds_hist_add(f->hist, ds_now_ns() - file->began_ns);
	ds_add(&s->truncates[row], 1);
}

static void take_cqe(struct ds_flood *f, struct io_uring_cqe *cqe)
{
	struct ds_flood_file *file = io_uring_cqe_get_data(cqe);
	int res = cqe->res;

	io_uring_cqe_seen(&f->ring, cqe);
	ds_add(&f->slot->reaped, 1);
	if (!file)
		return;
	f->in_flight--;
	file->busy = false;
	finished(f, file, res);
}

/* Waits for one completion.  Return: 0 or -errno when the ring is broken. */
static int reap_one(struct ds_flood *f)
{
	struct io_uring_cqe *cqe;
	int ret;

	ds_set(&f->slot->op, DS_FLOOD_OP_REAP);
	do {
		ret = io_uring_wait_cqe(&f->ring, &cqe);
	} while (ret == -EINTR || ret == -EAGAIN);
	if (ret)
		return ret;
	take_cqe(f, cqe);
	return 0;
}

static void reap_ready(struct ds_flood *f)
{
	struct io_uring_cqe *cqe;

	while (f->in_flight && !io_uring_peek_cqe(&f->ring, &cqe))
		take_cqe(f, cqe);
}

/* Return: 0 or -errno when the ring is broken. */
static int submit(struct ds_flood *f, struct ds_flood_file *file)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&f->ring);
	unsigned int tries;
	int ret = -EBUSY;

	/* a ring smaller than the number of files: make room */
	while (!sqe) {
		if (!f->in_flight)
			return -EBUSY;
		ret = reap_one(f);
		if (ret)
			return ret;
		sqe = io_uring_get_sqe(&f->ring);
	}
	ds_set(&f->slot->op, DS_FLOOD_OP_SUBMIT);
	ds_methods[file->row].prepare(sqe, &file->t);
	io_uring_sqe_set_data(sqe, file);
	file->began_ns = ds_now_ns();
	for (tries = 0; tries < SUBMIT_TRIES; tries++) {
		ret = io_uring_submit(&f->ring);
		if (ret == 1)
			break;
		if (ret < 0 && ret != -EINTR && ret != -EAGAIN && ret != -EBUSY && ret != -ENOMEM)
			return ret;
		ds_add(&f->slot->retries, 1);
		if (f->in_flight)
			ret = reap_one(f);
		else
			sched_yield();
	}
	if (ret != 1)
		return ret < 0 ? ret : -EBUSY;
	ds_add(&f->slot->submitted, 1);
	file->busy = true;
	f->in_flight++;
	return 0;
}

static u64 write_pages(struct ds_flood *f, int fd, u32 pages)
{
	size_t want = (size_t)pages * DS_PAGE, done = 0;
	unsigned int tries = 0;
	ssize_t n;

	ds_set(&f->slot->op, DS_FLOOD_OP_WRITE);
	while (done < want) {
		n = pwrite(fd, (const char *)f->data + done, want - done, done);
		if (n > 0) {
			done += n;
			continue;
		}
		if (n < 0)
			count_error(f->slot, errno);
		if (n < 0 && (errno == EINTR || errno == EAGAIN) && tries++ < 100)
			continue;
		break;
	}
	ds_add(&f->slot->pages, done / DS_PAGE);
	return done;
}

/* Return: bytes from the start that have pages. */
static u64 allocate_pages(struct ds_flood *f, int fd, u32 pages)
{
	ds_set(&f->slot->op, DS_FLOOD_OP_WRITE);
	/* all or nothing */
	if (fallocate(fd, 0, 0, (off_t)pages * DS_PAGE)) {
		count_error(f->slot, errno);
		return 0;
	}
	ds_add(&f->slot->pages, pages);
	return (u64)pages * DS_PAGE;
}

static int one_step(struct ds_flood *f, u64 index)
{
	struct ds_flood_file *file;
	struct ds_flood_draw draw;
	struct ds_step step;
	int ret;

	ds_flood_draw(f->seed, f->thread, index, &draw);
	if (!f->script.nr && index < DS_DECISIONS) {
		f->slot->hash = hash_step(f->slot->hash, &draw);
		f->slot->hashed = index + 1;
	}
	ds_flood_map(&f->shape, &draw, &step);
	file = &f->files[step.file];
	if (f->ring_up)
		reap_ready(f);
	while (file->busy) {
		ret = reap_one(f);
		if (ret)
			return ret;
	}
	file->logged = ds_log_begin(&f->log, f->slot, index, step.syscall ||
				    !f->choice.nr_ring ? DS_FLOOD_OP_SYSCALL :
				    DS_FLOOD_OP_SUBMIT, step.file);
	file->t.end = step.allocate ? allocate_pages(f, file->t.fd, step.pages) :
				      write_pages(f, file->t.fd, step.pages);
	if (step.advise) {
		ds_set(&f->slot->op, DS_FLOOD_OP_ADVISE);
		if (!posix_fadvise(file->t.fd, 0, 0, POSIX_FADV_DONTNEED))
			ds_add(&f->slot->advised, 1);
	}
	file->t.keep = step.keep;
	if (step.syscall || !f->choice.nr_ring) {
		file->row = f->choice.syscall;
		ds_set(&f->slot->op, DS_FLOOD_OP_SYSCALL);
		file->began_ns = ds_now_ns();
		finished(f, file, ds_methods[file->row].call(&file->t));
		return 0;
	}
	file->row = f->choice.ring[step.ring];
	return submit(f, file);
}

/* Waits a limited time for what is in flight; what is missing stays missing. */
static void reap_all(struct ds_flood *f)
{
	struct __kernel_timespec ts = { .tv_sec = REAP_LIMIT_S };
	struct io_uring_cqe *cqe;
	int ret;

	ds_set(&f->slot->op, DS_FLOOD_OP_REAP);
	while (f->in_flight) {
		ret = io_uring_wait_cqe_timeout(&f->ring, &cqe, &ts);
		if (ret == -EINTR || ret == -EAGAIN)
			continue;
		if (ret)
			break;
		take_cqe(f, cqe);
	}
}

/**
 * ds_flood_run() - run until *stop is set
 *
 * Ends with slot->state FINISHED, or BROKEN and last_errno when the ring
 * failed.
 */
void ds_flood_run(struct ds_flood *f)
{
	u64 i = 0;
	int ret = 0;

	while (!ret && !ds_get(f->stop)) {
		ret = one_step(f, ds_script_index(&f->script, i++));
		ds_set(&f->slot->steps, i);
	}
	if (f->ring_up) {
		reap_all(f);
		ds_set(&f->slot->dropped, (u64)*f->ring.cq.koverflow);
	}
	if (ret)
		ds_set(&f->slot->last_errno, (u32)-ret);
	ds_set(&f->slot->op, DS_FLOOD_OP_DONE);
	ds_set(&f->slot->state, ret ? DS_FLOOD_BROKEN : DS_FLOOD_FINISHED);
}

/**
 * ds_flood_teardown() - undo ds_flood_setup(), whatever it had managed
 */
void ds_flood_teardown(struct ds_flood *f)
{
	if (f->ring_up)
		io_uring_queue_exit(&f->ring);
	f->ring_up = false;
}
