/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * VIs, listeners, connections and memory of a module of the kernel.
 *
 * A consumer opens a NIC and has a handle, as a program has an open device node.
 * The rules of via_ka.h hold; instead of mapped rings a consumer has hooks:
 *
 *   posting     The consumer keeps its descriptors.  It counts them with
 *               via_kernel_post() and rings with via_kernel_ring(); the agent calls
 *               load() for each in its turn.
 *   completing  complete() for each descriptor, in order, under the queue's lock;
 *               then settle() once, when the context that has completed has dropped
 *               the queue locks: what may post again, or take other locks, is done
 *               there.
 *   connecting  moved() for each change of state, under both queue locks;
 *               a listener's asked() for a request, under nic->conn.lock.
 *
 * A hook that runs under a lock may neither sleep nor call the agent; it notes what
 * has happened, and a work item or settle() acts.  No hook runs when
 * via_kernel_close() has returned.
 *
 * Lifetime: a VI is the consumer's until via_kernel_vi_destroy(), a piece of memory
 * until via_kernel_mem_free(), a listener until via_kernel_unlisten(); all of them end
 * before the handle does.  The handle holds the NIC, whose removal moves every VI to
 * Error (moved()) and calls gone(); the consumer closes its handle soon after, from a
 * work item.
 *
 * Quota: that of the handle (struct via_kernel_limits), nothing of a user's.
 */
#ifndef _VIA_KAPI_H
#define _VIA_KAPI_H

#include "via_conn.h"

struct net;

/**
 * struct via_kernel_done - how a descriptor has ended
 * @index:	its number, counted from 0 for each queue since the VI was made
 * @status:	VIA_ST_*, as a program finds it, without DONE
 * @length:	bytes that have come, or gone
 * @immediate:	that came with it, when @status has VIA_ST_IMMEDIATE; or the handle that
 *		the peer wants to be invalidated, with @invalidate
 * @solicited:	of a receive: its SEND had VIA_CTL_KERNEL_SOLICITED
 * @invalidate:	likewise, VIA_CTL_KERNEL_INVALIDATE
 */
struct via_kernel_done {
	u32 index;
	enum via_status status;
	u32 length;
	u32 immediate;
	bool solicited;
	bool invalidate;
};

/* What scan() says. */
#define VIA_SCAN_SETTLE	0x1u	/* call settle(), though nothing has completed */
#define VIA_SCAN_MORE	0x2u	/* more may stand there already: look again, unasked */

/**
 * struct via_kernel_ops - what a consumer is called for
 *
 * Bottom halves are off in all hooks but gone().
 */
struct via_kernel_ops {
	/**
	 * @scan: the agent finds nothing posted.  A consumer whose descriptors come
	 * from memory of a program, without a call, looks there and calls
	 * via_kernel_post().  VIA_SCAN_*.  The queue's lock is held.  Optional.
	 */
	u32 (*scan)(struct via_vi *vi, bool recv);
	/**
	 * @load: fill @d with the descriptor of that number: control, length,
	 * immediate; nsegs, seg[] or more (from kmalloc(), for the agent to free);
	 * raddr and rhandle of RDMA; or an error in status.  All but seg[] is 0.  The
	 * lengths of its segments are compared with length afterwards.  The
	 * queue's lock is held.
	 *
	 * A SEND's control may have VIA_CTL_KERNEL_SOLICITED: the peer's receive
	 * says so; and VIA_CTL_KERNEL_INVALIDATE, without VIA_CTL_IMMEDIATE:
	 * immediate is a handle of the peer's, for the peer to act upon.  They go
	 * to consumers in the kernel alone: for a program the first is left out,
	 * the second is VIA_ST_FORMAT_ERROR.
	 */
	void (*load)(struct via_vi *vi, bool recv, u32 index,
		     struct via_desc *d);
	/** @complete: a descriptor has ended.  The queue's lock is held. */
	void (*complete)(struct via_vi *vi, bool recv,
			 const struct via_kernel_done *done);
	/**
	 * @settle: complete() was called, and no queue lock is held any more.  RCU
	 * read side.  On several processors at once; and it may post to this VI and
	 * ring, and so be called within itself: a consumer bounds that.
	 */
	void (*settle)(struct via_vi *vi);
	/**
	 * @moved: the VI has another state, vi->state, than @from, and its attempt
	 * perhaps a verdict, vi->verdict.  Both queue locks are held.
	 */
	void (*moved)(struct via_vi *vi, u32 from);
	/**
	 * @gone: the NIC is being unregistered.  Once, process context, RTNL may be
	 * held: it queues work that closes the handle.
	 */
	void (*gone)(struct via_file *f);
};

