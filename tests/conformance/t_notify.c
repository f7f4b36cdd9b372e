// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The three Notify calls: sections 10.4, 10.5, 11. */
#include "loss.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_NOTES	64

/* What handlers were called with, in the order of the calls. */
struct note {
	VIP_PVOID context;
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN recv;
	uint32_t status;
	uint32_t length;
	pthread_t thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct note notes[MAX_NOTES];
static unsigned int n_notes;
static unsigned int running, finished;
static bool go_on;

static void forget(void)
{
	n_notes = running = finished = 0;
	go_on = false;
	memset(notes, 0, sizeof(notes));
}

BEFORE_EACH(forget);

static void put_note(const struct note *n)
{
	pthread_mutex_lock(&lock);
	if (n_notes < MAX_NOTES)
		notes[n_notes] = *n;
	n_notes++;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&lock);
}

static void on_vi(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		  VIP_DESCRIPTOR *d)
{
	struct note n = { context, nic, vi, d, 7, 0, 0, pthread_self() };

	if (d) {
		n.status = d->CS.Status;
		n.length = d->CS.Length;
	}
	put_note(&n);
}

static void on_cq(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		  VIP_BOOLEAN recv)
{
	struct note n = { context, nic, vi, NULL, recv, 0, 0, pthread_self() };

	put_note(&n);
}

/* Waits until *count is want, or the time is up; returns what it is. */
static unsigned int count_wait(unsigned int *count, unsigned int want,
			       unsigned int ms)
{
	struct timespec until;
	unsigned int n;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&lock);
	while (*count < want && !err)
		err = pthread_cond_timedwait(&news, &lock, &until);
	n = *count;
	pthread_mutex_unlock(&lock);
	return n;
}

static unsigned int notes_wait(unsigned int want)
{
	return count_wait(&n_notes, want, LONG_MS);
}

static void *tag(uintptr_t n)
{
	return (void *)(n + 0x7000);
}

/* Messages from the peer until so many handlers were called. */
static void arrive(struct pair *p, const struct xfer *tx, unsigned int want)
{
	struct tries t = { 0 };

	do {
		peer_sends(p->pvi, tx);
	} while (count_wait(&n_notes, want, patience()) < want &&
		 once_more(&t));
	CHECK_EQ(n_notes, want);
}

/* A VI with no connection, n receives posted; flush() completes them. */
static VIP_VI_HANDLE lone_vi(VIP_CQ_HANDLE cq, unsigned int n,
			     VIP_DESCRIPTOR **d)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct xfer rx = our_buf(0, 0, 0);
	VIP_VI_HANDLE vi = NULL;
	unsigned int i;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, cq, &vi), VIP_SUCCESS);
	for (i = 0; i < n; i++)
		CHECK_RC(nic_post(&env.nic, vi, RECVQ, &rx, d ? &d[i] : NULL),
			 VIP_SUCCESS);
	return vi;
}

static void flush(VIP_VI_HANDLE vi)
{
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
}

