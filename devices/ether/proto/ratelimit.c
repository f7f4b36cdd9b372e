// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bounds on answers to unknown hosts: see ratelimit.h. */

#include <linux/random.h>
#include <linux/string.h>
#include "ratelimit.h"

/* Buckets count in parts of a tick: 16,384 a second are 64 in one of 4 ms. */
#define VIA_LIMIT_SHIFT		16

void via_limit_init(struct via_limit *l, u32 hz)
{
	l->second = (u64)hz << VIA_LIMIT_SHIFT;
	get_random_bytes(l->secret, sizeof(l->secret));
}

/*
 * A token of a bucket that gains one in the time @gain and holds @burst.  The
 * bucket is the time at which it is full again: each token moves that on by
 * @gain, and there is none if that is a whole bucket ahead.  64 bits do not
 * wrap.
 */
static bool take_tokens(atomic64_t *bucket, u64 now, u64 gain, u32 burst)
{
	u64 most = now + (burst - 1) * gain, full;
	s64 old = atomic64_read(bucket);

	do {
		full = max_t(u64, old, now);
		if (full > most)
			return false;
	} while (!atomic64_try_cmpxchg(bucket, &old, (s64)(full + gain)));
	return true;
}

static u32 bucket_of(const struct via_limit *l, const u8 *addr, u32 len,
		     u64 epoch)
{
	u32 word[5] = {}, i;
	u64 hash;

	len = min(len, VIA_LIMIT_ADDR_MAX);
	memcpy(word, addr, len);
	hash = l->secret[7] + l->secret[5] * (u32)epoch +
	       l->secret[6] * (u32)(epoch >> 32);
	for (i = 0; i * sizeof(u32) < len; i++)
		hash += l->secret[i] * word[i];
	/* The low bits of a product depend on low bits alone. */
	return hash >> 56;
}

bool via_limit_answer(struct via_limit *l, u64 now, enum via_limit_kind kind,
		      const u8 *addr, u32 len, u64 epoch, u32 asked,
		      u32 answer)
{
	atomic64_t *asker;

	if (unlikely(answer > asked))
		return false;
	now <<= VIA_LIMIT_SHIFT;
	/* The asker's first: what it may not have costs the others nothing. */
	asker = &l->asker[kind][bucket_of(l, addr, len, epoch)];
	if (!take_tokens(asker, now, l->second / VIA_LIMIT_ASKER,
			 VIA_LIMIT_ASKER))
		return false;
	if (kind == VIA_LIMIT_CHALLENGE || kind == VIA_LIMIT_NAME)
		return take_tokens(&l->nic[kind], now,
				   l->second / VIA_LIMIT_CHALLENGES,
				   VIA_LIMIT_CHALLENGE_BURST);
	return take_tokens(&l->nic[kind], now, l->second / VIA_LIMIT_ANSWERS,
			   VIA_LIMIT_ANSWER_BURST);
}
