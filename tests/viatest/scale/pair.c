// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Both ends of several connections in one process, each on an interface of
 * its own, until something takes one of these away: both ends must be told.
 */
#include "scale.h"
#include "common/netns.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nic nic[2];
static uint32_t bad;		/* atomic: ends that were not told */

struct half {
	struct end e;
	uint32_t id, at;
	pthread_t thread;
};

static void *transfer(void *arg)
{
	struct half *h = arg;
	enum stream_result r;

	if (h->at)
		r = stream_pull(&h->e, h->id, ~0u);
	else
		r = stream_push(&h->e, h->id, ~0u);
	if (r != ST_ENDED) {
		fprintf(stderr, "viatest scale: end %u of %u: result %d\n", h->at,
			h->id, r);
		__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *accepting(void *arg)
{
	struct half *h = arg;
	struct conn_peer peer;
	char disc[32];
	VIP_RETURN rc;

	snprintf(disc, sizeof(disc), DISC "-pair-%u", h->id);
	rc = conn_wait(&nic[1], disc, scale_opt.limit, &peer);
	if (rc == VIP_SUCCESS)
		rc = VipConnectAccept(peer.conn, h->e.vi);
	if (rc != VIP_SUCCESS)
		die("accept: %s", vip_str(rc));
	return NULL;
}

static void join(struct half *two, uint32_t id)
{
	union net_addr host;
	char disc[32];
	pthread_t t;
	uint32_t i;
	VIP_RETURN rc;

	for (i = 0; i < 2; i++) {
		two[i].id = id;
		two[i].at = i;
		if (end_open(&two[i].e, &nic[i], id & 1))
			die("no resources");
	}
	net_addr_local(&host, &nic[1], "", 0);
	snprintf(disc, sizeof(disc), DISC "-pair-%u", id);
	pthread_create(&t, NULL, accepting, &two[1]);
	rc = conn_request(&nic[0], two[0].e.vi, &host, disc, "", 0, scale_opt.limit);
	if (rc != VIP_SUCCESS)
		die("connect: %s", vip_str(rc));
	pthread_join(t, NULL);
}

/* No thread is made there, as one for errors would be: it would hold it up. */
static void open_nic(struct nic *n, const char *device, const char *netns)
{
	int cookie = netns_enter(netns);

	n->dev = device;
	if (VipOpenNic(device, &n->h) || VipQueryNic(n->h, &n->attr))
		die("cannot open %s", device);
	netns_leave(cookie);
}

int run_pair(void)
{
	struct half *all = xcalloc(2 * scale_opt.count, sizeof(*all));
	uint64_t start;
	uint32_t i;

	open_nic(&nic[0], scale_opt.device, NULL);
	open_nic(&nic[1], scale_opt.peer_device ? scale_opt.peer_device : scale_opt.device,
		 scale_opt.netns);
	for (i = 0; i < scale_opt.count; i++)
		join(&all[2 * i], i);
	for (i = 0; i < 2 * scale_opt.count; i++)
		pthread_create(&all[i].thread, NULL, transfer, &all[i]);
	/* Two pushes of a window each: then it does flow. */
	while (all[0].e.sent < 64 && !bad)
		sleep_ns(1000000);
	printf("flowing\n");
	fflush(stdout);
	for (i = 0; i < 2 * scale_opt.count; i++)
		pthread_join(all[i].thread, NULL);
	start = now_ns();
	/* All that is left must go, on a NIC that is there and on one not. */
	for (i = 0; i < 2 * scale_opt.count; i++)
		end_close(&all[i].e);
	if (scale_opt.seconds)
		sleep_ns(scale_opt.seconds * 1000000000ull);
	for (i = 0; i < 2; i++)
		nic_close(&nic[i]);
	printf("connections %u not_told %u close_ms %.0f\n", scale_opt.count, bad,
	       (now_ns() - start) / 1e6);
	return bad != 0;
}
