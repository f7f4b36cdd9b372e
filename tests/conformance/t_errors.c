// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Asynchronous errors, code by code: section 8. */
#include "loss.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static VIP_VI_HANDLE lone_vi(VIP_NIC_HANDLE nic)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vi = NULL;

	if (nic != env.nic.h)
		a.Ptag = NULL;
	REQUIRE_RC(VipCreateVi(nic, &a, NULL, NULL, &vi), VIP_SUCCESS);
	return vi;
}

/* A misaligned receive raises POST_DESC at once, connected or not. */
static VIP_DESCRIPTOR *raise_error(VIP_VI_HANDLE vi)
{
	VIP_DESCRIPTOR *d = (void *)((char *)nic_slot(&env.nic) + 8);
	struct xfer x = our_buf(0, 10, 1);

	xfer_build(d, &x, 64);
	CHECK_RC(VipPostRecv(vi, d, env.nic.slots_h), VIP_SUCCESS);
	return d;
}

/* Errors come in order: when this one is there, all before it were. */
static void all_delivered(void)
{
	VIP_VI_HANDLE vi = lone_vi(env.nic.h);

	raise_error(vi);
	CHECK_ERRORS(vi, VIP_ERROR_POST_DESC, 1);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static void check_error(VIP_VI_HANDLE vi, VIP_ERROR_CODE code,
			unsigned int want, VIP_ULONG op,
			VIP_RESOURCE_CODE resource, VIP_DESCRIPTOR *d)
{
	VIP_ERROR_DESCRIPTOR e;

	memset(&e, XFER_GUARD, sizeof(e));
	CHECK_EQ(nic_error_wait(&env.nic, vi, code, want, LONG_MS, &e), want);
	CHECK(e.NicHandle == env.nic.h);
	CHECK(e.ViHandle == vi);
	CHECK(e.CQHandle == NULL);
	CHECK(e.DescriptorPtr == d);
	CHECK_EQ(e.OpCode, op);
	CHECK_EQ(e.ResourceCode, resource);
	CHECK_EQ(e.ErrorCode, code);
}

/* The operation of the descriptor is told, and which it is. */
static void post_desc(void)
{
	static const struct {
		enum queue q;
		unsigned int control;
		VIP_ULONG op;
	} k[] = {
		{ SENDQ, VIP_CONTROL_OP_SENDRECV, 0 },
		{ RECVQ, VIP_CONTROL_OP_SENDRECV, 1 },
		{ SENDQ, VIP_CONTROL_OP_RDMAWRITE, 2 },
	};
	struct xfer x = our_buf(0, 10, 1), tx = peer_buf(0, 10, 1);
	VIP_DESCRIPTOR *d;
	struct tries t;
	struct done r;
	struct pair p;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(k); i++) {
		about("operation %lu", k[i].op);
		pair_open(&p, NULL);
		x.control = k[i].control;
		x.raddr = env.p_arena;
		x.rhandle = env.p_arena_h;
		d = nic_slot(&env.nic);
		xfer_build(d, &x, XFER_DESC_SIZE);
		if (k[i].q == SENDQ) {
			CHECK_RC(VipPostSend(p.vi, d, 0), VIP_SUCCESS);
		} else {
			CHECK_RC(VipPostRecv(p.vi, d, 0), VIP_SUCCESS);
			CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
		}
		t = (struct tries){ 0 };
		do {
			r = wait_done(p.vi, k[i].q, k[i].q == SENDQ ?
				      LONG_MS : patience());
		} while (r.rc == VIP_TIMEOUT && k[i].q == RECVQ &&
			 peer_once_more(&t, &p, &tx));
		CHECK(r.d == d);
		check_error(p.vi, VIP_ERROR_POST_DESC, 1, k[i].op,
			    VIP_RESOURCE_DESCRIPTOR, d);
		pair_close(&p);
	}
}

static void conn_lost(void)
{
	struct pair p;

	about("the peer leaves");
	pair_open(&p, NULL);
	peer_disconnect(p.pvi);
	check_error(p.vi, VIP_ERROR_CONN_LOST, 1, 0, VIP_RESOURCE_VI, NULL);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	/* Once, and not again for leaving the Error state. */
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	all_delivered();
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 1);
	about("we leave");
	pair_connect(&p);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(peer_errors(p.pvi, VIP_ERROR_CONN_LOST, 1), 1);
	all_delivered();
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_CONN_LOST), 1);
	pair_close(&p);
}

