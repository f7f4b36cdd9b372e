// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices with the addressing of RoCE, for programs that exchange the numbers of their QPs
 * themselves.
 *
 * A port has the GIDs that the RDMA core makes of the interface's addresses, no connection
 * manager, and no management QPs: rdma_cm leaves it alone.  The core finds the peer's MAC
 * address of a GID, and the frames are VIA's.
 *
 *  1. A QP that goes to RTR looks for its peer, as one of VIA's peer-to-peer connections,
 *     by the two numbers: both ends meet whichever was the first.  Sends wait in the ring
 *     until then; receives may come as soon as it has met the peer, in RTR or RTS.
 *  2. Looking has no end as long as there is nothing to send.  An attempt takes
 *     VR_MEET_NS.  If sends wait at its end which waited at its begin already, the QP goes
 *     to ERR; else another attempt begins.
 *  3. A peer that leaves is not heard of, as with a card: its program has had all that it
 *     wanted, and ours may look at its completions later.  Receives that the agent
 *     flushes then are withheld.  If sends are flushed, too, the QP goes to ERR.
 *  4. Locks: the QP's roce.lock, then the agent's (its handle's, then a VI's queues), then
 *     state_lock.  The hooks take the last alone.  No work is waited for under roce.lock
 *     but the QP's own item, which does not take it, and is in another queue of work than
 *     the item that does: one thread may have to serve a whole queue.
 */

#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include "roce.h"

/* A QP that sends and finds no peer ends between once and twice that. */
#define VR_MEET_NS	(20ull * NSEC_PER_SEC)
#define VR_ROCE_MAGIC	"\xf1VIAroce"	/* how discriminators begin */

/* A discriminator of one end; its peer has the numbers the other way round. */
struct vr_disc_peer {
	u8 magic[VIA_LISTEN_BYTES];
	__be32 own;
	__be32 peer;
} __packed;

/* Meeting ------------------------------------------------------------------------------ */

static void vr_roce_disc(struct via_net_addr *addr, u32 own, u32 peer)
{
	struct vr_disc_peer *p = (void *)addr->disc;

	memcpy(p->magic, VR_ROCE_MAGIC, sizeof(p->magic));
	p->own = cpu_to_be32(own);
	p->peer = cpu_to_be32(peer);
	addr->disc_len = sizeof(*p);
}

/* VIA's host of a GID. */
static int vr_roce_host(struct vr_dev *d, const struct rdma_ah_attr *ah,
			struct via_net_addr *addr)
{
	const struct in6_addr *gid = (const void *)ah->grh.dgid.raw;
	u32 len = via_kernel_nic(d->file)->addr_len;

	if (!d->udp) {
		addr->host_len = ETH_ALEN;
		memcpy(addr->host, ah->roce.dmac, ETH_ALEN);
		return 0;
	}
	if (len != (ipv6_addr_v4mapped(gid) ? sizeof(struct in_addr) :
					      sizeof(*gid)))
		return -EAFNOSUPPORT;
	addr->host_len = len;
	memcpy(addr->host, gid->s6_addr + sizeof(*gid) - len, len);
	return 0;
}

/* Is it of the device's own interface?  VIA's frames have no VLAN's tag. */
static bool vr_roce_is_own(struct vr_dev *d, const struct rdma_ah_attr *ah)
{
	const struct ib_gid_attr *gid = ah->grh.sgid_attr;
	bool own;

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE || !gid)
		return false;
	rcu_read_lock();
	own = rcu_access_pointer(gid->ndev) &&
	      rcu_access_pointer(gid->ndev) == rcu_access_pointer(d->ndev);
	rcu_read_unlock();
	return own;
}

/* Before an attempt begins, so that its end finds it armed. */
static bool vr_roce_arm(struct vr_qp *qp, unsigned long delay)
{
	bool meeting;

	spin_lock_bh(&qp->state_lock);
	meeting = qp->roce.meeting;
	if (meeting)
		mod_delayed_work(qp->dev->meet_wq, &qp->roce.meet, delay);
	spin_unlock_bh(&qp->state_lock);
	return meeting;
}

/* An attempt; what follows a verdict is in vr_roce_moved(). */
static int vr_roce_look(struct vr_qp *qp)
{
	lockdep_assert_held(&qp->roce.lock);
	qp->roce.waited = vr_qp_sends_wait(qp);
	/* A tick after the agent's own time. */
	if (!vr_roce_arm(qp, nsecs_to_jiffies(VR_MEET_NS) + 2))
		return 0;
	vr_count(qp->dev, VR_CONNECTS);
	return via_kernel_connect_peer(qp->vi, &qp->roce.local,
				       &qp->roce.remote, VR_MEET_NS) ?
	       -ENOMEM : 0;
}

