// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_8139cp: Realtek RTL8139C+ as a network interface and a VI NIC at once.
 * The older RTL8139, which has the same PCI numbers, has no rings of
 * descriptors: it is for the kernel's 8139too.
 *
 * Theory of operation.  The chip walks two rings of 16-byte descriptors in our
 * memory, 64 at most; bit 31 of a descriptor's first word says whose it is.
 * The last descriptor carries "end of ring", which has to be written anew each
 * time, as that word also has the length.  Each descriptor keeps its buffer
 * for good (native/native.h has the reasons).
 *
 * Transmit.  A frame is one descriptor, one buffer; or the buffer has the
 * headers, and a descriptor for each fragment of the payload follows.  A write
 * to TX_POLL makes the chip look at the ring; it sends until it meets a
 * descriptor that is not its own.  TCP's longer packets over IPv4 are cut up by
 * the chip: each descriptor of such a packet names the segment's size.
 * A descriptor cannot ask for an interrupt: the chip has one cause for all
 * frames sent, which is masked unless a sender waits for room.
 *
 * Receive.  A frame is always one descriptor, as a buffer is longer than the
 * longest frame; a longer one would take several, and all of them are thrown
 * away.  When the chip finds no free descriptor it drops, and looks again for
 * the next frame.
 *
 * Interrupts.  INT_STATUS tells what happened, whether it is masked or not, and
 * writing ones clears it; INT_MASK has ones for what interrupts.  The handler
 * masks all and leaves the rest to the poll, which acknowledges what it has
 * served before its last look at the ring.  Reading INT_STATUS after that
 * write flushes it, and what the chip wrote into memory before.
 *
 * The wire.  The transceiver is in the chip and negotiates by itself, its
 * registers are the chip's, and the chip takes over its duplex.  A change
 * interrupts.
 *
 * Address filter: one exact address, and a table of 64 bits for hashed
 * multicast ones.
 *
 * Locking: native/native.h.
 */

#include <linux/bitfield.h>
#include <linux/crc32.h>
#include <linux/iopoll.h>
#include <linux/mii.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include "native/path.h"

#define TX_SLOTS	64		/* the chip knows no more */
#define RX_SLOTS	64
#define TSO_SLOTS	(TX_SLOTS / 4)
#define TSO_MAX		((TSO_SLOTS - 1) * VIA_NATIVE_BUF)
#define CRC_LEN		4
#define REV_8139CP	0x20		/* from here on */

