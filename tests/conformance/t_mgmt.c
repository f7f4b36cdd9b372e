// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipQuerySystemManagementInfo: section 10.9. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(mgmt, groups);
