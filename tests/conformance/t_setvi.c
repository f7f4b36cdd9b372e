// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipSetViAttributes: section 10.2. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(setvi, groups);
