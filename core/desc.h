/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A posted descriptor and the rules of its form.
 *
 * Who loads one asks in this order, and stops at the first error.  Two answers are
 * the loader's own, as each has its own table of regions.
 *
 *  what is wrong                               status            asked by
 *  its address is no multiple of 64            FORMAT_ERROR (1)  via_desc_begin()
 *  it has more than 252 segments               FORMAT_ERROR      the same
 *  the VI may not use its memory               PROTECTION_ERROR  the loader, then
 *                                              (1)               via_desc_foreign()
 *  reserved bits of Control, or Reserved       FORMAT_ERROR      via_desc_reserved()
 *  RDMA on a receive queue, without an         FORMAT_ERROR      via_desc_rdma()
 *  address segment, or with one that has a
 *  length; RDMA Read with immediate data, or
 *  at a level without it; an operation that
 *  is none
 *  no memory for segments beyond the second    TRANSPORT_ERROR   the loader
 *  a segment of an RDMA Read that the VI may   PROTECTION_ERROR  the loader, after
 *  not use                                                       via_desc_address()
 *  Length is not the sum of the segments; a    LENGTH_ERROR      via_desc_length()
 *  send is longer than MaxTransferSize
 *
 *  (1) And the error callback tells POST_DESC: bad_post.
 *
 * Segments of other operations are checked when bytes move.  All of it is inline:
 * it is on the path of each message.
 */
#ifndef _VIA_DESC_H
#define _VIA_DESC_H

#include "../include/uapi/via.h"
#include "portable.h"

/**
 * enum via_status - how a descriptor, or a part of it, has ended
 * @VIA_STATUS_GOOD: no error
 *
 * Else bits, VIA_ST_* of uapi/via.h.  Never an errno, never VIA_R_*.
 */
enum via_status {
	VIA_STATUS_GOOD = 0
};

#define VIA_DESC_INLINE		2	/* segments kept in struct via_desc */

/* What may stand in Control of a plain send or receive. */
#define VIA_CTL_PLAIN ((u16)(VIA_CTL_IMMEDIATE | VIA_CTL_QFENCE))

/*
 * A posted descriptor, copied once out of memory that its program can write, and
 * checked.  It begins with the slot's 64 bytes, so that the copy is one plain
 * move.  The address segment of an RDMA operation is taken apart into raddr and
 * rhandle; seg[] has local segments only.
 */
struct via_desc {
	u64 addr;		/* of the descriptor, in the program */
	u32 handle;		/* of the descriptor's own memory */
	u16 seg_count;		/* as posted, address segment included */
	u16 control;		/* VIA_CTL_* */
	u32 reserved;
	u32 immediate;
	u32 length;		/* bytes in all local segments */
	enum via_status status;	/* errors found at load */
	struct via_seg seg[VIA_DESC_INLINE];
	/* to here as in struct via_slot */
	struct via_seg *more;	/* all segments when nsegs > VIA_DESC_INLINE */
	u64 raddr;		/* RDMA: remote address */
	u32 rhandle;		/* RDMA: remote memory handle */
	u32 cur_off;		/* bytes before segment cur_seg: walk hint */
	u32 cur_seg;
	u16 nsegs;		/* local segments */
	bool bad_post;		/* the descriptor itself is bad: POST_DESC */
};

static_assert(offsetof(struct via_desc, status) ==
	      offsetof(struct via_slot, status), "a slot");
static_assert(offsetof(struct via_desc, more) == sizeof(struct via_slot),
	      "no more than a slot");

static inline struct via_seg *via_desc_segs(struct via_desc *d)
{
	return unlikely(d->more) ? d->more : d->seg;
}

/* Bytes of a descriptor with so many segments. */
static inline u64 via_desc_bytes(u64 segs)
{
	return 32 + 16 * segs;
}

/* VIA_ST_OP_*: what the status of a descriptor says that it was to do. */
static inline u32 via_desc_op(u16 control, bool recv)
{
	if (recv)
		return VIA_ST_OP_RECEIVE;
	switch (control & VIA_CTL_OP_MASK) {
	case VIA_CTL_OP_RDMAWRITE:
		return VIA_ST_OP_RDMA_WRITE;
	case VIA_CTL_OP_RDMAREAD:
		return VIA_ST_OP_RDMA_READ;
	default:
		return VIA_ST_OP_SEND;
	}
}

