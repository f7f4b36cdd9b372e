// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Creating, destroying and querying VIs: section 10.2. */
#include "remote.h"
#include <string.h>

static VIP_RETURN create(VIP_VI_ATTRIBUTES a)
{
	VIP_VI_HANDLE vi = NULL;
	VIP_RETURN rc;

	rc = VipCreateVi(env.nic.h, &a, NULL, NULL, &vi);
	if (rc == VIP_SUCCESS) {
		CHECK(vi != NULL);
		CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	}
	return rc;
}

static void bad_level(void)
{
	static const VIP_RELIABILITY_LEVEL levels[] = {
		0, 3, 5, 6, 7, 8, 0x4000, 0x4001, 0x8002, 0xffff,
	};
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	unsigned int i;

	CHECK_RC(create(a), VIP_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		a.ReliabilityLevel = levels[i];
		about("level 0x%x", levels[i]);
		CHECK_RC(create(a), VIP_INVALID_RELIABILITY_LEVEL);
	}
	for (i = 1; i <= 4; i <<= 1) {
		a.ReliabilityLevel = i;
		about("level 0x%x", i);
		CHECK_RC(create(a),
			 env.nic.attr.ReliabilityLevelSupport & i ?
			 VIP_SUCCESS : VIP_INVALID_RELIABILITY_LEVEL);
	}
}

static void bad_mtu(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);

	a.MaxTransferSize = 0;
	CHECK_RC(create(a), VIP_INVALID_MTU);
	a.MaxTransferSize = env.nic.attr.MaxTransferSize + 1;
	CHECK_RC(create(a), VIP_INVALID_MTU);
	a.MaxTransferSize = ~(VIP_ULONG)0;
	CHECK_RC(create(a), VIP_INVALID_MTU);
	if (sizeof(VIP_ULONG) > 4) {
		a.MaxTransferSize = (VIP_ULONG)1 << (4 * sizeof(VIP_ULONG));
		a.MaxTransferSize += 4096;
		CHECK_RC(create(a), VIP_INVALID_MTU);
	}
	a.MaxTransferSize = 1;
	CHECK_RC(create(a), VIP_SUCCESS);
	a.MaxTransferSize = env.nic.attr.MaxTransferSize;
	CHECK_RC(create(a), VIP_SUCCESS);
}

static void bad_ptag(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_PROTECTION_HANDLE gone;
	VIP_NIC_HANDLE other;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &gone), VIP_SUCCESS);
	a.Ptag = gone;
	CHECK_RC(create(a), VIP_SUCCESS);
	REQUIRE_RC(VipDestroyPtag(env.nic.h, gone), VIP_SUCCESS);
	CHECK_RC(create(a), VIP_INVALID_PTAG);
	a.Ptag = env.nic.h;
	CHECK_RC(create(a), VIP_INVALID_PTAG);
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(other, &a.Ptag), VIP_SUCCESS);
	CHECK_RC(create(a), VIP_INVALID_PTAG);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	a.Ptag = NULL;
	CHECK_RC(create(a), VIP_SUCCESS);
}

static void bad_rest(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_CQ_HANDLE cq, foreign;
	VIP_NIC_HANDLE other;
	VIP_VI_HANDLE vi;

	a.QoS = &vi;
	CHECK_RC(create(a), VIP_INVALID_QOS);
	a.QoS = NULL;
	a.EnableRdmaRead = VIP_TRUE;
	CHECK_RC(create(a), env.nic.attr.RDMAReadSupport & env.level ?
		 VIP_SUCCESS : VIP_INVALID_RDMAREAD);
	a.EnableRdmaRead = VIP_FALSE;
	CHECK_INVALID(VipCreateVi(env.nic.h, NULL, NULL, NULL, &vi));
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, NULL, NULL, NULL));
	CHECK_INVALID(VipCreateVi(NULL, &a, NULL, NULL, &vi));
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, env.nic.h, NULL, &vi));
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, NULL, env.nic.ptag, &vi));
	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(other, 8, &foreign), VIP_SUCCESS);
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, foreign, NULL, &vi));
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, cq, foreign, &vi));
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, foreign, NULL, &vi));
	/* The failed ones hold nothing. */
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, cq, NULL, &vi));
}

