/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Authenticated frames between two hosts that have a key in common:
 * docs/reference/wire.md, "Authenticator".  Nothing is encrypted.
 *
 * A session is the time in which the names of both ends stay the same.  It has
 * one key for each direction, derived from the common key and both names, and
 * each frame has a number that does not come again under its key.
 *
 * These files know the frame only as bytes, and run in user space as well
 * (tests/unit/auth).
 */
#ifndef _VIA_AUTH_H
#define _VIA_AUTH_H

#include <crypto/blake2s.h>
#include <linux/atomic.h>
#include "../../../core/portable.h"

#define VIA_AUTH_KEY_LEN	32u
#define VIA_AUTH_ADDR_MAX	18u	/* bytes: IPv6 address and port */
#define VIA_AUTH_WINDOW		2048u	/* numbers behind the highest one */

/* Behind the headers of an authenticated frame. */
struct via_auth_wire {
	__be64	counter;		/* from 1 on */
	u8	tag[16];		/* keyed BLAKE2s-128 */
} __packed;

#define VIA_AUTH_LEN		((u32)sizeof(struct via_auth_wire))

/* The common key, as root has written it. */
struct via_auth_key {
	u8 key[VIA_AUTH_KEY_LEN];
};

/**
 * struct via_auth_name - what names an end of a session
 * @addr:	as it is on the wire
 * @addr_len:	bytes of it
 * @epoch:	random, of this host's start
 * @nonce:	random, of this session; 0: the epoch alone names it
 */
struct via_auth_name {
	u8 addr[VIA_AUTH_ADDR_MAX];
	u8 addr_len;
	u64 epoch;
	u64 nonce;
};

/* Bytes of a frame that lie in a row. */
struct via_auth_piece {
	const void *data;
	u32 len;
};

/*
 * The window has words of 64 numbers; one more than it is long is under way
 * to be reused, and a power of two is quickly divided by.
 */
#define VIA_AUTH_WORDS		64u
static_assert(VIA_AUTH_WORDS * 64 >= VIA_AUTH_WINDOW + 64, "room to move on");

/**
 * struct via_auth_session - keys and numbers of both directions
 * @send:	constant: the hash when it has taken in the key of what this end
 *		sends, and the first byte of a frame
 * @receive:	constant: likewise, of what the other end sends
 * @first:	constant: that byte, which all frames of a session have
 * @sent:	number of the last frame sent, from any CPU
 * @highest:	number of a frame that was taken, none is higher
 * @seen:	bit n % 4096: number n was taken; of the last ones only
 *
 * The last two are guarded by a lock of the owner.
 */
struct via_auth_session {
	struct blake2s_ctx send;
	struct blake2s_ctx receive;
	u8 first;
	atomic64_t sent;
	u64 highest;
	u64 seen[VIA_AUTH_WORDS];
};

enum via_auth_error {
	VIA_AUTH_OK,
	VIA_AUTH_SHORT,			/* no room for an authenticator */
	VIA_AUTH_OLD,			/* came before, or too long ago */
	VIA_AUTH_FORGED,		/* not of this session's peer */
};

/*
 * Any context.  The session is the caller's alone until it has returned.
 * @first: of each frame; with it the key's block is hashed once, not for each.
 */
void via_auth_begin(struct via_auth_session *s, const struct via_auth_key *key,
		    const struct via_auth_name *own,
		    const struct via_auth_name *peer, u8 first);
/* Keys do not stay in memory that is given back. */
void via_auth_end(struct via_auth_session *s);
/*
 * Number a frame and tag it.  @hdr: its headers, from the first byte that both
 * ends see, and room for the authenticator, @hdr_len bytes in all; @payload:
 * what follows, in @n pieces.  The payload must not change until it has left:
 * frames with a tag are copied, as those with checksums are.  Any CPU.
 */
void via_auth_sign(struct via_auth_session *s, void *hdr, u32 hdr_len,
		   const struct via_auth_piece *payload, u32 n);
/*
 * Is a frame of this session's peer, and new?  In three steps: a look at its
 * number, which spares replays their hash; the hash, which needs no lock; and its
 * number again, which decides: of two copies that were both looked at one is
 * refused.  @hdr as above, at least VIA_AUTH_LEN bytes, which the look sees to;
 * @len bytes of payload: in @frame, of @n pieces, behind the first @hdr_len bytes;
 * what is beyond them (padding) is not looked at.  The first and the last: the
 * owner's lock held.
 */
enum via_auth_error via_auth_look(const struct via_auth_session *s,
				  const void *hdr, u32 hdr_len, u64 *number);
enum via_auth_error via_auth_verify(const struct via_auth_session *s,
				    const void *hdr, u32 hdr_len,
				    const struct via_auth_piece *frame, u32 n,
				    u32 len);
enum via_auth_error via_auth_take(struct via_auth_session *s, u64 number);

#endif /* _VIA_AUTH_H */