static void recvq_empty(void)
{
	struct xfer tx = peer_buf(0, 10, 1);
	struct tries t = { 0 };
	struct pair p;

	pair_open(&p, NULL);
	do {
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
		peer_wait(p.pvi, SENDQ, LONG_MS);
	} while (!reliable() &&
		 !nic_error_wait(&env.nic, p.vi, VIP_ERROR_RECVQ_EMPTY, 1,
				 patience(), NULL) && once_more(&t));
	if (reliable()) {
		/* The connection breaks instead. */
		check_error(p.vi, VIP_ERROR_CONN_LOST, 1, 0, VIP_RESOURCE_VI,
			    NULL);
		all_delivered();
		CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_RECVQ_EMPTY), 0);
	} else {
		check_error(p.vi, VIP_ERROR_RECVQ_EMPTY, 1, 1,
			    VIP_RESOURCE_VI, NULL);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
		check_alive(&p);
	}
	pair_close(&p);
}

static void overrun(void)
{
	unsigned int i, n = env.nic.attr.MaxDescriptorsPerQueue;
	VIP_VI_HANDLE vi = lone_vi(env.nic.h);
	struct xfer x = our_buf(0, 0, 0);
	VIP_DESCRIPTOR *d;

	/* A descriptor may be posted twice by a program that never looks. */
	for (i = 0; i < n; i++)
		if (nic_post_again(&env.nic, vi, RECVQ, &x, NULL))
			CHECK(!"posted");
	CHECK_EQ(nic_errors(&env.nic, vi, VIP_ERROR_VI_OVERRUN), 0);
	for (i = 1; i <= 3; i++) {
		CHECK_RC(nic_post_again(&env.nic, vi, RECVQ, &x, &d),
			 VIP_SUCCESS);
		check_error(vi, VIP_ERROR_VI_OVERRUN, i, 1, VIP_RESOURCE_VI,
			    d);
	}
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_EQ(drain(vi, RECVQ), n);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* The target of a write that is refused is told; here it is us. */
static void refused(unsigned int control, VIP_ERROR_CODE code, VIP_ULONG op)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	struct xfer x = peer_buf(0, 100, 1);
	uint8_t *page = pages(4096);
	struct tries t = { 0 };
	VIP_MEM_HANDLE h;
	struct pair p;

	REQUIRE_RC(VipRegisterMem(env.nic.h, page, 4096, &a, &h),
		   VIP_SUCCESS);
	memset(page, XFER_GUARD, 4096);
	pair_open(&p, NULL);
	x.control = control;
	x.raddr = (uintptr_t)page;
	x.rhandle = h;
	do {
		CHECK_RC(peer_post(p.pvi, SENDQ, &x), VIP_SUCCESS);
		CHECK(peer_wait(p.pvi, SENDQ, LONG_MS).addr != 0);
	} while (!nic_error_wait(&env.nic, p.vi, code, 1, patience(), NULL) &&
		 once_more(&t));
	check_error(p.vi, code, 1, op, VIP_RESOURCE_VI, NULL);
	CHECK_EQ(bytes_other(page, XFER_GUARD, 4096), 0);
	if (reliable())
		CHECK_STATE(p.vi, VIP_STATE_ERROR);
	else
		CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	pair_close(&p);
	CHECK_RC(VipDeregisterMem(env.nic.h, page, h), VIP_SUCCESS);
}

static void rdmaw_prot(void)
{
	refused(VIP_CONTROL_OP_RDMAWRITE, VIP_ERROR_RDMAW_PROT, 3);
}

/* What a handler of these tests does, and what it found. */
struct handler {
	VIP_VI_HANDLE vi;
	unsigned int called;
	unsigned int good;
	int pipe[2];
};

static void done_with(struct handler *h, bool good)
{
	h->good += good;
	h->called++;
	if (write(h->pipe[1], "", 1) != 1)
		abort();
}

static bool called(struct handler *h)
{
	struct pollfd p = { .fd = h->pipe[0], .events = POLLIN };
	char c;

	return poll(&p, 1, LONG_MS) == 1 && read(h->pipe[0], &c, 1) == 1;
}

static void on_disconnect(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	struct handler *h = context;

	if (e->ViHandle != h->vi || e->ErrorCode != VIP_ERROR_CONN_LOST)
		return;
	done_with(h, VipDisconnect(e->ViHandle) == VIP_SUCCESS &&
		  VipDestroyVi(e->ViHandle) == VIP_SUCCESS);
}

static void on_close(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	struct handler *h = context;

	done_with(h, VipErrorCallback(e->NicHandle, h, on_close) ==
		  VIP_SUCCESS && VipCloseNic(e->NicHandle) == VIP_SUCCESS &&
		  VipCloseNic(e->NicHandle) == VIP_INVALID_PARAMETER);
}

