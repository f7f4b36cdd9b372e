// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Consumers in the kernel that look for each other, as verbs devices without rdma_cm do:
 * on one host or on two, whichever comes first, with attempts that end too early and
 * begin again.  A message goes each way, at once, and says that it is solicited.
 */
#include "consumer.h"

#define BYTES	100
#define ROUNDS	3

static struct side {
	struct via_file *f;
	struct via_vi *vi;
	u32 host, peer_host;
	char own, peer;			/* discriminators */
	u8 *buf[2];
	u32 done[2];
	struct via_kernel_done last[2];
	bool stands, failed, left;
	u32 round;			/* the one that it has done with */
} side[2];

static u32 running;

static struct side *of(struct via_vi *vi)
{
	return via_kernel_vi_priv(vi);
}

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	d->control = recv ? 0 : VIA_CTL_KERNEL_SOLICITED;
	d->seg[0].addr = (uintptr_t)of(vi)->buf[recv];
	d->seg[0].len = BYTES;
	d->nsegs = 1;
	d->length = BYTES;
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
	struct side *s = of(vi);

	s->last[recv] = *done;
	smp_store_release(&s->done[recv], s->done[recv] + 1);
}

static void moved(struct via_vi *vi, u32 from)
{
	struct side *s = of(vi);

	if (vi->state == VIA_STATE_CONNECTED)
		WRITE_ONCE(s->stands, true);
	else if (from == VIA_STATE_PENDING)
		WRITE_ONCE(s->failed, true);
	else if (from == VIA_STATE_CONNECTED)
		WRITE_ONCE(s->left, true);
}

static const struct via_kernel_ops hooks = {
	.load = load,
	.complete = complete,
	.settle = consumer_settle,
	.moved = moved,
	.gone = consumer_gone,
};

static void begin(struct side *s)
{
	s->buf[0] = kzalloc(BYTES, GFP_KERNEL);
	s->buf[1] = kzalloc(BYTES, GFP_KERNEL);
	sim_expect(s->buf[0] && s->buf[1], "");
	s->vi = consumer_open(&s->f, host_node(s->host), &hooks, s);
}

/* Some attempts end before the peer is there. */
static void meet(struct side *s)
{
	struct via_net_addr local = { .disc_len = 2 };
	struct via_net_addr remote = { .disc_len = 2, .host_len = ETH_ALEN };
	u64 ns;

	local.disc[0] = s->own;
	local.disc[1] = s->peer;
	remote.disc[0] = s->peer;
	remote.disc[1] = s->own;
	memcpy(remote.host, host_mac(s->peer_host), ETH_ALEN);
	sim_expect(via_kernel_connect_peer(s->vi, &local, &remote,
					   VIA_FOREVER) ==
		   VIA_R_INVALID_PARAMETER, "");
	for (;;) {
		WRITE_ONCE(s->failed, false);
		ns = sim_dice(3) ? 10 * SEC : (1 + sim_dice(20)) * MS;
		sim_ok(via_kernel_connect_peer(s->vi, &local, &remote, ns));
		while (!READ_ONCE(s->stands) && !READ_ONCE(s->failed)) {
			sim_pause(MS);
			via_kernel_expire(s->vi);
		}
		if (READ_ONCE(s->stands))
			return;
	}
}

static void talk(struct side *s, u32 round)
{
	u32 n = s->done[0], m = s->done[1];

	prog_fill(s->buf[0], BYTES, s->own, round);
	via_kernel_post(s->vi, true, 1);
	sim_pause(sim_dice(2) * MS);
	meet(s);
	via_kernel_post(s->vi, false, 1);
	via_kernel_ring(s->vi, false);
	sim_await(smp_load_acquire(&s->done[0]) != n &&
		  smp_load_acquire(&s->done[1]) != m, 100000);
	sim_expect(!(s->last[0].status & VIA_ST_ERROR_MASK) &&
		   !(s->last[1].status & VIA_ST_ERROR_MASK), "%#x, %#x",
		   s->last[0].status, s->last[1].status);
	sim_expect(s->last[1].solicited, "");
	sim_expect(prog_filled(s->buf[1], BYTES, s->peer, round), "");
}

static void run(void *arg)
{
	struct side *s = arg, *other = &side[s == side];
	u32 i;

	begin(s);
	for (i = 1; i <= ROUNDS; i++) {
		talk(s, i);
		WRITE_ONCE(s->round, i);
		/* Neither leaves before the other has had all. */
		sim_await(READ_ONCE(other->round) >= i, 100000);
		if (sim_dice(2))
			via_kernel_disconnect(s->vi);
		else
			while (!READ_ONCE(s->left) && sim_dice(20))
				sim_pause(MS);
		via_kernel_disconnect(s->vi);
		WRITE_ONCE(s->stands, false);
		WRITE_ONCE(s->left, false);
	}
	via_kernel_vi_destroy(s->vi);
	via_kernel_close(s->f);
	kfree(s->buf[0]);
	kfree(s->buf[1]);
	running--;
}

static void peers(void)
{
	static const u32 losses[] = { 0, 0, 100, 300 };
	u32 other = sim_dice(3) ? 1 : 0;

	hosts_up(2);
	sim_wire.loss = losses[sim_dice(4)];
	side[0] = (struct side){ .own = 'a', .peer = 'b', .peer_host = other };
	side[1] = (struct side){ .own = 'b', .peer = 'a', .host = other };
	running = 2;
	sim_kthread("one", run, &side[0]);
	sim_kthread("two", run, &side[1]);
	sim_await(!READ_ONCE(running), MS);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-peers", .run = peers, .runs = 40, .max_vi = 16,
	     .seconds = 300,
	     .what = "two consumers in the kernel that look for each other")
