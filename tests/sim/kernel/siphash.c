// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* SipHash-2-4: see siphash.h. */
#include <endian.h>
#include <string.h>
#include "siphash.h"

static uint64_t rotl(uint64_t x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static void rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] = rotl(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] = rotl(v[2], 32);
	}
}

static void take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t siphash(const void *data, size_t len, const siphash_key_t *key)
{
	uint64_t v[4] = {
		key->key[0] ^ 0x736f6d6570736575ull,
		key->key[1] ^ 0x646f72616e646f6dull,
		key->key[0] ^ 0x6c7967656e657261ull,
		key->key[1] ^ 0x7465646279746573ull,
	};
	const uint8_t *p = data;
	uint64_t word;
	size_t left;

	for (left = len; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		take(v, le64toh(word));
	}
	word = 0;
	memcpy(&word, p, left);
	take(v, le64toh(word) | (uint64_t)len << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
