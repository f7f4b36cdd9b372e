// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_tulip: DEC 21140 and 21143 ("Tulip") as a network interface and a VI
 * NIC at once.
 *
 * Theory of operation.  The chip walks two rings of 16-byte descriptors in
 * our memory; bit 31 of a descriptor's first word says whose it is.  Both
 * rings are contiguous, the last descriptor carries "end of ring", and each
 * descriptor keeps its buffer for good (native/native.h has the reasons).
 *
 * Transmit.  A frame is one descriptor, one buffer; or the buffer has the
 * headers, and each fragment of the payload is the second piece of a
 * descriptor.  A write to CSR1 makes
 * the chip look at the ring; it sends until it meets a descriptor that is not
 * its own and then suspends.  The address filter travels the same ring: a
 * "setup frame" of 192 bytes holds 16 addresses, of which ours and the
 * broadcast address are two; where that is not enough the chip takes all
 * multicast frames, or all frames, and the stack sorts them.
 *
 * Receive.  A descriptor's buffer is given as two pieces that lie in a row,
 * 2044 and 4 bytes, since a piece's length has 11 bits and is a multiple of
 * four: so the longest frame that the chip lets pass fits into one
 * descriptor.  When the chip finds no free descriptor it suspends and drops;
 * a write to CSR2 after the ring was served resumes it at once.
 *
 * Interrupts.  CSR5 tells what happened, CSR7 masks.  The handler masks all
 * and leaves the rest to the poll, which acknowledges what it has served
 * before its last look at the ring.  Reading CSR5 after that write flushes
 * it, and what the chip wrote into memory before.
 *
 * The wire.  With a transceiver on the MII (most boards, the emulated one) that
 * negotiates by itself, and is asked for the result every two seconds.  A 21143
 * without one uses its own 10BASE-T transceiver.  The board's EEPROM says how
 * to reset and connect them (tulip_srom.c); boards whose only way is the chip's
 * own port for 100 Mb/s are for the stock driver, and refused.
 *
 * Locking: native/native.h.  CSR6, of which csr6 is the copy, is written
 * under the tx lock once the interface is up.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include "native/path.h"
#include "tulip.h"

#define TX_SLOTS	128
#define RX_SLOTS	128
#define RX_PIECE	2044u		/* bytes of a buffer's first piece */
#define CRC_LEN		4

/* Of the registers; how they are reached: tulip.h. */
#define CSR0_RESET	BIT(0)
#define CSR0_BURST_16	(16 << 8)	/* longwords in a burst */
#define CSR0_ALIGN_16	(2 << 14)	/* longwords of a cache line */
#define CSR5_TX		BIT(0)
#define CSR5_RX		BIT(6)
#define CSR5_RX_EMPTY	BIT(7)		/* no descriptor for a frame */
#define CSR5_RX_STOPPED	BIT(8)
#define CSR5_BUS_ERROR	BIT(13)
#define CSR5_ABNORMAL	BIT(15)		/* summaries of what is not masked */
#define CSR5_NORMAL	BIT(16)
#define CSR5_RX_STATE	GENMASK(19, 17)
#define CSR5_TX_STATE	GENMASK(22, 20)
#define CSR6_RX		BIT(1)
#define CSR6_PROMISC	BIT(6)
#define CSR6_MULTICAST	BIT(7)
#define CSR6_FULL	BIT(9)
#define CSR6_LOOPBACK	BIT(10)		/* inside of the chip */
#define CSR6_TX		BIT(13)
#define CSR6_PORT_MII	BIT(18)
#define CSR6_NO_HEARTBEAT BIT(19)
#define CSR6_STORE	BIT(21)		/* and forward: no underrun */
#define CSR6_10MBPS	BIT(22)
#define CSR6_ONE	BIT(25)		/* must be one */
#define CSR12_NO_LINK10	BIT(2)

#define POWER_MODE	0x40		/* of PCI configuration: sleep, snooze */

#define EVENTS_SERVED	(CSR5_TX | CSR5_RX | CSR5_NORMAL)
#define EVENTS_RARE	(CSR5_RX_EMPTY | CSR5_RX_STOPPED | CSR5_BUS_ERROR)
#define EVENTS		(EVENTS_SERVED | EVENTS_RARE | CSR5_ABNORMAL)

