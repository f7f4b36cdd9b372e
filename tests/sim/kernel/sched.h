/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts and tasks, locks, RCU, waiting, time, deferred work.  Implemented in
 * the .c files beside this one on top of ../engine.h.
 */
#ifndef SIM_KERNEL_SCHED_H
#define SIM_KERNEL_SCHED_H

#include "list.h"

/* Tasks */

struct mm_struct;
struct nsproxy;
struct cred;
struct sim_proc;

struct task_struct {
	struct mm_struct *mm;
	struct nsproxy *nsproxy;
	const struct cred *cred;
	struct sim_proc *proc;
	struct sim_ctx *ctx;
	unsigned int __state;
	u64 timer_slack_ns;
	bool pending;			/* a signal is pending */
	bool killed;			/* and it is fatal */
	int pid;
	char comm[16];
};

#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1
#define TASK_UNINTERRUPTIBLE	2
#define TASK_WAKEKILL		4
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)

struct task_struct *sim_current(void);
#define current			sim_current()
#define set_current_state(s)	smp_store_mb(current->__state, s)
#define __set_current_state(s)	WRITE_ONCE(current->__state, s)
void schedule(void);
int wake_up_process(struct task_struct *t);
#define signal_pending(t)	(READ_ONCE((t)->pending))
#define fatal_signal_pending(t)	(READ_ONCE((t)->killed))
void might_sleep(void);
#define might_fault()		might_sleep()
#define cond_resched()		(might_sleep(), sim_yield(), 0)
#define need_resched()		false

/* Preemption and bottom halves */

void local_bh_disable(void);
void local_bh_enable(void);
void preempt_disable(void);
void preempt_enable(void);
int sim_cpu(void);
#define smp_processor_id()	sim_cpu()
#define raw_smp_processor_id()	sim_cpu()
bool sim_in_softirq(void);
#define in_softirq()		sim_in_softirq()
#define in_task()		(!sim_in_softirq())
#define in_interrupt()		sim_in_softirq()

#define SIM_CPUS		4
#define nr_cpu_ids		SIM_CPUS
#define num_possible_cpus()	SIM_CPUS
#define num_online_cpus()	SIM_CPUS
#define for_each_possible_cpu(c) for ((c) = 0; (c) < SIM_CPUS; (c)++)
void *sim_alloc_percpu(size_t size);
void free_percpu(void *p);
#define sim_percpu_stride(p)	ALIGN(sizeof(*(p)), 64ul)
#define alloc_percpu(t)		((t *)sim_alloc_percpu(ALIGN(sizeof(t), 64ul)))
#define alloc_percpu_gfp(t, g)	alloc_percpu(t)
#define per_cpu_ptr(p, c) \
	((typeof(p))((char *)(p) + sim_percpu_stride(p) * (c)))
#define this_cpu_ptr(p)		per_cpu_ptr(p, sim_this_cpu())
int sim_this_cpu(void);		/* fails where preemption is on */
#define __this_cpu_inc(v)	__this_cpu_add(v, 1)
#define __this_cpu_add(v, n) \
	(*(typeof(&(v)))sim_this_address(&(v)) += (n))
#define this_cpu_inc(v)		__this_cpu_add(v, 1)
void *sim_this_address(void *p);

/* Locks */

struct lock_class_key {
	char dummy;
};

struct lockdep_map {
	struct lock_class_key *key;
	const char *name;
};

struct sim_lock {
	struct lockdep_map dep_map;
	struct sim_ctx *owner;
	struct list_head waiters;	/* of contexts */
	u32 readers;			/* of a reader-writer lock */
	int class;			/* found last */
};

typedef struct { struct sim_lock l; } spinlock_t;
struct mutex { struct sim_lock l; };
struct rw_semaphore { struct sim_lock l; };

void sim_lock_init(struct sim_lock *l, struct lock_class_key *key,
		   const char *name);
