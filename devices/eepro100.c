// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_eepro100: Intel 82557, 82558, 82559 and 82551 (PRO/100, "8255x") as a
 * network interface and a VI NIC at once.
 *
 * Theory of operation.  The chip has a command unit and a receive unit, each
 * of which walks a list in our memory; ours are rings, with the links set once.
 * Each slot keeps its buffer for good (native/native.h has the reasons).  The
 * units are told by a byte written to the command register, which reads zero
 * again when the chip has taken it.
 *
 * Transmit.  A frame is one command block, with an array of the pieces that
 * it is put together from: the slot's buffer and, where that has only the
 * headers of a long message, up to four fragments of registered memory.  All
 * chips know this form; that of the 82558 and later, with the array's first
 * two in the block's head, gains nothing here.
 *
 * The last block put has "suspend": behind it the chip waits.  What is put
 * then is out of its sight until tx_kick() sets "suspend" on the new last
 * block, clears it on the old one, in this order, and tells it to resume.
 * That is right at any moment: a chip that is still before the old end goes on
 * by itself, and a resume is nothing to one that runs.  A long burst is kicked
 * every 16 blocks: more than that the emulated chip does not run at once.  The
 * address filter travels the same ring, as the commands "configure",
 * "individual address" and "multicast list".
 *
 * Receive.  In front of each frame, in the slot's buffer, lies its descriptor.
 * The last one that is free has "end of list"; it moves on as slots are given
 * back.  A chip that reaches it fills it, stops, drops, and says so; it is
 * started anew at the first slot that it has not filled, once the poll has
 * taken all that it has.
 *
 * The emulated chip writes a frame's status before its bytes, so with several
 * CPUs a frame seen may not be there yet.  A register is read between the look
 * at statuses and the look at bytes: that waits for the chip to be done.  It is
 * no extra read, since the poll acknowledges there and need not do it later.
 *
 * Interrupts.  A byte of causes, cleared by writing ones, and a byte of masks
 * beside it.  "The command unit has stopped", which comes after each burst, is
 * masked; the 82557, which cannot mask it, is configured to say it never.
 *
 * The wire.  A transceiver that negotiates by itself, asked through the chip's
 * MDI register every two seconds; the same work fetches the counters which the
 * chip dumps into memory.
 *
 * Locking: native/native.h.  The command register and the pointer beside it
 * belong to the tx lock once the interface is up.
 */

#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include "eepro100.h"
#include "native/path.h"

#define TX_SLOTS	128
#define RX_SLOTS	256
#define BURST		16	/* command blocks that one resume runs */
#define RX_LOOK		32	/* frames looked at between two register reads */
#define TAKE_LOOPS	1000	/* for a command to be taken, a microsecond each */

/* Registers; EVENTS is in eepro100.h. */
#define SCB		0x00
#define SCB_RU		GENMASK(5, 2)
#define SCB_RU_READY	BIT(4)
#define SCB_CU		GENMASK(7, 6)
#define SCB_CU_WAITS	BIT(6)
#define SCB_MASKED	BIT(24)		/* MASK_ALL, in the whole longword */
#define EVENT_CX	BIT(7)		/* a command that asked for it is done */
#define EVENT_FR	BIT(6)		/* a frame */
#define EVENT_CNA	BIT(5)		/* the command unit has stopped */
#define EVENT_RNR	BIT(4)		/* the receive unit has stopped */
#define EVENT_SWI	BIT(2)
#define EVENT_FCP	BIT(0)
#define COMMAND		0x02
#define CU_NOP		0x00
#define CU_START	0x10
#define CU_RESUME	0x20
#define CU_DUMP_AT	0x40
#define CU_BASE		0x60
#define CU_DUMP_RESET	0x70
#define RU_START	0x01
#define RU_ABORT	0x04
#define RU_BASE		0x06
#define MASK		0x03
#define MASK_ALL	BIT(0)
#define POINTER		0x04
#define PORT		0x08
#define PORT_RESET	0
#define PORT_SELECTIVE	2		/* units only, off the bus first */

