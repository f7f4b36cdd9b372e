/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Peer-to-peer connections. */
#ifndef _VIA_P2P_H
#define _VIA_P2P_H

#include "file.h"

int via_p2p_request(struct via_file *f, const struct via_conn_request *arg);
/* Off the list, whatever the state.  file->mutex held, no queue lock. */
void via_p2p_unlist(struct via_vi *vi);
/* The same if it is not Pending: it need not be found.  No queue lock held. */
void via_p2p_over(struct via_vi *vi);

#endif
