/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One data frame, of send.c or send_read.c: frames go out in bursts, under sq.lock.
 * enum sent says how far a round of sending got; bool: false when the NIC takes no
 * more.
 */
#ifndef _VIA_BURST_H
#define _VIA_BURST_H

#include <linux/ktime.h>
#include "acks.h"
#include "owed.h"
#include "stats.h"
#include "vi.h"

/* Why a round of sending ended. */
enum sent {
	SENT_ON,		/* it did not: go on */
	SENT_ALL,		/* nothing more is posted */
	SENT_WINDOW,		/* an acknowledgement must come first */
	SENT_BLOCKED,		/* the NIC is full */
	SENT_BUDGET,		/* enough for one call */
	SENT_BROKEN,		/* the connection is to break */
	SENT_GONE,		/* of an answer: its memory may not be read; send_read.c */
	SENT_NO_TRAIN,		/* nothing: one frame is to be sent */
};

struct burst {
	struct via_vi *vi;
	struct via_ether_vi *ev;
	struct via_ether_nic *nic;
	struct via_ether_tx tx;
	struct via_work *work;		/* descriptors taken, frames behind the first */
	u32 room;			/* new frames the window takes */
	u32 half;			/* room where it is half used up */
	bool open;
	bool single;			/* the NIC has refused a train */
	bool drained;			/* nothing more was posted */
};

static inline bool burst_begin(struct burst *b)
{
	struct via_ether_nic *nic = b->nic;

	b->open = nic->ops->tx_begin(nic, &b->tx, b->vi->index);
	return b->open;
}

static inline void burst_end(struct burst *b)
{
	if (b->open)
		b->nic->ops->tx_end(b->nic, &b->tx);
	b->open = false;
}

/*
 * The frame that was begun in @buf with @size bytes of headers, and behind
 * them what @frags names: straight from the program's pages.  False: copy.
 */
static inline bool put_dma(struct burst *b, u32 size, u32 len,
			   struct via_ether_buf *buf,
			   const struct via_frags *frags)
{
	struct via_ether_nic *nic = b->nic;

	if (!nic->ops->tx_put_frags(nic, &b->tx, size, buf, frags))
		return false;
	via_ether_count(nic, TX_FRAMES);
	via_ether_count(nic, TX_DMA);
	via_ether_count_add(nic, TX_BYTES, size + len);
	return true;
}

/*
 * With its window closed and more to send a sender can only wait: no delayed
 * answer.  In a large one enough frames are before it that are answered; were
 * it, too, each answer would let some frames go, of which the last one would
 * close the window and be answered alone.
 */
static inline bool closes_window(const struct burst *b, u32 room)
{
	return room == 1 && b->half;
}

/* Our data carries the acknowledgement, and answers a push. */
static inline u32 piggyback(struct via_ether_vi *ev)
{
	u32 ack = READ_ONCE(ev->rcv.win.next);

	WRITE_ONCE(ev->snd.acked, ack);
	WRITE_ONCE(ev->snd.cpu, smp_processor_id());
	if (READ_ONCE(ev->delack.push)) {
		if (unlikely(!via_delack_data(&ev->delack)))
			via_ether_answered(ev);
	} else if (unlikely(via_owed_is_delayed(ev))) {
		via_ether_ack_behind(ev);
	}
	return ack;
}

/* What a timeout depends on, and how long it is.  sq.lock held. */
struct via_rto_path via_ether_rto_path(const struct via_ether_vi *ev);
u64 via_ether_timeout_ns(const struct via_ether_vi *ev);
/* A frame has left, and its timeout counts from the last progress. */
void via_ether_sample_tx(struct via_ether_vi *ev);
/* The peer answers again, after timeouts, and all of it counts from here. */
void via_ether_recovered(struct via_ether_vi *ev);
/*
 * Unreliable: what data has acknowledged leaves the network, though nothing
 * looked at it when it came.  sq.lock held.
 */
void via_ether_catch_up(struct via_ether_vi *ev);

/* Frame @seq is timed, and the peer is not to wait before it answers. */
static inline bool asks_now(struct via_ether_vi *ev, u32 seq)
{
	if (likely(!(ev->snd.odd & VIA_ODD_ASK)) || ev->rto.timing)
		return false;
	ev->snd.odd &= ~VIA_ODD_ASK;
	via_rto_ask(&ev->rto, seq, jiffies);
	return true;
}

/* The flags of a frame behind which nothing follows.  sq.lock held. */
static inline u8 push_flags(struct via_ether_vi *ev)
{
	u8 flags = VIA_WIRE_PUSH;

	if (unlikely(READ_ONCE(ev->nic->ack_deadline.kept)))
		flags |= via_ether_ack_deadline(ev);
	return flags;
}

/*
 * The flags of a new frame @seq of messages, or of a train that ends with it, where the
 * window has @room with it.  @ends: nothing is posted behind it.  sq.lock held.
 */
static inline u8 new_flags(struct burst *b, u32 room, u32 seq, bool ends)
{
	if (room == b->half || (closes_window(b, room) && !ends) ||
	    unlikely(asks_now(b->ev, seq)))
		return VIA_WIRE_ACK_NOW;
	return ends ? push_flags(b->ev) : 0;
}

/*
 * Time one frame per tick: that is often enough, and the clock costs.  Where the peer
 * told its delay, one of any VI will do.
 */
static inline void time_frame(struct via_ether_vi *ev, u32 seq)
{
	unsigned long tick = jiffies;

	if (via_rto_may_time(&ev->rto, tick) &&
	    READ_ONCE(ev->peer->timing.known_at) != tick)
		via_rto_time(&ev->rto, seq, tick, ktime_get_ns());
}

/* A new frame has left: expect its acknowledgement. */
static __always_inline void enter_frame(struct via_ether_vi *ev, u32 index,
					u32 off, u32 len, u8 kind)
{
	struct via_win_tx *tx = &ev->snd.win;

	time_frame(ev, tx->nxt);
	via_win_push(tx, index, off, len, kind);
	if (unlikely(via_rto_samples(&ev->rto, tx->nxt)))
		via_ether_sample_tx(ev);
}

/* The same at Unreliable: nothing of it is kept. */
static inline void enter_unreliable(struct via_ether_vi *ev)
{
	struct via_win_tx *tx = &ev->snd.win;

	tx->nxt++;
	if (unlikely(via_rto_samples(&ev->rto, tx->nxt)))
		via_ether_sample_tx(ev);
}

static inline bool via_ether_is_read(const struct via_desc *d)
{
	return (d->control & VIA_CTL_OP_MASK) == VIA_CTL_OP_RDMAREAD;
}

#endif /* _VIA_BURST_H */
