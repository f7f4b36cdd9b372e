// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The extensions of vipl_ext.h, where the library has them: a NIC does what
 * VipExtQueryFeatures says; what it does not have is VIP_ERROR_NOT_SUPPORTED
 * and changes nothing.
 */
#include "remote.h"

#if __has_include(<vipl_ext.h>)
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <vipl_ext.h>

#pragma weak VipExtQueryFeatures
#pragma weak VipExtCQGetFd
#pragma weak VipExtCQArm
#pragma weak VipExtNicGetFd
#pragma weak VipExtNicClear
#pragma weak VipExtConnectListen
#pragma weak VipExtConnectWait
#pragma weak VipExtConnectRequest
#pragma weak VipExtConnectAccept
#pragma weak VipExtConnectReject
#pragma weak VipExtConnectDone
#pragma weak VipExtReserve

#define ALL	(VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD |		\
		 VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN |		\
		 VIP_FEATURE_PRIVATE | VIP_FEATURE_MEMLOCK |		\
		 VIP_FEATURE_ONE_SIDED | VIP_FEATURE_REMOTE)

/* False, and there is nothing to test: a library without extensions. */
static bool extended(VIP_UINT64 *features)
{
	*features = 0;
	if (!VipExtQueryFeatures)
		return false;
	REQUIRE_RC(VipExtQueryFeatures(env.nic.h, features), VIP_SUCCESS);
	return true;
}

static void features(void)
{
	VIP_UINT64 f, other = 0;
	VIP_NIC_HANDLE nic;

	if (!extended(&f))
		return;
	CHECK_EQ(f & ~(VIP_UINT64)ALL, 0);
	REQUIRE_RC(VipOpenNic(env.device, &nic), VIP_SUCCESS);
	CHECK_RC(VipExtQueryFeatures(nic, &other), VIP_SUCCESS);
	CHECK_EQ(other, f);
	CHECK_RC(VipCloseNic(nic), VIP_SUCCESS);
	CHECK_INVALID(VipExtQueryFeatures(nic, &other));
	CHECK_INVALID(VipExtQueryFeatures(NULL, &other));
	CHECK_INVALID(VipExtQueryFeatures(env.nic.h, NULL));
	/* Whether the other end may be elsewhere. */
	if (env.host && memcmp(env.host, env.nic.attr.LocalNicAddress,
			       env.nic.attr.NicAddressLen))
		CHECK(f & VIP_FEATURE_REMOTE);
}

static bool readable(int fd, unsigned int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, (int)ms) == 1;
}

static void cq_file(void)
{
	struct xfer x = our_buf(0, 100, 1), tx = peer_buf(0, 60, 1);
	struct pair_opt o = { 0 };
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN recv;
	VIP_UINT64 f;
	struct pair p;
	int fd = -5;

	if (!extended(&f))
		return;
	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	if (!(f & VIP_FEATURE_CQ_FD)) {
		CHECK_RC(VipExtCQGetFd(cq, &fd), VIP_ERROR_NOT_SUPPORTED);
		CHECK_RC(VipExtCQArm(cq), VIP_ERROR_NOT_SUPPORTED);
		CHECK_EQ(fd, -5);
		CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
		return;
	}
	o.recv_cq = cq;
	pair_open(&p, &o);
	REQUIRE_RC(VipExtCQGetFd(cq, &fd), VIP_SUCCESS);
	CHECK_RC(VipExtCQArm(cq), VIP_SUCCESS);
	CHECK(!readable(fd, SHORT_MS));
	pair_post(&p, RECVQ, &x);
	CHECK_EQ(one_arrives(&p, &tx).length, 60);
	CHECK(readable(fd, LONG_MS));
	/* Another time: at once, since there is a notice; and then not. */
	CHECK_RC(VipExtCQArm(cq), VIP_SUCCESS);
	CHECK(readable(fd, LONG_MS));
	CHECK_RC(VipCQDone(cq, &vi, &recv), VIP_SUCCESS);
	CHECK_RC(VipExtCQArm(cq), VIP_SUCCESS);
	CHECK(!readable(fd, SHORT_MS));
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_INVALID(VipExtCQGetFd(cq, &fd));
}

