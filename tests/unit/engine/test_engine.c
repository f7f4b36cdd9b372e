// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The engine between a fake library and a fake transport: regions, queues, and
 * a peer that keeps no rule.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"
#include "unit.h"

#define MEM	(1u << 20)
#define NONCE	0x1122334455667788ull

static struct vipl_nic *nic;
static struct vipl_vi *vi;
static VIP_MEM_HANDLE mem;
static char *base;

static VIP_VI_ATTRIBUTES attrs(int level)
{
	return (VIP_VI_ATTRIBUTES){ (VIP_RELIABILITY_LEVEL)level, 65536, NULL,
				    NULL, VIP_TRUE, level > 1 };
}

static void make(int level)
{
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_TRUE, VIP_TRUE };
	VIP_VI_ATTRIBUTES a = attrs(level);

	nic = fake_open();
	base = mmap(NULL, MEM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_EQUAL_FATAL(fake.mem_register(nic, base, MEM, 0, &m, &mem),
			      VIP_SUCCESS);
	vi = (struct vipl_vi *)fake_new(nic, fake.vi_size);
	CU_ASSERT_EQUAL_FATAL(fake.vi_create(vi, &a, 0, NULL, NULL),
			      VIP_SUCCESS);
	fake.vi_live(vi, vi);
}

static void unmake(void)
{
	fake.vi_live(vi, NULL);
	fake.vi_release(vi);
	fake_close(nic);
	fake_free((struct object *)vi);
	munmap(base, MEM);
	fake_full = fake_slow = 0;
	CU_ASSERT_EQUAL(fake_exported, 0);
}

/* The peer asks, the program accepts, the peer confirms. */
static int connect_vi(int level)
{
	struct vipl_addr local = { .disc_len = 1, .disc = "d" };
	struct wire_conn c = {
		.version = WIRE_VERSION, .vi = 0x10000, .nonce = NONCE,
		.timeout = UINT64_MAX, .transfer = 65536,
		.reliability = (uint16_t)level, .local_len = 1,
		.remote_len = 1, .local = "p", .remote = "d",
	};
	struct eng_wire h = { .op = WIRE_CONNECT };
	struct vipl_request req;
	struct eng_vi *v = eng_vi_of(vi);
	int gone;

	if (fake.conn_listen(nic, &local, 1) != VIP_SUCCESS)
		return -1;
	fake_arrive(nic, &h, &c, sizeof(c));
	if (fake.conn_wait(nic, &local, 0, &req) != VIP_SUCCESS ||
	    fake.conn_accept_start(nic, req.id, vi, NULL, &gone) !=
	    VIP_SUCCESS)
		return -1;
	h = (struct eng_wire){ .op = WIRE_CONFIRM, .dst = v->id,
			       .nonce = v->nonce };
	fake_arrive(nic, &h, NULL, 0);
	return fake.conn_result(vi, NULL, NULL) == VIP_SUCCESS ? 0 : -1;
}

static VIP_DESCRIPTOR *desc(unsigned int i, uint32_t off, uint32_t len)
{
	VIP_DESCRIPTOR *d = (void *)(base + 64 * i);

	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = len;
	d->DS[0].Local.Data.Address = base + off;
	d->DS[0].Local.Handle = mem;
	d->DS[0].Local.Length = len;
	return d;
}

static void regions(void)
{
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_FALSE, VIP_FALSE }, got;
	VIP_MEM_HANDLE h[1000], again;
	uint32_t tag, seen;
	unsigned int i;
	char *ro;

	make(2);
	for (i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(fake.mem_register(nic, base + i, 100, 0, &m,
						  &h[i]), VIP_SUCCESS);
		CU_ASSERT(h[i] && (!i || h[i] != h[i - 1]));
	}
	/* A handle and a start, both. */
	CU_ASSERT_EQUAL(fake.mem_query(nic, base + 1, h[0], &seen, &got),
			VIP_INVALID_PARAMETER);
	for (i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(fake.mem_deregister(nic, base + i, h[i]),
				VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.mem_deregister(nic, base, h[0]),
			VIP_INVALID_PARAMETER);
	/* No handle comes twice soon. */
	for (i = 0; i < 5000; i++) {
		fake.mem_register(nic, base, 100, 0, &m, &again);
		CU_ASSERT_NOT_EQUAL(again, h[i % 1000]);
		fake.mem_deregister(nic, base, again);
	}
	CU_ASSERT_EQUAL(fake.ptag_create(nic, &tag), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.mem_register(nic, base, 10, tag, &m, &again),
			VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.ptag_destroy(nic, tag), VIP_ERROR_RESOURCE);
	CU_ASSERT_EQUAL(fake.mem_query(nic, base, again, &seen, &got),
			VIP_SUCCESS);
	CU_ASSERT_EQUAL(seen, tag);
	CU_ASSERT_EQUAL(fake.mem_set(nic, base, again, 0, &m), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.ptag_destroy(nic, tag), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.mem_set(nic, base, again, tag, &m),
			VIP_INVALID_PTAG);
	ro = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_EQUAL(fake.mem_register(nic, ro, 10, 0, &m, &again),
			VIP_INVALID_PARAMETER);
	munmap(ro, 4096);
	CU_ASSERT_EQUAL(fake.mem_register(nic, ro, 10, 0, &m, &again),
			VIP_INVALID_PARAMETER);
	munmap(ro + 4096, 4096);
	unmake();
}

