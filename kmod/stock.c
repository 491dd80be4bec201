// SPDX-License-Identifier: GPL-2.0-only
/*
 * The folios that the module owns: pages of tmpfs files of its own, properly
 * charged and in a page cache, and anonymous pages taken from a short-lived
 * mapping.  Each is held by a reference or a pin of the module, so that what
 * becomes of it can be told exactly.  They are found again by page frame number.  How
 * they are queued and drained is not decided here.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/mman.h>
#include <linux/mmzone.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "drainstress.h"

static DEFINE_XARRAY(ds_owned);		/* pfn -> struct ds_own */
static struct ds_stock ds_witness;	/* one folio that lives as long as the module */

/**
 * ds_own_find() - the own folio with page frame number @pfn, or NULL
 * @pfn: page frame number
 *
 * Any context.  Folios of checks and proofs are not registered.
 */
struct ds_own *ds_own_find(unsigned long pfn)
{
	return xa_load(&ds_owned, pfn);
}

/* Calls @fn for each registered own folio, until it returns non-zero. */
int ds_own_each(int (*fn)(struct ds_own *own, void *arg), void *arg)
{
	unsigned long pfn;
	struct ds_own *own;
	int ret;

	xa_for_each(&ds_owned, pfn, own) {
		ret = fn(own, arg);
		if (ret)
			return ret;
	}
	return 0;
}

static int ds_count_own(struct ds_own *own, void *arg)
{
	(*(unsigned int *)arg)++;
	return 0;
}

unsigned int ds_own_count(void)
{
	unsigned int n = 0;

	ds_own_each(ds_count_own, &n);
	return n;
}

/* Gives up the reference, or the pin, that a page came with. */
static void ds_own_put(struct page *page, bool anon)
{
	if (anon)
		unpin_user_page(page);
	else
		put_page(page);
}

static int ds_register(struct ds_own *own)
{
	if (own->cpu < 0)
		return 0;
	return xa_err(xa_store(&ds_owned, folio_pfn(own->folio), own,
			       GFP_KERNEL));
}

static int ds_stock_add(struct ds_stock *stock, struct page *page, int cpu,
			bool anon)
{
	struct ds_own *own = &stock->own[stock->nr];

	if (PageCompound(page)) {
		if (!anon)
			pr_err_once("a tmpfs page came as part of a huge one: set /sys/kernel/mm/transparent_hugepage/shmem_enabled to never\n");
		ds_own_put(page, anon);
		return -EAGAIN;
	}
	own->folio = page_folio(page);
	own->cpu = cpu;
	own->anon = anon;
	own->refs = anon ? GUP_PIN_COUNTING_BIAS : 2 + DS_SPARE_REFS;
	if (!anon)
		page_ref_add(page, DS_SPARE_REFS);
	stock->nr++;
	/* it came by that batch */
	ds_queues_own(DS_BATCH_LRU_ADD);
	return ds_register(own);
}

/**
 * ds_stock_make() - @nr page-cache folios of a new tmpfs file
 * @stock: filled in; what it held before is forgotten
 * @nr: folios
 * @cpu: whose stock it is; -1: of a check, then the folios are not registered
 *
 * The folios are clean, up to date and on their way to the LRU by the lru_add
 * batch of the CPU that runs this.  Return: 0 or a negative errno; on an error
 * nothing is kept.  Context: process, may sleep.
 */