static void nic_file(void)
{
	VIP_UINT64 f;
	int fd = -5;

	if (!extended(&f))
		return;
	if (!(f & VIP_FEATURE_NIC_FD)) {
		CHECK_RC(VipExtNicGetFd(env.nic.h, &fd),
			 VIP_ERROR_NOT_SUPPORTED);
		CHECK_RC(VipExtNicClear(env.nic.h), VIP_ERROR_NOT_SUPPORTED);
		CHECK_EQ(fd, -5);
		return;
	}
	REQUIRE_RC(VipExtNicGetFd(env.nic.h, &fd), VIP_SUCCESS);
	CHECK_RC(VipExtNicClear(env.nic.h), VIP_SUCCESS);
	CHECK(!readable(fd, SHORT_MS));
	CHECK_INVALID(VipExtNicGetFd(env.nic.h, NULL));
	CHECK_INVALID(VipExtNicGetFd(NULL, &fd));
}

/* A request of the peer's, which finds no thread in VipConnectWait. */
static struct ctl_msg asks(struct pair *p, const struct disc *d)
{
	struct ctl_msg m = { .cmd = P_REQUEST, .timeout = LONG_MS };

	memcpy(m.disc, d->bytes, d->len);
	m.disc_len = d->len;
	m.peer_disc_len = env.nic.attr.NicAddressLen;
	memcpy(m.peer_disc, env.nic.attr.LocalNicAddress, m.peer_disc_len);
	m.vi = p->pvi;
	return m;
}

static void backlog(void)
{
	uint64_t end = now_ms() + LONG_MS;
	struct net_address local, remote;
	struct disc d = new_disc();
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;
	struct pair p;
	VIP_UINT64 f;
	VIP_RETURN rc;

	if (!extended(&f))
		return;
	own_address(&env.nic, &local, d.bytes, d.len);
	pair_create(&p, NULL);
	if (!(f & VIP_FEATURE_LISTEN)) {
		CHECK_RC(VipExtConnectListen(env.nic.h, &local.a, 4),
			 VIP_ERROR_NOT_SUPPORTED);
		CHECK_RC(peer_do(asks(&p, &d)).rc, VIP_NO_MATCH);
		return;
	}
	REQUIRE_RC(VipExtConnectListen(env.nic.h, &local.a, 4), VIP_SUCCESS);
	peer_spawn(asks(&p, &d), 0);
	while ((rc = VipExtConnectWait(env.nic.h, &local.a, 0, &remote.a,
				       &theirs, NULL, NULL, &conn)) ==
	       VIP_TIMEOUT && now_ms() < end)
		pause_ms(1);
	REQUIRE_RC(rc, VIP_SUCCESS);
	CHECK_RC(VipConnectAccept(conn, p.vi), VIP_SUCCESS);
	CHECK_RC(peer_join(0).rc, VIP_SUCCESS);
	check_alive(&p);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	peer_disconnect(p.pvi);
	CHECK_RC(VipExtConnectListen(env.nic.h, &local.a, 0), VIP_SUCCESS);
	CHECK_RC(peer_do(asks(&p, &d)).rc, VIP_NO_MATCH);
	pair_close(&p);
}

/* A thread that waits for a request to this NIC itself. */
struct server {
	pthread_t thread;
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	char data[VIP_EXT_PRIVATE_MAX];
	VIP_ULONG len;
	VIP_CONN_HANDLE conn;
	VIP_RETURN rc;
};

static void *serve(void *arg)
{
	struct server *s = arg;

	s->len = sizeof(s->data);
	s->rc = VipExtConnectWait(env.nic.h, &s->local.a, LONG_MS,
				  &s->remote.a, &s->theirs, s->data, &s->len,
				  &s->conn);
	return NULL;
}

struct verdict {
	VIP_RETURN rc;
	VIP_VI_ATTRIBUTES theirs;
	char data[VIP_EXT_PRIVATE_MAX];
	VIP_ULONG len;
};

static struct verdict verdict_of(VIP_VI_HANDLE vi)
{
	uint64_t end = now_ms() + LONG_MS;
	struct verdict v;

	for (;;) {
		v.len = sizeof(v.data);
		v.rc = VipExtConnectDone(vi, &v.theirs, v.data, &v.len);
		if (v.rc != VIP_NOT_DONE || now_ms() >= end)
			return v;
		pause_ms(1);
	}
}

