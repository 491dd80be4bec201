// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of operations, why one of them cannot be done here, and the presets
 * that weight them.  What they do is in op_file.c, op_map.c, op_machine.c and
 * op_move.c (the last two with the reasons why not), when they are done in mix.c.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "op_file.h"
#include "op_machine.h"

#define WEIGHT_MAX 1000
#define FAVOUR 4		/* so many times as often */

/* ---- why not ---- */

/* Does @try work on a file of three pages in any of the places? */
static bool on_any_file(const struct ds_op_env *env, int (*try)(int fd, int arg), int arg,
			const char *what, char *why, size_t len)
{
	char page[DS_VPAGE];
	unsigned int i;
	int fd, ret = -ENOENT;

	memset(page, 0, sizeof(page));
	for (i = 0; i < env->places->nr; i++) {
		fd = ds_place_file(&env->places->v[i]);
		if (fd < 0) {
			ret = fd;
			continue;
		}
		ret = 0;
		if (pwrite(fd, page, sizeof(page), 2 * DS_VPAGE) < 0)
			ret = -errno;
		if (!ret)
			ret = try(fd, arg);
		close(fd);
		if (!ret)
			return true;
	}
	snprintf(why, len, "no file system of the load's has %s: %s", what, strerror(-ret));
	return false;
}

static int try_fallocate(int fd, int mode)
{
	return fallocate(fd, mode, 0, DS_VPAGE) ? -errno : 0;
}

static bool probe_zero(const struct ds_op_env *env, char *why, size_t len)
{
	return on_any_file(env, try_fallocate, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
			   "FALLOC_FL_ZERO_RANGE", why, len);
}

static bool probe_collapse(const struct ds_op_env *env, char *why, size_t len)
{
	return on_any_file(env, try_fallocate, FALLOC_FL_COLLAPSE_RANGE,
			   "FALLOC_FL_COLLAPSE_RANGE", why, len);
}

static bool probe_insert(const struct ds_op_env *env, char *why, size_t len)
{
	return on_any_file(env, try_fallocate, FALLOC_FL_INSERT_RANGE, "FALLOC_FL_INSERT_RANGE",
			   why, len);
}

static int try_direct(int fd, int arg)
{
	char path[32];
	void *page;
	int direct, ret = 0;

	(void)arg;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (direct < 0)
		return -errno;
	if (posix_memalign(&page, DS_VPAGE, DS_VPAGE)) {
		close(direct);
		return -ENOMEM;
	}
	if (pread(direct, page, DS_VPAGE, 0) < 0)
		ret = -errno;
	free(page);
	close(direct);
	return ret;
}

static bool probe_direct(const struct ds_op_env *env, char *why, size_t len)
{
	return on_any_file(env, try_direct, 0, "O_DIRECT", why, len);
}

static int try_read_flag(int fd, int flag)
{
	char page[DS_VPAGE];
	struct iovec iov = { .iov_base = page, .iov_len = sizeof(page) };

	return preadv2(fd, &iov, 1, 0, flag) < 0 ? -errno : 0;
}

static bool probe_dontcache(const struct ds_op_env *env, char *why, size_t len)
{
	return on_any_file(env, try_read_flag, 0x80, "RWF_DONTCACHE, which Linux 6.14 brought",
			   why, len);
}

/* Does madvise(2) take @advice for @size bytes of anonymous memory? */
static bool can_advise(int advice, size_t size, const char *what, char *why, size_t len)
{
	char *map, *at;
	int ret;

	map = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		snprintf(why, len, "there is no memory to try %s: %s", what, strerror(errno));
		return false;
	}
	at = (char *)(((unsigned long)map + size - 1) & ~(size - 1));
	*at = 1;
	ret = madvise(at, size, advice) ? errno : 0;
	munmap(map, 2 * size);
	if (!ret || ret == EAGAIN || ret == ENOMEM || ret == EBUSY)
		return true;
	snprintf(why, len, "this kernel has no %s: %s", what, strerror(ret));
	return false;
}

