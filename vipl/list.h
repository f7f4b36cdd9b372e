/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Doubly linked lists with a head, of the library, the plug-ins and the provider of
 * libfabric. A node that is on no list points at itself.
 */
#ifndef VIPL_LIST_H
#define VIPL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct vipl_list {
	struct vipl_list *next, *prev;
};

#define vipl_container(p, type, member) \
	((type *)(void *)((char *)(p) - offsetof(type, member)))

static inline void vipl_list_init(struct vipl_list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool vipl_list_empty(const struct vipl_list *l)
{
	return l->next == l;
}

/* At the front. */
static inline void vipl_list_add(struct vipl_list *n, struct vipl_list *head)
{
	n->next = head->next;
	n->prev = head;
	head->next->prev = n;
	head->next = n;
}

static inline void vipl_list_add_tail(struct vipl_list *n, struct vipl_list *head)
{
	vipl_list_add(n, head->prev);
}

/* Also of a node that is on no list. */
static inline void vipl_list_del(struct vipl_list *n)
{
	n->next->prev = n->prev;
	n->prev->next = n->next;
	vipl_list_init(n);
}

/* The first one, off the list; NULL: the list is empty. */
static inline struct vipl_list *vipl_list_pop(struct vipl_list *head)
{
	struct vipl_list *n = head->next;

	if (n == head)
		return NULL;
	vipl_list_del(n);
	return n;
}

/* @n is the one behind @p, so that @p may go meanwhile. */
#define vipl_list_each(p, n, head, member) \
	for (p = vipl_container((head)->next, __typeof__(*p), member), \
	     n = vipl_container(p->member.next, __typeof__(*p), member); \
	     &p->member != (head); \
	     p = n, n = vipl_container(p->member.next, __typeof__(*p), member))

#endif /* VIPL_LIST_H */