/**
 * struct via_kernel_limits - what one handle may have
 * @vis:	VIs
 * @pages:	in all pieces of memory
 */
struct via_kernel_limits {
	u32 vis;
	u64 pages;
};

/**
 * via_kernel_open() - a handle of a NIC
 * @net:	namespace that sees the NIC
 * @name:	of the NIC, "via_eth0"; NULL: by @ifindex
 * @ifindex:	of its interface
 * @ops:	hooks; constant as long as the handle is open
 * @most:	limits of the handle
 * @priv:	the consumer's, see via_kernel_priv()
 *
 * Process context; sleeps.  The handle keeps the NIC and its module.
 *
 * Return: the handle, or ERR_PTR(): -ENODEV (no such NIC), -ENXIO (it goes),
 * -ENOMEM.
 */
struct via_file *via_kernel_open(const struct net *net, const char *name,
				 u32 ifindex, const struct via_kernel_ops *ops,
				 const struct via_kernel_limits *most,
				 void *priv);
/*
 * Nothing that was made through the handle is left; requests to its listeners that were
 * not answered are rejected.  Waits for hooks that run.  Process context without locks;
 * sleeps for a grace period of RCU.
 */
void via_kernel_close(struct via_file *f);
/* What was given at open.  Any context. */
void *via_kernel_priv(const struct via_file *f);
/* The NIC, as long as the handle is open. */
struct via_nic *via_kernel_nic(const struct via_file *f);

/*
 * A protection tag: 0 or -errno.  A VI of a tag uses memory of that tag alone.
 * unmake: -EBUSY while something has it.  Process context; both sleep.
 */
int via_kernel_ptag_make(struct via_file *f, u32 *ptag);
int via_kernel_ptag_unmake(struct via_file *f, u32 ptag);

/*
 * Bytes of a message, more than a program's VI may have (via_limits.max_transfer).  To an
 * end on this host a message goes in one copy, under queue locks: for some milliseconds.
 */
#define VIA_KERNEL_TRANSFER	BIT(24)

/**
 * via_kernel_vi_make() - a VI
 * @f:		the handle
 * @attrs:	its attributes; rights are what its peer may do by RDMA, max_transfer is
 *		VIA_KERNEL_TRANSFER at most
 * @priv:	the consumer's, see via_kernel_vi_priv()
 *
 * Process context; sleeps.  Neither queue has shared pages.
 *
 * Return: the VI, or ERR_PTR(): -EINVAL (the attributes), -EDQUOT (the handle's
 * limit), -ENOSPC (the NIC's), -ENOMEM, -ENXIO (the NIC goes).
 */
struct via_vi *via_kernel_vi_make(struct via_file *f,
				  const struct via_vi_attrs *attrs, void *priv);
/*
 * In any state; what is posted completes flushed, before it returns.  Hooks may run
 * until a grace period of RCU later.  Process context; sleeps.
 */
void via_kernel_vi_destroy(struct via_vi *vi);
/*
 * A reference to the memory of a VI, which so stays after its end: for its locks.  Any
 * context.
 */
void via_kernel_vi_get(struct via_vi *vi);
void via_kernel_vi_put(struct via_vi *vi);
/*
 * The lock of one of its queues, under which hooks run: for what a consumer does to its
 * own half of the queue at another time.  Nothing of the agent is called meanwhile.
 * Any context but hard interrupts, no queue lock held; bottom halves are off until it is
 * dropped.
 */
