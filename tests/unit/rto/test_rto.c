// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The retransmission timeout: how long it is, what its expiry means. */

#include "sample.h"
#include "rto.h"
#include "unit.h"

#define US		1000ull
#define MS		(1000 * US)
#define SRTT		50u		/* us */
#define TICK		1000ul

/* A round trip of 50 us: its timeout is that, the peer's delay of 100 and 100. */
static struct via_rto_path path = {
	.srtt = SRTT, .net = SRTT, .rto = 200, .least = 200, .most = 1000000,
	.delay = 100, .reliable = true,
};

/* Frames 100 to 109 are in flight. */
static struct via_rto_now at(u64 ns)
{
	return (struct via_rto_now){
		.una = 100, .nxt = 110, .ns = ns, .tick = TICK,
		.tries = 12, .dead = 800,
	};
}

/* They were sent at 0, and the timeout counts from there. */
static struct via_rto start(void)
{
	struct via_rto r = {};

	via_rto_init(&r, 100, TICK);
	via_rto_start(&r, 100, 110, 0, via_rto_ns(&r, &path));
	return r;
}

/* The next timeout, as retransmit.c has it. */
static enum via_rto_act expire(struct via_rto *r, struct via_rto_now *now)
{
	enum via_rto_act act;

	now->ns = r->due;
	act = via_rto_expired(r, now, &path);
	via_rto_rearm(r, now->una, now->nxt, now->ns, via_rto_ns(r, &path));
	return act;
}

static void how_long(void)
{
	struct via_rto_path p = path;
	struct via_rto r = {};

	via_rto_init(&r, 0, TICK);
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 250 * US);
	p.rto = 700;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 700 * US);
	p.net = 1000;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), (SRTT + 100 + 2000) * US);
	/* Not known yet: early, and less so after a probe. */
	p = path;
	p.srtt = 0;
	p.rto = 20000;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 5 * MS);
	r.retries = 1;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 10 * MS);
	r.retries = 2;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 10 * MS);
	r.retries = 3;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 20 * MS);
	r.retries = 0;
	p.rto = 100;
	p.least = 900;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 900 * US);
	/* Unreliable waits for its acknowledgement twice. */
	p = path;
	p.reliable = false;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &p), 2250 * US);
	/* Doubled, and bounded. */
	r.retries = 2;
	r.backoff = 1;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &path), 2 * MS);
	r.backoff = 1000;
	CU_ASSERT_EQUAL(via_rto_ns(&r, &path), 1000 * MS);
}

static void progress_puts_off(void)
{
	struct via_rto r = start();
	struct via_rto_now now = at(250 * US);

	CU_ASSERT_EQUAL(r.due, 250 * US);
	/* A frame was acknowledged, so nothing is late. */
	CU_ASSERT(via_rto_sample(&r, 101, 112, 100 * US, 250 * US));
	CU_ASSERT_EQUAL(r.due, 350 * US);
	/* Nothing since: the time stays. */
	CU_ASSERT(!via_rto_sample(&r, 101, 114, 200 * US, 250 * US));
	CU_ASSERT_EQUAL(r.due, 350 * US);
	/* A frame beyond a hole is progress. */
	r.news = true;
	CU_ASSERT(via_rto_sample(&r, 101, 116, 300 * US, 250 * US));
	CU_ASSERT(!r.news);
	now.una = 102;
	now.nxt = 116;
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_NOTHING);
	CU_ASSERT_EQUAL(r.retries, 0);
	/* No credit is not the peer's silence. */
	now.starved = true;
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_NOTHING);
	now.starved = false;
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_PROBE);
}

/* Frame @seq leaves, 5 us after the beginning of time: is it timed? */
static bool times(struct via_rto *r, u32 seq, unsigned long tick)
{
	if (!via_rto_may_time(r, tick))
		return false;
	via_rto_time(r, seq, tick, 5 * US);
	return true;
}

static void probe_then_all(void)
{
	struct via_rto_now now = at(0);
	struct via_rto r = start();
	u64 first = r.due;

	CU_ASSERT(times(&r, 105, TICK + 1));
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_PROBE);
	CU_ASSERT(r.timing);
	CU_ASSERT_EQUAL(r.due - first, 500 * US);
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_AGAIN);
	CU_ASSERT(!r.timing);
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_AGAIN);
	CU_ASSERT_EQUAL(r.retries, 3);
	CU_ASSERT_EQUAL(r.again, 110);
	via_rto_recovered(&r);
	CU_ASSERT_EQUAL(r.retries, 0);
	CU_ASSERT_EQUAL(r.backoff, 0);
	CU_ASSERT_EQUAL(via_rto_ns(&r, &path), 250 * US);
}

