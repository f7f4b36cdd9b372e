// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Peer-to-peer connection: section 10.7. */
#include "host.h"
#include "meet.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For what must time out. */
#define BRIEF_MS	(10u * env.scale)

/* The verdict on a VI that looks for its peer. */
static VIP_RETURN looked(VIP_VI_HANDLE vi, const struct meeting *m,
			 VIP_ULONG timeout)
{
	REQUIRE_RC(meet(vi, m, timeout), VIP_SUCCESS);
	return met(vi, true);
}

static VIP_RETURN peer_looked(unsigned int pvi, const struct meeting *m,
			      VIP_ULONG timeout)
{
	REQUIRE_RC(peer_meet(pvi, m, timeout), VIP_SUCCESS);
	return peer_met(pvi, true).rc;
}

static void connected(void)
{
	struct pair_opt o = { .mtu = 8192, .peer_no_rdma = true };
	struct meeting m = new_meeting();
	VIP_VI_ATTRIBUTES theirs;
	struct ctl_msg c;
	struct pair p;

	pair_create(&p, &o);
	peer_meet_spawn(p.pvi, &m, LONG_MS, 0);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	memset(&theirs, XFER_GUARD, sizeof(theirs));
	REQUIRE_RC(VipConnectPeerWait(p.vi, &theirs), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	c = peer_join(0);
	CHECK_RC(c.rc, VIP_SUCCESS);
	CHECK_RC(c.rc2, VIP_SUCCESS);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_CONNECTED);
	/* Each learns the other's attributes. */
	CHECK_EQ(theirs.ReliabilityLevel, env.level);
	CHECK_EQ(theirs.MaxTransferSize, 8192);
	CHECK(theirs.QoS == NULL);
	CHECK_EQ(theirs.EnableRdmaWrite, VIP_FALSE);
	CHECK_EQ(c.peer_level, env.level);
	CHECK_EQ(c.peer_mtu, 8192);
	CHECK_EQ(c.peer_rdma, VIP_TRUE);
	/* A verdict is fetched once. */
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	CHECK_RC(met(p.vi, true), VIP_INVALID_STATE);
	CHECK_RC(peer_met(p.pvi, false).rc, VIP_INVALID_STATE);
	check_alive(&p);
	pair_close(&p);
}

static void polled(void)
{
	struct meeting m = new_meeting();
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	for (i = 0; i < 5; i++)
		CHECK_RC(met(p.vi, false), VIP_NOT_DONE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECT_PENDING);
	REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met_poll(p.vi), VIP_SUCCESS);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
	CHECK_RC(peer_met(p.pvi, false).rc, VIP_INVALID_STATE);
	check_alive(&p);
	pair_close(&p);
}

