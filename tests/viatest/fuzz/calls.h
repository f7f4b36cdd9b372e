/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the threads of an attacker have in common, and the calls they make. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <stddef.h>
#include "fuzz.h"

#define FILES		3u
#define MAPS		32u
#define CTLS		8u
#define SPACE		(1u << 20)
#define PATIENCE_NS	300000u	/* a time-out is mostly below */

/* No lock on purpose: what races here is the kernel's to survive. */
struct self {
	const char *device;
	int fd[FILES];
	uint32_t pool[FILES][POOLS][POOL];
	uint8_t *map[MAPS];		/* what is shared with the kernel */
	size_t map_size[MAPS];		/* bytes */
	uint32_t map_vi[MAPS];		/* whose queues; or any */
	int map_fd[MAPS];
	uint8_t *ctl[CTLS];		/* control pages, some of them gone */
	uint8_t *space;			/* registered in pieces */
	uint64_t ops_left;
	int stranger;			/* has not opened what it calls */
	struct score *score;
};

extern struct self self;

int open_one(void);
/* A number at an edge, or any. */
uint64_t interesting(struct rng *r);
/* The calls by number, so that a program of them can be written down. */
uint32_t call_kinds(void);
void call_kind(uint32_t kind, struct rng *r);
/* Which of the files most of the next calls of this thread are made on. */
void call_file(uint32_t i);
void call_strange(struct rng *r);
/* The favourite, or any. */
int file(struct rng *r);

/* Calls about the address space: other memory, and what fork makes of it. */
void remap(struct rng *r);
void pages(struct rng *r);
void forked(struct rng *r);

/* A thread of guided(): programs of calls, by what they reach in the kernel. */
void guided_thread(struct rng *r, int (*over)(void));

#endif
