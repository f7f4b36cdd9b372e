// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The checking end: a thread per connection. */
#include "stress.h"
#include "plan.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Receives: the window, and some for control messages. */
#define RECVS		(WINDOW + 8)
#define SENDS		16u
#define MAX_SAID	20	/* failures described */

struct conn {
	struct conn *link;	/* server.lock */
	int told;		/* server.lock: CONN_LOST was reported */
	VIP_VI_HANDLE vi;
	VIP_VI_ATTRIBUTES attr;
	VIP_MEM_HANDLE mem_h;
	uint8_t *mem;
	size_t len;
	uint32_t stride;
	uint32_t sent, reaped;
	uint32_t oldest;	/* the receive that must complete next */

	uint64_t since_ms;	/* it stands */
	int dead;		/* a send failed: the connection is lost */
	struct record *record;	/* server.lock: NULL without an id */

	struct msg hello;
	uint32_t next;		/* number of the next message */
	uint32_t passed, failed, lost;
	uint32_t since;		/* messages since the last credit */
	int lossy;
};

/* What became of a connection that its client may ask for. */
struct record {
	uint32_t id, next, passed, failed;
	int ended;
};

#define RECORDS		1024u	/* of the last ones */

static struct {
	struct nic nic;
	pthread_mutex_t lock;	/* guards what follows */
	pthread_cond_t news;
	struct conn *conns;
	uint32_t conns_taken, conns_lost, told, in_error;
	struct record records[RECORDS];
	uint32_t recorded;
} server = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.news = PTHREAD_COND_INITIALIZER,
};

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	struct conn *c;

	(void)context;
	pthread_mutex_lock(&server.lock);
	for (c = server.conns; c; c = c->link)
		if (e->ErrorCode == VIP_ERROR_CONN_LOST && c->vi == e->ViHandle)
			c->told = 1;
	pthread_cond_broadcast(&server.news);
	pthread_mutex_unlock(&server.lock);
}

/* Memory: descriptors, sends' buffers, receive buffers, RDMA slots. */
#define DESCS		(RECVS + SENDS)
#define CTL		(DESCS * 64u)
#define DATA		((CTL + SENDS * SMALL + 4095u) & ~4095u)

static VIP_DESCRIPTOR *desc(struct conn *c, unsigned int i)
{
	return (VIP_DESCRIPTOR *)c->mem + i;
}

static uint8_t *recv_buf(struct conn *c, unsigned int i)
{
	return c->mem + DATA + (size_t)i * c->stride + 3 * i;
}

static uint8_t *slot_buf(struct conn *c, uint32_t n)
{
	return c->mem + DATA + (size_t)(RECVS + 2) * c->stride +
	       (size_t)(n % WINDOW) * c->stride;
}

static VIP_RETURN post_recv(struct conn *c, unsigned int i)
{
	VIP_DESCRIPTOR *d = desc(c, i);

	desc_data(d, recv_buf(c, i), c->attr.MaxTransferSize, c->mem_h);
	return VipPostRecv(c->vi, d, c->mem_h);
}

static VIP_RETURN conn_setup(struct conn *c)
{
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_TRUE, VIP_FALSE };
	VIP_BOOLEAN read = server.nic.attr.RDMAReadSupport &
			   c->attr.ReliabilityLevel ? VIP_TRUE : VIP_FALSE;
	unsigned int i;
	VIP_RETURN rc;

	c->lossy = c->attr.ReliabilityLevel == VIP_SERVICE_UNRELIABLE;
	c->attr.Ptag = NULL;
	c->attr.EnableRdmaWrite = VIP_TRUE;
	c->attr.EnableRdmaRead = read;
	m.EnableRdmaRead = read;
	c->stride = (c->attr.MaxTransferSize + 127) & ~63u;
	c->len = DATA + (size_t)(RECVS + 2 + WINDOW) * c->stride;
	c->mem = memory_try(c->len);
	if (!c->mem)
		return VIP_ERROR_RESOURCE;
	rc = VipRegisterMem(server.nic.h, c->mem, c->len, &m, &c->mem_h);
	if (rc == VIP_SUCCESS)
		rc = VipCreateVi(server.nic.h, &c->attr, NULL, NULL, &c->vi);
	for (i = 0; rc == VIP_SUCCESS && i < RECVS; i++)
		rc = post_recv(c, i);
	return rc;
}

static int reply(struct conn *c, const struct msg *m)
{
	VIP_DESCRIPTOR *d;

	if (c->sent - c->reaped == SENDS) {
		if (VipSendWait(c->vi, 20000, &d) != VIP_SUCCESS)
			return -1;
		c->reaped++;
	}
	d = desc(c, RECVS + c->sent % SENDS);
	desc_data(d, c->mem + CTL + c->sent % SENDS * SMALL, SMALL, c->mem_h);
	memcpy(d->DS[0].Local.Data.Address, m, sizeof(*m));
	c->sent++;
	return VipPostSend(c->vi, d, c->mem_h) == VIP_SUCCESS ? 0 : -1;
}

