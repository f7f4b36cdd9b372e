// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The share of each host that sends to a NIC. */

#include "incast.h"

void via_incast_init(struct via_incast *c, u32 now_ms)
{
	memset(c, 0, sizeof(*c));
	c->period = 1;
	c->round = 1;
	c->began = now_ms;
}

static u32 count_hosts(const struct via_incast *c)
{
	return max(c->hosts, c->before);
}

/* The windows that the hosts find themselves. */
static u32 least_total(const struct via_incast *c)
{
	return count_hosts(c) * VIA_CONG_MIN;
}

static void tell_share(struct via_incast *c)
{
	u32 share = 0;

	if (c->total >= least_total(c))
		WRITE_ONCE(c->total, 0);
	if (c->total)
		share = max(c->total * VIA_CONG_PARTS / count_hosts(c), 1u);
	if (share != c->share)
		WRITE_ONCE(c->share, share);
}

static void next_round(struct via_incast *c)
{
	c->round++;
	c->frames = 0;
	c->lossy = 0;
}

static void next_period(struct via_incast *c, u32 now_ms)
{
	bool rested = now_ms - c->began >= 2 * VIA_INCAST_PERIOD_MS;

	c->before = rested ? 0 : c->hosts;
	WRITE_ONCE(c->began, now_ms);
	WRITE_ONCE(c->period, c->period + 1);
	c->hosts = 0;
	c->asked = 0;
	c->came = 0;
	if (!c->total) {
		c->deaf = 0;
		next_round(c);
	}
}

void via_incast_asked(struct via_incast *c, struct via_incast_host *h, u32 frames,
		      u32 now_ms)
{
	if (now_ms - c->began >= VIA_INCAST_PERIOD_MS)
		next_period(c, now_ms);
	if (h->period != c->period) {
		WRITE_ONCE(h->period, c->period);
		c->hosts++;
	}
	c->asked++;
	c->came += frames;
	if (!c->total)
		return;
	c->frames += frames;
	if (c->frames >= c->total) {
		if (c->deaf)
			c->deaf--;
		else if (!c->lossy)
			WRITE_ONCE(c->total, c->total + 1);
		next_round(c);
	}
	tell_share(c);
}

bool via_incast_is_counted(const struct via_incast *c,
			   const struct via_incast_host *h, u32 now_ms)
{
	return !READ_ONCE(c->total) &&
	       now_ms - READ_ONCE(c->began) < VIA_INCAST_PERIOD_MS &&
	       READ_ONCE(h->period) == READ_ONCE(c->period);
}

/*
 * Half a window comes between two frames that ask, or all of it where it is one
 * frame.  Larger ones are the senders' own matter.
 */
static bool are_windows_small(const struct via_incast *c)
{
	return c->came <= c->asked * VIA_CONG_MIN;
}

void via_incast_lost(struct via_incast *c, struct via_incast_host *h)
{
	u32 n = count_hosts(c);

	if (h->round == c->round || least_total(c) <= VIA_INCAST_MIN)
		return;
	h->round = c->round;
	c->lossy++;
	/* One host with a bad wire of its own is not the port's. */
	if (c->deaf || c->lossy < max(2u, n / 32) ||
	    (!c->total && !are_windows_small(c)))
		return;
	WRITE_ONCE(c->total, max(c->total ? c->total * 7 / 8 :
				 least_total(c) * 3 / 4, VIA_INCAST_MIN));
	c->deaf = VIA_INCAST_DEAF;
	next_round(c);
	tell_share(c);
}