static void timed_out(void)
{
	struct meeting m = new_meeting();
	uint64_t start = now_ms();
	struct pair p;

	pair_create(&p, NULL);
	CHECK_RC(looked(p.vi, &m, SHORT_MS), VIP_TIMEOUT);
	CHECK(now_ms() - start >= SHORT_MS - 1);
	CHECK(now_ms() - start < LONG_MS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_RC(met(p.vi, true), VIP_INVALID_STATE);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	/* The same without a thread that waits. */
	REQUIRE_RC(meet(p.vi, &m, BRIEF_MS), VIP_SUCCESS);
	CHECK_RC(met_poll(p.vi), VIP_TIMEOUT);
	/* Or asks: a peer that comes after the deadline finds none. */
	REQUIRE_RC(meet(p.vi, &m, BRIEF_MS), VIP_SUCCESS);
	CHECK_STATE(p.vi, VIP_STATE_IDLE);
	CHECK_RC(peer_looked(p.pvi, &m, BRIEF_MS), VIP_TIMEOUT);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	CHECK_RC(met(p.vi, false), VIP_TIMEOUT);
	/* A verdict that is not fetched is no obstacle. */
	REQUIRE_RC(meet(p.vi, &m, BRIEF_MS), VIP_SUCCESS);
	CHECK_STATE(p.vi, VIP_STATE_IDLE);
	pair_meet(&p);
	check_alive(&p);
	pair_close(&p);
}

/* Both hear of it, with the same code, and soon; either may call first. */
static void mismatch_of(const VIP_VI_ATTRIBUTES *wrong, VIP_RETURN want)
{
	struct meeting m;
	unsigned int bad, i;
	uint64_t start;
	struct pair p;

	pair_create(&p, NULL);
	bad = peer_vi(wrong, CTL_MAIN_PTAG);
	for (i = 0; i < 2; i++) {
		about("%s first, %s", i ? "they" : "we", rc_name(want));
		m = new_meeting();
		start = now_ms();
		if (i)
			REQUIRE_RC(peer_meet(bad, &m, 2 * LONG_MS),
				   VIP_SUCCESS);
		REQUIRE_RC(meet(p.vi, &m, 2 * LONG_MS), VIP_SUCCESS);
		if (!i)
			REQUIRE_RC(peer_meet(bad, &m, 2 * LONG_MS),
				   VIP_SUCCESS);
		CHECK_RC(met(p.vi, true), want);
		CHECK_RC(peer_met(bad, true).rc, want);
		CHECK(now_ms() - start < 2 * LONG_MS);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
		CHECK_EQ(peer_state(bad), VIP_STATE_IDLE);
		CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	}
	pair_meet(&p);
	check_alive(&p);
	pair_close(&p);
}

static void mismatch(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	unsigned int mask = env.nic.attr.ReliabilityLevelSupport & ~env.level;

	a.MaxTransferSize--;
	mismatch_of(&a, VIP_INVALID_MTU);
	if (!mask)
		return;
	a = vi_attributes(&env.nic, mask & -mask);
	mismatch_of(&a, VIP_INVALID_RELIABILITY_LEVEL);
	/* Of two differences the level is named. */
	a.MaxTransferSize = 64;
	mismatch_of(&a, VIP_INVALID_RELIABILITY_LEVEL);
}

static void receives_survive(void)
{
	struct xfer x = our_buf(0, 100, 1), tx = peer_buf(0, 60, 1);
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct meeting m = new_meeting();
	VIP_DESCRIPTOR *d;
	unsigned int bad;
	struct done r;
	struct pair p;

	pair_create(&p, NULL);
	d = pair_post(&p, RECVQ, &x);
	CHECK_RC(looked(p.vi, &m, BRIEF_MS), VIP_TIMEOUT);
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
	a.MaxTransferSize--;
	bad = peer_vi(&a, CTL_MAIN_PTAG);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	REQUIRE_RC(peer_meet(bad, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(p.vi, true), VIP_INVALID_MTU);
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
	pair_meet(&p);
	r = one_arrives(&p, &tx);
	CHECK(r.d == d);
	CHECK_EQ(r.length, 60);
	pair_close(&p);
}

/* Peers and clients and servers never meet, whatever they call out. */
static void not_client_server(void)
{
	VIP_VI_ATTRIBUTES theirs;
	struct net_address local, remote;
	struct meeting m = new_meeting();
	struct pair p;

	pair_create(&p, NULL);
	/* A peer finds no server. */
	peer_cwait(&m.theirs, 2 * SHORT_MS, 0);
	CHECK_RC(looked(p.vi, &m, SHORT_MS), VIP_TIMEOUT);
	CHECK_RC(peer_join(0).rc, VIP_TIMEOUT);
	/* A client finds no peer, and is told so at once. */
	REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
	own_address(&env.nic, &local, m.ours.bytes, m.ours.len);
	to_peer(&remote, &m.theirs);
	CHECK_RC(VipConnectRequest(p.vi, &local.a, &remote.a, LONG_MS,
				   &theirs), VIP_NO_MATCH);
	/* Nor is the one's verdict the other's. */
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	CHECK_RC(met(p.vi, true), VIP_INVALID_STATE);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_CONNECT_PENDING);
	CHECK_RC(looked(p.vi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
	check_alive(&p);
	pair_close(&p);
}

static void cancelled(void)
{
	struct xfer x = our_buf(0, 100, 1);
	struct meeting m = new_meeting();
	VIP_DESCRIPTOR *d;
	struct done r;
	struct pair p;

	pair_create(&p, NULL);
	d = pair_post(&p, RECVQ, &x);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	r = poll_done(p.vi, RECVQ);
	CHECK(r.d == d && (r.status & VIP_STATUS_DESC_FLUSHED_ERROR));
	CHECK_RC(met(p.vi, true), VIP_INVALID_STATE);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	/* A peer that comes now finds none. */
	CHECK_RC(peer_looked(p.pvi, &m, BRIEF_MS), VIP_TIMEOUT);
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 0);
	pair_meet(&p);
	/* After the verdict, disconnecting discards one not fetched. */
	pair_part(&p);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_STATE(p.vi, VIP_STATE_CONNECTED);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	pair_close(&p);
}

static void both_at_once(void)
{
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < 12; i++) {
		about("round %u", i);
		pair_meet(&p);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
		CHECK_EQ(peer_state(p.pvi), VIP_STATE_CONNECTED);
		if (i % 4 == 3)
			check_alive(&p);
		pair_part(&p);
	}
	pair_close(&p);
}

/* Several that look for the same: first come, first matched, one each. */
static void crossing(void)
{
	struct meeting m = new_meeting(), wrong;
	struct pair a, b;

	pair_create(&a, NULL);
	pair_create(&b, NULL);
	REQUIRE_RC(peer_meet(a.pvi, &m, 2 * LONG_MS), VIP_SUCCESS);
	REQUIRE_RC(peer_meet(b.pvi, &m, 2 * LONG_MS), VIP_SUCCESS);
	/* Not the same, though each half is one VI's. */
	wrong.ours = m.theirs;
	wrong.theirs = m.ours;
	CHECK_RC(looked(a.vi, &wrong, BRIEF_MS), VIP_TIMEOUT);
	wrong = m;
	wrong.ours.bytes[0] ^= 1;
	CHECK_RC(looked(a.vi, &wrong, BRIEF_MS), VIP_TIMEOUT);
	wrong = m;
	wrong.theirs.len--;
	CHECK_RC(looked(a.vi, &wrong, BRIEF_MS), VIP_TIMEOUT);
	CHECK_EQ(peer_state(a.pvi), VIP_STATE_CONNECT_PENDING);
	CHECK_EQ(peer_state(b.pvi), VIP_STATE_CONNECT_PENDING);
	/* Exactly one of the two. */
	CHECK_RC(looked(a.vi, &m, LONG_MS), VIP_SUCCESS);
	if (peer_state_wait(a.pvi, VIP_STATE_CONNECTED) !=
	    VIP_STATE_CONNECTED) {
		unsigned int other = a.pvi;

		/* Possible where a frame of the first was lost. */
		a.pvi = b.pvi;
		b.pvi = other;
	}
	CHECK_EQ(peer_state(a.pvi), VIP_STATE_CONNECTED);
	CHECK_EQ(peer_state(b.pvi), VIP_STATE_CONNECT_PENDING);
	CHECK_RC(looked(b.vi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(peer_met(a.pvi, true).rc, VIP_SUCCESS);
	CHECK_RC(peer_met(b.pvi, true).rc, VIP_SUCCESS);
	check_alive(&a);
	check_alive(&b);
	pair_close(&a);
	pair_close(&b);
}

#define CROWD 64u

static struct meeting crowd_meeting(unsigned int ours, unsigned int theirs)
{
	struct meeting m;

	m.ours.len = snprintf((char *)m.ours.bytes, sizeof(m.ours.bytes),
			      "ours%u", ours);
	m.theirs.len = snprintf((char *)m.theirs.bytes,
				sizeof(m.theirs.bytes), "theirs%u", theirs);
	return m;
}

/*
 * Many that look for others, each half of whose names is asked for: so many
 * that a provider which finds them by a hash has them in one place.
 */
static void crowd(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vis[CROWD];
	struct meeting m;
	unsigned int i, pvi;

	for (i = 0; i < CROWD; i++) {
		REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vis[i]),
			   VIP_SUCCESS);
		m = crowd_meeting(i, i);
		REQUIRE_RC(meet(vis[i], &m, 2 * LONG_MS), VIP_SUCCESS);
	}
	pvi = peer_vi(&a, CTL_MAIN_PTAG);
	for (i = 1; i < 16; i++) {
		about("the VI that asks for %u and %u", i, 4 * i);
		m = crowd_meeting(i, 4 * i);
		CHECK_RC(peer_looked(pvi, &m, BRIEF_MS), VIP_TIMEOUT);
		peer_disconnect(pvi);
	}
	about("the VI that asks for the one that is there");
	m = crowd_meeting(7, 7);
	CHECK_RC(peer_looked(pvi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(vis[7], true), VIP_SUCCESS);
	peer_disconnect(pvi);
	for (i = 0; i < CROWD; i++) {
		if (i != 7)
			CHECK_RC(met(vis[i], false), VIP_NOT_DONE);
		CHECK_RC(VipDisconnect(vis[i]), VIP_SUCCESS);
		CHECK_RC(VipDestroyVi(vis[i]), VIP_SUCCESS);
	}
}

/* Both ends in this process; over an Ethernet NIC to its own address (C7). */
static void own_address_too(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct meeting m = new_meeting(), back, mirror;
	const uint8_t *host = env.host;
	VIP_VI_HANDLE x, y;

	env.host = NULL;
	back.ours = m.theirs;
	back.theirs = m.ours;
	mirror.ours = m.ours;
	mirror.theirs = m.ours;
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &x), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &y), VIP_SUCCESS);
	REQUIRE_RC(meet(x, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(x, false), VIP_NOT_DONE);
	REQUIRE_RC(meet(y, &back, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(x, true), VIP_SUCCESS);
	CHECK_RC(met(y, true), VIP_SUCCESS);
	CHECK_EQ(vi_state(x), VIP_STATE_CONNECTED);
	CHECK_EQ(vi_state(y), VIP_STATE_CONNECTED);
	CHECK_RC(VipDisconnect(x), VIP_SUCCESS);
	CHECK_STATE(y, VIP_STATE_ERROR);
	CHECK_RC(VipDisconnect(y), VIP_SUCCESS);
	/* A VI is not its own peer, but another may have its address. */
	CHECK_RC(looked(x, &mirror, BRIEF_MS), VIP_TIMEOUT);
	REQUIRE_RC(meet(x, &mirror, LONG_MS), VIP_SUCCESS);
	CHECK_RC(looked(y, &mirror, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(x, true), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(y), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(x), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(x), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(y), VIP_SUCCESS);
	env.host = host;
}

static void bad_request(VIP_VI_HANDLE vi)
{
	struct net_address local, remote, wrong;
	struct disc d = new_disc();
	unsigned int max = env.nic.attr.MaxDiscriminatorLen;
	uint8_t nobody[HOST_MAX];

	own_address(&env.nic, &local, "driver", 6);
	to_peer(&remote, &d);
	CHECK_INVALID(VipConnectPeerRequest(NULL, &local.a, &remote.a, 100));
	CHECK_INVALID(VipConnectPeerRequest(env.nic.h, &local.a, &remote.a,
					    100));
	CHECK_INVALID(VipConnectPeerRequest(vi, NULL, &remote.a, 100));
	CHECK_INVALID(VipConnectPeerRequest(vi, &local.a, NULL, 100));
	CHECK_INVALID(VipConnectPeerRequest(vi, &local.a, &remote.a, 0));
	wrong = remote;
	wrong.a.DiscriminatorLen = max + 1;
	CHECK_INVALID(VipConnectPeerRequest(vi, &local.a, &wrong.a, 100));
	wrong = local;
	wrong.a.DiscriminatorLen = max + 1;
	CHECK_INVALID(VipConnectPeerRequest(vi, &wrong.a, &remote.a, 100));
	wrong.a.DiscriminatorLen = 0xffff;
	CHECK_INVALID(VipConnectPeerRequest(vi, &wrong.a, &remote.a, 100));
	wrong = remote;
	wrong.a.HostAddressLen = 0;
	CHECK_INVALID(VipConnectPeerRequest(vi, &local.a, &wrong.a, 100));
	wrong.a.HostAddressLen = 0xffff;
	CHECK_INVALID(VipConnectPeerRequest(vi, &local.a, &wrong.a, 100));
	wrong = local;
	wrong.a.HostAddressLen = env.nic.attr.NicAddressLen - 1;
	CHECK_INVALID(VipConnectPeerRequest(vi, &wrong.a, &remote.a, 100));
	/* The local host is this NIC, if it is named at all. */
	host_absent(&env.nic, nobody, 0xee);
	net_address(&wrong, nobody, env.nic.attr.NicAddressLen, "driver", 6);
	CHECK_INVALID(VipConnectPeerRequest(vi, &wrong.a, &remote.a, 100));
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
}

static void bad_arguments(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct meeting m = new_meeting();
	struct net_address local, remote;
	VIP_VI_HANDLE vi, gone;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &gone), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(gone), VIP_SUCCESS);
	bad_request(vi);
	CHECK_INVALID(meet(gone, &m, 100));
	CHECK_INVALID(met(NULL, false));
	CHECK_INVALID(met(NULL, true));
	CHECK_INVALID(met(gone, false));
	CHECK_INVALID(met(gone, true));
	CHECK_INVALID(met(env.nic.h, false));
	CHECK_INVALID(VipConnectPeerDone(vi, NULL));
	CHECK_INVALID(VipConnectPeerWait(vi, NULL));
	CHECK_RC(met(vi, false), VIP_INVALID_STATE);
	CHECK_RC(met(vi, true), VIP_INVALID_STATE);
	/* A local host of no length is this one; asking wrongly takes nothing. */
	net_address(&local, "", 0, "driver", 6);
	to_peer(&remote, &m.theirs);
	REQUIRE_RC(VipConnectPeerRequest(vi, &local.a, &remote.a, SHORT_MS),
		   VIP_SUCCESS);
	CHECK_INVALID(VipConnectPeerDone(vi, NULL));
	CHECK_INVALID(VipConnectPeerWait(vi, NULL));
	CHECK_RC(met(vi, true), VIP_TIMEOUT);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* In which states a peer request may be made, and what a Pending VI takes. */
static void states(void)
{
	struct xfer x = our_buf(0, 10, 1);
	struct meeting m = new_meeting();
	VIP_VI_ATTRIBUTES theirs;
	struct net_address local, remote;
	struct pair p;

	pair_create(&p, NULL);
	own_address(&env.nic, &local, m.ours.bytes, m.ours.len);
	to_peer(&remote, &m.theirs);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECT_PENDING);
	CHECK_RC(meet(p.vi, &m, LONG_MS), VIP_INVALID_STATE);
	CHECK_RC(VipConnectRequest(p.vi, &local.a, &remote.a, 100, &theirs),
		 VIP_INVALID_STATE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_INVALID_STATE);
	CHECK_RC(nic_post(&env.nic, p.vi, SENDQ, &x, NULL),
		 VIP_INVALID_STATE);
	pair_post(&p, RECVQ, &x);
	CHECK_RC(met(p.vi, false), VIP_NOT_DONE);
	REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(p.vi, true), VIP_SUCCESS);
	CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
	CHECK_RC(meet(p.vi, &m, LONG_MS), VIP_INVALID_STATE);
	CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	peer_disconnect(p.pvi);
	CHECK_STATE(p.vi, VIP_STATE_ERROR);
	CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, 1);
	CHECK_RC(meet(p.vi, &m, LONG_MS), VIP_INVALID_STATE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	pair_close(&p);
}

