// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a process may be doing when it is killed. None of these ends. */
#include "scale.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONNECT_MS	5000u

static struct nic nic;
static uint32_t my_id;

static void talk(enum order_type type, bool cq)
{
	struct order o = { .type = type, .id = my_id, .n = ~0u };
	struct end e;
	VIP_RETURN rc;
	uint32_t len;

	if (order_begin(&e, &nic, cq, CONNECT_MS, &o))
		return;
	if (type == ORDER_PUSH)
		stream_push(&e, my_id, ~0u);
	else if (type == ORDER_PULL)
		stream_pull(&e, my_id, ~0u);
	else
		end_recv(&e, VIP_INFINITE, &len, &rc);
}

static void *pushing(void *arg)
{
	talk(ORDER_PUSH, false);
	return arg;
}

static void *pulling(void *arg)
{
	talk(ORDER_PULL, false);
	return arg;
}

/* An end, under the name @disc, and an address where none listens. */
static int open_for_nobody(struct end *e, const char *disc,
			   union net_addr *local, union net_addr *remote)
{
	union net_addr host;

	if (end_open(e, &nic, false))
		return -1;
	peer_address(&host, &nic);
	net_addr_local(local, &nic, disc, strlen(disc));
	net_addr_set(remote, host.a.HostAddress, host.a.HostAddressLen,
		     DISC_NOBODY, strlen(DISC_NOBODY));
	return 0;
}

/* Asks where none answers, or is not let in. */
static void *asking(void *arg)
{
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES a;
	struct end e;

	if (open_for_nobody(&e, "", &local, &remote))
		return arg;
	for (;;)
		VipConnectRequest(e.vi, &local.a, &remote.a, 100, &a);
	return arg;
}

/* The server's side of a connection, from its wait on. */
static void *called(void *arg)
{
	struct order o = { .type = ORDER_CALL, .id = my_id };
	struct end ctl, e;
	char disc[32];

	if (order_begin(&ctl, &nic, false, CONNECT_MS, &o) ||
	    end_open(&e, &nic, false))
		return arg;
	snprintf(disc, sizeof(disc), DISC "-%u", my_id);
	if (conn_accept(&nic, disc, e.vi, CONNECT_MS) == VIP_SUCCESS)
		stream_pull(&e, my_id, ~0u);
	return arg;
}

#define BIG	(12u << 20)

static void *registering(void *arg)
{
	VIP_MEM_HANDLE h;
	uint8_t *p;

	for (;;) {
		p = memory_try(BIG);
		if (!p)
			return arg;
		if (VipRegisterMem(nic.h, p, BIG, NULL, &h) == VIP_SUCCESS)
			VipDeregisterMem(nic.h, p, h);
		munmap(p, BIG);
	}
}

/* Everything that can be made, and unmade. */
static void *making(void *arg)
{
	VIP_PROTECTION_HANDLE tag;
	VIP_CQ_HANDLE cq;
	struct end e;

	for (;;) {
		if (VipCreatePtag(nic.h, &tag) == VIP_SUCCESS)
			VipDestroyPtag(nic.h, tag);
		if (VipCreateCQ(nic.h, 100, &cq) == VIP_SUCCESS) {
			VipResizeCQ(cq, 1000);
			VipDestroyCQ(cq);
		}
		if (!end_open(&e, &nic, true))
			end_close(&e);
	}
	return arg;
}

static void notified(void)
{
	struct order o = { .type = ORDER_IDLE, .id = my_id };
	struct end e;

	if (order_begin(&e, &nic, false, CONNECT_MS, &o))
		return;
	VipRecvNotify(e.vi, NULL, nothing_done);
}

static void *peering(void *arg)
{
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES a;
	struct end e;

	if (open_for_nobody(&e, DISC_NOBODY, &local, &remote))
		return arg;
	for (;;)
		if (VipConnectPeerRequest(e.vi, &local.a, &remote.a, 100) ==
		    VIP_SUCCESS)
			VipConnectPeerWait(e.vi, &a);
	return arg;
}

int scale_victim(void *victim)
{
	static void *(*const at_once[])(void *) = {
		pushing, pulling, asking, called, registering, making, peering,
	};
	struct victim *v = victim;
	uint32_t i;

	my_id = v->id;
	nic_open(&nic, args.device);
	switch (v->role) {
	case 0:
		talk(ORDER_PUSH, false);
		break;
	case 1:
		talk(ORDER_PULL, true);
		break;
	case 2:
		asking(NULL);
		break;
	case 3:
		called(NULL);
		break;
	case 4:
		talk(ORDER_IDLE, true);
		break;
	case 5:
		notified();
		break;
	case 6:
		registering(NULL);
		break;
	case 7:
		making(NULL);
		break;
	default:
		/* All of it, of one handle; which ones is drawn. */
		for (i = 0; i < 4; i++)
			thread_start(at_once[dice_roll(&v->seed) % 7], NULL);
		break;
	}
	for (;;)
		pause();
}
