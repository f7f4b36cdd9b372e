// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that uses VIPL from several threads.  Each lane is a connection
 * with a way of its own to collect what is done: waits on the queues, a CQ, a
 * CQ's file, or handlers; and to connect, with a call that blocks, or with
 * looks for the verdict.  The client sends numbered messages, the server sends each back.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <vipl.h>
#include <vipl_ext.h>
#include "programs.h"

#define LANES_MAX	4
#define BYTES		2500u
#define SLOT		4096u		/* a descriptor, then its buffer */
#define POSTERS_MAX	3
#define FEW		4u		/* receives that are posted at once */

void sim_fail(const char *fmt, ...)
	__attribute__((__noreturn__, __format__(printf, 1, 2)));
uint32_t sim_dice(uint32_t n);

/* Out of the function, when allocations fail. */
#define EXPECT_IS(e, want)						\
do {									\
	long _is = (long)(e);						\
									\
	if (_is == (want))						\
		break;							\
	if (!talk->may_fail)						\
		sim_fail("%s:%d: %s, %s, lane %u: %s is %ld", __FILE__,	\
			 __LINE__, talk->client ? "client" : "server",	\
			 talk->device, l->n, #e, _is);			\
	goto out;							\
} while (0)
#define EXPECT(c)	EXPECT_IS(!!(c), 1)
#define EXPECT_RC(e)	EXPECT_IS(e, VIP_SUCCESS)

enum way { BY_WAIT, BY_CQ, BY_HANDLER, BY_POLL, BY_FILE, WAYS };
enum { BLOCKING, LOOKING, BY_NIC_FILE };

struct lane {
	pthread_t thread;
	unsigned int n;
	enum way way;
	int connect;			/* one lane at most BY_NIC_FILE */
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	char *mem;			/* FEW receives, then one send */
	VIP_MEM_HANDLE mem_h;
	unsigned int sent, came;
	unsigned int cq_size;
	/* Of the handler. */
	pthread_mutex_t lock;
	pthread_cond_t news;
	VIP_DESCRIPTOR *done[2];
};

static const struct talk *talk;
static VIP_NIC_HANDLE nic;
static VIP_NIC_ATTRIBUTES attr;
static struct lane lanes[LANES_MAX];

static uint8_t byte_of(unsigned int lane, unsigned int message, unsigned int i)
{
	return lane * 31 + message * 7 + i;
}

static uint32_t bytes_of(unsigned int message)
{
	return 1 + message * 911 % BYTES;
}

static VIP_DESCRIPTOR *slot(struct lane *l, unsigned int i, uint32_t len)
{
	VIP_DESCRIPTOR *d = (void *)(l->mem + i * SLOT);

	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = len;
	d->DS[0].Local.Data.Address = d + 1;
	d->DS[0].Local.Handle = l->mem_h;
	d->DS[0].Local.Length = len;
	return d;
}

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	/* The other end may be first to leave. */
	if (e->ErrorCode != VIP_ERROR_CONN_LOST && !talk->may_fail)
		sim_fail("%s: asynchronous error %d", talk->device,
			 (int)e->ErrorCode);
}

static void on_done(VIP_PVOID context, VIP_NIC_HANDLE h, VIP_VI_HANDLE vi,
		    VIP_DESCRIPTOR *d)
{
	struct lane *l = context;
	int recv = (char *)d < l->mem + FEW * SLOT;

	(void)h;
	(void)vi;
	pthread_mutex_lock(&l->lock);
	l->done[recv] = d;
	pthread_cond_signal(&l->news);
	pthread_mutex_unlock(&l->lock);
}

