// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VIs whose two ends are on this host: one copy, from the sender's pages to
 * the receiver's, or the other way for an RDMA Read, in the sender's context.
 *
 * Nothing is ever in flight: a send is started, delivered and completed
 * before the doorbell returns, and so is a read, which makes every queue
 * fence a matter of course.  So all reliability levels come down to what
 * happens when the receiver cannot take the message.
 */

#include <linux/jiffies.h>
#include "connect.h"
#include "engine.h"
#include "kapi.h"
#include "kmem.h"
#include "loop.h"
#include "memory.h"
#include "queue.h"
#include "vi.h"

/* Bytes moved by one doorbell before it asks to be rung again. */
#define VIA_LOOP_BUDGET (256u * 1024)
#define VIA_LOOP_DESCS	64
#define VIA_LOOP_BOUNCE	512	/* bytes of a kernel's memory in one go */

/* The other side of a move: a receive descriptor, or the target of RDMA. */
struct via_loop_dst {
	struct via_vi *vi;
	struct via_desc *desc;	/* NULL: RDMA */
	bool read;		/* RDMA Read: bytes come from there */
	u32 handle;
	u64 addr;
};

/* @p is in a segment of the sender's. */
static enum via_status via_loop_place(struct via_loop_dst *dst, u32 off,
				      void *p, u32 len)
{
	if (dst->desc)
		return via_scatter(dst->vi, dst->desc, off, p, len);
	if (dst->read)
		return via_read_fetch(dst->vi, dst->handle, dst->addr + off,
				      p, len);
	return via_rdma_place(dst->vi, dst->handle, dst->addr + off, p, len);
}

/*
 * A piece of what is in no region: of a consumer in the kernel, or an error.  Its
 * memory and the target's may each want a lock of the same kind, so both are not held
 * at once.
 */
static noinline enum via_status via_loop_bounce(struct via_vi *vi,
						const struct via_seg *seg,
						u32 seg_off,
						struct via_loop_dst *dst,
						u32 off, u32 *n, u32 *local)
{
	u8 buf[VIA_LOOP_BOUNCE];
	enum via_status st;

	*n = min_t(u32, *n, sizeof(buf));
	*local = via_kmem_move(vi, seg, seg_off, *n, dst->read ? NULL : buf,
			       dst->read);
	if (*local)
		return 0;
	st = via_loop_place(dst, off, buf, *n);
	if (!st && dst->read)
		*local = via_kmem_move(vi, seg, seg_off, *n, buf, true);
	return st;
}

/*
 * Move the whole of a send, or of a read.  *local gets the sender's error, the
 * return value is the receiver's.
 */
static enum via_status via_loop_move(struct via_vi *vi, struct via_desc *d,
				     struct via_loop_dst *dst, u32 *local)
{
	u32 off = 0, n, seg_off, st;
	struct via_region *r;
	struct via_seg *seg;
	u64 addr;
	void *p;

	*local = 0;
	while (off < d->length) {
		seg = via_desc_seg(d, off, &seg_off);
		if (!seg)
			break;
		addr = seg->addr + seg_off;
		n = seg->len - seg_off;
		r = via_local_region(vi, seg->handle, addr, n);
		if (unlikely(!r)) {
			st = via_loop_bounce(vi, seg, seg_off, dst, off, &n,
					     local);
			if (st || *local)
				return st;
			off += n;
			continue;
		}
		p = via_region_addr(r, addr, &n);
		st = via_loop_place(dst, off, p, n);
		if (unlikely(st))
			return st;
		off += n;
	}
	return 0;
}

/* What the target says of RDMA, before a byte moves. */
static enum via_status via_loop_rdma_check(const struct via_loop_dst *dst,
					   u32 len)
{
	return dst->read ? via_read_check(dst->vi, dst->handle, dst->addr,
					  len) :
			   via_rdma_check(dst->vi, dst->handle, dst->addr,
					  len);
}

/* The target has no receive to tell its program in. */
static void via_loop_rdma_event(struct via_vi *remote, bool read)
{
	if (read)
		via_vi_error(remote, VIA_ERR_RDMAR_PROT,
			     VIA_ST_OP_RDMA_READ >> 16, 0);
	else
		via_vi_error(remote, VIA_ERR_RDMAW_PROT,
			     VIA_ST_OP_REMOTE_RDMA_WRITE >> 16, 0);
}

/*
 * The receiver could not take it, or refused.  Both ends of a reliable
 * connection break.  Delivery alone was done, so at that level a send or an
 * RDMA Write is good; a read is good when its data is here, at any level.
 */
