// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Connection requests that reach this host, and those that wait for them.
 *
 * A server waits (struct via_waiter) before it has a VI.  A request that
 * finds a waiter becomes a struct via_conn: in nic->conn.conns until the program
 * accepts or rejects it, or the client gives up.  A server that listens (struct
 * via_backlog) has those kept that find no waiter, until it waits.
 *
 * Strangers send requests, and a NIC has thousands of waiters: they are found by a
 * table of their addresses.  What programs name, and what an administrator is told one
 * by one, is found by id.
 *
 *  1. nic->conn.lock guards all of it.  A request is answered without it.
 *  2. A waiter is in nic->conn.waiting until a request has matched it.  A sleeper
 *     frees its own; one that a signal left behind is freed by the end of its handle.
 *  3. A request in nic->conn.conns has a reference, an id and a place, and belongs to
 *     one handle.  Who takes it off has the reference, and answers it, once.
 *  4. A waiter has a place, and leaves it to the request that matched it.
 *  5. A request that its client has cancelled is dead: it is on no list, and none lists
 *     it again.
 *  6. One address of a NIC has one backlog.  A request that it keeps is listed, so that
 *     it has a place of its own: taking it from the backlog needs nothing.
 *
 *  from                    to                 function
 *                          waiter, asleep     via_waiter_new()
 *  waiter, asleep          matched            via_conn_offer()
 *  waiter, asleep          left behind        via_waiter_finish(), a signal
 *  waiter, left behind     asleep             via_waiter_find()
 *  matched                 listed             via_waiter_finish()
 *  request                 listed             via_conn_give(), a listener has it
 *  request                 listed, kept       via_backlog_offer()
 *  listed, kept            listed             via_backlog_take()
 *  listed                  taken              via_conn_take()
 *  taken                   listed             via_conn_untake()
 *  taken                   refused            via_conn_answer_no()
 *  any                     dead               via_conn_cancel(), its client
 *  any                     gone               via_conn_destroy_all(), the handle ends
 */

#include <linux/err.h>
#include <linux/export.h>
#include <linux/slab.h>
#include "connect.h"
#include "kapi.h"
#include "ledger.h"
#include "quota.h"
#include "request.h"
#include "vi.h"

/*
 * Waiters, backlogs and requests that were matched and not answered: each has a place,
 * of its user's, its NIC handle's and its NIC's.  A signal leaves a waiter
 * behind, and no program has to answer, so these are what bounds both lists.
 */
#define VIA_PLACES_FILE 1024
#define VIA_PLACES_NIC 4096

static struct via_table *via_waiter_table(const struct via_waiter *w)
{
	struct via_nic *nic = w->file->nic;

	return w->keeps ? &nic->conn.backlogs : &nic->conn.waiting;
}

static u32 via_waiter_hash(const struct via_table *t,
			   const struct via_net_addr *local)
{
	return via_table_hash(t, local->disc, local->disc_len);
}

static bool via_waiter_is(const struct via_table_node *n, const void *local)
{
	return via_disc_equal(&container_of(n, struct via_waiter, place)->local,
			      local);
}

struct via_conn *via_conn_incoming(struct via_nic *nic,
				   const struct via_net_addr *local,
				   const struct via_net_addr *remote,
				   const struct via_vi_attrs *attrs,
				   unsigned long timeout, const void *priv,
				   size_t priv_len)
{
	struct via_conn *conn;
	int ret;

	if (WARN_ON_ONCE(priv_len > VIA_CONN_PRIV))
		return ERR_PTR(-EINVAL);
	if (!via_addr_ok(local) || !via_addr_ok(remote))
		return ERR_PTR(-EINVAL);
	conn = via_conn_alloc(nic, local, remote, attrs, via_now() +
			      min_t(unsigned long, timeout, VIA_CONN_FOREVER));
	if (!conn)
		return ERR_PTR(-ENOMEM);
	if (priv_len)
		memcpy(conn->priv, priv, priv_len);
	ret = via_conn_offer(conn);
	if (ret) {
		via_conn_put(conn);
		return ERR_PTR(ret);
	}
	return conn;
}
EXPORT_SYMBOL_GPL(via_conn_incoming);

static bool via_place_free(const struct via_file *f)
{
	return f->places < VIA_PLACES_FILE &&
	       f->nic->conn.places < VIA_PLACES_NIC;
}

