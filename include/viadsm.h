/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viadsm.h - memory that the processes of a program share over VIA
 *
 * #include <viadsm.h>, link with -lviadsm -lvipl -lpthread, and start the
 * program with viadsm(1): viadsm -n 4 PROGRAM. Each process is a node. A
 * program that is started without it is the only node, number 0 of 1.
 *
 * Shared memory is at the same addresses on all nodes. Pointers to it may be
 * stored in it. Plain loads and stores use it; a node fetches a page when it is
 * first touched. What one node writes another one sees once the two have
 * synchronised: the writer has called dsm_release() for a lock that the reader
 * has then acquired, or both have come to a barrier (release consistency). Two
 * nodes that write the same byte without that leave either value. Two nodes may
 * write different bytes of one page, or of one word, at any time.
 *
 * All calls may be made from any thread of a node, but for dsm_init(),
 * dsm_malloc*() and dsm_exit(), which one thread makes at a time, and
 * dsm_barrier(), which one thread of each node makes. No call may be made from
 * a signal handler. A program must not touch shared memory in a handler that
 * may interrupt a call of this library: it ends with a message then; nor in one
 * that may interrupt malloc() or free(), whose locks a fault may need.
 *
 * Faults are signals: a thread that touches shared memory must not block
 * SIGSEGV or SIGBUS, nor may the sa_mask of a handler that does. The kernel ends
 * the process by the signal otherwise.
 *
 * The kernel does not fetch pages: read(2), write(2) and other system calls
 * fail with EFAULT where a page is not here or not writable. dsm_touch() makes
 * it so before the call.
 *
 * Errors end the process with two lines on standard error, the fault and what
 * to do: nothing of a parallel program can go on without one of its nodes.
 * A node that ends before dsm_exit() ends the others in the same way. In a child
 * of fork() shared memory is not mapped, and every call ends the child.
 */
#ifndef _VIADSM_H
#define _VIADSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DSM_MAX_NODES	32
#define DSM_LOCKS	1024	/* locks are numbers below this one */

/*
 * Become a node, once: connect to all others. Blocks until they have called it,
 * at most a minute for each. Installs a handler of SIGSEGV and of SIGBUS, which
 * calls the one that was there for faults at other addresses and for signals
 * that were sent. The program must not replace them.
 */
void dsm_init(void);

/*
 * Wait until all nodes have called it, then leave. Shared memory is gone; no
 * other call may follow, but dsm_rank(), dsm_size() and dsm_share(). Where
 * another node is in dsm_barrier() meanwhile, both end with a message.
 */
void dsm_exit(void);

unsigned int dsm_rank(void);		/* number of this node, from 0 */
unsigned int dsm_size(void);		/* how many nodes there are */

/*
 * Bytes of shared memory, zeroed, at a page boundary, until dsm_exit(). All
 * nodes call it with the same sizes in the same order, and get the same
 * address. Does not wait for them. Nodes that have called it otherwise end with
 * a message when the next barrier shows it, or an access.
 *
 * A page has a home, which others fetch it from and send their changes to:
 * whoever writes it most should be its home. dsm_malloc() gives each node an
 * equal block of pages in the order of the nodes; dsm_malloc_at() gives all
 * pages to one node.
 *
 * Returns NULL where not so much is left, with errno ENOMEM: viadsm -m, or
 * VIADSM_MEMORY, has more. NULL and EINVAL for 0 bytes. A node that there is not
 * ends the program with a message.
 */
void *dsm_malloc(size_t bytes);
void *dsm_malloc_at(size_t bytes, unsigned int node);

/*
 * Locks, one holder of all threads of all nodes at a time. dsm_acquire() blocks
 * until it is this thread's turn; what was written before the lock was released
 * can be read then. dsm_release() blocks until this node's changes are at their
 * homes. A lock that no other node has asked for since costs no message. The
 * thread that acquired a lock releases it: a second dsm_acquire() by it, another
 * thread's dsm_release(), and one without a holder, end the program with a message.
 */
void dsm_acquire(unsigned int lock);
void dsm_release(unsigned int lock);

/*
 * Blocks until all nodes have called it as often; all that was written before
 * can be read then. Two threads of one node in it end the program with a message.
 */
void dsm_barrier(void);

/*
 * Fetch pages, and make them writable where write is not 0, so that a system
 * call can use them. Blocks until they are here. They stay so until this node
 * synchronises, by any of its threads: a system call of one thread may still
 * fail with EFAULT while another one acquires a lock.
 *
 * Returns 0, or -1 with errno EINVAL where they are not allocated shared memory.
 */
int dsm_touch(void *p, size_t bytes, int write);

/* This node's share of `count` things: *first to below *end. */
void dsm_share(size_t count, size_t *first, size_t *end);

/* What this node has done since dsm_init(). */
struct dsm_stats {
	uint64_t read_faults, write_faults;
	uint64_t fetches;	/* of pages */
	uint64_t invalidations;	/* of pages */
	uint64_t twins;		/* copies of pages that are written */
	uint64_t diffs;		/* pages of which differences went home */
	uint64_t changed_bytes;	/* in them */
	uint64_t diff_bytes;	/* sent for them, with offsets and lengths */
	uint64_t notices;	/* pages in write notices of this node */
	uint64_t acquires;
	uint64_t remote_acquires;	/* that another node was asked for */
	uint64_t barriers;
	uint64_t messages, sent_bytes;
	uint64_t fault_ns;	/* time in faults, all threads */
	uint64_t lock_ns;	/* in dsm_acquire and dsm_release */
	uint64_t barrier_ns;
};

/* Does not block. */
void dsm_stats(struct dsm_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* _VIADSM_H */
