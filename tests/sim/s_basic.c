// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One connection of each level, and messages over it. */
#include "prog.h"

#define MESSAGES	20
#define BYTES		3000
#define SERVER_MAC	2

struct end {
	const char *node;
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
	static const u8 server[] = { 0x52, 0x54, 0, 0, 1, SERVER_MAC };
	static const u8 own[] = { 0x02, 0, 0, 0, 0, 0x01 };
	struct end *e = arg;
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	u8 *in, *out;
	u32 i, len, tries = 0;
	int ret;

	ret = prog_open(&n, e->node, 64 << 10);
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
		ret = prog_request(&v, strcmp(e->node, "via_lo") ? server : own,
				   "ping", 10 * SEC);
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

static void both(const char *a, const char *b, u32 level)
{
	struct end server = { a, level, false, MESSAGES };
	struct end client = { b, level, true, MESSAGES };
	struct sim_proc *s = sim_proc_new("server", 0);
	struct sim_proc *c = sim_proc_new("client", 1000);

	sim_thread(s, "server", ping, &server);
	sim_thread(c, "client", ping, &client);
	sim_proc_wait(s);
	sim_proc_wait(c);
}

static void wire(u32 level)
{
	struct sim_nic *a = sim_nic_up("a", 1), *b = sim_nic_up("b", SERVER_MAC);

	if (a && b)
		both("via_b", "via_a", level);
	if (a)
		sim_nic_down(a);
	if (b)
		sim_nic_down(b);
}

static void rd(void)
{
	wire(VIA_RELIABLE_DELIVERY);
}

static void rr(void)
{
	wire(VIA_RELIABLE_RECEPTION);
}

static void ud(void)
{
	wire(VIA_UNRELIABLE);
}

static void lo(void)
{
	both("via_lo", "via_lo", VIA_RELIABLE_DELIVERY);
}

SIM_SCENARIO(.name = "ping-lo", .run = lo, .runs = 50,
	     .what = "ping-pong over the loopback")
SIM_SCENARIO(.name = "ping-rd", .run = rd, .runs = 50,
	     .what = "ping-pong over a wire, Reliable Delivery")
SIM_SCENARIO(.name = "ping-rr", .run = rr, .runs = 50,
	     .what = "ping-pong over a wire, Reliable Reception")
SIM_SCENARIO(.name = "ping-ud", .run = ud, .runs = 50,
	     .what = "ping-pong over a wire, Unreliable")
