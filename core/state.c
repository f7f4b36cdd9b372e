// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table.  An entry that is not there is refused: the caller gets
 * INVALID_STATE, or the event came too late and there is nothing to do.
 *
 * Receives may be posted in every state and stay posted over every failed
 * attempt; only leaving by a disconnect or an error flushes them.
 * Disconnecting flushes in Idle, too: it is how a program gets its
 * descriptors back.
 */

#include "state.h"

/* Set in every entry that is there: what is left out reads as zero. */
#define VIA_DO_MOVE	0x80

#define ON(event, state, what) \
	[VIA_EV_##event] = { VIA_STATE_##state, VIA_DO_MOVE | (what) }

static const struct via_move via_table[VIA_STATES][VIA_EV_COUNT] = {
	[VIA_STATE_IDLE] = {
		ON(BEGIN,	PENDING,	0),
		ON(DISCONNECT,	IDLE,		VIA_DO_FLUSH),
		ON(NIC_GONE,	ERROR,		VIA_DO_FLUSH),
		ON(CHANGE,	IDLE,		0),
		ON(DESTROY,	IDLE,		0),
	},
	[VIA_STATE_PENDING] = {
		ON(JOIN,	CONNECTED,	0),
		ON(REFUSE,	IDLE,		0),
		ON(EXPIRE,	IDLE,		VIA_DO_DETACH | VIA_DO_TELL),
		ON(DISCONNECT,	IDLE,		VIA_DO_DETACH | VIA_DO_TELL |
						VIA_DO_FLUSH),
		ON(NIC_GONE,	ERROR,		VIA_DO_DETACH | VIA_DO_FLUSH),
	},
	[VIA_STATE_CONNECTED] = {
		ON(DISCONNECT,	IDLE,		VIA_DO_DETACH | VIA_DO_TELL |
						VIA_DO_FLUSH),
		ON(LOST,	ERROR,		VIA_DO_DETACH | VIA_DO_FLUSH |
						VIA_DO_REPORT),
		ON(BROKEN,	ERROR,		VIA_DO_DETACH | VIA_DO_TELL |
						VIA_DO_FLUSH | VIA_DO_REPORT),
		ON(NIC_GONE,	ERROR,		VIA_DO_DETACH | VIA_DO_FLUSH |
						VIA_DO_REPORT),
	},
	[VIA_STATE_ERROR] = {
		ON(DISCONNECT,	IDLE,		VIA_DO_FLUSH),
		ON(NIC_GONE,	ERROR,		VIA_DO_FLUSH),
	},
};

struct via_move via_state_move(__u32 state, __u32 event)
{
	struct via_move move = { VIA_STATE_REFUSED, 0 };

	if (state >= VIA_STATES || event >= VIA_EV_COUNT)
		return move;
	if (via_table[state][event].what & VIA_DO_MOVE)
		move = via_table[state][event];
	move.what &= ~VIA_DO_MOVE;
	return move;
}
