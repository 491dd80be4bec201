// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations on files, by descriptor: each does its system call or io_uring
 * request, and tells the model what has become of the file.  Which one is done
 * when is decided in mix.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"
#include "op_file.h"

#define RING_FTRUNCATE 55	/* IORING_OP_FTRUNCATE, Linux 6.9 */
#define DONTCACHE 0x80		/* RWF_DONTCACHE, Linux 6.14 */
#define PIPE_PAGES 16
#define LOOKS 5			/* at a count of blocks, before it is believed */

static u64 bytes(u32 pages)
{
	return (u64)pages * DS_VPAGE;
}

/* How many pages the file has, the last perhaps in part. */
static u32 pages_of(const struct ds_model *model)
{
	return (model->size + DS_VPAGE - 1) / DS_VPAGE;
}

/**
 * ds_op_range() - the step's pages, below @limit
 *
 * Return: false when there are none.
 */
bool ds_op_range(struct ds_mix *m, const struct ds_mix_step *s, u32 limit, u32 *page, u32 *pages)
{
	*page = 0;
	*pages = 0;
	if (!limit)
		return false;
	*page = s->page % limit;
	*pages = s->pages < limit - *page ? s->pages : limit - *page;
	m->did_page = *page;
	m->did_pages = *pages;
	return true;
}

static int result(long ret)
{
	return ret < 0 ? -errno : ret;
}

/* st_blocks; a look again, as the kernel may be about to count anew. */
static int check_blocks(struct ds_mix *m, struct ds_target *t, bool emptied, struct stat *st)
{
	u64 least = t->tmpfs ? ds_model_data(&t->model) * (u64)(DS_VPAGE / 512) : 0;
	struct ds_mismatch bad;
	unsigned int i;

	for (i = 0; (u64)st->st_blocks < least || (emptied && st->st_blocks); i++) {
		if (i == LOOKS) {
			snprintf(bad.text, sizeof(bad.text), "file %u: wrong number of blocks",
				 t->model.file);
			snprintf(bad.expected, sizeof(bad.expected), "%s%llu blocks of 512",
				 emptied ? "" : "at least ", least);
			snprintf(bad.found, sizeof(bad.found), "%llu",
				 (u64)st->st_blocks);
			return ds_mix_wrong(m, t, &bad);
		}
		usleep(20000);
		if (fstat(t->fd, st))
			return -errno;
	}
	return 0;
}

/* Size and blocks; @emptied: it has just been truncated to nothing. */
static int check_stat(struct ds_mix *m, struct ds_target *t, bool emptied)
{
	struct ds_mismatch bad;
	struct stat st;

	if (fstat(t->fd, &st))
		return -errno;
	if (ds_model_check_size(&t->model, st.st_size, &bad) < 0)
		return ds_mix_wrong(m, t, &bad);
	return check_blocks(m, t, emptied && t->exact, &st);
}

/* ---- write and read ---- */

static void fill(struct ds_mix *m, struct ds_target *t, u32 page, u32 pages)
{
	u32 i;

	for (i = 0; i < pages; i++)
		ds_model_fill(&t->model, page + i, m->index, &m->filled[i], m->buf + bytes(i));
}

/* What a write of filled pages has come to. */
static int wrote(struct ds_mix *m, struct ds_target *t, u32 page, u32 pages, long res)
{
	struct ds_model *model = &t->model;
	u32 whole = res > 0 ? res / DS_VPAGE : 0, i;

	for (i = 0; i < whole; i++)
		ds_model_put(model, page + i, &m->filled[i]);
	ds_add(&m->slot->pages, whole);
	if (whole == pages)
		return 0;
	ds_model_set(model, page + whole, pages - whole, DS_VPAGE_UNKNOWN);
	if (res > 0 && model->size < bytes(page) + res)
		model->size = bytes(page) + res;
	return res < 0 ? res : -ENOSPC;
}

