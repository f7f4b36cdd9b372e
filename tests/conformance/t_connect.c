// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connecting, as the client sees it: section 10.6. */
#include "host.h"
#include "remote.h"
#include <string.h>

static void accepted(void)
{
	struct pair_opt o = { .mtu = 8192, .peer_no_rdma = true };
	VIP_VI_ATTRIBUTES theirs;
	struct disc d = new_disc();
	struct ctl_msg m;
	struct pair p;

	pair_create(&p, &o);
	peer_listen(p.pvi, &d, 0);
	memset(&theirs, XFER_GUARD, sizeof(theirs));
	REQUIRE_RC(connect_peer(p.vi, &d, LONG_MS, &theirs), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	m = peer_join(0);
	CHECK_RC(m.rc, VIP_SUCCESS);
	CHECK_RC(m.rc2, VIP_SUCCESS);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_CONNECTED);
	/* Each learns the other's attributes. */
	CHECK_EQ(theirs.ReliabilityLevel, env.level);
	CHECK_EQ(theirs.MaxTransferSize, 8192);
	CHECK(theirs.QoS == NULL);
	CHECK_EQ(theirs.EnableRdmaWrite, VIP_FALSE);
	CHECK_EQ(theirs.EnableRdmaRead, VIP_FALSE);
	CHECK_EQ(m.peer_level, env.level);
	CHECK_EQ(m.peer_mtu, 8192);
	CHECK_EQ(m.peer_rdma, VIP_TRUE);
	/* The client's address, byte by byte, and not one byte more. */
	CHECK_EQ(m.bad, 0);
	CHECK_EQ(m.peer_disc_len, 6);
	CHECK(!memcmp(m.peer_disc, "driver", 6));
	check_alive(&p);
	pair_close(&p);
}

