// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Ordering and visibility: sections 7.1, 7.11, 9. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(order, groups);
