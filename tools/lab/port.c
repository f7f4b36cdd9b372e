// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Without a queue limit the wire loses nothing by itself: when a way out has
 * HIGH bytes waiting, the ports that feed it are not read until it is down to
 * LOW, and QEMU holds their guests' frames back.  A guest that takes nothing
 * for STUCK_NS (its NIC is down or gone) must not stop the others: its frames
 * are dropped until it reads again, as a real switch would drop them.
 */
#include "port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "impair.h"

#define HIGH		(512u * 1024)
#define LOW		(128u * 1024)
#define STUCK_NS	1000000000ull
#define RING_MAX	(1u << 17)
#define IOVS		256

struct port ports[MAX_PORTS];
unsigned int nports;

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static struct frame *slot(struct port *p, uint32_t i)
{
	return &p->ring[i & (p->size - 1)];
}

static int grow(struct port *p)
{
	uint32_t size = p->size ? p->size * 2 : 1024;
	struct frame *ring;

	if (size > RING_MAX)
		return -1;
	ring = malloc(size * sizeof(*ring));
	if (!ring)
		return -1;
	for (uint32_t i = p->head; i != p->tail; i++)
		ring[i & (size - 1)] = *slot(p, i);
	free(p->ring);
	p->ring = ring;
	p->size = size;
	return 0;
}

/* Frames that the queue limit counts: not yet on the wire. */
static uint32_t occupancy(struct port *p, uint64_t now)
{
	if (!wire.rate)
		return wire.delay || wire.jitter ? 0 : p->tail - p->head;
	if ((int32_t)(p->waiting - p->head) < 0)
		p->waiting = p->head;
	while (p->waiting != p->tail && slot(p, p->waiting)->sent <= now)
		p->waiting++;
	return p->tail - p->waiting;
}

static uint64_t jitter(struct port *p)
{
	if (!wire.jitter)
		return 0;
	return dice_roll(p->number, p->tail, JITTER) %
	       (wire.jitter + 1);
}

static void append(struct port *p, struct frame f, uint64_t now)
{
	if (p->fd < 0 || p->stuck) {
		p->count.stuck_drops++;
		chunk_put(f.chunk);
		return;
	}
	if ((wire.queue && occupancy(p, now) >= wire.queue) ||
	    (p->tail - p->head == p->size && grow(p))) {
		p->count.queue_drops++;
		chunk_put(f.chunk);
		return;
	}
	f.sent = now;
	if (wire.rate) {
		/* 24: preamble, frame check, gap; 4: the length word */
		uint64_t bits = (f.len - 4 + 24) * 8ull;

		if (p->last_sent > f.sent)
			f.sent = p->last_sent;
		f.sent += bits * 1000000000ull / wire.rate;
	}
	p->last_sent = f.sent;
	f.due = f.sent + wire.delay + jitter(p);
	if (f.due < p->last_due)
		f.due = p->last_due;	/* first in, first out */
	p->last_due = f.due;
	if (p->head == p->tail)
		p->progress = now;
	*slot(p, p->tail++) = f;
	p->backlog += f.len;
}

void port_queue(struct port *p, struct frame f, uint64_t now)
{
	unsigned int i = 0;

	append(p, f, now);
	while (i < p->nheld) {
		if (--p->held[i].behind) {
			i++;
			continue;
		}
		append(p, p->held[i].frame, now);
		p->held[i] = p->held[--p->nheld];
	}
}

void port_hold(struct port *p, struct frame f, unsigned int behind,
	       uint64_t now)
{
	if (p->nheld == MAX_HELD) {
		append(p, f, now);
		return;
	}
	p->held[p->nheld++] = (struct held){ f, behind, now + wire.hold };
}

static void release_feeders(struct port *p)
{
	for (unsigned int i = 0; i < nports; i++) {
		struct port *q = &ports[i];

		if (q->waits_for != (int)p->number)
			continue;
		q->waits_for = -1;
		if (q->fd >= 0)
			watch(q, q->events | EPOLLIN);
	}
}

/* A frame that is half out must be finished, all others go. */
static void drop_queue(struct port *p)
{
	uint32_t keep = p->head_sent && p->fd >= 0;

	while (p->tail - p->head > keep) {
		chunk_put(slot(p, --p->tail)->chunk);
		p->count.stuck_drops++;
	}
	p->backlog = keep ? slot(p, p->head)->len - p->head_sent : 0;
	p->waiting = p->head;
	release_feeders(p);
}

/* Takes n written bytes off the front of the ring. */
static void advance(struct port *p, size_t n)
{
	p->backlog -= n;
	while (n) {
		struct frame *f = slot(p, p->head);
		uint32_t left = f->len - p->head_sent;

		if (n < left) {
			p->head_sent += n;
			return;
		}
		n -= left;
		p->count.out_frames++;
		p->count.out_bytes += f->len - 4;
		chunk_put(f->chunk);
		p->head_sent = 0;
		p->head++;
	}
}

