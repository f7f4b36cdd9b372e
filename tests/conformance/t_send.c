// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Messages of every size and shape: section 7. */
#include "loss.h"

/* Content of its own for each message, so that a stale one is seen. */
static void one(struct pair *p, struct xfer tx, struct xfer rx, bool back)
{
	static uint32_t count;

	tx.seed = rx.seed = env.seed * 7919 + ++count;
	if (back)
		deliver_back(p, &tx, &rx);
	else
		deliver(p, &tx, &rx);
}

static void sizes(void)
{
	uint32_t mtu = env.nic.attr.NativeMTU, max;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	max = p.attr.MaxTransferSize;
	if (max > 262144)
		max = 262144;
	if (mtu > max / 4)
		mtu = max / 4;
	{
		const uint32_t s[] = {
			0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 255,
			256, 1000, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu,
			2 * mtu + 1, 4095, 4096, 4097, 7 * mtu + 13, 65535,
			65536, 65537, max - 1, max,
		};

		for (i = 0; i < ARRAY_SIZE(s); i++) {
			about("%u bytes", s[i]);
			one(&p, our_buf(0, s[i], 1), peer_buf(0, s[i], 1),
			    false);
			if (i % 4 == 0)
				one(&p, peer_buf(0, s[i], 1),
				    our_buf(0, s[i], 1), true);
		}
	}
	pair_close(&p);
}

/* Gather on one side, scatter on the other, cut in different places. */
static void segments(void)
{
	static const uint16_t n[] = { 0, 1, 2, 3, 4, 5, 16, 17, 100, 251, 252 };
	static const uint32_t lens[] = { 0, 1, 251, 3000, 20000 };
	struct pair p;
	unsigned int i, j;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(n); i++) {
		for (j = 0; j < ARRAY_SIZE(lens); j++) {
			uint32_t len = n[i] ? lens[j] : 0;
			uint16_t m = len ? n[ARRAY_SIZE(n) - i] : n[i];

			if (i < 2)
				m = len ? 3 : n[i];
			about("%u bytes in %u segments, to %u", len, n[i], m);
			if ((i + j) & 1)
				one(&p, our_buf(0, len, n[i]),
				    peer_buf(0, len, m), false);
			else
				one(&p, peer_buf(0, len, n[i]),
				    our_buf(0, len, m), true);
			if (!n[i])
				break;
		}
	}
	pair_close(&p);
}

static void unaligned(void)
{
	static const uint32_t lens[] = { 1, 15, 64, 1500, 4096 };
	struct pair p;
	unsigned int i, j;

	pair_open(&p, NULL);
	for (i = 0; i < 9; i++) {
		for (j = 0; j < ARRAY_SIZE(lens); j++) {
			/* Across a page boundary, in different ways. */
			size_t from = 4096 - 64 - lens[j] / 2 + i;
			size_t to = 2 * 4096 - 64 - lens[j] / 3 + 3 * i;

			if (lens[j] == 4096)
				to += 4096;
			about("%u bytes from +%zu to +%zu", lens[j], from, to);
			one(&p, our_buf(from, lens[j], 1),
			    peer_buf(to, lens[j], 1), false);
		}
	}
	pair_close(&p);
}

/* C11: zero bytes, in both forms at both ends. */
static void zero(void)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 4; i++) {
		about("send of %u segments to receive of %u", i & 1, i >> 1);
		one(&p, our_buf(0, 0, i & 1), peer_buf(0, 0, i >> 1), false);
		one(&p, peer_buf(0, 0, i & 1), our_buf(0, 0, i >> 1), true);
	}
	about("into a larger buffer");
	one(&p, our_buf(0, 0, 0), peer_buf(0, 100, 2), false);
	pair_close(&p);
}

/* A message may be shorter than its buffer; C17. */
static void shorter(void)
{
	static const uint32_t lens[] = { 0, 1, 99, 100, 101, 199, 200 };
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		about("%u bytes into 200", lens[i]);
		one(&p, our_buf(0, lens[i], 1), peer_buf(0, 200, 3), false);
		one(&p, peer_buf(0, lens[i], 2), our_buf(0, 200, 2), true);
	}
	pair_close(&p);
}

