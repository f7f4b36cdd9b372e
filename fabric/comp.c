// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The completions that a CQ holds: a ring that grows.  Room for the completion of
 * an operation is made when the operation is accepted, so none is ever lost.
 * nic->lock held.
 */
#include <errno.h>
#include <stdlib.h>

#include "fab.h"

static int grow_ring(struct via_cq *cq, size_t need)
{
	size_t size = cq->size, i;
	struct via_comp *ring;

	if (need <= size)
		return 0;
	while (size < need)
		size *= 2;
	ring = malloc(size * sizeof(*ring));
	if (!ring)
		return -FI_EAGAIN;
	for (i = 0; i < cq->count; i++)
		ring[i] = cq->ring[(cq->head + i) & (cq->size - 1)];
	free(cq->ring);
	cq->ring = ring;
	cq->size = size;
	cq->head = 0;
	return 0;
}

/* Returns 0, or -FI_EAGAIN without memory. */
int via_cq_reserve(struct via_cq *cq)
{
	int ret = grow_ring(cq, cq->count + cq->reserved + 1);

	if (!ret)
		cq->reserved++;
	return ret;
}

void via_cq_unreserve(struct via_cq *cq)
{
	cq->reserved--;
}

void via_cq_tell(struct via_cq *cq)
{
	if (!cq->armed)
		return;
	cq->armed = false;
	via_wait_tell(&cq->wait);
}

static void put_completion(struct via_cq *cq, const struct via_comp *c)
{
	cq->ring[(cq->head + cq->count++) & (cq->size - 1)] = *c;
	via_cq_tell(cq);
}

void via_cq_add(struct via_cq *cq, const struct via_comp *c)
{
	cq->reserved--;
	put_completion(cq, c);
}

/* A completion that no operation of ours has made room for. */
void via_cq_extra(struct via_cq *cq, const struct via_comp *c)
{
	if (!cq)
		return;
	if (grow_ring(cq, cq->count + cq->reserved + 1)) {
		cq->overrun = true;
		via_cq_tell(cq);
		return;
	}
	put_completion(cq, c);
}
