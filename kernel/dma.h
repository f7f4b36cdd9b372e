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
 * No queue uses the region any more.  True: nor does the hardware.  False: the
 * end of the device is at it, and calls via_region_end() when it does not; the
 * caller has nothing to do with it any more.  A bounded time.  May sleep.
 */
bool via_dma_unmap(struct via_nic *nic, struct via_region *r);
/* No region is mapped from now on, but for those under way.  RTNL may be held. */
void via_dma_close(struct via_nic *nic);
/* via_nic_drain(): none is mapped any more.  Not under RTNL. */
void via_dma_drain(struct via_nic *nic);

#endif