static VIP_VI_HANDLE idle_vi(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	return vi;
}

/* Begins until a server is there; s->rc is that of its wait. */
static void begin(struct server *s, VIP_VI_HANDLE vi, const char *data)
{
	struct disc d = new_disc();
	struct net_address local;
	VIP_RETURN rc;
	int waits = 1;

	own_address(&env.nic, &local, "ext", 3);
	own_address(&env.nic, &s->local, d.bytes, d.len);
	REQUIRE(!pthread_create(&s->thread, NULL, serve, s));
	do {
		rc = VipExtConnectRequest(vi, &local.a, &s->local.a, LONG_MS,
					  data, data ? strlen(data) : 0);
		if (rc != VIP_SUCCESS)
			break;
		/* In time no thread waits: it has the request. */
		while (waits && (rc = VipExtConnectDone(vi, NULL, NULL, NULL)) ==
		       VIP_NOT_DONE) {
			waits = pthread_tryjoin_np(s->thread, NULL);
			pause_ms(1);
		}
		/* The server's thread needs a processor to get so far. */
		if (waits && rc == VIP_NO_MATCH)
			pause_ms(1);
	} while (waits && rc == VIP_NO_MATCH);
	if (waits)
		pthread_join(s->thread, NULL);
	CHECK_RC(s->rc, VIP_SUCCESS);
	REQUIRE(!waits);
}

static void nothing_begun(VIP_VI_HANDLE vi, VIP_RETURN rc)
{
	CHECK_RC(VipExtConnectDone(vi, NULL, NULL, NULL), rc);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
}

static void nonblocking(void)
{
	VIP_VI_HANDLE client = idle_vi(), server = idle_vi();
	struct net_address local, remote;
	struct server s;
	VIP_UINT64 f;

	if (!extended(&f))
		return;
	own_address(&env.nic, &local, "ext", 3);
	own_address(&env.nic, &remote, "none", 4);
	if (!(f & VIP_FEATURE_NONBLOCKING)) {
		CHECK_RC(VipExtConnectRequest(client, &local.a, &remote.a,
					      LONG_MS, NULL, 0),
			 VIP_ERROR_NOT_SUPPORTED);
		nothing_begun(client, VIP_ERROR_NOT_SUPPORTED);
		return;
	}
	nothing_begun(client, VIP_INVALID_STATE);
	begin(&s, client, NULL);
	CHECK_RC(VipExtConnectAccept(s.conn, client, NULL, 0),
		 VIP_INVALID_STATE);
	CHECK_RC(VipExtConnectAccept(s.conn, server, NULL, 0), VIP_SUCCESS);
	CHECK_RC(verdict_of(server).rc, VIP_SUCCESS);
	CHECK_RC(verdict_of(client).rc, VIP_SUCCESS);
	CHECK_EQ(vi_state(client), VIP_STATE_CONNECTED);
	CHECK_EQ(vi_state(server), VIP_STATE_CONNECTED);
	/* Each verdict once. */
	CHECK_RC(VipExtConnectDone(client, NULL, NULL, NULL),
		 VIP_INVALID_STATE);
	CHECK_RC(VipDisconnect(client), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(server), VIP_SUCCESS);

	begin(&s, client, NULL);
	CHECK_RC(VipExtConnectReject(s.conn, NULL, 0), VIP_SUCCESS);
	CHECK_RC(verdict_of(client).rc, VIP_REJECT);
	nothing_begun(client, VIP_INVALID_STATE);
}

static bool same(const char *data, VIP_ULONG len, const char *want)
{
	return len == strlen(want) && !memcmp(data, want, len);
}

