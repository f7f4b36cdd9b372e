/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the wire does to frames, and by which dice.
 *
 * Every decision is a hash of the seed, the port a frame came in by, its
 * number there and the kind of decision: the same frames meet the same fate
 * whatever the timing, and changing one setting leaves the others' dice alone.
 */
#ifndef LAB_IMPAIR_H
#define LAB_IMPAIR_H

#include <stddef.h>
#include <stdint.h>

enum dice { LOSS, CORRUPT, SLIP, SLIP_WHERE, DUP, REORDER, REORDER_BY, JITTER };

struct settings {
	double loss;		/* probabilities, 0 to 1 */
	double dup;
	double reorder;		/* held back behind 1 to `gap` later frames */
	double corrupt;		/* found by the frame check: dropped, counted */
	double slip;		/* not found: one bit behind the header flips */
	uint64_t seed;
	uint64_t burst;		/* frames in a row that a loss takes */
	uint64_t gap;
	uint64_t hold;		/* ns: nothing is held back for longer */
	uint64_t delay;		/* ns */
	uint64_t jitter;	/* ns, at most, on top; never reorders */
	uint64_t rate;		/* bit/s of each way out, 0: unlimited */
	uint64_t queue;		/* frames waiting at a way out, 0: see port.c */
	uint64_t only;		/* EtherType that alone suffers, 0: all */
	uint64_t least, most;	/* bytes: such frames alone suffer; most 0: any */
	uint64_t each;		/* every so-many-th that may suffer is lost, 0: none */
	uint64_t forget;	/* ns: addresses are unlearned so often, 0: not */
	uint64_t cut;		/* mask of ports that are unplugged */
	uint64_t deaf;		/* mask of ports that are given nothing */
	uint64_t mute;		/* mask of ports that nothing is taken from */
};

extern struct settings wire;

/*
 * Takes one "key=value"; returns NULL or what is wrong with it.
 * Nothing changes when something is wrong.
 */
const char *setting_take(struct settings *s, const char *word);

/* All of them as words that setting_take() takes; returns the length. */
size_t settings_put(char *to, size_t size, const struct settings *s);

/* The die for one decision: 0 to 2^64 - 1, and as a share of 1. */
uint64_t dice_roll(unsigned int port, uint64_t number, enum dice kind);
int dice_hit(double share, unsigned int port, uint64_t number, enum dice kind);

#endif
