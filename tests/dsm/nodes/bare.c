// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See bare.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "../../../examples/common.h"

#define PAGE	4096u
#define BYTES	64u

struct place {
	VIP_UINT64 address;
	VIP_MEM_HANDLE handle;
};

struct memory {
	char page[PAGE];
	char out[BYTES], in[BYTES];
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR send;
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR recv;
};

static struct {
	struct node node;
	struct memory *memory;
	VIP_MEM_HANDLE handle;
	VIP_VI_HANDLE vi;
	struct place peer;
	unsigned int rank;
	char *device;
	char disc[64];
	char *host;	/* node 1's */
	unsigned long spin;
} bare;

void bare_note(void)
{
	const char *device = getenv("VIADSM_NIC"), *job = getenv("VIADSM_JOB");
	const char *spin = getenv("VIADSM_SPIN"), *hosts = getenv("VIADSM_HOSTS");
	const char *second = hosts ? strchr(hosts, ',') : NULL;

	bare.device = strdup(device ? device : "shm:0");
	snprintf(bare.disc, sizeof(bare.disc), "%s.b", job ? job : "");
	bare.host = second ? strndup(second + 1, strcspn(second + 1, ",")) :
		    strdup("localhost");
	bare.spin = spin ? strtoul(spin, NULL, 10) : 0;
}

static void post_recv(void)
{
	struct memory *m = bare.memory;

	describe(&m->recv, m->in, BYTES, bare.handle);
	must(VipPostRecv(bare.vi, &m->recv, bare.handle));
}

static void wait_recv(void)
{
	unsigned long looks = bare.spin;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	do
		r = VipRecvDone(bare.vi, &d);
	while (r == VIP_NOT_DONE && looks--);
	if (r == VIP_NOT_DONE)
		r = VipRecvWait(bare.vi, VIP_INFINITE, &d);
	completed(r, d, "receive");
}

static void send_and_wait(const char *what)
{
	unsigned long looks = bare.spin;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	must(VipPostSend(bare.vi, &bare.memory->send, bare.handle));
	do
		r = VipSendDone(bare.vi, &d);
	while (r == VIP_NOT_DONE && looks--);
	if (r == VIP_NOT_DONE)
		r = VipSendWait(bare.vi, VIP_INFINITE, &d);
	completed(r, d, what);
}

static void send_out(void)
{
	describe(&bare.memory->send, bare.memory->out, BYTES, bare.handle);
	send_and_wait("send");
}

void bare_round(void)
{
	if (!bare.rank)
		send_out();
	wait_recv();
	post_recv();
	if (bare.rank)
		send_out();
}

void bare_read_page(void)
{
	struct memory *m = bare.memory;

	describe_write(&m->send, m->page, PAGE, bare.handle, bare.peer.address,
		       bare.peer.handle);
	m->send.CS.Control = VIP_CONTROL_OP_RDMAREAD;
	send_and_wait("RDMA Read");
}

void bare_open(unsigned int rank)
{
	VIP_VI_ATTRIBUTES vi = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = PAGE, .EnableRdmaRead = VIP_TRUE,
	};
	VIP_MEM_ATTRIBUTES open = { .EnableRdmaRead = VIP_TRUE };
	struct place own;

	bare.rank = rank;
	open_node(&bare.node, bare.device);
	if (posix_memalign((void **)&bare.memory, PAGE, sizeof(*bare.memory)))
		exit(1);
	memset(bare.memory, 0, sizeof(*bare.memory));
	must(VipRegisterMem(bare.node.nic, bare.memory, sizeof(*bare.memory),
			    &open, &bare.handle));
	must(VipCreateVi(bare.node.nic, &vi, NULL, NULL, &bare.vi));
	post_recv();
	if (rank)
		serve_one(&bare.node, bare.vi, bare.disc);
	else
		connect_to(&bare.node, bare.vi, bare.host, bare.disc);
	own = (struct place){ (uintptr_t)bare.memory->page, bare.handle };
	memcpy(bare.memory->out, &own, sizeof(own));
	bare_round();
	memcpy(&bare.peer, bare.memory->in, sizeof(bare.peer));
}
