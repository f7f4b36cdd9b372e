/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pages and their states; the table is in node.h. */
#ifndef DSM_PAGE_H
#define DSM_PAGE_H

#include "node.h"

#define PAGE_LISTED	1	/* bits: in the list of the open interval */
#define PAGE_SENT	2	/* differences left in this interval */
#define PAGE_AGAIN	4	/* a notice came while it is fetched */

/* Pages get their home; those of this node can be used at once. */
void page_assign(struct node *n, uint32_t first, uint32_t count,
		 unsigned int home);

/* An access that the view refused. True: it can be tried again. */
bool page_fault(struct node *n, uint32_t page, bool write);

/* The same, called until it is true, with one access that has not waited. */
struct page_access {
	uint32_t page;
	bool write, waited;
};

bool page_open_for(struct node *n, struct page_access *a);

/* A page was asked for, came, was read by the network. */
bool page_asked(struct node *n, const struct dsm_msg *m);
bool page_received(struct node *n, const struct dsm_msg *m);
void page_came(struct node *n, uint32_t page);

/* A notice names these pages; views are closed, differences go into batches. */
void page_invalidate(struct node *n, uint32_t first, uint32_t count);

/* The open interval ends: its pages are in the table's list "noticed", and its
 * differences in batches.
 */
void page_collect(struct node *n);

#endif
