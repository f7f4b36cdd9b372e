// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The compatibility rules that no other group tests: section 13. Which group
 * or program tests which rule is listed in docs/reference/compatibility.md.
 */
#include "loss.h"
#include <string.h>

/*
 * A descriptor that was never cleared, filled in through one spelling and read
 * through the other. On 32 bits a store to Address leaves the upper half.
 */
static void fill(VIP_DESCRIPTOR *d, const struct xfer *x, bool old)
{
	memset(d, 0x5a, sizeof(*d));
	if (old) {
		d->CS.SegCount = 1;
		d->CS.Control = VIP_CONTROL_OP_SENDRECV;
		d->CS.Reserved = 0;
		d->CS.Length = x->len;
		d->DS[0].Local.Data.Address = (void *)(uintptr_t)x->addr;
		d->DS[0].Local.Handle = x->handle;
		d->DS[0].Local.Length = x->len;
	} else {
		d->Control.SegCount = 1;
		d->Control.Control = VIP_CONTROL_OP_SENDRECV;
		d->Control.Reserved = 0;
		d->Control.Length = x->len;
		d->Data[0].Data.Address = (void *)(uintptr_t)x->addr;
		d->Data[0].Handle = x->handle;
		d->Data[0].Length = x->len;
	}
}

static void spellings(void)
{
	struct xfer rx = our_buf(0, 300, 1), tx = peer_buf(0, 200, 1);
	VIP_DESCRIPTOR *d, *got;
	unsigned int i;
	struct tries t;
	VIP_RETURN rc;
	struct pair p;

	pair_open(&p, NULL);
	for (i = 0; i < 4; i++) {
		about("spelling %u", i & 1);
		d = nic_slot(&env.nic);
		fill(d, &rx, i & 1);
		xfer_guard(&rx);
		CHECK_RC(VipPostRecv(p.vi, d, env.nic.slots_h), VIP_SUCCESS);
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
		t = (struct tries){ 0 };
		do {
			rc = VipRecvWait(p.vi, patience(), &got);
		} while (rc == VIP_TIMEOUT && peer_once_more(&t, &p, &tx));
		REQUIRE_RC(rc, VIP_SUCCESS);
		CHECK(got == d);
		CHECK_EQ(d->Control.Status, VIP_STATUS_DONE |
			 VIP_STATUS_OP_RECEIVE);
		CHECK_EQ(d->CS.Status, d->Control.Status);
		CHECK_EQ(i & 1 ? d->Control.Length : d->CS.Length, 200);
		/* Untouched: what no message brought (C17, 7.5). */
		CHECK_EQ(d->CS.ImmediateData, 0x5a5a5a5a);
		CHECK_EQ(d->DS[0].Local.Length, 300);
		CHECK_EQ(d->Data[1].Length, 0x5a5a5a5a);
		CHECK_EQ(xfer_wrong(&rx, 200), 0);
		CHECK_RC(peer_wait(p.pvi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	}
	pair_close(&p);
}

/*
 * A program that knows hardware addresses only gives an address of IPv4 in 6
 * bytes, the last two of them zeros.  On other NICs there is nothing to try.
 */
static void six_bytes(void)
{
	struct net_address local, remote;
	struct disc d = new_disc();
	VIP_VI_ATTRIBUTES theirs;
	struct pair p;

	if (env.nic.attr.NicAddressLen != 4)
		return;
	pair_create(&p, NULL);
	own_address(&env.nic, &local, d.bytes, d.len);
	to_peer(&remote, &d);
	memcpy(d.bytes, remote.a.HostAddress, 4);
	memset(d.bytes + 4, 0, 2);
	net_address(&remote, d.bytes, 6, "none such", 9);
	CHECK_RC(VipConnectRequest(p.vi, &local.a, &remote.a, LONG_MS, &theirs),
		 VIP_NO_MATCH);
	/* With anything else behind it it is no such address. */
	remote.a.HostAddress[5] = 1;
	CHECK_INVALID(VipConnectRequest(p.vi, &local.a, &remote.a, LONG_MS,
					&theirs));
	pair_close(&p);
}

static const struct group groups[] = {
	{ "compat.spellings", "13 C2, C4, both spellings of a descriptor",
	  spellings, G_PEER, 0 },
	{ "compat.six_bytes", "3 VIP_NET_ADDRESS, IPv4 in 6 bytes", six_bytes, G_PEER,
	  0 },
};

NOUN(compat, groups);
