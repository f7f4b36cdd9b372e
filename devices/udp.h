/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside via_udp.
 *
 * Locking: the list of NICs, and a NIC's coming and going, are under RTNL.
 * via_udp_links_lock guards the list of links of a NIC; nothing is taken inside
 * it.  Frames are sent and received with bottom halves off, in an RCU read side.
 */
#ifndef _VIA_UDP_H
#define _VIA_UDP_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/spinlock.h>
#include <net/dst.h>
#include <net/sock.h>
#include "ether/via_ether.h"

#define VIA_UDP_PORT		13879	/* of the receiver: docs/howto/udp.md */
#define VIA_UDP_FLOWS		49152	/* first source port, dynamic ones */
#define VIA_UDP_QUEUED		(1024 * 1024)	/* bytes in local queues */
#define VIA_UDP_LINK_BITS	12	/* lists of links, 32 KiB: as VIA_PEER_BITS */

/**
 * struct via_udp_counts - of a NIC, per CPU; BH off
 * @rx_early:	frames that were taken before the stack
 * @rx_joined:	frames that came joined, and were taken so
 * @tx_joined:	frames that were sent so
 * @rx_shaped:	frames of trains in TCP's shape
 * @rx_misshaped: packets in it that were not taken
 * @tx_shaped:	frames that were sent in it
 */
struct via_udp_counts {
	u64 rx_early;
	u64 rx_joined;
	u64 tx_joined;
	u64 rx_shaped;
	u64 rx_misshaped;
	u64 tx_shaped;
};

/**
 * struct via_udp - a VI NIC at an address and a port
 * @link:	RTNL: on the list
 * @net:	constant: the namespace, which ends it before it goes
 * @nic:	constant: the class's side
 * @sock:	constant: of the address and the port
 * @v6:		constant: IPv6
 * @port:	constant: on both hosts
 * @ifindex:	constant: the interface that it is bound to, or 0
 * @waker:	there is room again, or a path has another MTU
 * @full:	frames were refused: WRITE_ONCE(), READ_ONCE()
 * @links:	via_udp_links_lock: those that are kept
 * @looks:	via_udp_links_lock: those of which the path is to be looked at
 * @by_host:	likewise, by address
 * @hook:	constant: finds the route of what is received, via_udp_known()
 * @hooked:	RTNL: it is registered
 * @learn:	a link has no route, or another one: WRITE_ONCE(), READ_ONCE()
 * @space:	constant: the socket's own sk_write_space()
 * @tx_lost:	frames without a route, or refused by it; racy
 * @tx_black_hole:	how often a path that drops long frames got a smaller MTU; racy
 * @rx_quoted:	errors about frames of ours; racy
 * @counts:	constant
 * @raw:	constant: where raw sockets that get datagrams would be, or NULL: not
 *		known
 * @shape:	constant: trains in TCP's shape, or NULL: datagrams alone
 */
struct via_udp {
	struct list_head link;
	struct net *net;
	struct via_ether_nic *nic;
	struct socket *sock;
	bool v6;
	__be16 port;
	int ifindex;
	struct tasklet_struct waker;
	bool full;
	struct list_head links;
	struct list_head looks;
	struct via_table by_host;
	struct nf_hook_ops hook;
	bool hooked;
	bool learn;
	void (*space)(struct sock *sk);
	u64 tx_lost;
	u64 tx_black_hole;
	u64 rx_quoted;
	struct via_udp_counts __percpu *counts;
	const struct hlist_head *raw;
	struct via_udp_shape *shape;
};

/* How far a host is with trains in TCP's shape to it. */
enum via_udp_step {
	VIA_UDP_TO_REST,		/* it is asked at @next */
	VIA_UDP_TO_ASK,			/* it was asked */
	VIA_UDP_TO_PROBE,		/* it takes them; it is, or was, probed */
	VIA_UDP_TO_PROVEN,		/* it has answered; it is probed at @next */
};

/**
 * struct via_udp_to - trains in TCP's shape to a host
 * @step, @tries, @cookie: via_udp_links_lock: the ASK or probe, and how often it was sent
 * @answered:	likewise: @cookie of the last one that had an answer
 * @next:	via_udp_links_lock to write: when the next one is sent, in jiffies
 * @trains:	likewise: they are sent
 * @resent:	frames that were sent again since the last GOT; racy
 */
struct via_udp_to {
	enum via_udp_step step;
	u32 tries;
	u64 cookie;
	u64 answered;
	unsigned long next;
	bool trains;
	u32 resent;
};