static VIP_RETURN by_handler(struct lane *l, int recv, VIP_DESCRIPTOR **d)
{
	VIP_RETURN r;

	r = recv ? VipRecvNotify(l->vi, l, on_done) :
		   VipSendNotify(l->vi, l, on_done);
	if (r != VIP_SUCCESS)
		return r;
	pthread_mutex_lock(&l->lock);
	while (!l->done[recv])
		pthread_cond_wait(&l->news, &l->lock);
	*d = l->done[recv];
	l->done[recv] = NULL;
	pthread_mutex_unlock(&l->lock);
	return VIP_SUCCESS;
}

static int readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1);
}

/* As programs with a main loop do it: look, arm, sleep, look. */
static VIP_RETURN wait_file(struct lane *l, VIP_VI_HANDLE *vi,
			    VIP_BOOLEAN *of_recv)
{
	VIP_RETURN r;
	int fd;

	r = VipExtCQGetFd(l->cq, &fd);
	while (r == VIP_SUCCESS) {
		r = VipCQDone(l->cq, vi, of_recv);
		if (r != VIP_NOT_DONE)
			return r;
		r = VipExtCQArm(l->cq);
		if (r == VIP_SUCCESS && readable(fd) < 0)
			r = VIP_ERROR_RESOURCE;
	}
	return r;
}

/* One entry at a time is for each queue: what is not asked for is kept. */
static VIP_RETURN by_cq(struct lane *l, int recv, VIP_DESCRIPTOR **d)
{
	VIP_BOOLEAN of_recv;
	VIP_VI_HANDLE vi;
	VIP_RETURN r;

	while (!l->done[recv]) {
		r = l->way == BY_FILE ? wait_file(l, &vi, &of_recv) :
			VipCQWait(l->cq, VIP_INFINITE, &vi, &of_recv);
		if (r != VIP_SUCCESS)
			return r;
		if (vi != l->vi || l->done[!!of_recv])
			sim_fail("a completion of another queue");
		r = of_recv ? VipRecvDone(vi, d) : VipSendDone(vi, d);
		if (r != VIP_SUCCESS)
			return r;
		l->done[!!of_recv] = *d;
	}
	*d = l->done[recv];
	l->done[recv] = NULL;
	return VIP_SUCCESS;
}

static VIP_RETURN done(struct lane *l, int recv, VIP_DESCRIPTOR **d)
{
	VIP_RETURN r;

	switch (l->way) {
	case BY_WAIT:
		return recv ? VipRecvWait(l->vi, 20000, d) :
			      VipSendWait(l->vi, VIP_INFINITE, d);
	case BY_CQ:
	case BY_FILE:
		return by_cq(l, recv, d);
	case BY_HANDLER:
		return by_handler(l, recv, d);
	default:
		do {
			r = recv ? VipRecvDone(l->vi, d) :
				   VipSendDone(l->vi, d);
		} while (r == VIP_NOT_DONE);
		return r;
	}
}

static void address(VIP_NET_ADDRESS *a, const void *host, unsigned int lane)
{
	a->HostAddressLen = 6;
	a->DiscriminatorLen = 1;
	memcpy(a->HostAddress, host, 6);
	a->HostAddress[6] = lane;
}

/* What was begun on the VI. */
static VIP_RETURN verdict(struct lane *l)
{
	struct timespec t = { 0, 1000000 };
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN r;
	int fd = -1;

	if (l->connect == BY_NIC_FILE && VipExtNicGetFd(nic, &fd))
		return VIP_ERROR_RESOURCE;
	for (;;) {
		r = fd < 0 ? VIP_SUCCESS : VipExtNicClear(nic);
		if (r == VIP_SUCCESS)
			r = VipExtConnectDone(l->vi, &theirs, NULL, NULL);
		if (r != VIP_NOT_DONE)
			return r;
		if (fd < 0)
			nanosleep(&t, NULL);
		else if (readable(fd) < 0)
			return VIP_ERROR_RESOURCE;
	}
}

