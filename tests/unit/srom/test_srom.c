// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * SROMs of boards.  The lists of the Cobalt Microserver, the NetWinder and the
 * Cogent EM100 are those that Linux's drivers/net/ethernet/dec/tulip/eeprom.c
 * has for them; others are put together here.  Each image lies in a heap
 * block of exactly its length, so that the sanitizer sees any byte read beyond.
 */

#include <stdlib.h>
#include "tulip_srom.h"
#include "unit.h"

#define LIST	30			/* where the only list is */

struct image {
	u8 *byte;
	u32 len;
};

static struct image image(const u8 *list, u32 n, u32 len)
{
	struct image i = { .byte = calloc(1, len), .len = len };
	static const u8 mac[] = { 0x00, 0x10, 0xe0, 0x01, 0x02, 0x03 };

	i.byte[18] = 3;
	i.byte[19] = 1;
	memcpy(i.byte + 20, mac, sizeof(mac));
	i.byte[27] = LIST;
	memcpy(i.byte + LIST, list, n);
	return i;
}

static struct tulip_media media(const u8 *list, u32 n, bool gpio8)
{
	struct image i = image(list, n, 128);
	struct tulip_media m;

	tulip_srom_media(i.byte, i.len, 0, gpio8, &m);
	free(i.byte);
	return m;
}

static bool same(const struct tulip_sequence *s, u8 n, const u16 *value)
{
	return s->n == n && !memcmp(s->value, value, n * sizeof(*value));
}

static bool says(const char *text, const char *part)
{
	return text && strstr(text, part);
}

/* 21143 with a transceiver that GPIO resets. */
static void cobalt(void)
{
	static const u8 list[] = {
		0x00, 0x08, 0x01, 0x80 | 0x16, 0x03, 0x00, 0x00,
		0x04, 0x01, 0x08, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00,
		0x00, 0x78, 0xe0, 0x01, 0x00, 0x50, 0x00, 0x18, 0x00, 0x00,
	};
	static const u16 reset[] = { 0x0801, 0x0000, 0x0800, 0x0000 };
	struct tulip_media m = media(list, sizeof(list), false);

	CU_ASSERT(m.listed && m.mii && !m.sia && !m.sym);
	CU_ASSERT(m.select.n == 0);
	CU_ASSERT(same(&m.reset, 4, reset));
	CU_ASSERT(m.advertise == 0x01e0);
	CU_ASSERT_PTR_NULL(tulip_srom_refused(&m, false, true));
	CU_ASSERT(says(tulip_srom_refused(&m, false, false), "none answers"));
}

/* Likewise, with the sequence "0x0821 0x0000 0x0001". */
static void netwinder(void)
{
	static const u8 list[] = {
		0x00, 0x00, 0x01, 0x80 | 0x11, 0x03, 0x01, 0x00,
		0x03, 0x21, 0x08, 0x00, 0x00, 0x01, 0x00,
		0x00, 0x00, 0xe1, 0x01, 0x00, 0x00, 0x00, 0x00,
	};
	static const u16 reset[] = { 0x0821, 0x0000, 0x0001 };
	struct tulip_media m = media(list, sizeof(list), false);

	CU_ASSERT(m.listed && m.mii);
	CU_ASSERT(same(&m.reset, 3, reset));
	CU_ASSERT(m.advertise == 0x01e1);
}

/* 21140, six ways by its own port: refused by name. */
static void cogent(void)
{
	static const u8 list[] = {
		0x00, 0x08, 0x3f, 0x06, 0x07, 0x01, 0x21, 0x80,
		0x08, 0x01, 0x21, 0x80, 0x00, 0x01, 0x9e, 0x00,
		0x04, 0x01, 0x9e, 0x00, 0x03, 0x01, 0x6d, 0x00,
		0x05, 0x01, 0x6d, 0x00,
	};
	struct tulip_media m = media(list, sizeof(list), true);

	CU_ASSERT(m.listed && m.sym && !m.mii && !m.sia);
	CU_ASSERT(m.direction == 0x3f);
	CU_ASSERT(says(tulip_srom_refused(&m, true, false), "(SYM)"));
}

/* 21140 with a transceiver: bytes for the switches. */
static void mii_21140(void)
{
	static const u8 list[] = {
		0x00, 0x08, 0x1f, 0x01, 0x80 | 15, 0x01, 0x00,
		0x02, 0x08, 0x00, 0x02, 0x01, 0x03,
		0x00, 0x78, 0xe0, 0x01, 0x00, 0x50, 0x00, 0x18,
	};
	static const u16 select[] = { 0x08, 0x00 }, reset[] = { 0x01, 0x03 };
	struct tulip_media m = media(list, sizeof(list), true);

	CU_ASSERT(m.listed && m.mii);
	CU_ASSERT(m.direction == 0x1f);
	CU_ASSERT(same(&m.select, 2, select));
	CU_ASSERT(same(&m.reset, 2, reset));
	CU_ASSERT(m.advertise == 0x01e0);
	CU_ASSERT_PTR_NULL(tulip_srom_refused(&m, true, true));
}

/* 21143: 10BASE-T and AUI by itself, SYM, a reset of the board. */
static const u8 combo[] = {
	0x00, 0x08, 0x04,
	0x86, 0x02, 0x00, 0xaf, 0x08, 0xa5, 0x00,
	0x86, 0x02, 0x02, 0xaf, 0x08, 0xa5, 0x00,
	0x88, 0x04, 0x03, 0xaf, 0x08, 0xa5, 0x00, 0x61, 0x80,
	0x86, 0x05, 0x02, 0x01, 0x08, 0x00, 0x00,
};

