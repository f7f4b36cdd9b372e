// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_eepro100: what sits on the board beside the chip, a serial EEPROM and a
 * transceiver, each behind a register.
 */

#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/mii.h>
#include "eepro100.h"

#define EEPROM		0x0e
#define EEPROM_CLK	BIT(0)
#define EEPROM_CS	BIT(1)
#define EEPROM_IN	BIT(2)
#define EEPROM_OUT	BIT(3)
#define MDI		0x10
#define MDI_READY	BIT(28)
#define MDI_READ	BIT(27)
#define MDI_WRITE	BIT(26)

/* The serial EEPROM: bits through a register, a 93C46 or 93C66. */

static bool eeprom_bit(struct via_native *n, bool out)
{
	u16 bits = EEPROM_CS | (out ? EEPROM_IN : 0);
	bool in;

	writew(bits, n->regs + EEPROM);
	readw(n->regs + EEPROM);
	udelay(2);
	writew(bits | EEPROM_CLK, n->regs + EEPROM);
	readw(n->regs + EEPROM);
	udelay(2);
	in = readw(n->regs + EEPROM) & EEPROM_OUT;
	writew(bits, n->regs + EEPROM);
	return in;
}

/*
 * A word.  The EEPROM answers the last bit of the address with a zero, which
 * tells how many it has: @address_bits is set to it while it is 0.
 */
static u16 eeprom_word(struct via_native *n, u32 address, u32 *address_bits)
{
	u32 max = *address_bits ?: 8, i;
	u16 word = 0;

	writew(EEPROM_CS, n->regs + EEPROM);
	for (i = 0; i < 3; i++)
		eeprom_bit(n, i != 2);		/* start, "read" */
	for (i = 1; i <= max; i++) {
		bool in = eeprom_bit(n, address >> (max - i) & 1);

		if (!in && !*address_bits && !address) {
			*address_bits = i;
			break;
		}
	}
	for (i = 0; i < 16; i++)
		word = word << 1 | eeprom_bit(n, false);
	writew(0, n->regs + EEPROM);
	readw(n->regs + EEPROM);
	udelay(2);
	return word;
}

#define EEPROM_SUM	0xbaba		/* of all words */
#define EEPROM_VERSION	5
#define EEPROM_PHY	6
#define EEPROM_ID	10
#define EEPROM_STANDBY	BIT(1)		/* of EEPROM_ID */

void eepro_eeprom_read(struct via_native *n, struct eepro_eeprom *e)
{
	u32 address_bits = 0, i;
	u8 mac[ETH_ALEN];
	u16 word, sum = 0;

	eeprom_word(n, 0, &address_bits);
	if (address_bits != 6 && address_bits != 8)
		address_bits = 6;
	for (i = 0; i < 1 << address_bits; i++) {
		word = eeprom_word(n, i, &address_bits);
		sum += word;
		if (i < ETH_ALEN / 2) {
			mac[2 * i] = word;
			mac[2 * i + 1] = word >> 8;
		} else if (i == EEPROM_PHY) {
			e->phy = word & 31;
			e->phy_kind = word >> 8 & 15;
		} else if (i == EEPROM_VERSION) {
			snprintf(n->version, sizeof(n->version), "%u.%u",
				 word >> 8, word & 0xff);
		} else if (i == EEPROM_ID) {
			e->standby = word & EEPROM_STANDBY;
		}
	}
	if (sum != EEPROM_SUM)
		dev_warn(&n->pdev->dev, "the EEPROM's checksum is wrong\n");
	if (e->standby)
		dev_info(&n->pdev->dev, "the EEPROM allows standby: each resume has a NOP before it\n");
	eth_hw_addr_set(n->dev, mac);
}

/* The transceiver. */

static u16 eepro100_run_mdi(struct via_native *n, u32 op, int phy, int reg,
			    u16 value)
{
	u32 in;

	writel(op | phy << 21 | reg << 16 | value, n->regs + MDI);
	if (read_poll_timeout(readl, in, in & MDI_READY, 20, 2000, false,
			      n->regs + MDI))
		return U16_MAX;
	/* The emulated chip tells of it in spite of the mask. */
	writeb(EVENT_MDI, n->regs + EVENTS);
	return in;
}

