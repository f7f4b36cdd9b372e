// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered memory, mapped for the DMA of its NIC.
 *
 * A mapped region is on nic->dma.maps.  It is unmapped when it is deregistered, or
 * when the device is to go, whichever is first: the one that takes it off the
 * list does it, under no lock.  Neither waits for the other.  A region that is
 * deregistered while the device's end is at it is left to that end, which then
 * unpins it, too: the pages stay pinned as long as the hardware may read them.
 *
 * To map or unmap is work of the size that a program chooses, so none of it is
 * in an SRCU read side of the NIC, which its unregistering waits for, often under
 * RTNL.  It is counted in nic->dma.mappers instead, and via_nic_drain() waits for
 * that, never under RTNL.
 */

#include "dma.h"
#include "ends.h"

void via_dma_init(struct via_nic *nic)
{
	spin_lock_init(&nic->dma.lock);
	INIT_LIST_HEAD(&nic->dma.maps);
	init_waitqueue_head(&nic->dma.unmapped);
}

/* The device is there until the call that must follow; false: it goes. */
static bool via_dma_enter(struct via_nic *nic)
{
	bool ok;

	spin_lock(&nic->dma.lock);
	ok = !nic->dma.closed;
	nic->dma.mappers += ok;
	spin_unlock(&nic->dma.lock);
	return ok;
}

/* With @r, if it is not NULL, on the list. */
static void via_dma_leave(struct via_nic *nic, struct via_region *r)
{
	spin_lock(&nic->dma.lock);
	if (r) {
		r->mapped = true;
		list_add(&r->map_link, &nic->dma.maps);
	}
	if (!--nic->dma.mappers)
		wake_up_all(&nic->dma.unmapped);
	spin_unlock(&nic->dma.lock);
}

void via_dma_map(struct via_nic *nic, struct via_region *r)
{
	if (!nic->ops->mem_map || !via_dma_enter(nic))
		return;
	nic->ops->mem_map(nic, &r->map, r->pages, r->npages);
	via_dma_leave(nic, r->map.on ? r : NULL);
}

static void via_dma_undo(struct via_nic *nic, struct via_region *r)
{
	nic->ops->mem_unmap(nic, &r->map, r->pages, r->npages);
	r->map = (struct via_mem_map){};
}

bool via_dma_unmap(struct via_nic *nic, struct via_region *r)
{
	bool mine, done;

	/* Pairs with the release in via_dma_finish(). */
	if (!smp_load_acquire(&r->mapped))
		return true;
	spin_lock(&nic->dma.lock);
	mine = !list_empty(&r->map_link);
	done = !r->mapped;
	if (mine) {
		list_del_init(&r->map_link);
		nic->dma.mappers++;
	} else if (!done) {
		r->orphan = true;
		via_file_get(r->file);
	}
	spin_unlock(&nic->dma.lock);
	if (!mine)
		return done;
	via_dma_undo(nic, r);
	r->mapped = false;
	via_dma_leave(nic, NULL);
	return true;
}

void via_dma_close(struct via_nic *nic)
{
	spin_lock(&nic->dma.lock);
	nic->dma.closed = true;
	spin_unlock(&nic->dma.lock);
}

/* The next one to be unmapped by the caller, or NULL. */
static struct via_region *via_dma_take(struct via_nic *nic)
{
	struct via_region *r;

	spin_lock(&nic->dma.lock);
	r = list_first_entry_or_null(&nic->dma.maps, struct via_region,
				     map_link);
	if (r)
		list_del_init(&r->map_link);
	spin_unlock(&nic->dma.lock);
	return r;
}

static void via_dma_finish(struct via_nic *nic, struct via_region *r)
{
	struct via_file *f = r->file;
	bool orphan;

	via_dma_undo(nic, r);
	spin_lock(&nic->dma.lock);
	orphan = r->orphan;
	/* From here on the owner may free it, unless it has left it to us. */
	smp_store_release(&r->mapped, false);
	spin_unlock(&nic->dma.lock);
	if (orphan) {
		via_region_end(f, r);
		via_file_put(f);
	}
}

static bool via_dma_idle(struct via_nic *nic)
{
	bool idle;

	spin_lock(&nic->dma.lock);
	idle = !nic->dma.mappers;
	spin_unlock(&nic->dma.lock);
	return idle;
}

void via_dma_drain(struct via_nic *nic)
{
	struct via_region *r;

	if (!nic->ops->mem_unmap)
		return;
	via_dma_close(nic);
	via_end_awaited();
	/* What is being mapped is on the list when there is no mapper left. */
	wait_event(nic->dma.unmapped, via_dma_idle(nic));
	while ((r = via_dma_take(nic))) {
		via_dma_finish(nic, r);
		cond_resched();
	}
	/* Those that took one off the list before. */
	wait_event(nic->dma.unmapped, via_dma_idle(nic));
}
