// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proofs of address: see token.h. */

#include <linux/random.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "token.h"

static u32 period_now(void)
{
	return (u32)ktime_get_seconds() / VIA_PROOF_SECONDS;
}

void via_proof_init(struct via_proof *p)
{
	spin_lock_init(&p->lock);
	seqcount_spinlock_init(&p->seq, &p->lock);
	p->period = period_now();
	get_random_bytes(p->secret, sizeof(p->secret));
}

/*
 * A later period has begun.  After one without any use the last secret is of
 * long ago as well: both are made anew.
 */
static void renew(struct via_proof *p, u32 now)
{
	siphash_key_t fresh[2];

	get_random_bytes(fresh, sizeof(fresh));
	spin_lock(&p->lock);
	/* Another CPU may have done it, or be in a later period already. */
	if ((s32)(now - p->period) > 0) {
		write_seqcount_begin(&p->seq);
		p->secret[now % 2] = fresh[0];
		if (now - p->period > 1)
			p->secret[!(now % 2)] = fresh[1];
		WRITE_ONCE(p->period, now);
		write_seqcount_end(&p->seq);
	}
	spin_unlock(&p->lock);
	memzero_explicit(fresh, sizeof(fresh));
}

/* The secret that @which tells, or that of this period; returns which. */
static u32 read_secret(struct via_proof *p, siphash_key_t *secret,
		       bool newest, u32 which)
{
	u32 now = period_now();
	unsigned int seq;

	if (unlikely((s32)(now - READ_ONCE(p->period)) > 0))
		renew(p, now);
	do {
		seq = read_seqcount_begin(&p->seq);
		if (newest)
			which = p->period % 2;
		*secret = p->secret[which];
	} while (read_seqcount_retry(&p->seq, seq));
	return which;
}

void via_proof_of(struct via_proof_of *of, const u8 *asker, u32 asker_len,
		  const u8 *own, u32 own_len, u64 epoch)
{
	memset(of, 0, sizeof(*of));
	of->asker_len = min(asker_len, VIA_PROOF_ADDR_MAX);
	of->own_len = min(own_len, VIA_PROOF_ADDR_MAX);
	memcpy(of->asker, asker, of->asker_len);
	memcpy(of->own, own, of->own_len);
	of->epoch = epoch;
}

static u64 compute(const struct via_proof_of *of, const siphash_key_t *secret,
		   u32 which)
{
	u64 hash = siphash(of, sizeof(*of), secret) & ~(u64)1;

	/* 0 says that there is none. */
	return (hash ?: 2) | which;
}

u64 via_proof_make(struct via_proof *p, const struct via_proof_of *of)
{
	siphash_key_t secret;
	u32 which = read_secret(p, &secret, true, 0);

	return compute(of, &secret, which);
}

bool via_proof_holds(struct via_proof *p, const struct via_proof_of *of,
		     u64 proof)
{
	siphash_key_t secret;
	u32 which;

	if (!proof)
		return false;
	which = read_secret(p, &secret, false, proof & 1);
	/* As long for any two: no branch is taken on a part of them. */
	return !(compute(of, &secret, which) ^ proof);
}
