// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_igb: Intel 82576 as a network interface and a VI NIC at once, with rings
 * of their own for VI frames and for IP.
 *
 * Theory of operation.  The chip has 16 pairs of rings of 16-byte "advanced"
 * descriptors in our memory, each ring with a head that the chip moves and a
 * tail that we move: what lies between belongs to the chip.  Each descriptor
 * keeps its buffer for good (native/native.h has the reasons).
 *
 * Pairs.  A filter by EtherType gives VI frames to the first pair, and a hash
 * over addresses and ports spreads IP over the others.  What is neither (ARP
 * above all) has no hash and comes by the first.  So an IP flood fills rings
 * and keeps interrupts and polls busy that no VI frame passes.  A full receive
 * ring drops its own frames and holds up no other.
 *
 * Transmit.  A frame is one descriptor, and one for each fragment of a payload
 * that the chip fetches from the program's memory; a write to the tail makes
 * the chip send up to there.  TCP's longer packets are cut up by the chip: a
 * context descriptor says how, and as many data descriptors follow as there
 * are slots to copy the packet to.  The chip reports a frame's last descriptor
 * alone, so the place of that is kept for the others.
 *
 * Receive.  A frame is always one descriptor: 2 KiB a buffer and longer
 * frames dropped by the chip, or, with an MTU beyond 1500, 16 KiB a buffer.
 * What the chip reports lies where the buffer's address was, so that is written
 * anew.  The tail is moved once a poll; it always stays one slot behind, since
 * head and tail being equal means that nothing is there.
 *
 * Interrupts, by MSI-X alone.  Vector i, and bit i of the causes (EICR), is
 * that of pair i's received frames; one is for changes of the wire, and one
 * for all frames sent, which is masked unless a sender waits for room.  A
 * cause is cleared by its message.  The handler masks its own and leaves the
 * rest to the poll; a frame that comes meanwhile is a cause that interrupts
 * when it is unmasked.  So there is nothing to acknowledge where no program
 * polls, and at most one interrupt too many behind a poll.
 *
 * The wire.  The transceiver negotiates by itself, and the chip takes over
 * speed and duplex; STATUS tells them.  A change interrupts.
 *
 * Address filter: 24 exact addresses, and a table of 4,096 bits for hashed
 * multicast ones.
 *
 * Locking: native/native.h.
 */

#include <linux/bitfield.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/ip6_checksum.h>
#include "igb.h"
#include "native/cut.h"
#include "native/path.h"

#define JUMBO_BUF	16384u
#define TSO_SLOTS	(1 + DIV_ROUND_UP(GSO_LEGACY_MAX_SIZE + MAX_HEADER, \
					  VIA_NATIVE_BUF))
#define MORE		2u		/* pairs for IP, at most */

#define EIMS		0x1524
#define EICR		0x1580		/* writing ones clears */
#define EIAC		0x152c		/* cleared by their message */
#define EIAM		0x1530		/* and masked by it */
#define GPIE		0x1514
#define GPIE_MSIX	(BIT(0) | BIT(4) | BIT(31))
#define EITR(i)		(0x1680 + 4 * (i))	/* least time between two */
#define EITR_USECS	GENMASK(14, 2)
#define EITR_NOW	BIT(31)		/* the time that runs goes on */
#define USECS_MAX	8191
#define TX_USECS	50
#define IVAR(i)		(0x1700 + 4 * (i))	/* of a pair: its vectors */
#define IVAR_RX		GENMASK(7, 0)
#define IVAR_TX		GENMASK(15, 8)
#define IVAR_MISC	0x1740
#define IVAR_OTHER	GENMASK(15, 8)
#define IVAR_VALID	BIT(7)
#define IMS		0x00d0
#define INT_LINK	BIT(2)

