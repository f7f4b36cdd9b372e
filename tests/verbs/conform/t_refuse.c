// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections that do not come to be. */
#include "link.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS	8
#define TRIES		20
#define CROWD		40
#define EARLY_MAX	32	/* requests that a device keeps for a listener, */
#define EARLY_MS	100	/* and how long */

/* A request under way: to the connect, or to the event of it. */
static bool request(struct link *l, uint32_t port)
{
	l->near.side = &near;
	l->far.side = &far;
	return CHECK_EQ(link_resolve(&l->near, env.near, env.far, port), 0) &&
	       point_queues(&l->near, &usual.queues) &&
	       point_offer(&l->near, OP_CONNECT, &usual.near);
}

static bool refused(const struct answer *a)
{
	return a->event == RDMA_CM_EVENT_REJECTED ||
	       a->event == RDMA_CM_EVENT_UNREACHABLE ||
	       a->event == RDMA_CM_EVENT_CONNECT_ERROR;
}

static void reject(void)
{
	static const uint32_t sizes[] = { 0, 1, 8, 32, 56 };
	struct offer no = { 0 };
	struct link l = { 0 };
	struct answer a;
	uint32_t port = 0, i, j;

	NEED(link_listen(&l, env.far, 4, &port));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct point listener = { .side = &far, .conn = l.listener };

		NEED(request(&l, port));
		NEED(point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST,
				  &a));
		l.far.conn = a.n;
		no.len = sizes[i];
		for (j = 0; j < no.len; j++)
			no.data[j] = 0xc0 + j;
		NEED(point_offer(&l.far, OP_REJECT, &no));
		NEED(point_expect(&l.near, RDMA_CM_EVENT_REJECTED, &a));
		CHECK(a.status);
		CHECK(a.offer.len >= no.len);
		CHECK(!memcmp(a.offer.data, no.data, no.len));
		point_drop(&l.far);
		/* Nothing is left that a second attempt could stumble over. */
		point_drop(&l.near);
	}
	NEED(link_through(&l, &usual, port));
	link_close(&l);
}

/* A port that was free a moment ago. */
static void no_listener(void)
{
	struct point listener = { .side = &far };
	struct link l = { 0 };
	struct answer a;
	uint32_t port = 0;

	NEED(link_listen(&l, env.far, 4, &port));
	listener.conn = l.listener;
	point_drop(&listener);
	l.listener = 0;
	NEED(request(&l, port));
	NEED(point_event(&l.near, &a, 4 * LONG_MS));
	CHECK(refused(&a));
	CHECK(a.status);
	/* Its queues are as before: nothing was ever sent. */
	point_drop(&l.near);
}

/* A port of the near end, whose counters can be read, without a listener. */
static bool free_port(uint32_t *port)
{
	struct point listener = { .side = &near };

	*port = 0;
	if (!point_listen(&listener, env.near, 1, port))
		return false;
	point_drop(&listener);
	return true;
}

static bool far_client(struct point *p, uint32_t port)
{
	*p = (struct point){ .side = &far };
	return CHECK_EQ(link_resolve(p, env.far, env.near, port), 0) &&
	       point_queues(p, &usual.queues);
}