/* One VI, connected one way and the other. */
static void again(void)
{
	struct meeting m = new_meeting();
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < 4; i++) {
		about("round %u", i);
		CHECK_RC(looked(p.vi, &m, 1), VIP_TIMEOUT);
		/* The same addresses again and again. */
		REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
		REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
		CHECK_RC(met(p.vi, true), VIP_SUCCESS);
		CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
		check_alive(&p);
		pair_part(&p);
		pair_connect(&p);
		CHECK_RC(met(p.vi, false), VIP_INVALID_STATE);
		CHECK_RC(peer_met(p.pvi, true).rc, VIP_INVALID_STATE);
		pair_part(&p);
	}
	pair_close(&p);
}

/* None, one byte, all of them; different at both ends; not text. */
static void discriminators(void)
{
	static const struct { unsigned char ours, theirs; } lens[] = {
		{ 0, 0 }, { 0, 1 }, { 1, 0 }, { 255, 0 }, { 0, 255 },
		{ 255, 255 }, { 7, 33 },
	};
	unsigned int i, max = env.nic.attr.MaxDiscriminatorLen;
	struct meeting m;
	struct pair p;

	REQUIRE(max <= sizeof(m.ours.bytes));
	pair_create(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		about("lengths %u and %u", lens[i].ours, lens[i].theirs);
		pattern(m.ours.bytes, getpid(), 0, sizeof(m.ours.bytes));
		pattern(m.theirs.bytes, i, 0, sizeof(m.theirs.bytes));
		m.ours.bytes[1] = 0;
		m.ours.len = lens[i].ours == 255 ? max : lens[i].ours;
		m.theirs.len = lens[i].theirs == 255 ? max : lens[i].theirs;
		REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
		REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
		CHECK_RC(met(p.vi, true), VIP_SUCCESS);
		CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
		pair_part(&p);
	}
	pair_close(&p);
}

