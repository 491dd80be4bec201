// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations on mappings, of files, anonymous and shared, and those that
 * touch more than the thread's own memory.  Which one is done when is decided in
 * mix.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "op_file.h"
#include "text.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#define COLLAPSE 25		/* MADV_COLLAPSE, Linux 6.1 */
#define NODES_MAX 64
/*
 * While pages move, no folio waits in a batch on any CPU, and under load that is for
 * a tenth of a second each time.  With more than one call a second from all threads
 * together batches would hardly ever be filled; the other calls only ask.
 */
#define MOVE_REST_MS 1000
#define MACHINE_REST_MS 250	/* what concerns all of the machine */
#define RECLAIM_BYTES 262144U	/* a little, as the load's group is small */

static u64 bytes(u32 pages)
{
	return (u64)pages * DS_VPAGE;
}

/**
 * ds_op_touchable() - pages of a mapping that can be touched: of a file, those it has
 */
u32 ds_op_touchable(const struct ds_target *t)
{
	return (t->model.size + DS_VPAGE - 1) / DS_VPAGE;
}

/* ---- reading and writing through a mapping ---- */

static int write_map(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t, u8 *map)
{
	u32 page, pages, i;
	int ret = 0;

	/* not beyond the end: what is written there stays until the page goes */
	if (!ds_op_range(m, s, t->model.size / DS_VPAGE, &page, &pages))
		return 1;
	for (i = 0; !ret && i < pages; i++) {
		ds_model_fill(&t->model, page + i, m->index, &m->filled[0], m->buf);
		ret = ds_mix_copy(m, map + bytes(page + i), m->buf, DS_VPAGE);
		if (ret)
			ds_model_set(&t->model, page + i, 1, DS_VPAGE_UNKNOWN);
		else
			ds_model_put(&t->model, page + i, &m->filled[0]);
	}
	ds_add(&m->slot->pages, ret ? i - 1 : i);
	return ret;
}

static int read_map(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t, u8 *map)
{
	u32 page, pages, i;
	int ret = 0;

	if (!ds_op_range(m, s, ds_op_touchable(t), &page, &pages))
		return 1;
	/* whole pages: those of a file are zero beyond its end */
	for (i = 0; !ret && i < pages; i++) {
		ret = ds_mix_copy(m, m->buf, map + bytes(page + i), DS_VPAGE);
		if (!ret)
			ret = ds_mix_check_pages(m, t, &t->model, page + i, m->buf, DS_VPAGE);
	}
	return ret;
}

/* A mapping for a moment, so that the file's pages are unmapped before and after. */
static int with_map(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t,
		    int (*fn)(struct ds_mix *m, const struct ds_mix_step *s,
			      struct ds_target *t, u8 *map))
{
	u8 *map;
	int ret;

