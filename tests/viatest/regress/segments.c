// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Descriptors of very many segments, in flight to a peer that does not answer
 * any more: the kernel's copy of their segments is memory of the process that
 * posted them, and counts as its group's.
 */
#include "regress.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define VIS		20u
#define FLIGHT		64u		/* at most, of a VI */
/* At least, of all: the window that these share opens as far as it is used. */
#define ENOUGH		32u
#define WARM		512u		/* messages of a VI that open the window */
#define BYTES		VIA_SEG_MAX	/* of a message: one of each segment */
#define PAGE		4096u
#define ENTRIES		1024u

/* As a program lays it out, with the slot's part in front. */
struct descriptor {
	struct via_slot slot;
	struct via_seg more[VIA_SEG_MAX - 2];
} __attribute__((aligned(VIA_DESC_ALIGN)));

struct sender {
	uint32_t vi;
	struct via_vi_shared *s;
	struct via_slot *slots;
	const struct via_completion *comp;
	uint32_t tail;
};

static struct handle here, there;
static struct sender sender[VIS];
static struct descriptor *desc;
static uint32_t desc_handle;

static void *accepting(void *arg)
{
	struct via_conn_accept a = { 0 };
	struct via_vi_shared *s;
	struct via_vi_create c;
	struct via_conn_wait w;
	uint32_t i, k;

	for (i = 0; i < VIS; i++) {
		c = vi_new(&there, MOST_BYTES, 0);
		s = vi_map(&there, &c);
		/* A send of nothing takes a receive of nothing. */
		for (k = 0; k < ENTRIES; k++)
			((struct via_slot *)((char *)s +
					     VIA_VI_RECV_SLOTS(ENTRIES)))[k] =
				desc[1].slot;
		store_release(&s->recv_user.tail, ENTRIES);
		if (await(&there, "server", 20000000000ull, &w))
			die("there is no request");
		a.conn = w.conn;
		a.vi = c.vi;
		if (ioctl(there.fd, VIA_IOC_CONN_ACCEPT, &a) ||
		    verdict(&there, c.vi, 0))
			die("a request cannot be accepted");
	}
	return arg;
}

static void connected(struct sender *s)
{
	struct via_vi_create c = vi_new(&here, MOST_BYTES, 0);
	struct via_conn_request r = to_ask(c.vi, 20000000000ull, "client",
					   &there, "server");
	uint32_t tries = 1000;
	int rc;

	s->vi = c.vi;
	s->s = vi_map(&here, &c);
	s->slots = (void *)((char *)s->s + VIA_VI_SEND_SLOTS);
	s->comp = (void *)((char *)s->s + VIA_VI_SEND_COMP(ENTRIES));
	do {
		if (ask(&here, VIA_IOC_CONN_REQUEST, &r))
			die("a request is refused");
		rc = verdict(&here, c.vi, 0);
	} while (rc == VIA_R_NO_MATCH && --tries && !usleep(2000));
	if (rc)
		die("no connection: %d", rc);
}

/* Both kinds of descriptors, in memory of both handles. */
static void described(void)
{
	uint8_t *p = memory(16 * PAGE), *data = p + 12 * PAGE;
	struct via_seg *seg;
	uint32_t peers, i;

	if (mem_register(&here, p, 16 * PAGE, &desc_handle) ||
	    mem_register(&there, p, 16 * PAGE, &peers))
		die("no memory is registered");
	desc = (struct descriptor *)p;
	desc[0].slot = (struct via_slot){
		.desc = (uintptr_t)&desc[0],
		.desc_handle = desc_handle,
		.seg_count = VIA_SEG_MAX,
		.length = BYTES,
	};
	for (i = 0; i < VIA_SEG_MAX; i++) {
		seg = i < 2 ? &desc[0].slot.seg[i] : &desc[0].more[i - 2];
		*seg = (struct via_seg){
			.addr = (uintptr_t)data + i,
			.handle = desc_handle,
			.len = 1,
		};
	}
	/* What receives it: one segment. */
	desc[1].slot = (struct via_slot){
		.desc = (uintptr_t)&desc[1],
		.desc_handle = peers,
		.seg_count = 1,
		.length = BYTES,
		.seg[0] = {
			.addr = (uintptr_t)data + PAGE,
			.handle = peers,
			.len = BYTES,
		},
	};
}

