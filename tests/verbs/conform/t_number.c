// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections by the numbers of queue pairs. */
#include "link.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NOBODY	0xabcdefu	/* number of a QP that is not there */

/* Two ends in INIT with memory. */
static bool ends(struct link *l)
{
	memset(l, 0, sizeof(*l));
	return link_ends(l, &usual.queues, &usual.queues) &&
	       mem_new(&near, &l->near.mem, MEM_LEN, ALL_RIGHTS, 0) &&
	       mem_new(&far, &l->far.mem, MEM_LEN, ALL_RIGHTS, 0);
}

/* One that sends before its peer has heard of it waits. */
static void early(void)
{
	struct link l;
	uint32_t i;

	NEED(ends(&l));
	mem_fill(&l.near.mem, 0, 512, 3);
	for (i = 0; i < 8; i++)
		NEED_EQ(recv_one(&l.far, i, i * 64, 64), 0);
	NEED_EQ(point_meet(&l.near, &l.far, &usual.near, false), 0);
	CHECK_EQ(point_state(&l.near), IBV_QPS_RTS);
	for (i = 0; i < 8; i++)
		NEED_EQ(send_one(&l.near, 10 + i, i * 64, 64), 0);
	CHECK(nothing_done(&l.near, SQ));
	NEED_EQ(point_meet(&l.far, &l.near, &usual.far, true), 0);
	/* RTR is enough to receive. */
	for (i = 0; i < 8; i++) {
		DONE(&l.near, SQ, 10 + i, SUCCESS);
		DONE(&l.far, RQ, i, SUCCESS);
	}
	CHECK_EQ(point_state(&l.far), IBV_QPS_RTR);
	CHECK(mem_is(&l.far.mem, 0, 512, 3));
	link_close(&l);
}

/* A peer that has had all that it wanted goes: no word of it before we send. */
static void left(void)
{
	struct link l;
	struct answer a;

	NEED(link_open(&l, &usual));
	NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
	NEED_EQ(recv_one(&l.far, 2, 0, 64), 0);
	NEED_EQ(recv_one(&l.far, 3, 0, 64), 0);
	NEED_EQ(send_one(&l.near, 9, 0, 64), 0);
	DONE(&l.near, SQ, 9, SUCCESS);
	DONE(&l.far, RQ, 1, SUCCESS);
	point_drop(&l.near);
	usleep(300000);
	CHECK(nothing_done(&l.far, RQ));
	CHECK_EQ(point_state(&l.far), IBV_QPS_RTS);
	NEED_EQ(recv_one(&l.far, 4, 0, 64), 0);
	CHECK(nothing_done(&l.far, RQ));
	NEED_EQ(send_one(&l.far, 5, 0, 64), 0);
	CHECK_EQ(all_done(&l.far, SQ, 1, &a, 6 * LONG_MS), 1);
	CHECK(a.done[0].status != IBV_WC_SUCCESS);
	DONE(&l.far, RQ, 2, WR_FLUSH_ERR);
	DONE(&l.far, RQ, 3, WR_FLUSH_ERR);
	DONE(&l.far, RQ, 4, WR_FLUSH_ERR);
	CHECK_EQ(point_state(&l.far), IBV_QPS_ERR);
	/* The completion has told it: a peer that leaves is no fault. */
	if (env.codes)
		CHECK_EQ(point_async(&l.far, SHORT_MS), -1);
	link_close(&l);
}

/* The same numbers meet again after RESET, and a message goes each way. */
static void again(void)
{
	struct link l;
	int i;

	NEED(ends(&l));
	for (i = 0; i < 20; i++) {
		struct point *x = i & 1 ? &l.far : &l.near;
		struct point *y = i & 1 ? &l.near : &l.far;

		NEED_EQ(point_meet(x, y, &usual.near, false), 0);
		NEED_EQ(recv_one(x, 1, 0, 64), 0);
		NEED_EQ(send_one(x, 2, 64, 64), 0);
		NEED_EQ(recv_one(y, 1, 0, 64), 0);
		NEED_EQ(point_meet(y, x, &usual.near, false), 0);
		NEED_EQ(send_one(y, 2, 64, 64), 0);
		DONE(x, SQ, 2, SUCCESS);
		DONE(y, RQ, 1, SUCCESS);
		DONE(y, SQ, 2, SUCCESS);
		DONE(x, RQ, 1, SUCCESS);
		CHECK_EQ(point_modify(x, IBV_QPS_RESET), 0);
		CHECK_EQ(point_modify(y, IBV_QPS_RESET), 0);
		NEED_EQ(point_do(x, OP_INIT), 0);
		NEED_EQ(point_do(y, OP_INIT), 0);
	}
	link_close(&l);
}

