/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program as they were written around the year 2000, kept as a test: old C,
 * functions of its own called send, recv and error, fixed address buffers,
 * nothing initialised that need not be. Do not tidy it up.
 *
 *	old DEVICE [ROUNDS]	forks a server and plays ping-pong with it
 *
 * Without VIPL095 it is in the 1.0 spelling, with it in the 0.95 one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <vipl.h>

#ifdef VIPL095
#define CTL(d)		((d)->CS)
#define SEG(d, i)	((d)->DS[i].Local)
#define REM(d)		((d)->DS[0].Remote)
#else
#define CTL(d)		((d)->Control)
#define SEG(d, i)	((d)->Data[i])
#define REM(d)		(*(VIP_ADDRESS_SEGMENT *)&(d)->Data[0])
#endif

#ifndef VIP_ERROR_NOT_SUPPORTED
#define VIP_ERROR_NOT_SUPPORTED 16
#endif

#define NBUF	8
#define BUFSIZE	4096
#define SLOT	(64 + BUFSIZE)		/* the data straight behind */

VIP_NIC_HANDLE nic;
VIP_VI_HANDLE vi;
VIP_CQ_HANDLE cq;
VIP_PROTECTION_HANDLE ptag;
VIP_MEM_HANDLE mh;
VIP_NIC_ATTRIBUTES na;
char *mem;
char *who = "client";
int rounds = 50;

static char *errs[] = {
	"POST_DESC", "CONN_LOST", "RECVQ_EMPTY", "VI_OVERRUN", "RDMAW_PROT",
	"RDMAW_DATA", "RDMAW_ABORT", "RDMAR_PROT", "COMP_PROT",
	"RDMA_TRANSPORT", "CATASTROPHIC"
};

void error(what, r)
	char *what;
	VIP_RETURN r;
{
	switch (r) {
	case VIP_NOT_REACHABLE:
		fprintf(stderr, "%s: %s: not reachable\n", who, what);
		break;
	default:
		fprintf(stderr, "%s: %s: error %d\n", who, what, (int)r);
	}
	exit(1);
}

void ehandler(ctx, e)
	VIP_PVOID ctx;
	VIP_ERROR_DESCRIPTOR *e;
{
	printf("%s: async error %s\n", (char *)ctx, errs[e->ErrorCode]);
	exit(2);
}

VIP_DESCRIPTOR *desc(i)
	int i;
{
	return (VIP_DESCRIPTOR *)(mem + i * SLOT);
}

char *buf(i)
	int i;
{
	return (char *)desc(i) + 64;
}

/* Control and length are set on every use, the rest of it never again. */
void send(i, len)
	int i, len;
{
	VIP_DESCRIPTOR *d = desc(i), *done;
	VIP_RETURN r;

	CTL(d).SegCount = 1;
	CTL(d).Control = VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE;
	CTL(d).Length = len;
	CTL(d).ImmediateData = len;
	SEG(d, 0).Data.Address = buf(i);
	SEG(d, 0).Handle = mh;
	SEG(d, 0).Length = len;
	if ((r = VipPostSend(vi, d, mh)) != VIP_SUCCESS)
		error("VipPostSend", r);
	while ((r = VipSendDone(vi, &done)) == VIP_NOT_DONE)
		;
	if (r != VIP_SUCCESS || done != d)
		error("VipSendDone", r);
}

void post(i)
	int i;
{
	VIP_DESCRIPTOR *d = desc(i);
	VIP_RETURN r;

	CTL(d).SegCount = 1;
	CTL(d).Control = VIP_CONTROL_OP_SENDRECV;
	CTL(d).Length = BUFSIZE;
	SEG(d, 0).Data.Address = buf(i);
	SEG(d, 0).Handle = mh;
	SEG(d, 0).Length = BUFSIZE;
	if ((r = VipPostRecv(vi, d, mh)) != VIP_SUCCESS)
		error("VipPostRecv", r);
}