/* What the poll acknowledges without asking. */
#define EVENTS_SERVED	(EVENT_CX | EVENT_FR | EVENT_CNA | EVENT_MDI | \
			 EVENT_SWI | EVENT_FCP)

#define REV_82558	4		/* revision IDs from here on: not 82557 */

/* Command blocks. */
#define CB_DONE		BIT(15)		/* of status */
#define CB_SUSPEND	BIT(14)		/* of command, as all below */
#define CB_IRQ		BIT(13)
#define CB_FLEXIBLE	BIT(3)
#define CB_WHAT		GENMASK(2, 0)
#define CB_ADDRESS	1
#define CB_CONFIGURE	2
#define CB_MULTICAST	3
#define CB_TRANSMIT	4

/*
 * Of how: the number of pieces, which alone ends the array; sending begins
 * when so many eights of bytes are there, which is all; none in the block.
 */
#define TX_HOW(npieces)	((u32)(npieces) << 24 | 0xe0 << 16)

#define CB_SIZE		128u
#define MC_MAX		((CB_SIZE - 10) / ETH_ALEN)

struct cb {
	union {
		struct {
			__le16 status;
			__le16 command;
		};
		__le32 head;			/* both, in one store */
	};
	__le32 link;
	union {
		struct {
			__le32 array;		/* where piece[] is */
			__le32 how;
			struct {
				__le32 at;
				__le32 len;
			} piece[1 + VIA_FRAGS_MAX];
		} tx;
		struct {
			__le16 bytes;
			u8 mac[MC_MAX][ETH_ALEN];
		} mc;
		u8 data[CB_SIZE - 8];
	};
};

/* Receive frame descriptors; the frame follows. */
#define RFD_DONE	BIT(15)		/* of status */
#define RFD_OK		BIT(13)
#define RFD_END		BIT(15)		/* of command */
#define RFD_COUNT	GENMASK(13, 0)	/* of count */

struct rfd {
	__le16 status;
	__le16 command;
	__le32 link;
	__le32 reserved;
	__le16 count;
	__le16 size;
};

/* What the chip dumps: counted since the last dump. */
struct counters {
	__le32 tx_good;
	__le32 tx_collisions;		/* given up after 16 */
	__le32 tx_late;
	__le32 tx_underrun;
	__le32 tx_other[5];		/* sent all the same */
	__le32 rx_good;
	__le32 rx_crc;
	__le32 rx_alignment;
	__le32 rx_resource;
	__le32 rx_overrun;
	__le32 rx_collision;
	__le32 rx_short;
	__le32 done;
};

#define COUNTERS_DONE	0xa007

/**
 * struct eepro - what the base does not know of
 * @kicked:	tx lock: n->tx.next when the chip was told last
 * @seen:	link_work: @kicked at the last look
 * @standby:	constant: the chip goes to standby by itself
 * @rx_sure:	NAPI: n->rx.next when all frames known to be there are taken
 * @rx_end:	NAPI: the last slot that is free, counted like n->rx.next
 * @acked:	NAPI: acknowledged since then, before the ring was found empty
 * @starved:	NAPI: the receive unit has stopped
 * @masks:	constant: causes never wanted
 * @loopback:	tx lock: frames come back inside of the chip
 * @old:	constant: an 82557
 * @phy:	constant: address of the transceiver
 */
struct eepro {
	u32 kicked;
	u32 seen;
	bool standby;
	u32 rx_sure ____cacheline_aligned;
	u32 rx_end;
	bool acked;
	bool starved;
	u8 masks;
	bool loopback;
	bool old;
	int phy;
};

static inline struct eepro *eepro(struct via_native *n)
{
	return (struct eepro *)n->priv;
}

static inline struct cb *eepro100_cb(const struct via_native *n, u32 i)
{
	return (struct cb *)n->tx.desc + (i & (TX_SLOTS - 1));
}

static inline struct rfd *eepro100_rfd(const struct via_native *n, u32 i)
{
	return (struct rfd *)n->rx.buf[i & (RX_SLOTS - 1)].data - 1;
}

