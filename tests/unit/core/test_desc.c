// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Descriptors: one line for each rule, and for pairs of breaches, of which one is
 * told.  load() asks as the agent and the engine do.
 */

#include "unit.h"
#include "core.h"
#include "desc.h"

#define MOST		4096u	/* MaxTransferSize */
#define PLACE		0x1000u	/* of a descriptor */

#define SEND		VIA_CTL_OP_SENDRECV
#define WRITE		VIA_CTL_OP_RDMAWRITE
#define READ		VIA_CTL_OP_RDMAREAD
#define NO_OP		3
#define IMM		VIA_CTL_IMMEDIATE
#define FENCE		VIA_CTL_QFENCE
#define GOOD		0
#define FORMAT		VIA_ST_FORMAT_ERROR
#define PROTECTION	VIA_ST_PROTECTION_ERROR
#define LENGTH		VIA_ST_LENGTH_ERROR
#define TRANSPORT	VIA_ST_TRANSPORT_ERROR

/* What the loader finds. */
#define FOREIGN		0x1	/* the VI may not use the descriptor's memory */
#define BAD_SEG		0x2	/* nor that of the last segment */
#define NO_MEMORY	0x4	/* for segments beyond the second */
#define NO_READ		0x8	/* the VI's level has no RDMA Read */
#define RECV		0x10	/* it is on the receive queue */
#define POST_DESC	0x20	/* the error callback is told */
#define AT(n)		((n) << 8)	/* bytes behind PLACE */

struct row {
	const char *what;
	u32 what_is, control, reserved, segs, len[4], length;
	u32 status;
};

