/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * via_tulip: what the serial EEPROM (SROM) of a board says.  Knows nothing of
 * the kernel, so that it is tested with images of boards: tests/unit/srom.
 */
#ifndef _VIA_TULIP_SROM_H
#define _VIA_TULIP_SROM_H

#include "../core/portable.h"

#define TULIP_SEQUENCE_MAX	32

/* Values for the board's switches (GPIO), written in order. */
struct tulip_sequence {
	u8 n;
	u16 value[TULIP_SEQUENCE_MAX];
};

/**
 * struct tulip_media - ways to the wire that a board has
 * @listed:	there is a list, and it is whole; nothing below without it
 * @damaged:	there is one, of which no sense is made
 * @mii:	a transceiver on the MII
 * @sia:	the 21143's own 10BASE-T transceiver
 * @sym:	100 Mb/s by the chip's own symbol port
 * @direction:	21140: which switches are outputs
 * @board:	21143: resets all transceivers of the board
 * @reset:	resets the one on the MII
 * @select:	and connects it, after a reset
 * @advertise:	what that one is to offer, as in its register; 0: all it can
 * @sia_select:	switches for @sia: directions, then values
 * @sia_own:	@sia_csr is to be used
 * @sia_csr:	low halves of CSR13, 14 and 15 for it
 */
struct tulip_media {
	bool listed;
	bool damaged;
	bool mii;
	bool sia;
	bool sym;
	u8 direction;
	struct tulip_sequence board;
	struct tulip_sequence reset;
	struct tulip_sequence select;
	u16 advertise;
	struct tulip_sequence sia_select;
	bool sia_own;
	u16 sia_csr[3];
};

/* Where the hardware address is in it: six bytes. */
u32 tulip_srom_address(const u8 *srom, u32 len);

/*
 * The media of the controller that is device @slot of its bus, of those that
 * share the EEPROM.  @gpio8: a 21140, whose switches take a byte.
 */
void tulip_srom_media(const u8 *srom, u32 len, u8 slot, bool gpio8,
		      struct tulip_media *m);

/* Why the driver is not for such a board, or NULL.  @phy: one answers on MII. */
const char *tulip_srom_refused(const struct tulip_media *m, bool gpio8,
			       bool phy);

#endif /* _VIA_TULIP_SROM_H */
