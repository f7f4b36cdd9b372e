/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Notices: which pages an interval of a node wrote. A record is the node, the
 * interval's number, how many runs of pages follow, and runs: the first page
 * and how many. A long interval has several records.
 */
#ifndef DSM_NOTES_H
#define DSM_NOTES_H

#include "node.h"

#define NOTES_TELL	(1u << 16)	/* words of long logs */

/* The pages of the table's list "noticed" become this node's next interval. */
void notes_publish(struct node *n);

/* Sends what a node that knows v lacks, in MSG_NOTES and, at its end, a message
 * of this type, with these words behind the last notice.
 */
void notes_send(struct node *n, unsigned int to, const uint32_t *v,
		const struct dsm_msg *last, const struct words *tail);

/* The words of a MSG_NOTES go into the sender's inbox. */
bool notes_take(struct node *n, const struct dsm_msg *m);

/* The same for the message that completes them, behind which `tail` other words
 * follow. False: the words in the inbox make no sense.
 */
bool notes_complete(struct node *n, const struct dsm_msg *m, size_t tail);

/* Records of a node that had the clock vc. */
void notes_apply(struct node *n, const uint32_t *word, size_t len,
		 const uint32_t *vc);

/* The same without a tail; the records are applied, and the inbox is empty. */
bool notes_heard(struct node *n, const struct dsm_msg *m);

/* MSG_TELL: the records are applied, and the message is answered. */
bool notes_told(struct node *n, const struct dsm_msg *m);

/* Forgets what everyone knows; tells those who know too little of a long log. */
void notes_trim(struct node *n);

void clock_join(uint32_t *to, const uint32_t *from);

#endif
