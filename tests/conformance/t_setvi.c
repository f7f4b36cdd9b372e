// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipSetViAttributes: section 10.2. */
#include "loss.h"
#include <string.h>

/* Another level that the NIC has. */
static VIP_RELIABILITY_LEVEL other_level(void)
{
	unsigned int mask = env.nic.attr.ReliabilityLevelSupport & ~env.level;

	return mask & -mask;
}

static bool same(const VIP_VI_ATTRIBUTES *a, const VIP_VI_ATTRIBUTES *b)
{
	return a->ReliabilityLevel == b->ReliabilityLevel &&
	       a->MaxTransferSize == b->MaxTransferSize && a->QoS == b->QoS &&
	       a->Ptag == b->Ptag &&
	       a->EnableRdmaWrite == b->EnableRdmaWrite &&
	       a->EnableRdmaRead == b->EnableRdmaRead;
}

static void check_attrs(VIP_VI_HANDLE vi, const VIP_VI_ATTRIBUTES *want)
{
	VIP_BOOLEAN send_empty, recv_empty;
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;

	memset(&a, 0x55, sizeof(a));
	CHECK_RC(VipQueryVi(vi, &state, &a, &send_empty, &recv_empty),
		 VIP_SUCCESS);
	CHECK(same(&a, want));
}

static VIP_VI_HANDLE make(const VIP_VI_ATTRIBUTES *want)
{
	VIP_VI_ATTRIBUTES a = *want;
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	return vi;
}

/* The codes of VipCreateVi, and after each failure all is as it was. */
static void arguments(void)
{
	VIP_VI_ATTRIBUTES good = vi_attributes(&env.nic, env.level), a;
	VIP_VI_HANDLE vi = make(&good), gone = make(&good);
	VIP_PROTECTION_HANDLE stale;
	VIP_NIC_HANDLE other;
	VIP_CQ_HANDLE cq;
	unsigned int i;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &stale), VIP_SUCCESS);
	REQUIRE_RC(VipDestroyPtag(env.nic.h, stale), VIP_SUCCESS);
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(gone), VIP_SUCCESS);

	CHECK_INVALID(VipSetViAttributes(NULL, &good));
	CHECK_INVALID(VipSetViAttributes(vi, NULL));
	CHECK_INVALID(VipSetViAttributes(gone, &good));
	CHECK_INVALID(VipSetViAttributes(cq, &good));
	CHECK_INVALID(VipSetViAttributes(env.nic.h, &good));

	for (i = 0; i < 11; i++) {
		VIP_RETURN want = VIP_INVALID_RELIABILITY_LEVEL;

		about("case %u", i);
		a = good;
		/* What is good in a bad set must not be taken over either. */
		a.EnableRdmaWrite = VIP_FALSE;
		if (i < 4) {
			a.ReliabilityLevel = (VIP_RELIABILITY_LEVEL[]){
				0, 3, 0x08, 0x4002 }[i];
		} else if (i < 6) {
			a.MaxTransferSize = i == 4 ? 0 :
				env.nic.attr.MaxTransferSize + 1;
			want = VIP_INVALID_MTU;
		} else if (i == 6) {
			a.QoS = &a;
			want = VIP_INVALID_QOS;
		} else if (i < 10) {
			a.Ptag = i == 7 ? stale : i == 8 ? other : vi;
			want = VIP_INVALID_PTAG;
		} else {
			a.EnableRdmaRead = VIP_TRUE;
			a.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
			want = VIP_INVALID_RDMAREAD;
		}
		CHECK_RC(VipSetViAttributes(vi, &a), want);
		check_attrs(vi, &good);
	}
	REQUIRE_RC(VipCreatePtag(other, &a.Ptag), VIP_SUCCESS);
	a = (VIP_VI_ATTRIBUTES){ good.ReliabilityLevel, 100, NULL, a.Ptag,
				 VIP_FALSE, VIP_FALSE };
	CHECK_RC(VipSetViAttributes(vi, &a), VIP_INVALID_PTAG);
	check_attrs(vi, &good);
	a.Ptag = NULL;
	CHECK_RC(VipSetViAttributes(vi, &a), VIP_SUCCESS);
	check_attrs(vi, &a);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_INVALID(VipSetViAttributes(vi, &good));
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Only in Idle, and elsewhere the state is what is wrong. */
static void state(void)
{
	VIP_VI_ATTRIBUTES a, bad;
	struct ctl_msg m;
	struct asker k;
	struct pair p;

	pair_create(&p, NULL);
	a = p.attr;
	a.EnableRdmaWrite = VIP_FALSE;
	bad = a;
	bad.MaxTransferSize = 0;
	bad.QoS = &bad;
	about("pending");
	m = ask_pending(&k, p.vi, LONG_MS);
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_INVALID_STATE);
	CHECK_RC(VipSetViAttributes(p.vi, &bad), VIP_INVALID_STATE);
	check_attrs(p.vi, &p.attr);
	CHECK_RC(peer_reject(m.obj), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_REJECT);
	about("idle again");
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_SUCCESS);
	check_attrs(p.vi, &a);
	CHECK_RC(VipSetViAttributes(p.vi, &p.attr), VIP_SUCCESS);
	about("connected");
	pair_connect(&p);
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_INVALID_STATE);
	CHECK_RC(VipSetViAttributes(p.vi, &bad), VIP_INVALID_STATE);
	check_attrs(p.vi, &p.attr);
	check_alive(&p);
	about("error");
	peer_disconnect(p.pvi);
	CHECK_STATE(p.vi, VIP_STATE_ERROR);
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_INVALID_STATE);
	check_attrs(p.vi, &p.attr);
	about("disconnected");
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(VipSetViAttributes(p.vi, &bad), VIP_INVALID_MTU);
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_SUCCESS);
	check_attrs(p.vi, &a);
	pair_connect(&p);
	check_alive(&p);
	pair_close(&p);
}

