// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints how fast the host's time stamp counter runs, in kHz.  An emulated guest
 * sees that counter, but measures its frequency against an emulated timer, and
 * on a busy host it can be wrong a hundredfold: its seconds then are none.  The
 * VM runner tells it the number instead (tsc_early_khz=).  Not for KVM, which
 * tells its guests itself.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* The counter and the clock read together: the closest of a few tries. */
static unsigned long long both(double *at)
{
	unsigned long long tsc = 0;
	double before, after, best = 1;
	int i;

	for (i = 0; i < 100; i++) {
		unsigned long long value;

		before = now();
		value = __rdtsc();
		after = now();
		if (after - before < best) {
			best = after - before;
			*at = (before + after) / 2;
			tsc = value;
		}
	}
	return tsc;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
	unsigned long long from, to;
	double start, end;

	from = both(&start);
	nanosleep(&pause, NULL);
	to = both(&end);
	printf("%.0f\n", (to - from) / (end - start) / 1000);
	return 0;
}
