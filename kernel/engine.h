/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The software VI engine: what the device interface does not already say.  What
 * functions return: see via_ka.h.
 */
#ifndef _VIA_ENGINE_H
#define _VIA_ENGINE_H

#include "memory.h"
#include "via_ka.h"

/*
 * The region, if this VI may use it for addr..addr+len.  A queue lock of the
 * VI is held, and the region is not used after it.
 */
static inline struct via_region *via_local_region(struct via_vi *vi,
						  u32 handle, u64 addr,
						  u64 len)
{
	struct via_region *r = via_region_find(vi->file, handle);

	/* A VI with the default tag may use any region of its handle. */
	if (likely(r && (!vi->attrs.ptag || vi->attrs.ptag == r->ptag) &&
		   via_region_covers(r, addr, len)))
		return r;
	return NULL;
}

/*
 * A program may watch memory for the end of what an RDMA Write brings, so the
 * end is stored last, and by one store where it has 8 bytes.  memcpy() promises
 * no order: that of Linux 6.12 begins at the end where a CPU has no FSRM and the
 * addresses suit.
 */
static __always_inline void via_copy_in(void *to, const void *from, u32 len)
{
	u64 end;
	u32 i;

	if (len >= sizeof(end)) {
		len -= sizeof(end);
		memcpy(&end, from + len, sizeof(end));
		memcpy(to, from, len);
		smp_wmb();	/* the program's acquire, behind its look */
		memcpy(to + len, &end, sizeof(end));
	} else if (len == sizeof(u32)) {
		memcpy(to, from, sizeof(u32));
	} else {
		for (i = 0; i < len; i++)
			WRITE_ONCE(((u8 *)to)[i], ((const u8 *)from)[i]);
	}
}

/* Copy between a region that was checked and a buffer; len is not 0. */
static __always_inline void via_region_copy(struct via_region *r, u64 addr,
					    void *buf, u32 len, bool to_region)
{
	u32 n;
	void *p;

	for (;;) {
		n = len;
		p = via_region_addr(r, addr, &n);
		if (to_region)
			via_copy_in(p, buf, n);
		else
			memcpy(buf, p, n);
		len -= n;
		if (likely(!len))
			return;
		addr += n;
		buf += n;
	}
}

/* As via_desc_seg(), for any number of segments. */
struct via_seg *via_desc_walk(struct via_desc *d, u32 off, u32 *seg_off);

/*
 * The segment that holds byte off, and the offset in it; NULL past the end.
 * The queue's lock is held: it moves the descriptor's walk hint.
 */
static inline struct via_seg *via_desc_seg(struct via_desc *d, u32 off,
					   u32 *seg_off)
{
	if (unlikely(d->nsegs != 1))
		return via_desc_walk(d, off, seg_off);
	*seg_off = off;
	return likely(off < d->seg[0].len) ? &d->seg[0] : NULL;
}

/*
 * VIA_OP_RECV: complete bad receives at the head early; rq.lock held.  True: it is
 * enough for now, and the next one is to be looked at.
 */
bool via_recv_scan(struct via_vi *vi, struct via_work *work);
/*
 * The local segments of a loaded send, for one that will not be gathered:
 * its own error comes before the receiver's.  sq.lock held.
 */
enum via_status via_send_check(struct via_vi *vi, struct via_desc *d);

#endif
