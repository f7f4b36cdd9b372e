// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sessions with hosts that have a key: see session.h. */

#include <linux/random.h>
#include <linux/slab.h>
#include "param.h"
#include "proto/auth.h"
#include "session.h"
#include "stats.h"
#include "vi.h"

static u64 new_nonce(void)
{
	u64 nonce;

	/* 0 says that there is no key. */
	do {
		nonce = get_random_u64();
	} while (!nonce);
	return nonce;
}

struct via_ether_secret *via_secret_new(const struct via_auth_key *key, u32 id)
{
	struct via_ether_secret *secret = kzalloc(sizeof(*secret), GFP_KERNEL);

	if (!secret)
		return NULL;
	secret->key = *key;
	secret->id = id;
	secret->nonce = new_nonce();
	spin_lock_init(&secret->lock);
	return secret;
}

void via_secret_free(struct via_ether_secret *secret)
{
	if (!secret)
		return;
	kfree_sensitive(rcu_dereference_protected(secret->cur, true));
	kfree_sensitive(rcu_dereference_protected(secret->next, true));
	kfree_sensitive(secret);
}

static void free_session(struct rcu_head *head)
{
	kfree_sensitive(container_of(head, struct via_ether_session, rcu));
}

static void retire_session(struct via_ether_session *s)
{
	if (s)
		call_rcu(&s->rcu, free_session);
}

static struct via_ether_secret *secret_of(const struct via_peer *peer)
{
	return peer ? rcu_dereference(peer->secret) : NULL;
}

struct via_ether_secret *via_secret_of(struct via_ether_nic *nic,
				       const u8 *host)
{
	if (likely(!READ_ONCE(nic->nkeyed)) || !host)
		return NULL;
	return secret_of(via_peer_find(nic, host));
}

struct via_ether_session *via_session_of(const struct via_peer *peer)
{
	const struct via_ether_secret *secret = secret_of(peer);

	return secret ? rcu_dereference(secret->cur) : NULL;
}

static struct via_auth_name name_of(const struct via_host *host, u64 epoch,
				    u64 nonce)
{
	struct via_auth_name name = {
		.addr_len = host->len,
		.epoch = epoch,
		.nonce = nonce,
	};

	memcpy(name.addr, host->addr, host->len);
	return name;
}

/* A session of this end's nonce of the moment with the end that is named. */
static struct via_ether_session *
new_session(const struct via_peer *peer, const struct via_ether_secret *secret,
	    const struct via_hello_hdr *name)
{
	struct via_ether_nic *nic = peer->nic;
	struct via_auth_name own, other;
	struct via_ether_session *s;

	s = kmalloc(sizeof(*s), GFP_ATOMIC | __GFP_NOWARN);
	if (!s)
		return NULL;
	s->epoch = name->epoch;
	s->nonce = name->nonce;
	s->own = READ_ONCE(secret->nonce);
	s->since = jiffies;
	spin_lock_init(&s->lock);
	own = name_of(&nic->host, nic->epoch, s->own);
	other = name_of(&peer->host, s->epoch, s->nonce);
	via_auth_begin(&s->auth, &secret->key, &own, &other, VIA_WIRE_VERSION);
	return s;
}

/*
 * @s is the session of all frames from here on.  It was @next, or is new.
 * False: its nonce has served for another one meanwhile, and it is not.
 */
static bool install_session(struct via_peer *peer,
			    struct via_ether_secret *secret,
			    struct via_ether_session *s)
{
	struct via_ether_session *old = NULL, *next;
	bool ok;

	spin_lock(&secret->lock);
	ok = s->own == secret->nonce;
	if (ok) {
		old = rcu_dereference_protected(secret->cur, true);
		next = rcu_dereference_protected(secret->next, true);
		rcu_assign_pointer(secret->cur, s);
		RCU_INIT_POINTER(secret->next, NULL);
		if (next != s)
			retire_session(next);
		WRITE_ONCE(secret->nonce, new_nonce());
	}
	spin_unlock(&secret->lock);
	if (!ok)
		return false;
	via_ether_count(peer->nic, SESSIONS);
	via_peer_saw_epoch(peer, s->epoch);
	retire_session(old);
	return true;
}

