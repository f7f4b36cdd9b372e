/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all native Ethernet drivers share: one PCI function that is at once a
 * Linux network interface and a VI NIC, on one pair of rings.
 *
 * Theory of operation
 * -------------------
 * Every slot of both rings owns a buffer that was mapped when the interface
 * came up.  A VI frame is built by the class in the slot's own buffer; an IP
 * frame is copied into one, its checksum computed on the way.  The payload of
 * long VI messages the chip fetches itself, out of registered memory that was
 * mapped when it was registered (map.c).  So nothing is mapped for a frame,
 * and nothing is freed when it has left: a completed slot is looked at when
 * its room is wanted, or the memory it names is to go, not before, and there
 * is no transmit interrupt per frame.  Only while the ring is more than half
 * full does each slots/4-th frame ask for one, which wakes senders that wait
 * for room.
 *
 * Received frames are looked at in the NIC's poll.  Frames of the class's
 * EtherType go from the ring's buffer straight to the class, which copies the
 * payload to where it belongs; the slot is the chip's again at once.  All
 * others are copied into an skb for the stack.
 *
 * Several pairs of rings.  A chip that sorts frames by their kind may bring
 * further pairs: the first one is the VIs' then, and what the chip cannot sort,
 * and each of the others has IP alone, with an interrupt, a NAPI and a transmit
 * queue of its own.  Each pair is a struct via_native, whose first one is the
 * net_device's.  So all that is said of a ring, its slots and its poll holds for
 * each, and no path asks how many there are.  A further pair has no VI NIC, and
 * everything that is the card's is in the first.
 *
 * The files: native.c brings the device up and down and is its net_device,
 * frame.c has what is rare for a frame, ring.c is the rings' memory, map.c
 * registered memory, vi.c the class's side, ethtool.c what ethtool asks,
 * selftest.c its tests.  A
 * chip's own file brings a struct via_native_chip and, for the short path, the
 * constant via_native_fast, whose functions path.h inlines.
 *
 * Polling mode, while programs spin: the chip's interrupt stays masked and
 * their traps take the frames out of the ring, in via_native_spin().  A trap
 * that takes frames owns NAPI, as its poll does; one that finds it owned
 * returns, and the owner does the work.  It is not owned between two traps,
 * so going down waits for a trap at most.  NAPI's own poll leaves the
 * interrupt masked while @polled is set; when polling ends, that is cleared
 * and then NAPI scheduled, whose poll looks at the ring and unmasks as always.
 * As it is scheduled after @polled was cleared, that is so even if it runs
 * already: it runs again.
 * NAPI is also scheduled twice in a millisecond while polling goes on, for
 * what is rare: acknowledgements, an empty ring, the wire.
 *
 * Off until asked for: a chip's ids are not in MODULE_DEVICE_TABLE.  udev
 * would load the module beside the kernel's own at each boot, and the first of
 * both to register has the card.  It is loaded by name.
 *
 * Locking
 * -------
 *   RTNL               up, down, the VI NIC coming and going
 *   tx lock            netif's queue lock, of the queue that is the pair's:
 *                      everything of the transmit ring, tx_ok, waits.  VI
 *                      senders take it under the class's locks, so under it
 *                      nothing calls the class.
 *   NAPI               the receive ring: the context that runs the poll
 *
 * The interrupt handler takes no lock: it masks, and schedules the poll.
 *
 * Going down: busy-polling mode ends, and traps that poll are waited for;
 * tx_ok goes false under the tx lock, which ends sending by both;
 * the chip's interrupt is masked and waited for; NAPI is disabled; the chip
 * is stopped; then the rings may go.
 */
#ifndef _VIA_NATIVE_H
#define _VIA_NATIVE_H

#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/llist.h>
#include <linux/mii.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/workqueue.h>
#include "../ether/via_ether.h"

#define VIA_NATIVE_BUF	2048u	/* bytes of a slot's buffer, two in a page */
#define VIA_NATIVE_SLOTS_MIN 16u	/* of a ring: a quarter is a frame's pieces */
#define VIA_NATIVE_EXTRA (VLAN_ETH_HLEN + VLAN_HLEN)	/* before the MTU */
#define VIA_NATIVE_PAIRS 4u	/* of rings, at most */
#define VIA_NATIVE_OWN_IRQS 2u

struct via_native;

