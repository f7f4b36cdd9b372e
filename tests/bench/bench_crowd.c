// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Many processes at once connect to one server, again and again, which keeps
 * requests that come while it accepts (VipExtConnectListen).
 *
 *	bench_crowd PROCESSES ROUNDS DEVICE [PEER_DEVICE [PEER_NETNS]]
 *
 * A round is a connection and its end by the client; both ends are this machine.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vipl_ext.h>

#include "common/chan.h"
#include "common/conn.h"
#include "common/msg.h"
#include "common/netns.h"
#include "emit.h"

#define DISC		"bench_crowd"
#define PATIENCE_MS	60000
#define BACKLOG		128

static const struct chan_config config = {
	.level = VIP_SERVICE_RELIABLE_DELIVERY, .max_transfer = 4096,
	.tx = 1, .rx = 1, .buf_len = 64, .share = true,
};

/* Three pipes, each with its end to read and its end to write. */
struct pipes {
	int told[2];	/* the server's address, for each client */
	int ready[2];	/* a byte of each client */
	int go[2];	/* ends when the clients are to begin */
};

static void client(const char *dev, unsigned int rounds, const struct pipes *p)
{
	union net_addr host;
	struct nic nic;
	struct chan ch;
	char byte;

	nic_open(&nic, dev);
	chan_init(&ch, &nic, &config);
	if (read(p->told[0], &host, sizeof(host)) != sizeof(host) ||
	    write(p->ready[1], "", 1) != 1 || read(p->go[0], &byte, 1))
		die("the server has ended");
	for (unsigned int i = 0; i < rounds; i++) {
		VIP_RETURN rc = conn_request(&nic, ch.vi, &host, DISC, "", 0,
					     PATIENCE_MS);

		if (rc == VIP_SUCCESS)
			rc = VipDisconnect(ch.vi);
		if (rc != VIP_SUCCESS)
			die("round %u of a client: %s", i, vip_str(rc));
	}
	chan_fini(&ch);
	nic_close(&nic);
	exit(0);
}

/* The VIs take turns: the client of one has ended its connection, or will. */
static void accept_all(const struct nic *nic, struct chan *ch, unsigned int vis,
		       unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct chan *c = &ch[i % vis];
		VIP_RETURN rc;

		if (i >= vis && chan_wait_lost(c))
			die("connection %u stays up", i - vis);
		chan_post_recv(c);
		rc = conn_accept(nic, DISC, c->vi, PATIENCE_MS);
		if (rc != VIP_SUCCESS)
			die("accept: %s", vip_str(rc));
	}
}

static void serve(struct nic *nic, unsigned int clients, unsigned int rounds,
		  const struct pipes *p)
{
	unsigned int vis = 2 * clients, count = clients * rounds;
	struct chan *ch = xcalloc(vis, sizeof(*ch));
	union net_addr host;
	uint64_t took;
	char byte;

	net_addr_local(&host, nic, DISC, strlen(DISC));
	if (VipExtConnectListen(nic->h, &host.a, BACKLOG) != VIP_SUCCESS)
		die("this NIC keeps no requests");
	for (unsigned int i = 0; i < vis; i++)
		chan_init(&ch[i], nic, &config);
	for (unsigned int i = 0; i < clients; i++)
		if (write(p->told[1], &host, sizeof(host)) != sizeof(host) ||
		    read(p->ready[0], &byte, 1) != 1)
			die("a client has ended");
	took = now_ns();
	close(p->go[1]);
	accept_all(nic, ch, vis, count);
	took = now_ns() - took;
	emit("connect", "crowd", "rd", "-", clients, "ns", (double)took / count);
	for (unsigned int i = 0; i < vis; i++)
		chan_fini(&ch[i]);
	free(ch);
}

/* The number of clients that have failed. */
static int failed_clients(unsigned int clients)
{
	int status, failed = 0;

	while (clients--)
		failed += wait(&status) < 0 || status;
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int clients, rounds, i;
	struct pipes p;
	struct nic nic;
	int cookie;

	if (argc < 4)
		die("usage: bench_crowd PROCESSES ROUNDS DEVICE [PEER_DEVICE [PEER_NETNS]]");
	clients = (unsigned int)parse_number("PROCESSES", argv[1], 1, 1000);
	rounds = (unsigned int)parse_number("ROUNDS", argv[2], 2, 1000000);
	if (pipe(p.told) || pipe(p.ready) || pipe(p.go))
		die("cannot make a pipe");
	for (i = 0; i < clients; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork");
		if (pid)
			continue;
		close(p.told[1]);
		close(p.ready[0]);
		close(p.go[1]);
		client(argv[3], rounds, &p);
	}
	close(p.told[0]);
	close(p.ready[1]);
	close(p.go[0]);
	cookie = netns_enter(argc > 5 ? argv[5] : NULL);
	nic_open(&nic, argc > 4 ? argv[4] : argv[3]);
	netns_leave(cookie);
	serve(&nic, clients, rounds, &p);
	if (failed_clients(clients))
		die("a client has failed");
	nic_close(&nic);
	return 0;
}