/* RDMA into memory that is gone harms the connection, not the process. */
static void vanished(void)
{
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_TRUE, VIP_TRUE };
	struct eng_wire h = { .op = WIRE_WRITE, .len = 4 };
	VIP_VI_ATTRIBUTES a;
	VIP_MEM_HANDLE gone;
	VIP_VI_STATE state;
	char *p;

	make(4);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fake.mem_register(nic, p, 4096, 0, &m, &gone);
	CU_ASSERT_FATAL(!connect_vi(4));
	/* Last, or what is mapped next may lie there. */
	munmap(p, 4096);
	h.dst = eng_vi_of(vi)->id;
	h.nonce = eng_vi_of(vi)->nonce;
	h.raddr = (uintptr_t)p;
	h.rhandle = gone;
	fake_arrive(nic, &h, "abcd", 4);
	fake.vi_query(vi, &state, &a);
	CU_ASSERT_EQUAL(state, VIP_STATE_ERROR);
	CU_ASSERT(fake_last(WIRE_DISCONNECT) &&
		  fake_last(WIRE_DISCONNECT)->h.status ==
		  VIP_STATUS_RDMA_PROT_ERROR);
	unmake();
}

/* A 32-bit peer names the range by the lower half of its address. */
static void half_address(void)
{
	struct eng_wire h = { .op = WIRE_WRITE, .flags = WIRE_HALF, .len = 4 };
	struct eng_vi *v;

	make(4);
	CU_ASSERT_FATAL(!connect_vi(4));
	v = eng_vi_of(vi);
	h.dst = v->id;
	h.nonce = v->nonce;
	h.raddr = (uint32_t)(uintptr_t)(base + 4096);
	h.rhandle = mem;
	fake_arrive(nic, &h, "abcd", 4);
	CU_ASSERT(!memcmp(base + 4096, "abcd", 4));
	/* Before the region and behind it, it is no address at all. */
	h.raddr = (uint32_t)(uintptr_t)(base + MEM);
	h.seq++;
	fake_arrive(nic, &h, "abcd", 4);
	CU_ASSERT_EQUAL(v->state, VIP_STATE_ERROR);
	CU_ASSERT(fake_last(WIRE_DISCONNECT) &&
		  fake_last(WIRE_DISCONNECT)->h.status ==
		  VIP_STATUS_RDMA_PROT_ERROR);
	unmake();
}

/* One region beyond 4 GiB: the same 64 MiB many times. */
static void huge(void)
{
	VIP_MEM_ATTRIBUTES m = { 0 };
	size_t piece = 64u << 20, size = 66 * piece, at;
	int fd = memfd_create("huge", MFD_CLOEXEC);
	VIP_MEM_HANDLE handle;
	char *p;

	if (sizeof(size) < 8)
		return;
	make(VIP_SERVICE_RELIABLE_DELIVERY);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, (off_t)piece), 0);
	p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_NORESERVE, -1, 0);
	CU_ASSERT_FATAL(p != MAP_FAILED);
	for (at = 0; at < size; at += piece)
		CU_ASSERT_FATAL(mmap(p + at, piece, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_FIXED, fd, 0) !=
				MAP_FAILED);
	CU_ASSERT_EQUAL(fake.mem_register(nic, p, size, 0, &m, &handle),
			VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.mem_deregister(nic, p, handle), VIP_SUCCESS);
	munmap(p, size);
	close(fd);
	unmake();
}

