// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Disconnecting, flushing, draining: section 5. */
#include "loss.h"
#include <string.h>

#define N 6

static void post_recvs(struct pair *p, VIP_DESCRIPTOR **d)
{
	struct xfer rx;
	unsigned int i;

	for (i = 0; i < N; i++) {
		rx = our_buf(i * 200, 100, 1);
		d[i] = pair_post(p, RECVQ, &rx);
	}
}

static void check_flushed(struct done r, VIP_DESCRIPTOR *d)
{
	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == d);
	CHECK_EQ(r.status, VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
		 VIP_STATUS_DESC_FLUSHED_ERROR);
	CHECK_EQ(bytes_other((uint8_t *)d->DS[0].Local.Data.Address,
			     XFER_GUARD, 100), 0);
}

/* The idiom that looks at the code: SUCCESS, or ERROR and a descriptor. */
static unsigned int drain_by_code(VIP_VI_HANDLE vi, VIP_DESCRIPTOR **d)
{
	VIP_DESCRIPTOR *got = NULL;
	unsigned int n = 0;
	VIP_RETURN rc;

	for (;;) {
		rc = VipRecvDone(vi, &got);
		if (rc != VIP_SUCCESS && !(rc == VIP_DESCRIPTOR_ERROR && got))
			return n;
		CHECK(n < N && got == d[n]);
		n++;
	}
}

/* The idiom that looks at the pointer alone. */
static unsigned int drain_by_pointer(VIP_VI_HANDLE vi, VIP_DESCRIPTOR **d)
{
	VIP_DESCRIPTOR *got = DONE_POISON;
	unsigned int n = 0;

	for (;;) {
		VipRecvDone(vi, &got);
		if (!got)
			return n;
		CHECK(n < N && got == d[n]);
		n++;
	}
}

static void local(void)
{
	VIP_DESCRIPTOR *d[N];
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	post_recvs(&p, d);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	/* On return all is over: no waiting for anything. */
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	for (i = 0; i < N; i++)
		check_flushed(poll_done(p.vi, RECVQ), d[i]);
	CHECK_NONE(poll_done(p.vi, RECVQ), VIP_DESCRIPTOR_ERROR);
	CHECK_EQ(peer_errors(p.pvi, VIP_ERROR_CONN_LOST, 1), 1);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_ERROR);
	peer_disconnect(p.pvi);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	/* No CONN_LOST for what one did oneself. */
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 0);
	pair_connect(&p);
	check_alive(&p);
	post_recvs(&p, d);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(drain_by_code(p.vi, d), N);
	peer_disconnect(p.pvi);
	pair_connect(&p);
	post_recvs(&p, d);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(drain_by_pointer(p.vi, d), N);
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 0);
	pair_close(&p);
}

static void remote(void)
{
	VIP_DESCRIPTOR *d[N], *extra;
	VIP_ERROR_DESCRIPTOR e;
	struct xfer x = our_buf(90000, 10, 1);
	struct done r;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	post_recvs(&p, d);
	peer_disconnect(p.pvi);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	memset(&e, 0, sizeof(e));
	CHECK_EQ(nic_error_wait(&env.nic, p.vi, VIP_ERROR_CONN_LOST, 1,
				LONG_MS, &e), 1);
	CHECK(e.NicHandle == env.nic.h && e.ViHandle == p.vi);
	CHECK(e.CQHandle == NULL && e.DescriptorPtr == NULL);
	CHECK_EQ(e.ResourceCode, VIP_RESOURCE_VI);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	for (i = 0; i < N; i++)
		check_flushed(wait_done(p.vi, RECVQ, LONG_MS), d[i]);
	/* In Error a post is accepted and comes back flushed. */
	extra = pair_post(&p, RECVQ, &x);
	r = poll_done(p.vi, RECVQ);
	CHECK(r.rc == VIP_DESCRIPTOR_ERROR && r.d == extra);
	CHECK(r.status & VIP_STATUS_DESC_FLUSHED_ERROR);
	extra = pair_post(&p, SENDQ, &x);
	r = poll_done(p.vi, SENDQ);
	CHECK(r.rc == VIP_DESCRIPTOR_ERROR && r.d == extra);
	CHECK_EQ(r.status, VIP_STATUS_DONE | VIP_STATUS_OP_SEND |
		 VIP_STATUS_DESC_FLUSHED_ERROR);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_RC(nic_post(&env.nic, p.vi, SENDQ, &x, NULL),
		 VIP_INVALID_STATE);
	pair_connect(&p);
	check_alive(&p);
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 1);
	pair_close(&p);
}

