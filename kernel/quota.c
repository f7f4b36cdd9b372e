// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Quotas per user.  The limits of a NIC and of a handle are for all; these
 * keep one user from having everything.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait.h>
#include "ends.h"
#include "quota.h"

/* The capability to have more: as for RLIMIT_MEMLOCK, and for the rest. */
static const struct {
	const char *name;
	unsigned long initial;
	int exempt;
} via_quotas[VIA_QUOTAS] = {
	[VIA_QUOTA_HANDLES] = { "handles", 1024, CAP_SYS_RESOURCE },
	[VIA_QUOTA_VIS] = { "vi", 2048, CAP_SYS_RESOURCE },
	/* So many VIs may have the longest rings. */
	[VIA_QUOTA_VI_PAGES] = { "vi_pages", 2048 * 40, CAP_SYS_RESOURCE },
	/* via_quota_init(): half of the machine's. */
	[VIA_QUOTA_PAGES] = { "pages", 0, CAP_IPC_LOCK },
	[VIA_QUOTA_CQ_PAGES] = { "cq_pages", 16384, CAP_SYS_RESOURCE },
	[VIA_QUOTA_WAITERS] = { "waiters", 2048, CAP_SYS_RESOURCE },
	[VIA_QUOTA_QUERIES] = { "queries", 16, CAP_SYS_RESOURCE },
};

/* Set by via_netlink.h's LIMIT_SET; one value each, so there is no lock. */
static unsigned long via_quota_limit[VIA_QUOTAS];

const char *via_quota_name(enum via_quota_kind what)
{
	return via_quotas[what].name;
}

unsigned long via_quota_most(enum via_quota_kind what)
{
	return READ_ONCE(via_quota_limit[what]);
}

void via_quota_set_most(enum via_quota_kind what, unsigned long most)
{
	WRITE_ONCE(via_quota_limit[what], most);
}

/**
 * struct via_uid - one uid with open handles
 * @node:	via_uids_mutex: in via_uids
 * @uid:	constant
 * @refs:	via_uids_mutex: struct via_quota that name it
 * @used:	of each quota
 * @expected:	things that will be settled
 * @settles:	things that were
 * @settled:	threads that wait for more of it
 */
struct via_uid {
	struct hlist_node node;
	kuid_t uid;
	u32 refs;
	atomic_long_t used[VIA_QUOTAS];
	atomic_long_t expected;
	atomic_long_t settles;
	wait_queue_head_t settled;
};

/**
 * struct via_quota - the uids that pay for a handle
 * @n:		constant: of @uid
 * @uid:	constant: no two alike; a reference to each is held
 */
struct via_quota {
	u32 n;
	struct via_uid *uid[];
};

static DEFINE_MUTEX(via_uids_mutex);	/* guards the table, and references */
static DEFINE_HASHTABLE(via_uids, 6);

static struct via_uid *via_uid_find(kuid_t uid)
{
	struct via_uid *u;

	lockdep_assert_held(&via_uids_mutex);
	hash_for_each_possible(via_uids, u, node, __kuid_val(uid)) {
		if (uid_eq(u->uid, uid)) {
			u->refs++;
			return u;
		}
	}
	return NULL;
}

/* Memory is taken without the mutex: ends want that, and do not wait for it. */
static struct via_uid *via_uid_get(kuid_t uid)
{
	struct via_uid *new, *u;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->uid = uid;
	new->refs = 1;
	init_waitqueue_head(&new->settled);
	mutex_lock(&via_uids_mutex);
	u = via_uid_find(uid);
	if (!u)
		hash_add(via_uids, &new->node, __kuid_val(uid));
	mutex_unlock(&via_uids_mutex);
	if (!u)
		return new;
	kfree(new);
	return u;
}

static void via_uid_put(struct via_uid *u)
{
	lockdep_assert_held(&via_uids_mutex);
	if (--u->refs)
		return;
	hash_del(&u->node);
	kfree(u);
}

/* Add a payer, unless it is one.  False: no memory. */
static bool via_quota_add(struct via_quota *quota, kuid_t uid)
{
	u32 i;

	for (i = 0; i < quota->n; i++)
		if (uid_eq(quota->uid[i]->uid, uid))
			return true;
	quota->uid[quota->n] = via_uid_get(uid);
	return quota->uid[quota->n] && ++quota->n;
}

struct via_quota *via_quota_get(void)
{
	struct user_namespace *ns = current_user_ns();
	struct via_quota *quota;
	bool ok;

