// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections that come to be, and how they end. */
#include "link.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IB_REQUEST_DATA	56	/* what a request carries on every transport */

/* One message each way. */
static void talk(struct link *l)
{
	mem_fill(&l->near.mem, 0, 100, 1);
	NEED_EQ(recv_one(&l->far, 1, 1000, 100), 0);
	NEED_EQ(recv_one(&l->near, 2, 2000, 100), 0);
	NEED_EQ(send_one(&l->near, 3, 0, 100), 0);
	DONE(&l->near, SQ, 3, SUCCESS);
	DONE(&l->far, RQ, 1, SUCCESS);
	CHECK(mem_is(&l->far.mem, 1000, 100, 1));
	NEED_EQ(send_one(&l->far, 4, 1000, 100), 0);
	DONE(&l->far, SQ, 4, SUCCESS);
	DONE(&l->near, RQ, 2, SUCCESS);
	CHECK(mem_is(&l->near.mem, 2000, 100, 1));
}

static void simple(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	CHECK_EQ(point_state(&l.near), IBV_QPS_RTS);
	CHECK_EQ(point_state(&l.far), IBV_QPS_RTS);
	talk(&l);
	link_close(&l);
}

/* The passive end may speak first as soon as it is established. */
static void passive_first(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	mem_fill(&l.far.mem, 0, 64, 5);
	NEED_EQ(recv_one(&l.near, 1, 0, 64), 0);
	NEED_EQ(send_one(&l.far, 2, 0, 64), 0);
	DONE(&l.far, SQ, 2, SUCCESS);
	DONE(&l.near, RQ, 1, SUCCESS);
	CHECK(mem_is(&l.near.mem, 0, 64, 5));
	link_close(&l);
}

static void fill(struct offer *f, uint32_t len, uint8_t salt)
{
	uint32_t i;

	f->len = len;
	for (i = 0; i < len; i++)
		f->data[i] = i * 7 + salt;
}

/* InfiniBand's events have the whole field, with zeros behind the data. */
static void data_is(const struct offer *got, const struct offer *sent)
{
	uint32_t i;

	if (env.limits.iwarp)
		CHECK_EQ(got->len, sent->len);
	if (!CHECK(got->len >= sent->len))
		return;
	CHECK(!memcmp(got->data, sent->data, sent->len));
	for (i = sent->len; i < got->len && !got->data[i]; i++)
		;
	CHECK_EQ(i, got->len);
}

static void private_data(void)
{
	struct plan p = usual;
	struct link l = { 0 };
	uint32_t n, port = 0;

	NEED(link_listen(&l, env.far, 16, &port));
	for (n = 0; n <= IB_REQUEST_DATA; n++) {
		fill(&p.near, n, 3);
		fill(&p.far, IB_REQUEST_DATA - n, 0x80);
		NEED(link_through(&l, &p, port));
		data_is(&l.request.offer, &p.near);
		data_is(&l.reply.offer, &p.far);
		point_drop(&l.near);
		point_drop(&l.far);
	}
	link_close(&l);
}

/* More than fits is refused, or arrives whole: never cut. */
static void private_large(void)
{
	struct plan p = usual;
	struct point listener = { .side = &far };
	struct link l = { .near.side = &near, .far.side = &far };
	struct order o = { .op = OP_CONNECT };
	struct answer a;
	uint32_t port = 0;

	NEED(link_listen(&l, env.far, 16, &port));
	NEED_EQ(link_resolve(&l.near, env.near, env.far, port), 0);
	NEED(point_queues(&l.near, &p.queues));
	fill(&p.near, 255, 9);
	o.conn = l.near.conn;
	o.offer = p.near;
	listener.conn = l.listener;
	if (!ask(&near, &o, &a)) {
		if (point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a))
			data_is(&a.offer, &p.near);
	} else {
		CHECK(a.rc < 0);
	}
	link_close(&l);
}

