/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Differences of a page. For each page: its number (4 bytes), how many bytes
 * of runs follow (2), then runs: how many unchanged bytes are passed over, and
 * how many changed bytes follow, then these. Both numbers are in one byte where
 * they are below 16, passed over in the higher half; else a 0 and a byte for
 * each. A run of 0 changed bytes only passes over.
 */
#ifndef DSM_DIFF_H
#define DSM_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_HEAD	6u

/* Bytes that the runs of a page of this size may have; most are 3 + 16 of 17. */
static inline size_t diff_most(size_t page_bytes)
{
	return 3 * page_bytes / 2 + 2 * (page_bytes / 255 + 2);
}

/* Writes runs; returns their bytes, 0 where nothing changed. */
size_t diff_make(const uint8_t *mem, const uint8_t *twin, size_t bytes,
		 uint8_t *runs, uint64_t *changed);

/* False: the runs are not within a page, and the rest is not applied. */
bool diff_apply(uint8_t *mem, size_t bytes, const uint8_t *runs, size_t len);

#endif
