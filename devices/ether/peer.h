/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hosts that a NIC deals with: one object for each pair of a NIC of this
 * host and the address of another one.
 *
 * A peer is found by a hash of the address, without a lock.  It is made where
 * a program of this host connects to the address, where a request of the other
 * host comes, and where root gives the host a key.  It has users: VIs with a
 * phase, requests that are not answered, DISCONNECTs that are sent again, calls
 * under way, a list of peers on which it has a key.  One without
 * users is idle: it keeps its answers and its estimates for VIA_PEER_KEPT_MS,
 * and a NIC keeps VIA_PEERS_IDLE of them, so unknown hosts can take no more memory
 * than that.  The oldest idle one goes first; one with a user never goes.
 *
 * It ends in four steps: unlinked under nic->lock; a grace period of RCU, for
 * those that found it; nothing of its own is to be stopped, since the NIC's
 * timer reaches it through lists that only peers with users are on;
 * and the memory goes.  A peer enters its list of the table once in its life,
 * so a walk under RCU stays on one list.
 */
#ifndef _VIA_PEER_H
#define _VIA_PEER_H

#include <linux/rbtree.h>
#include "proto/credit.h"
#include "proto/host.h"
#include "proto/incast.h"
#include "proto/window.h"
#include "via_ether.h"

struct via_ether_client;
struct via_ether_req;
struct via_ether_secret;
struct via_ether_vi;
struct via_reply;

#define VIA_PEER_REPLIES	16	/* answers remembered */
#define VIA_PEER_PAST_EPOCHS		4	/* epochs that are over, remembered */
#define VIA_PEER_REQS		256u	/* requests not answered */
#define VIA_PEERS_IDLE		1024u	/* of a NIC, without users */
/* Ten tries of a client that knows we are there (TRY_WAITING_MS in conn.c). */
#define VIA_PEER_KEPT_MS	10000
/*
 * Lists of the table: one peer in each on average with some thousands of
 * hosts, so that an unknown address meets one comparison of two hashes, and
 * more than three on one list of fifty.  32 KiB a NIC.  Addresses are chosen by
 * anybody, the seed of the hash is not known to them.
 */
#define VIA_PEER_BITS		12
#define VIA_PEER_END_BITS	11	/* ends of connections, 16 KiB */
#define VIA_PEER_REQ_BITS	8	/* requests, 2 KiB */
#define VIA_PEER_TIMEWAIT_BITS	10	/* 8 KiB */

/**
 * struct via_peer_reply - an answer given to an attempt of the peer
 * @vi, @cookie: the attempt
 * @type, @reason: VIA_WIRE_*, VIA_WIRE_R_*
 * @reply:	what went with it, of kmalloc(); NULL: nothing
 * @until:	jiffies: when it is forgotten
 */
struct via_peer_reply {
	u32 vi;
	u64 cookie;
	u8 type;
	u8 reason;
	struct via_reply *reply;
	unsigned long until;
};

#define VIA_PEER_DIFFERS	3u	/* HEARTBEAT_ACKs, until LIST is sent and taken */

/* Which connections of a peer are to end, or what else they are to do: bits of @ends. */
#define VIA_PEER_END_RESTARTED	0x1	/* those of another epoch */
#define VIA_PEER_END_SILENT	0x2	/* those that were not heard */
#define VIA_PEER_END_NONE	0x4	/* all: the peer has none; if they are not heard */
#define VIA_PEER_UPDATE_MTU		0x8	/* the path has another MTU: all look at it */

