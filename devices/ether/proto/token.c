// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proofs of address: see token.h. */

#include <linux/random.h>
#include <linux/string.h>
#include "token.h"

void via_token_init(struct via_token *p, u32 now)
{
	p->period = now / VIA_TOKEN_SECONDS;
	get_random_bytes(p->secret, sizeof(p->secret));
}

/*
 * A later period may have begun.  After one without any use the last secret is of
 * long ago as well: both are made again.  A look at the clock that is older than
 * another CPU's changes nothing.
 */
static void renew_secret(struct via_token *p, u32 period)
{
	if (likely((s32)(period - p->period) <= 0))
		return;
	get_random_bytes(&p->secret[period % 2], sizeof(p->secret[0]));
	if (period - p->period > 1)
		get_random_bytes(&p->secret[!(period % 2)],
				 sizeof(p->secret[0]));
	p->period = period;
}

void via_token_of_init(struct via_token_of *of, const u8 *asker, u32 asker_len,
		       const u8 *own, u32 own_len, u64 epoch)
{
	memset(of, 0, sizeof(*of));
	of->asker_len = min(asker_len, VIA_TOKEN_ADDR_MAX);
	of->own_len = min(own_len, VIA_TOKEN_ADDR_MAX);
	memcpy(of->asker, asker, of->asker_len);
	memcpy(of->own, own, of->own_len);
	of->epoch = epoch;
}

static u64 compute_token(const struct via_token_of *of,
			 const siphash_key_t *secret, u32 which)
{
	u64 hash = siphash(of, sizeof(*of), secret) & ~(u64)1;

	/* 0 says that there is none. */
	return (hash ?: 2) | which;
}

u64 via_token_make(struct via_token *p, u32 now, const struct via_token_of *of)
{
	u32 which;

	renew_secret(p, now / VIA_TOKEN_SECONDS);
	which = p->period % 2;
	return compute_token(of, &p->secret[which], which);
}

bool via_token_holds(struct via_token *p, u32 now,
		     const struct via_token_of *of, u64 token)
{
	u32 which = token & 1;

	if (!token)
		return false;
	renew_secret(p, now / VIA_TOKEN_SECONDS);
	/* As long for any two: no branch is taken on a part of them. */
	return !(compute_token(of, &p->secret[which], which) ^ token);
}
