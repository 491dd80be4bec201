// SPDX-License-Identifier: GPL-2.0-only
/*
 * One violation as text, in full: a block that can be mailed as it stands to
 * somebody who knows the kernel but neither this program nor the run.
 */
#include <string.h>

#include "opts.h"
#include "report.h"
#include "version.h"

#define NS_PER_S 1000000000ULL

/* "  label:     " with the colons of all lines below each other. */
static void label(FILE *f, const char *indent, const char *name)
{
	fprintf(f, "%s  %s:%*s", indent, name, (int)(11 - strlen(name)), "");
}

/* Text of the kernel's or of a user's may have several lines: all are indented. */
static void line(FILE *f, const char *indent, const char *name, const char *text)
{
	label(f, indent, name);
	for (; *text; text++) {
		if (*text == '\n')
			fprintf(f, "\n%s%14s", indent, "");
		else
			fputc(*text, f);
	}
	fputc('\n', f);
}

/* A time in seconds from @from on, which may be later. */
static void seconds(FILE *f, u64 time_ns, u64 from_ns)
{
	u64 ns = time_ns >= from_ns ? time_ns - from_ns : from_ns - time_ns;

	fprintf(f, "%s%llu.%06llu s", time_ns >= from_ns ? "" : "-", ns / NS_PER_S,
		ns % NS_PER_S / 1000);
}

/* What the low bits of folio->mapping say. */
static const char *mapping_kind(u64 mapping)
{
	static const char * const kinds[] = { "file", "anon", "movable", "KSM" };

	return mapping ? kinds[mapping & 3] : "none";
}

static void folio(FILE *f, const char *indent, const struct ds_violation *v)
{
	if (!DS_HAS(v, DS_VIOL_PFN))
		return;
	label(f, indent, "folio");
	fprintf(f, "pfn 0x%llx", v->pfn);
	if (DS_HAS(v, DS_VIOL_ORDER))
		fprintf(f, ", order %u", v->order);
	if (DS_HAS(v, DS_VIOL_REFCOUNT))
		fprintf(f, ", refcount %d", v->refcount);
	if (DS_HAS(v, DS_VIOL_MAPCOUNT))
		fprintf(f, ", mapcount %d", v->mapcount);
	if (DS_HAS(v, DS_VIOL_NODE))
		fprintf(f, ", node %u", v->node);
	if (DS_HAS(v, DS_VIOL_ZONE))
		fprintf(f, ", zone %u", v->zone);
	fputc('\n', f);
	/* newer kernels write the number before the names themselves */
	if (DS_HAS(v, DS_VIOL_FLAGS) && strncmp(v->flags_text, "0x", 2)) {
		label(f, indent, "flags");
		fprintf(f, "0x%llx(%s)\n", v->flags, v->flags_text);
	} else if (DS_HAS(v, DS_VIOL_FLAGS)) {
		line(f, indent, "flags", v->flags_text);
	}
	if (DS_HAS(v, DS_VIOL_MAPPING)) {
		label(f, indent, "mapping");
		fprintf(f, "0x%llx (%s)", v->mapping, mapping_kind(v->mapping));
		if (DS_HAS(v, DS_VIOL_INDEX))
			fprintf(f, ", index %llu", v->index);
		fputc('\n', f);
	}
	if (!DS_HAS(v, DS_VIOL_MEMCG_DATA))
		return;
	label(f, indent, "memcg");
	if (DS_HAS(v, DS_VIOL_MEMCG))
		fprintf(f, "id %u, cgroup inode %llu", v->memcg, v->memcg_inode);
	else
		fputs(v->memcg_data ? "none that exists" : "none", f);
	fprintf(f, ", memcg_data 0x%llx\n", v->memcg_data);
}

static void place(FILE *f, const char *indent, const struct ds_violation *v)
{
	if (DS_HAS(v, DS_VIOL_LRUVEC_NODE)) {
		label(f, indent, "lruvec");
		fprintf(f, "node %u", v->lruvec_node);
		if (DS_HAS(v, DS_VIOL_LRUVEC_MEMCG))
			fprintf(f, ", memcg id %u", v->lruvec_memcg);
		fputc('\n', f);
	}
	if (DS_HAS(v, DS_VIOL_LIST))
		line(f, indent, "list", v->list);
	label(f, indent, "place");
	fprintf(f, "CPU %u", v->cpu);
	if (DS_HAS(v, DS_VIOL_KIND))
		fprintf(f, ", batch %s", ds_kind_name(v->kind));
	if (DS_HAS(v, DS_VIOL_SLOT))
		fprintf(f, ", slot %u", v->slot);
	fputc('\n', f);
}

static void circumstances(FILE *f, const char *indent, const struct ds_violation *v,
			  const struct ds_viol_context *c)
{
	label(f, indent, "time");
	seconds(f, v->time_ns, 0);
	fputs(" after the boot", f);
	if (c && c->start_ns) {
		fputs(", ", f);
		seconds(f, v->time_ns, c->start_ns);
		fputs(" after the start", f);
	}
	fputc('\n', f);
	label(f, indent, "noticed by");
	fprintf(f, "%s (pid %u)\n", v->comm, v->pid);
	if (!c)
		return;
	if (c->count) {
		label(f, indent, "count");
		fprintf(f, "the first of %llu\n", c->count);
	}
	if (c->kernel)
		line(f, indent, "kernel", c->kernel);
	label(f, indent, "tool");
	fprintf(f, "drainctl %s, module %s\n", DS_VERSION,
		c->module && c->module[0] ? c->module : "of unknown version");
	if (c->has_seed) {
		label(f, indent, "seed");
		fprintf(f, "%llu\n", c->seed);
	}
	if (c->repeat)
		line(f, indent, "repeat", c->repeat);
}

/**
 * ds_output_violation() - everything known about one violation
 * @indent: put before each line
 * @c: what the run knows of it, or NULL
 */
void ds_output_violation(FILE *f, const char *indent, const struct ds_violation *v,
			 const struct ds_viol_context *c)
{
	const char *title = ds_invariant_title(v->invariant);
	const char *why = ds_invariant_why(v->invariant);
	unsigned int i;

	fprintf(f, "%sI%u violated: %s\n", indent, v->invariant, title ? title : "?");
	line(f, indent, "what", v->text);
	if (why)
		line(f, indent, "why", why);
	if (DS_HAS(v, DS_VIOL_EXPECTED))
		line(f, indent, "expected", v->expected);
	if (DS_HAS(v, DS_VIOL_FOUND))
		line(f, indent, "found", v->found);
	folio(f, indent, v);
	place(f, indent, v);
	circumstances(f, indent, v, c);
	if (v->nr_actions)
		fprintf(f, "%s  last %s, seconds before:\n", indent,
			v->invariant == DS_INV_DATA ? "operations on the file" :
			"actions of the module");
	for (i = 0; i < v->nr_actions; i++) {
		const struct ds_action *a = &v->actions[i];

		fprintf(f, "%s    ", indent);
		seconds(f, a->time_ns, v->time_ns);
		fprintf(f, "  CPU %u  %s\n", a->cpu, a->text);
	}
}
