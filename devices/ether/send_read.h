/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RDMA Read as far as it sends (send_read.c).  sq.lock held. */
#ifndef _VIA_SEND_READ_H
#define _VIA_SEND_READ_H

#include "burst.h"

/*
 * A read, or what has a fence: SENT_WINDOW when it must wait for reads before
 * it, SENT_ALL when it was a read and is sent, SENT_ON when it is to be sent
 * as any other.
 */
enum sent via_ether_send_fenced(struct burst *b, struct via_desc *d);
/* All data for one read of the peer's: SENT_ALL, or why not. */
enum sent via_ether_send_answer(struct burst *b);
/* A frame of send_read.c's again, with @flags: SENT_ON, or why not. */
enum sent via_ether_resend_read(struct burst *b, u32 seq, u8 flags);

/* A read of the peer's is refused: it is counted, and the program is told. */
void via_ether_read_error(struct via_ether_vi *ev);

#endif /* _VIA_SEND_READ_H */
