// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* "hello shm:0" waits for a message, "hello shm:0 localhost" sends it. */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <vipl.h>
#include <vipl_ext.h>

#define must(call) do {							\
	VIP_RETURN r_ = (call);						\
	if (r_ != VIP_SUCCESS)						\
		errx(1, "%s: %s", #call, VipExtReturnText(r_));		\
} while (0)

static struct {		/* a NIC reads and writes registered memory only */
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR d;
	char text[64];
} mem = { .d.CS = { .SegCount = 1, .Length = 64 }, .text = "hello, world" };

int main(int argc, char **argv)
{
	VIP_VI_ATTRIBUTES theirs, ours = { .MaxTransferSize = 64,
			.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY };
	union { VIP_NET_ADDRESS a; char room[256]; } here = { 0 }, far = { 0 };
	VIP_NIC_ATTRIBUTES attr;
	VIP_CONN_HANDLE request;
	VIP_MEM_HANDLE handle;
	VIP_NIC_HANDLE nic;
	VIP_DESCRIPTOR *done;
	VIP_VI_HANDLE vi;

	if (argc < 2)
		errx(2, "usage: hello DEVICE [HOST]");
	must(VipOpenNic(argv[1], &nic));
	must(VipQueryNic(nic, &attr));
	must(VipCreateVi(nic, &ours, NULL, NULL, &vi));
	must(VipRegisterMem(nic, &mem, sizeof(mem), NULL, &handle));
	mem.d.DS[0].Local.Data.Address = mem.text;
	mem.d.DS[0].Local.Handle = handle;
	mem.d.DS[0].Local.Length = 64;
	here.a.HostAddressLen = attr.NicAddressLen;
	memcpy(here.a.HostAddress, attr.LocalNicAddress, attr.NicAddressLen);
	if (argc == 2) {
		must(VipPostRecv(vi, &mem.d, handle));	/* first of all */
		must(VipConnectWait(nic, &here.a, VIP_INFINITE, &far.a,
				    &theirs, &request));
		must(VipConnectAccept(request, vi));
		must(VipRecvWait(vi, VIP_INFINITE, &done));
		printf("%u bytes: %s\n", done->CS.Length, mem.text);
	} else {
		must(VipNSGetHostByName(nic, argv[2], &far.a, 0));
		must(VipConnectRequest(vi, &here.a, &far.a, 5000, &theirs));
		must(VipPostSend(vi, &mem.d, handle));
		must(VipSendWait(vi, VIP_INFINITE, &done));
	}
	must(VipDisconnect(vi));
	return VipCloseNic(nic) != VIP_SUCCESS;
}