/* A handler may end the VI, the handle that it is called for. */
static void handlers_call(void)
{
	struct handler h = { .called = 0 };
	VIP_NIC_HANDLE second;
	struct pair p;

	REQUIRE(!pipe(h.pipe));
	about("VipDisconnect, VipDestroyVi");
	pair_open(&p, NULL);
	h.vi = p.vi;
	CHECK_RC(VipErrorCallback(env.nic.h, &h, on_disconnect), VIP_SUCCESS);
	peer_disconnect(p.pvi);
	CHECK(called(&h));
	CHECK_EQ(h.good, 1);
	CHECK_INVALID(VipDestroyVi(p.vi));
	peer_destroy(p.pvi);
	about("VipCloseNic");
	REQUIRE_RC(VipOpenNic(env.device, &second), VIP_SUCCESS);
	CHECK_RC(VipErrorCallback(second, &h, on_close), VIP_SUCCESS);
	raise_error(lone_vi(second));
	CHECK(called(&h));
	CHECK_EQ(h.good, 2);
	CHECK_INVALID(VipErrorCallback(second, NULL, NULL));
}

static void on_exit_call(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	(void)e;
	exit(43);
}

static void exits(void)
{
	if (VipErrorCallback(env.nic.h, NULL, on_exit_call))
		_exit(1);
	raise_error(lone_vi(env.nic.h));
}

static void handlers_exit(void)
{
	CHECK_EQ(child_exit(exits), 43);
}

static void on_any(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	struct handler *h = context;

	h->vi = e->ViHandle;
	done_with(h, e->ErrorCode == VIP_ERROR_POST_DESC);
}

/* One handler a NIC handle, for its own errors; the last one counts. */
static void one_handler(void)
{
	struct handler h[3] = { { .called = 0 } };
	VIP_VI_HANDLE vi[2];
	VIP_NIC_HANDLE second;
	unsigned int i;

	for (i = 0; i < 3; i++)
		REQUIRE(!pipe(h[i].pipe));
	REQUIRE_RC(VipOpenNic(env.device, &second), VIP_SUCCESS);
	CHECK_RC(VipErrorCallback(second, &h[2], on_any), VIP_SUCCESS);
	CHECK_RC(VipErrorCallback(env.nic.h, &h[0], on_any), VIP_SUCCESS);
	vi[0] = lone_vi(env.nic.h);
	vi[1] = lone_vi(second);
	raise_error(vi[0]);
	CHECK(called(&h[0]));
	CHECK_RC(VipErrorCallback(env.nic.h, &h[1], on_any), VIP_SUCCESS);
	raise_error(vi[0]);
	CHECK(called(&h[1]));
	raise_error(vi[1]);
	CHECK(called(&h[2]));
	for (i = 0; i < 3; i++) {
		about("handler %u", i);
		CHECK_EQ(h[i].called, 1);
		CHECK_EQ(h[i].good, 1);
		CHECK(h[i].vi == vi[i == 2]);
	}
	CHECK_RC(VipCloseNic(second), VIP_SUCCESS);
}

/* NULL brings the default back, which says something and goes on. */
static void by_default(void)
{
	struct handler h = { .called = 0 };
	VIP_VI_HANDLE vi = lone_vi(env.nic.h);
	struct pollfd log = { .events = POLLIN };
	char text[512];
	int out[2];

	REQUIRE(!pipe(h.pipe) && !pipe(out));
	unsetenv("VIPL_QUIET");
	CHECK_RC(VipErrorCallback(env.nic.h, &h, on_any), VIP_SUCCESS);
	REQUIRE(dup2(out[1], STDERR_FILENO) == STDERR_FILENO);
	log.fd = out[0];
	CHECK_RC(VipErrorCallback(env.nic.h, &h, NULL), VIP_SUCCESS);
	raise_error(vi);
	CHECK(poll(&log, 1, LONG_MS) == 1);
	CHECK(read(out[0], text, sizeof(text)) > 0);
	CHECK_EQ(h.called, 0);
	/* And the handler again, with nothing said. */
	CHECK_RC(VipErrorCallback(env.nic.h, &h, on_any), VIP_SUCCESS);
	raise_error(vi);
	CHECK(called(&h));
	CHECK(poll(&log, 1, 0) == 0);
}

