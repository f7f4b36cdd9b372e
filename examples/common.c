// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See common.h. */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

void check(VIP_RETURN r, const char *call)
{
	if (r != VIP_SUCCESS)
		errx(1, "%.*s: %s", (int)strcspn(call, "("), call,
		     VipExtReturnText(r));
}

VIP_DESCRIPTOR *completed(VIP_RETURN r, VIP_DESCRIPTOR *d, const char *what)
{
	char text[128];

	if (r == VIP_DESCRIPTOR_ERROR && d)
		errx(1, "%s: %s", what,
		     VipExtStatusText(d->CS.Status, text, sizeof(text)));
	check(r, what);
	return d;
}

void open_node(struct node *n, const char *device)
{
	must(VipOpenNic(device, &n->nic));
	must(VipQueryNic(n->nic, &n->attr));
}

static void set_disc(union address *to, const char *disc)
{
	size_t len = strlen(disc);

	if (offsetof(VIP_NET_ADDRESS, HostAddress) + to->a.HostAddressLen +
	    len > sizeof(*to))
		errx(1, "%s: too long for an address", disc);
	to->a.DiscriminatorLen = len;
	memcpy(to->a.HostAddress + to->a.HostAddressLen, disc, len);
}

void own_address(const struct node *n, union address *to, const char *disc)
{
	memset(to, 0, sizeof(*to));
	to->a.HostAddressLen = n->attr.NicAddressLen;
	memcpy(to->a.HostAddress, n->attr.LocalNicAddress,
	       n->attr.NicAddressLen);
	set_disc(to, disc);
}

void host_address(const struct node *n, union address *to, const char *host,
		  const char *disc)
{
	VIP_RETURN r;

	memset(to, 0, sizeof(*to));
	r = VipNSGetHostByName(n->nic, (VIP_CHAR *)host, &to->a, 0);
	if (r != VIP_SUCCESS)
		errx(1, "%s: %s", host, VipExtReturnText(r));
	set_disc(to, disc);
}

VIP_VI_HANDLE new_vi(const struct node *n, VIP_ULONG max_transfer,
		     VIP_CQ_HANDLE send_cq, VIP_CQ_HANDLE recv_cq)
{
	VIP_VI_ATTRIBUTES attr = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = max_transfer,
		.EnableRdmaWrite = VIP_TRUE,
	};
	VIP_VI_HANDLE vi;

	must(VipCreateVi(n->nic, &attr, send_cq, recv_cq, &vi));
	return vi;
}

void serve_one(const struct node *n, VIP_VI_HANDLE vi, const char *disc)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE request;

	own_address(n, &local, disc);
	must(VipConnectWait(n->nic, &local.a, VIP_INFINITE, &remote.a, &theirs,
			    &request));
	must(VipConnectAccept(request, vi));
}

void connect_to(const struct node *n, VIP_VI_HANDLE vi, const char *host,
		const char *disc)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN r;

	own_address(n, &local, "");
	host_address(n, &remote, host, disc);
	for (;;) {
		r = VipConnectRequest(vi, &local.a, &remote.a, 5000, &theirs);
		if (r != VIP_NO_MATCH)
			break;
		usleep(1000);	/* the server is not there yet, or is busy */
	}
	check(r, "VipConnectRequest");
}

void *new_region(const struct node *n, size_t bytes, VIP_BOOLEAN rdma_write,
		 VIP_MEM_HANDLE *handle)
{
	VIP_MEM_ATTRIBUTES attr = { .EnableRdmaWrite = rdma_write };
	void *p = NULL;

	if (posix_memalign(&p, VIP_DESCRIPTOR_ALIGNMENT, bytes))
		err(1, "posix_memalign");
	memset(p, 0, bytes);
	must(VipRegisterMem(n->nic, p, bytes, &attr, handle));
	return p;
}

void describe(VIP_DESCRIPTOR *d, void *data, VIP_UINT32 len,
	      VIP_MEM_HANDLE handle)
{
	memset(d, 0, sizeof(*d));
	d->CS.Length = len;
	if (!len)
		return;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = data;
	d->DS[0].Local.Handle = handle;
	d->DS[0].Local.Length = len;
}

void describe_write(VIP_DESCRIPTOR *d, void *data, VIP_UINT32 len,
		    VIP_MEM_HANDLE handle, VIP_UINT64 to,
		    VIP_MEM_HANDLE to_handle)
{
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 2;
	d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
	d->CS.Length = len;
	d->DS[0].Remote.Data.AddressBits = to;
	d->DS[0].Remote.Handle = to_handle;
	d->DS[1].Local.Data.Address = data;
	d->DS[1].Local.Handle = handle;
	d->DS[1].Local.Length = len;
}
