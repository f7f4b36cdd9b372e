// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Completion queues by themselves, and their limits: sections 9 and 10.5. */
#include "remote.h"
#include <string.h>

static void arguments(void)
{
	VIP_CQ_HANDLE cq = NULL, none;
	VIP_BOOLEAN which;
	VIP_VI_HANDLE vi;

	CHECK_INVALID(VipCreateCQ(env.nic.h, 0, &none));
	CHECK_INVALID(VipCreateCQ(env.nic.h, 16, NULL));
	CHECK_INVALID(VipCreateCQ(NULL, 16, &none));
	CHECK_RC(VipCreateCQ(env.nic.h, env.nic.attr.MaxCQEntries + 1, &none),
		 VIP_ERROR_RESOURCE);
	CHECK_RC(VipCreateCQ(env.nic.h, ~(VIP_ULONG)0, &none),
		 VIP_ERROR_RESOURCE);
	REQUIRE_RC(VipCreateCQ(env.nic.h, env.nic.attr.MaxCQEntries, &cq),
		   VIP_SUCCESS);
	CHECK(cq != NULL);
	CHECK_INVALID(VipCQDone(cq, NULL, &which));
	CHECK_INVALID(VipCQDone(cq, &vi, NULL));
	CHECK_INVALID(VipCQWait(cq, 0, NULL, &which));
	CHECK_INVALID(VipCQWait(cq, 0, &vi, NULL));
	CHECK_RC(VipCQDone(cq, &vi, &which), VIP_NOT_DONE);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_INVALID(VipDestroyCQ(cq));
	CHECK_INVALID(VipCQDone(cq, &vi, &which));
	CHECK_INVALID(VipCQWait(cq, 0, &vi, &which));
	CHECK_INVALID(VipDestroyCQ(NULL));
	REQUIRE_RC(VipCreateCQ(env.nic.h, 1, &cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static void timeouts(void)
{
	VIP_CQ_HANDLE cq;
	VIP_BOOLEAN which;
	VIP_VI_HANDLE vi;
	uint64_t start;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	start = now_ms();
	CHECK_RC(VipCQWait(cq, 0, &vi, &which), VIP_TIMEOUT);
	CHECK(now_ms() - start < LONG_MS);
	start = now_ms();
	CHECK_RC(VipCQWait(cq, SHORT_MS, &vi, &which), VIP_TIMEOUT);
	CHECK(now_ms() - start >= SHORT_MS - 1);
	CHECK(now_ms() - start < LONG_MS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static void attached(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_CQ_HANDLE cq, two;
	VIP_VI_HANDLE vi[3];

	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &two), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, cq, NULL, &vi[0]), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, cq, &vi[1]), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, two, cq, &vi[2]), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyVi(vi[0]), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyVi(vi[1]), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyCQ(two), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyVi(vi[2]), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(two), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static VIP_VI_HANDLE with_recvs(VIP_CQ_HANDLE cq, unsigned int n)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct xfer rx = our_buf(0, 10, 1);
	VIP_VI_HANDLE vi;
	unsigned int i;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, cq, &vi), VIP_SUCCESS);
	for (i = 0; i < n; i++)
		REQUIRE_RC(nic_post(&env.nic, vi, RECVQ, &rx, NULL),
			   VIP_SUCCESS);
	return vi;
}

/*
 * A CQ far too small for what completes: section 9 wants every notice, in the
 * order of completion.
 */
static void overflow(void)
{
	static const unsigned int order[] = { 1, 0, 2 };
	unsigned int i, j, each = DESC_SLOTS / 3;
	VIP_VI_HANDLE vi[3], got;
	VIP_BOOLEAN which;
	VIP_CQ_HANDLE cq;
	struct done r;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 1, &cq), VIP_SUCCESS);
	for (i = 0; i < 3; i++)
		vi[i] = with_recvs(cq, each);
	for (i = 0; i < 3; i++)
		CHECK_RC(VipDisconnect(vi[order[i]]), VIP_SUCCESS);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < each; j++) {
			about("notice %u of VI %u", j, order[i]);
			got = NULL;
			which = 7;
			CHECK_RC(VipCQDone(cq, &got, &which), VIP_SUCCESS);
			CHECK(got == vi[order[i]]);
			CHECK_EQ(which, VIP_TRUE);
			if (got != vi[order[i]])
				give_up();
			/* C10: and Done succeeds at once. */
			r = poll_done(got, RECVQ);
			CHECK(r.d != NULL);
			CHECK(r.status & VIP_STATUS_DESC_FLUSHED_ERROR);
		}
	}
	CHECK_RC(VipCQDone(cq, &got, &which), VIP_NOT_DONE);
	for (i = 0; i < 3; i++) {
		CHECK(poll_done(vi[i], RECVQ).d == NULL);
		CHECK_RC(VipDestroyVi(vi[i]), VIP_SUCCESS);
	}
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Overflowing again and again, read a little each time. */
static void overflow_rounds(void)
{
	VIP_VI_HANDLE vi, got;
	struct xfer rx = our_buf(0, 10, 1);
	unsigned int i, posted = 0, seen = 0, round;
	VIP_BOOLEAN which;
	VIP_CQ_HANDLE cq;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 2, &cq), VIP_SUCCESS);
	vi = with_recvs(cq, 0);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 11; i++, posted++)
			vi_post(vi, RECVQ, &rx);
		CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
		for (i = 0; i < 7 + round % 4; i++, seen++) {
			CHECK_RC(VipCQDone(cq, &got, &which), VIP_SUCCESS);
			CHECK(poll_done(vi, RECVQ).d != NULL);
		}
	}
	while (VipCQDone(cq, &got, &which) == VIP_SUCCESS) {
		CHECK(got == vi && which == VIP_TRUE);
		CHECK(poll_done(vi, RECVQ).d != NULL);
		seen++;
	}
	CHECK_EQ(seen, posted);
	CHECK(poll_done(vi, RECVQ).d == NULL);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Collected without looking at the CQ: the entries left are stale. */