static const struct row rows[] = {
	/* is, control, reserved, segments, their lengths, Length, status */
	{ "one segment", 0, SEND, 0, 1, { 5 }, 5, GOOD },
	{ "none", 0, SEND, 0, 0, { 0 }, 0, GOOD },
	{ "two, one empty", 0, SEND, 0, 2, { 0, 7 }, 7, GOOD },
	{ "more than a slot has", 0, SEND, 0, 4, { 1, 2, 3, 4 }, 10, GOOD },
	{ "all of Control", 0, SEND | IMM | FENCE, 0, 1, { 5 }, 5, GOOD },
	{ "a receive", RECV, SEND, 0, 3, { 1, 2, 3 }, 6, GOOD },
	{ "a receive with a fence", RECV, FENCE | IMM, 0, 1, { 5 }, 5, GOOD },
	/* Its place. */
	{ "misaligned", AT(32) | POST_DESC, SEND, 0, 1, { 5 }, 5, FORMAT },
	{ "misaligned by 1", AT(1) | POST_DESC, SEND, 0, 1, { 5 }, 5, FORMAT },
	{ "at another 64", AT(64), SEND, 0, 1, { 5 }, 5, GOOD },
	{ "misaligned and foreign", AT(8) | FOREIGN | POST_DESC, SEND, 0, 1,
	  { 5 }, 5, FORMAT },
	{ "a segment too many", 0, SEND, 0, VIA_SEG_MAX + 1, { 5 }, 5, FORMAT },
	{ "65535 segments", 0, SEND, 0, 65535, { 5 }, 5, FORMAT },
	{ "too many and foreign", FOREIGN, SEND, 0, VIA_SEG_MAX + 1, { 5 }, 5,
	  FORMAT },
	{ "foreign", FOREIGN | POST_DESC, SEND, 0, 1, { 5 }, 5, PROTECTION },
	{ "foreign, all else wrong", FOREIGN | POST_DESC, 0xfff3, 1, 1, { 5 },
	  6, PROTECTION },
	/* Control and what is reserved. */
	{ "Reserved is set", 0, SEND, 1, 1, { 5 }, 5, FORMAT },
	{ "its top bit", 0, SEND, 0x80000000, 1, { 5 }, 5, FORMAT },
	{ "a reserved bit", 0, SEND | 0x10, 0, 1, { 5 }, 5, FORMAT },
	{ "the last one", 0, SEND | 0x8000, 0, 1, { 5 }, 5, FORMAT },
	{ "one, no memory", NO_MEMORY, SEND | 0x10, 0, 3, { 5 }, 5, FORMAT },
	{ "one, and a bad length", 0, SEND | 0x10, 0, 1, { 5 }, 6, FORMAT },
	{ "no operation", 0, NO_OP, 0, 2, { 0, 5 }, 5, FORMAT },
	/* RDMA. */
	{ "a write", 0, WRITE, 0, 2, { 0, 5 }, 5, GOOD },
	{ "a write of nothing", 0, WRITE, 0, 1, { 0 }, 0, GOOD },
	{ "with immediate data", 0, WRITE | IMM, 0, 2, { 0, 5 }, 5, GOOD },
	{ "of more segments", 0, WRITE | FENCE, 0, 4, { 0, 1, 2, 3 }, 6, GOOD },
	{ "without an address", 0, WRITE, 0, 0, { 0 }, 0, FORMAT },
	{ "an address of a length", 0, WRITE, 0, 2, { 5, 5 }, 5, FORMAT },
	{ "on the receive queue", RECV, WRITE, 0, 2, { 0, 5 }, 5, FORMAT },
	{ "where no reads are", NO_READ, WRITE, 0, 2, { 0, 5 }, 5, GOOD },
	{ "from a bad segment", BAD_SEG, WRITE, 0, 2, { 0, 5 }, 5, GOOD },
	{ "a read", 0, READ, 0, 2, { 0, 5 }, 5, GOOD },
	{ "a read of more", 0, READ | FENCE, 0, 4, { 0, 1, 2, 3 }, 6, GOOD },
	{ "with immediate data", 0, READ | IMM, 0, 2, { 0, 5 }, 5, FORMAT },
	{ "at a level without", NO_READ, READ, 0, 2, { 0, 5 }, 5, FORMAT },
	{ "on the receive queue", RECV, READ, 0, 2, { 0, 5 }, 5, FORMAT },
	{ "without an address", 0, READ, 0, 0, { 0 }, 0, FORMAT },
	{ "into a bad segment", BAD_SEG, READ, 0, 2, { 0, 5 }, 5, PROTECTION },
	{ "and a bad length", BAD_SEG, READ, 0, 2, { 0, 5 }, 6, PROTECTION },
	/* Segments beyond the second, and lengths. */
	{ "no memory for them", NO_MEMORY, SEND, 0, 3, { 1, 2, 3 }, 6,
	  TRANSPORT },
	{ "no need of it", NO_MEMORY, SEND, 0, 2, { 1, 2 }, 3, GOOD },
	{ "and a bad length", NO_MEMORY, SEND, 0, 3, { 1, 2, 3 }, 7,
	  TRANSPORT },
	{ "Length of no segment", 0, SEND, 0, 0, { 0 }, 1, LENGTH },
	{ "one too few", 0, SEND, 0, 1, { 5 }, 4, LENGTH },
	{ "one too many", 0, SEND, 0, 4, { 1, 2, 3, 4 }, 11, LENGTH },
	{ "the address counts", 0, WRITE, 0, 3, { 0, 5, 5 }, 5, LENGTH },
	{ "a sum that wraps", 0, SEND, 0, 3, { 0x80000000, 0x80000000, 5 }, 5,
	  LENGTH },
	{ "the longest", 0, SEND, 0, 2, { MOST, 0 }, MOST, GOOD },
	{ "a byte above", 0, SEND, 0, 2, { MOST, 1 }, MOST + 1, LENGTH },
	{ "a write above", 0, WRITE, 0, 2, { 0, MOST + 1 }, MOST + 1, LENGTH },
	{ "a receive above", RECV, SEND, 0, 2, { MOST, 1 }, MOST + 1, GOOD },
};

static const struct via_vi_attrs attrs = { .max_transfer = MOST };
static struct via_seg more[VIA_SEG_MAX];

static enum via_status load_odd(struct via_desc *d, const struct row *r)
{
	enum via_status st = via_desc_reserved(d);
	u32 i;