/* Registers: each is accessed in the width that it has. */
#define MAC		0x00		/* 6 bytes, by words of 32 bits */
#define HASH		0x08		/* 8 bytes, likewise */
#define TX_RING		0x20		/* 64 bits, likewise */
#define TX_RING_HIGH	0x28		/* high priority: not used */
#define COMMAND		0x37		/* 8 bits */
#define COMMAND_TX	BIT(2)
#define COMMAND_RX	BIT(3)
#define COMMAND_RESET	BIT(4)		/* reads as one until it is done */
#define INT_MASK	0x3c		/* 16 bits */
#define INT_STATUS	0x3e		/* 16 bits */
#define INT_RX		BIT(0)
#define INT_RX_ERROR	BIT(1)
#define INT_TX		BIT(2)
#define INT_TX_ERROR	BIT(3)
#define INT_RX_EMPTY	BIT(4)		/* no descriptor for a frame */
#define INT_LINK	BIT(5)
#define INT_RX_OVER	BIT(6)		/* the chip's own memory is full */
#define INT_TX_EMPTY	BIT(7)		/* no further frame to send */
#define INT_BUS_ERROR	BIT(15)
#define TX_CONFIG	0x40		/* 32 bits; heeded when TX is on */
#define TX_CONFIG_1024	(6 << 8)	/* bytes in a burst */
#define TX_CONFIG_LOOPBACK (3 << 17)	/* inside of the chip */
#define TX_CONFIG_GAP	(3 << 24)	/* between frames: the standard's */
#define RX_CONFIG	0x44		/* 32 bits */
#define RX_CONFIG_ALL	BIT(0)
#define RX_CONFIG_OURS	BIT(1)
#define RX_CONFIG_MULTICAST BIT(2)	/* that HASH lets pass */
#define RX_CONFIG_BROADCAST BIT(3)
#define RX_CONFIG_256	(4 << 8)	/* bytes in a burst */
#define RX_CONFIG_512	(5 << 13)	/* bytes in the chip before the first */
#define RX_MISSED	0x4c		/* 24 bits; writing clears it */
#define EEPROM		0x50		/* 8 bits; locks MAC and BMCR, too */
#define EEPROM_LOCK	0x00
#define EEPROM_LOAD	0x40		/* until it is done */
#define EEPROM_UNLOCK	0xc0
#define EEPROM_MODE	0xc0
#define MULTI_INT	0x5c		/* 16 bits: early interrupts */
#define BMCR		0x62		/* 16 bits each: the transceiver's */
#define BMSR		0x64
#define ADVERTISE	0x66
#define PARTNER		0x68
#define TX_POLL		0xd9		/* 8 bits */
#define TX_POLL_NORMAL	BIT(6)
#define CP_COMMAND	0xe0		/* 16 bits */
#define CP_COMMAND_TX	BIT(0)
#define CP_COMMAND_RX	BIT(1)
#define CP_COMMAND_64	BIT(4)		/* addresses beyond 4 GiB */
#define INT_DELAY	0xe2		/* 16 bits */
#define RX_RING		0xe4		/* 64 bits, by words of 32 */
#define TX_THRESHOLD	0xec		/* 8 bits: 32 bytes each */
#define TX_WHOLE	(1536 / 32)	/* a frame begins when it is there */

#define EVENTS_RX	(INT_RX | INT_RX_ERROR)
#define EVENTS_TX	(INT_TX | INT_TX_ERROR | INT_TX_EMPTY)
#define EVENTS_RARE	(INT_RX_EMPTY | INT_LINK | INT_RX_OVER | INT_BUS_ERROR)

struct desc {
	__le32 status;
	__le32 vlan;			/* 0: tags are bytes of the frame */
	__le64 addr;
};

#define OWN		BIT(31)
#define RING_END	BIT(30)
#define FIRST		BIT(29)
#define LAST		BIT(28)
#define RX_OVERRUN	BIT(22)
#define RX_ERROR	BIT(20)		/* or of several */
#define RX_LENGTH	GENMASK(12, 0)
#define TX_CUT		BIT(27)
#define TX_MSS		GENMASK(26, 16)
#define TX_UNDERRUN	BIT(25)
#define TX_ERROR	BIT(23)

static inline void cp_write8(struct via_native *n, u32 reg, u8 value)
{
	writeb(value, n->regs + reg);
}

static inline u8 cp_read8(struct via_native *n, u32 reg)
{
	return readb(n->regs + reg);
}

static inline void cp_write16(struct via_native *n, u32 reg, u16 value)
{
	writew(value, n->regs + reg);
}

static inline u16 cp_read16(struct via_native *n, u32 reg)
{
	return readw(n->regs + reg);
}

static inline void cp_write32(struct via_native *n, u32 reg, u32 value)
{
	writel(value, n->regs + reg);
}

static inline u32 cp_read32(struct via_native *n, u32 reg)
{
	return readl(n->regs + reg);
}

/* No register that is asked for this has all ones but off the bus. */
static inline bool is_gone(u16 value)
{
	return value == U16_MAX;
}

/* The short path. */

static inline struct desc *cp_desc(const struct via_native_ring *ring, u32 i)
{
	return (struct desc *)ring->desc + i;
}

static inline u32 ring_end(u32 i, u32 slots)
{
	return i == slots - 1 ? RING_END : 0;
}

