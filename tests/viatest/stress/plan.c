// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "plan.h"
#include <string.h>

uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

struct plan plan_of(uint64_t seed, uint32_t n, uint32_t max, int lossy)
{
	uint64_t r = mix(mix(seed) + n);
	struct plan p = { .key = mix(r) };
	uint32_t bound;

	/* Mostly small; the full range now and then. */
	switch (r % 64) {
	case 0:
		bound = max;
		break;
	case 1 ... 5:
		bound = 8192;
		break;
	case 6 ... 20:
		bound = 1500;
		break;
	default:
		bound = 64;
	}
	if (bound > max)
		bound = max;
	p.len = (r >> 8) % (bound + 1);
	p.kind = (r >> 48) % K_KINDS;
	if (lossy)
		p.kind = p.kind & 1 ? K_SEND_IMM : K_WRITE_IMM;
	return p;
}

/* Eight bytes a step: each is a multiply away from the one before. */
static uint64_t next(uint64_t *key)
{
	*key = *key * 6364136223846793005ULL + 1442695040888963407ULL;
	return *key ^ (*key >> 33);
}

void content(void *p, uint64_t key, size_t len)
{
	uint8_t *to = p;
	uint64_t w;

	for (; len >= 8; len -= 8, to += 8) {
		w = next(&key);
		memcpy(to, &w, 8);
	}
	w = next(&key);
	memcpy(to, &w, len);
}

size_t content_wrong(const void *p, uint64_t key, size_t len)
{
	const uint8_t *at = p;
	size_t left, n, i;
	uint64_t w, got;

	for (left = len; left; left -= n, at += n) {
		w = next(&key);
		n = left < 8 ? left : 8;
		got = w;
		memcpy(&got, at, n);
		if (got == w)
			continue;
		for (i = 0; i < n; i++)
			if (at[i] != ((uint8_t *)&w)[i])
				return len - left + i;
	}
	return len;
}
