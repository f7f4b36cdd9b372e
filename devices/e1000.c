// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_e1000: Intel 82540EM and 82545EM (PRO/1000 MT), and 82574L (PCI
 * Express), as a network interface and a VI NIC at once.
 *
 * Theory of operation.  Two rings of 16-byte descriptors in our memory, each
 * with a head that the chip moves and a tail that we move: what lies between
 * belongs to the chip.  Each descriptor keeps its buffer for good
 * (native/native.h has the reasons).
 *
 * Transmit.  A VI frame, and an IP frame as long as the MTU, is one "legacy"
 * descriptor, and one for each fragment of a payload that the chip fetches from
 * the program's memory; a write to the tail makes the chip send up to there.  TCP's
 * longer packets are cut up by the chip: a context descriptor says how, and
 * as many data descriptors follow as there are slots to copy the packet to.
 * Each descriptor asks for its status to be written back, which raises a
 * cause of its own; that is masked unless a sender waits for room, so there
 * is no interrupt per frame.  While one does wait, a frame interrupts at
 * once where the base asks for it, any other one after a while.
 *
 * Receive.  A frame is always one descriptor: 2 KiB a buffer and longer
 * frames dropped by the chip, or, with an MTU beyond 1500, 16 KiB a buffer and
 * no longer frame passing the chip.  The tail is moved once a poll; it always
 * stays one slot behind, since head and tail being equal means that nothing
 * is there.
 *
 * Interrupts.  Reading ICR tells the causes and clears them; IMS unmasks, IMC
 * masks.  The handler masks all and leaves the rest to the poll.  It may, on
 * a shared line, take a cause away while the poll is scheduled; but then it
 * has the poll run once more, which is all that the cause would have done.
 *
 * The wire.  The transceiver negotiates by itself, and the chip takes over
 * speed and duplex; STATUS tells them.  A change interrupts.
 *
 * Address filter: 16 exact addresses (one is the firmware's where there is
 * some), and a table of 4,096 bits for hashed multicast ones.
 *
 * Locking: native/native.h.
 */

#include <linux/bitfield.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/ip6_checksum.h>
#include "e1000.h"
#include "native/cut.h"
#include "native/path.h"

#define TX_SLOTS	256
#define RX_SLOTS	256
#define JUMBO_BUF	16384u
/*
 * The context, a first piece that may be short, and the rest; and as many
 * segments as fit into so many pieces of four.
 */
#define TSO_SLOTS	(2 + DIV_ROUND_UP(GSO_LEGACY_MAX_SIZE + MAX_HEADER, \
					  VIA_NATIVE_BUF))
#define TSO_SEGMENTS	(4 * (TSO_SLOTS - 3))
#define TSO_PCI		4096u		/* most bytes of a piece */
#define TSO_PCIE	8192u
#define TSO_PCIX_FIRST	2015u		/* and of the first one on PCI-X */

#define ITR		0x00c4		/* least time between interrupts, 256 ns */
#define ITR_MAX		0xffff
#define IMS		0x00d0
#define INT_TX		BIT(0)		/* a status was written back */
#define INT_LINK	BIT(2)
#define INT_RX_LOW	BIT(4)
#define INT_RX_OVER	BIT(6)
#define INT_RX		BIT(7)
#define RCTL_ENABLE	BIT(1)
#define RCTL_PROMISC	BIT(3)
#define RCTL_MULTICAST	BIT(4)
#define RCTL_LONG	BIT(5)		/* frames beyond 1522 bytes */
#define RCTL_BROADCAST	BIT(15)
#define RCTL_16K	(BIT(16) | BIT(25))
#define RCTL_STRIP_CRC	BIT(26)
#define TCTL_ENABLE	BIT(1)
#define TCTL_PAD	BIT(3)
#define TCTL_RETRIES	(15 << 4)
#define TCTL_DISTANCE	(0x40 << 12)	/* collision distance, byte times */
#define TCTL_MANY	BIT(28)		/* PCI Express: several reads at once */
#define TIPG		0x0410
#define TIPG_COPPER	(8 | 8 << 10 | 6 << 20)
#define PBA		0x1000		/* packet memory: KiB to receive */
#define PBA_JUMBO	32
#define RDBAL		0x2800
#define RDBAH		0x2804
#define RDLEN		0x2808
#define RDH		0x2810
#define RDT		0x2818
#define RDTR		0x2820		/* delay of receive interrupts */
#define TDBAL		0x3800
#define TDBAH		0x3804
#define TDLEN		0x3808
#define TDH		0x3810
#define TDT		0x3818
#define TIDV		0x3820		/* delay of transmit interrupts, us */
#define TADV		0x382c		/* and at the most */
#define MPC		0x4010		/* missed frames, cleared by reading */
#define RXCSUM		0x5000
#define RXCSUM_TCP	BIT(9)
#define RFCTL		0x5008		/* 82574: longer descriptors */
#define MRQC		0x5818		/* 82574: several queues */
#define MTA		0x5200		/* hash table, 128 longwords */
#define MTA_WORDS	128
#define EXACT		15

