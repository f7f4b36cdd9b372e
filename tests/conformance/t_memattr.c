// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipQueryMem, VipSetMemAttributes: section 10.3. */
#include "loss.h"
#include <string.h>

#define LEN	5000u

struct region {
	uint8_t *p;
	VIP_MEM_HANDLE h;
};

static struct region region(VIP_MEM_ATTRIBUTES *a)
{
	struct region r = { .p = pages(2 * 4096) };

	r.p += 100;
	REQUIRE_RC(VipRegisterMem(env.nic.h, r.p, LEN, a, &r.h), VIP_SUCCESS);
	return r;
}

static VIP_RETURN set(const struct region *r, VIP_MEM_ATTRIBUTES *a)
{
	return VipSetMemAttributes(env.nic.h, r->p, r->h, a);
}

static void check_attrs(const struct region *r, VIP_PROTECTION_HANDLE ptag,
			VIP_BOOLEAN write, VIP_BOOLEAN read)
{
	VIP_MEM_ATTRIBUTES a;

	memset(&a, 0x55, sizeof(a));
	CHECK_RC(VipQueryMem(env.nic.h, r->p, r->h, &a), VIP_SUCCESS);
	CHECK(a.Ptag == ptag);
	CHECK_EQ(a.EnableRdmaWrite, write);
	CHECK_EQ(a.EnableRdmaRead, read);
}

/* What names no region of this NIC handle. */
static void names(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_TRUE, VIP_FALSE };
	VIP_MEM_ATTRIBUTES b = { NULL, VIP_FALSE, VIP_FALSE }, got;
	struct region r = region(&a), other = region(&a);
	VIP_NIC_HANDLE n = env.nic.h, second;
	VIP_CQ_HANDLE cq;
	unsigned int i;

	REQUIRE_RC(VipOpenNic(env.device, &second), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(n, 4, &cq), VIP_SUCCESS);
	for (i = 0; i < 10; i++) {
		VIP_NIC_HANDLE nic = i == 0 ? NULL : i == 1 ? cq :
				     i == 2 ? second : n;
		void *p = i == 3 ? r.p + 1 : i == 4 ? r.p - 1 :
			  i == 5 ? NULL : i == 6 ? other.p : r.p;
		VIP_MEM_HANDLE h = i == 7 ? 0 : i == 8 ? ~r.h :
				   i == 9 ? r.h ^ 0x80000000 : r.h;

		about("case %u", i);
		memset(&got, 0x55, sizeof(got));
		CHECK_INVALID(VipQueryMem(nic, p, h, &got));
		CHECK_EQ(bytes_other(&got, 0x55, sizeof(got)), 0);
		CHECK_INVALID(VipSetMemAttributes(nic, p, h, &b));
		CHECK_INVALID(VipSetMemAttributes(nic, p, h, NULL));
	}
	about("the pointer");
	CHECK_INVALID(VipQueryMem(n, r.p, r.h, NULL));
	check_attrs(&r, env.nic.ptag, VIP_TRUE, VIP_FALSE);
	check_attrs(&other, env.nic.ptag, VIP_TRUE, VIP_FALSE);
	about("deregistered");
	CHECK_RC(VipDeregisterMem(n, r.p, r.h), VIP_SUCCESS);
	CHECK_INVALID(VipQueryMem(n, r.p, r.h, &got));
	CHECK_INVALID(VipSetMemAttributes(n, r.p, r.h, &b));
	about("closed");
	CHECK_RC(VipCloseNic(second), VIP_SUCCESS);
	CHECK_INVALID(VipQueryMem(second, r.p, r.h, &got));
	CHECK_INVALID(VipSetMemAttributes(second, r.p, r.h, &b));
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Query tells what was given; Set takes what registration takes. */
static void values(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_BOOLEAN can_read = env.nic.attr.RDMAReadSupport != 0;
	VIP_PROTECTION_HANDLE stale;
	VIP_NIC_HANDLE other;
	struct region r;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		about("attributes %u", i);
		a = (VIP_MEM_ATTRIBUTES){ i & 1 ? env.nic.ptag : NULL,
					  i & 2 ? 7 : VIP_FALSE,
					  i & 4 && can_read ? -1 : VIP_FALSE };
		r = region(&a);
		/* Whatever was true comes back as VIP_TRUE. */
		check_attrs(&r, a.Ptag, !!a.EnableRdmaWrite,
			    !!a.EnableRdmaRead);
		CHECK_RC(set(&r, NULL), VIP_SUCCESS);
		check_attrs(&r, NULL, VIP_FALSE, VIP_FALSE);
		CHECK_RC(set(&r, &a), VIP_SUCCESS);
		check_attrs(&r, a.Ptag, !!a.EnableRdmaWrite,
			    !!a.EnableRdmaRead);
		CHECK_RC(VipDeregisterMem(env.nic.h, r.p, r.h), VIP_SUCCESS);
	}
	about("registered with NULL");
	r = region(NULL);
	check_attrs(&r, NULL, VIP_FALSE, VIP_FALSE);
	about("bad ones");
	REQUIRE_RC(VipCreatePtag(env.nic.h, &stale), VIP_SUCCESS);
	REQUIRE_RC(VipDestroyPtag(env.nic.h, stale), VIP_SUCCESS);
	a = (VIP_MEM_ATTRIBUTES){ stale, VIP_TRUE, VIP_FALSE };
	CHECK_RC(set(&r, &a), VIP_INVALID_PTAG);
	a.Ptag = env.nic.h;
	CHECK_RC(set(&r, &a), VIP_INVALID_PTAG);
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(other, &a.Ptag), VIP_SUCCESS);
	CHECK_RC(set(&r, &a), VIP_INVALID_PTAG);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	check_attrs(&r, NULL, VIP_FALSE, VIP_FALSE);
	a = (VIP_MEM_ATTRIBUTES){ env.nic.ptag, VIP_FALSE, VIP_TRUE };
	CHECK_RC(set(&r, &a), can_read ? VIP_SUCCESS : VIP_INVALID_RDMAREAD);
	check_attrs(&r, can_read ? env.nic.ptag : NULL, VIP_FALSE, can_read);
}

