// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * kill -9, as fast as it goes: several processes at once, each killed at a
 * moment that is drawn, whatever it is doing. The server must hear of each,
 * in bounded time, and serve the next.
 */
#include "scale.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define MAX_SLOTS	16u
#define ID_OF_NEXT	60000u		/* of those that are not killed */

struct slot {
	pid_t pid;
	uint32_t id;
	uint64_t until;			/* ns: when it is killed */
};

/* Killed, and the server is not known to have noticed. */
struct dead {
	uint32_t id;
	uint64_t since;			/* ns */
};

static struct {
	struct nic nic;
	struct end ctl;
	struct slot slot[MAX_SLOTS];
	struct dead *dead;
	uint32_t ndead, started, killed, nexts;
	uint64_t slowest;		/* ns */
	uint64_t dice;
	uint32_t by_role[VICTIM_ROLES];
} k;

static void begin(struct slot *s)
{
	struct victim v = { .id = 1 + k.started++ % 50000 };

	v.role = dice_roll(&k.dice) % VICTIM_ROLES;
	v.seed = dice_roll(&k.dice) | 1;
	s->id = v.id;
	s->pid = child_start(scale_victim, &v);
	k.by_role[v.role]++;
	/* Mostly early, when things are being made; up to a quarter second. */
	s->until = now_ns() + (dice_roll(&k.dice) % 1000000 <<
			       dice_roll(&k.dice) % 9);
}

/* One that lives: the server serves the next as if nothing had been. */
static void next_one(void)
{
	struct order o = { .type = ORDER_PUSH, .id = ID_OF_NEXT, .n = 40 };
	enum stream_result r;
	struct end e;

	if (order_begin(&e, &k.nic, false, 10000, &o))
		die("the server does not serve after %u kills", k.killed);
	r = stream_push(&e, ID_OF_NEXT, o.n);
	if (r != ST_DONE || end_close(&e))
		die("the server served badly after %u kills: %d", k.killed, r);
	k.nexts++;
}

static void bury(bool all)
{
	uint64_t age;
	uint32_t i;

	for (i = 0; i < k.ndead;) {
		age = now_ns() - k.dead[i].since;
		if (!order_ask(&k.ctl, k.dead[i].id).alive) {
			if (age > k.slowest)
				k.slowest = age;
			k.dead[i] = k.dead[--k.ndead];
			continue;
		}
		if (age > args.limit * MS)
			die("the server has not heard of the death of %u after %u ms",
			    k.dead[i].id, args.limit);
		i++;
		if (!all && i >= 4)
			break;
	}
}

static void end_of(struct slot *s)
{
	int status = child_kill(s->pid);

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		die("a process ended before it was killed, status 0x%x",
		    status);
	s->pid = 0;
	k.dead[k.ndead++] = (struct dead){ s->id, now_ns() };
	if (++k.killed % 25 == 0)
		next_one();
}

static void kill_all(void)
{
	uint64_t now;
	uint32_t i;
	bool any;

	do {
		any = false;
		now = now_ns();
		for (i = 0; i < args.threads; i++) {
			struct slot *s = &k.slot[i];

			if (s->pid && s->until <= now)
				end_of(s);
			if (!s->pid && k.started < args.count)
				begin(s);
			any |= s->pid != 0;
		}
		bury(false);
		sleep_ns(200000);
	} while (any);
}

/* The server has nothing left of any of them, and found nothing wrong. */
static void settle(void)
{
	uint64_t begin = now_ns();
	struct order o;

	while (k.ndead && ms_since(begin) < args.limit) {
		bury(true);
		sleep_ms(10);
	}
	do {
		o = order_ask(&k.ctl, 0);
		sleep_ms(10);
	} while (o.others && ms_since(begin) < args.limit);
	if (k.ndead || o.others)
		die("%u dead are not known to be, %u connections stay",
		    k.ndead, o.others);
	printf("server: ended %u wrong %u silent %u stuck %u\n", o.ended,
	       o.wrong, o.silent, o.stuck);
	if (o.wrong || o.silent || o.stuck)
		die("the server was harmed");
}

int run_kill(void)
{
	double seconds;
	uint64_t begin;
	long before, after;
	uint32_t i;

	if (args.threads > MAX_SLOTS)
		die("-t is 1 to %u", MAX_SLOTS);
	k.dice = dice_seed(args.seed, 0);
	k.dead = xcalloc(args.count + 1, sizeof(*k.dead));
	nic_open(&k.nic, args.device);
	order_ask_open(&k.ctl, &k.nic);
	next_one();
	before = pinned();
	begin = now_ns();
	kill_all();
	seconds = ms_since(begin) / 1e3;
	settle();
	next_one();
	/* The last memory goes with the last use of the address space. */
	after = pinned_after(before, args.limit);
	printf("seed %llu\nroles", (unsigned long long)args.seed);
	for (i = 0; i < VICTIM_ROLES; i++)
		printf(" %u", k.by_role[i]);
	printf("\npins before %ld, after %ld\n", before, after);
	printf("kills %u kills_per_s %.1f served %u told_ms %.1f\n", k.killed,
	       k.killed / seconds, k.nexts, k.slowest / 1e6);
	return before >= 0 && after > before;
}
