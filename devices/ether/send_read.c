// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * RDMA Read, both ends.
 *
 * The initiator's READ is a frame like any other of its stream, so it is
 * behind all that was sent before it.  The target notes it under rq.lock and
 * answers under sq.lock with READ_DATA frames in its own stream: windowed,
 * acknowledged, sent again, and gathered anew each time.  The data goes into
 * the descriptor in the initiator's send ring.  Reads are answered in order.
 *
 * A descriptor that is acknowledged while a read before it wants data waits
 * in acked_late: completion is in order whatever overtakes inside.
 */

#include "burst.h"
#include "send_read.h"

/* Bytes before the payload. */
static u32 hdr_size(const struct via_ether_vi *ev, u32 headers)
{
	return headers + ev->conn.seal_len;
}

/* Begin a frame: its room, and all but what the message's fields say. */
static struct via_wire_data *open_frame(struct burst *b, u8 type, u8 flags,
					u32 seq, u32 size, u32 len,
					struct via_ether_buf *buf)
{
	struct via_wire_data *data;
	struct via_ether_nic *nic = b->nic;
	struct via_ether_vi *ev = b->ev;
	struct via_wire *h;

	if (unlikely(!b->open && !burst_begin(b)))
		return NULL;
	if (unlikely(!nic->ops->tx_get(nic, &b->tx, &ev->peer->link, size + len,
				       buf)))
		return NULL;
	h = (struct via_wire *)buf->data;
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
static enum sent told(struct burst *b, enum sent r, u8 type, u8 flags, u32 seq,
		      u32 len)
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
	return told(b, close_frame(b, size, 0, &buf), VIA_WIRE_READ, flags,
		    seq, size);
}

/* The peer may not read that, or not any more. */
static enum sent refuse(struct burst *b)
{
	via_ether_count(b->nic, READS_REFUSED);
	via_vi_error(b->vi, VIA_ERR_RDMAR_PROT, VIA_ST_OP_RDMA_READ >> 16, 0);
	via_ether_end(b->ev, VIA_END_OURS, VIA_WIRE_R_READ);
	return SENT_BROKEN;
}

static struct via_read_answer *answer_of(struct via_ether_vi *ev, u32 index)
{
	return &ev->answers.answer[index % VIA_ETHER_ANSWERS];
}

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
	data->msg_len = cpu_to_be32(a->len);
	data->offset = cpu_to_be32(off);
	data->reads = cpu_to_be16((u16)a->seq);
	if (len >= b->ev->conn.dma_from &&
	    via_read_frags(b->vi, a->rhandle, a->raddr + off, len, &frags) &&
	    put_dma(b, size, len, &buf, &frags))
		return told(b, SENT_ON, VIA_WIRE_READ_DATA, flags, seq,
			    size + len);
	if (unlikely(via_read_fetch(b->vi, a->rhandle, a->raddr + off,
				    buf.data + size, len))) {
		b->nic->ops->tx_drop(b->nic, &b->tx, &buf);
		return refuse(b);
	}
	return told(b, close_frame(b, size, len, &buf), VIA_WIRE_READ_DATA,
		    flags, seq, size + len);
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
	if (b->room == b->half || closes_window(b))
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

enum sent via_ether_send_answer(struct burst *b)
{
	struct via_ether_vi *ev = b->ev;
	/* Pairs with the release in via_ether_place_read(). */
	u32 tail = smp_load_acquire(&ev->answers.tail);
	struct via_read_answer *a = answer_of(ev, ev->answers.next);
	u32 off, len;
	bool last;
	enum sent r;
	u8 flags;

	if (ev->answers.next == tail)
		goto done;
	if (!ev->answers.off && unlikely(via_read_check(b->vi, a->rhandle,
							a->raddr, a->len)))
		/* Those before it get their data first. */
		return ev->answers.head == ev->answers.next ? refuse(b) :
							      SENT_WINDOW;
	do {
		off = ev->answers.off;
		len = min(a->len - off, ev->conn.seg_send);
		last = off + len == a->len;
		if (!b->room)
			return SENT_WINDOW;
		if (!via_work_visit(b->work))
			return SENT_BUDGET;
		flags = 0;
		if (b->room == b->half || closes_window(b))
			flags = VIA_WIRE_ACK_NOW;
		else if (last && ev->answers.next + 1 == tail &&
			 via_send_drained(b->vi))
			flags = VIA_WIRE_PUSH;
		r = put_answer(b, a, ev->snd.win.nxt, off, len, flags);
		if (r)
			return r;
		b->room--;
		if (!off)
			WRITE_ONCE(ev->reads.pending, ev->reads.pending + 1);
		enter_frame(ev, ev->answers.next, off, len, VIA_REC_ANSWER |
			    (last ? VIA_REC_LAST : 0));
		ev->answers.off = off + len;
	} while (!last);
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

