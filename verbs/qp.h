/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue pairs. */
#ifndef _VR_QP_H
#define _VR_QP_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include "rq.h"

struct vr_ep;

/**
 * struct vr_call - what outlives a QP for a grace period: the agent may still call
 * @rcu:	frees it
 * @use:	the QP's, and one for each call that runs
 * @idle:	@use is 0
 * @qp:		good while @use is not 0
 * @todo:	VR_TODO_* that settle() serves
 * @nested:	calls of settle() that no context has served
 */
struct vr_call {
	struct rcu_head rcu;
	refcount_t use;
	struct completion idle;
	struct vr_qp *qp;
	atomic_t todo;
	atomic_t nested;
};

/**
 * struct vr_roce - what a QP has that no connection manager serves, see roce.c
 * @alone:	state_lock to write: its peer has left
 * @lock:	calls that change the QP, and @meet
 * @attr:	lock: what the consumer has set, for it to ask
 * @local:	lock, in RTR and RTS: its address for VIA
 * @remote:	likewise, of its peer
 * @waited:	lock: sends waited already when this attempt to meet began
 * @meeting:	state_lock: it has not met its peer yet
 * @cut:	queue lock: sends were flushed as the connection ended
 * @meet:	another attempt; queued only while @meeting
 */
struct vr_roce {
	bool alone;
	struct mutex lock;
	struct ib_qp_attr attr;
	struct via_net_addr local;
	struct via_net_addr remote;
	bool waited;
	bool meeting;
	bool cut;
	struct delayed_work meet;
};

/**
 * struct vr_qp - a queue pair
 * @ib:		the RDMA core's part
 * @call:	constant: what @vi names it by
 * @vi:		constant: the agent's
 * @sq:		see there
 * @rq:		see there
 * @cap:	constant: what was asked for and given
 * @dev:	constant
 * @user:	constant: a program's
 * @owner:	constant: the user that made it
 * @refs:	iw_cm's and the QP's own
 * @free:	@refs is 0
 * @state_lock:	inside of the agent's queue locks
 * @state:	state_lock to write: enum ib_qp_state
 * @access:	state_lock to write: IB_ACCESS_*
 * @ep:		state_lock: its end of a connection, with a reference
 * @roce:	of a device with the addressing of RoCE
 * @posting:	contexts in vr_post_send()
 * @poster:	the last of them
 * @work:	serves what settle() serves, where settle() must not
 * @late:	of a program in ERR: looks for what was posted since
 * @late_ms:	of @late alone: until the next look
 * @stat:	see there
 * @told:	of @work: a fault was told since it was reset
 * @told_last:	of @work: likewise, that it takes nothing more of its SRQ
 */
struct vr_qp {
	struct ib_qp ib;
	struct vr_call *call;
	struct via_vi *vi;
	struct vr_sq sq;
	struct vr_rq rq;
	struct ib_qp_cap cap;
	struct vr_dev *dev;
	bool user;
	kuid_t owner;
	struct kref refs;
	struct completion free;
	spinlock_t state_lock;
	enum ib_qp_state state;
	int access;
	struct vr_ep *ep;
	struct vr_roce roce;
	atomic_t posting;
	unsigned long poster;
	struct work_struct work;
	struct delayed_work late;
	u32 late_ms;
	struct vr_stat stat;
	bool told;
	bool told_last;
};

static inline struct vr_qp *vr_qp_of(struct ib_qp *ib)
{
	return container_of(ib, struct vr_qp, ib);
}

static inline void vr_qp_todo(struct vr_qp *qp, u32 todo)
{
	if (todo)
		atomic_or(todo, &qp->call->todo);
}

/* The QP of a VI in a hook that runs under a queue lock: it is not destroyed yet. */
static inline struct vr_qp *vr_qp_of_vi(struct via_vi *vi)
{
	return ((struct vr_call *)via_kernel_vi_priv(vi))->qp;
}

/* Serve what hooks have noted.  RCU read side, without locks. */
void vr_qp_settle(struct via_vi *vi);
/* The same, from a work item, which flushes the rings in ERR.  Any context. */
void vr_qp_settle_later(struct vr_qp *qp, u32 todo);

/*
 * The state, and what follows from it: in ERR all is flushed.  Any context; the agent's
 * queue locks may be held.
 */
void vr_qp_set_state(struct vr_qp *qp, enum ib_qp_state state);
/*
 * End its connection or attempt, and flush.  Process context; sleeps.
 */
void vr_qp_break(struct vr_qp *qp);

/* Has the ring a send that the agent has not got?  Any context, no queue lock held. */
bool vr_qp_sends_wait(struct vr_qp *qp);
/* Why its connection has ended, for the administrator.  In moved(). */
void vr_qp_count_end(struct vr_qp *qp);

struct ib_qp *vr_iw_get_qp(struct ib_device *ib, int number);
void vr_iw_add_ref(struct ib_qp *ib);
void vr_iw_rem_ref(struct ib_qp *ib);

int vr_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
		 struct ib_udata *udata);
int vr_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
int vr_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		 struct ib_udata *udata);
int vr_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		struct ib_qp_init_attr *init);
/* Its work counts there from now on, see stat.c; or in the device's counters again. */
int vr_qp_bind(struct ib_qp *ib, struct rdma_counter *counter);
int vr_qp_unbind(struct ib_qp *ib);
int vr_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad);
int vr_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad);

#endif
