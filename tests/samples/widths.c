// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Sends, RDMA Writes and RDMA Reads between two processes, in both directions,
 * each byte looked at. The two may be of different widths: a 32-bit program
 * names memory of a 64-bit one by the lower half of its address.
 *
 *	widths DEVICE			waits
 *	widths DEVICE HOST		begins
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <vipl.h>

#define PORT	"widths"
#define ROOM	(1u << 20)
#define WAIT	20000		/* ms */

union address {
	VIP_NET_ADDRESS a;
	char room[4 + 32 + 64];
};

/* What each tells the other; the same in both widths. */
struct word {
	VIP_UINT64 at;		/* of its memory */
	VIP_UINT32 handle;
	VIP_UINT32 seq;
};

static struct memory {
	VIP_DESCRIPTOR recv, send;
	VIP_DESCRIPTOR_SEGMENT more[2];
	struct word in, out;
} mem __attribute__((aligned(64)));

static const VIP_UINT32 lens[] = { 1, 40, 4096, 8192, 8193, 70000, ROOM };

static VIP_NIC_HANDLE nic;
static VIP_NIC_ATTRIBUTES attr;
static VIP_VI_HANDLE vi;
static VIP_MEM_HANDLE handle, data_handle;
static unsigned char *data;	/* ROOM that is read, ROOM that is written */
static struct word theirs;
static const char *who;

static void fail(const char *what, long n)
{
	fprintf(stderr, "widths, %s of %u bits: %s: %ld\n", who,
		(unsigned int)sizeof(void *) * 8, what, n);
	exit(1);
}

static void must(VIP_RETURN r, const char *what)
{
	if (r != VIP_SUCCESS)
		fail(what, r);
}

static void prepare(char *device)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, ROOM, NULL,
				NULL, VIP_TRUE, VIP_TRUE };
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_TRUE, VIP_TRUE };

	must(VipOpenNic(device, &nic), "VipOpenNic");
	must(VipQueryNic(nic, &attr), "VipQueryNic");
	must(VipCreateVi(nic, &a, NULL, NULL, &vi), "VipCreateVi");
	must(VipRegisterMem(nic, &mem, sizeof(mem), NULL, &handle),
	     "VipRegisterMem");
	data = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(VipRegisterMem(nic, data, 2 * ROOM, &m, &data_handle),
	     "VipRegisterMem");
}

static void here(union address *to, const char *disc)
{
	char *bytes = to->room + 4;

	to->a.HostAddressLen = attr.NicAddressLen;
	to->a.DiscriminatorLen = strlen(disc);
	memcpy(bytes, attr.LocalNicAddress, attr.NicAddressLen);
	memcpy(bytes + attr.NicAddressLen, disc, strlen(disc));
}

static void post_recv(void *to, VIP_MEM_HANDLE h, VIP_UINT32 len)
{
	memset(&mem.recv, 0, sizeof(mem.recv));
	mem.recv.CS.SegCount = 1;
	mem.recv.CS.Length = len;
	mem.recv.DS[0].Local.Data.Address = to;
	mem.recv.DS[0].Local.Handle = h;
	mem.recv.DS[0].Local.Length = len;
	must(VipPostRecv(vi, &mem.recv, handle), "VipPostRecv");
}

static void post_send(VIP_UINT16 op, void *from, VIP_MEM_HANDLE h,
		      VIP_UINT32 len, VIP_UINT64 at)
{
	VIP_DESCRIPTOR *done;
	int first = op != VIP_CONTROL_OP_SENDRECV;

	memset(&mem.send, 0, sizeof(mem.send));
	mem.send.CS.SegCount = first + 1;
	mem.send.CS.Control = op;
	mem.send.CS.Length = len;
	if (first) {
		mem.send.DS[0].Remote.Data.AddressBits = at;
		mem.send.DS[0].Remote.Handle = theirs.handle;
	}
	mem.send.DS[first].Local.Data.Address = from;
	mem.send.DS[first].Local.Handle = h;
	mem.send.DS[first].Local.Length = len;
	must(VipPostSend(vi, &mem.send, handle), "VipPostSend");
	must(VipSendWait(vi, WAIT, &done), "VipSendWait");
}

static void heard(VIP_UINT32 len)
{
	VIP_DESCRIPTOR *done;

	must(VipRecvWait(vi, WAIT, &done), "VipRecvWait");
	if (done->CS.Length != len)
		fail("another length", done->CS.Length);
}

static void tell(VIP_UINT32 seq)
{
	mem.out.at = (VIP_UINT64)(size_t)data;
	mem.out.handle = data_handle;
	mem.out.seq = seq;
	post_send(VIP_CONTROL_OP_SENDRECV, &mem.out, handle, sizeof(mem.out),
		  0);
}