/**
 * struct via_peer_keepalive - do two hosts have the same connections?  (keepalive.c)
 *
 * nic->lock:
 * @sum:	of the cookies of both ends of each connection
 * @changes:	connections that have begun or ended
 * @agreed:	the last HEARTBEAT_ACK was of the same ones, and nothing has begun or
 *		ended here since
 * @check:	the peer may have others, or have lost them: ask at once
 * @nonce:	of the HEARTBEAT that is to be answered; it is another one when
 *		it has been
 * @differs:	HEARTBEAT_ACKs in a row of other connections, VIA_PEER_DIFFERS at most:
 *		it is so many, too, where nothing has begun or ended between two
 * @differs_at:	@changes at the last one
 * @list_from:	the next LIST begins at this cookie; 0: none is to be sent
 * @list_span:	and is of so many cookies at most
 * @ends:	VIA_PEER_END_*: which are to end
 * @left:	connections that are still to be looked at for that
 *
 * The timer's own:
 * @next:	jiffies of the next HEARTBEAT
 * @asked, @asked_since: HEARTBEATs sent since @last_rx had that value
 */
struct via_peer_keepalive {
	u64 sum;
	u32 changes;
	bool agreed;
	bool check;
	u64 nonce;
	u32 differs;
	u32 differs_at;
	u64 list_from;
	u64 list_span;
	u32 ends;
	u32 left;

	unsigned long next;
	unsigned long asked_since;
	u32 asked;
};

/**
 * struct via_peer_incarnation - an epoch of the peer that is over
 * @epoch:	nic->lock
 * @since:	nic->lock: jiffies
 */
struct via_peer_incarnation {
	u64 epoch;
	unsigned long since;
};

/**
 * struct via_peer_vis - VIs that deal with a peer: nic->lock
 * @conns, @n:	those that are connected to it, and how many
 * @ours:	the same by the cookie of this end
 * @theirs:	those that know the other end, by the cookie of that
 */
struct via_peer_vis {
	struct list_head conns;
	u32 n;
	struct rb_root ours;
	struct rb_root theirs;
};

/**
 * struct via_peer_timing - round trips of all VIs of the pair: @lock, which is
 * innermost; each word is also read without it
 * @rtt:	round-trip time
 * @net:	the mean of those without the waits of the peer, us; 0: none
 * @low:	samples in a row that were less than half of that
 * @at:		jiffies of the last sample: one per tick is enough
 * @known_at:	jiffies of the last one without a wait
 */
struct via_peer_timing {
	spinlock_t lock;		/* guards the five below */
	struct via_rtt rtt;
	u32 net;
	u32 low;
	unsigned long at;
	unsigned long known_at;
};

/**
 * struct via_peer - a host that a NIC deals with
 * @nic:	constant
 * @host:	constant: its address
 * @hash:	constant: of @host
 * @link:	constant: how frames get to it
 * @link_close:	constant: of the NIC, which may go before the memory does
 * @secret:	its key and sessions, NULL: it has none (RCU to read; written by
 *		the writer of the list of peers)
 * @want_key:	id of the secret that it is to have, 0: none (WRITE_ONCE(),
 *		READ_ONCE(): that writer)
 *
 * nic->lock:
 * @node:	in its list of the table (RCU to walk)
 * @users:	VIs with a phase, requests, TIME-WAIT entries, calls under way
 * @idle_link:	on the list of those without users, the oldest first
 * @idle_since:	jiffies: since when it is on it
 * @reply:	answers given lately, for those whose frame was lost
 * @next_reply: where the next one goes, modulo VIA_PEER_REPLIES
 * @nreqs:	requests of this host that are not answered
 * @vis:	VIs that deal with it
 * @ntimewait:	DISCONNECTs to be sent to it again
 * @on_link:	on the list of peers with connections or TIME-WAIT entries
 * @epoch:	of its present incarnation; 0: not known
 * @past, @next_past: epochs before that, and where the next one goes, modulo
 *		VIA_PEER_PAST_EPOCHS.  One holds for as long as a frame of it may be late
 * @keepalive:	see there
 *
 * @timing:	has its own lock
 *
 * No lock: WRITE_ONCE(), READ_ONCE()
 * @held:	frames of it that are held beyond holes, in all VIs; atomic
 * @path:	bytes behind the link header that fit on the way to it
 * @last_rx:	jiffies when it was heard last
 * @asked_us:	jiffies of its last HEARTBEAT
 * @told:	the token of this host's address that it told last; 0: none.  It
 *		is not told to another host, which could ask in this one's name
 *
 * pool_lock (share.c), inside the queue locks, nic->lock inside of it:
 * @pool:	the window of all VIs of the pair, frames, and who has how much of
 *		it; @pool.want is read without the lock
 *
 * nic->lock:
 * @visit_link:	on the list of those whose VIs are to give back credit, or to be
 *		given some that is free
 * @opening:	the end of @pool.shut
 * @incast:	what the NIC knows of it as a sender among others
 *
 * @rcu:	after its end
 */
