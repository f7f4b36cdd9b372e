/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Protection tags. */
#ifndef _VIA_PTAG_H
#define _VIA_PTAG_H

#include "file.h"

int via_ptag_create(struct via_file *f, u32 *ptag);
int via_ptag_destroy(struct via_file *f, u32 ptag);
void via_ptag_destroy_all(struct via_file *f);

/*
 * Tag 0 is the handle's default tag.  What carries a tag holds it: it is not
 * destroyed meanwhile.
 */
bool via_ptag_use(struct via_file *f, u32 ptag);
void via_ptag_unuse(struct via_file *f, u32 ptag);

#endif
