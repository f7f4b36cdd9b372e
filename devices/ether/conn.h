/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A connection begins, stands, ends (conn.c). */
#ifndef _VIA_ETHER_CONN_H
#define _VIA_ETHER_CONN_H

#include "../../kernel/via_conn.h"
#include "vi.h"

/* ops->vi_create: 0. */
int via_ether_vi_create(struct via_vi *vi);
/* ops->vi_forget. */
void via_ether_vi_forget(struct via_vi *vi);
/* ops->vi_stats. */
void via_ether_vi_stats(struct via_vi *vi, struct via_stats_sink *sink);
/* transport->disconnect. */
void via_ether_disconnect(struct via_vi *vi, bool tell);
/* ops->connect, p2p_connect, accept: process context, no queue lock held. */
enum via_verdict via_ether_connect(struct via_vi *vi);
enum via_verdict via_ether_p2p_connect(struct via_vi *vi);
enum via_verdict via_ether_accept(struct via_conn *conn, struct via_vi *vi);

/* A job of the tick: attempts whose next try is due, and each try's place there. */
bool via_ether_tries_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_ether_tries_run(struct via_ether_nic *nic);
/* Time for another try, or none is left.  BH off, no lock held. */
void via_ether_conn_tick(struct via_ether_vi *ev);

/*
 * The client has shown that it knows of the connection.  True when the VI is
 * connected.  BH off, no lock held.
 */
bool via_ether_confirmed(struct via_ether_vi *ev);
/*
 * The one that was chosen, by that cookie, is not there: look again.  BH off, no
 * lock held.
 */
void via_ether_p2p_lost(struct via_ether_vi *ev, u64 cookie);

/* All that follow: both queue locks held. */

/* The request, or the ACCEPT, is sent. */
void via_ether_send_try(struct via_ether_vi *ev);
/* The server has said WAIT. */
void via_ether_server_waits(struct via_ether_vi *ev);
/* What the other end has told of itself. */
void via_ether_set_remote(struct via_ether_vi *ev, const struct via_conn_hdr *c,
			  bool sum);
void via_ether_stands(struct via_ether_vi *ev);
/* The attempt ends; phase not CONNECTED. */
void via_ether_conn_end(struct via_ether_vi *ev, enum via_verdict verdict);
/* The NIC's MTU is another one; the caller settles. */
void via_ether_update_mtu(struct via_ether_vi *ev);

#endif /* _VIA_ETHER_CONN_H */