static void own_21143(void)
{
	static const u16 select[] = { 0x08af, 0x00a5 };
	static const u16 reset[] = { 0x0801, 0x0000 };
	struct tulip_media m = media(combo, sizeof(combo), false);

	CU_ASSERT(m.listed && m.sia && m.sym && !m.mii);
	CU_ASSERT(same(&m.sia_select, 2, select));
	CU_ASSERT(!m.sia_own);
	CU_ASSERT(same(&m.board, 2, reset));
	CU_ASSERT_PTR_NULL(tulip_srom_refused(&m, false, false));
}

/* With values for the registers of the transceiver. */
static void own_values(void)
{
	static const u8 list[] = {
		0x00, 0x08, 0x01, 0x8c, 0x02, 0x40, 0x01, 0x00, 0x3f, 0x7f,
		0x08, 0x00, 0x05, 0x08, 0x06, 0x00,
	};
	static const u16 select[] = { 0x0805, 0x0006 };
	struct tulip_media m = media(list, sizeof(list), false);

	CU_ASSERT(m.sia && m.sia_own);
	CU_ASSERT(m.sia_csr[0] == 0x0001 && m.sia_csr[1] == 0x7f3f &&
		  m.sia_csr[2] == 0x0008);
	CU_ASSERT(same(&m.sia_select, 2, select));
}

static void only_sym(void)
{
	static const u8 list[] = {
		0x00, 0x08, 0x01,
		0x88, 0x04, 0x03, 0xaf, 0x08, 0xa5, 0x00, 0x61, 0x80,
	};
	static const u8 aui[] = {
		0x00, 0x08, 0x01, 0x86, 0x02, 0x02, 0xaf, 0x08, 0xa5, 0x00,
	};
	struct tulip_media m = media(list, sizeof(list), false);

	CU_ASSERT(says(tulip_srom_refused(&m, false, false), "(SYM)"));
	CU_ASSERT_PTR_NULL(tulip_srom_refused(&m, false, true));
	m = media(aui, sizeof(aui), false);
	CU_ASSERT(says(tulip_srom_refused(&m, false, false), "AUI"));
}

/* Boards older than the layout, and empty EEPROMs. */
static void no_list(void)
{
	struct image i = image(combo, sizeof(combo), 128);
	struct tulip_media m;

	CU_ASSERT(tulip_srom_address(i.byte, i.len) == 20);
	for (int version = 0; version < 256; version += 255) {
		i.byte[18] = version;
		CU_ASSERT(tulip_srom_address(i.byte, i.len) == 0);
		tulip_srom_media(i.byte, i.len, 0, false, &m);
		CU_ASSERT(!m.listed && !m.damaged && !m.sia);
	}
	CU_ASSERT_PTR_NULL(tulip_srom_refused(&m, false, false));
	CU_ASSERT(says(tulip_srom_refused(&m, true, false), "no transceiver"));
	free(i.byte);
}

/* Several controllers, by their number on the bus. */
static void several(void)
{
	struct image i = image(combo, sizeof(combo), 128);
	struct tulip_media m;

	i.byte[19] = 2;
	i.byte[26] = 4;
	i.byte[27] = 64;
	i.byte[29] = 5;
	i.byte[30] = 80;
	i.byte[31] = 0;
	memcpy(i.byte + 80, combo, sizeof(combo));
	tulip_srom_media(i.byte, i.len, 5, false, &m);
	CU_ASSERT(m.listed && m.sia);
	tulip_srom_media(i.byte, i.len, 4, false, &m);
	CU_ASSERT(!m.listed);
	tulip_srom_media(i.byte, i.len, 6, false, &m);
	CU_ASSERT(!m.listed && !m.damaged);
	free(i.byte);
}

/* The list is cut off at any byte: nothing beyond it is read or believed. */
static void cut_off(void)
{
	struct tulip_media m;
	struct image i;
	u32 len;

	for (len = 1; len < LIST + sizeof(combo); len++) {
		i = image(combo, sizeof(combo), 128);
		i.byte = realloc(i.byte, len);
		tulip_srom_media(i.byte, len, 0, false, &m);
		CU_ASSERT(!m.listed && !m.sia && !m.sym);
		CU_ASSERT(m.damaged == (len > 28));
		free(i.byte);
	}
}

static void noise(void)
{
	struct tulip_media m;
	u8 *byte;
	u32 len;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		len = 1 + rand() % 128;
		byte = malloc(len);
		for (u32 k = 0; k < len; k++)
			byte[k] = rand();
		if (len > 28) {
			byte[18] = 1 + rand() % 4;
			byte[19] = rand() % 3;
			byte[28] = 0;
		}
		tulip_srom_media(byte, len, rand() % 4, rand() % 2, &m);
		CU_ASSERT_FATAL(!m.damaged || !m.listed);
		CU_ASSERT_FATAL(m.reset.n <= TULIP_SEQUENCE_MAX &&
				m.select.n <= TULIP_SEQUENCE_MAX &&
				m.board.n <= TULIP_SEQUENCE_MAX);
		tulip_srom_refused(&m, rand() % 2, false);
		free(byte);
	}
}

UNIT_MAIN("srom",
	  { "21143, MII: Cobalt Microserver", cobalt },
	  { "21143, MII: NetWinder", netwinder },
	  { "21140, own port: Cogent EM100", cogent },
	  { "21140, MII", mii_21140 },
	  { "21143, own transceiver", own_21143 },
	  { "21143, values for it", own_values },
	  { "without 10BASE-T", only_sym },
	  { "without a list", no_list },
	  { "several controllers", several },
	  { "cut off", cut_off },
	  { "survives noise", noise });