static u16 mdi_read(struct via_native *n, int phy, int reg)
{
	return eepro100_run_mdi(n, MDI_READ, phy, reg, 0);
}

static bool phy_answers(struct via_native *n, int phy)
{
	u16 bmsr = mdi_read(n, phy, MII_BMSR);

	return bmsr && bmsr != U16_MAX;
}

/* National's DP83840, of many boards with the 82557, in words of its own. */
#define DP83840_ID1	0x2000
#define DP83840_ID2	0x5c00
#define DP83840_MODEL	0xfff0
#define DP83840_PCR	23
#define DP83840_CONGEST	BIT(8)		/* waits between frames, for nothing */
#define DP83840_READY	BIT(10)		/* as the 82557 wants it */

static void eepro100_set_quirks(struct via_native *n, int phy)
{
	u16 pcr;

	if (mdi_read(n, phy, MII_PHYSID1) != DP83840_ID1 ||
	    (mdi_read(n, phy, MII_PHYSID2) & DP83840_MODEL) != DP83840_ID2)
		return;
	pcr = mdi_read(n, phy, DP83840_PCR);
	eepro100_run_mdi(n, MDI_WRITE, phy, DP83840_PCR,
			 (pcr | DP83840_READY) & ~DP83840_CONGEST);
}

/* Two transceivers on one MII: the other one lets go of it. */
static void isolate_others(struct via_native *n, int phy)
{
	bool any = false;
	int i;

	for (i = 0; i < 32; i++)
		if (i != phy && phy_answers(n, i)) {
			eepro100_run_mdi(n, MDI_WRITE, i, MII_BMCR,
					 BMCR_ISOLATE);
			any = true;
		}
	/* One that answers at two addresses was meant, too. */
	if (any)
		eepro100_run_mdi(n, MDI_WRITE, phy, MII_BMCR, BMCR_ANENABLE |
							      BMCR_ANRESTART);
}

/* What the EEPROM says of one that the MII does not reach. */
static const char *phy_name(u8 kind)
{
	switch (kind) {
	case 0:
		return "its EEPROM names no transceiver";
	case 3:
		return "it has an 82503, with a serial interface";
	case 5:
	case 6:
		return "it has an 80C24, with a serial interface";
	default:
		return "its EEPROM names a transceiver on the MII, and none answers";
	}
}

int eepro_phy_find(struct via_native *n, const struct eepro_eeprom *e)
{
	int i, phy;

	/* 0, which answers for any on some, comes last. */
	for (i = 0; i <= 32; i++) {
		phy = i ? i & 31 : e->phy;
		if (phy_answers(n, phy)) {
			isolate_others(n, phy);
			eepro100_set_quirks(n, phy);
			return phy;
		}
	}
	dev_err(&n->pdev->dev, "the board is not for this driver: %s; use the stock driver\n",
		phy_name(e->phy_kind));
	return -ENODEV;
}

void eepro_phy_wake(struct via_native *n, int phy)
{
	u16 bmcr = mdi_read(n, phy, MII_BMCR);

	if (bmcr != U16_MAX && bmcr & (BMCR_ISOLATE | BMCR_PDOWN)) {
		bmcr &= ~(BMCR_ISOLATE | BMCR_PDOWN);
		eepro100_run_mdi(n, MDI_WRITE, phy, MII_BMCR,
				 bmcr | BMCR_ANENABLE | BMCR_ANRESTART);
	}
}

void eepro_phy_link(struct via_native *n, int phy,
		    struct via_native_link *link)
{
	u16 bmsr, bmcr, both = 0;

	/* It remembers a link that was lost until it is read. */
	mdi_read(n, phy, MII_BMSR);
	bmsr = mdi_read(n, phy, MII_BMSR);
	link->up = bmsr != U16_MAX && bmsr & BMSR_LSTATUS;
	bmcr = mdi_read(n, phy, MII_BMCR);
	if (bmcr & BMCR_ANENABLE)
		both = mdi_read(n, phy, MII_ADVERTISE) &
		       mdi_read(n, phy, MII_LPA);
	via_native_mii_speed(link, bmcr, both);
}
