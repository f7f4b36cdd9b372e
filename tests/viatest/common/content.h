/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes that both ends know: they follow from a key. */
#ifndef TESTS_CONTENT_H
#define TESTS_CONTENT_H

#include <stddef.h>
#include <stdint.h>

void content(void *p, uint64_t key, size_t len);
/* Offset of the first wrong byte, or len. */
size_t content_wrong(const void *p, uint64_t key, size_t len);

#endif