/* A way that is not known may be longer than the first timeouts. */
static void probes_the_unknown(void)
{
	struct via_rto_path known = path;
	struct via_rto_now now = at(0);
	struct via_rto r = start();
	u32 i;

	path.srtt = 0;
	for (i = 0; i < 1 + VIA_RTO_LINEAR; i++) {
		CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_PROBE);
		CU_ASSERT(r.probing);
	}
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_AGAIN);
	CU_ASSERT(!r.probing);
	path = known;
	via_rto_recovered(&r);
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_PROBE);
	via_rto_recovered(&r);
	CU_ASSERT(!r.probing);
}

static void gives_up(void)
{
	struct via_rto_now now = at(0);
	struct via_rto r = start();
	u32 i;

	/* Retries alone: the peer had no time. */
	for (i = 0; i < 20; i++)
		CU_ASSERT_NOT_EQUAL(expire(&r, &now), VIA_RTO_GIVE_UP);
	now.tick += 799;
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_AGAIN);
	now.tick += 1;
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_GIVE_UP);
	/* The time alone: this host has not asked. */
	r = start();
	now = at(0);
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_PROBE);
	now.tick += 5000;
	CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_AGAIN);
	/* And it counts from the first timeout after progress. */
	r = start();
	now = at(0);
	for (i = 0; i < 12; i++)
		expire(&r, &now);
	via_rto_recovered(&r);
	now.tick += 5000;
	for (i = 0; i < 13; i++)
		CU_ASSERT_NOT_EQUAL(expire(&r, &now), VIA_RTO_GIVE_UP);
}

static void late_alarm_is_excused_once(void)
{
	struct via_rto_now now = at(0);
	struct via_rto r = start();

	CU_ASSERT(times(&r, 105, TICK + 1));
	/* Not late: less than the least. */
	now.ns = r.due + VIA_RTO_LATE_NS + 1;
	CU_ASSERT_EQUAL(via_rto_expired(&r, &now, &path), VIA_RTO_NOTHING);
	CU_ASSERT(!r.timing);
	via_rto_rearm(&r, 100, 110, now.ns, 250 * US);
	now.ns = r.due + MS;
	CU_ASSERT_EQUAL(via_rto_expired(&r, &now, &path), VIA_RTO_PROBE);
	/* Then once more. */
	via_rto_rearm(&r, 100, 110, now.ns, 250 * US);
	now.ns = r.due + MS;
	CU_ASSERT_EQUAL(via_rto_expired(&r, &now, &path), VIA_RTO_NOTHING);
	r = start();
	now.ns = r.due + VIA_RTO_LATE_NS;
	CU_ASSERT_EQUAL(via_rto_expired(&r, &now, &path), VIA_RTO_PROBE);
}

static void unreliable_forgets(void)
{
	struct via_rto_now now = at(0);
	struct via_rto r = start();
	u32 i;

	path.reliable = false;
	now.tick += 100000;
	for (i = 0; i < 30; i++)
		CU_ASSERT_EQUAL(expire(&r, &now), VIA_RTO_FORGET);
	CU_ASSERT_EQUAL(r.retries, VIA_RTO_BACKOFF);
	path.reliable = true;
}

static void slow_peer_stays_slow(void)
{
	struct via_rto_now now = at(0);
	struct via_rto r = start();

	expire(&r, &now);
	expire(&r, &now);
	/* Frame 108 came twice: the peer was slow. */
	via_rto_dsack(&r, 108, 110, 64);
	CU_ASSERT(r.spurious);
	via_rto_recovered(&r);
	CU_ASSERT_EQUAL(r.backoff, 2);
	CU_ASSERT_EQUAL(via_rto_ns(&r, &path), MS);
	/* The next one is told after the recovery. */
	expire(&r, &now);
	via_rto_recovered(&r);
	via_rto_dsack(&r, 109, 110, 64);
	CU_ASSERT_EQUAL(r.backoff, 3);
	via_rto_dsack(&r, 109, 110, 64);
	CU_ASSERT_EQUAL(r.backoff, 3);
	/* Not sent again, or not a number of these. */
	r.spent = 1;
	via_rto_dsack(&r, 110, 112, 64);
	via_rto_dsack(&r, 20, 110, 64);
	CU_ASSERT_EQUAL(r.backoff, 3);
	/* One that was sent once is timed. */
	CU_ASSERT(times(&r, 110, TICK + 5));
	CU_ASSERT_EQUAL(via_rto_timed(&r, 65 * US, 0, false, 1000), 60);
	CU_ASSERT_EQUAL(r.backoff, 0);
	r.spent = 100;
	via_rto_dsack(&r, 109, 110, 64);
	CU_ASSERT_EQUAL(r.backoff, VIA_RTO_BACKOFF);
}

