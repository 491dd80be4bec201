/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The invariants, written down once: number, retry rule, title, why it must
 * hold, the legitimate exceptions, and the kernel code it rests on.  kmod/ checks
 * them, but for I31, which the load in user space does; ctl/ and docs/ print them.
 * How each is checked lives in kmod/invariant*.c and stress/verify.c, not here.
 *
 * Retry rules: NONE, the first sight is a violation.  LOOK, the same folio must
 * still look wrong in further stop_machine snapshots, with nothing drained in
 * between.  QUIESCE, the module's own threads rest and all CPUs are drained
 * before the last look.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_INVARIANTS_H
#define _UAPI_LINUX_DRAINSTRESS_INVARIANTS_H

/*
 * X(number, retry, title, why, exceptions, code); code names files and functions:
 * "FILE: a(), b(); FILE: c() (6.12: d())", where d() is what c() is called from
 * 6.12 on.
 */
#define DS_INVARIANTS(X)						\
	X(1, NONE, "a per-CPU batch holds at most size - 1 folios",	\
	  "folio_batch_add() reports a full batch and the caller moves it before " \
	  "dropping the local lock", \
	  "nr == size only inside the lock", \
	  "mm/swap.c: folio_batch_add_and_move() (6.12: " \
	  "__folio_batch_add_and_move()); mm/mlock.c: mlock_folio(), " \
	  "mlock_new_page() (6.12: mlock_new_folio()); " \
	  "include/linux/pagevec.h: folio_batch_add()") \
	X(2, NONE, "batch entries are order-0 head pages of memory that can be on an LRU", \
	  "large folios force a flush when they are queued; slab, hugetlb, device and " \
	  "free pages are never queued", \
	  "a folio may be split or collapsed only without extra references, and the " \
	  "batch holds one", \
	  "mm/swap.c: folio_batch_add_and_move() (6.12: " \
	  "__folio_batch_add_and_move()); include/linux/swap.h: " \
	  "folio_may_be_lru_cached()") \
	X(3, LOOK, "PG_lru is clear in lru_add and new-mlock entries and set in " \
	  "the others", \
	  "PG_lru is set by the function that moves the batch and is needed to queue " \
	  "for the other kinds", \
	  "isolated folios; a folio that also stands in an lru_add or new-mlock " \
	  "batch; mlock and munlock entries may be either; deactivate_file before " \
	  "6.12 does not test it", \
	  "mm/swap.c: folio_batch_move_lru(), lru_add_fn() (6.12: " \
	  "lru_add()); mm/mlock.c: __mlock_new_page() (6.12: " \
	  "__mlock_new_folio())") \
	X(4, NONE, "a folio stands at most once in all lru_add and new-mlock batches", \
	  "only a folio that is on no list and in no such batch may be added; twice " \
	  "would corrupt the list", \
	  "duplicates are legal in the other kinds", \
	  "mm/swap.c: folio_add_lru(), lru_add_fn() (6.12: lru_add()); " \
	  "mm/vmscan.c: folio_putback_lru(); include/linux/mm_inline.h: " \
	  "lruvec_add_folio()") \
	X(5, LOOK, "a folio has at least as many references as batch entries; own " \
	  "folios exactly the known ones", \
	  "each entry holds a reference that the move function puts",	\
	  "isolation and migration hold one for a short time, the swap cache one of " \
	  "an anonymous folio", \
	  "mm/swap.c: folio_add_lru(), folio_batch_move_lru(); mm/mlock.c: " \
	  "mlock_folio(), mlock_pagevec() (6.12: mlock_folio_batch())") \
	X(6, NONE, "no free page stands in a batch",			\
	  "each entry holds a reference, so the page cannot be free",	\
	  "slots at or above nr are stale", \
	  "mm/swap.c: folio_add_lru(), folio_batch_move_lru(); mm/mlock.c: " \
	  "mlock_folio(), mlock_pagevec() (6.12: mlock_folio_batch())") \
	X(7, NONE, "with preemption off a CPU's batches are empty after lru_add_drain()", \
	  "lru_add_drain() moves every batch of the CPU under its local lock", \
	  "rotate may be refilled by an interrupt", \
	  "mm/swap.c: lru_add_drain(), lru_add_drain_cpu(); mm/mlock.c: " \
	  "mlock_page_drain_local() (6.12: mlock_drain_local())") \
	X(8, NONE, "a folio queued before lru_add_drain_all() is in no batch after it", \
	  "cpu_needs_drain() looks at every batch and the work drains the CPU", \
	  "queued again later, by compaction for example; offline CPUs", \
	  "mm/swap.c: __lru_add_drain_all(), cpu_needs_drain(), " \
	  "lru_add_drain_per_cpu()") \
	X(9, NONE, "batches stay empty between lru_cache_disable() and " \
	  "lru_cache_enable()", \
	  "after the disable each add moves the batch at once",		\
	  "none", \
	  "mm/swap.c: lru_cache_disable(), folio_batch_add_and_move() (6.12: " \
	  "__folio_batch_add_and_move()); mm/mlock.c: mlock_folio(); " \
	  "include/linux/swap.h: lru_cache_disabled()") \
	X(10, LOOK, "lru_disable_count is 0 while nothing of ours disables the cache", \
	  "each lru_cache_disable() is followed by an lru_cache_enable(); one that is lost " \
	  "makes every add take the lru_lock for ever", \
	  "mbind, move_pages, offlining of memory or contiguous allocation that keeps " \
	  "it disabled during all looks: while somebody calls lru_cache_disable() or " \
	  "pages migrate nothing is checked", \
	  "mm/swap.c: lru_cache_disable(); include/linux/swap.h: " \
	  "lru_cache_enable()") \
	X(11, LOOK, "a folio on a classic list has the flags of that list, and links are " \
	  "intact", \
	  "lruvec_add_folio() takes the list from the flags, which change only while the " \
	  "folio is off the lists, and all of it under the lru_lock; PG_lru and a " \
	  "reference belong to it", \
	  "for a short time PG_lru clear (isolation takes the lru_lock after it) or no " \
	  "references (freeing does); MGLRU being switched; memory failure", \
	  "include/linux/mm_inline.h: lruvec_add_folio(), folio_lru_list(); " \
	  "mm/vmscan.c: folio_isolate_lru(), isolate_lru_folios()") \
	X(12, LOOK, "a folio on an MGLRU list has its type and zone and is not active or " \
	  "unevictable", \
	  "lru_gen_add_folio() takes the list from the flags and clears PG_active, under " \
	  "the lru_lock; PG_lru, a reference and a generation belong to it", \
	  "as I11; the generation may differ from the list's, because folio_update_gen() " \
	  "changes only the flags", \
	  "include/linux/mm_inline.h: lru_gen_add_folio(), " \
	  "lru_gen_del_folio(); mm/vmscan.c: folio_update_gen()") \
	X(13, LOOK, "a folio on a list has the node and the memory cgroup of its lruvec", \
	  "folio_lruvec() finds the lruvec by them, so they change only while the folio is " \
	  "isolated", \
	  "a folio that was never charged is on the root's lruvec", \
	  "include/linux/memcontrol.h: folio_lruvec(); mm/memcontrol.c: " \
	  "folio_lruvec_lock()") \
	X(14, LOOK, "lru_zone_size of each list and zone is the sum of the pages on the list", \
	  "update_lru_size() and the list change together under the lru_lock; reclaim " \
	  "reads it in place of the list", \
	  "not counted for MGLRU lists; memory cgroups disabled: there is none", \
	  "include/linux/mm_inline.h: update_lru_size(); mm/memcontrol.c: " \
	  "mem_cgroup_update_lru_size()") \
	X(15, LOOK, "nr_pages of a type and zone, over all generations, is the sum of the pages " \
	  "on the MGLRU lists", \
	  "lru_gen_update_size() and the lists change together under the lru_lock", \
	  "single generations may drift, even below 0: reset_batch_size() follows " \
	  "folio_update_gen() later", \
	  "include/linux/mm_inline.h: lru_gen_update_size(); mm/vmscan.c: " \
	  "folio_update_gen(), reset_batch_size()") \
	X(16, QUIESCE, "the LRU counters of a node and its zones are the sums over all lruvecs", \
	  "update_lru_size() changes them all together under the lru_lock", \
	  "per-CPU diffs are added, but refresh_cpu_vm_stats() may hold one for a moment; " \
	  "MGLRU: active and inactive together", \
	  "include/linux/mm_inline.h: __update_lru_size(); mm/memcontrol.c: " \
	  "__mod_lruvec_state(); mm/vmstat.c: refresh_cpu_vm_stats()") \
	X(17, QUIESCE, "nr_unevictable is the number of pages with PG_lru and PG_unevictable", \
	  "an unevictable folio is on no list but counted as if, in the lruvec and the node; " \
	  "PG_unevictable changes only while PG_lru is clear", \
	  "isolation between PG_lru and the lru_lock; diffs as I16; memory cgroups disabled: " \
	  "only the node counts", \
	  "include/linux/mm_inline.h: lruvec_add_folio(), update_lru_size(); " \
	  "mm/swap.c: lru_add_fn() (6.12: lru_add())") \
	X(18, QUIESCE, "NR_MLOCK is what its events say: mlocked - munlocked - stranded - " \
	  "cleared", \
	  "each change of the counter counts one of the events, mostly with preemption " \
	  "off", \
	  "a page about to be freed, or a CPU's diff on its way to the zone: one of " \
	  "several looks must agree", \
	  "mm/mlock.c: mlock_folio(), mlock_new_page() (6.12: " \
	  "mlock_new_folio()), __munlock_page() (6.12: __munlock_folio()); " \
	  "mm/page_alloc.c: free_pages_prepare()") \
	X(19, QUIESCE, "nr_mlock is the number of pages with PG_mlocked", \
	  "whoever changes the flag, or frees a page that has it, changes the counter", \
	  "freeing clears the flag a moment before it counts; diffs as I16", \
	  "mm/mlock.c: mlock_folio(), mlock_new_page() (6.12: " \
	  "mlock_new_folio()), __munlock_page() (6.12: __munlock_folio()); " \
	  "mm/page_alloc.c: free_pages_prepare()") \
	X(20, QUIESCE, "mlock_count of an unevictable own folio is how often it is mlocked", \
	  "__mlock_folio() sets or raises it under the lruvec's lock, __munlock_folio() " \
	  "lowers it; 290 (0x122) is what a list pointer left and nobody has set", \
	  "too small after isolation, since lru_add sets 0: tried again", \
	  "mm/mlock.c: __mlock_page() (6.12: __mlock_folio()), " \
	  "__munlock_page() (6.12: __munlock_folio()); mm/swap.c: " \
	  "lru_add_fn() (6.12: lru_add()); mm/vmscan.c: shrink_folio_list(), " \
	  "sort_folio()") \
	X(21, QUIESCE, "after munlock and drain-all no own folio stays unevictable", \
	  "__munlock_folio() moves the folio to an evictable list, or lru_add does when it " \
	  "comes back", \
	  "an munlock that meets the folio off the LRU may strand it " \
	  "(UNEVICTABLE_PGSTRANDED): tried again with the drains one after the other", \
	  "mm/mlock.c: __munlock_page() (6.12: __munlock_folio()); " \
	  "mm/swap.c: lru_add_fn() (6.12: lru_add())") \
	X(22, NONE, "a batch usage drains at most once",		\
	  "the release function drains only while percpu_pvec_drained is clear in its " \
	  "batch, and sets it", \
	  "a per-thread batch that lives across requests", \
	  "mm/swap.c: __pagevec_release() (6.12: __folio_batch_release()); " \
	  "mm/truncate.c: truncate_inode_pages_range(); mm/shmem.c: " \
	  "shmem_undo_range()") \
	X(23, NONE, "percpu_pvec_drained survives folio_batch_move_lru()", \
	  "the function must reinitialise the batch, not initialise it", \
	  "absent before the fix: reported, and a failure only with --require-fix", \
	  "mm/swap.c: folio_batch_move_lru(); include/linux/pagevec.h: " \
	  "folio_batch_init() (6.12: folio_batch_reinit())") \
	X(24, LOOK, "a truncate by a task pinned to the CPU that filled the file " \
	  "leaves no folio in a batch", \
	  "the release function drains the CPU before it puts; from another CPU at " \
	  "most size - 1 a kind and filling CPU may stay", \
	  "pins, isolation, writeback", \
	  "mm/swap.c: __pagevec_release() (6.12: __folio_batch_release()), " \
	  "lru_add_drain_cpu(); mm/truncate.c: truncate_inode_pages_range(); " \
	  "mm/shmem.c: shmem_undo_range()") \
	X(25, QUIESCE, "after truncate and drain-all no reference to the file's folios " \
	  "is left", \
	  "page cache and batches were the only holders",		\
	  "isolation, pins", \
	  "mm/filemap.c: delete_from_page_cache_batch(); mm/swap.c: " \
	  "folio_batch_move_lru(), __lru_add_drain_all()") \
	X(26, QUIESCE, "PGROTATED rises by the own folios that were moved to a list's tail", \
	  "lru_move_tail() counts each folio, lru_deactivate_file() those that are neither " \
	  "dirty nor under writeback; read on one CPU with interrupts off", \
	  "another CPU may isolate a folio in between: tried again", \
	  "mm/swap.c: lru_move_tail_fn() (6.12: lru_move_tail()), " \
	  "lru_deactivate_file_fn() (6.12: lru_deactivate_file())") \
	X(27, QUIESCE, "PGLAZYFREE rises by the own folios that were moved to be freed lazily", \
	  "lru_lazyfree() counts each anonymous folio whose PG_swapbacked it clears", \
	  "another CPU may isolate a folio in between: tried again", \
	  "mm/swap.c: lru_lazyfree_fn() (6.12: lru_lazyfree())") \
	X(28, QUIESCE, "PGACTIVATE and PGDEACTIVATE rise by the own folios that were " \
	  "activated and deactivated", \
	  "lru_activate() counts inactive folios, lru_deactivate_file() active ones, " \
	  "lru_deactivate() active ones and with the MGLRU every one", \
	  "another CPU may isolate a folio in between, or the MGLRU is being switched: " \
	  "tried again; what reclaim counts elsewhere is not read", \
	  "mm/swap.c: folio_activate_fn() (6.12: lru_activate()), " \
	  "lru_deactivate_file_fn() (6.12: lru_deactivate_file()), " \
	  "lru_deactivate_fn() (6.12: lru_deactivate())") \
	X(29, QUIESCE, "a memory cgroup to which only the module's own files were charged is " \
	  "empty after them", \
	  "lruvec_del_folio() takes each page off its list and its counts; whatever is left " \
	  "after truncate and drain-all was leaked or counted twice", \
	  "isolation, pins: looked at again", \
	  "include/linux/mm_inline.h: lruvec_del_folio(), update_lru_size(); " \
	  "mm/memcontrol.c: mem_cgroup_update_lru_size()") \
	X(30, NONE, "nothing is left in the batches of a CPU that is offline", \
	  "page_alloc_cpu_dead() drains them when the CPU is dead, and nothing but a CPU " \
	  "itself fills its batches", \
	  "a CPU that is left halfway, by its hotplug/target, has not got there", \
	  "mm/page_alloc.c: page_alloc_cpu_dead(); mm/swap.c: " \
	  "lru_add_drain_cpu()") \
	X(31, NONE, "a file of the load holds what was written to it last, and zeros where " \
	  "nothing was", \
	  "truncating and punching zero what is left of a page and drop the others, so that " \
	  "what is read later is zero; a page that is reclaimed was written back first; size " \
	  "and blocks follow", \
	  "what a write or fallocate that failed half way left is not compared until it is " \
	  "written anew; pages after MADV_FREE may be zero", \
	  "mm/truncate.c: truncate_setsize(), truncate_inode_pages_range(); mm/shmem.c: " \
	  "shmem_undo_range(), shmem_fallocate(); mm/filemap.c: filemap_read(), " \
	  "filemap_fault(); mm/madvise.c: madvise_free_single_vma()") \
	X(32, NONE, "every drain returns within its limit",		\
	  "a drain waits for works and locks that are held for a short time only", \
	  "a busy host: the limit follows the slowest drain seen", \
	  "mm/swap.c: lru_add_drain_cpu(), __lru_add_drain_all(), " \
	  "lru_cache_disable()") \
	X(33, LOOK, "a long-term pin drains all CPUs only if a folio of its range may sit in a " \
	  "batch", \
	  "a pin drains when a folio has references that page tables, page cache, swap cache " \
	  "and the pin itself do not explain", \
	  "isolation and other references that last for a short time: tried again; " \
	  "6.1.192 breaks it: it expects a pin to be one reference in place of 1024", \
	  "mm/gup.c: check_and_migrate_movable_pages(), " \
	  "collect_longterm_unpinnable_pages() (6.12: " \
	  "collect_longterm_unpinnable_folios())")

#endif /* _UAPI_LINUX_DRAINSTRESS_INVARIANTS_H */
