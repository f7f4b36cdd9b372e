/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracepoints of the class, events/via/ in tracefs beside the agent's: frames,
 * drops, what is sent again, windows.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM via

#if !defined(_VIA_ETHER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _VIA_ETHER_TRACE_H

#include <linux/tracepoint.h>
#include "../../kernel/trace_fields.h"
#include "stats.h"
#include "trace.h"
#include "vi.h"

/* Tools that read the format see numbers. */
#define VIA_TRACE_COUNTER(id, name)	TRACE_DEFINE_ENUM(VIA_C_##id);
VIA_COUNTERS(VIA_COUNTER_NONE, VIA_TRACE_COUNTER)
TRACE_DEFINE_ENUM(VIA_C_MAX);
TRACE_DEFINE_ENUM(VIA_TRACE_OVERTAKEN);
TRACE_DEFINE_ENUM(VIA_TRACE_PROBE);
TRACE_DEFINE_ENUM(VIA_TRACE_TIMEOUT);
TRACE_DEFINE_ENUM(VIA_TRACE_GREW);
TRACE_DEFINE_ENUM(VIA_TRACE_LOSS);
TRACE_DEFINE_ENUM(VIA_TRACE_MARK);
TRACE_DEFINE_ENUM(VIA_TRACE_SILENCE);
TRACE_DEFINE_ENUM(VIA_TRACE_UNDO);
TRACE_DEFINE_ENUM(VIA_TRACE_RESTED);

/* By the names of the counters; the last entry of a list has no comma behind it. */
#define VIA_TRACE_CAUSE(id, name)	{ VIA_C_##id, name },
#define via_trace_cause(c) \
	__print_symbolic(c, VIA_COUNTERS(VIA_COUNTER_NONE, VIA_TRACE_CAUSE) \
			 { VIA_C_MAX, "?" })

#define via_trace_type(t) \
	__print_symbolic(t, \
			 { VIA_WIRE_VERSIONS, "VERSION" }, \
			 { VIA_WIRE_SEND, "SEND" }, \
			 { VIA_WIRE_WRITE, "WRITE" }, \
			 { VIA_WIRE_READ, "READ" }, \
			 { VIA_WIRE_READ_DATA, "READ_DATA" }, \
			 { VIA_WIRE_ACK, "ACK" }, \
			 { VIA_WIRE_DISCONNECT, "DISCONNECT" }, \
			 { VIA_WIRE_DISCONNECT_ACK, "DISCONNECT_ACK" }, \
			 { VIA_WIRE_RESET, "RESET" }, \
			 { VIA_WIRE_REQUEST, "REQUEST" }, \
			 { VIA_WIRE_CHALLENGE, "CHALLENGE" }, \
			 { VIA_WIRE_WAIT, "WAIT" }, \
			 { VIA_WIRE_REFUSE, "REFUSE" }, \
			 { VIA_WIRE_ACCEPT, "ACCEPT" }, \
			 { VIA_WIRE_CONFIRM, "CONFIRM" }, \
			 { VIA_WIRE_CANCEL, "CANCEL" }, \
			 { VIA_WIRE_PEER_REQUEST, "PEER_REQUEST" }, \
			 { VIA_WIRE_PEER_ACCEPT, "PEER_ACCEPT" }, \
			 { VIA_WIRE_HEARTBEAT, "HEARTBEAT" }, \
			 { VIA_WIRE_HEARTBEAT_ACK, "HEARTBEAT_ACK" }, \
			 { VIA_WIRE_ACKS, "ACKS" }, \
			 { VIA_WIRE_LIST, "LIST" }, \
			 { VIA_WIRE_NAME_QUERY, "NAME_QUERY" }, \
			 { VIA_WIRE_NAME_REPLY, "NAME_REPLY" })

DECLARE_EVENT_CLASS(via_frame,

	TP_PROTO(const struct via_ether_nic *nic,
		 const struct via_trace_frame *t),

	TP_ARGS(nic, t),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(s32, vi)
		__field(u32, len)
		__field(u32, seq)
		__field(u32, ack)
		VIA_HOST_ENTRY
		__field(u8, type)
		__field(u8, flags)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(nic->ka);
		VIA_HOST_ASSIGN(t->host, nic->host.len);
		__entry->vi = t->vi - 1;
		__entry->len = t->len;
		__entry->seq = t->seq;
		__entry->ack = t->ack;
		__entry->type = t->type;
		__entry->flags = t->flags;
	),

	TP_printk("nic=%s " VIA_HOST_FMT " vi=%d type=%s flags=%#x seq=%u ack=%u len=%u",
		  __entry->nic,
		  VIA_HOST_ARG,
		  __entry->vi, via_trace_type(__entry->type),
		  __entry->flags, __entry->seq, __entry->ack, __entry->len)
);