static void full_queues(void)
{
	unsigned int i, lost = fake_events[VIP_ERROR_VI_OVERRUN];
	VIP_DESCRIPTOR *d;

	make(2);
	for (i = 0; i < 1024; i++)
		CU_ASSERT_EQUAL(fake.post_recv(vi, vi, desc(i, 0x80000, 64),
					       mem), VIP_SUCCESS);
	fake.post_recv(vi, vi, desc(i, 0x80000, 64), mem);
	CU_ASSERT_EQUAL(fake_events[VIP_ERROR_VI_OVERRUN], lost + 1);
	CU_ASSERT_FATAL(!connect_vi(2));
	/* The transport takes nothing, then everything. */
	fake_full = 1;
	for (i = 0; i < 1000; i++)
		fake.post_send(vi, vi, desc(1024 + i, 0x90000, 8), mem);
	CU_ASSERT_EQUAL(fake.send_done(vi, vi, &d), VIP_NOT_DONE);
	fake_full = 0;
	fake_nsent = 0;
	eng_enter(eng_nic_of(nic));
	eng_room(fake_peer);
	eng_leave(eng_nic_of(nic));
	/* As many as may be under way without an acknowledgement. */
	CU_ASSERT_EQUAL(fake_nsent, ENG_INFLIGHT);
	for (i = 0; i < fake_nsent; i++)
		CU_ASSERT_EQUAL(fake_sent[i].h.seq, i);
	CU_ASSERT_EQUAL(fake.disconnect(vi), VIP_SUCCESS);
	for (i = 0; fake.send_done(vi, vi, &d) == VIP_DESCRIPTOR_ERROR && d;)
		i++;
	CU_ASSERT_EQUAL(i, 1000);
	for (i = 0; fake.recv_done(vi, vi, &d) == VIP_DESCRIPTOR_ERROR && d;)
		i++;
	CU_ASSERT_EQUAL(i, 1024);
	unmake();
}

/* Sends wait for room that never comes: the end of the connection does not. */
static void full_and_lost(void)
{
	unsigned int i, lost = fake_events[VIP_ERROR_CONN_LOST];
	VIP_VI_ATTRIBUTES a;
	VIP_DESCRIPTOR *d;
	VIP_VI_STATE state;

	make(2);
	fake.post_recv(vi, vi, desc(0, 0x80000, 64), mem);
	CU_ASSERT_FATAL(!connect_vi(2));
	fake_full = 1;
	for (i = 1; i < 4; i++)
		fake.post_send(vi, vi, desc(i, 0x90000, 8), mem);
	eng_enter(eng_nic_of(nic));
	eng_peer_down(fake_peer, -ECONNRESET);
	eng_leave(eng_nic_of(nic));
	fake.vi_query(vi, &state, &a);
	CU_ASSERT_EQUAL(state, VIP_STATE_ERROR);
	CU_ASSERT_EQUAL(fake_events[VIP_ERROR_CONN_LOST], lost + 1);
	CU_ASSERT_EQUAL(fake.recv_done(vi, vi, &d), VIP_DESCRIPTOR_ERROR);
	for (i = 1; i < 4; i++)
		CU_ASSERT_EQUAL(fake.send_done(vi, vi, &d),
				VIP_DESCRIPTOR_ERROR);
	alarm(10);
	CU_ASSERT_EQUAL(fake.disconnect(vi), VIP_SUCCESS);
	alarm(0);
	/* Nothing is left of the peer. */
	CU_ASSERT_PTR_NULL(fake_peer);
	unmake();
}

/* The same, and it is this end that leaves: it does not wait for room. */
static void full_and_left(void)
{
	VIP_DESCRIPTOR *d;

	make(2);
	CU_ASSERT_FATAL(!connect_vi(2));
	fake_full = 1;
	fake.post_send(vi, vi, desc(1, 0x90000, 8), mem);
	alarm(10);
	CU_ASSERT_EQUAL(fake.disconnect(vi), VIP_SUCCESS);
	alarm(0);
	CU_ASSERT_EQUAL(fake.send_done(vi, vi, &d), VIP_DESCRIPTOR_ERROR);
	unmake();
}

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* A packet that is right but for some fields. */
static void mangled(struct eng_wire *h, unsigned char *data, size_t *len)
{
	static const uint8_t ops[] = {
		WIRE_SEND, WIRE_WRITE, WIRE_READ, WIRE_ANSWER, WIRE_TAKEN,
		WIRE_ACK, WIRE_DISCONNECT, WIRE_DISCONNECT_ACK,
		WIRE_CONNECT, WIRE_LOOK, WIRE_ACCEPT, WIRE_REJECT, WIRE_CONFIRM,
		WIRE_GONE, WIRE_CANCEL, WIRE_NONE, 0, 99,
	};
	struct eng_vi *v = eng_vi_of(vi);
	struct eng_src *src = (void *)data;
	uint32_t i;

	*h = (struct eng_wire){
		.op = pick(4) ? ops[pick(3)] : ops[pick(sizeof(ops))],
		.flags = pick(3) ? 0 : (uint8_t)pick(256),
		.dst = v->id, .nonce = v->nonce,
		.seq = v->rx_next + (pick(20) ? 0 : pick(5)),
		.ack = v->acked - v->tx_base + (pick(9) ? pick(2) : seed),
		.len = pick(4) ? pick(3000) : seed,
		.raddr = (uintptr_t)base + pick(MEM), .rhandle = mem,
		.status = seed, .imm = seed,
	};
	*len = pick(30) ? h->len : pick(6000);
	if (h->flags & WIRE_SRCS && h->op != WIRE_READ) {
		h->nsrc = (uint16_t)(1 + pick(3));
		h->len = 10000;
		for (i = 0; i < h->nsrc; i++)
			src[i] = (struct eng_src){ 0, 0, 10000 / h->nsrc };
		src[0].len += 10000 % h->nsrc;
		*len = h->nsrc * sizeof(*src);
		if (!pick(5))
			src[pick(h->nsrc)].len = seed;
		if (!pick(9))
			h->nsrc = (uint16_t)seed;
	}
	if (*len > 6000)
		*len = 6000;
	if (!pick(40))
		h->dst = seed;
	if (!pick(40))
		h->nonce++;
}