/* Descriptors. */
#define OWN		BIT(31)
#define RX_LENGTH	GENMASK(29, 16)
#define RX_ERROR	BIT(15)		/* or of several, and of "too long" */
#define RX_DAMAGED	(BIT(0) | BIT(1) | BIT(6) | BIT(11) | BIT(14))
#define RX_FIRST	BIT(9)
#define RX_LAST		BIT(8)
#define TX_ERROR	BIT(15)
#define TX_SETUP_DONE	0x7fffffff
#define TX_IRQ		BIT(31)
#define TX_LAST		BIT(30)
#define TX_FIRST	BIT(29)
#define TX_SETUP	BIT(27)
#define RING_END	BIT(25)

struct desc {
	__le32 status;
	__le32 control;
	__le32 buf1;
	__le32 buf2;
};

#define FILTER_ENTRIES	16
#define FILTER_BYTES	192

/* The short path. */

static inline struct desc *tulip_desc(const struct via_native_ring *ring, u32 i)
{
	return (struct desc *)ring->desc + i;
}

static inline u32 ring_end(u32 i, u32 slots)
{
	return i == slots - 1 ? RING_END : 0;
}

static inline void tulip_fill_desc(struct via_native *n, u32 i, u32 control)
{
	struct desc *d = tulip_desc(&n->tx, i);

	d->control = cpu_to_le32(control | ring_end(i, TX_SLOTS));
	/* The bytes and all else before the owner. */
	dma_wmb();
	WRITE_ONCE(d->status, cpu_to_le32(OWN));
}

static inline void tx_fill(struct via_native *n, u32 i, u32 len, bool irq)
{
	tulip_fill_desc(n, i, TX_FIRST | TX_LAST | len | (irq ? TX_IRQ : 0));
}

/*
 * A fragment is the second piece of a descriptor, whose first one is the
 * slot's buffer, with the headers, or of length 0, which the chip skips.
 */
static inline u32 tx_spread(u32 n)
{
	return n;
}

static inline void tx_frags(struct via_native *n, u32 i, u32 len,
			    const struct via_frags *frags, bool irq)
{
	u32 last = frags->n - 1, k, at;

	/* From the end: what comes first is the chip's last of all. */
	for (k = frags->n; k--; ) {
		at = (i + k) & (TX_SLOTS - 1);
		tulip_desc(&n->tx, at)->buf2 = cpu_to_le32(frags->frag[k].dma);
		tulip_fill_desc(n, at, frags->frag[k].len << 11 |
				(k ? 0 : TX_FIRST | len) |
				(k < last ? 0 : TX_LAST | (irq ? TX_IRQ : 0)));
	}
}

static inline void tx_kick(struct via_native *n)
{
	put_csr(n, 1, 1);
}

static inline bool tx_done(struct via_native *n, u32 i)
{
	u32 status = le32_to_cpu(READ_ONCE(tulip_desc(&n->tx, i)->status));

	if (status & OWN)
		return false;
	if (unlikely(status & TX_ERROR) && status != TX_SETUP_DONE)
		n->tx_stats.errors++;
	return true;
}

static inline int rx_frame(struct via_native *n, u32 i)
{
	const u32 whole = RX_FIRST | RX_LAST;
	u32 status = le32_to_cpu(READ_ONCE(tulip_desc(&n->rx, i)->status));
	int len;

	if (status & OWN)
		return 0;
	/* The owner before the bytes. */
	dma_rmb();
	len = FIELD_GET(RX_LENGTH, status) - CRC_LEN;
	if (likely((status & (whole | RX_ERROR)) == whole && len > 0))
		return len;
	/* A tagged frame is "too long", and welcome. */
	if ((status & (whole | RX_DAMAGED)) == whole && len > 0 &&
	    len <= n->tx_max)
		return len;
	return -EIO;
}

static inline bool rx_there(struct via_native *n)
{
	u32 i = READ_ONCE(n->rx.next) & (RX_SLOTS - 1);

	return !(READ_ONCE(tulip_desc(&n->rx, i)->status) & cpu_to_le32(OWN));
}

static inline void rx_give(struct via_native *n, u32 i)
{
	/* All looks at the bytes, and all else, before the owner. */
	dma_mb();
	WRITE_ONCE(tulip_desc(&n->rx, i)->status, cpu_to_le32(OWN));
}

static inline void rx_given(struct via_native *n)
{
	/* The chip looks at the descriptors themselves. */
}

