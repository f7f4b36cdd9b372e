/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracepoints of the agent, events/via/ in tracefs; those of frames are in
 * devices/ether/via_ether_trace.h.  docs/howto/tracing.md says what each one tells.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM via

#if !defined(_VIA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _VIA_TRACE_H

#include <linux/tracepoint.h>
#include "trace_fields.h"
#include "via_ka.h"

#define via_trace_queue(q) \
	__print_symbolic(q, { 0, "send" }, { 1, "receive" })

/* VIA_ST_OP_* of uapi/via.h, as its field of a status. */
#define via_trace_op(op) \
	__print_symbolic(op, \
			 { 0, "send" }, \
			 { 1, "receive" }, \
			 { 2, "rdma_write" }, \
			 { 3, "remote_rdma_write" }, \
			 { 4, "rdma_read" })

/* VIA_R_* of uapi/via.h. */
#define via_trace_verdict(v) \
	__print_symbolic(v, \
			 { 0, "success" }, \
			 { 3, "resource" }, \
			 { 4, "timeout" }, \
			 { 5, "reject" }, \
			 { 6, "reliability_level" }, \
			 { 7, "transfer_size" }, \
			 { 12, "state" }, \
			 { 14, "no_match" }, \
			 { 15, "not_reachable" })

/* A descriptor is copied out of the program's memory and checked. */
TRACE_EVENT(via_post,

	TP_PROTO(const struct via_vi *vi, const struct via_queue *q, u32 op,
		 const struct via_desc *d),

	TP_ARGS(vi, q, op, d),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, vi)
		__field(u32, index)
		__field(u32, length)
		__field(u32, status)
		__field(u16, segs)
		__field(u8, queue)
		__field(u8, op)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(vi->nic);
		__entry->vi = vi->index;
		__entry->index = q->next;
		__entry->length = d->length;
		__entry->status = d->status;
		__entry->segs = d->seg_count;
		__entry->queue = q->recv;
		__entry->op = op;
	),

	TP_printk("nic=%s vi=%u queue=%s index=%u op=%s length=%u segs=%u status=%#x",
		  __entry->nic, __entry->vi, via_trace_queue(__entry->queue),
		  __entry->index, via_trace_op(__entry->op), __entry->length,
		  __entry->segs, __entry->status)
);

/* A program has rung for a queue. */
TRACE_EVENT(via_doorbell,

	TP_PROTO(const struct via_vi *vi, bool recv),

	TP_ARGS(vi, recv),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, vi)
		__field(u8, queue)
		__field(u8, state)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(vi->nic);
		__entry->vi = vi->index;
		__entry->queue = recv;
		__entry->state = vi->state;
	),

	TP_printk("nic=%s vi=%u queue=%s state=%s",
		  __entry->nic, __entry->vi, via_trace_queue(__entry->queue),
		  __print_symbolic(__entry->state,
				   { VIA_STATE_IDLE, "idle" },
				   { VIA_STATE_PENDING, "pending" },
				   { VIA_STATE_CONNECTED, "connected" },
				   { VIA_STATE_ERROR, "error" }))
);

/* A descriptor is complete, whether it was taken before or not (flushed). */
TRACE_EVENT(via_complete,

	TP_PROTO(const struct via_vi *vi, const struct via_queue *q,
		 enum via_status status, u32 length),

	TP_ARGS(vi, q, status, length),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, vi)
		__field(u32, index)
		__field(u32, length)
		__field(u32, status)
		__field(u8, queue)
		__field(u8, op)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(vi->nic);
		__entry->vi = vi->index;
		__entry->index = q->head;
		__entry->length = length;
		__entry->status = status;
		__entry->queue = q->recv;
		__entry->op = (status & VIA_ST_OP_MASK) >> 16;
	),

	TP_printk("nic=%s vi=%u queue=%s index=%u op=%s length=%u status=%#x",
		  __entry->nic, __entry->vi, via_trace_queue(__entry->queue),
		  __entry->index, via_trace_op(__entry->op), __entry->length,
		  __entry->status)
);

/* What begins and ends an attempt has the attempt's number: one VI makes many. */
TRACE_EVENT(via_connect,

	TP_PROTO(const struct via_vi *vi, bool server, bool local),

	TP_ARGS(vi, server, local),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, vi)
		__field(u32, attempt)
		VIA_HOST_ENTRY
		__field(u8, role)
		__field(u8, local)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(vi->nic);
		__entry->vi = vi->index;
		__entry->attempt = vi->attempt;
		VIA_HOST_ASSIGN(vi->remote.host, vi->remote.host_len);
		__entry->role = vi->p2p ? 2 : server;
		__entry->local = local;
	),

	TP_printk("nic=%s vi=%u attempt=%u role=%s local=%u " VIA_HOST_FMT,
		  __entry->nic, __entry->vi, __entry->attempt,
		  __print_symbolic(__entry->role, { 0, "client" },
				   { 1, "server" }, { 2, "peer" }),
		  __entry->local,
		  VIA_HOST_ARG)
);

TRACE_EVENT(via_verdict,

	TP_PROTO(const struct via_vi *vi),

	TP_ARGS(vi),

	TP_STRUCT__entry(
		VIA_NIC_ENTRY
		__field(u32, vi)
		__field(u32, attempt)
		__field(u32, verdict)
	),

	TP_fast_assign(
		VIA_NIC_ASSIGN(vi->nic);
		__entry->vi = vi->index;
		__entry->attempt = vi->attempt;
		__entry->verdict = vi->verdict;
	),

	TP_printk("nic=%s vi=%u attempt=%u verdict=%s",
		  __entry->nic, __entry->vi, __entry->attempt,
		  via_trace_verdict(__entry->verdict))
);

#endif /* _VIA_TRACE_H */

/* Found by CFLAGS of kernel/trace.o, wherever the tree is built. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE via_trace
#include <trace/define_trace.h>