/* In every state but the right one. */
static void refused(void)
{
	struct offer many = { .ird = env.limits.max_rd_atom + 1, .ord = 1 };
	struct link l;

	NEED(ends(&l));
	CHECK(point_modify(&l.near, IBV_QPS_RTS) < 0);
	CHECK_EQ(point_state(&l.near), IBV_QPS_INIT);
	if (env.codes)
		CHECK_EQ(point_meet(&l.near, &l.far, &many, false), -EINVAL);
	CHECK_EQ(point_modify(&l.near, IBV_QPS_RESET), 0);
	CHECK(point_meet(&l.near, &l.far, &usual.near, false) < 0);
	CHECK_EQ(point_state(&l.near), IBV_QPS_RESET);
	NEED_EQ(point_do(&l.near, OP_INIT), 0);
	NEED_EQ(point_meet(&l.near, &l.far, &usual.near, false), 0);
	/* It has a peer. */
	CHECK(point_meet(&l.near, &l.far, &usual.near, false) < 0);
	CHECK_EQ(point_state(&l.near), IBV_QPS_RTS);
	link_close(&l);
}

/* Ends of queue pairs that look for peers, or are just meeting one. */
static void ended(void)
{
	struct link l;
	int i;

	for (i = 0; i < 50; i++) {
		NEED(ends(&l));
		NEED_EQ(recv_one(&l.near, 1, 0, 64), 0);
		NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
		NEED_EQ(point_meet(&l.near, &l.far, &usual.near, false), 0);
		NEED_EQ(send_one(&l.near, 2, 0, 64), 0);
		if (i & 1)
			NEED_EQ(point_meet(&l.far, &l.near, &usual.far, false),
				0);
		if (i & 2) {
			CHECK_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
			if (!(i & 1)) {
				DONE(&l.near, SQ, 2, WR_FLUSH_ERR);
				DONE(&l.near, RQ, 1, WR_FLUSH_ERR);
			}
		} else if (i & 4) {
			CHECK_EQ(point_modify(&l.near, IBV_QPS_RESET), 0);
		}
		link_close(&l);
	}
}

/* Without a peer a queue pair with a send goes to ERR, one without a send stays. */
static void nobody(void)
{
	struct link l;
	struct answer a;

	NEED(ends(&l));
	l.near.qp ^= NOBODY;
	l.far.qp ^= NOBODY;
	NEED_EQ(recv_one(&l.near, 1, 0, 64), 0);
	NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
	NEED_EQ(point_meet(&l.near, &l.far, &usual.near, false), 0);
	NEED_EQ(point_meet(&l.far, &l.near, &usual.far, false), 0);
	NEED_EQ(send_one(&l.near, 2, 0, 64), 0);
	CHECK_EQ(all_done(&l.near, SQ, 1, &a, 60000), 1);
	CHECK(a.done[0].status != IBV_WC_SUCCESS);
	CHECK_EQ(point_state(&l.near), IBV_QPS_ERR);
	CHECK_EQ(all_done(&l.near, RQ, 1, &a, LONG_MS), 1);
	CHECK_EQ(point_state(&l.far), IBV_QPS_RTS);
	CHECK(nothing_done(&l.far, RQ));
	link_close(&l);
}

static const struct group groups[] = {
	{ "number.early", early, "sends before the peer knows of them", 0 },
	{ "number.left", left, "the peer goes, and has had all", 0 },
	{ "number.again", again, "the same numbers, 20 times", 0 },
	{ "number.refused", refused, "states and limits", 0 },
	{ "number.ended", ended, "50 that end while they look for a peer", 0 },
	{ "number.nobody", nobody, "sends to a number that is not there", 120 },
};

const struct file file_number = { groups, ARRAY_SIZE(groups) };
