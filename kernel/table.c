// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Objects by a key that strangers choose: see table.h. */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "table.h"

int via_table_init(struct via_table *t, u32 bits)
{
	t->lists = kvcalloc(1u << bits, sizeof(*t->lists), GFP_KERNEL);
	if (!t->lists)
		return -ENOMEM;
	t->bits = bits;
	t->seed = get_random_u32();
	t->factor = get_random_u64() | 1;
	return 0;
}
EXPORT_SYMBOL_GPL(via_table_init);

void via_table_free(struct via_table *t)
{
	kvfree(t->lists);
	t->lists = NULL;
}
EXPORT_SYMBOL_GPL(via_table_free);

void via_table_node_init(struct via_table_node *n)
{
	INIT_HLIST_NODE(&n->node);
	INIT_LIST_HEAD(&n->ring);
}

struct via_table_node *via_table_find(const struct via_table *t, u32 hash,
				      via_table_is_t *is, const void *key)
{
	struct via_table_node *n;

	hlist_for_each_entry(n, via_table_list(t, hash), node)
		if (n->hash == hash && is(n, key))
			return n;
	return NULL;
}

struct via_table_node *via_table_next(const struct via_table_node *first,
				      struct via_table_node *n)
{
	struct via_table_node *next = list_next_entry(n, ring);

	return next == first ? NULL : next;
}

void via_table_add(struct via_table *t, struct via_table_node *n, u32 hash,
		   via_table_is_t *is, const void *key)
{
	struct via_table_node *first = via_table_find(t, hash, is, key);

	n->hash = hash;
	/* Before the first one in a ring is behind the last one. */
	if (first)
		list_add_tail(&n->ring, &first->ring);
	else
		hlist_add_head(&n->node, via_table_list(t, hash));
}

void via_table_del(struct via_table *t, struct via_table_node *n)
{
	struct via_table_node *next;

	if (!hlist_unhashed(&n->node)) {
		hlist_del_init(&n->node);
		next = list_next_entry(n, ring);
		if (next != n)
			hlist_add_head(&next->node,
				       via_table_list(t, n->hash));
	}
	/* Most are alone with their key, or in no table: spare them the call. */
	if (!list_empty(&n->ring))
		list_del_init(&n->ring);
}