/* The one that was found first is gone: the next one is found instead. */
static void gone(void)
{
	struct meeting m = new_meeting();
	unsigned int first;
	struct pair p;

	pair_create(&p, NULL);
	first = peer_vi(&p.attr, CTL_MAIN_PTAG);
	REQUIRE_RC(peer_meet(first, &m, LONG_MS), VIP_SUCCESS);
	peer_disconnect(first);
	peer_destroy(first);
	REQUIRE_RC(meet(p.vi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(p.vi, false), VIP_NOT_DONE);
	REQUIRE_RC(peer_meet(p.pvi, &m, LONG_MS), VIP_SUCCESS);
	CHECK_RC(met(p.vi, true), VIP_SUCCESS);
	CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
	check_alive(&p);
	pair_close(&p);
}

static void killed_pending(void)
{
	struct meeting m = new_meeting(), other = new_meeting();
	uint64_t end = now_ms() + 2 * LONG_MS;
	struct pair p;
	VIP_RETURN rc;

	pair_create(&p, NULL);
	REQUIRE_RC(peer_meet(p.pvi, &other, 2 * LONG_MS), VIP_SUCCESS);
	REQUIRE_RC(meet(p.vi, &m, 2 * SHORT_MS), VIP_SUCCESS);
	peer_order(P_DIE);
	CHECK_RC(met(p.vi, true), VIP_TIMEOUT);
	/*
	 * Its peer finds none, dead ones do not answer.  It may be
	 * dying yet, and is lost then.
	 */
	do {
		REQUIRE_RC(meet(p.vi, &other, SHORT_MS), VIP_SUCCESS);
		rc = met(p.vi, true);
		if (rc != VIP_SUCCESS)
			break;
		CHECK_STATE(p.vi, VIP_STATE_ERROR);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	} while (now_ms() < end);
	CHECK_RC(rc, VIP_TIMEOUT);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
}

static void killed_connected(void)
{
	struct xfer rx = our_buf(0, 100, 1);
	VIP_DESCRIPTOR *d;
	struct done r;
	struct pair p;

	pair_create(&p, NULL);
	pair_meet(&p);
	d = pair_post(&p, RECVQ, &rx);
	peer_order(P_DIE);
	r = wait_done(p.vi, RECVQ, 3 * LONG_MS);
	CHECK(r.d == d && (r.status & VIP_STATUS_DESC_FLUSHED_ERROR));
	CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, 1);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
}

