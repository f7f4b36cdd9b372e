// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From frames to placed bytes and completed receives.
 *
 * Payload goes from the NIC's buffer straight into the program's; only frames
 * beyond a hole are copied aside, since bytes of one message and of
 * successive RDMA Writes are to become visible in order.
 */

#include <linux/slab.h>
#include <linux/timex.h>
#include "../../kernel/via_conn.h"
#include "ack.h"
#include "acks.h"
#include "admit.h"
#include "conn.h"
#include "control.h"
#include "end.h"
#include "keepalive.h"
#include "owed.h"
#include "seal.h"
#include "share.h"
#include "stats.h"
#include "trace.h"
#include "vi.h"

/* No reason: a frame that cannot be taken now and is to be sent again. */
#define NOT_NOW			0x100u

/* Where the payload of a frame goes. */
struct target {
	struct via_vi *vi;
	struct via_desc *d;		/* NULL: RDMA Write */
	const struct via_frame_hdr *h;
};

static inline u32 put_bytes(const struct target *t, u32 off, const void *src,
			    u32 len)
{
	if (t->d)
		return via_scatter(t->vi, t->d, t->h->offset + off, src, len);
	return via_rdma_place(t->vi, t->h->rhandle,
			      t->h->raddr + t->h->offset + off, src, len);
}

/**
 * struct piece - bytes of a frame's payload that lie in a row
 * @skip:	bytes of headers before them
 * @next:	the chunk behind them
 * @off:	of the payload
 * @len:	how many
 * @data:	where they are
 */
struct piece {
	u32 skip;
	u32 next;
	u32 off;
	u32 len;
	const void *data;
};

/* The first piece follows @skip alone, of hdr_len; false: there is no other one. */
static bool next_piece(struct piece *p, const struct via_frame_hdr *h,
		       const struct via_ether_frame *f)
{
	const struct via_ether_chunk *c;

	p->off += p->len;
	while (p->next < f->nchunks && p->off < h->len) {
		c = &f->chunk[p->next++];
		if (p->skip >= c->len) {
			p->skip -= c->len;
			continue;
		}
		p->data = c->data + p->skip;
		p->len = min(c->len - p->skip, h->len - p->off);
		p->skip = 0;
		return true;
	}
	return false;
}

static noinline u32 put_pieces(struct via_vi *vi, struct via_desc *d,
			       const struct via_frame_hdr *h,
			       const struct via_ether_frame *f)
{
	const struct target t = { .vi = vi, .d = d, .h = h };
	struct piece p = { .skip = h->hdr_len };
	u32 st = 0;

	while (!st && next_piece(&p, h, f))
		st = put_bytes(&t, p.off, p.data, p.len);
	return st;
}

/*
 * Copy the payload, in increasing address order; @d NULL: RDMA Write.  Returns
 * VIA_ST_*.
 */
static __always_inline u32 put_payload(struct via_vi *vi, struct via_desc *d,
				       const struct via_frame_hdr *h,
				       const struct via_ether_frame *f)
{
	const struct target t = { .vi = vi, .d = d, .h = h };

	if (unlikely(f->nchunks != 1))
		return put_pieces(vi, d, h, f);
	if (unlikely(!h->len))
		return 0;
	return put_bytes(&t, 0, f->chunk[0].data + h->hdr_len, h->len);
}

/* Does this frame continue the message that is open? */
static bool continues_message(struct via_ether_vi *ev,
			      const struct via_frame_hdr *h)
{
	return ev->rcv.open && ev->rcv.type == h->type &&
	       ev->rcv.len == h->msg_len && ev->rcv.off == h->offset;
}

/* A refused RDMA Write: into the receive it would have consumed, or told. */
static u32 write_refused(struct via_vi *vi, const struct via_frame_hdr *h,
			 u32 st)
{
	if ((h->flags & VIA_WIRE_IMMEDIATE) && via_recv_load(vi))
		via_recv_complete(vi, st | VIA_ST_OP_REMOTE_RDMA_WRITE, 0, 0);
	else
		via_vi_error(vi, VIA_ERR_RDMAW_PROT,
			     VIA_ST_OP_REMOTE_RDMA_WRITE >> 16, 0);
	return VIA_WIRE_R_RDMA;
}

