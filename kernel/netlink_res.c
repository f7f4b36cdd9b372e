// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Objects of programs, as they are dumped to those that may see them.
 *
 * A dump goes on from numbers: the NIC's minor, the serial of the NIC handle, the
 * index or id of the object.  References are held within one message only, so a
 * reader that stops in the middle holds back no end of a NIC, of a program or of
 * an object; what comes and goes meanwhile may be told or not.  Each object is
 * copied under the lock that guards it, and put into the message without.
 *
 * file->mutex is not taken: a program can make its holder wait, and this runs
 * where all netlink families would wait for it (netlink.c).
 */

#include <linux/capability.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <net/sock.h>
#include "connect.h"
#include "cq.h"
#include "file.h"
#include "memory.h"
#include "netlink_peer.h"
#include "netlink_res.h"
#include "nic.h"
#include "vi.h"

#define VIA_RES_CHUNK	256u	/* VIs looked at in one read side */

/* What VIA_NL_CMD_RES_CONN goes through, one after the other. */
enum via_res_phase {
	VIA_RES_WAITERS,
	VIA_RES_REQUESTS,
	VIA_RES_VIS,
	VIA_RES_PHASES
};

/**
 * struct via_res_walk - a dump that is under way
 * @cmd:	VIA_NL_CMD_RES_*
 * @uid:	of the user that asks
 * @owner:	it may see all objects of the NICs of its network namespace
 * @initial:	and those of NICs that are in all of them
 * @only:	the one NIC that was named, a reference is held, or NULL
 * @over:	all of @only was told
 * @minor:	else the NIC to go on with
 * @phase:	of it, what to go on with
 * @serial:	the NIC handle to go on with
 * @index:	the first index that was not told, or the last id that was
 */
struct via_res_walk {
	u8 cmd;
	kuid_t uid;
	bool owner;
	bool initial;
	struct via_nic *only;
	bool over;
	int minor;
	u32 phase;
	u64 serial;
	u32 index;
};

/* One message of it, and the NIC that it is about. */
struct via_res_part {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct via_res_walk *walk;
	struct via_nic *nic;
	kuid_t uid;		/* whose objects; INVALID_UID: all users' */
};

static bool via_res_told(const struct via_res_part *p, const struct via_file *f)
{
	return !uid_valid(p->uid) || uid_eq(p->uid, f->uid);
}

/* The process is told where the reader could find it, while there is one. */
static int put_process(struct sk_buff *skb, const struct via_file *f)
{
	char comm[TASK_COMM_LEN];
	struct task_struct *task;
	pid_t pid = 0;

	rcu_read_lock();
	task = pid_task(f->pid, PIDTYPE_TGID);
	if (task) {
		pid = pid_vnr(f->pid);
		get_task_comm(comm, task);
	}
	rcu_read_unlock();
	if (!pid)
		return 0;
	if (nla_put_u32(skb, VIA_NL_A_PID, pid) ||
	    nla_put_string(skb, VIA_NL_A_COMM, comm))
		return -EMSGSIZE;
	return 0;
}

/* The beginning of each object; NULL: no room. */
static void *begin_object(const struct via_res_part *p,
			  const struct via_file *f)
{
	const struct sock *sk = NETLINK_CB(p->cb->skb).sk;
	void *hdr = genlmsg_put(p->skb, NETLINK_CB(p->cb->skb).portid,
				p->cb->nlh->nlmsg_seq, &via_nl_family,
				NLM_F_MULTI, p->walk->cmd);

	if (!hdr)
		return NULL;
	if (via_nl_put_nic(p->skb, p->nic) ||
	    nla_put_u64_64bit(p->skb, VIA_NL_A_HANDLE, f->serial,
			      VIA_NL_A_PAD) ||
	    nla_put_u32(p->skb, VIA_NL_A_UID,
			from_kuid_munged(sk_user_ns(sk), f->uid)) ||
	    put_process(p->skb, f)) {
		genlmsg_cancel(p->skb, hdr);
		return NULL;
	}
	return hdr;
}

