/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_PAIR_H
#define TOOLS_PAIR_H

#include "chan.h"

/*
 * Both ends of a connection in one process and, once connected, in one
 * thread: what runs then is the program and the kernel's path, so that a
 * counted instruction is one of theirs.
 */
struct pair {
	struct nic	nic[2];
	struct chan	ch[2];
};

/* Both receive queues are filled before the connection is made. */
void pair_init(struct pair *p, const struct opts *o,
	       const struct chan_config *c);
void pair_open_nics(struct pair *p, const struct opts *o);
void pair_connect(struct pair *p);
void pair_fini(struct pair *p);

/* The receive buffer of one end, as the other one writes to it. */
struct remote_buf pair_remote(const struct pair *p, int end);

#endif