/* Descriptors of received frames are elsewhere: room for the counters. */
static inline struct counters *eepro100_counters(const struct via_native *n)
{
	return n->rx.desc;
}

/*
 * What SCB reads without a chip: ones, on the emulated bus zeros.  A chip that
 * is up has a state.
 */
static inline bool is_gone(u32 scb)
{
	return !scb || scb == U32_MAX;
}

/* The command register: tx lock, or not up. */

static noinline bool wait_taken(struct via_native *n)
{
	u8 command;

	if (!read_poll_timeout_atomic(readb, command, !command ||
				      command == U8_MAX, 1, TAKE_LOOPS, false,
				      n->regs + COMMAND) && !command)
		return true;
	if (command != U8_MAX)		/* else it is gone from the bus */
		via_native_fail(n, "the chip takes no command", command);
	return false;
}

static inline bool eepro100_tell_chip(struct via_native *n, u8 command)
{
	if (unlikely(readb(n->regs + COMMAND)) && !wait_taken(n))
		return false;
	/* Orders all that was written to memory before itself. */
	writeb(command, n->regs + COMMAND);
	return true;
}

static bool tell_where(struct via_native *n, u8 command, u32 where)
{
	if (!wait_taken(n))
		return false;
	writel(where, n->regs + POINTER);
	return eepro100_tell_chip(n, command);
}

/* A chip that goes to standby just when it is resumed may lose that. */
static noinline void keep_awake(struct via_native *n)
{
	eepro100_tell_chip(n, CU_NOP);
}

/* The short path. */

static inline void tx_kick(struct via_native *n)
{
	struct eepro *e = eepro(n);
	struct cb *last = eepro100_cb(n, n->tx.next - 1);
	struct cb *old = eepro100_cb(n, e->kicked - 1);

	if (unlikely(e->kicked == n->tx.next))
		return;
	last->command |= cpu_to_le16(CB_SUSPEND);
	/* The blocks, their bytes and the new end before the way to them. */
	dma_wmb();
	WRITE_ONCE(old->command,
		   old->command & cpu_to_le16(~CB_SUSPEND & U16_MAX));
	e->kicked = n->tx.next;
	if (unlikely(e->standby))
		keep_awake(n);
	eepro100_tell_chip(n, CU_RESUME);
}

/* Out of the chip's sight: tx_kick() orders. */
static inline void eepro100_fill_cb(struct cb *c, u32 len, u32 npieces,
				    bool irq)
{
	c->head = cpu_to_le32((CB_TRANSMIT | CB_FLEXIBLE |
			       (irq ? CB_IRQ : 0)) << 16);
	c->tx.how = cpu_to_le32(TX_HOW(npieces));
	c->tx.piece[0].len = cpu_to_le32(len);
}

static inline void tx_fill(struct via_native *n, u32 i, u32 len, bool irq)
{
	eepro100_fill_cb(eepro100_cb(n, i), len, 1, irq);
	if (unlikely(n->tx.next - eepro(n)->kicked >= BURST))
		tx_kick(n);
}

/* The array has room for the headers and all fragments: one slot. */
static inline u32 tx_spread(u32 n)
{
	return 1;
}

static inline void tx_frags(struct via_native *n, u32 i, u32 len,
			    const struct via_frags *frags, bool irq)
{
	struct cb *c = eepro100_cb(n, i);
	u32 k;

	/* This block is not counted yet, so it is not among those. */
	if (unlikely(n->tx.next - eepro(n)->kicked >= BURST - 1))
		tx_kick(n);
	eepro100_fill_cb(c, len, 1 + frags->n, irq);
	for (k = 0; k < frags->n; k++) {
		c->tx.piece[1 + k].at = cpu_to_le32(frags->frag[k].dma);
		c->tx.piece[1 + k].len = cpu_to_le32(frags->frag[k].len);
	}
}

static void cb_init(const struct via_native *n, u32 i)
{
	struct cb *c = eepro100_cb(n, i);

	c->tx.array = cpu_to_le32(n->tx.dma + i * CB_SIZE +
				  offsetof(struct cb, tx.piece));
	c->tx.piece[0].at = cpu_to_le32(n->tx.buf[i].dma);
}