struct via_peer {
	struct via_ether_nic *nic;
	struct via_host host;
	u32 hash;
	struct via_ether_link link;
	void (*link_close)(struct via_ether_link *link);
	struct via_ether_secret __rcu *secret;
	u32 want_key;

	struct hlist_node node;
	u32 users;
	struct list_head idle_link;
	unsigned long idle_since;
	struct via_peer_reply reply[VIA_PEER_REPLIES];
	u32 next_reply;
	u32 nreqs;
	struct via_peer_vis vis;
	u32 ntimewait;
	struct list_head on_link;
	u64 epoch;
	struct via_peer_incarnation past[VIA_PEER_PAST_EPOCHS];
	u32 next_past;
	struct via_peer_keepalive keepalive;

	atomic_t held;
	u32 path;
	unsigned long last_rx;
	unsigned long asked_us;
	u64 told;

	struct via_peer_timing timing;

	spinlock_t pool_lock;		/* guards the one below */
	struct via_pool pool;
	struct list_head visit_link;
	struct via_alarm opening;
	struct via_incast_host incast;

	struct rcu_head rcu;
};

/**
 * struct via_peers - the peers of a NIC
 * @seed:	constant: of the hashes
 *
 * nic->lock:
 * @all:	by address (RCU to walk)
 * @ends:	VIs that know the other end of their connection, by peer,
 *		remote_id and remote_cookie
 * @reqs:	requests, by peer, VI and cookie of the client
 * @idle:	peers without users, the oldest first
 * @nidle, @n:	how many are idle, and in all
 * @on, @non:	peers with connections or TIME-WAIT entries, the one to be looked at next
 *		first, and how many
 * @timewaits, @ntimewait: DISCONNECTs to be sent again, in the order of their times
 * @named:	the same by peer, dst and cookie
 * @left:	the same by peer, src and this end's cookie
 */
struct via_peers {
	u32 seed;
	struct hlist_head all[1 << VIA_PEER_BITS];
	struct hlist_head ends[1 << VIA_PEER_END_BITS];
	struct hlist_head reqs[1 << VIA_PEER_REQ_BITS];
	struct list_head idle;
	u32 nidle;
	u32 n;
	struct list_head on;
	u32 non;
	struct list_head timewaits;
	u32 ntimewait;
	struct hlist_head named[1 << VIA_PEER_TIMEWAIT_BITS];
	struct hlist_head left[1 << VIA_PEER_TIMEWAIT_BITS];
};

/* 0 or -ENOMEM.  May sleep. */
int via_peers_init(struct via_ether_nic *nic);
/* All are idle: they end.  May sleep. */
void via_peers_end(struct via_ether_nic *nic);
void via_peers_free(struct via_ether_nic *nic);
/* A job of the tick: end idle peers whose time is over. */
bool via_peers_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_peers_expire(struct via_ether_nic *nic);

/* The peer with this address, or NULL.  RCU read side. */
struct via_peer *via_peer_find(struct via_ether_nic *nic, const u8 *host);
/*
 * The same, made if it is not there, and with a user more; NULL: no memory.
 * nic->lock not held.
 */