/* With these set the peer cannot accept. */
static void mismatch(struct pair *p, VIP_VI_ATTRIBUTES *a, VIP_RETURN why)
{
	struct ctl_msg m;
	struct asker k;

	CHECK_RC(VipSetViAttributes(p->vi, a), VIP_SUCCESS);
	m = ask_pending(&k, p->vi, LONG_MS);
	CHECK_RC(peer_accept(m.obj, p->pvi), why);
	CHECK_RC(peer_reject(m.obj), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_REJECT);
}

/* The level and the size set count, for the peer and for the messages. */
static void effect(void)
{
	struct xfer tx = our_buf(0, 3000, 1), rx = peer_buf(0, 3000, 1);
	VIP_VI_ATTRIBUTES a, theirs;
	struct disc d = new_disc();
	struct ctl_msg m;
	struct pair p;

	pair_create(&p, &(struct pair_opt){ .mtu = 3000 });
	a = p.attr;
	about("another level than the peer's");
	a.ReliabilityLevel = other_level();
	mismatch(&p, &a, VIP_INVALID_RELIABILITY_LEVEL);
	about("another size than the peer's");
	a = p.attr;
	a.MaxTransferSize = 2999;
	mismatch(&p, &a, VIP_INVALID_MTU);
	about("both right");
	a = p.attr;
	a.EnableRdmaWrite = VIP_FALSE;
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_SUCCESS);
	peer_listen(p.pvi, &d, 0);
	REQUIRE_RC(connect_peer(p.vi, &d, LONG_MS, &theirs), VIP_SUCCESS);
	m = peer_join(0);
	REQUIRE_RC(m.rc2, VIP_SUCCESS);
	CHECK_EQ(m.peer_level, env.level);
	CHECK_EQ(m.peer_mtu, 3000);
	CHECK_EQ(m.peer_rdma, 0);
	CHECK_EQ(theirs.ReliabilityLevel, env.level);
	deliver(&p, &tx, &rx);
	check_alive(&p);
	/* By the level set it lives on or not: one byte too long. */
	tx = our_buf(0, 3001, 1);
	pair_post(&p, SENDQ, &tx);
	CHECK(wait_done(p.vi, SENDQ, LONG_MS).status &
	      VIP_STATUS_LENGTH_ERROR);
	CHECK_EQ(vi_state_wait(p.vi, reliable() ? VIP_STATE_ERROR :
						 VIP_STATE_CONNECTED),
		 reliable() ? VIP_STATE_ERROR : VIP_STATE_CONNECTED);
	pair_close(&p);
}

