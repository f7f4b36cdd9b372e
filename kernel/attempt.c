// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ends of an attempt: joined, refused, over; and the request that it has on
 * this host.  Attempts begin in connect.c.
 */

#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "connect.h"
#include "kapi.h"
#include "ledger.h"
#include "vi.h"

static void via_conn_release(struct kref *ref)
{
	struct via_conn *conn = container_of(ref, struct via_conn, ref);

	if (conn->client)
		via_vi_put(conn->client);
	kfree(conn);
	atomic_long_inc(&via_gone.conns);
}

void via_conn_get(struct via_conn *conn)
{
	kref_get(&conn->ref);
}
EXPORT_SYMBOL_GPL(via_conn_get);

void via_conn_put(struct via_conn *conn)
{
	kref_put(&conn->ref, via_conn_release);
}
EXPORT_SYMBOL_GPL(via_conn_put);

struct via_conn *via_conn_alloc(struct via_nic *nic,
				const struct via_net_addr *local,
				const struct via_net_addr *remote,
				const struct via_vi_attrs *attrs,
				unsigned long deadline)
{
	struct via_conn *conn = kzalloc(sizeof(*conn), GFP_ATOMIC);

	if (!conn)
		return NULL;
	kref_init(&conn->ref);
	INIT_LIST_HEAD(&conn->link);
	INIT_LIST_HEAD(&conn->kept);
	via_order_node_init(&conn->by_id);
	conn->nic = nic;
	conn->local = *local;
	conn->remote = *remote;
	conn->attrs = *attrs;
	conn->deadline = deadline;
	atomic_long_inc(&via_made.conns);
	return conn;
}

void via_conn_forget(struct via_vi *vi, struct via_conn *conn)
{
	bool mine;

	via_vi_lock(vi);
	mine = vi->conn == conn;
	if (mine)
		vi->conn = NULL;
	via_vi_unlock(vi);
	if (mine)
		via_conn_put(conn);
}

void via_conn_make(struct via_vi *vi, const struct via_vi_attrs *attrs,
		   const struct via_transport_ops *xport,
		   struct via_vi *remote_vi)
{
	via_vi_assert_locked(vi);
	if (attrs)
		vi->remote_attrs = *attrs;
	vi->xport = xport;
	if (remote_vi) {
		kref_get(&remote_vi->ref);
		vi->remote_vi = remote_vi;
	}
	via_vi_judge(vi, VIA_R_SUCCESS);
	vi->connects++;
	via_vi_move(vi, VIA_EV_JOIN, NULL);
	wake_up_all(&vi->conn_wait);
}

bool via_conn_established(struct via_vi *vi, const struct via_vi_attrs *attrs)
{
	bool ok = via_vi_may(vi, VIA_EV_JOIN);

	if (ok)
		via_conn_make(vi, attrs, vi->nic->ops->transport, NULL);
	return ok;
}
EXPORT_SYMBOL_GPL(via_conn_established);

void via_conn_failed(struct via_vi *vi, enum via_verdict verdict)
{
	if (!via_vi_may(vi, VIA_EV_REFUSE))
		return;
	via_vi_judge(vi, verdict);
	via_vi_move(vi, VIA_EV_REFUSE, NULL);
	wake_up_all(&vi->conn_wait);
}
EXPORT_SYMBOL_GPL(via_conn_failed);

void via_conn_refuse(struct via_vi *vi, struct via_conn *conn,
		     enum via_verdict verdict)
{
	struct via_conn *own = NULL;

	via_vi_lock(vi);
	if (via_vi_may(vi, VIA_EV_REFUSE) && (!conn || vi->conn == conn)) {
		own = vi->conn;
		vi->conn = NULL;
		if (conn && conn->reply)
			via_conn_replied(vi, conn->reply);
		via_conn_failed(vi, verdict);
	}
	via_vi_unlock(vi);
	if (own)
		via_conn_put(own);
}

void via_conn_expire(struct via_vi *vi)
{
	const struct via_transport_ops *left;
	bool late;

	if (READ_ONCE(vi->state) != VIA_STATE_PENDING)
		return;
	via_vi_lock(vi);
	late = via_vi_may(vi, VIA_EV_EXPIRE) && via_conn_overdue(vi);
	if (late) {
		via_vi_judge(vi, VIA_R_TIMEOUT);
		via_vi_move(vi, VIA_EV_EXPIRE, &left);
	}
	via_vi_unlock(vi);
	if (late)
		via_vi_left(vi, left);
}
