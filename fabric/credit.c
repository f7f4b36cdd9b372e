// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Credits: what one end may send is what the other has posted.  A message
 * without one waits in the endpoint's queue (tx.c), and what was posted after
 * it, since the order is the program's.
 *
 * News of receives go when the peer may know of none, or of fewer than there
 * are news: with one receive posted for each message that is one control
 * message for each, with 128 of them one for 64.  They do not go at once, but
 * behind the next send, or as a CQ is read: a program that answers a message
 * has its answer on the wire first.
 */
#include <arpa/inet.h>

#include "fab.h"

/* May one more message go? */
bool via_credit_take(struct via_ep *ep)
{
	if (ep->used == ep->credits)
		return false;
	ep->used++;
	return true;
}

/* A receive was posted, or taken by a message. */
void via_credit_check(struct via_ep *ep)
{
	uint32_t left = ep->told - ep->taken;	/* the peer may know of */
	uint32_t news = ep->posted - ep->told;

	if (ep->state != VIA_EP_CONNECTED || !news || news < left)
		return;
	if (vipl_list_empty(&ep->owing))
		vipl_list_add_tail(&ep->owing, &ep->nic->owing);
	/* A program that only posts has no call that comes next. */
	if (news >= ep->rx_size / 2)
		via_credit_flush(ep);
}

void via_credit_flush(struct via_ep *ep)
{
	struct via_ctl_msg m = {
		.type = VIA_CTL_CREDIT,
		.posted = htonl(ep->posted),
	};

	/* Where there is no room, the peer's next message makes some. */
	if (ep->state != VIA_EP_CONNECTED || via_ctl_send(&ep->ctl, &m))
		return;
	ep->told = ep->posted;
	vipl_list_del(&ep->owing);
}

/* A control message came; true: messages that wait may go (via_tx_pump()). */
bool via_credit_news(struct via_ep *ep, const struct via_ctl_msg *m)
{
	/* A count that goes back is a peer's mistake, and none of ours. */
	if ((int32_t)(m->posted - ep->credits) <= 0)
		return false;
	ep->credits = m->posted;
	if (ep->nic->starved) {
		ep->nic->starved = false;
		ep->nic->kicks++;
	}
	return true;
}
