/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VIs that are to send again, for each CPU: see ready.c. */
#ifndef _VIA_ETHER_READY_H
#define _VIA_ETHER_READY_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include "vi.h"

struct via_work;

/**
 * struct via_ready - VIs of a NIC that one CPU resumes
 * @tasklet:	constant: resumes them, after a softirq
 * @lock:	guards @list, and on.ready of the VIs on it; innermost
 * @list:	VIs, the one that came first before the others
 */
struct via_ready {
	struct tasklet_struct tasklet;
	spinlock_t lock;
	struct list_head list;
};

/* -ENOMEM.  @run: the function of the tasklets.  May sleep. */
int via_ready_init(struct via_ether_nic *nic,
		   void (*run)(struct tasklet_struct *t));
/* No VI is connected any more.  May sleep. */
void via_ready_stop(struct via_ether_nic *nic);
void via_ready_free(struct via_ether_nic *nic);

/*
 * This CPU resumes it after this softirq, unless another one will.  BH off, pool_lock
 * of its peer held; it waits for credit there, so it is connected until that is given
 * back.
 */
void via_ready_add(struct via_ether_vi *ev);
/* It waits for no credit any more.  Its queue locks held. */
void via_ready_del(struct via_ether_vi *ev);
/*
 * The first of the list, off it; NULL: there is none, or it is enough for now: then
 * the tasklet comes again.  RCU read side.
 */
struct via_ether_vi *via_ready_next(struct via_ready *r, struct via_work *work);

#endif /* _VIA_ETHER_READY_H */