#define RCTL_ENABLE	BIT(1)
#define RCTL_PROMISC	BIT(3)
#define RCTL_MULTICAST	BIT(4)
#define RCTL_LONG	BIT(5)		/* frames beyond 1522 bytes */
#define RCTL_BROADCAST	BIT(15)
#define RCTL_STRIP_CRC	BIT(26)
#define TCTL_ENABLE	BIT(1)
#define TCTL_PAD	BIT(3)
#define TCTL_RETRIES	(15 << 4)
#define TCTL_DISTANCE	(0x40 << 12)	/* collision distance, byte times */
#define TCTL_LATE	BIT(24)		/* late collisions are repeated, too */

/* Of pair @i, which is one of the first four. */
#define RX(i)		(0x2800 + 0x100 * (i))
#define TX(i)		(0x3800 + 0x100 * (i))
#define RING_LOW	0x00
#define RING_HIGH	0x04
#define RING_BYTES	0x08
#define RING_HEAD	0x10
#define RING_TAIL	0x18
#define RING_CONTROL	0x28
#define RX_FORM		0x0c
#define FORM_KIB	GENMASK(6, 0)	/* of a buffer */
#define FORM_ADVANCED	BIT(25)
#define FORM_DROP	BIT(31)		/* frames without a buffer, at once */
#define RX_DROPPED	0x30		/* cleared by reading */
/* Fetched ahead when 8 are left; written back each. */
#define RING_ON		(8 | 8 << 8 | 1 << 16 | BIT(25))

#define RLPML		0x5004		/* longest frame, with its checksum */
#define RLPML_MAX	9728
#define MPC		0x4010		/* missed frames, cleared by reading */
#define RXCSUM		0x5000
#define RXCSUM_IP	BIT(8)
#define RXCSUM_TCP	BIT(9)
#define RXCSUM_HASH	BIT(13)		/* which takes the sum's place */
#define MTA		0x5200		/* hash table, 128 longwords */
#define MTA_WORDS	128
#define EXACT		24
#define ETQF(i)		(0x5cb0 + 4 * (i))	/* EtherType to a pair */
#define ETQF_COUNT	8
#define ETQF_PAIR	GENMASK(18, 16)
#define ETQF_ON		(BIT(26) | BIT(31))
#define MRQC		0x5818		/* what decides about the pair */
#define MRQC_HASH	2
#define MRQC_FIELDS	(BIT(16) | BIT(17) | BIT(18) | BIT(20) | BIT(21))
#define MRQC_UDP	(BIT(22) | BIT(23))
#define RETA(i)		(0x5c00 + 4 * (i))	/* hash to a pair, by bytes */
#define RETA_BYTES	128
#define RSSRK(i)	(0x5c80 + 4 * (i))	/* its key */
#define RSSRK_WORDS	10

/* As the chip reads it, and as it reports. */
struct rx_desc {
	__le64 addr;			/* kind and hash of the frame */
	__le32 status;
	__le16 length;
	__le16 vlan;
};

#define RX_DONE		BIT(0)
#define RX_LAST		BIT(1)
#define RX_TCP_SUM	BIT(5)		/* or UDP's */
#define RX_BAD_SUM	(BIT(29) | BIT(30))
#define RX_DAMAGED	BIT(31)

struct tx_desc {
	__le64 addr;
	__le32 command;
	__le32 status;			/* and what more to do */
};

/* How to cut a packet up. */
struct tx_context {
	__le32 lengths;
	__le32 reserved;
	__le32 command;
	__le32 mss;
};