#define EVENTS		(INT_LINK | INT_RX_LOW | INT_RX_OVER | INT_RX)

struct rx_desc {
	__le64 addr;
	__le16 length;
	__le16 sum;
	u8 status;
	u8 errors;
	__le16 special;
};

#define RX_DONE		BIT(0)
#define RX_LAST		BIT(1)
#define RX_NO_SUM	BIT(2)
#define RX_TCP_SUM	BIT(5)
#define RX_BAD_SUM	(BIT(5) | BIT(6))	/* of errors */
#define RX_DAMAGED	(BIT(0) | BIT(1) | BIT(2) | BIT(4) | BIT(7))

struct tx_desc {
	__le64 addr;
	__le64 command;
};

/* How to cut a packet up; offsets from its start. */
struct tx_context {
	u8 ip_start;
	u8 ip_sum;
	__le16 ip_end;			/* last byte under the checksum */
	u8 tcp_start;
	u8 tcp_sum;
	__le16 tcp_end;			/* 0: the packet's last */
	__le32 command;			/* and bytes of payload */
	u8 status;
	u8 headers;
	__le16 mss;
};

#define TX_LAST		BIT_ULL(24)
#define TX_CRC		BIT_ULL(25)
#define TX_CUT		BIT_ULL(26)
#define TX_REPORT	BIT_ULL(27)
#define TX_EXTENDED	BIT_ULL(29)
#define TX_LATE		BIT_ULL(31)	/* the interrupt may wait */
#define TX_DATA		BIT_ULL(20)
#define TX_IP_SUM	BIT_ULL(40)
#define TX_TCP_SUM	BIT_ULL(41)
#define TX_DONE		BIT_ULL(32)
#define TX_ERRORS	(BIT_ULL(33) | BIT_ULL(34))	/* collisions */
#define CONTEXT_TCP	BIT(24)
#define CONTEXT_IPV4	BIT(25)

/* The short path. */

static inline struct tx_desc *tx_desc(struct via_native *n, u32 i)
{
	return (struct tx_desc *)n->tx.desc + i;
}

static inline struct rx_desc *rx_desc(struct via_native *n, u32 i)
{
	return (struct rx_desc *)n->rx.desc + i;
}

/* The chip sees it when the tail has moved. */
static inline void e1000_fill_desc(struct via_native *n, u32 i, u64 command,
				   bool irq)
{
	struct tx_desc *d = tx_desc(n, i);

	/* A context may have been there. */
	d->addr = cpu_to_le64(n->tx.buf[i].dma);
	d->command = cpu_to_le64(command | TX_CRC | TX_REPORT |
				 (irq ? 0 : TX_LATE));
}

static inline void tx_fill(struct via_native *n, u32 i, u32 len, bool irq)
{
	e1000_fill_desc(n, i, TX_LAST | len, irq);
}

/* The headers in the slot's buffer, and a descriptor for each fragment. */
static inline u32 tx_spread(u32 n)
{
	return 1 + n;
}

