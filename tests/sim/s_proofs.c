// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What is told and what is answered to hosts that are not known: tokens, limits
 * and authenticators, each used by several CPUs at once.
 */
#include "prog.h"
#include "../../devices/ether/admit.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/session.h"

static struct {
	struct via_ether_nic nic;	/* its tokens and limits alone */
	struct via_ether_session from, to;
	u32 answered[2], taken, over;
	u64 told;			/* a token that was made */
} w;

#define CPUS	3

/* About the moment at which a secret changes. */
static void prove(void *arg)
{
	const u8 a[] = { 2, 0, 0, 0, 0, (uintptr_t)arg }, b[] = { 2, 1 };
	struct via_token_of of;
	u64 token;
	u32 i;

	via_token_of_init(&of, a, sizeof(a), b, sizeof(b), 7 + (uintptr_t)arg);
	for (i = 0; i < 4; i++) {
		local_bh_disable();
		token = via_ether_token_make(&w.nic, &of);
		sim_expect(token, "");
		sim_expect(via_ether_token_holds(&w.nic, &of, token),
			   "a token does not hold");
		of.epoch ^= 1;
		sim_expect(!via_ether_token_holds(&w.nic, &of, token), "");
		of.epoch ^= 1;
		local_bh_enable();
		sim_pause(sim_dice(2) ? SEC / 2 : sim_dice(1000));
		local_bh_disable();
		sim_expect(via_ether_token_holds(&w.nic, &of, token),
			   "a token of a moment ago does not hold");
		local_bh_enable();
	}
	w.over++;
}

static void tokens(void)
{
	static const u8 other[6] = { 2, 9 };
	struct via_token_of of;
	u32 i;

	spin_lock_init(&w.nic.token_lock);
	via_token_init(&w.nic.token, ktime_get_seconds());
	via_token_of_init(&of, other, 6, other, 6, 1);
	local_bh_disable();
	w.told = via_ether_token_make(&w.nic, &of);
	local_bh_enable();
	/* It may be that no use has met some periods; and all meet a new one. */
	sim_pause((1 + sim_dice(3)) * (u64)VIA_TOKEN_SECONDS * SEC -
		  sim_clock % (VIA_TOKEN_SECONDS * (u64)SEC) -
		  (sim_dice(2) ? SEC : 0));
	for (i = 0; i < CPUS; i++)
		sim_kthread("prove", prove, (void *)(uintptr_t)(1 + i));
	sim_await(w.over >= CPUS, SEC);
	sim_pause(VIA_TOKEN_SECONDS * (u64)SEC * 2);
	local_bh_disable();
	sim_expect(!via_ether_token_holds(&w.nic, &of, w.told),
		   "a token of long ago holds");
	local_bh_enable();
}

static void answer(void *arg)
{
	u32 n = (uintptr_t)arg, i;
	u8 addr[ETH_ALEN] = { 2 };

	for (i = 0; i < 60; i++) {
		/* All of one address, or each of its own. */
		addr[5] = n ? n * 60 + i : 0;
		w.answered[!!n] += via_limit_answer(&w.nic.limit, get_jiffies_64(),
						    VIA_LIMIT_ANSWER, addr,
						    ETH_ALEN, 0, 60, 60);
	}
	w.over++;
}

static void limits(void)
{
	bool one = sim_dice(2);
	u64 before;
	u32 i, most;

	via_limit_init(&w.nic.limit, HZ);
	before = jiffies;
	for (i = 0; i < CPUS; i++)
		sim_kthread("answer", answer, (void *)(uintptr_t)(one ? 0 :
								 1 + i));
	sim_await(w.over >= CPUS, MS);
	/* Ticks that went by have brought more. */
	most = one ? VIA_LIMIT_ASKER : VIA_LIMIT_ANSWER_BURST;
	before = jiffies - before;
	sim_expect(w.answered[!one] >= most && w.answered[!one] <=
		   most + 1 + before * VIA_LIMIT_ANSWERS / HZ, "%u answers",
		   w.answered[!one]);
}

/* Copies of a frame, on several CPUs: one of them is taken. */
static void receive(void *arg)
{
	struct via_auth_piece p = { arg, 40 };
	int ret;

	local_bh_disable();
	ret = via_session_take(&w.to, arg, 40, &p, 1, 0);
	local_bh_enable();
	sim_expect(ret == VIA_AUTH_OK || ret == VIA_AUTH_OLD, "(%d)", ret);
	w.taken += ret == VIA_AUTH_OK;
	w.over++;
}

static void replays(void)
{
	struct via_auth_name a = { .addr_len = 6, .epoch = 1 };
	struct via_auth_name b = { .addr_len = 6, .epoch = 2 };
	struct via_auth_key key = { { 1 } };
	u8 frame[2][40] = { { 0 } };
	u32 i;

	via_auth_begin(&w.from.auth, &key, &a, &b, 0);
	spin_lock_init(&w.to.lock);
	via_auth_begin(&w.to.auth, &key, &b, &a, 0);
	via_auth_sign(&w.from.auth, frame[0], 40, NULL, 0);
	via_auth_sign(&w.from.auth, frame[1], 40, NULL, 0);
	for (i = 0; i < 2 * CPUS; i++)
		sim_kthread("receive", receive, frame[i % 2]);
	sim_await(w.over >= 2 * CPUS, MS);
	sim_expect(w.taken == 2, "%u of %u copies of two frames are taken",
		   w.taken, 2 * CPUS);
	via_auth_end(&w.from.auth);
	via_auth_end(&w.to.auth);
}

SIM_SCENARIO(.name = "tokens", .run = tokens, .runs = 100, SIM_STATE(w),
	     .what = "tokens of address about the change of a secret")
SIM_SCENARIO(.name = "limits-answers", .run = limits, .runs = 50, SIM_STATE(w),
	     .what = "answers of several CPUs from one bucket")
SIM_SCENARIO(.name = "replays", .run = replays, .runs = 100, SIM_STATE(w),
	     .what = "copies of an authenticated frame on several CPUs")