static void recv_one(void)
{
	struct xfer rx = our_buf(0, 100, 1), tx = peer_buf(0, 33, 1);
	VIP_DESCRIPTOR *d[2];
	struct done r;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	/* Registered on an empty queue: it is for what will be posted. */
	CHECK_RC(VipRecvNotify(p.vi, tag(1), on_vi), VIP_SUCCESS);
	for (i = 0; i < 2; i++)
		d[i] = pair_post(&p, RECVQ, &rx);
	arrive(&p, &tx, 1);
	CHECK(notes[0].context == tag(1));
	CHECK(notes[0].nic == env.nic.h);
	CHECK(notes[0].vi == p.vi);
	CHECK(notes[0].d == d[0]);
	CHECK_EQ(notes[0].status, VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
	CHECK_EQ(notes[0].length, 33);
	CHECK(!pthread_equal(notes[0].thread, pthread_self()));
	CHECK_EQ(xfer_wrong(&rx, 33), 0);
	CHECK(xfer_intact(d[0], &rx, XFER_DESC_SIZE));
	/* It is off the queue, and the next one stays there: one shot. */
	CHECK_NONE(poll_done(p.vi, RECVQ), VIP_NOT_DONE);
	r = one_arrives(&p, &tx);
	CHECK(r.d == d[1]);
	pair_close(&p);
	CHECK_EQ(n_notes, 1);
}

static void send_one(void)
{
	struct xfer tx = our_buf(0, 50, 2), rx = peer_buf(0, 100, 1);
	VIP_DESCRIPTOR *d[3];
	struct done r;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 3; i++)
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	for (i = 0; i < 2; i++) {
		CHECK_RC(VipSendNotify(p.vi, tag(i), on_vi), VIP_SUCCESS);
		d[i] = pair_post(&p, SENDQ, &tx);
		CHECK_EQ(notes_wait(i + 1), i + 1);
		CHECK(notes[i].context == tag(i));
		CHECK(notes[i].vi == p.vi);
		CHECK(notes[i].d == d[i]);
		CHECK_EQ(notes[i].status,
			 VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
		CHECK_EQ(notes[i].length, 50);
	}
	/* Without a handler the descriptor stays for Done. */
	d[2] = pair_post(&p, SENDQ, &tx);
	r = wait_done(p.vi, SENDQ, LONG_MS);
	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK(r.d == d[2]);
	pair_close(&p);
	CHECK_EQ(n_notes, 2);
}

/* The head is complete: it is off the queue when the call returns. */
static void already(void)
{
	VIP_DESCRIPTOR *d[3];
	struct done r;
	VIP_VI_HANDLE vi = lone_vi(NULL, 3, d);
	unsigned int i;

	flush(vi);
	CHECK_RC(VipRecvNotify(vi, tag(0), on_vi), VIP_SUCCESS);
	CHECK_EQ(notes_wait(1), 1);
	CHECK_RC(VipRecvNotify(vi, tag(1), on_vi), VIP_SUCCESS);
	r = poll_done(vi, RECVQ);
	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == d[2]);
	CHECK_NONE(poll_done(vi, RECVQ), VIP_DESCRIPTOR_ERROR);
	CHECK_EQ(notes_wait(2), 2);
	for (i = 0; i < 2; i++) {
		CHECK(notes[i].context == tag(i));
		CHECK(notes[i].d == d[i]);
		/* Not on the caller's stack, even so. */
		CHECK(!pthread_equal(notes[i].thread, pthread_self()));
	}
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* Registered before, between and after the completions: always in order. */
static void in_order(void)
{
	enum { N = 24 };
	VIP_DESCRIPTOR *d[N];
	struct xfer rx = our_buf(0, 0, 0);
	VIP_VI_HANDLE vi = lone_vi(NULL, 0, NULL);
	unsigned int i;

	for (i = 0; i < N / 3; i++)
		CHECK_RC(VipRecvNotify(vi, tag(i), on_vi), VIP_SUCCESS);
	for (i = 0; i < N; i++)
		d[i] = vi_post(vi, RECVQ, &rx);
	for (i = N / 3; i < 2 * N / 3; i++)
		CHECK_RC(VipRecvNotify(vi, tag(i), on_vi), VIP_SUCCESS);
	flush(vi);
	for (; i < N; i++)
		CHECK_RC(VipRecvNotify(vi, tag(i), on_vi), VIP_SUCCESS);
	CHECK_EQ(notes_wait(N), N);
	for (i = 0; i < N; i++) {
		about("call %u", i);
		CHECK(notes[i].context == tag(i));
		CHECK(notes[i].d == d[i]);
		CHECK(pthread_equal(notes[i].thread, notes[0].thread));
	}
	CHECK(poll_done(vi, RECVQ).d == NULL);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_EQ(n_notes, N);
}

/* Every message is answered from inside the handler, which registers again. */
static struct {
	VIP_VI_HANDLE vi;
	struct xfer rx, tx;
	unsigned int rounds, bad;
} echo;

static void on_echo(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		    VIP_DESCRIPTOR *d)
{
	struct note n = { context, nic, vi, d, 7, d->CS.Status, 0,
			  pthread_self() };
	VIP_DESCRIPTOR *sent = NULL;

	/* The end: flushed. */
	if (n.status & VIP_STATUS_ERROR_MASK)
		return;
	if (nic_post_again(&env.nic, vi, RECVQ, &echo.rx, NULL) ||
	    VipRecvNotify(vi, context, on_echo) ||
	    nic_post_again(&env.nic, vi, SENDQ, &echo.tx, NULL) ||
	    VipSendWait(vi, LONG_MS, &sent) || !sent)
		echo.bad++;
	put_note(&n);
}

static void again(void)
{
	struct xfer back = peer_buf(0, 100, 1), ask = peer_buf(4096, 9, 1);
	struct tries t;
	unsigned int i;
	struct ctl_msg m;
	struct pair p;

	pair_open(&p, NULL);
	echo.rx = our_buf(0, 100, 1);
	echo.tx = our_buf(4096, 44, 1);
	xfer_fill(&echo.tx);
	pair_post(&p, RECVQ, &echo.rx);
	CHECK_RC(VipRecvNotify(p.vi, tag(1), on_echo), VIP_SUCCESS);
	for (i = 0; i < 10; i++) {
		about("round %u", i);
		CHECK_RC(peer_post(p.pvi, RECVQ, &back), VIP_SUCCESS);
		t = (struct tries){ 0 };
		do {
			peer_sends(p.pvi, &ask);
			m = peer_wait_verify(p.pvi, RECVQ, patience(), 1);
		} while (m.rc == VIP_TIMEOUT && once_more(&t));
		CHECK_RC(m.rc, VIP_SUCCESS);
		CHECK_EQ(m.length, 44);
		CHECK_EQ(m.bad, 0);
		if (m.rc != VIP_SUCCESS)
			break;
	}
	CHECK(notes_wait(10) >= 10);
	CHECK_EQ(echo.bad, 0);
	pair_close(&p);
}

static void count_up(unsigned int *count)
{
	pthread_mutex_lock(&lock);
	(*count)++;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&lock);
}