DS_OP(write)
{
	struct io_uring_sqe *sqe;
	u32 page, pages;
	long res;

	ds_op_range(m, s, t->model.max, &page, &pages);
	fill(m, t, page, pages);
	sqe = ds_mix_sqe(m, IORING_OP_WRITE);
	if (sqe) {
		io_uring_prep_write(sqe, t->fd, m->buf, bytes(pages), bytes(page));
		res = ds_mix_wait(m);
	} else {
		res = result(pwrite(t->fd, m->buf, bytes(pages), bytes(page)));
	}
	return wrote(m, t, page, pages, res);
}

/*
 * Compare what a read gave.  Regular files give all there is, but io_uring may
 * give less: the rest is read again.
 */
static int check_read(struct ds_mix *m, struct ds_target *t, u32 page, u8 *buf, u64 want, long res)
{
	struct ds_mismatch bad;
	long more;

	while (res >= 0 && (u64)res < want) {
		more = pread(t->fd, buf + res, want - res, bytes(page) + res);
		if (more < 0)
			return -errno;
		if (!more)
			break;
		res += more;
	}
	if (res < 0)
		return res;
	if ((u64)res != want) {
		snprintf(bad.text, sizeof(bad.text), "file %u: a read of page %u ended early",
			 t->model.file, page);
		snprintf(bad.expected, sizeof(bad.expected), "%llu bytes", want);
		snprintf(bad.found, sizeof(bad.found), "%ld bytes", res);
		return ds_mix_wrong(m, t, &bad);
	}
	return ds_mix_check_pages(m, t, &t->model, page, buf, want);
}

/* How many bytes a read of these pages has to give. */
static u64 readable(const struct ds_target *t, u32 page, u32 pages)
{
	u64 left = t->model.size - bytes(page);

	return left < bytes(pages) ? left : bytes(pages);
}

static int read_pages(struct ds_mix *m, struct ds_target *t, u32 page, u32 pages)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_READ);
	u64 want = readable(t, page, pages);
	long res;

	if (sqe) {
		io_uring_prep_read(sqe, t->fd, m->buf, bytes(pages), bytes(page));
		res = ds_mix_wait(m);
	} else {
		res = result(pread(t->fd, m->buf, bytes(pages), bytes(page)));
	}
	/* more than there is would be as wrong as less */
	return check_read(m, t, page, m->buf, want, res);
}

DS_OP(read)
{
	u32 page, pages;

	if (!ds_op_range(m, s, pages_of(&t->model), &page, &pages))
		return 1;
	return read_pages(m, t, page, pages);
}

/**
 * ds_op_sweep() - read and compare the whole file, and its size
 *
 * Return: 0 or -errno.
 */
int ds_op_sweep(struct ds_mix *m, struct ds_target *t)
{
	u32 page, pages, all = pages_of(&t->model);
	int ret = check_stat(m, t, false);

	for (page = 0; !ret && page < all; page += pages) {
		pages = all - page < DS_MIX_PAGES ? all - page : DS_MIX_PAGES;
		ret = read_pages(m, t, page, pages);
	}
	return ret;
}

/* ---- size and holes ---- */

static int resize(struct ds_mix *m, struct ds_target *t, u64 size)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, RING_FTRUNCATE);
	u64 began = ds_now_ns();
	int ret;

	if (sqe) {
		memset(sqe, 0, sizeof(*sqe));
		sqe->opcode = RING_FTRUNCATE;
		sqe->fd = t->fd;
		sqe->off = size;
		ret = ds_mix_wait(m);
	} else {
		ret = result(ftruncate(t->fd, size));
	}
	m->truncate_ns = ds_now_ns() - began;
	if (ret) {
		ds_mix_unsure(t);
		return ret;
	}
	ds_model_resize(&t->model, size);
	return check_stat(m, t, !size);
}

DS_OP(truncate_down)
{
	u64 size = 0;

	if (!t->model.size)
		return 1;
	/* a quarter to nothing */
	if (s->choice % 4)
		size = (bytes(s->page) + s->cut) % t->model.size;
	return resize(m, t, size);
}

