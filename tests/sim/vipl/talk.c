// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <vipl.h>
#include "programs.h"
void *talk_main(void *talk) { return talk; }
