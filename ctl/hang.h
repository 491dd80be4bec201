/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine waits for when something hangs.  See hang.c.
 */
#ifndef DS_HANG_H
#define DS_HANG_H

#include "common.h"

void ds_hang_thread(FILE *f, const char *proc, int pid, u32 tid);
unsigned int ds_hang_describe(FILE *f, const char *proc, const char *sysfs);

#endif /* DS_HANG_H */
