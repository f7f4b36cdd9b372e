// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A host that is nothing but frames. */
#include "raw.h"


static bool take(void *arg, u8 *data, u32 *len)
{
	struct raw_host *r = arg;
	struct raw_frame *f = &r->frames[r->tail % RAW_FRAMES];

	if (*len > RAW_FRAME)
		sim_fail("a frame of %u bytes", *len);
	f->len = *len;
	memcpy(f->data, data, *len);
	if (raw_wire(f)->type == VIA_WIRE_HEARTBEAT && !r->mute) {
		raw_send_heartbeat(r, f);
		return false;
	}
	if (r->answer && r->answer(r, f))
		return false;
	if (r->tail++ - r->head == RAW_FRAMES)
		r->head++;
	sim_wake_list(&r->waiting);
	return false;
}

void raw_begin(struct raw_host *r, struct sim_nic *nic, u8 n)
{
	const u8 mac[ETH_ALEN] = { 0x52, 0x54, 0, 0, 2, n };

	memset(r, 0, sizeof(*r));
	memcpy(r->mac, mac, ETH_ALEN);
	r->nic = nic;
	r->frames = calloc(RAW_FRAMES, sizeof(*r->frames));
	if (!r->frames)
		abort();
	INIT_LIST_HEAD(&r->waiting);
	sim_wire.meddle = take;
	sim_wire.meddle_arg = r;
}

void raw_end(struct raw_host *r)
{
	sim_wire.meddle = NULL;
	free(r->frames);
}

void raw_forget(struct raw_host *r)
{
	r->head = r->tail;
}

static void too_late(void *arg)
{
	struct raw_host *r = arg;

	r->limit = NULL;
	sim_wake_list(&r->waiting);
}

const struct raw_frame *raw_next(struct raw_host *r, u64 ns)
{
	if (r->head == r->tail && ns) {
		r->limit = sim_at(sim_clock + ns, too_late, r);
		while (r->head == r->tail && r->limit)
			sim_block(&r->waiting);
		if (r->limit)
			sim_cancel(r->limit);
	}
	return r->head == r->tail ? NULL :
				    &r->frames[r->head++ % RAW_FRAMES];
}

const struct raw_frame *raw_await(struct raw_host *r, u8 type, u64 ns)
{
	u64 until = sim_clock + ns;
	const struct raw_frame *f;

	do {
		f = raw_next(r, until > sim_clock ? until - sim_clock : 0);
	} while (f && raw_wire(f)->type != type);
	return f;
}

const struct via_wire *raw_wire(const struct raw_frame *f)
{
	return (const void *)(f->data + ETH_HLEN);
}

const struct via_wire_data *raw_data_of(const struct raw_frame *f)
{
	return (const void *)(raw_wire(f) + 1);
}

const struct via_wire_ack *raw_ack_of(const struct raw_frame *f)
{
	return (const void *)(raw_wire(f) + 1);
}

const struct via_wire_end *raw_end_of(const struct raw_frame *f)
{
	return (const void *)(raw_wire(f) + 1);
}

u32 raw_acked(const struct raw_frame *f)
{
	return be32_to_cpu(raw_wire(f)->type == VIA_WIRE_ACK ?
			   raw_ack_of(f)->ack : raw_data_of(f)->ack);
}

u64 raw_sack(const struct raw_frame *f)
{
	const struct via_wire_ack *a = raw_ack_of(f);
	const struct via_wire_range *r = (const void *)(a + 1);
	u64 sack = 0;
	u32 i, at;

	for (i = 0; i < a->n; i++)
		for (at = 0; at < be16_to_cpu(r[i].count); at++)
			if (at + be16_to_cpu(r[i].start) < 64)
				sack |= 1ull << (at + be16_to_cpu(r[i].start));
	return sack;
}

const struct via_wire_conn *raw_conn_of(const struct raw_frame *f)
{
	const struct via_wire_hello *h = (const void *)(raw_wire(f) + 1);

	return (const void *)(h + 1);
}

const u8 *raw_payload(const struct raw_frame *f)
{
	return (const u8 *)raw_wire(f) + VIA_WIRE_SEND_HDR;
}

/* Ethernet header and the common one. */
static struct via_wire *head(struct raw_host *r, u8 *f, u8 type)
{
	struct ethhdr *eth = (void *)f;
	struct via_wire *w = (void *)(eth + 1);

	memcpy(eth->h_dest, sim_nic_mac(r->nic), ETH_ALEN);
	memcpy(eth->h_source, r->mac, ETH_ALEN);
	eth->h_proto = cpu_to_be16(VIA_WIRE_ETHERTYPE);
	w->version = VIA_WIRE_VERSION;
	w->type = type;
	if (type <= VIA_WIRE_DISCONNECT)
		w->dst = cpu_to_be32(r->remote_id);
	w->cookie = cpu_to_be64(r->remote_cookie);
	return w;
}

