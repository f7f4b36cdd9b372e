// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Progress, and waiting for it.
 *
 * A thread that waits spins first, as long as that has lately paid, and lets
 * other threads have its CPU meanwhile. Then it sleeps: as the leader in
 * transport->wait, when there is none, so that an arrival wakes the thread that
 * wants it; else on its own word, until what it waits for is told or it is to
 * lead.
 *
 * The progress thread ("ticker") makes the NIC a working target while the
 * program does something else. It leads when a tick has passed in which the
 * program has neither polled nor led. A program that polls again sends it back
 * to ticking, so that arrivals wake no thread that is not needed. While a
 * thread of the program leads and nothing moves, it is parked without ticks;
 * the leader that leaves starts them again.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eng.h"

#define SPIN_MAX_NS	100000u
#define SPIN_MIN_NS	1000u
#define SPIN_ALONE_NS	3000u
#define SPIN_ROUND	16
#define MISSED_MOST	16		/* ticks in a row without the lock */
#define TICK_NS		1000000u
/*
 * With one CPU each tick takes it from the thread that polls: a message over
 * soft-RoCE between two guests takes 676 us with ticks of 1 ms, 490 with 4, 460
 * with 8, 440 with 50.
 */
#define TICK_ALONE_NS	8000000u

/* Take what has arrived and do what follows; returns how many things. */
int eng_progress(struct eng_nic *nic)
{
	int n = nic->t->progress(nic, ENG_BUDGET);

	if (unlikely(nic->dirty))
		eng_settle(nic);
	return n;
}

/* The program polls: the progress thread need not be woken by arrivals. */
static __attribute__((noinline)) void evict_progress(struct eng_nic *nic)
{
	nic->t->disarm(nic);
	nic->armed = 0;
	nic->t->wake(nic);
}

/* A poll that found nothing: look for arrivals, if no other thread does. */
void eng_poll(struct eng_nic *nic)
{
	if (unlikely(eng_lock_busy(&nic->lock)) || !eng_lock_try(&nic->lock))
		return;
	eng_poll_held(nic);
}

/* The engine lock is held, and dropped. */
void eng_poll_held(struct eng_nic *nic)
{
	if (likely(nic->live)) {
		nic->activity++;
		if (unlikely(!vipl_list_empty(&nic->late)))
			nic->later.works->late_acks(nic);
		if (nic->t->progress(nic, ENG_BUDGET) &&
		    unlikely(nic->armed && nic->leader == &nic->ticker))
			evict_progress(nic);
	}
	eng_leave(nic);
}

/* 1: the time is over; 0: the word has moved, or spinning does not pay. */
int eng_spin(struct eng_nic *nic, const _Atomic uint32_t *word, uint32_t seen,
	     _Atomic uint32_t *spin_ns, uint64_t start, uint64_t deadline)
{
	uint64_t end = start + eng_get(spin_ns), now;
	int i;

	if (!eng_host->may_spin())
		return 0;
	do {
		for (i = 0; i < SPIN_ROUND; i++) {
			if (atomic_load_explicit(word, memory_order_acquire) !=
			    seen)
				return 0;
			eng_poll(nic);
			eng_pause();
		}
		now = eng_now();
		if (now >= deadline)
			return 1;
		/* The thread that is to answer may want this CPU. */
		if (now - start > SPIN_ALONE_NS)
			syscall(SYS_sched_yield);
	} while (now < end);
	return 0;
}

/* A wait took so long: spin twice that next time, or less. */
void eng_learn(_Atomic uint32_t *spin_ns, uint64_t took)
{
	uint32_t ns = eng_get(spin_ns);

	if (took <= SPIN_MAX_NS)
		ns = took * 2 < SPIN_MAX_NS ? (uint32_t)took * 2 : SPIN_MAX_NS;
	else
		ns /= 2;
	if (ns < SPIN_MIN_NS)
		ns = SPIN_MIN_NS;
	atomic_store_explicit(spin_ns, ns, memory_order_relaxed);
}