DS_OP(truncate_up)
{
	u64 room = bytes(t->model.max) - t->model.size;

	if (!room)
		return 1;
	return resize(m, t, t->model.size + 1 + (bytes(s->page) + s->cut) % room);
}

DS_OP(open_trunc)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_OPENAT);
	char path[32];
	u64 began;
	int fd;

	(void)s;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	began = ds_now_ns();
	if (sqe) {
		io_uring_prep_openat(sqe, AT_FDCWD, path, O_WRONLY | O_TRUNC | O_CLOEXEC, 0);
		fd = ds_mix_wait(m);
	} else {
		fd = result(open(path, O_WRONLY | O_TRUNC | O_CLOEXEC));
	}
	m->truncate_ns = ds_now_ns() - began;
	if (fd < 0) {
		ds_mix_unsure(t);
		return fd;
	}
	close(fd);
	ds_model_resize(&t->model, 0);
	return check_stat(m, t, true);
}

static int do_fallocate(struct ds_mix *m, struct ds_target *t, int mode, u64 from, u64 len)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_FALLOCATE);
	int ret;

	if (sqe) {
		io_uring_prep_fallocate(sqe, t->fd, mode, from, len);
		ret = ds_mix_wait(m);
	} else {
		ret = result(fallocate(t->fd, mode, from, len));
	}
	/* it may have come half way */
	if (ret && ret != -EOPNOTSUPP)
		ds_mix_unsure(t);
	return ret;
}

DS_OP(allocate)
{
	u32 page, pages;
	u64 end;
	int ret;

	ds_op_range(m, s, t->model.max, &page, &pages);
	ret = do_fallocate(m, t, 0, bytes(page), bytes(pages));
	if (ret)
		return ret;
	end = bytes(page + pages);
	if (end > t->model.size)
		ds_model_resize(&t->model, end);
	return check_stat(m, t, false);
}

/* From the middle of a page to the end of another. */
static int make_zero(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t, int mode)
{
	u32 page, pages;
	u64 from, end;
	int ret;

	if (!ds_op_range(m, s, pages_of(&t->model), &page, &pages))
		return 1;
	from = bytes(page) + (s->choice % 2 ? s->cut : 0);
	end = bytes(page + pages);
	ret = do_fallocate(m, t, mode | FALLOC_FL_KEEP_SIZE, from, end - from);
	if (ret)
		return ret;
	ds_model_zero(&t->model, from, end);
	return check_stat(m, t, false);
}

DS_OP(punch)
{
	return make_zero(m, s, t, FALLOC_FL_PUNCH_HOLE);
}

DS_OP(zero_range)
{
	return make_zero(m, s, t, FALLOC_FL_ZERO_RANGE);
}

DS_OP(collapse)
{
	u32 page, pages;
	int ret;

	/* it has to end before the end of the file */
	if (t->model.size <= DS_VPAGE ||
	    !ds_op_range(m, s, (t->model.size - 1) / DS_VPAGE, &page, &pages))
		return 1;
	ret = do_fallocate(m, t, FALLOC_FL_COLLAPSE_RANGE, bytes(page), bytes(pages));
	if (ret)
		return ret;
	ds_model_collapse(&t->model, page, pages);
	return check_stat(m, t, false);
}

DS_OP(insert)
{
	u32 page, pages, room = t->model.max - pages_of(&t->model);
	int ret;

	/* it has to begin before the end of the file */
	if (!room || !ds_op_range(m, s, pages_of(&t->model), &page, &pages))
		return 1;
	if (pages > room)
		pages = room;
	ret = do_fallocate(m, t, FALLOC_FL_INSERT_RANGE, bytes(page), bytes(pages));
	if (ret)
		return ret;
	ds_model_insert(&t->model, page, pages);
	return check_stat(m, t, false);
}

/* ---- advice and syncing: nothing changes ---- */

