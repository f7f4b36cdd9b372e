// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The service thread serves an event (service.c). */
#include "ext.h"
#include "notify.h"
#include "service.h"

void vipl_serve(struct vipl_nic *nic, const struct vipl_event *ev)
{
	struct vipl_cq *cq;

	if (!vipl_event_known(nic, ev))
		return;
	switch (ev->kind) {
	case VIPL_EVENT_ERROR:
		vipl_error_deliver(nic, ev);
		break;
	case VIPL_EVENT_CONN:
		vipl_fd_tell(&nic->fd);
		break;
	case VIPL_EVENT_CQ:
		cq = vipl_cq_get(ev->cq);
		if (!cq)
			break;
		if (cq->obj.pub.nic == nic)
			vipl_cq_tell(cq);
		vipl_cq_put(cq);
		vipl_notify_serve(nic, ev);
		break;
	default:
		vipl_notify_serve(nic, ev);
	}
}
