/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One frame without data, out (xmit.c). */
#ifndef _VIA_XMIT_H
#define _VIA_XMIT_H

#include "../../kernel/via_conn.h"
#include "proto/wire.h"
#include "via_ether.h"

struct via_ether_client;
struct via_end_frame;
struct via_peer;

/**
 * struct via_xmit - a frame to be: the header but for its constants
 * @peer:	of @host, if it is at hand
 * @host:	address; NULL: all
 * @cookie:	names the end that the frame is for
 * @dst:	id of that end
 * @vi:		id of the VI that sends, 0: none is known; for the trace
 * @flow:	which of the NIC's queues it goes through
 * @size:	bytes of the body
 * @type:	VIA_WIRE_*
 * @flags:	VIA_WIRE_*
 * @marks:	VIA_WIRE_*
 * @plain:	of a connection without checksums
 */
struct via_xmit {
	const struct via_peer *peer;
	const u8 *host;
	u64 cookie;
	u32 dst;
	u32 vi;
	u32 flow;
	u32 size;
	u8 type;
	u8 flags;
	u8 marks;
	bool plain;
};

/*
 * Send one frame by itself, with @body behind its header; its seal, unless it
 * is @plain, comes last.  False: nothing was sent.  The NIC is full, or the frame
 * is for a host with a key, and there is no session.  BH off; under a queue lock,
 * both or none.
 */
bool via_ether_xmit(struct via_ether_nic *nic, const struct via_xmit *c,
		    const void *body);
/* What others are told of the NIC. */
void via_ether_fill_hello(struct via_wire_hello *h,
			  const struct via_ether_nic *nic);

/* Those that say little.  BH off; under a queue lock, both or none. */

/* The end of a connection. */
void via_ether_send_disconnect(const struct via_peer *peer,
			       const struct via_end_frame *end);
/* An address as it was on the wire. */
void via_ether_conn_addr(struct via_net_addr *a, const u8 *host, u32 host_len,
			 const u8 *disc, u32 disc_len);
/* About a request. */
void via_ether_answer(struct via_ether_nic *nic, u32 flow, u8 type, u8 reason,
		      const struct via_ether_client *c);
/* REFUSE, with what its program has to say; @reply NULL: nothing. */
void via_ether_refuse(struct via_ether_nic *nic, u8 reason,
		      const struct via_ether_client *c,
		      const struct via_reply *reply);
/* @peer: the host's, or NULL, if it has none. */
void via_ether_send_heartbeat(struct via_ether_nic *nic, const struct via_peer *peer,
			      const u8 *host, u8 type, u64 epoch,
			 const struct via_heartbeat_hdr *b);
/* @count entries, @bytes of them. */
struct via_acks_frame {
	struct via_wire_acks a;
	u8 entries[VIA_WIRE_BODY_MAX - VIA_WIRE_ACKS_LEN];
	u32 count;
	u32 bytes;
};

bool via_ether_send_acks(const struct via_peer *peer, struct via_acks_frame *f);
void via_ether_send_list(const struct via_peer *peer, u64 epoch, u64 low,
			 u64 high, const u64 *cookie, u32 n);
bool via_ether_send_name(struct via_ether_nic *nic, const u8 *host, u8 type,
			 u32 nonce, const char *name);

#endif /* _VIA_XMIT_H */
