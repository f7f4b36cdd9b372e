/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of the kernel that a program maps: work queues and completion queues. */
#ifndef _VR_MAP_H
#define _VR_MAP_H

#include <rdma/ib_verbs.h>

/* A program that has opened the device. */
struct vr_ucontext {
	struct ib_ucontext ib;
};

/**
 * struct vr_buf - zeroed memory, which a program may map
 * @addr:	constant
 * @map:	the program's mapping has it; NULL: no program's
 */
struct vr_buf {
	void *addr;
	struct vr_map *map;
};

/*
 * Memory of so many bytes; with @udata (a program's object) it can be mapped at *key.
 * 0 or -ENOMEM.  Process context; both sleep.  What is mapped stays until it is unmapped.
 */
int vr_buf_alloc(struct vr_buf *b, size_t len, struct ib_udata *udata, u64 *key);
void vr_buf_free(struct vr_buf *b);

/* For the table of verbs. */
int vr_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
void vr_mmap_free(struct rdma_user_mmap_entry *entry);

#endif
