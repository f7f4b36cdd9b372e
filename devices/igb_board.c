// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_igb: what is off the path of frames.  Reset, and what sits beside the
 * chip on the board: EEPROM, transceiver, management firmware.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/mii.h>
#include "igb.h"

#define EECD		0x0010
#define EECD_LOADED	BIT(9)		/* the EEPROM was read, after a reset */
#define CTRL_EXT	0x0018
#define CTRL_EXT_LOADED	BIT(28)
#define MDIC		0x0020		/* the transceiver's registers */
#define MDIC_PHY	BIT(21)
#define MDIC_WRITE	BIT(26)
#define MDIC_READ	BIT(27)
#define MDIC_READY	BIT(28)
#define MDIC_ERROR	BIT(30)
#define GCR		0x5b00		/* PCI Express */
#define GCR_TIMEOUT	GENMASK(15, 12)	/* of a request, 0: 50 us to 50 ms */
#define GCR_10MS	1		/* to 200 ms */
#define GCR_AGAIN	BIT(16)		/* repeats what has timed out */
#define GCR_VERSION_2	BIT(18)		/* the time is in configuration space */
#define DEVCTL2_16MS	5		/* to 55 ms */
#define SWSM		0x5b50		/* the lock of SW_FW_SYNC */
#define SWSM_OTHERS	BIT(0)		/* among drivers: reading takes it */
#define SWSM_FIRMWARE	BIT(1)		/* with firmware: set if it is ours */
#define SW_FW_SYNC	0x5b5c		/* what has an owner */
#define SYNC_PHY(i)	(BIT(1) << (i))	/* ours */
#define SYNC_TAKEN(bit)	((bit) | (bit) << 16)	/* ours or the firmware's */

/* The transceiver, which firmware and the chip's other function use too. */

/* A write that finds the firmware there is lost: it is repeated. */
static u32 ask_firmware(struct via_native *n)
{
	put(n, SWSM, get(n, SWSM) | SWSM_FIRMWARE);
	return get(n, SWSM);
}

static bool take_swsm(struct via_native *n)
{
	u32 swsm;

	if (read_poll_timeout(get, swsm, !(swsm & SWSM_OTHERS), 50, 10000,
			      false, n, SWSM))
		return false;
	if (!read_poll_timeout(ask_firmware, swsm, swsm & SWSM_FIRMWARE, 50,
			       10000, false, n))
		return true;
	put(n, SWSM, swsm & ~(SWSM_OTHERS | SWSM_FIRMWARE));
	return false;
}

static void give_swsm(struct via_native *n)
{
	put(n, SWSM, get(n, SWSM) & ~(SWSM_OTHERS | SWSM_FIRMWARE));
}

static u32 phy_bit(struct via_native *n)
{
	return SYNC_PHY(FIELD_GET(STATUS_FUNCTION, get(n, STATUS)) & 1);
}

/* False: the firmware keeps it. */
static bool own_phy(struct via_native *n)
{
	u32 bit = phy_bit(n), sync;
	int i;

	for (i = 0; i < 100; i++) {
		if (!take_swsm(n))
			return false;
		sync = get(n, SW_FW_SYNC);
		if (!(sync & SYNC_TAKEN(bit)))
			put(n, SW_FW_SYNC, sync | bit);
		give_swsm(n);
		if (!(sync & SYNC_TAKEN(bit)))
			return true;
		usleep_range(5000, 6000);
	}
	return false;
}

static void give_phy(struct via_native *n)
{
	u32 bit = phy_bit(n);
	bool locked = take_swsm(n);

	/* It is ours, locked or not, and must not stay so. */
	put(n, SW_FW_SYNC, get(n, SW_FW_SYNC) & ~bit);
	if (locked)
		give_swsm(n);
}

/* A register's bits, or negative.  The transceiver is ours. */
static int igb_run_mdic(struct via_native *n, u32 command)
{
	u32 word;

	put(n, MDIC, MDIC_PHY | command);
	if (read_poll_timeout(get, word, word & MDIC_READY, 50, 10000, false,
			      n, MDIC) || word & MDIC_ERROR)
		return -EIO;
	return word & 0xffff;
}

static int phy_read(struct via_native *n, u32 reg)
{
	return igb_run_mdic(n, MDIC_READ | reg << 16);
}