static void via_place_take(struct via_file *f)
{
	lockdep_assert_held(&f->nic->conn.lock);
	f->places++;
	f->nic->conn.places++;
}

static void via_place_give(struct via_file *f)
{
	lockdep_assert_held(&f->nic->conn.lock);
	f->places--;
	f->nic->conn.places--;
	via_quota_uncharge(f->quota, VIA_QUOTA_WAITERS, 1);
}

/* It is in nic->conn.conns, with its id.  nic->conn.lock held. */
static void via_conn_list(struct via_file *f, struct via_conn *conn)
{
	lockdep_assert_held(&f->nic->conn.lock);
	conn->file = f;
	list_add_tail(&conn->link, &f->conns);
	via_order_add(&f->nic->conn.conns, &conn->by_id, conn->id);
}

/* Never the one that an administrator or a program knows. */
static void via_conn_name(struct via_nic *nic, struct via_conn *conn)
{
	do {
		conn->id = ++nic->conn.id;
	} while (!conn->id);
}

/*
 * A request that a listener or a backlog takes: listed among the handle's, with an id
 * and a reference; false: there is no place.
 */
static bool via_conn_give(struct via_file *f, struct via_conn *conn)
{
	lockdep_assert_held(&f->nic->conn.lock);
	if (!via_place_free(f) ||
	    !via_quota_charge_any(f->quota, VIA_QUOTA_WAITERS, 1))
		return false;
	via_conn_get(conn);
	via_place_take(f);
	via_conn_name(f->nic, conn);
	via_conn_list(f, conn);
	return true;
}

static u32 via_listener_hash(const struct via_nic *nic, const u8 *disc)
{
	return via_table_hash(&nic->conn.listening, disc, VIA_LISTEN_BYTES);
}

static bool via_listener_is(const struct via_table_node *n, const void *disc)
{
	return !memcmp(container_of(n, struct via_listener, place)->disc, disc,
		       VIA_LISTEN_BYTES);
}

static struct via_listener *via_listener_find(const struct via_nic *nic,
					      const u8 *disc)
{
	struct via_table_node *n;

	lockdep_assert_held(&nic->conn.lock);
	n = via_table_find(&nic->conn.listening, via_listener_hash(nic, disc),
			   via_listener_is, disc);
	return n ? container_of(n, struct via_listener, place) : NULL;
}

int via_kernel_listen(struct via_file *f, struct via_listener *l)
{
	struct via_nic *nic = f->nic;
	int ret = -EADDRINUSE;

	via_table_node_init(&l->place);
	l->file = f;
	spin_lock_bh(&nic->conn.lock);
	if (!via_listener_find(nic, l->disc)) {
		via_table_add(&nic->conn.listening, &l->place,
			      via_listener_hash(nic, l->disc), via_listener_is,
			      l->disc);
		nic->conn.listeners++;
		ret = 0;
	}
	spin_unlock_bh(&nic->conn.lock);
	return ret;
}
EXPORT_SYMBOL_GPL(via_kernel_listen);

void via_kernel_unlisten(struct via_listener *l)
{
	struct via_nic *nic = l->file->nic;

	spin_lock_bh(&nic->conn.lock);
	via_table_del(&nic->conn.listening, &l->place);
	nic->conn.listeners--;
	spin_unlock_bh(&nic->conn.lock);
}
EXPORT_SYMBOL_GPL(via_kernel_unlisten);

/* To the listener that takes it, with an id and a place among the requests. */
static bool via_kernel_offer(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	struct via_listener *l;

	lockdep_assert_held(&nic->conn.lock);
	if (likely(!nic->conn.listeners) ||
	    conn->local.disc_len < VIA_LISTEN_BYTES)
		return false;
	l = via_listener_find(nic, conn->local.disc);
	if (!l || READ_ONCE(l->file->dead) || !via_conn_give(l->file, conn))
		return false;
	l->asked(l, conn);
	return true;
}

static struct via_backlog *via_backlog_find(const struct via_nic *nic,
					    const struct via_net_addr *local)
{
	const struct via_table *t = &nic->conn.backlogs;
	struct via_table_node *n;

	lockdep_assert_held(&nic->conn.lock);
	n = via_table_find(t, via_waiter_hash(t, local), via_waiter_is, local);
	return n ? container_of(n, struct via_backlog, w.place) : NULL;
}

