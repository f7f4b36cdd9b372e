// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The state machine of a VI, row by row, and the races of its events:
 * section 5.
 */
#include "meet.h"
#include <string.h>

#define ROUNDS 10	/* of a race */

struct view {
	VIP_VI_STATE state;
	VIP_BOOLEAN send_empty, recv_empty;
	VIP_VI_ATTRIBUTES attr;
};

static struct view look(VIP_VI_HANDLE vi)
{
	struct view v = { 99, 7, 7, { 0 } };

	CHECK_RC(VipQueryVi(vi, &v.state, &v.attr, &v.send_empty,
			    &v.recv_empty), VIP_SUCCESS);
	return v;
}

static void check_view(VIP_VI_HANDLE vi, VIP_VI_STATE state,
		       VIP_BOOLEAN recv_empty)
{
	struct view v = look(vi);

	CHECK_EQ(v.state, state);
	CHECK_EQ(v.send_empty, VIP_TRUE);
	CHECK_EQ(v.recv_empty, recv_empty);
	CHECK_EQ(v.attr.ReliabilityLevel, env.level);
	CHECK_EQ(v.attr.MaxTransferSize, env.nic.attr.MaxTransferSize);
}

static void post_recv(VIP_VI_HANDLE vi, unsigned int at, VIP_DESCRIPTOR **d)
{
	struct xfer x = our_buf(at * 200, 100, 1);

	*d = vi_post(vi, RECVQ, &x);
}

static void check_flushed(VIP_VI_HANDLE vi, enum queue q, VIP_DESCRIPTOR *d)
{
	struct done r = poll_done(vi, q);

	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == d);
	CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
		 VIP_STATUS_DESC_FLUSHED_ERROR);
}

static void check_empty(VIP_VI_HANDLE vi)
{
	enum queue q;

	for (q = SENDQ; q <= RECVQ; q++) {
		CHECK_NONE(poll_done(vi, q), VIP_DESCRIPTOR_ERROR);
	}
}

static void idle(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct xfer x = our_buf(0, 10, 1);
	VIP_DESCRIPTOR *d[2];
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	check_view(vi, VIP_STATE_IDLE, VIP_TRUE);
	CHECK_RC(nic_post(&env.nic, vi, SENDQ, &x, NULL), VIP_INVALID_STATE);
	check_empty(vi);
	post_recv(vi, 0, &d[0]);
	post_recv(vi, 1, &d[1]);
	check_view(vi, VIP_STATE_IDLE, VIP_FALSE);
	CHECK_RC(poll_done(vi, RECVQ).rc, VIP_NOT_DONE);
	/* Disconnecting what is not connected gives the descriptors back. */
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	check_flushed(vi, RECVQ, d[0]);
	check_flushed(vi, RECVQ, d[1]);
	check_view(vi, VIP_STATE_IDLE, VIP_TRUE);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	check_empty(vi);
	CHECK_EQ(nic_errors(&env.nic, vi, VIP_ERROR_CONN_LOST), 0);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* Every way out of Pending, and what becomes of a posted receive. */
static void pending(void)
{
	struct meeting m = new_meeting();
	struct xfer tx = peer_buf(0, 60, 1);
	struct ctl_msg c;
	VIP_DESCRIPTOR *d;
	uint64_t start;
	struct asker k;
	struct pair p;
	struct view v;

	pair_create(&p, NULL);
	post_recv(p.vi, 0, &d);

	about("no match");
	CHECK_RC(request(p.vi, &m.theirs, LONG_MS), VIP_NO_MATCH);
	check_view(p.vi, VIP_STATE_IDLE, VIP_FALSE);
	about("reject");
	c = ask_pending(&k, p.vi, LONG_MS);
	check_view(p.vi, VIP_STATE_CONNECT_PENDING, VIP_FALSE);
	CHECK_RC(peer_reject(c.obj), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_REJECT);
	check_view(p.vi, VIP_STATE_IDLE, VIP_FALSE);
	about("time-out");
	start = now_ms();
	REQUIRE_RC(meet(p.vi, &m, SHORT_MS), VIP_SUCCESS);
	v = look(p.vi);
	/* The time may be over already, where we have not been run. */
	if (now_ms() - start < SHORT_MS)
		CHECK_EQ(v.state, VIP_STATE_CONNECT_PENDING);
	CHECK_EQ(v.recv_empty, VIP_FALSE);
	CHECK_RC(met(p.vi, true), VIP_TIMEOUT);
	check_view(p.vi, VIP_STATE_IDLE, VIP_FALSE);
	about("disconnect");
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	check_flushed(p.vi, RECVQ, d);
	check_view(p.vi, VIP_STATE_IDLE, VIP_TRUE);
	about("connected");
	post_recv(p.vi, 1, &d);
	c = ask_pending(&k, p.vi, LONG_MS);
	CHECK_RC(peer_accept(c.obj, p.pvi), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_SUCCESS);
	check_view(p.vi, VIP_STATE_CONNECTED, VIP_FALSE);
	CHECK(one_arrives(&p, &tx).d == d);
	pair_close(&p);
}

static void connected(void)
{
	struct meeting m = new_meeting();
	VIP_DESCRIPTOR *d[3];
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	check_view(p.vi, VIP_STATE_CONNECTED, VIP_TRUE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_INVALID_STATE);
	CHECK_RC(meet(p.vi, &m, 100), VIP_INVALID_STATE);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	for (i = 0; i < 3; i++)
		post_recv(p.vi, i, &d[i]);
	check_view(p.vi, VIP_STATE_CONNECTED, VIP_FALSE);
	/* Nothing of what was refused has changed anything. */
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_CONNECTED);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	for (i = 0; i < 3; i++)
		check_flushed(p.vi, RECVQ, d[i]);
	check_view(p.vi, VIP_STATE_IDLE, VIP_TRUE);
	check_empty(p.vi);
	CHECK_PEER_STATE(p.pvi, VIP_STATE_ERROR);
	peer_disconnect(p.pvi);
	pair_meet(&p);
	check_alive(&p);
	pair_close(&p);
}

