// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * HdrHistogram's encoding, version 2: a header of big-endian numbers, then the
 * counts up to the largest value as ZigZag LEB128, a run of zeros as its
 * length, negative. That is in a zlib stream, here of stored blocks: some
 * kilobytes of a file do not need a compressor.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "msg.h"

#define COOKIE_V2	0x1c849313u
#define COOKIE_ZLIB	0x1c849314u
#define HEADER		40
#define STORED_MAX	65535u
#define DIGITS		3

static unsigned int bucket_of(uint64_t value)
{
	return 63 - HIST_HALF_BITS -
	       __builtin_clzll(value | (2 * HIST_HALF - 1));
}

static unsigned int index_of(uint64_t value)
{
	unsigned int bucket = bucket_of(value);

	return bucket * HIST_HALF + (unsigned int)(value >> bucket);
}

void hist_add(struct hist *h, uint64_t value)
{
	if (value > HIST_LARGEST)
		value = HIST_LARGEST;
	h->count[index_of(value)]++;
	h->n++;
	if (value > h->max)
		h->max = value;
}

static uint64_t largest_at(unsigned int index)
{
	unsigned int bucket;

	if (index < 2 * HIST_HALF)
		return index;
	bucket = index / HIST_HALF - 1;
	return ((uint64_t)(index - bucket * HIST_HALF + 1) << bucket) - 1;
}

uint64_t hist_at(const struct hist *h, double fraction)
{
	uint64_t rank = (uint64_t)ceil(fraction * (double)h->n), seen = 0;

	for (unsigned int i = 0; i < HIST_COUNTS; i++) {
		seen += h->count[i];
		if (seen && seen >= rank)
			return largest_at(i) < h->max ? largest_at(i) : h->max;
	}
	return h->max;
}

struct bytes {
	unsigned char	*p;
	size_t		n;
};

static void put(struct bytes *b, uint64_t value, int bytes)
{
	while (bytes--)
		b->p[b->n++] = (unsigned char)(value >> 8 * bytes);
}

static void put_count(struct bytes *b, int64_t v)
{
	uint64_t u = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);

	for (; u > 0x7f; u >>= 7)
		b->p[b->n++] = 0x80 | (u & 0x7f);
	b->p[b->n++] = (unsigned char)u;
}

static void put_counts(struct bytes *b, const struct hist *h)
{
	unsigned int end = index_of(h->max) + 1, i = 0, zeros;

	while (i < end) {
		for (zeros = 0; i + zeros < end && !h->count[i + zeros]; zeros++)
			;
		put_count(b, zeros > 1 ? -(int64_t)zeros :
					 (int64_t)h->count[i]);
		i += zeros > 1 ? zeros : 1;
	}
}

static uint32_t adler32(const unsigned char *p, size_t n)
{
	uint32_t a = 1, b = 0;

	while (n--) {
		a = (a + *p++) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static void put_zlib(struct bytes *b, const unsigned char *p, size_t n)
{
	uint32_t sum = adler32(p, n);

	put(b, 0x7801, 2);
	do {
		uint32_t k = n > STORED_MAX ? STORED_MAX : (uint32_t)n;

		n -= k;
		put(b, !n, 1);
		/* Of all these numbers, only the lengths are little-endian. */
		put(b, (k & 0xff) << 8 | k >> 8, 2);
		put(b, ~((k & 0xff) << 8 | k >> 8) & 0xffff, 2);
		memcpy(b->p + b->n, p, k);
		b->n += k;
		p += k;
	} while (n);
	put(b, sum, 4);
}

static void write_base64(const struct bytes *b, FILE *f)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < b->n; i += 3) {
		uint32_t v = (uint32_t)b->p[i] << 16;

		if (i + 1 < b->n)
			v |= (uint32_t)b->p[i + 1] << 8;
		if (i + 2 < b->n)
			v |= b->p[i + 2];
		fputc(digit[v >> 18], f);
		fputc(digit[v >> 12 & 63], f);
		fputc(i + 1 < b->n ? digit[v >> 6 & 63] : '=', f);
		fputc(i + 2 < b->n ? digit[v & 63] : '=', f);
	}
}

void hist_write(const struct hist *h, FILE *f)
{
	/* A count takes ten bytes at most, and a block five beside its own. */
	size_t room = HEADER + 10 * HIST_COUNTS;
	struct bytes raw = { .p = xcalloc(1, room) }, out = { 0 };

	out.p = xcalloc(1, room + 5 * (room / STORED_MAX + 1) + 14);
	put(&raw, COOKIE_V2, 4);
	put(&raw, 0, 4);		/* length of the counts: below */
	put(&raw, 0, 4);		/* offset of the first one */
	put(&raw, DIGITS, 4);
	put(&raw, 1, 8);		/* the least value told from zero */
	put(&raw, HIST_LARGEST, 8);
	put(&raw, 0x3ff0000000000000ull, 8);	/* 1.0: values are integers */
	put_counts(&raw, h);
	put(&(struct bytes){ .p = raw.p, .n = 4 }, raw.n - HEADER, 4);

	put(&out, COOKIE_ZLIB, 4);
	put(&out, 0, 4);
	put_zlib(&out, raw.p, raw.n);
	put(&(struct bytes){ .p = out.p, .n = 4 }, out.n - 8, 4);
	write_base64(&out, f);
	free(raw.p);
	free(out.p);
}