static u32 place_write(struct via_vi *vi, const struct via_frame_hdr *h,
		       const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_desc *d;
	u32 st;

	if (!h->offset) {
		/* Its sender, which is bound by the same, would not send it. */
		if (unlikely(h->msg_len > vi->attrs.max_transfer))
			return VIA_WIRE_R_PROTOCOL;
		if (h->flags & VIA_WIRE_IMMEDIATE) {
			d = via_recv_load(vi);
			if (!d)
				return VIA_WIRE_R_NO_RECEIVE;
			if (d->status) {
				via_recv_complete(vi, d->status, 0, 0);
				return VIA_WIRE_R_RECEIVE;
			}
		}
		st = via_rdma_check(vi, h->rhandle, h->raddr, h->msg_len);
		if (unlikely(st))
			return write_refused(vi, h, st);
	} else if (!continues_message(ev, h)) {
		return VIA_WIRE_R_PROTOCOL;
	}
	st = put_payload(vi, NULL, h, f);
	if (unlikely(st))
		return write_refused(vi, h, st);
	ev->rcv.off = h->offset + h->len;
	ev->rcv.open = ev->rcv.off < h->msg_len;
	if (ev->rcv.open) {
		ev->rcv.type = h->type;
		ev->rcv.len = h->msg_len;
	} else if (h->flags & VIA_WIRE_IMMEDIATE) {
		if (unlikely(!via_recv_load(vi)))
			return VIA_WIRE_R_NO_RECEIVE;
		via_recv_complete(vi, VIA_ST_OP_REMOTE_RDMA_WRITE |
				  VIA_ST_IMMEDIATE, h->msg_len, h->immediate);
	}
	return 0;
}

/* The end of a SEND with notes, which no program's host sends, nor is sent. */
static noinline u32 complete_noted(struct via_vi *vi,
				   const struct via_frame_hdr *h)
{
	u32 st = h->flags & VIA_WIRE_IMMEDIATE ? VIA_ST_IMMEDIATE : 0;

	if (!via_conn_notes(vi))
		return VIA_WIRE_R_PROTOCOL;
	if (h->reads & VIA_WIRE_N_SOLICITED)
		st |= VIA_ST_KERNEL_SOLICITED;
	if (h->reads & VIA_WIRE_N_INVALIDATE)
		st |= VIA_ST_KERNEL_INVALIDATE;
	via_recv_complete(vi, st, h->msg_len, h->immediate);
	return 0;
}

static __always_inline u32 place_send(struct via_vi *vi,
				      const struct via_frame_hdr *h,
				      const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_desc *d = via_recv_load(vi);
	u32 st = 0;

	if (likely(!h->offset)) {
		if (unlikely(!d))
			return VIA_WIRE_R_NO_RECEIVE;
		st = d->status;
		/* A receive may be longer than any message is to be. */
		if (unlikely(h->msg_len > d->length ||
			     h->msg_len > vi->attrs.max_transfer))
			st |= VIA_ST_LENGTH_ERROR;
	} else if (unlikely(!d || !continues_message(ev, h))) {
		return VIA_WIRE_R_PROTOCOL;
	}
	if (likely(!st))
		st = put_payload(vi, d, h, f);
	if (unlikely(st)) {
		via_recv_complete(vi, st, 0, 0);
		return VIA_WIRE_R_RECEIVE;
	}
	if (likely(h->offset + h->len == h->msg_len)) {
		ev->rcv.open = false;
		if (unlikely(h->reads))
			return complete_noted(vi, h);
		via_recv_complete(vi, h->flags & VIA_WIRE_IMMEDIATE ?
				  VIA_ST_IMMEDIATE : 0, h->msg_len,
				  h->immediate);
		return 0;
	}
	ev->rcv.open = true;
	ev->rcv.type = h->type;
	ev->rcv.len = h->msg_len;
	ev->rcv.off = h->offset + h->len;
	return 0;
}