/* The chip's counters have the frames that it could not send. */
static inline bool tx_done(struct via_native *n, u32 i)
{
	struct cb *c = eepro100_cb(n, i);

	if (!(READ_ONCE(c->status) & cpu_to_le16(CB_DONE)))
		return false;
	if (unlikely((c->command & cpu_to_le16(CB_WHAT)) !=
		     cpu_to_le16(CB_TRANSMIT)))
		cb_init(n, i);		/* for a frame again */
	return true;
}

/* Something is not as always; @scb is what the status register had. */
static noinline void eepro100_rare_irq(struct via_native *n, u16 scb)
{
	struct eepro *e = eepro(n);

	if (!scb || scb == U16_MAX)
		return;			/* gone from the bus */
	writeb(EVENT_RNR, n->regs + EVENTS);
	if ((scb & SCB_RU) != SCB_RU_READY && !e->starved) {
		e->starved = true;
		n->rx_stats.empty++;
	}
}

/*
 * Reading flushes the write, and what the chip wrote into memory before.  A
 * receive unit that has stopped shows in its state too.
 */
static inline void eepro100_serve_irq(struct via_native *n)
{
	const u16 usual = EVENT_RNR << 8 | SCB_RU;
	u16 scb;

	writeb(EVENTS_SERVED, n->regs + EVENTS);
	scb = readw(n->regs + SCB);
	if (unlikely((scb & usual) != SCB_RU_READY))
		eepro100_rare_irq(n, scb);
}

/* The ring is drained, and the chip has stopped. */
static noinline void rx_restart(struct via_native *n)
{
	struct netdev_queue *txq = via_native_txq(n);
	u32 i = n->rx.next & (RX_SLOTS - 1);

	eepro(n)->starved = false;
	/* All looks at the slots' bytes before the chip may write again. */
	mb();
	__netif_tx_lock(txq, smp_processor_id());
	tell_where(n, RU_START, n->rx.buf[i].dma - sizeof(struct rfd));
	__netif_tx_unlock(txq);
}

/* All frames that are known are taken: are there more? */
static bool rx_look(struct via_native *n)
{
	struct eepro *e = eepro(n);
	u32 sure = n->rx.next;

	while (sure - n->rx.next < RX_LOOK &&
	       READ_ONCE(eepro100_rfd(n, sure)->status) & cpu_to_le16(RFD_DONE))
		sure++;
	if (sure == n->rx.next) {
		if (unlikely(e->starved))
			rx_restart(n);
		return false;
	}
	eepro100_serve_irq(n);
	e->acked = true;
	e->rx_sure = sure;
	return true;
}

static inline bool rx_there(struct via_native *n)
{
	u32 i = READ_ONCE(n->rx.next) & (RX_SLOTS - 1);

	return READ_ONCE(eepro100_rfd(n, i)->status) & cpu_to_le16(RFD_DONE);
}

static inline int rx_frame(struct via_native *n, u32 i)
{
	const struct rfd *r = eepro100_rfd(n, i);
	u32 len;

	if (n->rx.next == eepro(n)->rx_sure && !rx_look(n))
		return 0;
	/* eepro100_serve_irq() ordered this after the look at the status. */
	len = le16_to_cpu(r->count) & RFD_COUNT;
	if (likely(r->status & cpu_to_le16(RFD_OK) && len &&
		   len <= n->tx_max))
		return len;
	return -EIO;
}

static inline void rx_give(struct via_native *n, u32 i)
{
	/* The chip does not get there before rx_given(). */
	eepro100_rfd(n, i)->status = 0;
}

static inline void rx_given(struct via_native *n)
{
	struct eepro *e = eepro(n);
	u32 end = n->rx.next - 1;

	if (end == e->rx_end)
		return;
	eepro100_rfd(n, end)->command = cpu_to_le16(RFD_END);
	/* All looks at the bytes, and all else, before the way to them. */
	dma_mb();
	WRITE_ONCE(eepro100_rfd(n, e->rx_end)->command, 0);
	e->rx_end = end;
}