static noinline void tulip_rare_irq(struct via_native *n, u32 events)
{
	put_csr(n, 5, (events & EVENTS_RARE) | CSR5_ABNORMAL);
	if (events == U32_MAX)
		return;			/* gone from the bus */
	if (events & (CSR5_RX_EMPTY | CSR5_RX_STOPPED)) {
		n->rx_stats.empty++;
		put_csr(n, 2, 1);
	}
	if (events & CSR5_BUS_ERROR)
		via_native_fail(n, "bus error", events);
}

/* What is rare is acknowledged only where it was seen. */
static inline void tulip_ack_irq(struct via_native *n)
{
	u32 events;

	put_csr(n, 5, EVENTS_SERVED);
	events = get_csr(n, 5);
	if (unlikely(events & EVENTS_RARE))
		tulip_rare_irq(n, events);
}

static const struct via_native_fast via_native_fast = {
	.tx_fill = tx_fill,
	.tx_frags = tx_frags,
	.tx_spread = tx_spread,
	.tx_kick = tx_kick,
	.tx_done = tx_done,
	.rx_frame = rx_frame,
	.rx_there = rx_there,
	.rx_give = rx_give,
	.rx_given = rx_given,
	.ack = tulip_ack_irq,
};

static irqreturn_t tulip_irq(int irq, void *arg)
{
	struct via_native *n = arg;
	u32 events = get_csr(n, 5);

	/* Masked, not ours, or gone from the bus. */
	if (!(events & (CSR5_NORMAL | CSR5_ABNORMAL)) || events == U32_MAX)
		return IRQ_NONE;
	/* Even if the poll is not to be had: it may be off for good. */
	put_csr(n, 7, 0);
	if (likely(napi_schedule_prep(&n->napi)))
		__napi_schedule_irqoff(&n->napi);
	return IRQ_HANDLED;
}

/* Starting and stopping. */

/* Wait until what CSR6 told to stop has stopped; a gone chip never says. */
static void wait_stopped(struct via_native *n)
{
	u32 csr5;

	if (read_poll_timeout_atomic(get_csr, csr5, csr5 == U32_MAX ||
				     !(csr5 & (CSR5_RX_STATE | CSR5_TX_STATE)),
				     10, 2000, false, n, 5))
		netdev_warn(n->dev, "the chip does not stop (status %#x)\n",
			    csr5);
}

/* Speed and duplex change only while nothing runs; tx lock or not up. */
static void set_csr6(struct via_native *n, u32 csr6)
{
	const u32 calm = CSR6_PROMISC | CSR6_MULTICAST | CSR6_RX | CSR6_TX;
	struct tulip *t = tulip(n);

	if (csr6 == t->csr6)
		return;
	if ((csr6 ^ t->csr6) & ~calm && t->csr6 & (CSR6_RX | CSR6_TX)) {
		put_csr(n, 6, t->csr6 & ~(CSR6_RX | CSR6_TX));
		wait_stopped(n);
	}
	t->csr6 = csr6;
	put_csr(n, 6, csr6);
}

static void tulip_link(struct via_native *n, struct via_native_link *link)
{
	u32 csr6;

	if (get_csr(n, 5) == U32_MAX) {
		link->gone = true;
		return;
	}
	if (tulip(n)->phy >= 0) {
		tulip_phy_link(n, link);
	} else {
		link->up = !(get_csr(n, 12) & CSR12_NO_LINK10);
		link->mbps = 10;
	}
	__netif_tx_lock_bh(via_native_txq(n));
	csr6 = tulip(n)->csr6 & ~(CSR6_FULL | CSR6_10MBPS);
	if (link->full)
		csr6 |= CSR6_FULL;
	if (link->mbps == 10)
		csr6 |= CSR6_10MBPS;
	if (link->up && n->up)
		set_csr6(n, csr6);
	__netif_tx_unlock_bh(via_native_txq(n));
}

static void filter_add(__le32 **to, const u8 *mac)
{
	int i;

	/* Two bytes in each longword. */
	for (i = 0; i < ETH_ALEN; i += 2)
		*(*to)++ = cpu_to_le32(mac[i] | mac[i + 1] << 8);
}

