// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames without data: acknowledgements, handshakes, resets. */

#include "ether.h"
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

/* A frame of @type on the connection.  A queue lock held. */
static struct via_xmit on_conn(const struct via_ether_vi *ev, u8 type, u32 size)
{
	return (struct via_xmit) {
		.peer = ev->peer,
		.host = ev->conn.remote.addr,
		.cookie = ev->conn.remote_cookie,
		.dst = ev->conn.remote_id,
		.vi = via_ether_id(ev->vi),
		.flow = ev->vi->index,
		.size = size,
		.type = type,
		.plain = !ev->conn.seal,
	};
}

/* The receiver's half, as far as it has come.  rq.lock held. */
static bool send_ack(struct via_ether_vi *ev, u8 flags, u32 delay)
{
	struct {
		struct via_wire_ack a;
		struct via_wire_range range[VIA_WIRE_RANGES_MAX];
	} __packed f __uninitialized;
	struct via_xmit c = on_conn(ev, VIA_WIRE_ACK, sizeof(f.a));
	struct via_range range[VIA_WIN_RANGES] __uninitialized;
	u32 ack = ev->rcv.win.next;

	lockdep_assert_held(&ev->vi->rq.lock);
	if (ev->rcv.dsack_due)
		flags |= VIA_WIRE_DSACK;
	if (unlikely(ev->rcv.ce_echo))
		c.marks = VIA_WIRE_CE;
	c.flags = flags;
	f.a.ack = cpu_to_be32(ack);
	f.a.dsack = flags & VIA_WIRE_DSACK ? cpu_to_be32(ev->rcv.dsack) : 0;
	f.a.n = via_win_ranges(&ev->rcv.win, range);
	via_wire_put_ranges(f.range, f.a.n, range);
	f.a.delay = min(delay, VIA_WIRE_DELAY_MAX);
	f.a.share = cpu_to_be16(READ_ONCE(ev->nic->incast.share));
	f.a.zero = 0;
	c.size += f.a.n * sizeof(f.range[0]);
	if (!via_ether_xmit(ev->nic, &c, &f)) {
		/* It is owed, also if all had been told before. */
		if (ev->snd.acked == ack)
			WRITE_ONCE(ev->snd.acked, ack - 1);
		via_ether_ack_again(ev);
		return false;
	}
	WRITE_ONCE(ev->snd.acked, ack);
	ev->rcv.dsack_due = false;
	ev->rcv.untold = false;
	if (c.marks)
		via_ether_count(ev->nic, MARKS_OUT);
	ev->rcv.ce_echo = false;
	return true;
}

/* ACK to the peer of a connection, with all we know of what has arrived. */
bool via_ether_send_ack(struct via_ether_vi *ev, u32 delay)
{
	bool ok = send_ack(ev, 0, delay);

	if (ok)
		via_ether_count(ev->nic, ACKS_OUT);
	return ok;
}

/* The same, and the peer is to answer with its own. */
bool via_ether_send_ack_request(struct via_ether_vi *ev)
{
	return send_ack(ev, VIA_WIRE_ACK_NOW, VIA_WIRE_DELAY_MAX);
}

