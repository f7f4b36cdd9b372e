// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Authenticated frames: what is taken, and what is not. */

#include <crypto/blake2s.h>
#include <stdlib.h>
#include "unit.h"
#include "auth.h"

#define HEAD	40u			/* bytes of headers, tag excluded */
#define SIZE	(HEAD + VIA_AUTH_LEN)
#define BODY	100u
#define FIRST	2u			/* byte of each frame */

static const struct via_auth_key common = { { 7, 1, 2, 3, [31] = 9 } };

static struct via_auth_name name(u8 last, u64 epoch)
{
	return (struct via_auth_name){
		.addr = { 0x52, 0x54, 0, 0, 0, last },
		.addr_len = 6,
		.epoch = epoch,
	};
}

/* A frame as it is received: headers first, padding at its end. */
struct frame {
	u8 b[SIZE + BODY + 6];
	u32 len;			/* of the payload */
};

struct pair {
	struct via_auth_session a, b;
};

static void begin(struct pair *p)
{
	struct via_auth_name a = name(1, 111), b = name(2, 222);

	via_auth_begin(&p->a, &common, &a, &b, FIRST);
	via_auth_begin(&p->b, &common, &b, &a, FIRST);
}

static struct frame sign(struct via_auth_session *s)
{
	struct via_auth_piece p[3];
	struct frame f = { .len = BODY };
	u8 body[BODY];
	u32 i;

	for (i = 0; i < HEAD; i++)
		f.b[i] = FIRST + i;
	for (i = 0; i < BODY; i++)
		body[i] = 3 * i;
	p[0] = (struct via_auth_piece){ body, 33 };
	p[1] = (struct via_auth_piece){ body + 33, 0 };
	p[2] = (struct via_auth_piece){ body + 33, BODY - 33 };
	via_auth_sign(s, f.b, SIZE, p, 3);
	memcpy(f.b + SIZE, body, BODY);
	return f;
}

/* The three steps, as session.c has them. */
static enum via_auth_error take(struct via_auth_session *s, const void *hdr,
				u32 hdr_len, const struct via_auth_piece *p,
				u32 n, u32 len)
{
	enum via_auth_error err;
	u64 number;

	err = via_auth_look(s, hdr, hdr_len, &number);
	if (!err)
		err = via_auth_verify(s, hdr, hdr_len, p, n, len);
	return err ? err : via_auth_take(s, number);
}

/* As one piece, or cut at @cut. */
static enum via_auth_error check_cut(struct via_auth_session *s,
				     const struct frame *f, u32 cut)
{
	struct via_auth_piece p[2] = {
		{ f->b, cut }, { f->b + cut, sizeof(f->b) - cut },
	};

	return take(s, f->b, SIZE, p, 2, f->len);
}

static enum via_auth_error check(struct via_auth_session *s,
				 const struct frame *f)
{
	return check_cut(s, f, sizeof(f->b));
}

static void both_ways(void)
{
	struct frame f;
	struct pair p;
	u32 i;

	begin(&p);
	for (i = 0; i < 3; i++) {
		f = sign(&p.a);
		CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
		f = sign(&p.b);
		CU_ASSERT_EQUAL(check(&p.a, &f), VIA_AUTH_OK);
	}
}

/* The tag is what docs/reference/wire.md says, by another way of the same hash. */
static void as_written(void)
{
	u8 text[] = "mvia 2 session\0\0"
		"\x52\x54\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0" "\6\0\0\0\0\0"
		"\0\0\0\0\0\0\0\x6f" "\0\0\0\0\0\0\0\0"
		"\x52\x54\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0" "\6\0\0\0\0\0"
		"\0\0\0\0\0\0\0\xde" "\0\0\0\0\0\0\0\0";
	struct blake2s_ctx s;
	struct frame f;
	struct pair p;
	u8 key[32], tag[16];

	begin(&p);
	f = sign(&p.a);
	blake2s_init_key(&s, 32, common.key, 32);
	blake2s_update(&s, text, sizeof(text) - 1);
	blake2s_final(&s, key);
	blake2s_init_key(&s, 16, key, 32);
	blake2s_update(&s, f.b, HEAD + 8);
	blake2s_update(&s, f.b + SIZE, BODY);
	blake2s_final(&s, tag);
	CU_ASSERT(!memcmp(tag, f.b + HEAD + 8, 16));
	CU_ASSERT(!memcmp(f.b + HEAD, "\0\0\0\0\0\0\0\1", 8));
}

