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
	s->buf = kzalloc(BYTES, GFP_KERNEL);
	sim_expect(s->buf, "");
	s->vi = consumer_open(&s->f, nic, &hooks, s);
	/* What it has is posted again as it comes: see complete(). */
	via_kernel_post(s->vi, true, ENTRIES);
}

static void serve(void *arg)
{
	struct side *s = &side[0];

	begin(s, "via_a");
	consumer_listen(&s->port, s->f, PORT);
	WRITE_ONCE(listens, true);
	consumer_await(&s->port);
	sim_ok(via_kernel_accept(s->vi, s->port.asked, NULL, 0));
	sim_await(READ_ONCE(s->over), 100000);
	sim_expect(s->arrived == MESSAGES, "%u messages of %u", s->arrived,
		   MESSAGES);
	consumer_close(s->f, s->vi, &s->port);
	kfree(s->buf);
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
	u32 i;

	begin(s, "via_b");
	consumer_ask(s->vi, host_mac(0), PORT);
	sim_await(READ_ONCE(s->up), 100000);
	for (i = 0; i < MESSAGES; i++) {
		while (i - READ_ONCE(s->done) >= ENTRIES && !s->over)
			sim_pause(sim_dice(2) * 1000 + 1);
		post(s, i);
		/* About as long as an acknowledgement takes: scans and doorbells meet. */
		if (rests && sim_dice(2))
			sim_pause(sim_dice(rests) + 1);
	}
	sim_await(READ_ONCE(s->done) >= MESSAGES || READ_ONCE(s->over), 100000);
	sim_expect(!s->bad && s->done == MESSAGES, "%u sent of %u", s->done,
		   MESSAGES);
	via_kernel_vi_destroy(s->vi);
	via_kernel_close(s->f);
	kfree(s->buf);
}

static void scanned(void)
{
	hosts_up(2);
	memset(side, 0, sizeof(side));
	rests = sim_dice(2) * 100000;
	listens = false;
	ended = false;
	sim_wire.loss = sim_dice(2) * 100;
	sim_kthread("server", serve, NULL);
	sim_await(READ_ONCE(listens), 100000);
	sends(&side[1]);
	sim_await(READ_ONCE(ended), 100000);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-scan", .run = scanned, .runs = 60, .max_vi = 16,
	     .seconds = 100,
	     .what = "a consumer whose program rings only where nobody looks already")
