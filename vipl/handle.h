/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_HANDLE_H
#define VIPL_HANDLE_H

#pragma GCC visibility push(default)
#include <vipl/provider.h>
#pragma GCC visibility pop

#include "list.h"

/*
 * Handles and the objects behind them
 * -----------------------------------
 * A public handle is never a pointer. It carries a kind, an index and a
 * generation:
 *
 *	bits 0..2 kind | bits 3..18 index | the rest generation
 *
 * The index selects an object in a table that only grows. Objects are never
 * returned to the system and never change their kind or their provider, so a
 * lookup may read one at any time, without a lock, whatever another thread is
 * destroying: a stale handle finds an object whose handle word differs. The
 * provider's private area stays with the object for the same reason.
 *
 * A reference (vipl_get) keeps what hangs on an object, such as its mapped
 * rings, from going away. A live object holds one itself; 0 means free, and
 * vipl_get never raises 0. The post and poll paths do without one: providers
 * take the queue's lock and compare the handle kept beside it, which vi_live
 * clears under the same lock.
 *
 * All of it lives in memory that fork() replaces by zeroes in the child
 * (MADV_WIPEONFORK): there every handle is stale and every lock is free, at no
 * cost to the check.
 */
enum vipl_kind {
	VIPL_NIC = 1,
	VIPL_VI,
	VIPL_CQ,
	VIPL_PTAG,
	VIPL_CONN,
	VIPL_KINDS
};

#define VIPL_KIND_BITS		3
#define VIPL_INDEX_BITS		16
#define VIPL_GEN_SHIFT		(VIPL_KIND_BITS + VIPL_INDEX_BITS)
#define VIPL_CHUNK_BITS		6
#define VIPL_CHUNK		(1u << VIPL_CHUNK_BITS)
#define VIPL_CHUNKS		(1u << (VIPL_INDEX_BITS - VIPL_CHUNK_BITS))

struct vipl_driver;

/*
 * How every object begins; what a post needs of it is in one cache line. ops
 * and pub.priv are set when the slot is new, and stay.
 */
struct vipl_obj {
	struct vipl_object pub;		/* nic: referenced, all but NICs */
	_Atomic(const struct vipl_provider *) ops;
	_Atomic uint32_t refs;
	uint32_t index;
	uintptr_t gen;
	struct vipl_list link;		/* in nic->objs[], under nic->lock */
	uint32_t next_free;		/* index + 1, under the table lock */
	uint32_t driver;		/* number of its provider */
};

struct vipl_root {
	void *_Atomic chunk[VIPL_KINDS][VIPL_CHUNKS];
};

/* Said to be hidden, or the compiler looks for its address in a table. */
extern struct vipl_root *_Atomic vipl_root
	__attribute__((visibility("hidden")));

/* One function for each kind so that the size of the object is a constant. */
static inline void *vipl_slot(uintptr_t h, enum vipl_kind kind, size_t size)
{
	const uintptr_t place = (VIPL_CHUNK - 1) << VIPL_KIND_BITS;
	uint32_t c = (h >> (VIPL_KIND_BITS + VIPL_CHUNK_BITS)) &
		     (VIPL_CHUNKS - 1);
	struct vipl_root *root;
	char *chunk;

	root = atomic_load_explicit(&vipl_root, memory_order_acquire);
	chunk = atomic_load_explicit(root->chunk[kind] + c,
				     memory_order_acquire);
	if (__builtin_expect(!chunk, 0))
		return NULL;
	/* A power of two: one mask and one shift, the kind's bits included. */
	if (!(size & (size - 1)))
		return chunk + (h & place) * (size >> VIPL_KIND_BITS);
	return chunk + ((h & place) >> VIPL_KIND_BITS) * size;
}

/*
 * The object that a handle names now, without a reference. The acquire pairs
 * with vipl_publish: what was set before is visible.
 */
static inline void *vipl_lookup(void *handle, enum vipl_kind kind, size_t size)
{
	struct vipl_obj *o = vipl_slot((uintptr_t)handle, kind, size);

	if (__builtin_expect(!o || !handle, 0) ||
	    !vipl_is_live(o, handle))
		return NULL;
	return o;
}

int vipl_handle_init(void);
void *vipl_wiped_alloc(size_t size);
void vipl_wiped_free(void *p, size_t size);

void *vipl_obj_alloc(enum vipl_kind kind, const struct vipl_driver *d);
void vipl_obj_free(struct vipl_obj *o, enum vipl_kind kind);
uintptr_t vipl_obj_handle(const struct vipl_obj *o, enum vipl_kind kind);
void *vipl_get(void *handle, enum vipl_kind kind);

/* A further reference: the caller has one, or a lock that keeps the object. */
static inline void vipl_ref(struct vipl_obj *o)
{
	atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
}

/* Returns nonzero when that was the last reference. */
static inline int vipl_unref(struct vipl_obj *o)
{
	return atomic_fetch_sub_explicit(&o->refs, 1,
					 memory_order_acq_rel) == 1;
}

static inline const struct vipl_provider *vipl_ops(struct vipl_obj *o)
{
	return atomic_load_explicit(&o->ops, memory_order_relaxed);
}

static inline void vipl_publish(struct vipl_obj *o, enum vipl_kind kind)
{
	atomic_store_explicit(&o->pub.handle, vipl_obj_handle(o, kind),
			      memory_order_release);
}

static inline void vipl_retract(struct vipl_obj *o)
{
	atomic_store_explicit(&o->pub.handle, 0, memory_order_release);
}

#endif /* VIPL_HANDLE_H */
