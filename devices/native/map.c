// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered memory, mapped for the chip once, when it is registered.
 *
 * Pages that are neighbours in memory are mapped as one run.  The bus address
 * of a page is mostly its physical one plus a constant (0 without an IOMMU),
 * and that constant is all that is kept; where it differs between runs, each
 * page's address is, 8 bytes a page.
 *
 * The mapping is towards the device only: what is received is copied, so no
 * frame from the wire, and no fault of the chip's, writes to a program's
 * memory where there is an IOMMU.  A region that would have to bounce, or
 * whose caches would have to be flushed, is not mapped: copying its bytes
 * behind the headers is then the shorter way.
 *
 * When is a page free of the chip?  A slot is looked at lazily, so what is in
 * the ring is not tracked.  Instead each frame writes down, in its region, how
 * far the ring was filled behind it (@last).  mem_unmap() is called when no
 * further frame can name the region, and then looks at the ring until it is
 * done that far.  A chip that does not get there within a second (no wire,
 * pause frames, a fault) is cut off from the bus, which ends all its reading at
 * once, and started anew by a worker.  Not here: that wants RTNL, and this may be
 * called with a handle's mutex held.
 */

#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/slab.h>
#include "native.h"

/* How many of @pages, from the first on, are one run. */
static u32 run_of(struct page **pages, u32 npages)
{
	/* Counters of some readers cannot hold longer ones. */
	u32 most = min_t(u32, npages, SZ_1G >> PAGE_SHIFT), n = 1;

	while (n < most &&
	       page_to_pfn(pages[n]) == page_to_pfn(pages[n - 1]) + 1)
		n++;
	return n;
}

static dma_addr_t page_dma(const struct via_mem_map *map, struct page **pages,
			   u32 i)
{
	return map->dma ? map->dma[i] : page_to_phys(pages[i]) + map->bias;
}

static void unmap_runs(struct device *dev, const struct via_mem_map *map,
		       struct page **pages, u32 npages)
{
	u32 i, n;

	for (i = 0; i < npages; i += n) {
		n = run_of(pages + i, npages - i);
		dma_unmap_page_attrs(dev, page_dma(map, pages, i),
				     (size_t)n << PAGE_SHIFT, DMA_TO_DEVICE,
				     DMA_ATTR_SKIP_CPU_SYNC);
		cond_resched();
	}
}

/*
 * What holds for all pages of a device, looked up once a region.
 *
 * @most:	the highest physical address the chip reaches; asked before a
 *		page is mapped, which would take bounce buffers, or fail with
 *		noise
 * @mapped:	behind an IOMMU that translates.  There kernels before 6.10 say
 *		of everything that it needs syncing; but whole pages never
 *		bounce, so only caches count.
 */
struct reach {
	struct device *dev;
	u64 most;
	bool mapped;
};

static struct reach reach_of(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return (struct reach){
		.dev = dev,
		.most = dma_addressing_limited(dev) ? dma_get_mask(dev) :
						      U64_MAX,
		.mapped = domain && domain->type & __IOMMU_DOMAIN_DMA_API,
	};
}

/* Do the bytes bounce, or have caches to be flushed? */
static bool must_sync(const struct reach *reach, dma_addr_t dma)
{
	if (reach->mapped)
		return !dev_is_dma_coherent(reach->dev);
	return dma_need_sync(reach->dev, dma);
}

/* Each page's own address from now on; those before @done are known. */
static bool map_table(struct via_mem_map *map, struct page **pages, u32 done,
		      u32 npages)
{
	dma_addr_t *dma;
	u32 i;

	dma = kvmalloc_array(npages, sizeof(*dma),
			     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!dma)
		return false;
	for (i = 0; i < done; i++)
		dma[i] = page_dma(map, pages, i);
	map->dma = dma;
	return true;
}

/* @n pages from @i on.  False: not mapped. */
static bool map_run(const struct reach *reach, struct via_mem_map *map,
		    struct page **pages, u32 i, u32 n, u32 npages)
{
	struct device *dev = reach->dev;
	size_t bytes = (size_t)n << PAGE_SHIFT;
	dma_addr_t dma;
	u64 bias;
	u32 k;

	if (!reach->mapped && page_to_phys(pages[i]) + bytes - 1 > reach->most)
		return false;
	dma = dma_map_page_attrs(dev, pages[i], 0, bytes, DMA_TO_DEVICE,
				 DMA_ATTR_NO_WARN);
	if (dma_mapping_error(dev, dma))
		return false;
	bias = dma - page_to_phys(pages[i]);
	if (!i)
		map->bias = bias;
	if (must_sync(reach, dma) ||
	    (!map->dma && bias != map->bias &&
	     !map_table(map, pages, i, npages))) {
		dma_unmap_page(dev, dma, bytes, DMA_TO_DEVICE);
		return false;
	}
	for (k = 0; map->dma && k < n; k++)
		map->dma[i + k] = dma + ((dma_addr_t)k << PAGE_SHIFT);
	return true;
}

void via_native_map(struct via_ether_nic *nic, struct via_mem_map *map,
		    struct page **pages, u32 npages)
{
	struct via_native *n = nic->priv;
	struct reach reach = reach_of(&n->pdev->dev);
	u32 i, run;

	for (i = 0; i < npages; i += run) {
		run = run_of(pages + i, npages - i);
		if (!map_run(&reach, map, pages, i, run, npages)) {
			unmap_runs(reach.dev, map, pages, i);
			kvfree(map->dma);
			*map = (struct via_mem_map){};
			return;
		}
		cond_resched();
	}
	map->on = true;
}
EXPORT_SYMBOL_GPL(via_native_map);

/* Has the chip done with all frames of the region? */
static bool all_left(struct via_native *n, const struct via_mem_map *map)
{
	lockdep_assert_held(&via_native_txq(n)->_xmit_lock);
	/* Whatever @last is: what is not in the ring has left it. */
	if (map->last - n->tx_done - 1 >= via_native_tx_busy(n))
		return true;
	if (n->up)
		n->chip->reap(n);
	return map->last - n->tx_done - 1 >= via_native_tx_busy(n);
}

static void cut_off(struct via_native *n, const struct via_mem_map *map)
{
	bool left;

	__netif_tx_lock_bh(via_native_txq(n));
	left = all_left(n, map);
	if (!left) {
		n->tx_ok = false;
		pci_clear_master(n->pdev);
		via_native_tx_forget(n);
	}
	__netif_tx_unlock_bh(via_native_txq(n));
	if (!left)
		via_native_fail(n, "frames do not leave the ring", 0);
}

/* Wait until they have left; a second at most. */
static void wait_left(struct via_native *n, const struct via_mem_map *map)
{
	unsigned long end = jiffies + HZ;
	u32 us = 20;
	bool left;

	for (;;) {
		__netif_tx_lock_bh(via_native_txq(n));
		left = all_left(n, map);
		__netif_tx_unlock_bh(via_native_txq(n));
		if (left)
			return;
		if (time_after(jiffies, end))
			break;
		usleep_range(us, 2 * us);
		us = min(2 * us, 2000u);
	}
	cut_off(n, map);
}

void via_native_unmap(struct via_ether_nic *nic, struct via_mem_map *map,
		      struct page **pages, u32 npages)
{
	struct via_native *n = nic->priv;

	wait_left(n, map);
	unmap_runs(&n->pdev->dev, map, pages, npages);
	kvfree(map->dma);
}
EXPORT_SYMBOL_GPL(via_native_unmap);
