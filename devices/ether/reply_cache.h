/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers given to attempts lately (reply_cache.c).  BH off. */
#ifndef _VIA_ETHER_REPLY_CACHE_H
#define _VIA_ETHER_REPLY_CACHE_H

#include "../../kernel/via_conn.h"
#include "proto/wire.h"

struct via_ether_client;
struct via_peer;

static inline u8 via_ether_takes(u32 options)
{
	return (options & VIA_WIRE_O_REPLY ? VIA_TAKES_REPLY : 0) |
	       (options & VIA_WIRE_O_NOTES ? VIA_TAKES_NOTES : 0);
}

/* Takes nic->lock.  @reply, if it is not NULL, is copied. */
void via_ether_cache_reply(struct via_peer *peer,
			   const struct via_ether_client *c, u8 type, u8 reason,
			const struct via_reply *reply);
/* The type of the answer given lately, its reason and reply.  nic->lock held. */
u8 via_ether_cached_reply(const struct via_peer *peer,
			  const struct via_ether_client *c, u8 *reason,
		     struct via_reply *reply);
void via_ether_forget_replies(struct via_peer *peer);

#endif /* _VIA_ETHER_REPLY_CACHE_H */
