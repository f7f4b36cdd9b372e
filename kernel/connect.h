/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections: waiters, requests, verdicts.
 *
 * int is a call's result, VIA_R_* or -errno, but for via_conn_offer(); the
 * other conventions are in via_ka.h.
 */
#ifndef _VIA_CONNECT_H
#define _VIA_CONNECT_H

#include <linux/string.h>
#include "file.h"
#include "via_conn.h"

/**
 * via_conn_wait() - VIA_IOC_CONN_WAIT: until a request comes
 * @f:		the handle; no lock is held
 * @arg:	address and time; gets the request, or with -EINTR the waiter
 *		to go on with
 *
 * Sleeps, unless a backlog of the handle keeps a request.  A request that it
 * returns is in nic->conn.conns, with the reference and the place that its waiter or
 * the backlog had.
 *
 * Return: a call's result: 0, VIA_R_TIMEOUT, VIA_R_INVALID_PARAMETER,
 * VIA_R_ERROR_RESOURCE, -EINTR, or -ESHUTDOWN.
 */
int via_conn_wait(struct via_file *f, struct via_conn_wait *arg);

/**
 * via_conn_listen() - VIA_IOC_CONN_LISTEN: keep requests, or no more
 * @f:		its mutex is held
 * @arg:	address and backlog
 *
 * May sleep.  Requests that the new backlog has no room for are rejected.
 *
 * Return: a call's result: 0, VIA_R_INVALID_PARAMETER or VIA_R_ERROR_RESOURCE.
 */
int via_conn_listen(struct via_file *f, const struct via_conn_listen *arg);

/**
 * via_conn_accept() - VIA_IOC_CONN_ACCEPT: answer a request with a VI
 * @f:		its mutex is held
 * @arg:	ids of the request and the VI
 *
 * May sleep.  When the two do not fit, or the VI is not Idle, the request is
 * put back: the program may accept it with another VI.
 *
 * Return: a call's result: 0, and the verdict comes by via_conn_result(); or
 * VIA_R_*: no attempt has begun.
 */
int via_conn_accept(struct via_file *f, const struct via_conn_accept *arg);

/*
 * VIA_IOC_CONN_REJECT.  file->mutex held; may sleep.  A call's result: 0 or
 * VIA_R_INVALID_PARAMETER (no such request).
 */
int via_conn_reject(struct via_file *f, u32 id);

/*
 * VIA_IOC_CONN_REQUEST: an attempt begins.  file->mutex held; may sleep.  A
 * call's result: 0, and the verdict comes by via_conn_result(); or VIA_R_*: no
 * attempt has begun.
 */
int via_conn_request(struct via_file *f, const struct via_conn_request *arg);

/**
 * via_conn_result() - VIA_IOC_CONN_RESULT: the verdict of an attempt, once
 * @f:		the handle; no lock is held
 * @arg:	the VI, the kind of attempt, whether to wait; gets the peer's
 *		attributes with verdict 0
 *
 * Sleeps unless VIA_CONN_NOWAIT is set.
 *
 * Return: a call's result: the verdict, VIA_R_NOT_DONE (under way),
 * VIA_R_INVALID_STATE (no such attempt, or it was told), -EINTR, or -EINVAL.
 */
int via_conn_result(struct via_file *f, struct via_conn_result *arg);

/*
 * What waits or is unanswered of a handle that ends; requests are rejected.
 * file->mutex held, file->dead set; may sleep.
 */
void via_conn_destroy_all(struct via_file *f);
/*
 * nic->dead is set: those that wait for requests leave.  Takes nic->conn.lock;
 * does not sleep.
 */
void via_conn_nic_gone(struct via_nic *nic);

/**
 * struct via_conn_view - a waiter, a backlog or a request, as an administrator is told
 * @file:	the program's handle, a reference is held
 * @id:		among waiters and backlogs, or among requests
 * @most:	requests that a backlog keeps; of a waiter 0
 * @count:	requests that it has
 * @local:	the program's address
 * @remote:	the client's; of a waiter nothing
 */
