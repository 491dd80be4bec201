// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last actions of the module, a ring a CPU, for the report of a violation:
 * what was filled, drained, checked or planted, and when.  Written on the CPU
 * itself without a lock, read from anywhere.  What is done, and what of it is
 * worth an entry, is decided by the callers.
 */
#include <linux/ktime.h>
#include <linux/preempt.h>

#include "drainstress.h"

#define DS_RING_SIZE	64	/* a power of two */

/* 16 bytes, so that an entry costs a part of one cache line. */
struct ds_ring_entry {
	u64 time_ns;
	u16 tag;		/* low bits of its number; 0: being written */
	s16 target;
	u8 what;
	u8 which;
	u8 n;
	u8 of;
};

struct ds_ring {
	u32 head;		/* number of the newest entry, from 1 */
	struct ds_ring_entry entry[DS_RING_SIZE];
};

static DEFINE_PER_CPU_ALIGNED(struct ds_ring, ds_rings);
static bool ds_ring_off;
static u64 ds_ring_since;	/* what was done before is not told */

/* A run begins; @on: one that is only a yardstick leaves no traces. */
void ds_ring_begin(bool on)
{
	WRITE_ONCE(ds_ring_since, ktime_get_mono_fast_ns());
	WRITE_ONCE(ds_ring_off, !on);
}

/* It ends; what is done from here on is noted, whatever it was. */
void ds_ring_end(void)
{
	WRITE_ONCE(ds_ring_off, false);
}

/* An add to a disabled cache flushes each time: those share an entry. */
static bool ds_ring_repeats(struct ds_ring *ring, const struct ds_did *did)
{
	struct ds_ring_entry *last = &ring->entry[ring->head % DS_RING_SIZE];

	if (did->what != DS_DID_EARLY || last->what != DS_DID_EARLY ||
	    last->which != did->which || last->n > U8_MAX - did->n)
		return false;
	WRITE_ONCE(last->n, last->n + did->n);
	WRITE_ONCE(last->time_ns, did->time_ns);
	return true;
}

/**
 * ds_ring_put() - notes an action of this CPU
 * @what: enum ds_what
 * @which: what that says: a batch kind, a drain kind, an invariant, a fault
 * @n: how many
 * @of: how many were wanted
 * @target: the other CPU that it is about, DS_ON_ALL, or DS_ON_NONE
 *
 * Any context but NMI.
 */
void ds_ring_put(enum ds_what what, unsigned int which, unsigned int n,
		 unsigned int of, int target)
{
	struct ds_did did = { .what = what, .which = which };
	struct ds_ring_entry *e;
	u32 number;

	if (READ_ONCE(ds_ring_off))
		return;
	preempt_disable_notrace();
	did.n = min_t(unsigned int, n, U8_MAX);
	did.time_ns = ktime_get_mono_fast_ns();
	if (ds_ring_repeats(this_cpu_ptr(&ds_rings), &did))
		goto out;
	/* An interrupt in between gets an entry of its own. */
	number = this_cpu_inc_return(ds_rings.head);
	e = this_cpu_ptr(&ds_rings.entry[number % DS_RING_SIZE]);
	WRITE_ONCE(e->tag, 0);
	smp_wmb();	/* pairs with ds_ring_read(): no tag, no entry */
	e->time_ns = did.time_ns;
	e->target = target;
	e->what = what;
	e->which = which;
	e->n = did.n;
	e->of = min_t(unsigned int, of, U8_MAX);
	/* Pairs with ds_ring_read(). */
	smp_store_release(&e->tag, (u16)number);
out:
	preempt_enable_notrace();
}

/* The entry @number of @cpu.  Return: false when it is not whole. */
static bool ds_ring_read(int cpu, u32 number, struct ds_did *did)
{
	struct ds_ring_entry *e, copy;

	e = &per_cpu(ds_rings, cpu).entry[number % DS_RING_SIZE];
	/* Pairs with the release in ds_ring_put(): what it wrote is there. */
	if (!(u16)number || smp_load_acquire(&e->tag) != (u16)number)
		return false;
	copy = *e;
	smp_rmb();	/* pairs with ds_ring_put(): it has not begun anew */
	if (READ_ONCE(e->tag) != (u16)number)
		return false;
	*did = (struct ds_did){
		.time_ns = copy.time_ns,
		.cpu = cpu,
		.target = copy.target,
		.what = copy.what,
		.which = copy.which,
		.n = copy.n,
		.of = copy.of,
	};
	return true;
}