/*
 * Where frames were found, all was acknowledged before the look that found no
 * more: what has come since then interrupts.
 */
static inline void eepro100_ack_irq(struct via_native *n)
{
	struct eepro *e = eepro(n);

	if (likely(e->acked))
		e->acked = false;
	else
		eepro100_serve_irq(n);
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
	.ack = eepro100_ack_irq,
};

static irqreturn_t eepro_irq(int irq, void *arg)
{
	struct via_native *n = arg;
	u32 scb = readl(n->regs + SCB);

	/* It may pull the line all the same. */
	if (unlikely(is_gone(scb)))
		pci_intx(n->pdev, 0);
	/* Masked, not ours, or gone from the bus. */
	if (scb & SCB_MASKED || !(scb >> 8 & U8_MAX & ~eepro(n)->masks))
		return IRQ_NONE;
	/* In this order: a poll that runs now polls once more, and unmasks. */
	writeb(MASK_ALL, n->regs + MASK);
	if (likely(napi_schedule_prep(&n->napi)))
		__napi_schedule_irqoff(&n->napi);
	return IRQ_HANDLED;
}

static void eepro_unmask(struct via_native *n)
{
	writeb(eepro(n)->masks, n->regs + MASK);
}

static void eepro_mask(struct via_native *n)
{
	writeb(MASK_ALL, n->regs + MASK);
	readb(n->regs + MASK);
}

/* What the chip has counted since the last time; tx lock. */
static void take_counters(struct via_native *n)
{
	struct counters *c = eepro100_counters(n);

	if (READ_ONCE(c->done) == cpu_to_le32(COUNTERS_DONE)) {
		dma_rmb();
		n->tx_stats.errors += le32_to_cpu(c->tx_collisions) +
				      le32_to_cpu(c->tx_late) +
				      le32_to_cpu(c->tx_underrun);
		n->rx_missed += le32_to_cpu(c->rx_crc) +
				le32_to_cpu(c->rx_alignment) +
				le32_to_cpu(c->rx_resource) +
				le32_to_cpu(c->rx_overrun) +
				le32_to_cpu(c->rx_short);
	}
	c->done = 0;
	eepro100_tell_chip(n, CU_DUMP_RESET);
}

/*
 * A resume that met the chip as it stopped might be lost; if in two seconds
 * nothing came after it, this repeats it.  tx lock.
 */
static void look_again(struct via_native *n)
{
	struct eepro *e = eepro(n);
	struct cb *last = eepro100_cb(n, e->kicked - 1);

	if (e->seen == e->kicked &&
	    !(READ_ONCE(last->status) & cpu_to_le16(CB_DONE)) &&
	    (readw(n->regs + SCB) & SCB_CU) == SCB_CU_WAITS)
		eepro100_tell_chip(n, CU_RESUME);
	e->seen = e->kicked;
}

static void eepro_link(struct via_native *n, struct via_native_link *link)
{
	if (is_gone(readl(n->regs + SCB))) {
		link->gone = true;
		return;
	}
	eepro_phy_link(n, eepro(n)->phy, link);
	__netif_tx_lock_bh(via_native_txq(n));
	if (n->up) {
		look_again(n);
		take_counters(n);
		/* A lost resume is made good for at the next look but one. */
		if (eepro(n)->standby)
			mod_delayed_work(system_percpu_wq, &n->link_work, HZ / 10);
		/* Its receiver may lock up, which a new filter cures. */
		if (eepro(n)->old)
			n->filter_due = true;
	}
	__netif_tx_unlock_bh(via_native_txq(n));
}

/* The address filter: tx lock, or not up. */

static struct cb *put_command(struct via_native *n, u16 command)
{
	struct cb *c = eepro100_cb(n, via_native_take_slot(n, VIA_NATIVE_IP));

	c->status = 0;
	c->command = cpu_to_le16(command);
	return c;
}

