/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VIs of a NIC that are to send again (run.c). */
#ifndef _VIA_ETHER_RUN_H
#define _VIA_ETHER_RUN_H

#include <linux/types.h>

struct via_ether_nic;
struct via_ether_vi;
struct via_vi;
struct via_work;

/**
 * struct via_run_ops - what the tasklets of a NIC do, and the alarm
 * @resume:	send again.  False: the NIC takes no more.  sq.lock held
 * @acks:	at the alarm: acknowledge what is owed.  BH off, RCU read side
 * @visits:	after via_ether_run_soon().  Likewise
 */
struct via_run_ops {
	bool (*resume)(struct via_vi *vi, struct via_work *work);
	void (*acks)(struct via_ether_nic *nic, struct via_work *work);
	void (*visits)(struct via_ether_nic *nic, struct via_work *work);
};

/* -ENOMEM.  May sleep. */
int via_ether_run_init(struct via_ether_nic *nic, const struct via_run_ops *ops);
/* The NIC is stopping.  May sleep. */
void via_ether_run_stop(struct via_ether_nic *nic);
void via_ether_run_free(struct via_ether_nic *nic);
/* ops->visits is called after this softirq.  nic->lock held. */
void via_ether_run_soon(struct via_ether_nic *nic);
/* It has credit: it is resumed after this softirq.  pool_lock of its peer held. */
void via_ether_run(struct via_ether_vi *ev);
/* It does so now; false: the NIC takes no more.  BH off, no queue lock held. */
bool via_ether_run_now(struct via_ether_vi *ev, struct via_work *work);
/* The VI could not send: the NIC is full.  sq.lock held. */
void via_ether_tx_blocked(struct via_ether_vi *ev);
/* The NIC had no room for it, and it has not been tried since; any lock or none. */
bool via_ether_is_tx_blocked(const struct via_ether_vi *ev);
/* The VI is on no list.  nic->lock and the queue locks held. */
void via_ether_run_forget(struct via_ether_vi *ev);

#endif /* _VIA_ETHER_RUN_H */
