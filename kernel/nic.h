/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registry of VI NICs.  What functions return: see via_ka.h. */
#ifndef _VIA_NIC_H
#define _VIA_NIC_H

#include <linux/fs.h>
#include "via_ka.h"

/*
 * @fops: of device nodes; @told: called when a NIC is there, or has gone, with the
 * registry's mutex held.  0 or -errno.
 */
int via_nics_init(const struct file_operations *fops,
		  void (*told)(struct via_nic *nic, enum via_nl_cmd cmd));
void via_nics_exit(void);

/*
 * The NIC behind a minor number, with references on it and its module, or NULL.
 * May sleep.  close drops both.
 */
struct via_nic *via_nic_open(int minor);
void via_nic_close(struct via_nic *nic);

/*
 * The NIC of that name, or (NULL) of that interface, that is seen in the
 * namespace; the first one from that minor number on, which becomes its.  With
 * a reference to it, and none to its module: its device is called between
 * via_nic_enter() and via_nic_leave() only, and nic->ops is read there only.
 * Or NULL.  May sleep.
 */
struct via_nic *via_nic_find(const struct net *net, const char *name,
			     u32 ifindex);
struct via_nic *via_nic_from(const struct net *net, int *minor);

/*
 * A handle among the NIC's; -ENXIO: the NIC is gone.  next: the first one with a
 * serial number above @serial, with a reference, or NULL.  All may sleep.
 */
int via_nic_add_file(struct via_nic *nic, struct via_file *f);
void via_nic_remove_file(struct via_nic *nic, struct via_file *f);
struct via_file *via_nic_next_file(struct via_nic *nic, u64 serial);

/* Of all VIs that the NIC has had.  Process context. */
void via_nic_totals(struct via_nic *nic, struct via_totals *sum);

/*
 * A VI's index and id: reserved, with the VI in the table, free again.  Process
 * context, file->mutex held.  -ENOSPC: the NIC has as many VIs as it can.
 * publish is the last step of making a VI; readers may be at one that was
 * removed for an RCU grace period.
 */
int via_nic_add_vi(struct via_nic *nic, struct via_vi *vi);
void via_nic_publish_vi(struct via_nic *nic, struct via_vi *vi);
void via_nic_remove_vi(struct via_nic *nic, struct via_vi *vi);

#endif
