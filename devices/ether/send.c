// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From descriptors to frames.
 *
 * All of it runs under vi->sq.lock: from the doorbell, from the receive path
 * when an acknowledgement opens the window, from the timer.
 */

#include <linux/slab.h>
#include "acks.h"
#include "burst.h"
#include "end.h"
#include "run.h"
#include "seal.h"
#include "send.h"
#include "send_read.h"
#include "share.h"
#include "stats.h"
#include "trace.h"
#include "train.h"
#include "vi.h"

static __be16 notes_of(const struct via_desc *d)
{
	return cpu_to_be16((d->control & VIA_CTL_KERNEL_SOLICITED ?
			    VIA_WIRE_N_SOLICITED : 0) |
			   (d->control & VIA_CTL_KERNEL_INVALIDATE ?
			    VIA_WIRE_N_INVALIDATE : 0));
}

/* The headers of a data frame. */
static __always_inline void fill_data(struct via_ether_vi *ev,
				      const struct via_desc *d, void *p,
				      u32 seq, u32 off, u32 len, u8 flags,
				      bool write)
{
	struct via_wire *h = p;
	struct via_wire_data *data = (struct via_wire_data *)(h + 1);

	*h = ev->conn.head;
	if (d->control & VIA_CTL_IMMEDIATE)
		flags |= VIA_WIRE_IMMEDIATE;
	h->type = write ? VIA_WIRE_WRITE : VIA_WIRE_SEND;
	h->flags = flags;
	data->seq = cpu_to_be32(seq);
	data->ack = cpu_to_be32(piggyback(ev));
	data->msg_len = cpu_to_be32(d->length);
	data->offset = cpu_to_be32(off);
	data->len = cpu_to_be16(len);
	data->reads = 0;
	if (unlikely(d->control & VIA_CTL_KERNEL_NOTES))
		data->reads = notes_of(d);
	data->immediate = cpu_to_be32(d->immediate);
	if (write) {
		struct via_wire_rdma *r = (struct via_wire_rdma *)(data + 1);

		r->raddr = cpu_to_be64(d->raddr);
		r->rhandle = cpu_to_be32(d->rhandle);
		r->zero = 0;
	}
}

/*
 * Build and send one frame: @len bytes at @off of @d, by DMA if they are @dma_from
 * at least.  Returns SENT_ON, or SENT_BLOCKED, or SENT_BROKEN with d->status set
 * when the bytes may not be read any more.
 */
static __always_inline enum sent put_frame(struct burst *b, struct via_desc *d,
					   u32 seq, u32 off, u32 len, u8 flags,
					   u32 dma_from)
{
	bool write = (d->control & VIA_CTL_OP_MASK) == VIA_CTL_OP_RDMAWRITE;
	struct via_ether_nic *nic = b->nic;
	struct via_ether_vi *ev = b->ev;
	struct via_ether_buf buf;
	u32 size = VIA_WIRE_SEND_HDR;
	struct via_frags frags __uninitialized;
	u32 status;

	if (write)
		size += sizeof(struct via_wire_rdma);
	size += ev->conn.seal_len;
	if (unlikely(!b->open && !burst_begin(b)))
		return SENT_BLOCKED;
	if (unlikely(!nic->ops->tx_get(nic, &b->tx, &ev->peer->link, size + len,
				       &buf)))
		return SENT_BLOCKED;

	fill_data(ev, d, buf.data, seq, off, len, flags, write);
	if (len >= dma_from &&
	    via_gather_frags(b->vi, d, off, len, &frags) &&
	    put_dma(b, size, len, &buf, &frags)) {
		via_trace_data(ev, write ? VIA_WIRE_WRITE : VIA_WIRE_SEND,
			       flags, seq, size + len);
		return SENT_ON;
	}
	if (likely(len)) {
		status = via_gather(b->vi, d, off, len, buf.data + size);
		if (unlikely(status)) {
			d->status |= status;
			nic->ops->tx_drop(nic, &b->tx, &buf);
			return SENT_BROKEN;
		}
	}
	if (unlikely(ev->conn.seal))
		via_ether_close_data(ev, buf.data, size, len);
	if (unlikely(!nic->ops->tx_put(nic, &b->tx, size + len, &buf)))
		return SENT_BLOCKED;
	via_ether_count(nic, TX_FRAMES);
	via_ether_count_add(nic, TX_BYTES, size + len);
	via_trace_data(ev, write ? VIA_WIRE_WRITE : VIA_WIRE_SEND, flags, seq,
		       size + len);
	return SENT_ON;
}

