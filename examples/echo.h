/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One client of server.c and epoll.c: what it sends comes back. Both serve all
 * of theirs from one completion queue, and block for none.
 */
#ifndef EXAMPLES_ECHO_H
#define EXAMPLES_ECHO_H

#include <stdbool.h>

#include "common.h"

#define ECHO_DISC	"echo"
#define ECHO_MAX	1024	/* bytes of a message, and MaxTransferSize */

/* A question arrives in in[], while the answer before it may still go out. */
struct client {
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR recv;
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR send;
	char in[ECHO_MAX], out[ECHO_MAX];
	const struct node *node;
	VIP_VI_HANDLE vi;
	VIP_MEM_HANDLE handle;
	bool connected;		/* the verdict has been fetched */
	bool asked;		/* in holds a question, recv is not posted */
	bool answering;		/* send is posted */
	unsigned int answers;
	struct client *next;	/* of those whose verdict is to come */
};

/* Its receive is posted: it may be connected. Both its queues are on cq. */
struct client *new_client(const struct node *n, VIP_CQ_HANDLE cq);
void end_client(struct client *c);

/* Now it is connected; a question may have come before. */
void start_client(struct client *c);

/* What VipCQDone or VipCQWait has told of. Returns the client that has left,
 * if one has: the caller ends it.
 */
struct client *serve(VIP_VI_HANDLE vi, VIP_BOOLEAN recv_queue);

#endif