/* Puts @did where it belongs by time; the oldest goes when there is no room. */
static unsigned int ds_ring_insert(struct ds_did *out, unsigned int nr,
				   unsigned int max, const struct ds_did *did)
{
	unsigned int at = nr;

	while (at && out[at - 1].time_ns > did->time_ns)
		at--;
	if (nr == max) {
		if (!at)
			return nr;
		at--;
		memmove(&out[0], &out[1], at * sizeof(*out));
	} else {
		memmove(&out[at + 1], &out[at], (nr - at) * sizeof(*out));
		nr++;
	}
	out[at] = *did;
	return nr;
}

static bool ds_ring_concerns(const struct ds_did *did, int cpu)
{
	if (cpu < 0 || did->cpu == cpu)
		return true;
	/* The target of a fill is where its folios are from, if from any CPU. */
	if (did->what == DS_DID_FILL)
		return false;
	return did->target == cpu || did->target == DS_ON_ALL;
}

/**
 * ds_ring_last() - the last actions that concern a CPU
 * @cpu: those on it, on it from elsewhere, and on all CPUs; -1: all there are
 * @out: gets them, the oldest first
 * @max: room in @out
 *
 * Return: how many.  Any context; what is just being written is left out.
 */
unsigned int ds_ring_last(int cpu, struct ds_did *out, unsigned int max)
{
	unsigned int nr = 0, i;
	struct ds_did did;
	int on;

	for_each_possible_cpu(on) {
		u32 head = READ_ONCE(per_cpu(ds_rings, on).head);

		for (i = 0; i < DS_RING_SIZE && head - i; i++) {
			if (!ds_ring_read(on, head - i, &did))
				continue;
			if (did.time_ns < READ_ONCE(ds_ring_since) ||
			    (nr == max && did.time_ns <= out[0].time_ns))
				break;
			if (ds_ring_concerns(&did, cpu))
				nr = ds_ring_insert(out, nr, max, &did);
		}
	}
	return nr;
}

static void ds_did_drain(const struct ds_did *did, char *text, size_t len)
{
	int n = scnprintf(text, len, "drain %s", ds_drain_name[did->which]);

	if (did->target >= 0 && did->target != did->cpu)
		n += scnprintf(text + n, len - n, " of CPU %d", did->target);
	if (did->what == DS_DID_DRAINED)
		scnprintf(text + n, len - n, " has returned");
}

/**
 * ds_did_text() - an action in words
 * @did: of ds_ring_last()
 * @text: gets them
 * @len: room in @text, DS_DID_LEN is enough
 */
void ds_did_text(const struct ds_did *did, char *text, size_t len)
{
	int n;

	switch (did->what) {
	case DS_DID_FILL:
		n = scnprintf(text, len, "fill %s: %u of %u queued",
			      ds_batch_name[did->which], did->n, did->of);
		if (did->target >= 0 && did->target != did->cpu)
			scnprintf(text + n, len - n, ", folios of CPU %d",
				  did->target);
		break;
	case DS_DID_PREPARE:
		snprintf(text, len, "prepare %u folios for %s", did->n,
			 ds_batch_name[did->which]);
		break;
	case DS_DID_DRAIN:
	case DS_DID_DRAINED:
		ds_did_drain(did, text, len);
		break;
	case DS_DID_EARLY:
		snprintf(text, len, "early flush of %s: %u folios",
			 ds_batch_name[did->which], did->n);
		break;
	case DS_DID_TRUNCATE:
		snprintf(text, len, "truncate an own file");
		break;
	case DS_DID_RACE:
		snprintf(text, len, did->n ? "the race begins" : "the race ends");
		break;
	case DS_DID_CHECK:
		snprintf(text, len, did->n ? "a check begins, the race rests" :
			 "the check ends");
		break;
	case DS_DID_PROBE:
		snprintf(text, len, "the check makes a situation for I%u",
			 did->which);
		break;
	case DS_DID_PLANT:
		snprintf(text, len, "plant %s", ds_plants[did->which].name);
		break;
	case DS_DID_FAULT:
		snprintf(text, len, "fault %s", ds_fault_name[did->which]);
		break;
	case DS_DID_OFFLINE:
		snprintf(text, len, "CPU %d %s", did->target,
			 did->n ? "taken offline" : "brought back");
		break;
	default:
		snprintf(text, len, "?");
	}
}
