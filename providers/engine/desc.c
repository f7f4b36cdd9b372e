// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Descriptors: checks, and copies between their segments and packets. A slot
 * is the engine's own copy, so each word is read from the program once.
 * Segments are checked against the table of regions whenever bytes move,
 * because the program may deregister in between.
 */
#include "eng.h"

static enum via_status check_segs(struct eng_nic *nic, struct eng_vi *v,
				  struct eng_slot *s)
{
	struct via_seg *seg = via_desc_segs(&s->d);
	uint32_t i;

	for (i = 0; i < s->d.nsegs; i++)
		if (seg[i].len && !eng_local(nic, v, seg[i].handle,
					     seg[i].addr, seg[i].len))
			return VIA_ST_PROTECTION_ERROR;
	return 0;
}

/* Anything but a plain send or receive of few segments. */
static __attribute__((noinline)) enum via_status
load_slow(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s, int recv)
{
	enum via_status st = via_desc_reserved(&s->d);

	if (!st && via_desc_is_rdma(&s->d))
		st = via_desc_rdma(&s->d, recv,
				   nic->ident.rdma_read & v->attrs.reliability);
	/* The segments were to be copied at the post. */
	if (!st && s->d.seg_count > VIA_DESC_INLINE && !s->d.more)
		st = VIA_ST_TRANSPORT_ERROR;
	return !st && via_desc_address(&s->d) ? check_segs(nic, v, s) : st;
}

/* Check a posted descriptor; s->d.status gets what is wrong with it. */
void eng_load(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
	      int recv)
{
	enum via_status st = via_desc_begin(&s->d);

	if (likely(!st)) {
		if (unlikely(!eng_local(nic, v, s->d.handle, s->d.addr,
					via_desc_bytes(s->d.seg_count))))
			st = via_desc_foreign(&s->d);
		else if (unlikely(!via_desc_is_plain(&s->d)))
			st = load_slow(nic, v, s, recv);
		if (likely(!st))
			st = via_desc_length(&s->d, recv, &v->attrs);
	}
	s->d.status = st;
	s->state = SLOT_LOADED;
	if (unlikely(s->d.bad_post))
		eng_event(v, VIP_ERROR_POST_DESC,
			  ENG_OP(via_desc_op(s->d.control, recv)), s->d.addr,
			  0);
}

/*
 * Copy a message into a receive, or an answer into a read: 0 or a status. The
 * program has posted this memory and vouches for it, as it does for what it
 * sends: a plain copy.
 */
int eng_scatter(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
		const void *data, uint32_t len)
{
	struct via_seg *seg = via_desc_segs(&s->d);
	const char *from = data;
	uint32_t i, n;

	for (i = 0; len && i < s->d.nsegs; i++) {
		n = seg[i].len < len ? seg[i].len : len;
		if (!n)
			continue;
		if (unlikely(!eng_local(nic, v, seg[i].handle, seg[i].addr, n)))
			return VIA_ST_PROTECTION_ERROR;
		memcpy((void *)(uintptr_t)seg[i].addr, from, n);
		from += n;
		len -= n;
	}
	return len ? VIP_STATUS_LENGTH_ERROR : 0;
}

/* The pieces to be sent: the number of entries, or -1: protection error. */
int eng_gather(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
	       struct iovec *iov)
{
	struct via_seg *seg = via_desc_segs(&s->d);
	uint32_t i;
	int n = 0;

	for (i = 0; i < s->d.nsegs; i++) {
		if (!seg[i].len)
			continue;
		if (unlikely(!eng_local(nic, v, seg[i].handle, seg[i].addr,
					seg[i].len)))
			return -1;
		iov[n].iov_base = (void *)(uintptr_t)seg[i].addr;
		iov[n].iov_len = seg[i].len;
		n++;
	}
	return n;
}
