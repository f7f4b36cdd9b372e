/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sessions with hosts that have a key in common with this one: docs/reference/wire.md,
 * "Authenticator".
 *
 * A host with a key has a peer (peer.h) as long as it is on the list of peers,
 * and the peer has a secret: the key, and two sessions at most.  @cur is that
 * of all frames.  @next is proposed: a CHALLENGE has told the other end's name,
 * the request is sent under it, and the first frame of the other end under it
 * makes it @cur.  The end that is asked learns the name from the request.
 *
 * Each end names itself by its epoch and by a nonce that it uses in one session
 * only.  So an old request begins no session, and no counter comes again under
 * its key.  A session whose other end has another epoch ends the connections
 * of that host: it was started anew.  One with the same epoch ends none.
 */
#ifndef _VIA_SESSION_H
#define _VIA_SESSION_H

#include <linux/spinlock.h>
#include "proto/auth.h"

struct via_ether_frame;
struct via_ether_nic;
struct via_frame_hdr;
struct via_hello_hdr;
struct via_peer;

/**
 * struct via_ether_session - one of two hosts
 * @auth:	keys and counters
 * @lock:	guards the numbers of @auth.  Bottom halves are off: frames come in
 *		softirqs or in traps that poll, two of one peer's on two CPUs
 *		at most when the interrupt moves, so it is not contended.  It is
 *		not held over a hash
 * @epoch, @nonce: constant: name of the other end
 * @own:	constant: nonce of this one
 * @since:	jiffies when it was proposed last (WRITE_ONCE(), READ_ONCE())
 * @rcu:	after its end
 */
struct via_ether_session {
	struct via_auth_session auth;
	spinlock_t lock;
	u64 epoch;
	u64 nonce;
	u64 own;
	unsigned long since;
	struct rcu_head rcu;
};

/**
 * struct via_ether_secret - what a peer with a key has
 * @key:	constant
 * @id:		constant: of the NIC's secrets, not 0
 * @lock:	guards what follows; nothing is taken inside it
 * @nonce:	this end's in the next session (READ_ONCE() without the lock)
 * @cur:	NULL: none yet (RCU to read)
 * @next:	NULL: none is proposed (RCU to read)
 */
struct via_ether_secret {
	struct via_auth_key key;
	u32 id;
	spinlock_t lock;
	u64 nonce;
	struct via_ether_session __rcu *cur;
	struct via_ether_session __rcu *next;
};

/* What a CHALLENGE says to the attempt that it names. */
enum via_session_offer {
	VIA_SESSION_REFUSED,		/* nothing: the request is not repeated */
	VIA_SESSION_KNOWN,		/* its token, and no session */
	VIA_SESSION_NEW,		/* a session: repeat the request under it */
};

/* How a frame is sealed. */
struct via_seal {
	u8 flag;			/* of VIA_WIRE_SEALS, or 0 */
	u8 len;				/* bytes behind the headers */
	bool keyed;			/* the host has a key */
	u64 nonce;			/* to be told in a hello */
	struct via_ether_session *session;
};

/* Process context: with @key, or NULL: no memory. */
struct via_ether_secret *via_secret_new(const struct via_auth_key *key, u32 id);
/* No reader is left.  NULL is none. */
void via_secret_free(struct via_ether_secret *secret);

/* All of the following: BH off, RCU read side. */

/* The secret of the host with this address; NULL: it has no key. */
struct via_ether_secret *via_secret_of(struct via_ether_nic *nic,
				       const u8 *host);
/* The nonce for a CHALLENGE to the sender of a request; 0: it has no key. */
u64 via_session_tell(struct via_ether_nic *nic, const u8 *host,
		     const struct via_hello_hdr *asked);
/* Such a CHALLENGE, for an attempt of this host.  Queue locks may be held. */
enum via_session_offer via_session_propose(struct via_peer *peer,
					   const struct via_hello_hdr *told);
/*
 * How is a frame of @type to that address sealed?  False: it cannot be, there
 * is no session yet.
 */
bool via_session_choose(struct via_ether_nic *nic, const u8 *host, u8 type,
			struct via_seal *seal);
/*
 * Is a frame of the session, and new?  Then its number is taken: via_auth_look(),
 * via_auth_verify(), via_auth_take().
 */
enum via_auth_error via_session_take(struct via_ether_session *s,
				     const void *hdr, u32 hdr_len,
				     const struct via_auth_piece *frame, u32 n,
				     u32 len);
/* The session for a frame with data to a peer; NULL: none. */
struct via_ether_session *via_session_of(const struct via_peer *peer);

/* What a session says to a frame with an authenticator. */
enum via_session_result {
	VIA_SESSION_TAKEN,		/* it is of the session, and new */
	VIA_SESSION_OLD,		/* its number came before */
	VIA_SESSION_FORGED,		/* it is not of the session */
	VIA_SESSION_DROPPED,		/* no memory, or its nonce has served */
};

/* Does a request name one of the two sessions? */
bool via_session_named(const struct via_ether_secret *secret,
		       const struct via_hello_hdr *hello);
/* A request of the peer.  @begins: if it names neither, it may begin one. */
enum via_session_result via_session_request(struct via_peer *peer,
					    struct via_ether_secret *secret,
					    const struct via_ether_frame *f,
					    const struct via_frame_hdr *h,
					    const struct via_hello_hdr *hello,
					    bool begins);
/* Any other frame of the peer. */
enum via_session_result via_session_frame(struct via_peer *peer,
					  struct via_ether_secret *secret,
					  const struct via_ether_frame *f,
					  const struct via_frame_hdr *h);

#endif /* _VIA_SESSION_H */