	map = mmap(NULL, bytes(t->model.max), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	ret = fn(m, s, t, map);
	munmap(map, bytes(t->model.max));
	return ret;
}

DS_OP(mmap_write)
{
	return with_map(m, s, t, write_map);
}

DS_OP(mmap_read)
{
	return with_map(m, s, t, read_map);
}

DS_OP(map_write)
{
	return s->choice % 4 == 3 ? read_map(m, s, t, t->map) : write_map(m, s, t, t->map);
}

/* ---- madvise ---- */

static int advise(struct ds_mix *m, struct ds_target *t, u32 page, u32 pages, int advice)
{
	struct io_uring_sqe *sqe = ds_mix_sqe(m, IORING_OP_MADVISE);

	if (sqe) {
		io_uring_prep_madvise(sqe, t->map + bytes(page), bytes(pages), advice);
		return ds_mix_wait(m);
	}
	return madvise(t->map + bytes(page), bytes(pages), advice) ? -errno : 0;
}

/* The same, but of huge pages' memory all, half of the time. */
static bool range_huge(struct ds_mix *m, const struct ds_mix_step *s,
		       const struct ds_target *t, u32 *page, u32 *pages)
{
	if (!ds_op_range(m, s, ds_op_touchable(t), page, pages))
		return false;
	if (t->kind == DS_TO_HUGE && s->choice % 2) {
		*page = 0;
		*pages = t->model.max;
		m->did_page = 0;
		m->did_pages = *pages;
	}
	return true;
}

static int advise_some(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t,
		       int advice)
{
	u32 page, pages;

	if (!range_huge(m, s, t, &page, &pages))
		return 1;
	return advise(m, t, page, pages, advice);
}

/* Two reads, which activate pages, and a touch, for a page that is not mapped stays. */
static int warm(struct ds_mix *m, struct ds_target *t, u32 page, u32 pages)
{
	u32 i;
	int ret = 0;

	if (t->fd < 0)
		return 0;
	if (pages > DS_MIX_PAGES)
		pages = DS_MIX_PAGES;
	for (i = 0; i < 2; i++) {
		if (pread(t->fd, m->buf, bytes(pages), bytes(page)) < 0)
			return -errno;
	}
	for (i = 0; !ret && i < pages; i++)
		ret = ds_mix_copy(m, m->buf, t->map + bytes(page + i), 1);
	return ret;
}

/*
 * With the classic LRU only what is active is deactivated: madvise_cold() drains
 * this CPU first, so that what was read twice is so by then.
 */
DS_OP(madv_cold)
{
	u32 page, pages;
	int ret = 0;

	if (!range_huge(m, s, t, &page, &pages))
		return 1;
	if (s->choice / 2 % 4)
		ret = warm(m, t, page, pages);
	return ret ? ret : advise(m, t, page, pages, MADV_COLD);
}

DS_OP(madv_pageout)
{
	return advise_some(m, s, t, MADV_PAGEOUT);
}

/*
 * A dirty page of a file that reclaim meets is marked to be moved to the tail of
 * its list when it has been written.
 */
DS_OP(pageout_dirty)
{
	int ret = write_map(m, s, t, t->map);

	if (!ret)
		ret = advise_some(m, s, t, MADV_PAGEOUT);
	if (!ret && fsync(t->fd))
		ret = -errno;
	return ret;
}

/* Even what failed may have been done to a part of it. */
DS_OP(madv_free)
{
	u32 page, pages;

	if (!range_huge(m, s, t, &page, &pages))
		return 1;
	ds_model_set(&t->model, page, pages, DS_VPAGE_FREED);
	return advise(m, t, page, pages, MADV_FREE);
}

DS_OP(madv_dontneed)
{
	bool anon = t->kind == DS_TO_ANON || t->kind == DS_TO_HUGE;
	u32 page, pages;
	int ret;

	if (!range_huge(m, s, t, &page, &pages))
		return 1;
	ret = advise(m, t, page, pages, MADV_DONTNEED);
	/* what is shared stays as it is */
	if (anon)
		ds_model_set(&t->model, page, pages, ret ? DS_VPAGE_FREED : DS_VPAGE_ZERO);
	return ret;
}

DS_OP(madv_populate)
{
	return advise_some(m, s, t, s->choice % 4 < 2 ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
}

DS_OP(madv_hugepage)
{
	return advise_some(m, s, t, s->choice % 8 == 7 ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

/* One huge page, with a page in it, and one mapping over all of it. */
DS_OP(madv_collapse)
{
	u32 pages = DS_HUGE_SIZE / DS_VPAGE, page = s->choice % 2 * pages;
	u8 *at = t->map + bytes(page);
	int ret;

	ds_model_fill(&t->model, page, m->index, &m->filled[0], m->buf);
	ret = ds_mix_copy(m, at, m->buf, DS_VPAGE);
	if (ret)
		return ret;
	ds_model_put(&t->model, page, &m->filled[0]);
	if (munlock(at, DS_HUGE_SIZE) || madvise(at, DS_HUGE_SIZE, MADV_HUGEPAGE))
		return -errno;
	return advise(m, t, page, pages, COLLAPSE);
}

/* ---- mlock ---- */

DS_OP(mlock)
{
	u32 page, pages;

	if (!range_huge(m, s, t, &page, &pages))
		return 1;
	return mlock(t->map + bytes(page), bytes(pages)) ? -errno : 0;
}

DS_OP(mlock_onfault)
{
	u32 page, pages;

	/* nothing is touched, so there may be nothing there yet */
	if (!ds_op_range(m, s, t->model.max, &page, &pages))
		return 1;
	return mlock2(t->map + bytes(page), bytes(pages), MLOCK_ONFAULT) ? -errno : 0;
}

/* Half of the time all of it, so that it stays possible to advise. */
DS_OP(munlock)
{
	u32 page = 0, pages = t->model.max;

	if (s->choice / 2 % 2)
		ds_op_range(m, s, t->model.max, &page, &pages);
	return munlock(t->map + bytes(page), bytes(pages)) ? -errno : 0;
}

DS_OP(shm_lock)
{
	(void)m;
	(void)s;
	return shmctl(t->shmid, SHM_LOCK, NULL) ? -errno : 0;
}

DS_OP(shm_unlock)
{
	(void)m;
	(void)s;
	return shmctl(t->shmid, SHM_UNLOCK, NULL) ? -errno : 0;
}

/* ---- more than the thread's own ---- */

/**
 * ds_op_nodes() - nodes that have memory, as bits; the first where nothing says so
 */
u64 ds_op_nodes(void)
{
	FILE *f = fopen("/sys/devices/system/node/has_memory", "re");
	unsigned int a, b, node;
	u64 mask = 0;
	int n;

	while (f && (n = fscanf(f, "%u-%u", &a, &b)) >= 1) {
		for (node = a; node <= (n == 2 ? b : a) && node < NODES_MAX; node++)
			mask |= 1ULL << node;
		if (fgetc(f) != ',')
			break;
	}
	if (f)
		fclose(f);
	return mask ? mask : 1;
}

/**
 * ds_op_node() - the @n-th node of @mask, in a circle
 */
int ds_op_node(u64 mask, u32 n)
{
	unsigned int node;

	n %= __builtin_popcountll(mask);
	for (node = 0; node < NODES_MAX; node++) {
		if ((mask >> node) & 1 && !n--)
			return node;
	}
	return 0;
}

DS_OP(move_pages)
{
	void *addresses[DS_MIX_PAGES];
	int nodes[DS_MIX_PAGES], status[DS_MIX_PAGES];
	u64 mask = ds_op_nodes();
	struct ds_mix_turn turn;
	static u64 due;
	u32 page, pages, i;
	long ret;
	bool now;

	if (!ds_op_range(m, s, ds_op_touchable(t), &page, &pages))
		return 1;
	if (pages > DS_MIX_PAGES)
		pages = DS_MIX_PAGES;
	for (i = 0; i < pages; i++) {
		addresses[i] = t->map + bytes(page + i);
		nodes[i] = ds_op_node(mask, s->choice);
	}
	/* do_pages_move() disables the cache of folios for as long as it takes */
	now = ds_mix_disable_begin(&turn, &due, MOVE_REST_MS);
	/* above 0: so many pages could not be moved now */
	ret = syscall(SYS_move_pages, 0, (unsigned long)pages, addresses, now ? nodes : NULL,
		      status, MPOL_MF_MOVE);
	ret = ret < 0 ? -errno : 0;
	if (now)
		ds_mix_disable_end(&turn);
	return ret;
}

static int write_group(struct ds_mix *m, const char *file, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", m->env->cgroup, file);
	return ds_write_text(path, text);
}

/* EAGAIN says that there was less to reclaim. */
DS_OP(memcg_reclaim)
{
	char text[32];

	(void)s;
	(void)t;
	snprintf(text, sizeof(text), "%u", RECLAIM_BYTES);
	return write_group(m, "memory.reclaim", text);
}

/*
 * A limit below what is used: reclaim as an allocation would do it.  With the
 * MGLRU it is the one that activates what it finds accessed nearby.
 */
DS_OP(memcg_high)
{
	char path[512], text[32];
	u64 used = 0;
	int ret, back;

	(void)s;
	(void)t;
	snprintf(path, sizeof(path), "%s/memory.current", m->env->cgroup);
	ret = ds_read_u64(path, &used);
	if (ret)
		return ret;
	if (used <= RECLAIM_BYTES)
		return 1;
	snprintf(text, sizeof(text), "%llu", used - RECLAIM_BYTES);
	ret = write_group(m, "memory.high", text);
	back = write_group(m, "memory.high", "max");
	return ret ? ret : back;
}

DS_OP(compact)
{
	static u64 due;

	(void)m;
	(void)s;
	(void)t;
	if (!ds_mix_rested(&due, MACHINE_REST_MS))
		return 1;
	return ds_write_text("/proc/sys/vm/compact_memory", "1");
}

DS_OP(drop_caches)
{
	static u64 due;

	(void)m;
	(void)s;
	(void)t;
	if (!ds_mix_rested(&due, MACHINE_REST_MS))
		return 1;
	return ds_write_text("/proc/sys/vm/drop_caches", "1");
}
