// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Pulls: the transport gets what long messages of peers announce. */
#include <errno.h>

#include "eng.h"

#define PULLS	8u		/* of a VI at a time */

/*
 * Where the last byte of an RDMA Write goes. On x86 stores are seen in their
 * order, but for those of one copy: with no message before this one that is not
 * over, its turn is now.
 */
static void place_last(const struct eng_vi *v, struct eng_rndv *x)
{
#if defined(__x86_64__) || defined(__i386__)
	x->in_place = x->seq == v->rx_done;
#endif
	x->dst[x->pull.ndst - 1].iov_base =
		x->in_place ? (void *)(uintptr_t)x->last_at : &x->last;
	(void)v;
}

/* A pull has ended, or could not begin. */
static void end_pull(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x)
{
	vipl_list_del(&x->link);
	if (x->read)
		eng_read_done(nic, v, x);
	else
		nic->later.works->pulled(nic, v, x);
	eng_rndv_free(x);
	eng_todo(nic, v, v->disconnecting ? TODO_DISCONNECT : TODO_IN);
}

/* The transport may have it now. */
static int may_start(const struct eng_vi *v, const struct eng_rndv *x)
{
	return v->pulls < PULLS && (x->read || x->nic->later.works->may_pull(v, x));
}

/* Give the transport what it does not have yet; -EAGAIN: no room. */
int eng_rndvs_start(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_rndv *x, *after;
	struct vipl_list *l, *next;
	int err;

	for (l = v->rndvs.next; l != &v->rndvs; l = next) {
		x = vipl_container(l, struct eng_rndv, link);
		next = l->next;
		if (x->started)
			continue;
		if (!may_start(v, x))
			return 0;
		if (x->last_at)
			place_last(v, x);
		x->started = 1;
		v->pulls++;
		after = vipl_container(next, struct eng_rndv, link);
		x->pull.more = next != &v->rndvs && !after->started &&
			       may_start(v, after);
		/* The pull may end, and x be freed, before this returns. */
		err = nic->t->pull(v->peer, &x->pull);
		if (!err)
			continue;
		x->started = 0;
		v->pulls--;
		if (err == -EAGAIN)
			return err;
		x->err = err;
		end_pull(nic, v, x);
	}
	return 0;
}

void eng_pulled(struct eng_peer *peer, struct eng_pull *pull, int err)
{
	struct eng_rndv *x = vipl_container(pull, struct eng_rndv, pull);
	struct eng_vi *v = x->vi;

	if (!v) {
		vipl_list_del(&x->link);
		eng_rndv_free(x);
		return;
	}
	v->pulls--;
	x->err = err;
	end_pull(peer->nic, v, x);
}
