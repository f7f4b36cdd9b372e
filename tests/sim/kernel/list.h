/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists, hash tables and trees. */
#ifndef SIM_KERNEL_LIST_H
#define SIM_KERNEL_LIST_H

#include "atomic.h"
#include "base.h"

struct list_head {
	struct list_head *next, *prev;
};

struct llist_node {
	struct llist_node *next;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define LIST_HEAD_INIT(n)	{ &(n), &(n) }
#define LIST_HEAD(n)		struct list_head n = LIST_HEAD_INIT(n)
#define LIST_POISON1		((void *)0x100)
#define LIST_POISON2		((void *)0x122)

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	WRITE_ONCE(l->next, l);
	l->prev = l;
}

/* As CONFIG_DEBUG_LIST looks at them. */
static inline void __list_add(struct list_head *n, struct list_head *prev,
			      struct list_head *next)
{
	if (next->prev != prev || prev->next != next)
		sim_fail("list_add corruption");
	if (n == prev || n == next)
		sim_fail("list_add of an entry that is there");
	if (n == prev || n == next)
		sim_fail("list_add double add");
	next->prev = n;
	n->next = next;
	n->prev = prev;
	WRITE_ONCE(prev->next, n);
}

static inline void __list_del_entry(struct list_head *n)
{
	if ((void *)n->next == LIST_POISON1 || (void *)n->prev == LIST_POISON2)
		sim_fail("list_del of an entry that is deleted");
	if (n->prev->next != n || n->next->prev != n)
		sim_fail("list_del corruption");
	n->next->prev = n->prev;
	WRITE_ONCE(n->prev->next, n->next);
}

#define list_add(n, h)		__list_add(n, h, (h)->next)
#define list_add_tail(n, h)	__list_add(n, (h)->prev, h)

static inline void list_del(struct list_head *n)
{
	__list_del_entry(n);
	n->next = LIST_POISON1;
	n->prev = LIST_POISON2;
}

static inline void list_del_init(struct list_head *n)
{
	__list_del_entry(n);
	INIT_LIST_HEAD(n);
}

#define list_move(n, h) \
	do { __list_del_entry(n); list_add(n, h); } while (0)
#define list_move_tail(n, h) \
	do { __list_del_entry(n); list_add_tail(n, h); } while (0)

static inline int list_empty(const struct list_head *h)
{
	return READ_ONCE(h->next) == h;
}

static inline int list_empty_careful(const struct list_head *h)
{
	struct list_head *next = smp_load_acquire(&h->next);

	return next == h && next == READ_ONCE(h->prev);
}

#define list_is_singular(h)	(!list_empty(h) && (h)->next == (h)->prev)
#define list_is_first(n, h)	((n)->prev == (h))

static inline void list_splice_init(struct list_head *l, struct list_head *h)
{
	if (list_empty(l))
		return;
	l->next->prev = h;
	l->prev->next = h->next;
	h->next->prev = l->prev;
	h->next = l->next;
	INIT_LIST_HEAD(l);
}

static inline void list_splice_tail_init(struct list_head *l,
					 struct list_head *h)
{
	list_splice_init(l, h->prev);
}

/* The old entry's forward pointer stays for readers that are on it. */
static inline void list_del_rcu(struct list_head *n)
{
	__list_del_entry(n);
	n->prev = LIST_POISON2;
}

static inline void list_add_rcu_between(struct list_head *n,
					struct list_head *prev,
					struct list_head *next)
{
	if (next->prev != prev || prev->next != next || n == prev || n == next)
		sim_fail("list_add_rcu corruption");
	n->next = next;
	n->prev = prev;
	smp_store_release(&prev->next, n);
	next->prev = n;
}

#define list_add_rcu(n, h)	list_add_rcu_between(n, h, (h)->next)
#define list_add_tail_rcu(n, h)	list_add_rcu_between(n, (h)->prev, h)

#define list_entry(p, t, m)	container_of(p, t, m)
#define list_first_entry(h, t, m) list_entry((h)->next, t, m)
#define list_last_entry(h, t, m) list_entry((h)->prev, t, m)
#define list_next_entry(p, m)	list_entry((p)->m.next, typeof(*(p)), m)
#define list_first_entry_or_null(h, t, m)				\
({									\
	struct list_head *_h = (h), *_n = READ_ONCE(_h->next);		\
	_n != _h ? list_entry(_n, t, m) : NULL;				\
})
#define list_for_each(p, h) \
	for (p = (h)->next; p != (h); p = p->next)
#define list_for_each_entry(p, h, m)					\
	for (p = list_first_entry(h, typeof(*p), m); &p->m != (h);	\
	     p = list_next_entry(p, m))
#define list_for_each_entry_continue(p, h, m)				\
	for (p = list_next_entry(p, m); &p->m != (h);			\
	     p = list_next_entry(p, m))
#define list_for_each_entry_safe(p, n, h, m)				\
	for (p = list_first_entry(h, typeof(*p), m),			\
	     n = list_next_entry(p, m); &p->m != (h);			\
	     p = n, n = list_next_entry(n, m))
