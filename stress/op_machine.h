/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations that change the state of the whole machine, and why one cannot be
 * done here.  See op_machine.c.
 */
#ifndef DS_OP_MACHINE_H
#define DS_OP_MACHINE_H

#include "op_file.h"

bool ds_probe_mglru(const struct ds_op_env *env, char *why, size_t len);
bool ds_probe_cpu(const struct ds_op_env *env, char *why, size_t len);
bool ds_probe_memory(const struct ds_op_env *env, char *why, size_t len);

DS_OP(mglru_switch);
DS_OP(cpu_offline);
DS_OP(memory_offline);

#endif /* DS_OP_MACHINE_H */
