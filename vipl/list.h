/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_LIST_H
#define VIPL_LIST_H

#include <stddef.h>

struct vipl_list {
	struct vipl_list *next, *prev;
};

static inline void vipl_list_init(struct vipl_list *l)
{
	l->next = l;
	l->prev = l;
}

static inline void vipl_list_add(struct vipl_list *n, struct vipl_list *head)
{
	n->next = head->next;
	n->prev = head;
	head->next->prev = n;
	head->next = n;
}

static inline void vipl_list_del(struct vipl_list *n)
{
	n->next->prev = n->prev;
	n->prev->next = n->next;
	vipl_list_init(n);
}

#define vipl_container(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

#endif /* VIPL_LIST_H */