/* A descriptor that cannot be sent, in its turn. */
static enum sent send_bad(struct burst *b, struct via_desc *d)
{
	struct via_ether_vi *ev = b->ev;
	struct via_vi *vi = b->vi;

	if (!ev->conn.reliable) {
		via_send_complete(vi, d->status, 0);
		ev->snd.odd &= ~VIA_ODD_ACTIVE;
		return SENT_ON;
	}
	/* Those before it must complete first. */
	if (vi->sq.head != ev->snd.index)
		return SENT_WINDOW;
	via_send_complete(vi, d->status, 0);
	ev->snd.odd &= ~VIA_ODD_ACTIVE;
	via_ether_end(ev, VIA_END_OURS, VIA_WIRE_R_TRANSPORT);
	return SENT_BROKEN;
}

static u32 gather_train(struct via_vi *vi, struct via_desc *d, u32 off,
			const struct via_ether_train *t)
{
	u32 status = 0, i;

	for (i = 0; i < t->pieces && !status; i++) {
		status = via_gather(vi, d, off, t->piece[i].len,
				    t->piece[i].data);
		off += t->piece[i].len;
	}
	return status;
}

/* Several new frames of the current descriptor as a train. */
static noinline enum sent send_train(struct burst *b, struct via_desc *d,
				     u32 seg)
{
	bool write = (d->control & VIA_CTL_OP_MASK) == VIA_CTL_OP_RDMAWRITE;
	struct via_ether_vi *ev = b->ev;
	u32 off = ev->snd.off, status;
	struct via_ether_train t __uninitialized;
	struct via_ether_buf buf;
	enum sent r;
	bool last;
	u8 flags;

	t.hdr = write ? VIA_WIRE_WRITE_HDR : VIA_WIRE_SEND_HDR;
	t.seg = seg;
	t.off = off;
	t.plain = !(d->control & (VIA_CTL_IMMEDIATE | VIA_CTL_KERNEL_INVALIDATE));
	if (!via_train_begin(b, &t, d->length - off, &buf) ||
	    (t.shared && !via_gather_pages(b->vi, d, off, t.bytes, &t.pages) &&
	     !via_train_copies(b, &t, &buf)))
		return SENT_NO_TRAIN;
	last = off + t.bytes == d->length;
	b->drained = last && via_send_drained(b->vi);
	flags = via_train_flags(b, &t, b->drained);
	fill_data(ev, d, buf.data, ev->snd.win.nxt, off, seg, flags, write);
	status = gather_train(b->vi, d, off, &t);
	if (unlikely(status)) {
		d->status |= status;
		b->nic->ops->tx_drop(b->nic, &b->tx, &buf);
		return SENT_BROKEN;
	}
	r = via_train_end(b, &t, &buf, ev->snd.index, off,
			  last ? VIA_REC_LAST : 0);
	if (r)
		return r;
	ev->snd.off = off + t.bytes;
	return last ? SENT_ALL : SENT_ON;
}

/* One new frame of the current descriptor. */
static enum sent send_frame(struct burst *b, struct via_desc *d)
{
	struct via_ether_vi *ev = b->ev;
	struct via_win_tx *tx = &ev->snd.win;
	u32 seg = (d->control & VIA_CTL_OP_MASK) == VIA_CTL_OP_RDMAWRITE ?
		  ev->conn.seg_write : ev->conn.seg_send;
	u32 off = ev->snd.off, len = min(d->length - off, seg);
	bool last = off + len == d->length;
	enum sent r;
	u8 flags;

	if (unlikely(!b->room))
		return SENT_WINDOW;
	/* The first frame goes with its descriptor. */
	if (off && unlikely(!via_work_visit(b->work)))
		return SENT_BUDGET;
	if (via_train_may(b, d->length - off, seg)) {
		r = send_train(b, d, seg);
		if (r != SENT_NO_TRAIN)
			return r;
	}
	b->drained = last && via_send_drained(b->vi);
	flags = new_flags(b, b->room, tx->nxt, b->drained);
	r = put_frame(b, d, tx->nxt, off, len, flags, ev->conn.dma_from);
	if (unlikely(r))
		return r;
	b->room--;
	if (likely(ev->conn.reliable))
		enter_frame(ev, ev->snd.index, off, len,
			    last ? VIA_REC_LAST : 0);
	else
		enter_unreliable(ev);
	ev->snd.off = off + len;
	return last ? SENT_ALL : SENT_ON;
}

