/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames without data, as they come (control.c).  BH off, RCU read side. */
#ifndef _VIA_CONTROL_H
#define _VIA_CONTROL_H

struct via_ether_frame;
struct via_ether_nic;
struct via_frame_hdr;

/* ACK, DISCONNECT: those on a connection. */
void via_ether_rx_on_conn(struct via_ether_nic *nic,
			  const struct via_frame_hdr *h,
			  const struct via_ether_frame *f);
/* Those that are about connections, not on one. */
void via_ether_control_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h);

#endif /* _VIA_CONTROL_H */
