// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One connection of each level, and messages over it. */
#include "prog.h"

#define MESSAGES	20
#define BYTES		3000

struct end {
	u32 host;
	u32 level;
	bool client;
	u32 messages;
};

static u32 bytes_of(u32 i)
{
	return 1 + i * 977 % BYTES;
}

/* Each message comes back before the next one is sent. */
static void ping(void *arg)
{
	struct end *e = arg;
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	u8 *in, *out;
	u32 i, len, tries = 0;
	int ret;

	ret = prog_open(&n, host_node(e->host), 64 << 10);
	if (ret && sim_config.fail_alloc)
		return;
	sim_expect(!ret, "(%d)", ret);
	in = prog_buffer(&n, 8192);
	in = prog_buffer(&n, BYTES);
	out = prog_buffer(&n, BYTES);
	ret = prog_vi(&v, &n, e->level, 0, 0);
	if (ret)
		goto out;
	prog_post_recv(&v, in, BYTES);
	/* The server may not wait yet. */
	while (e->client) {
		ret = prog_request(&v, host_mac(1), "ping", 10 * SEC);
		if (ret != VIA_R_NO_MATCH ||
		    (sim_config.fail_alloc && ++tries > 1000))
			break;
		sim_sleep(MS);
	}
	if (!e->client)
		ret = prog_accept(&v, "ping", 10 * SEC);
	if (ret && sim_config.fail_alloc)
		goto out;
	sim_expect(!ret, "(%d)", ret);
	for (i = 0; i < e->messages; i++) {
		len = bytes_of(i);
		if (e->client) {
			prog_fill(out, len, 1, i);
			prog_post_send(&v, out, len);
		}
		ret = prog_wait(&v, true, 60 * SEC, &d);
		if (sim_config.fail_alloc && (ret || d.status & VIA_ST_ERROR_MASK))
			goto out;
		sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
			   "(%d, status %#x)", ret, d.status);
		sim_expect(d.length == len && prog_filled(in, len, 1, i), "");
		if (i + 1 < e->messages)
			prog_post_recv(&v, in, BYTES);
		if (!e->client) {
			memcpy(out, in, len);
			prog_post_send(&v, out, len);
		}
		ret = prog_wait(&v, false, 60 * SEC, &d);
		if (sim_config.fail_alloc && (ret || d.status & VIA_ST_ERROR_MASK))
			goto out;
		sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
			   "(%d, status %#x)", ret, d.status);
	}
out:
	prog_close(&n);
}

static void both(u32 level)
{
	struct end client = { 0, level, true, MESSAGES };
	struct end server = { 1, level, false, MESSAGES };

	host_run_as(1, 0, "server", ping, &server);
	host_run_as(0, 1000, "client", ping, &client);
	programs_wait();
}

static void wire(u32 level)
{
	if (hosts_up(2))
		both(level);
	hosts_down();
}

SIM_SCENARIO(.name = "ping-lo", .run_as = both, .as = VIA_RELIABLE_DELIVERY,
	     .runs = 50, .what = "ping-pong over the loopback")
SIM_SCENARIO(.name = "ping-rd", .run_as = wire, .as = VIA_RELIABLE_DELIVERY,
	     .runs = 50, .what = "ping-pong over a wire, Reliable Delivery")
SIM_SCENARIO(.name = "ping-rr", .run_as = wire, .as = VIA_RELIABLE_RECEPTION,
	     .runs = 50, .what = "ping-pong over a wire, Reliable Reception")
SIM_SCENARIO(.name = "ping-ud", .run_as = wire, .as = VIA_UNRELIABLE,
	     .runs = 50, .what = "ping-pong over a wire, Unreliable")
