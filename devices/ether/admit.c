// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which frames are accepted, and which are answered: by the list of hosts, by tokens
 * of address, by sessions, and by a limit on answers to hosts that are not known.
 */

#include "../../kernel/via_conn.h"
#include "admit.h"
#include "allow.h"
#include "end.h"
#include "seal.h"
#include "session.h"
#include "stats.h"
#include "timewait.h"
#include "vi.h"
#include "xmit.h"

u64 via_ether_token_make(struct via_ether_nic *nic,
			 const struct via_token_of *of)
{
	u64 token;

	spin_lock(&nic->token_lock);
	token = via_token_make(&nic->token, ktime_get_seconds(), of);
	spin_unlock(&nic->token_lock);
	return token;
}

bool via_ether_token_holds(struct via_ether_nic *nic,
			   const struct via_token_of *of, u64 token)
{
	bool holds;

	spin_lock(&nic->token_lock);
	holds = via_token_holds(&nic->token, ktime_get_seconds(), of, token);
	spin_unlock(&nic->token_lock);
	return holds;
}

static bool may_challenge(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_hello_hdr *asked)
{
	if (via_limit_answer(&nic->limit, get_jiffies_64(), VIA_LIMIT_CHALLENGE,
			     f->src, nic->host.len, asked->epoch, f->len,
			     VIA_WIRE_HELLO_LEN + VIA_WIRE_SEAL_LEN))
		return true;
	via_ether_count(nic, UNANSWERED);
	return false;
}

static bool count_refusal(struct via_ether_nic *nic,
			  enum via_session_result result)
{
	if (result == VIA_SESSION_OLD)
		via_ether_count(nic, REPLAYED);
	else if (result == VIA_SESSION_FORGED)
		via_ether_count(nic, BAD_AUTH);
	return false;
}

/* Does the token in a request hold?  No answer. */
static bool token_holds(struct via_ether_nic *nic,
			const struct via_ether_frame *f,
			const struct via_conn_hdr *c)
{
	struct via_token_of of;

	via_ether_token_of(&of, nic, f->src, c->hello.epoch);
	return via_ether_token_holds(nic, &of, c->hello.token);
}

/*
 * A request names its session.  Where that is none of the two it may begin one,
 * if its address is proven: else anyone could have keys derived here.  And a
 * flood of them ends at the limit that CHALLENGE has.
 */
static bool check_request(struct via_peer *peer,
			  struct via_ether_secret *secret,
			  const struct via_ether_frame *f,
			  struct via_frame_hdr *h)
{
	enum via_session_result result = VIA_SESSION_FORGED;
	struct via_ether_nic *nic = peer->nic;
	struct via_conn_hdr c;
	bool named;

	if (via_wire_parse_hello(f->hdr, &c.hello)) {
		via_ether_count(nic, BAD_FIELD);
		return false;
	}
	named = via_session_named(secret, &c.hello);
	if (!named && !may_challenge(nic, f, &c.hello))
		return false;
	if (named || (c.hello.nonce && token_holds(nic, f, &c)))
		result = via_session_request(peer, secret, f, h, &c.hello,
					     !named);
	if (result == VIA_SESSION_TAKEN)
		return true;
	count_refusal(nic, result);
	if (result != VIA_SESSION_FORGED)
		return false;
	h->paid = !named;
	/* As one without: a CHALLENGE tells how to begin, and no more. */
	h->flags &= ~VIA_WIRE_AUTH;
	return true;
}

/* Is it the cookie of that VI?  What a lock guards is seen later. */
static bool names_vi(struct via_ether_nic *nic, u32 id, u64 cookie)
{
	const struct via_vi *vi = via_ether_find(nic, id);
	const struct via_ether_vi *ev;

	if (!vi)
		return false;
	ev = vi->priv;
	return READ_ONCE(ev->conn.cookie) == cookie;
}

/* The other end, a request or a goodbye that is known by its own names. */
static bool names_other(const struct via_peer *peer,
			const struct via_frame_hdr *h)
{
	bool known;

	if (h->type == VIA_WIRE_DISCONNECT_ACK)
		return via_timewait_has(peer, h);
	spin_lock(&peer->nic->lock);
	if (h->type == VIA_WIRE_CANCEL)
		known = via_peer_req(peer, h->vi, h->cookie) ||
			via_peer_end(peer, h->vi, h->cookie);
	else
		known = via_peer_end(peer, h->src, h->cookie);
	spin_unlock(&peer->nic->lock);
	return known;
}

/*
 * Does a frame name what only hosts know that have seen the wire?  One that
 * guesses gets no hash for each guess.
 */
