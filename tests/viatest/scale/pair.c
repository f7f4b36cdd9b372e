// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Both ends of several connections in one process, each on an interface of
 * its own, until something takes one of these away: both ends must be told.
 */
#include "scale.h"
#include "common/netns.h"
#include <stdio.h>

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
		warn_msg("end %u of %u: result %d", h->at, h->id, r);
		fetch_add(&bad, 1);
	}
	return NULL;
}

static void join(struct half *two, uint32_t id)
{
	char disc[32];
	uint32_t i;
	VIP_RETURN rc;

	for (i = 0; i < 2; i++) {
		two[i].id = id;
		two[i].at = i;
		end_begin(&two[i].e, &nic[i], id & 1);
	}
	snprintf(disc, sizeof(disc), DISC "-pair-%u", id);
	rc = end_join(&two[0].e, &two[1].e, disc, args.limit);
	if (rc != VIP_SUCCESS)
		die("connect: %s", vip_str(rc));
}

/* No thread is made there, as one for errors would be: it would hold it up. */
static void open_nic(struct nic *n, const char *device, const char *netns)
{
	int cookie = netns_enter(netns);

	if (nic_try(n, device))
		die("cannot open %s", device);
	netns_leave(cookie);
}

int run_pair(void)
{
	struct half *all = xcalloc(2 * args.count, sizeof(*all));
	uint64_t start;
	uint32_t i;

	open_nic(&nic[0], args.device, NULL);
	open_nic(&nic[1], args.peer ?: args.device, args.netns);
	for (i = 0; i < args.count; i++)
		join(&all[2 * i], i);
	for (i = 0; i < 2 * args.count; i++)
		all[i].thread = thread_start(transfer, &all[i]);
	/* Two pushes of a window each: then it does flow. */
	while (all[0].e.sent < 64 && !bad)
		sleep_ms(1);
	printf("flowing\n");
	for (i = 0; i < 2 * args.count; i++)
		pthread_join(all[i].thread, NULL);
	start = now_ns();
	/* All that is left must go, on a NIC that is there and on one not. */
	for (i = 0; i < 2 * args.count; i++)
		end_close(&all[i].e);
	sleep_ms(args.seconds * 1000);
	for (i = 0; i < 2; i++)
		nic_close(&nic[i]);
	printf("connections %u not_told %u close_ms %.0f\n", args.count, bad,
	       ms_since(start));
	return bad != 0;
}
