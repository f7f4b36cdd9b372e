/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Barriers by dissemination: in round r a node tells the node 2^r further on
 * that it has arrived, with the arrivals that it has received, and waits for the
 * node 2^r before it. A node is at most one barrier ahead of another.
 */
#ifndef DSM_BARRIER_H
#define DSM_BARRIER_H

#include "node.h"

/* *step is 0 at first; false: call again. */
bool barrier_try(struct node *n, int *step);

/* MSG_BARRIER; false: it makes no sense. */
bool barrier_arrived(struct node *n, const struct dsm_msg *m);

void barrier_free(struct node *n);

#endif