/* The event names the peer's depths as this end's: crosswise. */
static void depths(void)
{
	static const struct { uint32_t ird, ord; } t[] = {
		{ 1, 1 }, { 4, 2 }, { 2, 8 }, { 16, 16 },
	};
	struct link l = { 0 };
	struct plan p = usual;
	uint32_t i, port = 0, most = env.limits.max_rd_atom;
	struct answer a;
	struct work w;

	if (env.limits.max_init_rd < most)
		most = env.limits.max_init_rd;
	NEED(link_listen(&l, env.far, 16, &port));
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		if (t[i].ird > most || t[i].ord > most)
			continue;
		p.near.ird = p.far.ord = t[i].ird;
		p.near.ord = p.far.ird = t[i].ord;
		NEED(link_through(&l, &p, port));
		CHECK_EQ(l.request.offer.ird, t[i].ord);
		CHECK_EQ(l.request.offer.ord, t[i].ird);
		NEED(mem_new(&near, &l.near.mem, 4096, ALL_RIGHTS, 0));
		NEED(mem_new(&far, &l.far.mem, 4096, ALL_RIGHTS, 0));
		mem_fill(&l.far.mem, 0, 64, i);
		/* Three times as many at once as may be under way. */
		w = rdma(10, IBV_WR_RDMA_READ, &l.near.mem, 0, 64, &l.far.mem,
			 0);
		NEED_EQ(post_send(&l.near, &w, 24), 0);
		CHECK_EQ(all_done(&l.near, SQ, 24, &a, LONG_MS), 24);
		CHECK_EQ(a.done[23].status, IBV_WC_SUCCESS);
		CHECK(mem_is(&l.near.mem, 0, 64, i));
		mem_drop(&l.near.mem);
		mem_drop(&l.far.mem);
		point_drop(&l.near);
		point_drop(&l.far);
		l.near.mem.n = l.far.mem.n = 0;
	}
	link_close(&l);
}

/* The other end is told; what it had posted comes back. */
static void disconnect_from(bool from_far)
{
	struct point *x, *y;
	struct answer a;
	struct link l;
	uint32_t i;

	NEED(link_open(&l, &usual));
	talk(&l);
	x = from_far ? &l.far : &l.near;
	y = from_far ? &l.near : &l.far;
	for (i = 0; i < 5; i++) {
		NEED_EQ(recv_one(x, 10 + i, 0, 64), 0);
		NEED_EQ(recv_one(y, 20 + i, 0, 64), 0);
	}
	CHECK_EQ(point_do(x, OP_DISCONNECT), 0);
	point_expect(y, RDMA_CM_EVENT_DISCONNECTED, NULL);
	/* InfiniBand leaves it to the program to end its half. */
	point_do(y, OP_DISCONNECT);
	point_expect(x, RDMA_CM_EVENT_DISCONNECTED, NULL);
	for (i = 0; i < 5; i++) {
		DONE(x, RQ, 10 + i, WR_FLUSH_ERR);
		DONE(y, RQ, 20 + i, WR_FLUSH_ERR);
	}
	CHECK_EQ(all_done(x, RQ, 1, &a, SHORT_MS), 0);
	CHECK_EQ(point_state(x), IBV_QPS_ERR);
	CHECK_EQ(point_state(y), IBV_QPS_ERR);
	link_close(&l);
}

static void disconnect_near(void)
{
	disconnect_from(false);
}

static void disconnect_far(void)
{
	disconnect_from(true);
}

