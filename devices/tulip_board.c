// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_tulip: what sits on the board beside the chip, a serial EEPROM, a
 * transceiver, and switches that the EEPROM has sequences for.
 */

#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/mii.h>
#include <linux/slab.h>
#include "tulip.h"

#define CSR9_SROM_CS	BIT(0)
#define CSR9_SROM_CLK	BIT(1)
#define CSR9_SROM_IN	BIT(2)
#define CSR9_SROM_OUT	BIT(3)
#define CSR9_SROM	BIT(11)
#define CSR9_READ	BIT(14)
#define CSR9_MII_CLK	BIT(16)
#define CSR9_MII_OUT	BIT(17)
#define CSR9_MII_READ	BIT(18)
#define CSR9_MII_IN	BIT(19)
#define CSR12_DIRECTION	BIT(8)		/* 21140: which switches are outputs */

#define SROM_MAX	512u		/* bytes of a 93C66 */
#define SROM_VERSION	18		/* of the layout */

/* The serial EEPROM: bits through CSR9, a 93C46 or 93C66. */

static u32 srom_bit(struct via_native *n, bool out)
{
	u32 bits = CSR9_SROM | CSR9_READ | CSR9_SROM_CS |
		   (out ? CSR9_SROM_IN : 0);
	u32 in;

	put_csr(n, 9, bits);
	get_csr(n, 9);
	udelay(1);
	put_csr(n, 9, bits | CSR9_SROM_CLK);
	get_csr(n, 9);
	udelay(1);
	in = get_csr(n, 9) & CSR9_SROM_OUT;
	put_csr(n, 9, bits);
	return in ? 1 : 0;
}

/*
 * A word.  The EEPROM answers the last bit of the address with a zero, which
 * tells how many it has: @address_bits is set to it while it is 0.
 */
static u16 srom_word(struct via_native *n, u32 address, u32 *address_bits)
{
	u32 max = *address_bits ?: 8, i;
	u16 word = 0;

	put_csr(n, 9, CSR9_SROM | CSR9_READ);
	udelay(1);
	for (i = 0; i < 3; i++)
		srom_bit(n, i != 2);		/* start, "read" */
	for (i = 1; i <= max; i++) {
		bool bit = address >> (max - i) & 1;

		if (!srom_bit(n, bit) && !*address_bits && !address) {
			*address_bits = i;
			break;
		}
	}
	for (i = 0; i < 16; i++)
		word = word << 1 | srom_bit(n, false);
	put_csr(n, 9, CSR9_SROM | CSR9_READ);
	udelay(1);
	put_csr(n, 9, 0);
	return word;
}

/* All of it, into @srom, which has room for the longest: its length. */
static u32 srom_read(struct via_native *n, u8 *srom)
{
	u32 address_bits = 0, i;
	u16 word;

	srom_word(n, 0, &address_bits);
	if (address_bits != 6 && address_bits != 8)
		address_bits = 6;
	for (i = 0; i < 1 << address_bits; i++) {
		word = srom_word(n, i, &address_bits);
		srom[2 * i] = word;
		srom[2 * i + 1] = word >> 8;
	}
	return 2 << address_bits;
}

int tulip_board_read(struct via_native *n, bool gpio8)
{
	struct tulip *t = tulip(n);
	u8 *srom = kmalloc(SROM_MAX, GFP_KERNEL);
	u32 len;

	if (!srom)
		return -ENOMEM;
	len = srom_read(n, srom);
	eth_hw_addr_set(n->dev, srom + tulip_srom_address(srom, len));
	if (tulip_srom_address(srom, len))
		snprintf(n->version, sizeof(n->version), "SROM %u",
			 srom[SROM_VERSION]);
	tulip_srom_media(srom, len, PCI_SLOT(n->pdev->devfn), gpio8,
			 &t->media);
	kfree(srom);
	t->gpio8 = gpio8;
	if (t->media.damaged)
		dev_warn(&n->pdev->dev, "the EEPROM's list of media makes no sense, and is left out\n");
	return 0;
}

/* The board's switches. */

static void tulip_play_sequence(struct via_native *n,
				const struct tulip_sequence *s)
{
	u32 i;

	if (!s->n)
		return;
	for (i = 0; i < s->n; i++)
		if (tulip(n)->gpio8)
			put_csr(n, 12, s->value[i]);
		else
			put_csr(n, 15, (u32)s->value[i] << 16);
	get_csr(n, 5);			/* flushes */
}

/* The transceiver: bits through CSR9 again.  Process context. */

static u32 mii_bit(struct via_native *n, u32 bits)
{
	u32 in;

	put_csr(n, 9, bits);
	in = get_csr(n, 9) & CSR9_MII_IN;
	udelay(1);
	put_csr(n, 9, bits | CSR9_MII_CLK);
	get_csr(n, 9);
	udelay(1);
	return in ? 1 : 0;
}