/* To the backlog that has room for it; its program is told. */
static bool via_backlog_offer(struct via_conn *conn)
{
	struct via_backlog *b = via_backlog_find(conn->nic, &conn->local);

	if (!b || b->count >= b->most || !via_conn_give(b->w.file, conn))
		return false;
	conn->backlog = b;
	list_add_tail(&conn->kept, &b->kept);
	b->count++;
	via_events_notice(&b->w.file->events, &b->notice);
	return true;
}

static void via_backlog_drop(struct via_conn *conn)
{
	lockdep_assert_held(&conn->nic->conn.lock);
	list_del_init(&conn->kept);
	conn->backlog->count--;
	conn->backlog = NULL;
}

int via_conn_offer(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	u32 hash = via_waiter_hash(&nic->conn.waiting, &conn->local);
	bool kept = false;
	struct via_table_node *n;
	struct via_waiter *w;

	spin_lock_bh(&nic->conn.lock);
	/* (5): cancelled before it was offered: its client has its verdict. */
	if (conn->dead) {
		spin_unlock_bh(&nic->conn.lock);
		return 0;
	}
	if (via_kernel_offer(conn)) {
		spin_unlock_bh(&nic->conn.lock);
		return 0;
	}
	n = via_table_find(&nic->conn.waiting, hash, via_waiter_is,
			   &conn->local);
	if (n) {
		via_table_del(&nic->conn.waiting, n);
		w = container_of(n, struct via_waiter, place);
		via_conn_get(conn);
		w->conn = conn;
		wake_up_all(&w->wait);
	} else {
		kept = via_backlog_offer(conn);
	}
	spin_unlock_bh(&nic->conn.lock);
	return n || kept ? 0 : -ENOENT;
}

/*
 * Out of nic->conn.conns, or off the list of a dying handle, where it has no place
 * any more: its reference is the caller's then.
 */
static bool via_conn_unlist(struct via_conn *conn)
{
	if (list_empty(&conn->link))
		return false;
	list_del_init(&conn->link);
	via_order_del(&conn->nic->conn.conns, &conn->by_id);
	if (conn->backlog)
		via_backlog_drop(conn);
	if (conn->file)
		via_place_give(conn->file);
	conn->file = NULL;
	return true;
}

void via_conn_cancel(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	bool listed;

	spin_lock_bh(&nic->conn.lock);
	conn->dead = true;
	listed = via_conn_unlist(conn);
	spin_unlock_bh(&nic->conn.lock);
	if (listed)
		via_conn_put(conn);
}
EXPORT_SYMBOL_GPL(via_conn_cancel);

struct via_conn *via_conn_take(struct via_file *f, u32 id)
{
	struct via_nic *nic = f->nic;
	struct via_conn *conn;

	spin_lock_bh(&nic->conn.lock);
	conn = via_conn_from(nic, id);
	if (conn && conn->id == id && conn->file == f)
		via_conn_unlist(conn);
	else
		conn = NULL;
	spin_unlock_bh(&nic->conn.lock);
	return conn;
}

bool via_conn_untake(struct via_file *f, struct via_conn *conn)
{
	bool dead;

	spin_lock_bh(&f->nic->conn.lock);
	dead = conn->dead;
	if (!dead) {
		/* Free or not: one at a time comes back, under f->mutex. */
		via_quota_charge_again(f->quota, VIA_QUOTA_WAITERS, 1);
		via_place_take(f);
		via_conn_list(f, conn);
	}
	spin_unlock_bh(&f->nic->conn.lock);
	return !dead;
}

static void via_conn_answer_no(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	int idx;

	if (conn->client) {
		via_conn_refuse(conn->client, conn, VIA_R_REJECT);
	} else if (nic->ops->reject && via_nic_enter(nic, &idx)) {
		nic->ops->reject(conn);
		via_nic_leave(nic, idx);
	}
	via_conn_put(conn);
}

