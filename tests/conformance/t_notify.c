// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The three Notify calls: sections 10.4, 10.5, 11. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(notify, groups);