/* It looks for its peer no more: was it at it?  Any context. */
static bool vr_roce_stop(struct vr_qp *qp)
{
	bool was;

	spin_lock_bh(&qp->state_lock);
	was = qp->roce.meeting;
	qp->roce.meeting = false;
	spin_unlock_bh(&qp->state_lock);
	return was;
}

/* There will be no connection.  Any context; queue locks may be held. */
static void vr_roce_failed(struct vr_qp *qp)
{
	vr_count(qp->dev, VR_CONNECT_ERRORS);
	vr_qp_todo(qp, VR_TODO_FATAL);
	vr_qp_set_state(qp, IB_QPS_ERR);
}

/* An attempt is over, or soon will be. */
static void vr_roce_meet(struct work_struct *work)
{
	struct vr_qp *qp = container_of(to_delayed_work(work), struct vr_qp,
					roce.meet);

	mutex_lock(&qp->roce.lock);
	via_kernel_expire(qp->vi);
	if (!READ_ONCE(qp->roce.meeting))
		goto out;
	if (READ_ONCE(qp->vi->state) == VIA_STATE_PENDING) {
		/* Not yet: the end of the one before has come late. */
		vr_roce_arm(qp, HZ);
	} else if ((qp->roce.waited && vr_qp_sends_wait(qp)) ||
		   vr_roce_look(qp)) {
		if (vr_roce_stop(qp))
			vr_roce_failed(qp);
	}
out:
	mutex_unlock(&qp->roce.lock);
}

bool vr_roce_moved(struct vr_qp *qp, u32 from)
{
	struct via_vi *vi = qp->vi;
	bool err = READ_ONCE(qp->state) == IB_QPS_ERR;

	if (vi->state == VIA_STATE_CONNECTED) {
		vr_roce_stop(qp);
		vr_count(qp->dev, VR_ESTABLISHED);
		vr_qp_settle_later(qp, err ? VR_TODO_BREAK : VR_TODO_RING);
	} else if (from == VIA_STATE_CONNECTED) {
		if (err || qp->roce.cut || via_kernel_fault_of(vi) !=
		    VIA_KERNEL_FAULT_PEER_LEFT)
			return false;
		spin_lock(&qp->state_lock);
		WRITE_ONCE(qp->roce.alone, true);
		spin_unlock(&qp->state_lock);
		vr_qp_settle_later(qp, VR_TODO_ALONE);
	} else if (from == VIA_STATE_PENDING) {
		if (vi->verdict == VIA_R_TIMEOUT)
			vr_roce_arm(qp, 0);
		else if (vr_roce_stop(qp))
			vr_roce_failed(qp);
	}
	return true;
}

bool vr_roce_flushed(struct vr_qp *qp, bool recv)
{
	/* Sends are flushed before receives. */
	if (!recv)
		qp->roce.cut = true;
	return recv && !qp->roce.cut && READ_ONCE(qp->state) != IB_QPS_ERR &&
	       via_kernel_fault_of(qp->vi) == VIA_KERNEL_FAULT_PEER_LEFT;
}

/* States ------------------------------------------------------------------------------- */

static int vr_roce_rtr(struct vr_qp *qp, const struct ib_qp_attr *attr)
{
	struct vr_roce *r = &qp->roce;
	struct vr_dev *d = qp->dev;
	int ret;

	if (!vr_addr_may(d))
		return -EACCES;
	if (!vr_roce_is_own(d, &attr->ah_attr))
		return -EADDRNOTAVAIL;
	memset(&r->local, 0, sizeof(r->local));
	memset(&r->remote, 0, sizeof(r->remote));
	ret = vr_roce_host(d, &attr->ah_attr, &r->remote);
	if (ret)
		return ret;
	vr_roce_disc(&r->local, qp->ib.qp_num, attr->dest_qp_num);
	vr_roce_disc(&r->remote, attr->dest_qp_num, qp->ib.qp_num);
	spin_lock_bh(&qp->state_lock);
	r->meeting = true;
	WRITE_ONCE(r->alone, false);
	spin_unlock_bh(&qp->state_lock);
	r->cut = false;
	vr_qp_set_state(qp, IB_QPS_RTR);
	ret = vr_roce_look(qp);
	if (ret && vr_roce_stop(qp))
		vr_qp_set_state(qp, IB_QPS_INIT);
	return ret;
}

static bool vr_roce_fits(const struct ib_qp_attr *attr, int mask)
{
	return !(mask & IB_QP_MAX_QP_RD_ATOMIC &&
		 attr->max_rd_atomic > VR_READS) &&
	       !(mask & IB_QP_MAX_DEST_RD_ATOMIC &&
		 attr->max_dest_rd_atomic > VR_READS) &&
	       !(mask & IB_QP_DEST_QPN && attr->dest_qp_num > 0xffffff);
}

