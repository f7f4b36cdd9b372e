// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Immediate data: section 7, rule 5. */
#include "remote.h"

static void with(void)
{
	static const uint32_t values[] = { 0, 1, 0x12345678, 0xffffffff };
	struct xfer tx, rx;
	struct pair p;
	unsigned int i, len;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		for (len = 0; len <= 40; len += 20) {
			about("0x%x with %u bytes", values[i], len);
			tx = our_buf(0, len, len ? 1 : 0);
			rx = peer_buf(0, 40, 1);
			tx.control = VIP_CONTROL_IMMEDIATE;
			tx.immediate = values[i];
			rx.immediate = ~values[i];
			deliver(&p, &tx, &rx);
			tx = peer_buf(0, len, len ? 1 : 0);
			rx = our_buf(0, 40, 1);
			tx.control = VIP_CONTROL_IMMEDIATE;
			tx.immediate = values[i];
			rx.immediate = ~values[i];
			deliver_back(&p, &tx, &rx);
		}
	}
	pair_close(&p);
}

/* Without it the receiver's own value stays (deliver() checks that). */
static void without(void)
{
	struct xfer tx = our_buf(0, 20, 1), rx = peer_buf(0, 20, 1);
	struct ctl_msg m;
	struct pair p;
	struct done r;

	pair_open(&p, NULL);
	tx.immediate = 0xbad;
	rx.immediate = 0x600d;
	m = deliver(&p, &tx, &rx);
	CHECK_EQ(m.immediate, 0x600d);
	CHECK(!(m.status & VIP_STATUS_IMMEDIATE));
	tx = peer_buf(0, 20, 1);
	rx = our_buf(0, 20, 1);
	tx.immediate = 0xbad;
	rx.immediate = 0x600d;
	r = deliver_back(&p, &tx, &rx);
	CHECK_EQ(r.immediate, 0x600d);
	pair_close(&p);
}

/* C12: the bit in a receive descriptor means nothing. */
static void tolerated(void)
{
	struct xfer tx = our_buf(0, 20, 1), rx = peer_buf(0, 20, 1);
	struct pair p;

	pair_open(&p, NULL);
	rx.control = VIP_CONTROL_IMMEDIATE;
	rx.immediate = 0x600d;
	deliver(&p, &tx, &rx);
	tx.control = VIP_CONTROL_IMMEDIATE;
	tx.immediate = 77;
	deliver(&p, &tx, &rx);
	pair_close(&p);
}

static const struct group groups[] = {
	{ "immediate.with", "7.5", with, G_PEER | G_LEVELS | G_EARLY | G_SUNNY,
	  0 },
	{ "immediate.without", "7.5 ImmediateData untouched", without,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "immediate.tolerated", "C12", tolerated, G_PEER | G_LEVELS, 0 },
};

NOUN(immediate, groups);
