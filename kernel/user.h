/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What one user has, in all its processes and on all NICs, and may have. */
#ifndef _VIA_USER_H
#define _VIA_USER_H

#include <linux/types.h>

struct via_user;

enum via_quota {
	VIA_QUOTA_HANDLES,		/* open NIC handles */
	VIA_QUOTA_VIS,
	VIA_QUOTA_PAGES,		/* pinned */
	VIA_QUOTAS
};

/*
 * The caller's user, one handle charged; -ENOMEM, -EMFILE.  May sleep, as
 * may via_user_put().
 */
struct via_user *via_user_get(void);
/* The handle is gone, and what was charged through it uncharged. */
void via_user_put(struct via_user *u);
/* False: more than the quota, and the caller may not exceed it. */
bool via_user_charge(struct via_user *u, enum via_quota what,
		     unsigned long n);
void via_user_uncharge(struct via_user *u, enum via_quota what,
		       unsigned long n);

#endif
