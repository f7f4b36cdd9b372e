// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One thread at a time ends an interval. */
#include "batch.h"
#include "interval.h"
#include "notes.h"
#include "page.h"

bool interval_close(struct node *n, int *step)
{
	if (!*step) {
		if (n->closing)
			return false;
		n->closing = true;
		page_collect(n);
		batch_send(n);
		*step = 1;
	}
	if (n->unacked)		/* (1) */
		return false;
	notes_publish(n);
	notes_trim(n);
	n->closing = false;
	n->events++;
	return true;
}
