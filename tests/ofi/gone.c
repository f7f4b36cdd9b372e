// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Registered memory that the program has unmapped or protected, and messages
 * too long for a packet into it and out of it: an error, and both processes
 * live.
 *
 *	gone DEVICE
 */
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
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

/* What the target says of its memory; of both processes. */
static struct shared {
	_Atomic int ready;
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

static void change(char *p, enum how how)
{
	int rc = how == UNMAP ? munmap(p, ROOM) :
		 how == PART ? munmap(p + 2 * PAGE, PAGE) :
		 mprotect(p, ROOM, how == NONE ? PROT_NONE : PROT_READ);

	if (rc)
		fail("munmap", rc);
}

/* It lives until its connection is over, and then on. */
static void target(const struct row *r, const char *disc)
{
	VIP_DESCRIPTOR *d, *done;
	struct end e = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->at = open_room(&e, &shared->handle);
	d = descriptor(&e, 0);
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = e.mem + PAGE / 2;
	d->DS[0].Local.Handle = e.mem_h;
	d->DS[0].Local.Length = 64;
	d->CS.Length = 64;
	OK(VipPostRecv(e.vi, d, e.mem_h));
	serve(&e, disc);
	if (r->whose == TARGET)
		change(shared->at, r->how);
	shared->ready = 1;
	VipRecvWait(e.vi, WAIT_MS, &done);
	OK(VipDisconnect(e.vi));
	OK(VipCloseNic(e.nic));
	exit(0);
}

/* 1: it is not as it should be. */
static int run(const struct row *r, const char *disc)
{
	VIP_MEM_HANDLE handle;
	VIP_DESCRIPTOR *d, *done = NULL;
	struct end e = { 0 };
	int pid, status, i = 0;
	unsigned int got;
	VIP_RETURN rc;
	char *p;

	shared->ready = 0;
	pid = fork();
	if (!pid)
		target(r, disc);
	p = open_room(&e, &handle);
	request(&e, disc);
	while (!shared->ready)
		usleep(1000);
	d = descriptor(&e, 0);
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
	if (r->whose == OWN)
		change(p, r->how);
	OK(VipPostSend(e.vi, d, e.mem_h));
	rc = VipSendWait(e.vi, WAIT_MS, &done);
	got = done ? done->CS.Status & VIP_STATUS_ERROR_MASK : 0;
	OK(VipDisconnect(e.vi));
	OK(VipCloseNic(e.nic));
	status = wait_for_child(pid);
	if (!status && done && got == r->status)
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