/**
 * struct via_udp_from - and from it: WRITE_ONCE(), READ_ONCE()
 * @granted:	it was told that they are taken
 * @cookie:	of its last ASK or probe
 * @stopped:	jiffies when it was last told that they are not
 */
struct via_udp_from {
	bool granted;
	u64 cookie;
	unsigned long stopped;
};

/**
 * struct via_udp_link - what is kept for a host, link->priv
 * @link:	via_udp_links_lock: on the NIC's list
 * @by_host:	via_udp_links_lock: on the NIC's list of that hash
 * @host:	constant: its address
 * @in:		via_udp_links_lock, RCU: what is received from it was routed
 *		so, with a reference
 * @in_cookie:	as @in: of IPv6
 * @in_ifindex:	as @in: by this interface
 * @in_mark:	as @in: with this mark of the packet filter
 * @out:	via_udp_links_lock, RCU: the route to it, with a reference
 * @out_cookie:	as @out: of IPv6
 * @mtu:	of the path, IP header included, as the class was told:
 *		WRITE_ONCE(), READ_ONCE(); 0: not yet
 * @look:	likewise, via_udp_links_lock to write: the path may have another one
 * @look_link:	via_udp_links_lock: on the NIC's list while @look
 * @black:	likewise: the path drops frames of so many bytes; 0: none
 * @to, @from:	trains in TCP's shape
 * @rcu:	after its end
 */
struct via_udp_link {
	struct list_head link;
	struct hlist_node by_host;
	u8 host[VIA_HOST_MAX];
	struct dst_entry __rcu *in;
	u32 in_cookie;
	int in_ifindex;
	u32 in_mark;
	struct dst_entry __rcu *out;
	u32 out_cookie;
	u32 mtu;
	bool look;
	struct list_head look_link;
	u32 black;
	struct via_udp_to to;
	struct via_udp_from from;
	struct rcu_head rcu;
};

extern spinlock_t via_udp_links_lock;

/* Bytes of IP's and UDP's headers. */
static inline u32 via_udp_overhead(const struct via_udp *u)
{
	return u->v6 ? 48 : 28;
}

/* udp_link.c: of struct via_ether_ops */
bool via_udp_host_valid(const struct via_ether_nic *nic, const u8 *host);
bool via_udp_host_near(struct via_ether_nic *nic, const u8 *host);
bool via_udp_link_open(struct via_ether_nic *nic, struct via_ether_link *link,
		       const u8 *host, gfp_t gfp);
void via_udp_link_close(struct via_ether_link *link);

/* udp_send.c */
DECLARE_PER_CPU(struct via_pages, via_udp_pages);
/* Bytes of frames that have not left this host are few enough. */
static inline bool via_udp_has_room(const struct via_udp *u)
{
	return refcount_read(&u->sock->sk->sk_wmem_alloc) < VIA_UDP_QUEUED;
}

/* Likewise of struct via_ether_ops. */
void via_udp_path_black_hole(struct via_ether_nic *nic,
			     const struct via_ether_link *link, u32 len);
bool via_udp_tx_begin(struct via_ether_nic *nic, struct via_ether_tx *tx,
		      u32 flow);
bool via_udp_tx_get(struct via_ether_nic *nic, struct via_ether_tx *tx,
		    const struct via_ether_link *link, u32 len,
		    struct via_ether_buf *buf);
bool via_udp_tx_put(struct via_ether_nic *nic, struct via_ether_tx *tx,
		    u32 len, struct via_ether_buf *buf);
void via_udp_tx_drop(struct via_ether_nic *nic, struct via_ether_tx *tx,
		     struct via_ether_buf *buf);
void via_udp_tx_end(struct via_ether_nic *nic, struct via_ether_tx *tx);
bool via_udp_tx_get_one(struct via_ether_nic *nic, struct via_ether_tx *tx,
			const struct via_ether_link *link, u32 flow, u32 len,
			struct via_ether_buf *buf);
void via_udp_tx_put_one(struct via_ether_nic *nic, struct via_ether_tx *tx,
			u32 len, struct via_ether_buf *buf);
bool via_udp_tx_get_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			  const struct via_ether_link *link,
			  struct via_ether_train *t, struct via_ether_buf *buf);
bool via_udp_tx_put_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			  const struct via_ether_train *t,
			  struct via_ether_buf *buf);
/*
 * udp_path.c.  @skb, with its IP header, may be of those that the path drops: its
 * route gets a smaller MTU.
 */
