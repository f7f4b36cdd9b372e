// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The events that an EQ holds: what happens to connections. */
#include <stdlib.h>
#include <string.h>

#include "fab.h"

void via_event_free(struct via_event *e)
{
	if (e->info)
		fi_freeinfo(e->info);
	free(e->entry);
	free(e);
}

/* The wait object is readable while there is an event. */
void via_eq_put(struct via_eq *eq, struct vipl_list *list, struct via_event *e)
{
	pthread_mutex_lock(&eq->lock);
	vipl_list_add_tail(&e->link, list);
	via_wait_tell(&eq->wait);
	pthread_mutex_unlock(&eq->lock);
}

void via_eq_clear_if_empty(struct via_eq *eq)
{
	if (vipl_list_empty(&eq->events) && vipl_list_empty(&eq->errors))
		via_wait_clear(&eq->wait);
}

struct via_event *via_event_new(struct fid *fid, const void *data,
				size_t len)
{
	struct via_event *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->fid = fid;
	if (len > sizeof(e->data))
		len = sizeof(e->data);
	if (len)
		memcpy(e->data, data, len);
	e->len = len;
	return e;
}

void via_eq_add(struct via_eq *eq, uint32_t event, struct fid *fid,
		struct fi_info *info, const void *data, size_t len)
{
	struct via_event *e = via_event_new(fid, data, len);

	if (!e) {
		via_warn(FI_LOG_EQ, "no memory for an event: it is lost\n");
		if (info)
			fi_freeinfo(info);
		return;
	}
	e->event = event;
	e->info = info;
	via_eq_put(eq, &eq->events, e);
}

void via_eq_add_err(struct via_eq *eq, struct fid *fid, int err, int prov,
		    const void *data, size_t len)
{
	struct via_event *e = via_event_new(fid, data, len);

	if (!e) {
		via_warn(FI_LOG_EQ, "no memory for an error: it is lost\n");
		return;
	}
	e->err = err;
	e->prov = prov;
	via_eq_put(eq, &eq->errors, e);
}

/* fid: of this object, NULL: all. */
static void purge_events(struct vipl_list *list, struct fid *fid)
{
	struct via_event *e, *n;

	vipl_list_each(e, n, list, link) {
		if (fid && e->fid != fid)
			continue;
		vipl_list_del(&e->link);
		via_event_free(e);
	}
}

/* Events about an object that is being closed. */
void via_eq_purge(struct via_eq *eq, struct fid *fid)
{
	pthread_mutex_lock(&eq->lock);
	purge_events(&eq->events, fid);
	purge_events(&eq->errors, fid);
	via_eq_clear_if_empty(eq);
	pthread_mutex_unlock(&eq->lock);
}

/* An endpoint of that NIC is bound to it; the NIC is kept as long. */
int via_eq_attach(struct via_eq *eq, struct via_nic *nic)
{
	struct via_nic *same;
	unsigned int i;
	int ret;

	/* The EQ is open: this only counts. */
	ret = via_nic_get(nic->name, &same);
	if (ret)
		return ret;
	pthread_mutex_lock(&eq->lock);
	for (i = 0; i < eq->n_nics && eq->nics[i] != nic; i++)
		;
	if (i == eq->n_nics) {
		ret = i == VIA_EQ_NICS ? -FI_ENOSPC : 0;
		if (!ret && eq->wait.on)
			ret = via_wait_watch(&eq->wait, nic->fd) ? :
			      via_wait_watch(&eq->wait, nic->timer) ? :
			      via_wait_watch(&eq->wait,
					     nic->cq_fd[VIA_CQ_CTL]);
		if (!ret) {
			eq->nics[eq->n_nics++] = same;
			same = NULL;
		}
	}
	pthread_mutex_unlock(&eq->lock);
	if (same)
		via_nic_put(same);
	return ret;
}
