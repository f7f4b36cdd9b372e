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
#include "session.h"
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

/* param.c: parameters, scaled for slow kernels; any context */
extern ushort via_ether_type;
extern bool via_ether_checksum;
extern uint via_ether_window;
extern uint via_ether_ooo_max;
extern uint via_ether_retries;
extern uint via_ether_ack_every;
u32 via_ether_rto_min(void);			/* us */
u32 via_ether_rto_max(void);			/* us */
u32 via_ether_ack_delay(void);			/* us */
unsigned long via_ether_scaled(uint ms);	/* jiffies */
unsigned long via_ether_heartbeat(void);	/* jiffies */
unsigned long via_ether_dead(void);		/* jiffies */
/* Bytes of payload, see there.  A queue lock held. */
u32 via_ether_dma_from(const struct via_ether_vi *ev);

/* How many frames a sender may have in flight to a VI of the NIC. */
static inline u32 via_ether_credit(const struct via_ether_nic *nic)
{
	return min(nic->rx_frames, VIA_WIN_MAX);
}

/* send.c */
/* transport->send: 0 or VIA_TRAP_MORE.  sq.lock held, BH off. */
int via_ether_send(struct via_vi *vi);
/*
 * Go on after a stall or a timeout, for VIA_ETHER_BUDGET at most, which are
 * charged to the caller's work.  False: the NIC takes no more.
 */
bool via_ether_resume(struct via_vi *vi, struct via_work *work);
/*
 * share.c: credit of the window that all VIs to a peer share.  sq.lock held, BH
 * off; a VI that has a peer.
 */
/* The connection's numbers are known; it is over (with a peer, or none). */
void via_ether_share_begin(struct via_ether_vi *ev);
void via_ether_share_end(struct via_ether_vi *ev);
/* There is no room: true: there is some. */
bool via_ether_share_take(struct via_ether_vi *ev);
/* @acked frames were, while credit is wanted; the caller sends with it, or not. */
void via_ether_share_acked(struct via_ether_vi *ev, u32 acked, bool sends);
/* It needs no more than it has. */
void via_ether_share_sated(struct via_ether_vi *ev);
/* What is more than @keep frames beyond those in the network goes back. */
void via_ether_share_trim(struct via_ether_vi *ev, u32 keep);
/* Losses: win.cwr; win.undo; a mark of the network; a timeout; its probe. */
void via_ether_share_cwr(struct via_ether_vi *ev);
void via_ether_share_undo(struct via_ether_vi *ev);
void via_ether_share_marked(struct via_ether_vi *ev);
void via_ether_share_timeout(struct via_ether_vi *ev, bool again);
void via_ether_share_probe(struct via_ether_vi *ev);
/* The share that the peer tells. */
void via_ether_share_told(struct via_ether_vi *ev, u32 share);
/* When the peer is made. */
void via_ether_share_peer(struct via_peer *peer);
/* Nothing is sent to the peer until then; false: it cannot be told. */
bool via_ether_open_at(struct via_peer *peer, u64 when);
/*
 * The other way: the peer fills a small window; a frame of it was lost.  rq.lock
 * held.
 */
void via_ether_incast_asked(struct via_ether_vi *ev);
void via_ether_incast_lost(struct via_ether_vi *ev);
/* A job of the tasklet: credit that VIs hold and do not use, for those that wait. */
void via_ether_share_visits(struct via_ether_nic *nic, struct via_work *work);
void via_ether_share_init(struct via_ether_nic *nic);

/* xmit.c: control frames.  BH off; under a queue lock, both or none. */
/* The end of a connection. */
void via_ether_send_disconnect(const struct via_peer *peer,
			       const struct via_end_frame *end);
/* An address as it was on the wire. */
void via_ether_conn_addr(struct via_net_addr *a, const u8 *host, u32 host_len,
			 const u8 *disc, u32 disc_len);
/* About a request. */
void via_ether_answer(struct via_ether_nic *nic, u32 flow, u8 type, u8 reason,
		      const struct via_ether_client *c);
/* REFUSE, with what its program has to say; @reply NULL: nothing. */
void via_ether_refuse(struct via_ether_nic *nic, u8 reason,
		      const struct via_ether_client *c,
		      const struct via_reply *reply);
/* @peer: the host's, or NULL, if it has none. */
void via_ether_send_heartbeat(struct via_ether_nic *nic, const struct via_peer *peer,
			 const u8 *host, u8 type, u64 epoch,
			 const struct via_heartbeat_hdr *b);
/* @count entries, @bytes of them. */
struct via_acks_frame {
	struct via_wire_acks a;
	u8 entries[VIA_WIRE_BODY_MAX - VIA_WIRE_ACKS_LEN];
	u32 count;
	u32 bytes;
};