static void private_data(void)
{
	VIP_VI_HANDLE client = idle_vi(), server = idle_vi();
	struct net_address local, remote;
	struct server s;
	struct verdict v;
	VIP_UINT64 f;

	if (!extended(&f) || !(f & VIP_FEATURE_NONBLOCKING))
		return;
	if (!(f & VIP_FEATURE_PRIVATE)) {
		/* Given any, a call does nothing else either. */
		own_address(&env.nic, &local, "ext", 3);
		own_address(&env.nic, &remote, "none", 4);
		CHECK_RC(VipExtConnectRequest(client, &local.a, &remote.a,
					      LONG_MS, "x", 1),
			 VIP_ERROR_NOT_SUPPORTED);
		nothing_begun(client, VIP_INVALID_STATE);
		begin(&s, client, NULL);
		CHECK_EQ(s.len, 0);
		CHECK_RC(VipExtConnectAccept(s.conn, server, "x", 1),
			 VIP_ERROR_NOT_SUPPORTED);
		CHECK_RC(VipExtConnectReject(s.conn, "x", 1),
			 VIP_ERROR_NOT_SUPPORTED);
		CHECK_EQ(vi_state(server), VIP_STATE_IDLE);
		CHECK_RC(VipExtConnectReject(s.conn, NULL, 0), VIP_SUCCESS);
		CHECK_RC(verdict_of(client).rc, VIP_REJECT);
		return;
	}
	begin(&s, client, "is it there");
	CHECK(same(s.data, s.len, "is it there"));
	CHECK_RC(VipExtConnectAccept(s.conn, server, "a VI", 4), VIP_SUCCESS);
	CHECK_RC(verdict_of(server).rc, VIP_SUCCESS);
	v = verdict_of(client);
	CHECK_RC(v.rc, VIP_SUCCESS);
	CHECK(same(v.data, v.len, "a VI"));
	CHECK_RC(VipDisconnect(client), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(server), VIP_SUCCESS);

	begin(&s, client, "again");
	CHECK(same(s.data, s.len, "again"));
	CHECK_RC(VipExtConnectReject(s.conn, "no", 2), VIP_SUCCESS);
	v = verdict_of(client);
	CHECK_RC(v.rc, VIP_REJECT);
	CHECK(same(v.data, v.len, "no"));
}

/* Room for all that a queue may have, while there is something in it. */
static void reserve(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic,
					    VIP_SERVICE_UNRELIABLE);
	VIP_ULONG most = env.nic.attr.MaxDescriptorsPerQueue, i;
	VIP_DESCRIPTOR *d[20], *got;
	VIP_VI_HANDLE vi;

	if (!VipExtReserve)
		return;
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	for (i = 0; i < 20; i++) {
		struct xfer rx = our_buf(0, 0, 0);

		REQUIRE_RC(nic_post(&env.nic, vi, RECVQ, &rx, &d[i]),
			   VIP_SUCCESS);
		if (i % 4 == 3)
			CHECK_RC(VipExtReserve(vi, i * most / 19, i * most / 19),
				 VIP_SUCCESS);
	}
	CHECK_RC(VipExtReserve(vi, 0, 0), VIP_SUCCESS);
	CHECK_INVALID(VipExtReserve(vi, most + 1, 0));
	CHECK_INVALID(VipExtReserve(vi, 0, most + 1));
	CHECK_INVALID(VipExtReserve(NULL, 1, 1));
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	for (i = 0; i < 20; i++) {
		CHECK_RC(VipRecvDone(vi, &got), VIP_DESCRIPTOR_ERROR);
		CHECK(got == d[i]);
	}
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_INVALID(VipExtReserve(vi, 1, 1));
}

static const struct group groups[] = {
	{ "ext.features", "10.1 vipl_ext.h: features", features, G_FULL, 0 },
	{ "ext.cq_file", "10.5 vipl_ext.h: a file of a CQ, or not supported",
	  cq_file, G_PEER | G_FULL, 0 },
	{ "ext.nic_file", "10.1 vipl_ext.h: a file of a NIC, or not supported",
	  nic_file, G_FULL, 0 },
	{ "ext.backlog", "10.6 vipl_ext.h: requests kept, or not supported",
	  backlog, G_PEER | G_FULL, 0 },
	{ "ext.nonblocking", "10.6 vipl_ext.h: begun, or not supported",
	  nonblocking, G_FULL, 0 },
	{ "ext.private", "10.6 vipl_ext.h: private data, or not supported",
	  private_data, G_FULL, 0 },
	{ "ext.reserve", "12 MaxDescriptorsPerQueue, vipl_ext.h", reserve,
	  G_FULL, 0 },
};

NOUN(ext, groups);
#else
const struct noun ext_noun = { "ext", NULL, 0 };
#endif
