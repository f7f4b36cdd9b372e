// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipQuerySystemManagementInfo: section 10.9. */
#include "remote.h"
#include <string.h>

#define HOPS	5
#define MOST	1000

static VIP_AUTODISCOVERY_LIST ask(VIP_NIC_HANDLE nic)
{
	VIP_AUTODISCOVERY_LIST l;

	memset(&l, XFER_GUARD, sizeof(l));
	l.NumberOfHops = HOPS;
	CHECK_RC(VipQuerySystemManagementInfo(nic, VIP_SMI_AUTODISCOVERY, &l),
		 VIP_SUCCESS);
	return l;
}

/* How often an address is in the list. */
static unsigned int listed(const VIP_AUTODISCOVERY_LIST *l,
			   const uint8_t *host)
{
	unsigned int i, n = 0;

	for (i = 0; i < l->NumAdAddrs; i++)
		n += !memcmp(l->ADAddrArray[i]->HostAddress, host,
			     env.nic.attr.NicAddressLen);
	return n;
}

static void check_list(const VIP_AUTODISCOVERY_LIST *l)
{
	unsigned int i;

	CHECK_EQ(l->NumberOfHops, HOPS);
	REQUIRE(l->ADAddrArray != NULL);
	REQUIRE(l->NumAdAddrs >= 1 && l->NumAdAddrs < MOST);
	for (i = 0; i < l->NumAdAddrs; i++) {
		about("address %u of %lu", i, l->NumAdAddrs);
		REQUIRE(l->ADAddrArray[i] != NULL);
		CHECK_EQ(l->ADAddrArray[i]->HostAddressLen,
			 env.nic.attr.NicAddressLen);
		CHECK_EQ(l->ADAddrArray[i]->DiscriminatorLen, 0);
		CHECK_EQ(listed(l, l->ADAddrArray[i]->HostAddress), 1);
	}
	about("own address");
	CHECK_EQ(listed(l, env.nic.attr.LocalNicAddress), 1);
}

static void autodiscovery(void)
{
	VIP_AUTODISCOVERY_LIST l = ask(env.nic.h);

	check_list(&l);
}

/* A list stays until the next call on its handle, whatever others do. */
static void lifetime(void)
{
	VIP_AUTODISCOVERY_LIST first, second;
	VIP_NIC_HANDLE other;

	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	first = ask(env.nic.h);
	second = ask(other);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	CHECK_INVALID(VipQuerySystemManagementInfo(other, VIP_SMI_AUTODISCOVERY,
						   &second));
	CHECK_RC(VipQuerySystemManagementInfo(env.nic.h, 2, &second),
		 VIP_ERROR_NOT_SUPPORTED);
	check_list(&first);
}

static void arguments(void)
{
	static const VIP_ULONG types[] = {
		0, 2, 3, 0x10001, 0xffffffff, ~(VIP_ULONG)0,
	};
	VIP_AUTODISCOVERY_LIST l;
	unsigned int i;

	memset(&l, XFER_GUARD, sizeof(l));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		about("type 0x%lx", types[i]);
		CHECK_RC(VipQuerySystemManagementInfo(env.nic.h, types[i], &l),
			 VIP_ERROR_NOT_SUPPORTED);
		CHECK_INVALID(VipQuerySystemManagementInfo(NULL, types[i], &l));
		CHECK_INVALID(VipQuerySystemManagementInfo(env.nic.h, types[i],
							   NULL));
	}
	about("autodiscovery");
	CHECK_INVALID(VipQuerySystemManagementInfo(NULL, VIP_SMI_AUTODISCOVERY,
						   &l));
	CHECK_INVALID(VipQuerySystemManagementInfo(env.nic.ptag,
						   VIP_SMI_AUTODISCOVERY, &l));
	CHECK_INVALID(VipQuerySystemManagementInfo(env.nic.h,
						   VIP_SMI_AUTODISCOVERY,
						   NULL));
	CHECK_EQ(bytes_other(&l, XFER_GUARD, sizeof(l)), 0);
}

static const struct group groups[] = {
	{ "mgmt.autodiscovery", "10.9 VipQuerySystemManagementInfo",
	  autodiscovery, G_FULL | G_SUNNY, 0 },
	{ "mgmt.lifetime", "10.9 provider-owned list", lifetime, G_FULL, 0 },
	{ "mgmt.arguments", "10.9, 14 unknown InfoType", arguments, G_FULL,
	  0 },
};

NOUN(mgmt, groups);
