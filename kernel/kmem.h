/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of consumers in the kernel, see via_kapi.h: what the engine does with it.
 * What functions return: see via_ka.h.
 */
#ifndef _VIA_KMEM_H
#define _VIA_KMEM_H

#include "via_kapi.h"

/**
 * struct via_kmem_use - bytes that are to be read or written
 * @handle:	of the memory
 * @addr:	as it is named there
 * @len:	bytes
 * @store:	they are written
 * @remote:	by the peer
 */
struct via_kmem_use {
	u32 handle;
	u64 addr;
	u32 len;
	bool store;
	bool remote;
};

/*
 * Copy between memory and @buf; NULL: only see whether it could be.  A queue lock of
 * the VI is held.  0, or VIA_ST_PROTECTION_ERROR (VIA_ST_RDMA_PROT_ERROR if it is the
 * peer that asks), as always where the owner of the VI is a program.
 */
enum via_status via_kmem_copy(struct via_vi *vi, const struct via_kmem_use *use,
			      void *buf);
/* Room for it, of a consumer's handle.  0 or -ENOMEM.  Process context; sleeps. */
int via_kmem_init(struct via_file *f);
/* Nothing uses it any more. */
void via_kmem_destroy_all(struct via_file *f);

#endif
