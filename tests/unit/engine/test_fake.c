// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "fake.h"

struct vipl_provider fake;
struct sent fake_sent[FAKE_SENT];
unsigned int fake_nsent, fake_events[16], fake_exported;
int fake_full, fake_slow, fake_no_files;
struct eng_peer *fake_peer;

static struct eng_pull *pulls;

/* What arrives next; one packet. */
static struct {
	const struct eng_wire *h;
	const void *data;
	size_t len;
	int end, err;		/* pulls end */
} in;

static void ref(void *o)
{
	(void)o;
}

static struct vipl_vi *vi_get(const struct vipl_host *self, VIP_VI_HANDLE h)
{
	(void)self;
	return h;
}

static struct vipl_cq *cq_get(const struct vipl_host *self, VIP_CQ_HANDLE h)
{
	(void)self;
	return h;
}

static void vi_put(struct vipl_vi *vi)
{
	(void)vi;
}

static void cq_put(struct vipl_cq *cq)
{
	(void)cq;
}

static void identify(struct vipl_nic *nic, const struct vipl_identity *id)
{
	(void)nic;
	(void)id;
}

static void event(struct vipl_nic *nic, const struct vipl_event *ev)
{
	(void)nic;
	if (ev->kind == VIPL_EVENT_ERROR)
		fake_events[ev->code % 16]++;
}

static void say(const char *fmt, ...)
{
	(void)fmt;
}

static int may_spin(void)
{
	return 0;
}

static const struct vipl_host host = {
	.abi = VIPL_PROVIDER_ABI,
	.size = sizeof(host),
	.vi_get = vi_get,
	.cq_get = cq_get,
	.ref = ref,
	.vi_put = vi_put,
	.cq_put = cq_put,
	.identify = identify,
	.event = event,
	.msg = say,
	.may_spin = may_spin,
};

static VIP_RETURN t_open(struct eng_nic *nic, const char *rest,
			 struct vipl_identity *id)
{
	(void)nic;
	(void)rest;
	id->addr_len = 6;
	return VIP_SUCCESS;
}

static void t_close(struct eng_nic *nic)
{
	(void)nic;
}

static int t_handshake(struct eng_peer *peer, const struct vipl_addr *remote)
{
	(void)remote;
	fake_peer = peer;
	eng_peer_up(peer);
	return 0;
}

static int t_waiting(struct eng_nic *nic, const uint8_t *disc, uint32_t len,
		     int now)
{
	(void)nic;
	(void)disc;
	(void)len;
	return now && fake_no_files ? -EMFILE : 0;
}

static void t_peer(struct eng_peer *peer)
{
	if (peer == fake_peer)
		fake_peer = NULL;
	pulls = NULL;
}

static void t_part(struct eng_peer *peer)
{
	(void)peer;
}

static int t_xmit(struct eng_peer *peer, const struct eng_header *h,
		  const struct iovec *payload, unsigned int n)
{
	struct sent *s = &fake_sent[fake_nsent % FAKE_SENT];
	size_t room, part;
	unsigned int i;

	(void)peer;
	if (fake_full)
		return -EAGAIN;
	memcpy(&s->h, h, sizeof(s->h));
	s->len = 0;
	for (i = 0; i < n; i++) {
		room = s->len < sizeof(s->data) ? sizeof(s->data) - s->len : 0;
		part = payload[i].iov_len < room ? payload[i].iov_len : room;
		memcpy(s->data + (sizeof(s->data) - room), payload[i].iov_base,
		       part);
		s->len += payload[i].iov_len;
	}
	fake_nsent++;
	return 0;
}

static int t_export_mem(struct eng_peer *peer, void *region, const void *addr,
			size_t len, struct eng_src *src)
{
	(void)peer;
	(void)region;
	src->base = (uintptr_t)addr;
	src->len = len;
	fake_exported++;
	return 0;
}

static void t_unexport_mem(struct eng_peer *peer, const struct eng_src *src)
{
	(void)peer;
	(void)src;
	fake_exported--;
}

/* The bytes are the low ones of their offset. */
static void fill(struct eng_pull *p)
{
	uint64_t at = 0, k;
	uint32_t i;

	for (i = 0; i < p->ndst; i++)
		for (k = 0; k < p->dst[i].iov_len; k++)
			((char *)p->dst[i].iov_base)[k] = (char)at++;
}

