// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's tracepoints are here, and called elsewhere. */

#define CREATE_TRACE_POINTS
#include "via_trace.h"
