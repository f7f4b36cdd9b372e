// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VIs as objects: their place in the table of their NIC, by index; references
 * to them; the locks of two.
 */

#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include "ledger.h"
#include "nic.h"
#include "vi.h"

struct via_vi *via_vi_lookup(struct via_nic *nic, u32 index)
{
	if (unlikely(index >= nic->limits.max_vi))
		return NULL;
	index = array_index_nospec(index, nic->limits.max_vi);
	return rcu_dereference(nic->vis[index]);
}
EXPORT_SYMBOL_GPL(via_vi_lookup);

struct via_vi *via_vi_next(struct via_nic *nic, u32 *index)
{
	u32 max = nic->limits.max_vi;
	struct via_vi *vi;

	for (;; ++*index) {
		/* A bit that changes meanwhile is of a VI that comes or goes. */
		*index = data_race(find_next_bit(nic->vi_taken, max, *index));
		vi = via_vi_lookup(nic, *index);
		if (vi || *index >= max)
			return vi;
	}
}
EXPORT_SYMBOL_GPL(via_vi_next);

static void via_vi_free_rcu(struct rcu_head *rcu)
{
	struct via_vi *vi = container_of(rcu, struct via_vi, rcu);

	kfree(vi->kernel);
	kfree(vi->priv);
	kfree(vi);
}

static void via_vi_release(struct kref *ref)
{
	struct via_vi *vi = container_of(ref, struct via_vi, ref);

	atomic_long_inc(&via_gone.vis);
	call_rcu(&vi->rcu, via_vi_free_rcu);
}

void via_vi_put(struct via_vi *vi)
{
	kref_put(&vi->ref, via_vi_release);
}

static void via_lock_pair(spinlock_t *a, spinlock_t *b)
	__acquires(a) __acquires(b)
{
	if (a > b)
		swap(a, b);
	spin_lock(a);
	spin_lock_nested(b, SINGLE_DEPTH_NESTING);
}

void via_vi_lock_two(struct via_vi *a, struct via_vi *b)
	__acquires(&a->sq.lock) __acquires(&b->sq.lock)
	__acquires(&a->rq.lock) __acquires(&b->rq.lock)
{
	local_bh_disable();
	via_lock_pair(&a->sq.lock, &b->sq.lock);
	via_lock_pair(&a->rq.lock, &b->rq.lock);
}

void via_vi_unlock_two(struct via_vi *a, struct via_vi *b)
	__releases(&a->sq.lock) __releases(&b->sq.lock)
	__releases(&a->rq.lock) __releases(&b->rq.lock)
{
	spin_unlock(&a->rq.lock);
	spin_unlock(&b->rq.lock);
	spin_unlock(&a->sq.lock);
	spin_unlock(&b->sq.lock);
	local_bh_enable();
}

struct via_vi *via_vi_get_rcu(struct via_file *f, u32 id)
{
	struct via_vi *vi = via_vi_lookup(f->nic, id & 0xffff);

	if (unlikely(!vi || vi->id != id || vi->file != f))
		return NULL;
	/* Its owner's reference goes a grace period after it was unlinked. */
	kref_get(&vi->ref);
	return vi;
}

struct via_vi *via_vi_get(struct via_file *f, u32 id)
{
	struct via_vi *vi;

	rcu_read_lock();
	vi = via_vi_get_rcu(f, id);
	rcu_read_unlock();
	return vi;
}

int via_nic_add_vi(struct via_nic *nic, struct via_vi *vi)
{
	u32 index, max = nic->limits.max_vi;

	spin_lock(&nic->vi_lock);
	/* Going round delays the reuse of an index. */
	index = find_next_zero_bit(nic->vi_taken, max, nic->vi_hint);
	if (index >= max)
		index = find_next_zero_bit(nic->vi_taken, max, 0);
	if (index >= max) {
		spin_unlock(&nic->vi_lock);
		return -ENOSPC;
	}
	set_bit(index, nic->vi_taken);
	nic->vi_hint = index + 1;
	nic->vi_count++;
	vi->index = index;
	/* The generation is the id's upper half. */
	vi->id = (++nic->vi_gen[index] & 0xffff) << 16 | index;
	spin_unlock(&nic->vi_lock);
	return 0;
}

void via_nic_publish_vi(struct via_nic *nic, struct via_vi *vi)
{
	rcu_assign_pointer(nic->vis[vi->index], vi);
}

static void via_totals_add(struct via_totals *sum, const struct via_vi *vi)
{
	sum->traps += vi->traps;
	sum->send_descs += vi->sq.descs;
	sum->recv_descs += vi->rq.descs;
	sum->send_bytes += vi->sq.bytes;
	sum->recv_bytes += vi->rq.bytes;
	sum->connects += vi->connects;
	sum->errors += vi->sq.errors + vi->rq.errors;
	sum->prot_errors += vi->sq.prot_errors + vi->rq.prot_errors;
}

void via_nic_totals(struct via_nic *nic, struct via_totals *sum)
{
	struct via_vi *vi;
	u32 i;

	/* The lock keeps a VI from being counted twice, or not at all. */
	spin_lock(&nic->vi_lock);
	*sum = nic->gone;
	rcu_read_lock();
	for (i = 0; (vi = via_vi_next(nic, &i)); i++)
		via_totals_add(sum, vi);
	rcu_read_unlock();
	spin_unlock(&nic->vi_lock);
}

void via_nic_remove_vi(struct via_nic *nic, struct via_vi *vi)
{
	spin_lock(&nic->vi_lock);
	RCU_INIT_POINTER(nic->vis[vi->index], NULL);
	via_totals_add(&nic->gone, vi);
	nic->vi_gen[vi->index]++;
	clear_bit(vi->index, nic->vi_taken);
	nic->vi_count--;
	spin_unlock(&nic->vi_lock);
}