static void error(void)
{
	struct meeting m = new_meeting();
	struct xfer x = our_buf(5000, 10, 1);
	VIP_DESCRIPTOR *d[2], *extra;
	struct pair p;
	enum queue q;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 2; i++)
		post_recv(p.vi, i, &d[i]);
	peer_disconnect(p.pvi);
	CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, 1);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	for (i = 0; i < 2; i++)
		check_flushed(p.vi, RECVQ, d[i]);
	check_view(p.vi, VIP_STATE_ERROR, VIP_TRUE);
	for (q = SENDQ; q <= RECVQ; q++) {
		extra = pair_post(&p, q, &x);
		check_flushed(p.vi, q, extra);
	}
	CHECK_RC(request(p.vi, &m.theirs, 100), VIP_INVALID_STATE);
	CHECK_RC(meet(p.vi, &m, 100), VIP_INVALID_STATE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_INVALID_STATE);
	check_view(p.vi, VIP_STATE_ERROR, VIP_TRUE);
	/* Not drained before it: the rest is flushed, nothing twice. */
	extra = pair_post(&p, RECVQ, &x);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	check_flushed(p.vi, RECVQ, extra);
	check_empty(p.vi);
	check_view(p.vi, VIP_STATE_IDLE, VIP_TRUE);
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 1);
	peer_disconnect(p.pvi);
	pair_connect(&p);
	check_alive(&p);
	pair_close(&p);
}

/*
 * After a race the two ends agree within bounded time: both Connected, or
 * neither.  Then both are made Idle.
 */
static void agree(struct pair *p)
{
	uint64_t end = now_ms() + 2 * LONG_MS;
	bool ours, theirs;

	do {
		ours = vi_state(p->vi) == VIP_STATE_CONNECTED;
		theirs = peer_state(p->pvi) == VIP_STATE_CONNECTED;
		if (ours == theirs)
			break;
		pause_ms(1);
	} while (now_ms() < end);
	CHECK_EQ(ours, theirs);
	if (ours)
		check_alive(p);
	pair_part(p);
	CHECK_EQ(vi_state(p->vi), VIP_STATE_IDLE);
	CHECK_EQ(peer_state(p->pvi), VIP_STATE_IDLE);
	check_empty(p->vi);
}

/*
 * The peer waits for a request for a while, and accepts it.  Where its thread
 * or ours is not run for that long, they miss one another.
 */
#define LISTEN_MS (10 * SHORT_MS)

static void listen_briefly(unsigned int pvi, const struct disc *d)
{
	struct ctl_msg m = { .cmd = P_LISTEN, .vi = pvi,
			     .timeout = LISTEN_MS };

	memcpy(m.disc, d->bytes, d->len);
	m.disc_len = d->len;
	peer_spawn(m, 0);
}