static void tags(void)
{
	VIP_MEM_ATTRIBUTES a = { NULL, VIP_TRUE, VIP_FALSE }, b = a;
	struct region r, s;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &a.Ptag), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	r = region(&a);
	s = region(&a);
	about("one of two moves");
	CHECK_RC(set(&r, &b), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_ERROR_RESOURCE);
	about("the other, too");
	CHECK_RC(set(&s, &b), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, a.Ptag), VIP_SUCCESS);
	CHECK_RC(set(&s, &a), VIP_INVALID_PTAG);
	about("the same tag again");
	CHECK_RC(set(&s, &b), VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(env.nic.h, r.p, r.h), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_ERROR_RESOURCE);
	about("to the default one");
	CHECK_RC(set(&s, NULL), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(env.nic.h, s.p, s.h), VIP_SUCCESS);
}

/* The peer writes to our region; what is lost is written again. */
static void written(struct pair *p, const struct region *r)
{
	struct xfer x = peer_buf(0, LEN, 1), tx = peer_buf(20000, 10, 1);
	struct xfer rx = our_buf(0, 10, 1);
	struct tries t = { 0 };

	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = (uintptr_t)r->p;
	x.rhandle = r->h;
	memset(r->p, 0x77, LEN);
	do {
		peer_sends(p->pvi, &x);
		deliver_back(p, &tx, &rx);
	} while (pattern_wrong(r->p, x.seed, 0, LEN) && once_more(&t));
	CHECK_EQ(pattern_wrong(r->p, x.seed, 0, LEN), 0);
}

/* It tries, and we refuse: nothing is written, RDMAW_PROT says so. */
static void refused(struct pair *p, const struct region *r)
{
	unsigned int had = nic_errors(&env.nic, p->vi, VIP_ERROR_RDMAW_PROT);
	struct xfer x = peer_buf(0, LEN, 1);
	struct tries t = { 0 };
	unsigned int now;

	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = (uintptr_t)r->p;
	x.rhandle = r->h;
	memset(r->p, 0x77, LEN);
	do {
		CHECK_RC(peer_post(p->pvi, SENDQ, &x), VIP_SUCCESS);
		CHECK(peer_wait(p->pvi, SENDQ, LONG_MS).addr);
		now = nic_error_wait(&env.nic, p->vi, VIP_ERROR_RDMAW_PROT,
				     had + 1, patience(), NULL);
	} while (now == had && once_more(&t));
	CHECK(now > had);
	CHECK_EQ(bytes_other(r->p, 0x77, LEN), 0);
	if (!reliable()) {
		CHECK_EQ(vi_state(p->vi), VIP_STATE_CONNECTED);
		return;
	}
	CHECK_STATE(p->vi, VIP_STATE_ERROR);
	CHECK_PEER_STATE(p->pvi, VIP_STATE_ERROR);
	pair_reset(p);
}

/* A right given and taken while the connection stands. */
static void rights(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	struct region r = region(&a);
	VIP_PROTECTION_HANDLE tag;
	struct pair p;

	pair_open(&p, NULL);
	about("given");
	a.EnableRdmaWrite = VIP_TRUE;
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	written(&p, &r);
	about("taken");
	a.EnableRdmaWrite = VIP_FALSE;
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	refused(&p, &r);
	about("given again");
	a.EnableRdmaWrite = VIP_TRUE;
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	written(&p, &r);
	about("another tag");
	REQUIRE_RC(VipCreatePtag(env.nic.h, &tag), VIP_SUCCESS);
	a.Ptag = tag;
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	refused(&p, &r);
	about("NULL");
	CHECK_RC(set(&r, NULL), VIP_SUCCESS);
	refused(&p, &r);
	pair_close(&p);
}