/* The numbers of both halves, as they are when the connection ends. */
struct via_end_frame via_ether_end_of(const struct via_ether_vi *ev)
{
	struct via_end_frame end = {
		.host = ev->conn.remote,
		.plain = !ev->conn.seal,
		.dst = ev->conn.remote_id,
		.cookie = ev->conn.remote_cookie,
		.seq = ev->snd.win.nxt,
		.ack = ev->rcv.win.next,
		.reason = ev->conn.reason,
		.src = via_ether_id(ev->vi),
	};

	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	return end;
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

static void fill_addr(struct via_wire_addr *w, const struct via_net_addr *a)
{
	u32 host = min_t(u32, a->host_len, VIA_WIRE_HOST_MAX);
	u32 disc = min_t(u32, a->disc_len, VIA_WIRE_DISC_MAX);

	w->host_len = host;
	w->disc_len = disc;
	memcpy(w->host, a->host, host);
	memcpy(w->disc, a->disc, disc);
}

/* A reply goes where addresses are that the client knows. */
static void fill_reply(struct via_wire_conn *c, const struct via_reply *reply)
{
	u32 n = min_t(u32, reply->len, VIA_WIRE_DISC_MAX);

	BUILD_BUG_ON(VIA_WIRE_REPLY_MAX != VIA_REPLY_MAX);
	c->options |= cpu_to_be32(VIA_WIRE_O_REPLY);
	memset(c->client.disc, 0, sizeof(c->client.disc));
	memset(c->server.disc, 0, sizeof(c->server.disc));
	c->client.disc_len = n;
	c->server.disc_len = reply->len - n;
	memcpy(c->client.disc, reply->data, n);
	memcpy(c->server.disc, reply->data + n, reply->len - n);
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

/* What is left of the client's time, in milliseconds. */
static u32 time_left(const struct via_ether_vi *ev)
{
	if (ev->attempt.forever)
		return VIA_WIRE_FOREVER;
	if (time_after_eq(via_now(), ev->attempt.deadline))
		return 0;
	return min_t(u64, jiffies_to_msecs(ev->attempt.deadline - via_now()),
		     VIA_WIRE_FOREVER - 1);
}

void via_ether_fill_hello(struct via_wire_hello *h,
			  const struct via_ether_nic *nic)
{
	h->epoch = cpu_to_be64(nic->epoch);
	h->frames = cpu_to_be32(via_ether_credit(nic));
	h->mtu = cpu_to_be32(READ_ONCE(nic->mtu));
}

u64 via_ether_token_make(struct via_ether_nic *nic,
			 const struct via_token_of *of)
{
	u64 token;

	spin_lock(&nic->token_lock);
	token = via_token_make(&nic->token, ktime_get_seconds(), of);
	spin_unlock(&nic->token_lock);
	return token;
}

bool via_ether_token_holds(struct via_ether_nic *nic,
			   const struct via_token_of *of, u64 token)
{
	bool holds;

	spin_lock(&nic->token_lock);
	holds = via_token_holds(&nic->token, ktime_get_seconds(), of, token);
	spin_unlock(&nic->token_lock);
	return holds;
}

/* With it the host that is accepted here next asks without a CHALLENGE. */
static u64 fresh_token(struct via_ether_vi *ev)
{
	struct via_token_of of;

	via_ether_token_of(&of, ev->nic, ev->conn.remote.addr,
			   ev->conn.remote_epoch);
	return via_ether_token_make(ev->nic, &of);
}

/* (PEER_)REQUEST or (PEER_)ACCEPT, from what the VI knows and is about. */
bool via_ether_send_conn(struct via_ether_vi *ev, u8 type)
{
	bool client = type == VIA_WIRE_REQUEST ||
		      type == VIA_WIRE_PEER_REQUEST;
	const struct via_reply *reply;
	struct via_vi *vi = ev->vi;
	struct {
		struct via_wire_hello h;
		struct via_wire_conn c;
	} __packed __aligned(8) f = {};
	struct via_xmit ctl = {
		.peer = ev->peer,
		.host = ev->conn.remote.addr,
		.dst = client ? via_ether_id(vi) : 0,
		.cookie = client ? ev->conn.cookie : ev->conn.remote_cookie,
		.vi = via_ether_id(vi),
		.flow = vi->index,
		.size = sizeof(f),
		.type = type,
	};

	via_ether_fill_hello(&f.h, ev->nic);
	if (client)
		ev->attempt.token = via_peer_told(ev->peer);
	f.h.token = cpu_to_be64(client ? ev->attempt.token : fresh_token(ev));
	f.c.vi = cpu_to_be32(via_ether_id(vi));
	f.c.to = client ? 0 : cpu_to_be32(ev->conn.remote_id);
	f.c.sender_cookie = cpu_to_be64(ev->conn.cookie);
	f.c.first_seq = cpu_to_be32(ev->conn.first_seq);
	f.c.reliability = cpu_to_be32(vi->attrs.reliability);
	f.c.max_transfer = cpu_to_be32(vi->attrs.max_transfer);
	f.c.rights = cpu_to_be32(vi->attrs.rights);
	f.c.timeout_ms = cpu_to_be32(time_left(ev));
	if (client ? ev->conn.want_seal : ev->conn.seal == VIA_WIRE_SUM)
		f.c.options = cpu_to_be32(VIA_WIRE_O_SUM);
	if (vi->kernel && type == VIA_WIRE_REQUEST)
		f.c.options |= cpu_to_be32(VIA_WIRE_O_REPLY);
	if (client ? !!vi->kernel : via_conn_notes(vi))
		f.c.options |= cpu_to_be32(VIA_WIRE_O_NOTES);
	fill_addr(&f.c.client, client ? &vi->local : &vi->remote);
	fill_addr(&f.c.server, client ? &vi->remote : &vi->local);
	reply = via_conn_reply(vi);
	if (reply && type == VIA_WIRE_ACCEPT)
		fill_reply(&f.c, reply);
	return via_ether_xmit(ev->nic, &ctl, &f);
}

bool via_ether_may_challenge(struct via_ether_nic *nic,
			     const struct via_ether_frame *f,
			     const struct via_hello_hdr *asked)
{
	if (via_limit_answer(&nic->limit, get_jiffies_64(), VIA_LIMIT_CHALLENGE,
			     f->src, nic->host.len, asked->epoch, f->len,
			     VIA_WIRE_HELLO_LEN + VIA_WIRE_SEAL_LEN))
		return true;
	via_ether_count(nic, UNANSWERED);
	return false;
}

/*
 * What proves its address is told to a host that asks without it.  Most of a
 * flood ends at the limit, before checksum and hash.
 */
static void challenge(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h,
		      const struct via_conn_hdr *asked,
		      const struct via_token_of *of)
{
	struct via_wire_hello hello = {};
	struct via_xmit c = {
		.host = f->src,
		.dst = asked->vi,
		.cookie = asked->sender_cookie,
		.size = sizeof(hello),
		.type = VIA_WIRE_CHALLENGE,
	};

	if (!h->paid && !via_ether_may_challenge(nic, f, &asked->hello))
		return;
	if (!via_ether_sum_ok(nic, f, h))
		return;
	via_ether_fill_hello(&hello, nic);
	hello.token = cpu_to_be64(via_ether_token_make(nic, of));
	hello.nonce = cpu_to_be64(via_session_tell(nic, f->src,
						   &asked->hello));
	via_ether_xmit(nic, &c, &hello);
}

/* An authenticator proves more than a token, which proves nothing without. */
bool via_ether_validated(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h,
		      const struct via_conn_hdr *c)
{
	struct via_token_of of;

	if (h->flags & VIA_WIRE_AUTH)
		return true;
	via_ether_token_of(&of, nic, f->src, c->hello.epoch);
	if (likely(!via_secret_of(nic, f->src)) &&
	    via_ether_token_holds(nic, &of, c->hello.token))
		return via_ether_sum_ok(nic, f, h);
	via_ether_count(nic, UNVALIDATED);
	challenge(nic, f, h, c, &of);
	return false;
}

/* As it is on the network, padding included. */
static u32 on_wire(const struct via_ether_nic *nic, u32 len)
{
	return max(len, nic->frame_min);
}

bool via_ether_may_answer(struct via_ether_nic *nic, const u8 *host,
			  enum via_limit_kind kind, u32 asked, u32 answer)
{
	/* It would be a broadcast. */
	if (unlikely(!nic->ops->host_valid(nic, host)))
		return false;
	answer += via_secret_of(nic, host) ? VIA_WIRE_AUTH_LEN :
					    VIA_WIRE_SEAL_LEN;
	if (via_limit_answer(&nic->limit, get_jiffies_64(), kind, host,
			     nic->host.len, 0, on_wire(nic, asked),
			     on_wire(nic, answer)))
		return true;
	via_ether_count(nic, UNANSWERED);
	return false;
}

/*
 * No VI here has that id and cookie; @seq is of the frame that named them,
 * @asked its bytes.
 */
void via_ether_send_reset(struct via_ether_nic *nic, const u8 *host, u32 id,
			  u64 cookie, u32 seq, u32 asked)
{
	struct via_wire_end e = {
		.seq = cpu_to_be32(seq),
		.src = cpu_to_be32(id),
	};
	struct via_xmit c = {
		.host = host,
		.cookie = cookie,
		.size = sizeof(e),
		.type = VIA_WIRE_RESET,
	};

	if (via_ether_may_answer(nic, host, VIA_LIMIT_ANSWER, asked,
				 VIA_WIRE_END_LEN) &&
	    via_ether_xmit(nic, &c, &e))
		via_ether_count(nic, RESETS_OUT);
}

/*
 * To the sender of the DISCONNECT @h: there is no such connection here, any
 * more (@known).
 */
void via_ether_send_disconnect_ack(struct via_ether_nic *nic, const u8 *host,
				   const struct via_frame_hdr *h, u32 asked,
				   bool known)
{
	struct via_wire_end e = {
		.seq = cpu_to_be32(h->seq),
		.src = cpu_to_be32(h->dst),
	};
	struct via_xmit c = {
		.host = host,
		.cookie = h->cookie,
		.size = sizeof(e),
		.type = VIA_WIRE_DISCONNECT_ACK,
	};

	if (known || via_ether_may_answer(nic, host, VIA_LIMIT_ANSWER,
					  asked, VIA_WIRE_END_LEN))
		via_ether_xmit(nic, &c, &e);
}

/*
 * To a frame of another version, which has at least as many bytes as the
 * answer: what is spoken here.
 */
void via_ether_send_version(struct via_ether_nic *nic,
			    const struct via_ether_frame *f)
{
	const struct via_wire *w = f->hdr;
	char text[VIA_HOST_TEXT];
	struct via_xmit c = {
		.host = f->src,
		.type = VIA_WIRE_VERSIONS,
		.flags = VIA_WIRE_VERSION_MIN,
		.marks = w->version,
		.plain = true,
	};
	__be32 first;
	__be64 second;

	/* The quote lies where other frames have these two. */
	memcpy(&first, f->hdr, sizeof(first));
	memcpy(&second, f->hdr + sizeof(first), sizeof(second));
	c.dst = be32_to_cpu(first);
	c.cookie = be64_to_cpu(second);
	if (!via_ether_allowed(nic, f->src) ||
	    !via_ether_may_answer(nic, f->src, VIA_LIMIT_ANSWER, f->len,
				  VIA_WIRE_VERSION_LEN))
		return;
	pr_info_ratelimited("%s: %s speaks version %u of the wire, this host %u\n",
			    nic->ka->name,
			    via_host_text(text, f->src, nic->host.len),
			    w->version, VIA_WIRE_VERSION);
	if (via_ether_xmit(nic, &c, f->hdr))
		via_ether_count(nic, VERSIONS_OUT);
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