#define TX_CONTEXT	BIT(21)
#define TX_DATA		(BIT(20) | BIT(21))
#define TX_LAST		BIT(24)
#define TX_CRC		BIT(25)
#define TX_REPORT	BIT(27)
#define TX_ADVANCED	BIT(29)
#define TX_CUT		BIT(31)
#define TX_DONE		BIT(0)		/* of status */
#define TX_IP_SUM	BIT(8)
#define TX_TCP_SUM	BIT(9)
#define TX_BYTES	GENMASK(31, 14)	/* of the frame, or of the payload */
#define CONTEXT_IP	GENMASK(8, 0)	/* of lengths */
#define CONTEXT_MAC	GENMASK(15, 9)
#define CONTEXT_IPV4	BIT(10)		/* of command */
#define CONTEXT_TCP	BIT(11)
#define CONTEXT_L4	GENMASK(15, 8)	/* of mss */
#define CONTEXT_MSS	GENMASK(31, 16)

/* Vectors behind those of the pairs, in the order of irqs.own. */
static inline u32 bit_of_link(const struct via_native *n)
{
	return BIT(n->pairs);
}

static inline u32 bit_of_tx(const struct via_native *n)
{
	return BIT(n->pairs + 1);
}

static inline struct via_native *nic_of(const struct via_native *pair)
{
	return netdev_priv(pair->dev);
}

/* The short path, of any pair. */

static inline struct tx_desc *tx_desc(struct via_native *n, u32 i)
{
	return (struct tx_desc *)n->tx.desc + i;
}

static inline struct rx_desc *rx_desc(struct via_native *n, u32 i)
{
	return (struct rx_desc *)n->rx.desc + i;
}

/* The chip sees it when the tail has moved.  @last: slot of the frame's end. */
static inline void igb_fill_desc(struct via_native *n, u32 i, dma_addr_t addr,
				 u32 command, u32 status, u32 last)
{
	struct tx_desc *d = tx_desc(n, i);

	d->addr = cpu_to_le64(addr);
	d->command = cpu_to_le32(command | TX_DATA | TX_ADVANCED | TX_CRC);
	d->status = cpu_to_le32(status);
	igb(n)->last[i] = last;
}

static inline void tx_fill(struct via_native *n, u32 i, u32 len, bool irq)
{
	igb_fill_desc(n, i, n->tx.buf[i].dma, TX_LAST | TX_REPORT | len,
		      FIELD_PREP(TX_BYTES, len), i);
}

/* The headers in the slot's buffer, and a descriptor for each fragment. */
static inline u32 tx_spread(u32 n)
{
	return 1 + n;
}

static inline void tx_frags(struct via_native *n, u32 i, u32 len,
			    const struct via_frags *frags, bool irq)
{
	u32 last = (i + frags->n) & (IGB_TX_SLOTS - 1), bytes = len, at, k;

	for (k = 0; k < frags->n; k++) {
		bytes += frags->frag[k].len;
		at = (i + 1 + k) & (IGB_TX_SLOTS - 1);
		igb_fill_desc(n, at, frags->frag[k].dma, frags->frag[k].len |
			      (at == last ? TX_LAST | TX_REPORT : 0), 0, last);
	}
	igb_fill_desc(n, i, n->tx.buf[i].dma, len, FIELD_PREP(TX_BYTES, bytes),
		      last);
}

static inline void tx_kick(struct via_native *n)
{
	/* writel() orders the descriptors before the tail. */
	writel(n->tx.next & (IGB_TX_SLOTS - 1), igb(n)->tx_tail);
}

static inline bool tx_done(struct via_native *n, u32 i)
{
	const struct tx_desc *d = tx_desc(n, igb(n)->last[i]);

	return READ_ONCE(d->status) & cpu_to_le32(TX_DONE);
}

static inline int rx_frame(struct via_native *n, u32 i)
{
	struct rx_desc *d = rx_desc(n, i);
	u32 status = le32_to_cpu(READ_ONCE(d->status)), len;

	if (!(status & RX_DONE))
		return 0;
	/* The status before the rest and the bytes. */
	dma_rmb();
	len = le16_to_cpu(d->length);
	if (unlikely((status & (RX_LAST | RX_DAMAGED)) != RX_LAST || !len ||
		     len > n->buf_size))
		return -EIO;
	return len;
}

