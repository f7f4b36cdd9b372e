// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A server of many clients on one completion queue.
 *
 *	server DEVICE [COUNT]	until COUNT clients have left; 0: for ever
 *
 * A thread accepts connections, the other one serves them all: each notice
 * names the VI that it came from. echo.c has what is done for one client,
 * client.c is the other end, epoll.c the same without the thread.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "echo.h"

/* Notices that are not collected yet; a queue that is full loses none. */
#define CQ_ENTRIES	256

static struct node node;
static VIP_CQ_HANDLE cq;
static unsigned long most;

static void *accept_all(void *unused)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE request;
	unsigned long accepted;
	struct client *c;
	VIP_RETURN r;

	own_address(&node, &local, ECHO_DISC);
	for (accepted = 0; !most || accepted < most; accepted++) {
		c = new_client(&node, cq);
		/* No notice comes of it before it is connected. */
		c->connected = true;
		for (;;) {
			must(VipConnectWait(node.nic, &local.a, VIP_INFINITE,
					    &remote.a, &theirs, &request));
			r = VipConnectAccept(request, c->vi);
			if (r == VIP_SUCCESS)
				break;
			/* Of other attributes, or gone; the next one gets c. */
			warnx("a client: %s", VipExtReturnText(r));
			VipConnectReject(request);
		}
	}
	return unused;
}

int main(int argc, char **argv)
{
	VIP_BOOLEAN recv_queue;
	unsigned long left = 0;
	pthread_t accepting;
	VIP_VI_HANDLE vi;
	struct client *c;

	if (argc < 2 || argc > 3)
		errx(2, "usage: server DEVICE [COUNT]");
	most = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	open_node(&node, argv[1]);
	must(VipCreateCQ(node.nic, CQ_ENTRIES, &cq));
	if (pthread_create(&accepting, NULL, accept_all, NULL))
		errx(1, "no thread");
	while (!most || left < most) {
		must(VipCQWait(cq, VIP_INFINITE, &vi, &recv_queue));
		c = serve(vi, recv_queue);
		if (!c)
			continue;
		printf("a client has left after %u answers\n", c->answers);
		end_client(c);
		left++;
	}
	pthread_join(accepting, NULL);
	must(VipCloseNic(node.nic));
	return 0;
}
