// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Taking frames apart: the only place where bytes off the wire are parsed. */

#include "wire.h"

static enum via_wire_error parse_data(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	const struct via_wire_data *d = (const void *)(w + 1);

	if (unlikely(len < h->hdr_len || h->len > len - h->hdr_len))
		return VIA_WIRE_BAD_LENGTH;
	h->msg_len = be32_to_cpu(d->msg_len);
	h->offset = be32_to_cpu(d->offset);
	h->immediate = be32_to_cpu(d->immediate);
	if (unlikely(h->offset > h->msg_len ||
		     h->len > h->msg_len - h->offset))
		return VIA_WIRE_BAD_LENGTH;
	/* Only an empty message has an empty frame. */
	if (unlikely(!h->len && h->msg_len))
		return VIA_WIRE_BAD_LENGTH;
	return VIA_WIRE_OK;
}

static enum via_wire_error parse_write(const struct via_wire *w, u32 len,
				       struct via_frame_hdr *h)
{
	const struct via_wire_rdma *r =
		(const void *)((const u8 *)w + VIA_WIRE_SEND_HDR);
	enum via_wire_error err;

	h->hdr_len = VIA_WIRE_WRITE_HDR;
	err = parse_data(w, len, h);
	if (unlikely(err))
		return err;
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
	const struct via_wire_rdma *r =
		(const void *)((const u8 *)w + VIA_WIRE_SEND_HDR);

	h->hdr_len = VIA_WIRE_WRITE_HDR;
	if (len < VIA_WIRE_WRITE_HDR || h->len)
		return VIA_WIRE_BAD_LENGTH;
	if (d->offset || d->immediate || h->flags & VIA_WIRE_IMMEDIATE)
		return VIA_WIRE_BAD_FIELD;
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
	h->hdr_len = VIA_WIRE_SEND_HDR;
	if (h->flags & VIA_WIRE_IMMEDIATE)
		return VIA_WIRE_BAD_FIELD;
	return parse_data(w, len, h);
}

static enum via_wire_error parse_ack(const struct via_wire *w, u32 len,
				     struct via_frame_hdr *h)
{
	const struct via_wire_ack *a = (const void *)(w + 1);

	if (len < VIA_WIRE_ACK_LEN || h->len)
		return VIA_WIRE_BAD_LENGTH;
	h->hdr_len = VIA_WIRE_ACK_LEN;
	h->reason = be32_to_cpu(a->reason);
	h->sack = be64_to_cpu(a->sack);
	return VIA_WIRE_OK;
}

static enum via_wire_error parse_type(const struct via_wire *w, u32 len,
				      struct via_frame_hdr *h)
{
	switch (h->type) {
	case VIA_WIRE_SEND:
		h->hdr_len = VIA_WIRE_SEND_HDR;
		return parse_data(w, len, h);
	case VIA_WIRE_WRITE:
		return parse_write(w, len, h);
	case VIA_WIRE_READ:
		return parse_read(w, len, h);
	case VIA_WIRE_READ_DATA:
		return parse_read_data(w, len, h);
	case VIA_WIRE_ACK:
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_DISCONNECT:
	case VIA_WIRE_RESET:
	case VIA_WIRE_WAIT:
	case VIA_WIRE_NO_MATCH:
	case VIA_WIRE_REJECT:
	case VIA_WIRE_CONFIRM:
	case VIA_WIRE_CANCEL:
		return parse_ack(w, len, h);
	case VIA_WIRE_REQUEST:
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_REQUEST:
	case VIA_WIRE_PEER_ACCEPT:
		if (len < VIA_WIRE_CONN_LEN || h->len)
			return VIA_WIRE_BAD_LENGTH;
		h->hdr_len = VIA_WIRE_CONN_LEN;
		return VIA_WIRE_OK;
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		if (len < VIA_WIRE_NAME_LEN || h->len)
			return VIA_WIRE_BAD_LENGTH;
		h->hdr_len = VIA_WIRE_NAME_LEN;
		return VIA_WIRE_OK;
	default:
		return VIA_WIRE_BAD_TYPE;
	}
}

