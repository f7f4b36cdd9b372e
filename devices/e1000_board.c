// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_e1000: what is off the path of frames.  Reset, errata of the silicon,
 * and what sits beside it on the board: EEPROM, transceiver, management
 * firmware.  docs/howto/native.md lists the errata with their sources.
 */

#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/mii.h>
#include "e1000.h"

#define CTRL_FULL	BIT(0)
#define CTRL_SPEED	GENMASK(9, 8)
#define CTRL_1000	BIT(9)
#define CTRL_PHY_RESET	BIT(31)
#define CTRL_82574	BIT(29)		/* must be zero */
#define CTRL_EXT	0x0018
#define CTRL_EXT_AUTO	(BIT(24) | BIT(27) | BIT(31))	/* masking by itself */
#define CTRL_EXT_ONE	BIT(22)		/* 82574: must be one */
#define CTRL_EXT_ZERO	BIT(23)		/* and this zero */
#define CTRL_EXT_LOADED	BIT(28)
#define EERD		0x0014		/* EEPROM read */
#define EERD_START	BIT(0)
#define EERD_DONE	BIT(4)
#define EERD_DONE_PCIE	BIT(1)
#define EEPROM_VERSION	5		/* word */
#define MDIC		0x0020		/* the transceiver's registers */
#define MDIC_PHY	BIT(21)
#define MDIC_WRITE	BIT(26)
#define MDIC_READ	BIT(27)
#define MDIC_READY	BIT(28)
#define EXTCNF		0x0f00		/* 82574: the owner of MDIC */
#define EXTCNF_MDIO	BIT(5)
#define TARC0		0x3840		/* 82574: arbitration of two queues */
#define TARC0_ZERO	GENMASK(30, 27)
#define TARC0_ONE	BIT(26)
#define TXDCTL_82574	BIT(22)		/* must be one */
#define TXDCTL1		0x3928		/* of the queue that is not used */
#define MANC		0x5820
#define MANC_ARP	BIT(13)		/* the chip answers ARP */
#define GCR		0x5b00		/* 82574: PCI Express */
#define GCR_82574	BIT(22)		/* must be one */
#define GCR_L1		BIT(27)		/* L1 without L0s of the receiver */
#define GCR2		0x5b64
#define GCR2_82574	BIT(0)		/* must be one */

#define MMRBC_MAX	2048		/* bytes that PCI-X may read at once */

/* Of the PCI chips' transceiver. */
#define PHY_CONTROL	16
#define PHY_NO_CROSSING	0x0808		/* of pairs, by itself */
#define PHY_TEST_PAGE	29
#define PHY_TEST	30

/* Of the 82574's transceiver; registers of its pages as page << 5 | number. */
#define PHY_PAGE	22
#define PHY_PAGED(p, r)	((p) << 5 | (r))
#define PHY_1000_STATUS	10
#define PHY_IDLE_ERRORS	GENMASK(7, 0)
#define PHY_RX_ERRORS	21

/* The bus. */

bool e1000_pci_bus(struct via_native *n)
{
	struct pci_dev *pdev = n->pdev;
	int bar;

	for (bar = 1; bar < PCI_STD_NUM_BARS && !e1000(n)->io; bar++)
		if (pci_resource_flags(pdev, bar) & IORESOURCE_IO)
			e1000(n)->io = pci_resource_start(pdev, bar);
	if (!(get(n, STATUS) & STATUS_PCIX) ||
	    !pci_find_capability(pdev, PCI_CAP_ID_PCIX))
		return false;
	/* Some BIOSes allow more than the chip can take. */
	if (pcix_get_mmrbc(pdev) > MMRBC_MAX)
		pcix_set_mmrbc(pdev, MMRBC_MAX);
	return true;
}

/*
 * Both ends of a link agree on its states of low power.  Where firmware has
 * kept their control from Linux the bits are cleared all the same: the chip
 * drops frames and hangs with them.
 */