/* A slot that had a fragment gets its own buffer back. */
static inline void cp_fill_desc(struct via_native *n, u32 i, u64 addr,
				u32 control)
{
	struct desc *d = cp_desc(&n->tx, i);

	d->addr = cpu_to_le64(addr);
	/* The bytes and all else before the owner. */
	dma_wmb();
	WRITE_ONCE(d->status,
		   cpu_to_le32(OWN | control | ring_end(i, TX_SLOTS)));
}

static inline void tx_fill(struct via_native *n, u32 i, u32 len, bool irq)
{
	cp_fill_desc(n, i, n->tx.buf[i].dma, FIRST | LAST | len);
}

/* The headers in the slot's buffer, and a descriptor for each fragment. */
static inline u32 tx_spread(u32 n)
{
	return 1 + n;
}

static inline void tx_frags(struct via_native *n, u32 i, u32 len,
			    const struct via_frags *frags, bool irq)
{
	u32 last = LAST, k;

	/* From the end: what comes first is the chip's last of all. */
	for (k = frags->n; k--; last = 0)
		cp_fill_desc(n, (i + 1 + k) & (TX_SLOTS - 1),
			     frags->frag[k].dma, frags->frag[k].len | last);
	cp_fill_desc(n, i, n->tx.buf[i].dma, FIRST | len);
}

static inline void tx_kick(struct via_native *n)
{
	/* writeb() orders the descriptors before this. */
	cp_write8(n, TX_POLL, TX_POLL_NORMAL);
}

static inline bool tx_done(struct via_native *n, u32 i)
{
	u32 status = le32_to_cpu(READ_ONCE(cp_desc(&n->tx, i)->status));

	if (status & OWN)
		return false;
	/* The other descriptors of a frame have what we wrote. */
	if (unlikely(status & LAST && status & (TX_ERROR | TX_UNDERRUN)))
		n->tx_stats.errors++;
	return true;
}

static inline int rx_frame(struct via_native *n, u32 i)
{
	const u32 whole = FIRST | LAST;
	u32 status = le32_to_cpu(READ_ONCE(cp_desc(&n->rx, i)->status));
	u32 len = FIELD_GET(RX_LENGTH, status);

	if (status & OWN)
		return 0;
	/* The owner before the bytes. */
	dma_rmb();
	/* Of a frame in several descriptors none is whole. */
	if (unlikely((status & (whole | RX_ERROR | RX_OVERRUN)) != whole ||
		     len <= CRC_LEN || len > VIA_NATIVE_BUF))
		return -EIO;
	return len - CRC_LEN;
}

static inline bool rx_there(struct via_native *n)
{
	u32 i = READ_ONCE(n->rx.next) & (RX_SLOTS - 1);

	return !(READ_ONCE(cp_desc(&n->rx, i)->status) & cpu_to_le32(OWN));
}

static inline void rx_give(struct via_native *n, u32 i)
{
	/* All looks at the bytes, and all else, before the owner. */
	dma_mb();
	WRITE_ONCE(cp_desc(&n->rx, i)->status,
		   cpu_to_le32(OWN | VIA_NATIVE_BUF | ring_end(i, RX_SLOTS)));
}

static inline void rx_given(struct via_native *n)
{
	/* The chip looks at the descriptors themselves. */
}

static noinline void cp_rare_irq(struct via_native *n, u16 events)
{
	if (is_gone(events))
		return;
	cp_write16(n, INT_STATUS, events & EVENTS_RARE);
	if (events & (INT_RX_EMPTY | INT_RX_OVER))
		n->rx_stats.empty++;
	if (events & INT_LINK)
		via_native_look(n);
	if (events & INT_BUS_ERROR)
		via_native_fail(n, "bus error", events);
}

/* What is rare is acknowledged only where it was seen. */
static inline void cp_ack_irq(struct via_native *n)
{
	u16 events;

	cp_write16(n, INT_STATUS, EVENTS_RX | EVENTS_TX);
	events = cp_read16(n, INT_STATUS);
	if (unlikely(events & EVENTS_RARE))
		cp_rare_irq(n, events);
}

