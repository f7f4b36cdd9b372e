// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Protection tags: small numbers, counted by the regions and VIs that carry
 * them.  All under file->mutex.
 */

#include "ptag.h"

int via_ptag_create(struct via_file *f, u32 *ptag)
{
	int ret;

	lockdep_assert_held(&f->mutex);
	if (f->ptag_count >= f->nic->limits.max_ptags)
		return VIA_R_ERROR_RESOURCE;
	ret = xa_alloc_cyclic(&f->ptags, ptag, xa_mk_value(0),
			      XA_LIMIT(1, S32_MAX), &f->ptag_next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return VIA_R_ERROR_RESOURCE;
	f->ptag_count++;
	return 0;
}

int via_ptag_destroy(struct via_file *f, u32 ptag)
{
	void *entry;

	lockdep_assert_held(&f->mutex);
	entry = xa_load(&f->ptags, ptag);
	if (!entry)
		return VIA_R_INVALID_PARAMETER;
	if (xa_to_value(entry))
		return VIA_R_ERROR_RESOURCE;
	xa_erase(&f->ptags, ptag);
	f->ptag_count--;
	return 0;
}

void via_ptag_destroy_all(struct via_file *f)
{
	xa_destroy(&f->ptags);
	f->ptag_count = 0;
}

bool via_ptag_use(struct via_file *f, u32 ptag)
{
	void *entry;

	lockdep_assert_held(&f->mutex);
	if (!ptag)
		return true;
	entry = xa_load(&f->ptags, ptag);
	if (!entry)
		return false;
	/* Replacing a present entry allocates nothing, so it cannot fail. */
	xa_store(&f->ptags, ptag, xa_mk_value(xa_to_value(entry) + 1),
		 GFP_KERNEL);
	return true;
}

void via_ptag_unuse(struct via_file *f, u32 ptag)
{
	void *entry;

	lockdep_assert_held(&f->mutex);
	if (!ptag)
		return;
	entry = xa_load(&f->ptags, ptag);
	if (entry)
		xa_store(&f->ptags, ptag, xa_mk_value(xa_to_value(entry) - 1),
			 GFP_KERNEL);
}
