// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Paths to hosts: what a NIC module learns of them. */

#include "ether.h"

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
	struct via_ether_vi *ev;
	struct via_vi *vi;
	u32 i;

	if (!peer)
		return;
	/* One that begins from now on reads it. */
	WRITE_ONCE(peer->path, clamp(mtu, VIA_WIRE_MTU_MIN, VIA_WIRE_MTU_MAX));
	for (i = 0; i < nic->ka->limits.max_vi; i++) {
		vi = via_vi_lookup(nic->ka, i);
		if (!vi)
			continue;
		ev = vi->priv;
		if (READ_ONCE(ev->peer) != peer)
			continue;
		via_ether_lock(vi);
		if (ev->peer == peer)
			via_ether_refit(ev);
		via_ether_unlock(vi);
		via_vi_settle(vi);
	}
}
EXPORT_SYMBOL_GPL(via_ether_path);