static inline bool rx_there(struct via_native *n)
{
	u32 i = READ_ONCE(n->rx.next) & (IGB_RX_SLOTS - 1);

	return READ_ONCE(rx_desc(n, i)->status) & cpu_to_le32(RX_DONE);
}

static inline bool rx_summed(struct via_native *n, u32 i)
{
	u32 status = le32_to_cpu(rx_desc(n, i)->status);

	return (status & (RX_TCP_SUM | RX_BAD_SUM)) == RX_TCP_SUM;
}

static inline void rx_give(struct via_native *n, u32 i)
{
	struct rx_desc *d = rx_desc(n, i);

	d->addr = cpu_to_le64(n->rx.buf[i].dma);
	WRITE_ONCE(d->status, 0);
	/* With the status: the address of headers, which have no buffer. */
	d->length = 0;
	d->vlan = 0;
}

static inline void rx_given(struct via_native *n)
{
	/* All looks at the bytes before; the tail is the last one given. */
	mb();
	writel((n->rx.next - 1) & (IGB_RX_SLOTS - 1), igb(n)->rx_tail);
}

/*
 * A cause clears itself, and what comes since is one again.  But while programs
 * poll it stays, of frames that they have taken, and would interrupt when they
 * end.
 */
static inline void igb_ack_irq(struct via_native *n)
{
	bool polled = READ_ONCE(n->polled);

	if (unlikely(polled || igb(n)->polled)) {
		igb(n)->polled = polled;
		put(n, EICR, BIT(n->pair));
		get(n, STATUS);
	}
}

/* Packets that the chip cuts up. */

static void put_context(struct via_native *n, const struct sk_buff *skb,
			u32 last)
{
	bool ip4 = skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4;
	u32 ip = skb_network_offset(skb), tcp = skb_transport_offset(skb);
	u32 i = via_native_take_slot(n, VIA_NATIVE_IP);

	*(struct tx_context *)tx_desc(n, i) = (struct tx_context){
		.lengths = cpu_to_le32(FIELD_PREP(CONTEXT_MAC, ip) |
				       FIELD_PREP(CONTEXT_IP, tcp - ip)),
		.command = cpu_to_le32(TX_CONTEXT | TX_ADVANCED | CONTEXT_TCP |
				       (ip4 ? CONTEXT_IPV4 : 0)),
		.mss = cpu_to_le32(FIELD_PREP(CONTEXT_L4, tcp_hdrlen(skb)) |
				   FIELD_PREP(CONTEXT_MSS,
					      skb_shinfo(skb)->gso_size)),
	};
	igb(n)->last[i] = last;
}

static void tx_gso(struct via_native *n, struct sk_buff *skb)
{
	u32 pieces = DIV_ROUND_UP(skb->len, n->buf_size), at, len, i;
	u32 last = (n->tx.next + pieces) & (IGB_TX_SLOTS - 1);
	u32 headers = skb_tcp_all_headers(skb), status;
	const struct via_native_buf *buf;

	put_context(n, skb, last);
	status = TX_TCP_SUM | FIELD_PREP(TX_BYTES, skb->len - headers);
	if (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4)
		status |= TX_IP_SUM;
	for (at = 0; at < skb->len; at += len) {
		i = via_native_take_slot(n, VIA_NATIVE_IP);
		buf = &n->tx.buf[i];
		len = min(skb->len - at, n->buf_size);
		via_native_copy_skb(skb, at, buf->data, len);
		if (!at)
			via_native_cut_headers(skb, buf->data);
		if (unlikely(n->sync))
			dma_sync_single_for_device(&n->pdev->dev, buf->dma,
						   len, DMA_TO_DEVICE);
		igb_fill_desc(n, i, buf->dma, TX_CUT | len |
			      (i == last ? TX_LAST | TX_REPORT : 0), status,
			      last);
	}
	n->tx_stats.sent[VIA_NATIVE_IP].frames += skb_shinfo(skb)->gso_segs;
	n->tx_stats.sent[VIA_NATIVE_IP].bytes += skb->len +
		(skb_shinfo(skb)->gso_segs - 1) * headers;
	skb_tx_timestamp(skb);
}