static inline void tx_frags(struct via_native *n, u32 i, u32 len,
			    const struct via_frags *frags, bool irq)
{
	u32 last = frags->n - 1, k;
	struct tx_desc *d;

	e1000_fill_desc(n, i, len, false);
	for (k = 0; k <= last; k++) {
		d = tx_desc(n, (i + 1 + k) & (TX_SLOTS - 1));
		d->addr = cpu_to_le64(frags->frag[k].dma);
		d->command = cpu_to_le64(frags->frag[k].len | TX_CRC |
					 TX_REPORT | (k < last ? 0 : TX_LAST) |
					 (irq && k == last ? 0 : TX_LATE));
	}
}

static inline void tx_kick(struct via_native *n)
{
	/* writel() orders the descriptors before the tail. */
	put(n, TDT, n->tx.next & (TX_SLOTS - 1));
}

static inline bool tx_done(struct via_native *n, u32 i)
{
	u64 status = le64_to_cpu(READ_ONCE(tx_desc(n, i)->command));

	if (!(status & TX_DONE))
		return false;
	if (unlikely(status & TX_ERRORS))
		n->tx_stats.errors++;
	return true;
}

static inline int rx_frame(struct via_native *n, u32 i)
{
	struct rx_desc *d = rx_desc(n, i);
	u8 status = READ_ONCE(d->status);
	u32 len;

	if (!(status & RX_DONE))
		return 0;
	/* The status before the rest and the bytes. */
	dma_rmb();
	len = le16_to_cpu(d->length);
	if (unlikely(!(status & RX_LAST) || d->errors & RX_DAMAGED || !len ||
		     len > n->buf_size))
		return -EIO;
	return len;
}

static inline bool rx_there(struct via_native *n)
{
	u32 i = READ_ONCE(n->rx.next) & (RX_SLOTS - 1);

	return READ_ONCE(rx_desc(n, i)->status) & RX_DONE;
}

static inline bool rx_summed(struct via_native *n, u32 i)
{
	const struct rx_desc *d = rx_desc(n, i);

	return (d->status & (RX_TCP_SUM | RX_NO_SUM)) == RX_TCP_SUM &&
	       !(d->errors & RX_BAD_SUM);
}

static inline void rx_give(struct via_native *n, u32 i)
{
	WRITE_ONCE(rx_desc(n, i)->status, 0);
}

static inline void rx_given(struct via_native *n)
{
	/* All looks at the bytes before; the tail is the last one given. */
	mb();
	put(n, RDT, (n->rx.next - 1) & (RX_SLOTS - 1));
}

static noinline void e1000_rare_irq(struct via_native *n, u32 events)
{
	if (events == U32_MAX || events & INT_LINK)
		via_native_look(n);
	else if (events & INT_RX_OVER)
		n->rx_stats.empty++;
}

/* Reading flushes what was written, and what the chip wrote before. */
static inline void e1000_ack_irq(struct via_native *n)
{
	u32 events = get(n, ICR);

	if (unlikely(events & (INT_LINK | INT_RX_OVER)))
		e1000_rare_irq(n, events);
}

/* Packets that the chip cuts up. */

/* @headers lie in a row in the first slot's buffer. */
static void put_context(struct via_native *n, const struct sk_buff *skb,
			u32 headers)
{
	bool ip4 = skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4;
	u32 ip = skb_network_offset(skb), tcp = skb_transport_offset(skb);
	u32 i = via_native_take_slot(n, VIA_NATIVE_IP);

	*(struct tx_context *)tx_desc(n, i) = (struct tx_context){
		.ip_start = ip,
		.ip_sum = ip + offsetof(struct iphdr, check),
		.ip_end = cpu_to_le16(ip4 ? tcp - 1 : 0),
		.tcp_start = tcp,
		.tcp_sum = tcp + offsetof(struct tcphdr, check),
		.command = cpu_to_le32(CONTEXT_TCP | (ip4 ? CONTEXT_IPV4 : 0) |
				       TX_CUT | TX_REPORT | TX_EXTENDED |
				       (skb->len - headers)),
		.headers = headers,
		.mss = cpu_to_le16(skb_shinfo(skb)->gso_size),
	};
}

