// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The calls of viadsm.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <viadsm.h>

#include "barrier.h"
#include "boot.h"
#include "die.h"
#include "fault.h"
#include "lock.h"
#include "page.h"

#define PUBLIC	__attribute__((visibility("default")))

/* A product of two sizes. */
__extension__ typedef unsigned __int128 wide;

struct wait {
	uint32_t lock;
	int step;
	bool came;		/* into the barrier */
	bool last;		/* it is that of dsm_exit() */
};

/* Under the lock of this_node: threads that hold locks, and that there is one
 * in a barrier.
 */
static pthread_t owner[DSM_LOCK_COUNT];
static bool meets;
static bool left;

static void check_up(const char *call)
{
	if (this_node.forked)
		die("Call it in the parent.", "%s() in a child of fork()",
		    call);
	if (!this_node.up)
		die("Call dsm_init() first.", "%s() without dsm_init()", call);
}

PUBLIC void dsm_init(void)
{
	if (this_node.up || this_node.forked || left)
		die("Call it once.", "dsm_init() a second time");
	boot_read(&this_node.config);
	run_start();
	fault_install();
	dsm_barrier();
}

PUBLIC unsigned int dsm_rank(void)
{
	return this_node.config.me;
}

PUBLIC unsigned int dsm_size(void)
{
	return this_node.config.size;
}

/* Where the share of a node begins, of `count` things. */
static size_t share_of(size_t count, unsigned int node)
{
	return (wide)count * node / this_node.config.size;
}

static uint8_t *allot(size_t bytes, uint32_t *first, uint32_t *count)
{
	size_t rounded = (bytes + DSM_PAGE - 1) & ~(size_t)(DSM_PAGE - 1);

	if (!bytes || rounded < bytes || rounded > this_node.view.bytes - this_node.used) {
		errno = bytes ? ENOMEM : EINVAL;
		return NULL;
	}
	*first = this_node.used / DSM_PAGE;
	*count = rounded / DSM_PAGE;
	this_node.used += rounded;
	return this_node.view.program + (size_t)*first * DSM_PAGE;
}

PUBLIC void *dsm_malloc(size_t bytes)
{
	uint32_t first, count, from, to;
	uint8_t *p;

	check_up("dsm_malloc");
	p = allot(bytes, &first, &count);
	run_lock();
	for (unsigned int i = 0; p && i < this_node.config.size; i++) {
		from = share_of(count, i);
		to = share_of(count, i + 1);
		if (to > from)
			page_assign(&this_node.node, first + from, to - from, i);
	}
	run_unlock();
	return p;
}

PUBLIC void *dsm_malloc_at(size_t bytes, unsigned int node)
{
	uint32_t first, count;
	uint8_t *p;

	check_up("dsm_malloc_at");
	if (node >= this_node.config.size)
		die("Give a number below dsm_size().",
		    "dsm_malloc_at(): there is no node %u", node);
	p = allot(bytes, &first, &count);
	run_lock();
	if (p)
		page_assign(&this_node.node, first, count, node);
	run_unlock();
	return p;
}

static bool try_acquire(struct node *n, void *argument)
{
	struct wait *w = argument;

	if (n->lock[w->lock].held && pthread_equal(owner[w->lock], pthread_self()))
		die("Release it first.",
		    "dsm_acquire(%u): this thread holds the lock", w->lock);
	if (!w->step++)
		lock_want(n, w->lock);
	if (!lock_try(n, w->lock))
		return false;
	owner[w->lock] = pthread_self();
	return true;
}

static bool try_release(struct node *n, void *argument)
{
	struct wait *w = argument;

	if (!n->lock[w->lock].held)
		die("Acquire it first.",
		    "dsm_release(%u): the lock is not held", w->lock);
	if (!pthread_equal(owner[w->lock], pthread_self()))
		die("Release it where it was acquired.",
		    "dsm_release(%u): another thread holds the lock", w->lock);
	return lock_release(n, w->lock, &w->step);
}

static void lock_call(const char *call, run_call make, unsigned int lock)
{
	struct wait w = { .lock = lock };
	uint64_t start = run_now();

	check_up(call);
	if (lock >= DSM_LOCK_COUNT)
		die("Use a smaller number.", "%s(%u): locks are numbers below %u",
		    call, lock, DSM_LOCK_COUNT);
	run_until(make, &w, true);
	atomic_fetch_add(&this_node.lock_ns, run_now() - start);
}

PUBLIC void dsm_acquire(unsigned int lock)
{
	lock_call("dsm_acquire", try_acquire, lock);
}

PUBLIC void dsm_release(unsigned int lock)
{
	lock_call("dsm_release", try_release, lock);
}

static bool try_barrier(struct node *n, void *argument)
{
	struct wait *w = argument;
	bool done;

	if (meets && !w->came)
		die("One thread of each node calls it.",
		    "two threads are in dsm_barrier()");
	meets = true;
	w->came = true;
	n->barrier.last = w->last;
	done = barrier_try(n, &w->step);
	if (n->wrong)
		run_wrong();
	meets = !done;
	return done;
}

static void meet(const char *call, bool last)
{
	struct wait w = { .last = last };
	uint64_t start = run_now();

	check_up(call);
	run_until(try_barrier, &w, true);
	atomic_fetch_add(&this_node.barrier_ns, run_now() - start);
}

PUBLIC void dsm_barrier(void)
{
	meet("dsm_barrier", false);
}

PUBLIC int dsm_touch(void *p, size_t bytes, int write)
{
	size_t at = (uint8_t *)p - this_node.view.program;

	check_up("dsm_touch");
	if (!view_has(&this_node.view, p) || at > this_node.used || bytes > this_node.used - at) {
		errno = EINVAL;
		return -1;
	}
	if (!bytes)
		return 0;
	for (size_t page = at / DSM_PAGE; page <= (at + bytes - 1) / DSM_PAGE;
	     page++)
		fault_page(page, write, true);
	return 0;
}

PUBLIC void dsm_share(size_t count, size_t *first, size_t *end)
{
	*first = share_of(count, this_node.config.me);
	*end = share_of(count, this_node.config.me + 1);
}

PUBLIC void dsm_stats(struct dsm_stats *s)
{
	const struct node_counts *c = &this_node.node.counts;

	check_up("dsm_stats");
	run_lock();
	*s = (struct dsm_stats){
		.read_faults = this_node.read_faults,
		.write_faults = this_node.write_faults,
		.fetches = c->fetches, .invalidations = c->invalidated,
		.twins = c->twins, .diffs = c->diff_pages,
		.changed_bytes = c->diff_bytes, .diff_bytes = c->diff_sent,
		.notices = c->notices, .acquires = c->acquires,
		.remote_acquires = c->asked, .barriers = c->barriers,
		.messages = c->messages, .sent_bytes = c->sent_bytes,
		.fault_ns = this_node.fault_ns, .lock_ns = this_node.lock_ns,
		.barrier_ns = this_node.barrier_ns,
	};
	run_unlock();
}

PUBLIC void dsm_exit(void)
{
	struct dsm_stats s;

	meet("dsm_exit", true);
	dsm_stats(&s);
	if (this_node.config.stats_fd >= 0 &&
	    write(this_node.config.stats_fd, &s, sizeof(s)) != sizeof(s))
		die(NULL, "statistics: %s", strerror(errno));
	run_stop();
	fault_remove();
	left = true;
}
