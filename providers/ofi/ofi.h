/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OFI_H
#define OFI_H

/*
 * ofi: VIA over libfabric. The engine (vipl/engine.h) is VIA, a link
 * (providers/link) is how NIC handles shake hands and how the end of one is
 * noticed, and an endpoint of libfabric (fab.h) carries packets and pulls.
 *
 * Packets are messages of libfabric with a header (struct ofi_head) that says
 * which peer of the receiver's it is from; a nonce that the receiver chose, and
 * that only its peer was told, shows that it is. A receiver grants each peer a
 * number of messages (credits), and has a buffer for each of them.
 *
 * The end of a peer. An orderly one says DISCONNECT after its last packet and
 * waits for DISCONNECT_ACK, so that what it sent is taken before its sockets
 * close. The end of the control socket is the end of the peer: what its process
 * has sent and has arrived is taken (OFI_DRAIN_NS), its connection is closed,
 * which ends pulls from it, and then the engine is told.
 *
 * Locks: everything is under the engine lock. The call guard, inside of it, is
 * held where libfabric is called: exit() takes the guards for good, since
 * libfabric's destructors must not meet threads that still use it, and fork()
 * holds them, so that a child's copy is of a quiet moment.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <vipl/engine.h>

#include "../link/link.h"
#include "addr.h"
#include "fab.h"
#include "device.h"

#define OFI_EAGER	8192		/* payload bytes of a packet */
#define OFI_VERSION	1		/* of the hello and of messages */
#define OFI_GRANT	64		/* messages that a peer may send */
#define OFI_GRANT_MIN	8		/* where there are many peers */
#define OFI_RESERVE	6		/* buffers for control messages */
#define OFI_READS	16		/* reads under way from one peer */
#define OFI_READ_MAX	(128u << 10)	/* bytes of one */
#define OFI_READS_IDLE	16		/* with buffers that are kept */

#define OFI_DRAIN_NS	50000000u	/* what a dead peer has sent comes */
#define OFI_DISCONNECT_NS	500000000u	/* an orderly end, at most */
#define OFI_FLUSH_NS	1000000000u	/* reads of a closed connection end */
#define OFI_STUCK_NS	10000000000u	/* libfabric says EAGAIN that long */
#define OFI_FRESH_NS	2000000000u	/* libfabric connects within it */
#define OFI_NAP_NS	1000000u	/* sleep where time has to be looked at */

enum ofi_type {
	OFI_PACKET = 1,			/* the engine's; takes a credit */
	OFI_CREDIT,			/* nothing but credits */
	OFI_DISCONNECT,			/* no more packets */
	OFI_DISCONNECT_ACK,		/* all of them have been taken */
};

/* How a message begins; host byte order, as the engine's header. */
struct ofi_head {
	uint64_t nonce;			/* the receiver's */
	uint32_t peer;			/* the receiver's index of the sender */
	uint16_t credits;		/* given back */
	uint8_t type;			/* enum ofi_type */
	uint8_t zero;
};

enum ofi_state {
	OFI_HANDSHAKE,			/* hello is on its way */
	OFI_UP,
	OFI_DISCONNECTING,		/* lost; the engine is to be told */
	OFI_GONE,			/* told */
};

/* A peer: the engine's private area of it. */
struct ofi_peer {
	struct eng_peer *eng;
	struct ofi_nic *on;
	struct link_peer *lp;		/* NULL: none any more */
	enum ofi_state state;
	struct ofi_host host;		/* that programs know it by */
	fi_addr_t to;			/* FI_ADDR_UNSPEC: none */
	uint32_t index;			/* of on->peer[] */
	uint32_t theirs;		/* index there */
	uint64_t nonce;			/* that its messages carry */
	uint64_t their_nonce;		/* that ours carry */
	uint16_t grant;			/* messages that it may send */
	uint16_t credits;		/* messages that we may send */
	uint16_t their_grant;		/* credits at first */
	uint16_t owed;			/* taken and not given back */
	uint8_t wants_room;		/* the engine waits for eng_room() */
	uint8_t disconnected;		/* DISCONNECT has come */
	uint8_t disconnect_acked;	/* DISCONNECT_ACK has come */
	uint8_t send_ack;		/* DISCONNECT_ACK is to be sent */
	/*
	 * One end makes libfabric's connection, the one that began: over verbs
	 * both would be refused. The other sends nothing until it is heard.
	 */
	uint8_t hail;			/* it is yet to be told of us */
	uint8_t heard;			/* we may send */
	uint8_t due;			/* it is on on->due */
	int err;			/* DISCONNECTING: what for */
	uint64_t until;			/* DISCONNECTING: ns, when it is told */
	uint64_t flushed;		/* ns, when reads are given up */
	uint64_t stuck;			/* ns since EAGAIN, 0: not */
	uint32_t reads;			/* under way */
	struct ofi_peer *next_due;
};

/* A pull, and how far it has come. */
struct ofi_pull {
	struct ofi_pull *next;
	struct ofi_peer *peer;		/* NULL: it has been released */
	struct eng_pull *pull;		/* NULL: is not reported any more */
	uint32_t src, dst;		/* where the next read begins */
	uint64_t src_at, dst_at;	/* bytes into those */
	uint64_t left;			/* bytes not asked for yet */
	uint32_t reads;			/* under way */
	uint8_t queued;			/* it is on ofi_nic.pulls */
	int err;
};

