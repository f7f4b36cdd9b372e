// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader.h"
#include "object.h"

/*
 * The head of every chunk table, and what allocation needs; in one wiped
 * mapping, of which mostly untouched pages are never allocated.
 */
struct table {
	struct vipl_mutex lock;
	uint32_t used[VIPL_KINDS];	/* objects ever handed out */
	uint32_t free[VIPL_KINDS][VIPL_DRIVERS];	/* index + 1 of one */
	struct {
		char *next;
		size_t left;		/* bytes */
	} areas[VIPL_KINDS][VIPL_DRIVERS];	/* not handed out yet */
};

struct memory {
	struct vipl_root root;
	struct table table;
};

/* Where the process id sits in a first generation: above later ones. */
#define PID_SHIFT	(sizeof(uintptr_t) == 8 ? 20 : 4)

static const size_t obj_size[VIPL_KINDS] = {
	[VIPL_NIC] = sizeof(struct vipl_nic),
	[VIPL_VI] = sizeof(struct vipl_vi),
	[VIPL_CQ] = sizeof(struct vipl_cq),
	[VIPL_PTAG] = sizeof(struct vipl_ptag),
	[VIPL_CONN] = sizeof(struct vipl_conn),
};

/* Until the first VipOpenNic every lookup finds an empty table. */
static struct vipl_root no_objects;
struct vipl_root *_Atomic vipl_root = &no_objects;
static struct table *table;

void *vipl_wiped_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, size, MADV_WIPEONFORK)) {
		munmap(p, size);
		return NULL;
	}
	return p;
}

void vipl_wiped_free(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_table(void)
{
	struct memory *m = vipl_wiped_alloc(sizeof(*m));

	if (!m)
		return;
	table = &m->table;
	atomic_store_explicit(&vipl_root, &m->root, memory_order_release);
}

/* Returns 0, or -1 when there is no memory. */
int vipl_handle_init(void)
{
	pthread_once(&once, init_table);
	return table ? 0 : -1;
}

static struct vipl_obj *obj_at(enum vipl_kind kind, uint32_t i)
{
	return vipl_slot((uintptr_t)i << VIPL_KIND_BITS, kind,
			 obj_size[kind]);
}

/* The provider's part of a new object: whole cache lines of wiped memory. */
static int add_area(struct vipl_obj *o, enum vipl_kind kind,
		    const struct vipl_driver *d)
{
	size_t size = (vipl_area_size(d, kind) + 63) & ~(size_t)63;
	char **next = &table->areas[kind][d->index].next;
	size_t *left = &table->areas[kind][d->index].left;

	if (!size)
		return 0;
	if (*left < size) {
		*next = vipl_wiped_alloc(VIPL_CHUNK * size);
		*left = *next ? VIPL_CHUNK * size : 0;
	}
	if (!*next)
		return -1;
	o->pub.priv = *next;
	*next += size;
	*left -= size;
	return 0;
}

static struct vipl_obj *new_obj(enum vipl_kind kind,
				const struct vipl_driver *d)
{
	uint32_t i = table->used[kind];
	struct vipl_root *root;
	struct vipl_obj *o;
	void *chunk;

	if (i >> VIPL_INDEX_BITS)
		return NULL;
	root = atomic_load_explicit(&vipl_root, memory_order_relaxed);
	if (!atomic_load_explicit(&root->chunk[kind][i >> VIPL_CHUNK_BITS],
				  memory_order_relaxed)) {
		chunk = vipl_wiped_alloc(VIPL_CHUNK * obj_size[kind]);
		if (!chunk)
			return NULL;
		atomic_store_explicit(&root->chunk[kind][i >> VIPL_CHUNK_BITS],
				      chunk, memory_order_release);
	}
	o = obj_at(kind, i);
	if (add_area(o, kind, d))
		return NULL;
	table->used[kind]++;
	o->index = i;
	o->driver = d->index;
	atomic_store_explicit(&o->ops, &d->ops, memory_order_relaxed);
	/* A child's handles must not repeat those it inherited. */
	o->gen = (uintptr_t)getpid() << PID_SHIFT;
	return o;
}

/* An object with one reference and no published handle, otherwise as it was. */
void *vipl_obj_alloc(enum vipl_kind kind, const struct vipl_driver *d)
{
	uint32_t *first = &table->free[kind][d->index];
	struct vipl_obj *o;

	vipl_lock(&table->lock);
	if (*first) {
		o = obj_at(kind, *first - 1);
		*first = o->next_free;
	} else {
		o = new_obj(kind, d);
	}
	vipl_unlock(&table->lock);
	if (!o)
		return NULL;
	o->gen++;
	vipl_list_init(&o->link);
	atomic_store_explicit(&o->refs, 1, memory_order_release);
	return o;
}

void vipl_obj_free(struct vipl_obj *o, enum vipl_kind kind)
{
	uint32_t *first = &table->free[kind][o->driver];

	vipl_lock(&table->lock);
	o->next_free = *first;
	*first = o->index + 1;
	vipl_unlock(&table->lock);
}

uintptr_t vipl_obj_handle(const struct vipl_obj *o, enum vipl_kind kind)
{
	return o->gen << VIPL_GEN_SHIFT |
	       (uintptr_t)o->index << VIPL_KIND_BITS | kind;
}

/*
 * The object that a handle names, referenced, or NULL. It may have become
 * another object of its kind meanwhile: the caller checks with
 * vipl_is_live().
 */
void *vipl_get(void *handle, enum vipl_kind kind)
{
	struct vipl_obj *o = vipl_lookup(handle, kind, obj_size[kind]);
	uint32_t refs;

	if (!o)
		return NULL;
	refs = atomic_load_explicit(&o->refs, memory_order_relaxed);
	do {
		if (!refs)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(&o->refs, &refs,
			refs + 1, memory_order_acquire,
			memory_order_relaxed));
	return o;
}