void raw_send_data(struct raw_host *r, const struct raw_data *d)
{
	u8 f[RAW_FRAME] = { 0 };
	struct via_wire *w = head(r, f, d->type);
	struct via_wire_data *data = (void *)(w + 1);
	struct via_wire_rdma *rdma = (void *)(data + 1);
	u8 *p = (void *)rdma;

	w->flags = d->flags;
	data->len = cpu_to_be16(d->train ?: d->len);
	data->reads = cpu_to_be16(d->reads);
	data->seq = cpu_to_be32(d->seq);
	data->ack = cpu_to_be32(r->ack);
	data->msg_len = cpu_to_be32(d->msg_len);
	data->offset = cpu_to_be32(d->offset);
	data->immediate = cpu_to_be32(d->immediate);
	if (d->type == VIA_WIRE_WRITE || d->type == VIA_WIRE_READ) {
		rdma->raddr = cpu_to_be64(d->raddr);
		rdma->rhandle = cpu_to_be32(d->rhandle);
		p = (void *)(rdma + 1);
	}
	if (d->len)
		memcpy(p, d->payload, d->len);
	sim_nic_inject_train(r->nic, f, p + d->len - f, d->train);
}

void raw_send(struct raw_host *r, const void *p, u32 len)
{
	struct raw_data d = {
		.type = VIA_WIRE_SEND, .flags = VIA_WIRE_PUSH, .seq = r->seq++,
		.msg_len = len, .payload = p, .len = min(len, RAW_SEND),
	};

	raw_send_data(r, &d);
}

void raw_send_ack(struct raw_host *r, u8 flags)
{
	u8 f[ETH_HLEN + VIA_WIRE_ACK_LEN] = { 0 };
	struct via_wire *w = head(r, f, VIA_WIRE_ACK);
	struct via_wire_ack *a = (void *)(w + 1);

	w->flags = flags;
	a->ack = cpu_to_be32(r->ack);
	sim_nic_inject(r->nic, f, sizeof(f));
}

void raw_send_end(struct raw_host *r, u8 type, u32 seq, u32 ack)
{
	u8 f[ETH_HLEN + VIA_WIRE_END_LEN + VIA_WIRE_SEAL_LEN] = { 0 };
	u32 len = ETH_HLEN + VIA_WIRE_END_LEN;
	struct via_wire *w = head(r, f, type);
	struct via_wire_end *e = (void *)(w + 1);

	e->seq = cpu_to_be32(seq);
	e->ack = cpu_to_be32(ack);
	e->src = cpu_to_be32(r->vi);
	if (type == VIA_WIRE_RESET)
		w->cookie = cpu_to_be64(r->cookie);
	if (via_wire_always_sealed(type)) {
		len = sizeof(f);
		sim_seal(f, len, 0);
	}
	sim_nic_inject(r->nic, f, len);
}

void raw_send_answer(struct raw_host *r, u8 type, u32 reason)
{
	u8 f[ETH_HLEN + VIA_WIRE_ANSWER_LEN + VIA_WIRE_SEAL_LEN] = { 0 };
	struct via_wire *w = head(r, f, type);
	struct via_wire_answer *a = (void *)(w + 1);

	a->vi = cpu_to_be32(r->remote_id);
	a->reason = cpu_to_be32(reason);
	sim_seal(f, sizeof(f), 0);
	sim_nic_inject(r->nic, f, sizeof(f));
}

void raw_send_heartbeat(struct raw_host *r, const struct raw_frame *heartbeat)
{
	const struct via_wire_heartbeat *asked =
		(const void *)(raw_wire(heartbeat) + 1);
	u8 f[ETH_HLEN + VIA_WIRE_HEARTBEAT_LEN + VIA_WIRE_SEAL_LEN] = { 0 };
	struct via_wire *w = head(r, f, VIA_WIRE_HEARTBEAT_ACK);
	struct via_wire_heartbeat *b = (void *)(w + 1);

	*b = *asked;
	b->epoch = cpu_to_be64(RAW_EPOCH);
	w->cookie = asked->epoch;
	sim_seal(f, sizeof(f), 0);
	sim_nic_inject(r->nic, f, sizeof(f));
}

static void fill_addr(struct via_wire_addr *a, const void *host,
		      const char *disc)
{
	a->host_len = ETH_ALEN;
	memcpy(a->host, host, ETH_ALEN);
	a->disc_len = strlen(disc);
	memcpy(a->disc, disc, a->disc_len);
}

