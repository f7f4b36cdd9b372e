/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trains of frames: see train.c. */
#ifndef _VIA_TRAIN_H
#define _VIA_TRAIN_H

#include "burst.h"

/*
 * May the next frames of a message be a train, where @left bytes of it are left for
 * frames of @seg?  sq.lock held.
 */
static inline bool via_train_may(const struct burst *b, u32 left, u32 seg)
{
	return unlikely(left > seg) && READ_ONCE(b->nic->trains) &&
	       !b->single && !b->ev->conn.seal && b->room > 1;
}

/*
 * Begin one of the next @left bytes of a message, with room for its headers in @buf
 * and for @t->bytes of it.  @t has hdr and seg.  False: send one frame.  sq.lock
 * held.
 */
bool via_train_begin(struct burst *b, struct via_ether_train *t, u32 left,
		     struct via_ether_buf *buf);
/*
 * Its payload's pages were not to be had: room for copies.  False: it is dropped, and a
 * frame goes alone.  sq.lock held.
 */
bool via_train_copies(struct burst *b, struct via_ether_train *t,
		      struct via_ether_buf *buf);
/* The flags of what @t has begun.  @ends: nothing follows it.  sq.lock held. */
u8 via_train_flags(struct burst *b, const struct via_ether_train *t, bool ends);
/*
 * Send it: its headers and bytes are there.  They are of descriptor or answer
 * @index from @off on, and its last frame is of @kind.  sq.lock held.
 */
enum sent via_train_end(struct burst *b, const struct via_ether_train *t,
			struct via_ether_buf *buf, u32 index, u32 off, u8 kind);

#endif /* _VIA_TRAIN_H */