static const struct via_native_fast via_native_fast = {
	.tx_fill = tx_fill,
	.tx_frags = tx_frags,
	.tx_spread = tx_spread,
	.tx_gso = tx_gso,
	.tx_kick = tx_kick,
	.tx_done = tx_done,
	.rx_frame = rx_frame,
	.rx_there = rx_there,
	.rx_summed = rx_summed,
	.rx_give = rx_give,
	.rx_given = rx_given,
	.ack = igb_ack_irq,
};

/* Interrupts. */

static irqreturn_t igb_irq(int irq, void *arg)
{
	struct via_native *n = arg;

	/*
	 * Even if the poll is not to be had: it may be off for good.  Is it
	 * scheduled already, this makes it run once more.
	 */
	put(n, EIMC, BIT(n->pair));
	if (likely(napi_schedule_prep(&n->napi)))
		__napi_schedule_irqoff(&n->napi);
	return IRQ_HANDLED;
}

/* Unmasking is the poll's: have it run, once more if it does. */
static void run_poll(struct via_native *n)
{
	if (napi_schedule_prep(&n->napi)) {
		put(n, EIMC, BIT(n->pair));
		__napi_schedule(&n->napi);
	}
}

/* Frames were sent while senders waited, and the polls have not looked yet. */
static void tx_irq(struct via_native *n)
{
	u32 i;

	put(n, EIMC, bit_of_tx(n));
	for (i = 0; i < n->pairs; i++)
		if (READ_ONCE(via_native_pair(n, i)->waits))
			run_poll(via_native_pair(n, i));
}

static irqreturn_t igb_own_irq(int irq, void *arg)
{
	struct via_native *n = arg;

	if (irq == n->irqs.own[1]) {
		tx_irq(n);
	} else {
		/* Reading clears. */
		get(n, ICR);
		via_native_look(n);
	}
	return IRQ_HANDLED;
}

static void igb_unmask(struct via_native *n)
{
	/* Set after this, run_poll() has the poll run once more. */
	put(n, EIMS, BIT(n->pair) |
	    (READ_ONCE(n->waits) ? bit_of_tx(nic_of(n)) : 0));
}

static void igb_mask(struct via_native *n)
{
	put(n, EIMC, BIT(n->pair));
	get(n, STATUS);
}

static void igb_coalesce(struct via_native *n)
{
	u32 usecs = min_t(u32, n->usecs, USECS_MAX), i;

	for (i = 0; i < n->pairs; i++)
		put(n, EITR(i), FIELD_PREP(EITR_USECS, usecs) | EITR_NOW);
}

static void interrupts_init(struct via_native *n)
{
	u32 link = n->pairs, tx = n->pairs + 1, i;

	put(n, GPIE, GPIE_MSIX);
	put(n, EIAC, BIT(n->pairs + 2) - 1);
	put(n, EIAM, 0);
	for (i = 0; i < n->pairs; i++)
		put(n, IVAR(i), FIELD_PREP(IVAR_RX, i | IVAR_VALID) |
				FIELD_PREP(IVAR_TX, tx | IVAR_VALID));
	put(n, IVAR_MISC, FIELD_PREP(IVAR_OTHER, link | IVAR_VALID));
	igb_coalesce(n);
	put(n, EITR(link), 0);
	put(n, EITR(tx), FIELD_PREP(EITR_USECS, TX_USECS) | EITR_NOW);
	put(n, EIMS, bit_of_link(n));
	put(n, IMS, INT_LINK);
}

/* The wire. */