/*
 * libfabric would write into the program's memory as if that were there: what
 * it reads comes into a buffer of ours, and is copied in a way that fails.
 */
struct ofi_read {
	struct fab_read fab;
	struct ofi_pull *of;		/* NULL: not in use */
	void *to;			/* the program's */
	size_t len;			/* bytes */
	uint8_t *buf;			/* OFI_READ_MAX, or NULL */
	struct ofi_read *next;		/* of those not in use */
	struct ofi_read *all;		/* the next of all */
};

struct ofi_mrs;

struct ofi_nic {
	struct eng_nic *eng;
	struct ofi_nic *next;		/* of all; ofi_list_lock */
	pthread_mutex_t guard;		/* of calls into libfabric */
	uint8_t guarded;		/* the call guard exists */
	uint8_t open;			/* fab and link are there */
	struct ofi_device device;
	struct link *link;
	struct link_conf conf;		/* the link's */
	char host_name[VIPL_NAME_MAX + 1];
	struct fab fab;
	struct ofi_host host;		/* how other hosts know this one */
	uint16_t port;			/* at which it listens */

	struct ofi_peer **peer;		/* by index; NULL: free */
	uint32_t peers;			/* entries of peer[] */
	uint32_t count;			/* that are there */
	uint32_t max;			/* peers at once */
	uint32_t next_index;		/* where to look for a free one */
	struct ofi_peer *due;		/* to be looked after */

	struct ofi_pull *pulls, **pulls_tail;	/* not all asked for */
	struct ofi_read *idle_reads, *reads;
	uint32_t idle_bufs;		/* of idle_reads */
	struct ofi_mrs *mrs;		/* exported ranges, by key */

	uint32_t spins;			/* of progress since the link's last */
	uint64_t fresh;			/* ns, end of making connections; or 0 */
	_Atomic uint64_t nap;		/* ns that a sleep may take at most */
};

extern const struct vipl_host *ofi_host;

static inline struct ofi_nic *ofi_nic_of(struct eng_nic *nic)
{
	return eng_nic_priv(nic);
}

static inline struct ofi_peer *ofi_peer_of(struct eng_peer *peer)
{
	return eng_peer_priv(peer);
}

/* The family of addresses that can be reached; AF_UNSPEC: all. */
static inline int ofi_family(const struct ofi_nic *n)
{
	if (n->device.bound)
		return n->host.version == 4 ? AF_INET : AF_INET6;
	return n->device.only4 ? AF_INET : AF_UNSPEC;
}

uint64_t ofi_now(void);			/* ns, monotonic */
void ofi_random(void *buf, size_t len);

/* guard.c: may libfabric be called? 1: the call guard is held. */
int ofi_enter(struct ofi_nic *n);
void ofi_leave(struct ofi_nic *n);
int ofi_guard_open(struct ofi_nic *n);
void ofi_guard_close(struct ofi_nic *n);
int ofi_guard_watch(void);
/* The process exits: its threads have nothing to do any more. */
int ofi_exiting(void);

/* peer.c */
extern const struct link_ops ofi_link_ops;
int ofi_handshake(struct eng_peer *peer, const struct vipl_addr *remote);
void ofi_part(struct eng_peer *peer);
void ofi_peer_release(struct eng_peer *peer);
/* The peer is lost; the engine hears of it when it has been drained. */
void ofi_lose(struct ofi_peer *p, int err);
/* Tell the engine of peers whose time has come. */
void ofi_disconnecting(struct ofi_peer *p, uint64_t now);

/* packet.c */
int ofi_xmit(struct eng_peer *peer, const struct eng_header *h,
	     const struct iovec *payload, unsigned int n);
void ofi_message(void *nic, const uint8_t *data, size_t len);
void ofi_send_failed(void *nic, uint64_t owner, int err);
/* Send one that is no packet: 0 or an errno. */
int ofi_control(struct ofi_peer *p, enum ofi_type type);
/* The hello has come: what came before it is the engine's now. */
/* The peer has something to be done after this round of progress. */
void ofi_due(struct ofi_peer *p);
/* Do it: outside of anything that libfabric calls. */
void ofi_chores(struct ofi_nic *n);

/* pull.c */
int ofi_pull_start(struct eng_peer *peer, struct eng_pull *pull);
void ofi_pulls(struct ofi_nic *n);
void ofi_read_done(void *nic, struct fab_read *read, int err);
/* Pulls from the peer are not reported any more, and no read begins. */
void ofi_pulls_forget(struct ofi_peer *p);
/* After that: none of them refers to the peer any more. */
void ofi_pulls_orphan(struct ofi_peer *p);
void ofi_pulls_init(struct ofi_nic *n);
void ofi_pulls_free(struct ofi_nic *n);
int ofi_export_mem(struct eng_peer *peer, void *region, const void *addr,
		   size_t len, struct eng_src *src);
void ofi_unexport_mem(struct eng_peer *peer, const struct eng_src *src);

/* nic.c */
extern const struct eng_transport ofi_transport;
int ofi_progress(struct eng_nic *nic, unsigned int budget);

#endif /* OFI_H */
