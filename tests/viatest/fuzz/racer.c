// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The threads of a race.  They are idle ones for the scheduler, so that a
 * thread which is not, and which sleeps until its moment, takes the CPU from
 * one of them in the middle of a call, where the kernel is preemptible, and
 * keeps it for as long as it is to be kept.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "common/msg.h"
#include "common/proc.h"
#include "race.h"

#define NEAR_TICKS	12u		/* a deadline that is worth waiting for */
#define SETTLE_NS	30000u		/* between the last arrival and the start */
#define TOLD_NS		60000u		/* until there is a deadline to wait for */
#define TOLD_LATE_NS	25000000u	/* the same where a server waits first */
#define BEFORE_NS	10000u		/* a call: its CPU may be taken */
#define LAG_NS		200000		/* of a sleep, that is to be expected */
#define OVER_NS		400000u		/* past a deadline */

struct racer {
	pthread_t id;
	pid_t tid;
	sem_t go;
	unsigned int number, cpu;
	int in_call;			/* which step, or -1 */
};

static struct {
	struct racer racer[RACERS + 1];	/* the last takes CPUs away */
	unsigned int cpus;
	int shared;			/* two racers have one CPU */
	sem_t done;
	unsigned int left;		/* that have not said they are done */
} crowd;

static void count(uint64_t *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

int race_call(unsigned int side, unsigned long request, void *arg)
{
	count(&race.tally.calls);
	return abi_call(race.side[side].fd, request, arg);
}

int race_vi(unsigned int i, unsigned long request)
{
	count(&race.tally.calls);
	return abi_id(race.side[!!i].fd, request, race.vi[i]);
}

int race_result(unsigned int i, uint32_t flags)
{
	count(&race.tally.calls);
	return abi_result(race.side[!!i].fd, race.vi[i], flags);
}

static void spin_until(uint64_t when)
{
	while (now_ns() < when)
		if (crowd.shared)
			sched_yield();
}

/*
 * When the attempt of the round ends, or 0.  A deadline is a tick of the
 * clock, as the agent's via_now() counts them, and one tick more than was
 * asked for.
 */
static uint64_t deadline(uint64_t now)
{
	uint64_t when = __atomic_load_n(&race.deadline, __ATOMIC_RELAXED);

	return when < now + NEAR_TICKS * race.tick ? when : 0;
}

static void await(const struct step *s)
{
	uint64_t now = now_ns(), when, last;

	if (s->moment == AT_PAUSE)
		spin_until(now + s->offset);
	if (s->moment != AT_DEADLINE)
		return;
	/* What came over the wire has one of the next ticks. */
	if (race.host && s->op == O_ACCEPT)
		__atomic_store_n(&race.deadline,
				 (now / race.tick + s->tick) * race.tick,
				 __ATOMIC_RELAXED);
	last = now + (race.plan.patient ? TOLD_LATE_NS : TOLD_NS);
	while (!(when = deadline(now_ns())) && now_ns() < last &&
	       __atomic_load_n(&race.running, __ATOMIC_RELAXED) > 1)
		if (crowd.shared)
			sched_yield();
	if (!when)
		return;
	if (s->op == O_ACCEPT)
		__atomic_store_n(&race.aim, when + s->offset,
				 __ATOMIC_RELAXED);
	spin_until(when + s->offset);
}

static void told(uint64_t timeout)
{
	uint64_t when = 0;

	if (timeout != VIA_FOREVER)
		when = (now_ns() / race.tick + (timeout - 1) / race.tick +
			2) * race.tick;
	__atomic_store_n(&race.deadline, when, __ATOMIC_RELAXED);
}

void race_address(struct via_net_addr *a, const uint8_t *host, char what,
		  unsigned int side)
{
	char disc[8];

	snprintf(disc, sizeof(disc), "race%c%u", what, side & 1);
	abi_address(a, &race.side[0].hello, host, disc);
}

/* A request of X, or of its partner, is for the other side. */
static int ask(const struct step *s, int peer)
{
	struct via_conn_request q = { .vi = race.vi[s->vi],
				      .timeout = s->timeout };
	const uint8_t *here = race.side[0].hello.addr;
	unsigned int side = !!s->vi;

	race_address(&q.local, here, peer ? 'p' : 'c', side);
	race_address(&q.remote, race.host ?: here, peer ? 'p' : 's', !side);
	told(s->timeout);
	return race_call(side, peer ? VIA_IOC_PEER_REQUEST :
				      VIA_IOC_CONN_REQUEST, &q);
}

static int result(const struct step *s)
{
	int ret = race_result(s->vi, s->flags);

	switch (ret) {
	case VIA_R_SUCCESS:
		count(&race.tally.connected);
		break;
	case VIA_R_TIMEOUT:
		count(&race.tally.late);
		break;
	case VIA_R_REJECT:
	case VIA_R_NO_MATCH:
	case VIA_R_INVALID_MTU:
		count(&race.tally.refused);
		break;
	case VIA_R_INVALID_STATE:
		count(&race.tally.early);
		break;
	}
	return ret;
}

static int once(const struct racer *me, const struct step *s)
{
	uint32_t vi = race.vi[s->vi], conn = race.conn[me->number];
	struct via_vi_query q = { .vi = vi };
	struct via_vi_set set = { .vi = vi, .attrs = {
		VIA_RELIABLE_DELIVERY, 0, s->vi == 2 ? 8192 : 4096, 0 } };
	struct via_conn_wait w = { .timeout = s->timeout };
	struct via_conn_accept a = { .conn = conn, .vi = vi };
	struct via_conn_reject j = { .conn = conn };
	unsigned int side = !!s->vi;
	int ret;

	switch (s->op) {
	case O_PEER:
	case O_REQUEST:
		return ask(s, s->op == O_PEER);
	case O_RESULT:
		return result(s);
	case O_DISCONNECT:
		return race_vi(s->vi, VIA_IOC_DISCONNECT);
	case O_QUERY:
		return race_call(side, VIA_IOC_VI_QUERY, &q);
	case O_SET:
		return race_call(side, VIA_IOC_VI_SET, &set);
	case O_REJECT:
		return race_call(side, VIA_IOC_CONN_REJECT, &j);
	case O_WAIT:
		race_address(&w.local, race.side[0].hello.addr, 's', side);
		ret = race_call(side, VIA_IOC_CONN_WAIT, &w);
		if (!ret)
			race.conn[me->number] = w.conn;
		return ret;
	case O_ACCEPT:
		ret = race_call(side, VIA_IOC_CONN_ACCEPT, &a);
		if (!ret)
			count(&race.tally.accepted);
		return ret;
	case O_DESTROY:
		ret = race_vi(s->vi, VIA_IOC_VI_DESTROY);
		if (ret)
			return ret;
		count(&race.tally.destroyed);
		__atomic_store_n(&race.destroyed[s->vi], 1, __ATOMIC_RELEASE);
		return 0;
	default:
		return 0;
	}
}

/* Again while it comes too early, and while there is another to race with. */
static void step(struct racer *me, const struct step *s)
{
	uint32_t n = 0;
	int ret;

	await(s);
	do {
		ret = once(me, s);
	} while (++n < s->times && (ret == VIA_R_INVALID_STATE ||
				    ret == VIA_R_NOT_DONE) &&
		 __atomic_load_n(&race.running, __ATOMIC_RELAXED) > 1);
}

/* The last to come says when all go. */
static void together(void)
{
	uint32_t n = __atomic_add_fetch(&race.arrived, 1, __ATOMIC_ACQ_REL);

	if (n == race.plan.racers) {
		__atomic_store_n(&race.start, now_ns() + SETTLE_NS,
				 __ATOMIC_RELEASE);
		if (race.plan.stops)
			sem_post(&crowd.racer[RACERS].go);
	}
	while (!__atomic_load_n(&race.start, __ATOMIC_ACQUIRE))
		if (crowd.shared)
			sched_yield();
	spin_until(race.start);
}

/* A sleep ends later than asked, mostly by as much as the one before. */
static void sleep_until(uint64_t when)
{
	static int64_t lag;		/* ns: the usual one */
	uint64_t early = when - lag;
	int64_t late;

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
			&(struct timespec){ early / 1000000000,
					    early % 1000000000 }, NULL);
	late = now_ns() - early;
	/* What was over before it began says nothing of sleeps. */
	if (late >= 0 && late < LAG_NS)
		lag += (late - lag) / 8;
}

