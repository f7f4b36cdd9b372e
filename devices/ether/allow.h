/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hosts that may talk to a NIC, with their keys (allow.c). */
#ifndef _VIA_ETHER_ALLOW_H
#define _VIA_ETHER_ALLOW_H

#include "../../kernel/via_ka.h"

struct via_ether_nic;

int via_ether_peers_edit(struct via_nic *ka, const struct via_peers_edit *edit,
			 enum via_refusal *why);
u32 via_ether_peers_read(struct via_nic *ka, u32 from,
			 struct via_peer_rule *rule, u32 n,
			 struct via_peers_state *of);
/* Any context but hard interrupts. */
bool via_ether_allowed(struct via_ether_nic *nic, const u8 *host);
/* The NIC is unregistered, and has no frame, timer or VI any more. */
void via_ether_allow_end(struct via_ether_nic *nic);

#endif /* _VIA_ETHER_ALLOW_H */
