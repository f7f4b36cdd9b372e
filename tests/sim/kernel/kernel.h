/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each <linux/...> of the sources under test stands for. */
#include "dev.h"
#include "blake2s.h"
#include "siphash.h"
#include "trace.h"
