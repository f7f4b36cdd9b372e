// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>
#include <vipl_ext.h>

#include "chan.h"
#include "msg.h"
#include "progress.h"

static uint32_t pow2_up(uint32_t v)
{
	uint32_t p = 1;

	while (p < v)
		p *= 2;
	return p;
}

static void init_descriptors(struct chan *ch)
{
	const struct chan_config *c = &ch->cfg;
	uint32_t step = c->share ? 0 : c->buf_len;

	for (uint32_t i = 0; i < c->rx; i++) {
		VIP_DESCRIPTOR *d = &ch->rd[i];

		d->CS.SegCount = 1;
		d->DS[0].Local.Data.Address = ch->rbuf + (size_t)i * step;
		d->DS[0].Local.Handle = ch->mem.handle;
		d->DS[0].Local.Length = c->buf_len;
	}
}

void chan_init(struct chan *ch, struct nic *nic, const struct chan_config *c)
{
	VIP_VI_ATTRIBUTES attr = {
		.ReliabilityLevel = c->level,
		.MaxTransferSize = c->max_transfer,
		.EnableRdmaWrite = VIP_TRUE,
		.EnableRdmaRead = (nic->attr.RDMAReadSupport & c->level) != 0,
	};
	uint32_t limit = nic->attr.MaxDescriptorsPerQueue;
	size_t descs, sbytes, rbytes;
	VIP_RETURN rc;

	memset(ch, 0, sizeof(*ch));
	ch->nic = nic;
	ch->cfg = *c;
	/* Powers of two: the index of a descriptor is a mask away. */
	ch->cfg.tx = pow2_up(c->tx);
	ch->cfg.rx = pow2_up(c->rx);
	if (ch->cfg.tx > limit || ch->cfg.rx > limit)
		die("-t: %s has at most %u descriptors a queue", nic->dev,
		    limit);
	nic_need_level(nic, c->level);
	rc = VipCreateVi(nic->h, &attr, c->cq, c->cq, &ch->vi);
	if (rc != VIP_SUCCESS)
		die("cannot create a VI on %s: %s", nic->dev, vip_str(rc));

	c = &ch->cfg;
	descs = (size_t)(c->tx + c->rx) * sizeof(VIP_DESCRIPTOR);
	sbytes = (size_t)c->buf_len * (c->share ? 1 : c->tx);
	rbytes = (size_t)c->buf_len * (c->share ? 1 : c->rx);
	/* Data on pages of its own, as a program's would be. */
	descs = (descs + 4095) & ~(size_t)4095;
	sbytes = (sbytes + 4095) & ~(size_t)4095;
	region_alloc(nic, &ch->mem, descs + sbytes + rbytes, true);
	ch->sd = (VIP_DESCRIPTOR *)ch->mem.p;
	ch->rd = ch->sd + c->tx;
	ch->sbuf = ch->mem.p + descs;
	ch->rbuf = ch->sbuf + sbytes;
	init_descriptors(ch);
}

void chan_fini(struct chan *ch)
{
	VIP_DESCRIPTOR *d;

	VipDisconnect(ch->vi);
	do
		VipSendDone(ch->vi, &d);
	while (d);
	do
		VipRecvDone(ch->vi, &d);
	while (d);
	VipDestroyVi(ch->vi);
	region_free(ch->nic, &ch->mem);
}

void chan_prepare(struct chan *ch, enum test_op op, uint32_t size,
		  const struct remote_buf *to)
{
	/* A completion not yet collected would be written over this. */
	while (chan_inflight(ch))
		chan_reap_wait(ch);
	for (uint32_t i = 0; i < ch->cfg.tx; i++) {
		VIP_DESCRIPTOR *d = &ch->sd[i];
		VIP_DATA_SEGMENT *data = &d->DS[op != OP_SEND].Local;

		memset(d, 0, sizeof(*d));
		d->CS.SegCount = (op != OP_SEND) + (size != 0);
		d->CS.Length = size;
		if (op != OP_SEND) {
			d->CS.Control = op == OP_READ ?
					VIP_CONTROL_OP_RDMAREAD :
					VIP_CONTROL_OP_RDMAWRITE;
			d->DS[0].Remote.Data.AddressBits = to->addr;
			d->DS[0].Remote.Handle = to->handle;
		}
		if (op == OP_WRITE_IMM)
			d->CS.Control |= VIP_CONTROL_IMMEDIATE;
		if (size) {
			data->Data.Address = ch->sbuf;
			data->Handle = ch->mem.handle;
			data->Length = size;
		}
	}
}

