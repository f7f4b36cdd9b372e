// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Connections.
 *
 * An end (struct vr_ep) is what iw_cm's id is here: a listener, an attempt, a request that
 * has come, a connection.
 *
 *  1. iw_cm asserts an order of events: after a connect() that returned 0 one
 *     CONNECT_REPLY, after an accept() that returned 0 one ESTABLISHED, good or bad; then,
 *     if that was good, or was an ESTABLISHED of any kind, one DISCONNECT and one CLOSE;
 *     then none.  The hook moved() only notes what has come; the end's work item is the
 *     one place that sends events, in this order.
 *  2. An end has a reference from iw_cm (id->provider_data), from the QP (qp->ep), and from
 *     its queued work.  It has references to the id and to the QP from connect() or
 *     accept() to the last event.
 *  3. A request is answered once: by accept(), by reject(), or by the work item if there is
 *     no listener.
 *  4. A request without a listener waits for one for VR_EARLY_MS, once: a server may
 *     agree with its client on a connection before it listens (perftest does).  As many
 *     as VR_EARLY_MAX wait on a device, so that a stranger's take no place from others;
 *     a request more is refused at once.
 *
 *   state       from                      by                     to
 *   LISTENING   create_listen()           destroy_listen()       over
 *   EARLY       a request, no listener    create_listen(), time  ASKED, over
 *   ASKED       a request                 accept(), reject()     ANSWERED, over
 *   CALLING     connect()                 moved()                UP, over
 *   ANSWERED    accept()                  moved()                UP, over
 *   UP          moved() to Connected      moved() to anything    over
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/slab.h>
#include "cm.h"

/* An attempt ends after that, as one of TCP does after some more. */
#define VR_CONNECT_NS	(10ull * NSEC_PER_SEC)

/* perftest's server listens 3 ms behind the request; a busy host needs more. */
#define VR_EARLY_MS	100
#define VR_EARLY_MAX	32

/* What the work item sends. */
#define VR_EV_ASKED	0x1u	/* CONNECT_REQUEST */
#define VR_EV_UP	0x2u	/* CONNECT_REPLY or ESTABLISHED */
#define VR_EV_FAILED	0x4u	/* the same, with an error */
#define VR_EV_DOWN	0x8u	/* DISCONNECT, CLOSE */

/* First bytes of the data that an answer carries. */
struct vr_answer {
	u8 ird;
	u8 ord;
	u8 len;
	u8 reserved;
	u8 data[VIA_KERNEL_REPLY - 4];
} __packed;

static_assert(sizeof(struct vr_answer) == VIA_KERNEL_REPLY);

/**
 * struct vr_ep - an end of a connection
 * @ref:	see 2. above
 * @dev:	constant
 * @link:	dev->listen_lock: in dev->listeners or dev->early
 * @until:	dev->listen_lock: jiffies until which it waits in dev->early
 * @waited:	dev->listen_lock: it was in dev->early
 * @lock:	inside of the agent's queue locks
 * @id:		lock: iw_cm's, with a reference; NULL: no more events
 * @qp:		lock: with a reference, as long as @id
 * @conn:	constant, of a server's end: the request, with a reference
 * @active:	constant after connect(): of a client
 * @events:	lock: VR_EV_* to be sent
 * @verdict:	lock: of a failed attempt
 * @request:	constant once asked or sent
 * @answer:	lock: what the server has said, and how much of it
 * @answered:	lock: bytes in @answer
 * @work:	sends events; has a reference while queued
 * @expire:	ends an attempt; likewise
 */
struct vr_ep {
	struct kref ref;
	struct vr_dev *dev;
	struct list_head link;
	unsigned long until;
	bool waited;
	spinlock_t lock;
	struct iw_cm_id *id;
	struct vr_qp *qp;
	struct via_conn *conn;
	bool active;
	u32 events;
	enum via_verdict verdict;
	struct vr_request request;
	struct vr_answer answer;
	u32 answered;
	struct work_struct work;
	struct delayed_work expire;
};

