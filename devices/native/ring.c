// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rings' memory, mapped once while the interface is up. */

#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include "native.h"

/* Buffers smaller than a page share one. */
static u32 piece_size(u32 buf_size)
{
	return max_t(u32, PAGE_SIZE, buf_size);
}

/*
 * Where a chip has a head of its own before each received frame, both of us
 * write to a buffer, at any time: that is for coherent memory.
 */
static u32 head_of(const struct via_native *n, enum dma_data_direction dir)
{
	return dir == DMA_FROM_DEVICE ? n->chip->rx_head : 0;
}

static void ring_free(struct via_native *n, struct via_native_ring *ring,
		      u32 buf_size, enum dma_data_direction dir)
{
	struct device *dev = &n->pdev->dev;
	u32 piece = piece_size(buf_size), head = head_of(n, dir), i;
	struct via_native_buf *buf;

	for (i = 0; ring->buf && i < ring->slots; i += piece / buf_size) {
		buf = &ring->buf[i];
		if (!buf->data)
			continue;
		if (head)
			dma_free_coherent(dev, piece, buf->data - head,
					  buf->dma - head);
		else
			dma_free_noncoherent(dev, piece, buf->data, buf->dma,
					     dir);
	}
	kfree(ring->buf);
	if (ring->desc)
		dma_free_coherent(dev, ring->slots * n->chip->desc_size,
				  ring->desc, ring->dma);
}

/* Pages that the chip can reach: nothing ever bounces. */
static int ring_alloc(struct via_native *n, struct via_native_rings *r,
		      struct via_native_ring *ring, u32 slots,
		      enum dma_data_direction dir)
{
	u32 size = r->buf_size, piece = piece_size(size), i, k;
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;
	u32 head = head_of(n, dir);
	struct device *dev = &n->pdev->dev;
	dma_addr_t dma;
	u8 *data;

	ring->slots = slots;
	ring->desc = dma_alloc_coherent(dev, slots * n->chip->desc_size,
					&ring->dma, GFP_KERNEL);
	if (!ring->desc)
		return -ENOMEM;
	ring->buf = kcalloc(slots, sizeof(*ring->buf), GFP_KERNEL);
	if (!ring->buf)
		return -ENOMEM;
	for (i = 0; i < slots; i += piece / size) {
		if (head)
			data = dma_alloc_coherent(dev, piece, &dma, gfp);
		else
			data = dma_alloc_noncoherent(dev, piece, &dma, dir,
						     gfp);
		/* An error is never; but DMA-API debugging wants to be asked. */
		if (!data || (!head && dma_mapping_error(dev, dma)))
			return -ENOMEM;
		for (k = 0; k < piece / size; k++) {
			ring->buf[i + k].data = data + k * size + head;
			ring->buf[i + k].dma = dma + k * size + head;
		}
		if (!head)
			r->sync |= dma_need_sync(dev, dma);
	}
	return 0;
}

void via_native_rings_free(struct via_native *n, struct via_native_rings *r)
{
	ring_free(n, &r->tx, r->buf_size, DMA_TO_DEVICE);
	ring_free(n, &r->rx, r->buf_size, DMA_FROM_DEVICE);
	kfree(r->tx_owner);
	*r = (struct via_native_rings){};
}

int via_native_rings_alloc(struct via_native *n, struct via_native_rings *r,
			   u32 buf_size)
{
	const struct via_native_chip *chip = n->chip;
	int err;

	*r = (struct via_native_rings){ .buf_size = buf_size };
	r->tx_owner = kcalloc(chip->tx_slots, sizeof(*r->tx_owner), GFP_KERNEL);
	if (!r->tx_owner)
		return -ENOMEM;
	err = ring_alloc(n, r, &r->tx, chip->tx_slots, DMA_TO_DEVICE);
	if (!err)
		err = ring_alloc(n, r, &r->rx, chip->rx_slots,
				 DMA_FROM_DEVICE);
	if (err)
		via_native_rings_free(n, r);
	return err;
}

void via_native_rings_swap(struct via_native *n, struct via_native_rings *r)
{
	swap(n->tx, r->tx);
	swap(n->rx, r->rx);
	swap(n->tx_owner, r->tx_owner);
	swap(n->buf_size, r->buf_size);
	swap(n->sync, r->sync);
}