/* A READ in its turn: note it.  rq.lock held.  Returns as place_data() does. */
static u32 place_read(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_read_answer *a = via_ether_answer_of(ev, ev->answers.tail);

	lockdep_assert_held(&vi->rq.lock);
	if (!ev->conn.reliable || h->msg_len > vi->attrs.max_transfer)
		return VIA_WIRE_R_PROTOCOL;
	if (ev->answers.tail - READ_ONCE(ev->answers.head) >=
	    VIA_ETHER_ANSWERS) {
		via_ether_count(ev->nic, READS_DROPPED);
		return NOT_NOW;
	}
	a->raddr = h->raddr;
	a->rhandle = h->rhandle;
	a->len = h->msg_len;
	a->seq = h->seq;
	a->gone = false;
	/* Pairs with the acquire in via_ether_send_answer(): it is filled. */
	smp_store_release(&ev->answers.tail, ev->answers.tail + 1);
	via_ether_count(ev->nic, READS_IN);
	/* Not from here: that takes sq.lock, which comes first. */
	via_ether_ack_soon(ev);
	return 0;
}

/* Copy the payload into the segments of a read.  Returns VIA_ST_*. */
static u32 take_payload(struct via_vi *vi, struct via_desc *d,
			const struct via_frame_hdr *h,
			const struct via_ether_frame *f)
{
	struct piece p = { .skip = h->hdr_len };
	u32 st = 0;

	while (!st && next_piece(&p, h, f))
		st = via_read_scatter(vi, d, h->offset + p.off, p.data, p.len);
	return st;
}

/* The target could not send its data again: see send_read.c.  Both queue locks held. */
static noinline u32 read_refused(struct via_vi *vi,
				 const struct via_ether_read *rd)
{
	via_ether_offender(vi, rd->index, VIA_ST_RDMA_PROT_ERROR);
	via_conn_fault(vi, VIA_KERNEL_FAULT_PEER_READ);
	return VIA_WIRE_R_READ;
}

/*
 * Data for the oldest read of ours.  Whatever the peer says, nothing is
 * written but the next bytes of that read.  Both queue locks held, else there
 * is no read out.
 */
static u32 place_read_data(struct via_vi *vi, const struct via_frame_hdr *h,
			   const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_read *rd;
	struct via_desc *d;
	bool gone;
	u32 st;

	if (!ev->rcv.both || ev->reads.head == ev->reads.tail)
		return VIA_WIRE_R_PROTOCOL;
	lockdep_assert_held(&vi->sq.lock);
	rd = &ev->reads.read[ev->reads.head % VIA_ETHER_READS];
	d = via_send_entry(vi, rd->index);
	gone = !h->msg_len && d->length;
	if (h->reads != (u16)rd->seq ||
	    (!gone && (h->msg_len != d->length || h->offset != rd->off)))
		return VIA_WIRE_R_PROTOCOL;
	/*
	 * The answer acknowledges the READ and all before it, even if the
	 * target was not that far when it filled in the header: so nothing
	 * before a read is open when the read completes.
	 */
	if (!via_seq_before(rd->seq, ev->snd.win.una))
		via_ether_ack(vi, rd->seq + 1, NULL, 0, VIA_WIRE_DELAY_MAX);
	if (unlikely(gone))
		return read_refused(vi, rd);
	st = take_payload(vi, d, h, f);
	if (unlikely(st)) {
		via_ether_offender(vi, rd->index, st);
		return VIA_WIRE_R_TRANSPORT;
	}
	rd->off += h->len;
	if (rd->off == d->length)
		via_ether_read_done(ev, rd->index);
	return 0;
}

static noinline u32 place_rdma(struct via_vi *vi,
			       const struct via_frame_hdr *h,
			       const struct via_ether_frame *f)
{
	if (likely(h->type == VIA_WIRE_WRITE))
		return place_write(vi, h, f);
	return h->type == VIA_WIRE_READ ? place_read(vi, h) :
					  place_read_data(vi, h, f);
}

/* Returns 0 or why the message cannot be taken, VIA_WIRE_R_*. */
static __always_inline u32 place_data(struct via_vi *vi,
				      const struct via_frame_hdr *h,
				      const struct via_ether_frame *f)
{
	if (likely(h->type == VIA_WIRE_SEND))
		return place_send(vi, h, f);
	return place_rdma(vi, h, f);
}

