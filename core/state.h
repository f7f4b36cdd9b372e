/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state machine of a VI: one table, state by event.
 *
 * The agent acts upon it in via_vi_move(), kernel/move.c, and the engine of
 * user-space providers in conn.c and disconnect.c: each looks the move up, does
 * what the table says, and stores the new state; all under its lock of the VI,
 * so that of two events that race one comes first and the other meets the state
 * that it left.  Nothing fails: a move that is refused is a value.
 */
#ifndef _VIA_STATE_H
#define _VIA_STATE_H

#include "../include/uapi/via.h"
#include "portable.h"

enum via_vi_event {
	VIA_EV_BEGIN,		/* a request, a p2p request or an accept */
	VIA_EV_JOIN,		/* the connection stands */
	VIA_EV_REFUSE,		/* the network says no; it has detached */
	VIA_EV_EXPIRE,		/* the attempt's time is over */
	VIA_EV_DISCONNECT,	/* VipDisconnect, or the end of the process */
	VIA_EV_LOST,		/* the peer left, or is not to be told */
	VIA_EV_BROKEN,		/* an error of ours, which the peer is told */
	VIA_EV_NIC_GONE,	/* the NIC was pulled */
	VIA_EV_CHANGE,		/* VipSetViAttributes */
	VIA_EV_DESTROY,		/* VipDestroyVi; the queues are empty */
	VIA_EV_COUNT
};

/* What a move does besides. */
#define VIA_DO_DETACH	0x1	/* the transport forgets the connection */
#define VIA_DO_TELL	0x2	/* and tells the peer */
#define VIA_DO_FLUSH	0x4	/* descriptors complete flushed; else they stay */
#define VIA_DO_REPORT	0x8	/* CONN_LOST to the error handler */

#define VIA_STATES		4	/* VIA_STATE_* are 0..3 */
#define VIA_STATE_REFUSED	0xff	/* such an event changes nothing */

struct via_move {
	__u8	to;		/* VIA_STATE_*, or VIA_STATE_REFUSED */
	__u8	what;		/* VIA_DO_* */
};

/* Any state and event may be asked for, nonsense is refused. */
struct via_move via_state_move(__u32 state, __u32 event);

/* Would the table allow it? */
static inline bool via_state_may(__u32 state, __u32 event)
{
	return via_state_move(state, event).to != VIA_STATE_REFUSED;
}

/*
 * May a send not be posted?  In Error it may, and completes flushed, as a
 * receive does; receives may be posted in every state.
 */
static inline bool via_state_refuses_sends(__u32 state)
{
	return state == VIA_STATE_IDLE || state == VIA_STATE_PENDING;
}

#endif
