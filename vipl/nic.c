// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "ext.h"
#include "loader.h"
#include "msg.h"
#include "object.h"

struct vipl_nic *vipl_nic_get(VIP_NIC_HANDLE h)
{
	struct vipl_nic *nic = vipl_get(h, VIPL_NIC);

	if (nic && !vipl_is_live(nic, h)) {
		vipl_nic_put(nic);
		return NULL;
	}
	return nic;
}

void vipl_nic_put(struct vipl_nic *nic)
{
	if (!vipl_unref(&nic->obj))
		return;
	vipl_ops(&nic->obj)->close(nic);
	vipl_events_free(&nic->events);
	vipl_fd_close(&nic->fd);
	free(nic->discovered);
	nic->discovered = NULL;
	vipl_obj_free(&nic->obj, VIPL_NIC);
}

/* Returns 0 with the lock held, or -1 when the handle is being closed. */
int vipl_nic_lock(struct vipl_nic *nic)
{
	vipl_lock(&nic->lock);
	if (!nic->closing)
		return 0;
	vipl_unlock(&nic->lock);
	return -1;
}

void vipl_nic_unlock(struct vipl_nic *nic)
{
	vipl_unlock(&nic->lock);
}

/* nic->lock held. */
void *vipl_nic_new(struct vipl_nic *nic, enum vipl_kind kind)
{
	struct vipl_obj *o = vipl_obj_alloc(kind, vipl_driver_of(&nic->obj));

	if (!o)
		return NULL;
	vipl_ref(&nic->obj);
	o->pub.nic = nic;
	vipl_list_add(&o->link, &nic->objs[kind]);
	return o;
}

/* The object no longer belongs to the handle, but still refers to the NIC. */
void vipl_nic_disown(struct vipl_obj *o)
{
	vipl_list_del(&o->link);
}

void vipl_no_resource(const struct vipl_nic *nic, const char *what)
{
	if (!vipl_has_reason())
		vipl_reason(MSG_NO_RESOURCE, what, nic->id.name);
}