	/* One for each level of namespaces, the initial one is level 0. */
	quota = kzalloc(struct_size(quota, uid, ns->level + 1),
			GFP_KERNEL_ACCOUNT);
	if (!quota)
		return NULL;
	ok = via_quota_add(quota, current_uid());
	for (; ok && ns->parent; ns = ns->parent)
		ok = via_quota_add(quota, ns->owner);
	if (ok)
		return quota;
	via_quota_put(quota);
	return NULL;
}

struct via_quota *via_quota_none(void)
{
	return kzalloc(sizeof(struct via_quota), GFP_KERNEL_ACCOUNT);
}

void via_quota_put(struct via_quota *quota)
{
	u32 i;

	mutex_lock(&via_uids_mutex);
	for (i = 0; i < quota->n; i++)
		via_uid_put(quota->uid[i]);
	mutex_unlock(&via_uids_mutex);
	kfree(quota);
}

static bool via_uid_charge(struct via_uid *u, enum via_quota_kind what,
			   unsigned long n, bool exempts)
{
	unsigned long most = via_quota_most(what);
	long old = atomic_long_read(&u->used[what]);

	do {
		if (most && (n > most || old > most - n) &&
		    !(exempts && capable(via_quotas[what].exempt)))
			return false;
	} while (!atomic_long_try_cmpxchg(&u->used[what], &old, old + n));
	return true;
}

static void via_quota_uncharge_some(struct via_quota *quota, u32 count,
				    enum via_quota_kind what, unsigned long n)
{
	u32 i;

	for (i = 0; i < count; i++)
		atomic_long_sub(n, &quota->uid[i]->used[what]);
}

static bool via_quota_charge_all(struct via_quota *quota,
				 enum via_quota_kind what, unsigned long n,
				 bool exempts)
{
	u32 i;

	for (i = 0; i < quota->n; i++) {
		if (!via_uid_charge(quota->uid[i], what, n, exempts)) {
			via_quota_uncharge_some(quota, i, what, n);
			return false;
		}
	}
	return true;
}

bool via_quota_charge(struct via_quota *quota, enum via_quota_kind what,
		      unsigned long n)
{
	return via_quota_charge_all(quota, what, n, true);
}

bool via_quota_charge_any(struct via_quota *quota, enum via_quota_kind what,
			  unsigned long n)
{
	return via_quota_charge_all(quota, what, n, false);
}

void via_quota_charge_again(struct via_quota *quota, enum via_quota_kind what,
			    unsigned long n)
{
	u32 i;

	for (i = 0; i < quota->n; i++)
		atomic_long_add(n, &quota->uid[i]->used[what]);
}

void via_quota_uncharge(struct via_quota *quota, enum via_quota_kind what,
			unsigned long n)
{
	via_quota_uncharge_some(quota, quota->n, what, n);
}

void via_quota_expect(struct via_quota *quota, unsigned long n)
{
	u32 i;

	for (i = 0; i < quota->n; i++)
		atomic_long_add(n, &quota->uid[i]->expected);
}

void via_quota_settle(struct via_quota *quota, enum via_quota_kind what,
		      unsigned long n)
{
	struct via_uid *u;
	u32 i;

	via_quota_uncharge(quota, what, n);
	for (i = 0; i < quota->n; i++) {
		u = quota->uid[i];
		/* Nothing is expected: what was charged has been given back. */
		smp_mb__before_atomic();
		atomic_long_sub(n, &u->expected);
		/* Something is expected: its settling is still to be counted. */
		smp_mb__before_atomic();
		atomic_long_inc(&u->settles);
		/* Any context, but it may be that of an end: see ends.h. */
		wake_up_all(&u->settled);
	}
}

void via_quota_sample(struct via_quota *quota, struct via_quota_look *look)
{
	u32 i;

	look->uid = NULL;
	for (i = 0; !look->uid && i < quota->n; i++) {
		/* What is settled from here on ends the wait. */
		look->settles = atomic_long_read(&quota->uid[i]->settles);
		/* Pairs with the second barrier in via_quota_settle(). */
		smp_rmb();
		if (atomic_long_read(&quota->uid[i]->expected))
			look->uid = quota->uid[i];
	}
	/* Pairs with the first one. */
	smp_rmb();
}

bool via_quota_wait(const struct via_quota_look *look)
{
	struct via_uid *u = look->uid;

	if (!u)
		return false;
	via_end_awaited();
	return !wait_event_killable(u->settled,
				    atomic_long_read(&u->settles) !=
				    look->settles);
}

void __init via_quota_init(void)
{
	enum via_quota_kind i;

	for (i = 0; i < VIA_QUOTAS; i++)
		via_quota_limit[i] = via_quotas[i].initial;
	via_quota_limit[VIA_QUOTA_PAGES] = totalram_pages() / 2;
}
