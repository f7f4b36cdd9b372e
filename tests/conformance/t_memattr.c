// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipQueryMem and VipSetMemAttributes: section 10.3. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(memattr, groups);
