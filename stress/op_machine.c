// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that change the state of the whole machine for a moment: a CPU, a
 * block of memory, the multi-generational LRU.  One thread of the load does one of
 * them at a time, each is in the undo journal while it lasts, and after each the
 * machine rests as long as it took, so that the other operations have their share.
 * Who puts things back when the load dies is in undo.c.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "op_machine.h"
#include "text.h"
#include "undo.h"

#define MGLRU "/sys/kernel/mm/lru_gen/enabled"
#define CPUS "/sys/devices/system/cpu"
#define MEMORY "/sys/devices/system/memory"
#define HOLD_MS 16		/* at most, in the changed state */
#define GIVE_UP_MS 2000		/* offlining memory */
#define TOO_SOON_MS 8		/* for what should not succeed, at most */
#define AGAIN_MS 100
#define SPARE (64ULL << 20)	/* besides an eighth of all memory */

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* ---- one at a time ---- */

static pthread_mutex_t machine = PTHREAD_MUTEX_INITIALIZER;
static u64 rest_until_ns;	/* under @machine */

/* Nobody waits: there is other work.  Return: when it began, or 0. */
static u64 begin(void)
{
	u64 now;

	if (pthread_mutex_trylock(&machine))
		return 0;
	now = ds_now_ns();
	if (now >= rest_until_ns)
		return now;
	pthread_mutex_unlock(&machine);
	return 0;
}

static void end(u64 began)
{
	u64 now = ds_now_ns();

	rest_until_ns = now + (now - began);
	pthread_mutex_unlock(&machine);
}

/* ---- what is changed, and changed back ---- */

static void hold(const struct ds_mix_step *s)
{
	usleep(1000 * (1 + s->choice % HOLD_MS));
}

/* Journalled: @to into @path, and @back after a moment. */
static int for_a_moment(struct ds_mix *m, const struct ds_mix_step *s, const char *path,
			const char *to, const char *back)
{
	int slot = ds_undo_push(m->env->undo, DS_UNDO_WRITE, path, back), ret, undone;

	if (slot < 0)
		return slot;
	ret = ds_write_text(path, to);
	if (!ret)
		hold(s);
	undone = ds_undo_do(m->env->undo, slot);
	return ret ? ret : undone;
}

static bool writable(const struct ds_op_env *env, const char *path, const char *config, char *why,
		     size_t len)
{
	if (access(path, W_OK)) {
		snprintf(why, len, "%s: %s: with %s, for root", path, strerror(errno), config);
		return false;
	}
	if (!env->no_undo)
		return true;
	snprintf(why, len, "nothing would put it back: %s", env->no_undo);
	return false;
}

/* ---- the multi-generational LRU ---- */

/**
 * ds_probe_mglru() - can the MGLRU be switched?
 */
bool ds_probe_mglru(const struct ds_op_env *env, char *why, size_t len)
{
	return writable(env, MGLRU, "CONFIG_LRU_GEN, of Linux 6.1", why, len);
}

static int switch_mglru(struct ds_mix *m, const struct ds_mix_step *s)
{
	char now[32];
	int ret = ds_read_text(MGLRU, now, sizeof(now));

	if (ret)
		return ret;
	/* a mask, of which the lowest bit is the main switch */
	return for_a_moment(m, s, MGLRU, strtoul(now, NULL, 0) & 1 ? "n" : "y", now);
}

DS_OP(mglru_switch)
{
	u64 began = begin();
	int ret;

	(void)t;
	if (!began)
		return 1;
	ret = switch_mglru(m, s);
	end(began);
	return ret;
}

/* ---- things that are numbered: CPUs, blocks of memory ---- */

typedef bool (*suits_fn)(int nr);

/*
 * One of those below @dir with a name of @prefix and a number that suit; which is
 * told by @choice.  Return: its number or -1.
 */
static int pick(const char *dir, const char *prefix, suits_fn suits, u32 choice)
{
	size_t n = strlen(prefix);
	unsigned int found = 0;
	int *all = NULL, *more;
	struct dirent *e;
	DIR *d = opendir(dir);
	int picked;
	char *rest;
	unsigned long nr;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, n) || !isdigit((unsigned char)e->d_name[n]))
			continue;
		nr = strtoul(e->d_name + n, &rest, 10);
		if (*rest || !suits(nr))
			continue;
		more = realloc(all, (found + 1) * sizeof(*all));
		if (!more)
			break;
		all = more;
		all[found++] = nr;
	}
	if (d)
		closedir(d);
	picked = found ? all[choice % found] : -1;
	free(all);
	return picked;
}

static bool file_is(const char *text, const char *fmt, int nr)
{
	char path[128], now[64];

	snprintf(path, sizeof(path), fmt, nr);
	return !ds_read_text(path, now, sizeof(now)) && !strcmp(now, text);
}

/* ---- CPUs ---- */

#define CPU_ONLINE CPUS "/cpu%d/online"

/* The first one stays: on many machines it cannot go, and one has to remain. */
static bool cpu_may_go(int cpu)
{
	return cpu && file_is("1", CPU_ONLINE, cpu);
}

/**
 * ds_probe_cpu() - is there a CPU that can go offline?
 */
