// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Registered memory that the program has unmapped or protected, and messages
 * too long for a packet into it and out of it: an error, and both processes
 * live. Memory that goes while a message is sent out of it: an error, or the
 * message as it was.
 *
 *	gone DEVICE
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pair.h"

#define PAGE		4096
#define ROOM		(1u << 20)
#define WAIT_MS		15000
#define SENDING		0xffffu		/* in place of a status: see sending() */

enum whose { TARGET, OWN };
enum how { UNMAP, PART, READ_ONLY, NONE };

static const struct row {
	const char *what;
	enum whose whose;
	enum how how;
	unsigned short op;
	unsigned int len;
	unsigned int status;
} rows[] = {
	{ "write, unmapped", TARGET, UNMAP, VIP_CONTROL_OP_RDMAWRITE, 20000,
	  VIP_STATUS_RDMA_PROT_ERROR },
	{ "long write, unmapped", TARGET, UNMAP, VIP_CONTROL_OP_RDMAWRITE,
	  ROOM, VIP_STATUS_RDMA_PROT_ERROR },
	{ "write, a page unmapped", TARGET, PART, VIP_CONTROL_OP_RDMAWRITE,
	  20000, VIP_STATUS_RDMA_PROT_ERROR },
	{ "write, read-only", TARGET, READ_ONLY, VIP_CONTROL_OP_RDMAWRITE,
	  20000, VIP_STATUS_RDMA_PROT_ERROR },
	{ "write, PROT_NONE", TARGET, NONE, VIP_CONTROL_OP_RDMAWRITE, 20000,
	  VIP_STATUS_RDMA_PROT_ERROR },
	{ "read, unmapped", TARGET, UNMAP, VIP_CONTROL_OP_RDMAREAD, 20000,
	  VIP_STATUS_RDMA_PROT_ERROR },
	{ "read, a page unmapped", TARGET, PART, VIP_CONTROL_OP_RDMAREAD,
	  20000, VIP_STATUS_RDMA_PROT_ERROR },
	{ "read, read-only", TARGET, READ_ONLY, VIP_CONTROL_OP_RDMAREAD, 20000,
	  0 },
	{ "send, own unmapped", OWN, UNMAP, VIP_CONTROL_OP_SENDRECV, 20000,
	  VIP_STATUS_PROTECTION_ERROR },
	{ "write, own unmapped", OWN, UNMAP, VIP_CONTROL_OP_RDMAWRITE, ROOM,
	  VIP_STATUS_PROTECTION_ERROR },
	{ "write, own PROT_NONE", OWN, NONE, VIP_CONTROL_OP_RDMAWRITE, 20000,
	  VIP_STATUS_PROTECTION_ERROR },
	{ "read, own unmapped", OWN, UNMAP, VIP_CONTROL_OP_RDMAREAD, 20000,
	  VIP_STATUS_PROTECTION_ERROR },
	{ "read, own read-only", OWN, READ_ONLY, VIP_CONTROL_OP_RDMAREAD, ROOM,
	  VIP_STATUS_PROTECTION_ERROR },
	{ "short send, unmapped meanwhile", OWN, UNMAP,
	  VIP_CONTROL_OP_SENDRECV, 20000, SENDING },
	{ "send, unmapped meanwhile", OWN, UNMAP, VIP_CONTROL_OP_SENDRECV,
	  ROOM, SENDING },
	{ "write, unmapped meanwhile", OWN, UNMAP, VIP_CONTROL_OP_RDMAWRITE,
	  ROOM, SENDING },
	{ "write, a page unmapped meanwhile", OWN, PART,
	  VIP_CONTROL_OP_RDMAWRITE, ROOM, SENDING },
	{ "write, PROT_NONE meanwhile", OWN, NONE, VIP_CONTROL_OP_RDMAWRITE,
	  ROOM, SENDING },
	{ "read, unmapped meanwhile", TARGET, UNMAP, VIP_CONTROL_OP_RDMAREAD,
	  ROOM, SENDING },
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

/* What the two processes tell each other. */
static struct shared {
	_Atomic int ready;
	_Atomic int posted;		/* SENDING: the message is */
	_Atomic int gone;		/* SENDING: the memory is */
	_Atomic int good;		/* SENDING: it arrived, says its status */
	void *at;
	VIP_MEM_HANDLE handle;
} *shared;

static char *open_room(struct end *e, VIP_MEM_HANDLE *handle)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_RECEPTION, ROOM, NULL,
				NULL, VIP_TRUE, VIP_TRUE };
	VIP_MEM_ATTRIBUTES all = { NULL, VIP_TRUE, VIP_TRUE };
	char *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap", 0);
	open_end(e);
	OK(VipDestroyVi(e->vi));
	OK(VipCreateVi(e->nic, &a, NULL, NULL, &e->vi));
	OK(VipRegisterMem(e->nic, p, ROOM, &all, handle));
	return p;
}

static void change(char *p, const struct row *r)
{
	int rc = r->how == UNMAP ? munmap(p, ROOM) :
		 r->how == PART ? munmap(p + 2 * PAGE, PAGE) :
		 mprotect(p, ROOM, r->how == NONE ? PROT_NONE : PROT_READ);

	if (rc)
		fail("munmap", rc);
}

static char byte_at(size_t i)
{
	return (char)(i * 31 + i / 4093 + 1);
}

static void fill(char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = byte_at(i);
}

static int is_filled(const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != byte_at(i))
			return 0;
	return 1;
}

static void await(_Atomic int *flag)
{
	while (!*flag)
		usleep(1000);
}

