/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One frame without data, out (xmit.c). */
#ifndef _VIA_XMIT_H
#define _VIA_XMIT_H

#include <linux/types.h>

struct via_ether_nic;
struct via_peer;
struct via_wire_hello;

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

#endif /* _VIA_XMIT_H */
