// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The list of peers of a NIC changes (docs/explain/security.md, "On the wire"), beside
 * connections and questions of those that are on it and of those that are not;
 * or its interface goes down.  An end that loses its connection by that is told
 * so, and not that the peer has left.
 */
#include <stdio.h>
#include "../../kernel/via_ka.h"
#include "s_forge.h"

#define CLIENTS	2

static struct {
	struct client {
		u32 n;			/* its host */
		char disc[8];
		bool ready;		/* connected, at both ends */
		bool broken[2];		/* at the client, at the server */
		u32 watched;		/* ends that have looked for it */
		int again;		/* verdict of its second attempt */
		int back;		/* of one to it */
		bool done[2];
	} client[CLIENTS];
	u32 listed;			/* bit n: client n */
	bool down;			/* it is the interface that goes */
	u32 reasons;			/* bits: of the server's DISCONNECTs */
	bool changed, over;
} w;

#define SERVER	CLIENTS			/* the host behind them */

/* The first connection: is it lost? */
static bool watch(struct prog_vi *v, struct prog_nic *n)
{
	struct via_event ev;
	u64 until;

	sim_await(w.changed, 100000);
	/* A DISCONNECT takes its way; it is one that was not lost. */
	until = sim_now() + 50 * MS;
	while (sim_now() < until) {
		sim_sleep(MS);
		if (prog_state(v) != VIA_STATE_CONNECTED)
			break;
	}
	if (prog_state(v) == VIA_STATE_CONNECTED)
		return false;
	sim_sleep(10 * MS);
	sim_expect(!prog_event(n, &ev) && ev.code == VIA_ERR_CONN_LOST, "");
	sim_expect(!(ev.flags & VIA_EVENT_F_ORDERLY),
		   "the peer is said to have left");
	return true;
}

/* Not before the other end has looked. */
static void leave(struct client *c, struct prog_vi *v)
{
	c->watched++;
	sim_await(c->watched >= 2, 100000);
	prog_disconnect(v);
}

static void client(void *arg)
{
	struct client *c = arg;
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, host_node(c->n), 4096, VIA_RELIABLE_DELIVERY);
	prog_connect(&v, host_mac(SERVER), c->disc, SEC);
	c->ready = true;
	c->broken[0] = watch(&v, &n);
	leave(c, &v);
	/* It is awaited now, by what serves others. */
	sim_sleep(10 * MS);
	c->again = w.down ? 0 : prog_request(&v, host_mac(SERVER), c->disc,
					     100 * MS);
	c->done[0] = true;
	prog_close(&n);
}

static void server(void *arg)
{
	struct client *c = arg;
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, host_node(SERVER), 4096, VIA_RELIABLE_DELIVERY);
	prog_connect(&v, NULL, c->disc, SEC);
	c->broken[1] = watch(&v, &n);
	leave(c, &v);
	if (!w.down) {
		prog_accept(&v, c->disc, 200 * MS);
		sim_await(c->done[0], MS);
		prog_disconnect(&v);
		c->back = prog_request(&v, host_mac(c->n), "none", 20 * MS);
	}
	c->done[1] = true;
	prog_close(&n);
}

/* Questions, each of which the list is looked at for. */
static void asker(void *arg)
{
	struct via_name_answer a[4];
	struct via_name_query q = { .addr_len = ETH_ALEN };
	struct prog_nic n;

	sim_ok(prog_open(&n, host_node(0), 0));
	while (!w.changed) {
		q.count = ARRAY_SIZE(a);
		q.answers = (uintptr_t)a;
		memcpy(q.addr, host_mac(SERVER), ETH_ALEN);
		sim_ioctl(n.file, VIA_IOC_NAME_QUERY, &q);
	}
	prog_close(&n);
}

/* Of the listed ones; none: of another host. */
static void store(u32 listed)
{
	char text[80] = "52:54:00:00:01:77\n";
	u32 i, at = 18;

	for (i = 0; i < CLIENTS; i++)
		if (listed & 1 << i)
			at += sprintf(text + at, "52:54:00:00:01:%02x ", i + 1);
	sim_ok(sim_peers(host_node(SERVER), VIA_PEERS_ONLY, text));
}

/* Frames for which the list is looked at, and no more. */
static void knocks(void)
{
	struct forged f;
	u32 i;

	for (i = sim_dice(20); i; i--) {
		forge_answer(&f, host_mac(0), host_mac(SERVER), VIA_WIRE_WAIT,
			     1, 1);
		forge_throw(&f, host_nic(SERVER));
	}
}

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (void *)frame;
	const struct via_wire *h = forged_wire(frame);
	const struct via_wire_end *e = forged_end(frame);

	if (h->type == VIA_WIRE_DISCONNECT &&
	    !memcmp(eth->h_source, host_mac(SERVER), ETH_ALEN))
		w.reasons |= 1 << be32_to_cpu(e->reason);
	return true;
}

static void judge(const struct client *c)
{
	bool stays = !w.down && w.listed & 1 << c->n;

	sim_expect(c->broken[0] == !stays && c->broken[1] == !stays,
		   "(client %u, listed %d: lost %d, at the server %d)", c->n,
		   stays, c->broken[0], c->broken[1]);
	if (w.down)
		return;
	sim_expect(stays ? !c->again : c->again == VIA_R_TIMEOUT,
		   "(client %u, listed %d: %d)", c->n, stays, c->again);
	sim_expect(stays ? c->back == VIA_R_NO_MATCH :
		   c->back == VIA_R_NOT_REACHABLE,
		   "(client %u, listed %d: %d)", c->n, stays, c->back);
}

static void begin(void)
{
	struct sim_proc *p;
	u32 i;

	hosts_up(CLIENTS + 1);
	for (i = 0; i < CLIENTS; i++) {
		w.client[i].n = i;
		snprintf(w.client[i].disc, sizeof(w.client[i].disc), "s%u", i);
		host_run(i, "client", client, &w.client[i]);
	}
	p = host_run(SERVER, "server", server, &w.client[0]);
	for (i = 1; i < CLIENTS; i++)
		sim_thread(p, "server", server, &w.client[i]);
	sim_await(w.client[0].ready && w.client[1].ready, 100000);
	/* The client is Connected before its CONFIRM has come. */
	msleep(5);
}

static void end(void)
{
	u32 i;

	programs_wait();
	for (i = 0; i < CLIENTS; i++)
		judge(&w.client[i]);
	hosts_down();
}

static void strangers(void)
{
	u32 turns = sim_dice(20);

	begin();
	host_run(0, "asker", asker, NULL);
	w.listed = sim_dice(1 << CLIENTS);
	/* Each is the same to those that are on it. */
	for (; turns; turns--) {
		knocks();
		sim_pause(sim_dice(2000));
		store((1 << CLIENTS) - 1);
	}
	store(w.listed);
	w.changed = true;
	end();
}

static void down(void)
{
	begin();
	w.down = true;
	sim_wire.meddle = look;
	sim_nic_break(host_nic(SERVER));
	w.changed = true;
	end();
	sim_expect(w.reasons == 1 << VIA_WIRE_R_LINK, "(%#x)", w.reasons);
}

SIM_SCENARIO(.name = "strangers", .run = strangers, .runs = 100, .seconds = 60,
	     SIM_STATE(w),
	     .what = "the list of peers changes beside connections")
SIM_SCENARIO(.name = "down-told", .run = down, .runs = 50, .seconds = 60,
	     SIM_STATE(w),
	     .what = "an interface goes down, and both ends are told")
