/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From facts to a verdict.  See verdict.c.
 */
#ifndef DS_VERDICT_H
#define DS_VERDICT_H

#include "common.h"
#include "known.h"
#include "parse.h"

/* The canary: a property of the kernel that is reported and does not count. */
#define DS_INV_CANARY 23

/* Data of files: checked by the load, not by the module. */
#define DS_INV_DATA 31

#define DS_FACTS_INVARIANTS 64
#define DS_FACTS_TEXTS 8
#define DS_REASONS_MAX 80

/**
 * struct ds_inv_fact - what is known about one invariant
 * @name:	"I8"
 * @available:	this kernel and this run can check it; @reason otherwise
 * @reported:	its violations do not count (I23)
 * @known:	the reason of a known kernel issue: they do not count either; or NULL
 * @first:	the first violation, when has is not 0
 */
struct ds_inv_fact {
	u32 id;
	char name[16];
	char title[160];
	bool available;
	bool reported;
	const char *known;
	char reason[256];
	u64 checked;
	u64 violations;
	struct ds_violation first;
};

/**
 * struct ds_facts - all that a verdict depends on
 * @setup_exit:	not PASS: the run never began; @setup_text says why
 * @planted: a fault was planted, so something has to be noticed
 * @kernel, @module: release and version as GET_CAPS has them, or ""
 * @sampled: checks were to go on while the load ran, for long enough to tell
 * @replay:	only some decisions are carried out: little work is enough
 * @load, @race, @bare, @accounting, @kmsg, @require_fix: as asked for
 * @known: known kernel issues, looked up for @kernel, or NULL
 */
struct ds_facts {
	enum ds_exit setup_exit;
	char setup_text[512];
	bool planted;
	char kernel[DS_NAME_LEN + 1];
	char module[DS_NAME_LEN];
	bool load, race, bare, accounting, kmsg, require_fix;
	bool replay;
	u64 steps;			/* decisions that were carried out */
	bool interrupted;
	u64 truncates, pages;
	u64 submitted, reaped, dropped;
	u64 fills, effective, usages;
	bool sampled;
	u64 samples;
	u32 fix;			/* enum drainstress_fix */
	const struct ds_known_list *known;
	struct ds_inv_fact inv[DS_FACTS_INVARIANTS];
	unsigned int nr_inv;
	u64 kmsg_bad, kmsg_lost;
	char kmsg_first[256];
	u64 taint_before, taint_after;
	char hangs[DS_FACTS_TEXTS][256];
	unsigned int nr_hangs;
	char errors[DS_FACTS_TEXTS][512];
	unsigned int nr_errors;
};

struct ds_reason {
	enum ds_exit code;
	char text[600];
};

/**
 * struct ds_verdict - the outcome
 * @code:	exit code
 * @reasons:	those that led to it first
 * @violations:	sum over the invariants that count
 * @known:	sum over those that are known kernel issues
 */
struct ds_verdict {
	enum ds_exit code;
	struct ds_reason reasons[DS_REASONS_MAX];
	unsigned int nr_reasons;
	u64 violations;
	u64 known;
	u64 checks;
};

/* Is it violated in a way that counts? */
static inline bool ds_inv_fails(const struct ds_inv_fact *inv)
{
	return inv->violations && !inv->reported && !inv->known;
}

void ds_verdict(const struct ds_facts *f, struct ds_verdict *v);
const char *ds_exit_name(enum ds_exit code);
const char *ds_fix_name(u32 fix);
void __printf(2, 3) ds_facts_hang(struct ds_facts *f, const char *fmt, ...);
void __printf(2, 3) ds_facts_error(struct ds_facts *f, const char *fmt, ...);
const struct ds_inv_fact *ds_facts_first(const struct ds_facts *f);

#endif /* DS_VERDICT_H */
