// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Quotas per user.  The limits of a NIC and of a handle are for all; these
 * keep one user from having everything.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "user.h"

static unsigned long max_user_handles = 1024;
module_param(max_user_handles, ulong, 0644);
MODULE_PARM_DESC(max_user_handles,
		 "NIC handles of one user, 0: no limit (default 1024)");

static unsigned long max_user_vi = 2048;
module_param(max_user_vi, ulong, 0644);
MODULE_PARM_DESC(max_user_vi,
		 "VIs of one user on all NICs, 0: no limit (default 2048)");

static unsigned long max_user_pages;
module_param(max_user_pages, ulong, 0644);
MODULE_PARM_DESC(max_user_pages,
		 "Pages one user may pin in all processes together, 0: no limit");

/* Who may have more: as for RLIMIT_MEMLOCK, and for the rest. */
static const struct {
	unsigned long *most;
	int exempt;
} via_quotas[VIA_QUOTAS] = {
	[VIA_QUOTA_HANDLES] = { &max_user_handles, CAP_SYS_RESOURCE },
	[VIA_QUOTA_VIS] = { &max_user_vi, CAP_SYS_RESOURCE },
	[VIA_QUOTA_PAGES] = { &max_user_pages, CAP_IPC_LOCK },
};

/**
 * struct via_user - one user with open handles
 * @link:	via_users_mutex
 * @uid:	constant
 * @used:	of each quota; the last handle's end frees it
 */
struct via_user {
	struct list_head link;
	kuid_t uid;
	atomic_long_t used[VIA_QUOTAS];
};

static DEFINE_MUTEX(via_users_mutex);	/* guards the list, and handles */
static LIST_HEAD(via_users);

static struct via_user *via_user_find(kuid_t uid)
{
	struct via_user *u;

	list_for_each_entry(u, &via_users, link)
		if (uid_eq(u->uid, uid))
			return u;
	u = kzalloc(sizeof(*u), GFP_KERNEL);
	if (u) {
		u->uid = uid;
		list_add(&u->link, &via_users);
	}
	return u;
}

static void via_user_drop(struct via_user *u)
{
	if (atomic_long_read(&u->used[VIA_QUOTA_HANDLES]))
		return;
	list_del(&u->link);
	kfree(u);
}

struct via_user *via_user_get(void)
{
	struct via_user *u;

	mutex_lock(&via_users_mutex);
	u = via_user_find(current_uid());
	if (!u) {
		u = ERR_PTR(-ENOMEM);
	} else if (!via_user_charge(u, VIA_QUOTA_HANDLES, 1)) {
		via_user_drop(u);
		u = ERR_PTR(-EMFILE);
	}
	mutex_unlock(&via_users_mutex);
	return u;
}

void via_user_put(struct via_user *u)
{
	mutex_lock(&via_users_mutex);
	via_user_uncharge(u, VIA_QUOTA_HANDLES, 1);
	via_user_drop(u);
	mutex_unlock(&via_users_mutex);
}

bool via_user_charge(struct via_user *u, enum via_quota what, unsigned long n)
{
	unsigned long most = READ_ONCE(*via_quotas[what].most);
	long old = atomic_long_read(&u->used[what]);

	do {
		if (most && (n > most || old > most - n) &&
		    !capable(via_quotas[what].exempt))
			return false;
	} while (!atomic_long_try_cmpxchg(&u->used[what], &old, old + n));
	return true;
}

void via_user_uncharge(struct via_user *u, enum via_quota what,
		       unsigned long n)
{
	atomic_long_sub(n, &u->used[what]);
}