static void vr_ep_work(struct work_struct *work);
static void vr_ep_expire(struct work_struct *work);

static struct vr_ep *vr_ep_new(struct vr_dev *d, gfp_t gfp)
{
	struct vr_ep *ep = kzalloc(sizeof(*ep), gfp);

	if (!ep)
		return NULL;
	kref_init(&ep->ref);
	ep->dev = d;
	INIT_LIST_HEAD(&ep->link);
	spin_lock_init(&ep->lock);
	INIT_WORK(&ep->work, vr_ep_work);
	INIT_DELAYED_WORK(&ep->expire, vr_ep_expire);
	return ep;
}

static void vr_ep_release(struct kref *ref)
{
	struct vr_ep *ep = container_of(ref, struct vr_ep, ref);

	if (ep->conn)
		via_conn_put(ep->conn);
	kfree(ep);
}

static void vr_ep_put(struct vr_ep *ep)
{
	kref_put(&ep->ref, vr_ep_release);
}

static void vr_ep_send(struct vr_ep *ep, u32 events)
{
	lockdep_assert_held(&ep->lock);
	ep->events |= events;
	kref_get(&ep->ref);
	if (!queue_work(ep->dev->wq, &ep->work))
		vr_ep_put(ep);
}

/*
 * A program names its QP by number, and the RDMA core does not compare owners: a QP of
 * another user, or of a consumer in the kernel (a disk's, say), is refused.  A consumer
 * in the kernel connects from a work queue, or for a process that may mount.
 */
static bool vr_may_bind(const struct vr_qp *qp)
{
	return current->flags & PF_KTHREAD ||
	       (qp->user && uid_eq(qp->owner, current_euid())) ||
	       capable(CAP_SYS_ADMIN);
}

/* The QP's and the id's references, and the QP's to this end. */
static int vr_ep_bind(struct vr_ep *ep, struct iw_cm_id *id, struct vr_qp *qp)
{
	int ret = 0;

	if (!vr_may_bind(qp)) {
		vr_count(ep->dev, VR_FOREIGN_QPS);
		return -EPERM;
	}
	spin_lock_bh(&qp->state_lock);
	if (qp->ep || qp->state != IB_QPS_INIT)
		ret = -EISCONN;
	else
		qp->ep = ep;
	spin_unlock_bh(&qp->state_lock);
	if (ret)
		return ret;
	kref_get(&ep->ref);
	vr_iw_add_ref(&qp->ib);
	id->add_ref(id);
	spin_lock_bh(&ep->lock);
	ep->id = id;
	ep->qp = qp;
	spin_unlock_bh(&ep->lock);
	return 0;
}

/* The opposite, once: later calls find no QP. */
static void vr_ep_unbind(struct vr_ep *ep)
{
	struct iw_cm_id *id;
	struct vr_qp *qp;
	bool was = false;

	spin_lock_bh(&ep->lock);
	id = ep->id;
	qp = ep->qp;
	ep->id = NULL;
	ep->qp = NULL;
	spin_unlock_bh(&ep->lock);
	if (!qp)
		return;
	spin_lock_bh(&qp->state_lock);
	if (qp->ep == ep) {
		qp->ep = NULL;
		was = true;
	}
	spin_unlock_bh(&qp->state_lock);
	if (was)
		vr_ep_put(ep);
	vr_iw_rem_ref(&qp->ib);
	id->rem_ref(id);
}

/* Before an attempt begins, so that its end finds the alarm. */
static void vr_ep_arm(struct vr_ep *ep)
{
	/* A tick after the agent's own time. */
	kref_get(&ep->ref);
	if (!queue_delayed_work(ep->dev->wq, &ep->expire,
				nsecs_to_jiffies(VR_CONNECT_NS) + 2))
		vr_ep_put(ep);
}

static void vr_ep_disarm(struct vr_ep *ep)
{
	/* The caller has another reference. */
	if (cancel_delayed_work(&ep->expire))
		vr_ep_put(ep);
}

