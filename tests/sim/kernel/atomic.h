/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marked accesses, atomics, barriers and reference counts.  Each is a point at
 * which another context may run.  A marked store may stay in the store buffer
 * of its context (sim_tso): others see it after the next barrier, atomic or
 * lock of that context, or when the simulator writes it out.
 */
#ifndef SIM_KERNEL_ATOMIC_H
#define SIM_KERNEL_ATOMIC_H

#include "base.h"

extern bool sim_tso;
void sim_buffer(volatile void *p, u64 v, unsigned int size);
bool sim_forward(const volatile void *p, void *v, unsigned int size);
void sim_drain(void);
void sim_rcu_check(void);

/* A program that acts at each look of the kernel's at a word: of a run. */
extern const volatile void *sim_looked_at;
void sim_look(void);
#define sim_looks_at(p)							\
do {									\
	if (__builtin_expect((const volatile void *)(p) == sim_looked_at, 0)) \
		sim_look();						\
} while (0)

#ifdef SIM_QUIET
/* The simulator's own files: no turns inside of them. */
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	((void)(*(volatile typeof(x) *)&(x) = (v)))
#define sim_point()		((void)0)
#else
#define sim_point()		sim_yield()
#define READ_ONCE(x)							\
({									\
	union { typeof(x) v; char c[sizeof(x)]; } _u;			\
	sim_yield();							\
	sim_looks_at(&(x));						\
	if (!sim_tso || !sim_forward(&(x), _u.c, sizeof(x)))		\
		memcpy(_u.c, (const void *)&(x), sizeof(x));		\
	_u.v;								\
})
#define WRITE_ONCE(x, val)						\
do {									\
	union { typeof(x) v; u64 w; } _u = { .w = 0 };			\
									\
	*(typeof(({ __auto_type _t = (x); _t; })) *)&_u.v = (val);	\
	sim_yield();							\
	if (sim_tso)							\
		sim_buffer(&(x), _u.w, sizeof(x));			\
	else								\
		memcpy((void *)&(x), &_u.w, sizeof(x));			\
	sim_yield();							\
} while (0)
#endif

#define smp_mb()		do { sim_drain(); sim_point(); } while (0)
#define smp_wmb()		smp_mb()
#define smp_rmb()		sim_point()
#define smp_mb__before_atomic()	smp_mb()
#define smp_mb__after_atomic()	smp_mb()
#define smp_acquire__after_ctrl_dep() sim_point()
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_mb(x, v)	do { WRITE_ONCE(x, v); smp_mb(); } while (0)
#define data_race(x)		(x)

/*
 * Builtins, which the instrumentation of plain accesses leaves alone: nothing
 * runs between their load and their store.
 */
#define sim_rmw(expr)							\
({									\
	sim_drain();							\
	sim_point();							\
	__auto_type _r = (expr);					\
	sim_point();							\
	_r;								\
})
#define sim_cas(p, o, n) \
	__atomic_compare_exchange_n(p, o, n, false, __ATOMIC_SEQ_CST, \
				    __ATOMIC_SEQ_CST)
#define sim_cmpxchg(p, old, new)					\
({									\
	typeof(*(p)) _o = (old);					\
	sim_drain();							\
	sim_point();							\
	sim_cas(p, &_o, new);						\
	sim_point();							\
	_o;								\
})
#define cmpxchg(p, old, new)	sim_cmpxchg(p, old, new)
#define xchg(p, new) \
	sim_rmw(__atomic_exchange_n(p, new, __ATOMIC_SEQ_CST))

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;
typedef struct { s64 counter; } atomic64_t;
#define ATOMIC_INIT(i)		{ (i) }

#define SIM_ATOMIC(name, type, base)					\
static inline base name##_read(const type *v)				\
{ return READ_ONCE(v->counter); }					\
static inline void name##_set(type *v, base i)				\
{ WRITE_ONCE(v->counter, i); }						\
static inline base name##_add_return(base i, type *v)			\
{ return sim_rmw(__atomic_add_fetch(&v->counter, i, __ATOMIC_SEQ_CST)); }					\
static inline base name##_fetch_add(base i, type *v)			\
{ return sim_rmw(__atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST)); }				\
static inline base name##_fetch_or(base i, type *v)			\
{ return sim_rmw(__atomic_fetch_or(&v->counter, i, __ATOMIC_SEQ_CST)); } \
static inline base name##_fetch_and(base i, type *v)			\
{ return sim_rmw(__atomic_fetch_and(&v->counter, i, __ATOMIC_SEQ_CST)); } \
static inline base name##_xchg(type *v, base i)				\
{ return xchg(&v->counter, i); }					\
static inline base name##_cmpxchg(type *v, base o, base n)		\
{ return sim_cmpxchg(&v->counter, o, n); }				\
static inline bool name##_try_cmpxchg(type *v, base *o, base n)		\
{									\
	base was = sim_cmpxchg(&v->counter, *o, n);			\
	bool ok = was == *o;						\
									\
	*o = was;							\
	return ok;							\
}									\
static inline void name##_add(base i, type *v) { name##_add_return(i, v); } \
static inline void name##_sub(base i, type *v) { name##_add_return(-i, v); } \
static inline void name##_inc(type *v) { name##_add_return(1, v); }	\
static inline void name##_dec(type *v) { name##_add_return(-1, v); }	\
static inline void name##_or(base i, type *v) { name##_fetch_or(i, v); } \
static inline void name##_and(base i, type *v) { name##_fetch_and(i, v); } \
static inline base name##_fetch_andnot(base i, type *v)			\
{ return name##_fetch_and(~i, v); }					\
static inline void name##_andnot(base i, type *v)			\
{ name##_fetch_and(~i, v); }						\
static inline base name##_inc_return(type *v)				\
{ return name##_add_return(1, v); }					\
static inline base name##_dec_return(type *v)				\
{ return name##_add_return(-1, v); }					\
static inline bool name##_dec_and_test(type *v)				\
{ return !name##_add_return(-1, v); }					\
static inline bool name##_inc_not_zero(type *v)				\
{									\
	base o = 1;							\
									\
	sim_drain();							\
	sim_point();							\
	while (o && !sim_cas(&v->counter, &o, o + 1))			\
		;							\
	sim_point();							\
	return o;							\
}

SIM_ATOMIC(atomic, atomic_t, int)
SIM_ATOMIC(atomic_long, atomic_long_t, long)
SIM_ATOMIC(atomic64, atomic64_t, s64)

typedef struct { atomic_t refs; } refcount_t;

#define refcount_read(r)	atomic_read(&(r)->refs)
#define refcount_set(r, n)	atomic_set(&(r)->refs, n)

static inline void refcount_inc(refcount_t *r)
{
	if (atomic_add_return(1, &r->refs) <= 1)
		sim_fail("refcount: increment of 0, use after free");
}

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	return atomic_inc_not_zero(&r->refs);
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	int left = atomic_add_return(-1, &r->refs);

	if (left < 0)
		sim_fail("refcount: underflow");
	return !left;
}

struct kref {
	refcount_t refcount;
};

#define kref_init(k)		refcount_set(&(k)->refcount, 1)
#define kref_get(k)		refcount_inc(&(k)->refcount)
#define kref_read(k)		refcount_read(&(k)->refcount)
#define kref_get_unless_zero(k)	refcount_inc_not_zero(&(k)->refcount)

static inline int kref_put(struct kref *k, void (*release)(struct kref *k))
{
	if (!refcount_dec_and_test(&k->refcount))
		return 0;
	release(k);
	return 1;
}

#endif
