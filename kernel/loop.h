/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VIs whose two ends are on this host.  What functions return: see via_ka.h. */
#ifndef _VIA_LOOP_H
#define _VIA_LOOP_H

#include "via_ka.h"

extern const struct via_transport_ops via_loop_transport;

/*
 * A request of a Pending VI to this host.  0: a waiter has it, or the attempt
 * is over already.  file->mutex held, no queue lock.
 */
enum via_verdict via_loop_connect(struct via_vi *vi);
/*
 * Drop whatever is left of a connection or a request on this host, in any
 * state, and tell the other end.  No queue lock held.
 */
void via_loop_leave(struct via_vi *vi);
/*
 * Both ends become Connected, or VIA_R_TIMEOUT: the client's attempt is over.
 * The server's file->mutex held, no queue lock.  The caller keeps its reference
 * on the request.
 */
enum via_verdict via_loop_accept(struct via_conn *conn, struct via_vi *vi);
/* Two Pending VIs become Connected; via_vi_lock_two() held. */
void via_loop_join(struct via_vi *a, struct via_vi *b);

#endif
