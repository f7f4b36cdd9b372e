// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: waiters, requests, verdicts.  What is common to all networks;
 * frames are the device's, VIs of one host are loop.c's.
 *
 * A server waits (struct via_waiter) before it has a VI.  A request that
 * finds a waiter becomes a struct via_conn: on nic->conns until the program
 * accepts or rejects it, or the client gives up.  A VI's own attempt lives in
 * the VI: state Pending, verdict NOT_DONE, until it is joined or refused, or
 * its deadline or a disconnect ends it.  Peer to peer is in peer.c.
 */

#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "connect.h"
#include "loop.h"
#include "peer.h"
#include "stats.h"
#include "vi.h"

/*
 * Waiters and requests that were matched and not answered: each has a place,
 * of its NIC handle's and of its NIC's.  A signal leaves a waiter behind, and
 * nobody has to answer, so these are what bounds both lists.
 */
#define VIA_PLACES_FILE 1024
#define VIA_PLACES_NIC 4096

/**
 * struct via_waiter - a program in VipConnectWait
 * @link:	nic->conn_lock: on nic->waiters until matched
 * @own:	nic->conn_lock: on file->waiters
 * @id:		constant
 * @busy:	nic->conn_lock: a thread sleeps on it
 * @local:	constant: address waited on
 * @conn:	nic->conn_lock: the request that matched
 * @wait:	the sleeper
 */
struct via_waiter {
	struct list_head link;
	struct list_head own;
	u32 id;
	bool busy;
	struct via_net_addr local;
	struct via_conn *conn;
	wait_queue_head_t wait;
};

static void via_conn_release(struct kref *ref)
{
	struct via_conn *conn = container_of(ref, struct via_conn, ref);

	if (conn->client)
		via_vi_put(conn->client);
	else if (conn->nic->ops->conn_free)
		conn->nic->ops->conn_free(conn);
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

/*
 * A wait may be longer than asked, never shorter: round up, and the tick that
 * runs already does not count.  ns is not 0.
 */
static unsigned long via_conn_timeout(u64 ns)
{
	if (ns == VIA_FOREVER)
		return VIA_CONN_FOREVER;
	return min_t(u64, nsecs_to_jiffies64(ns - 1) + 2, VIA_CONN_FOREVER);
}

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
	conn->nic = nic;
	conn->local = *local;
	conn->remote = *remote;
	conn->attrs = *attrs;
	conn->deadline = deadline;
	atomic_long_inc(&via_made.conns);
	return conn;
}

int via_conn_offer(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	struct via_waiter *w;
	int ret = -ENOENT;

	spin_lock_bh(&nic->conn_lock);
	list_for_each_entry(w, &nic->waiters, link) {
		if (!via_disc_equal(&w->local, &conn->local))
			continue;
		list_del_init(&w->link);
		via_conn_get(conn);
		w->conn = conn;
		wake_up_all(&w->wait);
		ret = 0;
		break;
	}
	spin_unlock_bh(&nic->conn_lock);
	return ret;
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
	return f->places < VIA_PLACES_FILE && f->nic->places < VIA_PLACES_NIC;
}

static void via_place_take(struct via_file *f)
{
	lockdep_assert_held(&f->nic->conn_lock);
	f->places++;
	f->nic->places++;
}

static void via_place_give(struct via_file *f)
{
	lockdep_assert_held(&f->nic->conn_lock);
	f->places--;
	f->nic->places--;
}

/*
 * Off nic->conns, or off the list of a dying handle, where it has no place
 * any more: its reference is the caller's then.
 */
static bool via_conn_unlist(struct via_conn *conn)
{
	if (list_empty(&conn->link))
		return false;
	list_del_init(&conn->link);
	if (conn->file)
		via_place_give(conn->file);
	conn->file = NULL;
	return true;
}

void via_conn_cancel(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	bool listed;

	spin_lock_bh(&nic->conn_lock);
	conn->dead = true;
	listed = via_conn_unlist(conn);
	spin_unlock_bh(&nic->conn_lock);
	if (listed)
		via_conn_put(conn);
}
EXPORT_SYMBOL_GPL(via_conn_cancel);

