// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A message on each of many VIs in turn, and as many on one: what a message
 * costs when everything that belongs to its VI was last used long ago.
 *
 *	bench_many VIS DEVICE [PEER_DEVICE [PEER_NETNS]]
 *
 * One thread has both ends. It awaits the completion of each send and takes the
 * message before it sends the next.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/msg.h"
#include "common/opts.h"
#include "common/pair.h"
#include "emit.h"

#define SIZE	4u
#define ROUNDS	4u

static void message(struct pair *p)
{
	chan_post_send(&p->ch[0]);
	while (!chan_send_done(&p->ch[0]))
		;
	while (!chan_recv_done(&p->ch[1]))
		;
	chan_post_recv(&p->ch[1]);
}

/* Nanoseconds of a message, over `used` of the VIs in turn. */
static double turns(struct pair *pairs, unsigned int vis, unsigned int used)
{
	uint64_t t;

	for (unsigned int i = 0; i < vis; i++)
		message(&pairs[i % used]);
	t = now_ns();
	for (unsigned int i = 0; i < ROUNDS * vis; i++)
		message(&pairs[i % used]);
	return (double)(now_ns() - t) / (ROUNDS * vis);
}

int main(int argc, char **argv)
{
	struct opts o = {
		.dev = argc > 2 ? argv[2] : NULL,
		.peer_dev = argc > 3 ? argv[3] : NULL,
		.peer_netns = argc > 4 ? argv[4] : NULL,
	};
	const struct chan_config c = {
		.level = VIP_SERVICE_RELIABLE_DELIVERY, .max_transfer = 4096,
		.tx = 1, .rx = 2, .buf_len = 64, .share = true,
	};
	struct pair *pairs;
	unsigned int vis;

	if (argc < 3)
		die("usage: bench_many VIS DEVICE [PEER_DEVICE [PEER_NETNS]]");
	vis = (unsigned int)parse_number("VIS", argv[1], 1, 100000);
	pairs = xcalloc(vis, sizeof(*pairs));
	pair_open_nics(&pairs[0], &o);
	for (unsigned int i = 0; i < vis; i++) {
		for (int end = 0; end < 2; end++) {
			pairs[i].nic[end] = pairs[0].nic[end];
			chan_init(&pairs[i].ch[end], &pairs[i].nic[end], &c);
			chan_fill_recvs(&pairs[i].ch[end]);
		}
		chan_prepare(&pairs[i].ch[0], OP_SEND, SIZE, NULL);
		pair_connect(&pairs[i]);
	}
	emit("many", "one VI", "rd", "poll", 1, "ns", turns(pairs, vis, 1));
	emit("many", "VIs in turn", "rd", "poll", vis, "ns",
	     turns(pairs, vis, vis));
	for (unsigned int i = 0; i < vis; i++)
		for (int end = 0; end < 2; end++)
			chan_fini(&pairs[i].ch[end]);
	for (int end = 0; end < 2; end++)
		nic_close(&pairs[0].nic[end]);
	free(pairs);
	return 0;
}