/* A tag has its uses counted, by the old and by the new attributes. */
static void tags(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), b, bad;
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &a.Ptag), VIP_SUCCESS);
	b = a;
	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	vi = make(&a);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	about("refused: no use is counted");
	bad = b;
	bad.MaxTransferSize = 0;
	CHECK_RC(VipSetViAttributes(vi, &bad), VIP_INVALID_MTU);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
	CHECK_RC(VipSetViAttributes(vi, &b), VIP_INVALID_PTAG);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	about("the same again");
	CHECK_RC(VipSetViAttributes(vi, &a), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	about("from one to the other");
	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	CHECK_RC(VipSetViAttributes(vi, &b), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_SUCCESS);
	about("to none");
	a.Ptag = NULL;
	CHECK_RC(VipSetViAttributes(vi, &a), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
	check_attrs(vi, &a);
	about("destroyed: the last use goes with the VI");
	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	CHECK_RC(VipSetViAttributes(vi, &b), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
}

/*
 * A receive of 2000 bytes, posted with @before, meets a message with @after. A
 * misaligned one behind it makes a provider look at it early.
 */
static struct done posted_before(const VIP_VI_ATTRIBUTES *before,
				 const VIP_VI_ATTRIBUTES *after,
				 const struct xfer *rx)
{
	struct pair_opt o = { .mtu = after->MaxTransferSize };
	struct xfer tx = peer_buf(0, 2000, 1);
	VIP_VI_ATTRIBUTES a = *before;
	struct tries t = { 0 };
	VIP_DESCRIPTOR *d;
	struct done r;
	struct pair p;

	pair_create(&p, &o);
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_SUCCESS);
	d = pair_post(&p, RECVQ, rx);
	CHECK_RC(VipPostRecv(p.vi, (void *)((char *)nic_slot(&env.nic) + 32),
			     env.nic.slots_h), VIP_SUCCESS);
	a = *after;
	CHECK_RC(VipSetViAttributes(p.vi, &a), VIP_SUCCESS);
	pair_connect(&p);
	do {
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
		CHECK(peer_wait(p.pvi, SENDQ, LONG_MS).addr);
		r = wait_done(p.vi, RECVQ, patience());
	} while (r.rc == VIP_TIMEOUT && once_more(&t));
	CHECK(r.d == d);
	pair_close(&p);
	return r;
}

/*
 * Receives posted in Idle stay posted, and are judged by the attributes that
 * the VI connects with.
 */
static void posted(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), b;
	struct xfer rx = our_buf(0, 2000, 1);
	struct done r;

	a.MaxTransferSize = 2000;
	b = a;
	about("of a size that was too small");
	b.MaxTransferSize = 100;
	r = posted_before(&b, &a, &rx);
	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK_EQ(r.length, 2000);
	CHECK_EQ(xfer_wrong(&rx, 2000), 0);
	about("by a tag that was the descriptor's, and is another now");
	b = a;
	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	r = posted_before(&a, &b, &rx);
	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
		 VIP_STATUS_PROTECTION_ERROR);
	CHECK_EQ(xfer_wrong(&rx, 0), 0);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
}

/* Tag and size always belong together, and none is lost. */
struct setter {
	pthread_t thread;
	VIP_VI_HANDLE vi;
	VIP_VI_ATTRIBUTES set[2];
	unsigned int *stop;
	unsigned int failed;
};

static void *set_main(void *arg)
{
	struct setter *s = arg;
	unsigned int i;

	for (i = 0; i < 200; i++)
		s->failed += VipSetViAttributes(s->vi, &s->set[i % 2]) !=
			     VIP_SUCCESS;
	return NULL;
}

static void *look_main(void *arg)
{
	struct setter *s = arg;
	VIP_BOOLEAN send_empty, recv_empty;
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;

	while (!__atomic_load_n(s->stop, __ATOMIC_ACQUIRE))
		s->failed += VipQueryVi(s->vi, &state, &a, &send_empty,
					&recv_empty) != VIP_SUCCESS ||
			     (!same(&a, &s->set[0]) && !same(&a, &s->set[1]));
	return NULL;
}

static void threads(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), b = a;
	unsigned int i, stop = 0;
	struct setter s[4];
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &a.Ptag), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	b.MaxTransferSize = 1000;
	b.EnableRdmaWrite = VIP_FALSE;
	vi = make(&a);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		s[i] = (struct setter){ .vi = vi, .set = { a, b },
					.stop = &stop };
		REQUIRE(!pthread_create(&s[i].thread, NULL,
					i < 2 ? set_main : look_main, &s[i]));
	}
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		if (i == 2)
			__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
		pthread_join(s[i].thread, NULL);
		CHECK_EQ(s[i].failed, 0);
	}
	CHECK_RC(VipSetViAttributes(vi, &a), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "setvi.arguments", "10.2 VipSetViAttributes, codes of VipCreateVi",
	  arguments, 0, 0 },
	{ "setvi.state", "10.2 VipSetViAttributes, only in Idle", state,
	  G_PEER, 0 },
	{ "setvi.effect", "10.2 VipSetViAttributes, 6 levels", effect,
	  G_PEER | G_LEVELS, 0 },
	{ "setvi.tags", "10.2 VipSetViAttributes, 10.3 VipDestroyPtag", tags,
	  0, 0 },
	{ "setvi.posted", "5 receives posted in Idle, C9", posted,
	  G_PEER | G_LEVELS, 0 },
	{ "setvi.threads", "11 one VI, many threads", threads, 0, 0 },
};

NOUN(setvi, groups);