/* The program's request by id, taken off the list: ours to answer. */
static struct via_conn *via_conn_take(struct via_file *f, u32 id)
{
	struct via_nic *nic = f->nic;
	struct via_conn *conn, *found = NULL;

	spin_lock_bh(&nic->conn_lock);
	list_for_each_entry(conn, &nic->conns, link) {
		if (conn->id != id || conn->file != f)
			continue;
		via_conn_unlist(conn);
		found = conn;
		break;
	}
	spin_unlock_bh(&nic->conn_lock);
	return found;
}

/* Not answered after all; false when the client gave up meanwhile. */
static bool via_conn_untake(struct via_file *f, struct via_conn *conn)
{
	bool dead;

	spin_lock_bh(&f->nic->conn_lock);
	dead = conn->dead;
	if (!dead) {
		/* Free or not: one at a time comes back, under f->mutex. */
		via_place_take(f);
		conn->file = f;
		list_add(&conn->link, &f->nic->conns);
	}
	spin_unlock_bh(&f->nic->conn_lock);
	return !dead;
}

static void via_conn_answer_no(struct via_conn *conn)
{
	if (conn->client)
		via_loop_reject(conn);
	else if (!READ_ONCE(conn->nic->dead) && conn->nic->ops->reject)
		conn->nic->ops->reject(conn);
	via_conn_put(conn);
}

static struct via_waiter *via_waiter_new(struct via_file *f,
					 const struct via_net_addr *local)
{
	struct via_nic *nic = f->nic;
	struct via_waiter *w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);

	if (!w)
		return NULL;
	init_waitqueue_head(&w->wait);
	w->local = *local;
	w->busy = true;
	spin_lock_bh(&nic->conn_lock);
	if (!via_place_free(f)) {
		spin_unlock_bh(&nic->conn_lock);
		kfree(w);
		return NULL;
	}
	via_place_take(f);
	do {
		w->id = ++nic->waiter_id;
	} while (!w->id);
	list_add_tail(&w->link, &nic->waiters);
	list_add_tail(&w->own, &f->waiters);
	spin_unlock_bh(&nic->conn_lock);
	return w;
}

/* Go on with a wait that a signal broke. */
static struct via_waiter *via_waiter_find(struct via_file *f, u32 id)
{
	struct via_waiter *w, *found = NULL;

	spin_lock_bh(&f->nic->conn_lock);
	list_for_each_entry(w, &f->waiters, own) {
		if (w->id == id && !w->busy) {
			w->busy = true;
			found = w;
			break;
		}
	}
	spin_unlock_bh(&f->nic->conn_lock);
	return found;
}

/*
 * The sleep is over.  Returns the verdict; unless a signal broke it, the
 * waiter is gone and a request that matched is on nic->conns.
 */
