// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Messages as they arrive. All checks are made here, at the target.
 *
 * A message that comes whole, with none before it under way, is placed and
 * completed at once. Otherwise it gets the next place of v->in: its bytes are
 * placed (or pulled) then, and it completes in its turn.
 */
#include <errno.h>
#include <stdlib.h>

#include "eng.h"

/* A message is dealt with; the peer waits for the word if it is to. */
static inline void message_dealt(struct eng_nic *nic, struct eng_vi *v,
				 int flags)
{
	v->rx_done++;
	if (unlikely(v->acks || flags & WIRE_SRCS))
		eng_todo(nic, v, TODO_ACK);
}

/* The message could not be taken: a reliable connection ends. */
static __attribute__((noinline)) void not_taken(struct eng_nic *nic,
						struct eng_vi *v, int flags,
						uint32_t st)
{
	if (eng_reliable(v))
		eng_refuse(nic, v, v->rx_done, st);
	else
		message_dealt(nic, v, flags);
}

/* No receive is posted for it. */
static __attribute__((noinline)) void no_receive(struct eng_nic *nic,
						 struct eng_vi *v, int flags)
{
	/* A reliable one breaks, which says enough. */
	if (!eng_reliable(v))
		eng_event(v, VIP_ERROR_RECVQ_EMPTY,
			  ENG_OP(VIP_STATUS_OP_RECEIVE), 0, 0);
	not_taken(nic, v, flags, VIP_STATUS_REMOTE_DESC_ERROR);
}

/* A SEND or WRITE is over; it has a receive at the head, or none. */
static inline void message_over(struct eng_nic *nic, struct eng_vi *v, int op,
				int flags, int slot, uint32_t st, uint32_t len,
				uint32_t imm)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	uint32_t rst;

	if (likely(slot)) {
		rst = op == WIRE_SEND ? VIP_STATUS_OP_RECEIVE :
					VIP_STATUS_OP_REMOTE_RDMA_WRITE;
		if (unlikely(flags & WIRE_IMM && !st))
			rst |= VIP_STATUS_IMMEDIATE;
		eng_complete(nic, v, q, rst | st, st ? 0 : len, imm);
		if (unlikely(q->scan))
			eng_recv_scan(nic, v);
	} else if (unlikely(st)) {
		eng_event(v, VIP_ERROR_RDMAW_PROT,
			  ENG_OP(VIP_STATUS_OP_REMOTE_RDMA_WRITE), 0, 0);
	}
	if (likely(!st))
		message_dealt(nic, v, flags);
	else
		not_taken(nic, v, flags, op == WIRE_SEND ?
			  VIP_STATUS_REMOTE_DESC_ERROR :
			  VIP_STATUS_RDMA_PROT_ERROR);
}

/* Check a message against the receive: 0 or a status. */
static inline uint32_t check_receive(struct eng_nic *nic, struct eng_vi *v,
				     struct eng_slot *s, uint32_t len)
{
	if (s->state == SLOT_POSTED)
		eng_load(nic, v, s, 1);
	if (unlikely(s->d.status))
		return s->d.status;
	return unlikely(len > s->d.length) ? VIP_STATUS_LENGTH_ERROR : 0;
}

/* RDMA Write of what has come; the region may not be mapped any more. */
static uint32_t write_in(struct eng_nic *nic, struct eng_vi *v, uint32_t handle,
			 uint64_t addr, const void *data, uint32_t len)
{
	if (!eng_remote(nic, v, VIA_RDMA_WRITE, handle, addr, len) ||
	    (len && eng_copy_in(addr, data, len)))
		return VIP_STATUS_RDMA_PROT_ERROR;
	return 0;
}

