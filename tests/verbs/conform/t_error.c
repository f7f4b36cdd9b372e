// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Errors of an end's own, and what comes back of what was posted. */
#include "link.h"
#include <string.h>

/*
 * n with ids from `first`, once each, in order; successes may come first, and
 * everything behind the first failure was flushed.  Returns the successes.
 */
static unsigned int come_back(struct point *p, int which, unsigned int first,
			      unsigned int n)
{
	unsigned int i, good = 0;
	struct done d;
	bool failed = false;

	for (i = 0; i < n; i++) {
		if (!CHECK(next_done(p, which, &d)))
			return good;
		CHECK_EQ(d.id, first + i);
		if (failed)
			CHECK_EQ(d.status, IBV_WC_WR_FLUSH_ERR);
		if (d.status == IBV_WC_SUCCESS)
			good++;
		else
			failed = true;
	}
	CHECK(nothing_done(p, which));
	return good;
}

/* All that is posted comes back, at both queues. */
static void flush_receives(void)
{
	struct answer a;
	struct work w;
	struct link l;
	unsigned int i;

	NEED(link_open(&l, &usual));
	w = work(10, &l.near.mem, 0, 64);
	NEED_EQ(post_recv(&l.near, &w, 30), 0);
	NEED_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
	CHECK_EQ(all_done(&l.near, RQ, 30, &a, LONG_MS), 30);
	for (i = 0; i < a.n; i++) {
		CHECK_EQ(a.done[i].id, 10 + i);
		CHECK_EQ(a.done[i].status, IBV_WC_WR_FLUSH_ERR);
	}
	CHECK(nothing_done(&l.near, RQ));
	link_close(&l);
}

static void flush_sends(void)
{
	struct work w;
	struct link l;
	unsigned int good;

	NEED(link_open(&l, &usual));
	w = rdma(100, IBV_WR_RDMA_WRITE, &l.near.mem, 0, 65536, &l.far.mem, 0);
	NEED_EQ(post_send(&l.near, &w, 32), 0);
	NEED_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
	good = come_back(&l.near, SQ, 100, 32);
	CHECK(good <= 32);
	link_close(&l);
}

/* Unsignalled ones come back, too, when they are flushed. */
static void flush_unsignalled(void)
{
	struct work w;
	struct done d;
	struct link l;
	unsigned int last = 0;
	bool flushed = false;

	NEED(link_open(&l, &usual));
	w = rdma(1, IBV_WR_RDMA_READ, &l.near.mem, 0, 65536, &l.far.mem, 0);
	w.flags = 0;
	NEED_EQ(post_send(&l.near, &w, 20), 0);
	NEED_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
	while (last < 20 && next_done(&l.near, SQ, &d)) {
		CHECK(d.id > last);
		CHECK(!flushed || d.id == last + 1);
		CHECK_EQ(d.status, IBV_WC_WR_FLUSH_ERR);
		flushed = true;
		last = d.id;
	}
	/* Either all were done before, or the last is among them. */
	CHECK(!flushed || last == 20);
	link_close(&l);
}

/* Posts to a queue pair in error are flushed, behind the others. */
static void post_in_error(void)
{
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	NEED_EQ(recv_one(&l.near, 1, 0, 64), 0);
	NEED_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
	NEED_EQ(recv_one(&l.near, 2, 0, 64), 0);
	DONE(&l.near, RQ, 1, WR_FLUSH_ERR);
	DONE(&l.near, RQ, 2, WR_FLUSH_ERR);
	w = work(3, &l.near.mem, 0, 64);
	NEED_EQ(post_send(&l.near, &w, 3), 0);
	DONE(&l.near, SQ, 3, WR_FLUSH_ERR);
	DONE(&l.near, SQ, 4, WR_FLUSH_ERR);
	DONE(&l.near, SQ, 5, WR_FLUSH_ERR);
	CHECK(nothing_done(&l.near, SQ));
	link_close(&l);
}

/* With traffic both ways, everything is accounted for once. */
static void flush_traffic(void)
{
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	w = work(0, &l.near.mem, 0, 30000);
	NEED_EQ(post_recv(&l.near, &w, 20), 0);
	w = work(0, &l.far.mem, 0, 30000);
	NEED_EQ(post_recv(&l.far, &w, 20), 0);
	w = work(50, &l.near.mem, 32768, 30000);
	NEED_EQ(post_send(&l.near, &w, 20), 0);
	w = work(80, &l.far.mem, 32768, 30000);
	NEED_EQ(post_send(&l.far, &w, 20), 0);
	CHECK_EQ(point_do(&l.near, OP_DISCONNECT), 0);
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_do(&l.far, OP_DISCONNECT);
	come_back(&l.near, RQ, 0, 20);
	come_back(&l.near, SQ, 50, 20);
	come_back(&l.far, RQ, 0, 20);
	come_back(&l.far, SQ, 80, 20);
	link_close(&l);
}