int ds_stock_make(struct ds_stock *stock, unsigned int nr, int cpu)
{
	struct page *page;
	unsigned int i;
	int err;

	*stock = (struct ds_stock){ };
	stock->own = kvcalloc(nr, sizeof(*stock->own), GFP_KERNEL);
	if (!stock->own)
		return -ENOMEM;
	stock->file = shmem_file_setup("drainstress", (loff_t)nr << PAGE_SHIFT,
				       VM_NORESERVE);
	if (IS_ERR(stock->file)) {
		err = PTR_ERR(stock->file);
		stock->file = NULL;
		goto unwind;
	}
	for (i = 0; i < nr; i++) {
		page = shmem_read_mapping_page_gfp(stock->file->f_mapping, i,
						   GFP_KERNEL | __GFP_NOWARN);
		if (IS_ERR(page)) {
			err = PTR_ERR(page);
			goto unwind;
		}
		err = ds_stock_add(stock, page, cpu, false);
		if (err)
			goto unwind;
	}
	return 0;
unwind:
	ds_stock_drop(stock);
	return err;
}

/**
 * ds_stock_make_anon() - @nr anonymous folios
 * @stock: filled in; what it held before is forgotten
 * @nr: folios
 * @cpu: as for ds_stock_make()
 *
 * They come from a private mapping in the mm of the running process, which is
 * gone again when this returns: only the module's pin keeps them, as after a
 * munmap() of pages that a driver has taken.  A pin, for shrink_folio_list()
 * (mm/vmscan.c) puts an anonymous folio that has none into the swap cache, and
 * there it would stay: it could never again be freed lazily.  Part of a huge
 * page is not taken, so there may be fewer than asked.
 *
 * Return: 0, -ESRCH without an mm, or another errno.  Context: process with an
 * mm, may sleep.
 */
int ds_stock_make_anon(struct ds_stock *stock, unsigned int nr, int cpu)
{
	unsigned long addr, len = (unsigned long)nr << PAGE_SHIFT;
	struct page **pages;
	int got, i, err = 0;

	*stock = (struct ds_stock){ };
	if (!current->mm)
		return -ESRCH;
	pages = kvcalloc(nr, sizeof(*pages), GFP_KERNEL);
	stock->own = kvcalloc(nr, sizeof(*stock->own), GFP_KERNEL);
	if (!pages || !stock->own) {
		err = -ENOMEM;
		goto unwind;
	}
	/* NORESERVE: not merged with a neighbour into room for a huge page. */
	addr = vm_mmap(NULL, 0, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, 0);
	if (IS_ERR_VALUE(addr)) {
		err = addr;
		goto unwind;
	}
	got = pin_user_pages_fast(addr, nr, FOLL_WRITE, pages);
	for (i = 0; i < got; i++) {
		int added;

		if (!PageAnon(pages[i])) {
			unpin_user_page(pages[i]);
			continue;
		}
		added = ds_stock_add(stock, pages[i], cpu, true);
		if (added && added != -EAGAIN)
			err = added;
	}
	vm_munmap(addr, len);
	if (!err && !stock->nr)
		err = got < 0 ? got : -ENOMEM;
	if (!err)
		goto out;
unwind:
	ds_stock_drop(stock);
out:
	kvfree(pages);
	return err;
}

/*
 * A munlock that met the folio off the LRU leaves PG_unevictable behind
 * (UNEVICTABLE_PGSTRANDED) until somebody puts the folio back: we do.
 */
static void ds_rescue(struct folio *folio)
{
	if (!ds_has(DS_SYM_folio_isolate_lru) ||
	    !ds_has(DS_SYM_folio_putback_lru))
		return;
	if (folio_test_unevictable(folio) && !folio_test_mlocked(folio) &&
	    ds_isolate(folio))
		ds_putback(folio);
}

/* PG_mlocked is set when an mlock is queued, so that nothing needs a drain first. */
static bool ds_any_unevictable(struct ds_stock *stock)
{
	unsigned int i;

	for (i = 0; i < stock->nr; i++) {
		if (folio_test_mlocked(stock->own[i].folio) ||
		    folio_test_unevictable(stock->own[i].folio))
			return true;
	}
	return false;
}

/**
 * ds_stock_unlock() - takes back every mlock of the stock's folios
 * @stock: whose folios
 *
 * Context: process, may sleep; nothing else may mlock them meanwhile.
 */
