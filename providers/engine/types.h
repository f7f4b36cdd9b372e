/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_TYPES_H
#define ENG_TYPES_H

/*
 * The types that the engine's files share. docs/contribute/provider.md tells
 * what the engine does.
 *
 * Locks, outermost first
 * ----------------------
 *	the library's NIC lock		where provider.h says so
 *	nic->lock, the engine lock	everything without another note
 *	cq->lock			a CQ's ring
 *	q->lock				collecting from a work queue
 *
 * cq->lock and q->lock are never held together. A transport's own locks come
 * after the engine lock; of two engine locks none is taken with the other held.
 *
 * Words marked "atomic" are also read with no lock, by polls. A word that is
 * not marked is guarded by the engine lock.
 *
 * Later
 * -----
 * The transport may call in (eng_rx...) from inside its operations, so nothing
 * that is called in calls an operation. What follows is put on nic->later (a VI, a
 * peer, a discriminator) and done by eng_settle(), after progress and
 * before the lock is dropped (eng_leave()).
 */

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <pthread.h>
#include <vipl/engine.h>

#include "../../core/conn.h"
#include "../../core/desc.h"
#include "../../core/state.h"
#include "../../vipl/list.h"
#include "../attrs.h"
#include "lock.h"
#include "wire.h"

#define ALWAYS_INLINE	inline __attribute__((always_inline))

#define ENG_QUEUE	1024u		/* descriptors of a work queue */
#define ENG_INFLIGHT	64u		/* messages of a VI not yet complete */
#define ENG_READS	16u		/* RDMA Reads of those */
#define ENG_COPIED	8u		/* exported, where each is a copy */
#define ENG_VIS		4096u
#define ENG_CQS		1024u
#define ENG_CQ_ENTRIES	65536u
#define ENG_PTAGS	4096u
#define ENG_REGIONS	131072u
#define ENG_TRANSFER	(1u << 20)	/* bytes of a message */
#define ENG_CONNS	1024u		/* waiters and unanswered requests */
#define ENG_DISC_HASH	256u

#define ENG_OP(st)	((uint32_t)(st) >> 16)

struct eng_vi;
struct eng_cq;

/*
 * A registered region. Slots stay where they are; handle tells which
 * registration a slot holds.
 */
struct eng_region {
	uint32_t handle;		/* 0: free */
	uint32_t ptag;			/* 0: the default tag */
	uint32_t rights;		/* VIA_RDMA_* */
	uint16_t epoch;			/* 0 or 1: which pins are new */
	uint16_t changing;		/* a thread's; it may wait for pins */
	uint64_t start;
	uint64_t len;			/* bytes */
	uint32_t pins[2];		/* transfers that use it, by epoch */
	uint32_t gen;			/* of the slot's next handle */
	uint32_t next_free;		/* slot, 0: none */
	_Alignas(16) unsigned char priv[];
};

/*
 * The cache of the region that was used last, and which of its addresses the VI
 * may use: most descriptors name the region of the one before. Whatever may
 * make one wrong drops all of them (eng_caches_drop()), which happens seldom;
 * so none is looked at twice.
 */
struct eng_region_cache {
	uint32_t handle;		/* 0: none */
	uint64_t start;
	uint64_t len;			/* bytes */
	uint64_t descs;			/* where descriptors may begin, bytes */
};

#define ENG_CACHE_DESC	0		/* descriptors of one segment */
#define ENG_CACHE_DATA	1
#define ENG_DESC_LEN	48u		/* bytes of such a one */

/* A transfer's hold on a region. */
struct eng_pin {
	struct eng_region *r;
	uint32_t epoch;
};

/* Memory that a peer may pull: an announced message, or an answer. */
struct eng_export {
	struct vipl_list link;		/* answers: v->answers */
	uint32_t seq;			/* answers: the READ's */
	uint32_t taken;			/* answers: to be dropped */
	uint32_t n;
	struct eng_src *src;		/* n each, behind this */
	struct eng_pin *pin;
};