/* Whether a frame is to be acknowledged now. */
enum ack {
	ACK_LATER,
	ACK_DUE,		/* unless data of ours has carried it */
	ACK_FORCE,		/* the sender knows less than it should */
};

/*
 * At most once, in order.  What cannot be taken is dropped; the receive of a
 * message with a hole in it serves the next message, from its start.
 */
static noinline void rx_unreliable(struct via_vi *vi,
				   const struct via_frame_hdr *h,
				   const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_nic *nic = ev->nic;
	u32 why;

	if (unlikely(h->seq != ev->rcv.win.next)) {
		if (via_seq_before(h->seq, ev->rcv.win.next)) {
			via_ether_count(nic, OLD);
			return;
		}
		via_ether_count(nic, GAP);
		if (ev->rcv.open)
			via_ether_count(nic, PARTIAL);
		ev->rcv.open = false;
		/* No one else tells the sender of what was lost. */
		via_ether_echo_soon(ev);
		via_ether_incast_lost(ev);
	}
	ev->rcv.win.next = h->seq + 1;
	if (h->offset && !continues_message(ev, h)) {
		via_ether_count(nic, PARTIAL);
		return;
	}
	why = place_data(vi, h, f);
	if (likely(!why))
		return;
	ev->rcv.open = false;
	if (why == VIA_WIRE_R_NO_RECEIVE) {
		via_ether_count(nic, NO_RECEIVE);
		via_vi_error(vi, VIA_ERR_RECVQ_EMPTY,
			     VIA_ST_OP_RECEIVE >> 16, 0);
	}
}

/* The sender's window is to open, though nothing is sent again. */
static enum ack due_unreliable(struct via_ether_vi *ev,
			       const struct via_frame_hdr *h)
{
	if (h->flags & VIA_WIRE_ACK_NOW) {
		via_ether_incast_asked(ev);
		return ACK_FORCE;
	}
	if (ev->rcv.win.next - READ_ONCE(ev->snd.acked) >= ev->delack.every)
		return ACK_DUE;
	if (unlikely(via_delack_samples(&ev->delack, ev->rcv.win.next)))
		via_ether_watch_rx(ev);
	return ACK_LATER;
}

/* A larger ring for frames beyond holes; false: no memory. */
static bool make_room(struct via_ether_vi *ev, u32 size)
{
	u32 bytes = size * sizeof(*ev->rcv.held) +
		    VIA_WIN_WORDS(size) * sizeof(*ev->rcv.win.bits);
	struct via_win_rx *rx = &ev->rcv.win;
	struct via_ether_held **held;
	u32 seq = rx->next + 1;

	held = via_vi_memory(ev->vi, bytes);
	if (!held)
		return false;
	memset(held, 0, bytes);
	for (; via_win_held(rx, &seq); seq++)
		held[seq % size] = ev->rcv.held[seq % rx->size];
	via_win_rx_use(rx, (u64 *)(held + size), size);
	kfree(ev->rcv.held);
	ev->rcv.held = held;
	return true;
}

/* Keep a frame beyond a hole; without memory it will be sent again. */
static void hold_frame(struct via_ether_vi *ev, const struct via_frame_hdr *h,
		       const struct via_ether_frame *f)
{
	struct via_ether_nic *nic = ev->nic;
	struct via_ether_held *held;
	u32 size = via_win_rx_wants(&ev->rcv.win, h->seq);
	struct piece p = { .skip = h->hdr_len };

	if (!via_ether_take_room(ev) ||
	    (unlikely(size != ev->rcv.win.size) && !make_room(ev, size)))
		goto drop;
	held = via_vi_memory(ev->vi, struct_size(held, payload, h->len));
	if (!held)
		goto drop;
	held->hdr = *h;
	held->hdr.hdr_len = 0;
	while (next_piece(&p, h, f))
		memcpy(held->payload + p.off, p.data, p.len);
	ev->rcv.held[h->seq % size] = held;
	via_win_hold(&ev->rcv.win, h->seq);
	via_ether_count(nic, OOO_HELD);
	return;
drop:
	via_ether_give_room(ev);
	via_ether_count(nic, OOO_DROPPED);
}