struct sleeper {
	pthread_t thread;
	VIP_VI_HANDLE vi;
	VIP_RETURN rc;
};

static void *sleep_main(void *arg)
{
	struct sleeper *s = arg;
	VIP_VI_ATTRIBUTES a;

	s->rc = VipConnectPeerWait(s->vi, &a);
	return NULL;
}

/* A wait without end is ended by a peer, a disconnect, and by closing. */
static void for_ever(void)
{
	static const VIP_ULONG times[] = { 0xffffffff, VIP_INFINITE };
	struct meeting m = new_meeting();
	struct sleeper s;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	s.vi = p.vi;
	for (i = 0; i < 4; i++) {
		about("way %u", i);
		REQUIRE_RC(meet(p.vi, &m, times[i % 2]), VIP_SUCCESS);
		REQUIRE(!pthread_create(&s.thread, NULL, sleep_main, &s));
		CHECK_RC(VipQueryNic(env.nic.h, &env.nic.attr), VIP_SUCCESS);
		if (i < 2)
			REQUIRE_RC(peer_meet(p.pvi, &m, times[i % 2]),
				   VIP_SUCCESS);
		else if (i == 2)
			CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		else
			CHECK_RC(VipCloseNic(env.nic.h), VIP_SUCCESS);
		pthread_join(s.thread, NULL);
		if (i < 2) {
			CHECK_RC(s.rc, VIP_SUCCESS);
			CHECK_RC(peer_met(p.pvi, true).rc, VIP_SUCCESS);
			pair_part(&p);
		} else if (i == 2) {
			CHECK_RC(s.rc, VIP_INVALID_STATE);
		} else {
			CHECK_RC_ANY(s.rc, VIP_INVALID_STATE,
				     VIP_INVALID_PARAMETER);
		}
	}
}

