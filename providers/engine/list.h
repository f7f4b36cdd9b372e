/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_LIST_H
#define ENG_LIST_H

#include <stddef.h>

/* A doubly linked list; a node that is on no list points at itself. */
struct eng_list {
	struct eng_list *next, *prev;
};

#define eng_container(p, type, member) \
	((type *)(void *)((char *)(p) - offsetof(type, member)))

static inline void eng_list_init(struct eng_list *l)
{
	l->next = l;
	l->prev = l;
}

static inline int eng_list_empty(const struct eng_list *l)
{
	return l->next == l;
}

static inline void eng_list_add_tail(struct eng_list *n, struct eng_list *l)
{
	n->prev = l->prev;
	n->next = l;
	l->prev->next = n;
	l->prev = n;
}

static inline void eng_list_del(struct eng_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->next = n;
	n->prev = n;
}

/* Off the list of another, or NULL where it is empty. */
static inline struct eng_list *eng_list_pop(struct eng_list *l)
{
	struct eng_list *n = l->next;

	if (n == l)
		return NULL;
	eng_list_del(n);
	return n;
}

#endif /* ENG_LIST_H */