void ds_stock_unlock(struct ds_stock *stock)
{
	unsigned int i, round, left = 1;

	if (!ds_has(DS_SYM_munlock_folio) || !ds_has(DS_SYM_lru_add_drain_all) ||
	    !ds_any_unevictable(stock))
		return;
	for (round = 0; left && round < 8; round++) {
		left = 0;
		ds_call(lru_add_drain_all)();
		for (i = 0; i < stock->nr; i++) {
			if (!folio_test_mlocked(stock->own[i].folio))
				continue;
			ds_munlock(stock->own[i].folio);
			left++;
		}
	}
	for (i = 0; i < stock->nr; i++)
		ds_rescue(stock->own[i].folio);
	ds_call(lru_add_drain_all)();
}

/*
 * Gives up what keeps an own folio, whose file has been truncated.  One that has
 * lost references would be freed while somebody uses it, and one without PG_lru that
 * nobody else holds while it is on a list: batches and who isolates it hold a
 * reference.  Such a one is kept for good.
 */
static void ds_own_drop(const struct ds_own *own)
{
	struct page *page = folio_page(own->folio, 0);
	int known = own->anon ? own->refs : own->refs - 1;

	if (page_ref_count(page) < known) {
		pr_warn_once("an own folio has lost references: it is not freed\n");
		return;
	}
	/* Who takes it off a list has a reference before and after. */
	if (page_ref_count(page) == known && !folio_test_lru(own->folio) &&
	    page_ref_count(page) == known) {
		pr_warn_once("an own folio has lost PG_lru: it is not freed\n");
		return;
	}
	if (!own->anon)
		page_ref_sub(page, DS_SPARE_REFS);
	ds_own_put(page, own->anon);
}

/**
 * ds_stock_drop() - gives the folios back
 * @stock: empty afterwards; may be empty before
 *
 * A batch may still hold one: then the next drain frees it.  Context: process,
 * may sleep.
 */
void ds_stock_drop(struct ds_stock *stock)
{
	ds_stock_unlock(stock);
	ds_stock_drop_locked(stock);
}

/**
 * ds_stock_drop_locked() - gives the folios back as they are, mlocked ones too
 * @stock: empty afterwards; may be empty before
 *
 * Context: process, may sleep.
 */
void ds_stock_drop_locked(struct ds_stock *stock)
{
	unsigned int i;

	if (stock->file)
		shmem_truncate_range(file_inode(stock->file), 0, (loff_t)-1);
	for (i = 0; i < stock->nr; i++) {
		if (stock->own[i].cpu >= 0)
			xa_erase(&ds_owned, folio_pfn(stock->own[i].folio));
		ds_own_drop(&stock->own[i]);
	}
	if (stock->file)
		fput(stock->file);
	kvfree(stock->own);
	*stock = (struct ds_stock){ };
}

/**
 * ds_mglru() - 1 when the multi-generational LRU is in use, 0 when not
 *
 * lru_gen_enabled() needs an unexported static key, so the lruvec of a folio of
 * ours is asked instead.
 */
int ds_mglru(void)
{
#ifdef CONFIG_LRU_GEN
	struct folio *folio = ds_witness.nr ? ds_witness.own[0].folio : NULL;
	struct lruvec *lruvec;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;
#endif

	if (!folio)
		return 0;
	lruvec = &NODE_DATA(folio_nid(folio))->__lruvec;
#ifdef CONFIG_MEMCG
	rcu_read_lock();
	memcg = folio_memcg(folio);
	if (memcg)
		lruvec = &memcg->nodeinfo[folio_nid(folio)]->lruvec;
	rcu_read_unlock();
#endif
	return READ_ONCE(lruvec->lrugen.enabled);
#else
	return 0;
#endif
}

int ds_stock_init(void)
{
	return ds_stock_make(&ds_witness, 1, -1);
}

void ds_stock_exit(void)
{
	ds_stock_drop(&ds_witness);
	xa_destroy(&ds_owned);
}
