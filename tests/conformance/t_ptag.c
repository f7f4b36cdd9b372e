// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Protection tags: section 10.3. */
#include "remote.h"

static void create_destroy(void)
{
	VIP_PROTECTION_HANDLE t[256];
	unsigned int i, j;

	for (i = 0; i + 1 < ARRAY_SIZE(t); i++) {
		t[i] = NULL;
		REQUIRE_RC(VipCreatePtag(env.nic.h, &t[i]), VIP_SUCCESS);
		REQUIRE(t[i] != NULL && t[i] != env.nic.ptag);
		for (j = 0; j < i; j++)
			if (t[i] == t[j])
				CHECK(!"two tags are the same");
	}
	for (i = 0; i + 1 < ARRAY_SIZE(t); i++)
		CHECK_RC(VipDestroyPtag(env.nic.h, t[i]), VIP_SUCCESS);
	CHECK_INVALID(VipDestroyPtag(env.nic.h, t[0]));
	CHECK_INVALID(VipDestroyPtag(env.nic.h, t[200]));
}

static void bad_arguments(void)
{
	VIP_PROTECTION_HANDLE t;
	VIP_NIC_HANDLE other;
	VIP_CQ_HANDLE cq;

	CHECK_INVALID(VipCreatePtag(env.nic.h, NULL));
	CHECK_INVALID(VipCreatePtag(NULL, &t));
	CHECK_INVALID(VipDestroyPtag(env.nic.h, NULL));
	CHECK_INVALID(VipDestroyPtag(NULL, env.nic.ptag));
	CHECK_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	CHECK_INVALID(VipDestroyPtag(env.nic.h, cq));
	CHECK_INVALID(VipDestroyPtag(env.nic.h, env.nic.h));
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(other, &t), VIP_SUCCESS);
	CHECK_INVALID(VipDestroyPtag(env.nic.h, t));
	CHECK_INVALID(VipDestroyPtag(other, env.nic.ptag));
	CHECK_RC(VipDestroyPtag(other, t), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
}

static void in_use(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_FALSE, VIP_FALSE };
	void *p = pages(4096);
	VIP_MEM_HANDLE h[2];
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &a.Ptag), VIP_SUCCESS);
	m.Ptag = a.Ptag;
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	REQUIRE_RC(VipRegisterMem(env.nic.h, p, 100, &m, &h[0]), VIP_SUCCESS);
	REQUIRE_RC(VipRegisterMem(env.nic.h, p, 100, &m, &h[1]), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDeregisterMem(env.nic.h, p, h[0]), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDeregisterMem(env.nic.h, p, h[1]), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_SUCCESS);
	CHECK_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi),
		 VIP_INVALID_PTAG);
}

static void limit(void)
{
	VIP_PROTECTION_HANDLE t, last = NULL;
	VIP_ULONG i;

	if (env.nic.attr.MaxPtags > 65536) {
		CHECK(env.nic.attr.MaxPtags >= 256);
		return;
	}
	/* Two are taken: the arena's, and the default one may count. */
	for (i = 0; i < env.nic.attr.MaxPtags - 2; i++) {
		REQUIRE_RC(VipCreatePtag(env.nic.h, &t), VIP_SUCCESS);
		last = t;
	}
	for (i = 0; i < 2 && VipCreatePtag(env.nic.h, &t) == VIP_SUCCESS; i++)
		;
	CHECK_RC(VipCreatePtag(env.nic.h, &t), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyPtag(env.nic.h, last), VIP_SUCCESS);
	CHECK_RC(VipCreatePtag(env.nic.h, &t), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "ptag.create_destroy", "10.3 VipCreatePtag, VipDestroyPtag, 12",
	  create_destroy, G_EARLY | G_SUNNY, 0 },
	{ "ptag.bad_arguments", "10.3, 10 common rules", bad_arguments, G_EARLY,
	  0 },
	{ "ptag.in_use", "10.3 VipDestroyPtag, still used", in_use, 0, 0 },
	{ "ptag.limit", "12 MaxPtags", limit, 0, 0 },
};

NOUN(ptag, groups);
