// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered memory, mapped for the DMA of its NIC.
 *
 * A mapped region is on nic->maps.  It is unmapped when it is deregistered, or
 * when the NIC goes, whichever is first: the one that takes it off the list
 * does it, under no lock, and the other one waits until that is done.  So the
 * end of a NIC waits for no program, and the pages stay pinned as long as the
 * hardware may read them.
 */

#include "dma.h"

void via_dma_init(struct via_nic *nic)
{
	spin_lock_init(&nic->map_lock);
	INIT_LIST_HEAD(&nic->maps);
	init_waitqueue_head(&nic->unmapped);
}

void via_dma_map(struct via_nic *nic, struct via_region *r)
{
	int idx;

	if (!nic->ops->mem_map || !via_nic_enter(nic, &idx))
		return;
	nic->ops->mem_map(nic, &r->map, r->pages, r->npages);
	if (r->map.on) {
		spin_lock(&nic->map_lock);
		r->mapped = true;
		list_add(&r->map_link, &nic->maps);
		spin_unlock(&nic->map_lock);
	}
	via_nic_leave(nic, idx);
}

static void via_dma_undo(struct via_nic *nic, struct via_region *r)
{
	nic->ops->mem_unmap(nic, &r->map, r->pages, r->npages);
	r->map = (struct via_mem_map){};
}

/* Off nic->maps, to be unmapped by the caller; false: it is not there. */
static bool via_dma_claim(struct via_nic *nic, struct via_region *r)
{
	bool mine;

	spin_lock(&nic->map_lock);
	mine = !list_empty(&r->map_link);
	list_del_init(&r->map_link);
	spin_unlock(&nic->map_lock);
	return mine;
}

void via_dma_unmap(struct via_nic *nic, struct via_region *r)
{
	int idx;

	/* Pairs with the release in via_dma_unmap_all(). */
	if (!smp_load_acquire(&r->mapped))
		return;
	/*
	 * Not via_nic_enter(): the device is there for one that has claimed.
	 * via_dma_unmap_all() leaves no region to claim, then waits for us.
	 */
	idx = srcu_read_lock(&nic->srcu);
	if (via_dma_claim(nic, r)) {
		via_dma_undo(nic, r);
		r->mapped = false;
	}
	srcu_read_unlock(&nic->srcu, idx);
	/* Pairs with the release in via_dma_unmap_all(). */
	wait_event(nic->unmapped, !smp_load_acquire(&r->mapped));
}

void via_dma_unmap_all(struct via_nic *nic)
{
	struct via_region *r;

	if (!nic->ops->mem_unmap)
		return;
	for (;;) {
		spin_lock(&nic->map_lock);
		r = list_first_entry_or_null(&nic->maps, struct via_region,
					     map_link);
		if (r)
			list_del_init(&r->map_link);
		spin_unlock(&nic->map_lock);
		if (!r)
			break;
		via_dma_undo(nic, r);
		/* From here on the owner may free it. */
		smp_store_release(&r->mapped, false);
		wake_up_all(&nic->unmapped);
		cond_resched();
	}
	/* Those that have claimed theirs are done after this. */
	synchronize_srcu_expedited(&nic->srcu);
}