static int t_pull(struct eng_peer *peer, struct eng_pull *p)
{
	if (fake_full)
		return -EAGAIN;
	if (fake_slow) {
		p->next = pulls;
		pulls = p;
		return 0;
	}
	fill(p);
	eng_pulled(peer, p, 0);
	return 0;
}

static int t_progress(struct eng_nic *nic, unsigned int budget)
{
	const struct eng_wire *h = in.h;
	struct eng_pull *p;

	(void)nic;
	(void)budget;
	in.h = NULL;
	if (h && fake_peer)
		eng_rx(fake_peer, (const void *)h, in.data, in.len);
	while (in.end && (p = pulls)) {
		pulls = p->next;
		if (!in.err)
			fill(p);
		eng_pulled(fake_peer, p, in.err);
	}
	in.end = 0;
	return !!h;
}

static int t_arm(struct eng_nic *nic)
{
	(void)nic;
	return 0;
}

static void t_disarm(struct eng_nic *nic)
{
	(void)nic;
}

static _Atomic uint32_t woken;

static void t_wait(struct eng_nic *nic, uint64_t ns)
{
	(void)nic;
	eng_futex_wait(&woken, 0, ns);
	atomic_store(&woken, 0);
}

static void t_wake(struct eng_nic *nic)
{
	(void)nic;
	atomic_store(&woken, 1);
	eng_futex_wake(&woken);
}

static const struct eng_transport transport = {
	.name = "fake",
	.eager = ENG_EAGER_MIN,
	.flags = 0,
	.region_size = 24,
	.nic_size = 8,
	.peer_size = 8,
	.open = t_open,
	.close = t_close,
	.handshake = t_handshake,
	.waiting = t_waiting,
	.part = t_part,
	.peer_release = t_peer,
	.xmit = t_xmit,
	.export_mem = t_export_mem,
	.unexport_mem = t_unexport_mem,
	.pull = t_pull,
	.progress = t_progress,
	.arm = t_arm,
	.disarm = t_disarm,
	.wait = t_wait,
	.wake = t_wake,
};

struct object *fake_new(struct vipl_nic *nic, size_t size)
{
	size_t head = (sizeof(struct object) + 63) & ~(size_t)63;
	struct object *o = aligned_alloc(64, (head + size + 63) & ~(size_t)63);

	memset(o, 0, (head + size + 63) & ~(size_t)63);
	o->o.priv = (char *)o + head;
	o->o.nic = nic;
	return o;
}

void fake_free(struct object *o)
{
	free(o);
}

struct vipl_nic *fake_open(void)
{
	struct vipl_nic *nic;

	eng_provider(&fake, &transport, &host);
	nic = (struct vipl_nic *)fake_new(NULL, fake.nic_size);
	if (fake.open(nic, "") != VIP_SUCCESS)
		abort();
	/* The peer comes by itself. */
	eng_enter(eng_nic_of(nic));
	fake_peer = eng_peer_new(eng_nic_of(nic), (const uint8_t *)"sixsix");
	eng_peer_up(fake_peer);
	eng_leave(eng_nic_of(nic));
	return nic;
}

void fake_close(struct vipl_nic *nic)
{
	fake.shutdown(nic);
	fake.close(nic);
	fake_free((struct object *)nic);
}

void fake_arrive(struct vipl_nic *nic, const struct eng_wire *h,
		 const void *data, size_t len)
{
	struct eng_nic *n = eng_nic_of(nic);

	eng_enter(n);
	in.h = h;
	in.data = data;
	in.len = len;
	eng_progress(n);
	eng_leave(n);
}

void fake_pull_end(struct vipl_nic *nic, int err)
{
	struct eng_nic *n = eng_nic_of(nic);

	eng_enter(n);
	in.end = 1;
	in.err = err;
	eng_progress(n);
	eng_leave(n);
}

struct sent *fake_last(uint8_t op)
{
	unsigned int i;

	for (i = fake_nsent; i && i + FAKE_SENT > fake_nsent; i--)
		if (fake_sent[(i - 1) % FAKE_SENT].h.op == op)
			return &fake_sent[(i - 1) % FAKE_SENT];
	return NULL;
}
