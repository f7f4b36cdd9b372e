// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Processes of one machine over VIPL: shmrun.h has the command line. WHERE is
 * a VI NIC, such as shm:0.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/chan.h"
#include "common/conn.h"
#include "shmloop.h"

#define PATIENCE_MS	10000

struct end {
	struct nic	nic;
	struct chan	ch[SHM_CLIENTS];
	uint32_t	peers;
	uint32_t	next;		/* channel to look at */
};

static int end_arrived(struct end *e)
{
	uint32_t i = e->next;

	if (++e->next >= e->peers)
		e->next = 0;
	return chan_recv_done(&e->ch[i]) ? (int)i : -1;
}

static void end_recv(struct end *e, int from)
{
	chan_post_recv(&e->ch[from]);
}

static void end_send(struct end *e, int to)
{
	chan_post_send(&e->ch[to]);
}

static uint32_t end_sent(struct end *e, int to)
{
	while (chan_send_done(&e->ch[to]))
		;
	return chan_inflight(&e->ch[to]);
}

/*
 * Nothing: and an end that is ahead may have disconnected, which a look at the
 * queues would find.
 */
static void end_idle(struct end *e)
{
	(void)e;
	sched_yield();
}

/* What the server waits for, of its process: others may measure, too. */
static void name(char *disc, size_t room, const struct shm_run *r,
		 uint32_t client)
{
	snprintf(disc, room, "shm%d.%u",
		 (int)(shm_server(r) ? getpid() : getppid()), client);
}

static void connect_one(struct end *e, const struct shm_run *r, uint32_t i)
{
	union net_addr host;
	VIP_RETURN rc;
	char disc[32];

	name(disc, sizeof(disc), r, shm_server(r) ? i : (uint32_t)r->me);
	if (shm_server(r)) {
		rc = conn_accept(&e->nic, disc, e->ch[i].vi, PATIENCE_MS);
	} else {
		net_addr_resolve(&host, &e->nic, "localhost");
		rc = conn_request(&e->nic, e->ch[i].vi, &host, disc, "c", 1,
				  PATIENCE_MS);
	}
	if (rc != VIP_SUCCESS)
		die("cannot connect: %s", vip_str(rc));
}

static double end(const struct shm_run *r, const int *fd)
{
	struct chan_config c = {
		.level = VIP_SERVICE_RELIABLE_DELIVERY, .share = true,
		.max_transfer = r->size, .tx = shm_out(r),
		.rx = shm_receives(r), .buf_len = r->size,
	};
	struct end e = { .peers = shm_peers(r) };
	double figure;

	if (c.buf_len < SHM_ANSWER)
		c.buf_len = c.max_transfer = SHM_ANSWER;
	nic_open(&e.nic, r->where);
	for (uint32_t i = 0; i < e.peers; i++) {
		chan_init(&e.ch[i], &e.nic, &c);
		chan_prepare(&e.ch[i], OP_SEND, shm_sends(r), NULL);
		chan_fill_recvs(&e.ch[i]);
		connect_one(&e, r, i);
	}
	figure = loop_run(&e, r, fd);
	for (uint32_t i = 0; i < e.peers; i++)
		chan_fini(&e.ch[i]);
	nic_close(&e.nic);
	return figure;
}

int main(int argc, char **argv)
{
	return shm_main(argc, argv, end);
}
