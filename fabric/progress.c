// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Progress: whichever thread calls takes up what the NIC has done.
 *
 * A thread that is about to sleep asks for the library's descriptors to become
 * readable (arm), then looks once more.  A descriptor stays readable until
 * some thread arms it again, and that thread looks thereafter: so what came is
 * taken up by one of them, and what it is for is told by the CQ's or EQ's own
 * eventfd.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fab.h"

#define BATCH	64	/* notices in one look, for the others' sake */

/* NULL: destroyed since. */
static struct via_vi *find_vi(struct via_nic *nic, VIP_VI_HANDLE h)
{
	uintptr_t n = (uintptr_t)h;
	struct via_vi *vi;

	n ^= n >> 10;
	for (vi = nic->vis[(n ^ n >> 20) % VIA_VI_HASH]; vi; vi = vi->next)
		if (vi->h == h)
			return vi;
	return NULL;
}

/* A peer of before the length was told sends none of its bytes. */
static void peer_has_written(struct via_ep *ep, const struct via_ctl_msg *m)
{
	struct via_comp c = {
		.e.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
		.e.data = m->data,
	};
	uint64_t len;

	if (m->len == sizeof(len)) {
		memcpy(&len, m->cm, sizeof(len));
		c.e.len = be64toh(len);
	}
	via_cq_extra(ep->rx_cq, &c);
}

static void ctl_event(struct via_ep *ep, bool recv)
{
	struct via_ctl_msg m;
	int r = recv ? via_ctl_take(&ep->ctl, &m) : via_ctl_sent(&ep->ctl);

	if (r < 0) {
		via_cm_fail(ep, FI_ECONNABORTED, 0, NULL, 0);
		return;
	}
	if (!r)
		return;
	if (recv) {
		if (via_credit_news(ep, &m))
			via_tx_pump(ep);
		switch (m.type) {
		case VIA_CTL_ACCEPT:
			via_cm_welcome(ep, &m);
			break;
		case VIA_CTL_REJECT:
			via_cm_fail(ep, FI_ECONNREFUSED, -VIP_REJECT, m.cm,
				    m.len);
			return;
		case VIA_CTL_WRITTEN:
			peer_has_written(ep, &m);
			break;
		}
		if (via_ctl_owes(&ep->ctl))
			via_credit_flush(ep);
	}
	/* There may be room now. */
	via_tx_written(ep);
}

static void vi_event(struct via_vi *vi, bool recv)
{
	int r;

	if (vi->reject) {
		via_reject_event(vi->reject, recv);
		return;
	}
	if (vi->kind == VIA_VI_CTL) {
		ctl_event(vi->ep, recv);
		return;
	}
	r = recv ? via_rx_done(vi->ep) : via_tx_done(vi->ep);
	if (r < 0) {
		/* ACCEPT may have come, and waits to be taken. */
		ctl_event(vi->ep, true);
		via_cm_fail(vi->ep, FI_ECONNABORTED, 0, NULL, 0);
	}
}

/*
 * A program that answers messages is given the first one that comes after it
 * has sent: one more look at an empty CQ would send the acknowledgement alone,
 * where the answer can take it along.  The others are for the next call.
 */
static void take_notices(struct via_nic *nic, VIP_CQ_HANDLE cq, bool answers)
{
	struct via_vi *vi;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE h;
	int i;

	for (i = 0; i < BATCH; i++) {
		if (VipCQDone(cq, &h, &recv) != VIP_SUCCESS)
			return;
		vi = find_vi(nic, h);
		if (!vi)
			continue;
		vi_event(vi, recv);
		if (answers && nic->has_sent && recv &&
		    vi->kind == VIA_VI_DATA) {
			nic->has_sent = false;
			return;
		}
	}
}

static void progress(struct via_nic *nic, bool answers)
{
	struct via_ep *ep, *n;

	take_notices(nic, nic->cq[VIA_CQ_CTL], false);
	take_notices(nic, nic->cq[VIA_CQ_DATA], answers);
	vipl_list_each(ep, n, &nic->owing, owing)
		via_credit_flush(ep);
}

void via_progress(struct via_nic *nic)
{
	progress(nic, false);
}

void via_progress_poll(struct via_nic *nic)
{
	progress(nic, true);
}

void via_progress_cm(struct via_nic *nic)
{
	struct via_ep *ep, *n;

	via_progress(nic);
	if (nic->timer_ns && via_now() >= nic->timer_ns) {
		uint64_t times;

		nic->timer_ns = 0;
		if (read(nic->timer, &times, sizeof(times)) < 0)
			errno = 0;	/* another thread was first */
	}
	via_pep_look(nic);
	vipl_list_each(ep, n, &nic->connecting, link)
		via_cm_step(ep);
	via_reject_poll(nic);
}

void via_arm_cm(struct via_nic *nic)
{
	VipExtNicClear(nic->h);
	VipExtCQArm(nic->cq[VIA_CQ_CTL]);
}

void via_arm_data(struct via_nic *nic)
{
	VipExtCQArm(nic->cq[VIA_CQ_DATA]);
	VipExtCQArm(nic->cq[VIA_CQ_CTL]);
}