static void unreachable(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct net_address local, remote;
	unsigned int len = env.nic.attr.NicAddressLen;
	uint8_t nobody[HOST_MAX], all[HOST_MAX];
	uint64_t start = now_ms();
	VIP_VI_HANDLE vi;
	VIP_RETURN rc;

	host_absent(&env.nic, nobody, 0xee);
	memset(all, 255, sizeof(all));
	own_address(&env.nic, &local, "driver", 6);
	net_address(&remote, nobody, len, "nobody", 6);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	REQUIRE_RC(VipConnectPeerRequest(vi, &local.a, &remote.a, SHORT_MS),
		   VIP_SUCCESS);
	rc = met(vi, true);
	CHECK_RC_ANY(rc, VIP_TIMEOUT, VIP_NOT_REACHABLE);
	CHECK(rc != VIP_TIMEOUT || now_ms() - start >= SHORT_MS - 1);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	/* An address that is no host's. */
	net_address(&remote, all, len, "nobody", 6);
	REQUIRE_RC(VipConnectPeerRequest(vi, &local.a, &remote.a, SHORT_MS),
		   VIP_SUCCESS);
	CHECK_RC(met(vi, false), VIP_NOT_REACHABLE);
	CHECK_RC(met(vi, false), VIP_INVALID_STATE);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "p2p.connected", "10.7 both ends, RemoteViAttribs", connected,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "p2p.polled", "10.7 VipConnectPeerDone, NOT_DONE", polled,
	  G_PEER | G_LEVELS, 0 },
	{ "p2p.timed_out", "10.7 VipConnectPeerWait, TIMEOUT", timed_out,
	  G_PEER, 0 },
	{ "p2p.mismatch", "10.7 INVALID_MTU, INVALID_RELIABILITY_LEVEL",
	  mismatch, G_PEER, 0 },
	{ "p2p.receives_survive", "5 Pending to Idle, C9", receives_survive,
	  G_PEER | G_LEVELS, 0 },
	{ "p2p.not_client_server", "10.7 never one another's",
	  not_client_server, G_PEER, 0 },
	{ "p2p.cancelled", "5 Pending, VipDisconnect", cancelled, G_PEER, 0 },
	{ "p2p.both_at_once", "10.7 both sides call it", both_at_once,
	  G_PEER | G_LEVELS, 0 },
	{ "p2p.crossing", "10.7 matching, first come", crossing, G_PEER, 0 },
	{ "p2p.crowd", "10.7 matching, among many", crowd, G_PEER, 0 },
	{ "p2p.own_address", "10.7, C7 one host", own_address_too, 0, 0 },
	{ "p2p.bad_arguments", "10.7 INVALID_PARAMETER", bad_arguments, 0,
	  0 },
	{ "p2p.states", "10.7 INVALID_STATE", states, G_PEER, 0 },
	{ "p2p.again", "5 one VI, many connections", again, G_PEER, 0 },
	{ "p2p.discriminators", "3 VIP_NET_ADDRESS, 12", discriminators,
	  G_PEER | G_SUNNY, 0 },
	{ "p2p.gone", "10.7 destroyed while pending", gone, G_PEER, 0 },
	{ "p2p.killed_pending", "10.7, C19 before", killed_pending,
	  G_PEER | G_OWN, 0 },
	{ "p2p.killed_connected", "10.7, C19 after", killed_connected,
	  G_PEER | G_OWN | G_LEVELS, 0 },
	{ "p2p.for_ever", "10.7, C16 a wait without end", for_ever,
	  G_PEER | G_OWN, 0 },
	{ "p2p.unreachable", "10.7 TIMEOUT, NOT_REACHABLE", unreachable, 0,
	  0 },
};

NOUN(p2p, groups);
