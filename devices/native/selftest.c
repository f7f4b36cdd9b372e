// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The self-test of a native interface: ethtool -t, via selftest.
 *
 * The chip gives back what it sends (chip->loopback).  Frames of a kind that
 * means nothing to others go through the ring, the chip, the other ring, the
 * interrupt and the poll, as all frames do; they are compared where a packet
 * socket would have them.  No part of the path knows of it.
 *
 * RTNL all the time.  The wire is not looked at meanwhile (n->testing), and the
 * interface has no carrier; VI frames that are sent go round and are dropped by
 * the address filter, which for the VIs is a wire that loses frames.
 */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/random.h>
#include "native.h"

#define PATIENCE_MS	2000		/* for a frame to come back */
#define BATCH		16		/* frames under way at once */
#define COALESCE_USECS	16000
#define COALESCE_FRAMES	64

/* The payload: which frame, of which test, and a pattern. */
struct payload {
	__be32 number;
	__be32 cookie;
	u8 pattern[];
} __packed;

/**
 * struct bench - a test under way
 * @n:		constant
 * @cookie:	constant: no other frame has it
 * @tap:	where frames come back
 * @put:	frames given to the ring
 * @got:	NAPI: frames that came back as they were
 * @next:	NAPI: the number that is to come, or a later one
 * @bad:	NAPI: frames that came back otherwise, or again
 * @irqs:	interrupts that the chip's handler had work of
 */
struct bench {
	struct via_native *n;
	__be32 cookie;
	struct packet_type tap;
	u32 put;
	u32 got;
	u32 next;
	u32 bad;
	u32 irqs;
};

/* Every length from the shortest to the longest, in no order. */
static u32 length_of(u32 number)
{
	return ETH_ZLEN + number * 97 % (ETH_FRAME_LEN - ETH_ZLEN + 1);
}

static u8 pattern_byte(u32 number, u32 at)
{
	return number + at * 7;
}

/* Frames. */

static struct sk_buff *make_frame(struct bench *b, u32 number)
{
	struct net_device *dev = b->n->dev;
	u32 len = length_of(number), i;
	struct payload *p;
	struct ethhdr *eth;
	struct sk_buff *skb;

	skb = netdev_alloc_skb(dev, len);
	if (!skb)
		return NULL;
	eth = skb_put(skb, len);
	ether_addr_copy(eth->h_dest, dev->dev_addr);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = htons(ETH_P_LOOPBACK);
	p = (struct payload *)(eth + 1);
	p->number = htonl(number);
	p->cookie = b->cookie;
	for (i = 0; i < len - ETH_HLEN - sizeof(*p); i++)
		p->pattern[i] = pattern_byte(number, i);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth->h_proto;
	return skb;
}

/* Into the ring; with @more the chip is not told.  False: there is no room. */
static bool put_frame(struct bench *b, bool more)
{
	struct net_device *dev = b->n->dev;
	struct netdev_queue *txq = via_native_txq(b->n);
	struct sk_buff *skb = make_frame(b, b->put);
	bool taken = false;

	if (!skb)
		return false;
	local_bh_disable();
	__netif_tx_lock(txq, smp_processor_id());
	if (!netif_xmit_stopped(txq))
		taken = netdev_start_xmit(skb, dev, txq, more) == NETDEV_TX_OK;
	__netif_tx_unlock(txq);
	local_bh_enable();
	if (taken)
		b->put++;
	else
		kfree_skb(skb);
	return taken;
}

static bool is_as_it_was(const struct payload *p, u32 number, u32 len)
{
	u32 i;

	if (len != length_of(number))
		return false;
	for (i = 0; i < len - ETH_HLEN - sizeof(*p); i++)
		if (p->pattern[i] != pattern_byte(number, i))
			return false;
	return true;
}

/* In NAPI. */
static int take_frame(struct sk_buff *skb, struct net_device *dev,
		      struct packet_type *pt, struct net_device *orig)
{
	struct bench *b = container_of(pt, struct bench, tap);
	const struct payload *p = (const void *)skb->data;
	u32 number;

	if (skb->protocol == htons(ETH_P_LOOPBACK) &&
	    skb->pkt_type != PACKET_OUTGOING && !skb_is_nonlinear(skb) &&
	    skb->len >= sizeof(*p) && p->cookie == b->cookie) {
		number = ntohl(p->number);
		if (number >= b->next && number < READ_ONCE(b->put) + 1 &&
		    is_as_it_was(p, number, skb->len + ETH_HLEN)) {
			b->next = number + 1;
			WRITE_ONCE(b->got, b->got + 1);
		} else {
			WRITE_ONCE(b->bad, b->bad + 1);
		}
	}
	kfree_skb(skb);
	return 0;
}

/*
 * Behind the chip's own handler on the same line: did that have work?  If so the
 * poll is to run, and cannot have run since.
 */
