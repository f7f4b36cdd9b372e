/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of a NIC of the class, per CPU. */
#ifndef _VIA_ETHER_STATS_H
#define _VIA_ETHER_STATS_H

#include <linux/percpu.h>
#include "proto/wire.h"
#include "trace.h"
#include "via_ether.h"

/*
 * All counters, in the order in which programs see them: C() counts something, D()
 * frames that are dropped, and each drop is an event as well.  END_TOLD_* are
 * connections that the peer has ended, END_OURS_* those that this end has, for each
 * reason, in the order of VIA_WIRE_R_*.
 */
#define VIA_COUNTERS(C, D) \
	C(RX_FRAMES, "rx_frames") \
	C(RX_BYTES, "rx_bytes") \
	C(TX_FRAMES, "tx_frames") \
	C(TX_BYTES, "tx_bytes") \
	C(TX_BUSY, "tx_busy") \
	C(RX_TRAINS, "rx_trains") \
	C(TX_TRAINS, "tx_trains") \
	C(TX_ZEROCOPY, "tx_zerocopy") \
	C(TX_DMA, "tx_dma_frames") \
	D(BAD_VERSION, "drop_version") \
	D(BAD_TYPE, "drop_type") \
	D(BAD_LENGTH, "drop_length") \
	D(BAD_FIELD, "drop_field") \
	D(BAD_SEAL, "drop_checksum") \
	D(BAD_AUTH, "drop_auth") \
	D(REPLAYED, "drop_replay") \
	C(SESSIONS, "sessions") \
	D(NOT_ALLOWED, "drop_peer") \
	D(NO_VI, "drop_no_vi") \
	D(COOKIE, "drop_cookie") \
	D(BAD_END, "drop_end") \
	D(NO_RECEIVE, "drop_no_receive") \
	D(OLD, "drop_old") \
	C(GAP, "gaps") \
	D(DUP, "drop_duplicate") \
	D(BEYOND, "drop_beyond_window") \
	D(PARTIAL, "drop_partial") \
	C(OOO_HELD, "ooo_held") \
	D(OOO_DROPPED, "ooo_dropped") \
	C(ACKS_OUT, "acks_out") \
	C(ACKS_IN, "acks_in") \
	C(BATCHES_OUT, "ack_batches_out") \
	C(BATCHES_IN, "ack_batches_in") \
	C(RESENT, "retransmits") \
	C(RESENT_TIMED, "retransmits_timed") \
	C(TIMEOUTS, "timeouts") \
	C(RESETS_OUT, "resets_out") \
	C(RESETS_IN, "resets_in") \
	C(CHALLENGES_OUT, "challenges_out") \
	C(HEARTBEAT_ACKS_IN, "heartbeat_acks_in") \
	C(LISTS_OUT, "lists_out") \
	C(LISTS_IN, "lists_in") \
	C(VERSIONS_OUT, "versions_out") \
	C(VERSIONS_IN, "versions_in") \
	C(HEARTBEATS_OUT, "heartbeats_out") \
	C(HEARTBEATS_IN, "heartbeats_in") \
	C(REQUESTS_OUT, "requests_out") \
	C(REQUESTS_IN, "requests_in") \
	C(END_RESET, "ends_reset") \
	C(END_LIST, "ends_list") \
	C(END_RESTARTED, "ends_restarted") \
	C(END_SILENT, "dead_peers") \
	C(END_UNACKED, "dead_unacked") \
	C(END_TOLD_CLOSED, "told_closed") \
	C(END_TOLD_NO_RECEIVE, "told_no_receive") \
	C(END_TOLD_RECEIVE, "told_receive") \
	C(END_TOLD_RDMA, "told_rdma_write") \
	C(END_TOLD_PROTOCOL, "told_protocol") \
	C(END_TOLD_TRANSPORT, "told_transport") \
	C(END_TOLD_LINK, "told_link") \
	C(END_TOLD_READ, "told_rdma_read") \
	C(END_TOLD_MTU, "told_mtu") \
	C(END_OURS_CLOSED, "ends_closed") \
	C(END_OURS_NO_RECEIVE, "ends_no_receive") \
	C(END_OURS_RECEIVE, "ends_receive") \
	C(END_OURS_RDMA, "ends_rdma_write") \
	C(END_OURS_PROTOCOL, "ends_protocol") \
	C(END_OURS_TRANSPORT, "ends_transport") \
	C(END_OURS_LINK, "ends_link") \
	C(END_OURS_READ, "ends_rdma_read") \
	C(END_OURS_MTU, "ends_mtu") \
	C(READS_OUT, "reads_out") \
	C(READS_IN, "reads_in") \
	C(READS_REFUSED, "reads_refused") \
	D(READS_DROPPED, "drop_reads") \
	C(MARKS_OUT, "marks_out") \
	C(MARKS_IN, "marks_in") \
	C(NAMES_ASKED, "name_queries_in") \
	C(NAMES_TOLD, "name_replies_out") \
	C(UNANSWERED, "unanswered") \
	C(UNVALIDATED, "requests_unproven")

#define VIA_COUNTER_NONE(id, name)
#define VIA_COUNTER_ID(id, name)	VIA_C_##id,
#define VIA_COUNTER_CASE(id, name)	case VIA_C_##id:

enum via_ether_count {
	VIA_COUNTERS(VIA_COUNTER_ID, VIA_COUNTER_ID)
	VIA_C_MAX,
	VIA_C_END_TOLD = VIA_C_END_TOLD_CLOSED,
	VIA_C_END_OURS = VIA_C_END_OURS_CLOSED,
};

static_assert(VIA_C_END_TOLD_MTU - VIA_C_END_TOLD == VIA_WIRE_R_ENDS - 1);
static_assert(VIA_C_END_OURS_MTU - VIA_C_END_OURS == VIA_WIRE_R_ENDS - 1);

struct via_ether_counters {
	u64 c[VIA_C_MAX];
};

static __always_inline bool via_ether_is_drop(enum via_ether_count which)
{
	switch (which) {
	VIA_COUNTERS(VIA_COUNTER_NONE, VIA_COUNTER_CASE)
		return true;
	default:
		return false;
	}
}

/* Bottom halves are off, so to count is one instruction. */
#define via_ether_count(nic, which) \
do { \
	__this_cpu_inc((nic)->counters->c[VIA_C_##which]); \
	if (via_ether_is_drop(VIA_C_##which)) \
		via_trace_drop(nic, VIA_C_##which); \
} while (0)
#define via_ether_count_at(nic, i)	__this_cpu_inc((nic)->counters->c[i])
#define via_ether_count_add(nic, which, n) \
	__this_cpu_add((nic)->counters->c[VIA_C_##which], n)

/* ops->stats: these, and the NIC module's own.  Process context. */
void via_ether_nic_stats(struct via_nic *ka, struct via_stats_sink *sink);

#endif /* _VIA_ETHER_STATS_H */
