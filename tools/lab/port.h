/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One port of the switch: its connection to a guest's NIC, its way out. */
#ifndef LAB_PORT_H
#define LAB_PORT_H

#include <stdint.h>

#include "frame.h"

#define MAX_PORTS	10

struct counters {
	uint64_t in_frames, in_bytes, out_frames, out_bytes;
	uint64_t lost, corrupted, slipped, duplicated, reordered;
	uint64_t queue_drops, stuck_drops, cut_drops, malformed;
};

/* A frame that waits for later ones to pass it. */
struct held {
	struct frame frame;
	unsigned int behind;	/* frames still to pass */
	uint64_t until;		/* ns: goes anyway */
};

#define MAX_HELD	1024

struct port {
	unsigned int number;
	int listener;
	int fd;			/* -1: nothing is plugged in */
	uint32_t events;	/* that epoll watches fd for */

	struct chunk *in;	/* where read() goes */
	size_t parsed;		/* bytes of it that were looked at */
	uint64_t seen;		/* frames, for the dice */
	uint64_t doomed;	/* frames that the burst still takes */
	uint64_t counted;	/* frames that may suffer, for `each` */
	uint64_t fed;		/* ports that the last read() fed */
	int waits_for;		/* the port whose backlog stops us, or -1 */

	struct frame *ring;	/* the way out, first in, first out */
	uint32_t size, head, tail, waiting;	/* waiting: rate-limited yet */
	uint32_t head_sent;	/* bytes of the first one that are gone */
	uint64_t backlog;	/* bytes in the ring */
	uint64_t last_sent, last_due;
	uint64_t progress;	/* ns: when bytes last went out */
	int stuck;		/* its guest reads nothing: do not queue */
	struct held held[MAX_HELD];
	unsigned int nheld;
	struct counters count;
};

extern struct port ports[MAX_PORTS];
extern unsigned int nports;

uint64_t now_ns(void);

void port_read(struct port *p);
/* Queue a frame (takes over one reference of its chunk). */
void port_queue(struct port *p, struct frame f, uint64_t now);
void port_hold(struct port *p, struct frame f, unsigned int behind,
	       uint64_t now);
void port_flush(struct port *p, uint64_t now);
void port_close(struct port *p);
/* Time-driven work; returns when it is wanted again, UINT64_MAX: never. */
uint64_t port_timer(struct port *p, uint64_t now);

/* Provided by switch.c: where a frame that came in goes. */
void switch_frame(struct port *from, struct chunk *chunk, uint32_t off,
		  uint32_t len, uint64_t now);
/* Provided by switch.c: watch p->fd for other events. */
void watch(struct port *p, uint32_t events);

#endif
