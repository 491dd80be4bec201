// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds what the kernel does not export: the functions that queue and drain,
 * and the per-CPU variables that hold the batches.  Each has its names on the
 * kernels known so far; one that is missing is left out and reported, never
 * guessed.  Functions are called through static calls, which patch in a direct
 * call: an indirect one would fault on kernels whose unexported functions are
 * sealed against indirect branches.
 */
#include "drainstress.h"

#define DS_ALTERNATIVES(name, ret, args, ...)				\
	static const char *const ds_alt_##name[] = { __VA_ARGS__, NULL };
#define DS_DATA_ALTERNATIVES(name, ...)					\
	static const char *const ds_alt_##name[] = { __VA_ARGS__, NULL };
#define DS_SYMBOL(name, ...)						\
	[DS_SYM_##name] = { #name, ds_alt_##name },
#define DS_DEFINE_CALL(name, ...)					\
	DEFINE_STATIC_CALL_NULL(ds_##name, ds_proto_##name);
#define DS_UPDATE_CALL(name, ...)					\
	if (ds_symbols[DS_SYM_##name].addr)				\
		static_call_update(ds_##name,				\
			(ds_fn_##name *)ds_symbols[DS_SYM_##name].addr);

DS_FUNCTIONS(DS_ALTERNATIVES)
DS_DATA(DS_DATA_ALTERNATIVES)
DS_FUNCTIONS(DS_DEFINE_CALL)

struct ds_symbol ds_symbols[DS_NR_SYMS] = {
	DS_FUNCTIONS(DS_SYMBOL)
	DS_DATA(DS_SYMBOL)
};

DEFINE_STATIC_CALL_NULL(ds_kallsyms, ds_proto_kallsyms);

/**
 * ds_lookup() - address of a kernel symbol, exported or not
 * @name: exact name
 *
 * Return: 0 when there is none.  For a per-CPU variable it is what
 * per_cpu_ptr() takes.  Context: process.
 */
unsigned long ds_lookup(const char *name)
{
	return static_call(ds_kallsyms)(name);
}

/*
 * kallsyms_lookup_name() itself is not exported: a kprobe on it tells its
 * address.  With IBT that is four bytes past the ENDBR, where a direct call may
 * enter as well.
 */
static int ds_find_kallsyms(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	int err = register_kprobe(&kp);

	if (err) {
		pr_err("cannot find kallsyms_lookup_name: register_kprobe says %d; CONFIG_KPROBES and CONFIG_KALLSYMS are needed\n",
		       err);
		return err;
	}
	static_call_update(ds_kallsyms,
			   (unsigned long (*)(const char *))kp.addr);
	unregister_kprobe(&kp);
	return 0;
}

/**
 * ds_needs_met() - whether this kernel has all symbols of a mask
 * @needs: BIT_ULL() of enum ds_sym
 * @why: gets the name of the first that is missing
 * @len: room in @why, bytes
 */
bool ds_needs_met(u64 needs, char *why, size_t len)
{
	unsigned int sym;

	for (sym = 0; sym < DS_NR_SYMS; sym++) {
		if ((needs & BIT_ULL(sym)) && !ds_has(sym)) {
			snprintf(why, len, "this kernel has no %s",
				 ds_symbols[sym].name);
			return false;
		}
	}
	return true;
}

int ds_symbols_init(void)
{
	const char *const *alt;
	unsigned int i;
	int err;

	err = ds_find_kallsyms();
	if (err)
		return err;
	for (i = 0; i < DS_NR_SYMS; i++) {
		struct ds_symbol *sym = &ds_symbols[i];

		for (alt = sym->alternatives; *alt && !sym->addr; alt++) {
			sym->addr = ds_lookup(*alt);
			sym->found = *alt;
		}
		if (!sym->addr)
			sym->found = NULL;
	}
	DS_FUNCTIONS(DS_UPDATE_CALL)
	return 0;
}