/* A rendezvous: this end pulls a message that has come, or a read's answer. */
struct eng_rndv {
	struct eng_pull pull;		/* the transport's while it runs */
	struct eng_nic *nic;
	struct eng_vi *vi;		/* NULL: its VI has ended */
	struct vipl_list link;		/* v->rndvs */
	uint32_t seq;			/* of the message, or the READ */
	uint8_t read;			/* it is the answer to a READ */
	uint8_t started;		/* the transport has it */
	uint8_t last;			/* byte of an RDMA Write, unless in place */
	uint8_t in_place;
	uint64_t last_at;		/* where it goes; 0: nothing is apart */
	int err;			/* once it has ended */
	uint32_t npins;
	struct eng_pin *pin;
	struct eng_src *src;
	struct iovec *dst;
};

enum eng_slot_state {
	SLOT_POSTED,			/* not looked at */
	SLOT_LOADED,			/* checked; status holds the error */
	SLOT_FLYING,			/* sent; or a receive that is filled */
	SLOT_ANSWERED,			/* a read that is pulled */
	SLOT_FINISHED,			/* its completion waits for its turn */
};

/*
 * A posted descriptor, a copy: what the program does to its own afterwards
 * changes nothing. Two cache lines; small messages use the first.
 */
struct eng_slot {
	struct via_desc d;
	struct eng_export *export;	/* of an announced message */
	uint8_t state;			/* SLOT_* */
	uint8_t plain;			/* one segment, no control bits */
	uint8_t zero[2];
	uint8_t pad[20];
};

/*
 * A work queue. Indexes count without end: collected <= done <= next <= tail.
 */
struct eng_queue {
	_Atomic uint32_t tail;		/* atomic: posted */
	_Atomic uint32_t done;		/* atomic: completed */
	uint32_t next;			/* started, or given to a message */
	uint32_t check;			/* receives: look for bad ones up to it */
	struct eng_slot *slots;
	struct eng_region_cache cache[2];	/* descriptors, data */
	uint32_t limit;			/* tail may go so far: collected was */
	struct eng_cq *cq;
	uint8_t recv;
	uint8_t notify;			/* an event was asked for */
	uint8_t scan;			/* receives up to check may be bad */
	uint8_t watched;		/* a CQ, notify or sleepers, perhaps */
	struct vipl_list sleepers;

	_Alignas(64) struct eng_lock lock;
	_Atomic uint32_t collected;	/* atomic; written under q->lock */
	uintptr_t handle;		/* q->lock: the VI's, 0: none */
	_Atomic uint32_t spin_ns;	/* atomic: how long a wait spins */
};

enum eng_in_state {
	IN_PULL,			/* its pull is to be started */
	IN_PULLING,
	IN_READ,			/* a READ that waits for its turn */
	IN_READY,
};

/* A message that has come and is not complete: it or one before is pulled. */
struct eng_in {
	uint8_t state;			/* IN_* */
	uint8_t op;			/* WIRE_* */
	uint8_t flags;			/* WIRE_* */
	uint8_t slot;			/* it has the next receive */
	uint8_t pulled;			/* a WRITE: all but its last byte */
	uint8_t last;			/* which goes there in its turn */
	uint32_t index;			/* that receive */
	uint32_t status;		/* error of the target */
	uint32_t len;
	uint32_t imm;
	uint32_t rhandle;
	uint64_t raddr;
	struct eng_rndv *x;
	void *data;			/* of a WRITE that waits for its turn */
};

/* v->todo */
#define TODO_SEND	0x1		/* posted, or room */
#define TODO_ACK	0x2
#define TODO_IN		0x4		/* pulls to start, messages to retire */
#define TODO_DISCONNECT	0x8		/* go on with disconnecting */

enum eng_disconnect_state {
	DISCONNECT_NONE,
	DISCONNECT_PULLS,		/* waits for its own pulls */
	DISCONNECT_AWAIT,		/* waits for DISCONNECT_ACK */
};