void via_kernel_lock(struct via_vi *vi, bool recv) __acquires(vi);
void via_kernel_unlock(struct via_vi *vi, bool recv) __releases(vi);

/**
 * struct via_kernel_own - what struct via_kernel_vi, the agent's, begins with
 * @priv:	constant: the consumer's
 */
struct via_kernel_own {
	void *priv;
};

/* What was given when the VI was made.  Any context. */
static inline void *via_kernel_vi_priv(const struct via_vi *vi)
{
	return ((const struct via_kernel_own *)vi->kernel)->priv;
}

/*
 * @n descriptors more are posted.  1,024 of a queue at most are posted and not
 * complete: the consumer sees to it.  Any context; one caller at a time of a queue.
 */
void via_kernel_post(struct via_vi *vi, bool recv, u32 n);
/*
 * The doorbell.  Sends what is posted, as far as the window goes; the rest follows
 * by itself.  Work is bounded by what is posted.  Any context with bottom halves on or
 * off, interrupts on, no queue lock held.
 */
void via_kernel_ring(struct via_vi *vi, bool recv);

/**
 * via_kernel_connect() - ask a host for a connection
 * @vi:		Idle or in Error
 * @local:	own discriminator; the host is filled in
 * @remote:	the server
 * @ns:		until it times out; VIA_FOREVER is not possible
 *
 * Process context; sleeps.  The verdict comes by moved().
 *
 * Return: 0; or VIA_R_*: no attempt has begun.
 */
enum via_verdict via_kernel_connect(struct via_vi *vi,
				    const struct via_net_addr *local,
				    const struct via_net_addr *remote, u64 ns);
/**
 * via_kernel_connect_peer() - look for a VI that looks for this one
 * @vi:		Idle or in Error
 * @local:	own discriminator; the host is filled in
 * @remote:	the peer's host and discriminator
 * @ns:		until it times out; VIA_FOREVER is not possible
 *
 * Neither end is a server: two VIs meet when each names the other's host and
 * discriminator, whichever was the first, and be they both on this host.  Process
 * context; sleeps.  The verdict comes by moved(), which may run before this returns.
 *
 * Return: 0; or VIA_R_*: no attempt has begun.
 */
enum via_verdict via_kernel_connect_peer(struct via_vi *vi,
					 const struct via_net_addr *local,
					 const struct via_net_addr *remote,
					 u64 ns);
/*
 * The VI's attempt ends if its time is over: a consumer calls it then, since the
 * network need not say so.  Process context or softirq.
 */
void via_kernel_expire(struct via_vi *vi);
/* To Idle from any state; all that is posted is flushed.  Process context; sleeps. */
void via_kernel_disconnect(struct via_vi *vi);

/*
 * Why the VI's connection has ended: in moved(), and until the next attempt.  The
 * descriptor that the peer refused, the oldest one of its kind that had not completed,
 * has VIA_ST_RDMA_PROT_ERROR or VIA_ST_REMOTE_DESC_ERROR; those behind it are flushed.
 * Any context.
 */
enum via_kernel_fault via_kernel_fault_of(const struct via_vi *vi);

#define VIA_LISTEN_BYTES	8	/* first bytes of a discriminator */

/**
 * struct via_listener - takes all requests whose discriminator begins like that
 * @disc:	constant: how the server's discriminator begins
 * @asked:	constant: a request has come.  nic->conn.lock held, bottom halves
 *		off.  Takes a reference (via_conn_get()) and queues work that
 *		accepts or rejects.
 *
 * The rest is the agent's.  It goes before programs that wait.
 */
struct via_listener {
	u8 disc[VIA_LISTEN_BYTES];
	void (*asked)(struct via_listener *l, struct via_conn *conn);
	struct via_table_node place; /* nic->conn.lock: in nic->conn.listening */
	struct via_file *file;		/* constant */
};

/*
 * 0, or -EADDRINUSE: there is such a one on the NIC.  Process context.  When
 * via_kernel_unlisten() has returned, asked() is not called any more; requests that
 * were not answered stay the consumer's.
 */
int via_kernel_listen(struct via_file *f, struct via_listener *l);
void via_kernel_unlisten(struct via_listener *l);

