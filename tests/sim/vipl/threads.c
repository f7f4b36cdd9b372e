// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Threads of programs, futexes and what is made of them, time. */
#include "posix.h"
#include "../kernel/model.h"

static struct list_head waiters = LIST_HEAD_INIT(waiters);

void px_threads_begin(void)
{
	INIT_LIST_HEAD(&waiters);
}

/* 0, -EINTR or -ETIMEDOUT; in the kernel. */
int px_wait(wait_queue_head_t *w, bool (*done)(void *arg), void *arg,
	    u64 until)
{
	struct wait_queue_entry e = { .task = NULL };
	int ret = 0;
	ktime_t t;

	for (;;) {
		prepare_to_wait(w, &e, TASK_INTERRUPTIBLE);
		if (done(arg))
			break;
		ret = signal_pending(current) ? -EINTR :
		      sim_now() >= until ? -ETIMEDOUT : 0;
		if (ret)
			break;
		t = until;
		if (until == U64_MAX)
			schedule();
		else
			schedule_hrtimeout_range(&t, 0, HRTIMER_MODE_ABS);
	}
	finish_wait(w, &e);
	return ret;
}

/* Atomics of libvipl */

void px_full_barrier(void);
void px_full_barrier(void)
{
	sim_yield();
	sim_drain();
}

void px_store(volatile void *p, const void *v, unsigned int size);
void px_store(volatile void *p, const void *v, unsigned int size)
{
	u64 word = 0;

	sim_yield();
	memcpy(&word, v, size);
	if (sim_tso)
		sim_buffer(p, word, size);
	else
		memcpy((void *)p, v, size);
}

/* Futexes */

struct waiter {
	struct list_head link;
	const u32 *p;
	struct task_struct *task;
	bool woken;
};

static int sleep_on(struct waiter *w, u64 until)
{
	ktime_t t;
	int ret;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		ret = w->woken ? 0 : signal_pending(current) ? -EINTR :
		      sim_now() >= until ? -ETIMEDOUT : 1;
		if (ret <= 0)
			break;
		t = until;
		if (until == U64_MAX)
			schedule();
		else
			schedule_hrtimeout_range(&t, 0, HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
	return ret;
}

int px_futex_wait(const u32 *p, u32 seen, u64 until)
{
	struct waiter w = { .p = p, .task = current };
	int ret = -EAGAIN;

	sim_enter();
	might_sleep();
	if (*p == seen) {
		list_add_tail(&w.link, &waiters);
		ret = sleep_on(&w, until);
		list_del(&w.link);
	}
	sim_leave();
	return ret;
}

int px_futex_wake(const u32 *p, int n)
{
	struct waiter *w;
	int woke = 0;

	sim_enter();
	might_sleep();
	list_for_each_entry(w, &waiters, link) {
		if (w->p != p || w->woken)
			continue;
		if (woke == n)
			break;
		w->woken = true;
		woke++;
		sim_wake_task(w->task, TASK_INTERRUPTIBLE);
	}
	sim_leave();
	return woke;
}

/* Threads */

struct px_thread *px_self_thread(void)
{
	return sim_self->user;
}

struct px_proc *px_self(void)
{
	return px_self_thread()->p;
}

static void finish(struct px_thread *t)
{
	list_del(&t->link);
	free(t);
}

static void run(void *arg)
{
	struct px_thread *t = arg;

	if (t->main)
		px_text_is_constant();
	t->ret = t->fn(t->arg);
	if (t->main)
		px_end_process((int)(long)t->ret);
	sim_yield();
	px_files_put(t->files);
	t->files = NULL;
	t->p->threads--;
	t->done = 1;
	if (t->detached)
		finish(t);
	else
		px_futex_wake(&t->done, 1);
}

struct sim_ctx *px_thread_start(struct px_proc *p, struct px_thread *t,
				const char *name)
{
	struct sim_ctx *c = sim_thread(p->proc, name, run, t);

	list_add_tail(&t->link, &p->all);
	p->threads++;
	c->user = t;
	c->tls_at = px_image_tls(p->image, &c->tls_size);
	c->tls = calloc(1, c->tls_size);
	if (!c->tls)
		abort();
	return c;
}

int px_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		      void *(*fn)(void *arg), void *arg);
int px_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		      void *(*fn)(void *arg), void *arg)
{
	struct px_thread *self = px_self_thread();
	struct px_thread *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->p = self->p;
	t->files = px_files_get(self->files);
	t->fn = fn;
	t->arg = arg;
	*thread = (pthread_t)t;
	px_thread_start(self->p, t, "thread");
	sim_yield();
	return 0;
}

static int join(struct px_thread *t, void **ret, u64 until)
{
	int err = 0;

	if (t->joined || t->detached)
		sim_fail("a thread is joined that cannot be");
	while (!t->done && err != -ETIMEDOUT)
		err = px_futex_wait(&t->done, 0, until);
	if (!t->done)
		return ETIMEDOUT;
	t->joined = true;
	if (ret)
		*ret = t->ret;
	finish(t);
	return 0;
}

int px_pthread_join(pthread_t thread, void **ret);
int px_pthread_join(pthread_t thread, void **ret)
{
	return join((struct px_thread *)thread, ret, U64_MAX);
}

int px_pthread_tryjoin_np(pthread_t thread, void **ret);
int px_pthread_tryjoin_np(pthread_t thread, void **ret)
{
	struct px_thread *t = (struct px_thread *)thread;

	sim_yield();
	return t->done ? join(t, ret, U64_MAX) : EBUSY;
}

static u64 ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000ull + t->tv_nsec;
}

int px_pthread_timedjoin_np(pthread_t thread, void **ret,
			    const struct timespec *until);