void e1000_pcie_bus(struct via_native *n)
{
	const u16 bits = PCI_EXP_LNKCTL_ASPM_L0S | PCI_EXP_LNKCTL_ASPM_L1;
	struct pci_dev *up = n->pdev->bus->self;
	u16 now = 0;

	pcie_capability_read_word(n->pdev, PCI_EXP_LNKCTL, &now);
	if (!(now & bits))
		return;
	pci_disable_link_state(n->pdev, PCIE_LINK_STATE_L0S |
					PCIE_LINK_STATE_L1);
	/* The end below first. */
	pcie_capability_clear_word(n->pdev, PCI_EXP_LNKCTL, bits);
	if (up)
		pcie_capability_clear_word(up, PCI_EXP_LNKCTL, bits);
	dev_info(&n->pdev->dev, "ASPM is off: this chip does not work with it\n");
}

/* The EEPROM. */

static int eeprom_word(struct via_native *n, u32 at)
{
	u32 shift = e1000(n)->pcie ? 2 : 8;
	u32 done = e1000(n)->pcie ? EERD_DONE_PCIE : EERD_DONE;
	u32 word;

	put(n, EERD, at << shift | EERD_START);
	if (read_poll_timeout(get, word, word & done, 50, 20000, false, n,
			      EERD) || word == U32_MAX)
		return -EIO;
	return word >> 16;
}

static void eeprom_version(struct via_native *n)
{
	int word = eeprom_word(n, EEPROM_VERSION);

	if (word >= 0)
		snprintf(n->version, sizeof(n->version), "%d.%d-%d",
			 word >> 12, word >> 4 & 0xff, word & 0xf);
}

int e1000_pci_address(struct via_native *n)
{
	u8 mac[ETH_ALEN];
	int i, word;

	for (i = 0; i < ETH_ALEN / 2; i++) {
		word = eeprom_word(n, i);
		if (word < 0) {
			dev_err(&n->pdev->dev, "the EEPROM does not answer\n");
			return word;
		}
		mac[2 * i] = word;
		mac[2 * i + 1] = word >> 8;
	}
	eth_hw_addr_set(n->dev, mac);
	eeprom_version(n);
	return 0;
}

/* The 82574 has read it out of its memory after the reset. */
void e1000_pcie_address(struct via_native *n)
{
	u32 low = get(n, RAL(0)), high = get(n, RAH(0));
	u8 mac[ETH_ALEN] = {
		low, low >> 8, low >> 16, low >> 24, high, high >> 8,
	};

	eth_hw_addr_set(n->dev, mac);
	eeprom_version(n);
}

/* The transceiver. */

/*
 * The 82574's firmware uses it too: a write that finds the firmware there is
 * lost, so it is repeated.  False: the firmware keeps it.
 */
static bool own_mdio(struct via_native *n)
{
	int i;

	if (!e1000(n)->pcie)
		return true;
	for (i = 0; i < 20; i++) {
		put(n, EXTCNF, get(n, EXTCNF) | EXTCNF_MDIO);
		if (get(n, EXTCNF) & EXTCNF_MDIO)
			return true;
		usleep_range(2000, 4000);
	}
	return false;
}

static void give_mdio(struct via_native *n)
{
	if (e1000(n)->pcie)
		put(n, EXTCNF, get(n, EXTCNF) & ~EXTCNF_MDIO);
}

/* A register's bits, or negative.  MDIO owned. */
static int e1000_run_mdic(struct via_native *n, u32 command)
{
	u32 word;

	put(n, MDIC, MDIC_PHY | command);
	if (read_poll_timeout(get, word, word & MDIC_READY, 50, 10000, false,
			      n, MDIC) || word == U32_MAX)
		return -EIO;
	return word & 0xffff;
}

static int phy_read(struct via_native *n, u32 reg)
{
	return e1000_run_mdic(n, MDIC_READ | reg << 16);
}

static void phy_write(struct via_native *n, u32 reg, u16 value)
{
	e1000_run_mdic(n, MDIC_WRITE | reg << 16 | value);
}