static VIP_RETURN ask(struct lane *l)
{
	char local[32], remote[32];
	struct timespec t = { 0, 1000000 };
	VIP_VI_ATTRIBUTES theirs;
	unsigned int i;
	VIP_RETURN r;

	address((void *)local, attr.LocalNicAddress, 100 + l->n);
	address((void *)remote, talk->host, l->n);
	for (i = 0; i < 5000; i++) {
		if (l->connect == BLOCKING)
			r = VipConnectRequest(l->vi, (void *)local,
					      (void *)remote, 10000, &theirs);
		else
			r = VipExtConnectRequest(l->vi, (void *)local,
						 (void *)remote, 10000, NULL,
						 0);
		if (r == VIP_SUCCESS && l->connect != BLOCKING)
			r = verdict(l);
		if (r != VIP_NO_MATCH)
			break;
		nanosleep(&t, NULL);
	}
	return r;
}

static VIP_RETURN serve(struct lane *l)
{
	char local[32], remote[32];
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;
	VIP_RETURN r;

	address((void *)local, attr.LocalNicAddress, l->n);
	r = VipConnectWait(nic, (void *)local, talk->may_fail ? 5000 :
			   VIP_INFINITE, (void *)remote, &theirs, &conn);
	if (r != VIP_SUCCESS)
		return r;
	if (l->connect == BLOCKING)
		return VipConnectAccept(conn, l->vi);
	r = VipExtConnectAccept(conn, l->vi, NULL, 0);
	return r == VIP_SUCCESS ? verdict(l) : r;
}

/* One message out of ours, or what came. */
static VIP_RETURN post(struct lane *l, unsigned int message, const void *what)
{
	VIP_DESCRIPTOR *d = slot(l, FEW, bytes_of(message));
	uint8_t *p = (void *)(d + 1);
	unsigned int i;

	for (i = 0; !what && i < bytes_of(message); i++)
		p[i] = byte_of(l->n, message, i);
	if (what)
		memcpy(p, what, bytes_of(message));
	return VipPostSend(l->vi, d, l->mem_h);
}

static int right(struct lane *l, const VIP_DESCRIPTOR *d)
{
	const uint8_t *p = (const void *)(d + 1);
	unsigned int i;

	if (d->CS.Length != bytes_of(l->came))
		return 0;
	for (i = 0; i < d->CS.Length; i++)
		if (p[i] != byte_of(l->n, l->came, i))
			return 0;
	return 1;
}

static int transfer(struct lane *l)
{
	VIP_DESCRIPTOR *d, *s;

	while (l->came < talk->messages) {
		if (talk->client)
			EXPECT_RC(post(l, l->came, NULL));
		EXPECT_RC(done(l, 1, &d));
		EXPECT(!(d->CS.Status & VIP_STATUS_ERROR_MASK));
		EXPECT(right(l, d));
		if (!talk->client)
			EXPECT_RC(post(l, l->came, d + 1));
		EXPECT_RC(done(l, 0, &s));
		EXPECT(s == (void *)(l->mem + FEW * SLOT));
		l->came++;
		EXPECT_RC(VipPostRecv(l->vi, slot(l, ((char *)d - l->mem) / SLOT,
					       BYTES), l->mem_h));
		if (l->cq && l->came % 3 == 0)
			EXPECT_RC(VipResizeCQ(l->cq, 2 + l->came * 5 % 23));
	}
	return 0;
out:
	return -1;
}

/*
 * Several threads post sends to one VI; none is waited for until all are
 * posted: each doorbell that is left out has to be right to be.
 */
struct poster {
	pthread_t thread;
	struct lane *l;
	unsigned int first;
};

static void *post_main(void *arg)
{
	struct poster *p = arg;
	struct lane *l = p->l;
	unsigned int i;

	for (i = 0; i < talk->messages; i++)
		EXPECT_RC(VipPostSend(l->vi, slot(l, p->first + i, 64),
				      l->mem_h));
out:
	return NULL;
}

