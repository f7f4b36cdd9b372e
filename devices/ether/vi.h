/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The class's part of a VI, in parts: each has the lock that its head names.
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
 *	locks
 *   the lock of a struct via_owed: what one CPU has found to be owed; inside
 *	the queue locks and nic->lock, nothing is taken inside it.  While a frame
 *	of data is filled in it is taken inside the NIC module's transmit lock,
 *	too (via_ether_ack_behind()), which is never taken under it
 *   the lock of a struct via_ready: what one CPU is to resume; inside nic->lock
 *	and pool_lock, nothing is taken inside it
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
#ifndef _VIA_ETHER_VI_H
#define _VIA_ETHER_VI_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include "../../kernel/via_ka.h"
#include "proto/credit.h"
#include "proto/delack.h"
#include "proto/host.h"
#include "proto/rto.h"
#include "proto/window.h"
#include "proto/wire.h"
#include "peer.h"
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

/*
 * RDMA Reads that an initiator has on the wire, and that a target remembers.
 * A new request may overtake the acknowledgements of the last answers, so the
 * target has room for twice as many; one beyond that is as good as lost.
 */
#define VIA_ETHER_READS		16u
#define VIA_ETHER_ANSWERS	32u

enum via_ether_phase {
	VIA_PHASE_NONE,
	VIA_PHASE_REQUEST,	/* client: REQUEST sent */
	VIA_PHASE_P2P,		/* peer to peer: PEER_REQUEST sent */
	VIA_PHASE_ACCEPT,	/* server, or the end that is asked: */
				/* (PEER_)ACCEPT sent, CONFIRM awaited */
	VIA_PHASE_CONNECTED,
};

/* What the alarm watches of a VI, each under its queue's lock. */
enum via_ether_half {
	VIA_ETHER_TX,
	VIA_ETHER_RX,
	VIA_ETHER_HALVES
};

/**
 * struct via_conn_state - the connection: both queue locks to write, either to read
 * @cookie:	names our end of the connection; 0: none
 * @remote_cookie: names the other end
 * @remote_id:	VI id of the other end
 * @mtu:	bytes of a frame that the peer takes, as its hello says
 * @seg_send:	payload bytes of a SEND frame, likewise sq.lock: as long as the
 *		MTU of the interface lets them be
 * @seg_write:	payload bytes of a WRITE frame, likewise
 * @dma_from:	bytes of payload from which on a frame goes by DMA
 * @phase:	where the connection stands
 * @reliable:	the level is not Unreliable; known when an attempt begins
 * @want_seal:	checksums were asked for when the attempt began
 * @seal:	VIA_WIRE_SUM or AUTH: what its frames have; 0: neither
 * @seal_len:	bytes of it in each frame
 * @remote:	its host
 * @head:	of every frame sent, as far as it is constant
 * @key_id:	of its host's key when it was made, 0: none
 * @remote_epoch: of the other host: what a token for it is of
 * @first_seq:	of our data frames
 * @reason:	why we break, for DISCONNECT
 * @asked, @asked_at: a LIST lacked it, and it was asked then (jiffies)
 */
struct via_conn_state {
	u64 cookie;
	u64 remote_cookie;
	u32 remote_id;
	u32 mtu;
	u32 seg_send;
	u32 seg_write;
	u32 dma_from;
	u8 phase;
	bool reliable;
	bool want_seal;
	u8 seal;
	u8 seal_len;
	struct via_host remote;
	struct via_wire head __aligned(8);
	u32 key_id;
	u64 remote_epoch;
	u32 first_seq;
	u32 reason;
	bool asked;
	unsigned long asked_at;
};

/* What has to be done before new sends: bits of @odd. */
#define VIA_ODD_ACTIVE		0x1	/* @index is begun, or waits */
#define VIA_ODD_ANSWER		0x2	/* reads of the peer wait for data */
#define VIA_ODD_SEALED		0x4	/* frames have seals: no short cut */
#define VIA_ODD_WAITS		0x8	/* for credit */
#define VIA_ODD_ASK		0x10	/* a round trip without a wait is wanted */

#define VIA_CPU_NONE	U32_MAX

/**
 * struct via_snd - the sender: vi->sq.lock
 * @index:	descriptor being sent
 * @off:	bytes of it sent
 * @odd:	VIA_ODD_*
 * @busy:	via_send_busy() was called and send() is owed
 * @cpu:	where its data was sent last, or found no room; VIA_CPU_NONE: nowhere yet.
 *		READ_ONCE() under rq.lock or pool_lock alone
 * @acked:	last acknowledgement sent; written under either lock
 * @resent, @timeouts: for statistics
 * @credit:	what it holds of the peer's window; share.c
 * @win:	window; on an unreliable VI only una, nxt and credit
 */
struct via_snd {
	u32 index;
	u32 off;
	u8 odd;
	bool busy;
	u32 cpu;
	u32 acked;
	u32 resent;
	u32 timeouts;
	struct via_credit credit;
	struct via_win_tx win;
};

/* A frame kept until the hole before it is filled. */
struct via_ether_held {
	struct via_frame_hdr hdr;
	u8 payload[];
};

/**
 * struct via_rcv - the receiver: vi->rq.lock
 * @win:	window; on an unreliable VI only next
 * @open:	a message is being received
 * @type, @len, @off: its type, length, bytes so far
 * @both:	sq.lock is held as well
 * @dsack_due:	@dsack is to be told
 * @untold:	frames beyond a hole have come since the last acknowledgement
 * @ce_echo:	a frame was marked by the network, or is missing at Unreliable:
 *		to be told
 * @asked:	its window is small: counts the frames that ask (share.c)
 * @heard_ack:	Unreliable: what data has acknowledged; also read under sq.lock
 * @dsack:	a frame that came twice
 * @last_rx:	jiffies when it was heard last: via_ether_heard()
 * @next_challenge: jiffies: an ACK may answer a doubtful DISCONNECT then
 * @held:	frames beyond a hole: frame seq is at seq % win.size; win.bits lie
 *		in the same memory, behind them.  NULL: there was no hole yet
 */