/* Whose frame it is. */
enum via_native_owner {
	VIA_NATIVE_IP,
	VIA_NATIVE_VI,
	VIA_NATIVE_WHO
};

/**
 * struct via_native_buf - a slot's buffer, mapped while the interface is up
 * @data:	its bytes
 * @dma:	its bus address
 */
struct via_native_buf {
	u8 *data;
	dma_addr_t dma;
};

/**
 * struct via_native_ring - one ring of the chip, with its buffers
 * @desc:	descriptors, coherent memory
 * @dma:	bus address of them
 * @buf:	a buffer for each slot
 * @slots:	constant: a power of two
 * @next:	frames put, or taken, since the ring came up: mod @slots the
 *		slot that is next.  tx lock, or NAPI.
 */
struct via_native_ring {
	void *desc;
	dma_addr_t dma;
	struct via_native_buf *buf;
	u32 slots;
	u32 next;
};

/**
 * struct via_native_rings - memory for both, in use or not yet
 * @tx:		its @next is 0
 * @rx:		likewise
 * @tx_owner:	see struct via_native
 * @buf_size:	bytes of each buffer: a power of two
 * @sync:	the CPU's caches and the bus disagree
 */
struct via_native_rings {
	struct via_native_ring tx;
	struct via_native_ring rx;
	u8 *tx_owner;
	u32 buf_size;
	bool sync;
};

/* Frames and bytes, without the checksum. */
struct via_native_count {
	u64 frames;
	u64 bytes;
};

/**
 * struct via_native_link - the state of the wire
 * @gone:	the chip is not on the bus any more: where all ones in its
 *		registers might pass for a wire
 * @up:		there is a partner
 * @full:	full duplex
 * @mbps:	speed
 */
struct via_native_link {
	bool gone;
	bool up;
	bool full;
	u32 mbps;
};

/**
 * struct via_native_chip - what a chip's driver brings, but for the short path
 *
 * With several pairs of rings @poll, @unmask, @mask, @reap and @tx_wait are
 * called for each; the others for the first one alone, and do it for all.
 * @ether:	what the class calls, in the module's memory: via_native_ether
 * @hard_irq:	the interrupt handler, whose argument is the via_native
 * @poll:	NAPI's poll: via_native_poll()
 * @xmit:	ndo_start_xmit: via_native_xmit()
 * @bar:	which BAR the registers are behind
 * @dma_bits:	address bits the chip has
 * @priv_size:	bytes of the chip's own
 * @desc_size:	bytes of a descriptor
 * @tx_slots:	powers of two
 * @rx_slots:	likewise
 * @max_mtu:	bytes behind the Ethernet header
 * @rx_head:	bytes of the chip's own in front of each received frame, in
 *		the slot's buffer, which is then coherent memory; 0: none
 * @jumbo_buf:	bytes of a slot's buffer with an MTU beyond 1500: a power of
 *		two; 0: there is no such MTU
 * @tx_most:	slots that one IP frame may take, at most a quarter of the ring;
 *		0: one
 * @features:	what the chip does for the stack, beside what copying gives
 * @untagged:	those of @features that it does not do for tagged frames
 * @msi:	message-signalled interrupts work; else the line
 * @more:	further pairs of rings that it can use, with MSI-X: no more than
 *		there are CPUs, and VIA_NATIVE_PAIRS with the first.  0: one
 *		pair
 * @own_irqs:	with @more: interrupts beside those of the pairs, on the vectors
 *		behind theirs; VIA_NATIVE_OWN_IRQS at most
 * @own_irq:	their handler, whose argument is the first pair
 * @max_usecs:	longest time to coalesce interrupts for; 0: it cannot
 * @identify:	once, asleep if it likes: make the chip quiet, set the MAC
 *		with eth_hw_addr_set().  Another @n->chip may be set there,
 *		which differs in numbers and features.
 * @start:	reset the chip, give it the rings and the address filter, let
 *		both directions run, with all interrupts masked
 * @stop:	both directions stopped, nothing is read or written by the chip
 *		any more; the chip may be gone from the bus
 * @unmask:	let the chip interrupt
 * @mask:	and not, with the write flushed
 * @filter:	put the address filter in force, reception may begin; the lists'
 *		lock and the tx lock held; false: the transmit ring was full,
 *		try again later
 * @link:	look at the wire; process context
 * @coalesce:	put n->usecs in force; NULL without @max_usecs
 * @reap:	look at what the chip has done with the transmit ring; tx lock
 *		held: via_native_reap()
 * @tx_wait:	n->waits was just set: a chip that does not heed tx_fill()'s
 *		@irq interrupts after each frame while it is; tx lock held.
 *		Optional.
 * @loopback:	while up and the link is not looked at: what is sent comes
 *		back, until it is told that it is not; 0 or -errno
 */
