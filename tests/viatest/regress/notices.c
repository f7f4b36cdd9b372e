// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Many queues with notices that found the completion queue's ring full.  A
 * trap that moves them into it takes no longer for their number; each arrives
 * once, in the order of completion, unless its completion has been collected
 * before.
 */
#include "regress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FEW		20u
#define BATCHES		5u
#define TRAPS		15u		/* of a batch */
#define TIMES		8u
#define TRIES		6u		/* the host may have other work */
#define ENTRIES		1024u		/* of a work queue */
#define FEW_RING	32u
#define MANY_RING	256u
#define ROUNDS		6u
#define MOST		8u		/* completions of a queue in a round */

struct queue {
	struct via_queue_user *user;
	const struct via_queue_kern *kern;
	uint32_t made;			/* completions */
	uint32_t collected;
};

/* A notice that is due: the how-manyth completion of which queue. */
struct due {
	uint32_t queue, index;
};

static struct crowd {
	struct handle h;
	struct via_cq_create cq;
	struct via_cq_shared *shared;
	const struct via_cq_entry *entry;
	uint32_t n;			/* VIs */
	uint32_t *vi;			/* ids */
	struct via_vi_shared **map;
	struct queue *queue;		/* 2 of each: send, receive */
	struct due *due;
	uint32_t ndue, next;
	uint32_t dropped, wrong;
} all;

static void crowd_open(uint32_t n, uint32_t entries)
{
	struct via_vi_shared *s;
	struct via_vi_create c;
	uint32_t i;

	memset(&all, 0, sizeof(all));
	all.n = n;
	all.vi = xcalloc(n, sizeof(*all.vi));
	all.map = xcalloc(n, sizeof(*all.map));
	all.queue = xcalloc(2 * n, sizeof(*all.queue));
	all.due = xcalloc(2 * n * ROUNDS * MOST, sizeof(*all.due));
	handle_open(&all.h, args.device);
	all.cq.entries = entries;
	all.shared = cq_new(&all.h, &all.cq, 0);
	all.entry = (void *)((char *)all.shared + VIA_CQ_HDR_SIZE);
	for (i = 0; i < n; i++) {
		c = vi_new(&all.h, MOST_BYTES, all.cq.cq);
		s = vi_map(&all.h, &c);
		all.vi[i] = c.vi;
		all.map[i] = s;
		all.queue[2 * i].user = &s->send_user;
		all.queue[2 * i].kern = &s->send_kern;
		all.queue[2 * i + 1].user = &s->recv_user;
		all.queue[2 * i + 1].kern = &s->recv_kern;
	}
}

static void crowd_close(void)
{
	/* Their memory is to be there for the next ones. */
	ioctl(all.h.fd, VIA_IOC_SHUTDOWN);
	for (uint32_t i = 0; i < all.n; i++)
		munmap(all.map[i], VIA_VI_SIZE(ENTRIES));
	munmap(all.shared, all.cq.mmap_size);
	handle_close(&all.h);
	free(all.vi);
	free(all.map);
	free(all.queue);
	free(all.due);
}

/* That many of both queues of a VI complete, flushed: sends first. */
static void complete(uint32_t i, uint32_t sends, uint32_t recvs)
{
	uint32_t count[2] = { sends, recvs }, k, n;
	struct queue *q;

	for (k = 0; k < 2; k++) {
		q = &all.queue[2 * i + k];
		store_release(&q->user->tail, q->made + count[k]);
	}
	if (vi_do(&all.h, VIA_IOC_DISCONNECT, all.vi[i]))
		die("a VI cannot be left");
	for (k = 0; k < 2; k++) {
		q = &all.queue[2 * i + k];
		for (n = 0; n < count[k]; n++)
			all.due[all.ndue++] = (struct due){
				.queue = 2 * i + k,
				.index = q->made++,
			};
		if (load_acquire(&q->kern->done) != q->made)
			die("a queue was not flushed");
	}
}

static long trap(void)
{
	return lseek(all.h.fd, via_trap_arg(VIA_OP_CQ, all.cq.cq),
		     VIA_TRAP_WHENCE);
}

/* Speed */

/* The worst of the medians of a few batches, in ns. */
static uint64_t longest(void)
{
	uint64_t ns[TRAPS], median, worst = 0;
	uint32_t i, k;

	for (k = 0; k < BATCHES; k++) {
		for (i = 0; i < TRAPS; i++) {
			/* All is read: the trap has a whole ring to fill. */
			store_release(&all.shared->head, all.shared->tail);
			ns[i] = now_ns();
			if (trap() < 0)
				die("VIA_OP_CQ is refused");
			ns[i] = now_ns() - ns[i];
		}
		median = time_of_rank(ns, TRAPS, TRAPS / 2);
		worst = median > worst ? median : worst;
	}
	return worst;
}

