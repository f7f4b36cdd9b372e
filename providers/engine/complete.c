// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Descriptors complete: the outcome, then a notice, an event, a wake-up. */
#include <stdlib.h>

#include "eng.h"

__attribute__((noinline))
void eng_tell_program(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q)
{
	struct vipl_event ev = {
		.kind = q->recv ? VIPL_EVENT_RECV : VIPL_EVENT_SEND,
		.vi = (VIP_VI_HANDLE)atomic_load_explicit(&v->handle,
						memory_order_relaxed),
	};

	q->notify = 0;
	if (ev.vi)
		eng_host->event(nic->obj, &ev);
}

/* A completion is published: notice, event, wake-up. */
void eng_tell(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q,
	      uint32_t index)
{
	if (q->cq)
		eng_cq_publish(nic, v, q, index);
	if (unlikely(q->notify))
		eng_tell_program(nic, v, q);
	if (!vipl_list_empty(&q->sleepers))
		eng_wake(nic, &q->sleepers);
	q->watched = q->cq != NULL;
}

/* Complete the descriptor at the head; status without DONE. */
void eng_complete(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q,
		  uint32_t status, uint32_t len, uint32_t imm)
{
	uint32_t i = eng_get(&q->done);
	struct eng_slot *s = eng_queue_slot(q, i);

	if (unlikely(s->d.more != NULL)) {
		free(s->d.more);
		s->d.more = NULL;
	}
	s->d.status = status | VIP_STATUS_DONE;
	s->d.length = len;
	s->plain = 0;
	s->d.immediate = imm;
	if (q->next == i)
		q->next = i + 1;
	/* Pairs with the collector's acquire: the outcome is there. */
	atomic_store_explicit(&q->done, i + 1, memory_order_release);
	if (q->watched)
		eng_tell(nic, v, q, i);
}
