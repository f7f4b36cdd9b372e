// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "content.h"
#include <string.h>

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
