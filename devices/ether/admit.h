/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which frames are accepted, and which are answered (admit.c).  BH off. */
#ifndef _VIA_ADMIT_H
#define _VIA_ADMIT_H

#include "proto/ratelimit.h"
#include "proto/token.h"
#include "via_ether.h"

struct via_conn_hdr;
struct via_frame_hdr;

/*
 * A frame with a seal: is it as it was sent?  A request of a host with a key may
 * come back without its flag AUTH.  RCU read side.
 */
bool via_ether_open(struct via_ether_nic *nic, const struct via_ether_frame *f,
		    struct via_frame_hdr *h);
/* Must it have an authenticator, and has none?  Then it is counted.  Likewise. */
bool via_ether_lacks_auth(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h);

/*
 * Has the host that sent a request shown that it receives at its address?  If
 * not, it is told how to, and nothing is looked up or remembered for it.
 */
bool via_ether_validated(struct via_ether_nic *nic,
			 const struct via_ether_frame *f,
		      const struct via_frame_hdr *h,
		      const struct via_conn_hdr *c);
/* An unknown host's frame of @asked bytes, by one of @answer, and its seal? */
bool via_ether_may_answer(struct via_ether_nic *nic, const u8 *host,
			  enum via_limit_kind kind, u32 asked, u32 answer);
/* A frame of a host that may not talk to the NIC. */
void via_ether_not_allowed(struct via_ether_nic *nic, const u8 *host);
/* To unknown hosts: as many as the NIC's limit allows. */
void via_ether_send_reset(struct via_ether_nic *nic, const u8 *host, u32 id,
			  u64 cookie, u32 seq, u32 asked);
void via_ether_send_disconnect_ack(struct via_ether_nic *nic, const u8 *host,
				   const struct via_frame_hdr *h, u32 asked,
				   bool known);
void via_ether_send_version(struct via_ether_nic *nic,
			    const struct via_ether_frame *f);

/* A frame of a connection that is not here; @no_vi: nor is its VI. */
void via_ether_reset_unknown(struct via_ether_nic *nic,
			     const struct via_frame_hdr *h,
			     const struct via_ether_frame *f, bool no_vi);

/* via_token_make() and via_token_holds() with the NIC's lock and clock.  BH off. */
u64 via_ether_token_make(struct via_ether_nic *nic,
			 const struct via_token_of *of);
bool via_ether_token_holds(struct via_ether_nic *nic,
			   const struct via_token_of *of, u64 token);

/* What a token for the host is of. */
static inline void via_ether_token_of(struct via_token_of *of,
				      const struct via_ether_nic *nic,
				      const u8 *host, u64 epoch)
{
	via_token_of_init(of, host, nic->host.len, nic->host.addr, nic->host.len,
			  epoch);
}

#endif /* _VIA_ADMIT_H */