/* The hole is filled: take what was held behind it, up to the next one. */
static noinline u32 release_held(struct via_vi *vi)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_held *held;
	bool more = true;
	u32 why;

	while (more) {
		held = ev->rcv.held[ev->rcv.win.next % ev->rcv.win.size];
		{
			struct via_ether_chunk chunk = {
				.data = held->payload,
				.len = held->hdr.len,
			};
			struct via_ether_frame f = {
				.nchunks = 1,
				.chunk = &chunk,
			};

			why = place_data(vi, &held->hdr, &f);
		}
		kfree(held);
		via_ether_give_room(ev);
		if (why)
			return why;
		more = via_win_taken(&ev->rcv.win);
	}
	return 0;
}

static noinline enum ack not_taken(struct via_ether_vi *ev, u32 why)
{
	if (why == NOT_NOW)
		return ACK_LATER;
	if (why == VIA_WIRE_R_NO_RECEIVE)
		via_ether_count(ev->nic, NO_RECEIVE);
	via_ether_end(ev, VIA_END_OURS, why);
	return ACK_LATER;
}

/*
 * Does a program wait for the acknowledgement, and for us to think of it?  The
 * sender may ask when it is late; and where it answers a read, its kernel alone
 * waits, for room in its window.
 */
static inline bool is_waited_for(const struct via_frame_hdr *h)
{
	if (h->type == VIA_WIRE_READ_DATA)
		return h->flags & VIA_WIRE_PUSH;
	return ~h->flags & (VIA_WIRE_PUSH | VIA_WIRE_PROBE);
}

/* A frame arrived in order. */
static __always_inline enum ack rx_next(struct via_vi *vi,
					const struct via_frame_hdr *h,
					const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	u32 why = place_data(vi, h, f);
	enum ack ack = ACK_LATER;

	if (likely(!why) &&
	    unlikely(via_win_taken_run(&ev->rcv.win, h->frames))) {
		/* It was sent again, or is late. */
		if (h->flags & VIA_WIRE_ACK_NOW)
			via_ether_incast_lost(ev);
		why = release_held(vi);
		ack = ACK_FORCE;
	} else if (unlikely(ev->rcv.win.next - READ_ONCE(ev->snd.acked) >=
			    ev->delack.every)) {
		via_delack_unasked(&ev->delack);
		ack = ACK_DUE;
	}
	if (unlikely(why))
		return not_taken(ev, why);
	if (h->flags & VIA_WIRE_PUSH) {
		if (via_delack_push(&ev->delack) && !ack &&
		    !via_delack_seldom(&ev->delack, READ_ONCE(ev->snd.win.nxt),
				       ktime_get_ns())) {
			/*
			 * Nothing shares it where the message is one train;
			 * and later would be ksoftirqd's turn, if a program
			 * was woken on this CPU.
			 */
			if (h->frames > 1 && !h->offset)
				return ACK_DUE;
			via_ether_ack_soon(ev);
			return ACK_LATER;
		}
		ev->delack.pushed_cycles = get_cycles();
		via_owed_delay(ev);
	} else if (h->flags & (VIA_WIRE_ACK_NOW | VIA_WIRE_PROBE) && !ack) {
		ack = ACK_DUE;
		via_ether_incast_asked(ev);
		if (h->flags & VIA_WIRE_PROBE)
			via_ether_incast_lost(ev);
	}
	if (!ack &&
	    unlikely(via_delack_samples(&ev->delack, ev->rcv.win.next)) &&
	    is_waited_for(h))
		via_ether_sample_rx(ev);
	return ack;
}

static noinline enum ack rx_reliable(struct via_vi *vi,
				     const struct via_frame_hdr *h,
				     const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;

	switch (via_win_place(&ev->rcv.win, h->seq)) {
	case VIA_WIN_NEXT:
		return rx_next(vi, h, f);
	case VIA_WIN_HOLD:
		hold_frame(ev, h, f);
		via_delack_often(&ev->delack);
		ev->rcv.untold = true;
		via_ether_ack_soon(ev);
		return ACK_LATER;
	case VIA_WIN_DUP:
		/* The sender waited, and for an acknowledgement alone. */
		if (h->flags & VIA_WIRE_PROBE)
			via_delack_often(&ev->delack);
		via_ether_count(ev->nic, DUP);
		ev->rcv.dsack = h->seq;
		ev->rcv.dsack_due = true;
		return ACK_FORCE;
	default:
		via_ether_count(ev->nic, BEYOND);
		return ACK_LATER;
	}
}

