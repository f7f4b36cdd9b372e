/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Anonymous pages. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stddef.h>

/* Not there before they are touched; NULL: there are no more. */
void *memory_try(size_t bytes);
/* The same, or the program ends. */
void *memory_new(size_t bytes);
/* There already, or the program ends. */
void *memory(size_t bytes);
/* The same between processes. */
void *memory_shared(size_t bytes);

#endif