/*
 * One end of its own fails with a code that says that it is the memory.  The
 * other gets nothing, and none of the posts behind it are done.
 */
static void local_error(struct link *l, const struct work *w)
{
	bool longer = w->sge[0].len > env.limits.max_msg;
	struct done d;

	NEED_EQ(recv_one(&l->far, 9, 0, MEM_LEN), 0);
	/* A device may look at it when it is posted. */
	if (post_send(&l->near, w, 1)) {
		CHECK(nothing_done(&l->near, SQ));
		CHECK(nothing_done(&l->far, RQ));
		return;
	}
	post_send(&l->near, &(struct work){ .id = w->id + 1,
		  .opcode = IBV_WR_SEND, .flags = IBV_SEND_SIGNALED }, 1);
	NEED(next_done(&l->near, SQ, &d));
	CHECK_EQ(d.id, w->id);
	if (env.limits.iwarp)
		CHECK(d.status == IBV_WC_LOC_PROT_ERR ||
		      d.status == IBV_WC_LOC_ACCESS_ERR ||
		      (longer && d.status == IBV_WC_LOC_LEN_ERR) ||
		      (!env.codes && d.status != IBV_WC_SUCCESS));
	else
		CHECK(d.status == IBV_WC_LOC_PROT_ERR ||
		      (longer && d.status == IBV_WC_LOC_LEN_ERR));
	DONE(&l->near, SQ, w->id + 1, WR_FLUSH_ERR);
	CHECK_EQ(point_state(&l->near), IBV_QPS_ERR);
	point_do(&l->far, OP_DISCONNECT);
	DONE(&l->far, RQ, 9, WR_FLUSH_ERR);
}

static void send_key(void)
{
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	w = work(1, &l.near.mem, 0, 64);
	w.sge[0].skew = 0x00345600;
	local_error(&l, &w);
	link_close(&l);
}

/* The right number with another key in it. */
static void send_key_low(void)
{
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	w = work(1, &l.near.mem, 0, 64);
	w.sge[0].skew = 0x01;
	local_error(&l, &w);
	link_close(&l);
}

static void send_range(void)
{
	static const struct { uint64_t off; uint32_t len; } bad[] = {
		{ MEM_LEN - 63, 64 }, { MEM_LEN, 1 }, { -1ull, 2 },
		{ 0, MEM_LEN + 1 }, { 1ull << 40, 64 }, { 0x1000, 0xffffffff },
	};
	struct work w;
	struct link l;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		NEED(link_open(&l, &usual));
		w = work(1, &l.near.mem, bad[i].off, bad[i].len);
		local_error(&l, &w);
		link_close(&l);
	}
}

static void second_segment(void)
{
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	w = work(1, &l.near.mem, 0, 64);
	w.n_sge = 2;
	w.sge[1] = (struct sge){ .mr = l.near.mem.n, .off = MEM_LEN - 1,
				 .len = 2 };
	local_error(&l, &w);
	link_close(&l);
}

/* What a READ brings would land where nothing may be written. */
static void read_target(void)
{
	struct mem fixed;
	struct done d;
	struct link l;
	struct work w;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&near, &fixed, 4096, 0, 0));
	mem_fill(&fixed, 0, 4096, 2);
	w = rdma(1, IBV_WR_RDMA_READ, &fixed, 0, 64, &l.far.mem, 0);
	if (!post_send(&l.near, &w, 1)) {
		NEED(next_done(&l.near, SQ, &d));
		CHECK_EQ(d.id, 1);
		CHECK(d.status != IBV_WC_SUCCESS);
		CHECK_EQ(point_state(&l.near), IBV_QPS_ERR);
	}
	CHECK(mem_is(&fixed, 0, 4096, 2));
	mem_drop(&fixed);
	link_close(&l);
}

/* A message that does not fit ends the connection; what was there stays. */
static void short_receive(void)
{
	struct done d;
	struct link l;

	NEED(link_open(&l, &usual));
	mem_fill(&l.far.mem, 100, 100, 6);
	NEED_EQ(recv_one(&l.far, 1, 0, 100), 0);
	NEED_EQ(recv_one(&l.far, 2, 0, 100), 0);
	NEED_EQ(send_one(&l.near, 3, 0, 101), 0);
	NEED(next_done(&l.far, RQ, &d));
	CHECK_EQ(d.id, 1);
	if (env.limits.iwarp)
		CHECK(d.status == IBV_WC_LOC_LEN_ERR ||
		      (!env.codes && d.status != IBV_WC_SUCCESS));
	else
		CHECK_EQ(d.status, IBV_WC_LOC_LEN_ERR);
	/* The sender may have been done with it. */
	NEED(next_done(&l.near, SQ, &d));
	CHECK_EQ(d.id, 3);
	if (!has_all())
		CHECK(d.status != IBV_WC_SUCCESS || !env.codes);
	else
		CHECK_EQ(d.status, IBV_WC_REM_INV_REQ_ERR);
	link_ended(&l);
	if (!env.limits.iwarp)
		point_do(&l.far, OP_DISCONNECT);
	DONE(&l.far, RQ, 2, WR_FLUSH_ERR);
	CHECK(mem_is(&l.far.mem, 100, 100, 6));
	link_close(&l);
}