/* Whole, and its turn: done with at once. */
static inline void take_whole(struct eng_nic *nic, struct eng_vi *v,
			      const struct eng_wire *h, const void *data)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	struct eng_slot *s = eng_queue_slot(q, q->next);
	int slot = h->op == WIRE_SEND || h->flags & WIRE_IMM;
	struct via_seg *seg;
	uint32_t st;

	if (unlikely(slot && q->next == eng_get(&q->tail))) {
		no_receive(nic, v, h->flags);
		return;
	}
	if (unlikely(h->op == WIRE_WRITE)) {
		st = write_in(nic, v, h->rhandle, h->raddr, data, h->len);
	} else {
		st = check_receive(nic, v, s, h->len);
		seg = &s->d.seg[0];
		if (unlikely(st))
			;
		else if (likely(s->d.nsegs == 1 && !s->d.more && h->len &&
				eng_local(nic, v, seg->handle, seg->addr,
					  h->len)))
			memcpy((void *)(uintptr_t)seg->addr, data, h->len);
		else
			st = (uint32_t)eng_scatter(nic, v, s, data, h->len);
	}
	message_over(nic, v, h->op, h->flags, slot, st, h->len, h->imm);
}

/* Begin the pull of an announced message; 0, or a status. */
static uint32_t begin_pull(struct eng_nic *nic, struct eng_vi *v,
			   struct eng_in *e, const struct eng_wire *h,
			   const void *data, size_t len)
{
	struct eng_slot *s = eng_queue_slot(&v->q[VIPL_RECVQ], e->index);
	struct eng_region *r = NULL;
	struct eng_rndv *x;
	uint32_t st;

	if (h->op == WIRE_WRITE) {
		r = eng_remote(nic, v, VIA_RDMA_WRITE, h->rhandle, h->raddr,
			       h->len);
		if (!r)
			return VIP_STATUS_RDMA_PROT_ERROR;
	} else {
		st = check_receive(nic, v, s, h->len);
		if (st)
			return st;
	}
	x = eng_rndv_new(nic, v, h, data, len, r ? 2 : s->d.nsegs);
	if (!x)
		return VIP_STATUS_TRANSPORT_ERROR;
	if (r) {
		eng_rndv_write(x, r, h->raddr, h->len);
	} else if (eng_rndv_dst(nic, v, x, s, h->len)) {
		eng_rndv_free(x);
		return VIP_STATUS_PROTECTION_ERROR;
	}
	x->seq = h->seq;
	e->x = x;
	e->state = IN_PULL;
	vipl_list_add_tail(&x->link, &v->rndvs);
	return 0;
}

/* A message that comes whole, behind a pull. 0 or a status. */
static uint32_t place_message(struct eng_nic *nic, struct eng_vi *v,
			      struct eng_in *e, const struct eng_wire *h,
			      const void *data)
{
	struct eng_slot *s = eng_queue_slot(&v->q[VIPL_RECVQ], e->index);
	uint32_t st;

	if (h->op == WIRE_WRITE) {
		/* The one before may be for the same place. */
		e->data = h->len ? malloc(h->len) : NULL;
		if (h->len && !e->data)
			return VIP_STATUS_TRANSPORT_ERROR;
		if (h->len)
			memcpy(e->data, data, h->len);
		return 0;
	}
	st = check_receive(nic, v, s, h->len);
	return st ? st : (uint32_t)eng_scatter(nic, v, s, data, h->len);
}

/*
 * May the pull of a message begin? Not behind a refusal, and an RDMA Write not
 * while one before it, whose last byte at least is to come, may be for the same
 * place.
 */
int eng_in_may_pull(const struct eng_vi *v, const struct eng_rndv *x)
{
	uint32_t to = v->in_head + (x->seq - v->rx_done), i;
	const struct eng_in *e, *mine = &v->in[to % ENG_INFLIGHT];

	for (i = v->in_head; i != to; i++) {
		e = &v->in[i % ENG_INFLIGHT];
		if (e->status && eng_reliable(v))
			return 0;
		if (mine->op == WIRE_WRITE && e->op == WIRE_WRITE &&
		    mine->raddr < e->raddr + e->len &&
		    e->raddr < mine->raddr + mine->len)
			return 0;
	}
	return 1;
}

