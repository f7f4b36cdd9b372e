/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much is answered to hosts that have not proven their address:
 * docs/reference/wire.md, "Limits for unknown hosts".
 *
 * An answer is never longer than the frame that asks, so a host whose address others
 * write into their frames gets no more bytes than they sent.  And answers are
 * bounded per second, by two buckets of tokens each: of the NIC, and of the
 * asker, so that one asker does not use up what the NIC has for all.
 *
 * There are four kinds, with buckets of their own.  A CHALLENGE is what every
 * new host needs: its NIC bucket is as large as all buckets of askers together,
 * and the asker is told apart by address and epoch.  A blind forger does not
 * know the epoch of the host that it wants to keep out, so it finds that one's
 * bucket by filling all of them only, 16,384 frames a second; and one that
 * does that leaves the host a share of it, and the host asks repeatedly.  A
 * NAME_REPLY is needed as well, since no program finds the host without: its NIC bucket
 * is as large.  All other answers (RESET, VERSION) save time and are not needed:
 * silence ends the same things later.
 *
 * The last is no answer, but the look at a tag: of frames that come in the name of
 * a host with a key, and name nothing that only hosts know which have seen the
 * wire.  One that guesses cookies would have this host compute a hash for each
 * guess.
 *
 * 256 buckets stand for all askers: two that share one have 64 a second
 * together.  The hash is multiply-shift under a secret of the NIC (Dietzfelbinger,
 * 1996): addresses chosen without knowledge of it meet in a bucket no more
 * often than by chance.
 */
#ifndef _VIA_LIMIT_H
#define _VIA_LIMIT_H

#include <linux/atomic.h>
#include "../../../core/portable.h"

#define VIA_LIMIT_BUCKETS	256u
#define VIA_LIMIT_ADDR_MAX	18u	/* bytes: IPv6 address and port */
#define VIA_LIMIT_ASKER		64u	/* answers a second, and at once */
#define VIA_LIMIT_ANSWERS	1024u	/* a second, of all askers */
#define VIA_LIMIT_ANSWER_BURST	64u	/* of them at once */
#define VIA_LIMIT_CHALLENGES	(VIA_LIMIT_ASKER * VIA_LIMIT_BUCKETS)
#define VIA_LIMIT_CHALLENGE_BURST 1024u

enum via_limit_kind {
	VIA_LIMIT_ANSWER,
	VIA_LIMIT_CHALLENGE,
	VIA_LIMIT_NAME,			/* as many as of CHALLENGE */
	VIA_LIMIT_TAG,			/* as many as answers */
	VIA_LIMIT_KINDS
};

/**
 * struct via_limit - the buckets of a NIC
 * @secret:	constant: of the hash; one for each 4 bytes of what is hashed
 * @second:	constant: ticks << VIA_LIMIT_SHIFT
 * @nic:	when the bucket is full again, likewise
 * @asker:	likewise
 *
 * No lock: a bucket is one word, and taking a token one compare-and-exchange.
 */
struct via_limit {
	u64 secret[8];
	u64 second;
	atomic64_t nic[VIA_LIMIT_KINDS];
	atomic64_t asker[VIA_LIMIT_KINDS][VIA_LIMIT_BUCKETS];
};

/* Process context, before the NIC receives; the memory is zero.  @hz: ticks a second. */
void via_limit_init(struct via_limit *l, u32 hz);
/*
 * May a frame of @asked bytes from an unproven address (@len bytes of @addr)
 * be answered with one of @answer bytes?  Both as they are on the wire, padding
 * included.  @epoch: the asker's, for CHALLENGE; else 0.  @now: ticks, of 64 bits.
 * Any context.
 */
bool via_limit_answer(struct via_limit *l, u64 now, enum via_limit_kind kind,
		      const u8 *addr, u32 len, u64 epoch, u32 asked,
		      u32 answer);

#endif /* _VIA_LIMIT_H */
