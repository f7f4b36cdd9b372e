// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Asynchronous errors, code by code: section 8. */
#include "remote.h"

static const struct group groups[] = {
};

NOUN(errors, groups);