static void phy_write(struct via_native *n, u32 reg, u16 value)
{
	igb_run_mdic(n, MDIC_WRITE | reg << 16 | value);
}

/* Without a link it may be asleep, or nothing has told it to negotiate. */
void igb_phy_wake(struct via_native *n)
{
	int bmcr;

	if (get(n, STATUS) & STATUS_LINK || !own_phy(n))
		return;
	bmcr = phy_read(n, MII_BMCR);
	if (bmcr >= 0) {
		bmcr &= ~(BMCR_PDOWN | BMCR_ISOLATE | BMCR_LOOPBACK);
		bmcr |= BMCR_ANENABLE | BMCR_ANRESTART;
		phy_write(n, MII_BMCR, bmcr);
	}
	give_phy(n);
}

/* As the stock driver's own test does it: igb_ethtool.c. */
int igb_loopback(struct via_native *n, bool on)
{
	u32 ctrl = get(n, CTRL) & ~(CTRL_SPEED | CTRL_FORCE);

	if (!own_phy(n))
		return -EBUSY;
	if (on) {
		msleep(50);
		phy_write(n, MII_BMCR, BMCR_LOOPBACK | BMCR_FULLDPLX |
				       BMCR_SPEED1000);
		ctrl |= CTRL_FORCE | CTRL_1000 | CTRL_FULL | CTRL_LINK_UP;
	} else {
		phy_write(n, MII_BMCR, BMCR_ANENABLE | BMCR_ANRESTART |
				       BMCR_FULLDPLX | BMCR_SPEED1000);
	}
	put(n, CTRL, ctrl);
	give_phy(n);
	if (!on)
		return 0;
	msleep(100);
	/* At once on a card; a model may be about to negotiate. */
	read_poll_timeout(get, ctrl, ctrl & STATUS_LINK, 1000, 2000000, true, n,
			  STATUS);
	return 0;
}

/* The chip. */

/*
 * Some bridges take longer than the time that is there after power-on; and what
 * has timed out and is repeated may be answered twice.
 */
static void bus_timeout(struct via_native *n)
{
	u32 gcr = get(n, GCR);

	if (!(gcr & GCR_TIMEOUT)) {
		if (gcr & GCR_VERSION_2)
			pcie_capability_clear_and_set_word(n->pdev,
							   PCI_EXP_DEVCTL2,
							   PCI_EXP_DEVCTL2_COMP_TIMEOUT,
							   DEVCTL2_16MS);
		else
			gcr |= FIELD_PREP(GCR_TIMEOUT, GCR_10MS);
	}
	put(n, GCR, gcr & ~GCR_AGAIN);
}

/* No request may be under way on the bus. */
void igb_reset(struct via_native *n)
{
	u32 word;

	put(n, EIMC, U32_MAX);
	put(n, IMC, U32_MAX);
	put(n, RCTL, 0);
	put(n, TCTL, 0);
	get(n, STATUS);
	usleep_range(10000, 11000);	/* what is under way ends */
	put(n, CTRL, get(n, CTRL) | CTRL_MASTER_OFF);
	read_poll_timeout(get, word, !(word & STATUS_MASTER) ||
			  word == U32_MAX, 100, 80000, false, n, STATUS);
	bus_timeout(n);
	put(n, CTRL, get(n, CTRL) | CTRL_RESET);
	usleep_range(10000, 11000);
	/* A board without an EEPROM, and a model, never say so. */
	read_poll_timeout(get, word, word & EECD_LOADED, 1000, 10000, false, n,
			  EECD);
	put(n, EIMC, U32_MAX);
	put(n, IMC, U32_MAX);
	get(n, ICR);
}

void igb_address(struct via_native *n)
{
	u32 low = get(n, RAL(0)), high = get(n, RAH(0));
	u8 mac[ETH_ALEN] = {
		low, low >> 8, low >> 16, low >> 24, high, high >> 8,
	};

	eth_hw_addr_set(n->dev, mac);
}

void igb_loaded(struct via_native *n, bool loaded)
{
	u32 ext = get(n, CTRL_EXT) & ~CTRL_EXT_LOADED;

	put(n, CTRL_EXT, ext | (loaded ? CTRL_EXT_LOADED : 0));
}