static enum via_status via_loop_refused(struct via_vi *vi,
					struct via_vi *remote, bool read,
					u32 st)
{
	bool rdma = st == VIA_ST_RDMA_PROT_ERROR;

	if (!via_vi_reliable(vi))
		return 0;
	via_conn_fault(remote, rdma ? VIA_KERNEL_FAULT_LOCAL_ACCESS :
				      VIA_KERNEL_FAULT_LOCAL_RECEIVE);
	via_conn_fault(vi, !rdma ? VIA_KERNEL_FAULT_PEER_RECEIVE :
			   read ? VIA_KERNEL_FAULT_PEER_READ :
				  VIA_KERNEL_FAULT_PEER_ACCESS);
	via_vi_break_later(remote, 0);
	via_vi_break_later(vi, 0);
	/* A consumer in the kernel finds what it finds over a network. */
	return read || vi->kernel ||
	       vi->attrs.reliability == VIA_RELIABLE_RECEPTION ? st : 0;
}

/* Deliver one good descriptor; returns its status for the sender. */
static enum via_status via_loop_deliver(struct via_vi *vi,
					struct via_vi *remote,
					struct via_desc *d)
{
	u32 op = d->control & VIA_CTL_OP_MASK;
	bool rdma = op != VIA_CTL_OP_SENDRECV;
	bool imm = d->control & VIA_CTL_IMMEDIATE;
	struct via_loop_dst dst = { .vi = remote };
	struct via_desc *rd = NULL;
	u32 local, st = 0, rst;

	lockdep_assert_held(&remote->rq.lock);
	if (!rdma || imm) {
		rd = via_recv_load(remote);
		if (unlikely(!rd)) {
			local = via_send_check(vi, d);
			if (local)
				return local;
			/* A reliable one breaks, which says enough. */
			if (!via_vi_reliable(remote))
				via_vi_error(remote, VIA_ERR_RECVQ_EMPTY,
					     VIA_ST_OP_RECEIVE >> 16, 0);
			return via_loop_refused(vi, remote, false,
						VIA_ST_REMOTE_DESC_ERROR);
		}
	}
	if (rdma) {
		dst.read = op == VIA_CTL_OP_RDMAREAD;
		dst.handle = d->rhandle;
		dst.addr = d->raddr;
		st = via_loop_rdma_check(&dst, d->length);
	} else {
		dst.desc = rd;
		st = rd->status;
		if (!st && d->length > rd->length)
			st = VIA_ST_LENGTH_ERROR;
	}
	if (likely(!st))
		st = via_loop_move(vi, d, &dst, &local);
	else
		local = via_send_check(vi, d);
	if (unlikely(local))
		return local;

	if (rd) {
		rst = rdma ? VIA_ST_OP_REMOTE_RDMA_WRITE : VIA_ST_OP_RECEIVE;
		if (imm && !st)
			rst |= VIA_ST_IMMEDIATE;
		if (unlikely(d->control & VIA_CTL_KERNEL_NOTES) && !st)
			rst |= (u32)(d->control & VIA_CTL_KERNEL_NOTES) << 16;
		via_recv_complete(remote, rst | st, st ? 0 : d->length,
				  d->immediate);
	} else if (unlikely(st)) {
		via_loop_rdma_event(remote, dst.read);
	}
	if (likely(!st))
		return 0;
	return via_loop_refused(vi, remote, dst.read,
				rdma ? VIA_ST_RDMA_PROT_ERROR :
				       VIA_ST_REMOTE_DESC_ERROR);
}

/* One posted send; false when there is none, for now, or the connection is over. */
static bool via_loop_one(struct via_vi *vi, struct via_vi *remote,
			 struct via_work *work, u32 *budget)
{
	struct via_desc *d = via_send_load(vi, work);
	u32 st, len;

	if (!d)
		return false;
	len = d->length;
	st = d->status;
	if (likely(!st)) {
		spin_lock(&remote->rq.lock);
		/* Its remote_vi is stable: it changes with the rq lock held. */
		if (likely(remote->remote_vi == vi)) {
			st = via_loop_deliver(vi, remote, d);
			if (unlikely(remote->kernel))
				via_kernel_settle_later(remote);
			/*
			 * The receive behind it may be in error, which breaks
			 * the peer, and it settles with us.
			 */
			if (unlikely(via_vi_is_broken(remote)))
				via_vi_break_later(vi, 0);
		} else {
			/* It has left, and is about to say how. */
			st = VIA_ST_DESC_FLUSHED_ERROR;
			via_vi_break_later(vi, remote->left_how);
		}
		spin_unlock(&remote->rq.lock);
	}
	if (unlikely(st & VIA_ST_ERROR_MASK)) {
		len = 0;
		if (via_vi_reliable(vi) && !via_vi_is_broken(vi))
			via_vi_break_later(vi, VIA_BROKEN_TELL);
	}
	via_send_complete(vi, st, len);
	*budget -= min(*budget, len);
	return !via_vi_is_broken(vi) && *budget;
}

