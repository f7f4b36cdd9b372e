// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The side that survives: a thread for each connection, and no failures. */
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS		65536u
#define ACCEPTORS	4u

static struct nic nic;
static struct {
	pthread_mutex_t lock;	/* guards what follows */
	uint32_t alive[IDS];
	uint32_t conns;		/* all that there are */
	struct order sum;	/* ended, wrong, silent, stuck */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct conn {
	struct end e;
	uint32_t id;
	bool named;
	union net_addr from;
};

static void start(void *(*f)(void *), struct conn *c)
{
	pthread_detach(thread_start(f, c));
}

/* As many as @change more, with this id where the connection has one. */
static void count(struct conn *c, int change)
{
	all.conns += change;
	if (c->named)
		all.alive[c->id % IDS] += change;
}

static void named(struct conn *c, uint32_t id)
{
	pthread_mutex_lock(&all.lock);
	count(c, -1);
	c->id = id;
	c->named = true;
	count(c, 1);
	pthread_mutex_unlock(&all.lock);
}

static void ended(struct conn *c, enum stream_result r)
{
	int stuck = end_close(&c->e);

	pthread_mutex_lock(&all.lock);
	count(c, -1);
	all.sum.ended++;
	all.sum.wrong += r == ST_WRONG;
	all.sum.silent += r == ST_SILENT;
	all.sum.stuck += stuck;
	pthread_mutex_unlock(&all.lock);
	if (r == ST_WRONG || r == ST_SILENT || stuck)
		warn_msg("connection of %u ended: result %d, stuck %d", c->id,
			 r, stuck);
	free(c);
}

/* A client that wants to be called waits, or is dead already. */
static void *call(void *arg)
{
	struct conn *c = arg;
	enum stream_result r = ST_ENDED;
	char disc[32];
	VIP_RETURN rc;

	snprintf(disc, sizeof(disc), DISC "-%u", c->id);
	rc = conn_request(&nic, c->e.vi, &c->from, disc, "", 0, 300);
	if (rc == VIP_SUCCESS)
		r = stream_push(&c->e, c->id, ~0u);
	ended(c, r);
	return NULL;
}

/* One more connection, of @id if that is not 0; NULL: no resources. */
static struct conn *begin(const union net_addr *from, uint32_t id)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->from = *from;
	c->id = id;
	c->named = id != 0;
	if (end_open(&c->e, &nic, false)) {
		free(c);
		return NULL;
	}
	pthread_mutex_lock(&all.lock);
	count(c, 1);
	pthread_mutex_unlock(&all.lock);
	return c;
}

static int call_back(const struct conn *from, uint32_t id)
{
	struct conn *c = begin(&from->from, id);

	if (c)
		start(call, c);
	return c ? 0 : -1;
}

static int answer(struct conn *c, uint32_t id)
{
	struct order o;

	pthread_mutex_lock(&all.lock);
	o = all.sum;
	o.alive = all.alive[id % IDS];
	o.others = all.conns - all.alive[0];
	pthread_mutex_unlock(&all.lock);
	return order(&c->e, &o);
}

/* Many orders in a row from a client that asks, one from the others. */
static void *talk(void *arg)
{
	struct conn *c = arg;
	enum stream_result r = ST_ENDED;
	struct order o;
	VIP_RETURN rc;
	uint32_t len;
	uint8_t *p;

	for (;;) {
		p = end_recv(&c->e, c->named ? VIP_INFINITE : args.limit, &len,
			     &rc);
		if (!p) {
			r = rc == VIP_TIMEOUT ? ST_SILENT : ST_ENDED;
			break;
		}
		if (len != sizeof(o)) {
			r = ST_WRONG;
			break;
		}
		memcpy(&o, p, sizeof(o));
		if (!c->named)
			named(c, o.type < ORDER_ASK ? o.id : 0);
		if (end_repost(&c->e))
			break;
		if (o.type == ORDER_PUSH) {
			r = stream_pull(&c->e, o.id, o.n);
			if (r == ST_DONE && o.n != ~0u)
				continue;
			break;
		}
		if (o.type == ORDER_PULL) {
			r = stream_push(&c->e, o.id, o.n);
			break;
		}
		if (o.type == ORDER_CALL && call_back(c, o.id))
			break;
		if (o.type >= ORDER_ASK && answer(c, o.id))
			break;
	}
	ended(c, r);
	return NULL;
}

static void *accept_all(void *number)
{
	struct conn_peer peer;
	struct conn *c;
	VIP_RETURN rc;

	(void)number;
	for (;;) {
		rc = conn_wait(&nic, DISC, 500, &peer);
		if (rc == VIP_TIMEOUT)
			continue;
		if (rc != VIP_SUCCESS)
			die("waiting for connections: %s", vip_str(rc));
		c = begin(&peer.addr, 0);
		if (!c)
			die("no resources for one more connection");
		/* The client may be dead by now. */
		if (VipConnectAccept(peer.conn, c->e.vi) == VIP_SUCCESS)
			start(talk, c);
		else
			ended(c, ST_ENDED);
	}
}

int serve(void)
{
	nic_open(&nic, args.device);
	printf("ready\n");
	threads_run(accept_all, ACCEPTORS);
	return 0;
}
