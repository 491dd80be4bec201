/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's short names for integer types, and what every file of the
 * user-space half wants: array sizes and single-writer counters.  No logic.
 */
#ifndef DS_TYPES_H
#define DS_TYPES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/* The kernel's names for these attributes. */
#define __printf(a, b)	__attribute((format(printf, a, b)))
#ifndef __noreturn
#define __noreturn	__attribute((noreturn))
#endif
#ifndef __aligned
#define __aligned(n)	__attribute((aligned(n)))
#endif

/*
 * Counters that one thread writes and others read: plain loads and stores that
 * the compiler may neither tear nor repeat.
 */
#define ds_get(p)	__atomic_load_n((p), __ATOMIC_RELAXED)
#define ds_set(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define ds_add(p, n)	ds_set((p), ds_get(p) + (n))

#endif /* DS_TYPES_H */
