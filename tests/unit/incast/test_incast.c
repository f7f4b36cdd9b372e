// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Shares of many hosts that send to one NIC. */

#include "incast.h"
#include "unit.h"

#define HOSTS	64u

static struct via_incast incast;
static struct via_incast_host host[HOSTS];

static void begin(void)
{
	memset(host, 0, sizeof(host));
	via_incast_init(&incast, 1000);
}

/* Each of @n hosts fills a window of @frames. */
static void turn(u32 n, u32 frames, u32 now_ms)
{
	u32 i;

	for (i = 0; i < n; i++)
		via_incast_asked(&incast, &host[i], frames, now_ms);
}

static void lose(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		via_incast_lost(&incast, &host[i]);
}

static void no_bound_without_loss(void)
{
	u32 i;

	begin();
	for (i = 0; i < 1000; i++) {
		turn(HOSTS, 1, 1000 + i);
		CU_ASSERT_FATAL(!incast.share);
	}
}

static void parts_are_equal(void)
{
	begin();
	turn(HOSTS, 1, 1000);
	lose(2);
	CU_ASSERT_EQUAL(incast.total, HOSTS * VIA_CONG_MIN * 3 / 4);
	CU_ASSERT_EQUAL(incast.share, 3 * VIA_CONG_PARTS);
}

/* A host whose own wire is bad, and one that says so, takes nothing. */
static void one_host_is_no_incast(void)
{
	u32 i;

	begin();
	turn(HOSTS, 1, 1000);
	for (i = 0; i < 1000; i++)
		lose(1);
	CU_ASSERT_EQUAL(incast.share, 0);
}

/* Their own windows fit into the least that is shared out. */
static void few_hosts_share_nothing(void)
{
	u32 n = VIA_INCAST_MIN / VIA_CONG_MIN;

	begin();
	turn(n, 1, 1000);
	lose(n);
	CU_ASSERT_EQUAL(incast.share, 0);
	turn(n + 1, 1, 1000);
	lose(n + 1);
	CU_ASSERT(incast.share);
}

/* Windows of eight frames and more are reduced by those that have them. */
static void large_windows_are_left(void)
{
	begin();
	turn(HOSTS, VIA_CONG_MIN + 1, 1000);
	lose(HOSTS);
	CU_ASSERT_EQUAL(incast.share, 0);
}

/* What was sent before a reduction is lost without another one. */
static void one_reduction_for_a_burst(void)
{
	u32 total, i;

	begin();
	turn(HOSTS, 1, 1000);
	lose(HOSTS);
	total = incast.total;
	for (i = 0; i < VIA_INCAST_DEAF; i++) {
		lose(HOSTS);
		via_incast_asked(&incast, &host[0], total, 1000);
	}
	CU_ASSERT_EQUAL(incast.total, total);
	lose(HOSTS);
	CU_ASSERT_EQUAL(incast.total, total * 7 / 8);
}

static void grows_without_loss(void)
{
	u32 total, i;

	begin();
	turn(HOSTS, 1, 1000);
	lose(HOSTS);
	total = incast.total;
	for (i = 0; i < VIA_INCAST_DEAF + 3; i++)
		via_incast_asked(&incast, &host[0], total + i, 1000);
	CU_ASSERT_EQUAL(incast.total, total + 3);
	/* Up to the windows that senders find themselves. */
	for (i = 0; i < 1000 && incast.total; i++)
		via_incast_asked(&incast, &host[0], 1000, 1000);
	CU_ASSERT_EQUAL(incast.share, 0);
}

/* A host is counted in each period, and all its frames where there is a bound. */
static void counted_once_a_period(void)
{
	u32 end = 1000 + VIA_INCAST_PERIOD_MS;

	begin();
	CU_ASSERT_FALSE(via_incast_is_counted(&incast, &host[0], 1000));
	turn(1, 1, 1000);
	CU_ASSERT_TRUE(via_incast_is_counted(&incast, &host[0], end - 1));
	CU_ASSERT_FALSE(via_incast_is_counted(&incast, &host[1], 1000));
	CU_ASSERT_FALSE(via_incast_is_counted(&incast, &host[0], end));
	turn(HOSTS, 1, end);
	CU_ASSERT_TRUE(via_incast_is_counted(&incast, &host[0], end));
	lose(2);
	CU_ASSERT_FALSE(via_incast_is_counted(&incast, &host[0], end));
}

static void never_below_the_least(void)
{
	u32 i, k;

	begin();
	turn(HOSTS, 1, 1000);
	for (i = 0; i < 100; i++) {
		lose(HOSTS);
		for (k = 0; k < VIA_INCAST_DEAF; k++)
			via_incast_asked(&incast, &host[0], 1000, 1000);
	}
	CU_ASSERT_EQUAL(incast.total, VIA_INCAST_MIN);
	CU_ASSERT_EQUAL(incast.share, VIA_INCAST_MIN * VIA_CONG_PARTS / HOSTS);
}

/* Hosts that have left are counted for two periods more. */
static void hosts_leave(void)
{
	u32 now = 1000, i;

	begin();
	turn(HOSTS, 1, now);
	lose(HOSTS);
	for (i = 0; i < 20; i++) {
		now += VIA_INCAST_PERIOD_MS;
		turn(HOSTS / 2, 1, now);
	}
	CU_ASSERT_EQUAL(incast.share,
			incast.total * VIA_CONG_PARTS / (HOSTS / 2));
	turn(1, 1, now + VIA_INCAST_PERIOD_MS);
	turn(1, 1, now + 2 * VIA_INCAST_PERIOD_MS);
	CU_ASSERT_EQUAL(incast.share, 0);
	/* At once where nothing came for long. */
	turn(HOSTS, 1, now + 1000);
	lose(HOSTS);
	CU_ASSERT(incast.share);
	turn(1, 1, now + 1000 + 2 * VIA_INCAST_PERIOD_MS);
	CU_ASSERT_EQUAL(incast.share, 0);
}

UNIT_MAIN("incast",
	  { "no bound without loss", no_bound_without_loss },
	  { "parts are equal", parts_are_equal },
	  { "one host is no incast", one_host_is_no_incast },
	  { "few hosts share nothing", few_hosts_share_nothing },
	  { "large windows are left alone", large_windows_are_left },
	  { "one reduction for a burst", one_reduction_for_a_burst },
	  { "it grows without loss", grows_without_loss },
	  { "counted once a period", counted_once_a_period },
	  { "never below the least", never_below_the_least },
	  { "hosts leave", hosts_leave });