/* Gathers what is due; frames that lie side by side become one piece. */
static int gather(struct port *p, struct iovec *iov, uint64_t now,
		  size_t *total)
{
	uint32_t skip = p->head_sent;
	int n = 0;

	*total = 0;
	for (uint32_t i = p->head; i != p->tail; i++) {
		struct frame *f = slot(p, i);
		unsigned char *at = f->chunk->data + f->off + skip;
		size_t len = f->len - skip;

		if (f->due > now)
			break;
		if (n && (unsigned char *)iov[n - 1].iov_base +
			 iov[n - 1].iov_len == at) {
			iov[n - 1].iov_len += len;
		} else {
			if (n == IOVS)
				break;
			iov[n++] = (struct iovec){ at, len };
		}
		*total += len;
		skip = 0;
	}
	return n;
}

void port_flush(struct port *p, uint64_t now)
{
	struct iovec iov[IOVS];
	size_t total;
	ssize_t done;
	int n;

	while (p->fd >= 0 && (n = gather(p, iov, now, &total))) {
		done = writev(p->fd, iov, n);
		if (done < 0) {
			if (errno == EINTR)
				continue;
			if (errno != EAGAIN) {
				port_close(p);
				return;
			}
			done = 0;
		}
		if (done) {
			p->progress = now;
			p->stuck = 0;
		}
		advance(p, done);
		if ((size_t)done < total) {
			watch(p, p->events | EPOLLOUT);
			goto out;
		}
	}
	if (p->fd >= 0 && p->events & EPOLLOUT)
		watch(p, p->events & ~EPOLLOUT);
out:
	if (p->backlog <= LOW)
		release_feeders(p);
}

void port_close(struct port *p)
{
	if (p->fd < 0)
		return;
	close(p->fd);
	p->fd = -1;
	p->events = 0;
	p->head_sent = 0;
	drop_queue(p);
	for (unsigned int i = 0; i < p->nheld; i++)
		chunk_put(p->held[i].frame.chunk);
	p->nheld = 0;
	p->stuck = 0;
	p->waits_for = -1;
	if (p->in)
		chunk_put(p->in);
	p->in = NULL;
	p->parsed = 0;
}

/* Room for a whole frame behind what is there; 0 when memory ran out. */
static int make_room(struct port *p)
{
	struct chunk *fresh, *old = p->in;
	size_t rest;

	if (old && p->parsed == old->used && old->refs == 1) {
		old->used = 0;
		p->parsed = 0;
	}
	if (old && old->size - old->used >= FRAME_MAX)
		return 1;
	fresh = chunk_new(CHUNK_SIZE);
	if (!fresh)
		return 0;
	if (old) {
		rest = old->used - p->parsed;
		memcpy(fresh->data, old->data + p->parsed, rest);
		fresh->used = rest;
		chunk_put(old);
	}
	p->in = fresh;
	p->parsed = 0;
	return 1;
}

static void hold_back_feeder(struct port *p)
{
	if (wire.queue || wire.rate || wire.delay || wire.jitter)
		return;
	for (unsigned int i = 0; i < nports; i++)
		if ((p->fed >> i & 1) && ports[i].backlog > HIGH) {
			p->waits_for = i;
			watch(p, p->events & ~EPOLLIN);
			return;
		}
}

void port_read(struct port *p)
{
	uint64_t now;
	ssize_t n;

	if (!make_room(p))
		return;
	n = read(p->fd, p->in->data + p->in->used, p->in->size - p->in->used);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		port_close(p);
		return;
	}
	p->in->used += n;
	p->fed = 0;
	now = now_ns();
	while (p->in->used - p->parsed >= 4) {
		unsigned char *at = p->in->data + p->parsed;
		uint32_t len = (uint32_t)at[0] << 24 | at[1] << 16 |
			       at[2] << 8 | at[3];

		if (len > FRAME_MAX - 4) {
			p->count.malformed++;
			port_close(p);
			return;
		}
		if (p->in->used - p->parsed < len + 4)
			break;
		switch_frame(p, p->in, p->parsed, len + 4, now);
		p->parsed += len + 4;
	}
	for (unsigned int i = 0; i < nports; i++)
		if (ports[i].head != ports[i].tail &&
		    !(ports[i].events & EPOLLOUT))
			port_flush(&ports[i], now);
	if (p->fd >= 0)
		hold_back_feeder(p);
}

uint64_t port_timer(struct port *p, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < p->nheld;) {
		if (p->held[i].until <= now) {
			append(p, p->held[i].frame, now);
			p->held[i] = p->held[--p->nheld];
			continue;
		}
		if (p->held[i].until < next)
			next = p->held[i].until;
		i++;
	}
	if (p->head == p->tail)
		return next;
	if (p->events & EPOLLOUT) {
		if (p->backlog > HIGH && now - p->progress >= STUCK_NS) {
			p->stuck = 1;
			drop_queue(p);
		} else if (p->backlog > HIGH && p->progress + STUCK_NS < next) {
			next = p->progress + STUCK_NS;
		}
		return next;
	}
	if (slot(p, p->head)->due <= now)
		port_flush(p, now);
	if (p->head != p->tail && !(p->events & EPOLLOUT) &&
	    slot(p, p->head)->due < next)
		next = slot(p, p->head)->due;
	return next;
}
