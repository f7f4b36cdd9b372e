/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viatest frames: throws frames of our EtherType at a node, as fast as the
 * interface takes them: made from the structure of the wire format, learnt
 * from connections that go on beside it, replayed, changed and forged.
 *
 * Two kinds of connections are told apart by the discriminator they were made
 * for.  Those made for "sacrifice" may be attacked with their own cookies
 * from the right address, which nothing on the wire protects against.  All
 * others are protected: no frame goes out that has a cookie of theirs and
 * comes from one of their ends.  They must not notice anything.
 */
#ifndef FRAMES_FRAMES_H
#define FRAMES_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "common/rng.h"
#include "wire.h"

#define ETH		14u
#define ROOM		9200u	/* bytes of a frame at most */

struct frame {
	uint32_t len;		/* Ethernet header included */
	uint8_t b[ROOM] __attribute__((aligned(8)));
};

/* What is thrown; classes.c says how each is made. */
enum class {
	VERSION, TYPE, CUT, LENGTHS, FIELDS, LONG, EDGES, NO_VI, COOKIE,
	REPLAY, REFLECT, MUTATE, FORGE, REQUESTS, PEERS, NAMES, RESETS,
	ACCEPTS, VERDICTS, GROUP, CLASSES
};

extern const char *const class_names[CLASSES];

/* Where to: set once. */
struct field {
	uint8_t own[6], target[6];
	uint32_t mtu;
	const char *spare;	/* discriminator of what may be broken */
};

extern struct field field;

/* Headers of a frame. */
static inline struct via_wire *wire_of(struct frame *f)
{
	return (struct via_wire *)(f->b + ETH);
}

/* Where the frame is of a type that has it. */
static inline struct via_wire_conn *conn_of(const struct via_wire *w)
{
	return (struct via_wire_conn *)((uint8_t *)w + VIA_WIRE_HELLO_LEN);
}

/* classes.c: a frame of that type with which nothing is wrong. */
void well_formed(struct frame *f, uint8_t type, struct rng *d);
/* Makes one frame; false when there is nothing to make it of. */
int make(struct frame *f, enum class class, struct rng *d);

/* Its checksum, if it is to have one. */
void seal(struct frame *f);

/* main.c: learns what has passed. */
void listen_to(int fd);
/* hang.c: requests that a server takes, of clients that do not exist. */
int hang(int fd, const char *ifname, uint64_t seed, uint32_t count, int own);

/* learn.c: one frame that the interface has seen. */
void learn(const uint8_t *p, uint32_t len, int outgoing);
/* A frame seen before; false when there is none. */
int recall(struct frame *f, struct rng *d, int outgoing);
/* One of a connection that may be broken, to the target. */
int recall_spare(struct frame *f, struct rng *d);
/* A VI's id and a cookie at the target, live or dead. */
void recall_vi(struct rng *d, uint32_t *dst, uint64_t *cookie);
/* Whether a connection that must not notice has this cookie. */
int is_protected(uint64_t cookie);

struct learnt {
	uint64_t frames;
	uint32_t spare, protected;	/* connections */
	uint64_t epoch, token;		/* of this host, as on the wire; or 0 */
	uint8_t accept[ETH + VIA_WIRE_CONN_LEN];	/* the last from there */
	uint32_t accepts;
};

extern struct learnt learnt;

#endif