/*
 * A packet that the chip cuts up, in as many slots as it needs.  The chip makes
 * all checksums and lengths of the pieces, out of the whole packet's.
 */
static void tx_gso(struct via_native *n, struct sk_buff *skb)
{
	u32 cut = TX_CUT | FIELD_PREP(TX_MSS, skb_shinfo(skb)->gso_size);
	u32 headers = skb_tcp_all_headers(skb), at, len, i, first = 0, start = 0;
	u16 segs = skb_shinfo(skb)->gso_segs;
	const struct via_native_buf *buf;

	for (at = 0; at < skb->len; at += len) {
		i = via_native_take_slot(n, VIA_NATIVE_IP);
		buf = &n->tx.buf[i];
		len = min(skb->len - at, n->buf_size);
		via_native_copy_skb(skb, at, buf->data, len);
		if (unlikely(n->sync))
			dma_sync_single_for_device(&n->pdev->dev, buf->dma,
						   len, DMA_TO_DEVICE);
		if (at) {
			cp_fill_desc(n, i, buf->dma, cut | len |
				     (at + len == skb->len ? LAST : 0));
		} else {
			first = i;
			start = cut | len | FIRST |
				(len == skb->len ? LAST : 0);
		}
	}
	/* The chip's last of all: it may be looking at the ring. */
	cp_fill_desc(n, first, n->tx.buf[first].dma, start);
	n->tx_stats.sent[VIA_NATIVE_IP].frames += segs;
	n->tx_stats.sent[VIA_NATIVE_IP].bytes +=
		skb->len + (segs - 1) * headers;
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
	.rx_give = rx_give,
	.rx_given = rx_given,
	.ack = cp_ack_irq,
};

/* Interrupts. */

static irqreturn_t rtl_irq(int irq, void *arg)
{
	struct via_native *n = arg;
	u16 mask = cp_read16(n, INT_MASK);

	/* What is masked shows in the status, too: the line may be shared. */
	if (!mask || is_gone(mask) || !(cp_read16(n, INT_STATUS) & mask))
		return IRQ_NONE;
	/* Even if the poll is not to be had: it may be off for good. */
	cp_write16(n, INT_MASK, 0);
	if (likely(napi_schedule_prep(&n->napi)))
		__napi_schedule_irqoff(&n->napi);
	return IRQ_HANDLED;
}

/*
 * Unmasking is the poll's, so have that run.  Is it scheduled already, this
 * makes it run once more.
 */
static void rtl_tx_wait(struct via_native *n)
{
	if (napi_schedule_prep(&n->napi)) {
		cp_write16(n, INT_MASK, 0);
		__napi_schedule(&n->napi);
	}
}

static void rtl_unmask(struct via_native *n)
{
	/* Set after this, rtl_tx_wait() has the poll run once more. */
	cp_write16(n, INT_MASK, EVENTS_RX | EVENTS_RARE |
		   (READ_ONCE(n->waits) ? EVENTS_TX : 0));
}

static void rtl_mask(struct via_native *n)
{
	cp_write16(n, INT_MASK, 0);
	cp_read16(n, INT_MASK);
}

/* The wire. */

static void wake_phy(struct via_native *n)
{
	u16 bmcr = cp_read16(n, BMCR);

	if (!(bmcr & (BMCR_PDOWN | BMCR_ISOLATE)))
		return;
	bmcr &= ~(BMCR_PDOWN | BMCR_ISOLATE);
	cp_write8(n, EEPROM, EEPROM_UNLOCK);
	cp_write16(n, BMCR, bmcr | BMCR_ANENABLE | BMCR_ANRESTART);
	cp_write8(n, EEPROM, EEPROM_LOCK);
}

