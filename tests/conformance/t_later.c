// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls that a provider may not have yet: the named code, not a crash. Bad
 * arguments are INVALID_PARAMETER, or the same code.
 */
#include "remote.h"
#include <string.h>

static bool refused(VIP_RETURN rc)
{
	return rc == VIP_INVALID_PARAMETER || rc == VIP_ERROR_NOT_SUPPORTED;
}

static void attributes(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_MEM_ATTRIBUTES m = { env.nic.ptag, VIP_TRUE, VIP_FALSE };
	VIP_NIC_HANDLE n = env.nic.h;
	void *p = env.nic.arena;
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;

	REQUIRE_RC(VipCreateVi(n, &a, NULL, NULL, &vi), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(n, 4, &cq), VIP_SUCCESS);
	CHECK_RC(VipResizeCQ(cq, 64), VIP_ERROR_NOT_SUPPORTED);
	CHECK_RC(VipSetViAttributes(vi, &a), VIP_ERROR_NOT_SUPPORTED);
	CHECK_RC(VipQueryMem(n, p, env.nic.arena_h, &m),
		 VIP_ERROR_NOT_SUPPORTED);
	CHECK_RC(VipSetMemAttributes(n, p, env.nic.arena_h, &m),
		 VIP_ERROR_NOT_SUPPORTED);
	CHECK(refused(VipResizeCQ(NULL, 64)));
	CHECK(refused(VipResizeCQ(cq, 0)));
	CHECK(refused(VipSetViAttributes(NULL, &a)));
	CHECK(refused(VipSetViAttributes(vi, NULL)));
	CHECK(refused(VipQueryMem(NULL, p, env.nic.arena_h, &m)));
	CHECK(refused(VipQueryMem(n, p, 0, &m)));
	CHECK(refused(VipQueryMem(n, p, env.nic.arena_h, NULL)));
	CHECK(refused(VipSetMemAttributes(NULL, p, env.nic.arena_h, &m)));
	CHECK(refused(VipSetMemAttributes(n, p, 0, &m)));
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static void management(void)
{
	VIP_AUTODISCOVERY_LIST list;

	memset(&list, 0, sizeof(list));
	CHECK_RC(VipQuerySystemManagementInfo(env.nic.h, VIP_SMI_AUTODISCOVERY,
					      &list),
		 VIP_ERROR_NOT_SUPPORTED);
	CHECK_RC(VipQuerySystemManagementInfo(env.nic.h, 4711, &list),
		 VIP_ERROR_NOT_SUPPORTED);
	CHECK(refused(VipQuerySystemManagementInfo(NULL, 1, &list)));
	CHECK(refused(VipQuerySystemManagementInfo(env.nic.h, 1, NULL)));
}

static const struct group groups[] = {
	{ "later.attributes", "10.2, 10.3, 10.5 Resize, Set, QueryMem",
	  attributes, 0, 0 },
	{ "later.management", "10.9 VipQuerySystemManagementInfo", management,
	  0, 0 },
};

NOUN(later, groups);