/* When the call that is to be disturbed begins. */
static uint64_t stops_begin(void)
{
	uint64_t last = race.start + TOLD_LATE_NS, when = 0;

	if (!race.plan.stop_late)
		return race.start;
	while (!(when = __atomic_load_n(&race.aim, __ATOMIC_RELAXED)) &&
	       now_ns() < last &&
	       __atomic_load_n(&race.running, __ATOMIC_RELAXED))
		sleep_until(now_ns() + TOLD_NS);
	return when ? when - BEFORE_NS : race.start;
}

static void take_cpu(void)
{
	const struct plan *p = &race.plan;
	uint64_t when = stops_begin();
	uint32_t i;

	for (i = 0; i < p->stops; i++) {
		sleep_until(when + p->stop_at[i]);
		when = now_ns();
		if (p->stop_for[i])
			when += p->stop_for[i];
		else if (deadline(when))
			when = deadline(when) + OVER_NS;
		while (now_ns() < when &&
		       __atomic_load_n(&race.running, __ATOMIC_RELAXED))
			;
		when = now_ns();
	}
}

static void *live(void *arg)
{
	struct sched_param zero = { 0 };
	struct racer *me = arg;
	uint32_t i;

	me->tid = syscall(SYS_gettid);
	if (me->number < RACERS)
		sched_setscheduler(0, SCHED_IDLE, &zero);
	for (;;) {
		while (sem_wait(&me->go))
			;
		if (me->number == RACERS) {
			take_cpu();
			sem_post(&crowd.done);
			continue;
		}
		together();
		for (i = 0; i < STEPS; i++) {
			__atomic_store_n(&me->in_call, i, __ATOMIC_RELAXED);
			step(me, &race.plan.step[me->number][i]);
		}
		__atomic_store_n(&me->in_call, -1, __ATOMIC_RELAXED);
		__atomic_sub_fetch(&race.running, 1, __ATOMIC_RELAXED);
		sem_post(&crowd.done);
	}
	return NULL;
}

