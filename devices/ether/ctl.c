// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Frames without data: acknowledgements, handshakes, resets. */

#include "ether.h"

/*
 * Send one frame by itself; a seal, unless it is @plain, comes behind it.
 * False: the NIC is full; nothing was sent.
 */
static bool send_one(struct via_ether_nic *nic, u32 flow, const void *frame,
		     u32 size, bool plain)
{
	u32 len = plain ? size : size + VIA_WIRE_SEAL_LEN;
	struct via_ether_tx tx;
	struct via_ether_buf buf;
	bool ok = false;

	if (!nic->ops->tx_begin(nic, &tx, flow))
		goto out;
	if (nic->ops->tx_get(nic, &tx, len, &buf)) {
		memcpy(buf.data, frame, size);
		if (!plain)
			via_ether_seal(buf.data, len, 0);
		ok = nic->ops->tx_put(nic, &tx, len, &buf);
	}
	nic->ops->tx_end(nic, &tx);
out:
	if (ok) {
		via_ether_count(nic, TX_FRAMES);
		via_ether_count_add(nic, TX_BYTES, len);
	} else {
		via_ether_count(nic, TX_BUSY);
	}
	return ok;
}

static void fill_head(struct via_ether_nic *nic, struct via_ether_head *h,
		      const struct via_ether_ctl *ctl)
{
	ether_addr_copy(h->eth.h_dest, ctl->mac);
	ether_addr_copy(h->eth.h_source, nic->mac);
	h->eth.h_proto = via_ether_proto();
	h->w.version = VIA_WIRE_VERSION;
	h->w.type = ctl->type;
	h->w.dst = cpu_to_be16(ctl->dst);
	h->w.cookie = cpu_to_be32(ctl->cookie);
	h->w.seq = cpu_to_be32(ctl->seq);
	h->w.ack = cpu_to_be32(ctl->ack);
}

bool via_ether_send_ctl(struct via_ether_nic *nic,
			const struct via_ether_ctl *ctl)
{
	struct {
		struct via_ether_head h;
		struct via_wire_ack a;
	} __packed __aligned(8) f = {};

	fill_head(nic, &f.h, ctl);
	f.a.reason = cpu_to_be32(ctl->reason);
	f.a.sack = cpu_to_be64(ctl->sack);
	return send_one(nic, ctl->dst, &f, sizeof(f.h) + sizeof(f.a),
			ctl->plain);
}

/*
 * ACK, HEARTBEAT, DISCONNECT, CONFIRM to the peer of a connection, with all
 * we know of what has arrived.  rq.lock held.
 */
bool via_ether_send_ack(struct via_ether_vi *ev, u8 type)
{
	struct via_ether_ctl ctl = {
		.mac = ev->remote_mac,
		.type = type,
		.dst = ev->remote_index,
		.cookie = ev->remote_cookie,
		.seq = type == VIA_WIRE_ACK ? ev->twice : 0,
		.ack = ev->rx.next,
		.reason = type == VIA_WIRE_DISCONNECT ? ev->reason : 0,
		.sack = ev->rx.held,
		.plain = !ev->sealed && !via_wire_always_sealed(type),
	};

	lockdep_assert_held(&ev->vi->rq.lock);
	if (!via_ether_send_ctl(ev->nic, &ctl)) {
		/* The timer tries again. */
		if (!ev->hot)
			via_ether_heat(ev);
		return false;
	}
	WRITE_ONCE(ev->acked, ctl.ack);
	ev->twice = 0;
	if (type == VIA_WIRE_ACK)
		via_ether_count(ev->nic, ACKS_OUT);
	return true;
}

static void fill_addr(struct via_wire_addr *w, const struct via_net_addr *a)
{
	u32 host = min_t(u32, a->host_len, VIA_WIRE_HOST_MAX);
	u32 disc = min_t(u32, a->disc_len, VIA_WIRE_DISC_MAX);

	w->host_len = host;
	w->disc_len = disc;
	memcpy(w->host, a->host, host);
	memcpy(w->disc, a->disc, disc);
}

