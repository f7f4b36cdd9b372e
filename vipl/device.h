/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_DEVICE_H
#define VIPL_DEVICE_H

#define VIPL_NODE_LEN	64

/*
 * Turn the name a program gave into the name of a node, without directory.
 * Returns 0, or -1 and a line on standard error for a name that means none.
 * The node need not exist.
 */
int vipl_device_resolve(const char *name, char *node);

/* Say on standard error that a node is missing, and the remedy. */
void vipl_device_missing(const char *node);

#endif /* VIPL_DEVICE_H */
