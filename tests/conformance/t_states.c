// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The VI state machine, transition by transition: section 5. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(states, groups);
