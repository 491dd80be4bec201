/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sparsetruncate: how long it takes to remove sparse files whose pages are cached.
 * See sparse.c, and sparse_order.c for the size of their folios.
 */
#ifndef DS_SPARSE_H
#define DS_SPARSE_H

#include <liburing.h>

#include "types.h"
#include "undo.h"

#define DS_SPARSE_DIRS_MAX 512
#define DS_SPARSE_FILES_MAX 10000
#define DS_SPARSE_ALL_MAX 1048576		/* files in all */
#define DS_SPARSE_SIZE_MAX 0x10000000000ULL	/* of a file: 1 TiB */

/* An order of folios: this, 0 for single pages, or the largest one of a read-ahead. */
#define DS_SPARSE_READAHEAD (-1)
#define DS_SPARSE_ORDER_MAX 9

/* How many files, and how large, a name stands for. */
struct ds_sparse_preset {
	const char *name;
	const char *help;
	u32 dirs;
	u32 files;
	u64 size;
};

extern const struct ds_sparse_preset ds_sparse_presets[];
extern const unsigned int ds_nr_sparse_presets;

struct ds_sparse;

/**
 * struct ds_sparse_method - what is timed
 * @opens:	wants the file open; else its descriptor is -1
 * @ring:	wants an io_uring
 * @remove:	of the file @name in the directory @dir; 0 or -errno
 */
struct ds_sparse_method {
	const char *name;
	const char *help;
	bool opens;
	bool ring;
	int (*remove)(struct ds_sparse *s, int dir, const char *name, int fd);
};

extern const struct ds_sparse_method ds_sparse_methods[];
extern const unsigned int ds_nr_sparse_methods;

/**
 * struct ds_sparse_params - the workload
 * @files:	in each of @dirs directories
 * @size:	of a file, in bytes, whole pages
 * @order:	of the folios: DS_SPARSE_READAHEAD, 0 or 2 to DS_SPARSE_ORDER_MAX
 * @seed:	0: the files go in the order in which they were made; else shuffled
 * @go_on:	told how far "reading" or "removing" has come, before each file;
 *		false ends it with -ECANCELED
 */
struct ds_sparse_params {
	u32 dirs;
	u32 files;
	u64 size;
	int order;
	const struct ds_sparse_method *method;
	u64 seed;
	bool (*go_on)(void *arg, const char *what, u32 done, u32 total);
	void *arg;
};

/**
 * struct ds_sparse - the files, while there are some
 * @top:	directory in which all is made; the caller's
 * @dir:	open directories, -1: not made
 * @turn:	numbers of files in the order in which they are removed
 * @fd:		of the file whose turn it is, for methods that want it
 */
struct ds_sparse {
	struct ds_sparse_params p;
	u32 nr;
	u32 page;
	int top;
	int *dir;
	u32 *turn;
	struct io_uring ring;
	bool has_ring;
};

/* Folios of a file by order; @pages that were seen. */
struct ds_sparse_folios {
	u64 pages;
	u64 nr[DS_SPARSE_ORDER_MAX + 1];
};

const struct ds_sparse_preset *ds_sparse_preset_find(const char *name);
void ds_sparse_preset_names(char *buf, size_t len);
const struct ds_sparse_method *ds_sparse_method_find(const char *name);
void ds_sparse_method_names(char *buf, size_t len);

int ds_sparse_open(struct ds_sparse *s, const struct ds_sparse_params *p, int top, char *why,
		   size_t len);
int ds_sparse_populate(struct ds_sparse *s, char *why, size_t len);
int ds_sparse_resident(struct ds_sparse *s, u64 *pages, char *why, size_t len);
int ds_sparse_remove(struct ds_sparse *s, u64 *ns, char *why, size_t len);
int ds_sparse_clear(struct ds_sparse *s);
void ds_sparse_close(struct ds_sparse *s);
void ds_sparse_shuffle(u32 *turn, u32 nr, u64 seed);
int ds_sparse_make_file(const struct ds_sparse *s, int dir, const char *name, char *why,
			size_t len);

/* ---- sparse_order.c ---- */

int ds_sparse_order_parse(const char *text, int *order);
void ds_sparse_order_text(int order, char *buf, size_t len);
int ds_sparse_readahead(int top, int order, struct ds_undo *undo, char *why, size_t len);
int ds_sparse_look(const struct ds_sparse *s, struct ds_sparse_folios *f, char *why, size_t len);
int ds_sparse_count_folios(const u64 *flags, u64 nr, struct ds_sparse_folios *f);
int ds_sparse_judge(int order, const struct ds_sparse_folios *f, char *why, size_t len);
void ds_sparse_folios_text(const struct ds_sparse_folios *f, char *buf, size_t len);

#endif /* DS_SPARSE_H */