	if (!st && via_desc_is_rdma(d))
		st = via_desc_rdma(d, r->what_is & RECV,
				   !(r->what_is & NO_READ));
	if (!st && d->seg_count > VIA_DESC_INLINE) {
		if (r->what_is & NO_MEMORY)
			return VIA_ST_TRANSPORT_ERROR;
		for (i = 0; i < d->seg_count; i++)
			more[i] = (struct via_seg) {
				.addr = i + 1, .handle = i + 1,
				.len = i < 4 ? r->len[i] : 0,
			};
		d->more = more;
	}
	return !st && via_desc_address(d) && r->what_is & BAD_SEG ?
	       VIA_ST_PROTECTION_ERROR : st;
}

static enum via_status load(struct via_desc *d, const struct row *r)
{
	enum via_status st = via_desc_begin(d);

	CU_ASSERT_EQUAL(st, via_desc_place(d));
	if (!st && r->what_is & FOREIGN)
		st = via_desc_foreign(d);
	else if (!st && !via_desc_is_plain(d))
		st = load_odd(d, r);
	return st ?: via_desc_length(d, r->what_is & RECV, &attrs);
}

void descriptors(void)
{
	const struct row *r;
	struct via_desc d;
	u32 i, rdma;

	for (r = rows; r < rows + sizeof(rows) / sizeof(rows[0]); r++) {
		/* What an earlier use of the place has left. */
		d = (struct via_desc) {
			.addr = PLACE + (r->what_is >> 8),
			.seg_count = (u16)r->segs, .control = (u16)r->control,
			.reserved = r->reserved, .length = r->length,
			.nsegs = 77, .bad_post = true,
		};
		for (i = 0; i < VIA_DESC_INLINE; i++)
			d.seg[i] = (struct via_seg) { i + 1, i + 1, r->len[i] };
		d.status = load(&d, r);
		rdma = via_desc_is_rdma(&d);
		if (d.status != r->status ||
		    d.bad_post != !!(r->what_is & POST_DESC)) {
			printf("\n%s: status 0x%x, POST_DESC %d\n", r->what,
			       d.status, d.bad_post);
			CU_FAIL("not as the line says");
		}
		if (d.status)
			continue;
		CU_ASSERT_EQUAL(d.nsegs, r->segs - rdma);
		CU_ASSERT_EQUAL(d.raddr, rdma);
		CU_ASSERT_EQUAL(d.rhandle, rdma);
		for (i = 0; i < d.nsegs; i++)
			CU_ASSERT_EQUAL(via_desc_segs(&d)[i].addr,
					i + 1 + rdma);
	}
	CU_ASSERT_EQUAL(via_desc_bytes(0), 32);
	CU_ASSERT_EQUAL(via_desc_bytes(VIA_SEG_MAX), 4064);
}

/* Each Control on either queue: what it does, and whether it may. */
void every_control(void)
{
	struct via_desc d = { .seg_count = 2, .seg = { { 1, 1, 0 } } };
	u32 control, op;
	bool recv, ok;

	for (control = 0; control < 0x20000; control++) {
		recv = control >> 16;
		d.control = (u16)control;
		op = d.control & VIA_CTL_OP_MASK;
		ok = !(d.control & 0xfff0) &&
		     (!op || (!recv && op != NO_OP &&
			      !(op == READ && d.control & IMM)));
		CU_ASSERT_EQUAL(!via_desc_reserved(&d) &&
				(!via_desc_is_rdma(&d) ||
				 !via_desc_rdma(&d, recv, true)), ok);
		CU_ASSERT_EQUAL(via_desc_op(d.control, recv),
				recv ? VIA_ST_OP_RECEIVE :
				op == WRITE ? VIA_ST_OP_RDMA_WRITE :
				op == READ ? VIA_ST_OP_RDMA_READ :
				VIA_ST_OP_SEND);
	}
}

/* What is plain has nothing that the rules behind it would find. */
void plain_is_plain(void)
{
	struct via_desc d = { .seg_count = 2 };
	u32 control;

	for (control = 0; control < 0x10000; control++) {
		d.control = (u16)control;
		CU_ASSERT_EQUAL(via_desc_is_plain(&d),
				!via_desc_reserved(&d) &&
				!via_desc_is_rdma(&d));
	}
	d.control = 0;
	d.reserved = 1;
	CU_ASSERT_FALSE(via_desc_is_plain(&d));
	d.reserved = 0;
	d.seg_count = 3;
	CU_ASSERT_FALSE(via_desc_is_plain(&d));
}
