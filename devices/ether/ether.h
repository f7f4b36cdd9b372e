/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside the class of packet networks.
 *
 * Locking
 * -------
 * A VI's class state lies in vi->priv and is guarded by the agent's queue
 * locks, so that the hot paths take no lock of ours:
 *
 *   both vi->sq.lock and vi->rq.lock, to write; either, to read: the phase,
 *	the cookies and addresses, everything that is constant while the
 *	connection stands
 *   vi->sq.lock: the sender's half
 *   vi->rq.lock: the receiver's half; win.next is also read without it, to be
 *	sent as an acknowledgement: an old value is a valid one
 *   peer->pool_lock: the window of a peer and its credit; inside the queue
 *	locks, nic->lock is taken inside it.  What of a VI's credit is read
 *	under sq.lock alone: share.c
 *   peer->timing.lock: the round-trip time of a peer; inside the queue locks,
 *	nothing is taken inside it
 *   secret->lock: the sessions of a host with a key (session.h); and the lock
 *	of a session's numbers (session.h); inside the queue locks, nothing is
 *	taken inside them
 *   nic->lock: membership in the NIC's lists, requests, the table of peers
 *	(peer.h) and what is in them, who uses them; taken inside the queue
 *	locks; nothing is taken inside it.  While a frame of data is filled
 *	in it is taken inside the NIC module's transmit lock, too
 *	(via_ether_ack_behind()), which is never taken under it
 *
 * The receive path takes rq.lock, drops it, then takes sq.lock; never both,
 * but while reads are outstanding (@reads): their data goes to the send queue.
 * Frames are sent under sq.lock (data) or under none or one of the queue
 * locks (control), and the NIC module's transmit lock is inside them all.
 * Everything here runs with bottom halves off.
 *
 * What functions return: as in kernel/via_ka.h.  Besides,
 *
 *   u8 type            VIA_WIRE_*, a frame's type; 0: none
 *   u8, u32 reason     VIA_WIRE_R_*, why a connection ends; 0: it does not
 *   bool of a send     false: the NIC has taken no frame
 *
 * Lifetime of a VI's state: it is on a list or reached by its index only
 * while it has a phase.  disconnect() ends the phase and takes it off the
 * lists; the agent then lets an RCU grace period pass before the memory
 * goes, and every walk over a list is an RCU read side.
 */
#ifndef _VIA_ETHER_PRIV_H
#define _VIA_ETHER_PRIV_H

#include "../../kernel/via_conn.h"
#include "peer.h"
#include "proto/auth.h"
#include "proto/wire.h"
#include "stats.h"
#include "trace.h"
#include "vi.h"
#include "via_ether.h"

#define VIA_ETHER_BUDGET	64	/* descriptors and frames of one call to send() */
/*
 * What a softirq of the class does at once, in visits (kernel/via_work.h): the
 * frames that a VI sends are charged beside the visit of the VI.
 */
#define VIA_ETHER_VISITS	128
#define VIA_ETHER_ACK_EVERY	16	/* frames until one is acknowledged, and */
#define VIA_ETHER_ACK_RARELY	4	/* times as many where none waits for it */
#define VIA_ETHER_DMA_MIN	512	/* bytes from which on they go by DMA */
/* Unreliable: so many frames are acknowledged by data until that is looked at. */
#define VIA_ETHER_LAZY		8u
/* Unreliable: one end may be so many frames behind the other. */
#define VIA_ETHER_LOST_MAX	0x100000u

/* The client: what names a request at the server; lies in via_conn.priv. */
struct via_ether_client {
	struct via_host host;
	u32 vi;
	u64 cookie;
	u64 epoch;
	u32 first_seq;
	u32 mtu;
	u32 frames;
	bool want_seal;
	u8 takes;		/* VIA_TAKES_* */
};

/* What DISCONNECT says, and to whom: as it is at the end of a connection. */
struct via_end_frame {
	struct via_host host;
	bool plain;		/* of a connection without checksums */
	u32 dst;
	u64 cookie;
	u32 seq;
	u32 ack;
	u32 reason;
	u32 src;
};