static bool names_session(const struct via_ether_session *s,
			  const struct via_hello_hdr *name)
{
	return s && s->epoch == name->epoch && s->nonce == name->nonce;
}

/* One that is not answered for as long as breaks a connection is over. */
static bool is_session_open(const struct via_ether_session *next)
{
	return next && time_before(jiffies, READ_ONCE(next->since) +
					    via_ether_dead());
}

u64 via_session_tell(struct via_ether_nic *nic, const u8 *host,
		     const struct via_hello_hdr *asked)
{
	const struct via_ether_secret *secret = via_secret_of(nic, host);
	const struct via_ether_session *cur;

	if (!secret)
		return 0;
	/* A copy of the request that began a session begins no other one. */
	cur = rcu_dereference(secret->cur);
	return names_session(cur, asked) ? cur->own : READ_ONCE(secret->nonce);
}

/* There is a key on one side only: the attempt ends in a timeout. */
static void log_keys(const struct via_peer *peer, const char *what)
{
	char text[VIA_HOST_TEXT];

	pr_info_ratelimited("%s: %s %s\n", peer->nic->ka->name,
			    via_host_text(text, peer->host.addr,
					  peer->host.len),
			    what);
}

enum via_session_offer via_session_propose(struct via_peer *peer,
					   const struct via_hello_hdr *told)
{
	struct via_ether_secret *secret = secret_of(peer);
	struct via_ether_session *s, *old = NULL;

	if (!secret) {
		if (told->nonce)
			log_keys(peer, "has a key for this host, which has none for it");
		return VIA_SESSION_KNOWN;
	}
	if (!told->nonce) {
		log_keys(peer, "has no key for this host, which has one for it");
		return VIA_SESSION_REFUSED;
	}
	if (names_session(rcu_dereference(secret->cur), told))
		return VIA_SESSION_REFUSED;
	s = rcu_dereference(secret->next);
	if (names_session(s, told)) {
		if (is_session_open(s))
			return VIA_SESSION_KNOWN;
		/* Its counters go on. */
		WRITE_ONCE(s->since, jiffies);
		return VIA_SESSION_NEW;
	}
	s = new_session(peer, secret, told);
	if (!s)
		return VIA_SESSION_REFUSED;
	spin_lock(&secret->lock);
	old = s;
	if (s->own == secret->nonce) {
		old = rcu_dereference_protected(secret->next, true);
		rcu_assign_pointer(secret->next, s);
	}
	spin_unlock(&secret->lock);
	retire_session(old);
	return old == s ? VIA_SESSION_REFUSED : VIA_SESSION_NEW;
}

bool via_session_choose(struct via_ether_nic *nic, const u8 *host, u8 type,
			struct via_seal *seal)
{
	const struct via_ether_secret *secret = via_secret_of(nic, host);
	struct via_ether_session *s = NULL;

	*seal = (struct via_seal) {
		.flag = VIA_WIRE_SUM,
		.len = VIA_WIRE_SEAL_LEN,
	};
	if (likely(!secret))
		return true;
	seal->keyed = true;
	seal->nonce = READ_ONCE(secret->nonce);
	/* It is for hosts without a session. */
	if (type == VIA_WIRE_CHALLENGE)
		return true;
	if (via_wire_asks(type)) {
		s = rcu_dereference(secret->next);
		if (!is_session_open(s))
			s = NULL;
	}
	if (!s)
		s = rcu_dereference(secret->cur);
	if (!s)
		return via_wire_asks(type);
	seal->flag = VIA_WIRE_AUTH;
	seal->len = VIA_WIRE_AUTH_LEN;
	seal->nonce = s->own;
	seal->session = s;
	return true;
}

enum via_auth_error via_session_take(struct via_ether_session *s,
				     const void *hdr, u32 hdr_len,
				     const struct via_auth_piece *frame, u32 n,
				     u32 len)
{
	enum via_auth_error err;
	u64 number;

	spin_lock(&s->lock);
	err = via_auth_look(&s->auth, hdr, hdr_len, &number);
	spin_unlock(&s->lock);
	if (unlikely(err))
		return err;
	err = via_auth_verify(&s->auth, hdr, hdr_len, frame, n, len);
	if (unlikely(err))
		return err;
	spin_lock(&s->lock);
	err = via_auth_take(&s->auth, number);
	spin_unlock(&s->lock);
	return err;
}

