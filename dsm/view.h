/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The shared memory of this node: one file of memory, mapped twice. The
 * program's view is at the same address on all nodes and guarded by page; the
 * other mapping can always be written, and is what a NIC knows.
 */
#ifndef DSM_VIEW_H
#define DSM_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node.h"

enum view_method { BY_MPROTECT, BY_USERFAULTFD };

struct view {
	uint8_t *program;
	uint8_t *memory;	/* the same pages, then a flag for each page */
	size_t bytes;		/* of the program's view */
	size_t all;		/* of memory */
	enum view_method method;
	int uffd;
};

/* Ends the program where there is no such memory. */
void view_open(struct view *v, size_t bytes, enum view_method method);
void view_close(struct view *v);

void view_protect(const struct view *v, uint32_t first, uint32_t count,
		  enum page_view view);

static inline bool view_has(const struct view *v, const void *p)
{
	return (uintptr_t)p - (uintptr_t)v->program < v->bytes;
}

static inline uint32_t view_page(const struct view *v, const void *p)
{
	return ((uintptr_t)p - (uintptr_t)v->program) / DSM_PAGE;
}

#endif
