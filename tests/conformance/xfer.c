// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "xfer.h"
#include <string.h>

#define DESC_GUARD	0x5a

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

void pattern(uint8_t *buf, uint32_t seed, size_t off, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint64_t w = mix(((uint64_t)seed << 32) + (off + i) / 8 + 1);
		unsigned int b = (off + i) % 8;

		for (; b < 8 && i < len; b++, i++)
			buf[i] = w >> (8 * b);
	}
}

size_t pattern_wrong(const void *p, uint32_t seed, size_t off, size_t len)
{
	const uint8_t *got = p;
	uint8_t want[512];
	size_t wrong = 0, n, i;

	for (; len; got += n, off += n, len -= n) {
		n = len < sizeof(want) ? len : sizeof(want);
		pattern(want, seed, off, n);
		if (!memcmp(got, want, n))
			continue;
		for (i = 0; i < n; i++)
			wrong += got[i] != want[i];
	}
	return wrong;
}

size_t bytes_other(const void *p, uint8_t value, size_t len)
{
	const uint8_t *got = p;
	size_t i, wrong = 0;

	if (!len || (got[0] == value && !memcmp(got, got + 1, len - 1)))
		return 0;
	for (i = 0; i < len; i++)
		wrong += got[i] != value;
	return wrong;
}

/* Where piece i starts, in bytes of content. */
static size_t cut(const struct xfer *x, size_t i)
{
	size_t n = x->nseg;

	return (uint64_t)x->len * i * (i + 1) / (n * (n + 1));
}

static uint8_t *piece(const struct xfer *x, size_t i, size_t *len)
{
	*len = cut(x, i + 1) - cut(x, i);
	return (uint8_t *)(uintptr_t)x->addr + cut(x, i) + i * x->gap;
}

size_t xfer_span(const struct xfer *x)
{
	return x->nseg ? x->len + (size_t)(x->nseg - 1) * x->gap : 0;
}

void xfer_guard(const struct xfer *x)
{
	if (x->addr)
		memset((uint8_t *)(uintptr_t)x->addr - XFER_MARGIN, XFER_GUARD,
		       xfer_span(x) + 2 * XFER_MARGIN);
}

void xfer_fill(const struct xfer *x)
{
	size_t i, len;
	uint8_t *p;

	xfer_guard(x);
	for (i = 0; i < x->nseg; i++) {
		p = piece(x, i, &len);
		pattern(p, x->seed, cut(x, i), len);
	}
}

static size_t wrong_bytes(const struct xfer *x, size_t len, bool rest)
{
	const uint8_t *end = (uint8_t *)(uintptr_t)x->addr - XFER_MARGIN;
	size_t i, n, off, good, wrong = 0;
	uint8_t *p;

	if (!x->addr)
		return 0;
	for (i = 0; i < x->nseg; i++) {
		p = piece(x, i, &n);
		off = cut(x, i);
		wrong += bytes_other(end, XFER_GUARD, p - end);
		good = off >= len ? 0 : len - off < n ? len - off : n;
		wrong += pattern_wrong(p, x->seed, off, good);
		if (rest)
			wrong += bytes_other(p + good, XFER_GUARD, n - good);
		end = p + n;
	}
	if (!x->nseg)
		end += XFER_MARGIN;
	return wrong + bytes_other(end, XFER_GUARD, XFER_MARGIN);
}

size_t xfer_wrong(const struct xfer *x, size_t len)
{
	return wrong_bytes(x, len, true);
}

size_t xfer_wrong_after_loss(const struct xfer *x, size_t len)
{
	return wrong_bytes(x, len, false);
}

static unsigned int remote_segs(const struct xfer *x)
{
	unsigned int op = x->control & VIP_CONTROL_OP_MASK;

	return op == VIP_CONTROL_OP_RDMAWRITE || op == VIP_CONTROL_OP_RDMAREAD;
}

void xfer_build(VIP_DESCRIPTOR *d, const struct xfer *x, size_t room)
{
	VIP_DESCRIPTOR_SEGMENT *s = d->DS;
	size_t i, len;

	memset(d, DESC_GUARD, room);
	/* What an earlier life of the descriptor may have left (C3, C4). */
	d->CS.Next.AddressBits = 0xdeadbeefdeadbeefULL;
	d->CS.NextHandle = 0xdeadbeef;
	d->CS.Status = VIP_STATUS_DONE | VIP_STATUS_LENGTH_ERROR |
		       VIP_STATUS_OP_RECEIVE | VIP_STATUS_IMMEDIATE;
	d->CS.SegCount = remote_segs(x) + x->nseg + x->seg_delta;
	d->CS.Control = x->control;
	d->CS.Reserved = 0;
	d->CS.ImmediateData = x->immediate;
	d->CS.Length = x->len + x->len_delta;
	if (remote_segs(x)) {
		s->Remote.Data.AddressBits = x->raddr;
		s->Remote.Handle = x->rhandle;
		s->Remote.Reserved = 0;
		s++;
	}
	for (i = 0; i < x->nseg; i++, s++) {
		s->Local.Data.Address = piece(x, i, &len);
		s->Local.Handle = x->handle;
		s->Local.Length = len;
	}
}

bool xfer_intact(const VIP_DESCRIPTOR *d, const struct xfer *x, size_t room)
{
	const VIP_DESCRIPTOR_SEGMENT *s = d->DS;
	unsigned int segs = remote_segs(x) + x->nseg;
	size_t i, len, used = 32 + 16 * (size_t)segs;
	bool ok = true;

	ok &= d->CS.SegCount == (uint16_t)(segs + x->seg_delta);
	ok &= d->CS.Control == x->control;
	ok &= d->CS.Reserved == 0;
	if (remote_segs(x)) {
		ok &= s->Remote.Data.AddressBits == x->raddr;
		ok &= s->Remote.Handle == x->rhandle;
		s++;
	}
	for (i = 0; i < x->nseg; i++, s++) {
		ok &= s->Local.Data.Address == (void *)piece(x, i, &len);
		ok &= s->Local.Handle == x->handle;
		ok &= s->Local.Length == len;
	}
	return ok && !bytes_other((const uint8_t *)d + used, DESC_GUARD,
				  room - used);
}
