/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The area that a VI shares with its program, and the rings in it.  What functions
 * return: see via_ka.h.
 */
#ifndef _VIA_AREA_H
#define _VIA_AREA_H

#include "queue.h"

/* Bytes that are mapped, whatever of them is there. */
#define VIA_AREA_SIZE	PAGE_ALIGN(VIA_VI_SIZE(VIA_QUEUE_ENTRIES))

/*
 * An area of one page, zeroed and accounted: what via_queue_init() needs; NULL: no
 * memory.  May sleep, as may free: no reader is left; pages that the program has
 * mapped stay until it has not.
 */
struct via_vi_shared *via_area_alloc(struct via_area **area);
void via_area_free(struct via_vi *vi);

/* Of a VI whose shared part stays meanwhile.  mmap_lock held; 0 or -errno. */
int via_area_mmap(struct via_vi *vi, struct vm_area_struct *vma);

/**
 * via_area_grow() - a longer ring for one queue
 * @vi:		a program's; what it shares stays meanwhile
 * @recv:	its receive queue, else its send queue
 * @entries:	slots that are wanted, at most VIA_QUEUE_ENTRIES
 *
 * No queue lock held; may sleep.  The new pages are charged to the owner.
 *
 * Return: a call's result: 0, also where the ring is as long; VIA_R_ERROR_RESOURCE
 * (no memory), -EDQUOT (the user's quota), VIA_R_INVALID_PARAMETER (the VI is being
 * destroyed), -EINTR (killed).  But for 0 nothing has changed.
 */
int via_area_grow(struct via_vi *vi, bool recv, u32 entries);

#endif
