// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a peer must not: wrong keys, bounds, rights, domains. */
#include "link.h"
#include <string.h>

#define WRITE	IBV_WR_RDMA_WRITE
#define READ	IBV_WR_RDMA_READ

/*
 * The far end refuses it: the connection ends, nothing is written there and
 * nothing read.  iWARP's initiator may be done with a WRITE before the refusal
 * arrives; --codes wants the code that RoCE has.
 */
static void refused(struct link *l, const struct work *w, struct mem *target)
{
	struct work behind = work(91, &l->near.mem, 0, 64);
	struct answer a;
	struct done d;

	mem_fill(target, 0, target->len, 11);
	mem_fill(&l->near.mem, 0, MEM_LEN, 12);
	NEED_EQ(recv_one(&l->far, 90, 0, 64), 0);
	NEED_EQ(post_send(&l->near, w, 1), 0);
	/*
	 * On the queue behind it: it must not overtake the refusal.  iWARP
	 * lets a SEND overtake the answer to a READ, unless it is fenced.
	 */
	if (w->opcode == READ)
		behind.flags |= IBV_SEND_FENCE;
	NEED_EQ(post_send(&l->near, &behind, 1), 0);
	NEED(next_done(&l->near, SQ, &d));
	CHECK_EQ(d.id, w->id);
	if (!env.limits.iwarp || env.codes)
		CHECK_EQ(d.status, IBV_WC_REM_ACCESS_ERR);
	else if (w->opcode == READ)
		CHECK(d.status != IBV_WC_SUCCESS);
	link_ended(l);
	point_do(&l->far, OP_DISCONNECT);
	all_done(&l->far, RQ, 1, &a, LONG_MS);
	CHECK_EQ(a.n, 1);
	CHECK_EQ(a.done[0].status, IBV_WC_WR_FLUSH_ERR);
	CHECK(mem_is(target, 0, target->len, 11));
	CHECK(mem_is(&l->near.mem, 0, MEM_LEN, 12));
}

struct spoil {
	uint32_t key;		/* xored into the key */
	uint64_t off;
	uint32_t len;
};

static void spoilt(enum ibv_wr_opcode opcode, const struct spoil *s,
		   size_t n)
{
	struct work w;
	struct link l;
	size_t i;

	for (i = 0; i < n; i++) {
		NEED(link_open(&l, &usual));
		w = rdma(1, opcode, &l.near.mem, 0, s[i].len, &l.far.mem,
			 s[i].off);
		w.rkey ^= s[i].key;
		refused(&l, &w, &l.far.mem);
		link_close(&l);
	}
}

static const struct spoil keys[] = {
	{ 0x01, 0, 64 }, { 0x80, 0, 64 }, { 0x100, 0, 64 },
	{ 0x12345600, 0, 64 }, { 0x80000000, 0, 64 }, { 0xffffffff, 0, 4096 },
};

static const struct spoil ranges[] = {
	{ 0, MEM_LEN - 63, 64 }, { 0, MEM_LEN, 1 }, { 0, -1ull, 1 },
	{ 0, -1ull, 2 }, { 0, -64ull, 4096 }, { 0, 1ull << 32, 64 },
	{ 0, 1ull << 63, 64 }, { 0, 4096, MEM_LEN - 4095 },
	/* Many frames, of which the last one is beyond. */
	{ 0, MEM_LEN - 65535, 65536 },
};

static void write_keys(void)
{
	spoilt(WRITE, keys, ARRAY_SIZE(keys));
}

static void read_keys(void)
{
	spoilt(READ, keys, ARRAY_SIZE(keys));
}