/* Each is to be on no list but this one, under nic->conn.lock. */
static void via_conns_refuse(struct via_nic *nic, struct list_head *conns)
{
	struct via_conn *conn;

	/* (3): via_conn_cancel() may take one off meanwhile: one at a time. */
	for (;;) {
		spin_lock_bh(&nic->conn.lock);
		conn = list_first_entry_or_null(conns, struct via_conn, link);
		if (conn)
			list_del_init(&conn->link);
		spin_unlock_bh(&nic->conn.lock);
		if (!conn)
			break;
		via_conn_answer_no(conn);
	}
}

/* The backlog of the handle itself, or NULL. */
static struct via_backlog *via_backlog_own(const struct via_file *f,
					   const struct via_net_addr *local)
{
	struct via_backlog *b = via_backlog_find(f->nic, local);

	return b && b->w.file == f ? b : NULL;
}

/*
 * What a wait finds without a waiter: 0 and the oldest request that is kept;
 * VIA_R_TIMEOUT; or -EAGAIN: it needs a waiter.
 */
static int via_backlog_take(struct via_file *f, struct via_conn_wait *arg)
{
	struct via_nic *nic = f->nic;
	int ret = -EAGAIN;
	struct via_backlog *b;
	struct via_conn *conn;

	if (arg->waiter || READ_ONCE(nic->dead))
		return ret;
	spin_lock_bh(&nic->conn.lock);
	b = via_backlog_own(f, &arg->local);
	if (b && b->count) {
		conn = list_first_entry(&b->kept, struct via_conn, kept);
		via_backlog_drop(conn);
		arg->conn = conn->id;
		arg->remote = conn->remote;
		arg->attrs = conn->attrs;
		ret = 0;
	} else if (b && !arg->timeout) {
		ret = VIA_R_TIMEOUT;
	}
	spin_unlock_bh(&nic->conn.lock);
	return ret;
}

/* It is found from now on: it has a place, an id and is its handle's. */
static void via_waiter_list(struct via_waiter *w)
{
	struct via_table *t = via_waiter_table(w);
	struct via_nic *nic = w->file->nic;

	lockdep_assert_held(&nic->conn.lock);
	via_place_take(w->file);
	do {
		w->id = ++nic->conn.waiter_id;
	} while (!w->id);
	via_order_add(&nic->conn.waiters, &w->by_id, w->id);
	via_table_add(t, &w->place, via_waiter_hash(t, &w->local),
		      via_waiter_is, &w->local);
	list_add_tail(&w->own, &w->file->waiters);
}

static void via_waiter_init(struct via_waiter *w, struct via_file *f,
			    const struct via_net_addr *local)
{
	init_waitqueue_head(&w->wait);
	via_table_node_init(&w->place);
	via_order_node_init(&w->by_id);
	w->file = f;
	w->local = *local;
	w->busy = true;
}

/* NULL: no memory, or no place; ERR_PTR(-EAGAIN): a request was kept meanwhile. */
static struct via_waiter *via_waiter_new(struct via_file *f,
					 const struct via_net_addr *local)
{
	struct via_backlog *b;
	bool kept;
	struct via_nic *nic = f->nic;
	struct via_waiter *w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);

	if (!w)
		return NULL;
	if (!via_quota_charge(f->quota, VIA_QUOTA_WAITERS, 1)) {
		kfree(w);
		return NULL;
	}
	via_waiter_init(w, f, local);
	spin_lock_bh(&nic->conn.lock);
	b = via_backlog_own(f, local);
	kept = b && b->count;
	if (kept || !via_place_free(f)) {
		spin_unlock_bh(&nic->conn.lock);
		via_quota_uncharge(f->quota, VIA_QUOTA_WAITERS, 1);
		kfree(w);
		return kept ? ERR_PTR(-EAGAIN) : NULL;
	}
	via_waiter_list(w);
	spin_unlock_bh(&nic->conn.lock);
	return w;
}

/* Go on with a wait that a signal broke. */
static struct via_waiter *via_waiter_find(struct via_file *f, u32 id)
{
	struct via_waiter *w;

	spin_lock_bh(&f->nic->conn.lock);
	w = via_waiter_from(f->nic, id);
	if (w && w->id == id && w->file == f && !w->busy)
		w->busy = true;
	else
		w = NULL;
	spin_unlock_bh(&f->nic->conn.lock);
	return w;
}

