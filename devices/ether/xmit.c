// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One frame without data, out: its header, its seal and its trace; and the bodies of
 * those that say little.
 */

#include "end.h"
#include "proto/auth.h"
#include "request.h"
#include "seal.h"
#include "session.h"
#include "stats.h"
#include "trace.h"
#include "vi.h"
#include "xmit.h"

/*
 * A hello names the session of its frame.  Without one, a host that has no key
 * for this one gets no token: it would accept what cannot be confirmed.
 */
static void name_session(void *body, const struct via_seal *seal)
{
	struct via_wire_hello *hello = body;

	hello->nonce = cpu_to_be64(seal->nonce);
	if (seal->keyed && !seal->session)
		hello->token = 0;
}

static const struct via_ether_link *open_link(struct via_ether_nic *nic,
					      const u8 *host,
					      struct via_ether_link *link)
{
	return nic->ops->link_open(nic, link, host, 0) ? link : NULL;
}

static noinline void trace_sent(struct via_ether_nic *nic,
				const struct via_xmit *c, const void *body,
				u32 len)
{
	struct via_trace_frame t = {
		.host = c->host,
		.vi = c->vi,
		.len = len,
		.type = c->type,
		.flags = c->flags,
	};

	if (c->type == VIA_WIRE_ACK) {
		t.ack = be32_to_cpu(((const struct via_wire_ack *)body)->ack);
	} else if (c->type >= VIA_WIRE_DISCONNECT &&
		   c->type <= VIA_WIRE_RESET) {
		const struct via_wire_end *e = body;

		t.seq = be32_to_cpu(e->seq);
		t.ack = be32_to_cpu(e->ack);
	}
	__via_trace_sent(nic, &t);
}

bool via_ether_xmit(struct via_ether_nic *nic, const struct via_xmit *c,
		    const void *body)
{
	const u32 size = sizeof(struct via_wire) + c->size;
	const struct via_ether_link *link;
	struct via_ether_link own;
	struct via_seal seal = {};
	struct via_wire *h;
	struct via_ether_tx tx;
	struct via_ether_buf buf;
	bool ok = false;
	u32 len;

	rcu_read_lock();
	if (!c->plain && !via_session_choose(nic, c->host, c->type, &seal)) {
		rcu_read_unlock();
		return false;
	}
	len = size + seal.len;
	/* Nothing is said to hosts that would have to say as much. */
	if (unlikely(READ_ONCE(nic->mtu) < VIA_WIRE_MTU_MIN) &&
	    (!via_wire_ends(c->type) || len > READ_ONCE(nic->mtu)))
		goto out;
	link = c->peer ? &c->peer->link : open_link(nic, c->host, &own);
	if (!link)
		goto out;
	if (!nic->ops->tx_begin(nic, &tx, c->flow))
		goto out;
	if (nic->ops->tx_get(nic, &tx, link, len, &buf)) {
		h = (struct via_wire *)buf.data;
		h->version = VIA_WIRE_VERSION;
		h->type = c->type;
		h->flags = c->flags;
		h->marks = c->marks;
		h->dst = cpu_to_be32(c->dst);
		h->cookie = cpu_to_be64(c->cookie);
		memcpy(h + 1, body, c->size);
		if (via_wire_has_conn(c->type))
			name_session(h + 1, &seal);
		via_ether_close(&seal, buf.data, len, 0);
		ok = nic->ops->tx_put(nic, &tx, len, &buf);
	}
	nic->ops->tx_end(nic, &tx);
out:
	rcu_read_unlock();
	if (ok) {
		via_ether_count(nic, TX_FRAMES);
		via_ether_count_add(nic, TX_BYTES, len);
		if (tracepoint_enabled(via_frame_sent))
			trace_sent(nic, c, body, len);
	} else {
		via_ether_count(nic, TX_BUSY);
	}
	return ok;
}

void via_ether_send_disconnect(const struct via_peer *peer,
			       const struct via_end_frame *end)
{
	struct via_wire_end e = {
		.seq = cpu_to_be32(end->seq),
		.ack = cpu_to_be32(end->ack),
		.reason = cpu_to_be32(end->reason),
		.src = cpu_to_be32(end->src),
	};
	struct via_xmit c = {
		.peer = peer,
		.host = end->host.addr,
		.cookie = end->cookie,
		.dst = end->dst,
		.vi = end->src,
		.flow = end->src - 1,
		.size = sizeof(e),
		.type = VIA_WIRE_DISCONNECT,
		.plain = end->plain,
	};

	via_ether_xmit(peer->nic, &c, &e);
}

