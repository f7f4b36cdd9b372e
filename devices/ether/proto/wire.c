// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Taking frames apart: the only place where bytes off the wire are parsed. */

#include "wire.h"

/* Not of core/portable.h: in user space others write it as an attribute's name. */
#ifndef noinline
#define noinline	__attribute__((__noinline__))
#endif

static const void *behind(const void *p, u32 bytes)
{
	return (const u8 *)p + bytes;
}

static bool all_zero(const u8 *p, u32 n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

static __always_inline enum via_wire_error
parse_data(const struct via_wire *w, u32 len, struct via_frame_hdr *h)
{
	const struct via_wire_data *d = (const void *)(w + 1);

	if (unlikely(len < h->hdr_len))
		return VIA_WIRE_BAD_LENGTH;
	h->seq = be32_to_cpu(d->seq);
	h->ack = be32_to_cpu(d->ack);
	h->msg_len = be32_to_cpu(d->msg_len);
	h->offset = be32_to_cpu(d->offset);
	h->len = be16_to_cpu(d->len);
	h->immediate = be32_to_cpu(d->immediate);
	if (unlikely(h->len > len - h->hdr_len || h->offset > h->msg_len ||
		     h->len > h->msg_len - h->offset))
		return VIA_WIRE_BAD_LENGTH;
	/* Only an empty message has an empty frame. */
	if (unlikely(!h->len && h->msg_len))
		return VIA_WIRE_BAD_LENGTH;
	return VIA_WIRE_OK;
}

/* Whether the connection has them the frame does not say. */
static enum via_wire_error parse_notes(const struct via_frame_hdr *h)
{
	return h->reads & ~VIA_WIRE_NOTES ||
	       (h->reads & VIA_WIRE_N_INVALIDATE &&
		h->flags & VIA_WIRE_IMMEDIATE) ?
	       VIA_WIRE_BAD_FIELD : VIA_WIRE_OK;
}

static __always_inline enum via_wire_error
parse_send(const struct via_wire *w, u32 len, struct via_frame_hdr *h)
{
	const struct via_wire_data *d = (const void *)(w + 1);
	enum via_wire_error err;

	h->hdr_len = VIA_WIRE_SEND_HDR;
	err = parse_data(w, len, h);
	if (unlikely(err))
		return err;
	h->reads = be16_to_cpu(d->reads);
	return unlikely(h->reads) ? parse_notes(h) : VIA_WIRE_OK;
}

static enum via_wire_error parse_write(const struct via_wire *w, u32 len,
				       struct via_frame_hdr *h)
{
	const struct via_wire_data *d = (const void *)(w + 1);
	const struct via_wire_rdma *r = behind(w, VIA_WIRE_SEND_HDR);
	enum via_wire_error err;

	h->hdr_len = VIA_WIRE_WRITE_HDR;
	err = parse_data(w, len, h);
	if (unlikely(err))
		return err;
	if (unlikely(d->reads || r->zero))
		return VIA_WIRE_BAD_FIELD;
	h->rhandle = be32_to_cpu(r->rhandle);
	/* The region check refuses any address, one that wraps too. */
	h->raddr = be64_to_cpu(r->raddr);
	return VIA_WIRE_OK;
}

/* A request has no payload, whatever it asks for, and is one frame. */
static enum via_wire_error parse_read(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	const struct via_wire_data *d = (const void *)(w + 1);
	const struct via_wire_rdma *r = behind(w, VIA_WIRE_SEND_HDR);

	h->hdr_len = VIA_WIRE_WRITE_HDR;
	if (len < VIA_WIRE_WRITE_HDR || d->len)
		return VIA_WIRE_BAD_LENGTH;
	if (d->offset || d->immediate || d->reads || r->zero ||
	    h->flags & VIA_WIRE_IMMEDIATE)
		return VIA_WIRE_BAD_FIELD;
	h->seq = be32_to_cpu(d->seq);
	h->ack = be32_to_cpu(d->ack);
	h->msg_len = be32_to_cpu(d->msg_len);
	h->offset = 0;
	h->immediate = 0;
	h->rhandle = be32_to_cpu(r->rhandle);
	h->raddr = be64_to_cpu(r->raddr);
	return VIA_WIRE_OK;
}

static enum via_wire_error parse_read_data(const struct via_wire *w, u32 len,
					   struct via_frame_hdr *h)
{
	const struct via_wire_data *d = (const void *)(w + 1);
	enum via_wire_error err;

	h->hdr_len = VIA_WIRE_SEND_HDR;
	err = parse_data(w, len, h);
	if (err)
		return err;
	h->reads = be16_to_cpu(d->reads);
	return d->immediate || h->flags & VIA_WIRE_IMMEDIATE ?
	       VIA_WIRE_BAD_FIELD : VIA_WIRE_OK;
}

void via_wire_cut(void *p, u32 k, u32 seg, u32 len, bool last)
{
	struct via_wire *w = p;
	struct via_wire_data *d = (struct via_wire_data *)(w + 1);

	if (!last)
		w->flags &= VIA_WIRE_IMMEDIATE;
	d->seq = cpu_to_be32(be32_to_cpu(d->seq) + k);
	d->offset = cpu_to_be32(be32_to_cpu(d->offset) + k * seg);
	d->len = cpu_to_be16(len);
}

bool via_wire_join(struct via_frame_hdr *h, u32 len, u32 seg)
{
	u32 all = len - h->hdr_len;

	if (!via_wire_data_hdr(h->type) || h->flags & VIA_WIRE_SEALS ||
	    h->len != seg || all <= seg || all > h->msg_len - h->offset ||
	    all > VIA_WIRE_TRAIN * seg)
		return false;
	h->frames = (all + seg - 1) / seg;
	h->len = all;
	return true;
}

void via_wire_one_of(const struct via_frame_hdr *h, u32 seg, u32 k,
		     struct via_frame_hdr *one)
{
	u32 off = k * seg;

	*one = *h;
	one->frames = 1;
	one->len = min(seg, h->len - off);
	one->hdr_len += off;
	one->offset += off;
	one->seq += k;
	if (k + 1 < h->frames)
		one->flags &= VIA_WIRE_IMMEDIATE;
}

/* They rise, and between two of them there is a hole. */
static bool good_ranges(const struct via_wire_range *r, u32 n)
{
	u32 i, start, count, least = 0;

	for (i = 0; i < n; i++) {
		start = be16_to_cpu(r[i].start);
		count = be16_to_cpu(r[i].count);
		if (start < least || !count || start + count > 0x10000)
			return false;
		least = start + count + 1;
	}
	return true;
}

static enum via_wire_error parse_ack(const struct via_wire *w, u32 len,
				     struct via_frame_hdr *h)
{
	const struct via_wire_ack *a = (const void *)(w + 1);

	if (len < VIA_WIRE_ACK_LEN)
		return VIA_WIRE_BAD_LENGTH;
	h->nranges = a->n;
	h->range = (const void *)(a + 1);
	if (h->nranges > VIA_WIRE_RANGES_MAX ||
	    h->nranges * sizeof(*h->range) > len - VIA_WIRE_ACK_LEN)
		return VIA_WIRE_BAD_LENGTH;
	h->hdr_len = VIA_WIRE_ACK_LEN + h->nranges * sizeof(*h->range);
	h->ack = be32_to_cpu(a->ack);
	h->dsack = be32_to_cpu(a->dsack);
	h->share = be16_to_cpu(a->share);
	h->delay = a->delay;
	if (a->zero || (h->dsack && !(h->flags & VIA_WIRE_DSACK)) ||
	    !good_ranges(h->range, h->nranges))
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

static enum via_wire_error parse_end(const struct via_wire *w, u32 len,
				     struct via_frame_hdr *h)
{
	const struct via_wire_end *e = (const void *)(w + 1);

	h->hdr_len = VIA_WIRE_END_LEN;
	if (len < VIA_WIRE_END_LEN)
		return VIA_WIRE_BAD_LENGTH;
	h->seq = be32_to_cpu(e->seq);
	h->ack = be32_to_cpu(e->ack);
	h->reason = be32_to_cpu(e->reason);
	h->src = be32_to_cpu(e->src);
	if (!h->cookie ||
	    (h->type != VIA_WIRE_DISCONNECT && (h->reason || e->ack)))
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

static enum via_wire_error parse_answer(const struct via_wire *w, u32 len,
					struct via_frame_hdr *h)
{
	const struct via_wire_answer *a = (const void *)(w + 1);
	bool refuses = h->type == VIA_WIRE_REFUSE;

	h->hdr_len = VIA_WIRE_ANSWER_LEN;
	if (len < VIA_WIRE_ANSWER_LEN)
		return VIA_WIRE_BAD_LENGTH;
	h->vi = be32_to_cpu(a->vi);
	h->reason = be32_to_cpu(a->reason);
	h->reply_len = a->len;
	h->reply = (const void *)(a + 1);
	if (h->reply_len > len - VIA_WIRE_ANSWER_LEN ||
	    h->reply_len > VIA_WIRE_REPLY_MAX)
		return VIA_WIRE_BAD_LENGTH;
	h->hdr_len += h->reply_len;
	if (!h->cookie || !h->vi || (h->reply_len && !refuses) ||
	    !all_zero(a->zero, sizeof(a->zero)) ||
	    h->reason > VIA_WIRE_R_REFUSE_MAX || !h->reason == refuses)
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

/* Those whose body is of one length, and is looked at by another function. */
static enum via_wire_error parse_fixed(u32 len, struct via_frame_hdr *h,
				       u32 hdr_len, bool cookie)
{
	h->hdr_len = hdr_len;
	if (len < hdr_len)
		return VIA_WIRE_BAD_LENGTH;
	return cookie && !h->cookie ? VIA_WIRE_BAD_FIELD : VIA_WIRE_OK;
}

static enum via_wire_error parse_acks(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	const struct via_wire_acks *a = (const void *)(w + 1);
	const struct via_wire_acks_entry *e;
	u32 most = len < VIA_WIRE_BODY_MAX ? len : VIA_WIRE_BODY_MAX;
	u32 i, at = VIA_WIRE_ACKS_LEN;

	if (len < VIA_WIRE_ACKS_LEN)
		return VIA_WIRE_BAD_LENGTH;
	if (!a->count || !all_zero(a->zero, sizeof(a->zero)))
		return VIA_WIRE_BAD_FIELD;
	for (i = be16_to_cpu(a->count); i; i--) {
		e = behind(w, at);
		if (sizeof(*e) > most - at)
			return VIA_WIRE_BAD_LENGTH;
		at += sizeof(*e);
		if (e->n > VIA_WIRE_RANGES_MAX ||
		    e->n * sizeof(struct via_wire_range) > most - at)
			return VIA_WIRE_BAD_LENGTH;
		at += e->n * sizeof(struct via_wire_range);
		if (!e->dst || !e->cookie ||
		    !all_zero(e->zero, sizeof(e->zero)) ||
		    !good_ranges((const void *)(e + 1), e->n))
			return VIA_WIRE_BAD_FIELD;
	}
	h->hdr_len = at;
	return VIA_WIRE_OK;
}

bool via_wire_next_acks(const void *p, struct via_acks_at *at,
			struct via_acks_entry *e)
{
	const struct via_wire_acks *a = behind(p, sizeof(struct via_wire));
	const struct via_wire_acks_entry *w;

	if (at->entry == be16_to_cpu(a->count))
		return false;
	w = behind(a + 1, at->bytes);
	e->dst = be32_to_cpu(w->dst);
	e->ack = be32_to_cpu(w->ack);
	e->cookie = be64_to_cpu(w->cookie);
	e->delay = w->delay;
	e->nranges = w->n;
	e->range = (const void *)(w + 1);
	at->entry++;
	at->bytes += sizeof(*w) + w->n * sizeof(*e->range);
	return true;
}

static enum via_wire_error parse_list(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	const struct via_wire_list *l = (const void *)(w + 1);
	u32 count;

	if (len < VIA_WIRE_LIST_LEN)
		return VIA_WIRE_BAD_LENGTH;
	count = be16_to_cpu(l->count);
	if (count > VIA_WIRE_LIST_MAX ||
	    count * sizeof(l->low) > len - VIA_WIRE_LIST_LEN)
		return VIA_WIRE_BAD_LENGTH;
	h->hdr_len = VIA_WIRE_LIST_LEN + count * sizeof(l->low);
	return VIA_WIRE_OK;
}

/* Of any version of the sender, about a frame of any. */
static enum via_wire_error parse_version(const void *p,
					 struct via_frame_hdr *h)
{
	const struct via_wire_version *v = p;

	h->type = VIA_WIRE_VERSIONS;
	h->flags = 0;
	h->marks = 0;
	h->dst = 0;
	h->cookie = 0;
	h->len = 0;
	h->hdr_len = VIA_WIRE_VERSION_LEN;
	h->highest = v->version;
	h->lowest = v->lowest;
	h->about = v->about;
	h->quote = v->quote;
	if (h->lowest > h->highest)
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

static bool good_dst(const struct via_frame_hdr *h)
{
	return !h->dst != via_wire_has_dst(h->type);
}

static u8 good_flags(u8 type)
{
	if (type < VIA_WIRE_ACK)
		return VIA_WIRE_FLAGS_DATA;
	return type == VIA_WIRE_ACK ? VIA_WIRE_FLAGS_ACK :
				      VIA_WIRE_FLAGS_OTHER;
}

static enum via_wire_error parse_body(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	h->len = 0;
	switch (h->type) {
	case VIA_WIRE_SEND:
		return parse_send(w, len, h);
	case VIA_WIRE_WRITE:
		return parse_write(w, len, h);
	case VIA_WIRE_READ:
		return parse_read(w, len, h);
	case VIA_WIRE_READ_DATA:
		return parse_read_data(w, len, h);
	case VIA_WIRE_ACK:
		return parse_ack(w, len, h);
	case VIA_WIRE_DISCONNECT:
	case VIA_WIRE_DISCONNECT_ACK:
	case VIA_WIRE_RESET:
		return parse_end(w, len, h);
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
	case VIA_WIRE_CANCEL:
		return parse_answer(w, len, h);
	case VIA_WIRE_CHALLENGE:
		return parse_fixed(len, h, VIA_WIRE_HELLO_LEN, true);
	case VIA_WIRE_REQUEST:
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_REQUEST:
	case VIA_WIRE_PEER_ACCEPT:
		return parse_fixed(len, h, VIA_WIRE_CONN_LEN, true);
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
		return parse_fixed(len, h, VIA_WIRE_HEARTBEAT_LEN, false);
	case VIA_WIRE_ACKS:
		return parse_acks(w, len, h);
	case VIA_WIRE_LIST:
		return parse_list(w, len, h);
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		if (h->cookie)
			return VIA_WIRE_BAD_FIELD;
		return parse_fixed(len, h, VIA_WIRE_NAME_LEN, false);
	default:
		return VIA_WIRE_BAD_TYPE;
	}
}

static enum via_wire_error parse_type(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	enum via_wire_error err = parse_body(w, len, h);

	if (err)
		return err;
	return good_dst(h) && !(h->flags & ~good_flags(h->type)) ?
	       VIA_WIRE_OK : VIA_WIRE_BAD_FIELD;
}

/* As if the seal were not there, but for where the payload begins. */
static enum via_wire_error parse_sealed(const struct via_wire *w, u32 len,
					struct via_frame_hdr *h)
{
	bool auth = h->flags & VIA_WIRE_AUTH;
	u32 room = via_wire_seal_len(h->flags);
	const struct via_wire_seal *seal;
	enum via_wire_error err;

	if (auth && h->flags & VIA_WIRE_SUM)
		return VIA_WIRE_BAD_FIELD;
	if (len < sizeof(*w) + room)
		return VIA_WIRE_BAD_LENGTH;
	err = parse_type(w, len - room, h);
	if (err)
		return err;
	seal = behind(w, h->hdr_len);
	h->seal = auth ? 0 : be32_to_cpu(seal->crc);
	h->hdr_len += room;
	return VIA_WIRE_OK;
}

/* Out of line: SEND, which most frames are, needs no register saved for it. */
static noinline enum via_wire_error parse_other(const struct via_wire *w,
						u32 len,
						struct via_frame_hdr *h)
{
	enum via_wire_error err;

	if (h->flags & VIA_WIRE_SEALS)
		return parse_sealed(w, len, h);
	err = parse_type(w, len, h);
	return !err && via_wire_always_sealed(h->type) ? VIA_WIRE_BAD_FIELD :
							 err;
}

enum via_wire_error via_wire_parse(const void *p, u32 len,
				   struct via_frame_hdr *h)
{
	const struct via_wire *w = p;

	if (unlikely(len < sizeof(*w)))
		return VIA_WIRE_BAD_LENGTH;
	h->type = w->type;
	if (unlikely(w->version != VIA_WIRE_VERSION || !h->type))
		return h->type == VIA_WIRE_VERSIONS ? parse_version(p, h) :
						      VIA_WIRE_BAD_VERSION;
	h->flags = w->flags;
	h->marks = w->marks;
	h->paid = false;
	h->dst = be32_to_cpu(w->dst);
	h->cookie = be64_to_cpu(w->cookie);
	if (unlikely((h->flags & ~VIA_WIRE_FLAGS) ||
		     (h->marks & ~VIA_WIRE_MARKS)))
		return VIA_WIRE_BAD_FIELD;
	if (likely(h->type == VIA_WIRE_SEND && h->dst &&
		   !(h->flags & (VIA_WIRE_SEALS | VIA_WIRE_DSACK))))
		return parse_send(w, len, h);
	return parse_other(w, len, h);
}

enum via_wire_error via_wire_parse_hello(const void *p,
					 struct via_hello_hdr *e)
{
	const struct via_wire_hello *w = behind(p, sizeof(struct via_wire));

	e->epoch = be64_to_cpu(w->epoch);
	e->token = be64_to_cpu(w->token);
	e->frames = be32_to_cpu(w->frames);
	e->mtu = be32_to_cpu(w->mtu);
	e->nonce = be64_to_cpu(w->nonce);
	if (!e->epoch || !e->frames || e->mtu < VIA_WIRE_MTU_MIN ||
	    e->mtu > VIA_WIRE_MTU_MAX)
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

static enum via_wire_error parse_addrs(const struct via_wire_conn *w,
				       struct via_conn_hdr *c)
{
	c->client_host_len = w->client.host_len;
	c->client_disc_len = w->client.disc_len;
	c->server_host_len = w->server.host_len;
	c->server_disc_len = w->server.disc_len;
	if (c->client_host_len > VIA_WIRE_HOST_MAX ||
	    c->client_disc_len > VIA_WIRE_DISC_MAX ||
	    c->server_host_len > VIA_WIRE_HOST_MAX ||
	    c->server_disc_len > VIA_WIRE_DISC_MAX)
		return VIA_WIRE_BAD_LENGTH;
	c->client_host = w->client.host;
	c->client_disc = w->client.disc;
	c->server_host = w->server.host;
	c->server_disc = w->server.disc;
	return w->client.zero || w->server.zero ? VIA_WIRE_BAD_FIELD :
						  VIA_WIRE_OK;
}

enum via_wire_error via_wire_parse_conn(const void *p, struct via_conn_hdr *c)
{
	const struct via_wire_conn *w = behind(p, VIA_WIRE_HELLO_LEN);
	const struct via_wire *head = p;
	bool asks = via_wire_asks(head->type);
	enum via_wire_error err;

	err = via_wire_parse_hello(p, &c->hello);
	if (err)
		return err;
	c->vi = be32_to_cpu(w->vi);
	c->to = be32_to_cpu(w->to);
	c->sender_cookie = be64_to_cpu(w->sender_cookie);
	c->first_seq = be32_to_cpu(w->first_seq);
	c->reliability = be32_to_cpu(w->reliability);
	c->max_transfer = be32_to_cpu(w->max_transfer);
	c->rights = be32_to_cpu(w->rights);
	c->timeout_ms = be32_to_cpu(w->timeout_ms);
	c->options = be32_to_cpu(w->options);
	err = parse_addrs(w, c);
	if (err)
		return err;
	/* A cookie is never 0: that is how an unconnected VI is marked. */
	if (!c->vi || !c->to != asks || !c->sender_cookie ||
	    c->options & ~VIA_WIRE_OPTIONS)
		return VIA_WIRE_BAD_FIELD;
	/* The header of a request has its sender's id and cookie. */
	if (asks && (w->vi != head->dst || w->sender_cookie != head->cookie))
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

enum via_wire_error via_wire_parse_heartbeat(const void *p, struct via_heartbeat_hdr *b)
{
	const struct via_wire_heartbeat *w = behind(p, sizeof(struct via_wire));

	b->epoch = be64_to_cpu(w->epoch);
	b->token = be64_to_cpu(w->token);
	b->time = be64_to_cpu(w->time);
	b->connections = be32_to_cpu(w->connections);
	b->digest = be32_to_cpu(w->digest);
	return b->epoch ? VIA_WIRE_OK : VIA_WIRE_BAD_FIELD;
}

enum via_wire_error via_wire_parse_list(const void *p, struct via_list_hdr *l)
{
	const struct via_wire_list *w = behind(p, sizeof(struct via_wire));
	u64 cookie, least;
	u32 i;

	l->count = be16_to_cpu(w->count);
	l->low = be64_to_cpu(w->low);
	l->high = be64_to_cpu(w->high);
	l->at = (const void *)(w + 1);
	if (!l->low || !all_zero(w->zero, sizeof(w->zero)))
		return VIA_WIRE_BAD_FIELD;
	least = l->low;
	for (i = 0; i < l->count; i++) {
		cookie = be64_to_cpu(l->at[i].cookie);
		/* After the last cookie that there can be, least is 0. */
		if (!least || cookie < least || cookie > l->high)
			return VIA_WIRE_BAD_FIELD;
		least = cookie + 1;
	}
	return l->low > l->high ? VIA_WIRE_BAD_FIELD : VIA_WIRE_OK;
}

/* Eight bytes, each from 0x21 to 0x7e: what adds up or falls short is bit 7. */
static bool all_print(const u8 *p)
{
	const u64 ones = 0x0101010101010101ull, high = 0x80 * ones;
	u64 x;

	memcpy(&x, p, sizeof(x));
	return !((x | (x + ones)) & high) &&
	       (((x | high) - 0x21 * ones) & high) == high;
}

enum via_wire_error via_wire_parse_name(const void *p, struct via_name_hdr *n)
{
	const struct via_wire_name *w = behind(p, sizeof(struct via_wire));
	u32 i, len = w->name_len;

	if (len > VIA_WIRE_NAME_MAX)
		return VIA_WIRE_BAD_LENGTH;
	if (!all_zero(w->zero, sizeof(w->zero)))
		return VIA_WIRE_BAD_FIELD;
	/* Programs print it on terminals: no control characters. */
	for (i = 0; i + 8 <= len; i += 8)
		if (!all_print(w->name + i))
			return VIA_WIRE_BAD_FIELD;
	for (; i < len; i++)
		if (w->name[i] <= ' ' || w->name[i] > '~')
			return VIA_WIRE_BAD_FIELD;
	memcpy(n->name, w->name, len);
	n->name[len] = '\0';
	n->nonce = be32_to_cpu(w->nonce);
	return VIA_WIRE_OK;
}

void via_wire_get_ranges(const struct via_wire_range *w, u32 n,
			 struct via_range *range)
{
	u32 i;

	for (i = 0; i < n; i++) {
		range[i].start = be16_to_cpu(w[i].start);
		range[i].count = be16_to_cpu(w[i].count);
	}
}

void via_wire_put_ranges(struct via_wire_range *w, u32 n,
			 const struct via_range *range)
{
	u32 i;

	for (i = 0; i < n; i++) {
		w[i].start = cpu_to_be16(range[i].start);
		w[i].count = cpu_to_be16(range[i].count);
	}
}