struct via_native_chip {
	struct via_ether_ops *ether;
	irq_handler_t hard_irq;
	int (*poll)(struct napi_struct *napi, int budget);
	netdev_tx_t (*xmit)(struct sk_buff *skb, struct net_device *dev);
	int bar;
	u32 dma_bits;
	u32 priv_size;
	u32 desc_size;
	u32 tx_slots;
	u32 rx_slots;
	u32 max_mtu;
	u32 rx_head;
	u32 jumbo_buf;
	u32 tx_most;
	netdev_features_t features;
	netdev_features_t untagged;
	bool msi;
	u32 more;
	u32 own_irqs;
	irq_handler_t own_irq;
	u32 max_usecs;
	int (*identify)(struct via_native *n);
	int (*start)(struct via_native *n);
	void (*stop)(struct via_native *n);
	void (*unmask)(struct via_native *n);
	void (*mask)(struct via_native *n);
	bool (*filter)(struct via_native *n);
	void (*link)(struct via_native *n, struct via_native_link *link);
	void (*coalesce)(struct via_native *n);
	void (*reap)(struct via_native *n);
	void (*tx_wait)(struct via_native *n);
	int (*loopback)(struct via_native *n, bool on);
};

/**
 * struct via_native_tx_stats - what was sent: tx lock
 * @sent:	of each owner
 * @errors:	frames the chip could not send
 * @full:	times that a frame found no room
 */
struct via_native_tx_stats {
	struct via_native_count sent[VIA_NATIVE_WHO];
	u64 errors;
	u64 full;
};

/**
 * struct via_native_rx_stats - what was received: NAPI
 * @taken:	by each owner
 * @errors:	damaged frames
 * @dropped:	no memory for an skb, or for another
 * @empty:	times that the chip found no free buffer
 * @polled:	frames that programs took out of the ring themselves
 */
struct via_native_rx_stats {
	struct via_native_count taken[VIA_NATIVE_WHO];
	u64 errors;
	u64 dropped;
	u64 empty;
	u64 polled;
};

/**
 * struct via_native_irqs - interrupts of a pair of rings
 * @irq:	constant: the pair's
 * @own:	constant: those of chip->own_irq; of the NIC
 * @name:	RTNL: what it is called in /proc/interrupts
 */
struct via_native_irqs {
	int irq;
	int own[VIA_NATIVE_OWN_IRQS];
	char name[IFNAMSIZ + 8];
};

/**
 * struct via_native - one NIC, or a further pair of its rings
 * @regs:	constant: the registers
 * @dev:	constant: the net_device it lies behind
 * @pdev:	constant
 * @chip:	constant behind its identify()
 * @nic:	the VI NIC, NULL while there is none; written under RTNL, read
 *		with BH off; synchronize_net() before it goes
 * @sync:	constant while up: the CPU's caches and the bus disagree
 * @tx_ok:	tx lock: up, and the wire is there
 * @waits:	tx lock: a sender waits for room in the ring
 * @up:		RTNL and tx lock to write: rings there and chip running
 * @filter_due:	tx lock: the filter found no room in the ring
 * @poll_ok:	RTNL to write: there is a ring that can be polled; RCU to read
 * @polled:	the interrupt stays masked.  busy_poll_mode() to write
 * @proto:	constant: EtherType of VI frames
 * @tx_max:	constant while up: longest frame sent, bytes
 * @buf_size:	constant while up: bytes of a slot's buffer
 * @tx:		tx lock
 * @tx_done:	tx lock: slots of @tx looked at after the chip was done
 * @tx_used:	tx lock: slots taken by each
 * @tx_owner:	tx lock: the owner of each slot
 * @tx_stats:	tx lock
 * @napi:
 * @rx:		NAPI
 * @rx_stats:	NAPI
 * @rx_missed:	link_work: frames that the chip dropped, where it counts them
 * @link_work:	looks at the wire while up; also retries @filter_due
 * @reset_work:	down and up again
 * @gone:	VI NICs that are unregistered, and free soon; of the NIC
 * @gone_work:	frees them, without RTNL
 * @link:	RTNL or link_work: what was seen last
 * @usecs:	RTNL: time that interrupts are coalesced for
 * @resets:	RTNL
 * @testing:	RTNL to write: link_work does nothing, for a self-test
 * @version:	constant behind identify(): of the EEPROM's contents, "" if it
 *		has none
 * @pair:	constant: which of the NIC's pairs of rings; 0: the NIC itself
 * @pairs:	constant: how many there are; of the NIC
 * @more:	constant: the further ones; of the NIC
 * @irqs:	the pair's interrupts
 * @priv:	the chip's
 */
