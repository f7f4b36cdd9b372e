// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Proofs of address, and bounds on what is answered without one. */

#include <linux/siphash.h>
#include "unit.h"
#include "ratelimit.h"
#include "token.h"

#define HZ		250
#define START	((uint64_t)(uint32_t)(-300 * HZ))	/* as the kernel's */

static uint64_t ticks = START;
static uint32_t seconds;

static const u8 asker[6] = { 0x52, 0x54, 0, 0, 0, 1 };
static const u8 own[6] = { 0x52, 0x54, 0, 0, 0, 2 };

/* Proofs */

static struct via_token_of of(void)
{
	struct via_token_of o;

	via_token_of_init(&o, asker, 6, own, 6, 0x1234567890abcdef);
	return o;
}

static void token_is_the_asker_s(void)
{
	struct via_token_of o = of(), x;
	struct via_token p, other;
	u64 token;
	u32 bit;

	seconds = 1000;
	via_token_init(&p, seconds);
	via_token_init(&other, seconds);
	token = via_token_make(&p, seconds, &o);
	CU_ASSERT(token && via_token_holds(&p, seconds, &o, token));
	CU_ASSERT(!via_token_holds(&p, seconds, &o, 0));
	CU_ASSERT(!via_token_holds(&other, seconds, &o, token));
	for (bit = 0; bit < 64; bit++)
		CU_ASSERT(!via_token_holds(&p, seconds, &o, token ^ (u64)1 << bit));
	/* Each bit of addresses, their lengths and the epoch counts. */
	for (bit = 0; bit < 8 * sizeof(o); bit++) {
		x = o;
		((u8 *)&x)[bit / 8] ^= 1 << bit % 8;
		CU_ASSERT(!via_token_holds(&p, seconds, &x, token));
	}
	via_token_of_init(&x, own, 6, asker, 6, 0x1234567890abcdef);
	CU_ASSERT(!via_token_holds(&p, seconds, &x, token));
	via_token_of_init(&x, asker, 6, own, 6, 0x1234567890abcdee);
	CU_ASSERT(!via_token_holds(&p, seconds, &x, token));
}

static void token_is_the_hash(void)
{
	struct via_token_of o = of();
	struct via_token p;
	u64 hash;

	seconds = 3 * VIA_TOKEN_SECONDS;
	via_token_init(&p, seconds);
	hash = siphash(&o, sizeof(o), &p.secret[1]);
	CU_ASSERT_EQUAL(via_token_make(&p, seconds, &o), hash | 1);
}

/* It holds in its period and in the next one; not later, seen or not. */
static void token_ends(void)
{
	static const u32 later[] = { 0, 119, 120, 239, 240, 360, 480, 1000000 };
	struct via_token_of o = of();
	struct via_token p;
	u32 start, i, seen;
	u64 token;

	for (start = 0; start < 2; start++)
		for (i = 0; i < sizeof(later) / sizeof(later[0]); i++)
			for (seen = 0; seen < 2; seen++) {
				seconds = start * VIA_TOKEN_SECONDS;
				via_token_init(&p, seconds);
				token = via_token_make(&p, seconds, &o);
				for (; seen && seconds + 120 <
				     start * 120 + later[i];)
					seconds += 120,
					via_token_make(&p, seconds, &o);
				seconds = start * 120 + later[i];
				CU_ASSERT_EQUAL(via_token_holds(&p, seconds, &o, token),
						later[i] < 240);
			}
}

/* A CPU whose look at the clock is old does not bring a secret back. */
static void time_goes_one_way(void)
{
	struct via_token_of o = of();
	struct via_token p;
	u64 token;

	seconds = 10 * VIA_TOKEN_SECONDS;
	via_token_init(&p, seconds);
	token = via_token_make(&p, seconds, &o);
	seconds--;
	CU_ASSERT(via_token_holds(&p, seconds, &o, token));
	CU_ASSERT_EQUAL(via_token_make(&p, seconds, &o), token);
}

/* Limits */

static struct via_limit limit;

static void limit_begin(void)
{
	memset(&limit, 0, sizeof(limit));
	via_limit_init(&limit, HZ);
	ticks = START;
}

static bool ask(enum via_limit_kind kind, u32 n, u64 epoch)
{
	const u8 addr[6] = { 2, 0, n >> 24, n >> 16, n >> 8, n };

	return via_limit_answer(&limit, ticks, kind, addr, 6, epoch, 60, 60);
}

/* How many of @n questions of one address are answered. */
static u32 asks(enum via_limit_kind kind, u32 addr, u32 n)
{
	u32 got = 0;

	while (n--)
		got += ask(kind, addr, 0);
	return got;
}

static void never_longer(void)
{
	u32 q, a;

	limit_begin();
	for (q = 28; q < 90; q++)
		for (a = 28; a < 90; a++) {
			ticks += HZ;
			CU_ASSERT_EQUAL(via_limit_answer(&limit, ticks,
				VIA_LIMIT_ANSWER, asker, 6, 0, q, a), a <= q);
		}
	/* A question that is not answered costs nothing. */
	ticks += HZ;
	for (q = 0; q < 1000; q++)
		via_limit_answer(&limit, ticks, VIA_LIMIT_ANSWER, asker, 6, 0, 59, 60);
	CU_ASSERT(via_limit_answer(&limit, ticks, VIA_LIMIT_ANSWER, asker, 6, 0, 60,
				   60));
}

