// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Bytes: how many, from where, into what. */
#include "link.h"
#include <string.h>
#include <unistd.h>

#define MIB		(1u << 20)
#define GUARD		64u

static const uint32_t sizes[] = {
	0, 1, 2, 63, 64, 65, 1459, 1460, 1461, 4095, 4096, 4097, 8192, 65535,
	65536, 65537, MIB - 1, MIB,
};

/* The target ends with a page, begins just before one, or at an odd byte. */
static const uint32_t places[] = { GUARD, 4095, 4096 };

static struct plan large(void)
{
	struct plan p = usual;

	p.mem = 2 * MIB;
	return p;
}

/* Around what was to be written nothing is. */
static void landed(struct mem *m, uint64_t off, uint32_t len, uint32_t seed)
{
	CHECK(mem_is(m, off, len, seed));
	CHECK(mem_is(m, off - GUARD, GUARD, 0xaa));
	CHECK(mem_is(m, off + len, GUARD, 0xbb));
}

static void guards(struct mem *m, uint64_t off, uint32_t len)
{
	mem_fill(m, off, len, 0xcc);
	mem_fill(m, off - GUARD, GUARD, 0xaa);
	mem_fill(m, off + len, GUARD, 0xbb);
}

static void one_size(struct link *l, enum ibv_wr_opcode op, uint32_t len,
		     uint32_t off, uint32_t seed)
{
	bool read = op == IBV_WR_RDMA_READ;
	struct mem *from = read ? &l->far.mem : &l->near.mem;
	struct mem *to = read ? &l->near.mem : &l->far.mem;
	struct work w;
	struct done d;

	mem_fill(from, off, len, seed);
	guards(to, GUARD, len);
	if (op == IBV_WR_SEND) {
		w = work(7, &l->near.mem, off, len);
		NEED_EQ(recv_one(&l->far, 8, GUARD, len), 0);
	} else if (read) {
		w = rdma(7, op, &l->near.mem, GUARD, len, &l->far.mem, off);
	} else {
		w = rdma(7, op, &l->near.mem, off, len, &l->far.mem, GUARD);
	}
	NEED_EQ(post_send(&l->near, &w, 1), 0);
	if (op == IBV_WR_SEND) {
		NEED(next_done(&l->far, RQ, &d));
		CHECK_EQ(d.status, IBV_WC_SUCCESS);
		CHECK_EQ(d.id, 8);
		CHECK_EQ(d.len, len);
		CHECK_EQ(d.opcode, IBV_WC_RECV);
	}
	NEED(next_done(&l->near, SQ, &d));
	CHECK_EQ(d.status, IBV_WC_SUCCESS);
	CHECK_EQ(d.id, 7);
	CHECK_EQ(d.opcode, op == IBV_WR_SEND ? IBV_WC_SEND :
		 read ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE);
	/* A WRITE completes when it was sent; a SEND behind it says more. */
	if (op == IBV_WR_RDMA_WRITE) {
		NEED_EQ(recv_one(&l->far, 9, l->far.mem.len - 1, 1), 0);
		NEED_EQ(send_one(&l->near, 10, 0, 1), 0);
		DONE(&l->far, RQ, 9, SUCCESS);
		DONE(&l->near, SQ, 10, SUCCESS);
	}
	landed(to, GUARD, len, seed);
}

static void all_sizes(enum ibv_wr_opcode op)
{
	struct plan p = large();
	unsigned int i, j;
	struct link l;

	NEED(link_open(&l, &p));
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (j = 0; j < ARRAY_SIZE(places); j++)
			if (sizes[i] <= env.limits.max_msg)
				one_size(&l, op, sizes[i], places[j],
					 i * 8 + j);
	link_close(&l);
}

static void send_sizes(void)
{
	all_sizes(IBV_WR_SEND);
}

static void write_sizes(void)
{
	all_sizes(IBV_WR_RDMA_WRITE);
}

static void read_sizes(void)
{
	all_sizes(IBV_WR_RDMA_READ);
}

/* What the device says is true, to a byte. */
static void longest(void)
{
	uint64_t most = env.limits.max_msg;
	struct plan p = usual;
	struct link l;

	p.mem = 33 * MIB;
	if (env.codes ? most > 32 * MIB : most < 8 * MIB) {
		skip("the device has other limits");
		return;
	}
	if (most > 32 * MIB)
		most = 32 * MIB;
	NEED(most >= 8 * MIB);
	NEED(link_open(&l, &p));
	one_size(&l, IBV_WR_SEND, 8 * MIB, GUARD, 1);
	one_size(&l, IBV_WR_RDMA_WRITE, most, 4095, 2);
	one_size(&l, IBV_WR_RDMA_READ, most, 4096, 3);
	one_size(&l, IBV_WR_SEND, most, GUARD, 4);
	if (env.codes) {
		NEED_EQ(recv_one(&l.far, 1, 0, most + 1), 0);
		NEED_EQ(send_one(&l.near, 2, 0, most + 1), 0);
		DONE(&l.near, SQ, 2, LOC_LEN_ERR);
		link_ended(&l);
	}
	link_close(&l);
}

