/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Proof that a host receives what is sent to its address, without memory of
 * it: docs/reference/wire.md, "Connections".  A token is 64 bits that only this NIC
 * can compute; one that comes back was received at the address it was sent to.
 *
 *   token = SipHash-2-4(secret, asker's address, own address, asker's epoch)
 *
 * but for its lowest bit, which names the secret, so that a check computes one
 * hash.  A secret is made anew every VIA_TOKEN_SECONDS; this one and the last
 * one hold, so a token holds for two to four minutes.
 */
#ifndef _VIA_TOKEN_H
#define _VIA_TOKEN_H

#include <linux/siphash.h>
#include "../../../core/portable.h"

#define VIA_TOKEN_SECONDS	120u
#define VIA_TOKEN_ADDR_MAX	18u	/* bytes: IPv6 address and port */

/**
 * struct via_token - secrets of a NIC
 * @period:	number of the time for which secret[period % 2] was made
 * @secret:	that one, and the one of the period before
 *
 * There is no timer: the first use in a period makes its secret.  The owner has a
 * lock for all of it.
 */
struct via_token {
	u32 period;
	siphash_key_t secret[2];
};

/* What a token is of. */
struct via_token_of {
	u8 asker_len;			/* bytes */
	u8 own_len;
	u8 asker[VIA_TOKEN_ADDR_MAX];
	u8 own[VIA_TOKEN_ADDR_MAX];
	u8 zero[2];
	u64 epoch;			/* the asker's */
} __aligned(8);

static_assert(sizeof(struct via_token_of) == 48, "no holes: all is hashed");

/* Before its first use.  @now: seconds, here and below, which do not go back. */
void via_token_init(struct via_token *p, u32 now);
/* The addresses have VIA_TOKEN_ADDR_MAX bytes at most. */
void via_token_of_init(struct via_token_of *of, const u8 *asker, u32 asker_len,
		       const u8 *own, u32 own_len, u64 epoch);
/* A token to be sent to the asker: never 0.  The owner's lock held. */
u64 via_token_make(struct via_token *p, u32 now, const struct via_token_of *of);
/* Was it made for this asker lately?  Never of 0.  Likewise. */
bool via_token_holds(struct via_token *p, u32 now,
		     const struct via_token_of *of, u64 token);

#endif /* _VIA_TOKEN_H */