/* Enough notices for all these traps. */
static uint64_t speed(uint32_t n)
{
	uint32_t i;
	uint64_t ns;

	crowd_open(n, ENTRIES);
	for (i = 0; i < n; i++) {
		all.queue[2 * i].user->tail = ENTRIES;
		all.queue[2 * i + 1].user->tail = ENTRIES;
		if (vi_do(&all.h, VIA_IOC_DISCONNECT, all.vi[i]))
			die("a VI cannot be left");
	}
	ns = longest();
	crowd_close();
	return ns;
}

/* Order */

/* What was collected before its notice came has none. */
static void skip(void)
{
	const struct due *d;

	for (; all.next < all.ndue; all.next++) {
		d = &all.due[all.next];
		if (d->index >= all.queue[d->queue].collected)
			break;
		all.dropped++;
	}
}

static void check(const struct via_cq_entry *e)
{
	const struct due *d;
	uint32_t want;

	skip();
	if (all.next == all.ndue) {
		warn_msg("a notice too many, of 0x%x", e->vi);
		all.wrong++;
		return;
	}
	d = &all.due[all.next];
	want = all.vi[d->queue / 2];
	if (e->vi != want || e->recv != d->queue % 2) {
		if (all.wrong++ < 5)
			warn_msg("notice %u is of 0x%x/%u, not of 0x%x/%u",
				 all.next, e->vi, e->recv, want, d->queue % 2);
	}
	all.next++;
}

/* What has come into the ring since. */
static uint32_t read_ring(uint32_t *seen)
{
	uint32_t tail = load_acquire(&all.shared->tail);
	uint32_t n = tail - *seen;

	for (; *seen != tail; ++*seen)
		check(&all.entry[*seen & (all.cq.entries - 1)]);
	return n;
}

/* Of queues that are drawn, some completions go without a notice. */
static void collect_some(uint32_t queues)
{
	struct queue *q;

	while (queues--) {
		q = &all.queue[dice(2 * all.n)];
		if (q->made == q->collected)
			continue;
		q->collected += 1 + dice(q->made - q->collected);
		store_release(&q->user->collected, q->collected);
	}
}

/* Until there is nothing more; what is behind head has been looked at. */
static void drain(uint32_t *seen, uint32_t most, bool collect)
{
	uint32_t n;
	long more;

	while (most--) {
		n = read_ring(seen);
		/* Some of it is read, or all. */
		store_release(&all.shared->head,
				 *seen - dice(all.cq.entries / 8));
		if (collect)
			collect_some(1 + all.n / 50);
		more = trap();
		if (more < 0)
			die("VIA_OP_CQ is refused");
		if (!n && !more && *seen == all.shared->tail &&
		    !(all.shared->flags & VIA_CQ_OVERFLOW))
			break;
	}
}

static uint32_t order(uint32_t n, bool collect)
{
	uint32_t i, k, seen = 0;

	crowd_open(n, n > FEW ? MANY_RING : FEW_RING);
	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < n; i++)
			complete(dice(n), dice(MOST), dice(MOST));
		drain(&seen, k < ROUNDS - 1 ? n / 20 : ~0u, collect);
		/* What is in the ring has its notice. */
		read_ring(&seen);
		if (collect)
			collect_some(n);
	}
	drain(&seen, ~0u, false);
	skip();
	printf("VIs %u completions %u dropped %u wrong %u\n", n, all.ndue,
	       all.dropped, all.wrong);
	if (all.next != all.ndue) {
		warn_msg("%u notices do not come", all.ndue - all.next);
		all.wrong++;
	}
	i = all.wrong;
	crowd_close();
	return i;
}

int run_notices(void)
{
	uint32_t many = args.count, wrong, i = 0;
	uint64_t few, ns;

	do {
		few = speed(FEW);
		ns = speed(many);
		printf("few_us %.1f many_us %.1f\n", few / 1e3, ns / 1e3);
	} while (ns > TIMES * few && ++i < TRIES);
	if (ns > TIMES * few) {
		warn_msg("a trap takes %.1f us with %u VIs, %.1f us with %u",
			 ns / 1e3, many, few / 1e3, FEW);
		return 1;
	}
	wrong = order(FEW, false) + order(FEW, true);
	wrong += order(many, false) + order(many, true);
	return wrong != 0;
}