/* Rouse one sleeper, whatever it sleeps in. */
void eng_rouse(struct eng_nic *nic, struct eng_sleeper *s, uint32_t word)
{
	int leads = nic->leader == s;

	/* From here on it may return and its stack be used for other things. */
	atomic_store_explicit(&s->word, word, memory_order_release);
	if (!leads)
		eng_futex_wake(&s->word);
	else if (nic->armed)
		nic->t->wake(nic);
}

/* The event that they wait for has come. */
void eng_wake(struct eng_nic *nic, struct vipl_list *sleepers)
{
	struct eng_sleeper *s;
	struct vipl_list *l;

	while ((l = vipl_list_pop(sleepers))) {
		s = vipl_container(l, struct eng_sleeper, link);
		vipl_list_del(&s->all);
		eng_rouse(nic, s, SLEEP_WOKEN);
	}
}

static void run_timers(struct eng_nic *nic)
{
	struct vipl_list *l, *next;
	struct eng_vi *v;
	uint64_t now;

	if (likely(nic->next_time == ENG_FOREVER))
		return;
	now = eng_now();
	if (now < nic->next_time)
		return;
	nic->next_time = ENG_FOREVER;
	for (l = nic->timed.next; l != &nic->timed; l = next) {
		next = l->next;
		v = vipl_container(l, struct eng_vi, timed);
		if (v->when > now) {
			if (v->when < nic->next_time)
				nic->next_time = v->when;
			continue;
		}
		vipl_list_del(&v->timed);
		v->when = ENG_FOREVER;
		if (v->disconnecting)
			eng_todo(nic, v, TODO_DISCONNECT);
		else
			nic->later.works->expire(nic, v, now);
	}
	if (nic->dirty)
		eng_settle(nic);
}

/* Sleep in the transport as the leader; the engine lock is held. */
static void lead_sleep(struct eng_nic *nic, uint64_t deadline)
{
	uint64_t now;

	if (!vipl_list_empty(&nic->late))
		nic->later.works->late_acks(nic);
	if (deadline > nic->next_time)
		deadline = nic->next_time;
	if (!nic->t->arm(nic)) {
		if (nic->dirty)
			eng_settle(nic);
		nic->armed = 1;
		eng_lock_drop(&nic->lock);
		now = deadline == ENG_FOREVER ? 0 : eng_now();
		if (deadline == ENG_FOREVER)
			nic->t->wait(nic, UINT64_MAX);
		else if (deadline > now)
			nic->t->wait(nic, deadline - now);
		eng_lock_take(&nic->lock);
		if (nic->armed)
			nic->t->disarm(nic);
		nic->armed = 0;
	} else {
		nic->t->disarm(nic);
	}
	if (nic->live) {
		eng_progress(nic);
		run_timers(nic);
	}
}

/* There is no leader now: another sleeper, or the progress thread. */
static void pass_on(struct eng_nic *nic)
{
	struct eng_sleeper *s;

	nic->leader = NULL;
	if (!vipl_list_empty(&nic->sleepers)) {
		s = vipl_container(nic->sleepers.next, struct eng_sleeper, all);
		eng_rouse(nic, s, SLEEP_LEAD);
	} else if (eng_get(&nic->tick) == TICK_PARKED) {
		atomic_store(&nic->tick, TICK_ON);
		eng_futex_wake(&nic->tick);
	}
}

static void follow_leader(struct eng_nic *nic, struct eng_sleeper *s,
			  uint64_t deadline)
{
	uint64_t now = eng_now();

	if (nic->leader == &nic->ticker && nic->armed) {
		/* A thread that wants it is the better leader. */
		nic->armed = 0;
		nic->t->disarm(nic);
		nic->t->wake(nic);
	}
	if (now >= deadline)
		return;
	eng_lock_drop(&nic->lock);
	eng_futex_wait(&s->word, SLEEP_ASLEEP,
		       deadline == ENG_FOREVER ? ENG_FOREVER : deadline - now);
	eng_lock_take(&nic->lock);
}

/*
 * Sleep until eng_wake() of the list, or for no reason: the caller looks again.
 * The engine lock is held, and dropped meanwhile; what is to be settled is.
 * Returns nonzero when the time is over.
 */
