/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections peer to peer.  What functions return: see via_ka.h; those for
 * devices are in via_conn.h.
 */
#ifndef _VIA_P2P_H
#define _VIA_P2P_H

#include "file.h"
#include "via_conn.h"

/*
 * VIA_IOC_PEER_REQUEST: an attempt begins.  file->mutex held; may sleep.  A
 * call's result: 0, and the verdict comes by via_conn_result(); or VIA_R_*: no
 * attempt has begun.
 */
int via_p2p_request(struct via_file *f, const struct via_conn_request *arg);
/* In the table: it looks for its peer.  file->mutex held, no queue lock. */
void via_p2p_list(struct via_vi *vi);
/*
 * The first on this host that looks for @vi, with a reference, or NULL.  Takes
 * nic->conn.lock.
 */
struct via_vi *via_p2p_first(struct via_vi *vi);
/* Off the list, whatever the state.  file->mutex held, no queue lock. */
void via_p2p_unlist(struct via_vi *vi);
/* The same if it is not Pending: it need not be found.  No queue lock held. */
void via_p2p_over(struct via_vi *vi);

#endif
