// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The window of a peer: growth and reductions. */

#include "congestion.h"

void via_cong_init(struct via_cong *c, u32 now_ms)
{
	memset(c, 0, sizeof(*c));
	c->least = VIA_CONG_MIN;
	c->most = VIA_WIN_MAX;
	c->cwnd = VIA_CONG_INIT;
	c->ssthresh = VIA_WIN_MAX;
	c->used_at = now_ms;
}

void via_cong_bound(struct via_cong *c, u32 most)
{
	c->most = max(min(most, VIA_WIN_MAX), 1u);
	c->cwnd = min(c->cwnd, c->most);
}

void via_cong_begin(const struct via_cong *c, struct via_cong_flow *f, u32 seq)
{
	f->cuts = c->cuts;
	f->round = seq;
	f->undo_pending = false;
}

/*
 * C * t^3 of RFC 9438, t in milliseconds below 2^17: C is 7 * 10^9 / 2^34,
 * which is 0.407, and needs no division.
 */
static u32 cubic_growth(u32 ms)
{
	return ((u64)ms * ms * ms * 7) >> 34;
}

#define CUBE_MS		0x1ffffu

/* After how many milliseconds growth has brought so many frames. */
static u32 cubic_root(u32 frames)
{
	u32 bit, ms = 0;

	for (bit = (CUBE_MS + 1) / 2; bit; bit /= 2)
		if (cubic_growth(ms + bit) <= frames)
			ms += bit;
	return ms;
}

/* The window that CUBIC wants at this moment. */
static u32 cubic_window(struct via_cong *c, u32 now)
{
	u32 t, by;

	if (!c->growing) {
		c->growing = true;
		c->epoch = now;
		c->wmax = max(c->wmax, c->cwnd);
		c->k = cubic_root(c->wmax - c->cwnd);
	}
	t = min(now - c->epoch, CUBE_MS);
	if (t < c->k) {
		by = cubic_growth(c->k - t);
		return c->wmax > by ? c->wmax - by : 0;
	}
	return c->wmax + cubic_growth(t - c->k);
}

/*
 * How many frames must be acknowledged until the window grows by one: it grows
 * by 1.25 in a round.  With one TCP has somewhat more than its share, since
 * that is reduced to 0.7 and this one to a half.
 */
static u32 frames_to_grow(struct via_cong *c, u32 now)
{
	u32 want, frames = max(c->cwnd * 4 / 5, 1u);

	if (c->cwnd < VIA_CONG_CUBIC)
		return frames;
	want = cubic_window(c, now);
	if (want <= c->cwnd)
		return frames;
	/* By half in a round at most. */
	return min(frames, max(c->cwnd / (want - c->cwnd), 2u));
}

void via_cong_grow(struct via_cong *c, u32 acked, u32 now_ms)
{
	u32 frames;

	if (c->cwnd >= c->most)
		return;
	if (c->cwnd < c->ssthresh) {
		c->cwnd = min(c->cwnd + acked, c->most);
		return;
	}
	frames = frames_to_grow(c, now_ms);
	/* What was counted at a slower pace is good for one frame. */
	c->grown = min(c->grown, frames) + acked;
	c->cwnd = min(c->cwnd + c->grown / frames, c->most);
	c->grown %= frames;
}

static u32 half_window(const struct via_cong *c)
{
	return min(max(c->cwnd / 2, c->least), c->most);
}

/* Where growth is to be slow next time; room for others where it fell. */
static void note_max(struct via_cong *c)
{
	c->wmax = c->cwnd < c->wmax ? c->cwnd - c->cwnd / 4 : c->cwnd;
	c->growing = false;
}

/* Frames in flight belong to the last reduction; @round may be old. */
static bool in_round(const struct via_cong_flow *f, u32 una, u32 nxt)
{
	u32 left = f->round - una;

	return left && left <= nxt - una;
}

void via_cong_hear(const struct via_cong *c, struct via_cong_flow *f, u32 nxt,
		   struct via_cong_now now)
{
	if (f->cuts == c->cuts)
		return;
	if (now.us - c->cut_at < now.rtt)
		f->round = nxt;
	f->cuts = c->cuts;
	f->undo_pending = false;
}

static void begin_round(struct via_cong *c, struct via_cong_flow *f, u32 nxt,
			u64 now)
{
	note_max(c);
	c->prior = c->cwnd;
	c->undo_flows = 0;
	c->cuts++;
	c->cut_at = now;
	c->grown = 0;
	f->cuts = c->cuts;
	f->round = nxt;
	f->undo_pending = false;
}

/* Once for all losses of one round.  True: the window was reduced. */
static bool back_off(struct via_cong *c, struct via_cong_flow *f, u32 una,
		     u32 nxt, struct via_cong_now now)
{
	via_cong_hear(c, f, nxt, now);
	if (in_round(f, una, nxt))
		return false;
	begin_round(c, f, nxt, now.us);
	c->cwnd = half_window(c);
	c->ssthresh = c->cwnd;
	return true;
}

static void await_undo(struct via_cong *c, struct via_cong_flow *f)
{
	c->undo_flows += !f->undo_pending;
	f->undo_pending = true;
}

void via_cong_loss(struct via_cong *c, struct via_cong_flow *f, u32 una,
		   u32 nxt, struct via_cong_now now)
{
	back_off(c, f, una, nxt, now);
	await_undo(c, f);
}

void via_cong_mark(struct via_cong *c, struct via_cong_flow *f, u32 una,
		   u32 nxt, struct via_cong_now now)
{
	/* A mark is never taken back. */
	if (back_off(c, f, una, nxt, now))
		c->prior = 0;
}

void via_cong_timeout(struct via_cong *c, struct via_cong_flow *f, u32 nxt,
		      u32 others, bool again, struct via_cong_now now)
{
	bool heard;

	via_cong_hear(c, f, nxt, now);
	/* Others of this silence have reduced it. */
	heard = f->round == nxt && others;
	if (!again && !heard) {
		begin_round(c, f, nxt, now.us);
		c->ssthresh = half_window(c);
		await_undo(c, f);
	} else {
		f->round = nxt;
		/* What comes twice may be due to the first time. */
		if (!others)
			c->prior = 0;
	}
	if (!others)
		c->cwnd = min(c->least, c->most);
	else if (!again && !heard)
		c->cwnd = half_window(c);
}

void via_cong_undo(struct via_cong *c, struct via_cong_flow *f)
{
	if (!f->undo_pending || f->cuts != c->cuts)
		return;
	f->undo_pending = false;
	if (--c->undo_flows || !c->prior)
		return;
	c->cwnd = min(max(c->cwnd, c->prior), c->most);
	c->ssthresh = max(c->ssthresh, c->prior);
	c->prior = 0;
	c->growing = false;
}

void via_cong_rest(struct via_cong *c, u32 now_ms)
{
	u32 seconds = (now_ms - c->used_at) / 1000;

	if (!seconds)
		return;
	/* What was reached before is reached fast, if it is still there. */
	c->ssthresh = max(c->ssthresh, c->cwnd - c->cwnd / 4);
	c->cwnd = max(c->cwnd >> min(seconds, 31u), min(VIA_CONG_INIT, c->cwnd));
	c->prior = 0;
	c->growing = false;
	c->used_at = now_ms;
}