/* Of nothing no key is looked at, as srpt's empty WRITE has none. */
static void nothing(void)
{
	struct mem none = { 0 };
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	w = rdma(1, IBV_WR_RDMA_WRITE, NULL, 0, 0, &none, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 1, SUCCESS);
	w = rdma(2, IBV_WR_RDMA_READ, NULL, 0, 0, &none, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 2, SUCCESS);
	/* A receive has a segment: siw's library wants one. */
	w = work(4, &l.far.mem, 0, 0);
	w.sge[0].skew = l.far.mem.key;
	NEED_EQ(post_recv(&l.far, &w, 1), 0);
	w = work(3, NULL, 0, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 3, SUCCESS);
	DONE(&l.far, RQ, 4, SUCCESS);
	CHECK_EQ(point_state(&l.near), IBV_QPS_RTS);
	link_close(&l);
}

/* Segments of all kinds of lengths, 0 among them, out of order. */
static void cut(struct work *w, const struct mem *m, const uint32_t *len,
		unsigned int n, uint32_t seed, bool fill)
{
	struct mem copy = *m;
	unsigned int i;

	w->n_sge = n;
	for (i = 0; i < n; i++) {
		w->sge[i] = (struct sge){ .mr = m->n, .len = len[i],
					  .off = (n - i) * 8192 - 3 };
		if (fill)
			mem_fill(&copy, w->sge[i].off, len[i], seed + i);
		else
			guards(&copy, w->sge[i].off, len[i]);
	}
}

static void cut_is(const struct work *w, struct mem *m, uint32_t seed)
{
	unsigned int i;

	for (i = 0; i < w->n_sge; i++)
		landed(m, w->sge[i].off, w->sge[i].len, seed + i);
}

/* The same lengths at both ends, so that each part has a place of its own. */
static void segments(void)
{
	static const uint32_t len[] = { 1, 4096, 0, 1461, 5000, 3 };
	uint32_t n = ARRAY_SIZE(len), total = 0, i;
	struct plan p = usual;
	struct work s, r;
	struct link l;
	struct done d;

	if (n > env.limits.max_sge)
		n = env.limits.max_sge;
	for (i = 0; i < n; i++)
		total += len[i];
	p.queues.sge = n;
	NEED(link_open(&l, &p));
	s = work(1, NULL, 0, 0);
	r = work(2, NULL, 0, 0);
	cut(&s, &l.near.mem, len, n, 70, true);
	cut(&r, &l.far.mem, len, n, 0, false);
	NEED_EQ(post_recv(&l.far, &r, 1), 0);
	NEED_EQ(post_send(&l.near, &s, 1), 0);
	DONE(&l.near, SQ, 1, SUCCESS);
	NEED(next_done(&l.far, RQ, &d));
	CHECK_EQ(d.status, IBV_WC_SUCCESS);
	CHECK_EQ(d.len, total);
	cut_is(&r, &l.far.mem, 70);
	link_close(&l);
}

/* Gathered into one piece by WRITE, scattered out of one by READ. */
static void rdma_segments(void)
{
	static const uint32_t len[] = { 100, 4097, 1, 1460 };
	uint32_t n = ARRAY_SIZE(len), i, at;
	struct plan p = usual;
	struct work w, s;
	struct link l;

	if (n > env.limits.max_sge)
		n = env.limits.max_sge;
	p.queues.sge = n;
	NEED(link_open(&l, &p));
	s = work(1, NULL, 0, 0);
	cut(&s, &l.near.mem, len, n, 30, true);
	w = rdma(1, IBV_WR_RDMA_WRITE, NULL, 0, 0, &l.far.mem, 500);
	w.n_sge = n;
	memcpy(w.sge, s.sge, sizeof(w.sge));
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 1, SUCCESS);
	NEED_EQ(recv_one(&l.far, 9, 0, 1), 0);
	NEED_EQ(send_one(&l.near, 2, 0, 1), 0);
	DONE(&l.far, RQ, 9, SUCCESS);
	DONE(&l.near, SQ, 2, SUCCESS);
	for (i = 0, at = 500; i < n; at += len[i++])
		CHECK(mem_is(&l.far.mem, at, len[i], 30 + i));
	/* iWARP's READ has a single local segment unless it says more. */
	if (env.limits.max_sge_rd >= n) {
		cut(&s, &l.near.mem, len, n, 0, false);
		w.opcode = IBV_WR_RDMA_READ;
		NEED_EQ(post_send(&l.near, &w, 1), 0);
		DONE(&l.near, SQ, 1, SUCCESS);
		cut_is(&s, &l.near.mem, 30);
	}
	link_close(&l);
}