/* The near end listens after the request has come: is there a connection? */
static bool late_listener(struct point *client, uint32_t port)
{
	struct point listener = { .side = &near }, server = { .side = &near };
	struct answer a;
	bool up = false;

	if (!point_listen(&listener, env.near, 1, &port))
		return false;
	if (point_event(&listener, &a, 1000) &&
	    CHECK_EQ(a.event, RDMA_CM_EVENT_CONNECT_REQUEST)) {
		server.conn = a.n;
		up = point_queues(&server, &usual.queues) &&
		     point_offer(&server, OP_ACCEPT, &usual.far) &&
		     point_expect(client, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
		     point_expect(&server, RDMA_CM_EVENT_ESTABLISHED, NULL);
		point_drop(&server);
	} else if (CHECK(point_event(client, &a, 4 * LONG_MS))) {
		CHECK(refused(&a));
	}
	point_drop(&listener);
	return up;
}

/* A request that comes shortly before its listener waits for it. */
static void early(void)
{
	long long before = near_counter("early");
	struct point client;
	uint32_t port;
	bool up = false;
	int tries, i;

	if (before < 0) {
		skip("the device keeps no request that comes early");
		return;
	}
	NEED(free_port(&port));
	/* A busy host may need longer than the device waits. */
	for (tries = 0; tries < TRIES && !up; tries++) {
		before = near_counter("early");
		NEED(far_client(&client, port));
		NEED(point_offer(&client, OP_CONNECT, &usual.near));
		for (i = 0; i < SHORT_MS && near_counter("early") == before; i++)
			usleep(1000);
		CHECK_EQ(near_counter("early"), before + 1);
		up = late_listener(&client, port);
		point_drop(&client);
	}
	CHECK(up);
}

/*
 * Requests to no listener, all at once: how many of them have waited for one.
 * fast: the last was sent well before the first has waited long enough.
 */
static long long crowd_waits(uint32_t port, bool *fast)
{
	long long before = near_counter("early");
	long long refusals = near_counter("refused");
	struct point client[CROWD] = { 0 };
	struct answer a;
	uint64_t begin;
	uint32_t i;

	for (i = 0; i < CROWD; i++)
		if (!far_client(&client[i], port))
			return -1;
	begin = now_ms();
	for (i = 0; i < CROWD; i++)
		if (!point_offer(&client[i], OP_CONNECT, &usual.near))
			return -1;
	*fast = now_ms() - begin < EARLY_MS * 4 / 5;
	for (i = 0; i < CROWD; i++)
		if (CHECK(point_event(&client[i], &a, 4 * LONG_MS)))
			CHECK(refused(&a));
	CHECK_EQ(near_counter("refused"), refusals + CROWD);
	for (i = 0; i < CROWD; i++)
		point_drop(&client[i]);
	return near_counter("early") - before;
}

/* A stranger's requests take few of the places of others. */
static void crowd(void)
{
	struct link l = { 0 };
	bool fast = false, judged = false;
	long long waits = 0;
	uint32_t port;
	int tries;

	if (near_counter("early") < 0) {
		skip("the device keeps no request that comes early");
		return;
	}
	NEED(free_port(&port));
	/* Places are free again when a busy host needs long for the requests. */
	for (tries = 0; tries < TRIES && waits != EARLY_MAX; tries++) {
		waits = crowd_waits(port, &fast);
		NEED(waits > 0);
		judged |= fast || waits == EARLY_MAX;
	}
	if (judged)
		CHECK_EQ(waits, EARLY_MAX);
	NEED(link_open(&l, &usual));
	link_close(&l);
	if (!judged)
		skip("no 40 requests are sent while the first one waits");
}

/* A neighbour that is not there. */
static void no_host(void)
{
	struct link l = { .near.side = &near };
	char to[64], *dot;
	struct answer a;
	int rc;

	snprintf(to, sizeof(to), "%s", env.far);
	dot = strrchr(to, '.');
	if (!dot) {
		skip("the far address is not of IPv4");
		return;
	}
	snprintf(dot, sizeof(to) - (dot - to), ".%d", 253);
	rc = link_resolve(&l.near, env.near, to, 7471);
	if (rc) {
		CHECK(rc < 0);
		return;
	}
	/* Told by the request, at the latest. */
	NEED(point_queues(&l.near, &usual.queues));
	NEED(point_offer(&l.near, OP_CONNECT, &usual.near));
	NEED(point_event(&l.near, &a, 5 * LONG_MS));
	CHECK(refused(&a));
	point_drop(&l.near);
}

/*
 * Beyond the backlog a request is refused, or waits: none is lost.  InfiniBand's
 * connection manager is silent then, and asks again for minutes.
 */
static void backlog(void)
{
	struct link l[REQUESTS] = { 0 };
	struct point listener = { .side = &far };
	unsigned int taken = 0, up = 0, down = 0, i;
	struct answer a;
	uint32_t port = 0;

	NEED(link_listen(&l[0], env.far, 2, &port));
	listener.conn = l[0].listener;
	for (i = 0; i < REQUESTS; i++)
		NEED(request(&l[i], port));
	while (taken < REQUESTS && point_event(&listener, &a, 2000)) {
		NEED_EQ(a.event, RDMA_CM_EVENT_CONNECT_REQUEST);
		l[taken].far.conn = a.n;
		NEED(point_queues(&l[taken].far, &usual.queues));
		NEED(point_offer(&l[taken].far, OP_ACCEPT, &usual.far));
		taken++;
	}
	CHECK(taken >= 2);
	for (i = 0; i < REQUESTS; i++) {
		bool told = point_event(&l[i].near, &a, env.limits.iwarp ?
					5 * LONG_MS : SHORT_MS * 10);

		if (!told && !env.limits.iwarp) {
			down++;
			continue;
		}
		NEED(told);
		if (a.event == RDMA_CM_EVENT_ESTABLISHED)
			up++;
		else if (CHECK(refused(&a)))
			down++;
	}
	CHECK_EQ(up + down, REQUESTS);
	CHECK(up <= taken && up >= 2);
	for (i = 0; i < REQUESTS; i++) {
		if (i)
			l[i].listener = 0;
		if (i >= taken)
			l[i].far.conn = 0;
		link_close(&l[i]);
	}
}

/* Requests that wait when their listener goes are told. */
static void listener_gone(void)
{
	struct link l[4] = { 0 };
	struct point listener = { .side = &far };
	uint32_t port = 0, i;
	struct answer a;

	NEED(link_listen(&l[0], env.far, 16, &port));
	listener.conn = l[0].listener;
	l[0].listener = 0;
	for (i = 0; i < ARRAY_SIZE(l); i++)
		NEED(request(&l[i], port));
	/* One of them was seen. */
	NEED(point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a));
	l[0].far.conn = a.n;
	point_drop(&listener);
	point_drop(&l[0].far);
	for (i = 0; i < ARRAY_SIZE(l); i++) {
		NEED(point_event(&l[i].near, &a, 5 * LONG_MS));
		CHECK(refused(&a));
		point_drop(&l[i].near);
	}
}