static int advise(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t, int advice)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_FADVISE);
	u32 page = 0, pages = 0;

	/* half of them the whole file, which a length of 0 means */
	if (s->choice % 2)
		ds_op_range(m, s, pages_of(&t->model), &page, &pages);
	if (sqe) {
		io_uring_prep_fadvise(sqe, t->fd, bytes(page), bytes(pages), advice);
		return ds_mix_wait(m);
	}
	return -posix_fadvise(t->fd, bytes(page), bytes(pages), advice);
}

DS_OP(dontneed)
{
	return advise(m, s, t, POSIX_FADV_DONTNEED);
}

DS_OP(willneed)
{
	return advise(m, s, t, POSIX_FADV_WILLNEED);
}

DS_OP(noreuse)
{
	return advise(m, s, t, POSIX_FADV_NOREUSE);
}

DS_OP(fsync)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_FSYNC);

	if (sqe) {
		io_uring_prep_fsync(sqe, t->fd, s->choice % 2 ? IORING_FSYNC_DATASYNC : 0);
		return ds_mix_wait(m);
	}
	return result(s->choice % 2 ? fdatasync(t->fd) : fsync(t->fd));
}

DS_OP(sync_range)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_SYNC_FILE_RANGE);
	unsigned int flags = SYNC_FILE_RANGE_WRITE;
	u32 page, pages;

	ds_op_range(m, s, t->model.max, &page, &pages);
	if (s->choice % 2)
		flags |= SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER;
	if (sqe) {
		io_uring_prep_sync_file_range(sqe, t->fd, bytes(pages), bytes(page), flags);
		return ds_mix_wait(m);
	}
	return result(sync_file_range(t->fd, bytes(page), bytes(pages), flags));
}

/* Write, sync, drop and read back: one linked chain of requests, or four calls. */
DS_OP(chain)
{
	u8 *back = m->buf + bytes(DS_MIX_PAGES / 2);
	int res[4] = { 0 }, ret, i;
	u32 page, pages;

	ds_op_range(m, s, t->model.max, &page, &pages);
	if (pages > DS_MIX_PAGES / 2)
		pages = DS_MIX_PAGES / 2;
	fill(m, t, page, pages);
	if (ds_mix_chain_ready(m)) {
		struct io_uring_sqe *sqe[4];

		for (i = 0; i < 4; i++)
			sqe[i] = ds_mix_sqe(m, IORING_OP_NOP);
		io_uring_prep_write(sqe[0], t->fd, m->buf, bytes(pages), bytes(page));
		io_uring_prep_fsync(sqe[1], t->fd, IORING_FSYNC_DATASYNC);
		io_uring_prep_fadvise(sqe[2], t->fd, bytes(page), bytes(pages),
				      POSIX_FADV_DONTNEED);
		io_uring_prep_read(sqe[3], t->fd, back, bytes(pages), bytes(page));
		ret = ds_mix_wait_chain(m, sqe, 4, res);
		if (ret) {
			ds_mix_unsure(t);
			return ret;
		}
	} else {
		res[0] = result(pwrite(t->fd, m->buf, bytes(pages), bytes(page)));
		res[1] = result(fdatasync(t->fd));
		res[2] = -posix_fadvise(t->fd, bytes(page), bytes(pages), POSIX_FADV_DONTNEED);
		res[3] = result(pread(t->fd, back, bytes(pages), bytes(page)));
	}
	ret = wrote(m, t, page, pages, res[0]);
	for (i = 1; !ret && i < 4; i++)
		ret = res[i] < 0 ? res[i] : 0;
	return ret ? ret : check_read(m, t, page, back, bytes(pages), res[3]);
}

/*
 * Pages in a pipe have a reference, so that DONTNEED cannot drop them: then it
 * deactivates them.
 */
