// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Connecting and disconnecting, both ends in this process.
 *
 *	bench_conn [DEVICE [PEER_DEVICE [PEER_NETNS]]] [-n ROUNDS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/conn.h"
#include "common/msg.h"
#include "common/opts.h"
#include "common/pair.h"
#include "emit.h"

#define DISC "bench_conn"

static struct pair p;
static int rounds = 200;

static void *acceptor(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		VIP_RETURN rc;

		chan_post_recv(&p.ch[1]);
		rc = conn_accept(&p.nic[1], DISC, p.ch[1].vi, 10000);
		if (rc != VIP_SUCCESS)
			die("accept: %s", vip_str(rc));
		/* The client's disconnect ends it; only then is it ours. */
		if (chan_wait_lost(&p.ch[1]))
			die("the connection stays up after a disconnect");
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct opts o = { .dev = "via_lo" };
	struct chan_config c = {
		.level = VIP_SERVICE_RELIABLE_DELIVERY, .max_transfer = 4096,
		.tx = 1, .rx = 1, .buf_len = 64, .share = true,
	};
	uint64_t conn = 0, disc = 0, t;
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES attr;
	pthread_t th;

	if (argc > 2 && !strcmp(argv[argc - 2], "-n")) {
		rounds = (int)parse_number("-n", argv[argc - 1], 1, 1000000);
		argc -= 2;
	}
	o.dev = argc > 1 ? argv[1] : o.dev;
	o.peer_dev = argc > 2 ? argv[2] : NULL;
	o.peer_netns = argc > 3 ? argv[3] : NULL;
	pair_open_nics(&p, &o);
	for (int i = 0; i < 2; i++)
		chan_init(&p.ch[i], &p.nic[i], &c);
	net_addr_local(&local, &p.nic[0], "", 0);
	net_addr_local(&remote, &p.nic[1], DISC, strlen(DISC));
	if (pthread_create(&th, NULL, acceptor, NULL))
		die("cannot start the accepting thread");
	for (int i = 0; i < rounds; i++) {
		VIP_RETURN rc;

		/* Only the try that finds the other thread waiting counts. */
		do {
			sched_yield();
			t = now_ns();
			rc = VipConnectRequest(p.ch[0].vi, &local.a, &remote.a,
					       10000, &attr);
		} while (rc == VIP_NO_MATCH);
		if (rc != VIP_SUCCESS)
			die("connect: %s", vip_str(rc));
		conn += now_ns() - t;
		t = now_ns();
		VipDisconnect(p.ch[0].vi);
		disc += now_ns() - t;
	}
	pthread_join(th, NULL);
	emit("connect", "connect", "rd", "-", 0, "ns", (double)conn / rounds);
	emit("connect", "disconnect", "rd", "-", 0, "ns",
	     (double)disc / rounds);
	pair_fini(&p);
	return 0;
}