#define list_for_each_entry_rcu(p, h, m, ...)				\
	for (sim_rcu_check(),						\
	     p = list_entry(READ_ONCE((h)->next), typeof(*p), m);	\
	     &p->m != (h);						\
	     p = list_entry(READ_ONCE(p->m.next), typeof(*p), m))

#define HLIST_HEAD_INIT		{ NULL }
#define HLIST_HEAD(n)		struct hlist_head n = HLIST_HEAD_INIT
#define INIT_HLIST_HEAD(h)	((h)->first = NULL)
#define INIT_HLIST_NODE(n)	((n)->next = NULL, (n)->pprev = NULL)
#define hlist_unhashed(n)	(!(n)->pprev)
#define hlist_empty(h)		(!READ_ONCE((h)->first))

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	if (h->first)
		h->first->pprev = &n->next;
	WRITE_ONCE(h->first, n);
	WRITE_ONCE(n->pprev, &h->first);
}

static inline void __hlist_del(struct hlist_node *n)
{
	WRITE_ONCE(*n->pprev, n->next);
	if (n->next)
		n->next->pprev = n->pprev;
}

static inline void hlist_del(struct hlist_node *n)
{
	__hlist_del(n);
	n->next = LIST_POISON1;
	n->pprev = LIST_POISON2;
}

static inline void hlist_del_init(struct hlist_node *n)
{
	if (hlist_unhashed(n))
		return;
	__hlist_del(n);
	n->next = NULL;
	WRITE_ONCE(n->pprev, NULL);
}

static inline void hlist_move_list(struct hlist_head *old,
				   struct hlist_head *to)
{
	to->first = old->first;
	if (to->first)
		to->first->pprev = &to->first;
	WRITE_ONCE(old->first, NULL);
}

#define hlist_add_head_rcu(n, h)	hlist_add_head(n, h)
#define hlist_del_rcu(n)	(__hlist_del(n), (n)->pprev = LIST_POISON2)
#define hlist_entry(p, t, m)	container_of(p, t, m)
#define hlist_entry_safe(p, t, m) \
	({ struct hlist_node *_p = (p); _p ? hlist_entry(_p, t, m) : NULL; })
#define hlist_for_each_entry(p, h, m)					\
	for (p = hlist_entry_safe((h)->first, typeof(*p), m); p;	\
	     p = hlist_entry_safe(p->m.next, typeof(*p), m))
#define hlist_for_each_entry_rcu(p, h, m, ...)				\
	for (sim_rcu_check(),						\
	     p = hlist_entry_safe(READ_ONCE((h)->first), typeof(*p), m); p; \
	     p = hlist_entry_safe(READ_ONCE(p->m.next), typeof(*p), m))
#define hlist_for_each_entry_safe(p, n, h, m)				\
	for (p = hlist_entry_safe((h)->first, typeof(*p), m);		\
	     p && ({ n = p->m.next; 1; });				\
	     p = hlist_entry_safe(n, typeof(*p), m))

#define DEFINE_HASHTABLE(n, bits)	struct hlist_head n[1 << (bits)]
#define DECLARE_HASHTABLE(n, bits)	struct hlist_head n[1 << (bits)]
#define HASH_SIZE(n)		ARRAY_SIZE(n)
#define hash_init(n)		memset(n, 0, sizeof(n))
#define hash_add(t, n, key) \
	hlist_add_head(n, &(t)[hash_long(key, ilog2(HASH_SIZE(t)))])
#define hash_del(n)		hlist_del_init(n)
#define hash_for_each_possible(t, p, m, key) \
	hlist_for_each_entry(p, &(t)[hash_long(key, ilog2(HASH_SIZE(t)))], m)

struct rb_node {
	struct rb_node *parent, *rb_left, *rb_right;
	u32 rank;			/* none above it has a lower one */
};

struct rb_root {
	struct rb_node *rb_node;
	u32 added;			/* so far */
};

struct rb_root_cached {
	struct rb_root rb_root;
};

#define RB_ROOT			((struct rb_root){ NULL, 0 })
#define RB_ROOT_CACHED		((struct rb_root_cached){ { NULL, 0 } })
#define RB_EMPTY_ROOT(r)	(!READ_ONCE((r)->rb_node))
#define RB_EMPTY_NODE(n)	((n)->parent == (n))
#define RB_CLEAR_NODE(n)	((n)->parent = (n))
#define rb_entry(p, t, m)	container_of(p, t, m)
#define rb_entry_safe(p, t, m) \
	({ struct rb_node *_p = (p); _p ? rb_entry(_p, t, m) : NULL; })
void rb_insert_at(struct rb_node *n, struct rb_root *root,
		  bool (*less)(struct rb_node *, const struct rb_node *));
void rb_erase(struct rb_node *n, struct rb_root *root);
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *n);
#define rb_add_cached(n, r, less) rb_insert_at(n, &(r)->rb_root, less)
#define rb_add(n, r, less)	rb_insert_at(n, r, less)
#define rb_erase_cached(n, r)	rb_erase(n, &(r)->rb_root)
#define rb_first_cached(r)	rb_first(&(r)->rb_root)

#endif
