/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FEW_H
#define FEW_H

/* Nodes on the host of this one. In dsmfew alone. */
unsigned int few_here(void) __attribute__((weak));

#endif