static void in_pieces(void)
{
	struct frame f;
	struct pair p;
	u32 cut;

	begin(&p);
	for (cut = 0; cut <= sizeof(f.b); cut++) {
		f = sign(&p.a);
		CU_ASSERT_EQUAL(check_cut(&p.b, &f, cut), VIA_AUTH_OK);
	}
	/* Padding is not of the frame. */
	f = sign(&p.a);
	f.b[SIZE + BODY] ^= 1;
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
}

static void replayed(void)
{
	struct frame f[2];
	struct pair p;

	begin(&p);
	f[0] = sign(&p.a);
	f[1] = sign(&p.a);
	CU_ASSERT_EQUAL(check(&p.b, &f[0]), VIA_AUTH_OK);
	CU_ASSERT_EQUAL(check(&p.b, &f[0]), VIA_AUTH_OLD);
	CU_ASSERT_EQUAL(check(&p.b, &f[1]), VIA_AUTH_OK);
	CU_ASSERT_EQUAL(check(&p.b, &f[1]), VIA_AUTH_OLD);
	CU_ASSERT_EQUAL(check(&p.b, &f[0]), VIA_AUTH_OLD);
}

/*
 * The newest overtakes all others: each of the window's is taken once, as often
 * as the window goes round.
 */
static void reordered(void)
{
	u32 n = VIA_AUTH_WINDOW, i, round;
	struct frame *f = calloc(n, sizeof(*f));
	struct pair p;

	begin(&p);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < n; i++)
			f[i] = sign(&p.a);
		for (i = n; i--;)
			CU_ASSERT_EQUAL(check(&p.b, &f[i]), VIA_AUTH_OK);
		for (i = n; i--;)
			CU_ASSERT_EQUAL(check(&p.b, &f[i]), VIA_AUTH_OLD);
	}
	free(f);
}

static void too_old(void)
{
	struct frame first, second, f;
	struct pair p;
	u32 i;

	begin(&p);
	first = sign(&p.a);
	second = sign(&p.a);
	for (i = 2; i < VIA_AUTH_WINDOW + 1; i++)
		f = sign(&p.a);
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
	CU_ASSERT_EQUAL(check(&p.b, &first), VIA_AUTH_OLD);
	CU_ASSERT_EQUAL(check(&p.b, &second), VIA_AUTH_OK);
	CU_ASSERT_EQUAL(check(&p.b, &second), VIA_AUTH_OLD);
}

/* A window that moves on by any distance forgets nothing and invents nothing. */
static void moves_on(void)
{
	static const u32 steps[] = { 1, 63, 64, 65, 2047, 2048, 4095, 4096,
				     4097, 100000 };
	struct frame f, late;
	struct pair p;
	u32 i, k, round;

	begin(&p);
	for (round = 0; round < 3; round++)
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			late = sign(&p.a);
			for (k = 1; k < steps[i]; k++)
				atomic64_inc_return(&p.a.sent);
			f = sign(&p.a);
			CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
			CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OLD);
			CU_ASSERT_EQUAL(check(&p.b, &late),
					steps[i] < VIA_AUTH_WINDOW ?
					VIA_AUTH_OK : VIA_AUTH_OLD);
			CU_ASSERT_EQUAL(check(&p.b, &late), VIA_AUTH_OLD);
		}
}

/* Each bit of a frame counts. */
static void forged(void)
{
	struct frame f, good;
	struct pair p;
	u32 bit;

	begin(&p);
	good = sign(&p.a);
	for (bit = 0; bit < 8 * (SIZE + BODY); bit++) {
		f = good;
		f.b[bit / 8] ^= 1 << bit % 8;
		CU_ASSERT_NOT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
	}
	CU_ASSERT_EQUAL(check(&p.b, &good), VIA_AUTH_OK);
}

/* A number far ahead, by one without the key, costs the others nothing. */
static void far_ahead(void)
{
	struct frame f, good;
	struct pair p;

	begin(&p);
	good = sign(&p.a);
	f = good;
	memset(f.b + HEAD, 0xff, 8);
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_FORGED);
	memset(f.b + HEAD, 0, 8);
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OLD);
	CU_ASSERT_EQUAL(p.b.highest, 0);
	CU_ASSERT_EQUAL(check(&p.b, &good), VIA_AUTH_OK);
	f = sign(&p.a);
	f.b[HEAD + 2] = 1;
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_FORGED);
	CU_ASSERT_EQUAL(p.b.highest, 1);
}

