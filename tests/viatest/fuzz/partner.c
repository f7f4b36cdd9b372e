// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fuzz --race-partner: the other end of a race over a wire.  It asks, looks
 * for its peer, waits, answers, or lets lie, with times of a tick or two, so
 * that deadlines fall into what the racing host does; until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "race.h"

#define LIFE		64u		/* attempts of a VI */
#define ENDS		4u

struct end {
	pthread_t id;
	struct rng r;
	void (*live)(struct end *e);
	int fd;
	uint32_t vi;
};

static struct {
	const char *device;
	const uint8_t *host;
	struct via_hello hello;
} here;

static int call(const struct end *e, unsigned long request, void *arg)
{
	int ret = ioctl(e->fd, request, arg);

	return ret < 0 ? -errno : ret;
}

static void address(struct via_net_addr *a, const uint8_t *host, char what,
		    char side)
{
	memset(a, 0, sizeof(*a));
	a->host_len = here.hello.addr_len;
	memcpy(a->host, host, sizeof(a->host));
	a->disc_len = 6;
	memcpy(a->disc, "race", 4);
	a->disc[4] = what;
	a->disc[5] = side;
}

static void pause_for(struct rng *r)
{
	nanosleep(&(struct timespec){ 0, rng_below(r, 4000000) }, NULL);
}

/* One of three does not match. */
static void vi_make(struct end *e)
{
	struct via_vi_create v = { .attrs = { VIA_RELIABLE_DELIVERY, 0,
		rng_one_in(&e->r, 3) ? 8192 : 4096, 0 } };

	if (call(e, VIA_IOC_VI_CREATE, &v))
		perror("viatest fuzz: the partner's VI");
	e->vi = v.vi;
}

static void over(struct end *e)
{
	struct via_vi_arg a = { .vi = e->vi };

	call(e, VIA_IOC_DISCONNECT, &a);
}

static void ask(struct end *e)
{
	int peer = rng_one_in(&e->r, 4);
	struct via_conn_request q = {
		.vi = e->vi,
		.timeout = rng_one_in(&e->r, 8) ? 50000000 :
			   1 + rng_below(&e->r, 14000000),
	};
	struct via_conn_result a = { .vi = e->vi,
				     .flags = peer ? VIA_CONN_PEER : 0 };

	address(&q.local, here.hello.addr, peer ? 'p' : 'c', '1');
	address(&q.remote, here.host, peer ? 'p' : 's', '0');
	call(e, peer ? VIA_IOC_PEER_REQUEST : VIA_IOC_CONN_REQUEST, &q);
	if (!rng_one_in(&e->r, 4))
		call(e, VIA_IOC_CONN_RESULT, &a);
	pause_for(&e->r);
	over(e);
}

static void serve(struct end *e)
{
	struct via_conn_wait w = { .timeout = 50000000 };
	struct via_conn_accept a = { .vi = e->vi };
	struct via_conn_reject j = { 0 };
	struct via_conn_result s = { .vi = e->vi };

	address(&w.local, here.hello.addr, 's', '1');
	if (call(e, VIA_IOC_CONN_WAIT, &w))
		return;
	a.conn = j.conn = w.conn;
	if (rng_one_in(&e->r, 2))
		pause_for(&e->r);
	if (!rng_one_in(&e->r, 3) && !call(e, VIA_IOC_CONN_ACCEPT, &a))
		call(e, VIA_IOC_CONN_RESULT, &s);
	if (rng_one_in(&e->r, 2))
		pause_for(&e->r);
	call(e, VIA_IOC_CONN_REJECT, &j);
	over(e);
}

static void *live(void *arg)
{
	struct end *e = arg;
	uint8_t *ctl;
	unsigned int i;

	for (;;) {
		e->fd = open(here.device, O_RDWR | O_CLOEXEC);
		if (e->fd < 0) {
			perror(here.device);
			exit(2);
		}
		ctl = mmap(NULL, 4096, PROT_READ, MAP_SHARED, e->fd,
			   VIA_MMAP_CTL);
		here.hello.abi = VIA_ABI_VERSION;
		vi_make(e);
		for (i = 0; i < LIFE; i++)
			e->live(e);
		munmap(ctl, 4096);
		close(e->fd);
	}
	return NULL;
}

int race_partner(const char *device, uint64_t seed, const uint8_t *host)
{
	static struct end ends[ENDS] = { { .live = ask }, { .live = ask },
					 { .live = ask }, { .live = serve } };
	unsigned int i;
	int fd;

	here.device = device;
	here.host = host;
	here.hello.abi = VIA_ABI_VERSION;
	fd = open(device, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, VIA_IOC_HELLO, &here.hello)) {
		perror(device);
		return 1;
	}
	close(fd);
	for (i = 0; i < ENDS; i++) {
		ends[i].r.s = seed * 31 + i;
		if (pthread_create(&ends[i].id, NULL, live, &ends[i]))
			return 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (i = 0; i < ENDS; i++)
		pthread_join(ends[i].id, NULL);
	return 0;
}