/* What the consumer has set, and query_qp() tells. */
static void vr_roce_copy(struct ib_qp_attr *kept, const struct ib_qp_attr *attr,
			 int mask)
{
	if (mask & IB_QP_AV) {
		kept->ah_attr = attr->ah_attr;
		/* The reference is the caller's. */
		kept->ah_attr.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_DEST_QPN)
		kept->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_PATH_MTU)
		kept->path_mtu = attr->path_mtu;
	if (mask & IB_QP_RQ_PSN)
		kept->rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		kept->sq_psn = attr->sq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		kept->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		kept->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		kept->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		kept->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		kept->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		kept->rnr_retry = attr->rnr_retry;
}

/* Of a change that the RDMA core's table of states has. */
static int vr_roce_go(struct vr_qp *qp, struct ib_qp_attr *attr, int mask,
		      struct ib_udata *udata)
{
	enum ib_qp_state from = READ_ONCE(qp->state);

	switch (mask & IB_QP_STATE ? attr->qp_state : from) {
	case IB_QPS_RTR:
		return from == IB_QPS_RTR ? 0 : vr_roce_rtr(qp, attr);
	case IB_QPS_RTS:
		if (from == IB_QPS_RTR) {
			vr_qp_set_state(qp, IB_QPS_RTS);
			/* What its program has posted already. */
			vr_qp_settle_later(qp, VR_TODO_RING |
					   (READ_ONCE(qp->roce.alone) ?
					    VR_TODO_ALONE : 0));
		}
		return 0;
	default:
		vr_roce_stop(qp);
		return vr_modify_qp(&qp->ib, attr, mask & IB_QP_STATE, udata);
	}
}

static int vr_roce_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr,
			     int mask, struct ib_udata *udata)
{
	struct vr_qp *qp = vr_qp_of(ib);
	enum ib_qp_state from;
	int ret = -EINVAL;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	mutex_lock(&qp->roce.lock);
	from = READ_ONCE(qp->state);
	if (ib_modify_qp_is_ok(from, mask & IB_QP_STATE ? attr->qp_state : from,
			       IB_QPT_RC, mask) &&
	    (!(mask & IB_QP_CUR_STATE) || attr->cur_qp_state == from) &&
	    vr_roce_fits(attr, mask))
		ret = vr_roce_go(qp, attr, mask, udata);
	if (!ret) {
		vr_roce_copy(&qp->roce.attr, attr, mask);
		if (mask & IB_QP_ACCESS_FLAGS)
			WRITE_ONCE(qp->access, attr->qp_access_flags);
	}
	mutex_unlock(&qp->roce.lock);
	return ret;
}

static int vr_roce_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			    struct ib_qp_init_attr *init)
{
	struct vr_qp *qp = vr_qp_of(ib);
	int ret = vr_query_qp(ib, attr, mask, init);

	mutex_lock(&qp->roce.lock);
	vr_roce_copy(attr, &qp->roce.attr, IB_QP_ATTR_STANDARD_BITS);
	mutex_unlock(&qp->roce.lock);
	return ret;
}

static int vr_roce_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
			     struct ib_udata *udata)
{
	struct vr_roce *r = &vr_qp_of(ib)->roce;

	mutex_init(&r->lock);
	INIT_DELAYED_WORK(&r->meet, vr_roce_meet);
	r->attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	return vr_create_qp(ib, attr, udata);
}

static int vr_roce_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct vr_qp *qp = vr_qp_of(ib);

	/* Queued by hooks only while it looks for its peer. */
	vr_roce_stop(qp);
	cancel_delayed_work_sync(&qp->roce.meet);
	return vr_destroy_qp(ib, udata);
}

/* The port ----------------------------------------------------------------------------- */

static int vr_roce_port_immutable(struct ib_device *ib, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = VR_ROCE_GIDS;
	immutable->pkey_tbl_len = 1;
	/*
	 * Of both types, as cards have it: the first one's address is the MAC address
	 * itself, so GID 0 works where there is no IP address.
	 */
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE |
				    RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
				    RDMA_CORE_CAP_ETH_AH;
	return 0;
}

static enum rdma_link_layer vr_roce_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int vr_roce_query_pkey(struct ib_device *ib, u32 port, u16 index,
			      u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = 0xffff;
	return 0;
}

/* The RDMA core has the table, and nothing else is to know of it. */
static int vr_roce_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int vr_roce_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

const struct ib_device_ops vr_roce_ops = {
	.add_gid = vr_roce_add_gid,
	.create_qp = vr_roce_create_qp,
	.del_gid = vr_roce_del_gid,
	.destroy_qp = vr_roce_destroy_qp,
	.get_link_layer = vr_roce_link_layer,
	.get_port_immutable = vr_roce_port_immutable,
	.modify_qp = vr_roce_modify_qp,
	.query_pkey = vr_roce_query_pkey,
	.query_qp = vr_roce_query_qp,
};