/* Where it is, and how long. */
static inline enum via_status via_desc_place(const struct via_desc *d)
{
	return unlikely(d->addr % VIA_DESC_ALIGN ||
			d->seg_count > VIA_SEG_MAX) ? VIA_ST_FORMAT_ERROR : 0;
}

/* The same for one that is loaded: sets nsegs and bad_post. */
static inline enum via_status via_desc_begin(struct via_desc *d)
{
	enum via_status st = via_desc_place(d);

	d->bad_post = st && d->addr % VIA_DESC_ALIGN;
	d->nsegs = st ? 0 : d->seg_count;
	return st;
}

/* Its VI may not use the memory that it is in. */
static inline enum via_status via_desc_foreign(struct via_desc *d)
{
	d->bad_post = true;
	d->nsegs = 0;
	return VIA_ST_PROTECTION_ERROR;
}

/* A plain send or receive of few segments: the next three find nothing. */
static inline bool via_desc_is_plain(const struct via_desc *d)
{
	return likely(!(d->control & ~VIA_CTL_PLAIN || d->reserved ||
			d->seg_count > VIA_DESC_INLINE));
}

/* Words that must be zero. */
static inline enum via_status via_desc_reserved(const struct via_desc *d)
{
	return d->control & VIA_CTL_RESERVED || d->reserved ?
	       VIA_ST_FORMAT_ERROR : 0;
}

/* Is it RDMA, or another operation than send and receive? */
static inline bool via_desc_is_rdma(const struct via_desc *d)
{
	return d->control & VIA_CTL_OP_MASK;
}

/* RDMA, or none; may_read: the VI's level has RDMA Read. */
static inline enum via_status via_desc_rdma(const struct via_desc *d,
					    bool recv, bool may_read)
{
	if (recv || !d->seg_count || d->seg[0].len)
		return VIA_ST_FORMAT_ERROR;
	switch (d->control & VIA_CTL_OP_MASK) {
	case VIA_CTL_OP_RDMAWRITE:
		return 0;
	case VIA_CTL_OP_RDMAREAD:
		return d->control & VIA_CTL_IMMEDIATE || !may_read ?
		       VIA_ST_FORMAT_ERROR : 0;
	default:
		return VIA_ST_FORMAT_ERROR;
	}
}

/*
 * All segments are there: of RDMA the address segment leads, and what is left is
 * local.  True: an RDMA Read, whose segments are to be checked now, since nothing
 * of it is gathered before its answer comes.
 */
static inline bool via_desc_address(struct via_desc *d)
{
	struct via_seg *segs;

	if (!via_desc_is_rdma(d))
		return false;
	segs = via_desc_segs(d);
	d->raddr = segs[0].addr;
	d->rhandle = segs[0].handle;
	d->nsegs--;
	memmove(segs, segs + 1, d->nsegs * sizeof(*segs));
	return (d->control & VIA_CTL_OP_MASK) == VIA_CTL_OP_RDMAREAD;
}

/*
 * Sum of the segments against the length, and of what is sent against the
 * limit.  A receive may be longer: MaxTransferSize binds messages, and no
 * message is longer than the limit of the VI that sends it, which is ours too.
 * No sum of 32-bit lengths wraps in 64 bits, and what agrees with the length
 * fits in 32: every offset into a descriptor that passes does.
 */
static inline enum via_status via_desc_length(struct via_desc *d, bool recv,
					      const struct via_vi_attrs *a)
{
	const struct via_seg *seg = via_desc_segs(d), *end;
	u64 sum = 0;

	if (likely(d->nsegs == 1))
		sum = seg->len;
	else
		for (end = seg + d->nsegs; seg != end; seg++)
			sum += seg->len;
	if (sum != d->length || (!recv && sum > a->max_transfer))
		return VIA_ST_LENGTH_ERROR;
	return 0;
}

#endif /* _VIA_DESC_H */