/* A kick that met the chip as it stopped might be lost: this repeats it. */
static void look_again(struct via_native *n)
{
	__netif_tx_lock_bh(via_native_txq(n));
	if (n->up) {
		via_native_reap(n);
		if (via_native_tx_busy(n))
			tx_kick(n);
	}
	__netif_tx_unlock_bh(via_native_txq(n));
}

static void rtl_link(struct via_native *n, struct via_native_link *link)
{
	u16 bmsr;

	/* It remembers a link that was lost until it is read. */
	cp_read16(n, BMSR);
	bmsr = cp_read16(n, BMSR);
	if (is_gone(bmsr)) {
		link->gone = true;
		return;
	}
	link->up = bmsr & BMSR_LSTATUS;
	via_native_mii_speed(link, cp_read16(n, BMCR),
			     cp_read16(n, ADVERTISE) & cp_read16(n, PARTNER));
	n->rx_missed += cp_read32(n, RX_MISSED) & 0xffffff;
	cp_write32(n, RX_MISSED, 0);
	look_again(n);
}

/* Starting and stopping. */

static bool rtl_filter(struct via_native *n)
{
	u32 config = RX_CONFIG_256 | RX_CONFIG_512 | RX_CONFIG_OURS |
		     RX_CONFIG_BROADCAST;
	struct net_device *dev = n->dev;
	const u8 *mac = dev->dev_addr;
	bool all = dev->flags & IFF_PROMISC || !netdev_uc_empty(dev);
	struct netdev_hw_addr *ha;
	u64 hash = 0;

	if (all)
		config |= RX_CONFIG_ALL;
	if (all || dev->flags & IFF_ALLMULTI)
		hash = U64_MAX;
	netdev_for_each_mc_addr(ha, dev)
		hash |= BIT_ULL(ether_crc(ETH_ALEN, ha->addr) >> 26);
	if (hash)
		config |= RX_CONFIG_MULTICAST;
	cp_write8(n, EEPROM, EEPROM_UNLOCK);
	cp_write32(n, MAC, mac[0] | mac[1] << 8 | mac[2] << 16 |
		   (u32)mac[3] << 24);
	cp_write32(n, MAC + 4, mac[4] | mac[5] << 8);
	cp_write8(n, EEPROM, EEPROM_LOCK);
	cp_write32(n, HASH, lower_32_bits(hash));
	cp_write32(n, HASH + 4, upper_32_bits(hash));
	cp_write32(n, RX_CONFIG, config);
	return true;
}

static void rings_init(struct via_native *n)
{
	u32 i;

	for (i = 0; i < TX_SLOTS; i++)
		*cp_desc(&n->tx, i) = (struct desc){};
	for (i = 0; i < RX_SLOTS; i++) {
		*cp_desc(&n->rx, i) = (struct desc){
			.addr = cpu_to_le64(n->rx.buf[i].dma),
		};
		rx_give(n, i);
	}
}

static void put_ring(struct via_native *n, u32 reg, dma_addr_t dma)
{
	cp_write32(n, reg, lower_32_bits(dma));
	cp_write32(n, reg + 4, upper_32_bits(dma));
}

/* Nothing of memory is used after it, all interrupts are masked. */
static int reset_chip(struct via_native *n)
{
	u8 command;
	int err;

	cp_write16(n, INT_MASK, 0);
	cp_write8(n, COMMAND, COMMAND_RESET);
	err = read_poll_timeout(cp_read8, command, !(command & COMMAND_RESET),
				10, 10000, false, n, COMMAND);
	cp_write16(n, CP_COMMAND, 0);
	rtl_mask(n);
	cp_write16(n, INT_STATUS, U16_MAX);
	return err;
}

static void rtl_stop(struct via_native *n)
{
	if (reset_chip(n) && !is_gone(cp_read16(n, BMSR)))
		netdev_warn(n->dev, "the chip does not stop\n");
}

