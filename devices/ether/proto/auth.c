// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Authenticated frames: see auth.h. */

#include <crypto/blake2s.h>
#include <linux/string.h>
#include "auth.h"

/* What is derived a key from, and what says so: no other use of it is this. */
struct derive {
	u8 label[16];
	struct {
		u8 addr[VIA_AUTH_ADDR_MAX];
		u8 addr_len;
		u8 zero[5];
		__be64 epoch;
		__be64 nonce;
	} __packed from, to;
} __packed;

static void derive_key(u8 *out, const struct via_auth_key *key,
		       const struct via_auth_name *from,
		       const struct via_auth_name *to)
{
	struct derive d = {
		.label = "mvia 2 session",
		.from.addr_len = from->addr_len,
		.from.epoch = cpu_to_be64(from->epoch),
		.from.nonce = cpu_to_be64(from->nonce),
		.to.addr_len = to->addr_len,
		.to.epoch = cpu_to_be64(to->epoch),
		.to.nonce = cpu_to_be64(to->nonce),
	};
	struct blake2s_ctx state;

	memcpy(d.from.addr, from->addr, from->addr_len);
	memcpy(d.to.addr, to->addr, to->addr_len);
	blake2s_init_key(&state, VIA_AUTH_KEY_LEN, key->key, VIA_AUTH_KEY_LEN);
	blake2s_update(&state, (const u8 *)&d, sizeof(d));
	blake2s_final(&state, out);
}

/* A byte behind the key's block has that hashed. */
static void prepare_hash(struct blake2s_ctx *state, u8 first,
			 const struct via_auth_key *key,
			 const struct via_auth_name *from,
			 const struct via_auth_name *to)
{
	u8 own[VIA_AUTH_KEY_LEN];

	derive_key(own, key, from, to);
	blake2s_init_key(state, BLAKE2S_128_HASH_SIZE, own, sizeof(own));
	blake2s_update(state, &first, sizeof(first));
	memzero_explicit(own, sizeof(own));
}

void via_auth_begin(struct via_auth_session *s, const struct via_auth_key *key,
		    const struct via_auth_name *own,
		    const struct via_auth_name *peer, u8 first)
{
	memset(s, 0, sizeof(*s));
	s->first = first;
	prepare_hash(&s->send, first, key, own, peer);
	prepare_hash(&s->receive, first, key, peer, own);
}

void via_auth_end(struct via_auth_session *s)
{
	memzero_explicit(s, sizeof(*s));
}

/*
 * The tag of headers but for itself, and of @len bytes behind @skip others.
 * The first byte is in @begun.
 */
static void compute_tag(u8 *out, const struct blake2s_ctx *begun, const u8 *hdr,
			u32 hdr_len, const struct via_auth_piece *p, u32 n,
			u32 skip, u32 len)
{
	struct blake2s_ctx state = *begun;
	u32 i, part;

	blake2s_update(&state, hdr + 1, hdr_len - BLAKE2S_128_HASH_SIZE - 1);
	for (i = 0; i < n && len; i++) {
		if (skip >= p[i].len) {
			skip -= p[i].len;
			continue;
		}
		part = min(p[i].len - skip, len);
		blake2s_update(&state, (const u8 *)p[i].data + skip, part);
		len -= part;
		skip = 0;
	}
	blake2s_final(&state, out);
}

void via_auth_sign(struct via_auth_session *s, void *hdr, u32 hdr_len,
		   const struct via_auth_piece *payload, u32 n)
{
	struct via_auth_wire *w = (void *)((u8 *)hdr + hdr_len - VIA_AUTH_LEN);

	w->counter = cpu_to_be64((u64)atomic64_inc_return(&s->sent));
	compute_tag(w->tag, &s->send, hdr, hdr_len, payload, n, 0, ~0u);
}

/* RFC 6479: is this number new?  The owner's lock held. */
static bool is_number_new(const struct via_auth_session *s, u64 number)
{
	if (number > s->highest)
		return true;
	/* 0 is no number; what is about 2^64 behind is caught here as well. */
	if (!number || s->highest - number >= VIA_AUTH_WINDOW)
		return false;
	return !(s->seen[number / 64 % VIA_AUTH_WORDS] >> (number % 64) & 1);
}

/* It came; words between the highest and it are of numbers that did not. */
static void note_number(struct via_auth_session *s, u64 number)
{
	u64 from = s->highest / 64, words = number / 64 - from, i;

	if (number > s->highest) {
		for (i = 1; i <= min_t(u64, words, VIA_AUTH_WORDS); i++)
			s->seen[(from + i) % VIA_AUTH_WORDS] = 0;
		s->highest = number;
	}
	s->seen[number / 64 % VIA_AUTH_WORDS] |= (u64)1 << number % 64;
}

/* As long for any two tags. */
static bool same_tag(const u8 *a, const u8 *b)
{
	u64 x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

enum via_auth_error via_auth_look(const struct via_auth_session *s,
				  const void *hdr, u32 hdr_len, u64 *number)
{
	struct via_auth_wire w;

	if (unlikely(hdr_len < VIA_AUTH_LEN))
		return VIA_AUTH_SHORT;
	memcpy(&w, (const u8 *)hdr + hdr_len - VIA_AUTH_LEN, sizeof(w));
	*number = be64_to_cpu(w.counter);
	return likely(is_number_new(s, *number)) ? VIA_AUTH_OK : VIA_AUTH_OLD;
}

enum via_auth_error via_auth_verify(const struct via_auth_session *s,
				    const void *hdr, u32 hdr_len,
				    const struct via_auth_piece *frame, u32 n,
				    u32 len)
{
	u8 want[BLAKE2S_128_HASH_SIZE];
	struct via_auth_wire w;

	memcpy(&w, (const u8 *)hdr + hdr_len - VIA_AUTH_LEN, sizeof(w));
	compute_tag(want, &s->receive, hdr, hdr_len, frame, n, hdr_len, len);
	if (unlikely(!same_tag(want, w.tag) || *(const u8 *)hdr != s->first))
		return VIA_AUTH_FORGED;
	return VIA_AUTH_OK;
}

enum via_auth_error via_auth_take(struct via_auth_session *s, u64 number)
{
	if (unlikely(!is_number_new(s, number)))
		return VIA_AUTH_OLD;
	note_number(s, number);
	return VIA_AUTH_OK;
}
