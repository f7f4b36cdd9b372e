// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fuzz --race-partner: the other end of a race over a wire.  It asks,
 * looks for its peer, waits, answers, or lets lie, with times of a tick or
 * two, so that deadlines fall into what the racing host does; until it is
 * killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "race.h"

#define LIFE		64u		/* attempts of a VI */
#define ENDS		4u

struct end {
	pthread_t id;
	struct rng r;
	void (*live)(struct end *e);
	struct abi a;
	uint32_t vi;
};

static void pause_for(struct rng *r)
{
	usleep(rng_below(r, 4000));
}

static void ask(struct end *e)
{
	int peer = rng_one_in(&e->r, 4);
	struct via_conn_request q = {
		.vi = e->vi,
		.timeout = rng_one_in(&e->r, 8) ? 50000000 :
			   1 + rng_below(&e->r, 14000000),
	};

	race_address(&q.local, e->a.hello.addr, peer ? 'p' : 'c', 1);
	race_address(&q.remote, race.host, peer ? 'p' : 's', 0);
	abi_call(e->a.fd, peer ? VIA_IOC_PEER_REQUEST : VIA_IOC_CONN_REQUEST,
		 &q);
	if (!rng_one_in(&e->r, 4))
		abi_result(e->a.fd, e->vi, peer ? VIA_CONN_PEER : 0);
	pause_for(&e->r);
	abi_id(e->a.fd, VIA_IOC_DISCONNECT, e->vi);
}

static void serve(struct end *e)
{
	struct via_conn_wait w = { .timeout = 50000000 };
	struct via_conn_accept a = { .vi = e->vi };

	race_address(&w.local, e->a.hello.addr, 's', 1);
	if (abi_call(e->a.fd, VIA_IOC_CONN_WAIT, &w))
		return;
	a.conn = w.conn;
	if (rng_one_in(&e->r, 2))
		pause_for(&e->r);
	if (!rng_one_in(&e->r, 3) &&
	    !abi_call(e->a.fd, VIA_IOC_CONN_ACCEPT, &a))
		abi_result(e->a.fd, e->vi, 0);
	if (rng_one_in(&e->r, 2))
		pause_for(&e->r);
	abi_id(e->a.fd, VIA_IOC_CONN_REJECT, a.conn);
	abi_id(e->a.fd, VIA_IOC_DISCONNECT, e->vi);
}

static void *live(void *arg)
{
	struct end *e = arg;
	unsigned int i;

	for (;;) {
		race_open(&e->a);
		/* One of three does not match. */
		if (abi_vi_create(e->a.fd, VIA_RELIABLE_DELIVERY,
				  rng_one_in(&e->r, 3) ? 8192 : 4096, &e->vi))
			fprintf(stderr, "viatest fuzz: the partner has no VI\n");
		for (i = 0; i < LIFE; i++)
			e->live(e);
		abi_close(&e->a);
	}
	return NULL;
}

int race_partner(const char *device, uint64_t seed, const uint8_t *host)
{
	static struct end ends[ENDS] = { { .live = ask }, { .live = ask },
					 { .live = ask }, { .live = serve } };
	unsigned int i;

	race.device = device;
	race.host = host;
	/* Of this one the addresses are made. */
	race_open(&race.side[0]);
	for (i = 0; i < ENDS; i++) {
		ends[i].r.s = seed * 31 + i;
		if (pthread_create(&ends[i].id, NULL, live, &ends[i]))
			return 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (i = 0; i < ENDS; i++)
		pthread_join(ends[i].id, NULL);
	return 0;
}
