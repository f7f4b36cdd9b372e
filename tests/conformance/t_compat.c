// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The compatibility rules: section 13. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(compat, groups);