static int rtl_start(struct via_native *n)
{
	int err;

	if (is_gone(cp_read16(n, BMSR)))
		return -ENODEV;
	err = reset_chip(n);
	if (err)
		return err;
	wake_phy(n);
	rings_init(n);
	/* Some forget where the rings are when this is written after. */
	cp_write16(n, CP_COMMAND, CP_COMMAND_TX | CP_COMMAND_RX |
		   CP_COMMAND_64);
	put_ring(n, TX_RING_HIGH, 0);
	put_ring(n, TX_RING, n->tx.dma);
	put_ring(n, RX_RING, n->rx.dma);
	cp_write8(n, TX_THRESHOLD, TX_WHOLE);
	cp_write16(n, MULTI_INT, 0);
	cp_write16(n, INT_DELAY, 0);
	/* No frame passes before the filter is there. */
	cp_write32(n, RX_CONFIG, RX_CONFIG_256 | RX_CONFIG_512);
	/* It does not look at memory before this. */
	cp_write8(n, COMMAND, COMMAND_TX | COMMAND_RX);
	cp_write32(n, TX_CONFIG, TX_CONFIG_1024 | TX_CONFIG_GAP);
	return 0;
}

/* MAC has what the driver before us left there, so the chip reads anew. */
static int rtl_identify(struct via_native *n)
{
	u32 low, high;
	u8 mode;
	int err;

	err = reset_chip(n);
	if (!err) {
		cp_write8(n, EEPROM, EEPROM_LOAD);
		err = read_poll_timeout(cp_read8, mode, !(mode & EEPROM_MODE),
					100, 50000, false, n, EEPROM);
	}
	if (err) {
		dev_err(&n->pdev->dev, "the chip does not answer\n");
		return err;
	}
	low = cp_read32(n, MAC);
	high = cp_read32(n, MAC + 4);
	eth_hw_addr_set(n->dev, (u8 []){
		low, low >> 8, low >> 16, low >> 24, high, high >> 8,
	});
	netif_set_tso_max_size(n->dev, TSO_MAX);
	return 0;
}

static int rtl_loopback(struct via_native *n, bool on)
{
	cp_write32(n, TX_CONFIG, TX_CONFIG_1024 | TX_CONFIG_GAP |
				 (on ? TX_CONFIG_LOOPBACK : 0));
	return 0;
}

static const struct via_native_chip chip = {
	.ether = &via_native_ether,
	.hard_irq = rtl_irq,
	.poll = via_native_poll,
	.xmit = via_native_xmit,
	.bar = 1,
	.dma_bits = 64,
	.desc_size = sizeof(struct desc),
	.tx_slots = TX_SLOTS,
	.rx_slots = RX_SLOTS,
	.max_mtu = ETH_DATA_LEN,
	.tx_most = TSO_SLOTS,
	.features = NETIF_F_TSO,
	.untagged = NETIF_F_TSO,
	.identify = rtl_identify,
	.start = rtl_start,
	.stop = rtl_stop,
	.unmask = rtl_unmask,
	.mask = rtl_mask,
	.filter = rtl_filter,
	.link = rtl_link,
	.reap = via_native_reap,
	.tx_wait = rtl_tx_wait,
	.loopback = rtl_loopback,
};

static int cp_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	if (pdev->revision < REV_8139CP) {
		dev_err(&pdev->dev, "revision %#x has no rings of descriptors; use 8139too\n",
			pdev->revision);
		return -ENODEV;
	}
	return via_native_probe(pdev, &chip);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REALTEK, PCI_DEVICE_ID_REALTEK_8139) },
	{}
};

/* Not in MODULE_DEVICE_TABLE: see "Off until asked for" in native.h. */

static struct pci_driver rtl_driver = {
	.name = "via_8139cp",
	.id_table = ids,
	.probe = cp_probe,
	.remove = via_native_remove,
	.shutdown = via_native_shutdown,
	.driver.pm = &via_native_pm,
};
module_pci_driver(rtl_driver);

MODULE_DESCRIPTION("VI NIC and network interface on Realtek RTL8139C+");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