void via_udp_leave_black_hole(struct via_udp *u, struct sk_buff *skb,
			      struct via_udp_link *kept);
/* The class is told the MTU of a path that may have changed. */
void via_udp_look_at_path(struct via_udp *u, struct via_udp_link *kept);

/* The socket's: there is room again in the queues. */
void via_udp_write_space(struct sock *sk);
/* What @waker does. */
void via_udp_wake(struct tasklet_struct *t);
/* Memory of frames. */
void via_udp_pages_end(void);

/* udp_link.c */
/* No link has a route any more; nothing is sent. */
void via_udp_links_end(struct via_udp *u);
/*
 * Keep a route in one of the above instead of the one there.  @dst has a
 * reference of its own, or is NULL.  via_udp_links_lock held.
 */
void via_udp_keep(struct dst_entry __rcu **where, u32 *cookie,
		  struct dst_entry *dst, bool v6);
/* A route, with a reference, or NULL. */
struct dst_entry *via_udp_look_up(const struct via_udp *u, const u8 *host);
/* The MTU of its path may be another one: @waker looks.  BH off. */
void via_udp_look_soon(struct via_udp *u, struct via_udp_link *kept);
/*
 * The first of those, off the list; NULL: there is none, or the rest is for the next
 * run.  RCU read side, BH off.
 */
struct via_udp_link *via_udp_next_look(struct via_udp *u,
				       struct via_work *work);
/* The link has none, or an old one. */
struct dst_entry *via_udp_new_route(const struct via_udp *u,
				    struct via_udp_link *kept);

/* The route to a host.  RCU holds it, bottom halves are off. */
static inline struct dst_entry *via_udp_route(const struct via_udp *u,
					      struct via_udp_link *kept)
{
	struct dst_entry *dst = rcu_dereference_check(kept->out,
						      rcu_read_lock_bh_held());

	if (likely(dst && dst_check(dst, kept->out_cookie)))
		return dst;
	return via_udp_new_route(u, kept);
}

/* Kernels that have no inline memcmp() call it for 4 bytes, too. */
static inline bool via_udp_same_host(const struct via_udp *u, const void *a,
				     const void *b)
{
	u32 x, y;

	if (u->v6)
		return !memcmp(a, b, sizeof(struct in6_addr));
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x == y;
}

/* Where the link to a host is.  Each datagram is looked up, from any sender. */
static __always_inline struct hlist_head *via_udp_bucket(struct via_udp *u,
							 const u8 *host)
{
	const struct via_table *t = &u->by_host;
	u32 v4;

	if (u->v6)
		return via_table_list(t, via_table_hash(t, host,
							sizeof(struct in6_addr)));
	memcpy(&v4, host, sizeof(v4));
	return via_table_list(t, via_table_hash_word(t, v4));
}

/* The link that is kept for a host, or NULL.  RCU read side. */
static __always_inline struct via_udp_link *via_udp_link_of(struct via_udp *u,
							    const u8 *host)
{
	struct via_udp_link *kept;

	hlist_for_each_entry_rcu(kept, via_udp_bucket(u, host), by_host)
		if (via_udp_same_host(u, kept->host, host))
			return kept;
	return NULL;
}

/* udp_recv.c: of the socket, and before it */
int via_udp_rx(struct sock *sk, struct sk_buff *skb);
struct sk_buff *via_udp_rx_early(struct sock *sk, struct list_head *head,
				 struct sk_buff *skb);
int via_udp_gro_complete(struct sock *sk, struct sk_buff *skb, int at);
void via_udp_hook(struct via_udp *u);
void via_udp_unhook(struct via_udp *u);
int via_udp_error(struct sock *sk, struct sk_buff *skb);
/* No hook of the packet filter is on the way to us but ours. */
bool via_udp_unfiltered(const struct via_udp *u);

/*
 * The path has another MTU than the class was told, or was not told any.  Of
 * long frames only: they are those that it concerns.
 */
static inline void via_udp_compare_mtu(struct via_udp *u,
				       struct via_udp_link *kept, u32 mtu)
{
	if (likely(READ_ONCE(kept->mtu) == mtu) || READ_ONCE(kept->look))
		return;
	via_udp_look_soon(u, kept);
}

static inline bool via_udp_is_black_hole(const struct via_udp_link *kept)
{
	return unlikely(kept && READ_ONCE(kept->black));
}

#endif /* _VIA_UDP_H */