/* As if the seal were not there, but for where the payload begins. */
static enum via_wire_error parse_sealed(const struct via_wire *w, u32 len,
					struct via_frame_hdr *h)
{
	const struct via_wire_seal *seal;
	enum via_wire_error err;

	if (len < sizeof(*w) + VIA_WIRE_SEAL_LEN)
		return VIA_WIRE_BAD_LENGTH;
	err = parse_type(w, len - VIA_WIRE_SEAL_LEN, h);
	if (err)
		return err;
	seal = (const void *)((const u8 *)w + h->hdr_len);
	h->seal = be32_to_cpu(seal->crc);
	h->hdr_len += VIA_WIRE_SEAL_LEN;
	return VIA_WIRE_OK;
}

enum via_wire_error via_wire_parse(const void *p, u32 len,
				   struct via_frame_hdr *h)
{
	const struct via_wire *w = p;
	enum via_wire_error err;

	if (unlikely(len < sizeof(*w)))
		return VIA_WIRE_BAD_LENGTH;
	if (unlikely(w->version != VIA_WIRE_VERSION))
		return VIA_WIRE_BAD_VERSION;
	h->type = w->type;
	h->flags = w->flags;
	h->dst = be16_to_cpu(w->dst);
	h->len = be16_to_cpu(w->len);
	h->cookie = be32_to_cpu(w->cookie);
	h->seq = be32_to_cpu(w->seq);
	h->ack = be32_to_cpu(w->ack);
	if (unlikely((h->flags & ~VIA_WIRE_FLAGS) || w->reserved))
		return VIA_WIRE_BAD_FIELD;

	if (unlikely(h->flags & VIA_WIRE_SEALED))
		return parse_sealed(w, len, h);
	if (likely(h->type == VIA_WIRE_SEND)) {
		h->hdr_len = VIA_WIRE_SEND_HDR;
		return parse_data(w, len, h);
	}
	err = parse_type(w, len, h);
	return !err && via_wire_always_sealed(h->type) ? VIA_WIRE_BAD_FIELD :
							 err;
}

enum via_wire_error via_wire_parse_conn(const void *p, struct via_conn_hdr *c)
{
	const struct via_wire_conn *w =
		(const void *)((const u8 *)p + sizeof(struct via_wire));

	c->vi = be16_to_cpu(w->vi);
	c->frames = be16_to_cpu(w->frames);
	c->sender_cookie = be32_to_cpu(w->sender_cookie);
	c->first_seq = be32_to_cpu(w->first_seq);
	c->mtu = be32_to_cpu(w->mtu);
	c->reliability = be32_to_cpu(w->reliability);
	c->max_transfer = be32_to_cpu(w->max_transfer);
	c->rights = be32_to_cpu(w->rights);
	c->timeout_ms = be32_to_cpu(w->timeout_ms);
	c->options = be32_to_cpu(w->options);
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
	/* A cookie is never 0: that is how an unconnected VI is marked. */
	if (c->mtu < VIA_WIRE_MTU_MIN || c->mtu > VIA_WIRE_MTU_MAX ||
	    !c->frames || !c->sender_cookie || c->options & ~VIA_WIRE_O_SEALED)
		return VIA_WIRE_BAD_FIELD;
	return VIA_WIRE_OK;
}

enum via_wire_error via_wire_parse_name(const void *p, struct via_name_hdr *n)
{
	const struct via_wire_name *w =
		(const void *)((const u8 *)p + sizeof(struct via_wire));
	u32 i, len = w->name_len;

	if (len > VIA_WIRE_NAME_MAX)
		return VIA_WIRE_BAD_LENGTH;
	if (w->reserved[0] || w->reserved[1] || w->reserved[2])
		return VIA_WIRE_BAD_FIELD;
	/* Programs print it on terminals: no control characters. */
	for (i = 0; i < len; i++) {
		if (w->name[i] <= ' ' || w->name[i] > '~')
			return VIA_WIRE_BAD_FIELD;
		n->name[i] = w->name[i];
	}
	n->name[len] = '\0';
	n->nonce = be32_to_cpu(w->nonce);
	return VIA_WIRE_OK;
}