/* The message to send next, or to go on with; NULL: there is none. */
static inline struct via_desc *current_desc(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	struct via_vi *vi = b->vi;
	struct via_desc *d;

	if (unlikely(ev->snd.odd & VIA_ODD_ACTIVE))
		return via_send_entry(vi, ev->snd.index);
	d = via_send_load(vi, b->work);
	if (d) {
		ev->snd.index = vi->sq.next - 1;
		ev->snd.off = 0;
		ev->snd.odd |= VIA_ODD_ACTIVE;
	}
	return d;
}

/* Why there is no message to send.  What is posted may change at any moment. */
static enum sent no_message(const struct burst *b)
{
	if (via_send_full(b->vi))
		return SENT_WINDOW;
	return via_work_over(b->work) && !via_send_drained(b->vi) ?
	       SENT_BUDGET : SENT_ALL;
}

/* One message, all of it, or as far as it goes. */
static __always_inline enum sent send_message(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	struct via_vi *vi = b->vi;
	struct via_desc *d = current_desc(b);
	enum sent r = SENT_ON;

	if (!d)
		return no_message(b);
	if (unlikely(d->control & (VIA_CTL_OP_RDMAREAD | VIA_CTL_QFENCE)) &&
	    !d->status && !ev->snd.off)
		r = via_ether_send_fenced(b, d);
	while (r == SENT_ON && likely(!d->status))
		r = send_frame(b, d);
	if (likely(r == SENT_ALL)) {
		ev->snd.odd &= ~VIA_ODD_ACTIVE;
		if (!ev->conn.reliable)
			via_send_complete(vi, 0, d->length);
		/* A program that posts from now on rings the doorbell. */
		return likely(b->drained) ? SENT_ALL : SENT_ON;
	}
	return d->status ? send_bad(b, d) : r;
}

/*
 * Messages and answers to the peer's reads in turns; when a message must wait
 * for a read of its own, the answers alone, or two ends could wait for one
 * another.
 */
static noinline enum sent send_turns(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	enum sent r = SENT_ON;

	while (ev->snd.odd & VIA_ODD_ANSWER) {
		/* Not into the middle of a message. */
		if (!ev->answers.turn || (ev->snd.odd & VIA_ODD_ACTIVE &&
					  ev->snd.off)) {
			r = send_message(b);
			if (r > SENT_WINDOW || (r == SENT_WINDOW && !b->room))
				return r;
		}
		ev->answers.turn = true;
		r = via_ether_send_answer(b);
		if (r != SENT_ALL)
			return r;
		ev->answers.turn = false;
	}
	return SENT_ON;
}

/* New frames, until something ends it. */
static enum sent send_new(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	enum sent r = SENT_ON;

	b->room = via_win_room_new(&ev->snd.win);
	b->half = via_win_half(&ev->snd.win);
	if (unlikely(ev->snd.odd & VIA_ODD_ANSWER))
		r = send_turns(b);
	while (r == SENT_ON)
		r = send_message(b);
	return r;
}

/*
 * A frame has its number for good, so what was sent in one cannot be sent again
 * in two: where the MTU of the interface has become less than it, it cannot be
 * sent again at all.  Beyond that of the path it is the NIC module's.
 */
static bool too_long(const struct via_ether_vi *ev,
		     const struct via_win_record *rec, const struct via_desc *d)
{
	bool write = !(rec->kind & VIA_REC_ANSWER) &&
		     (d->control & VIA_CTL_OP_MASK) == VIA_CTL_OP_RDMAWRITE;

	return rec->len + ev->conn.seal_len +
	       (write ? VIA_WIRE_WRITE_HDR : VIA_WIRE_SEND_HDR) >
	       READ_ONCE(ev->nic->mtu);
}

/*
 * Lost frames again, oldest first, straight from the program's pages, but copied:
 * such a frame may be in the ring when the one before it is acknowledged, and its
 * bytes are the program's again.  Answers to reads complete nothing here.
 */
