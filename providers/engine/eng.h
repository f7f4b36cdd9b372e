/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_H
#define ENG_H

/* Functions of the engine's files for each other; for the state see types.h. */

#include "types.h"

extern const struct vipl_host *eng_host;
extern const struct eng_transport *eng_transport;

/* The upper half of an address in a descriptor is a 64-bit program's only. */
static inline uint64_t eng_address(uint64_t bits)
{
	return (uintptr_t)bits;
}

static inline struct eng_vi *eng_vi_of(struct vipl_vi *vi)
{
	return vipl_priv(vi);
}

static inline struct eng_nic *eng_nic_of(struct vipl_nic *nic)
{
	return vipl_priv(nic);
}

static inline struct eng_cq *eng_cq_of(struct vipl_cq *cq)
{
	return vipl_priv(cq);
}

static inline struct eng_nic *eng_vi_nic(struct eng_vi *v)
{
	return atomic_load_explicit(&v->nic, memory_order_acquire);
}

static inline uint32_t eng_get(const _Atomic uint32_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static inline struct eng_slot *eng_queue_slot(struct eng_queue *q, uint32_t i)
{
	return &q->slots[i & (ENG_QUEUE - 1)];
}

static inline int eng_reliable(const struct eng_vi *v)
{
	return v->attrs.reliability != VIP_SERVICE_UNRELIABLE;
}

/* The only way from one state to another: as core/state.c says. */
static inline struct via_move eng_vi_move(struct eng_vi *v,
					  enum via_vi_event event)
{
	struct via_move move = via_state_move(v->state, event);

	if (move.to != VIA_STATE_REFUSED)
		v->state = (VIP_VI_STATE)move.to;
	return move;
}

/* settle.c */
void eng_settle(struct eng_nic *nic);

/* nic.c */
void eng_event(struct eng_vi *v, uint32_t code, uint32_t opcode, uint64_t desc,
	       int orderly);
void eng_time(struct eng_nic *nic, struct eng_vi *v, uint64_t when);
uint64_t eng_random(void);

static inline void eng_enter(struct eng_nic *nic)
{
	eng_lock_take(&nic->lock);
}

static inline void eng_leave(struct eng_nic *nic)
{
	if (unlikely(nic->dirty))
		eng_settle(nic);
	eng_lock_drop(&nic->lock);
}

static inline void eng_todo(struct eng_nic *nic, struct eng_vi *v, uint8_t what)
{
	v->todo |= what;
	/*
	 * A VI that disconnects waits for no room: a peer that is lost or takes
	 * nothing, has none for it ever.
	 */
	if (what & TODO_DISCONNECT)
		vipl_list_del(&v->work);
	if (vipl_list_empty(&v->work))
		vipl_list_add_tail(&v->work, &nic->later.vis);
	nic->dirty = 1;
}

/* The waiters of the discriminator have changed: eng_disc_work() follows. */
static inline void eng_disc_todo(struct eng_nic *nic, struct eng_disc *d)
{
	if (vipl_list_empty(&d->work))
		vipl_list_add_tail(&d->work, &nic->later.discs);
	nic->dirty = 1;
}

/* May short messages of the VI take the fast path of fast.h? See types.h. */
static inline void eng_look_quick(struct eng_vi *v)
{
	v->quick = v->state == VIP_STATE_CONNECTED && !v->acks &&
		   v->in_head == v->in_tail &&
		   v->q[VIPL_SENDQ].next == eng_get(&v->q[VIPL_SENDQ].done) ?
		   v->peer : NULL;
}

static inline void eng_late(struct eng_nic *nic, struct eng_vi *v)
{
	vipl_list_add_tail(&v->late, &nic->late);
	nic->tardy = 1;
}

/* wait.c */
#define ENG_BUDGET	64u
int eng_progress(struct eng_nic *nic);
void eng_poll(struct eng_nic *nic);
void eng_poll_held(struct eng_nic *nic);
int eng_sleep(struct eng_nic *nic, struct vipl_list *on, uint64_t deadline);
void eng_wake(struct eng_nic *nic, struct vipl_list *sleepers);
void eng_rouse(struct eng_nic *nic, struct eng_sleeper *s, uint32_t word);
int eng_ticker_start(struct eng_nic *nic);
void eng_ticker_stop(struct eng_nic *nic);
int eng_spin(struct eng_nic *nic, const _Atomic uint32_t *word, uint32_t seen,
	     _Atomic uint32_t *spin_ns, uint64_t start, uint64_t deadline);
void eng_learn(_Atomic uint32_t *spin_ns, uint64_t took);

/* region.c */
VIP_RETURN eng_ptag_create(struct vipl_nic *obj, uint32_t *id);
VIP_RETURN eng_ptag_destroy(struct vipl_nic *obj, uint32_t id);
int eng_ptag_use(struct eng_nic *nic, uint32_t id);
void eng_ptag_unuse(struct eng_nic *nic, uint32_t id);
VIP_RETURN eng_mem_register(struct vipl_nic *obj, void *addr, VIP_ULONG len,
			    uint32_t ptag, const VIP_MEM_ATTRIBUTES *attrs,
			    VIP_MEM_HANDLE *handle);
VIP_RETURN eng_mem_deregister(struct vipl_nic *obj, void *addr,
			      VIP_MEM_HANDLE handle);
VIP_RETURN eng_mem_query(struct vipl_nic *obj, void *addr,
			 VIP_MEM_HANDLE handle, uint32_t *ptag,
			 VIP_MEM_ATTRIBUTES *attrs);
VIP_RETURN eng_mem_set(struct vipl_nic *obj, void *addr, VIP_MEM_HANDLE handle,
		       uint32_t ptag, const VIP_MEM_ATTRIBUTES *attrs);
int eng_regions_init(struct eng_nic *nic);
void eng_regions_end(struct eng_nic *nic);
void eng_regions_free(struct eng_nic *nic);

#define ENG_HANDLE_BITS	18u
#define ENG_HANDLE_MASK	((1u << ENG_HANDLE_BITS) - 1)
#define ENG_CHUNK	512u

/* The region of a handle, or NULL. */
static inline struct eng_region *eng_region_find(struct eng_nic *nic,
						 uint32_t handle)
{
	uint32_t i = handle & ENG_HANDLE_MASK;
	struct eng_region *r;
	char *chunk;

	chunk = (char *)nic->chunks[i / ENG_CHUNK];
	if (unlikely(!chunk))
		return NULL;
	r = (struct eng_region *)(void *)(chunk + (size_t)(i % ENG_CHUNK) *
					  nic->region_stride);
	return likely(r->handle == handle && handle) ? r : NULL;
}

/* The region, if the VI may use that range of it. */
static inline struct eng_region *eng_local(struct eng_nic *nic,
					   const struct eng_vi *v,
					   uint32_t handle, uint64_t addr,
					   uint64_t len)
{
	struct eng_region *r = eng_region_find(nic, handle);

	/* A VI with the default tag may use any region of its NIC handle. */
	if (likely(r && (!v->attrs.ptag || v->attrs.ptag == r->ptag) &&
		   addr - r->start <= r->len &&
		   len <= r->len - (addr - r->start)))
		return r;
	return NULL;
}

/* The same for what the peer asks for. */
static inline struct eng_region *eng_remote(struct eng_nic *nic,
					    const struct eng_vi *v,
					    uint32_t right, uint32_t handle,
					    uint64_t addr, uint64_t len)
{
	struct eng_region *r;

	if (!(v->attrs.rights & right))
		return NULL;
	r = eng_local(nic, v, handle, addr, len);
	return r && r->rights & right ? r : NULL;
}

void eng_cache_fill(struct eng_nic *nic, struct eng_vi *v,
		    struct eng_region_cache *cache, const struct eng_region *r);
void eng_caches_drop(struct eng_nic *nic);

/*
 * As eng_local(), for len that is not 0; which is ENG_CACHE_DESC (len is
 * ENG_DESC_LEN) or ENG_CACHE_DATA. The tags were compared when the
 * cache was filled, and it is dropped when they, the handle or the range
 * change.
 */
static inline int eng_cached(struct eng_nic *nic, struct eng_vi *v,
			     struct eng_queue *q, unsigned int which,
			     uint32_t handle, uint64_t addr, uint64_t len)
{
	struct eng_region_cache *cache = &q->cache[which];
	uint64_t off = addr - cache->start;
	struct eng_region *r;

	if (likely(cache->handle == handle && off <= cache->len &&
		   len <= cache->len - off))
		return 1;
	r = eng_local(nic, v, handle, addr, len);
	if (r)
		eng_cache_fill(nic, v, cache, r);
	return r != NULL;
}

static inline struct eng_pin eng_region_pin(struct eng_region *r)
{
	r->pins[r->epoch]++;
	return (struct eng_pin){ r, r->epoch };
}

/* queue.c */
VIP_RETURN eng_post_send(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN eng_post_recv(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN eng_send_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **desc);
VIP_RETURN eng_recv_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **desc);
VIP_RETURN eng_send_wait(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_ULONG timeout, VIP_DESCRIPTOR **desc);
VIP_RETURN eng_recv_wait(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_ULONG timeout, VIP_DESCRIPTOR **desc);
VIP_RETURN eng_vi_notify(struct vipl_vi *vi, int queue);
VIP_RETURN eng_post_send_held(struct vipl_vi *vi, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN eng_post_recv_held(struct vipl_vi *vi, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN eng_recv_done_held(struct vipl_vi *vi, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR **desc);
int eng_queue_empty(struct vipl_vi *vi, int queue);
void eng_recv_scan(struct eng_nic *nic, struct eng_vi *v);

/* complete.c */
void eng_complete(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q,
		  uint32_t status, uint32_t len, uint32_t imm);
void eng_tell(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q,
	      uint32_t index);
/* The event that a program has asked for with VipSendNotify() or VipRecvNotify(). */
void eng_tell_program(struct eng_nic *nic, struct eng_vi *v,
		      struct eng_queue *q);

/* The same for one that was neither started nor has more segments. */
static inline void eng_complete_plain(struct eng_nic *nic, struct eng_vi *v,
				      struct eng_queue *q, struct eng_slot *s,
				      uint32_t i, uint32_t status, uint32_t len)
{
	s->d.status = status | VIP_STATUS_DONE;
	s->d.length = len;
	s->plain = 0;
	q->next = i + 1;
	/* Pairs with the collector's acquire: the outcome is there. */
	atomic_store_explicit(&q->done, i + 1, memory_order_release);
	if (unlikely(q->watched))
		eng_tell(nic, v, q, i);
}


/* desc.c */
void eng_load(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
	      int recv);
/*
 * A posted descriptor of one segment that nothing can be wrong with but the
 * region of its data, which is looked at when bytes move.
 */
static inline int eng_is_plain(struct eng_nic *nic, struct eng_vi *v,
			       struct eng_queue *q, const struct eng_slot *s)
{
	return s->state == SLOT_POSTED && s->d.seg_count == 1 &&
	       !((s->d.addr & (VIA_DESC_ALIGN - 1)) | s->d.reserved |
		 (s->d.control & (uint16_t)~VIA_CTL_PLAIN)) &&
	       s->d.length == s->d.seg[0].len && s->d.length &&
	       eng_cached(nic, v, q, ENG_CACHE_DESC, s->d.handle, s->d.addr,
			  ENG_DESC_LEN);
}

/* Most copies are of a few bytes. */
static inline void eng_copy(void *to, const void *from, size_t n)
{
	uint64_t a, b;
	uint32_t c, d;

	if (n >= 4 && n <= 8) {
		memcpy(&c, from, 4);
		memcpy(&d, (const char *)from + n - 4, 4);
		memcpy(to, &c, 4);
		memcpy((char *)to + n - 4, &d, 4);
	} else if (n > 8 && n <= 16) {
		memcpy(&a, from, 8);
		memcpy(&b, (const char *)from + n - 8, 8);
		memcpy(to, &a, 8);
		memcpy((char *)to + n - 8, &b, 8);
	} else {
		memcpy(to, from, n);
	}
}

int eng_scatter(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
		const void *data, uint32_t len);
int eng_gather(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
	       struct iovec *iov);

/* send.c */
void eng_run(struct eng_nic *nic, struct eng_vi *v);
void eng_acked(struct eng_nic *nic, struct eng_vi *v, uint32_t ack);

/* Does ack acknowledge a message that is not complete? */
static inline int eng_is_ack(const struct eng_vi *v, uint32_t ack)
{
	return (int32_t)(v->tx_base + ack -
			 eng_get(&v->q[VIPL_SENDQ].done)) > 0;
}

void eng_retire(struct eng_nic *nic, struct eng_vi *v, int may_call);
void eng_send_ack(struct eng_vi *v);
void eng_late_acks(struct eng_nic *nic);

/*
 * A program that answers each message at once gives its acknowledgement a ride:
 * after two such answers the next one waits for it, until the program looks for
 * more or sleeps.
 */
#define ENG_REPLIES	2u

static inline void eng_acks_rode(struct eng_vi *v)
{
	if (v->ack_alone == v->rx_done && v->replies < ENG_REPLIES)
		v->replies++;
	v->alone = 0;
	v->ack_sent = v->rx_done;
}

void eng_slot_unexport(struct eng_nic *nic, struct eng_vi *v,
		       struct eng_slot *s);
void eng_rx_answer(struct eng_nic *nic, struct eng_vi *v,
		   const struct eng_wire *h, const void *data, size_t len);
void eng_rx_taken(struct eng_nic *nic, struct eng_vi *v, uint32_t seq);
void eng_read_done(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x);

/* recv.c */
void eng_rx_message(struct eng_nic *nic, struct eng_vi *v,
		    const struct eng_wire *h, const void *data, size_t len);
void eng_in_pulled(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x);
void eng_in_work(struct eng_nic *nic, struct eng_vi *v);
int eng_in_may_pull(const struct eng_vi *v, const struct eng_rndv *x);

/* pull.c */
int eng_rndvs_start(struct eng_nic *nic, struct eng_vi *v);

/* rndv.c */
struct eng_rndv *eng_rndv_new(struct eng_nic *nic, struct eng_vi *v,
			      const struct eng_wire *h, const void *data,
			      size_t len, uint32_t ndst);
int eng_rndv_dst(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x,
		 struct eng_slot *s, uint32_t len);
void eng_rndv_write(struct eng_rndv *x, struct eng_region *r, uint64_t addr,
		    uint32_t len);
void eng_rndv_free(struct eng_rndv *x);
struct eng_export *eng_export_new(uint32_t n);
int eng_export_add(struct eng_nic *nic, struct eng_vi *v, struct eng_export *e,
		   struct eng_region *r, uint64_t addr, uint32_t len);
void eng_export_drop(struct eng_nic *nic, struct eng_vi *v,
		     struct eng_export *e);
void eng_answers_drop(struct eng_nic *nic, struct eng_vi *v, int all);

/* cq.c */
VIP_RETURN eng_cq_create(struct vipl_cq *obj, VIP_ULONG entries);
void eng_cq_live(struct vipl_cq *obj, VIP_CQ_HANDLE h);
VIP_RETURN eng_cq_destroy(struct vipl_cq *obj);
VIP_RETURN eng_cq_resize(struct vipl_cq *obj, VIP_ULONG entries);
void eng_cq_release(struct vipl_cq *obj);
VIP_RETURN eng_cq_done(struct vipl_cq *obj, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
		       VIP_BOOLEAN *recv);
VIP_RETURN eng_cq_wait(struct vipl_cq *obj, VIP_CQ_HANDLE h, VIP_ULONG timeout,
		       VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv);
VIP_RETURN eng_cq_notify(struct vipl_cq *obj);
void eng_cq_publish(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q,
		    uint32_t index);

/* vi.c */
VIP_RETURN eng_vi_create(struct vipl_vi *obj, const VIP_VI_ATTRIBUTES *attrs,
			 uint32_t ptag, struct vipl_cq *send_cq,
			 struct vipl_cq *recv_cq);
void eng_vi_live(struct vipl_vi *obj, VIP_VI_HANDLE h);
VIP_RETURN eng_vi_retire(struct vipl_vi *obj);
VIP_RETURN eng_vi_destroy(struct vipl_vi *obj);
void eng_vi_release(struct vipl_vi *obj);
VIP_RETURN eng_vi_query(struct vipl_vi *obj, VIP_VI_STATE *state,
			VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN eng_vi_set(struct vipl_vi *obj, const VIP_VI_ATTRIBUTES *attrs,
		      uint32_t ptag);
VIP_RETURN eng_disconnect(struct vipl_vi *obj);
void eng_vi_end(struct eng_nic *nic, struct eng_vi *v);

/* disconnect.c */
void eng_flush(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q);
void eng_vi_disconnect(struct eng_nic *nic, struct eng_vi *v,
		       enum via_vi_event event, uint8_t flags, int orderly);
void eng_break(struct eng_nic *nic, struct eng_vi *v);
void eng_refuse(struct eng_nic *nic, struct eng_vi *v, uint32_t seq,
		uint32_t status);
void eng_disconnect_work(struct eng_nic *nic, struct eng_vi *v);
void eng_disconnect_now(struct eng_nic *nic, struct eng_vi *v);
void eng_rx_disconnect(struct eng_nic *nic, struct eng_vi *v,
		       const struct eng_wire *h);

/* conn.c */
void eng_conn_up(struct eng_nic *nic, struct eng_vi *v,
		 const struct wire_conn *c);
VIP_RETURN eng_conn_verdict_of(int err);
void eng_conn_end(struct eng_nic *nic, struct eng_vi *v,
		  enum via_vi_event event, VIP_RETURN verdict);
void eng_conn_expire(struct eng_nic *nic, struct eng_vi *v, uint64_t now);
int eng_conn_may_begin(struct eng_nic *nic, struct eng_vi *v);
void eng_conn_begin(struct eng_nic *nic, struct eng_vi *v,
		    const struct vipl_addr *local,
		    const struct vipl_addr *remote, uint64_t deadline);
void eng_conn_ask(struct eng_nic *nic, struct eng_vi *v);
int eng_conn_handshake(struct eng_nic *nic, struct eng_vi *v);
void eng_conn_serve(struct eng_nic *nic, struct eng_vi *v,
		    struct eng_peer *peer, uint32_t id, uint64_t nonce);
void eng_conn_peer_down(struct eng_nic *nic, struct eng_vi *v, int err);
void eng_rx_conn(struct eng_nic *nic, struct eng_peer *peer,
		 const struct eng_wire *h, const void *data, size_t len);
VIP_RETURN eng_conn_request(struct vipl_vi *obj, const struct vipl_addr *local,
			    const struct vipl_addr *remote, VIP_ULONG timeout,
			    VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN eng_conn_request_start(struct vipl_vi *obj,
				  const struct vipl_addr *local,
				  const struct vipl_addr *remote,
				  VIP_ULONG timeout,
				  const struct vipl_private *priv);
VIP_RETURN eng_conn_result(struct vipl_vi *obj, VIP_VI_ATTRIBUTES *attrs,
			   struct vipl_private *priv);
VIP_RETURN eng_conn_verdict(struct eng_nic *nic, struct eng_vi *v, int p2p,
			    int wait, VIP_VI_ATTRIBUTES *attrs,
			    struct vipl_private *priv);
void eng_reject(struct eng_nic *nic, struct eng_peer *peer, uint32_t vi,
		uint64_t nonce, VIP_RETURN verdict,
		const struct vipl_private *priv);
struct via_vi_attrs eng_wire_attrs(const struct wire_conn *c);

/* request.c */
struct eng_disc *eng_disc_find(struct eng_nic *nic, const uint8_t *disc,
			       uint32_t len, int make);
void eng_disc_work(struct eng_nic *nic, struct eng_disc *d);
int eng_disc_announce(struct eng_nic *nic, struct eng_disc *d);
void eng_discs_free(struct eng_nic *nic);
void eng_rx_connect(struct eng_nic *nic, struct eng_peer *peer,
		    const struct wire_conn *c);
void eng_conn_free(struct eng_nic *nic, struct eng_conn *c);
void eng_requests_end(struct eng_nic *nic);
/* Is the host address left out, or does it lead to this NIC? */
int eng_own_host(struct eng_nic *nic, const struct vipl_addr *a);
VIP_RETURN eng_conn_wait(struct vipl_nic *obj, const struct vipl_addr *local,
			 VIP_ULONG timeout, struct vipl_request *req);
VIP_RETURN eng_conn_accept(struct vipl_nic *obj, uint32_t conn,
			   struct vipl_vi *vi, const struct vipl_private *priv,
			   int *gone);
VIP_RETURN eng_conn_accept_start(struct vipl_nic *obj, uint32_t conn,
				 struct vipl_vi *vi,
				 const struct vipl_private *priv, int *gone);
VIP_RETURN eng_conn_reject(struct vipl_nic *obj, uint32_t conn,
			   const struct vipl_private *priv);
VIP_RETURN eng_conn_listen(struct vipl_nic *obj, const struct vipl_addr *local,
			   uint32_t backlog);

/* p2p.c */
VIP_RETURN eng_peer_request(struct vipl_vi *obj, const struct vipl_addr *local,
			    const struct vipl_addr *remote, VIP_ULONG timeout);
VIP_RETURN eng_peer_result(struct vipl_vi *obj, int wait,
			   VIP_VI_ATTRIBUTES *attrs);
void eng_rx_look(struct eng_nic *nic, struct eng_peer *peer,
		 const struct wire_conn *c);
void eng_p2p_retry(struct eng_nic *nic, struct eng_vi *v, uint64_t now);
void eng_p2p_none(struct eng_nic *nic, struct eng_vi *v);

/* peer.c */
struct eng_peer *eng_peer_make(struct eng_nic *nic, const uint8_t *addr);
void eng_peer_attach(struct eng_vi *v, struct eng_peer *p);
void eng_peer_detach(struct eng_vi *v);
struct eng_packet *eng_packet_new(const struct eng_wire *h, uint32_t len);
void eng_packet_send(struct eng_nic *nic, struct eng_peer *p,
		     struct eng_packet *k);
void eng_peer_send(struct eng_nic *nic, struct eng_peer *p,
		   const struct eng_wire *h, const void *data, uint32_t len);
int eng_peer_xmit(struct eng_peer *p, const struct eng_wire *h,
		  const struct iovec *iov, unsigned int n);
void eng_peer_drop_out(struct eng_peer *p);
void eng_peer_send_out(struct eng_peer *p);
void eng_peer_todo(struct eng_peer *p);
int eng_peers_wait(struct eng_nic *nic);
void eng_stall(struct eng_vi *v);

/* work.c */
extern const struct eng_works eng_works;
void eng_peers_end(struct eng_nic *nic);

#endif /* ENG_H */