static void post(struct sender *s, uint32_t n)
{
	uint32_t tail = s->tail;

	while (n--)
		s->slots[tail++ & (ENTRIES - 1)] = desc[0].slot;
	s->tail = tail;
	__atomic_store_n(&s->s->send_user.tail, tail, __ATOMIC_SEQ_CST);
	while (lseek(here.fd, via_trap_arg(VIA_OP_SEND, s->vi),
		     VIA_TRAP_WHENCE) == VIA_TRAP_MORE)
		;
}

/* Waits for what was posted. */
static void arrived(struct sender *s, uint64_t until)
{
	while (load_acquire(&s->s->send_kern.done) != s->tail)
		if (now_ns() > until)
			die("messages do not arrive: VI state %u",
			    s->s->state);
	if (s->comp[(s->tail - 1) & (ENTRIES - 1)].status &
	    VIA_ST_ERROR_MASK)
		die("a message is refused: status 0x%x",
		    s->comp[(s->tail - 1) & (ENTRIES - 1)].status);
	s->s->send_user.collected = s->tail;
}

/*
 * Messages of all VIs at once that arrive: the window that these share opens,
 * and the next ones may all leave at once.
 */
static void warm(void)
{
	uint64_t until = now_ns() + 120000000000ull;
	uint32_t n, i;

	for (n = 0; n < WARM; n += FLIGHT / 2) {
		for (i = 0; i < VIS; i++)
			post(&sender[i], FLIGHT / 2);
		for (i = 0; i < VIS; i++)
			arrived(&sender[i], until);
	}
}

/* Sends that the kernel has loaded. */
static uint64_t in_flight(uint32_t vi)
{
	struct via_stat stat[64];
	struct via_stats s = {
		.kind = VIA_STATS_VI,
		.id = vi & 0xffff,
		.count = 64,
		.stats = (uintptr_t)stat,
	};
	uint32_t i;

	if (ioctl(here.fd, VIA_IOC_STATS, &s))
		die("no counters");
	for (i = 0; i < s.count; i++)
		if (!strcmp(stat[i].name, "send_in_flight"))
			return stat[i].value;
	die("no send_in_flight");
}

/* Kernel memory that the group is charged with, in bytes. */
static uint64_t charged(void)
{
	unsigned long long value;
	char path[200], name[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/memory.stat", args.group);
	f = fopen(path, "re");
	while (f && fscanf(f, "%63s %llu", name, &value) == 2)
		if (!strcmp(name, "slab_unreclaimable")) {
			fclose(f);
			return value;
		}
	die("%s tells no slab_unreclaimable", path);
}

/* All of it, once; false where too little is in flight to tell. */
static bool measured(uint64_t *grown, uint64_t *least)
{
	uint64_t before, after, flight = 0;
	pthread_t t;
	uint32_t i;

	memset(sender, 0, sizeof(sender));
	handle_open(&here, args.device);
	handle_open(&there, args.peer);
	described();
	t = thread_start(accepting, NULL);
	for (i = 0; i < VIS; i++)
		connected(&sender[i]);
	pthread_join(t, NULL);
	warm();
	if (!cut(true))
		die("the wire cannot be cut");
	before = charged();
	for (i = 0; i < VIS; i++)
		post(&sender[i], FLIGHT);
	for (i = 0; i < VIS; i++)
		flight += in_flight(sender[i].vi);
	after = charged();
	*grown = after > before ? after - before : 0;
	*least = flight * (VIA_SEG_MAX * sizeof(struct via_seg));
	printf("in_flight %llu grown_kb %llu least_kb %llu\n",
	       (unsigned long long)flight, (unsigned long long)*grown / 1024,
	       (unsigned long long)*least / 1024);
	handle_close(&here);
	handle_close(&there);
	return flight >= ENOUGH;
}

int run_segments(void)
{
	uint64_t grown, least;
	uint32_t tries = 10;

	/* A window that a host without a processor has halved opens again. */
	while (!measured(&grown, &least)) {
		cut(false);
		if (!--tries)
			die("too little is in flight");
		/* What was freed is given back to the group a little later. */
		sleep_ms(1000);
	}
	/* The kernel adds up in batches. */
	if (grown >= least * 9 / 10)
		return 0;
	warn_msg("of %llu KB of segments the group is charged with %llu",
		 (unsigned long long)least / 1024,
		 (unsigned long long)grown / 1024);
	return 1;
}