/* No request, and no administrator, finds it.  nic->conn.lock held. */
static void via_waiter_unlist(struct via_waiter *w)
{
	struct via_nic *nic = w->file->nic;

	lockdep_assert_held(&nic->conn.lock);
	via_table_del(via_waiter_table(w), &w->place);
	via_order_del(&nic->conn.waiters, &w->by_id);
}

/* Requests beyond @most leave it, the newest ones, for @conns. */
static void via_backlog_limit(struct via_backlog *b, u32 most,
			      struct list_head *conns)
{
	struct via_conn *conn;

	lockdep_assert_held(&b->w.file->nic->conn.lock);
	b->most = most;
	while (b->count > most) {
		conn = list_last_entry(&b->kept, struct via_conn, kept);
		via_conn_unlist(conn);
		list_add(&conn->link, conns);
	}
}

/* The end of it; its requests are on @conns. */
static void via_backlog_free(struct via_backlog *b, struct list_head *conns)
{
	struct via_file *f = b->w.file;

	via_backlog_limit(b, 0, conns);
	via_waiter_unlist(&b->w);
	list_del(&b->w.own);
	via_events_forget(&f->events, &b->notice);
	via_place_give(f);
	kfree(b);
}

static int via_backlog_new(struct via_file *f, const struct via_net_addr *local,
			   u32 most)
{
	struct via_backlog *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	struct via_nic *nic = f->nic;
	bool ok;

	if (!b)
		return VIA_R_ERROR_RESOURCE;
	if (!via_quota_charge(f->quota, VIA_QUOTA_WAITERS, 1)) {
		kfree(b);
		return VIA_R_ERROR_RESOURCE;
	}
	via_waiter_init(&b->w, f, local);
	b->w.keeps = true;
	b->most = most;
	INIT_LIST_HEAD(&b->kept);
	b->notice.code = VIA_EVENT_CONN;
	spin_lock_bh(&nic->conn.lock);
	ok = via_place_free(f) && !via_backlog_find(nic, local);
	if (ok)
		via_waiter_list(&b->w);
	spin_unlock_bh(&nic->conn.lock);
	if (ok)
		return 0;
	via_quota_uncharge(f->quota, VIA_QUOTA_WAITERS, 1);
	kfree(b);
	return VIA_R_ERROR_RESOURCE;
}

int via_conn_listen(struct via_file *f, const struct via_conn_listen *arg)
{
	u32 most = min_t(u32, arg->backlog, VIA_BACKLOG_MAX);
	struct via_nic *nic = f->nic;
	struct via_backlog *b;
	LIST_HEAD(conns);

	lockdep_assert_held(&f->mutex);
	if (!via_addr_is_here(nic, &arg->local))
		return VIA_R_INVALID_PARAMETER;
	/* The handle's own comes and goes under its mutex alone. */
	spin_lock_bh(&nic->conn.lock);
	b = via_backlog_own(f, &arg->local);
	if (b && most)
		via_backlog_limit(b, most, &conns);
	else if (b)
		via_backlog_free(b, &conns);
	spin_unlock_bh(&nic->conn.lock);
	via_conns_refuse(nic, &conns);
	return b || !most ? 0 : via_backlog_new(f, &arg->local, most);
}

/*
 * The sleep is over.  Returns the verdict; unless a signal broke it, the
 * waiter is gone and a request that matched is in nic->conn.conns.
 */
static int via_waiter_finish(struct via_file *f, struct via_waiter *w,
			     long left, struct via_conn_wait *arg)
{
	struct via_nic *nic = f->nic;
	struct via_conn *conn;
	bool dead;

	spin_lock_bh(&nic->conn.lock);
	/* Set before the teardown takes conn_lock: it finds what we list. */
	dead = READ_ONCE(f->dead) || READ_ONCE(nic->dead);
	conn = w->conn;
	if (!conn && left < 0 && !dead) {
		w->busy = false;
		arg->waiter = w->id;
		spin_unlock_bh(&nic->conn.lock);
		return -EINTR;
	}
	via_waiter_unlist(w);
	list_del(&w->own);
	if (conn && !dead) {
		via_conn_name(nic, conn);
		/* (4): reference and place move from the waiter to the request. */
		via_conn_list(f, conn);
		arg->conn = conn->id;
		arg->remote = conn->remote;
		arg->attrs = conn->attrs;
	} else {
		via_place_give(f);
	}
	spin_unlock_bh(&nic->conn.lock);
	kfree(w);
	if (!dead)
		return conn ? 0 : VIA_R_TIMEOUT;
	if (conn)
		via_conn_answer_no(conn);
	return -ESHUTDOWN;
}

