/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of hosts by frames of the class (name.c). */
#ifndef _VIA_ETHER_NAME_H
#define _VIA_ETHER_NAME_H

struct via_ether_frame;
struct via_ether_nic;
struct via_frame_hdr;
struct via_names;
struct via_nic;

/* ops->resolve: 0, -EINTR or -ENOMEM.  Sleeps. */
int via_ether_resolve(struct via_nic *ka, struct via_names *q);
/* Those that ask for names return at once, now and from now on. */
void via_ether_names_end(struct via_ether_nic *nic);
void via_ether_name_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h);

#endif /* _VIA_ETHER_NAME_H */
