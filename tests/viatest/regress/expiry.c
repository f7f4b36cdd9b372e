// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An attempt to connect is over in the middle of the call that makes it: what
 * the call still does must not outlive the attempt.
 */
#include "regress.h"
#include <semaphore.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static struct handle server;
static uint32_t subject;		/* the VI that is asked about; atomic */
static struct via_vi_shared *area;	/* its own, or NULL */
static int said;			/* its verdict, once there is one */
static bool stop;

/* Until the kernel has looked at all that is posted: 64 in one trap. */
static void ring_recv(uint32_t vi)
{
	while (lseek(server.fd, via_trap_arg(VIA_OP_RECV, vi),
		     VIA_TRAP_WHENCE) == VIA_TRAP_MORE)
		;
}

/*
 * Receives that are refused, all that there is room for: the look at them
 * takes the VI's lock often, and a thread that waits for it may be interrupted
 * when it has had it.
 */
static void refuse_many(struct via_vi_shared *s, uint32_t vi)
{
	uint32_t done = load_acquire(&s->recv_kern.done);

	s->recv_user.collected = done;
	store_release(&s->recv_user.tail, done + s->entries);
	ring_recv(vi);
}

/* Asking for the verdict is what ends an attempt whose time is over. */
static void *ending(void *arg)
{
	uint32_t vi;
	int rc;

	thread_pin(1);
	while (!load_acquire(&stop)) {
		vi = load_acquire(&subject);
		if (!vi)
			continue;
		if (area)
			refuse_many(area, vi);
		rc = verdict(&server, vi, VIA_CONN_NOWAIT);
		if (rc >= 0 && rc != VIA_R_NOT_DONE &&
		    rc != VIA_R_INVALID_STATE)
			store_release(&said, rc);
	}
	return arg;
}

static void *rejecting(void *arg)
{
	struct via_conn_reject r = { 0 };
	struct via_conn_wait w;

	while (!load_acquire(&stop)) {
		if (await(&server, "server", 100000000, &w))
			continue;
		r.conn = w.conn;
		ioctl(server.fd, VIA_IOC_CONN_REJECT, &r);
	}
	return arg;
}

#define ENOUGH		50u	/* requests, however slow the host is */

/* On one host: the request is found when it is over already. */
int run_overtaken(void)
{
	struct intruder in = { .cpu = 0, .gap_us = 3000, .spin_us = 14000 };
	uint64_t until = now_ns() + args.seconds * 1000 * MS;
	struct via_conn_request r;
	uint32_t n = 0;
	pthread_t t[2];

	handle_open(&server, args.device);
	subject = vi_new(&server, MOST_BYTES, 0).vi;
	r = to_ask(subject, 1, "client", &server, "server");
	t[0] = thread_start(ending, NULL);
	t[1] = thread_start(rejecting, NULL);
	thread_pin(0);
	intrude(&in);
	while (now_ns() < until || n < ENOUGH)
		n += !ask(&server, VIA_IOC_CONN_REQUEST, &r);
	store_release(&stop, true);
	intruder_end(&in);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	vi_end(&server, subject);
	handle_close(&server);
	printf("requests %u\n", n);
	return 0;
}

/* Between two NICs: the VI that accepts is Idle again before it has. */

#define TIMEOUT_NS	80000000ull	/* of the client */
#define ACCEPT_NS	50000000ull	/* after the request */
#define OVER_NS		100000000ull	/* its time is over for certain */
#define CALL_US		1500u		/* so long takes an accept, about */
#define LATER_NS	60000000ull	/* nothing is left of it */

static uint64_t asked_at;		/* the request's time; atomic */
static sem_t hold;
static uint32_t began;			/* accepts that found their request */

/*
 * Takes the accepting thread's CPU, wherever in its call that is, until the
 * VI's time is over.
 */
static void *holding(void *arg)
{
	uint64_t until;

	thread_pin(0);
	thread_realtime();
	for (;;) {
		sem_wait(&hold);
		if (load_acquire(&stop))
			return arg;
		/* The call begins. */
		sleep_ns(dice(CALL_US) * 1000);
		until = load_acquire(&asked_at) + OVER_NS;
		while (now_ns() < until && load_acquire(&said) < 0)
			;
	}
}

