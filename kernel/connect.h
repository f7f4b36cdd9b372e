/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections: waiters, requests, verdicts. */
#ifndef _VIA_CONNECT_H
#define _VIA_CONNECT_H

#include <linux/string.h>
#include "file.h"

int via_conn_wait(struct via_file *f, struct via_conn_wait *arg);
int via_conn_accept(struct via_file *f, const struct via_conn_accept *arg);
int via_conn_reject(struct via_file *f, u32 id);
int via_conn_request(struct via_file *f, const struct via_conn_request *arg);
int via_conn_result(struct via_file *f, struct via_conn_result *arg);
void via_conn_destroy_all(struct via_file *f);
/* nic->dead is set: those that wait for requests leave. */
void via_conn_nic_gone(struct via_nic *nic);

/* Jiffies that never pass, and may be added to the clock. */
#define VIA_CONN_FOREVER MAX_JIFFY_OFFSET

struct via_conn *via_conn_alloc(struct via_nic *nic,
				const struct via_net_addr *local,
				const struct via_net_addr *remote,
				const struct via_vi_attrs *attrs,
				unsigned long deadline);
/* Give a request to a waiter: 0 or -ENOENT. */
int via_conn_offer(struct via_conn *conn);
/*
 * The program's request by id, taken off the list with its reference: the
 * caller is to answer it.  untake puts it back; false: the client has given up
 * meanwhile, the reference is still the caller's.
 */
struct via_conn *via_conn_take(struct via_file *f, u32 id);
bool via_conn_untake(struct via_file *f, struct via_conn *conn);

/*
 * How a request and a p2p request begin: what the program said is checked,
 * and its VI goes from Idle to Pending.  0 with a reference in @vi, and whether
 * the peer is on this host in @own; else a verdict.  file->mutex held.
 */
int via_conn_start(struct via_file *f, const struct via_conn_request *arg,
		   bool p2p, struct via_vi **vi, bool *own);
/* Pending to Connected; both queue locks held, and the state checked. */
void via_conn_make(struct via_vi *vi, const struct via_vi_attrs *attrs,
		   const struct via_transport_ops *xport,
		   struct via_vi *remote_vi);
/*
 * Pending to Idle, if the attempt is still the one meant: @conn is the
 * client's request on this host, or NULL.  No queue lock held.
 */
void via_conn_refuse(struct via_vi *vi, struct via_conn *conn, u32 verdict);
/* Pending to Idle, if the attempt's time is over.  No queue lock held. */
void via_conn_expire(struct via_vi *vi);
/* Drop the VI's reference to its own request, if it still has that one. */
void via_conn_forget(struct via_vi *vi, struct via_conn *conn);

static inline bool via_disc_equal(const struct via_net_addr *a,
				  const struct via_net_addr *b)
{
	return a->disc_len == b->disc_len &&
	       !memcmp(a->disc, b->disc, a->disc_len);
}

static inline bool via_addr_ok(const struct via_net_addr *a)
{
	return a->host_len <= VIA_ADDR_MAX && a->disc_len <= VIA_DISC_MAX;
}

static inline bool via_addr_is_own(const struct via_nic *nic,
				   const struct via_net_addr *a)
{
	return a->host_len == nic->addr_len &&
	       !memcmp(a->host, nic->addr, nic->addr_len);
}

/* Either queue lock held, or a hint. */
static inline bool via_conn_overdue(const struct via_vi *vi)
{
	return !READ_ONCE(vi->forever) &&
	       time_after_eq(via_now(), READ_ONCE(vi->deadline));
}

#endif