static bool names_known(const struct via_peer *peer,
			const struct via_ether_frame *f,
			const struct via_frame_hdr *h)
{
	struct via_ether_nic *nic = peer->nic;
	struct via_conn_hdr c;

	switch (h->type) {
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
		return names_vi(nic, h->vi, h->cookie);
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_ACCEPT:
		return !via_wire_parse_conn(f->hdr, &c) &&
		       names_vi(nic, c.to, h->cookie);
	case VIA_WIRE_DISCONNECT_ACK:
	case VIA_WIRE_RESET:
	case VIA_WIRE_CANCEL:
		return names_other(peer, h);
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
	case VIA_WIRE_ACKS:
	case VIA_WIRE_LIST:
		return h->cookie == nic->epoch;
	default:
		return h->type <= VIA_WIRE_DISCONNECT &&
		       names_vi(nic, h->dst, h->cookie);
	}
}

static bool via_session_check(struct via_ether_nic *nic,
			      const struct via_ether_frame *f,
			      struct via_frame_hdr *h)
{
	struct via_peer *peer = READ_ONCE(nic->nkeyed) ?
				via_peer_find(nic, f->src) : NULL;
	struct via_ether_secret *secret = peer ? rcu_dereference(peer->secret) :
						 NULL;
	enum via_session_result result;

	if (!secret)
		return count_refusal(nic, VIA_SESSION_FORGED);
	if (unlikely(via_wire_asks(h->type)))
		return check_request(peer, secret, f, h);
	if (unlikely(!names_known(peer, f, h)) &&
	    !via_limit_answer(&nic->limit, get_jiffies_64(), VIA_LIMIT_TAG,
			      f->src, nic->host.len, 0, 0, 0)) {
		via_ether_count(nic, UNANSWERED);
		return false;
	}
	result = via_session_frame(peer, secret, f, h);
	return likely(result == VIA_SESSION_TAKEN) ||
	       count_refusal(nic, result);
}

/* What a host with a key may send before there is a session. */
static bool may_lack_auth(u8 type)
{
	return via_wire_asks(type) || type == VIA_WIRE_CHALLENGE;
}

bool via_ether_lacks_auth(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h)
{
	if (h->flags & VIA_WIRE_AUTH || may_lack_auth(h->type) ||
	    likely(!via_secret_of(nic, f->src)))
		return false;
	via_ether_count(nic, BAD_AUTH);
	return true;
}

bool via_ether_open(struct via_ether_nic *nic, const struct via_ether_frame *f,
		    struct via_frame_hdr *h)
{
	if (h->flags & VIA_WIRE_AUTH)
		return via_session_check(nic, f, h);
	if (via_ether_lacks_auth(nic, f, h))
		return false;
	/* Of requests it is looked at last: most of a flood go before. */
	return via_wire_asks(h->type) || via_ether_sum_ok(nic, f, h);
}

/*
 * What proves its address is told to a host that asks without it.  Most of a
 * flood ends at the limit, before checksum and hash.
 */
static void send_challenge(struct via_ether_nic *nic,
			   const struct via_ether_frame *f,
			   const struct via_frame_hdr *h,
			   const struct via_conn_hdr *asked,
			   const struct via_token_of *of)
{
	struct via_wire_hello hello = {};
	struct via_xmit c = {
		.host = f->src,
		.dst = asked->vi,
		.cookie = asked->sender_cookie,
		.size = sizeof(hello),
		.type = VIA_WIRE_CHALLENGE,
	};

	if (!h->paid && !may_challenge(nic, f, &asked->hello))
		return;
	if (!via_ether_sum_ok(nic, f, h))
		return;
	via_ether_fill_hello(&hello, nic);
	hello.token = cpu_to_be64(via_ether_token_make(nic, of));
	hello.nonce = cpu_to_be64(via_session_tell(nic, f->src,
						   &asked->hello));
	via_ether_xmit(nic, &c, &hello);
}

/* An authenticator proves more than a token, which proves nothing without. */
bool via_ether_validated(struct via_ether_nic *nic,
			 const struct via_ether_frame *f,
		      const struct via_frame_hdr *h,
		      const struct via_conn_hdr *c)
{
	struct via_token_of of;

	if (h->flags & VIA_WIRE_AUTH)
		return true;
	via_ether_token_of(&of, nic, f->src, c->hello.epoch);
	if (likely(!via_secret_of(nic, f->src)) &&
	    via_ether_token_holds(nic, &of, c->hello.token))
		return via_ether_sum_ok(nic, f, h);
	via_ether_count(nic, UNVALIDATED);
	send_challenge(nic, f, h, c, &of);
	return false;
}

/* As it is on the network, padding included. */
static u32 on_wire(const struct via_ether_nic *nic, u32 len)
{
	return max(len, nic->frame_min);
}

bool via_ether_may_answer(struct via_ether_nic *nic, const u8 *host,
			  enum via_limit_kind kind, u32 asked, u32 answer)
{
	/* It would be a broadcast. */
	if (unlikely(!nic->ops->host_valid(nic, host)))
		return false;
	answer += via_secret_of(nic, host) ? VIA_WIRE_AUTH_LEN :
					    VIA_WIRE_SEAL_LEN;
	if (via_limit_answer(&nic->limit, get_jiffies_64(), kind, host,
			     nic->host.len, 0, on_wire(nic, asked),
			     on_wire(nic, answer)))
		return true;
	via_ether_count(nic, UNANSWERED);
	return false;
}

