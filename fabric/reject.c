// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Rejections with private data, on NICs that cannot carry any: the request for
 * the control VI is accepted, REJECT is sent on it, and it ends.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fab.h"

#define REJECT_NS	5000000000u

struct via_reject {
	struct vipl_list		link;		/* nic->rejects */
	struct via_nic		*nic;
	struct via_ctl		ctl;
	struct via_ctl_msg	msg;
	void			*slab;
	bool			sent, over;
	uint64_t		until_ns;
};

static void reject_free(struct via_reject *b)
{
	struct via_ctl_msg m;

	vipl_list_del(&b->link);
	if (b->ctl.vi.h) {
		VipDisconnect(b->ctl.vi.h);
		while (via_ctl_sent(&b->ctl) > 0)
			;
		while (via_ctl_take(&b->ctl, &m) > 0)
			;
		via_vi_close(b->nic, &b->ctl.vi);
	}
	if (b->ctl.mem)
		VipDeregisterMem(b->nic->h, b->slab, b->ctl.mem);
	munmap(b->slab, VIA_CTL_BYTES);
	free(b);
}

/* One page is registered with the lock held, for a client that is refused:
 * that is rare.
 */
int via_reject_send(struct via_request *r, const void *data, size_t len)
{
	struct via_reject *b = calloc(1, sizeof(*b));
	VIP_MEM_ATTRIBUTES attr = { 0 };
	VIP_MEM_HANDLE mem;
	VIP_RETURN v;

	if (!b)
		return -FI_ENOMEM;
	vipl_list_init(&b->link);
	b->nic = r->nic;
	b->slab = mmap(NULL, VIA_CTL_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->slab == MAP_FAILED) {
		free(b);
		return -FI_ENOMEM;
	}
	b->msg.type = VIA_CTL_REJECT;
	b->msg.len = (uint8_t)len;
	memcpy(b->msg.cm, data, len);
	b->until_ns = via_now() + REJECT_NS;
	b->ctl.vi.reject = b;
	v = VipRegisterMem(b->nic->h, b->slab, VIA_CTL_BYTES, &attr, &mem);
	if (v == VIP_SUCCESS &&
	    via_ctl_open(b->nic, &b->ctl, b->slab, mem, NULL, r->transfer))
		v = VIP_ERROR_RESOURCE;
	if (v == VIP_SUCCESS)
		v = VipExtConnectAccept(r->conn[VIA_VI_CTL], b->ctl.vi.h, NULL,
					0);
	if (v != VIP_SUCCESS) {
		reject_free(b);
		return -via_err_of(v);
	}
	r->conn[VIA_VI_CTL] = NULL;
	vipl_list_add_tail(&b->link, &b->nic->rejects);
	via_nic_alarm(b->nic, b->until_ns);
	return 0;
}

/* The message is in the client's memory, or the connection broke. */
void via_reject_event(struct via_reject *b, bool recv)
{
	struct via_ctl_msg m;

	if (recv)
		b->over |= via_ctl_take(&b->ctl, &m) < 0;
	else
		b->over |= via_ctl_sent(&b->ctl) != 0;
}

void via_reject_poll(struct via_nic *nic)
{
	struct via_reject *b, *n;
	VIP_RETURN r;

	vipl_list_each(b, n, &nic->rejects, link) {
		if (!b->sent) {
			r = VipExtConnectDone(b->ctl.vi.h, NULL, NULL, NULL);
			b->sent = r == VIP_SUCCESS &&
				  !via_ctl_send(&b->ctl, &b->msg);
			b->over |= r != VIP_NOT_DONE && !b->sent;
		}
		if (b->over || via_now() >= b->until_ns)
			reject_free(b);
		else
			via_nic_alarm(nic, b->until_ns);
	}
}

void via_reject_end(struct via_nic *nic)
{
	struct via_reject *b, *n;

	vipl_list_each(b, n, &nic->rejects, link)
		reject_free(b);
}
