// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Event queues: what a program calls.  The events: event.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fab.h"

static struct via_eq *eq_of(struct fid_eq *eq)
{
	return vipl_container(eq, struct via_eq, fid);
}

static void look_at_nics(struct via_eq *eq, bool arm)
{
	struct via_nic *nics[VIA_EQ_NICS];
	unsigned int i, n;

	pthread_mutex_lock(&eq->lock);
	n = eq->n_nics;
	memcpy(nics, eq->nics, n * sizeof(*nics));
	pthread_mutex_unlock(&eq->lock);
	for (i = 0; i < n; i++) {
		pthread_mutex_lock(&nics[i]->lock);
		if (arm)
			via_arm_cm(nics[i]);
		via_progress_cm(nics[i]);
		pthread_mutex_unlock(&nics[i]->lock);
	}
}

/* The length of what was written to buf, or an error. */
static ssize_t give_event(struct via_eq *eq, struct via_event *e,
			  uint32_t *event, void *buf, size_t len, bool peek)
{
	struct fi_eq_cm_entry *cm = buf;
	size_t n = e->len;

	if (e->entry) {
		if (len < n)
			return -FI_ETOOSMALL;
		memcpy(buf, e->entry, n);
	} else {
		if (len < sizeof(*cm))
			return -FI_ETOOSMALL;
		if (n > len - sizeof(*cm))
			n = len - sizeof(*cm);
		cm->fid = e->fid;
		cm->info = e->info;
		memcpy(cm->data, e->data, n);
		n += sizeof(*cm);
	}
	*event = e->event;
	if (!peek) {
		e->info = NULL;		/* the program's now */
		vipl_list_del(&e->link);
		via_event_free(e);
		via_eq_clear_if_empty(eq);
	}
	return (ssize_t)n;
}

static ssize_t take_first_event(struct via_eq *eq, uint32_t *event, void *buf,
				size_t len, uint64_t flags)
{
	ssize_t ret = -FI_EAGAIN;

	pthread_mutex_lock(&eq->lock);
	if (!vipl_list_empty(&eq->errors))
		ret = -FI_EAVAIL;
	else if (!vipl_list_empty(&eq->events))
		ret = give_event(eq,
				 vipl_container(eq->events.next,
						struct via_event, link),
				 event, buf, len,
				 !!(flags & FI_PEEK));
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf,
		       size_t len, uint64_t flags)
{
	struct via_eq *eq = eq_of(fid);

	look_at_nics(eq, false);
	return take_first_event(eq, event, buf, len, flags);
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags)
{
	struct via_eq *eq = eq_of(fid);
	uint64_t end = via_wait_end(timeout);
	ssize_t ret;
	bool over;

	if (!eq->wait.on)
		return -FI_ENOSYS;
	for (over = false;;) {
		look_at_nics(eq, !over && timeout);
		ret = take_first_event(eq, event, buf, len, flags);
		if (ret != -FI_EAGAIN || over || !timeout)
			return ret;
		over = !via_wait_for(&eq->wait, end);
	}
}

int via_eq_trywait(struct via_eq *eq)
{
	bool any;

	if (!eq->wait.on)
		return -FI_EINVAL;
	look_at_nics(eq, true);
	pthread_mutex_lock(&eq->lock);
	any = !vipl_list_empty(&eq->events) || !vipl_list_empty(&eq->errors);
	pthread_mutex_unlock(&eq->lock);
	return any ? -FI_EAGAIN : 0;
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf,
			  uint64_t flags)
{
	struct via_eq *eq = eq_of(fid);
	struct via_event *e;

	pthread_mutex_lock(&eq->lock);
	if (vipl_list_empty(&eq->errors)) {
		pthread_mutex_unlock(&eq->lock);
		return -FI_EAGAIN;
	}
	e = vipl_container(eq->errors.next, struct via_event, link);
	buf->fid = e->fid;
	buf->context = e->fid ? e->fid->context : NULL;
	buf->data = 0;
	buf->err = e->err;
	buf->prov_errno = e->prov;
	memcpy(eq->err_data, e->data, e->len);
	/* Into the program's buffer if it has given one, else ours. */
	if (buf->err_data && buf->err_data_size) {
		if (buf->err_data_size > e->len)
			buf->err_data_size = e->len;
		memcpy(buf->err_data, e->data, buf->err_data_size);
	} else {
		buf->err_data = e->len ? eq->err_data : NULL;
		buf->err_data_size = e->len;
	}
	if (!(flags & FI_PEEK)) {
		vipl_list_del(&e->link);
		via_event_free(e);
		via_eq_clear_if_empty(eq);
	}
	pthread_mutex_unlock(&eq->lock);
	return sizeof(*buf);
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *buf,
			size_t len, uint64_t flags)
{
	struct via_eq *eq = eq_of(fid);
	struct via_event *e;

	if (!eq->writes || flags)
		return -FI_EINVAL;
	e = via_event_new(NULL, NULL, 0);
	if (e)
		e->entry = malloc(len ? len : 1);
	if (!e || !e->entry) {
		free(e);
		return -FI_ENOMEM;
	}
	memcpy(e->entry, buf, len);
	e->len = len;
	e->event = event;
	via_eq_put(eq, &eq->events, e);
	return (ssize_t)len;
}

static const char *eq_strerror(struct fid_eq *eq, int prov,
			       const void *err_data, char *buf, size_t len)
{
	(void)eq;
	(void)err_data;
	return via_strerror(prov, buf, len);
}

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

static int eq_close(struct fid *fid)
{
	struct via_eq *eq = vipl_container(fid, struct via_eq, fid.fid);
	unsigned int i;

	if (atomic_load(&eq->refs))
		return -FI_EBUSY;
	via_eq_purge(eq, NULL);
	for (i = 0; i < eq->n_nics; i++)
		via_nic_put(eq->nics[i]);
	via_wait_close(&eq->wait);
	pthread_mutex_destroy(&eq->lock);
	if (eq->fabric)
		atomic_fetch_sub(&eq->fabric->refs, 1);
	free(eq);
	return 0;
}

static int eq_control(struct fid *fid, int command, void *arg)
{
	struct via_eq *eq = vipl_container(fid, struct via_eq, fid.fid);

	return via_wait_control(&eq->wait, command, arg);
}

static struct fi_ops eq_fid_ops = VIA_FID_OPS(eq_close, VIA_NO, eq_control);

int via_eq_open(struct fid_fabric *fid, struct fi_eq_attr *attr,
		struct fid_eq **out, void *context)
{
	struct via_eq *eq;
	int ret;

	if (attr->flags & ~(FI_WRITE | FI_AFFINITY))
		return -FI_EINVAL;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &eq_fid_ops;
	eq->fid.ops = &eq_ops;
	eq->writes = !!(attr->flags & FI_WRITE);
	pthread_mutex_init(&eq->lock, NULL);
	vipl_list_init(&eq->events);
	vipl_list_init(&eq->errors);
	ret = via_wait_open(&eq->wait, attr->wait_obj);
	if (ret) {
		eq_close(&eq->fid.fid);
		return ret;
	}
	eq->fabric = vipl_container(fid, struct via_fabric, fid);
	atomic_fetch_add(&eq->fabric->refs, 1);
	*out = &eq->fid;
	return 0;
}
