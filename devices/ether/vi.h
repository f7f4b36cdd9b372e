/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The class's part of a VI, in parts: each has the lock that its head names.  What
 * the locks are, and their order: ether.h.
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
#include "via_ether.h"

struct via_peer;

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

/* A frame kept until the hole before it is filled. */
struct via_ether_held {
	struct via_frame_hdr hdr;
	u8 payload[];
};

/* A read of ours: oldest first, answered in this order. */
struct via_ether_read {
	u32 index;		/* descriptor */
	u32 seq;		/* of its READ */
	u32 off;		/* bytes that have come */
};

/* A read of the peer's, until its data is acknowledged. */
struct via_read_answer {
	u64 raddr;
	u32 rhandle;
	u32 len;
	u32 seq;		/* of its READ */
};

/* What has to be done before new sends: bits of tx_odd. */
#define VIA_ODD_ACTIVE		0x1	/* tx_index is begun, or waits */
#define VIA_ODD_ANSWER		0x2	/* reads of the peer wait for data */
#define VIA_ODD_SEALED		0x4	/* frames have seals: no short cut */
#define VIA_ODD_WAITS		0x8	/* for credit */
#define VIA_ODD_ASK		0x10	/* a round trip without a wait is wanted */

/**
 * struct via_conn_state - the connection: both queue locks to write, either to read
 * @cookie:	names our end of the connection; 0: none
 * @remote_cookie: names the other end
 * @remote_id:	VI id of the other end
 * @mtu:	bytes of a frame that both ends have agreed upon
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
	u32 heard_ack;
	u32 len;
	u32 off;
	u32 dsack;
	unsigned long last_rx;
	unsigned long next_challenge;
	struct via_ether_held **held;
};

/**
 * struct via_snd - the sender: vi->sq.lock
 * @index:	descriptor being sent
 * @off:	bytes of it sent
 * @odd:	VIA_ODD_*
 * @busy:	via_send_busy() was called and send() is owed
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
	u32 acked;
	u32 resent;
	u32 timeouts;
	struct via_credit credit;
	struct via_win_tx win;
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
 * struct via_ether_vi - the class's part of a VI, vi->priv
 * @vi:		constant
 * @nic:	constant
 * @peer:	its host, with a use of it; NULL without a phase
 *
 * Sender, vi->sq.lock:
 * @ans_turn:	it is an answer's turn, not a message's
 * @rto:	its retransmission timeout (proto/rto.h)
 *
 * @reads:	reads of ours that want data and answers in the window: while
 *		there are any, acknowledgements and the receive path go the
 *		long way.  Written under sq.lock; what is received under
 *		rq.lock sees it, since it is raised before the READ leaves
 * @read_head, @read_tail: of @read, oldest and next
 * @acked_late: bit index % 64: acknowledged, but behind such a read
 * @ans_next:	answer being sent
 * @ans_off:	bytes of it sent
 * @ans_head:	oldest answer that is not acknowledged (rq.lock: a hint)
 *
 * Receiver, vi->rq.lock:
 * @ans_tail:	where the next read of the peer's goes (release, acquire)
 * @delack:	when an acknowledgement leaves (proto/delack.h)
 *
 * Handshake and timer, both queue locks:
 *
 * nic->lock:
 * @connecting, @ack_link, @conn_link, @our_node, @end_node, @their_node
 * @run_link:	on nic->tx_blocked, if @tx_blocked is set, or on nic->ready (run.c)
 * @behind:	it is on the list of those that owe an acknowledgement since
 *		data of another VI carries none for it
 * @due:	its entry of the alarm
 * @want:	when the halves are to be looked at, likewise; U64_MAX: not
 *
 */
struct via_ether_vi {
	struct via_vi *vi;
	struct via_ether_nic *nic;
	struct via_conn_state conn;
	struct via_rcv rcv;
	struct via_snd snd;
	struct via_attempt_state attempt;
	struct via_peer *peer;

	bool ans_turn;
	struct via_rto rto;
	u32 reads;
	u32 read_head;
	u32 read_tail;
	u32 ans_head;
	u32 ans_next;
	u32 ans_off;
	u64 acked_late;

	bool behind;
	struct via_delack delack;
	u32 ans_tail;

	struct via_alarm due;
	u64 want[VIA_ETHER_HALVES];
	struct via_order_node connecting;
	bool tx_blocked;
	struct list_head run_link;
	struct list_head ack_link;
	struct list_head conn_link;
	struct rb_node our_node;
	struct hlist_node end_node;
	struct rb_node their_node;

	struct via_ether_read read[VIA_ETHER_READS];
	struct via_read_answer answer[VIA_ETHER_ANSWERS];
};

#endif /* _VIA_ETHER_VI_H */
