/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * via_igb: the chip's registers that both of its files use, and what its board
 * wants done (igb_board.c).
 */
#ifndef _VIA_IGB_H
#define _VIA_IGB_H

#include "native/native.h"

#define IGB_TX_SLOTS	256
#define IGB_RX_SLOTS	256

#define CTRL		0x0000
#define CTRL_FULL	BIT(0)
#define CTRL_MASTER_OFF	BIT(2)		/* no new requests on the bus */
#define CTRL_LINK_UP	BIT(6)
#define CTRL_INVERT	BIT(7)		/* loss of signal */
#define CTRL_SPEED	GENMASK(9, 8)
#define CTRL_1000	BIT(9)
#define CTRL_FORCE	(BIT(11) | BIT(12))	/* speed and duplex */
#define CTRL_RESET	BIT(26)
#define CTRL_PAUSE	(BIT(27) | BIT(28))
#define CTRL_VLAN	BIT(30)		/* takes tags out */
#define CTRL_OFF	(CTRL_MASTER_OFF | CTRL_INVERT | CTRL_FORCE | \
			 CTRL_RESET | CTRL_PAUSE | CTRL_VLAN)
#define STATUS		0x0008
#define STATUS_FULL	BIT(0)
#define STATUS_LINK	BIT(1)
#define STATUS_FUNCTION	GENMASK(3, 2)	/* which of the chip's */
#define STATUS_100	BIT(6)
#define STATUS_1000	BIT(7)
#define STATUS_MASTER	BIT(19)		/* requests may be under way */
#define ICR		0x00c0
#define IMC		0x00d8
#define RCTL		0x0100
#define TCTL		0x0400
#define EIMC		0x1528
#define RAL(i)		((i) < 16 ? 0x5400 + 8 * (i) : 0x54e0 + 8 * ((i) - 16))
#define RAH(i)		(RAL(i) + 4)
#define RAH_VALID	BIT(31)

/**
 * struct igb - what the base does not know of a pair of rings
 * @tx_tail:	constant behind start(): the register
 * @rx_tail:	likewise
 * @polled:	NAPI: programs polled when its poll looked last
 * @last:	tx lock: for each slot in use, the last one of its frame.  The
 *		chip reports no other.
 */
struct igb {
	void __iomem *tx_tail;
	void __iomem *rx_tail;
	bool polled;
	u8 last[IGB_TX_SLOTS];
};

static inline struct igb *igb(struct via_native *n)
{
	return (struct igb *)n->priv;
}

static inline void put(struct via_native *n, u32 reg, u32 value)
{
	writel(value, n->regs + reg);
}

static inline u32 get(struct via_native *n, u32 reg)
{
	return readl(n->regs + reg);
}

/*
 * They sleep, and are called one at a time, for the first pair: in probe, under
 * RTNL while not up, or in a self-test.
 */

/* Nothing runs, all interrupts masked.  A chip that is gone says all ones. */
void igb_reset(struct via_native *n);
/* Behind a reset, which loads it from the EEPROM. */
void igb_address(struct via_native *n);
/* Management firmware shares the chip: tell it that a driver is there. */
void igb_loaded(struct via_native *n, bool loaded);
/* Out of the sleep that another driver may have left the transceiver in. */
void igb_phy_wake(struct via_native *n);
/* The transceiver gives back what is sent, or negotiates anew. */
int igb_loopback(struct via_native *n, bool on);

#endif /* _VIA_IGB_H */