void e1000_phy_wake(struct via_native *n)
{
	int bmcr;

	if (!own_mdio(n))
		return;
	bmcr = phy_read(n, MII_BMCR);
	if (bmcr >= 0 && bmcr & (BMCR_PDOWN | BMCR_ISOLATE)) {
		bmcr &= ~(BMCR_PDOWN | BMCR_ISOLATE);
		bmcr |= BMCR_ANENABLE | BMCR_ANRESTART;
		phy_write(n, MII_BMCR, bmcr);
	}
	give_mdio(n);
}

/* Both counters of errors full, at two looks in a row. */
bool e1000_phy_hung(struct via_native *n)
{
	struct e1000 *e = e1000(n);
	bool full;

	if (!e->pcie || !own_mdio(n))
		return false;
	full = phy_read(n, PHY_RX_ERRORS) == U16_MAX &&
	       (phy_read(n, PHY_1000_STATUS) & PHY_IDLE_ERRORS) ==
	       PHY_IDLE_ERRORS;
	give_mdio(n);
	e->hung = full ? e->hung + 1 : 0;
	return e->hung > 1;
}

/* The bits of @mask in a register of a page become @bits. */
static void phy_change(struct via_native *n, u32 paged, u16 mask, u16 bits)
{
	int word;

	phy_write(n, PHY_PAGE, paged >> 5);
	word = phy_read(n, paged & 31);
	if (word >= 0)
		phy_write(n, paged & 31, (word & ~mask) | bits);
	phy_write(n, PHY_PAGE, 0);
}

#define BMCR_LOOP	(BMCR_LOOPBACK | BMCR_FULLDPLX | BMCR_SPEED1000)

/* As the stock drivers' own tests do it: e1000_ethtool.c, e1000e/ethtool.c. */
static void phy_loop(struct via_native *n)
{
	phy_write(n, PHY_CONTROL, PHY_NO_CROSSING);
	phy_write(n, MII_BMCR, BMCR_RESET | BMCR_ANENABLE | BMCR_FULLDPLX |
			       BMCR_SPEED1000);
	phy_write(n, MII_BMCR, BMCR_RESET | BMCR_FULLDPLX | BMCR_SPEED1000);
	phy_write(n, MII_BMCR, BMCR_LOOP);
}

/* A partner on the wire is not heard. */
static void phy_deaf(struct via_native *n)
{
	phy_write(n, PHY_TEST_PAGE, 0x001f);
	phy_write(n, PHY_TEST, 0x8ffc);
	phy_write(n, PHY_TEST_PAGE, 0x001a);
	phy_write(n, PHY_TEST, 0x8ff0);
}

static void pcie_phy_loop(struct via_native *n)
{
	/* Toward the chip at 1000 Mb/s, after a reset. */
	phy_change(n, PHY_PAGED(2, 21), 7, 6);
	phy_write(n, MII_BMCR, BMCR_RESET | BMCR_ANENABLE | BMCR_FULLDPLX |
			       BMCR_SPEED1000);
	usleep_range(1000, 2000);
	/* Full duplex and a link, by force; the link early. */
	phy_change(n, PHY_PAGED(769, 16), 0, 0x000c);
	phy_change(n, PHY_PAGED(776, 16), 0, 0x0040);
	phy_change(n, PHY_PAGED(769, 16), 0, 0x0040);
	phy_change(n, PHY_PAGED(769, 20), 0, 0x0400);
	phy_write(n, MII_BMCR, BMCR_LOOP);
	msleep(250);
}

/* By its pin: what was forced is forgotten. */
static void phy_reset(struct via_native *n)
{
	u32 ctrl = get(n, CTRL) & ~(CTRL_FORCE | CTRL_INVERT | CTRL_PHY_RESET);

	put(n, CTRL, ctrl | CTRL_PHY_RESET);
	get(n, STATUS);
	usleep_range(10000, 11000);
	put(n, CTRL, ctrl);
	get(n, STATUS);
	usleep_range(10000, 11000);
	phy_write(n, MII_BMCR, BMCR_ANENABLE | BMCR_ANRESTART |
			       BMCR_FULLDPLX | BMCR_SPEED1000);
}

