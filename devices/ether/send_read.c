// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * RDMA Read, both ends, as far as it sends.
 *
 * The initiator's READ is a frame like any other of its stream, so it is
 * behind all that was sent before it.  The target notes it under rq.lock and
 * answers under sq.lock with READ_DATA frames in its own stream: windowed,
 * acknowledged, sent again, and gathered anew each time.  The data goes into
 * the descriptor in the initiator's send ring.  Reads are answered in order.
 *
 * A read that may not be answered is refused, and the connection ends by that:
 *
 *  1. The offender is the initiator's oldest open read.  So one is refused in its turn,
 *     when all answers before it are acknowledged.
 *  2. Data that has been sent may have arrived, and the target's program may know so by
 *     another way than the acknowledgement, and have ended its memory.  So when it is to
 *     be sent again and may not be read any more, the initiator decides: the frame is
 *     sent without bytes.  One that has the data takes it for what came twice; to one
 *     that has not it is the refusal, and it ends the connection.
 *  3. The reason goes with DISCONNECT, as often as timewait.c says.
 */

#include "burst.h"
#include "end.h"
#include "seal.h"
#include "send_read.h"
#include "stats.h"
#include "trace.h"
#include "train.h"
#include "vi.h"

/* Bytes before the payload. */
static u32 hdr_size(const struct via_ether_vi *ev, u32 headers)
{
	return headers + ev->conn.seal_len;
}

/* The headers of a frame, but for what the message's fields say. */
static struct via_wire_data *fill_frame(struct via_ether_vi *ev, void *p,
					u8 type, u8 flags, u32 seq, u32 len)
{
	struct via_wire_data *data;
	struct via_wire *h = p;

	*h = ev->conn.head;
	h->type = type;
	h->flags = flags;
	data = (struct via_wire_data *)(h + 1);
	data->seq = cpu_to_be32(seq);
	data->ack = cpu_to_be32(piggyback(ev));
	data->len = cpu_to_be16(len);
	data->immediate = 0;
	return data;
}

/* Begin a frame: its room, and all but what the message's fields say. */
static struct via_wire_data *open_frame(struct burst *b, u8 type, u8 flags,
					u32 seq, u32 size, u32 len,
					struct via_ether_buf *buf)
{
	struct via_ether_nic *nic = b->nic;
	struct via_ether_vi *ev = b->ev;

	if (unlikely(!b->open && !burst_begin(b)))
		return NULL;
	if (unlikely(!nic->ops->tx_get(nic, &b->tx, &ev->peer->link, size + len,
				       buf)))
		return NULL;
	return fill_frame(ev, buf->data, type, flags, seq, len);
}

/* @size bytes of headers, @len of payload. */
static enum sent close_frame(struct burst *b, u32 size, u32 len,
			     struct via_ether_buf *buf)
{
	struct via_ether_nic *nic = b->nic;

	if (unlikely(b->ev->conn.seal))
		via_ether_close_data(b->ev, buf->data, size, len);
	size += len;
	if (unlikely(!nic->ops->tx_put(nic, &b->tx, size, buf)))
		return SENT_BLOCKED;
	via_ether_count(nic, TX_FRAMES);
	via_ether_count_add(nic, TX_BYTES, size);
	return SENT_ON;
}

/* It has left. */
static enum sent trace_read(struct burst *b, enum sent r, u8 type, u8 flags,
			    u32 seq, u32 len)
{
	if (r == SENT_ON)
		via_trace_data(b->ev, type, flags, seq, len);
	return r;
}

static enum sent put_read(struct burst *b, const struct via_desc *d, u32 seq,
			  u8 flags)
{
	u32 size = hdr_size(b->ev, VIA_WIRE_WRITE_HDR);
	struct via_wire_data *data;
	struct via_wire_rdma *r;
	struct via_ether_buf buf;

	data = open_frame(b, VIA_WIRE_READ, flags, seq, size, 0, &buf);
	if (!data)
		return SENT_BLOCKED;
	data->msg_len = cpu_to_be32(d->length);
	data->offset = 0;
	data->reads = 0;
	r = (struct via_wire_rdma *)(data + 1);
	r->raddr = cpu_to_be64(d->raddr);
	r->rhandle = cpu_to_be32(d->rhandle);
	r->zero = 0;
	return trace_read(b, close_frame(b, size, 0, &buf), VIA_WIRE_READ,
			  flags, seq, size);
}

void via_ether_read_error(struct via_ether_vi *ev)
{
	via_ether_count(ev->nic, READS_REFUSED);
	via_vi_error(ev->vi, VIA_ERR_RDMAR_PROT, VIA_ST_OP_RDMA_READ >> 16, 0);
}

/* The peer may not read that, or not any more. */
static enum sent refuse_read(struct burst *b)
{
	via_ether_read_error(b->ev);
	via_ether_end(b->ev, VIA_END_OURS, VIA_WIRE_R_READ);
	return SENT_BROKEN;
}