static void stale(void)
{
	VIP_VI_HANDLE vi, got;
	VIP_BOOLEAN which;
	VIP_CQ_HANDLE cq;
	struct xfer rx = our_buf(0, 10, 1);
	VIP_DESCRIPTOR *d;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 64, &cq), VIP_SUCCESS);
	vi = with_recvs(cq, 5);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_EQ(drain(vi, RECVQ), 5);
	/* A later completion is still announced, after at most the stale. */
	d = vi_post(vi, RECVQ, &rx);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	for (i = 0; i < 6; i++) {
		CHECK_RC(VipCQDone(cq, &got, &which), VIP_SUCCESS);
		CHECK(got == vi && which == VIP_TRUE);
		if (poll_done(vi, RECVQ).d == d)
			break;
	}
	CHECK(i < 6);
	/* And stale ones do no harm to destroying. */
	d = vi_post(vi, RECVQ, &rx);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	VipCQDone(cq, &got, &which);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/*
 * Stale notices that are not in the ring yet: a queue's place in the order is
 * that of its first one left, not of one collected.
 */
static void stale_order(void)
{
	struct xfer rx = our_buf(0, 10, 1);
	VIP_VI_HANDLE vi[3], got;
	static const unsigned int order[] = { 0, 2, 1 };
	VIP_BOOLEAN which;
	VIP_CQ_HANDLE cq;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 1, &cq), VIP_SUCCESS);
	/* The first fills the ring, the others' notices wait. */
	for (i = 0; i < 3; i++)
		vi[i] = with_recvs(cq, 1);
	for (i = 0; i < 3; i++)
		CHECK_RC(VipDisconnect(vi[i]), VIP_SUCCESS);
	CHECK(poll_done(vi[1], RECVQ).d != NULL);
	vi_post(vi[1], RECVQ, &rx);
	CHECK_RC(VipDisconnect(vi[1]), VIP_SUCCESS);
	for (i = 0; i < 3; i++) {
		about("notice %u", i);
		got = NULL;
		CHECK_RC(VipCQDone(cq, &got, &which), VIP_SUCCESS);
		CHECK(got == vi[order[i]]);
		CHECK(poll_done(got, RECVQ).d != NULL);
	}
	CHECK_RC(VipCQDone(cq, &got, &which), VIP_NOT_DONE);
	for (i = 0; i < 3; i++)
		CHECK_RC(VipDestroyVi(vi[i]), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Entries of a VI that is gone must not name a VI that is there. */
static void stale_vi(void)
{
	VIP_VI_HANDLE old, vi, got;
	VIP_BOOLEAN which;
	VIP_CQ_HANDLE cq;
	unsigned int i, n = 0;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 2, &cq), VIP_SUCCESS);
	old = with_recvs(cq, 20);
	CHECK_RC(VipDisconnect(old), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(old), VIP_SUCCESS);
	vi = with_recvs(cq, 3);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	for (i = 0; i < 23 + 1; i++) {
		if (VipCQDone(cq, &got, &which) != VIP_SUCCESS)
			break;
		if (got == vi) {
			CHECK(poll_done(vi, RECVQ).d != NULL);
			n++;
		}
	}
	CHECK(i < 24);
	CHECK_EQ(n, 3);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "cq.arguments", "10.5 VipCreateCQ, VipCQDone, VipCQWait", arguments,
	  G_EARLY, 0 },
	{ "cq.timeouts", "10.5 VipCQWait, 14 time-out 0", timeouts, G_EARLY,
	  0 },
	{ "cq.attached", "10.5 VipDestroyCQ ERROR_RESOURCE", attached, 0, 0 },
	{ "cq.overflow", "9, 14 CQ overflow never loses, keeps order",
	  overflow, 0, 0 },
	{ "cq.overflow_rounds", "9 overflow, again and again",
	  overflow_rounds, 0, 0 },
	{ "cq.stale", "9 stale entries, C10", stale, 0, 0 },
	{ "cq.stale_order", "9 stale entries, order", stale_order, 0, 0 },
	{ "cq.stale_vi", "9 stale entries, 10.2 VipDestroyVi", stale_vi, 0, 0 },
};

NOUN(cq, groups);