static int end_object(const struct via_res_part *p, void *hdr, bool full)
{
	if (full) {
		genlmsg_cancel(p->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(p->skb, hdr);
	return 0;
}

/* The first VI at or after walk->index that may be told, and its handle. */
static struct via_file *next_vi(const struct via_res_part *p,
				struct via_vi_view *view)
{
	u32 *index = &p->walk->index, max = p->nic->limits.max_vi, n;
	struct via_file *f = NULL;
	struct via_vi *vi;

	while (!f && *index < max && !fatal_signal_pending(current)) {
		rcu_read_lock();
		for (n = 0; n < VIA_RES_CHUNK; n++, ++*index) {
			vi = via_vi_next(p->nic, index);
			if (!vi)
				break;
			if (!via_res_told(p, vi->file))
				continue;
			via_vi_look(vi, view);
			/* It has one until a grace period after its end. */
			f = vi->file;
			via_file_get(f);
			break;
		}
		rcu_read_unlock();
		cond_resched();
	}
	return f;
}

static int put_vi(const struct via_res_part *p, const struct via_file *f,
		  const struct via_vi_view *v)
{
	struct sk_buff *skb = p->skb;
	void *hdr = begin_object(p, f);
	bool full;

	if (!hdr)
		return -EMSGSIZE;
	full = nla_put_u32(skb, VIA_NL_A_VI, v->id) ||
	       nla_put_u32(skb, VIA_NL_A_STATE, v->state) ||
	       nla_put_u32(skb, VIA_NL_A_LEVEL, v->level) ||
	       nla_put_u32(skb, VIA_NL_A_PTAG, v->ptag) ||
	       nla_put_u32(skb, VIA_NL_A_SEND_POSTED, v->send_posted) ||
	       nla_put_u32(skb, VIA_NL_A_SEND_IN_FLIGHT,
			   v->send_in_flight) ||
	       nla_put_u32(skb, VIA_NL_A_RECV_POSTED, v->recv_posted) ||
	       (v->send_cq &&
		nla_put_u32(skb, VIA_NL_A_SEND_CQ, v->send_cq)) ||
	       (v->recv_cq &&
		nla_put_u32(skb, VIA_NL_A_RECV_CQ, v->recv_cq)) ||
	       (v->remote.host_len &&
		nla_put(skb, VIA_NL_A_REMOTE, v->remote.host_len,
			v->remote.host));
	return end_object(p, hdr, full);
}

static int dump_vis(const struct via_res_part *p)
{
	struct via_vi_view view;
	struct via_file *f;
	int ret = 0;

	while (!ret && (f = next_vi(p, &view))) {
		ret = put_vi(p, f, &view);
		via_file_put(f);
		if (!ret)
			p->walk->index++;
	}
	return ret;
}

static int put_mr(const struct via_res_part *p, const struct via_file *f,
		  const struct via_mem_view *v)
{
	void *hdr = begin_object(p, f);
	bool full;

	if (!hdr)
		return -EMSGSIZE;
	full = nla_put_u32(p->skb, VIA_NL_A_MR, v->index) ||
	       nla_put_u64_64bit(p->skb, VIA_NL_A_LENGTH, v->len,
				 VIA_NL_A_PAD) ||
	       nla_put_u32(p->skb, VIA_NL_A_PAGES, v->npages) ||
	       nla_put_u32(p->skb, VIA_NL_A_RIGHTS, v->rights) ||
	       nla_put_u32(p->skb, VIA_NL_A_PTAG, v->ptag);
	return end_object(p, hdr, full);
}

static int mrs_of(const struct via_res_part *p, struct via_file *f)
{
	struct via_mem_view view;
	int ret = 0;

	while (!ret && via_mem_next(f, p->walk->index, &view)) {
		ret = put_mr(p, f, &view);
		if (!ret)
			p->walk->index = view.index + 1;
		cond_resched();
	}
	return ret;
}

static int put_cq(const struct via_res_part *p, const struct via_file *f,
		  const struct via_cq_view *v)
{
	void *hdr = begin_object(p, f);
	bool full;

	if (!hdr)
		return -EMSGSIZE;
	full = nla_put_u32(p->skb, VIA_NL_A_CQ, v->id) ||
	       nla_put_u32(p->skb, VIA_NL_A_ENTRIES, v->entries) ||
	       nla_put_u32(p->skb, VIA_NL_A_USED, v->used) ||
	       nla_put_u32(p->skb, VIA_NL_A_QUEUES, v->queues);
	return end_object(p, hdr, full);
}

static int cqs_of(const struct via_res_part *p, struct via_file *f)
{
	struct via_cq_view view;
	int ret = 0;

	while (!ret && via_cq_next(f, p->walk->index, &view)) {
		ret = put_cq(p, f, &view);
		if (!ret)
			p->walk->index = view.id + 1;
		cond_resched();
	}
	return ret;
}

/* What is found by its NIC handle, of all handles. */
static int dump_files(const struct via_res_part *p)
{
	struct via_res_walk *walk = p->walk;
	struct via_file *f;
	u64 after = walk->serial ? walk->serial - 1 : 0;
	int ret = 0;

	while (!ret) {
		f = via_nic_next_file(p->nic, after);
		if (!f)
			return 0;
		after = f->serial;
		if (walk->serial != f->serial) {
			walk->serial = f->serial;
			walk->index = 0;
		}
		if (fatal_signal_pending(current))
			ret = -EINTR;
		else if (via_res_told(p, f))
			ret = walk->cmd == VIA_NL_CMD_RES_MR ? mrs_of(p, f) :
							       cqs_of(p, f);
		via_file_put(f);
		cond_resched();
	}
	return ret;
}

static int put_conn(const struct via_res_part *p, const struct via_file *f,
		    enum via_nl_conn kind, u32 vi,
		    const struct via_net_addr *local,
		    const struct via_net_addr *remote)
{
	struct sk_buff *skb = p->skb;
	void *hdr = begin_object(p, f);
	bool full;

	if (!hdr)
		return -EMSGSIZE;
	full = nla_put_u32(skb, VIA_NL_A_CONN, kind) ||
	       (vi && nla_put_u32(skb, VIA_NL_A_VI, vi)) ||
	       nla_put(skb, VIA_NL_A_LOCAL_DISC, local->disc_len,
		       local->disc) ||
	       (kind != VIA_NL_CONN_WAIT &&
		(nla_put(skb, VIA_NL_A_REMOTE, remote->host_len,
			 remote->host) ||
		 nla_put(skb, VIA_NL_A_REMOTE_DISC, remote->disc_len,
			 remote->disc)));
	return end_object(p, hdr, full);
}

static int put_backlog(const struct via_res_part *p,
		       const struct via_conn_view *v)
{
	struct sk_buff *skb = p->skb;
	void *hdr = begin_object(p, v->file);

	if (!hdr)
		return -EMSGSIZE;
	return end_object(p, hdr,
			  nla_put_u32(skb, VIA_NL_A_CONN, VIA_NL_CONN_LISTEN) ||
			  nla_put(skb, VIA_NL_A_LOCAL_DISC, v->local.disc_len,
				  v->local.disc) ||
			  nla_put_u32(skb, VIA_NL_A_ENTRIES, v->most) ||
			  nla_put_u32(skb, VIA_NL_A_USED, v->count));
}

static int dump_waiters(const struct via_res_part *p)
{
	bool requests = p->walk->phase == VIA_RES_REQUESTS;
	struct via_conn_view v;
	int ret = 0;

	while (!ret && !fatal_signal_pending(current) &&
	       (requests ?
		via_request_next(p->nic, p->uid, p->walk->index, &v) :
		via_waiter_next(p->nic, p->uid, p->walk->index, &v))) {
		ret = v.most ? put_backlog(p, &v) :
		      put_conn(p, v.file, requests ? VIA_NL_CONN_REQUEST :
			       VIA_NL_CONN_WAIT, 0, &v.local, &v.remote);
		via_file_put(v.file);
		if (!ret)
			p->walk->index = v.id;
		cond_resched();
	}
	return ret;
}

/* VIs that have a connection, or are to have one. */
static int dump_connected(const struct via_res_part *p)
{
	enum via_nl_conn kind;
	struct via_vi_view v;
	struct via_file *f;
	int ret = 0;

	while (!ret && (f = next_vi(p, &v))) {
		if (v.state == VIA_STATE_PENDING)
			kind = v.p2p ? VIA_NL_CONN_PEER : VIA_NL_CONN_PENDING;
		else
			kind = VIA_NL_CONN_CONNECTED;
		if (v.state == VIA_STATE_PENDING ||
		    v.state == VIA_STATE_CONNECTED)
			ret = put_conn(p, f, kind, v.id, &v.local, &v.remote);
		via_file_put(f);
		if (!ret)
			p->walk->index++;
	}
	return ret;
}

static int dump_conns(const struct via_res_part *p)
{
	struct via_res_walk *walk = p->walk;
	int ret = 0;

	while (walk->phase < VIA_RES_PHASES) {
		ret = walk->phase == VIA_RES_VIS ? dump_connected(p) :
						   dump_waiters(p);
		if (ret)
			break;
		walk->phase++;
		walk->index = 0;
	}
	return ret;
}

/* From where the walk is in it to its end, or until there is no more room. */
static int dump_nic(struct sk_buff *skb, struct netlink_callback *cb,
		    struct via_nic *nic)
{
	struct via_res_walk *walk = (struct via_res_walk *)cb->args[0];
	bool all = nic->netns ? walk->owner : walk->initial;
	struct via_res_part p = {
		.skb	= skb,
		.cb	= cb,
		.walk	= walk,
		.nic	= nic,
		.uid	= all ? INVALID_UID : walk->uid,
	};
	int ret;

	switch (walk->cmd) {
	case VIA_NL_CMD_RES_VI:
		ret = dump_vis(&p);
		break;
	case VIA_NL_CMD_RES_CONN:
		ret = dump_conns(&p);
		break;
	default:
		ret = dump_files(&p);
	}
	return ret ?: fatal_signal_pending(current) ? -EINTR : 0;
}

/* cb->args[0]: the walk. */

int via_nl_res_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *hdr = nlmsg_data(cb->nlh);
	const struct net *net = sock_net(cb->skb->sk);
	struct nlattr **attrs = genl_info_dump(cb)->attrs;
	struct via_res_walk *walk;

	walk = kzalloc(sizeof(*walk), GFP_KERNEL_ACCOUNT);
	if (!walk)
		return -ENOMEM;
	if (attrs[VIA_NL_A_NIC] || attrs[VIA_NL_A_IFINDEX]) {
		walk->only = via_nl_nic(net, attrs, cb->extack);
		if (IS_ERR(walk->only)) {
			int ret = PTR_ERR(walk->only);

			kfree(walk);
			return ret;
		}
	}
	walk->cmd = hdr->cmd;
	walk->uid = NETLINK_CREDS(cb->skb)->uid;
	walk->initial = netlink_capable(cb->skb, CAP_NET_ADMIN);
	walk->owner = walk->initial ||
		      netlink_ns_capable(cb->skb, net->user_ns,
					 CAP_NET_ADMIN);
	cb->args[0] = (long)walk;
	return 0;
}

int via_nl_res_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct via_res_walk *walk = (struct via_res_walk *)cb->args[0];
	struct via_nic *nic;
	int ret = 0;

	if (walk->only) {
		if (!walk->over)
			ret = dump_nic(skb, cb, walk->only);
		walk->over = !ret;
		return skb->len ?: ret;
	}
	while (!ret) {
		nic = via_nic_from(sock_net(cb->skb->sk), &walk->minor);
		if (!nic)
			break;
		ret = dump_nic(skb, cb, nic);
		via_nic_put(nic);
		if (ret)
			break;
		walk->minor++;
		walk->phase = 0;
		walk->serial = 0;
		walk->index = 0;
	}
	return skb->len ?: ret;
}

int via_nl_res_done(struct netlink_callback *cb)
{
	struct via_res_walk *walk = (struct via_res_walk *)cb->args[0];

	if (walk->only)
		via_nic_put(walk->only);
	kfree(walk);
	return 0;
}