static void truncated(void)
{
	struct frame f;
	struct pair p;
	struct via_auth_piece piece = { .data = f.b };
	u32 len;

	begin(&p);
	f = sign(&p.a);
	for (len = 0; len < BODY; len++) {
		f.len = len;
		CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_FORGED);
		/* Its length says more than there is. */
		piece.len = SIZE + len;
		CU_ASSERT_EQUAL(take(&p.b, f.b, SIZE, &piece, 1,
					       BODY), VIA_AUTH_FORGED);
	}
	for (len = 0; len < VIA_AUTH_LEN; len++) {
		u8 *tight = malloc(len + !len);

		memcpy(tight, f.b, len);
		piece = (struct via_auth_piece){ tight, len };
		CU_ASSERT_EQUAL(take(&p.b, tight, len, &piece, 1, 0),
				VIA_AUTH_SHORT);
		free(tight);
	}
	f.len = BODY;
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
}

/* What a host sent is not taken for what the other one sent. */
static void reflected(void)
{
	struct frame f;
	struct pair p;

	begin(&p);
	f = sign(&p.a);
	CU_ASSERT_EQUAL(check(&p.a, &f), VIA_AUTH_FORGED);
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
}

static enum via_auth_error between(const struct via_auth_name *a,
				   const struct via_auth_name *b,
				   const struct via_auth_name *b_own,
				   const struct via_auth_name *b_peer)
{
	struct frame f;
	struct pair p;

	via_auth_begin(&p.a, &common, a, b, FIRST);
	via_auth_begin(&p.b, &common, b_own, b_peer, FIRST);
	f = sign(&p.a);
	return check(&p.b, &f);
}

static void other_names(void)
{
	struct via_auth_name a = name(1, 111), b = name(2, 222), x;

	CU_ASSERT_EQUAL(between(&a, &b, &b, &a), VIA_AUTH_OK);
	x = name(1, 112);		/* the sender was started anew */
	CU_ASSERT_EQUAL(between(&a, &b, &b, &x), VIA_AUTH_FORGED);
	x = name(2, 223);		/* the receiver was */
	CU_ASSERT_EQUAL(between(&a, &b, &x, &a), VIA_AUTH_FORGED);
	x = name(3, 111);		/* it comes from another address */
	CU_ASSERT_EQUAL(between(&a, &b, &b, &x), VIA_AUTH_FORGED);
	x = name(3, 222);		/* it was for another address */
	CU_ASSERT_EQUAL(between(&a, &b, &x, &a), VIA_AUTH_FORGED);
	x = a;
	x.nonce = 1;			/* of another session */
	CU_ASSERT_EQUAL(between(&a, &b, &b, &x), VIA_AUTH_FORGED);
	x = b;
	x.nonce = 1;
	CU_ASSERT_EQUAL(between(&a, &b, &x, &a), VIA_AUTH_FORGED);
	x = a;
	x.addr_len = 8;			/* zeros behind it are not it */
	CU_ASSERT_EQUAL(between(&a, &b, &b, &x), VIA_AUTH_FORGED);
	x = a;				/* as long as one can be */
	memset(x.addr, 0xee, sizeof(x.addr));
	x.addr_len = sizeof(x.addr);
	CU_ASSERT_EQUAL(between(&x, &b, &b, &x), VIA_AUTH_OK);
}

static void other_key(void)
{
	struct via_auth_name a = name(1, 111), b = name(2, 222);
	struct via_auth_key key = common;
	struct frame f;
	struct pair p;

	begin(&p);
	key.key[31] ^= 1;
	via_auth_begin(&p.b, &key, &b, &a, FIRST);
	f = sign(&p.a);
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_FORGED);
}

static void wiped(void)
{
	static const struct via_auth_session zero;
	struct frame f;
	struct pair p;

	begin(&p);
	f = sign(&p.a);
	CU_ASSERT_EQUAL(check(&p.b, &f), VIA_AUTH_OK);
	via_auth_end(&p.b);
	CU_ASSERT(!memcmp(&p.b, &zero, sizeof(zero)));
}

UNIT_MAIN("auth",
	  { "frames of both directions are taken", both_ways },
	  { "key and tag are as the wire says", as_written },
	  { "a frame in pieces, and padded", in_pieces },
	  { "a frame that came before", replayed },
	  { "reorder within the window", reordered },
	  { "a frame that is too old", too_old },
	  { "the window moves on", moves_on },
	  { "each bit is covered", forged },
	  { "a forged number far ahead", far_ahead },
	  { "truncated frames", truncated },
	  { "a frame sent back", reflected },
	  { "other epochs, addresses, sessions", other_names },
	  { "another key", other_key },
	  { "keys are wiped", wiped });
