/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of objects by a key that strangers choose: addresses, discriminators.
 *
 * The hash has a random seed of each table's own, so no one can choose keys that
 * meet in one list.  Objects of the same key are in the order in which they
 * were added.  Only the first of them is in a list of the table, and the others are
 * in a ring with it, so that however many share a key, other keys are found as
 * fast.
 *
 * The user locks; what is here waits for nothing.
 */
#ifndef _VIA_TABLE_H
#define _VIA_TABLE_H

#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/types.h>

/**
 * struct via_table - the table
 * @seed:	constant: of the hash
 * @factor:	constant: of the hash of a word, random and odd
 * @bits:	constant: there are 1 << @bits lists
 * @lists:	of objects with different keys
 */
struct via_table {
	u32 seed;
	u32 bits;
	u64 factor;
	struct hlist_head *lists;
};

/**
 * struct via_table_node - an object's place in a table
 * @node:	in its list, if it is the first one of its key
 * @ring:	the objects of its key
 * @hash:	of the key
 */
struct via_table_node {
	struct hlist_node node;
	struct list_head ring;
	u32 hash;
};

/* Does the object have that key? */
typedef bool via_table_is_t(const struct via_table_node *n, const void *key);

/* 0 or -ENOMEM; the first may sleep.  Without the first the second does nothing. */
int via_table_init(struct via_table *t, u32 bits);
void via_table_free(struct via_table *t);

static inline u32 via_table_hash(const struct via_table *t, const void *key,
				 u32 len)
{
	return jhash(key, len, t->seed);
}

/*
 * Of a key of 4 bytes, another one than by the above: a third of jhash_1word()'s
 * instructions, and as little known to who chooses keys.
 */
static inline u32 via_table_hash_word(const struct via_table *t, u32 key)
{
	u64 x = (key ^ t->seed) * t->factor;

	x ^= x >> 32;
	return x * t->factor >> 32;
}

/* Of a key in two parts. */
static inline u32 via_table_hash_more(u32 hash, const void *key, u32 len)
{
	return jhash(key, len, hash);
}

static inline struct hlist_head *via_table_list(const struct via_table *t,
						u32 hash)
{
	return &t->lists[hash >> (32 - t->bits)];
}

/* It is in no table. */
void via_table_node_init(struct via_table_node *n);

static inline bool via_table_has(const struct via_table_node *n)
{
	return !list_empty(&n->ring) || !hlist_unhashed(&n->node);
}

/* The first object of that key, or NULL. */
struct via_table_node *via_table_find(const struct via_table *t, u32 hash,
				      via_table_is_t *is, const void *key);
/* The one behind @n of the same key, of which @first is the first; or NULL. */
struct via_table_node *via_table_next(const struct via_table_node *first,
				      struct via_table_node *n);
/* The object is the last one of its key; it was in no table. */
void via_table_add(struct via_table *t, struct via_table_node *n, u32 hash,
		   via_table_is_t *is, const void *key);
/* It is in no table any more, if it was in @t. */
void via_table_del(struct via_table *t, struct via_table_node *n);

#endif
