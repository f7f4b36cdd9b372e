// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that registers no error handler, and what it says at the end of a
 * connection on standard error, which tests/check/steps/samples.py reads.
 *
 *	ends DEVICE		waits for one connection, and for its end
 *	ends DEVICE HOST HOW	connects and ends it: disconnect, destroy, close,
 *				exit, or flood (sends what is not expected); or
 *				stay, which waits as the other side does
 *
 * The side that waits disconnects then, which comes after all that happens to
 * the VI, and posts a misaligned descriptor on another.  Errors are told in
 * order: when that one is complained of, all that there is to say was said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vipl.h>

#define DISC	"ends"
#define SIZE	4096

static VIP_NIC_HANDLE nic;
static VIP_NIC_ATTRIBUTES attr;
static VIP_VI_HANDLE vi, last_vi;
static VIP_MEM_HANDLE mem_h;
static char *mem;

/* The call, its code, the code that it should have. */
static void must(const char *call, VIP_RETURN r, VIP_RETURN want)
{
	if (r == want)
		return;
	printf("%s: %d\n", call, (int)r);
	exit(1);
}

#define OK(call) must(#call, call, VIP_SUCCESS)

static VIP_DESCRIPTOR *descriptor(int i, int shift)
{
	VIP_DESCRIPTOR *d = (void *)(mem + 64 * i + shift);

	memset(d, 0, 64);
	return d;
}

static void address(VIP_NET_ADDRESS *a, const char *disc)
{
	a->HostAddressLen = attr.NicAddressLen;
	memcpy(a->HostAddress, attr.LocalNicAddress, attr.NicAddressLen);
	a->DiscriminatorLen = strlen(disc);
	memcpy(a->HostAddress + a->HostAddressLen, disc, strlen(disc));
}

static void open_nic(char *device)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, SIZE, NULL,
				NULL, VIP_FALSE, VIP_FALSE };

	OK(VipOpenNic(device, &nic));
	OK(VipQueryNic(nic, &attr));
	mem = aligned_alloc(SIZE, SIZE);
	if (!mem)
		abort();
	OK(VipRegisterMem(nic, mem, SIZE, NULL, &mem_h));
	OK(VipCreateVi(nic, &a, NULL, NULL, &vi));
	OK(VipCreateVi(nic, &a, NULL, NULL, &last_vi));
	OK(VipPostRecv(vi, descriptor(0, 0), mem_h));
}

static void serve(void)
{
	union {
		VIP_NET_ADDRESS a;
		char room[128];
	} local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE c;

	address(&local.a, DISC);
	OK(VipConnectWait(nic, &local.a, VIP_INFINITE, &remote.a, &theirs,
			  &c));
	OK(VipConnectAccept(c, vi));
}

static void request(char *host)
{
	union {
		VIP_NET_ADDRESS a;
		char room[128];
	} local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN r;

	address(&local.a, "");
	address(&remote.a, DISC);
	OK(VipNSGetHostByName(nic, host, &remote.a, 0));
	/* The server may not be waiting yet. */
	while ((r = VipConnectRequest(vi, &local.a, &remote.a, 5000,
				      &theirs)) == VIP_NO_MATCH)
		;
	must("VipConnectRequest", r, VIP_SUCCESS);
}

/*
 * Until the connection is over, by the other side or by an error, and all has
 * been said of it.  A receive that completes is no sign: the next message may
 * be the one that breaks it.
 */
static void wait_for_end(void)
{
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN s, r;
	VIP_VI_STATE st;

	do {
		usleep(1000);
		OK(VipQueryVi(vi, &st, &a, &s, &r));
	} while (st == VIP_STATE_CONNECTED);
	OK(VipDisconnect(vi));
	OK(VipPostRecv(last_vi, descriptor(4, 8), mem_h));
	for (;;)
		pause();
}

/* The peer has posted one receive. */
static void flood(void)
{
	int i;

	for (i = 1; i < 3; i++)
		OK(VipPostSend(vi, descriptor(i, 0), mem_h));
	wait_for_end();
}

static void end(const char *how)
{
	if (!strcmp(how, "stay"))
		wait_for_end();
	if (!strcmp(how, "flood"))
		flood();
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "disconnect") || !strcmp(how, "destroy"))
		OK(VipDisconnect(vi));
	if (!strcmp(how, "destroy"))
		OK(VipDestroyVi(vi));
	OK(VipCloseNic(nic));
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 4) {
		puts("usage: ends DEVICE [HOST HOW]");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_nic(argv[1]);
	if (argc == 2)
		serve();
	else
		request(argv[2]);
	puts("connected");
	if (argc == 2)
		wait_for_end();
	else
		end(argv[3]);
	return 0;
}
