/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's lists, as far as the class's arithmetic uses them. */
#ifndef UNIT_LINUX_LIST_H
#define UNIT_LINUX_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool list_empty(const struct list_head *l)
{
	return l->next == l;
}

static inline bool list_is_singular(const struct list_head *l)
{
	return !list_empty(l) && l->next == l->prev;
}

static inline void list_put(struct list_head *n, struct list_head *after)
{
	n->next = after->next;
	n->prev = after;
	after->next->prev = n;
	after->next = n;
}

static inline void list_add(struct list_head *n, struct list_head *l)
{
	list_put(n, l);
}

static inline void list_add_tail(struct list_head *n, struct list_head *l)
{
	list_put(n, l->prev);
}

static inline void list_del_init(struct list_head *n)
{
	n->next->prev = n->prev;
	n->prev->next = n->next;
	INIT_LIST_HEAD(n);
}

static inline void list_move_tail(struct list_head *n, struct list_head *l)
{
	list_del_init(n);
	list_add_tail(n, l);
}

#define list_entry(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define list_first_entry(l, t, m)	list_entry((l)->next, t, m)
#define list_first_entry_or_null(l, t, m) \
	(list_empty(l) ? NULL : list_first_entry(l, t, m))

#endif