/* C3, C4: a completed descriptor goes straight back into the queue. */
static struct burst again(void)
{
	struct burst b = { .n = 20 };
	struct xfer tx = our_buf(0, 50, 1), rx = peer_buf(0, 50, 1);
	unsigned int i;
	VIP_DESCRIPTOR *d;
	struct ctl_msg m;
	struct done s;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	d = pair_post(&p, SENDQ, &tx);
	for (i = 0; i < 20; i++) {
		about("round %u", i);
		s = wait_done(p.vi, SENDQ, LONG_MS);
		CHECK_RC(s.rc, VIP_SUCCESS);
		CHECK(s.d == d);
		CHECK_EQ(s.status, VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
		CHECK_EQ(s.length, 50);
		m = peer_wait(p.pvi, RECVQ, patience());
		if (!lost(m.rc, m.status)) {
			CHECK_RC(m.rc, VIP_SUCCESS);
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
			b.got++;
		}
		d->CS.Next.AddressBits = i;
		CHECK_RC(VipPostSend(p.vi, d, env.nic.slots_h), VIP_SUCCESS);
	}
	CHECK_RC(wait_done(p.vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	pair_close(&p);
	return b;
}

static void repost(void)
{
	until_it_came(again);
}

#define EACH	8	/* messages in either direction */

/* What has come to us, and to the peer, with the lengths that tell which. */
static void came_to_us(struct pair *p, struct burst *b)
{
	struct done r = wait_done(p->vi, RECVQ, patience());
	struct xfer x;

	if (!came(b, r.rc, r.status, r.length - 4500))
		return;
	x = *nic_posted(&env.nic, r.d);
	if (reliable()) {
		CHECK_EQ(xfer_wrong(&x, r.length), 0);
	} else {
		x.seed = b->next;
		CHECK_EQ(xfer_wrong_after_loss(&x, r.length), 0);
	}
}

static void came_to_peer(struct pair *p, struct burst *b)
{
	struct ctl_msg m = peer_wait_verify(p->pvi, RECVQ, patience(),
					    reliable());

	if (!came(b, m.rc, m.status, m.length - 4000))
		return;
	m.x.seed = b->next;
	if (reliable())
		CHECK_EQ(m.bad, 0);
	else
		CHECK_EQ(peer_wrong_after_loss(&m.x, m.length), 0);
}

/* Both directions at once, several each; returns the worse of the two. */
static struct burst crossing(void)
{
	struct burst in = { .n = EACH }, out = { .n = EACH };
	struct xfer t, r;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < EACH; i++) {
		r = peer_buf(i * 8192, 5000, 2);
		t = our_buf(i * 8192, 5000, 2);
		r.seed = t.seed = i + 1;
		CHECK_RC(peer_post(p.pvi, RECVQ, &r), VIP_SUCCESS);
		pair_post(&p, RECVQ, &t);
	}
	for (i = 0; i < EACH; i++) {
		t = our_buf(100000 + i * 8192, 4000 + i, 3);
		r = peer_buf(100000 + i * 8192, 4500 + i, 3);
		r.seed = t.seed = i + 1;
		CHECK_RC(peer_post(p.pvi, SENDQ, &r), VIP_SUCCESS);
		pair_post(&p, SENDQ, &t);
	}
	for (i = 0; i < EACH; i++) {
		about("message %u", i);
		if (!out.over)
			came_to_peer(&p, &out);
		if (!in.over)
			came_to_us(&p, &in);
		CHECK_RC(wait_done(p.vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
		CHECK_RC(peer_wait(p.pvi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	}
	pair_close(&p);
	return in.got < out.got ? in : out;
}

static void both_ways(void)
{
	until_it_came(crossing);
}

static const struct group groups[] = {
	{ "send.sizes", "7.3, 7.4, 12 MaxTransferSize", sizes,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "send.segments", "3 descriptors, 12 MaxSegmentsPerDesc", segments,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "send.unaligned", "3 data segments have any alignment", unaligned,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "send.zero", "C11, 7.4", zero, G_PEER | G_LEVELS | G_EARLY | G_SUNNY,
	  0 },
	{ "send.shorter", "3 Length after completion, C17", shorter,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "send.repost", "C3, C4", repost, G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "send.both_ways", "7.1 queues are independent", both_ways,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
};

NOUN(send, groups);