/* An attempt to connect; v->conn. */
struct eng_attempt {
	VIP_RETURN verdict;		/* NOT_DONE; ENG_REPORTED: none */
	uint32_t count;			/* which attempt it is */
	uint64_t deadline;		/* ns of eng_now(); ENG_FOREVER */
	uint64_t retry;			/* peer to peer: when to ask again */
	uint8_t p2p;
	uint8_t event;			/* the verdict is worth an event */
	uint8_t asked;			/* CONNECT or LOOK has been sent */
	uint8_t serving;		/* ACCEPT has been sent */
	uint8_t crossed;		/* a LOOK came that ours was to beat */
	uint8_t again;			/* one more handshake after a loss */
	struct vipl_addr local, remote;
	struct via_vi_attrs attrs;	/* the peer's */
	struct vipl_private mine, theirs;
	struct eng_disc *disc;		/* peer to peer: listed there */
	struct vipl_list look;
	struct vipl_list sleepers;
};

#define ENG_REPORTED	((VIP_RETURN)-1)

/* The private area of a VI. */
struct eng_vi {
	_Atomic(struct eng_nic *) nic;	/* atomic; written before it is live */
	_Atomic uintptr_t handle;	/* atomic: 0 unless live */
	struct vipl_vi *obj;
	uint32_t id;			/* generation << 16 | index; 0: none */
	VIP_VI_STATE state;
	struct via_vi_attrs attrs;
	uint8_t acks;			/* eager messages are acknowledged */
	uint8_t alone;			/* the last ACK went by itself */
	uint8_t todo;			/* TODO_* */

	struct eng_wire tx;		/* header of a plain send */
	struct eng_plain plain;		/* the same, where it is so short */
	/*
	 * Connected, without acknowledgements, and nothing under way that is
	 * pulled, here or there: the peer, else NULL. Short messages may take
	 * the fast path of fast.h then.
	 */
	struct eng_peer *quick;
	uint32_t quick_most;		/* bytes of such a one */
	/* Of the connection; peer also of an attempt. */
	struct eng_peer *peer;
	uint64_t nonce;			/* in packets for us; 0: none */
	uint64_t peer_nonce;
	uint32_t peer_id;
	uint32_t tx_base;		/* slot of message 0 */
	uint32_t acked;			/* slots before it are acknowledged */
	uint32_t rx_next;		/* message that comes next */
	uint32_t rx_done;		/* messages dealt with */
	uint32_t ack_sent;		/* rx_done as the peer knows it */
	uint32_t ack_alone;		/* rx_done when ACK went by itself */
	uint32_t replies;		/* messages answered at once, in a row */
	struct vipl_list late;		/* nic->late: ACK may ride on a reply */
	uint32_t reads;			/* RDMA Reads not yet complete */
	struct eng_in *in;		/* ring of ENG_INFLIGHT, or NULL */
	uint32_t in_head, in_tail;
	uint32_t pulls;			/* rndvs that the transport has */
	uint32_t exported;		/* exports that the peer may pull */
	struct vipl_list rndvs;
	struct vipl_list answers;
	struct vipl_list work;		/* nic->later.vis or peer->stalled */
	struct vipl_list peer_link;	/* peer->vis */

	/* Leaving a connection. */
	uint8_t disconnecting;		/* eng_disconnect_state */
	uint8_t disconnect_op;		/* WIRE_DISCONNECT, _ACK, or 0 */
	uint8_t disconnect_flags;
	uint32_t disconnect_seq, disconnect_status;
	uint64_t disconnect_deadline;

	struct vipl_list cached;		/* nic->cached */
	struct vipl_list timed;		/* nic->timed */
	uint64_t when;			/* what for: ns of eng_now() */
	struct eng_attempt conn;
	struct eng_queue q[2];
};

