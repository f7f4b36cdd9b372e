/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Races on one VI's attempt to connect: what a round is made of. */
#ifndef FUZZ_RACE_H
#define FUZZ_RACE_H

#include <semaphore.h>
#include <stdint.h>
#include "common/abi.h"
#include "fuzz.h"

#define RACERS		3u
#define STEPS		4u		/* calls of a racer in a round, at most */
#define STOPS		3u		/* times that a CPU is taken away */
#define VIS		3u		/* X; Y, that it matches; Z, that not */

enum op { O_NONE, O_PEER, O_REQUEST, O_RESULT, O_DISCONNECT, O_DESTROY,
	  O_QUERY, O_SET, O_WAIT, O_ACCEPT, O_REJECT, OPS };

/* Before a step: nothing, a pause, or until just about the deadline. */
enum moment { AT_ONCE, AT_PAUSE, AT_DEADLINE };

struct step {
	enum op op;
	uint32_t vi;			/* 0 .. VIS - 1 */
	uint32_t flags;			/* of CONN_RESULT */
	uint64_t timeout;		/* ns, or VIA_FOREVER */
	uint32_t times;			/* at most: while it is refused */
	enum moment moment;
	int32_t offset;			/* ns: of the moment */
	uint32_t tick;			/* where no deadline is known: which */
};

/* A round: drawn before it begins, constant while it runs. */
struct plan {
	const char *plot;
	uint32_t racers;
	int patient;			/* a request is to come first */
	struct step step[RACERS][STEPS];
	uint32_t stops;
	uint32_t stop_racer;		/* whose CPU is taken */
	int stop_late;			/* near an accept, not at the start */
	uint32_t stop_at[STOPS];	/* ns after the start, or its equal */
	uint32_t stop_for[STOPS];	/* ns; 0: until the deadline is over */
};

/* What came of the calls, so that it is seen whether anything did. */
struct tally {
	uint64_t calls, connected, refused, late, early, destroyed, accepted;
};

struct race {
	const char *device;
	const uint8_t *host;		/* the partner's address: over a wire */
	struct abi side[2];		/* of X; of Y and Z */
	uint32_t vi[VIS];
	struct plan plan;
	uint64_t tick;			/* ns of a jiffy */
	uint64_t start;			/* ns: atomic, when racers go */
	uint32_t arrived, running;	/* atomic */
	uint64_t deadline;		/* ns: atomic, of the last request */
	uint64_t aim;			/* ns: atomic, of an accept near it */
	uint32_t conn[RACERS];		/* found by each racer's last wait */
	uint32_t destroyed[VIS];	/* atomic */
	struct tally tally;
};

extern struct race race;

void plan_draw(struct plan *p, struct rng *r, int wire);
void plan_print(const struct plan *p);

/* Threads that carry the plan out. */
void racers_start(unsigned int cpus);
void racers_place(struct rng *r);
/* False: it did not end in so many ms; then again, or say where it stands. */
void racers_go(void);
int racers_wait(unsigned int ms);
void racers_where(void);

/* A handle; the program ends without it. */
void race_open(struct abi *a);
/* One call; a verdict, or -errno.  The others are of VI @i on its side. */
int race_call(unsigned int side, unsigned long request, void *arg);
int race_vi(unsigned int i, unsigned long request);
int race_result(unsigned int i, uint32_t flags);
/* For requests of clients (c), servers (s) and peers (p), on side 0 or 1. */
void race_address(struct via_net_addr *a, const uint8_t *host, char what,
		  unsigned int side);

/* Rounds; the number of faults. */
int race_rounds(const char *device, uint64_t seed, uint64_t rounds,
		const uint8_t *host);
/* What another host's race needs here, until it is killed. */
int race_partner(const char *device, uint64_t seed, const uint8_t *host);

#endif
