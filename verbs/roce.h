/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices with the addressing of RoCE. */
#ifndef _VR_ROCE_H
#define _VR_ROCE_H

#include "addr.h"
#include "qp.h"

#define VR_ROCE_GIDS	128	/* of a port */

/* The device's part of the RDMA core's table: port and QPs. */
extern const struct ib_device_ops vr_roce_ops;

/*
 * Of a QP of such a device.  moved: its VI has left @from, both queue locks held; false:
 * the connection has ended, and so goes the QP.
 * flushed: a descriptor was; true: it is a receive whose completion is withheld, see
 * there.  That queue's lock is held.
 */
bool vr_roce_moved(struct vr_qp *qp, u32 from);
bool vr_roce_flushed(struct vr_qp *qp, bool recv);

#endif
