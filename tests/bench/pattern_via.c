// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * VIA. A set of one VI waits on its queues; a set of several that blocks has
 * a completion queue for all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/chan.h"
#include "common/conn.h"
#include "common/msg.h"
#include "pattern.h"

#define MIN_TRANSFER	4096u
#define PATIENCE_MS	10000

struct vis {
	struct nic	nic;
	VIP_CQ_HANDLE	cq;		/* NULL: none */
	int		next;		/* where to look first */
	struct chan	ch[MAX_CONNS];
	/* Receives that the completion queue has told of. */
	uint32_t	told[MAX_CONNS];
	struct region	target[MAX_CONNS];
	struct remote_buf to[MAX_CONNS];
};

static void make_cq(struct vis *v, int conns)
{
	VIP_RETURN rc = VipCreateCQ(v->nic.h, conns * (TX_DEPTH + RX_DEPTH),
				    &v->cq);

	if (rc != VIP_SUCCESS)
		die("cannot create a completion queue on %s: %s", v->nic.dev,
		    vip_str(rc));
}

static void via_open(struct set *s, struct where *here)
{
	const struct ask *a = &s->ask;
	struct vis *v = xcalloc(1, sizeof(*v));
	struct chan_config c = {
		.level = a->level, .tx = TX_DEPTH, .rx = RX_DEPTH,
		.buf_len = a->size > a->answer ? a->size : a->answer,
	};

	s->own = v;
	s->lossy = a->level == VIP_SERVICE_UNRELIABLE;
	s->sent_is_there = !s->lossy;
	nic_open(&v->nic, *a->dev ? a->dev : NULL);
	if (v->nic.attr.NicAddressLen > sizeof(here->addr))
		die("the address of %s is too long", v->nic.dev);
	if (s->block && a->conns > 1)
		make_cq(v, a->conns);
	c.cq = v->cq;
	c.max_transfer = c.buf_len < MIN_TRANSFER ? MIN_TRANSFER : c.buf_len;
	for (int i = 0; i < a->conns; i++) {
		chan_init(&v->ch[i], &v->nic, &c);
		chan_fill_recvs(&v->ch[i]);
		region_alloc(&v->nic, &v->target[i], a->size, true);
		here[i].addr_len = v->nic.attr.NicAddressLen;
		memcpy(here[i].addr, v->nic.attr.LocalNicAddress,
		       here[i].addr_len);
		here[i].target = (uintptr_t)v->target[i].p;
		here[i].key = v->target[i].handle;
	}
}

static void via_join(struct set *s, const struct where *there)
{
	struct vis *v = s->own;

	for (int i = 0; i < s->ask.conns; i++) {
		union net_addr host;
		char disc[48];
		VIP_RETURN rc;

		snprintf(disc, sizeof(disc), "via_patterns.%08x.%d",
			 s->ask.cookie, i);
		memset(&host, 0, sizeof(host));
		net_addr_set(&host, there[i].addr, there[i].addr_len, "", 0);
		rc = s->host ? conn_request(&v->nic, v->ch[i].vi, &host, disc,
					    "", 0, PATIENCE_MS) :
			       conn_accept(&v->nic, disc, v->ch[i].vi,
					   PATIENCE_MS);
		if (rc != VIP_SUCCESS)
			die("connect on %s: %s", v->nic.dev, vip_str(rc));
		v->to[i].addr = there[i].target;
		v->to[i].handle = there[i].key;
	}
}

static void via_close(struct set *s)
{
	struct vis *v = s->own;

	for (int i = 0; i < s->ask.conns; i++) {
		chan_fini(&v->ch[i]);
		region_free(&v->nic, &v->target[i]);
	}
	if (v->cq)
		VipDestroyCQ(v->cq);
	nic_close(&v->nic);
	free(v);
}

static int index_of(const struct vis *v, VIP_VI_HANDLE vi)
{
	for (int i = 0; i < MAX_CONNS; i++)
		if (v->ch[i].vi == vi)
			return i;
	die("the completion queue tells of a VI that is none of ours");
}

/* Take one notice; false after ms. */
static bool take_notice(struct vis *v, int ms)
{
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN is_recv;
	VIP_RETURN rc = VipCQWait(v->cq, ms < 0 ? VIP_INFINITE : (VIP_ULONG)ms,
				  &vi, &is_recv);
	int i;

	if (rc == VIP_TIMEOUT)
		return false;
	if (rc != VIP_SUCCESS)
		die("VipCQWait: %s", vip_str(rc));
	i = index_of(v, vi);
	if (is_recv)
		v->told[i]++;
	else
		chan_send_done(&v->ch[i]);
	return true;
}

