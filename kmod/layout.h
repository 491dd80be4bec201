/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's per-CPU batch structures, restated.  They mirror mm/swap.c and
 * mm/mlock.c with the kernel's own local_lock_t and struct folio_batch, so that
 * offsets follow the configuration (lockdep makes the lock grow).  Which of the
 * two shapes this kernel has is decided by the symbol lru_rotate and then
 * proven, see layout.c.
 */
#ifndef DS_LAYOUT_H
#define DS_LAYOUT_H

#include <linux/local_lock.h>
#include <linux/pagevec.h>

/* Up to 6.11: mm/swap.c keeps the rotate batch in a variable of its own. */
struct ds_cpu_fbatches_old {
	local_lock_t lock;
	struct folio_batch lru_add;
	struct folio_batch lru_deactivate_file;
	struct folio_batch lru_deactivate;
	struct folio_batch lru_lazyfree;
#ifdef CONFIG_SMP
	struct folio_batch activate;
#endif
};

struct ds_lru_rotate {
	local_lock_t lock;
	struct folio_batch fbatch;
};

/* From 6.12: one structure, the rotate batch behind a lock that stops interrupts. */
struct ds_cpu_fbatches_new {
	local_lock_t lock;
	struct folio_batch lru_add;
	struct folio_batch lru_deactivate_file;
	struct folio_batch lru_deactivate;
	struct folio_batch lru_lazyfree;
#ifdef CONFIG_SMP
	struct folio_batch activate;
#endif
	local_lock_t lock_irq;
	struct folio_batch lru_move_tail;
};

/* mm/mlock.c, all versions. */
struct ds_mlock_fbatch {
	local_lock_t lock;
	struct folio_batch fbatch;
};

#endif /* DS_LAYOUT_H */
