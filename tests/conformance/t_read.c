// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* RDMA Read, at both reliable levels: sections 7.8, 7.9, 6. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(read, groups);
