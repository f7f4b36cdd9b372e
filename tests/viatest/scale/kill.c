// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * kill -9, as fast as it goes: several processes at once, each killed at a
 * moment that is drawn, whatever it is doing. The server must hear of each,
 * in bounded time, and serve the next.
 */
#include "scale.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void ask(struct order *o)
{
	uint32_t len;
	VIP_RETURN rc;
	uint8_t *p;

	if (order(&k.ctl, o))
		die("the server cannot be asked");
	p = end_recv(&k.ctl, scale_opt.limit, &len, &rc);
	if (!p || len != sizeof(*o))
		die("the server does not answer: %s", vip_str(rc));
	memcpy(o, p, sizeof(*o));
	end_repost(&k.ctl);
}

static void begin(struct slot *s)
{
	uint32_t role;
	uint64_t seed;

	s->id = 1 + k.started++ % 50000;
	role = scale_dice(&k.dice) % VICTIM_ROLES;
	seed = scale_dice(&k.dice) | 1;
	s->pid = fork();
	if (s->pid < 0)
		die("fork fails");
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		scale_victim(role, s->id, seed);
		_exit(0);
	}
	k.by_role[role]++;
	/* Mostly early, when things are being made; up to a quarter second. */
	s->until = now_ns() + (scale_dice(&k.dice) % 1000000 <<
			       scale_dice(&k.dice) % 9);
}

/* One that lives: the server serves the next as if nothing had been. */
static void next_one(void)
{
	struct order o = { .type = ORDER_PUSH, .id = ID_OF_NEXT, .n = 40 };
	enum stream_result r;
	struct end e;

	if (end_open(&e, &k.nic, false) || connect_to(&e, DISC, 10000) ||
	    order(&e, &o))
		die("the server does not serve after %u kills", k.killed);
	r = stream_push(&e, ID_OF_NEXT, o.n);
	if (r != ST_DONE || end_close(&e))
		die("the server served badly after %u kills: %d", k.killed, r);
	k.nexts++;
}

static void bury(bool all)
{
	struct order o;
	uint64_t age;
	uint32_t i;

	for (i = 0; i < k.ndead;) {
		age = now_ns() - k.dead[i].since;
		o = (struct order){ .type = ORDER_ASK, .id = k.dead[i].id };
		ask(&o);
		if (!o.alive) {
			if (age > k.slowest)
				k.slowest = age;
			k.dead[i] = k.dead[--k.ndead];
			continue;
		}
		if (age > scale_opt.limit * 1000000ull)
			die("the server has not heard of the death of %u after %u ms",
			    k.dead[i].id, scale_opt.limit);
		i++;
		if (!all && i >= 4)
			break;
	}
}

static void end_of(struct slot *s)
{
	int status;

	kill(s->pid, SIGKILL);
	if (waitpid(s->pid, &status, 0) != s->pid)
		die("waitpid fails");
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
		for (i = 0; i < scale_opt.threads; i++) {
			struct slot *s = &k.slot[i];

			if (s->pid && s->until <= now)
				end_of(s);
			if (!s->pid && k.started < scale_opt.count)
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
	uint64_t end = now_ns() + scale_opt.limit * 1000000ull;
	struct order o;

	while (k.ndead && now_ns() < end) {
		bury(true);
		sleep_ns(10000000);
	}
	do {
		o = (struct order){ .type = ORDER_ASK };
		ask(&o);
		sleep_ns(10000000);
	} while (o.others && now_ns() < end);
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
	uint64_t begin_ns, end;
	long before, after;
	uint32_t i;

	if (!scale_opt.threads || scale_opt.threads > MAX_SLOTS)
		die("--threads is 1 to %u", MAX_SLOTS);
	k.dice = dice_seed(scale_opt.seed, 0);
	k.dead = xcalloc(scale_opt.count + 1, sizeof(*k.dead));
	nic_open(&k.nic, scale_opt.device);
	if (end_open(&k.ctl, &k.nic, false) ||
	    connect_to(&k.ctl, DISC, scale_opt.limit))
		die("no server");
	next_one();
	before = pinned();
	begin_ns = now_ns();
	kill_all();
	begin_ns = now_ns() - begin_ns;
	settle();
	next_one();
	/* The last memory goes with the last use of the address space. */
	end = now_ns() + scale_opt.limit * 1000000ull;
	while ((after = pinned()) > before && now_ns() < end)
		sleep_ns(10000000);
	printf("seed %llu\nroles", (unsigned long long)scale_opt.seed);
	for (i = 0; i < VICTIM_ROLES; i++)
		printf(" %u", k.by_role[i]);
	printf("\npins before %ld, after %ld\n", before, after);
	printf("kills %u kills_per_s %.1f served %u told_ms %.1f\n", k.killed,
	       k.killed / (begin_ns / 1e9), k.nexts, k.slowest / 1e6);
	return before >= 0 && after > before;
}
