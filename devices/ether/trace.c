// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The class's tracepoints, and what their events are made of. */

#include "trace.h"
#include "vi.h"

#define CREATE_TRACE_POINTS
#include "via_ether_trace.h"

void __via_trace_drop(const struct via_ether_nic *nic, u32 cause)
{
	trace_via_drop(nic, cause);
}

static bool is_data(u8 type)
{
	return type >= VIA_WIRE_SEND && type <= VIA_WIRE_READ_DATA;
}

static bool is_end(u8 type)
{
	return type >= VIA_WIRE_DISCONNECT && type <= VIA_WIRE_RESET;
}

/*
 * Parsed once more: the frame may be malformed, and then has a type at most.
 * One with a seal is told before that is looked at.
 */
void __via_trace_received(const struct via_ether_nic *nic,
			  const struct via_ether_frame *f)
{
	struct via_trace_frame t = { .host = f->src, .len = f->len };
	const struct via_wire *w = f->hdr;
	struct via_frame_hdr h;

	if (!via_wire_parse(f->hdr, f->len, &h)) {
		t.type = h.type;
		t.flags = h.flags;
		if (is_data(h.type) || is_end(h.type))
			t.seq = h.seq;
		if (is_data(h.type) || is_end(h.type) ||
		    h.type == VIA_WIRE_ACK)
			t.ack = h.ack;
		if (is_data(h.type) || h.type == VIA_WIRE_ACK ||
		    h.type == VIA_WIRE_DISCONNECT)
			t.vi = h.dst;
	} else if (f->len >= sizeof(*w)) {
		t.type = w->type;
		t.flags = w->flags;
	}
	trace_via_frame_received(nic, &t);
}

void __via_trace_sent(const struct via_ether_nic *nic,
		      const struct via_trace_frame *t)
{
	trace_via_frame_sent(nic, t);
}

void __via_trace_data(const struct via_ether_vi *ev, u8 type, u8 flags,
		      u32 seq, u32 len)
{
	const struct via_trace_frame t = {
		.host = ev->conn.remote.addr,
		.vi = via_ether_id(ev->vi),
		.len = len,
		.seq = seq,
		.ack = READ_ONCE(ev->snd.acked),
		.type = type,
		.flags = flags,
	};

	trace_via_frame_sent(ev->nic, &t);
}

void __via_trace_retransmit(const struct via_ether_vi *ev, u32 seq, u32 len)
{
	u32 rule = VIA_TRACE_OVERTAKEN;

	if (ev->rto.retries == 1)
		rule = VIA_TRACE_PROBE;
	else if (ev->snd.win.timed)
		rule = VIA_TRACE_TIMEOUT;
	trace_via_retransmit(ev, seq, len, rule);
}

void __via_trace_window(const struct via_peer *peer, u32 before,
			enum via_trace_why why)
{
	if (peer->pool.cong.cwnd != before)
		trace_via_window(peer, before, why);
}