/* The notice first, then the descriptor, which must be there at once. */
int recv()
{
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN isrecv;
	VIP_VI_HANDLE v;
	VIP_RETURN r;

	if ((r = VipCQWait(cq, 0xFFFFFFFF, &v, &isrecv)) != VIP_SUCCESS)
		error("VipCQWait", r);
	if (v != vi || isrecv != VIP_TRUE)
		error("wrong notice", VIP_SUCCESS);
	if ((r = VipRecvDone(v, &d)) != VIP_SUCCESS)
		error("VipRecvDone", r);
	if (!(CTL(d).Status & VIP_STATUS_DONE) ||
	    (CTL(d).Status & VIP_STATUS_ERROR_MASK) ||
	    !(CTL(d).Status & VIP_STATUS_IMMEDIATE) ||
	    CTL(d).ImmediateData != CTL(d).Length ||
	    SEG(d, 0).Length != BUFSIZE)
		error("bad receive", VIP_ERROR);
	return ((char *)d - mem) / SLOT;
}

void setup(dev)
	char *dev;
{
	VIP_MEM_ATTRIBUTES ma;
	VIP_VI_ATTRIBUTES va = { VIP_SERVICE_RELIABLE_DELIVERY, BUFSIZE, 0, 0,
				 VIP_TRUE, VIP_FALSE };
	VIP_RETURN r;
	char *p;
	int i;

	if ((r = VipOpenNic(dev, &nic)) != VIP_SUCCESS)
		error("VipOpenNic", r);
	if ((r = VipErrorCallback(nic, who, ehandler)) != VIP_SUCCESS)
		error("VipErrorCallback", r);
	if ((r = VipQueryNic(nic, &na)) != VIP_SUCCESS)
		error("VipQueryNic", r);
	if (na.ReliabilityLevelSupport < VIP_SERVICE_RELIABLE_DELIVERY)
		error("not reliable", VIP_SUCCESS);
	VipNSInit(nic, 0);
	if ((r = VipCreatePtag(nic, &ptag)) != VIP_SUCCESS)
		error("VipCreatePtag", r);
	/* malloc() and rounding up: not a page of its own. */
	p = malloc((NBUF + 1) * SLOT + 64);
	mem = (char *)(((unsigned long)p + 63) & ~63UL);
	memset(mem, 0x5a, (NBUF + 1) * SLOT);
	for (i = 0; i <= NBUF; i++)
		CTL(desc(i)).Reserved = 0;
	ma.Ptag = ptag;
	ma.EnableRdmaWrite = VIP_TRUE;
	ma.EnableRdmaRead = VIP_FALSE;
	r = VipRegisterMem(nic, mem, (NBUF + 1) * SLOT, &ma, &mh);
	if (r != VIP_SUCCESS)
		error("VipRegisterMem", r);
	if ((r = VipCreateCQ(nic, 1, &cq)) != VIP_SUCCESS)
		error("VipCreateCQ", r);
	va.Ptag = ptag;
	if ((r = VipCreateVi(nic, &va, 0, cq, &vi)) != VIP_SUCCESS)
		error("VipCreateVi", r);
	/* All before there is a connection. */
	for (i = 1; i <= NBUF; i++)
		post(i);
}

void address(a, disc)
	VIP_NET_ADDRESS *a;
	char *disc;
{
	a->HostAddressLen = na.NicAddressLen;
	memcpy(a->HostAddress, na.LocalNicAddress, na.NicAddressLen);
	a->DiscriminatorLen = strlen(disc);
	memcpy(a->HostAddress + a->HostAddressLen, disc, strlen(disc));
}

/* What is left after a disconnect; the code is not looked at. */
void drain()
{
	VIP_DESCRIPTOR *d;
	int n = 0;

	for (;;) {
		VipRecvDone(vi, &d);
		if (d == NULL)
			break;
		n++;
	}
	for (;;) {
		VipSendDone(vi, &d);
		if (d == NULL)
			break;
	}
	if (n != NBUF)
		error("receives were lost", VIP_ERROR);
}