/* Keys that a peer guesses: those around a good one, and random ones. */
static void guesses(void)
{
	struct answer a;
	struct work w;
	struct link l;
	uint32_t i, guess = 1;

	for (i = 0; i < 60; i++) {
		NEED(link_open(&l, &usual));
		guess = guess * 1103515245 + 12345;
		w = rdma(1, READ, &l.near.mem, 0, 64, &l.far.mem, 0);
		if (i < 20)
			w.rkey += (i + 1) << 8;
		else if (i < 40)
			w.rkey -= (i - 19) << 8;
		else
			w.rkey = guess;
		mem_fill(&l.near.mem, 0, 64, 7);
		NEED_EQ(post_send(&l.near, &w, 1), 0);
		NEED_EQ(all_done(&l.near, SQ, 1, &a, LONG_MS), 1);
		CHECK(a.done[0].status != IBV_WC_SUCCESS);
		CHECK(mem_is(&l.near.mem, 0, 64, 7));
		link_close(&l);
	}
}

/* The beginning of a message is in bounds: it may have been written. */
static void write_ranges(void)
{
	spoilt(WRITE, ranges, ARRAY_SIZE(ranges) - 1);
}

static void read_ranges(void)
{
	spoilt(READ, ranges, ARRAY_SIZE(ranges));
}

/* The last page is not reached, whatever of those before it was written. */
static void write_beyond(void)
{
	struct mem two;
	struct answer a;
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&far, &two, 4096, ALL_RIGHTS, 0));
	mem_fill(&two, 0, 4096, 5);
	w = rdma(1, WRITE, &l.near.mem, 0, 8192, &two, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	CHECK_EQ(all_done(&l.near, SQ, 1, &a, LONG_MS), 1);
	link_ended(&l);
	mem_drop(&two);
	link_close(&l);
}

/* Memory without the right, of either kind. */
static void rights(enum ibv_wr_opcode opcode, uint32_t access)
{
	struct mem m;
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&far, &m, 4096, access, 0));
	w = rdma(1, opcode, &l.near.mem, 0, 64, &m, 0);
	refused(&l, &w, &m);
	mem_drop(&m);
	link_close(&l);
}