/* A disconnect against one's own request, from both sides of it in time. */
static void race_request(void)
{
	VIP_DESCRIPTOR *d;
	struct asker k;
	struct disc disc;
	struct done r;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < ROUNDS; i++) {
		about("round %u", i);
		disc = new_disc();
		post_recv(p.vi, 0, &d);
		listen_briefly(p.pvi, &disc);
		ask_briefly(&k, p.vi, &disc, SHORT_MS, LISTEN_MS);
		if (i & 1)
			peer_state(p.pvi);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		r = poll_done(p.vi, RECVQ);
		CHECK(r.d == d && (r.status & VIP_STATUS_DESC_FLUSHED_ERROR));
		ask_join(&k);
		CHECK_RC_ANY(k.rc, VIP_SUCCESS, VIP_INVALID_STATE,
			     VIP_TIMEOUT, VIP_NO_MATCH);
		/* It may be waiting yet, for a client that has gone. */
		if (k.rc != VIP_SUCCESS)
			request(p.vi, &disc, SHORT_MS);
		peer_join(0);
		agree(&p);
	}
	pair_close(&p);
}

/* An accept against the end of the client's patience. */
static void race_accept(void)
{
	struct disc disc;
	struct asker k;
	struct ctl_msg c;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < ROUNDS; i++) {
		about("round %u", i);
		disc = new_disc();
		listen_briefly(p.pvi, &disc);
		ask_briefly(&k, p.vi, &disc, 1 + i % 5, LISTEN_MS);
		ask_join(&k);
		/* Never REJECT: no server has rejected. */
		CHECK_RC_ANY(k.rc, VIP_SUCCESS, VIP_TIMEOUT, VIP_NO_MATCH);
		/* One that came too early for the server: for it to end. */
		if (k.rc != VIP_SUCCESS)
			request(p.vi, &disc, SHORT_MS);
		c = peer_join(0);
		CHECK_RC_ANY(c.rc, VIP_SUCCESS, VIP_TIMEOUT);
		if (c.rc == VIP_SUCCESS)
			CHECK_RC_ANY(c.rc2, VIP_SUCCESS, VIP_TIMEOUT);
		agree(&p);
	}
	pair_close(&p);
}

/* Destroyed with frames for it on their way; the next VI is not hit. */
static void race_destroy(void)
{
	struct xfer tx = peer_buf(0, 5000, 1), rx;
	struct pair p;
	unsigned int i, j;

	for (i = 0; i < ROUNDS / 2; i++) {
		about("round %u", i);
		pair_open(&p, NULL);
		for (j = 0; j < 8; j++) {
			rx = our_buf(j * 6000, 5000, 1);
			pair_post(&p, RECVQ, &rx);
		}
		peer_spawn((struct ctl_msg){ .cmd = P_POST, .vi = p.pvi,
					     .queue = SENDQ, .x = tx,
					     .count = 6 }, 0);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
		CHECK_INVALID(VipDestroyVi(p.vi));
		peer_join(0);
		CHECK_PEER_STATE(p.pvi, VIP_STATE_ERROR);
		peer_disconnect(p.pvi);
		REQUIRE_RC(VipCreateVi(env.nic.h, &p.attr, NULL, NULL, &p.vi),
			   VIP_SUCCESS);
		peer_drain(p.pvi, SENDQ);
		pair_meet(&p);
		check_alive(&p);
		pair_close(&p);
	}
}

/* Four that look for one another at once: two pairs, in either way. */
static void race_peers(void)
{
	struct meeting m;
	struct pair a, b;
	unsigned int i, lost;
	uint64_t end;

	pair_create(&a, NULL);
	pair_create(&b, NULL);
	for (i = 0; i < ROUNDS; i++) {
		about("round %u", i);
		m = new_meeting();
		peer_meet_spawn(a.pvi, &m, LONG_MS, 0);
		peer_meet_spawn(b.pvi, &m, LONG_MS, 1);
		REQUIRE_RC(meet(a.vi, &m, LONG_MS), VIP_SUCCESS);
		REQUIRE_RC(meet(b.vi, &m, LONG_MS), VIP_SUCCESS);
		CHECK_RC(met(a.vi, true), VIP_SUCCESS);
		CHECK_RC(met(b.vi, true), VIP_SUCCESS);
		CHECK_RC(peer_join(0).rc2, VIP_SUCCESS);
		CHECK_RC(peer_join(1).rc2, VIP_SUCCESS);
		/* One ends: of the others exactly one has lost its peer. */
		CHECK_RC(VipDisconnect(a.vi), VIP_SUCCESS);
		end = now_ms() + LONG_MS;
		do {
			lost = (peer_state(a.pvi) == VIP_STATE_ERROR) +
			       (peer_state(b.pvi) == VIP_STATE_ERROR);
		} while (!lost && now_ms() < end);
		CHECK_EQ(lost, 1);
		CHECK_EQ(vi_state(b.vi), VIP_STATE_CONNECTED);
		pair_part(&a);
		pair_part(&b);
	}
	pair_close(&a);
	pair_close(&b);
}

