/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions behind the rows of ds_ops[].  See op_file.c for files, op_map.c
 * for mappings and the machine, op_move.c for nodes, control groups, pins and
 * swap.
 */
#ifndef DS_OP_FILE_H
#define DS_OP_FILE_H

#include "mix.h"

#define DS_OP(name) \
	int ds_op_##name(struct ds_mix *m, const struct ds_mix_step *s, struct ds_target *t)

bool ds_op_range(struct ds_mix *m, const struct ds_mix_step *s, u32 limit, u32 *page, u32 *pages);

DS_OP(write);
DS_OP(read);
DS_OP(truncate_down);
DS_OP(truncate_up);
DS_OP(open_trunc);
DS_OP(allocate);
DS_OP(punch);
DS_OP(zero_range);
DS_OP(collapse);
DS_OP(insert);
DS_OP(dontneed);
DS_OP(willneed);
DS_OP(noreuse);
DS_OP(fsync);
DS_OP(sync_range);
DS_OP(chain);
DS_OP(splice);
DS_OP(direct_read);
DS_OP(dontcache);
DS_OP(seals);
DS_OP(unlinked);
DS_OP(rename);

DS_OP(mmap_write);
DS_OP(mmap_read);
DS_OP(map_write);
DS_OP(madv_cold);
DS_OP(madv_pageout);
DS_OP(pageout_dirty);
DS_OP(madv_free);
DS_OP(madv_dontneed);
DS_OP(madv_populate);
DS_OP(madv_hugepage);
DS_OP(madv_collapse);
DS_OP(mlock);
DS_OP(mlock_onfault);
DS_OP(munlock);
DS_OP(shm_lock);
DS_OP(shm_unlock);
DS_OP(move_pages);
DS_OP(memcg_reclaim);
DS_OP(memcg_high);
DS_OP(compact);
DS_OP(drop_caches);

DS_OP(mbind);
DS_OP(cgroup_move);
DS_OP(cgroup_remove);
DS_OP(pin);
DS_OP(swap_out);
DS_OP(swap_in);
DS_OP(swap_cycle);

bool ds_probe_mbind(const struct ds_op_env *env, char *why, size_t len);
bool ds_probe_cgroup(const struct ds_op_env *env, char *why, size_t len);
bool ds_probe_pin(const struct ds_op_env *env, char *why, size_t len);
bool ds_probe_swap(const struct ds_op_env *env, char *why, size_t len);

int ds_op_sweep(struct ds_mix *m, struct ds_target *t);
int ds_op_temp_init(struct ds_mix *m, struct ds_target *t, int fd, const char *place, u32 pages);
void ds_op_temp_end(struct ds_target *t);
u32 ds_op_touchable(const struct ds_target *t);
u64 ds_op_nodes(void);
int ds_op_node(u64 mask, u32 n);
void ds_op_pin_drop(struct ds_mix *m);

#endif /* DS_OP_FILE_H */
