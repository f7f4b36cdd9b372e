// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connecting, as the server sees it, and discriminators: section 10.6. */
#include "remote.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The server may try again with another VI; the client hears nothing of it. */
static void mismatch_then(const VIP_VI_ATTRIBUTES *wrong, VIP_RETURN want)
{
	struct ctl_msg m;
	struct asker k;
	unsigned int bad;
	struct pair p;

	pair_create(&p, NULL);
	bad = peer_vi(wrong, CTL_MAIN_PTAG);
	m = ask_pending(&k, p.vi, LONG_MS);
	CHECK_RC(peer_accept(m.obj, bad), want);
	CHECK_EQ(peer_state(bad), VIP_STATE_IDLE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECT_PENDING);
	CHECK_RC(peer_accept(m.obj, bad), want);
	CHECK_RC(peer_accept(m.obj, p.pvi), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_SUCCESS);
	check_alive(&p);
	pair_reset(&p);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	peer_disconnect(p.pvi);
	/* Or reject. */
	m = ask_pending(&k, p.vi, LONG_MS);
	CHECK_RC(peer_accept(m.obj, bad), want);
	CHECK_RC(peer_reject(m.obj), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_REJECT);
	pair_close(&p);
}

static void mismatch(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	unsigned int mask = env.nic.attr.ReliabilityLevelSupport & ~env.level;

	a.MaxTransferSize = 4096;
	mismatch_then(&a, VIP_INVALID_MTU);
	if (!mask)
		return;
	a = vi_attributes(&env.nic, mask & -mask);
	mismatch_then(&a, VIP_INVALID_RELIABILITY_LEVEL);
}

static void bad_accept(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct pair p, other;
	struct ctl_msg m;
	struct asker k;

	CHECK_INVALID(VipConnectAccept(NULL, NULL));
	CHECK_INVALID(VipConnectReject(NULL));
	CHECK_INVALID(VipConnectReject(env.nic.h));
	pair_create(&p, NULL);
	pair_open(&other, NULL);
	CHECK_INVALID(VipConnectAccept(NULL, p.vi));
	m = ask_pending(&k, p.vi, LONG_MS);
	/* A VI that is Connected already. */
	CHECK_RC(peer_accept(m.obj, other.pvi), VIP_INVALID_STATE);
	CHECK_EQ(peer_state(other.pvi), VIP_STATE_CONNECTED);
	/* One that is gone. */
	a.MaxTransferSize = 64;
	{
		unsigned int gone = peer_vi(&a, CTL_MAIN_PTAG);

		peer_destroy(gone);
		CHECK_INVALID(peer_accept(m.obj, gone));
	}
	CHECK_RC(peer_accept(m.obj, p.pvi), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_SUCCESS);
	CHECK_INVALID(peer_accept(m.obj, p.pvi));
	check_alive(&p);
	check_alive(&other);
	pair_close(&p);
	pair_close(&other);
}

static void wait_timeouts(void)
{
	struct net_address local, remote;
	struct disc d = new_disc();
	VIP_CONN_HANDLE conn;
	VIP_VI_ATTRIBUTES a;
	uint64_t start;

	own_address(&env.nic, &local, d.bytes, d.len);
	start = now_ms();
	CHECK_RC(VipConnectWait(env.nic.h, &local.a, 0, &remote.a, &a, &conn),
		 VIP_TIMEOUT);
	CHECK(now_ms() - start < LONG_MS);
	start = now_ms();
	CHECK_RC(VipConnectWait(env.nic.h, &local.a, SHORT_MS, &remote.a, &a,
				&conn), VIP_TIMEOUT);
	CHECK(now_ms() - start >= SHORT_MS - 1);
	CHECK(now_ms() - start < LONG_MS);
}