static int burst(struct lane *l)
{
	struct poster p[POSTERS_MAX];
	VIP_DESCRIPTOR *d;
	unsigned int i;

	for (i = 0; talk->client && i < talk->posters; i++) {
		p[i] = (struct poster){ .l = l, .first = i * talk->messages };
		EXPECT(!pthread_create(&p[i].thread, NULL, post_main, &p[i]));
	}
	for (i = 0; talk->client && i < talk->posters; i++)
		pthread_join(p[i].thread, NULL);
	for (i = 0; i < talk->posters * talk->messages; i++)
		EXPECT_RC(talk->client ?
			  VipSendWait(l->vi, VIP_INFINITE, &d) :
			  VipRecvWait(l->vi, VIP_INFINITE, &d));
	return 0;
out:
	return -1;
}

static void *lane_main(void *arg)
{
	VIP_VI_ATTRIBUTES a = { talk->level, 32768, NULL, NULL, VIP_FALSE,
				VIP_FALSE };
	VIP_MEM_ATTRIBUTES ma = { NULL, VIP_FALSE, VIP_FALSE };
	unsigned int i, few = talk->posters ? talk->posters * talk->messages :
					      FEW;
	size_t bytes = (few + 1) * SLOT;
	struct lane *l = arg;
	VIP_DESCRIPTOR *d;

	l->mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(l->mem != MAP_FAILED);
	EXPECT_RC(VipCreatePtag(nic, &a.Ptag));
	ma.Ptag = a.Ptag;
	EXPECT_RC(VipRegisterMem(nic, l->mem, bytes, &ma, &l->mem_h));
	if (l->way == BY_CQ || l->way == BY_FILE)
		EXPECT_RC(VipCreateCQ(nic, 4, &l->cq));
	EXPECT_RC(VipCreateVi(nic, &a, l->cq, l->cq, &l->vi));
	for (i = 0; i < few && !(talk->posters && talk->client); i++)
		EXPECT_RC(VipPostRecv(l->vi, slot(l, i, BYTES), l->mem_h));
	EXPECT_RC(talk->client ? ask(l) : serve(l));
	if (talk->posters ? burst(l) : transfer(l))
		goto out;
	/* The server leaves first only when the client has it all. */
	if (!talk->posters && !talk->client && done(l, 1, &d) == VIP_SUCCESS)
		EXPECT(d->CS.Status & VIP_STATUS_ERROR_MASK);
	if (talk->abrupt)
		return NULL;
	EXPECT_RC(VipDisconnect(l->vi));
	while (VipRecvDone(l->vi, &d) != VIP_NOT_DONE && d)
		;
	EXPECT_RC(VipDestroyVi(l->vi));
	if (l->cq)
		EXPECT_RC(VipDestroyCQ(l->cq));
	EXPECT_RC(VipDeregisterMem(nic, l->mem, l->mem_h));
	EXPECT_RC(VipDestroyPtag(nic, a.Ptag));
out:
	return NULL;
}

void *talk_main(void *arg)
{
	unsigned int i, first = sim_dice(WAYS), connect = sim_dice(3);
	struct lane *l = &lanes[0];

	talk = arg;
	EXPECT_RC(VipOpenNic(talk->device, &nic));
	EXPECT_RC(VipErrorCallback(nic, NULL, on_error));
	EXPECT_RC(VipQueryNic(nic, &attr));
	for (i = 0; i < talk->lanes; i++) {
		lanes[i].n = i;
		lanes[i].way = (first + i) % WAYS;
		lanes[i].connect = i && connect == BY_NIC_FILE ? LOOKING :
								 connect;
		EXPECT(!pthread_create(&lanes[i].thread, NULL, lane_main,
				       &lanes[i]));
	}
	for (i = 0; i < talk->lanes; i++)
		pthread_join(lanes[i].thread, NULL);
	EXPECT_RC(VipCloseNic(nic));
	++*talk->closed;
out:
	return NULL;
}
