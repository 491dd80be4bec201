/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs that were killed left behind.  See stale.c.
 */
#ifndef DS_STALE_H
#define DS_STALE_H

typedef void (*ds_stale_say_fn)(void *arg, const char *line);

void ds_stale_clean(ds_stale_say_fn say, void *arg);
void ds_stale_print(void *arg, const char *line);

#endif /* DS_STALE_H */
