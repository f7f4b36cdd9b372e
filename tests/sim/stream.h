/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streams of messages over connections, both ways, each byte known: as
 * viatest stress (tests/viatest/stress) has them.  The ends see each other's counters in
 * memory: no frame of the wire is spent on flow control.
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "prog.h"

#define STREAM_SLOTS	128		/* messages of one end under way */

/**
 * struct stream_plan - what both ends of a connection do
 * @level:	VIA_UNRELIABLE ...
 * @messages:	of each session, [0]: of the client
 * @sessions:	connections one after the other, by the same VI
 * @most:	bytes of a message
 * @depth:	receives posted ahead
 * @slots:	messages under way, <= STREAM_SLOTS
 * @pace_ns:	pause between messages, drawn from 0 to twice as much
 * @big:	messages are of any size alike, not small mostly
 * @same:	messages are of one size
 * @plain:	sends only: no RDMA
 * @may_break:	the connection may be lost; both ends must know then
 * @may_lie:	bytes may be wrong, and all may end in silence: nothing is
 *		checked but that it ends
 * @no_loss:	Unreliable, and all must arrive
 * @ghosts:	others may ask the server, with attributes that do not fit
 * @idle_ns:	the client pauses so long in the middle
 * @hold:	nothing is sent as long as it says so
 * @patience:	ns without progress of any kind until it counts as a hang
 */
struct stream_plan {
	u32 level;
	u32 messages[2];
	u32 sessions;
	u32 most;
	u32 depth;
	u32 slots;
	u64 pace_ns;
	bool big, same, plain, may_break, may_lie, no_loss, ghosts;
	u64 idle_ns;
	const bool *hold;
	u64 patience;
};

struct stream;

struct stream_sent {			/* a descriptor posted */
	u32 number;			/* of its message */
	u32 op;				/* VIA_ST_OP_* */
	u32 len;
	bool last;			/* of its message */
};

/* One end of a connection: a process with a handle, a VI and a queue. */
struct stream_end {
	struct stream *stream;
	struct stream_end *peer;
	bool client;
	char name[24];
	u32 host;
	u8 server[ETH_ALEN];		/* the server's address */
	struct sim_proc *proc;
	struct prog_nic nic;
	struct prog_vi vi;
	struct prog_cq cq;
	u8 *out, *in, *target, *back;
	u32 session;
	u32 stage;			/* of all sessions: meet() */
	bool up;			/* connected in this session */
	bool finished;			/* sent and received all */
	bool closing;			/* about to disconnect */
	bool over;			/* this session */
	bool ended;			/* all sessions */
	bool lost;
	bool killed;
	u64 died;
	u32 posted;			/* messages of this session */
	u32 sent;			/* complete */
	u32 ok;				/* complete without an error */
	u32 next;			/* number of the message that is to come */
	u32 got;			/* messages that came */
	u32 room;			/* receives posted in this session */
	u64 progress;			/* when */
	struct stream_sent fifo[1024];
	u32 fifo_head, fifo_tail;
	u64 all_sent, all_got, all_bytes, all_lost, conns;
	u64 begin, end;			/* of the first session's data, of the last */
};

struct stream {
	struct stream_plan plan;
	char disc[24];
	u64 seed;
	u32 stride;
	struct stream_end end[2];	/* client, server */
};

/* Threads begin, on these hosts. */
struct stream *stream_begin(const struct stream_plan *plan, u32 index,
			    u32 client, u32 server);
bool stream_done(const struct stream *s);
/* The host of one end dies: its process is killed, what it has is lost. */
void stream_kill(struct stream *s, u32 host);
/* Until both ends have ended; then @s is gone. */
void stream_end(struct stream *s);
/* The same in either direction, by the dice. */
struct stream *stream_between(const struct stream_plan *plan, u32 index);
/* So many messages of one size from a client, which sends them and no more. */
struct stream_plan stream_bulk(u32 messages, u32 bytes);
/* A plan with sizes, numbers and limits drawn; level by the dice if 0. */
void stream_draw(struct stream_plan *plan, u32 level);

/* What session.c has from stream.c.  Posts as many receives as are planned: */
void stream_fill(struct stream_end *e);
/* Takes what has completed, after waiting so long for the first; any? */
bool stream_collect(struct stream_end *e, u64 ns);
/* Sends and receives until all has arrived, or the connection is lost. */
void stream_transfer(struct stream_end *e);
/* A line of figures, on standard error. */
void stream_figure(const char *fmt, ...)
	__attribute__((__format__(printf, 1, 2)));

#endif
