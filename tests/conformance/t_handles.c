// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Handles that are NULL, stale, or of another kind: section 10. */
#include "remote.h"

/* Every call that takes a NIC, with all else in order. */
static void with_nic(VIP_NIC_HANDLE n)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), theirs;
	struct net_address addr, remote;
	VIP_PROTECTION_HANDLE ptag;
	VIP_NIC_ATTRIBUTES na;
	VIP_ULONG len = 64;
	VIP_CONN_HANDLE conn;
	VIP_MEM_HANDLE h;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	char name[64];

	own_address(&env.nic, &addr, "h", 1);
	CHECK_RC(VipQueryNic(n, &na), VIP_INVALID_PARAMETER);
	CHECK_RC(VipCreateVi(n, &a, NULL, NULL, &vi), VIP_INVALID_PARAMETER);
	CHECK_RC(VipCreatePtag(n, &ptag), VIP_INVALID_PARAMETER);
	CHECK_RC(VipDestroyPtag(n, env.nic.ptag), VIP_INVALID_PARAMETER);
	CHECK_RC(VipRegisterMem(n, env.nic.arena, 64, NULL, &h),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipDeregisterMem(n, env.nic.arena, env.nic.arena_h),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipCreateCQ(n, 4, &cq), VIP_INVALID_PARAMETER);
	CHECK_RC(VipConnectWait(n, &addr.a, 0, &remote.a, &theirs, &conn),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipErrorCallback(n, NULL, NULL), VIP_INVALID_PARAMETER);
	CHECK_RC(VipNSInit(n, NULL), VIP_INVALID_PARAMETER);
	CHECK_RC(VipNSGetHostByName(n, "localhost", &remote.a, 0),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipNSGetHostByAddr(n, &addr.a, name, &len),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipNSShutdown(n), VIP_INVALID_PARAMETER);
	CHECK_RC(VipCloseNic(n), VIP_INVALID_PARAMETER);
}

static void with_vi(VIP_VI_HANDLE v)
{
	struct net_address local, remote;
	VIP_DESCRIPTOR *d = nic_slot(&env.nic), *out;
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN se, re;
	VIP_VI_STATE state;

	own_address(&env.nic, &local, "h", 1);
	own_address(&env.nic, &remote, "i", 1);
	CHECK_RC(VipDestroyVi(v), VIP_INVALID_PARAMETER);
	CHECK_RC(VipQueryVi(v, &state, &a, &se, &re), VIP_INVALID_PARAMETER);
	CHECK_RC(VipPostSend(v, d, env.nic.slots_h), VIP_INVALID_PARAMETER);
	CHECK_RC(VipPostRecv(v, d, env.nic.slots_h), VIP_INVALID_PARAMETER);
	CHECK_RC(VipSendDone(v, &out), VIP_INVALID_PARAMETER);
	CHECK_RC(VipRecvDone(v, &out), VIP_INVALID_PARAMETER);
	CHECK_RC(VipSendWait(v, 0, &out), VIP_INVALID_PARAMETER);
	CHECK_RC(VipRecvWait(v, VIP_INFINITE, &out), VIP_INVALID_PARAMETER);
	CHECK_RC(VipConnectRequest(v, &local.a, &remote.a, 10, &a),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipDisconnect(v), VIP_INVALID_PARAMETER);
}

static void with_cq(VIP_CQ_HANDLE c)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	CHECK_RC(VipDestroyCQ(c), VIP_INVALID_PARAMETER);
	CHECK_RC(VipCQDone(c, &vi, &recv), VIP_INVALID_PARAMETER);
	CHECK_RC(VipCQWait(c, 0, &vi, &recv), VIP_INVALID_PARAMETER);
	CHECK_RC(VipCQWait(c, VIP_INFINITE, &vi, &recv),
		 VIP_INVALID_PARAMETER);
	if (!c)		/* which means none there */
		return;
	CHECK_RC(VipCreateVi(env.nic.h, &a, c, NULL, &vi),
		 VIP_INVALID_PARAMETER);
	CHECK_RC(VipCreateVi(env.nic.h, &a, NULL, c, &vi),
		 VIP_INVALID_PARAMETER);
}

static void with_conn(VIP_CONN_HANDLE c)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	CHECK_RC(VipConnectAccept(c, vi), VIP_INVALID_PARAMETER);
	CHECK_RC(VipConnectReject(c), VIP_INVALID_PARAMETER);
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

struct all {
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	VIP_PROTECTION_HANDLE ptag;
};

static struct all make(void)
{
	VIP_VI_ATTRIBUTES a = { env.level, 4096, NULL, NULL, 0, 0 };
	struct all o;

	REQUIRE_RC(VipOpenNic(env.device, &o.nic), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(o.nic, &o.ptag), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(o.nic, 4, &o.cq), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(o.nic, &a, o.cq, NULL, &o.vi), VIP_SUCCESS);
	return o;
}

static void null(void)
{
	with_nic(NULL);
	with_vi(NULL);
	with_cq(NULL);
	with_conn(NULL);
}

static void another_kind(void)
{
	struct all o = make();
	VIP_NIC_ATTRIBUTES a;

	about("a VI");
	with_nic(o.vi);
	with_cq(o.vi);
	with_conn(o.vi);
	about("a CQ");
	with_nic(o.cq);
	with_vi(o.cq);
	with_conn(o.cq);
	about("a Ptag");
	with_nic(o.ptag);
	with_vi(o.ptag);
	with_cq(o.ptag);
	with_conn(o.ptag);
	about("a NIC");
	with_vi(o.nic);
	with_cq(o.nic);
	with_conn(o.nic);
	/* None of them was harmed. */
	CHECK_EQ(vi_state(o.vi), VIP_STATE_IDLE);
	CHECK_RC(VipQueryNic(o.nic, &a), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(o.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(o.cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(o.nic, o.ptag), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
}

/* Destroyed one by one, and then all replaced by new ones. */
static void stale(void)
{
	struct all o = make(), again;

	CHECK_RC(VipDestroyVi(o.vi), VIP_SUCCESS);
	with_vi(o.vi);
	CHECK_RC(VipDestroyCQ(o.cq), VIP_SUCCESS);
	with_cq(o.cq);
	CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
	with_nic(o.nic);
	again = make();
	about("after new ones were made");
	CHECK(again.nic != o.nic && again.vi != o.vi && again.cq != o.cq);
	with_nic(o.nic);
	with_vi(o.vi);
	with_cq(o.cq);
	CHECK_RC(VipCloseNic(again.nic), VIP_SUCCESS);
	about("closed with its objects");
	with_nic(again.nic);
	with_vi(again.vi);
	with_cq(again.cq);
}

/* Values that are no handles at all. */
static void made_up(void)
{
	static const uintptr_t values[] = {
		1, 2, 3, 4, 64, 4096, 0xdeadbeef, ~(uintptr_t)0,
		(uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		about("handle 0x%lx", (unsigned long)values[i]);
		with_nic((VIP_NIC_HANDLE)values[i]);
		with_vi((VIP_VI_HANDLE)values[i]);
		with_cq((VIP_CQ_HANDLE)values[i]);
		with_conn((VIP_CONN_HANDLE)values[i]);
	}
}

static const struct group groups[] = {
	{ "handles.null", "10 common rules", null, G_EARLY, 0 },
	{ "handles.another_kind", "10 common rules", another_kind, 0, 0 },
	{ "handles.stale", "10 common rules", stale, 0, 0 },
	{ "handles.made_up", "10 common rules", made_up, 0, 0 },
};

NOUN(handles, groups);