static irqreturn_t count_irq(int irq, void *arg)
{
	struct bench *b = arg;

	if (test_bit(NAPI_STATE_SCHED, &b->n->napi.state))
		WRITE_ONCE(b->irqs, b->irqs + 1);
	return IRQ_NONE;
}

/* Until no more come: how many have. */
static u32 wait_calm(struct bench *b)
{
	u32 got;

	do {
		got = READ_ONCE(b->got);
		msleep(20);
	} while (READ_ONCE(b->got) != got);
	return got;
}

/* Until so many frames have come back, and they alone. */
static int wait_got(struct bench *b, u32 got)
{
	unsigned long end = jiffies + msecs_to_jiffies(PATIENCE_MS);

	while (READ_ONCE(b->got) < got && time_before(jiffies, end))
		usleep_range(50, 200);
	if (READ_ONCE(b->bad))
		return -EBADMSG;
	return READ_ONCE(b->got) == got ? 0 : -ETIMEDOUT;
}

/* A frame, as soon as there is room; the chip is told. */
static int put_soon(struct bench *b)
{
	unsigned long end = jiffies + msecs_to_jiffies(PATIENCE_MS);

	while (!put_frame(b, false)) {
		if (time_after(jiffies, end))
			return -ENOBUFS;
		usleep_range(50, 200);
	}
	return 0;
}

/* Frames one behind the other; all come back. */
static int go_round(struct bench *b, u32 frames)
{
	u32 got = READ_ONCE(b->got), i;
	int err = 0;

	for (i = 0; i < frames && !err; i++)
		err = put_soon(b);
	return err ?: wait_got(b, got + frames);
}

/* The tests: 0 or -errno. */

/* All that the chip is told lies where its addresses reach. */
static int test_dma(struct bench *b)
{
	const struct via_native *n = b->n;
	u64 mask = DMA_BIT_MASK(n->chip->dma_bits);
	const struct via_native_ring *ring[] = { &n->tx, &n->rx };
	u32 i, k;

	if (dma_get_mask(&n->pdev->dev) != mask)
		return -ERANGE;
	for (k = 0; k < ARRAY_SIZE(ring); k++) {
		if (ring[k]->dma + ring[k]->slots * n->chip->desc_size - 1 >
		    mask)
			return -ERANGE;
		for (i = 0; i < ring[k]->slots; i++)
			if (ring[k]->buf[i].dma + n->buf_size - 1 > mask)
				return -ERANGE;
	}
	return 0;
}

static int test_loopback(struct bench *b)
{
	unsigned long end = jiffies + msecs_to_jiffies(PATIENCE_MS);
	int err = 0, i;

	/* It may take a moment until the first one comes back. */
	while (!wait_calm(b) && time_before(jiffies, end))
		put_frame(b, false);
	for (i = 0; i < BATCH && !err; i++)
		err = go_round(b, 1);
	return err;
}

/* Both rings go round three times. */
static int test_wrap(struct bench *b)
{
	u32 frames = 3 * max(b->n->tx.slots, b->n->rx.slots), i;
	int err = 0;

	for (i = 0; i < frames && !err; i += BATCH)
		err = go_round(b, BATCH);
	return err;
}

/* As many frames as the ring takes, and then the chip is told. */
static int test_tx_full(struct bench *b)
{
	u32 got = READ_ONCE(b->got), before = b->put;
	u64 full = READ_ONCE(b->n->tx_stats.full);
	int err;

	while (READ_ONCE(b->n->tx_stats.full) == full) {
		if (b->put - before > b->n->tx.slots)
			return -ENOSPC;		/* it has no end */
		if (!put_frame(b, true))
			return -ENOBUFS;
	}
	err = put_soon(b) ?: wait_got(b, got + b->put - before);
	return err ?: go_round(b, BATCH);
}

/* More frames than the ring takes, while the poll is held. */
static int test_rx_full(struct bench *b)
{
	u32 frames = b->n->rx.slots + b->n->rx.slots / 4, got;
	unsigned long end = jiffies + msecs_to_jiffies(PATIENCE_MS);
	u32 before = READ_ONCE(b->got), i;

	napi_disable(&b->n->napi);
	for (i = 0; i < frames && time_before(jiffies, end); ) {
		if (put_frame(b, false))
			i++;
		else
			usleep_range(50, 200);
		/* Without the poll no sender is woken. */
		netif_tx_start_queue(via_native_txq(b->n));
	}
	msleep(20);
	napi_enable(&b->n->napi);
	local_bh_disable();
	napi_schedule(&b->n->napi);
	local_bh_enable();
	/* What the chip had no room for is lost. */
	got = wait_calm(b);
	if (i < frames)
		return -ENOBUFS;
	if (got - before < b->n->rx.slots / 2)
		return -ETIMEDOUT;
	return go_round(b, BATCH);
}

