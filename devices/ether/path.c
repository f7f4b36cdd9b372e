// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Paths to hosts: what a NIC module learns of them. */

#include "timer.h"
#include "vi.h"

bool via_ether_quotes(struct via_ether_nic *nic, const u8 *host,
		      const void *wire, u32 len)
{
	struct via_peer *peer = via_peer_find(nic, host);
	struct via_wire w;
	bool known;

	if (!peer || len < sizeof(w))
		return false;
	memcpy(&w, wire, sizeof(w));
	if (w.version != VIA_WIRE_VERSION)
		return false;
	spin_lock(&nic->lock);
	known = via_peer_end(peer, be32_to_cpu(w.dst), be64_to_cpu(w.cookie));
	spin_unlock(&nic->lock);
	return known;
}
EXPORT_SYMBOL_GPL(via_ether_quotes);

void via_ether_path(struct via_ether_nic *nic, const u8 *host, u32 mtu)
{
	struct via_peer *peer = via_peer_find(nic, host);
	bool some;

	if (!peer)
		return;
	/* One that stands from now on reads it; the tick tells the others. */
	WRITE_ONCE(peer->path, clamp(mtu, VIA_WIRE_MTU_MIN, VIA_WIRE_MTU_MAX));
	spin_lock(&nic->lock);
	some = peer->vis.n;
	if (some)
		via_peer_ends(peer, VIA_PEER_UPDATE_MTU);
	spin_unlock(&nic->lock);
	if (some)
		via_ether_hurry(nic);
}
EXPORT_SYMBOL_GPL(via_ether_path);
