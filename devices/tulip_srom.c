// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_tulip: the serial EEPROM of a board.
 *
 * Behind a head with the hardware address and, for each controller that shares
 * it, a place, there is a list for each controller: blocks, one for each way
 * to the wire.  Byte 0 of a block is its length, less one, and bit 7; byte 1
 * its type.  A block without bit 7 has four bytes, and is of type 0.
 *
 *	0	21140, its own port
 *	1	21140, transceiver on the MII
 *	2	21143, its own 10 Mb/s transceiver
 *	3	21143, transceiver on the MII
 *	4	21143, its own port for 100 Mb/s
 *	5	21143, how to reset all of them
 *
 * Any byte may be anything: each is read through a cursor that knows the end.
 */

#include "tulip_srom.h"

#define VERSION_AT	18
#define VERSION_MAX	4
#define COUNT_AT	19
#define ADDRESS_AT	20
#define PLACES_AT	26		/* three bytes for each controller */
#define PLACE_LEN	3
#define BLOCK_LONG	0x80
#define MEDIA_CODE	0x3f
#define MEDIA_10BASE_T	0
#define MEDIA_OWN	0x40		/* with values for CSR13 to 15 */

/* What is left of a block, or of the list. */
struct cursor {
	const u8 *at;
	u32 len;
	bool over;			/* more was wanted than there is */
};

static u8 take_u8(struct cursor *c)
{
	if (!c->len) {
		c->over = true;
		return 0;
	}
	c->len--;
	return *c->at++;
}

static u16 take_u16(struct cursor *c)
{
	u16 low = take_u8(c);

	return low | take_u8(c) << 8;
}

static struct cursor take_part(struct cursor *c, u32 len)
{
	struct cursor part = { .at = c->at, .len = len };

	if (len > c->len) {
		c->over = true;
		part.len = c->len;
	}
	c->at += part.len;
	c->len -= part.len;
	return part;
}

static void take_sequence(struct cursor *c, bool gpio8,
			  struct tulip_sequence *s)
{
	u8 n = take_u8(c), i;

	if (n > TULIP_SEQUENCE_MAX) {
		c->over = true;
		return;
	}
	for (i = 0; i < n; i++)
		s->value[i] = gpio8 ? take_u8(c) : take_u16(c);
	s->n = n;
}

static void take_mii(struct cursor *c, bool gpio8, struct tulip_media *m)
{
	/* The first one is used. */
	if (m->mii)
		return;
	m->mii = true;
	take_u8(c);			/* which of several */
	take_sequence(c, gpio8, &m->select);
	take_sequence(c, gpio8, &m->reset);
	take_u16(c);			/* what it can */
	m->advertise = take_u16(c);
}

static void take_sia(struct cursor *c, struct tulip_media *m)
{
	u8 media = take_u8(c);
	u32 i;

	if ((media & MEDIA_CODE) != MEDIA_10BASE_T)
		return;
	m->sia = true;
	m->sia_own = media & MEDIA_OWN;
	for (i = 0; m->sia_own && i < 3; i++)
		m->sia_csr[i] = take_u16(c);
	m->sia_select.value[0] = take_u16(c);
	m->sia_select.value[1] = take_u16(c);
	m->sia_select.n = 2;
}

/* False: it is longer than the list. */
static bool take_block(struct cursor *list, bool gpio8, struct tulip_media *m)
{
	u8 first = take_u8(list), type = 0;
	struct cursor c;

	if (!(first & BLOCK_LONG)) {
		take_part(list, 3);
		m->sym = true;
		return !list->over;
	}
	c = take_part(list, first & ~BLOCK_LONG);
	type = take_u8(&c);
	switch (type) {
	case 0:
	case 4:
		m->sym = true;
		break;
	case 1:
	case 3:
		take_mii(&c, type == 1, m);
		break;
	case 2:
		take_sia(&c, m);
		break;
	case 5:
		take_sequence(&c, gpio8, &m->board);
		break;
	}
	return !c.over && !list->over;
}

u32 tulip_srom_address(const u8 *srom, u32 len)
{
	/* Boards older than the layout begin with it. */
	return len >= PLACES_AT && srom[VERSION_AT] &&
	       srom[VERSION_AT] <= VERSION_MAX ? ADDRESS_AT : 0;
}

/* Where the list of the controller is, or 0. */
static u32 list_of(const u8 *srom, u32 len, u8 slot)
{
	u32 count, i, at;

	if (!tulip_srom_address(srom, len))
		return 0;
	count = srom[COUNT_AT];
	for (i = 0; i < count; i++) {
		at = PLACES_AT + i * PLACE_LEN;
		if (at + PLACE_LEN > len)
			return 0;
		/* The only one is meant, whatever its number. */
		if (count == 1 || srom[at] == slot)
			return srom[at + 1] | srom[at + 2] << 8;
	}
	return 0;
}

void tulip_srom_media(const u8 *srom, u32 len, u8 slot, bool gpio8,
		      struct tulip_media *m)
{
	u32 at = list_of(srom, len, slot);
	u8 direction = 0, count, i;
	struct cursor c;

	*m = (struct tulip_media){};
	if (!at)
		return;
	if (at >= len)
		goto damaged;
	c = (struct cursor){ .at = srom + at, .len = len - at };
	take_u16(&c);			/* the way to begin with */
	if (gpio8)
		direction = take_u8(&c);
	count = take_u8(&c);
	if (c.over || count == 0xff)
		goto damaged;
	for (i = 0; i < count; i++)
		if (!take_block(&c, gpio8, m))
			goto damaged;
	m->direction = direction;
	m->listed = count;
	return;

damaged:
	*m = (struct tulip_media){ .damaged = true };
}

const char *tulip_srom_refused(const struct tulip_media *m, bool gpio8,
			       bool phy)
{
	/* The 21143's own transceiver needs no list. */
	if (phy || (!gpio8 && (m->sia || !m->listed)))
		return NULL;
	if (m->mii)
		return "its EEPROM names a transceiver on the MII, and none answers";
	if (m->sym)
		return "it has the chip's own symbol port (SYM), and no transceiver";
	if (m->listed)
		return "it has AUI or 10BASE2 only";
	return "no transceiver answers on the MII";
}