/* Local use goes by the tag, and needs no right. */
static void local(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	struct xfer tx = our_buf(0, 2000, 1), rx = peer_buf(0, 2000, 1);
	struct region r = region(&a);
	VIP_PROTECTION_HANDLE tag;
	struct done d;
	struct pair p;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &tag), VIP_SUCCESS);
	tx.addr = (uintptr_t)r.p + XFER_MARGIN;
	tx.handle = r.h;
	pair_open(&p, NULL);
	deliver(&p, &tx, &rx);
	a.Ptag = tag;
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	pair_post(&p, SENDQ, &tx);
	d = wait_done(p.vi, SENDQ, LONG_MS);
	CHECK_RC(d.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(d.status & VIP_STATUS_PROTECTION_ERROR);
	if (reliable())
		pair_reset(&p);
	a.Ptag = env.nic.ptag;
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	deliver(&p, &tx, &rx);
	pair_close(&p);
}

struct setter {
	pthread_t thread;
	struct region r;
	VIP_MEM_ATTRIBUTES set[2];
	unsigned int *stop;
	unsigned int id, failed;
};

static void *set_main(void *arg)
{
	struct setter *s = arg;
	unsigned int i;

	for (i = 0; i < 200; i++)
		s->failed += VipSetMemAttributes(env.nic.h, s->r.p, s->r.h,
						 &s->set[i % 2]) !=
			     VIP_SUCCESS;
	return NULL;
}

static bool same(const VIP_MEM_ATTRIBUTES *a, const VIP_MEM_ATTRIBUTES *b)
{
	return a->Ptag == b->Ptag &&
	       a->EnableRdmaWrite == b->EnableRdmaWrite;
}

static void *look_main(void *arg)
{
	struct setter *s = arg;
	VIP_MEM_ATTRIBUTES a;

	while (!__atomic_load_n(s->stop, __ATOMIC_ACQUIRE))
		s->failed += VipQueryMem(env.nic.h, s->r.p, s->r.h, &a) !=
			     VIP_SUCCESS ||
			     (!same(&a, &s->set[0]) && !same(&a, &s->set[1]));
	return NULL;
}

/*
 * While threads change a region's attributes, and others ask, the peer may
 * write there by one of them only, which goes with another tag.
 */
static void threads(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_MEM_ATTRIBUTES b = { NULL, VIP_TRUE, VIP_FALSE };
	struct region r = region(&a);
	unsigned int i, stop = 0;
	struct setter s[4];
	struct xfer x;
	struct pair p;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &b.Ptag), VIP_SUCCESS);
	pair_open(&p, NULL);
	x = peer_buf(0, 100, 1);
	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = (uintptr_t)r.p;
	x.rhandle = r.h;
	memset(r.p, 0x77, LEN);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		s[i] = (struct setter){ .r = r, .set = { a, b }, .stop = &stop,
					.id = i };
		REQUIRE(!pthread_create(&s[i].thread, NULL,
					i < 2 ? set_main : look_main, &s[i]));
	}
	for (i = 0; i < 4; i++) {
		CHECK_RC(peer_post(p.pvi, SENDQ, &x), VIP_SUCCESS);
		peer_wait(p.pvi, SENDQ, LONG_MS);
	}
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		if (i == 2)
			__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
		pthread_join(s[i].thread, NULL);
		CHECK_EQ(s[i].failed, 0);
	}
	CHECK_EQ(bytes_other(r.p, 0x77, LEN), 0);
	CHECK_RC(set(&r, &a), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(env.nic.h, b.Ptag), VIP_SUCCESS);
	pair_close(&p);
}

static const struct group groups[] = {
	{ "memattr.names", "10.3 VipQueryMem, VipSetMemAttributes", names, 0,
	  0 },
	{ "memattr.values", "10.3, 14 NULL attributes", values, 0, 0 },
	{ "memattr.tags", "10.3 VipDestroyPtag, still used", tags, 0, 0 },
	{ "memattr.rights", "7.7 EnableRdmaWrite, set on a live region", rights,
	  G_PEER | G_LEVELS, 0 },
	{ "memattr.local", "7.10 Ptag, set on a live region", local,
	  G_PEER | G_LEVELS, 0 },
	{ "memattr.threads", "11 one region, many threads", threads,
	  G_PEER, 0 },
};

NOUN(memattr, groups);