static void idempotent(void)
{
	struct pair p;

	pair_open(&p, NULL);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	peer_disconnect(p.pvi);
	peer_disconnect(p.pvi);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_INVALID(VipDisconnect(NULL));
	CHECK_INVALID(VipDisconnect(env.nic.h));
	pair_connect(&p);
	check_alive(&p);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
	CHECK_INVALID(VipDisconnect(p.vi));
}

/* Sends cut off by their own disconnect: each comes back, in order. */
static void cut_off(void)
{
	VIP_DESCRIPTOR *d[N];
	struct xfer tx, rx;
	struct ctl_msg m;
	struct done r;
	struct pair p;
	bool flushed = false;
	unsigned int i, good = 0, got = 0;

	pair_open(&p, NULL);
	/*
	 * An unreliable level may lose some of these bursts, and the next
	 * message then takes the receive: there all have the same content.
	 */
	for (i = 0; i < N; i++) {
		rx = peer_buf(i * 80000, 70000, 1);
		rx.seed = reliable() ? i : 0;
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	}
	for (i = 0; i < N; i++) {
		tx = our_buf(i * 80000, 70000, 1);
		tx.seed = reliable() ? i : 0;
		d[i] = pair_post(&p, SENDQ, &tx);
	}
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	for (i = 0; i < N; i++) {
		r = poll_done(p.vi, SENDQ);
		CHECK(r.d == d[i]);
		if (r.rc == VIP_SUCCESS) {
			CHECK(!flushed);
			good++;
		} else {
			CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
				 VIP_STATUS_DESC_FLUSHED_ERROR);
			flushed = true;
		}
	}
	CHECK(poll_done(p.vi, SENDQ).d == NULL);
	CHECK_PEER_STATE(p.pvi, VIP_STATE_ERROR);
	for (i = 0; i < N; i++) {
		m = peer_wait_verify(p.pvi, RECVQ, LONG_MS, 1);
		if (m.rc != VIP_SUCCESS)
			continue;
		CHECK_EQ(m.length, 70000);
		CHECK_EQ(m.bad, 0);
		got++;
	}
	/* Delivered is delivered. */
	if (reliable())
		CHECK(got >= good);
	pair_close(&p);
}

/* Both ends at the same time. */
static void both(void)
{
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < 10; i++) {
		about("round %u", i);
		pair_connect(&p);
		peer_spawn((struct ctl_msg){ .cmd = P_DISCONNECT,
					     .vi = p.pvi }, 3);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		CHECK_RC(peer_join(3).rc, VIP_SUCCESS);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
		CHECK_EQ(peer_state(p.pvi), VIP_STATE_IDLE);
	}
	pair_connect(&p);
	check_alive(&p);
	pair_close(&p);
}

static void wakes(void)
{
	VIP_DESCRIPTOR *d;
	struct waiter w;
	struct xfer rx = our_buf(0, 100, 1);
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 2; i++) {
		about("%s", i ? "local" : "remote");
		d = pair_post(&p, RECVQ, &rx);
		start_waiter(&w, p.vi, RECVQ, VIP_INFINITE);
		/* Give it the time to sleep; whether it does is its affair. */
		pause_ms(10);
		if (i)
			CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		else
			peer_disconnect(p.pvi);
		pthread_join(w.thread, NULL);
		CHECK_RC(w.r.rc, VIP_DESCRIPTOR_ERROR);
		CHECK(w.r.d == d);
		CHECK(w.r.status & VIP_STATUS_DESC_FLUSHED_ERROR);
		if (i)
			break;
		pair_reset(&p);
	}
	pair_close(&p);
}

static const struct group groups[] = {
	{ "disconnect.local", "5 local VipDisconnect, draining, 8 CONN_LOST",
	  local, G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "disconnect.remote", "5 remote VipDisconnect, Error, 8 CONN_LOST",
	  remote, G_PEER | G_LEVELS, 0 },
	{ "disconnect.idempotent", "C14", idempotent,
	  G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "disconnect.cut_off", "5 flush, 7.1 order", cut_off,
	  G_PEER | G_LEVELS, 0 },
	{ "disconnect.both", "5 both ends may call it", both,
	  G_PEER | G_LEVELS, 0 },
	{ "disconnect.wakes", "10.4 a disconnect ends a wait", wakes,
	  G_PEER | G_LEVELS, 0 },
};

NOUN(disconnect, groups);