static void query(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), got;
	VIP_BOOLEAN se = 7, re = 7;
	VIP_VI_STATE state = 99;
	struct xfer x = our_buf(0, 10, 1);
	VIP_VI_HANDLE vi;

	a.MaxTransferSize = 12345;
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	memset(&got, XFER_GUARD, sizeof(got));
	REQUIRE_RC(VipQueryVi(vi, &state, &got, &se, &re), VIP_SUCCESS);
	CHECK_EQ(state, VIP_STATE_IDLE);
	CHECK_EQ(got.ReliabilityLevel, env.level);
	CHECK(got.MaxTransferSize >= 12345);
	CHECK(got.QoS == NULL);
	CHECK(got.Ptag == env.nic.ptag);
	CHECK_EQ(got.EnableRdmaWrite, VIP_TRUE);
	CHECK_EQ(got.EnableRdmaRead, VIP_FALSE);
	CHECK_EQ(se, VIP_TRUE);
	CHECK_EQ(re, VIP_TRUE);
	vi_post(vi, RECVQ, &x);
	CHECK_RC(VipQueryVi(vi, &state, &got, &se, &re), VIP_SUCCESS);
	CHECK_EQ(se, VIP_TRUE);
	CHECK_EQ(re, VIP_FALSE);
	CHECK_INVALID(VipQueryVi(NULL, &state, &got, &se, &re));
	CHECK_INVALID(VipQueryVi(vi, NULL, &got, &se, &re));
	CHECK_INVALID(VipQueryVi(vi, &state, NULL, &se, &re));
	CHECK_INVALID(VipQueryVi(vi, &state, &got, NULL, &re));
	CHECK_INVALID(VipQueryVi(vi, &state, &got, &se, NULL));
}

static void many(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vi[64];
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(vi); i++) {
		REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi[i]),
			   VIP_SUCCESS);
		for (j = 0; j < i; j++)
			if (vi[i] == vi[j])
				CHECK(!"two VIs have one handle");
	}
	for (i = 0; i < ARRAY_SIZE(vi); i++)
		CHECK_EQ(vi_state(vi[i]), VIP_STATE_IDLE);
	for (i = 0; i < ARRAY_SIZE(vi); i++)
		CHECK_RC(VipDestroyVi(vi[i]), VIP_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(vi); i++)
		CHECK_INVALID(VipDestroyVi(vi[i]));
	CHECK_RC(create(a), VIP_SUCCESS);
}

static void idle(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct xfer x = our_buf(0, 10, 1);
	VIP_DESCRIPTOR *first;
	struct done r;
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	CHECK_RC(nic_post(&env.nic, vi, SENDQ, &x, NULL), VIP_INVALID_STATE);
	CHECK_NONE(poll_done(vi, SENDQ), VIP_DESCRIPTOR_ERROR);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	first = vi_post(vi, RECVQ, &x);
	vi_post(vi, RECVQ, &x);
	CHECK_RC(poll_done(vi, RECVQ).rc, VIP_NOT_DONE);
	CHECK_RC(VipDestroyVi(vi), VIP_ERROR_RESOURCE);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	/* The way out for receives that no message will ever fill. */
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	r = poll_done(vi, RECVQ);
	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == first);
	CHECK_EQ(r.status, VIP_STATUS_DONE | VIP_STATUS_DESC_FLUSHED_ERROR |
		 VIP_STATUS_OP_RECEIVE);
	/* C14: the other one is dropped with the VI. */
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_INVALID(VipDestroyVi(vi));
}

static void destroy_states(void)
{
	struct pair p;

	pair_open(&p, NULL);
	CHECK_RC(VipDestroyVi(p.vi), VIP_INVALID_STATE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	check_alive(&p);
	peer_disconnect(p.pvi);
	CHECK_STATE(p.vi, VIP_STATE_ERROR);
	CHECK_RC(VipDestroyVi(p.vi), VIP_INVALID_STATE);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "vi.bad_level", "10.2 VipCreateVi INVALID_RELIABILITY_LEVEL, 2",
	  bad_level, G_EARLY, 0 },
	{ "vi.bad_mtu", "10.2 VipCreateVi INVALID_MTU", bad_mtu, G_EARLY, 0 },
	{ "vi.bad_ptag", "10.2 VipCreateVi INVALID_PTAG, C15", bad_ptag, 0,
	  0 },
	{ "vi.bad_rest", "10.2 VipCreateVi QOS, RDMAREAD, CQs, pointers",
	  bad_rest, G_LEVELS, 0 },
	{ "vi.query", "10.2 VipQueryVi", query, G_LEVELS | G_EARLY | G_SUNNY,
	  0 },
	{ "vi.many", "10.2, 12 MaxVI", many, G_EARLY | G_SUNNY, 0 },
	{ "vi.idle", "5 Idle, 10.2 VipDestroyVi, C14", idle, G_LEVELS | G_EARLY,
	  0 },
	{ "vi.destroy_states", "10.2 VipDestroyVi INVALID_STATE, 5",
	  destroy_states, G_PEER | G_LEVELS | G_EARLY, 0 },
};

NOUN(vi, groups);