int e1000_loopback(struct via_native *n, bool on)
{
	u32 ctrl;

	if (!own_mdio(n))
		return -EBUSY;
	if (!on) {
		phy_reset(n);
		give_mdio(n);
		return 0;
	}
	if (e1000(n)->pcie)
		pcie_phy_loop(n);
	else
		phy_loop(n);
	ctrl = (get(n, CTRL) & ~CTRL_SPEED) | CTRL_FORCE | CTRL_1000 |
	       CTRL_FULL;
	if (!e1000(n)->pcie || !(get(n, STATUS) & STATUS_FULL))
		ctrl |= CTRL_INVERT | CTRL_LINK_UP;
	put(n, CTRL, ctrl);
	if (!e1000(n)->pcie)
		phy_deaf(n);
	give_mdio(n);
	/* At once on a card; a model may be about to negotiate. */
	read_poll_timeout(get, ctrl, ctrl & STATUS_LINK, 1000, 2000000, true, n,
			  STATUS);
	return 0;
}

/* The chip. */

/*
 * The PCI chips do not end the 64-bit write that resets them: it goes through
 * the I/O ports, of 32 bits, the address before the value.
 */
static void pci_reset(struct via_native *n, u32 ctrl)
{
	unsigned long io = e1000(n)->io;

	if (io) {
		outl(CTRL, io);
		outl(ctrl | CTRL_RESET, io + 4);
	} else {
		put(n, CTRL, ctrl | CTRL_RESET);
	}
	usleep_range(10000, 11000);	/* the EEPROM is read */
	put(n, MANC, get(n, MANC) & ~MANC_ARP);
}

/*
 * No request may be under way on PCI Express, and the transceiver must be ours,
 * which it is the firmware's after.
 */
static void pcie_reset(struct via_native *n)
{
	u32 status;
	bool owner;

	put(n, CTRL, get(n, CTRL) | CTRL_MASTER_OFF);
	read_poll_timeout(get, status, !(status & STATUS_MASTER) ||
			  status == U32_MAX, 100, 80000, false, n, STATUS);
	owner = own_mdio(n);
	put(n, CTRL, get(n, CTRL) | CTRL_RESET);
	if (owner)
		give_mdio(n);
	usleep_range(10000, 11000);	/* the EEPROM is read, */
	msleep(25);			/* and the transceiver set from it */
}

void e1000_reset(struct via_native *n)
{
	put(n, IMC, U32_MAX);
	put(n, RCTL, 0);
	put(n, TCTL, 0);
	get(n, STATUS);
	usleep_range(10000, 11000);	/* what is under way ends */
	if (e1000(n)->pcie)
		pcie_reset(n);
	else
		pci_reset(n, get(n, CTRL));
	put(n, IMC, U32_MAX);
	get(n, ICR);
	e1000(n)->hung = 0;
}

void e1000_loaded(struct via_native *n, bool loaded)
{
	u32 ext;

	if (!e1000(n)->pcie)
		return;
	ext = get(n, CTRL_EXT) & ~CTRL_EXT_LOADED;
	put(n, CTRL_EXT, ext | (loaded ? CTRL_EXT_LOADED : 0));
}

void e1000_errata(struct via_native *n)
{
	u32 ext;

	put(n, TXDCTL, TXDCTL_WB_ONE | (e1000(n)->pcie ? TXDCTL_82574 : 0));
	if (!e1000(n)->pcie)
		return;
	/* Queues must not differ in this, used or not. */
	put(n, TXDCTL1, TXDCTL_WB_ONE | TXDCTL_82574);
	put(n, TARC0, (get(n, TARC0) & ~TARC0_ZERO) | TARC0_ONE);
	put(n, CTRL, get(n, CTRL) & ~CTRL_82574);
	ext = get(n, CTRL_EXT) & ~(CTRL_EXT_AUTO | CTRL_EXT_ZERO);
	put(n, CTRL_EXT, ext | CTRL_EXT_ONE);
	put(n, GCR, get(n, GCR) | GCR_82574 | GCR_L1);
	put(n, GCR2, get(n, GCR2) | GCR2_82574);
}