static noinline enum sent send_lost(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	struct via_win_record *rec;
	struct via_desc *d;
	enum sent r;
	u8 flags;
	bool odd;
	u32 seq;

	while (via_win_lost(&ev->snd.win, &seq)) {
		if (!via_win_room(&ev->snd.win))
			return SENT_WINDOW;
		if (!via_work_visit(b->work))
			return SENT_BUDGET;
		rec = via_win_rec(&ev->snd.win, seq);
		d = via_send_entry(b->vi, rec->index);
		if (unlikely(too_long(ev, rec, d))) {
			via_ether_give_up(ev, VIA_END_OURS, VIA_WIRE_R_MTU_REDUCED);
			return SENT_BROKEN;
		}
		odd = rec->kind & VIA_REC_ANSWER || via_ether_is_read(d);
		flags = ev->rto.probing ? VIA_WIRE_PROBE : VIA_WIRE_ACK_NOW;
		if (unlikely(odd))
			r = via_ether_resend_read(b, seq, flags);
		else
			r = put_frame(b, d, seq, rec->offset, rec->len, flags,
				      U32_MAX);
		if (r == SENT_BROKEN && !odd) {
			/* The memory is gone: nothing can complete any more. */
			if (b->vi->sq.head == rec->index)
				via_send_complete(b->vi, d->status, 0);
			via_ether_end(ev, VIA_END_OURS, VIA_WIRE_R_TRANSPORT);
		}
		if (r)
			return r;
		via_win_resent(&ev->snd.win, seq);
		via_trace_retransmit(ev, seq, rec->len);
		via_rto_resent(&ev->rto, seq);
		ev->snd.resent++;
		if (b->nic->ops->resent)
			b->nic->ops->resent(b->nic, &ev->peer->link);
		via_ether_count(b->nic, RESENT);
		if (ev->rto.retries || ev->snd.win.timed)
			via_ether_count(b->nic, RESENT_TIMED);
	}
	return SENT_ON;
}

static void owe_run(struct via_ether_vi *ev)
{
	if (!ev->snd.busy) {
		ev->snd.busy = true;
		via_send_busy(ev->vi);
	}
}

/*
 * One that was idle has no credit.  Where others want some, what it does not
 * need is to go back at once: the long way does that.
 */
static noinline bool begins_again(struct via_ether_vi *ev)
{
	return READ_ONCE(ev->peer->pool.want) <= VIA_WANT_IDLE &&
	       via_ether_share_take(ev) &&
	       via_win_room_new(&ev->snd.win);
}

/*
 * The common case in a straight line: one message of one frame, nothing
 * behind it, room everywhere.  False: not all of this holds; what was begun
 * stands in ev->snd and goes on as usual.
 */
static __always_inline bool send_one(struct via_vi *vi,
				     struct via_ether_vi *ev,
				     struct via_work *work)
{
	const u32 size = VIA_WIRE_SEND_HDR;
	struct via_ether_nic *nic = ev->nic;
	struct via_ether_buf buf;
	struct via_ether_tx tx;
	struct via_desc *d;
	u32 room, len, st;
	u8 flags;

	if (unlikely(ev->snd.odd || ev->snd.win.lost))
		return false;
	room = via_win_room_new(&ev->snd.win);
	if (unlikely(!room && ev->snd.win.credit))
		return false;
	d = via_send_load(vi, work);
	if (unlikely(!d))
		return false;
	ev->snd.index = vi->sq.next - 1;
	ev->snd.off = 0;
	ev->snd.odd = VIA_ODD_ACTIVE;
	len = d->length;
	if (d->status || len > ev->conn.seg_send ||
	    d->control & (VIA_CTL_OP_MASK | VIA_CTL_QFENCE) || !via_send_drained(vi))
		return false;
	if (unlikely(!room) && !begins_again(ev))
		return false;
	if (unlikely(!nic->ops->tx_get_one(nic, &tx, &ev->peer->link, vi->index,
					   size + len, &buf)))
		return false;
	flags = push_flags(ev);
	fill_data(ev, d, buf.data, ev->snd.win.nxt, 0, len, flags, false);
	if (likely(len)) {
		st = via_gather(vi, d, 0, len, buf.data + size);
		if (unlikely(st)) {
			d->status |= st;
			nic->ops->tx_drop(nic, &tx, &buf);
			nic->ops->tx_end(nic, &tx);
			return false;
		}
	}
	nic->ops->tx_put_one(nic, &tx, size + len, &buf);
	via_ether_count(nic, TX_FRAMES);
	via_ether_count_add(nic, TX_BYTES, size + len);
	via_trace_data(ev, VIA_WIRE_SEND, flags, ev->snd.win.nxt, size + len);
	ev->snd.odd = 0;
	if (likely(ev->conn.reliable)) {
		enter_frame(ev, ev->snd.index, 0, len, VIA_REC_LAST);
	} else {
		enter_unreliable(ev);
		via_send_complete(vi, 0, len);
	}
	return true;
}