/* Taken when it is posted: what becomes of the buffer does not matter. */
static void inline_data(void)
{
	struct plan p = usual;
	struct work w;
	struct link l;
	uint32_t len, most;

	NEED(link_open(&l, &p));
	most = l.near.inline_data;
	CHECK(most >= p.queues.inline_data);
	for (len = 0; len <= most; len += len < 8 || len > most - 8 ? 1 : 7) {
		guards(&l.far.mem, GUARD, len);
		NEED_EQ(recv_one(&l.far, 1, GUARD, len), 0);
		mem_fill(&l.near.mem, 0, len, len);
		w = work(2, &l.near.mem, 0, len);
		w.flags |= IBV_SEND_INLINE;
		w.sge[0].skew = 0xdeadbeef;	/* not looked at */
		NEED_EQ(post_send(&l.near, &w, 1), 0);
		mem_fill(&l.near.mem, 0, len, 0xff);
		DONE(&l.near, SQ, 2, SUCCESS);
		DONE(&l.far, RQ, 1, SUCCESS);
		landed(&l.far.mem, GUARD, len, len);
	}
	/* By WRITE, from two places. */
	guards(&l.far.mem, GUARD, 24);
	mem_fill(&l.near.mem, 0, 24, 3);
	w = rdma(3, IBV_WR_RDMA_WRITE, &l.near.mem, 0, 11, &l.far.mem, GUARD);
	w.n_sge = 2;
	w.sge[1] = (struct sge){ .mr = l.near.mem.n, .off = 11, .len = 13 };
	w.flags |= IBV_SEND_INLINE;
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 3, SUCCESS);
	NEED_EQ(recv_one(&l.far, 1, 4096, 1), 0);
	NEED_EQ(send_one(&l.near, 4, 0, 1), 0);
	DONE(&l.far, RQ, 1, SUCCESS);
	landed(&l.far.mem, GUARD, 24, 3);
	link_close(&l);
}

/* One byte more than fits is refused at once. */
static void inline_large(void)
{
	struct plan p = usual;
	struct work w;
	struct link l;

	NEED(link_open(&l, &p));
	w = work(1, &l.near.mem, 0, l.near.inline_data + 1);
	w.flags |= IBV_SEND_INLINE;
	CHECK(post_send(&l.near, &w, 1) < 0);
	CHECK(nothing_done(&l.near, SQ));
	link_close(&l);
}

/* The kernel renews a device's counters once in 10 ms. */
static void counted(const char *name, long long wanted)
{
	int i;

	for (i = 0; i < 50 && near_counter(name) != wanted; i++)
		usleep(20000);
	CHECK_EQ(near_counter(name), wanted);
}

/* Work requests and bytes, also of queue pairs that are no more; errors are none. */
static void counters(void)
{
	long long wrs = near_counter("send_wrs");
	long long bytes = near_counter("send_bytes");
	struct work w;
	struct link l;
	int i;

	if (!env.codes) {
		skip("the device has other counters");
		return;
	}
	NEED(link_open(&l, &usual));
	for (i = 0; i < 5; i++) {
		NEED_EQ(recv_one(&l.far, i, 0, 100), 0);
		NEED_EQ(send_one(&l.near, i, 0, 100), 0);
		DONE(&l.near, SQ, i, SUCCESS);
		DONE(&l.far, RQ, i, SUCCESS);
	}
	/* Nobody hears of this one's completion, but it counts. */
	w = rdma(5, IBV_WR_RDMA_WRITE, &l.near.mem, 0, 2000, &l.far.mem, 0);
	w.flags = 0;
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	w = rdma(6, IBV_WR_RDMA_READ, &l.near.mem, 0, 30000, &l.far.mem, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 6, SUCCESS);
	counted("send_wrs", wrs + 7);
	counted("send_bytes", bytes + 500 + 2000 + 30000);
	wrs = near_counter("recv_wrs");
	bytes = near_counter("recv_bytes");
	NEED_EQ(recv_one(&l.near, 1, 0, 4000), 0);
	NEED_EQ(send_one(&l.far, 2, 0, 3999), 0);
	DONE(&l.near, RQ, 1, SUCCESS);
	DONE(&l.far, SQ, 2, SUCCESS);
	NEED_EQ(recv_one(&l.near, 3, 0, 4000), 0);
	link_close(&l);
	/* The last receive was flushed. */
	counted("recv_wrs", wrs + 1);
	counted("recv_bytes", bytes + 3999);
}

static const struct group groups[] = {
	{ "data.send", send_sizes, "SENDs of 0 bytes to 1 MiB", 180 },
	{ "data.write", write_sizes, "WRITEs of 0 bytes to 1 MiB", 180 },
	{ "data.read", read_sizes, "READs of 0 bytes to 1 MiB", 180 },
	{ "data.longest", longest, "8 MiB, and the longest message", 180 },
	{ "data.nothing", nothing, "0 bytes, with a key of 0", 0 },
	{ "data.segments", segments, "gathered and scattered SENDs", 0 },
	{ "data.rdma_segments", rdma_segments,
	  "a gathered WRITE, a scattered READ", 0 },
	{ "data.inline", inline_data, "inline data of all sizes", 0 },
	{ "data.inline_large", inline_large, "more inline than fits", 0 },
	{ "data.counters", counters, "the device counts work and bytes", 0 },
};

const struct file file_data = { groups, ARRAY_SIZE(groups) };
