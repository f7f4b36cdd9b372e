/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bad descriptors, and what has to become of the VI: sections 5 and 6. */
#ifndef CONFORMANCE_BAD_H
#define CONFORMANCE_BAD_H

#include "remote.h"

/*
 * bad_send() - post a bad descriptor on the send queue and check the rest
 *
 * It completes with one of @bits (others that are not error bits aside). A
 * reliable VI then is in Error at both ends, what is posted later is flushed,
 * and the pair is connected anew. An unreliable one goes on.
 */
void bad_send(struct pair *p, VIP_DESCRIPTOR *d, VIP_MEM_HANDLE h,
	      uint32_t bits);
void bad_send_xfer(struct pair *p, const struct xfer *x, uint32_t bits);

/*
 * bad_recv() - post a bad receive, and let the peer send @tx to it
 *
 * The receive may complete before the message comes.
 */
void bad_recv(struct pair *p, VIP_DESCRIPTOR *d, VIP_MEM_HANDLE h,
	      const struct xfer *tx, uint32_t bits);
void bad_recv_xfer(struct pair *p, const struct xfer *rx,
		   const struct xfer *tx, uint32_t bits);

/* After a data error: Error and flushed, or going on, by the level. */
void after_error(struct pair *p);

#endif