static bool probe_free(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return can_advise(MADV_FREE, DS_VPAGE, "MADV_FREE", why, len);
}

static bool probe_cold(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return can_advise(MADV_COLD, DS_VPAGE, "MADV_COLD, which Linux 5.4 brought", why, len);
}

static bool probe_pageout(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return can_advise(MADV_PAGEOUT, DS_VPAGE, "MADV_PAGEOUT, which Linux 5.4 brought", why,
			  len);
}

static bool probe_populate(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return can_advise(22, DS_VPAGE, "MADV_POPULATE_READ, which Linux 5.14 brought", why, len);
}

static bool probe_huge(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return can_advise(MADV_HUGEPAGE, DS_HUGE_SIZE,
			  "MADV_HUGEPAGE, which wants CONFIG_TRANSPARENT_HUGEPAGE", why, len);
}

static bool probe_collapse_map(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return can_advise(25, DS_HUGE_SIZE,
			  "MADV_COLLAPSE, which wants Linux 6.1 and CONFIG_TRANSPARENT_HUGEPAGE",
			  why, len);
}

static bool probe_mlock(const struct ds_op_env *env, char *why, size_t len)
{
	struct rlimit rl = { .rlim_cur = 0 };
	void *map;
	int err;

	(void)env;
	map = mmap(NULL, DS_VPAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		snprintf(why, len, "mlock: no memory to try it: %s", strerror(errno));
		return false;
	}
	err = mlock(map, DS_VPAGE) ? errno : 0;
	munmap(map, DS_VPAGE);
	if (!err)
		return true;
	getrlimit(RLIMIT_MEMLOCK, &rl);
	snprintf(why, len, "mlock: %s: RLIMIT_MEMLOCK is %llu, and CAP_IPC_LOCK is missing",
		 strerror(err), (u64)rl.rlim_cur);
	return false;
}