bool ds_probe_cpu(const struct ds_op_env *env, char *why, size_t len)
{
	int cpu = pick(CPUS, "cpu", cpu_may_go, 0);
	char path[128];

	if (cpu >= 0) {
		snprintf(path, sizeof(path), CPU_ONLINE, cpu);
		return writable(env, path, "CONFIG_HOTPLUG_CPU", why, len);
	}
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		snprintf(why, len, "only one CPU is online");
	else
		snprintf(why, len, "no CPU can go offline: with CONFIG_HOTPLUG_CPU only");
	return false;
}

DS_OP(cpu_offline)
{
	u64 began = begin();
	char path[128];
	int cpu, ret = 1;

	(void)t;
	if (!began)
		return 1;
	cpu = pick(CPUS, "cpu", cpu_may_go, s->cut);
	if (cpu >= 0) {
		snprintf(path, sizeof(path), CPU_ONLINE, cpu);
		ret = for_a_moment(m, s, path, "0", "1");
	}
	end(began);
	return ret;
}

/* ---- memory ---- */

#define BLOCK_FILE(name) MEMORY "/memory%d/" name

static u64 memory_is(const char *name)
{
	return ds_read_key("/proc/meminfo", name) << 10;
}

static u64 block_size(void)
{
	char text[32];

	if (ds_read_text(MEMORY "/block_size_bytes", text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 16);
}

/* What has to be available before a block may go. */
static u64 memory_needed(void)
{
	return block_size() + memory_is("MemTotal:") / 8 + SPARE;
}

static bool block_is_movable(int block)
{
	return file_is("online", BLOCK_FILE("state"), block) &&
	       file_is("Movable", BLOCK_FILE("valid_zones"), block);
}

/* Blocks of several zones cannot go. */
static bool block_may_go(int block)
{
	return file_is("online", BLOCK_FILE("state"), block) &&
	       file_is("1", BLOCK_FILE("removable"), block) &&
	       !file_is("none", BLOCK_FILE("valid_zones"), block);
}

/**
 * ds_probe_memory() - is there a block of memory that may be tried?
 */
bool ds_probe_memory(const struct ds_op_env *env, char *why, size_t len)
{
	char path[128];
	int block;

	if (access(MEMORY, F_OK)) {
		snprintf(why, len, "no " MEMORY ": with CONFIG_MEMORY_HOTPLUG only");
		return false;
	}
	block = pick(MEMORY, "memory", block_may_go, 0);
	if (block < 0) {
		snprintf(why, len,
			 "no block of memory can go offline: with CONFIG_MEMORY_HOTREMOVE only");
		return false;
	}
	if (memory_is("MemAvailable:") < memory_needed()) {
		snprintf(why, len, "%llu MiB of memory are available, a block and a rest are %llu",
			 memory_is("MemAvailable:") >> 20, memory_needed() >> 20);
		return false;
	}
	snprintf(path, sizeof(path), BLOCK_FILE("state"), block);
	return writable(env, path, "CONFIG_MEMORY_HOTREMOVE", why, len);
}

static void on_give_up(int sig)
{
	(void)sig;
}

static void catch_give_up(void)
{
	struct sigaction sa = { .sa_handler = on_give_up };

	sigaction(SIGUSR1, &sa, NULL);
}

/*
 * offline_pages() (mm/memory_hotplug.c) tries until all pages are gone or a signal
 * is pending.  It comes again, as the first may be too early.
 */
static int start_timer(timer_t *timer, unsigned int ms)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigevent ev = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGUSR1,
	};
	struct itimerspec ts = {
		.it_value = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L },
		.it_interval = { .tv_nsec = AGAIN_MS * 1000000L },
	};

	pthread_once(&once, catch_give_up);
	ev.sigev_notify_thread_id = syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, timer))
		return -errno;
	if (!timer_settime(*timer, 0, &ts, NULL))
		return 0;
	timer_delete(*timer);
	return -EAGAIN;
}

/*
 * Most blocks go, and those that cannot are told before anything was done to them.
 * So every other try is given up too soon, and has to be undone half way.
 */
static unsigned int give_up_ms(const struct ds_mix_step *s)
{
	return s->choice % 2 ? GIVE_UP_MS : 1 + s->choice / 2 % TOO_SOON_MS;
}

/* It goes back into the zone that it was in. */
static int offline_block(struct ds_mix *m, const struct ds_mix_step *s, int block,
			 bool movable)
{
	int slot, ret, undone;
	char path[128];
	timer_t timer;

	snprintf(path, sizeof(path), BLOCK_FILE("state"), block);
	ret = start_timer(&timer, give_up_ms(s));
	if (ret)
		return ret;
	slot = ds_undo_push(m->env->undo, DS_UNDO_WRITE, path,
			    movable ? "online_movable" : "online_kernel");
	ret = slot < 0 ? slot : ds_write_text(path, "offline");
	timer_delete(timer);
	if (slot < 0)
		return ret;
	if (!ret)
		hold(s);
	undone = ds_undo_do(m->env->undo, slot);
	return ret ? ret : undone;
}

DS_OP(memory_offline)
{
	u64 began = begin();
	bool movable = true;
	int block = -1, ret = 1;

	(void)t;
	if (!began)
		return 1;
	if (memory_is("MemAvailable:") >= memory_needed()) {
		block = pick(MEMORY, "memory", block_is_movable, s->cut);
		movable = block >= 0;
		if (!movable)
			block = pick(MEMORY, "memory", block_may_go, s->cut);
	}
	if (block >= 0)
		ret = offline_block(m, s, block, movable);
	end(began);
	return ret;
}
