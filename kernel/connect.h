/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections: waiters, requests, verdicts. */
#ifndef _VIA_CONNECT_H
#define _VIA_CONNECT_H

#include "file.h"

int via_conn_wait(struct via_file *f, struct via_conn_wait *arg);
int via_conn_accept(struct via_file *f, const struct via_conn_accept *arg);
int via_conn_reject(struct via_file *f, u32 id);
int via_conn_request(struct via_file *f, const struct via_conn_request *arg);
int via_conn_result(struct via_file *f, struct via_conn_result *arg);
void via_conn_destroy_all(struct via_file *f);

/* A request "without" time limit is given up after a day. */
#define VIA_CONN_FOREVER (24 * 3600 * HZ)

struct via_conn *via_conn_alloc(struct via_nic *nic,
				const struct via_net_addr *local,
				const struct via_net_addr *remote,
				const struct via_vi_attrs *attrs,
				unsigned long deadline);
/* Give a request to a waiter: 0 or -ENOENT. */
int via_conn_offer(struct via_conn *conn);

/*
 * Pending to Connected, if the attempt is still the one meant: @conn is the
 * client's request on this host, or NULL where the device has checked.
 */
bool via_conn_join(struct via_vi *vi, struct via_conn *conn,
		   const struct via_vi_attrs *attrs,
		   const struct via_transport_ops *xport, struct via_vi *peer);
/* Pending to Idle, likewise. */
void via_conn_refuse(struct via_vi *vi, struct via_conn *conn, u32 verdict);
/* Drop the VI's reference to its own request. */
void via_conn_forget(struct via_vi *vi);

#endif