void finish()
{
	VIP_RETURN r;

	/* Twice does no harm, and the codes of old clean-ups say little. */
	VipDisconnect(vi);
	drain();
	if ((r = VipDisconnect(vi)) != VIP_SUCCESS)
		error("VipDisconnect", r);
	if ((r = VipDestroyVi(vi)) != VIP_SUCCESS)
		error("VipDestroyVi", r);
	if ((r = VipDestroyCQ(cq)) != VIP_SUCCESS)
		error("VipDestroyCQ", r);
	if ((r = VipDeregisterMem(nic, mem, mh)) != VIP_SUCCESS)
		error("VipDeregisterMem", r);
	if ((r = VipDestroyPtag(nic, ptag)) != VIP_SUCCESS)
		error("VipDestroyPtag", r);
	VipNSShutdown(nic);
	if ((r = VipCloseNic(nic)) != VIP_SUCCESS)
		error("VipCloseNic", r);
}

void server(disc)
	char *disc;
{
	char lb[40], rb[40];
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE c;
	VIP_VI_STATE st;
	VIP_BOOLEAN se, re;
	VIP_RETURN r;
	int i, n;

	address((VIP_NET_ADDRESS *)lb, disc);
	r = VipConnectWait(nic, (VIP_NET_ADDRESS *)lb, VIP_INFINITE,
			   (VIP_NET_ADDRESS *)rb, &theirs, &c);
	if (r != VIP_SUCCESS)
		error("VipConnectWait", r);
	if ((r = VipConnectAccept(c, vi)) != VIP_SUCCESS)
		error("VipConnectAccept", r);
	for (n = 0; n < rounds; n++) {
		i = recv();
		memcpy(buf(0), buf(i), CTL(desc(i)).Length);
		send(0, (int)CTL(desc(i)).Length);
		post(i);
	}
	/* The client says goodbye, and leaves first. */
	i = recv();
	post(i);
	do {
		if ((r = VipQueryVi(vi, &st, &theirs, &se, &re)) != VIP_SUCCESS)
			error("VipQueryVi", r);
	} while (st == VIP_STATE_CONNECTED);
}

void client(disc)
	char *disc;
{
	char lb[40], rb[40];
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN r;
	int i, k, n, len;

	address((VIP_NET_ADDRESS *)lb, "me");
	address((VIP_NET_ADDRESS *)rb, disc);
	while ((r = VipConnectRequest(vi, (VIP_NET_ADDRESS *)lb,
				      (VIP_NET_ADDRESS *)rb, 0xFFFFFFFF,
				      &theirs)) == VIP_NO_MATCH)
		;
	if (r != VIP_SUCCESS)
		error("VipConnectRequest", r);
	if (theirs.MaxTransferSize != BUFSIZE)
		error("their attributes", VIP_ERROR);
	for (n = 0; n < rounds; n++) {
		len = (n * 977) % (BUFSIZE + 1);
		for (k = 0; k < len; k++)
			buf(0)[k] = n + k;
		send(0, len);
		i = recv();
		if ((int)CTL(desc(i)).Length != len)
			error("length", VIP_ERROR);
		for (k = 0; k < len; k++)
			if (buf(i)[k] != (char)(n + k))
				error("content", VIP_ERROR);
		post(i);
	}
	send(0, 0);
}

/* Names: the length is left 0, which is no reason to fail. */
void lookup()
{
	char b[40], host[256];
	VIP_NET_ADDRESS *a = (VIP_NET_ADDRESS *)b;
	VIP_RETURN r;

	memset(b, 0, sizeof(b));
	if (gethostname(host, sizeof(host)) < 0)
		return;
	r = VipNSGetHostByName(nic, host, a, 0);
	if (r == VIP_SUCCESS && a->HostAddressLen != na.NicAddressLen)
		error("VipNSGetHostByName", r);
}

int main(argc, argv)
	int argc;
	char **argv;
{
	char disc[16];
	int status, pid;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DEVICE [ROUNDS]\n", argv[0]);
		exit(1);
	}
	if (argc > 2)
		rounds = atoi(argv[2]);
	sprintf(disc, "old.%d", (int)getpid());
	if ((pid = fork()) == 0)
		who = "server";
	setup(argv[1]);
	if (pid == 0) {
		/*
		 * The client goes first, which to a handler is an error like
		 * any other, and without one is nothing to talk of.
		 */
		VipErrorCallback(nic, 0, 0);
		server(disc);
		finish();
		exit(0);
	}
	lookup();
	client(disc);
	finish();
	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "the server ended with %#x\n", status);
		exit(1);
	}
	printf("%d rounds\n", rounds);
	return 0;
}