/* The ring is what bounds the window: let it have more. */
static noinline void lengthen_ring(struct via_ether_vi *ev)
{
	u32 frames = via_win_wants(&ev->snd.win);
	void *ring;

	/* Without memory: the window as it is. */
	ring = via_vi_memory(ev->vi, via_win_ring_bytes(frames));
	if (ring)
		kfree(via_win_use(&ev->snd.win, ring, frames));
}

/* No frame more may leave: is there credit for others? */
static bool more_room(struct via_ether_vi *ev)
{
	/* Something else is waited for. */
	if (via_win_room(&ev->snd.win))
		return false;
	if (!ev->conn.reliable) {
		via_ether_catch_up(ev);
		if (via_win_room(&ev->snd.win))
			return true;
	}
	if (via_win_is_short(&ev->snd.win))
		lengthen_ring(ev);
	return via_ether_share_take(ev);
}

/* There is nothing to send, or not for want of credit. */
static inline void end_want(struct via_ether_vi *ev)
{
	if (unlikely(READ_ONCE(ev->peer->pool.want) > VIA_WANT_IDLE))
		via_ether_share_sated(ev);
}

static noinline enum sent send_burst(struct via_vi *vi, struct via_work *work)
{
	struct via_ether_vi *ev = vi->priv;
	struct burst b = {
		.vi = vi,
		.ev = ev,
		.nic = ev->nic,
		.work = work,
	};
	enum sent r;

	if (unlikely(ev->snd.win.cwr))
		via_ether_share_cwr(ev);
	do {
		r = SENT_ON;
		if (unlikely(ev->snd.win.lost))
			r = send_lost(&b);
		if (likely(!r))
			r = send_new(&b);
		burst_end(&b);
		/*
		 * SENT_ALL: a program that posts after via_send_sleep() rings
		 * the doorbell; what was posted before it, it sees.  What it saw
		 * need not be there at the next look, so that is work, too.
		 */
		if (!(r == SENT_ALL && via_send_sleep(vi)) &&
		    !(r == SENT_WINDOW && more_room(ev)))
			break;
		if (!via_work_visit(work))
			r = SENT_BUDGET;
	} while (r != SENT_BUDGET);

	switch (r) {
	case SENT_ALL:
		ev->snd.busy = false;
		end_want(ev);
		break;
	case SENT_WINDOW:
		owe_run(ev);
		if (via_win_room(&ev->snd.win))
			end_want(ev);
		break;
	case SENT_BLOCKED:
		via_ether_count(ev->nic, TX_BUSY);
		owe_run(ev);
		via_ether_tx_blocked(ev);
		break;
	default:
		break;
	}
	return r;
}

static __always_inline enum sent send_some(struct via_vi *vi,
					   struct via_work *work)
{
	struct via_ether_vi *ev = vi->priv;

	lockdep_assert_held(&vi->sq.lock);
	if (unlikely(via_vi_is_broken(vi) ||
		     ev->conn.phase != VIA_PHASE_CONNECTED))
		return SENT_BROKEN;
	if (likely(send_one(vi, ev, work)) && likely(!via_send_sleep(vi))) {
		ev->snd.busy = false;
		return SENT_ALL;
	}
	return send_burst(vi, work);
}

int via_ether_send(struct via_vi *vi)
{
	struct via_work work = VIA_WORK(VIA_ETHER_BUDGET);

	return send_some(vi, &work) == SENT_BUDGET ? VIA_TRAP_MORE : 0;
}

/* What send() could not finish is owed by the timer. */
static enum sent send_on(struct via_vi *vi, struct via_work *work)
{
	struct via_ether_vi *ev = vi->priv;
	enum sent r = send_some(vi, work);

	if (r == SENT_BUDGET) {
		owe_run(ev);
		via_ether_tx_blocked(ev);
	}
	return r;
}

bool via_ether_resume(struct via_vi *vi, struct via_work *work)
{
	struct via_work own = VIA_WORK(VIA_ETHER_BUDGET);
	struct via_ether_vi *ev = vi->priv;
	enum sent r;

	lockdep_assert_held(&vi->sq.lock);
	/* Reads of the peer's were taken since: send_answer() clears it. */
	if (READ_ONCE(ev->answers.tail) != ev->answers.next)
		ev->snd.odd |= VIA_ODD_ANSWER;
	r = send_on(vi, &own);
	via_work_charge(work, VIA_ETHER_BUDGET - own.left);
	return r != SENT_BLOCKED;
}