static bool via_waiter_woken(const struct via_file *f,
			     const struct via_waiter *w)
{
	return READ_ONCE(w->conn) || READ_ONCE(f->dead) ||
	       READ_ONCE(f->nic->dead);
}

/*
 * Not in jiffies: where a virtual CPU was not run for a while they are late,
 * catch up at once, and a wait counted in them is shorter than asked.
 */
static long via_waiter_sleep(struct via_file *f, struct via_waiter *w, u64 ns)
{
	ktime_t limit = ns_to_ktime(min_t(u64, ns, KTIME_MAX));
	int ret = wait_event_interruptible_hrtimeout(w->wait,
						     via_waiter_woken(f, w),
						     limit);

	return ret == -ETIME ? 0 : ret ? ret : 1;
}

/* The waiter of a call, a new one or one that a signal left; or as that says. */
static struct via_waiter *via_waiter_get(struct via_file *f,
					 const struct via_conn_wait *arg)
{
	struct via_waiter *w;

	/* Under the mutex, so that a teardown finds every waiter. */
	mutex_lock(&f->mutex);
	if (f->dead || READ_ONCE(f->ending) || f->nic->dead)
		w = ERR_PTR(-ESHUTDOWN);
	else
		w = arg->waiter ? via_waiter_find(f, arg->waiter) :
				  via_waiter_new(f, &arg->local);
	via_file_unlock(f);
	return w;
}

int via_conn_wait(struct via_file *f, struct via_conn_wait *arg)
{
	struct via_nic *nic = f->nic;
	struct via_waiter *w;
	long left;
	int ret;

	if (!via_addr_is_here(nic, &arg->local))
		return VIA_R_INVALID_PARAMETER;

	do {
		ret = via_backlog_take(f, arg);
		if (ret != -EAGAIN)
			return ret;
		w = via_waiter_get(f, arg);
	} while (w == ERR_PTR(-EAGAIN));
	if (IS_ERR(w))
		return PTR_ERR(w);
	if (!w)
		return arg->waiter ? VIA_R_INVALID_PARAMETER :
				     VIA_R_ERROR_RESOURCE;

	left = via_waiter_sleep(f, w, arg->timeout);
	return via_waiter_finish(f, w, left, arg);
}

int via_conn_reject(struct via_file *f, u32 id)
{
	struct via_conn *conn = via_conn_take(f, id);

	if (!conn)
		return VIA_R_INVALID_PARAMETER;
	via_conn_answer_no(conn);
	return 0;
}

void via_conn_nic_gone(struct via_nic *nic)
{
	struct via_order_node *n;

	/* One that comes later sees dead before it sleeps. */
	spin_lock_bh(&nic->conn.lock);
	for (n = via_order_first(&nic->conn.waiters); n; n = via_order_next(n))
		wake_up_all(&container_of(n, struct via_waiter, by_id)->wait);
	spin_unlock_bh(&nic->conn.lock);
}

void via_conn_destroy_all(struct via_file *f)
{
	struct via_nic *nic = f->nic;
	struct via_conn *conn, *n;
	struct via_waiter *w, *m;
	LIST_HEAD(conns);

	lockdep_assert_held(&f->mutex);
	spin_lock_bh(&nic->conn.lock);
	list_for_each_entry_safe(w, m, &f->waiters, own) {
		if (w->keeps) {
			via_backlog_free(container_of(w, struct via_backlog, w),
					 &conns);
			continue;
		}
		/* (2): no request finds it any more; a sleeper frees its own. */
		via_waiter_unlist(w);
		if (w->busy) {
			wake_up_all(&w->wait);
			continue;
		}
		list_del(&w->own);
		if (w->conn)
			list_add(&w->conn->link, &conns);
		kfree(w);
		via_place_give(f);
	}
	list_for_each_entry_safe(conn, n, &f->conns, link)
		if (via_conn_unlist(conn))
			list_add(&conn->link, &conns);
	spin_unlock_bh(&nic->conn.lock);
	via_conns_refuse(nic, &conns);
}
