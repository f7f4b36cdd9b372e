/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections, for the kernel's iw_cm. */
#ifndef _VR_CM_H
#define _VR_CM_H

#include <rdma/iw_cm.h>
#include "addr.h"
#include "qp.h"

/* Before there is a request, and when none comes any more; sleeps. */
void vr_cm_init(struct vr_dev *d);
void vr_cm_end(struct vr_dev *d);
/* Of the device's listener at the agent; nic->conn.lock held. */
void vr_cm_asked(struct via_listener *l, struct via_conn *conn);
/* The QP's VI has left @from; both queue locks held. */
void vr_cm_moved(struct vr_qp *qp, u32 from);

int vr_iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int vr_iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int vr_iw_reject(struct iw_cm_id *id, const void *data, u8 len);
int vr_iw_create_listen(struct iw_cm_id *id, int backlog);
int vr_iw_destroy_listen(struct iw_cm_id *id);

#endif
