/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DSM_BOOT_H
#define DSM_BOOT_H

#include "run.h"

/* Reads the variables that viadsm(1) sets; ends the program where that
 * makes no sense. One node where there is nothing.
 */
void boot_read(struct run_config *c);

#endif
