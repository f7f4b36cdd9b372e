// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "loss.h"
#include <string.h>
#include <time.h>

#define ATTEMPTS	20	/* of a message */
#define FEW_FRAMES	8	/* get through if a tenth of them is lost */
#define FEW_ATTEMPTS	4	/* of others, until the wire is looked at */

#define PROBES		256u	/* more frames in a row than any message has */
#define PROBE_LEN	1024u
#define PROBE_ROUNDS	8

/* The wire was seen to lose something in this group. */
static bool loses;

static void forget(void)
{
	loses = false;
}

BEFORE_EACH(forget);

bool lost(VIP_RETURN rc, uint32_t status)
{
	if (reliable())
		return false;
	return rc == VIP_TIMEOUT || (rc == VIP_DESCRIPTOR_ERROR &&
				     (status & VIP_STATUS_PARTIAL_ERROR));
}

unsigned int patience(void)
{
	return reliable() ? LONG_MS : 10 * SHORT_MS;
}

/* RDMA Writes of a frame each, in one go; false if one did not arrive. */
static bool all_arrive(struct pair *p, const struct peer_region *r,
		       VIP_DESCRIPTOR *d, VIP_MEM_HANDLE h, unsigned int n)
{
	struct xfer x = our_buf(0, PROBE_LEN, 1);
	VIP_DESCRIPTOR *done;
	uint64_t end;
	unsigned int i;

	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.addr = (uintptr_t)(d + n);
	x.handle = h;
	x.rhandle = r->handle;
	memset(d + n, 0x99, PROBE_LEN);
	peer_fill(r->addr, n * PROBE_LEN, 0x66);
	for (i = 0; i < n; i++) {
		x.raddr = r->addr + i * PROBE_LEN;
		xfer_build(&d[i], &x, sizeof(*d));
		REQUIRE_RC(VipPostSend(p->vi, &d[i], h), VIP_SUCCESS);
	}
	for (i = 0; i < n; i++)
		REQUIRE_RC(VipSendWait(p->vi, LONG_MS, &done), VIP_SUCCESS);
	end = now_ms() + patience();
	while (peer_other(r->addr, n * PROBE_LEN, 0x99)) {
		if (now_ms() > end)
			return false;
	}
	return true;
}

/*
 * Does the wire lose frames at all?  Looked at with what needs nothing of the
 * messages under test: RDMA Writes on a connection of their own.
 */
static bool wire_loses(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	size_t len = PROBES * sizeof(VIP_DESCRIPTOR) + PROBE_LEN;
	VIP_DESCRIPTOR *d;
	unsigned int i, n = env.nic.attr.MaxDescriptorsPerQueue;
	struct peer_region r;
	VIP_MEM_HANDLE h;
	struct pair p;

	if (loses)
		return true;
	if (n > PROBES)
		n = PROBES;
	d = pages(len);
	REQUIRE_RC(VipRegisterMem(env.nic.h, d, len, &a, &h), VIP_SUCCESS);
	r = peer_region(PROBES * PROBE_LEN, CTL_MAIN_PTAG, true);
	pair_open(&p, NULL);
	for (i = 0; i < PROBE_ROUNDS && !loses; i++)
		loses = !all_arrive(&p, &r, d, h, n);
	pair_close(&p);
	CHECK_RC(VipDeregisterMem(env.nic.h, d, h), VIP_SUCCESS);
	peer_deregister(r.obj);
	return loses;
}

bool once_more(struct tries *t)
{
	if (reliable() || ++t->n >= ATTEMPTS)
		return false;
	if (t->len / env.nic.attr.NativeMTU >= FEW_FRAMES &&
	    t->n == (loses ? FEW_ATTEMPTS / 2 : FEW_ATTEMPTS))
		t->given_up = wire_loses();
	return !t->given_up;
}

bool peer_once_more(struct tries *t, struct pair *p, const struct xfer *tx)
{
	if (!once_more(t))
		return false;
	CHECK_RC(peer_post(p->pvi, SENDQ, tx), VIP_SUCCESS);
	CHECK_RC(peer_wait(p->pvi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	return true;
}

bool came(struct burst *b, VIP_RETURN rc, uint32_t status, unsigned int id)
{
	if (lost(rc, status)) {
		b->over = rc == VIP_TIMEOUT;
		return false;
	}
	if (!CHECK_RC(rc, VIP_SUCCESS)) {
		b->over = true;
		return false;
	}
	if (reliable())
		CHECK_EQ(id, b->next);
	else
		CHECK(id >= b->next && id < b->n);
	b->next = id + 1;
	b->got++;
	return true;
}

bool burst_again(const struct burst *b, struct tries *t)
{
	if (reliable() || b->got == b->n || (b->got && wire_loses()))
		return false;
	/* A NIC may lose of each burst, on a wire that loses nothing. */
	if (b->got && t->n >= FEW_ATTEMPTS)
		return false;
	if (once_more(t))
		return true;
	CHECK(!"something of a burst comes");
	return false;
}

void until_it_came(struct burst (*send)(void))
{
	struct tries t = { 0 };
	struct burst b;

	do {
		b = send();
	} while (burst_again(&b, &t));
}

void came_or_lost(VIP_RETURN rc, uint32_t status)
{
	if (!lost(rc, status))
		CHECK_RC(rc, VIP_SUCCESS);
}

/* Only what never comes is lost. */
static void check_stays_wrong(uint64_t addr, size_t len, uint32_t seed)
{
	if (!reliable())
		CHECK(peer_wrong(addr, len, seed) != 0);
}

bool watched(const struct ctl_msg *m)
{
	if (m->rc != VIP_SUCCESS)
		return false;
	if (m->bad)
		check_stays_wrong(m->addr, m->len, m->seed);
	return !m->bad;
}

bool in_place(const struct xfer *write)
{
	if (!peer_wrong(write->raddr, write->len, write->seed))
		return true;
	check_stays_wrong(write->raddr, write->len, write->seed);
	return false;
}

static void *wait_main(void *arg)
{
	struct waiter *w = arg;

	w->r = wait_done(w->vi, w->q, w->timeout);
	return NULL;
}

void start_waiter(struct waiter *w, VIP_VI_HANDLE vi, enum queue q,
		  VIP_ULONG timeout)
{
	*w = (struct waiter){ .vi = vi, .q = q, .timeout = timeout };
	REQUIRE(!pthread_create(&w->thread, NULL, wait_main, w));
}

static void *cq_wait_main(void *arg)
{
	struct cq_waiter *w = arg;
	uint64_t start = now_ms();

	w->rc = VipCQWait(w->cq, w->timeout, &w->vi, &w->recv);
	w->took_ms = now_ms() - start;
	return NULL;
}

void start_cq_waiter(struct cq_waiter *w, VIP_CQ_HANDLE cq, VIP_ULONG timeout)
{
	*w = (struct cq_waiter){ .cq = cq, .timeout = timeout };
	REQUIRE(!pthread_create(&w->thread, NULL, cq_wait_main, w));
}

static bool ended(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += patience() / 1000;
	until.tv_nsec += patience() % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return !pthread_timedjoin_np(thread, NULL, &until);
}

void join_waiter(struct pair *p, const struct xfer *tx, pthread_t thread)
{
	struct tries t = { 0 };

	while (!ended(thread)) {
		if (!peer_once_more(&t, p, tx)) {
			pthread_join(thread, NULL);
			return;
		}
	}
}
