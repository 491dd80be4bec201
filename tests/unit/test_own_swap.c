// SPDX-License-Identifier: GPL-2.0-only
/*
 * Swap of the load's own, as far as it touches nothing: the header is what the
 * kernel looks for, and where there can be none the reason says what to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "own_swap.h"

static void test_header(void **state)
{
	static unsigned char page[4096];
	u32 version, last;

	(void)state;
	memset(page, 0xff, sizeof(page));
	ds_own_swap_header(page, sizeof(page), 64 << 20);
	assert_memory_equal(page + 4086, "SWAPSPACE2", 10);
	memcpy(&version, page + 1024, sizeof(version));
	memcpy(&last, page + 1028, sizeof(last));
	assert_int_equal(version, 1);
	assert_int_equal(last, (64 << 20) / 4096 - 1);
	/* no bad pages */
	memcpy(&last, page + 1032, sizeof(last));
	assert_int_equal(last, 0);
}

static void test_reasons(void **state)
{
	struct ds_places places = { .nr = 1 };
	char why[160] = "";

	(void)state;
	/* files in memory are nothing to swap to, nor are file systems of the load's */
	places.v[0].fd = -1;
	if (ds_own_swap_can(&places, why, sizeof(why)))
		assert_int_equal(access("/sys/class/zram-control/hot_add", R_OK), 0);
	else
		assert_true(strstr(why, "modprobe zram") || strstr(why, "root") ||
			    strstr(why, "CONFIG_SWAP"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
