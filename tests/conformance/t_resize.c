// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipResizeCQ: section 10.5. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(resize, groups);