/*
 * A train: at once where nothing is missing before it and nothing is held, else a
 * frame at a time.
 */
static noinline enum ack rx_train(struct via_vi *vi,
				  const struct via_frame_hdr *h,
				  const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_frame_hdr one;
	enum ack due = ACK_LATER;
	u32 k;

	if (ev->conn.reliable && h->seq == ev->rcv.win.next &&
	    !ev->rcv.win.held)
		return rx_next(vi, h, f);
	for (k = 0; k < h->frames && !via_vi_is_broken(vi); k++) {
		via_wire_one_of(h, f->train, k, &one);
		if (ev->conn.reliable) {
			due = max(due, rx_reliable(vi, &one, f));
		} else {
			rx_unreliable(vi, &one, f);
			due = max(due, due_unreliable(ev, &one));
		}
	}
	if (!ev->conn.reliable)
		WRITE_ONCE(ev->rcv.heard_ack, h->ack);
	return due;
}

/*
 * The same as rx_data() while reads are outstanding, with both queue locks
 * held from the start: the frame, or one held behind it, may have their data.
 */
static noinline void rx_both(struct via_ether_nic *nic, struct via_vi *vi,
			     const struct via_frame_hdr *h,
			     const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	enum ack due;
	bool known;

	via_ether_lock(vi);
	known = via_ether_ours(ev, h, f->src) &&
		ev->conn.phase == VIA_PHASE_CONNECTED &&
		via_ether_seal_fits(ev, h);
	if (known)
		via_ether_heard(ev);
	if (known && !via_vi_is_broken(vi)) {
		if (unlikely(f->ce))
			via_ether_echo_soon(ev);
		ev->rcv.both = true;
		due = f->train ? rx_train(vi, h, f) : rx_reliable(vi, h, f);
		ev->rcv.both = false;
		/* Goes on sending, too, what waited for a read. */
		if (!via_vi_is_broken(vi))
			via_ether_ack(vi, h->ack, NULL, 0, VIA_WIRE_DELAY_MAX);
		if (due == ACK_FORCE ||
		    (due == ACK_DUE && ev->snd.acked != ev->rcv.win.next))
			via_ether_send_ack(ev, 0);
	}
	via_ether_unlock(vi);
	if (!known)
		return via_ether_reset_unknown(nic, h, f, false);
	if (unlikely(h->marks))
		via_ether_rx_mark(vi, h);
	via_vi_settle(vi);
}

