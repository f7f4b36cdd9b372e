// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Consumers in the kernel: handles, VIs, connections.  Their listeners are in
 * request.c, what a message needs is in consumer.c.
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
#include "p2p.h"
#include "ptag.h"
#include "queue.h"
#include "quota.h"
#include "vi.h"

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

void via_kernel_vi_get(struct via_vi *vi)
{
	kref_get(&vi->ref);
}
EXPORT_SYMBOL_GPL(via_kernel_vi_get);

void via_kernel_vi_put(struct via_vi *vi)
{
	via_vi_put(vi);
}
EXPORT_SYMBOL_GPL(via_kernel_vi_put);

static struct via_queue *via_kernel_queue(struct via_vi *vi, bool recv)
{
	return recv ? &vi->rq : &vi->sq;
}

void via_kernel_lock(struct via_vi *vi, bool recv)
	__acquires(vi)
{
	spin_lock_bh(&via_kernel_queue(vi, recv)->lock);
}
EXPORT_SYMBOL_GPL(via_kernel_lock);

void via_kernel_unlock(struct via_vi *vi, bool recv)
	__releases(vi)
{
	spin_unlock_bh(&via_kernel_queue(vi, recv)->lock);
}
EXPORT_SYMBOL_GPL(via_kernel_unlock);

void via_kernel_post(struct via_vi *vi, bool recv, u32 n)
{
	struct via_queue *q = via_kernel_queue(vi, recv);

	/* Pairs with via_queue_posted(): the descriptors are there. */
	smp_store_release(&q->prog->tail, q->prog->tail + n);
}
EXPORT_SYMBOL_GPL(via_kernel_post);

void via_kernel_ring(struct via_vi *vi, bool recv)
{
	/* Pairs with the barriers of via_send_sleep() and of a flush. */
	smp_mb();
	rcu_read_lock();
	while (via_vi_ring(vi, recv) == VIA_TRAP_MORE)
		;
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(via_kernel_ring);

enum via_kernel_fault via_kernel_fault_of(const struct via_vi *vi)
{
	return READ_ONCE(vi->kernel->fault);
}
EXPORT_SYMBOL_GPL(via_kernel_fault_of);

static enum via_verdict via_kernel_ask(struct via_vi *vi,
				       const struct via_net_addr *local,
				       const struct via_net_addr *remote,
				       u64 ns, bool p2p)
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
	ret = p2p ? via_p2p_request(f, &arg) : via_conn_request(f, &arg);
	via_file_unlock(f);
	return ret;
}

enum via_verdict via_kernel_connect(struct via_vi *vi,
				    const struct via_net_addr *local,
				    const struct via_net_addr *remote, u64 ns)
{
	return via_kernel_ask(vi, local, remote, ns, false);
}
EXPORT_SYMBOL_GPL(via_kernel_connect);

enum via_verdict via_kernel_connect_peer(struct via_vi *vi,
					 const struct via_net_addr *local,
					 const struct via_net_addr *remote,
					 u64 ns)
{
	return via_kernel_ask(vi, local, remote, ns, true);
}
EXPORT_SYMBOL_GPL(via_kernel_connect_peer);

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
