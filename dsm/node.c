// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See node.h. */
#include "barrier.h"
#include "batch.h"
#include "lock.h"
#include "node.h"
#include "notes.h"
#include "page.h"
#include "words.h"

void node_init(struct node *n, unsigned int me, unsigned int size)
{
	n->me = me;
	n->size = size;
	n->tell_at = NOTES_TELL;
	lock_init(n);
}

void node_free(struct node *n)
{
	for (unsigned int j = 0; j < n->size; j++) {
		words_free(&n->log[j]);
		words_free(&n->inbox[j]);
	}
	barrier_free(n);
}

bool node_receive(struct node *n, const struct dsm_msg *m)
{
	if (m->from >= n->size || m->from == n->me || m->len > DSM_DATA)
		return false;
	clock_join(n->known[m->from], m->vc);	/* (3) */
	switch (m->type) {
	case MSG_GET:
		return page_asked(n, m);
	case MSG_PAGE:
		return page_received(n, m);
	case MSG_DIFF:
		return batch_apply(n, m);
	case MSG_ACK:
		return batch_acked(n);
	case MSG_ACQUIRE:
		return lock_asked(n, m);
	case MSG_FORWARD:
		return lock_forwarded(n, m);
	case MSG_NOTES:
		return notes_take(n, m);
	case MSG_GRANT:
		return lock_granted(n, m);
	case MSG_BARRIER:
		return barrier_arrived(n, m);
	case MSG_TELL:
		return notes_told(n, m);
	case MSG_KNOWN:
		n->told &= ~(1u << m->from);
		return true;
	}
	return false;
}
