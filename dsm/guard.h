/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Views of pages by userfaultfd: an access to a page outside of the view raises SIGBUS. */
#ifndef DSM_GUARD_H
#define DSM_GUARD_H

#include "node.h"

/* Returns the file descriptor; ends the program where the kernel lacks a feature.
 * Memory is the other mapping of the same pages.
 */
int guard_open(void *program, uint8_t *memory, size_t bytes);

void guard_set(int uffd, void *at, size_t bytes, enum page_view view);

#endif