/* What is left of the client's time, in milliseconds. */
static u32 time_left(const struct via_ether_vi *ev)
{
	if (ev->forever)
		return VIA_WIRE_FOREVER;
	if (time_after_eq(via_now(), ev->deadline))
		return 0;
	return min_t(u64, jiffies_to_msecs(ev->deadline - via_now()),
		     VIA_WIRE_FOREVER - 1);
}

/* (PEER_)REQUEST or (PEER_)ACCEPT, from what the VI knows and is about. */
bool via_ether_send_conn(struct via_ether_vi *ev, u8 type)
{
	bool client = type == VIA_WIRE_REQUEST ||
		      type == VIA_WIRE_PEER_REQUEST;
	struct via_vi *vi = ev->vi;
	struct via_ether_ctl ctl = {
		.mac = ev->remote_mac,
		.type = type,
		.dst = client ? 0 : ev->remote_index,
		.cookie = client ? 0 : ev->remote_cookie,
	};
	struct {
		struct via_ether_head h;
		struct via_wire_conn c;
	} __packed __aligned(8) f = {};

	fill_head(ev->nic, &f.h, &ctl);
	f.c.vi = cpu_to_be16(vi->index);
	f.c.frames = cpu_to_be16(min(ev->nic->rx_frames, VIA_WIN_MAX));
	f.c.sender_cookie = cpu_to_be32(ev->cookie);
	f.c.first_seq = cpu_to_be32(ev->first_seq);
	f.c.mtu = cpu_to_be32(READ_ONCE(ev->nic->mtu));
	f.c.reliability = cpu_to_be32(vi->attrs.reliability);
	f.c.max_transfer = cpu_to_be32(vi->attrs.max_transfer);
	f.c.rights = cpu_to_be32(vi->attrs.rights);
	f.c.timeout_ms = cpu_to_be32(time_left(ev));
	if (client ? ev->want_seal : ev->sealed)
		f.c.options = cpu_to_be32(VIA_WIRE_O_SEALED);
	fill_addr(&f.c.client, client ? &vi->local : &vi->remote);
	fill_addr(&f.c.server, client ? &vi->remote : &vi->local);
	return send_one(ev->nic, vi->index, &f, sizeof(f.h) + sizeof(f.c),
			false);
}

/* On the wire no frame is shorter than Ethernet's shortest one. */
static u32 on_wire(u32 len)
{
	return max_t(u32, len, ETH_ZLEN - ETH_HLEN);
}

bool via_ether_may_answer(struct via_ether_nic *nic, const u8 *mac,
			  u32 question, u32 answer)
{
	if (via_limit_answer(&nic->limit, VIA_LIMIT_ANSWER, mac, ETH_ALEN, 0,
			     on_wire(question), on_wire(answer)))
		return true;
	via_ether_count(nic, UNANSWERED);
	return false;
}

/* No VI here has that index and cookie; @question: bytes of what named it. */
void via_ether_send_reset(struct via_ether_nic *nic, const u8 *mac, u16 dst,
			  u32 cookie, u32 question)
{
	struct via_ether_ctl ctl = {
		.mac = mac,
		.type = VIA_WIRE_RESET,
		.dst = dst,
		.cookie = cookie,
	};

	if (unlikely(!is_valid_ether_addr(mac)))
		return;
	if (via_ether_may_answer(nic, mac, question,
				 VIA_WIRE_ACK_LEN + VIA_WIRE_SEAL_LEN) &&
	    via_ether_send_ctl(nic, &ctl))
		via_ether_count(nic, RESETS_OUT);
}

/* A query for a name (@mac NULL: broadcast), or the reply.  BH off. */
bool via_ether_send_name(struct via_ether_nic *nic, const u8 *mac, u8 type,
			 u32 nonce, const char *name)
{
	struct via_ether_ctl ctl = { .type = type };
	struct {
		struct via_ether_head h;
		struct via_wire_name n;
	} __packed __aligned(8) f = {};
	u8 all[ETH_ALEN];

	eth_broadcast_addr(all);
	ctl.mac = mac ?: all;
	fill_head(nic, &f.h, &ctl);
	f.n.nonce = cpu_to_be32(nonce);
	f.n.name_len = strnlen(name, VIA_WIRE_NAME_MAX);
	memcpy(f.n.name, name, f.n.name_len);
	return send_one(nic, 0, &f, sizeof(f.h) + sizeof(f.n), false);
}