/* Events --------------------------------------------------------------------------- */

static int vr_errno(u32 verdict)
{
	switch (verdict) {
	case VIA_R_TIMEOUT:
	case VIA_R_NOT_REACHABLE:
		return -ETIMEDOUT;
	case VIA_R_ERROR_RESOURCE:
		return -ENOMEM;
	default:
		return -ECONNREFUSED;
	}
}

static int vr_ep_tell(struct vr_ep *ep, struct iw_cm_id *id,
		      struct iw_cm_event *event)
{
	event->local_addr = ep->active ? ep->request.client : ep->request.server;
	event->remote_addr = ep->active ? ep->request.server :
					  ep->request.client;
	event->provider_data = ep;
	return id->event_handler(id, event);
}

/* The answer to a client: what the server's consumer said. */
static void vr_tell_reply(struct vr_ep *ep, struct iw_cm_id *id, int status)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = status,
		.ird = clamp_t(u8, ep->answer.ird, 1, VR_READS),
		.ord = clamp_t(u8, ep->answer.ord, 1, VR_READS),
	};

	if (ep->answered > offsetof(struct vr_answer, data)) {
		event.private_data = ep->answer.data;
		event.private_data_len =
			min_t(u32, ep->answer.len, ep->answered -
			      offsetof(struct vr_answer, data));
	}
	vr_ep_tell(ep, id, &event);
}

static void vr_tell_plain(struct vr_ep *ep, struct iw_cm_id *id, int what,
			  int status)
{
	struct iw_cm_event event = { .event = what, .status = status };

	vr_ep_tell(ep, id, &event);
}

static void vr_tell_up(struct vr_ep *ep, struct iw_cm_id *id, u32 events)
{
	int status = 0;

	vr_ep_disarm(ep);
	if (events & VR_EV_FAILED)
		status = ep->active ? vr_errno(ep->verdict) : -ECONNRESET;
	vr_count(ep->dev, !status ? VR_ESTABLISHED : VR_CONNECT_ERRORS);
	if (ep->active)
		vr_tell_reply(ep, id, status);
	else
		vr_tell_plain(ep, id, IW_CM_EVENT_ESTABLISHED, status);
}

static void vr_ep_ask(struct vr_ep *ep);

static void vr_ep_work(struct work_struct *work)
{
	struct vr_ep *ep = container_of(work, struct vr_ep, work);
	struct iw_cm_id *id;
	u32 events;
	bool over;

	spin_lock_bh(&ep->lock);
	events = ep->events;
	ep->events = 0;
	id = ep->id;
	spin_unlock_bh(&ep->lock);

	if (events & VR_EV_ASKED) {
		vr_ep_ask(ep);
	} else if (id) {
		/* The reference of the binding: only this item ends it from here. */
		over = events & (VR_EV_DOWN | VR_EV_FAILED);
		if (events & (VR_EV_UP | VR_EV_FAILED))
			vr_tell_up(ep, id, events);
		if (events & VR_EV_DOWN ||
		    (events & VR_EV_FAILED && !ep->active)) {
			vr_tell_plain(ep, id, IW_CM_EVENT_DISCONNECT, 0);
			vr_tell_plain(ep, id, IW_CM_EVENT_CLOSE, 0);
		}
		if (over)
			vr_ep_unbind(ep);
	}
	vr_ep_put(ep);
}

static void vr_cm_answer(struct vr_ep *ep, struct via_vi *vi)
{
	const u8 *data;
	u32 len = via_kernel_answer(vi, &data);

	ep->answered = min_t(u32, len, sizeof(ep->answer));
	memcpy(&ep->answer, data, ep->answered);
}

