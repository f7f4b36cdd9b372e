// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A VI that looks for its peer is on a list.  When its attempt ends by the
 * other's doing, in the middle of the beginning of its next one, it must be on
 * that list once at most.
 *
 * X looks from a for b.  Y looks from b for a and does not fit, so both
 * attempts fail; meanwhile X's thread tries to ask for something else, which
 * it may from that moment on.
 */
#include "regress.h"
#include <stdio.h>
#include <sys/ioctl.h>

#define ENOUGH	50u		/* rounds, however slow the host is */

static uint32_t asked, met;		/* rounds; atomic */
static bool stop;
static struct handle one, two;

static void *meet(void *arg)
{
	uint32_t y = vi_new(&two, 2 * MOST_BYTES, 0).vi, n = 0;
	struct via_conn_request r;
	int rc;

	thread_pin(1);
	for (;;) {
		while (load_acquire(&asked) == n)
			if (load_acquire(&stop))
				return arg;
		n++;
		for (volatile uint32_t i = dice(2000); i; i--)
			;
		r = to_ask(y, VIA_FOREVER, "b", &two, "a");
		rc = ask(&two, VIA_IOC_PEER_REQUEST, &r);
		if (rc)
			die("Y's peer request: %d", rc);
		if (verdict(&two, y, VIA_CONN_NOWAIT | VIA_CONN_PEER) ==
		    VIA_R_NOT_DONE)
			vi_do(&two, VIA_IOC_DISCONNECT, y);
		store_release(&met, n);
	}
}

int run_peers(void)
{
	struct intruder in = { .cpu = 0, .gap_us = 1500, .spin_us = 1500 };
	uint64_t until = now_ns() + args.seconds * 1000 * MS;
	struct via_conn_request look, other;
	uint32_t x, n = 0;
	pthread_t t;
	int rc;

	handle_open(&one, args.device);
	handle_open(&two, args.device);
	x = vi_new(&one, MOST_BYTES, 0).vi;
	look = to_ask(x, VIA_FOREVER, "a", &one, "b");
	other = to_ask(x, VIA_FOREVER, "c", &one, "d");
	thread_pin(0);
	t = thread_start(meet, NULL);
	intrude(&in);
	while (now_ns() < until || n < ENOUGH) {
		rc = ask(&one, VIA_IOC_PEER_REQUEST, &look);
		if (rc)
			die("X's peer request: %d", rc);
		store_release(&asked, ++n);
		do
			rc = ask(&one, VIA_IOC_CONN_REQUEST, &other);
		while (rc == VIA_R_INVALID_STATE);
		if (rc)
			die("X's request: %d", rc);
		while (load_acquire(&met) != n)
			;
	}
	store_release(&stop, true);
	pthread_join(t, NULL);
	intruder_end(&in);
	printf("rounds %u\n", n);
	handle_close(&one);
	handle_close(&two);
	return 0;
}
