/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Peer-to-peer connections. */
#ifndef _VIA_PEER_H
#define _VIA_PEER_H

#include "file.h"

int via_peer_request(struct via_file *f, const struct via_conn_request *arg);
/* A VI that is not Pending need not be found.  No queue lock held. */
void via_peer_unlist(struct via_vi *vi);

#endif