static void told(VIP_UINT32 seq)
{
	heard(sizeof(mem.in));
	if (mem.in.seq != seq)
		fail("another word", mem.in.seq);
	theirs = mem.in;
}

static void fill(unsigned char *p, VIP_UINT32 len, VIP_UINT32 seq)
{
	VIP_UINT32 i;

	for (i = 0; i < len; i++)
		p[i] = (unsigned char)(seq * 31 + i * 7 + (i >> 8));
}

static void look(const unsigned char *p, VIP_UINT32 len, VIP_UINT32 seq)
{
	VIP_UINT32 i;

	for (i = 0; i < len; i++)
		if (p[i] != (unsigned char)(seq * 31 + i * 7 + (i >> 8)))
			fail("other bytes, length", len);
}

/*
 * One length: it is sent, written, and as much is read. The end that leads has
 * a receive posted for a word, the other one has none; so it is afterwards.
 */
static void lead(VIP_UINT32 len, VIP_UINT32 seq)
{
	unsigned char *back = data + ROOM;

	told(seq);		/* it has posted the receive */
	fill(data, len, seq);
	post_recv(&mem.in, handle, sizeof(mem.in));
	post_send(VIP_CONTROL_OP_SENDRECV, data, data_handle, len, 0);
	told(seq + 1);
	fill(data, len, seq + 1);
	post_recv(&mem.in, handle, sizeof(mem.in));
	post_send(VIP_CONTROL_OP_RDMAWRITE, data, data_handle, len,
		  theirs.at + 2 * ROOM - len);
	tell(seq + 2);
	told(seq + 3);
	memset(back, 0, len);
	post_send(VIP_CONTROL_OP_RDMAREAD, back, data_handle, len, theirs.at);
	look(back, len, seq + 3);
	post_recv(&mem.in, handle, sizeof(mem.in));
	tell(seq + 4);
}

static void follow(VIP_UINT32 len, VIP_UINT32 seq)
{
	unsigned char *in = data + ROOM;

	memset(in, 0, ROOM);
	post_recv(in, data_handle, len);
	tell(seq);
	heard(len);
	look(in, len, seq);
	memset(in, 0, ROOM);
	post_recv(&mem.in, handle, sizeof(mem.in));
	tell(seq + 1);
	told(seq + 2);
	look(in + ROOM - len, len, seq + 1);
	fill(data, len, seq + 3);
	post_recv(&mem.in, handle, sizeof(mem.in));
	tell(seq + 3);
	told(seq + 4);
}

static void serve(void)
{
	VIP_VI_ATTRIBUTES a;
	union address local, remote;
	VIP_CONN_HANDLE request;

	here(&local, PORT);
	must(VipConnectWait(nic, &local.a, WAIT, &remote.a, &a, &request),
	     "VipConnectWait");
	must(VipConnectAccept(request, vi), "VipConnectAccept");
}

static void ask(char *host)
{
	VIP_VI_ATTRIBUTES a;
	union address local, remote;
	VIP_RETURN r;
	int tries = 0;

	here(&local, "");
	memset(&remote, 0, sizeof(remote));
	must(VipNSGetHostByName(nic, host, &remote.a, 0),
	     "VipNSGetHostByName");
	remote.a.DiscriminatorLen = strlen(PORT);
	memcpy(remote.room + 4 + remote.a.HostAddressLen, PORT, strlen(PORT));
	/* NO_MATCH: the server does not wait there yet. */
	do {
		r = VipConnectRequest(vi, &local.a, &remote.a, WAIT, &a);
	} while (r == VIP_NO_MATCH && tries++ < 100000);
	must(r, "VipConnectRequest");
}

int main(int argc, char **argv)
{
	int client = argc == 3, turn;
	VIP_UINT32 i, seq = 1;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: widths DEVICE [HOST]\n");
		return 2;
	}
	who = client ? "client" : "server";
	prepare(argv[1]);
	/* A receive is posted before the other end is told to go on. */
	post_recv(&mem.in, handle, sizeof(mem.in));
	if (client)
		ask(argv[2]);
	else
		serve();
	for (turn = 0; turn < 2; turn++) {
		if (client == turn) {
			told(++seq);
		} else {
			if (turn)
				post_recv(&mem.in, handle, sizeof(mem.in));
			tell(++seq);
		}
		for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			seq += 10;
			if (client == turn)
				follow(lens[i], seq);
			else
				lead(lens[i], seq);
		}
	}
	printf("%s of %u bits: %u lengths each way\n", who,
	       (unsigned int)sizeof(void *) * 8,
	       (unsigned int)(sizeof(lens) / sizeof(lens[0])));
	VipDisconnect(vi);
	return VipCloseNic(nic) != VIP_SUCCESS;
}
