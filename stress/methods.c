// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ways the load truncates a file: one row and one function each.  Says
 * which of them this kernel has and which a run uses; it neither opens files
 * nor submits anything, that is flood.c.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods.h"

/* 6.9+; the liburing of Debian 12 has neither its name nor a helper. */
#define DS_IORING_OP_FTRUNCATE 55

static void prepare_ftruncate(struct io_uring_sqe *sqe, const struct ds_trunc *t)
{
	/* any other field that is not 0 makes the kernel say -EINVAL */
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = DS_IORING_OP_FTRUNCATE;
	sqe->fd = t->fd;
	sqe->off = t->keep;
}

static void prepare_openat(struct io_uring_sqe *sqe, const struct ds_trunc *t)
{
	io_uring_prep_openat(sqe, AT_FDCWD, t->path, O_WRONLY | O_TRUNC | O_CLOEXEC, 0);
}

static void prepare_punch(struct io_uring_sqe *sqe, const struct ds_trunc *t)
{
	io_uring_prep_fallocate(sqe, t->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				t->keep, t->end > t->keep ? t->end - t->keep : 1);
}

static int call_ftruncate(const struct ds_trunc *t)
{
	return ftruncate(t->fd, t->keep) ? -errno : 0;
}

const struct ds_method ds_methods[] = {
	{
		.name = "io_uring",
		.help = "IORING_OP_FTRUNCATE",
		.needs = "IORING_OP_FTRUNCATE, which came with Linux 6.9",
		.opcode = DS_IORING_OP_FTRUNCATE,
		.keeps = true,
		.prepare = prepare_ftruncate,
	}, {
		.name = "openat",
		.help = "IORING_OP_OPENAT with O_TRUNC",
		.needs = "IORING_OP_OPENAT, which came with Linux 5.6",
		.opcode = IORING_OP_OPENAT,
		.opens = true,
		.prepare = prepare_openat,
	}, {
		.name = "punch",
		.help = "IORING_OP_FALLOCATE that punches a hole",
		.needs = "IORING_OP_FALLOCATE, which came with Linux 5.6",
		.opcode = IORING_OP_FALLOCATE,
		.keeps = true,
		.prepare = prepare_punch,
	}, {
		.name = "syscall",
		.help = "plain ftruncate(2), no io_uring at all",
		.needs = "nothing",
		.opcode = -1,
		.keeps = true,
		.call = call_ftruncate,
	},
};

const unsigned int ds_nr_methods = ARRAY_SIZE(ds_methods);
static_assert(ARRAY_SIZE(ds_methods) <= DS_METHODS_MAX, "raise DS_METHODS_MAX");

/**
 * ds_method_find() - the row of @name, or -1
 */
int ds_method_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_methods; i++) {
		if (!strcmp(ds_methods[i].name, name))
			return i;
	}
	return -1;
}

/**
 * ds_methods_names() - "auto, io_uring, ..." for messages
 */
void ds_methods_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n;

	n = snprintf(buf, len, "%s", DS_METHOD_AUTO);
	for (i = 0; i < ds_nr_methods && n < len; i++)
		n += snprintf(buf + n, len - n, ", %s", ds_methods[i].name);
}

/**
 * ds_ring_short() - is @err a want of memory or descriptors, which passes?
 *
 * Everything else that io_uring_setup(2) answers means that this host does not
 * let us have rings.
 */
bool ds_ring_short(int err)
{
	return err == ENOMEM || err == EMFILE || err == ENFILE || err == EAGAIN;
}

