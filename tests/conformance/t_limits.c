// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The limits that VipQueryNic tells: section 12. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(limits, groups);
