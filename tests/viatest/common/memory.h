/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Anonymous memory, zeroed; the program ends without it. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stddef.h>

void *memory_new(size_t len);
/* Of a process and its children. */
void *memory_shared(size_t len);

#endif