static void one_asker(void)
{
	enum via_limit_kind kind;
	u32 i, got;

	for (kind = 0; kind < VIA_LIMIT_KINDS; kind++) {
		limit_begin();
		CU_ASSERT_EQUAL(asks(kind, 1, 1000), VIA_LIMIT_ASKER);
		/* 10 s: 64 a second, however they are spread. */
		for (i = got = 0; i < 10 * HZ; i++) {
			ticks++;
			got += asks(kind, 1, 3);
		}
		CU_ASSERT(got >= 10 * VIA_LIMIT_ASKER - 1 &&
			  got <= 10 * VIA_LIMIT_ASKER + 1);
		/* After long silence it is full, and no more than that. */
		ticks += 1000000000;
		CU_ASSERT_EQUAL(asks(kind, 1, 1000), VIA_LIMIT_ASKER);
	}
}

/* Spread over all addresses, for ten seconds. */
static u32 flood(enum via_limit_kind kind, u32 each)
{
	u32 i, k, got = 0, n = 0;

	for (i = 0; i < 10 * HZ; i++) {
		ticks++;
		for (k = 0; k < each; k++, n++)
			got += ask(kind, 2654435761u * n, n);
	}
	return got;
}

static void one_nic(void)
{
	u32 got;

	limit_begin();
	got = flood(VIA_LIMIT_ANSWER, 100);
	CU_ASSERT(got >= 10 * VIA_LIMIT_ANSWERS - 8 &&
		  got <= 10 * VIA_LIMIT_ANSWERS + VIA_LIMIT_ANSWER_BURST);
	limit_begin();
	got = flood(VIA_LIMIT_CHALLENGE, 400);
	CU_ASSERT(got >= 9 * VIA_LIMIT_CHALLENGES &&
		  got <= 10 * VIA_LIMIT_CHALLENGES +
			 VIA_LIMIT_CHALLENGE_BURST);
}

/* A flood of the one kind leaves the other alone, and so does one asker. */
static void apart(void)
{
	u32 n, other = 0;

	limit_begin();
	flood(VIA_LIMIT_ANSWER, 100);
	CU_ASSERT_EQUAL(asks(VIA_LIMIT_CHALLENGE, 77, 100), VIA_LIMIT_ASKER);
	/* A host is found beside it, and beside other questions for names. */
	CU_ASSERT_EQUAL(asks(VIA_LIMIT_NAME, 77, 100), VIA_LIMIT_ASKER);
	limit_begin();
	for (n = 0; n < 1000; n++)
		ask(VIA_LIMIT_NAME, n, 0);
	ticks += HZ;
	CU_ASSERT_EQUAL(asks(VIA_LIMIT_NAME, 77, 100), VIA_LIMIT_ASKER);
	limit_begin();
	asks(VIA_LIMIT_CHALLENGE, 5, 1000);
	for (n = 6; n < 106; n++)
		other += ask(VIA_LIMIT_CHALLENGE, n, 0);
	/* 256 buckets: some may share that one's. */
	CU_ASSERT(other >= 95);
	/* Another epoch is another asker: it cannot be kept out by its name. */
	for (n = other = 0; n < 100; n++)
		other += ask(VIA_LIMIT_CHALLENGE, 5, (u64)n << (n % 57));
	CU_ASSERT(other >= 90);
}

/* How many of 256 buckets do 4,096 addresses of a pattern fill? */
static u32 buckets(u32 step)
{
	u32 n, i, used = 0;

	limit_begin();
	for (n = 0; n < 4096; n++)
		ask(VIA_LIMIT_CHALLENGE, n * step, 0);
	for (i = 0; i < VIA_LIMIT_BUCKETS; i++)
		used += atomic64_read(&limit.asker[VIA_LIMIT_CHALLENGE][i]) != 0;
	return used;
}

static void spread(void)
{
	static const u32 steps[] = { 1, 256, 65536, 1 << 20, 2654435761u };
	u32 i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		CU_ASSERT(buckets(steps[i]) > 200);
	/* Another NIC has its own: the first bucket used is another one. */
	for (i = 0; i < 20; i++) {
		limit_begin();
		ask(VIA_LIMIT_ANSWER, 1, 0);
		if (!atomic64_read(&limit.asker[VIA_LIMIT_ANSWER][0]))
			break;
	}
	CU_ASSERT(i < 20);
}

static void any_length(void)
{
	u8 addr[32];
	u32 len;

	limit_begin();
	memset(addr, 3, sizeof(addr));
	for (len = 0; len <= sizeof(addr); len++) {
		ticks += HZ;
		CU_ASSERT(via_limit_answer(&limit, ticks, VIA_LIMIT_ANSWER, addr, len,
					   0, 60, 60));
	}
}

UNIT_MAIN("strangers",
	  { "a token is its asker's alone", token_is_the_asker_s },
	  { "a token is the hash that is described", token_is_the_hash },
	  { "a token ends", token_ends },
	  { "time goes one way", time_goes_one_way },
	  { "an answer is never longer", never_longer },
	  { "the limit of an asker", one_asker },
	  { "the limit of a NIC", one_nic },
	  { "kinds and askers are apart", apart },
	  { "addresses are spread", spread },
	  { "addresses of any length", any_length });