void sim_lock(struct sim_lock *l, bool sleeps, int subclass);
int sim_lock_killable(struct sim_lock *l);
bool sim_trylock(struct sim_lock *l);
void sim_unlock(struct sim_lock *l);
bool sim_lock_mine(const struct sim_lock *l);

#define SIM_LOCK_INIT(n)						\
	{ .dep_map = { .key = (struct lock_class_key *)&(n), .name = #n }, \
	  .waiters = LIST_HEAD_INIT((n).l.waiters) }
#define __SPIN_LOCK_UNLOCKED(n)	{ SIM_LOCK_INIT(n) }
#define DEFINE_SPINLOCK(n)	spinlock_t n = { SIM_LOCK_INIT(n) }
#define DEFINE_MUTEX(n)		struct mutex n = { SIM_LOCK_INIT(n) }
#define sim_init_lock(x)						\
do {									\
	static struct lock_class_key _key;				\
									\
	sim_lock_init(&(x)->l, &_key, #x);				\
} while (0)
#define spin_lock_init(x)	sim_init_lock(x)
#define mutex_init(x)		sim_init_lock(x)
#define init_rwsem(x)		sim_init_lock(x)
void lockdep_init_map(struct lockdep_map *m, const char *name,
		      struct lock_class_key *key, int subclass);
/* What is waited for, as a lock of no owner: for its place in the order. */
void lock_map_acquire(struct lockdep_map *m);
void lock_map_release(struct lockdep_map *m);
#define CONFIG_PROVE_LOCKING	1
/* RTNL is tests/sim/nic.c's, and sim_endless_wait() has its rule. */
#define rtnl_lock()		((void)0)
#define rtnl_unlock()		((void)0)
#define lockdep_set_class_and_name(x, k, n) \
	((x)->l.dep_map = (struct lockdep_map){ k, n })
#define lockdep_set_class(x, k)	((x)->l.dep_map.key = (k))

#define SINGLE_DEPTH_NESTING	1
#define spin_lock(x)		(preempt_disable(), sim_lock(&(x)->l, false, 0))
#define spin_lock_nested(x, n)	(preempt_disable(), sim_lock(&(x)->l, false, n))
#define spin_unlock(x)		(sim_unlock(&(x)->l), preempt_enable())
#define spin_lock_bh(x)		(local_bh_disable(), sim_lock(&(x)->l, false, 0))
#define spin_unlock_bh(x)	(sim_unlock(&(x)->l), local_bh_enable())
#define spin_lock_irqsave(x, f)	((f) = 0, spin_lock_bh(x))
#define spin_unlock_irqrestore(x, f) ((void)(f), spin_unlock_bh(x))
#define spin_is_locked(x)	(!!(x)->l.owner)
static inline bool sim_spin_trylock(spinlock_t *x)
{
	preempt_disable();
	if (sim_trylock(&x->l))
		return true;
	preempt_enable();
	return false;
}
#define spin_trylock(x)		sim_spin_trylock(x)
#define mutex_lock(x)		sim_lock(&(x)->l, true, 0)
#define mutex_lock_nested(x, n)	sim_lock(&(x)->l, true, n)
#define mutex_lock_killable(x)	sim_lock_killable(&(x)->l)
#define mutex_lock_interruptible(x) sim_lock_killable(&(x)->l)
#define mutex_trylock(x)	sim_trylock(&(x)->l)
#define mutex_unlock(x)		sim_unlock(&(x)->l)
#define mutex_is_locked(x)	(!!(x)->l.owner)
#define mutex_destroy(x)	((void)0)
#define lockdep_assert_held(x)						\
do {									\
	if (!sim_lock_mine(&(x)->l))					\
		sim_fail("%s: %s is not held", __func__, #x);		\
} while (0)
#define lockdep_assert(c)						\
do {									\
	if (!(c))							\
		sim_fail("%s: %s", __func__, #c);			\
} while (0)
#define lockdep_assert_not_held(x)	((void)0)
#define lockdep_is_held(x)	sim_lock_mine(&(x)->l)
/* Not reader-writer here: one lock of its own for each address space. */
/* As with PREEMPT_RT: what meets a writer waits for its lock. */
typedef struct {
	unsigned int sequence;
	spinlock_t *lock;
} seqcount_spinlock_t;

#define seqcount_spinlock_init(s, l) \
	(*(s) = (seqcount_spinlock_t){ .lock = (l) })
#define read_seqcount_begin(s)						\
({									\
	unsigned int _q;						\
	while ((_q = READ_ONCE((s)->sequence)) & 1) {			\
		spin_lock((s)->lock);					\
		spin_unlock((s)->lock);					\
	}								\
	smp_rmb();							\
	_q;								\
})
#define read_seqcount_retry(s, q) \
	({ smp_rmb(); READ_ONCE((s)->sequence) != (q); })
#define write_seqcount_begin(s)						\
do {									\
	lockdep_assert_held((s)->lock);					\
	WRITE_ONCE((s)->sequence, (s)->sequence + 1);			\
	smp_wmb();							\
} while (0)
#define write_seqcount_end(s)						\
do {									\
	smp_wmb();							\
	WRITE_ONCE((s)->sequence, (s)->sequence + 1);			\
} while (0)

#define down_read(x)		sim_lock(&(x)->l, true, 0)
#define down_read_killable(x)	sim_lock_killable(&(x)->l)
#define up_read(x)		sim_unlock(&(x)->l)
#define down_write(x)		sim_lock(&(x)->l, true, 0)
#define up_write(x)		sim_unlock(&(x)->l)

/* RCU */

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
	u64 after;			/* readers that began before it count */
};

void rcu_read_lock(void);
void rcu_read_unlock(void);
bool rcu_read_lock_held(void);
#define rcu_read_lock_bh()	(local_bh_disable(), rcu_read_lock())
#define rcu_read_unlock_bh()	(rcu_read_unlock(), local_bh_enable())
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void synchronize_rcu(void);
#define synchronize_rcu_expedited() synchronize_rcu()
#define synchronize_net()	synchronize_rcu()
void rcu_barrier(void);
void sim_kfree_rcu(struct rcu_head *head, size_t off);
#define kvfree_rcu(p, m)	kfree_rcu(p, m)
#define kfree_rcu(p, m)		sim_kfree_rcu(&(p)->m, offsetof(typeof(*(p)), m))
#define rcu_dereference(p)	(sim_rcu_check(), READ_ONCE(p))
#define rcu_dereference_raw(p)	READ_ONCE(p)
#define rcu_dereference_bh(p)	READ_ONCE(p)
#define rcu_dereference_check(p, c) READ_ONCE(p)
#define rcu_dereference_protected(p, c)	(p)
#define rcu_access_pointer(p)	READ_ONCE(p)
#define rcu_assign_pointer(p, v) smp_store_release(&(p), v)
#define RCU_INIT_POINTER(p, v)	WRITE_ONCE(p, v)
#define rcu_replace_pointer(p, v, c)					\
({									\
	typeof(p) _was = (p);						\
	rcu_assign_pointer(p, v);					\
	_was;								\
})
#define RCU_LOCKDEP_WARN(c, s)	((void)0)

struct srcu_struct {
	long readers[2];
	int cur;
	bool live;
	struct mutex mutex;
	struct list_head waiters;
};

int init_srcu_struct(struct srcu_struct *s);
void cleanup_srcu_struct(struct srcu_struct *s);
int srcu_read_lock(struct srcu_struct *s);
void srcu_read_unlock(struct srcu_struct *s, int idx);
void synchronize_srcu(struct srcu_struct *s);
#define synchronize_srcu_expedited(s) synchronize_srcu(s)

/* Time */

#define HZ			250
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_USEC		1000L
#define USEC_PER_SEC		1000000L
#define USEC_PER_MSEC		1000L
#define MSEC_PER_SEC		1000L
#define KTIME_MAX		S64_MAX
#define MAX_JIFFY_OFFSET	((1ul << 62) - 1)
#define CLOCK_MONOTONIC		1
#define TICK_NSEC		(NSEC_PER_SEC / HZ)

u64 sim_now(void);
/* In some runs there is none: it stands. */
typedef u64 cycles_t;
cycles_t get_cycles(void);
static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

/* As the kernel's: the first wrap comes five minutes after the start. */
#define INITIAL_JIFFIES		((unsigned long)(unsigned int)(-300 * HZ))
unsigned long sim_jiffies(void);
extern unsigned long sim_jiffies_start;	/* of a run; a scenario's to change */
#define jiffies			sim_jiffies()
#define get_jiffies_64()	((u64)sim_jiffies())
#define ktime_get()		((ktime_t)sim_now())
#define ktime_get_ns()		sim_now()
#define ktime_get_seconds()	((s64)(sim_now() / NSEC_PER_SEC))
#define ktime_get_raw_ns()	sim_now()
#define ktime_to_ns(t)		((s64)(t))
#define ns_to_ktime(n)		((ktime_t)(n))
#define ktime_sub(a, b)		((a) - (b))
#define ktime_add_ns(a, b)	((a) + (s64)(b))
static inline ktime_t ktime_add_safe(ktime_t a, ktime_t b)
{
	ktime_t r;

	return __builtin_add_overflow(a, b, &r) || r < 0 ? KTIME_MAX : r;
}

/* A deadline counts from the clock, the tick from its own start. */
#define nsecs_to_jiffies64(n)	((u64)(n) / TICK_NSEC)
#define nsecs_to_jiffies(n)	((unsigned long)nsecs_to_jiffies64(n))
static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return (int)ms < 0 ? MAX_JIFFY_OFFSET : ((u64)ms * HZ + 999) / 1000;
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return ((u64)us * HZ + 999999) / 1000000;
}

#define jiffies_to_msecs(j)	((unsigned int)((j) * (1000 / HZ)))
#define jiffies_to_usecs(j)	((unsigned int)((j) * (1000000 / HZ)))
#define jiffies_to_nsecs(j)	((u64)(j) * TICK_NSEC)
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_is_before_jiffies(a) time_after(jiffies, a)
#define time_is_after_jiffies(a) time_before(jiffies, a)

struct sim_timer {
	struct sim_event *event;	/* armed, or NULL */
	bool queued;			/* fired, its softirq has not begun */
	struct sim_ctx *running;
};

struct timer_list {
	struct sim_timer t;
	void (*function)(struct timer_list *t);
	unsigned long expires;
};

#define timer_container_of(v, t, m)	container_of(t, typeof(*(v)), m)
void timer_setup(struct timer_list *t, void (*f)(struct timer_list *t),
		 unsigned int flags);
int mod_timer(struct timer_list *t, unsigned long when);
int timer_delete_sync(struct timer_list *t);
/* timer_delete(), a name that the C library has. */
int sim_timer_delete(struct timer_list *t);
#define timer_pending(x)	((x)->t.event || (x)->t.queued)

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_ABS, HRTIMER_MODE_REL, HRTIMER_MODE_REL_SOFT,
		    HRTIMER_MODE_ABS_SOFT, HRTIMER_MODE_REL_PINNED_SOFT,
		    HRTIMER_MODE_ABS_PINNED_SOFT };
struct hrtimer {
	struct sim_timer t;
	enum hrtimer_restart (*function)(struct hrtimer *t);
	u64 expires;
};

void hrtimer_setup(struct hrtimer *t,
		   enum hrtimer_restart (*f)(struct hrtimer *t), int clock,
		   enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *t, ktime_t when, enum hrtimer_mode mode);
int hrtimer_cancel(struct hrtimer *t);
extern u32 sim_alarms;			/* hrtimers that went off, ever */
int hrtimer_try_to_cancel(struct hrtimer *t);
u64 hrtimer_forward_now(struct hrtimer *t, ktime_t interval);
#define hrtimer_is_queued(x)	(READ_ONCE((x)->t.event) != NULL)
#define hrtimer_active(x)	((x)->t.event || (x)->t.queued || (x)->t.running)

/* lib/timerqueue.c: a sorted list does as well. */
struct timerqueue_node {
	struct list_head link;
	struct timerqueue_head *head;	/* that it is on */
	ktime_t expires;
};

struct timerqueue_head {
	struct list_head list;
};

static inline void timerqueue_init(struct timerqueue_node *n)
{
	INIT_LIST_HEAD(&n->link);
}

static inline void timerqueue_init_head(struct timerqueue_head *h)
{
	INIT_LIST_HEAD(&h->list);
}

bool timerqueue_add(struct timerqueue_head *h, struct timerqueue_node *n);
bool timerqueue_del(struct timerqueue_head *h, struct timerqueue_node *n);
struct timerqueue_node *timerqueue_getnext(struct timerqueue_head *h);
/* The one behind it; NULL: it is the last. */
struct timerqueue_node *timerqueue_iterate_next(struct timerqueue_node *n);

long schedule_timeout(long left);
#define MAX_SCHEDULE_TIMEOUT	0x7fffffffffffffffl
int schedule_hrtimeout_range(ktime_t *t, u64 slack, enum hrtimer_mode mode);
void msleep(unsigned int ms);

/* Wait queues */

typedef struct wait_queue_head {
	spinlock_t lock;
	struct list_head head;
} wait_queue_head_t;

struct wait_queue_entry {
	struct task_struct *task;
	struct list_head entry;
};

#define __WAIT_QUEUE_HEAD_INITIALIZER(n)				\
	{ .lock = { { .dep_map = { .key = (struct lock_class_key *)&(n), \
				   .name = #n },			\
		      .waiters = LIST_HEAD_INIT((n).lock.l.waiters) } }, \
	  .head = LIST_HEAD_INIT((n).head) }
#define DECLARE_WAIT_QUEUE_HEAD(n) \
	wait_queue_head_t n = __WAIT_QUEUE_HEAD_INITIALIZER(n)
#define init_waitqueue_head(w) \
	do { spin_lock_init(&(w)->lock); INIT_LIST_HEAD(&(w)->head); } while (0)
void prepare_to_wait(wait_queue_head_t *w, struct wait_queue_entry *e,
		     int state);
void finish_wait(wait_queue_head_t *w, struct wait_queue_entry *e);
void sim_wake_up(wait_queue_head_t *w, unsigned int mode, int n);
#define wake_up(w)		sim_wake_up(w, 3, 1)
#define wake_up_all(w)		sim_wake_up(w, 3, 0)
#define wake_up_interruptible(w) sim_wake_up(w, 1, 1)
#define wake_up_interruptible_all(w) sim_wake_up(w, 1, 0)
#define waitqueue_active(w)	(!list_empty(&(w)->head))
#define wq_has_sleeper(w)	({ smp_mb(); waitqueue_active(w); })

#define SIM_EVER		0x7fffffffffffffffl
/*
 * A wait whose end is another context's: not while it holds what others wait for
 * that owe it nothing.
 */
void sim_endless_wait(const char *what);
/* @left: jiffies, or LONG_MAX; the value of the macro is as the kernel's. */
#define sim_wait_event(w, cond, state, left)				\
({									\
	struct wait_queue_entry _e = { .task = NULL };			\
	long _left = (left);						\
	int _sig = 0;							\
									\
	if (_left == SIM_EVER)						\
		sim_endless_wait("wait_event()");			\
	might_sleep();							\
	for (;;) {							\
		prepare_to_wait(&(w), &_e, state);			\
		if (cond)						\
			break;						\
		if (!_left)						\
			break;						\
		_sig = (state) == TASK_INTERRUPTIBLE ?			\
		       signal_pending(current) :			\
		       (state) == TASK_KILLABLE ?			\
		       fatal_signal_pending(current) : 0;		\
		if (_sig)						\
			break;						\
		if (_left == 0x7fffffffffffffffl)			\
			schedule();					\
		else							\
			_left = schedule_timeout(_left);		\
	}								\
	finish_wait(&(w), &_e);						\
	_sig ? -ERESTARTSYS : _left;					\
})
#define wait_event(w, c) \
	((void)sim_wait_event(w, c, TASK_UNINTERRUPTIBLE, SIM_EVER))
#define wait_event_interruptible(w, c)					\
	(sim_wait_event(w, c, TASK_INTERRUPTIBLE, SIM_EVER) < 0 ?	\
	 -ERESTARTSYS : 0)
#define wait_event_killable(w, c)					\
	(sim_wait_event(w, c, TASK_KILLABLE, SIM_EVER) < 0 ? -ERESTARTSYS : 0)
#define sim_wait_left(w, c, state, left)				\
({									\
	bool _met = false;						\
	long _r = sim_wait_event(w, (_met = (c)), state, left);		\
	_r < 0 ? _r : _met ? max(_r, 1l) : 0l;				\
})
/* 0, -ETIME or -ERESTARTSYS. */
#define wait_event_interruptible_hrtimeout(w, c, limit)			\
({									\
	struct wait_queue_entry _e = { .task = NULL };			\
	u64 _until = min((u64)(limit), (u64)KTIME_MAX / 2) + sim_now();	\
	int _ret = 0;							\
									\
	might_sleep();							\
	for (;;) {							\
		ktime_t _t = _until;					\
									\
		prepare_to_wait(&(w), &_e, TASK_INTERRUPTIBLE);		\
		if (c)							\
			break;						\
		_ret = signal_pending(current) ? -ERESTARTSYS :		\
		       sim_now() >= _until ? -ETIME : 0;		\
		if (_ret)						\
			break;						\
		schedule_hrtimeout_range(&_t, 0, HRTIMER_MODE_ABS);	\
	}								\
	finish_wait(&(w), &_e);						\
	_ret;								\
})
#define wait_event_timeout(w, c, left) \
	sim_wait_left(w, c, TASK_UNINTERRUPTIBLE, left)
#define wait_event_interruptible_timeout(w, c, left) \
	sim_wait_left(w, c, TASK_INTERRUPTIBLE, left)
#define wait_event_killable_timeout(w, c, left) \
	sim_wait_left(w, c, TASK_KILLABLE, left)

struct completion {
	unsigned int done;
	wait_queue_head_t wait;
};

/* Deferred work */

struct work_struct {
	void (*func)(struct work_struct *w);
	struct list_head entry;
	bool pending;
	struct workqueue_struct *wq;
	u32 running;
};

struct rcu_work {
	struct work_struct work;
	struct rcu_head rcu;
	struct workqueue_struct *wq;
};

#define WQ_UNBOUND		2
#define WQ_MEM_RECLAIM		8
#define INIT_WORK(w, f)							\
do {									\
	memset(w, 0, sizeof(*(w)));					\
	(w)->func = (f);						\
	INIT_LIST_HEAD(&(w)->entry);					\
} while (0)
#define INIT_RCU_WORK(w, f)	INIT_WORK(&(w)->work, f)
#define to_rcu_work(w)		container_of(w, struct rcu_work, work)
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max, ...);
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *w);
bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *w);
bool flush_work(struct work_struct *w);
bool cancel_work(struct work_struct *w);
bool cancel_work_sync(struct work_struct *w);

struct tasklet_struct {
	void (*callback)(struct tasklet_struct *t);
	bool scheduled;
	bool again;			/* scheduled while it runs */
	struct sim_ctx *running;
};

#define from_tasklet(v, t, m)	container_of(t, typeof(*(v)), m)
void tasklet_setup(struct tasklet_struct *t,
		   void (*f)(struct tasklet_struct *t));
void tasklet_schedule(struct tasklet_struct *t);
#define tasklet_hi_schedule(t)	tasklet_schedule(t)
/* Some begin up to a millisecond late.  Of a run. */
extern bool sim_tasklets_late;
void tasklet_kill(struct tasklet_struct *t);

#endif
