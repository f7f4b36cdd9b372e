/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What one user has, in all its processes and on all NICs, and may have.  What
 * functions return: see via_ka.h.
 */
#ifndef _VIA_QUOTA_H
#define _VIA_QUOTA_H

#include <linux/init.h>
#include <linux/types.h>

struct via_quota;
struct via_uid;

enum via_quota_kind {
	VIA_QUOTA_HANDLES,		/* open NIC handles */
	VIA_QUOTA_VIS,
	VIA_QUOTA_VI_PAGES,		/* of their rings, but the first of each */
	VIA_QUOTA_PAGES,		/* pinned */
	VIA_QUOTA_CQ_PAGES,		/* of completion-queue rings */
	VIA_QUOTA_WAITERS,		/* places: see connect.c */
	VIA_QUOTA_QUERIES,		/* name questions under way */
	VIA_QUOTAS
};

/* The limits as they are until they are set. */
void __init via_quota_init(void);

/*
 * What a quota is called, and how much it is; 0: no limit.  A quota that is
 * lowered takes nothing away.  Any context.
 */
const char *via_quota_name(enum via_quota_kind what);
unsigned long via_quota_most(enum via_quota_kind what);
void via_quota_set_most(enum via_quota_kind what, unsigned long most);

/*
 * What the caller pays with: its uid, and the owner of each user namespace
 * that it is in, so that uids which a user has been given to map are that
 * user's.  NULL: no memory.  May sleep, as may via_quota_put().
 */
struct via_quota *via_quota_get(void);
/* Of no user: it has no limit.  NULL: no memory.  May sleep. */
struct via_quota *via_quota_none(void);
/* All that was charged through it has been uncharged. */
void via_quota_put(struct via_quota *quota);

/*
 * False: one of them would have more than its quota, and the caller may not
 * exceed it.  Process context, or any without sleeping.
 */
bool via_quota_charge(struct via_quota *quota, enum via_quota_kind what,
		      unsigned long n);
/* The same without capabilities: the current process need not be the owner's. */
bool via_quota_charge_any(struct via_quota *quota, enum via_quota_kind what,
			  unsigned long n);
/* Without a question: what is charged has been asked for before. */
void via_quota_charge_again(struct via_quota *quota, enum via_quota_kind what,
			    unsigned long n);
/* Any context. */
void via_quota_uncharge(struct via_quota *quota, enum via_quota_kind what,
			unsigned long n);

/*
 * Things whose memory is still charged and on its way: expect when they end,
 * settle (which uncharges) when it is free.  Any context.
 */
void via_quota_expect(struct via_quota *quota, unsigned long n);
void via_quota_settle(struct via_quota *quota, enum via_quota_kind what,
		      unsigned long n);

/**
 * struct via_quota_look - what a user expected before it was charged
 * @uid:	that expects something, or NULL
 * @settles:	of @uid
 *
 * What a user has ended has time to be gone before a charge is refused for good:
 * look, charge, and where that fails wait, then begin again.  via_quota_wait()
 * says false when nothing was expected, or the thread is killed.  It sleeps, and
 * wants no lock held: see ends.h.  The quota stays meanwhile.
 */
struct via_quota_look {
	struct via_uid *uid;
	long settles;
};

void via_quota_sample(struct via_quota *quota, struct via_quota_look *look);
bool via_quota_wait(const struct via_quota_look *look);

#endif