void vr_cm_moved(struct vr_qp *qp, u32 from)
{
	struct via_vi *vi = qp->vi;
	struct vr_ep *ep = qp->ep;

	if (from == VIA_STATE_CONNECTED)
		vr_qp_count_end(qp);
	if (!ep)
		return;
	lockdep_assert_held(&qp->state_lock);
	spin_lock(&ep->lock);
	if (from == VIA_STATE_CONNECTED) {
		vr_ep_send(ep, VR_EV_DOWN);
	} else if (vi->state == VIA_STATE_CONNECTED) {
		if (ep->active)
			vr_cm_answer(ep, vi);
		vr_ep_send(ep, VR_EV_UP);
	} else if (from == VIA_STATE_PENDING) {
		ep->verdict = vi->verdict;
		if (ep->active)
			vr_cm_answer(ep, vi);
		vr_ep_send(ep, VR_EV_FAILED);
	}
	spin_unlock(&ep->lock);
}

static void vr_ep_expire(struct work_struct *work)
{
	struct vr_ep *ep = container_of(to_delayed_work(work), struct vr_ep,
					expire);
	struct vr_qp *qp;

	spin_lock_bh(&ep->lock);
	qp = ep->qp;
	if (qp)
		vr_iw_add_ref(&qp->ib);
	spin_unlock_bh(&ep->lock);
	if (qp) {
		via_kernel_expire(qp->vi);
		vr_iw_rem_ref(&qp->ib);
	}
	vr_ep_put(ep);
}

/* A client's end ---------------------------------------------------------------------- */

/* What follows when the agent has taken an attempt, or has not. */
static int vr_begun(struct vr_ep *ep, struct vr_qp *qp,
		    enum via_verdict verdict)
{
	if (verdict) {
		vr_ep_disarm(ep);
		return vr_errno(verdict);
	}
	/* The QP was broken before there was anything to break. */
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		vr_qp_break(qp);
	return 0;
}

static int vr_connect(struct vr_ep *ep, struct vr_qp *qp)
{
	struct via_net_addr client = {}, server = {};
	enum via_verdict verdict;
	int ret;

	ret = vr_addr_resolve(ep->dev, &ep->request.client, &ep->request.server,
			      &server);
	if (ret)
		return ret;
	vr_request_pack(&ep->request, &client, &server);
	vr_count(ep->dev, VR_CONNECTS);
	vr_ep_arm(ep);
	verdict = via_kernel_connect(qp->vi, &client, &server, VR_CONNECT_NS);
	return vr_begun(ep, qp, verdict);
}

static u8 vr_reads(u32 n)
{
	return clamp_t(u32, n, 1, VR_READS);
}

int vr_iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct vr_dev *d = vr_dev_of(id->device);
	struct ib_qp *ib = vr_iw_get_qp(id->device, param->qpn);
	struct vr_ep *ep;
	int ret;

	if (!ib || param->private_data_len > VR_REQUEST_DATA ||
	    !vr_addr_is_own(d, &id->local_addr))
		return -EINVAL;
	ep = vr_ep_new(d, GFP_KERNEL);
	if (!ep)
		return -ENOMEM;
	ep->active = true;
	ep->request.client = id->local_addr;
	ep->request.server = id->remote_addr;
	ep->request.ird = vr_reads(param->ird);
	ep->request.ord = vr_reads(param->ord);
	ep->request.len = param->private_data_len;
	memcpy(ep->request.data, param->private_data, ep->request.len);
	ret = vr_ep_bind(ep, id, vr_qp_of(ib));
	if (!ret) {
		ret = vr_connect(ep, vr_qp_of(ib));
		if (ret)
			vr_ep_unbind(ep);
	}
	/* The binding has its own. */
	vr_ep_put(ep);
	return ret;
}

/* A server's end ---------------------------------------------------------------------- */

/* The work item looks for who listens.  BH off. */
static void vr_ep_asked(struct vr_ep *ep)
{
	spin_lock(&ep->lock);
	vr_ep_send(ep, VR_EV_ASKED);
	spin_unlock(&ep->lock);
}