static void wait_arguments(void)
{
	struct net_address local, remote;
	VIP_CONN_HANDLE conn;
	VIP_VI_ATTRIBUTES a;

	own_address(&env.nic, &local, "w", 1);
	CHECK_INVALID(VipConnectWait(NULL, &local.a, 1, &remote.a, &a, &conn));
	CHECK_INVALID(VipConnectWait(env.nic.h, NULL, 1, &remote.a, &a, &conn));
	CHECK_INVALID(VipConnectWait(env.nic.h, &local.a, 1, NULL, &a, &conn));
	CHECK_INVALID(VipConnectWait(env.nic.h, &local.a, 1, &remote.a, NULL,
				     &conn));
	CHECK_INVALID(VipConnectWait(env.nic.h, &local.a, 1, &remote.a, &a,
				     NULL));
	local.a.DiscriminatorLen = env.nic.attr.MaxDiscriminatorLen + 1;
	CHECK_INVALID(VipConnectWait(env.nic.h, &local.a, 1, &remote.a, &a,
				     &conn));
	local.a.DiscriminatorLen = 0xffff;
	CHECK_INVALID(VipConnectWait(env.nic.h, &local.a, 1, &remote.a, &a,
				     &conn));
}

/* Every length, at both ends, of bytes that are no text. */
static void discriminators(void)
{
	struct disc d;
	struct pair p;
	unsigned int i, max = env.nic.attr.MaxDiscriminatorLen;
	struct ctl_msg m;

	REQUIRE(max <= sizeof(d.bytes));
	pair_create(&p, NULL);
	for (i = 0; i <= max; i++) {
		about("%u bytes", i);
		pattern(d.bytes, getpid(), 0, sizeof(d.bytes));
		if (i > 2)
			d.bytes[i / 2] = 0;
		d.len = i;
		peer_listen(p.pvi, &d, 0);
		REQUIRE_RC(connect_peer(p.vi, &d, LONG_MS, NULL),
			   VIP_SUCCESS);
		m = peer_join(0);
		CHECK_RC(m.rc2, VIP_SUCCESS);
		CHECK_EQ(m.bad, 0);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		peer_disconnect(p.pvi);
	}
	pair_close(&p);
}

/* Nothing but the same bytes and the same length matches. */
static void near_misses(void)
{
	struct disc d, near[5];
	struct pair p;
	unsigned int i;

	d.len = 8;
	memcpy(d.bytes, "exactly\0tail", 12);
	for (i = 0; i < ARRAY_SIZE(near); i++)
		near[i] = d;
	near[0].len = 7;
	near[1].len = 9;
	near[2].len = 0;
	near[3].bytes[7] = 1;
	near[4].bytes[0] ^= 0x80;
	pair_create(&p, NULL);
	peer_listen(p.pvi, &d, 0);
	for (i = 0; i < ARRAY_SIZE(near); i++) {
		about("near miss %u", i);
		CHECK_RC(request(p.vi, &near[i], LONG_MS), VIP_NO_MATCH);
	}
	about("the empty one is no wildcard");
	CHECK_RC(connect_peer(p.vi, &d, LONG_MS, NULL), VIP_SUCCESS);
	CHECK_RC(peer_join(0).rc2, VIP_SUCCESS);
	pair_reset(&p);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	peer_disconnect(p.pvi);
	near[2].len = 0;
	peer_listen(p.pvi, &near[2], 0);
	CHECK_RC(request(p.vi, &d, LONG_MS), VIP_NO_MATCH);
	CHECK_RC(connect_peer(p.vi, &near[2], LONG_MS, NULL), VIP_SUCCESS);
	CHECK_RC(peer_join(0).rc2, VIP_SUCCESS);
	pair_close(&p);
}

/* Waiters on one discriminator are served first come, first served. */
static void two_waiters(void)
{
	struct disc d = new_disc();
	struct pair a, b;
	struct ctl_msg ma, mb;

	pair_create(&a, NULL);
	pair_create(&b, NULL);
	peer_listen(a.pvi, &d, 0);
	peer_listen(b.pvi, &d, 1);
	CHECK_RC(connect_peer(a.vi, &d, LONG_MS, NULL), VIP_SUCCESS);
	CHECK_RC(connect_peer(b.vi, &d, LONG_MS, NULL), VIP_SUCCESS);
	ma = peer_join(0);
	mb = peer_join(1);
	CHECK_RC(ma.rc2, VIP_SUCCESS);
	CHECK_RC(mb.rc2, VIP_SUCCESS);
	/* Which thread was first is theirs to know; both are connected. */
	CHECK_EQ(peer_state(a.pvi), VIP_STATE_CONNECTED);
	CHECK_EQ(peer_state(b.pvi), VIP_STATE_CONNECTED);
	CHECK_RC(connect_peer(a.vi, &d, LONG_MS, NULL), VIP_INVALID_STATE);
	pair_close(&a);
	pair_close(&b);
}

