/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The faults that the module can inject during a run: what they are called, what
 * each does, its arguments with their defaults, and the decision when one happens
 * and how long it takes.  The decision stands here because it is a pure function
 * which the unit tests try too.  How a fault is made is in kmod/fault.c.
 */
#ifndef _UAPI_LINUX_DRAINSTRESS_FAULTS_H
#define _UAPI_LINUX_DRAINSTRESS_FAULTS_H

#include <linux/drainstress_random.h>
#include <linux/types.h>

/*
 * X(symbol, name, title, one_in, min_us, max_us, every_ms); the id is the place in
 * the list, from 1.  A zero says that the fault does not take that argument:
 *  - those with one_in are delays at a point of the kernel.  One hit in one_in
 *    waits, from min_us to max_us microseconds, with preemption off, and with
 *    interrupts off where the kernel has them off.
 *  - those with every_ms are done by a kthread of the module, with every_ms
 *    milliseconds in between on average; min_us and max_us are for how long.
 */
#define DS_FAULTS(X)							\
	X(MOVE, "move",							\
	  "delay before a batch is moved, before the lru_lock is taken", \
	  64, 5, 50, 0)							\
	X(RELEASE, "release",						\
	  "delay between the drain and the put in the release of a batch", \
	  16, 5, 50, 0)							\
	X(DRAIN_CPU, "drain-cpu",					\
	  "delay at the entry of lru_add_drain_cpu()", 64, 5, 50, 0)	\
	X(DRAIN_WORK, "drain-work",					\
	  "delay in the work that lru_add_drain_all() queues on a CPU",	\
	  8, 5, 100, 0)							\
	X(TRUNCATE, "truncate",						\
	  "delay between lookup and removal in a truncate", 64, 5, 50, 0) \
	X(MLOCK, "mlock", "delay in mlock and munlock of a folio",	\
	  64, 5, 50, 0)							\
	X(WRITEBACK, "writeback", "delay at the end of writeback",	\
	  64, 5, 50, 0)							\
	X(EARLY_FLUSH, "early-flush",					\
	  "drain of a CPU at a random moment, before its batches are full", \
	  0, 0, 0, 20)							\
	X(DISABLE_WINDOW, "disable-window",				\
	  "lru_cache_disable() to lru_cache_enable() of random length",	\
	  0, 50, 2000, 5000)						\
	X(ONE_SHORT, "one-short",					\
	  "a batch one short of full on each CPU, then a truncate",	\
	  0, 0, 0, 100)							\
	X(HERD, "herd",							\
	  "parked kthreads, released at one instant, drain on every CPU", \
	  0, 0, 0, 50)							\
	X(ISOLATE, "isolate",						\
	  "own folios isolated and put back beside the drains",		\
	  0, 2, 20, 10)

#define DS_FAULT_ENUM(sym, ...) DS_FAULT_##sym,
enum drainstress_fault {
	DS_FAULT_UNSPEC,
	DS_FAULTS(DS_FAULT_ENUM)
	__DS_FAULT_MAX,
};

#define DS_NR_FAULTS (__DS_FAULT_MAX - 1)

/* What an argument may be at most; each is 1 at least. */
#define DS_FAULT_ONE_IN_MAX	1000000
#define DS_FAULT_US_MAX		2000
#define DS_FAULT_EVERY_MAX_MS	60000

/* Longer delays are cut to this where interrupts are off. */
#define DS_FAULT_IRQ_US		200

/**
 * struct ds_fault_args - the arguments of one fault, 0: not taken
 * @one_in:	one hit in so many is delayed
 * @min_us:	shortest delay or window
 * @max_us:	longest
 * @every_ms:	mean time between two
 */
struct ds_fault_args {
	__u32 one_in;
	__u32 min_us;
	__u32 max_us;
	__u32 every_ms;
};

/**
 * ds_fault_us() - for how long a hit is delayed, or how long a window is
 * @a: of the fault
 * @random: of ds_random_at(), for (seed, fault, CPU, number of the hit there)
 *
 * Return: microseconds, 0: this hit is not delayed.
 */
static inline __u32 ds_fault_us(const struct ds_fault_args *a, __u64 random)
{
	if (a->one_in > 1 && (__u32)random % a->one_in)
		return 0;
	return a->min_us + (__u32)(random >> 32) % (a->max_us - a->min_us + 1);
}

/**
 * ds_fault_wait_us() - how long to wait before an action
 * @a: of the fault
 * @random: of ds_random_at(), for (seed, fault, 0, number of the action)
 *
 * Return: microseconds, from 1 to twice the mean.
 */
static inline __u32 ds_fault_wait_us(const struct ds_fault_args *a, __u64 random)
{
	return 1 + (__u32)random % (2000 * a->every_ms);
}

#endif /* _UAPI_LINUX_DRAINSTRESS_FAULTS_H */
