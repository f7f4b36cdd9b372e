/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hosts of a NIC and their keys, kept for as long as what they were set for
 * is there: see policy.c.  What functions return: see via_ka.h.
 */
#ifndef _VIA_POLICY_H
#define _VIA_POLICY_H

#include "via_ka.h"

int via_policies_init(void);
void via_policies_exit(void);

/*
 * Give the NIC, which is not published yet, the list that is kept for it.
 * Nonzero: it may not be published.  May sleep.
 */
int via_policy_apply(struct via_nic *nic);
/* The NIC is published: the kernel's log tells which list it has. */
void via_policy_log(const struct via_nic *nic);
/* The NIC is gone, or was never published; what is kept for it stays. */
void via_policy_release(const struct via_nic *nic);

/*
 * An administrator's change: ops->peers_edit(), and its result is kept.  In a
 * read side of the NIC, nic->admin_mutex held.  Returns 0, or -errno with @why.
 */
int via_policy_edit(struct via_nic *nic, const struct via_peers_edit *edit,
		    enum via_refusal *why);

#endif