static __always_inline void rx_data(struct via_ether_nic *nic,
				    const struct via_frame_hdr *h,
				    const struct via_ether_frame *f)
{
	struct via_vi *vi = via_ether_find(nic, h->dst);
	struct via_ether_vi *ev;
	enum ack due = ACK_LATER;
	u32 next;

	if (unlikely(!vi))
		return via_ether_reset_unknown(nic, h, f, true);
	ev = vi->priv;
	spin_lock(&vi->rq.lock);
	if (unlikely(ev->conn.phase == VIA_PHASE_ACCEPT &&
		     via_ether_ours(ev, h, f->src))) {
		/* As good as a CONFIRM. */
		spin_unlock(&vi->rq.lock);
		if (!via_ether_confirmed(ev))
			return;
		spin_lock(&vi->rq.lock);
	}
	if (unlikely(!via_ether_ours(ev, h, f->src) ||
		     ev->conn.phase != VIA_PHASE_CONNECTED)) {
		spin_unlock(&vi->rq.lock);
		return via_ether_reset_unknown(nic, h, f, false);
	}
	if (unlikely(!via_ether_seal_fits(ev, h))) {
		spin_unlock(&vi->rq.lock);
		via_ether_seal_wrong(ev);
		return;
	}
	/* Asked under rq.lock: what we release was taken under it, too. */
	if (unlikely(READ_ONCE(ev->reads.pending))) {
		spin_unlock(&vi->rq.lock);
		return rx_both(nic, vi, h, f);
	}
	via_ether_heard(ev);
	if (unlikely(via_vi_is_broken(vi))) {
		spin_unlock(&vi->rq.lock);
		return;
	}
	if (unlikely(f->ce))
		via_ether_echo_soon(ev);
	/* Most frames come in order: for them nothing is called but the agent. */
	if (unlikely(f->train)) {
		due = rx_train(vi, h, f);
	} else if (likely(ev->conn.reliable)) {
		due = likely(h->seq == ev->rcv.win.next) ? rx_next(vi, h, f) :
							   rx_reliable(vi, h, f);
	} else {
		rx_unreliable(vi, h, f);
		due = due_unreliable(ev, h);
		WRITE_ONCE(ev->rcv.heard_ack, h->ack);
	}
	next = ev->rcv.win.next;
	spin_unlock(&vi->rq.lock);

	if (unlikely(h->marks))
		via_ether_rx_mark(vi, h);
	/* Unreliable: only room is at stake, so not at each frame. */
	if (likely(ev->conn.reliable ? h->ack != READ_ONCE(ev->snd.win.una) :
		   h->ack - READ_ONCE(ev->snd.win.una) >= VIA_ETHER_LAZY))
		via_ether_rx_ack(vi, h, NULL, 0, VIA_WIRE_DELAY_MAX);
	if (due == ACK_FORCE ||
	    (due == ACK_DUE && READ_ONCE(ev->snd.acked) != next))
		via_ether_ack_now(vi, h->cookie);
	via_vi_settle(vi);
}

static void rx_bad(struct via_ether_nic *nic, const struct via_ether_frame *f,
		   enum via_wire_error err)
{
	switch (err) {
	case VIA_WIRE_BAD_VERSION:
		via_ether_count(nic, BAD_VERSION);
		via_ether_send_version(nic, f);
		break;
	case VIA_WIRE_BAD_TYPE:
		if (nic->ops->rx_other && nic->ops->rx_other(nic, f))
			break;
		via_ether_count(nic, BAD_TYPE);
		break;
	case VIA_WIRE_BAD_LENGTH:
		via_ether_count(nic, BAD_LENGTH);
		break;
	default:
		via_ether_count(nic, BAD_FIELD);
		break;
	}
}

/* A train is counted as its frames.  False: it is none. */
static noinline bool rx_joined(struct via_ether_nic *nic,
			       const struct via_ether_frame *f,
			       struct via_frame_hdr *h)
{
	if (!via_wire_join(h, f->len, f->train)) {
		rx_bad(nic, f, VIA_WIRE_BAD_LENGTH);
		return false;
	}
	via_ether_count(nic, RX_TRAINS);
	via_ether_count_add(nic, RX_FRAMES, h->frames - 1);
	via_ether_count_add(nic, RX_BYTES, (h->frames - 1) * h->hdr_len);
	return true;
}

void via_ether_rx(struct via_ether_nic *nic, const struct via_ether_frame *f)
{
	/* What a frame of its type has is filled in when it is parsed. */
	struct via_frame_hdr h __uninitialized;
	enum via_wire_error err;

	via_ether_count(nic, RX_FRAMES);
	via_ether_count_add(nic, RX_BYTES, f->len);
	via_trace_received(nic, f);
	err = via_wire_parse(f->hdr, f->len, &h);
	if (unlikely(err))
		return rx_bad(nic, f, err);
	if (unlikely(h.flags & VIA_WIRE_SEALS) && !via_ether_open(nic, f, &h))
		return;
	h.frames = 1;
	if (unlikely(f->train) && !rx_joined(nic, f, &h))
		return;
	switch (h.type) {
	case VIA_WIRE_SEND:
	case VIA_WIRE_WRITE:
	case VIA_WIRE_READ:
	case VIA_WIRE_READ_DATA:
		return rx_data(nic, &h, f);
	case VIA_WIRE_ACK:
	case VIA_WIRE_DISCONNECT:
		return via_ether_rx_on_conn(nic, &h, f);
	default:
		return via_ether_control_rx(nic, f, &h);
	}
}
EXPORT_SYMBOL_GPL(via_ether_rx);