static void send_conn(struct raw_host *r, u8 type, const char *disc)
{
	u8 f[ETH_HLEN + VIA_WIRE_CONN_LEN + VIA_WIRE_SEAL_LEN] = { 0 };
	struct via_wire *w = head(r, f, type);
	struct via_wire_hello *h = (void *)(w + 1);
	struct via_wire_conn *c = (void *)(h + 1);

	if (type == VIA_WIRE_REQUEST) {
		w->dst = cpu_to_be32(r->vi);
		w->cookie = cpu_to_be64(r->cookie);
	}
	h->epoch = cpu_to_be64(RAW_EPOCH);
	h->frames = cpu_to_be32(64);
	h->mtu = cpu_to_be32(RAW_MTU);
	c->vi = cpu_to_be32(r->vi);
	c->to = cpu_to_be32(r->remote_id);
	c->sender_cookie = cpu_to_be64(r->cookie);
	c->first_seq = cpu_to_be32(r->seq);
	c->reliability = cpu_to_be32(r->level);
	c->max_transfer = cpu_to_be32(32768);
	c->rights = cpu_to_be32(r->level == VIA_UNRELIABLE ? VIA_RDMA_WRITE :
				VIA_RDMA_WRITE | VIA_RDMA_READ);
	c->timeout_ms = cpu_to_be32(10000);
	c->options = cpu_to_be32(r->options);
	fill_addr(&c->client, r->mac, disc);
	fill_addr(&c->server, sim_nic_mac(r->nic), disc);
	sim_nic_prove(r->nic, f);
	sim_seal(f, sizeof(f), 0);
	sim_nic_inject(r->nic, f, sizeof(f));
}

/* Names of a new connection. */
static void begin(struct raw_host *r)
{
	r->vi = 1 + sim_dice(1000);
	r->cookie = sim_dice64() | 1;
	r->seq = sim_dice(4) ? sim_dice64() : -sim_dice(20);
	r->remote_id = 0;
	r->remote_cookie = 0;
}

void raw_know(struct raw_host *r, const struct raw_frame *f)
{
	const struct via_wire_conn *c = raw_conn_of(f);

	r->remote_id = be32_to_cpu(c->vi);
	r->remote_cookie = be64_to_cpu(c->sender_cookie);
	r->ack = be32_to_cpu(c->first_seq);
}

bool raw_connect(struct raw_host *r, const char *disc, bool confirm)
{
	const struct raw_frame *f;
	u32 tries;
	u8 type;

	begin(r);
	for (tries = 0; tries < 500; tries++) {
		r->remote_id = 0;
		r->remote_cookie = 0;
		send_conn(r, VIA_WIRE_REQUEST, disc);
		do {
			f = raw_next(r, 5 * MS);
			type = f ? raw_wire(f)->type : 0;
		} while (f && type != VIA_WIRE_ACCEPT &&
			 type != VIA_WIRE_REFUSE);
		if (type == VIA_WIRE_ACCEPT) {
			raw_know(r, f);
			if (confirm)
				raw_send_answer(r, VIA_WIRE_CONFIRM, 0);
			return true;
		}
		/* That verdict is remembered: again, under another name. */
		if (f)
			r->cookie += 2;
		sim_pause(MS);
	}
	return false;
}

void raw_accept(struct raw_host *r, const struct raw_frame *request)
{
	const struct via_wire_conn *c = raw_conn_of(request);

	begin(r);
	r->level = be32_to_cpu(c->reliability);
	raw_know(r, request);
	send_conn(r, VIA_WIRE_ACCEPT, "raw");
}

void raw_request(struct raw_host *r, const char *disc)
{
	if (!r->vi)
		begin(r);
	send_conn(r, VIA_WIRE_REQUEST, disc);
}

void raw_refuse(struct raw_host *r, const struct raw_frame *request,
		const void *reply, u32 len)
{
	u8 f[ETH_HLEN + VIA_WIRE_ANSWER_LEN + VIA_WIRE_REPLY_MAX +
	     VIA_WIRE_SEAL_LEN] = { 0 };
	struct via_wire *w = head(r, f, VIA_WIRE_REFUSE);
	struct via_wire_answer *a = (void *)(w + 1);
	u32 size = sizeof(f) - VIA_WIRE_REPLY_MAX + len;

	w->cookie = raw_wire(request)->cookie;
	a->vi = raw_conn_of(request)->vi;
	a->reason = cpu_to_be32(VIA_WIRE_R_REJECT);
	a->len = len;
	memcpy(a + 1, reply, len);
	sim_seal(f, size, 0);
	sim_nic_inject(r->nic, f, size);
}