/* All 16 addresses: what is not needed is filled with our own. */
static void filter_build(struct via_native *n, void *frame, bool uc, bool mc)
{
	static const u8 broadcast[ETH_ALEN] = { [0 ... ETH_ALEN - 1] = 0xff };
	struct net_device *dev = n->dev;
	struct netdev_hw_addr *ha;
	__le32 *to = frame, *end = frame + FILTER_BYTES;

	filter_add(&to, dev->dev_addr);
	filter_add(&to, broadcast);
	if (uc)
		netdev_for_each_uc_addr(ha, dev)
			filter_add(&to, ha->addr);
	if (mc)
		netdev_for_each_mc_addr(ha, dev)
			filter_add(&to, ha->addr);
	while (to < end)
		filter_add(&to, dev->dev_addr);
}

static bool tulip_filter(struct via_native *n)
{
	const struct via_native_buf *buf;
	struct net_device *dev = n->dev;
	u32 room = FILTER_ENTRIES - 2, i;
	u32 csr6 = tulip(n)->csr6 & ~(CSR6_PROMISC | CSR6_MULTICAST);
	bool uc, mc;
	int empty;

	via_native_reap(n);
	if (via_native_tx_busy(n) + 2 > n->tx.slots)
		return false;
	uc = netdev_uc_count(dev) <= room;
	if (uc)
		room -= netdev_uc_count(dev);
	mc = netdev_mc_count(dev) <= room;
	if (dev->flags & IFF_PROMISC || !uc)
		csr6 |= CSR6_PROMISC;
	if (dev->flags & IFF_ALLMULTI || !mc)
		csr6 |= CSR6_MULTICAST;
	set_csr6(n, csr6);

	/*
	 * The 21140 may skip a setup frame behind other frames, unless an
	 * empty descriptor is before it; that one is the chip's last of all.
	 */
	empty = n->tx.next ? (int)via_native_take_slot(n, VIA_NATIVE_IP) : -1;
	i = via_native_take_slot(n, VIA_NATIVE_IP);
	buf = &n->tx.buf[i];
	filter_build(n, buf->data, uc, mc);
	if (n->sync)
		dma_sync_single_for_device(&n->pdev->dev, buf->dma,
					   FILTER_BYTES, DMA_TO_DEVICE);
	tulip_fill_desc(n, i, TX_SETUP | FILTER_BYTES);
	if (empty >= 0)
		tulip_fill_desc(n, empty, 0);
	tx_kick(n);
	return true;
}

static void rings_init(struct via_native *n)
{
	struct desc *d;
	u32 i;

	for (i = 0; i < TX_SLOTS; i++) {
		d = tulip_desc(&n->tx, i);
		d->status = 0;
		d->buf1 = cpu_to_le32(n->tx.buf[i].dma);
		d->buf2 = 0;
	}
	for (i = 0; i < RX_SLOTS; i++) {
		d = tulip_desc(&n->rx, i);
		d->status = cpu_to_le32(OWN);
		d->control = cpu_to_le32(RX_PIECE |
					 (VIA_NATIVE_BUF - RX_PIECE) << 11 |
					 ring_end(i, RX_SLOTS));
		d->buf1 = cpu_to_le32(n->rx.buf[i].dma);
		d->buf2 = cpu_to_le32(n->rx.buf[i].dma + RX_PIECE);
	}
	/* Coherent memory, but the chip may look as soon as it is told. */
	wmb();
}

static void reset_chip(struct via_native *n)
{
	/* Some revisions want to know the port before. */
	if (tulip(n)->media.mii || tulip(n)->phy >= 0)
		put_csr(n, 6, CSR6_PORT_MII);
	put_csr(n, 0, CSR0_RESET);
	get_csr(n, 0);
	usleep_range(50, 100);
	put_csr(n, 0, CSR0_BURST_16 | CSR0_ALIGN_16);
	put_csr(n, 7, 0);
	get_csr(n, 0);
	usleep_range(50, 100);
}

/* Only ours, no data path: the setup frame leaves though there is no wire. */
static int filter_first(struct via_native *n)
{
	__le32 *status = &tulip_desc(&n->tx, 0)->status;
	u32 seen;

	netif_addr_lock_bh(n->dev);
	tulip_filter(n);
	netif_addr_unlock_bh(n->dev);
	if (read_poll_timeout(READ_ONCE, seen,
			      !(le32_to_cpu((__force __le32)seen) & OWN),
			      10, 10000, false, *(u32 __force *)status)) {
		netdev_err(n->dev, "the chip does not take its address filter\n");
		return -EIO;
	}
	return 0;
}

