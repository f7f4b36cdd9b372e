/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Locks with a distributed queue. A lock's manager, node (lock % size), knows
 * who asked last, and passes a request on to that node, which grants the lock
 * when it has released it. The token stays where it was used last.
 */
#ifndef DSM_LOCK_H
#define DSM_LOCK_H

#include "node.h"

void lock_init(struct node *n);

/* A thread begins to wait; then lock_try() until it is true. */
void lock_want(struct node *n, uint32_t lock);
bool lock_try(struct node *n, uint32_t lock);

/* *step is 0 at first; false: call again. */
bool lock_release(struct node *n, uint32_t lock, int *step);

/* Messages; false: it makes no sense. */
bool lock_asked(struct node *n, const struct dsm_msg *m);
bool lock_forwarded(struct node *n, const struct dsm_msg *m);
bool lock_granted(struct node *n, const struct dsm_msg *m);

#endif
