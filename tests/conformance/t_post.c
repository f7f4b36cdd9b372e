// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Descriptors that are bad themselves (POST_DESC), and no receive posted. */
#include "bad.h"
#include "loss.h"
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Posts, expects the error in the descriptor and by callback. */
static void refuse(struct pair *p, enum queue q, VIP_DESCRIPTOR *d,
		   VIP_MEM_HANDLE h)
{
	unsigned int before = nic_errors(&env.nic, p->vi,
					 VIP_ERROR_POST_DESC);
	struct xfer tx = peer_buf(0, 10, 1);
	uint32_t bits = VIP_STATUS_FORMAT_ERROR | VIP_STATUS_PROTECTION_ERROR;
	VIP_ERROR_DESCRIPTOR e;

	if (q == SENDQ)
		bad_send(p, d, h, bits);
	else
		bad_recv(p, d, h, &tx, bits);
	memset(&e, 0, sizeof(e));
	CHECK_EQ(nic_error_wait(&env.nic, p->vi, VIP_ERROR_POST_DESC,
				before + 1, LONG_MS, &e), before + 1);
	CHECK(e.NicHandle == env.nic.h && e.ViHandle == p->vi);
	CHECK(e.CQHandle == NULL);
	CHECK(e.DescriptorPtr == d);
	CHECK(e.ResourceCode == VIP_RESOURCE_DESCRIPTOR ||
	      e.ResourceCode == VIP_RESOURCE_VI);
}

static VIP_DESCRIPTOR *build(void *at)
{
	struct xfer x = our_buf(0, 10, 1);
	VIP_DESCRIPTOR *d = at;

	xfer_build(d, &x, 64);
	return d;
}

static void misaligned(void)
{
	static const unsigned int offs[] = { 8, 16, 32, 56 };
	struct pair p;
	unsigned int i;
	enum queue q;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		for (q = SENDQ; q <= RECVQ; q++) {
			about("off by %u, queue %u", offs[i], q);
			refuse(&p, q, build((uint8_t *)nic_slot(&env.nic) +
					    offs[i]), env.nic.slots_h);
		}
	}
	pair_close(&p);
}

static void unregistered(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	uint8_t *loose = pages(2 * 4096);
	VIP_MEM_HANDLE gone;
	struct pair p;
	enum queue q;

	REQUIRE_RC(VipRegisterMem(env.nic.h, loose, 4096, &a, &gone),
		   VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(env.nic.h, loose, gone), VIP_SUCCESS);
	pair_open(&p, NULL);
	for (q = SENDQ; q <= RECVQ; q++) {
		about("handle 0, queue %u", q);
		refuse(&p, q, build(loose), 0);
		about("stale handle, queue %u", q);
		refuse(&p, q, build(loose), gone);
		about("made-up handle, queue %u", q);
		refuse(&p, q, build(loose), 0xdeadbeef);
		about("another region's handle, queue %u", q);
		refuse(&p, q, build(loose), env.nic.slots_h);
	}
	pair_close(&p);
}

/* The descriptor begins inside its region and ends outside; or another tag. */
static void half_out(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	uint8_t *loose = pages(2 * 4096);
	VIP_MEM_HANDLE shorter, tagged;
	VIP_PROTECTION_HANDLE other;
	struct pair p;
	enum queue q;

	REQUIRE_RC(VipRegisterMem(env.nic.h, loose, 47, &a, &shorter),
		   VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(env.nic.h, &other), VIP_SUCCESS);
	a.Ptag = other;
	REQUIRE_RC(VipRegisterMem(env.nic.h, loose, 4096, &a, &tagged),
		   VIP_SUCCESS);
	pair_open(&p, NULL);
	for (q = SENDQ; q <= RECVQ; q++) {
		about("one byte short, queue %u", q);
		refuse(&p, q, build(loose), shorter);
		about("another Ptag, queue %u", q);
		refuse(&p, q, build(loose), tagged);
	}
	pair_close(&p);
}

/* A message finds no receive: section 6, by level. */
static void no_receive(void)
{
	struct xfer tx = our_buf(0, 3000, 1), rx = peer_buf(0, 3000, 1);
	struct tries t = { 0 };
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;
	struct done r;
	struct pair p;

	pair_open(&p, NULL);
	d = pair_post(&p, SENDQ, &tx);
	r = wait_done(p.vi, SENDQ, LONG_MS);
	CHECK(r.d == d);
	if (!reliable()) {
		CHECK_RC(r.rc, VIP_SUCCESS);
		CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
		CHECK_EQ(peer_state(p.pvi), VIP_STATE_CONNECTED);
		/* It is not kept for the receive that comes later. */
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		CHECK_RC(peer_wait(p.pvi, RECVQ, SHORT_MS).rc, VIP_TIMEOUT);
		do {
			d = pair_post(&p, SENDQ, &tx);
			CHECK_RC(wait_done(p.vi, SENDQ, LONG_MS).rc,
				 VIP_SUCCESS);
			rc = peer_wait(p.pvi, RECVQ, patience()).rc;
		} while (rc == VIP_TIMEOUT && once_more(&t));
		CHECK_RC(rc, VIP_SUCCESS);
		pair_close(&p);
		return;
	}
	CHECK_STATE(p.vi, VIP_STATE_ERROR);
	CHECK_PEER_STATE(p.pvi, VIP_STATE_ERROR);
	CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, 1);
	if (env.level == VIP_SERVICE_RELIABLE_RECEPTION)
		CHECK(r.status & VIP_STATUS_REMOTE_DESC_ERROR);
	after_error(&p);
	check_alive(&p);
	pair_close(&p);
}

/* The default handler is back after registering NULL, and kills no process. */
static void callback(void)
{
	int fds[2], saved = dup(2);
	struct pollfd wait;
	struct pair p;
	char text[512];
	ssize_t n = 0;

	CHECK_INVALID(VipErrorCallback(NULL, NULL, NULL));
	CHECK_RC(VipErrorCallback(env.nic.h, NULL, NULL), VIP_SUCCESS);
	pair_open(&p, NULL);
	REQUIRE(saved >= 0 && !pipe(fds) && dup2(fds[1], 2) == 2);
	CHECK_RC(VipPostRecv(p.vi, (void *)((char *)nic_slot(&env.nic) + 8),
			     env.nic.slots_h), VIP_SUCCESS);
	wait = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	if (CHECK(poll(&wait, 1, LONG_MS) == 1))
		n = read(fds[0], text, sizeof(text) - 1);
	dup2(saved, 2);
	close(saved);
	close(fds[0]);
	close(fds[1]);
	text[n < 0 ? 0 : n] = 0;
	CHECK(strstr(text, "misaligned") != NULL);
	pair_close(&p);
	CHECK_EQ(nic_errors(&env.nic, NULL, VIP_ERROR_POST_DESC), 0);
}

static const struct group groups[] = {
	{ "post.misaligned", "8 POST_DESC, 3 alignment, 14", misaligned,
	  G_PEER | G_LEVELS, 0 },
	{ "post.unregistered", "8 POST_DESC, 14", unregistered,
	  G_PEER | G_LEVELS, 0 },
	{ "post.half_out", "8 POST_DESC, 7.10 descriptors are checked too",
	  half_out, G_PEER | G_LEVELS, 0 },
	{ "post.no_receive", "6 no receive posted", no_receive,
	  G_PEER | G_LEVELS, 0 },
	{ "post.callback", "8 VipErrorCallback NULL", callback, G_PEER, 0 },
};

NOUN(post, groups);