static int via_waiter_finish(struct via_file *f, struct via_waiter *w,
			     long left, struct via_conn_wait *arg)
{
	struct via_nic *nic = f->nic;
	struct via_conn *conn;
	bool dead;

	spin_lock_bh(&nic->conn_lock);
	/* Set before the teardown takes conn_lock: it finds what we list. */
	dead = READ_ONCE(f->dead) || READ_ONCE(nic->dead);
	conn = w->conn;
	if (!conn && left < 0 && !dead) {
		w->busy = false;
		arg->waiter = w->id;
		spin_unlock_bh(&nic->conn_lock);
		return -EINTR;
	}
	list_del(&w->link);
	list_del(&w->own);
	if (conn && !dead) {
		do {
			conn->id = ++nic->conn_id;
		} while (!conn->id);
		conn->file = f;
		/* Reference and place move from the waiter to the list. */
		list_add_tail(&conn->link, &nic->conns);
		arg->conn = conn->id;
		arg->remote = conn->remote;
		arg->attrs = conn->attrs;
	} else {
		via_place_give(f);
	}
	spin_unlock_bh(&nic->conn_lock);
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

int via_conn_wait(struct via_file *f, struct via_conn_wait *arg)
{
	struct via_nic *nic = f->nic;
	struct via_waiter *w;
	long left;

	if (!via_addr_ok(&arg->local))
		return VIA_R_INVALID_PARAMETER;
	if (arg->local.host_len && !via_addr_is_own(nic, &arg->local))
		return VIA_R_INVALID_PARAMETER;

	/* Under the mutex, so that a teardown finds every waiter. */
	mutex_lock(&f->mutex);
	if (f->dead || nic->dead)
		w = ERR_PTR(-ESHUTDOWN);
	else
		w = arg->waiter ? via_waiter_find(f, arg->waiter) :
				  via_waiter_new(f, &arg->local);
	mutex_unlock(&f->mutex);
	if (IS_ERR(w))
		return PTR_ERR(w);
	if (!w)
		return arg->waiter ? VIA_R_INVALID_PARAMETER :
				     VIA_R_ERROR_RESOURCE;

	left = via_waiter_sleep(f, w, arg->timeout);
	return via_waiter_finish(f, w, left, arg);
}

int via_attrs_compare(const struct via_vi_attrs *a,
		      const struct via_vi_attrs *b)
{
	if (a->reliability != b->reliability)
		return VIA_R_INVALID_RELIABILITY_LEVEL;
	if (a->max_transfer != b->max_transfer)
		return VIA_R_INVALID_MTU;
	return 0;
}
EXPORT_SYMBOL_GPL(via_attrs_compare);

/**
 * struct via_attempt - what a VI is to try
 * @local:	own address
 * @remote:	the peer's
 * @attrs:	the peer's VI where it is known already, else NULL
 * @deadline:	via_now()
 * @forever:	no deadline
 * @own:	the peer is on this host
 * @p2p:	peer to peer
 */
struct via_attempt {
	const struct via_net_addr *local;
	const struct via_net_addr *remote;
	const struct via_vi_attrs *attrs;
	unsigned long deadline;
	bool forever;
	bool own;
	bool p2p;
};

/* Idle to Pending; file->mutex held. */
static bool via_conn_begin(struct via_vi *vi, const struct via_attempt *a)
{
	bool ok;

	lockdep_assert_held(&vi->file->mutex);
	/* What is over but was not asked about stands in nobody's way. */
	via_conn_expire(vi);
	via_peer_unlist(vi);
	/* Nor what another thread has begun to leave and not finished. */
	via_loop_transport.disconnected(vi);

	via_vi_lock(vi);
	ok = via_vi_may(vi, VIA_EV_BEGIN);
	if (ok) {
		vi->local = *a->local;
		vi->remote = *a->remote;
		if (a->attrs)
			vi->remote_attrs = *a->attrs;
		vi->deadline = a->deadline;
		vi->forever = a->forever;
		vi->p2p = a->p2p;
		vi->attempt++;
		vi->verdict = VIA_R_NOT_DONE;
		vi->broken = 0;
		vi->xport = a->own ? &via_loop_transport :
				     vi->nic->ops->transport;
		via_vi_move(vi, VIA_EV_BEGIN, NULL);
	}
	via_vi_unlock(vi);
	return ok;
}

int via_conn_accept(struct via_file *f, const struct via_conn_accept *arg)
{
	struct via_attempt attempt = {};
	struct via_conn *conn;
	struct via_vi *vi;
	int ret;

	lockdep_assert_held(&f->mutex);
	vi = via_vi_get(f, arg->vi);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	conn = via_conn_take(f, arg->conn);
	ret = VIA_R_INVALID_PARAMETER;
	if (!conn)
		goto out_vi;
	if (time_after_eq(via_now(), conn->deadline)) {
		/*
		 * It hears nothing of us: its own clock, which may be a tick
		 * behind ours, says TIMEOUT, and nobody has rejected it.
		 */
		via_conn_put(conn);
		ret = VIA_R_TIMEOUT;
		goto out_vi;
	}
	attempt.local = &conn->local;
	attempt.remote = &conn->remote;
	attempt.attrs = &conn->attrs;
	attempt.deadline = conn->deadline;
	attempt.own = conn->client;
	ret = via_attrs_compare(&vi->attrs, &conn->attrs);
	if (!ret && !via_conn_begin(vi, &attempt))
		ret = VIA_R_INVALID_STATE;
	if (ret) {
		/* The client knows nothing yet: the server may try again. */
		if (!via_conn_untake(f, conn)) {
			via_conn_put(conn);
			ret = VIA_R_TIMEOUT;
		}
		goto out_vi;
	}
	if (READ_ONCE(conn->dead))
		ret = VIA_R_TIMEOUT;
	else if (conn->client)
		ret = via_loop_accept(conn, vi);
	else
		ret = f->nic->ops->accept(conn, vi);
	if (ret)
		via_conn_refuse(vi, NULL, ret);
	via_conn_put(conn);
	/* The verdict, if there is one already, is fetched by CONN_RESULT. */
	ret = 0;
out_vi:
	via_vi_put(vi);
	return ret;
}

int via_conn_reject(struct via_file *f, u32 id)
{
	struct via_conn *conn = via_conn_take(f, id);

	if (!conn)
		return VIA_R_INVALID_PARAMETER;
	via_conn_answer_no(conn);
	return 0;
}

int via_conn_start(struct via_file *f, const struct via_conn_request *arg,
		   bool p2p, struct via_vi **vi, bool *own)
{
	struct via_net_addr local = arg->local;
	struct via_nic *nic = f->nic;
	struct via_attempt attempt = {
		.local = &local,
		.remote = &arg->remote,
		.forever = arg->timeout == VIA_FOREVER,
		.own = via_addr_is_own(nic, &arg->remote),
		.p2p = p2p,
	};

	lockdep_assert_held(&f->mutex);
	if (!arg->timeout || !via_addr_ok(&local) ||
	    !via_addr_ok(&arg->remote) ||
	    arg->remote.host_len != nic->addr_len)
		return VIA_R_INVALID_PARAMETER;
	/* What the peer is told: the address frames will come from. */
	local.host_len = nic->addr_len;
	memcpy(local.host, nic->addr, nic->addr_len);

	*vi = via_vi_get(f, arg->vi);
	if (!*vi)
		return VIA_R_INVALID_PARAMETER;
	attempt.deadline = via_now() + via_conn_timeout(arg->timeout);
	if (!via_conn_begin(*vi, &attempt)) {
		via_vi_put(*vi);
		return VIA_R_INVALID_STATE;
	}
	*own = attempt.own;
	return 0;
}

int via_conn_request(struct via_file *f, const struct via_conn_request *arg)
{
	struct via_nic *nic = f->nic;
	struct via_vi *vi;
	bool own;
	int ret;

	ret = via_conn_start(f, arg, false, &vi, &own);
	if (ret)
		return ret;
	if (own)
		ret = via_loop_connect(vi);
	else if (nic->ops->connect)
		ret = nic->ops->connect(vi);
	else
		ret = VIA_R_NOT_REACHABLE;
	if (ret)
		via_conn_refuse(vi, NULL, ret);
	via_vi_put(vi);
	return 0;
}

void via_conn_forget(struct via_vi *vi)
{
	struct via_conn *conn;

	via_vi_lock(vi);
	conn = vi->conn;
	vi->conn = NULL;
	via_vi_unlock(vi);
	if (conn)
		via_conn_put(conn);
}

void via_conn_make(struct via_vi *vi, const struct via_vi_attrs *attrs,
		   const struct via_transport_ops *xport, struct via_vi *peer)
{
	via_vi_assert_locked(vi);
	if (attrs)
		vi->remote_attrs = *attrs;
	vi->xport = xport;
	if (peer) {
		kref_get(&peer->ref);
		vi->peer = peer;
	}
	vi->verdict = VIA_R_SUCCESS;
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

void via_conn_failed(struct via_vi *vi, u32 verdict)
{
	if (!via_vi_may(vi, VIA_EV_REFUSE))
		return;
	vi->verdict = verdict;
	via_vi_move(vi, VIA_EV_REFUSE, NULL);
	wake_up_all(&vi->conn_wait);
}
EXPORT_SYMBOL_GPL(via_conn_failed);

void via_conn_refuse(struct via_vi *vi, struct via_conn *conn, u32 verdict)
{
	struct via_conn *own = NULL;

	via_vi_lock(vi);
	if (via_vi_may(vi, VIA_EV_REFUSE) && (!conn || vi->conn == conn)) {
		own = vi->conn;
		vi->conn = NULL;
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
		vi->verdict = VIA_R_TIMEOUT;
		via_vi_move(vi, VIA_EV_EXPIRE, &left);
	}
	via_vi_unlock(vi);
	if (late)
		via_vi_left(vi, left);
}

/*
 * Take the verdict of an attempt, once.  Another attempt's, or that of the
 * other kind, is not ours to take.
 */
static int via_conn_fetch(struct via_vi *vi, u32 attempt,
			  struct via_conn_result *arg)
{
	u32 ret = VIA_VERDICT_NONE;

	via_vi_lock(vi);
	if (vi->attempt == attempt &&
	    vi->p2p == !!(arg->flags & VIA_CONN_PEER)) {
		ret = vi->verdict;
		if (ret == VIA_R_SUCCESS)
			arg->attrs = vi->remote_attrs;
		if (ret != VIA_R_NOT_DONE)
			vi->verdict = VIA_VERDICT_NONE;
	}
	via_vi_unlock(vi);
	return ret == VIA_VERDICT_NONE ? VIA_R_INVALID_STATE : ret;
}

static bool settled(const struct via_vi *vi, u32 attempt)
{
	return READ_ONCE(vi->verdict) != VIA_R_NOT_DONE ||
	       READ_ONCE(vi->attempt) != attempt ||
	       READ_ONCE(vi->sq.dead);
}

/* Until the verdict, the deadline (0) or a signal (negative). */
static long via_conn_sleep(struct via_vi *vi, u32 attempt)
{
	long left;

	/* Once more where the counter of jiffies has leapt. */
	do {
		left = READ_ONCE(vi->forever) ? MAX_SCHEDULE_TIMEOUT :
		       (long)(READ_ONCE(vi->deadline) - via_now());
		left = max(left, 0L);
		left = wait_event_interruptible_timeout(vi->conn_wait,
							settled(vi, attempt),
							left);
	} while (!left && !via_conn_overdue(vi));
	return left;
}

int via_conn_result(struct via_file *f, struct via_conn_result *arg)
{
	bool p2p = arg->flags & VIA_CONN_PEER;
	struct via_vi *vi;
	long left = 1;
	u32 attempt;
	int ret;

	if (arg->flags & ~(VIA_CONN_NOWAIT | VIA_CONN_PEER))
		return -EINVAL;
	vi = via_vi_get(f, arg->vi);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	attempt = READ_ONCE(vi->attempt);
	if (READ_ONCE(vi->p2p) == p2p && !(arg->flags & VIA_CONN_NOWAIT))
		left = via_conn_sleep(vi, attempt);
	via_conn_expire(vi);
	ret = via_conn_fetch(vi, attempt, arg);
	if (ret == VIA_R_NOT_DONE && left < 0)
		ret = -EINTR;
	else if (p2p)
		via_peer_unlist(vi);
	via_vi_put(vi);
	return ret;
}

void via_conn_destroy_all(struct via_file *f)
{
	struct via_nic *nic = f->nic;
	struct via_conn *conn, *n;
	struct via_waiter *w, *m;
	LIST_HEAD(conns);

	lockdep_assert_held(&f->mutex);
	spin_lock_bh(&nic->conn_lock);
	list_for_each_entry_safe(w, m, &f->waiters, own) {
		/* Nobody else will find it; a sleeper frees its own. */
		list_del_init(&w->link);
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
	list_for_each_entry_safe(conn, n, &nic->conns, link)
		if (conn->file == f && via_conn_unlist(conn))
			list_add(&conn->link, &conns);
	spin_unlock_bh(&nic->conn_lock);

	/* via_conn_cancel() may take one off meanwhile: one at a time. */
	for (;;) {
		spin_lock_bh(&nic->conn_lock);
		conn = list_first_entry_or_null(&conns, struct via_conn, link);
		if (conn)
			list_del_init(&conn->link);
		spin_unlock_bh(&nic->conn_lock);
		if (!conn)
			break;
		via_conn_answer_no(conn);
	}
}