static void disconnect_both(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	talk(&l);
	CHECK_EQ(point_do(&l.near, OP_DISCONNECT), 0);
	point_do(&l.far, OP_DISCONNECT);
	point_expect(&l.near, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	link_close(&l);
}

/* Destroyed, without a word before. */
static void dropped(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	talk(&l);
	NEED_EQ(recv_one(&l.far, 7, 0, 64), 0);
	point_drop(&l.near);
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_do(&l.far, OP_DISCONNECT);
	DONE(&l.far, RQ, 7, WR_FLUSH_ERR);
	link_close(&l);
}

/* What was sent before the end arrives before it. */
static void last_words(void)
{
	struct link l;
	uint32_t i;

	NEED(link_open(&l, &usual));
	mem_fill(&l.near.mem, 0, MEM_LEN, 8);
	for (i = 0; i < 16; i++)
		NEED_EQ(recv_one(&l.far, i, 0, MEM_LEN), 0);
	for (i = 0; i < 16; i++)
		NEED_EQ(send_one(&l.near, 100 + i, 0, 4096), 0);
	for (i = 0; i < 16; i++)
		DONE(&l.near, SQ, 100 + i, SUCCESS);
	CHECK_EQ(point_do(&l.near, OP_DISCONNECT), 0);
	for (i = 0; i < 16; i++)
		DONE(&l.far, RQ, i, SUCCESS);
	CHECK(mem_is(&l.far.mem, 0, 4096, 8));
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	link_close(&l);
}

static void through(const char *listen, const char *from, const char *to)
{
	struct plan p = usual;
	struct link l;

	p.listen = listen;
	p.from = from;
	p.to = to;
	NEED(link_open(&l, &p));
	talk(&l);
	link_close(&l);
}

static void wildcard(void)
{
	through("*", env.near, env.far);
}

/* "::" takes what comes by IPv4, too. */
static void wildcard6(void)
{
	struct order o = { .op = OP_LISTEN, .address = "::", .n = 1 };
	struct point listener = { .side = &far };
	struct answer a;

	if (ask(&far, &o, &a) == -EADDRNOTAVAIL || a.rc == -EAFNOSUPPORT) {
		skip("the far machine has no IPv6");
		return;
	}
	NEED_EQ(a.rc, 0);
	listener.conn = a.n;
	point_drop(&listener);
	through("::", env.near, env.far);
}

static void six(void)
{
	if (!env.near6) {
		skip("no --six");
		return;
	}
	through(env.far6, env.near6, env.far6);
	through("::", env.near6, env.far6);
}

/* A listener's port is free once it is gone, and not before. */
static void port_reuse(void)
{
	struct link l = { 0 };
	struct point listener = { .side = &far };
	struct order o = { .op = OP_LISTEN, .n = 4 };
	struct answer a;
	uint32_t port = 0, i;

	NEED(link_listen(&l, env.far, 4, &port));
	snprintf(o.address, sizeof(o.address), "%s", env.far);
	o.port = port;
	CHECK_EQ(ask(&far, &o, &a), -EADDRINUSE);
	for (i = 0; i < 3; i++) {
		NEED(link_through(&l, &usual, port));
		point_drop(&l.near);
		point_drop(&l.far);
		listener.conn = l.listener;
		point_drop(&listener);
		NEED(link_listen(&l, env.far, 4, &port));
	}
	link_close(&l);
}

static void many(void)
{
	struct link l = { 0 };
	uint32_t i, port = 0;

	NEED(link_listen(&l, env.far, 16, &port));
	for (i = 0; i < 100; i++) {
		NEED(link_through(&l, &usual, port));
		point_drop(i & 1 ? &l.near : &l.far);
		point_drop(i & 1 ? &l.far : &l.near);
	}
	link_close(&l);
}

/* Several at once, each with messages of its own. */
static void crowd(void)
{
	static struct link l[20];
	uint32_t i, port = 0;

	NEED(link_listen(&l[0], env.far, 32, &port));
	for (i = 0; i < ARRAY_SIZE(l); i++) {
		l[i].listener = l[0].listener;
		NEED(link_through(&l[i], &usual, port));
		NEED(mem_new(&near, &l[i].near.mem, 4096, ALL_RIGHTS, 0));
		NEED(mem_new(&far, &l[i].far.mem, 4096, ALL_RIGHTS, 0));
		mem_fill(&l[i].near.mem, 0, 64, i);
		NEED_EQ(recv_one(&l[i].far, i, 0, 64), 0);
	}
	for (i = 0; i < ARRAY_SIZE(l); i++)
		NEED_EQ(send_one(&l[i].near, 50 + i, 0, 64), 0);
	for (i = ARRAY_SIZE(l); i--;) {
		DONE(&l[i].far, RQ, i, SUCCESS);
		DONE(&l[i].near, SQ, 50 + i, SUCCESS);
		CHECK(mem_is(&l[i].far.mem, 0, 64, i));
		if (i)
			l[i].listener = 0;
		link_close(&l[i]);
	}
}

static const struct group groups[] = {
	{ "connect.simple", simple, "connect, a message each way", 0 },
	{ "connect.passive", passive_first, "the passive end sends first", 0 },
	{ "connect.data", private_data,
	  "private data of 0 to 56 bytes in request and reply", 120 },
	{ "connect.data_large", private_large,
	  "255 bytes of private data are refused or arrive whole", 0 },
	{ "connect.depths", depths, "IRD and ORD, READs beyond them wait", 0 },
	{ "connect.wildcard", wildcard, "a listener of any address", 0 },
	{ "connect.wildcard6", wildcard6, "one of :: takes IPv4", 0 },
	{ "connect.six", six, "IPv6", 0 },
	{ "connect.ports", port_reuse, "a port in use, and again", 0 },
	{ "connect.many", many, "100 connections in turn", 120 },
	{ "connect.crowd", crowd, "20 connections at once", 0 },
	{ "disconnect.near", disconnect_near, "by the active end", 0 },
	{ "disconnect.far", disconnect_far, "by the passive end", 0 },
	{ "disconnect.both", disconnect_both, "by both at once", 0 },
	{ "disconnect.dropped", dropped, "one end is destroyed", 0 },
	{ "disconnect.last", last_words,
	  "what completed before the end arrives", 0 },
};

const struct file file_connect = { groups, ARRAY_SIZE(groups) };
