// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planted faults: deliberate damage, so that a check that cannot fail is
 * noticed.  Only with the module parameter plant=1.  Each is made on the
 * module's own files or folios and is over when its function returns.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/shmem_fs.h>

#include "drainstress.h"

bool ds_plant_allowed;
module_param_named(plant, ds_plant_allowed, bool, 0444);
MODULE_PARM_DESC(plant, "allow planted faults; for tests of the tester only");

/*
 * While an own file is truncated, the release probe clears the batch's
 * percpu_pvec_drained before each release but the first, as if the batch had
 * been initialised anew: the kernel then drains at every release.
 */
static int ds_plant_double_drain(void)
{
	struct ds_stock stock;
	int err;

	if (!ds_usage_armed())
		return -EOPNOTSUPP;
	err = ds_stock_make(&stock, 3 * DS_BATCH_SIZE, -1);
	if (err)
		return err;
	ds_usage_plant(current);
	shmem_truncate_range(file_inode(stock.file), 0, (loff_t)-1);
	ds_usage_plant(NULL);
	ds_stock_drop(&stock);
	return 0;
}

const struct ds_plant ds_plants[] = {
	{ "double-drain", "a usage that drains at every release", 22,
	  ds_plant_double_drain },
};

const unsigned int ds_nr_plants = ARRAY_SIZE(ds_plants);
