// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The events of a NIC handle, which read() takes away: a bounded ring of
 * asynchronous errors, and a list of notices, which lie in their queues.
 */

#include <linux/slab.h>
#include <linux/uaccess.h>
#include "event.h"
#include "via_ka.h"

int via_events_init(struct via_events *ev)
{
	spin_lock_init(&ev->lock);
	init_waitqueue_head(&ev->wait);
	INIT_LIST_HEAD(&ev->notices);
	ev->ring = kcalloc(VIA_EVENTS, sizeof(*ev->ring), GFP_KERNEL_ACCOUNT);
	return ev->ring ? 0 : -ENOMEM;
}

void via_events_free(struct via_events *ev)
{
	kfree(ev->ring);
}

void via_events_close(struct via_events *ev)
{
	spin_lock_bh(&ev->lock);
	ev->closed = true;
	spin_unlock_bh(&ev->lock);
	wake_up_all(&ev->wait);
}

void via_events_post(struct via_events *ev, const struct via_event *rec)
{
	spin_lock_bh(&ev->lock);
	if (ev->tail - ev->head < VIA_EVENTS)
		ev->ring[ev->tail++ % VIA_EVENTS] = *rec;
	else
		ev->lost++;
	spin_unlock_bh(&ev->lock);
	if (wq_has_sleeper(&ev->wait))
		wake_up_interruptible(&ev->wait);
}

void via_events_notice(struct via_events *ev, struct via_notice *n)
{
	spin_lock_bh(&ev->lock);
	if (!n->queued) {
		n->queued = true;
		list_add_tail(&n->link, &ev->notices);
	}
	spin_unlock_bh(&ev->lock);
	if (wq_has_sleeper(&ev->wait))
		wake_up_interruptible(&ev->wait);
}

void via_events_forget(struct via_events *ev, struct via_notice *n)
{
	spin_lock_bh(&ev->lock);
	if (n->queued) {
		n->queued = false;
		list_del(&n->link);
	}
	spin_unlock_bh(&ev->lock);
}

static void via_events_take_notice(struct via_events *ev,
				   struct via_event *rec)
{
	struct via_notice *n;

	lockdep_assert_held(&ev->lock);
	n = list_first_entry(&ev->notices, struct via_notice, link);
	list_del(&n->link);
	n->queued = false;
	memset(rec, 0, sizeof(*rec));
	rec->code = n->code;
	if (n->code == VIA_EVENT_CQ)
		rec->cq = n->id;
	else
		rec->vi = n->id;
}

/* 1: taken, 0: closed, -EAGAIN: none now */
static int via_events_take(struct via_events *ev, struct via_event *rec)
{
	int ret = -EAGAIN;

	spin_lock_bh(&ev->lock);
	if (ev->tail != ev->head &&
	    (ev->noticed || list_empty(&ev->notices))) {
		ev->noticed = false;
		*rec = ev->ring[ev->head++ % VIA_EVENTS];
		ret = 1;
	} else if (!list_empty(&ev->notices)) {
		ev->noticed = true;
		via_events_take_notice(ev, rec);
		ret = 1;
	} else if (ev->closed) {
		ret = 0;
	}
	spin_unlock_bh(&ev->lock);
	return ret;
}

static bool via_events_any(const struct via_events *ev)
{
	return READ_ONCE(ev->tail) != READ_ONCE(ev->head) ||
	       !list_empty(&ev->notices) || READ_ONCE(ev->closed);
}

ssize_t via_events_read(struct via_events *ev, char __user *buf, size_t len,
			bool nonblock)
{
	struct via_event rec;
	size_t done = 0;
	int ret;

	if (len < sizeof(rec))
		return -EINVAL;
	while (len - done >= sizeof(rec)) {
		ret = via_events_take(ev, &rec);
		if (ret == -EAGAIN && !done && !nonblock) {
			ret = wait_event_interruptible(ev->wait,
						       via_events_any(ev));
			if (ret)
				return -EINTR;
			continue;
		}
		if (ret <= 0)
			return done ? (ssize_t)done : ret;
		if (copy_to_user(buf + done, &rec, sizeof(rec)))
			return done ? (ssize_t)done : -EFAULT;
		done += sizeof(rec);
	}
	return done;
}

__poll_t via_events_poll(struct via_events *ev, struct file *filp,
			 poll_table *pt)
{
	__poll_t mask = 0;

	poll_wait(filp, &ev->wait, pt);
	spin_lock_bh(&ev->lock);
	if (ev->tail != ev->head || !list_empty(&ev->notices))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (ev->closed)
		mask |= EPOLLIN | EPOLLHUP;
	spin_unlock_bh(&ev->lock);
	return mask;
}
