/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices that come and go: `rdma link add', `rdma link del', the NIC's end. */
#ifndef _VR_LINK_H
#define _VR_LINK_H

#include "dev.h"

/* The NIC goes; see via_kapi.h. */
void vr_link_gone(struct vr_dev *d);
/* All of a device but its memory, which is the RDMA core's. */
void vr_link_dealloc(struct ib_device *ib);

#endif
