// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names by frames of our own: a query goes to all hosts, or to one, and the
 * host of that name replies.  No address of another protocol is needed, and no
 * file.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include "admit.h"
#include "name.h"
#include "param.h"
#include "stats.h"
#include "vi.h"
#include "xmit.h"

static bool answer_names = true;
module_param(answer_names, bool, 0644);
MODULE_PARM_DESC(answer_names,
		 "tell this host's name to hosts that ask on the wire (default Y)");

/*
 * How long the answers to each repetition are waited for, in ms.  A query
 * for one name ends with the first round that brought an answer, since other
 * interfaces of that host answer in the same moment.
 */
static const u16 rounds[] = { 10, 20, 40, 80 };

#define ROUNDS_ALL		3	/* when it is not known how many answer */

/* A query under way, on the asker's stack. */
struct via_ether_ask {
	struct list_head link;		/* nic->lock */
	u32 nonce;			/* constant */
	struct via_names *q;		/* nic->lock: answers are added */
	wait_queue_head_t wait;
};

static bool is_name_answered(const struct via_names *q)
{
	/* Pairs with the store-release in via_names_add(). */
	return smp_load_acquire(&q->count) != 0;
}

/* One round.  0, or -EINTR: killed. */
static int ask_once(struct via_ether_nic *nic, struct via_ether_ask *ask,
		    u32 ms)
{
	const struct via_names *q = ask->q;
	bool one = q->addr_len;
	long left;

	local_bh_disable();
	via_ether_send_name(nic, one ? q->addr : NULL, VIA_WIRE_NAME_QUERY,
			    ask->nonce, q->name);
	local_bh_enable();
	/*
	 * Bounded, so only what ends the process ends it: a program under a
	 * shower of signals would ask anew for ever.
	 */
	left = wait_event_killable_timeout(ask->wait,
					   (one && is_name_answered(q)) ||
					   READ_ONCE(nic->leaving),
					   via_ether_scaled(ms));
	return left < 0 ? -EINTR : 0;
}

int via_ether_resolve(struct via_nic *ka, struct via_names *q)
{
	bool all = !q->name[0] && !q->addr_len;
	u32 i, n = all ? ROUNDS_ALL : ARRAY_SIZE(rounds);
	struct via_ether_nic *nic = ka->priv;
	struct via_ether_ask ask = { .nonce = get_random_u32(), .q = q };
	int ret = 0;

	init_waitqueue_head(&ask.wait);
	spin_lock_bh(&nic->lock);
	list_add_tail(&ask.link, &nic->asks);
	spin_unlock_bh(&nic->lock);
	for (i = 0; i < n && !ret; i++) {
		ret = ask_once(nic, &ask, rounds[i]);
		if ((!all && is_name_answered(q)) || READ_ONCE(nic->leaving))
			break;
	}
	/* From here on no answer is added, and no wake-up comes. */
	spin_lock_bh(&nic->lock);
	list_del(&ask.link);
	spin_unlock_bh(&nic->lock);
	return ret;
}

void via_ether_names_end(struct via_ether_nic *nic)
{
	struct via_ether_ask *ask;

	spin_lock_bh(&nic->lock);
	WRITE_ONCE(nic->leaving, true);
	list_for_each_entry(ask, &nic->asks, link)
		wake_up(&ask->wait);
	spin_unlock_bh(&nic->lock);
}

static void rx_query(struct via_ether_nic *nic, const struct via_ether_frame *f,
		     const struct via_name_hdr *n)
{
	char own[VIA_NAME_MAX + 1];

	via_ether_count(nic, NAMES_ASKED);
	if (!READ_ONCE(answer_names))
		return;
	via_name_own(own);
	if (n->name[0] && !via_name_match(n->name, own))
		return;
	if (via_ether_may_answer(nic, f->src, VIA_LIMIT_NAME, f->len,
				 VIA_WIRE_NAME_LEN) &&
	    via_ether_send_name(nic, f->src, VIA_WIRE_NAME_REPLY, n->nonce,
				own))
		via_ether_count(nic, NAMES_TOLD);
}

static void rx_reply(struct via_ether_nic *nic, const u8 *src,
		     const struct via_name_hdr *n)
{
	struct via_ether_ask *ask;

	spin_lock(&nic->lock);
	list_for_each_entry(ask, &nic->asks, link) {
		if (ask->nonce != n->nonce)
			continue;
		via_names_add(ask->q, src, nic->host.len, n->name);
		wake_up(&ask->wait);
		break;
	}
	spin_unlock(&nic->lock);
}

/* BH off, RCU read side. */
void via_ether_name_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	struct via_name_hdr n;

	BUILD_BUG_ON(VIA_WIRE_NAME_MAX != VIA_NAME_MAX);
	switch (via_wire_parse_name(f->hdr, &n)) {
	case VIA_WIRE_OK:
		break;
	case VIA_WIRE_BAD_LENGTH:
		via_ether_count(nic, BAD_LENGTH);
		return;
	default:
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	if (!nic->ops->host_valid(nic, f->src))
		return;
	if (h->type == VIA_WIRE_NAME_QUERY)
		rx_query(nic, f, &n);
	else
		rx_reply(nic, f->src, &n);
}