static void post_some(void)
{
	VIP_DESCRIPTOR *d;
	uint32_t i;

	for (i = 0; i < 4; i++)
		fake.post_recv(vi, vi, desc(pick(512), 0x80000, pick(12000)),
			       mem);
	for (i = 0; i < 2; i++) {
		d = desc(512 + pick(512), 0x90000, pick(12000));
		if (pick(2)) {
			d->CS.Control = (uint16_t)pick(16);
			d->CS.SegCount = 2;
			d->DS[1] = d->DS[0];
			d->DS[0].Remote.Reserved = 0;
		}
		fake.post_send(vi, vi, d, mem);
	}
}

/* Whatever a peer sends, at most its own connections end. */
static void hostile(void)
{
	unsigned int level, i, n = 0, met = 0;
	static unsigned char data[8192];
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;
	VIP_DESCRIPTOR *d;
	struct eng_wire h;
	size_t len;

	for (level = 1; level <= 4; level *= 2) {
		make((int)level);
		for (i = 0; i < 20000; i++) {
			fake.vi_query(vi, &state, &a);
			if (state != VIP_STATE_CONNECTED) {
				/* DISCONNECT_ACK does not come. */
				eng_vi_of(vi)->disconnect_deadline = 0;
				h = (struct eng_wire){
					.op = WIRE_DISCONNECT_ACK,
					.dst = eng_vi_of(vi)->id,
					.nonce = eng_vi_of(vi)->nonce,
				};
				fake_pull_end(nic, 0);
				fake_arrive(nic, &h, NULL, 0);
				fake.disconnect(vi);
				CU_ASSERT_FATAL(!connect_vi((int)level));
				met++;
			}
			if (!pick(3))
				post_some();
			mangled(&h, data, &len);
			fake_slow = !pick(3);
			fake_arrive(nic, &h, data, len);
			if (!pick(4))
				fake_pull_end(nic, pick(5) ? 0 : -5);
			while (fake.send_done(vi, vi, &d), d)
				n++;
			while (fake.recv_done(vi, vi, &d), d)
				n++;
		}
		fake_pull_end(nic, 0);
		unmake();
	}
	/* Otherwise this tests little. */
	CU_ASSERT(n > 10000 && met > 100);
}

/* The transport has no file for one more discriminator. */
static void cannot_wait(void)
{
	struct vipl_addr local = { .disc_len = 1, .disc = "w" }, remote = local;
	struct vipl_request req;

	make(1);
	remote.host_len = (uint16_t)eng_nic_of(nic)->ident.addr_len;
	fake_no_files = 1;
	CU_ASSERT_EQUAL(fake.conn_wait(nic, &local, VIP_INFINITE, &req),
			VIP_ERROR_RESOURCE);
	CU_ASSERT_EQUAL(fake.conn_listen(nic, &local, 1), VIP_ERROR_RESOURCE);
	CU_ASSERT_EQUAL(fake.peer_request(vi, &local, &remote, VIP_INFINITE),
			VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.peer_result(vi, 1, NULL), VIP_ERROR_RESOURCE);
	fake_no_files = 0;
	CU_ASSERT_EQUAL(fake.conn_wait(nic, &local, 10, &req), VIP_TIMEOUT);
	CU_ASSERT(!connect_vi(1));
	unmake();
}

UNIT_MAIN("engine",
	{ "no file to wait with", cannot_wait },
	{ "regions and tags", regions },
	{ "memory that is gone", vanished },
	{ "half an address", half_address },
	{ "a region beyond 4 GiB", huge },
	{ "full queues", full_queues },
	{ "a lost peer that takes nothing", full_and_lost },
	{ "disconnecting a peer that takes nothing", full_and_left },
	{ "a hostile peer", hostile });