static void *requesting(void *arg)
{
	struct via_conn_request r;
	struct handle client;
	uint32_t vi;

	handle_open(&client, args.peer);
	while (!load_acquire(&stop)) {
		vi = vi_new(&client, MOST_BYTES, 0).vi;
		r = to_ask(vi, TIMEOUT_NS, "client", &server, "server");
		store_release(&asked_at, now_ns());
		if (!ask(&client, VIA_IOC_CONN_REQUEST, &r))
			verdict(&client, vi, 0);
		vi_end(&client, vi);
		sleep_ms(1);
	}
	handle_close(&client);
	return arg;
}

/* Waits for the request that comes later, and does not answer it. */
static void *silent(void *arg)
{
	struct via_conn_wait w;

	while (!load_acquire(&stop))
		await(&server, "mate", 100000000, &w);
	return arg;
}

/* A VI of which the accept is over begins anew, and is not disturbed. */
static uint32_t anew(uint32_t vi)
{
	struct via_conn_request r = to_ask(vi, VIA_FOREVER, "again", &server,
					   "mate");
	int rc, tries = 20000;

	/* The accepting thread may be between two waits, without a processor. */
	do {
		if (ask(&server, VIA_IOC_CONN_REQUEST, &r))
			die("an idle VI cannot ask");
		rc = verdict(&server, vi, VIA_CONN_NOWAIT);
	} while (rc == VIA_R_NO_MATCH && --tries &&
		 (tries > 19900 || !usleep(1000)));
	sleep_ns(LATER_NS);
	rc = verdict(&server, vi, VIA_CONN_NOWAIT);
	if (rc == VIA_R_NOT_DONE)
		return 0;
	warn_msg("a request without a time limit ends with %d, by an accept that was over before it",
		 rc);
	return 1;
}

/* The VI's attempt is over, and no other has begun. */
static uint32_t over_in_time(uint32_t vi, uint32_t round)
{
	uint32_t state = vi_state(&server, vi);

	if (state != VIA_STATE_IDLE) {
		warn_msg("state %u after a time-out", state);
		return 1;
	}
	/* It is destroyed at once in one round of four. */
	return round % 4 ? anew(vi) : 0;
}

/* Returns whether it was overtaken. */
static bool accepted_late(uint32_t round, uint32_t *wrong)
{
	struct via_conn_accept a = { 0 };
	struct via_vi_create c;
	struct via_conn_wait w;
	bool hit = false;
	uint64_t at;
	int rc;

	c = vi_new(&server, MOST_BYTES, 0);
	area = vi_map(&server, &c);
	a.vi = c.vi;
	if (await(&server, "server", 20000000000ull, &w))
		die("there are no requests");
	/* What would say that the client has given up does not come. */
	cut(true);
	at = load_acquire(&asked_at) + ACCEPT_NS;
	a.conn = w.conn;
	store_release(&said, -1);
	while (now_ns() < at)
		sleep_ms(1);
	store_release(&subject, c.vi);
	sem_post(&hold);
	rc = ioctl(server.fd, VIA_IOC_CONN_ACCEPT, &a);
	began += !rc;
	store_release(&subject, 0);
	/* What the other thread is at ends meanwhile. */
	sleep_ms(3);
	if (!rc && load_acquire(&said) == VIA_R_TIMEOUT) {
		hit = true;
		*wrong += over_in_time(c.vi, round);
	}
	if (hit && round % 4 == 0) {
		/* A VI with receives is not destroyed. */
		ring_recv(c.vi);
		rc = vi_do(&server, VIA_IOC_VI_DESTROY, c.vi);
		if (rc)
			die("an idle VI cannot be destroyed: %d", rc);
	} else {
		vi_end(&server, c.vi);
	}
	munmap(area, c.mmap_size);
	return hit;
}

int run_late(void)
{
	uint32_t n, hits = 0, wrong = 0;
	pthread_t t[4];

	handle_open(&server, args.device);
	sem_init(&hold, 0, 0);
	t[0] = thread_start(ending, NULL);
	t[1] = thread_start(holding, NULL);
	t[2] = thread_start(silent, NULL);
	t[3] = thread_start(requesting, NULL);
	thread_pin(0);
	for (n = 0; n < args.count; n++) {
		hits += accepted_late(n, &wrong);
		cut(false);
	}
	store_release(&stop, true);
	sem_post(&hold);
	for (n = 0; n < 4; n++)
		pthread_join(t[n], NULL);
	handle_close(&server);
	printf("accepts %u began %u overtaken %u wrong %u\n", n, began,
	       hits, wrong);
	return wrong != 0;
}
