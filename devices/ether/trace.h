/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the class calls where something happens that a tracepoint tells of
 * (via_ether_trace.h).  While it is off that is one instruction that does
 * nothing; what an event is made of is put together in trace.c.
 */
#ifndef _VIA_TRACE_CALLS_H
#define _VIA_TRACE_CALLS_H

#include <linux/tracepoint-defs.h>
#include <linux/types.h>

struct via_ether_frame;
struct via_ether_nic;
struct via_ether_vi;
struct via_peer;

DECLARE_TRACEPOINT(via_drop);
DECLARE_TRACEPOINT(via_frame_received);
DECLARE_TRACEPOINT(via_frame_sent);
DECLARE_TRACEPOINT(via_retransmit);
DECLARE_TRACEPOINT(via_window);

/* A frame, as its events tell it; what its type lacks is 0. */
struct via_trace_frame {
	const u8 *host;		/* of the other end; NULL: all hosts */
	u32 vi;			/* id of this host's VI; 0: none */
	u32 len;		/* bytes behind the link header */
	u32 seq;
	u32 ack;
	u8 type;		/* VIA_WIRE_* */
	u8 flags;		/* VIA_WIRE_PUSH ... */
};

/* By which rule a frame is sent again. */
enum via_trace_rule {
	VIA_TRACE_OVERTAKEN,	/* frames sent after it have arrived */
	VIA_TRACE_PROBE,	/* the first timeout: the newest frame */
	VIA_TRACE_TIMEOUT,	/* further ones: all in flight */
};

/* Why the window of a peer has changed. */
enum via_trace_why {
	VIA_TRACE_GREW,
	VIA_TRACE_LOSS,
	VIA_TRACE_MARK,		/* the network has marked a frame */
	VIA_TRACE_SILENCE,	/* a timeout */
	VIA_TRACE_UNDO,	/* what seemed lost was late */
	VIA_TRACE_RESTED,	/* it was not used for a while */
};

/* Only where the tracepoint is enabled; BH off, any lock. */
void __via_trace_drop(const struct via_ether_nic *nic, u32 cause);
void __via_trace_received(const struct via_ether_nic *nic,
			  const struct via_ether_frame *f);
void __via_trace_sent(const struct via_ether_nic *nic,
		      const struct via_trace_frame *t);
void __via_trace_data(const struct via_ether_vi *ev, u8 type, u8 flags,
		      u32 seq, u32 len);
void __via_trace_retransmit(const struct via_ether_vi *ev, u32 seq, u32 len);
void __via_trace_window(const struct via_peer *peer, u32 before,
			enum via_trace_why why);

/* @cause: VIA_C_* */
static __always_inline void via_trace_drop(const struct via_ether_nic *nic,
					   u32 cause)
{
	if (tracepoint_enabled(via_drop))
		__via_trace_drop(nic, cause);
}

static __always_inline void via_trace_received(const struct via_ether_nic *nic,
					       const struct via_ether_frame *f)
{
	if (tracepoint_enabled(via_frame_received))
		__via_trace_received(nic, f);
}

/* A frame of data has left, of @len bytes in all.  sq.lock held. */
static __always_inline void via_trace_data(const struct via_ether_vi *ev,
					   u8 type, u8 flags, u32 seq, u32 len)
{
	if (tracepoint_enabled(via_frame_sent))
		__via_trace_data(ev, type, flags, seq, len);
}

/* Frame @seq has left again, with @len bytes of payload.  sq.lock held. */
static __always_inline void via_trace_retransmit(const struct via_ether_vi *ev,
						 u32 seq, u32 len)
{
	if (tracepoint_enabled(via_retransmit))
		__via_trace_retransmit(ev, seq, len);
}

/* The window was @before, and may be another one.  pool_lock held. */
static __always_inline void via_trace_window(const struct via_peer *peer,
					     u32 before, enum via_trace_why why)
{
	if (tracepoint_enabled(via_window))
		__via_trace_window(peer, before, why);
}

#endif /* _VIA_TRACE_CALLS_H */
