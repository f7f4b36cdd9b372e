// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Consumers in the kernel: handles, VIs, listeners, connections.
 *
 *  1. A consumer's handle is a program's without a program: no mm, no process, a
 *     quota that no user has, limits of its own.
 *  2. Hooks are constant from open to close, and a VI of the handle is in the NIC's
 *     table, under a queue lock, or in an RCU read side when one is called; so a grace
 *     period after the last VI has ended none runs.
 *  3. A completion sets VIA_BROKEN_CALL, which does not stop sending: the context
 *     that drops the queue locks settles it (via_vi_settle()).
 */

#include <linux/err.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "connect.h"
#include "ends.h"
#include "file.h"
#include "kapi.h"
#include "kmem.h"
#include "nic.h"
#include "ptag.h"
#include "queue.h"
#include "quota.h"
#include "vi.h"

static struct workqueue_struct *via_kernel_wq;

int via_kernel_init(void)
{
	/* A disk may wait for what its consumer does there. */
	via_kernel_wq = alloc_workqueue("via_kernel",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return via_kernel_wq ? 0 : -ENOMEM;
}

void via_kernel_exit(void)
{
	destroy_workqueue(via_kernel_wq);
}

/* The NIC with references to it and its module, as an open device node has. */
static struct via_nic *via_kernel_find(const struct net *net, const char *name,
				       u32 ifindex)
{
	struct via_nic *nic, *seen = via_nic_find(net, name, ifindex);

	if (!seen)
		return NULL;
	nic = via_nic_open(seen->minor);
	if (nic && nic != seen) {
		via_nic_close(nic);
		nic = NULL;
	}
	via_nic_put(seen);
	return nic;
}

struct via_file *via_kernel_open(const struct net *net, const char *name,
				 u32 ifindex, const struct via_kernel_ops *ops,
				 const struct via_kernel_limits *most,
				 void *priv)
{
	struct via_nic *nic = via_kernel_find(net, name, ifindex);
	struct via_file *f;
	int ret = -ENOMEM;

	if (!nic)
		return ERR_PTR(-ENODEV);
	f = via_file_new(nic, via_file_kill);
	if (!f)
		goto err;
	f->kernel = ops;
	f->kernel_priv = priv;
	f->kernel_most = *most;
	f->uid = GLOBAL_ROOT_UID;
	f->quota = via_quota_none();
	if (!f->quota || via_kmem_init(f))
		goto err_file;
	ret = via_nic_add_file(nic, f);
	if (!ret)
		return f;
err_file:
	via_file_put(f);
err:
	via_nic_close(nic);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(via_kernel_open);

void via_kernel_close(struct via_file *f)
{
	struct via_nic *nic = f->nic;

	mutex_lock(&f->mutex);
	via_file_kill(f);
	mutex_unlock(&f->mutex);
	via_nic_remove_file(nic, f);
	via_file_put(f);
	/* No reader is in a hook any more: see 2. above. */
	synchronize_rcu();
	via_nic_close(nic);
}
EXPORT_SYMBOL_GPL(via_kernel_close);

void *via_kernel_priv(const struct via_file *f)
{
	return f->kernel_priv;
}
EXPORT_SYMBOL_GPL(via_kernel_priv);

struct via_nic *via_kernel_nic(const struct via_file *f)
{
	return f->nic;
}
EXPORT_SYMBOL_GPL(via_kernel_nic);

/* What the agent's call says, as an errno. */
static int via_kernel_errno(int ret)
{
	switch (ret) {
	case 0:
		return 0;
	case VIA_R_ERROR_RESOURCE:
		return -ENOMEM;
	default:
		return ret < 0 ? ret : -EINVAL;
	}
}

int via_kernel_ptag_make(struct via_file *f, u32 *ptag)
{
	int ret = via_file_lock(f);

	if (!ret) {
		ret = via_ptag_create(f, ptag);
		via_file_unlock(f);
	}
	return via_kernel_errno(ret);
}
EXPORT_SYMBOL_GPL(via_kernel_ptag_make);

int via_kernel_ptag_unmake(struct via_file *f, u32 ptag)
{
	int ret;

	mutex_lock(&f->mutex);
	ret = via_ptag_destroy(f, ptag);
	via_file_unlock(f);
	return ret == VIA_R_ERROR_RESOURCE ? -EBUSY : via_kernel_errno(ret);
}
EXPORT_SYMBOL_GPL(via_kernel_ptag_unmake);

struct via_vi *via_kernel_vi_make(struct via_file *f,
				  const struct via_vi_attrs *attrs, void *priv)
{
	struct via_vi_create arg = { .attrs = *attrs };
	struct via_vi *vi = NULL;
	int ret = via_file_lock(f);

	if (ret)
		return ERR_PTR(-ENXIO);
	ret = -EDQUOT;
	if (f->kernel_vis < f->kernel_most.vis) {
		ret = via_kernel_errno(via_vi_make(f, &arg, priv));
		f->kernel_vis += !ret;
	}
	if (!ret)
		vi = via_vi_get(f, arg.vi);
	via_file_unlock(f);
	return ret ? ERR_PTR(ret) : vi;
}
EXPORT_SYMBOL_GPL(via_kernel_vi_make);

void via_kernel_vi_destroy(struct via_vi *vi)
{
	struct via_file *f = vi->file;

	mutex_lock(&f->mutex);
	via_vi_kill(f, vi);
	f->kernel_vis--;
	via_file_unlock(f);
	if (cancel_work_sync(&vi->kernel->settle))
		via_vi_put(vi);
	via_vi_put(vi);
}
EXPORT_SYMBOL_GPL(via_kernel_vi_destroy);

void *via_kernel_vi_priv(const struct via_vi *vi)
{
	return vi->kernel->priv;
}
EXPORT_SYMBOL_GPL(via_kernel_vi_priv);

static struct via_queue *via_kernel_queue(struct via_vi *vi, bool recv)
{
	return recv ? &vi->rq : &vi->sq;
}

void via_kernel_post(struct via_vi *vi, bool recv, u32 n)
{
	struct via_queue *q = via_kernel_queue(vi, recv);

	/* Pairs with via_queue_posted(): the descriptors are there. */
	smp_store_release(&q->prog->tail, q->prog->tail + n);
}
EXPORT_SYMBOL_GPL(via_kernel_post);

void via_kernel_ring(struct via_vi *vi, bool recv)
{
	WRITE_ONCE(vi->kernel->dry, false);
	/* Pairs with the barriers of via_send_sleep() and of a flush. */
	smp_mb();
	rcu_read_lock();
	while (via_vi_ring(vi, recv) == VIA_TRAP_MORE)
		;
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(via_kernel_ring);

/* Control has more than a program's may have. */
static enum via_status via_kernel_check_notes(struct via_vi *vi,
					      const struct via_queue *q,
					      struct via_desc *d)
{
	const u16 both = VIA_CTL_KERNEL_INVALIDATE | VIA_CTL_IMMEDIATE;

	if (d->control & VIA_CTL_RESERVED & ~VIA_CTL_KERNEL_NOTES || q->recv ||
	    d->control & VIA_CTL_OP_MASK || (d->control & both) == both)
		return VIA_ST_FORMAT_ERROR;
	if (via_conn_notes(vi))
		return 0;
	d->control &= ~VIA_CTL_KERNEL_SOLICITED;
	return d->control & VIA_CTL_KERNEL_INVALIDATE ? VIA_ST_FORMAT_ERROR : 0;
}

void via_kernel_load(struct via_vi *vi, struct via_queue *q, u32 index,
		     struct via_desc *d)
{
	lockdep_assert_held(&q->lock);
	memset(d, 0, sizeof(*d));
	vi->file->kernel->load(vi, q->recv, index, d);
	if (unlikely(d->control & VIA_CTL_RESERVED))
		d->status |= via_kernel_check_notes(vi, q, d);
}

u32 via_kernel_scan(struct via_vi *vi, struct via_queue *q)
{
	u32 n, what;

	lockdep_assert_held(&q->lock);
	if (!vi->file->kernel->scan)
		return 0;
	what = vi->file->kernel->scan(vi, q->recv);
	if (what & VIA_SCAN_SETTLE)
		atomic_or(VIA_BROKEN_CALL, &vi->broken);
	if (!q->recv)
		WRITE_ONCE(vi->kernel->dry, !(what & VIA_SCAN_MORE));
	return via_queue_posted(q, &n) ? n : 0;
}

bool via_kernel_drained(struct via_vi *vi)
{
	/* Who posts after a scan that found nothing more has to ring. */
	return READ_ONCE(vi->kernel->dry) || !via_kernel_scan(vi, &vi->sq);
}
EXPORT_SYMBOL_GPL(via_kernel_drained);

void via_kernel_complete(struct via_vi *vi, struct via_queue *q,
			 enum via_status status, u32 length, u32 immediate)
{
	struct via_kernel_done done = {
		.index = q->head,
		.status = status & ~VIA_ST_KERNEL_NOTES,
		.length = length,
		.immediate = immediate,
		.solicited = status & VIA_ST_KERNEL_SOLICITED,
		.invalidate = status & VIA_ST_KERNEL_INVALIDATE,
	};

	lockdep_assert_held(&q->lock);
	vi->file->kernel->complete(vi, q->recv, &done);
	atomic_or(VIA_BROKEN_CALL, &vi->broken);
}

void via_kernel_settle(struct via_vi *vi)
{
	if (likely(!(atomic_read(&vi->broken) & VIA_BROKEN_CALL)))
		return;
	rcu_read_lock();
	/* Cleared before: what completes meanwhile is settled once more. */
	if (atomic_fetch_andnot(VIA_BROKEN_CALL, &vi->broken) & VIA_BROKEN_CALL)
		vi->file->kernel->settle(vi);
	rcu_read_unlock();
}

static void via_kernel_settle_work(struct work_struct *work)
{
	struct via_vi *vi = container_of(work, struct via_kernel_vi, settle)->vi;

	via_kernel_settle(vi);
	via_vi_put(vi);
}

struct via_kernel_vi *via_kernel_vi_alloc(struct via_vi *vi, void *priv)
{
	struct via_kernel_vi *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!k)
		return NULL;
	k->vi = vi;
	k->priv = priv;
	INIT_WORK(&k->settle, via_kernel_settle_work);
	return k;
}

void via_kernel_settle_later(struct via_vi *vi)
{
	kref_get(&vi->ref);
	if (!queue_work(via_kernel_wq, &vi->kernel->settle))
		via_vi_put(vi);
}

void via_kernel_begin(struct via_vi *vi, const struct via_reply *reply)
{
	struct via_kernel_vi *k = vi->kernel;

	via_vi_assert_locked(vi);
	k->takes = 0;
	k->told = false;
	WRITE_ONCE(k->fault, VIA_KERNEL_FAULT_NONE);
	k->reply.len = 0;
	if (reply)
		k->reply = *reply;
}

void via_conn_fault(struct via_vi *vi, enum via_kernel_fault fault)
{
	struct via_kernel_vi *k = vi->kernel;

	/* Of two at once, each with one of the locks, either is right. */
	if (k && READ_ONCE(k->fault) == VIA_KERNEL_FAULT_NONE)
		WRITE_ONCE(k->fault, fault);
}
EXPORT_SYMBOL_GPL(via_conn_fault);

enum via_kernel_fault via_kernel_fault(const struct via_vi *vi)
{
	return READ_ONCE(vi->kernel->fault);
}
EXPORT_SYMBOL_GPL(via_kernel_fault);

void via_conn_takes(struct via_vi *vi, u32 what)
{
	via_vi_assert_locked(vi);
	if (vi->kernel)
		vi->kernel->takes = what;
}
EXPORT_SYMBOL_GPL(via_conn_takes);

bool via_conn_notes(const struct via_vi *vi)
{
	return vi->kernel && vi->kernel->takes & VIA_TAKES_NOTES;
}
EXPORT_SYMBOL_GPL(via_conn_notes);

const struct via_reply *via_conn_reply(const struct via_vi *vi)
{
	const struct via_kernel_vi *k = vi->kernel;

	return k && !k->told && k->takes & VIA_TAKES_REPLY && k->reply.len ?
	       &k->reply : NULL;
}
EXPORT_SYMBOL_GPL(via_conn_reply);

void via_conn_replied(struct via_vi *vi, const struct via_reply *reply)
{
	via_vi_assert_locked(vi);
	if (!vi->kernel)
		return;
	vi->kernel->told = true;
	vi->kernel->reply = *reply;
}
EXPORT_SYMBOL_GPL(via_conn_replied);

void via_kernel_join(struct via_vi *server, struct via_vi *client)
{
	const struct via_reply *reply;

	if (!server->kernel || !client->kernel)
		return;
	via_conn_takes(server, VIA_TAKES_REPLY | VIA_TAKES_NOTES);
	via_conn_takes(client, VIA_TAKES_NOTES);
	reply = via_conn_reply(server);
	if (reply)
		via_conn_replied(client, reply);
}

enum via_verdict via_kernel_connect(struct via_vi *vi,
				    const struct via_net_addr *local,
				    const struct via_net_addr *remote, u64 ns)
{
	struct via_conn_request arg = {
		.vi = vi->id,
		.timeout = ns,
		.local = *local,
		.remote = *remote,
	};
	struct via_file *f = vi->file;
	int ret = VIA_R_INVALID_PARAMETER;

	if (ns == VIA_FOREVER)
		return ret;
	if (via_file_lock(f))
		return VIA_R_ERROR_RESOURCE;
	ret = via_conn_request(f, &arg);
	via_file_unlock(f);
	return ret;
}
EXPORT_SYMBOL_GPL(via_kernel_connect);

void via_kernel_expire(struct via_vi *vi)
{
	via_conn_expire(vi);
}
EXPORT_SYMBOL_GPL(via_kernel_expire);

void via_kernel_disconnect(struct via_vi *vi)
{
	struct via_file *f = vi->file;

	mutex_lock(&f->mutex);
	via_vi_disconnect(vi);
	via_file_unlock(f);
}
EXPORT_SYMBOL_GPL(via_kernel_disconnect);

static u32 via_listener_hash(const struct via_nic *nic, const u8 *disc)
{
	return via_table_hash(&nic->listening, disc, VIA_LISTEN_BYTES);
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

	lockdep_assert_held(&nic->conn_lock);
	n = via_table_find(&nic->listening, via_listener_hash(nic, disc),
			   via_listener_is, disc);
	return n ? container_of(n, struct via_listener, place) : NULL;
}

int via_kernel_listen(struct via_file *f, struct via_listener *l)
{
	struct via_nic *nic = f->nic;
	int ret = -EADDRINUSE;

	via_table_node_init(&l->place);
	l->file = f;
	spin_lock_bh(&nic->conn_lock);
	if (!via_listener_find(nic, l->disc)) {
		via_table_add(&nic->listening, &l->place,
			      via_listener_hash(nic, l->disc), via_listener_is,
			      l->disc);
		nic->listeners++;
		ret = 0;
	}
	spin_unlock_bh(&nic->conn_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(via_kernel_listen);

void via_kernel_unlisten(struct via_listener *l)
{
	struct via_nic *nic = l->file->nic;

	spin_lock_bh(&nic->conn_lock);
	via_table_del(&nic->listening, &l->place);
	nic->listeners--;
	spin_unlock_bh(&nic->conn_lock);
}
EXPORT_SYMBOL_GPL(via_kernel_unlisten);

bool via_kernel_offer(struct via_conn *conn)
{
	struct via_nic *nic = conn->nic;
	struct via_listener *l;

	lockdep_assert_held(&nic->conn_lock);
	if (likely(!nic->listeners) || conn->local.disc_len < VIA_LISTEN_BYTES)
		return false;
	l = via_listener_find(nic, conn->local.disc);
	if (!l || READ_ONCE(l->file->dead) || !via_conn_give(l->file, conn))
		return false;
	l->asked(l, conn);
	return true;
}

/* @conn->reply is set while the handle's mutex is held. */
static void via_kernel_reply(struct via_reply *reply, const void *data, u32 len)
{
	reply->len = len;
	if (len)
		memcpy(reply->data, data, len);
}

enum via_verdict via_kernel_accept(struct via_vi *vi, struct via_conn *conn,
				   const void *data, u32 len)
{
	struct via_conn_accept arg = { .vi = vi->id, .conn = conn->id };
	struct via_file *f = vi->file;
	struct via_reply reply;
	int ret;

	if (len > VIA_KERNEL_REPLY)
		return VIA_R_INVALID_PARAMETER;
	via_kernel_reply(&reply, data, len);
	if (via_file_lock(f))
		return VIA_R_ERROR_RESOURCE;
	conn->reply = len ? &reply : NULL;
	ret = via_conn_accept(f, &arg);
	conn->reply = NULL;
	via_file_unlock(f);
	/* It is not there any more, as the VI is: the client has given up. */
	return ret == VIA_R_INVALID_PARAMETER ? VIA_R_TIMEOUT : ret;
}
EXPORT_SYMBOL_GPL(via_kernel_accept);

void via_kernel_reject(struct via_file *f, struct via_conn *conn,
		       const void *data, u32 len)
{
	struct via_reply reply;

	if (len > VIA_KERNEL_REPLY)
		len = 0;
	via_kernel_reply(&reply, data, len);
	mutex_lock(&f->mutex);
	conn->reply = len ? &reply : NULL;
	via_conn_reject(f, conn->id);
	conn->reply = NULL;
	via_file_unlock(f);
}
EXPORT_SYMBOL_GPL(via_kernel_reject);

u32 via_kernel_answer(const struct via_vi *vi, const u8 **data)
{
	const struct via_kernel_vi *k = vi->kernel;

	if (!k->told)
		return 0;
	*data = k->reply.data;
	return k->reply.len;
}
EXPORT_SYMBOL_GPL(via_kernel_answer);
