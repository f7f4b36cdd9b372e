/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Protection tags.  int is a call's result; the other conventions are in
 * via_ka.h.  file->mutex is held for all.
 */
#ifndef _VIA_PTAG_H
#define _VIA_PTAG_H

#include "file.h"

/* May sleep.  0 or VIA_R_ERROR_RESOURCE. */
int via_ptag_create(struct via_file *f, u32 *ptag);
/* 0, VIA_R_INVALID_PARAMETER (no such tag), VIA_R_ERROR_RESOURCE (in use). */
int via_ptag_destroy(struct via_file *f, u32 ptag);
/* Of a handle that ends: nothing carries a tag any more. */
void via_ptag_destroy_all(struct via_file *f);

/*
 * Tag 0 is the handle's default tag.  What carries a tag holds it: it is not
 * destroyed meanwhile.  False: there is no such tag.
 */
bool via_ptag_use(struct via_file *f, u32 ptag);
void via_ptag_unuse(struct via_file *f, u32 ptag);

#endif
