// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* BLAKE2s, as RFC 7693 describes it: see blake2s.h. */
#include <endian.h>
#include <string.h>
#include "blake2s.h"

static const uint32_t iv[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const uint8_t sigma[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint32_t rotr(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void mix(uint32_t *v, int a, int b, int c, int d, uint32_t x,
		uint32_t y)
{
	v[a] += v[b] + x;
	v[d] = rotr(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotr(v[b] ^ v[c], 12);
	v[a] += v[b] + y;
	v[d] = rotr(v[d] ^ v[a], 8);
	v[c] += v[d];
	v[b] = rotr(v[b] ^ v[c], 7);
}

/* One block; @n bytes of it are the message's. */
static void compress(struct blake2s_ctx *s, const uint8_t *block,
		     unsigned int n, int last)
{
	uint32_t v[16], m[16];
	int i;

	s->bytes += n;
	for (i = 0; i < 16; i++) {
		memcpy(&m[i], block + 4 * i, 4);
		m[i] = le32toh(m[i]);
	}
	memcpy(v, s->h, sizeof(s->h));
	memcpy(v + 8, iv, sizeof(iv));
	v[12] ^= (uint32_t)s->bytes;
	v[13] ^= (uint32_t)(s->bytes >> 32);
	if (last)
		v[14] = ~v[14];
	for (i = 0; i < 10; i++) {
		const uint8_t *p = sigma[i];

		mix(v, 0, 4, 8, 12, m[p[0]], m[p[1]]);
		mix(v, 1, 5, 9, 13, m[p[2]], m[p[3]]);
		mix(v, 2, 6, 10, 14, m[p[4]], m[p[5]]);
		mix(v, 3, 7, 11, 15, m[p[6]], m[p[7]]);
		mix(v, 0, 5, 10, 15, m[p[8]], m[p[9]]);
		mix(v, 1, 6, 11, 12, m[p[10]], m[p[11]]);
		mix(v, 2, 7, 8, 13, m[p[12]], m[p[13]]);
		mix(v, 3, 4, 9, 14, m[p[14]], m[p[15]]);
	}
	for (i = 0; i < 8; i++)
		s->h[i] ^= v[i] ^ v[i + 8];
}

void blake2s_init_key(struct blake2s_ctx *s, size_t outlen, const void *key,
		      size_t keylen)
{
	memset(s, 0, sizeof(*s));
	memcpy(s->h, iv, sizeof(iv));
	s->h[0] ^= 0x01010000 ^ (uint32_t)keylen << 8 ^ (uint32_t)outlen;
	s->outlen = outlen;
	if (keylen) {
		memcpy(s->buf, key, keylen);
		s->buflen = BLAKE2S_BLOCK_SIZE;
	}
}

void blake2s_init(struct blake2s_ctx *s, size_t outlen)
{
	blake2s_init_key(s, outlen, NULL, 0);
}

/* The last block is kept: it is compressed in another way. */
void blake2s_update(struct blake2s_ctx *s, const uint8_t *in, size_t n)
{
	size_t part;

	while (n) {
		if (s->buflen == BLAKE2S_BLOCK_SIZE) {
			compress(s, s->buf, BLAKE2S_BLOCK_SIZE, 0);
			s->buflen = 0;
		}
		part = BLAKE2S_BLOCK_SIZE - s->buflen;
		if (part > n)
			part = n;
		memcpy(s->buf + s->buflen, in, part);
		s->buflen += part;
		in += part;
		n -= part;
	}
}

void blake2s_final(struct blake2s_ctx *s, uint8_t *out)
{
	int i;

	memset(s->buf + s->buflen, 0, BLAKE2S_BLOCK_SIZE - s->buflen);
	compress(s, s->buf, s->buflen, 1);
	for (i = 0; i < 8; i++)
		s->h[i] = htole32(s->h[i]);
	memcpy(out, s->h, s->outlen);
	explicit_bzero(s, sizeof(*s));
}
