// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * RDMA Write with completion at the target.
 *
 *	rdma_write DEVICE		offers a page to be written
 *	rdma_write DEVICE HOST		writes it
 *
 * The target tells where its page is and by which handle. The writer's
 * immediate data consume one receive of the target: its completion means that
 * every byte written before it is there, and has the number of bytes in Length.
 * Nothing goes into the buffer of that receive, so it needs none.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

#define DISC	"rdma_write"
#define PAGE	4096
#define VERSION	7		/* what the immediate data say here */

struct grant {
	VIP_UINT64 address;
	VIP_MEM_HANDLE handle;
	VIP_UINT32 bytes;
};

struct memory {
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR recv;
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR send;
	struct grant grant;
	char page[PAGE];
};

static void target(const struct node *n, VIP_VI_HANDLE vi)
{
	VIP_MEM_HANDLE own, open;
	struct memory *m = new_region(n, sizeof(*m), VIP_FALSE, &own);
	VIP_MEM_ATTRIBUTES writable = { .EnableRdmaWrite = VIP_TRUE };
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	/* The page alone, by a second registration: the peer can reach neither
	 * the descriptors nor the grant.
	 */
	must(VipRegisterMem(n->nic, m->page, PAGE, &writable, &open));
	describe(&m->recv, NULL, 0, 0);
	must(VipPostRecv(vi, &m->recv, own));
	serve_one(n, vi, DISC);

	m->grant = (struct grant){ (VIP_UINT64)(uintptr_t)m->page, open, PAGE };
	describe(&m->send, &m->grant, sizeof(m->grant), own);
	must(VipPostSend(vi, &m->send, own));
	r = VipSendWait(vi, VIP_INFINITE, &d);
	completed(r, d, "grant");

	r = VipRecvWait(vi, VIP_INFINITE, &d);
	completed(r, d, "write of the peer");
	if (!(d->CS.Status & VIP_STATUS_IMMEDIATE))
		errx(1, "a message where an RDMA Write was expected");
	printf("version %u, %u bytes: %s\n", d->CS.ImmediateData, d->CS.Length,
	       m->page);
	must(VipDeregisterMem(n->nic, m->page, open));
}

static void writer(const struct node *n, VIP_VI_HANDLE vi, const char *host)
{
	VIP_MEM_HANDLE own;
	struct memory *m = new_region(n, sizeof(*m), VIP_FALSE, &own);
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	describe(&m->recv, &m->grant, sizeof(m->grant), own);
	must(VipPostRecv(vi, &m->recv, own));
	connect_to(n, vi, host, DISC);
	r = VipRecvWait(vi, VIP_INFINITE, &d);
	completed(r, d, "grant");
	if (d->CS.Length != sizeof(m->grant) || m->grant.bytes < PAGE)
		errx(1, "a grant of another kind");

	strcpy(m->page, "written by the peer");
	describe_write(&m->send, m->page, PAGE, own, m->grant.address,
		       m->grant.handle);
	m->send.CS.Control |= VIP_CONTROL_IMMEDIATE;
	m->send.CS.ImmediateData = VERSION;
	must(VipPostSend(vi, &m->send, own));
	r = VipSendWait(vi, VIP_INFINITE, &d);
	completed(r, d, "RDMA Write");
	printf("%u bytes written\n", d->CS.Length);
}

int main(int argc, char **argv)
{
	VIP_VI_HANDLE vi;
	struct node n;

	if (argc < 2 || argc > 3)
		errx(2, "usage: rdma_write DEVICE [HOST]");
	open_node(&n, argv[1]);
	vi = new_vi(&n, PAGE, NULL, NULL);
	if (argc == 2)
		target(&n, vi);
	else
		writer(&n, vi, argv[2]);
	must(VipDisconnect(vi));
	must(VipCloseNic(n.nic));
	return 0;
}