/* The same with the roles of both ends exchanged. */
static void from_peer(void)
{
	struct ctl_msg m = { .cmd = P_REQUEST, .timeout = LONG_MS,
			     .count = LONG_MS };
	unsigned int len = env.nic.attr.NicAddressLen;
	struct net_address local, remote;
	struct disc d = new_disc();
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;
	VIP_RETURN rc;
	struct pair p;

	pair_create(&p, NULL);
	own_address(&env.nic, &local, d.bytes, d.len);
	memcpy(m.disc, d.bytes, d.len);
	m.disc_len = d.len;
	memcpy(m.peer_disc, env.nic.attr.LocalNicAddress, len);
	m.peer_disc_len = len;
	m.vi = p.pvi;
	memset(&remote, XFER_GUARD, sizeof(remote));
	peer_spawn(m, 0);
	rc = VipConnectWait(env.nic.h, &local.a, LONG_MS, &remote.a, &theirs,
			    &conn);
	REQUIRE_RC(rc, VIP_SUCCESS);
	CHECK_EQ(remote.a.HostAddressLen, len);
	CHECK_EQ(remote.a.DiscriminatorLen, 4);
	CHECK(!memcmp(remote.bytes + 4 + len, "peer", 4));
	CHECK_EQ(bytes_other(remote.bytes + 8 + len, XFER_GUARD,
			     sizeof(remote) - 8 - len), 0);
	CHECK_EQ(theirs.ReliabilityLevel, env.level);
	CHECK_RC(VipConnectAccept(conn, p.vi), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	CHECK_RC(peer_join(0).rc, VIP_SUCCESS);
	check_alive(&p);
	CHECK_INVALID(VipConnectAccept(conn, p.vi));
	CHECK_INVALID(VipConnectReject(conn));
	pair_close(&p);
}

static void rejected(void)
{
	struct xfer x = our_buf(0, 100, 1), tx = peer_buf(0, 60, 1);
	struct asker k;
	struct ctl_msg m;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	pair_post(&p, RECVQ, &x);
	for (i = 0; i < 3; i++) {
		m = ask_pending(&k, p.vi, LONG_MS);
		CHECK_RC(peer_reject(m.obj), VIP_SUCCESS);
		CHECK_RC(ask_join(&k), VIP_REJECT);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
		CHECK_INVALID(peer_reject(m.obj));
		CHECK_INVALID(peer_accept(m.obj, p.pvi));
	}
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	/* The receive posted before all that is still good (C9). */
	pair_connect(&p);
	CHECK_EQ(one_arrives(&p, &tx).length, 60);
	pair_close(&p);
}

static void no_match(void)
{
	struct xfer x = our_buf(0, 100, 1), tx = peer_buf(0, 60, 1);
	struct disc d = new_disc();
	uint64_t start;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < 3; i++) {
		x.addr += 200;
		pair_post(&p, RECVQ, &x);
	}
	start = now_ms();
	for (i = 0; i < 30; i++)
		CHECK_RC(request(p.vi, &d, i & 1 ? VIP_INFINITE : LONG_MS),
			 VIP_NO_MATCH);
	/* Promptly: thirty of them in less than one time-out. */
	CHECK(now_ms() - start < LONG_MS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
	pair_connect(&p);
	for (i = 0; i < 3; i++)
		CHECK_EQ(one_arrives(&p, &tx).length, 60);
	pair_close(&p);
}

static void timed_out(void)
{
	struct asker k;
	struct ctl_msg m;
	struct pair p;

	pair_create(&p, NULL);
	/* The peer waits, and then never answers. */
	m = ask_pending(&k, p.vi, 3 * SHORT_MS);
	CHECK_RC(ask_join(&k), VIP_TIMEOUT);
	CHECK(k.took_ms >= k.timeout - 1);
	CHECK(k.took_ms < k.timeout + LONG_MS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	/* Accepting comes too late; neither end is left half open. */
	CHECK_RC(peer_accept(m.obj, p.pvi), VIP_TIMEOUT);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_INVALID(peer_accept(m.obj, p.pvi));
	/* Rejecting a request that is over is no error. */
	m = ask_pending(&k, p.vi, SHORT_MS);
	CHECK_RC(ask_join(&k), VIP_TIMEOUT);
	CHECK_RC(peer_reject(m.obj), VIP_SUCCESS);
	CHECK_INVALID(peer_reject(m.obj));
	pair_connect(&p);
	check_alive(&p);
	pair_close(&p);
}

static void unreachable(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), theirs;
	struct net_address local, remote;
	uint64_t start = now_ms();
	uint8_t nobody[HOST_MAX];
	VIP_VI_HANDLE vi;
	VIP_RETURN rc;

	host_absent(&env.nic, nobody, 0xee);
	own_address(&env.nic, &local, "driver", 6);
	net_address(&remote, nobody, env.nic.attr.NicAddressLen, "nobody", 6);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	rc = VipConnectRequest(vi, &local.a, &remote.a, 5 * SHORT_MS, &theirs);
	CHECK(rc == VIP_TIMEOUT || rc == VIP_NOT_REACHABLE);
	CHECK(rc != VIP_TIMEOUT || now_ms() - start >= 5 * SHORT_MS - 1);
	CHECK(now_ms() - start < LONG_MS);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static void bad_arguments(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), theirs;
	struct net_address local, remote, wrong;
	struct disc d = new_disc();
	VIP_VI_HANDLE vi;
	struct pair p;

	own_address(&env.nic, &local, "driver", 6);
	to_peer(&remote, &d);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	CHECK_INVALID(request(vi, &d, 0));
	CHECK_INVALID(VipConnectRequest(NULL, &local.a, &remote.a, 100,
					&theirs));
	CHECK_INVALID(VipConnectRequest(vi, NULL, &remote.a, 100, &theirs));
	CHECK_INVALID(VipConnectRequest(vi, &local.a, NULL, 100, &theirs));
	CHECK_INVALID(VipConnectRequest(vi, &local.a, &remote.a, 100, NULL));
	wrong = remote;
	wrong.a.DiscriminatorLen = env.nic.attr.MaxDiscriminatorLen + 1;
	CHECK_INVALID(VipConnectRequest(vi, &local.a, &wrong.a, 100, &theirs));
	CHECK_INVALID(VipConnectRequest(vi, &wrong.a, &remote.a, 100, &theirs));
	wrong.a.DiscriminatorLen = 0xffff;
	CHECK_INVALID(VipConnectRequest(vi, &local.a, &wrong.a, 100, &theirs));
	wrong = remote;
	wrong.a.HostAddressLen = 0xffff;
	CHECK_INVALID(VipConnectRequest(vi, &local.a, &wrong.a, 100, &theirs));
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	pair_open(&p, NULL);
	CHECK_RC(request(p.vi, &d, 100), VIP_INVALID_STATE);
	check_alive(&p);
	peer_disconnect(p.pvi);
	CHECK_STATE(p.vi, VIP_STATE_ERROR);
	CHECK_RC(request(p.vi, &d, 100), VIP_INVALID_STATE);
	pair_close(&p);
}

/* What may be done to a VI that is Pending, and what not. */
static void pending(void)
{
	struct xfer x = our_buf(0, 10, 1);
	struct disc d = new_disc();
	VIP_DESCRIPTOR *desc;
	struct asker k;
	struct ctl_msg m;
	struct done r;
	struct pair p;

	pair_create(&p, NULL);
	m = ask_pending(&k, p.vi, LONG_MS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECT_PENDING);
	CHECK_RC(nic_post(&env.nic, p.vi, SENDQ, &x, NULL),
		 VIP_INVALID_STATE);
	desc = pair_post(&p, RECVQ, &x);
	CHECK_RC(request(p.vi, &d, 100), VIP_INVALID_STATE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_INVALID_STATE);
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECT_PENDING);
	/* Disconnecting ends the request, flushed. */
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	r = poll_done(p.vi, RECVQ);
	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == desc && (r.status & VIP_STATUS_DESC_FLUSHED_ERROR));
	CHECK(ask_join(&k) != VIP_SUCCESS);
	CHECK(k.rc != VIP_NO_MATCH && k.took_ms < LONG_MS);
	CHECK(peer_accept(m.obj, p.pvi) != VIP_SUCCESS);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	pair_connect(&p);
	check_alive(&p);
	pair_close(&p);
}

static void again(void)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 8; i++) {
		about("round %u", i);
		check_alive(&p);
		pair_reset(&p);
	}
	check_alive(&p);
	pair_close(&p);
}

static const struct group groups[] = {
	{ "connect.accepted", "10.6 VipConnectRequest, RemoteViAttribs",
	  accepted, G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "connect.from_peer", "10.6 VipConnectWait, VipConnectAccept",
	  from_peer, G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "connect.rejected", "10.6 VipConnectReject, C9", rejected,
	  G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "connect.no_match", "10.6 NO_MATCH, C8, C9", no_match,
	  G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "connect.timed_out", "10.6 TIMEOUT, accept after it", timed_out,
	  G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "connect.unreachable", "10.6 TIMEOUT or NOT_REACHABLE", unreachable,
	  0, 0 },
	{ "connect.bad_arguments", "10.6 INVALID_PARAMETER, INVALID_STATE",
	  bad_arguments, G_PEER | G_EARLY, 0 },
	{ "connect.pending", "5 Pending", pending, G_PEER | G_LEVELS, 0 },
	{ "connect.again", "5, one VI connected many times", again,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
};

NOUN(connect, groups);