/*
 * Nothing is posted for a message: the connection ends, but on RoCE only when
 * it was told not to wait.
 */
static void empty_queue(void)
{
	struct plan p = usual;
	struct link l;
	struct done d;

	p.near.rnr_retry = p.far.rnr_retry = 0;
	NEED(link_open(&l, &p));
	NEED_EQ(send_one(&l.near, 1, 0, 64), 0);
	NEED(next_done(&l.near, SQ, &d));
	CHECK_EQ(d.id, 1);
	if (has_all())
		CHECK_EQ(d.status, IBV_WC_RNR_RETRY_EXC_ERR);
	else if (env.codes)
		CHECK(d.status != IBV_WC_SUCCESS);
	link_ended(&l);
	CHECK(nothing_done(&l.far, RQ));
	link_close(&l);
}

/* The last of them was used; one more message than receives. */
static void emptied(void)
{
	struct plan p = usual;
	struct link l;
	struct work w;
	unsigned int i;

	p.near.rnr_retry = p.far.rnr_retry = 0;
	NEED(link_open(&l, &p));
	w = work(0, &l.far.mem, 0, 64);
	NEED_EQ(post_recv(&l.far, &w, 4), 0);
	w = work(10, &l.near.mem, 0, 64);
	NEED_EQ(post_send(&l.near, &w, 5), 0);
	for (i = 0; i < 4; i++)
		DONE(&l.far, RQ, i, SUCCESS);
	CHECK(come_back(&l.near, SQ, 10, 5) >= (env.limits.iwarp ? 0 : 4));
	link_ended(&l);
	link_close(&l);
}

/* A receive into memory that may not be written, or with a wrong key. */
static void bad_receive(bool key)
{
	struct mem fixed;
	struct work w;
	struct done d;
	struct link l;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&far, &fixed, 4096, 0, 0));
	mem_fill(&fixed, 0, 64, 3);
	w = work(1, key ? &l.far.mem : &fixed, 0, 64);
	if (key) {
		w.sge[0].skew = 0x00123400;
		mem_fill(&l.far.mem, 0, 64, 3);
	}
	if (post_recv(&l.far, &w, 1)) {
		/* Seen at once. */
		CHECK(nothing_done(&l.far, RQ));
	} else {
		NEED_EQ(send_one(&l.near, 2, 64, 64), 0);
		NEED(next_done(&l.far, RQ, &d));
		CHECK_EQ(d.id, 1);
		CHECK(d.status != IBV_WC_SUCCESS);
		NEED(next_done(&l.near, SQ, &d));
		CHECK_EQ(d.id, 2);
		if (has_all())
			CHECK_EQ(d.status, IBV_WC_REM_OP_ERR);
		link_ended(&l);
	}
	CHECK(mem_is(key ? &l.far.mem : &fixed, 0, 64, 3));
	mem_drop(&fixed);
	link_close(&l);
}

static void receive_fixed(void)
{
	bad_receive(false);
}

static void receive_key(void)
{
	bad_receive(true);
}

static const struct group groups[] = {
	{ "flush.receives", flush_receives, "30 receives, by ERR", 0 },
	{ "flush.sends", flush_sends, "32 WRITEs, by ERR", 0 },
	{ "flush.unsignalled", flush_unsignalled, "unsignalled READs", 0 },
	{ "flush.later", post_in_error, "posts to a queue pair in error", 0 },
	{ "flush.traffic", flush_traffic, "SENDs both ways, by disconnect",
	  0 },
	{ "local.key", send_key, "a SEND with a wrong key", 0 },
	{ "local.key_low", send_key_low, "its low byte wrong", 0 },
	{ "local.range", send_range, "a SEND beyond its memory", 0 },
	{ "local.second", second_segment, "a wrong second segment", 0 },
	{ "local.read", read_target, "a READ into what is read-only", 0 },
	{ "local.receive", receive_fixed, "a receive into what is read-only",
	  0 },
	{ "local.receive_key", receive_key, "a receive with a wrong key", 0 },
	{ "receive.short", short_receive, "a message longer than the receive",
	  0 },
	{ "receive.none", empty_queue, "no receive for a message", 0 },
	{ "receive.last", emptied, "one message too many", 0 },
};

const struct file file_error = { groups, ARRAY_SIZE(groups) };