static void ring_reason(int err, char *buf, size_t len)
{
	FILE *f = fopen("/proc/sys/kernel/io_uring_disabled", "re");
	int disabled = 0;

	if (f) {
		if (fscanf(f, "%d", &disabled) != 1)
			disabled = 0;
		fclose(f);
	}
	if (err == EPERM && disabled)
		snprintf(buf, len, "io_uring is disabled by the sysctl kernel.io_uring_disabled=%d",
			 disabled);
	else if (err == EPERM)
		snprintf(buf, len, "io_uring is forbidden (EPERM), by seccomp or a container");
	else if (ds_ring_short(err))
		snprintf(buf, len, "io_uring cannot be set up: %s", strerror(err));
	else
		snprintf(buf, len, "io_uring is not in this kernel, or hidden by seccomp: %s",
			 strerror(err));
}

/**
 * ds_methods_probe() - ask the kernel which methods work
 * @p: filled in; the plain system call is always available
 */
void ds_methods_probe(struct ds_method_probe *p)
{
	struct io_uring_probe *probe;
	struct io_uring ring;
	unsigned int i;
	int ret;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < ds_nr_methods; i++) {
		if (ds_methods[i].opcode < 0)
			p->available |= 1U << i;
	}
	ret = io_uring_queue_init(2, &ring, 0);
	if (ret < 0) {
		p->ring_error = -ret;
		p->ring_short = ds_ring_short(-ret);
		ring_reason(-ret, p->ring_text, sizeof(p->ring_text));
		return;
	}
	probe = io_uring_get_probe_ring(&ring);
	for (i = 0; probe && i < ds_nr_methods; i++) {
		if (ds_methods[i].opcode >= 0 &&
		    io_uring_opcode_supported(probe, ds_methods[i].opcode))
			p->available |= 1U << i;
	}
	if (probe)
		io_uring_free_probe(probe);
	io_uring_queue_exit(&ring);
}

/**
 * ds_methods_choose() - what a run with --method @name uses
 * @name:	"auto" or a row's name
 * @p:		what the kernel can do
 * @c:		the choice
 * @why:	on an error the reason in words
 * @len:	size of @why
 *
 * auto takes IORING_OP_FTRUNCATE where there is one, else the two other ring
 * methods in turn, and one plain ftruncate(2) out of eight: io-wq hashes its
 * work by inode, so the plain call is what meets a ring on the same file.
 *
 * Return: 0, -EINVAL for an unknown name, -EOPNOTSUPP when this kernel cannot.
 */
int ds_methods_choose(const char *name, const struct ds_method_probe *p,
		      struct ds_method_choice *c, char *why, size_t len)
{
	int preferred = ds_method_find("io_uring");
	unsigned int i;
	int row;

	memset(c, 0, sizeof(*c));
	c->syscall = -1;
	if (strcmp(name, DS_METHOD_AUTO)) {
		row = ds_method_find(name);
		if (row < 0) {
			snprintf(why, len, "unknown method '%s'", name);
			return -EINVAL;
		}
		if (ds_methods[row].opcode < 0) {
			c->syscall = row;
			c->syscall_share = 8;
			return 0;
		}
		if (p->ring_error) {
			snprintf(why, len, "%s", p->ring_text);
			return -EOPNOTSUPP;
		}
		if (!(p->available & (1U << row))) {
			snprintf(why, len, "this kernel lacks %s", ds_methods[row].needs);
			return -EOPNOTSUPP;
		}
		c->ring[c->nr_ring++] = row;
		return 0;
	}
	if (p->ring_error) {
		snprintf(why, len, "%s", p->ring_text);
		return -EOPNOTSUPP;
	}
	c->syscall = ds_method_find("syscall");
	c->syscall_share = 1;
	if (p->available & (1U << preferred)) {
		c->ring[c->nr_ring++] = preferred;
		return 0;
	}
	for (i = 0; i < ds_nr_methods; i++) {
		if (ds_methods[i].opcode >= 0 && (p->available & (1U << i)))
			c->ring[c->nr_ring++] = i;
	}
	if (!c->nr_ring) {
		snprintf(why, len, "this kernel's io_uring can neither truncate, open nor punch");
		return -EOPNOTSUPP;
	}
	return 0;
}
