// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names without a file: section 10.8. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(discover, groups);