/* What of the headers of READ_DATA the answer says. */
static void fill_answer(struct via_wire_data *data,
			const struct via_read_answer *a, u32 off)
{
	data->msg_len = cpu_to_be32(a->len);
	data->offset = cpu_to_be32(off);
	data->reads = cpu_to_be16((u16)a->seq);
}

/* SENT_GONE: the bytes may not be read, or not any more. */
static enum sent put_answer(struct burst *b, const struct via_read_answer *a,
			    u32 seq, u32 off, u32 len, u8 flags)
{
	u32 size = hdr_size(b->ev, VIA_WIRE_SEND_HDR);
	struct via_wire_data *data;
	struct via_ether_buf buf;
	struct via_frags frags;

	data = open_frame(b, VIA_WIRE_READ_DATA, flags, seq, size, len, &buf);
	if (!data)
		return SENT_BLOCKED;
	fill_answer(data, a, off);
	if (len >= b->ev->conn.dma_from &&
	    via_read_frags(b->vi, a->rhandle, a->raddr + off, len, &frags) &&
	    put_dma(b, size, len, &buf, &frags))
		return trace_read(b, SENT_ON, VIA_WIRE_READ_DATA, flags, seq,
				  size + len);
	if (unlikely(via_read_fetch(b->vi, a->rhandle, a->raddr + off,
				    buf.data + size, len))) {
		b->nic->ops->tx_drop(b->nic, &b->tx, &buf);
		return SENT_GONE;
	}
	return trace_read(b, close_frame(b, size, len, &buf),
			  VIA_WIRE_READ_DATA, flags, seq, size + len);
}

/* Those before it get their data first. */
static enum sent refuse_in_turn(struct burst *b)
{
	const struct via_answers *answers = &b->ev->answers;

	return answers->head == answers->next ? refuse_read(b) : SENT_WINDOW;
}

/* A frame of an answer again, without payload: rule 2 above. */
static noinline enum sent put_gone(struct burst *b, struct via_read_answer *a,
				   u32 seq, u8 flags)
{
	u32 size = hdr_size(b->ev, VIA_WIRE_SEND_HDR);
	struct via_wire_data *data;
	struct via_ether_buf buf;

	data = open_frame(b, VIA_WIRE_READ_DATA, flags, seq, size, 0, &buf);
	if (!data)
		return SENT_BLOCKED;
	data->msg_len = 0;
	data->offset = 0;
	data->reads = cpu_to_be16((u16)a->seq);
	a->gone = true;
	return trace_read(b, close_frame(b, size, 0, &buf), VIA_WIRE_READ_DATA,
			  flags, seq, size);
}

enum sent via_ether_send_fenced(struct burst *b, struct via_desc *d)
{
	struct via_ether_vi *ev = b->ev;
	u32 out = ev->reads.tail - ev->reads.head;
	struct via_ether_read *rd;
	enum sent r;
	u8 flags = 0;

	if (out && (d->control & VIA_CTL_QFENCE || out >= VIA_ETHER_READS))
		/* The bound is for reads; a fence is for anything. */
		if (d->control & VIA_CTL_QFENCE || via_ether_is_read(d))
			return SENT_WINDOW;
	if (!via_ether_is_read(d))
		return SENT_ON;
	if (!b->room)
		return SENT_WINDOW;
	b->drained = via_send_drained(b->vi);
	if (b->room == b->half || closes_window(b, b->room))
		flags = VIA_WIRE_ACK_NOW;
	else if (b->drained)
		flags = VIA_WIRE_PUSH;
	rd = &ev->reads.read[ev->reads.tail % VIA_ETHER_READS];
	rd->index = ev->snd.index;
	rd->seq = ev->snd.win.nxt;
	rd->off = 0;
	/* Before the READ leaves: its data finds both locks needed. */
	WRITE_ONCE(ev->reads.pending, ev->reads.pending + 1);
	r = put_read(b, d, ev->snd.win.nxt, flags);
	if (r) {
		WRITE_ONCE(ev->reads.pending, ev->reads.pending - 1);
		return r;
	}
	ev->reads.tail++;
	b->room--;
	enter_frame(ev, ev->snd.index, 0, 0, 0);
	via_ether_count(b->nic, READS_OUT);
	return SENT_ALL;
}

/* The answer's @len bytes at @off were sent. */
static void answer_sent(struct via_ether_vi *ev, u32 off, u32 len)
{
	if (!off)
		WRITE_ONCE(ev->reads.pending, ev->reads.pending + 1);
	ev->answers.off = off + len;
}

/* Is there nothing to send behind @off bytes of the newest answer? */
static bool ends_all(const struct burst *b, const struct via_read_answer *a,
		     u32 off, u32 tail)
{
	return off == a->len && b->ev->answers.next + 1 == tail &&
	       via_send_drained(b->vi);
}

