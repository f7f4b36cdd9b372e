/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the images have to run, for the scenarios: no types of either side.
 * The second image's names begin with b_.
 */
#ifndef SIM_VIPL_PROGRAMS_H
#define SIM_VIPL_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two programs of several threads, by VIPL's calls only. */
struct talk {
	const char *device;
	const uint8_t *host;		/* the server's, six bytes */
	unsigned int level;
	bool client;
	unsigned int messages;		/* each way, of each connection */
	unsigned int lanes;		/* connections */
	unsigned int posters;		/* instead: threads that post to one VI */
	bool abrupt;			/* closes the NIC with all of it alive */
	bool may_fail;			/* allocations fail: no complaints */
	unsigned int *closed;		/* NICs that were closed */
};

void *talk_main(void *talk);
void *b_talk_main(void *talk);

/* Threads that post to a VI whose connection ends. */
struct posts {
	const char *device;
	unsigned int rounds;		/* connections, one after the other */
	unsigned int posters;		/* threads */
	unsigned int each;		/* receives that each of them posts */
	unsigned int before_ns;		/* the end comes after that */
};

void *posts_main(void *posts);

/* A pattern of tests/bench over VIA, by programs that sleep in their waits. */
struct patterns {
	const char *device;
	bool client;
	unsigned int pattern;		/* of pattern.h */
	unsigned int level;
	unsigned int conns;
	const char *peer;		/* one thread with both ends: the other */
	unsigned int think, think_server;	/* us */
	/* Both ends have these: for their control connection. */
	void *where[2];			/* of client, of server */
	unsigned int *met;		/* ends that are there */
	bool *ended;
	/* The client's, us of a round. */
	double *p50, *max, *mean;
	unsigned int *lost;
};

#define PATTERNS_WHERE	1024		/* bytes of where[] */

void *patterns_main(void *patterns);
void *b_patterns_main(void *patterns);

/* A node of libviadsm: a random program over memory that two nodes share. */
#define SHARED_NODES	2
#define SHARED_PAGES	8

struct model;

struct shared {
	const char *device, *host[SHARED_NODES];
	unsigned int rank;
	int by_read, spin;		/* of struct run_config */
	unsigned int threads, phases, acts;	/* acts: of a thread in a phase */
	bool locked;			/* places are behind locks, or race */
	unsigned int place[16];		/* bytes of shared memory */
	uint64_t random[2];		/* of its threads */
	/* Both nodes have these. */
	struct model *model;		/* tests/dsm/model.h */
	unsigned int *begun, *ended;	/* nodes behind dsm_init(), dsm_exit() */
	unsigned int *came, *reads;	/* to barriers; of places */
	uint64_t *longest;		/* of calls and accesses, ns */
};

void *shared_main(void *shared);
void *b_shared_main(void *shared);

/* The conformance suite: a test is a group, at a level if it has levels. */
struct conform {
	unsigned int test;
	const char *device;
	const uint8_t *host;		/* the peer's, or NULL: the device's own */
	bool verbose;
	struct verdicts *verdicts;
};

unsigned int conform_tests(void);
void conform_name(unsigned int test, char *name, size_t size);
bool conform_needs_peer(unsigned int test);
unsigned int conform_deadline(unsigned int test);	/* seconds */
/* Why it is not run here, or NULL. */
const char *conform_left_out(unsigned int test);
struct verdicts *conform_verdicts(void);
/* What is wrong, as a line; false: nothing. */
bool conform_wrong(const struct verdicts *v, char *line, size_t size);
unsigned int conform_checks(const struct verdicts *v);
/* Where it is now. */
void conform_step(const struct verdicts *v, char *line, size_t size);
void *conform_main(void *conform);
void *b_conform_peer(void *conform);

#endif