bool via_ether_send_acks(const struct via_peer *peer, struct via_acks_frame *f);
void via_ether_send_list(const struct via_peer *peer, u64 epoch, u64 low,
			 u64 high, const u64 *cookie, u32 n);
bool via_ether_send_name(struct via_ether_nic *nic, const u8 *host, u8 type,
			 u32 nonce, const char *name);

/* name.c */
/* ops->resolve: 0, -EINTR or -ENOMEM.  Sleeps. */
int via_ether_resolve(struct via_nic *ka, struct via_names *q);
/* Those that ask for names return at once, now and from now on. */
void via_ether_names_end(struct via_ether_nic *nic);
void via_ether_name_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h);

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

/* request.c */
/* ops->reject: process context, no queue lock held. */
void via_ether_reject(struct via_conn *conn);
/*
 * Unlink the request of a client; false when there is none.  The caller gets
 * a copy and a use of its peer, and its reference on the connection, if that is
 * there yet: without one the request's maker is still at it, and frees it as
 * soon as it sees it unlinked.  BH off, nic->lock not held.
 */
bool via_ether_take_req(struct via_ether_nic *nic, const u8 *host, u32 vi,
			u64 cookie, struct via_ether_req *copy);
/* What the copy has is given back. */
void via_ether_drop_req(const struct via_ether_req *copy);
void via_ether_request_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h);
/* A job of the tick: those whose client has left. */
bool via_ether_reqs_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_ether_reqs_expire(struct via_ether_nic *nic);
/* All.  No frame comes any more; BH on. */
void via_ether_reqs_end(struct via_ether_nic *nic);

/* end.c */
/* By which rule a connection ends, where it is not told by the peer. */
enum via_ether_why {
	VIA_END_OURS,		/* this end's reason, which the peer is told */
	VIA_END_RESET,		/* RESET */
	VIA_END_LIST,		/* LIST lacks it, and it does not answer */
	VIA_END_RESTARTED,		/* the peer's host was started again */
	VIA_END_SILENT,		/* the peer's host says nothing */
	VIA_END_UNACKED,	/* a frame is not acknowledged */
};

/*
 * The connection ends, by @why; @reason is this end's, VIA_WIRE_R_*.  It is
 * counted and logged, once.  A queue lock held; the caller settles.
 */
void via_ether_end(struct via_ether_vi *ev, enum via_ether_why why, u32 reason);
/* The same, and what is in flight will not arrive.  sq.lock held. */
void via_ether_give_up(struct via_ether_vi *ev, enum via_ether_why why,
		       u32 reason);
/* The peer says that it has ended, with that reason.  Both queue locks. */
void via_ether_end_told(struct via_ether_vi *ev, u32 reason);
/* via_vi_settle(), charged for what it flushes.  BH off, no queue lock held. */
void via_ether_settle(struct via_vi *vi, struct via_work *work);
/*
 * The VI at an index of the NIC, or the next one; @index is then behind it.  NULL:
 * there is none.  By index, since a list on which VIs come and go is no way to
 * meet each of them: a VI keeps its index for life.  Process context, BH off and
 * RCU read side, which both end for a moment each time that @work is used up; other
 * threads have their turn then if the caller may sleep (@sleeps).
 */
struct via_vi *via_ether_next_vi(struct via_ether_nic *nic, u32 *index,
				 struct via_work *work, bool sleeps);
/*
 * All connections of the NIC that fit, NULL: all.  @fits is called with sq.lock
 * held.  Process context, no lock held; @sleeps as above.
 */
void via_ether_end_some(struct via_ether_nic *nic,
			bool (*fits)(const struct via_ether_vi *ev), u32 reason,
			bool sleeps);

/* allow.c */
int via_ether_peers_edit(struct via_nic *ka, const struct via_peers_edit *edit,
			 enum via_refusal *why);
u32 via_ether_peers_read(struct via_nic *ka, u32 from,
			 struct via_peer_rule *rule, u32 n,
			 struct via_peers_state *of);
/* Any context but hard interrupts. */
bool via_ether_allowed(struct via_ether_nic *nic, const u8 *host);
/* The NIC is unregistered, and has no frame, timer or VI any more. */
void via_ether_allow_end(struct via_ether_nic *nic);

/* seal.c */
/*
 * A frame is complete but for its seal: headers and the seal's room are @size
 * bytes, and @len bytes of payload follow.  BH off; the
 * first puts a checksum there, the second what is chosen, the third what the
 * connection has: a queue lock held.
 */
void via_ether_seal(void *frame, u32 size, u32 len);
void via_ether_close(const struct via_seal *seal, void *frame, u32 size,
		     u32 len);
void via_ether_close_data(const struct via_ether_vi *ev, void *frame, u32 size,
			  u32 len);
