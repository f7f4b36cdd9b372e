// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See diff.h. */
#include <string.h>

#include "diff.h"

/* The first byte from `at` that differs, or `bytes`. */
static size_t next_changed(const uint8_t *mem, const uint8_t *twin, size_t at,
			   size_t bytes)
{
	uint64_t a, b;

	while (at < bytes && mem[at] == twin[at]) {
		if (at % sizeof(a) || at + sizeof(a) > bytes) {
			at++;
			continue;
		}
		memcpy(&a, mem + at, sizeof(a));
		memcpy(&b, twin + at, sizeof(b));
		at += a == b ? sizeof(a) : 1;
	}
	return at;
}

/* 0: two bytes follow */
static uint8_t *put_head(uint8_t *to, size_t over, size_t len)
{
	if (over < 16 && len < 16) {
		*to++ = over << 4 | len;
		return to;
	}
	*to++ = 0;
	*to++ = over;
	*to++ = len;
	return to;
}

size_t diff_make(const uint8_t *mem, const uint8_t *twin, size_t bytes,
		 uint8_t *runs, uint64_t *changed)
{
	size_t at = next_changed(mem, twin, 0, bytes), from = 0, end, len;
	uint8_t *to = runs;

	while (at < bytes) {
		for (; at - from > 255; from += 255)
			to = put_head(to, 255, 0);
		end = at + 1;
		while (end < bytes && end - at < 255 && mem[end] != twin[end])
			end++;
		len = end - at;
		to = put_head(to, at - from, len);
		memcpy(to, mem + at, len);
		to += len;
		*changed += len;
		from = end;
		at = next_changed(mem, twin, end, bytes);
	}
	return to - runs;
}

bool diff_apply(uint8_t *mem, size_t bytes, const uint8_t *runs, size_t len)
{
	size_t at = 0, i = 0, n;

	while (i < len) {
		n = runs[i] & 15;
		at += runs[i] >> 4;
		if (!runs[i++]) {
			if (i + 2 > len)
				return false;
			at += runs[i];
			n = runs[i + 1];
			i += 2;
		}
		if (at + n > bytes || i + n > len)
			return false;
		memcpy(mem + at, runs + i, n);
		at += n;
		i += n;
	}
	return true;
}
