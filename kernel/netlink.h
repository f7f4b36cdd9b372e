/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Configuration by an administrator: uapi/via_netlink.h.  What functions
 * return: see via_ka.h.
 */
#ifndef _VIA_NETLINK_H
#define _VIA_NETLINK_H

#include "via_ka.h"

int via_netlink_init(void);
void via_netlink_exit(void);

/* Tell that a NIC is there, or has gone: for via_nics_init(). */
void via_netlink_nic(struct via_nic *nic, enum via_nl_cmd cmd);

#endif