/* A client names its connection, so that it can ask for it later. */
static void record_begin(struct conn *c, uint32_t id)
{
	pthread_mutex_lock(&server.lock);
	if (id && !c->record) {
		c->record = &server.records[server.recorded++ % RECORDS];
		*c->record = (struct record){ .id = id };
	}
	pthread_mutex_unlock(&server.lock);
}

static void record_end(struct conn *c)
{
	struct record *r = c->record;

	if (!r)
		return;
	pthread_mutex_lock(&server.lock);
	r->next = c->next;
	r->passed = c->passed;
	r->failed = c->failed;
	r->ended = 1;
	pthread_mutex_unlock(&server.lock);
}

/* server.lock held. */
static void record_tell(uint32_t id, struct msg *m)
{
	const struct record *r = server.records;

	for (; r < server.records + RECORDS; r++) {
		if (!id || r->id != id)
			continue;
		m->id = id;
		m->credit = r->next;
		m->passed = r->passed;
		m->failed = r->failed;
		m->ended = r->ended;
		return;
	}
}

static int send_credit(struct conn *c)
{
	struct msg m = { .type = MSG_CREDIT, .credit = c->next,
			 .target = (uintptr_t)slot_buf(c, 0),
			 .handle = c->mem_h, .stride = c->stride };

	c->since = 0;
	return reply(c, &m);
}

static void bad(struct conn *c, uint32_t n, const char *what,
		unsigned long got, unsigned long want)
{
	if (c->failed++ < MAX_SAID)
		warn_msg("message %u: %s: %lu, wanted %lu", n, what, got, want);
}

/* One message, by its plan. */
static void check(struct conn *c, const VIP_DESCRIPTOR *d, unsigned int i,
		  uint32_t n)
{
	struct plan p = plan_of(c->hello.seed, n, c->hello.max_size, c->lossy);
	uint32_t failed = c->failed, op = d->CS.Status & VIP_STATUS_OP_MASK;
	uint32_t want_op = VIP_STATUS_OP_RECEIVE, want_len = p.len;
	const uint8_t *at = recv_buf(c, i);
	size_t off;

	if (p.kind == K_WRITE_IMM)
		want_op = VIP_STATUS_OP_REMOTE_RDMA_WRITE;
	if (p.kind == K_WRITE_IMM || p.kind == K_WRITE_SEND)
		at = slot_buf(c, n);
	if (p.kind == K_WRITE_SEND)
		want_len = 0;
	if (op != want_op)
		bad(c, n, "kind of completion", op, want_op);
	else if (d->CS.Length != want_len)
		bad(c, n, "length", d->CS.Length, want_len);
	off = content_wrong(at, p.key, p.len);
	if (failed == c->failed && off != p.len)
		bad(c, n, "first wrong byte, of so many", off, p.len);
	if (failed == c->failed)
		c->passed++;
}

static int control(struct conn *c, const struct msg *m)
{
	struct msg r = { .type = MSG_REPORT };

	switch (m->type) {
	case MSG_HELLO:
		/* A second one: our credit was lost. */
		c->hello = *m;
		if (m->max_size > c->attr.MaxTransferSize) {
			c->failed++;
			c->hello.max_size = 0;
		}
		record_begin(c, m->id);
		return send_credit(c);
	case MSG_END:
		r.passed = c->passed;
		r.failed = c->failed;
		r.lost = c->lost + (c->hello.messages - c->next);
		return reply(c, &r);
	case MSG_ASK:
		pthread_mutex_lock(&server.lock);
		r.conns_taken = server.conns_taken;
		r.conns_lost = server.conns_lost;
		r.told = server.told;
		r.in_error = server.in_error;
		record_tell(m->id, &r);
		pthread_mutex_unlock(&server.lock);
		return reply(c, &r);
	}
	warn_msg("unknown control message %u", m->type);
	c->failed++;
	return 0;
}

static int data(struct conn *c, const VIP_DESCRIPTOR *d, unsigned int i)
{
	struct plan p = plan_of(c->hello.seed, c->next, c->hello.max_size,
				c->lossy);
	int named = d->CS.Status & VIP_STATUS_IMMEDIATE ? 1 : 0;
	uint32_t n = named ? d->CS.ImmediateData : c->next;

	if (!c->lossy) {
		if (named != (p.kind != K_SEND) || n != c->next)
			bad(c, c->next, "number", n, c->next);
		else
			check(c, d, i, n);
		c->next++;
	} else if (!named || n < c->next || n >= c->hello.messages) {
		bad(c, c->next, "number out of order", n, c->next);
	} else {
		c->lost += n - c->next;
		c->next = n + 1;
		check(c, d, i, n);
	}
	return ++c->since >= CREDIT_EVERY ? send_credit(c) : 0;
}

