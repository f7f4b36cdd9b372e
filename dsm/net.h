/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Channels between nodes on VIPL: one VI for each pair. A node posts receives
 * before it connects, and tells the other one how many it has posted again, so
 * no message finds none. What cannot be sent at once waits in a list: no call
 * here waits, but for net_open() and net_wait().
 *
 * The caller of all functions holds the lock that guards struct net (run.c's), but
 * for net_open(), net_look(), net_wait() and net_rouse(); the handler of messages
 * is called under it.
 */
#ifndef DSM_NET_H
#define DSM_NET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <vipl.h>
#include <vipl_ext.h>

#include "msg.h"

#ifndef NET_RECVS		/* the tests have fewer */
#define NET_RECVS	32u	/* posted of each link */
#endif
#define NET_SENDS	32u	/* messages on the way of each link */
#define NET_READS	8u	/* pages on the way of each link */

struct net_slot {
	_Alignas(64) VIP_DESCRIPTOR d;
	struct dsm_msg *msg;
};

/* A page's flag is set at its home, then the page is read. */
struct net_read {
	_Alignas(64) VIP_DESCRIPTOR flag;
	_Alignas(64) VIP_DESCRIPTOR read;
	uint32_t page;
};

/* The first of a chunk is but a link to the next chunk. */
struct net_parcel {
	struct net_parcel *next;
	struct dsm_parcel m;
};

struct net_link {
	VIP_VI_HANDLE vi;
	unsigned int credits;		/* messages that may leave */
	unsigned int given;		/* receives posted since they were told */
	unsigned int sends, sent;	/* slots in use; posted in all */
	unsigned int reads, read;
	struct net_parcel *first, **last;	/* messages that wait */
	VIP_UINT64 memory;		/* the other end's */
	VIP_MEM_HANDLE handle;
	bool up, greeted, bye;
	bool owes;			/* credits that could not be told */
	const char *why;		/* a send has failed */
	struct net_slot slot[NET_SENDS], in[NET_RECVS];
	struct net_read fetch[NET_READS];
};

struct net {
	VIP_NIC_HANDLE nic;
	VIP_NIC_ATTRIBUTES attr;
	VIP_UINT64 features;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE rouser;		/* is never connected, has one receive */
	VIP_DESCRIPTOR *roused;		/* that one */
	atomic_bool rouses;		/* it was flushed, or is about to be */
	VIP_MEM_HANDLE memory_handle, buffer_handle;
	uint8_t *memory;		/* pages and flags; a region if by_read */
	size_t bytes;			/* of the pages */
	size_t all;
	uint8_t *buffer;		/* a byte that is 1, messages, links */
	size_t buffer_bytes;
	unsigned int me, size;
	unsigned int gone;		/* nodes that sent MSG_BYE */
	unsigned int waiting;		/* what cannot leave yet */
	bool by_read;			/* pages are fetched by RDMA Read */
	struct net_parcel *spare, *chunks;
	struct net_link *link;
	void (*received)(const struct dsm_msg *m);
	void (*fetched)(uint32_t page);
};

/* Where the nodes are. host[i] may be NULL: this one. */
struct net_place {
	const char *device;
	char job[48];
	const char *host[DSM_NODES];
	char *list;			/* where those are */
};

/* memory, bytes, all, me, size and the calls are set. Opens the device; sets
 * by_read to `fetch`, or to what suits the NIC where that is -1, and registers
 * memory if it is to be read; ends the program where it cannot.
 */
void net_open(struct net *n, const char *device, int fetch);

/* Connects to all others, while another thread is in net_wait(). */
void net_connect(struct net *n, const struct net_place *place,
		 void (*lock)(void), void (*unlock)(void));

/* The VI of a completion, or NULL: there is none, or not within `ms`. No lock. */
VIP_VI_HANDLE net_look(struct net *n);
VIP_VI_HANDLE net_wait(struct net *n, unsigned int ms);

/* Ends a net_wait() of another thread, or the next one. No lock. */
void net_rouse(struct net *n);

/* Handles the completions of that VI. */
void net_handle(struct net *n, VIP_VI_HANDLE vi);

void net_send(struct net *n, unsigned int to, const struct dsm_msg *m);
void net_fetch(struct net *n, unsigned int home, uint32_t page);

/* Messages that wait leave, if they can now. */
void net_push(struct net *n);

/* All sends have completed, or their connection has ended. */
bool net_idle(struct net *n);

/* This node sends nothing more; the others may end, too. */
void net_bye(struct net *n);
void net_close(struct net *n);

#endif
