/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of the kernel's that hold a line of text.  See text.c.
 */
#ifndef DS_TEXT_H
#define DS_TEXT_H

#include <stddef.h>

#include "types.h"

int ds_write_text(const char *path, const char *text);
int ds_read_text(const char *path, char *text, size_t len);
u64 ds_read_key(const char *path, const char *key);
int ds_read_u64(const char *path, u64 *value);

#endif /* DS_TEXT_H */