struct eng_notice {
	struct eng_vi *vi;
	uintptr_t handle;		/* of the VI then */
	uint32_t index;			/* of the completion */
	uint32_t recv;
};

/* The private area of a CQ. */
struct eng_cq {
	_Atomic(struct eng_nic *) nic;	/* atomic */
	_Atomic uint32_t head, tail;	/* atomic; written under cq->lock */
	struct eng_lock lock;
	uintptr_t handle;		/* cq->lock: 0 unless live */
	struct eng_notice *ring;	/* cq->lock */
	uint32_t mask;			/* cq->lock: places - 1 */
	uint32_t shown;			/* cq->lock: those before it are */
	uint32_t entries;		/* cq->lock: how many may be */
	_Atomic uint32_t spin_ns;	/* atomic */
	struct vipl_cq *obj;
	_Atomic uintptr_t live;		/* atomic: handle, for sleepers */
	uint32_t queues;		/* attached */
	uint8_t made;			/* counted in nic->ncqs */
	uint8_t notify;
	struct vipl_list sleepers;
};

struct eng_packet {
	struct vipl_list link;
	struct eng_wire h;
	uint32_t len;
	unsigned char data[];
};

enum eng_peer_state { PEER_HANDSHAKE, PEER_UP, PEER_DOWN };

struct eng_peer {
	struct eng_nic *nic;
	struct vipl_list link;		/* nic->peers */
	struct vipl_list work;		/* nic->later.peers */
	struct vipl_list out;		/* packets that wait, in order */
	struct vipl_list vis;		/* that have it as their peer */
	struct vipl_list stalled;	/* VIs that wait for room */
	struct vipl_list conns;		/* its requests */
	struct vipl_list orphans;	/* rndvs whose VI has left */
	struct eng_peer *as;		/* it turned out to be that one */
	uint32_t nout;
	int err;			/* PEER_DOWN: why */
	uint8_t state;			/* PEER_* */
	uint8_t full;			/* until eng_room() */
	uint8_t ready;			/* up, not full, and nothing waits */
	uint8_t busy;			/* an operation runs: do not free */
	uint8_t addr[VIPL_ADDR_MAX];
	_Alignas(16) unsigned char priv[];
};

/* A request that has arrived and is not answered. */
struct eng_conn {
	struct vipl_list link;		/* nic->conns or disc->kept */
	struct vipl_list peer_link;	/* peer->conns */
	struct eng_peer *peer;
	struct eng_disc *disc;		/* on its kept list, or NULL */
	struct eng_waiter *waiter;	/* given to it, or NULL */
	uint32_t id;
	uint32_t vi;			/* the client's */
	uint64_t nonce;
	uint64_t deadline;
	struct via_vi_attrs attrs;
	struct vipl_addr local, remote;
	struct vipl_private priv;
};

/* A thread in conn_wait; on its stack. */
struct eng_waiter {
	struct vipl_list link;		/* disc->waiters */
	struct vipl_list sleepers;
	struct eng_conn *conn;
};

/* A discriminator that is waited for in any way. */
struct eng_disc {
	struct vipl_list link;		/* nic->discs[hash] */
	struct vipl_list work;		/* nic->later.discs */
	uint32_t announced;		/* the transport knows that it waits */
	uint32_t len;
	uint8_t data[VIPL_DISC_MAX];
	uint32_t backlog;		/* conn_listen; 0: none */
	uint32_t nkept;
	struct vipl_list waiters;
	struct vipl_list kept;
	struct vipl_list looks;		/* VIs that look for a peer */
};

/* A thread that sleeps; on its stack. */
struct eng_sleeper {
	struct vipl_list link;		/* of what it waits for */
	struct vipl_list all;		/* nic->sleepers */
	_Atomic uint32_t word;		/* SLEEP_*: atomic, a futex */
};

#define SLEEP_ASLEEP	0
#define SLEEP_WOKEN	1		/* off both lists */
#define SLEEP_LEAD	2		/* look whether there is a leader */

