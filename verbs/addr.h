/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses: IP and port of the RDMA core, host and discriminator of VIA. */
#ifndef _VR_ADDR_H
#define _VR_ADDR_H

#include <linux/socket.h>
#include "dev.h"

#define VR_MAGIC	"\xf0VIArdma"	/* how the server's discriminator begins */

/* Private data of a request, in the two discriminators. */
#define VR_REQUEST_SERVER	38
#define VR_REQUEST_CLIENT	42
#define VR_REQUEST_DATA		(VR_REQUEST_SERVER + VR_REQUEST_CLIENT)

/* The server's discriminator.  An IPv4 address is mapped into IPv6. */
struct vr_disc_server {
	u8 magic[VIA_LISTEN_BYTES];
	__be16 port;
	u8 ip[16];
	u8 data[VR_REQUEST_SERVER];
} __packed;

/* The client's. */
struct vr_disc_client {
	u8 len;
	u8 ird;
	u8 ord;
	u8 reserved;
	__be16 port;
	u8 ip[16];
	u8 data[VR_REQUEST_CLIENT];
} __packed;

static_assert(sizeof(struct vr_disc_server) == VIA_DISC_MAX);
static_assert(sizeof(struct vr_disc_client) == VIA_DISC_MAX);

/**
 * struct vr_request - what a request for a connection says
 * @client:	its address and port
 * @server:	likewise
 * @ird:	reads that the client answers at a time, not 0
 * @ord:	reads that it may have under way
 * @len:	bytes in @data
 * @data:	private data
 */
struct vr_request {
	struct sockaddr_storage client;
	struct sockaddr_storage server;
	u8 ird;
	u8 ord;
	u8 len;
	u8 data[VR_REQUEST_DATA];
};

/* Hosts are filled in by vr_addr_resolve(). */
void vr_request_pack(const struct vr_request *r, struct via_net_addr *client,
		     struct via_net_addr *server);
/* 0, or -EINVAL: it is none. */
int vr_request_parse(struct vr_request *r, const struct vr_dev *d,
		     const struct via_net_addr *client,
		     const struct via_net_addr *server);

/*
 * VIA's host of an address on the device's link.  Waits for a neighbour's answer, for a
 * second at most.  0, -EHOSTUNREACH (behind a gateway, on another interface, no answer),
 * -EAFNOSUPPORT, -ENODEV, -EINTR.  Process context without locks.
 */
int vr_addr_resolve(struct vr_dev *d, const struct sockaddr_storage *from,
		    const struct sockaddr_storage *to,
		    struct via_net_addr *addr);
/*
 * May the caller use the device's addresses?  A program's namespace is the device's: the
 * RDMA core, where devices are shared by all namespaces, does not say so for each call.
 */
bool vr_addr_may(const struct vr_dev *d);
/* Is it an address of the device's interface, or any address? */
bool vr_addr_is_own(struct vr_dev *d, const struct sockaddr_storage *addr);
/* Of two listeners, is it the same address and port? */
bool vr_addr_same(const struct sockaddr_storage *a,
		  const struct sockaddr_storage *b);
/* Does a listener there take requests for that address?  @only: of its own family. */
bool vr_addr_match(const struct sockaddr_storage *listener, bool only,
		   const struct sockaddr_storage *wanted);

#endif