static void write_rights(void)
{
	rights(WRITE, 0);
	rights(WRITE, IBV_ACCESS_LOCAL_WRITE);
	rights(WRITE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

static void read_rights(void)
{
	rights(READ, 0);
	rights(READ, IBV_ACCESS_LOCAL_WRITE);
	rights(READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

/* With the right alone it goes. */
static void right_rights(void)
{
	struct mem wr, rd;
	struct link l;
	struct work w;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&far, &wr, 4096, IBV_ACCESS_LOCAL_WRITE |
		     IBV_ACCESS_REMOTE_WRITE, 0));
	NEED(mem_new(&far, &rd, 4096, IBV_ACCESS_REMOTE_READ, 0));
	mem_fill(&rd, 0, 4096, 9);
	w = rdma(1, READ, &l.near.mem, 0, 4096, &rd, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 1, SUCCESS);
	CHECK(mem_is(&l.near.mem, 0, 4096, 9));
	w = rdma(2, WRITE, &l.near.mem, 0, 4096, &wr, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 2, SUCCESS);
	NEED_EQ(recv_one(&l.far, 3, 0, 1), 0);
	NEED_EQ(send_one(&l.near, 4, 0, 1), 0);
	DONE(&l.far, RQ, 3, SUCCESS);
	CHECK(mem_is(&wr, 0, 4096, 9));
	mem_drop(&wr);
	mem_drop(&rd);
	link_close(&l);
}

/* A right to write from afar needs that to write at all. */
static void remote_without_local(void)
{
	struct order o = { .op = OP_MR, .len = 4096,
			   .flags = IBV_ACCESS_REMOTE_WRITE };
	struct answer a;

	CHECK(ask(&near, &o, &a) < 0);
}

static bool new_domain(struct side *s, uint32_t *pd)
{
	struct order o = { .op = OP_PD };
	struct answer a;

	if (!CHECK_EQ(ask(s, &o, &a), 0))
		return false;
	*pd = a.n;
	return true;
}

static int drop_domain(struct side *s, uint32_t pd)
{
	struct order o = { .op = OP_DROP_PD, .pd = pd };
	struct answer a;

	return ask(s, &o, &a);
}

/* Memory of another domain of the peer, with all rights. */
static void foreign_remote(enum ibv_wr_opcode opcode)
{
	struct mem m;
	struct work w;
	struct link l;
	uint32_t pd;

	NEED(link_open(&l, &usual));
	NEED(new_domain(&far, &pd));
	NEED(mem_new(&far, &m, 4096, ALL_RIGHTS, pd));
	w = rdma(1, opcode, &l.near.mem, 0, 64, &m, 0);
	refused(&l, &w, &m);
	mem_drop(&m);
	CHECK_EQ(drop_domain(&far, pd), 0);
	link_close(&l);
}

static void foreign_write(void)
{
	foreign_remote(WRITE);
}

static void foreign_read(void)
{
	foreign_remote(READ);
}

/* In a segment of one's own. */
static void foreign_send(void)
{
	struct answer a;
	struct mem m;
	struct work w;
	struct link l;
	uint32_t pd;

	NEED(link_open(&l, &usual));
	NEED(new_domain(&near, &pd));
	NEED(mem_new(&near, &m, 4096, ALL_RIGHTS, pd));
	NEED_EQ(recv_one(&l.far, 5, 0, 64), 0);
	w = work(1, &m, 0, 64);
	if (!post_send(&l.near, &w, 1)) {
		NEED_EQ(all_done(&l.near, SQ, 1, &a, LONG_MS), 1);
		CHECK(a.done[0].status != IBV_WC_SUCCESS);
		if (!env.limits.iwarp || env.codes)
			CHECK_EQ(a.done[0].status, IBV_WC_LOC_PROT_ERR);
	}
	point_do(&l.far, OP_DISCONNECT);
	DONE(&l.far, RQ, 5, WR_FLUSH_ERR);
	mem_drop(&m);
	link_close(&l);
}

static void foreign_receive(void)
{
	struct mem m;
	struct work w;
	struct done d;
	struct link l;
	uint32_t pd;

	NEED(link_open(&l, &usual));
	NEED(new_domain(&far, &pd));
	NEED(mem_new(&far, &m, 4096, ALL_RIGHTS, pd));
	mem_fill(&m, 0, 64, 4);
	w = work(5, &m, 0, 64);
	if (!post_recv(&l.far, &w, 1)) {
		NEED_EQ(send_one(&l.near, 1, 0, 64), 0);
		NEED(next_done(&l.far, RQ, &d));
		CHECK(d.status != IBV_WC_SUCCESS);
		link_ended(&l);
	}
	CHECK(mem_is(&m, 0, 64, 4));
	mem_drop(&m);
	link_close(&l);
}

/* A domain stays as long as something is of it. */
static void domain_in_use(void)
{
	struct mem m;
	uint32_t pd;

	NEED(new_domain(&near, &pd));
	NEED(mem_new(&near, &m, 4096, ALL_RIGHTS, pd));
	CHECK(drop_domain(&near, pd) < 0);
	mem_drop(&m);
	CHECK_EQ(drop_domain(&near, pd), 0);
}

/* From the moment that it is deregistered, by the same key. */
static void deregistered(enum ibv_wr_opcode opcode)
{
	struct mem m;
	struct work w;
	struct link l;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&far, &m, 4096, ALL_RIGHTS, 0));
	w = rdma(1, opcode, &l.near.mem, 0, 64, &m, 0);
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 1, SUCCESS);
	mem_drop(&m);
	refused(&l, &w, &m);
	link_close(&l);
}

static void dropped_write(void)
{
	deregistered(WRITE);
}

static void dropped_read(void)
{
	deregistered(READ);
}