struct via_native {
	void __iomem *regs;
	struct net_device *dev;
	struct pci_dev *pdev;
	const struct via_native_chip *chip;
	struct via_ether_nic *nic;
	bool sync;
	bool tx_ok;
	bool waits;
	bool up;
	bool filter_due;
	bool poll_ok;
	bool polled;
	__be16 proto;
	u32 tx_max;
	u32 buf_size;

	struct via_native_ring tx ____cacheline_aligned;
	u32 tx_done;
	u32 tx_used[VIA_NATIVE_WHO];
	u8 *tx_owner;
	struct via_native_tx_stats tx_stats;

	struct napi_struct napi ____cacheline_aligned;
	struct via_native_ring rx;
	struct via_native_rx_stats rx_stats;

	u64 rx_missed;
	struct delayed_work link_work;
	struct work_struct reset_work;
	struct llist_head gone;
	struct work_struct gone_work;
	struct via_native_link link;
	u32 usecs;
	u64 resets;
	bool testing;
	char version[16];
	u32 pair;
	u32 pairs;
	struct via_native *more[VIA_NATIVE_PAIRS - 1];
	struct via_native_irqs irqs;
	u8 priv[] ____cacheline_aligned;
};

/* The first pair's, which VIs send by. */
static inline struct netdev_queue *via_native_txq(const struct via_native *n)
{
	return netdev_get_tx_queue(n->dev, 0);
}

/* Of any pair. */
static inline struct netdev_queue *
via_native_pair_txq(const struct via_native *n)
{
	return netdev_get_tx_queue(n->dev, n->pair);
}

static inline struct via_native *via_native_pair(struct via_native *n, u32 i)
{
	return i ? n->more[i - 1] : n;
}

/* tx lock held, or about to be. */
static inline u32 via_native_tx_busy(const struct via_native *n)
{
	return n->tx.next - n->tx_done;
}

/*
 * Is there room for a frame of @owner?  Neither of the two may take the last
 * quarter of the ring from the other.  One slot stays free: to some chips a
 * full ring looks like an empty one, and others report a slot before the last
 * bytes of it are read.  It is filled again when the next one is reported.
 */
static inline bool via_native_room(const struct via_native *n,
				   enum via_native_owner owner)
{
	u32 most = owner == VIA_NATIVE_IP && n->chip->tx_most ?
		   n->chip->tx_most : 1;

	return n->tx_used[owner] + most <= n->tx.slots - n->tx.slots / 4 &&
	       via_native_tx_busy(n) + most < n->tx.slots;
}

/* The next slot is @owner's. */
static inline u32 via_native_take_slot(struct via_native *n,
				       enum via_native_owner owner)
{
	u32 i = n->tx.next & (n->tx.slots - 1);

	n->tx_owner[i] = owner;
	n->tx_used[owner]++;
	n->tx.next++;
	return i;
}

/* The chip reads nothing any more: all frames count as sent. */
static inline void via_native_tx_forget(struct via_native *n)
{
	n->tx_done = n->tx.next;
	memset(n->tx_used, 0, sizeof(n->tx_used));
}

/* What a 10/100 transceiver runs at; @both: what it and its partner offer. */
static inline void via_native_mii_speed(struct via_native_link *link, u16 bmcr,
					u16 both)
{
	if (bmcr & BMCR_ANENABLE) {
		/* The best of both, in the standard's order. */
		link->mbps = both & (LPA_100FULL | LPA_100HALF) ? 100 : 10;
		link->full = both & LPA_100FULL ||
			     (!(both & LPA_100HALF) && both & LPA_10FULL);
	} else {
		link->mbps = bmcr & BMCR_SPEED100 ? 100 : 10;
		link->full = bmcr & BMCR_FULLDPLX;
	}
}