/* The low @count bits of @value. */
static void mii_send(struct via_native *n, u32 value, u32 count)
{
	while (count--)
		mii_bit(n, value >> count & 1 ? CSR9_MII_OUT : 0);
}

static u16 mii_read(struct via_native *n, int phy, int reg)
{
	u32 i, word = 0;

	mii_send(n, U32_MAX, 32);
	mii_send(n, 0x6 << 10 | phy << 5 | reg, 14);
	for (i = 0; i < 2; i++)
		mii_bit(n, CSR9_MII_READ);	/* the line turns round */
	for (i = 0; i < 16; i++)
		word = word << 1 | mii_bit(n, CSR9_MII_READ);
	mii_bit(n, CSR9_MII_READ);
	return word;
}

static void mii_write(struct via_native *n, int phy, int reg, u16 value)
{
	mii_send(n, U32_MAX, 32);
	mii_send(n, 0x5 << 12 | phy << 7 | reg << 2 | 0x2, 16);
	mii_send(n, value, 16);
	mii_bit(n, CSR9_MII_READ);
}

/* After its reset; the standard allows half a second. */
static void phy_ready(struct via_native *n, int phy)
{
	u16 bmcr;

	read_poll_timeout(mii_read, bmcr, !(bmcr & BMCR_RESET), 1000, 500000,
			  false, n, phy, MII_BMCR);
}

/* To the switches what the EEPROM has for them; true: there was something. */
static bool select_media(struct via_native *n)
{
	const struct tulip_media *m = &tulip(n)->media;

	if (m->listed && tulip(n)->gpio8)
		put_csr(n, 12, CSR12_DIRECTION | m->direction);
	if (!m->board.n && !m->reset.n && !m->select.n)
		return false;
	tulip_play_sequence(n, &m->board);
	tulip_play_sequence(n, &m->reset);
	usleep_range(500, 1000);	/* a transceiver answers 500 us later */
	tulip_play_sequence(n, &m->select);
	return true;
}

void tulip_phy_find(struct via_native *n)
{
	int phy;
	u16 id;

	select_media(n);
	/* Address 0 answers for any on some: it comes last. */
	for (phy = 1; phy <= 32; phy++) {
		id = mii_read(n, phy & 31, MII_BMSR);
		if (id && id != 0xffff) {
			tulip(n)->phy = phy & 31;
			return;
		}
	}
}

void tulip_mii_select(struct via_native *n)
{
	const struct tulip_media *m = &tulip(n)->media;
	int phy = tulip(n)->phy;

	if (!tulip(n)->gpio8 && m->sia) {
		/* The chip's own transceiver is off. */
		put_csr(n, 13, 0);
		put_csr(n, 14, 0);
	}
	if (!select_media(n))
		return;
	phy_ready(n, phy);
	if (m->advertise)
		mii_write(n, phy, MII_ADVERTISE,
			  m->advertise | ADVERTISE_CSMA);
	mii_write(n, phy, MII_BMCR, BMCR_ANENABLE | BMCR_ANRESTART);
}

void tulip_sia_select(struct via_native *n)
{
	static const u16 usual[] = { 0x0001, 0x7f3f, 0x0008 };
	const struct tulip_media *m = &tulip(n)->media;
	const u16 *csr = m->sia_own ? m->sia_csr : usual;
	u32 i;

	tulip_play_sequence(n, &m->board);
	put_csr(n, 13, 0);
	put_csr(n, 14, csr[1]);
	put_csr(n, 15, csr[2]);
	for (i = 0; i < m->sia_select.n; i++)
		put_csr(n, 15, (u32)m->sia_select.value[i] << 16 | csr[2]);
	put_csr(n, 13, csr[0]);
}

void tulip_phy_wake(struct via_native *n)
{
	int phy = tulip(n)->phy;
	u16 bmcr;

	bmcr = mii_read(n, phy, MII_BMCR);
	if (bmcr & (BMCR_ISOLATE | BMCR_PDOWN)) {
		bmcr &= ~(BMCR_ISOLATE | BMCR_PDOWN);
		mii_write(n, phy, MII_BMCR,
			  bmcr | BMCR_ANENABLE | BMCR_ANRESTART);
	}
}

void tulip_phy_link(struct via_native *n, struct via_native_link *link)
{
	int phy = tulip(n)->phy;
	u16 bmcr, both = 0;

	/* It remembers a link that was lost until it is read. */
	mii_read(n, phy, MII_BMSR);
	link->up = mii_read(n, phy, MII_BMSR) & BMSR_LSTATUS;
	bmcr = mii_read(n, phy, MII_BMCR);
	if (bmcr & BMCR_ANENABLE)
		both = mii_read(n, phy, MII_ADVERTISE) &
		       mii_read(n, phy, MII_LPA);
	via_native_mii_speed(link, bmcr, both);
}