#define VIA_KERNEL_REPLY	VIA_REPLY_MAX	/* bytes that go with an answer */

/*
 * Answer a request with a VI that is Idle or in Error, or refuse it.  0; or VIA_R_*: no
 * attempt has begun, and the request is over if it was VIA_R_TIMEOUT (the
 * client has given up), else it may be answered again.  The caller's reference stays
 * the caller's.  Process context; both sleep.
 *
 * @data goes with the answer, where the client is a consumer in the kernel as well: a
 * program has no place for it.  VIA_KERNEL_REPLY bytes at most: accept returns
 * VIA_R_INVALID_PARAMETER with more, reject refuses without them.
 */
enum via_verdict via_kernel_accept(struct via_vi *vi, struct via_conn *conn,
				   const void *data, u32 len);
void via_kernel_reject(struct via_file *f, struct via_conn *conn,
		       const void *data, u32 len);
/*
 * How many bytes came with the answer to this VI's attempt, be it yes or no, and where
 * they lie; 0: none.  In moved(), when the attempt ends, and as long as no queue lock
 * is dropped.
 */
u32 via_kernel_answer(const struct via_vi *vi, const u8 **data);

/*
 * Memory.  The handle in a segment, or what a peer names, is 24 random bits that stand
 * for a piece of memory, and 8 bits that the consumer changes at will.
 */

/* Addresses of the kernel, in segments of the consumer itself; no peer may name it. */
#define VIA_KERNEL_MEM_ALL	0u

/* Besides VIA_RDMA_WRITE and VIA_RDMA_READ: receives and reads may store there. */
#define VIA_KERNEL_MEM_STORE	0x100u

/* Its peer may turn it off, by a message: via_kernel_mem_invalidate(). */
#define VIA_KERNEL_MEM_INVALIDATE	0x200u

/* A piece of memory, and the handle by which it is named.  Any context. */
struct via_kernel_mem;
u32 via_kernel_mem_handle(const struct via_kernel_mem *m);

/**
 * struct via_kernel_span - what a piece of memory is to be
 * @handle:	the new one: the old one's upper 24 bits
 * @rights:	VIA_RDMA_*, VIA_KERNEL_MEM_STORE, VIA_KERNEL_MEM_INVALIDATE
 * @start:	address that is named; its place in a page is that of the first byte
 * @len:	bytes
 * @pages:	they lie in; referenced by the consumer as long as it is on
 * @npages:	as many as @start and @len say
 */
struct via_kernel_span {
	u32 handle;
	u32 rights;
	u64 start;
	u64 len;
	struct page **pages;
	u32 npages;
};

/*
 * A piece of memory with room for so many pages, off, its low 8 bits 0; or ERR_PTR():
 * -EDQUOT, -ENOMEM, -ENXIO.  free: turned off first; no copy runs when it returns.
 * Process context; both sleep.
 */
struct via_kernel_mem *via_kernel_mem_make(struct via_file *f, u32 ptag,
					   u32 pages);
void via_kernel_mem_free(struct via_kernel_mem *m);
/*
 * On; 0, -EINVAL (the span is none, or not of this handle), -ENOSPC (too many pages)
 * or -EBUSY (it is on).  Any context but hard interrupts.
 */
int via_kernel_mem_on(struct via_kernel_mem *m,
		      const struct via_kernel_span *span);
/*
 * Off, if it is on with that handle; when it returns no byte is copied there any more.
 * Any context but hard interrupts.
 */
bool via_kernel_mem_off(struct via_kernel_mem *m, u32 handle);
/*
 * The same for the VI's peer: if it is on with that handle and
 * VIA_KERNEL_MEM_INVALIDATE, and of the VI's tag.  RCU read side or a queue lock.
 */
bool via_kernel_mem_invalidate(struct via_vi *vi, u32 handle);
/*
 * The piece that a handle stands for, whatever its low 8 bits, or NULL.  RCU read
 * side.
 */
struct via_kernel_mem *via_kernel_mem_find(struct via_file *f, u32 handle);

#endif /* _VIA_KAPI_H */
