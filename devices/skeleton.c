// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A native driver to begin from, for a chip that does not exist: two rings of
 * descriptors with an "owner" bit each, one interrupt, one address.  `make
 * lint' builds it, so that it stays right; it is not installed, and binds to
 * nothing.  docs/contribute/porting.md goes through it.
 *
 * Everything with EXAMPLE in its name is what your chip's manual says.
 *
 * Locking: native/native.h.
 */

#include <linux/iopoll.h>
#include <linux/module.h>
#include "native/path.h"

/* 1. What the manual says. */

#define TX_SLOTS		128	/* powers of two, at least 16 */
#define RX_SLOTS		128

#define EXAMPLE_CONTROL		0x00
#define EXAMPLE_RESET		BIT(0)	/* reads as one until it is done */
#define EXAMPLE_RUN		BIT(1)	/* both directions */
#define EXAMPLE_PROMISC		BIT(2)
#define EXAMPLE_MULTICAST	BIT(3)
#define EXAMPLE_IDLE		BIT(4)	/* nothing of memory is used any more */
#define EXAMPLE_EVENTS		0x04	/* write ones to acknowledge */
#define EXAMPLE_MASK		0x08	/* ones interrupt */
#define EXAMPLE_RECEIVED	BIT(0)
#define EXAMPLE_SENT		BIT(1)
#define EXAMPLE_LINK_CHANGED	BIT(2)
#define EXAMPLE_ALL		0x07
#define EXAMPLE_TX_RING		0x10
#define EXAMPLE_RX_RING		0x14
#define EXAMPLE_TX_KICK		0x18
#define EXAMPLE_LINK		0x1c
#define EXAMPLE_LINK_UP		BIT(0)
#define EXAMPLE_MAC_LOW		0x20
#define EXAMPLE_MAC_HIGH	0x24

struct desc {
	__le32 status;
	__le32 addr;
};

#define EXAMPLE_OWN		BIT(31)	/* the chip's */
#define EXAMPLE_IRQ		BIT(30)	/* to send: interrupt when it has left */
#define EXAMPLE_END		BIT(29)	/* of the ring */
#define EXAMPLE_ERROR		BIT(28)
#define EXAMPLE_LENGTH		0xffff

static inline void put_reg(struct via_native *n, u32 reg, u32 value)
{
	writel(value, n->regs + reg);
}

static inline u32 get_reg(struct via_native *n, u32 reg)
{
	return readl(n->regs + reg);
}

static inline struct desc *ring_desc(const struct via_native_ring *ring, u32 i)
{
	return (struct desc *)ring->desc + i;
}

static inline u32 ring_end(const struct via_native_ring *ring, u32 i)
{
	return i == ring->slots - 1 ? EXAMPLE_END : 0;
}

/*
 * 2. The short path: eight answers.  They are inlined into the loops of
 * native/path.h, so keep them short; each instruction here is paid for by each
 * message.
 */

static inline void tx_fill(struct via_native *n, u32 i, u32 len, bool irq)
{
	/* The bytes before the owner. */
	dma_wmb();
	WRITE_ONCE(ring_desc(&n->tx, i)->status,
		   cpu_to_le32(EXAMPLE_OWN | len | ring_end(&n->tx, i) |
			       (irq ? EXAMPLE_IRQ : 0)));
}

static inline void tx_kick(struct via_native *n)
{
	put_reg(n, EXAMPLE_TX_KICK, 1);
}

static inline bool tx_done(struct via_native *n, u32 i)
{
	u32 status = le32_to_cpu(READ_ONCE(ring_desc(&n->tx, i)->status));

	if (status & EXAMPLE_OWN)
		return false;
	if (unlikely(status & EXAMPLE_ERROR))
		n->tx_stats.errors++;
	return true;
}

static inline int rx_frame(struct via_native *n, u32 i)
{
	u32 status = le32_to_cpu(READ_ONCE(ring_desc(&n->rx, i)->status));
	u32 len = status & EXAMPLE_LENGTH;

	if (status & EXAMPLE_OWN)
		return 0;
	/* The owner before the bytes. */
	dma_rmb();
	/*
	 * Trust no length: memory beyond the buffer is not the ring's.  Is the
	 * checksum behind the frame counted by the chip, take it off.
	 */
	if (unlikely(status & EXAMPLE_ERROR || !len || len > n->buf_size))
		return -EIO;
	return len;
}

/* Called for programs that spin, without owning the ring: read only. */
static inline bool rx_there(struct via_native *n)
{
	u32 i = READ_ONCE(n->rx.next) & (n->rx.slots - 1);

	return !(READ_ONCE(ring_desc(&n->rx, i)->status) &
		 cpu_to_le32(EXAMPLE_OWN));
}

static inline void rx_give(struct via_native *n, u32 i)
{
	/*
	 * All looks at the bytes before the owner.  A chip that puts the
	 * frame's length where the buffer's was wants that again.
	 */
	dma_mb();
	WRITE_ONCE(ring_desc(&n->rx, i)->status,
		   cpu_to_le32(EXAMPLE_OWN | ring_end(&n->rx, i)));
}

static inline void rx_given(struct via_native *n)
{
	/* A chip with a tail register: move it here, once for all. */
}

/* Write, then read: the read waits for both what we and what it wrote. */
static inline void example_ack_irq(struct via_native *n)
{
	put_reg(n, EXAMPLE_EVENTS, EXAMPLE_RECEIVED | EXAMPLE_SENT);
	get_reg(n, EXAMPLE_EVENTS);
}

static const struct via_native_fast via_native_fast = {
	.tx_fill = tx_fill,
	.tx_kick = tx_kick,
	.tx_done = tx_done,
	.rx_frame = rx_frame,
	.rx_there = rx_there,
	.rx_give = rx_give,
	.rx_given = rx_given,
	.ack = example_ack_irq,
};

/* 3. The interrupt. */

static irqreturn_t example_irq(int irq, void *arg)
{
	struct via_native *n = arg;
	u32 events = get_reg(n, EXAMPLE_EVENTS);

	/*
	 * The line may be shared, and the card may be gone: all ones.  Most
	 * chips show what is masked, too, which did not interrupt.
	 */
	if (!(events & get_reg(n, EXAMPLE_MASK)) || events == U32_MAX)
		return IRQ_NONE;
	if (unlikely(events & EXAMPLE_LINK_CHANGED)) {
		put_reg(n, EXAMPLE_EVENTS, EXAMPLE_LINK_CHANGED);
		via_native_look(n);
	}
	/*
	 * Even if the poll is not to be had: it may be off for good.  Is it
	 * scheduled already, this has it run once more.
	 */
	put_reg(n, EXAMPLE_MASK, 0);
	if (likely(napi_schedule_prep(&n->napi)))
		__napi_schedule_irqoff(&n->napi);
	return IRQ_HANDLED;
}

/* 4. Starting, stopping, and what is rare. */

static int reset_chip(struct via_native *n)
{
	u32 control;

	put_reg(n, EXAMPLE_MASK, 0);
	put_reg(n, EXAMPLE_CONTROL, EXAMPLE_RESET);
	/* Each wait has an end, whatever the register says. */
	return read_poll_timeout(get_reg, control, !(control & EXAMPLE_RESET),
				 10, 10000, false, n, EXAMPLE_CONTROL);
}

static int example_identify(struct via_native *n)
{
	u32 low = get_reg(n, EXAMPLE_MAC_LOW);
	u32 high = get_reg(n, EXAMPLE_MAC_HIGH);
	u8 mac[ETH_ALEN] = {
		low, low >> 8, low >> 16, low >> 24, high, high >> 8,
	};

	eth_hw_addr_set(n->dev, mac);
	return reset_chip(n);
}

static bool example_filter(struct via_native *n)
{
	struct net_device *dev = n->dev;
	u32 control = EXAMPLE_RUN;

	/* Too much is always right: the stack sorts it. */
	if (dev->flags & IFF_PROMISC || !netdev_uc_empty(dev))
		control |= EXAMPLE_PROMISC;
	if (dev->flags & IFF_ALLMULTI || !netdev_mc_empty(dev))
		control |= EXAMPLE_MULTICAST;
	/* writel() orders the descriptors before this. */
	put_reg(n, EXAMPLE_MAC_LOW, dev->dev_addr[0] | dev->dev_addr[1] << 8 |
		dev->dev_addr[2] << 16 | (u32)dev->dev_addr[3] << 24);
	put_reg(n, EXAMPLE_MAC_HIGH, dev->dev_addr[4] | dev->dev_addr[5] << 8);
	put_reg(n, EXAMPLE_CONTROL, control);
	return true;
}

static int example_start(struct via_native *n)
{
	u32 i;

	if (reset_chip(n))
		return -ENODEV;
	for (i = 0; i < TX_SLOTS; i++)
		*ring_desc(&n->tx, i) = (struct desc){
			.addr = cpu_to_le32(n->tx.buf[i].dma),
		};
	for (i = 0; i < RX_SLOTS; i++)
		*ring_desc(&n->rx, i) = (struct desc){
			.status = cpu_to_le32(EXAMPLE_OWN |
					      ring_end(&n->rx, i)),
			.addr = cpu_to_le32(n->rx.buf[i].dma),
		};
	put_reg(n, EXAMPLE_TX_RING, n->tx.dma);
	put_reg(n, EXAMPLE_RX_RING, n->rx.dma);
	/*
	 * The base calls the filter next, and that begins reception: before it
	 * the chip would take frames for any address.
	 */
	return 0;
}

/* When this returns the chip uses no memory; it may be gone from the bus. */
static void example_stop(struct via_native *n)
{
	u32 control;

	put_reg(n, EXAMPLE_CONTROL, 0);
	if (read_poll_timeout(get_reg, control, control & EXAMPLE_IDLE, 10,
			      10000, false, n, EXAMPLE_CONTROL))
		netdev_warn(n->dev, "the chip does not stop\n");
}

static void example_unmask(struct via_native *n)
{
	put_reg(n, EXAMPLE_MASK, EXAMPLE_ALL);
}

static void example_mask(struct via_native *n)
{
	put_reg(n, EXAMPLE_MASK, 0);
	get_reg(n, EXAMPLE_MASK);
}

static void example_link(struct via_native *n, struct via_native_link *link)
{
	u32 state = get_reg(n, EXAMPLE_LINK);

	link->gone = state == U32_MAX;
	link->up = state & EXAMPLE_LINK_UP && !link->gone;
	link->full = true;
	link->mbps = 100;
}

/* 5. What the base is told, and PCI. */

static const struct via_native_chip chip = {
	.ether = &via_native_ether,
	.hard_irq = example_irq,
	.poll = via_native_poll,
	.xmit = via_native_xmit,
	.bar = 0,
	.dma_bits = 32,
	.desc_size = sizeof(struct desc),
	.tx_slots = TX_SLOTS,
	.rx_slots = RX_SLOTS,
	.max_mtu = ETH_DATA_LEN,
	.identify = example_identify,
	.start = example_start,
	.stop = example_stop,
	.unmask = example_unmask,
	.mask = example_mask,
	.filter = example_filter,
	.link = example_link,
	.reap = via_native_reap,
};

static int example_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return via_native_probe(pdev, &chip);
}

static const struct pci_device_id ids[] = {
	{}	/* { PCI_DEVICE(0x1234, 0x5678) }, */
};

static struct pci_driver example_driver = {
	.name = "via_skeleton",
	.id_table = ids,
	.probe = example_probe,
	.remove = via_native_remove,
	.shutdown = via_native_shutdown,
	.driver.pm = &via_native_pm,
};
module_pci_driver(example_driver);

MODULE_DESCRIPTION("VI NIC and network interface on a chip that does not exist");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
