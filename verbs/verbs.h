/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a device for the RDMA core. */
#ifndef _VR_VERBS_H
#define _VR_VERBS_H

#include "dev.h"

/* Of all devices; and besides, of those that are like iWARP. */
extern const struct ib_device_ops vr_verbs;
extern const struct ib_device_ops vr_iw_ops;

#endif
