// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Objects in the order of a number: see order.h. */

#include <linux/export.h>
#include "order.h"

void via_order_init(struct via_order *o)
{
	o->root = RB_ROOT_CACHED;
}
EXPORT_SYMBOL_GPL(via_order_init);

void via_order_node_init(struct via_order_node *n)
{
	RB_CLEAR_NODE(&n->node);
}
EXPORT_SYMBOL_GPL(via_order_node_init);

static bool is_key_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct via_order_node, node)->key <
	       rb_entry(b, struct via_order_node, node)->key;
}

void via_order_add(struct via_order *o, struct via_order_node *n, u64 key)
{
	n->key = key;
	rb_add_cached(&n->node, &o->root, is_key_less);
}
EXPORT_SYMBOL_GPL(via_order_add);

void via_order_del(struct via_order *o, struct via_order_node *n)
{
	if (!via_order_has(n))
		return;
	rb_erase_cached(&n->node, &o->root);
	RB_CLEAR_NODE(&n->node);
}
EXPORT_SYMBOL_GPL(via_order_del);

struct via_order_node *via_order_first(const struct via_order *o)
{
	return rb_entry_safe(rb_first_cached(&o->root), struct via_order_node,
			     node);
}
EXPORT_SYMBOL_GPL(via_order_first);

struct via_order_node *via_order_next(const struct via_order_node *n)
{
	return rb_entry_safe(rb_next(&n->node), struct via_order_node, node);
}
EXPORT_SYMBOL_GPL(via_order_next);

struct via_order_node *via_order_from(const struct via_order *o, u64 key)
{
	struct rb_node *at = o->root.rb_root.rb_node;
	struct via_order_node *n, *found = NULL;

	while (at) {
		n = rb_entry(at, struct via_order_node, node);
		if (n->key >= key) {
			found = n;
			at = at->rb_left;
		} else {
			at = at->rb_right;
		}
	}
	return found;
}
EXPORT_SYMBOL_GPL(via_order_from);
