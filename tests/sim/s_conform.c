// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The conformance suite on the model: each run is one test of it, the seed
 * says which.  SIM_GROUP in the environment names some: "send.*", "cq.stale",
 * "queue.fifo/rr"; SIM_GROUP=list says what there is, and what is left out.
 */
#include <fnmatch.h>
#include <stdio.h>
#include "vipl/posix.h"
#include "hosts.h"
#include "../../devices/ether/proto/wire.h"
#include "kernel/model.h"
#include "vipl/programs.h"

#define TESTS_MAX	1024

static struct verdicts *verdicts;
static char name[100];
static char wanted[TESTS_MAX];

/* The number of tests that are run. */
static u32 choose_tests(void)
{
	const char *pattern = getenv("SIM_GROUP"), *why;
	bool list = pattern && !strcmp(pattern, "list");
	u32 i, all = conform_tests(), n = 0;

	sim_expect(all <= TESTS_MAX, "");
	for (i = 0; i < all; i++) {
		conform_name(i, name, sizeof(name));
		why = conform_left_out(i);
		if (list)
			printf("%-30s %s\n", name, why ? why : "");
		wanted[i] = !why && (!pattern || list ||
				     !fnmatch(pattern, name, 0));
		n += wanted[i];
	}
	if (list) {
		printf("%u of %u\n", n, all);
		exit(0);
	}
	if (!n)
		sim_fail("SIM_GROUP=%s is no test that runs here", pattern);
	return n;
}

/* Seeds one after the other are tests far from each other. */
static u32 chosen(void)
{
	u32 n = choose_tests(), i = 0;

	n = sim_config.seed * 1009 % n;

	while (!wanted[i] || n--)
		i++;
	return i;
}

static void too_long(void *arg)
{
	char at[100];

	conform_step(verdicts, at, sizeof(at));
	sim_fail("no end after %u s; last check %s",
		 conform_deadline(*(u32 *)arg), at);
}

static void peer_again(struct sim_proc **peer, struct conform *c, int *status)
{
	if (*peer) {
		if (!sim_proc_ended(*peer))
			return;
		sim_proc_wait(*peer);
		if (*status > 0 && !sim_config.fail_alloc)
			sim_fail("the peer ends with status %d", *status);
	}
	*peer = px_start(1, "peer", 0, b_conform_peer, c, status);
}

static void run_test(struct conform *client, struct conform *server)
{
	struct sim_proc *c, *peer = NULL;
	bool with_peer = conform_needs_peer(client->test);
	int status = 0, peer_status = 0;
	struct sim_event *limit;
	char line[500];

	/* Loops that ask again take fewer steps. */
	if (sim_config.fail_alloc)
		sim_config.step_ns = 1000;
	px_begin();
	sim_doing(name);
	verdicts = client->verdicts = conform_verdicts();
	limit = sim_at(sim_clock + conform_deadline(client->test) * NSEC_PER_SEC,
		       too_long, &client->test);
	c = px_start(0, name, 0, conform_main, client, &status);
	while (!sim_proc_ended(c)) {
		if (with_peer)
			peer_again(&peer, server, &peer_status);
		msleep(1);
	}
	sim_proc_wait(c);
	sim_cancel(limit);
	/* It notices, or is not asked. */
	if (peer && sim_dice(2))
		msleep(100);
	if (peer && !sim_proc_ended(peer))
		sim_kill(peer);
	if (peer)
		sim_proc_wait(peer);
	if (conform_wrong(verdicts, line, sizeof(line)) &&
	    !sim_config.fail_alloc)
		sim_fail("%s", line);
	sim_log("%s: %u checks", name, conform_checks(verdicts));
	free(verdicts);
}

static void lo(void)
{
	struct conform c = { .device = "via_lo", .verbose = sim_verbose };

	sim_config.keys_collide = sim_dice(2);
	c.test = chosen();
	conform_name(c.test, name, sizeof(name));
	run_test(&c, &c);
}

/*
 * One of a hundred is lost, but no DISCONNECT: that is repeated after 2 s
 * (docs/reference/wire.md), and what it says is a part of what the suite expects.
 */
static bool lose(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	return h->type == VIA_WIRE_DISCONNECT || sim_dice(100);
}

static void wire(void)
{
	struct conform c = { .device = "via_a", .verbose = sim_verbose };
	struct conform s = { .device = "via_b", .verbose = sim_verbose };

	c.test = chosen();
	conform_name(c.test, name, sizeof(name));
	if (hosts_up(2)) {
		c.host = host_mac(1);
		run_test(&c, &s);
	}
	hosts_down();
}

static void lossy(void)
{
	sim_wire.meddle = lose;
	wire();
}

SIM_SCENARIO(.name = "conform-lo", .run = lo, .runs = 470, .max_vi = 1024,
	     .what = "the conformance suite on the loopback, a test a run")
SIM_SCENARIO(.name = "conform-wire", .run = wire, .runs = 470, .max_vi = 1024,
	     .what = "the conformance suite between two hosts, a test a run")
SIM_SCENARIO(.name = "conform-loss", .run = lossy, .runs = 470, .max_vi = 1024,
	     .what = "the same, and one frame of a hundred is lost")