static void igb_link(struct via_native *n, struct via_native_link *link)
{
	u32 status = get(n, STATUS), i;

	if (status == U32_MAX) {
		link->gone = true;
		return;
	}
	link->up = status & STATUS_LINK;
	link->full = status & STATUS_FULL;
	link->mbps = status & STATUS_1000 ? 1000 :
		     status & STATUS_100 ? 100 : 10;
	n->rx_missed += get(n, MPC);
	/* Frames, for which a ring had no buffer. */
	for (i = 0; i < n->pairs; i++)
		via_native_pair(n, i)->rx_stats.empty +=
			get(n, RX(i) + RX_DROPPED);
}

/* Starting and stopping. */

static void set_exact(struct via_native *n, u32 i, const u8 *mac)
{
	put(n, RAL(i), mac[0] | mac[1] << 8 | mac[2] << 16 |
	    (u32)mac[3] << 24);
	put(n, RAH(i), mac[4] | mac[5] << 8 | RAH_VALID);
}

static bool igb_filter(struct via_native *n)
{
	u32 rctl = RCTL_ENABLE | RCTL_BROADCAST | RCTL_STRIP_CRC;
	struct net_device *dev = n->dev;
	struct netdev_hw_addr *ha;
	u32 hash[MTA_WORDS] = {};
	u32 i = 0, bit;

	if (n->buf_size > VIA_NATIVE_BUF)
		rctl |= RCTL_LONG;
	if (dev->flags & IFF_PROMISC || netdev_uc_count(dev) >= EXACT)
		rctl |= RCTL_PROMISC | RCTL_MULTICAST;
	if (dev->flags & IFF_ALLMULTI)
		rctl |= RCTL_MULTICAST;
	set_exact(n, i++, dev->dev_addr);
	if (!(rctl & RCTL_PROMISC))
		netdev_for_each_uc_addr(ha, dev)
			set_exact(n, i++, ha->addr);
	for (; i < EXACT; i++)
		put(n, RAH(i), 0);
	netdev_for_each_mc_addr(ha, dev) {
		bit = (ha->addr[4] >> 4 | ha->addr[5] << 4) & 0xfff;
		hash[bit / 32] |= BIT(bit % 32);
	}
	for (i = 0; i < MTA_WORDS; i++)
		put(n, MTA + 4 * i, hash[i]);
	put(n, RCTL, rctl);
	return true;
}

/* VI frames to the first pair; IP to the others, by its hash. */
static void sorting_init(struct via_native *n)
{
	u32 key[RSSRK_WORDS], word, i, k;

	for (i = 0; i < ETQF_COUNT; i++)
		put(n, ETQF(i), 0);
	put(n, ETQF(0), ETQF_ON | FIELD_PREP(ETQF_PAIR, 0) | ntohs(n->proto));
	netdev_rss_key_fill(key, sizeof(key));
	for (i = 0; i < RSSRK_WORDS; i++)
		put(n, RSSRK(i), key[i]);
	for (i = 0; i < RETA_BYTES; i += 4) {
		for (word = 0, k = 0; k < 4; k++)
			word |= (1 + (i + k) % (n->pairs - 1)) << 8 * k;
		put(n, RETA(i / 4), word);
	}
	put(n, RXCSUM, RXCSUM_IP | RXCSUM_TCP | RXCSUM_HASH);
	put(n, MRQC, MRQC_HASH | MRQC_FIELDS | MRQC_UDP);
}

static void put_ring(struct via_native *n, u32 base,
		     const struct via_native_ring *ring, u32 bytes)
{
	put(n, base + RING_CONTROL, 0);
	put(n, base + RING_BYTES, bytes);
	put(n, base + RING_HIGH, upper_32_bits(ring->dma));
	put(n, base + RING_LOW, lower_32_bits(ring->dma));
	put(n, base + RING_HEAD, 0);
	put(n, base + RING_TAIL, 0);
}

