// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the kernel's time went: what the timer ticks of a kernel booted with
 * profile=N found running, by function, from /proc/profile and /proc/kallsyms.
 * Prints "profile NAME FUNCTION TICKS" for the most frequent ones and one line
 * for all.  For tests/bench/compare; ticks in user space are not among them.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types.h"

#define SHOWN 16

struct symbol {
	unsigned long addr;
	unsigned long ticks;
	char name[64];
};

static struct symbol *symbols;
static size_t nr;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_ticks(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->ticks > y->ticks ? -1 : x->ticks < y->ticks;
}

/* Return: the address of _stext, where the kernel begins to count. */
static unsigned long read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long addr, stext = 0;
	char line[512], name[64], type;
	size_t room = 0;

	if (!f)
		err(5, "/proc/kallsyms");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %c %63s", &addr, &type, name) != 3)
			continue;
		if (type != 't' && type != 'T')
			continue;
		if (!strcmp(name, "_stext"))
			stext = addr;
		if (nr == room) {
			room = room ? 2 * room : 65536;
			symbols = realloc(symbols, room * sizeof(*symbols));
			if (!symbols)
				errx(5, "out of memory");
		}
		symbols[nr].addr = addr;
		symbols[nr].ticks = 0;
		snprintf(symbols[nr++].name, sizeof(name), "%s", name);
	}
	fclose(f);
	if (!stext)
		errx(5, "no _stext in /proc/kallsyms");
	qsort(symbols, nr, sizeof(*symbols), by_addr);
	return stext;
}

static struct symbol *find(unsigned long addr)
{
	size_t low = 0, high = nr;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].addr <= addr)
			low = mid;
		else
			high = mid;
	}
	return &symbols[low];
}

int main(int argc, char **argv)
{
	unsigned long base, all = 0, i;
	u32 step, count;
	FILE *f;

	if (argc != 2)
		errx(2, "takes a name");
	base = read_symbols();
	f = fopen("/proc/profile", "r");
	if (!f || fread(&step, sizeof(step), 1, f) != 1)
		err(5, "/proc/profile");
	for (i = 0; fread(&count, sizeof(count), 1, f) == 1; i++) {
		if (!count)
			continue;
		/* the middle: functions may begin within a step */
		find(base + i * step + step / 2)->ticks += count;
		all += count;
	}
	qsort(symbols, nr, sizeof(*symbols), by_ticks);
	for (i = 0; i < SHOWN && symbols[i].ticks; i++)
		printf("profile %s %s %lu\n", argv[1], symbols[i].name, symbols[i].ticks);
	printf("profile %s all %lu\n", argv[1], all);
	return 0;
}
