/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an unreliable level may lose (section 6), and what a test makes of it:
 * a message is sent again until it gets through, and of a burst whatever comes
 * has to come in order, once and with the right content.  At a reliable level
 * all of this does nothing.
 */
#ifndef CONFORMANCE_LOSS_H
#define CONFORMANCE_LOSS_H

#include "remote.h"

/* Lost, or arrived in part. */
bool lost(VIP_RETURN rc, uint32_t status);
/* How long a message may take; after that an unreliable level has lost it. */
unsigned int patience(void);
/*
 * once_more() - is what was lost to be sent again?
 *
 * Not at a reliable level, and not for ever.  What takes many frames may never
 * get through a bad wire: after some attempts the wire is looked at, and if it
 * does lose frames the message is given up, which is no error.
 */
struct tries {
	uint32_t len;		/* of the message; 0 if it is small */
	unsigned int n;		/* how often it was lost */
	bool given_up;
};

bool once_more(struct tries *t);
/* The same; if it is, the peer sends the message. */
bool peer_once_more(struct tries *t, struct pair *p, const struct xfer *tx);

/*
 * came() - the next of a burst of n messages, which must be this one
 *
 * At an unreliable level a later one may come instead.  Call it with what a
 * wait of patience() gave, until it is over; true if a whole message came.
 */
struct burst {
	unsigned int n;
	unsigned int next;	/* the first that may come yet */
	unsigned int got;
	bool over;		/* no more will come */
};

bool came(struct burst *b, VIP_RETURN rc, uint32_t status, unsigned int id);
/*
 * burst_again() - is it to be sent again?
 *
 * Some of it has to come.  All of it should, once; but some NICs lose of each.
 */
bool burst_again(const struct burst *b, struct tries *t);
/* Sends it until it is not. */
void until_it_came(struct burst (*send)(void));

/* It came, or was lost where it may be. */
void came_or_lost(VIP_RETURN rc, uint32_t status);

/*
 * Was all of it there, as the last byte came (P_WATCH) or as a message behind
 * it did? What was not and comes later is no loss but out of order.
 */
bool watched(const struct ctl_msg *m);
bool in_place(const struct xfer *write);

/* A thread in VipSendWait or VipRecvWait, and one in VipCQWait. */
struct waiter {
	pthread_t thread;
	VIP_VI_HANDLE vi;
	enum queue q;
	VIP_ULONG timeout;
	struct done r;
};

struct cq_waiter {
	pthread_t thread;
	VIP_CQ_HANDLE cq;
	VIP_ULONG timeout;
	VIP_RETURN rc;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN recv;
	uint64_t took_ms;
};

void start_waiter(struct waiter *w, VIP_VI_HANDLE vi, enum queue q,
		  VIP_ULONG timeout);
void start_cq_waiter(struct cq_waiter *w, VIP_CQ_HANDLE cq, VIP_ULONG timeout);
/*
 * Joins a thread that waits for a message of one frame, which the peer has
 * sent; it is sent again when it was lost.
 */
void join_waiter(struct pair *p, const struct xfer *tx, pthread_t thread);

#endif
