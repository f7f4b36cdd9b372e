/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012), by the names of
 * <linux/siphash.h>.  It stands alone, for the simulator and for unit tests.
 */
#ifndef SIM_KERNEL_SIPHASH_H
#define SIM_KERNEL_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t key[2];
} siphash_key_t;

uint64_t siphash(const void *data, size_t len, const siphash_key_t *key);

#endif