void vr_cm_asked(struct via_listener *l, struct via_conn *conn)
{
	struct vr_dev *d = container_of(l, struct vr_dev, listener);
	struct vr_ep *ep = vr_ep_new(d, GFP_ATOMIC);

	/* Without memory it is as if it had been lost: the client's time runs. */
	if (!ep)
		return;
	via_conn_get(conn);
	ep->conn = conn;
	vr_count(d, VR_REQUESTS);
	vr_ep_asked(ep);
}

/* Who listens there, with a reference to its id. */
static struct iw_cm_id *vr_find_listener(struct vr_dev *d,
					 const struct sockaddr_storage *wanted)
{
	struct iw_cm_id *id, *found = NULL;
	struct vr_ep *ep;

	lockdep_assert_held(&d->listen_lock);
	list_for_each_entry(ep, &d->listeners, link) {
		id = ep->id;
		if (!vr_addr_match(&ep->request.server, id->afonly, wanted))
			continue;
		/* An address of its own goes before any address. */
		if (!found || vr_addr_same(&ep->request.server, wanted))
			found = id;
	}
	if (found)
		found->add_ref(found);
	return found;
}

/* (4): it waits, with the reference that iw_cm would have got; false: it may not. */
static bool vr_early_wait(struct vr_ep *ep)
{
	unsigned long wait = msecs_to_jiffies(VR_EARLY_MS);
	struct vr_dev *d = ep->dev;

	lockdep_assert_held(&d->listen_lock);
	if (d->ending || ep->waited || d->earlies == VR_EARLY_MAX)
		return false;
	ep->waited = true;
	ep->until = jiffies + wait;
	list_add_tail(&ep->link, &d->early);
	d->earlies++;
	vr_count(d, VR_EARLY);
	queue_delayed_work(d->wq, &d->early_work, wait);
	return true;
}

/* Its listener is there, or its time is over. */
static void vr_early_ask(struct vr_ep *ep)
{
	lockdep_assert_held(&ep->dev->listen_lock);
	list_del_init(&ep->link);
	ep->dev->earlies--;
	vr_ep_asked(ep);
}

static void vr_early_work(struct work_struct *work)
{
	struct vr_dev *d = container_of(to_delayed_work(work), struct vr_dev,
					early_work);
	struct vr_ep *ep;
	long left;

	spin_lock_bh(&d->listen_lock);
	while ((ep = list_first_entry_or_null(&d->early, struct vr_ep, link))) {
		left = ep->until - jiffies;
		if (left > 0) {
			queue_delayed_work(d->wq, &d->early_work, left);
			break;
		}
		vr_early_ask(ep);
	}
	spin_unlock_bh(&d->listen_lock);
}

void vr_cm_init(struct vr_dev *d)
{
	spin_lock_init(&d->listen_lock);
	INIT_LIST_HEAD(&d->listeners);
	INIT_LIST_HEAD(&d->early);
	INIT_DELAYED_WORK(&d->early_work, vr_early_work);
}

void vr_cm_end(struct vr_dev *d)
{
	struct vr_ep *ep, *next;

	spin_lock_bh(&d->listen_lock);
	d->ending = true;
	list_for_each_entry_safe(ep, next, &d->early, link)
		vr_early_ask(ep);
	spin_unlock_bh(&d->listen_lock);
	cancel_delayed_work_sync(&d->early_work);
}

static int vr_tell_request(struct vr_ep *ep, struct iw_cm_id *id)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.ird = ep->request.ird,
		.ord = ep->request.ord,
		.private_data = ep->request.data,
		.private_data_len = ep->request.len,
	};

	return vr_ep_tell(ep, id, &event);
}