/* A peer request withdrawn just as the other one comes. */
static void race_cancel(void)
{
	struct meeting m;
	struct ctl_msg c;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < ROUNDS; i++) {
		about("round %u", i);
		m = new_meeting();
		REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
		peer_meet_spawn(p.pvi, &m, SHORT_MS, 0);
		if (i & 1)
			met(p.vi, false);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
		CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
		c = peer_join(0);
		CHECK_RC_ANY(c.rc2, VIP_SUCCESS, VIP_TIMEOUT);
		agree(&p);
	}
	pair_close(&p);
}

/* Both ends leave at once, with receives posted: each comes back once. */
static void race_disconnect(void)
{
	VIP_DESCRIPTOR *d[4];
	struct pair p;
	unsigned int i, j;

	pair_create(&p, NULL);
	for (i = 0; i < ROUNDS; i++) {
		about("round %u", i);
		pair_meet(&p);
		for (j = 0; j < 4; j++)
			post_recv(p.vi, j, &d[j]);
		peer_spawn((struct ctl_msg){ .cmd = P_DISCONNECT,
					     .vi = p.pvi }, 3);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		for (j = 0; j < 4; j++)
			check_flushed(p.vi, RECVQ, d[j]);
		check_empty(p.vi);
		CHECK_RC(peer_join(3).rc, VIP_SUCCESS);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
		CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	}
	pair_close(&p);
}

/* Posting while the connection goes: what is posted always comes back. */
static void race_post(void)
{
	struct xfer x = our_buf(0, 10, 1);
	unsigned int i, posted, back;
	struct done r;
	struct pair p;
	VIP_RETURN rc;

	pair_create(&p, NULL);
	for (i = 0; i < ROUNDS; i++) {
		enum queue q = i & 1;

		about("round %u, %s", i, q == SENDQ ? "sends" : "receives");
		pair_connect(&p);
		peer_spawn((struct ctl_msg){ .cmd = P_DISCONNECT,
					     .vi = p.pvi }, 3);
		for (posted = 0; posted < 60; posted++) {
			rc = nic_post_again(&env.nic, p.vi, q, &x, NULL);
			if (rc != VIP_SUCCESS)
				break;
		}
		CHECK_RC(rc, VIP_SUCCESS);
		CHECK_RC(peer_join(3).rc, VIP_SUCCESS);
		CHECK_STATE(p.vi, VIP_STATE_ERROR);
		for (back = 0; back < posted; back++) {
			r = wait_done(p.vi, q, LONG_MS);
			if (!CHECK(r.d != NULL))
				break;
		}
		check_empty(p.vi);
		pair_part(&p);
	}
	pair_close(&p);
}

static const struct group groups[] = {
	{ "states.idle", "5 Idle", idle, G_LEVELS | G_EARLY, 0 },
	{ "states.pending", "5 Pending, each way out of it, C9", pending,
	  G_PEER | G_LEVELS, 0 },
	{ "states.connected", "5 Connected, what it refuses", connected,
	  G_PEER | G_LEVELS, 0 },
	{ "states.error", "5 Error, what it takes and refuses", error,
	  G_PEER | G_LEVELS, 0 },
	{ "states.race_request", "5 disconnect against request",
	  race_request, G_PEER, 0 },
	{ "states.race_accept", "5, 10.6 accept against time-out",
	  race_accept, G_PEER, 0 },
	{ "states.race_destroy", "5 destroy against arrival", race_destroy,
	  G_PEER, 0 },
	{ "states.race_peers", "10.7 four at once", race_peers, G_PEER, 0 },
	{ "states.race_cancel", "10.7 disconnect against peer", race_cancel,
	  G_PEER, 0 },
	{ "states.race_disconnect", "5 disconnect against disconnect",
	  race_disconnect, G_PEER, 0 },
	{ "states.race_post", "5 connection lost against post", race_post,
	  G_PEER | G_LEVELS, 0 },
};

NOUN(states, groups);
