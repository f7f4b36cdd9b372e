/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SHM_RING_H
#define SHM_RING_H

/*
 * ring - packets from one process to another, through memory of both
 *
 * The receiver makes the memory (memfd, sealed against resizing), the sender
 * maps it. It is one page of words and RING_LINES lines of 64 bytes. A packet
 * is some lines in a row; the first word of the first one says what it is, 0
 * as long as there is none. The sender writes the packet, a zero into the
 * first word after it, and the word itself last (release): so the receiver
 * looks at one line (acquire), which comes with the packet in it, and at no
 * index. Old bytes are never taken for a packet. What does not fit before the
 * end of the ring begins at its start; a PAD is where it would have been.
 *
 * Room. The receiver publishes `head`, the lines that it has taken, seldom:
 * each 1/8 of the ring, and when `starved` says that the sender waits.
 *	sender: starved = 1; fence; head?	receiver: took lines; starved?
 * A sender that starves also rings, so that the receiver looks once more.
 *
 * Doorbells. A receiver that looks at a ring all the time leaves `idle` 0. Else
 * the sender sets the ring's bit in a bitmap of the receiver's, its doorbell.
 * When the receiver sleeps, its `sleeps` is odd and the sender wakes it by a
 * system call, once for each odd value. `sleeps` is in memory that only the
 * receiver can write.
 *	sender: publish packet; fence; idle?, set bit, sleeps?
 *	receiver: idle = 1 (sleeps++); fence; packet? (bits?)
 *
 * What the other process can write is read once, bounded, and believed as far
 * as it concerns the connections with that process.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <vipl/engine.h>

#define RING_LINES	4096u		/* a power of two */
#define RING_LINE	64u		/* bytes */
#define RING_EAGER	8192u		/* bytes of payload, at most */
#define RING_HEAD_STEP	(RING_LINES / 8)	/* lines between two heads */
#define RING_PAGE	4096u		/* bytes before the lines */
#define RING_BYTES	(RING_PAGE + RING_LINES * RING_LINE)

#define DOORBELL_WORDS	64u
#define DOORBELL_SLOTS	(DOORBELL_WORDS * 64)	/* peers of a NIC */

enum ring_type {
	RING_NONE,
	RING_PAD,		/* go on at the ring's start */
	RING_PACKET,		/* the engine's header and payload */
	RING_SHORT,		/* the same, the header's tail is zero */
	RING_PULL,		/* pull_head, then what to pull from */
	RING_DATA,		/* pull_head, then bytes that were pulled */
	RING_PLAIN,		/* struct eng_plain and payload: one line */
	RING_TYPES
};

/* The word of a RING_PLAIN, but for the length. */
#define RING_PLAIN_WORD	((uint64_t)RING_PLAIN << 32)
#define RING_LENGTH	UINT32_MAX

/* The header's bytes that a RING_SHORT carries. */
#define RING_SHORT_HEAD	48u

/* How a RING_PULL and a RING_DATA begin. */
struct pull_head {
	uint64_t id;			/* chosen by the end that pulls */
	uint64_t at;			/* PULL: bytes in all; DATA: offset */
	int32_t err;			/* DATA: 0 or a negative errno */
	uint32_t nsrc;			/* PULL: how many sources follow */
};
#define RING_PULL_HEAD	sizeof(struct pull_head)

struct ring_line {
	_Atomic uint64_t word;		/* type << 32 | bytes of payload */
	uint8_t bytes[RING_LINE - 8];
};

struct ring {
	/* written by the receiver */
	_Alignas(128) _Atomic uint32_t head;	/* lines taken, ever */
	_Atomic uint32_t idle;			/* the bit is wanted */
	/* written by the sender */
	_Alignas(128) _Atomic uint32_t starved;
	_Alignas(RING_PAGE) struct ring_line line[RING_LINES];
};

_Static_assert(8 + sizeof(struct eng_plain) + ENG_PLAIN_MAX == RING_LINE,
	       "a plain packet is a line");
_Static_assert(RING_LINES % RING_HEAD_STEP == 0,
	       "a ring ends where its head is published");
