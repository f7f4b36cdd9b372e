// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory shared with the program. */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "queue.h"

void *via_shared_alloc(size_t size, struct page ***pagesp)
{
	unsigned int i, n = PAGE_ALIGN(size) >> PAGE_SHIFT;
	struct page **pages;
	void *addr;

	pages = kcalloc(n, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!pages[i])
			goto err;
	}
	addr = vmap(pages, n, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	if (!addr)
		goto err;
	*pagesp = pages;
	return addr;
err:
	while (i--)
		__free_page(pages[i]);
	kfree(pages);
	return NULL;
}

void via_shared_free(void *addr, struct page **pages, size_t size)
{
	unsigned int i, n = PAGE_ALIGN(size) >> PAGE_SHIFT;

	if (!addr)
		return;
	vunmap(addr);
	/* A page that the program still maps goes with its mapping. */
	for (i = 0; i < n; i++)
		__free_page(pages[i]);
	kfree(pages);
}

int via_shared_mmap(struct vm_area_struct *vma, struct page **pages,
		    size_t size)
{
	if (vma->vm_end - vma->vm_start != PAGE_ALIGN(size) ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	/* vm_map_pages() takes the offset for one into pages[]. */
	vma->vm_pgoff = 0;
	return vm_map_pages(vma, pages, PAGE_ALIGN(size) >> PAGE_SHIFT);
}
