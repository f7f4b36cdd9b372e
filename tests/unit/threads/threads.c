// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Many threads on one VI, one CQ and one NIC handle, for ThreadSanitizer and
 * for counting: nothing posted may be lost or be returned twice. The kernel's
 * part is played by one more thread.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../vipl/fake.h"

#define MEM		9u
#define POSTERS		3
#define TAKERS		3
#define EACH		20000
#define TOTAL		(POSTERS * EACH)
#define CHURNS		2000
#define NOTICES		20000
#define RESIZES		400

static VIP_NIC_HANDLE nic;
static VIP_CQ_HANDLE cq;
static VIP_VI_HANDLE vi;
static struct via_vi_shared *vi_shared;
static uint32_t vi_id;
static VIP_VI_ATTRIBUTES attrs = { VIP_SERVICE_RELIABLE_DELIVERY, 4096, NULL,
				   NULL, VIP_FALSE, VIP_FALSE };

static VIP_DESCRIPTOR descs[POSTERS][256] __attribute__((aligned(64)));
static _Atomic int in_use[POSTERS][256];
static _Atomic int taken;
static _Atomic int noticed;
static _Atomic int failures;
static _Atomic(VIP_VI_HANDLE) victim;
static _Atomic int churning = 1;

static void fail(const char *what)
{
	if (!atomic_fetch_add(&failures, 1))
		printf("threads: %s\n", what);
}

static void *kernel(void *arg)
{
	uint32_t tail, done = 0;

	while (done < TOTAL) {
		tail = atomic_load((_Atomic uint32_t *)
				   &vi_shared->recv_user.tail);
		while (done != tail) {
			fake_complete_on(vi_shared, 1, VIA_ST_OP_RECEIVE,
					 done++, 0);
		}
		sched_yield();
	}
	return arg;
}

static void *poster(void *arg)
{
	int me = (int)(intptr_t)arg, i, slot;

	for (i = 0; i < EACH; i++) {
		slot = i % 256;
		/* At most 768 outstanding of 1,024: no overrun. */
		while (atomic_exchange(&in_use[me][slot], 1))
			sched_yield();
		if (VipPostRecv(vi, &descs[me][slot], MEM) != VIP_SUCCESS)
			fail("a post failed");
	}
	return NULL;
}

static void *taker(void *arg)
{
	int waits = (int)(intptr_t)arg;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;
	size_t n;

	while (atomic_load(&taken) < TOTAL) {
		r = waits ? VipRecvWait(vi, 1, &d) : VipRecvDone(vi, &d);
		if (r != VIP_SUCCESS) {
			if (d)
				fail("an error came with a descriptor");
			sched_yield();
			continue;
		}
		n = (size_t)(d - &descs[0][0]);
		if (n >= POSTERS * 256 ||
		    !atomic_exchange(&in_use[n / 256][n % 256], 0))
			fail("a descriptor came twice");
		atomic_fetch_add(&taken, 1);
	}
	return NULL;
}

/* VIs come and go under the hands of others that use them. */
static void *churn(void *arg)
{
	VIP_VI_HANDLE v;
	int i;

	for (i = 0; i < CHURNS; i++) {
		if (VipCreateVi(nic, &attrs, cq, cq, &v) != VIP_SUCCESS)
			fail("VipCreateVi failed");
		atomic_store(&victim, v);
		sched_yield();
		if (VipDestroyVi(v) != VIP_SUCCESS)
			fail("VipDestroyVi failed");
	}
	atomic_store(&churning, 0);
	return arg;
}

static int in_ring(void)
{
	return (int)(atomic_load((_Atomic uint32_t *)&fake.cq->tail) -
		     atomic_load((_Atomic uint32_t *)&fake.cq->head));
}

/* Notices for a CQ that others read, wait on and resize. */
static void *announce(void *arg)
{
	int i;

	for (i = 0; i < NOTICES; i++) {
		while (in_ring() >= 32)
			sched_yield();
		fake_cq_put(vi_id, 1);
	}
	return arg;
}

static void take_notice(VIP_RETURN r, VIP_VI_HANDLE v, VIP_BOOLEAN which)
{
	if (r != VIP_SUCCESS)
		return;
	if (v != vi || which != VIP_TRUE)
		fail("a notice of no queue");
	if (atomic_fetch_add(&noticed, 1) >= NOTICES)
		fail("a notice came twice");
}

static void *listen_cq(void *arg)
{
	VIP_BOOLEAN which = 7;
	VIP_VI_HANDLE v;
	VIP_RETURN r;

	while (atomic_load(&noticed) < NOTICES) {
		v = NULL;
		r = arg ? VipCQWait(cq, 1, &v, &which) :
			  VipCQDone(cq, &v, &which);
		take_notice(r, v, which);
		if (r != VIP_SUCCESS)
			sched_yield();
	}
	return NULL;
}

static void *resize(void *arg)
{
	int i;

	for (i = 0; i < RESIZES; i++)
		if (VipResizeCQ(cq, 33 << (i % 6)) != VIP_SUCCESS)
			fail("VipResizeCQ failed");
	return arg;
}

static void *meddle(void *arg)
{
	VIP_BOOLEAN s, r, which;
	VIP_VI_ATTRIBUTES a;
	VIP_DESCRIPTOR *d;
	VIP_VI_STATE st;
	VIP_VI_HANDLE v;
	VIP_RETURN rc;

	while (atomic_load(&churning)) {
		v = atomic_load(&victim);
		VipRecvDone(v, &d);
		VipSendWait(v, 0, &d);
		VipQueryVi(v, &st, &a, &s, &r);
		rc = VipCQDone(cq, &v, &which);
		take_notice(rc, v, which);
		VipPostSend(v, &descs[0][0], MEM);	/* Idle: refused */
	}
	return arg;
}

int main(void)
{
	pthread_t t[POSTERS + TAKERS + 8];
	int n = 0, i;

	if (VipOpenNic(FAKE_NODE, &nic) || VipCreateCQ(nic, 64, &cq) ||
	    VipCreateVi(nic, &attrs, NULL, NULL, &vi))
		return 1;
	vi_shared = fake.vi;
	vi_id = fake.vi_id;
	pthread_create(&t[n++], NULL, kernel, NULL);
	for (i = 0; i < POSTERS; i++)
		pthread_create(&t[n++], NULL, poster, (void *)(intptr_t)i);
	for (i = 0; i < TAKERS; i++)
		pthread_create(&t[n++], NULL, taker, (void *)(intptr_t)i);
	pthread_create(&t[n++], NULL, churn, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&t[n++], NULL, meddle, NULL);
	pthread_create(&t[n++], NULL, announce, NULL);
	pthread_create(&t[n++], NULL, resize, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&t[n++], NULL, listen_cq, (void *)(intptr_t)i);
	while (n)
		pthread_join(t[--n], NULL);
	if (VipCloseNic(nic) != VIP_SUCCESS)
		fail("VipCloseNic failed");
	printf("threads: %d descriptors through one queue, %d VIs churned, %d failures\n",
	       atomic_load(&taken), CHURNS, atomic_load(&failures));
	if (atomic_load(&noticed) != NOTICES)
		fail("notices are lost");
	return atomic_load(&failures) || atomic_load(&taken) != TOTAL;
}
