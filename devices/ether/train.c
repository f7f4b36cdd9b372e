// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trains: frames of one message, one behind the other, that go through the stack as
 * one frame with the headers of the first.  A network card, or the stack in front of
 * one, makes the frames of the wire of it (via_ether_cut()); an interface of this
 * host may get it whole.
 *
 * 1. A train takes as many sequence numbers, records in the window, credit and visits
 *    as its frames would.  Retransmissions are single frames.
 * 2. All of its frames carry the same number of bytes, but the last one, which may
 *    carry fewer.  It is all of one message.
 * 3. PUSH, ACK_NOW and PROBE are its last frame's; so is the round trip that it is
 *    timed with.  The frame half way through the window is the last of a train.
 * 4. A train has no seal: each frame of the wire would want its own.
 * 5. In order, with nothing held, it is received at once: one look at the window, one
 *    decision on the acknowledgement.  Else its frames are received one by one.
 */

#include <linux/export.h>
#include "stats.h"
#include "trace.h"
#include "train.h"
#include "vi.h"

/* How many frames the next train may have. */
static u32 most_frames(const struct burst *b)
{
	u32 n = min(b->room, VIA_WIRE_TRAIN);

	/* Its first frame is paid for. */
	n = min(n, b->work->left + 1);
	if (b->half && b->room >= b->half)
		n = min(n, b->room - b->half + 1);
	return n;
}

static u32 frames_of(const struct via_ether_train *t)
{
	return DIV_ROUND_UP(t->bytes, t->seg);
}

bool via_train_begin(struct burst *b, struct via_ether_train *t, u32 left,
		     struct via_ether_buf *buf)
{
	struct via_ether_nic *nic = b->nic;
	u32 n = most_frames(b);

	lockdep_assert_held(&b->vi->sq.lock);
	if (n < 2 || !nic->ops->tx_get_train)
		return false;
	t->bytes = min(left, n * t->seg);
	if (unlikely(!b->open && !burst_begin(b)))
		return false;
	/*
	 * The bytes are the program's when it hears that they were sent: at a reliable
	 * level when they have arrived.  Retransmissions are copies.
	 */
	t->shared = nic->ops->tx_copy_train && b->ev->conn.reliable;
	b->single = !nic->ops->tx_get_train(nic, &b->tx, &b->ev->peer->link, t,
					    buf);
	return !b->single;
}

bool via_train_copies(struct burst *b, struct via_ether_train *t,
		      struct via_ether_buf *buf)
{
	const struct via_ether_ops *ops = b->nic->ops;

	t->shared = false;
	if (likely(ops->tx_copy_train(b->nic, t, buf)))
		return true;
	ops->tx_drop(b->nic, &b->tx, buf);
	b->single = true;
	return false;
}

u8 via_train_flags(struct burst *b, const struct via_ether_train *t, bool ends)
{
	u32 behind = frames_of(t) - 1;

	return new_flags(b, b->room - behind, b->ev->snd.win.nxt + behind, ends);
}

enum sent via_train_end(struct burst *b, const struct via_ether_train *t,
			struct via_ether_buf *buf, u32 index, u32 off, u8 kind)
{
	const struct via_wire *w = (const void *)buf->data;
	struct via_ether_nic *nic = b->nic;
	u8 type = w->type, flags = w->flags;
	struct via_ether_vi *ev = b->ev;
	u32 n = frames_of(t), all;

	if (unlikely(!nic->ops->tx_put_train(nic, &b->tx, t, buf)))
		return SENT_BLOCKED;
	via_ether_count_add(nic, TX_FRAMES, n);
	via_ether_count_add(nic, TX_BYTES, n * t->hdr + t->bytes);
	via_ether_count(nic, TX_TRAINS);
	if (t->shared)
		via_ether_count(nic, TX_ZEROCOPY);
	via_trace_data(ev, type, flags, ev->snd.win.nxt, t->hdr + t->bytes);
	b->room -= n;
	via_work_charge(b->work, n - 1);
	if (unlikely(!ev->conn.reliable)) {
		ev->snd.win.nxt += n - 1;
		enter_unreliable(ev);
		return SENT_ON;
	}
	all = (n - 1) * t->seg;
	via_win_push_run(&ev->snd.win, n - 1, index, off, t->seg,
			 kind & ~VIA_REC_LAST);
	enter_frame(ev, index, off + all, t->bytes - all, kind);
	return SENT_ON;
}

u32 via_ether_train_hdr(const void *frame, u32 size)
{
	return via_wire_data_hdr_in(frame, size);
}
EXPORT_SYMBOL_GPL(via_ether_train_hdr);

void via_ether_cut(void *frame, u32 k, u32 seg, u32 len, bool last)
{
	via_wire_cut(frame, k, seg, len, last);
}
EXPORT_SYMBOL_GPL(via_ether_cut);