void chan_fill_recvs(struct chan *ch)
{
	while (ch->rposted - ch->rdone < ch->cfg.rx)
		chan_post_recv(ch);
}

void chan_fail(const struct chan *ch, const char *what, VIP_RETURN rc,
	       const VIP_DESCRIPTOR *d)
{
	VIP_VI_STATE state = VIP_STATE_IDLE;
	VIP_VI_ATTRIBUTES attr;
	VIP_BOOLEAN se, re;
	const char *lost;
	char text[128];

	VipQueryVi(ch->vi, &state, &attr, &se, &re);
	lost = state == VIP_STATE_ERROR ? ", the connection is lost" : "";
	if (d)
		die("%s: %s, status 0x%x (%s)%s", what, vip_str(rc),
		    d->CS.Status,
		    VipExtStatusText(d->CS.Status, text, sizeof(text)), lost);
	die("%s: %s%s", what, vip_str(rc), lost);
}

void chan_send_msg(struct chan *ch, const void *data, uint32_t len,
		   bool has_imm, uint32_t imm)
{
	VIP_DESCRIPTOR *d, saved;
	unsigned char *buf = ch->sbuf;
	uint32_t slot;

	if (chan_inflight(ch) == ch->cfg.tx)
		chan_reap_wait(ch);
	d = chan_next_send(ch);
	slot = ch->sposted & (ch->cfg.tx - 1);
	saved = *d;
	if (!ch->cfg.share)
		buf += (size_t)slot * ch->cfg.buf_len;
	memset(d, 0, sizeof(*d));
	d->CS.Control = has_imm ? VIP_CONTROL_IMMEDIATE : 0;
	d->CS.ImmediateData = imm;
	d->CS.Length = len;
	if (len) {
		memcpy(buf, data, len);
		d->CS.SegCount = 1;
		d->DS[0].Local.Data.Address = buf;
		d->DS[0].Local.Handle = ch->mem.handle;
		d->DS[0].Local.Length = len;
	}
	chan_post_send(ch);
	if (ch->cfg.share) {
		/* Prepared descriptors come back as they were. */
		while (chan_inflight(ch))
			chan_reap_wait(ch);
		*d = saved;
	}
}

VIP_DESCRIPTOR *chan_send_done(struct chan *ch)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	if (!chan_inflight(ch))
		return NULL;
	rc = VipSendDone(ch->vi, &d);
	if (rc == VIP_NOT_DONE)
		return NULL;
	if (rc != VIP_SUCCESS)
		chan_fail(ch, "send", rc, d);
	ch->sdone++;
	return d;
}

VIP_DESCRIPTOR *chan_recv_done(struct chan *ch)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc = VipRecvDone(ch->vi, &d);

	if (rc == VIP_NOT_DONE)
		return NULL;
	if (rc != VIP_SUCCESS)
		chan_fail(ch, "receive", rc, d);
	ch->rdone++;
	return d;
}

VIP_DESCRIPTOR *chan_recv_wait(struct chan *ch, uint32_t timeout_ms)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	progress_sleep();
	rc = VipRecvWait(ch->vi, timeout_ms, &d);
	progress_awake();
	if (rc == VIP_TIMEOUT)
		return NULL;
	if (rc != VIP_SUCCESS)
		chan_fail(ch, "receive", rc, d);
	ch->rdone++;
	return d;
}

int chan_wait_lost(struct chan *ch)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc = VipRecvWait(ch->vi, 10000, &d);

	if (rc != VIP_DESCRIPTOR_ERROR || !d)
		return -1;
	ch->rdone++;
	VipDisconnect(ch->vi);
	return 0;
}

void chan_reap_wait(struct chan *ch)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	progress_sleep();
	rc = VipSendWait(ch->vi, 20000, &d);
	progress_awake();
	if (rc != VIP_SUCCESS)
		chan_fail(ch, "send", rc, rc == VIP_TIMEOUT ? NULL : d);
	ch->sdone++;
	while (chan_send_done(ch))
		;
}

void chan_settle(struct chan *ch)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	while (chan_inflight(ch)) {
		rc = VipSendWait(ch->vi, 20000, &d);
		if (rc != VIP_SUCCESS && rc != VIP_DESCRIPTOR_ERROR)
			return;
		ch->sdone++;
	}
}
