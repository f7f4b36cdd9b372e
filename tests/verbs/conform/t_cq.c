// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Completion queues: arming, solicited events, overflow. */
#include "link.h"
#include <pthread.h>
#include <string.h>

#define MESSAGES	2000
#define AHEAD		32

/* A SEND to the far end, which has a receive for it. */
static void message(struct link *l, uint32_t flags)
{
	struct work w = work(2, &l->near.mem, 0, 16);

	w.flags |= flags;
	NEED_EQ(recv_one(&l->far, 1, 0, 16), 0);
	NEED_EQ(post_send(&l->near, &w, 1), 0);
	DONE(&l->near, SQ, 2, SUCCESS);
}

static void armed(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	/* Without arming there is no event. */
	message(&l, 0);
	CHECK(!point_notified(&l.far, RQ, SHORT_MS));
	DONE(&l.far, RQ, 1, SUCCESS);
	/* One event for one arming, however much comes. */
	NEED_EQ(point_arm(&l.far, RQ, false), 0);
	message(&l, 0);
	CHECK(point_notified(&l.far, RQ, LONG_MS));
	message(&l, 0);
	CHECK(!point_notified(&l.far, RQ, SHORT_MS));
	DONE(&l.far, RQ, 1, SUCCESS);
	DONE(&l.far, RQ, 1, SUCCESS);
	/* Twice armed is armed. */
	NEED_EQ(point_arm(&l.far, RQ, false), 0);
	NEED_EQ(point_arm(&l.far, RQ, false), 0);
	message(&l, 0);
	CHECK(point_notified(&l.far, RQ, LONG_MS));
	CHECK(!point_notified(&l.far, RQ, SHORT_MS));
	DONE(&l.far, RQ, 1, SUCCESS);
	link_close(&l);
}

static void armed_send(void)
{
	struct link l;
	struct work w;

	NEED(link_open(&l, &usual));
	NEED_EQ(point_arm(&l.near, SQ, false), 0);
	NEED_EQ(recv_one(&l.far, 1, 0, 16), 0);
	NEED_EQ(send_one(&l.near, 2, 0, 16), 0);
	CHECK(point_notified(&l.near, SQ, LONG_MS));
	DONE(&l.near, SQ, 2, SUCCESS);
	DONE(&l.far, RQ, 1, SUCCESS);
	/* What does not signal does not notify. */
	NEED_EQ(point_arm(&l.near, SQ, false), 0);
	NEED_EQ(recv_one(&l.far, 1, 0, 16), 0);
	w = work(3, &l.near.mem, 0, 16);
	w.flags = 0;
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.far, RQ, 1, SUCCESS);
	CHECK(!point_notified(&l.near, SQ, SHORT_MS));
	link_close(&l);
}

static void solicited(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	NEED_EQ(point_arm(&l.far, RQ, true), 0);
	message(&l, 0);
	CHECK(!point_notified(&l.far, RQ, SHORT_MS));
	message(&l, IBV_SEND_SOLICITED);
	CHECK(point_notified(&l.far, RQ, LONG_MS));
	DONE(&l.far, RQ, 1, SUCCESS);
	DONE(&l.far, RQ, 1, SUCCESS);
	/* Armed for all, a solicited one is one of them. */
	NEED_EQ(point_arm(&l.far, RQ, false), 0);
	message(&l, IBV_SEND_SOLICITED);
	CHECK(point_notified(&l.far, RQ, LONG_MS));
	DONE(&l.far, RQ, 1, SUCCESS);
	/*
	 * All is more than solicited: asking for less takes nothing back.  The
	 * library of siw's ABI writes a flag, and the last word holds.
	 */
	if (has_all()) {
		NEED_EQ(point_arm(&l.far, RQ, false), 0);
		NEED_EQ(point_arm(&l.far, RQ, true), 0);
		message(&l, 0);
		CHECK(point_notified(&l.far, RQ, LONG_MS));
		DONE(&l.far, RQ, 1, SUCCESS);
	}
	link_close(&l);
}

/* A failure is worth an event, solicited or not. */
static void solicited_error(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	NEED_EQ(recv_one(&l.far, 1, 0, 16), 0);
	NEED_EQ(point_arm(&l.far, RQ, true), 0);
	NEED_EQ(point_modify(&l.far, IBV_QPS_ERR), 0);
	CHECK(point_notified(&l.far, RQ, LONG_MS));
	DONE(&l.far, RQ, 1, WR_FLUSH_ERR);
	link_close(&l);
}

static void flush_notifies(void)
{
	struct link l;

	NEED(link_open(&l, &usual));
	NEED_EQ(recv_one(&l.far, 1, 0, 16), 0);
	NEED_EQ(point_arm(&l.far, RQ, false), 0);
	CHECK_EQ(point_do(&l.near, OP_DISCONNECT), 0);
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_do(&l.far, OP_DISCONNECT);
	CHECK(point_notified(&l.far, RQ, LONG_MS));
	DONE(&l.far, RQ, 1, WR_FLUSH_ERR);
	link_close(&l);
}