/* Of (PEER_)REQUEST the checksum is looked at by this, and counted. */
bool via_ether_sum_ok(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h);
/* Does a frame on this connection have what was agreed upon? */
static inline bool via_ether_seal_fits(const struct via_ether_vi *ev,
				       const struct via_frame_hdr *h)
{
	return likely(ev->conn.seal == (h->flags & VIA_WIRE_SEALS));
}

/* One that does not is dropped. */
static inline void via_ether_seal_wrong(const struct via_ether_vi *ev)
{
	if (READ_ONCE(ev->conn.seal) == VIA_WIRE_AUTH)
		via_ether_count(ev->nic, BAD_AUTH);
	else
		via_ether_count(ev->nic, BAD_SEAL);
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

/* reply_cache.c: BH off */
static inline u8 via_ether_takes(u32 options)
{
	return (options & VIA_WIRE_O_REPLY ? VIA_TAKES_REPLY : 0) |
	       (options & VIA_WIRE_O_NOTES ? VIA_TAKES_NOTES : 0);
}

/* Takes nic->lock.  @reply, if it is not NULL, is copied. */
void via_ether_cache_reply(struct via_peer *peer,
			const struct via_ether_client *c, u8 type, u8 reason,
			const struct via_reply *reply);
/* The type of the answer given lately, its reason and reply.  nic->lock held. */
u8 via_ether_cached_reply(const struct via_peer *peer,
		     const struct via_ether_client *c, u8 *reason,
		     struct via_reply *reply);
void via_ether_forget_replies(struct via_peer *peer);

/* retransmit.c */
/* When the VI is made. */
void via_ether_visit_init(struct via_ether_vi *ev);

/* timer.c */
/**
 * struct via_tick_job - what the coarse timer does at a tick
 * @wanted:	is there anything to do?  @at is when, jiffies: the next round of
 *		all jobs, or an own time that @wanted puts there.  nic->lock held
 * @run:	do what is due.  True: there is more, for the next tick.  BH off,
 *		RCU read side
 * @every_tick:	run at each tick, and not at each round: has times of its own
 */
struct via_tick_job {
	bool (*wanted)(const struct via_ether_nic *nic, unsigned long *at);
	bool (*run)(struct via_ether_nic *nic);
	bool every_tick;
};

/* @jobs: in this order, until one without @run. */
void via_ether_timer_init(struct via_ether_nic *nic,
			  const struct via_tick_job *jobs);
void via_ether_timer_stop(struct via_ether_nic *nic);
void via_ether_arm(struct via_ether_nic *nic);
/* The coarse timer is to look at peers at its next tick. */
void via_ether_hurry(struct via_ether_nic *nic);

/* timer.c, the alarm: times are ns of ktime_get_ns() */
#define VIA_ETHER_GAP_NS	VIA_SAMPLE_GAP_NS		/* between two alarms */
#define VIA_ETHER_LATE_NS	(100 * NSEC_PER_USEC)	/* one that is late */

/* Before it is set.  @urgent, @fire, @rests: see struct via_alarm. */
void via_alarm_init(struct via_alarm *a, bool urgent,
		    void (*fire)(struct via_alarm *a, u64 now,
				 struct via_work *work),
		    bool (*rests)(const struct via_alarm *a));
/*
 * It is due at @when, earlier or later than before; U64_MAX: not at all.  @now: a
 * sample of a VI, which may wait for the next one; 0: something else.  nic->lock
 * held.
 */
void via_alarm_set(struct via_ether_nic *nic, struct via_alarm *a, u64 when,
		   u64 now);
/* A program that busy-polls looks.  RCU read side, BH on. */
void via_ether_alarm_poll(struct via_ether_nic *nic);
/* Busy polling begins, goes on or ends.  Takes nic->lock. */
void via_ether_alarm_mode(struct via_ether_nic *nic,
			  enum via_busy_poll_step step);
/*
 * The half is to be visited then; @now, if it looks at itself.  Its queue lock
 * held, phase not NONE.
 */
void via_ether_visit_at(struct via_ether_vi *ev, enum via_ether_half half,
			u64 when, u64 now);
/* It was, and each half is to be again, U64_MAX: not.  Both queue locks. */
void via_ether_visited(struct via_ether_vi *ev, u64 tx, u64 rx);
/* Of neither half: nic->lock held. */
void via_ether_unwatch(struct via_ether_vi *ev);

/* run.c */
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

void via_ether_run_init(struct via_ether_nic *nic,
			const struct via_run_ops *ops);
/* The NIC is stopping.  May sleep. */
void via_ether_run_stop(struct via_ether_nic *nic);
/* The tasklet runs after this softirq.  nic->lock held. */
void via_ether_run_soon(struct via_ether_nic *nic);
/* The VI may send again: it is resumed after this softirq. */
void via_ether_run(struct via_ether_vi *ev);
/* It does so now; false: the NIC takes no more.  BH off, no queue lock held. */
bool via_ether_run_now(struct via_ether_vi *ev, struct via_work *work);
/* The VI could not send: the NIC is full.  sq.lock held. */
void via_ether_tx_blocked(struct via_ether_vi *ev);
/* The NIC had no room for it, and it has not been tried since.  sq.lock held. */
bool via_ether_is_tx_blocked(struct via_ether_vi *ev);
/* The VI is on neither list.  nic->lock held. */
void via_ether_run_forget(struct via_ether_vi *ev);

/* acks.c */
/*
 * To the peer of a connection, with all that is known of what has arrived; the
 * second asks for as much.  rq.lock held.  @delay as in via_ether_ack().
 */
bool via_ether_send_ack(struct via_ether_vi *ev, u32 delay);
bool via_ether_send_ack_request(struct via_ether_vi *ev);
/* Acknowledge what has just come, in a frame of its own.  No queue lock held. */
void via_ether_ack_now(struct via_vi *vi, u64 cookie);
/* The peer asks; the newest frame may have come long ago.  No queue lock held. */
void via_ether_rx_ack_request(struct via_vi *vi, u64 cookie);
/*
 * The network is full: the peer is to hear of it, with an acknowledgement soon.
 * rq.lock held.
 */
void via_ether_echo_soon(struct via_ether_vi *ev);
/*
 * A push is to be acknowledged once the frames that came with it are taken:
 * one frame then answers many small messages, of all connections with the
 * peer.  A queue lock of the VI held.
 */
void via_ether_ack_soon(struct via_ether_vi *ev);
/*
 * Data of the VI leaves and answers none of its pushes: the acknowledgement of
 * another VI to the peer, which waits for data, goes behind it.  sq.lock held.
 */
void via_ether_ack_behind(struct via_ether_vi *ev);
/* Data of the VI answers a PUSH that was acknowledged at once.  sq.lock held. */
void via_ether_answered(struct via_ether_vi *ev);
/*
 * The next frame is a PUSH: the flag to add if this end looks at the time, and
 * asks when the acknowledgement is late; 0: it does not.  sq.lock held.
 */
u8 via_ether_ack_deadline(struct via_ether_vi *ev);
/* The connection is over, and with it its ACK deadline.  nic->lock held. */
void via_ether_ack_deadline_over(struct via_ether_vi *ev);
/* Busy polling begins or ends: does this end keep ACK deadlines?  Takes nic->lock. */
void via_ether_ack_deadlines(struct via_ether_nic *nic, bool polled);
void via_ether_acks_init(struct via_ether_nic *nic);
/* A frame was taken that is to be acknowledged later.  rq.lock held. */
void via_ether_sample_rx(struct via_ether_vi *ev);
void via_ether_watch_rx(struct via_ether_vi *ev);
/* The alarm: what has waited long enough leaves with what others owe.  rq.lock held. */
void via_ether_check_rx(struct via_ether_vi *ev, u64 ns);
/*
 * What is owed is sent, a part of it at once and the rest by the tasklet.  BH off,
 * RCU read side, no queue lock held.
 */
void via_ether_pay(struct via_ether_nic *nic, struct via_work *work);
/* The connection is over, and it has its peer yet.  nic->lock held. */
void via_ether_owes_no_more(struct via_ether_vi *ev);
/* keepalive.c */
/* A job of the tick: peers that are due. */
bool via_keepalive_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_keepalive_run(struct via_ether_nic *nic);
/* HEARTBEAT, HEARTBEAT_ACK, LIST.  BH off, RCU read side. */
void via_keepalive_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h);
/* The peer has lost a connection: it may have been started again. */
void via_keepalive_check(struct via_peer *peer);

/* A frame of the connection came.  rq.lock held. */
static inline void via_ether_heard(struct via_ether_vi *ev)
{
	unsigned long now = jiffies;

	/* Most frames come in the same tick as another one. */
	if (likely(ev->rcv.last_rx == now))
		return;
	ev->rcv.last_rx = now;
	if (READ_ONCE(ev->peer->last_rx) != now)
		WRITE_ONCE(ev->peer->last_rx, now);
}

/* timewait.c */
/* A DISCONNECT is to be sent: send it again.  Both queue locks held. */
void via_timewait_begin(struct via_ether_vi *ev, const struct via_end_frame *end);
/* A job of the tick: those that are sent again. */
bool via_timewait_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_timewait_run(struct via_ether_nic *nic);
/* Is DISCONNECT_ACK of one that is sent again?  RCU read side, BH off. */
bool via_timewait_has(const struct via_peer *peer,
		      const struct via_frame_hdr *h);
/* DISCONNECT_ACK: the other end has heard it.  RCU read side, BH off. */
void via_timewait_acked(struct via_ether_nic *nic, const u8 *host,
		      const struct via_frame_hdr *h);
void via_timewait_stop(struct via_ether_nic *nic);

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
