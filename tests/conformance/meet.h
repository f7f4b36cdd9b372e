/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Peer-to-peer connections between us and the peer. */
#ifndef CONFORMANCE_MEET_H
#define CONFORMANCE_MEET_H

#include "remote.h"

/* Where two look for each other. */
struct meeting {
	struct disc ours;
	struct disc theirs;
};

/* Fresh discriminators of this session. */
struct meeting new_meeting(void);

/* VipConnectPeerRequest, here and there. */
VIP_RETURN meet(VIP_VI_HANDLE vi, const struct meeting *m, VIP_ULONG timeout);
VIP_RETURN peer_meet(unsigned int pvi, const struct meeting *m,
		     VIP_ULONG timeout);
/* The peer calls it and waits, in a thread: rc, rc2 when joined. */
void peer_meet_spawn(unsigned int pvi, const struct meeting *m,
		     VIP_ULONG timeout, unsigned int slot);

/* VipConnectPeerDone or Wait; the buffer must be untouched by a failure. */
VIP_RETURN met(VIP_VI_HANDLE vi, bool wait);
struct ctl_msg peer_met(unsigned int pvi, bool wait);
/* Polls VipConnectPeerDone until it has a verdict. */
VIP_RETURN met_poll(VIP_VI_HANDLE vi);

/* Connects a pair, peer to peer; both verdicts are SUCCESS. */
void pair_meet(struct pair *p);

#endif
