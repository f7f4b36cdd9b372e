// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Peer-to-peer connection: section 10.7. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(p2p, groups);