static void one_frame_a_tick_is_timed(void)
{
	struct via_rto r = {};

	via_rto_init(&r, 0, TICK);
	CU_ASSERT(times(&r, 0, TICK));
	CU_ASSERT(!times(&r, 1, TICK + 1));
	/* The peer's wait is no part of it, and may be told too long. */
	CU_ASSERT_EQUAL(via_rto_timed(&r, 55 * US, 20, true, 1000), 30);
	CU_ASSERT(!r.timing);
	CU_ASSERT(!times(&r, 2, TICK));
	CU_ASSERT_EQUAL(via_rto_timed(&r, 55 * US, 80, true, 1000), 0);
	CU_ASSERT_EQUAL(via_rto_timed(&r, 55 * MS, 80, false, 1000), 1000);
	CU_ASSERT(times(&r, 3, TICK + 1));
	via_rto_resent(&r, 2);
	CU_ASSERT(r.timing);
	via_rto_resent(&r, 3);
	CU_ASSERT(!r.timing);
	/* What asks for an answer at once is timed, whatever the tick. */
	via_rto_ask(&r, 9, TICK + 1);
	CU_ASSERT(times(&r, 9, TICK + 1));
	CU_ASSERT_EQUAL(r.timed, r.asked);
	via_rto_end(&r);
	CU_ASSERT(!r.timing && !r.interval);
}

static void black_hole(void)
{
	struct via_rto_now now = at(0);
	struct via_rto r = start();
	u32 i;

	for (i = 0; i < 3; i++)
		expire(&r, &now);
	CU_ASSERT(!via_rto_is_black_hole(&r, TICK + 900, 500));
	expire(&r, &now);
	/* Silent, or heard too early: no sign.  The second sign counts. */
	CU_ASSERT(!via_rto_is_black_hole(&r, TICK - 3, 500));
	CU_ASSERT(!via_rto_is_black_hole(&r, TICK + 500, 500));
	CU_ASSERT(!via_rto_is_black_hole(&r, TICK + 501, 500));
	CU_ASSERT(via_rto_is_black_hole(&r, TICK + 600, 500));
	/* Progress: from the beginning. */
	via_rto_recovered(&r);
	for (i = 0; i < 4; i++)
		expire(&r, &now);
	CU_ASSERT(!via_rto_is_black_hole(&r, TICK + 600, 500));
}

static void samples_before_the_alarm(void)
{
	struct via_rto r = start();

	CU_ASSERT_EQUAL(r.interval, 1);
	CU_ASSERT(!via_rto_samples(&r, 110));
	CU_ASSERT(via_rto_samples(&r, 111));
	/* 20 frames in 100 us, so 46 in 15/16 of 250 us. */
	via_rto_sample(&r, 101, 130, 100 * US, 250 * US);
	CU_ASSERT_EQUAL(r.interval, 46);
	CU_ASSERT_EQUAL(via_sample_interval(0, 0, MS), 1);
	CU_ASSERT_EQUAL(via_sample_interval(1, 100 * MS, MS), 1);
	CU_ASSERT_EQUAL(via_sample_interval(UINT32_MAX, 0, MS), VIA_SAMPLE_MAX);
}

UNIT_MAIN("rto",
	  { "how long a timeout is", how_long },
	  { "progress puts it off", progress_puts_off },
	  { "a probe, then all frames", probe_then_all },
	  { "an unknown way is probed three times", probes_the_unknown },
	  { "a peer is given up by retries and time", gives_up },
	  { "a late alarm is excused once", late_alarm_is_excused_once },
	  { "Unreliable forgets", unreliable_forgets },
	  { "a slow peer stays slow until a frame is timed", slow_peer_stays_slow },
	  { "one frame a tick is timed", one_frame_a_tick_is_timed },
	  { "a path that drops long frames", black_hole },
	  { "samples come before the alarm", samples_before_the_alarm });