/* Takes its time after main has seen it run. */
static void on_slow(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		    VIP_DESCRIPTOR *d)
{
	count_up(&running);
	pause_ms(SHORT_MS);
	__atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
	on_vi(context, nic, vi, d);
}

/* What is pending when the queue goes is forgotten; nothing runs afterwards. */
static void cancelled(void)
{
	VIP_VI_HANDLE vi[3];
	VIP_CQ_HANDLE cq;
	unsigned int i;

	about("a VI destroyed");
	vi[0] = lone_vi(NULL, 0, NULL);
	for (i = 0; i < 20; i++) {
		CHECK_RC(VipRecvNotify(vi[0], tag(i), on_vi), VIP_SUCCESS);
		CHECK_RC(VipSendNotify(vi[0], tag(i), on_vi), VIP_SUCCESS);
	}
	CHECK_RC(VipDestroyVi(vi[0]), VIP_SUCCESS);
	CHECK_INVALID(VipRecvNotify(vi[0], tag(1), on_vi));
	about("its place taken by another");
	vi[0] = lone_vi(NULL, 1, NULL);
	flush(vi[0]);
	CHECK(poll_done(vi[0], RECVQ).d != NULL);
	CHECK_RC(VipDestroyVi(vi[0]), VIP_SUCCESS);
	about("a CQ destroyed");
	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	for (i = 0; i < 20; i++)
		CHECK_RC(VipCQNotify(cq, tag(i), on_cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_INVALID(VipCQNotify(cq, tag(1), on_cq));
	CHECK_EQ(n_notes, 0);

	/* One handler runs, others wait behind it for complete descriptors. */
	about("a VI destroyed while a handler runs");
	vi[1] = lone_vi(NULL, 4, NULL);
	for (i = 0; i < 4; i++)
		CHECK_RC(VipRecvNotify(vi[1], tag(i), on_slow), VIP_SUCCESS);
	flush(vi[1]);
	CHECK(count_wait(&running, 1, LONG_MS));
	CHECK_RC(VipDestroyVi(vi[1]), VIP_SUCCESS);
	/* Those that had begun have ended. */
	CHECK_EQ(__atomic_load_n(&finished, __ATOMIC_SEQ_CST), running);
	CHECK(running < 4);

	about("the NIC closed");
	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	vi[2] = lone_vi(cq, 20, NULL);
	for (i = 0; i < 20; i++) {
		CHECK_RC(VipRecvNotify(vi[2], tag(i), on_vi), VIP_SUCCESS);
		CHECK_RC(VipCQNotify(cq, tag(i), on_cq), VIP_SUCCESS);
	}
	n_notes = 0;
	CHECK_RC(VipCloseNic(env.nic.h), VIP_SUCCESS);
	CHECK_EQ(n_notes, 0);
}

static void flushed(void)
{
	struct xfer rx = our_buf(0, 100, 1);
	VIP_DESCRIPTOR *d[3];
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 3; i++) {
		d[i] = pair_post(&p, RECVQ, &rx);
		CHECK_RC(VipRecvNotify(p.vi, tag(i), on_vi), VIP_SUCCESS);
	}
	/* The peer leaves: Error. */
	peer_disconnect(p.pvi);
	CHECK_EQ(notes_wait(3), 3);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	/* And what is posted now completes at once. */
	CHECK_RC(VipRecvNotify(p.vi, tag(3), on_vi), VIP_SUCCESS);
	CHECK_RC(VipSendNotify(p.vi, tag(4), on_vi), VIP_SUCCESS);
	pair_post(&p, RECVQ, &rx);
	CHECK_EQ(notes_wait(4), 4);
	pair_post(&p, SENDQ, &rx);
	CHECK_EQ(notes_wait(5), 5);
	for (i = 0; i < 5; i++) {
		about("call %u", i);
		CHECK(notes[i].context == tag(i));
		CHECK(i >= 3 || notes[i].d == d[i]);
		CHECK_EQ(notes[i].status, VIP_STATUS_DONE |
			 VIP_STATUS_DESC_FLUSHED_ERROR |
			 (i < 4 ? VIP_STATUS_OP_RECEIVE : VIP_STATUS_OP_SEND));
		CHECK_EQ(notes[i].length, 0);
	}
	pair_close(&p);
}

static void cq_entries(void)
{
	struct xfer rx = our_buf(0, 0, 0);
	VIP_BOOLEAN which = 7;
	VIP_VI_HANDLE vi, gone, found = NULL;
	VIP_DESCRIPTOR *d[3];
	VIP_CQ_HANDLE cq;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	vi = lone_vi(cq, 3, d);
	gone = lone_vi(cq, 2, NULL);
	CHECK_RC(VipCQNotify(cq, tag(0), on_cq), VIP_SUCCESS);
	flush(vi);
	CHECK_EQ(notes_wait(1), 1);
	/* An entry is there already; it is off the CQ when the call returns. */
	CHECK_RC(VipCQNotify(cq, tag(1), on_cq), VIP_SUCCESS);
	CHECK_RC(VipCQDone(cq, &found, &which), VIP_SUCCESS);
	CHECK(found == vi);
	CHECK_EQ(which, VIP_TRUE);
	CHECK_RC(VipCQDone(cq, &found, &which), VIP_NOT_DONE);
	CHECK_EQ(notes_wait(2), 2);
	for (i = 0; i < 2; i++) {
		about("call %u", i);
		CHECK(notes[i].context == tag(i));
		CHECK(notes[i].nic == env.nic.h);
		CHECK(notes[i].vi == vi);
		CHECK_EQ(notes[i].recv, VIP_TRUE);
		CHECK(!pthread_equal(notes[i].thread, pthread_self()));
	}
	/* An entry only; the descriptors are still to be collected. */
	for (i = 0; i < 3; i++)
		CHECK(poll_done(vi, RECVQ).d == d[i]);
	about("entries of a VI that is gone");
	flush(gone);
	CHECK_RC(VipDestroyVi(gone), VIP_SUCCESS);
	CHECK_RC(VipCQNotify(cq, tag(2), on_cq), VIP_SUCCESS);
	vi_post(vi, RECVQ, &rx);
	flush(vi);
	CHECK_EQ(notes_wait(3), 3);
	CHECK(notes[2].vi == vi);
	CHECK(poll_done(vi, RECVQ).d != NULL);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_EQ(n_notes, 3);
}

/* Two queues of a connected VI on one CQ, its own queue notified as well. */
static void cq_queues(void)
{
	struct xfer rx = peer_buf(0, 100, 1), tx = our_buf(0, 20, 1);
	struct pair_opt o = { 0 };
	VIP_DESCRIPTOR *d;
	VIP_CQ_HANDLE cq;
	struct pair p;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	o.send_cq = cq;
	o.recv_cq = cq;
	pair_open(&p, &o);
	CHECK_RC(VipCQNotify(cq, tag(0), on_cq), VIP_SUCCESS);
	CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	d = pair_post(&p, SENDQ, &tx);
	CHECK_EQ(notes_wait(1), 1);
	CHECK(notes[0].vi == p.vi);
	CHECK_EQ(notes[0].recv, VIP_FALSE);
	CHECK(poll_done(p.vi, SENDQ).d == d);
	/* Notify on the queue itself is tolerated, as Wait is. */
	tx = our_buf(0, 100, 1);
	d = pair_post(&p, RECVQ, &tx);
	CHECK_RC(VipRecvNotify(p.vi, tag(1), on_vi), VIP_SUCCESS);
	CHECK_RC(VipCQNotify(cq, tag(2), on_cq), VIP_SUCCESS);
	rx = peer_buf(0, 50, 1);
	arrive(&p, &rx, 3);
	for (i = 1; i < 3; i++) {
		CHECK(notes[i].vi == p.vi);
		if (notes[i].context == tag(1))
			CHECK(notes[i].d == d);
		else
			CHECK_EQ(notes[i].recv, VIP_TRUE);
	}
	CHECK(notes[1].context != notes[2].context);
	CHECK(poll_done(p.vi, RECVQ).d == NULL);
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static void on_blocked(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		       VIP_DESCRIPTOR *d)
{
	pthread_mutex_lock(&lock);
	running++;
	pthread_cond_broadcast(&news);
	while (!go_on)
		pthread_cond_wait(&news, &lock);
	pthread_mutex_unlock(&lock);
	on_vi(context, nic, vi, d);
}

/* A handler that blocks holds up nothing but the handlers of its NIC handle. */
static void blocks(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vi = lone_vi(NULL, 3, NULL), vi2;
	struct xfer rx = our_buf(0, 0, 0);
	VIP_NIC_HANDLE second;
	VIP_CQ_HANDLE cq;
	struct pair p;
	unsigned int i;

	for (i = 0; i < 2; i++)
		CHECK_RC(VipRecvNotify(vi, tag(i), on_blocked), VIP_SUCCESS);
	flush(vi);
	CHECK(count_wait(&running, 1, LONG_MS));
	/* Its own queue, and a whole life of other objects. */
	vi_post(vi, RECVQ, &rx);
	CHECK(poll_done(vi, RECVQ).d != NULL);
	CHECK_RC(VipRecvNotify(vi, tag(2), on_vi), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	pair_open(&p, NULL);
	check_alive(&p);
	pair_close(&p);
	/* Another NIC handle has another thread. */
	a.Ptag = NULL;
	REQUIRE_RC(VipOpenNic(env.device, &second), VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(second, &a, NULL, NULL, &vi2), VIP_SUCCESS);
	CHECK_RC(VipPostRecv(vi2, nic_slot(&env.nic), 0), VIP_SUCCESS);
	CHECK_RC(VipRecvNotify(vi2, tag(9), on_vi), VIP_SUCCESS);
	flush(vi2);
	CHECK_EQ(notes_wait(1), 1);
	CHECK(notes[0].context == tag(9));
	CHECK(notes[0].nic == second);
	CHECK_RC(VipCloseNic(second), VIP_SUCCESS);
	CHECK_EQ(n_notes, 1);
	pthread_mutex_lock(&lock);
	go_on = true;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&lock);
	flush(vi);
	CHECK_EQ(notes_wait(4), 4);
	for (i = 1; i < 4; i++)
		CHECK(notes[i].context == tag(i - 1));
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* Handlers may end what they were called for. */
static void on_destroy(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		       VIP_DESCRIPTOR *d)
{
	if (VipDestroyVi(vi) != VIP_SUCCESS)
		context = NULL;
	on_vi(context, nic, vi, d);
}

static void on_destroy_cq(VIP_PVOID context, VIP_NIC_HANDLE nic,
			  VIP_VI_HANDLE vi, VIP_BOOLEAN recv)
{
	VIP_CQ_HANDLE *cq = context;

	if (VipDestroyVi(vi) != VIP_SUCCESS ||
	    VipDestroyCQ(*cq) != VIP_SUCCESS)
		context = NULL;
	on_cq(context, nic, vi, recv);
}

static void on_close(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		     VIP_DESCRIPTOR *d)
{
	VIP_NIC_ATTRIBUTES a;

	if (VipQueryNic(nic, &a) != VIP_SUCCESS ||
	    VipCloseNic(nic) != VIP_SUCCESS ||
	    VipRecvNotify(vi, context, on_vi) != VIP_INVALID_PARAMETER)
		context = NULL;
	on_vi(context, nic, vi, d);
}

static void on_exit_call(VIP_PVOID context, VIP_NIC_HANDLE nic,
			 VIP_VI_HANDLE vi, VIP_DESCRIPTOR *d)
{
	(void)context;
	(void)nic;
	(void)vi;
	(void)d;
	exit(42);
}

static void exits(void)
{
	VIP_VI_HANDLE vi = lone_vi(NULL, 1, NULL);

	VipRecvNotify(vi, NULL, on_exit_call);
	flush(vi);
}

static void no_lock(void)
{
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	unsigned int i;

	about("VipDestroyVi");
	vi = lone_vi(NULL, 3, NULL);
	for (i = 0; i < 3; i++)
		CHECK_RC(VipRecvNotify(vi, tag(i), on_destroy), VIP_SUCCESS);
	flush(vi);
	CHECK_EQ(notes_wait(1), 1);
	CHECK(notes[0].context == tag(0));
	CHECK_INVALID(VipDestroyVi(vi));
	about("VipDestroyCQ");
	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	vi = lone_vi(cq, 3, NULL);
	for (i = 0; i < 3; i++)
		CHECK_RC(VipCQNotify(cq, &cq, on_destroy_cq), VIP_SUCCESS);
	flush(vi);
	CHECK_EQ(notes_wait(2), 2);
	CHECK(notes[1].context == &cq);
	CHECK_INVALID(VipDestroyCQ(cq));
	about("exit");
	CHECK_EQ(child_exit(exits), 42);
	about("VipCloseNic");
	vi = lone_vi(NULL, 3, NULL);
	for (i = 0; i < 3; i++)
		CHECK_RC(VipRecvNotify(vi, tag(i), on_close), VIP_SUCCESS);
	flush(vi);
	CHECK_EQ(notes_wait(3), 3);
	CHECK(notes[2].context == tag(0));
	CHECK_INVALID(VipCloseNic(env.nic.h));
	CHECK_EQ(n_notes, 3);
}

struct taker {
	pthread_t thread;
	VIP_VI_HANDLE vi;
	bool polls;
	unsigned int got;
	bool stop;
};

static void *take_main(void *arg)
{
	struct taker *t = arg;
	struct done r;

	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
		r = t->polls ? poll_done(t->vi, RECVQ) :
			       wait_done(t->vi, RECVQ, 2);
		if (r.d && r.d != DONE_POISON)
			__atomic_fetch_add(&t->got, 1, __ATOMIC_ACQ_REL);
	}
	return NULL;
}

static unsigned int taken(struct taker *t)
{
	return __atomic_load_n(&t[0].got, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&t[1].got, __ATOMIC_ACQUIRE);
}

/* Handlers, a poller and a waiter on one queue: each descriptor once. */
static void mixed(void)
{
	enum { ROUNDS = 15, EACH = 4 };
	VIP_VI_HANDLE vi = lone_vi(NULL, 0, NULL);
	struct xfer rx = our_buf(0, 0, 0);
	struct taker t[2] = { { .polls = true }, { .polls = false } };
	unsigned int i, j, asked = 0, posted = 0;
	uint64_t end = now_ms() + 4 * LONG_MS;

	for (i = 0; i < 2; i++) {
		t[i].vi = vi;
		REQUIRE(!pthread_create(&t[i].thread, NULL, take_main, &t[i]));
	}
	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < EACH; j++) {
			if (j % 2 == 0 && asked < MAX_NOTES) {
				asked++;
				CHECK_RC(VipRecvNotify(vi, tag(1), on_vi),
					 VIP_SUCCESS);
			}
			CHECK_RC(nic_post_again(&env.nic, vi, RECVQ, &rx,
						NULL), VIP_SUCCESS);
			posted++;
		}
		flush(vi);
	}
	/* Alone with the queue, every handler gets its turn. */
	for (i = 0; i < 2; i++) {
		__atomic_store_n(&t[i].stop, true, __ATOMIC_RELEASE);
		pthread_join(t[i].thread, NULL);
	}
	while (count_wait(&n_notes, asked, 1) < asked && now_ms() < end) {
		CHECK_RC(nic_post_again(&env.nic, vi, RECVQ, &rx, NULL),
			 VIP_SUCCESS);
		posted++;
		flush(vi);
	}
	CHECK_EQ(n_notes, asked);
	CHECK_EQ(taken(t) + n_notes + drain(vi, RECVQ), posted);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static void arguments(void)
{
	VIP_VI_HANDLE vi = lone_vi(NULL, 0, NULL);
	VIP_CQ_HANDLE cq;
	void *const bad[] = {
		NULL, env.nic.h, env.nic.ptag, (void *)-1, &vi,
	};
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		about("handle %u", i);
		CHECK_INVALID(VipSendNotify(bad[i], NULL, on_vi));
		CHECK_INVALID(VipRecvNotify(bad[i], NULL, on_vi));
		CHECK_INVALID(VipCQNotify(bad[i], NULL, on_cq));
	}
	about("no handler, or the wrong kind of handle");
	CHECK_INVALID(VipSendNotify(vi, NULL, NULL));
	CHECK_INVALID(VipRecvNotify(vi, NULL, NULL));
	CHECK_INVALID(VipCQNotify(cq, NULL, NULL));
	CHECK_INVALID(VipSendNotify(cq, NULL, on_vi));
	CHECK_INVALID(VipRecvNotify(cq, NULL, on_vi));
	CHECK_INVALID(VipCQNotify(vi, NULL, on_cq));
	/* A NULL context is a context. */
	CHECK_RC(VipRecvNotify(vi, NULL, on_vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_EQ(n_notes, 0);
}

static const struct group groups[] = {
	{ "notify.recv", "10.4 VipRecvNotify", recv_one,
	  G_PEER | G_LEVELS | G_FULL | G_SUNNY, 0 },
	{ "notify.send", "10.4 VipSendNotify", send_one,
	  G_PEER | G_LEVELS | G_FULL | G_SUNNY, 0 },
	{ "notify.already_complete", "10.4 the head is removed", already,
	  G_FULL, 0 },
	{ "notify.in_order", "10.4 several may be queued", in_order,
	  G_FULL | G_SUNNY, 0 },
	{ "notify.again", "10.4 one-shot, 11 calls inside", again,
	  G_PEER | G_LEVELS | G_FULL | G_SUNNY, 0 },
	{ "notify.cancelled", "10.4, 10.5 cancelled by destruction",
	  cancelled, G_OWN | G_FULL, 0 },
	{ "notify.flushed", "5, 10.4 a flushed descriptor is complete",
	  flushed, G_PEER | G_LEVELS | G_FULL, 0 },
	{ "notify.cq", "10.5 VipCQNotify", cq_entries, G_FULL | G_SUNNY, 0 },
	{ "notify.cq_queues", "9, 10.5 both queues, and Notify on them",
	  cq_queues, G_PEER | G_FULL, 0 },
	{ "notify.blocks", "11 one thread for each NIC handle", blocks,
	  G_PEER | G_FULL, 0 },
	{ "notify.no_lock", "11 no lock is held", no_lock,
	  G_OWN | G_FULL, 0 },
	{ "notify.mixed", "10.4, 11 Notify, Done and Wait", mixed, G_FULL,
	  0 },
	{ "notify.arguments", "10.4, 10.5 INVALID_PARAMETER", arguments,
	  G_FULL, 0 },
};

NOUN(notify, groups);
