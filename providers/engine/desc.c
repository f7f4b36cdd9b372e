// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Descriptors: checks, and copies between their segments and packets. A slot
 * is the engine's own copy, so each word is read from the program once.
 * Segments are checked against the table of regions whenever bytes move,
 * because the program may deregister in between.
 */
#include "eng.h"

/* VIP_STATUS_OP_* of a slot. */
uint32_t eng_slot_op(const struct eng_slot *s, int recv)
{
	if (recv)
		return VIP_STATUS_OP_RECEIVE;
	switch (s->control & VIP_CONTROL_OP_MASK) {
	case VIP_CONTROL_OP_RDMAWRITE:
		return VIP_STATUS_OP_RDMA_WRITE;
	case VIP_CONTROL_OP_RDMAREAD:
		return VIP_STATUS_OP_RDMA_READ;
	default:
		return VIP_STATUS_OP_SEND;
	}
}

static uint32_t check_segs(struct eng_nic *nic, struct eng_vi *v,
			   struct eng_slot *s)
{
	struct eng_seg *seg = eng_segs(s);
	uint32_t i;

	for (i = 0; i < s->nsegs; i++)
		if (seg[i].len && !eng_local(nic, v, seg[i].handle,
					     seg[i].addr, seg[i].len))
			return VIP_STATUS_PROTECTION_ERROR;
	return 0;
}

/*
 * Sum of the segments against the length, and of what is sent against the
 * limit. A receive may be longer: MaxTransferSize binds messages.
 */
static uint32_t check_length(const struct eng_vi *v, struct eng_slot *s,
			     int recv)
{
	struct eng_seg *seg = eng_segs(s);
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < s->nsegs; i++)
		sum += seg[i].len;
	if (sum != s->len || (!recv && sum > v->transfer))
		return VIP_STATUS_LENGTH_ERROR;
	return 0;
}

/* RDMA that this VI may ask for: Read at the levels that have it. */
static int rdma_ok(const struct eng_nic *nic, const struct eng_vi *v,
		   const struct eng_slot *s)
{
	switch (s->control & VIP_CONTROL_OP_MASK) {
	case VIP_CONTROL_OP_RDMAWRITE:
		return 1;
	case VIP_CONTROL_OP_RDMAREAD:
		return !(s->control & VIP_CONTROL_IMMEDIATE) &&
		       nic->ident.rdma_read & v->reliability;
	default:
		return 0;
	}
}

/* Anything but a plain send or receive of few segments. */
static __attribute__((noinline)) uint32_t
load_slow(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s, int recv)
{
	uint32_t op = s->control & VIP_CONTROL_OP_MASK;
	struct eng_seg *seg;

	if (s->control & VIP_CONTROL_RESERVED || s->reserved)
		return VIP_STATUS_FORMAT_ERROR;
	if (op != VIP_CONTROL_OP_SENDRECV &&
	    (recv || !rdma_ok(nic, v, s) || !s->segs || s->seg[0].len))
		return VIP_STATUS_FORMAT_ERROR;
	/* The segments were to be copied at the post. */
	if (s->segs > 2 && !s->more)
		return VIP_STATUS_TRANSPORT_ERROR;
	if (op == VIP_CONTROL_OP_SENDRECV)
		return 0;
	/* The address segment leads; what is left is local. */
	seg = eng_segs(s);
	s->raddr = seg[0].addr;
	s->rhandle = seg[0].handle;
	s->nsegs--;
	memmove(seg, seg + 1, s->nsegs * sizeof(*seg));
	/* Nothing of a read is gathered before its answer comes. */
	return op == VIP_CONTROL_OP_RDMAREAD ? check_segs(nic, v, s) : 0;
}

/* Check a posted descriptor; s->status gets what is wrong with it. */
void eng_load(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
	      int recv)
{
	uint32_t st = 0;

	s->nsegs = 0;
	if (unlikely(s->desc % VIP_DESCRIPTOR_ALIGNMENT)) {
		s->bad_post = 1;
		st = VIP_STATUS_FORMAT_ERROR;
	} else if (unlikely(s->segs > ENG_SEGS)) {
		st = VIP_STATUS_FORMAT_ERROR;
	} else if (unlikely(!eng_local(nic, v, s->mem, s->desc,
				       32 + 16 * (uint64_t)s->segs))) {
		s->bad_post = 1;
		st = VIP_STATUS_PROTECTION_ERROR;
	} else {
		s->nsegs = s->segs;
		if (unlikely(s->control & ~ENG_CTL_PLAIN || s->reserved ||
			     s->segs > 2))
			st = load_slow(nic, v, s, recv);
		if (likely(!st))
			st = check_length(v, s, recv);
	}
	s->status = st;
	s->state = SLOT_LOADED;
	if (unlikely(s->bad_post))
		eng_event(v, VIP_ERROR_POST_DESC,
			  ENG_OP(eng_slot_op(s, recv)), s->desc, 0);
}

/*
 * Copy a message into a receive, or an answer into a read: 0 or a status. The
 * program has posted this memory and vouches for it, as it does for what it
 * sends: a plain copy.
 */
int eng_scatter(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
		const void *data, uint32_t len)
{
	struct eng_seg *seg = eng_segs(s);
	const char *from = data;
	uint32_t i, n;

	for (i = 0; len && i < s->nsegs; i++) {
		n = seg[i].len < len ? seg[i].len : len;
		if (!n)
			continue;
		if (unlikely(!eng_local(nic, v, seg[i].handle, seg[i].addr, n)))
			return VIP_STATUS_PROTECTION_ERROR;
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
	struct eng_seg *seg = eng_segs(s);
	uint32_t i;
	int n = 0;

	for (i = 0; i < s->nsegs; i++) {
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