_Static_assert(sizeof(struct ring) == RING_BYTES, "size of a ring");

/* Of a receiver: which of its rings have something. Peers write it. */
struct doorbell {
	_Alignas(64) _Atomic uint64_t sum;	/* words that are not 0 */
	_Alignas(64) _Atomic uint64_t word[DOORBELL_WORDS];
};

/*
 * The status of a NIC, which peers can only read. export[] has the generation
 * of what is, or was last, exported in each place: a peer that has copied the
 * bytes looks whether they were exported until then. Pages that are not used
 * take no memory.
 */
#define STATUS_EXPORTS	262144u

struct status {
	_Atomic uint32_t sleeps;	/* odd: it sleeps, or is about to */
	_Alignas(64) _Atomic uint32_t export[STATUS_EXPORTS];
};

/* The sender's end of a ring; private. */
struct ring_out {
	struct ring *ring;
	struct ring_line *at;		/* where the next packet goes */
	uint32_t left;			/* lines in a row there, at least */
	uint32_t tail;			/* lines written, ever */
	uint32_t head;			/* as last seen */
	int bad;			/* the receiver has lied */
};

/* The receiver's end of a ring; private. */
struct ring_in {
	struct ring *ring;
	struct ring_line *at;		/* of the next packet: of head */
	uint32_t head;			/* lines taken, ever */
	uint32_t published;		/* ring->head */
	uint32_t rung;			/* head when the sender was last rung */
};

/* Lines of a packet with that many bytes after the word. */
static inline uint32_t ring_lines(uint32_t bytes)
{
	return (bytes + 8 + RING_LINE - 1) / RING_LINE;
}

static inline struct ring_line *ring_at(struct ring *r, uint32_t line)
{
	return &r->line[line & (RING_LINES - 1)];
}

static inline int ring_room(struct ring_out *o, uint32_t lines)
{
	return RING_LINES - (o->tail - o->head) >= lines;
}

/* Look at the head again; whether there is room now. */
static inline int ring_look(struct ring_out *o, uint32_t lines)
{
	uint32_t head = atomic_load_explicit(&o->ring->head,
					     memory_order_acquire);

	if (o->tail - head > RING_LINES) {
		o->bad = 1;
		return 0;
	}
	o->head = head;
	return ring_room(o, lines);
}

/* Where a packet goes that `left` has not enough lines for. */
struct ring_line *ring_claim_more(struct ring_out *o, uint32_t lines);

/*
 * Where a packet of that many lines goes, or NULL: there is no room. One line
 * more than the packet's is free: the zero.
 */
static inline struct ring_line *ring_claim(struct ring_out *o, uint32_t lines)
{
	return lines <= o->left ? o->at : ring_claim_more(o, lines);
}

/* Publish the packet at `at`, which was claimed and is of that many lines. */
static inline void ring_publish(struct ring_out *o, struct ring_line *at,
				uint32_t lines, enum ring_type type,
				uint32_t len)
{
	o->tail += lines;
	o->left -= lines;
	o->at = ring_at(o->ring, o->tail);
	atomic_store_explicit(&o->at->word, 0, memory_order_relaxed);
	atomic_store_explicit(&at->word, (uint64_t)type << 32 | len,
			      memory_order_release);
}

/* The word of the next packet, or 0. */
static inline uint64_t ring_next(const struct ring_in *in)
{
	return atomic_load_explicit(&in->at->word, memory_order_acquire);
}

/* Lines were taken. */
static inline void ring_take(struct ring_in *in, uint32_t lines)
{
	in->head += lines;
	in->at = ring_at(in->ring, in->head);
}

static inline void ring_publish_head(struct ring_in *in)
{
	in->published = in->head;
	atomic_store_explicit(&in->ring->head, in->head, memory_order_release);
}

/*
 * Does the sender wait for lines that were taken? Also when head was published:
 * it may have gone to sleep before that.
 */
static inline int ring_starved(const struct ring_in *in)
{
	return in->rung != in->head &&
	       atomic_load_explicit(&in->ring->starved, memory_order_relaxed);
}

#endif /* SHM_RING_H */