/* Both encodings of no limit (C16), seen from the server. */
static void wait_for_ever(void)
{
	static const VIP_ULONG for_ever[] = { 0xffffffff, VIP_INFINITE };
	struct net_address local, remote, to;
	VIP_VI_ATTRIBUTES a, theirs;
	VIP_CONN_HANDLE conn;
	VIP_VI_HANDLE vi;
	struct asker k;
	struct disc d;
	unsigned int i;

	/* Both ends in one process here, whatever the peer. */
	env.host = NULL;
	a = vi_attributes(&env.nic, env.level);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(for_ever); i++) {
		d = new_disc();
		own_address(&env.nic, &local, d.bytes, d.len);
		to = local;
		ask_start(&k, vi, &d, for_ever[i]);
		REQUIRE_RC(VipConnectWait(env.nic.h, &to.a, for_ever[i],
					  &remote.a, &theirs, &conn),
			   VIP_SUCCESS);
		CHECK_RC(VipConnectReject(conn), VIP_SUCCESS);
		CHECK_RC(ask_join(&k), VIP_REJECT);
	}
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* A client with a NIC of its own; says with its status what it was told. */
static int client_main(struct net_address *a, VIP_ULONG timeout)
{
	VIP_VI_ATTRIBUTES attr = { env.level, 4096, NULL, NULL, 0, 0 }, theirs;
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	VIP_RETURN rc;

	if (VipOpenNic(env.device, &nic) != VIP_SUCCESS ||
	    VipCreateVi(nic, &attr, NULL, NULL, &vi) != VIP_SUCCESS)
		return 100;
	/* The waiting server may not be there yet. */
	do {
		rc = VipConnectRequest(vi, &a->a, &a->a, timeout, &theirs);
	} while (rc == VIP_NO_MATCH);
	return rc;
}

/*
 * Accepted when its time is over, though it has not looked at the clock yet:
 * the client is told TIMEOUT as the server is, not that it was rejected.
 */
static void late(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), theirs;
	struct net_address local, remote;
	struct disc d = new_disc();
	VIP_CONN_HANDLE conn;
	VIP_VI_HANDLE vi;
	int status = -1;
	VIP_RETURN rc;
	pid_t pid;

	a.MaxTransferSize = 4096;
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	own_address(&env.nic, &local, d.bytes, d.len);
	pid = child_fork();
	if (pid == 0)
		_exit(client_main(&local, 10 * SHORT_MS));
	rc = VipConnectWait(env.nic.h, &local.a, LONG_MS, &remote.a, &theirs,
			    &conn);
	if (!CHECK_RC(rc, VIP_SUCCESS))
		kill(pid, SIGKILL);
	else
		kill(pid, SIGSTOP);
	REQUIRE(waitpid(pid, &status, WUNTRACED) == pid);
	about("client's status 0x%x", status);
	REQUIRE_RC(rc, VIP_SUCCESS);
	pause_ms(12 * SHORT_MS);
	CHECK_RC(VipConnectAccept(conn, vi), VIP_TIMEOUT);
	REQUIRE(!kill(pid, SIGCONT));
	if (WIFSTOPPED(status))
		REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_RC(WEXITSTATUS(status), VIP_TIMEOUT);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "accept.mismatch", "10.6 VipConnectAccept, attribute conflict",
	  mismatch, G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "accept.bad", "10.6 VipConnectAccept, VipConnectReject", bad_accept,
	  G_PEER, 0 },
	{ "accept.wait_timeouts", "10.6 VipConnectWait, 14 time-out 0",
	  wait_timeouts, G_EARLY, 0 },
	{ "accept.wait_arguments", "10.6 VipConnectWait", wait_arguments, 0,
	  0 },
	{ "accept.discriminators", "3 VIP_NET_ADDRESS, C13, 12", discriminators,
	  G_PEER | G_SUNNY, 0 },
	{ "accept.near_misses", "10.6 matching, zero length", near_misses,
	  G_PEER, 0 },
	{ "accept.two_waiters", "10.6 VipConnectWait, first come first served",
	  two_waiters, G_PEER, 0 },
	{ "accept.late", "10.6 after the client's time, TIMEOUT", late, G_OWN,
	  0 },
	{ "accept.for_ever", "C16 both encodings of no limit", wait_for_ever,
	  0, 0 },
};

NOUN(accept, groups);
