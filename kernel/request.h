/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiters and backlogs, for request.c and for what tells of them.
 */
#ifndef _VIA_REQUEST_H
#define _VIA_REQUEST_H

#include "connect.h"

/**
 * struct via_waiter - a program in VipConnectWait
 * @place:	nic->conn.lock: in nic->conn.waiting until matched
 * @by_id:	nic->conn.lock: in nic->conn.waiters, by @id
 * @own:	nic->conn.lock: on file->waiters
 * @file:	constant: the program's handle; there while in nic->conn.waiters
 * @id:		constant
 * @busy:	nic->conn.lock: a thread sleeps on it, or it is a backlog
 * @keeps:	constant: it is a backlog's, in nic->conn.backlogs instead
 * @local:	constant: address waited on
 * @conn:	nic->conn.lock: the request that matched
 * @wait:	the sleeper
 */
struct via_waiter {
	struct via_table_node place;
	struct via_order_node by_id;
	struct list_head own;
	struct via_file *file;
	u32 id;
	bool busy;
	bool keeps;
	struct via_net_addr local;
	struct via_conn *conn;
	wait_queue_head_t wait;
};

/**
 * struct via_backlog - a program that listens on an address
 * @w:		its place among waiters; no thread sleeps on it
 * @most:	nic->conn.lock: requests kept at once
 * @count:	nic->conn.lock: requests in @kept
 * @kept:	nic->conn.lock: in the order in which they came
 * @notice:	tells the program that one has come
 */
struct via_backlog {
	struct via_waiter w;
	u32 most;
	u32 count;
	struct list_head kept;
	struct via_notice notice;
};

/* The first one of that id, or a higher one; or NULL.  nic->conn.lock held. */
static inline struct via_conn *via_conn_from(const struct via_nic *nic,
					     u64 id)
{
	struct via_order_node *n = via_order_from(&nic->conn.conns, id);

	return n ? container_of(n, struct via_conn, by_id) : NULL;
}

static inline struct via_waiter *via_waiter_from(const struct via_nic *nic,
						 u64 id)
{
	struct via_order_node *n = via_order_from(&nic->conn.waiters, id);

	return n ? container_of(n, struct via_waiter, by_id) : NULL;
}

#endif
