/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * via_eepro100: the chip's registers that both of its files use, and what sits
 * on the board beside the chip (eepro100_board.c).
 */
#ifndef _VIA_EEPRO100_H
#define _VIA_EEPRO100_H

#include "native/native.h"

#define EVENTS		0x01
#define EVENT_MDI	BIT(3)

/**
 * struct eepro_eeprom - what the EEPROM says
 * @phy:	address of the transceiver
 * @phy_kind:	which one it is
 * @standby:	the chip may go to standby by itself
 */
struct eepro_eeprom {
	int phy;
	u8 phy_kind;
	bool standby;
};

/* Sets the hardware address, and all of @e.  Probe. */
void eepro_eeprom_read(struct via_native *n, struct eepro_eeprom *e);

/*
 * The transceiver, at address @phy.  They sleep, and are called one at a
 * time: in probe, under RTNL while not up, or in link_work.
 */

/* The address of one that answers, e->phy if that does; or -ENODEV. */
int eepro_phy_find(struct via_native *n, const struct eepro_eeprom *e);
/* Out of the sleep that another driver may have left it in. */
void eepro_phy_wake(struct via_native *n, int phy);
/* What it has negotiated: all of @link but gone. */
void eepro_phy_link(struct via_native *n, int phy,
		    struct via_native_link *link);

#endif /* _VIA_EEPRO100_H */
