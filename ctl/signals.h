/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SIGINT and SIGTERM.  See signals.c.
 */
#ifndef DS_SIGNALS_H
#define DS_SIGNALS_H

#include <sys/types.h>

#include "common.h"

void ds_signals_init(void);
bool ds_signals_seen(void);
void ds_signals_victims(pid_t child, const char *cgroup);

#endif /* DS_SIGNALS_H */
