// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * kill -9 of a process with many connected VIs: how long until none of them is
 * left. The other ends are another process's, which looks on: on one processor
 * the work of both ends counts.
 *
 *	bench_kill VIS DEVICE [PEER_DEVICE [PEER_NETNS]]
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/chan.h"
#include "common/conn.h"
#include "common/msg.h"
#include "common/netns.h"
#include "emit.h"
#include "../viatest/common/ledger.h"

#define DISC		"bench_kill"
#define PATIENCE_MS	10000
#define REST_NS		500000

static const struct chan_config config = {
	.level = VIP_SERVICE_RELIABLE_DELIVERY, .max_transfer = 4096,
	.tx = 1, .rx = 1, .buf_len = 64, .share = true,
};

static struct chan *open_all(struct nic *nic, unsigned int vis)
{
	struct chan *ch = xcalloc(vis, sizeof(*ch));

	for (unsigned int i = 0; i < vis; i++) {
		chan_init(&ch[i], nic, &config);
		chan_fill_recvs(&ch[i]);
	}
	return ch;
}

/* Connects all VIs to the NIC whose address comes by @from, then waits for SIGKILL. */
static void owner(const char *dev, unsigned int vis, int from, int to)
{
	union net_addr host;
	struct nic nic;
	struct chan *ch;

	nic_open(&nic, dev);
	ch = open_all(&nic, vis);
	if (read(from, &host, sizeof(host)) != sizeof(host))
		die("the other process has ended");
	for (unsigned int i = 0; i < vis; i++) {
		VIP_RETURN rc = conn_request(&nic, ch[i].vi, &host, DISC, "", 0,
					     PATIENCE_MS);

		if (rc != VIP_SUCCESS)
			die("connect: %s", vip_str(rc));
	}
	if (write(to, "", 1) != 1)
		die("the other process has ended");
	for (;;)
		pause();
}

static void accept_all(const struct nic *nic, const struct chan *ch,
		       unsigned int vis)
{
	for (unsigned int i = 0; i < vis; i++) {
		VIP_RETURN rc = conn_accept(nic, DISC, ch[i].vi, PATIENCE_MS);

		if (rc != VIP_SUCCESS)
			die("accept: %s", vip_str(rc));
	}
}

/* Nanoseconds from the signal until only @left VIs are there. Looks without a
 * rest took half of the processor that ends them.
 */
static uint64_t killed(pid_t pid, long left)
{
	const struct timespec rest = { .tv_nsec = REST_NS };
	uint64_t t = now_ns();

	if (kill(pid, SIGKILL))
		die("cannot kill");
	while (ledger_alive("vis") > left)
		nanosleep(&rest, NULL);
	t = now_ns() - t;
	waitpid(pid, NULL, 0);
	return t;
}

int main(int argc, char **argv)
{
	const char *dev = argc > 2 ? argv[2] : NULL;
	int told[2], done[2], cookie;
	union net_addr host;
	unsigned int vis;
	struct chan *ch;
	struct nic nic;
	char byte;
	pid_t pid;
	long were;

	if (argc < 3)
		die("usage: bench_kill VIS DEVICE [PEER_DEVICE [PEER_NETNS]]");
	vis = (unsigned int)parse_number("VIS", argv[1], 1, 100000);
	were = ledger_alive("vis");
	if (were < 0)
		die("the agent does not tell of VIs: load via_ka");
	if (pipe(told) || pipe(done))
		die("cannot make a pipe");
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		close(told[1]);
		owner(dev, vis, told[0], done[1]);
	}
	close(done[1]);
	cookie = netns_enter(argc > 4 ? argv[4] : NULL);
	nic_open(&nic, argc > 3 ? argv[3] : dev);
	netns_leave(cookie);
	ch = open_all(&nic, vis);
	net_addr_local(&host, &nic, "", 0);
	if (write(told[1], &host, sizeof(host)) != sizeof(host))
		die("the owner has ended");
	accept_all(&nic, ch, vis);
	if (read(done[0], &byte, 1) != 1)
		die("the owner has ended");
	emit("object", "killed", "rd", "-", vis, "ns",
	     (double)killed(pid, were + vis) / vis);
	for (unsigned int i = 0; i < vis; i++)
		if (chan_wait_lost(&ch[i]))
			die("VI %u is still connected", i);
	for (unsigned int i = 0; i < vis; i++)
		chan_fini(&ch[i]);
	nic_close(&nic);
	free(ch);
	return 0;
}