/* The race of every program: look, arm, look again, sleep. */
struct race {
	struct link l;
	unsigned int got, sent;
};

static void *sender(void *arg)
{
	struct race *r = arg;
	struct work w = work(0, &r->l.far.mem, 0, 16);
	struct answer a;

	w.flags = 0;
	while (r->sent < MESSAGES) {
		if (r->sent - __atomic_load_n(&r->got, __ATOMIC_ACQUIRE) >=
		    AHEAD) {
			sched_yield();
			continue;
		}
		w.id = r->sent;
		/* Now and then a signal, or the queue never has room. */
		w.flags = r->sent % 16 == 15 ? IBV_SEND_SIGNALED : 0;
		if (post_send(&r->l.far, &w, 1))
			break;
		r->sent++;
		if (w.flags && all_done(&r->l.far, SQ, 1, &a, LONG_MS) != 1)
			break;
	}
	return NULL;
}

static void race(void)
{
	static struct race r;
	struct answer a;
	pthread_t t;
	struct work w;
	unsigned int i, slept = 0;
	bool armed = false;

	NEED(link_open(&r.l, &usual));
	w = work(0, &r.l.near.mem, 0, 16);
	NEED_EQ(post_recv(&r.l.near, &w, AHEAD * 2 - 1), 0);
	NEED_EQ(pthread_create(&t, NULL, sender, &r), 0);
	while (r.got < MESSAGES) {
		all_done(&r.l.near, RQ, 16, &a, 0);
		if (a.n) {
			for (i = 0; i < a.n; i++)
				NEED_EQ(a.done[i].status, IBV_WC_SUCCESS);
			NEED_EQ(post_recv(&r.l.near, &w, a.n), 0);
			__atomic_add_fetch(&r.got, a.n, __ATOMIC_RELEASE);
			armed = false;
		} else if (!armed) {
			NEED_EQ(point_arm(&r.l.near, RQ, false), 0);
			armed = true;
		} else {
			NEED(point_notified(&r.l.near, RQ, LONG_MS));
			armed = false;
			slept++;
		}
		/* An event that came meanwhile is taken, so as not to pile up. */
		if (!armed)
			while (!slept && point_notified(&r.l.near, RQ, 0))
				;
	}
	pthread_join(t, NULL);
	CHECK_EQ(r.got, MESSAGES);
	link_close(&r.l);
}

/* More completions than there is room for: told by an event, none invented. */
static void overflow(void)
{
	struct order o = { .op = OP_ASYNC, .ms = LONG_MS };
	struct plan p = usual;
	struct answer a;
	struct link l;
	struct work w;
	uint32_t n;

	p.queues.cqe = 16;
	p.queues.recv_wr = 256;
	p.queues.send_wr = 256;
	NEED(link_open(&l, &p));
	n = l.far.cqe + 8;
	if (n > p.queues.recv_wr) {
		skip("a CQ of 16 has too many entries");
		return;
	}
	w = work(0, &l.far.mem, 0, 16);
	NEED_EQ(post_recv(&l.far, &w, n), 0);
	w = work(0, &l.near.mem, 0, 16);
	w.flags = 0;
	NEED_EQ(post_send(&l.near, &w, n), 0);
	o.conn = l.far.conn;
	NEED_EQ(ask(&far, &o, &a), 0);
	CHECK(a.event == IBV_EVENT_CQ_ERR || a.event == IBV_EVENT_QP_FATAL);
	all_done(&l.far, RQ, MAX_WCS, &a, SHORT_MS);
	CHECK(a.n <= l.far.cqe + 1);
	link_close(&l);
}

/* A CQ that is in use stays; events of one that is gone do not come. */
static void many_rounds(void)
{
	struct plan p = usual;
	struct link l;
	unsigned int i;

	p.queues.cqe = 4;
	p.queues.send_wr = p.queues.recv_wr = 4;
	NEED(link_open(&l, &p));
	for (i = 0; i < 200; i++) {
		NEED_EQ(recv_one(&l.far, i, 0, 16), 0);
		NEED_EQ(send_one(&l.near, i, 0, 16), 0);
		DONE(&l.far, RQ, i, SUCCESS);
		DONE(&l.near, SQ, i, SUCCESS);
	}
	link_close(&l);
}

static const struct group groups[] = {
	{ "cq.armed", armed, "an event for an arming, and none without", 0 },
	{ "cq.send", armed_send, "events of the send queue", 0 },
	{ "cq.solicited", solicited, "solicited events only", 0 },
	{ "cq.solicited_error", solicited_error,
	  "a failure counts as solicited", 0 },
	{ "cq.flush", flush_notifies, "what is flushed notifies", 0 },
	{ "cq.race", race, "arm, look, sleep: 2,000 messages", 120 },
	{ "cq.overflow", overflow, "more completions than room", 0 },
	{ "cq.wraps", many_rounds, "a CQ of four, 200 times", 0 },
};

const struct file file_cq = { groups, ARRAY_SIZE(groups) };
