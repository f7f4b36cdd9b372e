/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BLAKE2s (RFC 7693), by the names of <crypto/blake2s.h>.  It stands alone, for
 * the simulator and for unit tests.
 */
#ifndef SIM_KERNEL_BLAKE2S_H
#define SIM_KERNEL_BLAKE2S_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2S_BLOCK_SIZE	64
#define BLAKE2S_HASH_SIZE	32
#define BLAKE2S_KEY_SIZE	32
#define BLAKE2S_128_HASH_SIZE	16

struct blake2s_ctx {
	uint32_t h[8];
	uint64_t bytes;			/* in blocks that are done */
	uint8_t buf[BLAKE2S_BLOCK_SIZE];
	unsigned int buflen;
	unsigned int outlen;
};

void blake2s_init(struct blake2s_ctx *s, size_t outlen);
void blake2s_init_key(struct blake2s_ctx *s, size_t outlen, const void *key,
		      size_t keylen);
void blake2s_update(struct blake2s_ctx *s, const uint8_t *in, size_t n);
void blake2s_final(struct blake2s_ctx *s, uint8_t *out);

#endif
