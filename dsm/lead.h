/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who takes the completions of the NIC: the node's own thread ("the server"),
 * or a thread of the program that waits for the protocol. A message that comes
 * for a thread that waits wakes that thread and no other.
 *
 * All of it is under the lock of the node, but for `call` and `asleep`. It
 * knows no system: run.c and the model in tests/dsm/progress.c drive it.
 *
 *	owner	 from	   when					 function
 *	SERVER	 NOBODY	   no thread has come for LEAD_QUICK_NS,	 lead_serve()
 *			   or the last one came after as long
 *	NOBODY	 SERVER	   a thread wants it, and the server is	 lead_hand()
 *			   out of the NIC
 *	THREAD	 NOBODY	   a thread waits			 lead_take()
 *	NOBODY	 THREAD	   its wait has ended			 lead_leave()
 *
 * Invariants; the code names them by number:
 *
 *  (1)	Only the owner waits in the NIC, and only the owner takes completions; but
 *	for (7).
 *  (2)	An owner that is to come out finds that `call` has changed before it
 *	waits, or is asleep where the other one sees it, who then rouses it: each
 *	writes its own word before it looks at the other's.
 *  (3)	A thread that waits and does not own the NIC waits for the node's events:
 *	while another thread owns it, or the server is called to hand it over, or
 *	it may not serve. Who lets go of the NIC while there are threads that may
 *	makes an event.
 *  (4)	Who lets go of the NIC while no thread waits rings the server if that
 *	sleeps until it is rung. So a computing node's messages are taken.
 *  (5)	The server sleeps until it is rung only while a thread owns the NIC and
 *	sleeps in it. Else it looks again after LEAD_QUICK_NS at most, so that a
 *	message waits for twice as long at most.
 *  (6)	A change that another thread of this node makes calls the owner, if a
 *	thread: what that waits for may have come true.
 *  (7)	A signal handler of the program's may keep the owner from the NIC. Once
 *	the owner has not come out for LEAD_WATCH_NS, which is longer than it
 *	sleeps, the server takes completions in its stead, now and then, until it
 *	does.
 */
#ifndef DSM_LEAD_H
#define DSM_LEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LEAD_QUICK_NS	50000u		/* threads come again within that */
#define LEAD_WATCH_NS	50000000u
#define LEAD_STAND_IN_NS 1000000u	/* between looks in another's stead */

enum lead_owner { LEAD_NOBODY, LEAD_SERVER, LEAD_THREAD };

/* What the server does next. */
enum lead_act {
	LEAD_NIC,	/* wait in the NIC: it is the owner */
	LEAD_REST,	/* sleep until it is rung, or the time is over */
	LEAD_STAND_IN,	/* look in another's stead, then the same */
};

struct lead {
	atomic_uint call;
	atomic_bool asleep;
	enum lead_owner owner;
	bool wanted;		/* the server is to hand it over */
	bool called;		/* `call` has changed: lead_calls() */
	bool parked;		/* the server sleeps until it is rung */
	bool quick;		/* the last thread came soon after the one before */
	unsigned int waiters;	/* threads that wait for events, and may serve */
	unsigned int beats;	/* how often threads came to the NIC, or out of it */
	unsigned int watched;	/* beats, as the server saw them */
	uint64_t watched_at;	/* ns: and when they had changed */
	uint64_t left;		/* ns: when the NIC was let go */
};

/* A thread has to wait, and owns the NIC then; or false: it waits for events. */
bool lead_take(struct lead *l, uint64_t now);

/* The wait of a thread has ended, which owned the NIC or did not. True: the
 * server is to be rung.
 */
bool lead_leave(struct lead *l, bool owned, uint64_t now);

/* Whether threads that wait are to have an event, as there is no owner. */
bool lead_orphans(const struct lead *l);

/* The server is out of the NIC: lets go of it if a thread wants it. */
void lead_hand(struct lead *l, uint64_t now);

/* `rest` is in ns. */
enum lead_act lead_serve(struct lead *l, uint64_t now, uint64_t *rest);

/* Another thread than the owner has made an event. */
void lead_event(struct lead *l);

/* Before the lock is dropped: the owner is to be roused, if it is asleep. */
bool lead_calls(struct lead *l);

/* Around a wait in the NIC, without the lock: lead_sleep(), then the wait unless
 * the owner is called, that is `call` was `seen` under the lock; lead_wake().
 */
void lead_sleep(struct lead *l);
bool lead_called(const struct lead *l, unsigned int seen);
void lead_wake(struct lead *l);

#endif