/* A request that the server's program has not answered. */
struct via_ether_req {
	struct via_order_node due;	/* nic->lock: in nic->reqs */
	struct hlist_node node;		/* nic->lock: see via_peer_req() */
	struct via_peer *peer;		/* constant, with a use of it */
	struct via_conn *conn;		/* NULL for a moment */
	struct via_ether_client client;
	unsigned long seen;		/* jiffies of the last REQUEST */
	unsigned long deadline;
	bool forever;
};

/**
 * struct via_run_ops - what the tasklet of a NIC does, and retries
 * @resume:	send again.  False: the NIC takes no more.  sq.lock held
 * @acks, @visits: what else is to be done after a softirq.  BH off, RCU read
 *		side
 */
struct via_run_ops {
	bool (*resume)(struct via_vi *vi, struct via_work *work);
	void (*acks)(struct via_ether_nic *nic, struct via_work *work);
	void (*visits)(struct via_ether_nic *nic, struct via_work *work);
};

/* How many frames a sender may have in flight to a VI of the NIC. */
static inline u32 via_ether_credit(const struct via_ether_nic *nic)
{
	return min(nic->rx_frames, VIA_WIN_MAX);
}

/* A VI's id on the wire is its index + 1: 0 is none. */
static inline u32 via_ether_id(const struct via_vi *vi)
{
	return vi->index + 1;
}

/* RCU read side; NULL: there is none. */
static inline struct via_vi *via_ether_find(struct via_ether_nic *nic, u32 id)
{
	return via_vi_lookup(nic->ka, id - 1);
}

/*
 * Is @seq one of the last frames of ours, or the next?  Reliable: what is not
 * acknowledged.  sq.lock held.
 */
static inline bool via_ether_sent(const struct via_ether_vi *ev, u32 seq)
{
	u32 most = ev->conn.reliable ? via_win_flight(&ev->snd.win) :
				       VIA_ETHER_LOST_MAX;

	return ev->snd.win.nxt - seq <= most;
}

/* Smoothed round-trip time, us.  A queue lock held, phase not NONE. */
static inline u32 via_ether_srtt(const struct via_ether_vi *ev)
{
	return READ_ONCE(ev->peer->timing.rtt.srtt) / 8;
}

/* The mean of those without the peer's waits, us; 0: none.  Likewise. */
static inline u32 via_ether_rtt_net(const struct via_ether_vi *ev)
{
	return READ_ONCE(ev->peer->timing.net);
}

/* An attempt is under way.  A queue lock of the VI held. */
static inline bool via_ether_trying(const struct via_ether_vi *ev)
{
	return ev->conn.phase == VIA_PHASE_REQUEST ||
	       ev->conn.phase == VIA_PHASE_P2P ||
	       ev->conn.phase == VIA_PHASE_ACCEPT;
}

/* A read of the peer's that is to be answered. */
static inline struct via_read_answer *
via_ether_answer_of(struct via_ether_vi *ev, u32 index)
{
	return &ev->answers.answer[index % VIA_ETHER_ANSWERS];
}

/* Is the frame from the other end of this VI's connection?  A lock held. */
static inline bool via_ether_ours(const struct via_ether_vi *ev,
				  const struct via_frame_hdr *h,
				  const u8 *host)
{
	return likely(ev->conn.cookie == h->cookie) && h->cookie &&
	       via_host_is(&ev->conn.remote, host);
}

/* Both queue locks of a VI, BH already off. */
static inline void via_ether_lock(struct via_vi *vi)
	__acquires(&vi->sq.lock) __acquires(&vi->rq.lock)
{
	spin_lock(&vi->sq.lock);
	spin_lock(&vi->rq.lock);
}

static inline void via_ether_unlock(struct via_vi *vi)
	__releases(&vi->rq.lock) __releases(&vi->sq.lock)
{
	spin_unlock(&vi->rq.lock);
	spin_unlock(&vi->sq.lock);
}

#endif /* _VIA_ETHER_PRIV_H */
