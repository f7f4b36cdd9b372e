/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Differences on their way home, several pages in one message. */
#ifndef DSM_BATCH_H
#define DSM_BATCH_H

#include "node.h"

/* The page's differences against its twin; false: there are none. */
bool batch_add(struct node *n, uint32_t page);

/* Sends the differences that were added. */
void batch_send(struct node *n);

/* Whether this is a page of this node, of which another one wants something. */
bool batch_here(struct node *n, uint32_t page, unsigned int from);

/* At the home. False: the message makes no sense. */
bool batch_apply(struct node *n, const struct dsm_msg *m);

/* At the writer: MSG_ACK. False: nothing was to be acknowledged. */
bool batch_acked(struct node *n);

#endif