static u8 kind_of(const struct via_read_answer *a, u32 off)
{
	return VIA_REC_ANSWER | (off == a->len ? VIA_REC_LAST : 0);
}

static bool fetch_train(struct via_vi *vi, const struct via_read_answer *a,
			u32 off, const struct via_ether_train *t)
{
	u32 i;

	for (i = 0; i < t->pieces; i++) {
		if (via_read_fetch(vi, a->rhandle, a->raddr + off,
				   t->piece[i].data, t->piece[i].len))
			return false;
		off += t->piece[i].len;
	}
	return true;
}

/* Several frames of answer @a as a train.  As put_answer(). */
static noinline enum sent answer_train(struct burst *b,
				       const struct via_read_answer *a, u32 tail)
{
	struct via_ether_vi *ev = b->ev;
	struct via_ether_train t __uninitialized;
	u32 off = ev->answers.off;
	struct via_ether_buf buf;
	enum sent r;
	u8 flags;

	t.hdr = VIA_WIRE_SEND_HDR;
	t.seg = ev->conn.seg_send;
	t.off = off;
	t.plain = true;
	if (!via_train_begin(b, &t, a->len - off, &buf) ||
	    (t.shared && !via_read_pages(b->vi, a->rhandle, a->raddr + off, t.bytes,
					 &t.pages) &&
	     !via_train_copies(b, &t, &buf)))
		return SENT_NO_TRAIN;
	flags = via_train_flags(b, &t, ends_all(b, a, off + t.bytes, tail));
	fill_answer(fill_frame(ev, buf.data, VIA_WIRE_READ_DATA, flags,
			       ev->snd.win.nxt, t.seg), a, off);
	if (unlikely(!fetch_train(b->vi, a, off, &t))) {
		b->nic->ops->tx_drop(b->nic, &b->tx, &buf);
		return SENT_GONE;
	}
	r = via_train_end(b, &t, &buf, ev->answers.next, off,
			  kind_of(a, off + t.bytes));
	if (r == SENT_ON)
		answer_sent(ev, off, t.bytes);
	return r;
}

/* The next frame of answer @a, or several. */
static enum sent answer_some(struct burst *b, const struct via_read_answer *a,
			     u32 tail)
{
	struct via_ether_vi *ev = b->ev;
	u32 off = ev->answers.off;
	u32 len = min(a->len - off, ev->conn.seg_send);
	u8 flags = 0;
	enum sent r;

	if (via_train_may(b, a->len - off, ev->conn.seg_send)) {
		r = answer_train(b, a, tail);
		if (r != SENT_NO_TRAIN)
			return r;
	}
	if (b->room == b->half || closes_window(b, b->room))
		flags = VIA_WIRE_ACK_NOW;
	else if (ends_all(b, a, off + len, tail))
		flags = VIA_WIRE_PUSH;
	r = put_answer(b, a, ev->snd.win.nxt, off, len, flags);
	if (r)
		return r;
	b->room--;
	enter_frame(ev, ev->answers.next, off, len, kind_of(a, off + len));
	answer_sent(ev, off, len);
	return SENT_ON;
}

enum sent via_ether_send_answer(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	/* Pairs with the release in place_read(). */
	u32 tail = smp_load_acquire(&ev->answers.tail);
	struct via_read_answer *a = via_ether_answer_of(ev, ev->answers.next);
	enum sent r;

	if (ev->answers.next == tail)
		goto done;
	if (!ev->answers.off && unlikely(via_read_check(b->vi, a->rhandle,
							a->raddr, a->len)))
		return refuse_in_turn(b);
	do {
		if (!b->room)
			return SENT_WINDOW;
		if (!via_work_visit(b->work))
			return SENT_BUDGET;
		r = answer_some(b, a, tail);
		if (r)
			return r == SENT_GONE ? refuse_in_turn(b) : r;
	} while (ev->answers.off < a->len);
	ev->answers.off = 0;
	WRITE_ONCE(ev->answers.next, ev->answers.next + 1);
done:
	/* One that comes from now on sets it again. */
	if (ev->answers.next == tail)
		ev->snd.odd &= ~VIA_ODD_ANSWER;
	return SENT_ALL;
}

enum sent via_ether_resend_read(struct burst *b, u32 seq, u8 flags)
{
	struct via_win_record *rec = via_win_rec(&b->ev->snd.win, seq);
	struct via_read_answer *a;
	enum sent r;

	if (rec->kind & VIA_REC_ANSWER) {
		a = via_ether_answer_of(b->ev, rec->index);
		r = put_answer(b, a, seq, rec->offset, rec->len, flags);
		return r == SENT_GONE ? put_gone(b, a, seq, flags) : r;
	}
	/* Still in the ring: it completes after this frame is acknowledged. */
	return put_read(b, via_send_entry(b->vi, rec->index), seq, flags);
}