static bool via_sent(struct set *s, int i)
{
	struct chan *ch = &((struct vis *)s->own)->ch[i];

	while (chan_inflight(ch) && chan_send_done(ch))
		;
	return !chan_inflight(ch);
}

static void via_wait_sent(struct set *s, int i)
{
	struct vis *v = s->own;

	while (chan_inflight(&v->ch[i])) {
		if (v->cq)
			take_notice(v, -1);
		else
			chan_reap_wait(&v->ch[i]);
	}
}

/* One free descriptor is enough: what is under way is not waited for. */
static void make_room(struct set *s, int i)
{
	struct vis *v = s->own;
	struct chan *ch = &v->ch[i];

	while (chan_inflight(ch) == ch->cfg.tx) {
		if (!s->block)
			via_sent(s, i);
		else if (v->cq)
			take_notice(v, -1);
		else
			chan_reap_wait(ch);
	}
}

static VIP_DESCRIPTOR *next_send(struct set *s, int i, uint32_t len,
				 VIP_UINT16 segs)
{
	struct chan *ch = &((struct vis *)s->own)->ch[i];
	uint32_t slot = ch->sposted & (ch->cfg.tx - 1);
	VIP_DESCRIPTOR *d = &ch->sd[slot];
	VIP_DATA_SEGMENT *data = &d->DS[segs - 1].Local;

	make_room(s, i);
	memset(&d->CS, 0, sizeof(d->CS));
	d->CS.SegCount = segs;
	d->CS.Length = len;
	data->Data.Address = ch->sbuf + (size_t)slot * ch->cfg.buf_len;
	data->Handle = ch->mem.handle;
	data->Length = len;
	return d;
}

static void via_send(struct set *s, int i, uint32_t msg, uint32_t len)
{
	VIP_DESCRIPTOR *d = next_send(s, i, len, 1);

	memcpy(d->DS[0].Local.Data.Address, &msg, sizeof(msg));
	chan_post_send(&((struct vis *)s->own)->ch[i]);
}

static void via_write(struct set *s, int i, uint32_t len)
{
	struct vis *v = s->own;
	VIP_DESCRIPTOR *d = next_send(s, i, len, 2);

	d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
	d->DS[0].Remote.Data.AddressBits = v->to[i].addr;
	d->DS[0].Remote.Handle = v->to[i].handle;
	chan_post_send(&v->ch[i]);
}

static void take(struct chan *ch, const VIP_DESCRIPTOR *d, uint32_t *msg)
{
	memcpy(msg, chan_recv_buf(ch, d), sizeof(*msg));
	chan_post_recv(ch);
}

static int via_look(struct set *s, uint32_t *msg)
{
	struct vis *v = s->own;
	int n = s->ask.conns;

	for (int k = 0; k < n; k++) {
		int i = (v->next + k) % n;
		VIP_DESCRIPTOR *d = chan_recv_done(&v->ch[i]);

		if (d) {
			take(&v->ch[i], d, msg);
			v->next = (i + 1) % n;
			return i;
		}
	}
	return -1;
}

static int wait_cq(struct set *s, uint32_t *msg, int ms)
{
	struct vis *v = s->own;

	do {
		for (int k = 0; k < s->ask.conns; k++) {
			int i = (v->next + k) % s->ask.conns;
			VIP_DESCRIPTOR *d;

			if (!v->told[i])
				continue;
			v->told[i]--;
			d = chan_recv_done(&v->ch[i]);
			if (!d)
				die("a receive that was told of is not there");
			take(&v->ch[i], d, msg);
			v->next = (i + 1) % s->ask.conns;
			return i;
		}
	} while (take_notice(v, ms));
	return -1;
}

static int via_wait(struct set *s, uint32_t *msg, int ms)
{
	struct vis *v = s->own;
	VIP_DESCRIPTOR *d;

	if (v->cq)
		return wait_cq(s, msg, ms);
	d = chan_recv_wait(&v->ch[0], ms < 0 ? UINT32_MAX : (uint32_t)ms);
	if (!d)
		return -1;
	take(&v->ch[0], d, msg);
	return 0;
}

const struct set_ops via_ops = {
	.open = via_open, .join = via_join, .close = via_close,
	.send = via_send, .write = via_write, .look = via_look,
	.wait = via_wait, .sent = via_sent, .wait_sent = via_wait_sent,
};
