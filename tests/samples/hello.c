// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The shortest program over VIPL that is of use to learn from: one message
 * from one process to another, and the answer.
 *
 *	hello DEVICE			waits for one
 *	hello DEVICE HOST [TEXT]	sends it there
 *
 * DEVICE is shm:0, ofi:tcp, via_eth0...: the program is the same for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vipl.h>

#define PORT	"hello"		/* the discriminator that the server waits at */
#define ROOM	256

/* Room for a host address and a discriminator of any length. */
union address {
	VIP_NET_ADDRESS a;
	char room[4 + 32 + 64];
};

/* What NICs work on is registered: descriptors and data. */
static struct memory {
	VIP_DESCRIPTOR recv, send;
	char in[ROOM], out[ROOM];
} mem __attribute__((aligned(64)));

static VIP_NIC_HANDLE nic;
static VIP_NIC_ATTRIBUTES attr;
static VIP_VI_HANDLE vi;
static VIP_MEM_HANDLE handle;

static void must(VIP_RETURN r, const char *what)
{
	if (r == VIP_SUCCESS)
		return;
	fprintf(stderr, "hello: %s: %d\n", what, (int)r);
	exit(1);
}

static void describe(VIP_DESCRIPTOR *d, char *data, VIP_UINT32 len)
{
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = len;
	d->DS[0].Local.Data.Address = data;
	d->DS[0].Local.Handle = handle;
	d->DS[0].Local.Length = len;
}

static void prepare(char *device)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, 4096, NULL,
				NULL, VIP_FALSE, VIP_FALSE };

	must(VipOpenNic(device, &nic), "VipOpenNic");
	must(VipQueryNic(nic, &attr), "VipQueryNic");
	must(VipCreateVi(nic, &a, NULL, NULL, &vi), "VipCreateVi");
	must(VipRegisterMem(nic, &mem, sizeof(mem), NULL, &handle),
	     "VipRegisterMem");
	/* A receive is posted before there is a connection. */
	describe(&mem.recv, mem.in, ROOM - 1);
	must(VipPostRecv(vi, &mem.recv, handle), "VipPostRecv");
}

/* The address of this host, at a discriminator. */
static void here(union address *to, const char *disc)
{
	char *bytes = to->room + 4;

	to->a.HostAddressLen = attr.NicAddressLen;
	to->a.DiscriminatorLen = strlen(disc);
	memcpy(bytes, attr.LocalNicAddress, attr.NicAddressLen);
	memcpy(bytes + attr.NicAddressLen, disc, strlen(disc));
}

static void answer_one(void)
{
	VIP_VI_ATTRIBUTES theirs;
	union address local, remote;
	VIP_CONN_HANDLE request;

	here(&local, PORT);
	must(VipConnectWait(nic, &local.a, VIP_INFINITE, &remote.a, &theirs,
			    &request), "VipConnectWait");
	must(VipConnectAccept(request, vi), "VipConnectAccept");
}

static void ask(char *host)
{
	VIP_VI_ATTRIBUTES theirs;
	union address local, remote;
	VIP_RETURN r;

	memset(&remote, 0, sizeof(remote));
	here(&local, "");
	must(VipNSGetHostByName(nic, host, &remote.a, 0),
	     "VipNSGetHostByName");
	remote.a.DiscriminatorLen = strlen(PORT);
	memcpy(remote.room + 4 + remote.a.HostAddressLen, PORT, strlen(PORT));
	/* NO_MATCH: the server does not wait there yet. */
	do {
		r = VipConnectRequest(vi, &local.a, &remote.a, 5000, &theirs);
	} while (r == VIP_NO_MATCH);
	must(r, "VipConnectRequest");
}

static void say(const char *text)
{
	VIP_DESCRIPTOR *done;

	snprintf(mem.out, ROOM, "%s", text);
	describe(&mem.send, mem.out, strlen(mem.out));
	must(VipPostSend(vi, &mem.send, handle), "VipPostSend");
	must(VipSendWait(vi, VIP_INFINITE, &done), "VipSendWait");
}

static const char *hear(void)
{
	VIP_DESCRIPTOR *done;

	must(VipRecvWait(vi, VIP_INFINITE, &done), "VipRecvWait");
	mem.in[done->CS.Length] = '\0';
	return mem.in;
}

int main(int argc, char **argv)
{
	char reply[ROOM];

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: hello DEVICE [HOST [TEXT]]\n");
		return 2;
	}
	prepare(argv[1]);
	if (argc == 2) {
		answer_one();
		printf("server on %s: heard '%s'\n", argv[1], hear());
		snprintf(reply, ROOM, "%.200s to you", mem.in);
		say(reply);
	} else {
		ask(argv[2]);
		say(argc > 3 ? argv[3] : "hello");
		printf("client on %s: heard '%s'\n", argv[1], hear());
	}
	/* Ends the connection, too, once what was sent has arrived. */
	VipDisconnect(vi);
	return VipCloseNic(nic) != VIP_SUCCESS;
}