static int via_loop_send(struct via_vi *vi)
{
	struct via_work work = VIA_WORK(VIA_LOOP_DESCS);
	u32 budget = VIA_LOOP_BUDGET;
	struct via_vi *remote;
	u32 n;

	lockdep_assert_held(&vi->sq.lock);
	remote = vi->remote_vi;
	if (unlikely(!remote))
		return 0;
	while (via_loop_one(vi, remote, &work, &budget))
		;
	/* Settling us settles the peer: via_loop_disconnected(). */
	if (via_vi_is_broken(vi))
		return 0;
	return via_queue_posted(&vi->sq, &n) && !via_send_drained(vi) ?
	       VIA_TRAP_MORE : 0;
}

/*
 * Leaving: the peer is told after our locks are dropped, so what we know of
 * it is put aside here.
 */
static void via_loop_disconnect(struct via_vi *vi, bool tell)
{
	via_vi_assert_locked(vi);
	/* A disconnect is a goodbye, but not of a VI that is to break. */
	vi->left_how = tell && !via_vi_is_broken(vi) ? VIA_BROKEN_LEFT : 0;
	vi->left_vi = vi->remote_vi;
	vi->remote_vi = NULL;
	vi->left_conn = vi->conn;
	vi->conn = NULL;
}

static void via_loop_disconnected(struct via_vi *vi)
{
	struct via_vi *remote;
	struct via_conn *conn;
	u32 how;

	via_vi_lock(vi);
	how = vi->left_how;
	remote = vi->left_vi;
	vi->left_vi = NULL;
	conn = vi->left_conn;
	vi->left_conn = NULL;
	via_vi_unlock(vi);

	if (conn) {
		via_conn_cancel(conn);
		via_conn_put(conn);
	}
	if (!remote)
		return;
	via_vi_lock(remote);
	/* What has broken it before is what is reported. */
	if (remote->remote_vi == vi && !via_vi_is_broken(remote))
		via_vi_break_later(remote, how);
	via_vi_unlock(remote);
	via_vi_settle(remote);
	via_vi_put(remote);
}

const struct via_transport_ops via_loop_transport = {
	.send		= via_loop_send,
	.disconnect	= via_loop_disconnect,
	.disconnected	= via_loop_disconnected,
};

void via_loop_leave(struct via_vi *vi)
{
	/* What another thread has begun to leave and not finished comes first. */
	via_loop_disconnected(vi);
	via_vi_lock(vi);
	via_loop_disconnect(vi, false);
	via_vi_unlock(vi);
	via_loop_disconnected(vi);
}

/* The VI knows its request, unless its attempt is over already. */
static bool via_loop_ask(struct via_vi *vi, struct via_conn *conn)
{
	bool ok;

	via_vi_lock(vi);
	/* file->mutex is held, so no other attempt has begun. */
	ok = via_vi_may(vi, VIA_EV_JOIN);
	if (ok) {
		via_conn_get(conn);
		vi->conn = conn;
	}
	via_vi_unlock(vi);
	return ok;
}

enum via_verdict via_loop_connect(struct via_vi *vi)
{
	struct via_conn *conn;
	int ret = 0;

	lockdep_assert_held(&vi->file->mutex);
	conn = via_conn_alloc(vi->nic, &vi->remote, &vi->local, &vi->attrs,
			      vi->deadline);
	if (!conn)
		return VIA_R_ERROR_RESOURCE;
	kref_get(&vi->ref);
	conn->client = vi;

	/* Known to the VI first: it may be accepted before offer returns. */
	if (via_loop_ask(vi, conn))
		ret = via_conn_offer(conn);
	if (ret == -ENOENT)
		ret = VIA_R_NO_MATCH;
	if (ret)
		via_conn_forget(vi, conn);
	via_conn_put(conn);
	return ret;
}

enum via_verdict via_loop_accept(struct via_conn *conn, struct via_vi *vi)
{
	struct via_vi *client = conn->client;
	bool ok;

	/* It gave up, and its program then picks it for a server. */
	if (client == vi)
		return VIA_R_TIMEOUT;
	via_vi_lock_two(vi, client);
	ok = client->conn == conn && via_vi_may(client, VIA_EV_JOIN) &&
	     via_vi_may(vi, VIA_EV_JOIN);
	if (ok) {
		client->conn = NULL;
		via_kernel_join(vi, client);
		via_loop_join(vi, client);
	}
	via_vi_unlock_two(vi, client);
	if (ok)
		via_conn_put(conn);
	return ok ? 0 : VIA_R_TIMEOUT;
}

void via_loop_join(struct via_vi *a, struct via_vi *b)
{
	via_conn_make(a, &b->attrs, &via_loop_transport, b);
	via_conn_make(b, &a->attrs, &via_loop_transport, a);
}