static void rings_init(struct via_native *n)
{
	u32 rx = RX(n->pair), tx = TX(n->pair), i;

	igb(n)->rx_tail = n->regs + rx + RING_TAIL;
	igb(n)->tx_tail = n->regs + tx + RING_TAIL;
	for (i = 0; i < IGB_TX_SLOTS; i++)
		*tx_desc(n, i) = (struct tx_desc){};
	for (i = 0; i < IGB_RX_SLOTS; i++)
		rx_give(n, i);
	put_ring(n, tx, &n->tx, IGB_TX_SLOTS * sizeof(struct tx_desc));
	put_ring(n, rx, &n->rx, IGB_RX_SLOTS * sizeof(struct rx_desc));
	put(n, rx + RX_FORM, FIELD_PREP(FORM_KIB, n->buf_size / 1024) |
			     FORM_ADVANCED | FORM_DROP);
	put(n, tx + RING_CONTROL, RING_ON);
	put(n, rx + RING_CONTROL, RING_ON);
	/* The chip takes it behind that only. */
	put(n, rx + RING_TAIL, IGB_RX_SLOTS - 1);
}

static void igb_stop(struct via_native *n)
{
	igb_reset(n);
	igb_loaded(n, false);
}

static int igb_start(struct via_native *n)
{
	u32 i;

	if (get(n, STATUS) == U32_MAX)
		return -ENODEV;
	igb_reset(n);
	igb_loaded(n, true);
	/* Not all of it comes back with a reset: see what was left there. */
	put(n, CTRL, (get(n, CTRL) & ~CTRL_OFF) | CTRL_LINK_UP);
	interrupts_init(n);
	igb_phy_wake(n);
	put(n, RLPML, RLPML_MAX);
	sorting_init(n);
	for (i = 0; i < n->pairs; i++)
		rings_init(via_native_pair(n, i));
	put(n, TCTL, TCTL_ENABLE | TCTL_PAD | TCTL_RETRIES | TCTL_DISTANCE |
		     TCTL_LATE);
	return 0;			/* the filter lets reception begin */
}

static int igb_identify(struct via_native *n)
{
	igb_reset(n);
	igb_address(n);
	return 0;
}

static const struct via_native_chip chip = {
	.ether = &via_native_ether,
	.hard_irq = igb_irq,
	.poll = via_native_poll,
	.xmit = via_native_xmit,
	.bar = 0,
	.dma_bits = 64,
	.priv_size = sizeof(struct igb),
	.desc_size = sizeof(struct tx_desc),
	.tx_slots = IGB_TX_SLOTS,
	.rx_slots = IGB_RX_SLOTS,
	.max_mtu = 9000,
	.jumbo_buf = JUMBO_BUF,
	.tx_most = TSO_SLOTS,
	.features = NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_RXCSUM,
	.more = MORE,
	.own_irqs = 2,
	.own_irq = igb_own_irq,
	.max_usecs = USECS_MAX,
	.identify = igb_identify,
	.start = igb_start,
	.stop = igb_stop,
	.unmask = igb_unmask,
	.mask = igb_mask,
	.filter = igb_filter,
	.link = igb_link,
	.coalesce = igb_coalesce,
	.reap = via_native_reap,
	.tx_wait = run_poll,
	.loopback = igb_loopback,
};

static int igb_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return via_native_probe(pdev, &chip);
}

static const struct pci_device_id ids[] = {
	{ PCI_VDEVICE(INTEL, 0x10c9) },	/* 82576, copper */
	{}
};

/* Not in MODULE_DEVICE_TABLE: see "Off until asked for" in native.h. */

static struct pci_driver igb_driver = {
	.name = "via_igb",
	.id_table = ids,
	.probe = igb_probe,
	.remove = via_native_remove,
	.shutdown = via_native_shutdown,
	.driver.pm = &via_native_pm,
};
module_pci_driver(igb_driver);

MODULE_DESCRIPTION("VI NIC and network interface on Intel 82576");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