static void vr_ep_ask(struct vr_ep *ep)
{
	struct via_conn *conn = ep->conn;
	struct vr_dev *d = ep->dev;
	struct iw_cm_id *id = NULL;
	bool waits = false;

	if (!vr_request_parse(&ep->request, d, &conn->remote, &conn->local) &&
	    vr_addr_is_own(d, &ep->request.server)) {
		spin_lock_bh(&d->listen_lock);
		id = vr_find_listener(d, &ep->request.server);
		waits = !id && vr_early_wait(ep);
		spin_unlock_bh(&d->listen_lock);
	}
	if (waits)
		return;
	if (!id || vr_tell_request(ep, id)) {
		vr_count(d, VR_REFUSED);
		via_kernel_reject(d->file, conn, NULL, 0);
		/* What iw_cm would have got. */
		vr_ep_put(ep);
	}
	if (id)
		id->rem_ref(id);
}

int vr_iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct ib_qp *ib = vr_iw_get_qp(id->device, param->qpn);
	struct vr_ep *ep = id->provider_data;
	struct vr_answer answer = {
		.ird = vr_reads(param->ird),
		.ord = vr_reads(param->ord),
		.len = param->private_data_len,
	};
	int ret = -EINVAL;

	if (ib && param->private_data_len <= sizeof(answer.data)) {
		memcpy(answer.data, param->private_data,
		       param->private_data_len);
		ret = vr_ep_bind(ep, id, vr_qp_of(ib));
	}
	if (!ret) {
		vr_ep_arm(ep);
		ret = vr_begun(ep, vr_qp_of(ib),
			       via_kernel_accept(vr_qp_of(ib)->vi, ep->conn,
						 &answer,
						 offsetof(struct vr_answer,
							  data) + answer.len));
		if (ret)
			vr_ep_unbind(ep);
	}
	if (ret) {
		vr_count(ep->dev, VR_CONNECT_ERRORS);
		via_kernel_reject(ep->dev->file, ep->conn, NULL, 0);
	}
	/* iw_cm does not come back to it: it has events, or nothing. */
	id->provider_data = NULL;
	vr_ep_put(ep);
	return ret;
}

int vr_iw_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	struct vr_ep *ep = id->provider_data;
	struct vr_answer answer = {
		.len = min_t(u32, len, sizeof(answer.data)),
	};

	memcpy(answer.data, data, answer.len);
	vr_count(ep->dev, VR_REFUSED);
	via_kernel_reject(ep->dev->file, ep->conn, &answer,
			  offsetof(struct vr_answer, data) + answer.len);
	id->provider_data = NULL;
	vr_ep_put(ep);
	return 0;
}

/* Listeners --------------------------------------------------------------------------- */

int vr_iw_create_listen(struct iw_cm_id *id, int backlog)
{
	struct vr_dev *d = vr_dev_of(id->device);
	struct vr_ep *ep, *other, *next;
	int ret = 0;

	if (!vr_addr_may(d))
		return -EACCES;
	if (!vr_addr_is_own(d, &id->local_addr))
		return -EADDRNOTAVAIL;
	ep = vr_ep_new(d, GFP_KERNEL);
	if (!ep)
		return -ENOMEM;
	ep->request.server = id->local_addr;
	ep->id = id;
	spin_lock_bh(&d->listen_lock);
	list_for_each_entry(other, &d->listeners, link)
		if (vr_addr_same(&other->request.server, &ep->request.server))
			ret = -EADDRINUSE;
	if (!ret) {
		id->add_ref(id);
		id->provider_data = ep;
		list_add_tail(&ep->link, &d->listeners);
		list_for_each_entry_safe(other, next, &d->early, link)
			if (vr_addr_match(&ep->request.server, id->afonly,
					  &other->request.server))
				vr_early_ask(other);
	}
	spin_unlock_bh(&d->listen_lock);
	if (ret)
		vr_ep_put(ep);
	return ret;
}

int vr_iw_destroy_listen(struct iw_cm_id *id)
{
	struct vr_dev *d = vr_dev_of(id->device);
	struct vr_ep *ep = id->provider_data;

	if (!ep)
		return 0;
	spin_lock_bh(&d->listen_lock);
	list_del_init(&ep->link);
	spin_unlock_bh(&d->listen_lock);
	id->provider_data = NULL;
	id->rem_ref(id);
	vr_ep_put(ep);
	return 0;
}