/* Is anything swapped to?  The first line of the file is a heading. */
static bool swap_is_on(void)
{
	FILE *f = fopen("/proc/swaps", "re");
	int c, lines = 0;

	while (f && (c = fgetc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines > 1;
}

/*
 * Reclaim that has begun with a folio when its segment is locked warns once in
 * shmem_writepage() (mm/shmem.c, WARN_ON_ONCE of VM_LOCKED), and taints: a harmless
 * race of the kernel's, which needs swap.
 */
static bool probe_shm(const struct ds_op_env *env, char *why, size_t len)
{
	int id, err;

	(void)env;
	if (swap_is_on()) {
		snprintf(why, len,
			 "there is swap: reclaim that meets a segment just being locked warns in shmem_writepage(); run swapoff, or leave out swap operations");
		return false;
	}
	id = shmget(IPC_PRIVATE, DS_VPAGE, IPC_CREAT | 0600);
	if (id < 0) {
		snprintf(why, len, "shmget: %s", strerror(errno));
		return false;
	}
	err = shmctl(id, SHM_LOCK, NULL) ? errno : 0;
	shmctl(id, IPC_RMID, NULL);
	if (!err)
		return true;
	snprintf(why, len, "SHM_LOCK: %s: RLIMIT_MEMLOCK is low, and CAP_IPC_LOCK is missing",
		 strerror(err));
	return false;
}

static bool probe_seals(const struct ds_op_env *env, char *why, size_t len)
{
	int fd = memfd_create("drainstress-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)env;
	if (fd < 0) {
		snprintf(why, len, "memfd_create: %s", strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

static bool probe_rename(const struct ds_op_env *env, char *why, size_t len)
{
	unsigned int i;

	for (i = 0; i < env->places->nr; i++) {
		if (env->places->v[i].own)
			return true;
	}
	snprintf(why, len, "no file system is the load's own; files have names only there");
	return false;
}

static bool probe_move(const struct ds_op_env *env, char *why, size_t len)
{
	char here;
	void *page = (void *)((unsigned long)&here & ~((unsigned long)DS_VPAGE - 1));
	int status;

	(void)env;
	if (!syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0))
		return true;
	snprintf(why, len, "move_pages: %s: the kernel needs CONFIG_NUMA and CONFIG_MIGRATION",
		 strerror(errno));
	return false;
}

/* Can @path be written?  A file that is not there lacks what @lacks says. */
static bool writable(const char *path, const char *lacks, char *why, size_t len)
{
	if (!access(path, W_OK))
		return true;
	snprintf(why, len, "%s: %s: %s", path, strerror(errno),
		 errno == ENOENT ? lacks : "only root may write it");
	return false;
}

static bool of_group(const struct ds_op_env *env, const char *file, const char *lacks, char *why,
		     size_t len)
{
	char path[512];

	if (env->cgroup) {
		snprintf(path, sizeof(path), "%s/%s", env->cgroup, file);
		return writable(path, lacks, why, len);
	}
	snprintf(why, len, "the load has no control group of its own: it wants root and cgroup v2");
	return false;
}

static bool probe_reclaim(const struct ds_op_env *env, char *why, size_t len)
{
	return of_group(env, "memory.reclaim",
			"Linux 5.19 and the memory controller bring it", why, len);
}

static bool probe_high(const struct ds_op_env *env, char *why, size_t len)
{
	return of_group(env, "memory.high", "cgroup v2 has no memory controller here", why, len);
}

static bool probe_compact(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return writable("/proc/sys/vm/compact_memory", "the kernel needs CONFIG_COMPACTION", why,
			len);
}

static bool probe_drop(const struct ds_op_env *env, char *why, size_t len)
{
	(void)env;
	return writable("/proc/sys/vm/drop_caches", "the kernel needs CONFIG_SYSCTL", why, len);
}

/* ---- the table ---- */

/*
 * EINVAL of madvise(2): a part of the range is locked.  EFAULT, EHWPOISON and the
 * like are faults.  Collapsing huge pages fails for many reasons that pass.  A block
 * of memory with holes, as for a firmware's tables, cannot go offline: EINVAL of
 * offline_pages() in mm/memory_hotplug.c.  EINVAL of mbind(2): the node has just lost
 * its memory.  EFAULT of a pin: the first pages could be had, and there was no memory
 * for the others.
 */
const struct ds_op ds_ops[] = {
	{ "write", "write(2) of whole pages", 20, DS_G_DATA, DS_TO_FILE, true, false, {},
	  NULL, ds_op_write },
	{ "read", "read(2), which marks pages as accessed", 20, DS_G_DATA, DS_TO_FILE, false,
	  false, {}, NULL, ds_op_read },
	{ "mmap-write", "map a file for a moment and write", 8, DS_G_DATA, DS_TO_FILE, true,
	  false, {}, NULL, ds_op_mmap_write },
	{ "mmap-read", "map a file for a moment and read", 8, DS_G_DATA, DS_TO_FILE, false,
	  false, {}, NULL, ds_op_mmap_read },
	{ "map-touch", "write or read through a lasting mapping", 12, DS_G_DATA, DS_TO_MAPPED,
	  true, false, {}, NULL, ds_op_map_write },
	{ "truncate-down", "ftruncate(2) to less", 10, DS_G_FILE | DS_G_DATA, DS_TO_FILE, true,
	  true, {}, NULL, ds_op_truncate_down },
	{ "truncate-up", "ftruncate(2) to more: zeros", 6, DS_G_FILE, DS_TO_FILE, true, true,
	  {}, NULL, ds_op_truncate_up },
	{ "open-trunc", "open(2) with O_TRUNC", 3, DS_G_FILE, DS_TO_FILE, true, true, {}, NULL,
	  ds_op_open_trunc },
	{ "allocate", "fallocate(2): zeros", 3, DS_G_FILE, DS_TO_FILE, true, false, {}, NULL,
	  ds_op_allocate },
	{ "punch-hole", "FALLOC_FL_PUNCH_HOLE", 6, DS_G_FILE, DS_TO_FILE, true, false, {},
	  NULL, ds_op_punch },
	{ "zero-range", "FALLOC_FL_ZERO_RANGE", 4, DS_G_FILE, DS_TO_FILE, true, false, {},
	  probe_zero, ds_op_zero_range },
	{ "collapse-range", "FALLOC_FL_COLLAPSE_RANGE", 3, DS_G_FILE, DS_TO_FILE, true, false,
	  {}, probe_collapse, ds_op_collapse },
	{ "insert-range", "FALLOC_FL_INSERT_RANGE", 3, DS_G_FILE, DS_TO_FILE, true, false, {},
	  probe_insert, ds_op_insert },
	{ "fadvise-dontneed", "POSIX_FADV_DONTNEED: drains, drops what is clean", 6,
	  DS_G_FILE | DS_G_RECLAIM, DS_TO_FILE, false, false, {}, NULL, ds_op_dontneed },
	{ "fadvise-willneed", "POSIX_FADV_WILLNEED: reads ahead", 3, DS_G_FILE, DS_TO_FILE,
	  false, false, {}, NULL, ds_op_willneed },
	{ "fadvise-noreuse", "POSIX_FADV_NOREUSE", 1, DS_G_FILE, DS_TO_FILE, false, false, {},
	  NULL, ds_op_noreuse },
	{ "fsync", "fsync(2) or fdatasync(2)", 3, DS_G_FILE | DS_G_RECLAIM, DS_TO_FILE, false,
	  false, {}, NULL, ds_op_fsync },
	{ "sync-range", "sync_file_range(2)", 3, DS_G_FILE, DS_TO_FILE, false, false, {}, NULL,
	  ds_op_sync_range },
	{ "chain", "write, sync, drop and read, linked", 4, DS_G_FILE | DS_G_RECLAIM,
	  DS_TO_FILE, true, false, {}, NULL, ds_op_chain },
	{ "splice", "into a pipe, and DONTNEED while it is there", 6, DS_G_FILE | DS_G_RECLAIM,
	  DS_TO_FILE, false, false, {}, NULL, ds_op_splice },
	{ "direct-read", "O_DIRECT beside buffered", 3, DS_G_FILE, DS_TO_FILE, false, false, {},
	  probe_direct, ds_op_direct_read },
	{ "dontcache", "RWF_DONTCACHE, written or read", 4, DS_G_FILE, DS_TO_FILE, true, false,
	  {}, probe_dontcache, ds_op_dontcache },
	{ "seals", "a memfd that is sealed: drains for pins", 2, DS_G_FILE, 0, false, false, {},
	  probe_seals, ds_op_seals },
	{ "unlinked", "a file without a name that is closed", 3, DS_G_FILE, 0, false, false, {},
	  NULL, ds_op_unlinked },
	{ "rename", "a file renamed over another", 2, DS_G_FILE, 0, false, false, {},
	  probe_rename, ds_op_rename },
	{ "madv-cold", "MADV_COLD: deactivates", 6, DS_G_RECLAIM, DS_TO_MAPPED, false, false,
	  { EINVAL }, probe_cold, ds_op_madv_cold },
	{ "madv-pageout", "MADV_PAGEOUT: reclaims", 4, DS_G_RECLAIM, DS_TO_MAPPED, false, false,
	  { EINVAL }, probe_pageout, ds_op_madv_pageout },
	{ "pageout-dirty", "dirty a file, MADV_PAGEOUT, fsync: rotates", 4, DS_G_RECLAIM,
	  DS_TO_FILE_MAP, true, false, { EINVAL }, probe_pageout, ds_op_pageout_dirty },
	{ "madv-free", "MADV_FREE: frees lazily", 6, DS_G_RECLAIM, DS_TO_ANON | DS_TO_HUGE,
	  true, false, { EINVAL }, probe_free, ds_op_madv_free },
	{ "madv-dontneed", "MADV_DONTNEED", 3, DS_G_RECLAIM, DS_TO_MAPPED, true, false,
	  { EINVAL }, NULL, ds_op_madv_dontneed },
	{ "madv-populate", "MADV_POPULATE_READ or WRITE", 4, DS_G_RECLAIM | DS_G_MLOCK,
	  DS_TO_MAPPED, false, false, { EINVAL }, probe_populate, ds_op_madv_populate },
	{ "madv-hugepage", "MADV_HUGEPAGE or NOHUGEPAGE", 2, DS_G_MIGRATE, DS_TO_HUGE, false,
	  false, { EINVAL }, probe_huge, ds_op_madv_hugepage },
	{ "madv-collapse", "MADV_COLLAPSE: drains, makes huge pages", 2, DS_G_MIGRATE,
	  DS_TO_HUGE, true, false, { EINVAL }, probe_collapse_map, ds_op_madv_collapse },
	{ "mlock", "mlock(2)", 6, DS_G_MLOCK, DS_TO_MAPPED, false, false, { EPERM },
	  probe_mlock, ds_op_mlock },
	{ "mlock-onfault", "mlock2(2) with MLOCK_ONFAULT", 3, DS_G_MLOCK, DS_TO_MAPPED, false,
	  false, { EPERM }, probe_mlock, ds_op_mlock_onfault },
	{ "munlock", "munlock(2)", 10, DS_G_MLOCK, DS_TO_MAPPED, false, false, {}, NULL,
	  ds_op_munlock },
	{ "shm-lock", "shmctl(2) with SHM_LOCK", 3, DS_G_MLOCK, DS_TO_SHM, false, false,
	  { EPERM }, probe_shm, ds_op_shm_lock },
	{ "shm-unlock", "shmctl(2) with SHM_UNLOCK", 4, DS_G_MLOCK, DS_TO_SHM, false, false,
	  { EPERM }, probe_shm, ds_op_shm_unlock },
	{ "move-pages", "move_pages(2): asks, or moves without batches", 2, DS_G_MIGRATE,
	  DS_TO_MAPPED, false, false, { ENOENT, EACCES }, probe_move, ds_op_move_pages },
	{ "mbind", "mbind(2): moves pages to a node, or just moves them", 3, DS_G_MIGRATE,
	  DS_TO_MAPPED, false, false, { EINVAL }, ds_probe_mbind, ds_op_mbind },
	{ "pin", "pin memory for long, as a buffer registered with io_uring", 4, DS_G_MIGRATE,
	  DS_TO_MAPPED, false, false, { EFAULT }, ds_probe_pin, ds_op_pin },
	{ "cgroup-move", "a process that has charged folios changes its control group", 2,
	  DS_G_MIGRATE, 0, false, false, {}, ds_probe_cgroup, ds_op_cgroup_move },
	{ "cgroup-remove", "remove a control group with folios on its lists", 2, DS_G_MIGRATE, 0,
	  false, false, {}, ds_probe_cgroup, ds_op_cgroup_remove },
	{ "swap-out", "swaps anonymous memory out, to swap of the load's own", 4, DS_G_SWAP,
	  DS_TO_ANON | DS_TO_HUGE, false, false, { EINVAL }, ds_probe_swap, ds_op_swap_out },
	{ "swap-in", "reads back what is swapped out", 4, DS_G_SWAP, DS_TO_ANON | DS_TO_HUGE,
	  false, false, {}, ds_probe_swap, ds_op_swap_in },
	{ "swap-cycle", "swapoff and swapon again", 1, DS_G_SWAP, 0, false, false, {},
	  ds_probe_swap, ds_op_swap_cycle },
	{ "memcg-reclaim", "memory.reclaim of the load's own group", 2, DS_G_RECLAIM, 0, false,
	  false, {}, probe_reclaim, ds_op_memcg_reclaim },
	{ "memcg-high", "memory.high below what the group uses, and back", 4, DS_G_RECLAIM, 0,
	  false, false, {}, probe_high, ds_op_memcg_high },
	{ "compact", "compacts all memory of the machine", 1, DS_G_COMPACT, 0, false, false, {},
	  probe_compact, ds_op_compact },
	{ "drop-caches", "drops the machine's clean page cache", 1, DS_G_DROP, 0, false, false,
	  {}, probe_drop, ds_op_drop_caches },
	{ "mglru-switch", "the other LRU for a moment", 1, DS_G_HOTPLUG, 0, false, false, {},
	  ds_probe_mglru, ds_op_mglru_switch },
	{ "cpu-offline", "a CPU goes offline for a moment", 1, DS_G_HOTPLUG, 0, false, false,
	  {}, ds_probe_cpu, ds_op_cpu_offline },
	{ "memory-offline", "a block of memory goes offline for a moment", 1, DS_G_HOTPLUG, 0,
	  false, false, { EINVAL }, ds_probe_memory, ds_op_memory_offline },
};

const unsigned int ds_nr_ops = ARRAY_SIZE(ds_ops);
static_assert(ARRAY_SIZE(ds_ops) <= DS_OPS_MAX, "raise DS_OPS_MAX");

const struct ds_preset ds_presets[] = {
	{ "smoke", "half of the threads mix, within their own files", 2,
	  DS_G_ALL & ~DS_G_MACHINE, 0 },
	{ "soak", "a quarter of the threads mix, within their own files", 1,
	  DS_G_ALL & ~DS_G_MACHINE, 0 },
	{ "truncate", "all threads flood: they write and truncate, and verify nothing", 0, 0, 0 },
	{ "mlock", "half mix, and lock and unlock", 2, DS_G_DATA | DS_G_FILE | DS_G_MLOCK,
	  DS_G_MLOCK },
	{ "reclaim", "half mix, and give up memory and swap, also the machine's page cache", 2,
	  DS_G_DATA | DS_G_FILE | DS_G_RECLAIM | DS_G_DROP | DS_G_SWAP, DS_G_RECLAIM },
	{ "migrate", "half mix, and move pages, also all of the machine's", 2,
	  DS_G_DATA | DS_G_MIGRATE | DS_G_RECLAIM | DS_G_COMPACT, DS_G_MIGRATE },
	{ "hotplug", "half mix; CPUs, memory and the MGLRU go off and on, of the whole machine", 2,
	  DS_G_DATA | DS_G_RECLAIM | DS_G_HOTPLUG, DS_G_HOTPLUG },
	{ "everything", "half mix, with all there is", 2, DS_G_ALL, 0 },
};

const unsigned int ds_nr_presets = ARRAY_SIZE(ds_presets);

/**
 * ds_op_find() - the row of @name, or -1
 */
int ds_op_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_ops; i++) {
		if (!strcmp(ds_ops[i].name, name))
			return i;
	}
	return -1;
}

/**
 * ds_preset_find() - the row of @name, or -1
 */
int ds_preset_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ds_nr_presets; i++) {
		if (!strcmp(ds_presets[i].name, name))
			return i;
	}
	return -1;
}

/**
 * ds_preset_names() - "smoke, soak, ..." for messages
 */
void ds_preset_names(char *buf, size_t len)
{
	unsigned int i;
	size_t n = 0;

	buf[0] = '\0';
	for (i = 0; i < ds_nr_presets && n < len; i++)
		n += snprintf(buf + n, len - n, "%s%s", i ? ", " : "", ds_presets[i].name);
}

static void count_total(struct ds_mix_choice *c)
{
	unsigned int i;

	c->total = 0;
	for (i = 0; i < ds_nr_ops; i++)
		c->total += c->weights[i];
}

/* One "name=weight" of @n characters.  Return: 0 or -EINVAL and @why. */
static int take_weight(struct ds_mix_choice *c, const char *word, size_t n, char *why, size_t len)
{
	unsigned long weight;
	char text[64], *eq, *end;
	unsigned int i;
	int op;

	snprintf(text, sizeof(text), "%.*s", (int)n, word);
	eq = strchr(text, '=');
	if (!eq || !isdigit((unsigned char)eq[1])) {
		snprintf(why, len, "'%s' is not NAME=WEIGHT", text);
		return -EINVAL;
	}
	*eq = '\0';
	weight = strtoul(eq + 1, &end, 10);
	if (*end || weight > WEIGHT_MAX) {
		snprintf(why, len, "the weight of '%s' is not a number from 0 to %d", text,
			 WEIGHT_MAX);
		return -EINVAL;
	}
	if (!strcmp(text, "all")) {
		for (i = 0; i < ds_nr_ops; i++)
			c->weights[i] = weight;
		return 0;
	}
	op = ds_op_find(text);
	if (op < 0) {
		snprintf(why, len, "there is no operation '%s': see drainctl ops", text);
		return -EINVAL;
	}
	c->weights[op] = weight;
	return 0;
}

/**
 * ds_mix_choose() - what --preset @preset --mix @mix stand for
 * @mix: "name=weight,..." that change the preset's weights, in their order; the
 *	 name "all" is every operation; or NULL
 * @why: on an error the reason in words
 *
 * Return: 0 or -EINVAL.
 */
int ds_mix_choose(const char *preset, const char *mix, struct ds_mix_choice *c, char *why,
		  size_t len)
{
	const struct ds_preset *p;
	int row = ds_preset_find(preset), ret;
	unsigned int i;
	size_t n;

	memset(c, 0, sizeof(*c));
	if (row < 0) {
		snprintf(why, len, "there is no preset '%s'", preset);
		return -EINVAL;
	}
	p = &ds_presets[row];
	c->share = p->share;
	for (i = 0; i < ds_nr_ops; i++) {
		if (ds_ops[i].groups & p->groups)
			c->weights[i] = ds_ops[i].weight;
		if (ds_ops[i].groups & p->favours)
			c->weights[i] *= FAVOUR;
	}
	for (; mix; mix = mix[n] ? mix + n + 1 : NULL) {
		n = strcspn(mix, ",");
		ret = take_weight(c, mix, n, why, len);
		if (ret)
			return ret;
		/* a mix wants threads that do it */
		if (!c->share)
			c->share = 1;
	}
	count_total(c);
	if (c->share && !c->total) {
		snprintf(why, len, "no operation has a weight above 0");
		return -EINVAL;
	}
	return 0;
}

/**
 * ds_ops_probe() - which operations can be done
 * @probes: a row each
 */
void ds_ops_probe(const struct ds_op_env *env, struct ds_op_probe probes[DS_OPS_MAX])
{
	unsigned int i;

	for (i = 0; i < ds_nr_ops; i++) {
		probes[i].why[0] = '\0';
		probes[i].available = !ds_ops[i].probe ||
				      ds_ops[i].probe(env, probes[i].why, sizeof(probes[i].why));
	}
}

/**
 * ds_mix_wants() - is an operation chosen that has one of the @groups?
 */
bool ds_mix_wants(const struct ds_mix_choice *c, u32 groups)
{
	unsigned int i;

	for (i = 0; i < ds_nr_ops; i++) {
		if (c->weights[i] && (ds_ops[i].groups & groups))
			return true;
	}
	return false;
}

/**
 * ds_mix_restrict() - leave out what cannot be done
 *
 * @c->total is 0 when nothing is left.
 */
void ds_mix_restrict(struct ds_mix_choice *c, const struct ds_op_probe *probes)
{
	unsigned int i;

	for (i = 0; i < ds_nr_ops; i++) {
		if (!probes[i].available)
			c->weights[i] = 0;
	}
	count_total(c);
}

/**
 * ds_mix_threads() - how many of @threads are mix threads
 */
u32 ds_mix_threads(const struct ds_mix_choice *c, u32 threads)
{
	u32 n = (u64)threads * c->share / 4;

	if (!c->share || !threads)
		return 0;
	return n ? n : 1;
}