/* Standard error, from now on: where it can be read. */
static FILE *listen_to_stderr(void)
{
	int fds[2];

	REQUIRE(!pipe(fds) && dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	close(fds[1]);
	unsetenv("VIPL_QUIET");
	return fdopen(fds[0], "r");
}

/*
 * What the default handler has said of lost connections by now, in lines: one
 * for an error raised here is the last, and must be there. The state may change
 * before the loss is reported; a disconnect comes after both.
 */
static unsigned int losses_said(FILE *log, VIP_VI_HANDLE vi,
				VIP_VI_HANDLE marker)
{
	struct pollfd p = { .fd = fileno(log), .events = POLLIN };
	unsigned int n = 0;
	char line[512];

	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	raise_error(marker);
	for (;;) {
		if (poll(&p, 1, LONG_MS) != 1 ||
		    !fgets(line, sizeof(line), log)) {
			CHECK(!"the default handler has spoken");
			return n;
		}
		CHECK(!strstr(line, "nil"));
		if (strstr(line, "misaligned")) {
			/* And its second line, the remedy. */
			CHECK(fgets(line, sizeof(line), log) != NULL);
			return n;
		}
		CHECK(strstr(line, "the connection of VI") != NULL);
		CHECK(strstr(line, "is lost\n") != NULL);
		n++;
	}
}

/*
 * A program without a handler is told of what went wrong, in one line, and not
 * of a peer that has left, which is how every program ends.
 */
static void said_of_ends(void)
{
	struct xfer tx = our_buf(0, 10, 1);
	unsigned int most = env.nic.attr.MaxDescriptorsPerQueue;
	VIP_VI_HANDLE marker = lone_vi(env.nic.h);
	struct pair p;
	FILE *log;

	CHECK_RC(VipErrorCallback(env.nic.h, NULL, NULL), VIP_SUCCESS);
	log = listen_to_stderr();
	setvbuf(log, NULL, _IONBF, 0);
	about("the peer disconnects");
	pair_open(&p, NULL);
	peer_disconnect(p.pvi);
	CHECK_STATE(p.vi, VIP_STATE_ERROR);
	CHECK_EQ(losses_said(log, p.vi, marker), 0);
	about("we disconnect");
	pair_reset(&p);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_EQ(losses_said(log, p.vi, marker), 0);
	if (reliable()) {
		about("a message that finds no receive");
		pair_reset(&p);
		pair_post(&p, SENDQ, &tx);
		CHECK_STATE(p.vi, VIP_STATE_ERROR);
		CHECK_EQ(losses_said(log, p.vi, marker), 1);
		about("an error of the peer's");
		pair_reset(&p);
		tx = peer_buf(0, 10, 1);
		tx.len_delta = 1;
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
		CHECK_STATE(p.vi, VIP_STATE_ERROR);
		CHECK_EQ(losses_said(log, p.vi, marker), 1);
		about("one of the peer's that the class knows nothing of");
		pair_reset(&p);
		tx = peer_buf(0, 0, 0);
		CHECK_RC(peer_post_many(p.pvi, RECVQ, &tx, most + 1),
			 VIP_SUCCESS);
		CHECK_STATE(p.vi, VIP_STATE_ERROR);
		CHECK_EQ(losses_said(log, p.vi, marker), 1);
	}
	pair_close(&p);
	fclose(log);
}

static void arguments(void)
{
	void *const bad[] = { NULL, env.nic.ptag, (void *)-1, &env };
	struct handler h = { .called = 0 };
	VIP_NIC_HANDLE closed;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		about("handle %u", i);
		CHECK_INVALID(VipErrorCallback(bad[i], &h, on_any));
		CHECK_INVALID(VipErrorCallback(bad[i], NULL, NULL));
	}
	about("a closed one");
	REQUIRE_RC(VipOpenNic(env.device, &closed), VIP_SUCCESS);
	CHECK_RC(VipErrorCallback(closed, NULL, NULL), VIP_SUCCESS);
	CHECK_RC(VipErrorCallback(closed, NULL, NULL), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(closed), VIP_SUCCESS);
	CHECK_INVALID(VipErrorCallback(closed, &h, on_any));
	CHECK_EQ(h.called, 0);
}

static const struct group groups[] = {
	{ "errors.post_desc", "3, 8 POST_DESC", post_desc,
	  G_PEER | G_LEVELS, 0 },
	{ "errors.conn_lost", "8 CONN_LOST, not for VipDisconnect", conn_lost,
	  G_PEER | G_LEVELS, 0 },
	{ "errors.recvq_empty", "6, 8 RECVQ_EMPTY", recvq_empty,
	  G_PEER | G_LEVELS, 0 },
	{ "errors.overrun", "8 VI_OVERRUN", overrun, G_LEVELS, 0 },
	{ "errors.rdmaw_prot", "7.7, 8 RDMAW_PROT", rdmaw_prot,
	  G_PEER | G_LEVELS, 0 },
	{ "errors.handlers_call", "8, 11 no lock is held", handlers_call,
	  G_PEER | G_OWN, 0 },
	{ "errors.handlers_exit", "8 handlers may exit", handlers_exit,
	  G_OWN, 0 },
	{ "errors.one_handler", "8 one handler per NIC handle", one_handler,
	  G_OWN, 0 },
	{ "errors.by_default", "8 the default handler", by_default, G_OWN,
	  0 },
	{ "errors.said_of_ends", "8 CONN_LOST without a handler", said_of_ends,
	  G_PEER | G_LEVELS | G_OWN, 0 },
	{ "errors.arguments", "10.9 VipErrorCallback", arguments, 0, 0 },
};

NOUN(errors, groups);