/* One comes, none while they are masked, and that one when they are not. */
static int test_irq(struct bench *b)
{
	struct via_native *n = b->n;
	u32 got, irqs = READ_ONCE(b->irqs);
	int err = go_round(b, 1);

	if (err)
		return err;
	if (READ_ONCE(b->irqs) == irqs)
		return -EIO;
	msleep(20);			/* what came of it is over */
	napi_synchronize(&n->napi);
	n->chip->mask(n);
	irqs = READ_ONCE(b->irqs);
	got = READ_ONCE(b->got);
	if (!put_frame(b, false))
		return -ENOBUFS;
	msleep(20);
	if (READ_ONCE(b->irqs) != irqs || READ_ONCE(b->got) != got)
		err = -EISNAM;
	n->chip->unmask(n);
	return wait_got(b, got + 1) ?: err;
}

/* Not more interrupts than the time between two allows. */
static int test_coalesce(struct bench *b)
{
	struct via_native *n = b->n;
	u32 usecs = min_t(u32, n->chip->max_usecs, COALESCE_USECS);
	u32 was = n->usecs, got = READ_ONCE(b->got), irqs, i, most;
	ktime_t start;
	int err = 0;

	n->usecs = usecs;
	n->chip->coalesce(n);
	start = ktime_get();
	irqs = READ_ONCE(b->irqs);
	for (i = 0; i < COALESCE_FRAMES && !err; i++) {
		err = put_frame(b, false) ? 0 : -ENOBUFS;
		usleep_range(100, 200);
	}
	err = err ?: wait_got(b, got + COALESCE_FRAMES);
	most = ktime_us_delta(ktime_get(), start) / usecs + 3;
	irqs = READ_ONCE(b->irqs) - irqs;
	n->usecs = was;
	n->chip->coalesce(n);
	return err ?: irqs > most ? -EOVERFLOW : 0;
}

static int test_link(struct via_native *n)
{
	/* It is looked at every two seconds while that is up. */
	if (!netif_running(n->dev))
		return -ENETDOWN;
	return netif_carrier_ok(n->dev) ? 0 : -ENOLINK;
}

static const struct {
	char name[ETH_GSTRING_LEN];
	int (*run)(struct bench *b);	/* none: without the chip's loopback */
} tests[] = {
	{ "link", NULL },
	{ "DMA addresses", test_dma },
	{ "loopback", test_loopback },
	{ "rings wrap", test_wrap },
	{ "transmit ring full", test_tx_full },
	{ "receive ring full", test_rx_full },
	{ "interrupt", test_irq },
	{ "coalescing", test_coalesce },
};

u32 via_native_test_count(const struct via_native *n)
{
	/* The last one is for chips that can. */
	return ARRAY_SIZE(tests) - !n->chip->max_usecs;
}

void via_native_test_names(const struct via_native *n, u8 *to)
{
	u32 i;

	for (i = 0; i < via_native_test_count(n); i++)
		memcpy(to + i * ETH_GSTRING_LEN, tests[i].name,
		       ETH_GSTRING_LEN);
}

/* A test that needs those before it is not run after one that failed. */
static bool run_all(struct bench *b, u64 *data)
{
	bool good = true;
	u32 i;
	int err;

	for (i = 1; i < via_native_test_count(b->n); i++) {
		err = good ? tests[i].run(b) : -ECANCELED;
		data[i] = -err;
		good = !err;
	}
	return good;
}

static bool test_offline(struct via_native *n, u64 *data)
{
	struct bench b = {
		.n = n,
		.cookie = (__force __be32)get_random_u32(),
		.tap = {
			.type = htons(ETH_P_ALL),
			.dev = n->dev,
			.func = take_frame,
		},
	};
	bool good = false;
	u32 i;
	int err;

	err = via_native_test_begin(n);
	if (err)
		goto out;
	err = request_irq(n->irqs.irq, count_irq, IRQF_SHARED, "via selftest",
			  &b);
	if (err)
		goto err_irq;
	dev_add_pack(&b.tap);
	good = run_all(&b, data);
	dev_remove_pack(&b.tap);
	free_irq(n->irqs.irq, &b);
err_irq:
	via_native_test_end(n);
out:
	for (i = 1; err && i < via_native_test_count(n); i++)
		data[i] = -err;
	return good;
}

/* RTNL. */
void via_native_self_test(struct net_device *dev, struct ethtool_test *etest,
			  u64 *data)
{
	struct via_native *n = netdev_priv(dev);
	bool good = true;

	memset(data, 0, via_native_test_count(n) * sizeof(*data));
	/* First: the wire is negotiated anew after the others. */
	data[0] = -test_link(n);
	if (etest->flags & ETH_TEST_FL_OFFLINE)
		good = test_offline(n, data);
	if (!good || data[0])
		etest->flags |= ETH_TEST_FL_FAILED;
}
