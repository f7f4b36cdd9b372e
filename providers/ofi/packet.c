// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Messages: packets of the engine, credits, and the end of a peer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ofi.h"

#define OWNER(p)	((uint64_t)(p)->index + 1)

static struct ofi_peer *by_index(struct ofi_nic *n, uint32_t index)
{
	return index < n->peers ? n->peer[index] : NULL;
}

void ofi_due(struct ofi_peer *p)
{
	if (p->due)
		return;
	p->due = 1;
	p->next_due = p->on->due;
	p->on->due = p;
}

static void fill_head(struct ofi_peer *p, struct ofi_head *head,
		      enum ofi_type type)
{
	memset(head, 0, sizeof(*head));
	head->nonce = p->their_nonce;
	head->peer = p->theirs;
	head->credits = p->owed;
	head->type = (uint8_t)type;
}

/*
 * The result of fab_send(). EAGAIN is no news while the connection is made;
 * after OFI_STUCK_NS it is a peer that cannot be reached.
 */
static int note_sent(struct ofi_peer *p, int err)
{
	uint64_t now;

	if (!err) {
		p->owed = 0;
		p->stuck = 0;
		return 0;
	}
	ofi_due(p);
	if (err != -EAGAIN) {
		ofi_lose(p, err);
		return err;
	}
	now = ofi_now();
	if (!p->stuck)
		p->stuck = now;
	if (now - p->stuck <= OFI_STUCK_NS)
		return -EAGAIN;
	ofi_lose(p, -ETIMEDOUT);
	return -ETIMEDOUT;
}

int ofi_control(struct ofi_peer *p, enum ofi_type type)
{
	struct ofi_head head;
	struct iovec v = { &head, sizeof(head) };

	fill_head(p, &head, type);
	return note_sent(p, fab_send(&p->on->fab, p->to, &v, 1, OWNER(p)));
}

static int put_packet(struct ofi_peer *p, const struct eng_header *h,
		      const struct iovec *payload, unsigned int n)
{
	struct ofi_head head;
	struct iovec v[2 + ENG_SRC_SEGS];
	int err;

	fill_head(p, &head, OFI_PACKET);
	v[0].iov_base = &head;
	v[0].iov_len = sizeof(head);
	v[1].iov_base = (void *)h;
	v[1].iov_len = sizeof(*h);
	if (n)
		memcpy(v + 2, payload, n * sizeof(*payload));
	err = note_sent(p, fab_send(&p->on->fab, p->to, v, n + 2, OWNER(p)));
	if (!err)
		p->credits--;
	return err;
}

int ofi_xmit(struct eng_peer *peer, const struct eng_header *h,
	     const struct iovec *payload, unsigned int n)
{
	struct ofi_peer *p = ofi_peer_of(peer);
	int err = -EAGAIN;

	if (n > ENG_SRC_SEGS)
		return -EMSGSIZE;
	/* The engine hears of a lost peer soon, and of a closed guard never. */
	if (p->state == OFI_UP && p->heard && p->credits &&
	    ofi_enter(p->on)) {
		err = put_packet(p, h, payload, n);
		ofi_leave(p->on);
	}
	if (err)
		p->wants_room = 1;
	return err ? -EAGAIN : 0;
}

static void take_packet(struct ofi_peer *p, const uint8_t *data, size_t len)
{
	struct eng_header h;

	if (len < sizeof(h) || len > sizeof(h) + OFI_EAGER) {
		ofi_lose(p, -EPROTO);
		return;
	}
	memcpy(&h, data, sizeof(h));
	eng_rx(p->eng, &h, data + sizeof(h), len - sizeof(h));
}

static void packet_came(struct ofi_peer *p, const uint8_t *data, size_t len)
{
	/* More than it may: it would use buffers that are for others. */
	if (p->owed == p->grant) {
		ofi_lose(p, -EPROTO);
		return;
	}
	if (++p->owed >= p->grant / 2)
		ofi_due(p);
	take_packet(p, data, len);
}

/* All credits that are out come back, and no more. */
static int credits_came(struct ofi_peer *p, uint16_t credits)
{
	if (!credits)
		return 0;
	if (credits > (uint16_t)(p->their_grant - p->credits)) {
		ofi_lose(p, -EPROTO);
		return -1;
	}
	p->credits += credits;
	if (p->wants_room)
		ofi_due(p);
	return 0;
}

/*
 * From any host that reaches the endpoint: nothing is believed of a message that
 * has not the nonce that only the peer knows.
 */
void ofi_message(void *nic, const uint8_t *data, size_t len)
{
	struct ofi_nic *n = nic;
	struct ofi_head head;
	struct ofi_peer *p;

	if (len < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	p = by_index(n, head.peer);
	if (!p || p->nonce != head.nonce || p->state == OFI_GONE)
		return;
	/* A peer sends nothing before it has our hello, nor we before its. */
	if (p->state == OFI_HANDSHAKE) {
		ofi_lose(p, -EPROTO);
		return;
	}
	if (!p->heard) {
		p->heard = 1;
		ofi_due(p);
	}
	if (credits_came(p, head.credits))
		return;
	switch (head.type) {
	case OFI_PACKET:
		/* Packets that came before the end are still delivered. */
		if (!p->disconnected)
			packet_came(p, data + sizeof(head),
				    len - sizeof(head));
		break;
	case OFI_CREDIT:
		break;
	case OFI_DISCONNECT:
		p->disconnected = 1;
		p->send_ack = 1;
		ofi_due(p);
		break;
	case OFI_DISCONNECT_ACK:
		p->disconnect_acked = 1;
		break;
	default:
		ofi_lose(p, -EPROTO);
	}
}

void ofi_send_failed(void *nic, uint64_t owner, int err)
{
	struct ofi_peer *p = by_index(nic, (uint32_t)(owner - 1));

	if (p)
		ofi_lose(p, err);
}

static void look_after(struct ofi_peer *p, uint64_t now)
{
	if (p->state == OFI_UP && p->hail && !ofi_control(p, OFI_CREDIT))
		p->hail = 0;
	if (p->state == OFI_UP && p->heard) {
		if (p->send_ack && !ofi_control(p, OFI_DISCONNECT_ACK))
			p->send_ack = 0;
		if (p->owed && p->owed >= p->grant / 2)
			ofi_control(p, OFI_CREDIT);
	}
	if (p->state == OFI_UP && p->wants_room && p->heard && p->credits) {
		p->wants_room = 0;
		eng_room(p->eng);
	}
	if (p->state == OFI_DISCONNECTING)
		ofi_disconnecting(p, now);
}

/*
 * Each peer that was due when this began gets one look. The list is taken
 * whole: peers that are due again are for the next time. None of them is
 * released meanwhile: that is the engine's to do, after progress.
 */
void ofi_chores(struct ofi_nic *n)
{
	struct ofi_peer *p, *next;
	uint64_t now;

	if (!n->due)
		return;
	now = ofi_now();
	p = n->due;
	n->due = NULL;
	for (; p; p = next) {
		next = p->next_due;
		p->due = 0;
		look_after(p, now);
	}
}
