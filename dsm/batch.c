// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See batch.h. */
#include <string.h>

#include "batch.h"
#include "diff.h"
#include "send.h"

static void send_home(struct node *n, unsigned int home)
{
	struct dsm_msg *m = parcel_msg(&n->batch[home]);

	if (!m->len)
		return;
	m->type = MSG_DIFF;
	n->unacked++;
	send_msg(n, home, m);
	m->len = 0;
}

bool batch_add(struct node *n, uint32_t page)
{
	const struct page_table *t = &n->pages;
	size_t at = (size_t)page * t->bytes, len;
	unsigned int home = t->home[page];
	struct dsm_msg *m = parcel_msg(&n->batch[home]);
	uint16_t len16;

	if (m->len + DIFF_HEAD + diff_most(t->bytes) > DSM_DATA)
		send_home(n, home);
	len = diff_make(t->mem + at, t->twin + at, t->bytes,
			m->data + m->len + DIFF_HEAD, &n->counts.diff_bytes);
	if (!len)
		return false;
	len16 = len;
	memcpy(m->data + m->len, &page, 4);
	memcpy(m->data + m->len + 4, &len16, 2);
	m->len += DIFF_HEAD + len;
	n->counts.diff_pages++;
	n->counts.diff_sent += DIFF_HEAD + len;
	return true;
}

void batch_send(struct node *n)
{
	for (unsigned int home = 0; home < n->size; home++)
		send_home(n, home);
}

/* A node that has allocated less may be asked: the page is its own later. */
bool batch_here(struct node *n, uint32_t page, unsigned int from)
{
	const struct page_table *t = &n->pages;

	if (page < t->used && t->home[page] != n->me) {
		n->wrong = NODE_ORDER;
		n->who = from;
		return false;
	}
	return page < t->count;
}

bool batch_apply(struct node *n, const struct dsm_msg *m)
{
	const struct page_table *t = &n->pages;
	uint32_t at = 0, page;
	uint16_t len;

	while (at + DIFF_HEAD <= m->len) {
		memcpy(&page, m->data + at, 4);
		memcpy(&len, m->data + at + 4, 2);
		at += DIFF_HEAD;
		if (!batch_here(n, page, m->from) || at + len > m->len ||
		    !diff_apply(t->mem + (size_t)page * t->bytes, t->bytes,
				m->data + at, len))
			return false;
		at += len;
	}
	send_msg(n, m->from, send_begin(n, MSG_ACK, 0));
	return at == m->len;
}

bool batch_acked(struct node *n)
{
	if (!n->unacked)
		return false;
	n->unacked--;
	n->events++;
	return true;
}
