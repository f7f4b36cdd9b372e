// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames that are about connections, not on one, as they come: each to what
 * handles it.
 */

#include "ack.h"
#include "admit.h"
#include "conn.h"
#include "handshake.h"

/* Frames that are about connections, not on one.  BH off, RCU read side. */
void via_ether_control_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h)
{
	/* No host has such an address, and an answer would be a broadcast. */
	if (unlikely(!nic->ops->host_valid(nic, f->src))) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	if (unlikely(!via_ether_allowed(nic, f->src))) {
		via_ether_not_allowed(nic, f->src);
		return;
	}
	switch (h->type) {
	case VIA_WIRE_REQUEST:
		return via_ether_request_rx(nic, f, h);
	case VIA_WIRE_PEER_REQUEST:
		return via_ether_p2p_request(nic, f, h);
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_ACCEPT:
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
	case VIA_WIRE_CHALLENGE:
	case VIA_WIRE_VERSIONS:
		return via_ether_attempt_rx(nic, f, h);
	case VIA_WIRE_CANCEL:
		return via_ether_rx_cancel(nic, f, h);
	case VIA_WIRE_DISCONNECT_ACK:
		return via_timewait_acked(nic, f->src, h);
	case VIA_WIRE_RESET:
		via_ether_count(nic, RESETS_IN);
		return via_ether_no_such_end(nic, f->src, h->src, h->cookie,
					     &h->seq);
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		return via_ether_name_rx(nic, f, h);
	case VIA_WIRE_ACKS:
		return via_ether_acks_rx(nic, f, h);
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
	case VIA_WIRE_LIST:
		return via_keepalive_rx(nic, f, h);
	default:
		/* What this version of the class does not do. */
		via_ether_count(nic, BAD_TYPE);
	}
}
