// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Frames that a scenario makes up. */
#include "s_forge.h"


void forge(struct forged *f, const u8 *from, const u8 *to, u8 type)
{
	struct ethhdr *eth = (void *)f->data;

	memset(f, 0, sizeof(*f));
	memcpy(eth->h_source, from, ETH_ALEN);
	memcpy(eth->h_dest, to, ETH_ALEN);
	eth->h_proto = cpu_to_be16(VIA_WIRE_ETHERTYPE);
	forged_wire(f->data)->version = VIA_WIRE_VERSION;
	forged_wire(f->data)->type = type;
	/* As long as an end and an answer. */
	f->len = ETH_HLEN + VIA_WIRE_ACK_LEN;
	if (type == VIA_WIRE_NAME_QUERY || type == VIA_WIRE_NAME_REPLY)
		f->len = ETH_HLEN + VIA_WIRE_NAME_LEN;
	else if (via_wire_has_conn(type))
		f->len = ETH_HLEN + VIA_WIRE_CONN_LEN;
}

static void address(struct via_wire_addr *a, const u8 *mac, const char *disc)
{
	a->host_len = ETH_ALEN;
	memcpy(a->host, mac, ETH_ALEN);
	a->disc_len = strlen(disc);
	memcpy(a->disc, disc, a->disc_len);
}

void forge_conn(struct forged *f, const u8 *from, const u8 *to, u8 type,
		const char *disc, u32 vi, u64 cookie)
{
	struct via_wire_hello *h = forged_hello(f->data);
	struct via_wire_conn *c = forged_conn(f->data);

	forge(f, from, to, type);
	h->epoch = cpu_to_be64(1);
	h->frames = cpu_to_be32(64);
	h->mtu = cpu_to_be32(1500);
	c->vi = cpu_to_be32(vi);
	c->sender_cookie = cpu_to_be64(cookie);
	if (type == VIA_WIRE_REQUEST || type == VIA_WIRE_PEER_REQUEST) {
		forged_wire(f->data)->dst = c->vi;
		forged_wire(f->data)->cookie = c->sender_cookie;
	}
	c->first_seq = cpu_to_be32(1);
	c->reliability = cpu_to_be32(VIA_RELIABLE_DELIVERY);
	c->max_transfer = cpu_to_be32(32768);
	c->rights = cpu_to_be32(VIA_RDMA_WRITE | VIA_RDMA_READ);
	c->timeout_ms = cpu_to_be32(10000);
	address(&c->client, from, disc);
	address(&c->server, to, disc);
}

void forge_answer(struct forged *f, const u8 *from, const u8 *to, u8 type,
		  u32 vi, u64 cookie)
{
	forge(f, from, to, type);
	forged_wire(f->data)->cookie = cpu_to_be64(cookie);
	forged_answer(f->data)->vi = cpu_to_be32(vi);
	if (type == VIA_WIRE_REFUSE)
		forged_answer(f->data)->reason =
			cpu_to_be32(VIA_WIRE_R_REJECT);
}

struct via_wire_acks_entry *forge_acks(struct forged *f, const u8 *from,
				       const u8 *to, u64 epoch, u32 count)
{
	struct via_wire_acks *a = (void *)(forged_wire(f->data) + 1);
	struct via_wire_acks_entry *e = (void *)(a + 1);

	forge(f, from, to, VIA_WIRE_ACKS);
	forged_wire(f->data)->cookie = cpu_to_be64(epoch);
	a->count = cpu_to_be16(count);
	f->len = ETH_HLEN + VIA_WIRE_ACKS_LEN + count * sizeof(*e);
	return e;
}

void forge_host(u8 *mac, u32 n)
{
	const u8 host[ETH_ALEN] = { 0x02, 0, 1, n >> 16, n >> 8, n };

	memcpy(mac, host, ETH_ALEN);
}

void forge_throw(struct forged *f, struct sim_nic *to)
{
	if (!f->unproven)
		sim_nic_prove(to, f->data);
	if (via_wire_always_sealed(forged_wire(f->data)->type)) {
		sim_seal(f->data, f->len + VIA_WIRE_SEAL_LEN, 0);
		f->len += VIA_WIRE_SEAL_LEN;
	}
	sim_nic_inject(to, f->data, f->len);
}