static void put_configure(struct via_native *n, bool promisc, bool multicast)
{
	/* The manual's defaults, but for what is named below. */
	static const u8 usual[] = {
		22, 0x08, 0x00, 0x00, 0x00, 0x00, 0x32, 0x07, 0x01, 0x00, 0x2e,
		0x00, 0x60, 0x00, 0xf2, 0x48, 0x00, 0x40, 0xf2, 0x80, 0x3f, 0x05
	};
	u8 *to = put_command(n, CB_CONFIGURE)->data;

	memcpy(to, usual, sizeof(usual));
	to[6] |= BIT(3);		/* a unit that suspends says nothing */
	if (!eepro(n)->old) {
		to[18] |= BIT(3);	/* tagged frames are longer */
		to[19] |= BIT(2);	/* no pause frames of our own */
	}
	to[19] |= BIT(1);		/* no waking up by magic frames */
	if (eepro(n)->loopback) {
		to[10] |= BIT(6);
		promisc = true;
	}
	if (promisc)
		to[15] |= BIT(0);
	if (multicast)
		to[21] |= BIT(3);
}

static void put_address(struct via_native *n)
{
	memcpy(put_command(n, CB_ADDRESS)->data, n->dev->dev_addr, ETH_ALEN);
}

static void put_multicast(struct via_native *n, bool all)
{
	struct cb *c = put_command(n, CB_MULTICAST);
	struct netdev_hw_addr *ha;
	u32 i = 0;

	if (!all)
		netdev_for_each_mc_addr(ha, n->dev)
			ether_addr_copy(c->mc.mac[i++], ha->addr);
	c->mc.bytes = cpu_to_le16(i * ETH_ALEN);
}

static bool eepro_filter(struct via_native *n)
{
	struct net_device *dev = n->dev;
	bool promisc = dev->flags & IFF_PROMISC || netdev_uc_count(dev);
	bool all = dev->flags & IFF_ALLMULTI || netdev_mc_count(dev) > MC_MAX;

	via_native_reap(n);
	if (via_native_tx_busy(n) + 3 >= TX_SLOTS)
		return false;
	put_configure(n, promisc, all);
	put_address(n);
	put_multicast(n, all);
	tx_kick(n);
	return true;
}

/* Starting and stopping. */

static void rings_init(struct via_native *n)
{
	struct eepro *e = eepro(n);
	struct rfd *r;
	u32 i, next;

	for (i = 0; i < TX_SLOTS; i++) {
		next = (i + 1) & (TX_SLOTS - 1);
		eepro100_cb(n, i)->head = 0;
		eepro100_cb(n, i)->link =
			cpu_to_le32(n->tx.dma + next * CB_SIZE);
		cb_init(n, i);
	}
	for (i = 0; i < RX_SLOTS; i++) {
		r = eepro100_rfd(n, i);
		next = (i + 1) & (RX_SLOTS - 1);
		r->status = 0;
		r->command = i == RX_SLOTS - 1 ? cpu_to_le16(RFD_END) : 0;
		r->link = cpu_to_le32(n->rx.buf[next].dma - sizeof(*r));
		r->reserved = cpu_to_le32(U32_MAX);
		r->count = 0;
		r->size = cpu_to_le16(VIA_NATIVE_BUF - sizeof(*r));
	}
	eepro100_counters(n)->done = 0;
	e->kicked = 0;
	e->seen = 0;
	e->rx_sure = 0;
	e->rx_end = -1;
	e->acked = false;
	e->starved = false;
}

/*
 * Nothing of memory is used after it.  Interrupts are not masked then, which
 * is done at once.
 */
static void reset_chip(struct via_native *n)
{
	writel(PORT_SELECTIVE, n->regs + PORT);
	readb(n->regs + MASK);
	usleep_range(20, 50);
	writel(PORT_RESET, n->regs + PORT);
	readb(n->regs + MASK);
	usleep_range(20, 50);
	eepro_mask(n);
	writeb(EVENTS_SERVED | EVENT_RNR, n->regs + EVENTS);
}

