/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * via_tulip: how both of its files reach the chip, and what sits on the board
 * beside it (tulip_board.c).
 */
#ifndef _VIA_TULIP_H
#define _VIA_TULIP_H

#include "native/native.h"
#include "tulip_srom.h"

/**
 * struct tulip - what the base does not know of
 * @csr6:	tx lock: what is in CSR6
 * @phy:	constant: address of the transceiver on the MII, -1: none
 * @gpio8:	constant: the switches take bytes, by CSR12; else by CSR15
 * @media:	constant: what the EEPROM says
 */
struct tulip {
	u32 csr6;
	int phy;
	bool gpio8;
	struct tulip_media media;
};

static inline struct tulip *tulip(struct via_native *n)
{
	return (struct tulip *)n->priv;
}

/* Registers, a longword each at a distance of 8. */
#define CSR(n)		((n) * 8)

static inline void put_csr(struct via_native *n, int csr, u32 value)
{
	writel(value, n->regs + CSR(csr));
}

static inline u32 get_csr(struct via_native *n, int csr)
{
	return readl(n->regs + CSR(csr));
}

/* Sets the hardware address and @media.  Probe. */
int tulip_board_read(struct via_native *n, bool gpio8);

/*
 * They sleep, and are called one at a time: in probe, under RTNL while not up,
 * or in link_work.
 */

/* Resets and connects the transceivers, and sets @phy. */
void tulip_phy_find(struct via_native *n);
/* The same for the one that was found, after a reset of the chip. */
void tulip_mii_select(struct via_native *n);
/* The chip's own transceiver: 10BASE-T, half duplex. */
void tulip_sia_select(struct via_native *n);
/* Out of the sleep that another driver may have left the transceiver in. */
void tulip_phy_wake(struct via_native *n);
/* What it has negotiated: all of @link but gone. */
void tulip_phy_link(struct via_native *n, struct via_native_link *link);

#endif /* _VIA_TULIP_H */
