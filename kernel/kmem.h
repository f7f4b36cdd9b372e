/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of consumers in the kernel, see via_kapi.h: what the engine does with it.
 * What functions return: see via_ka.h.
 */
#ifndef _VIA_KMEM_H
#define _VIA_KMEM_H

#include "via_kapi.h"

/*
 * Copy between a segment, from @off on, and @buf; NULL: only see whether it could be.
 * @store: into the segment.  A queue lock of the VI is held.  0, or
 * VIA_ST_PROTECTION_ERROR, as always where the owner of the VI is a program.
 */
enum via_status via_kmem_move(struct via_vi *vi, const struct via_seg *seg,
			      u32 off, u32 len, void *buf, bool store);
/* The same of what the peer names: VIA_ST_RDMA_PROT_ERROR. */
enum via_status via_kmem_serve(struct via_vi *vi, const struct via_seg *seg,
			       void *buf, bool store);
/*
 * References to the pages of a segment instead of a copy, see via_gather_pages(), or of
 * what the peer names (@peer).  False: copy.
 */
bool via_kmem_pages(struct via_vi *vi, const struct via_seg *seg, u32 off, u32 len,
		    bool peer, struct via_page_frags *pages);
/* Room for it, of a consumer's handle.  0 or -ENOMEM.  Process context; sleeps. */
int via_kmem_init(struct via_file *f);
/* Nothing uses it any more. */
void via_kmem_destroy_all(struct via_file *f);

#endif