/* SegCount and Control of one segment and no more, as one word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ENG_ONE_SEG	1u
#else
#define ENG_ONE_SEG	0x10000u
#endif

/* recv, notify, scan and watched of a receive queue that nothing waits for. */
#define ENG_RECV_PLAIN	"\1\0\0"

/* A slot's state, plain and zero from its post to its completion. */
#define ENG_SLOT_PLAIN	"\0\1\0"

#define ENG_QUIET	"\1\0\0"	/* live alone */

enum eng_tick { TICK_ON, TICK_PARKED };

/* The private area of a NIC; the transport's is behind it. */
/*
 * What is done of work that was put off (settle.c), when an attempt's time has come
 * or acknowledgements have waited for a ride (wait.c), of an error of this end (send.c)
 * and of a message's pull (pull.c); the engine lock is held.
 */
struct eng_works {
	void (*vi)(struct eng_nic *nic, struct eng_vi *v);
	void (*peer)(struct eng_nic *nic, struct eng_peer *p);
	void (*disc)(struct eng_nic *nic, struct eng_disc *d);
	void (*expire)(struct eng_nic *nic, struct eng_vi *v, uint64_t now);
	void (*late_acks)(struct eng_nic *nic);
	void (*broken)(struct eng_nic *nic, struct eng_vi *v);
	int (*may_pull)(const struct eng_vi *v, const struct eng_rndv *x);
	void (*pulled)(struct eng_nic *nic, struct eng_vi *v,
		       struct eng_rndv *x);
};

/* Work that is put off, and what does it. */
struct eng_later {
	const struct eng_works *works;	/* constant */
	struct vipl_list vis, peers, discs;
};

struct eng_nic {
	/* Stays valid and unlocked or held over close and open. */
	struct eng_lock lock;
	/* These four as ENG_QUIET: a poll has nothing else to see to. */
	uint8_t live;			/* between open and shutdown */
	uint8_t dirty;			/* later has something */
	uint8_t tardy;			/* late may have something */
	uint8_t armed;			/* the leader is in transport->wait */
	uint8_t settling;
	uint8_t opened;			/* close has something to free */
	const struct eng_transport *t;
	struct eng_vi **vis;		/* ENG_VIS */
	struct eng_region **chunks;	/* of regions */
	uint32_t region_stride;		/* bytes */
	uint32_t activity;		/* progress made by the program's calls */
	struct eng_later later;
	struct vipl_list late;		/* VIs whose ACK waits for a reply */
	struct vipl_list sleepers;
	struct eng_sleeper *leader;	/* NULL: none */
	struct eng_sleeper ticker;	/* the progress thread's */
	uint64_t next_time;		/* the least of timed */
	struct vipl_list timed;

	struct vipl_nic *obj;
	struct vipl_identity ident;
	uint16_t *vi_gen;		/* ENG_VIS: last generation */
	uint32_t nvis, vi_hint, ncqs;
	struct vipl_list peers;
	struct vipl_list discs[ENG_DISC_HASH];
	struct vipl_list conns;		/* unanswered requests with an id */
	uint32_t nconns, nwaiters, conn_id;

	uint32_t *ptags;		/* ENG_PTAGS: users + 1; 0: free */
	uint16_t *ptag_gen;
	uint32_t nptags, ptag_hint;

	struct vipl_list cached;		/* VIs that may have caches */
	uint32_t nregions, region_slots, free_first, free_last;
	uint64_t region_bytes;
	struct vipl_list mem_sleepers;	/* that wait for pins, or a change, to go */

	pthread_t thread;
	uint8_t has_thread;
	uint8_t stop;
	_Atomic uint32_t tick;		/* atomic: eng_tick, a futex */
	uint64_t tick_ns;		/* constant: between looks of the progress thread */
};

/* The transport's area begins here. */
#define ENG_NIC_BYTES	((sizeof(struct eng_nic) + 63) & ~(size_t)63)

#endif /* ENG_TYPES_H */