DS_OP(splice)
{
	struct io_uring_sqe *sqe;
	loff_t from;
	u32 page, pages;
	int pipes[2];
	u64 want, got = 0;
	long res, n;
	int ret;

	if (!ds_op_range(m, s, pages_of(&t->model), &page, &pages))
		return 1;
	if (pages > PIPE_PAGES)
		pages = PIPE_PAGES;
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	want = readable(t, page, pages);
	from = bytes(page);
	sqe = ds_mix_sqe(m, IORING_OP_SPLICE);
	if (sqe) {
		io_uring_prep_splice(sqe, t->fd, from, pipes[1], -1, want, 0);
		res = ds_mix_wait(m);
	} else {
		res = result(splice(t->fd, &from, pipes[1], NULL, want, 0));
	}
	if (res > 0 && s->choice % 2)
		posix_fadvise(t->fd, bytes(page), bytes(pages), POSIX_FADV_DONTNEED);
	while (res > 0 && got < (u64)res) {
		n = read(pipes[0], m->buf + got, res - got);
		if (n <= 0) {
			res = n ? -errno : -EIO;
			break;
		}
		got += n;
	}
	close(pipes[0]);
	close(pipes[1]);
	if (res < 0)
		return res;
	/* how much one call moves is the kernel's choice */
	ret = ds_mix_check_pages(m, t, &t->model, page, m->buf, res);
	return ret ? ret : check_read(m, t, page, m->buf, want, res);
}

/* ---- other ways to read and write ---- */

DS_OP(direct_read)
{
	u32 page, pages;
	char path[32];
	long res;
	int fd;

	if (!ds_op_range(m, s, pages_of(&t->model), &page, &pages))
		return 1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return errno == EINVAL ? -EOPNOTSUPP : -errno;
	res = result(pread(fd, m->buf, bytes(pages), bytes(page)));
	close(fd);
	/* some file systems take the flag and refuse to read */
	if (res == -EINVAL)
		return -EOPNOTSUPP;
	return check_read(m, t, page, m->buf, readable(t, page, pages), res);
}

DS_OP(dontcache)
{
	struct iovec iov = { .iov_base = m->buf };
	u32 page, pages;
	long res;

	if (s->choice % 2) {
		ds_op_range(m, s, t->model.max, &page, &pages);
		iov.iov_len = bytes(pages);
		fill(m, t, page, pages);
		res = result(pwritev2(t->fd, &iov, 1, bytes(page), DONTCACHE));
		if (res == -EOPNOTSUPP)
			return res;
		return wrote(m, t, page, pages, res);
	}
	if (!ds_op_range(m, s, pages_of(&t->model), &page, &pages))
		return 1;
	iov.iov_len = bytes(pages);
	res = result(preadv2(t->fd, &iov, 1, bytes(page), DONTCACHE));
	return check_read(m, t, page, m->buf, readable(t, page, pages), res);
}

/* ---- files of a moment ---- */

/**
 * ds_op_temp_init() - a target of a moment, without data yet
 * @fd:	a file that ds_op_temp_end() closes, or -1
 *
 * Return: 0 or -errno; ds_op_temp_end() is to be called either way.
 */
int ds_op_temp_init(struct ds_mix *m, struct ds_target *t, int fd, const char *place, u32 pages)
{
	u32 file = (m->thread << 16) | 0x8000 | (m->temp++ & 0x7fff);

	memset(t, 0, sizeof(*t));
	t->kind = DS_TO_FILE;
	t->fd = fd;
	snprintf(t->place, sizeof(t->place), "%s", place);
	return ds_model_init(&t->model, file, pages);
}

/**
 * ds_op_temp_end() - the end of it
 */
void ds_op_temp_end(struct ds_target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	ds_model_free(&t->model);
}

/* A file of its own with a few pages; @t is all of it. */
static int temp_begin(struct ds_mix *m, struct ds_target *t, int fd, const char *place, u32 pages)
{
	int ret = ds_op_temp_init(m, t, fd, place, pages);

	if (ret)
		return ret;
	fill(m, t, 0, pages);
	ret = wrote(m, t, 0, pages, result(pwrite(fd, m->buf, bytes(pages), 0)));
	ds_model_note(&t->model, "write 0+%u of a new file = %d", pages, ret);
	return ret;
}

