// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What Reliable Reception promises beyond Reliable Delivery: section 6. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(reception, groups);