int px_pthread_timedjoin_np(pthread_t thread, void **ret,
			    const struct timespec *until)
{
	return join((struct px_thread *)thread, ret, ns_of(until));
}

int px_pthread_detach(pthread_t thread);
int px_pthread_detach(pthread_t thread)
{
	struct px_thread *t = (struct px_thread *)thread;

	sim_yield();
	t->detached = true;
	if (t->done)
		finish(t);
	return 0;
}

pthread_t px_pthread_self(void);
pthread_t px_pthread_self(void)
{
	return (pthread_t)px_self_thread();
}

int px_pthread_sigmask(int how, const void *set, void *old);
int px_pthread_sigmask(int how, const void *set, void *old)
{
	return 0;
}

int px_pthread_atfork(void (*a)(void), void (*b)(void), void (*c)(void));
int px_pthread_atfork(void (*a)(void), void (*b)(void), void (*c)(void))
{
	return 0;
}

/* Mutexes and the rest of it: the first word is a futex. */

int px_pthread_once(u32 *once, void (*fn)(void));
int px_pthread_once(u32 *once, void (*fn)(void))
{
	sim_yield();
	while (*once == 1)
		px_futex_wait(once, 1, U64_MAX);
	if (*once == 2)
		return 0;
	*once = 1;
	fn();
	*once = 2;
	px_futex_wake(once, S32_MAX);
	return 0;
}

int px_pthread_mutex_init(u32 *m, const void *attr);
int px_pthread_mutex_init(u32 *m, const void *attr)
{
	memset(m, 0, sizeof(pthread_mutex_t));
	return 0;
}

int px_pthread_mutex_lock(u32 *m);
int px_pthread_mutex_lock(u32 *m)
{
	u32 was;

	sim_yield();
	was = *m;
	*m = was ? 2 : 1;
	while (was) {
		px_futex_wait(m, 2, U64_MAX);
		was = *m;
		*m = 2;
	}
	sim_yield();
	return 0;
}

int px_pthread_mutex_unlock(u32 *m);
int px_pthread_mutex_unlock(u32 *m)
{
	u32 was;

	sim_yield();
	was = *m;
	if (!was)
		sim_fail("a mutex is unlocked that is not locked");
	*m = 0;
	if (was == 2)
		px_futex_wake(m, 1);
	sim_yield();
	return 0;
}

int px_pthread_condattr_init(void *attr);
int px_pthread_condattr_init(void *attr)
{
	return 0;
}

int px_pthread_condattr_setclock(void *attr, int clock);
int px_pthread_condattr_setclock(void *attr, int clock)
{
	return 0;
}

int px_pthread_cond_init(u32 *c, const void *attr);
int px_pthread_cond_init(u32 *c, const void *attr)
{
	memset(c, 0, sizeof(pthread_cond_t));
	return 0;
}

static int cond_wait(u32 *c, u32 *m, u64 until)
{
	u32 seen = *c;
	int ret;

	px_pthread_mutex_unlock(m);
	ret = px_futex_wait(c, seen, until);
	px_pthread_mutex_lock(m);
	return ret == -ETIMEDOUT ? ETIMEDOUT : 0;
}

int px_pthread_cond_wait(u32 *c, u32 *m);
int px_pthread_cond_wait(u32 *c, u32 *m)
{
	return cond_wait(c, m, U64_MAX);
}

/* Both clocks count from the start of the run. */
int px_pthread_cond_timedwait(u32 *c, u32 *m, const struct timespec *until);
int px_pthread_cond_timedwait(u32 *c, u32 *m, const struct timespec *until)
{
	return cond_wait(c, m, ns_of(until));
}

static int wake_cond(u32 *c, int n)
{
	sim_yield();
	++*c;
	px_futex_wake(c, n);
	return 0;
}

int px_pthread_cond_signal(u32 *c);
int px_pthread_cond_signal(u32 *c)
{
	return wake_cond(c, 1);
}

int px_pthread_cond_broadcast(u32 *c);
int px_pthread_cond_broadcast(u32 *c)
{
	return wake_cond(c, S32_MAX);
}

/* Time.  A look at the clock is what loops that wait have in common. */

int px_clock_gettime(clockid_t clock, struct timespec *t);
int px_clock_gettime(clockid_t clock, struct timespec *t)
{
	sim_pass();
	t->tv_sec = sim_clock / NSEC_PER_SEC;
	t->tv_nsec = sim_clock % NSEC_PER_SEC;
	return 0;
}

u64 px_until(const struct timespec *length)
{
	return length ? sim_clock + ns_of(length) : U64_MAX;
}

time_t px_time(time_t *now);
time_t px_time(time_t *now)
{
	sim_pass();
	return sim_clock / NSEC_PER_SEC;
}

int px_sched_getaffinity(pid_t pid, size_t size, void *set);
int px_sched_getaffinity(pid_t pid, size_t size, void *set)
{
	memset(set, 0, size);
	*(u64 *)set = (1ull << px_self()->cpus) - 1;
	return 0;
}

int px_nanosleep(const struct timespec *t, struct timespec *left);
int px_nanosleep(const struct timespec *t, struct timespec *left)
{
	sim_sleep(ns_of(t));
	return 0;
}

int px_sched_yield(void);
int px_sched_yield(void)
{
	sim_pass();
	return 0;
}

void px_pause(void);
void px_pause(void)
{
	struct px_thread *t = px_self_thread();

	sim_clock += 40;
	/* The thread that it waits for may not be run for a while. */
	if (++t->pauses < t->p->patience) {
		sim_yield();
		return;
	}
	t->pauses = 0;
	sim_pass();
}
