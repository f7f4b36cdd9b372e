// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peers that become slow, and hosts whose CPU does not run: nothing is lost,
 * so what is sent again is sent for nothing.  A few frames are, until the
 * sender knows better.
 */
#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define BYTES	16
#define ROUNDS	120
#define SEEN	4096
#define US	1000ull

static struct {
	u64 slow;			/* ns one way, from a third on */
	u32 jumps;			/* to come */
	u32 seen[SEEN], nseen;		/* numbers of frames */
	u32 again, settled;		/* frames sent again; by two thirds */
	u32 again_of[2];		/* by end: of odd and even addresses */
	struct prog_nic n[2];
	bool begun;
} w;

static bool note(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (const void *)frame;
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);
	const struct via_wire_data *data = (const void *)(h + 1);
	/* Two streams with random numbers: they do not meet. */
	u32 id = be32_to_cpu(data->seq) ^ eth->h_source[ETH_ALEN - 1] << 31;
	u32 i;

	if (h->type != VIA_WIRE_SEND)
		return true;
	for (i = 0; i < w.nseen; i++) {
		if (w.seen[i] != id)
			continue;
		w.again++;
		w.again_of[eth->h_source[ETH_ALEN - 1] & 1]++;
		return true;
	}
	sim_expect(w.nseen < SEEN, "");
	w.seen[w.nseen++] = id;
	return true;
}

static void done(struct prog_vi *v, bool recv)
{
	prog_good(v, recv, 100 * SEC);
}

static void moment(u32 r)
{
	WRITE_ONCE(w.begun, true);
	if (r == ROUNDS / 3)
		sim_wire.delay_ns = w.slow;
	if (r == 2 * ROUNDS / 3)
		w.settled = w.again;
}

static void talk(void *arg)
{
	bool client = arg;
	struct prog_nic *n = &w.n[client];
	struct prog_vi v;
	u32 r;

	prog_open_vi(n, &v, host_node(client), 8192, VIA_RELIABLE_DELIVERY);
	prog_post_recv(&v, n->mem, BYTES);
	prog_connect(&v, client ? host_mac(0) : NULL, "slow", 10 * SEC);
	for (r = 0; r < ROUNDS; r++) {
		if (client) {
			moment(r);
			prog_post_send(&v, n->mem, BYTES);
		}
		done(&v, true);
		prog_post_recv(&v, n->mem, BYTES);
		if (!client)
			prog_post_send(&v, n->mem, BYTES);
		done(&v, false);
	}
	sim_sleep(100 * MS);
	prog_close(n);
}

/* No CPU of either host runs for some time. */
static void jumps(void *arg)
{
	static const u64 times[] = { MS, 20 * MS, SEC, 10 * SEC };

	sim_await(READ_ONCE(w.begun), MS);
	/* Between two of them a frame that is waited for is looked at. */
	for (; w.jumps; w.jumps--) {
		sim_pause(2 * MS + sim_dice(400000));
		sim_clock += times[sim_dice(4)];
	}
}

static void run(void)
{
	hosts_up(2);
	sim_wire.meddle = note;
	host_run_as(0, 0, "server", talk, (void *)false);
	host_run_as(1, 0, "client", talk, (void *)true);
	if (w.jumps)
		sim_kthread("jumps", jumps, NULL);
	hosts_down();
	sim_log("%u frames again, %u of them at first", w.again, w.settled);
}

static void slow_peer(void)
{
	sim_wire.delay_ns = 50 * US;
	w.slow = MS + sim_dice(30000000);
	run();
	/*
	 * Each end doubles 300 us eight times until 60 ms are passed, and does
	 * some of it again until the news that it was in vain has come.
	 */
	sim_expect(w.again <= 2 * 16, "%u frames were sent again", w.again);
	sim_expect(w.again == w.settled, "%u frames, and %u later on",
		   w.settled, w.again - w.settled);
}

static void pauses(void)
{
	sim_wire.delay_ns = 100 * US;
	w.slow = sim_wire.delay_ns;
	w.jumps = 8;
	run();
	/* One of each end may be: a pause begins between two looks at the clock. */
	sim_expect(w.again_of[0] <= 1 && w.again_of[1] <= 1,
		   "%u and %u frames were sent again", w.again_of[0],
		   w.again_of[1]);
}

SIM_SCENARIO(.name = "slow-peer", .run = slow_peer, .runs = 60, .seconds = 100,
	     SIM_STATE(w),
	     .what = "a peer that becomes slow is sent a few frames twice")
SIM_SCENARIO(.name = "pause-spurious", .run = pauses, .runs = 60,
	     .seconds = 1000, SIM_STATE(w),
	     .what = "after a pause of all CPUs no storm of frames")
