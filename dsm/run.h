/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The node that this process is: the protocol's state, its memory and its
 * links, under one lock, and the thread that handles messages while no thread of
 * the program waits for the protocol. Those that do wait here, and one of them
 * handles messages meanwhile: lead.h has the rules.
 */
#ifndef DSM_RUN_H
#define DSM_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "lead.h"
#include "net.h"
#include "node.h"
#include "view.h"

/* What the environment says, see boot.c. */
struct run_config {
	unsigned int me, size;
	unsigned int here;	/* nodes on this one's host, with it */
	size_t memory;
	enum view_method method;
	int by_read;		/* -1: whichever suits the NIC */
	int spin;		/* looks before a wait sleeps, -1: by the CPUs */
	int stats_fd;		/* -1: none is printed */
	struct net_place place;
};

/* Looks at the NIC before a sleep: for a time, or so often where that is 0. */
struct run_poll {
	uint64_t ns;
	unsigned int times;
	bool learns;		/* ns, from how long waits take */
};

struct run {
	struct run_config config;
	struct node node;
	struct net net;
	struct view view;
	pthread_mutex_t lock;
	pthread_t server;
	struct lead lead;
	atomic_uint bell;	/* the server sleeps on it */
	atomic_uint turn;	/* low half of node.events */
	atomic_int sleepers;
	struct run_poll poll, serve_poll;
	bool up, forked;
	bool threads_serve;	/* those that wait: the NIC */
	atomic_bool ends;
	size_t used;		/* bytes that were allocated */
	atomic_ulong read_faults, write_faults;
	atomic_ulong fault_ns, lock_ns, barrier_ns;
};

extern struct run this_node;

/* A call of the protocol that returns false where it has to wait. */
typedef bool (*run_call)(struct node *n, void *argument);

void run_start(void);
void run_stop(void);

/* Makes the call, and again until it is true. The thread may serve the NIC
 * meanwhile: that needs as much of its stack as the NIC's provider does.
 */
void run_until(run_call call, void *argument, bool may_serve);

void run_lock(void);
void run_unlock(void);

/* This thread has the lock, is about to take it, or is in the NIC: a fault now is
 * one of a signal handler of the program's.
 */
bool run_inside(void);

/* Ends the program for node.wrong. */
void run_wrong(void) __attribute__((noreturn));

uint64_t run_now(void);		/* ns */

#endif
