// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "meet.h"
#include <string.h>

struct meeting new_meeting(void)
{
	struct meeting m = { new_disc(), new_disc() };

	return m;
}

VIP_RETURN meet(VIP_VI_HANDLE vi, const struct meeting *m, VIP_ULONG timeout)
{
	struct net_address local, remote;

	own_address(&env.nic, &local, m->ours.bytes, m->ours.len);
	to_peer(&remote, &m->theirs);
	return VipConnectPeerRequest(vi, &local.a, &remote.a, timeout);
}

static struct ctl_msg order(uint32_t cmd, unsigned int pvi,
			    const struct meeting *m, VIP_ULONG timeout)
{
	struct ctl_msg c = { .cmd = cmd, .vi = pvi, .timeout = timeout };

	memcpy(c.disc, m->theirs.bytes, m->theirs.len);
	c.disc_len = m->theirs.len;
	memcpy(c.peer_disc, m->ours.bytes, m->ours.len);
	c.peer_disc_len = m->ours.len;
	c.host_len = env.nic.attr.NicAddressLen;
	memcpy(c.host, env.nic.attr.LocalNicAddress, c.host_len);
	return c;
}

VIP_RETURN peer_meet(unsigned int pvi, const struct meeting *m,
		     VIP_ULONG timeout)
{
	return peer_do(order(P_PEER_REQUEST, pvi, m, timeout)).rc;
}

void peer_meet_spawn(unsigned int pvi, const struct meeting *m,
		     VIP_ULONG timeout, unsigned int slot)
{
	peer_spawn(order(P_MEET, pvi, m, timeout), slot);
}

VIP_RETURN met(VIP_VI_HANDLE vi, bool wait)
{
	VIP_VI_ATTRIBUTES a;
	VIP_RETURN rc;

	memset(&a, XFER_GUARD, sizeof(a));
	rc = wait ? VipConnectPeerWait(vi, &a) : VipConnectPeerDone(vi, &a);
	if (rc == VIP_SUCCESS)
		CHECK_EQ(a.ReliabilityLevel, env.level);
	else
		CHECK_EQ(bytes_other(&a, XFER_GUARD, sizeof(a)), 0);
	return rc;
}

struct ctl_msg peer_met(unsigned int pvi, bool wait)
{
	struct ctl_msg m = peer_do((struct ctl_msg){ .cmd = P_PEER_RESULT,
						     .vi = pvi,
						     .count = wait });

	CHECK_EQ(m.bad, 0);
	return m;
}

VIP_RETURN met_poll(VIP_VI_HANDLE vi)
{
	uint64_t end = now_ms() + 2 * LONG_MS;
	VIP_RETURN rc;

	while ((rc = met(vi, false)) == VIP_NOT_DONE && now_ms() < end)
		pause_ms(1);
	return rc;
}

void pair_meet(struct pair *p)
{
	struct meeting m = new_meeting();
	struct ctl_msg c;

	peer_meet_spawn(p->pvi, &m, LONG_MS, 0);
	REQUIRE_RC(meet(p->vi, &m, LONG_MS), VIP_SUCCESS);
	REQUIRE_RC(met(p->vi, true), VIP_SUCCESS);
	c = peer_join(0);
	REQUIRE_RC(c.rc, VIP_SUCCESS);
	REQUIRE_RC(c.rc2, VIP_SUCCESS);
}
