/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swap of the load's own.  See own_swap.c.
 */
#ifndef DS_OWN_SWAP_H
#define DS_OWN_SWAP_H

#include "files.h"
#include "undo.h"

/**
 * struct ds_own_swap - a zram device or a file that is swapped to
 * @path:	of it
 * @on:		it is swapped to just now
 */
struct ds_own_swap {
	char path[300];
	u32 on;
};

bool ds_own_swap_can(const struct ds_places *places, char *why, size_t len);
int ds_own_swap_make(struct ds_own_swap *sw, const struct ds_places *places, pid_t controller,
		     struct ds_undo *undo, char *why, size_t len);
int ds_own_swap_on(struct ds_own_swap *sw);
int ds_own_swap_off(struct ds_own_swap *sw);
void ds_own_swap_header(void *page, size_t page_size, u64 bytes);

#endif /* DS_OWN_SWAP_H */
