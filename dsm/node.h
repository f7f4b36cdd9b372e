/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One node's part of the protocol, as a state machine: home-based lazy release
 * consistency. It knows no thread, no clock and no network. Who drives it
 * (run.c, or the checker in tests/dsm) holds one lock around every call, hands
 * in the messages of each channel in order, and gives it the operations below.
 *
 * What has to wait is a call that returns false: it is made again, with the
 * same step, after struct node.events has changed.
 *
 * Every page has a home. A node's bytes of a page, "mem", are those that the
 * network reads and writes; the program's view of them is guarded by protect().
 *
 *	state	 view	   meaning
 *	INVALID	 none	   to be fetched of the home
 *	FETCHING none	   asked for
 *	CLEAN	 read	   a copy; at the home: noticed since it was last written
 *	DIRTY	 write	   has a twin and is in the list of the open interval;
 *			   at the home: may be written at any time
 *
 *	from	 to	   when				function
 *	INVALID	 FETCHING  an access, or a run of them	page_fault()
 *	FETCHING FETCHING  the bytes came, a notice	page_came()
 *			   had come before them
 *	FETCHING CLEAN	   the bytes came		page_came()
 *	CLEAN	 DIRTY	   a write			page_fault()
 *	DIRTY	 CLEAN	   the interval ends		interval_close()
 *	CLEAN	 INVALID   a notice			page_invalidate()
 *	DIRTY	 INVALID   a notice: differences leave	page_invalidate()
 *
 * Invariants; the code names them by number:
 *
 *  (1)	The home has every byte of an interval before the interval is in anyone's
 *	log: its differences are acknowledged first.
 *  (2)	vc[j] = s: all intervals of node j up to s were applied here, and the
 *	log has those that some node may lack.
 *  (3)	known[j] is no more than what node j knows. What a message carries is not
 *	known until the receiver says so.
 *  (4)	If a node has a valid copy of a page, the home's flag of the page is set,
 *	or the home's next write of it faults, or a notice that the node has not
 *	applied names it. So a home that is DIRTY with no flag needs no notice.
 *  (5)	A view that is open to writes is closed before differences are computed.
 *  (6)	Differences have the bytes that changed and no others: two nodes may
 *	write different bytes of one page.
 *  (7)	A page that was asked for before a notice came is asked for again.
 *  (8)	A lock has one token. A node that has it and does not hold the lock
 *	passes it to the next in the queue; not before (1) holds for the writes
 *	before the release.
 *  (9)	Notices of a barrier are applied when this node is in that barrier.
 */
#ifndef DSM_NODE_H
#define DSM_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

#define DSM_LOCK_COUNT	1024
#define DSM_ROUNDS	5	/* 2^5 = DSM_NODES */
#define NODE_ORDER	"allocates in another order"

enum page_state { PAGE_INVALID, PAGE_FETCHING, PAGE_CLEAN, PAGE_DIRTY };
enum page_view { VIEW_NONE, VIEW_READ, VIEW_WRITE };

struct node_ops {
	/* Takes a copy of m; m->from, vc are set. Not for the node itself. */
	void (*send)(void *context, unsigned int to, const struct dsm_msg *m);
	void (*protect)(void *context, uint32_t first, uint32_t count,
			enum page_view view);
	/* Sets the home's flag, then reads the page into mem; page_came() is
	 * called behind it. NULL: pages are asked for by messages.
	 */
	void (*fetch)(void *context, unsigned int home, uint32_t page);
};

/* Faults at equal distances: pages ahead of the last one are asked for with it. */
struct page_stride {
	uint32_t last;		/* the page that faulted */
	uint32_t next;		/* the one that continues the run */
	uint32_t stride;	/* pages between two, modulo 2^32 */
	uint32_t ahead;		/* pages that were asked for with the last one */
};

/* Zeroed memory of the owner of the node: run.c, or the checker. */
struct page_table {
	uint8_t *mem;
	uint8_t *twin;		/* as long as mem */
	uint8_t *flag;		/* a byte a page, written by readers */
	uint8_t *home;
	uint8_t *state;
	uint8_t *bits;
	uint32_t *dirty;	/* pages of the open interval */
	uint32_t *noticed;	/* pages of the interval that ends */
	uint32_t dirty_count;
	uint32_t noticed_count;
	struct page_stride stride;
	uint32_t order;		/* a hash of all calls of page_assign() */
	uint32_t bytes;		/* of a page */
	uint32_t count;		/* pages that there is room for */
	uint32_t used;		/* pages below this one have a home */
};

/* Words that grow. */
struct words {
	uint32_t *word;
	size_t len, room;
};

struct lock_state {
	bool token, held, asked;
	uint8_t tail;		/* the manager's: who asked last */
	uint8_t next;		/* who gets it next, or DSM_NODES */
	uint16_t wanted;	/* threads of this node that wait */
	uint32_t next_vc[DSM_NODES];
};

struct barrier_round {
	bool arrived, last;
	struct words notes;
	uint32_t vc[DSM_NODES];
};

struct barrier_state {
	uint32_t number;
	unsigned int round;
	bool last;			/* no call follows it */
	uint32_t join[DSM_NODES];	/* what all knew as they came */
	uint32_t before[DSM_NODES];	/* the join of the barrier before */
	struct barrier_round in[2][DSM_ROUNDS];
};

struct node_counts {
	uint64_t fetches, invalidated, twins;
	uint64_t diff_pages, diff_bytes, diff_sent;
	uint64_t intervals, notices;
	uint64_t acquires, asked;
	uint64_t barriers, messages, sent_bytes;
};

struct node {
	const struct node_ops *ops;
	void *context;
	unsigned int me, size;
	uint64_t events;	/* grows when a waiting call may go on */
	struct page_table pages;
	uint32_t vc[DSM_NODES];
	uint32_t known[DSM_NODES][DSM_NODES];
	struct words log[DSM_NODES];	/* see notes.h */
	size_t trim_at, tell_at;	/* words of all logs */
	size_t passed;		/* words that were known already, since a trim */
	uint32_t told;			/* bits: nodes that are to answer MSG_TELL */
	struct words inbox[DSM_NODES];	/* notices that are not complete */
	struct dsm_parcel batch[DSM_NODES];	/* differences, by home */
	struct dsm_parcel out;
	bool closing;
	uint32_t unacked;	/* MSG_DIFF without MSG_ACK */
	struct lock_state lock[DSM_LOCK_COUNT];
	struct barrier_state barrier;
	struct node_counts counts;
	const char *wrong;	/* what another node does */
	unsigned int who;	/* that one */
};

/* n is zero, but for ops, context and pages. */
void node_init(struct node *n, unsigned int me, unsigned int size);
void node_free(struct node *n);

/* A message that came. False: it makes no sense, and nothing is certain now;
 * n->wrong may say more, here and behind barrier_try().
 */
bool node_receive(struct node *n, const struct dsm_msg *m);

#endif
