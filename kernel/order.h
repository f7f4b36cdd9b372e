/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects in the order of a number: of their deadlines, or of their ids.  Those
 * of the same number are in the order in which they were added.
 *
 * The user locks; what is here waits for nothing.
 */
#ifndef _VIA_ORDER_H
#define _VIA_ORDER_H

#include <linux/rbtree.h>
#include <linux/types.h>

struct via_order {
	struct rb_root_cached root;
};

/**
 * struct via_order_node - an object's place
 * @node:	in the order, or cleared
 * @key:	constant while it is in the order
 */
struct via_order_node {
	struct rb_node node;
	u64 key;
};

void via_order_init(struct via_order *o);
/* It is in no order. */
void via_order_node_init(struct via_order_node *n);

static inline bool via_order_has(const struct via_order_node *n)
{
	return !RB_EMPTY_NODE(&n->node);
}

/* It was in no order; it is in none any more, if it was in @o. */
void via_order_add(struct via_order *o, struct via_order_node *n, u64 key);
void via_order_del(struct via_order *o, struct via_order_node *n);
/* The first one, the one behind another, the first of @key at least; or NULL. */
struct via_order_node *via_order_first(const struct via_order *o);
struct via_order_node *via_order_next(const struct via_order_node *n);
struct via_order_node *via_order_from(const struct via_order *o, u64 key);

#endif