/* A message that is to be pulled, or comes after such a one; or a READ. */
static __attribute__((noinline)) void queue_message(struct eng_nic *nic,
						    struct eng_vi *v,
						    const struct eng_wire *h,
						    const void *data,
						    size_t len)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	struct eng_in *e;

	if (!v->in)
		v->in = calloc(ENG_INFLIGHT, sizeof(*v->in));
	/* The peer keeps so many under way: more is a breach. */
	if (!v->in || v->in_tail - v->in_head >= ENG_INFLIGHT) {
		eng_break(nic, v);
		return;
	}
	e = &v->in[v->in_tail++ % ENG_INFLIGHT];
	v->quick = NULL;
	*e = (struct eng_in){
		.state = IN_READY,
		.op = h->op,
		.flags = h->flags,
		.len = h->len,
		.imm = h->imm,
		.raddr = h->raddr,
		.rhandle = h->rhandle,
	};
	eng_todo(nic, v, TODO_IN);
	if (h->op == WIRE_READ) {
		e->state = IN_READ;
		return;
	}
	if (h->op == WIRE_SEND || h->flags & WIRE_IMM) {
		if (q->next == eng_get(&q->tail)) {
			e->status = VIP_STATUS_REMOTE_DESC_ERROR;
			return;
		}
		e->slot = 1;
		e->index = q->next++;
	}
	e->status = h->flags & WIRE_SRCS ? begin_pull(nic, v, e, h, data, len) :
					   place_message(nic, v, e, h, data);
}

/*
 * The same with the whole of the address that a 32-bit program knows the lower
 * half of: the one address of the region that ends in it.
 */
static __attribute__((noinline)) void
rx_half(struct eng_nic *nic, struct eng_vi *v, const struct eng_wire *h,
	const void *data, size_t len)
{
	struct eng_region *r = eng_region_find(nic, h->rhandle);
	struct eng_wire whole = *h;

	whole.flags &= (uint8_t)~WIRE_HALF;
	if (r)
		whole.raddr = r->start + (uint32_t)(h->raddr - r->start);
	eng_rx_message(nic, v, &whole, data, len);
}

void eng_rx_message(struct eng_nic *nic, struct eng_vi *v,
		    const struct eng_wire *h, const void *data, size_t len)
{
	if (unlikely(h->flags & WIRE_HALF)) {
		rx_half(nic, v, h, data, len);
		return;
	}
	/* Numbers only go wrong when the peer does. */
	if (unlikely(h->seq != v->rx_next)) {
		eng_break(nic, v);
		return;
	}
	v->rx_next++;
	if (unlikely(!(h->flags & WIRE_SRCS) && h->op != WIRE_READ &&
		     len != h->len)) {
		eng_break(nic, v);
		return;
	}
	if (likely(v->in_head == v->in_tail && !(h->flags & WIRE_SRCS) &&
		   h->op != WIRE_READ))
		take_whole(nic, v, h, data);
	else
		queue_message(nic, v, h, data, len);
}

/* The pull of a message has ended. */
void eng_in_pulled(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x)
{
	struct eng_in *e;

	(void)nic;
	/* Messages of the ring are numbered from rx_done on. */
	e = &v->in[(v->in_head + (x->seq - v->rx_done)) % ENG_INFLIGHT];
	e->x = NULL;
	e->state = IN_READY;
	e->pulled = x->last_at && !x->in_place;
	e->last = x->last;
	/* The pull's destination is not mapped any more, or not writable. */
	if (x->err == -EFAULT)
		e->status = e->op == WIRE_WRITE ? VIP_STATUS_RDMA_PROT_ERROR :
						  VIP_STATUS_PROTECTION_ERROR;
	else if (x->err)
		e->status = VIP_STATUS_TRANSPORT_ERROR;
}

/* Does the peer have more answers to pull than it may ask for? */
static int too_many(const struct eng_vi *v)
{
	const struct vipl_list *l;
	uint32_t n = 0;

	for (l = v->answers.next; l != &v->answers; l = l->next)
		n++;
	return n >= ENG_READS;
}