	if (rec->kind & VIA_REC_ANSWER)
		return put_answer(b, answer_of(b->ev, rec->index), seq,
				  rec->offset, rec->len, flags);
	/* Still in the ring: it completes after this frame is acknowledged. */
	return put_read(b, via_send_entry(b->vi, rec->index), seq, flags);
}

static inline u64 late_bit(u32 index)
{
	BUILD_BUG_ON(VIA_INFLIGHT > 64);
	return (u64)1 << (index % 64);
}

/* Complete what is finished, in order. */
static void complete_late(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	struct via_queue *q = &vi->sq;

	while (q->head != q->next && ev->reads.acked_late & late_bit(q->head)) {
		ev->reads.acked_late &= ~late_bit(q->head);
		via_send_complete(vi, 0, via_send_entry(vi, q->head)->length);
	}
}

/* The n frames before ack have left the window.  sq.lock held. */
void via_ether_reads_ack(struct via_ether_vi *ev, u32 ack, u32 n)
{
	struct via_win_record *rec;
	u32 seq;

	lockdep_assert_held(&ev->vi->sq.lock);
	for (seq = ack - n; seq != ack; seq++) {
		rec = via_win_rec(&ev->snd.win, seq);
		if (!(rec->kind & VIA_REC_LAST))
			continue;
		if (rec->kind & VIA_REC_ANSWER) {
			WRITE_ONCE(ev->answers.head, ev->answers.head + 1);
			WRITE_ONCE(ev->reads.pending, ev->reads.pending - 1);
		} else {
			ev->reads.acked_late |= late_bit(rec->index);
		}
	}
	complete_late(ev);
}

/*
 * The descriptor that broke the connection: it gets the status, and what is
 * not complete before it is flushed, as is what is behind.  sq.lock held.
 */
void via_ether_offender(struct via_vi *vi, u32 index, enum via_status status)
{
	lockdep_assert_held(&vi->sq.lock);
	if (index - vi->sq.head >= vi->sq.next - vi->sq.head)
		return;
	while (vi->sq.head != index)
		via_send_complete(vi, VIA_ST_DESC_FLUSHED_ERROR, 0);
	via_send_complete(vi, status, 0);
}

/* A READ in its turn: note it.  rq.lock held.  Returns as place() does. */
u32 via_ether_place_read(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_read_answer *a = answer_of(ev, ev->answers.tail);

	lockdep_assert_held(&vi->rq.lock);
	if (!ev->conn.reliable || h->msg_len > vi->attrs.max_transfer)
		return VIA_WIRE_R_PROTOCOL;
	if (ev->answers.tail - READ_ONCE(ev->answers.head) >=
	    VIA_ETHER_ANSWERS) {
		via_ether_count(ev->nic, READS_DROPPED);
		return VIA_ETHER_NOT_NOW;
	}
	a->raddr = h->raddr;
	a->rhandle = h->rhandle;
	a->len = h->msg_len;
	a->seq = h->seq;
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
	u32 skip = h->hdr_len, left = h->len, off = h->offset, i, n, st;

	for (i = 0; i < f->nchunks && left; i++) {
		n = f->chunk[i].len;
		if (skip >= n) {
			skip -= n;
			continue;
		}
		n = min(n - skip, left);
		st = via_read_scatter(vi, d, off, f->chunk[i].data + skip, n);
		if (unlikely(st))
			return st;
		skip = 0;
		off += n;
		left -= n;
	}
	return 0;
}

/*
 * Data for the oldest read of ours.  Whatever the peer says, nothing is
 * written but the next bytes of that read.  Both queue locks held, else there
 * is no read out.
 */
u32 via_ether_place_read_data(struct via_vi *vi, const struct via_frame_hdr *h,
			      const struct via_ether_frame *f)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_read *rd;
	struct via_desc *d;
	u32 st;

	if (!ev->rcv.both || ev->reads.head == ev->reads.tail)
		return VIA_WIRE_R_PROTOCOL;
	lockdep_assert_held(&vi->sq.lock);
	rd = &ev->reads.read[ev->reads.head % VIA_ETHER_READS];
	d = via_send_entry(vi, rd->index);
	if (h->reads != (u16)rd->seq || h->msg_len != d->length ||
	    h->offset != rd->off)
		return VIA_WIRE_R_PROTOCOL;
	/*
	 * The answer acknowledges the READ and all before it, even if the
	 * target was not that far when it filled in the header: so nothing
	 * before a read is open when the read completes.
	 */
	if (!via_seq_before(rd->seq, ev->snd.win.una))
		via_ether_ack(vi, rd->seq + 1, NULL, 0, VIA_WIRE_DELAY_MAX);
	st = take_payload(vi, d, h, f);
	if (unlikely(st)) {
		via_ether_offender(vi, rd->index, st);
		return VIA_WIRE_R_TRANSPORT;
	}
	rd->off += h->len;
	if (rd->off == d->length) {
		ev->reads.head++;
		WRITE_ONCE(ev->reads.pending, ev->reads.pending - 1);
		ev->reads.acked_late |= late_bit(rd->index);
		complete_late(ev);
	}
	return 0;
}
