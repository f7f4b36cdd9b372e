/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The messages between nodes. A channel from one node to another delivers them
 * in order and once; all nodes have one byte order.
 */
#ifndef DSM_MSG_H
#define DSM_MSG_H

#include <stdint.h>

#define DSM_NODES	32	/* at most */
#define DSM_MSG		8192	/* bytes of a message at most */
#define DSM_PAGE	4096u	/* bytes of a page of memory; dsmcheck has smaller ones */

enum msg_type {
	MSG_GET = 1,	/* what: a page, of its home */
	MSG_PAGE,	/* what: the page; data: its bytes */
	MSG_DIFF,	/* data: differences, see diff.h */
	MSG_ACK,	/* of one MSG_DIFF: it is in place */
	MSG_ACQUIRE,	/* what: a lock, of its manager; data: who knows what */
	MSG_FORWARD,	/* the same, to the last who asked; who: asks */
	MSG_NOTES,	/* data: notices that a later message completes */
	MSG_GRANT,	/* what: a lock; data: notices */
	MSG_BARRIER,	/* what: its number; round; who: 1 for the last one;
			 * data: notices, the join, what was allocated
			 */
	MSG_TELL,	/* data: notices, from whom they fill the log */
	MSG_KNOWN,	/* the answer: the header has what the sender knows */
	MSG_HELLO,	/* these three are net.c's */
	MSG_CREDIT,
	MSG_BYE,
};

struct dsm_msg {
	uint8_t type;
	uint8_t from;
	uint8_t who;
	uint8_t round;
	uint32_t what;
	uint32_t len;			/* bytes of data */
	uint32_t credits;		/* receives posted since: net.c's */
	uint32_t vc[DSM_NODES];		/* what the sender knows */
	uint8_t data[];
};

#define DSM_DATA	(DSM_MSG - sizeof(struct dsm_msg))

/* Room for the longest one. */
struct dsm_parcel {
	_Alignas(8) uint8_t room[DSM_MSG];
};

static inline struct dsm_msg *parcel_msg(struct dsm_parcel *p)
{
	return (void *)p->room;
}

#endif