static void tulip_stop(struct via_native *n)
{
	struct tulip *t = tulip(n);

	t->csr6 &= ~(CSR6_RX | CSR6_TX);
	put_csr(n, 6, t->csr6);
	wait_stopped(n);
	put_csr(n, 5, EVENTS);
}

static int tulip_start(struct via_native *n)
{
	struct tulip *t = tulip(n);
	int err;

	if (get_csr(n, 5) == U32_MAX)
		return -ENODEV;
	pci_write_config_dword(n->pdev, POWER_MODE, 0);
	reset_chip(n);
	rings_init(n);
	put_csr(n, 3, n->rx.dma);
	put_csr(n, 4, n->tx.dma);
	t->csr6 = CSR6_ONE | CSR6_STORE;
	if (t->phy >= 0) {
		t->csr6 |= CSR6_PORT_MII | CSR6_NO_HEARTBEAT;
		tulip_mii_select(n);
		tulip_phy_wake(n);
	} else {
		tulip_sia_select(n);
	}
	put_csr(n, 6, t->csr6);
	/* It wants the filter before it receives. */
	set_csr6(n, t->csr6 | CSR6_TX);
	err = filter_first(n);
	if (err) {
		tulip_stop(n);
		return err;
	}
	set_csr6(n, t->csr6 | CSR6_RX);
	return 0;
}

static void tulip_unmask(struct via_native *n)
{
	put_csr(n, 7, EVENTS);
}

static void tulip_mask(struct via_native *n)
{
	put_csr(n, 7, 0);
	get_csr(n, 7);
}

static int tulip_identify(struct via_native *n)
{
	bool gpio8 = n->pdev->device == PCI_DEVICE_ID_DEC_TULIP_FAST;
	struct tulip *t = tulip(n);
	const char *why;
	int err;

	t->phy = -1;
	pci_write_config_dword(n->pdev, POWER_MODE, 0);
	reset_chip(n);
	err = tulip_board_read(n, gpio8);
	if (err)
		return err;
	tulip_phy_find(n);
	why = tulip_srom_refused(&t->media, gpio8, t->phy >= 0);
	if (why) {
		dev_err(&n->pdev->dev, "the board is not for this driver: %s; use the stock driver\n",
			why);
		return -ENODEV;
	}
	if (t->phy < 0 && t->media.sym)
		dev_warn(&n->pdev->dev, "10BASE-T only: the driver does not use the chip's own symbol port\n");
	return 0;
}

/* It is for half duplex, of which nothing else is left there. */
static int tulip_loopback(struct via_native *n, bool on)
{
	u32 csr6;

	__netif_tx_lock_bh(via_native_txq(n));
	csr6 = tulip(n)->csr6 & ~(CSR6_FULL | CSR6_LOOPBACK);
	set_csr6(n, csr6 | (on ? CSR6_LOOPBACK : 0));
	__netif_tx_unlock_bh(via_native_txq(n));
	return 0;
}

static const struct via_native_chip chip = {
	.ether = &via_native_ether,
	.hard_irq = tulip_irq,
	.poll = via_native_poll,
	.xmit = via_native_xmit,
	.bar = 1,
	.dma_bits = 32,
	.priv_size = sizeof(struct tulip),
	.desc_size = sizeof(struct desc),
	.tx_slots = TX_SLOTS,
	.rx_slots = RX_SLOTS,
	.max_mtu = ETH_DATA_LEN,
	.identify = tulip_identify,
	.start = tulip_start,
	.stop = tulip_stop,
	.unmask = tulip_unmask,
	.mask = tulip_mask,
	.filter = tulip_filter,
	.link = tulip_link,
	.reap = via_native_reap,
	.loopback = tulip_loopback,
};

static int tulip_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return via_native_probe(pdev, &chip);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_DEC, PCI_DEVICE_ID_DEC_TULIP_FAST) },
	{ PCI_DEVICE(PCI_VENDOR_ID_DEC, PCI_DEVICE_ID_DEC_21142) },
	{}
};

/* Not in MODULE_DEVICE_TABLE: see "Off until asked for" in native.h. */

static struct pci_driver tulip_driver = {
	.name = "via_tulip",
	.id_table = ids,
	.probe = tulip_probe,
	.remove = via_native_remove,
	.shutdown = via_native_shutdown,
	.driver.pm = &via_native_pm,
};
module_pci_driver(tulip_driver);

MODULE_DESCRIPTION("VI NIC and network interface on DEC 21140 and 21143");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