/* WRITEs are on their way: none of them lands behind the deregistration. */
static void dropped_under_way(void)
{
	struct answer a;
	struct link l;
	struct mem m;
	struct work w;
	unsigned int round;

	for (round = 0; round < 10; round++) {
		NEED(link_open(&l, &usual));
		NEED(mem_new(&far, &m, 65536, ALL_RIGHTS, 0));
		mem_fill(&l.near.mem, 0, 65536, 1);
		w = rdma(1, WRITE, &l.near.mem, 0, 65536, &m, 0);
		NEED_EQ(post_send(&l.near, &w, 32), 0);
		mem_drop(&m);
		mem_fill(&m, 0, 65536, 2);
		CHECK_EQ(all_done(&l.near, SQ, 32, &a, LONG_MS), 32);
		if (env.limits.iwarp && a.done[31].status != IBV_WC_SUCCESS)
			point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
		CHECK(mem_is(&m, 0, 65536, 2));
		link_close(&l);
	}
}

/* A SEND out of memory that is no more registered. */
static void dropped_send(void)
{
	struct answer a;
	struct link l;
	struct mem m;
	struct work w;

	NEED(link_open(&l, &usual));
	NEED(mem_new(&near, &m, 4096, ALL_RIGHTS, 0));
	mem_drop(&m);
	NEED_EQ(recv_one(&l.far, 5, 0, 64), 0);
	w = work(1, &m, 0, 64);
	w.sge[0].skew = m.key;
	if (!post_send(&l.near, &w, 1)) {
		NEED_EQ(all_done(&l.near, SQ, 1, &a, LONG_MS), 1);
		CHECK(a.done[0].status != IBV_WC_SUCCESS);
	}
	point_do(&l.far, OP_DISCONNECT);
	DONE(&l.far, RQ, 5, WR_FLUSH_ERR);
	link_close(&l);
}

/* A key is not given again at once: an old one names nothing. */
static void keys_differ(void)
{
	uint32_t seen[50], i, j, same = 0;
	struct mem m;

	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		NEED(mem_new(&near, &m, 4096, ALL_RIGHTS, 0));
		seen[i] = m.rkey;
		mem_drop(&m);
		for (j = 0; j < i; j++)
			same += seen[j] == seen[i];
	}
	CHECK_EQ(same, 0);
}

static const struct group groups[] = {
	{ "access.write_key", write_keys, "WRITEs with wrong keys", 120 },
	{ "access.read_key", read_keys, "READs with wrong keys", 120 },
	{ "access.guesses", guesses, "READs with 60 guessed keys", 180 },
	{ "access.write_range", write_ranges, "WRITEs beyond the memory",
	  120 },
	{ "access.read_range", read_ranges, "READs beyond the memory", 120 },
	{ "access.write_beyond", write_beyond, "a WRITE over the end", 0 },
	{ "access.write_rights", write_rights, "WRITEs without the right", 0 },
	{ "access.read_rights", read_rights, "READs without the right", 0 },
	{ "access.rights", right_rights, "the one right that is needed", 0 },
	{ "access.remote_only", remote_without_local,
	  "REMOTE_WRITE without LOCAL_WRITE", 0 },
	{ "domain.write", foreign_write, "a WRITE to another domain", 0 },
	{ "domain.read", foreign_read, "a READ of another domain", 0 },
	{ "domain.send", foreign_send, "a SEND out of another domain", 0 },
	{ "domain.receive", foreign_receive, "a receive into another domain",
	  0 },
	{ "domain.in_use", domain_in_use, "a domain with memory stays", 0 },
	{ "dereg.write", dropped_write, "a WRITE after deregistration", 0 },
	{ "dereg.read", dropped_read, "a READ after deregistration", 0 },
	{ "dereg.send", dropped_send, "a SEND after deregistration", 0 },
	{ "dereg.under_way", dropped_under_way,
	  "deregistration under WRITEs", 120 },
	{ "dereg.keys", keys_differ, "50 registrations have 50 keys", 0 },
};

const struct file file_access = { groups, ARRAY_SIZE(groups) };
