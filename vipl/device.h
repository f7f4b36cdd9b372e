/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_DEVICE_H
#define VIPL_DEVICE_H

#include "loader.h"

#define VIPL_REST_LEN	256

/* A provider, and what it is to open. */
struct vipl_device {
	char provider[VIPL_PROVIDER_LEN];
	char rest[VIPL_REST_LEN];
	const char *by;		/* VIPL_NIC or so, where that chose it; or NULL */
};

/*
 * What the name that a program gave means. Returns 0, or -1 and a line on
 * standard error for a name that means nothing. The device need not exist.
 */
int vipl_device_resolve(const char *name, struct vipl_device *out);

/*
 * The device of VIPL_NIC or of the "default" of vipl.conf. Returns 0; or -1,
 * without a line where there is neither.
 */
int vipl_device_default(struct vipl_device *out);

/* A line on what has chosen a device that was not opened. */
void vipl_device_blame(const struct vipl_device *d);

#endif /* VIPL_DEVICE_H */