/* The active end goes while its request waits. */
static void requester_gone(void)
{
	struct point listener = { .side = &far };
	struct link l = { 0 };
	struct answer a;
	uint32_t port = 0;
	struct order q = { .op = OP_QUEUES, .queues = usual.queues };
	struct order o = { .op = OP_ACCEPT, .offer = usual.far };

	NEED(link_listen(&l, env.far, 4, &port));
	listener.conn = l.listener;
	NEED(request(&l, port));
	NEED(point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a));
	l.far.conn = a.n;
	point_drop(&l.near);
	/* It may know already, or be told. */
	o.conn = q.conn = l.far.conn;
	if (!ask(&far, &q, &a) && !ask(&far, &o, &a) && point_event(&l.far, &a, 5 * LONG_MS) &&
	    a.event == RDMA_CM_EVENT_ESTABLISHED)
		point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_drop(&l.far);
	/* The listener is none the worse. */
	NEED(link_through(&l, &usual, port));
	link_close(&l);
}

static const struct group groups[] = {
	{ "refuse.reject", reject, "reject with data of 0 to 56 bytes", 0 },
	{ "refuse.port", no_listener, "a port without a listener", 120 },
	{ "refuse.early", early, "a listener that comes after the request", 120 },
	{ "refuse.crowd", crowd, "40 requests to a port without a listener", 120 },
	{ "refuse.host", no_host, "an address without a host", 120 },
	{ "refuse.backlog", backlog, "eight requests to a backlog of two",
	  180 },
	{ "refuse.listener", listener_gone, "the listener goes", 180 },
	{ "refuse.requester", requester_gone, "the active end goes", 180 },
};

const struct file file_refuse = { groups, ARRAY_SIZE(groups) };
