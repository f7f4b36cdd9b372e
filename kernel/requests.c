// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waiters, backlogs and requests, one by one, as an administrator is told.
 */

#include "request.h"

static bool via_told(const struct via_file *f, kuid_t uid)
{
	return !uid_valid(uid) || uid_eq(f->uid, uid);
}

bool via_waiter_next(struct via_nic *nic, kuid_t uid, u32 after,
		     struct via_conn_view *view)
{
	struct via_backlog *b;
	struct via_waiter *w;

	memset(view, 0, sizeof(*view));
	spin_lock_bh(&nic->conn.lock);
	w = via_waiter_from(nic, (u64)after + 1);
	while (w && (w->conn || !via_told(w->file, uid)))
		w = via_waiter_from(nic, (u64)w->id + 1);
	if (w) {
		view->file = w->file;
		view->id = w->id;
		view->local = w->local;
		if (w->keeps) {
			b = container_of(w, struct via_backlog, w);
			view->most = b->most;
			view->count = b->count;
		}
		via_file_get(view->file);
	}
	spin_unlock_bh(&nic->conn.lock);
	return w;
}

bool via_request_next(struct via_nic *nic, kuid_t uid, u32 after,
		      struct via_conn_view *view)
{
	struct via_conn *conn;

	memset(view, 0, sizeof(*view));
	spin_lock_bh(&nic->conn.lock);
	conn = via_conn_from(nic, (u64)after + 1);
	while (conn && !via_told(conn->file, uid))
		conn = via_conn_from(nic, (u64)conn->id + 1);
	if (conn) {
		view->file = conn->file;
		view->id = conn->id;
		view->local = conn->local;
		view->remote = conn->remote;
		via_file_get(view->file);
	}
	spin_unlock_bh(&nic->conn.lock);
	return conn;
}