void racers_start(unsigned int cpus)
{
	unsigned int i;

	crowd.cpus = cpus;
	sem_init(&crowd.done, 0, 0);
	for (i = 0; i <= RACERS; i++) {
		crowd.racer[i].number = i;
		crowd.racer[i].in_call = -1;
		sem_init(&crowd.racer[i].go, 0, 0);
		if (pthread_create(&crowd.racer[i].id, NULL, live,
				   &crowd.racer[i])) {
			perror("viatest fuzz: a thread");
			exit(2);
		}
	}
}

static void place(struct racer *it, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	it->cpu = cpu;
	pthread_setaffinity_np(it->id, sizeof(set), &set);
}

/* Each on the next CPU, mostly; else wherever, perhaps all on one. */
void racers_place(struct rng *r)
{
	unsigned int first = rng_below(r, crowd.cpus), i;
	int apart = !rng_one_in(r, 3);

	crowd.shared = crowd.cpus < RACERS || !apart;
	for (i = 0; i < RACERS; i++)
		place(&crowd.racer[i], apart ? (first + i) % crowd.cpus :
					       rng_below(r, crowd.cpus));
}

void racers_go(void)
{
	unsigned int i;

	race.arrived = 0;
	race.start = 0;
	race.deadline = 0;
	race.aim = 0;
	race.running = race.plan.racers;
	if (race.plan.stops)
		place(&crowd.racer[RACERS],
		      crowd.racer[race.plan.stop_racer].cpu);
	crowd.left = race.plan.racers + !!race.plan.stops;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < race.plan.racers; i++)
		sem_post(&crowd.racer[i].go);
}

int racers_wait(unsigned int ms)
{
	uint64_t when = now_ns() + ms * 1000000ull;
	struct timespec t = { when / 1000000000, when % 1000000000 };

	while (crowd.left) {
		if (sem_clockwait(&crowd.done, CLOCK_MONOTONIC, &t)) {
			if (errno == EINTR)
				continue;
			return 0;
		}
		crowd.left--;
	}
	return 1;
}

static void show(pid_t tid, const char *what)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, what);
	if (proc_read(path, text, sizeof(text)) >= 0)
		printf("  %s: %s\n", what, text);
}

/* Where the racers are that have not come back, for the log. */
void racers_where(void)
{
	unsigned int i;

	for (i = 0; i < race.plan.racers; i++) {
		if (crowd.racer[i].in_call < 0)
			continue;
		printf("  racer %u is at its step %d\n", i,
		       crowd.racer[i].in_call);
		show(crowd.racer[i].tid, "syscall");
		show(crowd.racer[i].tid, "wchan");
		show(crowd.racer[i].tid, "stack");
	}
	fflush(stdout);
}