/* RDMA Read, at the target: 0 or a status. May call the transport. */
static uint32_t answer_read(struct eng_nic *nic, struct eng_vi *v,
			    const struct eng_in *e)
{
	struct eng_wire h = {
		.op = WIRE_ANSWER,
		.dst = v->peer_id,
		.nonce = v->peer_nonce,
		.seq = v->rx_done,
		.ack = v->rx_done,
		.len = e->len,
	};
	struct eng_packet *k;
	struct eng_region *r;
	struct eng_export *x;
	int err;

	r = eng_remote(nic, v, VIA_RDMA_READ, e->rhandle, e->raddr, e->len);
	if (!r)
		return VIP_STATUS_RDMA_PROT_ERROR;
	if (e->len <= nic->t->eager) {
		k = eng_packet_new(&h, e->len);
		if (!k)
			return VIP_STATUS_REMOTE_DESC_ERROR;
		/*
		 * An RDMA Write before it is seen by this end's threads before
		 * these bytes are read: pairs with that of a thread that writes
		 * them and then looks for such a mark (dsm/page.c).
		 */
		atomic_thread_fence(memory_order_seq_cst);
		if (e->len && eng_copy_out(k->data, e->raddr, e->len)) {
			free(k);
			return VIP_STATUS_RDMA_PROT_ERROR;
		}
		eng_packet_send(nic, v->peer, k);
		return 0;
	}
	x = too_many(v) ? NULL : eng_export_new(1);
	if (!x)
		return VIP_STATUS_REMOTE_DESC_ERROR;
	v->exported++;
	err = eng_export_add(nic, v, x, r, e->raddr, e->len);
	if (err) {
		eng_export_drop(nic, v, x);
		return err == -EFAULT ? VIP_STATUS_RDMA_PROT_ERROR :
					VIP_STATUS_REMOTE_DESC_ERROR;
	}
	x->seq = h.seq;
	vipl_list_add_tail(&x->link, &v->answers);
	h.flags = WIRE_SRCS;
	h.nsrc = 1;
	eng_peer_send(nic, v->peer, &h, x->src, sizeof(*x->src));
	return 0;
}

/* The first of the ring is over. */
static void retire_first(struct eng_nic *nic, struct eng_vi *v,
			 const struct eng_in *e)
{
	uint32_t st;

	if (e->op == WIRE_READ) {
		st = answer_read(nic, v, e);
		if (st == VIP_STATUS_RDMA_PROT_ERROR)
			eng_event(v, VIP_ERROR_RDMAR_PROT,
				  ENG_OP(VIP_STATUS_OP_RDMA_READ), 0, 0);
		if (st)
			not_taken(nic, v, e->flags, st);
		else
			message_dealt(nic, v, e->flags);
	} else if (!e->slot && (e->op == WIRE_SEND || e->flags & WIRE_IMM)) {
		no_receive(nic, v, e->flags);
	} else {
		st = e->status;
		if (e->op == WIRE_WRITE && !st && !(e->flags & WIRE_SRCS))
			st = write_in(nic, v, e->rhandle, e->raddr, e->data,
				      e->len);
		else if (e->pulled && !st)
			st = write_in(nic, v, e->rhandle,
				      e->raddr + e->len - 1, &e->last, 1);
		message_over(nic, v, e->op, e->flags, e->slot, st, e->len,
			     e->imm);
	}
	free(e->data);
}

/* Start pulls, and complete what is there, in order. */
void eng_in_work(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_in e;

	eng_answers_drop(nic, v, 0);
	while (v->in_head != v->in_tail && v->state == VIP_STATE_CONNECTED) {
		e = v->in[v->in_head % ENG_INFLIGHT];
		if (e.state == IN_PULL || e.state == IN_PULLING)
			break;
		v->in[v->in_head % ENG_INFLIGHT].data = NULL;
		v->in_head++;
		retire_first(nic, v, &e);
	}
	eng_look_quick(v);
	if (v->state == VIP_STATE_CONNECTED && eng_rndvs_start(nic, v))
		eng_stall(v);
}