/* Takes the memory away while the other thread answers the read. */
static void *take_away(void *row)
{
	await(&shared->posted);
	usleep(200000);
	change(shared->at, row);
	shared->gone = 1;
	return NULL;
}

/* SENDING: it takes nothing before the memory is gone, or loses its own. */
static void lose_it(const struct row *r)
{
	pthread_t t;

	shared->ready = 1;
	if (r->whose == OWN)
		await(&shared->gone);
	else if (pthread_create(&t, NULL, take_away, (void *)r))
		fail("pthread_create", 0);
}

/* It lives until its connection is over, and then on. */
static void target(const struct row *r, const char *disc)
{
	VIP_DESCRIPTOR *d, *done;
	struct end e = { 0 };
	char *p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->at = p = open_room(&e, &shared->handle);
	if (r->status == SENDING && r->whose == TARGET)
		fill(p, r->len);
	d = descriptor(&e, 0);
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = p;
	d->DS[0].Local.Handle = shared->handle;
	d->DS[0].Local.Length = r->len;
	d->CS.Length = r->len;
	OK(VipPostRecv(e.vi, d, e.mem_h));
	serve(&e, disc);
	if (r->status == SENDING) {
		lose_it(r);
	} else {
		if (r->whose == TARGET)
			change(p, r);
		shared->ready = 1;
	}
	VipRecvWait(e.vi, WAIT_MS, &done);
	/* A Write completes nothing here: the end of the connection does. */
	while (r->status == SENDING && !shared->good)
		VipRecvWait(e.vi, 10, &done);
	if (shared->good == 1 && r->whose == OWN && !is_filled(p, r->len))
		fail("other bytes have come", 0);
	OK(VipDisconnect(e.vi));
	OK(VipCloseNic(e.nic));
	exit(0);
}

static void post(struct end *e, const struct row *r, char *p,
		 VIP_MEM_HANDLE handle)
{
	VIP_DESCRIPTOR *d = descriptor(e, 0);
	int i = 0;

	if (r->op != VIP_CONTROL_OP_SENDRECV) {
		d->DS[i].Remote.Data.Address = shared->at;
		d->DS[i++].Remote.Handle = shared->handle;
	}
	d->DS[i].Local.Data.Address = p;
	d->DS[i].Local.Handle = handle;
	d->DS[i++].Local.Length = r->len;
	d->CS.SegCount = (unsigned short)i;
	d->CS.Control = r->op;
	d->CS.Length = r->len;
	OK(VipPostSend(e->vi, d, e->mem_h));
}

/*
 * Whether a message whose memory went meanwhile has ended well, with the bytes
 * that were sent and a connection that goes on, or has failed and the connection
 * with it.
 */
static int sending(struct end *e, const struct row *r, const char *p,
		   unsigned int got)
{
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;
	VIP_BOOLEAN sends, recvs;

	OK(VipQueryVi(e->vi, &state, &a, &sends, &recvs));
	shared->good = got ? -1 : 1;
	if (!got)
		return state == VIP_STATE_CONNECTED &&
		       (r->whose == OWN || is_filled(p, r->len));
	return state == VIP_STATE_ERROR &&
	       (got == VIP_STATUS_PROTECTION_ERROR ||
		got == VIP_STATUS_RDMA_PROT_ERROR ||
		got == VIP_STATUS_REMOTE_DESC_ERROR ||
		got == VIP_STATUS_TRANSPORT_ERROR);
}

/* 1: it is not as it should be. */
static int run(const struct row *r, const char *disc)
{
	VIP_DESCRIPTOR *done = NULL;
	VIP_MEM_HANDLE handle;
	struct end e = { 0 };
	int pid, status, ok;
	unsigned int got;
	VIP_RETURN rc;
	char *p;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (!pid)
		target(r, disc);
	p = open_room(&e, &handle);
	if (r->status == SENDING && r->whose == OWN)
		fill(p, r->len);
	request(&e, disc);
	await(&shared->ready);
	if (r->status != SENDING && r->whose == OWN)
		change(p, r);
	post(&e, r, p, handle);
	if (r->status == SENDING) {
		shared->posted = 1;
		if (r->whose == OWN) {
			change(p, r);
			shared->gone = 1;
		}
		await(&shared->gone);
	}
	rc = VipSendWait(e.vi, WAIT_MS, &done);
	got = done ? done->CS.Status & VIP_STATUS_ERROR_MASK : 0;
	ok = r->status == SENDING ? done && sending(&e, r, p, got) :
				    done && got == r->status;
	if (!done)
		shared->good = -1;
	OK(VipDisconnect(e.vi));
	OK(VipCloseNic(e.nic));
	status = wait_for_child(pid);
	if (!status && ok)
		return 0;
	printf("%s: code %d, status %x and not %x; the target's %d\n", r->what,
	       (int)rc, got, r->status, status);
	return 1;
}

int main(int argc, char **argv)
{
	int pid, status, bad = 0;
	char disc[16];
	size_t i;

	if (argc != 2) {
		fprintf(stderr, "usage: gone DEVICE\n");
		return 2;
	}
	device = argv[1];
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (i = 0; i < ROWS; i++) {
		snprintf(disc, sizeof(disc), "gone%zu", i);
		fflush(stdout);
		pid = fork();
		if (!pid)
			exit(run(&rows[i], disc));
		status = wait_for_child(pid);
		if (status > 1 || status < 0)
			printf("%s: the program's status is %d\n",
			       rows[i].what, status);
		bad += status != 0;
	}
	printf("%zu passed, %d failed\n", ROWS - (size_t)bad, bad);
	return bad != 0;
}