/*
 * memcpy() for what is about a frame long: as the length is bounded, the
 * compiler writes it out, in words.  The kernel's function goes by bytes on
 * newer CPUs, which only real ones do fast.
 */
static __always_inline void via_native_copy(u8 *to, const u8 *from, u32 len)
{
	while (unlikely(len > PAGE_SIZE)) {
		memcpy(to, from, PAGE_SIZE);
		to += PAGE_SIZE;
		from += PAGE_SIZE;
		len -= PAGE_SIZE;
	}
	memcpy(to, from, len);
}

/* frame.c */
void via_native_wake(struct via_native *n);
void via_native_room_again(struct via_native *n);
bool via_native_tx_full(struct via_native *n, enum via_native_owner owner);
void via_native_tap(struct via_native *n, const void *data, u32 len, bool out);
void via_native_copy_skb(const struct sk_buff *skb, u32 at, u8 *to, u32 len);
u32 via_native_fill_slot(struct via_native *n, struct sk_buff *skb);
void via_native_rx_other(struct via_native *n, struct via_ether_nic *nic,
			 const u8 *data, u32 len, bool summed);

/* Packet sockets see VI frames where there are any (tcpdump). */
static __always_inline void via_native_show(struct via_native *n, const void *p,
					    u32 len, bool out)
{
	if (unlikely(n->dev->flags & IFF_PROMISC))
		via_native_tap(n, p, len, out);
}

/* A VI frame from the ring; @rx: the class's function for it. */
static __always_inline void
via_native_rx_vi(struct via_native *n, struct via_ether_nic *nic,
		 const u8 *data, u32 len,
		 void (*rx)(struct via_ether_nic *nic,
			    const struct via_ether_frame *frame))
{
	struct via_ether_chunk chunk = {
		.data = data + ETH_HLEN,
		.len = len - ETH_HLEN,
	};
	struct via_ether_frame f = {
		.src = data + ETH_ALEN,
		.hdr = data + ETH_HLEN,
		.len = len - ETH_HLEN,
		.nchunks = 1,
		.chunk = &chunk,
	};

	n->rx_stats.taken[VIA_NATIVE_VI].frames++;
	n->rx_stats.taken[VIA_NATIVE_VI].bytes += len;
	via_native_show(n, data, len, false);
	rx(nic, &f);
}

/* native.c: for the chips' modules */
int via_native_probe(struct pci_dev *pdev, const struct via_native_chip *chip);
void via_native_remove(struct pci_dev *pdev);
void via_native_shutdown(struct pci_dev *pdev);
extern const struct dev_pm_ops via_native_pm;
void via_native_fail(struct via_native *n, const char *why, u32 status);
void via_native_look(struct via_native *n);

/* busy_poll_mode() of the class's table */
bool via_native_busy_poll_mode(struct via_ether_nic *nic,
			       enum via_busy_poll_step step);

/* ring.c */
int via_native_rings_alloc(struct via_native *n, struct via_native_rings *r,
			   u32 buf_size);
void via_native_rings_free(struct via_native *n, struct via_native_rings *r);
/* What the NIC has for what was given; nothing runs. */
void via_native_rings_swap(struct via_native *n, struct via_native_rings *r);

/* map.c: registered memory for the chip's DMA; of struct via_ether_ops */
void via_native_map(struct via_ether_nic *nic, struct via_mem_map *map,
		    struct page **pages, u32 npages);
void via_native_unmap(struct via_ether_nic *nic, struct via_mem_map *map,
		      struct page **pages, u32 npages);

/* vi.c */
/* Has @n->gone freed.  end: all of it is.  Not under RTNL. */
void via_native_gone_init(struct via_native *n);
void via_native_gone_end(struct via_native *n);
int via_native_vi_init(void);
void via_native_vi_exit(void);
void via_native_vi_stats(struct via_ether_nic *nic,
			 struct via_stats_sink *sink);

/* native.c: the chip runs, in loopback, for selftest.c.  RTNL. */
int via_native_test_begin(struct via_native *n);
void via_native_test_end(struct via_native *n);

/* selftest.c */
u32 via_native_test_count(const struct via_native *n);
void via_native_test_names(const struct via_native *n, u8 *to);
void via_native_self_test(struct net_device *dev, struct ethtool_test *etest,
			  u64 *data);

/* ethtool.c */
extern const struct ethtool_ops via_native_ethtool;

extern const struct net_device_ops via_native_netdev_ops;

#endif /* _VIA_NATIVE_H */
