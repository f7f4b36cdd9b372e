// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The control VI: messages of 64 bytes, VIA_CTL_DEPTH receives at each end.
 *
 * Every message tells how many came the other way so far, and so how many
 * receives are there again.  The last place is kept for a message that tells
 * just that.  An end owes one when half of the receives have been taken; so it
 * never happens that each end waits for the other's.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fab.h"

static VIP_RETURN post_rx(struct via_ctl *c, uint32_t i)
{
	VIP_DESCRIPTOR *d = &c->rx[i];

	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = sizeof(struct via_ctl_msg);
	d->DS[0].Local.Data.Address = &c->rx_msg[i];
	d->DS[0].Local.Handle = c->mem;
	d->DS[0].Local.Length = sizeof(struct via_ctl_msg);
	return VipPostRecv(c->vi.h, d, c->mem);
}

/* @mem: VIA_CTL_BYTES, registered, aligned to 64. */
int via_ctl_open(struct via_nic *nic, struct via_ctl *c, void *mem,
		 VIP_MEM_HANDLE handle, VIP_PROTECTION_HANDLE ptag,
		 uint32_t transfer)
{
	VIP_RETURN r;
	uint32_t i;

	_Static_assert(sizeof(VIP_DESCRIPTOR) == 64, "size of a descriptor");
	c->rx = mem;
	c->tx = c->rx + VIA_CTL_DEPTH;
	c->rx_msg = (void *)(c->tx + VIA_CTL_DEPTH);
	c->tx_msg = c->rx_msg + VIA_CTL_DEPTH;
	c->mem = handle;
	c->vi.kind = VIA_VI_CTL;
	r = via_vi_open(nic, &c->vi, ptag, transfer);
	for (i = 0; r == VIP_SUCCESS && i < VIA_CTL_DEPTH; i++)
		r = post_rx(c, i);
	return -via_err_of(r);
}

/* For a message other than one that only tells of receives. */
static bool via_ctl_room(const struct via_ctl *c)
{
	return c->sent - c->seen < VIA_CTL_DEPTH - 1 &&
	       c->sent - c->done < VIA_CTL_DEPTH;
}

bool via_ctl_owes(const struct via_ctl *c)
{
	return c->got - c->told >= VIA_CTL_DEPTH / 2;
}

/* Fills in m->seen.  Returns 0, or -FI_EAGAIN. */
int via_ctl_send(struct via_ctl *c, struct via_ctl_msg *m)
{
	bool room = via_ctl_room(c) ||
		    (m->type == VIA_CTL_CREDIT && via_ctl_owes(c) &&
		     c->sent - c->seen < VIA_CTL_DEPTH &&
		     c->sent - c->done < VIA_CTL_DEPTH);
	uint32_t i = c->sent % VIA_CTL_DEPTH;
	VIP_DESCRIPTOR *d = &c->tx[i];

	if (!room)
		return -FI_EAGAIN;
	m->seen = htonl(c->got);
	c->tx_msg[i] = *m;
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = sizeof(*m);
	d->DS[0].Local.Data.Address = &c->tx_msg[i];
	d->DS[0].Local.Handle = c->mem;
	d->DS[0].Local.Length = sizeof(*m);
	/* A VI that is not connected is about to fail, or to be. */
	if (VipPostSend(c->vi.h, d, c->mem) != VIP_SUCCESS)
		return -FI_EAGAIN;
	c->sent++;
	c->told = c->got;
	return 0;
}

/* Returns 1: one was sent, 0: none was, -1: the connection is broken. */
int via_ctl_sent(struct via_ctl *c)
{
	VIP_DESCRIPTOR *d = NULL;
	VIP_RETURN r = VipSendDone(c->vi.h, &d);

	if (!d)
		return 0;
	if (r != VIP_SUCCESS)
		return -1;
	c->done++;
	return 1;
}

/* The same for a message, in host order. */
int via_ctl_take(struct via_ctl *c, struct via_ctl_msg *m)
{
	VIP_DESCRIPTOR *d = NULL;
	VIP_RETURN r = VipRecvDone(c->vi.h, &d);
	uint32_t i;

	if (!d)
		return 0;
	if (r != VIP_SUCCESS || d->CS.Length != sizeof(*m))
		return -1;
	i = (uint32_t)(d - c->rx);
	*m = c->rx_msg[i];
	m->posted = ntohl(m->posted);
	m->seen = ntohl(m->seen);
	m->data = be64toh(m->data);
	if (m->len > sizeof(m->cm) || m->seen - c->seen > c->sent - c->seen)
		return -1;
	c->seen = m->seen;
	c->got++;
	return post_rx(c, i) == VIP_SUCCESS ? 1 : -1;
}