/* A slot's part of the packet. */
static void put_piece(struct via_native *n, const struct sk_buff *skb, u32 at,
		      u32 len, u64 command)
{
	u32 i = via_native_take_slot(n, VIA_NATIVE_IP);
	const struct via_native_buf *buf = &n->tx.buf[i];

	via_native_copy_skb(skb, at, buf->data, len);
	if (!at)
		via_native_cut_headers(skb, buf->data);
	if (unlikely(n->sync))
		dma_sync_single_for_device(&n->pdev->dev, buf->dma, len,
					   DMA_TO_DEVICE);
	e1000_fill_desc(n, i, command | TX_DATA | TX_EXTENDED | TX_CUT | len,
			!(i & (TX_SLOTS / 4 - 1)));
}

/*
 * Before it fetches a piece the chip reckons that it is four segments, or as
 * many as it has whole ones: a longer one overruns its memory.
 *
 * It reports a piece when the first part of it is fetched.  The next one's
 * report says that all of it was, and no slot is filled again before that:
 * via_native_room().
 */
static void tx_gso(struct via_native *n, struct sk_buff *skb)
{
	u32 headers = skb_tcp_all_headers(skb), at, len, most, room;
	const struct e1000 *e = e1000(n);
	u64 command = TX_TCP_SUM;

	if (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4)
		command |= TX_IP_SUM;
	put_context(n, skb, headers);
	most = min3(4u * skb_shinfo(skb)->gso_size, e->piece, n->buf_size);
	most = max(most, headers);
	room = min(most, e->first);
	for (at = 0; at < skb->len; at += len) {
		len = min(skb->len - at, room);
		room = most;
		if (at + len == skb->len)
			command |= TX_LAST;
		put_piece(n, skb, at, len, command);
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
	.ack = e1000_ack_irq,
};

static irqreturn_t e1000_irq(int irq, void *arg)
{
	struct via_native *n = arg;
	u32 events = get(n, ICR);

	/* Not ours, or gone from the bus. */
	if (!(events & (EVENTS | INT_TX)) || events == U32_MAX)
		return IRQ_NONE;
	if (unlikely(events & (INT_LINK | INT_RX_OVER)))
		e1000_rare_irq(n, events);
	/*
	 * Even if the poll is not to be had: it may be off for good.  Is it
	 * scheduled already, this makes it run once more.
	 */
	put(n, IMC, U32_MAX);
	if (likely(napi_schedule_prep(&n->napi)))
		__napi_schedule_irqoff(&n->napi);
	return IRQ_HANDLED;
}

/*
 * Unmasking is the poll's, so have that run.  Is it scheduled already, this
 * makes it run once more.
 */
static void e1000_tx_wait(struct via_native *n)
{
	if (napi_schedule_prep(&n->napi)) {
		put(n, IMC, U32_MAX);
		__napi_schedule(&n->napi);
	}
}

static void e1000_unmask(struct via_native *n)
{
	/* Set after this, e1000_tx_wait() has the poll run once more. */
	put(n, IMS, EVENTS | (READ_ONCE(n->waits) ? INT_TX : 0));
}

static void e1000_mask(struct via_native *n)
{
	put(n, IMC, U32_MAX);
	get(n, STATUS);
}

static void e1000_link(struct via_native *n, struct via_native_link *link)
{
	u32 status = get(n, STATUS);

	if (status == U32_MAX) {
		link->gone = true;
		return;
	}
	link->up = status & STATUS_LINK;
	link->full = status & STATUS_FULL;
	link->mbps = status & STATUS_1000 ? 1000 :
		     status & STATUS_100 ? 100 : 10;
	n->rx_missed += get(n, MPC);
	if (e1000_phy_hung(n))
		via_native_fail(n, "the transceiver hangs", status);
}

/* Starting and stopping. */

/*
 * On PCI-X a bridge may make one burst of writes to addresses that go up, of
 * which the chip takes half.  So they go down, or there is a read between.
 */

static void set_exact(struct via_native *n, u32 i, const u8 *mac)
{
	put(n, RAL(i), mac[0] | mac[1] << 8 | mac[2] << 16 |
	    (u32)mac[3] << 24);
	get(n, STATUS);
	put(n, RAH(i), mac[4] | mac[5] << 8 | RAH_VALID);
	get(n, STATUS);
}

static bool e1000_filter(struct via_native *n)
{
	u32 rctl = RCTL_ENABLE | RCTL_BROADCAST | RCTL_STRIP_CRC;
	struct net_device *dev = n->dev;
	struct netdev_hw_addr *ha;
	u32 hash[MTA_WORDS] = {};
	u32 i = 0, bit;

	if (n->buf_size > VIA_NATIVE_BUF)
		rctl |= RCTL_LONG | RCTL_16K;
	if (dev->flags & IFF_PROMISC || netdev_uc_count(dev) >= e1000(n)->exact)
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
	for (i = MTA_WORDS; i--; )
		put(n, MTA + 4 * i, hash[i]);
	put(n, RCTL, rctl);
	return true;
}

static void rings_init(struct via_native *n)
{
	u32 i;

	for (i = 0; i < TX_SLOTS; i++)
		*tx_desc(n, i) = (struct tx_desc){};
	for (i = 0; i < RX_SLOTS; i++)
		*rx_desc(n, i) = (struct rx_desc){
			.addr = cpu_to_le64(n->rx.buf[i].dma),
		};
	put(n, TDLEN, TX_SLOTS * sizeof(struct tx_desc));
	put(n, TDBAH, upper_32_bits(n->tx.dma));
	put(n, TDBAL, lower_32_bits(n->tx.dma));
	put(n, TDH, 0);
	put(n, TDT, 0);
	put(n, RDLEN, RX_SLOTS * sizeof(struct rx_desc));
	put(n, RDBAH, upper_32_bits(n->rx.dma));
	put(n, RDBAL, lower_32_bits(n->rx.dma));
	put(n, RDH, 0);
	put(n, RDT, RX_SLOTS - 1);
}

static void e1000_stop(struct via_native *n)
{
	e1000_reset(n);
	e1000_loaded(n, false);
}

static void e1000_coalesce(struct via_native *n)
{
	put(n, ITR, min_t(u32, n->usecs * 1000 / 256, ITR_MAX));
}

static int e1000_start(struct via_native *n)
{
	u32 tctl = TCTL_ENABLE | TCTL_PAD | TCTL_RETRIES | TCTL_DISTANCE;

	if (get(n, STATUS) == U32_MAX)
		return -ENODEV;
	e1000_reset(n);
	e1000_loaded(n, true);
	/* Not all of it comes back with a reset: see what was left there. */
	put(n, CTRL, (get(n, CTRL) & ~CTRL_OFF) | CTRL_LINK_UP);
	e1000_phy_wake(n);
	e1000_errata(n);
	if (e1000(n)->pcie) {
		tctl |= TCTL_MANY;
		put(n, RFCTL, 0);
		put(n, MRQC, 0);
	}
	/* A whole long frame to send must fit beside what is received. */
	if (n->buf_size > VIA_NATIVE_BUF && !e1000(n)->pcie)
		put(n, PBA, PBA_JUMBO);
	e1000_coalesce(n);
	put(n, RDTR, 0);
	put(n, TIDV, 64);
	put(n, TADV, 256);
	put(n, RXCSUM, RXCSUM_TCP);
	rings_init(n);
	put(n, TIPG, TIPG_COPPER);
	put(n, TCTL, tctl);
	return 0;			/* the filter lets reception begin */
}

static const struct via_native_chip pcix_chip;

static int pci_identify(struct via_native *n)
{
	struct e1000 *e = e1000(n);
	int err;

	e->first = U32_MAX;
	e->piece = TSO_PCI;
	e->exact = n->pdev->subsystem_vendor == PCI_VENDOR_ID_VMWARE ? 1 :
								      EXACT;
	netif_set_tso_max_segs(n->dev, TSO_SEGMENTS);
	if (e1000_pci_bus(n)) {
		n->chip = &pcix_chip;
		e->first = TSO_PCIX_FIRST;
		err = dma_set_mask_and_coherent(&n->pdev->dev,
						DMA_BIT_MASK(64));
		if (err)
			return err;
	}
	e1000_reset(n);
	return e1000_pci_address(n);
}

static int pcie_identify(struct via_native *n)
{
	struct e1000 *e = e1000(n);

	e->pcie = true;
	e->first = U32_MAX;
	e->piece = TSO_PCIE;
	e->exact = EXACT;
	netif_set_tso_max_segs(n->dev, TSO_SEGMENTS);
	e1000_pcie_bus(n);
	e1000_reset(n);
	e1000_pcie_address(n);
	return 0;
}

#define COMMON								\
	.ether = &via_native_ether,					\
	.hard_irq = e1000_irq,						\
	.poll = via_native_poll,					\
	.xmit = via_native_xmit,					\
	.bar = 0,							\
	.priv_size = sizeof(struct e1000),				\
	.desc_size = sizeof(struct tx_desc),				\
	.tx_slots = TX_SLOTS,						\
	.rx_slots = RX_SLOTS,						\
	.tx_most = TSO_SLOTS,						\
	.max_usecs = ITR_MAX * 256 / 1000,				\
	.start = e1000_start,						\
	.stop = e1000_stop,						\
	.unmask = e1000_unmask,						\
	.mask = e1000_mask,						\
	.filter = e1000_filter,						\
	.link = e1000_link,						\
	.coalesce = e1000_coalesce,					\
	.reap = via_native_reap,					\
	.tx_wait = e1000_tx_wait,					\
	.loopback = e1000_loopback

/* The transmitter hangs with addresses of 64 bits. */
static const struct via_native_chip pci_chip = {
	COMMON,
	.dma_bits = 32,
	.max_mtu = 9000,
	.jumbo_buf = JUMBO_BUF,
	.features = NETIF_F_TSO | NETIF_F_RXCSUM,
	.identify = pci_identify,
};

/*
 * It hangs with a first descriptor of 2016 bytes or more: no longer frames,
 * each of which is one.
 */
static const struct via_native_chip pcix_chip = {
	COMMON,
	.dma_bits = 64,
	.max_mtu = ETH_DATA_LEN,
	.features = NETIF_F_TSO | NETIF_F_RXCSUM,
	.identify = pci_identify,
};

static const struct via_native_chip pcie_chip = {
	COMMON,
	.dma_bits = 64,
	.max_mtu = 9000,
	.jumbo_buf = JUMBO_BUF,
	.features = NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_RXCSUM,
	.msi = true,
	.identify = pcie_identify,
};

static int e1000_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return via_native_probe(pdev, (const void *)id->driver_data);
}

static const struct pci_device_id ids[] = {
	{ PCI_VDEVICE(INTEL, 0x100e), (kernel_ulong_t)&pci_chip }, /* 82540EM */
	{ PCI_VDEVICE(INTEL, 0x100f), (kernel_ulong_t)&pci_chip }, /* 82545EM */
	{ PCI_VDEVICE(INTEL, 0x10d3), (kernel_ulong_t)&pcie_chip }, /* 82574L */
	{}
};

/* Not in MODULE_DEVICE_TABLE: see "Off until asked for" in native.h. */

static struct pci_driver e1000_driver = {
	.name = "via_e1000",
	.id_table = ids,
	.probe = e1000_probe,
	.remove = via_native_remove,
	.shutdown = via_native_shutdown,
	.driver.pm = &via_native_pm,
};
module_pci_driver(e1000_driver);

MODULE_DESCRIPTION("VI NIC and network interface on Intel 82540EM, 82545EM and 82574L");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
