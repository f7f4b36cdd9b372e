/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * via_e1000: the chip's registers that both of its files use, and what its
 * silicon and its board want done (e1000_board.c).
 */
#ifndef _VIA_E1000_H
#define _VIA_E1000_H

#include "native/native.h"

#define CTRL		0x0000
#define CTRL_MASTER_OFF	BIT(2)		/* PCI Express: no new requests */
#define CTRL_LINK_UP	BIT(6)
#define CTRL_INVERT	BIT(7)		/* loss of signal */
#define CTRL_FORCE	(BIT(11) | BIT(12))	/* speed and duplex */
#define CTRL_RESET	BIT(26)
#define CTRL_PAUSE	(BIT(27) | BIT(28))
#define CTRL_VLAN	BIT(30)		/* takes tags out */
#define CTRL_OFF	(CTRL_MASTER_OFF | CTRL_INVERT | CTRL_FORCE | \
			 CTRL_RESET | CTRL_PAUSE | CTRL_VLAN)
#define STATUS		0x0008
#define STATUS_FULL	BIT(0)
#define STATUS_LINK	BIT(1)
#define STATUS_100	BIT(6)
#define STATUS_1000	BIT(7)
#define STATUS_PCIX	BIT(13)
#define STATUS_MASTER	BIT(19)		/* PCI Express: requests under way */
#define ICR		0x00c0
#define IMC		0x00d8
#define RCTL		0x0100
#define TCTL		0x0400
#define RAL(i)		(0x5400 + 8 * (i))	/* exact addresses */
#define RAH(i)		(0x5404 + 8 * (i))
#define RAH_VALID	BIT(31)
#define TXDCTL		0x3828
#define TXDCTL_WB_ONE	(BIT(24) | 1 << 16)	/* write back each */

/**
 * struct e1000 - what the base does not know of
 * @pcie:	constant: the 82574
 * @io:		constant: port behind which all registers are too, 0: none
 * @first:	constant: most bytes of the first piece of a packet to cut up
 * @piece:	constant: most bytes of the others
 * @exact:	constant: unicast addresses it can tell, with its own
 * @hung:	link_work: times in a row that the transceiver looked hung
 */
struct e1000 {
	bool pcie;
	unsigned long io;
	u32 first;
	u32 piece;
	u32 exact;
	u32 hung;
};

static inline struct e1000 *e1000(struct via_native *n)
{
	return (struct e1000 *)n->priv;
}

static inline void put(struct via_native *n, u32 reg, u32 value)
{
	writel(value, n->regs + reg);
}

static inline u32 get(struct via_native *n, u32 reg)
{
	return readl(n->regs + reg);
}

/* Probe.  The bus a PCI chip is on: is it PCI-X?  Sets @io. */
bool e1000_pci_bus(struct via_native *n);
/* The link of the 82574 to the bus. */
void e1000_pcie_bus(struct via_native *n);
/* Sets the hardware address, after a reset. */
int e1000_pci_address(struct via_native *n);
void e1000_pcie_address(struct via_native *n);

/*
 * They sleep, and are called one at a time: in probe, under RTNL while not up,
 * or in link_work.
 */

/*
 * Nothing runs, all interrupts masked.  A chip that is gone says all ones.
 */
void e1000_reset(struct via_native *n);
/* Management firmware shares the 82574: tell it that a driver is there. */
void e1000_loaded(struct via_native *n, bool loaded);
/* What the chip must be told for its errata, between reset and rings. */
void e1000_errata(struct via_native *n);
/* Out of the sleep that another driver may have left the transceiver in. */
void e1000_phy_wake(struct via_native *n);
/* At each look at the wire: does the 82574's transceiver want a reset? */
bool e1000_phy_hung(struct via_native *n);
/* The transceiver gives back what is sent, or negotiates anew. */
int e1000_loopback(struct via_native *n, bool on);

#endif /* _VIA_E1000_H */