int eng_sleep(struct eng_nic *nic, struct vipl_list *on, uint64_t deadline)
{
	struct eng_sleeper s;
	int late = 0;

	if (nic->dirty)
		eng_settle(nic);
	atomic_init(&s.word, SLEEP_ASLEEP);
	vipl_list_add_tail(&s.link, on);
	vipl_list_add_tail(&s.all, &nic->sleepers);
	while (eng_get(&s.word) != SLEEP_WOKEN && !late) {
		if (!nic->leader)
			nic->leader = &s;
		nic->activity++;
		if (nic->leader == &s)
			lead_sleep(nic, deadline);
		else
			follow_leader(nic, &s, deadline);
		/* Pairs with the release of eng_rouse(): it is done with us. */
		if (atomic_load_explicit(&s.word, memory_order_acquire) ==
		    SLEEP_LEAD)
			atomic_store(&s.word, SLEEP_ASLEEP);
		late = deadline != ENG_FOREVER && eng_now() >= deadline;
	}
	if (eng_get(&s.word) == SLEEP_WOKEN) {
		late = 0;
	} else {
		vipl_list_del(&s.link);
		vipl_list_del(&s.all);
	}
	/* The thread may have been roused to lead, and leaves all the same. */
	if (nic->leader == &s || !nic->leader)
		pass_on(nic);
	return late;
}

/*
 * A thread that has the lock at each look makes progress itself. If this one
 * slept for the lock, each drop of it would be a wake-up, and in vain: the
 * other takes it again first.
 */
static void take_in_passing(struct eng_nic *nic)
{
	unsigned int missed;

	for (missed = 0; missed < MISSED_MOST; missed++) {
		if (eng_lock_try(&nic->lock))
			return;
		eng_futex_wait(&nic->tick, TICK_ON, nic->tick_ns);
	}
	eng_lock_take(&nic->lock);
}

/* One turn of the progress thread. The engine lock is held. */
static void run_turn(struct eng_nic *nic, uint32_t *seen)
{
	int moved = nic->activity != *seen;
	uint64_t ns = nic->tick_ns;

	*seen = nic->activity;
	if (nic->live && !vipl_list_empty(&nic->late)) {
		nic->later.works->late_acks(nic);
		moved = 1;
	}
	if (!nic->live) {
		/* The close does the rest, and stops this thread. */
		ns = ENG_FOREVER;
		atomic_store(&nic->tick, TICK_PARKED);
	} else if (!nic->leader && !moved) {
		nic->leader = &nic->ticker;
		lead_sleep(nic, ENG_FOREVER);
		pass_on(nic);
		return;
	}
	if (nic->live && !nic->leader) {
		eng_progress(nic);
		run_timers(nic);
	} else if (nic->live && !moved) {
		atomic_store(&nic->tick, TICK_PARKED);
		ns = ENG_FOREVER;
	}
	eng_lock_drop(&nic->lock);
	eng_futex_wait(&nic->tick, ns == ENG_FOREVER ? TICK_PARKED : TICK_ON,
		       ns);
	if (ns == ENG_FOREVER)
		eng_lock_take(&nic->lock);
	else
		take_in_passing(nic);
}

static void *run_ticker(void *arg)
{
	struct eng_nic *nic = arg;
	uint32_t seen;

	eng_lock_take(&nic->lock);
	seen = nic->activity;
	while (!nic->stop)
		run_turn(nic, &seen);
	eng_lock_drop(&nic->lock);
	return NULL;
}

int eng_ticker_start(struct eng_nic *nic)
{
	sigset_t all, old;
	int err;

	nic->stop = 0;
	nic->tick_ns = eng_host->may_spin() ? TICK_NS : TICK_ALONE_NS;
	atomic_store(&nic->tick, TICK_ON);
	/* Signals are the program's: this thread takes none. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&nic->thread, NULL, run_ticker, nic);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	nic->has_thread = !err;
	return err ? -1 : 0;
}

void eng_ticker_stop(struct eng_nic *nic)
{
	if (!nic->has_thread)
		return;
	eng_lock_take(&nic->lock);
	nic->stop = 1;
	atomic_store(&nic->tick, TICK_ON);
	eng_futex_wake(&nic->tick);
	if (nic->armed)
		nic->t->wake(nic);
	eng_lock_drop(&nic->lock);
	pthread_join(nic->thread, NULL);
	nic->has_thread = 0;
}
