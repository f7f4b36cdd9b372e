/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registered memory, mapped for the DMA of its NIC.  Nothing here fails. */
#ifndef _VIA_DMA_H
#define _VIA_DMA_H

#include "memory.h"

void via_dma_init(struct via_nic *nic);
/*
 * Before the region is published.  Whether its NIC can map it is no matter of
 * the program's: what is not mapped is copied.  May sleep.
 */
void via_dma_map(struct via_nic *nic, struct via_region *r);
/*
 * No queue uses the region any more.  Returns when the hardware does not,
 * either; a bounded time.  May sleep.
 */
void via_dma_unmap(struct via_nic *nic, struct via_region *r);
/* The same for every region: nic->dead has been seen, no VI is connected. */
void via_dma_unmap_all(struct via_nic *nic);

#endif