/* The NIC module has taken it. */
DEFINE_EVENT(via_frame, via_frame_sent,

	TP_PROTO(const struct via_ether_nic *nic,
		 const struct via_trace_frame *t),

	TP_ARGS(nic, t)
);

/* As it comes, before it is looked at: what becomes of it follows. */
DEFINE_EVENT(via_frame, via_frame_received,

	TP_PROTO(const struct via_ether_nic *nic,
		 const struct via_trace_frame *t),

	TP_ARGS(nic, t)
);

/* Of the frame that was received before it on this CPU. */
TRACE_EVENT(via_drop,

	TP_PROTO(const struct via_ether_nic *nic, u32 cause),

	TP_ARGS(nic, cause),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, cause)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(nic->ka);
		__entry->cause = cause;
	),

	TP_printk("nic=%s cause=%s", __entry->nic,
		  via_trace_cause(__entry->cause))
);

TRACE_EVENT(via_retransmit,

	TP_PROTO(const struct via_ether_vi *ev, u32 seq, u32 len, u32 rule),

	TP_ARGS(ev, seq, len, rule),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, vi)
		__field(u32, seq)
		__field(u32, len)
		__field(u32, timeouts)
		__field(u32, rto_us)
		VIA_HOST_ENTRY
		__field(u8, rule)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(ev->nic->ka);
		VIA_HOST_ASSIGN(ev->conn.remote.addr, ev->conn.remote.len);
		__entry->vi = ev->vi->index;
		__entry->seq = seq;
		__entry->len = len;
		__entry->timeouts = ev->rto.retries;
		__entry->rto_us = via_peer_rto(ev->peer);
		__entry->rule = rule;
	),

	TP_printk("nic=%s " VIA_HOST_FMT " vi=%u seq=%u len=%u rule=%s timeouts=%u rto_us=%u",
		  __entry->nic,
		  VIA_HOST_ARG,
		  __entry->vi, __entry->seq, __entry->len,
		  __print_symbolic(__entry->rule,
				   { VIA_TRACE_OVERTAKEN, "overtaken" },
				   { VIA_TRACE_PROBE, "probe" },
				   { VIA_TRACE_TIMEOUT, "timeout" }),
		  __entry->timeouts, __entry->rto_us)
);

/* pool_lock of the peer is held. */
TRACE_EVENT(via_window,

	TP_PROTO(const struct via_peer *peer, u32 before, u32 why),

	TP_ARGS(peer, before, why),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, before)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u32, granted)
		VIA_HOST_ENTRY
		__field(u8, why)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(peer->nic->ka);
		VIA_HOST_ASSIGN(peer->host.addr, peer->host.len);
		__entry->before = before;
		__entry->cwnd = peer->pool.cong.cwnd;
		__entry->ssthresh = peer->pool.cong.ssthresh;
		__entry->granted = peer->pool.granted;
		__entry->why = why;
	),

	TP_printk("nic=%s " VIA_HOST_FMT " before=%u cwnd=%u ssthresh=%u granted=%u why=%s",
		  __entry->nic,
		  VIA_HOST_ARG,
		  __entry->before, __entry->cwnd, __entry->ssthresh,
		  __entry->granted,
		  __print_symbolic(__entry->why,
				   { VIA_TRACE_GREW, "grew" },
				   { VIA_TRACE_LOSS, "loss" },
				   { VIA_TRACE_MARK, "mark" },
				   { VIA_TRACE_SILENCE, "timeout" },
				   { VIA_TRACE_UNDO, "undone" },
				   { VIA_TRACE_RESTED, "rested" }))
);

#endif /* _VIA_ETHER_TRACE_H */

/* Found by CFLAGS of devices/ether/trace.o, wherever the tree is built. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE via_ether_trace
#include <trace/define_trace.h>
