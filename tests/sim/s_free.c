// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A VI that looks for a peer finds a free one: none whose time is over, though
 * it was not asked about since, and another one while the first is bound to a
 * host that has asked for it and says no more (docs/reference/wire.md, "Peer to peer").
 */
#include "prog.h"
#include "../../devices/ether/proto/wire.h"


static const u8 own[] = { 0x02, 0, 0, 0, 0, 0x01 };

static struct {
	struct sim_nic *nic[2];
	u32 looking;
	bool asked, over;
	__be64 cookie;			/* of the ghost */
} w;

/* Both on one host. */
static void overdue(void *arg)
{
	u64 timeout = 1 + sim_dice(20 * MS);
	struct prog_nic n;
	struct prog_vi v[2];
	int ret;

	sim_expect(!prog_open(&n, "via_lo", 4096) &&
		   !prog_vi(&v[0], &n, VIA_RELIABLE_DELIVERY, 0, 0) &&
		   !prog_vi(&v[1], &n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	ret = prog_request_start(&v[0], own, "free", timeout, true);
	sim_expect(!ret, "(%d)", ret);
	/* Its own time is rounded up to ticks. */
	sim_sleep(timeout + 20 * MS);
	ret = prog_p2p(&v[1], own, "free", 10 * MS);
	sim_expect(ret == VIA_R_TIMEOUT, "one whose time is over: %d", ret);
	ret = prog_result(&v[0], VIA_CONN_PEER | VIA_CONN_NOWAIT);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
	prog_close(&n);
}

/* What is for the ghost gets lost. */
static bool lose(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	if (h->cookie != w.cookie)
		return true;
	w.asked = true;
	return false;
}

static void addr(struct via_wire_addr *a, const u8 *mac)
{
	a->host_len = ETH_ALEN;
	a->disc_len = 4;
	memcpy(a->host, mac, ETH_ALEN);
	memcpy(a->disc, "free", 4);
}

/* A VI of the first host looks, one that there is not. */
static void ghost(void)
{
	struct {
		struct ethhdr eth;
		struct via_wire w;
		struct via_wire_hello h;
		struct via_wire_conn c;
		u8 seal[VIA_WIRE_SEAL_LEN];
	} __packed f;

	memset(&f, 0, sizeof(f));
	memcpy(f.eth.h_dest, sim_nic_mac(w.nic[1]), ETH_ALEN);
	memcpy(f.eth.h_source, sim_nic_mac(w.nic[0]), ETH_ALEN);
	f.eth.h_proto = cpu_to_be16(VIA_WIRE_ETHERTYPE);
	f.w.version = VIA_WIRE_VERSION;
	f.w.type = VIA_WIRE_PEER_REQUEST;
	f.w.cookie = w.cookie;
	f.h.epoch = 1;
	f.h.frames = cpu_to_be32(64);
	f.h.mtu = cpu_to_be32(1500);
	f.c.vi = cpu_to_be32(3);
	f.w.dst = f.c.vi;
	f.c.sender_cookie = w.cookie;
	f.c.reliability = cpu_to_be32(VIA_RELIABLE_DELIVERY);
	f.c.max_transfer = cpu_to_be32(32768);
	f.c.timeout_ms = cpu_to_be32(VIA_WIRE_FOREVER);
	addr(&f.c.client, sim_nic_mac(w.nic[0]));
	addr(&f.c.server, sim_nic_mac(w.nic[1]));
	sim_nic_prove(w.nic[1], (u8 *)&f);
	sim_seal(&f, sizeof(f), 0);
	sim_nic_inject(w.nic[1], &f, sizeof(f));
}

/* Two look, of which one is chosen for the ghost. */
static void two(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[2];
	u32 i;

	sim_expect(!prog_open(&n, "via_b", 4096), "");
	for (i = 0; i < 2; i++)
		sim_expect(!prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0) &&
			   !prog_request_start(&v[i], sim_nic_mac(w.nic[0]),
					       "free", VIA_FOREVER, true), "");
	w.looking = 2;
	while (!w.over)
		sim_sleep(MS);
	prog_close(&n);
}

static void one(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	int ret;

	sim_expect(!prog_open(&n, "via_a", 4096) &&
		   !prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	if (sim_dice(2))
		sim_sleep(sim_dice(100 * MS));
	ret = prog_p2p(&v, sim_nic_mac(w.nic[1]), "free", 4 * SEC);
	sim_expect(!ret, "one is free and is not found: %d", ret);
	w.over = true;
	prog_close(&n);
}

static void bound(void)
{
	struct sim_proc *a, *b;

	w.nic[0] = sim_nic_up("a", 1);
	w.nic[1] = sim_nic_up("b", 2);
	w.cookie = sim_dice64() | 1;
	sim_wire.meddle = lose;
	b = sim_proc_new("two", 1001);
	sim_thread(b, "two", two, NULL);
	while (w.looking < 2)
		sim_pause(MS);
	ghost();
	while (!w.asked)
		sim_pause(MS);
	a = sim_proc_new("one", 1000);
	sim_thread(a, "one", one, NULL);
	sim_proc_wait(a);
	sim_proc_wait(b);
	sim_nic_down(w.nic[0]);
	sim_nic_down(w.nic[1]);
}

static void free_peers(void)
{
	struct sim_proc *p;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	if (sim_dice(2)) {
		bound();
		return;
	}
	p = sim_proc_new("overdue", 1000);
	sim_thread(p, "overdue", overdue, NULL);
	sim_proc_wait(p);
}

SIM_SCENARIO(.name = "free-peers", .run = free_peers, .runs = 100,
	     .max_vi = 4, .what = "a VI that looks for a peer finds a free one")