void via_ether_refuse(struct via_ether_nic *nic, u8 reason,
		      const struct via_ether_client *c,
		      const struct via_reply *reply)
{
	struct {
		struct via_wire_answer a;
		u8 reply[VIA_WIRE_REPLY_MAX];
	} __packed f = {
		.a = {
			.vi = cpu_to_be32(c->vi),
			.reason = cpu_to_be32(reason),
		},
	};
	struct via_xmit ctl = {
		.host = c->host.addr,
		.cookie = c->cookie,
		.size = sizeof(f.a),
		.type = VIA_WIRE_REFUSE,
	};

	if (reply && c->takes & VIA_TAKES_REPLY) {
		f.a.len = reply->len;
		memcpy(f.reply, reply->data, reply->len);
		ctl.size += reply->len;
	}
	via_ether_xmit(nic, &ctl, &f);
}

/* WAIT, REFUSE, CONFIRM, CANCEL: about the request, or the ACCEPT, of @c. */
void via_ether_answer(struct via_ether_nic *nic, u32 flow, u8 type, u8 reason,
		      const struct via_ether_client *c)
{
	struct via_wire_answer a = {
		.vi = cpu_to_be32(c->vi),
		.reason = cpu_to_be32(reason),
	};
	struct via_xmit ctl = {
		.host = c->host.addr,
		.cookie = c->cookie,
		.flow = flow,
		.size = sizeof(a),
		.type = type,
	};

	via_ether_xmit(nic, &ctl, &a);
}

void via_ether_conn_addr(struct via_net_addr *a, const u8 *host, u32 host_len,
			 const u8 *disc, u32 disc_len)
{
	BUILD_BUG_ON(VIA_WIRE_HOST_MAX > VIA_ADDR_MAX);
	BUILD_BUG_ON(VIA_WIRE_DISC_MAX > VIA_DISC_MAX);
	a->host_len = host_len;
	a->disc_len = disc_len;
	memcpy(a->host, host, host_len);
	memcpy(a->disc, disc, disc_len);
}

void via_ether_fill_hello(struct via_wire_hello *h,
			  const struct via_ether_nic *nic)
{
	h->epoch = cpu_to_be64(nic->epoch);
	h->frames = cpu_to_be32(via_ether_credit(nic));
	h->mtu = cpu_to_be32(READ_ONCE(nic->mtu));
}

/* HEARTBEAT or HEARTBEAT_ACK to a host in @epoch. */
void via_ether_send_heartbeat(struct via_ether_nic *nic, const struct via_peer *peer,
			      const u8 *host, u8 type, u64 epoch,
			 const struct via_heartbeat_hdr *b)
{
	struct via_wire_heartbeat w = {
		.epoch = cpu_to_be64(b->epoch),
		.token = cpu_to_be64(b->token),
		.time = cpu_to_be64(b->time),
		.connections = cpu_to_be32(b->connections),
		.digest = cpu_to_be32(b->digest),
	};
	struct via_xmit c = {
		.peer = peer,
		.host = host,
		.cookie = epoch,
		.size = sizeof(w),
		.type = type,
	};

	via_ether_xmit(nic, &c, &w);
}

bool via_ether_send_acks(const struct via_peer *peer, struct via_acks_frame *f)
{
	struct via_ether_nic *nic = peer->nic;
	struct via_xmit c = {
		.peer = peer,
		.host = peer->host.addr,
		.cookie = READ_ONCE(peer->epoch),
		.size = sizeof(f->a) + f->bytes,
		.type = VIA_WIRE_ACKS,
	};

	f->a = (struct via_wire_acks) { .count = cpu_to_be16(f->count) };
	if (!via_ether_xmit(nic, &c, f))
		return false;
	via_ether_count(nic, BATCHES_OUT);
	via_ether_count_add(nic, ACKS_OUT, f->count);
	return true;
}

/* @n cookies of the receiver's, of all from @low to @high. */
void via_ether_send_list(const struct via_peer *peer, u64 epoch, u64 low,
			 u64 high, const u64 *cookie, u32 n)
{
	struct via_ether_nic *nic = peer->nic;
	struct {
		struct via_wire_list l;
		__be64 cookie[VIA_WIRE_LIST_MAX];
	} __packed f = {
		.l = {
			.count = cpu_to_be16(n),
			.low = cpu_to_be64(low),
			.high = cpu_to_be64(high),
		},
	};
	struct via_xmit c = {
		.peer = peer,
		.host = peer->host.addr,
		.cookie = epoch,
		.size = sizeof(f.l) + n * sizeof(f.cookie[0]),
		.type = VIA_WIRE_LIST,
	};
	u32 i;

	for (i = 0; i < n; i++)
		f.cookie[i] = cpu_to_be64(cookie[i]);
	if (via_ether_xmit(nic, &c, &f))
		via_ether_count(nic, LISTS_OUT);
}

/* A query for a name (@host NULL: to all), or the reply.  BH off. */
bool via_ether_send_name(struct via_ether_nic *nic, const u8 *host, u8 type,
			 u32 nonce, const char *name)
{
	struct via_wire_name n = { .nonce = cpu_to_be32(nonce) };
	struct via_xmit c = { .host = host, .size = sizeof(n), .type = type };

	n.name_len = strnlen(name, VIA_WIRE_NAME_MAX);
	memcpy(n.name, name, n.name_len);
	return via_ether_xmit(nic, &c, &n);
}
