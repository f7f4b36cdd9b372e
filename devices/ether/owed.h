/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VIs that owe an acknowledgement, for each CPU: see owed.c. */
#ifndef _VIA_ETHER_OWED_H
#define _VIA_ETHER_OWED_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct via_ether_nic;
struct via_ether_vi;
struct via_work;

#define VIA_OWED_LISTS	16u

/**
 * struct via_owed - what one CPU has found that a NIC's VIs owe
 * @pay:	constant: the tasklet that acknowledges it
 * @lock:	guards all below, and on.owing and on.behind of the VIs on @list;
 *		innermost
 * @filled:	bits of lists that are not empty; READ_ONCE() without the lock
 * @turn:	the list that comes next
 * @list:	VIs, by a hash of their peer
 */
struct via_owed {
	struct tasklet_struct pay;
	spinlock_t lock;
	u32 filled;
	u32 turn;
	struct list_head list[VIA_OWED_LISTS];
};

/* -ENOMEM.  @pay: the function of the tasklets.  May sleep. */
int via_owed_init(struct via_ether_nic *nic,
		  void (*pay)(struct tasklet_struct *t));
/* No VI is connected any more.  May sleep. */
void via_owed_stop(struct via_ether_nic *nic);
void via_owed_free(struct via_ether_nic *nic);

/*
 * To this CPU's list; @behind: data of another VI goes before it.  False: it owed
 * before.  BH off; the VI is connected, and a queue lock of it or nic->lock held,
 * so that it stays so.
 */
bool via_owed_add(struct via_ether_vi *ev, bool behind);
/* It owes nothing, and has its peer yet.  nic->lock held, and both queue locks. */
void via_owed_del(struct via_ether_vi *ev);
/* This CPU's; BH off. */
struct via_owed *via_owed_here(struct via_ether_nic *nic);
/* The list whose turn it is; VIA_OWED_LISTS: all are empty. */
u32 via_owed_turn(struct via_owed *o);
/*
 * The next VI of list @n, which owes no more from here on; @last: none is behind it.
 * NULL: there is none, or it is enough for now.  RCU read side.
 */
struct via_ether_vi *via_owed_next(struct via_owed *o, u32 n, bool *behind,
				   bool *last, struct via_work *work);

#endif /* _VIA_ETHER_OWED_H */
