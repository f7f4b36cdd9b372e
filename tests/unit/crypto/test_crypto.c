// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The hashes that the simulator and unit tests have, by published vectors. */

#include "unit.h"
#include "blake2s.h"
#include "siphash.h"

static void count_up(uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = i;
}

/* The SipHash paper, appendix A, and the first of its authors' vectors. */
static void sip(void)
{
	static const uint64_t want[16] = {
		0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a,
		0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d,
		0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462,
		[15] = 0xa129ca6149be45e5,
	};
	const siphash_key_t key = {
		{ 0x0706050403020100, 0x0f0e0d0c0b0a0908 }
	};
	uint8_t in[16];
	int i;

	count_up(in, sizeof(in));
	for (i = 0; i < 16; i++)
		if (want[i])
			CU_ASSERT_EQUAL(siphash(in, i, &key), want[i]);
}

static void hash(uint8_t *out, size_t outlen, const uint8_t *in, size_t n,
		 const uint8_t *key)
{
	struct blake2s_ctx s;

	if (key)
		blake2s_init_key(&s, outlen, key, outlen);
	else
		blake2s_init(&s, outlen);
	/* In two parts. */
	blake2s_update(&s, in, n / 3);
	blake2s_update(&s, in + n / 3, n - n / 3);
	blake2s_final(&s, out);
}

/* RFC 7693, appendix B. */
static void abc(void)
{
	static const uint8_t want[BLAKE2S_HASH_SIZE] = {
		0x50, 0x8c, 0x5e, 0x8c, 0x32, 0x7c, 0x14, 0xe2,
		0xe1, 0xa7, 0x2b, 0xa3, 0x4e, 0xeb, 0x45, 0x2f,
		0x37, 0x45, 0x8b, 0x20, 0x9e, 0xd6, 0x3a, 0x29,
		0x4d, 0x99, 0x9b, 0x4c, 0x86, 0x67, 0x59, 0x82,
	};
	uint8_t out[BLAKE2S_HASH_SIZE];

	hash(out, sizeof(out), (const uint8_t *)"abc", 3, NULL);
	CU_ASSERT(!memcmp(out, want, sizeof(want)));
}

/* RFC 7693, appendix E: bytes that a Fibonacci sequence gives. */
static void sequence(uint8_t *out, size_t n, uint32_t seed)
{
	uint32_t a = 0xdead4bad * seed, b = 1, t;

	while (n--) {
		t = a + b;
		a = b;
		b = t;
		*out++ = t >> 24;
	}
}

/* The hash of hashes of many lengths, with keys and without. */
static void all_lengths(void)
{
	static const uint8_t want[BLAKE2S_HASH_SIZE] = {
		0x6a, 0x41, 0x1f, 0x08, 0xce, 0x25, 0xad, 0xcd,
		0xfb, 0x02, 0xab, 0xa6, 0x41, 0x45, 0x1c, 0xec,
		0x53, 0xc5, 0x98, 0xb2, 0x4f, 0x4f, 0xc7, 0x87,
		0xfb, 0xdc, 0x88, 0x79, 0x7f, 0x4c, 0x1d, 0xfe,
	};
	static const size_t outs[] = { 16, 20, 28, 32 };
	static const size_t ins[] = { 0, 3, 64, 65, 255, 1024 };
	uint8_t in[1024], key[32], out[BLAKE2S_HASH_SIZE];
	struct blake2s_ctx all;
	size_t i, k;

	blake2s_init(&all, sizeof(out));
	for (i = 0; i < 4; i++)
		for (k = 0; k < 6; k++) {
			sequence(in, ins[k], ins[k]);
			sequence(key, outs[i], outs[i]);
			hash(out, outs[i], in, ins[k], NULL);
			blake2s_update(&all, out, outs[i]);
			hash(out, outs[i], in, ins[k], key);
			blake2s_update(&all, out, outs[i]);
		}
	blake2s_final(&all, out);
	CU_ASSERT(!memcmp(out, want, sizeof(want)));
}

UNIT_MAIN("crypto",
	  { "SipHash-2-4 of the paper", sip },
	  { "BLAKE2s of abc", abc },
	  { "BLAKE2s of all lengths", all_lengths });
