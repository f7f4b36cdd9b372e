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
	{ "later.management", "10.9 VipQuerySystemManagementInfo", management,
	  0, 0 },
};

NOUN(later, groups);