/* The first commands; from then on it is resumed. */
static int first_commands(struct via_native *n)
{
	__le16 *status;
	u16 seen;

	put_configure(n, false, false);
	put_address(n);
	eepro100_cb(n, n->tx.next - 1)->command |= cpu_to_le16(CB_SUSPEND);
	eepro(n)->kicked = n->tx.next;
	if (!tell_where(n, CU_START, n->tx.dma))
		return -EIO;
	status = &eepro100_cb(n, n->tx.next - 1)->status;
	if (read_poll_timeout(READ_ONCE, seen, le16_to_cpu((__force __le16)seen) &
			      CB_DONE, 10, 10000, false,
			      *(u16 __force *)status)) {
		netdev_err(n->dev, "the chip does not take its configuration\n");
		return -EIO;
	}
	return 0;
}

static int eepro_start(struct via_native *n)
{
	int err;

	if (readl(n->regs + SCB) == U32_MAX)
		return -ENODEV;
	reset_chip(n);
	pci_intx(n->pdev, 1);		/* see eepro_irq() */
	eepro_phy_wake(n, eepro(n)->phy);
	rings_init(n);
	/* Addresses are taken as they are. */
	if (tell_where(n, CU_BASE, 0) && tell_where(n, RU_BASE, 0) &&
	    tell_where(n, CU_DUMP_AT, n->rx.dma))
		err = first_commands(n);
	else
		err = -EIO;
	if (!err && !tell_where(n, RU_START, n->rx.buf[0].dma -
					     sizeof(struct rfd)))
		err = -EIO;
	if (err)
		reset_chip(n);
	return err;
}

static int eepro_identify(struct via_native *n)
{
	struct eepro *e = eepro(n);
	struct eepro_eeprom eeprom = {};

	BUILD_BUG_ON(sizeof(struct cb) != CB_SIZE);
	BUILD_BUG_ON(sizeof(struct counters) > RX_SLOTS * CB_SIZE);
	e->old = n->pdev->revision < REV_82558;
	e->masks = e->old ? 0 : EVENT_CNA;
	reset_chip(n);
	eepro_eeprom_read(n, &eeprom);
	e->standby = eeprom.standby;
	e->phy = eepro_phy_find(n, &eeprom);
	return min(e->phy, 0);
}

/* By a configuration, which the base's next start undoes. */
static int eepro_loopback(struct via_native *n, bool on)
{
	struct netdev_queue *txq = via_native_txq(n);
	bool put;

	netif_addr_lock_bh(n->dev);
	__netif_tx_lock(txq, smp_processor_id());
	eepro(n)->loopback = on;
	put = !on || eepro_filter(n);
	__netif_tx_unlock(txq);
	netif_addr_unlock_bh(n->dev);
	usleep_range(1000, 2000);
	return put ? 0 : -EBUSY;
}

static const struct via_native_chip chip = {
	.ether = &via_native_ether,
	.hard_irq = eepro_irq,
	.poll = via_native_poll,
	.xmit = via_native_xmit,
	.bar = 0,
	.dma_bits = 32,
	.priv_size = sizeof(struct eepro),
	.desc_size = CB_SIZE,
	.tx_slots = TX_SLOTS,
	.rx_slots = RX_SLOTS,
	.max_mtu = ETH_DATA_LEN,
	.rx_head = sizeof(struct rfd),
	.identify = eepro_identify,
	.start = eepro_start,
	.stop = reset_chip,
	.unmask = eepro_unmask,
	.mask = eepro_mask,
	.filter = eepro_filter,
	.link = eepro_link,
	.reap = via_native_reap,
	.loopback = eepro_loopback,
};

static int eepro100_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return via_native_probe(pdev, &chip);
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_INTEL, 0x1209) },	/* 82559ER, 82551IT */
	{ PCI_DEVICE(PCI_VENDOR_ID_INTEL, 0x1229) },	/* all others */
	{}
};

/* Not in MODULE_DEVICE_TABLE: see "Off until asked for" in native.h. */

static struct pci_driver eepro_driver = {
	.name = "via_eepro100",
	.id_table = ids,
	.probe = eepro100_probe,
	.remove = via_native_remove,
	.shutdown = via_native_shutdown,
	.driver.pm = &via_native_pm,
};
module_pci_driver(eepro_driver);

MODULE_DESCRIPTION("VI NIC and network interface on Intel 8255x");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
