// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Very many connections one after the other, from several threads. */
#include "scale.h"
#include <stdio.h>
#include <string.h>

#define CS_DISC		DISC "-cs"

static struct {
	struct nic nic;
	union net_addr host;
	uint32_t taken, accepted, late;	/* atomic */
	uint64_t *times[2];		/* connect and disconnect */
	bool client;
} all;

/* Of a VI that is not connected any more, whose first @had are taken. */
static void all_anew(struct end *e, uint32_t had)
{
	VIP_RETURN rc;
	uint32_t len, i;

	for (i = had; i < END_RX; i++)
		if (end_recv(e, 0, &len, &rc) || rc != VIP_DESCRIPTOR_ERROR)
			die("a receive was not flushed: %s", vip_str(rc));
	for (i = 0; i < END_RX; i++)
		if (end_repost(e))
			die("cannot post a receive");
}

/* The connection ends by the other side: make the VI Idle again. */
static void wait_end(struct end *e)
{
	VIP_RETURN rc;
	uint32_t len;

	if (end_recv(e, args.limit, &len, &rc) || rc != VIP_DESCRIPTOR_ERROR)
		die("a connection does not end: %s", vip_str(rc));
	if (VipDisconnect(e->vi))
		die("a dead connection cannot be left");
	all_anew(e, 1);
}

static void leave(struct end *e)
{
	if (VipDisconnect(e->vi))
		die("cannot disconnect");
	all_anew(e, 0);
}

static void ask_and_leave(struct end *e, uint32_t i)
{
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES a;
	uint64_t start, first = now_ns();
	VIP_RETURN rc;

	net_addr_local(&local, &all.nic, "", 0);
	net_addr_set(&remote, all.host.a.HostAddress,
		     all.host.a.HostAddressLen, CS_DISC, strlen(CS_DISC));
	do {
		start = now_ns();
		rc = VipConnectRequest(e->vi, &local.a, &remote.a, args.limit,
				       &a);
		if (rc == VIP_NO_MATCH)
			sleep_ns(100000);
	} while (rc == VIP_NO_MATCH && start - first < args.limit * MS);
	if (rc != VIP_SUCCESS)
		die("connection %u: %s", i, vip_str(rc));
	all.times[0][i] = now_ns() - start;
	start = now_ns();
	leave(e);
	all.times[1][i] = now_ns() - start;
}

static void *asking(void *arg)
{
	struct end e;
	uint32_t i;

	end_begin(&e, &all.nic, false);
	while ((i = fetch_add(&all.taken, 1)) < args.count)
		ask_and_leave(&e, i);
	end_finish(&e);
	return arg;
}

static void *accepting(void *arg)
{
	struct conn_peer peer;
	struct end e;
	VIP_RETURN rc;

	end_begin(&e, &all.nic, false);
	while (load_acquire(&all.accepted) < args.count) {
		rc = conn_wait(&all.nic, CS_DISC, 200, &peer);
		if (rc == VIP_TIMEOUT)
			continue;
		if (rc == VIP_SUCCESS)
			rc = VipConnectAccept(peer.conn, e.vi);
		/*
		 * A request that was repeated since the answer was slow, and
		 * came when its connection was over: no peer is there.
		 */
		if (rc == VIP_TIMEOUT) {
			fetch_add(&all.late, 1);
			continue;
		}
		if (rc != VIP_SUCCESS)
			die("accept: %s", vip_str(rc));
		/* The peer of what follows: the same, whichever it is. */
		if (!fetch_add(&all.accepted, 1))
			all.host = peer.addr;
		wait_end(&e);
	}
	end_finish(&e);
	return arg;
}

/* Peer to peer: a thread here and one there have a discriminator together. */
static void *peering(void *arg)
{
	uint32_t me = (uintptr_t)arg, per = args.count / args.threads, i;
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES a;
	uint64_t start;
	char disc[32];
	struct end e;
	VIP_RETURN rc;

	end_begin(&e, &all.nic, false);
	snprintf(disc, sizeof(disc), DISC "-p2p-%u", me);
	net_addr_local(&local, &all.nic, disc, strlen(disc));
	net_addr_set(&remote, all.host.a.HostAddress,
		     all.host.a.HostAddressLen, disc, strlen(disc));
	for (i = 0; i < per; i++) {
		start = now_ns();
		rc = VipConnectPeerRequest(e.vi, &local.a, &remote.a,
					   args.limit);
		if (rc == VIP_SUCCESS)
			rc = VipConnectPeerWait(e.vi, &a);
		if (rc != VIP_SUCCESS)
			die("peer connection %u: %s", i, vip_str(rc));
		all.times[0][me * per + i] = now_ns() - start;
		start = now_ns();
		if (all.client)
			leave(&e);
		else
			wait_end(&e);
		all.times[1][me * per + i] = now_ns() - start;
	}
	end_finish(&e);
	return arg;
}

static void timed(const char *what, void *(*f)(void *))
{
	uint64_t start = now_ns();
	char name[48];
	int i;

	threads_run(f, args.threads);
	printf("%s %u per_s %.0f\n", what, args.count,
	       args.count * 1e9 / (now_ns() - start));
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s_%sconnect", what,
			 i ? "dis" : "");
		report_times(name, all.times[i], args.count, FEW_FIRST);
	}
}

static void open_all(void)
{
	args.count = args.count / args.threads * args.threads;
	all.times[0] = xcalloc(args.count, sizeof(uint64_t));
	all.times[1] = xcalloc(args.count, sizeof(uint64_t));
	nic_open(&all.nic, args.device);
	peer_address(&all.host, &all.nic);
}

int run_connects(void)
{
	all.client = true;
	open_all();
	timed("request", asking);
	timed("peer", peering);
	nic_close(&all.nic);
	return 0;
}

int serve_connects(void)
{
	open_all();
	printf("ready\n");
	threads_run(accepting, args.threads);
	threads_run(peering, args.threads);
	nic_close(&all.nic);
	/* How many there are says how slow answers were. */
	printf("accepts without a client %u\n", all.late);
	return 0;
}