/* The connection ended. Only a client that was killed leaves it in Error. */
static void ended(struct conn *c, const VIP_DESCRIPTOR *d)
{
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN se, re;
	VIP_VI_STATE state = VIP_STATE_IDLE;
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	VipQueryVi(c->vi, &state, &a, &se, &re);
	pthread_mutex_lock(&server.lock);
	/* After VipDestroyVi there would be no handle to report it for. */
	while (!c->told && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&server.news, &server.lock,
					     &until);
	server.conns_lost++;
	server.told += c->told;
	if (state == VIP_STATE_ERROR && d &&
	    (d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR))
		server.in_error++;
	pthread_cond_broadcast(&server.news);
	pthread_mutex_unlock(&server.lock);
	if (now_ms() - c->since_ms > 1000) {
		printf("viatest stress: a connection was lost, %stold\n",
		       c->told ? "" : "not ");
	}
}

static int one(struct conn *c)
{
	VIP_DESCRIPTOR *d = NULL;
	unsigned int i = c->oldest;
	struct msg m;
	VIP_RETURN rc;

	/* After a loss what has come before is still there. */
	rc = VipRecvWait(c->vi, c->dead ? 1000 : VIP_INFINITE, &d);
	if (rc != VIP_SUCCESS) {
		ended(c, d);
		return -1;
	}
	if (d != desc(c, i)) {
		warn_msg("a receive out of order");
		c->failed++;
		i = d - desc(c, 0);
	}
	c->oldest = (i + 1) % RECVS;
	if ((d->CS.Status & VIP_STATUS_IMMEDIATE) &&
	    d->CS.ImmediateData == IMM_CONTROL) {
		memcpy(&m, recv_buf(c, i), sizeof(m));
		c->dead |= control(c, &m) != 0;
	} else {
		c->dead |= data(c, d, i) != 0;
	}
	c->dead |= post_recv(c, i) != VIP_SUCCESS;
	return 0;
}

static void list_add(struct conn *c)
{
	pthread_mutex_lock(&server.lock);
	c->link = server.conns;
	server.conns = c;
	pthread_mutex_unlock(&server.lock);
}

static void list_del(struct conn *c)
{
	struct conn **at;

	pthread_mutex_lock(&server.lock);
	for (at = &server.conns; *at != c; at = &(*at)->link)
		;
	*at = c->link;
	pthread_mutex_unlock(&server.lock);
}

static void conn_free(struct conn *c)
{
	if (c->vi) {
		VipDisconnect(c->vi);
		VipDestroyVi(c->vi);
	}
	if (c->mem_h)
		VipDeregisterMem(server.nic.h, c->mem, c->mem_h);
	if (c->mem)
		munmap(c->mem, c->len);
	free(c);
}

static void *conn_main(void *arg)
{
	struct conn *c = arg;

	c->since_ms = now_ms();
	while (!one(c))
		;
	record_end(c);
	list_del(c);
	conn_free(c);
	return NULL;
}

static void take(const struct conn_peer *peer)
{
	struct conn *c = xcalloc(1, sizeof(*c));
	VIP_RETURN rc;

	c->attr = peer->attr;
	rc = conn_setup(c);
	if (rc != VIP_SUCCESS) {
		warn_msg("cannot take a client: %s", vip_str(rc));
		VipConnectReject(peer->conn);
		conn_free(c);
		return;
	}
	/* Known before it can break. */
	list_add(c);
	rc = VipConnectAccept(peer->conn, c->vi);
	if (rc != VIP_SUCCESS) {
		warn_msg("accept: %s", vip_str(rc));
		list_del(c);
		conn_free(c);
		return;
	}
	pthread_mutex_lock(&server.lock);
	server.conns_taken++;
	pthread_mutex_unlock(&server.lock);
	pthread_detach(thread_start(conn_main, c));
}

int stress_serve(void *unused)
{
	struct conn_peer peer;
	VIP_RETURN rc;

	(void)unused;
	rc = nic_try(&server.nic, args.device);
	if (rc == VIP_SUCCESS)
		rc = VipErrorCallback(server.nic.h, NULL, on_error);
	if (rc != VIP_SUCCESS) {
		warn_msg("%s: %s", args.device, vip_str(rc));
		return 2;
	}
	do {
		rc = conn_wait(&server.nic, stress_args.disc, 100, &peer);
		if (rc == VIP_SUCCESS)
			take(&peer);
	} while (rc == VIP_SUCCESS || rc == VIP_TIMEOUT);
	VipCloseNic(server.nic.h);
	warn_msg("VipConnectWait: %s", vip_str(rc));
	return 1;
}