struct via_conn_view {
	struct via_file *file;
	u32 id;
	u32 most;
	u32 count;
	struct via_net_addr local;
	struct via_net_addr remote;
};

/*
 * The waiter, or the request, of the lowest id above @after that belongs to
 * @uid (INVALID_UID: to any user); false: there is none.  Each takes
 * nic->conn.lock and passes by those of other users.  Process context.
 */
bool via_waiter_next(struct via_nic *nic, kuid_t uid, u32 after,
		     struct via_conn_view *view);
bool via_request_next(struct via_nic *nic, kuid_t uid, u32 after,
		      struct via_conn_view *view);

/* Jiffies that never pass, and may be added to the clock. */
#define VIA_CONN_FOREVER MAX_JIFFY_OFFSET

/*
 * A request with one reference, the caller's, on no list; NULL: no memory.  Any
 * context.
 */
struct via_conn *via_conn_alloc(struct via_nic *nic,
				const struct via_net_addr *local,
				const struct via_net_addr *remote,
				const struct via_vi_attrs *attrs,
				unsigned long deadline);
/*
 * Give a request to a listener, a waiter or a backlog, which takes a reference: 0,
 * also when it was cancelled before, or -ENOENT.  Takes nic->conn.lock; any context but hard
 * interrupts, no queue lock held.
 */
int via_conn_offer(struct via_conn *conn);
/*
 * The program's request by id, taken off the list with its reference: the
 * caller is to answer it; NULL: no such request.  untake puts it back; false:
 * the client has given up meanwhile, the reference is still the caller's.
 * file->mutex held; they take nic->conn.lock.
 */
struct via_conn *via_conn_take(struct via_file *f, u32 id);
bool via_conn_untake(struct via_file *f, struct via_conn *conn);

/**
 * via_conn_start() - how a request and a p2p request begin
 * @f:		its mutex is held
 * @arg:	what the program said, not checked yet
 * @p2p:	it is a p2p request
 * @vi:		gets the VI, Pending, with a reference
 * @own:	gets whether the peer is on this host
 *
 * May sleep.
 *
 * Return: 0; or VIA_R_*, and @vi and @own say nothing.
 */
enum via_verdict via_conn_start(struct via_file *f,
				const struct via_conn_request *arg, bool p2p,
				struct via_vi **vi, bool *own);
/*
 * Pending to Connected; both queue locks held, and the state checked.  @attrs
 * as via_conn_established(); @remote_vi is the peer on this host, of which it
 * takes a reference, or NULL.
 */
void via_conn_make(struct via_vi *vi, const struct via_vi_attrs *attrs,
		   const struct via_transport_ops *xport,
		   struct via_vi *remote_vi);
/*
 * Pending to Idle, if the attempt is still the one meant: @conn is the
 * client's request on this host, or NULL.  Drops the VI's reference to its
 * request.  No queue lock held.
 */
void via_conn_refuse(struct via_vi *vi, struct via_conn *conn,
		     enum via_verdict verdict);
/* Pending to Idle, if the attempt's time is over.  No queue lock held. */
void via_conn_expire(struct via_vi *vi);
/*
 * Drop the VI's reference to its own request, if it still has that one.  No
 * queue lock held.
 */
void via_conn_forget(struct via_vi *vi, struct via_conn *conn);

/* The rest is without locks, for any context. */

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

/* An address that is well formed, and of this host where it names one. */
static inline bool via_addr_is_here(const struct via_nic *nic,
				    const struct via_net_addr *a)
{
	return via_addr_ok(a) && (!a->host_len || via_addr_is_own(nic, a));
}

/* Is the attempt's time over?  Either queue lock held, or a hint. */
static inline bool via_conn_overdue(const struct via_vi *vi)
{
	return !READ_ONCE(vi->forever) &&
	       time_after_eq(via_now(), READ_ONCE(vi->deadline));
}

#endif
