// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * verbsmeasure - what a message over an RDMA device costs
 *
 * Both ends are in this process, at the addresses of two devices, so that in a
 * guest that counts instructions a nanosecond is an instruction of either end.
 * The addresses' routes are the caller's: between two NICs of one machine they
 * have to lead over the wire.
 */
#include "pair.h"
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define DEPTH	64	/* of each queue; places of a message at each end */
#define WINDOW	16
#define READS	4	/* at once: as many as the connection has */

enum { NEAR, FAR };

static struct pair pair;
static uint32_t size = 4;
static unsigned int count = 1000, warm;
static bool sleeping;

static void die(const char *what)
{
	fprintf(stderr, "verbsmeasure: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Receives are in the first half of an end's memory, sends in the other. */
static struct ibv_sge place(int end, unsigned int slot)
{
	struct memory *m = pair_mem(&pair, end);

	return (struct ibv_sge){
		(uintptr_t)m->bytes + (size_t)slot * size, size, m->mr->lkey,
	};
}

static void receive(int end, unsigned int n)
{
	struct ibv_sge s = place(end, n % DEPTH);
	struct ibv_recv_wr *bad, w = { .wr_id = n, .sg_list = &s,
				       .num_sge = 1 };

	errno = ibv_post_recv(pair_conn(&pair, end)->id->qp, &w, &bad);
	if (errno)
		die("ibv_post_recv");
}

static void start(int end, unsigned int n, enum ibv_wr_opcode op)
{
	struct ibv_sge s = place(end, DEPTH + n % DEPTH);
	struct ibv_send_wr *bad, w = {
		.wr_id = n, .sg_list = &s, .num_sge = 1, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct memory *peer = pair_mem(&pair, !end);
	int rc;

	w.wr.rdma.remote_addr = (uintptr_t)peer->bytes +
				(size_t)(n % DEPTH) * size;
	w.wr.rdma.rkey = peer->mr->rkey;
	rc = ibv_post_send(pair_conn(&pair, end)->id->qp, &w, &bad);
	if (rc) {
		errno = rc < 0 ? -rc : rc;
		die("ibv_post_send");
	}
}

static int look(int end, int queue)
{
	struct ibv_wc wc[WINDOW];
	int i, n = ibv_poll_cq(pair_conn(&pair, end)->cq[queue], WINDOW, wc);

	for (i = 0; i < n; i++) {
		if (wc[i].status == IBV_WC_SUCCESS)
			continue;
		fprintf(stderr, "verbsmeasure: completion: %s\n",
			ibv_wc_status_str(wc[i].status));
		exit(1);
	}
	return n;
}

/* At least one completion, asleep until it comes. */
static int asleep(int end, int queue)
{
	struct conn *c = pair_conn(&pair, end);
	struct ibv_cq *cq;
	void *context;
	int n;

	for (;;) {
		n = look(end, queue);
		if (n)
			return n;
		if (ibv_req_notify_cq(c->cq[queue], 0))
			die("ibv_req_notify_cq");
		n = look(end, queue);
		if (n)
			return n;
		if (ibv_get_cq_event(c->channel[queue], &cq, &context))
			die("ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
}

static int some(int end, int queue)
{
	return sleeping ? asleep(end, queue) : look(end, queue);
}

static void fill_receives(void)
{
	unsigned int i;

	for (i = 0; i < DEPTH - 1; i++) {
		receive(NEAR, i);
		receive(FAR, i);
	}
}

/* One thread spins at both ends. */
static uint64_t ping_spinning(void)
{
	uint64_t t = 0;
	unsigned int i;

	for (i = 0; i < count + warm; i++) {
		if (i == warm)
			t = now();
		start(NEAR, i, IBV_WR_SEND);
		while (!look(FAR, RQ))
			;
		receive(FAR, i);
		start(FAR, i, IBV_WR_SEND);
		while (!look(NEAR, RQ))
			;
		receive(NEAR, i);
		look(NEAR, SQ);
		look(FAR, SQ);
	}
	return now() - t;
}

static void *echo(void *arg)
{
	unsigned int i;

	for (i = 0; i < count + warm; i++) {
		asleep(FAR, RQ);
		receive(FAR, i);
		start(FAR, i, IBV_WR_SEND);
		look(FAR, SQ);
	}
	return arg;
}

/* Two threads, each asleep until the other's message comes. */
static uint64_t ping_asleep(void)
{
	uint64_t t = 0;
	unsigned int i;
	pthread_t peer;

	errno = pthread_create(&peer, NULL, echo, NULL);
	if (errno)
		die("a thread");
	for (i = 0; i < count + warm; i++) {
		if (i == warm)
			t = now();
		start(NEAR, i, IBV_WR_SEND);
		asleep(NEAR, RQ);
		receive(NEAR, i);
		look(NEAR, SQ);
	}
	t = now() - t;
	pthread_join(peer, NULL);
	return t;
}

static void *sink(void *arg)
{
	unsigned int got = 0;
	int i, n;

	while (got < count + warm) {
		n = asleep(FAR, RQ);
		for (i = 0; i < n; i++)
			receive(FAR, got++);
	}
	return arg;
}

/* One way, a window of them under way. */
static uint64_t stream(enum ibv_wr_opcode op)
{
	unsigned int all = count + warm, sent = 0, done = 0, got = 0;
	unsigned int window = op == IBV_WR_RDMA_READ ? READS : WINDOW;
	bool two = op == IBV_WR_SEND && sleeping;
	uint64_t t = 0;
	pthread_t peer;
	int i, n;

	if (two) {
		errno = pthread_create(&peer, NULL, sink, NULL);
		if (errno)
			die("a thread");
	}
	while (done < all || (op == IBV_WR_SEND && !two && got < all)) {
		while (sent < all && sent - done < window)
			start(NEAR, sent++, op);
		if (!t && done >= warm)
			t = now();
		n = done < all ? some(NEAR, SQ) : 0;
		done += n;
		if (op != IBV_WR_SEND || two)
			continue;
		n = look(FAR, RQ);
		for (i = 0; i < n; i++)
			receive(FAR, got++);
	}
	if (two)
		pthread_join(peer, NULL);
	return now() - t;
}

static void usage(FILE *f)
{
	fputs("usage: verbsmeasure [options] lat|send|write|read NEAR FAR\n"
	      "NEAR and FAR are IP addresses of RDMA devices of this machine.\n"
	      "lat sends to and fro and tells half of that time; the others go\n"
	      "one way, and tell the time of a byte.\n"
	      "  -s BYTES          of a message, 4 by default\n"
	      "  -n N              messages, 1000 by default\n"
	      "  -e                sleep until a completion comes: with lat and\n"
	      "                    send each end is a thread\n"
	      "  --json            a line of JSON\n", f);
}

static void print(const char *what, uint64_t ns, bool json)
{
	bool lat = !strcmp(what, "lat");
	double each = (double)ns / count / (lat ? 2 : 1);

	if (json)
		printf("{\"device\": \"%s\", \"bench\": \"%s\", \"wait\": "
		       "\"%s\", \"bytes\": %u, \"messages\": %u, \"ns\": %.1f, "
		       "\"ns_per_byte\": %.4f}\n", pair.limits.device, what,
		       sleeping ? "block" : "poll", size, count, each,
		       each / (size ? size : 1));
	else
		printf("%s %s %u bytes, %s: %.0f ns, %.3f per byte\n",
		       pair.limits.device, what, size,
		       sleeping ? "asleep" : "spinning", each,
		       each / (size ? size : 1));
}

static bool known(const char *what)
{
	return !strcmp(what, "lat") || !strcmp(what, "send") ||
	       !strcmp(what, "write") || !strcmp(what, "read");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct queues q = { .send_wr = DEPTH, .recv_wr = DEPTH, .sge = 1,
			    .cqe = DEPTH * 2 };
	bool json = false;
	const char *what;
	uint64_t ns;
	int c;

	while ((c = getopt_long(argc, argv, "s:n:eh", longs, NULL)) != -1) {
		switch (c) {
		case 's': size = strtoul(optarg, NULL, 0); break;
		case 'n': count = strtoul(optarg, NULL, 0); break;
		case 'e': sleeping = true; break;
		case 'j': json = true; break;
		case 'h': usage(stdout); return 0;
		default: usage(stderr); return 2;
		}
	}
	if (argc - optind != 3 || !known(argv[optind]) || !count || !size ||
	    size > 1 << 20 || count > 100000000) {
		usage(stderr);
		return 2;
	}
	what = argv[optind];
	warm = count / 10 + 1;
	prctl(PR_SET_TIMERSLACK, 1);
	if (!pair_open(&pair, argv[optind + 1], argv[optind + 2], &q,
		       (uint64_t)size * DEPTH * 2))
		return 1;
	fill_receives();
	if (!strcmp(what, "lat"))
		ns = sleeping ? ping_asleep() : ping_spinning();
	else
		ns = stream(!strcmp(what, "send") ? IBV_WR_SEND :
			    !strcmp(what, "write") ? IBV_WR_RDMA_WRITE :
			    IBV_WR_RDMA_READ);
	print(what, ns, json);
	pair_close(&pair);
	return 0;
}
