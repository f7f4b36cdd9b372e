/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VIs that owe an acknowledgement, for each CPU: see owed.c. */
#ifndef _VIA_ETHER_OWED_H
#define _VIA_ETHER_OWED_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include "vi.h"

struct via_work;

#define VIA_OWED_LISTS	16u
#define VIA_OWED_SLOTS	64u	/* half a KiB of a CPU */

/**
 * struct via_owed - what one CPU has found that a NIC's VIs owe
 * @pay:	constant: the tasklet that acknowledges it
 * @lock:	guards all below, and on.owing and on.behind of the VIs on @list;
 *		innermost
 * @filled:	bits of lists that are not empty; READ_ONCE() without the lock
 * @turn:	the list that comes next
 * @list:	VIs, by a hash of their peer
 * @delayed:	of the VIs that send on this CPU, the one that has last delayed an
 *		acknowledgement, by a hash of its peer, for data of another VI to
 *		carry it; NULL: none has.  Set without @lock; xchg(), cmpxchg(),
 *		READ_ONCE()
 */
struct via_owed {
	struct tasklet_struct pay;
	spinlock_t lock;
	u32 filled;
	u32 turn;
	struct list_head list[VIA_OWED_LISTS];
	struct via_ether_vi *delayed[VIA_OWED_SLOTS];
};

/* This CPU's; BH off. */
static inline struct via_owed *via_owed_here(const struct via_ether_nic *nic)
{
	return this_cpu_ptr(nic->owed);
}

/* Where a CPU has what VIs of this one's peer have delayed. */
static inline struct via_ether_vi **via_owed_slot(struct via_owed *o,
						  const struct via_ether_vi *ev)
{
	return &o->delayed[ev->peer->hash % VIA_OWED_SLOTS];
}

void __via_owed_delay(struct via_owed *o, struct via_ether_vi *ev);

/*
 * It has delayed its acknowledgement.  The data before which that may go is sent where
 * the program runs, perhaps not here.  BH off, rq.lock held, and it is connected.
 */
static inline void via_owed_delay(struct via_ether_vi *ev)
{
	u32 cpu = READ_ONCE(ev->snd.cpu);
	struct via_owed *o = unlikely(cpu == VIA_CPU_NONE) ?
			     via_owed_here(ev->nic) :
			     per_cpu_ptr(ev->nic->owed, cpu);

	if (unlikely(READ_ONCE(*via_owed_slot(o, ev)) != ev))
		__via_owed_delay(o, ev);
}

/* A VI that sends on this CPU, most probably of the same peer, has done so.  BH off. */
static inline bool via_owed_is_delayed(const struct via_ether_vi *ev)
{
	return READ_ONCE(*via_owed_slot(via_owed_here(ev->nic), ev));
}

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
/*
 * Data of @ev goes, so what another VI of its peer in a slot of this CPU has delayed
 * is to follow: true: it is on this CPU's list.  BH off, sq.lock held.
 */
bool via_owed_behind(const struct via_ether_vi *ev);
/* It owes nothing, and has its peer yet.  nic->lock held, and both queue locks. */
void via_owed_del(struct via_ether_vi *ev);
/* The list whose turn it is; VIA_OWED_LISTS: all are empty. */
u32 via_owed_turn(struct via_owed *o);
/*
 * The next VI of list @n, which owes no more from here on; @last: none is behind it.
 * NULL: there is none, or it is enough for now.  RCU read side.
 */
struct via_ether_vi *via_owed_next(struct via_owed *o, u32 n, bool *behind,
				   bool *last, struct via_work *work);

#endif /* _VIA_ETHER_OWED_H */
