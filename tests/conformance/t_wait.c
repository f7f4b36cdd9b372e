// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waiting on a work queue: section 10.4, C16, C20. */
#include "loss.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void timeouts(void)
{
	struct xfer rx = our_buf(0, 100, 1), tx = peer_buf(0, 33, 1);
	uint64_t start;
	struct pair p;

	pair_open(&p, NULL);
	pair_post(&p, RECVQ, &rx);
	start = now_ms();
	CHECK_NONE(wait_done(p.vi, RECVQ, 0), VIP_TIMEOUT);
	CHECK(now_ms() - start < LONG_MS);
	start = now_ms();
	CHECK_NONE(wait_done(p.vi, RECVQ, SHORT_MS), VIP_TIMEOUT);
	CHECK(now_ms() - start >= SHORT_MS - 1);
	CHECK(now_ms() - start < LONG_MS);
	/* The receive is still there, and good. */
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
	CHECK_EQ(one_arrives(&p, &tx).length, 33);
	CHECK_INVALID(VipRecvWait(p.vi, 0, NULL));
	CHECK_INVALID(VipSendWait(p.vi, 0, NULL));
	CHECK_INVALID(VipRecvDone(p.vi, NULL));
	CHECK_INVALID(VipSendDone(p.vi, NULL));
	pair_close(&p);
}

static void woken(void)
{
	static const VIP_ULONG timeouts_of[] = {
		0xffffffff, VIP_INFINITE, 600000,
	};
	struct xfer rx = our_buf(0, 100, 1), tx = peer_buf(0, 44, 1);
	VIP_DESCRIPTOR *d;
	struct waiter w;
	uint64_t start;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(timeouts_of); i++) {
		about("time-out 0x%lx", timeouts_of[i]);
		d = pair_post(&p, RECVQ, &rx);
		start_waiter(&w, p.vi, RECVQ, timeouts_of[i]);
		pause_ms(10);
		start = now_ms();
		CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_NOT_DONE);
		/* Done does not queue up behind the waiter. */
		CHECK(now_ms() - start < LONG_MS);
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
		join_waiter(&p, &tx, w.thread);
		CHECK_RC(w.r.rc, VIP_SUCCESS);
		CHECK(w.r.d == d);
		CHECK_EQ(w.r.length, 44);
	}
	pair_close(&p);
}

static void interval(unsigned int ms)
{
	struct itimerval t = { { 0, ms * 1000 }, { 0, ms * 1000 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void interrupted(void)
{
	/* Without SA_RESTART, so that every system call may see it. */
	struct sigaction sa = { .sa_handler = on_signal };
	struct xfer rx = our_buf(0, 100, 1), tx = peer_buf(0, 55, 1);
	struct net_address local, remote;
	struct tries t = { 0 };
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN which;
	uint64_t start;
	struct done r;
	struct pair p;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	pair_open(&p, NULL);
	pair_post(&p, RECVQ, &rx);
	own_address(&env.nic, &local, "signals", 7);
	sigaction(SIGALRM, &sa, NULL);
	interval(3);
	signals = 0;
	about("VipRecvWait");
	start = now_ms();
	CHECK_RC(wait_done(p.vi, RECVQ, 50).rc, VIP_TIMEOUT);
	CHECK(now_ms() - start >= 49);
	CHECK(signals >= 2);
	about("VipCQWait");
	start = now_ms();
	CHECK_RC(VipCQWait(cq, 50, &vi, &which), VIP_TIMEOUT);
	CHECK(now_ms() - start >= 49);
	about("VipConnectWait");
	start = now_ms();
	CHECK_RC(VipConnectWait(env.nic.h, &local.a, 50, &remote.a, &theirs,
				&conn), VIP_TIMEOUT);
	CHECK(now_ms() - start >= 49);
	/* A whole conversation under fire. */
	about("a conversation");
	CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
	do {
		r = wait_done(p.vi, RECVQ, reliable() ? VIP_INFINITE :
							patience());
	} while (r.rc == VIP_TIMEOUT && peer_once_more(&t, &p, &tx));
	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK_EQ(r.length, 55);
	CHECK_RC(peer_wait(p.pvi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	check_alive(&p);
	pair_reset(&p);
	check_alive(&p);
	interval(0);
	pair_close(&p);
}

/* Two waiters on one queue: one completion ends one of them. */
static void two(void)
{
	struct xfer rx = our_buf(0, 100, 1), tx = peer_buf(0, 44, 1);
	VIP_DESCRIPTOR *d[2];
	struct waiter w[2];
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 2; i++)
		d[i] = pair_post(&p, RECVQ, &rx);
	for (i = 0; i < 2; i++)
		start_waiter(&w[i], p.vi, RECVQ, LONG_MS);
	for (i = 0; i < 2; i++)
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
	for (i = 0; i < 2; i++)
		join_waiter(&p, &tx, w[i].thread);
	CHECK_RC(w[0].r.rc, VIP_SUCCESS);
	CHECK_RC(w[1].r.rc, VIP_SUCCESS);
	CHECK((w[0].r.d == d[0] && w[1].r.d == d[1]) ||
	      (w[0].r.d == d[1] && w[1].r.d == d[0]));
	pair_close(&p);
}

static const struct group groups[] = {
	{ "wait.timeouts", "10.4 VipRecvWait, 14 time-out 0", timeouts,
	  G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "wait.woken", "10.4, C16, VipRecvDone beside VipRecvWait", woken,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "wait.interrupted", "C20 signals do not end waits", interrupted,
	  G_PEER, 0 },
	{ "wait.two", "10.4, 11 two waiters", two, G_PEER, 0 },
};

NOUN(wait, groups);
