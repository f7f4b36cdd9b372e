/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the agent calls. */
#ifndef _VR_HOOK_H
#define _VR_HOOK_H

#include "dev.h"

/* Handles are opened with them and the device as their private data. */
extern const struct via_kernel_ops vr_hooks;

#endif
