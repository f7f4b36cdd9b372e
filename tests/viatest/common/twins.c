// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "twins.h"
#include <stdio.h>
#include <string.h>

VIP_RETURN twins_vi(const struct twins *t, VIP_VI_HANDLE *vi)
{
	VIP_VI_ATTRIBUTES attr = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = 32768, .Ptag = t->tag,
		.EnableRdmaWrite = t->rdma, .EnableRdmaRead = t->rdma,
	};

	return VipCreateVi(t->nic, &attr, NULL, NULL, vi);
}

void twins_open(struct twins *t, const char *device)
{
	VIP_NIC_ATTRIBUTES nic;
	char disc[32];
	int i, n;

	t->must("VipOpenNic", VipOpenNic(device, &t->nic));
	t->must("VipCreatePtag", VipCreatePtag(t->nic, &t->tag));
	t->must("VipQueryNic", VipQueryNic(t->nic, &nic));
	for (i = 0; i < 2; i++) {
		t->must("VipCreateVi", twins_vi(t, &t->vi[i]));
		n = snprintf(disc, sizeof(disc), "%s%d", t->disc, i + 1);
		net_addr_set(&t->addr[i], nic.LocalNicAddress,
			     nic.NicAddressLen, disc, n);
	}
}

VIP_MEM_HANDLE twins_register(const struct twins *t, void *p, uint64_t len)
{
	VIP_MEM_ATTRIBUTES attr = { t->tag, t->rdma, t->rdma };
	VIP_MEM_HANDLE handle;

	t->must("VipRegisterMem", VipRegisterMem(t->nic, p, len, &attr,
						 &handle));
	return handle;
}

VIP_RETURN twins_join(const struct twins *t, VIP_ULONG ms)
{
	VIP_NET_ADDRESS *a = (void *)&t->addr[0], *b = (void *)&t->addr[1];
	VIP_VI_ATTRIBUTES theirs;

	return VipConnectPeerRequest(t->vi[0], a, b, ms) ?:
	       VipConnectPeerRequest(t->vi[1], b, a, ms) ?:
	       VipConnectPeerWait(t->vi[0], &theirs) ?:
	       VipConnectPeerWait(t->vi[1], &theirs);
}

void twins_part(const struct twins *t)
{
	t->must("VipDisconnect", VipDisconnect(t->vi[0]));
	t->must("VipDisconnect", VipDisconnect(t->vi[1]));
}

VIP_DESCRIPTOR *twins_describe(void *there, uint64_t addr,
			       VIP_MEM_HANDLE handle, VIP_ULONG len)
{
	VIP_DESCRIPTOR *d = there;

	memset(d, 0, sizeof(*d));
	d->Control.Control = VIP_CONTROL_OP_SENDRECV;
	d->Control.SegCount = 1;
	d->Control.Length = len;
	d->DS[0].Local.Data.AddressBits = addr;
	d->DS[0].Local.Handle = handle;
	d->DS[0].Local.Length = len;
	return d;
}

VIP_DESCRIPTOR *twins_carry(const struct twins *t, unsigned int from,
			    VIP_DESCRIPTOR *tx, VIP_MEM_HANDLE tx_handle,
			    VIP_DESCRIPTOR *rx, VIP_MEM_HANDLE rx_handle)
{
	VIP_VI_HANDLE a = t->vi[from], b = t->vi[!from];
	VIP_DESCRIPTOR *d;

	t->must("VipPostRecv", VipPostRecv(b, rx, rx_handle));
	t->must("VipPostSend", VipPostSend(a, tx, tx_handle));
	t->must("VipSendWait", VipSendWait(a, TWINS_MS, &d));
	t->must("VipRecvWait", VipRecvWait(b, TWINS_MS, &d));
	return d;
}