struct via_peer *via_peer_get(struct via_ether_nic *nic, const u8 *host,
			      gfp_t gfp);
/* A user more, or less, of a peer that has one.  nic->lock held. */
void via_peer_hold(struct via_peer *peer);
void via_peer_drop(struct via_peer *peer);
/* The same without the lock.  BH off. */
void via_peer_put(struct via_peer *peer);

/*
 * A frame has proven that the peer is in @epoch.  False: that epoch
 * is over, and the frame is a late one.  Connections of the epoch before are to
 * end.  BH off, nic->lock not held.
 */
bool via_peer_saw_epoch(struct via_peer *peer, u64 epoch);

/* Connections are to be looked at: VIA_PEER_END_*.  nic->lock held. */
void via_peer_ends(struct via_peer *peer, u32 ends);

/*
 * A frame of the VI's is to be held beyond a hole; false: there is no room for it,
 * which is to be given back all the same.  It is not held any more.  rq.lock held.
 */
bool via_ether_take_room(struct via_ether_vi *ev);
void via_ether_give_room(struct via_ether_vi *ev);

/* The id of its key, 0: it has none.  RCU read side. */
u32 via_peer_key_id(const struct via_peer *peer);

/*
 * A frame to the peer was answered after @us; !@known: how long the peer waited
 * is a part of it; @asked: it was not to wait.  Any VI of the pair, BH off.
 */
void via_peer_timed(struct via_peer *peer, u32 us, bool known, bool asked);

/* A torn one, on machines of 32 bits, is as good as none. */
static inline u64 via_peer_told(const struct via_peer *peer)
{
	return READ_ONCE(peer->told);
}

static inline void via_peer_keep_token(struct via_peer *peer, u64 token)
{
	WRITE_ONCE(peer->told, token);
}

/* Retransmission timeout, in microseconds.  Any context that has the peer. */
static inline u32 via_peer_rto(const struct via_peer *peer)
{
	return READ_ONCE(peer->timing.rtt.rto);
}

/* Of an id and a cookie that an end at the peer has, or gave. */
u32 via_peer_hash(const struct via_peer *peer, u32 id, u64 cookie);

/*
 * The VI knows the other end of its connection, or forgets it.  Both queue
 * locks held; the second, and the search, with nic->lock, too.  What is found
 * is there for the caller's RCU read side, and whether it still is that end is
 * seen under a queue lock.
 */
void via_peer_add_end(struct via_ether_vi *ev);
void via_peer_del_end(struct via_ether_vi *ev);
struct via_ether_vi *via_peer_end(const struct via_peer *peer, u32 id,
				  u64 cookie);

/*
 * The connection stands, both queue locks held; or it does not, and nic->lock
 * is held.
 */
void via_peer_join(struct via_ether_vi *ev);
void via_peer_part(struct via_ether_vi *ev);
/* One TIME-WAIT entry more, or less.  nic->lock held. */
void via_peer_timewaits(struct via_peer *peer, int more);
/* The connection whose turn it is, the last one then; or NULL.  nic->lock held. */
struct via_ether_vi *via_peer_turn(struct via_peer *peer);
/*
 * The first one with a cookie of at least @from, and the one behind it: of this
 * end of connections, or of the other.  nic->lock held.
 */
struct via_ether_vi *via_peer_ours(const struct via_peer *peer, u64 from);
struct via_ether_vi *via_peer_next_ours(const struct via_ether_vi *ev);
struct via_ether_vi *via_peer_theirs(const struct via_peer *peer, u64 from);
struct via_ether_vi *via_peer_next_theirs(const struct via_ether_vi *ev);

/* The requests of the peer; nic->lock held. */
void via_peer_add_req(struct via_ether_req *req);
void via_peer_del_req(struct via_ether_req *req);
struct via_ether_req *via_peer_req(const struct via_peer *peer, u32 vi,
				   u64 cookie);

#endif /* _VIA_PEER_H */