static enum via_auth_error verify_frame(struct via_ether_session *s,
					const struct via_ether_frame *f,
					const struct via_frame_hdr *h)
{
	/* Pieces of a frame by two names. */
	BUILD_BUG_ON(sizeof(struct via_auth_piece) !=
		     sizeof(struct via_ether_chunk));
	BUILD_BUG_ON(offsetof(struct via_auth_piece, len) !=
		     offsetof(struct via_ether_chunk, len));
	return via_session_take(s, f->hdr, h->hdr_len,
				(const struct via_auth_piece *)f->chunk,
				f->nchunks, h->len);
}

/* A frame that a session has not taken. */
static enum via_session_result not_taken(enum via_auth_error err)
{
	return err == VIA_AUTH_OLD ? VIA_SESSION_OLD : VIA_SESSION_FORGED;
}

/* The first frame of the other end under @next, which it proves. */
static enum via_session_result take_next(struct via_peer *peer,
					 struct via_ether_secret *secret,
					 struct via_ether_session *next)
{
	return install_session(peer, secret, next) ? VIA_SESSION_TAKEN :
						     VIA_SESSION_DROPPED;
}

bool via_session_named(const struct via_ether_secret *secret,
		       const struct via_hello_hdr *hello)
{
	return names_session(rcu_dereference(secret->cur), hello) ||
	       names_session(rcu_dereference(secret->next), hello);
}

/* A request that names neither session begins one, if it is what it says. */
static enum via_session_result begin_by(struct via_peer *peer,
					struct via_ether_secret *secret,
					const struct via_ether_frame *f,
					const struct via_frame_hdr *h,
					const struct via_hello_hdr *hello)
{
	struct via_ether_session *s = new_session(peer, secret, hello);
	enum via_auth_error err;

	if (!s)
		return VIA_SESSION_DROPPED;
	err = verify_frame(s, f, h);
	if (err == VIA_AUTH_OK && install_session(peer, secret, s))
		return VIA_SESSION_TAKEN;
	kfree_sensitive(s);
	if (err == VIA_AUTH_FORGED)
		log_keys(peer, "sends requests with a wrong tag: is its key the same?");
	return not_taken(err);
}

enum via_session_result via_session_request(struct via_peer *peer,
					    struct via_ether_secret *secret,
					    const struct via_ether_frame *f,
					    const struct via_frame_hdr *h,
					    const struct via_hello_hdr *hello,
					    bool begins)
{
	struct via_ether_session *cur = rcu_dereference(secret->cur);
	struct via_ether_session *next = rcu_dereference(secret->next);
	enum via_auth_error err = VIA_AUTH_FORGED;

	if (names_session(cur, hello)) {
		err = verify_frame(cur, f, h);
		if (err == VIA_AUTH_OK)
			return VIA_SESSION_TAKEN;
	} else if (names_session(next, hello)) {
		err = verify_frame(next, f, h);
		if (err == VIA_AUTH_OK)
			return take_next(peer, secret, next);
	} else if (begins) {
		return begin_by(peer, secret, f, h, hello);
	}
	return not_taken(err);
}

enum via_session_result via_session_frame(struct via_peer *peer,
					  struct via_ether_secret *secret,
					  const struct via_ether_frame *f,
					  const struct via_frame_hdr *h)
{
	struct via_ether_session *s = rcu_dereference(secret->cur);
	enum via_auth_error err = VIA_AUTH_FORGED;

	if (s)
		err = verify_frame(s, f, h);
	if (likely(err == VIA_AUTH_OK))
		return VIA_SESSION_TAKEN;
	s = rcu_dereference(secret->next);
	if (is_session_open(s) && verify_frame(s, f, h) == VIA_AUTH_OK)
		return take_next(peer, secret, s);
	return not_taken(err);
}
