// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A consumer in the kernel whose descriptors come from memory of a program (scan() of
 * kernel/via_kapi.h), as those of verbs do: the program rings only if the entry before its
 * own was taken already.  Whatever the window and the number in flight, all is sent.
 */
#include "consumer.h"

#define ENTRIES		128		/* more than can be in flight */
#define MESSAGES	400
#define BYTES		200
#define PORT		"\1port-20053"

static struct side {
	struct via_file *f;
	struct via_vi *vi;
	struct consumer_port port;
	u32 valid[ENTRIES];		/* the program's ring */
	u32 taken, done, arrived;	/* queue locks */
	bool bad, up, over;
	u8 *buf;
} side[2];			/* the server, the client */
static const u8 *server_mac;
static u32 rests;			/* ns between messages at most; 0: none */
static bool listens, ended;

static u32 scan(struct via_vi *vi, bool recv)
{
	struct side *s = via_kernel_vi_priv(vi);
	u32 *slot, n = 0;
	bool more = false;

	while (!recv) {
		slot = &s->valid[s->taken % ENTRIES];
		more = smp_load_acquire(slot);
		if (!more || s->taken - s->done >= ENTRIES)
			break;
		/* Full barrier: the program looks at this one when it has set the next. */
		smp_store_mb(*slot, 0);
		s->taken++;
		n++;
	}
	via_kernel_post(vi, recv, n);
	return more ? VIA_SCAN_MORE : 0;
}

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	struct side *s = via_kernel_vi_priv(vi);

	d->seg[0].addr = (uintptr_t)s->buf;
	d->seg[0].len = BYTES;
	d->nsegs = 1;
	d->length = BYTES;
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
	struct side *s = via_kernel_vi_priv(vi);

	s->bad |= !!(done->status & VIA_ST_ERROR_MASK);
	if (!recv) {
		WRITE_ONCE(s->done, s->done + 1);
	} else if (!(done->status & VIA_ST_ERROR_MASK)) {
		WRITE_ONCE(s->arrived, s->arrived + 1);
		via_kernel_post(vi, true, 1);
	}
}

static void moved(struct via_vi *vi, u32 from)
{
	struct side *s = via_kernel_vi_priv(vi);

	if (vi->state == VIA_STATE_CONNECTED)
		WRITE_ONCE(s->up, true);
	else if (from == VIA_STATE_CONNECTED)
		WRITE_ONCE(s->over, true);
}

static const struct via_kernel_ops hooks = {
	.scan = scan,
	.load = load,
	.complete = complete,
	.settle = consumer_settle,
	.moved = moved,
	.gone = consumer_gone,
};

static void begin(struct side *s, const char *nic)
{
	static const struct via_kernel_limits limits = { .vis = 1 };
	const struct via_vi_attrs attrs = {
		.reliability = VIA_RELIABLE_DELIVERY,
		.max_transfer = 32768,
	};

	s->buf = kzalloc(BYTES, GFP_KERNEL);
	s->f = via_kernel_open(&init_net, nic, 0, &hooks, &limits, s);
	sim_expect(s->buf && !IS_ERR(s->f), "");
	s->vi = via_kernel_vi_make(s->f, &attrs, s);
	sim_expect(!IS_ERR(s->vi), "");
	/* What it has is posted again as it comes: see complete(). */
	via_kernel_post(s->vi, true, ENTRIES);
}

static void end(struct side *s)
{
	via_kernel_vi_destroy(s->vi);
	via_kernel_close(s->f);
	kfree(s->buf);
}

static void serve(void *arg)
{
	struct side *s = &side[0];

	begin(s, "via_a");
	consumer_listen(&s->port, s->f, PORT);
	WRITE_ONCE(listens, true);
	consumer_await(&s->port);
	sim_expect(!via_kernel_accept(s->vi, s->port.asked, NULL, 0), "");
	while (!READ_ONCE(s->over))
		sim_pause(100000);
	sim_expect(s->arrived == MESSAGES, "%u messages of %u", s->arrived,
		   MESSAGES);
	via_kernel_unlisten(&s->port.listener);
	end(s);
	via_conn_put(s->port.asked);
	WRITE_ONCE(ended, true);
}

/* As libsiw does: the doorbell is for a queue that is not being looked at. */
static void post(struct side *s, u32 i)
{
	WRITE_ONCE(s->valid[i % ENTRIES], 1);
	/* Pairs with the barrier of scan(). */
	smp_mb();
	if (!i || !READ_ONCE(s->valid[(i - 1) % ENTRIES]))
		via_kernel_ring(s->vi, false);
}

static void sends(struct side *s)
{
	struct via_net_addr local = { .disc_len = 3, .disc = "me" };
	struct via_net_addr remote = {
		.host_len = ETH_ALEN,
		.disc_len = sizeof(PORT),
	};
	u32 i;

	memcpy(remote.disc, PORT, sizeof(PORT));
	memcpy(remote.host, server_mac, ETH_ALEN);
	begin(s, "via_b");
	sim_expect(!via_kernel_connect(s->vi, &local, &remote, 50 * SEC), "");
	while (!READ_ONCE(s->up))
		sim_pause(100000);
	for (i = 0; i < MESSAGES; i++) {
		while (i - READ_ONCE(s->done) >= ENTRIES && !s->over)
			sim_pause(sim_dice(2) * 1000 + 1);
		post(s, i);
		/* About as long as an acknowledgement takes: scans and doorbells meet. */
		if (rests && sim_dice(2))
			sim_pause(sim_dice(rests) + 1);
	}
	while (READ_ONCE(s->done) < MESSAGES && !READ_ONCE(s->over))
		sim_pause(100000);
	sim_expect(!s->bad && s->done == MESSAGES, "%u sent of %u", s->done,
		   MESSAGES);
	end(s);
}

static void scanned(void)
{
	struct sim_nic *a = sim_nic_up("a", 1), *b = sim_nic_up("b", 2);

	sim_config.max_time = sim_clock + 100 * SEC;
	memset(side, 0, sizeof(side));
	rests = sim_dice(2) * 100000;
	listens = false;
	ended = false;
	sim_wire.loss = sim_dice(2) * 100;
	server_mac = sim_nic_mac(a);
	sim_kthread("server", serve, NULL);
	while (!READ_ONCE(listens))
		sim_pause(100000);
	sends(&side[1]);
	while (!READ_ONCE(ended))
		sim_pause(100000);
	sim_nic_down(a);
	sim_nic_down(b);
}

SIM_SCENARIO(.name = "kernel-scan", .run = scanned, .runs = 60,
	     .max_vi = 16,
	     .what = "a consumer whose program rings only where nobody looks already")
