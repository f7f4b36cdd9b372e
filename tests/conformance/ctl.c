// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ctl.h"
#include "harness.h"
#include "nic.h"
#include <stdio.h>
#include <string.h>

/* Cells, each a descriptor and a message: two to receive, one to send. */
#define CELL		1024u
#define CELLS		3u
#define SEND_CELL	2u

_Static_assert(sizeof(struct ctl_msg) <= CELL - 64, "a message fits its cell");

static VIP_DESCRIPTOR *cell(struct ctl *c, unsigned int i)
{
	VIP_DESCRIPTOR *d = (void *)(c->mem + i * CELL);

	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = sizeof(struct ctl_msg);
	d->DS[0].Local.Data.Address = d + 1;
	d->DS[0].Local.Handle = c->mem_h;
	d->DS[0].Local.Length = sizeof(struct ctl_msg);
	return d;
}

/* The end of a session is no news. */
static void quiet(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	(void)e;
}

static VIP_RETURN ctl_open(struct ctl *c, const char *device)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, 4096, NULL,
				NULL, VIP_FALSE, VIP_FALSE };
	unsigned int i;
	VIP_RETURN rc;

	c->sending = false;
	rc = VipOpenNic(device, &c->nic);
	if (rc == VIP_SUCCESS)
		rc = VipQueryNic(c->nic, &c->attr);
	if (rc == VIP_SUCCESS)
		rc = VipErrorCallback(c->nic, NULL, quiet);
	if (rc != VIP_SUCCESS)
		return rc;
	c->mem = pages(CELLS * CELL);
	if (!c->mem)
		return VIP_ERROR_RESOURCE;
	if (!(c->attr.ReliabilityLevelSupport & a.ReliabilityLevel))
		a.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
	rc = VipRegisterMem(c->nic, c->mem, CELLS * CELL, NULL, &c->mem_h);
	if (rc == VIP_SUCCESS)
		rc = VipCreateVi(c->nic, &a, NULL, NULL, &c->vi);
	for (i = 0; rc == VIP_SUCCESS && i < SEND_CELL; i++)
		rc = VipPostRecv(c->vi, cell(c, i), c->mem_h);
	return rc;
}

VIP_RETURN ctl_connect(struct ctl *c, const char *device, const uint8_t *host,
		       unsigned int host_len, const char *disc,
		       unsigned int timeout_ms)
{
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	uint64_t end = now_ms() + timeout_ms;
	VIP_RETURN rc;

	rc = ctl_open(c, device);
	if (rc != VIP_SUCCESS)
		return rc;
	if (!host) {
		host = c->attr.LocalNicAddress;
		host_len = c->attr.NicAddressLen;
	}
	net_address(&local, c->attr.LocalNicAddress, c->attr.NicAddressLen,
		    disc, strlen(disc));
	net_address(&remote, host, host_len, disc, strlen(disc));
	for (;;) {
		rc = VipConnectRequest(c->vi, &local.a, &remote.a, 1000,
				       &theirs);
		if ((rc != VIP_NO_MATCH && rc != VIP_TIMEOUT) ||
		    now_ms() > end)
			return rc;
		/* The peer of the group before is still being buried. */
		if (rc == VIP_NO_MATCH)
			pause_ms(2);
	}
}

VIP_RETURN ctl_serve(struct ctl *c, const char *device, const char *disc)
{
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;
	VIP_RETURN rc;

	rc = ctl_open(c, device);
	if (rc != VIP_SUCCESS)
		return rc;
	net_address(&local, c->attr.LocalNicAddress, c->attr.NicAddressLen,
		    disc, strlen(disc));
	do {
		rc = VipConnectWait(c->nic, &local.a, VIP_INFINITE, &remote.a,
				    &theirs, &conn);
		if (rc == VIP_SUCCESS)
			rc = VipConnectAccept(conn, c->vi);
		/* A client that gave up is no reason to stop serving. */
	} while (rc == VIP_TIMEOUT);
	return rc;
}

bool ctl_send(struct ctl *c, const struct ctl_msg *m)
{
	VIP_DESCRIPTOR *d;

	/*
	 * Collected here, not when it was posted: the answer says sooner
	 * that it arrived, and that costs no sleep.
	 */
	if (c->sending && VipSendWait(c->vi, 20000, &d) != VIP_SUCCESS)
		return false;
	d = cell(c, SEND_CELL);
	memcpy(d + 1, m, sizeof(*m));
	c->sending = VipPostSend(c->vi, d, c->mem_h) == VIP_SUCCESS;
	return c->sending;
}

bool ctl_recv(struct ctl *c, struct ctl_msg *m, VIP_ULONG timeout_ms)
{
	VIP_DESCRIPTOR *d = NULL;

	if (VipRecvWait(c->vi, timeout_ms, &d) != VIP_SUCCESS ||
	    d->CS.Length != sizeof(*m))
		return false;
	memcpy(m, d + 1, sizeof(*m));
	d = cell(c, ((uint8_t *)d - c->mem) / CELL);
	return m->magic == CTL_MAGIC &&
	       VipPostRecv(c->vi, d, c->mem_h) == VIP_SUCCESS;
}