static u32 temp_pages(const struct ds_mix *m, const struct ds_mix_step *s)
{
	return 1 + s->pages % (m->pages < 16 ? m->pages : 16);
}

/* What a seal forbids has to be refused. */
static int refused(struct ds_mix *m, struct ds_target *t, const char *what, long res)
{
	struct ds_mismatch bad;

	if (res < 0 && errno == EPERM)
		return 0;
	snprintf(bad.text, sizeof(bad.text), "a sealed file: %s", what);
	snprintf(bad.expected, sizeof(bad.expected), "%s", strerror(EPERM));
	snprintf(bad.found, sizeof(bad.found), "%s", res < 0 ? strerror(errno) : "it was done");
	return ds_mix_wrong(m, t, &bad);
}

DS_OP(seals)
{
	struct ds_target temp;
	int fd, ret;

	(void)t;
	fd = memfd_create("drainstress-seals", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	ret = temp_begin(m, &temp, fd, "memfd", temp_pages(m, s));
	if (!ret && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		ret = -errno;
	if (!ret)
		ret = refused(m, &temp, "write", pwrite(fd, m->buf, DS_VPAGE, 0));
	if (!ret)
		ret = refused(m, &temp, "truncate down", ftruncate(fd, 0));
	if (!ret)
		ret = refused(m, &temp, "truncate up", ftruncate(fd, bytes(DS_MIX_PAGES)));
	if (!ret)
		ret = ds_op_sweep(m, &temp);
	ds_op_temp_end(&temp);
	return ret;
}

DS_OP(unlinked)
{
	const struct ds_places *places = m->env->places;
	const struct ds_place *place = &places->v[s->choice % places->nr];
	struct ds_target temp;
	int fd, ret;

	(void)t;
	fd = ds_place_file(place);
	if (fd < 0)
		return fd;
	ret = temp_begin(m, &temp, fd, place->name, temp_pages(m, s));
	if (!ret)
		ret = ds_op_sweep(m, &temp);
	if (!ret && s->cut % 2)
		ret = resize(m, &temp, s->cut);
	if (!ret)
		ret = ds_op_sweep(m, &temp);
	ds_op_temp_end(&temp);
	return ret;
}

/* A file with a name; only where no one else looks. */
static int temp_named(struct ds_mix *m, struct ds_target *t, const struct ds_place *place,
		      const char *name, u32 pages)
{
	int fd = openat(place->fd, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	int ret;

	memset(t, 0, sizeof(*t));
	if (fd < 0)
		return -errno;
	ret = temp_begin(m, t, fd, place->name, pages);
	close(fd);
	t->fd = -1;
	return ret;
}

DS_OP(rename)
{
	const struct ds_places *places = m->env->places;
	u32 i, k = s->choice, pages = temp_pages(m, s);
	const struct ds_place *place = NULL;
	struct ds_target from, over;
	char old[32], new[32];
	int ret;

	(void)t;
	for (i = 0; i < places->nr && !place; i++, k++) {
		if (places->v[k % places->nr].own)
			place = &places->v[k % places->nr];
	}
	snprintf(old, sizeof(old), "%u-from", m->thread);
	snprintf(new, sizeof(new), "%u-over", m->thread);
	memset(&over, 0, sizeof(over));
	ret = temp_named(m, &from, place, old, pages);
	if (!ret)
		ret = temp_named(m, &over, place, new, 1 + pages / 2);
	if (!ret && renameat(place->fd, old, place->fd, new))
		ret = -errno;
	if (!ret) {
		from.fd = openat(place->fd, new, O_RDONLY | O_CLOEXEC);
		ret = from.fd < 0 ? -errno : ds_op_sweep(m, &from);
	}
	if (from.fd > 0)
		close(from.fd);
	unlinkat(place->fd, old, 0);
	unlinkat(place->fd, new, 0);
	ds_model_free(&from.model);
	ds_model_free(&over.model);
	return ret;
}