void via_ether_not_allowed(struct via_ether_nic *nic, const u8 *host)
{
	via_ether_count(nic, NOT_ALLOWED);
	via_nic_peer_event(nic->ka, host, VIA_NL_PEER_DENIED);
}

/*
 * No VI here has that id and cookie; @seq is of the frame that named them,
 * @asked its bytes.
 */
void via_ether_send_reset(struct via_ether_nic *nic, const u8 *host, u32 id,
			  u64 cookie, u32 seq, u32 asked)
{
	struct via_wire_end e = {
		.seq = cpu_to_be32(seq),
		.src = cpu_to_be32(id),
	};
	struct via_xmit c = {
		.host = host,
		.cookie = cookie,
		.size = sizeof(e),
		.type = VIA_WIRE_RESET,
	};

	if (via_ether_may_answer(nic, host, VIA_LIMIT_ANSWER, asked,
				 VIA_WIRE_END_LEN) &&
	    via_ether_xmit(nic, &c, &e))
		via_ether_count(nic, RESETS_OUT);
}

/*
 * To the sender of the DISCONNECT @h: there is no such connection here, any
 * more (@known).
 */
void via_ether_send_disconnect_ack(struct via_ether_nic *nic, const u8 *host,
				   const struct via_frame_hdr *h, u32 asked,
				   bool known)
{
	struct via_wire_end e = {
		.seq = cpu_to_be32(h->seq),
		.src = cpu_to_be32(h->dst),
	};
	struct via_xmit c = {
		.host = host,
		.cookie = h->cookie,
		.size = sizeof(e),
		.type = VIA_WIRE_DISCONNECT_ACK,
	};

	if (known || via_ether_may_answer(nic, host, VIA_LIMIT_ANSWER,
					  asked, VIA_WIRE_END_LEN))
		via_ether_xmit(nic, &c, &e);
}

/*
 * To a frame of another version, which has at least as many bytes as the
 * answer: what is spoken here.
 */
void via_ether_send_version(struct via_ether_nic *nic,
			    const struct via_ether_frame *f)
{
	const struct via_wire *w = f->hdr;
	char text[VIA_HOST_TEXT];
	struct via_xmit c = {
		.host = f->src,
		.type = VIA_WIRE_VERSIONS,
		.flags = VIA_WIRE_VERSION_MIN,
		.marks = w->version,
		.plain = true,
	};
	__be32 first;
	__be64 second;

	/* The quote lies where other frames have these two. */
	memcpy(&first, f->hdr, sizeof(first));
	memcpy(&second, f->hdr + sizeof(first), sizeof(second));
	c.dst = be32_to_cpu(first);
	c.cookie = be64_to_cpu(second);
	if (!via_ether_allowed(nic, f->src) ||
	    !via_ether_may_answer(nic, f->src, VIA_LIMIT_ANSWER, f->len,
				  VIA_WIRE_VERSION_LEN))
		return;
	pr_info_ratelimited("%s: %s speaks version %u of the wire, this host %u\n",
			    nic->ka->name,
			    via_host_text(text, f->src, nic->host.len),
			    w->version, VIA_WIRE_VERSION);
	if (via_ether_xmit(nic, &c, f->hdr))
		via_ether_count(nic, VERSIONS_OUT);
}

/* It has ended here, and the peer has not answered that: it is told again, and why. */
static bool tell_again(struct via_ether_nic *nic, const struct via_frame_hdr *h,
		       const struct via_ether_frame *f)
{
	struct via_end_frame end;
	struct via_peer *peer = via_timewait_left(nic, f->src, h, &end);

	if (likely(!peer))
		return false;
	if (via_ether_may_answer(nic, f->src, VIA_LIMIT_ANSWER, f->len,
				 VIA_WIRE_END_LEN))
		via_ether_send_disconnect(peer, &end);
	return true;
}

void via_ether_reset_unknown(struct via_ether_nic *nic,
			     const struct via_frame_hdr *h,
			     const struct via_ether_frame *f, bool no_vi)
{
	if (no_vi)
		via_ether_count(nic, NO_VI);
	else
		via_ether_count(nic, COOKIE);
	if (via_ether_lacks_auth(nic, f, h))
		return;
	/* An answer that names no end would be malformed. */
	if (!h->dst || !h->cookie || !via_ether_allowed(nic, f->src))
		return;
	if (tell_again(nic, h, f))
		return;
	via_ether_send_reset(nic, f->src, h->dst, h->cookie,
			     h->type == VIA_WIRE_ACK ? h->ack : h->seq, f->len);
}
