/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Charts of samples, through gnuplot.  See plot.c.
 */
#ifndef DS_PLOT_H
#define DS_PLOT_H

#include "samples.h"

int ds_plot_ready(struct ds_err *err);
int ds_plot(const char *path, const struct ds_samples *runs, unsigned int nr, struct ds_err *err);

#endif /* DS_PLOT_H */