struct via_rcv {
	struct via_win_rx win;
	bool open;
	u8 type;
	bool both;
	bool dsack_due;
	bool untold;
	bool ce_echo;
	u8 asked;
	u32 heard_ack;
	u32 len;
	u32 off;
	u32 dsack;
	unsigned long last_rx;
	unsigned long next_challenge;
	struct via_ether_held **held;
};

/* A read of ours: oldest first, answered in this order. */
struct via_ether_read {
	u32 index;		/* descriptor */
	u32 seq;		/* of its READ */
	u32 off;		/* bytes that have come */
};

/**
 * struct via_reads - RDMA Reads of ours: vi->sq.lock
 * @pending:	those that want data, and answers in the window: while
 *		there are any, acknowledgements and the receive path go the
 *		long way.  What is received under rq.lock sees it, since it is
 *		raised before the READ leaves
 * @head, @tail: of @read, oldest and next
 * @acked_late: bit index % 64: acknowledged, but behind such a read
 * @read:	those that want data
 */
struct via_reads {
	u32 pending;
	u32 head;
	u32 tail;
	u64 acked_late;
	struct via_ether_read read[VIA_ETHER_READS];
};

/* A read of the peer's, until its data is acknowledged. */
struct via_read_answer {
	u64 raddr;
	u32 rhandle;
	u32 len;
	u32 seq;		/* of its READ */
	bool gone;		/* sq.lock: its memory was deregistered: send_read.c, 2 */
};

/**
 * struct via_answers - RDMA Reads of the peer's: vi->sq.lock but for @tail
 * @head:	oldest answer that is not acknowledged (rq.lock: a hint)
 * @next:	answer being sent
 * @off:	bytes of it sent
 * @turn:	it is an answer's turn, not a message's
 * @tail:	rq.lock: where the next read of the peer's goes (release, acquire)
 * @answer:	those that are not acknowledged
 */
struct via_answers {
	u32 head;
	u32 next;
	u32 off;
	bool turn;
	u32 tail;
	struct via_read_answer answer[VIA_ETHER_ANSWERS];
};

/**
 * struct via_attempt_state - an attempt to connect: both queue locks
 * @next:	jiffies of the next try
 * @tries:	so far
 * @token:	in the last request that was sent
 * @waiting:	the server has said WAIT
 * @deadline, @forever: when the attempt ends
 * @attrs:	peer to peer, phase ACCEPT: of the other end
 */
struct via_attempt_state {
	unsigned long next;
	u32 tries;
	u64 token;
	bool waiting;
	bool forever;
	unsigned long deadline;
	struct via_vi_attrs attrs;
};

/**
 * struct via_links - what the VI is on: nic->lock
 * @due:	its entry of the alarm
 * @want:	when the halves are to be looked at; U64_MAX: not
 * @connecting:	of nic->connecting: an attempt
 * @tx_blocked:	@run is on the list of VIs that found the NIC full (run.c); also
 *		READ_ONCE() without the lock
 * @run:	on that list
 * @ready:	@ready_on's lock: on the list of a CPU that resumes it
 * @ready_on:	of that CPU, NULL: none does (ready.c)
 * @behind:	@owed's lock: it owes, since data of another VI carries no
 *		acknowledgement for it
 * @owing:	@owed's lock: of one of its lists: it owes an acknowledgement
 * @owed:	of the CPU that has found that, NULL: it owes none (owed.c)
 * @delayed:	rq.lock: the one with the slot that it was put in last; NULL: it has
 *		left it
 * @conns:	of peer->vis.conns: it is connected
 * @ours:	the same by the cookie of this end
 * @theirs:	by the cookie of the other end, which it knows
 * @ends:	of the table of ends by peer, remote_id and remote_cookie
 */
struct via_links {
	struct via_alarm due;
	u64 want[VIA_ETHER_HALVES];
	struct via_order_node connecting;
	bool tx_blocked;
	bool behind;
	struct list_head run;
	struct list_head ready;
	struct via_ready *ready_on;
	struct list_head owing;
	struct via_owed *owed;
	struct via_owed *delayed;
	struct list_head conns;
	struct rb_node ours;
	struct rb_node theirs;
	struct hlist_node ends;
};

/**
 * struct via_ether_vi - the class's part of a VI, vi->priv
 * @vi:		constant
 * @nic:	constant
 * @peer:	its host, with a use of it; NULL without a phase.  As @conn
 * @conn:	see there, as the others
 * @rcv:	receiver
 * @delack:	rq.lock: when an acknowledgement leaves (proto/delack.h)
 * @rto:	sq.lock: the retransmission timeout (proto/rto.h)
 * @snd:	sender
 * @reads:	of ours
 * @answers:	to the peer's
 * @attempt:	until it is connected
 * @on:		lists and trees
 */
struct via_ether_vi {
	struct via_vi *vi;
	struct via_ether_nic *nic;
	struct via_peer *peer;
	struct via_conn_state conn;
	struct via_rcv rcv;
	struct via_delack delack;
	struct via_rto rto;
	struct via_snd snd;
	struct via_reads reads;
	struct via_answers answers;
	struct via_attempt_state attempt;
	struct via_links on;
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
static __always_inline bool via_ether_ours(const struct via_ether_vi *ev,
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

#endif /* _VIA_ETHER_VI_H */
